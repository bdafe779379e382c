func.func @mkm(%x: memref<?x64xbf16>, %f: memref<64x64xbf16>, %y: memref<?x64xbf16>) {
  kron.mkm ins(%x : memref<?x64xbf16>) factors(%f : memref<64x64xbf16>) outs(%y : memref<?x64xbf16>)
  return
}
