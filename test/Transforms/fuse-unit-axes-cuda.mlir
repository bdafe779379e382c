// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file | FileCheck %s

// Verify that the transpose of one row is read as it lies.
// CHECK-LABEL: func @row
// CHECK-SAME:    %[[X:.*]]: memref<15x1xf32>
// CHECK:         %[[FLAT:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : memref<3x5x1xf32> into memref<3x5xf32>
// CHECK:         %[[VIEW:.*]] = memref.expand_shape %[[FLAT]] {{\[\[}}0, 1], [2]] output_shape [1, 3, 5]
// CHECK:         kron.fused ins(%[[VIEW]],
// CHECK-NOT:     input_permutation
// CHECK:         return
func.func @row(%x: memref<15x1xf32>, %f: memref<3x3xf32>, %g: memref<5x5xf32>, %y: memref<1x15xf32>) {
  kron.mkm ins(T(%x) : memref<15x1xf32>) factors(%f, %g : memref<3x3xf32>, memref<5x5xf32>) outs(%y : memref<1x15xf32>)
  return
}

// -----

// Verify the same on tensors.
// CHECK-LABEL: func @on_tensors
// CHECK:         tensor.collapse_shape
// CHECK:         %[[VIEW:.*]] = tensor.expand_shape {{.*}} into tensor<1x3x5xf32>
// CHECK:         kron.fused ins(%[[VIEW]],
// CHECK-NOT:     input_permutation
// CHECK:         return
func.func @on_tensors(%x: tensor<15x1xf32>, %f: tensor<3x3xf32>, %g: tensor<5x5xf32>) -> tensor<1x15xf32> {
  %e = tensor.empty() : tensor<1x15xf32>
  %y = kron.mkm ins(T(%x) : tensor<15x1xf32>) factors(%f, %g : tensor<3x3xf32>, tensor<5x5xf32>) outs(%e : tensor<1x15xf32>) -> tensor<1x15xf32>
  return %y : tensor<1x15xf32>
}

// -----

// Verify that unknown strides, unknown sizes and axes of more positions keep the permutation.
// CHECK-LABEL: func @strides
// CHECK:         input_permutation
func.func @strides(%x: memref<3x1xf32, strided<[?, ?], offset: ?>>, %f: memref<3x3xf32>, %y: memref<1x3xf32>) {
  kron.mkm ins(T(%x) : memref<3x1xf32, strided<[?, ?], offset: ?>>) factors(%f : memref<3x3xf32>) outs(%y : memref<1x3xf32>)
  return
}

// -----

// CHECK-LABEL: func @unknown
// CHECK:         input_permutation
func.func @unknown(%x: memref<15x?xf32>, %f: memref<3x3xf32>, %g: memref<5x5xf32>, %y: memref<?x15xf32>) {
  kron.mkm ins(T(%x) : memref<15x?xf32>) factors(%f, %g : memref<3x3xf32>, memref<5x5xf32>) outs(%y : memref<?x15xf32>)
  return
}

// -----

// CHECK-LABEL: func @rows
// CHECK:         input_permutation
func.func @rows(%x: memref<15x2xf32>, %f: memref<3x3xf32>, %g: memref<5x5xf32>, %y: memref<2x15xf32>) {
  kron.mkm ins(T(%x) : memref<15x2xf32>) factors(%f, %g : memref<3x3xf32>, memref<5x5xf32>) outs(%y : memref<2x15xf32>)
  return
}
