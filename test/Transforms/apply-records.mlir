// RUN: split-file %s %t
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/rec.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   --remarks-filter='kron-.*' -o %t/out.mlir 2> %t/remarks
// RUN: FileCheck %s < %t/out.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t/remarks

// REMARK: remark: [Passed] Record | Category:kron-plan | Remark="the plan is one of {{.*}}rec.jsonl: kron.mkm ?x64xf32 8x8xf32 8x8xf32 ?x64xf32 rows 2-16 {
// REMARK: remark: [Passed] Record | Category:kron-plan | Remark="the plan is one of {{.*}}rec.jsonl: kron.ksmm
// REMARK: remark: [Passed] Record | Category:kron-plan | Remark="the plan is one of {{.*}}rec.jsonl: kron.mkm ?x64xf32 8x8xf32 8x8xf32 ?x64xf32 rows 2-16 {
// REMARK-NOT: remark

// Verify that files are looked at in order, and that rows that are known choose among records.
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/rows.jsonl,%t/rec.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   | FileCheck %s --check-prefix=ROWS
// ROWS-LABEL: func.func @tuned(
// ROWS: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 8>}
// ROWS-LABEL: func.func @tensors(
// ROWS: kron.ksmm {{.*}} {plan = #kron.cpu_plan<tile = 7>}
// ROWS-LABEL: func.func @four_rows(
// ROWS: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 9>}

// Verify that a record of the very sizes comes before those for ranges, also newer ones for more rows.
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/exact.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   | FileCheck %s --check-prefix=EXACT
// EXACT-LABEL: func.func @four_rows(
// EXACT: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 12>}
// EXACT-LABEL: func.func @others(
// EXACT: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 13>}

// Verify that a portable processor, whose threads are not known, takes records of its instructions.
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/machine.jsonl target=cpu/x86-64-v4/x86-64-v4/0" \
// RUN:   | FileCheck %s --check-prefix=PORTABLE
// PORTABLE-LABEL: func.func @tuned(
// PORTABLE: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 5>}

// Verify that records of other machines, with other plans or with plans that do not verify are not used.
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/machine.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   --remarks-filter='kron-.*' 2>&1 | FileCheck %s --check-prefixes=NONE,MACHINE
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/schema.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   --remarks-filter='kron-.*' 2>&1 | FileCheck %s --check-prefixes=NONE,SCHEMA
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/plan.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   --remarks-filter='kron-.*' 2>&1 | FileCheck %s --check-prefixes=NONE,PLAN
// MACHINE: remark: [Missed] Record | Category:kron-plan | Remark="a record of {{.*}}machine.jsonl is of cpu/znver5/x86-64-v4/16, not cpu/znver5/x86-64-v4/2; a record of {{.*}} is of cuda/h200/00000000, not
// SCHEMA: remark: [Missed] Record | Category:kron-plan | Remark="a record of {{.*}}schema.jsonl has plans of schema 1, not 3"
// PLAN: remark: [Missed] Record | Category:kron-plan | Remark="a record of {{.*}}plan.jsonl has a plan that is none: expects tile to be in [0, 2147483647], but got -5; {{.*}} has a plan that is none: expects a #kron.cpu_plan or #kron.pairwise_plan, or a #kron.region_plans of them; {{.*}} has a plan that is none
// DEFAULT: remark: [Passed] Record | Category:kron-plan | Remark="the default is the fastest plan by {{.*}}default.jsonl: kron.mkm ?x64xf32
// NONE-LABEL: func.func @tuned(
// NONE-NOT: plan
// NONE-LABEL: func.func @tensors(

// Verify that a record of the default, which has no plan, gives none, and that other files are not asked then.
// RUN: sed 's/"plan": "[^"]*"/"plan": ""/' %t/rec.jsonl > %t/default.jsonl
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/default.jsonl,%t/rec.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   --remarks-filter='kron-.*' 2>&1 | FileCheck %s --check-prefixes=NONE,DEFAULT

// Verify that lines that are no records are skipped with warnings.
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/damaged.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: warning: {{.*}}damaged.jsonl:1: no tuning record, skipped: expects 'the record' to have an integer 'kron'
// DAMAGED: warning: {{.*}}damaged.jsonl:2: no tuning record, skipped:
// DAMAGED: warning: {{.*}}damaged.jsonl:3: no tuning record, skipped:
// DAMAGED: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 5>}

// Verify errors: of files, of the target, and of a plan that is none for the operation, which tools go on without.
// RUN: not kron-opt %t/in.mlir --kron-apply-records="files=%t/none.jsonl target=cpu/znver5/x86-64-v4/2" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not kronc %t/in.mlir --emit=mlir --record %t/none.jsonl -o - 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not kron-run %t/in.mlir --entry tuned --record %t/none.jsonl 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not kron-opt %t/in.mlir --kron-apply-records="files=%t/rec.jsonl target=znver5" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not kron-opt %t/in.mlir --kron-cpu-pipeline="records=%t/impossible.jsonl record-target=cpu/znver5/x86-64-v4/2" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=IMPOSSIBLE
// RUN: kronc %t/in.mlir --mcpu=znver5 --record %t/impossible.jsonl --emit=asm -o - 2>&1 >%t/code.s | FileCheck %s --check-prefix=WITHOUT
// MISSING: error: --kron-apply-records: cannot read '{{.*}}none.jsonl': No such file or directory
// NOFILE: error: cannot read '{{.*}}none.jsonl': No such file or directory
// TARGET: error: --kron-apply-records: expects cpu/PROCESSOR/ISA/THREADS or cuda/CHIP/DESCRIPTION, but got 'znver5'
// IMPOSSIBLE: error: 'kron.fused' op has a plan that is none for it: expects tiled_axis to be an axis along which
// WITHOUT: warning: no tuning record is used: 'kron.fused' op has a plan that is none for it: expects tiled_axis to be

// Verify the error of a plan for more shared memory than the GPU has.
// RUN: not kron-opt %t/gpu.mlir --kron-gpu-pipeline="chip=h200 records=%t/shared.jsonl record-target=cuda/h200/00000000" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHARED
// SHARED: error: 'kron.fused' op has no GPU kernel of kind wgmma; wgmma: factors and a tile do not fit shared memory; expects tile to be {{.*}}, but got 512

// Verify that what fails without a record's doing is lowered once: what is said on the way is said once.
// RUN: not kronc %t/wrong.mlir --remarks --mcpu=znver5 --record %t/rec.jsonl -o %t/wrong.o 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: remark: kron-fallback: kron.kmm takes the slow path
// ONCE-NOT: slow path
// ONCE: error: 'kron.fused' op has a plan that is none for it: expects tiled_axis to be an axis along which
// ONCE-NOT: {{error|warning}}:

// Verify that a version of a kernel gets the records of its processor, and that of another one does not.
// RUN: kronc %t/in.mlir --mcpu=x86-64-v3,x86-64-v4 --record %t/rec.jsonl --emit=llvm -o %t/two.ll
// RUN: kronc %t/in.mlir --mcpu=x86-64-v3,x86-64-v4 --emit=llvm -o %t/none.ll
// RUN: not cmp %t/two.ll %t/none.ll
// RUN: kronc %t/in.mlir --mcpu=x86-64-v3 --record %t/rec.jsonl --emit=llvm -o %t/two.ll
// RUN: kronc %t/in.mlir --mcpu=x86-64-v3 --emit=llvm -o %t/none.ll
// RUN: cmp %t/two.ll %t/none.ll

// Verify that rows whose stride is open are taken as contiguous ones, by records of both, and that a record of the
// very layouts comes before newer ones of others. In the Python package strides are open.
// RUN: sed 's/"?x64xf32"/"?x64xf32 strided<[?, 1], offset: ?>"/g; s/tile = /tile = 10/' %t/rec.jsonl > %t/open.jsonl
// RUN: kron-opt %t/strides.mlir --kron-apply-records="files=%t/rec.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   | FileCheck %s --check-prefixes=STRIDES,CONTIGUOUS
// RUN: kron-opt %t/in.mlir --kron-apply-records="files=%t/open.jsonl target=cpu/znver5/x86-64-v4/2" | FileCheck %s --check-prefix=BACK
// RUN: cat %t/open.jsonl %t/rec.jsonl > %t/both.jsonl
// RUN: kron-opt %t/strides.mlir --kron-apply-records="files=%t/both.jsonl target=cpu/znver5/x86-64-v4/2" \
// RUN:   | FileCheck %s --check-prefixes=STRIDES,OPEN
// STRIDES-LABEL: func.func @rows(
// CONTIGUOUS: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 6>}
// OPEN: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 106>}
// STRIDES-LABEL: func.func @columns(
// STRIDES-NOT: plan
// STRIDES-LABEL: func.func @gaps(
// STRIDES-NOT: plan
// BACK-LABEL: func.func @tuned(
// BACK: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 106>}

// Verify that each of kron's own records applies: all five.
// RUN: kron-tune --list '<kron>' | FileCheck %s --check-prefix=EACH
// RUN: kronc %t/each.mlir --mcpu=znver4 --record '<kron>' --remarks=kron-plan --emit=llvm -o %t/each.ll 2>&1 \
// RUN:   | FileCheck %s --check-prefix=APPLIED --implicit-check-not=warning
// EACH-COUNT-5: cpu/znver4/x86-64-v4/1: kron.mkm
// EACH-NOT: : kron.
// APPLIED-COUNT-5: remark: kron-plan: the plan is one of <kron>: kron.mkm

// Verify that kron's own records are looked up by their name, by all tools.
// RUN: kron-opt %t/shipped.mlir --kron-apply-records="files=<kron> target=cpu/znver4/x86-64-v4/1" \
// RUN:   --remarks-filter='kron-.*' 2>&1 | FileCheck %s --check-prefix=SHIPPED
// RUN: kronc %t/shipped.mlir --mcpu=znver4 --record '<kron>' --remarks=kron-plan --emit=llvm -o %t/shipped.ll 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BY-KRONC
// RUN: kron-tune --list '<kron>' | FileCheck %s --check-prefix=LIST
// SHIPPED: remark: [Passed] Record | Category:kron-plan | Remark="the plan is one of <kron>: kron.mkm ?x1024xf32 2x2xf32
// SHIPPED: kron.mkm {{.*}} {plan = #kron.cpu_plan<
// BY-KRONC: remark: kron-plan: the plan is one of <kron>: kron.mkm ?x1024xf32
// LIST: cpu/znver4/x86-64-v4/1: kron.mkm ?x{{.*}} x as fast

//--- shipped.mlir
func.func @hadamard(%x: memref<?x1024xf32>, %f: memref<2x2xf32>, %y: memref<?x1024xf32>) {
  kron.mkm ins(%x : memref<?x1024xf32>)
      factors(%f, %f, %f, %f, %f, %f, %f, %f, %f, %f : memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>,
              memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>)
      outs(%y : memref<?x1024xf32>)
  return
}
//--- each.mlir
func.func @four(%x: memref<100x4096xf32>, %f: memref<8x8xf32>, %y: memref<100x4096xf32>) {
  kron.mkm ins(%x : memref<100x4096xf32>)
      factors(%f, %f, %f, %f :
              memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
      outs(%y : memref<100x4096xf32>)
  return
}
func.func @five(%x: memref<100x32768xf32>, %f: memref<8x8xf32>, %y: memref<100x32768xf32>) {
  kron.mkm ins(%x : memref<100x32768xf32>)
      factors(%f, %f, %f, %f, %f :
              memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
      outs(%y : memref<100x32768xf32>)
  return
}
func.func @few(%x: memref<10x1024xf32>, %f: memref<2x2xf32>, %y: memref<10x1024xf32>) {
  kron.mkm ins(%x : memref<10x1024xf32>)
      factors(%f, %f, %f, %f, %f, %f, %f, %f, %f, %f :
              memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>)
      outs(%y : memref<10x1024xf32>)
  return
}
func.func @some(%x: memref<100x1024xf32>, %f: memref<2x2xf32>, %y: memref<100x1024xf32>) {
  kron.mkm ins(%x : memref<100x1024xf32>)
      factors(%f, %f, %f, %f, %f, %f, %f, %f, %f, %f :
              memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>)
      outs(%y : memref<100x1024xf32>)
  return
}
func.func @many(%x: memref<1000x1024xf32>, %f: memref<2x2xf32>, %y: memref<1000x1024xf32>) {
  kron.mkm ins(%x : memref<1000x1024xf32>)
      factors(%f, %f, %f, %f, %f, %f, %f, %f, %f, %f :
              memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>)
      outs(%y : memref<1000x1024xf32>)
  return
}
//--- strides.mlir
func.func @rows(%x: memref<?x64xf32, strided<[?, 1], offset: ?>>, %f: memref<8x8xf32>, %y: memref<?x64xf32, strided<[?, 1], offset: ?>>) {
  kron.mkm ins(%x : memref<?x64xf32, strided<[?, 1], offset: ?>>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>)
      outs(%y : memref<?x64xf32, strided<[?, 1], offset: ?>>)
  return
}
func.func @columns(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>, %f: memref<8x8xf32>, %y: memref<?x64xf32>) {
  kron.mkm ins(%x : memref<?x64xf32, strided<[?, ?], offset: ?>>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>)
      outs(%y : memref<?x64xf32>)
  return
}
func.func @gaps(%x: memref<?x64xf32, strided<[65, 1]>>, %f: memref<8x8xf32>, %y: memref<?x64xf32>) {
  kron.mkm ins(%x : memref<?x64xf32, strided<[65, 1]>>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>)
      outs(%y : memref<?x64xf32>)
  return
}
//--- rec.jsonl
{"kron": 1, "key": {"op": "kron.kmm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 3>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 4>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": "", "rows": [2, 16]}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 6>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.ksmm", "operands": ["16x48xf64", "2x3x8x3xf64", "16x18xf64"], "flags": "activation = #kron.activation<identity>, layout = #kron.layout<batch_first>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>, trans_weights = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 7>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- rows.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": "", "rows": [17, 196]}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 8>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": "", "rows": [2, 16]}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 9>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- machine.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 16}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"chip": "h200", "description": "00000000"}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- schema.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 1, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- plan.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = -5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.gpu_plan<kernel = mma>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.tile<5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- damaged.jsonl
{"other": "program"}
[
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 5>", "seconds": 0.001, "default_seco
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 5>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- impossible.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tiled_axis = 1>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- exact.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["4x64xf32", "8x8xf32", "8x8xf32", "4x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": ""}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 12>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": "", "rows": [2, 16]}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 14>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": "", "rows": [17, 196]}, "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 2}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.cpu_plan<tile = 13>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- shared.jsonl
{"kron": 1, "key": {"op": "kron.mkm", "operands": ["?x1024xf32", "32x32xf32", "32x32xf32", "?x1024xf32"], "flags": "operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 1>, precision = #kron.precision<full>, trans_input = #kron.transpose<N>", "epilogue": "", "rows": [1025, 2147483647]}, "target": {"chip": "h200", "description": "00000000"}, "made": {"kron": "0.1.0", "plans": 3, "llvm": "22.1.8", "driver": ""}, "plan": "#kron.gpu_plan<kernel = wgmma, tile = 512>", "seconds": 0.001, "default_seconds": 0.002, "spread": 0.01, "error": 0}
//--- gpu.mlir
func.func @tuned(%x: memref<?x1024xf32>, %f: memref<32x32xf32>, %y: memref<?x1024xf32>) {
  kron.mkm ins(%x : memref<?x1024xf32>) factors(%f, %f : memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<?x1024xf32>)
  return
}
//--- wrong.mlir
func.func @wrong(%x: memref<?x64xf32>, %f: memref<?x8xf32>, %g: memref<8x8xf32>, %y: memref<?x64xf32>) {
  kron.kmm ins(%x : memref<?x64xf32>) factors(%f, %f : memref<?x8xf32>, memref<?x8xf32>) outs(%y : memref<?x64xf32>)
  kron.mkm ins(%x : memref<?x64xf32>) factors(%g, %g : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<?x64xf32>)
      {plan = #kron.cpu_plan<tiled_axis = 1>}
  return
}
//--- in.mlir
// Verify that records for the name and the operands count, of these the one for the most rows, on memrefs
// as on tensors, that what has a plan keeps it, and that other shapes and operations get none.
// CHECK-LABEL: func.func @tuned(
// CHECK: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 6>}
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

// CHECK-LABEL: func.func @four_rows(
// CHECK: kron.mkm {{.*}} {plan = #kron.cpu_plan<tile = 6>}
func.func @four_rows(%x: memref<4x64xf32>, %f: memref<8x8xf32>, %y: memref<4x64xf32>) {
  kron.mkm ins(%x : memref<4x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<4x64xf32>)
  return
}

// CHECK-LABEL: func.func @others(
// CHECK-NOT: plan
func.func @others(%x: memref<20x64xf32>, %f: memref<8x8xf32>, %y: memref<20x64xf32>) {
  kron.mkm ins(%x : memref<20x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<20x64xf32>)
  return
}
