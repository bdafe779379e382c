// RUN: kron-opt %s --split-input-file --verify-diagnostics

// Verify that each constraint of kron.pairwise_grad is checked; the names say which.

func.func @pairwise_grad_c1_both(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects a function or a region `inner`, but got dot and a region}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        kron.pairwise_yield %u : f32
      }
  return
}

// -----

func.func @pairwise_grad_c1_exponent(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects an exponent with pow_diff only, but got 2.000000e+00 : f64}}
  kron.pairwise_grad by(lhs) dot(2.0) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c2(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf64>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the gradient to have element type 'f32' as the outs, but got 'f64'}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf64>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c2_parameter(%a: memref<4x8xf16>, %b: memref<5x8xf16>, %g: memref<4x5xf16>, %p: f32, %d: memref<f16>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the outs to have type 'f32', but got 'f16'}}
  kron.pairwise_grad by(param, 0) dot ins(%a, %b : memref<4x8xf16>, memref<5x8xf16>) grad(%g : memref<4x5xf16>) params(%p : f32) outs(%d : memref<f16>)
  return
}

// -----

func.func @pairwise_grad_c2_parameter_right(%a: memref<4x8xf16>, %b: memref<5x8xf32>, %g: memref<4x5xf16>, %p: f32, %d: memref<f32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the right operand to have element type 'f16' as the left operand, but got 'f32'}}
  kron.pairwise_grad by(param, 0) dot ins(%a, %b : memref<4x8xf16>, memref<5x8xf32>) grad(%g : memref<4x5xf16>) params(%p : f32) outs(%d : memref<f32>)
  return
}

// -----

func.func @pairwise_grad_c3(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the gradient to have a rank of at least 2, but got 1}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<5xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c4_gradient(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects dimension 1 of the gradient to be 4, the M of the left operand, but got 5}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(T(%g) : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c4_factors(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>, %u: memref<4x3xf32>, %v: memref<5x2xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects dimension 1 of the right factor to be 3, the C of the left factor, but got 2}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) factors(%u, %v : memref<4x3xf32>, memref<5x2xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c4_outs(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects dimension 0 of the outs to be 5, the N of the right operand, but got 4}}
  kron.pairwise_grad by(rhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c5(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<2x4x5xf32>, %d: memref<3x4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects dimension 0 of the outs to be 2, the batch size of the gradient, or 1, but got 3}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<2x4x5xf32>) outs(%d : memref<3x4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c6(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the region `epilogue` to have 1 arguments, but got 2}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
      epilogue {
      ^bb0(%s: f32, %t: f32):
        kron.pairwise_yield %s : f32
      }
  return
}

// -----

func.func @pairwise_grad_c7(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects its regions to hold elementwise operations of arith and math on scalars, but got llvm.intr.exp}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
      epilogue {
      ^bb0(%s: f32):
        // expected-note @+1 {{operation is here}}
        %e = llvm.intr.exp(%s) : (f32) -> f32
        kron.pairwise_yield %e : f32
      }
  return
}

// -----

func.func @pairwise_grad_c8_directions(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects 2 directions, of both operands and all parameters, but got 1}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) along(%a : memref<4x8xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c8_derivative(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects its regions to hold operations with a known derivative, but got arith.remf}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
      epilogue {
      ^bb0(%s: f32):
        // expected-note @+1 {{operation is here}}
        %e = arith.remf %s, %s : f32
        kron.pairwise_yield %e : f32
      }
  return
}

// -----

func.func @pairwise_grad_c9_neither(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects a gradient or factors of one, but got neither}}
  kron.pairwise_grad by(lhs) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c9_one(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects two factors of the gradient, but got one}}
  "kron.pairwise_grad"(%a, %b, %g, %a, %d) <{by = 0 : i32, inner = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1>}> ({}, {}) : (memref<4x8xf32>, memref<5x8xf32>, memref<4x5xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
  return
}

// -----

func.func @pairwise_grad_c10_number(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the number of a parameter with param only, but got one with lhs}}
  kron.pairwise_grad by(lhs, 0) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) outs(%d : memref<4x8xf32>)
  return
}

// -----

func.func @pairwise_grad_c10_no_number(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>, %p: f32, %s: memref<f32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the number of a parameter with param only, but got none with param}}
  kron.pairwise_grad by(param) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) params(%p : f32) outs(%s : memref<f32>)
  return
}

// -----

func.func @pairwise_grad_c10_large(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>, %p: f32, %s: memref<f32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op expects the number of a parameter to be less than 1, their number, but got 1}}
  kron.pairwise_grad by(param, 1) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>) params(%p : f32) outs(%s : memref<f32>)
  return
}

// -----

func.func @segments_of_grad(%a: memref<4x8xf32>, %g: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.pairwise_grad' op failed to verify that operandSegmentSizes is 1 at position 7, for the outs}}
  "kron.pairwise_grad"(%a, %a, %g) <{by = 0 : i32, inner = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>}> ({}, {}) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x4xf32>) -> ()
  return
}
