// Verify a gradient by the middle one of three factors, with one applied to each side.
// RUN: kron-run %s --entry middle --arg random:70x24:f32:1 --arg random:70x30:f32:2 --arg random:2x3:f32:3 \
// RUN:   --arg random:4x2:f32:4 --verify | FileCheck %s
// Verify one by the first factor, of a batch of products from the left: 96 positions inside
// of its axis are summed in slices.
// RUN: kron-run %s --entry first --arg random:3x96x7:f64:1 --arg random:3x160x7:f64:2 --arg random:32x32:f64:3 \
// RUN:   --verify | FileCheck %s
// Verify sums over a batch that leaves some over from 16 at a time.
// RUN: kron-run %s --entry bias --arg random:5x83:bf16:1 --verify | FileCheck %s
// CHECK: verify {{.*}}: ok
func.func @middle(%x: memref<?x24xf32>, %g: memref<?x30xf32>, %a: memref<2x3xf32>,
                  %c: memref<4x2xf32>, %d: memref<3x5xf32>) {
  kron.factor_grad ins(%x : memref<?x24xf32>) factors(%a, %c : memref<2x3xf32>, memref<4x2xf32>)
    grad(%g : memref<?x30xf32>) outs(%d : memref<3x5xf32>) {index = 1 : i64}
  return
}
func.func @first(%x: tensor<?x96x7xf64>, %g: tensor<?x160x7xf64>, %b: tensor<32x32xf64>)
    -> tensor<5x3xf64> {
  %e = tensor.empty() : tensor<5x3xf64>
  %r = kron.factor_grad ins(%x : tensor<?x96x7xf64>) factors(%b : tensor<32x32xf64>)
         grad(%g : tensor<?x160x7xf64>) outs(%e : tensor<5x3xf64>)
         {index = 0 : i64, layout = #kron.layout<batch_last>} -> tensor<5x3xf64>
  return %r : tensor<5x3xf64>
}
func.func @bias(%g: memref<5x?xbf16>, %d: memref<5xbf16>) {
  kron.bias_grad ins(%g : memref<5x?xbf16>) outs(%d : memref<5xbf16>) {layout = #kron.layout<batch_last>}
  return
}
