// RUN: kron-opt %s --kron-decompose=target=cuda --kron-fuse="target=cuda chip=h200" --kron-plan="target=cuda chip=h200" | FileCheck %s

// Verify what fields by hand make of plans, which have no constraints themselves.

// CHECK-LABEL: @rows_of_cublas
// CHECK: #kron.dispatch<[<kernel = cublas, min_rows = 2000>, <kernel = wgmma,
func.func @rows_of_cublas(%x: memref<?x512xf32>, %f: memref<512x512xf32>, %y: memref<?x512xf32>) {
  kron.mkm ins(%x : memref<?x512xf32>) factors(%f : memref<512x512xf32>) outs(%y : memref<?x512xf32>) {plan = #kron.gpu_plan<kernel = cublas, min_rows = 2000>}
  return
}

// A call of cuBLAS has no threads.
// CHECK-LABEL: @threads
// CHECK: attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 64, threads = 256
func.func @threads(%x: memref<4096x512xf32>, %w: memref<1x512x512x1xf32>, %y: memref<4096x512xf32>) {
  kron.ksmm ins(%x : memref<4096x512xf32>) weights(%w : memref<1x512x512x1xf32>) outs(%y : memref<4096x512xf32>) {plan = #kron.gpu_plan<threads = 256>}
  return
}

// A complete plan whose constraints say what its other fields do loses them.
// CHECK-LABEL: @complete
// CHECK: <kernel = ffma, extents = [8, 8, 8, 8], threads = 64, ctas_per_sm = 4, ring_slots = 16>
func.func @complete(%x: memref<1024x512xf32>, %f: memref<8x8xf32>, %y: memref<1024x512xf32>) {
  kron.mkm ins(%x : memref<1024x512xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<1024x512xf32>)
    {plan = #kron.gpu_plan<kernel = ffma, tile = 8, columns = 1, stages = 2, extents = [8, 8, 8, 8], threads = 64, ctas_per_sm = 4, ring_slots = 16>}
  return
}

// CHECK-LABEL: @tile
// CHECK: extents = [6, 16, 16]
func.func @tile(%x: memref<1024x256xf32>, %f: memref<16x16xf32>, %y: memref<1024x256xf32>) {
  kron.mkm ins(%x : memref<1024x256xf32>) factors(%f, %f : memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<1024x256xf32>) {plan = #kron.gpu_plan<kernel = simt, tile = 6>}
  return
}

// What K decides at a launch may be given.
// CHECK-LABEL: @least_k
// CHECK: #kron.dispatch<[<kernel = pairwise, {{.*}}min_k = 70{{.*}}>, <kernel = pairwise
func.func @least_k(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %y: memref<?x?xf64>) {
  kron.pairwise square_diff ins(%a, %b : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>) {plan = #kron.gpu_plan<kernel = pairwise, min_k = 70>}
  return
}

// CHECK-LABEL: @most_k
// CHECK: max_k = 3
func.func @most_k(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  kron.pairwise_apply abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>) {plan = #kron.gpu_plan<kernel = pairwise, max_k = 3>}
  return
}

// What one kernel alone can have is given to it, and others are left their rows or positions of K.
// CHECK-LABEL: @kept_rows
// CHECK: max_k = 4, {{.*}}keeps_rows = 1{{.*}}>, <kernel = pairwise, threads
func.func @kept_rows(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  kron.pairwise_apply square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>) {plan = #kron.gpu_plan<kernel = pairwise, keeps_rows = 1>}
  return
}

// CHECK-LABEL: @skinny_m
// CHECK: #kron.dispatch<[<kernel = sparse, min_rows = 16, {{.*}}>, <kernel = sparse, {{.*}}skinny_m = 15>]>
func.func @skinny_m(%x: memref<?x384xf32>, %w: memref<6x64x64x1xf32>, %y: memref<?x384xf32>) {
  kron.ksmm ins(%x : memref<?x384xf32>) weights(%w : memref<6x64x64x1xf32>) outs(%y : memref<?x384xf32>) {plan = #kron.gpu_plan<kernel = sparse, skinny_m = 15>}
  return
}

// A field of matrix products asks for these.
// CHECK-LABEL: @wgmma
// CHECK: plan = #kron.gpu_plan<kernel = pairwise, {{.*}}wgmma = 1, {{.*}}products = 3
func.func @wgmma(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, wgmma = 1>}
  return
}

// Tiles are searched among those that fit beside what is given.
// CHECK-LABEL: @residents
// CHECK: ctas_per_sm = 4{{.*}}products = 3{{.*}}>, <{{.*}}ctas_per_sm = 4
func.func @residents(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %v: memref<?x9xf32>, %y: memref<?x9xf32>) {
  kron.pairwise_apply square_diff accumulate(max) ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x9xf32>) outs(%y : memref<?x9xf32>) {plan = #kron.gpu_plan<kernel = pairwise, ctas_per_sm = 4>}
  return
}

// Fields of a step of a chain are constraints one by one.
// CHECK-LABEL: @step
// CHECK: kernel = chain, {{.*}}steps = [{{[{].*}}k_step = 32{{.*[}]}}, {{[{].*}}result_tiles = 4{{.*[}]}}]>
func.func @step(%x: memref<1000x2x64xf16>, %k: memref<2x32x64xf16>, %l: memref<64x32x2xf16>, %y: memref<1000x64x2xf16>) {
  kron.fused ins(%x, %k, %l : memref<1000x2x64xf16>, memref<2x32x64xf16>, memref<64x32x2xf16>) outs(%y : memref<1000x64x2xf16>)
      attributes {plan = #kron.gpu_plan<kernel = chain, steps = [{k_step = 32}, {result_tiles = 4}]>} {
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

// Kernels for fewer rows stand behind the one that quantizes them, which a plan asks for.
// CHECK-LABEL: @quantizing
// CHECK: #kron.dispatch<[<kernel = chain, min_rows = 3000, {{.*}}quantize = 1, {{.*}}>, <kernel = sparse, {{.*}}>]>
// CHECK: kron.quantize
func.func @quantizing(%x: memref<?x384xf32>, %w: memref<6x64x64x1xf32>, %q: memref<?x384xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x384xf32>
  %y = memref.alloc(%rows) : memref<?x384xf32>
  kron.ksmm ins(%x : memref<?x384xf32>) weights(%w : memref<6x64x64x1xf32>) outs(%y : memref<?x384xf32>) {plan = #kron.gpu_plan<kernel = chain, min_rows = 3000>}
  kron.quantize ins(%y : memref<?x384xf32>) outs(%q, %s : memref<?x384xi8>, memref<?xf32>)
  memref.dealloc %y : memref<?x384xf32>
  return
}
