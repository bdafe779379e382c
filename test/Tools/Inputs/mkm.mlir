// Y = X (A (x) B) on rows of four elements.
func.func @mkm(%x: tensor<?x4xf32> {kron.name = "x"},
               %a: tensor<2x2xf32> {kron.name = "a"},
               %b: tensor<2x2xf32> {kron.name = "b"})
    -> (tensor<?x4xf32> {kron.name = "y"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%m) : tensor<?x4xf32>
  %y = kron.mkm ins(%x : tensor<?x4xf32>)
         factors(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>)
         outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
