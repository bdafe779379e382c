func.func @large(%x: memref<4096x4096xf32>, %f: memref<64x64xf32>, %y: memref<4096x4096xf32>) {
  kron.mkm ins(%x : memref<4096x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<4096x4096xf32>)
  return
}
func.func @columns(%x: memref<4096x4096xf32>, %f: memref<64x64xf32>, %y: memref<4096x4096xf32>) {
  kron.kmm ins(%x : memref<4096x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<4096x4096xf32>)
  return
}
