// RUN: kron-opt %s --convert-kron-to-vector --split-input-file -verify-diagnostics

func.func @no_schedule(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{'kron.pass' op expects a #kron.schedule with vector_bits: run --kron-select-schedule first}}
  kron.pass ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

func.func @on_tensors(%x: tensor<4x16xf32>, %f: tensor<16x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{'kron.pass' op expects memref operands: run --kron-bufferize first}}
  %r = kron.pass ins(%x, %f : tensor<4x16xf32>, tensor<16x16xf32>) outs(%y : tensor<4x16xf32>) {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @half(%x: memref<4x16xf16>, %f: memref<16x16xf16>, %y: memref<4x16xf16>) {
  kron.pass ins(%x, %f : memref<4x16xf16>, memref<16x16xf16>) outs(%y : memref<4x16xf16>)
      attributes {schedule = #kron.schedule<vector_bits = 512, tile = 1>} {
  ^bb0(%t: tensor<4x16xf16>, %a: tensor<16x16xf16>, %o: tensor<4x16xf16>):
    // expected-error @+1 {{'kron.mode_product' op cannot become vector code: element type f16 has no vector kernel}}
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf16>) factor(%a [p, q] : tensor<16x16xf16>) outs(%o : tensor<4x16xf16>) -> tensor<4x16xf16>
    kron.yield %1 : tensor<4x16xf16>
  }
  return
}
