// RUN: kron-opt %s --kron-bufferize | FileCheck %s

// Verify that memory which leaves a loop is freed beside a function of pairs, whose regions upstream's
// deallocation does not take.
// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for
// CHECK:           %[[NEXT:.*]] = memref.alloc
// CHECK:           kron.pairwise square_diff ins(
// CHECK-SAME:        outs(%[[NEXT]] :
// CHECK:             math.exp
// CHECK:         memref.dealloc
// CHECK-NOT:   kron_pairwise
func.func @loop(%x: memref<8x8xf64>, %y: memref<8x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x0 = bufferization.to_tensor %x restrict : memref<8x8xf64> to tensor<8x8xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x0) -> (tensor<8x8xf64>) {
    %e = tensor.empty() : tensor<8x8xf64>
    %0 = kron.pairwise square_diff ins(%a, %a : tensor<8x8xf64>, tensor<8x8xf64>) outs(%e : tensor<8x8xf64>) epilogue {
    ^bb0(%s: f64):
      %k = math.exp %s : f64
      kron.pairwise_yield %k : f64
    } -> tensor<8x8xf64>
    scf.yield %0 : tensor<8x8xf64>
  }
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8x8xf64>, memref<8x8xf64>) -> ()
  return
}
