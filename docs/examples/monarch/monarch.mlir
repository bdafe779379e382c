// A Monarch layer: 1024 -> 1024 features by two Kronecker-sparse factors, 65,536
// weights instead of a dense layer's 1,048,576, then bias and ReLU.
//
// The first factor has pattern (32, 32, 32, 1): 32 dense blocks on the diagonal. The
// second has (1, 32, 32, 32): the same with the features seen the other way round,
// what others write as permute, block-diagonal product, permute. Nothing is permuted
// here: the factor is applied along its axis where the data lies.

func.func @layer(%x: tensor<?x1024xf32>, %k1: tensor<32x32x32x1xf32>,
                 %k2: tensor<1x32x32x32xf32>, %bias: tensor<1024xf32>) -> tensor<?x1024xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %init = tensor.empty(%n) : tensor<?x1024xf32>
  %hidden = kron.ksmm ins(%x : tensor<?x1024xf32>)
                      weights(%k1 : tensor<32x32x32x1xf32>)
                      outs(%init : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %y = kron.ksmm ins(%hidden : tensor<?x1024xf32>)
                 weights(%k2 : tensor<1x32x32x32xf32>)
                 outs(%init : tensor<?x1024xf32>)
                 bias(%bias : tensor<1024xf32>)
                 {activation = #kron.activation<relu>} -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}
