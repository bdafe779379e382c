// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that a factor of 128 x 128 has a kernel that reads like this: three warpgroups take
// tiles of 64 rows each, whose pieces of 32 positions arrive in rings of their own.
// CHECK-LABEL: gpu.func @inner_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<?x128xf32, [128, 1]>, %[[Y:.*]]: !tile.view<?x128xf32, [128, 1]>, %[[F:.*]]: !tile.view<128x128xf32, [128, 1]>, %[[COUNT:.*]]: i32)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>}
// CHECK-NEXT:      %[[RING:.*]] = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
// CHECK-NEXT:      tile.copy_pieces %[[X]] to %[[RING]] pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3>
// CHECK-NEXT:      %[[P:.*]] = tile.prepare %[[F]] residuals : {{.*}} -> <128x128xf32, wgmma.m64k8.tf32 quads>
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[COUNT]] : i32 {
// CHECK-NEXT:        %[[SUMS:.*]] = tile.contract_pieces %[[X]][%[[TILE]]], %[[P]] in %[[RING]] along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : {{.*}} -> <1x64x128xf32, wgmma.m64k8.tf32>
// CHECK-NEXT:        tile.store %[[SUMS]] to %[[Y]][%[[TILE]]] along [1] box [64, 128] bytes 16 axes [0, 1]
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @inner(%x: memref<?x128xf32>, %f: memref<128x128xf32>, %y: memref<?x128xf32>) {
  kron.mkm ins(%x : memref<?x128xf32>) factors(%f : memref<128x128xf32>)
    outs(%y : memref<?x128xf32>) {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 32, tile = 64, threads = 384, stages = 4>}
  return
}

// -----

// Verify that an outer axis has its columns as the tile's innermost dimension, whose K is
// counted in banks; and that alpha, beta and Z are the store's.
// CHECK-LABEL: gpu.func @outer_0(
// CHECK:         tile.alloc : !tile.ring<4 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
// CHECK:         -> <128x128xf32, wgmma.m64k8.tf32 pairs>
// CHECK:         tile.contract_pieces %{{.*}} along 0 pieces <sizes = [128, 64], block = [32, 64], {{.*}} -> <1x128x64xf32, wgmma.m64k8.tf32>
// CHECK:         tile.store %{{.*}} along [0] alpha %{{.*}} : f32 beta %{{.*}} : f32 addend %{{.*}} : {{.*}} box [128, 64] bytes 16 axes
func.func @outer(%x: memref<128x1024xf32>, %f: memref<128x128xf32>, %y: memref<128x1024xf32>, %z: memref<128x1024xf32>, %a: f32, %b: f32) {
  kron.kmm ins(%x : memref<128x1024xf32>) factors(%f : memref<128x128xf32>)
    outs(%y : memref<128x1024xf32>) alpha(%a : f32) beta(%b : f32) addend(%z : memref<128x1024xf32>)
    {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 32, columns = 64, threads = 384, stages = 4>}
  return
}

// -----

// Verify that four CTAs share the columns of a factor of 200 x 200, the last of which has 8,
// that K ends within the last piece, and that precision tf32 has no residuals.
// CHECK-LABEL: gpu.func @shared_0(
// CHECK-SAME:      shares = 4>}
// CHECK:         tile.prepare %{{.*}} : <200x200xf32, [200, 1]> -> <200x64xf32, wgmma.m64k8.tf32 quads>
// CHECK:         tile.contract_pieces %{{.*}} pieces <sizes = [64, 224], block = [64, 32], {{.*}} -> <1x64x64xf32, wgmma.m64k8.tf32>
// CHECK:         tile.store %{{.*}} box [64, 200] bytes 16
func.func @shared(%x: memref<1000x200xf32>, %f: memref<200x200xf32>, %y: memref<1000x200xf32>) {
  kron.mkm ins(%x : memref<1000x200xf32>) factors(%f : memref<200x200xf32>)
    outs(%y : memref<1000x200xf32>) {plan = #kron.gpu_plan<kernel = wgmma, tile = 64>, precision = #kron.precision<tf32>}
  return
}

// -----

// Verify that a tile lies as a transposed input does, which comes by 16 bytes, its rows
// innermost, and that lanes store pairs along what is contracted, where results are neighbours;
// tiles are neighbours in turns that follow each other.
// CHECK-LABEL: gpu.func @transposed_0(
// CHECK-SAME:      %{{.*}}: !tile.view<128x1024xf32, [1024, 1]>, %{{.*}}: !tile.view<128x1024xf32, [1, 128]>
// CHECK:         tile.alloc : !tile.ring<3 of <48x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
// CHECK:         tile.copy_pieces {{.*}} axes = [0, 1], warps = 4, bytes = 16, ahead = 2>
// CHECK:         tile.prepare {{.*}} wgmma.m64k8.tf32 pairs>
// CHECK:         tile.store %{{.*}} along [0] box [128, 64] bytes 8 axes [0, 1]
func.func @transposed(%x: memref<128x1024xf32>, %f: memref<128x128xf32>, %y: memref<1024x128xf32>) {
  kron.mkm ins(T(%x) : memref<128x1024xf32>) factors(%f : memref<128x128xf32>)
    outs(%y : memref<1024x128xf32>) {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 48, tile = 64, stages = 3>}
  return
}

// -----

// Verify that elements of a transposed input are copied along its rows, one by one, where results
// are no neighbours either, and that pieces of 48 positions, which no bits count, are padded.
// CHECK-LABEL: gpu.func @transposed_apart_0(
// CHECK:         tile.alloc : !tile.ring<3 of <64x48xf32, #tile.layout<[52, 1]>>>
// CHECK:         tile.copy_pieces {{.*}} axes = [1, 0], warps = 4, bytes = 4, ahead = 2, order = [1, 0]>
// CHECK:         tile.store %{{.*}} bytes 4 axes [1, 0]
func.func @transposed_apart(%x: memref<128x1024xf32>, %f: memref<128x128xf32>, %y: memref<1024x128xf32, strided<[256, 2]>>) {
  kron.mkm ins(T(%x) : memref<128x1024xf32>) factors(%f : memref<128x128xf32>)
    outs(%y : memref<1024x128xf32, strided<[256, 2]>>) {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 48, tile = 64, stages = 3>}
  return
}

// -----

// Verify that columns of the result are rows of a tile where a transposed input has its neighbours
// along what is contracted, and that lanes store pairs along them; of 24 positions, which are padded,
// lanes have no pairs.
// CHECK-LABEL: gpu.func @columns_0(
// CHECK:         tile.copy_pieces {{.*}} axes = [0, 1], warps = 4, bytes = 16, ahead = 4>
// CHECK:         tile.prepare {{.*}} wgmma.m64k8.tf32 quads>
// CHECK:         tile.store %{{.*}} along [1] box [32, 32] bytes 8 axes [0, 1] : {{.*}}, <1024x32xf32, [1, 1024]>
// CHECK-LABEL: gpu.func @columns_1(
// CHECK:         tile.copy {{.*}} bytes 16 fill axes [0, 1] rounded
// CHECK:         tile.if_aligned %{{.*}} bytes 4 axis 0 {
// CHECK-NEXT:      tile.store %{{.*}} along [1] box [{{.*}}, 24] bytes 4 axes [0, 1] : {{.*}}, <1024x24xf32, [1, 1024]>
func.func @columns(%x: memref<1024x64xf32>, %f: memref<32x64xf32>, %y: memref<32x1024xf32>,
                   %v: memref<1024x40xf32>, %g: memref<24x40xf32>, %z: memref<24x1024xf32>) {
  kron.kmm ins(T(%x) : memref<1024x64xf32>) factors(%f : memref<32x64xf32>)
    outs(%y : memref<32x1024xf32>) {plan = #kron.gpu_plan<kernel = wgmma, columns = 32, k_piece = 32, stages = 5>}
  kron.kmm ins(T(%v) : memref<1024x40xf32>) factors(%g : memref<24x40xf32>)
    outs(%z : memref<24x1024xf32>) {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 0>}
  return
}

// -----

// Verify that several factors have a kernel that reads like this: four warpgroups take tiles
// of their own, whole, into rings of two; the first factor is applied in place, and results of the
// last one go to the array from registers, or where that is not aligned through shared memory.
// CHECK-LABEL: gpu.func @whole_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<?x64x64xf32, [4096, 64, 1]>, %[[Y:.*]]: !tile.view<?x64x64xf32, [4096, 64, 1]>, %[[F1:.*]]: !tile.view<64x64xf32, [64, 1]>, %[[F0:.*]]: !tile.view<64x64xf32, [64, 1]>, %[[COUNT:.*]]: i32)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 512, ctas_per_sm = 1, groups = 4>}
// CHECK-NEXT:      %[[RING:.*]] = tile.alloc : !tile.ring<2 of <64x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
// CHECK-NEXT:      %[[FREE:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:      tile.copy %[[X]][0] to %[[FREE]] bytes 16 fill axes [1, 2] rounded
// CHECK-NEXT:      %[[P1:.*]] = tile.prepare %[[F1]] residuals : {{.*}} -> <64x64xf32, wgmma.m64k8.tf32 quads>
// CHECK-NEXT:      %[[P0:.*]] = tile.prepare %[[F0]] residuals : {{.*}} -> <64x64xf32, wgmma.m64k8.tf32 pairs>
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[COUNT]] : i32 {
// CHECK-NEXT:        %[[SLOT:.*]] = tile.wait %[[RING]] pending 0
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        %[[NEXT:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:        tile.copy %[[X]][%[[TILE]] + 1] to %[[NEXT]] bytes 16 fill axes [1, 2] rounded
// CHECK-NEXT:        tile.for_fibres %[[B1:.*]] of [64, 64] along 1 {
// CHECK-NEXT:          %[[S1:.*]] = tile.contract_fibres %[[SLOT]][%[[B1]]], %[[P1]]
// CHECK-NEXT:          tile.exchange %[[S1]] to %[[SLOT]][%[[B1]]] along [1]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_fibres %[[B0:.*]] of [64, 64] along 0 {
// CHECK-NEXT:          %[[S0:.*]] = tile.contract_fibres %[[SLOT]][%[[B0]]], %[[P0]]
// CHECK-NEXT:          tile.if_aligned %[[Y]] bytes 16 axis 2 {
// CHECK-NEXT:            tile.store %[[S0]][%[[B0]]] to %[[Y]][%[[TILE]]] along [0] box [64, 64] bytes 16 axes [1, 2]
// CHECK-NEXT:          } else {
// CHECK-NEXT:            tile.exchange %[[S0]] to %[[SLOT]][%[[B0]]] along [0]
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.if_aligned %[[Y]] bytes 16 axis 2 {
// CHECK-NEXT:        } else {
// CHECK-NEXT:          tile.barrier
// CHECK-NEXT:          tile.store %[[SLOT]] to %[[Y]][%[[TILE]]] bytes 4 axes [1, 2]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.release %[[SLOT]]
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @whole(%x: memref<?x4096xf32>, %f: memref<64x64xf32>, %y: memref<?x4096xf32>) {
  kron.mkm ins(%x : memref<?x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
    outs(%y : memref<?x4096xf32>) {plan = #kron.gpu_plan<kernel = wgmma>}
  return
}

// -----

// Verify that of several factors the one along which results are neighbours is applied last where a
// tile lies as a transposed input does, that the tile is refilled from that by 16 bytes, and that
// lanes store pairs along what is contracted.
// CHECK-LABEL: gpu.func @turned_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<64x64x?xf32, [?, ?, 1]>, %[[Y:.*]]: !tile.view<64x64x?xf32, [64, 1, 4096]>,
// CHECK:         tile.alloc : !tile.ring<1 of <64x64x8xf32, #tile.layout<[516, 8, 1]>>>
// CHECK:         tile.copy %[[X]][0] to %{{.*}} bytes 16 fill axes [0, 1, 2] rounded
// CHECK:         tile.for_fibres %{{.*}} of [64, 64, 8] along 0 {
// CHECK:         tile.for_fibres %[[B:.*]] of [64, 64, 8] along 1 {
// CHECK:           tile.if_aligned %[[Y]], %[[X]] bytes 16 axis 2 {
// CHECK-NEXT:        tile.refill %{{.*}}[%[[B]]] with %[[X]]
// CHECK-NEXT:        tile.store %{{.*}}[%[[B]]] to %[[Y]][%{{.*}}] along [1] box [64, 64, 8] bytes 8 axes [0, 1, 2]
// CHECK:           tile.store %{{.*}} to %[[Y]][%{{.*}}] order [0, 2, 1] bytes 4 axes [0, 1, 2]
func.func @turned(%x: memref<4096x?xf32>, %f: memref<64x64xf32>, %y: memref<?x4096xf32>) {
  kron.mkm ins(T(%x) : memref<4096x?xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
    outs(%y : memref<?x4096xf32>) {plan = #kron.gpu_plan<kernel = wgmma>}
  return
}

// -----

// Verify that f16 is multiplied as it is along the first axis, from a ring of its own type, and that
// what stays on chip is f32; and that odd sizes have room for what instructions read and
// write, and are stored by elements.
// CHECK-LABEL: gpu.func @half_0(
// CHECK:         tile.alloc : !tile.ring<{{[0-9]+}} of <{{.*}}32x32xf16, #tile.layout<
// CHECK:         %[[WORK:.*]] = tile.alloc : !tile.buffer<{{.*}}32x32xf32, #tile.layout<
// CHECK:         tile.resize %{{.*}}32x32xf16{{.*}} -> <{{.*}}31x31xf16
// CHECK:         -> <31x31xf16, wgmma.m64k16 quads>
// CHECK:         -> <31x31xf32, wgmma.m64k8.tf32 pairs>
// CHECK:         tile.exchange %{{.*}} to %[[WORK]]
// CHECK:         tile.contract_fibres %[[WORK]]
// CHECK-NOT:     tile.if_aligned
// CHECK:         %[[OWN:.*]] = tile.resize %[[WORK]]
// CHECK:         tile.store %[[OWN]] to %{{.*}} bytes 2 axes
func.func @half(%x: memref<200x961xf16>, %f: memref<31x31xf16>, %y: memref<200x961xf16>) {
  kron.mkm ins(%x : memref<200x961xf16>) factors(%f, %f : memref<31x31xf16>, memref<31x31xf16>)
    outs(%y : memref<200x961xf16>) {plan = #kron.gpu_plan<kernel = wgmma, whole_copies = 0>}
  return
}

// -----

// Verify that where there is room for one tile only, the last step refills it, and that the next one is
// brought closer meanwhile.
// CHECK-LABEL: gpu.func @refilled_0(
// CHECK:         tile.copy %[[X:.*]][0] to
// CHECK:         tile.for %[[TILE:.*]] to
// CHECK-NEXT:      tile.prefetch %[[X]][%[[TILE]]] box
// CHECK-NEXT:      tile.wait
// CHECK:           tile.if_aligned %[[Y:.*]], %[[X]] bytes 16
// CHECK-NEXT:        tile.refill %{{.*}} with %[[X]][%[[TILE]]]
// CHECK-NEXT:        tile.store
// CHECK:           tile.if_aligned %[[Y]], %[[X]] bytes 16
// CHECK-NEXT:        tile.refilled
// CHECK-NEXT:      } else {
// CHECK:             tile.release
// CHECK-NEXT:        tile.barrier
// CHECK:             tile.copy %[[X]][%[[TILE]] + 1]
func.func @refilled(%x: memref<4096x4096xf32>, %f: memref<64x64xf32>, %y: memref<4096x4096xf32>) {
  kron.kmm ins(%x : memref<4096x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
    outs(%y : memref<4096x4096xf32>) {plan = #kron.gpu_plan<kernel = wgmma, stages = 1, columns = 4, threads = 128>}
  return
}

// -----

// Verify that K is counted in banks where rows lie between it and the columns, too: a lane
// has an even position of K and the next one, which nothing may flip.
// CHECK-LABEL: gpu.func @between_0(
// CHECK:         tile.alloc : !tile.ring<3 of <32x2x32xf32, #tile.layout<[64, 32, 1], swizzle = [7, 4, 8, 3]>>>
func.func @between(%x: memref<64x6x?xf32>, %f: memref<64x64xf32>, %y: memref<64x6x?xf32>) {
  kron.fused ins(%x, %f : memref<64x6x?xf32>, memref<64x64xf32>) outs(%y : memref<64x6x?xf32>)
    attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 2, columns = 32, threads = 128, ctas_per_sm = 1, stages = 3, k_piece = 32>} {
  ^bb0(%a: tensor<64x6x?xf32>, %b: tensor<64x64xf32>, %c: tensor<64x6x?xf32>):
    %0 = kron.mode_product axis(0) ins(%a : tensor<64x6x?xf32>) factor(%b [q, p] : tensor<64x64xf32>) outs(%c : tensor<64x6x?xf32>) -> tensor<64x6x?xf32>
    kron.yield %0 : tensor<64x6x?xf32>
  }
  return
}

// -----

// Verify that a factor of one row reads a tile that lies as the ring does, which has room for more positions.
// CHECK-LABEL: gpu.func @one_row_0(
// CHECK: tile.alloc : !tile.ring<2 of <128x64xbf16, [[LAYOUT:#tile.layout<\[64, 1\], swizzle = .*\]>]]>>
// CHECK: tile.resize {{.*}} -> <1x64xbf16, [[LAYOUT]]>
func.func @one_row(%x: memref<1x4096xbf16>, %f: memref<128x1xbf16>, %y: memref<128x4096xbf16>) {
  kron.kmm ins(%x : memref<1x4096xbf16>) factors(%f : memref<128x1xbf16>) outs(%y : memref<128x4096xbf16>) {plan = #kron.gpu_plan<kernel = wgmma>}
  return
}

// -----

// Verify that 16-bit elements go by twos where columns are even, both ways, unless results go through shared memory.
// CHECK-LABEL: gpu.func @twos_0(
// CHECK:         tile.copy %{{.*}} bytes 4 fill
// CHECK:         tile.store %{{.*}} along [0] box [33, 64] bytes 4
func.func @twos(%x: memref<21x67418xf16>, %f: memref<33x21xf16>, %y: memref<33x67418xf16>) {
  kron.kmm ins(%x : memref<21x67418xf16>) factors(%f : memref<33x21xf16>) outs(%y : memref<33x67418xf16>) {plan = #kron.gpu_plan<kernel = wgmma, shared_store = 0>}
  return
}

// -----

// Verify that they go by fours where rows are multiples of that, from registers if arrays are
// aligned to 8 bytes.
// CHECK-LABEL: gpu.func @fours_0(
// CHECK:         tile.copy %{{.*}} bytes 8 fill
// CHECK:         tile.if_aligned %{{.*}} bytes 8 axis 2
// CHECK:         tile.store %{{.*}} bytes 8
// CHECK:         tile.store %{{.*}} bytes 2
func.func @fours(%x: memref<4624x4624xf16>, %f: memref<68x68xf16>, %g: memref<68x68xf16>, %y: memref<4624x4624xf16>) {
  kron.mkm ins(%x : memref<4624x4624xf16>) factors(%f, %g : memref<68x68xf16>, memref<68x68xf16>) outs(%y : memref<4624x4624xf16>) {plan = #kron.gpu_plan<kernel = wgmma>}
  return
}

// -----

// Verify that the lesser one of the result and of what is added to it counts.
// CHECK-LABEL: gpu.func @added_0(
// CHECK:         tile.copy %{{.*}} bytes 16 fill
// CHECK:         tile.store %{{.*}} bytes 4
func.func @added(%x: memref<64x1024xf16>, %f: memref<64x64xf16>, %z: memref<64x1024xf16, strided<[1026, 1]>>, %y: memref<64x1024xf16>) {
  kron.kmm ins(%x : memref<64x1024xf16>) factors(%f : memref<64x64xf16>) outs(%y : memref<64x1024xf16>) beta(1.0 : f32) addend(%z : memref<64x1024xf16, strided<[1026, 1]>>) {plan = #kron.gpu_plan<kernel = wgmma>}
  return
}

// -----

// Verify that a tile of rows of 289 elements is copied as it lies, one segment that starts anywhere,
// and put in order before it is multiplied; the next one is copied meanwhile.
// CHECK-LABEL: gpu.func @whole_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<1000x17x17xbf16, [289, 17, 1]>, %[[Y:.*]]: !tile.view<1000x17x17xbf16, [289, 17, 1]>,
// CHECK:         %[[TILE:.*]] = tile.alloc : !tile.buffer<3x24x32xbf16
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<2 of <1x880xbf16>>
// CHECK-COUNT-2: tile.copy %[[X]]{{.*}} bytes 16 fill axes [0, 1, 2] box [3, 17, 17]
// CHECK:         tile.for %[[T:.*]] to
// CHECK-NEXT:      %[[SLOT:.*]] = tile.wait %[[RING]] pending 1
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      %[[PART:.*]] = tile.resize %[[TILE]]
// CHECK-NEXT:      tile.spread %[[SLOT]] of %[[X]][%[[T]]] to %[[PART]] axes [0, 1, 2]
// CHECK-NEXT:      tile.release %[[SLOT]]
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      %[[FREE:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:      tile.copy %[[X]][%[[T]] + 2] to %[[FREE]] bytes 16
// CHECK-NEXT:      tile.for_fibres
// CHECK:             tile.contract_fibres %[[TILE]]
func.func @whole(%x: memref<1000x289xbf16>, %f: memref<17x17xbf16>, %g: memref<17x17xbf16>, %y: memref<1000x289xbf16>) {
  kron.mkm ins(%x : memref<1000x289xbf16>) factors(%f, %g : memref<17x17xbf16>, memref<17x17xbf16>)
    outs(%y : memref<1000x289xbf16>) {plan = #kron.gpu_plan<kernel = wgmma, tile = 3, stages = 2, whole_copies = 1>}
  return
}

// -----

// Verify that columns of a row of 2601 elements are a segment each, and that results of one factor
// go through shared memory, from where neighbours are stored together.
// CHECK-LABEL: gpu.func @columns_0(
// CHECK:         tile.alloc : !tile.ring<2 of <51x72xf16>>
// CHECK:         %[[WORK:.*]] = tile.alloc : !tile.buffer<{{.*}}xf32
// CHECK:         tile.copy %{{.*}} bytes 16 fill axes [0, 1] box [51, 64]
// CHECK:         tile.for_fibres
// CHECK:           tile.exchange %{{.*}} to %[[WORK]]
// CHECK:         tile.barrier
// CHECK-NEXT:    %[[SUMS:.*]] = tile.resize %[[WORK]]
// CHECK-NEXT:    tile.store %[[SUMS]] to %{{.*}} bytes 2 axes [0, 1]
func.func @columns(%x: memref<51x2601xf16>, %f: memref<51x51xf16>, %y: memref<51x2601xf16>) {
  kron.kmm ins(%x : memref<51x2601xf16>) factors(%f : memref<51x51xf16>)
    outs(%y : memref<51x2601xf16>) {plan = #kron.gpu_plan<kernel = wgmma, columns = 64, stages = 2, whole_copies = 1, shared_store = 1>}
  return
}
