// RUN: kron-opt %s --kron-raise-shuffles --split-input-file | FileCheck %s --implicit-check-not=linalg.

// Verify that MKM by reshape, matmul, transpose (two factors) becomes mode
// products.
// CHECK-LABEL: func.func @shuffle_static
// CHECK-SAME:    %[[X:.+]]: tensor<5x12xf32>, %[[F1:.+]]: tensor<3x2xf32>, %[[F2:.+]]: tensor<4x6xf32>
func.func @shuffle_static(%x: tensor<5x12xf32>, %f1: tensor<3x2xf32>, %f2: tensor<4x6xf32>) -> tensor<5x12xf32> {
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [5, 3, 4]
  // CHECK: %[[E2:.+]] = tensor.empty() : tensor<5x3x6xf32>
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(2) ins(%[[V]] : tensor<5x3x4xf32>) factor(%[[F2]] [p, q] : tensor<4x6xf32>) outs(%[[E2]] : tensor<5x3x6xf32>)
  // CHECK: %[[E1:.+]] = tensor.empty() : tensor<5x2x6xf32>
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[Y2]] : tensor<5x3x6xf32>) factor(%[[F1]] [p, q] : tensor<3x2xf32>) outs(%[[E1]] : tensor<5x2x6xf32>)
  // CHECK: %[[Y:.+]] = tensor.collapse_shape %[[Y1]] {{\[\[}}0], [1, 2]]
  // CHECK: return %[[Y]]
  %zero = arith.constant 0.0 : f32
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 3, 4] : tensor<5x12xf32> into tensor<5x3x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<5x3x4xf32> into tensor<15x4xf32>
  %e1 = tensor.empty() : tensor<15x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %2 = linalg.matmul ins(%1, %f2 : tensor<15x4xf32>, tensor<4x6xf32>) outs(%i1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [5, 3, 6] : tensor<15x6xf32> into tensor<5x3x6xf32>
  %e2 = tensor.empty() : tensor<5x6x3xf32>
  %4 = linalg.transpose ins(%3 : tensor<5x3x6xf32>) outs(%e2 : tensor<5x6x3xf32>) permutation = [0, 2, 1]
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<5x6x3xf32> into tensor<30x3xf32>
  %e3 = tensor.empty() : tensor<30x2xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %6 = linalg.matmul ins(%5, %f1 : tensor<30x3xf32>, tensor<3x2xf32>) outs(%i3 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2]] output_shape [5, 6, 2] : tensor<30x2xf32> into tensor<5x6x2xf32>
  %e4 = tensor.empty() : tensor<5x2x6xf32>
  %8 = linalg.transpose ins(%7 : tensor<5x6x2xf32>) outs(%e4 : tensor<5x2x6xf32>) permutation = [0, 2, 1]
  %9 = tensor.collapse_shape %8 [[0], [1, 2]] : tensor<5x2x6xf32> into tensor<5x12xf32>
  return %9 : tensor<5x12xf32>
}

// -----

// Verify the same for three factors and a dynamic number of rows, reshaped by
// tensor.reshape between the factors and with sizes taken from intermediates.
// CHECK-LABEL: func.func @shuffle_dynamic
// CHECK-SAME:    %[[X:.+]]: tensor<?x24xf64>, %[[F1:.+]]: tensor<2x3xf64>, %[[F2:.+]]: tensor<3x5xf64>, %[[F3:.+]]: tensor<4x7xf64>
func.func @shuffle_dynamic(%x: tensor<?x24xf64>, %f1: tensor<2x3xf64>, %f2: tensor<3x5xf64>, %f3: tensor<4x7xf64>) -> tensor<?x105xf64> {
  // CHECK: %[[M:.+]] = tensor.dim %[[X]]
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2, 3]] output_shape [%[[M]], 2, 3, 4]
  // CHECK: %[[Y3:.+]] = kron.mode_product axis(3) ins(%[[V]] : tensor<?x2x3x4xf64>) factor(%[[F3]] [p, q] : tensor<4x7xf64>) outs(%{{.+}} : tensor<?x2x3x7xf64>)
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(2) ins(%[[Y3]] : tensor<?x2x3x7xf64>) factor(%[[F2]] [p, q] : tensor<3x5xf64>) outs(%{{.+}} : tensor<?x2x5x7xf64>)
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[Y2]] : tensor<?x2x5x7xf64>) factor(%[[F1]] [p, q] : tensor<2x3xf64>) outs(%{{.+}} : tensor<?x3x5x7xf64>)
  // CHECK: %[[Y:.+]] = tensor.collapse_shape %[[Y1]] {{\[\[}}0], [1, 2, 3]]
  // CHECK: return %[[Y]]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c35 = arith.constant 35 : index
  %c6 = arith.constant 6 : index
  %c14 = arith.constant 14 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %x, %c0 : tensor<?x24xf64>
  // Factor 3.
  %r3 = arith.muli %m, %c6 : index
  %s3 = tensor.from_elements %r3, %c4 : tensor<2xindex>
  %0 = tensor.reshape %x(%s3) : (tensor<?x24xf64>, tensor<2xindex>) -> tensor<?x4xf64>
  %d0 = tensor.dim %0, %c0 : tensor<?x4xf64>
  %e0 = tensor.empty(%d0) : tensor<?x7xf64>
  %i0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<?x7xf64>) -> tensor<?x7xf64>
  %1 = linalg.matmul ins(%0, %f3 : tensor<?x4xf64>, tensor<4x7xf64>) outs(%i0 : tensor<?x7xf64>) -> tensor<?x7xf64>
  %s3o = tensor.from_elements %m, %c6, %c7 : tensor<3xindex>
  %2 = tensor.reshape %1(%s3o) : (tensor<?x7xf64>, tensor<3xindex>) -> tensor<?x6x7xf64>
  %et0 = tensor.empty(%m) : tensor<?x7x6xf64>
  %3 = linalg.transpose ins(%2 : tensor<?x6x7xf64>) outs(%et0 : tensor<?x7x6xf64>) permutation = [0, 2, 1]
  // Factor 2.
  %r2 = arith.muli %m, %c14 : index
  %s2 = tensor.from_elements %r2, %c3 : tensor<2xindex>
  %4 = tensor.reshape %3(%s2) : (tensor<?x7x6xf64>, tensor<2xindex>) -> tensor<?x3xf64>
  %d4 = tensor.dim %4, %c0 : tensor<?x3xf64>
  %e4 = tensor.empty(%d4) : tensor<?x5xf64>
  %i4 = linalg.fill ins(%zero : f64) outs(%e4 : tensor<?x5xf64>) -> tensor<?x5xf64>
  %5 = linalg.matmul ins(%4, %f2 : tensor<?x3xf64>, tensor<3x5xf64>) outs(%i4 : tensor<?x5xf64>) -> tensor<?x5xf64>
  %6 = tensor.expand_shape %5 [[0, 1], [2]] output_shape [%m, 14, 5] : tensor<?x5xf64> into tensor<?x14x5xf64>
  %et1 = tensor.empty(%m) : tensor<?x5x14xf64>
  %7 = linalg.transpose ins(%6 : tensor<?x14x5xf64>) outs(%et1 : tensor<?x5x14xf64>) permutation = [0, 2, 1]
  // Factor 1.
  %8 = tensor.collapse_shape %7 [[0, 1, 2]] : tensor<?x5x14xf64> into tensor<?xf64>
  %r1 = arith.muli %m, %c35 : index
  %9 = tensor.expand_shape %8 [[0, 1]] output_shape [%r1, 2] : tensor<?xf64> into tensor<?x2xf64>
  %e9 = tensor.empty(%r1) : tensor<?x3xf64>
  %i9 = linalg.fill ins(%zero : f64) outs(%e9 : tensor<?x3xf64>) -> tensor<?x3xf64>
  %10 = linalg.matmul ins(%9, %f1 : tensor<?x2xf64>, tensor<2x3xf64>) outs(%i9 : tensor<?x3xf64>) -> tensor<?x3xf64>
  %11 = tensor.expand_shape %10 [[0, 1], [2]] output_shape [%m, 35, 3] : tensor<?x3xf64> into tensor<?x35x3xf64>
  %et2 = tensor.empty(%m) : tensor<?x3x35xf64>
  %12 = linalg.transpose ins(%11 : tensor<?x35x3xf64>) outs(%et2 : tensor<?x3x35xf64>) permutation = [0, 2, 1]
  %13 = tensor.collapse_shape %12 [[0], [1, 2]] : tensor<?x3x35xf64> into tensor<?x105xf64>
  return %13 : tensor<?x105xf64>
}

// -----

// Verify that KMM as GPyTorch's KroneckerProductLinearOperator writes it, with
// the factor on the left, becomes mode products, for a dynamic number of
// columns.
// CHECK-LABEL: func.func @gpytorch_dynamic
// CHECK-SAME:    %[[X:.+]]: tensor<12x?xf32>, %[[F1:.+]]: tensor<2x3xf32>, %[[F2:.+]]: tensor<5x4xf32>
func.func @gpytorch_dynamic(%x: tensor<12x?xf32>, %f1: tensor<2x3xf32>, %f2: tensor<5x4xf32>) -> tensor<10x?xf32> {
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [3, 4, %{{.+}}]
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(0) ins(%[[V]] : tensor<3x4x?xf32>) factor(%[[F1]] [q, p] : tensor<2x3xf32>) outs(%{{.+}} : tensor<2x4x?xf32>)
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(1) ins(%[[Y1]] : tensor<2x4x?xf32>) factor(%[[F2]] [q, p] : tensor<5x4xf32>) outs(%{{.+}} : tensor<2x5x?xf32>)
  // CHECK: %[[Y:.+]] = tensor.collapse_shape %[[Y2]] {{\[\[}}0, 1], [2]]
  // CHECK: return %[[Y]]
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c1 : tensor<12x?xf32>
  // res.view(3, -1)
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 4, %m] : tensor<12x?xf32> into tensor<3x4x?xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<3x4x?xf32> into tensor<3x?xf32>
  %n1 = tensor.dim %1, %c1 : tensor<3x?xf32>
  %e1 = tensor.empty(%n1) : tensor<2x?xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x?xf32>) -> tensor<2x?xf32>
  %2 = linalg.matmul ins(%f1, %1 : tensor<2x3xf32>, tensor<3x?xf32>) outs(%i1 : tensor<2x?xf32>) -> tensor<2x?xf32>
  // factor.view(2, -1, num_cols).transpose(-3, -2)
  %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [2, 4, %m] : tensor<2x?xf32> into tensor<2x4x?xf32>
  %e3 = tensor.empty(%m) : tensor<4x2x?xf32>
  %4 = linalg.transpose ins(%3 : tensor<2x4x?xf32>) outs(%e3 : tensor<4x2x?xf32>) permutation = [1, 0, 2]
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<4x2x?xf32> into tensor<8x?xf32>
  // res.view(4, -1)
  %6 = tensor.expand_shape %5 [[0, 1], [2]] output_shape [4, 2, %m] : tensor<8x?xf32> into tensor<4x2x?xf32>
  %7 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<4x2x?xf32> into tensor<4x?xf32>
  %n7 = tensor.dim %7, %c1 : tensor<4x?xf32>
  %e7 = tensor.empty(%n7) : tensor<5x?xf32>
  %i7 = linalg.fill ins(%zero : f32) outs(%e7 : tensor<5x?xf32>) -> tensor<5x?xf32>
  %8 = linalg.matmul ins(%f2, %7 : tensor<5x4xf32>, tensor<4x?xf32>) outs(%i7 : tensor<5x?xf32>) -> tensor<5x?xf32>
  %9 = tensor.expand_shape %8 [[0], [1, 2]] output_shape [5, 2, %m] : tensor<5x?xf32> into tensor<5x2x?xf32>
  %e9 = tensor.empty(%m) : tensor<2x5x?xf32>
  %10 = linalg.transpose ins(%9 : tensor<5x2x?xf32>) outs(%e9 : tensor<2x5x?xf32>) permutation = [1, 0, 2]
  %11 = tensor.collapse_shape %10 [[0, 1], [2]] : tensor<2x5x?xf32> into tensor<10x?xf32>
  return %11 : tensor<10x?xf32>
}

// -----

// Verify that a static KMM of three factors, reshaped by tensor.reshape with
// constant shapes, becomes mode products.
// CHECK-LABEL: func.func @gpytorch_static
// CHECK-SAME:    %[[X:.+]]: tensor<24x6xi32>, %[[F1:.+]]: tensor<3x2xi32>, %[[F2:.+]]: tensor<3x3xi32>, %[[F3:.+]]: tensor<2x4xi32>
func.func @gpytorch_static(%x: tensor<24x6xi32>, %f1: tensor<3x2xi32>, %f2: tensor<3x3xi32>, %f3: tensor<2x4xi32>) -> tensor<18x6xi32> {
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1, 2], [3]] output_shape [2, 3, 4, 6]
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(0) ins(%[[V]] : tensor<2x3x4x6xi32>) factor(%[[F1]] [q, p] : tensor<3x2xi32>)
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(1) ins(%[[Y1]] : tensor<3x3x4x6xi32>) factor(%[[F2]] [q, p] : tensor<3x3xi32>)
  // CHECK: %[[Y3:.+]] = kron.mode_product axis(2) ins(%[[Y2]] : tensor<3x3x4x6xi32>) factor(%[[F3]] [q, p] : tensor<2x4xi32>)
  // CHECK: %[[Y:.+]] = tensor.collapse_shape %[[Y3]] {{\[\[}}0, 1, 2], [3]]
  // CHECK: return %[[Y]]
  %zero = arith.constant dense<0> : tensor<3x72xi32>
  %zero2 = arith.constant dense<0> : tensor<3x72xi32>
  %zero3 = arith.constant dense<0> : tensor<2x54xi32>
  %s0 = arith.constant dense<[2, 72]> : tensor<2xi64>
  %0 = tensor.reshape %x(%s0) : (tensor<24x6xi32>, tensor<2xi64>) -> tensor<2x72xi32>
  %1 = linalg.matmul ins(%f1, %0 : tensor<3x2xi32>, tensor<2x72xi32>) outs(%zero : tensor<3x72xi32>) -> tensor<3x72xi32>
  %s1 = arith.constant dense<[3, 12, 6]> : tensor<3xi64>
  %2 = tensor.reshape %1(%s1) : (tensor<3x72xi32>, tensor<3xi64>) -> tensor<3x12x6xi32>
  %e2 = tensor.empty() : tensor<12x3x6xi32>
  %3 = linalg.transpose ins(%2 : tensor<3x12x6xi32>) outs(%e2 : tensor<12x3x6xi32>) permutation = [1, 0, 2]
  %s3 = arith.constant dense<[3, 72]> : tensor<2xi64>
  %4 = tensor.reshape %3(%s3) : (tensor<12x3x6xi32>, tensor<2xi64>) -> tensor<3x72xi32>
  %5 = linalg.matmul ins(%f2, %4 : tensor<3x3xi32>, tensor<3x72xi32>) outs(%zero2 : tensor<3x72xi32>) -> tensor<3x72xi32>
  %6 = tensor.reshape %5(%s1) : (tensor<3x72xi32>, tensor<3xi64>) -> tensor<3x12x6xi32>
  %7 = linalg.transpose ins(%6 : tensor<3x12x6xi32>) outs(%e2 : tensor<12x3x6xi32>) permutation = [1, 0, 2]
  %s7 = arith.constant dense<[4, 54]> : tensor<2xi64>
  %8 = tensor.reshape %7(%s7) : (tensor<12x3x6xi32>, tensor<2xi64>) -> tensor<4x54xi32>
  %9 = linalg.matmul ins(%f3, %8 : tensor<2x4xi32>, tensor<4x54xi32>) outs(%zero3 : tensor<2x54xi32>) -> tensor<2x54xi32>
  %s9 = arith.constant dense<[2, 9, 6]> : tensor<3xi64>
  %10 = tensor.reshape %9(%s9) : (tensor<2x54xi32>, tensor<3xi64>) -> tensor<2x9x6xi32>
  %e10 = tensor.empty() : tensor<9x2x6xi32>
  %11 = linalg.transpose ins(%10 : tensor<2x9x6xi32>) outs(%e10 : tensor<9x2x6xi32>) permutation = [1, 0, 2]
  %12 = tensor.collapse_shape %11 [[0, 1], [2]] : tensor<9x2x6xi32> into tensor<18x6xi32>
  return %12 : tensor<18x6xi32>
}

// -----

// Verify that einsum-like contractions, in place and in any order of factors,
// become mode products: np.einsum("mabc,ax->mxbc"), "mxbc,cz->mxbz",
// "mxbz,yb->mxyz".
// CHECK-LABEL: func.func @einsum
// CHECK-SAME:    %[[X:.+]]: tensor<?x24xf32>, %[[A:.+]]: tensor<2x5xf32>, %[[B:.+]]: tensor<6x3xf32>, %[[C:.+]]: tensor<4x7xf32>
#mabc = affine_map<(m, a, b, c, q) -> (m, a, b, c)>
func.func @einsum(%x: tensor<?x24xf32>, %a: tensor<2x5xf32>, %b: tensor<6x3xf32>, %c: tensor<4x7xf32>) -> tensor<?x210xf32> {
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2, 3]] output_shape [%{{.+}}, 2, 3, 4]
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[V]] : tensor<?x2x3x4xf32>) factor(%[[A]] [p, q] : tensor<2x5xf32>)
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(3) ins(%[[Y1]] : tensor<?x5x3x4xf32>) factor(%[[C]] [p, q] : tensor<4x7xf32>)
  // CHECK: %[[Y3:.+]] = kron.mode_product axis(2) ins(%[[Y2]] : tensor<?x5x3x7xf32>) factor(%[[B]] [q, p] : tensor<6x3xf32>)
  // CHECK: %[[Y:.+]] = tensor.collapse_shape %[[Y3]] {{\[\[}}0], [1, 2, 3]]
  // CHECK: return %[[Y]]
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x24xf32>
  %0 = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [%m, 2, 3, 4] : tensor<?x24xf32> into tensor<?x2x3x4xf32>
  %e1 = tensor.empty(%m) : tensor<?x5x3x4xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x5x3x4xf32>) -> tensor<?x5x3x4xf32>
  %1 = linalg.generic {
      indexing_maps = [#mabc, affine_map<(m, a, b, c, q) -> (a, q)>, affine_map<(m, a, b, c, q) -> (m, q, b, c)>],
      iterator_types = ["parallel", "reduction", "parallel", "parallel", "parallel"]}
      ins(%0, %a : tensor<?x2x3x4xf32>, tensor<2x5xf32>) outs(%i1 : tensor<?x5x3x4xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x5x3x4xf32>
  %e2 = tensor.empty(%m) : tensor<?x5x3x7xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x5x3x7xf32>) -> tensor<?x5x3x7xf32>
  %2 = linalg.contract
      indexing_maps = [#mabc, affine_map<(m, a, b, c, q) -> (c, q)>, affine_map<(m, a, b, c, q) -> (m, a, b, q)>]
      ins(%1, %c : tensor<?x5x3x4xf32>, tensor<4x7xf32>) outs(%i2 : tensor<?x5x3x7xf32>) -> tensor<?x5x3x7xf32>
  %e3 = tensor.empty(%m) : tensor<?x5x6x7xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x5x6x7xf32>) -> tensor<?x5x6x7xf32>
  %3 = linalg.contract
      indexing_maps = [#mabc, affine_map<(m, a, b, c, q) -> (q, b)>, affine_map<(m, a, b, c, q) -> (m, a, q, c)>]
      ins(%2, %b : tensor<?x5x3x7xf32>, tensor<6x3xf32>) outs(%i3 : tensor<?x5x6x7xf32>) -> tensor<?x5x6x7xf32>
  %4 = tensor.collapse_shape %3 [[0], [1, 2, 3]] : tensor<?x5x6x7xf32> into tensor<?x210xf32>
  return %4 : tensor<?x210xf32>
}

// -----

// Verify that tensordot-like contractions, which put the new axis last, and the
// transpose that undoes them become mode products.
// CHECK-LABEL: func.func @tensordot
// CHECK-SAME:    %[[X:.+]]: tensor<7x6xf32>, %[[A:.+]]: tensor<2x5xf32>, %[[B:.+]]: tensor<3x4xf32>
func.func @tensordot(%x: tensor<7x6xf32>, %a: tensor<2x5xf32>, %b: tensor<3x4xf32>) -> tensor<7x20xf32> {
  // CHECK: %[[V:.+]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [7, 2, 3]
  // CHECK: %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[V]] : tensor<7x2x3xf32>) factor(%[[A]] [p, q] : tensor<2x5xf32>)
  // CHECK: %[[Y2:.+]] = kron.mode_product axis(2) ins(%[[Y1]] : tensor<7x5x3xf32>) factor(%[[B]] [p, q] : tensor<3x4xf32>)
  // CHECK: %[[Y:.+]] = tensor.collapse_shape %[[Y2]] {{\[\[}}0], [1, 2]]
  // CHECK: return %[[Y]]
  %zero = arith.constant 0.0 : f32
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [7, 2, 3] : tensor<7x6xf32> into tensor<7x2x3xf32>
  // tensordot(x, a, axes=(1, 0)): [m, b, q]
  %e1 = tensor.empty() : tensor<7x3x5xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<7x3x5xf32>) -> tensor<7x3x5xf32>
  %1 = linalg.contract
      indexing_maps = [affine_map<(m, a, b, q) -> (m, a, b)>, affine_map<(m, a, b, q) -> (a, q)>, affine_map<(m, a, b, q) -> (m, b, q)>]
      ins(%0, %a : tensor<7x2x3xf32>, tensor<2x5xf32>) outs(%i1 : tensor<7x3x5xf32>) -> tensor<7x3x5xf32>
  // tensordot(., b, axes=(1, 0)): [m, q, r]
  %e2 = tensor.empty() : tensor<7x5x4xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x5x4xf32>) -> tensor<7x5x4xf32>
  %2 = linalg.contract
      indexing_maps = [affine_map<(m, b, q, r) -> (m, b, q)>, affine_map<(m, b, q, r) -> (b, r)>, affine_map<(m, b, q, r) -> (m, q, r)>]
      ins(%1, %b : tensor<7x3x5xf32>, tensor<3x4xf32>) outs(%i2 : tensor<7x5x4xf32>) -> tensor<7x5x4xf32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<7x5x4xf32> into tensor<7x20xf32>
  return %3 : tensor<7x20xf32>
}
