// RUN: kron-opt %s --convert-kron-to-linalg | FileCheck %s

// Verify that arrays which are known to be empty are lowered: no columns, no rows, no K, no batch.
// CHECK-LABEL: func.func @columns(
// CHECK-NOT:     kron.pairwise
func.func @columns(%a: tensor<2x3x4xf64>, %b: tensor<2x0x4xf64>, %v: tensor<2x0x2xf64>, %y: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %0 = kron.pairwise_apply dot accumulate(logsumexp) ins(%a, %b : tensor<2x3x4xf64>, tensor<2x0x4xf64>)
         values(%v : tensor<2x0x2xf64>) outs(%y : tensor<2x3x2xf64>) -> tensor<2x3x2xf64>
  return %0 : tensor<2x3x2xf64>
}

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     kron.pairwise
func.func @rows(%a: memref<0x4xf64>, %b: memref<5x4xf64>, %v: memref<5x2xf64>, %y: memref<0x2xf64>) {
  kron.pairwise_apply dot ins(%a, %b : memref<0x4xf64>, memref<5x4xf64>) values(%v : memref<5x2xf64>) outs(%y : memref<0x2xf64>)
  return
}

// CHECK-LABEL: func.func @inner(
// CHECK-NOT:     kron.pairwise
func.func @inner(%a: tensor<3x0xf64>, %b: tensor<5x0xf64>, %g: tensor<3x5xf64>, %y: tensor<3x0xf64>) -> tensor<3x0xf64> {
  %0 = kron.pairwise_grad by(lhs) square_diff ins(%a, %b : tensor<3x0xf64>, tensor<5x0xf64>) grad(%g : tensor<3x5xf64>)
         outs(%y : tensor<3x0xf64>) -> tensor<3x0xf64>
  return %0 : tensor<3x0xf64>
}

// CHECK-LABEL: func.func @batch(
// CHECK-NOT:     kron.pairwise
// CHECK:         return
func.func @batch(%a: memref<0x3x4xf64>, %b: memref<5x4xf64>, %v: memref<1x5x2xf64>, %y: memref<0x3x2xf64>) {
  kron.pairwise_apply dot ins(%a, %b : memref<0x3x4xf64>, memref<5x4xf64>) values(%v : memref<1x5x2xf64>) outs(%y : memref<0x3x2xf64>)
  return
}
