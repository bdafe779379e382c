// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file --verify-diagnostics

func.func @open(%x: memref<?x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<?x45xf32>) {
  // expected-error @below {{'kron.fused' op cannot be padded: shapes are not known, elements are complex, or more than products is computed}}
  kron.mkm ins(%x : memref<?x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<?x45xf32>) {plan = #kron.gpu_plan<padded = 1>}
  return
}

// -----

func.func @whole(%x: memref<7x40xf32>, %f: memref<5x5xf32>, %g: memref<8x8xf32>, %y: memref<7x40xf32>) {
  // expected-error @below {{'kron.fused' op cannot be padded: rows start at multiples of 16 bytes}}
  kron.mkm ins(%x : memref<7x40xf32>) factors(%f, %g : memref<5x5xf32>, memref<8x8xf32>) outs(%y : memref<7x40xf32>) {plan = #kron.gpu_plan<padded = 1>}
  return
}

// -----

func.func @complex(%x: memref<7x45xcomplex<f32>>, %f: memref<5x5xcomplex<f32>>, %g: memref<9x9xcomplex<f32>>, %y: memref<7x45xcomplex<f32>>) {
  // expected-error @below {{'kron.fused' op cannot be padded: shapes are not known, elements are complex, or more than products is computed}}
  kron.mkm ins(%x : memref<7x45xcomplex<f32>>) factors(%f, %g : memref<5x5xcomplex<f32>>, memref<9x9xcomplex<f32>>) outs(%y : memref<7x45xcomplex<f32>>) {plan = #kron.gpu_plan<padded = 1>}
  return
}

// -----

func.func @varied(%x: memref<70x135xf16>, %k: memref<3x17x9x5xf16>, %y: memref<70x255xf16>) {
  // expected-error @below {{'kron.fused' op cannot be padded: a factor varies over the innermost axis, or several contract it}}
  kron.ksmm ins(%x : memref<70x135xf16>) weights(%k : memref<3x17x9x5xf16>) outs(%y : memref<70x255xf16>) {plan = #kron.gpu_plan<padded = 1>}
  return
}

// -----

func.func @kind(%x: memref<7x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<7x45xf32>) {
  // expected-error @below {{kernel mma has no field 'padded'}}
  kron.mkm ins(%x : memref<7x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<7x45xf32>) {plan = #kron.gpu_plan<kernel = mma, padded = 1>}
  return
}
