// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Races of warps that multiply blocks: a test per rule.

gpu.module @kron_gpu {
  gpu.func @load_c10(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      %g = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.barrier of_block
        tile.exchange %c to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.barrier
      %g = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
        tile.exchange %c to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12_shares(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12_groups(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3_next(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.barrier
      %g = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.barrier of_block
        tile.exchange %c to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c18(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2, cluster = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %q = tile.prepare %f residuals split : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.barrier
      %g = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.barrier of_block
        tile.exchange %c to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] split {
        // expected-error @+1 {{reads what the other CTA has written: expects a tile.barrier cluster in between}}
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %q along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c19(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2, cluster = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for_blocks %b of [2, 32, 32] by [1, 32, 32] split {
      // expected-error @+1 {{reads what the other CTA has, which may have ended: expects a tile.barrier cluster at the end}}
      %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x32x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c5(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2, cluster = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for_blocks %b of [2, 32, 32] by [1, 32, 32] split {
      %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x32x32xf32, mma.m16n8k8.tf32>
      tile.barrier of_block
      // expected-error @+1 {{overwrites what the other CTA may still read: expects a tile.barrier cluster in between}}
      tile.exchange %v to %w[%b] along [1] : !tile.fragment<1x1x32x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    tile.barrier cluster
    gpu.return
  }
}
