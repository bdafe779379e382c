// RUN: kron-run %s --entry=factors --arg=random:300x5:f32:1 --arg=random:900x5:f32:2 --arg=random:300x1:f32:3 --arg=random:900x1:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=factors --arg=random:301x5:f32:1 --arg=random:905x5:f32:2 --arg=random:301x300:f32:3 --arg=random:905x300:f32:4 --verify --threads=3 | FileCheck %s
// RUN: kron-run %s --entry=factors --arg=random:33x300:f32:1 --arg=random:70x300:f32:2 --arg=random:33x3:f32:3 --arg=random:70x3:f32:4 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=factors --arg=random:33x5:f32:1 --arg=random:7x5:f32:2 --arg=random:33x0:f32:3 --arg=random:7x0:f32:4 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=factors --arg=random:33x5:f32:1 --arg=random:0x5:f32:2 --arg=random:33x2:f32:3 --arg=random:0x2:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=factors --arg=random:33x0:f32:1 --arg=random:7x0:f32:2 --arg=random:33x2:f32:3 --arg=random:7x2:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=exchanged --arg=random:5x21:f64:1 --arg=random:3x77x5:f64:2 --arg=random:77x21:f64:3 --arg=random:3x2x21:f64:4 --arg=random:3x77x2:f64:5 --arg=random:3:f64:6 --verify | FileCheck %s
// RUN: kron-run %s --entry=exchanged --arg=random:5x21:f64:1 --arg=random:3x77x5:f64:2 --arg=random:77x21:f64:3 --arg=random:3x2x21:f64:4 --arg=random:3x77x2:f64:5 --arg=random:3:f64:6 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=stretched --arg=random:1x20x7:f32:1 --arg=random:2x50x7:f32:2 --arg=random:3x1x20x50:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=outputs --arg=random:33x5:f32:1 --arg=random:905x5:f32:2 --arg=random:905x33:f32:3 --arg=random:33x1:f32:4 --arg=random:71x905x1:f32:5 --verify --threads=3 | FileCheck %s
// RUN: kron-run %s --entry=outputs --arg=random:9x300:f32:1 --arg=random:70x300:f32:2 --arg=random:70x9:f32:3 --arg=random:9x1:f32:4 --arg=random:3x70x1:f32:5 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=outputs --arg=random:9x5:f32:1 --arg=random:7x5:f32:2 --arg=random:7x9:f32:3 --arg=random:9x1:f32:4 --arg=random:0x7x1:f32:5 --verify | FileCheck %s
// RUN: kron-run %s --entry=outputs --arg=random:9x5:f32:1 --arg=random:0x5:f32:2 --arg=random:0x9:f32:3 --arg=random:9x1:f32:4 --arg=random:2x0x1:f32:5 --verify | FileCheck %s
// RUN: kron-run %s --entry=outputs_of_rhs --arg=random:2x1x21x5:f64:1 --arg=random:13x5:f64:2 --arg=random:2x4x1x21:f64:3 --arg=random:13x1:f64:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=outputs_of_rhs --arg=random:2x1x21x5:f64:1 --arg=random:13x5:f64:2 --arg=random:2x4x1x21:f64:3 --arg=random:13x1:f64:4 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=parameter --arg=random:2x300x5:f32:1 --arg=random:70x5:f32:2 --arg=random:300x70:f32:3 --arg=random:3x1:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry=parameter --arg=random:2x300x5:f32:1 --arg=random:70x5:f32:2 --arg=random:300x70:f32:3 --arg=random:3x1:f32:4 --verify --vector-bits=256 | FileCheck %s
// RUN: kron-run %s --entry=tangent --arg=random:3x19x2100:f32:1 --arg=random:70x2100:f32:2 --arg=random:3:f32:3 --arg=random:19x2100:f32:4 --arg=random:70x2100:f32:5 --arg=random:3:f32:6 --verify | FileCheck %s
// RUN: kron-run %s --entry=tangent --arg=random:3x19x5:f32:1 --arg=random:70x5:f32:2 --arg=random:3:f32:3 --arg=random:19x5:f32:4 --arg=random:70x5:f32:5 --arg=random:3:f32:6 --verify --vector-bits=128 | FileCheck %s
// RUN: kron-run %s --entry=along --arg=random:30x5:f32:1 --arg=random:70x5:f32:2 --arg=random:70x2:f32:3 --arg=random:30x5:f32:4 --arg=random:70x5:f32:5 --verify | FileCheck %s
// RUN: kron-run %s --entry=along --arg=random:30x5:f32:1 --arg=random:70x5:f32:2 --arg=random:70x40:f32:3 --arg=random:30x5:f32:4 --arg=random:70x5:f32:5 --verify --vector-bits=256 | FileCheck %s

// Verify that the vector code of derivatives computes what their reference does: gradients by each operand, of factors and
// arrays, few and many columns, remainders of all axes, several blocks of each, K in slices, batches that stretch or are
// added up, arrays that are stored the other way round, functions of which the operands cannot be exchanged, empty arrays,
// vectors of every width, outputs of one column with values of pairs and without, more than are packed at a time, few, and none.
// CHECK: verify {{.*}}: ok

func.func @factors(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %u: tensor<?x?xf32>, %v: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %k = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %k) : tensor<?x?xf32>
  %0 = kron.pairwise_grad by(lhs) square_diff ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      factors(%u, %v : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      epilogue {
      ^bb0(%s: f32):
        %q = arith.constant -0.015625 : f32
        %z = arith.mulf %s, %q : f32
        %r = math.exp %z : f32
        kron.pairwise_yield %r : f32
      } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @exchanged(%a: tensor<5x?xf64>, %b: tensor<3x?x5xf64>, %h: tensor<?x?xf64>, %u: tensor<3x2x?xf64>,
                     %v: tensor<3x?x2xf64>, %g: tensor<3xf64>) -> tensor<3x?x5xf64> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c1 : tensor<3x?x5xf64>
  %e = tensor.empty(%n) : tensor<3x?x5xf64>
  %0 = kron.pairwise_grad by(rhs) ins(T(%a), %b : tensor<5x?xf64>, tensor<3x?x5xf64>)
      grad(T(%h) : tensor<?x?xf64>) factors(T(%u), %v : tensor<3x2x?xf64>, tensor<3x?x2xf64>)
      params(%g : tensor<3xf64>) outs(%e : tensor<3x?x5xf64>)
      inner {
      ^bb0(%x: f64, %y: f64, %p: f64):
        %t = arith.mulf %y, %p : f64
        %w = math.exp %t : f64
        %r = arith.mulf %x, %w : f64
        kron.pairwise_yield %r : f64
      }
      epilogue {
      ^bb0(%s: f64, %p: f64):
        %t = math.tanh %s : f64
        %r = arith.mulf %t, %p : f64
        kron.pairwise_yield %r : f64
      } -> tensor<3x?x5xf64>
  return %0 : tensor<3x?x5xf64>
}

func.func @stretched(%a: tensor<1x?x7xf32>, %b: tensor<2x?x7xf32>, %h: tensor<3x1x?x?xf32>) -> tensor<1x?x7xf32> {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c1 : tensor<1x?x7xf32>
  %e = tensor.empty(%m) : tensor<1x?x7xf32>
  %0 = kron.pairwise_grad by(lhs) abs_diff ins(%a, %b : tensor<1x?x7xf32>, tensor<2x?x7xf32>)
      grad(%h : tensor<3x1x?x?xf32>) outs(%e : tensor<1x?x7xf32>) -> tensor<1x?x7xf32>
  return %0 : tensor<1x?x7xf32>
}

func.func @outputs(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %h: tensor<?x?xf32>, %u: tensor<?x1xf32>,
                   %v: tensor<?x?x1xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = tensor.dim %v, %c0 : tensor<?x?x1xf32>
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %k = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%o, %m, %k) : tensor<?x?x?xf32>
  %0 = kron.pairwise_grad by(lhs) pow_diff(1.3) ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) grad(T(%h) : tensor<?x?xf32>)
      factors(%u, %v : tensor<?x1xf32>, tensor<?x?x1xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// Of a batch of two, one of which is added up.
func.func @outputs_of_rhs(%a: tensor<2x1x?x?xf64>, %b: tensor<?x?xf64>, %u: tensor<2x?x1x?xf64>,
                          %v: tensor<?x1xf64>) -> tensor<1x?x?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = tensor.dim %u, %c1 : tensor<2x?x1x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %k = tensor.dim %b, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%o, %n, %k) : tensor<1x?x?x?xf64>
  %0 = kron.pairwise_grad by(rhs) square_diff ins(%a, %b : tensor<2x1x?x?xf64>, tensor<?x?xf64>)
      factors(T(%u), %v : tensor<2x?x1x?xf64>, tensor<?x1xf64>) outs(%e : tensor<1x?x?x?xf64>)
      epilogue {
      ^bb0(%s: f64):
        %q = arith.constant -0.0625 : f64
        %z = arith.mulf %s, %q : f64
        %r = math.exp %z : f64
        kron.pairwise_yield %r : f64
      } -> tensor<1x?x?x?xf64>
  return %0 : tensor<1x?x?x?xf64>
}

func.func @parameter(%a: tensor<2x?x5xf32>, %b: tensor<?x5xf32>, %h: tensor<?x?xf32>, %g: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %e = tensor.empty() : tensor<3x1xf32>
  %0 = kron.pairwise_grad by(param, 0) square_diff ins(%a, %b : tensor<2x?x5xf32>, tensor<?x5xf32>)
      grad(%h : tensor<?x?xf32>) params(%g : tensor<3x1xf32>) outs(%e : tensor<3x1xf32>)
      epilogue {
      ^bb0(%s: f32, %p: f32):
        %t = arith.mulf %s, %p : f32
        %n = arith.negf %t : f32
        %r = math.exp %n : f32
        kron.pairwise_yield %r : f32
      } -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

func.func @tangent(%a: tensor<3x?x?xf32>, %b: tensor<?x?xf32>, %g: tensor<3xf32>, %da: tensor<?x?xf32>,
                   %db: tensor<?x?xf32>, %dg: tensor<3xf32>) -> tensor<3x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c1 : tensor<3x?x?xf32>
  %n = tensor.dim %b, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<3x?x?xf32>
  %0 = kron.pairwise_tangent ins(%a, %b : tensor<3x?x?xf32>, tensor<?x?xf32>) params(%g : tensor<3xf32>)
      along(%da, %db, %dg : tensor<?x?xf32>, tensor<?x?xf32>, tensor<3xf32>) outs(%e : tensor<3x?x?xf32>)
      inner {
      ^bb0(%x: f32, %y: f32, %p: f32):
        %t = arith.mulf %y, %p : f32
        %w = math.sin %t : f32
        %r = arith.mulf %x, %w : f32
        kron.pairwise_yield %r : f32
      }
      epilogue {
      ^bb0(%s: f32, %p: f32):
        %q = arith.constant 0.015625 : f32
        %z = arith.mulf %s, %q : f32
        %t = math.tanh %z : f32
        %r = arith.mulf %t, %p : f32
        kron.pairwise_yield %r : f32
      } -> tensor<3x?x?xf32>
  return %0 : tensor<3x?x?xf32>
}

func.func @along(%a: tensor<?x5xf32>, %b: tensor<?x5xf32>, %v: tensor<?x?xf32>, %da: tensor<?x5xf32>,
                 %db: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x5xf32>
  %c = tensor.dim %v, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %c) : tensor<?x?xf32>
  %0 = kron.pairwise_apply square_diff ins(%a, %b : tensor<?x5xf32>, tensor<?x5xf32>) values(%v : tensor<?x?xf32>)
      along(%da, %db : tensor<?x5xf32>, tensor<?x5xf32>) outs(%e : tensor<?x?xf32>)
      epilogue {
      ^bb0(%s: f32):
        %n = arith.negf %s : f32
        %r = math.exp %n : f32
        kron.pairwise_yield %r : f32
      } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
