// Verify that --row-major compiles a kernel of sparse factors once, and says in the header what it
// takes; and that attributes say so of one function.

// RUN: kronc %s --target nvidia --gpu-arch sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=BOTH < %t.ptx
// BOTH-COUNT-6: .visible .entry
// BOTH-NOT: .visible .entry

// RUN: kronc %s --target nvidia --gpu-arch sm_90a --row-major -o %t.ptx
// RUN: FileCheck %s --check-prefix=ONE < %t.ptx
// ONE-COUNT-4: .visible .entry
// ONE-NOT: .visible .entry

// RUN: kronc %s --emit=header -o - | FileCheck %s --check-prefixes=HEADER,OPEN
// RUN: kronc %s --row-major --emit=header -o - | FileCheck %s --check-prefixes=HEADER,ROWS
// HEADER: - x: f32 [n0, 4], row-major without gaps, read
// HEADER: - k: f32 [2, 2, 2, 1], row-major without gaps, read
// HEADER: - result: f32 [n0, 4], row-major without gaps, written
// HEADER: KronStatus promised(
// OPEN: - x: f32 [n0, 4], innermost stride 1, read
// ROWS: - x: f32 [n0, 4], row-major without gaps, read
// HEADER: KronStatus sparse(

// Verify that kron-run takes arrays of files in another order.
// RUN: %python %S/Inputs/npy.py %t.npy "<f4" F 2x2x2x1 1 -2 3 4 5 6 -7 8
// RUN: kron-run %s --entry sparse --arg random:5x4:f32 --arg %t.npy --verify | FileCheck %s --check-prefix=VERIFY
// RUN: kron-run %s --entry sparse --arg random:5x4:f32 --arg random:2x2x2x1:f32 --verify | FileCheck %s --check-prefix=VERIFY
// VERIFY: verify result: {{.*}} ok

func.func @promised(%x: tensor<?x4xf32> {kron.name = "x"}, %k: tensor<2x2x2x1xf32> {kron.name = "k"}) -> tensor<?x4xf32>
    attributes {kron.row_major} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = kron.ksmm ins(%x : tensor<?x4xf32>) weights(%k : tensor<2x2x2x1xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

func.func @sparse(%x: tensor<?x4xf32> {kron.name = "x"}, %k: tensor<2x2x2x1xf32> {kron.name = "k"}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = kron.ksmm ins(%x : tensor<?x4xf32>) weights(%k : tensor<2x2x2x1xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
