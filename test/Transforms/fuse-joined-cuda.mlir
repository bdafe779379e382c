// RUN: kron-opt %s --kron-decompose="target=cuda" --cse --kron-fuse="target=cuda" --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose="target=cuda" --cse --kron-fuse="target=cuda" --split-input-file --remark-format=emitRemark --remarks-filter=kron-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that small axes have a factor together, since that takes less time: 2 and 36 are 72. 80 and 9
// would be too many.
// REMARK: Joined | Category:kron-fuse | Factors=1, Remark="axes 1 to 2 have a factor together"
// CHECK-DAG:     #[[$OF_F:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
// CHECK-DAG:     #[[$OF_G:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d1)>
// CHECK-DAG:     #[[$ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @small(
// CHECK-SAME:    %[[X:.*]]: memref<2597x2x36x80x9xf32>, %[[F:.*]]: memref<2x2xf32>, %[[G:.*]]: memref<36x36xf32>, %[[H:.*]]: memref<80x80xf32>, %[[I:.*]]: memref<9x9xf32>, %[[Y:.*]]: memref<2597x2x36x80x9xf32>
// CHECK:         %[[XV:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0], [1, 2], [3], [4]{{\]}}
// CHECK:         %[[FG:.*]] = memref.alloc() {bufferization.manual_deallocation} : memref<2x36x2x36xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[$OF_F]], #[[$OF_G]], #[[$ALL]]], {{.*}}} ins(%[[F]], %[[G]] : {{.*}}) outs(%[[FG]] :
// CHECK:           %[[PRODUCT:.*]] = arith.mulf
// CHECK:           linalg.yield %[[PRODUCT]]
// CHECK:         %[[FACTOR:.*]] = memref.collapse_shape %[[FG]] {{\[\[}}0, 1], [2, 3]] : {{.*}} into memref<72x72xf32>
// CHECK:         %[[YV:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0], [1, 2], [3], [4]{{\]}}
// CHECK:         kron.fused ins(%[[XV]], %[[I]], %[[H]] :
// CHECK:         kron.fused ins(%{{.*}}, %[[FACTOR]] : memref<2597x72x80x9xf32>, memref<72x72xf32>) outs(%[[YV]] :
// CHECK:           kron.mode_product axis(1) {{.*}} factor(%{{.*}} [p, q] :
// CHECK:         memref.dealloc %[[FG]]
func.func @small(%x: memref<2597x2x36x80x9xf32>, %f: memref<2x2xf32>, %g: memref<36x36xf32>, %h: memref<80x80xf32>, %i: memref<9x9xf32>, %y: memref<2597x2x36x80x9xf32>) {
  kron.batched ins(%x : memref<2597x2x36x80x9xf32>) factors(%f, %g, %h, %i : memref<2x2xf32>, memref<36x36xf32>, memref<80x80xf32>, memref<9x9xf32>) outs(%y : memref<2597x2x36x80x9xf32>)
  return
}

// -----

// Verify that a plan has them joined whatever that takes, in the order of the axes and not of the
// products (4 to 2 goes first, since it shrinks the array), with a factor that is transposed, and with
// what scales the product.
// REMARK: Factors=1, Remark="axes 2 to 3 have a factor together"
// CHECK-DAG:     #[[$OF_G:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
// CHECK-DAG:     #[[$OF_H:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-LABEL: func.func @asked(
// CHECK-SAME:    %[[X:.*]]: memref<5x24xf32>, %[[F:.*]]: memref<2x3xf32>, %[[G:.*]]: memref<3x3xf32>, %[[H:.*]]: memref<4x2xf32>,
// CHECK:         linalg.generic {indexing_maps = [#[[$OF_G]], #[[$OF_H]], #{{.*}}], {{.*}}} ins(%[[G]], %[[H]] : {{.*}}) outs(%{{.*}} : memref<3x4x3x2xf32>)
// CHECK:         kron.fused ins({{.*}} : memref<5x2x12xf32>, memref<12x6xf32>, memref<2x3xf32>) outs({{.*}} : memref<5x3x6xf32>)
// CHECK-SAME:      {plan = #kron.gpu_plan<threads = 128>}
// CHECK:           kron.mode_product axis(2)
// CHECK-NOT:         alpha
// CHECK:           kron.mode_product axis(1)
// CHECK-SAME:        alpha(2.000000e+00 : f32)
func.func @asked(%x: memref<5x24xf32>, %f: memref<2x3xf32>, %g: memref<3x3xf32>, %h: memref<4x2xf32>, %y: memref<5x18xf32>) {
  kron.mkm ins(%x : memref<5x24xf32>) factors(%f, T(%g), %h : memref<2x3xf32>, memref<3x3xf32>, memref<4x2xf32>) outs(%y : memref<5x18xf32>) alpha(2.0 : f32) {plan = #kron.gpu_plan<joined = [1, 2], threads = 128>}
  return
}

// -----

// Verify the same on tensors, of a transposed input, whose axes are neighbours in memory, too, and that
// the regions of a plan are those of the joined factors.
// REMARK: Factors=1, Remark="axes 1 to 2 have a factor together"
// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    %[[X:.*]]: tensor<24x5xf64>,
// CHECK:         %[[XV:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1, 2], [3]{{\]}}
// CHECK:         %[[JOINED:.*]] = tensor.collapse_shape %[[XV]] {{\[\[}}0, 1], [2], [3]{{\]}} : tensor<2x3x4x5xf64> into tensor<6x4x5xf64>
// CHECK:         %[[FG:.*]] = linalg.generic
// CHECK:         %[[FACTOR:.*]] = tensor.collapse_shape %[[FG]] {{.*}} into tensor<6x9xf64>
// CHECK:         %[[FIRST:.*]] = kron.fused ins(%[[JOINED]], %{{.*}}) outs(%{{.*}} : tensor<5x6x2xf64>) attributes {input_permutation = array<i64: 2, 0, 1>}
// CHECK:         %[[Y:.*]] = kron.fused ins(%[[FIRST]], %[[FACTOR]] :
// CHECK:         tensor.expand_shape %[[Y]] {{\[\[}}0], [1, 2], [3]{{\]}} {{.*}} into tensor<5x3x3x2xf64>
func.func @tensors(%x: tensor<24x5xf64>, %f: tensor<2x3xf64>, %g: tensor<3x3xf64>, %h: tensor<4x2xf64>) -> tensor<5x18xf64> {
  %e = tensor.empty() : tensor<5x18xf64>
  %y = kron.mkm ins(T(%x) : tensor<24x5xf64>) factors(%f, %g, %h : tensor<2x3xf64>, tensor<3x3xf64>, tensor<4x2xf64>) outs(%e : tensor<5x18xf64>) {plan = #kron.gpu_plan<joined = [2, 1], regions = [1, 1]>} -> tensor<5x18xf64>
  return %y : tensor<5x18xf64>
}

// -----

// Verify that a plan leaves them apart, and that nothing is joined that no plan says where it has other
// fields, arithmetic is IEEE, elements are f64, or 2 and 36 are no neighbours in memory.
// REMARK-NOT: Joined
// CHECK-LABEL: func.func @apart(
// CHECK-NOT:     linalg.generic
func.func @apart(%x: memref<2597x2x36x80x9xf32>, %z: memref<2597x2x36x80x9xf32, strided<[60000, 30000, 720, 9, 1]>>, %f: memref<2x2xf32>, %g: memref<36x36xf32>, %h: memref<80x80xf32>, %i: memref<9x9xf32>, %y: memref<2597x2x36x80x9xf32>) {
  kron.batched ins(%x : memref<2597x2x36x80x9xf32>) factors(%f, %g, %h, %i : memref<2x2xf32>, memref<36x36xf32>, memref<80x80xf32>, memref<9x9xf32>) outs(%y : memref<2597x2x36x80x9xf32>) {plan = #kron.gpu_plan<joined = [1, 1, 1, 1]>}
  kron.batched ins(%x : memref<2597x2x36x80x9xf32>) factors(%f, %g, %h, %i : memref<2x2xf32>, memref<36x36xf32>, memref<80x80xf32>, memref<9x9xf32>) outs(%y : memref<2597x2x36x80x9xf32>) {plan = #kron.gpu_plan<padded = 0>}
  kron.batched ins(%x : memref<2597x2x36x80x9xf32>) factors(%f, %g, %h, %i : memref<2x2xf32>, memref<36x36xf32>, memref<80x80xf32>, memref<9x9xf32>) outs(%y : memref<2597x2x36x80x9xf32>) {precision = #kron.precision<ieee>}
  kron.batched ins(%z : memref<2597x2x36x80x9xf32, strided<[60000, 30000, 720, 9, 1]>>) factors(%f, %g, %h, %i : memref<2x2xf32>, memref<36x36xf32>, memref<80x80xf32>, memref<9x9xf32>) outs(%y : memref<2597x2x36x80x9xf32>)
  return
}

// Nor where a tensor would be copied for that: nothing says that it has no gaps between 2 and 36.
// CHECK-LABEL: func.func @open(
// CHECK-NOT:     linalg.generic
func.func @open(%x: memref<2597x2x36x80x9xf32, strided<[?, ?, ?, ?, 1]>>, %f: tensor<2x2xf32>, %g: tensor<36x36xf32>, %h: tensor<80x80xf32>, %i: tensor<9x9xf32>) -> tensor<2597x2x36x80x9xf32> {
  %t = bufferization.to_tensor %x : memref<2597x2x36x80x9xf32, strided<[?, ?, ?, ?, 1]>> to tensor<2597x2x36x80x9xf32>
  %e = tensor.empty() : tensor<2597x2x36x80x9xf32>
  %y = kron.batched ins(%t : tensor<2597x2x36x80x9xf32>) factors(%f, %g, %h, %i : tensor<2x2xf32>, tensor<36x36xf32>, tensor<80x80xf32>, tensor<9x9xf32>) outs(%e : tensor<2597x2x36x80x9xf32>) -> tensor<2597x2x36x80x9xf32>
  return %y : tensor<2597x2x36x80x9xf32>
}

// CHECK-LABEL: func.func @double(
// CHECK-NOT:     linalg.generic
func.func @double(%x: memref<1000x6561xf64>, %f: memref<3x3xf64>, %y: memref<1000x6561xf64>) {
  kron.mkm ins(%x : memref<1000x6561xf64>) factors(%f, %f, %f, %f, %f, %f, %f, %f : memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>) outs(%y : memref<1000x6561xf64>)
  return
}
