// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify that f16 stays f32 from the first contraction to the only rounding.
// CHECK-LABEL: func.func @mkm_f16
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2x2xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16, %[[F:.*]]: f16, %[[ACC:.*]]: f32):
// CHECK-DAG: %[[XW:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG: %[[FW:.*]] = arith.extf %[[F]] : f16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[XW]], %[[FW]] : f32
// CHECK: arith.addf %[[ACC]], %[[P]] : f32
// CHECK-NOT: arith.truncf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x2x2xf32>, tensor<2x2xf16>) outs(%{{.*}} : tensor<?x2x2xf32>)
// CHECK-NOT: arith.truncf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x4xf32>) outs(%{{.*}} : tensor<?x4xf16>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32, %[[Z:.*]]: f16):
// CHECK: %[[AV:.*]] = arith.mulf %{{.*}}, %[[V]] : f32
// CHECK: %[[ZW:.*]] = arith.extf %[[Z]] : f16 to f32
// CHECK: %[[SUM:.*]] = arith.addf %[[AV]], %[[ZW]] : f32
// CHECK: arith.truncf %[[SUM]] : f32 to f16
// CHECK-NOT: arith.truncf
func.func @mkm_f16(%x: tensor<?x4xf16>, %f1: tensor<2x2xf16>, %f2: tensor<2x2xf16>,
                   %y: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %r = kron.mkm ins(%x : tensor<?x4xf16>) factors(%f1, %f2 : tensor<2x2xf16>, tensor<2x2xf16>)
                outs(%y : tensor<?x4xf16>) alpha(3.0 : f32) beta(1.0 : f32) -> tensor<?x4xf16>
  return %r : tensor<?x4xf16>
}

// -----

// Verify that bf16 goes through bias and activation in f32.
// CHECK-LABEL: func.func @ksmm_bf16
// CHECK: ^bb0(%[[V:.*]]: f32, %[[B:.*]]: bf16, %{{.*}}: bf16):
// CHECK: %[[BW:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK: arith.addf %[[V]], %[[BW]] : f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: %[[ACT:.*]] = arith.divf
// CHECK: arith.truncf %[[ACT]] : f32 to bf16
func.func @ksmm_bf16(%x: memref<?x4xbf16>, %k: memref<1x4x4x1xbf16>, %b: memref<4xbf16>,
                     %y: memref<?x4xbf16>) {
  kron.ksmm ins(%x : memref<?x4xbf16>) weights(%k : memref<1x4x4x1xbf16>)
            outs(%y : memref<?x4xbf16>) bias(%b : memref<4xbf16>)
            {activation = #kron.activation<silu>}
  return
}

// -----

// Verify that an f32 intermediate of an f16 chain is kept.
// CHECK-LABEL: func.func @mode_product_f32_result
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x2xf16>, tensor<2x2xf16>) outs(%{{.*}} : tensor<3x2xf32>)
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @mode_product_f32_result(%x: tensor<3x2xf16>, %f: tensor<2x2xf16>,
                                   %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = kron.mode_product axis(1) ins(%x : tensor<3x2xf16>) factor(%f [p, q] : tensor<2x2xf16>)
         outs(%y : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
