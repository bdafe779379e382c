// RUN: kron-opt %s --kron-decompose --kron-plan=pair-products --convert-kron-to-vector \
// RUN:   --canonicalize --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-plan="matrix-tiles pair-products" --convert-kron-to-vector \
// RUN:   --canonicalize --split-input-file | FileCheck %s --check-prefix=TILES
// RUN: kron-opt %s --kron-decompose --kron-plan=pair-products --convert-kron-to-vector \
// RUN:   --split-input-file --remarks-filter=kron-emit -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that pairs along p are words of weights as they lie, which are packed like values
// of f32, and of rows that are copied as they lie; that one instruction adds up both products
// of a pair, over half as many steps; and that two vectors of results are rounded to a line.
// Matrix tiles take the product themselves.
// CHECK-LABEL: func.func @contiguous(
// CHECK-SAME: kron.shared_bytes = 16384 : i64
// CHECK-LABEL: func.func private @contiguous_fused(
// CHECK-NOT: vector.fma
// CHECK: vector.bitcast %{{.*}} : vector<16xf32> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK: llvm.store {{.*}} : vector<32xi16>
// TILES-LABEL: func.func private @contiguous_fused(
// TILES: llvm.x86.tdpbf16ps
// TILES-NOT: dpbf16ps.512
// REMARK: Pairs=true
func.func @contiguous(%x: memref<96x128xbf16>, %w: memref<1x64x128x1xbf16>, %y: memref<96x64xbf16>) {
  kron.ksmm ins(%x : memref<96x128xbf16>) weights(%w : memref<1x64x128x1xbf16>) outs(%y : memref<96x64xbf16>)
  return
}

// -----

// Verify that one shuffle makes pairs of rows of four positions, of weights and of rows; and
// that there are none beside matrix tiles.
// CHECK-LABEL: func.func @short_rows(
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, 16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31] : vector<32xi16>, vector<32xi16>
// CHECK-LABEL: func.func private @short_rows_fused(
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, 16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31] : vector<32xi16>, vector<32xi16>
// CHECK: dpbf16ps.512
// TILES-LABEL: func.func private @short_rows_fused(
// TILES-NOT: dpbf16ps
// TILES: vector.fma
// REMARK: Pairs=true
func.func @short_rows(%x: memref<96x64xbf16>, %w: memref<1x16x16x4xbf16>, %y: memref<96x64xbf16>) {
  kron.ksmm ins(%x : memref<96x64xbf16>) weights(%w : memref<1x16x16x4xbf16>) outs(%y : memref<96x64xbf16>)
  return
}

// -----

// Verify that two rows of columns take turns, the last ones under a mask.
// CHECK-LABEL: func.func private @columns_fused(
// CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: llvm.intr.masked.store {{.*}} : vector<16xi32>
// CHECK: dpbf16ps.512
// REMARK: Pairs=true
func.func @columns(%x: memref<64x41xbf16>, %w: memref<1x16x16x4xbf16>, %y: memref<64x41xbf16>) {
  kron.ksmm ins(%x : memref<64x41xbf16>) weights(%w : memref<1x16x16x4xbf16>) outs(%y : memref<64x41xbf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that weights for few rows are words as they lie: multiplied at once where both
// products belong to one sum, of rows that are made words again, and full vectors of results
// rounded by an instruction; brought together by a shuffle where d is 4, and from two rows where
// d is 64; taken apart where p is odd, since a zero beside each number of X would make infinite
// weights of the other one a NaN.
// CHECK-LABEL: func.func private @few_rows_fused(
// CHECK: arith.shrui {{.*}} : vector<16xi32>
// CHECK: arith.ori {{.*}} : vector<16xi32>
// CHECK: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK-NOT: arith.shli
// CHECK: dpbf16ps.512
// CHECK-LABEL: func.func private @one_row_fused(
// CHECK: dpbf16ps.512
// CHECK: cvtneps2bf16.512
// CHECK-LABEL: func.func private @one_row_of_groups_fused(
// CHECK: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: vector.shuffle {{.*}} [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, {{.*}} : vector<32xi16>, vector<32xi16>
// CHECK: dpbf16ps.512
// CHECK-LABEL: func.func private @one_long_row_fused(
// CHECK: llvm.alloca %c544_i64 x f32
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: vector.shuffle {{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 8, 40, 9, 41, {{.*}} : vector<32xi16>, vector<32xi16>
// CHECK: vector.shuffle {{.*}} [4, 36, 5, 37, 6, 38, 7, 39, 12, 44, 13, 45, {{.*}} : vector<32xi16>, vector<32xi16>
// CHECK: dpbf16ps.512
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23] : vector<16xf32>, vector<16xf32>
// CHECK-LABEL: func.func private @one_row_of_odd_groups_fused(
// CHECK-NOT: dpbf16ps
// CHECK: arith.shli
// CHECK: vector.fma
// REMARK-COUNT-5: Pairs=false
func.func @few_rows(%x: memref<8x128xbf16>, %w: memref<1x64x128x1xbf16>, %y: memref<8x64xbf16>) {
  kron.ksmm ins(%x : memref<8x128xbf16>) weights(%w : memref<1x64x128x1xbf16>) outs(%y : memref<8x64xbf16>)
  return
}
func.func @one_row(%x: memref<1x128xbf16>, %w: memref<1x64x128x1xbf16>, %y: memref<1x64xbf16>) {
  kron.ksmm ins(%x : memref<1x128xbf16>) weights(%w : memref<1x64x128x1xbf16>) outs(%y : memref<1x64xbf16>)
  return
}
func.func @one_row_of_groups(%x: memref<1x256xbf16>, %w: memref<1x64x64x4xbf16>, %y: memref<1x256xbf16>) {
  kron.ksmm ins(%x : memref<1x256xbf16>) weights(%w : memref<1x64x64x4xbf16>) outs(%y : memref<1x256xbf16>)
  return
}
func.func @one_long_row(%x: memref<1x1024xbf16>, %w: memref<1x8x16x64xbf16>, %y: memref<1x512xbf16>) {
  kron.ksmm ins(%x : memref<1x1024xbf16>) weights(%w : memref<1x8x16x64xbf16>) outs(%y : memref<1x512xbf16>)
  return
}
func.func @one_row_of_odd_groups(%x: memref<1x260xbf16>, %w: memref<1x64x65x4xbf16>, %y: memref<1x256xbf16>) {
  kron.ksmm ins(%x : memref<1x260xbf16>) weights(%w : memref<1x64x65x4xbf16>) outs(%y : memref<1x256xbf16>)
  return
}

// -----

// Verify that an odd p ends with a word of one element, as which the last one is stored behind
// the words of rows as they lie, and behind those of the weights; and, where rows of four
// positions are shuffled, or those of columns take turns, with zeros beside it.
// CHECK-LABEL: func.func @odd(
// CHECK: %[[LAST:.*]] = arith.extui %{{.*}} : i16 to i32
// CHECK: llvm.store %[[LAST]]
// CHECK-LABEL: func.func private @odd_fused(
// CHECK: %[[LAST:.*]] = arith.extui %{{.*}} : i16 to i32
// CHECK: llvm.store %[[LAST]]
// CHECK-NOT: vector.fma
// CHECK: dpbf16ps.512
// CHECK-NOT: vector.fma
// CHECK-LABEL: func.func private @odd_short_rows_fused(
// CHECK: llvm.intr.masked.load {{.*}} : (!llvm.ptr, vector<32xi1>, vector<32xi16>) -> vector<32xi16>
// CHECK: dpbf16ps.512
// CHECK-LABEL: func.func private @odd_columns_fused(
// CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: vector.interleave %{{.*}}, %[[ZERO:.*]] : vector<16xi16> -> vector<32xi16>
// CHECK: dpbf16ps.512
// REMARK-COUNT-3: Pairs=true
func.func @odd(%x: memref<96x15xbf16>, %w: memref<1x16x15x1xbf16>, %y: memref<96x16xbf16>) {
  kron.ksmm ins(%x : memref<96x15xbf16>) weights(%w : memref<1x16x15x1xbf16>) outs(%y : memref<96x16xbf16>)
  return
}
func.func @odd_short_rows(%x: memref<96x60xbf16>, %w: memref<1x16x15x4xbf16>, %y: memref<96x64xbf16>) {
  kron.ksmm ins(%x : memref<96x60xbf16>) weights(%w : memref<1x16x15x4xbf16>) outs(%y : memref<96x64xbf16>)
  return
}
func.func @odd_columns(%x: memref<60x41xbf16>, %w: memref<1x16x15x4xbf16>, %y: memref<64x41xbf16>) {
  kron.ksmm ins(%x : memref<60x41xbf16>) weights(%w : memref<1x16x15x4xbf16>) outs(%y : memref<64x41xbf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that the first of several factors takes pairs, of a transposed X too, whose rows take
// turns; the second one multiplies f32 as they are. A factor that fills vectors only with
// several fibres does not.
// CHECK-LABEL: func.func private @two_factors_fused(
// CHECK-NOT: vector.fma
// CHECK: dpbf16ps.512
// CHECK: vector.fma
// CHECK-NOT: dpbf16ps.512
// CHECK-LABEL: func.func private @transposed_fused(
// CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: dpbf16ps.512
// CHECK: vector.fma
// CHECK-LABEL: func.func private @small_factors_fused(
// CHECK-NOT: dpbf16ps
// REMARK-COUNT-2: Pairs=true
// REMARK: Pairs=false
func.func @two_factors(%x: memref<96x4096xbf16>, %f: memref<64x64xbf16>, %y: memref<96x4096xbf16>) {
  kron.mkm ins(%x : memref<96x4096xbf16>) factors(%f, %f : memref<64x64xbf16>, memref<64x64xbf16>) outs(%y : memref<96x4096xbf16>)
  return
}
func.func @transposed(%x: memref<4096x96xbf16>, %f: memref<64x64xbf16>, %y: memref<96x4096xbf16>) {
  kron.mkm ins(T(%x) : memref<4096x96xbf16>) factors(%f, %f : memref<64x64xbf16>, memref<64x64xbf16>) outs(%y : memref<96x4096xbf16>)
  return
}
func.func @small_factors(%x: memref<96x64xbf16>, %f: memref<8x8xbf16>, %y: memref<96x64xbf16>) {
  kron.mkm ins(%x : memref<96x64xbf16>) factors(%f, %f : memref<8x8xbf16>, memref<8x8xbf16>) outs(%y : memref<96x64xbf16>)
  return
}

// -----

// Verify that a processor with matrix tiles rounds results by an instruction where multiply-adds make them, too: no
// comparison looks for NaNs. One without multiplies pairs.
// CHECK-LABEL: func.func private @rounded_fused(
// CHECK: dpbf16ps.512
// REMARK: Pairs=true
// TILES-LABEL: func.func private @rounded_fused(
// TILES-NOT: arith.cmpf
// TILES: vector.fma
// TILES-NOT: arith.cmpf
// TILES: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"
// TILES-NOT: arith.cmpf
// TILES: return
func.func @rounded(%x: memref<96x84xbf16>, %w: memref<1x8x4x21xbf16>, %y: memref<96x168xbf16>) {
  kron.ksmm ins(%x : memref<96x84xbf16>) weights(%w : memref<1x8x4x21xbf16>) outs(%y : memref<96x168xbf16>)
  return
}

// -----

// Verify that there are no pairs where only multiply-adds of IEEE are allowed, and of f16.
// CHECK-LABEL: func.func @ieee(
// CHECK-NOT: avx512bf16
// REMARK-COUNT-2: Pairs=false
func.func @ieee(%x: memref<96x64xbf16>, %f: memref<64x64xbf16>, %y: memref<96x64xbf16>) {
  kron.mkm ins(%x : memref<96x64xbf16>) factors(%f : memref<64x64xbf16>) outs(%y : memref<96x64xbf16>) {precision = #kron.precision<ieee>}
  return
}
func.func @halves(%x: memref<96x64xf16>, %f: memref<64x64xf16>, %y: memref<96x64xf16>) {
  kron.mkm ins(%x : memref<96x64xf16>) factors(%f : memref<64x64xf16>) outs(%y : memref<96x64xf16>)
  return
}
