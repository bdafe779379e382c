// RUN: not kron-opt %s --kron-plan="target=cuda chip=sm_75" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not kron-opt %s --kron-plan="target=metal" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not kron-opt %s --kron-plan="target=cuda chip=sm_80" 2>&1 | FileCheck %s --check-prefix=KERNEL

// CHIP: error: option chip: expects a GPU architecture of sm_80 or newer, e.g. sm_90a, but got 'sm_75'
// TARGET: error: expects target to be cpu or cuda, but got metal

// Verify that a kernel that does not take the fused region is refused with its reason.
// KERNEL: error: 'kron.fused' op has no GPU kernel of kind wgmma
func.func @kernel(%x: memref<?x16xf64>, %f: memref<16x16xf64>, %y: memref<?x16xf64>) {
  kron.fused ins(%x, %f : memref<?x16xf64>, memref<16x16xf64>) outs(%y : memref<?x16xf64>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%t: tensor<?x16xf64>, %a: tensor<16x16xf64>, %o: tensor<?x16xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x16xf64>) factor(%a [p, q] : tensor<16x16xf64>) outs(%o : tensor<?x16xf64>) -> tensor<?x16xf64>
    kron.yield %1 : tensor<?x16xf64>
  }
  return
}
