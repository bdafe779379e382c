// RUN: kron-opt --convert-kron-to-linalg=epilogues-only=true %s | FileCheck %s
// RUN: kron-opt --convert-kron-to-linalg %s | FileCheck %s --check-prefix=ALL

// CHECK-DAG: #[[$SAME:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>

// Verify the order bias, activation, scale, residual, computed in f32 and rounded once.
// CHECK-LABEL: func.func @buffered(
// CHECK-SAME: %[[V:.*]]: tensor<9x2x3x5xf32>, %[[B:.*]]: tensor<2x3x5xf16>, %[[R:.*]]: tensor<9x2x3x5xf16>, %[[Y:.*]]: tensor<9x2x3x5xf16>)
// CHECK: linalg.generic {indexing_maps = [#[[$SAME]], #[[$BIAS]], #[[$SAME]], #[[$SAME]]], {{.*}} ins(%[[V]], %[[B]], %[[R]] : {{.*}}) outs(%[[Y]] :
// CHECK-NEXT: ^bb0(%[[VI:.*]]: f32, %[[BI:.*]]: f16, %[[RI:.*]]: f16, %{{.*}}: f16):
// CHECK: %[[BW:.*]] = arith.extf %[[BI]]
// CHECK: %[[S0:.*]] = arith.addf %[[VI]], %[[BW]] : f32
// CHECK: %[[S1:.*]] = arith.maximumf %[[S0]]
// CHECK: %[[S2:.*]] = arith.mulf %[[S1]]
// CHECK: %[[RW:.*]] = arith.extf %[[RI]]
// CHECK: %[[S3:.*]] = arith.addf %[[S2]], %[[RW]] : f32
// CHECK: %[[S4:.*]] = arith.truncf %[[S3]] : f32 to f16
// CHECK: linalg.yield %[[S4]]
func.func @buffered(%v: tensor<9x2x3x5xf32>, %b: tensor<2x3x5xf16>, %r: tensor<9x2x3x5xf16>,
                    %y: tensor<9x2x3x5xf16>) -> tensor<9x2x3x5xf16> {
  %0 = kron.epilogue ins(%v : tensor<9x2x3x5xf32>) bias(%b [1, 2, 3] : tensor<2x3x5xf16>)
         residual(%r : tensor<9x2x3x5xf16>) outs(%y : tensor<9x2x3x5xf16>)
         {activation = #kron.activation<relu>, scale = 0.5 : f32} -> tensor<9x2x3x5xf16>
  return %0 : tensor<9x2x3x5xf16>
}

// Verify that an epilogue in place has no input but its destination, and gelu,
// v/2 * (1 + erf(v / sqrt(2))).
// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[Y:.*]]: memref<4x4xf64>)
// CHECK: linalg.generic {indexing_maps = [#{{.*}}], {{.*}} outs(%[[Y]] : memref<4x4xf64>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: f64):
// CHECK: %[[ARG:.*]] = arith.mulf %[[V]], %{{.*}}
// CHECK: %[[ERF:.*]] = math.erf %[[ARG]]
// CHECK: %[[SUM:.*]] = arith.addf %[[ERF]], %{{.*}}
// CHECK: %[[HALF:.*]] = arith.mulf %[[V]], %{{.*}}
// CHECK: arith.mulf %[[HALF]], %[[SUM]]
func.func @gelu(%y: memref<4x4xf64>) {
  kron.epilogue ins(%y : memref<4x4xf64>) outs(%y : memref<4x4xf64>) {activation = #kron.activation<gelu>}
  return
}

// Verify silu, v / (1 + exp(-v)).
// CHECK-LABEL: func.func @silu(
// CHECK: ^bb0(%[[V:.*]]: f32):
// CHECK: %[[NEG:.*]] = arith.negf %[[V]]
// CHECK: %[[EXP:.*]] = math.exp %[[NEG]]
// CHECK: %[[DENOMINATOR:.*]] = arith.addf %[[EXP]]
// CHECK: arith.divf %[[V]], %[[DENOMINATOR]]
func.func @silu(%y: memref<4x4xf32>) {
  kron.epilogue ins(%y : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {activation = #kron.activation<silu>}
  return
}

// Verify that a fused region keeps its epilogue, and that the reference lowers both: one
// contraction, then one loop that rounds.
// CHECK-LABEL: func.func @pass(
// CHECK: kron.fused
// CHECK: kron.epilogue
// CHECK-NOT: linalg.generic
// ALL-LABEL: func.func @pass(
// ALL-NOT: kron.
// ALL: linalg.generic {{.*}}"reduction"
// ALL: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<9x8xf32>, memref<8xf16>) outs(%{{.*}} : memref<9x8xf16>)
// ALL: arith.maximumf
// ALL: arith.truncf
func.func @pass(%x: memref<9x4xf16>, %f: memref<4x8xf16>, %b: memref<8xf16>, %y: memref<9x8xf16>) {
  kron.fused ins(%x, %f, %b : memref<9x4xf16>, memref<4x8xf16>, memref<8xf16>) outs(%y : memref<9x8xf16>) {
  ^bb0(%tx: tensor<9x4xf16>, %tf: tensor<4x8xf16>, %tb: tensor<8xf16>, %out: tensor<9x8xf16>):
    %e = tensor.empty() : tensor<9x8xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<9x4xf16>) factor(%tf [p, q] : tensor<4x8xf16>) outs(%e : tensor<9x8xf32>) -> tensor<9x8xf32>
    %2 = kron.epilogue ins(%1 : tensor<9x8xf32>) bias(%tb [1] : tensor<8xf16>) outs(%out : tensor<9x8xf16>)
           {activation = #kron.activation<relu>} -> tensor<9x8xf16>
    kron.yield %2 : tensor<9x8xf16>
  }
  return
}
