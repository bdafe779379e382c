// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --convert-kron-to-vector --canonicalize \
// RUN:   --split-input-file | FileCheck %s

// Verify that a tile prefetches the next one, input and result alike, while it is
// computed, and that results are stored as usual.
// CHECK-LABEL: func.func private @rows_fused
// CHECK: llvm.alloca
// CHECK: scf.for
// CHECK: "llvm.intr.prefetch"
// CHECK-SAME: <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: "llvm.intr.prefetch"
// CHECK-NOT: nontemporal
// CHECK-NOT: llvm.fence
func.func @rows(%x: memref<?x64xf32>, %f: memref<64x64xf32>, %y: memref<?x64xf32>) {
  kron.fused ins(%x, %f : memref<?x64xf32>, memref<64x64xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%t: tensor<?x64xf32>, %a: tensor<64x64xf32>, %o: tensor<?x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x64xf32>) factor(%a [p, q] : tensor<64x64xf32>) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
    kron.yield %1 : tensor<?x64xf32>
  }
  return
}

// -----

// Verify that a tile which is unrolled prefetches lines one by one, between its multiply-adds,
// not for all at once.
// CHECK-LABEL: func.func private @spread_fused
// CHECK: "llvm.intr.prefetch"
// CHECK: vector.fma
// CHECK: "llvm.intr.prefetch"
// CHECK: vector.fma
// CHECK: "llvm.intr.prefetch"
// CHECK: return
func.func @spread(%x: memref<?x4x32xf32>, %f: memref<4x4xf32>, %y: memref<?x4x32xf32>) {
  kron.fused ins(%x, %f : memref<?x4x32xf32>, memref<4x4xf32>) outs(%y : memref<?x4x32xf32>) {
  ^bb0(%t: tensor<?x4x32xf32>, %a: tensor<4x4xf32>, %o: tensor<?x4x32xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x4x32xf32>) factor(%a [p, q] : tensor<4x4xf32>) outs(%o : tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
    kron.yield %1 : tensor<?x4x32xf32>
  }
  return
}

// -----

// Verify that a tile with a loop over p prefetches the same number of lines in every turn, from
// addresses that go with p.
// CHECK-LABEL: func.func private @turns_fused
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.fma
// CHECK: %[[AT:.*]] = llvm.getelementptr
// CHECK: "llvm.intr.prefetch"
// CHECK: vector.fma
// CHECK: scf.yield
func.func @turns(%x: memref<?x32xf32>, %f: memref<32x32xf32>, %y: memref<?x32xf32>) {
  kron.fused ins(%x, %f : memref<?x32xf32>, memref<32x32xf32>) outs(%y : memref<?x32xf32>) {
  ^bb0(%t: tensor<?x32xf32>, %a: tensor<32x32xf32>, %o: tensor<?x32xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x32xf32>) factor(%a [p, q] : tensor<32x32xf32>) outs(%o : tensor<?x32xf32>) -> tensor<?x32xf32>
    kron.yield %1 : tensor<?x32xf32>
  }
  return
}

// -----

// Verify that register tiles of which a tile has more than segments prefetch two lines of a segment
// (1 KB) each: 32 of them take 4 segments, and behind the last line the next segment begins.
// CHECK-LABEL: func.func private @parts_of_segments_fused
// CHECK: %[[SLOT:.*]] = llvm.alloca {{.*}} x !llvm.ptr
// CHECK: %[[POSITION:.*]] = llvm.alloca {{.*}} x i64
// CHECK: llvm.store %c0_i64, %[[POSITION]]
// CHECK: %[[SEGMENT:.*]] = llvm.load %[[SLOT]]
// CHECK: %[[AT:.*]] = llvm.load %[[POSITION]]
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[SEGMENT]][%[[AT]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c128_i64
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[NEXT]], %c1024_i64
// CHECK: %[[STORED:.*]] = arith.select %[[INSIDE]], %[[NEXT]], %c0_i64
// CHECK: llvm.store %[[STORED]], %[[POSITION]]
// CHECK: %[[OTHER:.*]] = llvm.getelementptr %[[SEGMENT]][262144]
// CHECK: %[[GOES_ON:.*]] = arith.select %[[INSIDE]], %[[SEGMENT]], %[[OTHER]]
// CHECK: llvm.store %[[GOES_ON]], %[[SLOT]]
// CHECK: %[[LAST:.*]] = llvm.getelementptr %[[FIRST]][127]
// CHECK: "llvm.intr.prefetch"(%[[LAST]])
// CHECK-NOT: llvm.getelementptr %[[FIRST]][
// CHECK: return
func.func @parts_of_segments(%x: memref<4x65536xf32>, %f: memref<48x4xf32>, %y: memref<48x65536xf32>) {
  kron.fused ins(%x, %f : memref<4x65536xf32>, memref<48x4xf32>) outs(%y : memref<48x65536xf32>)
      attributes {plan = #kron.cpu_plan<tile = 256, steps = [{rows = 6, vectors = 4}]>} {
  ^bb0(%t: tensor<4x65536xf32>, %a: tensor<48x4xf32>, %o: tensor<48x65536xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<4x65536xf32>) factor(%a [q, p] : tensor<48x4xf32>) outs(%o : tensor<48x65536xf32>) -> tensor<48x65536xf32>
    kron.yield %1 : tensor<48x65536xf32>
  }
  return
}

// -----

// Verify that no lines are prefetched where results go that are so large that they
// will be stored with non-temporal stores: nothing is added to where the next input lies, but
// constants. A tile of 64 rows is as much work as is worth four threads.
// CHECK-LABEL: func.func @large
// CHECK: call @kronRtParallelFor(%c128_i64, %c-4_i64,
// CHECK-LABEL: func.func private @large_fused
// CHECK-NOT: llvm.ptrtoint
// CHECK: scf.if
// CHECK: "llvm.intr.prefetch"
// CHECK-NOT: llvm.ptrtoint
// CHECK: nontemporal
func.func @large(%x: memref<8192x64xf32>, %f: memref<64x64xf32>, %y: memref<8192x64xf32>) {
  kron.fused ins(%x, %f : memref<8192x64xf32>, memref<64x64xf32>) outs(%y : memref<8192x64xf32>)
      attributes {plan = #kron.cpu_plan<tile = 64, stream_bytes = 4096>} {
  ^bb0(%a: tensor<8192x64xf32>, %b: tensor<64x64xf32>, %c: tensor<8192x64xf32>):
    %0 = kron.mode_product axis(1) ins(%a : tensor<8192x64xf32>) factor(%b [p, q] : tensor<64x64xf32>) outs(%c : tensor<8192x64xf32>) -> tensor<8192x64xf32>
    kron.yield %0 : tensor<8192x64xf32>
  }
  return
}

// -----

// Verify non-temporal stores of results if the plan says from which size on:
// behind a test of size and alignment, with a fence at the end of a range.
// CHECK-LABEL: func.func @streamed
// CHECK: arith.constant 4096 : i64
// CHECK: llvm.ptrtoint
// CHECK: arith.andi
// CHECK-LABEL: func.func private @streamed_fused
// CHECK: scf.for
// CHECK-NOT: prefetch
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
// CHECK: } else {
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
// CHECK: scf.if
// CHECK: llvm.fence seq_cst
func.func @streamed(%x: memref<?x64xf32>, %f: memref<64x64xf32>, %y: memref<?x64xf32>) {
  kron.fused ins(%x, %f : memref<?x64xf32>, memref<64x64xf32>) outs(%y : memref<?x64xf32>)
      attributes {plan = #kron.cpu_plan<stream_bytes = 4097, prefetch = -1>} {
  ^bb0(%t: tensor<?x64xf32>, %a: tensor<64x64xf32>, %o: tensor<?x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x64xf32>) factor(%a [p, q] : tensor<64x64xf32>) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
    kron.yield %1 : tensor<?x64xf32>
  }
  return
}

// -----

// Verify that results of 16 bits, of which a vector of 256 bits fills a quarter of a line, are stored as usual.
// CHECK-LABEL: func.func private @quarters_of_lines_fused
// CHECK: llvm.store
// CHECK-NOT: nontemporal
// CHECK: return
func.func @quarters_of_lines(%x: memref<64x4x512xf16>, %f: memref<4x4xf16>, %y: memref<64x4x512xf16>) {
  kron.fused ins(%x, %f : memref<64x4x512xf16>, memref<4x4xf16>) outs(%y : memref<64x4x512xf16>) attributes {plan = #kron.cpu_plan<vector_bits = 256, stream_bytes = 4096, staging = 0>} {
  ^bb0(%t: tensor<64x4x512xf16>, %a: tensor<4x4xf16>, %o: tensor<64x4x512xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x4x512xf16>) factor(%a [p, q] : tensor<4x4xf16>) outs(%o : tensor<64x4x512xf16>) -> tensor<64x4x512xf16>
    kron.yield %1 : tensor<64x4x512xf16>
  }
  return
}

// -----

// Verify that rows which end within a vector, but follow each other, go with non-temporal stores from
// a copy of a tile's result in the scratch (two of 48 rows of 480 bytes, which take turns),
// which is whole lines. The copy of the tile before is stored by register tiles, up to 12 lines
// each while there are as many left, and what is left behind them four vectors a turn. The last
// tile may have fewer rows and end within a line; its copy is stored at the end.
// CHECK-LABEL: func.func @ragged
// CHECK-SAME: kron.thread_bytes = 46080 : i64
// CHECK: llvm.ptrtoint
// CHECK-LABEL: func.func private @ragged_fused
// CHECK: scf.if %[[STREAMS:.*]] {
// CHECK: scf.for
// CHECK: %[[LEFT:.*]] = arith.subi
// CHECK: %[[IS_LEFT:.*]] = arith.cmpi sgt, %[[LEFT]], %{{.*}} : i64
// CHECK: scf.if %[[IS_LEFT]] {
// CHECK-COUNT-12: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<8xf64>
// CHECK-NOT: nontemporal
// CHECK: llvm.intr.masked.store
// CHECK: scf.for
// CHECK: scf.if
// CHECK-COUNT-8: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<8xf64>
// CHECK-NOT: nontemporal
// CHECK: scf.for {{.*}} step %c32_i64
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<8xf64>
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<8xf64>
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK: llvm.intr.masked.store
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK: scf.if %[[STREAMS]]
// CHECK-COUNT-5: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<8xf64>
// CHECK: llvm.fence seq_cst
func.func @ragged(%x: memref<?x60xf64>, %f: memref<60x60xf64>, %y: memref<?x60xf64>) {
  kron.fused ins(%x, %f : memref<?x60xf64>, memref<60x60xf64>) outs(%y : memref<?x60xf64>)
      attributes {plan = #kron.cpu_plan<stream_bytes = 4097>} {
  ^bb0(%t: tensor<?x60xf64>, %a: tensor<60x60xf64>, %o: tensor<?x60xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x60xf64>) factor(%a [p, q] : tensor<60x60xf64>) outs(%o : tensor<?x60xf64>) -> tensor<?x60xf64>
    kron.yield %1 : tensor<?x60xf64>
  }
  return
}

// -----

// Verify that there are no non-temporal stores where such rows lie apart.
// CHECK-LABEL: func.func private @apart_fused
// CHECK-NOT: nontemporal
func.func @apart(%x: memref<?x60xf64>, %f: memref<60x60xf64>, %y: memref<?x60xf64, strided<[64, 1]>>) {
  kron.fused ins(%x, %f : memref<?x60xf64>, memref<60x60xf64>) outs(%y : memref<?x60xf64, strided<[64, 1]>>)
      attributes {plan = #kron.cpu_plan<stream_bytes = 4097>} {
  ^bb0(%t: tensor<?x60xf64>, %a: tensor<60x60xf64>, %o: tensor<?x60xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x60xf64>) factor(%a [p, q] : tensor<60x60xf64>) outs(%o : tensor<?x60xf64>) -> tensor<?x60xf64>
    kron.yield %1 : tensor<?x60xf64>
  }
  return
}

// -----

// Verify that a tile which is no whole lines does not either: 63 rows of 480 bytes.
// CHECK-LABEL: func.func private @lines_fused
// CHECK-NOT: nontemporal
func.func @lines(%x: memref<6300x60xf64>, %f: memref<60x60xf64>, %y: memref<6300x60xf64>) {
  kron.fused ins(%x, %f : memref<6300x60xf64>, memref<60x60xf64>) outs(%y : memref<6300x60xf64>)
      attributes {plan = #kron.cpu_plan<tile = 63, stream_bytes = 4097>} {
  ^bb0(%t: tensor<6300x60xf64>, %a: tensor<60x60xf64>, %o: tensor<6300x60xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<6300x60xf64>) factor(%a [p, q] : tensor<60x60xf64>) outs(%o : tensor<6300x60xf64>) -> tensor<6300x60xf64>
    kron.yield %1 : tensor<6300x60xf64>
  }
  return
}

// -----

// Verify that results of several factors go with non-temporal stores from a copy even where their
// rows are whole lines: all factors of the next tile have time for that.
// CHECK-LABEL: func.func @two
// CHECK-SAME: kron.thread_bytes = 12288 : i64
// CHECK-LABEL: func.func private @two_fused
// CHECK: scf.for
// CHECK: scf.if
// CHECK: nontemporal
// CHECK: scf.if %[[STREAMS:.*]] {
// CHECK: nontemporal
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK: scf.if %[[STREAMS]]
// CHECK: nontemporal
func.func @two(%x: memref<?x256xf32>, %f: memref<16x16xf32>, %y: memref<?x256xf32>) {
  kron.mkm ins(%x : memref<?x256xf32>) factors(%f, %f : memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<?x256xf32>)
      {plan = #kron.cpu_plan<stream_bytes = 4097>}
  return
}

// -----

// Verify that tiles of columns, whose results are pieces of many rows, are stored by the
// last factor with non-temporal stores: the copy between both factors is all that the scratch holds.
// CHECK-LABEL: func.func @streamed_columns
// CHECK-SAME: kron.thread_bytes = 32768 : i64
// CHECK-LABEL: func.func private @streamed_columns_fused
// CHECK-NOT: scf.if
// CHECK: scf.if %[[STREAMS:.*]] {
// CHECK: nontemporal
// CHECK: } else {
// CHECK: scf.if %[[STREAMS]]
// CHECK-NOT: nontemporal
// CHECK: llvm.fence seq_cst
func.func @streamed_columns(%x: memref<64x512xf32>, %f: memref<8x8xf32>, %y: memref<64x512xf32>) {
  kron.kmm ins(%x : memref<64x512xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<64x512xf32>)
      {plan = #kron.cpu_plan<stream_bytes = 4097>}
  return
}

// -----

// Verify that a tile takes as many blocks of a Kronecker-sparse factor as leave whole lines in
// a row, four of 48 bytes each, and that these three lines of each of its 16 rows are stored
// from a copy, with non-temporal stores, as soon as all four are there.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: kron.thread_bytes = 3072 : i64
// CHECK-LABEL: func.func private @blocks_fused
// CHECK: scf.if %[[STREAMS:.*]] {
// CHECK: scf.for {{.*}} to %c4_i64
// CHECK-NOT: nontemporal
// CHECK: llvm.intr.masked.store
// CHECK: scf.for
// CHECK-COUNT-3: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
// CHECK-NOT: nontemporal
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK: scf.if %[[STREAMS]]
// CHECK-NEXT: llvm.fence seq_cst
func.func @blocks(%x: memref<?x64xf32>, %w: memref<8x12x8x1xf32>, %y: memref<?x96xf32>) {
  kron.ksmm ins(%x : memref<?x64xf32>) weights(%w : memref<8x12x8x1xf32>) outs(%y : memref<?x96xf32>)
      {plan = #kron.cpu_plan<tile = 16, stream_bytes = 4097>}
  return
}

// -----

// Verify that eight blocks are as many lines of bf16, which are copied as they are, as words.
// CHECK-LABEL: func.func private @half_blocks_fused
// CHECK: scf.if %[[STREAMS:.*]] {
// CHECK: scf.for {{.*}} to %c8_i64
// CHECK: llvm.intr.masked.store {{.*}} vector<16xi16>
// CHECK: scf.for
// CHECK-COUNT-3: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
// CHECK-NOT: nontemporal
// CHECK: scf.if %[[STREAMS]]
// CHECK-NEXT: llvm.fence seq_cst
func.func @half_blocks(%x: memref<?x64xbf16>, %w: memref<8x12x8x1xbf16>, %y: memref<?x96xbf16>) {
  kron.ksmm ins(%x : memref<?x64xbf16>) weights(%w : memref<8x12x8x1xbf16>) outs(%y : memref<?x96xbf16>)
      {plan = #kron.cpu_plan<tile = 16, stream_bytes = 4097>}
  return
}

// -----

// Verify that blocks are tiles of their own where such numbers of them are not all (three of
// 48 bytes), where results are known to be too small, and where more than 16 multiply-adds
// belong to one.
// CHECK-LABEL: func.func private @three_blocks_fused
// CHECK-NOT: nontemporal
// CHECK-LABEL: func.func private @small_blocks_fused
// CHECK-NOT: nontemporal
// CHECK-NOT: to %c4_i64
// CHECK-LABEL: func.func private @deep_blocks_fused
// CHECK-NOT: nontemporal
func.func @three_blocks(%x: memref<?x24xf32>, %w: memref<3x12x8x1xf32>, %y: memref<?x36xf32>) {
  kron.ksmm ins(%x : memref<?x24xf32>) weights(%w : memref<3x12x8x1xf32>) outs(%y : memref<?x36xf32>)
      {plan = #kron.cpu_plan<tile = 16, stream_bytes = 4097>}
  return
}
func.func @small_blocks(%x: memref<32x64xf32>, %w: memref<8x12x8x1xf32>, %y: memref<32x96xf32>) {
  kron.ksmm ins(%x : memref<32x64xf32>) weights(%w : memref<8x12x8x1xf32>) outs(%y : memref<32x96xf32>)
      {plan = #kron.cpu_plan<tile = 16, stream_bytes = 20481>}
  return
}
func.func @deep_blocks(%x: memref<?x136xf32>, %w: memref<8x12x17x1xf32>, %y: memref<?x96xf32>) {
  kron.ksmm ins(%x : memref<?x136xf32>) weights(%w : memref<8x12x17x1xf32>) outs(%y : memref<?x96xf32>)
      {plan = #kron.cpu_plan<tile = 16, stream_bytes = 4097>}
  return
}

// -----

// Verify that columns which start anywhere go with non-temporal stores from a copy, too, if a tile has
// all of them: what a block leaves, 12 rows of 28, is then 21 lines one after the other.
// CHECK-LABEL: func.func @all_columns(
// CHECK-SAME: kron.thread_bytes = 2688 : i64
// CHECK-LABEL: func.func private @all_columns_fused
// CHECK: nontemporal
func.func @all_columns(%x: memref<64x28xf32>, %w: memref<8x12x8x1xf32>, %y: memref<96x28xf32>) {
  kron.ksmm ins(%x : memref<64x28xf32>) weights(%w : memref<8x12x8x1xf32>) outs(%y : memref<96x28xf32>)
      {layout = #kron.layout<batch_last>, plan = #kron.cpu_plan<stream_bytes = 4097>}
  return
}

// -----

// Verify that a transposed input is transposed in registers, 16 parts of four floats at a
// time, which lie side by side in four vectors before two steps of four shuffles, where the
// first step takes vectors of it: those of two fibres of 8.
// CHECK-LABEL: func.func private @transposed_fused
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-8: vector.shuffle {{.*}}, {{.*}} : vector<4xf32>, vector<4xf32>
// CHECK-COUNT-4: vector.shuffle {{.*}}, {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-COUNT-8: vector.shuffle {{.*}}, {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
func.func @transposed(%x: memref<64x8x8xf32, strided<[1, 512, 64]>>, %f: memref<8x8xf32>, %y: memref<64x8x8xf32>) {
  kron.fused ins(%x, %f : memref<64x8x8xf32, strided<[1, 512, 64]>>, memref<8x8xf32>) outs(%y : memref<64x8x8xf32>) {
  ^bb0(%t: tensor<64x8x8xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8x8xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<64x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<64x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    kron.yield %2 : tensor<64x8x8xf32>
  }
  return
}

// -----

// Verify that it stays transposed where that step broadcasts its elements: 32 rows are two
// vectors for every p, stored as they are, and rows of the register tile lie side by side.
// CHECK-LABEL: func.func private @kept_fused
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: %[[V:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK-NEXT: llvm.store %[[V]]
// CHECK-NOT: vector.shuffle
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[1] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.load %[[NEXT]] : !llvm.ptr -> f32
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @kept(%x: memref<64x16xf32, strided<[1, 64]>>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  kron.fused ins(%x, %f : memref<64x16xf32, strided<[1, 64]>>, memref<16x16xf32>) outs(%y : memref<64x16xf32>) {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Verify that 32 columns whose input lies in rows are transposed in slices of 64 elements, and
// that the next slice of each row is prefetched: segments of 256 bytes, a row of 16 KB apart, of
// which every turn of the loop over p prefetches one line, that of the last of 64 bytes: a segment
// that starts within a line ends in one more, while its first is where the slice beside it ends.
// CHECK-LABEL: func.func private @columns_of_rows_fused
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[64] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.store %[[NEXT]], %[[SLOT:.*]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[ROW:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.for %[[P:.*]] = {{.*}} iter_args
// CHECK: %[[TURN:.*]] = arith.divui %[[P]], %c4_i64
// CHECK: %[[SEGMENT:.*]] = arith.divui %[[TURN]], %c4_i64
// CHECK: %[[FROM:.*]] = arith.muli %[[SEGMENT]], %c16384_i64
// CHECK: %[[LINE:.*]] = arith.remui %[[TURN]], %c4_i64
// CHECK: %[[WITHIN:.*]] = arith.muli %[[LINE]], %c64_i64
// CHECK: %[[OFFSET:.*]] = arith.addi %[[FROM]], %[[WITHIN]]
// CHECK: %[[LAST:.*]] = arith.addi %[[OFFSET]], %c63_i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[ROW]][%[[LAST]]]
// CHECK: "llvm.intr.prefetch"(%[[AT]])
// CHECK: scf.yield
func.func @columns_of_rows(%x: memref<64x64x1024xf32, strided<[64, 1, 4096]>>, %f: memref<64x64xf32>, %y: memref<64x64x1024xf32>) {
  kron.fused ins(%x, %f : memref<64x64x1024xf32, strided<[64, 1, 4096]>>, memref<64x64xf32>) outs(%y : memref<64x64x1024xf32>) {
  ^bb0(%a: tensor<64x64x1024xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64x1024xf32>):
    %0 = tensor.empty() : tensor<64x64x1024xf32>
    %1 = kron.mode_product axis(1) ins(%a : tensor<64x64x1024xf32>) factor(%b [q, p] : tensor<64x64xf32>) outs(%0 : tensor<64x64x1024xf32>) -> tensor<64x64x1024xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x1024xf32>) factor(%b [q, p] : tensor<64x64xf32>) outs(%c : tensor<64x64x1024xf32>) -> tensor<64x64x1024xf32>
    kron.yield %2 : tensor<64x64x1024xf32>
  }
  return
}

// -----

// Verify that nothing is prefetched where such columns are a single tile.
// CHECK-LABEL: func.func private @one_tile_fused
// CHECK-NOT: hint = 2
func.func @one_tile(%x: memref<64x64x16xf32, strided<[64, 1, 4096]>>, %f: memref<64x64xf32>, %y: memref<64x64x16xf32>) {
  kron.fused ins(%x, %f : memref<64x64x16xf32, strided<[64, 1, 4096]>>, memref<64x64xf32>) outs(%y : memref<64x64x16xf32>)
      attributes {plan = #kron.cpu_plan<prefetch = 1>} {
  ^bb0(%a: tensor<64x64x16xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64x16xf32>):
    %0 = tensor.empty() : tensor<64x64x16xf32>
    %1 = kron.mode_product axis(1) ins(%a : tensor<64x64x16xf32>) factor(%b [q, p] : tensor<64x64xf32>) outs(%0 : tensor<64x64x16xf32>) -> tensor<64x64x16xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x16xf32>) factor(%b [q, p] : tensor<64x64xf32>) outs(%c : tensor<64x64x16xf32>) -> tensor<64x64x16xf32>
    kron.yield %2 : tensor<64x64x16xf32>
  }
  return
}

// -----

// Verify that a tile that is all there is prefetches nothing, even where the plan does not
// switch that off.
// CHECK-LABEL: func.func private @all_rows_fused
// CHECK-NOT: prefetch
func.func @all_rows(%x: memref<12x64xf32>, %f: memref<64x64xf32>, %y: memref<12x64xf32>) {
  kron.fused ins(%x, %f : memref<12x64xf32>, memref<64x64xf32>) outs(%y : memref<12x64xf32>)
      attributes {plan = #kron.cpu_plan<tile = 12, prefetch = 1>} {
  ^bb0(%a: tensor<12x64xf32>, %b: tensor<64x64xf32>, %c: tensor<12x64xf32>):
    %0 = kron.mode_product axis(1) ins(%a : tensor<12x64xf32>) factor(%b [p, q] : tensor<64x64xf32>) outs(%c : tensor<12x64xf32>) -> tensor<12x64xf32>
    kron.yield %0 : tensor<12x64xf32>
  }
  return
}

// -----

// Verify that strides of the batch, which need not be multiples of the row's, are looked at,
// too, before results go to memory with non-temporal stores.
// CHECK-LABEL: func.func @batch_strides
// CHECK: %[[BASE:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr to i64
// CHECK-COUNT-3: arith.ori
// CHECK-NOT: arith.ori
// CHECK: arith.andi %{{.*}}, %c63_i64
// CHECK: nontemporal
func.func @batch_strides(%x: memref<32x?xf32>, %f: memref<2x3x32x16xf32>, %y: memref<2x3x16x?xf32, strided<[?, ?, ?, 1], offset: ?>>) {
  kron.kmm ins(%x : memref<32x?xf32>) factors(T(%f) : memref<2x3x32x16xf32>) outs(%y : memref<2x3x16x?xf32, strided<[?, ?, ?, 1], offset: ?>>)
    {plan = #kron.cpu_plan<stream_bytes = 1>}
  return
}
