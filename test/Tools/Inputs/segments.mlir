func.func @f(%x: memref<?x2220xTYPE>, %w: memref<1x30x60x37xTYPE>, %y: memref<?x1110xTYPE>) {
  kron.ksmm ins(%x : memref<?x2220xTYPE>) weights(%w : memref<1x30x60x37xTYPE>) outs(%y : memref<?x1110xTYPE>)
  return
}
