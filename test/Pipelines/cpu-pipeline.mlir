// RUN: kron-opt %s --kron-cpu-pipeline | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: kron-opt %s --kron-cpu-pipeline=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: kron-opt %s --kron-cpu-pipeline=reference | FileCheck %s --check-prefixes=CHECK,REFERENCE

// Verify that only the LLVM dialect remains, that one operation neither allocates
// nor copies on the fast path, and that the width is honoured.
// CHECK-NOT: {{^ *%.*}} = {{(kron|linalg|tensor|memref|scf|vector|arith)\.}}
// CHECK: llvm.func @product(
// CHECK-SAME: kron.args
// FAST-NOT: llvm.call @kronRtAllocate
// AVX2-NOT: vector<16xf32>
// REFERENCE: llvm.call @kronRtAllocate
// REFERENCE: llvm.call @kronRtFree
// CHECK: llvm.return
func.func @product(%x: tensor<?x64xf32>, %a: tensor<8x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = kron.mkm ins(%x : tensor<?x64xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Verify that private functions are inlined.
// CHECK-LABEL: llvm.func @caller(
// CHECK-NOT: @callee
func.func @caller(%x: tensor<9x64xf64>, %a: tensor<8x8xf64>) -> tensor<9x64xf64> {
  %y = call @callee(%x, %a) : (tensor<9x64xf64>, tensor<8x8xf64>) -> tensor<9x64xf64>
  return %y : tensor<9x64xf64>
}
func.func private @callee(%x: tensor<9x64xf64>, %a: tensor<8x8xf64>) -> tensor<9x64xf64> {
  %e = tensor.empty() : tensor<9x64xf64>
  %y = kron.mkm ins(%x : tensor<9x64xf64>)
         factors(%a, %a : tensor<8x8xf64>, tensor<8x8xf64>)
         outs(%e : tensor<9x64xf64>) -> tensor<9x64xf64>
  return %y : tensor<9x64xf64>
}

// Verify that a Kronecker-sparse factor of tensors has kernels for row-major arrays beside
// those for all others, which know no strides.
// CHECK-LABEL: llvm.func @sparse(
// FAST: llvm.cond_br
// FAST: llvm.call @kronRtParallelFor
// FAST: llvm.call @kronRtParallelFor
// FAST-NOT: llvm.call @kronRtParallelFor
// CHECK: llvm.return
func.func @sparse(%x: tensor<256x64xf32>, %k: tensor<1x16x16x16xf32>, %y: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %r = kron.ksmm ins(%x : tensor<256x64xf32>) weights(%k : tensor<1x16x16x16xf32>)
         outs(%y : tensor<256x64xf32>) {layout = #kron.layout<batch_last>} -> tensor<256x64xf32>
  return %r : tensor<256x64xf32>
}
