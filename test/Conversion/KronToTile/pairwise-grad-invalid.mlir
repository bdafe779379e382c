// RUN: kron-opt %s --kron-tile="chip=sm_90a" -verify-diagnostics --split-input-file

func.func @kind(%a: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind pairwise_grad: only kernel pairwise_grad takes gradients of functions of pairs, but got cublas}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = cublas>}
  return
}

// -----

func.func @requires(%a: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no plan that requires nothing of what is known at launch only: #kron.gpu_plan<kernel = pairwise_grad, max_k = 8,}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise_grad, max_k = 8, threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, column_threads = 8, thread_positions = 2, k_threads = 4>}
  return
}

// -----

func.func @parameter(%a: memref<?x?xf32>, %h: memref<?x?xf32>, %g: f32, %y: memref<f32>) {
  // expected-error @+1 {{cannot become a kernel of kind pairwise_grad: gradients by hyper-parameters have no kernel}}
  kron.pairwise_grad by(param, 0) abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) params(%g : f32) outs(%y : memref<f32>)
    epilogue {
    ^bb0(%s: f32, %p: f32):
      %r = arith.mulf %s, %p : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, column_threads = 8, thread_positions = 2, k_threads = 4>}
  return
}
