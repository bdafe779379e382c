// RUN: kron-opt %s --kron-raise-shuffles --split-input-file | FileCheck %s --implicit-check-not=linalg.

// Verify that batched products with one factor for all batches, given by
// linalg.broadcast and by an indexing map, become mode products.
// CHECK-LABEL: func.func @broadcast_factor
// CHECK-SAME:    %[[X:.+]]: tensor<5x3x4xf32>, %[[F1:.+]]: tensor<3x2xf32>, %[[F2:.+]]: tensor<4x6xf32>
func.func @broadcast_factor(%x: tensor<5x3x4xf32>, %f1: tensor<3x2xf32>, %f2: tensor<4x6xf32>) -> tensor<5x2x6xf32> {
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(2) ins(%[[X]] : tensor<5x3x4xf32>) factor(%[[F2]] [p, q] : tensor<4x6xf32>)
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[Y2]] : tensor<5x3x6xf32>) factor(%[[F1]] [p, q] : tensor<3x2xf32>)
  // CHECK: return %[[Y1]]
  %z1 = arith.constant dense<0.0> : tensor<5x3x6xf32>
  %z2 = arith.constant dense<0.0> : tensor<5x6x2xf32>
  %eb = tensor.empty() : tensor<5x4x6xf32>
  %b = linalg.broadcast ins(%f2 : tensor<4x6xf32>) outs(%eb : tensor<5x4x6xf32>) dimensions = [0]
  %0 = linalg.batch_matmul ins(%x, %b : tensor<5x3x4xf32>, tensor<5x4x6xf32>) outs(%z1 : tensor<5x3x6xf32>) -> tensor<5x3x6xf32>
  %e0 = tensor.empty() : tensor<5x6x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<5x3x6xf32>) outs(%e0 : tensor<5x6x3xf32>) permutation = [0, 2, 1]
  %2 = linalg.batch_matmul
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%1, %f1 : tensor<5x6x3xf32>, tensor<3x2xf32>) outs(%z2 : tensor<5x6x2xf32>) -> tensor<5x6x2xf32>
  %e2 = tensor.empty() : tensor<5x2x6xf32>
  %3 = linalg.transpose ins(%2 : tensor<5x6x2xf32>) outs(%e2 : tensor<5x2x6xf32>) permutation = [0, 2, 1]
  return %3 : tensor<5x2x6xf32>
}

// -----

// Verify that a factor that is read transposed, by linalg.transpose or by an
// indexing map, is not transposed: factor_dims say how it is stored. The second
// transpose is a generic copy.
// CHECK-LABEL: func.func @transposed_factor
// CHECK-SAME:    %[[X:.+]]: tensor<3x4xf32>, %[[F1:.+]]: tensor<2x3xf32>, %[[F2:.+]]: tensor<6x4xf32>
func.func @transposed_factor(%x: tensor<3x4xf32>, %f1: tensor<2x3xf32>, %f2: tensor<6x4xf32>) -> tensor<2x6xf32> {
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(1) ins(%[[X]] : tensor<3x4xf32>) factor(%[[F2]] [q, p] : tensor<6x4xf32>)
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(0) ins(%[[Y2]] : tensor<3x6xf32>) factor(%[[F1]] [q, p] : tensor<2x3xf32>)
  // CHECK: return %[[Y1]]
  %z1 = arith.constant dense<0.0> : tensor<3x6xf32>
  %z2 = arith.constant dense<0.0> : tensor<6x2xf32>
  %ef = tensor.empty() : tensor<4x6xf32>
  %f2t = linalg.transpose ins(%f2 : tensor<6x4xf32>) outs(%ef : tensor<4x6xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %f2t : tensor<3x4xf32>, tensor<4x6xf32>) outs(%z1 : tensor<3x6xf32>) -> tensor<3x6xf32>
  %e0 = tensor.empty() : tensor<6x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<3x6xf32>) outs(%e0 : tensor<6x3xf32>) permutation = [1, 0]
  %2 = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%1, %f1 : tensor<6x3xf32>, tensor<2x3xf32>) outs(%z2 : tensor<6x2xf32>) -> tensor<6x2xf32>
  %e2 = tensor.empty() : tensor<2x6xf32>
  %3 = linalg.generic
      {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<6x2xf32>) outs(%e2 : tensor<2x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x6xf32>
  return %3 : tensor<2x6xf32>
}

// -----

// Verify that a block-diagonal layer (the half of a Monarch layer), a batched
// product over blocks, becomes a mode product whose factor varies with the
// block.
// CHECK-LABEL: func.func @block_diagonal
// CHECK-SAME:    %[[X:.+]]: tensor<?x12xf32>, %[[W:.+]]: tensor<3x4x5xf32>
func.func @block_diagonal(%x: tensor<?x12xf32>, %w: tensor<3x4x5xf32>) -> tensor<?x15xf32> {
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.+}}, 3, 4]
  // CHECK: %[[Y:.+]] = kron.mode_product axis(2) ins(%[[V]] : tensor<?x3x4xf32>) factor(%[[W]] [1, p, q] : tensor<3x4x5xf32>)
  // CHECK: tensor.collapse_shape %[[Y]] {{\[\[}}0], [1, 2]]
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x12xf32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 3, 4] : tensor<?x12xf32> into tensor<?x3x4xf32>
  %e0 = tensor.empty(%m) : tensor<3x?x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<?x3x4xf32>) outs(%e0 : tensor<3x?x4xf32>) permutation = [1, 0, 2]
  %e1 = tensor.empty(%m) : tensor<3x?x5xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x?x5xf32>) -> tensor<3x?x5xf32>
  %2 = linalg.batch_matmul ins(%1, %w : tensor<3x?x4xf32>, tensor<3x4x5xf32>) outs(%i1 : tensor<3x?x5xf32>) -> tensor<3x?x5xf32>
  %e2 = tensor.empty(%m) : tensor<?x3x5xf32>
  %3 = linalg.transpose ins(%2 : tensor<3x?x5xf32>) outs(%e2 : tensor<?x3x5xf32>) permutation = [1, 0, 2]
  %4 = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<?x3x5xf32> into tensor<?x15xf32>
  return %4 : tensor<?x15xf32>
}

// -----

// Verify that a Kronecker-sparse factor, einsum "nikt,ijkt->njit" and back,
// becomes a mode product whose factor varies with the axes on both sides.
// CHECK-LABEL: func.func @kronecker_sparse
// CHECK-SAME:    %[[X:.+]]: tensor<7x2x3x5xf64>, %[[K:.+]]: tensor<2x4x3x5xf64>
func.func @kronecker_sparse(%x: tensor<7x2x3x5xf64>, %k: tensor<2x4x3x5xf64>) -> tensor<7x2x4x5xf64> {
  // CHECK: %[[Y:.+]] = kron.mode_product axis(2) ins(%[[X]] : tensor<7x2x3x5xf64>) factor(%[[K]] [1, q, p, 3] : tensor<2x4x3x5xf64>)
  // CHECK: return %[[Y]]
  %z = arith.constant dense<0.0> : tensor<7x4x2x5xf64>
  %0 = linalg.contract
      indexing_maps = [affine_map<(n, i, k, t, j) -> (n, i, k, t)>, affine_map<(n, i, k, t, j) -> (i, j, k, t)>, affine_map<(n, i, k, t, j) -> (n, j, i, t)>]
      ins(%x, %k : tensor<7x2x3x5xf64>, tensor<2x4x3x5xf64>) outs(%z : tensor<7x4x2x5xf64>) -> tensor<7x4x2x5xf64>
  %e = tensor.empty() : tensor<7x2x4x5xf64>
  %1 = linalg.transpose ins(%0 : tensor<7x4x2x5xf64>) outs(%e : tensor<7x2x4x5xf64>) permutation = [0, 2, 1, 3]
  return %1 : tensor<7x2x4x5xf64>
}

// -----

// Verify that two dynamic dimensions are told apart by the sizes that reshapes
// name, taken from the array or from an intermediate.
// CHECK-LABEL: func.func @two_dynamic_dims
// CHECK-SAME:    %[[X:.+]]: tensor<?x4x?xf32>, %[[F:.+]]: tensor<4x6xf32>
func.func @two_dynamic_dims(%x: tensor<?x4x?xf32>, %f: tensor<4x6xf32>) -> tensor<?x6x?xf32> {
  // CHECK: %[[Y:.+]] = kron.mode_product axis(1) ins(%[[X]] : tensor<?x4x?xf32>) factor(%[[F]] [p, q] : tensor<4x6xf32>)
  // CHECK: return %[[Y]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x4x?xf32>
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c2 : tensor<?x4x?xf32>
  %e0 = tensor.empty(%b, %m) : tensor<?x?x4xf32>
  %0 = linalg.transpose ins(%x : tensor<?x4x?xf32>) outs(%e0 : tensor<?x?x4xf32>) permutation = [0, 2, 1]
  %m0 = tensor.dim %0, %c1 : tensor<?x?x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  %bm = tensor.dim %1, %c0 : tensor<?x4xf32>
  %e1 = tensor.empty(%bm) : tensor<?x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x6xf32>) -> tensor<?x6xf32>
  %2 = linalg.matmul ins(%1, %f : tensor<?x4xf32>, tensor<4x6xf32>) outs(%i1 : tensor<?x6xf32>) -> tensor<?x6xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [%b, %m0, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  %e3 = tensor.empty(%b, %m) : tensor<?x6x?xf32>
  %4 = linalg.transpose ins(%3 : tensor<?x?x6xf32>) outs(%e3 : tensor<?x6x?xf32>) permutation = [0, 2, 1]
  return %4 : tensor<?x6x?xf32>
}

// -----

// Verify that axes that are contracted together, by one factor with two rows
// and two columns of axes, are one axis of the mode product.
// CHECK-LABEL: func.func @joint_axes
// CHECK-SAME:    %[[X:.+]]: tensor<2x3x4xi64>, %[[F:.+]]: tensor<2x3x5x6xi64>
func.func @joint_axes(%x: tensor<2x3x4xi64>, %f: tensor<2x3x5x6xi64>) -> tensor<5x6x4xi64> {
  // CHECK: %[[V:.+]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
  // CHECK: %[[G:.+]] = tensor.collapse_shape %[[F]] {{\[\[}}0, 1], [2, 3]]
  // CHECK: %[[Y:.+]] = kron.mode_product axis(0) ins(%[[V]] : tensor<6x4xi64>) factor(%[[G]] [p, q] : tensor<6x30xi64>)
  // CHECK: %[[W:.+]] = tensor.expand_shape %[[Y]] {{\[\[}}0, 1], [2]] output_shape [5, 6, 4]
  // CHECK: return %[[W]]
  %z = arith.constant dense<0> : tensor<4x5x6xi64>
  %0 = linalg.contract
      indexing_maps = [affine_map<(a, b, m, p, q) -> (a, b, m)>, affine_map<(a, b, m, p, q) -> (a, b, p, q)>, affine_map<(a, b, m, p, q) -> (m, p, q)>]
      ins(%x, %f : tensor<2x3x4xi64>, tensor<2x3x5x6xi64>) outs(%z : tensor<4x5x6xi64>) -> tensor<4x5x6xi64>
  %e = tensor.empty() : tensor<5x6x4xi64>
  %1 = linalg.transpose ins(%0 : tensor<4x5x6xi64>) outs(%e : tensor<5x6x4xi64>) permutation = [1, 2, 0]
  return %1 : tensor<5x6x4xi64>
}

// -----

// Verify that a factor that is a vector leaves an axis of size 1, which is
// dropped.
// CHECK-LABEL: func.func @vector_factor
// CHECK-SAME:    %[[X:.+]]: tensor<2x3x4xf32>, %[[F:.+]]: tensor<3xf32>
func.func @vector_factor(%x: tensor<2x3x4xf32>, %f: tensor<3xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[G:.+]] = tensor.expand_shape %[[F]] {{\[\[}}0, 1]] output_shape [3, 1]
  // CHECK: %[[Y:.+]] = kron.mode_product axis(1) ins(%[[X]] : tensor<2x3x4xf32>) factor(%[[G]] [p, q] : tensor<3x1xf32>)
  // CHECK: %[[W:.+]] = tensor.collapse_shape %[[Y]] {{\[\[}}0, 1], [2]]
  // CHECK: return %[[W]]
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<2x4x3xf32>
  %0 = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<2x4x3xf32>) permutation = [0, 2, 1]
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x4x3xf32> into tensor<8x3xf32>
  %2 = linalg.matvec ins(%1, %f : tensor<8x3xf32>, tensor<3xf32>) outs(%z : tensor<8xf32>) -> tensor<8xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// -----

// Verify that what one factor makes may be taken apart by the next: a dense
// product over 12 columns, then one over a part of them.
// CHECK-LABEL: func.func @splits_result
// CHECK-SAME:    %[[X:.+]]: tensor<50x6xf32>, %[[F:.+]]: tensor<6x12xf32>, %[[G:.+]]: tensor<3x2xf32>
func.func @splits_result(%x: tensor<50x6xf32>, %f: tensor<6x12xf32>, %g: tensor<3x2xf32>) -> tensor<50x2x4xf32> {
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[X]] : tensor<50x6xf32>) factor(%[[F]] [p, q] : tensor<6x12xf32>)
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[Y1]] {{\[\[}}0], [1, 2]] output_shape [50, 3, 4]
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(1) ins(%[[V]] : tensor<50x3x4xf32>) factor(%[[G]] [p, q] : tensor<3x2xf32>)
  // CHECK: return %[[Y2]]
  %z1 = arith.constant dense<0.0> : tensor<50x12xf32>
  %z2 = arith.constant dense<0.0> : tensor<200x2xf32>
  %0 = linalg.matmul ins(%x, %f : tensor<50x6xf32>, tensor<6x12xf32>) outs(%z1 : tensor<50x12xf32>) -> tensor<50x12xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [50, 3, 4] : tensor<50x12xf32> into tensor<50x3x4xf32>
  %e1 = tensor.empty() : tensor<50x4x3xf32>
  %2 = linalg.transpose ins(%1 : tensor<50x3x4xf32>) outs(%e1 : tensor<50x4x3xf32>) permutation = [0, 2, 1]
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<50x4x3xf32> into tensor<200x3xf32>
  %4 = linalg.matmul ins(%3, %g : tensor<200x3xf32>, tensor<3x2xf32>) outs(%z2 : tensor<200x2xf32>) -> tensor<200x2xf32>
  %5 = tensor.expand_shape %4 [[0, 1], [2]] output_shape [50, 4, 2] : tensor<200x2xf32> into tensor<50x4x2xf32>
  %e5 = tensor.empty() : tensor<50x2x4xf32>
  %6 = linalg.transpose ins(%5 : tensor<50x4x2xf32>) outs(%e5 : tensor<50x2x4xf32>) permutation = [0, 2, 1]
  return %6 : tensor<50x2x4xf32>
}

// -----

// Verify that dimensions of size 1 come and go, that complex zeros are seen, and
// that the array itself may have other uses.
// CHECK-LABEL: func.func @units_complex
// CHECK-SAME:    %[[X:.+]]: tensor<1x12xcomplex<f32>>, %[[F:.+]]: tensor<1x3x2xcomplex<f32>>
func.func @units_complex(%x: tensor<1x12xcomplex<f32>>, %f: tensor<1x3x2xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<1x12xcomplex<f32>>) {
  // CHECK: %[[E:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [1, 3, 4]
  // CHECK: %[[V:.+]] = tensor.collapse_shape %[[E]] {{\[\[}}0, 1], [2]]
  // CHECK: %[[G:.+]] = tensor.collapse_shape %[[F]] {{\[\[}}0, 1], [2]]
  // CHECK: %[[Y:.+]] = kron.mode_product axis(0) ins(%[[V]] : tensor<3x4xcomplex<f32>>) factor(%[[G]] [p, q] : tensor<3x2xcomplex<f32>>)
  // CHECK: %[[W:.+]] = tensor.collapse_shape %[[Y]] {{\[\[}}0, 1]]
  // CHECK: return %[[W]], %[[X]]
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [1, 3, 4] : tensor<1x12xcomplex<f32>> into tensor<1x3x4xcomplex<f32>>
  %e0 = tensor.empty() : tensor<1x4x3xcomplex<f32>>
  %1 = linalg.transpose ins(%0 : tensor<1x3x4xcomplex<f32>>) outs(%e0 : tensor<1x4x3xcomplex<f32>>) permutation = [0, 2, 1]
  %e1 = tensor.empty() : tensor<1x4x2xcomplex<f32>>
  %i1 = linalg.fill ins(%zero : complex<f32>) outs(%e1 : tensor<1x4x2xcomplex<f32>>) -> tensor<1x4x2xcomplex<f32>>
  %2 = linalg.batch_matmul ins(%1, %f : tensor<1x4x3xcomplex<f32>>, tensor<1x3x2xcomplex<f32>>) outs(%i1 : tensor<1x4x2xcomplex<f32>>) -> tensor<1x4x2xcomplex<f32>>
  %e2 = tensor.empty() : tensor<2x1x4xcomplex<f32>>
  %3 = linalg.transpose ins(%2 : tensor<1x4x2xcomplex<f32>>) outs(%e2 : tensor<2x1x4xcomplex<f32>>) permutation = [2, 0, 1]
  %4 = tensor.collapse_shape %3 [[0, 1, 2]] : tensor<2x1x4xcomplex<f32>> into tensor<8xcomplex<f32>>
  return %4, %x : tensor<8xcomplex<f32>>, tensor<1x12xcomplex<f32>>
}
