func.func @transform(%x: tensor<?x4xf32>, %f: tensor<2x2xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kron.mkm ins(%x : tensor<?x4xf32>)
                factors(%f, %f : tensor<2x2xf32>, tensor<2x2xf32>)
                outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
