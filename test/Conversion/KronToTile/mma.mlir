// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_80 cublas=false" \
// RUN:   --kron-tile="chip=sm_80" --split-input-file | FileCheck %s --check-prefix=SM80

// Verify that 16 x 16 x 16 has a kernel that reads like this: the next tile arrives in
// the other slot; a warp takes one position of axis 1 at a time through the two innermost
// factors, in place, and 32 columns of all inner ones through the outermost factor.
// CHECK-LABEL: gpu.func @chain_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<?x16x16x16xf32, [4096, 256, 16, 1]>, %[[Y:.*]]: !tile.view<?x16x16x16xf32, [4096, 256, 16, 1]>, {{.*}}, %[[COUNT:.*]]: i32)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 2>}
// CHECK-NEXT:      %[[RING:.*]] = tile.alloc : !tile.ring<2 of <1x16x16x16xf32, #tile.layout<[4096, 256, 16, 1], swizzle = [8, 4, 9, 3, 5, 3]>>>
// CHECK-NEXT:      %[[P2:.*]] = tile.prepare %{{.*}} residuals : {{.*}} -> <16x16xf32, mma.m16n8k8.tf32 rows>
// CHECK-NEXT:      %[[P3:.*]] = tile.prepare %{{.*}} together 2 residuals : {{.*}} -> <16x16xf32, mma.m16n8k8.tf32 chained>
// CHECK-NEXT:      %[[P1:.*]] = tile.prepare %{{.*}} residuals : {{.*}} -> <16x16xf32, mma.m16n8k8.tf32 rows>
// CHECK-NEXT:      %[[FIRST:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:      tile.copy %[[X]][0] to %[[FIRST]] bytes 16 fill axes [0, 1, 2, 3]
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[COUNT]] : i32 {
// CHECK-NEXT:        %[[SLOT:.*]] = tile.wait %[[RING]] pending 0
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        %[[FREE:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:        tile.copy %[[X]][%[[TILE]] + 1] to %[[FREE]] bytes 16 fill axes [0, 1, 2, 3]
// CHECK-NEXT:        tile.for_blocks %[[B:.*]] of [1, 16, 16, 16] by [1, 1, 16, 16] {
// CHECK-NEXT:          %[[V:.*]] = tile.load %[[SLOT]][%[[B]]] along [2, 3] together 2 : {{.*}} -> <1x1x1x16x16xf32, mma.m16n8k8.tf32>
// CHECK-NEXT:          %[[S:.*]] = tile.contract %[[V]], %[[P2]] along 3 atom <mma.m16n8k8.tf32> block [16, 16] whole
// CHECK-NEXT:          %[[C:.*]] = tile.contract %[[S]], %[[P3]] along 4 atom <mma.m16n8k8.tf32> block [16, 16] whole
// CHECK-NEXT:          tile.barrier of_block
// CHECK-NEXT:          tile.exchange %[[C]] to %[[SLOT]][%[[B]]] along [2, 3]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_blocks %[[B:.*]] of [1, 16, 256] by [1, 16, 32] {
// CHECK-NEXT:          %[[V:.*]] = tile.load %[[SLOT]][%[[B]]] along [1] together 2
// CHECK-NEXT:          %[[C:.*]] = tile.contract %[[V]], %[[P1]] along 2
// CHECK-NEXT:          tile.store %[[C]][%[[B]]] to %[[Y]][%[[TILE]]] along [1] box [1, 16, 16, 16] bytes 16 axes [0, 1, 2, 3]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.release %[[SLOT]]
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @chain(%x: memref<?x4096xf32>, %f: memref<16x16xf32>, %y: memref<?x4096xf32>) {
  kron.mkm ins(%x : memref<?x4096xf32>) factors(%f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<?x4096xf32>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that f64 has the instruction of the chip, that warps which share the results of
// a block have parts of the factor, and that alpha, beta and Z are the store's.
// SM90-LABEL: gpu.func @double_0(
// SM90:         tile.prepare %{{.*}} warps 4 : {{.*}} -> <64x64xf64, mma.m16n8k8.f64 columns>
// SM90:         tile.for_blocks %{{.*}} of [1, 64, 64] by [1, 32, 64] warps 4 {
// SM90:           tile.contract %{{.*}}, %{{.*}} along 3 atom <mma.m16n8k8.f64> block [32, 64] whole
// SM90-NEXT:      tile.barrier of_block
// SM90:         tile.store %{{.*}} alpha %{{.*}} : f64 beta %{{.*}} : f64 addend %[[Y:.*]] : {{.*}} box [1, 64, 64] bytes 16
// SM80-LABEL: gpu.func @double_0(
// SM80:         -> <64x64xf64, mma.m8n8k4.f64 columns>
func.func @double(%x: memref<?x4096xf64>, %f: memref<64x64xf64>, %y: memref<?x4096xf64>, %a: f64, %b: f64) {
  kron.mkm ins(%x : memref<?x4096xf64>) factors(%f, %f : memref<64x64xf64>, memref<64x64xf64>)
    outs(%y : memref<?x4096xf64>) alpha(%a : f64) beta(%b : f64) {plan = #kron.gpu_plan<kernel = mma, threads = 256>}
  return
}

// -----

// Verify that 16-bit data stay as they are until they are multiplied, that sums between
// the factors have 32 bits in a buffer of their own, without a barrier between reading
// and writing, and that four tiles of columns of the results are written as one. An only
// slot is filled again behind a barrier.
// CHECK-LABEL: gpu.func @narrow_0(
// CHECK:         tile.alloc : !tile.ring<{{.*}} of <{{.*}}x20x{{.*}}xf16, {{.*}}>>
// CHECK:         %[[WORK:.*]] = tile.alloc : !tile.buffer<{{.*}}x20x{{.*}}xf32, {{.*}}>
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} bytes 8 fill
// CHECK:           %[[S:.*]] = tile.contract {{.*}} -> <{{.*}}xf32, mma.m16n8k8.tf32>
// CHECK-NOT:       tile.barrier of_block
// CHECK:           tile.exchange %{{.*}} to %[[WORK]]
// CHECK:           tile.load %[[WORK]][%{{.*}}] along [1] together 4
// CHECK:           tile.store %{{.*}} bytes 8
// CHECK:           tile.release
// CHECK-NEXT:      tile.barrier
// CHECK:           tile.copy %{{.*}}[%{{.*}} + 1]
func.func @narrow(%x: memref<64x8000xf16>, %f: memref<20x20xf16>, %y: memref<64x8000xf16>) {
  kron.mkm ins(%x : memref<64x8000xf16>) factors(%f, %f, %f : memref<20x20xf16>, memref<20x20xf16>, memref<20x20xf16>)
    outs(%y : memref<64x8000xf16>) {plan = #kron.gpu_plan<kernel = mma, stages = 1, tile = 1>}
  return
}

// -----

// Verify a tile of 128 KiB, which arrives piece by piece, and whose first two steps keep
// to shares of a group of warps, which meets between them.
// CHECK-LABEL: gpu.func @stream_0(
// CHECK:         %[[RING:.*]] = tile.alloc : !tile.ring<48 of <{{.*}}xf32, {{.*}}>>
// CHECK:         %[[WORK:.*]] = tile.alloc
// CHECK:         tile.copy_pieces %{{.*}} to %[[RING]] pieces <sizes = [16, 16, 16, 8], block = [1, 4, 16, 8], {{.*}}, warps = 1, bytes = 16, lines = true>
// CHECK:         tile.for %[[TILE:.*]] to
// CHECK-NEXT:      tile.for_pieces %[[B:.*]], %[[P:.*]] of %{{.*}}[%[[TILE]]] in %[[RING]]
// CHECK-NEXT:        tile.load %[[P]][%[[B]]] along [2]
// CHECK:             tile.exchange %{{.*}} to %[[WORK]][%[[B]]]
// CHECK:           tile.barrier groups 16
// CHECK-NEXT:      tile.for_blocks %{{.*}} of [16, 16, 128] by {{.*}} shares {
// CHECK:             tile.barrier of_block
// CHECK:           tile.barrier{{$}}
// CHECK:           tile.store
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.barrier{{$}}
func.func @stream(%x: memref<4096x4096xf32>, %f: memref<16x16xf32>, %y: memref<4096x4096xf32>) {
  kron.kmm ins(%x : memref<4096x4096xf32>) factors(%f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<4096x4096xf32>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that two CTAs share a row of 256 KiB: each has half of the positions that the
// last step contracts, whose blocks they share, behind a barrier of both.
// SM90-LABEL: gpu.func @cluster_0(
// SM90-SAME:      cluster = 2
// SM90:         tile.copy_pieces {{.*}} split = 1>
// SM90:           tile.prepare %{{.*}} split :
// SM90:           tile.barrier cluster
// SM90-NEXT:      tile.for_blocks %{{.*}} of [1, 32, 1024] by {{.*}} split {
// SM90:             tile.store
// SM90-NEXT:      }
// SM90-NEXT:      tile.barrier cluster
func.func @cluster(%x: memref<1024x32768xf64>, %f: memref<32x32xf64>, %y: memref<1024x32768xf64>) {
  kron.mkm ins(%x : memref<1024x32768xf64>) factors(%f, %f, %f : memref<32x32xf64>, memref<32x32xf64>, memref<32x32xf64>)
    outs(%y : memref<1024x32768xf64>)
  return
}

// -----

// Verify that a plan may keep the two innermost factors apart, and say how many warps
// share the results of each step: of one tile of 16 results here, and of four.
// CHECK-LABEL: gpu.func @apart_0(
// CHECK:         tile.prepare %{{.*}} warps 4 {{.*}} -> <16x16xf32, mma.m16n8k8.tf32 columns>
// CHECK:         tile.for_blocks %{{.*}} of [1, 64, 16] by [1, 32, 16] warps 4 {
// CHECK-COUNT-1:   tile.contract
// CHECK-NOT:       tile.contract
// CHECK:         tile.prepare %{{.*}} warps 2 {{.*}} -> <64x64xf32, mma.m16n8k8.tf32 rows>
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    tile.for_blocks %{{.*}} of [1, 64, 16] by [1, 64, 16] warps 2 {
// CHECK:           tile.contract
func.func @apart(%x: memref<?x1024xf32>, %f: memref<64x64xf32>, %g: memref<16x16xf32>, %y: memref<?x1024xf32>) {
  kron.mkm ins(%x : memref<?x1024xf32>) factors(%f, %g : memref<64x64xf32>, memref<16x16xf32>)
    outs(%y : memref<?x1024xf32>) {plan = #kron.gpu_plan<kernel = mma, tile = 1, threads = 128, inner_chain = 0, step_warps = [4, 2]>}
  return
}

// -----

// Verify that rows of 10 elements are copied as they lie, put in order and multiplied, and that
// results go through shared memory.
// CHECK-LABEL: gpu.func @whole_0(
// CHECK:         %[[TILE:.*]] = tile.alloc : !tile.buffer<{{.*}}xf16
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<2 of <1x328xf16>>
// CHECK-NEXT:    %[[WORK:.*]] = tile.alloc : !tile.buffer<{{.*}}xf32
// CHECK:         tile.for
// CHECK:           %[[SLOT:.*]] = tile.wait %[[RING]] pending 1
// CHECK:           tile.spread %[[SLOT]] of %{{.*}} to %[[PART:.*]] axes [0, 1]
// CHECK-NEXT:      tile.release %[[SLOT]]
// CHECK-NEXT:      tile.barrier
// CHECK:           tile.copy %{{.*}} + 2] to %{{.*}} bytes 16 fill axes [0, 1] box [32, 10]
// CHECK:           tile.load %[[TILE]]
// CHECK:           tile.exchange %{{.*}} to %[[WORK]]
// CHECK:           tile.barrier
// CHECK-NEXT:      %[[SUMS:.*]] = tile.resize %[[WORK]]
// CHECK-NEXT:      tile.store %[[SUMS]] to %{{.*}} bytes 2 axes [0, 1]
func.func @whole(%x: memref<1000x10xf16>, %f: memref<10x10xf16>, %y: memref<1000x10xf16>) {
  kron.mkm ins(%x : memref<1000x10xf16>) factors(%f : memref<10x10xf16>)
    outs(%y : memref<1000x10xf16>) {plan = #kron.gpu_plan<kernel = mma, tile = 32, stages = 2, whole_copies = 1, shared_store = 1>}
  return
}

// -----

// Verify that fibres of the innermost factor of all rows of a tile, of which one does not
// fill an instruction, follow each other in blocks of 16, and that a tile has as many rows
// as find room in these.
// SM90-LABEL: gpu.func @joined_0(
// SM90:         tile.alloc : !tile.ring<{{.*}} of <37x3x40xf64, #tile.layout<[132, 44, 1]>>>
// SM90:         %[[SLOT:.*]] = tile.wait
// SM90:         %[[ALL:.*]] = tile.resize %[[SLOT]] : {{.*}} -> <111x40xf64, #tile.layout<[44, 1]>>
// SM90-NEXT:    tile.for_blocks %[[B:.*]] of [111, 40] by [16, 40] warps 4 {
// SM90-NEXT:      %[[V:.*]] = tile.load %[[ALL]][%[[B]]] along [1]
// SM90-NEXT:      %[[S:.*]] = tile.contract %[[V]], %{{.*}} along 2 atom <mma.m16n8k8.f64> block [16, 40] whole
// SM90-NEXT:      tile.barrier of_block
// SM90-NEXT:      tile.exchange %[[S]] to %[[ALL]][%[[B]]] along [1]
func.func @joined(%x: memref<?x120xf64>, %f0: memref<3x3xf64>, %f1: memref<40x40xf64>, %y: memref<?x120xf64>) {
  kron.mkm ins(%x : memref<?x120xf64>) factors(%f0, %f1 : memref<3x3xf64>, memref<40x40xf64>)
    outs(%y : memref<?x120xf64>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that results of odd rows, which lanes would store one by one, replace the tile,
// from which neighbouring threads store neighbours; of a transposed input, whose rows are
// a tile's columns, too.
// SM90-LABEL: gpu.func @odd_0(
// SM90:         %[[SLOT:.*]] = tile.wait
// SM90:         tile.for_blocks
// SM90:           tile.exchange %{{.*}} to %[[SLOT]]
// SM90:         tile.barrier
// SM90-NEXT:    %[[OUT:.*]] = tile.resize %[[SLOT]] : {{.*}} -> <{{.*}}x21xf64
// SM90-NEXT:    tile.store %[[OUT]] to %{{.*}}[%{{.*}}] bytes 8 axes [0, 1]
// SM90-NEXT:    tile.release %[[SLOT]]
func.func @odd(%x: memref<?x6xf64>, %f: memref<6x21xf64>, %y: memref<?x21xf64>) {
  kron.mkm ins(%x : memref<?x6xf64>) factors(%f : memref<6x21xf64>)
    outs(%y : memref<?x21xf64>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// SM90-LABEL: gpu.func @turned_0(
// SM90:         %[[SLOT:.*]] = tile.wait
// SM90:           tile.exchange %{{.*}} to %[[SLOT]]
// SM90:           tile.exchange %{{.*}} to %[[SLOT]]
// SM90:         tile.barrier
// SM90-NEXT:    tile.store %[[SLOT]] to %{{.*}}[%{{.*}}] order [2, 0, 1] bytes 4 axes [0, 1, 2]
func.func @turned(%x: memref<9x4096xf32>, %f: memref<3x3xf32>, %y: memref<4096x9xf32>) {
  kron.mkm ins(T(%x) : memref<9x4096xf32>) factors(%f, %f : memref<3x3xf32>, memref<3x3xf32>)
    outs(%y : memref<4096x9xf32>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that all warps of an SM work on a tile that is its only one, and that few rows
// are shared out among SMs.
// SM90-LABEL: gpu.func @alone_0(
// SM90-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>}
// SM90-LABEL: gpu.func @few_0(
// SM90:         tile.alloc : !tile.ring<{{.*}} of <16x40xf64
func.func @alone(%x: memref<60x2880xf32>, %f0: memref<24x24xf32>, %f1: memref<120x120xf32>, %y: memref<60x2880xf32>) {
  kron.mkm ins(%x : memref<60x2880xf32>) factors(%f0, %f1 : memref<24x24xf32>, memref<120x120xf32>)
    outs(%y : memref<60x2880xf32>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}
func.func @few(%x: memref<1000x40xf64>, %f: memref<40x40xf64>, %y: memref<1000x40xf64>) {
  kron.mkm ins(%x : memref<1000x40xf64>) factors(%f : memref<40x40xf64>)
    outs(%y : memref<1000x40xf64>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that rows right outside of the innermost axis, and what pads that, are columns of the
// other factor, that fibres of all are counted as one, that two buffers take turns, so that no
// block waits for its warps, and that three of them share results.
// SM90-LABEL: gpu.func @inner_rows_0(
// SM90:         %[[RING:.*]] = tile.alloc : !tile.ring<2 of <45x3x12xf64, #tile.layout<[36, 12, 1]>>>
// SM90-NEXT:    %[[WORK:.*]] = tile.alloc : !tile.buffer<45x3x12xf64, #tile.layout<[36, 12, 1]>>
// SM90:         tile.copy %{{.*}} order [1, 0, 2] bytes 8 fill axes [0, 1, 2]
// SM90:         %[[SLOT:.*]] = tile.wait %[[RING]]
// SM90:         %[[FROM:.*]] = tile.resize %[[SLOT]] : {{.*}} -> <135x12xf64, #tile.layout<[12, 1]>>
// SM90-NEXT:    %[[TO:.*]] = tile.resize %[[WORK]] : {{.*}} -> <135x12xf64, #tile.layout<[12, 1]>>
// SM90-NEXT:    tile.for_blocks %{{.*}} of [135, 11] by [16, 11] {
// SM90-NEXT:      tile.load %[[FROM]]
// SM90-NEXT:      tile.contract
// SM90-NEXT:      tile.exchange %{{.*}} to %[[TO]]
// SM90:         tile.for_blocks %{{.*}} of [45, 36] by [45, 8] warps 3 {
// SM90-NEXT:      tile.load %[[WORK]]
// SM90-NEXT:      tile.contract
// SM90-NEXT:      tile.exchange %{{.*}} to %[[SLOT]]
// SM90:         tile.store %{{.*}} order [1, 0, 2] bytes 8 axes [0, 1, 2]
func.func @inner_rows(%x: memref<100x45x11xf64>, %f: memref<45x45xf64>, %g: memref<11x11xf64>, %y: memref<100x45x11xf64>) {
  kron.fused ins(%x, %g, %f : memref<100x45x11xf64>, memref<11x11xf64>, memref<45x45xf64>) outs(%y : memref<100x45x11xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma, tile = 3, threads = 96, ctas_per_sm = 1, stages = 2, inner_rows = 1, alternates = 1, step_warps = [1, 3], shared_store = 1>} {
  ^bb0(%a: tensor<100x45x11xf64>, %b: tensor<11x11xf64>, %c: tensor<45x45xf64>, %out: tensor<100x45x11xf64>):
    %e = tensor.empty() : tensor<100x45x11xf64>
    %0 = kron.mode_product axis(2) ins(%a : tensor<100x45x11xf64>) factor(%b [q, p] : tensor<11x11xf64>) outs(%e : tensor<100x45x11xf64>) -> tensor<100x45x11xf64>
    %1 = kron.mode_product axis(1) ins(%0 : tensor<100x45x11xf64>) factor(%c [q, p] : tensor<45x45xf64>) outs(%out : tensor<100x45x11xf64>) -> tensor<100x45x11xf64>
    kron.yield %1 : tensor<100x45x11xf64>
  }
  return
}
