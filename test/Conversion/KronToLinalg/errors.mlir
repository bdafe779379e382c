// RUN: kron-opt --convert-kron-to-linalg --split-input-file --verify-diagnostics %s

// Verify that a scale which depends on what only exists in a fused region is rejected.
func.func @fused_scale_from_destination(%x: memref<3x2xf32>, %f: memref<2x2xf32>,
                                       %y: memref<3x2xf32>) {
  // expected-error @below {{'kron.fused' op has no lowering to linalg}}
  kron.fused ins(%x, %f : memref<3x2xf32>, memref<2x2xf32>) outs(%y : memref<3x2xf32>) {
  ^bb0(%tx: tensor<3x2xf32>, %a: tensor<2x2xf32>, %out: tensor<3x2xf32>):
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<3x2xf32>
    %size = tensor.dim %e, %c0 : tensor<3x2xf32>
    %size_i32 = arith.index_cast %size : index to i32
    %alpha = arith.sitofp %size_i32 : i32 to f32
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<3x2xf32>) alpha(%alpha : f32) -> tensor<3x2xf32>
    kron.yield %2 : tensor<3x2xf32>
  }
  return
}
