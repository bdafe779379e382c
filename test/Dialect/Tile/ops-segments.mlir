// RUN: kron-opt %s -split-input-file | kron-opt -split-input-file | FileCheck %s

// Verify that segments, and what moves the part of a factor that stays for one, are written as they are read.
// CHECK-LABEL: gpu.func @kept(
// CHECK:         %[[KEPT:.*]] = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<3 of <16x32xf32>>
// CHECK-NEXT:    tile.for_segments %[[SEGMENT:.*]], %[[TILES:.*]] of %{{.*}} parts 2 most 8 {
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      %[[FREE:.*]] = tile.acquire %[[KEPT]]
// CHECK-NEXT:      tile.copy %{{.*}}[%[[SEGMENT]] + 0] to %[[FREE]] bytes 16 pieces <sizes = [16, 1, 1, 64], {{.*}} : <2x1x24x40xf32, [960, 0, 40, 1]>, <2x32x32xf32>
// CHECK-NEXT:      %[[SLOT:.*]] = tile.wait %[[KEPT]] pending 0
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.copy_pieces %{{.*}} to %[[RING]] pieces <
// CHECK-NEXT:      tile.for %[[T:.*]] to %[[TILES]] : i32 {
// CHECK-NEXT:        %[[SUMS:.*]] = tile.contract_pieces %{{.*}}[%[[T]]], %{{.*}} in %[[RING]] kept %[[SLOT]] along 3 pieces <{{.*}} kept !tile.buffer<2x32x32xf32> -> <1x16x1x1x32xf32, mma.m16n8k8.tf32>
// CHECK:           tile.release %[[SLOT]]
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @kept(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

// Verify the same of groups of threads, which start copies of data before the factor has arrived.
// CHECK-LABEL: gpu.func @groups(
// CHECK:         tile.for_segments %{{.*}}, %{{.*}} of %{{.*}} parts 2 {
// CHECK:           tile.copy_pieces
// CHECK-NEXT:      tile.wait %{{.*}} pending 2
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @groups(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2, groups = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 {
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

// -----

// Verify the same of chunks whose values are put in pairs.
// CHECK-LABEL: gpu.func @pairs(
// CHECK:         %[[SLOT:.*]] = tile.wait
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    tile.pair_chunks %[[SLOT]] pieces <{{.*}}, paired = true>> : <2x32x128xf16>
#p = #tile.pieces<sizes = [16, 1, 2, 128], block = [16, 1, 2, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>>
gpu.module @kron_gpu {
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

// -----

// Verify the same of warpgroups, which read packed operands, of pieces that do not go ahead.
// CHECK-LABEL: gpu.func @packed(
// CHECK:         tile.copy {{.*}} pieces <sizes = [64, 1, 1, 64], block = [64, 1, 1, 32], axes = [0, 1, 2, 3], warps = 4, bytes = 16, chunks = <{{.*}}, narrow = true, warpgroups = true>> : {{.*}}, <2x2048xf32>
#p = #tile.pieces<sizes = [64, 1, 1, 64], block = [64, 1, 1, 32], axes = [0, 1, 2, 3], warps = 4, bytes = 16, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 4], warps = [4, 1, 1], results = chunks, split = true, narrow = true, warpgroups = true>>
gpu.module @kron_gpu {
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

// -----

// Verify the same of warpgroups with two packed operands that are prepared in turn.
// CHECK-LABEL: gpu.func @ahead(
// CHECK:         tile.contract_pieces {{.*}} sums %{{.*}} along 3 pieces <{{.*}} sums !tile.buffer<4096xf32> -> <1x64x1x1x32xf32, wgmma.m64k8.tf32>
#p = #tile.pieces<sizes = [64, 1, 1, 64], block = [64, 1, 1, 32], axes = [0, 1, 2, 3], warps = 4, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 4], warps = [4, 1, 1], results = chunks, split = true, narrow = true, warpgroups = true>>
gpu.module @kron_gpu {
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
