// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x1:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x8:f32:3 --verify --threads=3 | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x300:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x3:f32:3 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x29:f32:3 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x3:f32:3 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:900x29:f32:3 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=slices --arg=random:3x3000x33:bf16:1 --arg=random:500x3000:bf16:2 --arg=random:3x2x500:bf16:3 --arg=random:3:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=slices --arg=random:3x3000x33:bf16:1 --arg=random:500x3000:bf16:2 --arg=random:3x2x500:bf16:3 --arg=random:3:f32:4 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=many --arg=random:20x7:f64:1 --arg=random:500x7:f64:2 --arg=random:51x500:f64:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=many --arg=random:20x7:f64:1 --arg=random:500x7:f64:2 --arg=random:51x500:f64:3 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=logarithms --arg=random:20x7:f32:1 --arg=random:500x7:f32:2 --arg=random:500x11:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=logarithms --arg=random:20x7:f32:1 --arg=random:500x7:f32:2 --arg=random:500x11:f32:3 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=maxima --arg=random:20x7:f16:1 --arg=random:500x7:f16:2 --arg=random:500x3:f16:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x5:f32:1 --arg=random:0x5:f32:2 --arg=random:0x20:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:300x0:f32:1 --arg=random:9x0:f32:2 --arg=random:9x20:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=gaussian --arg=random:0x5:f32:1 --arg=random:9x5:f32:2 --arg=random:9x20:f32:3 --verify | FileCheck %s

// Verify that the vector code of kron.pairwise_apply computes what its reference does: few and many columns, known or not,
// remainders of all axes, several blocks of each, K in slices, batches that stretch, V as it is stored the other way
// round, all accumulations, empty arrays, vectors of every width.
// CHECK: verify {{.*}}: ok

func.func @gaussian(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %v: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %c = tensor.dim %v, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %c) : tensor<?x?xf32>
  %0 = kron.pairwise_apply square_diff ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) values(%v : tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>)
      epilogue {
      ^bb0(%s: f32):
        %n = arith.negf %s : f32
        %r = math.exp %n : f32
        kron.pairwise_yield %r : f32
      } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @slices(%a: tensor<3x?x?xbf16>, %b: tensor<?x?xbf16>, %v: tensor<3x2x?xbf16>, %g: tensor<3xf32>) -> tensor<3x?x2xbf16> {
  %c2 = arith.constant 2 : index
  %m = tensor.dim %a, %c2 : tensor<3x?x?xbf16>
  %e = tensor.empty(%m) : tensor<3x?x2xbf16>
  %0 = kron.pairwise_apply abs_diff ins(T(%a), %b : tensor<3x?x?xbf16>, tensor<?x?xbf16>)
      values(T(%v) : tensor<3x2x?xbf16>) params(%g : tensor<3xf32>) outs(%e : tensor<3x?x2xbf16>)
      epilogue {
      ^bb0(%s: f32, %p: f32):
        %r = arith.mulf %s, %p : f32
        kron.pairwise_yield %r : f32
      } -> tensor<3x?x2xbf16>
  return %0 : tensor<3x?x2xbf16>
}

func.func @many(%a: tensor<?x7xf64>, %b: tensor<500x7xf64>, %v: tensor<51x500xf64>) -> tensor<?x51xf64> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x7xf64>
  %e = tensor.empty(%m) : tensor<?x51xf64>
  %0 = kron.pairwise_apply abs_diff reduce(max) ins(%a, %b : tensor<?x7xf64>, tensor<500x7xf64>)
      values(T(%v) : tensor<51x500xf64>) outs(%e : tensor<?x51xf64>) -> tensor<?x51xf64>
  return %0 : tensor<?x51xf64>
}

func.func @logarithms(%a: tensor<?x7xf32>, %b: tensor<?x7xf32>, %v: tensor<?x11xf32>) -> tensor<?x11xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x7xf32>
  %e = tensor.empty(%m) : tensor<?x11xf32>
  %0 = kron.pairwise_apply dot accumulate(logsumexp) ins(%a, %b : tensor<?x7xf32>, tensor<?x7xf32>)
      values(%v : tensor<?x11xf32>) outs(%e : tensor<?x11xf32>) -> tensor<?x11xf32>
  return %0 : tensor<?x11xf32>
}

func.func @maxima(%a: tensor<20x7xf16>, %b: tensor<500x7xf16>, %v: tensor<500x3xf16>) -> tensor<20x3xf16> {
  %e = tensor.empty() : tensor<20x3xf16>
  %0 = kron.pairwise_apply pow_diff(1.5) accumulate(max) ins(%a, %b : tensor<20x7xf16>, tensor<500x7xf16>)
      values(%v : tensor<500x3xf16>) outs(%e : tensor<20x3xf16>) -> tensor<20x3xf16>
  return %0 : tensor<20x3xf16>
}
