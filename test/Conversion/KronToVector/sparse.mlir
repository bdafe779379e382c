// RUN: kron-opt %s --kron-decompose --kron-plan --convert-kron-to-vector \
// RUN:   --canonicalize --split-input-file | FileCheck %s

// Verify the `k` mapping of one row: the factor is read as it lies (no workspace),
// 16 q one after the other with lanes along p and four sums each, and 16 vectors of
// these become one in 15 additions.
// CHECK-LABEL: func.func @one_row
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @one_row_fused
// CHECK-NOT: vector.broadcast
// CHECK-COUNT-4: vector.fma
// CHECK-COUNT-3: arith.addf
// CHECK-COUNT-60: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-3: arith.addf
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-COUNT-15: arith.addf
// CHECK-NOT: arith.addf
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
func.func @one_row(%x: memref<1x768xf32>, %w: memref<6x64x128x1xf32>, %y: memref<1x384xf32>) {
  kron.ksmm ins(%x : memref<1x768xf32>) weights(%w : memref<6x64x128x1xf32>) outs(%y : memref<1x384xf32>)
  return
}

// -----

// Verify that 16 q go side by side where their rows are short, with a sum each.
// CHECK-LABEL: func.func private @short_rows_of_q_fused
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-15: arith.addf
// CHECK-NOT: arith.addf
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
func.func @short_rows_of_q(%x: memref<1x384xf32>, %w: memref<6x64x64x1xf32>, %y: memref<1x384xf32>) {
  kron.ksmm ins(%x : memref<1x384xf32>) weights(%w : memref<6x64x64x1xf32>) outs(%y : memref<1x384xf32>)
  return
}

// -----

// Verify that weights of which a tile uses its part once, for seven columns, are not packed
// for full vectors: lanes run over the columns, and each weight is repeated.
// CHECK-LABEL: func.func @few_columns_of_groups
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @few_columns_of_groups_fused
// CHECK-NOT: vector.shuffle
// CHECK: llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK: vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: vector.fma
// CHECK-NOT: vector.shuffle
func.func @few_columns_of_groups(%x: memref<4096x7xf32>, %w: memref<512x56x8x1xf32>, %y: memref<28672x7xf32>) {
  kron.ksmm ins(%x : memref<4096x7xf32>) weights(%w : memref<512x56x8x1xf32>) outs(%y : memref<28672x7xf32>)
      {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that groups of d = 4 stay apart while the sums over p are added up, and that
// seven rows are taken as four and three.
// CHECK-LABEL: func.func @few_rows
// CHECK-SAME: kron.shared_bytes = 0 : i64
// CHECK-LABEL: func.func private @few_rows_fused
// CHECK-COUNT-16: vector.fma
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK-COUNT-10: arith.addf
// CHECK-NOT: arith.addf
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-9: arith.addf
func.func @few_rows(%x: memref<7x384xf32>, %w: memref<2x48x48x4xf32>, %y: memref<7x384xf32>) {
  kron.ksmm ins(%x : memref<7x384xf32>) weights(%w : memref<2x48x48x4xf32>) outs(%y : memref<7x384xf32>)
  return
}

// -----

// Verify that vectors take the rows of two q where p is half a vector: 32 q are 16
// multiply-adds, and 8 vectors of partial sums become 16 results in 8 additions.
// CHECK-LABEL: func.func @short_rows
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @short_rows_fused
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7] : vector<8xf32>
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK-COUNT-14: arith.addf
// CHECK-NOT: arith.addf
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
func.func @short_rows(%x: memref<1x512xf32>, %w: memref<64x32x8x1xf32>, %y: memref<1x2048xf32>) {
  kron.ksmm ins(%x : memref<1x512xf32>) weights(%w : memref<64x32x8x1xf32>) outs(%y : memref<1x2048xf32>)
  return
}

// -----

// Verify d = 3: three vectors, in which lanes of one t are three apart, are a period, of
// which 5 q are accumulated in two sets of sums; each is taken apart in three shuffles, and 15 of 16
// results are stored.
// CHECK-LABEL: func.func @odd_lanes
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @odd_lanes_fused
// CHECK-COUNT-30: vector.fma
// CHECK-NOT: {{vector.fma|vector.shuffle}}
// CHECK: %[[FIRST:.*]] = vector.shuffle %{{.*}}, %{{.*}} [16, 19, 22, 25, 28, 31, 6,
// CHECK: %[[SECOND:.*]] = vector.shuffle %[[FIRST]], %{{.*}} [0, 1, 2, 3, 4, 5, 18, 21, 24, 27, 30, 11,
// CHECK: vector.shuffle %[[SECOND]], %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29]
// CHECK-COUNT-15: arith.addf
// CHECK: llvm.intr.masked.store {{.*}} : vector<16xf32>
func.func @odd_lanes(%x: memref<1x768xf32>, %w: memref<1x40x256x3xf32>, %y: memref<1x120xf32>) {
  kron.ksmm ins(%x : memref<1x768xf32>) weights(%w : memref<1x40x256x3xf32>) outs(%y : memref<1x120xf32>)
  return
}

// -----

// Verify that seven rows at the inner end are transposed on the way in (16 elements of p
// and t for parts of four rows at a time) and out, so that lanes run over p and t.
// CHECK-LABEL: func.func @few_columns
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 10752 : i64
// CHECK-LABEL: func.func private @few_columns_fused
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-8: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>
// CHECK-COUNT-4: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<8xf32>
// CHECK-COUNT-16: vector.fma
func.func @few_columns(%x: memref<192x7xf32>, %w: memref<1x48x48x4xf32>, %y: memref<192x7xf32>) {
  kron.ksmm ins(%x : memref<192x7xf32>) weights(%w : memref<1x48x48x4xf32>) outs(%y : memref<192x7xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that lanes run over t where there is one column, even where t is long.
// CHECK-LABEL: func.func private @one_column_fused
// CHECK-NOT: vector<4xf32>
// CHECK: vector.fma {{.*}} : vector<16xf32>
func.func @one_column(%x: memref<28672x1xf32>, %w: memref<1x8x16x1792xf32>, %y: memref<14336x1xf32>) {
  kron.ksmm ins(%x : memref<28672x1xf32>) weights(%w : memref<1x8x16x1792xf32>) outs(%y : memref<14336x1xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that few columns of bf16 that are not transposed are converted first: a factor
// with d = 64 is used as it lies.
// CHECK-LABEL: func.func @few_half_columns
// CHECK-SAME: kron.thread_bytes = 114688 : i64
func.func @few_half_columns(%x: memref<4096x7xbf16>, %w: memref<1x64x64x64xbf16>, %y: memref<4096x7xbf16>) {
  kron.ksmm ins(%x : memref<4096x7xbf16>) weights(%w : memref<1x64x64x64xbf16>) outs(%y : memref<4096x7xbf16>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that a d of several registers is cut into them: panels of four q by one
// register of t are packed, and each is used for many rows.
// CHECK-LABEL: func.func @long_lanes
// CHECK-SAME: kron.shared_bytes = 786432 : i64
// CHECK-LABEL: func.func private @long_lanes_fused
// CHECK-NOT: vector.broadcast
// CHECK-COUNT-16: vector.fma
func.func @long_lanes(%x: memref<256x3072xf32>, %w: memref<1x64x64x48xf32>, %y: memref<256x3072xf32>) {
  kron.ksmm ins(%x : memref<256x3072xf32>) weights(%w : memref<1x64x64x48xf32>) outs(%y : memref<256x3072xf32>)
  return
}

// -----

// Verify batch last: elements of the factor that are broadcast and d = 16 apart are
// packed (64 * 64 * 16 * 4 bytes, by shuffles), and X, whose rows lie pages apart, is
// copied to panels of 64 rows and four registers, from which 4 q at a time take it.
// CHECK-LABEL: func.func @batch_last
// CHECK-SAME: kron.shared_bytes = 262144 : i64, kron.thread_bytes = 0 : i64
// CHECK: call @kronRtWorkspace
// CHECK-COUNT-64: vector.shuffle
// CHECK-LABEL: func.func private @batch_last_fused
// CHECK: %[[PANEL:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK: scf.for
// CHECK-COUNT-4: llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK-NOT: llvm.store {{.*}} : vector
// CHECK-COUNT-64: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-16: llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
func.func @batch_last(%x: memref<1024x1024xf32>, %w: memref<1x64x64x16xf32>, %y: memref<1024x1024xf32>) {
  kron.ksmm ins(%x : memref<1024x1024xf32>) weights(%w : memref<1x64x64x16xf32>) outs(%y : memref<1024x1024xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that the lanes of a packed factor with d = 8 are taken apart in three steps
// of eight shuffles, without an empty lane.
// CHECK-LABEL: func.func @short_lanes
// CHECK: call @kronRtWorkspace
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: call @kronRtParallelFor
func.func @short_lanes(%x: memref<512x1024xf32>, %w: memref<1x64x64x8xf32>, %y: memref<512x1024xf32>) {
  kron.ksmm ins(%x : memref<512x1024xf32>) weights(%w : memref<1x64x64x8xf32>) outs(%y : memref<512x1024xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify the gradient by weights with d = 16: the rows of both operands are 4 KB apart,
// so that G becomes streams [j, n, t] (64 * 64 * 16 * 4 bytes) and X panels of 64 rows
// and four registers, through which tiles of 6 j by 4 k are taken. D is prefetched
// before it is added to.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: kron.shared_bytes = 262144 : i64, kron.thread_bytes = 0 : i64
// CHECK: call @kronRtWorkspace
// CHECK-NOT: vector.shuffle
// CHECK: call @kronRtParallelFor
// CHECK-LABEL: func.func private @gradient_fused
// CHECK: %[[PANEL:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK: scf.for
// CHECK-COUNT-4: llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK-COUNT-24: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 3 : i32
// CHECK-COUNT-96: vector.fma
// CHECK-COUNT-24: arith.addf
func.func @gradient(%x: memref<64x1024xf32>, %g: memref<64x1024xf32>, %y: memref<1x64x64x16xf32>) {
  kron.ksmm_grad ins(%x : memref<64x1024xf32>) grad(%g : memref<64x1024xf32>) outs(%y : memref<1x64x64x16xf32>)
  return
}

// -----

// Verify that a D of many elements is summed over blocks of 128 rows, and that units of
// 3 are packed one by one: 128 * 128 * 3 * 4 bytes.
// CHECK-LABEL: func.func @large_gradient
// CHECK-SAME: kron.shared_bytes = 196608 : i64
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c256{{.*}} step %c128
// CHECK: llvm.intr.masked.load
// CHECK-SAME: vector<4xf32>
// CHECK: call @kronRtParallelFor
func.func @large_gradient(%x: memref<256x384xf32>, %g: memref<256x384xf32>, %y: memref<1x128x128x3xf32>) {
  kron.ksmm_grad ins(%x : memref<256x384xf32>) grad(%g : memref<256x384xf32>) outs(%y : memref<1x128x128x3xf32>)
  return
}

// -----

// Verify what is prefetched while a tile of 64 rows of one block is computed: the same
// rows of the next block, 64 elements on, of which 256 bytes follow each other in rows
// of 1536 bytes, of each line the last; and as much of the result.
// CHECK-LABEL: func.func private @blocks_fused
// CHECK: %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[64] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.store %[[NEXT]], %[[SLOT]]
// CHECK: %[[ASKED:.*]] = llvm.load %[[SLOT]]
// CHECK: %[[ROW:.*]] = llvm.getelementptr %[[ASKED]][1536] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[ASKED]][63] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: "llvm.intr.prefetch"(%[[FIRST]])
// CHECK: llvm.getelementptr %[[ASKED]][255] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NOT: llvm.getelementptr %[[ASKED]][319]
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[ROW]][63] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: "llvm.intr.prefetch"(%[[SECOND]])
func.func @blocks(%x: memref<4096x384xf32>, %w: memref<6x64x64x1xf32>, %y: memref<4096x384xf32>) {
  kron.ksmm ins(%x : memref<4096x384xf32>) weights(%w : memref<6x64x64x1xf32>) outs(%y : memref<4096x384xf32>)
  return
}

// -----

// Verify that four rows of X, of which one register in four belongs to a part of d, are
// copied to [row, p, lanes] before all panels of the factor are taken through them, and
// that meanwhile those four rows on are prefetched (4 * 4096 elements).
// CHECK-LABEL: func.func private @far_rows_fused
// CHECK: %[[PANEL:.*]] = llvm.alloca %c4096{{.*}} x f32 {alignment = 64 : i64}
// CHECK: scf.for
// CHECK: %[[AHEAD:.*]] = llvm.getelementptr %[[FROM:.*]][16384] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT: "llvm.intr.prefetch"(%[[AHEAD]])
// CHECK-NEXT: llvm.load %[[FROM]] {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.intr.prefetch
// CHECK-COUNT-64: vector.fma
func.func @far_rows(%x: memref<4096x4096xf32>, %w: memref<1x64x64x64xf32>, %y: memref<4096x4096xf32>) {
  kron.ksmm ins(%x : memref<4096x4096xf32>) weights(%w : memref<1x64x64x64xf32>) outs(%y : memref<4096x4096xf32>)
  return
}

// -----

// Verify that weights of bf16 are read as words of two, of which the even and the odd
// elements are multiplied by a vector of X each (taken apart once, on the stack), for 16 q
// whose sums are the same for both, since t has one position.
// CHECK-LABEL: func.func private @pairs_fused
// CHECK: llvm.alloca {{.*}} {alignment = 64 : i64} : (i64) -> !llvm.ptr
// CHECK: vector.shuffle %[[A:.*]], %[[B:.*]] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK: vector.shuffle %[[A]], %[[B]] [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[WORDS:.*]] = llvm.load {{.*}} -> vector<16xi32>
// CHECK-DAG: %[[EVEN:.*]] = arith.shli %[[WORDS]]
// CHECK-DAG: %[[ODD:.*]] = arith.andi %[[WORDS]]
// CHECK-DAG: arith.bitcast %[[EVEN]] : vector<16xi32> to vector<16xf32>
// CHECK-DAG: arith.bitcast %[[ODD]] : vector<16xi32> to vector<16xf32>
// CHECK-COUNT-32: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-15: arith.addf
func.func @pairs(%x: memref<1x384xbf16>, %w: memref<6x64x64x1xbf16>, %y: memref<1x384xbf16>) {
  kron.ksmm ins(%x : memref<1x384xbf16>) weights(%w : memref<6x64x64x1xbf16>) outs(%y : memref<1x384xbf16>)
  return
}

// -----

// Verify that even and odd elements have sums of their own where t has several positions,
// and are interleaved before they are added up over p: eight q, one after the other.
// CHECK-LABEL: func.func private @pairs_of_groups_fused
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-32: llvm.load {{.*}} -> vector<16xi32>
// CHECK-NOT: -> vector<16xi32>
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
// CHECK: vector.shuffle {{.*}} [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31]
func.func @pairs_of_groups(%x: memref<1x1536xbf16>, %w: memref<6x64x64x4xbf16>, %y: memref<1x1536xbf16>) {
  kron.ksmm ins(%x : memref<1x1536xbf16>) weights(%w : memref<6x64x64x4xbf16>) outs(%y : memref<1x1536xbf16>)
  return
}

// -----

// Verify that a pair of vectors takes the rows of several q (4 of 8 elements), and that of
// an odd t two periods are one.
// CHECK-LABEL: func.func private @pairs_of_short_rows_fused
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<16xi32>
// CHECK-LABEL: func.func private @pairs_of_odd_groups_fused
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-24: llvm.load {{.*}} -> vector<16xi32>
// CHECK-NOT: -> vector<16xi32>
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17,
func.func @pairs_of_short_rows(%x: memref<1x4096xbf16>, %w: memref<512x32x8x1xbf16>, %y: memref<1x16384xbf16>) {
  kron.ksmm ins(%x : memref<1x4096xbf16>) weights(%w : memref<512x32x8x1xbf16>) outs(%y : memref<1x16384xbf16>)
  return
}
func.func @pairs_of_odd_groups(%x: memref<1x768xbf16>, %w: memref<1x256x256x3xbf16>, %y: memref<1x768xbf16>) {
  kron.ksmm ins(%x : memref<1x768xbf16>) weights(%w : memref<1x256x256x3xbf16>) outs(%y : memref<1x768xbf16>)
  return
}

// -----

// Verify that every block of weights is packed by the tile that uses it, into its thread's
// scratch, if that takes all rows.
// CHECK-LABEL: func.func @packed_by_tiles
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 2048 : i64
// CHECK-LABEL: func.func private @packed_by_tiles_fused
// CHECK: vector.shuffle
// CHECK: vector.fma
func.func @packed_by_tiles(%x: memref<7x4096xf32>, %w: memref<512x56x8x1xf32>, %y: memref<7x28672xf32>) {
  kron.ksmm ins(%x : memref<7x4096xf32>) weights(%w : memref<512x56x8x1xf32>) outs(%y : memref<7x28672xf32>)
  return
}

// -----

// Verify that with more rows all blocks are packed before, into the workspace that threads
// share.
// CHECK-LABEL: func.func @packed_at_once
// CHECK-SAME: kron.shared_bytes = 1048576 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @packed_at_once_fused
// CHECK-NOT: vector.shuffle
// CHECK: vector.fma
func.func @packed_at_once(%x: memref<70x4096xf32>, %w: memref<512x56x8x1xf32>, %y: memref<70x28672xf32>) {
  kron.ksmm ins(%x : memref<70x4096xf32>) weights(%w : memref<512x56x8x1xf32>) outs(%y : memref<70x28672xf32>)
  return
}

// -----

// Verify that a d which does not divide a register is put outside of the others, on the way
// in (19 shuffles for 16 x 3 elements) and out, if many rows are multiplied by a large
// factor: vectors hold 16 q (256 * 256 * 3 * 4 bytes, none of them empty), and elements of X
// are broadcast.
// CHECK-LABEL: func.func @odd_lanes_outside
// CHECK-SAME: kron.shared_bytes = 786432 : i64, kron.thread_bytes = 294912 : i64
// CHECK-LABEL: func.func private @odd_lanes_outside_fused
// CHECK-COUNT-16: llvm.intr.masked.load
// CHECK-COUNT-19: vector.shuffle
// CHECK-COUNT-3: llvm.intr.masked.store
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK-COUNT-4: vector.fma
func.func @odd_lanes_outside(%x: memref<256x768xf32>, %w: memref<1x256x256x3xf32>, %y: memref<256x768xf32>) {
  kron.ksmm ins(%x : memref<256x768xf32>) weights(%w : memref<1x256x256x3xf32>) outs(%y : memref<256x768xf32>)
  return
}

// -----

// Verify that blocks of rows of a number that is not known divide what a tile has of them in
// general, if it would leave a quarter of them over otherwise: 12 with one vector of q each, 8
// where 64 are not a multiple of 12, but six with four vectors, of 32. What is left over are
// single rows.
// CHECK-LABEL: func.func private @twelve_rows_fused
// CHECK: scf.for {{.*}} step %c12_i64
// CHECK-COUNT-48: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.for {{.*}} step %c1_i64
// CHECK-LABEL: func.func private @sixty_four_rows_fused
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK-COUNT-120: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.for {{.*}} step %c1_i64
// CHECK-LABEL: func.func private @thirty_two_rows_fused
// CHECK: scf.for {{.*}} step %c6_i64
func.func @twelve_rows(%x: memref<?x512xf32>, %w: memref<32x16x16x1xf32>, %y: memref<?x512xf32>) {
  kron.ksmm ins(%x : memref<?x512xf32>) weights(%w : memref<32x16x16x1xf32>) outs(%y : memref<?x512xf32>)
      {plan = #kron.cpu_plan<tile = 12>}
  return
}
func.func @sixty_four_rows(%x: memref<?x512xf32>, %w: memref<32x16x16x1xf32>, %y: memref<?x512xf32>) {
  kron.ksmm ins(%x : memref<?x512xf32>) weights(%w : memref<32x16x16x1xf32>) outs(%y : memref<?x512xf32>)
      {plan = #kron.cpu_plan<tile = 64>}
  return
}
func.func @thirty_two_rows(%x: memref<?x2048xf32>, %w: memref<32x64x64x1xf32>, %y: memref<?x2048xf32>) {
  kron.ksmm ins(%x : memref<?x2048xf32>) weights(%w : memref<32x64x64x1xf32>) outs(%y : memref<?x2048xf32>)
      {plan = #kron.cpu_plan<tile = 32>}
  return
}
