// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify a sum in the destination itself, of transposed operands that batches repeat.
// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d3, d1)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[A:.*]]: memref<1x8x4xf32>, %[[B:.*]]: memref<5x8xf32>, %[[Y:.*]]: memref<3x4x5xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%[[Y]] : memref<3x4x5xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$Y]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : memref<1x8x4xf32>, memref<5x8xf32>) outs(%[[Y]] : memref<3x4x5xf32>)
// CHECK: ^bb0(%[[U:.*]]: f32, %[[W:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK: %[[D:.*]] = arith.subf %[[U]], %[[W]]
// CHECK: %[[S:.*]] = arith.mulf %[[D]], %[[D]]
// CHECK: %[[R:.*]] = arith.addf %[[SUM]], %[[S]]
// CHECK: linalg.yield %[[R]]
// CHECK-NOT: linalg.generic
func.func @in_place(%a: memref<1x8x4xf32>, %b: memref<5x8xf32>, %y: memref<3x4x5xf32>) {
  kron.pairwise square_diff ins(T(%a), %b : memref<1x8x4xf32>, memref<5x8xf32>) outs(%y : memref<3x4x5xf32>)
  return
}

// -----

// Verify that bf16 is reduced in f32 and rounded behind the epilogue, which takes a scalar and an
// element of an array. A maximum of products starts from -infinity.
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$P:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME: %[[A:.*]]: tensor<?x8xbf16>, %[[S:.*]]: f32, %[[G:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3x?x?xbf16>)
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<3x?x?xf32>
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[F:.*]] = linalg.fill ins(%[[LEAST]] : f32) outs(%[[E]] : tensor<3x?x?xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[A]] : {{.*}}) outs(%[[F]] : tensor<3x?x?xf32>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: %[[V:.*]] = arith.mulf
// CHECK: arith.maximumf %{{.*}}, %[[V]]
// CHECK: linalg.generic {indexing_maps = [#[[$Y]], #[[$P]], #[[$Y]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[M]], %[[G]] : tensor<3x?x?xf32>, tensor<3xf32>) outs(%[[Y]] : tensor<3x?x?xbf16>)
// CHECK: ^bb0(%[[V:.*]]: f32, %[[GAMMA:.*]]: f32, %{{.*}}: bf16):
// CHECK: %[[X:.*]] = arith.mulf %[[V]], %[[GAMMA]]
// CHECK: %[[N:.*]] = math.exp %[[X]]
// CHECK: %[[R:.*]] = arith.mulf %[[N]], %[[S]]
// CHECK: arith.truncf %[[R]] : f32 to bf16
func.func @epilogue(%a: tensor<?x8xbf16>, %s: f32, %g: tensor<3xf32>, %y: tensor<3x?x?xbf16>) -> tensor<3x?x?xbf16> {
  %0 = kron.pairwise dot reduce(max) ins(%a, %a : tensor<?x8xbf16>, tensor<?x8xbf16>)
      params(%s, %g : f32, tensor<3xf32>) outs(%y : tensor<3x?x?xbf16>)
      epilogue {
      ^bb0(%v: f32, %scale: f32, %gamma: f32):
        %x = arith.mulf %v, %gamma : f32
        %n = math.exp %x : f32
        %r = arith.mulf %n, %scale : f32
        kron.pairwise_yield %r : f32
      } -> tensor<3x?x?xbf16>
  return %0 : tensor<3x?x?xbf16>
}

// -----

// Verify powers: products and one square root of multiples of 1/2, and the function of others.
// CHECK-LABEL: func.func @powers(
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = math.absf
// CHECK: %[[S:.*]] = math.sqrt %[[A]]
// CHECK: %[[Q:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK: %[[P:.*]] = arith.mulf %[[S]], %[[Q]]
// CHECK: arith.addf %{{.*}}, %[[P]]
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = math.absf
// CHECK: %[[E:.*]] = arith.constant 1.300000e+00 : f64
// CHECK: %[[P:.*]] = math.powf %[[A]], %[[E]]
// CHECK: arith.maximumf %{{.*}}, %[[P]]
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = math.absf
// CHECK-NOT: arith.mulf
// CHECK: arith.addf %{{.*}}, %[[A]]
func.func @powers(%a: memref<4x8xf64>, %y: memref<4x4xf64>) {
  kron.pairwise pow_diff(2.5) ins(%a, %a : memref<4x8xf64>, memref<4x8xf64>) outs(%y : memref<4x4xf64>)
  kron.pairwise pow_diff(1.3) reduce(max) ins(%a, %a : memref<4x8xf64>, memref<4x8xf64>) outs(%y : memref<4x4xf64>)
  kron.pairwise pow_diff(1.0) ins(%a, %a : memref<4x8xf64>, memref<4x8xf64>) outs(%y : memref<4x4xf64>)
  return
}

// -----

// Verify that not_equal keeps NaN, and a function that a region gives, with a parameter.
// CHECK-LABEL: func.func @others(
// CHECK: linalg.generic
// CHECK: %[[D:.*]] = arith.subf
// CHECK: %[[DIFFERS:.*]] = arith.cmpf one, %[[D]]
// CHECK: %[[N:.*]] = arith.select %[[DIFFERS]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[D]], %[[D]]
// CHECK: arith.select %[[NAN]], %[[D]], %[[N]]
// CHECK: linalg.generic
// CHECK: ^bb0(%[[U:.*]]: f32, %[[W:.*]]: f32, %[[P:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK: %[[D:.*]] = arith.subf %[[U]], %[[W]]
// CHECK: %[[X:.*]] = arith.mulf %[[D]], %[[P]]
// CHECK: %[[S:.*]] = math.sin %[[X]]
// CHECK: arith.addf %[[SUM]], %[[S]]
func.func @others(%a: memref<4x8xf32>, %p: memref<f32>, %y: memref<4x4xf32>) {
  kron.pairwise not_equal ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
  kron.pairwise ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) params(%p : memref<f32>) outs(%y : memref<4x4xf32>)
      inner {
      ^bb0(%u: f32, %w: f32, %q: f32):
        %d = arith.subf %u, %w : f32
        %x = arith.mulf %d, %q : f32
        %s = math.sin %x : f32
        kron.pairwise_yield %s : f32
      }
  return
}

// -----

// Verify that functions of f80, which oracles of f64 use, are computed in f64.
// CHECK-LABEL: func.func @f80(
// CHECK: %[[D:.*]] = arith.truncf %{{.*}} : f80 to f64
// CHECK: %[[P:.*]] = math.powf %[[D]], %{{.*}} : f64
// CHECK: arith.extf %[[P]] : f64 to f80
// CHECK: %[[D:.*]] = arith.truncf %{{.*}} : f80 to f64
// CHECK: %[[E:.*]] = math.exp %[[D]] : f64
// CHECK: arith.extf %[[E]] : f64 to f80
func.func @f80(%a: memref<4x8xf80>, %y: memref<4x4xf80>) {
  kron.pairwise pow_diff(1.3) ins(%a, %a : memref<4x8xf80>, memref<4x8xf80>) outs(%y : memref<4x4xf80>)
      epilogue {
      ^bb0(%v: f80):
        %e = math.exp %v : f80
        kron.pairwise_yield %e : f80
      }
  return
}
