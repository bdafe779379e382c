// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file | FileCheck %s
// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file | FileCheck %s --check-prefix=MANY

// Verify the sums of few columns: vectors of the scratch start at 0, V is packed with lanes along N, each value of a tile is
// multiplied in its register, terms of columns of B that do not exist change no sum, sums of two register tiles are added to
// others and start from zero again, and lanes of these are added up at the end.
// CHECK-LABEL: func.func @few(
// CHECK:         call @kronRtNumThreads()
// CHECK:         call @kronRtParallelFor(
// CHECK-LABEL: func.func private @few_pairwise(
// CHECK:         scf.for
// CHECK:           llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// CHECK:         scf.for
// CHECK:           vector.shuffle
// CHECK:           scf.if
// CHECK:             scf.if
// CHECK:               scf.for
// CHECK:                 %[[E:.*]] = math.exp %{{.*}} : vector<4xf32>
// CHECK:                 %[[T:.*]] = vector.fma {{.*}} : vector<4xf32>
// CHECK-NEXT:            arith.select %{{.*}}, %[[T]],
// CHECK:           } else {
// CHECK-COUNT-2:     math.exp
// CHECK-COUNT-2:     vector.fma
// CHECK-NOT:         arith.select
// CHECK:             %[[TOTAL:.*]] = arith.addf {{.*}} : vector<4xf32>
// CHECK-NEXT:        llvm.store %[[TOTAL]], %{{.*}} : vector<4xf32>, !llvm.ptr
// CHECK:             llvm.store %cst{{.*}} : vector<4xf32>, !llvm.ptr
// CHECK:         vector.reduction <add>, %{{.*}} fastmath<reassoc>
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr
// CHECK:         return
func.func @few(%a: memref<?x3xf32>, %b: memref<?x3xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>) {
  kron.pairwise_apply square_diff ins(%a, %b : memref<?x3xf32>, memref<?x3xf32>) values(%v : memref<?x1xf32>)
      outs(%y : memref<?x1xf32>)
      epilogue {
      ^bb0(%s: f32):
        %r = math.exp %s : f32
        kron.pairwise_yield %r : f32
      } {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 2, row_block = 4, k_block = 128, lane_columns = 1, n_tiles = 2, column_block = 1, product_k = -1>}
  return
}

// -----

// Verify the product of many columns: two register tiles along N are stored, 16 values of a row, then multiplied like a
// matrix, with the columns of V in two vectors, whose sums start from zero and are added to those so far.
// MANY-LABEL: func.func private @many_pairwise(
// MANY-NOT:     vector.reduction
// MANY:         scf.for
// MANY:           scf.for
// MANY-COUNT-4:     llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// MANY:           scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// MANY-COUNT-4:     vector.fma
// MANY:             scf.yield
// MANY-COUNT-4:   arith.addf {{.*}} : vector<4xf32>
// MANY:           llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// MANY:         return
func.func @many(%a: memref<2x200xf32>, %b: memref<64x200xf32>, %v: memref<64x8xf32>, %y: memref<2x8xf32>) {
  kron.pairwise_apply dot ins(%a, %b : memref<2x200xf32>, memref<64x200xf32>) values(%v : memref<64x8xf32>)
      outs(%y : memref<2x8xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 2, row_block = 4, k_block = 200, lane_columns = 4, n_tiles = 2, column_block = 8>}
  return
}

// -----

// Verify that an open number of columns is few or many when the code runs.
// MANY-LABEL: func.func private @open_pairwise(
// MANY:         %[[FOUR:.*]] = arith.constant 4 : i64
// MANY:         %[[MANY:.*]] = arith.cmpi slt, %[[FOUR]], %{{.*}} : i64
// MANY:         scf.if %[[MANY]] {
// MANY-NOT:       vector.reduction
// MANY:         } else {
// MANY:           vector.reduction <add>
// MANY:         return
func.func @open(%a: memref<2x8xf32>, %v: memref<2x?xf32>, %y: memref<2x?xf32>) {
  kron.pairwise_apply dot ins(%a, %a : memref<2x8xf32>, memref<2x8xf32>) values(%v : memref<2x?xf32>) outs(%y : memref<2x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 1, row_block = 4, k_block = 8, lane_columns = 4, n_tiles = 2, column_block = 8>}
  return
}

// -----

// Verify that a maximum starts at -infinity, and that a term that does not exist is that; that the logarithm of a sum has a sum
// and a maximum per lane, with an exponential for each term and one for the sum so far.
// CHECK-LABEL: func.func private @maximum_pairwise(
// CHECK:         arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK:         arith.maximumf {{.*}} : vector<4xf32>
// CHECK-NOT:     arith.maximumf
// CHECK:         vector.reduction <maximumf>
// CHECK-LABEL: func.func private @logarithm_pairwise(
// CHECK:         arith.maximumf {{.*}} : vector<4xf32>
// CHECK:         math.absf
// CHECK-COUNT-2: math.exp
// CHECK-NOT:     math.exp
// CHECK:         vector.reduction <maximumf>
// CHECK:         math.exp
// CHECK:         vector.reduction <add>
// CHECK:         math.log %{{.*}} : f32
func.func @maximum(%a: memref<1x8xf32>, %b: memref<4x8xf32>, %v: memref<4x1xf32>, %y: memref<1x1xf32>) {
  kron.pairwise_apply dot accumulate(max) ins(%a, %b : memref<1x8xf32>, memref<4x8xf32>) values(%v : memref<4x1xf32>)
      outs(%y : memref<1x1xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 1, row_block = 1, k_block = 8, lane_columns = 1, n_tiles = 1, column_block = 1>}
  return
}
func.func @logarithm(%a: memref<1x8xf32>, %b: memref<4x8xf32>, %v: memref<4x1xf32>, %y: memref<1x1xf32>) {
  kron.pairwise_apply dot accumulate(logsumexp) ins(%a, %b : memref<1x8xf32>, memref<4x8xf32>) values(%v : memref<4x1xf32>)
      outs(%y : memref<1x1xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 1, row_block = 1, k_block = 8, lane_columns = 1, n_tiles = 1, column_block = 1>}
  return
}
