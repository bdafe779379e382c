// [kernel]
// Rows of 64 elements times the Kronecker product of two 8x8 matrices.
func.func @mkm(%x: tensor<?x64xf32>, %f1: tensor<8x8xf32>, %f2: tensor<8x8xf32>)
    -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %init = tensor.empty(%rows) : tensor<?x64xf32>
  %y = kron.mkm ins(%x : tensor<?x64xf32>)
                factors(%f1, %f2 : tensor<8x8xf32>, tensor<8x8xf32>)
                outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
// [/kernel]
