// RUN: kronc %s -o %t.o
// RUN: llvm-nm -u %t.o | FileCheck %s

// Verify that rounding to bf16, also of vectors, needs no compiler library: the one
// that Debian 12 links has no __truncsfbf2.
// CHECK-NOT: bf2
func.func @rounded(%x: memref<2x3x?x12xbf16>, %f0: memref<4x1xbf16>, %f1: memref<3x3xbf16>,
                   %beta: f32, %y: memref<2x3x?x3xbf16>) {
  kron.mkm ins(%x : memref<2x3x?x12xbf16>) factors(%f0, %f1 : memref<4x1xbf16>, memref<3x3xbf16>)
           outs(%y : memref<2x3x?x3xbf16>) alpha(2.0 : f32) beta(%beta : f32)
  return
}

// Verify that neither does arithmetic that a program has of its own.
func.func @arithmetic(%x: tensor<?x8xbf16>, %z: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x8xbf16>) outs(%z : tensor<?x8xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    %c = arith.cmpf olt, %s, %a : bf16
    %m = arith.maximumf %s, %b : bf16
    %t = arith.select %c, %m, %b : bf16
    %e = math.exp %t : bf16
    %n = arith.negf %e : bf16
    linalg.yield %n : bf16
  } -> tensor<?x8xbf16>
  return %r : tensor<?x8xbf16>
}
