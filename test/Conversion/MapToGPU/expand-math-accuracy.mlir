// REQUIRES: numpy
// Verify exp, erf and powers of f64 over the whole range, infinities and NaN among it, as they are
// expanded for a GPU and for a CPU, in lanes of vectors: against the C library, which is within
// a unit in the last place itself.
// RUN: %python %S/Inputs/functions.py make %t.npy
// RUN: kron-opt %s --kron-expand-math -o %t.slow.mlir
// RUN: kron-opt %s --kron-expand-math=fast-erf -o %t.fast.mlir
// RUN: kron-run %t.slow.mlir --entry array_exp --arg %t.npy --out %t.exp.npy
// RUN: %python %S/Inputs/functions.py check %t.npy exp %t.exp.npy 2 | FileCheck %s
// RUN: kron-opt %s --kron-expand-math=scaled-bits=512 -o %t.scaled.mlir
// RUN: kron-run %t.scaled.mlir --entry vectors_exp --arg %t.npy --out %t.exp.npy --out-shape 0:52007
// RUN: %python %S/Inputs/functions.py check %t.npy exp %t.exp.npy 2 | FileCheck %s
// RUN: kron-run %t.slow.mlir --entry array_erf --arg %t.npy --out %t.erf.npy
// RUN: %python %S/Inputs/functions.py check %t.npy erf %t.erf.npy 3 | FileCheck %s
// RUN: kron-run %t.fast.mlir --entry array_erf --arg %t.npy --out %t.erf.npy
// RUN: %python %S/Inputs/functions.py check %t.npy erf %t.erf.npy 8 | FileCheck %s
// RUN: kron-run %t.slow.mlir --entry array_power --arg %t.npy --out %t.power.npy
// RUN: %python %S/Inputs/functions.py check %t.npy power %t.power.npy 5.3 | FileCheck %s
// RUN: kron-run %t.slow.mlir --entry array_inverse --arg %t.npy --out %t.power.npy
// RUN: %python %S/Inputs/functions.py check %t.npy inverse %t.power.npy 5.3 | FileCheck %s
// RUN: kron-run %t.slow.mlir --entry array_root --arg %t.npy --out %t.power.npy
// RUN: %python %S/Inputs/functions.py check %t.npy root %t.power.npy 4.3 | FileCheck %s
// CHECK: units in the last place

#id = affine_map<(d0) -> (d0)>

func.func @array_exp(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %0 = math.exp %in : f64
    linalg.yield %0 : f64
  }
  return
}

func.func @array_erf(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %0 = math.erf %in : f64
    linalg.yield %0 : f64
  }
  return
}

func.func @array_power(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %p = arith.constant 1.3 : f64
    %a = math.absf %in : f64
    %0 = math.powf %a, %p : f64
    linalg.yield %0 : f64
  }
  return
}

func.func @array_inverse(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %p = arith.constant -1.3 : f64
    %a = math.absf %in : f64
    %0 = math.powf %a, %p : f64
    linalg.yield %0 : f64
  }
  return
}

func.func @array_root(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %p = arith.constant -0.23 : f64
    %a = math.absf %in : f64
    %0 = math.powf %a, %p : f64
    linalg.yield %0 : f64
  }
  return
}

func.func @vectors_exp(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %last = arith.subi %n, %c8 : index
  scf.for %i = %c0 to %n step %c8 {
    %first = arith.minsi %i, %last : index
    %v = vector.load %x[%first] : memref<?xf64>, vector<8xf64>
    %e = math.exp %v : vector<8xf64>
    vector.store %e, %y[%first] : memref<?xf64>, vector<8xf64>
  }
  return
}
