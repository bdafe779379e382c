// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify a dense factor that does not stay in shared memory: pieces of K of both sides arrive in rings, two of them
// ahead of the one that is multiplied, and chunks lie along K.
// CHECK-LABEL: gpu.func @dense_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<25088x1x1024xf16, [1024, 0, 1]>, %[[F:[^:]*]]: !tile.view<1x1024x1024xf16, [0, 1024, 1]>,
// CHECK-SAME:    %[[Y:[^:]*]]: !tile.view<25088x1x1024xf16, [1024, 0, 1]>, %[[N:[^:]*]]: i32)
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<3 of <128x64xf16>>
// CHECK-NEXT:    %[[BESIDE:.*]] = tile.alloc : !tile.ring<3 of <256x64xf16>>
// CHECK-NEXT:    tile.copy_pieces %[[X]] to %[[RING]] and %[[F]] to %[[BESIDE]] pieces <sizes = [128, 1, 1024], block = [128, 1, 64], axes = [0, 1, 2], warps = 8, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [4, 8], warps = [2, 4, 1], results = chunks>> :
// CHECK-NEXT:    tile.for %[[TILE:.*]] to %[[N]] : i32 {
// CHECK-NEXT:      %[[SUMS:.*]] = tile.contract_pieces %[[X]][%[[TILE]]], %[[F]] in %[[RING]] and %[[BESIDE]] along 2 pieces <sizes = [128, 1, 1024], {{.*}} -> <1x128x1x256xf32, mma.m16n8k16>
// CHECK-NEXT:      tile.store %[[SUMS]] to %[[Y]][%[[TILE]]] along [2] box [128, 1, 256] bytes 16 axes [0, 1, 2] :
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return
func.func @dense(%x: memref<25088x1024xf16>, %k: memref<1024x1024xf16>, %y: memref<25088x1024xf16>) {
  kron.fused ins(%x, %k : memref<25088x1024xf16>, memref<1024x1024xf16>) outs(%y : memref<25088x1024xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 3, row_tiles = 4, row_warps = 2, result_tiles = 8, result_warps = 4, k_step = 64>} {
  ^bb0(%tx: tensor<25088x1024xf16>, %tk: tensor<1024x1024xf16>, %ty: tensor<25088x1024xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x1024xf16>) factor(%tk [q, p] : tensor<1024x1024xf16>)
         outs(%ty : tensor<25088x1024xf16>) -> tensor<25088x1024xf16>
    kron.yield %0 : tensor<25088x1024xf16>
  }
  return
}

// -----

// Verify chunks along rows, of f32 that is split, whose small products are of bf16; and that alpha, beta and what is
// added go to the store.
// CHECK-LABEL: gpu.func @rows_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<1024x2x4x1x256xf32, [1, 1048576, 1024, 0, 4096]>, %[[F:[^:]*]]: !tile.view<2x4x1x40x256xf32, [40960, 1, 0, 1024, 4]>,
// CHECK-SAME:    %[[Y:[^:]*]]: !tile.view<1024x2x4x1x40xf32, [1, 163840, 1024, 0, 4096]>, %[[ALPHA:[^:]*]]: f32, %[[BETA:[^:]*]]: f32, %[[Z:[^:]*]]: !tile.view<1024x2x4x1x40xf32,
// CHECK:         tile.copy_pieces {{.*}} pieces <sizes = [256, 1, 1, 1, 256], block = [256, 1, 1, 1, 32], {{.*}} chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 1], warps = [4, 2, 1], along_rows = true, split = true, narrow = true, partial = true>> :
// CHECK:           tile.contract_pieces {{.*}} along 4 {{.*}} -> <1x256x1x1x1x16xf32, mma.m16n8k8.tf32>
// CHECK-NEXT:      tile.store %{{.*}} to %[[Y]][%{{.*}}] along [4] alpha %[[ALPHA]] : f32 beta %[[BETA]] : f32 addend %[[Z]] : {{.*}} box [256, 1, 1, 1, 16] bytes 16
func.func @rows(%x: memref<2x256x4x1024xf32>, %k: memref<2x40x256x4xf32>, %z: memref<2x40x4x1024xf32>, %y: memref<2x40x4x1024xf32>) {
  %alpha = arith.constant 0.5 : f32
  %beta = arith.constant 2.0 : f32
  kron.fused ins(%x, %k, %z : memref<2x256x4x1024xf32>, memref<2x40x256x4xf32>, memref<2x40x4x1024xf32>) outs(%y : memref<2x40x4x1024xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, row_warps = 4, bf16_residuals = 1, result_tiles = 1, result_warps = 2, k_step = 32>} {
  ^bb0(%tx: tensor<2x256x4x1024xf32>, %tk: tensor<2x40x256x4xf32>, %tz: tensor<2x40x4x1024xf32>, %ty: tensor<2x40x4x1024xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x256x4x1024xf32>) factor(%tk [0, q, p, 2] : tensor<2x40x256x4xf32>)
         outs(%ty : tensor<2x40x4x1024xf32>) alpha(%alpha : f32) beta(%beta : f32) addend(%tz : tensor<2x40x4x1024xf32>) -> tensor<2x40x4x1024xf32>
    kron.yield %0 : tensor<2x40x4x1024xf32>
  }
  return
}

// -----

// Verify a layer of few rows: warps share K, in chunks of lanes, and leave their sums in a buffer; the bias, the
// activation and the residual go to the store; and the factor, whose strides are open, is copied as a row-major one.
// CHECK-LABEL: gpu.func @layer_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<7x4x256xf16, [1024, 1, 4]>, %[[F:[^:]*]]: !tile.view<4x64x256xf16, [?, ?, ?]>,
// CHECK-SAME:    %[[Y:[^:]*]]: !tile.view<7x4x64xf16, [256, 1, 4]>, %[[B:[^:]*]]: !tile.view<7x4x64xf16, [0, 1, 4]>, %[[R:[^:]*]]: !tile.view<7x4x64xf16, [256, 1, 4]>,
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 2>
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<2 of <7x512xf16>>
// CHECK-NEXT:    %[[BESIDE:.*]] = tile.alloc : !tile.ring<2 of <32x512xf16>>
// CHECK-NEXT:    %[[GIVEN:.*]] = tile.alloc : !tile.buffer<6144xf32>
// CHECK-NEXT:    tile.copy_pieces %[[X]] to %[[RING]] and %[[F]] to %[[BESIDE]] pieces <sizes = [16, 4, 256], block = [16, 4, 128], axes = [0, 1, 2], warps = 8, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 2, lanes = 4, tiles = [1, 2], warps = [1, 2, 4], rows = 7, order = [1, 2, 0]>> :
// CHECK-NEXT:    tile.for
// CHECK-NEXT:      %[[SUMS:.*]] = tile.contract_pieces %[[X]][%[[TILE:.*]]], %[[F]] in %[[RING]] and %[[BESIDE]] sums %[[GIVEN]] along 2
// CHECK-NEXT:      tile.store %[[SUMS]] to %[[Y]][%[[TILE]]] along [2] bias %[[B]] : {{.*}} activation <gelu> residual %[[R]] : {{.*}} box [16, 4, 32] bytes 16 axes [0, 1, 2]
func.func @layer(%x: memref<7x1x256x4xf16>, %k: memref<64x256x4xf16, strided<[?, ?, ?]>>, %b: memref<64x4xf16>, %r: memref<7x1x64x4xf16>, %y: memref<7x1x64x4xf16>) {
  kron.fused ins(%x, %k, %b, %r : memref<7x1x256x4xf16>, memref<64x256x4xf16, strided<[?, ?, ?]>>, memref<64x4xf16>, memref<7x1x64x4xf16>) outs(%y : memref<7x1x64x4xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 2, stages = 2, result_tiles = 2, result_warps = 2, k_step = 128, k_warps = 4, skinny_m = 7>} {
  ^bb0(%tx: tensor<7x1x256x4xf16>, %tk: tensor<64x256x4xf16>, %tb: tensor<64x4xf16>, %tr: tensor<7x1x64x4xf16>, %ty: tensor<7x1x64x4xf16>):
    %e = tensor.empty() : tensor<7x1x64x4xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<7x1x256x4xf16>) factor(%tk [q, p, 3] : tensor<64x256x4xf16>)
         outs(%e : tensor<7x1x64x4xf32>) -> tensor<7x1x64x4xf32>
    %1 = kron.epilogue ins(%0 : tensor<7x1x64x4xf32>) bias(%tb [2, 3] : tensor<64x4xf16>) residual(%tr : tensor<7x1x64x4xf16>)
         outs(%ty : tensor<7x1x64x4xf16>) {activation = #kron.activation<gelu>} -> tensor<7x1x64x4xf16>
    kron.yield %1 : tensor<7x1x64x4xf16>
  }
  return
}

// -----

// Verify that results of three lanes go through shared memory where the plan says so, behind the sums of warps that
// share K.
// CHECK-LABEL: gpu.func @staged_0(
// CHECK:         %[[SHARED:.*]] = tile.alloc : !tile.buffer<2320xf32>
// CHECK:         tile.copy_pieces {{.*}} chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 2], split = true, staged = true>> :
// CHECK:         tile.contract_pieces {{.*}} sums %[[SHARED]] along
func.func @staged(%x: memref<100x2x64x3xf32>, %k: memref<2x40x64x3xf32>, %y: memref<100x2x40x3xf32>) {
  kron.fused ins(%x, %k : memref<100x2x64x3xf32>, memref<2x40x64x3xf32>) outs(%y : memref<100x2x40x3xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 64, k_warps = 2, lane_chunks = 3, shared_store = 1>} {
  ^bb0(%tx: tensor<100x2x64x3xf32>, %tk: tensor<2x40x64x3xf32>, %ty: tensor<100x2x40x3xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x64x3xf32>) factor(%tk [1, q, p, 3] : tensor<2x40x64x3xf32>)
         outs(%ty : tensor<100x2x40x3xf32>) -> tensor<100x2x40x3xf32>
    kron.yield %0 : tensor<100x2x40x3xf32>
  }
  return
}

// -----

// Verify that slots of data whose neighbours are rows, copied whole, have a segment of 128 of them for each position K, and
// room for what is in front of it; and that chunks of all of them have a buffer.
// CHECK-LABEL: gpu.func @whole_rows_0(
// CHECK:         tile.alloc : !tile.ring<2 of <32x136xf16>>
// CHECK:         %[[SHARED:.*]] = tile.alloc : !tile.buffer<2048xf32>
// CHECK:         tile.copy_pieces {{.*}} chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], along_rows = true, whole = 1>> :
// CHECK:         tile.contract_pieces {{.*}} sums %[[SHARED]] along
func.func @whole_rows(%x: memref<2x64x131xf16>, %k: memref<2x40x64xf16>, %y: memref<2x40x131xf16>) {
  kron.fused ins(%x, %k : memref<2x64x131xf16>, memref<2x40x64xf16>) outs(%y : memref<2x40x131xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 32, whole_copies = 1>} {
  ^bb0(%tx: tensor<2x64x131xf16>, %tk: tensor<2x40x64xf16>, %ty: tensor<2x40x131xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x64x131xf16>) factor(%tk [0, q, p] : tensor<2x40x64xf16>)
         outs(%ty : tensor<2x40x131xf16>) -> tensor<2x40x131xf16>
    kron.yield %0 : tensor<2x40x131xf16>
  }
  return
}

// -----

// Verify that where neighbours are rows each warp has room for eight results of all rows of a tile, and 16 bytes beside.
// CHECK-LABEL: gpu.func @staged_rows_0(
// CHECK:         %[[SHARED:.*]] = tile.alloc : !tile.buffer<1088xf32>
// CHECK:         tile.copy_pieces {{.*}} chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], along_rows = true, split = true, staged = true>> :
// CHECK:         tile.contract_pieces {{.*}} sums %[[SHARED]] along
func.func @staged_rows(%x: memref<2x64x101xf32>, %k: memref<2x40x64xf32>, %y: memref<2x40x101xf32>) {
  kron.fused ins(%x, %k : memref<2x64x101xf32>, memref<2x40x64xf32>) outs(%y : memref<2x40x101xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 16, shared_store = 1>} {
  ^bb0(%tx: tensor<2x64x101xf32>, %tk: tensor<2x40x64xf32>, %ty: tensor<2x40x101xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x64x101xf32>) factor(%tk [0, q, p] : tensor<2x40x64xf32>)
         outs(%ty : tensor<2x40x101xf32>) -> tensor<2x40x101xf32>
    kron.yield %0 : tensor<2x40x101xf32>
  }
  return
}

// -----

// Verify that slots of data and of a factor that are copied whole have the bytes in front of a segment, of one position K
// of two of three lanes, and that the chunks that are made of them have a buffer.
// CHECK-LABEL: gpu.func @whole_0(
// CHECK:         tile.alloc : !tile.ring<2 of <16x128xf32>>
// CHECK:         tile.alloc : !tile.ring<2 of <32x128xf32>>
// CHECK:         %[[SHARED:.*]] = tile.alloc : !tile.buffer<1536xf32>
// CHECK:         tile.copy_pieces {{.*}} chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], split = true, whole = 2>> :
// CHECK:         tile.contract_pieces {{.*}} sums %[[SHARED]] along
func.func @whole(%x: memref<100x2x64x3xf32>, %k: memref<2x40x64x3xf32>, %y: memref<100x2x40x3xf32>) {
  kron.fused ins(%x, %k : memref<100x2x64x3xf32>, memref<2x40x64x3xf32>) outs(%y : memref<100x2x40x3xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 16, lane_chunks = 2, whole_copies = 2>} {
  ^bb0(%tx: tensor<100x2x64x3xf32>, %tk: tensor<2x40x64x3xf32>, %ty: tensor<100x2x40x3xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x2x64x3xf32>) factor(%tk [1, q, p, 3] : tensor<2x40x64x3xf32>)
         outs(%ty : tensor<100x2x40x3xf32>) -> tensor<100x2x40x3xf32>
    kron.yield %0 : tensor<100x2x40x3xf32>
  }
  return
}

// -----

// Verify a factor that stays: the tiles of a segment, which two groups of warps take in turn, need one of 64 parts of it.
// Copies of data are started before it has arrived, four of which may be under way when it has.
// CHECK-LABEL: gpu.func @kept_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<512x64x1x16xbf16, [1024, 16, 0, 1]>, %[[F:[^:]*]]: !tile.view<64x1x24x16xbf16, [384, 0, 16, 1]>,
// CHECK-SAME:    %[[Y:[^:]*]]: !tile.view<512x64x1x24xbf16, [1536, 24, 0, 1]>, %[[N:[^:]*]]: i32)
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>
// CHECK-NEXT:    %[[KEPT:.*]] = tile.alloc : !tile.ring<1 of <1x32x32xbf16>>
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<5 of <128x32xbf16>>
// CHECK-NEXT:    tile.for_segments %[[SEGMENT:.*]], %[[TILES:.*]] of %[[N]] parts 64 {
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      %[[FREE:.*]] = tile.acquire %[[KEPT]]
// CHECK-NEXT:      tile.copy %[[F]][%[[SEGMENT]] + 0] to %[[FREE]] bytes 16 pieces <sizes = [128, 1, 1, 32], {{.*}}, warps = 4, {{.*}}, ahead = 4,
// CHECK-NEXT:      tile.copy_pieces %[[X]] to %[[RING]] pieces <
// CHECK-NEXT:      %[[SLOT:.*]] = tile.wait %[[KEPT]] pending 4
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[TILES]] : i32 {
// CHECK-NEXT:        %[[SUMS:.*]] = tile.contract_pieces %[[X]][%[[TILE]]], %[[F]] in %[[RING]] kept %[[SLOT]] along 3
// CHECK-NEXT:        tile.store %[[SUMS]] to %[[Y]][%[[TILE]]] along [3]
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.release %[[SLOT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return
func.func @kept(%x: memref<512x64x16xbf16>, %k: memref<64x24x16xbf16>, %y: memref<512x64x24xbf16>) {
  kron.fused ins(%x, %k : memref<512x64x16xbf16>, memref<64x24x16xbf16>) outs(%y : memref<512x64x24xbf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 5, row_tiles = 2, row_warps = 4, result_tiles = 4, result_warps = 1, k_step = 32, warp_groups = 2, keeps_factor = 1>} {
  ^bb0(%tx: tensor<512x64x16xbf16>, %tk: tensor<64x24x16xbf16>, %ty: tensor<512x64x24xbf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<512x64x16xbf16>) factor(%tk [1, q, p] : tensor<64x24x16xbf16>)
         outs(%ty : tensor<512x64x24xbf16>) -> tensor<512x64x24xbf16>
    kron.yield %0 : tensor<512x64x24xbf16>
  }
  return
}

// -----

// Verify a factor of lanes whose 16-bit values are put in pairs, for up to three blocks of rows at a time.
// CHECK-LABEL: gpu.func @pairs_0(
// CHECK:         tile.for_segments %{{.*}}, %{{.*}} of %{{.*}} parts 4 most 3 {
// CHECK:           %[[SLOT:.*]] = tile.wait %{{.*}} pending 0
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.pair_chunks %[[SLOT]] pieces <{{.*}}, paired = true>>
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.copy_pieces
// CHECK-NEXT:      tile.for
func.func @pairs(%x: memref<512x2x80x4xf16>, %k: memref<2x40x80x4xf16>, %y: memref<512x2x40x4xf16>) {
  kron.fused ins(%x, %k : memref<512x2x80x4xf16>, memref<2x40x80x4xf16>) outs(%y : memref<512x2x40x4xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 3, row_warps = 4, result_tiles = 2, result_warps = 2, k_step = 32, keeps_factor = 1, kept_tiles = 3, pairs_factor = 1>} {
  ^bb0(%tx: tensor<512x2x80x4xf16>, %tk: tensor<2x40x80x4xf16>, %ty: tensor<512x2x40x4xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<512x2x80x4xf16>) factor(%tk [1, q, p, 3] : tensor<2x40x80x4xf16>)
         outs(%ty : tensor<512x2x40x4xf16>) -> tensor<512x2x40x4xf16>
    kron.yield %0 : tensor<512x2x40x4xf16>
  }
  return
}

// -----

// Verify a factor that stays as warpgroups read it: values in TF32 and residuals in bf16, 6 bytes for each.
// CHECK-LABEL: gpu.func @packed_0(
// CHECK-NEXT:    %[[KEPT:.*]] = tile.alloc : !tile.ring<1 of <2x3072xf32>>
// CHECK-NEXT:    tile.alloc : !tile.ring<1 of <64x32xf32>>
// CHECK-NEXT:    tile.for_segments
// CHECK:           tile.wait %[[KEPT]] pending 0
// CHECK:           tile.copy_pieces {{.*}} chunks = <{{.*}}, split = true, warpgroups = true, mixed = true>>
// CHECK:           tile.contract_pieces {{.*}} -> <1x64x1x1x64xf32, wgmma.m64k8.tf32>
func.func @packed(%x: memref<512x2x64xf32>, %k: memref<2x64x64xf32>, %y: memref<512x2x64xf32>) {
  kron.fused ins(%x, %k : memref<512x2x64xf32>, memref<2x64x64xf32>) outs(%y : memref<512x2x64xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 1, row_warps = 4, result_tiles = 8, result_warps = 1, k_step = 32, keeps_factor = 1, wgmma = 1, bf16_residuals = 2>} {
  ^bb0(%tx: tensor<512x2x64xf32>, %tk: tensor<2x64x64xf32>, %ty: tensor<512x2x64xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<512x2x64xf32>) factor(%tk [1, q, p] : tensor<2x64x64xf32>)
         outs(%ty : tensor<512x2x64xf32>) -> tensor<512x2x64xf32>
    kron.yield %0 : tensor<512x2x64xf32>
  }
  return
}

// -----

// Verify a dense factor and rows that are innermost, which have changed places: results are rows of the kernel, and pieces
// of the array are packed ahead of the products.
// CHECK-LABEL: gpu.func @swapped_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<200x1x140xf32, [140, 0, 1]>, %[[F:[^:]*]]: !tile.view<1x160x140xf32, [0, 1, 160]>,
// CHECK-SAME:    %[[Y:[^:]*]]: !tile.view<200x1x160xf32, [160, 0, 1]>,
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<2 of <64x32xf32>>
// CHECK-NEXT:    %[[BESIDE:.*]] = tile.alloc : !tile.ring<2 of <32x32xf32>>
// CHECK-NEXT:    %[[PACKED:.*]] = tile.alloc : !tile.buffer<4096xf32>
// CHECK-NEXT:    tile.copy_pieces %[[X]] to %[[RING]] and %[[F]] to %[[BESIDE]] pieces <{{.*}} swapped = true>>
// CHECK:           tile.contract_pieces %[[X]][%{{.*}}], %[[F]] in %[[RING]] and %[[BESIDE]] sums %[[PACKED]] along 2
func.func @swapped(%x: memref<140x160xf32>, %k: memref<200x140xf32>, %y: memref<200x160xf32>) {
  kron.fused ins(%x, %k : memref<140x160xf32>, memref<200x140xf32>) outs(%y : memref<200x160xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, row_warps = 4, result_tiles = 4, result_warps = 1, k_step = 32, wgmma = 1, bf16_residuals = 1, swaps_operands = 1>} {
  ^bb0(%tx: tensor<140x160xf32>, %tk: tensor<200x140xf32>, %ty: tensor<200x160xf32>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<140x160xf32>) factor(%tk [q, p] : tensor<200x140xf32>)
         outs(%ty : tensor<200x160xf32>) -> tensor<200x160xf32>
    kron.yield %0 : tensor<200x160xf32>
  }
  return
}
