func.func @small(%x: tensor<1024x4096xf32>, %f: tensor<16x16xf32>, %y: tensor<1024x4096xf32>)
    -> tensor<1024x4096xf32> {
  %0 = kron.mkm ins(%x : tensor<1024x4096xf32>)
                factors(%f, %f, %f : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
                outs(%y : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %0 : tensor<1024x4096xf32>
}
