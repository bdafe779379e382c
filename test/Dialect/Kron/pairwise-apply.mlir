// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify a product without regions, and that sums are not printed.
// CHECK-LABEL: func @product(
// CHECK:         %{{.*}} = kron.pairwise_apply abs_diff ins(%{{.*}}, %{{.*}} : tensor<?x64xf16>, tensor<7x64xf16>) values(%{{.*}} : tensor<7x?xf16>) outs(%{{.*}} : tensor<?x?xf16>) -> tensor<?x?xf16>
func.func @product(%a: tensor<?x64xf16>, %b: tensor<7x64xf16>, %v: tensor<7x?xf16>, %y: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %0 = kron.pairwise_apply abs_diff reduce(sum) accumulate(sum) ins(%a, %b : tensor<?x64xf16>, tensor<7x64xf16>)
      values(%v : tensor<7x?xf16>) outs(%y : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %0 : tensor<?x?xf16>
}

// Verify exponents, maxima along both axes, logarithms, transposed operands and batches, on memrefs.
// CHECK-LABEL: func @memrefs(
// CHECK:         kron.pairwise_apply pow_diff(1.300000e+00) reduce(max) accumulate(max) ins(T(%{{.*}}), C(%{{.*}}) : memref<2x3x4xf64>, memref<3x5xf64>) values(T(%{{.*}}) : memref<1x6x5xf64>) outs(%{{.*}} : memref<2x4x6xf64>)
// CHECK:         kron.pairwise_apply dot accumulate(logsumexp) ins(
func.func @memrefs(%a: memref<2x3x4xf64>, %b: memref<3x5xf64>, %v: memref<1x6x5xf64>, %y: memref<2x4x6xf64>) {
  kron.pairwise_apply pow_diff(1.3) reduce(max) accumulate(max) ins(T(%a), C(%b) : memref<2x3x4xf64>, memref<3x5xf64>)
      values(T(%v) : memref<1x6x5xf64>) outs(%y : memref<2x4x6xf64>)
  kron.pairwise_apply dot accumulate(logsumexp) ins(T(%a), T(%b) : memref<2x3x4xf64>, memref<3x5xf64>)
      values(T(%v) : memref<1x6x5xf64>) outs(%y : memref<2x4x6xf64>)
  return
}

// Verify both regions, with a parameter per batch.
// CHECK-LABEL: func @regions(
// CHECK:         kron.pairwise_apply ins(%{{.*}}, %{{.*}} : tensor<?x3xbf16>, tensor<?x3xbf16>) values(%{{.*}} : tensor<?x1xbf16>) params(%{{.*}} : tensor<16xf32>) outs(%{{.*}} : tensor<16x?x1xbf16>) inner {
// CHECK-NEXT:    ^bb0(%[[U:.*]]: f32, %[[W:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[U]], %[[W]] : f32
// CHECK-NEXT:      kron.pairwise_yield %[[P]] : f32
// CHECK-NEXT:    } epilogue {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: f32, %[[G:.*]]: f32):
// CHECK-NEXT:      %[[R:.*]] = arith.mulf %[[S]], %[[G]] : f32
// CHECK-NEXT:      kron.pairwise_yield %[[R]] : f32
// CHECK-NEXT:    } -> tensor<16x?x1xbf16>
func.func @regions(%a: tensor<?x3xbf16>, %v: tensor<?x1xbf16>, %g: tensor<16xf32>, %y: tensor<16x?x1xbf16>) -> tensor<16x?x1xbf16> {
  %0 = kron.pairwise_apply ins(%a, %a : tensor<?x3xbf16>, tensor<?x3xbf16>) values(%v : tensor<?x1xbf16>)
      params(%g : tensor<16xf32>) outs(%y : tensor<16x?x1xbf16>)
      inner {
      ^bb0(%u: f32, %w: f32, %q: f32):
        %p = arith.mulf %u, %w : f32
        kron.pairwise_yield %p : f32
      } epilogue {
      ^bb0(%s: f32, %q: f32):
        %r = arith.mulf %s, %q : f32
        kron.pairwise_yield %r : f32
      } -> tensor<16x?x1xbf16>
  return %0 : tensor<16x?x1xbf16>
}
