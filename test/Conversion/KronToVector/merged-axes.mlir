// RUN: kron-opt %s --kron-plan="vector-bits=512" --convert-kron-to-vector --canonicalize --split-input-file | FileCheck %s

// Columns, outermost in the input, lie innermost in the result, where lanes run
// over them and the axis outside of them together. The last tile has fewer of
// that axis, and other tiles 32, of which 96 elements are six vectors.

// CHECK-LABEL: func.func private @last_tile_fused(
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[TILE:.*]] = arith.constant 32 : i64
// CHECK: %[[POSITIONS:.*]] = arith.minsi %{{.*}}, %[[TILE]] : i64
// CHECK: %[[ELEMENTS:.*]] = arith.muli %[[POSITIONS]], %[[COLUMNS]] : i64
// CHECK-NOT: vector.fma {{.*}} : vector<4xf32>
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma {{.*}} : vector<4xf32>
func.func @last_tile(%x: memref<3x20x197xf32>, %f: memref<20x20xf32>,
                     %y: memref<20x197x3xf32>) {
  kron.fused ins(%x, %f : memref<3x20x197xf32>, memref<20x20xf32>)
             outs(%y : memref<20x197x3xf32>) attributes {input_permutation = array<i64: 1, 2, 0>,
                         plan = #kron.cpu_plan<tiled_axis = 1>} {
  ^bb0(%a: tensor<20x197x3xf32>, %g: tensor<20x20xf32>, %b: tensor<20x197x3xf32>):
    %0 = kron.mode_product axis(0) ins(%a : tensor<20x197x3xf32>) factor(%g [q, p] : tensor<20x20xf32>) outs(%b : tensor<20x197x3xf32>) -> tensor<20x197x3xf32>
    kron.yield %0 : tensor<20x197x3xf32>
  }
  return
}
