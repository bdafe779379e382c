// RUN: kron-opt %s --kron-gpu-pipeline=chip=sm_90a | FileCheck %s

// Verify that a choice by beta of nothing, where a part of what a thread computes is empty,
// ends as a choice does.
// CHECK: llvm.func @parts_without_results(
// CHECK: llvm.func @parts_without_results_0(
func.func @parts_without_results(%x: memref<16384x1xf32>, %f: memref<4x4xf32>, %beta: f32, %z: memref<16384x1xf32>, %y: memref<16384x1xf32>) {
  kron.kmm ins(%x : memref<16384x1xf32>) factors(%f, %f, %f, %f, %f, %f, %f : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<16384x1xf32>) beta(%beta : f32) addend(%z : memref<16384x1xf32>)
  return
}
