// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_80" -split-input-file -verify-diagnostics

// Verify that what a chip does not have is refused.
func.func @wgmma(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects wgmma to be 0, as the GPU has no wgmma, but got 1}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 1, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 3, wgmma = 1>}
  return
}

// -----

// Verify that so is what a partial plan asks for, with the reason.
func.func @partial(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects wgmma to be 0, as the GPU has no wgmma, but got 1}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, wgmma = 1>}
  return
}
