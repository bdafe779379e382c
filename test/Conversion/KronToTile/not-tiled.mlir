// RUN: kron-opt %s --convert-kron-to-nvvm -split-input-file -verify-diagnostics

func.func @batched(%x: memref<8x4xf32>, %f: memref<4x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{has a plan for kernel batched: run --kron-tile first}}
  kron.fused ins(%x, %f : memref<8x4xf32>, memref<4x4xf32>) outs(%y : memref<8x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = batched, tile = 8, threads = 32, ctas_per_sm = 1, stages = 2>} {
  ^bb0(%tx: tensor<8x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}

// -----

func.func @sparse(%x: memref<8x64xf32>, %f: memref<64x32xf32>, %y: memref<8x32xf32>) {
  // expected-error @+1 {{has a plan for kernel sparse: run --kron-tile first}}
  kron.fused ins(%x, %f : memref<8x64xf32>, memref<64x32xf32>) outs(%y : memref<8x32xf32>)
    attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 16>} {
  ^bb0(%tx: tensor<8x64xf32>, %tf: tensor<64x32xf32>, %out: tensor<8x32xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x64xf32>) factor(%tf [p, q] : tensor<64x32xf32>)
         outs(%out : tensor<8x32xf32>) -> tensor<8x32xf32>
    kron.yield %1 : tensor<8x32xf32>
  }
  return
}

// -----

func.func @gradient(%x: memref<100x6xf32>, %g: memref<100x6xf32>, %d: memref<1x3x3x2xf32>) {
  // expected-error @+1 {{cannot become a GPU kernel: run --kron-decompose=target=cuda, --kron-plan=target=cuda and --kron-tile first}}
  kron.ksmm_grad ins(%x : memref<100x6xf32>) grad(%g : memref<100x6xf32>) outs(%d : memref<1x3x3x2xf32>)
  return
}
