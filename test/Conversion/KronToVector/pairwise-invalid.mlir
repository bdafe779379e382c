// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file -verify-diagnostics

func.func @no_plan(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects a complete plan for a CPU: run --kron-plan first}}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @partial_plan(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{expects a complete plan for a CPU: run --kron-plan first; found #kron.pairwise_plan<rows = 4>}}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      {plan = #kron.pairwise_plan<rows = 4>}
  return
}

// -----

func.func @tensors(%a: tensor<4x8xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'kron.pairwise' op expects memref operands: run --kron-bufferize first}}
  %0 = kron.pairwise dot ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @function(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.pairwise' op cannot become vector code: math.cbrt has no vector form}}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      epilogue {
      ^bb0(%v: f32):
        %e = math.cbrt %v : f32
        kron.pairwise_yield %e : f32
      }
  return
}

// -----

func.func @plan_of_pairwise(%a: memref<4x8xf32>, %v: memref<4x2xf32>, %y: memref<4x2xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects a complete plan for a CPU: run --kron-plan first; found #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8>}}
  kron.pairwise_apply dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) values(%v : memref<4x2xf32>) outs(%y : memref<4x2xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8>}
  return
}

// -----

func.func @derivative(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op cannot become vector code: derivatives of maxima have no vector kernel}}
  kron.pairwise_tangent dot reduce(max) ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) along(%a, %a : memref<4x8xf32>, memref<4x8xf32>)
      outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @plan_of_gradient(%a: memref<4x8xf32>, %h: memref<4x4xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects a complete plan for a CPU: run --kron-plan first; found #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8, n_tiles = 2>}}
  kron.pairwise_grad by(lhs) dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>) outs(%y : memref<4x8xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8, n_tiles = 2>}
  return
}

// -----

// A sum of squares says whether products make it.
func.func @squares(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{expects a complete plan for a CPU: run --kron-plan first; found #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8>}}
  kron.pairwise square_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8>}
  return
}

// -----

func.func @no_squares(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{expects no product_k where there are no squares of differences, but got #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8, product_k = 3, symmetric = -1>}}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, rows = 4, vectors = 1, row_block = 4, k_block = 8, product_k = 3, symmetric = -1>}
  return
}

// -----

func.func @symmetric(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{expects no symmetric where there is no matrix of one array with itself that is the same in both orders, but got}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 4, vectors = 1, row_block = 4, k_block = 8, symmetric = 1>}
  return
}
