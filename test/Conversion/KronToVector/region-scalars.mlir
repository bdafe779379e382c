// RUN: kron-opt %s --kron-plan --convert-kron-to-vector --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" --kron-tile=chip=sm_90a \
// RUN:   --convert-tile-to-nvvm --split-input-file | FileCheck %s --check-prefix=GPU

// Verify that alpha and beta that a fused region computes are computed in
// front of it, from the memrefs behind its arguments.
// CHECK-LABEL: func.func @last_of(
// CHECK-SAME:    %[[S:[^:]*]]: memref<?xf32>
// CHECK:         %[[SIZE:.*]] = memref.dim %[[S]]
// CHECK:         %[[LAST:.*]] = arith.subi %[[SIZE]]
// CHECK:         %[[ALPHA:.*]] = memref.load %[[S]][%[[LAST]]]
// CHECK:         llvm.store %[[ALPHA]]
// CHECK-NOT:     kron.fused
// GPU-LABEL: func.func @last_of(
// GPU-SAME:    %[[S:[^:]*]]: memref<?xf32>
// GPU:         %[[ALPHA:.*]] = memref.load %[[S]]
// GPU:         llvm.store %[[ALPHA]]
func.func @last_of(%x: memref<3x2xf32>, %f: memref<2x2xf32>, %y: memref<3x2xf32>, %s: memref<?xf32>) {
  kron.fused ins(%x, %f, %s : memref<3x2xf32>, memref<2x2xf32>, memref<?xf32>) outs(%y : memref<3x2xf32>) {
  ^bb0(%tx: tensor<3x2xf32>, %a: tensor<2x2xf32>, %ts: tensor<?xf32>, %out: tensor<3x2xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = tensor.dim %ts, %c0 : tensor<?xf32>
    %last = arith.subi %size, %c1 : index
    %alpha = tensor.extract %ts[%last] : tensor<?xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<3x2xf32>) alpha(%alpha : f32) -> tensor<3x2xf32>
    kron.yield %1 : tensor<3x2xf32>
  }
  return
}

// -----

// Verify that indices into the first input, whose axes are permuted, are those
// of the memref.
// CHECK-LABEL: func.func @permuted(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x3xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         memref.load %[[X]][%[[C0]], %[[C2]]]
func.func @permuted(%x: memref<2x3xf32>, %f: memref<2x2xf32>, %y: memref<3x2xf32>) {
  kron.fused ins(%x, %f : memref<2x3xf32>, memref<2x2xf32>) outs(%y : memref<3x2xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<3x2xf32>, %a: tensor<2x2xf32>, %out: tensor<3x2xf32>):
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %beta = tensor.extract %tx[%c2, %c0] : tensor<3x2xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<3x2xf32>) beta(%beta : f32) -> tensor<3x2xf32>
    kron.yield %1 : tensor<3x2xf32>
  }
  return
}
