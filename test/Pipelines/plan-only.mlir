// RUN: kron-opt %s --kron-gpu-pipeline="chip=h200 plan-only" | FileCheck %s

// Verify that the pipeline for GPUs stops behind --kron-plan: there is a plan, and no kernel yet.
// CHECK-LABEL: func.func @mkm
// CHECK: kron.fused {{.*}}plan = #kron.gpu_plan<kernel = wgmma
// CHECK-NOT: gpu.module
func.func @mkm(%x: memref<?x1024xf32>, %f: memref<32x32xf32>, %y: memref<?x1024xf32>) {
  kron.mkm ins(%x : memref<?x1024xf32>) factors(%f, %f : memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<?x1024xf32>)
  return
}
