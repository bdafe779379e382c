// RUN: kron-opt %s --kron-tile -verify-diagnostics --split-input-file

func.func @partial(%x: memref<8x4xf32>, %f: memref<4x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{expects a complete plan for a GPU: run --kron-plan=target=cuda first; found #kron.gpu_plan<kernel = batched>}}
  kron.fused ins(%x, %f : memref<8x4xf32>, memref<4x4xf32>) outs(%y : memref<8x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = batched>} {
  ^bb0(%tx: tensor<8x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}

// -----

func.func @direct(%x: memref<8x4xf32>, %f: memref<4x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind batched: expects direct_store to be 0 unless arrays are packed and the last factor is applied to fibres, but got 1}}
  kron.fused ins(%x, %f : memref<8x4xf32>, memref<4x4xf32>) outs(%y : memref<8x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = batched, tile = 8, threads = 32, ctas_per_sm = 1, stages = 2, direct_store = 1>} {
  ^bb0(%tx: tensor<8x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}

// -----

func.func @large(%x: memref<4096x4xf32>, %f: memref<4x4xf32>, %y: memref<4096x4xf32>) {
  // expected-error @+1 {{cannot become a kernel of kind batched: a tile of 131136 bytes does not fit}}
  kron.fused ins(%x, %f : memref<4096x4xf32>, memref<4x4xf32>) outs(%y : memref<4096x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = batched, tile = 4096, threads = 32, ctas_per_sm = 2, stages = 2>} {
  ^bb0(%tx: tensor<4096x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<4096x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4096x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<4096x4xf32>) -> tensor<4096x4xf32>
    kron.yield %1 : tensor<4096x4xf32>
  }
  return
}
