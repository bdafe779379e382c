// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that arrays of pairs have a kernel that reads like this: each of 8 warps copies
// its part of the next tile of 8 rows, and works on that alone, step by step in place; 16
// fibres per instruction, four of them at once; the last results go to memory by pairs.
// CHECK-LABEL: gpu.func @rows_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<?x8x8x8xf64, [512, 64, 8, 1]>, %[[Y:.*]]: !tile.view<?x8x8x8xf64, [512, 64, 8, 1]>, {{.*}}, %[[COUNT:.*]]: i32)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 3>}
// CHECK-NEXT:      %[[RING:.*]] = tile.alloc : !tile.ring<2 of <8x8x8x8xf64, #tile.layout<[512, 64, 8, 1], swizzle = [4, 2, 6, 3, 7, 2]>>>
// CHECK-NEXT:      %[[FIRST:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:      tile.copy %[[X]][0] to %[[FIRST]] groups 8 bytes 16
// CHECK-NEXT:      %[[P0:.*]] = tile.prepare %{{.*}} : {{.*}} -> <8x8xf64, dmma.m16n8k8 pairs>
// CHECK-NEXT:      %[[P1:.*]] = tile.prepare %{{.*}} : {{.*}} -> <8x8xf64, dmma.m16n8k8 apart>
// CHECK-NEXT:      %[[P2:.*]] = tile.prepare
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[COUNT]] : i32 {
// CHECK-NEXT:        %[[SLOT:.*]] = tile.wait %[[RING]] pending 0
// CHECK-NEXT:        tile.barrier groups 8
// CHECK-NEXT:        %[[FREE:.*]] = tile.acquire %[[RING]]
// CHECK-NEXT:        tile.copy %[[X]][%[[TILE]] + 1] to %[[FREE]] groups 8 bytes 16
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 32 together 4 warps 8 {
// CHECK-NEXT:          %[[A:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [3] {{.*}} -> <4x16x8xf64, dmma.m16n8k8>
// CHECK-NEXT:          %[[C:.*]] = tile.contract %[[A]], %[[P0]] along 2 atom <dmma.m16n8k8> block [64, 8] whole
// CHECK-NEXT:          tile.exchange %[[C]] to %[[SLOT]][%[[BOXES]]] along [3]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier groups 8
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 32 together 4 warps 8 {
// CHECK-NEXT:          %[[A:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [2] {{.*}} -> <4x8x16xf64, dmma.m16n8k8>
// CHECK-NEXT:          %[[C:.*]] = tile.contract %[[A]], %[[P1]] along 1
// CHECK-NEXT:          tile.exchange
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier groups 8
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 32 together 4 warps 8 {
// CHECK-NEXT:          tile.load %[[SLOT]][%[[BOXES]]] along [1]
// CHECK-NEXT:          %[[C:.*]] = tile.contract
// CHECK-NEXT:          tile.store %[[C]][%[[BOXES]]] to %[[Y]][%[[TILE]]] along [1] box [8, 8, 8, 8] bytes 16
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.release %[[SLOT]]
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @rows(%x: memref<?x512xf64>, %f: memref<8x8xf64>, %y: memref<?x512xf64>) {
  kron.mkm ins(%x : memref<?x512xf64>) factors(%f, %f, %f : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>)
    outs(%y : memref<?x512xf64>) {plan = #kron.gpu_plan<kernel = dmma>}
  return
}

// -----

// Verify that warps which share fibres wait for each other: two of a step, all of the
// last one, behind which the next tile has room for its copies; and that three slots
// have two tiles on their way.
// CHECK-LABEL: gpu.func @shared_fibres_0(
// CHECK:         tile.copy %{{.*}}[0] to
// CHECK:         tile.copy %{{.*}}[1] to
// CHECK:         tile.for
// CHECK:           tile.wait %{{.*}} pending 1
// CHECK-NEXT:      tile.barrier groups 16
// CHECK-NEXT:      tile.for_boxes
// CHECK:           tile.barrier groups 16
// CHECK-NEXT:      tile.for_boxes
// CHECK:           tile.barrier groups 8 numbered
// CHECK-NEXT:      tile.for_boxes
// CHECK:           tile.barrier{{$}}
// CHECK-NEXT:      %[[FREE:.*]] = tile.acquire
// CHECK-NEXT:      tile.copy %{{.*}}[%{{.*}} + 2] to %[[FREE]] groups 16 together 4 bytes 16
// CHECK-NEXT:      tile.for_boxes %{{.*}} of 32 together 2 warps 16 {
func.func @shared_fibres(%x: memref<?x4096xf64>, %f: memref<8x8xf64>, %y: memref<?x4096xf64>) {
  kron.mkm ins(%x : memref<?x4096xf64>) factors(%f, %f, %f, %f : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>)
    outs(%y : memref<?x4096xf64>)
    {plan = #kron.gpu_plan<kernel = dmma, extents = [1, 8, 8, 8, 8], threads = 512, ctas_per_sm = 1, ring_slots = 3, alignment = 16>}
  return
}

// -----

// Verify that two CTAs share a row of 256 KB: the warps of both take the boxes of the
// last step, whose halves lie in both, arrive once they have read, and wait in front of
// the copies to the first slot, for which there was no room before.
// CHECK-LABEL: gpu.func @shared_0(
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 512, ctas_per_sm = 1, cluster = 2>}
// CHECK-NEXT:      tile.alloc : !tile.ring<7 of <1x4x8x8x8x8xf64, #tile.layout<{{.*}}>> along 1>
// CHECK:           tile.copy %{{.*}}[0] to %{{.*}} groups 16 together 16 bytes 16 split
// CHECK-COUNT-4:   tile.prepare
// CHECK-NEXT:      tile.prepare %{{.*}} -> <8x8xf64, dmma.m16n8k8 halves>
// CHECK:           tile.for
// CHECK:             tile.copy %{{.*}}[%{{.*}} + 1] to %[[FREE:.*]] part [0, 3] groups 16 together 16 bytes 16 split
// CHECK:             tile.barrier cluster{{$}}
// CHECK-NEXT:        tile.for_boxes %{{.*}} of 256 together 4 warps 32 {
// CHECK-NEXT:          tile.load %[[SLOT:.*]][%{{.*}}] along [1] halves
// CHECK-NEXT:          tile.barrier cluster arrive
// CHECK-NEXT:          tile.contract
// CHECK-NEXT:          tile.store %{{.*}} along [1] box [1, 8, 8, 8, 8, 8] bytes 16
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.release %[[SLOT]]
// CHECK-NEXT:        tile.barrier cluster wait
// CHECK-NEXT:        tile.copy %{{.*}}[%{{.*}} + 1] to %[[FREE]] part [3, 4] groups 16 together 16 bytes 16 split
func.func @shared(%x: memref<?x32768xf64>, %f: memref<8x8xf64>, %y: memref<?x32768xf64>) {
  kron.mkm ins(%x : memref<?x32768xf64>) factors(%f, %f, %f, %f, %f : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>)
    outs(%y : memref<?x32768xf64>) {plan = #kron.gpu_plan<kernel = dmma>}
  return
}
