// X (A (x) A), n times over.
func.func @power(%x: tensor<3x64xf32>, %a: tensor<8x8xf32>, %n: index) -> tensor<3x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<3x64xf32> {
    %y = func.call @product(%v, %a) : (tensor<3x64xf32>, tensor<8x8xf32>) -> tensor<3x64xf32>
    scf.yield %y : tensor<3x64xf32>
  }
  return %r : tensor<3x64xf32>
}
func.func private @product(%x: tensor<3x64xf32>, %a: tensor<8x8xf32>) -> tensor<3x64xf32> {
  %e = tensor.empty() : tensor<3x64xf32>
  %y = kron.mkm ins(%x : tensor<3x64xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<3x64xf32>) -> tensor<3x64xf32>
  return %y : tensor<3x64xf32>
}
