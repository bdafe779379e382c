// RUN: kron-opt %s --split-input-file --verify-diagnostics

// Verify that each constraint of kron.pairwise is checked; the names say which.

func.func @pairwise_kinds(%a: memref<4x8xf32>, %b: tensor<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects all arrays to be tensors or all to be memrefs, but got 'memref<4x8xf32>' for the left operand and 'tensor<5x8xf32>' for the right operand}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, tensor<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_elements(%a: memref<4x8xi32>, %y: memref<4x4xi32>) {
  // expected-error @+1 {{'kron.pairwise' op operand #0 must be ranked tensor or strided memref of f32, f64, f16 or bf16, but got 'memref<4x8xi32>'}}
  kron.pairwise dot ins(%a, %a : memref<4x8xi32>, memref<4x8xi32>) outs(%y : memref<4x4xi32>)
  return
}

// -----

func.func @pairwise_c1_both(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects a function or a region `inner`, but got dot and a region}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        kron.pairwise_yield %u : f32
      }
  return
}

// -----

func.func @pairwise_c1_neither(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects a function or a region `inner`, but got neither}}
  kron.pairwise ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c1_exponent(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects an exponent with pow_diff only, but got 2.000000e+00 : f64}}
  kron.pairwise dot(2.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c1_exponent_of_region(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects an exponent with pow_diff only, but got 2.000000e+00 : f64}}
  kron.pairwise (2.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        kron.pairwise_yield %u : f32
      }
  return
}

// -----

func.func @pairwise_c1_no_exponent(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects an exponent with pow_diff, but got none}}
  kron.pairwise pow_diff ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c1_negative(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the exponent to be positive and finite, but got -1.000000e+00 : f64}}
  kron.pairwise pow_diff(-1.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c1_zero(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the exponent to be positive and finite, but got 0.000000e+00 : f64}}
  kron.pairwise pow_diff(0.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c1_nan(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the exponent to be positive and finite, but got 0x7FF8000000000000 : f64}}
  kron.pairwise pow_diff(0x7FF8000000000000) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c1_infinite(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the exponent to be positive and finite, but got 0x7FF0000000000000 : f64}}
  kron.pairwise pow_diff(0x7FF0000000000000) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c2_right(%a: memref<4x8xf32>, %b: memref<5x8xf64>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the right operand to have element type 'f32' as the outs, but got 'f64'}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf64>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c2_left(%a: memref<4x8xf16>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the left operand to have element type 'f32' as the outs, but got 'f16'}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf16>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c2_parameter(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %p: f32, %q: f64) {
  // expected-error @+1 {{'kron.pairwise' op expects parameter 2 to have type 'f32', but got 'f64'}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) params(%p, %q : f32, f64) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c2_parameter_array(%a: memref<3x4x8xf16>, %y: memref<3x4x4xf16>, %p: memref<3xf16>) {
  // expected-error @+1 {{'kron.pairwise' op expects parameter 1 to have type 'f32', but got 'f16'}}
  kron.pairwise dot ins(%a, %a : memref<3x4x8xf16>, memref<3x4x8xf16>) params(%p : memref<3xf16>) outs(%y : memref<3x4x4xf16>)
  return
}

// -----

func.func @pairwise_c3_rank(%a: memref<8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the left operand to have a rank of at least 2, but got 1}}
  kron.pairwise dot ins(%a, %b : memref<8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c3_k(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects dimension 0 of the right operand to be 8, the K of the left operand, but got 5}}
  kron.pairwise dot ins(%a, T(%b) : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c4_m(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects dimension 0 of the outs to be 5, the M of the left operand, but got 4}}
  kron.pairwise dot ins(%b, %b : memref<5x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c4_n(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects dimension 1 of the outs to be 4, the N of the right operand, but got 5}}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c5_rank(%a: memref<2x4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the left operand to have at most 0 batch dimensions, as the outs, but got 1}}
  kron.pairwise dot ins(%a, %b : memref<2x4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_c5_size(%a: memref<1x4x8xf32>, %b: memref<3x5x8xf32>, %y: memref<2x4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects dimension 0 of the right operand to be 2, the batch size of the outs, or 1, but got 3}}
  kron.pairwise dot ins(%a, %b : memref<1x4x8xf32>, memref<3x5x8xf32>) outs(%y : memref<2x4x5xf32>)
  return
}

// -----

func.func @pairwise_c5_parameter(%a: memref<4x8xf32>, %y: memref<2x4x4xf32>, %p: memref<3xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects dimension 0 of parameter 1 to be 2, the batch size of the outs, or 1, but got 3}}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) params(%p : memref<3xf32>) outs(%y : memref<2x4x4xf32>)
  return
}

// -----

func.func @pairwise_c6_arguments(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the region `epilogue` to have 1 arguments, but got 2}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32, %w: f32):
        kron.pairwise_yield %v : f32
      }
  return
}

// -----

func.func @pairwise_c6_type(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects argument 1 of the region `inner` to have type 'f32', but got 'f64'}}
  kron.pairwise ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      inner {
      ^bb0(%v: f32, %w: f64):
        kron.pairwise_yield %v : f32
      }
  return
}

// -----

func.func @pairwise_c6_terminator(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the region `epilogue` to end with kron.pairwise_yield}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32):
        llvm.unreachable
      }
  return
}

// -----

func.func @pairwise_c6_yield(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects the region `epilogue` to yield a value of type 'f32', but got 'f64'}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32):
        %d = arith.extf %v : f32 to f64
        kron.pairwise_yield %d : f64
      }
  return
}

// -----

func.func @pairwise_c7_dialect(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects its regions to hold elementwise operations of arith and math on scalars, but got llvm.intr.exp}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32):
        // expected-note @+1 {{operation is here}}
        %d = llvm.intr.exp(%v) : (f32) -> f32
        kron.pairwise_yield %d : f32
      }
  return
}

// -----

func.func @pairwise_c7_vector(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects its regions to hold elementwise operations of arith and math on scalars, but got arith.constant}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32):
        // expected-note @+1 {{operation is here}}
        %d = arith.constant dense<1.0> : vector<4xf32>
        kron.pairwise_yield %v : f32
      }
  return
}

// -----

func.func @pairwise_c7_index(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise' op expects its regions to hold elementwise operations of arith and math on scalars, but got arith.constant}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32):
        // expected-note @+1 {{operation is here}}
        %c = arith.constant 0 : index
        kron.pairwise_yield %v : f32
      }
  return
}

// -----

func.func @pairwise_isolated(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %p: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  kron.pairwise dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%v: f32):
        // expected-error @+1 {{'arith.mulf' op using value defined outside the region}}
        %d = arith.mulf %v, %p : f32
        kron.pairwise_yield %d : f32
      }
  return
}

// -----

func.func @pairwise_exponent_type(%a: memref<4x8xf80>, %y: memref<4x4xf80>) {
  // expected-error @+1 {{'kron.pairwise' op attribute 'exponent' failed to satisfy constraint: 64-bit float attribute}}
  "kron.pairwise"(%a, %a, %y) <{exponent = 1.3 : f80, inner = 3 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({}, {}) : (memref<4x8xf80>, memref<4x8xf80>, memref<4x4xf80>) -> ()
  return
}
