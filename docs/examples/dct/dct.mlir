// Two-dimensional 8x8 DCT-II of many blocks, and its inverse.
//
// A block is a row of 64 elements, %d the orthonormal 8-point DCT matrix D. The DCT
// of a block, D B D^T, is row * (D^T (x) D^T): two factors of one Kronecker
// product, which kron applies in one fused region.

func.func @dct(%blocks: tensor<?x64xf32>, %d: tensor<8x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %blocks, %c0 : tensor<?x64xf32>
  %init = tensor.empty(%n) : tensor<?x64xf32>
  %coefficients = kron.mkm ins(%blocks : tensor<?x64xf32>)
                           factors(T(%d), T(%d) : tensor<8x8xf32>, tensor<8x8xf32>)
                           outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %coefficients : tensor<?x64xf32>
}

func.func @inverse(%coefficients: tensor<?x64xf32>, %d: tensor<8x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %coefficients, %c0 : tensor<?x64xf32>
  %init = tensor.empty(%n) : tensor<?x64xf32>
  %blocks = kron.mkm ins(%coefficients : tensor<?x64xf32>)
                     factors(%d, %d : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %blocks : tensor<?x64xf32>
}
