// RUN: kron-opt %s --kron-plan --split-input-file -verify-diagnostics

// Nothing is prefetched.
func.func @prefetch_lines(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: expects prefetch_lines = 32, the default, but got 16: with prefetch = -1 nothing is prefetched}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<prefetch = -1, prefetch_lines = 16>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// No results go by way of a copy.
func.func @drain_lines(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: expects drain_lines = 12, the default, but got 8: with staging = 0 no results go by way of a copy}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<drain_lines = 8>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Matrix tiles multiply bf16.
func.func @matrix_tiles(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have matrix_tiles = 1: results are of f32 instead of bf16}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<matrix_tiles = 1>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// So do instructions that add up pairs.
func.func @pairs(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have matrix_tiles = 2: results are of f32 instead of bf16}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<matrix_tiles = 2>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// They take whole registers.
func.func @narrow_pairs(%x: memref<64x16xbf16>, %f: memref<16x16xbf16>, %y: memref<64x16xbf16>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have matrix_tiles = 2: vectors have 256 bits instead of 512}}
  kron.fused ins(%x, %f : memref<64x16xbf16>, memref<16x16xbf16>) outs(%y : memref<64x16xbf16>)
      attributes {plan = #kron.cpu_plan<vector_bits = 256, matrix_tiles = 2>} {
  ^bb0(%t: tensor<64x16xbf16>, %a: tensor<16x16xbf16>, %o: tensor<64x16xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xbf16>) factor(%a [p, q] : tensor<16x16xbf16>) outs(%o : tensor<64x16xbf16>) -> tensor<64x16xbf16>
    kron.yield %1 : tensor<64x16xbf16>
  }
  return
}
