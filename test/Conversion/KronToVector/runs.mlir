// RUN: kron-opt %s --kron-decompose --kron-plan="column-bytes=256 stream-columns-bytes=1048576" --convert-kron-to-vector \
// RUN:   --canonicalize --split-input-file | FileCheck %s

// Verify that one row of a factor with d = 64 is read in its order: for each q two registers
// of all p, with two sums each, which are added up; X is copied once for all q.
// CHECK-LABEL: func.func @one_row(
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @one_row_fused
// CHECK: llvm.alloca %c1040_i64 x f32 {alignment = 64 : i64}
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: scf.for {{.*}} to %c8_i64 step %c1_i64
// CHECK: scf.for {{.*}} to %c4_i64 step %c2_i64
// CHECK-COUNT-32: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-2: arith.addf
// CHECK-NOT: arith.addf
// CHECK-COUNT-2: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
func.func @one_row(%x: memref<1x1024xf32>, %w: memref<1x8x16x64xf32>, %y: memref<1x512xf32>) {
  kron.ksmm ins(%x : memref<1x1024xf32>) weights(%w : memref<1x8x16x64xf32>) outs(%y : memref<1x512xf32>)
  return
}

// -----

// Verify that segments are as long as what they need of X is 16 KB: eight registers of d = 1792.
// CHECK-LABEL: func.func private @long_runs_fused
// CHECK: llvm.alloca %c4112_i64 x f32
// CHECK: scf.for {{.*}} to %c112_i64 step %c16_i64
// CHECK: scf.for {{.*}} to %c16_i64 step %c2_i64
func.func @long_runs(%x: memref<1x28672xf32>, %w: memref<1x8x16x1792xf32>, %y: memref<1x14336xf32>) {
  kron.ksmm ins(%x : memref<1x28672xf32>) weights(%w : memref<1x8x16x1792xf32>) outs(%y : memref<1x14336xf32>)
  return
}

// -----

// Verify that what is left of an axis behind whole registers, five of 37 positions, is the last register of a segment,
// with masked loads and stores; that the copy has room for the 36 rows of a tile if their number is not known, three
// registers of eight p and one behind them; and that blocks of six rows share a packed part of four q.
// CHECK-LABEL: func.func private @rest_of_axis_fused
// CHECK: llvm.alloca %c512_i64 x f32
// CHECK: llvm.alloca %c14400_i64 x f32
// CHECK-NOT: llvm.alloca {{.*}} x f32
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: llvm.intr.masked.load
// CHECK-NOT: vector.fma
// CHECK: scf.for {{.*}} to %c16_i64 step %c4_i64
// CHECK: scf.for {{.*}} to %c8_i64 step %c1_i64
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: scf.for {{.*}} step %c6_i64
// CHECK-COUNT-24: vector.fma
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: llvm.intr.masked.load
// CHECK: vector.fma
// CHECK: llvm.intr.masked.store
func.func @rest_of_axis(%x: memref<?x296xf32>, %w: memref<1x16x8x37xf32>, %y: memref<?x592xf32>) {
  kron.ksmm ins(%x : memref<?x296xf32>) weights(%w : memref<1x16x8x37xf32>) outs(%y : memref<?x592xf32>)
  return
}

// -----

// Verify that weights of bf16 are words of two positions, taken apart beside a copy of X that
// is, too, and that sums of even and odd positions are interleaved.
// CHECK-LABEL: func.func private @pairs_fused
// CHECK: llvm.load {{.*}} -> vector<16xi32>
// CHECK: arith.shli
// CHECK: arith.andi
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xi32>
// CHECK: arith.shli
// CHECK: arith.andi
// CHECK-COUNT-2: vector.fma
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31]
func.func @pairs(%x: memref<1x1024xbf16>, %w: memref<1x8x16x64xbf16>, %y: memref<1x512xbf16>) {
  kron.ksmm ins(%x : memref<1x1024xbf16>) weights(%w : memref<1x8x16x64xbf16>) outs(%y : memref<1x512xbf16>)
  return
}

// -----

// Verify that seven rows take three q of a register at a time, and what is left of eight.
// CHECK-LABEL: func.func private @rows_fused
// CHECK: scf.for {{.*}} to %c6_i64 step %c3_i64
// CHECK-COUNT-21: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.for
// CHECK-COUNT-28: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
func.func @rows(%x: memref<7x1024xf32>, %w: memref<1x8x16x64xf32>, %y: memref<7x512xf32>) {
  kron.ksmm ins(%x : memref<7x1024xf32>) weights(%w : memref<1x8x16x64xf32>) outs(%y : memref<7x512xf32>)
  return
}

// -----

// Verify that rows of which a segment would take more than 256 KB are not taken in segments: no copy
// lies on the stack.
// CHECK-LABEL: func.func private @large_fused
// CHECK-NOT: llvm.alloca {{.*}} x f32
// CHECK: return
func.func @large(%x: memref<8x65536xf32>, %w: memref<1x8x2048x32xf32>, %y: memref<8x256xf32>) {
  kron.ksmm ins(%x : memref<8x65536xf32>) weights(%w : memref<1x8x2048x32xf32>) outs(%y : memref<8x256xf32>)
  return
}

// -----

// Verify that many rows take all eight q of four registers of d, 256 bytes of every p, before
// the next rows; that register tiles prefetch the same of these, one p after the other, or behind
// the last ones for the next one; and that results in such segments are stored with non-temporal stores from
// the size on that holds for columns.
// CHECK-LABEL: func.func private @long_rows_fused
// CHECK: scf.for {{.*}} to %c8_i64 step %c4_i64
// CHECK: scf.for {{.*}} step %c3_i64
// CHECK: %[[BEHIND:.*]] = arith.select %{{.*}}, %c64_i64, %{{.*}} : i64
// CHECK: %[[START:.*]] = llvm.getelementptr %{{.*}}[%[[BEHIND]]]
// CHECK: llvm.store %[[START]], %[[SLOT:.*]] : !llvm.ptr, !llvm.ptr
// CHECK: scf.for {{.*}} to %c4_i64 step %c1_i64
// CHECK: llvm.load %[[SLOT]]
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.for
// CHECK: vector.fma
// CHECK: llvm.intr.prefetch
// CHECK: vector.fma
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
func.func @long_rows(%x: memref<1024x2048xf32>, %w: memref<1x8x16x128xf32>, %y: memref<1024x1024xf32>) {
  kron.ksmm ins(%x : memref<1024x2048xf32>) weights(%w : memref<1x8x16x128xf32>) outs(%y : memref<1024x1024xf32>)
  return
}
