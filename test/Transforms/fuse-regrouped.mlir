// RUN: kron-opt %s --kron-decompose --cse --kron-fuse | FileCheck %s
// RUN: kron-opt %s --kron-decompose --cse --kron-fuse --kron-bufferize --canonicalize \
// RUN:   --convert-kron-to-linalg | FileCheck %s --check-prefix=LINALG

// Verify that factors whose axes are regrouped become one fused region where the plan
// asks for it: the reshapes between them move into the region.
// CHECK-LABEL: func.func @monarch(
// CHECK-SAME:    %[[X:.*]]: tensor<100x24xf32>, %[[A:.*]]: tensor<2x3x4x3xf32>, %[[B:.*]]: tensor<1x5x6x3xf32>,
// CHECK:         kron.fused ins(%{{.*}}, %[[A]], %{{.*}} : tensor<100x2x4x3xf32>, tensor<2x3x4x3xf32>, tensor<5x6x3xf32>) outs(%{{.*}} : tensor<100x1x5x3xf32>)
// CHECK-NOT:     plan
// CHECK-NEXT:    ^bb0(%[[TX:.*]]: tensor<100x2x4x3xf32>, %[[TA:.*]]: tensor<2x3x4x3xf32>, %[[TB:.*]]: tensor<5x6x3xf32>, %[[OUT:.*]]: tensor<100x1x5x3xf32>):
// CHECK:           %[[E:.*]] = tensor.empty() : tensor<100x2x3x3xf32>
// CHECK:           %[[FIRST:.*]] = kron.mode_product axis(2) ins(%[[TX]] : tensor<100x2x4x3xf32>) factor(%[[TA]] [1, q, p, 3] : tensor<2x3x4x3xf32>) outs(%[[E]] : tensor<100x2x3x3xf32>)
// CHECK-NEXT:      %[[FLAT:.*]] = tensor.collapse_shape %[[FIRST]] {{\[}}[0], [1, 2, 3]] : tensor<100x2x3x3xf32> into tensor<100x18xf32>
// CHECK-NEXT:      %[[NEXT:.*]] = tensor.expand_shape %[[FLAT]] {{\[}}[0], [1, 2, 3]] output_shape [100, 1, 6, 3] : tensor<100x18xf32> into tensor<100x1x6x3xf32>
// CHECK-NEXT:      %[[LAST:.*]] = kron.mode_product axis(2) ins(%[[NEXT]] : tensor<100x1x6x3xf32>) factor(%[[TB]] [q, p, 3] : tensor<5x6x3xf32>) outs(%[[OUT]] : tensor<100x1x5x3xf32>)
// CHECK-NEXT:      kron.yield %[[LAST]]
// CHECK-NOT:     kron.fused

// Verify that the fused region on memrefs is lowered with views between its products.
// LINALG-LABEL: func.func @monarch(
// LINALG:         linalg.generic
// LINALG:         memref.collapse_shape %{{.*}} {{\[}}[0], [1, 2, 3]] : memref<100x2x3x3xf32> into memref<100x18xf32>
// LINALG:         memref.expand_shape %{{.*}} {{\[}}[0], [1, 2, 3]] output_shape [100, 1, 6, 3] : memref<100x18xf32> into memref<100x1x6x3xf32>
// LINALG:         linalg.generic
// LINALG-NOT:     kron.
func.func @monarch(%x: tensor<100x24xf32>, %a: tensor<2x3x4x3xf32>, %b: tensor<1x5x6x3xf32>,
                   %y: tensor<100x15xf32>) -> tensor<100x15xf32> {
  %e = tensor.empty() : tensor<100x18xf32>
  %1 = kron.ksmm ins(%x : tensor<100x24xf32>) weights(%a : tensor<2x3x4x3xf32>)
         outs(%e : tensor<100x18xf32>) -> tensor<100x18xf32>
  %2 = kron.ksmm ins(%1 : tensor<100x18xf32>) weights(%b : tensor<1x5x6x3xf32>)
         outs(%y : tensor<100x15xf32>) {plan = #kron.cpu_plan<regions = [2]>} -> tensor<100x15xf32>
  return %2 : tensor<100x15xf32>
}

// Verify that f16 is f32 between the factors, that an unknown number of rows is
// that of the destination, inside and outside, and that the rest of the plan
// stays with every fused region.
// CHECK-LABEL: func.func @rows_last(
// CHECK:         kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x3x?xf16>, tensor<2x3x4x3xf16>, tensor<5x6x3xf16>) outs(%{{.*}} : tensor<1x5x3x?xf16>) attributes {plan = #kron.cpu_plan<tile = 32>}
// CHECK:           ^bb0({{.*}}, %[[OUT:[a-z0-9]*]]: tensor<1x5x3x?xf16>):
// CHECK:           %[[SIZE:.*]] = tensor.dim %[[OUT]], %{{.*}} : tensor<1x5x3x?xf16>
// CHECK:           tensor.empty(%[[SIZE]]) : tensor<2x3x3x?xf32>
// CHECK:           tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2], [3]] : tensor<2x3x3x?xf32> into tensor<18x?xf32>
// CHECK:           %[[ROWS:.*]] = tensor.dim %[[OUT]], %{{.*}} : tensor<1x5x3x?xf16>
// CHECK:           tensor.expand_shape %{{.*}} {{\[}}[0, 1, 2], [3]] output_shape [1, 6, 3, %[[ROWS]]] : tensor<18x?xf32> into tensor<1x6x3x?xf32>
// CHECK:         kron.fused ins(%{{.*}}, %{{.*}} : tensor<15x1x1x?xf16>, tensor<15x2x1x1xf16>) {{.*}} attributes {plan = #kron.cpu_plan<tile = 32>}
// LINALG-LABEL: func.func @rows_last(
// LINALG:         memref.collapse_shape %{{.*}} {{\[}}[0, 1, 2], [3]] : memref<2x3x3x?xf32> into memref<18x?xf32>
// LINALG:         memref.expand_shape %{{.*}} {{\[}}[0, 1, 2], [3]] output_shape [1, 6, 3, %{{.*}}] : memref<18x?xf32> into memref<1x6x3x?xf32>
func.func @rows_last(%x: tensor<24x?xf16>, %a: tensor<2x3x4x3xf16>, %b: tensor<1x5x6x3xf16>, %c: tensor<15x2x1x1xf16>,
                     %e: tensor<18x?xf16>, %y: tensor<15x?xf16>, %z: tensor<30x?xf16>) -> tensor<30x?xf16> {
  %1 = kron.ksmm ins(%x : tensor<24x?xf16>) weights(%a : tensor<2x3x4x3xf16>)
         outs(%e : tensor<18x?xf16>) {layout = #kron.layout<batch_last>} -> tensor<18x?xf16>
  %2 = kron.ksmm ins(%1 : tensor<18x?xf16>) weights(%b : tensor<1x5x6x3xf16>)
         outs(%y : tensor<15x?xf16>) {layout = #kron.layout<batch_last>} -> tensor<15x?xf16>
  %3 = kron.ksmm ins(%2 : tensor<15x?xf16>) weights(%c : tensor<15x2x1x1xf16>)
         outs(%z : tensor<30x?xf16>) {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<tile = 32, regions = [2, 1]>}
         -> tensor<30x?xf16>
  return %3 : tensor<30x?xf16>
}

// Verify that what is scaled, used twice, or has a plan of its own ends a fused region,
// and that nothing else does: what lies between fits no cache.
// CHECK-LABEL: func.func @ends(
// CHECK:         kron.fused
// CHECK:         kron.fused
// CHECK:         kron.fused
// CHECK:         kron.fused
// CHECK-NOT:     kron.fused
// CHECK:         return
func.func @ends(%x: tensor<100000x6xf32>, %a: tensor<2x3x3x1xf32>, %b: tensor<1x3x3x2xf32>, %e: tensor<100000x6xf32>)
    -> (tensor<100000x6xf32>, tensor<100000x6xf32>) {
  %1 = kron.ksmm ins(%x : tensor<100000x6xf32>) weights(%a : tensor<2x3x3x1xf32>)
         outs(%e : tensor<100000x6xf32>) alpha(2.0 : f32) -> tensor<100000x6xf32>
  %2 = kron.ksmm ins(%1 : tensor<100000x6xf32>) weights(%b : tensor<1x3x3x2xf32>)
         outs(%e : tensor<100000x6xf32>) -> tensor<100000x6xf32>
  %3 = kron.ksmm ins(%2 : tensor<100000x6xf32>) weights(%a : tensor<2x3x3x1xf32>)
         outs(%e : tensor<100000x6xf32>) {plan = #kron.cpu_plan<tile = 8>} -> tensor<100000x6xf32>
  %4 = kron.ksmm ins(%3 : tensor<100000x6xf32>) weights(%b : tensor<1x3x3x2xf32>)
         outs(%e : tensor<100000x6xf32>) -> tensor<100000x6xf32>
  return %2, %4 : tensor<100000x6xf32>, tensor<100000x6xf32>
}

// CHECK-LABEL: func.func @one_trip(
// CHECK:         kron.fused
// CHECK-NOT:     kron.fused
// CHECK:         return
func.func @one_trip(%x: tensor<100000x6xf32>, %a: tensor<2x3x3x1xf32>, %b: tensor<1x3x3x2xf32>, %e: tensor<100000x6xf32>)
    -> tensor<100000x6xf32> {
  %1 = kron.ksmm ins(%x : tensor<100000x6xf32>) weights(%a : tensor<2x3x3x1xf32>)
         outs(%e : tensor<100000x6xf32>) -> tensor<100000x6xf32>
  %2 = kron.ksmm ins(%1 : tensor<100000x6xf32>) weights(%b : tensor<1x3x3x2xf32>)
         outs(%e : tensor<100000x6xf32>) -> tensor<100000x6xf32>
  return %2 : tensor<100000x6xf32>
}
