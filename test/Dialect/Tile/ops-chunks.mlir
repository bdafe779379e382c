// RUN: kron-opt %s -split-input-file | kron-opt -split-input-file | FileCheck %s

// Verify that pieces of chunks are written as they are read.
// CHECK-LABEL: gpu.func @groups(
// CHECK:         %[[RING:.*]] = tile.alloc : !tile.ring<3 of <16x32xf32>>
// CHECK-NEXT:    %[[BESIDE:.*]] = tile.alloc : !tile.ring<3 of <32x32xf32>>
// CHECK-NEXT:    tile.copy_pieces %{{.*}} to %[[RING]] and %{{.*}} to %[[BESIDE]] pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> :
// CHECK-NEXT:    tile.for %[[T:.*]] to
// CHECK-NEXT:      %[[SUMS:.*]] = tile.contract_pieces %{{.*}}[%[[T]]], %{{.*}} in %[[RING]] and %[[BESIDE]] along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : {{.*}} -> <1x16x1x1x32xf32, mma.m16n8k8.tf32>
// CHECK-NEXT:      tile.store %[[SUMS]] to %{{.*}}[%[[T]]] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3]
gpu.module @kron_gpu {
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

// -----

// Verify the same of chunks along rows, of a factor whose strides are open, and of warps that
// share K and leave their sums in a buffer, of few rows.
// CHECK-LABEL: gpu.func @rows(
// CHECK:         tile.copy_pieces {{.*}} chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], along_rows = true, order = [1, 0, 3, 2]>> :
gpu.module @kron_gpu {
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

// -----

// CHECK-LABEL: gpu.func @sharing(
// CHECK:         %[[GIVEN:.*]] = tile.alloc : !tile.buffer<256xf32>
// CHECK:         tile.contract_pieces {{.*}} sums %[[GIVEN]] along 3 pieces {{.*}} chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : {{.*}} sums !tile.buffer<256xf32> ->
gpu.module @kron_gpu {
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
