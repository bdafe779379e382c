// RUN: kron-opt %s --kron-tile="chip=sm_90a" -verify-diagnostics --split-input-file

func.func @incomplete(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{expects a complete plan for a GPU: run --kron-plan=target=cuda first; found #kron.gpu_plan<kernel = pairwise, threads = 64>}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, threads = 64>}
  return
}

// -----

func.func @kind(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind pairwise: only kernel pairwise takes functions of pairs, but got cublas}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = cublas>}
  return
}

// -----

func.func @stages(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind pairwise: expects stages to be in [2, 8], but got 9}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 9, k_step = 8, thread_rows = 2, thread_columns = 4>}
  return
}

// -----

func.func @tensors(%a: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @+1 {{expects memref operands: run --kron-bufferize first}}
  %0 = kron.pairwise abs_diff ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%y : tensor<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4>} -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @values(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind pairwise: expects value_columns and split_ctas to be 1 without values, but got 2}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4, value_columns = 2>}
  return
}

// -----

func.func @requirement(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no plan that requires nothing of what is known at launch only: #kron.gpu_plan<kernel = pairwise, min_k = 9, threads = 64}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, min_k = 9, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4>}
  return
}

// -----

func.func @second(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind pairwise: expects stages to be in [2, 8], but got 9}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.dispatch<[<kernel = pairwise, min_k = 9, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4>,
                            <kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 9, k_step = 8, thread_rows = 2, thread_columns = 4>]>}
  return
}
