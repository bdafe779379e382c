// RUN: kron-opt %s --kron-decompose --remarks-filter=kron-decompose -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t.remarks
// RUN: kron-opt %s --kron-decompose="copy-gigabytes=100" | FileCheck %s --check-prefix=FAST
// RUN: kron-opt %s --kron-decompose="multiplied-factors=2" | FileCheck %s --check-prefix=TWO
// RUN: not kron-opt %s --kron-decompose="gigahertz=0" 2>&1 | FileCheck %s --check-prefix=RATE
// RUN: not kron-opt %s --kron-decompose="vector-bits=100" 2>&1 | FileCheck %s --check-prefix=BITS
// RATE: error: expects gigahertz to be more than 0, but got 0
// BITS: error: expects vector-bits to be 128, 256 or 512, but got 100

// Verify that factors whose product has a quarter of their weights are multiplied with each other for many rows.
// REMARKS: remark: [Passed] MultipliedOut | Category:kron-decompose | Factors=2, Remark="factors 1 to 2 of 2 are multiplied with each other first: the chain takes {{.*}} us instead of {{.*}} us"
// CHECK-LABEL: func.func @narrow
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x192x2x1x1x48x2xf32>)
// CHECK: kron.mode_product {{.*}} -> tensor<2x48x1x96xf32>
// CHECK: kron.mode_product {{.*}} -> tensor<2000x1x96x1xf32>
func.func @narrow(%x: tensor<2000x96xf32>, %f: tensor<1x192x48x2xf32>, %g: tensor<2x48x192x1xf32>) -> tensor<2000x96xf32> {
  %e = tensor.empty() : tensor<2000x384xf32>
  %v = kron.ksmm ins(%x : tensor<2000x96xf32>) weights(%f : tensor<1x192x48x2xf32>) outs(%e : tensor<2000x384xf32>) -> tensor<2000x384xf32>
  %i = tensor.empty() : tensor<2000x96xf32>
  %y = kron.ksmm ins(%v : tensor<2000x384xf32>) weights(%g : tensor<2x48x192x1xf32>) outs(%i : tensor<2000x96xf32>) -> tensor<2000x96xf32>
  return %y : tensor<2000x96xf32>
}

// Verify that a launch chooses where rows are unknown, and that memory of each branch is its own.
// REMARKS: MultipliedOut {{.*}}="factors 1 to 2 of 2 are
// CHECK-LABEL: func.func @open
// CHECK: %[[LEAST:.*]] = arith.constant [[ROWS:[1-9][0-9]*]] : index
// CHECK: arith.cmpi sge, %{{.*}}, %[[LEAST]] {kron.requires = {min_rows = [[ROWS]] : i64}}
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x192x2x1x1x48x2xf32>)
// CHECK: kron.mode_product {{.*}} -> tensor<?x1x96x1xf32>
// CHECK: scf.yield
// CHECK: } else {
// CHECK-NOT: linalg.generic
// CHECK: tensor.empty({{.*}}) : tensor<?x384xf32>
// CHECK: kron.mode_product {{.*}} -> tensor<?x1x192x2xf32>
// CHECK: kron.mode_product {{.*}} -> tensor<?x2x48x1xf32>
// CHECK: scf.yield
func.func @open(%x: tensor<?x96xf32>, %f: tensor<1x192x48x2xf32>, %g: tensor<2x48x192x1xf32>, %i: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%n) : tensor<?x384xf32>
  %v = kron.ksmm ins(%x : tensor<?x96xf32>) weights(%f : tensor<1x192x48x2xf32>) outs(%e : tensor<?x384xf32>) -> tensor<?x384xf32>
  %y = kron.ksmm ins(%v : tensor<?x384xf32>) weights(%g : tensor<2x48x192x1xf32>) outs(%i : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// Verify that of a chain only those are that gain by it, where memory does not bind: fibres of two are short for lanes.
// CHECK-LABEL: func.func @butterfly
// CHECK: kron.mode_product {{.*}} -> tensor<4096x512x2x1xf32>
// FAST-LABEL: func.func @butterfly
// FAST: kron.mode_product {{.*}} -> tensor<4096x128x8x1xf32>
// FAST: kron.mode_product {{.*}} -> tensor<4096x16x8x8xf32>
func.func @butterfly(%x: tensor<4096x1024xf32>, %f: tensor<512x2x2x1xf32>, %g: tensor<256x2x2x2xf32>, %h: tensor<128x2x2x4xf32>,
                     %k: tensor<16x8x8x8xf32>) -> tensor<4096x1024xf32> {
  %e = tensor.empty() : tensor<4096x1024xf32>
  %u = kron.ksmm ins(%x : tensor<4096x1024xf32>) weights(%f : tensor<512x2x2x1xf32>) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %v = kron.ksmm ins(%u : tensor<4096x1024xf32>) weights(%g : tensor<256x2x2x2xf32>) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %w = kron.ksmm ins(%v : tensor<4096x1024xf32>) weights(%h : tensor<128x2x2x4xf32>) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %y = kron.ksmm ins(%w : tensor<4096x1024xf32>) weights(%k : tensor<16x8x8x8xf32>) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %y : tensor<4096x1024xf32>
}

// Verify that the same for few rows, of f16, with a plan, and where something else needs what lies between, is not.
// REMARKS-NOT: MultipliedOut
// CHECK-NOT: linalg.generic
// TWO-LABEL: func.func @few
// TWO: kron.mode_product {{.*}} -> tensor<20x1x96x1xf32>
func.func @few(%x: tensor<20x96xf32>, %f: tensor<1x192x48x2xf32>, %g: tensor<2x48x192x1xf32>) -> tensor<20x96xf32> {
  %e = tensor.empty() : tensor<20x384xf32>
  %v = kron.ksmm ins(%x : tensor<20x96xf32>) weights(%f : tensor<1x192x48x2xf32>) outs(%e : tensor<20x384xf32>) -> tensor<20x384xf32>
  %i = tensor.empty() : tensor<20x96xf32>
  %y = kron.ksmm ins(%v : tensor<20x384xf32>) weights(%g : tensor<2x48x192x1xf32>) outs(%i : tensor<20x96xf32>) -> tensor<20x96xf32>
  return %y : tensor<20x96xf32>
}

func.func @half(%x: tensor<2000x96xf16>, %f: tensor<1x192x48x2xf16>, %g: tensor<2x48x192x1xf16>) -> tensor<2000x96xf16> {
  %e = tensor.empty() : tensor<2000x384xf16>
  %v = kron.ksmm ins(%x : tensor<2000x96xf16>) weights(%f : tensor<1x192x48x2xf16>) outs(%e : tensor<2000x384xf16>) -> tensor<2000x384xf16>
  %i = tensor.empty() : tensor<2000x96xf16>
  %y = kron.ksmm ins(%v : tensor<2000x384xf16>) weights(%g : tensor<2x48x192x1xf16>) outs(%i : tensor<2000x96xf16>) -> tensor<2000x96xf16>
  return %y : tensor<2000x96xf16>
}

func.func @planned(%x: tensor<2000x96xf32>, %f: tensor<1x192x48x2xf32>, %g: tensor<2x48x192x1xf32>) -> tensor<2000x96xf32> {
  %e = tensor.empty() : tensor<2000x384xf32>
  %v = kron.ksmm ins(%x : tensor<2000x96xf32>) weights(%f : tensor<1x192x48x2xf32>) outs(%e : tensor<2000x384xf32>) -> tensor<2000x384xf32>
  %i = tensor.empty() : tensor<2000x96xf32>
  %y = kron.ksmm ins(%v : tensor<2000x384xf32>) weights(%g : tensor<2x48x192x1xf32>) outs(%i : tensor<2000x96xf32>)
    {plan = #kron.cpu_plan<tile = 16>} -> tensor<2000x96xf32>
  return %y : tensor<2000x96xf32>
}

func.func @kept(%x: tensor<2000x96xf32>, %f: tensor<1x192x48x2xf32>, %g: tensor<2x48x192x1xf32>) -> (tensor<2000x96xf32>, tensor<2000x384xf32>) {
  %e = tensor.empty() : tensor<2000x384xf32>
  %v = kron.ksmm ins(%x : tensor<2000x96xf32>) weights(%f : tensor<1x192x48x2xf32>) outs(%e : tensor<2000x384xf32>) -> tensor<2000x384xf32>
  %i = tensor.empty() : tensor<2000x96xf32>
  %y = kron.ksmm ins(%v : tensor<2000x384xf32>) weights(%g : tensor<2x48x192x1xf32>) outs(%i : tensor<2000x96xf32>) -> tensor<2000x96xf32>
  return %y, %v : tensor<2000x96xf32>, tensor<2000x384xf32>
}

// Verify that nor are factors whose product has zeros, which a NaN would spread over.
func.func @apart(%x: tensor<2000x9xf32>, %f: tensor<3x1380x3x1xf32>, %g: tensor<2x2x2070x1xf32>) -> tensor<2000x4xf32> {
  %e = tensor.empty() : tensor<2000x4140xf32>
  %v = kron.ksmm ins(%x : tensor<2000x9xf32>) weights(%f : tensor<3x1380x3x1xf32>) outs(%e : tensor<2000x4140xf32>) -> tensor<2000x4140xf32>
  %i = tensor.empty() : tensor<2000x4xf32>
  %y = kron.ksmm ins(%v : tensor<2000x4140xf32>) weights(%g : tensor<2x2x2070x1xf32>) outs(%i : tensor<2000x4xf32>) -> tensor<2000x4xf32>
  return %y : tensor<2000x4xf32>
}
