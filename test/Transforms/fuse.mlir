// RUN: kron-opt %s --kron-fuse | FileCheck %s
// RUN: kron-opt %s --kron-fuse -o %t.once
// RUN: kron-opt %t.once --kron-fuse | diff %t.once -
// RUN: not kron-opt %s --kron-fuse=vector-bits=7 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not kron-opt %s --kron-fuse=l2-bytes=-5 2>&1 | FileCheck %s --check-prefix=L2
// RUN: not kron-opt %s --kron-fuse="target=cuda footprint-bytes=-5" 2>&1 | FileCheck %s --check-prefix=FOOTPRINT

// BITS: error: expects vector-bits to be 128, 256 or 512, but got 7
// L2: error: expects l2-bytes to be at least 0, but got -5
// FOOTPRINT: error: expects footprint-bytes to be at least 0, but got -5

// Verify that a chain becomes one kron.fused: the tensor between its factors moves
// into the region, scalars are used from outside.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<9x8x4xf32>, %[[A:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<4x5xf32>, %[[INIT:.*]]: tensor<9x8x5xf32>, %[[ALPHA:.*]]: f32)
// CHECK-NEXT: %[[Y:.*]] = kron.fused ins(%[[X]], %[[B]], %[[A]] : tensor<9x8x4xf32>, tensor<4x5xf32>, tensor<8x8xf32>) outs(%[[INIT]] : tensor<9x8x5xf32>) {
// CHECK-NEXT: ^bb0(%[[TX:.*]]: tensor<9x8x4xf32>, %[[TB:.*]]: tensor<4x5xf32>, %[[TA:.*]]: tensor<8x8xf32>, %[[OUT:.*]]: tensor<9x8x5xf32>):
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<9x8x5xf32>
// CHECK-NEXT: %[[FIRST:.*]] = kron.mode_product axis(2) ins(%[[TX]] : tensor<9x8x4xf32>) factor(%[[TB]] [p, q] : tensor<4x5xf32>) outs(%[[E]] : tensor<9x8x5xf32>) -> tensor<9x8x5xf32>
// CHECK-NEXT: %[[LAST:.*]] = kron.mode_product axis(1) ins(%[[FIRST]] : tensor<9x8x5xf32>) factor(%[[TA]] [q, p] : tensor<8x8xf32>) outs(%[[OUT]] : tensor<9x8x5xf32>) alpha(%[[ALPHA]] : f32) beta(1.000000e+00 : f32) -> tensor<9x8x5xf32>
// CHECK-NEXT: kron.yield %[[LAST]] : tensor<9x8x5xf32>
// CHECK-NEXT: } -> tensor<9x8x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @chain(%x: tensor<9x8x4xf32>, %a: tensor<8x8xf32>, %b: tensor<4x5xf32>,
                 %init: tensor<9x8x5xf32>, %alpha: f32) -> tensor<9x8x5xf32> {
  %e = tensor.empty() : tensor<9x8x5xf32>
  %1 = kron.mode_product axis(2) ins(%x : tensor<9x8x4xf32>)
         factor(%b [p, q] : tensor<4x5xf32>)
         outs(%e : tensor<9x8x5xf32>) -> tensor<9x8x5xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<9x8x5xf32>)
         factor(%a [q, p] : tensor<8x8xf32>)
         outs(%init : tensor<9x8x5xf32>) alpha(%alpha : f32) beta(1.0 : f32)
         -> tensor<9x8x5xf32>
  return %2 : tensor<9x8x5xf32>
}

// Verify that the addend is the last input, that precision and conjugation stay
// with their mode product and that the plan moves to the fused region.
// CHECK-LABEL: func.func @attributes(
// CHECK-SAME: %[[INIT:[a-z0-9]*]]: tensor<4x4xcomplex<f32>>, %[[Z:[a-z0-9]*]]: tensor<4x4xcomplex<f32>>)
// CHECK: kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[Z]] : {{.*}}) outs(%[[INIT]] : {{.*}}) attributes {plan = #kron.cpu_plan<tile = 4>} {
// CHECK-NEXT: ^bb0(%{{.*}}, %{{.*}}, %{{.*}}, %[[TZ:.*]]: tensor<4x4xcomplex<f32>>, %{{.*}}: tensor<4x4xcomplex<f32>>):
// CHECK: kron.mode_product axis(0)
// CHECK-SAME: {conj_factor, conj_input, precision = #kron.precision<ieee>}
// CHECK-NEXT: kron.mode_product axis(1)
// CHECK-SAME: addend(%[[TZ]] : tensor<4x4xcomplex<f32>>)
// CHECK-NOT: {
// CHECK-SAME: -> tensor<4x4xcomplex<f32>>
// CHECK-NEXT: kron.yield
func.func @attributes(%x: tensor<4x4xcomplex<f32>>, %a: tensor<4x4xcomplex<f32>>,
                      %init: tensor<4x4xcomplex<f32>>, %z: tensor<4x4xcomplex<f32>>)
    -> tensor<4x4xcomplex<f32>> {
  %e = tensor.empty() : tensor<4x4xcomplex<f32>>
  %1 = kron.mode_product axis(0) ins(%x : tensor<4x4xcomplex<f32>>)
         factor(%a [p, q] : tensor<4x4xcomplex<f32>>)
         outs(%e : tensor<4x4xcomplex<f32>>)
         {conj_factor, conj_input, precision = #kron.precision<ieee>}
         -> tensor<4x4xcomplex<f32>>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<4x4xcomplex<f32>>)
         factor(%a [p, q] : tensor<4x4xcomplex<f32>>)
         outs(%init : tensor<4x4xcomplex<f32>>)
         beta(#complex.number<:f32 1.0, 0.0> : complex<f32>)
         addend(%z : tensor<4x4xcomplex<f32>>) {plan = #kron.cpu_plan<tile = 4>}
         -> tensor<4x4xcomplex<f32>>
  return %2 : tensor<4x4xcomplex<f32>>
}

// Verify that dynamic sizes in the region come from the block arguments: from the
// destination, or from the factor that contracts the axis later.
// CHECK-LABEL: func.func @dynamic(
// CHECK-NEXT: kron.fused
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<8x?xf32>, %[[F:.*]]: tensor<?x4xf32>, %[[OUT:.*]]: tensor<?x4xf32>):
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[OUT]], %[[D0:.*]] : tensor<?x4xf32>
// CHECK-DAG: %[[Q:.*]] = tensor.dim %[[F]], %[[D1:.*]] : tensor<?x4xf32>
// CHECK: tensor.empty(%[[M]], %[[Q]]) : tensor<?x?xf32>
func.func @dynamic(%x: tensor<?x8xf32>, %a: tensor<8x?xf32>, %b: tensor<?x4xf32>,
                   %e: tensor<?x?xf32>, %init: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %1 = kron.mode_product axis(1) ins(%x : tensor<?x8xf32>)
         factor(%a [p, q] : tensor<8x?xf32>)
         outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<?x?xf32>)
         factor(%b [p, q] : tensor<?x4xf32>)
         outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// Verify that a transpose of the input becomes the order in which it is read.
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:.*]]: tensor<4x9x8xf32>, %[[A:.*]]: tensor<8x8xf32>
// CHECK-NOT: linalg.transpose
// CHECK: kron.fused ins(%[[X]], %[[A]] : tensor<4x9x8xf32>, tensor<8x8xf32>)
// CHECK-SAME: attributes {input_permutation = array<i64: 1, 2, 0>} {
// CHECK-NEXT: ^bb0(%[[TX:.*]]: tensor<9x8x4xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<9x8x4xf32>):
// CHECK-NEXT: kron.mode_product axis(1) ins(%[[TX]] : tensor<9x8x4xf32>)
func.func @transpose(%x: tensor<4x9x8xf32>, %a: tensor<8x8xf32>,
                     %init: tensor<9x8x4xf32>) -> tensor<9x8x4xf32> {
  %e = tensor.empty() : tensor<9x8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x9x8xf32>) outs(%e : tensor<9x8x4xf32>)
         permutation = [1, 2, 0]
  %1 = kron.mode_product axis(1) ins(%t : tensor<9x8x4xf32>)
         factor(%a [p, q] : tensor<8x8xf32>)
         outs(%init : tensor<9x8x4xf32>) -> tensor<9x8x4xf32>
  return %1 : tensor<9x8x4xf32>
}

// Verify that a transpose with another use stays, and is not read twice.
// CHECK-LABEL: func.func @transpose_used(
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: kron.fused ins(%[[T]], %{{.*}} : tensor<8x4xf32>, tensor<8x8xf32>) outs(%{{.*}} : tensor<8x4xf32>) {
func.func @transpose_used(%x: tensor<4x8xf32>, %a: tensor<8x8xf32>,
                          %init: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>)
         permutation = [1, 0]
  %1 = kron.mode_product axis(0) ins(%t : tensor<8x4xf32>)
         factor(%a [p, q] : tensor<8x8xf32>)
         outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %t : tensor<8x4xf32>, tensor<8x4xf32>
}

// Verify that a result with another use ends its chain, and so does a factor that
// was computed.
// CHECK-LABEL: func.func @used_between(
// CHECK: %[[ONE:.*]] = kron.fused
// CHECK: %[[TWO:.*]] = kron.fused ins(%[[ONE]], %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: %[[THREE:.*]] = kron.fused ins(%{{.*}}, %[[TWO]] : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: return %[[ONE]], %[[THREE]]
func.func @used_between(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>,
                        %init: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %1 = kron.mode_product axis(0) ins(%x : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = kron.mode_product axis(0) ins(%x : tensor<4x4xf32>)
         factor(%2 [p, q] : tensor<4x4xf32>)
         outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Verify that scaling ends a chain, but not scaling by 1 that is written out.
// CHECK-LABEL: func.func @scaled_between(
// CHECK: %[[ONE:.*]] = kron.fused
// CHECK: kron.mode_product axis(0)
// CHECK-NOT: alpha
// CHECK: kron.mode_product axis(1) {{.*}} alpha(2.000000e+00 : f32)
// CHECK: kron.fused ins(%[[ONE]]
func.func @scaled_between(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>,
                          %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = kron.mode_product axis(0) ins(%x : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%e : tensor<4x4xf32>) alpha(1.0 : f32) -> tensor<4x4xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%e : tensor<4x4xf32>) alpha(2.0 : f32) -> tensor<4x4xf32>
  %2 = kron.mode_product axis(0) ins(%1 : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// Verify that a view between two mode products ends the chain.
// CHECK-LABEL: func.func @view_between(
// CHECK: kron.fused
// CHECK: tensor.expand_shape
// CHECK: kron.fused
func.func @view_between(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>, %b: tensor<2x2xf32>,
                        %init: tensor<2x2x4xf32>) -> tensor<2x2x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = kron.mode_product axis(0) ins(%x : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 2, 4]
         : tensor<4x4xf32> into tensor<2x2x4xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<2x2x4xf32>)
         factor(%b [p, q] : tensor<2x2xf32>)
         outs(%init : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  return %2 : tensor<2x2x4xf32>
}

// Verify that a mode product in a loop is not joined with one outside.
// CHECK-LABEL: func.func @loop(
// CHECK: kron.fused
// CHECK: scf.for
// CHECK: kron.fused
func.func @loop(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>, %init: tensor<4x4xf32>,
                %n: index, %zero: index, %one: index) -> tensor<4x4xf32> {
  %0 = kron.mode_product axis(0) ins(%x : tensor<4x4xf32>)
         factor(%a [p, q] : tensor<4x4xf32>)
         outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %init) -> tensor<4x4xf32> {
    %1 = kron.mode_product axis(1) ins(%0 : tensor<4x4xf32>)
           factor(%a [p, q] : tensor<4x4xf32>)
           outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// Verify that a mode product on memrefs gets a fused region on memrefs with a body on
// tensors.
// CHECK-LABEL: func.func @memref(
// CHECK-SAME: %[[X:.*]]: memref<4x?xf64, strided<[?, ?]>>, %[[A:.*]]: memref<4x4xf64>, %[[Y:.*]]: memref<4x?xf64>)
// CHECK-NEXT: kron.fused ins(%[[X]], %[[A]] : memref<4x?xf64, strided<[?, ?]>>, memref<4x4xf64>) outs(%[[Y]] : memref<4x?xf64>) {
// CHECK-NEXT: ^bb0(%[[TX:.*]]: tensor<4x?xf64>, %[[TA:.*]]: tensor<4x4xf64>, %[[TY:.*]]: tensor<4x?xf64>):
// CHECK-NEXT: %[[P:.*]] = kron.mode_product axis(0) ins(%[[TX]] : tensor<4x?xf64>) factor(%[[TA]] [p, q] : tensor<4x4xf64>) outs(%[[TY]] : tensor<4x?xf64>) -> tensor<4x?xf64>
// CHECK-NEXT: kron.yield %[[P]]
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @memref(%x: memref<4x?xf64, strided<[?, ?]>>, %a: memref<4x4xf64>,
                  %y: memref<4x?xf64>) {
  kron.mode_product axis(0) ins(%x : memref<4x?xf64, strided<[?, ?]>>)
    factor(%a [p, q] : memref<4x4xf64>) outs(%y : memref<4x?xf64>)
  return
}

// Verify that an axis is stretched and contracted in fused regions of their own.
// CHECK-LABEL: func.func @stretched(
// CHECK:         kron.fused
// CHECK:           kron.mode_product axis(0)
// CHECK-NEXT:      kron.yield
// CHECK:         kron.fused
// CHECK:           kron.mode_product axis(1)
// CHECK-NEXT:      kron.yield
func.func @stretched(%x: tensor<9x1xf32>, %f: tensor<13x13xf32>, %g: tensor<9x9xf32>, %y: tensor<9x13xf32>)
    -> tensor<9x13xf32> {
  %0 = kron.mode_product axis(0) ins(%x : tensor<9x1xf32>) factor(%g [p, q] : tensor<9x9xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<9x13xf32>) factor(%f [p, q] : tensor<13x13xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  return %1 : tensor<9x13xf32>
}
