// Walsh-Hadamard transform of rows of 1024 elements: H (x) H (x) ... (x) H, ten
// factors H = [[1, 1], [1, -1]]. All ten are applied while a row lies in cache.

func.func @hadamard(%x: tensor<?x1024xf32>, %h: tensor<2x2xf32>) -> tensor<?x1024xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %init = tensor.empty(%m) : tensor<?x1024xf32>
  %y = kron.mkm ins(%x : tensor<?x1024xf32>)
                factors(%h, %h, %h, %h, %h, %h, %h, %h, %h, %h
                        : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
                          tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
                          tensor<2x2xf32>, tensor<2x2xf32>)
                outs(%init : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}
