// RUN: kron-opt %s -split-input-file -verify-diagnostics --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a

// Verify that a plan that asks for ffma where it cannot be is an error.

func.func @large(%x: memref<8x32xf32>, %f: memref<32x32xf32>, %y: memref<8x32xf32>) {
  // expected-error @below {{has no GPU kernel of kind ffma; ffma: a factor has more than 16 rows or columns}}
  kron.fused ins(%x, %f : memref<8x32xf32>, memref<32x32xf32>) outs(%y : memref<8x32xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<8x32xf32>, %tf: tensor<32x32xf32>, %out: tensor<8x32xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x32xf32>) factor(%tf [p, q] : tensor<32x32xf32>)
         outs(%out : tensor<8x32xf32>) -> tensor<8x32xf32>
    kron.yield %1 : tensor<8x32xf32>
  }
  return
}

// -----

func.func @half(%x: memref<8x4xf16>, %f: memref<4x4xf16>, %y: memref<8x4xf16>) {
  // expected-error @below {{has no GPU kernel of kind ffma; ffma: the element type is neither f32 nor f64}}
  kron.fused ins(%x, %f : memref<8x4xf16>, memref<4x4xf16>) outs(%y : memref<8x4xf16>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<8x4xf16>, %tf: tensor<4x4xf16>, %out: tensor<8x4xf16>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf16>) factor(%tf [p, q] : tensor<4x4xf16>)
         outs(%out : tensor<8x4xf16>) -> tensor<8x4xf16>
    kron.yield %1 : tensor<8x4xf16>
  }
  return
}

// -----

func.func @tensors(%x: tensor<8x4xf32>, %f: tensor<4x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expects memref operands: run --kron-bufferize first}}
  %r = kron.fused ins(%x, %f : tensor<8x4xf32>, tensor<4x4xf32>) outs(%y : tensor<8x4xf32>) {
  ^bb0(%tx: tensor<8x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// What converts to the result's type: the kernel would read f16 as f32.
func.func @conversion(%x: memref<8x4xf16>, %f: memref<4x4xf16>, %y: memref<8x4xf32>) {
  // expected-error @below {{has no GPU kernel of kind ffma; ffma: arrays have different element types}}
  kron.fused ins(%x, %f : memref<8x4xf16>, memref<4x4xf16>) outs(%y : memref<8x4xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<8x4xf16>, %tf: tensor<4x4xf16>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf16>) factor(%tf [p, q] : tensor<4x4xf16>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}
