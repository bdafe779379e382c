// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that threads keep 8 columns of weights for all rows: results of a group share its
// input, four rows of the next tile are loaded before those of this one are multiplied, and
// where arrays are not aligned, the plans behind this one are chosen among.
// CHECK-LABEL: func.func @threads
// CHECK:         scf.if
// CHECK:           tile.launch @kron_gpu::@threads_0
// CHECK:         } else {
// CHECK:           scf.if
// CHECK:             tile.launch @kron_gpu::@threads_1
// CHECK:           } else {
// CHECK:             tile.launch @kron_gpu::@threads_2
// CHECK:       gpu.func @threads_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<?x8x512x56xf16, [?, 1, 8, 0]>,
// CHECK-SAME:    %[[Y:[^:]*]]: !tile.view<?x1x512x56xf16, [?, 1, 56, 1]>,
// CHECK-SAME:    %[[F:[^:]*]]: !tile.view<8x512x56xf16, [1, 448, 8]>, %[[TILES:[^:]*]]: i64)
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 2>
// CHECK-NEXT:    tile.for_columns %[[COLUMNS:.*]] of 3584 by 256 atom <fma> {
// CHECK-NEXT:      %[[WEIGHTS:.*]] = tile.load_columns %[[F]][%[[COLUMNS]]] bytes 16 : {{.*}} -> <1x8x8xf16>
// CHECK-NEXT:      %[[FIRST:.*]] = tile.load_columns %[[X]][%[[COLUMNS]], 0] bytes 16 : {{.*}} -> <4x8x8xf16>
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[TILES]] carry(%[[ROWS:.*]] = %[[FIRST]] : !tile.fragment<4x8x8xf16>) {
// CHECK-NEXT:        %[[NEXT:.*]] = tile.load_columns %[[X]][%[[COLUMNS]], %[[TILE]] + 1] bytes 16 :
// CHECK-NEXT:        %[[SUMS:.*]] = tile.dot %[[ROWS]], %[[WEIGHTS]] atom <fma> : {{.*}} -> <4x1x8xf32>
// CHECK-NEXT:        tile.store %[[SUMS]][%[[COLUMNS]]] to %[[Y]][%[[TILE]]] along [1] rows 4 bytes 16 :
// CHECK-NEXT:        tile.yield %[[NEXT]] : !tile.fragment<4x8x8xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return
func.func @threads(%x: memref<?x4096xf16, strided<[?, 1]>>, %k: memref<512x56x8x1xf16>, %y: memref<?x28672xf16, strided<[?, 1]>>) {
  kron.ksmm ins(%x : memref<?x4096xf16, strided<[?, 1]>>) weights(%k : memref<512x56x8x1xf16>) outs(%y : memref<?x28672xf16, strided<[?, 1]>>)
  return
}

// -----

// Verify that fields of a plan say which rows are beside each other, and that weights that do
// not follow each other are loaded one by one.
// CHECK-LABEL: gpu.func @beside_0(
// CHECK-SAME:    !tile.view<100x8x100x4xf32, [800, 1, 8, 0]>
// CHECK-SAME:    !tile.view<8x100x4xf32, [4, 32, 1]>
// CHECK-NEXT:    tile.for_columns %{{.*}} of 100 by 30 beside 4 atom <fma> {
// CHECK-NEXT:      tile.load_columns %{{.*}} bytes 4 : {{.*}} -> <1x8x4xf32>
// CHECK:             tile.store {{.*}} along [1] alpha %{{.*}} : f32 rows 8 bytes 16
func.func @beside(%x: memref<100x100x8xf32>, %k: memref<100x8x4xf32>, %y: memref<100x100x4xf32>) {
  kron.fused ins(%x, %k : memref<100x100x8xf32>, memref<100x8x4xf32>) outs(%y : memref<100x100x4xf32>)
      attributes {plan = #kron.gpu_plan<kernel = small_groups, threads = 128, ctas_per_sm = 2, row_tiles = 2, row_chunks = 30>} {
  ^bb0(%tx: tensor<100x100x8xf32>, %tk: tensor<100x8x4xf32>, %ty: tensor<100x100x4xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x100x8xf32>) factor(%tk [1, p, q] : tensor<100x8x4xf32>)
         outs(%ty : tensor<100x100x4xf32>) alpha(2.0 : f32) -> tensor<100x100x4xf32>
    kron.yield %0 : tensor<100x100x4xf32>
  }
  return
}

// -----

// Verify that warps take 40 results of a group as two columns of 32, and 64 rows at a time.
// CHECK-LABEL: gpu.func @warps_0(
// CHECK-SAME:    threads = 128
// CHECK-NEXT:    tile.for_columns %{{.*}} of 128 by 4 atom <mma.m16n8k16> {
// CHECK-NEXT:      tile.load_columns %{{.*}}[%{{.*}}] bytes 8 : <12x64x40xbf16, [1, 480, 12]> -> <1x12x32xbf16>
// CHECK-NEXT:      tile.load_columns %{{.*}}[%{{.*}}, 0] bytes 8 : {{.*}} -> <64x12x32xbf16>
// CHECK:             tile.dot {{.*}} atom <mma.m16n8k16> : <64x12x32xbf16>, <1x12x32xbf16> -> <64x1x32xf32>
// CHECK-NEXT:        tile.store {{.*}} rows 64 bytes 16
func.func @warps(%x: memref<25088x64x12xbf16>, %k: memref<64x40x12xbf16>, %y: memref<25088x64x40xbf16>) {
  kron.fused ins(%x, %k : memref<25088x64x12xbf16>, memref<64x40x12xbf16>) outs(%y : memref<25088x64x40xbf16>)
      attributes {plan = #kron.gpu_plan<kernel = small_groups, threads = 128, ctas_per_sm = 3, row_tiles = 4, result_tiles = 4>} {
  ^bb0(%tx: tensor<25088x64x12xbf16>, %tk: tensor<64x40x12xbf16>, %ty: tensor<25088x64x40xbf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x64x12xbf16>) factor(%tk [1, q, p] : tensor<64x40x12xbf16>)
         outs(%ty : tensor<25088x64x40xbf16>) -> tensor<25088x64x40xbf16>
    kron.yield %0 : tensor<25088x64x40xbf16>
  }
  return
}

// -----

// Verify that a plan in front of one of tiles has a branch of its own, in which its
// requirement holds.
// CHECK-LABEL: func.func @behind
// CHECK:         scf.if
// CHECK:           tile.launch @kron_gpu::@behind_0
// CHECK:         } else {
// CHECK:           scf.if
// CHECK:             tile.launch @kron_gpu::@behind_1
// CHECK:           } else {
// CHECK:             tile.launch @kron_gpu::@behind_2
func.func @behind(%x: memref<?x64x16xbf16>, %k: memref<64x24x16xbf16>, %y: memref<?x64x24xbf16>) {
  kron.fused ins(%x, %k : memref<?x64x16xbf16>, memref<64x24x16xbf16>) outs(%y : memref<?x64x24xbf16>)
      attributes {plan = #kron.dispatch<[
        <kernel = sparse, min_rows = 30000, ctas_per_sm = 1, stages = 5, row_tiles = 2, row_warps = 4, result_tiles = 4, result_warps = 1, k_step = 32, warp_groups = 2, keeps_factor = 1>,
        <kernel = small_groups, threads = 128, ctas_per_sm = 3, row_tiles = 4, result_tiles = 4>,
        <kernel = sparse, ctas_per_sm = 2, stages = 5, row_tiles = 2, row_warps = 4, result_tiles = 4, result_warps = 1, k_step = 32>]>} {
  ^bb0(%tx: tensor<?x64x16xbf16>, %tk: tensor<64x24x16xbf16>, %ty: tensor<?x64x24xbf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x64x16xbf16>) factor(%tk [1, q, p] : tensor<64x24x16xbf16>)
         outs(%ty : tensor<?x64x24xbf16>) -> tensor<?x64x24xbf16>
    kron.yield %0 : tensor<?x64x24xbf16>
  }
  return
}

// -----

// Verify that what one kernel quantizes for many rows only is there twice, and that tiles are
// made of what has its own kernel.
// CHECK-LABEL: func.func @quantized
// CHECK:         scf.if
// CHECK-NOT:       memref.alloc
// CHECK:           tile.launch @kron_gpu::@quantized_0
// CHECK:         } else {
// CHECK:           tile.launch @kron_gpu::@quantized_1
// CHECK:           tile.launch @kron_gpu::@quantized_2
// CHECK:           tile.launch @kron_gpu::@quantize_0
// CHECK:           memref.dealloc
// CHECK:         }
// CHECK:         return
func.func @quantized(%x: memref<?x16x16xf16>, %k: memref<16x16x16xf16>, %q: memref<?x256xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x16x16xf16>
  %t = memref.alloc(%d) : memref<?x256xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%d, 16, 16] : memref<?x256xf16> into memref<?x16x16xf16>
  kron.fused ins(%x, %k : memref<?x16x16xf16>, memref<16x16x16xf16>) outs(%v : memref<?x16x16xf16>)
      attributes {plan = #kron.gpu_plan<kernel = auto>} {
  ^bb0(%tx: tensor<?x16x16xf16>, %tk: tensor<16x16x16xf16>, %ty: tensor<?x16x16xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x16x16xf16>) factor(%tk [1, q, p] : tensor<16x16x16xf16>)
         outs(%ty : tensor<?x16x16xf16>) -> tensor<?x16x16xf16>
    kron.yield %0 : tensor<?x16x16xf16>
  }
  kron.quantize ins(%t : memref<?x256xf16>) outs(%q, %s : memref<?x256xi8>, memref<?xf32>)
  memref.dealloc %t : memref<?x256xf16>
  return
}
