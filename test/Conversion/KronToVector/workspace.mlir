// RUN: kron-opt %s --kron-decompose --kron-select-schedule --convert-kron-to-vector \
// RUN:   --canonicalize | FileCheck %s

// Verify that passes of a function have the same workspace one after the other: it is as
// large as the larger one needs.
// CHECK-LABEL: func.func @two_passes(
// CHECK-SAME: kron.shared_bytes = 49152 : i64
// CHECK: %[[BASE:.*]] = call @kronRtWorkspace(%c49152_i64)
// CHECK-NOT: call @kronRtWorkspace
func.func @two_passes(%w: memref<1x96x96x1xf32>, %z: memref<96x96xf32>, %y: memref<96x96xf32>) {
  kron.ksmm ins(%z : memref<96x96xf32>) weights(%w : memref<1x96x96x1xf32>) outs(%y : memref<96x96xf32>)
  kron.ksmm ins(%y : memref<96x96xf32>) weights(%w : memref<1x96x96x1xf32>) outs(%z : memref<96x96xf32>)
  return
}
