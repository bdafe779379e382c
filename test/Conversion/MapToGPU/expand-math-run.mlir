// Verify the values of the expansions on the CPU, where they run as well.
// RUN: kron-opt %s --kron-expand-math -o %t.mlir
// RUN: kron-run %t.mlir --entry values --arg value:0.5:f64 --out - --out-shape 0:9 \
// RUN:   | FileCheck %s
// RUN: kron-opt %s --kron-expand-math=fast-erf -o %t.fast.mlir
// RUN: kron-run %t.fast.mlir --entry erfs --arg value:0.5:f32 --out - --out-shape 0:6 \
// RUN:   | FileCheck %s --check-prefix=FAST

// erf, exp, expm1, log, log1p, tanh, exp2, log2, log10 of 0.5.
// CHECK:      0.5205 1.64872 0.648721 -0.693147 0.405465 0.462117 1.41421 -1 -0.30103
func.func @values(%x: tensor<f64>) -> tensor<?xf64> {
  %v = tensor.extract %x[] : tensor<f64>
  %0 = math.erf %v : f64
  %1 = math.exp %v : f64
  %2 = math.expm1 %v : f64
  %3 = math.log %v : f64
  %4 = math.log1p %v : f64
  %5 = math.tanh %v : f64
  %6 = math.exp2 %v : f64
  %7 = math.log2 %v : f64
  %8 = math.log10 %v : f64
  %r = tensor.from_elements %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<9xf64>
  %c = tensor.cast %r : tensor<9xf64> to tensor<?xf64>
  return %c : tensor<?xf64>
}

// erf as a quotient, of 0.5, -1, 0.01, -20, infinity and NaN.
// FAST:      0.5205 -0.842701 0.0112834 -1 1 {{-?}}nan
func.func @erfs(%x: tensor<f32>) -> tensor<?xf32> {
  %half = tensor.extract %x[] : tensor<f32>
  %minus2 = arith.constant -2.0 : f32
  %fiftieth = arith.constant 0.02 : f32
  %minus40 = arith.constant -40.0 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %a = arith.mulf %half, %minus2 : f32
  %b = arith.mulf %half, %fiftieth : f32
  %c = arith.mulf %half, %minus40 : f32
  %d = arith.mulf %half, %infinity : f32
  %e = arith.mulf %half, %nan : f32
  %0 = math.erf %half : f32
  %1 = math.erf %a : f32
  %2 = math.erf %b : f32
  %3 = math.erf %c : f32
  %4 = math.erf %d : f32
  %5 = math.erf %e : f32
  %r = tensor.from_elements %0, %1, %2, %3, %4, %5 : tensor<6xf32>
  %s = tensor.cast %r : tensor<6xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}
