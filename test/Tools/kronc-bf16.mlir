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
