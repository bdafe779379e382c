// RUN: kron-opt %s -split-input-file | kron-opt -split-input-file | FileCheck %s

// Verify that steps whose factors stay in shared memory round-trip: groups of threads share them, and K of the second
// one ends within a piece.
// CHECK-LABEL: gpu.func @kept(
// CHECK:       tile.clear %{{.*}} : <16x40xf16>
// CHECK:       tile.copy_step %{{.*}}[0] to %[[RING:.*]] : 
// CHECK:       %[[KEPT:.*]] = tile.keep_step %{{.*}} : 
// CHECK:       tile.for_step %[[PART:.*]] of 2 {
// CHECK:       tile.contract_step %{{.*}}[%[[T:.*]], %[[PART]]] from %[[RING]], %{{.*}} in %[[KEPT]] pieces <sizes = [16, 1, 1, 32]
// CHECK:       tile.exchange %{{.*}} to %[[ROWS:.*]][%[[PART]]] along [1] :
// CHECK:       tile.copy_step %{{.*}}[%[[T]] + 1] to %[[RING]] : 
// CHECK:       tile.contract_step %[[ROWS]][%[[T]], %{{.*}}], %{{.*}} in %{{.*}} pieces
// CHECK:       tile.store
gpu.module @kron_gpu {
  gpu.func @kept(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

// Verify steps whose factors come in pieces, in rings that are started a step ahead.
// CHECK-LABEL: gpu.func @streamed(
// CHECK:       tile.copy_step %{{.*}}[0] to %{{.*}} and %{{.*}} to %{{.*}} : 
// CHECK:       tile.copy_step %{{.*}}[%{{.*}} + 0] to %{{.*}} : 
gpu.module @kron_gpu {
  gpu.func @streamed(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %beside = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %later = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring and %f to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>> and !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.ring<2 of <16x32xf16>>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.copy_step %l[%t + 0] to %later : !tile.view<2x16x15xf16, [1, 30, 2]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %beside pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.ring<2 of <16x32xf16>> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring and %f to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>> and !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %later pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.ring<2 of <16x32xf16>> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

// Verify a step whose results are left in rows that are quantized.
// CHECK-LABEL: gpu.func @quantized(
// CHECK:       tile.leave_rows %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}] alpha %{{.*}} bias %{{.*}} activation <relu> :
// CHECK:       tile.load_rows %{{.*}}[%{{.*}}] threads 1 kept 12 bytes 16 : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
gpu.module @kron_gpu {
  gpu.func @quantized(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %rows = tile.alloc : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.leave_rows %s[%p] to %rows[%t] alpha %a bias %b : !tile.view<?x2x1x16xf16, [0, 16, 0, 1]> activation <relu> : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      %v = tile.load_rows %rows[%t] threads 1 kept 12 bytes 16 : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %c : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x32xi8, [32, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}
