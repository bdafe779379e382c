// RUN: kron-run %s --entry=shared_known --arg=random:2x13x36:f64:1 --arg=random:13x13:f64:2 --arg=random:36x36:f64:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=shared --arg=random:7x13x36:f64:1 --arg=random:13x13:f64:2 --arg=random:36x36:f64:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=groups --arg=random:3x10x10x10:f32:1 --arg=random:10x10:f32:2 --verify | FileCheck %s
// RUN: kron-run %s --entry=halves --arg=random:5x8x8x8:f32:1 --arg=random:8x8:f32:2 --verify | FileCheck %s

// Verify rows that share a vector of the q that fill none, two of which are left behind blocks
// of more, groups of what fills no vector of an axis, and fibres of half a register.
// CHECK: verify {{.*}}: ok

func.func @shared(%x: tensor<?x13x36xf64>, %f: tensor<13x13xf64>, %g: tensor<36x36xf64>) -> tensor<?x13x36xf64> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x13x36xf64>
  %e = tensor.empty(%rows) : tensor<?x13x36xf64>
  %y = kron.batched ins(%x : tensor<?x13x36xf64>) factors(%f, %g : tensor<13x13xf64>, tensor<36x36xf64>)
         outs(%e : tensor<?x13x36xf64>) -> tensor<?x13x36xf64>
  return %y : tensor<?x13x36xf64>
}

func.func @shared_known(%x: tensor<2x13x36xf64>, %f: tensor<13x13xf64>, %g: tensor<36x36xf64>) -> tensor<2x13x36xf64> {
  %e = tensor.empty() : tensor<2x13x36xf64>
  %y = kron.batched ins(%x : tensor<2x13x36xf64>) factors(%f, %g : tensor<13x13xf64>, tensor<36x36xf64>)
         outs(%e : tensor<2x13x36xf64>) -> tensor<2x13x36xf64>
  return %y : tensor<2x13x36xf64>
}

func.func @groups(%x: tensor<3x10x10x10xf32>, %f: tensor<10x10xf32>) -> tensor<3x10x10x10xf32> {
  %e = tensor.empty() : tensor<3x10x10x10xf32>
  %y = kron.batched ins(%x : tensor<3x10x10x10xf32>) factors(%f, %f, %f : tensor<10x10xf32>, tensor<10x10xf32>, tensor<10x10xf32>)
         outs(%e : tensor<3x10x10x10xf32>) -> tensor<3x10x10x10xf32>
  return %y : tensor<3x10x10x10xf32>
}

func.func @halves(%x: tensor<5x8x8x8xf32>, %f: tensor<8x8xf32>) -> tensor<5x8x8x8xf32> {
  %e = tensor.empty() : tensor<5x8x8x8xf32>
  %y = kron.batched ins(%x : tensor<5x8x8x8xf32>) factors(%f, %f, %f : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<5x8x8x8xf32>) -> tensor<5x8x8x8xf32>
  return %y : tensor<5x8x8x8xf32>
}
