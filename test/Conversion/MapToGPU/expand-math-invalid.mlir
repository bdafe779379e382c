// RUN: kron-opt %s --kron-expand-math --split-input-file --verify-diagnostics

func.func @sin(%x: f32) -> f32 {
  // expected-error @below {{'math.sin' op cannot run on a GPU: expects exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sqrt, rsqrt, rounding, or constant powers of absf}}
  %0 = math.sin %x : f32
  return %0 : f32
}

// -----

// A base that may be negative.
func.func @power(%x: f32) -> f32 {
  %p = arith.constant 1.3 : f32
  // expected-error @below {{'math.powf' op cannot run on a GPU: expects exp,}}
  %0 = math.powf %x, %p : f32
  return %0 : f32
}

// -----

func.func @no_power(%x: f32) -> f32 {
  %p = arith.constant 0.0 : f32
  %a = math.absf %x : f32
  // expected-error @below {{'math.powf' op cannot run on a GPU: expects exp,}}
  %0 = math.powf %a, %p : f32
  return %0 : f32
}

// -----

func.func @any_power(%x: f32, %p: f32) -> f32 {
  %a = math.absf %x : f32
  // expected-error @below {{'math.powf' op cannot run on a GPU: expects exp,}}
  %0 = math.powf %a, %p : f32
  return %0 : f32
}

// -----

func.func @wide(%x: f80) -> f80 {
  // expected-error @below {{'math.exp' op cannot run on a GPU: expects f16, bf16, f32 or f64, but got 'f80'}}
  %0 = math.exp %x : f80
  return %0 : f80
}
