// RUN: kron-opt %s --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that a gradient whose weights depend on values of pairs reads like this: values, the derivative of the epilogue, the
// gradient of the matrix, and derivatives of the function, squares of which have their factor of two in the weights. Sums of
// parts are added up behind the kernel.
// CHECK-LABEL: func.func @gaussian(
// CHECK:         %[[W:.*]] = memref.alloc(%{{.*}}) : memref<?x?x?xf32>
// CHECK:         tile.launch @kron_gpu::@gaussian_0
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[W]] :
// CHECK:         memref.dealloc %[[W]]
// CHECK-LABEL: gpu.func @gaussian_0(
// CHECK-SAME:      %[[A:.*]]: !tile.view<?x?xf32, [?, 1]>, %[[B:.*]]: !tile.view<?x?xf32, [?, 1]>, %[[X:.*]]: !tile.view<?x?xf32, [?, 1]>, %[[V:.*]]: !tile.view<?x?xf32, [?, 1]>, %[[G:.*]]: f32, %[[BLOCKS:.*]]: i64, %[[Y:.*]]: !tile.view<?x?x?xf32, [?, ?, 1]>, %[[N:.*]]: i64)
// CHECK-DAG:       %[[L:.*]] = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
// CHECK-DAG:       %[[R:.*]] = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
// CHECK-DAG:       %[[C:.*]] = tile.alloc : !tile.ring<1 of <32x8xf32, #tile.layout<[8, 1]>>>
// CHECK-DAG:       %[[WEIGHTS:.*]] = tile.alloc : !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
// CHECK:           tile.for %[[T:.*]] to %[[N]] {
// CHECK-NEXT:        %[[U:.*]] = tile.place %[[T]] of %[[Y]] by [1, 16, 8]
// CHECK-NEXT:        %[[S:.*]] = tile.for_gradients %[[BLOCKS]] by 32 of %[[B]][%[[U]]] : {{.*}} -> <1x1x2xf32> {
// CHECK-NEXT:        ^bb0(%[[M:.*]]: index, %[[O:.*]]: !tile.fragment<1x1x2xf32>):
// CHECK-NEXT:          %[[P:.*]] = tile.pairs %[[A]], %[[B]][%[[U]], %[[M]]] through %[[L]], %[[R]] lanes 8 from 0.000000e+00 zero_tail params(%[[G]] : f32) :
// CHECK:               %[[D:.*]] = tile.map %[[P]] params(%[[G]] : f32)
// CHECK:                 math.exp
// CHECK:               %[[K:.*]] = tile.weigh_pairs %[[D]] : !tile.fragment<1x2x4xf32>[%[[U]], %[[M]]] factors(%[[X]], %[[V]] : {{.*}}) lanes 8 -> <1x2x4xf32>
// CHECK-NEXT:          %[[NEXT:.*]] = tile.add_derivatives %[[K]] to %[[O]] of %[[A]], %[[B]][%[[U]], %[[M]]] through %[[C]], %[[WEIGHTS]] lanes 4 weight_lanes 8 params(%[[G]] : f32) :
// CHECK-NEXT:          ^bb0(%[[E:.*]]: f32, %[[F:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:            %[[Q:.*]] = arith.subf %[[E]], %[[F]] : f32
// CHECK-NEXT:            tile.yield %[[Q]] : f32
// CHECK:               tile.yield %[[NEXT]]
// CHECK:             tile.store_pairs %[[S]] to %[[Y]][%[[U]]] lanes 4 : <1x1x2xf32>,
func.func @gaussian(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %u: memref<?x?xf32>, %v: memref<?x?xf32>, %g: f32, %y: memref<?x?xf32>) {
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) factors(%u, %v : memref<?x?xf32>, memref<?x?xf32>)
    params(%g : f32) outs(%y : memref<?x?xf32>)
    epilogue {
    ^bb0(%s: f32, %p: f32):
      %t = arith.mulf %s, %p : f32
      %n = arith.negf %t : f32
      %r = math.exp %n : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 16, thread_rows = 2, thread_columns = 4, column_threads = 8, thread_positions = 2, k_threads = 4>}
  return
}

// -----

// Verify a gradient by the right operand, whose rows are the kernel's: without an epilogue there are no pairs. A result that
// lacks the batch, of f16 and the other way round in memory, is added up in f32.
// CHECK-LABEL: func.func @exchanged(
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "reduction", "parallel", "parallel"]} ins(%{{.*}} : memref<?x3x?x5xf32>) outs(%[[T:.*]] : memref<5x?xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[T]] : memref<5x?xf32>) outs(%{{.*}} : memref<5x?xf16>)
// CHECK:           arith.truncf
// CHECK-LABEL: gpu.func @exchanged_0(
// CHECK-SAME:      %[[B:.*]]: !tile.view<?x5xf16, [1, ?]>, %[[A:.*]]: !tile.view<?x5xf16, [5, 1]>, %[[H:.*]]: !tile.view<3x?x?xf16, [?, 1, ?]>,
// CHECK-NOT:       tile.pairs
// CHECK:           %[[W:.*]] = tile.weigh_pairs[%{{.*}}, %{{.*}}] grad(%[[H]] : {{.*}}) lanes 8
// CHECK-NEXT:      tile.add_derivatives %[[W]] to %{{.*}} of %[[B]], %[[A]][
// CHECK-NEXT:      ^bb0(%[[E:.*]]: f32, %[[F:.*]]: f32):
// CHECK:             arith.subf %[[F]], %[[E]] : f32
func.func @exchanged(%a: memref<?x5xf16>, %b: memref<5x?xf16>, %h: memref<3x?x?xf16>, %y: memref<5x?xf16>) {
  kron.pairwise_grad by(rhs) abs_diff ins(%a, T(%b) : memref<?x5xf16>, memref<5x?xf16>) grad(%h : memref<3x?x?xf16>) outs(%y : memref<5x?xf16>)
    {plan = #kron.gpu_plan<kernel = pairwise_grad, threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, column_threads = 8, thread_positions = 2, k_threads = 4>}
  return
}

// -----

// Verify that a derivative is computed once for gradients that differ in the factor of the columns, and that a launch decides
// by K among plans.
// CHECK-LABEL: func.func @outputs(
// CHECK:         scf.if
// CHECK:           tile.launch @kron_gpu::@outputs_0
// CHECK:         } else {
// CHECK:           tile.launch @kron_gpu::@outputs_1
// CHECK-LABEL: gpu.func @outputs_0(
// CHECK:           tile.alloc : !tile.ring<1 of <32x4xf32, #tile.layout<[4, 1]>>>
// CHECK:           tile.place %{{.*}} of %{{.*}} by [1, 4, 16, 8]
// CHECK:           tile.weigh_pairs[%{{.*}}, %{{.*}}] grad(%{{.*}} : {{.*}}) factors(%{{.*}} : !tile.view<?x1xf32, [1, 1]>) lanes 8
// CHECK:           tile.add_derivatives {{.*}} outputs(%{{.*}} through %{{.*}} : !tile.view<?x?x1xf32, [?, 1, 1]>, !tile.ring<1 of <32x4xf32, #tile.layout<[4, 1]>>>) lanes 4
// CHECK:             math.powf
// CHECK:           tile.store_pairs %{{.*}} to %{{.*}} lanes 4 : <4x1x2xf32>, <?x?x?x?xf32, [?, ?, ?, 1]>
func.func @outputs(%a: memref<1x?x?xf32>, %b: memref<?x?xf32>, %h: memref<?x?xf32>, %u: memref<?x1xf32>, %v: memref<?x?x1xf32>, %y: memref<?x?x?xf32>) {
  kron.pairwise_grad by(lhs) pow_diff(1.3) ins(%a, %b : memref<1x?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>)
    factors(%u, %v : memref<?x1xf32>, memref<?x?x1xf32>) outs(%y : memref<?x?x?xf32>)
    {plan = #kron.dispatch<[
      <kernel = pairwise_grad, max_k = 8, threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, column_threads = 8, thread_positions = 2, k_threads = 4, outputs = 4>,
      <kernel = pairwise_grad, threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, column_threads = 8, thread_positions = 2, k_threads = 4, outputs = 8>]>}
  return
}
