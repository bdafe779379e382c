// [kernels]
// Rows of 512 elements times F2 (x) F3 (x) F4: the modes that every rank has whole.
func.func @inner(%x: tensor<?x512xf32>, %f2: tensor<8x8xf32>, %f3: tensor<8x8xf32>,
                 %f4: tensor<8x8xf32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xf32>
  %init = tensor.empty(%rows) : tensor<?x512xf32>
  %y = kron.mkm ins(%x : tensor<?x512xf32>)
                factors(%f2, %f3, %f4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
                outs(%init : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

// F1 along mode 1, once that is whole.
func.func @outer(%x: tensor<?x10x?xf32>, %f1: tensor<10x10xf32>) -> tensor<?x10x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x10x?xf32>
  %columns = tensor.dim %x, %c2 : tensor<?x10x?xf32>
  %init = tensor.empty(%rows, %columns) : tensor<?x10x?xf32>
  %y = kron.kmm ins(%x : tensor<?x10x?xf32>) factors(T(%f1) : tensor<10x10xf32>)
                outs(%init : tensor<?x10x?xf32>) -> tensor<?x10x?xf32>
  return %y : tensor<?x10x?xf32>
}
// [/kernels]
