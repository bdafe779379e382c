// Distances with a function of their sum, and without one, and rows with themselves.
func.func @distances(%a: memref<9x5xf32>, %b: memref<8x5xf32>, %y: memref<9x8xf32>, %z: memref<9x8xf32>, %w: memref<9x9xf32>) {
  kron.pairwise abs_diff ins(%a, %b : memref<9x5xf32>, memref<8x5xf32>) outs(%y : memref<9x8xf32>) epilogue {
  ^bb0(%s: f32):
    %scale = arith.constant -2.0 : f32
    %x = arith.mulf %s, %scale : f32
    %e = math.exp %x : f32
    kron.pairwise_yield %e : f32
  }
  kron.pairwise abs_diff ins(%a, %b : memref<9x5xf32>, memref<8x5xf32>) outs(%z : memref<9x8xf32>)
  kron.pairwise abs_diff ins(%a, %a : memref<9x5xf32>, memref<9x5xf32>) outs(%w : memref<9x9xf32>)
  return
}
