// Verify that an axis which one mode product contracts and another one stretches has the right numbers.
// RUN: kron-run %s --entry stretched_first --arg random:9x1:f32:1 --arg random:13x13:f32:2 --arg random:9x9:f32:3 \
// RUN:   --arg random:9x13:f32:4 --verify | FileCheck %s
// RUN: kron-run %s --entry stretched_last --arg random:9x7:f32:1 --arg random:7x1:f32:2 --arg random:9x9:f32:3 \
// RUN:   --arg random:9x1:f32:4 --arg random:9x13:f32:5 --verify | FileCheck %s
// RUN: kron-run %s --entry stretched_between --arg random:9x7:f32:1 --arg random:7x1:f32:2 --arg random:13x13:f32:3 \
// RUN:   --arg random:9x9:f32:4 --arg random:9x1:f32:5 --arg random:9x13:f32:6 --verify | FileCheck %s
// CHECK: : ok

func.func @stretched_first(%x: tensor<9x1xf32>, %f: tensor<13x13xf32>, %g: tensor<9x9xf32>, %y: tensor<9x13xf32>)
    -> tensor<9x13xf32> {
  %0 = kron.mode_product axis(0) ins(%x : tensor<9x1xf32>) factor(%g [p, q] : tensor<9x9xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  %1 = kron.mode_product axis(1) ins(%0 : tensor<9x13xf32>) factor(%f [p, q] : tensor<13x13xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  return %1 : tensor<9x13xf32>
}

func.func @stretched_last(%x: tensor<9x7xf32>, %f: tensor<7x1xf32>, %g: tensor<9x9xf32>, %i: tensor<9x1xf32>,
                          %y: tensor<9x13xf32>) -> tensor<9x13xf32> {
  %0 = kron.mode_product axis(1) ins(%x : tensor<9x7xf32>) factor(%f [p, q] : tensor<7x1xf32>)
         outs(%i : tensor<9x1xf32>) -> tensor<9x1xf32>
  %1 = kron.mode_product axis(0) ins(%0 : tensor<9x1xf32>) factor(%g [p, q] : tensor<9x9xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  return %1 : tensor<9x13xf32>
}

func.func @stretched_between(%x: tensor<9x7xf32>, %f: tensor<7x1xf32>, %h: tensor<13x13xf32>, %g: tensor<9x9xf32>,
                             %i: tensor<9x1xf32>, %y: tensor<9x13xf32>) -> tensor<9x13xf32> {
  %0 = kron.mode_product axis(1) ins(%x : tensor<9x7xf32>) factor(%f [p, q] : tensor<7x1xf32>)
         outs(%i : tensor<9x1xf32>) -> tensor<9x1xf32>
  %1 = kron.mode_product axis(0) ins(%0 : tensor<9x1xf32>) factor(%g [p, q] : tensor<9x9xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<9x13xf32>) factor(%h [p, q] : tensor<13x13xf32>)
         outs(%y : tensor<9x13xf32>) -> tensor<9x13xf32>
  return %2 : tensor<9x13xf32>
}
