func.func @product(%x: tensor<?x60xf32>, %f1: tensor<5x5xf32>, %f2: tensor<3x4xf32>, %f3: tensor<4x4xf32>) -> tensor<?x80xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x60xf32>
  %init = tensor.empty(%rows) : tensor<?x80xf32>
  %y = kron.mkm ins(%x : tensor<?x60xf32>) factors(%f1, %f2, %f3 : tensor<5x5xf32>, tensor<3x4xf32>, tensor<4x4xf32>) outs(%init : tensor<?x80xf32>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

func.func @chain(%x: tensor<?x64xf32>, %k: tensor<4x4x4x4xf32>, %bias: tensor<64xf32>, %f: tensor<8x8xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %init = tensor.empty(%rows) : tensor<?x64xf32>
  %y = kron.ksmm ins(%x : tensor<?x64xf32>) weights(%k : tensor<4x4x4x4xf32>) outs(%init : tensor<?x64xf32>) bias(%bias : tensor<64xf32>) {activation = #kron.activation<relu>} -> tensor<?x64xf32>
  %z = kron.mkm ins(%y : tensor<?x64xf32>) factors(%f, %f : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x64xf32>
}

// What cannot be shared out.
func.func @transposed(%x: tensor<60x?xf32>, %f: tensor<60x5xf32>) -> tensor<?x5xf32> {
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c1 : tensor<60x?xf32>
  %init = tensor.empty(%rows) : tensor<?x5xf32>
  %y = kron.mkm ins(T(%x) : tensor<60x?xf32>) factors(%f : tensor<60x5xf32>) outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @fixed(%x: tensor<6x4xf32>, %f: tensor<4x5xf32>) -> tensor<6x5xf32> {
  %init = tensor.empty() : tensor<6x5xf32>
  %y = kron.mkm ins(%x : tensor<6x4xf32>) factors(%f : tensor<4x5xf32>) outs(%init : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}
func.func @batch(%x: tensor<?x4xf32>, %f: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kron.batched ins(%x : tensor<?x4xf32>) factors(%f : tensor<4x4xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
func.func @other_rows(%x: tensor<?x4xf32>, %f: tensor<4x4xf32>, %z: tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<3x4xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kron.mkm ins(%x : tensor<?x4xf32>) factors(%f : tensor<4x4xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %small = tensor.empty() : tensor<3x4xf32>
  %w = kron.mkm ins(%z : tensor<3x4xf32>) factors(%f : tensor<4x4xf32>) outs(%small : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %w : tensor<?x4xf32>, tensor<3x4xf32>
}
func.func @accumulate(%x: memref<?x4xf32>, %f: memref<4x4xf32>, %y: memref<?x4xf32>) {
  kron.mkm ins(%x : memref<?x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<?x4xf32>) beta(1.0 : f32)
  return
}
