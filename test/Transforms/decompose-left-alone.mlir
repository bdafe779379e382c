// RUN: kron-opt %s --kron-decompose --remarks-filter=kron-decompose --remark-format=emitRemark --verify-diagnostics | FileCheck %s

// Verify that a factor of dynamic shape leaves the operation as it is, and that a
// remark names the factor.
// CHECK-LABEL: func.func @dynamic_factor(
// CHECK-NEXT: %[[Y:.*]] = kron.mkm
// CHECK-NEXT: return %[[Y]]
func.func @dynamic_factor(%x: tensor<9x?xf32>, %a: tensor<8x8xf32>,
                          %b: tensor<8x?xf32>, %init: tensor<9x?xf32>)
    -> tensor<9x?xf32> {
  // expected-remark@+1 {{`kron.mkm` is left alone: factor 1 has a dynamic shape, tensor<8x?xf32>}}
  %y = kron.mkm ins(%x : tensor<9x?xf32>)
         factors(%a, %b : tensor<8x8xf32>, tensor<8x?xf32>)
         outs(%init : tensor<9x?xf32>) -> tensor<9x?xf32>
  return %y : tensor<9x?xf32>
}

// CHECK-LABEL: func.func @dynamic_weights(
// CHECK-NEXT: kron.ksmm
func.func @dynamic_weights(%x: memref<9x?xf32>, %k: memref<?x3x4x5xf32>,
                           %y: memref<9x?xf32>) {
  // expected-remark@+1 {{`kron.ksmm` is left alone: factor 0 has a dynamic shape, memref<?x3x4x5xf32>}}
  kron.ksmm ins(%x : memref<9x?xf32>) weights(%k : memref<?x3x4x5xf32>)
    outs(%y : memref<9x?xf32>)
  return
}

// Verify that a gradient needs the sizes of its result only.
// CHECK-LABEL: func.func @dynamic_pattern(
// CHECK-NEXT: kron.ksmm_grad
// CHECK-NEXT: return
func.func @dynamic_pattern(%x: memref<9x?xf32>, %g: memref<9x?xf32>,
                           %d: memref<?x3x4x5xf32>) {
  // expected-remark@+1 {{`kron.ksmm_grad` is left alone: the result has a dynamic shape, memref<?x3x4x5xf32>}}
  kron.ksmm_grad ins(%x : memref<9x?xf32>) grad(%g : memref<9x?xf32>)
    outs(%d : memref<?x3x4x5xf32>)
  return
}

// Verify that mode products stay as they are.
// CHECK-LABEL: func.func @mode_product(
// CHECK-NEXT: kron.mode_product axis(0)
// CHECK-NEXT: return
func.func @mode_product(%x: memref<4x9xf32>, %a: memref<4x4xf32>, %y: memref<4x9xf32>) {
  kron.mode_product axis(0) ins(%x : memref<4x9xf32>)
    factor(%a [p, q] : memref<4x4xf32>) outs(%y : memref<4x9xf32>)
  return
}
