// RUN: kron-opt %s -split-input-file -verify-diagnostics

gpu.module @kron_gpu {
  gpu.func @for_step_c1(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    // expected-error @+1 {{expects to be in a tile.for itself}}
    tile.for_step %p of 2 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_step_c2(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a body with one argument of type index}}
      "tile.for_step"() ({
      ^bb0(%p: index, %q: index):
        tile.yield
      }) {count = 2 : i64} : () -> ()
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_step_c1(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, or in the kernel without one}}
      tile.copy_step %x[1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_step_c2(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %beside = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %later = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring and %f to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>> and !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.ring<2 of <16x32xf16>>
    tile.for %t to %n : i32 {
      tile.barrier
      // expected-error @+1 {{expects the views that a tile.contract_step multiplies in these rings, and all of its rings}}
      tile.copy_step %f[%t + 0] to %later : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.ring<2 of <16x32xf16>>
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

gpu.module @kron_gpu {
  gpu.func @copy_step_c3(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
      // expected-error @+1 {{starts copies to slots that other threads may still read: expects a tile.barrier in front}}
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

gpu.module @kron_gpu {
  gpu.func @keep_step_c1(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects to be in no loop}}
      %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
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

gpu.module @kron_gpu {
  gpu.func @keep_step_c2(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    // expected-error @+1 {{expects one tile.contract_step to multiply by its factor in the buffer, and no other use}}
    %m = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<16x32xf16>
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

gpu.module @kron_gpu {
  gpu.func @clear_c1(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
      // expected-error @+1 {{expects to be in no loop}}
      tile.clear %rows : !tile.buffer<16x40xf16>
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

gpu.module @kron_gpu {
  gpu.func @clear_c2(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    // expected-error @+1 {{expects a buffer from tile.alloc with memory of its own, which nothing has used}}
    tile.clear %rows : !tile.buffer<16x40xf16>
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

gpu.module @kron_gpu {
  gpu.func @clear_c2_reused(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %other = tile.alloc : !tile.buffer<16x40xf16>
    %rows = tile.alloc reuses %other : !tile.buffer<16x40xf16> as : !tile.buffer<16x40xf16>
    // expected-error @+1 {{expects a buffer from tile.alloc with memory of its own}}
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c1(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
        // expected-error @+1 {{expects a part of the tile.for_step that it is in, alone, of the tile of the tile.for around that}}
        %s = tile.contract_step %x[%t, %t] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c1_alone(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %g: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %beside = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %j = tile.keep_step %g : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        // expected-error @+1 {{expects a part of the tile.for_step that it is in, alone, of the tile of the tile.for around that}}
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
        %u = tile.contract_step %x[%t, %p] from %beside, %g in %j pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.copy_step %x[%t + 1] to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_step_c2(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
        // expected-error @+1 {{expects pieces of chunks of 16 bytes of f32, f16 or bf16, of groups, lanes and K, without rows, shift, staged results, warpgroups and warps that share K, but got}}
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1], rows = 8>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c3(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
      tile.for_step %p of 3 {
        // expected-error @+1 {{expects 2 parts, of a view as many of each share, but got 3 of 1 shares}}
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c4(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<16x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        // expected-error @+1 {{expects data of a view alone in '!tile.ring<2 of <16x32xf16>>', and the factor in '!tile.buffer<32x32xf16>' that is kept or, of one share, in '!tile.ring<2 of <16x32xf16>>', but got}}
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c5(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x24xf16>
    tile.clear %rows : !tile.buffer<16x24xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x24xf16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        // expected-error @+1 {{expects a buffer from tile.alloc of 16 rows of 32 elements or more, in chunks of 16 bytes, that a tile.clear has filled, but got}}
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x24xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_step_c5_padded(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
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
        // expected-error @+1 {{in chunks of 16 bytes, that a tile.clear has filled, but got}}
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_step_c6(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
        // expected-error @+1 {{expects the sums of a part with 16 results in place of K, of the accumulation type and atom, and one operation that takes them, but got}}
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x8xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x8xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c6_unused(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
        // expected-error @+1 {{expects the sums of a part with 16 results}}
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c7(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
        // expected-error @+1 {{expects all steps to be turned alike, chunks of the first one along rows if they are, and to twice the tiles of rows of the last one, a power of two in chunks of 16 bytes, but got 0}}
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %m turned 4 pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_step_c8(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
      tile.for_step %q of 1 {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_step_c8_kept(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        // expected-error @+1 {{reads what other threads have copied}}
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c9(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        // expected-error @+1 {{takes pieces from a ring that no tile.copy_step has started since its last turn}}
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

gpu.module @kron_gpu {
  gpu.func @contract_step_c9_again(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    // expected-error @+1 {{starts a ring again that no tile.contract_step has taken the pieces of}}
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
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

gpu.module @kron_gpu {
  gpu.func @exchange_c9(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %other = tile.alloc : !tile.buffer<16x40xf16>
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
        // expected-error @+1 {{expects sums of a part, and rows of as many features of their elements that one other step reads, along 1, but got}}
        tile.exchange %s to %other[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
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

gpu.module @kron_gpu {
  gpu.func @store_c15_step(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
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
        // expected-error @+1 {{expects sums of its part and tile along 2, by 16 bytes, to a view with strides of results of the elements of their factor, but got}}
        tile.store %s[%q] to %y[%t] along [1] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @leave_rows_c1(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %rows = tile.alloc : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        // expected-error @+1 {{expects sums of its part and tile, which is not turned, from tile.contract_step}}
        tile.leave_rows %s[%p] to %rows[%p] alpha %a bias %b : !tile.view<?x2x1x16xf16, [0, 16, 0, 1]> activation <relu> : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
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

// -----

gpu.module @kron_gpu {
  gpu.func @leave_rows_c2(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %rows = tile.alloc : !tile.buffer<16x32xf16, #tile.layout<[36, 1]>>
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        // expected-error @+1 {{expects 16 rows of 32 results of 'f16' in chunks of 16 bytes, but got}}
        tile.leave_rows %s[%p] to %rows[%t] alpha %a bias %b : !tile.view<?x2x1x16xf16, [0, 16, 0, 1]> activation <relu> : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x32xf16, #tile.layout<[36, 1]>>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      %v = tile.load_rows %rows[%t] threads 1 kept 12 bytes 16 : !tile.buffer<16x32xf16, #tile.layout<[36, 1]>> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %c : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x32xi8, [32, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @leave_rows_c3(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x17xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %rows = tile.alloc : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        // expected-error @+1 {{expects a scale of 'f32', and arrays with strides of the results' sizes and of 'f16'}}
        tile.leave_rows %s[%p] to %rows[%t] alpha %a bias %b : !tile.view<?x2x1x17xf16, [0, 16, 0, 1]> activation <relu> : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
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

// -----

gpu.module @kron_gpu {
  gpu.func @leave_rows_c4(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %rows = tile.alloc : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
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

// -----

gpu.module @kron_gpu {
  gpu.func @load_rows_c6(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
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
      // expected-error @+1 {{expects rows of a buffer of two dimensions, in whole segments by 16 bytes, of up to 32 threads, but got}}
      %v = tile.load_rows %rows[%t] threads 1 kept 12 bytes 2 : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %c : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x32xi8, [32, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_rows_c7(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
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
      // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
      %v = tile.load_rows %rows[%t] threads 1 kept 12 bytes 16 : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %c : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x32xi8, [32, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}
