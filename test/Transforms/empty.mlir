// RUN: kron-opt %s --kron-fuse | FileCheck %s
// RUN: kron-opt %s --kron-fuse --kron-bufferize --kron-plan | FileCheck %s
// RUN: kron-opt %s --kron-fuse --kron-bufferize --kron-plan \
// RUN:   --split-input-file --convert-kron-to-vector --verify-diagnostics -o /dev/null

// Verify that products over nothing are one fused region, for which nothing is planned, and that no loops
// of tiles take it.

// CHECK-LABEL: func.func @contracted
// CHECK: kron.fused
// CHECK-NOT: plan
func.func @contracted(%x: tensor<64x0xf32>, %f: tensor<0x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  // expected-error @+1 {{'kron.mode_product' op cannot become vector code: an array has no elements}}
  %y = kron.mode_product axis(1) ins(%x : tensor<64x0xf32>) factor(%f [p, q] : tensor<0x16xf32>)
         outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// -----

// CHECK-LABEL: func.func @between
// CHECK: kron.fused
// CHECK-NOT: plan
func.func @between(%x: tensor<64x16x0x3xf16>, %f: tensor<16x3xf16>) -> tensor<64x3x0x3xf16> {
  %e = tensor.empty() : tensor<64x3x0x3xf16>
  // expected-error @+1 {{'kron.mode_product' op cannot become vector code: an array has no elements}}
  %y = kron.mode_product axis(1) ins(%x : tensor<64x16x0x3xf16>) factor(%f [p, q] : tensor<16x3xf16>)
         outs(%e : tensor<64x3x0x3xf16>) -> tensor<64x3x0x3xf16>
  return %y : tensor<64x3x0x3xf16>
}

// -----

// CHECK-LABEL: func.func @nothing
// CHECK: kron.fused
// CHECK-NOT: plan
func.func @nothing(%x: memref<33x0xf32>, %f: memref<0x0xf32>, %y: memref<33x0xf32>) {
  // expected-error @+1 {{'kron.mode_product' op cannot become vector code: an array has no elements}}
  kron.mode_product axis(1) ins(%x : memref<33x0xf32>) factor(%f [p, q] : memref<0x0xf32>)
    outs(%y : memref<33x0xf32>)
  return
}
