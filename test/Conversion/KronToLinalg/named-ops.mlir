// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s

// Verify that mkm on tensors becomes one contraction per factor, the one that
// shrinks the array first, and a store.
// CHECK-LABEL: func.func @mkm
// CHECK-SAME: (%[[X:.*]]: tensor<?x6xf32>, %[[F1:.*]]: tensor<2x3xf32>, %[[F2:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<?x6xf32>)
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<?x2x2xf32>
// CHECK: %[[V2:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[SPLIT]], %[[F2]] : tensor<?x2x3xf32>, tensor<2x3xf32>) outs(%[[ZEROS]] : tensor<?x2x2xf32>)
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[V1:.*]] = linalg.generic
// CHECK-SAME: ins(%[[V2]], %[[F1]] : tensor<?x2x2xf32>, tensor<2x3xf32>)
// CHECK: %[[MERGED:.*]] = tensor.collapse_shape %[[V1]] {{\[\[}}0], [1, 2]] : tensor<?x3x2xf32> into tensor<?x6xf32>
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%[[MERGED]] : tensor<?x6xf32>) outs(%[[Y]] : tensor<?x6xf32>)
// CHECK: return %[[R]]
func.func @mkm(%x: tensor<?x6xf32>, %f1: tensor<2x3xf32>, %f2: tensor<2x3xf32>,
               %y: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %r = kron.mkm ins(%x : tensor<?x6xf32>)
                factors(%f1, T(%f2) : tensor<2x3xf32>, tensor<2x3xf32>)
                outs(%y : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}

// -----

// Verify that a transposed input of kmm is only read differently: its split axes
// are the last ones of the array, the first ones of the loops.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
// CHECK-DAG: #[[$FACTOR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @kmm_transposed_input
// CHECK-SAME: (%[[X:.*]]: tensor<5x6xf64>, %[[F1:.*]]: tensor<2x2xf64>,
// CHECK: tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]]
// CHECK-SAME: into tensor<5x2x3xf64>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$FACTOR]], #[[$OUT]]]
// CHECK-SAME: ins(%{{.*}}, %[[F1]] : tensor<5x2x3xf64>, tensor<2x2xf64>)
// CHECK-SAME: outs(%{{.*}} : tensor<2x3x5xf64>)
// CHECK: tensor.collapse_shape {{.*}} : tensor<2x3x5xf64> into tensor<6x5xf64>
func.func @kmm_transposed_input(%x: tensor<5x6xf64>, %f1: tensor<2x2xf64>,
                                %f2: tensor<3x3xf64>, %y: tensor<6x5xf64>) -> tensor<6x5xf64> {
  %r = kron.kmm ins(T(%x) : tensor<5x6xf64>)
                factors(%f1, %f2 : tensor<2x2xf64>, tensor<3x3xf64>)
                outs(%y : tensor<6x5xf64>) -> tensor<6x5xf64>
  return %r : tensor<6x5xf64>
}

// -----

// Verify that C conjugates the input and the factor, each once.
// CHECK-LABEL: func.func @batched_conjugate
// CHECK-SAME: (%[[X:.*]]: tensor<3x2xcomplex<f32>>, %[[A:.*]]: tensor<2x2xcomplex<f32>>, %[[B:.*]]: tensor<3x3xcomplex<f32>>,
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[A]]
// CHECK-NEXT: ^bb0(%[[XE:.*]]: complex<f32>, %[[AE:.*]]: complex<f32>, %[[ACC:.*]]: complex<f32>):
// CHECK-NEXT: %[[XC:.*]] = complex.conj %[[XE]]
// CHECK-NEXT: %[[P:.*]] = complex.mul %[[XC]], %[[AE]]
// CHECK-NEXT: complex.add %[[ACC]], %[[P]]
// CHECK: linalg.generic
// CHECK-SAME: %[[B]]
// CHECK-NEXT: ^bb0(%[[VE:.*]]: complex<f32>, %[[BE:.*]]: complex<f32>,
// CHECK-NEXT: %[[BC:.*]] = complex.conj %[[BE]]
// CHECK-NEXT: complex.mul %[[VE]], %[[BC]]
func.func @batched_conjugate(%x: tensor<3x2xcomplex<f32>>, %a: tensor<2x2xcomplex<f32>>,
                             %b: tensor<3x3xcomplex<f32>>,
                             %y: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
  %r = kron.batched ins(C(%x) : tensor<3x2xcomplex<f32>>)
         factors(%a, C(%b) : tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
         outs(%y : tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  return %r : tensor<2x3xcomplex<f32>>
}

// -----

// Verify that a batch dimension of size 1 and a missing one are stretched by
// indexing.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (0, d2, d4)>
// CHECK-DAG: #[[$FACTOR:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d4, d3)>
// CHECK-LABEL: func.func @broadcast_batch
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$FACTOR]],
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x4x2xi32>, tensor<7x1x2x3xi32>)
// CHECK-SAME: outs(%{{.*}} : tensor<7x1x4x3xi32>)
func.func @broadcast_batch(%x: tensor<1x4x2xi32>, %f: tensor<7x1x2x3xi32>,
                           %y: tensor<7x1x4x3xi32>) -> tensor<7x1x4x3xi32> {
  %r = kron.mkm ins(%x : tensor<1x4x2xi32>) factors(%f : tensor<7x1x2x3xi32>)
                outs(%y : tensor<7x1x4x3xi32>) -> tensor<7x1x4x3xi32>
  return %r : tensor<7x1x4x3xi32>
}

// -----

// Verify that ksmm contracts with weights that depend on block and inner axis.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-DAG: #[[$WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d4, d3)>
// CHECK-LABEL: func.func @ksmm
// CHECK: tensor.expand_shape {{.*}} into tensor<?x2x3x7xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$WEIGHTS]],
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<?x2x3x7xf32>, tensor<2x5x3x7xf32>)
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x2x5x7xf32> into tensor<?x70xf32>
func.func @ksmm(%x: tensor<?x42xf32>, %k: tensor<2x5x3x7xf32>,
                %y: tensor<?x70xf32>) -> tensor<?x70xf32> {
  %r = kron.ksmm ins(%x : tensor<?x42xf32>) weights(%k : tensor<2x5x3x7xf32>)
                 outs(%y : tensor<?x70xf32>) -> tensor<?x70xf32>
  return %r : tensor<?x70xf32>
}

// -----

// Verify that transposed weights contract the other axis, with the batch last.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>
// CHECK-DAG: #[[$WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d2)>
// CHECK-LABEL: func.func @ksmm_transposed_batch_last
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$WEIGHTS]],
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<2x5x7x?xf32>, tensor<2x5x3x7xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<2x3x7x?xf32>)
func.func @ksmm_transposed_batch_last(%x: tensor<70x?xf32>, %k: tensor<2x5x3x7xf32>,
                                      %y: tensor<42x?xf32>) -> tensor<42x?xf32> {
  %r = kron.ksmm ins(%x : tensor<70x?xf32>) weights(T(%k) : tensor<2x5x3x7xf32>)
                 outs(%y : tensor<42x?xf32>) {layout = #kron.layout<batch_last>}
       -> tensor<42x?xf32>
  return %r : tensor<42x?xf32>
}

// -----

// Verify that the gradient by the weights sums over the batch.
// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0, d2, d3)>
// CHECK-DAG: #[[$GRAD:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0, d1, d3)>
// CHECK-DAG: #[[$SUM:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @ksmm_grad
// CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$GRAD]], #[[$SUM]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<?x2x4x5xf32>, tensor<?x2x3x5xf32>) outs(%{{.*}} : tensor<2x3x4x5xf32>)
func.func @ksmm_grad(%x: tensor<?x40xf32>, %g: tensor<?x30xf32>,
                     %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %y = kron.ksmm_grad ins(%x : tensor<?x40xf32>) grad(%g : tensor<?x30xf32>)
         outs(%d : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}
