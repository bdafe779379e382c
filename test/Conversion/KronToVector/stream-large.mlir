// RUN: kron-opt %s --kron-cpu-pipeline="stream-columns-bytes=4096" | FileCheck %s

// Verify that large factors, which take memory of the function beside, are built
// both with and without non-temporal stores, and that the range of tiles ends
// with a fence.
// CHECK-LABEL: llvm.func @large_fused(
// CHECK: llvm.store {{.*}}nontemporal
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: llvm.fence seq_cst
func.func @large(%x: memref<4096x1024xf32>, %f: memref<64x64xf32>, %y: memref<4096x1024xf32>) {
  kron.kmm ins(%x : memref<4096x1024xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<4096x1024xf32>)
  return
}
