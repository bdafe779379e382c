// RUN: kron-opt %s --kron-decompose | FileCheck %s

// Verify that identity factors are axes without a mode product.
// CHECK-LABEL: func @between(
// CHECK-SAME:    %[[X:.*]]: tensor<9x24xf32>, %[[F:.*]]: tensor<3x3xf32>, %[[G:.*]]: tensor<4x4xf32>, %[[INIT:.*]]: tensor<9x24xf32>
// CHECK:         %[[V:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<9x3x2x4xf32>
// CHECK:         %[[Y1:.*]] = kron.mode_product axis(3) ins(%[[V]] {{.*}} factor(%[[G]] [p, q]
// CHECK:         %[[Y2:.*]] = kron.mode_product axis(1) ins(%[[Y1]] {{.*}} factor(%[[F]] [p, q] {{.*}} alpha(2.000000e+00 : f32)
// CHECK-NOT:     kron.mode_product
// CHECK:         tensor.collapse_shape %[[Y2]]
func.func @between(%x: tensor<9x24xf32>, %f: tensor<3x3xf32>, %g: tensor<4x4xf32>, %init: tensor<9x24xf32>) -> tensor<9x24xf32> {
  %i = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %y = kron.mkm ins(%x : tensor<9x24xf32>)
         factors(%f, %i, %g : tensor<3x3xf32>, tensor<2x2xf32>, tensor<4x4xf32>)
         outs(%init : tensor<9x24xf32>) alpha(2.0 : f32) -> tensor<9x24xf32>
  return %y : tensor<9x24xf32>
}

// Verify that one mode product is left to scale, convert or copy.
// CHECK-LABEL: func @alone(
// CHECK-COUNT-1: kron.mode_product {{.*}} alpha(2.000000e+00 : f64)
// CHECK-NOT:     kron.mode_product
// CHECK:         return
func.func @alone(%x: tensor<2x2xf64>, %init: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %i = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %y = kron.batched ins(%x : tensor<2x2xf64>) factors(%i, %i : tensor<2x2xf64>, tensor<2x2xf64>)
         outs(%init : tensor<2x2xf64>) alpha(2.0 : f64) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}
