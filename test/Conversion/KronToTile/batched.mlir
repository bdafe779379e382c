// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_80" \
// RUN:   --kron-tile="chip=sm_80" --split-input-file | FileCheck %s

// Verify that packed arrays and others have a kernel each, which read like this: a tile
// ahead, planes of the two innermost axes in registers, fibres of the third one, whose
// results go straight to packed arrays and through shared memory to others.
// CHECK-LABEL: func.func @cubes
// CHECK:         scf.if
// CHECK:           %[[X:.*]] = tile.view %{{.*}} sizes(%{{.*}}) : !llvm.ptr -> <?x8x8x8xf32>
// CHECK:           %[[Y:.*]] = tile.view %{{.*}} sizes(%{{.*}}) : !llvm.ptr -> <?x8x8x8xf32>
// CHECK:           %[[F:.*]] = tile.view %{{.*}} : !llvm.ptr -> <8x8xf32, [1, 8]>
// CHECK:           tile.launch @kron_gpu::@cubes_0 tiles(%[[TILES:.*]]) args(%[[X]], %[[Y]], %[[F]], %{{.*}}, %{{.*}}, %[[TILES]] :
// CHECK:         } else {
// CHECK:           tile.view %{{.*}} sizes(%{{.*}}) : !llvm.ptr -> <?x8x8x8xf32, [512, 64, 8, 1]>
// CHECK:           tile.launch @kron_gpu::@cubes_1
// CHECK-LABEL:   gpu.func @cubes_0(
// CHECK-SAME:      %[[VX:.*]]: !tile.view<?x8x8x8xf32>, %[[VY:.*]]: !tile.view<?x8x8x8xf32>, %{{.*}}: !tile.view<8x8xf32, [1, 8]>, %{{.*}}: !tile.view<8x8xf32, [1, 8]>, %{{.*}}: !tile.view<8x8xf32, [1, 8]>, %[[COUNT:.*]]: i64)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>}
// CHECK-NEXT:      %[[RING:.*]] = tile.alloc : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>>
// CHECK-NEXT:      %[[FIRST:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:      tile.copy %[[VX]][0] to %[[FIRST]] rows 4 bytes 16
// CHECK-NEXT:      %[[P0:.*]] = tile.prepare
// CHECK-NEXT:      %[[P1:.*]] = tile.prepare
// CHECK-NEXT:      %[[P2:.*]] = tile.prepare
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[COUNT]] {
// CHECK-NEXT:        %[[FREE:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:        tile.copy %[[VX]][%[[TILE]] + 1] to %[[FREE]] rows 4 bytes 16
// CHECK-NEXT:        %[[SLOT:.*]] = tile.wait %[[RING]] pending 1
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 32 {
// CHECK-NEXT:          %[[PLANE:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [2, 3] {{.*}} -> <1x8x8xf32>
// CHECK-NEXT:          %[[A:.*]] = tile.contract %[[PLANE]], %[[P0]] along 2 atom <fma> block [4, 8]
// CHECK-NEXT:          %[[B:.*]] = tile.contract %[[A]], %[[P1]] along 1 atom <fma> block [4, 8]
// CHECK-NEXT:          tile.exchange %[[B]] to %[[SLOT]][%[[BOXES]]] along [2, 3]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 64 {
// CHECK-NEXT:          %[[FIBRES:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [1] {{.*}} -> <1x8x4xf32>
// CHECK-NEXT:          %[[C:.*]] = tile.contract %[[FIBRES]], %[[P2]] along 1 atom <fma> block [4, 4]
// CHECK-NEXT:          tile.store %[[C]][%[[BOXES]]] to %[[VY]][%[[TILE]]] along [1] rows 4 bytes 16
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.release %[[SLOT]]
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
// CHECK-LABEL:   gpu.func @cubes_1(
// CHECK:           tile.copy %{{.*}}[0] to %{{.*}} rows 4 bytes 4
// CHECK:           tile.for_boxes
// CHECK:           tile.for_boxes
// CHECK:             tile.exchange
// CHECK:           tile.barrier
// CHECK-NEXT:      tile.store %{{.*}} to %{{.*}}[%{{.*}}] rows 4 bytes 4 : !tile.buffer<
func.func @cubes(%x: memref<?x8x8x8xf32>, %f: memref<8x8xf32>, %y: memref<?x8x8x8xf32>) {
  kron.batched ins(%x : memref<?x8x8x8xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x8x8x8xf32>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

// Verify that fields of a plan are attributes: three pipeline stages, the second copy in
// front of the loop for the turn after the first, room for what threads compute in
// excess, the fibres that a thread takes together, and turns that are written out.
// CHECK-LABEL: gpu.func @fibres_0(
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 96, ctas_per_sm = 1>
// CHECK:         tile.alloc : !tile.ring<3 of <5x9x9x9xf64>>
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} rows 4 bytes 16
// CHECK:         tile.copy %{{.*}}[1] to %{{.*}} rows 4 bytes 16
// CHECK:         tile.copy %{{.*}}[%{{.*}} + 2] to
// CHECK:         tile.wait %{{.*}} pending 2
// CHECK:         tile.for_boxes %{{.*}} of 324 together 2 unrolled 1 excess {
// CHECK-NEXT:      tile.load %{{.*}} along [3] {{.*}} -> <2x9xf64>
// CHECK-NEXT:      tile.contract %{{.*}} along 1 atom <fma> block [2, 2]
// CHECK:         tile.for_boxes %{{.*}} of 324 together 2 unrolled 1 excess {
// CHECK-NEXT:      tile.load %{{.*}} along [2] {{.*}} -> <2x9x1xf64>
// CHECK:         tile.store %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}] along [1] rows 4 bytes 8
func.func @fibres(%x: memref<?x9x9x9xf64>, %f: memref<9x9xf64>, %y: memref<?x9x9x9xf64>) {
  kron.batched ins(%x : memref<?x9x9x9xf64>) factors(%f, %f, %f : memref<9x9xf64>, memref<9x9xf64>, memref<9x9xf64>)
    outs(%y : memref<?x9x9x9xf64>)
    {plan = #kron.gpu_plan<kernel = batched, tile = 4, threads = 96, ctas_per_sm = 1, stages = 3, fibres = 2, unrolled = 1>}
  return
}

// -----

// Verify that steps which change sizes go to buffers of their own, two in turns, and
// that what lies in one of them is read before it is written anew.
// CHECK-LABEL: gpu.func @sizes_0(
// CHECK:         %[[A:.*]] = tile.alloc : !tile.buffer<3x2x10x12x11xf32>
// CHECK:         %[[B:.*]] = tile.alloc : !tile.buffer<3x2x10x12x9xf32>
// CHECK:         %[[C:.*]] = tile.alloc reuses %[[A]] : {{.*}} as : !tile.buffer<3x2x9x12x9xf32>
// CHECK:         %[[D:.*]] = tile.alloc reuses %[[B]] : {{.*}} as : !tile.buffer<3x2x9x11x9xf32>
// CHECK:         tile.load %{{.*}} along [1]
// CHECK:         tile.exchange %{{.*}} to %[[A]][
// CHECK:         tile.load %[[A]][{{.*}}] along [4] {{.*}} -> <8x11xf32>
// CHECK:         tile.exchange %{{.*}} to %[[B]][
// CHECK:         tile.load %[[B]][{{.*}}] along [2] {{.*}} -> <2x10x4xf32>
// CHECK:         tile.exchange %{{.*}} to %[[C]][
// CHECK:         tile.load %[[C]][{{.*}}] along [3] {{.*}} -> <8x12x1xf32>
// CHECK:         tile.exchange %{{.*}} to %[[D]][
// CHECK:         tile.store %[[D]] to %{{.*}} rows 2 bytes 16
func.func @sizes(%x: memref<?x3x10x12x11xf32>, %f0: memref<2x3xf32>, %f1: memref<9x10xf32>, %f2: memref<11x12xf32>,
                 %f3: memref<9x11xf32>, %y: memref<?x2x9x11x9xf32>) {
  kron.batched ins(%x : memref<?x3x10x12x11xf32>)
    factors(%f0, %f1, %f2, %f3 : memref<2x3xf32>, memref<9x10xf32>, memref<11x12xf32>, memref<9x11xf32>)
    outs(%y : memref<?x2x9x11x9xf32>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

// Verify that scalars are arguments, Z another view, and that rows are counted by two
// axes where they need not follow each other.
// CHECK-LABEL: gpu.func @scaled_0(
// CHECK-SAME:    %[[X:.*]]: !tile.view<?x4x4xf32>, %[[Y:.*]]: !tile.view<?x4x4xf32>, %[[ALPHA:.*]]: f32, %[[BETA:.*]]: f32, %[[Z:.*]]: !tile.view<?x4x4xf32>, %{{.*}}: !tile.view<4x4xf32, [1, 4]>, %{{.*}}: !tile.view<4x4xf32, [1, 4]>, %{{.*}}: i64)
// CHECK:         tile.store %{{.*}} to %[[Y]][%{{.*}}] alpha %[[ALPHA]] : f32 beta %[[BETA]] : f32 addend %[[Z]] : !tile.view<?x4x4xf32> rows
// CHECK-LABEL: gpu.func @scaled_1(
// CHECK-SAME:    %{{.*}}: !tile.view<?x4x4xf32, [16, 4, 1]>
func.func @scaled(%x: memref<?x4x4xf32>, %f: memref<4x4xf32>, %a: f32, %b: f32, %z: memref<?x4x4xf32>, %y: memref<?x4x4xf32>) {
  kron.batched ins(%x : memref<?x4x4xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>)
    outs(%y : memref<?x4x4xf32>) alpha(%a : f32) beta(%b : f32) addend(%z : memref<?x4x4xf32>)
    {plan = #kron.gpu_plan<kernel = batched>}
  return
}
