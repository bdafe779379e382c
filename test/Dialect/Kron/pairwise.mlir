// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify a function without a region, and that a sum is not printed.
// CHECK-LABEL: func @distance(
// CHECK:         %{{.*}} = kron.pairwise abs_diff ins(%{{.*}}, %{{.*}} : tensor<?x64xf16>, tensor<7x64xf16>) outs(%{{.*}} : tensor<?x7xf16>) -> tensor<?x7xf16>
func.func @distance(%a: tensor<?x64xf16>, %b: tensor<7x64xf16>, %y: tensor<?x7xf16>) -> tensor<?x7xf16> {
  %0 = kron.pairwise abs_diff reduce(sum) ins(%a, %b : tensor<?x64xf16>, tensor<7x64xf16>) outs(%y : tensor<?x7xf16>) -> tensor<?x7xf16>
  return %0 : tensor<?x7xf16>
}

// Verify exponents, maxima and transposed operands, on memrefs.
// CHECK-LABEL: func @memrefs(
// CHECK:         kron.pairwise pow_diff(1.300000e+00) reduce(max) ins(T(%{{.*}}), C(%{{.*}}) : memref<2x3x4xf64>, memref<3x5xf64>) outs(%{{.*}} : memref<2x4x5xf64>)
// CHECK:         kron.pairwise not_equal ins(
// CHECK:         kron.pairwise dot ins(
func.func @memrefs(%a: memref<2x3x4xf64>, %b: memref<3x5xf64>, %y: memref<2x4x5xf64>,
                   %s: memref<?x?xf64, strided<[?, ?], offset: ?>>,
                   %t: memref<?x?xf64, strided<[?, ?], offset: ?>>) {
  kron.pairwise pow_diff(1.3) reduce(max) ins(T(%a), C(%b) : memref<2x3x4xf64>, memref<3x5xf64>) outs(%y : memref<2x4x5xf64>)
  kron.pairwise not_equal ins(%b, %b : memref<3x5xf64>, memref<3x5xf64>) outs(%s : memref<?x?xf64, strided<[?, ?], offset: ?>>)
  kron.pairwise dot ins(%s, %b : memref<?x?xf64, strided<[?, ?], offset: ?>>, memref<3x5xf64>) outs(%t : memref<?x?xf64, strided<[?, ?], offset: ?>>)
  return
}

// Verify an epilogue with a scalar and a parameter per batch, which the operands are repeated for.
// CHECK-LABEL: func @epilogue(
// CHECK:         kron.pairwise square_diff ins(%{{.*}}, %{{.*}} : tensor<?x3xbf16>, tensor<?x3xbf16>) params(%{{.*}}, %{{.*}} : f32, tensor<16xf32>) outs(%{{.*}} : tensor<16x?x?xbf16>) epilogue {
// CHECK-NEXT:    ^bb0(%[[V:.*]]: f32, %[[S:.*]]: f32, %[[G:.*]]: f32):
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[V]], %[[G]] : f32
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[M]] : f32
// CHECK-NEXT:      %[[R:.*]] = arith.mulf %[[E]], %[[S]] : f32
// CHECK-NEXT:      kron.pairwise_yield %[[R]] : f32
// CHECK-NEXT:    } -> tensor<16x?x?xbf16>
func.func @epilogue(%a: tensor<?x3xbf16>, %scale: f32, %g: tensor<16xf32>, %y: tensor<16x?x?xbf16>) -> tensor<16x?x?xbf16> {
  %0 = kron.pairwise square_diff ins(%a, %a : tensor<?x3xbf16>, tensor<?x3xbf16>)
      params(%scale, %g : f32, tensor<16xf32>) outs(%y : tensor<16x?x?xbf16>)
      epilogue {
      ^bb0(%v: f32, %s: f32, %gamma: f32):
        %m = arith.mulf %v, %gamma : f32
        %e = math.exp %m : f32
        %r = arith.mulf %e, %s : f32
        kron.pairwise_yield %r : f32
      } -> tensor<16x?x?xbf16>
  return %0 : tensor<16x?x?xbf16>
}

// Verify plans: fields that are not there are not printed.
// CHECK-LABEL: func @plans(
// CHECK:         kron.pairwise dot ins({{.*}}) outs({{.*}}) {plan = #kron.pairwise_plan<rows = 4, k_block = 64>}
// CHECK:         {plan = #kron.pairwise_plan<vector_bits = 512, rows = 8, vectors = 3, row_block = 256, k_block = 1360>}
func.func @plans(%a: memref<4x8xf32>, %y: memref<4x4xf32>) {
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      {plan = #kron.pairwise_plan<rows = 4, k_block = 64>}
  kron.pairwise dot ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%y : memref<4x4xf32>)
      {plan = #kron.pairwise_plan<k_block = 1360, vector_bits = 512, rows = 8, vectors = 3, row_block = 256>}
  return
}

// Verify a function that a region gives, with a constant and a comparison, and no K.
// CHECK-LABEL: func @region(
// CHECK:         kron.pairwise ins(%{{.*}}, %{{.*}} : memref<4x0xf32>, memref<5x0xf32>) outs(%{{.*}} : memref<4x5xf32>) inner {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK:           arith.select
// CHECK-NEXT:      kron.pairwise_yield
func.func @region(%a: memref<4x0xf32>, %b: memref<5x0xf32>, %y: memref<4x5xf32>) {
  kron.pairwise ins(%a, %b : memref<4x0xf32>, memref<5x0xf32>) outs(%y : memref<4x5xf32>)
      inner {
      ^bb0(%u: f32, %w: f32):
        %zero = arith.constant 0.0 : f32
        %less = arith.cmpf olt, %u, %w : f32
        %r = arith.select %less, %zero, %u : f32
        kron.pairwise_yield %r : f32
      }
  return
}
