// The same program as written and raised, run and compared with A (x) B as a
// matrix.

// RUN: kron-opt %s --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops \
// RUN:   --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-to-llvm --reconcile-unrealized-casts \
// RUN: | mlir-runner --entry-point-result=void --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so,%mlir_lib_dir/libmlir_runner_utils.so \
// RUN: | FileCheck %s

// RUN: kron-opt %s --kron-raise-shuffles -o %t.mlir
// RUN: FileCheck %s --check-prefix=RAISED --input-file=%t.mlir --implicit-check-not=linalg.matmul --implicit-check-not=linalg.transpose
// RUN: kron-opt %t.mlir --convert-kron-to-linalg --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops \
// RUN:   --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-to-llvm --reconcile-unrealized-casts \
// RUN: | mlir-runner --entry-point-result=void --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so,%mlir_lib_dir/libmlir_runner_utils.so \
// RUN: | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

// RAISED-LABEL: func.func private @shuffle
// RAISED-COUNT-2: kron.mode_product
func.func private @shuffle(%x: tensor<?x6xf32>, %f1: tensor<2x3xf32>, %f2: tensor<3x2xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x6xf32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x2x3xf32> into tensor<?x3xf32>
  %d1 = tensor.dim %1, %c0 : tensor<?x3xf32>
  %e1 = tensor.empty(%d1) : tensor<?x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = linalg.matmul ins(%1, %f2 : tensor<?x3xf32>, tensor<3x2xf32>) outs(%i1 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [%m, 2, 2] : tensor<?x2xf32> into tensor<?x2x2xf32>
  %e3 = tensor.empty(%m) : tensor<?x2x2xf32>
  %4 = linalg.transpose ins(%3 : tensor<?x2x2xf32>) outs(%e3 : tensor<?x2x2xf32>) permutation = [0, 2, 1]
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<?x2x2xf32> into tensor<?x2xf32>
  %d5 = tensor.dim %5, %c0 : tensor<?x2xf32>
  %e5 = tensor.empty(%d5) : tensor<?x3xf32>
  %i5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %6 = linalg.matmul ins(%5, %f1 : tensor<?x2xf32>, tensor<2x3xf32>) outs(%i5 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2]] output_shape [%m, 2, 3] : tensor<?x3xf32> into tensor<?x2x3xf32>
  %e7 = tensor.empty(%m) : tensor<?x3x2xf32>
  %8 = linalg.transpose ins(%7 : tensor<?x2x3xf32>) outs(%e7 : tensor<?x3x2xf32>) permutation = [0, 2, 1]
  %9 = tensor.collapse_shape %8 [[0], [1, 2]] : tensor<?x3x2xf32> into tensor<?x6xf32>
  return %9 : tensor<?x6xf32>
}

// RAISED-LABEL: func.func private @gpytorch
// RAISED-COUNT-2: kron.mode_product
func.func private @gpytorch(%x: tensor<6x?xf32>, %f1: tensor<3x2xf32>, %f2: tensor<2x3xf32>) -> tensor<6x?xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c1 : tensor<6x?xf32>
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, %m] : tensor<6x?xf32> into tensor<2x3x?xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<2x3x?xf32> into tensor<2x?xf32>
  %d1 = tensor.dim %1, %c1 : tensor<2x?xf32>
  %e1 = tensor.empty(%d1) : tensor<3x?xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x?xf32>) -> tensor<3x?xf32>
  %2 = linalg.matmul ins(%f1, %1 : tensor<3x2xf32>, tensor<2x?xf32>) outs(%i1 : tensor<3x?xf32>) -> tensor<3x?xf32>
  %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [3, 3, %m] : tensor<3x?xf32> into tensor<3x3x?xf32>
  %e3 = tensor.empty(%m) : tensor<3x3x?xf32>
  %4 = linalg.transpose ins(%3 : tensor<3x3x?xf32>) outs(%e3 : tensor<3x3x?xf32>) permutation = [1, 0, 2]
  %5 = tensor.collapse_shape %4 [[0], [1, 2]] : tensor<3x3x?xf32> into tensor<3x?xf32>
  %d5 = tensor.dim %5, %c1 : tensor<3x?xf32>
  %e5 = tensor.empty(%d5) : tensor<2x?xf32>
  %i5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<2x?xf32>) -> tensor<2x?xf32>
  %6 = linalg.matmul ins(%f2, %5 : tensor<2x3xf32>, tensor<3x?xf32>) outs(%i5 : tensor<2x?xf32>) -> tensor<2x?xf32>
  %7 = tensor.expand_shape %6 [[0], [1, 2]] output_shape [2, 3, %m] : tensor<2x?xf32> into tensor<2x3x?xf32>
  %e7 = tensor.empty(%m) : tensor<3x2x?xf32>
  %8 = linalg.transpose ins(%7 : tensor<2x3x?xf32>) outs(%e7 : tensor<3x2x?xf32>) permutation = [1, 0, 2]
  %9 = tensor.collapse_shape %8 [[0, 1], [2]] : tensor<3x2x?xf32> into tensor<6x?xf32>
  return %9 : tensor<6x?xf32>
}

// RAISED-LABEL: func.func private @block_diagonal
// RAISED:         kron.mode_product
func.func private @block_diagonal(%x: tensor<2x4xf32>, %w: tensor<2x2x3xf32>) -> tensor<2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 2] : tensor<2x4xf32> into tensor<2x2x2xf32>
  %e0 = tensor.empty() : tensor<2x2x2xf32>
  %1 = linalg.transpose ins(%0 : tensor<2x2x2xf32>) outs(%e0 : tensor<2x2x2xf32>) permutation = [1, 0, 2]
  %e1 = tensor.empty() : tensor<2x2x3xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %2 = linalg.batch_matmul ins(%1, %w : tensor<2x2x2xf32>, tensor<2x2x3xf32>) outs(%i1 : tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %e2 = tensor.empty() : tensor<2x2x3xf32>
  %3 = linalg.transpose ins(%2 : tensor<2x2x3xf32>) outs(%e2 : tensor<2x2x3xf32>) permutation = [1, 0, 2]
  %4 = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<2x2x3xf32> into tensor<2x6xf32>
  return %4 : tensor<2x6xf32>
}

func.func @main() {
  // Verify MKM by reshape, matmul, transpose.
  // CHECK: sizes = [2, 6]
  // CHECK-NEXT: {{\[\[}}-9, -6, 24, 30, 42, 42],
  // CHECK-NEXT: [-9, -6, 78, 66, 96, 78]]
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]]> : tensor<2x6xf32>
  %xd = tensor.cast %x : tensor<2x6xf32> to tensor<?x6xf32>
  %f1 = arith.constant dense<[[1.0, 2.0, 0.0], [-1.0, 1.0, 3.0]]> : tensor<2x3xf32>
  %f2 = arith.constant dense<[[1.0, -1.0], [2.0, 0.0], [0.0, 3.0]]> : tensor<3x2xf32>
  %0 = call @shuffle(%xd, %f1, %f2) : (tensor<?x6xf32>, tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<?x6xf32>
  %u0 = tensor.cast %0 : tensor<?x6xf32> to tensor<*xf32>
  call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()

  // Verify KMM as GPyTorch computes it.
  // CHECK: sizes = [6, 2]
  // CHECK-NEXT: {{\[\[}}69, 78],
  // CHECK-NEXT: [6, 6],
  // CHECK-NEXT: [-29, -32],
  // CHECK-NEXT: [-2, -2],
  // CHECK-NEXT: [62, 74],
  // CHECK-NEXT: [8, 8]]
  %x1 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]> : tensor<6x2xf32>
  %x1d = tensor.cast %x1 : tensor<6x2xf32> to tensor<6x?xf32>
  %a = arith.constant dense<[[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]]> : tensor<3x2xf32>
  %b = arith.constant dense<[[1.0, 0.0, 2.0], [-1.0, 1.0, 0.0]]> : tensor<2x3xf32>
  %1 = call @gpytorch(%x1d, %a, %b) : (tensor<6x?xf32>, tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<6x?xf32>
  %u1 = tensor.cast %1 : tensor<6x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()

  // Verify a block-diagonal layer.
  // CHECK: sizes = [2, 6]
  // CHECK-NEXT: {{\[\[}}1, 4, 1, 10, 4, 7],
  // CHECK-NEXT: [5, 16, 9, 22, 8, 15]]
  %x2 = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %w = arith.constant dense<[[[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]], [[2.0, 0.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x2x3xf32>
  %2 = call @block_diagonal(%x2, %w) : (tensor<2x4xf32>, tensor<2x2x3xf32>) -> tensor<2x6xf32>
  %u2 = tensor.cast %2 : tensor<2x6xf32> to tensor<*xf32>
  call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  return
}
