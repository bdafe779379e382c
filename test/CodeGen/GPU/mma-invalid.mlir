// RUN: kron-opt %s -split-input-file -verify-diagnostics --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm

// Verify that what the kernels cannot do is refused, with the reason.

func.func @integers(%x: memref<8x16xi32>, %f: memref<16x16xi32>, %y: memref<8x16xi32>) {
  // expected-error @below {{has no GPU kernel of kind mma; mma: the element type is no real floating-point type of up to 64 bits}}
  kron.fused ins(%x, %f : memref<8x16xi32>, memref<16x16xi32>) outs(%y : memref<8x16xi32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<8x16xi32>, %tf: tensor<16x16xi32>, %out: tensor<8x16xi32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x16xi32>) factor(%tf [p, q] : tensor<16x16xi32>)
         outs(%out : tensor<8x16xi32>) -> tensor<8x16xi32>
    kron.yield %1 : tensor<8x16xi32>
  }
  return
}

// -----

func.func @ieee(%x: memref<8x16xf32>, %f: memref<16x16xf32>, %y: memref<8x16xf32>) {
  // expected-error @below {{products of IEEE precision are not available to matrix instructions of 32-bit values}}
  kron.fused ins(%x, %f : memref<8x16xf32>, memref<16x16xf32>) outs(%y : memref<8x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<8x16xf32>, %tf: tensor<16x16xf32>, %out: tensor<8x16xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<8x16xf32>) {precision = #kron.precision<ieee>} -> tensor<8x16xf32>
    kron.yield %1 : tensor<8x16xf32>
  }
  return
}

// -----

func.func @too_large(%x: memref<8x64x64x64xf32>, %f: memref<64x64xf32>, %y: memref<8x64x64x64xf32>) {
  // expected-error @below {{a tile of 1048576 bytes does not fit in shared memory}}
  kron.fused ins(%x, %f : memref<8x64x64x64xf32>, memref<64x64xf32>) outs(%y : memref<8x64x64x64xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<8x64x64x64xf32>, %tf: tensor<64x64xf32>, %out: tensor<8x64x64x64xf32>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<8x64x64x64xf32>) factor(%tf [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<8x64x64x64xf32>) -> tensor<8x64x64x64xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<8x64x64x64xf32>) factor(%tf [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<8x64x64x64xf32>) -> tensor<8x64x64x64xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<8x64x64x64xf32>) factor(%tf [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<8x64x64x64xf32>) -> tensor<8x64x64x64xf32>
    kron.yield %3 : tensor<8x64x64x64xf32>
  }
  return
}

// -----

// One step has no half of its own.
func.func @cluster(%x: memref<8x16xf32>, %f: memref<16x16xf32>, %y: memref<8x16xf32>) {
  // expected-error @below {{a tile cannot be shared by a cluster}}
  kron.fused ins(%x, %f : memref<8x16xf32>, memref<16x16xf32>) outs(%y : memref<8x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma, cluster = 2>} {
  ^bb0(%tx: tensor<8x16xf32>, %tf: tensor<16x16xf32>, %out: tensor<8x16xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<8x16xf32>) -> tensor<8x16xf32>
    kron.yield %1 : tensor<8x16xf32>
  }
  return
}
