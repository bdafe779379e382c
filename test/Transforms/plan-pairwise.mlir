// RUN: kron-opt %s --kron-plan | FileCheck %s
// RUN: kron-opt %s --kron-plan="vector-bits=256" | FileCheck %s --check-prefix=NARROW
// RUN: kron-opt %s --kron-plan="l2-bytes=262144" | FileCheck %s --check-prefix=SMALL
// RUN: kron-opt %s --kron-plan --kron-plan="vector-bits=128 l2-bytes=262144" | FileCheck %s
// RUN: kron-opt %s --kron-plan=pairwise-only | FileCheck %s --check-prefixes=CHECK,ONLY
// RUN: kron-opt %s --kron-plan --remarks-filter=kron-plan 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Verify the register tiles of a short function, by the width of vectors, and that the packed part of B has a quarter
// of the second-level cache.
// CHECK-LABEL: func @short(
// CHECK: #kron.pairwise_plan<vector_bits = 512, rows = 8, vectors = 3, row_block = 256, k_block = 1360>
// NARROW-LABEL: func @short(
// NARROW: #kron.pairwise_plan<vector_bits = 256, rows = 4, vectors = 2, row_block = 256, k_block = 4096>
// SMALL-LABEL: func @short(
// SMALL: k_block = 336>
// REMARK: KBlock=1360, Remark="#kron.pairwise_plan<vector_bits = 512, rows = 8, vectors = 3, row_block = 256, k_block = 1360>", RowBlock=256, Rows=8, Vectors=3
func.func @short(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

// Verify that a power by polynomials has smaller tiles, but none by square roots, nor a region without functions.
// CHECK-LABEL: func @long(
// CHECK: rows = 4, vectors = 2,
// CHECK: rows = 8, vectors = 3,
// CHECK: rows = 4, vectors = 2,
// CHECK: rows = 8, vectors = 3,
// NARROW-LABEL: func @long(
// NARROW: rows = 2, vectors = 2,
func.func @long(%a: memref<?x?xf64>, %y: memref<?x?xf64>) {
  kron.pairwise pow_diff(1.3) ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
  kron.pairwise pow_diff(1.5) ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
  kron.pairwise ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
      inner {
      ^bb0(%u: f64, %w: f64):
        %e = math.exp %u : f64
        kron.pairwise_yield %e : f64
      }
  kron.pairwise ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
      inner {
      ^bb0(%u: f64, %w: f64):
        %e = arith.minimumf %u, %w : f64
        kron.pairwise_yield %e : f64
      }
  return
}

// Verify that tiles are no larger than a small result.
// CHECK-LABEL: func @small(
// CHECK: #kron.pairwise_plan<vector_bits = 512, rows = 5, vectors = 2, row_block = 260, k_block = 2048>
func.func @small(%a: memref<5x8xf32>, %b: memref<20x8xf32>, %y: memref<5x20xf32>) {
  kron.pairwise dot ins(%a, %b : memref<5x8xf32>, memref<20x8xf32>) outs(%y : memref<5x20xf32>)
  return
}

// Verify that fields of a partial plan stay, and others follow from them.
// CHECK-LABEL: func @given(
// CHECK: #kron.pairwise_plan<vector_bits = 256, rows = 6, vectors = 2, row_block = 258, k_block = 64, symmetric = 12>
func.func @given(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 256, rows = 6, k_block = 64>}
  return
}

// CHECK-LABEL: func @given_vectors(
// CHECK: #kron.pairwise_plan<vector_bits = 512, rows = 6, vectors = 4,
func.func @given_vectors(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, vectors = 4>}
  return
}

// CHECK-LABEL: func @given_rows(
// CHECK: #kron.pairwise_plan<vector_bits = 512, rows = 12, vectors = 2,
func.func @given_rows(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, rows = 12>}
  return
}

// CHECK-LABEL: func @given_row_block(
// CHECK: #kron.pairwise_plan<vector_bits = 512, rows = 5, vectors = 3, row_block = 100,
func.func @given_row_block(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 512, row_block = 100>}
  return
}

// Verify that a product with few columns, or an open number of them, has sums with lanes along N for as many, fewer if a
// vector has fewer lanes, and that blocks have fewer rows where columns may be many.
// NARROW-LABEL: func @apply(
// NARROW: lane_columns = 1, n_tiles = 8, column_block = 1>
// NARROW: lane_columns = 6, n_tiles = 8, column_block = 16>
// CHECK-LABEL: func @apply(
// CHECK: rows = 8, vectors = 3, row_block = 256, k_block = 1360, lane_columns = 1, n_tiles = 8, column_block = 1>
// CHECK: rows = 8, vectors = 3, row_block = 128, k_block = 1360, lane_columns = 12, n_tiles = 8, column_block = 16>
// CHECK: rows = 8, vectors = 3, row_block = 128, k_block = 1360, lane_columns = 12, n_tiles = 8, column_block = 256>
func.func @apply(%a: memref<?x?xf32>, %v: memref<?x1xf32>, %w: memref<?x16xf32>, %x: memref<?x?xf32>, %y: memref<?x1xf32>, %z: memref<?x16xf32>) {
  kron.pairwise_apply abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
  kron.pairwise_apply abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%w : memref<?x16xf32>) outs(%z : memref<?x16xf32>)
  kron.pairwise_apply abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%a : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
  return
}

// Verify that blocks have no more rows than the result, nor tiles more vectors than N.
// CHECK-LABEL: func @apply_small(
// CHECK: rows = 5, vectors = 2, row_block = 5, k_block = 2048, lane_columns = 3, n_tiles = 8, column_block = 3>
func.func @apply_small(%a: memref<5x8xf32>, %b: memref<20x8xf32>, %v: memref<20x3xf32>, %y: memref<5x3xf32>) {
  kron.pairwise_apply dot ins(%a, %b : memref<5x8xf32>, memref<20x8xf32>) values(%v : memref<20x3xf32>) outs(%y : memref<5x3xf32>)
  return
}

// Verify that fields of a partial plan of a product stay, and others follow from them.
// CHECK-LABEL: func @apply_given(
// CHECK: lane_columns = 300, n_tiles = 2, column_block = 300>
// CHECK: lane_columns = 4, n_tiles = 8, column_block = 4>
// CHECK: row_block = 256, k_block = 1360, lane_columns = 20, n_tiles = 8, column_block = 20>
func.func @apply_given(%a: memref<?x?xf32>, %w: memref<?x16xf32>, %x: memref<?x?xf32>, %z: memref<?x16xf32>) {
  kron.pairwise_apply dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%a : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<lane_columns = 300, n_tiles = 2>}
  kron.pairwise_apply dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%a : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<column_block = 4>}
  kron.pairwise_apply dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%w : memref<?x16xf32>) outs(%z : memref<?x16xf32>)
      {plan = #kron.pairwise_plan<lane_columns = 20>}
  return
}

// Verify that a derivative along directions has half the rows of registers, and that a gradient has blocks of rows of its
// result, packs little of K, and no more rows and vectors than the operands it is by have.
// CHECK-LABEL: func @derivatives(
// CHECK: rows = 4, vectors = 3, row_block = 256, k_block = 1360>
// CHECK: rows = 8, vectors = 3, row_block = 128, k_block = 128, n_tiles = 8, column_block = 256>
// CHECK: rows = 5, vectors = 2, row_block = 5, k_block = 128, n_tiles = 8, column_block = 256>
// CHECK: rows = 8, vectors = 1, row_block = 24, k_block = 16, n_tiles = 2, column_block = 256>
func.func @derivatives(%a: memref<?x?xf32>, %h: memref<?x?xf32>, %y: memref<?x?xf32>, %b: memref<20x8xf32>, %c: memref<5x8xf32>,
                       %g: memref<20x5xf32>) {
  kron.pairwise_tangent dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) along(%a, %a : memref<?x?xf32>, memref<?x?xf32>)
      outs(%y : memref<?x?xf32>)
  kron.pairwise_grad by(lhs) dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) grad(%h : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise_grad by(rhs) dot ins(%b, %c : memref<20x8xf32>, memref<5x8xf32>) grad(%g : memref<20x5xf32>) outs(%c : memref<5x8xf32>)
  kron.pairwise_grad by(lhs) dot ins(%b, %c : memref<20x8xf32>, memref<5x8xf32>) grad(%g : memref<20x5xf32>) outs(%b : memref<20x8xf32>)
      {plan = #kron.pairwise_plan<k_block = 16, n_tiles = 2>}
  return
}

// Verify that factors of outputs are packed, no more of these than there are, and those of one column that is shared, or of several,
// as columns.
// CHECK-LABEL: func @outputs(
// CHECK: n_tiles = 8, column_block = 32>
// CHECK: n_tiles = 8, column_block = 3>
// CHECK: n_tiles = 8, column_block = 256>
// CHECK: n_tiles = 8, column_block = 256>
// CHECK: n_tiles = 8, column_block = 256>
func.func @outputs(%a: memref<?x?xf32>, %u: memref<?x1xf32>, %v: memref<?x?x1xf32>, %v3: memref<3x?x1xf32>, %w: memref<?x?x?xf32>,
                   %u2: memref<?x?xf32>, %y: memref<?x?x?xf32>, %y3: memref<3x?x?xf32>, %y1: memref<1x?x?xf32>) {
  kron.pairwise_grad by(lhs) dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) factors(%u, %v : memref<?x1xf32>, memref<?x?x1xf32>)
      outs(%y : memref<?x?x?xf32>)
  kron.pairwise_grad by(rhs) dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) factors(%v3, %u : memref<3x?x1xf32>, memref<?x1xf32>)
      outs(%y3 : memref<3x?x?xf32>)
  kron.pairwise_grad by(rhs) dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) factors(%u, %v : memref<?x1xf32>, memref<?x?x1xf32>)
      outs(%y : memref<?x?x?xf32>)
  kron.pairwise_grad by(lhs) dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) factors(%u2, %w : memref<?x?xf32>, memref<?x?x?xf32>)
      outs(%y : memref<?x?x?xf32>)
  kron.pairwise_grad by(lhs) dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) factors(%u, %v : memref<?x1xf32>, memref<?x?x1xf32>)
      outs(%y1 : memref<1x?x?xf32>)
  return
}

// Verify that sums of squares of long rows are made of products, with fewer positions of K at a time, and larger register
// tiles of 256 bits, and neither maxima, derivatives, nor what is given otherwise.
// CHECK-LABEL: func @squares(
// CHECK: rows = 8, vectors = 3, row_block = 256, k_block = 1024, product_k = 56, symmetric = 12>
// CHECK: rows = 8, vectors = 3, row_block = 256, k_block = 1024, product_k = 56, symmetric = 6>
// CHECK: k_block = 1360, product_k = -1, symmetric = 12>
// CHECK: k_block = 1024, product_k = 56, symmetric = 12>
// CHECK: k_block = 1024, lane_columns = 1, n_tiles = 8, column_block = 1, product_k = 56>
// CHECK: k_block = 1360, product_k = -1, symmetric = 12>
// CHECK: row_block = 256, k_block = 64, product_k = 100, symmetric = 12>
// CHECK: k_block = 1360, symmetric = 12>
// CHECK: n_tiles = 8, column_block = 256>
// NARROW-LABEL: func @squares(
// NARROW: rows = 6, vectors = 2, row_block = 258, k_block = 1024, product_k = 56, symmetric = 6>
func.func @squares(%a: memref<?x?xf32>, %y: memref<?x?xf32>, %c: memref<?x?xf64>, %z: memref<?x?xf64>, %d: memref<?x55xf32>,
                   %e: memref<?x56xf32>, %v: memref<?x1xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise square_diff ins(%c, %c : memref<?x?xf64>, memref<?x?xf64>) outs(%z : memref<?x?xf64>)
  kron.pairwise square_diff ins(%d, %d : memref<?x55xf32>, memref<?x55xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise square_diff ins(%e, %e : memref<?x56xf32>, memref<?x56xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%v : memref<?x1xf32>)
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<product_k = -1>}
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<k_block = 64, product_k = 100>}
  kron.pairwise square_diff reduce(max) ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise_grad by(lhs) square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) grad(%y : memref<?x?xf32>) outs(%a : memref<?x?xf32>)
  return
}

// Verify that what the code generator does not take has no plan.
// CHECK-LABEL: func @f80(
// CHECK-NOT: plan
// CHECK: return
func.func @f80(%a: memref<?x?xf80>, %y: memref<?x?xf80>) {
  kron.pairwise dot ins(%a, %a : memref<?x?xf80>, memref<?x?xf80>) outs(%y : memref<?x?xf80>)
  return
}

// Verify that fused regions have no plan yet where those of kron.pairwise alone are wanted.
// ONLY-LABEL: func @fused(
// ONLY-NOT: plan
// ONLY: return
func.func @fused(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}
