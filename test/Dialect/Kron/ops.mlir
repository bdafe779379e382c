// RUN: kron-opt %s --verify-roundtrip | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

//===----------------------------------------------------------------------===//
// kron.mkm
//===----------------------------------------------------------------------===//

// Verify that every operand prints under its op() and without stray spaces.
// CHECK-LABEL: func @mkm_tensor(
// CHECK-SAME:    %[[X:.*]]: tensor<?x128xf32>, %[[F1:.*]]: tensor<8x4xf32>, %[[F2:.*]]: tensor<32x16xf32>, %[[INIT:.*]]: tensor<?x128xf32>
// CHECK-NEXT:    kron.mkm ins(%[[X]] : tensor<?x128xf32>) factors(%[[F1]], T(%[[F2]]) : tensor<8x4xf32>, tensor<32x16xf32>) outs(%[[INIT]] : tensor<?x128xf32>) -> tensor<?x128xf32>
func.func @mkm_tensor(%x: tensor<?x128xf32>, %f1: tensor<8x4xf32>, %f2: tensor<32x16xf32>, %init: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %y = kron.mkm ins(%x : tensor<?x128xf32>)
                factors(%f1, T(%f2) : tensor<8x4xf32>, tensor<32x16xf32>)
                outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

// Verify constant scaling, an addend, precision and plan on strided memrefs.
// CHECK-LABEL: func @mkm_memref(
// CHECK:         kron.mkm ins(T(%{{.*}}) : memref<8x7xf64, strided<[?, 2], offset: ?>>) factors(C(%{{.*}}), %{{.*}} : memref<3x2xf64>, memref<4x5xf64>) outs(%{{.*}} : memref<7x15xf64>) alpha(2.000000e+00 : f64) beta(-1.000000e+00 : f64) addend(%{{.*}} : memref<7x15xf64>) {plan = #kron.cpu_plan<vector_bits = 512, tile = 4>, precision = #kron.precision<ieee>}
// CHECK-NEXT:    return
func.func @mkm_memref(%x: memref<8x7xf64, strided<[?, 2], offset: ?>>, %f1: memref<3x2xf64>, %f2: memref<4x5xf64>, %z: memref<7x15xf64>, %y: memref<7x15xf64>) {
  kron.mkm ins(T(%x) : memref<8x7xf64, strided<[?, 2], offset: ?>>)
           factors(C(%f1), %f2 : memref<3x2xf64>, memref<4x5xf64>)
           outs(%y : memref<7x15xf64>)
           alpha(2.0 : f64) beta(-1.0 : f64) addend(%z : memref<7x15xf64>)
           {plan = #kron.cpu_plan<vector_bits = 512, tile = 4>, precision = #kron.precision<ieee>}
  return
}

// Verify run-time scaling: f16 arrays take f32 scalars.
// CHECK-LABEL: func @mkm_runtime_scaling(
// CHECK:         kron.mkm {{.*}} alpha(%{{.*}} : f32) beta(%{{.*}} : f32) -> tensor<2x9xf16>
func.func @mkm_runtime_scaling(%x: tensor<2x9xf16>, %f: tensor<3x3xf16>, %init: tensor<2x9xf16>, %alpha: f32, %beta: f32) -> tensor<2x9xf16> {
  %y = kron.mkm ins(%x : tensor<2x9xf16>) factors(%f, %f : tensor<3x3xf16>, tensor<3x3xf16>)
                outs(%init : tensor<2x9xf16>) alpha(%alpha : f32) beta(%beta : f32) -> tensor<2x9xf16>
  return %y : tensor<2x9xf16>
}

// Verify that leading dimensions broadcast: the input has fewer of them than a
// factor, a 1 stretches, and a dynamic size matches any.
// CHECK-LABEL: func @mkm_broadcast(
// CHECK:         kron.mkm
func.func @mkm_broadcast(%x: tensor<5x?x6xf32>, %f1: tensor<3x1x2x2xf32>, %f2: tensor<?x3x3xf32>, %init: tensor<3x5x?x6xf32>) -> tensor<3x5x?x6xf32> {
  %y = kron.mkm ins(%x : tensor<5x?x6xf32>) factors(%f1, %f2 : tensor<3x1x2x2xf32>, tensor<?x3x3xf32>)
                outs(%init : tensor<3x5x?x6xf32>) -> tensor<3x5x?x6xf32>
  return %y : tensor<3x5x?x6xf32>
}

// Verify that M and the batch may be 0 and that everything may be dynamic.
// CHECK-LABEL: func @mkm_empty_and_dynamic(
// CHECK-COUNT-2: kron.mkm
func.func @mkm_empty_and_dynamic(%x: memref<0x0x4xi32>, %f: memref<2x2xi32>, %y: memref<0x0x4xi32>, %dx: memref<?x?xi32>, %df: memref<?x?xi32>, %dy: memref<?x?xi32>) {
  kron.mkm ins(%x : memref<0x0x4xi32>) factors(%f, %f : memref<2x2xi32>, memref<2x2xi32>) outs(%y : memref<0x0x4xi32>)
  kron.mkm ins(%dx : memref<?x?xi32>) factors(%df, %f : memref<?x?xi32>, memref<2x2xi32>) outs(%dy : memref<?x?xi32>)
  return
}

// Verify every element type, with scalars of the accumulation type.
// CHECK-LABEL: func @mkm_types(
// CHECK: alpha(2.000000e+00 : f32)
// CHECK: alpha(2.000000e+00 : f64)
// CHECK: alpha(2.000000e+00 : f32)
// CHECK: alpha(2.000000e+00 : f32)
// CHECK: alpha(2 : i32)
// CHECK: alpha(2 : i64)
// CHECK: alpha(#complex.number<:f32 2.000000e+00, 1.000000e+00>{{.*}})
// CHECK: alpha(#complex.number<:f64 2.000000e+00, 1.000000e+00>{{.*}})
// CHECK: alpha(2.000000e+00 : f80)
func.func @mkm_types(%f32: memref<2x2xf32>, %f64: memref<2x2xf64>, %f16: memref<2x2xf16>, %bf16: memref<2x2xbf16>, %i32: memref<2x2xi32>, %i64: memref<2x2xi64>, %c32: memref<2x2xcomplex<f32>>, %c64: memref<2x2xcomplex<f64>>, %f80: memref<2x2xf80>) {
  kron.mkm ins(%f32 : memref<2x2xf32>) factors(%f32 : memref<2x2xf32>) outs(%f32 : memref<2x2xf32>) alpha(2.0 : f32)
  kron.mkm ins(%f64 : memref<2x2xf64>) factors(%f64 : memref<2x2xf64>) outs(%f64 : memref<2x2xf64>) alpha(2.0 : f64)
  kron.mkm ins(%f16 : memref<2x2xf16>) factors(%f16 : memref<2x2xf16>) outs(%f16 : memref<2x2xf16>) alpha(2.0 : f32)
  kron.mkm ins(%bf16 : memref<2x2xbf16>) factors(%bf16 : memref<2x2xbf16>) outs(%bf16 : memref<2x2xbf16>) alpha(2.0 : f32)
  kron.mkm ins(%i32 : memref<2x2xi32>) factors(%i32 : memref<2x2xi32>) outs(%i32 : memref<2x2xi32>) alpha(2 : i32)
  kron.mkm ins(%i64 : memref<2x2xi64>) factors(%i64 : memref<2x2xi64>) outs(%i64 : memref<2x2xi64>) alpha(2 : i64)
  kron.mkm ins(%c32 : memref<2x2xcomplex<f32>>) factors(C(%c32) : memref<2x2xcomplex<f32>>) outs(%c32 : memref<2x2xcomplex<f32>>) alpha(#complex.number<:f32 2.0, 1.0> : complex<f32>)
  kron.mkm ins(%c64 : memref<2x2xcomplex<f64>>) factors(T(%c64) : memref<2x2xcomplex<f64>>) outs(%c64 : memref<2x2xcomplex<f64>>) alpha(#complex.number<:f64 2.0, 1.0> : complex<f64>)
  kron.mkm ins(%f80 : memref<2x2xf80>) factors(%f80 : memref<2x2xf80>) outs(%f80 : memref<2x2xf80>) alpha(2.0 : f80)
  return
}

//===----------------------------------------------------------------------===//
// kron.kmm
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @kmm_tensor(
// CHECK:         kron.kmm ins(%{{.*}} : tensor<6x?xf64>) factors(%{{.*}}, C(%{{.*}}) : tensor<5x2xf64>, tensor<3x7xf64>) outs(%{{.*}} : tensor<35x?xf64>) beta(1.000000e+00 : f64) -> tensor<35x?xf64>
func.func @kmm_tensor(%x: tensor<6x?xf64>, %f1: tensor<5x2xf64>, %f2: tensor<3x7xf64>, %init: tensor<35x?xf64>) -> tensor<35x?xf64> {
  %y = kron.kmm ins(%x : tensor<6x?xf64>) factors(%f1, C(%f2) : tensor<5x2xf64>, tensor<3x7xf64>)
                outs(%init : tensor<35x?xf64>) beta(1.0 : f64) -> tensor<35x?xf64>
  return %y : tensor<35x?xf64>
}

// CHECK-LABEL: func @kmm_memref(
// CHECK:         kron.kmm ins(C(%{{.*}}) : memref<9x6xcomplex<f32>>) factors(%{{.*}}, %{{.*}} : memref<4x2xcomplex<f32>>, memref<1x3xcomplex<f32>>) outs(%{{.*}} : memref<4x9xcomplex<f32>>)
func.func @kmm_memref(%x: memref<9x6xcomplex<f32>>, %f1: memref<4x2xcomplex<f32>>, %f2: memref<1x3xcomplex<f32>>, %y: memref<4x9xcomplex<f32>>) {
  kron.kmm ins(C(%x) : memref<9x6xcomplex<f32>>) factors(%f1, %f2 : memref<4x2xcomplex<f32>>, memref<1x3xcomplex<f32>>)
           outs(%y : memref<4x9xcomplex<f32>>)
  return
}

//===----------------------------------------------------------------------===//
// kron.batched
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @batched_tensor(
// CHECK:         kron.batched ins(%{{.*}} : tensor<200x2x3x4xf64>) factors(%{{.*}}, T(%{{.*}}), %{{.*}} : tensor<5x2xf64>, tensor<3x6xf64>, tensor<200x7x4xf64>) outs(%{{.*}} : tensor<200x5x6x7xf64>) alpha(3.000000e+00 : f64) -> tensor<200x5x6x7xf64>
func.func @batched_tensor(%x: tensor<200x2x3x4xf64>, %a: tensor<5x2xf64>, %b: tensor<3x6xf64>, %c: tensor<200x7x4xf64>, %init: tensor<200x5x6x7xf64>) -> tensor<200x5x6x7xf64> {
  %y = kron.batched ins(%x : tensor<200x2x3x4xf64>)
         factors(%a, T(%b), %c : tensor<5x2xf64>, tensor<3x6xf64>, tensor<200x7x4xf64>)
         outs(%init : tensor<200x5x6x7xf64>) alpha(3.0 : f64) -> tensor<200x5x6x7xf64>
  return %y : tensor<200x5x6x7xf64>
}

// Verify that op(X) reverses the order of the axes, behind a dynamic batch.
// CHECK-LABEL: func @batched_memref(
// CHECK:         kron.batched ins(T(%{{.*}}) : memref<?x4x3x2xi64, strided<[24, 1, 8, 4]>>)
func.func @batched_memref(%x: memref<?x4x3x2xi64, strided<[24, 1, 8, 4]>>, %a: memref<5x2xi64>, %b: memref<6x3xi64>, %c: memref<7x4xi64>, %y: memref<?x5x6x7xi64>) {
  kron.batched ins(T(%x) : memref<?x4x3x2xi64, strided<[24, 1, 8, 4]>>)
               factors(%a, %b, %c : memref<5x2xi64>, memref<6x3xi64>, memref<7x4xi64>)
               outs(%y : memref<?x5x6x7xi64>)
  return
}

// Verify one axis without a batch.
// CHECK-LABEL: func @batched_vector(
// CHECK:         kron.batched
func.func @batched_vector(%x: tensor<4xbf16>, %a: tensor<3x4xbf16>, %init: tensor<3xbf16>) -> tensor<3xbf16> {
  %y = kron.batched ins(%x : tensor<4xbf16>) factors(%a : tensor<3x4xbf16>) outs(%init : tensor<3xbf16>) -> tensor<3xbf16>
  return %y : tensor<3xbf16>
}

//===----------------------------------------------------------------------===//
// kron.ksmm
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @ksmm_tensor(
// CHECK:         kron.ksmm ins(%{{.*}} : tensor<?x40xf32>) weights(%{{.*}} : tensor<2x3x4x5xf32>) outs(%{{.*}} : tensor<?x30xf32>) -> tensor<?x30xf32>
func.func @ksmm_tensor(%x: tensor<?x40xf32>, %k: tensor<2x3x4x5xf32>, %init: tensor<?x30xf32>) -> tensor<?x30xf32> {
  %y = kron.ksmm ins(%x : tensor<?x40xf32>) weights(%k : tensor<2x3x4x5xf32>) outs(%init : tensor<?x30xf32>) -> tensor<?x30xf32>
  return %y : tensor<?x30xf32>
}

// Verify all clauses: transposed weights exchange the features, a transposed
// input lies in the other layout.
// CHECK-LABEL: func @ksmm_memref(
// CHECK:         kron.ksmm ins(T(%{{.*}}) : memref<9x30xf16>) weights(C(%{{.*}}) : memref<2x3x4x5xf16>) outs(%{{.*}} : memref<40x9xf16>) alpha(2.000000e+00 : f32) beta(%{{.*}} : f32) addend(%{{.*}} : memref<40x9xf16>) bias(%{{.*}} : memref<40xf16>) residual(%{{.*}} : memref<40x9xf16>) {activation = #kron.activation<gelu>, layout = #kron.layout<batch_last>, scale = 5.000000e-01 : f32}
func.func @ksmm_memref(%x: memref<9x30xf16>, %k: memref<2x3x4x5xf16>, %y: memref<40x9xf16>, %z: memref<40x9xf16>, %bias: memref<40xf16>, %r: memref<40x9xf16>, %beta: f32) {
  kron.ksmm ins(T(%x) : memref<9x30xf16>) weights(C(%k) : memref<2x3x4x5xf16>) outs(%y : memref<40x9xf16>)
            alpha(2.0 : f32) beta(%beta : f32) addend(%z : memref<40x9xf16>)
            bias(%bias : memref<40xf16>) residual(%r : memref<40x9xf16>)
            {activation = #kron.activation<gelu>, layout = #kron.layout<batch_last>, scale = 0.5 : f32}
  return
}

// Verify that relu takes integers.
// CHECK-LABEL: func @ksmm_integer_relu(
// CHECK:         kron.ksmm {{.*}} {activation = #kron.activation<relu>}
func.func @ksmm_integer_relu(%x: memref<1x1xi32>, %k: memref<1x1x1x1xi32>, %y: memref<1x1xi32>) {
  kron.ksmm ins(%x : memref<1x1xi32>) weights(%k : memref<1x1x1x1xi32>) outs(%y : memref<1x1xi32>) {activation = #kron.activation<relu>}
  return
}

//===----------------------------------------------------------------------===//
// kron.ksmm_grad
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @ksmm_grad_tensor(
// CHECK:         kron.ksmm_grad ins(%{{.*}} : tensor<?x40xf32>) grad(%{{.*}} : tensor<?x30xf32>) outs(%{{.*}} : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
func.func @ksmm_grad_tensor(%x: tensor<?x40xf32>, %g: tensor<?x30xf32>, %init: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %d = kron.ksmm_grad ins(%x : tensor<?x40xf32>) grad(%g : tensor<?x30xf32>)
                      outs(%init : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %d : tensor<2x3x4x5xf32>
}

// Verify scaling, the other layout, conjugation and a pattern known at run time.
// CHECK-LABEL: func @ksmm_grad_memref(
// CHECK:         kron.ksmm_grad ins(%{{.*}} : memref<?x9xcomplex<f64>>) grad(%{{.*}} : memref<?x9xcomplex<f64>>) outs(%{{.*}} : memref<?x?x?x?xcomplex<f64>>) alpha(%{{.*}} : complex<f64>) beta(%{{.*}} : complex<f64>) addend(%{{.*}} : memref<?x?x?x?xcomplex<f64>>) {conj_grad, conj_input, layout = #kron.layout<batch_last>}
func.func @ksmm_grad_memref(%x: memref<?x9xcomplex<f64>>, %d: memref<?x?x?x?xcomplex<f64>>, %z: memref<?x?x?x?xcomplex<f64>>, %s: complex<f64>) {
  kron.ksmm_grad ins(%x : memref<?x9xcomplex<f64>>) grad(%x : memref<?x9xcomplex<f64>>)
                 outs(%d : memref<?x?x?x?xcomplex<f64>>) alpha(%s : complex<f64>) beta(%s : complex<f64>)
                 addend(%z : memref<?x?x?x?xcomplex<f64>>)
                 {layout = #kron.layout<batch_last>, conj_input, conj_grad}
  return
}

// Verify weights that blocks and inner positions share.
// CHECK-LABEL: func @ksmm_grad_shared(
// CHECK:         kron.ksmm_grad {{.*}} outs(%{{.*}} : memref<1x3x4x1xf32>) {product_pattern = array<i64: 2, 3, 4, 5>}
func.func @ksmm_grad_shared(%x: memref<?x40xf32>, %g: memref<?x30xf32>, %d: memref<1x3x4x1xf32>) {
  kron.ksmm_grad ins(%x : memref<?x40xf32>) grad(%g : memref<?x30xf32>)
                 outs(%d : memref<1x3x4x1xf32>) {product_pattern = array<i64: 2, 3, 4, 5>}
  return
}

//===----------------------------------------------------------------------===//
// kron.factor_grad, kron.bias_grad
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @factor_grad_tensor(
// CHECK:         kron.factor_grad ins(%{{.*}} : tensor<?x24xf32>) factors(%{{.*}}, T(%{{.*}}) : tensor<2x3xf32>, tensor<2x4xf32>) grad(%{{.*}} : tensor<?x30xf32>) outs(%{{.*}} : tensor<3x5xf32>) {index = 1 : i64} -> tensor<3x5xf32>
func.func @factor_grad_tensor(%x: tensor<?x24xf32>, %g: tensor<?x30xf32>, %a: tensor<2x3xf32>, %b: tensor<2x4xf32>, %init: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %d = kron.factor_grad ins(%x : tensor<?x24xf32>) factors(%a, T(%b) : tensor<2x3xf32>, tensor<2x4xf32>)
                        grad(%g : tensor<?x30xf32>) outs(%init : tensor<3x5xf32>) {index = 1 : i64} -> tensor<3x5xf32>
  return %d : tensor<3x5xf32>
}

// Verify that a single factor has no others, scaling, a batch and the other layout.
// CHECK-LABEL: func @factor_grad_memref(
// CHECK:         kron.factor_grad ins(%{{.*}} : memref<7x4x?xcomplex<f32>>) grad(%{{.*}} : memref<7x5x?xcomplex<f32>>) outs(%{{.*}} : memref<5x4xcomplex<f32>>) beta(%{{.*}} : complex<f32>) {conj_grad, conj_input, index = 0 : i64, layout = #kron.layout<batch_last>}
func.func @factor_grad_memref(%x: memref<7x4x?xcomplex<f32>>, %g: memref<7x5x?xcomplex<f32>>, %d: memref<5x4xcomplex<f32>>, %s: complex<f32>) {
  kron.factor_grad ins(%x : memref<7x4x?xcomplex<f32>>) grad(%g : memref<7x5x?xcomplex<f32>>)
                   outs(%d : memref<5x4xcomplex<f32>>) beta(%s : complex<f32>)
                   {index = 0 : i64, layout = #kron.layout<batch_last>, conj_input, conj_grad}
  return
}

// CHECK-LABEL: func @bias_grad(
// CHECK:         kron.bias_grad ins(%{{.*}} : memref<?x20xf16>) outs(%{{.*}} : memref<20xf16>) alpha(2.000000e+00 : f32)
// CHECK:         kron.bias_grad ins(%{{.*}} : tensor<20x?xf32>) outs(%{{.*}} : tensor<20xf32>) {layout = #kron.layout<batch_last>} -> tensor<20xf32>
func.func @bias_grad(%g: memref<?x20xf16>, %d: memref<20xf16>, %t: tensor<20x?xf32>, %init: tensor<20xf32>) -> tensor<20xf32> {
  kron.bias_grad ins(%g : memref<?x20xf16>) outs(%d : memref<20xf16>) alpha(2.0 : f32)
  %r = kron.bias_grad ins(%t : tensor<20x?xf32>) outs(%init : tensor<20xf32>)
         {layout = #kron.layout<batch_last>} -> tensor<20xf32>
  return %r : tensor<20xf32>
}

//===----------------------------------------------------------------------===//
// kron.mode_product
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mode_product_tensor(
// CHECK:         kron.mode_product axis(1) ins(%{{.*}} : tensor<?x8x16xf32>) factor(%{{.*}} [p, q] : tensor<8x4xf32>) outs(%{{.*}} : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
func.func @mode_product_tensor(%x: tensor<?x8x16xf32>, %f: tensor<8x4xf32>, %init: tensor<?x4x16xf32>) -> tensor<?x4x16xf32> {
  %y = kron.mode_product axis(1) ins(%x : tensor<?x8x16xf32>) factor(%f [p, q] : tensor<8x4xf32>)
         outs(%init : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  return %y : tensor<?x4x16xf32>
}

// Verify a factor that varies with other axes, a stretched axis and all clauses.
// CHECK-LABEL: func @mode_product_memref(
// CHECK:         kron.mode_product axis(2) ins(%{{.*}} : memref<1x2x4x5xcomplex<f64>>) factor(%{{.*}} [1, q, p, 3] : memref<2x3x4x1xcomplex<f64>>) outs(%{{.*}} : memref<9x2x3x5xcomplex<f64>>) alpha(%{{.*}} : complex<f64>) beta(%{{.*}} : complex<f64>) addend(%{{.*}} : memref<9x2x3x5xcomplex<f64>>) {conj_factor, conj_input}
func.func @mode_product_memref(%x: memref<1x2x4x5xcomplex<f64>>, %f: memref<2x3x4x1xcomplex<f64>>, %y: memref<9x2x3x5xcomplex<f64>>, %z: memref<9x2x3x5xcomplex<f64>>, %a: complex<f64>) {
  kron.mode_product axis(2) ins(%x : memref<1x2x4x5xcomplex<f64>>) factor(%f [1, q, p, 3] : memref<2x3x4x1xcomplex<f64>>)
    outs(%y : memref<9x2x3x5xcomplex<f64>>) alpha(%a : complex<f64>) beta(%a : complex<f64>)
    addend(%z : memref<9x2x3x5xcomplex<f64>>) {conj_input, conj_factor}
  return
}

// Verify f32 intermediates of a bf16 chain.
// CHECK-LABEL: func @mode_product_mixed(
// CHECK-COUNT-2: kron.mode_product
func.func @mode_product_mixed(%x: tensor<8x4xbf16>, %f: tensor<8x8xbf16>, %g: tensor<4x4xbf16>, %e: tensor<8x4xf32>, %init: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %0 = kron.mode_product axis(0) ins(%x : tensor<8x4xbf16>) factor(%f [p, q] : tensor<8x8xbf16>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<8x4xf32>) factor(%g [q, p] : tensor<4x4xbf16>) outs(%init : tensor<8x4xbf16>) alpha(2.0 : f32) -> tensor<8x4xbf16>
  return %1 : tensor<8x4xbf16>
}

//===----------------------------------------------------------------------===//
// kron.fused
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @fused_tensor(
// CHECK:         kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8x4xf32>, tensor<8x8xf32>, tensor<4x4xf32>) outs(%{{.*}} : tensor<?x8x4xf32>) {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<?x8x4xf32>, %[[A:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<4x4xf32>, %[[OUT:.*]]: tensor<?x8x4xf32>):
// CHECK:           kron.mode_product
// CHECK:           kron.mode_product
// CHECK:           kron.yield %{{.*}} : tensor<?x8x4xf32>
// CHECK-NEXT:    } -> tensor<?x8x4xf32>
func.func @fused_tensor(%x: tensor<?x8x4xf32>, %f1: tensor<8x8xf32>, %f2: tensor<4x4xf32>, %init: tensor<?x8x4xf32>, %alpha: f32) -> tensor<?x8x4xf32> {
  %y = kron.fused ins(%x, %f1, %f2 : tensor<?x8x4xf32>, tensor<8x8xf32>, tensor<4x4xf32>) outs(%init : tensor<?x8x4xf32>) {
  ^bb0(%tx: tensor<?x8x4xf32>, %a: tensor<8x8xf32>, %b: tensor<4x4xf32>, %out: tensor<?x8x4xf32>):
    %c0 = arith.constant 0 : index
    %d = tensor.dim %tx, %c0 : tensor<?x8x4xf32>
    %e = tensor.empty(%d) : tensor<?x8x4xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x8x4xf32>) factor(%b [p, q] : tensor<4x4xf32>)
           outs(%e : tensor<?x8x4xf32>) -> tensor<?x8x4xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x8x4xf32>) factor(%a [p, q] : tensor<8x8xf32>)
           outs(%out : tensor<?x8x4xf32>) alpha(%alpha : f32) beta(1.0 : f32) addend(%tx : tensor<?x8x4xf32>) -> tensor<?x8x4xf32>
    kron.yield %2 : tensor<?x8x4xf32>
  } -> tensor<?x8x4xf32>
  return %y : tensor<?x8x4xf32>
}

// Verify that the body of a fused region on memrefs is on tensors, with the axes of the
// first input permuted.
// CHECK-LABEL: func @fused_memref(
// CHECK:         kron.fused ins(%{{.*}}, %{{.*}} : memref<4x8xf64, strided<[1, 4]>>, memref<8x2xf64>) outs(%{{.*}} : memref<2x4xf64>) attributes {input_permutation = array<i64: 1, 0>, plan = #kron.cpu_plan<vector_bits = 256>} {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<8x4xf64>, %{{.*}}: tensor<8x2xf64>, %{{.*}}: tensor<2x4xf64>):
func.func @fused_memref(%x: memref<4x8xf64, strided<[1, 4]>>, %f: memref<8x2xf64>, %y: memref<2x4xf64>) {
  kron.fused ins(%x, %f : memref<4x8xf64, strided<[1, 4]>>, memref<8x2xf64>) outs(%y : memref<2x4xf64>)
      attributes {input_permutation = array<i64: 1, 0>, plan = #kron.cpu_plan<vector_bits = 256>} {
  ^bb0(%tx: tensor<8x4xf64>, %tf: tensor<8x2xf64>, %out: tensor<2x4xf64>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<8x4xf64>) factor(%tf [p, q] : tensor<8x2xf64>)
           outs(%out : tensor<2x4xf64>) -> tensor<2x4xf64>
    kron.yield %1 : tensor<2x4xf64>
  }
  return
}

// Verify that an epilogue prints its clauses in one order, with the axes of the bias.
// CHECK-LABEL: func @epilogue(
// CHECK:         kron.epilogue ins(%{{.*}} : tensor<?x2x8x4xf32>) bias(%{{.*}} [1, 2, 3] : tensor<2x8x4xf16>) residual(%{{.*}} : tensor<?x2x8x4xf16>) outs(%{{.*}} : tensor<?x2x8x4xf16>) {activation = #kron.activation<gelu>, scale = 2.000000e+00 : f32} -> tensor<?x2x8x4xf16>
func.func @epilogue(%v: tensor<?x2x8x4xf32>, %b: tensor<2x8x4xf16>, %y: tensor<?x2x8x4xf16>) -> tensor<?x2x8x4xf16> {
  %0 = kron.epilogue ins(%v : tensor<?x2x8x4xf32>) bias(%b [1, 2, 3] : tensor<2x8x4xf16>) residual(%y : tensor<?x2x8x4xf16>)
         outs(%y : tensor<?x2x8x4xf16>) {activation = #kron.activation<gelu>, scale = 2.0 : f32} -> tensor<?x2x8x4xf16>
  return %0 : tensor<?x2x8x4xf16>
}

// Verify the same without any clause, in place.
// CHECK-LABEL: func @epilogue_memref(
// CHECK:         kron.epilogue ins(%[[Y:.*]] : memref<4x4xi32>) outs(%[[Y]] : memref<4x4xi32>) {activation = #kron.activation<relu>}
func.func @epilogue_memref(%y: memref<4x4xi32>) {
  kron.epilogue ins(%y : memref<4x4xi32>) outs(%y : memref<4x4xi32>) {activation = #kron.activation<relu>}
  return
}

// Verify an epilogue at the end of a fused region, behind a product of the accumulation type.
// CHECK-LABEL: func @fused_epilogue(
// CHECK:         %[[V:.*]] = kron.mode_product {{.*}} -> tensor<?x8xf32>
// CHECK:         %[[E:.*]] = kron.epilogue ins(%[[V]] : tensor<?x8xf32>) bias(%{{.*}} [1] : tensor<8xf16>)
// CHECK:         kron.yield %[[E]]
func.func @fused_epilogue(%x: memref<?x4xf16>, %f: memref<4x8xf16>, %b: memref<8xf16>, %y: memref<?x8xf16>) {
  kron.fused ins(%x, %f, %b : memref<?x4xf16>, memref<4x8xf16>, memref<8xf16>) outs(%y : memref<?x8xf16>) {
  ^bb0(%tx: tensor<?x4xf16>, %tf: tensor<4x8xf16>, %tb: tensor<8xf16>, %out: tensor<?x8xf16>):
    %c0 = arith.constant 0 : index
    %d = tensor.dim %out, %c0 : tensor<?x8xf16>
    %e = tensor.empty(%d) : tensor<?x8xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<?x4xf16>) factor(%tf [p, q] : tensor<4x8xf16>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %2 = kron.epilogue ins(%1 : tensor<?x8xf32>) bias(%tb [1] : tensor<8xf16>) outs(%out : tensor<?x8xf16>) -> tensor<?x8xf16>
    kron.yield %2 : tensor<?x8xf16>
  }
  return
}

//===----------------------------------------------------------------------===//
// 8 bits
//===----------------------------------------------------------------------===//

// Verify that a sparse product takes X and weights of 8 bits, each of its own type, or one of both.
// CHECK-LABEL: func @ksmm_float8(
// CHECK:         kron.ksmm ins(%{{.*}} : tensor<?x4xf8E4M3FN>) weights(%{{.*}} : tensor<1x4x4x1xf8E5M2>) outs(%{{.*}} : tensor<?x4xf32>) alpha(%{{.*}} : f32) -> tensor<?x4xf32>
// CHECK:         kron.ksmm ins(%{{.*}} : tensor<?x4xf32>) weights(%{{.*}} : tensor<1x4x4x1xf8E5M2>) outs(%{{.*}} : tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @ksmm_float8(%x: tensor<?x4xf8E4M3FN>, %k: tensor<1x4x4x1xf8E5M2>, %s: f32, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = kron.ksmm ins(%x : tensor<?x4xf8E4M3FN>) weights(%k : tensor<1x4x4x1xf8E5M2>) outs(%y : tensor<?x4xf32>) alpha(%s : f32) -> tensor<?x4xf32>
  %1 = kron.ksmm ins(%0 : tensor<?x4xf32>) weights(%k : tensor<1x4x4x1xf8E5M2>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// Verify that a mode product takes an input of 8 bits.
// CHECK-LABEL: func @mode_product_float8(
// CHECK:         kron.mode_product axis(1) ins(%{{.*}} : memref<?x4xf8E5M2>) factor(%{{.*}} [p, q] : memref<4x4xf16>) outs(%{{.*}} : memref<?x4xf32>)
// CHECK:         kron.mode_product axis(1) ins(%{{.*}} : memref<?x4xf16>) factor(%{{.*}} [p, q] : memref<4x4xf8E4M3FN>) outs(%{{.*}} : memref<?x4xf32>)
// CHECK:         kron.mode_product axis(1) ins(%{{.*}} : memref<?x4xf8E5M2>) factor(%{{.*}} [p, q] : memref<4x4xf8E4M3FN>) outs(%{{.*}} : memref<?x4xf32>)
func.func @mode_product_float8(%x: memref<?x4xf8E5M2>, %f: memref<4x4xf16>, %y: memref<?x4xf32>,
                               %h: memref<?x4xf16>, %g: memref<4x4xf8E4M3FN>) {
  kron.mode_product axis(1) ins(%x : memref<?x4xf8E5M2>) factor(%f [p, q] : memref<4x4xf16>) outs(%y : memref<?x4xf32>)
  kron.mode_product axis(1) ins(%h : memref<?x4xf16>) factor(%g [p, q] : memref<4x4xf8E4M3FN>) outs(%y : memref<?x4xf32>)
  kron.mode_product axis(1) ins(%x : memref<?x4xf8E5M2>) factor(%g [p, q] : memref<4x4xf8E4M3FN>) outs(%y : memref<?x4xf32>)
  return
}

// Verify the two results of kron.quantize, and that batch_first is not printed.
// CHECK-LABEL: func @quantize(
// CHECK:         %{{.*}}:2 = kron.quantize ins(%{{.*}} : tensor<?x4x8xf16>) outs(%{{.*}}, %{{.*}} : tensor<?x4x8xi8>, tensor<?xf32>) -> tensor<?x4x8xi8>, tensor<?xf32>
func.func @quantize(%v: tensor<?x4x8xf16>, %q: tensor<?x4x8xi8>, %s: tensor<?xf32>) -> (tensor<?x4x8xi8>, tensor<?xf32>) {
  %0:2 = kron.quantize ins(%v : tensor<?x4x8xf16>) outs(%q, %s : tensor<?x4x8xi8>, tensor<?xf32>) -> tensor<?x4x8xi8>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x4x8xi8>, tensor<?xf32>
}

// Verify a plan of its own.
// CHECK-LABEL: func @quantize_plan(
// CHECK:         kron.quantize ins(%{{.*}} : memref<?x64xf16>) outs(%{{.*}}, %{{.*}} : memref<?x64xi8>, memref<?xf32>) {plan = #kron.gpu_plan<kernel = quantize, threads = 256, ctas_per_sm = 4, row_threads = 8, kept_segments = 4>}
func.func @quantize_plan(%v: memref<?x64xf16>, %q: memref<?x64xi8>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x64xf16>) outs(%q, %s : memref<?x64xi8>, memref<?xf32>) {plan = #kron.gpu_plan<kernel = quantize, threads = 256, row_threads = 8, ctas_per_sm = 4, kept_segments = 4>}
  return
}

// Verify the same with the batch last, on memrefs, and with one scale for all.
// CHECK-LABEL: func @quantize_memref(
// CHECK:         kron.quantize ins(%{{.*}} : memref<8x?xf64>) outs(%{{.*}}, %{{.*}} : memref<8x?xf8E4M3FN>, memref<?xf64>) {layout = #kron.layout<batch_last>}
// CHECK:         kron.quantize ins(%{{.*}} : memref<8xf32>) outs(%{{.*}}, %{{.*}} : memref<8xf8E5M2>, memref<f32>)
func.func @quantize_memref(%v: memref<8x?xf64>, %q: memref<8x?xf8E4M3FN>, %s: memref<?xf64>,
                           %w: memref<8xf32>, %r: memref<8xf8E5M2>, %t: memref<f32>) {
  kron.quantize ins(%v : memref<8x?xf64>) outs(%q, %s : memref<8x?xf8E4M3FN>, memref<?xf64>) {layout = #kron.layout<batch_last>}
  kron.quantize ins(%w : memref<8xf32>) outs(%r, %t : memref<8xf8E5M2>, memref<f32>) {layout = #kron.layout<batch_first>}
  return
}

//===----------------------------------------------------------------------===//
// Generic form
//===----------------------------------------------------------------------===//

// Verify that transposes that are all N print as if they were absent.
// CHECK-LABEL: func @generic_form(
// CHECK:         kron.mkm ins(%{{.*}} : memref<2x4xf32>) factors(%{{.*}}, %{{.*}} : memref<2x2xf32>, memref<2x2xf32>) outs(%{{.*}} : memref<2x4xf32>) addend(%{{.*}} : memref<2x4xf32>)
func.func @generic_form(%x: memref<2x4xf32>, %f: memref<2x2xf32>, %y: memref<2x4xf32>) {
  "kron.mkm"(%x, %f, %f, %y, %y) <{operandSegmentSizes = array<i32: 1, 2, 0, 0, 1, 1>, trans_factors = [#kron.transpose<N>, #kron.transpose<N>]}>
    : (memref<2x4xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

//===----------------------------------------------------------------------===//
// kron.num_threads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @num_threads(
// CHECK-NEXT:    %[[THREADS:.*]] = kron.num_threads
// CHECK-NEXT:    return %[[THREADS]] : index
func.func @num_threads() -> index {
  %threads = kron.num_threads
  return %threads : index
}
