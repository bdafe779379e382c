// RUN: kron-opt %s --convert-pairwise-to-vector --split-input-file | FileCheck %s

// Verify squares made of products: the mean of 16 rows of A, the packed rows of A less that with their squared lengths unless
// the block next to it has left them, B in squares of 4 columns, register tiles of multiply-adds alone, whose squares are
// tested; then the tiles that are marked, by differences of the arrays themselves.
// CHECK-LABEL: func.func private @products_pairwise(
// CHECK:         llvm.store %{{.*}} : i8, !llvm.ptr
// CHECK:         scf.if
// CHECK:         } else {
// CHECK:           %[[C16:.*]] = arith.constant 16 : i64
// CHECK:           scf.for %{{.*}} to %[[C16]] step
// CHECK:             arith.addf
// CHECK:           arith.cmpf olt
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               arith.subf
// CHECK:             vector.reduction <add>
// CHECK:         scf.for
// CHECK-COUNT-4:   arith.subf
// CHECK-COUNT-8:   vector.shuffle
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-2:   vector.fma
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-NOT:       arith.subf
// CHECK-COUNT-4:   vector.fma
// CHECK:         }
// (16 + 3 K / 8) / (K + 24) of K = 200
// CHECK:         arith.constant 4.062500e-01
// CHECK-COUNT-4: arith.cmpf ugt
// CHECK:         vector.reduction <or>
// CHECK:         scf.if
// CHECK-COUNT-2:   llvm.store %{{.*}} : i8, !llvm.ptr
// CHECK:         } else {
// CHECK:           llvm.store %{{.*}} : i8, !llvm.ptr
// CHECK-COUNT-4:   llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr
// CHECK:         llvm.load %{{.*}} -> i8
// CHECK:         arith.cmpi ne
// CHECK:         scf.if
// CHECK:           llvm.load %{{.*}} -> i8
// CHECK:           arith.cmpi ne
// CHECK:           scf.if
// CHECK:             arith.subf
// CHECK:             vector.fma
// CHECK:         return
func.func @products(%a: memref<?x200xf32>, %b: memref<48x200xf32>, %y: memref<?x48xf32>) {
  kron.pairwise square_diff ins(%a, %b : memref<?x200xf32>, memref<48x200xf32>) outs(%y : memref<?x48xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 2, row_block = 4, k_block = 200, product_k = 56>}
  return
}

// -----

// Verify that rows of A that lie next to each other stay so, with their squared lengths in the lanes, and that all tiles are
// marked where K turns out to be too small.
// CHECK-LABEL: func.func private @open_pairwise(
// CHECK:         %[[LEAST:.*]] = arith.constant 56 : i64
// CHECK:         %[[IS_SHORT:.*]] = arith.cmpi slt, %{{.*}}, %[[LEAST]]
// CHECK:         scf.if %[[IS_SHORT]] {
// CHECK-COUNT-2:   llvm.store %{{.*}} : i8, !llvm.ptr
// CHECK:         } else {
// CHECK-NOT:       vector.reduction <add>
// CHECK:           arith.sitofp
// CHECK:           arith.divf
// CHECK:           vector.reduction <or>
func.func @open(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %y: memref<?x?xf64>) {
  kron.pairwise square_diff ins(T(%a), %b : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 1, row_block = 4, k_block = 64, product_k = 56>}
  return
}

// -----

// Verify that short rows have no code for products.
// CHECK-LABEL: func.func private @short_pairwise(
// CHECK-NOT:     vector.reduction
// CHECK:         return
func.func @short(%a: memref<?x50xf32>, %b: memref<?x50xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %b : memref<?x50xf32>, memref<?x50xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<vector_bits = 128, rows = 2, vectors = 1, row_block = 4, k_block = 64, product_k = 56>}
  return
}
