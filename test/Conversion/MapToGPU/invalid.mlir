// RUN: kron-opt %s --kron-map-to-gpu --split-input-file --verify-diagnostics

// Verify that what reads an element on the host is an error, not a crash.
func.func @load(%x: memref<4xf32>, %i: index) -> f32 {
  // expected-error @below {{'memref.load' op cannot run for a GPU: it is outside of any kernel, and arrays are in the GPU's memory}}
  %v = memref.load %x[%i] : memref<4xf32>
  return %v : f32
}

// -----

func.func private @f(f32) -> f32

func.func @call(%x: memref<4xf32>) {
  // expected-error @below {{'linalg.generic' op cannot become a GPU kernel: its body has a func.call}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<4xf32>) {
  ^bb0(%v: f32):
    %r = func.call @f(%v) : (f32) -> f32
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @tensors(%x: tensor<4xf32>, %v: f32) -> tensor<4xf32> {
  // expected-error @below {{'linalg.fill' op expects memref operands: run --kron-bufferize first}}
  %0 = linalg.fill ins(%v : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @layout() {
  // expected-error @below {{'memref.alloc' op cannot be GPU memory: expects a row-major array without gaps}}
  %0 = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return
}
