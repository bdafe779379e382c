// RUN: kron-opt %s --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that tiles of a matrix read like this, whose right operand lies along its rows.
// CHECK-LABEL: func.func @matrix(
// CHECK:         tile.launch @kron_gpu::@matrix_0 tiles(%[[N:.*]]) args(%{{.*}}, %[[N]] : !tile.view<?x?xf32, [?, 1]>, !tile.view<300x?xf32, [1, ?]>, !tile.view<?x300xf32, [300, 1]>, i64)
// CHECK-LABEL: gpu.func @matrix_0(
// CHECK-SAME:      %[[A:.*]]: !tile.view<?x?xf32, [?, 1]>, %[[B:.*]]: !tile.view<300x?xf32, [1, ?]>, %[[Y:.*]]: !tile.view<?x300xf32, [300, 1]>, %[[N:.*]]: i64)
// CHECK-SAME:      kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>}
// CHECK-NEXT:      %[[L:.*]] = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
// CHECK-NEXT:      %[[R:.*]] = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
// CHECK-NEXT:      tile.for %[[T:.*]] to %[[N]] {
// CHECK-NEXT:        %[[U:.*]] = tile.place %[[T]] of %[[Y]] by [16, 32]
// CHECK-NEXT:        %[[P:.*]] = tile.pairs %[[A]], %[[B]][%[[U]]] through %[[L]], %[[R]] lanes 8 from 0.000000e+00 zero_tail rhs_rows : {{.*}} -> <1x2x4xf32> {
// CHECK-NEXT:        ^bb0(%[[E:.*]]: f32, %[[F:.*]]: f32, %[[S:.*]]: f32):
// CHECK-NEXT:          %[[D:.*]] = arith.subf %[[E]], %[[F]] : f32
// CHECK-NEXT:          %[[M:.*]] = math.absf %[[D]] : f32
// CHECK-NEXT:          %[[Z:.*]] = arith.addf %[[S]], %[[M]] : f32
// CHECK-NEXT:          tile.yield %[[Z]] : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.store_pairs %[[P]] to %[[Y]][%[[U]]] lanes 8
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
func.func @matrix(%a: memref<?x?xf32>, %b: memref<300x?xf32, strided<[1, ?]>>, %y: memref<?x300xf32>) {
  kron.pairwise abs_diff ins(%a, %b : memref<?x?xf32>, memref<300x?xf32, strided<[1, ?]>>) outs(%y : memref<?x300xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 16, thread_rows = 2, thread_columns = 4, column_threads = 8>}
  return
}

// -----

// Verify squares in one multiply-add, a maximum from -infinity whose zeros behind K count, and a region, which knows
// hyper-parameters: a scalar, and one of each matrix of the batch.
// CHECK-LABEL: gpu.func @squares_0(
// CHECK:         %[[D:.*]] = arith.subf
// CHECK-NEXT:    math.fma %[[D]], %[[D]],
// CHECK-LABEL: gpu.func @squares_1(
// CHECK:         tile.pairs {{.*}} from 0xFFF0000000000000 lhs_rows rhs_rows : <?x?xf64, [1, ?]>, <?x?xf64, [1, ?]>,
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.maximumf
// CHECK-LABEL: gpu.func @squares_2(
// CHECK-SAME:      %[[G:[^:]*]]: !tile.view<5xf64, [1]>, %[[H:[^:]*]]: f64,
// CHECK:         %[[U:.*]] = tile.place %{{.*}} by [1, 16, 32]
// CHECK-NEXT:    %[[P:.*]] = tile.load_scalar %[[G]][%[[U]]] : <5xf64, [1]> -> f64
// CHECK-NEXT:    %[[V:.*]] = tile.pairs {{.*}} from 0.000000e+00 params(%[[P]], %[[H]] : f64, f64) : <1x?x?xf64, [0, ?, 1]>, <5x?x?xf64, [?, ?, 1]>,
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f64, %{{.*}}: f64, %[[S:.*]]: f64, %[[Q:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:      %[[R:.*]] = arith.mulf %[[E]], %[[Q]]
// CHECK-NEXT:      arith.addf %[[S]], %[[R]]
// CHECK:         %[[M:.*]] = tile.map %[[V]] params(%[[P]], %[[H]] : f64, f64) : <1x2x4xf64> {
// CHECK-NEXT:    ^bb0(%[[T:.*]]: f64, %{{.*}}: f64, %[[W:.*]]: f64):
// CHECK-NEXT:      arith.mulf %[[T]], %[[W]]
// CHECK:         tile.store_pairs %[[M]]
func.func @squares(%a: memref<?x?xf64>, %b: memref<1x?x?xf64>, %c: memref<5x?x?xf64>, %g: memref<5xf64>, %h: f64, %y: memref<?x?xf64>, %z: memref<5x?x?xf64>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4, column_threads = 8>}
  kron.pairwise dot reduce(max) ins(T(%a), T(%a) : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4, column_threads = 8>}
  kron.pairwise ins(%b, %c : memref<1x?x?xf64>, memref<5x?x?xf64>) params(%g, %h : memref<5xf64>, f64) outs(%z : memref<5x?x?xf64>)
    inner {
    ^bb0(%u: f64, %w: f64, %p: f64, %q: f64):
      %r = arith.mulf %u, %p : f64
      kron.pairwise_yield %r : f64
    } epilogue {
    ^bb0(%s: f64, %p: f64, %q: f64):
      %r = arith.mulf %s, %q : f64
      kron.pairwise_yield %r : f64
    } {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4, column_threads = 8>}
  return
}

// -----

// Verify half of a matrix of rows with themselves, the other half of which is stored by way of the left ring; and one by matrix
// instructions, whose lanes store it themselves, for all matrices of a batch. Two rows of tiles have 2 * 19 - 18 numbers.
// CHECK-LABEL: func.func @half(
// CHECK:         tile.launch @kron_gpu::@half_0 tiles(%[[N:.*]]) args(%{{.*}}, %[[N]] :
// CHECK:         arith.constant 1000 : i64
// CHECK:         tile.launch @kron_gpu::@half_1
// CHECK-LABEL: gpu.func @half_0(
// CHECK:           %[[L:.*]] = tile.alloc
// CHECK:           tile.for
// CHECK-NEXT:        %[[U:.*]] = tile.place %{{.*}} of %[[Y:.*]] by [16, 32] triangle
// CHECK:             tile.store_pairs %{{.*}} to %[[Y]][%[[U]]] through %[[L]] lanes 8
// CHECK-LABEL: gpu.func @half_1(
// CHECK:             tile.place %{{.*}} by [1, 32, 32] triangle
// CHECK:             tile.store_pairs {{.*}}] lanes 8
func.func @half(%a: memref<?x?xf32>, %b: memref<5x600x64xf16>, %y: memref<?x?xf32>, %z: memref<5x600x600xf16>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 16, thread_rows = 2, thread_columns = 4, column_threads = 8, symmetric = 1>}
  kron.pairwise dot ins(%b, %b : memref<5x600x64xf16>, memref<5x600x64xf16>) outs(%z : memref<5x600x600xf16>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 32, thread_rows = 4, thread_columns = 4, column_threads = 8, symmetric = 1, products = 1>}
  return
}

// -----

// Verify a product in parts, whose sums of exponentials of f16 are reduced in f32, and rounded once. As many parts
// of 50 CTAs are made as there are blocks of 32 columns for.
// CHECK-LABEL: func.func @product(
// CHECK:         %[[LARGEST:.*]] = memref.alloc(%[[PARTS:.*]], %[[M:.*]]) : memref<?x5x?x3xf32>
// CHECK:         %[[SUMS:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x5x?x3xf32>
// CHECK:         tile.launch @kron_gpu::@product_0
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%[[TOTAL:.*]] : memref<5x?x3xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%[[LARGEST]] : memref<?x5x?x3xf32>) outs(%[[TOTAL]]
// CHECK:           arith.maximumf
// CHECK:         linalg.generic {{.*}} ins(%[[LARGEST]], %[[SUMS]], %[[TOTAL]] : {{.*}}) outs(%[[EXPONENTIALS:.*]] : memref<5x?x3xf32>)
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}} ins(%[[TOTAL]], %[[EXPONENTIALS]] : {{.*}}) outs(%{{.*}} : memref<5x?x3xf16>)
// CHECK:           math.log
// CHECK:           arith.truncf {{.*}} : f32 to f16
// CHECK:         memref.dealloc %[[LARGEST]]
// CHECK:         memref.dealloc %[[SUMS]]
// CHECK-LABEL: gpu.func @product_0(
// CHECK-SAME:      %[[V:[^:]*]]: !tile.view<?x3xf16, [1, ?]>, %[[BLOCKS:[^:]*]]: i64, %[[Y:[^:]*]]: !tile.view<?x5x?x3xf32, [?, ?, 3, 1]>, %[[Z:[^:]*]]: !tile.view<?x5x?x3xf32, [?, ?, 3, 1]>, %{{.*}}: i64)
// CHECK:         %[[U:.*]] = tile.place %{{.*}} of %[[Y]] by [1, 1, 16, 2]
// CHECK-NEXT:    %[[S:.*]]:2 = tile.for_pairs %[[B:.*]] of %[[BLOCKS]] by 32 [%[[U]]] times %[[V]] accumulate logsumexp lanes 8 : {{.*}} -> (!tile.fragment<1x2x2xf32>, !tile.fragment<1x2x2xf32>) {
// CHECK-NEXT:      %[[P:.*]] = tile.pairs %{{.*}}, %{{.*}}[%[[U]], %[[B]]]
// CHECK:           tile.yield %[[P]]
// CHECK:         tile.store_pairs %[[S]]#0 to %[[Y]][%[[U]]] lanes 8 sums
// CHECK-NEXT:    tile.store_pairs %[[S]]#1 to %[[Z]][%[[U]]] lanes 8 sums
func.func @product(%a: memref<5x?x8xf16>, %b: memref<?x8xf16>, %v: memref<3x?xf16>, %y: memref<5x?x3xf16>) {
  kron.pairwise_apply square_diff accumulate(logsumexp) ins(%a, %b : memref<5x?x8xf16>, memref<?x8xf16>) values(T(%v) : memref<3x?xf16>) outs(%y : memref<5x?x3xf16>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 16, thread_rows = 2, thread_columns = 4, column_threads = 8, value_columns = 2, split_ctas = 50>}
  return
}

// -----

// Verify that sums of f32 are reduced in the result itself.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME:      %[[Y:[^:]*]]: memref<?x1xf32>)
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%[[Y]] : memref<?x1xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[Y]] : memref<?x1xf32>)
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
func.func @sums(%a: memref<?x3xf32>, %b: memref<?x3xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  kron.pairwise_apply square_diff ins(%a, %b : memref<?x3xf32>, memref<?x3xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4, column_threads = 8>}
  return
}

// -----

// Verify squares of f32 by matrix products: rows less the mean of 16 rows of A, the last one again where there are fewer, become parts of f16,
// with zeros behind K, by a power of two that its inverse undoes, and squared lengths; those of an array with itself once. What is not exact is computed from the array.
// Without rows of A there is nothing to subtract, nor to compute.
// CHECK-LABEL: func.func @squares_of_rows(
// CHECK:         %[[EXISTS:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : index
// CHECK:         scf.if %[[EXISTS]] {
// CHECK:         %[[CENTRE:.*]] = memref.alloc() : memref<50xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]} outs(%[[CENTRE]] : memref<50xf32>) {
// CHECK-COUNT-16:  arith.minui %{{.*}}, %[[LAST:.*]] : index
// CHECK-NOT:       arith.minui
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[A:.*]] : memref<?x50xf32>) outs(%[[LARGEST:.*]] : memref<?xf32>) {
// CHECK:           memref.load %[[CENTRE]][%{{.*}}]
// CHECK:           arith.subf
// CHECK:           arith.maximumf
// CHECK:         linalg.generic {{.*}} ins(%[[LARGEST]] : memref<?xf32>) outs(%[[SCALES:.*]] : memref<?xf32>) {
// CHECK:           arith.shrui
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[A]] : memref<?x50xf32>) outs(%[[WIDE:.*]] : memref<?xf64>) {
// CHECK:           math.fma
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]] : memref<?xf64>) outs(%[[NORMS:.*]] : memref<?xf32>) {
// CHECK:         linalg.generic {{.*}} outs(%[[HIGH:.*]], %[[LOW:.*]] : memref<?x56xf16>, memref<?x56xf16>) {
// CHECK:           memref.load %[[LARGEST]]
// CHECK:           arith.truncf {{.*}} : f32 to f16
// CHECK:           arith.truncf {{.*}} : f32 to f16
// CHECK-NOT:     linalg.generic
// CHECK:         tile.launch
// CHECK:         memref.dealloc
// CHECK-LABEL: gpu.func @squares_of_rows_0(
// CHECK:         %[[L:.*]] = tile.alloc : !tile.ring<3 of <32x32xf16>>
// CHECK:         %[[R:.*]] = tile.alloc : !tile.ring<3 of <64x32xf16>>
// CHECK:         %[[P:.*]], %[[H:.*]] = tile.multiply_rows({{.*}}) by({{.*}}) [%[[U:.*]]] through %[[L]], %[[R]] lanes 8 norms({{.*}}) scales({{.*}}) roundings 1.600000e+01 same_rows :
// CHECK:         tile.pairs {{.*}} products(%[[P]] held %[[H]] : !tile.fragment<1x2x4xf32, mma.m16n8k16>) : {{.*}} <2 of <16x8xf32
// CHECK:         tile.store_pairs
func.func @squares_of_rows(%a: memref<?x50xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x50xf32>, memref<?x50xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 8, symmetric = 1, products = 3>}
  return
}

// -----

// Verify products of f64 and bf16, which are one part and have no scales, and no norms without squares.
// CHECK-LABEL: func.func @products_of_rows(
// CHECK-NOT:     "reduction"
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : memref<?x?xf64>) {
// CHECK-LABEL: gpu.func @products_of_rows_0(
// CHECK:         tile.multiply_rows(%{{.*}} : !tile.view<?x?xf64, [?, 1]>) by(%{{.*}} : !tile.view<?x?xf64, [?, 1]>) {{.*}} lanes 8 roundings 1.600000e+01 : <2 of <16x8xf64>>, <2 of <32x8xf64>> -> <1x2x4xf64, mma.m16n8k8.f64>
// CHECK-LABEL: gpu.func @products_of_rows_1(
// CHECK:         tile.multiply_rows(%{{.*}} : !tile.view<?x?xbf16, [?, 1]>) by(%{{.*}}) {{.*}} lanes 8 norms({{.*}}) roundings 1.600000e+01 same_rows : <2 of <16x32xbf16>>
func.func @products_of_rows(%a: memref<?x?xf64>, %b: memref<?x?xbf16>, %y: memref<?x?xf64>, %z: memref<?x?xbf16>) {
  kron.pairwise dot ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4, column_threads = 8, products = 1>}
  kron.pairwise square_diff ins(%b, %b : memref<?x?xbf16>, memref<?x?xbf16>) outs(%z : memref<?x?xbf16>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 8, products = 1>}
  return
}

// -----

// Verify that K decides at a launch which of two kernels it is, and that one that K excludes is not made.
// CHECK-LABEL: func.func @by_k(
// CHECK:         %[[K:.*]] = memref.dim %{{.*}}, %{{.*}} : memref<?x?xf32>
// CHECK:         %[[FITS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK:         scf.if %[[FITS]] {
// CHECK:           tile.launch @kron_gpu::@by_k_0
// CHECK:         } else {
// CHECK:           tile.launch @kron_gpu::@by_k_1
// CHECK-NOT:     tile.launch
// CHECK-LABEL: func.func @short_k(
// CHECK-NOT:     linalg
// CHECK:         tile.launch @kron_gpu::@short_k_0
// CHECK-NEXT:    return
func.func @by_k(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.dispatch<[<kernel = pairwise, min_k = 50, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, symmetric = 1, products = 3, column_threads = 8>,
                            <kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4>]>}
  return
}
func.func @short_k(%a: memref<?x49xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x49xf32>, memref<?x49xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.dispatch<[<kernel = pairwise, min_k = 50, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, symmetric = 1, products = 3, column_threads = 8>,
                            <kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 8, thread_rows = 2, thread_columns = 4>]>}
  return
}

// -----

// Verify rows that stay in registers, without a ring for them.
// CHECK-LABEL: gpu.func @kept_rows_0(
// CHECK:         %[[L:.*]] = tile.alloc : !tile.ring<4 of <8x8xf32, #tile.layout<[12, 1]>>>
// CHECK-NOT:     tile.alloc
// CHECK:         %[[U:.*]] = tile.place %{{.*}} of %{{.*}} by [1, 32, 1]
// CHECK-NEXT:    %[[R:.*]] = tile.keep_rows %{{.*}}[%[[U]]] lanes 2 : <?x3xf32, [?, ?]> -> <1x1x3xf32>
// CHECK-NEXT:    tile.for_pairs %[[M:.*]] of %{{.*}} by 8
// CHECK-NEXT:      %[[P:.*]] = tile.pairs_of_rows %[[R]], %{{.*}}[%[[U]], %[[M]]] through %[[L]] lanes 2 from 0.000000e+00 :
// CHECK:           tile.map %[[P]]
func.func @kept_rows(%a: memref<?x3xf32, strided<[?, ?]>>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x3xf32, strided<[?, ?]>>, memref<?x3xf32, strided<[?, ?]>>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>) epilogue {
    ^bb0(%s: f32):
      %r = math.exp %s : f32
      kron.pairwise_yield %r : f32
    } {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 4, k_step = 8, thread_rows = 1, thread_columns = 4, column_threads = 2, keeps_rows = 1>}
  return
}

// -----

// Verify values of f32 as matrix instructions take them: a TF32 and what it leaves, for rows of eight; those of 16 bits are a TF32
// each. Sums are stored as the matrix would be. Rows for warpgroups are steps of K, whole tiles with zeros behind the last row,
// whose 16 bytes are exchanged.
// CHECK-LABEL: func.func @packed_values(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : memref<2x?x32xf16>, memref<2x?x32xf16>) {
// CHECK:           arith.divui
// CHECK:           arith.remui
// CHECK:           arith.xori
// CHECK:           arith.muli
// CHECK:           memref.load
// CHECK:           arith.truncf
// CHECK:         %[[V:.*]] = memref.alloc({{.*}}) : memref<?x256xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%[[V]] : memref<?x256xf32>) {
// CHECK:           memref.load
// CHECK:           arith.andi
// CHECK:           arith.subf
// CHECK:           linalg.yield
// CHECK:         tile.launch
// CHECK:         memref.dealloc %[[V]]
// CHECK:         memref.alloc({{.*}}) : memref<?x64xf32>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : memref<?x64xf32>) {
// CHECK:           arith.extf {{.*}} : f16 to f32
// CHECK-NOT:       arith.andi
// CHECK:           linalg.yield
// CHECK-LABEL: gpu.func @packed_values_0(
// CHECK:         %[[W:.*]] = tile.alloc : !tile.ring<2 of <8x256xf32>>
// CHECK:         %[[S:.*]] = tile.for_pairs %{{.*}} by 64 [%{{.*}}] times %{{.*}} through %[[W]] accumulate sum lanes 4 : !tile.view<?x256xf32, [256, 1]>, !tile.ring<2 of <8x256xf32>> -> !tile.fragment<1x2x4xf32, wgmma.m64k16> {
// CHECK:           tile.multiply_rows({{.*}} : !tile.view<2x?x32xf16, [?, 32, 1]>, !tile.view<2x?x32xf16, [?, 32, 1]>) by({{.*}} along %{{.*}} roundings {{.*}} -> <1x2x16xf32, wgmma.m64k16>
// CHECK:         tile.store_pairs %[[S]] to %{{.*}}[%{{.*}}] lanes 4 : <1x2x4xf32, wgmma.m64k16>
// CHECK-LABEL: gpu.func @packed_values_1(
// CHECK:         tile.for_pairs {{.*}} through %{{.*}} accumulate sum lanes 4 : !tile.view<?x64xf32, [64, 1]>, !tile.ring<2 of <2x64xf32>> -> !tile.fragment<1x2x2xf32, mma.m16n8k16> {
func.func @packed_values(%a: memref<?x64xf32>, %v: memref<?x13xf32>, %y: memref<?x13xf32>, %b: memref<?x64xf16>, %w: memref<?x3xf16>, %z: memref<?x3xf16>) {
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x64xf32>, memref<?x64xf32>) values(%v : memref<?x13xf32>) outs(%y : memref<?x13xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 1, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 16, column_threads = 4, products = 3, wgmma = 1, value_columns = 16, value_products = 3>}
  kron.pairwise_apply dot ins(%b, %b : memref<?x64xf16>, memref<?x64xf16>) values(%w : memref<?x3xf16>) outs(%z : memref<?x3xf16>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 3, k_step = 32, thread_rows = 2, thread_columns = 4, column_threads = 4, products = 1, value_columns = 8, value_products = 2>}
  return
}
