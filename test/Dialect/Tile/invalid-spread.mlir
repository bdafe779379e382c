// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of tiles that are copied as their segments lie: a test each.

gpu.module @kron_gpu {
  gpu.func @spread_c1(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      // expected-error @+1 {{expects a tile of a tile.for}}
      tile.spread %slot of %x[%i] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @spread_c2(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      // expected-error @+1 {{expects elements of type 'f16', but got '!tile.view<?x17xbf16, [17, 1]>'}}
      tile.spread %slot of %b16[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xbf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @spread_c2_axes(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      // expected-error @+1 {{expects an axis of '!tile.view<?x17xf16, [17, 1]>', or -1, for each of 2 dimensions, but got 0, 2}}
      tile.spread %slot of %x[%t] to %tile axes [0, 2] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @spread_c3(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x264xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x264xf16>> -> !tile.buffer<1x264xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [15, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x264xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x264xf16>> -> !tile.buffer<1x264xf16>
      tile.barrier
      // expected-error @+1 {{expects a slot without gaps, of 1 segments of 280 elements, but got '!tile.buffer<1x264xf16>'}}
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x264xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x264xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x264xf16>> -> !tile.buffer<1x264xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [15, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x264xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @spread_c4(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @spread_c5(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      // expected-error @+1 {{fills what threads may have read or written: expects a tile.barrier in front}}
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c20_rounded(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    // expected-error @+1 {{expects copies of 16 bytes of a box, without order and rounded}}
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] rounded box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] rounded box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c20_bytes(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    // expected-error @+1 {{expects copies of 16 bytes of a box, without order and rounded}}
    tile.copy %x[0] to %free bytes 8 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 8 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c20_apart(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    // expected-error @+1 {{expects elements of a box of 16, 17 that lie side by side in '!tile.view<?x17xf16, [34, 2]>'}}
    tile.copy %wide[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [34, 2]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %wide[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [34, 2]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c20_gaps(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16, #tile.layout<[560, 2]>>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16, #tile.layout<[560, 2]>>> -> !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>
    // expected-error @+1 {{expects a slot without gaps, of 1 segments of 280 elements, but got '!tile.buffer<1x280xf16, #tile.layout<[560, 2]>>'}}
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16, #tile.layout<[560, 2]>>> -> !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16, #tile.layout<[560, 2]>>> -> !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16, #tile.layout<[560, 2]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c2_box(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    // expected-error @+1 {{expects a box of known sizes, but got 0, 17}}
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [0, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [0, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c17_box(%x: !tile.view<?x17xf16, [17, 1]>, %b16: !tile.view<?x17xbf16, [17, 1]>, %wide: !tile.view<?x17xf16, [34, 2]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x280xf16>>
    %tile = tile.alloc : !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
    // expected-error @+1 {{expects axes, lines, rounded and box with fill only}}
    tile.copy %x[0] to %free bytes 16 box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x280xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16, #tile.layout<[24, 1]>>
      tile.release %slot : !tile.buffer<1x280xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x280xf16>> -> !tile.buffer<1x280xf16>
      tile.copy %x[%t + 1] to %next bytes 16 box [16, 17] : !tile.view<?x17xf16, [17, 1]>, !tile.buffer<1x280xf16>
    }
    gpu.return
  }
}
