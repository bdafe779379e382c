// RUN: kron-opt %s --kron-plan=vector-bits=256 --convert-kron-to-vector --split-input-file | FileCheck %s

// Verify that 16 registers hold three rows by four q, for which a factor and X are loaded least often, and two q beside the
// mask of the last of four vectors; of three vectors, that all have four rows by two q.
// CHECK-LABEL: func.func private @narrow_segments_29_fused(
// CHECK: iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (
// CHECK: iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (
func.func @narrow_segments_29(%x: memref<12x16x29xf32>, %f: memref<4x16x29xf32>, %y: memref<12x4x29xf32>) {
  kron.fused ins(%x, %f : memref<12x16x29xf32>, memref<4x16x29xf32>) outs(%y : memref<12x4x29xf32>) attributes {plan = #kron.cpu_plan<steps = [{segment = 4, packed_k = 0, block_k = 0}]>} {
  ^bb0(%t: tensor<12x16x29xf32>, %a: tensor<4x16x29xf32>, %o: tensor<12x4x29xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<12x16x29xf32>) factor(%a [q, p, 2] : tensor<4x16x29xf32>) outs(%o : tensor<12x4x29xf32>) -> tensor<12x4x29xf32>
    kron.yield %1 : tensor<12x4x29xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @narrow_segments_20_fused(
// CHECK: iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (
func.func @narrow_segments_20(%x: memref<12x16x20xf32>, %f: memref<4x16x20xf32>, %y: memref<12x4x20xf32>) {
  kron.fused ins(%x, %f : memref<12x16x20xf32>, memref<4x16x20xf32>) outs(%y : memref<12x4x20xf32>) attributes {plan = #kron.cpu_plan<steps = [{segment = 3, packed_k = 0, block_k = 0}]>} {
  ^bb0(%t: tensor<12x16x20xf32>, %a: tensor<4x16x20xf32>, %o: tensor<12x4x20xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<12x16x20xf32>) factor(%a [q, p, 2] : tensor<4x16x20xf32>) outs(%o : tensor<12x4x20xf32>) -> tensor<12x4x20xf32>
    kron.yield %1 : tensor<12x4x20xf32>
  }
  return
}
