// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that a chain of two factors reads like this: two buffers of sums that take turns,
// factors that are padded to the parts of their results, and results of the last one from
// registers.
// CHECK-LABEL: gpu.func @direct_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<?x12x9xcomplex<f32>, [108, 9, 1]>, %[[Y:.*]]: !tile.view<?x10x7xcomplex<f32>, [70, 7, 1]>,
// CHECK-SAME:      %[[F1:.*]]: !tile.view<9x7xcomplex<f32>, [7, 1]>, %[[F0:.*]]: !tile.view<12x10xcomplex<f32>, [10, 1]>, %[[C:.*]]: complex<f32>, %[[N:.*]]: i64)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 96, ctas_per_sm = 2>}
// CHECK-NEXT:      %[[A:.*]] = tile.alloc : !tile.buffer<4x12x9xcomplex<f32>>
// CHECK-NEXT:      %[[B:.*]] = tile.alloc : !tile.buffer<4x12x7xcomplex<f32>>
// CHECK-NEXT:      %[[P1:.*]] = tile.prepare %[[F1]] : <9x7xcomplex<f32>, [7, 1]> -> <9x8xcomplex<f32>>
// CHECK-NEXT:      %[[P0:.*]] = tile.prepare %[[F0]] : <12x10xcomplex<f32>, [10, 1]> -> <12x12xcomplex<f32>>
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for %[[T:.*]] to %[[N]] {
// CHECK-NEXT:        tile.copy %[[X]][%[[T]] + 0] to %[[A]] bytes 8
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_boxes %[[U:.*]] of 48 together 4 parts 2 {
// CHECK-NEXT:          %[[S:.*]] = tile.multiply %[[A]][%[[U]]], %[[P1]] along 2 : {{.*}} -> <4x4xcomplex<f32>>
// CHECK-NEXT:          tile.exchange %[[S]] to %[[B]][%[[U]]] along [2]
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_boxes %[[W:.*]] of 28 together 2 parts 3 {
// CHECK-NEXT:          %[[R:.*]] = tile.multiply %[[B]][%[[W]]], %[[P0]] along 1 : {{.*}} -> <2x4xcomplex<f32>>
// CHECK-NEXT:          tile.store %[[R]][%[[W]]] to %[[Y]][%[[T]]] along [1] alpha %[[C]] : complex<f32> box [4, 10, 7] bytes 8
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @direct(%x: memref<?x108xcomplex<f32>>, %a: memref<12x10xcomplex<f32>>, %b: memref<9x7xcomplex<f32>>, %y: memref<?x70xcomplex<f32>>, %c: complex<f32>) {
  kron.mkm ins(%x : memref<?x108xcomplex<f32>>) factors(%a, %b : memref<12x10xcomplex<f32>>, memref<9x7xcomplex<f32>>)
    outs(%y : memref<?x70xcomplex<f32>>) alpha(%c : complex<f32>)
    {plan = #kron.gpu_plan<kernel = simt, threads = 96, launches = [{factors = 2, extents = [4, 12, 9], fibres = [4, 2], results = [4, 4], ctas_per_sm = 2, direct_store = 1}]>}
  return
}

// -----

// Verify that factors for which a plan has no room in shared memory stay where they are: of
// 9 x 8 numbers of 8 bytes, the first one fits, of 12 x 12 the second one does not.
// CHECK-LABEL: gpu.func @room_0(
// CHECK:           tile.prepare %{{.*}} : <9x7xcomplex<f32>, [7, 1]> -> <9x8xcomplex<f32>>
// CHECK-NOT:       tile.prepare
// CHECK:           tile.multiply {{.*}} along 2 : {{.*}}, !tile.operand<9x8xcomplex<f32>>
// CHECK:           tile.multiply {{.*}} along 1 : {{.*}}, !tile.view<12x10xcomplex<f32>, [10, 1]>
func.func @room(%x: memref<?x108xcomplex<f32>>, %a: memref<12x10xcomplex<f32>>, %b: memref<9x7xcomplex<f32>>, %y: memref<?x70xcomplex<f32>>) {
  kron.mkm ins(%x : memref<?x108xcomplex<f32>>) factors(%a, %b : memref<12x10xcomplex<f32>>, memref<9x7xcomplex<f32>>)
    outs(%y : memref<?x70xcomplex<f32>>)
    {plan = #kron.gpu_plan<kernel = simt, threads = 96, launches = [{factors = 2, extents = [4, 12, 9], results = [4, 4], ctas_per_sm = 2, factor_bytes = 576}]>}
  return
}

// -----

// Verify that an array that is read down its columns is filled in their order, that a
// factor which does not fit shared memory stays where it is, and that f16 is f32 between.
// CHECK-LABEL: gpu.func @columns_0(
// CHECK-NOT:       tile.prepare
// CHECK:           tile.copy %{{.*}} to %[[A:.*]] order [1, 0] bytes 2 : <300x?xf16, [1, 300]>, <300x16xf32, #tile.layout<[17, 1]>>
// CHECK:           tile.multiply %[[A]][%{{.*}}], %{{.*}} along 0 : {{.*}}, !tile.view<300x300xf16, [300, 1]> -> <1x6xf32>
// CHECK:           tile.store %{{.*}} order [1, 0] together 4 bytes 2 : !tile.buffer<300x16xf32, #tile.layout<[17, 1]>>, <300x?xf16, [1, 300]>
func.func @columns(%x: memref<300x?xf16, strided<[1, 300]>>, %f: memref<300x300xf16>, %y: memref<300x?xf16, strided<[1, 300]>>) {
  kron.fused ins(%x, %f : memref<300x?xf16, strided<[1, 300]>>, memref<300x300xf16>) outs(%y : memref<300x?xf16, strided<[1, 300]>>)
    attributes {plan = #kron.gpu_plan<kernel = simt, threads = 256, launches = [{factors = 1, extents = [300, 16], ctas_per_sm = 2}]>} {
  ^bb0(%tx: tensor<300x?xf16>, %tf: tensor<300x300xf16>, %out: tensor<300x?xf16>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<300x?xf16>) factor(%tf [p, q] : tensor<300x300xf16>)
         outs(%out : tensor<300x?xf16>) -> tensor<300x?xf16>
    kron.yield %1 : tensor<300x?xf16>
  }
  return
}

// -----

// Verify that a launch that loads data directly has no buffers and no barriers: views of
// data and factor with the axes of the results and K, and tiles that cut the results.
// CHECK-LABEL: func.func @views(
// CHECK:         %[[TILES:.*]] = arith.constant 40 : i64
// CHECK:         tile.launch @kron_gpu::@views_0 tiles(
// CHECK-LABEL: gpu.func @views_0(
// CHECK-SAME:      %[[X:.*]]: !tile.view<38x3x7x5x12xf16, [180, 60, 0, 1, 5]>, %[[Y:.*]]: !tile.view<38x3x7x5xf16, [105, 35, 5, 1]>,
// CHECK-SAME:      %[[W:.*]]: !tile.view<38x3x7x5x12xf16, [0, 420, 60, 1, 5]>, %[[N:.*]]: i64)
// CHECK-NEXT:      tile.for %[[T:.*]] to %[[N]] {
// CHECK-NEXT:        tile.for_boxes %[[U:.*]] of 40 together 2 parts 2 across 0 lanes 4 {
// CHECK-NEXT:          %[[S:.*]] = tile.multiply_views %[[X]][%[[U]]], %[[W]] tile %[[T]] along 2 box [4, 2, 4, 5] unrolled 16 : {{.*}} -> <2x2xf32>
// CHECK-NEXT:          tile.store %[[S]][%[[U]]] to %[[Y]][%[[T]]] along [2] box [4, 2, 4, 5] bytes 2
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @views(%x: memref<38x180xf16>, %w: memref<3x7x12x5xf16>, %y: memref<38x105xf16>) {
  kron.ksmm ins(%x : memref<38x180xf16>) weights(%w : memref<3x7x12x5xf16>) outs(%y : memref<38x105xf16>)
    {plan = #kron.gpu_plan<kernel = simt, threads = 64, launches = [{factors = 1, extents = [4, 2, 4, 5], fibres = [2], results = [2], ctas_per_sm = 2, direct_store = 1, direct_load = 1, k_lanes = 4}]>}
  return
}

// -----

// Verify that results of neighbouring columns are stored together: those of a part are as
// many apart as there are results that lie differently, and the columns of a tile are
// multiples of the neighbours, whatever the array has.
// CHECK-LABEL: gpu.func @vectors_0(
// CHECK:             tile.for_boxes %[[U:.*]] of 40 together 4 parts 16 across 2 vectors 16 {
// CHECK-NEXT:          %[[S:.*]] = tile.multiply_views %{{.*}}[%[[U]]], %{{.*}} along 1 box [1, 21, 40] unrolled 4 : {{.*}} -> <4x2xf32>
// CHECK-NEXT:          tile.store %[[S]][%[[U]]] to %{{.*}} along [1] box [1, 21, 40] bytes 2
func.func @vectors(%x: memref<3x4x37xf16>, %f: memref<4x21xf16>, %y: memref<3x21x37xf16>) {
  kron.fused ins(%x, %f : memref<3x4x37xf16>, memref<4x21xf16>) outs(%y : memref<3x21x37xf16>)
    attributes {plan = #kron.gpu_plan<kernel = simt, threads = 64, launches = [{factors = 1, extents = [1, 21, 40], fibres = [4], results = [2], ctas_per_sm = 2, direct_store = 1, direct_load = 1, vector_store = 1}]>} {
  ^bb0(%tx: tensor<3x4x37xf16>, %tf: tensor<4x21xf16>, %out: tensor<3x21x37xf16>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x4x37xf16>) factor(%tf [p, q] : tensor<4x21xf16>)
         outs(%out : tensor<3x21x37xf16>) -> tensor<3x21x37xf16>
    kron.yield %1 : tensor<3x21x37xf16>
  }
  return
}
