// Weights of a short innermost axis that matrix tiles take transposed.
//
// RUN: kron-opt %s --kron-cpu-pipeline="matrix-tiles" | FileCheck %s

// Verify that they are read where they lie, rows of two k at a time, of which every second element
// belongs to the position; the last k of an odd number is beside zeros.
// CHECK-LABEL: llvm.func @transposed(
// CHECK-NOT: llvm.intr.masked.gather
// CHECK: %[[ODD:.*]] = llvm.intr.masked.load
// CHECK: %[[EVEN:.*]] = llvm.intr.masked.load
// CHECK-NEXT: llvm.shufflevector %[[ODD]], %[[EVEN]] [0, 32, 2, 34, 4, 36, 6, 38, 8, 40, 10, 42, 12, 44, 14, 46, 16, 48, 18, 50, 20, 52, 22, 54, 24, 56, 26, 58, 28, 60, 30, 62] : vector<32xi16>
// CHECK: llvm.store {{.*}} : vector<32xi16>
// CHECK: %[[LAST:.*]] = llvm.intr.masked.load
// CHECK-NEXT: llvm.shufflevector %[[LAST]], %{{.*}} [0, 32, 2,
// CHECK-NOT: llvm.intr.masked.gather
// CHECK-LABEL: llvm.func @transposed_fused(
func.func @transposed(%x: memref<?x98xbf16>, %k: memref<1x49x64x2xbf16>, %y: memref<?x128xbf16>) {
  kron.ksmm ins(%x : memref<?x98xbf16>) weights(%k : memref<1x49x64x2xbf16>) outs(%y : memref<?x128xbf16>)
            {trans_weights = #kron.transpose<T>}
  return
}
