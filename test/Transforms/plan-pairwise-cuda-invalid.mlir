// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" -verify-diagnostics --split-input-file

func.func @threads(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{expects threads to be a multiple of 32 up to 1024, but got 48}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, threads = 48>}
  return
}

// -----

func.func @ctas(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects ctas_per_sm to be at most 16, but got 20}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, ctas_per_sm = 20>}
  return
}

// -----

func.func @stages(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects stages to be in [2, 8], but got 1}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, stages = 1>}
  return
}

// -----

func.func @lanes(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects column_threads to be a power of two up to 32, but got 6}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, column_threads = 6>}
  return
}

// -----

func.func @step(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects k_step to be a multiple of 8, but got 12}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, k_step = 12>}
  return
}

// -----

func.func @tile(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects thread_rows * thread_columns to be at most 128, but got 256}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, thread_rows = 16, thread_columns = 16>}
  return
}

// -----

func.func @values(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: no pairwise plan has value_columns = 2}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, value_columns = 2>}
  return
}

// -----

func.func @shared(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: a tile of 417792 bytes does not fit in the 232448 bytes of shared memory}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, stages = 8, k_step = 64>}
  return
}

// -----

func.func @kind(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: no other kernel takes functions of pairs, but got mma}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

func.func @fused(%x: memref<4x8xf32>, %f: memref<8x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{has no GPU kernel of kind pairwise}}
  kron.fused ins(%x, %f : memref<4x8xf32>, memref<8x8xf32>) outs(%y : memref<4x8xf32>) attributes {plan = #kron.gpu_plan<kernel = pairwise>} {
  ^bb0(%tx: tensor<4x8xf32>, %tf: tensor<8x8xf32>, %out: tensor<4x8xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x8xf32>) factor(%tf [p, q] : tensor<8x8xf32>) outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
    kron.yield %1 : tensor<4x8xf32>
  }
  return
}

// -----

func.func @products_of_others(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects products to be 0 for what is no sum of products or squares, but got 3}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 3>}
  return
}

// -----

func.func @products_of_largest(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects products to be 0 for what is no sum of products or squares, but got 3}}
  kron.pairwise dot reduce(max) ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 3>}
  return
}

// -----

func.func @products_one(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects products to be 0 or 3, but got 1}}
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 1>}
  return
}

// -----

func.func @products_step(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects k_step to be 32 with products, but got 16}}
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 3, k_step = 16>}
  return
}

// -----

func.func @products_odd(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects thread_rows and thread_columns to be even with products, but got 3}}
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 3, thread_rows = 3>}
  return
}

// -----

func.func @products_lanes(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects column_threads to be 4 to 32, an eighth of a divisor of threads, with products, but got 2}}
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 3, column_threads = 2>}
  return
}

// -----

func.func @products_of_values(%a: memref<?x?xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects column_threads to be 4 with products, but got 8}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, products = 3, column_threads = 8>}
  return
}

// -----

func.func @kept_without_values(%a: memref<?x3xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects keeps_rows to be 0 without values or with products, but got 1}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x3xf32>, memref<?x3xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, keeps_rows = 1>}
  return
}

// -----

func.func @kept_open(%a: memref<?x?xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects a K that is known, or max_k and a function that zeros do not change, with keeps_rows}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 8, thread_rows = 1, thread_columns = 4, keeps_rows = 1>}
  return
}

// -----

func.func @kept_stages(%a: memref<?x9xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects stages to be even with keeps_rows, but got 3}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x9xf32>, memref<?x9xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 16, thread_rows = 1, thread_columns = 4, keeps_rows = 1>}
  return
}

// -----

func.func @kept_step(%a: memref<?x9xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects k_step to be all of K, 9, with keeps_rows, but got 8}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x9xf32>, memref<?x9xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 4, k_step = 8, thread_rows = 1, thread_columns = 4, keeps_rows = 1>}
  return
}

// -----

func.func @kept_registers(%a: memref<?x9xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects thread_rows * K to be at most 64 with keeps_rows, but got 72}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x9xf32>, memref<?x9xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 4, k_step = 16, thread_rows = 8, thread_columns = 4, keeps_rows = 1>}
  return
}

// -----

func.func @kept_products(%a: memref<?x9xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects keeps_rows to be 0 without values or with products, but got 1}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x9xf32>, memref<?x9xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 3, keeps_rows = 1>}
  return
}

// -----

func.func @requirement(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: no pairwise plan has min_k = 5}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, min_k = 5>}
  return
}

// -----

func.func @no_threads(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects threads to be positive, but got 0}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, threads = 0>}
  return
}

// -----

func.func @no_ctas(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects ctas_per_sm to be positive, but got 0}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, ctas_per_sm = 0>}
  return
}

// -----

func.func @no_stages(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects stages to be positive, but got 0}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, stages = 0>}
  return
}

// -----

func.func @no_rows(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{expects thread_rows to be in [1, 16], but got 0}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, thread_rows = 0>}
  return
}

// -----

func.func @negative_step(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{expects k_step to be in [1, 65536], but got -8}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, k_step = -8>}
  return
}

// -----

func.func @no_lanes(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{expects column_threads to be in [1, 32], but got 0}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, column_threads = 0>}
  return
}

// -----

func.func @polynomials_of_none(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects polynomials to be 0 without powers above 1 in f32 that are no products, but got 5}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, polynomials = 5>}
  return
}

// -----

func.func @polynomials_of_f64(%a: memref<?x?xf64>, %y: memref<?x?xf64>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects polynomials to be 0 without powers above 1 in f32 that are no products, but got 5}}
  kron.pairwise pow_diff(1.5) ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>) {plan = #kron.gpu_plan<kernel = pairwise, polynomials = 5>}
  return
}

// -----

func.func @kept_beside_products(%a: memref<?x?xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  // expected-error @+1 {{expects keeps_rows to be 0, say, but got 1, or a plan without products = 3}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, products = 3, keeps_rows = 1>}
  return
}

// -----

func.func @value_products_of_largest(%a: memref<?x64xf32>, %v: memref<?x9xf32>, %y: memref<?x9xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects value_products to be 0 for accumulation max, but got 3}}
  kron.pairwise_apply square_diff accumulate(max) ins(%a, %a : memref<?x64xf32>, memref<?x64xf32>) values(%v : memref<?x9xf32>) outs(%y : memref<?x9xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, value_products = 3>}
  return
}

// -----

func.func @value_products_alone(%a: memref<?x64xf32>, %v: memref<?x9xf32>, %y: memref<?x9xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects value_products to be 0 with products = 0, but got 3}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x64xf32>, memref<?x64xf32>) values(%v : memref<?x9xf32>) outs(%y : memref<?x9xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, products = 0, value_products = 3>}
  return
}

// -----

func.func @value_products_number(%a: memref<?x64xf16>, %v: memref<?x9xf16>, %y: memref<?x9xf16>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects value_products to be 0 or 2, but got 3}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x64xf16>, memref<?x64xf16>) values(%v : memref<?x9xf16>) outs(%y : memref<?x9xf16>)
    {plan = #kron.gpu_plan<kernel = pairwise, value_products = 3>}
  return
}

// -----

func.func @value_products_columns(%a: memref<?x64xf32>, %v: memref<?x9xf32>, %y: memref<?x9xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects value_columns to be a multiple of 8 with value_products, but got 4}}
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x64xf32>, memref<?x64xf32>) values(%v : memref<?x9xf32>) outs(%y : memref<?x9xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 3, value_columns = 4, value_products = 3>}
  return
}

// -----

func.func @value_products_of_distances(%a: memref<?x64xf32>, %v: memref<?x9xf32>, %y: memref<?x9xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects value_products to be 0 for what is no sum of products or squares, but got 3}}
  kron.pairwise_apply abs_diff ins(%a, %a : memref<?x64xf32>, memref<?x64xf32>) values(%v : memref<?x9xf32>) outs(%y : memref<?x9xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, value_products = 3>}
  return
}

// -----

func.func @value_products_without_values(%a: memref<?x64xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects value_products to be 0 without values, but got 3}}
  kron.pairwise dot ins(%a, %a : memref<?x64xf32>, memref<?x64xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 3, value_products = 3>}
  return
}

// -----

func.func @wgmma_complete_without_products(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects wgmma to be 0 with products = 0, but got 1}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 1, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, wgmma = 1>}
  return
}

// -----

func.func @wgmma_without_products(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects wgmma to be 0 for what is no sum of products or squares, but got 1}}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, wgmma = 1>}
  return
}

// -----

func.func @wgmma_of_f64(%a: memref<?x?xf64>, %y: memref<?x?xf64>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects wgmma to be 0 of f64, but got 1}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 1, stages = 3, k_step = 8, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 1, wgmma = 1>}
  return
}

// -----

func.func @wgmma_lanes(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects column_threads to be 4 with wgmma, but got 8}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 1, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 8, products = 3, wgmma = 1>}
  return
}

// -----

func.func @wgmma_threads(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects threads to be a multiple of 128 with wgmma, but got 64}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 1, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 3, wgmma = 1>}
  return
}

// -----

func.func @other_arrays(%a: memref<?x64xf32>, %b: memref<?x64xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{has no GPU kernel; pairwise: expects symmetric to be 0 of what is no matrix of one array with itself that is the same in both orders, but got 1}}
  kron.pairwise abs_diff ins(%a, %b : memref<?x64xf32>, memref<?x64xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, symmetric = 1>}
  return
}
