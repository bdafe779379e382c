// RUN: kron-opt %s --kron-plan --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s
// RUN: not kron-opt %s --kron-plan="vector-bits=64" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INVALID
// RUN: not kron-opt %s --kron-plan="whole-bits=96" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: not kron-opt %s --kron-plan="cache-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=cache-bytes
// RUN: not kron-opt %s --kron-plan="l2-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=l2-bytes
// RUN: not kron-opt %s --kron-plan="stream-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=stream-bytes
// RUN: not kron-opt %s --kron-plan="stream-columns-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=stream-columns-bytes
// RUN: not kron-opt %s --kron-plan="column-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=column-bytes
// RUN: not kron-opt %s --kron-plan="row-tile-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=row-tile-bytes

// INVALID: error: expects vector-bits to be 128, 256 or 512, but got 64
// WHOLE: error: expects whole-bits to be 128, 256 or 512, but got 96
// BYTES: error: expects [[NAME]] to be at least 0, but got -1

// Verify that the remark says how the factors were grouped: two 2x2 factors at the
// inner end are one 4x4 step.
// CHECK: Plan
// CHECK-SAME: FactorsApplied=2
// CHECK-SAME: Stages=1
func.func @joined(%x: memref<64x2x2xf32>, %f: memref<2x2xf32>, %y: memref<64x2x2xf32>) {
  kron.fused ins(%x, %f : memref<64x2x2xf32>, memref<2x2xf32>) outs(%y : memref<64x2x2xf32>) {
  ^bb0(%t: tensor<64x2x2xf32>, %a: tensor<2x2xf32>, %o: tensor<64x2x2xf32>):
    %e = tensor.empty() : tensor<64x2x2xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<64x2x2xf32>) factor(%a [p, q] : tensor<2x2xf32>) outs(%e : tensor<64x2x2xf32>) -> tensor<64x2x2xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<64x2x2xf32>) factor(%a [p, q] : tensor<2x2xf32>) outs(%o : tensor<64x2x2xf32>) -> tensor<64x2x2xf32>
    kron.yield %2 : tensor<64x2x2xf32>
  }
  return
}
