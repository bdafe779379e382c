// RUN: kron-opt %s --kron-plan --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-plan="matrix-tiles" --split-input-file | FileCheck %s --check-prefix=TILES
// RUN: kron-opt %s --kron-plan="vector-bits=256" --split-input-file | FileCheck %s --check-prefix=NARROW

// Verify that a factor of 36 KB is packed in panels, each of which half of the second-level budget of rows goes through.
// CHECK-LABEL: func.func @factor_panels
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 6, vectors = 4, factor_panels = 1, chunk = 342}]>
func.func @factor_panels(%x: memref<1000x96xf32>, %f: memref<96x96xf32>, %y: memref<1000x96xf32>) {
  kron.fused ins(%x, %f : memref<1000x96xf32>, memref<96x96xf32>) outs(%y : memref<1000x96xf32>) {
  ^bb0(%t: tensor<1000x96xf32>, %a: tensor<96x96xf32>, %o: tensor<1000x96xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96xf32>) factor(%a [p, q] : tensor<96x96xf32>) outs(%o : tensor<1000x96xf32>) -> tensor<1000x96xf32>
    kron.yield %1 : tensor<1000x96xf32>
  }
  return
}

// -----

// Verify that rows which start within lines are copied to panels.
// CHECK-LABEL: func.func @input_panels
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 4, vectors = 4, input_panels = 1}]>
func.func @input_panels(%x: memref<64x300xf32>, %f: memref<64x64xf32>, %y: memref<64x300xf32>) {
  kron.fused ins(%x, %f : memref<64x300xf32>, memref<64x64xf32>) outs(%y : memref<64x300xf32>) {
  ^bb0(%t: tensor<64x300xf32>, %a: tensor<64x64xf32>, %o: tensor<64x300xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<64x300xf32>) factor(%a [p, q] : tensor<64x64xf32>) outs(%o : tensor<64x300xf32>) -> tensor<64x300xf32>
    kron.yield %1 : tensor<64x300xf32>
  }
  return
}

// -----

// Verify that register tiles store to few rows of many results at a time if K is small, and to more of them if it is large
// or if there are few results.
// CHECK-LABEL: func.func @result_rows
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 3, vectors = 8}]>
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 6, vectors = 4, input_panels = 1}]>
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 10, vectors = 2}]>
// NARROW-LABEL: func.func @result_rows
// NARROW: #kron.cpu_plan<{{.*}}steps = [{rows = 3, vectors = 4}]>
func.func @result_rows(%x: memref<9x512xf32>, %f: memref<9x150xf32>, %y: memref<150x512xf32>,
                       %x1: memref<200x512xf32>, %f1: memref<200x150xf32>, %f2: memref<9x20xf32>, %y2: memref<20x512xf32>) {
  kron.fused ins(%x, %f : memref<9x512xf32>, memref<9x150xf32>) outs(%y : memref<150x512xf32>) {
  ^bb0(%t: tensor<9x512xf32>, %a: tensor<9x150xf32>, %o: tensor<150x512xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<9x512xf32>) factor(%a [p, q] : tensor<9x150xf32>) outs(%o : tensor<150x512xf32>) -> tensor<150x512xf32>
    kron.yield %1 : tensor<150x512xf32>
  }
  kron.fused ins(%x1, %f1 : memref<200x512xf32>, memref<200x150xf32>) outs(%y : memref<150x512xf32>) {
  ^bb0(%t: tensor<200x512xf32>, %a: tensor<200x150xf32>, %o: tensor<150x512xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<200x512xf32>) factor(%a [p, q] : tensor<200x150xf32>) outs(%o : tensor<150x512xf32>) -> tensor<150x512xf32>
    kron.yield %1 : tensor<150x512xf32>
  }
  kron.fused ins(%x, %f2 : memref<9x512xf32>, memref<9x20xf32>) outs(%y2 : memref<20x512xf32>) {
  ^bb0(%t: tensor<9x512xf32>, %a: tensor<9x20xf32>, %o: tensor<20x512xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<9x512xf32>) factor(%a [p, q] : tensor<9x20xf32>) outs(%o : tensor<20x512xf32>) -> tensor<20x512xf32>
    kron.yield %1 : tensor<20x512xf32>
  }
  return
}

// -----

// Verify that more than half of a register is long enough for segments, and half of one or all of one is not.
// CHECK-LABEL: func.func @part_of_a_segment
// CHECK: #kron.cpu_plan<{{.*}}segment = 1
// CHECK-NOT: segment =
// CHECK: kron.yield
func.func @part_of_a_segment(%x: memref<48x60x12xf32>, %f: memref<40x60x12xf32>, %y: memref<48x40x12xf32>,
                             %x1: memref<48x60x8xf32>, %f1: memref<40x60x8xf32>, %y1: memref<48x40x8xf32>) {
  kron.fused ins(%x, %f : memref<48x60x12xf32>, memref<40x60x12xf32>) outs(%y : memref<48x40x12xf32>) {
  ^bb0(%t: tensor<48x60x12xf32>, %a: tensor<40x60x12xf32>, %o: tensor<48x40x12xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<48x60x12xf32>) factor(%a [q, p, 2] : tensor<40x60x12xf32>) outs(%o : tensor<48x40x12xf32>) -> tensor<48x40x12xf32>
    kron.yield %1 : tensor<48x40x12xf32>
  }
  kron.fused ins(%x1, %f1 : memref<48x60x8xf32>, memref<40x60x8xf32>) outs(%y1 : memref<48x40x8xf32>) {
  ^bb0(%t: tensor<48x60x8xf32>, %a: tensor<40x60x8xf32>, %o: tensor<48x40x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<48x60x8xf32>) factor(%a [q, p, 2] : tensor<40x60x8xf32>) outs(%o : tensor<48x40x8xf32>) -> tensor<48x40x8xf32>
    kron.yield %1 : tensor<48x40x8xf32>
  }
  return
}

// -----

// Verify that eight of 24 elements, which fill no vector, are taken with two q in a vector.
// CHECK-LABEL: func.func @remainder
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 16, vectors = 1, remainder = [8, 1, 8]}]>
func.func @remainder(%x: memref<?x16x24xf32>, %f: memref<16x16xf32>, %y: memref<?x16x24xf32>) {
  kron.fused ins(%x, %f : memref<?x16x24xf32>, memref<16x16xf32>) outs(%y : memref<?x16x24xf32>) {
  ^bb0(%t: tensor<?x16x24xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16x24xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x16x24xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16x24xf32>) -> tensor<?x16x24xf32>
    kron.yield %1 : tensor<?x16x24xf32>
  }
  return
}

// -----

// Verify that two rows share a vector of the eight q that fill none.
// CHECK-LABEL: func.func @sharing_rows
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 12, vectors = 2, sharing_rows = 2}]>
func.func @sharing_rows(%x: memref<1000x24xf32>, %f: memref<24x24xf32>, %y: memref<1000x24xf32>) {
  kron.fused ins(%x, %f : memref<1000x24xf32>, memref<24x24xf32>) outs(%y : memref<1000x24xf32>) {
  ^bb0(%t: tensor<1000x24xf32>, %a: tensor<24x24xf32>, %o: tensor<1000x24xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x24xf32>) factor(%a [p, q] : tensor<24x24xf32>) outs(%o : tensor<1000x24xf32>) -> tensor<1000x24xf32>
    kron.yield %1 : tensor<1000x24xf32>
  }
  return
}

// -----

// Verify that a factor whose rows lie 32 KB apart is packed.
// CHECK-LABEL: func.func @packs_factor
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 8, vectors = 2, packs_factor = 1}]>
func.func @packs_factor(%x: memref<16x300xf32>, %f: memref<16x16xf32, strided<[8192, 1]>>, %y: memref<16x300xf32>) {
  kron.fused ins(%x, %f : memref<16x300xf32>, memref<16x16xf32, strided<[8192, 1]>>) outs(%y : memref<16x300xf32>) {
  ^bb0(%t: tensor<16x300xf32>, %a: tensor<16x16xf32>, %o: tensor<16x300xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x300xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<16x300xf32>) -> tensor<16x300xf32>
    kron.yield %1 : tensor<16x300xf32>
  }
  return
}

// -----

// Verify that lanes run over the contracted axis for two rows, which have no register tiles.
// CHECK-LABEL: func.func @lanes_over_k
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 1}]>
func.func @lanes_over_k(%x: memref<2x1024xf32>, %f: memref<64x1024xf32>, %y: memref<2x64xf32>) {
  kron.fused ins(%x, %f : memref<2x1024xf32>, memref<64x1024xf32>) outs(%y : memref<2x64xf32>) {
  ^bb0(%t: tensor<2x1024xf32>, %a: tensor<64x1024xf32>, %o: tensor<2x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x1024xf32>) factor(%a [q, p] : tensor<64x1024xf32>) outs(%o : tensor<2x64xf32>) -> tensor<2x64xf32>
    kron.yield %1 : tensor<2x64xf32>
  }
  return
}

// -----

// Verify that bf16 along it is read in pairs.
// CHECK-LABEL: func.func @reads_pairs
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 1, reads_pairs = 1}]>
func.func @reads_pairs(%x: memref<2x1024xbf16>, %f: memref<64x1024xbf16>, %y: memref<2x64xbf16>) {
  kron.fused ins(%x, %f : memref<2x1024xbf16>, memref<64x1024xbf16>) outs(%y : memref<2x64xbf16>) {
  ^bb0(%t: tensor<2x1024xbf16>, %a: tensor<64x1024xbf16>, %o: tensor<2x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x1024xbf16>) factor(%a [q, p] : tensor<64x1024xbf16>) outs(%o : tensor<2x64xbf16>) -> tensor<2x64xbf16>
    kron.yield %1 : tensor<2x64xbf16>
  }
  return
}

// -----

// Verify that lanes run over four columns and the axis outside of them.
// CHECK-LABEL: func.func @lanes_over_rows
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 2}]>
func.func @lanes_over_rows(%x: memref<8x64x4xf32>, %f: memref<16x8x64xf32>, %y: memref<16x64x4xf32>) {
  kron.fused ins(%x, %f : memref<8x64x4xf32>, memref<16x8x64xf32>) outs(%y : memref<16x64x4xf32>) {
  ^bb0(%t: tensor<8x64x4xf32>, %a: tensor<16x8x64xf32>, %o: tensor<16x64x4xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<8x64x4xf32>) factor(%a [q, p, 1] : tensor<16x8x64xf32>) outs(%o : tensor<16x64x4xf32>) -> tensor<16x64x4xf32>
    kron.yield %1 : tensor<16x64x4xf32>
  }
  return
}

// -----

// Verify that a factor of 13 MB which four rows use, with lanes over p and several q at a time, is prefetched 21 q ahead:
// 16 KB.
// CHECK-LABEL: func.func @factor_ahead
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 1, factor_ahead = 4200}]>
func.func @factor_ahead(%x: memref<4x64x200xf32>, %f: memref<64x256x200xf32>, %y: memref<4x64x256xf32>) {
  kron.fused ins(%x, %f : memref<4x64x200xf32>, memref<64x256x200xf32>) outs(%y : memref<4x64x256xf32>) {
  ^bb0(%t: tensor<4x64x200xf32>, %a: tensor<64x256x200xf32>, %o: tensor<4x64x256xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<4x64x200xf32>) factor(%a [1, q, p] : tensor<64x256x200xf32>) outs(%o : tensor<4x64x256xf32>) -> tensor<4x64x256xf32>
    kron.yield %1 : tensor<4x64x256xf32>
  }
  return
}

// -----

// Verify that one row, which reads one q after the other, needs no prefetch from a third-level cache,
// CHECK-LABEL: func.func @one_stream
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 1}]>
func.func @one_stream(%x: memref<1x64x200xf32>, %f: memref<64x256x200xf32>, %y: memref<1x64x256xf32>) {
  kron.fused ins(%x, %f : memref<1x64x200xf32>, memref<64x256x200xf32>) outs(%y : memref<1x64x256xf32>) {
  ^bb0(%t: tensor<1x64x200xf32>, %a: tensor<64x256x200xf32>, %o: tensor<1x64x256xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1x64x200xf32>) factor(%a [1, q, p] : tensor<64x256x200xf32>) outs(%o : tensor<1x64x256xf32>) -> tensor<1x64x256xf32>
    kron.yield %1 : tensor<1x64x256xf32>
  }
  return
}

// -----

// but from memory.
// CHECK-LABEL: func.func @one_stream_of_memory
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 1, factor_ahead = 4200}]>
func.func @one_stream_of_memory(%x: memref<1x100x200xf32>, %f: memref<100x256x200xf32>, %y: memref<1x100x256xf32>) {
  kron.fused ins(%x, %f : memref<1x100x200xf32>, memref<100x256x200xf32>) outs(%y : memref<1x100x256xf32>) {
  ^bb0(%t: tensor<1x100x200xf32>, %a: tensor<100x256x200xf32>, %o: tensor<1x100x256xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1x100x200xf32>) factor(%a [1, q, p] : tensor<100x256x200xf32>) outs(%o : tensor<1x100x256xf32>) -> tensor<1x100x256xf32>
    kron.yield %1 : tensor<1x100x256xf32>
  }
  return
}

// -----

// Verify that few rows prefetch what comes 16 KB later of the same q where the next block of q is much of the second-level
// cache.
// CHECK-LABEL: func.func @long_rows
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 1, factor_ahead = 4096}]>
func.func @long_rows(%x: memref<2x8192xf32>, %f: memref<64x8192xf32>, %y: memref<2x64xf32>) {
  kron.fused ins(%x, %f : memref<2x8192xf32>, memref<64x8192xf32>) outs(%y : memref<2x64xf32>) {
  ^bb0(%t: tensor<2x8192xf32>, %a: tensor<64x8192xf32>, %o: tensor<2x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x8192xf32>) factor(%a [q, p] : tensor<64x8192xf32>) outs(%o : tensor<2x64xf32>) -> tensor<2x64xf32>
    kron.yield %1 : tensor<2x64xf32>
  }
  return
}

// -----

// Verify that segments of such a factor take all of t, so that each of its lines is read once, and so few p at a time that
// these stay in the first-level cache for all of t; and that blocks of four q prefetch the next one.
// CHECK-LABEL: func.func @long_segments
// CHECK: #kron.cpu_plan<{{.*}}segment = 7, block_k = 8, block_q = 150, factor_ahead = 80000}]>
func.func @long_segments(%x: memref<4x5x200x100xf32>, %f: memref<5x150x200x100xf32>, %y: memref<4x5x150x100xf32>) {
  kron.fused ins(%x, %f : memref<4x5x200x100xf32>, memref<5x150x200x100xf32>) outs(%y : memref<4x5x150x100xf32>) {
  ^bb0(%t: tensor<4x5x200x100xf32>, %a: tensor<5x150x200x100xf32>, %o: tensor<4x5x150x100xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<4x5x200x100xf32>) factor(%a [1, q, p, 3] : tensor<5x150x200x100xf32>) outs(%o : tensor<4x5x150x100xf32>) -> tensor<4x5x150x100xf32>
    kron.yield %1 : tensor<4x5x150x100xf32>
  }
  return
}

// -----

// Verify that the blocks of q which three columns take prefetch the next block, if that is far enough away.
// CHECK-LABEL: func.func @columns_ahead
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 2, factor_ahead = 5112}]>
func.func @columns_ahead(%x: memref<50x71x9x3xf32>, %f: memref<50x60x71x9xf32>, %y: memref<50x60x9x3xf32>) {
  kron.fused ins(%x, %f : memref<50x71x9x3xf32>, memref<50x60x71x9xf32>) outs(%y : memref<50x60x9x3xf32>) {
  ^bb0(%t: tensor<50x71x9x3xf32>, %a: tensor<50x60x71x9xf32>, %o: tensor<50x60x9x3xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<50x71x9x3xf32>) factor(%a [0, q, p, 2] : tensor<50x60x71x9xf32>) outs(%o : tensor<50x60x9x3xf32>) -> tensor<50x60x9x3xf32>
    kron.yield %1 : tensor<50x60x9x3xf32>
  }
  return
}

// -----

// Verify that a factor which only two rows use is not packed, but read in segments of eight registers as long as a cache
// holds it.
// CHECK-LABEL: func.func @segment
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 3, rows = 8, vectors = 2, segment = 8}]>
func.func @segment(%x: memref<2x16x512xf32>, %f: memref<16x16x512xf32>, %y: memref<2x16x512xf32>) {
  kron.fused ins(%x, %f : memref<2x16x512xf32>, memref<16x16x512xf32>) outs(%y : memref<2x16x512xf32>) {
  ^bb0(%t: tensor<2x16x512xf32>, %a: tensor<16x16x512xf32>, %o: tensor<2x16x512xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x16x512xf32>) factor(%a [p, q, 2] : tensor<16x16x512xf32>) outs(%o : tensor<2x16x512xf32>) -> tensor<2x16x512xf32>
    kron.yield %1 : tensor<2x16x512xf32>
  }
  return
}

// -----

// Verify that more rows are, too, in one tile, for which the factor is read once, and two registers at a time, since a
// copy of one does not fit half of the first-level cache; what is left of t goes with these.
// CHECK-LABEL: func.func @segments_of_tiles
// CHECK: #kron.cpu_plan<{{.*}}tile = 16,{{.*}}steps = [{rows = 6, vectors = 4, segment = 2}]>
func.func @segments_of_tiles(%x: memref<16x60x37xf32>, %f: memref<60x30x37xf32>, %y: memref<16x30x37xf32>) {
  kron.fused ins(%x, %f : memref<16x60x37xf32>, memref<60x30x37xf32>) outs(%y : memref<16x30x37xf32>) {
  ^bb0(%t: tensor<16x60x37xf32>, %a: tensor<60x30x37xf32>, %o: tensor<16x30x37xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<16x60x37xf32>) factor(%a [p, q, 2] : tensor<60x30x37xf32>) outs(%o : tensor<16x30x37xf32>) -> tensor<16x30x37xf32>
    kron.yield %1 : tensor<16x30x37xf32>
  }
  return
}

// -----

// Verify that blocks of the factor are packed, half of 160 positions, where many blocks of rows would load it; and that a
// vector and a half is long enough.
// CHECK-LABEL: func.func @packed_k
// CHECK: #kron.cpu_plan<{{.*}}tile = 48,{{.*}}segment = 1, packed_k = 54}]>
func.func @packed_k(%x: memref<48x160x23xf32>, %f: memref<40x160x23xf32>, %y: memref<48x40x23xf32>) {
  kron.fused ins(%x, %f : memref<48x160x23xf32>, memref<40x160x23xf32>) outs(%y : memref<48x40x23xf32>) {
  ^bb0(%t: tensor<48x160x23xf32>, %a: tensor<40x160x23xf32>, %o: tensor<48x40x23xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<48x160x23xf32>) factor(%a [q, p, 2] : tensor<40x160x23xf32>) outs(%o : tensor<48x40x23xf32>) -> tensor<48x40x23xf32>
    kron.yield %1 : tensor<48x40x23xf32>
  }
  return
}

// -----

// Verify that a factor of 6.8 MB goes by in blocks of p for all of t, with the sums of half of the results in memory, and
// the next block of q is prefetched; blocks that narrow vectors read have more p, since fewer lines are at their ends.
// CHECK-LABEL: func.func @blocks_of_k
// CHECK: steps = [{rows = 4, vectors = 6, segment = 4, block_k = 30, block_q = 44, factor_ahead = 81168}]>
// NARROW-LABEL: func.func @blocks_of_k
// NARROW: segment = 8, block_k = 40, block_q = 44, factor_ahead = 81168}]>
func.func @blocks_of_k(%x: memref<18x356x57xf32>, %f: memref<84x356x57xf32>, %y: memref<18x84x57xf32>) {
  kron.fused ins(%x, %f : memref<18x356x57xf32>, memref<84x356x57xf32>) outs(%y : memref<18x84x57xf32>) {
  ^bb0(%t: tensor<18x356x57xf32>, %a: tensor<84x356x57xf32>, %o: tensor<18x84x57xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<18x356x57xf32>) factor(%a [q, p, 2] : tensor<84x356x57xf32>) outs(%o : tensor<18x84x57xf32>) -> tensor<18x84x57xf32>
    kron.yield %1 : tensor<18x84x57xf32>
  }
  return
}

// -----

// Verify that it does not where K is so small, and rows are so many, that sums would take longer than lines that are read
// again.
// CHECK-LABEL: func.func @no_blocks_of_k
// CHECK: segment = 1, packed_k = 47}]>
// NARROW-LABEL: func.func @no_blocks_of_k
// NARROW: segment = 2, packed_k = 47}]>
func.func @no_blocks_of_k(%x: memref<38x47x118xf32>, %f: memref<97x47x118xf32>, %y: memref<38x97x118xf32>) {
  kron.fused ins(%x, %f : memref<38x47x118xf32>, memref<97x47x118xf32>) outs(%y : memref<38x97x118xf32>) {
  ^bb0(%t: tensor<38x47x118xf32>, %a: tensor<97x47x118xf32>, %o: tensor<38x97x118xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<38x47x118xf32>) factor(%a [q, p, 2] : tensor<97x47x118xf32>) outs(%o : tensor<38x97x118xf32>) -> tensor<38x97x118xf32>
    kron.yield %1 : tensor<38x97x118xf32>
  }
  return
}

// -----

// Verify that one row prefetches blocks of a factor that it would else read in a stream, which the processor sees coming.
// CHECK-LABEL: func.func @blocks_of_a_row
// CHECK: segment = 4, block_k = 40, block_q = 85, factor_ahead = 2370}]>
func.func @blocks_of_a_row(%x: memref<1x79x30xf64>, %f: memref<85x79x30xf64>, %y: memref<1x85x30xf64>) {
  kron.fused ins(%x, %f : memref<1x79x30xf64>, memref<85x79x30xf64>) outs(%y : memref<1x85x30xf64>) {
  ^bb0(%t: tensor<1x79x30xf64>, %a: tensor<85x79x30xf64>, %o: tensor<1x85x30xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1x79x30xf64>) factor(%a [q, p, 2] : tensor<85x79x30xf64>) outs(%o : tensor<1x85x30xf64>) -> tensor<1x85x30xf64>
    kron.yield %1 : tensor<1x85x30xf64>
  }
  return
}

// -----

// Verify that copies of rows in 16 bits, which convert them, pay for half of the p and q that those of f32 do.
// CHECK-LABEL: func.func @segments_of_halves
// CHECK: segment = {{[0-9]+}}
// CHECK-LABEL: func.func @few_halves
// CHECK-NOT: segment =
// CHECK: kron.yield
// CHECK-LABEL: func.func @segments_of_singles
// CHECK-NOT: segment =
// CHECK: kron.yield
// NARROW-LABEL: func.func @segments_of_halves
// NARROW: segment = {{[0-9]+}}
func.func @segments_of_halves(%x: memref<60x4x37xf16>, %f: memref<8x4x37xf16>, %y: memref<60x8x37xf16>) {
  kron.fused ins(%x, %f : memref<60x4x37xf16>, memref<8x4x37xf16>) outs(%y : memref<60x8x37xf16>) {
  ^bb0(%t: tensor<60x4x37xf16>, %a: tensor<8x4x37xf16>, %o: tensor<60x8x37xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<60x4x37xf16>) factor(%a [q, p, 2] : tensor<8x4x37xf16>) outs(%o : tensor<60x8x37xf16>) -> tensor<60x8x37xf16>
    kron.yield %1 : tensor<60x8x37xf16>
  }
  return
}

// -----

func.func @few_halves(%x: memref<60x4x37xf16>, %f: memref<7x4x37xf16>, %y: memref<60x7x37xf16>) {
  kron.fused ins(%x, %f : memref<60x4x37xf16>, memref<7x4x37xf16>) outs(%y : memref<60x7x37xf16>) {
  ^bb0(%t: tensor<60x4x37xf16>, %a: tensor<7x4x37xf16>, %o: tensor<60x7x37xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<60x4x37xf16>) factor(%a [q, p, 2] : tensor<7x4x37xf16>) outs(%o : tensor<60x7x37xf16>) -> tensor<60x7x37xf16>
    kron.yield %1 : tensor<60x7x37xf16>
  }
  return
}

// -----

func.func @segments_of_singles(%x: memref<60x4x37xf32>, %f: memref<8x4x37xf32>, %y: memref<60x8x37xf32>) {
  kron.fused ins(%x, %f : memref<60x4x37xf32>, memref<8x4x37xf32>) outs(%y : memref<60x8x37xf32>) {
  ^bb0(%t: tensor<60x4x37xf32>, %a: tensor<8x4x37xf32>, %o: tensor<60x8x37xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<60x4x37xf32>) factor(%a [q, p, 2] : tensor<8x4x37xf32>) outs(%o : tensor<60x8x37xf32>) -> tensor<60x8x37xf32>
    kron.yield %1 : tensor<60x8x37xf32>
  }
  return
}

// -----

// Verify that a short axis moves outside for a smaller factor, and any number of rows, where vectors are narrow, unless it
// is used for too little.
// CHECK-LABEL: func.func @moved_groups
// CHECK-NOT: moves_innermost =
// CHECK: kron.yield
// NARROW-LABEL: func.func @moved_groups
// NARROW: moves_innermost = 3
// NARROW-LABEL: func.func @groups_stay
// NARROW-NOT: moves_innermost =
// NARROW: kron.yield
func.func @moved_groups(%x: memref<40x40x3xf32>, %f: memref<40x40x3xf32>, %y: memref<40x40x3xf32>) {
  kron.fused ins(%x, %f : memref<40x40x3xf32>, memref<40x40x3xf32>) outs(%y : memref<40x40x3xf32>) {
  ^bb0(%t: tensor<40x40x3xf32>, %a: tensor<40x40x3xf32>, %o: tensor<40x40x3xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<40x40x3xf32>) factor(%a [q, p, 2] : tensor<40x40x3xf32>) outs(%o : tensor<40x40x3xf32>) -> tensor<40x40x3xf32>
    kron.yield %1 : tensor<40x40x3xf32>
  }
  return
}

// -----

func.func @groups_stay(%x: memref<300x24x3xf32>, %f: memref<24x24x3xf32>, %y: memref<300x24x3xf32>) {
  kron.fused ins(%x, %f : memref<300x24x3xf32>, memref<24x24x3xf32>) outs(%y : memref<300x24x3xf32>) {
  ^bb0(%t: tensor<300x24x3xf32>, %a: tensor<24x24x3xf32>, %o: tensor<300x24x3xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<300x24x3xf32>) factor(%a [q, p, 2] : tensor<24x24x3xf32>) outs(%o : tensor<300x24x3xf32>) -> tensor<300x24x3xf32>
    kron.yield %1 : tensor<300x24x3xf32>
  }
  return
}

// -----

// Verify that of 41 rows a tile has as many as half of the second-level cache holds a vector of each p of.
// CHECK-LABEL: func.func @segments_in_half_a_cache
// CHECK: #kron.cpu_plan<{{.*}}tile = 20,{{.*}}segment = 1, packed_k = 57}]>
func.func @segments_in_half_a_cache(%x: memref<41x399x23xf32>, %f: memref<16x399x23xf32>, %y: memref<41x16x23xf32>) {
  kron.fused ins(%x, %f : memref<41x399x23xf32>, memref<16x399x23xf32>) outs(%y : memref<41x16x23xf32>) {
  ^bb0(%t: tensor<41x399x23xf32>, %a: tensor<16x399x23xf32>, %o: tensor<41x16x23xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<41x399x23xf32>) factor(%a [q, p, 2] : tensor<16x399x23xf32>) outs(%o : tensor<41x16x23xf32>) -> tensor<41x16x23xf32>
    kron.yield %1 : tensor<41x16x23xf32>
  }
  return
}

// -----

// Verify that a block of 40 results goes along all positions of the axis outside of columns, which lie in a row there;
// that no more positions are a tile than leave threads 16 of them; and that twelve results, whose factor stays in the
// first-level cache anyway, do not.
// CHECK-LABEL: func.func @along_axis
// CHECK: #kron.cpu_plan<{{.*}}blocks = 20,{{.*}}along_axis = 20}]>
// CHECK-LABEL: func.func @along_half
// CHECK: #kron.cpu_plan<{{.*}}blocks = 10,{{.*}}along_axis = 10}]>
// CHECK-LABEL: func.func @few_results
// CHECK-NOT: blocks
// CHECK-NOT: along_axis
func.func @along_axis(%x: memref<16x2x20x60xf32>, %f: memref<16x40x2x20xf32>, %y: memref<16x40x20x60xf32>) {
  kron.fused ins(%x, %f : memref<16x2x20x60xf32>, memref<16x40x2x20xf32>) outs(%y : memref<16x40x20x60xf32>) {
  ^bb0(%t: tensor<16x2x20x60xf32>, %a: tensor<16x40x2x20xf32>, %o: tensor<16x40x20x60xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<16x2x20x60xf32>) factor(%a [0, q, p, 2] : tensor<16x40x2x20xf32>) outs(%o : tensor<16x40x20x60xf32>) -> tensor<16x40x20x60xf32>
    kron.yield %1 : tensor<16x40x20x60xf32>
  }
  return
}
func.func @along_half(%x: memref<8x2x20x120xf32>, %f: memref<8x40x2x20xf32>, %y: memref<8x40x20x120xf32>) {
  kron.fused ins(%x, %f : memref<8x2x20x120xf32>, memref<8x40x2x20xf32>) outs(%y : memref<8x40x20x120xf32>) {
  ^bb0(%t: tensor<8x2x20x120xf32>, %a: tensor<8x40x2x20xf32>, %o: tensor<8x40x20x120xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<8x2x20x120xf32>) factor(%a [0, q, p, 2] : tensor<8x40x2x20xf32>) outs(%o : tensor<8x40x20x120xf32>) -> tensor<8x40x20x120xf32>
    kron.yield %1 : tensor<8x40x20x120xf32>
  }
  return
}
func.func @few_results(%x: memref<16x2x20x60xf32>, %f: memref<16x12x2x20xf32>, %y: memref<16x12x20x60xf32>) {
  kron.fused ins(%x, %f : memref<16x2x20x60xf32>, memref<16x12x2x20xf32>) outs(%y : memref<16x12x20x60xf32>) {
  ^bb0(%t: tensor<16x2x20x60xf32>, %a: tensor<16x12x2x20xf32>, %o: tensor<16x12x20x60xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<16x2x20x60xf32>) factor(%a [0, q, p, 2] : tensor<16x12x2x20xf32>) outs(%o : tensor<16x12x20x60xf32>) -> tensor<16x12x20x60xf32>
    kron.yield %1 : tensor<16x12x20x60xf32>
  }
  return
}

// -----

// Verify that so is an axis of whole registers where the factor is used for one tile only; and that it is packed in
// panels where it is used for more.
// CHECK-LABEL: func.func @factor_of_one_tile
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 3, rows = 6, vectors = 4, segment = 2}]>
func.func @factor_of_one_tile(%x: memref<12x3x60x64xf32>, %f: memref<3x60x30x64xf32>, %y: memref<12x3x30x64xf32>) {
  kron.fused ins(%x, %f : memref<12x3x60x64xf32>, memref<3x60x30x64xf32>) outs(%y : memref<12x3x30x64xf32>) {
  ^bb0(%t: tensor<12x3x60x64xf32>, %a: tensor<3x60x30x64xf32>, %o: tensor<12x3x30x64xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<12x3x60x64xf32>) factor(%a [1, p, q, 3] : tensor<3x60x30x64xf32>) outs(%o : tensor<12x3x30x64xf32>) -> tensor<12x3x30x64xf32>
    kron.yield %1 : tensor<12x3x30x64xf32>
  }
  return
}

// CHECK-LABEL: func.func @factor_of_tiles
// CHECK: #kron.cpu_plan<{{.*}}factor_panels = 1
func.func @factor_of_tiles(%x: memref<96x3x60x64xf32>, %f: memref<3x60x30x64xf32>, %y: memref<96x3x30x64xf32>) {
  kron.fused ins(%x, %f : memref<96x3x60x64xf32>, memref<3x60x30x64xf32>) outs(%y : memref<96x3x30x64xf32>) {
  ^bb0(%t: tensor<96x3x60x64xf32>, %a: tensor<3x60x30x64xf32>, %o: tensor<96x3x30x64xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<96x3x60x64xf32>) factor(%a [1, p, q, 3] : tensor<3x60x30x64xf32>) outs(%o : tensor<96x3x30x64xf32>) -> tensor<96x3x30x64xf32>
    kron.yield %1 : tensor<96x3x30x64xf32>
  }
  return
}

// -----

// Verify that so few q do not pay for copies of 97 rows.
// CHECK-LABEL: func.func @few_results
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 8, vectors = 3}]>
func.func @few_results(%x: memref<97x16x37xf32>, %f: memref<16x8x37xf32>, %y: memref<97x8x37xf32>) {
  kron.fused ins(%x, %f : memref<97x16x37xf32>, memref<16x8x37xf32>) outs(%y : memref<97x8x37xf32>) {
  ^bb0(%t: tensor<97x16x37xf32>, %a: tensor<16x8x37xf32>, %o: tensor<97x8x37xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<97x16x37xf32>) factor(%a [p, q, 2] : tensor<16x8x37xf32>) outs(%o : tensor<97x8x37xf32>) -> tensor<97x8x37xf32>
    kron.yield %1 : tensor<97x8x37xf32>
  }
  return
}

// -----

// Verify that f16 is converted while it is copied, not before.
// CHECK-LABEL: func.func @converted_segments
// CHECK-NOT: converts_input
// CHECK: segment = 2
func.func @converted_segments(%x: memref<16x60x37xf16>, %f: memref<60x30x37xf16>, %y: memref<16x30x37xf16>) {
  kron.fused ins(%x, %f : memref<16x60x37xf16>, memref<60x30x37xf16>) outs(%y : memref<16x30x37xf16>) {
  ^bb0(%t: tensor<16x60x37xf16>, %a: tensor<60x30x37xf16>, %o: tensor<16x30x37xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<16x60x37xf16>) factor(%a [p, q, 2] : tensor<60x30x37xf16>) outs(%o : tensor<16x30x37xf16>) -> tensor<16x30x37xf16>
    kron.yield %1 : tensor<16x30x37xf16>
  }
  return
}

// -----

// Verify that many rows are taken through it four registers at a time.
// CHECK-LABEL: func.func @segments_of_rows
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 3, vectors = 8, segment = 4}]>
func.func @segments_of_rows(%x: memref<100x8x64xf32>, %f: memref<8x8x64xf32>, %y: memref<100x8x64xf32>) {
  kron.fused ins(%x, %f : memref<100x8x64xf32>, memref<8x8x64xf32>) outs(%y : memref<100x8x64xf32>) {
  ^bb0(%t: tensor<100x8x64xf32>, %a: tensor<8x8x64xf32>, %o: tensor<100x8x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<100x8x64xf32>) factor(%a [p, q, 2] : tensor<8x8x64xf32>) outs(%o : tensor<100x8x64xf32>) -> tensor<100x8x64xf32>
    kron.yield %1 : tensor<100x8x64xf32>
  }
  return
}

// -----

// Verify that tiles which have a part of the factor to themselves pack it.
// CHECK-LABEL: func.func @packs_in_tiles
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 8, vectors = 2, packs_in_tiles = 1}]>
func.func @packs_in_tiles(%x: memref<8x32x32xf32>, %f: memref<8x32x32xf32>, %y: memref<8x32x32xf32>) {
  kron.fused ins(%x, %f : memref<8x32x32xf32>, memref<8x32x32xf32>) outs(%y : memref<8x32x32xf32>) {
  ^bb0(%t: tensor<8x32x32xf32>, %a: tensor<8x32x32xf32>, %o: tensor<8x32x32xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<8x32x32xf32>) factor(%a [0, q, p] : tensor<8x32x32xf32>) outs(%o : tensor<8x32x32xf32>) -> tensor<8x32x32xf32>
    kron.yield %1 : tensor<8x32x32xf32>
  }
  return
}

// -----

// Verify that six positions which a large factor depends on move outside of its axes.
// CHECK-LABEL: func.func @moves_innermost
// CHECK: #kron.cpu_plan<{{.*}}moves_innermost = 3, steps = [{rows = 6, vectors = 4, factor_panels = 1, chunk = 342}]>
func.func @moves_innermost(%x: memref<1000x96x6xf32>, %f: memref<96x96x6xf32>, %y: memref<1000x96x6xf32>) {
  kron.fused ins(%x, %f : memref<1000x96x6xf32>, memref<96x96x6xf32>) outs(%y : memref<1000x96x6xf32>) {
  ^bb0(%t: tensor<1000x96x6xf32>, %a: tensor<96x96x6xf32>, %o: tensor<1000x96x6xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96x6xf32>) factor(%a [q, p, 2] : tensor<96x96x6xf32>) outs(%o : tensor<1000x96x6xf32>) -> tensor<1000x96x6xf32>
    kron.yield %1 : tensor<1000x96x6xf32>
  }
  return
}

// -----

// Verify that matrix tiles have no register tiles.
// TILES-LABEL: func.func @matrix_tiles
// TILES: #kron.cpu_plan<{{.*}}matrix_tiles = 1, steps = [{matrix_tiles = 1, converts_factor = 1}]>
func.func @matrix_tiles(%x: memref<1000x64xbf16>, %f: memref<64x64xbf16>, %y: memref<1000x64xbf16>) {
  kron.fused ins(%x, %f : memref<1000x64xbf16>, memref<64x64xbf16>) outs(%y : memref<1000x64xbf16>) {
  ^bb0(%t: tensor<1000x64xbf16>, %a: tensor<64x64xbf16>, %o: tensor<1000x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x64xbf16>) factor(%a [p, q] : tensor<64x64xbf16>) outs(%o : tensor<1000x64xbf16>) -> tensor<1000x64xbf16>
    kron.yield %1 : tensor<1000x64xbf16>
  }
  return
}

// -----

// Verify that matrix tiles take four columns of a factor whose rows are packed as they lie, for which lanes would run
// over p else, and not three.
// TILES-LABEL: func.func @few_columns
// TILES: #kron.cpu_plan<{{.*}}matrix_tiles = 1, steps = [{matrix_tiles = 1}]>
// TILES: #kron.cpu_plan<{{.*}}steps = [{lanes = 1
func.func @few_columns(%x: memref<300x4xbf16>, %y: memref<300x4xbf16>, %f: memref<300x300xbf16>,
                       %u: memref<300x3xbf16>, %v: memref<300x3xbf16>) {
  kron.fused ins(%x, %f : memref<300x4xbf16>, memref<300x300xbf16>) outs(%y : memref<300x4xbf16>) {
  ^bb0(%t: tensor<300x4xbf16>, %a: tensor<300x300xbf16>, %o: tensor<300x4xbf16>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<300x4xbf16>) factor(%a [q, p] : tensor<300x300xbf16>) outs(%o : tensor<300x4xbf16>) -> tensor<300x4xbf16>
    kron.yield %1 : tensor<300x4xbf16>
  }
  kron.fused ins(%u, %f : memref<300x3xbf16>, memref<300x300xbf16>) outs(%v : memref<300x3xbf16>) {
  ^bb0(%t: tensor<300x3xbf16>, %a: tensor<300x300xbf16>, %o: tensor<300x3xbf16>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<300x3xbf16>) factor(%a [q, p] : tensor<300x300xbf16>) outs(%o : tensor<300x3xbf16>) -> tensor<300x3xbf16>
    kron.yield %1 : tensor<300x3xbf16>
  }
  return
}

// -----

// Verify that a factor whose elements lie apart, each its own for one of many positions, has no matrix tiles for them.
// TILES-LABEL: func.func @few_columns_apart
// TILES-NOT: {matrix_tiles = 1
// TILES: return
func.func @few_columns_apart(%x: memref<64x8x8xbf16>, %f: memref<64x64x8xbf16>, %y: memref<64x8x8xbf16>) {
  kron.fused ins(%x, %f : memref<64x8x8xbf16>, memref<64x64x8xbf16>) outs(%y : memref<64x8x8xbf16>) {
  ^bb0(%t: tensor<64x8x8xbf16>, %a: tensor<64x64x8xbf16>, %o: tensor<64x8x8xbf16>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<64x8x8xbf16>) factor(%a [q, p, 1] : tensor<64x64x8xbf16>) outs(%o : tensor<64x8x8xbf16>) -> tensor<64x8x8xbf16>
    kron.yield %1 : tensor<64x8x8xbf16>
  }
  return
}

// -----

// Verify that an axis which the factor depends on moves outside in buffers, and that a long one is transposed.
// TILES-LABEL: func.func @transposes_factor
// TILES: #kron.cpu_plan<{{.*}}moves_innermost = 2, steps = [{matrix_tiles = 1, transposes_factor = 1, converts_factor = 1}]>
func.func @transposes_factor(%x: memref<196x64x16xbf16>, %f: memref<64x64x16xbf16>, %y: memref<196x64x16xbf16>) {
  kron.fused ins(%x, %f : memref<196x64x16xbf16>, memref<64x64x16xbf16>) outs(%y : memref<196x64x16xbf16>) {
  ^bb0(%t: tensor<196x64x16xbf16>, %a: tensor<64x64x16xbf16>, %o: tensor<196x64x16xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<196x64x16xbf16>) factor(%a [p, q, 2] : tensor<64x64x16xbf16>) outs(%o : tensor<196x64x16xbf16>) -> tensor<196x64x16xbf16>
    kron.yield %1 : tensor<196x64x16xbf16>
  }
  return
}

// -----

// Verify that two blocks of rows share what is read of a factor of 2 MB.
// TILES-LABEL: func.func @chunk
// TILES: #kron.cpu_plan<{{.*}}steps = [{matrix_tiles = 1, chunk = 64, converts_factor = 1}]>
func.func @chunk(%x: memref<1024x1024xbf16>, %f: memref<1024x1024xbf16>, %y: memref<1024x1024xbf16>) {
  kron.fused ins(%x, %f : memref<1024x1024xbf16>, memref<1024x1024xbf16>) outs(%y : memref<1024x1024xbf16>) {
  ^bb0(%t: tensor<1024x1024xbf16>, %a: tensor<1024x1024xbf16>, %o: tensor<1024x1024xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1024x1024xbf16>) factor(%a [p, q] : tensor<1024x1024xbf16>) outs(%o : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
    kron.yield %1 : tensor<1024x1024xbf16>
  }
  return
}

// -----

// Verify that rows of which register tiles would prefetch a part alone as lines of the next window are prefetched where
// they are loaded, and not copied first.
// CHECK-LABEL: func.func @far_rows
// CHECK: #kron.cpu_plan<{{.*}}tile = 160, tiled_axis = 1, steps = [{rows = 5, vectors = 5, far = 1}]>
func.func @far_rows(%x: memref<200x5001xf32>, %f: memref<20x200xf32>, %y: memref<20x5001xf32>) {
  kron.fused ins(%x, %f : memref<200x5001xf32>, memref<20x200xf32>) outs(%y : memref<20x5001xf32>) {
  ^bb0(%t: tensor<200x5001xf32>, %a: tensor<20x200xf32>, %o: tensor<20x5001xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<200x5001xf32>) factor(%a [q, p] : tensor<20x200xf32>) outs(%o : tensor<20x5001xf32>) -> tensor<20x5001xf32>
    kron.yield %1 : tensor<20x5001xf32>
  }
  return
}

// -----

// Verify that they are not where register tiles have few lines of the next window.
// CHECK-LABEL: func.func @near_rows
// CHECK: #kron.cpu_plan<{{.*}}tile = 256, tiled_axis = 1, steps = [{rows = 10, vectors = 2}]>
func.func @near_rows(%x: memref<16x20001xf32>, %f: memref<10x16xf32>, %y: memref<10x20001xf32>) {
  kron.fused ins(%x, %f : memref<16x20001xf32>, memref<10x16xf32>) outs(%y : memref<10x20001xf32>) {
  ^bb0(%t: tensor<16x20001xf32>, %a: tensor<10x16xf32>, %o: tensor<10x20001xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x20001xf32>) factor(%a [q, p] : tensor<10x16xf32>) outs(%o : tensor<10x20001xf32>) -> tensor<10x20001xf32>
    kron.yield %1 : tensor<10x20001xf32>
  }
  return
}

// -----

// Verify that rows which share sets of the caches are copied to the first-level one.
// CHECK-LABEL: func.func @shared_sets
// CHECK: #kron.cpu_plan<{{.*}}tile = 32, tiled_axis = 1, packs_input = 1, steps = [{rows = 10, vectors = 2}]>
func.func @shared_sets(%x: memref<200x8192xf32>, %f: memref<20x200xf32>, %y: memref<20x8192xf32>) {
  kron.fused ins(%x, %f : memref<200x8192xf32>, memref<20x200xf32>) outs(%y : memref<20x8192xf32>) {
  ^bb0(%t: tensor<200x8192xf32>, %a: tensor<20x200xf32>, %o: tensor<20x8192xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<200x8192xf32>) factor(%a [q, p] : tensor<20x200xf32>) outs(%o : tensor<20x8192xf32>) -> tensor<20x8192xf32>
    kron.yield %1 : tensor<20x8192xf32>
  }
  return
}

// -----

// Verify that they are not where that holds no two lines of each, of which then four blocks of results take panels.
// CHECK-LABEL: func.func @large_shared_sets
// CHECK: #kron.cpu_plan<{{.*}}tile = 64, tiled_axis = 1, steps = [{rows = 12, vectors = 2, input_panels = 1}]>
func.func @large_shared_sets(%x: memref<512x8192xf32>, %f: memref<48x512xf32>, %y: memref<48x8192xf32>) {
  kron.fused ins(%x, %f : memref<512x8192xf32>, memref<48x512xf32>) outs(%y : memref<48x8192xf32>) {
  ^bb0(%t: tensor<512x8192xf32>, %a: tensor<48x512xf32>, %o: tensor<48x8192xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<512x8192xf32>) factor(%a [q, p] : tensor<48x512xf32>) outs(%o : tensor<48x8192xf32>) -> tensor<48x8192xf32>
    kron.yield %1 : tensor<48x8192xf32>
  }
  return
}

// -----

// Verify that eight blocks of results take panels of rows that start at lines, too, in tiles of which these leave room in
// the second-level cache.
// CHECK-LABEL: func.func @far_panels
// CHECK: #kron.cpu_plan<{{.*}}tile = 96, tiled_axis = 1, steps = [{rows = 12, vectors = 2, input_panels = 1}]>
func.func @far_panels(%x: memref<300x8000xf32>, %f: memref<120x300xf32>, %y: memref<120x8000xf32>) {
  kron.fused ins(%x, %f : memref<300x8000xf32>, memref<120x300xf32>) outs(%y : memref<120x8000xf32>) {
  ^bb0(%t: tensor<300x8000xf32>, %a: tensor<120x300xf32>, %o: tensor<120x8000xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<300x8000xf32>) factor(%a [q, p] : tensor<120x300xf32>) outs(%o : tensor<120x8000xf32>) -> tensor<120x8000xf32>
    kron.yield %1 : tensor<120x8000xf32>
  }
  return
}

// -----

// Verify that many rows go through a part of the factor that leaves the first-level cache, with blocks side by side.
// CHECK-LABEL: func.func @block_rows
// CHECK: #kron.cpu_plan<{{.*}}tile = 504, tiled_axis = 0, steps = [{rows = 6, vectors = 4, factor_panels = 1, packs_in_tiles = 1, chunk = 258}]>
func.func @block_rows(%x: memref<1000x16x128xf32>, %f: memref<16x128x128xf32>, %y: memref<1000x16x128xf32>) {
  kron.fused ins(%x, %f : memref<1000x16x128xf32>, memref<16x128x128xf32>) outs(%y : memref<1000x16x128xf32>) {
  ^bb0(%t: tensor<1000x16x128xf32>, %a: tensor<16x128x128xf32>, %o: tensor<1000x16x128xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x16x128xf32>) factor(%a [1, p, q] : tensor<16x128x128xf32>) outs(%o : tensor<1000x16x128xf32>) -> tensor<1000x16x128xf32>
    kron.yield %1 : tensor<1000x16x128xf32>
  }
  return
}

// -----

// Verify that few do where it stays there.
// CHECK-LABEL: func.func @small_blocks
// CHECK: #kron.cpu_plan<{{.*}}tile = 12, tiled_axis = 0, steps = [{rows = 6, vectors = 4}]>
func.func @small_blocks(%x: memref<1000x16x64xf32>, %f: memref<16x64x64xf32>, %y: memref<1000x16x64xf32>) {
  kron.fused ins(%x, %f : memref<1000x16x64xf32>, memref<16x64x64xf32>) outs(%y : memref<1000x16x64xf32>) {
  ^bb0(%t: tensor<1000x16x64xf32>, %a: tensor<16x64x64xf32>, %o: tensor<1000x16x64xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<1000x16x64xf32>) factor(%a [1, p, q] : tensor<16x64x64xf32>) outs(%o : tensor<1000x16x64xf32>) -> tensor<1000x16x64xf32>
    kron.yield %1 : tensor<1000x16x64xf32>
  }
  return
}

// -----

// Verify that a tile packs its part of 1 MB, which no other tile uses.
// CHECK-LABEL: func.func @packs_large_part
// CHECK: #kron.cpu_plan<{{.*}}tile = 36, tiled_axis = 0, steps = [{rows = 6, vectors = 4, factor_panels = 1, packs_in_tiles = 1, chunk = 84}]>
func.func @packs_large_part(%x: memref<36x16x400xf32>, %f: memref<16x400x300xf32>, %y: memref<36x16x300xf32>) {
  kron.fused ins(%x, %f : memref<36x16x400xf32>, memref<16x400x300xf32>) outs(%y : memref<36x16x300xf32>) {
  ^bb0(%t: tensor<36x16x400xf32>, %a: tensor<16x400x300xf32>, %o: tensor<36x16x300xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<36x16x400xf32>) factor(%a [1, p, q] : tensor<16x400x300xf32>) outs(%o : tensor<36x16x300xf32>) -> tensor<36x16x300xf32>
    kron.yield %1 : tensor<36x16x300xf32>
  }
  return
}

// -----

// Verify that narrow vectors, whose register tiles load rows more often, take these from a copy in the first-level cache
// that has four lines of each, and wide ones from where they lie.
// NARROW-LABEL: func.func @narrow_copy
// NARROW: #kron.cpu_plan<{{.*}}packs_input = 1
// CHECK-LABEL: func.func @narrow_copy
// CHECK-NOT: packs_input
func.func @narrow_copy(%x: memref<100x10000xf32>, %f: memref<30x100xf32>, %y: memref<30x10000xf32>) {
  kron.fused ins(%x, %f : memref<100x10000xf32>, memref<30x100xf32>) outs(%y : memref<30x10000xf32>) {
  ^bb0(%t: tensor<100x10000xf32>, %a: tensor<30x100xf32>, %o: tensor<30x10000xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<100x10000xf32>) factor(%a [q, p] : tensor<30x100xf32>) outs(%o : tensor<30x10000xf32>) -> tensor<30x10000xf32>
    kron.yield %1 : tensor<30x10000xf32>
  }
  return
}

// -----

// Verify that all of a few columns are one tile, which reads whole rows.
// CHECK-LABEL: func.func @few_columns
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 40, tiled_axis = 2,
func.func @few_columns(%x: memref<200x40x40xf32>, %f: memref<30x40xf32>, %g: memref<150x200xf32>, %y: memref<150x30x40xf32>) {
  kron.fused ins(%x, %f, %g : memref<200x40x40xf32>, memref<30x40xf32>, memref<150x200xf32>) outs(%y : memref<150x30x40xf32>) {
  ^bb0(%t: tensor<200x40x40xf32>, %a: tensor<30x40xf32>, %b: tensor<150x200xf32>, %o: tensor<150x30x40xf32>):
    %e = tensor.empty() : tensor<200x30x40xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<200x40x40xf32>) factor(%a [q, p] : tensor<30x40xf32>) outs(%e : tensor<200x30x40xf32>) -> tensor<200x30x40xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<200x30x40xf32>) factor(%b [q, p] : tensor<150x200xf32>) outs(%o : tensor<150x30x40xf32>) -> tensor<150x30x40xf32>
    kron.yield %2 : tensor<150x30x40xf32>
  }
  return
}

// -----

// Verify that two lines of each row are read where the first-level cache does not hold a vector of columns between the
// factors.
// CHECK-LABEL: func.func @wide_columns
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 32, tiled_axis = 2,
func.func @wide_columns(%x: memref<300x300x500xf32>, %f: memref<40x300xf32>, %g: memref<30x300xf32>, %y: memref<30x40x500xf32>) {
  kron.fused ins(%x, %f, %g : memref<300x300x500xf32>, memref<40x300xf32>, memref<30x300xf32>) outs(%y : memref<30x40x500xf32>) {
  ^bb0(%t: tensor<300x300x500xf32>, %a: tensor<40x300xf32>, %b: tensor<30x300xf32>, %o: tensor<30x40x500xf32>):
    %e = tensor.empty() : tensor<300x40x500xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<300x300x500xf32>) factor(%a [q, p] : tensor<40x300xf32>) outs(%e : tensor<300x40x500xf32>) -> tensor<300x40x500xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<300x40x500xf32>) factor(%b [q, p] : tensor<30x300xf32>) outs(%o : tensor<30x40x500xf32>) -> tensor<30x40x500xf32>
    kron.yield %2 : tensor<30x40x500xf32>
  }
  return
}

// -----

// Verify that one vector is where the first factor has few results.
// CHECK-LABEL: func.func @bound_columns
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 16, tiled_axis = 2,
func.func @bound_columns(%x: memref<377x20x300xf32>, %f: memref<5x20xf32>, %g: memref<69x377xf32>, %y: memref<69x5x300xf32>) {
  kron.fused ins(%x, %f, %g : memref<377x20x300xf32>, memref<5x20xf32>, memref<69x377xf32>) outs(%y : memref<69x5x300xf32>) {
  ^bb0(%t: tensor<377x20x300xf32>, %a: tensor<5x20xf32>, %b: tensor<69x377xf32>, %o: tensor<69x5x300xf32>):
    %e = tensor.empty() : tensor<377x5x300xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<377x20x300xf32>) factor(%a [q, p] : tensor<5x20xf32>) outs(%e : tensor<377x5x300xf32>) -> tensor<377x5x300xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<377x5x300xf32>) factor(%b [q, p] : tensor<69x377xf32>) outs(%o : tensor<69x5x300xf32>) -> tensor<69x5x300xf32>
    kron.yield %2 : tensor<69x5x300xf32>
  }
  return
}

// -----

// Verify that rows that are far by hand are neither copied first nor prefetched as lines of the next window, and stay what
// they are where the planner would choose otherwise.
// CHECK-LABEL: func.func @far_by_hand
// CHECK: #kron.cpu_plan<{{.*}}steps = [{{[{].*}}far = 1}]>
// CHECK-NOT: packs_input
// CHECK-NOT: input_panels
func.func @far_by_hand(%x: memref<512x512xf32>, %f: memref<512x512xf32>, %y: memref<512x512xf32>) {
  kron.fused ins(%x, %f : memref<512x512xf32>, memref<512x512xf32>) outs(%y : memref<512x512xf32>) attributes {plan = #kron.cpu_plan<steps = [{far = 1}]>} {
  ^bb0(%t: tensor<512x512xf32>, %a: tensor<512x512xf32>, %o: tensor<512x512xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<512x512xf32>) factor(%a [q, p] : tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
    kron.yield %1 : tensor<512x512xf32>
  }
  return
}

// -----

// Verify that register tiles take three rows of X side by side, not twelve of 89 vectors each (68 KB), which would be
// loaded from the second-level cache for each block of q, if an axis that the factor depends on is in the lanes.
// CHECK-LABEL: func.func @near_input
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 8, vectors = 3}]>
// NARROW-LABEL: func.func @near_input
// NARROW: #kron.cpu_plan<{{.*}}steps = [{rows = 4, vectors = 3}]>
func.func @near_input(%x: memref<96x89x30xf32>, %f: memref<89x8x30xf32>, %y: memref<96x8x30xf32>) {
  kron.fused ins(%x, %f : memref<96x89x30xf32>, memref<89x8x30xf32>) outs(%y : memref<96x8x30xf32>) {
  ^bb0(%t: tensor<96x89x30xf32>, %a: tensor<89x8x30xf32>, %o: tensor<96x8x30xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<96x89x30xf32>) factor(%a [p, q, 2] : tensor<89x8x30xf32>) outs(%o : tensor<96x8x30xf32>) -> tensor<96x8x30xf32>
    kron.yield %1 : tensor<96x8x30xf32>
  }
  return
}

// -----

// Verify that 11 complex vectors of 173 rows (122 KB), which each row of the factor would load from the second-level
// cache, are taken in fewer at a time, for several rows of the factor.
// CHECK-LABEL: func.func @near_complex_input
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 3, vectors = 4}]>
func.func @near_complex_input(%x: memref<2x173x176xcomplex<f32>>, %f: memref<173x173xcomplex<f32>>, %y: memref<2x173x176xcomplex<f32>>) {
  kron.fused ins(%x, %f : memref<2x173x176xcomplex<f32>>, memref<173x173xcomplex<f32>>) outs(%y : memref<2x173x176xcomplex<f32>>) {
  ^bb0(%t: tensor<2x173x176xcomplex<f32>>, %a: tensor<173x173xcomplex<f32>>, %o: tensor<2x173x176xcomplex<f32>>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x173x176xcomplex<f32>>) factor(%a [q, p] : tensor<173x173xcomplex<f32>>) outs(%o : tensor<2x173x176xcomplex<f32>>) -> tensor<2x173x176xcomplex<f32>>
    kron.yield %1 : tensor<2x173x176xcomplex<f32>>
  }
  return
}

// -----

// Verify that register tiles are no wider than tiles of 16 columns, of which the last one has one: wider ones would leave
// all columns to single vectors.
// CHECK-LABEL: func.func @narrow_tiles
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 16, {{.*}}steps = [{rows = 5, vectors = 2}, {rows = 5, vectors = 2}]>
// NARROW-LABEL: func.func @narrow_tiles
// NARROW: #kron.cpu_plan<vector_bits = 256, tile = 16, {{.*}}steps = [{rows = 5, vectors = 2}, {rows = 5, vectors = 2}]>
func.func @narrow_tiles(%x: memref<5x5x145xf64>, %f: memref<5x5xf64>, %y: memref<5x5x145xf64>) {
  kron.fused ins(%x, %f : memref<5x5x145xf64>, memref<5x5xf64>) outs(%y : memref<5x5x145xf64>) attributes {plan = #kron.cpu_plan<tile = 16>} {
  ^bb0(%t: tensor<5x5x145xf64>, %a: tensor<5x5xf64>, %o: tensor<5x5x145xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<5x5x145xf64>) factor(%a [p, q] : tensor<5x5xf64>) outs(%o : tensor<5x5x145xf64>) -> tensor<5x5x145xf64>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<5x5x145xf64>) factor(%a [p, q] : tensor<5x5xf64>) outs(%o : tensor<5x5x145xf64>) -> tensor<5x5x145xf64>
    kron.yield %2 : tensor<5x5x145xf64>
  }
  return
}

// -----

// Verify that as many results go along an axis as the first-level cache holds lines of the factor for: 15 of 100 with 32
// positions of K, 4 with 128.
// CHECK-LABEL: func.func @kept_lines
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 15, vectors = 1, along_axis = 40}]>
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 4, vectors = 1, along_axis = 40}]>
// NARROW-LABEL: func.func @kept_lines
// NARROW: #kron.cpu_plan<{{.*}}steps = [{rows = 6, vectors = 2, along_axis = 40}]>
// NARROW: #kron.cpu_plan<{{.*}}steps = [{rows = 4, vectors = 2, along_axis = 40}]>
func.func @kept_lines(%x: memref<12x32x40x14xf32>, %f: memref<12x100x32x40xf32>, %y: memref<12x100x40x14xf32>,
                      %x2: memref<8x128x40x14xf32>, %f2: memref<8x100x128x40xf32>, %y2: memref<8x100x40x14xf32>) {
  kron.fused ins(%x, %f : memref<12x32x40x14xf32>, memref<12x100x32x40xf32>) outs(%y : memref<12x100x40x14xf32>) {
  ^bb0(%t: tensor<12x32x40x14xf32>, %a: tensor<12x100x32x40xf32>, %o: tensor<12x100x40x14xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<12x32x40x14xf32>) factor(%a [0, q, p, 2] : tensor<12x100x32x40xf32>) outs(%o : tensor<12x100x40x14xf32>) -> tensor<12x100x40x14xf32>
    kron.yield %1 : tensor<12x100x40x14xf32>
  }
  kron.fused ins(%x2, %f2 : memref<8x128x40x14xf32>, memref<8x100x128x40xf32>) outs(%y2 : memref<8x100x40x14xf32>) {
  ^bb0(%t: tensor<8x128x40x14xf32>, %a: tensor<8x100x128x40xf32>, %o: tensor<8x100x40x14xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<8x128x40x14xf32>) factor(%a [0, q, p, 2] : tensor<8x100x128x40xf32>) outs(%o : tensor<8x100x40x14xf32>) -> tensor<8x100x40x14xf32>
    kron.yield %1 : tensor<8x100x40x14xf32>
  }
  return
}

// -----

// Verify that elements of a factor of f16, whose copy in f32 the second-level cache would not hold, are repeated where
// columns fill up to a vector; of a small one they are not.
// CHECK-LABEL: func.func @repeats_converted
// CHECK: #kron.cpu_plan<{{.*}}steps = [{lanes = 2}]>
// CHECK: #kron.cpu_plan<{{.*}}steps = [{rows = 15, vectors = 1, along_axis = 40, converts_factor = 1}]>
func.func @repeats_converted(%x: memref<12x32x40x14xf16>, %f: memref<12x100x32x40xf16>, %y: memref<12x100x40x14xf16>,
                             %x2: memref<2x32x40x14xf16>, %f2: memref<2x100x32x40xf16>, %y2: memref<2x100x40x14xf16>) {
  kron.fused ins(%x, %f : memref<12x32x40x14xf16>, memref<12x100x32x40xf16>) outs(%y : memref<12x100x40x14xf16>) {
  ^bb0(%t: tensor<12x32x40x14xf16>, %a: tensor<12x100x32x40xf16>, %o: tensor<12x100x40x14xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<12x32x40x14xf16>) factor(%a [0, q, p, 2] : tensor<12x100x32x40xf16>) outs(%o : tensor<12x100x40x14xf16>) -> tensor<12x100x40x14xf16>
    kron.yield %1 : tensor<12x100x40x14xf16>
  }
  kron.fused ins(%x2, %f2 : memref<2x32x40x14xf16>, memref<2x100x32x40xf16>) outs(%y2 : memref<2x100x40x14xf16>) {
  ^bb0(%t: tensor<2x32x40x14xf16>, %a: tensor<2x100x32x40xf16>, %o: tensor<2x100x40x14xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<2x32x40x14xf16>) factor(%a [0, q, p, 2] : tensor<2x100x32x40xf16>) outs(%o : tensor<2x100x40x14xf16>) -> tensor<2x100x40x14xf16>
    kron.yield %1 : tensor<2x100x40x14xf16>
  }
  return
}

// -----

// Verify that of 16 registers none is left for a mask beside three rows of four vectors, the last of which has four of its
// lanes: two vectors are taken at a time. Of four whole ones three rows are.
// NARROW-LABEL: func.func @masked_vectors
// NARROW: #kron.cpu_plan<{{.*}}steps = [{rows = 6, vectors = 2}]>
// NARROW: #kron.cpu_plan<{{.*}}steps = [{rows = 3, vectors = 4}]>
func.func @masked_vectors(%x: memref<9252x55xf32>, %f: memref<55x28xf32>, %y: memref<9252x28xf32>,
                          %f2: memref<55x32xf32>, %y2: memref<9252x32xf32>) {
  kron.fused ins(%x, %f : memref<9252x55xf32>, memref<55x28xf32>) outs(%y : memref<9252x28xf32>) {
  ^bb0(%t: tensor<9252x55xf32>, %a: tensor<55x28xf32>, %o: tensor<9252x28xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<9252x55xf32>) factor(%a [p, q] : tensor<55x28xf32>) outs(%o : tensor<9252x28xf32>) -> tensor<9252x28xf32>
    kron.yield %1 : tensor<9252x28xf32>
  }
  kron.fused ins(%x, %f2 : memref<9252x55xf32>, memref<55x32xf32>) outs(%y2 : memref<9252x32xf32>) {
  ^bb0(%t: tensor<9252x55xf32>, %a: tensor<55x32xf32>, %o: tensor<9252x32xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<9252x55xf32>) factor(%a [p, q] : tensor<55x32xf32>) outs(%o : tensor<9252x32xf32>) -> tensor<9252x32xf32>
    kron.yield %1 : tensor<9252x32xf32>
  }
  return
}
