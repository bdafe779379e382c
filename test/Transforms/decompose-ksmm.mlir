// RUN: kron-opt %s --kron-decompose --canonicalize --cse | FileCheck %s

// Verify the pattern (2, 3, 4, 5), batch first: X is [n, a, c, d], Y [n, a, b, d].
// CHECK-LABEL: func.func @batch_first(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x40xf32>, %[[K:[a-z0-9]*]]: tensor<2x3x4x5xf32>
// CHECK-DAG: %[[IN:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2, 3]] output_shape [%{{.*}}, 2, 4, 5]
// CHECK: kron.mode_product axis(2) ins(%[[IN]] : tensor<?x2x4x5xf32>) factor(%[[K]] [1, q, p, 3] : tensor<2x3x4x5xf32>) outs(%{{.*}} : tensor<?x2x3x5xf32>)
// CHECK-NOT: linalg.generic
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : tensor<?x2x3x5xf32> into tensor<?x30xf32>
func.func @batch_first(%x: tensor<?x40xf32>, %k: tensor<2x3x4x5xf32>,
                       %init: tensor<?x30xf32>) -> tensor<?x30xf32> {
  %y = kron.ksmm ins(%x : tensor<?x40xf32>) weights(%k : tensor<2x3x4x5xf32>)
         outs(%init : tensor<?x30xf32>) -> tensor<?x30xf32>
  return %y : tensor<?x30xf32>
}

// Verify batch last with transposed weights: the sum runs over b.
// CHECK-LABEL: func.func @batch_last(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<30x?xf32>, %[[K:[a-z0-9]*]]: tensor<2x3x4x5xf32>
// CHECK-DAG: %[[IN:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1, 2], [3]] output_shape [2, 3, 5, %{{.*}}]
// CHECK: kron.mode_product axis(1) ins(%[[IN]] : tensor<2x3x5x?xf32>) factor(%[[K]] [0, p, q, 2] : tensor<2x3x4x5xf32>) outs(%{{.*}} : tensor<2x4x5x?xf32>)
func.func @batch_last(%x: tensor<30x?xf32>, %k: tensor<2x3x4x5xf32>,
                      %init: tensor<40x?xf32>) -> tensor<40x?xf32> {
  %y = kron.ksmm ins(%x : tensor<30x?xf32>) weights(T(%k) : tensor<2x3x4x5xf32>)
         outs(%init : tensor<40x?xf32>) {layout = #kron.layout<batch_last>}
         -> tensor<40x?xf32>
  return %y : tensor<40x?xf32>
}

// Verify that a transposed input is read from the other layout, and that `C`
// conjugates weights and input.
// CHECK-LABEL: func.func @transposed_input(
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] output_shape [2, 3, 5, 9]
// CHECK: linalg.transpose {{.*}} permutation = [3, 0, 1, 2]
// CHECK: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [1, p, q, 3] : {{.*}} {conj_factor, conj_input}
func.func @transposed_input(%x: tensor<30x9xcomplex<f64>>,
                            %k: tensor<2x3x4x5xcomplex<f64>>,
                            %init: tensor<9x40xcomplex<f64>>)
    -> tensor<9x40xcomplex<f64>> {
  %y = kron.ksmm ins(C(%x) : tensor<30x9xcomplex<f64>>)
         weights(C(%k) : tensor<2x3x4x5xcomplex<f64>>)
         outs(%init : tensor<9x40xcomplex<f64>>) -> tensor<9x40xcomplex<f64>>
  return %y : tensor<9x40xcomplex<f64>>
}

// CHECK-LABEL: func.func @transposed_input_batch_last(
// CHECK: linalg.transpose ins(%{{.*}} : tensor<9x2x4x5xf32>) outs(%{{.*}} : tensor<2x4x5x9xf32>) permutation = [1, 2, 3, 0]
func.func @transposed_input_batch_last(%x: tensor<9x40xf32>,
                                       %k: tensor<2x3x4x5xf32>,
                                       %init: tensor<30x9xf32>) -> tensor<30x9xf32> {
  %y = kron.ksmm ins(T(%x) : tensor<9x40xf32>) weights(%k : tensor<2x3x4x5xf32>)
         outs(%init : tensor<30x9xf32>) {layout = #kron.layout<batch_last>}
         -> tensor<30x9xf32>
  return %y : tensor<30x9xf32>
}

// Verify that a = d = 1, a dense layer, leaves a factor that is shared by all.
// CHECK-LABEL: func.func @dense(
// CHECK: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [q, p] : tensor<8x6xf32>)
func.func @dense(%x: tensor<9x6xf32>, %k: tensor<1x8x6x1xf32>,
                 %init: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %y = kron.ksmm ins(%x : tensor<9x6xf32>) weights(%k : tensor<1x8x6x1xf32>)
         outs(%init : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %y : tensor<9x8xf32>
}

// Verify the epilogue: in place on the product, which holds beta * Z.
// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<30xf32>, %[[R:[a-z0-9]*]]: tensor<9x30xf32>)
// CHECK-DAG: %[[BIAS:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1, 2]] output_shape [2, 3, 5]
// CHECK-DAG: %[[RES:.*]] = tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2, 3]] output_shape [9, 2, 3, 5]
// CHECK: %[[V:.*]] = kron.mode_product {{.*}} beta(1.000000e+00 : f32)
// CHECK: kron.epilogue ins(%[[V]] : tensor<9x2x3x5xf32>) bias(%[[BIAS]] [1, 2, 3] : tensor<2x3x5xf32>) residual(%[[RES]] : tensor<9x2x3x5xf32>) outs(%[[V]] : tensor<9x2x3x5xf32>) {activation = #kron.activation<relu>, scale = 3.000000e+00 : f32}
func.func @epilogue(%x: tensor<9x40xf32>, %k: tensor<2x3x4x5xf32>,
                    %init: tensor<9x30xf32>, %b: tensor<30xf32>,
                    %r: tensor<9x30xf32>) -> tensor<9x30xf32> {
  %y = kron.ksmm ins(%x : tensor<9x40xf32>) weights(%k : tensor<2x3x4x5xf32>)
         outs(%init : tensor<9x30xf32>) beta(1.0 : f32)
         bias(%b : tensor<30xf32>) residual(%r : tensor<9x30xf32>)
         {activation = #kron.activation<relu>, scale = 3.0 : f32} -> tensor<9x30xf32>
  return %y : tensor<9x30xf32>
}

// Verify the bias of batch last.
// CHECK-LABEL: func.func @epilogue_batch_last(
// CHECK: kron.epilogue {{.*}} bias(%{{.*}} [0, 1, 2] : tensor<2x3x5xi32>)
func.func @epilogue_batch_last(%x: tensor<40x9xi32>, %k: tensor<2x3x4x5xi32>,
                               %init: tensor<30x9xi32>, %b: tensor<30xi32>)
    -> tensor<30x9xi32> {
  %y = kron.ksmm ins(%x : tensor<40x9xi32>) weights(%k : tensor<2x3x4x5xi32>)
         outs(%init : tensor<30x9xi32>) bias(%b : tensor<30xi32>)
         {activation = #kron.activation<relu>, layout = #kron.layout<batch_last>}
         -> tensor<30x9xi32>
  return %y : tensor<30x9xi32>
}

// Verify that f16 is rounded once, by the epilogue: the product is f32, and so is the
// sum with Z.
// CHECK-LABEL: func.func @silu_f16(
// CHECK: %[[V:.*]] = kron.mode_product {{.*}} outs(%{{.*}} : tensor<9x2x3x5xf32>) alpha(2.000000e+00 : f32) -> tensor<9x2x3x5xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<9x2x3x5xf16>) outs(%[[V]] : tensor<9x2x3x5xf32>)
// CHECK: ^bb0(%[[ZI:.*]]: f16, %[[VI:.*]]: f32):
// CHECK: %[[Z:.*]] = arith.extf %[[ZI]]
// CHECK: %[[S:.*]] = arith.addf %[[VI]], %[[Z]]
// CHECK: linalg.yield %[[S]]
// CHECK: kron.epilogue ins(%[[SUM]] : tensor<9x2x3x5xf32>) outs(%{{.*}} : tensor<9x2x3x5xf16>) {activation = #kron.activation<silu>}
func.func @silu_f16(%x: tensor<9x40xf16>, %k: tensor<2x3x4x5xf16>,
                    %init: tensor<9x30xf16>) -> tensor<9x30xf16> {
  %y = kron.ksmm ins(%x : tensor<9x40xf16>) weights(%k : tensor<2x3x4x5xf16>)
         outs(%init : tensor<9x30xf16>) alpha(2.0 : f32) beta(1.0 : f32)
         {activation = #kron.activation<silu>} -> tensor<9x30xf16>
  return %y : tensor<9x30xf16>
}

// Verify that alpha = 0 leaves the epilogue of beta * Z, without the product.
// CHECK-LABEL: func.func @alpha_zero(
// CHECK-NOT: kron.mode_product
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<9x2x3x5xf32>) outs(%{{.*}} : tensor<9x2x3x5xf32>)
// CHECK: arith.mulf
// CHECK: kron.epilogue ins(%[[SCALED]] : tensor<9x2x3x5xf32>) bias(
func.func @alpha_zero(%x: tensor<9x40xf32>, %k: tensor<2x3x4x5xf32>,
                      %init: tensor<9x30xf32>, %b: tensor<30xf32>)
    -> tensor<9x30xf32> {
  %y = kron.ksmm ins(%x : tensor<9x40xf32>) weights(%k : tensor<2x3x4x5xf32>)
         outs(%init : tensor<9x30xf32>) alpha(0.0 : f32) beta(2.0 : f32)
         bias(%b : tensor<30xf32>) -> tensor<9x30xf32>
  return %y : tensor<9x30xf32>
}
