// RUN: kron-opt %s --kron-gpu-pipeline=chip=sm_90a | FileCheck %s

// Verify that a kernel without arrays in shared memory, whose first view has 8 bits, sums up in f32.
// CHECK-LABEL: llvm.func @eight_bits_0(
// CHECK:         llvm.load {{.*}} -> i8
// CHECK:         llvm.intr.fma{{.*}} : (f32, f32, f32) -> f32
func.func @eight_bits(%x: memref<6144x1xf8E5M2>, %k: memref<64x12x12x8xf8E5M2>, %bias: memref<6144xf32>, %alpha: f32, %beta: f32, %y: memref<1x6144xf32>) {
  kron.ksmm ins(C(%x) : memref<6144x1xf8E5M2>) weights(%k : memref<64x12x12x8xf8E5M2>) outs(%y : memref<1x6144xf32>) alpha(%alpha : f32) beta(%beta : f32) addend(%y : memref<1x6144xf32>) bias(%bias : memref<6144xf32>) {activation = #kron.activation<relu>}
  return
}
