// RUN: kron-opt %s --kron-decompose=target=cuda --canonicalize --cse | FileCheck %s
// RUN: kron-opt %s --kron-decompose --canonicalize --cse | FileCheck %s --check-prefix=CPU

// Verify that the factor that shrinks X is applied to it, the one that would make it
// longer to the gradient, transposed, and that rows are all that lies outside of the
// axis; what lies inside shares the weights.
// CHECK-LABEL: func.func @both_sides(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x24xf32>, %[[G:[a-z0-9]*]]: memref<?x30xf32>, %[[A:[a-z0-9]*]]: memref<2x3xf32>, %[[C:[a-z0-9]*]]: memref<4x2xf32>, %[[D:[a-z0-9]*]]: memref<3x5xf32>
// CHECK: %[[XC:.*]] = memref.alloc({{.*}} : memref<?x12xf32>
// CHECK: kron.fused ins(%{{.*}}, %[[C]] : memref<?x2x3x4xf32>, memref<4x2xf32>)
// CHECK: kron.mode_product axis(3) {{.*}} [p, q] : tensor<4x2xf32>
// CHECK: %[[GA:.*]] = memref.alloc({{.*}} : memref<?x20xf32>
// CHECK: kron.fused ins(%{{.*}}, %[[A]] : memref<?x3x5x2xf32>, memref<2x3xf32>)
// CHECK: kron.mode_product axis(1) {{.*}} [q, p] : tensor<2x3xf32>
// CHECK: %[[GV:.*]] = memref.expand_shape %[[GA]] {{.*}} into memref<?x2x10xf32>
// CHECK: %[[GR:.*]] = memref.collapse_shape %[[GV]] {{\[\[}}0, 1], [2]] : memref<?x2x10xf32> into memref<?x10xf32>
// CHECK: %[[XV:.*]] = memref.expand_shape %[[XC]] {{.*}} into memref<?x2x6xf32>
// CHECK: %[[XR:.*]] = memref.collapse_shape %[[XV]] {{\[\[}}0, 1], [2]] : memref<?x2x6xf32> into memref<?x6xf32>
// CHECK: kron.ksmm_grad ins(%[[GR]] : memref<?x10xf32>) grad(%[[XR]] : memref<?x6xf32>) outs(%{{.*}} : memref<1x3x5x1xf32>) alpha(2.000000e+00 : f32) {product_pattern = array<i64: 1, 3, 5, 2>}
// CHECK: memref.dealloc %[[XC]]
// CHECK: memref.dealloc %[[GA]]
// On a CPU blocks of rows are summed up apart for both inner positions, which then
// are added up.
// CPU-LABEL: func.func @both_sides(
// CPU: %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<1x3x5x2xf32>
// CPU: scf.for
// CPU: kron.mode_product axis(1) ins(%{{.*}} : tensor<1x64x5x2xf32>) factor(%{{.*}} [p, 0, q, 3] : tensor<64x1x3x2xf32>)
// CPU: linalg.generic {{.*}}"reduction"]} ins(%[[SUMS]] : memref<1x3x5x2xf32>) outs(%{{.*}} : memref<1x3x5xf32>)
func.func @both_sides(%x: memref<?x24xf32>, %g: memref<?x30xf32>, %a: memref<2x3xf32>,
                      %c: memref<4x2xf32>, %d: memref<3x5xf32>) {
  kron.factor_grad ins(%x : memref<?x24xf32>) factors(%a, %c : memref<2x3xf32>, memref<4x2xf32>)
    grad(%g : memref<?x30xf32>) outs(%d : memref<3x5xf32>) alpha(2.0 : f32) {index = 1 : i64}
  return
}

// Verify that the gradient by the last factor of a kron.mkm is a plain sum over rows.
// CHECK-LABEL: func.func @last(
// CHECK: kron.ksmm_grad ins(%{{.*}} : tensor<?x16xf32>) grad(%{{.*}} : tensor<?x16xf32>) outs(%{{.*}} : tensor<1x16x16x1xf32>) -> tensor<1x16x16x1xf32>
// CHECK: tensor.collapse_shape {{.*}} into tensor<16x16xf32>
func.func @last(%x: tensor<?x64xf32>, %g: tensor<?x64xf32>, %a: tensor<4x4xf32>,
                %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = kron.factor_grad ins(%x : tensor<?x64xf32>) factors(%a : tensor<4x4xf32>)
         grad(%g : tensor<?x64xf32>) outs(%d : tensor<16x16xf32>) {index = 1 : i64} -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// Verify the first factor of a kron.kmm: columns are what lies inside, with the batch last.
// CHECK-LABEL: func.func @first_of_left(
// CHECK: kron.ksmm_grad ins(%{{.*}} : memref<4x?xf32>) grad(%{{.*}} : memref<5x?xf32>) outs(%{{.*}} : memref<1x5x4x1xf32>) {layout = #kron.layout<batch_last>}
func.func @first_of_left(%x: memref<12x?xf32>, %g: memref<15x?xf32>, %a: memref<3x3xf32>,
                         %d: memref<5x4xf32>) {
  kron.factor_grad ins(%x : memref<12x?xf32>) factors(%a : memref<3x3xf32>)
    grad(%g : memref<15x?xf32>) outs(%d : memref<5x4xf32>) {index = 0 : i64, layout = #kron.layout<batch_last>}
  return
}

// Verify that of known sizes the longer side is summed as rows: sums are kept for the
// three positions outside.
// CHECK-LABEL: func.func @few_rows(
// CHECK: kron.ksmm_grad ins(%{{.*}} : memref<12x64xf32>) grad(%{{.*}} : memref<12x64xf32>) outs(%{{.*}} : memref<1x4x4x1xf32>) {layout = #kron.layout<batch_last>, product_pattern = array<i64: 3, 4, 4, 1>}
func.func @few_rows(%x: memref<3x256xf32>, %g: memref<3x256xf32>, %a: memref<64x64xf32>,
                    %d: memref<4x4xf32>) {
  kron.factor_grad ins(%x : memref<3x256xf32>) factors(%a : memref<64x64xf32>)
    grad(%g : memref<3x256xf32>) outs(%d : memref<4x4xf32>) {index = 0 : i64}
  return
}

// Verify conjugation: a factor applied to the gradient is conjugated where X is.
// CHECK-LABEL: func.func @conjugates(
// CPU-LABEL: func.func @conjugates(
// CPU: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [q, p] : tensor<2x3xcomplex<f32>>) {{.*}} {conj_factor}
// CPU: kron.mode_product axis(1) {{.*}} {conj_factor}
func.func @conjugates(%x: memref<64x8xcomplex<f32>>, %g: memref<64x12xcomplex<f32>>,
                      %a: memref<2x3xcomplex<f32>>, %d: memref<4x4xcomplex<f32>>) {
  kron.factor_grad ins(%x : memref<64x8xcomplex<f32>>) factors(%a : memref<2x3xcomplex<f32>>)
    grad(%g : memref<64x12xcomplex<f32>>) outs(%d : memref<4x4xcomplex<f32>>) {index = 0 : i64, conj_input}
  return
}

// Verify that alpha of 0 and arrays without elements read neither X nor the gradient.
// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: kron
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : memref<4x4xf32>)
// CHECK-NOT: kron
// CHECK: return
func.func @nothing(%x: memref<64x8xf32>, %e: memref<0x8xf32>, %a: memref<2x2xf32>, %d: memref<4x4xf32>) {
  kron.factor_grad ins(%x : memref<64x8xf32>) factors(%a : memref<2x2xf32>)
    grad(%x : memref<64x8xf32>) outs(%d : memref<4x4xf32>) alpha(0.0 : f32) {index = 0 : i64}
  kron.factor_grad ins(%e : memref<0x8xf32>) factors(%a : memref<2x2xf32>)
    grad(%e : memref<0x8xf32>) outs(%d : memref<4x4xf32>) {index = 0 : i64}
  return
}

// Verify that sizes that must be known leave it alone.
// CHECK-LABEL: func.func @unknown(
// CHECK-COUNT-2: kron.factor_grad
func.func @unknown(%x: memref<?x8x?xf32>, %a: memref<2x2xf32>, %b: memref<?x?xf32>, %d: memref<4x4xf32>) {
  kron.factor_grad ins(%x : memref<?x8x?xf32>) factors(%a : memref<2x2xf32>) grad(%x : memref<?x8x?xf32>)
    outs(%d : memref<4x4xf32>) {index = 0 : i64, layout = #kron.layout<batch_last>}
  kron.factor_grad ins(%x : memref<?x8x?xf32>) factors(%b : memref<?x?xf32>) grad(%x : memref<?x8x?xf32>)
    outs(%d : memref<4x4xf32>) {index = 0 : i64}
  return
}

// Verify the sum over the batch: on a GPU 1024 pieces of it, each of every 1024th position as
// far as there are any, then the pieces in their order; on a CPU 16 pieces, which threads share,
// or 16 positions of the batch side by side.
// CHECK-LABEL: func.func @bias(
// CHECK-SAME: %[[G:[a-z0-9]*]]: memref<?x20xbf16>, %[[T:[a-z0-9]*]]: memref<20x?xbf16>
// CHECK: %[[B:.*]] = memref.dim %[[G]], %{{.*}} : memref<?x20xbf16>
// CHECK: %[[LAST:.*]] = arith.subi %[[B]], %{{.*}} : index
// CHECK: %[[STEPS:.*]] = arith.ceildivui %[[B]], %c1024 : index
// CHECK: %[[RANGE:.*]] = memref.subview %[[G]][0, 0] [%[[STEPS]], 20] [1, 1]
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[RANGE]] : {{.*}}) outs(%[[SUMS:.*]] : memref<1024x20xf32>)
// CHECK: %[[STEP:.*]] = linalg.index 2
// CHECK: %[[FIRST:.*]] = arith.muli %[[STEP]], %c1024
// CHECK: %[[PIECE:.*]] = linalg.index 0
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[PIECE]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[ROW]], %[[B]]
// CHECK: %[[PLACE:.*]] = arith.minui %[[ROW]], %[[LAST]]
// CHECK: memref.load %[[G]][%[[PLACE]], %{{.*}}]
// CHECK: arith.select %[[EXISTS]]
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : memref<1024x20xf32>) outs(%{{.*}} : memref<20xf32>)
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%{{.*}} : {{.*}}) outs(%{{.*}} : memref<20x1024xf32>)
// CHECK: memref.load %[[T]][
// CPU-LABEL: func.func @bias(
// CPU: linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%{{.*}} : memref<16x?x20xbf16, {{.*}}>) outs(%[[SUMS:.*]] : memref<16x20xf32>)
// CPU: linalg.generic {{.*}} ins(%[[SUMS]] : memref<16x20xf32>) outs(%{{.*}} : memref<20xf32>)
// CPU: linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%{{.*}} : memref<20x?x16xbf16, {{.*}}>) outs(%{{.*}} : memref<20x16xf32>)
func.func @bias(%g: memref<?x20xbf16>, %t: memref<20x?xbf16>, %d: memref<20xbf16>) {
  kron.bias_grad ins(%g : memref<?x20xbf16>) outs(%d : memref<20xbf16>)
  kron.bias_grad ins(%t : memref<20x?xbf16>) outs(%d : memref<20xbf16>) {layout = #kron.layout<batch_last>}
  return
}

// Verify that what needs neither scaling nor another type is summed up in its place.
// CHECK-LABEL: func.func @bias_in_place(
// CHECK-SAME: %[[D:[a-z0-9]*]]: memref<20xf32>)
// CHECK: linalg.generic
// CHECK: linalg.fill {{.*}} outs(%[[D]] : memref<20xf32>)
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[D]] : memref<20xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @bias_in_place(%g: memref<?x20xf32>, %d: memref<20xf32>) {
  kron.bias_grad ins(%g : memref<?x20xf32>) outs(%d : memref<20xf32>)
  return
}

// Verify that sums of 16 bits in f32 are what is stored, too.
// CHECK-LABEL: func.func @bias_wide(
// CHECK-SAME: %[[D:[a-z0-9]*]]: memref<20xf32>)
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: linalg.fill {{.*}} outs(%[[D]] : memref<20xf32>)
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[D]] : memref<20xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @bias_wide(%g: memref<?x20xbf16>, %d: memref<20xf32>) {
  kron.bias_grad ins(%g : memref<?x20xbf16>) outs(%d : memref<20xf32>)
  return
}

// Verify that on a CPU a small batch, and one of many features, stay in one piece.
// CPU-LABEL: func.func @bias_whole(
// CPU: linalg.generic {{.*}}["reduction", "parallel"]} ins(%{{.*}} : memref<255x20xf32>) outs(%{{.*}} : memref<20xf32>)
// CPU: linalg.generic {{.*}}["reduction", "parallel"]} ins(%{{.*}} : memref<?x4096xf32>) outs(%{{.*}} : memref<4096xf32>)
func.func @bias_whole(%g: memref<255x20xf32>, %d: memref<20xf32>, %h: memref<?x4096xf32>, %e: memref<4096xf32>) {
  kron.bias_grad ins(%g : memref<255x20xf32>) outs(%d : memref<20xf32>)
  kron.bias_grad ins(%h : memref<?x4096xf32>) outs(%e : memref<4096xf32>)
  return
}
