// RUN: kron-opt %s --transform-interpreter --canonicalize --cse -split-input-file | FileCheck %s

// Verify that a tile of a mode product takes its range of every axis that is not
// contracted, of the resulting axis in the factor, and all of a stretched one.
// CHECK-LABEL: func @mode_product(
// CHECK-SAME:    %[[X:.*]]: tensor<20x8x1xf32>, %[[F:.*]]: tensor<20x8x12xf32>, %[[INIT:.*]]: tensor<20x12x6xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK:           scf.for %[[Q:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK-DAG:         %[[TX:.*]] = tensor.extract_slice %[[X]][%[[I]], 0, 0] [5, 8, 1] [1, 1, 1]
// CHECK-DAG:         %[[TF:.*]] = tensor.extract_slice %[[F]][%[[I]], 0, %[[Q]]] [5, 8, 4] [1, 1, 1]
// CHECK-DAG:         %[[TY:.*]] = tensor.extract_slice %[[ACC]][%[[I]], %[[Q]], 0] [5, 4, 6] [1, 1, 1]
// CHECK:             %[[T:.*]] = kron.mode_product axis(1) ins(%[[TX]] : tensor<5x8x1xf32>) factor(%[[TF]] [0, p, q] : tensor<5x8x4xf32>) outs(%[[TY]] : tensor<5x4x6xf32>) alpha(2.000000e+00 : f32)
// CHECK:             tensor.insert_slice %[[T]] into %[[ACC]][%[[I]], %[[Q]], 0] [5, 4, 6] [1, 1, 1]
func.func @mode_product(%x: tensor<20x8x1xf32>, %f: tensor<20x8x12xf32>, %init: tensor<20x12x6xf32>) -> tensor<20x12x6xf32> {
  %y = kron.mode_product axis(1) ins(%x : tensor<20x8x1xf32>) factor(%f [0, p, q] : tensor<20x8x12xf32>) outs(%init : tensor<20x12x6xf32>) alpha(2.0 : f32) -> tensor<20x12x6xf32>
  return %y : tensor<20x12x6xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["kron.mode_product"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [5, 4, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Verify that named operations have loops over the batch and M only, whichever way
// the input is stored, on memrefs too.
// CHECK-LABEL: func @named(
// CHECK:         scf.for %[[B:.*]] =
// CHECK:           scf.for %[[M:.*]] =
// CHECK-DAG:         memref.subview %{{.*}}[0, 0, %[[M]]] [1, 6, 4] [1, 1, 1] : memref<1x6x20xf64> to
// CHECK-DAG:         memref.subview %{{.*}}[%[[B]], 0, 0] [1, 3, 3] [1, 1, 1] : memref<7x3x3xf64> to
// CHECK-DAG:         memref.subview %{{.*}}[%[[B]], %[[M]], 0] [1, 4, 6] [1, 1, 1] : memref<7x20x6xf64> to
// CHECK:             kron.mkm ins(T(%{{.*}}) {{.*}} factors(%{{.*}}, %{{.*}} : memref<2x2xf64>, memref<1x3x3xf64,
// CHECK:         scf.for %[[N:.*]] =
// CHECK-DAG:       memref.subview %{{.*}}[0, %[[N]]] [40, 5] [1, 1] : memref<40x20xf64> to
// CHECK-DAG:       memref.subview %{{.*}}[0, %[[N]]] [30, 5] [1, 1] : memref<30x20xf64> to
// CHECK:           kron.ksmm {{.*}} weights(%{{.*}} : memref<2x3x4x5xf64>) {{.*}} bias(%{{.*}} : memref<30xf64>) residual(%{{.*}} : memref<30x5xf64,
func.func @named(%x: memref<1x6x20xf64>, %f: memref<2x2xf64>, %g: memref<7x3x3xf64>, %y: memref<7x20x6xf64>,
    %s: memref<40x20xf64>, %k: memref<2x3x4x5xf64>, %b: memref<30xf64>, %r: memref<30x20xf64>, %t: memref<30x20xf64>) {
  kron.mkm ins(T(%x) : memref<1x6x20xf64>) factors(%f, %g : memref<2x2xf64>, memref<7x3x3xf64>) outs(%y : memref<7x20x6xf64>)
  kron.ksmm ins(%s : memref<40x20xf64>) weights(%k : memref<2x3x4x5xf64>) outs(%t : memref<30x20xf64>) bias(%b : memref<30xf64>) residual(%r : memref<30x20xf64>) {layout = #kron.layout<batch_last>}
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mkm = transform.structured.match ops{["kron.mkm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t0, %l0:2 = transform.structured.tile_using_for %mkm tile_sizes [1, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %ksmm = transform.structured.match ops{["kron.ksmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t1, %l1 = transform.structured.tile_using_for %ksmm tile_sizes [5] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Verify that a product is fused into the loops of the one that reads it.
// CHECK-LABEL: func @fuse(
// CHECK-NOT:     kron.mkm
// CHECK:         scf.for
// CHECK:           %[[T:.*]] = kron.mkm {{.*}} -> tensor<4x12xf32>
// CHECK:           kron.mkm ins(%[[T]] : tensor<4x12xf32>) {{.*}} -> tensor<4x6xf32>
// CHECK:         return
func.func @fuse(%x: tensor<20x6xf32>, %f: tensor<6x12xf32>, %g: tensor<2x2xf32>, %h: tensor<6x3xf32>, %mid: tensor<20x12xf32>, %init: tensor<20x6xf32>) -> tensor<20x6xf32> {
  %0 = kron.mkm ins(%x : tensor<20x6xf32>) factors(%f : tensor<6x12xf32>) outs(%mid : tensor<20x12xf32>) -> tensor<20x12xf32>
  %1 = kron.mkm ins(%0 : tensor<20x12xf32>) factors(%g, %h : tensor<2x2xf32>, tensor<6x3xf32>) outs(%init : tensor<20x6xf32>) -> tensor<20x6xf32>
  return %1 : tensor<20x6xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["kron.mkm"]} in %root : (!transform.any_op) -> !transform.any_op
    %first, %second = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused, %loop = transform.structured.fuse %second tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
