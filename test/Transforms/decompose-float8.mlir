// RUN: kron-opt %s --kron-decompose | FileCheck %s
// RUN: kron-opt %s --kron-decompose=target=cuda | FileCheck %s --check-prefix=GPU

// Verify that X and weights of 8 bits become arrays of the result's type, before they are
// viewed, and that those of that type stay.
// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[X:.*]]: tensor<?x32xf8E4M3FN>, %[[K:.*]]: tensor<2x4x8x2xf8E5M2>
// CHECK:         %[[WX:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x32xf8E4M3FN>) outs(%{{.*}} : tensor<?x32xf16>)
// CHECK:         %[[WK:.*]] = linalg.generic {{.*}} ins(%[[K]] : tensor<2x4x8x2xf8E5M2>) outs(%{{.*}} : tensor<2x4x8x2xf16>)
// CHECK:         %[[VIEW:.*]] = tensor.expand_shape %[[WX]]
// CHECK:         kron.mode_product axis(2) ins(%[[VIEW]] : tensor<?x2x8x2xf16>) factor(%[[WK]] [1, q, p, 3] : tensor<2x4x8x2xf16>) {{.*}} alpha(%{{.*}} : f32)
//
// Verify that on a GPU both are read as they are.
// GPU-LABEL: func.func @both(
// GPU-NOT:     linalg.generic
// GPU:         %[[VIEW:.*]] = tensor.expand_shape {{.*}} : tensor<?x32xf8E4M3FN> into tensor<?x2x8x2xf8E4M3FN>
// GPU:         kron.mode_product axis(2) ins(%[[VIEW]] : tensor<?x2x8x2xf8E4M3FN>) factor(%{{.*}} [1, q, p, 3] : tensor<2x4x8x2xf8E5M2>) outs(%{{.*}} : tensor<?x2x4x2xf16>) alpha(%{{.*}} : f32)
func.func @both(%x: tensor<?x32xf8E4M3FN>, %k: tensor<2x4x8x2xf8E5M2>, %s: f32, %y: tensor<?x16xf16>) -> tensor<?x16xf16> {
  %0 = kron.ksmm ins(%x : tensor<?x32xf8E4M3FN>) weights(%k : tensor<2x4x8x2xf8E5M2>) outs(%y : tensor<?x16xf16>) alpha(%s : f32) -> tensor<?x16xf16>
  return %0 : tensor<?x16xf16>
}

// Verify the same on memrefs, whose buffers are released, with one array of 8 bits.
// CHECK-LABEL: func.func @memref(
// CHECK-SAME:    %[[X:.*]]: memref<8x32xf8E5M2>, %[[K:.*]]: memref<2x4x8x2xbf16>
// CHECK:         %[[B:.*]] = memref.alloc() {{.*}}: memref<8x32xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<8x32xf8E5M2>) outs(%[[B]] : memref<8x32xbf16>)
// CHECK:         %[[VIEW:.*]] = memref.expand_shape %[[B]]
// CHECK:         kron.fused ins(%[[VIEW]], %[[K]] :
// CHECK:         memref.dealloc %[[B]]
//
// Verify that beside bf16 they are not: f16 does not hold its values.
// GPU-LABEL: func.func @memref(
// GPU:         linalg.generic {{.*}} outs(%{{.*}} : memref<8x32xbf16>)
func.func @memref(%x: memref<8x32xf8E5M2>, %k: memref<2x4x8x2xbf16>, %y: memref<8x16xbf16>) {
  kron.ksmm ins(%x : memref<8x32xf8E5M2>) weights(%k : memref<2x4x8x2xbf16>) outs(%y : memref<8x16xbf16>)
  return
}

// Verify that nothing is widened that is not read.
// CHECK-LABEL: func.func @zero(
// CHECK-NOT:     f8E5M2>) outs
// CHECK:         linalg.fill
func.func @zero(%x: memref<8x32xf8E5M2>, %k: memref<2x4x8x2xbf16>, %y: memref<8x16xbf16>) {
  kron.ksmm ins(%x : memref<8x32xf8E5M2>) weights(%k : memref<2x4x8x2xbf16>) outs(%y : memref<8x16xbf16>) alpha(0.0 : f32)
  return
}

// Verify that a GPU reads weights of 8 bits beside f16.
// GPU-LABEL: func.func @weights(
// GPU-NOT:     linalg.generic
// GPU:         kron.fused ins(%{{.*}}, %{{.*}} : memref<8x2x8x2xf16>, memref<2x4x8x2xf8E4M3FN>) outs(%{{.*}} : memref<8x2x4x2xf16
func.func @weights(%x: memref<8x32xf16>, %k: memref<2x4x8x2xf8E4M3FN>, %y: memref<8x16xf16>) {
  kron.ksmm ins(%x : memref<8x32xf16>) weights(%k : memref<2x4x8x2xf8E4M3FN>) outs(%y : memref<8x16xf16>)
  return
}

// Verify that ieee, which no matrix instruction is, widens both.
// GPU-LABEL: func.func @ieee(
// GPU-COUNT-2: linalg.generic {{.*}}xf32>)
func.func @ieee(%x: memref<8x32xf8E5M2>, %k: memref<2x4x8x2xf8E4M3FN>, %y: memref<8x16xf32>) {
  kron.ksmm ins(%x : memref<8x32xf8E5M2>) weights(%k : memref<2x4x8x2xf8E4M3FN>) outs(%y : memref<8x16xf32>)
    {precision = #kron.precision<ieee>}
  return
}
