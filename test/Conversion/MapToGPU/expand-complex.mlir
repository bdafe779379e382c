// RUN: kron-opt %s --kron-expand-complex | FileCheck %s
// RUN: kron-opt %s --kron-expand-complex --mlir-print-ir-after=convert-complex-to-standard -o /dev/null 2>&1 | FileCheck %s --check-prefix=RUNS
// RUN: sed -n '/^func.func @real/,$p' %s | kron-opt --kron-expand-complex --mlir-print-ir-after=convert-complex-to-standard -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SKIPS --allow-empty

// Verify that complex products are real ones, and that the conversion runs only where there is something to convert.
// RUNS: IR Dump After ConvertComplexToStandardPass
// SKIPS-NOT: IR Dump

// CHECK-LABEL: func.func @product(
// CHECK-NOT:     complex.mul
// CHECK-COUNT-4: arith.mulf
// CHECK:         complex.create
func.func @product(%a: complex<f32>, %b: complex<f32>) -> complex<f32> {
  %0 = complex.mul %a, %b : complex<f32>
  return %0 : complex<f32>
}

// CHECK-LABEL: func.func @real(
// CHECK:         arith.mulf
func.func @real(%a: f32, %b: f32) -> f32 {
  %0 = arith.mulf %a, %b : f32
  return %0 : f32
}
