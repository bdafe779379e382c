// RUN: kron-opt %s --convert-kron-to-vector | FileCheck %s
// RUN: kron-opt %s --convert-kron-to-linalg | FileCheck %s --check-prefix=ONE
// RUN: kron-opt %s "--convert-kron-to-linalg=epilogues-only=true target=cuda" | FileCheck %s --check-prefix=ONE
// RUN: kron-opt %s --convert-kron-to-linalg=epilogues-only=true | FileCheck %s --check-prefix=STAYS
// RUN: kron-opt %s --convert-kron-to-linalg=fallback-only=true | FileCheck %s --check-prefix=STAYS

// Verify that the number of threads comes from the runtime on a CPU, once for each place that
// asks, and is 1 in the reference lowering and on a GPU.
// CHECK-LABEL: func.func @threads(
// CHECK:         %[[FIRST:.*]] = call @kronRtNumThreads() : () -> i64
// CHECK:         %[[SECOND:.*]] = call @kronRtNumThreads() : () -> i64
// CHECK-NOT:     kron.
// CHECK:       func.func private @kronRtNumThreads() -> i64
// CHECK-NOT:   @kronRtNumThreads
// ONE-LABEL:   func.func @threads(
// ONE:           arith.constant 1 : index
// ONE-NOT:       kron.
// STAYS-COUNT-2: kron.num_threads
func.func @threads() -> (index, index) {
  %0 = kron.num_threads
  %1 = kron.num_threads
  return %0, %1 : index, index
}
