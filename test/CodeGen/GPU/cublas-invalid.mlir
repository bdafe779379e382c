// RUN: kron-opt %s -split-input-file -verify-diagnostics --kron-plan="target=cuda chip=sm_90a" --kron-tile=chip=sm_90a

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

// -----

// Verify that so is what would have to be conjugated as it lies.
func.func @conjugate(%x: memref<64x32xcomplex<f32>>, %k: memref<32x16xcomplex<f32>>, %y: memref<64x16xcomplex<f32>>) {
  // expected-error @below {{cannot be a call of cuBLAS: a matrix is conjugated but not transposed}}
  kron.fused ins(%x, %k : memref<64x32xcomplex<f32>>, memref<32x16xcomplex<f32>>) outs(%y : memref<64x16xcomplex<f32>>)
      attributes {plan = #kron.gpu_plan<kernel = cublas>} {
  ^bb0(%tx: tensor<64x32xcomplex<f32>>, %tk: tensor<32x16xcomplex<f32>>, %ty: tensor<64x16xcomplex<f32>>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<64x32xcomplex<f32>>) factor(%tk [p, q] : tensor<32x16xcomplex<f32>>)
         outs(%ty : tensor<64x16xcomplex<f32>>) {conj_factor} -> tensor<64x16xcomplex<f32>>
    kron.yield %0 : tensor<64x16xcomplex<f32>>
  }
  return
}

// -----

// Verify that products of 16 bits are not added to by cuBLAS, which rounds them before.
func.func @added(%x: memref<64x32xf16>, %k: memref<32x16xf16>, %y: memref<64x16xf16>) {
  // expected-error @below {{cannot be a call of cuBLAS: cuBLAS rounds products of 16 bits before it adds to them}}
  kron.fused ins(%x, %k : memref<64x32xf16>, memref<32x16xf16>) outs(%y : memref<64x16xf16>)
      attributes {plan = #kron.gpu_plan<kernel = cublas>} {
  ^bb0(%tx: tensor<64x32xf16>, %tk: tensor<32x16xf16>, %ty: tensor<64x16xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<64x32xf16>) factor(%tk [p, q] : tensor<32x16xf16>)
         outs(%ty : tensor<64x16xf16>) beta(1.0 : f32) -> tensor<64x16xf16>
    kron.yield %0 : tensor<64x16xf16>
  }
  return
}
