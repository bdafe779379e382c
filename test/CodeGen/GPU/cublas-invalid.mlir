// RUN: kron-opt %s -verify-diagnostics --kron-plan="target=cuda chip=sm_90a" --convert-kron-to-nvvm=chip=sm_90a

// Verify that what is no matrix product is refused, with the reason.
func.func @by_t(%x: memref<64x32x4xf16>, %k: memref<16x32x4xf16>, %y: memref<64x16x4xf16>) {
  // expected-error @below {{cannot be a call of cuBLAS: neither rows nor columns of a matrix are neighbours in memory}}
  kron.fused ins(%x, %k : memref<64x32x4xf16>, memref<16x32x4xf16>) outs(%y : memref<64x16x4xf16>)
      attributes {plan = #kron.gpu_plan<kernel = cublas>} {
  ^bb0(%tx: tensor<64x32x4xf16>, %tk: tensor<16x32x4xf16>, %ty: tensor<64x16x4xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<64x32x4xf16>) factor(%tk [q, p, 2] : tensor<16x32x4xf16>)
         outs(%ty : tensor<64x16x4xf16>) -> tensor<64x16x4xf16>
    kron.yield %0 : tensor<64x16x4xf16>
  }
  return
}
