// RUN: kron-opt %s --kron-tile --split-input-file --verify-diagnostics

// Verify that a plan that is for no fused region, and one that a launch may always refuse, are errors.
func.func @quantize(%x: memref<8x4xf32>, %f: memref<4x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{has a plan for kernel quantize, which applies no fused region}}
  kron.fused ins(%x, %f : memref<8x4xf32>, memref<4x4xf32>) outs(%y : memref<8x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = quantize, threads = 32, ctas_per_sm = 1, row_threads = 32>} {
  ^bb0(%tx: tensor<8x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}

// -----

func.func @packed(%x: memref<8x4xf32, strided<[?, 1]>>, %f: memref<4x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{has no plan that requires nothing of what is known at launch only: #kron.gpu_plan<kernel = batched, packed = 1, tile = 8}}
  kron.fused ins(%x, %f : memref<8x4xf32, strided<[?, 1]>>, memref<4x4xf32>) outs(%y : memref<8x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = batched, tile = 8, threads = 32, ctas_per_sm = 1, stages = 2, packed = 1>} {
  ^bb0(%tx: tensor<8x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}
