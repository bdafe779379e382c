// RUN: kron-opt %s --convert-kron-to-linalg='fallback-only=true target=cuda' --kron-decompose=target=cuda | FileCheck %s

// Verify that a bias alone is added by the product's kernel, as a Z that all rows share;
// in f16 too, whose sum is rounded once.
// CHECK-LABEL: func.func @bias(
// CHECK-SAME: %{{.*}}: memref<?x40xf16>, %{{.*}}: memref<2x3x4x5xf16>, %[[B:.*]]: memref<30xf16>
// CHECK: %[[VIEW:.*]] = memref.expand_shape %[[B]] {{.*}} into memref<2x3x5xf16>
// CHECK: memref.extract_strided_metadata %[[VIEW]]
// CHECK: %[[Z:.*]] = memref.reinterpret_cast {{.*}} strides: [0, 15, 5, 1]
// CHECK: kron.fused ins(%{{.*}}, %{{.*}}, %[[Z]] :
// CHECK: kron.mode_product {{.*}} beta(1.000000e+00 : f32) addend(
// CHECK-NOT: linalg
func.func @bias(%x: memref<?x40xf16>, %k: memref<2x3x4x5xf16>, %b: memref<30xf16>, %y: memref<?x30xf16>) {
  kron.ksmm ins(%x : memref<?x40xf16>) weights(%k : memref<2x3x4x5xf16>) outs(%y : memref<?x30xf16>) bias(%b : memref<30xf16>)
  return
}

// Verify that so is a residual, also where it is the destination.
// CHECK-LABEL: func.func @residual(
// CHECK: kron.mode_product {{.*}} beta(1.000000e+00 : f32) addend(
// CHECK: kron.mode_product {{.*}} beta(1.000000e+00 : f32) ->
// CHECK-NOT: linalg
func.func @residual(%x: memref<?x40xf32>, %k: memref<2x3x4x5xf32>, %r: memref<?x30xf32>, %y: memref<?x30xf32>) {
  kron.ksmm ins(%x : memref<?x40xf32>) weights(%k : memref<2x3x4x5xf32>) outs(%y : memref<?x30xf32>) residual(%r : memref<?x30xf32>)
  kron.ksmm ins(%x : memref<?x40xf32>) weights(%k : memref<2x3x4x5xf32>) outs(%y : memref<?x30xf32>) residual(%y : memref<?x30xf32>)
  return
}

// Verify that activations are epilogues.
// CHECK-LABEL: func.func @activation(
// CHECK: kron.epilogue
func.func @activation(%x: memref<?x40xf32>, %k: memref<2x3x4x5xf32>, %b: memref<30xf32>, %y: memref<?x30xf32>) {
  kron.ksmm ins(%x : memref<?x40xf32>) weights(%k : memref<2x3x4x5xf32>) outs(%y : memref<?x30xf32>) bias(%b : memref<30xf32>)
    {activation = #kron.activation<relu>}
  return
}
