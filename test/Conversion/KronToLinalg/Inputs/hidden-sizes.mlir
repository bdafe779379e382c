func.func @hidden_sizes(%x: memref<4x1xi32>, %a: memref<1x2xi32>, %y: memref<2x1xi32>) {
  %cast = memref.cast %a : memref<1x2xi32> to memref<?x?xi32>
  kron.kmm ins(%x : memref<4x1xi32>) factors(%cast, T(%cast) : memref<?x?xi32>, memref<?x?xi32>) outs(%y : memref<2x1xi32>)
  return
}
