func.func @f(%x: tensor<8x4xf32>, %a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<8x4xf32> {
  %init = tensor.empty() : tensor<8x4xf32>
  %y = kron.mkm ins(%x : tensor<8x4xf32>) factors(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>)
                outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

func.func @g(%x: tensor<8x4xf32>, %a: tensor<2x2xf32>) -> tensor<8x4xf32> {
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %init = tensor.empty() : tensor<8x4xf32>
  %y = kron.mkm ins(%x : tensor<8x4xf32>) factors(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>)
                outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
