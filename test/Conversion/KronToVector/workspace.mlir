// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --convert-kron-to-vector \
// RUN:   --canonicalize | FileCheck %s

// Verify that fused regions of a function have the same workspace one after the other: it is as
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

// Verify that what comes behind more than 2 GB of workspace is found: an offset that the
// constants of a getelementptr do not hold.
// CHECK-LABEL: func.func @large_factors(
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 4294967296 : i64
// CHECK-DAG: %[[ALL:.*]] = call @kronRtWorkspace(
// CHECK: llvm.getelementptr %[[ALL]][%[[BYTES]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
func.func @large_factors(%x: memref<?x1073741824xf32>, %k: memref<32768x32768xf32>, %y: memref<?x1073741824xf32>) {
  kron.mkm ins(%x : memref<?x1073741824xf32>) factors(%k, %k : memref<32768x32768xf32>, memref<32768x32768xf32>) outs(%y : memref<?x1073741824xf32>) {plan = #kron.cpu_plan<regions = [2]>}
  return
}
