// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda" \
// RUN:   -verify-diagnostics --split-input-file

func.func @type(%x: memref<?x4xf16>, %f: memref<4x4xf16>, %y: memref<?x4xf16>) {
  // expected-error @+1 {{has no GPU kernel of kind batched; batched: the elements are neither f32 nor f64}}
  kron.batched ins(%x : memref<?x4xf16>) factors(%f : memref<4x4xf16>) outs(%y : memref<?x4xf16>)
    {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

func.func @factor(%x: memref<?x17xf32>, %f: memref<4x17xf32>, %y: memref<?x4xf32>) {
  // expected-error @+1 {{batched: a factor is larger than 16}}
  kron.batched ins(%x : memref<?x17xf32>) factors(%f : memref<4x17xf32>) outs(%y : memref<?x4xf32>)
    {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

func.func @inner(%x: memref<4x?xf32>, %f: memref<4x4xf32>, %y: memref<4x?xf32>) {
  // expected-error @+1 {{batched: the innermost axis has a dynamic size}}
  kron.kmm ins(%x : memref<4x?xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<4x?xf32>)
    {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

func.func @large(%x: memref<?x16x16x16x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16x16x16x16xf32>) {
  // expected-error @+1 {{batched: a tile of 536576 bytes does not fit in the 232448 bytes of shared memory}}
  kron.batched ins(%x : memref<?x16x16x16x16xf32>) factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<?x16x16x16x16xf32>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

func.func @stages(%x: memref<?x4xf32>, %f: memref<4x4xf32>, %y: memref<?x4xf32>) {
  // expected-error @+1 {{batched: expects stages to be at least 2, but got 1}}
  kron.batched ins(%x : memref<?x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<?x4xf32>)
    {plan = #kron.gpu_plan<kernel = batched, stages = 1>}
  return
}

// -----

// What converts to the result's type: the kernel would read f16 as f32.
func.func @conversion(%x: memref<8x4xf16>, %f: memref<4x4xf16>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{batched: arrays have different element types}}
  kron.fused ins(%x, %f : memref<8x4xf16>, memref<4x4xf16>) outs(%y : memref<8x4xf32>)
    attributes {plan = #kron.gpu_plan<kernel = batched>} {
  ^bb0(%tx: tensor<8x4xf16>, %tf: tensor<4x4xf16>, %out: tensor<8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf16>) factor(%tf [p, q] : tensor<4x4xf16>)
         outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    kron.yield %1 : tensor<8x4xf32>
  }
  return
}
