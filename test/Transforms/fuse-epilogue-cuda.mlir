// RUN: kron-opt %s --kron-decompose=target=cuda --cse --kron-fuse='target=cuda chip=sm_90a' \
// RUN:   --remarks-filter=kron-fuse 2>&1 | FileCheck %s --check-prefixes=REMARK
// RUN: kron-opt %s --kron-decompose=target=cuda --cse --kron-fuse='target=cuda chip=sm_90a' | FileCheck %s

// REMARK: [Passed] Epilogue {{.*}}the epilogue is part of its product
// REMARK: [Missed] Epilogue {{.*}}the epilogue is a kernel of its own: {{.*}}there is an epilogue

// Verify that an epilogue joins its product on memrefs: the buffer of f32 that kept
// f16 from being rounded twice disappears.
// CHECK-LABEL: func.func @half(
// CHECK-SAME: %{{.*}}: memref<?x40xf16>, %{{.*}}: memref<2x3x4x5xf16>, %[[B:.*]]: memref<30xf16>, %[[Y:.*]]: memref<?x30xf16>)
// CHECK-DAG: %[[OUT:.*]] = memref.expand_shape %[[Y]]
// CHECK-DAG: %[[BIAS:.*]] = memref.expand_shape %[[B]]
// CHECK-NOT: memref.alloc
// CHECK: kron.fused ins(%{{.*}}, %{{.*}}, %[[BIAS]] : {{.*}}) outs(%[[OUT]] : memref<?x2x3x5xf16>)
// CHECK: ^bb0(%{{.*}}, %{{.*}}, %[[TB:.*]]: tensor<2x3x5xf16>, %[[TO:.*]]: tensor<?x2x3x5xf16>):
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x2x3x5xf32>
// CHECK: %[[V:.*]] = kron.mode_product {{.*}} outs(%[[E]] : tensor<?x2x3x5xf32>)
// CHECK: %[[W:.*]] = kron.epilogue ins(%[[V]] : tensor<?x2x3x5xf32>) bias(%[[TB]] [1, 2, 3] : tensor<2x3x5xf16>) outs(%[[TO]] : tensor<?x2x3x5xf16>) {activation = #kron.activation<gelu>}
// CHECK: kron.yield %[[W]]
// CHECK-NOT: memref.dealloc
// CHECK-NOT: kron.epilogue
func.func @half(%x: memref<?x40xf16>, %k: memref<2x3x4x5xf16>, %b: memref<30xf16>, %y: memref<?x30xf16>) {
  kron.ksmm ins(%x : memref<?x40xf16>) weights(%k : memref<2x3x4x5xf16>) outs(%y : memref<?x30xf16>) bias(%b : memref<30xf16>)
    {activation = #kron.activation<gelu>}
  return
}

// Verify that what the destination holds is then an addend, and that an epilogue in
// place needs no buffer either.
// CHECK-LABEL: func.func @beta(
// CHECK: kron.fused
// CHECK: ^bb0({{.*}}%[[TO:.*]]: tensor<9x2x3x5xf32>):
// CHECK: kron.mode_product {{.*}} beta(2.000000e+00 : f32) addend(%[[TO]] : tensor<9x2x3x5xf32>)
// CHECK: kron.epilogue
// CHECK: kron.yield
func.func @beta(%x: memref<9x40xf32>, %k: memref<2x3x4x5xf32>, %y: memref<9x30xf32>) {
  kron.ksmm ins(%x : memref<9x40xf32>) weights(%k : memref<2x3x4x5xf32>) outs(%y : memref<9x30xf32>) beta(2.0 : f32)
    {activation = #kron.activation<relu>}
  return
}

// Verify the same on tensors, with a residual that is the destination.
// CHECK-LABEL: func.func @tensors(
// CHECK: %[[Y:.*]] = kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[R:.*]] : {{.*}}) outs(%[[R]] : tensor<9x2x3x5xbf16>)
// CHECK: kron.epilogue {{.*}} residual(
// CHECK: kron.yield
// CHECK: tensor.collapse_shape %[[Y]]
func.func @tensors(%x: tensor<9x40xbf16>, %k: tensor<2x3x4x5xbf16>, %b: tensor<30xbf16>, %r: tensor<9x30xbf16>) -> tensor<9x30xbf16> {
  %y = kron.ksmm ins(%x : tensor<9x40xbf16>) weights(%k : tensor<2x3x4x5xbf16>) outs(%r : tensor<9x30xbf16>)
    bias(%b : tensor<30xbf16>) residual(%r : tensor<9x30xbf16>) {scale = 0.5 : f32} -> tensor<9x30xbf16>
  return %y : tensor<9x30xbf16>
}

// Verify that a sum with Z in f32, which the fused region would round, keeps them apart ...
// CHECK-LABEL: func.func @beta_half(
// CHECK: kron.fused
// CHECK: linalg.generic
// CHECK: kron.epilogue ins(%{{.*}} : memref<9x2x3x5xf32>)
func.func @beta_half(%x: memref<9x40xf16>, %k: memref<2x3x4x5xf16>, %y: memref<9x30xf16>) {
  kron.ksmm ins(%x : memref<9x40xf16>) weights(%k : memref<2x3x4x5xf16>) outs(%y : memref<9x30xf16>) beta(2.0 : f32)
    {activation = #kron.activation<relu>}
  return
}

// Verify that ... so does anything that touches memory between them, or another use.
// CHECK-LABEL: func.func @apart(
// CHECK: kron.fused
// CHECK: memref.load
// CHECK: kron.epilogue
// CHECK: kron.fused
// CHECK: kron.epilogue
// CHECK: memref.dealloc
func.func @apart(%x: memref<9x2x4x5xf32>, %k: memref<2x3x4x5xf32>, %y: memref<9x2x3x5xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  kron.fused ins(%x, %k : memref<9x2x4x5xf32>, memref<2x3x4x5xf32>) outs(%y : memref<9x2x3x5xf32>) {
  ^bb0(%tx: tensor<9x2x4x5xf32>, %tk: tensor<2x3x4x5xf32>, %ty: tensor<9x2x3x5xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<9x2x4x5xf32>) factor(%tk [1, q, p, 3] : tensor<2x3x4x5xf32>)
           outs(%ty : tensor<9x2x3x5xf32>) -> tensor<9x2x3x5xf32>
    kron.yield %1 : tensor<9x2x3x5xf32>
  }
  %v = memref.load %y[%c0, %c0, %c0, %c0] : memref<9x2x3x5xf32>
  kron.epilogue ins(%y : memref<9x2x3x5xf32>) outs(%y : memref<9x2x3x5xf32>) {activation = #kron.activation<relu>}
  %t = memref.alloc() : memref<9x2x3x5xf32>
  kron.fused ins(%x, %k : memref<9x2x4x5xf32>, memref<2x3x4x5xf32>) outs(%t : memref<9x2x3x5xf32>) {
  ^bb0(%tx: tensor<9x2x4x5xf32>, %tk: tensor<2x3x4x5xf32>, %ty: tensor<9x2x3x5xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<9x2x4x5xf32>) factor(%tk [1, q, p, 3] : tensor<2x3x4x5xf32>)
           outs(%ty : tensor<9x2x3x5xf32>) -> tensor<9x2x3x5xf32>
    kron.yield %1 : tensor<9x2x3x5xf32>
  }
  kron.epilogue ins(%t : memref<9x2x3x5xf32>) outs(%y : memref<9x2x3x5xf32>) {activation = #kron.activation<relu>}
  %w = memref.load %t[%c0, %c0, %c0, %c0] : memref<9x2x3x5xf32>
  memref.dealloc %t : memref<9x2x3x5xf32>
  %sum = arith.addf %v, %w : f32
  return %sum : f32
}

// Verify that a fast kernel that takes the product alone keeps it: that of small factors,
// whose multiply-adds are IEEE.
// CHECK-LABEL: func.func @ieee(
// CHECK: kron.fused
// CHECK: kron.epilogue ins(%{{.*}} : memref<64x1x8x1xf32>)
func.func @ieee(%x: memref<64x8xf32>, %k: memref<1x8x8x1xf32>, %y: memref<64x8xf32>) {
  kron.ksmm ins(%x : memref<64x8xf32>) weights(%k : memref<1x8x8x1xf32>) outs(%y : memref<64x8xf32>)
    {activation = #kron.activation<relu>, precision = #kron.precision<ieee>}
  return
}

// Verify the same on tensors, of the emitters that look at strides.
// CHECK-LABEL: func.func @ieee_tensors(
// CHECK: kron.fused
// CHECK: kron.epilogue ins(%{{.*}} : tensor<1x3x1x?xf64>)
func.func @ieee_tensors(%x: tensor<3x?xf64>, %k: tensor<1x3x3x1xf64>, %y: tensor<3x?xf64>) -> tensor<3x?xf64> {
  %0 = kron.ksmm ins(%x : tensor<3x?xf64>) weights(%k : tensor<1x3x3x1xf64>) outs(%y : tensor<3x?xf64>)
    {activation = #kron.activation<relu>, precision = #kron.precision<ieee>, layout = #kron.layout<batch_last>} -> tensor<3x?xf64>
  return %0 : tensor<3x?xf64>
}
