// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm -verify-diagnostics

func.func @columns(%v: memref<4x?xf32>, %q: memref<4x?xi8>, %s: memref<?xf32>) {
  // expected-error @+1 {{'kron.quantize' op cannot become a GPU kernel: the batch is last}}
  kron.quantize ins(%v : memref<4x?xf32>) outs(%q, %s : memref<4x?xi8>, memref<?xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @strided(%v: memref<4x8xf32, strided<[1, 4]>>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op cannot become a GPU kernel: rows are not contiguous or of unknown size}}
  kron.quantize ins(%v : memref<4x8xf32, strided<[1, 4]>>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>)
  return
}

// -----

func.func @wide(%v: memref<4x8xf64>, %q: memref<4x8xi8>, %s: memref<4xf64>) {
  // expected-error @+1 {{'kron.quantize' op cannot become a GPU kernel: elements are not f32, f16 or bf16}}
  kron.quantize ins(%v : memref<4x8xf64>) outs(%q, %s : memref<4x8xi8>, memref<4xf64>)
  return
}

// -----

// Plans that no kernel has.

func.func @wide_plan(%v: memref<4x8xf64>, %q: memref<4x8xi8>, %s: memref<4xf64>) {
  // expected-error @+1 {{'kron.quantize' op has no GPU kernel; quantize: elements are not f32, f16 or bf16}}
  kron.quantize ins(%v : memref<4x8xf64>) outs(%q, %s : memref<4x8xi8>, memref<4xf64>) {plan = #kron.gpu_plan<kernel = quantize>}
  return
}

// -----

func.func @ctas(%v: memref<4x8xf16>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op has no GPU kernel; quantize: expects ctas_per_sm to be in [1, 8], but got 9}}
  kron.quantize ins(%v : memref<4x8xf16>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>) {plan = #kron.gpu_plan<ctas_per_sm = 9>}
  return
}

// -----

func.func @row_threads(%v: memref<4x8xf16>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op has no GPU kernel; quantize: expects row_threads to be a power of two that divides 64 threads, but got 128}}
  kron.quantize ins(%v : memref<4x8xf16>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>) {plan = #kron.gpu_plan<kernel = quantize, threads = 64, row_threads = 128>}
  return
}

// -----

func.func @nothing(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %y: memref<25088x6x64xf16>) {
  // expected-error @+1 {{'kron.fused' op has a plan with quantize = 1, but nothing quantizes what it writes}}
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%y : memref<25088x6x64xf16>)
      attributes {plan = #kron.dispatch<[<kernel = chain, tile = 64, ctas_per_sm = 1, quantize = 1, warp_groups = 2, keeps_factor = 1, steps = [{stages = 2, result_tiles = 4, result_warps = 2, k_step = 64, tile_warps = 2}]>]>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  return
}

// -----

// A kernel that quantizes its rows takes none that has a plan of its own.

func.func @both(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.dispatch<[<kernel = chain, tile = 64, ctas_per_sm = 1, quantize = 1, warp_groups = 2, keeps_factor = 1, steps = [{stages = 2, result_tiles = 4, result_warps = 2, k_step = 64, tile_warps = 2}]>]>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  // expected-error @+1 {{'kron.quantize' op has a plan for a kernel of its own, but the plan of its product has quantize = 1}}
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
      {plan = #kron.gpu_plan<kernel = quantize, row_threads = 8, threads = 256, ctas_per_sm = 2>}
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// -----

func.func @both_wgmma(%x: memref<?x64x64xf16>, %f: memref<64x64xf16>, %q: memref<?x4096xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x64x64xf16>
  %t = memref.alloc(%d) : memref<?x4096xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%d, 64, 64] : memref<?x4096xf16> into memref<?x64x64xf16>
  kron.fused ins(%x, %f : memref<?x64x64xf16>, memref<64x64xf16>) outs(%v : memref<?x64x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma, quantize = 1>} {
  ^bb0(%tx: tensor<?x64x64xf16>, %tf: tensor<64x64xf16>, %out: tensor<?x64x64xf16>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    kron.yield %2 : tensor<?x64x64xf16>
  }
  // expected-error @+1 {{'kron.quantize' op has a plan for a kernel of its own, but the plan of its product has quantize = 1}}
  kron.quantize ins(%t : memref<?x4096xf16>) outs(%q, %s : memref<?x4096xi8>, memref<?xf32>)
      {plan = #kron.gpu_plan<kernel = quantize, threads = 256, ctas_per_sm = 2, row_threads = 8>}
  memref.dealloc %t : memref<?x4096xf16>
  return
}
