// As mkm.mlir, on arrays of any strides.
func.func @mkm(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>,
               %a: memref<2x2xf32>, %b: memref<2x2xf32>, %y: memref<?x4xf32>) {
  kron.mkm ins(%x : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    factors(%a, %b : memref<2x2xf32>, memref<2x2xf32>) outs(%y : memref<?x4xf32>)
  return
}
