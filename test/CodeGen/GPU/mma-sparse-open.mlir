// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that an axis of unknown size, along which a factor varies, has as many positions
// as the factor: the tiles of two groups are at most 48 CTAs.
// CHECK-LABEL: func.func @open_groups(
// CHECK:         kronRtCudaNumSMs
// CHECK:         %[[TILES:.*]] = arith.constant 48 : i64
// CHECK:         arith.minsi %[[TILES]], %{{.*}} : i64
// CHECK:         llvm.call @kronRtCudaLaunch(
// CHECK-NOT:     -9223372036854775808
func.func @open_groups(%x: memref<?x1x384x64xf32>, %k: memref<2x64x64xf32>, %y: memref<?x1x384x64xf32>) {
  kron.fused ins(%x, %k : memref<?x1x384x64xf32>, memref<2x64x64xf32>) outs(%y : memref<?x1x384x64xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x1x384x64xf32>, %tk: tensor<2x64x64xf32>, %ty: tensor<?x1x384x64xf32>):
    %0 = kron.mode_product axis(3) ins(%tx : tensor<?x1x384x64xf32>) factor(%tk [0, p, q] : tensor<2x64x64xf32>)
         outs(%ty : tensor<?x1x384x64xf32>) -> tensor<?x1x384x64xf32>
    kron.yield %0 : tensor<?x1x384x64xf32>
  }
  return
}

// Verify the same for an axis whose positions are neighbours in memory.
// CHECK-LABEL: func.func @open_lanes(
// CHECK-NOT:     -9223372036854775808
// CHECK:         llvm.func @open_lanes_0(
func.func @open_lanes(%x: memref<5x8x5x?xf32>, %k: memref<5x16x8x5xf32>, %y: memref<5x16x5x?xf32>) {
  kron.fused ins(%x, %k : memref<5x8x5x?xf32>, memref<5x16x8x5xf32>) outs(%y : memref<5x16x5x?xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<5x8x5x?xf32>, %tk: tensor<5x16x8x5xf32>, %ty: tensor<5x16x5x?xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<5x8x5x?xf32>) factor(%tk [3, q, p, 0] : tensor<5x16x8x5xf32>)
         outs(%ty : tensor<5x16x5x?xf32>) -> tensor<5x16x5x?xf32>
    kron.yield %0 : tensor<5x16x5x?xf32>
  }
  return
}
