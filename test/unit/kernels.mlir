// The kernels of KernelTest.cpp: rows of 60 elements times F1 (3x4) ⊗ F2 (4x4) ⊗ F3
// (5x5), so that sizes change on the way and no vector is full.
func.func @transform(%x: tensor<?x60xf32>, %f1: tensor<3x4xf32>,
                     %f2: tensor<4x4xf32>, %f3: tensor<5x5xf32>) -> tensor<?x80xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x60xf32>
  %init = tensor.empty(%rows) : tensor<?x80xf32>
  %y = kron.mkm ins(%x : tensor<?x60xf32>)
                factors(%f1, %f2, %f3 : tensor<3x4xf32>, tensor<4x4xf32>, tensor<5x5xf32>)
                outs(%init : tensor<?x80xf32>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}
