// RUN: kron-opt %s --kron-fuse=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-fuse=target=cuda --kron-bufferize --kron-plan=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-fuse=target=cuda --kron-bufferize --kron-plan=target=cuda \
// RUN:   --split-input-file --kron-tile --verify-diagnostics -o /dev/null

// Verify that products over nothing are one fused region, for which nothing is planned, and that no kernel
// of such takes it.

// CHECK-LABEL: func.func @contracted
// CHECK: kron.fused
// CHECK-NOT: plan
func.func @contracted(%x: tensor<64x0xf32>, %f: tensor<0x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  // expected-error @+1 {{'kron.fused' op cannot become a GPU kernel: an array has no elements}}
  %y = kron.mode_product axis(1) ins(%x : tensor<64x0xf32>) factor(%f [p, q] : tensor<0x16xf32>)
         outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// -----

// CHECK-LABEL: func.func @between
// CHECK: kron.fused
// CHECK-NOT: plan
func.func @between(%x: tensor<64x16x16xf64>, %f: tensor<16x0xf64>, %g: tensor<0x16xf64>)
    -> tensor<64x16x16xf64> {
  %e0 = tensor.empty() : tensor<64x16x0xf64>
  %y0 = kron.mode_product axis(2) ins(%x : tensor<64x16x16xf64>) factor(%f [p, q] : tensor<16x0xf64>)
          outs(%e0 : tensor<64x16x0xf64>) -> tensor<64x16x0xf64>
  %e1 = tensor.empty() : tensor<64x16x16xf64>
  // expected-error @+1 {{'kron.fused' op cannot become a GPU kernel: an array has no elements}}
  %y1 = kron.mode_product axis(2) ins(%y0 : tensor<64x16x0xf64>) factor(%g [p, q] : tensor<0x16xf64>)
          outs(%e1 : tensor<64x16x16xf64>) -> tensor<64x16x16xf64>
  return %y1 : tensor<64x16x16xf64>
}

// -----

// CHECK-LABEL: func.func @rows
// CHECK: kron.fused
// CHECK-NOT: plan
func.func @rows(%x: tensor<0x64x64xf16>, %f: tensor<64x64xf16>) -> tensor<0x64x64xf16> {
  %e = tensor.empty() : tensor<0x64x64xf16>
  // expected-error @+1 {{'kron.fused' op cannot become a GPU kernel: an array has no elements}}
  %y = kron.mode_product axis(2) ins(%x : tensor<0x64x64xf16>) factor(%f [q, p] : tensor<64x64xf16>)
         outs(%e : tensor<0x64x64xf16>) -> tensor<0x64x64xf16>
  return %y : tensor<0x64x64xf16>
}
