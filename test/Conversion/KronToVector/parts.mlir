// RUN: kron-opt %s --kron-decompose --kron-plan="vector-bits=256" --convert-kron-to-vector --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PARTS
// RUN: kron-opt %s --kron-decompose --kron-plan="vector-bits=512" --convert-kron-to-vector --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,MASKS

// Verify that the last 7 of 23 columns are stored as 4, 2 and 1 where stores under a mask are
// slow, and under a mask where they are not.
// CHECK-LABEL: func.func private @known_fused(
// PARTS-NOT: llvm.intr.masked.store
// PARTS: %[[FOUR:.*]] = vector.shuffle %[[ALL:.*]], %[[ALL]] [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
// PARTS: llvm.store %[[FOUR]], %{{.*}} {alignment = 4 : i64} : vector<4xf32>
// PARTS: %[[TWO:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [4, 5] : vector<8xf32>, vector<8xf32>
// PARTS: llvm.store %[[TWO]], %{{.*}} {alignment = 4 : i64} : vector<2xf32>
// PARTS: %[[ONE:.*]] = vector.extract %[[ALL]][6] : f32 from vector<8xf32>
// PARTS: llvm.store %[[ONE]], %{{.*}} {alignment = 4 : i64} : f32
// PARTS-NOT: llvm.intr.masked.store
// MASKS: llvm.intr.masked.store
// CHECK: return
func.func @known(%x: memref<4x23xf32>, %f: memref<4x4xf32>, %y: memref<4x23xf32>) {
  kron.kmm ins(%x : memref<4x23xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<4x23xf32>)
  return
}

// Verify that a number of columns that is not known is one of a mask, whatever it costs.
// CHECK-LABEL: func.func private @open_fused(
// CHECK: llvm.intr.masked.store
func.func @open(%x: memref<4x?xf32>, %f: memref<4x4xf32>, %y: memref<4x?xf32>) {
  kron.kmm ins(%x : memref<4x?xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<4x?xf32>)
  return
}
