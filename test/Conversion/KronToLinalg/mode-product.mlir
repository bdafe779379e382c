// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify that factor_dims gives the map of the factor, and that an axis of size
// 1 of the input is stretched.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d3, d2)>
// CHECK-DAG: #[[$FACTOR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-LABEL: func.func @mode_product
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$FACTOR]],
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x3x4xf32>, tensor<5x2x3x4xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<5x2x4xf32>)
func.func @mode_product(%x: tensor<1x3x4xf32>, %f: tensor<5x2x3x4xf32>,
                        %y: tensor<5x2x4xf32>) -> tensor<5x2x4xf32> {
  %r = kron.mode_product axis(1) ins(%x : tensor<1x3x4xf32>)
         factor(%f [0, q, p, 2] : tensor<5x2x3x4xf32>)
         outs(%y : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// -----

// Verify that an axis that only the destination stretches is stretched by the
// store.
// CHECK-DAG: #[[$STRETCH:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-LABEL: func.func @stretched_by_store
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$STRETCH]], #{{.*}}]
// CHECK-SAME: outs(%{{.*}} : tensor<7x2xf32>)
func.func @stretched_by_store(%x: tensor<1x3xf32>, %f: tensor<3x2xf32>,
                              %y: tensor<7x2xf32>) -> tensor<7x2xf32> {
  %r = kron.mode_product axis(1) ins(%x : tensor<1x3xf32>) factor(%f [p, q] : tensor<3x2xf32>)
         outs(%y : tensor<7x2xf32>) -> tensor<7x2xf32>
  return %r : tensor<7x2xf32>
}

// -----

// Verify that a fused region on memrefs reads its permuted input in place, keeps f32
// between the factors, and writes its destination once.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @pass
// CHECK-SAME: (%[[X:.*]]: memref<4x9xf16>, %[[F1:.*]]: memref<4x4xf16>, %[[F2:.*]]: memref<9x9xf16>, %[[Y:.*]]: memref<9x4xf16>, %[[B:.*]]: f32)
// CHECK: linalg.generic {indexing_maps = [#[[$IN]],
// CHECK-SAME: ins(%[[X]], %[[F1]] : memref<4x9xf16>, memref<4x4xf16>) outs(%[[T1:.*]] : memref<9x4xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[T1]], %[[F2]] : memref<9x4xf32>, memref<9x9xf16>) outs(%[[T2:.*]] : memref<9x4xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[T2]] : memref<9x4xf32>) outs(%[[Y]] : memref<9x4xf16>)
// CHECK: arith.mulf %[[B]],
// CHECK-NOT: kron.
func.func @pass(%x: memref<4x9xf16>, %f1: memref<4x4xf16>, %f2: memref<9x9xf16>,
                %y: memref<9x4xf16>, %b: f32) {
  kron.fused ins(%x, %f1, %f2 : memref<4x9xf16>, memref<4x4xf16>, memref<9x9xf16>)
            outs(%y : memref<9x4xf16>) attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<9x4xf16>, %a: tensor<4x4xf16>, %c: tensor<9x9xf16>, %out: tensor<9x4xf16>):
    %e = tensor.empty() : tensor<9x4xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<9x4xf16>) factor(%a [p, q] : tensor<4x4xf16>)
           outs(%e : tensor<9x4xf32>) -> tensor<9x4xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<9x4xf32>) factor(%c [p, q] : tensor<9x9xf16>)
           outs(%out : tensor<9x4xf16>) beta(%b : f32) -> tensor<9x4xf16>
    kron.yield %2 : tensor<9x4xf16>
  }
  return
}

// -----

// Verify that a fused region on tensors gives its result, with its addend.
// CHECK-LABEL: func.func @fused_tensor_addend
// CHECK-SAME: %[[Z:[^:]*]]: tensor<3x2xf32>, %[[Y:[^:]*]]: tensor<3x2xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[Z]] : tensor<3x2xf32>, tensor<3x2xf32>) outs(%[[Y]] : tensor<3x2xf32>)
// CHECK: return %[[R]]
func.func @fused_tensor_addend(%x: tensor<3x2xf32>, %f: tensor<2x2xf32>, %z: tensor<3x2xf32>,
                              %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = kron.fused ins(%x, %f, %z : tensor<3x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>)
                 outs(%y : tensor<3x2xf32>) {
  ^bb0(%tx: tensor<3x2xf32>, %a: tensor<2x2xf32>, %tz: tensor<3x2xf32>, %out: tensor<3x2xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<3x2xf32>) beta(1.0 : f32) addend(%tz : tensor<3x2xf32>)
           -> tensor<3x2xf32>
    kron.yield %1 : tensor<3x2xf32>
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// Verify that scalars computed in a fused region on memrefs are computed
// outside of it.
// CHECK-LABEL: func.func @fused_scalars
// CHECK-SAME: (%[[X:[^:]*]]: memref<3x2xf32>, {{.*}}, %[[A:[^:]*]]: memref<?xf32>, %{{.*}}: f32)
// CHECK: %[[SIZE:.*]] = memref.dim %[[A]]
// CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]]
// CHECK: %[[ALPHA:.*]] = memref.load %[[A]][%[[LAST]]]
// CHECK: arith.mulf %[[ALPHA]],
func.func @fused_scalars(%x: memref<3x2xf32>, %f: memref<2x2xf32>, %y: memref<3x2xf32>,
                        %scalars: memref<?xf32>, %s: f32) {
  kron.fused ins(%x, %f, %scalars : memref<3x2xf32>, memref<2x2xf32>, memref<?xf32>)
            outs(%y : memref<3x2xf32>) {
  ^bb0(%tx: tensor<3x2xf32>, %a: tensor<2x2xf32>, %ts: tensor<?xf32>, %out: tensor<3x2xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = tensor.dim %ts, %c0 : tensor<?xf32>
    %last = arith.subi %size, %c1 : index
    %alpha = tensor.extract %ts[%last] : tensor<?xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<3x2xf32>) alpha(%alpha : f32) beta(%s : f32) -> tensor<3x2xf32>
    kron.yield %1 : tensor<3x2xf32>
  }
  return
}
