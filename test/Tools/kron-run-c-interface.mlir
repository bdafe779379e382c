// RUN: kron-run %s --entry=f --arg=random:4x16:f32:1 --arg=random:16x16:f32:2 --verify | FileCheck %s
// RUN: kronc %s -o %t.o --header %t.h && FileCheck %s --check-prefix=HEADER --input-file=%t.h

// Verify that functions that ask for upstream's C interface, as other front ends write them, are entries like any other.
// CHECK: verify result: {{.*}}: ok
// HEADER: f(
// HEADER-NOT: ciface

func.func private @g(%x: tensor<?x16xf32>, %f: tensor<16x16xf32>) -> tensor<?x16xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %i = tensor.empty(%m) : tensor<?x16xf32>
  %y = kron.mkm ins(%x : tensor<?x16xf32>) factors(%f : tensor<16x16xf32>) outs(%i : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

func.func @f(%x: tensor<?x16xf32>, %f: tensor<16x16xf32>) -> tensor<?x16xf32> attributes {llvm.emit_c_interface} {
  %y = call @g(%x, %f) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
