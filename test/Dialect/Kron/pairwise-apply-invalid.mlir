// RUN: kron-opt %s --split-input-file --verify-diagnostics

// Verify that each constraint of kron.pairwise_apply is checked; the names say which.

func.func @pairwise_apply_kinds(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: tensor<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects all arrays to be tensors or all to be memrefs, but got 'memref<4x8xf32>' for the left operand and 'tensor<5x3xf32>' for the values}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : tensor<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c1_both(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects a function or a region `inner`, but got dot and a region}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        kron.pairwise_yield %u : f32
      }
  return
}

// -----

func.func @pairwise_apply_c1_neither(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects a function or a region `inner`, but got neither}}
  kron.pairwise_apply ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c1_exponent(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects an exponent with pow_diff only, but got 2.000000e+00 : f64}}
  kron.pairwise_apply dot(2.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c1_no_exponent(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects an exponent with pow_diff, but got none}}
  kron.pairwise_apply pow_diff ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c1_negative(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects the exponent to be positive and finite, but got -1.000000e+00 : f64}}
  kron.pairwise_apply pow_diff(-1.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c2_values(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf16>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects the values to have element type 'f32' as the outs, but got 'f16'}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf16>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c2_parameter(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>, %p: f64) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects parameter 1 to have type 'f32', but got 'f64'}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) params(%p : f64) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c3_rank(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects the values to have a rank of at least 2, but got 1}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c3_k(%a: memref<4x8xf32>, %b: memref<5x7xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects dimension 1 of the right operand to be 8, the K of the left operand, but got 7}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x7xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c3_n(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects dimension 1 of the values to be 5, the N of the right operand, but got 3}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(T(%v) : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c4_m(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<6x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects dimension 0 of the outs to be 4, the M of the left operand, but got 6}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<6x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c4_c(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x2xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects dimension 1 of the outs to be 3, the C of the values, but got 2}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x2xf32>)
  return
}

// -----

func.func @pairwise_apply_c5_rank(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<2x5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects the values to have at most 0 batch dimensions, as the outs, but got 1}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<2x5x3xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c5_size(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<3x5x3xf32>, %y: memref<2x4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects dimension 0 of the values to be 2, the batch size of the outs, or 1, but got 3}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<3x5x3xf32>) outs(%y : memref<2x4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c6_arguments(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects the region `epilogue` to have 1 arguments, but got 2}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
      epilogue {
      ^bb0(%s: f32, %t: f32):
        kron.pairwise_yield %s : f32
      }
  return
}

// -----

func.func @pairwise_apply_c6_type(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects argument 0 of the region `epilogue` to have type 'f32', but got 'f64'}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
      epilogue {
      ^bb0(%s: f64):
        %r = arith.truncf %s : f64 to f32
        kron.pairwise_yield %r : f32
      }
  return
}

// -----

func.func @pairwise_apply_c7_dialect(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects its regions to hold elementwise operations of arith and math on scalars, but got llvm.intr.exp}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) outs(%y : memref<4x3xf32>)
      epilogue {
      ^bb0(%s: f32):
        // expected-note @+1 {{operation is here}}
        %d = llvm.intr.exp(%s) : (f32) -> f32
        kron.pairwise_yield %d : f32
      }
  return
}

// -----

func.func @pairwise_apply_c8_sums(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects sums along directions, but got max}}
  kron.pairwise_apply dot accumulate(max) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @pairwise_apply_c8_directions(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %v: memref<5x3xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.pairwise_apply' op expects 2 directions, of both operands and all parameters, but got 1}}
  kron.pairwise_apply dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) values(%v : memref<5x3xf32>) along(%a : memref<4x8xf32>) outs(%y : memref<4x3xf32>)
  return
}

// -----

func.func @segments_of_apply(%a: memref<4x8xf32>, %y: memref<4x8xf32>, %p: f32) {
  // expected-error @+1 {{'kron.pairwise_apply' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.pairwise_apply"(%a, %a, %y, %p, %p) <{inner = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0>}> ({}, {}) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, f32, f32) -> ()
  return
}
