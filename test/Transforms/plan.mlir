// RUN: kron-opt %s --kron-plan --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-plan="vector-bits=256 cache-bytes=4096" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: kron-opt %s --kron-plan="matrix-tiles" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=TILES --implicit-check-not=matrix_tiles
// RUN: kron-opt %s --kron-plan="pair-products" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=PAIRS --implicit-check-not=matrix_tiles
// RUN: kron-opt %s --kron-plan="stream-bytes=6000 stream-columns-bytes=700" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=STREAM
// RUN: kron-opt %s --kron-plan="stream-bytes=6000 stream-columns-bytes=700 column-bytes=256" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=RUNS
// RUN: kron-opt %s --kron-plan="fast-shuffles" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=SHUFFLES
// RUN: kron-opt %s --kron-plan="l2-bytes=2097152" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=LARGE

// Verify that the tile is as many rows of 2 KB as fill 4 KB, or a quarter of a
// small first-level cache.
// CHECK-LABEL: func @rows
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 2, tiled_axis = 0, steps = [{rows = 16, vectors = 1}, {rows = 4, vectors = 4}, {rows = 8, vectors = 2}]>
// SMALL-LABEL: func @rows
// SMALL: #kron.cpu_plan<vector_bits = 256, tile = 1, tiled_axis = 0,
// Verify that results in columns have a size of their own from which on
// non-temporal stores are used.
// STREAM-LABEL: func @rows
// STREAM: stream_bytes = 6000, staging = 2,
func.func @rows(%x: memref<?x8x8x8xf32>, %f: memref<8x8xf32>, %y: memref<?x8x8x8xf32>) {
  kron.fused ins(%x, %f : memref<?x8x8x8xf32>, memref<8x8xf32>) outs(%y : memref<?x8x8x8xf32>) {
  ^bb0(%t: tensor<?x8x8x8xf32>, %a: tensor<8x8xf32>, %o: tensor<?x8x8x8xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %t, %c0 : tensor<?x8x8x8xf32>
    %e = tensor.empty(%m) : tensor<?x8x8x8xf32>
    %1 = kron.mode_product axis(3) ins(%t : tensor<?x8x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%e : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x8x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%e : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x8x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    kron.yield %3 : tensor<?x8x8x8xf32>
  }
  return
}

// -----

// Verify that what is set by hand is kept, field by field.
// CHECK-LABEL: func @by_hand
// CHECK: #kron.cpu_plan<vector_bits = 256, tile = 3, tiled_axis = 0, steps = [{rows = 4, vectors = 2}]>
func.func @by_hand(%x: memref<?x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16xf32>) {
  kron.fused ins(%x, %f : memref<?x16xf32>, memref<16x16xf32>) outs(%y : memref<?x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 256, tile = 3, register_rows = 4, register_vectors = 2>} {
  ^bb0(%t: tensor<?x16xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
    kron.yield %1 : tensor<?x16xf32>
  }
  return
}

// -----

// Verify that an innermost axis that no factor touches is tiled by whole vectors:
// lanes run along it.
// CHECK-LABEL: func @columns
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 256, tiled_axis = 1, packs_input = 1, steps = [{rows = 8, vectors = 2}]>
// SMALL-LABEL: func @columns
// SMALL: #kron.cpu_plan<vector_bits = 256, tile = 64, tiled_axis = 1, packs_input = 1,
// STREAM-LABEL: func @columns
// STREAM: stream_bytes = 700,
func.func @columns(%x: memref<16x?xf32>, %f: memref<16x16xf32>, %y: memref<16x?xf32>) {
  kron.fused ins(%x, %f : memref<16x?xf32>, memref<16x16xf32>) outs(%y : memref<16x?xf32>) {
  ^bb0(%t: tensor<16x?xf32>, %a: tensor<16x16xf32>, %o: tensor<16x?xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x?xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<16x?xf32>) -> tensor<16x?xf32>
    kron.yield %1 : tensor<16x?xf32>
  }
  return
}

// -----

// Verify that a fused region that the CPU code generator does not take is left alone.
// CHECK-LABEL: func @extended
// CHECK-NOT: kron.cpu_plan
func.func @extended(%x: memref<4x16xf80>, %f: memref<16x16xf80>, %y: memref<4x16xf80>) {
  kron.fused ins(%x, %f : memref<4x16xf80>, memref<16x16xf80>) outs(%y : memref<4x16xf80>) {
  ^bb0(%t: tensor<4x16xf80>, %a: tensor<16x16xf80>, %o: tensor<4x16xf80>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf80>) factor(%a [p, q] : tensor<16x16xf80>) outs(%o : tensor<4x16xf80>) -> tensor<4x16xf80>
    kron.yield %1 : tensor<4x16xf80>
  }
  return
}

// -----

// Verify that a row that is larger than the first-level cache goes through all
// factors but the outermost one in slices of 8 KB.
// CHECK-LABEL: func @long_rows
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 1, tiled_axis = 0, slice = 2, steps = [{rows = 8, vectors = 2}, {rows = 8, vectors = 2}, {rows = 8, vectors = 2}]>
func.func @long_rows(%x: memref<?x32x32x32xf32>, %f: memref<32x32xf32>, %y: memref<?x32x32x32xf32>) {
  kron.fused ins(%x, %f : memref<?x32x32x32xf32>, memref<32x32xf32>) outs(%y : memref<?x32x32x32xf32>) {
  ^bb0(%t: tensor<?x32x32x32xf32>, %a: tensor<32x32xf32>, %o: tensor<?x32x32x32xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %t, %c0 : tensor<?x32x32x32xf32>
    %e = tensor.empty(%m) : tensor<?x32x32x32xf32>
    %1 = kron.mode_product axis(3) ins(%t : tensor<?x32x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%e : tensor<?x32x32x32xf32>) -> tensor<?x32x32x32xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x32x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%e : tensor<?x32x32x32xf32>) -> tensor<?x32x32x32xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x32x32x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<?x32x32x32xf32>) -> tensor<?x32x32x32xf32>
    kron.yield %3 : tensor<?x32x32x32xf32>
  }
  return
}

// -----

// Verify that columns are taken two vectors at a time, in slices that fit the
// first-level cache.
// CHECK-LABEL: func @long_columns
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 32, tiled_axis = 2, packs_input = 1, slice = 1, prefetch_results = 0, steps = [{rows = 8, vectors = 2}, {rows = 8, vectors = 2, input_panels = 1}]>
func.func @long_columns(%x: memref<64x64x?xf32>, %f: memref<64x64xf32>, %y: memref<64x64x?xf32>) {
  kron.fused ins(%x, %f : memref<64x64x?xf32>, memref<64x64xf32>) outs(%y : memref<64x64x?xf32>) {
  ^bb0(%t: tensor<64x64x?xf32>, %a: tensor<64x64xf32>, %o: tensor<64x64x?xf32>):
    %c2 = arith.constant 2 : index
    %m = tensor.dim %t, %c2 : tensor<64x64x?xf32>
    %e = tensor.empty(%m) : tensor<64x64x?xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x64x?xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%e : tensor<64x64x?xf32>) -> tensor<64x64x?xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x?xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%o : tensor<64x64x?xf32>) -> tensor<64x64x?xf32>
    kron.yield %2 : tensor<64x64x?xf32>
  }
  return
}

// -----

// Verify that a transposed input is taken by whole cache lines, more of them where the
// factor leaves the first-level cache: 48 rows at a time.
// CHECK-LABEL: func @transposed_rows
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 48, tiled_axis = 0, steps = [{rows = 6, vectors = 4, factor_panels = 1, chunk = 132}]>
// STREAM-LABEL: func @transposed_rows
// STREAM: stream_bytes = 1000,
func.func @transposed_rows(%x: memref<?x256xf32, strided<[1, ?]>>, %f: memref<256x256xf32>, %y: memref<?x256xf32>) {
  kron.fused ins(%x, %f : memref<?x256xf32, strided<[1, ?]>>, memref<256x256xf32>) outs(%y : memref<?x256xf32>) {
  ^bb0(%t: tensor<?x256xf32>, %a: tensor<256x256xf32>, %o: tensor<?x256xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x256xf32>) factor(%a [p, q] : tensor<256x256xf32>) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
    kron.yield %1 : tensor<?x256xf32>
  }
  return
}

// -----

// Verify that fused regions of bf16, and no others, are for matrix tiles where the
// processor has them, with at least 64 rows; and that this can be forbidden.
// CHECK-LABEL: func @matrix_tiles
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 12, tiled_axis = 0, converts_input = 1, steps = [{rows = 6, vectors = 4, factor_panels = 1, chunk = 36, converts_factor = 1}]>
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 12, tiled_axis = 0, converts_input = 1, matrix_tiles = -1, steps = [{rows = 6, vectors = 4, factor_panels = 1, chunk = 36, converts_factor = 1}]>
// SMALL-LABEL: func @matrix_tiles
// TILES-LABEL: func @matrix_tiles
// TILES: #kron.cpu_plan<vector_bits = 512, tile = 64, {{.*}}matrix_tiles = 1,
// TILES: #kron.cpu_plan<vector_bits = 512, tile = 12, {{.*}}matrix_tiles = -1,
// PAIRS-LABEL: func @matrix_tiles
// PAIRS: #kron.cpu_plan<vector_bits = 512, tile = 12, {{.*}}matrix_tiles = 2,
// PAIRS: #kron.cpu_plan<vector_bits = 512, tile = 12, {{.*}}matrix_tiles = -1,
func.func @matrix_tiles(%x: memref<?x1024xbf16>, %f: memref<1024x64xbf16>, %y: memref<?x64xbf16>) {
  kron.fused ins(%x, %f : memref<?x1024xbf16>, memref<1024x64xbf16>) outs(%y : memref<?x64xbf16>) {
  ^bb0(%t: tensor<?x1024xbf16>, %a: tensor<1024x64xbf16>, %o: tensor<?x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x1024xbf16>) factor(%a [p, q] : tensor<1024x64xbf16>) outs(%o : tensor<?x64xbf16>) -> tensor<?x64xbf16>
    kron.yield %1 : tensor<?x64xbf16>
  }
  kron.fused ins(%x, %f : memref<?x1024xbf16>, memref<1024x64xbf16>) outs(%y : memref<?x64xbf16>) attributes {plan = #kron.cpu_plan<matrix_tiles = -1>} {
  ^bb0(%t: tensor<?x1024xbf16>, %a: tensor<1024x64xbf16>, %o: tensor<?x64xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x1024xbf16>) factor(%a [p, q] : tensor<1024x64xbf16>) outs(%o : tensor<?x64xbf16>) -> tensor<?x64xbf16>
    kron.yield %1 : tensor<?x64xbf16>
  }
  return
}

// -----

// Verify that so few columns are sliced for a copy, too, if there are 64 results of each
// number.
// CHECK-LABEL: func @two_vectors
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 32, tiled_axis = 2, packs_input = 1, slice = 1, prefetch = -1, prefetch_results = 0, steps = [{rows = 8, vectors = 2}, {rows = 8, vectors = 2}]>
func.func @two_vectors(%x: memref<64x64x32xf32>, %f: memref<64x64xf32>, %y: memref<64x64x32xf32>) {
  kron.fused ins(%x, %f : memref<64x64x32xf32>, memref<64x64xf32>) outs(%y : memref<64x64x32xf32>) {
  ^bb0(%t: tensor<64x64x32xf32>, %a: tensor<64x64xf32>, %o: tensor<64x64x32xf32>):
    %e = tensor.empty() : tensor<64x64x32xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x64x32xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%e : tensor<64x64x32xf32>) -> tensor<64x64x32xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x32xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%o : tensor<64x64x32xf32>) -> tensor<64x64x32xf32>
    kron.yield %2 : tensor<64x64x32xf32>
  }
  return
}

// -----

// Verify that a single vector of columns is sliced where positions of the last factor's axis,
// 4 KB each, would share sets of the first-level cache.
// CHECK-LABEL: func @one_vector
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 16, tiled_axis = 2, slice = 2, prefetch = -1, steps = [{rows = 16, vectors = 1}, {rows = 8, vectors = 2}]>
func.func @one_vector(%x: memref<64x64x16xf32>, %f: memref<64x64xf32>, %y: memref<64x64x16xf32>) {
  kron.fused ins(%x, %f : memref<64x64x16xf32>, memref<64x64xf32>) outs(%y : memref<64x64x16xf32>) {
  ^bb0(%t: tensor<64x64x16xf32>, %a: tensor<64x64xf32>, %o: tensor<64x64x16xf32>):
    %e = tensor.empty() : tensor<64x64x16xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x64x16xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%e : tensor<64x64x16xf32>) -> tensor<64x64x16xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x16xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%o : tensor<64x64x16xf32>) -> tensor<64x64x16xf32>
    kron.yield %2 : tensor<64x64x16xf32>
  }
  return
}

// -----

// Verify that it is not where they do not.
// CHECK-LABEL: func @apart
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 15, tiled_axis = 2, prefetch = -1, steps = [{rows = 16, vectors = 1, input_panels = 1}, {rows = 8, vectors = 3}]>
func.func @apart(%x: memref<64x64x15xf32>, %f: memref<64x64xf32>, %y: memref<64x64x15xf32>) {
  kron.fused ins(%x, %f : memref<64x64x15xf32>, memref<64x64xf32>) outs(%y : memref<64x64x15xf32>) {
  ^bb0(%t: tensor<64x64x15xf32>, %a: tensor<64x64xf32>, %o: tensor<64x64x15xf32>):
    %e = tensor.empty() : tensor<64x64x15xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x64x15xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%e : tensor<64x64x15xf32>) -> tensor<64x64x15xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x15xf32>) factor(%a [q, p] : tensor<64x64xf32>) outs(%o : tensor<64x64x15xf32>) -> tensor<64x64x15xf32>
    kron.yield %2 : tensor<64x64x15xf32>
  }
  return
}

// -----

// Verify that a single vector of columns is taken where they lie as rows and the buffer before
// the last factor would be larger than twice the second-level cache.
// CHECK-LABEL: func @columns_as_rows
// CHECK: #kron.cpu_plan<vector_bits = 512, tile = 16, tiled_axis = 3, packs_input = 1, slice = 1, slice_cuts = [4], prefetch_results = 0, steps = [{rows = 16, vectors = 1}, {rows = 8, vectors = 2, input_panels = 1}, {rows = 16, vectors = 1, far = 1}]>
// LARGE-LABEL: func @columns_as_rows
// LARGE: #kron.cpu_plan<vector_bits = 512, tile = 16,
func.func @columns_as_rows(%x: memref<32x32x32x512xf32, strided<[1024, 32, 1, 32768]>>, %f: memref<32x32xf32>, %y: memref<32x32x32x512xf32>) {
  kron.fused ins(%x, %f : memref<32x32x32x512xf32, strided<[1024, 32, 1, 32768]>>, memref<32x32xf32>) outs(%y : memref<32x32x32x512xf32>) {
  ^bb0(%t: tensor<32x32x32x512xf32>, %a: tensor<32x32xf32>, %o: tensor<32x32x32x512xf32>):
    %e = tensor.empty() : tensor<32x32x32x512xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<32x32x32x512xf32>) factor(%a [q, p] : tensor<32x32xf32>) outs(%e : tensor<32x32x32x512xf32>) -> tensor<32x32x32x512xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<32x32x32x512xf32>) factor(%a [q, p] : tensor<32x32xf32>) outs(%e : tensor<32x32x32x512xf32>) -> tensor<32x32x32x512xf32>
    %3 = kron.mode_product axis(0) ins(%2 : tensor<32x32x32x512xf32>) factor(%a [q, p] : tensor<32x32xf32>) outs(%o : tensor<32x32x32x512xf32>) -> tensor<32x32x32x512xf32>
    kron.yield %3 : tensor<32x32x32x512xf32>
  }
  return
}

// -----

// Verify that where shuffles are fast fibres of half a register stay as they lie, unless a
// plan says that they do not. Those of a whole register do not share one.
// SHUFFLES-LABEL: func @kept_fibres
// SHUFFLES: #kron.cpu_plan<{{.*}}kept_fibres = 1,
// SHUFFLES: #kron.cpu_plan<{{.*}}kept_fibres = -1,
// SHUFFLES-LABEL: func @whole_registers
// SHUFFLES-NOT: kept_fibres
func.func @kept_fibres(%x: memref<64x8xf32>, %f: memref<8x8xf32>, %y: memref<64x8xf32>) {
  kron.fused ins(%x, %f : memref<64x8xf32>, memref<8x8xf32>) outs(%y : memref<64x8xf32>) {
  ^bb0(%t: tensor<64x8xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
    kron.yield %1 : tensor<64x8xf32>
  }
  kron.fused ins(%x, %f : memref<64x8xf32>, memref<8x8xf32>) outs(%y : memref<64x8xf32>) attributes {plan = #kron.cpu_plan<kept_fibres = -1>} {
  ^bb0(%t: tensor<64x8xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
    kron.yield %1 : tensor<64x8xf32>
  }
  return
}

// -----

func.func @whole_registers(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>) {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Verify that columns which fill no whole vectors have that size, too, only where long segments
// are faster.
// STREAM-LABEL: func @ragged_columns
// STREAM: stream_bytes = 6000,
// RUNS-LABEL: func @ragged_columns
// RUNS: stream_bytes = 700,
func.func @ragged_columns(%x: memref<16x28xf32>, %f: memref<16x16xf32>, %y: memref<16x28xf32>) {
  kron.fused ins(%x, %f : memref<16x28xf32>, memref<16x16xf32>) outs(%y : memref<16x28xf32>) {
  ^bb0(%t: tensor<16x28xf32>, %a: tensor<16x16xf32>, %o: tensor<16x28xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x28xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<16x28xf32>) -> tensor<16x28xf32>
    kron.yield %1 : tensor<16x28xf32>
  }
  return
}

// -----

// Verify that slices are as large as a factor wants that leaves the first-level cache, of which each vector is loaded for
// every register tile: all six rows of 428 x 3 elements, of which single ones would fill that cache.
// CHECK-LABEL: func @rows_for_a_large_factor
// CHECK: tiled_axis = 0, slice = 1, prefetch_results
func.func @rows_for_a_large_factor(%x: memref<20x62x6x428x3xf32>, %f0: memref<3x3xf32>, %f1: memref<428x428xf32>, %f2: memref<6x6xf32>, %f3: memref<62x62xf32>, %y: memref<20x62x6x428x3xf32>) {
  kron.fused ins(%x, %f0, %f1, %f2, %f3 : memref<20x62x6x428x3xf32>, memref<3x3xf32>, memref<428x428xf32>, memref<6x6xf32>, memref<62x62xf32>) outs(%y : memref<20x62x6x428x3xf32>) {
  ^bb0(%t: tensor<20x62x6x428x3xf32>, %a0: tensor<3x3xf32>, %a1: tensor<428x428xf32>, %a2: tensor<6x6xf32>, %a3: tensor<62x62xf32>, %o: tensor<20x62x6x428x3xf32>):
    %e = tensor.empty() : tensor<20x62x6x428x3xf32>
    %1 = kron.mode_product axis(4) ins(%t : tensor<20x62x6x428x3xf32>) factor(%a0 [p, q] : tensor<3x3xf32>) outs(%e : tensor<20x62x6x428x3xf32>) -> tensor<20x62x6x428x3xf32>
    %2 = kron.mode_product axis(3) ins(%1 : tensor<20x62x6x428x3xf32>) factor(%a1 [p, q] : tensor<428x428xf32>) outs(%e : tensor<20x62x6x428x3xf32>) -> tensor<20x62x6x428x3xf32>
    %3 = kron.mode_product axis(2) ins(%2 : tensor<20x62x6x428x3xf32>) factor(%a2 [p, q] : tensor<6x6xf32>) outs(%e : tensor<20x62x6x428x3xf32>) -> tensor<20x62x6x428x3xf32>
    %4 = kron.mode_product axis(1) ins(%3 : tensor<20x62x6x428x3xf32>) factor(%a3 [p, q] : tensor<62x62xf32>) outs(%o : tensor<20x62x6x428x3xf32>) -> tensor<20x62x6x428x3xf32>
    kron.yield %4 : tensor<20x62x6x428x3xf32>
  }
  return
}

// -----

// Verify that an input of which 361 vectors are added up, 23 KB, is loaded from the second-level cache for 13 rows of
// the result at once, and not for each of them.
// CHECK-LABEL: func @far_input
// CHECK: steps = [{rows = 13, vectors = 2,
func.func @far_input(%x: memref<361x72x8xf64>, %f0: memref<361x361xf64>, %y: memref<361x72x8xf64>) {
  kron.fused ins(%x, %f0 : memref<361x72x8xf64>, memref<361x361xf64>) outs(%y : memref<361x72x8xf64>) {
  ^bb0(%t: tensor<361x72x8xf64>, %a0: tensor<361x361xf64>, %o: tensor<361x72x8xf64>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<361x72x8xf64>) factor(%a0 [p, q] : tensor<361x361xf64>) outs(%o : tensor<361x72x8xf64>) -> tensor<361x72x8xf64>
    kron.yield %1 : tensor<361x72x8xf64>
  }
  return
}
