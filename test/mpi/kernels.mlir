// The kernels of sharded products in tests, as users write them: factors of modes 2 and 3
// on rows, a factor of mode 1 along the middle axis, and half of the columns of mode 2.
func.func @inner_f32(%x: tensor<?x48xf32>, %f2: tensor<8x8xf32>, %f3: tensor<6x6xf32>)
    -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xf32>
  %init = tensor.empty(%rows) : tensor<?x48xf32>
  %y = kron.mkm ins(%x : tensor<?x48xf32>)
                factors(%f2, %f3 : tensor<8x8xf32>, tensor<6x6xf32>)
                outs(%init : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
func.func @outer_f32(%x: tensor<?x4x?xf32>, %f1: tensor<4x4xf32>) -> tensor<?x4x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x?xf32>
  %columns = tensor.dim %x, %c2 : tensor<?x4x?xf32>
  %init = tensor.empty(%rows, %columns) : tensor<?x4x?xf32>
  %y = kron.kmm ins(%x : tensor<?x4x?xf32>) factors(T(%f1) : tensor<4x4xf32>)
                outs(%init : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  return %y : tensor<?x4x?xf32>
}
func.func @inner_f64(%x: tensor<?x48xf64>, %f2: tensor<8x8xf64>, %f3: tensor<6x6xf64>)
    -> tensor<?x48xf64> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xf64>
  %init = tensor.empty(%rows) : tensor<?x48xf64>
  %y = kron.mkm ins(%x : tensor<?x48xf64>)
                factors(%f2, %f3 : tensor<8x8xf64>, tensor<6x6xf64>)
                outs(%init : tensor<?x48xf64>) -> tensor<?x48xf64>
  return %y : tensor<?x48xf64>
}
func.func @outer_f64(%x: tensor<?x4x?xf64>, %f1: tensor<4x4xf64>) -> tensor<?x4x?xf64> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x?xf64>
  %columns = tensor.dim %x, %c2 : tensor<?x4x?xf64>
  %init = tensor.empty(%rows, %columns) : tensor<?x4x?xf64>
  %y = kron.kmm ins(%x : tensor<?x4x?xf64>) factors(T(%f1) : tensor<4x4xf64>)
                outs(%init : tensor<?x4x?xf64>) -> tensor<?x4x?xf64>
  return %y : tensor<?x4x?xf64>
}
func.func @inner_f16(%x: tensor<?x48xf16>, %f2: tensor<8x8xf16>, %f3: tensor<6x6xf16>)
    -> tensor<?x48xf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xf16>
  %init = tensor.empty(%rows) : tensor<?x48xf16>
  %y = kron.mkm ins(%x : tensor<?x48xf16>)
                factors(%f2, %f3 : tensor<8x8xf16>, tensor<6x6xf16>)
                outs(%init : tensor<?x48xf16>) -> tensor<?x48xf16>
  return %y : tensor<?x48xf16>
}
func.func @outer_f16(%x: tensor<?x4x?xf16>, %f1: tensor<4x4xf16>) -> tensor<?x4x?xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x?xf16>
  %columns = tensor.dim %x, %c2 : tensor<?x4x?xf16>
  %init = tensor.empty(%rows, %columns) : tensor<?x4x?xf16>
  %y = kron.kmm ins(%x : tensor<?x4x?xf16>) factors(T(%f1) : tensor<4x4xf16>)
                outs(%init : tensor<?x4x?xf16>) -> tensor<?x4x?xf16>
  return %y : tensor<?x4x?xf16>
}
func.func @inner_bf16(%x: tensor<?x48xbf16>, %f2: tensor<8x8xbf16>, %f3: tensor<6x6xbf16>)
    -> tensor<?x48xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xbf16>
  %init = tensor.empty(%rows) : tensor<?x48xbf16>
  %y = kron.mkm ins(%x : tensor<?x48xbf16>)
                factors(%f2, %f3 : tensor<8x8xbf16>, tensor<6x6xbf16>)
                outs(%init : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  return %y : tensor<?x48xbf16>
}
func.func @outer_bf16(%x: tensor<?x4x?xbf16>, %f1: tensor<4x4xbf16>) -> tensor<?x4x?xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x?xbf16>
  %columns = tensor.dim %x, %c2 : tensor<?x4x?xbf16>
  %init = tensor.empty(%rows, %columns) : tensor<?x4x?xbf16>
  %y = kron.kmm ins(%x : tensor<?x4x?xbf16>) factors(T(%f1) : tensor<4x4xbf16>)
                outs(%init : tensor<?x4x?xbf16>) -> tensor<?x4x?xbf16>
  return %y : tensor<?x4x?xbf16>
}
func.func @inner_c32(%x: tensor<?x48xcomplex<f32>>, %f2: tensor<8x8xcomplex<f32>>, %f3: tensor<6x6xcomplex<f32>>)
    -> tensor<?x48xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xcomplex<f32>>
  %init = tensor.empty(%rows) : tensor<?x48xcomplex<f32>>
  %y = kron.mkm ins(%x : tensor<?x48xcomplex<f32>>)
                factors(%f2, %f3 : tensor<8x8xcomplex<f32>>, tensor<6x6xcomplex<f32>>)
                outs(%init : tensor<?x48xcomplex<f32>>) -> tensor<?x48xcomplex<f32>>
  return %y : tensor<?x48xcomplex<f32>>
}
func.func @outer_c32(%x: tensor<?x4x?xcomplex<f32>>, %f1: tensor<4x4xcomplex<f32>>) -> tensor<?x4x?xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x?xcomplex<f32>>
  %columns = tensor.dim %x, %c2 : tensor<?x4x?xcomplex<f32>>
  %init = tensor.empty(%rows, %columns) : tensor<?x4x?xcomplex<f32>>
  %y = kron.kmm ins(%x : tensor<?x4x?xcomplex<f32>>) factors(T(%f1) : tensor<4x4xcomplex<f32>>)
                outs(%init : tensor<?x4x?xcomplex<f32>>) -> tensor<?x4x?xcomplex<f32>>
  return %y : tensor<?x4x?xcomplex<f32>>
}
func.func @half_f32(%x: tensor<?x48xf32>, %f2: tensor<8x4xf32>, %f3: tensor<6x6xf32>)
    -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xf32>
  %init = tensor.empty(%rows) : tensor<?x24xf32>
  %y = kron.mkm ins(%x : tensor<?x48xf32>)
                factors(%f2, %f3 : tensor<8x4xf32>, tensor<6x6xf32>)
                outs(%init : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}
