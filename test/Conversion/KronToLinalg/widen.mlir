// RUN: kron-opt --kron-widen %s | FileCheck %s
// RUN: kron-opt --kron-widen --convert-kron-to-linalg %s -o /dev/null

// Verify that f32 becomes f64 in signatures, operations and scaling.
// CHECK-LABEL: func.func @single
// CHECK-SAME: (%{{.*}}: tensor<?x6xf64>, %{{.*}}: tensor<6x3xf64>, %{{.*}}: tensor<?x3xf64>) -> tensor<?x3xf64>
// CHECK: kron.mkm {{.*}} alpha(2.500000e+00 : f64) -> tensor<?x3xf64>
// CHECK: return {{.*}} : tensor<?x3xf64>
func.func @single(%x: tensor<?x6xf32>, %f: tensor<6x3xf32>,
                  %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = kron.mkm ins(%x : tensor<?x6xf32>) factors(%f : tensor<6x3xf32>)
                outs(%y : tensor<?x3xf32>) alpha(2.5 : f32) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// Verify that f64 becomes f80 and that a constant keeps its (rounded) value.
// CHECK-LABEL: func.func @double
// CHECK-SAME: memref<?x4xf80>
// CHECK: alpha(0.100000000000000005551 : f80)
// CHECK-SAME: scale = 2.000000e+00 : f80
func.func @double(%x: memref<?x4xf64>, %k: memref<1x4x4x1xf64>, %y: memref<?x4xf64>) {
  kron.ksmm ins(%x : memref<?x4xf64>) weights(%k : memref<1x4x4x1xf64>)
            outs(%y : memref<?x4xf64>) alpha(0.1 : f64)
            {activation = #kron.activation<gelu>, scale = 2.0 : f64}
  return
}

// Verify that f16 and bf16 go to the same type as their f32 accumulators.
// CHECK-LABEL: func.func @half
// CHECK-SAME: memref<3x2xf64>, %{{.*}}: memref<2x2xf64>, %{{.*}}: memref<3x2xf64>, %{{.*}}: f64
func.func @half(%x: memref<3x2xbf16>, %f: memref<2x2xbf16>, %y: memref<3x2xf32>, %b: f32) {
  kron.mode_product axis(1) ins(%x : memref<3x2xbf16>) factor(%f [p, q] : memref<2x2xbf16>)
    outs(%y : memref<3x2xf32>) beta(%b : f32)
  return
}

// Verify that complex numbers follow their parts, and integers stay.
// CHECK-LABEL: func.func @complex
// CHECK-SAME: memref<3x2xcomplex<f64>>
// CHECK: alpha(#complex.number<:f64 5.000000e-01, -1.000000e+00> : complex<f64>)
// CHECK-LABEL: func.func @integer
// CHECK-SAME: memref<3x2xi32>
func.func @complex(%x: memref<3x2xcomplex<f32>>, %f: memref<2x2xcomplex<f32>>,
                   %y: memref<3x2xcomplex<f32>>) {
  kron.mkm ins(%x : memref<3x2xcomplex<f32>>) factors(%f : memref<2x2xcomplex<f32>>)
           outs(%y : memref<3x2xcomplex<f32>>)
           alpha(#complex.number<:f32 0.5, -1.0> : complex<f32>)
  return
}
func.func @integer(%x: memref<3x2xi32>, %f: memref<2x2xi32>, %y: memref<3x2xi32>) {
  kron.mkm ins(%x : memref<3x2xi32>) factors(%f : memref<2x2xi32>) outs(%y : memref<3x2xi32>)
  return
}

// Verify that constants of all forms are converted, and that conversions between
// what is now one type disappear.
// CHECK-LABEL: func.func @constants
// CHECK-DAG: arith.constant dense<[0.100000000000000005551, 2.500000e+00]> : tensor<2xf80>
// CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<2xf64>
// CHECK-DAG: arith.constant dense<[(1.000000e+00,2.000000e+00), (5.000000e-01,0.000000e+00)]> : tensor<2xcomplex<f80>>
// CHECK-DAG: complex.constant [5.000000e-01, -1.000000e+00] : complex<f64>
// CHECK-DAG: %[[C:.*]] = arith.constant 1.500000e+00 : f64
// CHECK-NOT: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: return %[[C]]
func.func @constants() -> bf16 {
  %0 = arith.constant dense<[0.1, 2.5]> : tensor<2xf64>
  %1 = arith.constant dense<0.5> : tensor<2xf32>
  %2 = arith.constant dense<[(1.0, 2.0), (0.5, 0.0)]> : tensor<2xcomplex<f64>>
  %3 = complex.constant [0.5 : f32, -1.0 : f32] : complex<f32>
  %4 = arith.constant 1.5 : f16
  %5 = arith.extf %4 : f16 to f32
  %6 = arith.truncf %5 : f32 to bf16
  return %6 : bf16
}

// Verify that bodies of linalg operations are converted.
// CHECK-LABEL: func.func @linalg
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[A:.*]]: f80, %{{.*}}: f80):
// CHECK-NEXT: arith.mulf %[[A]], %[[A]] : f80
func.func @linalg(%x: tensor<4xf64>) -> tensor<4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
         ins(%x : tensor<4xf64>) outs(%x : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64):
    %s = arith.mulf %a, %a : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// Verify that exponents stay as they are, also where elements become f80.
// CHECK-LABEL: func.func @exponent
// CHECK: kron.pairwise pow_diff(1.300000e+00) ins(%{{.*}} : memref<4x8xf80>
func.func @exponent(%a: memref<4x8xf64>, %y: memref<4x4xf64>) {
  kron.pairwise pow_diff(1.3) ins(%a, %a : memref<4x8xf64>, memref<4x8xf64>) outs(%y : memref<4x4xf64>)
  return
}
