// RUN: kron-opt %s --canonicalize -split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Scaling
//===----------------------------------------------------------------------===//

// Verify that constant operands become attributes.
// CHECK-LABEL: func @constant_scale(
// CHECK-NOT:     arith.constant
// CHECK:         kron.mkm {{.*}} alpha(2.000000e+00 : f32) beta(3.000000e+00 : f32) ->
func.func @constant_scale(%x: tensor<2x4xf32>, %f: tensor<4x4xf32>, %init: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %y = kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : tensor<4x4xf32>) outs(%init : tensor<2x4xf32>)
         alpha(%two : f32) beta(%three : f32) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// Verify the same for complex numbers and for every other operation.
// CHECK-LABEL: func @constant_scale_of_other_ops(
// CHECK-NOT:     constant
// CHECK:         kron.kmm {{.*}} alpha(#complex.number<:f32 1.000000e+00, 2.000000e+00>{{.*}})
// CHECK:         kron.batched {{.*}} beta(5 : i32)
// CHECK:         kron.ksmm {{.*}} alpha(2.000000e+00 : f32)
// CHECK:         kron.mode_product {{.*}} alpha(2.000000e+00 : f32)
func.func @constant_scale_of_other_ops(%x: memref<4x4xcomplex<f32>>, %i: memref<4x4xi32>, %h: memref<4x4xf16>, %k: memref<1x4x4x1xf16>) {
  %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %five = arith.constant 5 : i32
  %two = arith.constant 2.0 : f32
  kron.kmm ins(%x : memref<4x4xcomplex<f32>>) factors(%x : memref<4x4xcomplex<f32>>) outs(%x : memref<4x4xcomplex<f32>>) alpha(%c : complex<f32>)
  kron.batched ins(%i : memref<4x4xi32>) factors(%i : memref<4x4xi32>) outs(%i : memref<4x4xi32>) beta(%five : i32)
  kron.ksmm ins(%h : memref<4x4xf16>) weights(%k : memref<1x4x4x1xf16>) outs(%h : memref<4x4xf16>) alpha(%two : f32)
  kron.mode_product axis(0) ins(%h : memref<4x4xf16>) factor(%h [p, q] : memref<4x4xf16>) outs(%h : memref<4x4xf16>) alpha(%two : f32)
  return
}

// -----

// Verify that a run-time scalar stays an operand.
// CHECK-LABEL: func @runtime_scale(
// CHECK:         kron.mkm {{.*}} alpha(%{{.*}} : f32) beta(%{{.*}} : f32)
func.func @runtime_scale(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<2x4xf32>, %a: f32) {
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<2x4xf32>) alpha(%a : f32) beta(%a : f32)
  return
}

// -----

// Verify that alpha 1, beta 0 and scale 1 disappear, and with beta the addend.
// CHECK-LABEL: func @default_scale(
// CHECK:         kron.mkm ins(%{{.*}}) factors(%{{.*}}) outs(%{{.*}} : memref<2x4xf32>){{$}}
// CHECK-NEXT:    kron.ksmm ins(%{{.*}}) weights(%{{.*}}) outs(%{{.*}} : memref<2x4xf32>){{$}}
func.func @default_scale(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %k: memref<1x4x4x1xf32>, %y: memref<2x4xf32>, %z: memref<2x4xf32>) {
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<2x4xf32>) alpha(1.0 : f32) beta(0.0 : f32) addend(%z : memref<2x4xf32>)
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%y : memref<2x4xf32>) {scale = 1.0 : f32}
  return
}

// -----

// Verify that an addend that is the destination disappears, another one stays.
// CHECK-LABEL: func @addend(
// CHECK:         kron.mkm {{.*}} outs(%{{.*}} : memref<2x4xf32>) beta(2.000000e+00 : f32){{$}}
// CHECK-NEXT:    kron.mkm {{.*}} beta(2.000000e+00 : f32) addend(%{{.*}} : memref<2x4xf32>)
func.func @addend(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<2x4xf32>, %z: memref<2x4xf32>) {
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<2x4xf32>) beta(2.0 : f32) addend(%y : memref<2x4xf32>)
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<2x4xf32>) beta(2.0 : f32) addend(%z : memref<2x4xf32>)
  return
}

// -----

// Verify that a destination that is not read is not filled.
// CHECK-LABEL: func @unread_fill(
// CHECK-NOT:     linalg.fill
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x4xf32>
// CHECK-NEXT:    kron.mkm {{.*}} outs(%[[EMPTY]] : tensor<?x4xf32>)
func.func @unread_fill(%x: tensor<?x4xf32>, %f: tensor<4x4xf32>, %m: index) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m) : tensor<?x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = kron.mkm ins(%x : tensor<?x4xf32>) factors(%f : tensor<4x4xf32>) outs(%fill : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// Verify the same for a constant.
// CHECK-LABEL: func @unread_constant(
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<2x4xf32>
// CHECK-NEXT:    kron.mkm {{.*}} outs(%[[EMPTY]] : tensor<2x4xf32>)
func.func @unread_constant(%x: tensor<2x4xf32>, %f: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %y = kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : tensor<4x4xf32>) outs(%zero : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// Verify that a destination that beta reads stays filled.
// CHECK-LABEL: func @read_fill(
// CHECK:         %[[FILL:.*]] = linalg.fill
// CHECK:         kron.mkm {{.*}} outs(%[[FILL]] : tensor<2x4xf32>) beta(%{{.*}} : f32)
func.func @read_fill(%x: tensor<2x4xf32>, %f: tensor<4x4xf32>, %b: f32) -> tensor<2x4xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<2x4xf32>
  %fill = linalg.fill ins(%one : f32) outs(%empty : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : tensor<4x4xf32>) outs(%fill : tensor<2x4xf32>) beta(%b : f32) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// alpha = 0
//===----------------------------------------------------------------------===//

// -----

// Verify that alpha = beta = 0 fills with zeros, on tensors and memrefs.
// CHECK-LABEL: func @zero_alpha(
// CHECK-SAME:    %{{.*}}: tensor<2x4xbf16>, %{{.*}}: tensor<4x4xbf16>, %[[INIT:.*]]: tensor<2x4xbf16>, %{{.*}}: memref<2x4xcomplex<f64>>, %{{.*}}: memref<4x4xcomplex<f64>>, %[[Y:.*]]: memref<2x4xcomplex<f64>>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : bf16
// CHECK-DAG:     %[[COMPLEX:.*]] = complex.constant [0.000000e+00, 0.000000e+00] : complex<f64>
// CHECK-DAG:     %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : bf16) outs(%[[INIT]] : tensor<2x4xbf16>)
// CHECK-DAG:     linalg.fill ins(%[[COMPLEX]] : complex<f64>) outs(%[[Y]] : memref<2x4xcomplex<f64>>)
// CHECK:         return %[[FILL]]
func.func @zero_alpha(%x: tensor<2x4xbf16>, %f: tensor<4x4xbf16>, %init: tensor<2x4xbf16>, %cx: memref<2x4xcomplex<f64>>, %cf: memref<4x4xcomplex<f64>>, %cy: memref<2x4xcomplex<f64>>) -> tensor<2x4xbf16> {
  %0 = kron.mkm ins(%x : tensor<2x4xbf16>) factors(%f : tensor<4x4xbf16>) outs(%init : tensor<2x4xbf16>) alpha(0.0 : f32) -> tensor<2x4xbf16>
  kron.mkm ins(%cx : memref<2x4xcomplex<f64>>) factors(%cf : memref<4x4xcomplex<f64>>) outs(%cy : memref<2x4xcomplex<f64>>) alpha(#complex.number<:f64 0.0, 0.0> : complex<f64>)
  return %0 : tensor<2x4xbf16>
}

// -----

// Verify that alpha = 0, beta = 1 gives Z, cast if its type says more.
// CHECK-LABEL: func @zero_alpha_one_beta(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?xf32>, %{{.*}}: tensor<4x4xf32>, %[[INIT:.*]]: tensor<4x?xf32>, %[[Z:.*]]: tensor<4x2xf32>
// CHECK-NEXT:    %[[CAST:.*]] = tensor.cast %[[Z]] : tensor<4x2xf32> to tensor<4x?xf32>
// CHECK-NEXT:    return %[[INIT]], %[[CAST]]
func.func @zero_alpha_one_beta(%x: tensor<4x?xf32>, %f: tensor<4x4xf32>, %init: tensor<4x?xf32>, %z: tensor<4x2xf32>, %m: memref<4x4xf32>) -> (tensor<4x?xf32>, tensor<4x?xf32>) {
  %0 = kron.kmm ins(%x : tensor<4x?xf32>) factors(%f : tensor<4x4xf32>) outs(%init : tensor<4x?xf32>) alpha(0.0 : f32) beta(1.0 : f32) -> tensor<4x?xf32>
  %1 = kron.kmm ins(%x : tensor<4x?xf32>) factors(%f : tensor<4x4xf32>) outs(%init : tensor<4x?xf32>) alpha(0.0 : f32) beta(1.0 : f32) addend(%z : tensor<4x2xf32>) -> tensor<4x?xf32>
  kron.kmm ins(%m : memref<4x4xf32>) factors(%m : memref<4x4xf32>) outs(%m : memref<4x4xf32>) alpha(0.0 : f32) beta(1.0 : f32)
  return %0, %1 : tensor<4x?xf32>, tensor<4x?xf32>
}

// -----

// Verify that Z scaled or copied, and an epilogue, are left to the lowerings.
// CHECK-LABEL: func @zero_alpha_left_alone(
// CHECK-COUNT-2: kron.mkm {{.*}} alpha(0.000000e+00 : f32)
// CHECK:         kron.ksmm {{.*}} alpha(0.000000e+00 : f32)
func.func @zero_alpha_left_alone(%x: memref<4x4xf32>, %k: memref<1x4x4x1xf32>, %b: memref<4xf32>, %z: memref<4x4xf32>) {
  kron.mkm ins(%x : memref<4x4xf32>) factors(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) alpha(0.0 : f32) beta(2.0 : f32)
  kron.mkm ins(%x : memref<4x4xf32>) factors(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) alpha(0.0 : f32) beta(1.0 : f32) addend(%z : memref<4x4xf32>)
  kron.ksmm ins(%x : memref<4x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<4x4xf32>) alpha(0.0 : f32) bias(%b : memref<4xf32>)
  return
}

//===----------------------------------------------------------------------===//
// op()
//===----------------------------------------------------------------------===//

// -----

// Verify that C is T on real types.
// CHECK-LABEL: func @conjugate_real(
// CHECK:         kron.mkm ins(T(%{{.*}}) : memref<4x2xf32>) factors(T(%{{.*}}) : memref<4x4xf32>)
// CHECK-NEXT:    kron.ksmm ins(T(%{{.*}}) : memref<4x2xf32>) weights(T(%{{.*}}) : memref<1x4x4x1xf32>)
// CHECK-NEXT:    kron.mode_product {{.*}} outs(%{{.*}} : memref<2x4xf32>){{$}}
func.func @conjugate_real(%x: memref<4x2xf32>, %f: memref<4x4xf32>, %k: memref<1x4x4x1xf32>, %y: memref<2x4xf32>) {
  kron.mkm ins(C(%x) : memref<4x2xf32>) factors(C(%f) : memref<4x4xf32>) outs(%y : memref<2x4xf32>)
  kron.ksmm ins(C(%x) : memref<4x2xf32>) weights(C(%k) : memref<1x4x4x1xf32>) outs(%y : memref<2x4xf32>)
  kron.mode_product axis(1) ins(%y : memref<2x4xf32>) factor(%f [p, q] : memref<4x4xf32>) outs(%y : memref<2x4xf32>) {conj_input, conj_factor}
  return
}

// -----

// Verify that C stays on complex types.
// CHECK-LABEL: func @conjugate_complex(
// CHECK:         kron.mkm ins(C(%{{.*}}) : memref<4x2xcomplex<f32>>) factors(C(%{{.*}}) : memref<4x4xcomplex<f32>>)
// CHECK-NEXT:    kron.mode_product {{.*}} {conj_factor, conj_input}
func.func @conjugate_complex(%x: memref<4x2xcomplex<f32>>, %f: memref<4x4xcomplex<f32>>, %y: memref<2x4xcomplex<f32>>) {
  kron.mkm ins(C(%x) : memref<4x2xcomplex<f32>>) factors(C(%f) : memref<4x4xcomplex<f32>>) outs(%y : memref<2x4xcomplex<f32>>)
  kron.mode_product axis(1) ins(%y : memref<2x4xcomplex<f32>>) factor(%f [p, q] : memref<4x4xcomplex<f32>>) outs(%y : memref<2x4xcomplex<f32>>) {conj_input, conj_factor}
  return
}

// -----

// Verify that transposes of tensors become op(), and undo it where it is T.
// CHECK-LABEL: func @transposed_operands(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x2xf32>, %[[F:.*]]: tensor<5x2xf32>, %[[G:.*]]: tensor<2x2xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         kron.mkm ins(T(%[[X]]) : tensor<3x4x2xf32>) factors(T(%[[F]]), %[[G]] : tensor<5x2xf32>, tensor<2x2xf32>)
func.func @transposed_operands(%x: tensor<3x4x2xf32>, %f: tensor<5x2xf32>, %g: tensor<2x2xf32>, %init: tensor<3x2x10xf32>) -> tensor<3x2x10xf32> {
  %ex = tensor.empty() : tensor<3x2x4xf32>
  %tx = linalg.transpose ins(%x : tensor<3x4x2xf32>) outs(%ex : tensor<3x2x4xf32>) permutation = [0, 2, 1]
  %ef = tensor.empty() : tensor<2x5xf32>
  %tf = linalg.transpose ins(%f : tensor<5x2xf32>) outs(%ef : tensor<2x5xf32>) permutation = [1, 0]
  %eg = tensor.empty() : tensor<2x2xf32>
  %tg = linalg.transpose ins(%g : tensor<2x2xf32>) outs(%eg : tensor<2x2xf32>) permutation = [1, 0]
  %y = kron.mkm ins(%tx : tensor<3x2x4xf32>) factors(%tf, T(%tg) : tensor<2x5xf32>, tensor<2x2xf32>) outs(%init : tensor<3x2x10xf32>) -> tensor<3x2x10xf32>
  return %y : tensor<3x2x10xf32>
}

// -----

// Verify that op() of kron.batched reverses all of its axes, that of kron.ksmm's
// weights the middle two, and that factor_dims takes any permutation.
// CHECK-LABEL: func @transposed_operands_of_other_ops(
// CHECK-NOT:     linalg.transpose
// CHECK:         kron.batched ins(T(%{{.*}}) : tensor<9x4x3x2xf32>)
// CHECK:         kron.ksmm ins(T(%{{.*}}) : tensor<6x9xf32>) weights(T(%{{.*}}) : tensor<1x3x4x2xf32>)
// CHECK:         kron.mode_product {{.*}} factor(%{{.*}} [p, 0, q] : tensor<6x9x5xf32>)
func.func @transposed_operands_of_other_ops(%x: tensor<9x4x3x2xf32>, %a: tensor<2x2xf32>, %b: tensor<3x3xf32>, %c: tensor<4x4xf32>, %init: tensor<9x2x3x4xf32>,
    %s: tensor<6x9xf32>, %k: tensor<1x3x4x2xf32>, %kinit: tensor<9x8xf32>, %m: tensor<9x6xf32>, %f: tensor<6x9x5xf32>, %minit: tensor<9x5xf32>) -> (tensor<9x2x3x4xf32>, tensor<9x8xf32>, tensor<9x5xf32>) {
  %ex = tensor.empty() : tensor<9x2x3x4xf32>
  %tx = linalg.transpose ins(%x : tensor<9x4x3x2xf32>) outs(%ex : tensor<9x2x3x4xf32>) permutation = [0, 3, 2, 1]
  %0 = kron.batched ins(%tx : tensor<9x2x3x4xf32>) factors(%a, %b, %c : tensor<2x2xf32>, tensor<3x3xf32>, tensor<4x4xf32>) outs(%init : tensor<9x2x3x4xf32>) -> tensor<9x2x3x4xf32>
  %es = tensor.empty() : tensor<9x6xf32>
  %ts = linalg.transpose ins(%s : tensor<6x9xf32>) outs(%es : tensor<9x6xf32>) permutation = [1, 0]
  %ek = tensor.empty() : tensor<1x4x3x2xf32>
  %tk = linalg.transpose ins(%k : tensor<1x3x4x2xf32>) outs(%ek : tensor<1x4x3x2xf32>) permutation = [0, 2, 1, 3]
  %1 = kron.ksmm ins(%ts : tensor<9x6xf32>) weights(%tk : tensor<1x4x3x2xf32>) outs(%kinit : tensor<9x8xf32>) -> tensor<9x8xf32>
  %ef = tensor.empty() : tensor<5x6x9xf32>
  %tf = linalg.transpose ins(%f : tensor<6x9x5xf32>) outs(%ef : tensor<5x6x9xf32>) permutation = [2, 0, 1]
  %2 = kron.mode_product axis(1) ins(%m : tensor<9x6xf32>) factor(%tf [q, p, 0] : tensor<5x6x9xf32>) outs(%minit : tensor<9x5xf32>) -> tensor<9x5xf32>
  return %0, %1, %2 : tensor<9x2x3x4xf32>, tensor<9x8xf32>, tensor<9x5xf32>
}

// -----

// Verify that transposes that op() cannot say are left alone: one that moves the
// batch, one under C, which would only conjugate.
// CHECK-LABEL: func @transposes_left_alone(
// CHECK-COUNT-2: linalg.transpose
// CHECK:         kron.mkm ins(%transposed{{.*}} : tensor<2x3x4xcomplex<f32>>) factors(C(%transposed{{.*}}) : tensor<4x4xcomplex<f32>>)
func.func @transposes_left_alone(%x: tensor<3x2x4xcomplex<f32>>, %f: tensor<4x4xcomplex<f32>>, %init: tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xcomplex<f32>> {
  %ex = tensor.empty() : tensor<2x3x4xcomplex<f32>>
  %tx = linalg.transpose ins(%x : tensor<3x2x4xcomplex<f32>>) outs(%ex : tensor<2x3x4xcomplex<f32>>) permutation = [1, 0, 2]
  %ef = tensor.empty() : tensor<4x4xcomplex<f32>>
  %tf = linalg.transpose ins(%f : tensor<4x4xcomplex<f32>>) outs(%ef : tensor<4x4xcomplex<f32>>) permutation = [1, 0]
  %y = kron.mkm ins(%tx : tensor<2x3x4xcomplex<f32>>) factors(C(%tf) : tensor<4x4xcomplex<f32>>) outs(%init : tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xcomplex<f32>>
  return %y : tensor<2x3x4xcomplex<f32>>
}

//===----------------------------------------------------------------------===//
// Identity factors
//===----------------------------------------------------------------------===//

// -----

// Verify that a product with identities alone is its input.
// CHECK-LABEL: func @all_identities(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>, %{{.*}}: tensor<?x4xf32>, %[[C:.*]]: tensor<3x2xcomplex<f32>>
// CHECK-NEXT:    return %[[X]], %[[C]]
func.func @all_identities(%x: tensor<?x4xf32>, %init: tensor<?x4xf32>, %c: tensor<3x2xcomplex<f32>>) -> (tensor<?x4xf32>, tensor<3x2xcomplex<f32>>) {
  %i2 = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %0 = kron.mkm ins(%x : tensor<?x4xf32>) factors(%i2, T(%i2) : tensor<2x2xf32>, tensor<2x2xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %i1 = arith.constant dense<(1.0, 0.0)> : tensor<1x1xcomplex<f32>>
  %ic = arith.constant dense<[[(1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %i3 = arith.constant dense<[[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (0.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f32>>
  %1 = kron.batched ins(%c : tensor<3x2xcomplex<f32>>) factors(%i3, C(%ic) : tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>) outs(%c : tensor<3x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
  return %0, %1 : tensor<?x4xf32>, tensor<3x2xcomplex<f32>>
}

// -----

// Verify that scaling and a transposed input keep the product, and that neither a
// splat nor a matrix with an imaginary part is an identity.
// CHECK-LABEL: func @identities_left_alone(
// CHECK-COUNT-5: kron.mkm
func.func @identities_left_alone(%x: tensor<2x2xf32>, %c: tensor<2x2xcomplex<f32>>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xcomplex<f32>>) {
  %i = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %0 = kron.mkm ins(%x : tensor<2x2xf32>) factors(%i : tensor<2x2xf32>) outs(%x : tensor<2x2xf32>) alpha(2.0 : f32) -> tensor<2x2xf32>
  %1 = kron.mkm ins(%x : tensor<2x2xf32>) factors(%i : tensor<2x2xf32>) outs(%x : tensor<2x2xf32>) beta(1.0 : f32) -> tensor<2x2xf32>
  %2 = kron.mkm ins(T(%x) : tensor<2x2xf32>) factors(%i : tensor<2x2xf32>) outs(%x : tensor<2x2xf32>) -> tensor<2x2xf32>
  %ones = arith.constant dense<1.0> : tensor<2x2xf32>
  %3 = kron.mkm ins(%x : tensor<2x2xf32>) factors(%ones : tensor<2x2xf32>) outs(%x : tensor<2x2xf32>) -> tensor<2x2xf32>
  %j = arith.constant dense<[[(1.0, 1.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %4 = kron.mkm ins(%c : tensor<2x2xcomplex<f32>>) factors(%j : tensor<2x2xcomplex<f32>>) outs(%c : tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xcomplex<f32>>
}

// -----

// Verify that adjacent identities become one.
// CHECK-LABEL: func @adjacent_identities(
// CHECK-SAME:    %{{.*}}: tensor<2x18xi32>, %[[F:.*]]: tensor<3x3xi32>
// CHECK:         %[[I:.*]] = arith.constant dense<{{\[}}[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]> : tensor<6x6xi32>
// CHECK:         kron.mkm {{.*}} factors(T(%[[F]]), %[[I]] : tensor<3x3xi32>, tensor<6x6xi32>)
func.func @adjacent_identities(%x: tensor<2x18xi32>, %f: tensor<3x3xi32>, %init: tensor<2x18xi32>) -> tensor<2x18xi32> {
  %i2 = arith.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  %i3 = arith.constant dense<[[1, 0, 0], [0, 1, 0], [0, 0, 1]]> : tensor<3x3xi32>
  %y = kron.mkm ins(%x : tensor<2x18xi32>) factors(T(%f), %i2, T(%i3) : tensor<3x3xi32>, tensor<2x2xi32>, tensor<3x3xi32>) outs(%init : tensor<2x18xi32>) -> tensor<2x18xi32>
  return %y : tensor<2x18xi32>
}

// -----

// Verify that identities with a factor between them, and the axes of
// kron.batched, stay.
// CHECK-LABEL: func @separate_identities(
// CHECK:         kron.kmm {{.*}} factors(%[[I:.*]], %{{.*}}, %[[I]] :
// CHECK:         kron.batched {{.*}} factors(%[[I]], %[[I]], %{{.*}} :
func.func @separate_identities(%x: tensor<12x2xf64>, %f: tensor<3x3xf64>, %b: tensor<2x2x3xf64>) -> (tensor<12x2xf64>, tensor<2x2x3xf64>) {
  %i = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %0 = kron.kmm ins(%x : tensor<12x2xf64>) factors(%i, %f, %i : tensor<2x2xf64>, tensor<3x3xf64>, tensor<2x2xf64>) outs(%x : tensor<12x2xf64>) -> tensor<12x2xf64>
  %1 = kron.batched ins(%b : tensor<2x2x3xf64>) factors(%i, %i, %f : tensor<2x2xf64>, tensor<2x2xf64>, tensor<3x3xf64>) outs(%b : tensor<2x2x3xf64>) -> tensor<2x2x3xf64>
  return %0, %1 : tensor<12x2xf64>, tensor<2x2x3xf64>
}

//===----------------------------------------------------------------------===//
// 1x1 factors
//===----------------------------------------------------------------------===//

// -----

// Verify that constant 1x1 factors become part of alpha, op() and widening
// included.
// CHECK-LABEL: func @scalar_factors(
// CHECK:         kron.mkm {{.*}} factors(%{{.*}} : tensor<4x4xf16>) {{.*}} alpha(6.000000e+00 : f32)
// CHECK:         kron.kmm {{.*}} factors(T(%{{.*}}) : tensor<4x4xcomplex<f32>>) {{.*}} alpha(#complex.number<:f32 2.000000e+00, 1.000000e+00>{{.*}})
// CHECK:         kron.mkm {{.*}} factors(%{{.*}} : tensor<4x4xi32>) {{.*}} alpha(-2147483648 : i32)
func.func @scalar_factors(%x: tensor<4x4xf16>, %c: tensor<4x4xcomplex<f32>>, %i: tensor<4x4xi32>) -> (tensor<4x4xf16>, tensor<4x4xcomplex<f32>>, tensor<4x4xi32>) {
  %three = arith.constant dense<3.0> : tensor<1x1xf16>
  %0 = kron.mkm ins(%x : tensor<4x4xf16>) factors(%three, %x : tensor<1x1xf16>, tensor<4x4xf16>) outs(%x : tensor<4x4xf16>) alpha(2.0 : f32) -> tensor<4x4xf16>
  %z = arith.constant dense<(1.0, 2.0)> : tensor<1x1xcomplex<f32>>
  %1 = kron.kmm ins(%c : tensor<4x4xcomplex<f32>>) factors(T(%c), C(%z) : tensor<4x4xcomplex<f32>>, tensor<1x1xcomplex<f32>>) outs(%c : tensor<4x4xcomplex<f32>>) alpha(#complex.number<:f32 0.0, 1.0> : complex<f32>) -> tensor<4x4xcomplex<f32>>
  %half = arith.constant dense<1073741824> : tensor<1x1xi32>
  %2 = kron.mkm ins(%i : tensor<4x4xi32>) factors(%half, %i : tensor<1x1xi32>, tensor<4x4xi32>) outs(%i : tensor<4x4xi32>) alpha(2 : i32) -> tensor<4x4xi32>
  return %0, %1, %2 : tensor<4x4xf16>, tensor<4x4xcomplex<f32>>, tensor<4x4xi32>
}

// -----

// Verify that 1x1 factors stay where they are 0 (which spreads NaNs), not constant,
// alone, or where alpha is not known; a 1 goes in any case.
// CHECK-LABEL: func @scalar_factors_left_alone(
// CHECK:         kron.mkm {{.*}} factors(%{{.*}}, %{{.*}} : tensor<1x1xf32>, tensor<4x4xf32>)
// CHECK:         kron.mkm {{.*}} factors(%{{.*}}, %{{.*}} : tensor<1x1xf32>, tensor<4x4xf32>)
// CHECK:         kron.mkm {{.*}} factors(%{{.*}} : tensor<1x1xf32>)
// CHECK:         kron.mkm {{.*}} factors(%{{.*}}, %{{.*}} : tensor<1x1xf32>, tensor<4x4xf32>)
// CHECK:         kron.mkm {{.*}} factors(%{{.*}} : tensor<4x4xf32>)
func.func @scalar_factors_left_alone(%x: tensor<4x4xf32>, %s: tensor<1x1xf32>, %v: tensor<4x1xf32>, %a: f32) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %two = arith.constant dense<2.0> : tensor<1x1xf32>
  %0 = kron.mkm ins(%x : tensor<4x4xf32>) factors(%zero, %x : tensor<1x1xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = kron.mkm ins(%x : tensor<4x4xf32>) factors(%s, %x : tensor<1x1xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = kron.mkm ins(%v : tensor<4x1xf32>) factors(%two : tensor<1x1xf32>) outs(%v : tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = kron.mkm ins(%x : tensor<4x4xf32>) factors(%two, %x : tensor<1x1xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) alpha(%a : f32) -> tensor<4x4xf32>
  %4 = kron.mkm ins(%x : tensor<4x4xf32>) factors(%one, %x : tensor<1x1xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) alpha(%a : f32) -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

//===----------------------------------------------------------------------===//
// Two products in a row
//===----------------------------------------------------------------------===//

// -----

// Verify that the factors of two products merge axis by axis, stored as the inner
// ones are: C(F)*G is C(F*conj(G)).
// CHECK-LABEL: func @merge_products(
// CHECK-SAME:    %[[X:.*]]: tensor<6x?xcomplex<f32>>, %[[F1:.*]]: tensor<2x4xcomplex<f32>>, %[[F2:.*]]: tensor<3x3xcomplex<f32>>, %[[G1:.*]]: tensor<4x2xcomplex<f32>>, %[[G2:.*]]: tensor<3x3xcomplex<f32>>, %[[INIT:.*]]: tensor<?x6xcomplex<f32>>
// CHECK:         %[[FG1:.*]] = kron.mode_product axis(1) ins(%[[F1]] : tensor<2x4xcomplex<f32>>) factor(%[[G1]] [p, q] : tensor<4x2xcomplex<f32>>) outs(%{{.*}} : tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
// CHECK:         %[[FG2:.*]] = kron.mode_product axis(0) ins(%[[F2]] : tensor<3x3xcomplex<f32>>) factor(%[[G2]] [q, p] : tensor<3x3xcomplex<f32>>) outs(%{{.*}} : tensor<3x3xcomplex<f32>>) {conj_factor} -> tensor<3x3xcomplex<f32>>
// CHECK:         kron.mkm ins(T(%[[X]]) : tensor<6x?xcomplex<f32>>) factors(%[[FG1]], C(%[[FG2]]) : tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>) outs(%[[INIT]] : tensor<?x6xcomplex<f32>>) beta(#complex.number
func.func @merge_products(%x: tensor<6x?xcomplex<f32>>, %f1: tensor<2x4xcomplex<f32>>, %f2: tensor<3x3xcomplex<f32>>, %g1: tensor<4x2xcomplex<f32>>, %g2: tensor<3x3xcomplex<f32>>, %init: tensor<?x6xcomplex<f32>>, %m: index) -> tensor<?x6xcomplex<f32>> {
  %e = tensor.empty(%m) : tensor<?x12xcomplex<f32>>
  %0 = kron.mkm ins(T(%x) : tensor<6x?xcomplex<f32>>) factors(%f1, C(%f2) : tensor<2x4xcomplex<f32>>, tensor<3x3xcomplex<f32>>) outs(%e : tensor<?x12xcomplex<f32>>) -> tensor<?x12xcomplex<f32>>
  %1 = kron.mkm ins(%0 : tensor<?x12xcomplex<f32>>) factors(%g1, T(%g2) : tensor<4x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>) outs(%init : tensor<?x6xcomplex<f32>>) beta(#complex.number<:f32 1.0, 0.0> : complex<f32>) -> tensor<?x6xcomplex<f32>>
  return %1 : tensor<?x6xcomplex<f32>>
}

// -----

// Verify the same for kron.kmm and kron.batched, which contract columns.
// CHECK-LABEL: func @merge_other_products(
// CHECK-SAME:    %[[F:.*]]: tensor<8x8xf64>, %[[G:.*]]: tensor<8x8xf64>
// CHECK:         %[[FG:.*]] = kron.mode_product axis(0) ins(%[[F]] {{.*}} factor(%[[G]] [q, p] : tensor<8x8xf64>)
// CHECK:         kron.kmm {{.*}} factors(%[[FG]] : tensor<8x8xf64>)
// CHECK-NOT:     kron.kmm
// CHECK:         %[[FTG:.*]] = kron.mode_product axis(1) ins(%[[F]] {{.*}} factor(%[[G]] [p, q] : tensor<8x8xf64>)
// CHECK:         kron.batched {{.*}} factors(T(%[[FTG]]) : tensor<8x8xf64>)
// CHECK-NOT:     kron.batched
func.func @merge_other_products(%f: tensor<8x8xf64>, %g: tensor<8x8xf64>, %x: tensor<8x99xf64>, %b: tensor<99x8xf64>) -> (tensor<8x99xf64>, tensor<99x8xf64>) {
  %0 = kron.kmm ins(%x : tensor<8x99xf64>) factors(%f : tensor<8x8xf64>) outs(%x : tensor<8x99xf64>) -> tensor<8x99xf64>
  %1 = kron.kmm ins(%0 : tensor<8x99xf64>) factors(%g : tensor<8x8xf64>) outs(%x : tensor<8x99xf64>) -> tensor<8x99xf64>
  %2 = kron.batched ins(%b : tensor<99x8xf64>) factors(T(%f) : tensor<8x8xf64>) outs(%b : tensor<99x8xf64>) -> tensor<99x8xf64>
  %3 = kron.batched ins(%2 : tensor<99x8xf64>) factors(T(%g) : tensor<8x8xf64>) outs(%b : tensor<99x8xf64>) -> tensor<99x8xf64>
  return %1, %3 : tensor<8x99xf64>, tensor<99x8xf64>
}

// -----

// Verify that products stay apart where one takes more multiply-adds (a low-rank
// factor in two parts), where few rows do not pay for it, and where the factors do
// not meet on their axes.
// CHECK-LABEL: func @merge_products_left_alone(
// CHECK-COUNT-6: kron.mkm
// CHECK:         return
func.func @merge_products_left_alone(%x: tensor<?x16xf32>, %u: tensor<16x2xf32>, %v: tensor<2x16xf32>, %init: tensor<?x16xf32>, %e: tensor<?x2xf32>,
    %s: tensor<2x16xf32>, %f: tensor<16x16xf32>, %g: tensor<2x2xf32>, %h: tensor<8x8xf32>) -> (tensor<?x16xf32>, tensor<2x16xf32>, tensor<?x16xf32>) {
  %0 = kron.mkm ins(%x : tensor<?x16xf32>) factors(%u : tensor<16x2xf32>) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = kron.mkm ins(%0 : tensor<?x2xf32>) factors(%v : tensor<2x16xf32>) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %2 = kron.mkm ins(%s : tensor<2x16xf32>) factors(%f : tensor<16x16xf32>) outs(%s : tensor<2x16xf32>) -> tensor<2x16xf32>
  %3 = kron.mkm ins(%2 : tensor<2x16xf32>) factors(%f : tensor<16x16xf32>) outs(%s : tensor<2x16xf32>) -> tensor<2x16xf32>
  %4 = kron.mkm ins(%x : tensor<?x16xf32>) factors(%g, %h : tensor<2x2xf32>, tensor<8x8xf32>) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %5 = kron.mkm ins(%4 : tensor<?x16xf32>) factors(%h, %g : tensor<8x8xf32>, tensor<2x2xf32>) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %1, %3, %5 : tensor<?x16xf32>, tensor<2x16xf32>, tensor<?x16xf32>
}

//===----------------------------------------------------------------------===//
// kron.mode_product
//===----------------------------------------------------------------------===//

// -----

// Verify that an identity factor gives the input.
// CHECK-LABEL: func @identity_mode_product(
// CHECK-SAME:    %[[X:.*]]: tensor<9x2xf32>
// CHECK-NEXT:    %[[CAST:.*]] = tensor.cast %[[X]] : tensor<9x2xf32> to tensor<?x2xf32>
// CHECK-NEXT:    return %[[CAST]]
func.func @identity_mode_product(%x: tensor<9x2xf32>, %init: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %i = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %y = kron.mode_product axis(1) ins(%x : tensor<9x2xf32>) factor(%i [q, p] : tensor<2x2xf32>) outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// Verify that an identity stays where it conjugates, stretches or converts.
// CHECK-LABEL: func @identity_mode_product_left_alone(
// CHECK-COUNT-4: kron.mode_product
func.func @identity_mode_product_left_alone(%c: tensor<9x1xcomplex<f32>>, %x: tensor<1x1xf32>, %init: tensor<9x1xf32>, %dynamic: tensor<?x1xf32>, %h: tensor<9x1xf16>) -> (tensor<9x1xcomplex<f32>>, tensor<9x1xf32>, tensor<?x1xf32>, tensor<9x1xf32>) {
  %ic = arith.constant dense<(1.0, 0.0)> : tensor<1x1xcomplex<f32>>
  %i = arith.constant dense<1.0> : tensor<1x1xf32>
  %ih = arith.constant dense<1.0> : tensor<1x1xf16>
  %0 = kron.mode_product axis(1) ins(%c : tensor<9x1xcomplex<f32>>) factor(%ic [p, q] : tensor<1x1xcomplex<f32>>) outs(%c : tensor<9x1xcomplex<f32>>) {conj_input} -> tensor<9x1xcomplex<f32>>
  %1 = kron.mode_product axis(1) ins(%x : tensor<1x1xf32>) factor(%i [p, q] : tensor<1x1xf32>) outs(%init : tensor<9x1xf32>) -> tensor<9x1xf32>
  %2 = kron.mode_product axis(1) ins(%x : tensor<1x1xf32>) factor(%i [p, q] : tensor<1x1xf32>) outs(%dynamic : tensor<?x1xf32>) -> tensor<?x1xf32>
  %3 = kron.mode_product axis(1) ins(%h : tensor<9x1xf16>) factor(%ih [p, q] : tensor<1x1xf16>) outs(%init : tensor<9x1xf32>) -> tensor<9x1xf32>
  return %0, %1, %2, %3 : tensor<9x1xcomplex<f32>>, tensor<9x1xf32>, tensor<?x1xf32>, tensor<9x1xf32>
}

// -----

// Verify that two products on one axis become one where that takes fewer
// multiply-adds: 100*8*8 + 8*16*8 instead of 100*(8*16 + 16*8).
// CHECK-LABEL: func @merge_saves(
// CHECK-SAME:    %[[X:.*]]: tensor<10x8x10xf32>, %[[F:.*]]: tensor<16x8xf32>, %[[G:.*]]: tensor<16x8xf32>, %[[INIT:.*]]: tensor<10x8x10xf32>
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<8x8xf32>
// CHECK:         %[[FG:.*]] = kron.mode_product axis(0) ins(%[[F]] : tensor<16x8xf32>) factor(%[[G]] [p, q] : tensor<16x8xf32>) outs(%[[EMPTY]] : tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK:         %[[Y:.*]] = kron.mode_product axis(1) ins(%[[X]] : tensor<10x8x10xf32>) factor(%[[FG]] [q, p] : tensor<8x8xf32>) outs(%[[INIT]] : tensor<10x8x10xf32>) alpha(2.000000e+00 : f32) beta(3.000000e+00 : f32)
// CHECK:         return %[[Y]]
func.func @merge_saves(%x: tensor<10x8x10xf32>, %f: tensor<16x8xf32>, %g: tensor<16x8xf32>, %init: tensor<10x8x10xf32>) -> tensor<10x8x10xf32> {
  %e = tensor.empty() : tensor<10x16x10xf32>
  %0 = kron.mode_product axis(1) ins(%x : tensor<10x8x10xf32>) factor(%f [q, p] : tensor<16x8xf32>) outs(%e : tensor<10x16x10xf32>) -> tensor<10x16x10xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<10x16x10xf32>) factor(%g [p, q] : tensor<16x8xf32>) outs(%init : tensor<10x8x10xf32>) alpha(2.0 : f32) beta(3.0 : f32) -> tensor<10x8x10xf32>
  return %1 : tensor<10x8x10xf32>
}

// -----

// Verify that they stay two where it does not: 100*8*8 + 8*4*8 instead of
// 100*(8*4 + 4*8).
// CHECK-LABEL: func @merge_costs(
// CHECK-COUNT-2: kron.mode_product axis(1)
func.func @merge_costs(%x: tensor<10x8x10xf32>, %f: tensor<8x4xf32>, %g: tensor<4x8xf32>, %init: tensor<10x8x10xf32>) -> tensor<10x8x10xf32> {
  %e = tensor.empty() : tensor<10x4x10xf32>
  %0 = kron.mode_product axis(1) ins(%x : tensor<10x8x10xf32>) factor(%f [p, q] : tensor<8x4xf32>) outs(%e : tensor<10x4x10xf32>) -> tensor<10x4x10xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<10x4x10xf32>) factor(%g [p, q] : tensor<4x8xf32>) outs(%init : tensor<10x8x10xf32>) -> tensor<10x8x10xf32>
  return %1 : tensor<10x8x10xf32>
}

// -----

// Verify that few rows do not pay for the product of the factors, unknown ones do.
// CHECK-LABEL: func @merge_rows(
// CHECK-COUNT-2: kron.mode_product axis(1) {{.*}} -> tensor<8x8xf64>
// CHECK:         kron.mode_product axis(0) {{.*}} outs(%{{.*}} : tensor<8x8xf64>)
// CHECK-NEXT:    kron.mode_product axis(1) {{.*}} -> tensor<?x8xf64>
// CHECK-NEXT:    return
func.func @merge_rows(%x: tensor<8x8xf64>, %d: tensor<?x8xf64>, %f: tensor<8x8xf64>, %dinit: tensor<?x8xf64>) -> (tensor<8x8xf64>, tensor<?x8xf64>) {
  %e = tensor.empty() : tensor<8x8xf64>
  %0 = kron.mode_product axis(1) ins(%x : tensor<8x8xf64>) factor(%f [p, q] : tensor<8x8xf64>) outs(%e : tensor<8x8xf64>) -> tensor<8x8xf64>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<8x8xf64>) factor(%f [p, q] : tensor<8x8xf64>) outs(%e : tensor<8x8xf64>) -> tensor<8x8xf64>
  %2 = kron.mode_product axis(1) ins(%d : tensor<?x8xf64>) factor(%f [q, p] : tensor<8x8xf64>) outs(%dinit : tensor<?x8xf64>) -> tensor<?x8xf64>
  %3 = kron.mode_product axis(1) ins(%2 : tensor<?x8xf64>) factor(%f [p, q] : tensor<8x8xf64>) outs(%dinit : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %1, %3 : tensor<8x8xf64>, tensor<?x8xf64>
}

// -----

// Verify that two products on one axis merge across one on another axis, which
// then works on the new size, and that the last product's scaling stays last.
// CHECK-LABEL: func @merge_across(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8x10xf32>, %[[F:.*]]: tensor<8x16xf32>, %[[G:.*]]: tensor<16x4xf32>, %[[H:.*]]: tensor<?x10x10xf32>, %[[INIT:.*]]: tensor<?x4x10xf32>, %[[ALPHA:.*]]: f32
// CHECK:         %[[FG:.*]] = kron.mode_product axis(1) ins(%[[F]] : tensor<8x16xf32>) factor(%[[G]] [p, q] : tensor<16x4xf32>) outs(%{{.*}} : tensor<8x4xf32>)
// CHECK:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x4x10xf32>
// CHECK:         %[[Y:.*]] = kron.mode_product axis(1) ins(%[[X]] : tensor<?x8x10xf32>) factor(%[[FG]] [p, q] : tensor<8x4xf32>) outs(%[[E]] : tensor<?x4x10xf32>) -> tensor<?x4x10xf32>
// CHECK:         %[[Z:.*]] = kron.mode_product axis(2) ins(%[[Y]] : tensor<?x4x10xf32>) factor(%[[H]] [0, p, q] : tensor<?x10x10xf32>) outs(%[[INIT]] : tensor<?x4x10xf32>) alpha(%[[ALPHA]] : f32) -> tensor<?x4x10xf32>
// CHECK-NOT:     kron.mode_product
// CHECK:         return %[[Z]]
func.func @merge_across(%x: tensor<?x8x10xf32>, %f: tensor<8x16xf32>, %g: tensor<16x4xf32>, %h: tensor<?x10x10xf32>, %init: tensor<?x4x10xf32>, %alpha: f32, %m: index) -> tensor<?x4x10xf32> {
  %e = tensor.empty(%m) : tensor<?x16x10xf32>
  %0 = kron.mode_product axis(1) ins(%x : tensor<?x8x10xf32>) factor(%f [p, q] : tensor<8x16xf32>) outs(%e : tensor<?x16x10xf32>) -> tensor<?x16x10xf32>
  %1 = kron.mode_product axis(2) ins(%0 : tensor<?x16x10xf32>) factor(%h [0, p, q] : tensor<?x10x10xf32>) outs(%e : tensor<?x16x10xf32>) -> tensor<?x16x10xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<?x16x10xf32>) factor(%g [p, q] : tensor<16x4xf32>) outs(%init : tensor<?x4x10xf32>) alpha(%alpha : f32) -> tensor<?x4x10xf32>
  return %2 : tensor<?x4x10xf32>
}

// -----

// Verify that factors stay apart where the one between them varies along their
// axis, or where it stretches it.
// CHECK-LABEL: func @merge_across_left_alone(
// CHECK-NOT:     kron.mode_product axis(1) ins(%{{.*}} : tensor<8x
// CHECK:         kron.mode_product axis(1)
// CHECK:         kron.mode_product axis(0)
// CHECK:         kron.mode_product axis(1)
// CHECK:         kron.mode_product axis(1)
// CHECK:         kron.mode_product axis(0)
// CHECK:         kron.mode_product axis(1)
func.func @merge_across_left_alone(%x: tensor<99x8xf32>, %f: tensor<8x8xf32>, %h: tensor<99x99x8xf32>, %f1: tensor<8x1xf32>, %e1: tensor<99x1xf32>) -> (tensor<99x8xf32>, tensor<99x8xf32>) {
  %0 = kron.mode_product axis(1) ins(%x : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %1 = kron.mode_product axis(0) ins(%0 : tensor<99x8xf32>) factor(%h [p, q, 1] : tensor<99x99x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %3 = kron.mode_product axis(1) ins(%x : tensor<99x8xf32>) factor(%f1 [p, q] : tensor<8x1xf32>) outs(%e1 : tensor<99x1xf32>) -> tensor<99x1xf32>
  %i = arith.constant dense<2.0> : tensor<99x99xf32>
  %4 = kron.mode_product axis(0) ins(%3 : tensor<99x1xf32>) factor(%i [p, q] : tensor<99x99xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %5 = kron.mode_product axis(1) ins(%4 : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  return %2, %5 : tensor<99x8xf32>, tensor<99x8xf32>
}

// -----

// Verify that products on other axes, with a scaled or twice used intermediate, with
// rounding or a batch of factors between them are not merged.
// CHECK-LABEL: func @merge_left_alone(
// CHECK-COUNT-2: kron.mode_product axis({{0|1}}) {{.*}} -> tensor<99x8xf32>
// CHECK-COUNT-2: kron.mode_product axis(1) {{.*}} -> tensor<99x8xf32>
// CHECK-COUNT-2: kron.mode_product axis(1) {{.*}} -> tensor<99x8xf32>
// CHECK-COUNT-2: kron.mode_product axis(1) {{.*}} -> tensor<99x8xf16>
// CHECK-COUNT-2: kron.mode_product axis(1) {{.*}} -> tensor<99x8xf32>
// CHECK:         return
func.func @merge_left_alone(%x: tensor<99x8xf32>, %f: tensor<8x8xf32>, %g: tensor<99x99xf32>, %b: tensor<99x8x8xf32>, %h: tensor<99x8xf16>, %hf: tensor<8x8xf16>)
    -> (tensor<99x8xf32>, tensor<99x8xf32>, tensor<99x8xf32>, tensor<99x8xf32>, tensor<99x8xf16>, tensor<99x8xf32>) {
  %0 = kron.mode_product axis(0) ins(%x : tensor<99x8xf32>) factor(%g [p, q] : tensor<99x99xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %2 = kron.mode_product axis(1) ins(%x : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) alpha(2.0 : f32) -> tensor<99x8xf32>
  %3 = kron.mode_product axis(1) ins(%2 : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %4 = kron.mode_product axis(1) ins(%x : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %5 = kron.mode_product axis(1) ins(%4 : tensor<99x8xf32>) factor(%f [p, q] : tensor<8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %6 = kron.mode_product axis(1) ins(%h : tensor<99x8xf16>) factor(%hf [p, q] : tensor<8x8xf16>) outs(%h : tensor<99x8xf16>) -> tensor<99x8xf16>
  %7 = kron.mode_product axis(1) ins(%6 : tensor<99x8xf16>) factor(%hf [p, q] : tensor<8x8xf16>) outs(%h : tensor<99x8xf16>) -> tensor<99x8xf16>
  %8 = kron.mode_product axis(1) ins(%x : tensor<99x8xf32>) factor(%b [0, p, q] : tensor<99x8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  %9 = kron.mode_product axis(1) ins(%8 : tensor<99x8xf32>) factor(%b [0, p, q] : tensor<99x8x8xf32>) outs(%x : tensor<99x8xf32>) -> tensor<99x8xf32>
  return %1, %3, %4, %5, %7, %9 : tensor<99x8xf32>, tensor<99x8xf32>, tensor<99x8xf32>, tensor<99x8xf32>, tensor<99x8xf16>, tensor<99x8xf32>
}

//===----------------------------------------------------------------------===//
// kron.fused
//===----------------------------------------------------------------------===//

// -----

// Verify that nothing in a fused region is replaced or merged: it stays a chain.
// CHECK-LABEL: func @in_fused(
// CHECK:         kron.fused
// CHECK-COUNT-2: kron.mode_product axis(1) {{.*}} -> tensor<99x8xf32>
// CHECK:         kron.yield
func.func @in_fused(%x: memref<99x8xf32>, %f: memref<8x8xf32>, %y: memref<99x8xf32>) {
  kron.fused ins(%x, %f : memref<99x8xf32>, memref<8x8xf32>) outs(%y : memref<99x8xf32>) {
  ^bb0(%tx: tensor<99x8xf32>, %tf: tensor<8x8xf32>, %out: tensor<99x8xf32>):
    %e = tensor.empty() : tensor<99x8xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<99x8xf32>) factor(%tf [p, q] : tensor<8x8xf32>) outs(%e : tensor<99x8xf32>) -> tensor<99x8xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<99x8xf32>) factor(%tf [p, q] : tensor<8x8xf32>) outs(%out : tensor<99x8xf32>) alpha(0.0 : f32) -> tensor<99x8xf32>
    kron.yield %2 : tensor<99x8xf32>
  }
  return
}

// -----

// Verify that the region follows when a cast is folded into an operand.
// CHECK-LABEL: func @fused_cast(
// CHECK:         %[[Y:.*]] = kron.fused ins(%{{.*}}, %{{.*}} : tensor<8x9xf32>, tensor<8x8xf32>) outs(%{{.*}} : tensor<9x8xf32>)
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<9x8xf32>, %{{.*}}: tensor<8x8xf32>, %[[OUT:.*]]: tensor<9x8xf32>):
// CHECK-NEXT:      %[[R:.*]] = kron.mode_product {{.*}} outs(%[[OUT]] : tensor<9x8xf32>) -> tensor<9x8xf32>
// CHECK-NEXT:      kron.yield %[[R]] : tensor<9x8xf32>
// CHECK-NEXT:    } -> tensor<9x8xf32>
// CHECK-NEXT:    tensor.cast %[[Y]] : tensor<9x8xf32> to tensor<?x8xf32>
func.func @fused_cast(%x: tensor<8x9xf32>, %f: tensor<8x8xf32>, %init: tensor<9x8xf32>) -> tensor<?x8xf32> {
  %cx = tensor.cast %x : tensor<8x9xf32> to tensor<8x?xf32>
  %ci = tensor.cast %init : tensor<9x8xf32> to tensor<?x8xf32>
  %y = kron.fused ins(%cx, %f : tensor<8x?xf32>, tensor<8x8xf32>) outs(%ci : tensor<?x8xf32>) attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<?x8xf32>, %tf: tensor<8x8xf32>, %out: tensor<?x8xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<?x8xf32>) factor(%tf [p, q] : tensor<8x8xf32>) outs(%out : tensor<?x8xf32>) -> tensor<?x8xf32>
    kron.yield %1 : tensor<?x8xf32>
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Verify that a gradient says nothing that is the default or that real elements
// do not need, and that its arrays are read as they lie.
// CHECK-LABEL: func @ksmm_grad(
// CHECK-SAME:    %[[X:.*]]: tensor<40x9xf32>, %[[G:.*]]: tensor<30x9xf32>, %[[D:.*]]: tensor<2x3x4x5xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         kron.ksmm_grad ins(%[[X]] : tensor<40x9xf32>) grad(%[[G]] : tensor<30x9xf32>) outs(%[[D]] : tensor<2x3x4x5xf32>) {layout = #kron.layout<batch_last>} -> tensor<2x3x4x5xf32>
func.func @ksmm_grad(%x: tensor<40x9xf32>, %g: tensor<30x9xf32>, %d: tensor<2x3x4x5xf32>, %ex: tensor<9x40xf32>, %eg: tensor<9x30xf32>) -> tensor<2x3x4x5xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %tx = linalg.transpose ins(%x : tensor<40x9xf32>) outs(%ex : tensor<9x40xf32>) permutation = [1, 0]
  %tg = linalg.transpose ins(%g : tensor<30x9xf32>) outs(%eg : tensor<9x30xf32>) permutation = [1, 0]
  %y = kron.ksmm_grad ins(%tx : tensor<9x40xf32>) grad(%tg : tensor<9x30xf32>)
         outs(%d : tensor<2x3x4x5xf32>) alpha(%one : f32) beta(%zero : f32) addend(%d : tensor<2x3x4x5xf32>)
         {conj_input, conj_grad} -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// Verify that complex elements keep what is conjugated, and that one transpose
// alone stays.
// CHECK-LABEL: func @ksmm_grad_complex(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         kron.ksmm_grad ins(%[[T]] : {{.*}} {conj_input}
func.func @ksmm_grad_complex(%x: tensor<40x9xcomplex<f32>>, %g: tensor<9x30xcomplex<f32>>, %d: tensor<2x3x4x5xcomplex<f32>>, %e: tensor<9x40xcomplex<f32>>) -> tensor<2x3x4x5xcomplex<f32>> {
  %t = linalg.transpose ins(%x : tensor<40x9xcomplex<f32>>) outs(%e : tensor<9x40xcomplex<f32>>) permutation = [1, 0]
  %y = kron.ksmm_grad ins(%t : tensor<9x40xcomplex<f32>>) grad(%g : tensor<9x30xcomplex<f32>>)
         outs(%d : tensor<2x3x4x5xcomplex<f32>>) {conj_input} -> tensor<2x3x4x5xcomplex<f32>>
  return %y : tensor<2x3x4x5xcomplex<f32>>
}

// Verify that an alpha of 0 leaves beta * Z.
// CHECK-LABEL: func @ksmm_grad_zero_alpha(
// CHECK-SAME:    %[[D:[a-z0-9]*]]: tensor<1x3x4x1xf64>
// CHECK-NEXT:    return %[[D]]
func.func @ksmm_grad_zero_alpha(%d: tensor<1x3x4x1xf64>, %x: tensor<9x4xf64>, %g: tensor<9x3xf64>) -> tensor<1x3x4x1xf64> {
  %y = kron.ksmm_grad ins(%x : tensor<9x4xf64>) grad(%g : tensor<9x3xf64>) outs(%d : tensor<1x3x4x1xf64>)
         alpha(0.0 : f64) beta(1.0 : f64) -> tensor<1x3x4x1xf64>
  return %y : tensor<1x3x4x1xf64>
}

// -----

// Verify that an epilogue that does nothing is its input, ...
// CHECK-LABEL: func.func @epilogue_nothing(
// CHECK-SAME: %[[V:.*]]: tensor<4x8xf32>,
// CHECK-NEXT: return %[[V]]
func.func @epilogue_nothing(%v: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = kron.epilogue ins(%v : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {scale = 1.0 : f32} -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Verify that ... one that rounds stays.
// CHECK-LABEL: func.func @epilogue_rounds(
// CHECK: kron.epilogue ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xf16>) ->
func.func @epilogue_rounds(%v: tensor<4x8xf32>, %y: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = kron.epilogue ins(%v : tensor<4x8xf32>) outs(%y : tensor<4x8xf16>) {scale = 1.0 : f32} -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}
