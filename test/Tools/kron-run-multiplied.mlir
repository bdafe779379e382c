// Verify that chains whose factors are multiplied with each other first compute what they do factor by factor.
// RUN: kron-opt %s --kron-decompose="target=cuda multiplied-factors=2" -o %t.two.mlir
// RUN: FileCheck %s --check-prefix=TWO --input-file=%t.two.mlir
// RUN: kron-opt %s --kron-decompose="target=cuda multiplied-factors=3" -o %t.three.mlir
// RUN: FileCheck %s --check-prefix=THREE --input-file=%t.three.mlir

// DEFINE: %{program} =
// DEFINE: %{entry} =
// DEFINE: %{args} =
// DEFINE: %{compare} = kron-run %s --entry %{entry} %{args} --out %t.1.npy && \
// DEFINE:   kron-run %{program} --entry %{entry} %{args} --out %t.2.npy && \
// DEFINE:   %python %S/Inputs/close.py %t.1.npy %t.2.npy | FileCheck %s --check-prefix=CLOSE
// CLOSE: {{^}}close

// REDEFINE: %{program} = %t.two.mlir
// REDEFINE: %{entry} = groups
// REDEFINE: %{args} = --arg random:5x120:f64:1 --arg random:4x3x5x6:f64:2 --arg random:2x7x4x9:f64:3
// RUN: %{compare}
// REDEFINE: %{entry} = blocks
// REDEFINE: %{args} = --arg random:24x7:f64:1 --arg random:6x4x4x1:f64:2 --arg random:2x5x12x1:f64:3
// RUN: %{compare}
// REDEFINE: %{entry} = behind
// REDEFINE: %{args} = --arg random:5x8:f64:1 --arg random:2x6x4x1:f64:2 --arg random:2x3x6x1:f64:3 --arg random:6:f64:4
// RUN: %{compare}
// REDEFINE: %{program} = %t.three.mlir
// REDEFINE: %{entry} = three
// REDEFINE: %{args} = --arg random:6x8:f64:1 --arg random:2x4x4x1:f64:2 --arg random:4x2x2x1:f64:3 --arg random:1x3x4x2:f64:4
// RUN: %{compare}

// Both factors have a = 2 and d = 3 in common: in each of these 6 groups 2 x 2 of the first and 1 x 3 of the second make
// weights of 21 x 20.
// TWO-LABEL: func.func @groups
// TWO: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x2x3x5x2x3xf64>) outs(%{{.*}} : tensor<2x2x3x2x3x2x5x2xf64>)
// TWO: kron.mode_product {{.*}} -> tensor<2x7x9x20xf64>
// TWO: linalg.transpose {{.*}} permutation = [0, 1, 3, 2]
// TWO: kron.mode_product {{.*}} -> tensor<5x2x21x3xf64>
func.func @groups(%x: tensor<5x120xf64>, %f: tensor<4x3x5x6xf64>, %g: tensor<2x7x4x9xf64>) -> tensor<5x126xf64> {
  %e = tensor.empty() : tensor<5x72xf64>
  %v = kron.ksmm ins(%x : tensor<5x120xf64>) weights(%f : tensor<4x3x5x6xf64>) outs(%e : tensor<5x72xf64>) -> tensor<5x72xf64>
  %i = tensor.empty() : tensor<5x126xf64>
  %y = kron.ksmm ins(%v : tensor<5x72xf64>) weights(%g : tensor<2x7x4x9xf64>) outs(%i : tensor<5x126xf64>) -> tensor<5x126xf64>
  return %y : tensor<5x126xf64>
}

// The product lies in memory as its weights do; the batch is last as it was.
// TWO-LABEL: func.func @blocks
// TWO: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x4x1x1x3x4x1xf64>)
// TWO-NOT: linalg.transpose
// TWO: kron.mode_product {{.*}} -> tensor<2x5x1x7xf64>
func.func @blocks(%x: tensor<24x7xf64>, %f: tensor<6x4x4x1xf64>, %g: tensor<2x5x12x1xf64>) -> tensor<10x7xf64> {
  %e = tensor.empty() : tensor<24x7xf64>
  %v = kron.ksmm ins(%x : tensor<24x7xf64>) weights(%f : tensor<6x4x4x1xf64>) outs(%e : tensor<24x7xf64>)
    {layout = #kron.layout<batch_last>} -> tensor<24x7xf64>
  %i = tensor.empty() : tensor<10x7xf64>
  %y = kron.ksmm ins(%v : tensor<24x7xf64>) weights(%g : tensor<2x5x12x1xf64>) outs(%i : tensor<10x7xf64>)
    {layout = #kron.layout<batch_last>} -> tensor<10x7xf64>
  return %y : tensor<10x7xf64>
}

// The first factor lies as it is written out, and what follows the last one stays.
// TWO-LABEL: func.func @behind
// TWO: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<2x6x4x1xf64> into tensor<12x4xf64>
// TWO: kron.mode_product {{.*}} -> tensor<2x3x1x4xf64>
// TWO: kron.mode_product {{.*}} -> tensor<5x2x3x1xf64>
// TWO: kron.epilogue
func.func @behind(%x: tensor<5x8xf64>, %f: tensor<2x6x4x1xf64>, %g: tensor<2x3x6x1xf64>, %b: tensor<6xf64>) -> tensor<5x6xf64> {
  %e = tensor.empty() : tensor<5x12xf64>
  %v = kron.ksmm ins(%x : tensor<5x8xf64>) weights(%f : tensor<2x6x4x1xf64>) outs(%e : tensor<5x12xf64>) -> tensor<5x12xf64>
  %i = tensor.empty() : tensor<5x6xf64>
  %y = kron.ksmm ins(%v : tensor<5x12xf64>) weights(%g : tensor<2x3x6x1xf64>) outs(%i : tensor<5x6xf64>) alpha(3.0)
    bias(%b : tensor<6xf64>) {activation = #kron.activation<relu>} -> tensor<5x6xf64>
  return %y : tensor<5x6xf64>
}

// A butterfly is one dense matrix.
// THREE-LABEL: func.func @three
// THREE: kron.mode_product {{.*}} -> tensor<6x1x6x1xf64>
func.func @three(%x: tensor<6x8xf64>, %f: tensor<2x4x4x1xf64>, %g: tensor<4x2x2x1xf64>, %h: tensor<1x3x4x2xf64>) -> tensor<6x6xf64> {
  %e = tensor.empty() : tensor<6x8xf64>
  %u = kron.ksmm ins(%x : tensor<6x8xf64>) weights(%f : tensor<2x4x4x1xf64>) outs(%e : tensor<6x8xf64>) -> tensor<6x8xf64>
  %v = kron.ksmm ins(%u : tensor<6x8xf64>) weights(%g : tensor<4x2x2x1xf64>) outs(%e : tensor<6x8xf64>) -> tensor<6x8xf64>
  %i = tensor.empty() : tensor<6x6xf64>
  %y = kron.ksmm ins(%v : tensor<6x8xf64>) weights(%h : tensor<1x3x4x2xf64>) outs(%i : tensor<6x6xf64>) -> tensor<6x6xf64>
  return %y : tensor<6x6xf64>
}
