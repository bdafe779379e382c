// RUN: kron-opt %s -split-input-file --kron-tile=chip=sm_80 -verify-diagnostics

func.func @warpgroups(%x: memref<64x1000xf16>, %g: memref<64x1000xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects wgmma to be 0, as the GPU has no wgmma, but got 1}}
  kron.ksmm_grad ins(%x : memref<64x1000xf16>) grad(%g : memref<64x1000xf16>) outs(%d : memref<1x64x64x1xf16>)
    {layout = #kron.layout<batch_last>, plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 16, lane_warps = 1, row_tiles = 1, row_warps = 4, column_tiles = 8, column_warps = 1, batch_step = 64, stages = 3, ctas_per_sm = 1, split_k = 1, wgmma = 1, packed_operands = 0, bf16_residuals = 0>}
  return
}

// -----

func.func @incomplete(%x: memref<64x1000xf16>, %g: memref<64x1000xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{expects a complete plan for a GPU: run --kron-plan=target=cuda first; found #kron.gpu_plan<kernel = gradient, stages = 2>}}
  kron.ksmm_grad ins(%x : memref<64x1000xf16>) grad(%g : memref<64x1000xf16>) outs(%d : memref<1x64x64x1xf16>)
    {layout = #kron.layout<batch_last>, plan = #kron.gpu_plan<kernel = gradient, stages = 2>}
  return
}

// -----

func.func @wrong(%x: memref<1000x64xf16>, %g: memref<1000x64xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects stages to be at least 2, but got 1}}
  kron.ksmm_grad ins(%x : memref<1000x64xf16>) grad(%g : memref<1000x64xf16>) outs(%d : memref<1x64x64x1xf16>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, lane_warps = 1, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 1, ctas_per_sm = 1, split_k = 1>}
  return
}

// -----

func.func @complex(%x: memref<100x6xcomplex<f32>>, %g: memref<100x6xcomplex<f32>>, %d: memref<1x3x3x2xcomplex<f32>>) {
  // expected-error @+1 {{cannot become a GPU kernel: run --kron-decompose=target=cuda first}}
  kron.ksmm_grad ins(%x : memref<100x6xcomplex<f32>>) grad(%g : memref<100x6xcomplex<f32>>) outs(%d : memref<1x3x3x2xcomplex<f32>>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, lane_warps = 1, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, split_k = 1>}
  return
}

// -----

func.func @tensors(%x: tensor<100x6xf32>, %g: tensor<100x6xf32>, %d: tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32> {
  // expected-error @+1 {{expects memref operands: run --kron-bufferize first}}
  %0 = kron.ksmm_grad ins(%x : tensor<100x6xf32>) grad(%g : tensor<100x6xf32>) outs(%d : tensor<1x3x3x2xf32>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, lane_warps = 1, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, split_k = 1>} -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
}

// -----

func.func @least_piece(%x: memref<1000x64xf16>, %g: memref<1000x64xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects least_piece to be 64 with split_k = 1, but got 32}}
  kron.ksmm_grad ins(%x : memref<1000x64xf16>) grad(%g : memref<1000x64xf16>) outs(%d : memref<1x64x64x1xf16>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, least_piece = 32>}
  return
}

// -----

func.func @sum_threads_of_none(%x: memref<1000x64xf16>, %g: memref<1000x64xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects sum_threads to be 1 unless a second kernel adds up sums, but got 2}}
  kron.ksmm_grad ins(%x : memref<1000x64xf16>) grad(%g : memref<1000x64xf16>) outs(%d : memref<1x64x64x1xf16>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, sum_threads = 2>}
  return
}

// -----

func.func @sum_loads_of_none(%x: memref<1000x64xf16>, %g: memref<1000x64xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects sum_loads to be 1 unless a second kernel adds up sums, but got 3}}
  kron.ksmm_grad ins(%x : memref<1000x64xf16>) grad(%g : memref<1000x64xf16>) outs(%d : memref<1x64x64x1xf16>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, sum_loads = 3>}
  return
}

// -----

func.func @sum_threads(%x: memref<1000x64xf16>, %g: memref<1000x64xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects sum_threads to be a power of two, but got 3}}
  kron.ksmm_grad ins(%x : memref<1000x64xf16>) grad(%g : memref<1000x64xf16>) outs(%d : memref<1x64x64x1xf16>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, split_k = 8, sum_threads = 3>}
  return
}

// -----

func.func @sum_loads(%x: memref<1000x64xf16>, %g: memref<1000x64xf16>, %d: memref<1x64x64x1xf16>) {
  // expected-error @+1 {{cannot become a kernel of kind gradient: expects sum_loads to be at most 2, the sums of a thread, but got 3}}
  kron.ksmm_grad ins(%x : memref<1000x64xf16>) grad(%g : memref<1000x64xf16>) outs(%d : memref<1x64x64x1xf16>)
    {plan = #kron.gpu_plan<kernel = gradient, chunk_bytes = 8, row_tiles = 1, row_warps = 1, column_tiles = 1, column_warps = 1, batch_step = 64, stages = 2, ctas_per_sm = 1, split_k = 8, sum_threads = 4, sum_loads = 3>}
  return
}
