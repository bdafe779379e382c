// RUN: kron-opt %s --kron-release-early | FileCheck %s

// Verify that an array is released behind its last use, also through a view.
// CHECK-LABEL: func.func @view(
// CHECK:         linalg.fill
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    linalg.fill
func.func @view(%y: memref<8xf32>, %v: f32) {
  %0 = memref.alloc() : memref<2x4xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  linalg.fill ins(%v : f32) outs(%1 : memref<8xf32>)
  linalg.fill ins(%v : f32) outs(%y : memref<8xf32>)
  memref.dealloc %0 : memref<2x4xf32>
  return
}

// Verify that an array which leaves through a loop stays.
// CHECK-LABEL: func.func @escapes(
// CHECK:         linalg.fill
// CHECK-NEXT:    memref.dealloc
func.func @escapes(%y: memref<8xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.alloc() : memref<8xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> memref<8xf32> {
    scf.yield %a : memref<8xf32>
  }
  linalg.fill ins(%v : f32) outs(%1 : memref<8xf32>)
  memref.dealloc %0 : memref<8xf32>
  return
}

// Verify that two releases of one array, wrong as they are, come to an end.
// CHECK-LABEL: func.func @twice(
// CHECK:         linalg.fill
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @twice(%v: f32) {
  %0 = memref.alloc() : memref<8xf32>
  memref.dealloc %0 : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%0 : memref<8xf32>)
  memref.dealloc %0 : memref<8xf32>
  return
}
