// RUN: kron-opt %s --canonicalize | FileCheck %s

// Verify that sizes which a cast has forgotten are known again, of operands and of the result.
// CHECK-LABEL: func @casts(
// CHECK-SAME:      %[[A:.*]]: tensor<3x4xf64>, %[[B:.*]]: tensor<?x?xf64>) -> tensor<?x?xf64>
// CHECK:         %[[Y:.*]] = tensor.empty() : tensor<3x27xf64>
// CHECK:         %[[R:.*]] = kron.pairwise square_diff ins(%[[A]], %[[B]] : tensor<3x4xf64>, tensor<?x?xf64>) outs(%[[Y]] : tensor<3x27xf64>) epilogue {
// CHECK:         } -> tensor<3x27xf64>
// CHECK:         %[[CAST:.*]] = tensor.cast %[[R]] : tensor<3x27xf64> to tensor<?x?xf64>
// CHECK:         return %[[CAST]]
func.func @casts(%a: tensor<3x4xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c3 = arith.constant 3 : index
  %c27 = arith.constant 27 : index
  %x = tensor.cast %a : tensor<3x4xf64> to tensor<?x?xf64>
  %y = tensor.empty(%c3, %c27) : tensor<?x?xf64>
  %0 = kron.pairwise square_diff ins(%x, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%y : tensor<?x?xf64>) epilogue {
  ^bb0(%s: f64):
    %k = math.exp %s : f64
    kron.pairwise_yield %k : f64
  } -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// CHECK-LABEL: func @apply(
// CHECK:         kron.pairwise_apply dot ins({{.*}} : tensor<3x4xf64>, tensor<?x?xf64>) values({{.*}} : tensor<?x?xf64>) outs({{.*}} : tensor<3x2xf64>)
func.func @apply(%a: tensor<3x4xf64>, %b: tensor<?x?xf64>, %v: tensor<?x?xf64>, %y: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %x = tensor.cast %a : tensor<3x4xf64> to tensor<?x?xf64>
  %0 = kron.pairwise_apply dot ins(%x, %b : tensor<?x?xf64>, tensor<?x?xf64>) values(%v : tensor<?x?xf64>)
         outs(%y : tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}
