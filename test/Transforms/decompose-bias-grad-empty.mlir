// RUN: kron-opt %s --kron-decompose | FileCheck %s
// RUN: kron-opt %s --kron-decompose=target=cuda | FileCheck %s

// Verify that no view is taken of an array without features: it would not verify.

// CHECK-LABEL: func.func @memrefs
// CHECK-NOT:     memref.subview
// CHECK:         return
func.func @memrefs(%g: memref<?x0xf16>, %db: memref<0xf16>) {
  kron.bias_grad ins(%g : memref<?x0xf16>) outs(%db : memref<0xf16>) alpha(2.0 : f32)
  return
}

// CHECK-LABEL: func.func @tensors
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @tensors(%g: tensor<0x?xf32>, %db: tensor<0xf32>) -> tensor<0xf32> {
  %0 = kron.bias_grad ins(%g : tensor<0x?xf32>) outs(%db : tensor<0xf32>) {layout = #kron.layout<batch_last>} -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
