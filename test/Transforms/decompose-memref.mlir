// RUN: kron-opt %s --kron-decompose --canonicalize --cse | FileCheck %s

// Verify that memrefs of any strides are viewed, and that the chain is a kron.fused
// with the temporary inside and alpha used from outside.
// CHECK-LABEL: func.func @mkm(
// CHECK-SAME: %[[X:.*]]: memref<?x6xf32, strided<[?, ?], offset: ?>>, %[[A:.*]]: memref<2x2xf32>, %[[B:.*]]: memref<3x4xf32>, %[[Y:.*]]: memref<?x8xf32>, %[[ALPHA:.*]]: f32)
// CHECK-DAG: %[[IN:.*]] = memref.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 3]
// CHECK-DAG: %[[OUT:.*]] = memref.expand_shape %[[Y]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 4]
// CHECK: kron.fused ins(%[[IN]], %[[A]], %[[B]] : memref<?x2x3xf32, strided<[?, ?, ?], offset: ?>>, memref<2x2xf32>, memref<3x4xf32>) outs(%[[OUT]] : memref<?x2x4xf32>) attributes {plan = #kron.cpu_plan<tile = 2>} {
// CHECK: ^bb0(%[[TX:.*]]: tensor<?x2x3xf32>, %[[TA:.*]]: tensor<2x2xf32>, %[[TB:.*]]: tensor<3x4xf32>, %[[TY:.*]]: tensor<?x2x4xf32>):
// CHECK: %[[M:.*]] = tensor.dim %[[TY]]
// CHECK: %[[E:.*]] = tensor.empty(%[[M]]) : tensor<?x2x3xf32>
// CHECK: %[[FIRST:.*]] = kron.mode_product axis(1) ins(%[[TX]] : tensor<?x2x3xf32>) factor(%[[TA]] [p, q] : tensor<2x2xf32>) outs(%[[E]] : tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
// CHECK: %[[LAST:.*]] = kron.mode_product axis(2) ins(%[[FIRST]] : tensor<?x2x3xf32>) factor(%[[TB]] [p, q] : tensor<3x4xf32>) outs(%[[TY]] : tensor<?x2x4xf32>) alpha(%[[ALPHA]] : f32) -> tensor<?x2x4xf32>
// CHECK: kron.yield %[[LAST]]
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @mkm(%x: memref<?x6xf32, strided<[?, ?], offset: ?>>, %a: memref<2x2xf32>,
               %b: memref<3x4xf32>, %y: memref<?x8xf32>, %alpha: f32) {
  kron.mkm ins(%x : memref<?x6xf32, strided<[?, ?], offset: ?>>)
    factors(%a, %b : memref<2x2xf32>, memref<3x4xf32>)
    outs(%y : memref<?x8xf32>) alpha(%alpha : f32)
    {plan = #kron.cpu_plan<tile = 2>}
  return
}

// Verify that a transposed input is read through input_permutation, that the
// addend is the last input, and that columns left open by a type are fixed.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[Z:[a-z0-9]*]]: memref<9x?xf32>)
// CHECK: memref.cast %[[Z]] : memref<9x?xf32> to memref<9x6xf32>
// CHECK-NOT: linalg.transpose
// CHECK: kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<2x3x9xf32>, memref<3x3xf32>, memref<2x2xf32>, memref<9x2x3xf32>)
// CHECK-SAME: attributes {input_permutation = array<i64: 2, 0, 1>} {
// CHECK: ^bb0(%[[TX:.*]]: tensor<9x2x3xf32>, %{{.*}}: tensor<3x3xf32>, %{{.*}}: tensor<2x2xf32>, %[[TZ:.*]]: tensor<9x2x3xf32>, %{{.*}}: tensor<9x2x3xf32>):
// CHECK: kron.mode_product axis(2) ins(%[[TX]]
// CHECK: kron.mode_product axis(1) {{.*}} beta(1.000000e+00 : f32) addend(%[[TZ]] : tensor<9x2x3xf32>)
func.func @transposed(%x: memref<6x9xf32>, %a: memref<2x2xf32>, %b: memref<3x3xf32>,
                      %y: memref<9x6xf32>, %z: memref<9x?xf32>) {
  kron.mkm ins(T(%x) : memref<6x9xf32>)
    factors(%a, %b : memref<2x2xf32>, memref<3x3xf32>)
    outs(%y : memref<9x6xf32>) beta(1.0 : f32) addend(%z : memref<9x?xf32>)
  return
}

// Verify that batch axes of factors are named and unit ones dropped by a subview.
// CHECK-LABEL: func.func @batched(
// CHECK: %[[A:.*]] = memref.subview %{{.*}}[0, 0, 0] [1, 2, 2] [1, 1, 1] : memref<1x2x2xf64> to memref<2x2xf64
// CHECK: kron.fused ins(%{{.*}}, %{{.*}}, %[[A]] : memref<5x2x3xf64>, memref<5x3x3xf64>, memref<2x2xf64
// CHECK: kron.mode_product axis(2) {{.*}} [0, q, p] : tensor<5x3x3xf64>
// CHECK: kron.mode_product axis(1) {{.*}} [q, p] : tensor<2x2xf64>
func.func @batched(%x: memref<5x2x3xf64>, %a: memref<1x2x2xf64>,
                   %b: memref<5x3x3xf64>, %y: memref<5x2x3xf64>) {
  kron.batched ins(%x : memref<5x2x3xf64>)
    factors(%a, %b : memref<1x2x2xf64>, memref<5x3x3xf64>)
    outs(%y : memref<5x2x3xf64>)
  return
}

// Verify that the epilogue works in place on the destination.
// CHECK-LABEL: func.func @ksmm(
// CHECK-NOT: memref.alloc
// CHECK: kron.fused {{.*}} outs(%[[OUT:.*]] : memref<9x2x3x5xf32>)
// CHECK: kron.epilogue ins(%[[OUT]] : memref<9x2x3x5xf32>) bias(%{{.*}} [1, 2, 3] : memref<2x3x5xf32>) outs(%[[OUT]] : memref<9x2x3x5xf32>)
func.func @ksmm(%x: memref<9x40xf32>, %k: memref<2x3x4x5xf32>, %y: memref<9x30xf32>,
                %b: memref<30xf32>) {
  kron.ksmm ins(%x : memref<9x40xf32>) weights(%k : memref<2x3x4x5xf32>)
    outs(%y : memref<9x30xf32>) bias(%b : memref<30xf32>)
  return
}

// Verify that f16 has an f32 product in a buffer of its own, whatever M is.
// CHECK-LABEL: func.func @ksmm_f16(
// CHECK: %[[BUFFER:.*]] = memref.alloc(%{{.*}}) {bufferization.manual_deallocation} : memref<?x2x3x5xf32>
// CHECK: kron.fused {{.*}} outs(%[[BUFFER]] : memref<?x2x3x5xf32>)
// CHECK: kron.epilogue ins(%[[BUFFER]] : memref<?x2x3x5xf32>) bias(%{{.*}} [1, 2, 3] : memref<2x3x5xf16>) outs(%{{.*}} : memref<?x2x3x5xf16>)
// CHECK: memref.dealloc %[[BUFFER]]
func.func @ksmm_f16(%x: memref<?x40xf16>, %k: memref<2x3x4x5xf16>,
                    %y: memref<?x30xf16>, %b: memref<30xf16>) {
  kron.ksmm ins(%x : memref<?x40xf16>) weights(%k : memref<2x3x4x5xf16>)
    outs(%y : memref<?x30xf16>) bias(%b : memref<30xf16>)
  return
}

// Verify that a residual in the destination is not overwritten by the product.
// CHECK-LABEL: func.func @residual_is_destination(
// CHECK: %[[OUT:.*]] = memref.expand_shape
// CHECK: %[[BUFFER:.*]] = memref.alloc() {{.*}} : memref<9x2x3x5xf32>
// CHECK: kron.fused {{.*}} outs(%[[BUFFER]] : memref<9x2x3x5xf32>)
// CHECK: kron.epilogue ins(%[[BUFFER]] : {{.*}}) residual(%[[OUT]] : {{.*}}) outs(%[[OUT]]
// CHECK: memref.dealloc %[[BUFFER]]
func.func @residual_is_destination(%x: memref<9x40xf32>, %k: memref<2x3x4x5xf32>,
                                   %y: memref<9x30xf32>) {
  kron.ksmm ins(%x : memref<9x40xf32>) weights(%k : memref<2x3x4x5xf32>)
    outs(%y : memref<9x30xf32>) residual(%y : memref<9x30xf32>)
  return
}

// Verify that alpha = 0 writes the destination only.
// CHECK-LABEL: func.func @alpha_zero(
// CHECK-NOT: kron.
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<9x4xf32>)
// CHECK-NEXT: return
func.func @alpha_zero(%x: memref<9x4xf32>, %a: memref<4x4xf32>, %y: memref<9x4xf32>) {
  kron.mkm ins(%x : memref<9x4xf32>) factors(%a : memref<4x4xf32>)
    outs(%y : memref<9x4xf32>) alpha(0.0 : f32)
  return
}

// Verify that a column, whatever its strides, is viewed as a row.
// CHECK-LABEL: func.func @column(
// CHECK-SAME: %[[X:.*]]: memref<6x1xf32, strided<[?, 1], offset: ?>>
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1]] : memref<6x1xf32, strided<[?, 1], offset: ?>> into memref<6xf32, strided<[?], offset: ?>>
// CHECK: memref.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2]] output_shape [1, 2, 3]
// CHECK: kron.fused
func.func @column(%x: memref<6x1xf32, strided<[?, 1], offset: ?>>, %a: memref<2x2xf32>,
                  %b: memref<3x3xf32>, %y: memref<6x1xf32>) {
  kron.kmm ins(%x : memref<6x1xf32, strided<[?, 1], offset: ?>>)
    factors(%a, %b : memref<2x2xf32>, memref<3x3xf32>) outs(%y : memref<6x1xf32>)
  return
}
