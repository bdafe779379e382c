// RUN: kron-run %s --entry contracted --arg zeros:3x0:f32 --arg zeros:0x2:f32 --out - | FileCheck %s --check-prefix=CONTRACTED
// RUN: kron-run %s --entry between --arg zeros:64x16x0x3:f16 --arg ones:16x3:f16 --verify | FileCheck %s --check-prefix=BETWEEN
// RUN: kronc %s --target cpu,nvidia --gpu-arch sm_90a -o %t.ll

// Verify that a sum over nothing is zero.
// CONTRACTED-COUNT-3: {{^}}0 0{{$}}
func.func @contracted(%x: tensor<3x0xf32>, %f: tensor<0x2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %y = kron.mode_product axis(1) ins(%x : tensor<3x0xf32>) factor(%f [p, q] : tensor<0x2xf32>)
         outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Verify that an axis of no positions beside the one that is contracted compiles.
// BETWEEN: verify result: max abs 0.00e+00{{.*}}: ok
func.func @between(%x: tensor<64x16x0x3xf16>, %f: tensor<16x3xf16>) -> tensor<64x3x0x3xf16> {
  %e = tensor.empty() : tensor<64x3x0x3xf16>
  %y = kron.mode_product axis(1) ins(%x : tensor<64x16x0x3xf16>) factor(%f [p, q] : tensor<16x3xf16>)
         outs(%e : tensor<64x3x0x3xf16>) -> tensor<64x3x0x3xf16>
  return %y : tensor<64x3x0x3xf16>
}
