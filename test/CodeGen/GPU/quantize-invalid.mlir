// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --convert-kron-to-nvvm=chip=sm_90a -verify-diagnostics

func.func @columns(%v: memref<4x?xf32>, %q: memref<4x?xi8>, %s: memref<?xf32>) {
  // expected-error @+1 {{'kron.quantize' op cannot become a GPU kernel: the batch is last}}
  kron.quantize ins(%v : memref<4x?xf32>) outs(%q, %s : memref<4x?xi8>, memref<?xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @strided(%v: memref<4x8xf32, strided<[1, 4]>>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op cannot become a GPU kernel: rows are not contiguous or of unknown size}}
  kron.quantize ins(%v : memref<4x8xf32, strided<[1, 4]>>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>)
  return
}

// -----

func.func @wide(%v: memref<4x8xf64>, %q: memref<4x8xi8>, %s: memref<4xf64>) {
  // expected-error @+1 {{'kron.quantize' op cannot become a GPU kernel: elements are not f32, f16 or bf16}}
  kron.quantize ins(%v : memref<4x8xf64>) outs(%q, %s : memref<4x8xi8>, memref<4xf64>)
  return
}
