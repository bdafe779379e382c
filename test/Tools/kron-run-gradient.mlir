// Verify that lanes over blocks of a gradient take each block's own elements of the 16-bit factor.
// RUN: kron-run %s --arg random:8x32:f16:1 --arg random:8x16:f16:2 --arg random:4x1x2x4:f16:3 --verify | FileCheck %s
// CHECK: verify result: {{.*}}: ok
func.func @gradient(%x: tensor<8x32xf16>, %g: tensor<8x16xf16>, %init: tensor<4x1x2x4xf16>)
    -> tensor<4x1x2x4xf16> {
  %result = kron.ksmm_grad ins(%x : tensor<8x32xf16>) grad(%g : tensor<8x16xf16>)
              outs(%init : tensor<4x1x2x4xf16>) -> tensor<4x1x2x4xf16>
  return %result : tensor<4x1x2x4xf16>
}
