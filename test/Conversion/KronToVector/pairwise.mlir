// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file | FileCheck %s

// Verify a block: B is packed by transposing squares of 4 columns unless the block above has done it, A is broadcast,
// and 2 x 2 accumulators are carried along K. Blocks are 4 rows and 8 columns, of 1 + 2 register tiles.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    attributes {kron.shared_bytes = 0 : i64, kron.thread_bytes = 3200 : i64}
// CHECK:         %[[BODY:.*]] = constant @sum_pairwise
// CHECK:         call @kronRtParallelFor(
// CHECK-NOT:     kron.pairwise
// CHECK-LABEL: func.func private @sum_pairwise(
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:           } else {
// CHECK-COUNT-4:     llvm.load %{{.*}} -> vector<4xf32>
// CHECK-COUNT-8:     vector.shuffle
// CHECK-COUNT-4:     llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr
// CHECK:           scf.if
// Verify that columns of less than a whole register tile are stored in part, those of a single vector in its lanes.
// CHECK:             llvm.intr.masked.store
// CHECK:           } else {
// Verify the register tile.
// CHECK:             scf.for
// CHECK:               scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-2:         llvm.load %{{.*}} -> vector<4xf32>
// CHECK:                 %[[A:.*]] = llvm.load %{{.*}} -> f32
// CHECK:                 %[[L:.*]] = vector.broadcast %[[A]] : f32 to vector<4xf32>
// CHECK:                 %[[D:.*]] = arith.subf %[[L]]
// CHECK:                 vector.fma %[[D]], %[[D]], %{{.*}} : vector<4xf32>
// CHECK-COUNT-3:         vector.fma
// CHECK:               llvm.store {{.*}} : vector<4xf32>
// CHECK-NOT:           llvm.intr.masked.store
// CHECK:         return
func.func @sum(%a: memref<?x100xf32>, %b: memref<?x100xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %b : memref<?x100xf32>, memref<?x100xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 2, row_block = 4, k_block = 128, product_k = -1>}
  return
}

// -----

// Verify that sums of a K of several slices are kept in between, in f32 where elements are bf16, and rows of these
// converted before they are used.
// CHECK-LABEL: func.func private @slices_pairwise(
// CHECK:         arith.maxsi
// CHECK:         scf.for
// CHECK:           arith.cmpi eq
// CHECK:           arith.shli
// CHECK:           arith.select {{.*}} : vector<4xf32>
// CHECK:           scf.for {{.*}} iter_args(
// CHECK:           scf.if
// CHECK:             llvm.store {{.*}} : vector<4xi16>
// CHECK:           } else {
// CHECK:             llvm.store {{.*}} : vector<4xf32>
func.func @slices(%a: memref<4x?xbf16>, %y: memref<4x8xbf16>, %b: memref<?x8xbf16>) {
  kron.pairwise dot ins(%a, T(%b) : memref<4x?xbf16>, memref<?x8xbf16>) outs(%y : memref<4x8xbf16>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 4, vectors = 2, row_block = 4, k_block = 8>}
  return
}

// -----

// Verify that maxima of absolute differences are those of integers, a short K is unrolled, hyper-parameters are loaded
// once for a block, and functions of the epilogue are those of vectors. Of 7 blocks with 12 pairs of elements 5461 would be
// worth a thread.
// CHECK-LABEL: func.func @batch(
// CHECK:         %[[GRAIN:.*]] = arith.constant 5461 : i64
// CHECK:         call @kronRtParallelFor(%{{.*}}, %[[GRAIN]],
// CHECK-LABEL: func.func private @batch_pairwise(
// CHECK:         %[[P:.*]] = llvm.load %{{.*}} -> f32
// CHECK-COUNT-3: arith.maxsi {{.*}} : vector<4xi32>
// CHECK-NOT:     arith.maxsi
// CHECK:         %[[V:.*]] = vector.broadcast {{.*}} : f32 to vector<4xf32>
// CHECK:         %[[M:.*]] = arith.mulf %{{.*}}, %[[V]] : vector<4xf32>
// CHECK:         math.exp %[[M]] : vector<4xf32>
func.func @batch(%a: memref<1x3xf32>, %b: memref<7x4x3xf32>, %g: memref<7xf32>, %y: memref<7x1x4xf32>) {
  kron.pairwise abs_diff reduce(max) ins(%a, %b : memref<1x3xf32>, memref<7x4x3xf32>) params(%g : memref<7xf32>)
      outs(%y : memref<7x1x4xf32>)
      epilogue {
      ^bb0(%v: f32, %p: f32):
        %m = arith.mulf %v, %p : f32
        %e = math.exp %m : f32
        kron.pairwise_yield %e : f32
      } {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 1, row_block = 1, k_block = 8>}
  return
}

// -----

// Verify that elements of results that lie apart are stored one by one.
// CHECK-LABEL: func.func private @strided_pairwise(
// CHECK:         llvm.alloca
// CHECK-NOT:     llvm.intr.masked.store
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr
func.func @strided(%a: memref<4x8xf32>, %y: memref<4x4xf32, strided<[16, 3]>>) {
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32, strided<[16, 3]>>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 4, vectors = 1, row_block = 4, k_block = 8, symmetric = -1>}
  return
}
