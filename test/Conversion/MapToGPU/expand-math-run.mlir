// Verify the values of the expansions on the CPU, where they run as well.
// RUN: kron-opt %s --kron-expand-math -o %t.mlir
// RUN: kron-run %t.mlir --entry values --arg value:0.5:f64 --out - --out-shape 0:9 \
// RUN:   | FileCheck %s

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
