// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Races between the threads of a CTA: one test per rule.

gpu.module @kron_gpu {
  gpu.func @load_c9(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %s = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %s rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    tile.barrier
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{reads a slot that was not waited for: expects one from tile.wait}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c10(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c11(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.barrier
    tile.release %s : !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{reads a slot behind its tile.release}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @wait_c2(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    // expected-error @+1 {{waits for a slot that no tile.copy fills}}
    %s = tile.wait %r pending 0 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @wait_c3(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    %b = tile.acquire %r : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[1] to %b rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{lets 2 copies be pending, but only 1 were started behind the one that it waits for}}
    %s = tile.wait %r pending 2 : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c8(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %b = tile.alloc : !tile.buffer<4x8x8xf32>
    %r = tile.resize %b : !tile.buffer<4x8x8xf32> -> !tile.buffer<3x8x8xf32>
    // expected-error @+1 {{expects to fill a slot from tile.acquire}}
    tile.copy %x[0] to %r rows 3 bytes 4 : !tile.view<?x8x8xf32>, !tile.buffer<3x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @release_c1(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %s = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{expects a slot from tile.wait}}
    tile.release %s : !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @acquire_c2(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    tile.for %t to %n {
      // expected-error @+1 {{takes a slot that may still be read: expects a tile.release of it and a tile.barrier in front}}
      %b = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.copy %x[%t + 1] to %b rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
      %s = tile.wait %r pending 1 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.barrier
      tile.release %s : !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>
    %p = tile.prepare %f : !tile.view<8x8xf32> -> !tile.operand<8x8xf32>
    tile.barrier
    tile.for_boxes %u of 8 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
      %v = tile.load %s[%u] along [2] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    tile.for_boxes %u of 8 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3_b(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      %w = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x2xf32>
      // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c4(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>
    %q = tile.alloc : !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      %v = tile.load %q[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
      // expected-error @+1 {{writes elements that another operation has written: expects a tile.barrier in between}}
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c4_b(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %q = tile.alloc : !tile.buffer<4x8x8xf32>
    %a = tile.alloc : !tile.buffer<4x8x8xf32>
    %s = tile.alloc reuses %a : !tile.buffer<4x8x8xf32> as : !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      %v = tile.load %q[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      tile.exchange %v to %a[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
      // expected-error @+1 {{writes elements that another operation has written: expects a tile.barrier in between}}
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c2(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %q = tile.alloc : !tile.buffer<4x8x8xf32>
    %s = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.for_boxes %u of 8 {
      %v = tile.load %q[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      // expected-error @+1 {{writes to a slot that is not this turn's: expects one from tile.wait, behind a tile.barrier}}
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c7(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>
    %p = tile.prepare %f : !tile.view<8x8xf32> -> !tile.operand<8x8xf32>
    tile.for_boxes %u of 8 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      // expected-error @+1 {{multiplies by what other threads have copied: expects a tile.barrier behind the tile.prepare}}
      %w = tile.contract %v, %p along 1 atom <fma> block [4, 4] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12_b(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %f: !tile.view<8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>
    %q = tile.alloc : !tile.buffer<4x8x8xf32>
    tile.for %t to %n {
      tile.for_boxes %u of 8 {
        %v = tile.load %q[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
        tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
      }
      // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
      tile.store %s to %y[%t] rows 4 bytes 16 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
    }
    gpu.return
  }
}

// Of a ring along an axis, parts of which are filled.

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12(%x: !tile.view<?x32xf32, [32, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.copy %x[0] to %a bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    %b = tile.acquire %r : !tile.ring<4 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.copy %x[1] to %b part [0, 1] bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    // expected-error @+1 {{expects to fill a slot from position 1 on}}
    tile.copy %x[1] to %b part [0, 2] bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12_read(%x: !tile.view<?x32xf32, [32, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.copy %x[0] to %a bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    %b = tile.acquire %r : !tile.ring<4 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.copy %x[1] to %b bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.barrier
    tile.release %s : !tile.buffer<2x32xf32>
    %c = tile.acquire %r : !tile.ring<4 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    // expected-error @+1 {{fills positions that may still be read: expects a tile.release of them and a tile.barrier in front}}
    tile.copy %x[2] to %c part [0, 1] bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12_part(%x: !tile.view<?x32xf32, [32, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <2x32xf32> along 0>
    %a = tile.acquire %r : !tile.ring<3 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.copy %x[0] to %a bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    %b = tile.acquire %r : !tile.ring<3 of <2x32xf32> along 0> -> !tile.buffer<2x32xf32>
    tile.copy %x[1] to %b part [0, 1] bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    // expected-error @+1 {{fills positions that may still be read: expects a tile.release of them and a tile.barrier in front}}
    tile.copy %x[1] to %b part [1, 2] bytes 4 : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c10_groups(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    tile.for_boxes %u of 64 repeat {
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      %v = tile.load %s[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c10_axis(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    tile.for_boxes %u of 64 repeat {
      %v = tile.load %s[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    tile.for_boxes %u of 64 repeat {
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      %w = tile.load %s[%u] along [0] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12_groups(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier
    tile.for_boxes %u of 64 repeat {
      %v = tile.load %s[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
      tile.exchange %v to %s[%u] along [2] : !tile.fragment<1x2xf32>, !tile.buffer<2x32x2xf32>
    }
    tile.barrier groups 2
    tile.for_boxes %u of 64 repeat {
      %v = tile.load %s[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    tile.for_boxes %u of 64 repeat {
      // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
      %w = tile.load %s[%u] along [0] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3_groups(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier
    tile.for_boxes %u of 64 repeat {
      %w = tile.load %s[%u] along [0] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    tile.barrier groups 2
    tile.for_boxes %u of 64 repeat {
      %v = tile.load %s[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
      // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
      tile.exchange %v to %s[%u] along [2] : !tile.fragment<1x2xf32>, !tile.buffer<2x32x2xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12_groups(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %b = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[1] to %b groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    tile.for_boxes %u of 64 repeat {
      %v = tile.load %s[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    tile.release %s : !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    %c = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[2] to %c part [0, 1] groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    // expected-error @+1 {{fills positions that may still be read: expects a tile.release of them and a tile.barrier in front}}
    tile.copy %x[2] to %c part [1, 2] bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12_all(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %b = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[1] to %b groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    tile.barrier
    tile.for_boxes %u of 64 repeat {
      %w = tile.load %s[%u] along [0] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    tile.release %s : !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    %c = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    // expected-error @+1 {{fills positions that may still be read: expects a tile.release of them and a tile.barrier in front}}
    tile.copy %x[2] to %c groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c10_started(%x: !tile.view<?x32x2xf32, [64, 2, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <2x32x2xf32> along 0>
    %a = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[0] to %a groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %b = tile.acquire %r : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    // All threads copy this position of the second buffer.
    tile.copy %x[1] to %b part [0, 1] bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %s = tile.wait %r pending 1 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.copy %x[1] to %b part [1, 2] groups 2 bytes 4 : !tile.view<?x32x2xf32, [64, 2, 1]>, !tile.buffer<2x32x2xf32>
    %u = tile.wait %r pending 0 : !tile.ring<4 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
    tile.barrier groups 2
    tile.for_boxes %v of 64 repeat {
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      %w = tile.load %u[%v] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c8_read(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.barrier
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      // expected-error @+1 {{fills what threads may have read or written: expects a tile.barrier in front}}
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c8_turn(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      // expected-error @+1 {{fills what threads may have read or written: expects a tile.barrier in front}}
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.barrier
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c8(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c8_exchange(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %g: !tile.view<6x8xf32, [8, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.barrier
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
        tile.exchange %s to %b[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x6xf32>
      }
      tile.for_boxes %w of 32 parts 2 {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %q = tile.multiply %b[%w], %g along 2 : !tile.buffer<4x8x6xf32>, !tile.view<6x8xf32, [8, 1]> -> !tile.fragment<1x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c9(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{multiplies by what other threads have copied: expects a tile.barrier behind the tile.prepare}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3_parts(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %g: !tile.view<8x8xf32, [8, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %b[%u], %g along 1 : !tile.buffer<4x8x6xf32>, !tile.view<8x8xf32, [8, 1]> -> !tile.fragment<2x4xf32>
        // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
        tile.exchange %s to %b[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x6xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c18(%x: !tile.view<?x8x8xf32>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{expects to fill each slot once, in the order of the ring}}
    tile.copy %x[1] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @release_c3(%x: !tile.view<?x8x8xf32>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    %s = tile.wait %r pending 0 : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.release %s : !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{expects to release each slot once, in the order of the ring}}
    tile.release %s : !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @release_c3_order(%x: !tile.view<?x8x8xf32>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    %b = tile.acquire %r : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[1] to %b rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    %s = tile.wait %r pending 1 : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    %t = tile.wait %r pending 0 : !tile.ring<3 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{expects to release each slot once, in the order of the ring}}
    tile.release %t : !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c5(%x: !tile.view<?x8x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<8 of <4x8x8xf32>>
    %a = tile.acquire %r : !tile.ring<8 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %a rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{expects a turn to acquire, fill, wait for and release as many slots of a ring, but it does 2, 2, 1 and 1}}
    tile.for %t to %n {
      %b = tile.acquire %r : !tile.ring<8 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.copy %x[%t + 1] to %b rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
      %c = tile.acquire %r : !tile.ring<8 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.copy %x[%t + 2] to %c rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
      %s = tile.wait %r pending 0 : !tile.ring<8 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.barrier
      tile.release %s : !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c5(%f: !tile.view<8x8xf32, [8, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %a = tile.alloc : !tile.buffer<4x8x8xf32>
    tile.for %t to %n {
      // expected-error @+1 {{overwrites an operand that other threads may still multiply by: expects a tile.barrier in front}}
      %p = tile.prepare %f : !tile.view<8x8xf32, [8, 1]> -> !tile.operand<8x8xf32>
      tile.barrier
      tile.for_boxes %u of 32 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x8x8xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c5(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    tile.barrier groups 4
    // expected-error @+1 {{lets groups of 128 threads meet at barriers where others may still wait in groups of 64: expects a tile.barrier of all in between}}
    tile.barrier groups 2
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c5_all(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    tile.barrier groups 4
    tile.barrier
    tile.barrier groups 2
    tile.barrier groups 8
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c5_block(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    tile.for_blocks %b of [4, 16, 32] by [1, 16, 32] warps 2 {
      tile.barrier of_block
    }
    // expected-error @+1 {{lets groups of 128 threads meet at barriers where others may still wait in groups of 64: expects a tile.barrier of all in between}}
    tile.barrier groups 2
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c5_pieces(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 2, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 2, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
      }
      // expected-error @+1 {{lets groups of 128 threads meet at barriers where others may still wait in groups of 64: expects a tile.barrier of all in between}}
      tile.barrier groups 2
      tile.barrier
    }
    gpu.return
  }
}
