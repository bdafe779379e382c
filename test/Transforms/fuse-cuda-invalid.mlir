// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" -verify-diagnostics
// RUN: not kron-opt %s --kron-fuse="target=cuda chip=sm_75" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not kron-opt %s --kron-fuse="target=metal" 2>&1 | FileCheck %s --check-prefix=TARGET

// CHIP: error: option chip: expects a GPU architecture of sm_80 or newer, e.g. sm_90a, but got 'sm_75'
// TARGET: error: expects target to be cpu or cuda, but got metal

// Verify that fused regions given by hand have to cover the chain.
func.func @regions(%x: memref<2x16xf32>, %f: memref<4x4xf32>, %y: memref<2x16xf32>) {
  // expected-error @+1 {{expects regions of its plan to add up to its 2 mode products, but got 3}}
  kron.mkm ins(%x : memref<2x16xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>)
    outs(%y : memref<2x16xf32>) {plan = #kron.gpu_plan<regions = [2, 1]>}
  return
}
