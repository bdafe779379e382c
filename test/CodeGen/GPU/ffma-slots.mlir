// RUN: kron-opt %s --kron-gpu-pipeline=chip=sm_90a | FileCheck %s

// Verify that slots which hold results only are not copied to: the outermost axis
// grows from 1 to 3, so that two of its three slots are beyond the input.

// CHECK-LABEL: llvm.func @slots(
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:         llvm.func @slots_0(
// CHECK:         nvvm.cp.async.shared.global
func.func @slots(%x: tensor<1x3x1x1x3x2x1x2x3xf64>, %f0: tensor<1x3xf64>, %f1: tensor<3x1xf64>, %f2: tensor<1x3xf64>, %f3: tensor<3x1xf64>, %f4: tensor<3x3xf64>, %f5: tensor<2x3xf64>, %f6: tensor<1x3xf64>, %f7: tensor<2x3xf64>, %f8: tensor<1x3xf64>, %init: tensor<3x1x3x3x3x3x3x3x1xf64>) -> tensor<3x1x3x3x3x3x3x3x1xf64> {
  %result = kron.batched ins(%x : tensor<1x3x1x1x3x2x1x2x3xf64>) factors(T(%f0), T(%f1), T(%f2), %f3, T(%f4), T(%f5), T(%f6), T(%f7), %f8 : tensor<1x3xf64>, tensor<3x1xf64>, tensor<1x3xf64>, tensor<3x1xf64>, tensor<3x3xf64>, tensor<2x3xf64>, tensor<1x3xf64>, tensor<2x3xf64>, tensor<1x3xf64>) outs(%init : tensor<3x1x3x3x3x3x3x3x1xf64>) -> tensor<3x1x3x3x3x3x3x3x1xf64>
  return %result : tensor<3x1x3x3x3x3x3x3x1xf64>
}
