// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s
// RUN: kron-opt --convert-kron-to-linalg="fallback-only=true target=cuda" --split-input-file --remarks-filter=kron-fallback %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// REMARK: kron.pairwise_grad takes the slow path

// Verify that a gradient by A without an epilogue needs no reduced values, and that sgn(0) is 0.
// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$G:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @by_lhs(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<5x8xf32>, %[[G:.*]]: memref<4x5xf32>, %[[D:.*]]: memref<4x8xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[D]]
// CHECK: %[[BT:.*]] = memref.subview %[[B]]
// CHECK: %[[GT:.*]] = memref.subview %[[G]]
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$G]], #[[$A]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[BT]], %[[GT]] {{.*}} outs(%[[D]]
// CHECK: ^bb0(%[[U:.*]]: f32, %[[W:.*]]: f32, %[[H:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK: %[[X:.*]] = arith.subf %[[U]], %[[W]]
// CHECK: %[[NONZERO:.*]] = arith.cmpf une, %[[X]]
// CHECK: %[[S0:.*]] = arith.select %[[NONZERO]], %[[X]]
// CHECK: arith.cmpf olt, %[[X]]
// CHECK: %[[S1:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S0]]
// CHECK: arith.cmpf ogt, %[[X]]
// CHECK: %[[S2:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S1]]
// CHECK: %[[T:.*]] = arith.mulf %[[H]], %[[S2]]
// CHECK: %[[R:.*]] = arith.addf %[[SUM]], %[[T]]
// CHECK: linalg.yield %[[R]]
// CHECK-NOT: linalg.generic
func.func @by_lhs(%a: memref<4x8xf32>, %b: memref<5x8xf32>, %g: memref<4x5xf32>, %d: memref<4x8xf32>) {
  kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : memref<4x8xf32>, memref<5x8xf32>) grad(%g : memref<4x5xf32>)
      outs(%d : memref<4x8xf32>)
  return
}

// -----

// Verify a gradient by B with factors: tiles of reduced values, of the gradient and of weights; each
// writes rows of its own.
// CHECK-LABEL: func.func @by_rhs(
// CHECK: bufferization.alloc_tensor() : tensor<4x64xf64>
// CHECK: bufferization.alloc_tensor() : tensor<4x64xf64>
// CHECK: bufferization.alloc_tensor() : tensor<4x64xf64>
// CHECK: scf.for
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: %[[G:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[S]] :
// CHECK: %[[E:.*]] = math.exp
// CHECK: arith.mulf
// CHECK: %[[ROWS:.*]] = tensor.extract_slice
// CHECK: %[[R:.*]] = linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %{{.*}}, %[[W]] : {{.*}} outs(%[[ROWS]]
// CHECK: tensor.insert_slice %[[R]] into
func.func @by_rhs(%a: tensor<4x8xf64>, %b: tensor<128x8xf64>, %u: tensor<4x2xf64>, %v: tensor<128x2xf64>, %d: tensor<128x8xf64>) -> tensor<128x8xf64> {
  %0 = kron.pairwise_grad by(rhs) square_diff ins(%a, %b : tensor<4x8xf64>, tensor<128x8xf64>)
      factors(%u, %v : tensor<4x2xf64>, tensor<128x2xf64>) outs(%d : tensor<128x8xf64>)
      epilogue {
      ^bb0(%s: f64):
        %e = math.exp %s : f64
        kron.pairwise_yield %e : f64
      } -> tensor<128x8xf64>
  return %0 : tensor<128x8xf64>
}

// -----

// Verify a gradient by a hyper-parameter, first of rows, then of all, the batch included.
// CHECK-LABEL: func.func @by_param(
// CHECK-SAME: %[[D:[^ ]*]]: tensor<f32>)
// CHECK: %[[ROWS:.*]] = linalg.fill {{.*}} -> tensor<3x4xf32>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} outs(%[[ROWS]] : tensor<3x4xf32>)
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[D]] : tensor<f32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]} ins(%[[SUMS]] : tensor<3x4xf32>) outs(%[[ZERO]] : tensor<f32>)
func.func @by_param(%a: tensor<3x4x8xbf16>, %b: tensor<5x8xbf16>, %g: tensor<3x4x5xbf16>, %p: f32, %d: tensor<f32>) -> tensor<f32> {
  %0 = kron.pairwise_grad by(param, 0) dot ins(%a, %b : tensor<3x4x8xbf16>, tensor<5x8xbf16>)
      grad(%g : tensor<3x4x5xbf16>) params(%p : f32) outs(%d : tensor<f32>)
      epilogue {
      ^bb0(%s: f32, %q: f32):
        %e = arith.mulf %s, %q : f32
        kron.pairwise_yield %e : f32
      } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Verify a derivative along directions: two reduced values, of which the second is of the product
// rule, and the derivative of the epilogue, 0 where that of a root would be infinite.
// CHECK-LABEL: func.func @tangent(
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: %[[Q:.*]] = linalg.generic
// CHECK: %[[L:.*]] = arith.mulf
// CHECK: %[[R:.*]] = arith.mulf
// CHECK: arith.addf %[[L]], %[[R]]
// CHECK: linalg.generic {{.*}} ins(%[[Q]] : {{.*}}) outs(%[[S]]
// CHECK: ^bb0(%[[CHANGE:.*]]: f32, %[[VALUE:.*]]: f32):
// CHECK: %[[ROOT:.*]] = math.sqrt %[[VALUE]]
// CHECK: %[[NONZERO:.*]] = arith.cmpf une, %[[VALUE]]
// CHECK: %[[SLOPE:.*]] = arith.divf %{{.*}}, %[[ROOT]]
// CHECK: %[[FINITE:.*]] = arith.select %[[NONZERO]], %[[SLOPE]]
// CHECK: arith.mulf %[[CHANGE]], %[[FINITE]]
func.func @tangent(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = kron.pairwise_tangent dot ins(%a, %b : tensor<4x8xf32>, tensor<5x8xf32>)
      along(%a, %b : tensor<4x8xf32>, tensor<5x8xf32>) outs(%y : tensor<4x5xf32>)
      epilogue {
      ^bb0(%s: f32):
        %e = math.sqrt %s : f32
        kron.pairwise_yield %e : f32
      } -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
