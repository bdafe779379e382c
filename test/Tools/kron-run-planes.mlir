// A factor that varies over two axes, of which the first is contiguous in memory,
// is packed in planes of the second.
// RUN: kron-run %s --arg=random:16x3x16x16:f32 --arg=random:16x5x3x16:f32 --verify | FileCheck %s
// RUN: kron-run %s --vector-bits=128 --arg=random:16x3x16x16:f32 --arg=random:16x5x3x16:f32 --verify | FileCheck %s
// RUN: kron-run %s --vector-bits=256 --arg=random:16x3x16x16:f32 --arg=random:16x5x3x16:f32 --verify | FileCheck %s
// CHECK: verify arg2: {{.*}}: ok
func.func @planes(%x: memref<16x3x16x?xf32>, %f: memref<16x5x3x16xf32>, %y: memref<16x5x16x?xf32>) {
  kron.mode_product axis(1) ins(%x : memref<16x3x16x?xf32>)
    factor(%f [2, q, p, 0] : memref<16x5x3x16xf32>) outs(%y : memref<16x5x16x?xf32>)
  return
}
