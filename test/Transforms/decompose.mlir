// RUN: kron-opt %s --kron-decompose --canonicalize --cse | FileCheck %s

// Verify that kron.mkm is a view, one mode product per axis, scaling on the last
// one only, and the view undone; the dynamic M goes through.
// CHECK-LABEL: func.func @mkm(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[A:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8x8xf32>, %[[INIT:.*]]: tensor<?x64xf32>)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[INIT]], %{{.*}} : tensor<?x64xf32>
// CHECK-DAG: %[[OUT:.*]] = tensor.expand_shape %[[INIT]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 8, 8]
// CHECK-DAG: %[[IN:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 8, 8]
// CHECK-DAG: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x8x8xf32>
// CHECK: %[[FIRST:.*]] = kron.mode_product axis(2) ins(%[[IN]] : tensor<?x8x8xf32>) factor(%[[B]] [q, p] : tensor<8x8xf32>) outs(%[[EMPTY]] : tensor<?x8x8xf32>) {precision = #kron.precision<ieee>} -> tensor<?x8x8xf32>
// CHECK: %[[LAST:.*]] = kron.mode_product axis(1) ins(%[[FIRST]] : tensor<?x8x8xf32>) factor(%[[A]] [p, q] : tensor<8x8xf32>) outs(%[[OUT]] : tensor<?x8x8xf32>) alpha(2.000000e+00 : f32) beta(3.000000e+00 : f32) {precision = #kron.precision<ieee>} -> tensor<?x8x8xf32>
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[LAST]] {{\[\[}}0], [1, 2]] : tensor<?x8x8xf32> into tensor<?x64xf32>
// CHECK: return %[[Y]]
func.func @mkm(%x: tensor<?x64xf32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>,
               %init: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = kron.mkm ins(%x : tensor<?x64xf32>)
         factors(%a, T(%b) : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%init : tensor<?x64xf32>) alpha(2.0 : f32) beta(3.0 : f32)
         {precision = #kron.precision<ieee>} -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Verify that a separate addend is viewed like the result, and run-time scalars
// and the plan go to the last mode product.
// CHECK-LABEL: func.func @addend(
// CHECK-SAME: %[[Z:[a-z0-9]*]]: tensor<9x6xf32>, %[[ALPHA:[a-z0-9]*]]: f32, %[[BETA:[a-z0-9]*]]: f32)
// CHECK: %[[VZ:.*]] = tensor.expand_shape %[[Z]] {{\[\[}}0], [1, 2]] output_shape [9, 2, 3]
// CHECK: kron.mode_product axis(2) {{.*}} outs(%{{.*}} : tensor<9x2x3xf32>) -> tensor<9x2x3xf32>
// CHECK: kron.mode_product axis(1) {{.*}} alpha(%[[ALPHA]] : f32) beta(%[[BETA]] : f32) addend(%[[VZ]] : tensor<9x2x3xf32>) {plan = #kron.cpu_plan<tile = 4>}
func.func @addend(%x: tensor<9x6xf32>, %a: tensor<2x2xf32>, %b: tensor<3x3xf32>,
                  %init: tensor<9x6xf32>, %z: tensor<9x6xf32>, %alpha: f32,
                  %beta: f32) -> tensor<9x6xf32> {
  %y = kron.mkm ins(%x : tensor<9x6xf32>)
         factors(%a, %b : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<9x6xf32>) alpha(%alpha : f32) beta(%beta : f32)
         addend(%z : tensor<9x6xf32>) {plan = #kron.cpu_plan<tile = 4>}
         -> tensor<9x6xf32>
  return %y : tensor<9x6xf32>
}

// Verify that an addend that is the destination is not passed twice, which would
// cost a copy.
// CHECK-LABEL: func.func @addend_is_init(
// CHECK: kron.mode_product axis(1)
// CHECK-SAME: beta(1.000000e+00 : f32) -> tensor<9x4xf32>
func.func @addend_is_init(%x: tensor<9x4xf32>, %a: tensor<4x4xf32>,
                          %init: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %y = kron.mkm ins(%x : tensor<9x4xf32>) factors(%a : tensor<4x4xf32>)
         outs(%init : tensor<9x4xf32>) beta(1.0 : f32)
         addend(%init : tensor<9x4xf32>) -> tensor<9x4xf32>
  return %y : tensor<9x4xf32>
}

// Verify that one factor needs no view and no other tensor.
// CHECK-LABEL: func.func @single(
// CHECK-SAME: %[[X:.*]]: tensor<9x4xf32>, %[[A:.*]]: tensor<4x5xf32>, %[[INIT:.*]]: tensor<9x5xf32>)
// CHECK-NEXT: %[[Y:.*]] = kron.mode_product axis(1) ins(%[[X]] : tensor<9x4xf32>) factor(%[[A]] [p, q] : tensor<4x5xf32>) outs(%[[INIT]] : tensor<9x5xf32>) -> tensor<9x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @single(%x: tensor<9x4xf32>, %a: tensor<4x5xf32>,
                  %init: tensor<9x5xf32>) -> tensor<9x5xf32> {
  %y = kron.mkm ins(%x : tensor<9x4xf32>) factors(%a : tensor<4x5xf32>)
         outs(%init : tensor<9x5xf32>) -> tensor<9x5xf32>
  return %y : tensor<9x5xf32>
}

// Verify that columns left open by the type are fixed by the factors.
// CHECK-LABEL: func.func @open_columns(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x?xf32>
// CHECK: %[[CAST:.*]] = tensor.cast %[[X]] : tensor<?x?xf32> to tensor<?x6xf32>
// CHECK: tensor.expand_shape %[[CAST]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 3]
// CHECK: %[[Y:.*]] = tensor.collapse_shape %{{.*}} : tensor<?x2x3xf32> into tensor<?x6xf32>
// CHECK: %[[OPEN:.*]] = tensor.cast %[[Y]] : tensor<?x6xf32> to tensor<?x?xf32>
// CHECK: return %[[OPEN]]
func.func @open_columns(%x: tensor<?x?xf32>, %a: tensor<2x2xf32>,
                        %b: tensor<3x3xf32>, %init: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %y = kron.mkm ins(%x : tensor<?x?xf32>)
         factors(%a, %b : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Verify that a transposed input is transposed by axes, and that `C` conjugates
// it in the first mode product and a factor in its own.
// CHECK-LABEL: func.func @mkm_transposed(
// CHECK: %[[IN:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [2, 3, 9]
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[IN]] : tensor<2x3x9xcomplex<f32>>) outs(%{{.*}} : tensor<9x2x3xcomplex<f32>>) permutation = [2, 0, 1]
// CHECK: kron.mode_product axis(2) ins(%[[T]] {{.*}} {conj_factor, conj_input}
// CHECK: kron.mode_product axis(1)
// CHECK-NOT: conj
// CHECK: return
func.func @mkm_transposed(%x: tensor<6x9xcomplex<f32>>, %a: tensor<2x2xcomplex<f32>>,
                          %b: tensor<3x3xcomplex<f32>>,
                          %init: tensor<9x6xcomplex<f32>>) -> tensor<9x6xcomplex<f32>> {
  %y = kron.mkm ins(C(%x) : tensor<6x9xcomplex<f32>>)
         factors(T(%a), C(%b) : tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
         outs(%init : tensor<9x6xcomplex<f32>>) -> tensor<9x6xcomplex<f32>>
  return %y : tensor<9x6xcomplex<f32>>
}

// Verify that `C` on reals conjugates nothing.
// CHECK-LABEL: func.func @real_conjugate(
// CHECK: kron.mode_product
// CHECK-SAME: [q, p] : tensor<4x4xf64>) outs(%{{.*}} : tensor<9x4xf64>) -> tensor<9x4xf64>
func.func @real_conjugate(%x: tensor<4x9xf64>, %a: tensor<4x4xf64>,
                          %init: tensor<9x4xf64>) -> tensor<9x4xf64> {
  %y = kron.mkm ins(C(%x) : tensor<4x9xf64>) factors(C(%a) : tensor<4x4xf64>)
         outs(%init : tensor<9x4xf64>) -> tensor<9x4xf64>
  return %y : tensor<9x4xf64>
}

// Verify that kron.kmm has the factors' axes before M and the factors' roles
// exchanged.
// CHECK-LABEL: func.func @kmm(
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<2x2xf32>, %[[B:[a-z0-9]*]]: tensor<3x3xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [2, 3, 9]
// CHECK: kron.mode_product axis(1) {{.*}} factor(%[[B]] [p, q] : tensor<3x3xf32>)
// CHECK: kron.mode_product axis(0) {{.*}} factor(%[[A]] [q, p] : tensor<2x2xf32>)
func.func @kmm(%x: tensor<6x9xf32>, %a: tensor<2x2xf32>, %b: tensor<3x3xf32>,
               %init: tensor<6x9xf32>) -> tensor<6x9xf32> {
  %y = kron.kmm ins(%x : tensor<6x9xf32>)
         factors(%a, T(%b) : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<6x9xf32>) -> tensor<6x9xf32>
  return %y : tensor<6x9xf32>
}

// Verify the transposed input of kron.kmm: M comes first in memory.
// CHECK-LABEL: func.func @kmm_transposed(
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [9, 2, 3]
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x3x9xf32>) permutation = [1, 2, 0]
func.func @kmm_transposed(%x: tensor<9x6xf32>, %a: tensor<2x2xf32>,
                          %b: tensor<3x3xf32>, %init: tensor<6x9xf32>)
    -> tensor<6x9xf32> {
  %y = kron.kmm ins(T(%x) : tensor<9x6xf32>)
         factors(%a, %b : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<6x9xf32>) -> tensor<6x9xf32>
  return %y : tensor<6x9xf32>
}

// Verify that kron.kmm with one column is viewed like kron.mkm with one row.
// CHECK-LABEL: func.func @kmm_column(
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<6x1xf32> into tensor<6xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2]] output_shape [1, 2, 3]
// CHECK: kron.mode_product axis(1) {{.*}} factor(%{{.*}} [q, p] : tensor<2x2xf32>)
// CHECK: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [p, q] : tensor<3x4xf32>)
// CHECK: %[[Y:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<1x2x4xf32> into tensor<8xf32>
// CHECK: tensor.expand_shape %[[Y]] {{\[\[}}0, 1]] output_shape [8, 1]
func.func @kmm_column(%x: tensor<6x1xf32>, %a: tensor<2x2xf32>, %b: tensor<3x4xf32>,
                      %init: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %y = kron.kmm ins(%x : tensor<6x1xf32>)
         factors(%a, T(%b) : tensor<2x2xf32>, tensor<3x4xf32>)
         outs(%init : tensor<8x1xf32>) -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// Verify that a transposed input of it is a row as it lies.
// CHECK-LABEL: func.func @kmm_transposed_column(
// CHECK-NOT: linalg.transpose
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] output_shape [5, 1, 2, 3] : tensor<5x1x6xf32>
func.func @kmm_transposed_column(%x: tensor<5x1x6xf32>, %a: tensor<2x2xf32>,
                                 %b: tensor<3x3xf32>, %init: tensor<5x6x1xf32>)
    -> tensor<5x6x1xf32> {
  %y = kron.kmm ins(T(%x) : tensor<5x1x6xf32>)
         factors(%a, %b : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<5x6x1xf32>) -> tensor<5x6x1xf32>
  return %y : tensor<5x6x1xf32>
}

// Verify that kron.batched needs no view and multiplies by rows of op(A).
// CHECK-LABEL: func.func @batched(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x2x3xf32>, %[[A:[a-z0-9]*]]: tensor<2x2xf32>, %[[B:[a-z0-9]*]]: tensor<3x3xf32>
// CHECK-NOT: expand_shape
// CHECK: kron.mode_product axis(2) ins(%[[X]] {{.*}} factor(%[[B]] [q, p] : tensor<3x3xf32>)
// CHECK: kron.mode_product axis(1) {{.*}} factor(%[[A]] [p, q] : tensor<2x2xf32>)
// CHECK-NOT: collapse_shape
// CHECK: return
func.func @batched(%x: tensor<?x2x3xf32>, %a: tensor<2x2xf32>, %b: tensor<3x3xf32>,
                   %init: tensor<?x2x3xf32>) -> tensor<?x2x3xf32> {
  %y = kron.batched ins(%x : tensor<?x2x3xf32>)
         factors(T(%a), %b : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  return %y : tensor<?x2x3xf32>
}

// Verify that a transposed input of kron.batched has its N axes reversed.
// CHECK-LABEL: func.func @batched_transposed(
// CHECK: linalg.transpose ins(%{{.*}} : tensor<7x4x3x2xf32>) outs(%{{.*}} : tensor<7x2x3x4xf32>) permutation = [0, 3, 2, 1]
func.func @batched_transposed(%x: tensor<7x4x3x2xf32>, %a: tensor<2x2xf32>,
                              %b: tensor<3x3xf32>, %c: tensor<4x4xf32>,
                              %init: tensor<7x2x3x4xf32>) -> tensor<7x2x3x4xf32> {
  %y = kron.batched ins(T(%x) : tensor<7x4x3x2xf32>)
         factors(%a, %b, %c : tensor<2x2xf32>, tensor<3x3xf32>, tensor<4x4xf32>)
         outs(%init : tensor<7x2x3x4xf32>) -> tensor<7x2x3x4xf32>
  return %y : tensor<7x2x3x4xf32>
}

// Verify that factors name their batch axes, that missing batch axes of X are
// added and stretched by the first factor that has them, and that unit dimensions
// of factors are dropped.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<9x4xf32>, %[[A:[a-z0-9]*]]: tensor<5x1x2x2xf32>, %[[B:[a-z0-9]*]]: tensor<3x2x2xf32>
// CHECK-DAG: %[[IN:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1, 2], [3, 4]] output_shape [1, 1, 9, 2, 2]
// CHECK-DAG: %[[UA:.*]] = tensor.extract_slice %[[A]][0, 0, 0, 0] [5, 1, 2, 2] [1, 1, 1, 1] : tensor<5x1x2x2xf32> to tensor<5x2x2xf32>
// CHECK: kron.mode_product axis(4) ins(%[[IN]] : tensor<1x1x9x2x2xf32>) factor(%[[B]] [1, p, q] : tensor<3x2x2xf32>) outs(%{{.*}} : tensor<1x3x9x2x2xf32>)
// CHECK: kron.mode_product axis(3) ins(%{{.*}} : tensor<1x3x9x2x2xf32>) factor(%[[UA]] [0, p, q] : tensor<5x2x2xf32>) outs(%{{.*}} : tensor<5x3x9x2x2xf32>)
func.func @broadcast(%x: tensor<9x4xf32>, %a: tensor<5x1x2x2xf32>,
                     %b: tensor<3x2x2xf32>, %init: tensor<5x3x9x4xf32>)
    -> tensor<5x3x9x4xf32> {
  %y = kron.mkm ins(%x : tensor<9x4xf32>)
         factors(%a, %b : tensor<5x1x2x2xf32>, tensor<3x2x2xf32>)
         outs(%init : tensor<5x3x9x4xf32>) -> tensor<5x3x9x4xf32>
  return %y : tensor<5x3x9x4xf32>
}

// Verify that a unit dimension stays where P or Q is 1 too: dropping it would be
// ambiguous.
// CHECK-LABEL: func.func @unit_matrix_dim(
// CHECK-NOT: extract_slice
// CHECK: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [0, p, q] : tensor<1x4x1xf32>)
func.func @unit_matrix_dim(%x: tensor<5x9x4xf32>, %a: tensor<1x4x1xf32>,
                           %init: tensor<5x9x1xf32>) -> tensor<5x9x1xf32> {
  %y = kron.mkm ins(%x : tensor<5x9x4xf32>) factors(%a : tensor<1x4x1xf32>)
         outs(%init : tensor<5x9x1xf32>) -> tensor<5x9x1xf32>
  return %y : tensor<5x9x1xf32>
}

// Verify that f16 is f32 between the factors and f16 only at both ends.
// CHECK-LABEL: func.func @f16(
// CHECK: kron.mode_product {{.*}} ins(%{{.*}} : tensor<9x2x3xf16>) {{.*}} outs(%{{.*}} : tensor<9x2x3xf32>)
// CHECK: kron.mode_product {{.*}} ins(%{{.*}} : tensor<9x2x3xf32>) {{.*}} outs(%{{.*}} : tensor<9x2x3xf16>) alpha(2.000000e+00 : f32)
func.func @f16(%x: tensor<9x6xf16>, %a: tensor<2x2xf16>, %b: tensor<3x3xf16>,
               %init: tensor<9x6xf16>) -> tensor<9x6xf16> {
  %y = kron.mkm ins(%x : tensor<9x6xf16>)
         factors(%a, %b : tensor<2x2xf16>, tensor<3x3xf16>)
         outs(%init : tensor<9x6xf16>) alpha(2.0 : f32) -> tensor<9x6xf16>
  return %y : tensor<9x6xf16>
}

// Verify that alpha = 0 reads neither X nor the factors: only zeros remain ...
// CHECK-LABEL: func.func @alpha_zero(
// CHECK-NOT: kron.
// CHECK: linalg.fill ins(%{{.*}} : f32)
func.func @alpha_zero(%x: tensor<9x6xf32>, %a: tensor<2x2xf32>, %b: tensor<3x3xf32>,
                      %init: tensor<9x6xf32>) -> tensor<9x6xf32> {
  %y = kron.mkm ins(%x : tensor<9x6xf32>)
         factors(%a, %b : tensor<2x2xf32>, tensor<3x3xf32>)
         outs(%init : tensor<9x6xf32>) alpha(0.0 : f32) -> tensor<9x6xf32>
  return %y : tensor<9x6xf32>
}

// Verify that ... or beta * Z, and nothing of Z where a run-time beta is 0.
// CHECK-LABEL: func.func @alpha_zero_beta(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<9x4xf32>, %[[A:[a-z0-9]*]]: tensor<4x4xf32>, %[[INIT:[a-z0-9]*]]: tensor<9x4xf32>, %[[Z:[a-z0-9]*]]: tensor<9x4xf32>, %[[BETA:[a-z0-9]*]]: f32)
// CHECK-NOT: kron.
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: linalg.generic {{.*}} ins(%[[Z]] : tensor<9x4xf32>) outs(%[[INIT]] : tensor<9x4xf32>)
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[SCALED:.*]] = arith.mulf %[[BETA]], %[[IN]]
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[BETA]], %[[ZERO]]
// CHECK: arith.select %[[IS_ZERO]], %[[ZERO]], %[[SCALED]]
func.func @alpha_zero_beta(%x: tensor<9x4xf32>, %a: tensor<4x4xf32>,
                           %init: tensor<9x4xf32>, %z: tensor<9x4xf32>, %beta: f32)
    -> tensor<9x4xf32> {
  %y = kron.mkm ins(%x : tensor<9x4xf32>) factors(%a : tensor<4x4xf32>)
         outs(%init : tensor<9x4xf32>) alpha(0.0 : f32) beta(%beta : f32)
         addend(%z : tensor<9x4xf32>) -> tensor<9x4xf32>
  return %y : tensor<9x4xf32>
}
