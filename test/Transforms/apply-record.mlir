// RUN: split-file %s %t
// RUN: kron-opt %t/in.mlir --kron-apply-record=file=%t/record.json --remarks-filter='kron-.*' \
// RUN:   -o %t/out.mlir 2> %t/remarks
// RUN: FileCheck %s < %t/out.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t/remarks
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/text.json 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/object.json 2>&1 | FileCheck %s --check-prefix=OBJECT
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/entry.json 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/op.json 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/unknown.json 2>&1 | FileCheck %s --check-prefix=UNKNOWN -DNAME=kron.mmk
// RUN: not kron-opt %t/empty.mlir --kron-apply-record=file=%t/unknown.json 2>&1 | FileCheck %s --check-prefix=UNKNOWN -DNAME=kron.mmk
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/no-plan.json 2>&1 | FileCheck %s --check-prefix=UNKNOWN -DNAME=kron.epilogue
// RUN: kron-opt %t/empty.mlir --kron-apply-record=file=%t/record.json | FileCheck %s --check-prefix=EMPTY
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/arrays.json 2>&1 | FileCheck %s --check-prefix=ARRAYS
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/shape.json 2>&1 | FileCheck %s --check-prefix=ARRAYS
// RUN: not kron-opt %t/in.mlir --kron-apply-record=file=%t/plan.json 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: kronc %t/in.mlir --emit=mlir --record %t/record.json -o - | FileCheck %s --check-prefix=KRONC
// RUN: not kronc %t/in.mlir --emit=mlir --record %t/none.json -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not kron-run %t/in.mlir --entry tuned --record %t/none.json 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: --kron-apply-record: cannot read '{{.*}}none.json': No such file or directory
// TEXT: error: --kron-apply-record: '{{.*}}text.json' is no JSON: {{.*}}
// OBJECT: error: --kron-apply-record: expects '{{.*}}object.json' to be a list
// ENTRY: error: --kron-apply-record: entry 0 of '{{.*}}entry.json': expects an object
// OP: error: --kron-apply-record: entry 0 of '{{.*}}op.json': expects "op" to be the name of an operation
// UNKNOWN: error: --kron-apply-record: entry 1 of '{{.*}}.json': expects "op" to be an operation of kron that takes a plan, but got '[[NAME]]'
// EMPTY: func.func private @empty()
// ARRAYS: error: --kron-apply-record: entry 0 of '{{.*}}': expects "arrays" to be a list of shapes such as "?x64xf32"
// PLAN: error: --kron-apply-record: entry 1 of '{{.*}}plan.json': expects "plan" to be a #kron.cpu_plan, a #kron.gpu_plan or a #kron.dispatch, but got '#kron.tile<5>'

// REMARK: remark: [Passed] Record | Category:kron-plan | Entry=1
// REMARK: remark: [Passed] Record | Category:kron-plan | Entry=2

//--- record.json
[
  {"op": "kron.kmm", "arrays": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "plan": "#kron.cpu_plan<tile = 3>"},
  {"op": "kron.mkm", "arrays": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "plan": "#kron.cpu_plan<tile = 5>"},
  {"op": "kron.ksmm", "arrays": ["16x48xf64", "2x3x8x3xf64", "16x18xf64"], "plan": "#kron.cpu_plan<tile = 7>"},
  {"op": "kron.mkm", "arrays": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "plan": "#kron.cpu_plan<tile = 9>"}
]
//--- text.json
[{"op"
//--- object.json
{}
//--- entry.json
[7]
//--- op.json
[{"op": 7}]
//--- unknown.json
[{"op": "kron.mkm", "arrays": ["8xf32"], "plan": "#kron.cpu_plan<tile = 9>"},
 {"op": "kron.mmk", "arrays": ["8xf32"], "plan": "#kron.cpu_plan<tile = 9>"}]
//--- no-plan.json
[{"op": "kron.mkm", "arrays": ["8xf32"], "plan": "#kron.cpu_plan<tile = 9>"},
 {"op": "kron.epilogue", "arrays": ["8xf32"], "plan": "#kron.cpu_plan<tile = 9>"}]
//--- empty.mlir
func.func private @empty()
//--- arrays.json
[{"op": "kron.mkm"}]
//--- shape.json
[{"op": "kron.mkm", "arrays": [64]}]
//--- plan.json
[{"op": "kron.mkm", "arrays": ["8xf32"], "plan": "#kron.cpu_plan<tile = 9>"},
 {"op": "kron.mkm", "arrays": ["8xf32"], "plan": "#kron.tile<5>"}]
//--- in.mlir
// Verify that the first entry of the name and the shapes counts, on memrefs as on tensors, that what
// has a plan keeps it, and that other shapes and operations get none.
// CHECK-LABEL: func.func @tuned(
// CHECK: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 5>}
// KRONC-LABEL: llvm.func @tuned{{.*}}(
func.func @tuned(%x: memref<?x64xf32>, %f: memref<8x8xf32>, %y: memref<?x64xf32>) {
  kron.mkm ins(%x : memref<?x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<?x64xf32>)
  return
}

// CHECK-LABEL: func.func @tensors(
// CHECK: kron.ksmm {{.*}} {plan = #kron.cpu_plan<tile = 7>}
func.func @tensors(%x: tensor<16x48xf64>, %k: tensor<2x3x8x3xf64>, %y: tensor<16x18xf64>) -> tensor<16x18xf64> {
  %0 = kron.ksmm ins(%x : tensor<16x48xf64>) weights(%k : tensor<2x3x8x3xf64>) outs(%y : tensor<16x18xf64>) -> tensor<16x18xf64>
  return %0 : tensor<16x18xf64>
}

// CHECK-LABEL: func.func @own(
// CHECK: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 11>}
func.func @own(%x: memref<?x64xf32>, %f: memref<8x8xf32>, %y: memref<?x64xf32>) {
  kron.mkm ins(%x : memref<?x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<?x64xf32>)
      {plan = #kron.cpu_plan<tile = 11>}
  return
}

// CHECK-LABEL: func.func @others(
// CHECK-NOT: plan
func.func @others(%x: memref<4x64xf32>, %f: memref<8x8xf32>, %y: memref<4x64xf32>) {
  kron.mkm ins(%x : memref<4x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<4x64xf32>)
  return
}
