func.func @f(%x: memref<3x27744xf32>, %f: memref<68x68xf32>, %g: memref<6x6xf32>, %y: memref<3x27744xf32>) {
  kron.mkm ins(%x : memref<3x27744xf32>) factors(%f, %g, %f : memref<68x68xf32>, memref<6x6xf32>, memref<68x68xf32>)
    outs(%y : memref<3x27744xf32>)
  return
}
