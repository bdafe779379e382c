// RUN: kron-opt %s -split-input-file -verify-diagnostics --kron-plan="target=cuda chip=h200 cublas=false"

// Verify that a field by hand that cannot be honoured is refused with its name, its value, and what is
// expected: by the rule that it breaks, or by what it could be.

func.func @wgmma_tile(%x: memref<?x32x32xf32>, %f: memref<32x32xf32>, %y: memref<?x32x32xf32>) {
  // expected-error @below {{wgmma: factors and a tile do not fit shared memory; expects tile to be 64, say, but got 4096}}
  kron.fused ins(%x, %f : memref<?x32x32xf32>, memref<32x32xf32>) outs(%y : memref<?x32x32xf32>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 4096>} {
  ^bb0(%t: tensor<?x32x32xf32>, %a: tensor<32x32xf32>, %o: tensor<?x32x32xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<?x32x32xf32>) -> tensor<?x32x32xf32>
    kron.yield %1 : tensor<?x32x32xf32>
  }
  return
}

// -----

func.func @wgmma_stages(%x: memref<?x32x32xf32>, %f: memref<32x32xf32>, %y: memref<?x32x32xf32>) {
  // expected-error @below {{wgmma: factors and a tile do not fit shared memory; expects stages to be 3, say, but got 5000}}
  kron.fused ins(%x, %f : memref<?x32x32xf32>, memref<32x32xf32>) outs(%y : memref<?x32x32xf32>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, stages = 5000>} {
  ^bb0(%t: tensor<?x32x32xf32>, %a: tensor<32x32xf32>, %o: tensor<?x32x32xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<?x32x32xf32>) -> tensor<?x32x32xf32>
    kron.yield %1 : tensor<?x32x32xf32>
  }
  return
}

// -----

func.func @wgmma_k_piece(%x: memref<?x32x32xf32>, %f: memref<32x32xf32>, %y: memref<?x32x32xf32>) {
  // expected-error @below {{wgmma: factors and a tile do not fit shared memory; expects k_piece to be 0, say, but got 16}}
  kron.fused ins(%x, %f : memref<?x32x32xf32>, memref<32x32xf32>) outs(%y : memref<?x32x32xf32>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 16>} {
  ^bb0(%t: tensor<?x32x32xf32>, %a: tensor<32x32xf32>, %o: tensor<?x32x32xf32>):
    %c0 = arith.constant 0 : index
    %n = tensor.dim %t, %c0 : tensor<?x32x32xf32>
    %i = tensor.empty(%n) : tensor<?x32x32xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%i : tensor<?x32x32xf32>) -> tensor<?x32x32xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<?x32x32xf32>) -> tensor<?x32x32xf32>
    kron.yield %2 : tensor<?x32x32xf32>
  }
  return
}

// -----

func.func @wgmma_threads(%x: memref<?x32xf32>, %f: memref<32x32xf32>, %y: memref<?x32xf32>) {
  // expected-error @below {{wgmma: expects threads to be a multiple of 128, but got 96}}
  kron.fused ins(%x, %f : memref<?x32xf32>, memref<32x32xf32>) outs(%y : memref<?x32xf32>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, threads = 96>} {
  ^bb0(%t: tensor<?x32xf32>, %a: tensor<32x32xf32>, %o: tensor<?x32xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<?x32xf32>) -> tensor<?x32xf32>
    kron.yield %1 : tensor<?x32xf32>
  }
  return
}

// -----

func.func @mma_ctas(%x: memref<?x16x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16x16xf32>) {
  // expected-error @below {{bytes does not fit in shared memory; expects ctas_per_sm to be 2, say, but got 100}}
  kron.fused ins(%x, %f : memref<?x16x16xf32>, memref<16x16xf32>) outs(%y : memref<?x16x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, ctas_per_sm = 100>} {
  ^bb0(%t: tensor<?x16x16xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16x16xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x16x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
    kron.yield %1 : tensor<?x16x16xf32>
  }
  return
}

// -----

// Each of two fields alone would do.
func.func @mma_both(%x: memref<?x16x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16x16xf32>) {
  // expected-error @below {{expects ctas_per_sm to be 2, say, but got 8, or stages to be 1, say, but got 2}}
  kron.fused ins(%x, %f : memref<?x16x16xf32>, memref<16x16xf32>) outs(%y : memref<?x16x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, ctas_per_sm = 8, stages = 2>} {
  ^bb0(%t: tensor<?x16x16xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16x16xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x16x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
    kron.yield %1 : tensor<?x16x16xf32>
  }
  return
}

// -----

func.func @sparse_row_tiles(%x: memref<?x4x64xf32>, %f: memref<4x64x48xf32>, %y: memref<?x4x48xf32>) {
  // expected-error @below {{sparse: no sparse plan has row_tiles = 64; expects row_tiles to be 1, say, but got 64}}
  kron.fused ins(%x, %f : memref<?x4x64xf32>, memref<4x64x48xf32>) outs(%y : memref<?x4x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, row_tiles = 64>} {
  ^bb0(%t: tensor<?x4x64xf32>, %a: tensor<4x64x48xf32>, %o: tensor<?x4x48xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x4x64xf32>) factor(%a [1, p, q] : tensor<4x64x48xf32>) outs(%o : tensor<?x4x48xf32>) -> tensor<?x4x48xf32>
    kron.yield %1 : tensor<?x4x48xf32>
  }
  return
}

// -----

// A complete plan: the reader names the field that is no power of two.
func.func @sparse_warp_groups(%x: memref<1000x4x64xf32>, %f: memref<4x64x48xf32>, %y: memref<1000x4x48xf32>) {
  // expected-error @below {{sparse: expects warp_groups to be a power of two, but got 3}}
  kron.fused ins(%x, %f : memref<1000x4x64xf32>, memref<4x64x48xf32>) outs(%y : memref<1000x4x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 16, warp_groups = 3, keeps_factor = 1>} {
  ^bb0(%t: tensor<1000x4x64xf32>, %a: tensor<4x64x48xf32>, %o: tensor<1000x4x48xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x4x64xf32>) factor(%a [1, p, q] : tensor<4x64x48xf32>) outs(%o : tensor<1000x4x48xf32>) -> tensor<1000x4x48xf32>
    kron.yield %1 : tensor<1000x4x48xf32>
  }
  return
}

// -----

func.func @sparse_warps(%x: memref<1000x4x64xf32>, %f: memref<4x64x48xf32>, %y: memref<1000x4x48xf32>) {
  // expected-error @below {{sparse: expects row_warps = 8, result_warps = 8, k_warps = 1, tile_warps = 1, warp_groups = 1 to make at most 1024 threads, but got 2048}}
  kron.fused ins(%x, %f : memref<1000x4x64xf32>, memref<4x64x48xf32>) outs(%y : memref<1000x4x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, row_warps = 8, result_tiles = 1, result_warps = 8, k_step = 16>} {
  ^bb0(%t: tensor<1000x4x64xf32>, %a: tensor<4x64x48xf32>, %o: tensor<1000x4x48xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x4x64xf32>) factor(%a [1, p, q] : tensor<4x64x48xf32>) outs(%o : tensor<1000x4x48xf32>) -> tensor<1000x4x48xf32>
    kron.yield %1 : tensor<1000x4x48xf32>
  }
  return
}

// -----

// Warps share K where both sides stream only.
func.func @sparse_shared_k(%x: memref<1000x4x64xf32>, %f: memref<4x64x48xf32>, %y: memref<1000x4x48xf32>) {
  // expected-error @below {{sparse: expects k_warps to be 1 and skinny_m to be 0 where a factor is kept, but got 2}}
  kron.fused ins(%x, %f : memref<1000x4x64xf32>, memref<4x64x48xf32>) outs(%y : memref<1000x4x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 64, k_warps = 2, keeps_factor = 1>} {
  ^bb0(%t: tensor<1000x4x64xf32>, %a: tensor<4x64x48xf32>, %o: tensor<1000x4x48xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x4x64xf32>) factor(%a [1, p, q] : tensor<4x64x48xf32>) outs(%o : tensor<1000x4x48xf32>) -> tensor<1000x4x48xf32>
    kron.yield %1 : tensor<1000x4x48xf32>
  }
  return
}

// -----

// What a launch requires is not for a plan that is completed.
func.func @min_rows(%x: memref<1000x4x64xf32>, %f: memref<4x64x48xf32>, %y: memref<1000x4x48xf32>) {
  // expected-error @below {{sparse: no sparse plan has min_rows = 7; expects min_rows to be 0, say, but got 7}}
  kron.fused ins(%x, %f : memref<1000x4x64xf32>, memref<4x64x48xf32>) outs(%y : memref<1000x4x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, min_rows = 7>} {
  ^bb0(%t: tensor<1000x4x64xf32>, %a: tensor<4x64x48xf32>, %o: tensor<1000x4x48xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x4x64xf32>) factor(%a [1, p, q] : tensor<4x64x48xf32>) outs(%o : tensor<1000x4x48xf32>) -> tensor<1000x4x48xf32>
    kron.yield %1 : tensor<1000x4x48xf32>
  }
  return
}

// -----

func.func @chain_warp_groups(%x: memref<1000x2x64xf16>, %k: memref<2x32x64xf16>, %l: memref<64x32x2xf16>, %y: memref<1000x64x2xf16>) {
  // expected-error @below {{expects warp_groups to be 2, say, but got 3}}
  kron.fused ins(%x, %k, %l : memref<1000x2x64xf16>, memref<2x32x64xf16>, memref<64x32x2xf16>) outs(%y : memref<1000x64x2xf16>)
      attributes {plan = #kron.gpu_plan<kernel = chain, warp_groups = 3>} {
  ^bb0(%t: tensor<1000x2x64xf16>, %a: tensor<2x32x64xf16>, %b: tensor<64x32x2xf16>, %o: tensor<1000x64x2xf16>):
    %e = tensor.empty() : tensor<1000x2x32xf32>
    %0 = kron.mode_product axis(2) ins(%t : tensor<1000x2x64xf16>) factor(%a [1, q, p] : tensor<2x32x64xf16>) outs(%e : tensor<1000x2x32xf32>) -> tensor<1000x2x32xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<1000x2x32xf32> into tensor<1000x64xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [1000, 32, 2] : tensor<1000x64xf32> into tensor<1000x32x2xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<1000x32x2xf32>) factor(%b [q, p, 2] : tensor<64x32x2xf16>) outs(%o : tensor<1000x64x2xf16>) -> tensor<1000x64x2xf16>
    kron.yield %3 : tensor<1000x64x2xf16>
  }
  return
}

// -----

func.func @chain_step(%x: memref<1000x2x64xf16>, %k: memref<2x32x64xf16>, %l: memref<64x32x2xf16>, %y: memref<1000x64x2xf16>) {
  // expected-error @below {{chain: no chain plan has result_tiles = 3 in step 1}}
  kron.fused ins(%x, %k, %l : memref<1000x2x64xf16>, memref<2x32x64xf16>, memref<64x32x2xf16>) outs(%y : memref<1000x64x2xf16>)
      attributes {plan = #kron.gpu_plan<kernel = chain, steps = [{}, {result_tiles = 3}]>} {
  ^bb0(%t: tensor<1000x2x64xf16>, %a: tensor<2x32x64xf16>, %b: tensor<64x32x2xf16>, %o: tensor<1000x64x2xf16>):
    %e = tensor.empty() : tensor<1000x2x32xf32>
    %0 = kron.mode_product axis(2) ins(%t : tensor<1000x2x64xf16>) factor(%a [1, q, p] : tensor<2x32x64xf16>) outs(%e : tensor<1000x2x32xf32>) -> tensor<1000x2x32xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<1000x2x32xf32> into tensor<1000x64xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [1000, 32, 2] : tensor<1000x64xf32> into tensor<1000x32x2xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<1000x32x2xf32>) factor(%b [q, p, 2] : tensor<64x32x2xf16>) outs(%o : tensor<1000x64x2xf16>) -> tensor<1000x64x2xf16>
    kron.yield %3 : tensor<1000x64x2xf16>
  }
  return
}

// -----

func.func @chain_steps(%x: memref<1000x16x16xf32>, %k: memref<16x16x16xf32>, %l: memref<16x16x16xf32>, %y: memref<1000x16x16xf32>) {
  // expected-error @below {{expects at most 8 steps of a chain, quantization included, but got 9}}
  kron.fused ins(%x, %k, %l : memref<1000x16x16xf32>, memref<16x16x16xf32>, memref<16x16x16xf32>) outs(%y : memref<1000x16x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = chain>} {
  ^bb0(%t: tensor<1000x16x16xf32>, %a: tensor<16x16x16xf32>, %b: tensor<16x16x16xf32>, %o: tensor<1000x16x16xf32>):
    %e = tensor.empty() : tensor<1000x16x16xf32>
    %0 = kron.mode_product axis(2) ins(%t : tensor<1000x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<1000x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %4 = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %5 = tensor.expand_shape %4 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %6 = kron.mode_product axis(2) ins(%5 : tensor<1000x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %7 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %8 = tensor.expand_shape %7 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %9 = kron.mode_product axis(1) ins(%8 : tensor<1000x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %10 = tensor.collapse_shape %9 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %11 = tensor.expand_shape %10 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %12 = kron.mode_product axis(2) ins(%11 : tensor<1000x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %13 = tensor.collapse_shape %12 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %14 = tensor.expand_shape %13 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %15 = kron.mode_product axis(1) ins(%14 : tensor<1000x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %16 = tensor.collapse_shape %15 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %17 = tensor.expand_shape %16 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %18 = kron.mode_product axis(2) ins(%17 : tensor<1000x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %19 = tensor.collapse_shape %18 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %20 = tensor.expand_shape %19 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %21 = kron.mode_product axis(1) ins(%20 : tensor<1000x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %22 = tensor.collapse_shape %21 [[0], [1, 2]] : tensor<1000x16x16xf32> into tensor<1000x256xf32>
    %23 = tensor.expand_shape %22 [[0], [1, 2]] output_shape [1000, 16, 16] : tensor<1000x256xf32> into tensor<1000x16x16xf32>
    %24 = kron.mode_product axis(2) ins(%23 : tensor<1000x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%o : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    kron.yield %24 : tensor<1000x16x16xf32>
  }
  return
}

// -----

func.func @gradient(%x: memref<?x256xf32>, %g: memref<?x256xf32>, %y: memref<1x256x256x1xf32>) {
  // expected-error @below {{no gradient plan has stages = 60; expects stages to be 3, say, but got 60}}
  kron.ksmm_grad ins(%x : memref<?x256xf32>) grad(%g : memref<?x256xf32>) outs(%y : memref<1x256x256x1xf32>) {plan = #kron.gpu_plan<kernel = gradient, stages = 60>}
  return
}

// -----

// Tiles may start in front of groups of results only where all rows have the same places of 16 bytes.
func.func @shift_of_whole_groups(%x: memref<1000x4x64xf32>, %f: memref<4x64x48xf32>, %y: memref<1000x4x48xf32>) {
  // expected-error @below {{sparse: expects shift to be 0, or elements of 16 bytes and more, a power of two, whose multiples rows of results start at but groups of them do not, but got 4}}
  kron.fused ins(%x, %f : memref<1000x4x64xf32>, memref<4x64x48xf32>) outs(%y : memref<1000x4x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 32, shift = 4>} {
  ^bb0(%t: tensor<1000x4x64xf32>, %a: tensor<4x64x48xf32>, %o: tensor<1000x4x48xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x4x64xf32>) factor(%a [1, p, q] : tensor<4x64x48xf32>) outs(%o : tensor<1000x4x48xf32>) -> tensor<1000x4x48xf32>
    kron.yield %1 : tensor<1000x4x48xf32>
  }
  return
}

// -----

func.func @shift_of_shared_store(%x: memref<1000x8x64xf16>, %f: memref<8x41x64xf16>, %y: memref<1000x8x41xf16>) {
  // expected-error @below {{sparse: expects shift to be 0 with shared_store = 1, but got 8}}
  kron.fused ins(%x, %f : memref<1000x8x64xf16>, memref<8x41x64xf16>) outs(%y : memref<1000x8x41xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 4, result_warps = 2, k_step = 64, shared_store = 1, shift = 8>} {
  ^bb0(%t: tensor<1000x8x64xf16>, %a: tensor<8x41x64xf16>, %o: tensor<1000x8x41xf16>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x8x64xf16>) factor(%a [1, q, p] : tensor<8x41x64xf16>) outs(%o : tensor<1000x8x41xf16>) -> tensor<1000x8x41xf16>
    kron.yield %1 : tensor<1000x8x41xf16>
  }
  return
}

// -----

func.func @kept_factors(%x: memref<1000x48x48x48xf32>, %f: memref<48x48xf32>, %y: memref<1000x48x48x48xf32>) {
  // expected-error @below {{mma: expects keeps_factor to be 0, as factors take 144 registers, but got 1}}
  kron.fused ins(%x, %f, %f, %f : memref<1000x48x48x48xf32>, memref<48x48xf32>, memref<48x48xf32>, memref<48x48xf32>) outs(%y : memref<1000x48x48x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4, stages = 1, step_warps = [4, 4, 4]>} {
  ^bb0(%t: tensor<1000x48x48x48xf32>, %a: tensor<48x48xf32>, %b: tensor<48x48xf32>, %c: tensor<48x48xf32>, %o: tensor<1000x48x48x48xf32>):
    %0 = tensor.empty() : tensor<1000x48x48x48xf32>
    %1 = kron.mode_product axis(3) ins(%t : tensor<1000x48x48x48xf32>) factor(%c [p, q] : tensor<48x48xf32>) outs(%0 : tensor<1000x48x48x48xf32>) -> tensor<1000x48x48x48xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<1000x48x48x48xf32>) factor(%b [p, q] : tensor<48x48xf32>) outs(%0 : tensor<1000x48x48x48xf32>) -> tensor<1000x48x48x48xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<1000x48x48x48xf32>) factor(%a [p, q] : tensor<48x48xf32>) outs(%o : tensor<1000x48x48x48xf32>) -> tensor<1000x48x48x48xf32>
    kron.yield %3 : tensor<1000x48x48x48xf32>
  }
  return
}

// -----

func.func @chain_of_one(%x: memref<1000x16xf32>, %f: memref<16x16xf32>, %y: memref<1000x16xf32>) {
  // expected-error @below {{mma: expects inner_chain to be 0 unless both innermost dimensions of a tile are contracted, but got 1}}
  kron.fused ins(%x, %f : memref<1000x16xf32>, memref<16x16xf32>) outs(%y : memref<1000x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 16, threads = 128, ctas_per_sm = 1, stages = 1, inner_chain = 1>} {
  ^bb0(%t: tensor<1000x16xf32>, %a: tensor<16x16xf32>, %o: tensor<1000x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<1000x16xf32>) -> tensor<1000x16xf32>
    kron.yield %1 : tensor<1000x16xf32>
  }
  return
}

// -----

func.func @chain_of_large(%x: memref<1000x32x64xf32>, %f: memref<32x32xf32>, %g: memref<64x64xf32>, %y: memref<1000x32x64xf32>) {
  // expected-error @below {{mma: expects inner_chain to be 0, as two factors take 320 registers and their sums 128, but got 1}}
  kron.fused ins(%x, %g, %f : memref<1000x32x64xf32>, memref<64x64xf32>, memref<32x32xf32>) outs(%y : memref<1000x32x64xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 1, stages = 1, inner_chain = 1>} {
  ^bb0(%t: tensor<1000x32x64xf32>, %b: tensor<64x64xf32>, %a: tensor<32x32xf32>, %o: tensor<1000x32x64xf32>):
    %0 = tensor.empty() : tensor<1000x32x64xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x32x64xf32>) factor(%b [p, q] : tensor<64x64xf32>) outs(%0 : tensor<1000x32x64xf32>) -> tensor<1000x32x64xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<1000x32x64xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<1000x32x64xf32>) -> tensor<1000x32x64xf32>
    kron.yield %2 : tensor<1000x32x64xf32>
  }
  return
}

// -----

func.func @step_warps_of_each(%x: memref<1000x48x48xf32>, %f: memref<48x48xf32>, %g: memref<48x48xf32>, %y: memref<1000x48x48xf32>) {
  // expected-error @below {{mma: expects step_warps to have one number for each of 2 steps, but got [4]}}
  kron.fused ins(%x, %g, %f : memref<1000x48x48xf32>, memref<48x48xf32>, memref<48x48xf32>) outs(%y : memref<1000x48x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 1, stages = 1, step_warps = [4]>} {
  ^bb0(%t: tensor<1000x48x48xf32>, %b: tensor<48x48xf32>, %a: tensor<48x48xf32>, %o: tensor<1000x48x48xf32>):
    %0 = tensor.empty() : tensor<1000x48x48xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x48x48xf32>) factor(%b [p, q] : tensor<48x48xf32>) outs(%0 : tensor<1000x48x48xf32>) -> tensor<1000x48x48xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<1000x48x48xf32>) factor(%a [p, q] : tensor<48x48xf32>) outs(%o : tensor<1000x48x48xf32>) -> tensor<1000x48x48xf32>
    kron.yield %2 : tensor<1000x48x48xf32>
  }
  return
}

// -----

func.func @step_warps_of_cta(%x: memref<1000x48x48xf32>, %f: memref<48x48xf32>, %g: memref<48x48xf32>, %y: memref<1000x48x48xf32>) {
  // expected-error @below {{mma: expects step_warps to be at most the 4 warps of a CTA, but got [8, 1]}}
  kron.fused ins(%x, %g, %f : memref<1000x48x48xf32>, memref<48x48xf32>, memref<48x48xf32>) outs(%y : memref<1000x48x48xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 1, stages = 1, step_warps = [8, 1]>} {
  ^bb0(%t: tensor<1000x48x48xf32>, %b: tensor<48x48xf32>, %a: tensor<48x48xf32>, %o: tensor<1000x48x48xf32>):
    %0 = tensor.empty() : tensor<1000x48x48xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x48x48xf32>) factor(%b [p, q] : tensor<48x48xf32>) outs(%0 : tensor<1000x48x48xf32>) -> tensor<1000x48x48xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<1000x48x48xf32>) factor(%a [p, q] : tensor<48x48xf32>) outs(%o : tensor<1000x48x48xf32>) -> tensor<1000x48x48xf32>
    kron.yield %2 : tensor<1000x48x48xf32>
  }
  return
}

// -----

func.func @inner_rows_of_columns(%x: memref<48x48x1000xf64>, %f: memref<48x48xf64>, %g: memref<48x48xf64>, %y: memref<48x48x1000xf64>) {
  // expected-error @below {{mma: expects inner_rows to be 0 unless rows of one type are outside of several contracted axes, of which one is the innermost, but got 1}}
  kron.fused ins(%x, %f, %g : memref<48x48x1000xf64>, memref<48x48xf64>, memref<48x48xf64>) outs(%y : memref<48x48x1000xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, columns = 4, threads = 128, ctas_per_sm = 1, stages = 1, inner_rows = 1, shared_store = 1>} {
  ^bb0(%a: tensor<48x48x1000xf64>, %b: tensor<48x48xf64>, %c: tensor<48x48xf64>, %out: tensor<48x48x1000xf64>):
    %e = tensor.empty() : tensor<48x48x1000xf64>
    %0 = kron.mode_product axis(1) ins(%a : tensor<48x48x1000xf64>) factor(%b [q, p] : tensor<48x48xf64>) outs(%e : tensor<48x48x1000xf64>) -> tensor<48x48x1000xf64>
    %1 = kron.mode_product axis(0) ins(%0 : tensor<48x48x1000xf64>) factor(%c [q, p] : tensor<48x48xf64>) outs(%out : tensor<48x48x1000xf64>) -> tensor<48x48x1000xf64>
    kron.yield %1 : tensor<48x48x1000xf64>
  }
  return
}

// -----

func.func @inner_rows_stored_directly(%x: memref<1000x48x48xf64>, %f: memref<48x48xf64>, %g: memref<48x48xf64>, %y: memref<1000x48x48xf64>) {
  // expected-error @below {{mma: expects inner_rows to be 0 unless shared_store is 1, but got 1}}
  kron.fused ins(%x, %f, %g : memref<1000x48x48xf64>, memref<48x48xf64>, memref<48x48xf64>) outs(%y : memref<1000x48x48xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 1, stages = 1, inner_rows = 1>} {
  ^bb0(%a: tensor<1000x48x48xf64>, %b: tensor<48x48xf64>, %c: tensor<48x48xf64>, %out: tensor<1000x48x48xf64>):
    %e = tensor.empty() : tensor<1000x48x48xf64>
    %0 = kron.mode_product axis(2) ins(%a : tensor<1000x48x48xf64>) factor(%b [q, p] : tensor<48x48xf64>) outs(%e : tensor<1000x48x48xf64>) -> tensor<1000x48x48xf64>
    %1 = kron.mode_product axis(1) ins(%0 : tensor<1000x48x48xf64>) factor(%c [q, p] : tensor<48x48xf64>) outs(%out : tensor<1000x48x48xf64>) -> tensor<1000x48x48xf64>
    kron.yield %1 : tensor<1000x48x48xf64>
  }
  return
}

// -----

func.func @alternates_one_step(%x: memref<1000x48xf64>, %f: memref<48x48xf64>, %y: memref<1000x48xf64>) {
  // expected-error @below {{mma: expects alternates to be 0 where no results go to shared memory, but got 1}}
  kron.fused ins(%x, %f : memref<1000x48xf64>, memref<48x48xf64>) outs(%y : memref<1000x48xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 16, threads = 128, ctas_per_sm = 1, stages = 1, alternates = 1>} {
  ^bb0(%a: tensor<1000x48xf64>, %b: tensor<48x48xf64>, %out: tensor<1000x48xf64>):
    %0 = kron.mode_product axis(1) ins(%a : tensor<1000x48xf64>) factor(%b [q, p] : tensor<48x48xf64>) outs(%out : tensor<1000x48xf64>) -> tensor<1000x48xf64>
    kron.yield %0 : tensor<1000x48xf64>
  }
  return
}

// -----

func.func @alternates_of_16_bits(%x: memref<1000x48x48xf16>, %f: memref<48x48xf16>, %g: memref<48x48xf16>, %y: memref<1000x48x48xf16>) {
  // expected-error @below {{mma: expects alternates to be 0 unless tiles arrive whole, and of the type that is computed with, but got 1}}
  kron.fused ins(%x, %f, %g : memref<1000x48x48xf16>, memref<48x48xf16>, memref<48x48xf16>) outs(%y : memref<1000x48x48xf16>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 1, stages = 1, alternates = 1>} {
  ^bb0(%a: tensor<1000x48x48xf16>, %b: tensor<48x48xf16>, %c: tensor<48x48xf16>, %out: tensor<1000x48x48xf16>):
    %e = tensor.empty() : tensor<1000x48x48xf16>
    %0 = kron.mode_product axis(2) ins(%a : tensor<1000x48x48xf16>) factor(%b [q, p] : tensor<48x48xf16>) outs(%e : tensor<1000x48x48xf16>) -> tensor<1000x48x48xf16>
    %1 = kron.mode_product axis(1) ins(%0 : tensor<1000x48x48xf16>) factor(%c [q, p] : tensor<48x48xf16>) outs(%out : tensor<1000x48x48xf16>) -> tensor<1000x48x48xf16>
    kron.yield %1 : tensor<1000x48x48xf16>
  }
  return
}

// -----

func.func @step_warps_of_chain(%x: memref<1000x16x16xf32>, %f: memref<16x16xf32>, %g: memref<16x16xf32>, %y: memref<1000x16x16xf32>) {
  // expected-error @below {{mma: expects step_warps to begin with 1 where inner_chain is 1, but got [2]}}
  kron.fused ins(%x, %g, %f : memref<1000x16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<1000x16x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 1, stages = 1, inner_chain = 1, step_warps = [2]>} {
  ^bb0(%t: tensor<1000x16x16xf32>, %b: tensor<16x16xf32>, %a: tensor<16x16xf32>, %o: tensor<1000x16x16xf32>):
    %0 = tensor.empty() : tensor<1000x16x16xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x16x16xf32>) factor(%b [p, q] : tensor<16x16xf32>) outs(%0 : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<1000x16x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<1000x16x16xf32>) -> tensor<1000x16x16xf32>
    kron.yield %2 : tensor<1000x16x16xf32>
  }
  return
}

// -----

func.func @whole_of_kept(%x: memref<100x2x64x3xf32>, %k: memref<2x40x64x3xf32>, %y: memref<100x2x40x3xf32>) {
  // expected-error @below {{sparse: expects whole_copies to be at most 1 where a factor is kept, but got 2}}
  kron.fused ins(%x, %k : memref<100x2x64x3xf32>, memref<2x40x64x3xf32>) outs(%y : memref<100x2x40x3xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 64, keeps_factor = 1, whole_copies = 2>} {
  ^bb0(%tx: tensor<100x2x64x3xf32>, %tk: tensor<2x40x64x3xf32>, %ty: tensor<100x2x40x3xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x64x3xf32>) factor(%tk [1, q, p, 3] : tensor<2x40x64x3xf32>)
         outs(%ty : tensor<100x2x40x3xf32>) -> tensor<100x2x40x3xf32>
    kron.yield %0 : tensor<100x2x40x3xf32>
  }
  return
}

// -----

func.func @whole_of_wgmma(%x: memref<100x2x64x3xf32>, %k: memref<2x40x64x3xf32>, %y: memref<100x2x40x3xf32>) {
  // expected-error @below {{sparse: expects whole_copies to be 0 with wgmma, but got 1}}
  kron.fused ins(%x, %k : memref<100x2x64x3xf32>, memref<2x40x64x3xf32>) outs(%y : memref<100x2x40x3xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, row_warps = 4, wgmma = 1, bf16_residuals = 1, result_tiles = 2, result_warps = 1, k_step = 64, keeps_factor = 1, whole_copies = 1>} {
  ^bb0(%tx: tensor<100x2x64x3xf32>, %tk: tensor<2x40x64x3xf32>, %ty: tensor<100x2x40x3xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x64x3xf32>) factor(%tk [1, q, p, 3] : tensor<2x40x64x3xf32>)
         outs(%ty : tensor<100x2x40x3xf32>) -> tensor<100x2x40x3xf32>
    kron.yield %0 : tensor<100x2x40x3xf32>
  }
  return
}

// -----

func.func @whole_of_neighbours(%x: memref<100x2x64x4xf32>, %k: memref<2x40x64x4xf32>, %y: memref<100x2x40x4xf32>) {
  // expected-error @below {{sparse: expects whole_copies to be 0 of chunks that are neighbours in memory, but got 1}}
  kron.fused ins(%x, %k : memref<100x2x64x4xf32>, memref<2x40x64x4xf32>) outs(%y : memref<100x2x40x4xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 64, whole_copies = 1>} {
  ^bb0(%tx: tensor<100x2x64x4xf32>, %tk: tensor<2x40x64x4xf32>, %ty: tensor<100x2x40x4xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x64x4xf32>) factor(%tk [1, q, p, 3] : tensor<2x40x64x4xf32>)
         outs(%ty : tensor<100x2x40x4xf32>) -> tensor<100x2x40x4xf32>
    kron.yield %0 : tensor<100x2x40x4xf32>
  }
  return
}

// -----

func.func @whole_of_rows(%x: memref<2x64x3x100xf32>, %k: memref<2x40x64x3xf32>, %y: memref<2x40x3x100xf32>) {
  // expected-error @below {{sparse: whole_copies = 2: chunks of data lie along rows}}
  kron.fused ins(%x, %k : memref<2x64x3x100xf32>, memref<2x40x64x3xf32>) outs(%y : memref<2x40x3x100xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 16, whole_copies = 2>} {
  ^bb0(%tx: tensor<2x64x3x100xf32>, %tk: tensor<2x40x64x3xf32>, %ty: tensor<2x40x3x100xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x64x3x100xf32>) factor(%tk [0, q, p, 2] : tensor<2x40x64x3xf32>)
         outs(%ty : tensor<2x40x3x100xf32>) -> tensor<2x40x3x100xf32>
    kron.yield %0 : tensor<2x40x3x100xf32>
  }
  return
}

// -----

func.func @whole_of_factor(%x: memref<100x2x165xf32>, %k: memref<165x40xf32>, %y: memref<100x2x40xf32>) {
  // expected-error @below {{sparse: whole_copies = 2: expects lanes and positions of K of the factor to lie 1 and 1 elements apart, but got 1 and 40}}
  kron.fused ins(%x, %k : memref<100x2x165xf32>, memref<165x40xf32>) outs(%y : memref<100x2x40xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 64, whole_copies = 2>} {
  ^bb0(%tx: tensor<100x2x165xf32>, %tk: tensor<165x40xf32>, %ty: tensor<100x2x40xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x165xf32>) factor(%tk [p, q] : tensor<165x40xf32>)
         outs(%ty : tensor<100x2x40xf32>) -> tensor<100x2x40xf32>
    kron.yield %0 : tensor<100x2x40xf32>
  }
  return
}

// -----

func.func @whole_of_strides(%x: memref<100x2x64x6xf32, strided<[801, 384, 6, 1]>>, %k: memref<2x40x64x6xf32>, %y: memref<100x2x40x6xf32>) {
  // expected-error @below {{sparse: whole_copies = 1: expects strides of the data to be multiples of 2, the lanes of a chunk, but got 801}}
  kron.fused ins(%x, %k : memref<100x2x64x6xf32, strided<[801, 384, 6, 1]>>, memref<2x40x64x6xf32>) outs(%y : memref<100x2x40x6xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 1, k_step = 64, chunk_bytes = 16, whole_copies = 1>} {
  ^bb0(%tx: tensor<100x2x64x6xf32>, %tk: tensor<2x40x64x6xf32>, %ty: tensor<100x2x40x6xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x64x6xf32>) factor(%tk [1, q, p, 3] : tensor<2x40x64x6xf32>)
         outs(%ty : tensor<100x2x40x6xf32>) -> tensor<100x2x40x6xf32>
    kron.yield %0 : tensor<100x2x40x6xf32>
  }
  return
}

// -----

// What no SM holds is refused by itself, in a launch whose data go to registers, and among the threads of a CTA that are given.
func.func @simt_launch(%x: memref<8x9xf32>, %f: memref<9x12xf32>, %y: memref<8x12xf32>) {
  // expected-error @below {{simt: expects ctas_per_sm to be at most 16, but got 17}}
  kron.fused ins(%x, %f : memref<8x9xf32>, memref<9x12xf32>) outs(%y : memref<8x12xf32>)
      attributes {plan = #kron.gpu_plan<kernel = simt, threads = 128, launches = [{factors = 1, extents = [4, 7], fibres = [2], results = [3], ctas_per_sm = 17, direct_store = 1, direct_load = 1}]>} {
  ^bb0(%t: tensor<8x9xf32>, %a: tensor<9x12xf32>, %o: tensor<8x12xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<8x9xf32>) factor(%a [p, q] : tensor<9x12xf32>) outs(%o : tensor<8x12xf32>) -> tensor<8x12xf32>
    kron.yield %1 : tensor<8x12xf32>
  }
  return
}

// -----

func.func @simt_threads(%x: memref<8x9xf32>, %f: memref<9x12xf32>, %y: memref<8x12xf32>) {
  // expected-error @below {{simt: expects ctas_per_sm to be at most 2, but got 3}}
  kron.fused ins(%x, %f : memref<8x9xf32>, memref<9x12xf32>) outs(%y : memref<8x12xf32>)
      attributes {plan = #kron.gpu_plan<kernel = simt, threads = 1024, ctas_per_sm = 3>} {
  ^bb0(%t: tensor<8x9xf32>, %a: tensor<9x12xf32>, %o: tensor<8x12xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<8x9xf32>) factor(%a [p, q] : tensor<9x12xf32>) outs(%o : tensor<8x12xf32>) -> tensor<8x12xf32>
    kron.yield %1 : tensor<8x12xf32>
  }
  return
}

// -----

func.func @whole_in_pieces(%x: memref<1000x33xf32>, %f: memref<33x33xf32>, %y: memref<1000x33xf32>) {
  // expected-error @below {{wgmma: expects whole_copies and shared_store to be 0 where tiles come in pieces, but got 1}}
  kron.fused ins(%x, %f : memref<1000x33xf32>, memref<33x33xf32>) outs(%y : memref<1000x33xf32>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 64, threads = 512, ctas_per_sm = 1, stages = 3, k_piece = 16, whole_copies = 1>} {
  ^bb0(%t: tensor<1000x33xf32>, %b: tensor<33x33xf32>, %o: tensor<1000x33xf32>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x33xf32>) factor(%b [p, q] : tensor<33x33xf32>) outs(%o : tensor<1000x33xf32>) -> tensor<1000x33xf32>
    kron.yield %0 : tensor<1000x33xf32>
  }
  return
}

// -----

func.func @shares_of_whole_tiles(%x: memref<1000x300xf32>, %f: memref<300x300xf32>, %y: memref<1000x300xf32>) {
  // expected-error @below {{wgmma: expects k_piece to be positive where CTAs share the columns of a factor, but got 0}}
  kron.fused ins(%x, %f : memref<1000x300xf32>, memref<300x300xf32>) outs(%y : memref<1000x300xf32>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 64, threads = 384, ctas_per_sm = 1, stages = 3, k_piece = 0>} {
  ^bb0(%t: tensor<1000x300xf32>, %b: tensor<300x300xf32>, %o: tensor<1000x300xf32>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x300xf32>) factor(%b [p, q] : tensor<300x300xf32>) outs(%o : tensor<1000x300xf32>) -> tensor<1000x300xf32>
    kron.yield %0 : tensor<1000x300xf32>
  }
  return
}

// -----

func.func @shared_of_shares(%x: memref<1000x333xf16>, %f: memref<333x333xf16>, %y: memref<1000x333xf16>) {
  // expected-error @below {{wgmma: expects shared_store to be 0 where CTAs share the columns of a factor, but got 1}}
  kron.fused ins(%x, %f : memref<1000x333xf16>, memref<333x333xf16>) outs(%y : memref<1000x333xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 64, threads = 256, ctas_per_sm = 1, stages = 1, shared_store = 1>} {
  ^bb0(%t: tensor<1000x333xf16>, %b: tensor<333x333xf16>, %o: tensor<1000x333xf16>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x333xf16>) factor(%b [p, q] : tensor<333x333xf16>) outs(%o : tensor<1000x333xf16>) -> tensor<1000x333xf16>
    kron.yield %0 : tensor<1000x333xf16>
  }
  return
}

// -----

func.func @large_beside_another(%x: memref<1000x200x8xf16>, %f: memref<200x200xf16>, %g: memref<8x8xf16>, %y: memref<1000x200x8xf16>) {
  // expected-error @below {{wgmma: a factor of more than 128 rows or columns is not alone}}
  kron.fused ins(%x, %f, %g : memref<1000x200x8xf16>, memref<200x200xf16>, memref<8x8xf16>) outs(%y : memref<1000x200x8xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%t: tensor<1000x200x8xf16>, %b: tensor<200x200xf16>, %c: tensor<8x8xf16>, %o: tensor<1000x200x8xf16>):
    %0 = kron.mode_product axis(2) ins(%t : tensor<1000x200x8xf16>) factor(%c [p, q] : tensor<8x8xf16>) outs(%o : tensor<1000x200x8xf16>) -> tensor<1000x200x8xf16>
    %1 = kron.mode_product axis(1) ins(%0 : tensor<1000x200x8xf16>) factor(%b [p, q] : tensor<200x200xf16>) outs(%o : tensor<1000x200x8xf16>) -> tensor<1000x200x8xf16>
    kron.yield %1 : tensor<1000x200x8xf16>
  }
  return
}

// -----

func.func @quantized_shared(%x: memref<1000x33xf16>, %f: memref<33x33xf16>, %y: memref<1000x33xf16>) {
  // expected-error @below {{wgmma: expects shared_store to be 0 where rows are quantized, but got 1}}
  kron.fused ins(%x, %f : memref<1000x33xf16>, memref<33x33xf16>) outs(%y : memref<1000x33xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 16, threads = 512, ctas_per_sm = 1, stages = 2, quantize = 1, shared_store = 1>} {
  ^bb0(%t: tensor<1000x33xf16>, %b: tensor<33x33xf16>, %o: tensor<1000x33xf16>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x33xf16>) factor(%b [p, q] : tensor<33x33xf16>) outs(%o : tensor<1000x33xf16>) -> tensor<1000x33xf16>
    kron.yield %0 : tensor<1000x33xf16>
  }
  return
}

// -----

func.func @whole_of_apart(%x: memref<1000x33xf16, strided<[66, 2]>>, %f: memref<33x33xf16>, %y: memref<1000x33xf16>) {
  // expected-error @below {{wgmma: expects whole_copies to be 0 where no elements of a tile lie side by side, but got 1}}
  kron.fused ins(%x, %f : memref<1000x33xf16, strided<[66, 2]>>, memref<33x33xf16>) outs(%y : memref<1000x33xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 16, threads = 512, ctas_per_sm = 1, stages = 2, whole_copies = 1>} {
  ^bb0(%t: tensor<1000x33xf16>, %b: tensor<33x33xf16>, %o: tensor<1000x33xf16>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x33xf16>) factor(%b [p, q] : tensor<33x33xf16>) outs(%o : tensor<1000x33xf16>) -> tensor<1000x33xf16>
    kron.yield %0 : tensor<1000x33xf16>
  }
  return
}

// -----

func.func @whole_of_apart_mma(%x: memref<1000x33xf16, strided<[66, 2]>>, %f: memref<33x33xf16>, %y: memref<1000x33xf16>) {
  // expected-error @below {{mma: expects whole_copies to be 0 where tiles come in pieces or no elements of one lie side by side, but got 1}}
  kron.fused ins(%x, %f : memref<1000x33xf16, strided<[66, 2]>>, memref<33x33xf16>) outs(%y : memref<1000x33xf16>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 16, threads = 128, ctas_per_sm = 1, stages = 2, whole_copies = 1>} {
  ^bb0(%t: tensor<1000x33xf16>, %b: tensor<33x33xf16>, %o: tensor<1000x33xf16>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x33xf16>) factor(%b [p, q] : tensor<33x33xf16>) outs(%o : tensor<1000x33xf16>) -> tensor<1000x33xf16>
    kron.yield %0 : tensor<1000x33xf16>
  }
  return
}

// -----

func.func @shared_of_mixed(%x: memref<1000x33xf16>, %f: memref<33x33xf16>, %y: memref<1000x33xf32>) {
  // expected-error @below {{mma: expects shared_store to be 0 unless a CTA has all results of a tile, which arrives whole and of their type, or they are of 16 bits, but got 1}}
  kron.fused ins(%x, %f : memref<1000x33xf16>, memref<33x33xf16>) outs(%y : memref<1000x33xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 16, threads = 128, ctas_per_sm = 1, stages = 2, shared_store = 1>} {
  ^bb0(%t: tensor<1000x33xf16>, %b: tensor<33x33xf16>, %o: tensor<1000x33xf32>):
    %0 = kron.mode_product axis(1) ins(%t : tensor<1000x33xf16>) factor(%b [p, q] : tensor<33x33xf16>) outs(%o : tensor<1000x33xf32>) -> tensor<1000x33xf32>
    kron.yield %0 : tensor<1000x33xf32>
  }
  return
}

// -----

// Each fused region has a plan of its own by now.
func.func @region_plans(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the plan of one fused region, as --kron-fuse gives it to each, but got #kron.region_plans<regions = [1], plans = [#kron.gpu_plan<kernel = mma>]>}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.region_plans<regions = [1], plans = [#kron.gpu_plan<kernel = mma>]>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}
