// RUN: kron-opt %s --split-input-file --verify-diagnostics

// Verify that each constraint of kron.pairwise_tangent is checked; the names say which.

func.func @pairwise_tangent_c1_both(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects a function or a region `inner`, but got dot and a region}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        kron.pairwise_yield %u : f32
      }
  return
}

// -----

func.func @pairwise_tangent_c1_exponent(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects an exponent with pow_diff only, but got 2.000000e+00 : f64}}
  kron.pairwise_tangent dot(2.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c2(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %d: memref<5x8xf64>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects the direction of the right operand to have element type 'f32' as the outs, but got 'f64'}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %d : memref<4x8xf32>, memref<5x8xf64>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c2_parameter(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %p: f32, %d: f64) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects the direction of parameter 1 to have type 'f32', but got 'f64'}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) params(%p : f32) along(%a, %b, %d : memref<4x8xf32>, memref<5x8xf32>, f64) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c3_rank(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %d: memref<8xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects the direction of the left operand to have a rank of at least 2, but got 1}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%d, %b : memref<8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c3_k(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %d: memref<5x7xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects dimension 1 of the direction of the right operand to be 8, the K of the left operand, but got 7}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %d : memref<4x8xf32>, memref<5x7xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c4(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects dimension 0 of the direction of the left operand to be 4, the M of the left operand, but got 5}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%b, %b : memref<5x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c5(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %d: memref<2x4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects the direction of the left operand to have at most 0 batch dimensions, as the outs, but got 1}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%d, %b : memref<2x4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c6(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects the region `epilogue` to have 1 arguments, but got 2}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%s: f32, %t: f32):
        kron.pairwise_yield %s : f32
      }
  return
}

// -----

func.func @pairwise_tangent_c7(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects its regions to hold elementwise operations of arith and math on scalars, but got llvm.intr.exp}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%s: f32):
        // expected-note @+1 {{operation is here}}
        %e = llvm.intr.exp(%s) : (f32) -> f32
        kron.pairwise_yield %e : f32
      }
  return
}

// -----

func.func @pairwise_tangent_c8_none(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects 2 directions, of both operands and all parameters, but got 0}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c8_scalar(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>, %d: f32) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects direction 2 to be an array, but got 'f32'}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %d : memref<4x8xf32>, f32) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @pairwise_tangent_c8_derivative(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects its regions to hold operations with a known derivative, but got math.atan2}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%s: f32):
        // expected-note @+1 {{operation is here}}
        %d = math.atan2 %s, %s : f32
        kron.pairwise_yield %d : f32
      }
  return
}

// -----

func.func @pairwise_tangent_c8_bits(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op expects its regions to hold operations with a known derivative, but got arith.bitcast}}
  kron.pairwise_tangent dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%y : memref<4x5xf32>)
      epilogue {
      ^bb0(%s: f32):
        // expected-note @+1 {{operation is here}}
        %i = arith.bitcast %s : f32 to i32
        %m = arith.constant 2147483647 : i32
        %j = arith.andi %i, %m : i32
        %d = arith.bitcast %j : i32 to f32
        kron.pairwise_yield %d : f32
      }
  return
}

// -----

func.func @segments_of_tangent(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.pairwise_tangent' op failed to verify that operandSegmentSizes is 1 at position 4, for the outs}}
  "kron.pairwise_tangent"(%a, %a, %a, %a, %y, %y) <{inner = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 2, 2>}> ({}, {}) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
  return
}
