// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify a loop over tiles of columns, whose matrix is on slices of one array, and sums in the
// destination itself. The last tile is smaller.
// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$V:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<?x8xf32>, %[[V:.*]]: memref<?x3xf32>, %[[P:.*]]: f32, %[[Y:.*]]: memref<4x3xf32>)
// CHECK: %[[TILE:.*]] = memref.alloc() {{.*}} : memref<4x64xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[Y]] : memref<4x3xf32>)
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %[[N:.*]] step %[[STEP:.*]] {
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[FIRST]]
// CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %[[STEP]]
// CHECK: %[[BT:.*]] = memref.subview %[[B]][%[[FIRST]], 0] [%[[SIZE]], 8]
// CHECK: %[[VT:.*]] = memref.subview %[[V]][%[[FIRST]], 0] [%[[SIZE]], 3]
// CHECK: %[[K:.*]] = memref.subview %[[TILE]][0, 0] [4, %[[SIZE]]]
// CHECK: linalg.fill {{.*}} outs(%[[K]]
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[BT]] {{.*}} outs(%[[K]]
// CHECK: linalg.generic {{.*}} outs(%[[K]]
// CHECK: arith.mulf %{{.*}}, %[[P]]
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$V]], #[[$Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[K]], %[[VT]] {{.*}} outs(%[[Y]]
// CHECK: %[[T:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[T]]
// CHECK: memref.dealloc %[[TILE]]
func.func @sum(%a: memref<4x8xf32>, %b: memref<?x8xf32>, %v: memref<?x3xf32>, %p: f32, %y: memref<4x3xf32>) {
  kron.pairwise_apply abs_diff ins(%a, %b : memref<4x8xf32>, memref<?x8xf32>) values(%v : memref<?x3xf32>)
      params(%p : f32) outs(%y : memref<4x3xf32>)
      epilogue {
      ^bb0(%s: f32, %q: f32):
        %r = arith.mulf %s, %q : f32
        kron.pairwise_yield %r : f32
      }
  return
}

// -----

// Verify that columns of one tile need no loop, and that maxima of bf16 are an array of f32 first.
// CHECK-LABEL: func.func @one_tile(
// CHECK: %[[TILE:.*]] = bufferization.alloc_tensor() : tensor<2x4x5xf32>
// CHECK: %[[MOST:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<2x4x3xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} outs(%[[MOST]] : tensor<2x4x3xf32>)
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%[[MAX]] : tensor<2x4x3xf32>) outs(%{{.*}} : tensor<2x4x3xbf16>)
// CHECK: arith.truncf
func.func @one_tile(%a: tensor<4x8xbf16>, %b: tensor<2x5x8xbf16>, %v: tensor<1x5x3xbf16>, %y: tensor<2x4x3xbf16>) -> tensor<2x4x3xbf16> {
  %0 = kron.pairwise_apply dot accumulate(max) ins(%a, %b : tensor<4x8xbf16>, tensor<2x5x8xbf16>)
      values(%v : tensor<1x5x3xbf16>) outs(%y : tensor<2x4x3xbf16>) -> tensor<2x4x3xbf16>
  return %0 : tensor<2x4x3xbf16>
}

// -----

// Verify logarithms: sums are rescaled where a tile has a larger term, and exponentials are of terms
// less the largest so far, or less 0 where that is not finite.
// CHECK-LABEL: func.func @logarithm(
// CHECK: %[[LOOP:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}}, %[[SUMS:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[K:.*]] = linalg.generic
// CHECK: %[[OF_TILE:.*]] = linalg.generic {{.*}} ins(%[[K]],
// CHECK: arith.maximumf
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[OLD]], %[[OF_TILE]] {{.*}} outs(%[[SUMS]]
// CHECK: %[[MOST:.*]] = arith.maximumf
// CHECK: %[[SIZE:.*]] = math.absf %[[MOST]]
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[SIZE]]
// CHECK: %[[REFERENCE:.*]] = arith.select %[[FINITE]], %[[MOST]]
// CHECK: %[[CHANGE:.*]] = arith.subf %{{.*}}, %[[REFERENCE]]
// CHECK: math.exp %[[CHANGE]]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[OF_TILE]] {{.*}} outs(%[[OLD]]
// CHECK: linalg.generic {{.*}} ins(%[[K]], %{{.*}}, %[[NEW]] {{.*}} outs(%[[SCALED]]
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[LOOP]]#1, %[[LOOP]]#2
// CHECK: math.log
func.func @logarithm(%a: tensor<4x8xf64>, %b: tensor<128x8xf64>, %v: tensor<128x3xf64>, %y: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %0 = kron.pairwise_apply dot accumulate(logsumexp) ins(%a, %b : tensor<4x8xf64>, tensor<128x8xf64>)
      values(%v : tensor<128x3xf64>) outs(%y : tensor<4x3xf64>) -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}
