// Verify that factors that are multiplied with each other first compute what they do factor by factor.
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

// REDEFINE: %{args} = --arg random:7x24:f64:1 --arg random:3x2:f64:2 --arg random:5x4:f64:3 --arg random:4x3:f64:4 --arg random:7x60:f64:5
// REDEFINE: %{entry} = rows
// REDEFINE: %{program} = %t.two.mlir
// RUN: %{compare}
// REDEFINE: %{program} = %t.three.mlir
// RUN: %{compare}
// REDEFINE: %{args} = --arg random:2x24x7:f64:1 --arg random:2x3:f64:2 --arg random:5x4:f64:3 --arg random:4x3:f64:4
// REDEFINE: %{entry} = columns
// REDEFINE: %{program} = %t.two.mlir
// RUN: %{compare}
// REDEFINE: %{program} = %t.three.mlir
// RUN: %{compare}

// Of the last factor, which is left over, nothing is multiplied.
// TWO-LABEL: func.func @rows
// TWO: %[[PRODUCT:.*]] = memref.alloc() {{.*}} : memref<8x15xf64>
// TWO: linalg.generic {{.*}} outs(%{{.*}} : memref<2x4x3x5xf64>)
// TWO: kron.fused ins(%{{.*}}, %[[PRODUCT]], %{{.*}} : memref<7x8x3xf64>, memref<8x15xf64>, memref<4x3xf64>)
// TWO: memref.dealloc %[[PRODUCT]]
// THREE-LABEL: func.func @rows
// THREE: linalg.generic {{.*}} outs(%{{.*}} : memref<2x4x3x3x5x4xf64>)
// THREE: kron.fused ins(%{{.*}}, %{{.*}} : memref<7x24xf64>, memref<24x60xf64>)
func.func @rows(%x: memref<7x24xf64>, %f: memref<3x2xf64>, %g: memref<5x4xf64>, %h: memref<4x3xf64>, %y: memref<7x60xf64>) {
  kron.mkm ins(%x : memref<7x24xf64>) factors(T(%f), T(%g), T(%h) : memref<3x2xf64>, memref<5x4xf64>, memref<4x3xf64>)
    outs(%y : memref<7x60xf64>) beta(0.5 : f64)
  return
}

// TWO-LABEL: func.func @columns
// TWO: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5x2x4xf64>)
// TWO: kron.mode_product axis(1) {{.*}} factor(%{{.*}} [q, p] : tensor<15x8xf64>)
// TWO: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [q, p] : tensor<4x3xf64>)
// THREE-LABEL: func.func @columns
// THREE: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5x4x2x4x3xf64>)
func.func @columns(%x: tensor<2x24x7xf64>, %f: tensor<2x3xf64>, %g: tensor<5x4xf64>, %h: tensor<4x3xf64>) -> tensor<2x60x7xf64> {
  %i = tensor.empty() : tensor<2x60x7xf64>
  %y = kron.kmm ins(%x : tensor<2x24x7xf64>) factors(T(%f), %g, %h : tensor<2x3xf64>, tensor<5x4xf64>, tensor<4x3xf64>)
    outs(%i : tensor<2x60x7xf64>) -> tensor<2x60x7xf64>
  return %y : tensor<2x60x7xf64>
}
