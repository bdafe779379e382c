// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify that strided memrefs are read through views and that every temporary
// is released.
// CHECK-LABEL: func.func @kmm
// CHECK-SAME: (%[[X:[^:]*]]: memref<6x?xf32, strided<[?, ?], offset: ?>>, {{.*}}, %[[Y:[^:]*]]: memref<6x?xf32>)
// CHECK: memref.expand_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK-SAME: into memref<2x3x?xf32, strided<[?, ?, ?], offset: ?>>
// CHECK: %[[T1:.*]] = memref.alloc(%{{.*}}) {bufferization.manual_deallocation} : memref<2x3x?xf32>
// CHECK: linalg.fill {{.*}} outs(%[[T1]] : memref<2x3x?xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[T1]] : memref<2x3x?xf32>)
// CHECK: %[[T2:.*]] = memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[T1]], {{.*}} outs(%[[T2]] : memref<2x3x?xf32>)
// CHECK: %[[MERGED:.*]] = memref.collapse_shape %[[T2]]
// CHECK: linalg.generic {{.*}} ins(%[[MERGED]] : memref<6x?xf32>) outs(%[[Y]] : memref<6x?xf32>)
// CHECK: memref.dealloc %[[T1]] {bufferization.manual_deallocation}
// CHECK: memref.dealloc %[[T2]] {bufferization.manual_deallocation}
// CHECK-NOT: kron.
func.func @kmm(%x: memref<6x?xf32, strided<[?, ?], offset: ?>>, %f1: memref<2x2xf32>,
               %f2: memref<3x3xf32>, %y: memref<6x?xf32>) {
  kron.kmm ins(%x : memref<6x?xf32, strided<[?, ?], offset: ?>>)
           factors(%f1, %f2 : memref<2x2xf32>, memref<3x3xf32>)
           outs(%y : memref<6x?xf32>)
  return
}

// -----

// Verify that a dynamic size is taken for the product of static factor sizes.
// CHECK-LABEL: func.func @dynamic_columns
// CHECK: %[[CAST:.*]] = memref.cast %{{.*}} : memref<?x?xf32> to memref<?x6xf32>
// CHECK: memref.expand_shape %[[CAST]] {{.*}} into memref<?x2x3xf32>
func.func @dynamic_columns(%x: memref<?x?xf32>, %f1: memref<2x2xf32>,
                           %f2: memref<3x3xf32>, %y: memref<?x6xf32>) {
  kron.mkm ins(%x : memref<?x?xf32>) factors(%f1, %f2 : memref<2x2xf32>, memref<3x3xf32>)
           outs(%y : memref<?x6xf32>)
  return
}

// -----

// Verify that one dynamic factor still gives a view.
// CHECK-LABEL: func.func @one_dynamic_factor
// CHECK: %[[P:.*]] = memref.dim %{{.*}} : memref<?x2xf32>
// CHECK: memref.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [5, %[[P]], 3]
func.func @one_dynamic_factor(%x: memref<5x?xf32>, %f1: memref<?x2xf32>,
                              %f2: memref<3x3xf32>, %y: memref<5x6xf32>) {
  kron.mkm ins(%x : memref<5x?xf32>) factors(%f1, %f2 : memref<?x2xf32>, memref<3x3xf32>)
           outs(%y : memref<5x6xf32>)
  return
}

// -----

// Verify that several dynamic factors make a copy that computes the old index.
// CHECK-LABEL: func.func @dynamic_factors
// CHECK-SAME: (%[[X:[^:]*]]: memref<5x?xf32>,
// CHECK-NOT: memref.expand_shape
// CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}, %[[P2:.*]]) {{.*}} : memref<5x?x?xf32>
// CHECK: linalg.generic {{.*}} outs(%[[COPY]] : memref<5x?x?xf32>)
// CHECK: %[[M:.*]] = linalg.index 0
// CHECK: %[[I1:.*]] = linalg.index 1
// CHECK: %[[I2:.*]] = linalg.index 2
// CHECK: %[[ROW:.*]] = arith.muli %[[I1]], %[[P2]]
// CHECK: %[[I:.*]] = arith.addi %[[ROW]], %[[I2]]
// CHECK: memref.load %[[X]][%[[M]], %[[I]]]
func.func @dynamic_factors(%x: memref<5x?xf32>, %f1: memref<?x?xf32>,
                           %f2: memref<?x?xf32>, %y: memref<5x?xf32>) {
  kron.mkm ins(%x : memref<5x?xf32>) factors(%f1, %f2 : memref<?x?xf32>, memref<?x?xf32>)
           outs(%y : memref<5x?xf32>)
  return
}
