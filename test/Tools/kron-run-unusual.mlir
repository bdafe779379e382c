// Verify that programs which no fast path takes as they are run right.
// RUN: kron-run %s --entry open_sizes --arg random:3x5x8:f32 --arg random:8x4:f32 --arg zeros:15x4:f32 \
// RUN:   --arg value:3:i64 --arg value:5:i64 --out-shape 0:3x4x5 --verify | FileCheck %s --check-prefix=OK
// RUN: kron-run %s --entry region_scalars --arg random:3x2:f64 --arg random:2x2:f64 --arg random:3x2:f64 \
// RUN:   --arg random:3:f64 --verify | FileCheck %s --check-prefix=OK
// RUN: kron-run %s --entry dynamic_axis --arg random:16x16:f32 --arg random:16x16:f32 --out-shape 0:16x16 \
// RUN:   --verify | FileCheck %s --check-prefix=OK
// RUN: kron-run %s --entry nothing --arg zeros:2x0:f32 --arg zeros:0x3:f32 --out - | FileCheck %s --check-prefix=ZERO
// OK: : ok
// ZERO-COUNT-2: 0 0 0

// Verify that a sum of nothing is zero.
func.func @nothing(%x: memref<2x0xf32>, %f: memref<0x3xf32>, %y: memref<2x3xf32>) {
  kron.mode_product axis(1) ins(%x : memref<2x0xf32>) factor(%f [p, q] : memref<0x3xf32>)
    outs(%y : memref<2x3xf32>)
  return
}

// Verify that only the factor may know how long the axis is.
func.func @dynamic_axis(%x: memref<16x?xf32>, %f: memref<16x16xf32>, %y: memref<16x?xf32>) {
  kron.mode_product axis(1) ins(%x : memref<16x?xf32>) factor(%f [q, p] : memref<16x16xf32>)
    outs(%y : memref<16x?xf32>)
  return
}

// Verify that a dimension may be taken apart into two of unknown size.
func.func @open_sizes(%x: tensor<?x?x8xf32>, %f: tensor<8x4xf32>, %init: tensor<?x4xf32>, %b: index, %m: index)
    -> tensor<?x4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = linalg.matmul ins(%0, %f : tensor<?x8xf32>, tensor<8x4xf32>) outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%b, %m, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  %e = tensor.empty(%b, %m) : tensor<?x4x?xf32>
  %3 = linalg.transpose ins(%2 : tensor<?x?x4xf32>) outs(%e : tensor<?x4x?xf32>) permutation = [0, 2, 1]
  return %3 : tensor<?x4x?xf32>
}

// Verify that alpha and beta may be read in a fused region.
func.func @region_scalars(%x: memref<3x2xf64>, %f: memref<2x2xf64>, %y: memref<3x2xf64>, %s: memref<?xf64>) {
  kron.fused ins(%x, %f, %s : memref<3x2xf64>, memref<2x2xf64>, memref<?xf64>) outs(%y : memref<3x2xf64>) {
  ^bb0(%tx: tensor<3x2xf64>, %a: tensor<2x2xf64>, %ts: tensor<?xf64>, %out: tensor<3x2xf64>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = tensor.dim %ts, %c0 : tensor<?xf64>
    %last = arith.subi %size, %c1 : index
    %alpha = tensor.extract %ts[%last] : tensor<?xf64>
    %beta = tensor.extract %ts[%c0] : tensor<?xf64>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf64>) factor(%a [p, q] : tensor<2x2xf64>)
           outs(%out : tensor<3x2xf64>) alpha(%alpha : f64) beta(%beta : f64) -> tensor<3x2xf64>
    kron.yield %1 : tensor<3x2xf64>
  }
  return
}
