// Verify that lanes of one element (complex<f64> in 128 bits) are not taken for a group that shares a register.
// RUN: kron-run %s --vector-bits=128 --arg random:9x21:c64:1 --arg random:1x5x7x3:c64:2 \
// RUN:   --verify | FileCheck %s
// CHECK: verify {{.*}} {{.*}}: ok
func.func @oneLane(%x: memref<9x21xcomplex<f64>>, %k: memref<1x5x7x3xcomplex<f64>>,
                   %y: memref<9x15xcomplex<f64>>) {
  kron.ksmm ins(%x : memref<9x21xcomplex<f64>>) weights(%k : memref<1x5x7x3xcomplex<f64>>)
    outs(%y : memref<9x15xcomplex<f64>>)
  return
}
