// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file | FileCheck %s

// Verify one half of a matrix: blocks below the diagonal, whose columns are packed once; where a number has no block, nothing is
// done. What lies beyond the square on the diagonal is transposed in registers and stored on the other side.
// CHECK-LABEL: func.func private @half_pairwise(
// CHECK:         scf.for
// CHECK:           %[[IS_UPPER:.*]] = arith.cmpi slt
// CHECK:           arith.select %[[IS_UPPER]]
// CHECK:           %[[EXISTS:.*]] = arith.ori %[[IS_UPPER]]
// CHECK:           scf.if %[[EXISTS]] {
// CHECK:             math.absf
// CHECK:             scf.for
// CHECK-COUNT-4:       vector.shuffle
// CHECK:               scf.for
// CHECK:                 llvm.load {{.*}} -> vector<4xf32>
// CHECK:                 llvm.store {{.*}} : vector<4xf32>
func.func @half(%a: memref<?x20xf32>, %y: memref<?x?xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x20xf32>, memref<?x20xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 4, vectors = 2, row_block = 16, k_block = 20, symmetric = 1>}
  return
}

// -----

// Verify both halves, where a plan says so.
// CHECK-LABEL: func.func private @whole_pairwise(
// CHECK-NOT:     arith.select
// CHECK:       return
func.func @whole(%a: memref<?x20xf32>, %y: memref<?x?xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x20xf32>, memref<?x20xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 4, vectors = 2, row_block = 16, k_block = 20, symmetric = -1>}
  return
}

// -----

// Verify that K decides at run time between one half and both.
// CHECK-LABEL: func.func private @by_k_pairwise(
// CHECK:         %[[LONG:.*]] = arith.cmpi slt, %c11{{.*}}, %{{.*}} : i64
// CHECK:         arith.select %[[LONG]]
// CHECK:         scf.if
func.func @by_k(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 4, vectors = 2, row_block = 16, k_block = 20, symmetric = 12>}
  return
}
