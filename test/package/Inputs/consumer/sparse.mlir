func.func @sparse(%x: memref<5x4xf32, strided<[?, 1], offset: ?>> {kron.name = "x"}, %k: memref<2x2x2x1xf32>,
                  %y: memref<5x4xf32>) {
  kron.ksmm ins(%x : memref<5x4xf32, strided<[?, 1], offset: ?>>) weights(%k : memref<2x2x2x1xf32>)
            outs(%y : memref<5x4xf32>)
  return
}
