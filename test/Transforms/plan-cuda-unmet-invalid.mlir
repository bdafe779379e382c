// RUN: kron-opt %s -split-input-file -verify-diagnostics --kron-decompose=target=cuda --kron-fuse="target=cuda chip=h200" --kron-plan="target=cuda chip=h200"

// Verify that a field that the chosen plan does not meet is an error: also one that is no field of complete
// plans, and one that means nothing to the kernel.

func.func @simt_columns(%x: memref<1024x256xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %y: memref<1024x256xf32>) {
  // expected-error @below {{simt: no simt plan has columns = 6; expects columns to be 1, say, but got 6}}
  kron.mkm ins(%x : memref<1024x256xf32>) factors(%f0, %f1 : memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<1024x256xf32>) {plan = #kron.gpu_plan<kernel = simt, columns = 6>}
  return
}

// -----

func.func @ffma_columns(%x: memref<1024x512xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %y: memref<1024x512xf32>) {
  // expected-error @below {{ffma: no ffma plan has columns = 6; expects columns to be 1, say, but got 6}}
  kron.mkm ins(%x : memref<1024x512xf32>) factors(%f0, %f1, %f2 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<1024x512xf32>) {plan = #kron.gpu_plan<kernel = ffma, columns = 6>}
  return
}

// -----

func.func @dmma_tile(%x: memref<1024x512xf64>, %f0: memref<8x8xf64>, %f1: memref<8x8xf64>, %f2: memref<8x8xf64>, %y: memref<1024x512xf64>) {
  // expected-error @below {{dmma: no dmma plan has tile = 6; expects tile to be 8, say, but got 6}}
  kron.mkm ins(%x : memref<1024x512xf64>) factors(%f0, %f1, %f2 : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>)
    outs(%y : memref<1024x512xf64>) {plan = #kron.gpu_plan<kernel = dmma, tile = 6>}
  return
}

// -----

func.func @batched_fibres(%x: memref<1024x16xf32>, %f0: memref<4x4xf32>, %f1: memref<4x4xf32>, %y: memref<1024x16xf32>) {
  // expected-error @below {{batched: expects fibres to be 4, the default, as factors are applied to planes, but got 2}}
  kron.mkm ins(%x : memref<1024x16xf32>) factors(%f0, %f1 : memref<4x4xf32>, memref<4x4xf32>)
    outs(%y : memref<1024x16xf32>) {plan = #kron.gpu_plan<kernel = batched, fibres = 2>}
  return
}

// -----

func.func @batched_plane_fibres(%x: memref<1024x16xf32>, %f0: memref<4x4xf32>, %f1: memref<4x4xf32>, %y: memref<1024x16xf32>) {
  // expected-error @below {{batched: expects plane_fibres to be at most 4, the default or a side of planes, but got 32}}
  kron.mkm ins(%x : memref<1024x16xf32>) factors(%f0, %f1 : memref<4x4xf32>, memref<4x4xf32>)
    outs(%y : memref<1024x16xf32>) {plan = #kron.gpu_plan<kernel = batched, plane_fibres = 32>}
  return
}

// -----

func.func @cublas_rows(%x: memref<1024x512xf32>, %f0: memref<512x512xf32>, %y: memref<1024x512xf32>) {
  // expected-error @below {{cannot be a call of cuBLAS: expects min_rows to be 0, as the number of rows is known, but got 2000}}
  kron.mkm ins(%x : memref<1024x512xf32>) factors(%f0 : memref<512x512xf32>)
    outs(%y : memref<1024x512xf32>) {plan = #kron.gpu_plan<kernel = cublas, min_rows = 2000>}
  return
}

// -----

// Without a kernel, too: no other one is taken that ignores the field.
func.func @any_cluster(%x: memref<1024x256xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %y: memref<1024x256xf32>) {
  // expected-error @below {{simt: no simt plan has cluster = 2; expects cluster to be 1, say, but got 2}}
  kron.mkm ins(%x : memref<1024x256xf32>) factors(%f0, %f1 : memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<1024x256xf32>) {plan = #kron.gpu_plan<cluster = 2>}
  return
}

// -----

func.func @any_tile(%x: memref<1024x256xf32>, %w: memref<4x64x64x1xf32>, %y: memref<1024x256xf32>) {
  // expected-error @below {{sparse: no sparse plan has tile = 6}}
  kron.ksmm ins(%x : memref<1024x256xf32>) weights(%w : memref<4x64x64x1xf32>) outs(%y : memref<1024x256xf32>) {plan = #kron.gpu_plan<tile = 6>}
  return
}

// -----

// Complete plans that contradict themselves.
func.func @complete_columns(%x: memref<1024x512xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %y: memref<1024x512xf32>) {
  // expected-error @below {{ffma: expects columns to be 1, as the other fields of the plan say, but got 3}}
  kron.mkm ins(%x : memref<1024x512xf32>) factors(%f0, %f1, %f2 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<1024x512xf32>) {plan = #kron.gpu_plan<kernel = ffma, columns = 3, extents = [8, 8, 8, 8], threads = 64, ctas_per_sm = 4, ring_slots = 16>}
  return
}

// -----

func.func @complete_tile(%x: memref<1024x512xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %y: memref<1024x512xf32>) {
  // expected-error @below {{ffma: expects tile to be 8, as the other fields of the plan say, but got 5}}
  kron.mkm ins(%x : memref<1024x512xf32>) factors(%f0, %f1, %f2 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<1024x512xf32>) {plan = #kron.gpu_plan<kernel = ffma, tile = 5, extents = [8, 8, 8, 8], threads = 64, ctas_per_sm = 4, ring_slots = 16>}
  return
}

// -----

func.func @complete_stages(%x: memref<1024x512xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %y: memref<1024x512xf32>) {
  // expected-error @below {{ffma: expects stages to be 2, as the other fields of the plan say, but got 7}}
  kron.mkm ins(%x : memref<1024x512xf32>) factors(%f0, %f1, %f2 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<1024x512xf32>) {plan = #kron.gpu_plan<kernel = ffma, stages = 7, extents = [8, 8, 8, 8], threads = 64, ctas_per_sm = 4, ring_slots = 16>}
  return
}

// -----

func.func @complete_threads(%x: memref<1024x256xf32>, %w: memref<4x64x64x1xf32>, %y: memref<1024x256xf32>) {
  // expected-error @below {{sparse: expects threads to be 128, as the other fields of the plan say, but got 1024}}
  kron.ksmm ins(%x : memref<1024x256xf32>) weights(%w : memref<4x64x64x1xf32>) outs(%y : memref<1024x256xf32>) {plan = #kron.gpu_plan<kernel = sparse, threads = 1024, ctas_per_sm = 4, stages = 2, result_tiles = 2, result_warps = 2, k_step = 64, k_warps = 2>}
  return
}

// -----

func.func @pairwise_tile(%a: memref<1000x64xf32>, %y: memref<1000x1000xf32>) {
  // expected-error @below {{pairwise: no pairwise plan has tile = 4}}
  kron.pairwise square_diff ins(%a, %a : memref<1000x64xf32>, memref<1000x64xf32>) outs(%y : memref<1000x1000xf32>) {plan = #kron.gpu_plan<tile = 4>}
  return
}

// -----

func.func @pairwise_regions(%a: memref<1000x64xf32>, %y: memref<1000x1000xf32>) {
  // expected-error @below {{pairwise: expects no regions, as only chains of mode products are cut into some, but got [1]}}
  kron.pairwise square_diff ins(%a, %a : memref<1000x64xf32>, memref<1000x64xf32>) outs(%y : memref<1000x1000xf32>) {plan = #kron.gpu_plan<kernel = pairwise, regions = [1]>}
  return
}

// -----

func.func @quantize_tile(%y: memref<1000x4096xf16>, %q: memref<1000x4096xi8>, %s: memref<1000xf32>) {
  // expected-error @below {{quantize: no quantize plan has tile = 2}}
  kron.quantize ins(%y : memref<1000x4096xf16>) outs(%q, %s : memref<1000x4096xi8>, memref<1000xf32>) {plan = #kron.gpu_plan<tile = 2>}
  return
}

// -----

func.func @quantize_stages(%y: memref<1000x4096xf16>, %q: memref<1000x4096xi8>, %s: memref<1000xf32>) {
  // expected-error @below {{quantize: no quantize plan has stages = 3}}
  kron.quantize ins(%y : memref<1000x4096xf16>) outs(%q, %s : memref<1000x4096xi8>, memref<1000xf32>) {plan = #kron.gpu_plan<stages = 3>}
  return
}

// -----

func.func @quantize_regions(%y: memref<1000x4096xf16>, %q: memref<1000x4096xi8>, %s: memref<1000xf32>) {
  // expected-error @below {{quantize: expects no regions, as only chains of mode products are cut into some, but got [1]}}
  kron.quantize ins(%y : memref<1000x4096xf16>) outs(%q, %s : memref<1000x4096xi8>, memref<1000xf32>) {plan = #kron.gpu_plan<kernel = quantize, regions = [1]>}
  return
}

// -----

func.func @gradient_tile(%x: memref<1000x256xf32>, %y: memref<1x256x256x1xf32>) {
  // expected-error @below {{no gradient plan has tile = 2}}
  kron.ksmm_grad ins(%x : memref<1000x256xf32>) grad(%x : memref<1000x256xf32>) outs(%y : memref<1x256x256x1xf32>) {plan = #kron.gpu_plan<tile = 2>}
  return
}

// -----

func.func @gradient_cluster(%x: memref<1000x256xf32>, %y: memref<1x256x256x1xf32>) {
  // expected-error @below {{no gradient plan has cluster = 2; expects cluster to be 1, say, but got 2}}
  kron.ksmm_grad ins(%x : memref<1000x256xf32>) grad(%x : memref<1000x256xf32>) outs(%y : memref<1x256x256x1xf32>) {plan = #kron.gpu_plan<cluster = 2>}
  return
}

// -----

func.func @gradient_regions(%x: memref<1000x256xf32>, %y: memref<1x256x256x1xf32>) {
  // expected-error @below {{expects no regions, as only chains of mode products are cut into some, but got [1]}}
  kron.ksmm_grad ins(%x : memref<1000x256xf32>) grad(%x : memref<1000x256xf32>) outs(%y : memref<1x256x256x1xf32>) {plan = #kron.gpu_plan<kernel = gradient, regions = [1]>}
  return
}

// -----

func.func @chain_of_one_factor(%x: memref<?x384xf32>, %w: memref<6x64x64x1xf32>, %q: memref<?x384xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x384xf32>
  %y = memref.alloc(%rows) : memref<?x384xf32>
  // expected-error @below {{has no GPU kernel of kind chain; chain: expects quantize to be 1 for one factor, but got 0}}
  kron.ksmm ins(%x : memref<?x384xf32>) weights(%w : memref<6x64x64x1xf32>) outs(%y : memref<?x384xf32>) {plan = #kron.gpu_plan<kernel = chain, quantize = 0>}
  kron.quantize ins(%y : memref<?x384xf32>) outs(%q, %s : memref<?x384xi8>, memref<?xf32>)
  memref.dealloc %y : memref<?x384xf32>
  return
}
