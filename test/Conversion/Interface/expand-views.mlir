// RUN: kron-opt %s --kron-expand-views --split-input-file | FileCheck %s

// Verify that a view becomes an array with an offset, and that the map of affine
// that upstream's pattern makes of it becomes arith.
// CHECK-LABEL: func.func @view(
// CHECK-SAME:      %[[X:.*]]: memref<?x8xf32>, %[[ROW:.*]]: index)
// CHECK:         %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK:         %[[OFFSET:.*]] = arith.muli %[[ROW]], %[[EIGHT]]
// CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [1, 8], strides: [8, 1]
// CHECK-NOT:     affine
// CHECK-NOT:     memref.subview
// CHECK:         return
func.func @view(%x: memref<?x8xf32>, %row: index)
    -> memref<1x8xf32, strided<[8, 1], offset: ?>> {
  %view = memref.subview %x[%row, 0] [1, 8] [1, 1]
      : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
  return %view : memref<1x8xf32, strided<[8, 1], offset: ?>>
}

// -----

// Verify that maps of affine become arith.
// CHECK-LABEL: func.func @map(
// CHECK-SAME:      %[[I:.*]]: index)
// CHECK-DAG:     %[[C:.*]] = arith.constant 3 : index
// CHECK:         %[[SCALED:.*]] = arith.muli %[[I]], %[[C]]
// CHECK:         return %[[SCALED]]
func.func @map(%i: index) -> index {
  %scaled = affine.apply affine_map<(i) -> (i * 3)>(%i)
  return %scaled : index
}

// -----

// Verify that other operations are not folded, and that a loop without effect
// goes with what it uses.
// CHECK-LABEL: func.func @others(
// CHECK-SAME:      %[[I:.*]]: index)
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[KEPT:.*]] = arith.muli %[[I]], %[[ONE]]
// CHECK-NEXT:    return %[[KEPT]]
func.func @others(%i: index) -> index {
  %one = arith.constant 1 : index
  %most = arith.constant 7 : index
  scf.for %k = %one to %most step %one {
    %unused = arith.addi %k, %i : index
  }
  %kept = arith.muli %i, %one : index
  return %kept : index
}
