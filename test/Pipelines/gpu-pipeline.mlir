// RUN: kron-opt %s '--kron-gpu-pipeline=chip=sm_80 reference=true' | FileCheck %s
// RUN: kron-opt %s '--kron-gpu-pipeline=chip=sm_80 poison-shared-memory=true' | FileCheck %s --check-prefix=POISON
// RUN: kron-opt %s '--kron-gpu-pipeline=chip=sm_80' | FileCheck %s --check-prefix=PLAIN

// Verify that everything ends in the LLVM dialect: host code that launches, and
// kernels with their functions expanded.
// POISON:        llvm.func @epilogue_0(
// POISON:          "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"
// PLAIN-NOT:     dynamic_smem_size
// CHECK-LABEL: llvm.func @epilogue(
// CHECK:         llvm.call @kronRtCudaWorkspace(
// CHECK:         llvm.call @kronRtCudaLaunch(
// CHECK:         llvm.call @kronRtCudaRelease(
// CHECK:       gpu.module @kron_gpu
// CHECK:         llvm.func @epilogue_0(
// CHECK-SAME:      nvvm.kernel
// CHECK-NOT:     {{(math|arith|scf|complex|memref)\.}}
// CHECK-NOT:     llvm.intr.exp
func.func @epilogue(%x: memref<9x40xf32>, %k: memref<2x3x4x5xf32>, %y: memref<9x30xf32>, %bias: memref<30xf32>) {
  kron.ksmm ins(%x : memref<9x40xf32>) weights(%k : memref<2x3x4x5xf32>) outs(%y : memref<9x30xf32>) bias(%bias : memref<30xf32>) {activation = #kron.activation<gelu>, plan = #kron.gpu_plan<kernel = sparse>}
  return
}
