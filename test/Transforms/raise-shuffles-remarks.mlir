// RUN: kron-opt %s --kron-raise-shuffles --remarks-filter-passed=kron-raise --remark-policy=all -o /dev/null 2>&1 | FileCheck %s

// Verify that a remark tells how many factors a chain had and how many
// transposes are gone.
// CHECK: remark: [Passed] shuffle-chain | Category:kron-raise
// CHECK-SAME: Factors=1, Remark="raised a chain to mode products", TransposesRemoved=2
func.func @transposed(%x: tensor<4x15xf32>, %f: tensor<4x6xf32>) -> tensor<6x15xf32> {
  %zero = arith.constant dense<0.0> : tensor<15x6xf32>
  %e0 = tensor.empty() : tensor<15x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x15xf32>) outs(%e0 : tensor<15x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%0, %f : tensor<15x4xf32>, tensor<4x6xf32>) outs(%zero : tensor<15x6xf32>) -> tensor<15x6xf32>
  %e2 = tensor.empty() : tensor<6x15xf32>
  %2 = linalg.transpose ins(%1 : tensor<15x6xf32>) outs(%e2 : tensor<6x15xf32>) permutation = [1, 0]
  return %2 : tensor<6x15xf32>
}
