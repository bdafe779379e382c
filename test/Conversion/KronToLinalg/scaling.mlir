// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify that the default beta, 0, leaves the destination unread.
// CHECK-LABEL: func.func @beta_zero
// CHECK-SAME: %[[Y:[^:]*]]: tensor<4x2xf32>)
// CHECK: linalg.generic
// CHECK: linalg.generic {{.*}} outs(%[[Y]] : tensor<4x2xf32>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: linalg.yield %[[V]] : f32
func.func @beta_zero(%x: tensor<4x2xf32>, %f: tensor<2x2xf32>,
                     %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %r = kron.mkm ins(%x : tensor<4x2xf32>) factors(%f : tensor<2x2xf32>)
                outs(%y : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Verify that beta = 0 drops the addend.
// CHECK-LABEL: func.func @beta_zero_addend
// CHECK-SAME: %[[Z:[^:]*]]: tensor<4x2xf32>, %[[Y:[^:]*]]: tensor<4x2xf32>)
// CHECK-NOT: ins({{.*}}%[[Z]]
// CHECK: return
func.func @beta_zero_addend(%x: tensor<4x2xf32>, %f: tensor<2x2xf32>, %z: tensor<4x2xf32>,
                            %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %r = kron.mkm ins(%x : tensor<4x2xf32>) factors(%f : tensor<2x2xf32>)
                outs(%y : tensor<4x2xf32>) alpha(2.0 : f32) beta(0.0 : f32)
                addend(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Verify that alpha = 0 drops the input and the factors.
// CHECK-LABEL: func.func @alpha_zero
// CHECK-SAME: %[[Y:[^:]*]]: memref<4x2xf32>)
// CHECK-NEXT: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} outs(%[[Y]] : memref<4x2xf32>)
// CHECK-NEXT: ^bb0(%[[OUT:.*]]: f32):
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[OUT]]
// CHECK: arith.addf %[[ZERO]], %[[SCALED]]
// CHECK: return
func.func @alpha_zero(%x: memref<4x2xf32>, %f: memref<2x2xf32>, %y: memref<4x2xf32>) {
  kron.mkm ins(%x : memref<4x2xf32>) factors(%f : memref<2x2xf32>)
           outs(%y : memref<4x2xf32>) alpha(0.0 : f32) beta(3.0 : f32)
  return
}

// -----

// Verify that run-time scalars that are 0 drop the value they scale, NaN included.
// CHECK-LABEL: func.func @run_time_scalars
// CHECK-SAME: %[[A:[^:]*]]: f64, %[[B:[^:]*]]: f64)
// CHECK: ^bb0(%[[V:.*]]: f64, %[[Z:.*]]: f64, %{{.*}}: f64):
// CHECK: %[[AV:.*]] = arith.mulf %[[A]], %[[V]]
// CHECK: %[[A0:.*]] = arith.cmpf oeq, %[[A]],
// CHECK: %[[AVS:.*]] = arith.select %[[A0]], %{{.*}}, %[[AV]]
// CHECK: %[[BZ:.*]] = arith.mulf %[[B]], %[[Z]]
// CHECK: %[[B0:.*]] = arith.cmpf oeq, %[[B]],
// CHECK: %[[BZS:.*]] = arith.select %[[B0]], %{{.*}}, %[[BZ]]
// CHECK: arith.addf %[[AVS]], %[[BZS]]
func.func @run_time_scalars(%x: memref<4x2xf64>, %f: memref<2x2xf64>, %z: memref<4x2xf64>,
                            %y: memref<4x2xf64>, %a: f64, %b: f64) {
  kron.batched ins(%x : memref<4x2xf64>) factors(%f : memref<2x2xf64>)
               outs(%y : memref<4x2xf64>) alpha(%a : f64) beta(%b : f64)
               addend(%z : memref<4x2xf64>)
  return
}

// -----

// Verify the same for complex and integer scalars.
// CHECK-LABEL: func.func @run_time_complex
// CHECK: complex.eq
// CHECK: arith.select {{.*}} : complex<f32>
// CHECK-LABEL: func.func @run_time_integer
// CHECK: arith.cmpi eq
// CHECK: arith.select {{.*}} : i64
func.func @run_time_complex(%x: memref<4x2xcomplex<f32>>, %f: memref<2x2xcomplex<f32>>,
                            %y: memref<4x2xcomplex<f32>>, %a: complex<f32>) {
  kron.mkm ins(%x : memref<4x2xcomplex<f32>>) factors(%f : memref<2x2xcomplex<f32>>)
           outs(%y : memref<4x2xcomplex<f32>>) alpha(%a : complex<f32>)
  return
}
func.func @run_time_integer(%x: memref<4x2xi64>, %f: memref<2x2xi64>, %y: memref<4x2xi64>,
                            %a: i64) {
  kron.mkm ins(%x : memref<4x2xi64>) factors(%f : memref<2x2xi64>)
           outs(%y : memref<4x2xi64>) alpha(%a : i64)
  return
}
