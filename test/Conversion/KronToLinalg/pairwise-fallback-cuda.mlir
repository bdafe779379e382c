// RUN: kron-opt --convert-kron-to-linalg="fallback-only=true target=cuda" --split-input-file %s | FileCheck %s
// RUN: kron-opt --convert-kron-to-linalg="fallback-only=true target=cuda" --split-input-file --remarks-filter=kron-fallback %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Verify that what has a kernel on a GPU is left alone.
// CHECK-LABEL: func.func @taken(
// CHECK: kron.pairwise abs_diff
// CHECK: kron.pairwise_apply square_diff
// CHECK: kron.pairwise_grad by(rhs)
// CHECK-NOT: linalg.generic
func.func @taken(%a: memref<4x8xf32>, %y: memref<4x4xf32>, %b: memref<?x?xbf16>, %v: memref<?x3xbf16>, %z: memref<?x3xbf16>) {
  kron.pairwise abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
  kron.pairwise_apply square_diff accumulate(max) ins(%b, %b : memref<?x?xbf16>, memref<?x?xbf16>) values(%v : memref<?x3xbf16>) outs(%z : memref<?x3xbf16>)
  kron.pairwise_grad by(rhs) square_diff ins(%b, %b : memref<?x?xbf16>, memref<?x?xbf16>) grad(%b : memref<?x?xbf16>) outs(%b : memref<?x?xbf16>)
  return
}

// -----

// Verify that other derivatives, elements that no GPU has, and arrays without elements are not.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: kron.pairwise
// REMARK: Reason="derivatives of functions of pairs along directions have no kernel", Remark="kron.pairwise_tangent takes the slow path"
// REMARK: Reason="derivatives of functions of pairs along directions have no kernel", Remark="kron.pairwise_apply takes the slow path"
// REMARK: Reason="element type f80 has no kernel", Remark="kron.pairwise takes the slow path"
// REMARK: Reason="an array has no elements", Remark="kron.pairwise takes the slow path"
func.func @others(%a: memref<4x8xf32>, %y: memref<4x4xf32>, %v: memref<4x3xf32>, %w: memref<4x3xf32>, %b: memref<4x8xf80>, %z: memref<4x4xf80>, %e: memref<4x0xf32>) {
  kron.pairwise_tangent abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) along(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
  kron.pairwise_apply abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) values(%v : memref<4x3xf32>) along(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%w : memref<4x3xf32>)
  kron.pairwise abs_diff ins(%b, %b : memref<4x8xf80>, memref<4x8xf80>) outs(%z : memref<4x4xf80>)
  kron.pairwise abs_diff ins(%e, %e : memref<4x0xf32>, memref<4x0xf32>) outs(%y : memref<4x4xf32>)
  return
}

// -----

// Verify that neither are gradients by hyper-parameters, of derivatives along directions, of maxima, and those that are 0.
// CHECK-LABEL: func.func @gradients(
// CHECK-NOT: kron.pairwise_grad
// REMARK: Reason="gradients by hyper-parameters have no kernel", Remark="kron.pairwise_grad takes the slow path"
// REMARK: Reason="gradients of derivatives along directions have no kernel", Remark="kron.pairwise_grad takes the slow path"
// REMARK: Reason="gradients of maxima have no kernel", Remark="kron.pairwise_grad takes the slow path"
// REMARK: Reason="the gradient is 0 whatever the arrays hold", Remark="kron.pairwise_grad takes the slow path"
func.func @gradients(%a: memref<4x8xf32>, %h: memref<4x4xf32>, %g: f32, %d: memref<f32>, %y: memref<4x8xf32>) {
  kron.pairwise_grad by(param, 0) abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>) params(%g : f32) outs(%d : memref<f32>)
    epilogue {
    ^bb0(%s: f32, %p: f32):
      %r = arith.mulf %s, %p : f32
      kron.pairwise_yield %r : f32
    }
  kron.pairwise_grad by(lhs) square_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>) along(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x8xf32>)
  kron.pairwise_grad by(lhs) abs_diff reduce(max) ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>) outs(%y : memref<4x8xf32>)
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>) outs(%y : memref<4x8xf32>)
    epilogue {
    ^bb0(%s: f32):
      %r = arith.constant 1.0 : f32
      kron.pairwise_yield %r : f32
    }
  return
}
