// RUN: kron-opt %s --kron-plan=matrix-tiles --convert-kron-to-vector --split-input-file | FileCheck %s

// Verify that a factor is not packed in panels if its step says so.
// CHECK-LABEL: func.func @no_panels(
// CHECK-SAME: kron.shared_bytes = 0 : i64
func.func @no_panels(%x: memref<1000x96xf32>, %f: memref<96x96xf32>, %y: memref<1000x96xf32>) {
  kron.fused ins(%x, %f : memref<1000x96xf32>, memref<96x96xf32>) outs(%y : memref<1000x96xf32>) attributes {plan = #kron.cpu_plan<steps = [{factor_panels = 0}]>} {
  ^bb0(%t: tensor<1000x96xf32>, %a: tensor<96x96xf32>, %o: tensor<1000x96xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96xf32>) factor(%a [p, q] : tensor<96x96xf32>) outs(%o : tensor<1000x96xf32>) -> tensor<1000x96xf32>
    kron.yield %1 : tensor<1000x96xf32>
  }
  return
}

// -----

// Verify that panels have as many vectors as register tiles: of 96 q, two times 48.
// CHECK-LABEL: func.func @narrow_panels(
// CHECK-SAME: kron.shared_bytes = 36864 : i64
func.func @narrow_panels(%x: memref<1000x96xf32>, %f: memref<96x96xf32>, %y: memref<1000x96xf32>) {
  kron.fused ins(%x, %f : memref<1000x96xf32>, memref<96x96xf32>) outs(%y : memref<1000x96xf32>) attributes {plan = #kron.cpu_plan<steps = [{vectors = 3, factor_panels = 1}]>} {
  ^bb0(%t: tensor<1000x96xf32>, %a: tensor<96x96xf32>, %o: tensor<1000x96xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96xf32>) factor(%a [p, q] : tensor<96x96xf32>) outs(%o : tensor<1000x96xf32>) -> tensor<1000x96xf32>
    kron.yield %1 : tensor<1000x96xf32>
  }
  return
}

// -----

// Verify that panels are applied to as many rows as the step says.
// CHECK-LABEL: func.func @panel_chunk(
// CHECK: %[[CHUNK:.*]] = arith.constant 24 : i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[CHUNK]]
func.func @panel_chunk(%x: memref<1000x96xf32>, %f: memref<96x96xf32>, %y: memref<1000x96xf32>) {
  kron.fused ins(%x, %f : memref<1000x96xf32>, memref<96x96xf32>) outs(%y : memref<1000x96xf32>) attributes {plan = #kron.cpu_plan<tile = 48, steps = [{chunk = 24}]>} {
  ^bb0(%t: tensor<1000x96xf32>, %a: tensor<96x96xf32>, %o: tensor<1000x96xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96xf32>) factor(%a [p, q] : tensor<96x96xf32>) outs(%o : tensor<1000x96xf32>) -> tensor<1000x96xf32>
    kron.yield %1 : tensor<1000x96xf32>
  }
  return
}

// -----

// Verify that rows are read from where they lie if the step says so.
// CHECK-LABEL: func.func @no_input_panels(
// CHECK-NOT: x f32 {alignment = 64
// CHECK: return
func.func @no_input_panels(%x: memref<64x300xf32>, %f: memref<64x64xf32>, %y: memref<64x300xf32>) {
  kron.fused ins(%x, %f : memref<64x300xf32>, memref<64x64xf32>) outs(%y : memref<64x300xf32>) attributes {plan = #kron.cpu_plan<steps = [{input_panels = 0}]>} {
  ^bb0(%t: tensor<64x300xf32>, %a: tensor<64x64xf32>, %o: tensor<64x300xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<64x300xf32>) factor(%a [p, q] : tensor<64x64xf32>) outs(%o : tensor<64x300xf32>) -> tensor<64x300xf32>
    kron.yield %1 : tensor<64x300xf32>
  }
  return
}

// -----

// Verify that what fills no vector is masked if the step has no groups for it.
// CHECK-LABEL: func.func @no_remainder(
// CHECK-SAME: kron.shared_bytes = 0 : i64
func.func @no_remainder(%x: memref<?x16x24xf32>, %f: memref<16x16xf32>, %y: memref<?x16x24xf32>) {
  kron.fused ins(%x, %f : memref<?x16x24xf32>, memref<16x16xf32>) outs(%y : memref<?x16x24xf32>) attributes {plan = #kron.cpu_plan<steps = [{remainder = []}]>} {
  ^bb0(%t: tensor<?x16x24xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16x24xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x16x24xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16x24xf32>) -> tensor<?x16x24xf32>
    kron.yield %1 : tensor<?x16x24xf32>
  }
  return
}

// -----

// Verify that rows have vectors of their own if the step says so.
// CHECK-LABEL: func.func @no_sharing(
// CHECK-SAME: kron.shared_bytes = 0 : i64
func.func @no_sharing(%x: memref<1000x24xf32>, %f: memref<24x24xf32>, %y: memref<1000x24xf32>) {
  kron.fused ins(%x, %f : memref<1000x24xf32>, memref<24x24xf32>) outs(%y : memref<1000x24xf32>) attributes {plan = #kron.cpu_plan<steps = [{sharing_rows = 1}]>} {
  ^bb0(%t: tensor<1000x24xf32>, %a: tensor<24x24xf32>, %o: tensor<1000x24xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x24xf32>) factor(%a [p, q] : tensor<24x24xf32>) outs(%o : tensor<1000x24xf32>) -> tensor<1000x24xf32>
    kron.yield %1 : tensor<1000x24xf32>
  }
  return
}

// -----

// Verify that a factor far apart is broadcast from where it lies if the step says so.
// CHECK-LABEL: func.func @no_packing(
// CHECK-SAME: kron.shared_bytes = 0 : i64
func.func @no_packing(%x: memref<16x300xf32>, %f: memref<16x16xf32, strided<[8192, 1]>>, %y: memref<16x300xf32>) {
  kron.fused ins(%x, %f : memref<16x300xf32>, memref<16x16xf32, strided<[8192, 1]>>) outs(%y : memref<16x300xf32>) attributes {plan = #kron.cpu_plan<steps = [{packs_factor = 0}]>} {
  ^bb0(%t: tensor<16x300xf32>, %a: tensor<16x16xf32>, %o: tensor<16x300xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x300xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<16x300xf32>) -> tensor<16x300xf32>
    kron.yield %1 : tensor<16x300xf32>
  }
  return
}

// -----

// Verify that lanes run over q for two rows, too, if the step says so: the factor is packed then.
// CHECK-LABEL: func.func @fibre(
// CHECK-SAME: kron.shared_bytes = 262144 : i64
func.func @fibre(%x: memref<2x1024xf32>, %f: memref<64x1024xf32>, %y: memref<2x64xf32>) {
  kron.fused ins(%x, %f : memref<2x1024xf32>, memref<64x1024xf32>) outs(%y : memref<2x64xf32>) attributes {plan = #kron.cpu_plan<steps = [{lanes = 0}]>} {
  ^bb0(%t: tensor<2x1024xf32>, %a: tensor<64x1024xf32>, %o: tensor<2x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x1024xf32>) factor(%a [q, p] : tensor<64x1024xf32>) outs(%o : tensor<2x64xf32>) -> tensor<2x64xf32>
    kron.yield %1 : tensor<2x64xf32>
  }
  return
}

// -----

// Verify that bf16 is widened where it is loaded if the step says so.
// CHECK-LABEL: func.func @no_pairs(
// CHECK-NOT: llvm.alloca {{.*}} f32
// CHECK: return
func.func @no_pairs(%x: memref<2x1024xbf16>, %f: memref<64x1024xbf16>, %y: memref<2x64xbf16>) {
  kron.fused ins(%x, %f : memref<2x1024xbf16>, memref<64x1024xbf16>) outs(%y : memref<2x64xbf16>) attributes {plan = #kron.cpu_plan<steps = [{reads_pairs = 0}]>} {
  ^bb0(%t: tensor<2x1024xbf16>, %a: tensor<64x1024xbf16>, %o: tensor<2x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x1024xbf16>) factor(%a [q, p] : tensor<64x1024xbf16>) outs(%o : tensor<2x64xbf16>) -> tensor<2x64xbf16>
    kron.yield %1 : tensor<2x64xbf16>
  }
  return
}

// -----

// Verify that a factor for two rows is packed for groups of lanes if the step says so.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME: kron.shared_bytes = 8388608 : i64
func.func @groups(%x: memref<2x16x8192xf32>, %f: memref<16x16x8192xf32>, %y: memref<2x16x8192xf32>) {
  kron.fused ins(%x, %f : memref<2x16x8192xf32>, memref<16x16x8192xf32>) outs(%y : memref<2x16x8192xf32>) attributes {plan = #kron.cpu_plan<steps = [{lanes = 0}]>} {
  ^bb0(%t: tensor<2x16x8192xf32>, %a: tensor<16x16x8192xf32>, %o: tensor<2x16x8192xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x16x8192xf32>) factor(%a [p, q, 2] : tensor<16x16x8192xf32>) outs(%o : tensor<2x16x8192xf32>) -> tensor<2x16x8192xf32>
    kron.yield %1 : tensor<2x16x8192xf32>
  }
  return
}

// -----

// Verify that a segment has as many registers as the step says: 2 rows of 16 p, each with a register behind it.
// CHECK-LABEL: func.func @short_segment(
// CHECK: arith.constant 1056 : i64
// CHECK: llvm.alloca
func.func @short_segment(%x: memref<2x16x8192xf32>, %f: memref<16x16x8192xf32>, %y: memref<2x16x8192xf32>) {
  kron.fused ins(%x, %f : memref<2x16x8192xf32>, memref<16x16x8192xf32>) outs(%y : memref<2x16x8192xf32>) attributes {plan = #kron.cpu_plan<steps = [{segment = 2}]>} {
  ^bb0(%t: tensor<2x16x8192xf32>, %a: tensor<16x16x8192xf32>, %o: tensor<2x16x8192xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x16x8192xf32>) factor(%a [p, q, 2] : tensor<16x16x8192xf32>) outs(%o : tensor<2x16x8192xf32>) -> tensor<2x16x8192xf32>
    kron.yield %1 : tensor<2x16x8192xf32>
  }
  return
}

// -----

// Verify that sums of all twelve rows, three q each, lie in memory between two packed blocks of a factor, which are zero
// at first: 9 p and what is left, 7 p.
// CHECK-LABEL: func.func private @packed_blocks_fused(
// CHECK: llvm.alloca %{{.*}} x f32
// CHECK: llvm.alloca %{{.*}} x f32
// CHECK: llvm.alloca %{{.*}} x f32
// CHECK: scf.for
// CHECK: llvm.intr.masked.load
// CHECK-COUNT-18: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: scf.for {{.*}} to %c9_i64
// CHECK-COUNT-18: vector.fma
// CHECK: scf.for {{.*}} to %c7_i64
// CHECK-COUNT-18: vector.fma
// CHECK: llvm.intr.masked.store
func.func @packed_blocks(%x: memref<12x16x20xf32>, %f: memref<3x16x20xf32>, %y: memref<12x3x20xf32>) {
  kron.fused ins(%x, %f : memref<12x16x20xf32>, memref<3x16x20xf32>) outs(%y : memref<12x3x20xf32>) attributes {plan = #kron.cpu_plan<steps = [{segment = 2, packed_k = 9}]>} {
  ^bb0(%t: tensor<12x16x20xf32>, %a: tensor<3x16x20xf32>, %o: tensor<12x3x20xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<12x16x20xf32>) factor(%a [q, p, 2] : tensor<3x16x20xf32>) outs(%o : tensor<12x3x20xf32>) -> tensor<12x3x20xf32>
    kron.yield %1 : tensor<12x3x20xf32>
  }
  return
}

// -----

// Verify that blocks of nine and seven p go through all of t with sums in memory: these are cleared, X is copied for each
// block while the next one is prefetched, and what a block adds up is loaded and stored, in turn for one whole vector of t
// and the masked one, of four q and the fifth. Results are stored behind all blocks.
// CHECK-LABEL: func.func private @blocks_of_k_fused(
// CHECK-COUNT-2: llvm.alloca %{{.*}} x f32
// CHECK: scf.for {{.*}} step %c16
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store %{{.*}} : vector<16xf32>
// CHECK: scf.for
// CHECK: "llvm.intr.prefetch"
// CHECK: llvm.intr.masked.load
// CHECK: scf.for {{.*}} to %c9_i64
// CHECK-COUNT-24: vector.fma
// CHECK-COUNT-24: llvm.store {{.*}} : vector<16xf32>
// CHECK: scf.for {{.*}} to %c9_i64
// CHECK: llvm.intr.masked.load
// CHECK-COUNT-24: vector.fma
// CHECK-COUNT-54: vector.fma
// CHECK: "llvm.intr.prefetch"
// CHECK: scf.for {{.*}} to %c7_i64
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.intr.masked.store
func.func @blocks_of_k(%x: memref<6x16x20xf32>, %f: memref<5x16x20xf32>, %y: memref<6x5x20xf32>) {
  kron.fused ins(%x, %f : memref<6x16x20xf32>, memref<5x16x20xf32>) outs(%y : memref<6x5x20xf32>) attributes {plan = #kron.cpu_plan<steps = [{segment = 2, block_k = 9, block_q = 5}]>} {
  ^bb0(%t: tensor<6x16x20xf32>, %a: tensor<5x16x20xf32>, %o: tensor<6x5x20xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<6x16x20xf32>) factor(%a [q, p, 2] : tensor<5x16x20xf32>) outs(%o : tensor<6x5x20xf32>) -> tensor<6x5x20xf32>
    kron.yield %1 : tensor<6x5x20xf32>
  }
  return
}

// -----

// Verify that loads of a factor which two rows read where it lies prefetch what comes 512 elements later.
// CHECK-LABEL: func.func private @factor_ahead_fused(
// CHECK: %[[AHEAD:.*]] = llvm.getelementptr %[[LOADED:.*]][512] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.intr.prefetch{{.*}}%[[AHEAD]])
// CHECK: llvm.load %[[LOADED]]
func.func @factor_ahead(%x: memref<2x512xf32>, %f: memref<64x512xf32>, %y: memref<2x64xf32>) {
  kron.fused ins(%x, %f : memref<2x512xf32>, memref<64x512xf32>) outs(%y : memref<2x64xf32>) attributes {plan = #kron.cpu_plan<steps = [{lanes = 1, factor_ahead = 512}]>} {
  ^bb0(%t: tensor<2x512xf32>, %a: tensor<64x512xf32>, %o: tensor<2x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x512xf32>) factor(%a [q, p] : tensor<64x512xf32>) outs(%o : tensor<2x64xf32>) -> tensor<2x64xf32>
    kron.yield %1 : tensor<2x64xf32>
  }
  return
}

// -----

// Verify that of a factor whose rows take 32 bytes for each p, of 13 q, one of two p prefetches a line.
// CHECK-LABEL: func.func private @lines_ahead_fused(
// CHECK: scf.for
// CHECK-COUNT-13: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.yield
func.func @lines_ahead(%x: memref<8x8x3xf32>, %f: memref<13x8x8xf32>, %y: memref<13x8x3xf32>) {
  kron.fused ins(%x, %f : memref<8x8x3xf32>, memref<13x8x8xf32>) outs(%y : memref<13x8x3xf32>) attributes {plan = #kron.cpu_plan<steps = [{lanes = 2, factor_ahead = 832}]>} {
  ^bb0(%t: tensor<8x8x3xf32>, %a: tensor<13x8x8xf32>, %o: tensor<13x8x3xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<8x8x3xf32>) factor(%a [q, p, 1] : tensor<13x8x8xf32>) outs(%o : tensor<13x8x3xf32>) -> tensor<13x8x3xf32>
    kron.yield %1 : tensor<13x8x3xf32>
  }
  return
}

// -----

// Verify that a block of 13 of 26 q goes along four positions of the axis outside of the columns before the next one.
// CHECK-LABEL: func.func private @along_axis_fused(
// CHECK: scf.for {{.*}} to %c26_i64 step %c13_i64
// CHECK: scf.for {{.*}} to %c4_i64{{[_0-9]*}} step %c1_i64
// CHECK-COUNT-26: arith.mulf
// CHECK-COUNT-26: vector.fma
func.func @along_axis(%x: memref<16x2x8x30xf32>, %f: memref<16x26x2x8xf32>, %y: memref<16x26x8x30xf32>) {
  kron.fused ins(%x, %f : memref<16x2x8x30xf32>, memref<16x26x2x8xf32>) outs(%y : memref<16x26x8x30xf32>) attributes {plan = #kron.cpu_plan<whole_axes = [], blocks = 4, steps = [{rows = 13, vectors = 2, along_axis = 4}]>} {
  ^bb0(%t: tensor<16x2x8x30xf32>, %a: tensor<16x26x2x8xf32>, %o: tensor<16x26x8x30xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<16x2x8x30xf32>) factor(%a [0, q, p, 2] : tensor<16x26x2x8xf32>) outs(%o : tensor<16x26x8x30xf32>) -> tensor<16x26x8x30xf32>
    kron.yield %1 : tensor<16x26x8x30xf32>
  }
  return
}

// -----

// Verify that rows are taken through a register at a time if the step says so.
// CHECK-LABEL: func.func @single_registers(
// CHECK-SAME: kron.shared_bytes = 16384 : i64
func.func @single_registers(%x: memref<100x8x64xf32>, %f: memref<8x8x64xf32>, %y: memref<100x8x64xf32>) {
  kron.fused ins(%x, %f : memref<100x8x64xf32>, memref<8x8x64xf32>) outs(%y : memref<100x8x64xf32>) attributes {plan = #kron.cpu_plan<steps = [{segment = 1}]>} {
  ^bb0(%t: tensor<100x8x64xf32>, %a: tensor<8x8x64xf32>, %o: tensor<100x8x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<100x8x64xf32>) factor(%a [p, q, 2] : tensor<8x8x64xf32>) outs(%o : tensor<100x8x64xf32>) -> tensor<100x8x64xf32>
    kron.yield %1 : tensor<100x8x64xf32>
  }
  return
}

// -----

// Verify that all of a factor is packed before tiles begin if the step says so.
// CHECK-LABEL: func.func @packs_before(
// CHECK-SAME: kron.shared_bytes = 32768 : i64, kron.thread_bytes = 0 : i64
func.func @packs_before(%x: memref<8x32x32xf32>, %f: memref<8x32x32xf32>, %y: memref<8x32x32xf32>) {
  kron.fused ins(%x, %f : memref<8x32x32xf32>, memref<8x32x32xf32>) outs(%y : memref<8x32x32xf32>) attributes {plan = #kron.cpu_plan<steps = [{packs_in_tiles = 0}]>} {
  ^bb0(%t: tensor<8x32x32xf32>, %a: tensor<8x32x32xf32>, %o: tensor<8x32x32xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<8x32x32xf32>) factor(%a [0, q, p] : tensor<8x32x32xf32>) outs(%o : tensor<8x32x32xf32>) -> tensor<8x32x32xf32>
    kron.yield %1 : tensor<8x32x32xf32>
  }
  return
}

// -----

// Verify that tiles are not copied to move the innermost axis if the plan says so.
// CHECK-LABEL: func.func @no_move(
// CHECK-SAME: kron.thread_bytes = 0 : i64
func.func @no_move(%x: memref<1000x96x6xf32>, %f: memref<96x96x6xf32>, %y: memref<1000x96x6xf32>) {
  kron.fused ins(%x, %f : memref<1000x96x6xf32>, memref<96x96x6xf32>) outs(%y : memref<1000x96x6xf32>) attributes {plan = #kron.cpu_plan<moves_innermost = 0>} {
  ^bb0(%t: tensor<1000x96x6xf32>, %a: tensor<96x96x6xf32>, %o: tensor<1000x96x6xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96x6xf32>) factor(%a [q, p, 2] : tensor<96x96x6xf32>) outs(%o : tensor<1000x96x6xf32>) -> tensor<1000x96x6xf32>
    kron.yield %1 : tensor<1000x96x6xf32>
  }
  return
}

// -----

// Verify that products of bf16 are made in register tiles if the step says so.
// CHECK-LABEL: func.func @no_tiles(
// CHECK-SAME: kron.thread_bytes = 16384 : i64
func.func @no_tiles(%x: memref<1000x64xbf16>, %f: memref<64x64xbf16>, %y: memref<1000x64xbf16>) {
  kron.fused ins(%x, %f : memref<1000x64xbf16>, memref<64x64xbf16>) outs(%y : memref<1000x64xbf16>) attributes {plan = #kron.cpu_plan<matrix_tiles = 1, steps = [{matrix_tiles = 0}]>} {
  ^bb0(%t: tensor<1000x64xbf16>, %a: tensor<64x64xbf16>, %o: tensor<1000x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x64xbf16>) factor(%a [p, q] : tensor<64x64xbf16>) outs(%o : tensor<1000x64xbf16>) -> tensor<1000x64xbf16>
    kron.yield %1 : tensor<1000x64xbf16>
  }
  return
}

// -----

// Verify that matrix tiles are used as the step says.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME: kron.shared_bytes = 8192 : i64
func.func @tiles(%x: memref<1000x64xbf16>, %f: memref<64x64xbf16>, %y: memref<1000x64xbf16>) {
  kron.fused ins(%x, %f : memref<1000x64xbf16>, memref<64x64xbf16>) outs(%y : memref<1000x64xbf16>) attributes {plan = #kron.cpu_plan<matrix_tiles = 1, steps = [{matrix_tiles = 1}]>} {
  ^bb0(%t: tensor<1000x64xbf16>, %a: tensor<64x64xbf16>, %o: tensor<1000x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x64xbf16>) factor(%a [p, q] : tensor<64x64xbf16>) outs(%o : tensor<1000x64xbf16>) -> tensor<1000x64xbf16>
    kron.yield %1 : tensor<1000x64xbf16>
  }
  return
}
