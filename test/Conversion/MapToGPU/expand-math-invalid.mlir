// RUN: kron-opt %s --kron-expand-math --verify-diagnostics

func.func @sin(%x: f32) -> f32 {
  // expected-error @below {{'math.sin' op cannot run on a GPU: expects exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sqrt, rsqrt or rounding}}
  %0 = math.sin %x : f32
  return %0 : f32
}
