// RUN: kron-run %s --entry=panels --arg random:100x96:f32 --arg random:96x96:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=columns --arg random:64x300:f32 --arg random:64x64:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=over_k --arg random:20x128:f32 --arg random:64x128:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=over_q --arg random:3x128:f32 --arg random:64x128:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=moved --arg random:64x5:f32 --arg random:64x64:f32 --verify | FileCheck %s

// Verify that steps are right in forms that no planner chooses for them: panels of one vector and 26
// rows that 30 rows go through, panels of the input with odd register tiles, lanes over p for 20 rows and
// lanes over q for three, and columns that move outside.
// CHECK: verify {{.*}}: ok

func.func @panels(%x: memref<100x96xf32>, %f: memref<96x96xf32>, %y: memref<100x96xf32>) {
  kron.mkm ins(%x : memref<100x96xf32>) factors(%f : memref<96x96xf32>) outs(%y : memref<100x96xf32>)
      {plan = #kron.cpu_plan<steps = [{rows = 26, vectors = 1, factor_panels = 1, chunk = 30}]>}
  return
}

func.func @columns(%x: memref<64x300xf32>, %f: memref<64x64xf32>, %y: memref<64x300xf32>) {
  kron.kmm ins(%x : memref<64x300xf32>) factors(%f : memref<64x64xf32>) outs(%y : memref<64x300xf32>)
      {plan = #kron.cpu_plan<steps = [{rows = 3, vectors = 5, input_panels = 1}]>}
  return
}

func.func @over_k(%x: memref<20x128xf32>, %f: memref<64x128xf32>, %y: memref<20x64xf32>) {
  kron.mkm ins(%x : memref<20x128xf32>) factors(T(%f) : memref<64x128xf32>) outs(%y : memref<20x64xf32>)
      {plan = #kron.cpu_plan<steps = [{lanes = 1}]>}
  return
}

func.func @over_q(%x: memref<3x128xf32>, %f: memref<64x128xf32>, %y: memref<3x64xf32>) {
  kron.mkm ins(%x : memref<3x128xf32>) factors(T(%f) : memref<64x128xf32>) outs(%y : memref<3x64xf32>)
      {plan = #kron.cpu_plan<steps = [{lanes = 0}]>}
  return
}

func.func @moved(%x: memref<64x5xf32>, %f: memref<64x64xf32>, %y: memref<64x5xf32>) {
  kron.kmm ins(%x : memref<64x5xf32>) factors(%f : memref<64x64xf32>) outs(%y : memref<64x5xf32>)
      {plan = #kron.cpu_plan<moves_innermost = 3>}
  return
}
