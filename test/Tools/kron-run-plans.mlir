// RUN: kron-run %s --entry=panels --arg random:100x96:f32 --arg random:96x96:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=columns --arg random:64x300:f32 --arg random:64x64:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=over_k --arg random:20x128:f32 --arg random:64x128:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=over_q --arg random:3x128:f32 --arg random:64x128:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=moved --arg random:64x5:f32 --arg random:64x64:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=packed_blocks --arg random:13x320:f16 --arg random:1x7x16x20:f16 --arg random:13x140:f16 --verify | FileCheck %s
// RUN: kron-run %s --entry=blocks_of_k --arg random:13x320:f16 --arg random:1x7x16x20:f16 --arg random:13x140:f16 --verify | FileCheck %s
// RUN: kron-run %s --entry=blocks_of_k --vector-bits=256 --arg random:13x320:f16 --arg random:1x7x16x20:f16 --arg random:13x140:f16 --verify | FileCheck %s
// RUN: kron-run %s --entry=blocks_of_a_row --vector-bits=256 --arg random:1x1400:f64 --arg random:5x11x20x14:f64 --verify | FileCheck %s
// RUN: kron-run %s --entry=along --arg random:96x19:f64 --arg random:2x27x6x8:f64 --verify | FileCheck %s
// RUN: kron-run %s --entry=along_ahead --arg random:96x19:f64 --arg random:2x27x6x8:f64 --verify | FileCheck %s
// RUN: kron-run %s --entry=rows_over_k --arg random:23x80:f32 --arg random:2x5x40x1:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=rows_over_k --vector-bits=256 --arg random:23x80:f32 --arg random:2x5x40x1:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=factor_ahead --arg random:6x1300:f32 --arg random:5x11x20x13:f32 --verify | FileCheck %s
// RUN: kron-run %s --entry=columns_ahead --arg random:900x3:f64 --arg random:5x14x20x9:f64 --verify | FileCheck %s
// RUN: kron-run %s --entry=moved_tiles --arg random:2560x64:bf16 --arg random:2x32x32x40:bf16 --verify | FileCheck %s
// RUN: kron-run %s --entry=regions --arg random:12x600:f32 --arg random:12x10:f32 --arg random:5x6:f32 --arg random:9x10:f32 --verify | FileCheck %s

// Verify that steps are right in forms that no planner chooses for them: panels of one vector and 26
// rows that 30 rows go through, panels of the input with odd register tiles, lanes over p for 20 rows and for
// tiles of six of 23, lanes over q for three, columns that move outside, blocks of a factor of f16 that are packed in turn, or go by for all of
// t with sums in memory (of several rows and of one), and register tiles that go along three of four positions and then
// the last one, with fewer rows at the end; and factors that few rows or columns, or these register tiles,
// read where they lie and prefetch. Of axes that move, matrix tiles
// have a factor that is transposed (without these, which a processor may lack, the plan is another one). Then two fused
// regions with a plan each.
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

func.func @packed_blocks(%x: memref<13x320xf16>, %f: memref<1x7x16x20xf16>, %y: memref<13x140xf16>) {
  kron.ksmm ins(%x : memref<13x320xf16>) weights(%f : memref<1x7x16x20xf16>) outs(%y : memref<13x140xf16>) alpha(2.0 : f32) beta(0.5 : f32)
      {plan = #kron.cpu_plan<steps = [{segment = 1, packed_k = 5}]>}
  return
}

func.func @blocks_of_k(%x: memref<13x320xf16>, %f: memref<1x7x16x20xf16>, %y: memref<13x140xf16>) {
  kron.ksmm ins(%x : memref<13x320xf16>) weights(%f : memref<1x7x16x20xf16>) outs(%y : memref<13x140xf16>) alpha(2.0 : f32) beta(0.5 : f32)
      {plan = #kron.cpu_plan<steps = [{segment = 2, block_k = 5, block_q = 4, factor_ahead = 640}]>}
  return
}

func.func @blocks_of_a_row(%x: memref<1x1400xf64>, %f: memref<5x11x20x14xf64>, %y: memref<1x770xf64>) {
  kron.ksmm ins(%x : memref<1x1400xf64>) weights(%f : memref<5x11x20x14xf64>) outs(%y : memref<1x770xf64>)
      {plan = #kron.cpu_plan<steps = [{segment = 3, block_k = 8, block_q = 11}]>}
  return
}

func.func @factor_ahead(%x: memref<6x1300xf32>, %f: memref<5x11x20x13xf32>, %y: memref<6x715xf32>) {
  kron.ksmm ins(%x : memref<6x1300xf32>) weights(%f : memref<5x11x20x13xf32>) outs(%y : memref<6x715xf32>)
      {plan = #kron.cpu_plan<steps = [{segment = 1, factor_ahead = 4160}]>}
  return
}

func.func @columns_ahead(%x: memref<900x3xf64>, %f: memref<5x14x20x9xf64>, %y: memref<630x3xf64>) {
  kron.ksmm ins(%x : memref<900x3xf64>) weights(%f : memref<5x14x20x9xf64>) outs(%y : memref<630x3xf64>)
      {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<steps = [{lanes = 2, factor_ahead = 2048}]>}
  return
}

func.func @along(%x: memref<96x19xf64>, %f: memref<2x27x6x8xf64>, %y: memref<432x19xf64>) {
  kron.ksmm ins(%x : memref<96x19xf64>) weights(%f : memref<2x27x6x8xf64>) outs(%y : memref<432x19xf64>)
      {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<whole_axes = [], blocks = 4, steps = [{rows = 4, vectors = 2, along_axis = 3}]>}
  return
}

func.func @along_ahead(%x: memref<96x19xf64>, %f: memref<2x27x6x8xf64>, %y: memref<432x19xf64>) {
  kron.ksmm ins(%x : memref<96x19xf64>) weights(%f : memref<2x27x6x8xf64>) outs(%y : memref<432x19xf64>)
      {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<whole_axes = [], blocks = 4, steps = [{rows = 4, vectors = 2, along_axis = 3, factor_ahead = 192}]>}
  return
}

func.func @rows_over_k(%x: memref<23x80xf32>, %f: memref<2x5x40x1xf32>, %y: memref<23x10xf32>) {
  kron.ksmm ins(%x : memref<23x80xf32>) weights(%f : memref<2x5x40x1xf32>) outs(%y : memref<23x10xf32>)
      {plan = #kron.cpu_plan<tile = 6, steps = [{lanes = 1}]>}
  return
}

func.func @moved_tiles(%x: memref<2560x64xbf16>, %f: memref<2x32x32x40xbf16>, %y: memref<2560x64xbf16>) {
  kron.ksmm ins(%x : memref<2560x64xbf16>) weights(%f : memref<2x32x32x40xbf16>) outs(%y : memref<2560x64xbf16>)
      {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<moves_innermost = 3>}
  return
}

func.func @regions(%x: memref<12x600xf32>, %f: memref<12x10xf32>, %g: memref<5x6xf32>, %h: memref<9x10xf32>, %y: memref<12x540xf32>) {
  kron.mkm ins(%x : memref<12x600xf32>) factors(T(%f), T(%g), T(%h) : memref<12x10xf32>, memref<5x6xf32>, memref<9x10xf32>) outs(%y : memref<12x540xf32>)
      {plan = #kron.region_plans<regions = [1, 2], plans = [#kron.cpu_plan<tile = 3>, #kron.cpu_plan<tile = 5>]>}
  return
}
