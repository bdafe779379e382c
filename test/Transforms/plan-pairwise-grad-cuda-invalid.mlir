// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" -verify-diagnostics --split-input-file

// Verify what plans of gradients of functions of pairs are refused for.

func.func @ctas(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects ctas_per_sm to be at most 16, but got 20}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, ctas_per_sm = 20>}
  return
}

// -----

func.func @positive(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects threads to be positive, but got 0}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 0>}
  return
}

// -----

func.func @lanes(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects column_threads to be a power of two up to 32, but got 6}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, column_threads = 6>}
  return
}

// -----

func.func @k_threads(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects k_threads to be a power of two up to 32, but got 3}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, k_threads = 3>}
  return
}

// -----

func.func @no_stages(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects stages to be 0, as weights depend on no values of pairs, but got 2}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, stages = 2>}
  return
}

// -----

func.func @no_step(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects k_step to be 0, as weights depend on no values of pairs, but got 8}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, k_step = 8>}
  return
}

// -----

func.func @stages(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects stages to be positive, as weights depend on values of pairs, but got 0}}
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    epilogue {
    ^bb0(%s: f32):
      %r = math.exp %s : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, stages = 0>}
  return
}

// -----

func.func @one_stage(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects stages to be 0 or in [2, 8], but got 1}}
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    epilogue {
    ^bb0(%s: f32):
      %r = math.exp %s : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, stages = 1>}
  return
}

// -----

func.func @step(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects k_step to be a multiple of 8, but got 12}}
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    epilogue {
    ^bb0(%s: f32):
      %r = math.exp %s : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, k_step = 12>}
  return
}

// -----

func.func @without(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects stages and k_step to be positive, as weights depend on values of pairs, but got 0}}
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    epilogue {
    ^bb0(%s: f32):
      %r = math.exp %s : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, thread_positions = 2, k_threads = 4>}
  return
}

// -----

func.func @bytes(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects thread_positions * k_threads to be a multiple of 4, but got 2}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, thread_positions = 2, k_threads = 1>}
  return
}

// -----

func.func @rows(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects the rows of a block to be a multiple of 32, threads / k_threads, but got 8}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 128, column_threads = 16, thread_rows = 1, thread_positions = 1, k_threads = 4>}
  return
}

// -----

func.func @sums(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects values and sums of a thread to be at most 128, but got 256}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, thread_rows = 16, thread_columns = 16>}
  return
}

// -----

func.func @outputs(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: expects outputs to be 1, as gradients do not differ in a factor of one column only, but got 2}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise_grad, outputs = 2>}
  return
}

// -----

func.func @shared(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: a tile of}}
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    epilogue {
    ^bb0(%s: f32):
      %r = math.exp %s : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 1024, ctas_per_sm = 1, thread_rows = 8, thread_columns = 8, column_threads = 32, thread_positions = 4, k_threads = 32, stages = 8, k_step = 64>}
  return
}

// -----

func.func @kind(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: no other kernel takes gradients of functions of pairs, but got pairwise}}
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, threads = 64>}
  return
}

// -----

func.func @maxima(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise_grad: gradients of maxima have no kernel}}
  kron.pairwise_grad by(lhs) abs_diff reduce(max) ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<threads = 64>}
  return
}
