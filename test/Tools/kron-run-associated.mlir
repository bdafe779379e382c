// RUN: kron-run %s --entry=first --arg=random:2000x96:f32:1 --arg=random:1x192x48x2:f32:2 --arg=random:2x48x192x1:f32:3 --arg=random:96:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=first --arg=random:3x96:f32:1 --arg=random:1x192x48x2:f32:2 --arg=random:2x48x192x1:f32:3 --arg=random:96:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=first --arg=random:0x96:f32:1 --arg=random:1x192x48x2:f32:2 --arg=random:2x48x192x1:f32:3 --arg=random:96:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=last --arg=random:96x1501:bf16:1 --arg=random:1x192x48x2:bf16:2 --arg=random:2x48x192x1:bf16:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=last --arg=random:96x7:bf16:1 --arg=random:1x192x48x2:bf16:2 --arg=random:2x48x192x1:bf16:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=known --arg=random:900x1024:f64:1 --arg=random:512x2x2x1:f64:2 --arg=random:256x2x2x2:f64:3 --arg=random:128x2x2x4:f64:4 --arg=random:16x8x8x8:f64:5 --verify | FileCheck %s
// RUN: kronc %s --mcpu=native --remarks=kron-decompose -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that chains whose factors are multiplied with each other compute what they do factor by factor: with rows of
// an unknown number, many, few and none, and of a known one. Which those of the last chain are depends on the processor.
// CHECK: verify {{.*}}: ok
// REMARK: factors 1 to 2 of 2 are multiplied with each other first
// REMARK: factors 1 to 2 of 2 are multiplied with each other first

func.func @first(%x: tensor<?x96xf32>, %f: tensor<1x192x48x2xf32>, %g: tensor<2x48x192x1xf32>, %b: tensor<96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%n) : tensor<?x384xf32>
  %v = kron.ksmm ins(%x : tensor<?x96xf32>) weights(%f : tensor<1x192x48x2xf32>) outs(%e : tensor<?x384xf32>) -> tensor<?x384xf32>
  %i = tensor.empty(%n) : tensor<?x96xf32>
  %y = kron.ksmm ins(%v : tensor<?x384xf32>) weights(%g : tensor<2x48x192x1xf32>) outs(%i : tensor<?x96xf32>) alpha(0.5 : f32)
    bias(%b : tensor<96xf32>) {activation = #kron.activation<relu>} -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

func.func @last(%x: tensor<96x?xbf16>, %f: tensor<1x192x48x2xbf16>, %g: tensor<2x48x192x1xbf16>) -> tensor<96x?xbf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<96x?xbf16>
  %e = tensor.empty(%n) : tensor<384x?xbf16>
  %v = kron.ksmm ins(%x : tensor<96x?xbf16>) weights(%f : tensor<1x192x48x2xbf16>) outs(%e : tensor<384x?xbf16>)
    {layout = #kron.layout<batch_last>} -> tensor<384x?xbf16>
  %i = tensor.empty(%n) : tensor<96x?xbf16>
  %y = kron.ksmm ins(%v : tensor<384x?xbf16>) weights(%g : tensor<2x48x192x1xbf16>) outs(%i : tensor<96x?xbf16>)
    {layout = #kron.layout<batch_last>} -> tensor<96x?xbf16>
  return %y : tensor<96x?xbf16>
}

func.func @known(%x: tensor<900x1024xf64>, %f: tensor<512x2x2x1xf64>, %g: tensor<256x2x2x2xf64>, %h: tensor<128x2x2x4xf64>,
                 %k: tensor<16x8x8x8xf64>) -> tensor<900x1024xf64> {
  %e = tensor.empty() : tensor<900x1024xf64>
  %u = kron.ksmm ins(%x : tensor<900x1024xf64>) weights(%f : tensor<512x2x2x1xf64>) outs(%e : tensor<900x1024xf64>) -> tensor<900x1024xf64>
  %v = kron.ksmm ins(%u : tensor<900x1024xf64>) weights(%g : tensor<256x2x2x2xf64>) outs(%e : tensor<900x1024xf64>) -> tensor<900x1024xf64>
  %w = kron.ksmm ins(%v : tensor<900x1024xf64>) weights(%h : tensor<128x2x2x4xf64>) outs(%e : tensor<900x1024xf64>) -> tensor<900x1024xf64>
  %y = kron.ksmm ins(%w : tensor<900x1024xf64>) weights(%k : tensor<16x8x8x8xf64>) outs(%e : tensor<900x1024xf64>) -> tensor<900x1024xf64>
  return %y : tensor<900x1024xf64>
}
