// RUN: kron-run %s --entry=first --arg=random:100x24:f32:1 --arg=random:2x3x4x3:f32:2 --arg=random:18:f32:3 --arg=random:100x18:f32:4 \
// RUN:   --verify | FileCheck %s
// RUN: kron-run %s --entry=first --arg=random:100x24:f32:1 --arg=random:2x3x4x3:f32:2 --arg=random:18:f32:3 --arg=random:100x18:f32:4 \
// RUN:   --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=last --arg=random:768x100:bf16:1 --arg=random:2x48x24x16:bf16:2 --arg=random:1536:bf16:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=chain --arg=random:5000x96:f16:1 --arg=random:4x32x24x1:f16:2 --arg=random:1x16x16x8:f16:3 --arg=random:128:f16:4 \
// RUN:   --verify | FileCheck %s
// RUN: kron-run %s --entry=few_rows --arg=random:3x512:f32:1 --arg=random:1x64x64x8:f32:2 --arg=random:512:f32:3 --verify | FileCheck %s

// Verify epilogues at the end of fused regions: bias, every activation, scale and residual
// (which may be the destination), in both layouts, behind chains and few rows.
// CHECK: verify {{.*}}: ok

func.func @first(%x: memref<100x24xf32>, %k: memref<2x3x4x3xf32>, %bias: memref<18xf32>, %y: memref<100x18xf32>) {
  kron.ksmm ins(%x : memref<100x24xf32>) weights(%k : memref<2x3x4x3xf32>) outs(%y : memref<100x18xf32>)
    bias(%bias : memref<18xf32>) residual(%y : memref<100x18xf32>) {activation = #kron.activation<gelu>, scale = 0.5 : f32}
  return
}

func.func @last(%x: tensor<768x100xbf16>, %k: tensor<2x48x24x16xbf16>, %bias: tensor<1536xbf16>) -> tensor<1536x100xbf16> {
  %e = tensor.empty() : tensor<1536x100xbf16>
  %0 = kron.ksmm ins(%x : tensor<768x100xbf16>) weights(%k : tensor<2x48x24x16xbf16>) outs(%e : tensor<1536x100xbf16>)
         bias(%bias : tensor<1536xbf16>) {activation = #kron.activation<silu>, layout = #kron.layout<batch_last>} -> tensor<1536x100xbf16>
  return %0 : tensor<1536x100xbf16>
}

func.func @chain(%x: tensor<5000x96xf16>, %a: tensor<4x32x24x1xf16>, %b: tensor<1x16x16x8xf16>, %bias: tensor<128xf16>)
    -> tensor<5000x128xf16> {
  %e = tensor.empty() : tensor<5000x128xf16>
  %0 = kron.ksmm ins(%x : tensor<5000x96xf16>) weights(%a : tensor<4x32x24x1xf16>) outs(%e : tensor<5000x128xf16>) -> tensor<5000x128xf16>
  %1 = kron.ksmm ins(%0 : tensor<5000x128xf16>) weights(%b : tensor<1x16x16x8xf16>) outs(%e : tensor<5000x128xf16>)
         bias(%bias : tensor<128xf16>) {activation = #kron.activation<relu>, plan = #kron.cpu_plan<regions = [2]>} -> tensor<5000x128xf16>
  return %1 : tensor<5000x128xf16>
}

func.func @few_rows(%x: tensor<3x512xf32>, %k: tensor<1x64x64x8xf32>, %bias: tensor<512xf32>) -> tensor<3x512xf32> {
  %e = tensor.empty() : tensor<3x512xf32>
  %0 = kron.ksmm ins(%x : tensor<3x512xf32>) weights(%k : tensor<1x64x64x8xf32>) outs(%e : tensor<3x512xf32>)
         bias(%bias : tensor<512xf32>) {activation = #kron.activation<silu>} -> tensor<3x512xf32>
  return %0 : tensor<3x512xf32>
}
