// RUN: kron-opt %s --kron-decompose --kron-fuse=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda cublas=false" \
// RUN:   | FileCheck %s --check-prefix=NEVER
// RUN: kron-opt %s --kron-gpu-pipeline=plan-only | FileCheck %s --check-prefix=PLAN
// RUN: kron-opt %s --kron-gpu-pipeline="plan-only cublas=false" \
// RUN:   | FileCheck %s --check-prefix=KERNELS --implicit-check-not=cublas

// Verify that two factors of IEEE arithmetic are products of their own where cuBLAS computes both
// in less time than one kernel does, and one fused region where it must not.
// CHECK-LABEL: func.func @ieee(
// CHECK-COUNT-2: kron.fused
// NEVER-LABEL: func.func @ieee(
// NEVER: kron.fused
// NEVER-NOT: kron.fused
// NEVER: return
// PLAN-LABEL: func.func @ieee(
// PLAN-COUNT-2: #kron.dispatch<[<kernel = cublas>,
// KERNELS-LABEL: func.func @ieee(
// KERNELS: #kron.gpu_plan<kernel = simt
func.func @ieee(%x: memref<1024x4096xf32>, %f: memref<64x64xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(%x : memref<1024x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
    outs(%y : memref<1024x4096xf32>) {precision = #kron.precision<ieee>}
  return
}

// Verify that a plan by hand for another kernel leaves both in one fused region.
// CHECK-LABEL: func.func @given(
// CHECK: kron.fused
// CHECK-NOT: kron.fused
func.func @given(%x: memref<1024x4096xf32>, %f: memref<64x64xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(%x : memref<1024x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
    outs(%y : memref<1024x4096xf32>)
    {precision = #kron.precision<ieee>, plan = #kron.gpu_plan<kernel = simt>}
  return
}
