// RUN: kron-opt %s --kron-decompose --cse --kron-fuse | FileCheck %s
// RUN: kron-opt %s --kron-decompose --cse --kron-fuse=vector-bits=128 --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=SMALL

// Verify that an epilogue becomes the end of the fused region before it, with bias and
// residual as inputs of that; with vectors of 128 bits gelu does not.
// CHECK-LABEL: func.func @gelu(
// CHECK:         kron.fused ins({{.*}} : tensor<64x2x4x3xf16>, tensor<2x3x4x3xf16>, tensor<2x3x3xf16>, tensor<64x2x3x3xf16>)
// CHECK:           %[[E:.*]] = tensor.empty() : tensor<64x2x3x3xf32>
// CHECK:           %[[V:.*]] = kron.mode_product {{.*}} outs(%[[E]] : tensor<64x2x3x3xf32>)
// CHECK:           kron.epilogue ins(%[[V]] : tensor<64x2x3x3xf32>) bias(%{{.*}} [1, 2, 3] : tensor<2x3x3xf16>) residual(
// CHECK-SAME:        {activation = #kron.activation<gelu>}
// CHECK-NEXT:      kron.yield
// CHECK-NOT:     kron.epilogue
// SMALL: remark: {{.*}}its function needs multiply-adds that vectors of 128 bits have not
// SMALL-LABEL: func.func @gelu(
// SMALL:         kron.yield
// SMALL:         kron.epilogue
func.func @gelu(%x: tensor<64x24xf16>, %k: tensor<2x3x4x3xf16>, %bias: tensor<18xf16>, %r: tensor<64x18xf16>, %y: tensor<64x18xf16>)
    -> tensor<64x18xf16> {
  %0 = kron.ksmm ins(%x : tensor<64x24xf16>) weights(%k : tensor<2x3x4x3xf16>) outs(%y : tensor<64x18xf16>)
         bias(%bias : tensor<18xf16>) residual(%r : tensor<64x18xf16>) {activation = #kron.activation<gelu>} -> tensor<64x18xf16>
  return %0 : tensor<64x18xf16>
}

// Verify that relu does with any vectors, and that integers stay outside.
// CHECK-LABEL: func.func @relu(
// CHECK:           kron.epilogue
// CHECK-NEXT:      kron.yield
// SMALL-LABEL: func.func @relu(
// SMALL:           kron.epilogue
// SMALL-NEXT:      kron.yield
func.func @relu(%x: tensor<64x24xf32>, %k: tensor<2x3x4x3xf32>, %y: tensor<64x18xf32>) -> tensor<64x18xf32> {
  %0 = kron.ksmm ins(%x : tensor<64x24xf32>) weights(%k : tensor<2x3x4x3xf32>) outs(%y : tensor<64x18xf32>)
         {activation = #kron.activation<relu>} -> tensor<64x18xf32>
  return %0 : tensor<64x18xf32>
}

// CHECK-LABEL: func.func @integers(
// CHECK:         kron.yield
// CHECK:         kron.epilogue
func.func @integers(%x: tensor<64x24xi32>, %k: tensor<2x3x4x3xi32>, %y: tensor<64x18xi32>) -> tensor<64x18xi32> {
  %0 = kron.ksmm ins(%x : tensor<64x24xi32>) weights(%k : tensor<2x3x4x3xi32>) outs(%y : tensor<64x18xi32>)
         {activation = #kron.activation<relu>} -> tensor<64x18xi32>
  return %0 : tensor<64x18xi32>
}
