// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify that a tile of rows of 17 is copied as it lies, and put in order; and one of 64 of many
// columns, which is as many segments as it has rows.
// CHECK-LABEL: gpu.func @spread(
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} bytes 16 fill axes [0, 1] box [16, 17] : <?x17xf16, [17, 1]>, <1x280xf16>
// CHECK:         tile.spread %{{.*}} of %{{.*}}[%{{.*}}] to %{{.*}} axes [0, 1] : <1x280xf16>, <?x17xf16, [17, 1]>, <16x17xf16, #tile.layout<[24, 1]>>
gpu.module @kron_gpu {
  gpu.func @spread(%x: !tile.view<?x17xf16, [17, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// CHECK-LABEL: gpu.func @columns(
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} bytes 16 fill axes [0, 1] lines box [5, 64] : <5x2601xf16, [2601, 1]>, <5x72xf16>
gpu.module @kron_columns {
  gpu.func @columns(%x: !tile.view<?x17xf16, [17, 1]>, %c: !tile.view<5x2601xf16, [2601, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <5x72xf16>>
    %tile = tile.alloc : !tile.buffer<5x64xf16, #tile.layout<[72, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <5x72xf16>> -> !tile.buffer<5x72xf16>
    tile.copy %c[0] to %free bytes 16 fill axes [0, 1] lines box [5, 64] : !tile.view<5x2601xf16, [2601, 1]>, !tile.buffer<5x72xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <5x72xf16>> -> !tile.buffer<5x72xf16>
      tile.barrier
      tile.spread %slot of %c[%t] to %tile axes [0, 1] : !tile.buffer<5x72xf16>, !tile.view<5x2601xf16, [2601, 1]>, !tile.buffer<5x64xf16, #tile.layout<[72, 1]>>
      tile.release %slot : !tile.buffer<5x72xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <5x72xf16>> -> !tile.buffer<5x72xf16>
      tile.copy %c[%t + 1] to %next bytes 16 fill axes [0, 1] lines box [5, 64] : !tile.view<5x2601xf16, [2601, 1]>, !tile.buffer<5x72xf16>
    }
    gpu.return
  }
}
