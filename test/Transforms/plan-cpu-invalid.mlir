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

// -----

// This processor has none.
func.func @no_matrix_tiles(%x: memref<64x16xbf16>, %f: memref<16x16xbf16>, %y: memref<64x16xbf16>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have matrix_tiles = 1: the processor has no matrix tiles (AMX)}}
  kron.fused ins(%x, %f : memref<64x16xbf16>, memref<16x16xbf16>) outs(%y : memref<64x16xbf16>)
      attributes {plan = #kron.cpu_plan<matrix_tiles = 1>} {
  ^bb0(%t: tensor<64x16xbf16>, %a: tensor<16x16xbf16>, %o: tensor<64x16xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xbf16>) factor(%a [p, q] : tensor<16x16xbf16>) outs(%o : tensor<64x16xbf16>) -> tensor<64x16xbf16>
    kron.yield %1 : tensor<64x16xbf16>
  }
  return
}

// -----

// Nor does it add up pairs.
func.func @no_pairs(%x: memref<64x16xbf16>, %f: memref<16x16xbf16>, %y: memref<64x16xbf16>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have matrix_tiles = 2: the processor does not add up products of pairs (AVX512-BF16)}}
  kron.fused ins(%x, %f : memref<64x16xbf16>, memref<16x16xbf16>) outs(%y : memref<64x16xbf16>)
      attributes {plan = #kron.cpu_plan<matrix_tiles = 2>} {
  ^bb0(%t: tensor<64x16xbf16>, %a: tensor<16x16xbf16>, %o: tensor<64x16xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xbf16>) factor(%a [p, q] : tensor<16x16xbf16>) outs(%o : tensor<64x16xbf16>) -> tensor<64x16xbf16>
    kron.yield %1 : tensor<64x16xbf16>
  }
  return
}

// -----

// Fibres of 16 elements of f32 fill a register.
func.func @kept_fibres(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have kept_fibres = 1: no vector of a step has several fibres, each of half a register}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<kept_fibres = 1>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Register tiles of a step are its own.
func.func @register_rows(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have register_rows = 2: register tiles of its steps have up to 6 rows}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<register_rows = 2, steps = [{rows = 6, vectors = 1}]>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// The same of vectors.
func.func @register_vectors(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have register_vectors = 4: register tiles of its steps have up to 1 vectors}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<register_vectors = 4, steps = [{rows = 6, vectors = 1}]>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Where steps are complete, budgets choose nothing.
func.func @l1_ways(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have l1_ways = 4: the plan says what its steps do, and nothing is chosen by it}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 12, tiled_axis = 0, l1_ways = 4, steps = [{rows = 6, vectors = 1}]>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// The same of a step.
func.func @step_budget(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: cannot have l1_bytes = 4096 in step 1: the plan says what its steps do, and nothing is chosen by it}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 12, tiled_axis = 0, steps = [{l1_bytes = 4096, rows = 6, vectors = 1}]>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Pairs of bf16 are taken apart on the stack, for a number of rows that is known.
func.func @pairs_of_rows(%x: memref<?x64xbf16>, %f: memref<2x64xbf16>, %y: memref<?x2xbf16>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: step 1 cannot have reads_pairs = 1: no pairs of bf16 lie along the contracted axis of the factor, or rows are not known}}
  kron.fused ins(%x, %f : memref<?x64xbf16>, memref<2x64xbf16>) outs(%y : memref<?x2xbf16>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, steps = [{lanes = 1, reads_pairs = 1}]>} {
  ^bb0(%t: tensor<?x64xbf16>, %a: tensor<2x64xbf16>, %o: tensor<?x2xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x64xbf16>) factor(%a [q, p] : tensor<2x64xbf16>) outs(%o : tensor<?x2xbf16>) -> tensor<?x2xbf16>
    kron.yield %1 : tensor<?x2xbf16>
  }
  return
}

// -----

// An axis that fills a register has no segments.
func.func @segment(%x: memref<40x32x16xf32>, %f: memref<20x32x16xf32>, %y: memref<40x20x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: step 1 cannot have segment = 1: the innermost axis fills a register, or no more than half of one}}
  kron.fused ins(%x, %f : memref<40x32x16xf32>, memref<20x32x16xf32>) outs(%y : memref<40x20x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, steps = [{lanes = 3, segment = 1}]>} {
  ^bb0(%t: tensor<40x32x16xf32>, %a: tensor<20x32x16xf32>, %o: tensor<40x20x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<40x32x16xf32>) factor(%a [q, p, 2] : tensor<20x32x16xf32>) outs(%o : tensor<40x20x16xf32>) -> tensor<40x20x16xf32>
    kron.yield %1 : tensor<40x20x16xf32>
  }
  return
}

// -----

// Columns of a permuted input move outside only where tiles are of them.
func.func @moved(%x: memref<64x20x4xf32>, %f: memref<64x64xf32>, %y: memref<20x64x4xf32>) {
  // expected-error @+1 {{cannot have moves_innermost = 3: the innermost axis is contracted, or the input is permuted and tiles run along another axis}}
  kron.fused ins(%x, %f : memref<64x20x4xf32>, memref<64x64xf32>) outs(%y : memref<20x64x4xf32>)
      attributes {input_permutation = array<i64: 1, 0, 2>, plan = #kron.cpu_plan<tiled_axis = 0, whole_axes = [2], moves_innermost = 3>} {
  ^bb0(%t: tensor<20x64x4xf32>, %a: tensor<64x64xf32>, %o: tensor<20x64x4xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<20x64x4xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%o : tensor<20x64x4xf32>) -> tensor<20x64x4xf32>
    kron.yield %1 : tensor<20x64x4xf32>
  }
  return
}

// -----

// Each fused region has a plan of its own by now.
func.func @region_plans(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the plan of one fused region, as --kron-fuse gives it to each, but got #kron.region_plans<regions = [1], plans = [#kron.cpu_plan]>}}
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>)
      attributes {plan = #kron.region_plans<regions = [1], plans = [#kron.cpu_plan]>} {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}
