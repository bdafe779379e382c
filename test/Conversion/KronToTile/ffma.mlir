// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that arrays of aligned rows have a kernel that reads like this, and others one
// of another kind: the ring has room for two tiles of 8 rows; boxes of the two innermost
// axes are replaced in place, four results at a time as they are known; the third axis
// takes all results to memory, since the last tile may have fewer rows.
// CHECK-LABEL: func.func @cubes
// CHECK:         scf.if
// CHECK:           %[[X:.*]] = tile.view %{{.*}} sizes(%{{.*}}) : !llvm.ptr -> <?x8x8x8xf32, [512, 64, 8, 1]>
// CHECK:           %[[Y:.*]] = tile.view %{{.*}} sizes(%{{.*}}) : !llvm.ptr -> <?x8x8x8xf32, [512, 64, 8, 1]>
// CHECK:           tile.launch @kron_gpu::@cubes_0 tiles(%[[TILES:.*]]) args(%[[X]], %[[Y]], %{{.*}}, %{{.*}}, %{{.*}}, %[[TILES]] :
// CHECK:         } else {
// CHECK:           tile.launch @kron_gpu::@cubes_1
// CHECK-LABEL:   gpu.func @cubes_0(
// CHECK-SAME:      %[[VX:.*]]: !tile.view<?x8x8x8xf32, [512, 64, 8, 1]>, %[[VY:.*]]: !tile.view<?x8x8x8xf32, [512, 64, 8, 1]>, %{{.*}}: !tile.view<8x8xf32, [8, 1]>, %{{.*}}: !tile.view<8x8xf32, [8, 1]>, %{{.*}}: !tile.view<8x8xf32, [8, 1]>, %[[COUNT:.*]]: i64)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 4>}
// CHECK-NEXT:      %[[RING:.*]] = tile.alloc : !tile.ring<16 of <8x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>> along 0>
// CHECK-NEXT:      %[[FIRST:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:      tile.copy %[[VX]][0] to %[[FIRST]] bytes 16
// CHECK-NEXT:      %[[P0:.*]] = tile.prepare
// CHECK-NEXT:      %[[P1:.*]] = tile.prepare
// CHECK-NEXT:      %[[P2:.*]] = tile.prepare
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[COUNT]] {
// CHECK-NEXT:        %[[SLOT:.*]] = tile.wait %[[RING]] pending 0
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        %[[FREE:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:        tile.copy %[[VX]][%[[TILE]] + 1] to %[[FREE]] bytes 16
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 64 repeat {
// CHECK-NEXT:          %[[PLANE:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [2, 3] {{.*}} -> <1x8x8xf32>
// CHECK-NEXT:          %[[A:.*]] = tile.contract %[[PLANE]], %[[P0]] along 2 atom <fma> block [8, 4] :
// CHECK-NEXT:          %[[B:.*]] = tile.contract %[[A]], %[[P1]] along 1 atom <fma> block [8, 4] :
// CHECK-NEXT:          tile.exchange %[[B]] to %[[SLOT]][%[[BOXES]]] along [2, 3]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 512 together 8 repeat {
// CHECK-NEXT:          %[[FIBRES:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [1] {{.*}} -> <8x8xf32>
// CHECK-NEXT:          tile.release %[[SLOT]]
// CHECK-NEXT:          %[[C:.*]] = tile.contract %[[FIBRES]], %[[P2]] along 1 atom <fma> block [8, 4] whole :
// CHECK-NEXT:          tile.store %[[C]][%[[BOXES]]] to %[[VY]][%[[TILE]]] along [1] box [8, 8, 8, 8] bytes 4
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @cubes(%x: memref<?x512xf32>, %f: memref<8x8xf32>, %y: memref<?x512xf32>) {
  kron.mkm ins(%x : memref<?x512xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x512xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that fields of a plan are attributes: 3 slots for 2 rows leave room for one row
// of the next tile from the start, and for the other one once all threads have read; no
// results are streamed, and copies go one by one.
// CHECK-LABEL: gpu.func @part_0(
// CHECK:         tile.alloc : !tile.ring<3 of <2x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>> along 0>
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} together 1 bytes 4
// CHECK:         %[[FREE:.*]] = tile.acquire
// CHECK-NEXT:    tile.copy %{{.*}}[%{{.*}} + 1] to %[[FREE]] part [0, 1] together 1 bytes 4
// CHECK:         tile.contract %{{.*}} along 1 atom <fma> block [4, 8] whole
// CHECK:         tile.for_boxes %{{.*}} of 128 together 2 repeat {
// CHECK-NEXT:      tile.load
// CHECK-NEXT:      tile.release
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.copy %{{.*}}[%{{.*}} + 1] to %[[FREE]] part [1, 2] together 1 bytes 4
func.func @part(%x: memref<?x512xf32>, %f: memref<8x8xf32>, %y: memref<?x512xf32>) {
  kron.mkm ins(%x : memref<?x512xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x512xf32>)
    {plan = #kron.gpu_plan<kernel = ffma, extents = [2, 8, 8, 8], threads = 64, ctas_per_sm = 1, ring_slots = 3, streamed_results = 0, copies = 1, alignment = 0>}
  return
}

// -----

// Verify that warps which keep to a position of the outermost axis wait for each other
// alone until a group takes that axis, and that all threads meet in front of it.
// CHECK-LABEL: gpu.func @groups_0(
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} groups 8 bytes 16
// CHECK:         tile.wait
// CHECK-NEXT:    tile.barrier groups 8
// CHECK:         tile.copy %{{.*}} groups 8 bytes 16
// CHECK:         tile.for_boxes
// CHECK:         tile.barrier groups 8
// CHECK-NEXT:    tile.for_boxes
// CHECK:         tile.barrier{{$}}
// CHECK-NEXT:    tile.for_boxes
func.func @groups(%x: memref<1024x32768xf32>, %f: memref<8x8xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>)
    factors(%f, %f, %f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<1024x32768xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that a group that leaves the innermost axis alone needs no shared memory.
// CHECK-LABEL: gpu.func @direct_0(
// CHECK-NOT:     tile.alloc
// CHECK:         tile.for %[[TILE:.*]] to
// CHECK-NEXT:      tile.for_boxes %[[BOXES:.*]] of {{.*}} repeat {
// CHECK-NEXT:        tile.load %{{.*}}[%[[BOXES]]] along [0, 1] tile %[[TILE]] box [4, 4, [[COLUMNS:.*]]] : !tile.view<4x4x?xf32, [?, ?, 1]> -> <4x4x4xf32>
// CHECK:             tile.store %{{.*}}[%[[BOXES]]] to %{{.*}}[%[[TILE]]] along [0, 1] alpha %{{.*}} : f32 beta %{{.*}} : f32 addend %{{.*}} : !tile.view<4x4x?xf32, [?, ?, 1]> box [4, 4, [[COLUMNS]]] bytes 4
func.func @direct(%x: memref<16x?xf32>, %f: memref<4x4xf32>, %a: f32, %b: f32, %z: memref<16x?xf32>, %y: memref<16x?xf32>) {
  kron.kmm ins(%x : memref<16x?xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>)
    outs(%y : memref<16x?xf32>) alpha(%a : f32) beta(%b : f32) addend(%z : memref<16x?xf32>)
    {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that a tile has room for the larger of K and N along each axis, of which loads
// and exchanges name those that are there, and that results of the innermost axis go
// through the ring.
// CHECK-LABEL: gpu.func @sizes_0(
// CHECK:         tile.alloc : !tile.ring<{{.*}} of <[[ROWS:[0-9]+]]x6x6xf32
// CHECK:         %[[FREE:.*]] = tile.acquire
// CHECK-NEXT:    %[[IN:.*]] = tile.resize %[[FREE]] : {{.*}} -> <[[ROWS]]x5x6xf32
// CHECK-NEXT:    tile.copy %{{.*}}[0] to %[[IN]]
// CHECK:         %[[SLOT:.*]] = tile.wait
// CHECK:         tile.load %{{.*}} along [1, 2] {{.*}} -> <1x5x6xf32>
// CHECK:         tile.exchange %{{.*}} along [1, 2] : <1x6x5xf32>
// CHECK:         tile.barrier
// CHECK-NEXT:    %[[OUT:.*]] = tile.resize %[[SLOT]] : {{.*}} -> <[[ROWS]]x6x5xf32
// CHECK-NEXT:    tile.store %[[OUT]] to %{{.*}}[%{{.*}}] bytes 4
// CHECK-NEXT:    tile.release %[[SLOT]]
func.func @sizes(%x: memref<?x30xf32>, %f0: memref<5x6xf32>, %f1: memref<6x5xf32>, %y: memref<?x30xf32>) {
  kron.mkm ins(%x : memref<?x30xf32>) factors(%f0, %f1 : memref<5x6xf32>, memref<6x5xf32>)
    outs(%y : memref<?x30xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that threads go along the axis that lies together in memory: rows of transposed
// arrays, whose strides only a launch knows.
// CHECK-LABEL: gpu.func @transposed_0(
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} order [1, 2, 0] bytes 4
func.func @transposed(%x: memref<64x?xf32>, %f: memref<8x8xf32>, %y: memref<?x64xf32>) {
  kron.mkm ins(T(%x) : memref<64x?xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x64xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that a tile has a segment of rows that are neighbours in memory, and that these
// lie in different banks.
// CHECK-LABEL: gpu.func @turned_0(
// CHECK:         tile.alloc : !tile.ring<{{.*}} of <32x4x4xf32, #tile.layout<[21, 4, 1]>>
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} order [1, 2, 0] bytes 4
func.func @turned(%x: memref<16x4096xf32>, %f: memref<4x4xf32>, %y: memref<4096x16xf32>) {
  kron.mkm ins(T(%x) : memref<16x4096xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>)
    outs(%y : memref<4096x16xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}
