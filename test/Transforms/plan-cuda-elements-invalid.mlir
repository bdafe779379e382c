// RUN: kron-opt %s --kron-decompose --kron-fuse=target=cuda --kron-plan="target=cuda chip=h200" -split-input-file -verify-diagnostics

// Verify that elements which only references on a processor have are refused by name.
func.func @wide(%x: memref<5x4xf80>, %f: memref<4x4xf80>, %y: memref<5x4xf80>) {
  // expected-error @+1 {{simt: a GPU has no arithmetic of f80}}
  kron.mkm ins(%x : memref<5x4xf80>) factors(%f : memref<4x4xf80>) outs(%y : memref<5x4xf80>)
  return
}

// -----

func.func @complex(%x: memref<5x4xcomplex<f80>>, %f: memref<4x4xcomplex<f80>>, %y: memref<5x4xcomplex<f80>>) {
  // expected-error @+1 {{simt: a GPU has no arithmetic of f80}}
  kron.mkm ins(%x : memref<5x4xcomplex<f80>>) factors(%f : memref<4x4xcomplex<f80>>) outs(%y : memref<5x4xcomplex<f80>>)
  return
}
