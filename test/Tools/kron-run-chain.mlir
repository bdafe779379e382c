// RUN: kron-run %s --entry=first --arg=random:100x24:f32:1 --arg=random:2x3x4x3:f32:2 --arg=random:1x5x6x3:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=first --arg=random:100x24:f32:1 --arg=random:2x3x4x3:f32:2 --arg=random:1x5x6x3:f32:3 --verify \
// RUN:   --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=last --arg=random:24x100:f16:1 --arg=random:2x3x4x3:f16:2 --arg=random:1x5x6x3:f16:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=rows_in_lanes --arg=random:196x200:f32:1 --arg=random:25x3x8x1:f32:2 --arg=random:1x6x3x25:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=tile_of_more --arg=random:1500x1:f32:1 --arg=random:20x10x5x15:f32:2 --arg=random:1x6x250x12:f32:3 \
// RUN:   --verify | FileCheck %s

// Verify that chains whose axes are regrouped between factors are right in one fused region:
// in both layouts, with f32 between factors of f16, with lanes over rows for factors
// that fill no vector, and for a tile of more rows than there are.
// CHECK: verify {{.*}}: ok

func.func @first(%x: tensor<100x24xf32>, %a: tensor<2x3x4x3xf32>, %b: tensor<1x5x6x3xf32>) -> tensor<100x15xf32> {
  %e = tensor.empty() : tensor<100x18xf32>
  %1 = kron.ksmm ins(%x : tensor<100x24xf32>) weights(%a : tensor<2x3x4x3xf32>)
         outs(%e : tensor<100x18xf32>) -> tensor<100x18xf32>
  %f = tensor.empty() : tensor<100x15xf32>
  %2 = kron.ksmm ins(%1 : tensor<100x18xf32>) weights(%b : tensor<1x5x6x3xf32>)
         outs(%f : tensor<100x15xf32>) {plan = #kron.cpu_plan<regions = [2]>} -> tensor<100x15xf32>
  return %2 : tensor<100x15xf32>
}

func.func @last(%x: tensor<24x100xf16>, %a: tensor<2x3x4x3xf16>, %b: tensor<1x5x6x3xf16>) -> tensor<15x100xf16> {
  %e = tensor.empty() : tensor<18x100xf16>
  %1 = kron.ksmm ins(%x : tensor<24x100xf16>) weights(%a : tensor<2x3x4x3xf16>)
         outs(%e : tensor<18x100xf16>) {layout = #kron.layout<batch_last>} -> tensor<18x100xf16>
  %f = tensor.empty() : tensor<15x100xf16>
  %2 = kron.ksmm ins(%1 : tensor<18x100xf16>) weights(%b : tensor<1x5x6x3xf16>)
         outs(%f : tensor<15x100xf16>) {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<tile = 32, regions = [2]>}
         -> tensor<15x100xf16>
  return %2 : tensor<15x100xf16>
}

func.func @rows_in_lanes(%x: tensor<196x200xf32>, %a: tensor<25x3x8x1xf32>, %b: tensor<1x6x3x25xf32>) -> tensor<196x150xf32> {
  %e = tensor.empty() : tensor<196x75xf32>
  %1 = kron.ksmm ins(%x : tensor<196x200xf32>) weights(%a : tensor<25x3x8x1xf32>)
         outs(%e : tensor<196x75xf32>) -> tensor<196x75xf32>
  %f = tensor.empty() : tensor<196x150xf32>
  %2 = kron.ksmm ins(%1 : tensor<196x75xf32>) weights(%b : tensor<1x6x3x25xf32>)
         outs(%f : tensor<196x150xf32>) {plan = #kron.cpu_plan<tile = 1, regions = [2]>} -> tensor<196x150xf32>
  return %2 : tensor<196x150xf32>
}

func.func @tile_of_more(%x: tensor<1500x1xf32>, %a: tensor<20x10x5x15xf32>, %b: tensor<1x6x250x12xf32>) -> tensor<72x1xf32> {
  %e = tensor.empty() : tensor<3000x1xf32>
  %1 = kron.ksmm ins(%x : tensor<1500x1xf32>) weights(%a : tensor<20x10x5x15xf32>)
         outs(%e : tensor<3000x1xf32>) {layout = #kron.layout<batch_last>} -> tensor<3000x1xf32>
  %f = tensor.empty() : tensor<72x1xf32>
  %2 = kron.ksmm ins(%1 : tensor<3000x1xf32>) weights(%b : tensor<1x6x250x12xf32>)
         outs(%f : tensor<72x1xf32>) {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<tile = 8, regions = [2]>}
         -> tensor<72x1xf32>
  return %2 : tensor<72x1xf32>
}
