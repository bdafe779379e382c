// RUN: kron-run %s --entry=cancelling --arg=random:200x64:f32:1 --arg=random:3000x64:f32:2 --arg=random:3000x1:f32:3 --verify --vector-bits=128 | FileCheck %s --check-prefix=SUM
// RUN: kron-run %s --entry=plain --arg=random:200x64:f32:1 --arg=random:3000x64:f32:2 --arg=random:3000x1:f32:3 --verify --vector-bits=128 | FileCheck %s --check-prefix=SUM
// RUN: kron-run %s --entry=tf32 --arg=random:9x16:f32:1 --arg=random:16x16:f32:2 --verify | FileCheck %s --check-prefix=TF32

// Verify that errors of a product with a matrix of a function of pairs are parts of the sum of what its terms are, which cancel here:
// of the result's norm they are 5 times the bound. And that the bound is that of the arithmetic of the target: a CPU takes no
// TF32, which an operation allows (MagnitudesTest.cpp: a GPU does).
// SUM: verify result: max abs {{.*}}, relative L2 {{.*}}e-0{{[89]}}, bound 1.91e-06: ok
// TF32: verify result: {{.*}}, bound 1.91e-06: ok

func.func @cancelling(%a: tensor<?x64xf32>, %b: tensor<?x64xf32>, %v: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x64xf32>
  %i = tensor.empty(%m) : tensor<?x1xf32>
  %y = kron.pairwise_apply square_diff ins(%a, %b : tensor<?x64xf32>, tensor<?x64xf32>) values(%v : tensor<?x1xf32>) outs(%i : tensor<?x1xf32>)
    epilogue {
    ^bb0(%s: f32):
      %g = arith.constant -0.01 : f32
      %q = arith.mulf %s, %g : f32
      %e = math.exp %q : f32
      kron.pairwise_yield %e : f32
    } -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

func.func @plain(%a: tensor<?x64xf32>, %b: tensor<?x64xf32>, %v: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x64xf32>
  %i = tensor.empty(%m) : tensor<?x1xf32>
  %y = kron.pairwise_apply dot ins(%a, %b : tensor<?x64xf32>, tensor<?x64xf32>) values(%v : tensor<?x1xf32>) outs(%i : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

func.func @tf32(%x: tensor<?x16xf32>, %f: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %i = tensor.empty(%m) : tensor<?x16xf32>
  %y = kron.mkm ins(%x : tensor<?x16xf32>) factors(%f : tensor<16x16xf32>) outs(%i : tensor<?x16xf32>) {precision = #kron.precision<tf32>} -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
