// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify the order bias, activation, scale, residual, and that relu lets NaNs
// through (arith.maximumf).
// CHECK-DAG: #[[$BIAS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @relu
// CHECK-SAME: %[[B:[^:]*]]: memref<4xf32>, %[[R:[^:]*]]: memref<?x4xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$BIAS]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%{{.*}}, %[[B]], %[[R]] :
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32, %[[BE:.*]]: f32, %[[RE:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[BIASED:.*]] = arith.addf %[[V]], %[[BE]]
// CHECK: %[[ACT:.*]] = arith.maximumf %[[BIASED]], %{{.*}}
// CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %[[ACT]], %[[SCALE]]
// CHECK: arith.addf %[[SCALED]], %[[RE]]
func.func @relu(%x: memref<?x4xf32>, %k: memref<1x4x4x1xf32>, %b: memref<4xf32>,
                %r: memref<?x4xf32>, %y: memref<?x4xf32>) {
  kron.ksmm ins(%x : memref<?x4xf32>) weights(%k : memref<1x4x4x1xf32>)
            outs(%y : memref<?x4xf32>) bias(%b : memref<4xf32>) residual(%r : memref<?x4xf32>)
            {activation = #kron.activation<relu>, scale = 0.5 : f32}
  return
}

// -----

// Verify that the bias follows the features where the batch is last.
// CHECK-DAG: #[[$BIAS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @bias_batch_last
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$BIAS]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
func.func @bias_batch_last(%x: memref<4x?xi32>, %k: memref<1x4x4x1xi32>, %b: memref<4xi32>,
                           %y: memref<4x?xi32>) {
  kron.ksmm ins(%x : memref<4x?xi32>) weights(%k : memref<1x4x4x1xi32>)
            outs(%y : memref<4x?xi32>) bias(%b : memref<4xi32>)
            {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that integers use the signed maximum.
// CHECK-LABEL: func.func @relu_integer
// CHECK: arith.maxsi
func.func @relu_integer(%x: memref<?x4xi32>, %k: memref<1x4x4x1xi32>, %y: memref<?x4xi32>) {
  kron.ksmm ins(%x : memref<?x4xi32>) weights(%k : memref<1x4x4x1xi32>)
            outs(%y : memref<?x4xi32>) {activation = #kron.activation<relu>}
  return
}

// -----

// Verify that gelu is the exact form.
// CHECK-LABEL: func.func @gelu
// CHECK: %[[ROOT:.*]] = arith.constant 0.707106769 : f32
// CHECK: %[[U:.*]] = arith.mulf %[[V:.*]], %[[ROOT]]
// CHECK: %[[ERF:.*]] = math.erf %[[U]]
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[SUM:.*]] = arith.addf %[[ERF]], %[[ONE]]
// CHECK: %[[HALF:.*]] = arith.mulf %[[V]], %{{.*}}
// CHECK: arith.mulf %[[HALF]], %[[SUM]]
func.func @gelu(%x: memref<?x4xf32>, %k: memref<1x4x4x1xf32>, %y: memref<?x4xf32>) {
  kron.ksmm ins(%x : memref<?x4xf32>) weights(%k : memref<1x4x4x1xf32>)
            outs(%y : memref<?x4xf32>) {activation = #kron.activation<gelu>}
  return
}

// -----

// Verify that exp of f80 is computed in f64.
// CHECK-LABEL: func.func @silu_f80
// CHECK: %[[NEG:.*]] = arith.negf %[[V:.*]] : f80
// CHECK: %[[NARROW:.*]] = arith.truncf %[[NEG]] : f80 to f64
// CHECK: %[[EXP:.*]] = math.exp %[[NARROW]] : f64
// CHECK: %[[WIDE:.*]] = arith.extf %[[EXP]] : f64 to f80
// CHECK: %[[SUM:.*]] = arith.addf %[[WIDE]], %{{.*}} : f80
// CHECK: arith.divf %[[V]], %[[SUM]] : f80
func.func @silu_f80(%x: memref<?x4xf80>, %k: memref<1x4x4x1xf80>, %y: memref<?x4xf80>) {
  kron.ksmm ins(%x : memref<?x4xf80>) weights(%k : memref<1x4x4x1xf80>)
            outs(%y : memref<?x4xf80>) {activation = #kron.activation<silu>}
  return
}
