// RUN: kron-opt %s --kron-expand-math --split-input-file | FileCheck %s

// Verify that the exponential is a polynomial times a power of two in two
// factors, and that NaN takes no part in computing the exponent.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:         math.roundeven
// CHECK:         %[[ORDERED:.*]] = arith.cmpf ord
// CHECK:         %[[N:.*]] = arith.select %[[ORDERED]]
// CHECK:         arith.fptosi %[[N]] : f32 to i32
// CHECK-COUNT-7: math.fma
// CHECK:         arith.bitcast %{{.*}} : i32 to f32
// CHECK:         arith.bitcast %{{.*}} : i32 to f32
// CHECK-NOT:     math.exp
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

// Verify that smaller types are computed in f32.
// CHECK-LABEL: func.func @erf(
// CHECK:         arith.extf %{{.*}} : vector<2xf16> to vector<2xf32>
// CHECK-NOT:     math.erf
// CHECK:         arith.truncf %{{.*}} : vector<2xf32> to vector<2xf16>
func.func @erf(%x: vector<2xf16>) -> vector<2xf16> {
  %0 = math.erf %x : vector<2xf16>
  return %0 : vector<2xf16>
}

// -----

// Verify that what the GPU has instructions for stays.
// CHECK-LABEL: func.func @native(
// CHECK:         math.sqrt
// CHECK:         math.absf
func.func @native(%x: f64) -> f64 {
  %0 = math.sqrt %x : f64
  %1 = math.absf %0 : f64
  return %1 : f64
}
