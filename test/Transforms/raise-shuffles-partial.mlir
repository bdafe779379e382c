// RUN: kron-opt %s --kron-raise-shuffles --split-input-file | FileCheck %s

// Verify that of a longer chain the part that ends in order is rewritten, here
// up to a transpose that moves the rows away.
// CHECK-LABEL: func.func @moved_afterwards
// CHECK-SAME:    %[[X:.+]]: tensor<5x3x4xf32>, %[[F1:.+]]: tensor<3x2xf32>, %[[F2:.+]]: tensor<4x6xf32>
func.func @moved_afterwards(%x: tensor<5x3x4xf32>, %f1: tensor<3x2xf32>, %f2: tensor<4x6xf32>) -> tensor<2x6x5xf32> {
  // CHECK-NOT: linalg
  // CHECK:     %[[Y2:.+]] = kron.mode_product axis(2) ins(%[[X]] : tensor<5x3x4xf32>) factor(%[[F2]] [p, q] : tensor<4x6xf32>)
  // CHECK-NOT: linalg
  // CHECK:     %[[Y1:.+]] = kron.mode_product axis(1) ins(%[[Y2]] : tensor<5x3x6xf32>) factor(%[[F1]] [p, q] : tensor<3x2xf32>)
  // CHECK-NOT: linalg
  // CHECK:     %[[T:.+]] = linalg.transpose ins(%[[Y1]] : tensor<5x2x6xf32>) {{.*}} permutation = [1, 2, 0]
  // CHECK-NOT: linalg
  // CHECK:     return %[[T]]
  %z1 = arith.constant dense<0.0> : tensor<15x6xf32>
  %z2 = arith.constant dense<0.0> : tensor<30x2xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<5x3x4xf32> into tensor<15x4xf32>
  %1 = linalg.matmul ins(%0, %f2 : tensor<15x4xf32>, tensor<4x6xf32>) outs(%z1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [5, 3, 6] : tensor<15x6xf32> into tensor<5x3x6xf32>
  %e2 = tensor.empty() : tensor<5x6x3xf32>
  %3 = linalg.transpose ins(%2 : tensor<5x3x6xf32>) outs(%e2 : tensor<5x6x3xf32>) permutation = [0, 2, 1]
  %4 = tensor.collapse_shape %3 [[0, 1], [2]] : tensor<5x6x3xf32> into tensor<30x3xf32>
  %5 = linalg.matmul ins(%4, %f1 : tensor<30x3xf32>, tensor<3x2xf32>) outs(%z2 : tensor<30x2xf32>) -> tensor<30x2xf32>
  %6 = tensor.expand_shape %5 [[0, 1], [2]] output_shape [5, 6, 2] : tensor<30x2xf32> into tensor<5x6x2xf32>
  %e6 = tensor.empty() : tensor<5x2x6xf32>
  %7 = linalg.transpose ins(%6 : tensor<5x6x2xf32>) outs(%e6 : tensor<5x2x6xf32>) permutation = [0, 2, 1]
  %e7 = tensor.empty() : tensor<2x6x5xf32>
  %8 = linalg.transpose ins(%7 : tensor<5x2x6xf32>) outs(%e7 : tensor<2x6x5xf32>) permutation = [1, 2, 0]
  return %8 : tensor<2x6x5xf32>
}

// -----

// Verify that two chains with something between them are rewritten both, and
// that a factor's transpose stays where it has another use.
// CHECK-LABEL: func.func @two_chains
// CHECK-SAME:    %[[X:.+]]: tensor<4x15xf32>, %[[F:.+]]: tensor<6x4xf32>
func.func @two_chains(%x: tensor<4x15xf32>, %f: tensor<6x4xf32>) -> (tensor<4x15xf32>, tensor<4x6xf32>) {
  // CHECK: %[[FT:.+]] = linalg.transpose ins(%[[F]]
  // CHECK: %[[Y:.+]] = kron.mode_product axis(0) ins(%[[X]] : tensor<4x15xf32>) factor(%[[F]] [q, p] : tensor<6x4xf32>)
  // CHECK: %[[A:.+]] = math.tanh %[[Y]] : tensor<6x15xf32>
  // CHECK: %[[Z:.+]] = kron.mode_product axis(0) ins(%[[A]] : tensor<6x15xf32>) factor(%[[F]] [p, q] : tensor<6x4xf32>)
  // CHECK: return %[[Z]], %[[FT]]
  %z1 = arith.constant dense<0.0> : tensor<15x6xf32>
  %z2 = arith.constant dense<0.0> : tensor<15x4xf32>
  %ef = tensor.empty() : tensor<4x6xf32>
  %ft = linalg.transpose ins(%f : tensor<6x4xf32>) outs(%ef : tensor<4x6xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<15x4xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %e3 = tensor.empty() : tensor<15x6xf32>
  %e4 = tensor.empty() : tensor<4x15xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e1 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %ft : tensor<15x4xf32>, tensor<4x6xf32>) outs(%z1 : tensor<15x6xf32>) -> tensor<15x6xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  %3 = math.tanh %2 : tensor<6x15xf32>
  %4 = linalg.transpose ins(%3 : tensor<6x15xf32>) outs(%e3 : tensor<15x6xf32>) permutation = [1, 0]
  %5 = linalg.matmul ins(%4, %f : tensor<15x6xf32>, tensor<6x4xf32>) outs(%z2 : tensor<15x4xf32>) -> tensor<15x4xf32>
  %6 = linalg.transpose ins(%5 : tensor<15x4xf32>) outs(%e4 : tensor<4x15xf32>) permutation = [1, 0]
  return %6, %ft : tensor<4x15xf32>, tensor<4x6xf32>
}
