// RUN: kron-opt %s -split-input-file --kron-decompose=target=cuda '--kron-fuse=target=cuda chip=sm_90a' | FileCheck %s
// RUN: kron-opt %s -split-input-file --kron-decompose=target=cuda '--kron-fuse=target=cuda chip=sm_90a' --remarks-filter=kron-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: kron-opt %s -split-input-file '--kron-gpu-pipeline=plan-only chip=sm_90a' | FileCheck %s --check-prefix=PLAN

// Verify that a chain of an unknown number of rows is one region where there are
// many, and one per factor where there are few: one block would read all
// factors, and most SMs would have none.

// REMARK: several fused regions where there are at most {{[1-9][0-9]*}} rows, else one
// CHECK-LABEL: func.func @chain
// CHECK:         %[[MANY:.*]] = arith.cmpi sgt, %{{.*}}, %c{{[1-9][0-9]*}} {kron.requires = {min_rows = {{[1-9][0-9]*}} : i64}} : index
// CHECK:         scf.if %[[MANY]]
// CHECK:           kron.fused
// CHECK:             kron.mode_product
// CHECK:             kron.mode_product
// CHECK:           kron.yield
// CHECK:         } else {
// CHECK:           kron.fused
// CHECK-COUNT-1:     kron.mode_product
// CHECK:           kron.yield
// CHECK:           kron.fused
// CHECK-COUNT-1:     kron.mode_product
// CHECK:           kron.yield

// Verify that what the launch decides by is still said where plans are.
// PLAN-LABEL: func.func @chain
// PLAN:         %[[DENSE:.*]] = arith.andi %{{.*}}, %{{.*}} {kron.requires = {row_major = 1 : i64}} : i1
// PLAN:         scf.if %[[DENSE]] {
// PLAN:           %[[MANY:.*]] = arith.cmpi sgt, %{{.*}} {kron.requires = {min_rows = {{[1-9][0-9]*}} : i64}} : index
// PLAN:           scf.if %[[MANY]] {
// PLAN:             kron.fused {{.*}}plan = #kron.gpu_plan<kernel = chain,
// PLAN:           } else {
// PLAN:             kron.fused {{.*}}plan = #kron.dispatch<[<kernel = sparse,
// PLAN:             kron.fused {{.*}}plan = #kron.dispatch<[<kernel = sparse,
func.func @chain(%x: tensor<?x768xf32>, %k: tensor<24x24x32x1xf32>, %l: tensor<1x128x24x24xf32>) -> tensor<?x3072xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x768xf32>
  %between = tensor.empty(%rows) : tensor<?x576xf32>
  %v = kron.ksmm ins(%x : tensor<?x768xf32>) weights(%k : tensor<24x24x32x1xf32>) outs(%between : tensor<?x576xf32>) -> tensor<?x576xf32>
  %init = tensor.empty(%rows) : tensor<?x3072xf32>
  %y = kron.ksmm ins(%v : tensor<?x576xf32>) weights(%l : tensor<1x128x24x24xf32>) outs(%init : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  return %y : tensor<?x3072xf32>
}

// -----

// Verify that a known number of rows leaves nothing to choose at run time.

// CHECK-LABEL: func.func @known
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @known(%x: tensor<16384x768xf32>, %k: tensor<24x24x32x1xf32>, %l: tensor<1x128x24x24xf32>) -> tensor<16384x3072xf32> {
  %between = tensor.empty() : tensor<16384x576xf32>
  %v = kron.ksmm ins(%x : tensor<16384x768xf32>) weights(%k : tensor<24x24x32x1xf32>) outs(%between : tensor<16384x576xf32>) -> tensor<16384x576xf32>
  %init = tensor.empty() : tensor<16384x3072xf32>
  %y = kron.ksmm ins(%v : tensor<16384x576xf32>) weights(%l : tensor<1x128x24x24xf32>) outs(%init : tensor<16384x3072xf32>) -> tensor<16384x3072xf32>
  return %y : tensor<16384x3072xf32>
}

// -----

// Verify that rows which become 8 bits stay in one region, whose kernel makes
// them.

// CHECK-LABEL: func.func @quantized
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @quantized(%x: tensor<?x768xf32>, %k: tensor<24x24x32x1xf32>, %l: tensor<1x128x24x24xf32>) -> (tensor<?x3072xi8>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x768xf32>
  %between = tensor.empty(%rows) : tensor<?x576xf32>
  %v = kron.ksmm ins(%x : tensor<?x768xf32>) weights(%k : tensor<24x24x32x1xf32>) outs(%between : tensor<?x576xf32>) -> tensor<?x576xf32>
  %init = tensor.empty(%rows) : tensor<?x3072xf32>
  %y = kron.ksmm ins(%v : tensor<?x576xf32>) weights(%l : tensor<1x128x24x24xf32>) outs(%init : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %q = tensor.empty(%rows) : tensor<?x3072xi8>
  %s = tensor.empty(%rows) : tensor<?xf32>
  %r:2 = kron.quantize ins(%y : tensor<?x3072xf32>) outs(%q, %s : tensor<?x3072xi8>, tensor<?xf32>) -> tensor<?x3072xi8>, tensor<?xf32>
  return %r#0, %r#1 : tensor<?x3072xi8>, tensor<?xf32>
}
