// RUN: kron-opt %s --split-input-file --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s

// Verify that the first pieces of data and factor are started in a loop, and others in that over K, as far ahead; that
// all threads meet once per piece, of which one less than go ahead may be under way; that the slots that follow are the
// only state of a turn; that the matrix unit multiplies split values, three times; and that sums that are not finite are
// computed again by plain multiply-adds.
// CHECK-LABEL: llvm.func @groups(
// CHECK:         scf.for %{{.*}} = %c0_i32 to %c2_i32
// CHECK:           cp.async.cg.shared.global.L2::128B [$0], [$1], 16
// CHECK:           nvvm.cp.async.commit.group
// CHECK:         scf.for {{.*}} iter_args(%[[SLOT:.*]] = %c0_i32) -> (i32)
// CHECK:           scf.for %{{.*}} = %c0_i32 to %c2_i32
// CHECK-NEXT:        nvvm.cp.async.wait.group 1
// CHECK-NEXT:        nvvm.barrier0
// CHECK:             arith.addi %[[SLOT]], %
// CHECK:             nvvm.cp.async.commit.group
// CHECK-COUNT-3:     mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:           nvvm.vote.sync any
// CHECK:             llvm.intr.fma
// CHECK:             llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:             st.global.cs.v4
// CHECK-NOT:       nvvm.barrier0
// CHECK:           scf.yield %{{.*}} : i32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @groups(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}
func.func @groups_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>
  %f = tile.view %b1  : !llvm.ptr -> !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>
  %y = tile.view %b2 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
  tile.launch @kron_gpu::@groups tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, i32)
  return
}

// -----

// Verify chunks along rows of 16-bit elements: their pairs along K are put together in registers, sums are not looked
// at, and whether the factor is a row-major array is found out in front of the tiles.
// CHECK-LABEL: llvm.func @rows(
// CHECK-DAG:     arith.xori %{{.*}}, %c24_i64
// CHECK-DAG:     arith.xori %{{.*}}, %c960_i64
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         prmt.b32
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT:     nvvm.vote.sync
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @rows(%x: !tile.view<?x2x1x40xf16, [1, ?, 0, ?]>, %f: !tile.view<2x1x24x40xf16, [?, 0, ?, ?]>, %y: !tile.view<?x2x1x24xf16, [1, ?, 0, ?]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <32x128xf16>>
    %q = tile.alloc : !tile.ring<2 of <32x32xf16>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [128, 1, 1, 64], block = [128, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], along_rows = true, order = [1, 0, 3, 2]>> : !tile.view<?x2x1x40xf16, [1, ?, 0, ?]>, !tile.ring<2 of <32x128xf16>> and !tile.view<2x1x24x40xf16, [?, 0, ?, ?]>, !tile.ring<2 of <32x32xf16>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [128, 1, 1, 64], block = [128, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], along_rows = true, order = [1, 0, 3, 2]>> : !tile.view<?x2x1x40xf16, [1, ?, 0, ?]>, !tile.view<2x1x24x40xf16, [?, 0, ?, ?]>, !tile.ring<2 of <32x128xf16>> and !tile.ring<2 of <32x32xf16>> -> !tile.fragment<1x128x1x1x32xf32, mma.m16n8k16>
      tile.store %s to %y[%t] along [3] box [128, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x128x1x1x32xf32, mma.m16n8k16>, !tile.view<?x2x1x24xf16, [1, ?, 0, ?]>
    }
    gpu.return
  }
}
func.func @rows_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) strides(%n, %n) : !llvm.ptr -> !tile.view<?x2x1x40xf16, [1, ?, 0, ?]>
  %f = tile.view %b1  strides(%n, %n, %n) : !llvm.ptr -> !tile.view<2x1x24x40xf16, [?, 0, ?, ?]>
  %y = tile.view %b2 sizes(%n) strides(%n, %n) : !llvm.ptr -> !tile.view<?x2x1x24xf16, [1, ?, 0, ?]>
  tile.launch @kron_gpu::@rows tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x1x40xf16, [1, ?, 0, ?]>, !tile.view<2x1x24x40xf16, [?, 0, ?, ?]>, !tile.view<?x2x1x24xf16, [1, ?, 0, ?]>, i32)
  return
}

// -----

// Verify that the second of two warps that share K leaves its sums in the buffer, and that the first one adds and stores
// them, behind a barrier; and that no more rows are copied than there are.
// CHECK-LABEL: llvm.func @sharing(
// CHECK-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:         scf.if
// CHECK-COUNT-2:   llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         scf.if
// CHECK-COUNT-2:   llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           nvvm.vote.sync any
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @sharing(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <5x64xf32>>
    %q = tile.alloc : !tile.ring<2 of <16x64xf32>>
    %g = tile.alloc : !tile.buffer<256xf32>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<2 of <5x64xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x64xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %g along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <5x64xf32>> and !tile.ring<2 of <16x64xf32>> sums !tile.buffer<256xf32> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 16] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}
func.func @sharing_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>
  %f = tile.view %b1  : !llvm.ptr -> !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>
  %y = tile.view %b2 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
  tile.launch @kron_gpu::@sharing tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, i32)
  return
}
