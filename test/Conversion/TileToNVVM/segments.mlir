// RUN: kron-opt %s --split-input-file --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s

// Verify that groups of threads share the part of the factor that a segment needs: all meet before it is replaced and
// once it has arrived, two copies of data being under way by then; that each group meets by itself between pieces; and that
// tiles of a segment carry nothing.
// CHECK-LABEL: llvm.func @segments(
// CHECK:         scf.for
// CHECK:           nvvm.barrier0
// CHECK:           scf.for %{{.*}} = %c0_i32 to %c2_i32
// CHECK:             cp.async.cg.shared.global.L2::128B [$0], [$1], 16
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.for %{{.*}} = %c0_i32 to %c2_i32
// CHECK:             nvvm.cp.async.commit.group
// CHECK:           nvvm.cp.async.wait.group 2
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c1_i32  : i32
// CHECK:             scf.for %{{.*}} = %c0_i32 to %c2_i32
// CHECK-NEXT:          nvvm.cp.async.wait.group 1
// CHECK:               nvvm.barrier id = %{{.*}} number_of_threads = %c64_i32
// CHECK-COUNT-24:      mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:             nvvm.vote.sync any
// CHECK-NOT:       nvvm.barrier0
// CHECK:         llvm.return
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @segments(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2, groups = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      %b = tile.wait %k pending 2 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}
func.func @segments_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>
  %f = tile.view %b1 : !llvm.ptr -> !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>
  %y = tile.view %b2 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
  tile.launch @kron_gpu::@segments tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, i32)
  return
}

// -----

// Verify that 16-bit values of the part are put in pairs once it has arrived, in place, and that lanes put together pairs
// of data only.
// CHECK-LABEL: llvm.func @pairs(
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         scf.for
// CHECK-COUNT-16:  prmt.b32
// CHECK:           llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c1_i32  : i32
// CHECK-COUNT-8:   prmt.b32
// CHECK-NEXT:      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         llvm.return
#p = #tile.pieces<sizes = [16, 1, 2, 128], block = [16, 1, 2, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @pairs(%x: !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, %f: !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, %y: !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x128xf16>>
    %r = tile.alloc : !tile.ring<3 of <16x128xf16>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.buffer<2x32x128xf16>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.pair_chunks %b pieces #p : !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.ring<3 of <16x128xf16>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.ring<3 of <16x128xf16>> kept !tile.buffer<2x32x128xf16> -> !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>
        tile.store %s to %y[%t] along [3] box [16, 1, 2, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>, !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>
      }
      tile.release %b : !tile.buffer<2x32x128xf16>
    }
    gpu.return
  }
}
func.func @pairs_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>
  %f = tile.view %b1 : !llvm.ptr -> !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>
  %y = tile.view %b2 sizes(%n) : !llvm.ptr -> !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>
  tile.launch @kron_gpu::@pairs tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>, i32)
  return
}

// -----

// Verify that pieces of a factor that warpgroups read are packed one by one, by way of the ring, and that the only slot of
// that is filled again once the piece is in registers.
// CHECK-LABEL: llvm.func @packed(
// CHECK:         nvvm.barrier0
// CHECK:         scf.for %{{.*}} = %c0_i32 to %c2_i32
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      nvvm.cp.async.wait.group 0
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:           nvvm.barrier0
// CHECK:         fence.proxy.async
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// CHECK:           nvvm.barrier0
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           wgmma.wait_group.sync.aligned 0
// CHECK:           nvvm.vote.sync any
// CHECK:         llvm.return
#p = #tile.pieces<sizes = [64, 1, 1, 64], block = [64, 1, 1, 32], axes = [0, 1, 2, 3], warps = 4, bytes = 16, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 4], warps = [4, 1, 1], results = chunks, split = true, narrow = true, warpgroups = true>>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @packed(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x2048xf32>>
    %r = tile.alloc : !tile.ring<1 of <64x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x2048xf32>> -> !tile.buffer<2x2048xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x2048xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x2048xf32>> -> !tile.buffer<2x2048xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<1 of <64x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<1 of <64x32xf32>> kept !tile.buffer<2x2048xf32> -> !tile.fragment<1x64x1x1x32xf32, wgmma.m64k8.tf32>
        tile.store %s to %y[%t] along [3] box [64, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x64x1x1x32xf32, wgmma.m64k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x2048xf32>
    }
    gpu.return
  }
}
func.func @packed_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>
  %f = tile.view %b1 : !llvm.ptr -> !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>
  %y = tile.view %b2 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
  tile.launch @kron_gpu::@packed tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, i32)
  return
}

// -----

// Verify that the factor of the next piece is packed while this one is multiplied, and becomes visible at its barrier.
// CHECK-LABEL: llvm.func @ahead(
// CHECK-COUNT-2: nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 2
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         fence.proxy.async
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %c0_i32) -> (i32)
// CHECK:           nvvm.cp.async.wait.group 1
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// CHECK:           llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:           wgmma.wait_group.sync.aligned 0
// CHECK:           fence.proxy.async
// CHECK:         llvm.return
#p = #tile.pieces<sizes = [64, 1, 1, 64], block = [64, 1, 1, 32], axes = [0, 1, 2, 3], warps = 4, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 4], warps = [4, 1, 1], results = chunks, split = true, narrow = true, warpgroups = true>>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @ahead(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <64x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    %w = tile.alloc : !tile.buffer<4096xf32>
    tile.copy_pieces %x to %r and %f to %q pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <64x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %w along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <64x32xf32>> and !tile.ring<3 of <32x32xf32>> sums !tile.buffer<4096xf32> -> !tile.fragment<1x64x1x1x32xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [3] box [64, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x64x1x1x32xf32, wgmma.m64k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}
func.func @ahead_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>
  %f = tile.view %b1 : !llvm.ptr -> !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>
  %y = tile.view %b2 sizes(%n) : !llvm.ptr -> !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
  tile.launch @kron_gpu::@ahead tiles(%n) args(%x, %f, %y, %m : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, i32)
  return
}
