// RUN: kron-opt %s --kron-raise-shuffles --split-input-file | FileCheck %s --implicit-check-not=kron.

// The whole chain once, to be varied below, is @shuffle_static in
// raise-shuffles.mlir.

// Verify that a chain without its last transpose is left alone.
// CHECK-LABEL: func.func @no_last_transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
func.func @no_last_transpose(%x: tensor<15x4xf32>, %f1: tensor<3x2xf32>, %f2: tensor<4x6xf32>) -> tensor<5x6x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<15x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %2 = linalg.matmul ins(%x, %f2 : tensor<15x4xf32>, tensor<4x6xf32>) outs(%i1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [5, 3, 6] : tensor<15x6xf32> into tensor<5x3x6xf32>
  %e2 = tensor.empty() : tensor<5x6x3xf32>
  %4 = linalg.transpose ins(%3 : tensor<5x3x6xf32>) outs(%e2 : tensor<5x6x3xf32>) permutation = [0, 2, 1]
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<5x6x3xf32> into tensor<30x3xf32>
  %e3 = tensor.empty() : tensor<30x2xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %6 = linalg.matmul ins(%5, %f1 : tensor<30x3xf32>, tensor<3x2xf32>) outs(%i3 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2]] output_shape [5, 6, 2] : tensor<30x2xf32> into tensor<5x6x2xf32>
  return %7 : tensor<5x6x2xf32>
}

// -----

// Verify that a chain whose result has the axes in another order is left alone.
// CHECK-LABEL: func.func @moved_result
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 1]
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose {{.*}} permutation = [2, 1, 0]
func.func @moved_result(%x: tensor<15x4xf32>, %f1: tensor<3x2xf32>, %f2: tensor<4x6xf32>) -> tensor<2x6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<15x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %2 = linalg.matmul ins(%x, %f2 : tensor<15x4xf32>, tensor<4x6xf32>) outs(%i1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [5, 3, 6] : tensor<15x6xf32> into tensor<5x3x6xf32>
  %e2 = tensor.empty() : tensor<5x6x3xf32>
  %4 = linalg.transpose ins(%3 : tensor<5x3x6xf32>) outs(%e2 : tensor<5x6x3xf32>) permutation = [0, 2, 1]
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<5x6x3xf32> into tensor<30x3xf32>
  %e3 = tensor.empty() : tensor<30x2xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %6 = linalg.matmul ins(%5, %f1 : tensor<30x3xf32>, tensor<3x2xf32>) outs(%i3 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2]] output_shape [5, 6, 2] : tensor<30x2xf32> into tensor<5x6x2xf32>
  %e7 = tensor.empty() : tensor<2x6x5xf32>
  %8 = linalg.transpose ins(%7 : tensor<5x6x2xf32>) outs(%e7 : tensor<2x6x5xf32>) permutation = [2, 1, 0]
  return %8 : tensor<2x6x5xf32>
}

// -----

// Verify that axes of equal sizes are not confused: this transpose does not
// bring them back.
// CHECK-LABEL: func.func @equal_sizes
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @equal_sizes(%x: tensor<16x4xf32>, %f1: tensor<4x4xf32>, %f2: tensor<4x4xf32>) -> tensor<4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4xf32>
  %e3 = tensor.empty() : tensor<4x4x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4xf32>) -> tensor<16x4xf32>
  %0 = linalg.matmul ins(%x, %f2 : tensor<16x4xf32>, tensor<4x4xf32>) outs(%i : tensor<16x4xf32>) -> tensor<16x4xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [4, 4, 4] : tensor<16x4xf32> into tensor<4x4x4xf32>
  %2 = linalg.transpose ins(%1 : tensor<4x4x4xf32>) outs(%e3 : tensor<4x4x4xf32>) permutation = [0, 2, 1]
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<4x4x4xf32> into tensor<16x4xf32>
  %4 = linalg.matmul ins(%3, %f1 : tensor<16x4xf32>, tensor<4x4xf32>) outs(%i : tensor<16x4xf32>) -> tensor<16x4xf32>
  %5 = tensor.expand_shape %4 [[0, 1], [2]] output_shape [4, 4, 4] : tensor<16x4xf32> into tensor<4x4x4xf32>
  %6 = linalg.transpose ins(%5 : tensor<4x4x4xf32>) outs(%e3 : tensor<4x4x4xf32>) permutation = [1, 0, 2]
  return %6 : tensor<4x4x4xf32>
}

// -----

// Verify that a matmul that adds to something is left alone.
// CHECK-LABEL: func.func @accumulates
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @accumulates(%x: tensor<4x15xf32>, %f: tensor<4x6xf32>, %init: tensor<15x6xf32>) -> tensor<6x15xf32> {
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%init : tensor<15x6xf32>) -> tensor<15x6xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  return %2 : tensor<6x15xf32>
}

// -----

// Verify that a matmul into a constant other than zero is left alone.
// CHECK-LABEL: func.func @starts_from_one
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @starts_from_one(%x: tensor<4x15xf32>, %f: tensor<4x6xf32>) -> tensor<6x15xf32> {
  %init = arith.constant dense<1.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%init : tensor<15x6xf32>) -> tensor<15x6xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  return %2 : tensor<6x15xf32>
}

// -----

// Verify that a chain with an intermediate that is used elsewhere is left
// alone.
// CHECK-LABEL: func.func @two_uses
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @two_uses(%x: tensor<4x15xf32>, %f: tensor<4x6xf32>) -> (tensor<6x15xf32>, tensor<15x6xf32>) {
  %zero = arith.constant dense<0.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%zero : tensor<15x6xf32>) -> tensor<15x6xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  return %2, %1 : tensor<6x15xf32>, tensor<15x6xf32>
}

// -----

// Verify that a chain with an element-wise operation in it is left alone.
// CHECK-LABEL: func.func @elementwise
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         math.tanh
// CHECK:         linalg.transpose
func.func @elementwise(%x: tensor<4x15xf32>, %f: tensor<4x6xf32>) -> tensor<6x15xf32> {
  %zero = arith.constant dense<0.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%zero : tensor<15x6xf32>) -> tensor<15x6xf32>
  %2 = math.tanh %1 : tensor<15x6xf32>
  %e3 = tensor.empty() : tensor<6x15xf32>
  %3 = linalg.transpose ins(%2 : tensor<15x6xf32>) outs(%e3 : tensor<6x15xf32>) permutation = [1, 0]
  return %3 : tensor<6x15xf32>
}

// -----

// Verify that a contraction whose body does more than multiply and add is left
// alone.
// CHECK-LABEL: func.func @other_body
// CHECK:         linalg.transpose
// CHECK:         linalg.generic
// CHECK:         linalg.transpose
func.func @other_body(%x: tensor<4x15xf32>, %f: tensor<4x6xf32>) -> tensor<6x15xf32> {
  %zero = arith.constant dense<0.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%zero : tensor<15x6xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %a = math.absf %p : f32
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<15x6xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  return %2 : tensor<6x15xf32>
}

// -----

// Verify that a contraction in a wider type is left alone.
// CHECK-LABEL: func.func @widening
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @widening(%x: tensor<4x15xf16>, %f: tensor<4x6xf16>) -> tensor<6x15xf32> {
  %zero = arith.constant dense<0.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<15x4xf16>
  %0 = linalg.transpose ins(%x : tensor<4x15xf16>) outs(%e0 : tensor<15x4xf16>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf16>, tensor<4x6xf16>) outs(%zero : tensor<15x6xf32>) -> tensor<15x6xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  return %2 : tensor<6x15xf32>
}

// -----

// Verify that a batched product with two batches in another order, so that the
// factor varies along a mixture of axes, is left alone.
// CHECK-LABEL: func.func @mixed_batch
// CHECK:         linalg.transpose
// CHECK:         linalg.batch_matmul
// CHECK:         linalg.transpose
func.func @mixed_batch(%x: tensor<2x3x5x4xf32>, %f: tensor<6x4x7xf32>) -> tensor<2x3x5x7xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x5x7xf32>
  %e0 = tensor.empty() : tensor<3x2x5x4xf32>
  %0 = linalg.transpose ins(%x : tensor<2x3x5x4xf32>) outs(%e0 : tensor<3x2x5x4xf32>) permutation = [1, 0, 2, 3]
  %1 = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<3x2x5x4xf32> into tensor<6x5x4xf32>
  %2 = linalg.batch_matmul ins(%1, %f : tensor<6x5x4xf32>, tensor<6x4x7xf32>) outs(%zero : tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2], [3]] output_shape [3, 2, 5, 7] : tensor<6x5x7xf32> into tensor<3x2x5x7xf32>
  %e3 = tensor.empty() : tensor<2x3x5x7xf32>
  %4 = linalg.transpose ins(%3 : tensor<3x2x5x7xf32>) outs(%e3 : tensor<2x3x5x7xf32>) permutation = [1, 0, 2, 3]
  return %4 : tensor<2x3x5x7xf32>
}

// -----

// Verify that a factor that comes from the array of the chain itself leaves
// everything alone.
// CHECK-LABEL: func.func @factor_from_chain
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
func.func @factor_from_chain(%x: tensor<4x4xf32>, %f: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Verify that a contracted dimension that straddles two axes (12 as 4x3, then
// as 3x4) is not taken for one of them.
// CHECK-LABEL: func.func @straddles
// CHECK:         linalg.contract
// CHECK:         linalg.contract
#tap = affine_map<(t, a, p, q) -> (t, p, a)>
#pq = affine_map<(t, a, p, q) -> (p, q)>
#taq = affine_map<(t, a, p, q) -> (t, q, a)>
func.func @straddles(%x: tensor<5x12xf32>, %f: tensor<4x4xf32>, %g: tensor<3x3xf32>) -> tensor<5x12xf32> {
  %zero = arith.constant dense<0.0> : tensor<5x4x3xf32>
  %zero2 = arith.constant dense<0.0> : tensor<5x3x4xf32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 4, 3] : tensor<5x12xf32> into tensor<5x4x3xf32>
  %1 = linalg.contract indexing_maps = [#tap, #pq, #taq] ins(%0, %f : tensor<5x4x3xf32>, tensor<4x4xf32>) outs(%zero : tensor<5x4x3xf32>) -> tensor<5x4x3xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<5x4x3xf32> into tensor<5x12xf32>
  %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [5, 3, 4] : tensor<5x12xf32> into tensor<5x3x4xf32>
  %4 = linalg.contract indexing_maps = [#tap, #pq, #taq] ins(%3, %g : tensor<5x3x4xf32>, tensor<3x3xf32>) outs(%zero2 : tensor<5x3x4xf32>) -> tensor<5x3x4xf32>
  %5 = tensor.collapse_shape %4 [[0], [1, 2]] : tensor<5x3x4xf32> into tensor<5x12xf32>
  return %5 : tensor<5x12xf32>
}

// -----

// Verify that two dynamic dimensions that are merged and taken apart again, no
// one knows where, are left alone.
// CHECK-LABEL: func.func @unknown_split
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @unknown_split(%x: tensor<?x?x8xf32>, %f: tensor<8x4xf32>, %init: tensor<?x4xf32>, %b: index, %m: index) -> tensor<?x4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = linalg.matmul ins(%0, %f : tensor<?x8xf32>, tensor<8x4xf32>) outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%b, %m, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  %e = tensor.empty(%b, %m) : tensor<?x4x?xf32>
  %3 = linalg.transpose ins(%2 : tensor<?x?x4xf32>) outs(%e : tensor<?x4x?xf32>) permutation = [0, 2, 1]
  return %3 : tensor<?x4x?xf32>
}

// -----

// Verify that a factor of dynamic shape is left alone.
// CHECK-LABEL: func.func @dynamic_factor
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @dynamic_factor(%x: tensor<4x15xf32>, %f: tensor<4x?xf32>, %init: tensor<15x?xf32>, %out: tensor<?x15xf32>) -> tensor<?x15xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %i = linalg.fill ins(%zero : f32) outs(%init : tensor<15x?xf32>) -> tensor<15x?xf32>
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf32>, tensor<4x?xf32>) outs(%i : tensor<15x?xf32>) -> tensor<15x?xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x?xf32>) outs(%out : tensor<?x15xf32>) permutation = [1, 0]
  return %2 : tensor<?x15xf32>
}

// -----

// Verify that products of matrices without any shuffling stay what they are.
// CHECK-LABEL: func.func @plain_matmuls
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
func.func @plain_matmuls(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.matmul ins(%0, %c : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// Verify that a loop is not entered: its operations run once per iteration.
// CHECK-LABEL: func.func @across_regions
// CHECK:         linalg.matmul
// CHECK:         scf.for
// CHECK:         linalg.transpose
func.func @across_regions(%x: tensor<15x4xf32>, %f: tensor<4x6xf32>, %out: tensor<6x15xf32>, %lb: index, %ub: index, %step: index) -> tensor<6x15xf32> {
  %zero = arith.constant dense<0.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<4x15xf32>
  %0 = linalg.matmul ins(%x, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%zero : tensor<15x6xf32>) -> tensor<15x6xf32>
  %1 = scf.for %i = %lb to %ub step %step iter_args(%acc = %out) -> tensor<6x15xf32> {
    %2 = linalg.transpose ins(%0 : tensor<15x6xf32>) outs(%acc : tensor<6x15xf32>) permutation = [1, 0]
    scf.yield %2 : tensor<6x15xf32>
  }
  return %1 : tensor<6x15xf32>
}

// -----

// Verify that a product whose static sizes contradict each other (12 and 1
// columns), which upstream only verifies without dynamic sizes, is left alone.
// CHECK-LABEL: func.func @contradicting_sizes
// CHECK:         linalg.batch_matmul
func.func @contradicting_sizes(%x: tensor<?x16xf32>, %f: tensor<4x4x12xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x16xf32>
  %1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %e2 = tensor.empty(%rows) : tensor<4x?x4xf32>
  %2 = linalg.transpose ins(%1 : tensor<?x4x4xf32>) outs(%e2 : tensor<4x?x4xf32>) permutation = [1, 0, 2]
  %e3 = tensor.empty(%rows) : tensor<4x?x1xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
  %3 = linalg.batch_matmul ins(%2, %f : tensor<4x?x4xf32>, tensor<4x4x12xf32>) outs(%i3 : tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
  %e4 = tensor.empty(%rows) : tensor<?x4x1xf32>
  %4 = linalg.transpose ins(%3 : tensor<4x?x1xf32>) outs(%e4 : tensor<?x4x1xf32>) permutation = [1, 0, 2]
  %5 = tensor.collapse_shape %4 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  return %5 : tensor<?x4xf32>
}
