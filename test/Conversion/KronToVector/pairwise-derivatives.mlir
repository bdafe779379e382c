// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file | FileCheck %s

// Verify a gradient by A: results start at 0; the factors are multiplied into the scratch; those values are multiplied by
// the derivative of the epilogue; then, for each position of K, a loop along N has a sum for each row, of columns that
// exist, whose lanes are added to the result.
// CHECK-LABEL: func.func @by_lhs(
// CHECK:         call @kronRtNumThreads()
// CHECK:         call @kronRtParallelFor(
// CHECK-LABEL: func.func private @by_lhs_pairwise(
// CHECK:         llvm.store %{{.*}} {alignment = 4 : i64}
// CHECK:         vector.fma
// CHECK:         arith.subf
// CHECK:         vector.fma
// CHECK:         math.exp
// CHECK:         arith.mulf
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK-NOT:       arith.select
// CHECK-COUNT-2:   vector.fma
// CHECK:           scf.yield
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK:           %[[T:.*]] = vector.fma
// CHECK-NEXT:      vector.fma
// CHECK-NEXT:      arith.select %{{.*}}, %[[T]],
// CHECK:           scf.yield
// CHECK-COUNT-2: vector.reduction <add>, %{{.*}}, %{{.*}} fastmath<reassoc>
// CHECK:         return
func.func @by_lhs(%a: memref<?x3xf32>, %b: memref<?x3xf32>, %u: memref<?x1xf32>, %v: memref<?x1xf32>, %y: memref<?x3xf32>) {
  kron.pairwise_grad by(lhs) square_diff ins(%a, %b : memref<?x3xf32>, memref<?x3xf32>)
      factors(%u, %v : memref<?x1xf32>, memref<?x1xf32>) outs(%y : memref<?x3xf32>)
      epilogue {
      ^bb0(%s: f32):
        %r = math.exp %s : f32
        kron.pairwise_yield %r : f32
      } {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 1, row_block = 4, k_block = 128, n_tiles = 2, column_block = 4>}
  return
}

// -----

// Verify that a gradient by B broadcasts B and has A in the lanes, and computes no reduced values where there is no epilogue.
// CHECK-LABEL: func.func private @by_rhs_pairwise(
// CHECK-NOT:     arith.divf
// CHECK:         %[[B:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK:         %[[A:.*]] = llvm.load {{.*}} -> vector<4xf32>
// CHECK:         %[[Q:.*]] = arith.divf %{{.*}}, %[[B]] : vector<4xf32>
// CHECK:         arith.mulf %[[A]], %[[Q]] : vector<4xf32>
// CHECK-NOT:     vector.broadcast
// CHECK:         vector.reduction <add>
// CHECK:         return
func.func @by_rhs(%a: memref<8x3xf32>, %b: memref<1x3xf32>, %h: memref<8x1xf32>, %y: memref<1x3xf32>) {
  kron.pairwise_grad by(rhs) ins(%a, %b : memref<8x3xf32>, memref<1x3xf32>) grad(%h : memref<8x1xf32>) outs(%y : memref<1x3xf32>)
      inner {
      ^bb0(%x: f32, %z: f32):
        %l = math.log %z : f32
        %r = arith.mulf %x, %l : f32
        kron.pairwise_yield %r : f32
      } {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 2, row_block = 1, k_block = 3, n_tiles = 1, column_block = 4>}
  return
}

// -----

// Verify that a gradient by a hyper-parameter adds the terms of columns that exist to one vector, whose lanes are the result.
// CHECK-LABEL: func.func private @by_param_pairwise(
// CHECK:         arith.select
// CHECK:         vector.reduction <add>, %{{.*}} fastmath<reassoc>
// CHECK-NEXT:    llvm.store {{.*}} : f32, !llvm.ptr
// CHECK-NOT:     vector.reduction
// CHECK:         return
func.func @by_param(%a: memref<2x3xf32>, %b: memref<?x3xf32>, %h: memref<2x?xf32>, %g: f32, %y: memref<f32>) {
  kron.pairwise_grad by(param, 0) dot ins(%a, %b : memref<2x3xf32>, memref<?x3xf32>) grad(%h : memref<2x?xf32>) params(%g : f32)
      outs(%y : memref<f32>)
      epilogue {
      ^bb0(%s: f32, %p: f32):
        %r = arith.mulf %s, %p : f32
        kron.pairwise_yield %r : f32
      } {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 1, row_block = 2, k_block = 3, n_tiles = 1, column_block = 4>}
  return
}

// -----

// Verify that outputs share terms: values of pairs are H times U, which V has no part in; its derivative is computed once for
// a position of K, and stored; then each output of a tile, or of what is left, loads the term and its factor.
// CHECK-LABEL: func.func private @outputs_pairwise(
// CHECK-COUNT-2: math.powf
// CHECK-COUNT-2: llvm.store {{.*}} : vector<4xf32>
// CHECK-NOT:     math.powf
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-4:   vector.fma
// CHECK-NEXT:      scf.yield
// CHECK-COUNT-4: vector.reduction <add>, %{{.*}}, %{{.*}} fastmath<reassoc>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-2:   vector.fma
// CHECK-NEXT:      scf.yield
// CHECK-COUNT-2: vector.reduction <add>, %{{.*}}, %{{.*}} fastmath<reassoc>
// CHECK-NOT:     scf.yield
// CHECK:         math.powf
// CHECK-NOT:     math.powf
// CHECK:         return
func.func @outputs(%a: memref<2x200xf32>, %b: memref<8x200xf32>, %h: memref<2x8xf32>, %u: memref<2x1xf32>, %v: memref<?x8x1xf32>,
                   %y: memref<?x2x200xf32>) {
  kron.pairwise_grad by(lhs) pow_diff(1.3) ins(%a, %b : memref<2x200xf32>, memref<8x200xf32>) grad(%h : memref<2x8xf32>)
      factors(%u, %v : memref<2x1xf32>, memref<?x8x1xf32>) outs(%y : memref<?x2x200xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 2, row_block = 2, k_block = 200, n_tiles = 1, column_block = 32>}
  return
}

// -----

// Verify that a derivative along directions has twice as many sums, and that a gradient that is 0 takes no products.
// CHECK-LABEL: func.func private @along_pairwise(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-3:   vector.fma
// CHECK:           scf.yield
// CHECK:         return
// CHECK-LABEL: func.func private @constant_pairwise(
// CHECK-NOT:     vector.fma
// CHECK:         return
func.func @along(%a: memref<1x200xf32>, %b: memref<4x200xf32>, %y: memref<1x4xf32>) {
  kron.pairwise_tangent dot ins(%a, %b : memref<1x200xf32>, memref<4x200xf32>) along(%a, %b : memref<1x200xf32>, memref<4x200xf32>)
      outs(%y : memref<1x4xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 1, row_block = 1, k_block = 200>}
  return
}
func.func @constant(%a: memref<1x200xf32>, %b: memref<4x200xf32>, %h: memref<1x4xf32>, %y: memref<1x200xf32>) {
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<1x200xf32>, memref<4x200xf32>) grad(%h : memref<1x4xf32>)
      outs(%y : memref<1x200xf32>)
      epilogue {
      ^bb0(%s: f32):
        %r = arith.constant 1.0 : f32
        kron.pairwise_yield %r : f32
      } {plan = #kron.pairwise_plan<vector_bits = 128, rows = 1, vectors = 1, row_block = 1, k_block = 200, n_tiles = 1, column_block = 4>}
  return
}
