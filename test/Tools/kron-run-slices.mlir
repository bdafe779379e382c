// Verify that a joint factor, of 8x8 and 1x1, reads what slices within slices left a cache line apart.
// RUN: kron-run %s --arg random:4096x3:f32:1 --arg random:8x8:f32:2 --arg random:8x8:f32:3 \
// RUN:   --arg random:1x1:f32:4 --arg random:64x64:f32:5 --verify | FileCheck %s
// CHECK: verify {{.*}} {{.*}}: ok
func.func @slices(%x: memref<4096x?xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>,
                  %f2: memref<1x1xf32>, %f3: memref<64x64xf32>, %y: memref<4096x?xf32>) {
  kron.kmm ins(%x : memref<4096x?xf32>)
    factors(%f0, %f1, %f2, %f3 : memref<8x8xf32>, memref<8x8xf32>, memref<1x1xf32>, memref<64x64xf32>)
    outs(%y : memref<4096x?xf32>)
  return
}
