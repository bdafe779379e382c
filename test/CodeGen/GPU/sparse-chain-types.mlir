// RUN: kron-opt %s --kron-gpu-pipeline=chip=sm_90a --remarks-filter=kron-fuse -o /dev/null 2>&1 | FileCheck %s

// Verify that factors whose last results are wider than the data, since beta Z is added to
// them in front of an epilogue, are no kernel of a chain, which stores what it reads.
// CHECK: 2 factors on regrouped axes in 2 fused regions; factor 2: arrays have different element types
func.func @wider_results(%x: tensor<?x12xbf16>, %k: tensor<1x12x12x1xbf16>, %l: tensor<4x3x3x1xbf16>, %residual: tensor<?x12xbf16>, %beta: f32, %z: tensor<?x12xbf16>) -> tensor<?x12xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x12xbf16>
  %empty = tensor.empty(%rows) : tensor<?x12xbf16>
  %0 = kron.ksmm ins(%x : tensor<?x12xbf16>) weights(%k : tensor<1x12x12x1xbf16>) outs(%empty : tensor<?x12xbf16>) -> tensor<?x12xbf16>
  %1 = kron.ksmm ins(%0 : tensor<?x12xbf16>) weights(%l : tensor<4x3x3x1xbf16>) outs(%empty : tensor<?x12xbf16>) beta(%beta : f32) addend(%z : tensor<?x12xbf16>) residual(%residual : tensor<?x12xbf16>) -> tensor<?x12xbf16>
  return %1 : tensor<?x12xbf16>
}
