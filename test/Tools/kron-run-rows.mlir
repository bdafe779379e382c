// RUN: kron-run %s --entry=first --arg=random:100x2048:f32:1 --arg=random:256x8x8x1:f32:2 --arg=random:1x8x8x256:f32:3 --arg=random:2048:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=first --arg=random:1234x2048:f32:1 --arg=random:256x8x8x1:f32:2 --arg=random:1x8x8x256:f32:3 --arg=random:2048:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=first --arg=random:0x2048:f32:1 --arg=random:256x8x8x1:f32:2 --arg=random:1x8x8x256:f32:3 --arg=random:2048:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=last --arg=random:512x77:f16:1 --arg=random:128x4x4x1:f16:2 --arg=random:32x4x4x4:f16:3 --arg=random:4x8x8x16:f16:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=last --arg=random:512x3001:f16:1 --arg=random:128x4x4x1:f16:2 --arg=random:32x4x4x4:f16:3 --arg=random:4x8x8x16:f16:4 --verify | FileCheck %s

// Verify chains whose number of rows is known only at run time: with few rows, many and none.
// CHECK: verify {{.*}}: ok

func.func @first(%x: tensor<?x2048xf32>, %a: tensor<256x8x8x1xf32>, %b: tensor<1x8x8x256xf32>, %bias: tensor<2048xf32>)
    -> tensor<?x2048xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2048xf32>
  %e = tensor.empty(%rows) : tensor<?x2048xf32>
  %1 = kron.ksmm ins(%x : tensor<?x2048xf32>) weights(%a : tensor<256x8x8x1xf32>)
         outs(%e : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %2 = kron.ksmm ins(%1 : tensor<?x2048xf32>) weights(%b : tensor<1x8x8x256xf32>)
         outs(%e : tensor<?x2048xf32>) bias(%bias : tensor<2048xf32>) {activation = #kron.activation<gelu>} -> tensor<?x2048xf32>
  return %2 : tensor<?x2048xf32>
}

func.func @last(%x: tensor<512x?xf16>, %a: tensor<128x4x4x1xf16>, %b: tensor<32x4x4x4xf16>, %c: tensor<4x8x8x16xf16>) -> tensor<512x?xf16> {
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c1 : tensor<512x?xf16>
  %e = tensor.empty(%rows) : tensor<512x?xf16>
  %1 = kron.ksmm ins(%x : tensor<512x?xf16>) weights(%a : tensor<128x4x4x1xf16>) outs(%e : tensor<512x?xf16>)
         {layout = #kron.layout<batch_last>} -> tensor<512x?xf16>
  %2 = kron.ksmm ins(%1 : tensor<512x?xf16>) weights(%b : tensor<32x4x4x4xf16>) outs(%e : tensor<512x?xf16>)
         {layout = #kron.layout<batch_last>} -> tensor<512x?xf16>
  %3 = kron.ksmm ins(%2 : tensor<512x?xf16>) weights(%c : tensor<4x8x8x16xf16>) outs(%e : tensor<512x?xf16>)
         {layout = #kron.layout<batch_last>} -> tensor<512x?xf16>
  return %3 : tensor<512x?xf16>
}
