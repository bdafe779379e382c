// RUN: kron-opt %s --kron-expand-math --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-expand-math=scaled-bits=512 --split-input-file | FileCheck %s --check-prefixes=CHECK,SCALED

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

// Verify that a power is a logarithm's polynomial and one of 2^r, in f32 without a division, whose exponent is clamped;
// 0, infinity and NaN are their own powers.
// CHECK-LABEL: func.func @power(
// CHECK:         %[[A:.*]] = math.absf
// CHECK-COUNT-8: math.fma
// CHECK-NOT:     arith.divf
// CHECK:         math.roundeven
// CHECK-COUNT-8: math.fma
// CHECK:         %[[NAN:.*]] = arith.cmpf ueq, %[[A]]
// CHECK:         %[[R:.*]] = arith.select %[[NAN]], %[[A]]
// CHECK:         %[[INF:.*]] = arith.cmpf oeq, %[[A]]
// CHECK:         arith.select %[[INF]], %[[A]], %[[R]]
// CHECK-NOT:     math.powf
func.func @power(%x: vector<8xf32>) -> vector<8xf32> {
  %p = arith.constant dense<1.3> : vector<8xf32>
  %a = math.absf %x : vector<8xf32>
  %0 = math.powf %a, %p : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// Verify that exponents up to 1 are not clamped: the result is a number.
// CHECK-LABEL: func.func @root(
// CHECK:         arith.divf
// CHECK-NOT:     arith.cmpf olt
// CHECK:         math.roundeven
// CHECK-NOT:     arith.cmpf olt
// CHECK:         arith.cmpf ueq
func.func @root(%x: f64) -> f64 {
  %p = arith.constant 0.3 : f64
  %a = math.absf %x : f64
  %0 = math.powf %a, %p : f64
  return %0 : f64
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

// -----

// Verify that vectors of as many bits as an instruction takes, and no others, are multiplied by a power of two at once.
// CHECK-LABEL: func.func @scaled(
// CHECK:         %[[N:.*]] = arith.fptosi %{{.*}} : vector<16xf32> to vector<16xi32>
// SCALED-NOT:    arith.bitcast {{.*}} : vector<16xi32>
// SCALED:        llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %[[N]]) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK:         arith.fptosi %{{.*}} : vector<8xf32> to vector<8xi32>
// SCALED-NOT:    call_intrinsic
// CHECK:         arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// SCALED:        %[[D:.*]] = arith.fptosi %{{.*}} : vector<8xf64> to vector<8xi64>
// SCALED:        llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %[[D]]) : (vector<8xf64>, vector<8xi64>) -> vector<8xf64>
func.func @scaled(%x: vector<16xf32>, %y: vector<8xf32>, %z: vector<8xf64>) -> (vector<16xf32>, vector<8xf32>, vector<8xf64>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.exp %y : vector<8xf32>
  %2 = math.exp2 %z : vector<8xf64>
  return %0, %1, %2 : vector<16xf32>, vector<8xf32>, vector<8xf64>
}
