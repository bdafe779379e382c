// RUN: kron-opt %s --kron-decompose=target=cuda --kron-fuse="target=cuda chip=h200" --kron-plan="target=cuda chip=h200" | FileCheck %s

// Verify what fields by hand make of plans, which have no constraints themselves.

// CHECK-LABEL: @rows_of_cublas
// CHECK: #kron.dispatch<[<kernel = cublas, min_rows = 2000>, <kernel = sparse,
func.func @rows_of_cublas(%x: memref<?x512xf32>, %f: memref<512x512xf32>, %y: memref<?x512xf32>) {
  kron.mkm ins(%x : memref<?x512xf32>) factors(%f : memref<512x512xf32>) outs(%y : memref<?x512xf32>) {plan = #kron.gpu_plan<kernel = cublas, min_rows = 2000>}
  return
}

// A call of cuBLAS has no threads.
// CHECK-LABEL: @threads
// CHECK: attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm
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
