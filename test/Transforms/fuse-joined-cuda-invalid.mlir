// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file --verify-diagnostics

func.func @open(%x: memref<?x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<?x45xf32>) {
  // expected-error @below {{'kron.fused' op cannot join axes: axes from 1 on are not 2 neighbours of known size with an f32 or f64 factor each, to whose products nothing is added}}
  kron.mkm ins(%x : memref<?x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<?x45xf32>) {plan = #kron.gpu_plan<joined = [2]>}
  return
}

// -----

func.func @half(%x: memref<7x45xf16>, %f: memref<5x5xf16>, %g: memref<9x9xf16>, %y: memref<7x45xf16>) {
  // expected-error @below {{'kron.fused' op cannot join axes: axes from 1 on are not 2 neighbours}}
  kron.mkm ins(%x : memref<7x45xf16>) factors(%f, %g : memref<5x5xf16>, memref<9x9xf16>) outs(%y : memref<7x45xf16>) {plan = #kron.gpu_plan<joined = [2]>}
  return
}

// -----

func.func @ieee(%x: memref<7x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<7x45xf32>) {
  // expected-error @below {{'kron.fused' op cannot join axes: axes from 1 on are not 2 neighbours}}
  kron.mkm ins(%x : memref<7x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<7x45xf32>) {plan = #kron.gpu_plan<joined = [2]>, precision = #kron.precision<ieee>}
  return
}

// -----

func.func @gap(%x: memref<7x5x9xf32, strided<[60, 12, 1]>>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<7x5x9xf32>) {
  // expected-error @below {{'kron.fused' op cannot join axes: axes from 1 on are not 2 neighbours}}
  kron.batched ins(%x : memref<7x5x9xf32, strided<[60, 12, 1]>>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<7x5x9xf32>) {plan = #kron.gpu_plan<joined = [2]>}
  return
}

// -----

func.func @more(%x: memref<7x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<7x45xf32>) {
  // expected-error @below {{'kron.fused' op cannot join axes: there are 2 contracted axes}}
  kron.mkm ins(%x : memref<7x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<7x45xf32>) {plan = #kron.gpu_plan<joined = [1, 2]>}
  return
}

// -----

func.func @fewer(%x: memref<7x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<7x45xf32>) {
  // expected-error @below {{'kron.fused' op cannot join axes: there are 2 contracted axes}}
  kron.mkm ins(%x : memref<7x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<7x45xf32>) {plan = #kron.gpu_plan<joined = [1]>}
  return
}

// -----

func.func @kernel(%x: memref<7x45xf32>, %f: memref<5x5xf32>, %g: memref<9x9xf32>, %y: memref<7x45xf32>) {
  // expected-error @below {{kernel mma has no field 'joined'}}
  kron.mkm ins(%x : memref<7x45xf32>) factors(%f, %g : memref<5x5xf32>, memref<9x9xf32>) outs(%y : memref<7x45xf32>) {plan = #kron.gpu_plan<kernel = mma, joined = [2]>}
  return
}
