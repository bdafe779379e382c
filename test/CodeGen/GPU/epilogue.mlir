// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify gelu of f16 in the kernel of its product: sums and bias are f32, the function is
// built on exp2, and one rounding follows. The bias comes in 16 bytes.
// CHECK-LABEL: llvm.func @gelu_f16_0(
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         ld.global.v4.b32 {$0, $1, $2, $3}, [$4];
// CHECK:         arith.extf {{.*}} : f16 to f32
// CHECK:         arith.addf
// CHECK:         math.absf
// CHECK:         ex2.approx.ftz.f32
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         arith.extf {{.*}} : f16 to f32
// CHECK:         llvm.return
func.func @gelu_f16(%x: memref<?x2x192x2xf16>, %k: memref<2x64x192x2xf16>, %b: memref<2x64x2xf16>, %y: memref<?x2x64x2xf16>) {
  kron.fused ins(%x, %k, %b : memref<?x2x192x2xf16>, memref<2x64x192x2xf16>, memref<2x64x2xf16>) outs(%y : memref<?x2x64x2xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x2x192x2xf16>, %tk: tensor<2x64x192x2xf16>, %tb: tensor<2x64x2xf16>, %ty: tensor<?x2x64x2xf16>):
    %c0 = arith.constant 0 : index
    %d = tensor.dim %ty, %c0 : tensor<?x2x64x2xf16>
    %e = tensor.empty(%d) : tensor<?x2x64x2xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x2x192x2xf16>) factor(%tk [1, q, p, 3] : tensor<2x64x192x2xf16>)
         outs(%e : tensor<?x2x64x2xf32>) -> tensor<?x2x64x2xf32>
    %1 = kron.epilogue ins(%0 : tensor<?x2x64x2xf32>) bias(%tb [1, 2, 3] : tensor<2x64x2xf16>)
         outs(%ty : tensor<?x2x64x2xf16>) {activation = #kron.activation<gelu>} -> tensor<?x2x64x2xf16>
    kron.yield %1 : tensor<?x2x64x2xf16>
  }
  return
}

// Verify that f32 keeps the function that the GPU has, with a scale and a residual,
// also where sums are computed again.
// CHECK-LABEL: llvm.func @silu_f32_0(
// CHECK:         nvvm.vote.sync any
// CHECK:         math.exp
// CHECK:         arith.divf
// CHECK:         math.exp
// CHECK:         arith.divf
// CHECK-NOT:     approx
// CHECK:         llvm.return
func.func @silu_f32(%x: memref<2x32x4x?xf32>, %k: memref<2x8x32x4xf32>, %r: memref<2x8x4x?xf32>, %y: memref<2x8x4x?xf32>) {
  kron.fused ins(%x, %k, %r : memref<2x32x4x?xf32>, memref<2x8x32x4xf32>, memref<2x8x4x?xf32>) outs(%y : memref<2x8x4x?xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<2x32x4x?xf32>, %tk: tensor<2x8x32x4xf32>, %tr: tensor<2x8x4x?xf32>, %ty: tensor<2x8x4x?xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x32x4x?xf32>) factor(%tk [0, q, p, 2] : tensor<2x8x32x4xf32>)
         outs(%ty : tensor<2x8x4x?xf32>) -> tensor<2x8x4x?xf32>
    %1 = kron.epilogue ins(%0 : tensor<2x8x4x?xf32>) residual(%tr : tensor<2x8x4x?xf32>)
         outs(%ty : tensor<2x8x4x?xf32>) {activation = #kron.activation<silu>, scale = 0.5 : f32} -> tensor<2x8x4x?xf32>
    kron.yield %1 : tensor<2x8x4x?xf32>
  }
  return
}
