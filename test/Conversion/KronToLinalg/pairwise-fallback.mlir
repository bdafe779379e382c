// RUN: kron-opt --convert-kron-to-linalg="fallback-only=true" --split-input-file %s | FileCheck %s
// RUN: kron-opt --convert-kron-to-linalg="fallback-only=true" --split-input-file --remarks-filter=kron-fallback %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Verify that what the vector code generator takes is left alone.
// CHECK-LABEL: func.func @taken(
// CHECK: kron.pairwise abs_diff
// CHECK: kron.pairwise pow_diff(1.300000e+00)
// CHECK-NOT: linalg.generic
func.func @taken(%a: memref<4x8xf32>, %b: memref<?x?xbf16>, %y: memref<4x4xf32>, %z: memref<?x?xbf16>) {
  kron.pairwise abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
  kron.pairwise pow_diff(1.3) ins(%b, %b : memref<?x?xbf16>, memref<?x?xbf16>) outs(%z : memref<?x?xbf16>)
      epilogue {
      ^bb0(%v: f32):
        %e = math.sin %v : f32
        kron.pairwise_yield %e : f32
      }
  return
}

// -----

// Verify that a function without a vector form is none for it, in an epilogue and in `inner`, nor is f80.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: kron.pairwise
// REMARK: Reason="math.cbrt has no vector form", Remark="kron.pairwise takes the slow path"
// REMARK: Reason="math.atan2 has no vector form", Remark="kron.pairwise takes the slow path"
// REMARK: Reason="element type f80 has no vector kernel", Remark="kron.pairwise takes the slow path"
func.func @others(%a: memref<4x8xf32>, %y: memref<4x4xf32>, %b: memref<4x8xf80>, %z: memref<4x4xf80>) {
  kron.pairwise abs_diff ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      epilogue {
      ^bb0(%v: f32):
        %e = math.cbrt %v : f32
        kron.pairwise_yield %e : f32
      }
  kron.pairwise ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        %e = math.atan2 %u, %w : f32
        kron.pairwise_yield %e : f32
      }
  kron.pairwise dot ins(%b, %b : memref<4x8xf80>, memref<4x8xf80>) outs(%z : memref<4x4xf80>)
  return
}

// -----

// Verify that products are taken, too, and derivatives of sums.
// CHECK-LABEL: func.func @products(
// CHECK: kron.pairwise_apply dot accumulate(max)
// CHECK: kron.pairwise_apply dot
// CHECK: kron.pairwise_tangent dot
// CHECK: kron.pairwise_grad by(rhs) dot
// CHECK: kron.pairwise_grad by(param, 0) dot
// CHECK-NOT: linalg.generic
func.func @products(%a: memref<4x8xf32>, %v: memref<4x2xf32>, %y: memref<4x2xf32>, %z: memref<4x4xf32>, %p: f32,
                    %d: memref<4x8xf32>, %dp: memref<f32>) {
  kron.pairwise_apply dot accumulate(max) ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) values(%v : memref<4x2xf32>) outs(%y : memref<4x2xf32>)
  kron.pairwise_apply dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) values(%v : memref<4x2xf32>)
      along(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x2xf32>)
  kron.pairwise_tangent dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) along(%a, %a : memref<4x8xf32>, memref<4x8xf32>)
      outs(%z : memref<4x4xf32>)
  kron.pairwise_grad by(rhs) dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) factors(%v, %v : memref<4x2xf32>, memref<4x2xf32>)
      outs(%d : memref<4x8xf32>)
  kron.pairwise_grad by(param, 0) dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) factors(%v, %v : memref<4x2xf32>, memref<4x2xf32>)
      params(%p : f32) outs(%dp : memref<f32>)
      epilogue {
      ^bb0(%s: f32, %q: f32):
        %e = arith.mulf %s, %q : f32
        kron.pairwise_yield %e : f32
      }
  return
}

// -----

// Verify that other derivatives are not: of maxima, of 16 bits, by what `inner` reads, and gradients along directions.
// CHECK-LABEL: func.func @derivatives(
// CHECK-NOT: kron.pairwise
// REMARK: Reason="derivatives of maxima have no vector kernel", Remark="kron.pairwise_tangent takes the slow path"
// REMARK: Reason="derivatives in types of 16 bits have no vector kernel", Remark="kron.pairwise_grad takes the slow path"
// REMARK: Reason="gradients by hyper-parameters of inner have no vector kernel", Remark="kron.pairwise_grad takes the slow path"
// REMARK: Reason="gradients of derivatives have no vector kernel", Remark="kron.pairwise_grad takes the slow path"
func.func @derivatives(%a: memref<4x8xf32>, %b: memref<4x8xbf16>, %h: memref<4x4xf32>, %g: memref<4x4xbf16>, %p: f32,
                       %d: memref<4x8xf32>, %e: memref<4x8xbf16>, %dp: memref<f32>, %z: memref<4x4xf32>) {
  kron.pairwise_tangent abs_diff reduce(max) ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>)
      along(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%z : memref<4x4xf32>)
  kron.pairwise_grad by(lhs) dot ins(%b, %b : memref<4x8xbf16>, memref<4x8xbf16>) grad(%g : memref<4x4xbf16>) outs(%e : memref<4x8xbf16>)
  kron.pairwise_grad by(param, 0) ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>) params(%p : f32)
      outs(%dp : memref<f32>)
      inner {
      ^bb0(%x: f32, %y: f32, %q: f32):
        %r = arith.mulf %x, %q : f32
        kron.pairwise_yield %r : f32
      }
  kron.pairwise_grad by(lhs) dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) grad(%h : memref<4x4xf32>)
      along(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%d : memref<4x8xf32>)
  return
}
