// RUN: kron-opt %s -split-input-file -verify-diagnostics --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm

// Verify that a plan that asks for wgmma where it cannot be is an error.

func.func @ieee(%x: memref<8x32xf32>, %f: memref<32x32xf32>, %y: memref<8x32xf32>) {
  // expected-error @below {{has no GPU kernel of kind wgmma; wgmma: precision ieee needs IEEE multiply-adds}}
  kron.fused ins(%x, %f : memref<8x32xf32>, memref<32x32xf32>) outs(%y : memref<8x32xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<8x32xf32>, %tf: tensor<32x32xf32>, %out: tensor<8x32xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x32xf32>) factor(%tf [p, q] : tensor<32x32xf32>)
         outs(%out : tensor<8x32xf32>) {precision = #kron.precision<ieee>} -> tensor<8x32xf32>
    kron.yield %1 : tensor<8x32xf32>
  }
  return
}

// -----

func.func @f64(%x: memref<8x32xf64>, %f: memref<32x32xf64>, %y: memref<8x32xf64>) {
  // expected-error @below {{has no GPU kernel of kind wgmma; wgmma: elements are not f32, f16 or bf16}}
  kron.fused ins(%x, %f : memref<8x32xf64>, memref<32x32xf64>) outs(%y : memref<8x32xf64>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<8x32xf64>, %tf: tensor<32x32xf64>, %out: tensor<8x32xf64>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x32xf64>) factor(%tf [p, q] : tensor<32x32xf64>)
         outs(%out : tensor<8x32xf64>) -> tensor<8x32xf64>
    kron.yield %1 : tensor<8x32xf64>
  }
  return
}

// -----

// Two factors of 128 x 128 take 256 KB as two TF32 copies each.
func.func @large(%x: memref<8x128x128xf32>, %f: memref<128x128xf32>, %y: memref<8x128x128xf32>) {
  // expected-error @below {{has no GPU kernel of kind wgmma; wgmma: factors and a tile do not fit shared memory}}
  kron.fused ins(%x, %f : memref<8x128x128xf32>, memref<128x128xf32>) outs(%y : memref<8x128x128xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<8x128x128xf32>, %tf: tensor<128x128xf32>, %out: tensor<8x128x128xf32>):
    %e = tensor.empty() : tensor<8x128x128xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<8x128x128xf32>) factor(%tf [p, q] : tensor<128x128xf32>)
         outs(%e : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<8x128x128xf32>) factor(%tf [p, q] : tensor<128x128xf32>)
         outs(%out : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
    kron.yield %2 : tensor<8x128x128xf32>
  }
  return
}

// -----

// The residuals of a split are rounded to bf16, which sums of 3 products do not hide.
func.func @short_sums(%x: memref<1000x3xf32>, %f: memref<25x3xf32>, %y: memref<1000x25xf32>) {
  // expected-error @below {{has no GPU kernel of kind wgmma; wgmma: sums of fewer than 32 products need more accurate ones}}
  kron.fused ins(%x, %f : memref<1000x3xf32>, memref<25x3xf32>) outs(%y : memref<1000x25xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<1000x3xf32>, %tf: tensor<25x3xf32>, %out: tensor<1000x25xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<1000x3xf32>) factor(%tf [q, p] : tensor<25x3xf32>)
         outs(%out : tensor<1000x25xf32>) -> tensor<1000x25xf32>
    kron.yield %1 : tensor<1000x25xf32>
  }
  return
}
