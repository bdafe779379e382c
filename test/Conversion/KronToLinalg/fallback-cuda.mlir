// RUN: kron-opt %s '--convert-kron-to-linalg=fallback-only=true target=cuda' \
// RUN:   --remarks-filter=kron-fallback --verify-diagnostics | FileCheck %s
// RUN: not kron-opt %s '--convert-kron-to-linalg=target=tpu' 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: expects target to be cpu or cuda, but got tpu

// Verify that element types which only the CPU has no vectors for stay.
// CHECK-LABEL: func.func @half(
// CHECK:         kron.mkm
func.func @half(%x: memref<3x4xf16>, %f: memref<2x2xf16>, %y: memref<3x4xf16>) {
  kron.mkm ins(%x : memref<3x4xf16>) factors(%f, %f : memref<2x2xf16>, memref<2x2xf16>) outs(%y : memref<3x4xf16>)
  return
}

// Verify that factors whose shape is not known do not.
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT:     kron.mkm
func.func @dynamic(%x: memref<3x?xf32>, %f: memref<?x?xf32>, %y: memref<3x?xf32>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="a factor has a dynamic shape", Remark="kron.mkm takes the slow path"}}
  kron.mkm ins(%x : memref<3x?xf32>) factors(%f : memref<?x?xf32>) outs(%y : memref<3x?xf32>)
  return
}

// Verify that epilogues on f16 stay, and so do those outside of a product.
// CHECK-LABEL: func.func @epilogue(
// CHECK:         kron.ksmm
// CHECK:         kron.epilogue
func.func @epilogue(%x: memref<9x40xf16>, %k: memref<2x3x4x5xf16>, %y: memref<9x30xf16>) {
  kron.ksmm ins(%x : memref<9x40xf16>) weights(%k : memref<2x3x4x5xf16>) outs(%y : memref<9x30xf16>) {activation = #kron.activation<relu>}
  kron.epilogue ins(%y : memref<9x30xf16>) outs(%y : memref<9x30xf16>) {activation = #kron.activation<relu>}
  return
}

// Verify that gradients by weights do where the pattern is not known.
// CHECK-LABEL: func.func @gradient(
// CHECK:         kron.ksmm_grad {{.*}} outs(%{{.*}} : memref<2x3x4x5xf16>)
// CHECK-NOT:     kron.ksmm_grad
func.func @gradient(%x: memref<?x40xf16>, %g: memref<?x30xf16>, %d: memref<2x3x4x5xf16>, %e: memref<2x?x4x5xf16>) {
  kron.ksmm_grad ins(%x : memref<?x40xf16>) grad(%g : memref<?x30xf16>) outs(%d : memref<2x3x4x5xf16>)
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="the pattern has dynamic sizes", Remark="kron.ksmm_grad takes the slow path"}}
  kron.ksmm_grad ins(%x : memref<?x40xf16>) grad(%g : memref<?x30xf16>) outs(%e : memref<2x?x4x5xf16>)
  return
}

// Verify that nothing is left to a kernel where there is nothing to multiply.
// CHECK-LABEL: func.func @zero(
// CHECK-NOT:     kron.mode_product
func.func @zero(%x: memref<3x4xf32>, %f: memref<4x5xf32>, %y: memref<3x5xf32>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="alpha is 0", Remark="kron.mode_product takes the slow path"}}
  kron.mode_product axis(1) ins(%x : memref<3x4xf32>) factor(%f [p, q] : memref<4x5xf32>) outs(%y : memref<3x5xf32>) alpha(0.0 : f32)
  return
}

// CHECK-LABEL: func.func @empty(
// CHECK-NOT:     kron.mode_product
func.func @empty(%x: memref<0x4xf32>, %f: memref<4x5xf32>, %y: memref<0x5xf32>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="an array has no elements", Remark="kron.mode_product takes the slow path"}}
  kron.mode_product axis(1) ins(%x : memref<0x4xf32>) factor(%f [p, q] : memref<4x5xf32>) outs(%y : memref<0x5xf32>)
  return
}
