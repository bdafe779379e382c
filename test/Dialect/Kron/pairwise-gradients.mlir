// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify derivatives along directions of arrays and hyper-parameters.
// CHECK-LABEL: func @tangents(
// CHECK:         %{{.*}} = kron.pairwise_tangent abs_diff ins(%{{.*}}, T(%{{.*}}) : tensor<?x64xf16>, tensor<64x7xf16>) params(%{{.*}} : f32) along(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf16>, tensor<64x7xf16>, tensor<3xf32>) outs(%{{.*}} : tensor<3x?x7xf16>) -> tensor<3x?x7xf16>
// CHECK:         kron.pairwise_apply dot ins(%{{.*}}, %{{.*}} : {{.*}}) values(%{{.*}} : {{.*}}) along(%{{.*}}, %{{.*}} : memref<4x8xf64>, memref<5x8xf64>) outs(
func.func @tangents(%a: tensor<?x64xf16>, %b: tensor<64x7xf16>, %p: f32, %dp: tensor<3xf32>, %y: tensor<3x?x7xf16>,
                    %ma: memref<4x8xf64>, %mb: memref<5x8xf64>, %mv: memref<5x2xf64>, %my: memref<4x2xf64>) -> tensor<3x?x7xf16> {
  %0 = kron.pairwise_tangent abs_diff ins(%a, T(%b) : tensor<?x64xf16>, tensor<64x7xf16>) params(%p : f32)
      along(%a, %b, %dp : tensor<?x64xf16>, tensor<64x7xf16>, tensor<3xf32>) outs(%y : tensor<3x?x7xf16>) -> tensor<3x?x7xf16>
  kron.pairwise_apply dot ins(%ma, %mb : memref<4x8xf64>, memref<5x8xf64>) values(%mv : memref<5x2xf64>)
      along(%ma, %mb : memref<4x8xf64>, memref<5x8xf64>) outs(%my : memref<4x2xf64>)
  return %0 : tensor<3x?x7xf16>
}

// Verify gradients by all operands, as arrays, factors and both.
// CHECK-LABEL: func @gradients(
// CHECK:         kron.pairwise_grad by(lhs) pow_diff(1.300000e+00) ins(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<5x8xf32>) grad(T(%{{.*}}) : memref<5x4xf32>) outs(%{{.*}} : memref<4x8xf32>)
// CHECK:         kron.pairwise_grad by(rhs) square_diff reduce(max) ins(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<5x8xf32>) factors(%{{.*}}, T(%{{.*}}) : memref<4x2xf32>, memref<2x5xf32>) along(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<5x8xf32>) outs(%{{.*}} : memref<5x8xf32>)
// CHECK:         kron.pairwise_grad by(param, 1) dot ins(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<5x8xf32>) grad(T(%{{.*}}) : memref<5x4xf32>) factors(%{{.*}}, T(%{{.*}}) : memref<4x2xf32>, memref<2x5xf32>) params(%{{.*}}, %{{.*}} : f32, memref<3xf32>) outs(%{{.*}} : memref<3xf32>)
func.func @gradients(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<5x4xf32>, %u: memref<4x2xf32>, %v: memref<2x5xf32>,
                     %p: f32, %q: memref<3xf32>, %da: memref<4x8xf32>, %db: memref<5x8xf32>, %dq: memref<3xf32>) {
  kron.pairwise_grad by(lhs) pow_diff(1.3) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(T(%g) : memref<5x4xf32>)
      outs(%da : memref<4x8xf32>)
  kron.pairwise_grad by(rhs) square_diff reduce(max) ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>)
      factors(%u, T(%v) : memref<4x2xf32>, memref<2x5xf32>) along(%a, %b : memref<4x8xf32>, memref<5x8xf32>)
      outs(%db : memref<5x8xf32>)
  kron.pairwise_grad by(param, 1) dot ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(T(%g) : memref<5x4xf32>)
      factors(%u, T(%v) : memref<4x2xf32>, memref<2x5xf32>) params(%p, %q : f32, memref<3xf32>) outs(%dq : memref<3xf32>)
  return
}
