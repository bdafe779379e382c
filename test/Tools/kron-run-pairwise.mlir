// RUN: kron-run %s --entry=distance --arg=random:100x37:f32:1 --arg=random:75x37:f32:2 --verify | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x37:f32:1 --arg=random:75x37:f32:2 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x37:f32:1 --arg=random:75x37:f32:2 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x137:f32:1 --arg=random:75x137:f32:2 --verify | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x137:f32:1 --arg=random:75x137:f32:2 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x137:f32:1 --arg=random:75x137:f32:2 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x137:f32:1 --arg=random:75x137:f32:2 --verify --threads=3 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:25x1100:f32:1 --arg=random:600x1100:f32:2 --verify | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:25x1100:f32:1 --arg=random:600x1100:f32:2 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:25x1100:f32:1 --arg=random:600x1100:f32:2 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:25x1100:f32:1 --arg=random:600x1100:f32:2 --verify --threads=3 | FileCheck %s
// RUN: kron-run %s --entry=itself --arg=random:75x137:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=itself --arg=random:75x137:f32 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=power --arg=random:3000x5:f64:1 --arg=random:5x9:f64:2 --verify --threads=3 | FileCheck %s
// RUN: kron-run %s --entry=power --arg=random:3000x5:f64:1 --arg=random:5x9:f64:2 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=power --arg=random:3000x5:f64:1 --arg=random:5x9:f64:2 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=slices --arg=random:3x3000x33:bf16:1 --arg=random:50x3000:bf16:2 --arg=random:3:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=slices --arg=random:3x3000x33:bf16:1 --arg=random:50x3000:bf16:2 --arg=random:3:f32:3 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=slices --arg=random:3x3000x33:bf16:1 --arg=random:50x3000:bf16:2 --arg=random:3:f32:3 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:0x37:f32:1 --arg=random:75x37:f32:2 --verify | FileCheck %s
// RUN: kron-run %s --entry=distance --arg=random:100x0:f32:1 --arg=random:75x0:f32:2 --verify | FileCheck %s

// Verify that the vector code of kron.pairwise computes what its reference does: remainders of all axes, functions of
// every kind, K in slices, batches that stretch, all types of sums, empty arrays, vectors of every width.
// CHECK: verify {{.*}}: ok

// Rows with themselves, whose distance is 0: ten million times what roundings of products leave is not.
func.func @itself(%a: tensor<75x137xf32>) -> tensor<75x75xf32> {
  %e = tensor.empty() : tensor<75x75xf32>
  %0 = kron.pairwise square_diff ins(%a, %a : tensor<75x137xf32>, tensor<75x137xf32>)
      outs(%e : tensor<75x75xf32>)
      epilogue {
      ^bb0(%v: f32):
        %scale = arith.constant -1.0e+7 : f32
        %m = arith.mulf %v, %scale : f32
        %r = math.exp %m : f32
        kron.pairwise_yield %r : f32
      } -> tensor<75x75xf32>
  return %0 : tensor<75x75xf32>
}

func.func @distance(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = kron.pairwise square_diff ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      epilogue {
      ^bb0(%v: f32):
        %r = math.sqrt %v : f32
        %x = math.erf %r : f32
        %s = math.sin %x : f32
        %t = arith.addf %r, %s : f32
        kron.pairwise_yield %t : f32
      } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @power(%a: tensor<?x5xf64>, %b: tensor<5x9xf64>) -> tensor<?x9xf64> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x5xf64>
  %e = tensor.empty(%m) : tensor<?x9xf64>
  %0 = kron.pairwise pow_diff(1.3) ins(%a, T(%b) : tensor<?x5xf64>, tensor<5x9xf64>) outs(%e : tensor<?x9xf64>) -> tensor<?x9xf64>
  return %0 : tensor<?x9xf64>
}

func.func @slices(%a: tensor<3x?x?xbf16>, %b: tensor<?x?xbf16>, %g: tensor<3xf32>) -> tensor<3x?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %a, %c2 : tensor<3x?x?xbf16>
  %n = tensor.dim %b, %c0 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<3x?x?xbf16>
  %0 = kron.pairwise abs_diff ins(T(%a), %b : tensor<3x?x?xbf16>, tensor<?x?xbf16>) params(%g : tensor<3xf32>)
      outs(%e : tensor<3x?x?xbf16>)
      epilogue {
      ^bb0(%v: f32, %p: f32):
        %r = arith.mulf %v, %p : f32
        kron.pairwise_yield %r : f32
      } -> tensor<3x?x?xbf16>
  return %0 : tensor<3x?x?xbf16>
}
