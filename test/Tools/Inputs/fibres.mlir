func.func @fibres(%x: memref<64x8x8x8xf32>, %f: memref<8x8xf32>, %y: memref<64x8x8x8xf32>) {
  kron.batched ins(%x : memref<64x8x8x8xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
               outs(%y : memref<64x8x8x8xf32>)
  return
}
