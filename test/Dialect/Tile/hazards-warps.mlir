// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Races between warps that keep to shares of a tile, and between two CTAs that share
// one: a test per rule.

gpu.module @kron_gpu {
  gpu.func @load_c10_shares(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier groups 2
    tile.for_boxes %u of 8 together 4 warps 2 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    }
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      %v = tile.load %s[%u] along [0] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c12_shares(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for_boxes %u of 8 together 4 warps 2 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    }
    tile.barrier groups 2
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
      %v = tile.load %s[%u] along [0] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c3_shares(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for_boxes %u of 8 together 4 warps 2 {
      %v = tile.load %s[%u] along [0] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    tile.barrier groups 2
    tile.for_boxes %u of 8 together 4 warps 2 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
      // expected-error @+1 {{overwrites what other threads may still read: expects a tile.barrier in between}}
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12_shares(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %b = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[1] to %b groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier groups 2
    tile.for_boxes %u of 8 together 4 warps 2 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    tile.release %s : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier groups 2
    %c = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{fills what threads of other groups may still read: expects a tile.barrier of them in front}}
    tile.copy %x[2] to %c bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @acquire_c2_shares(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %b = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[1] to %b groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for_boxes %u of 8 together 4 warps 2 {
      %v = tile.load %s[%u] along [0] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    tile.release %s : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier groups 2
    // expected-error @+1 {{takes a slot that may still be read: expects a tile.release of it and a tile.barrier in front}}
    %c = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c18(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for_boxes %u of 8 warps 8 {
      // expected-error @+1 {{reads what the other CTA has written: expects a tile.barrier cluster in between}}
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c18_exchange(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster
    tile.for_boxes %w of 4 warps 4 {
      %v = tile.load %s[%w] along [2] : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
      tile.exchange %v to %s[%w] along [2] : !tile.fragment<1x8x16xf64, dmma.m16n8k8>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    }
    tile.barrier
    tile.for_boxes %u of 8 warps 8 {
      // expected-error @+1 {{reads what the other CTA has written: expects a tile.barrier cluster in between}}
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c5(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster
    tile.for_boxes %u of 8 warps 8 {
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    tile.barrier
    tile.for_boxes %w of 4 warps 4 {
      %v = tile.load %s[%w] along [2] : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
      // expected-error @+1 {{overwrites what the other CTA may still read: expects a tile.barrier cluster in between}}
      tile.exchange %v to %s[%w] along [2] : !tile.fragment<1x8x16xf64, dmma.m16n8k8>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c12_cluster(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster
    tile.for_boxes %u of 8 warps 8 {
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    tile.release %s : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    %b = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[1] to %b part [0, 3] groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{fills positions that may still be read: expects a tile.release of them and a tile.barrier in front}}
    tile.copy %x[1] to %b part [3, 4] groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster
    tile.for_boxes %u of 8 warps 8 {
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
      tile.barrier cluster arrive
    }
    tile.for_boxes %w of 4 warps 4 {
      // expected-error @+1 {{moves what is in shared memory between arriving at a barrier and waiting for it}}
      %v = tile.load %s[%w] along [2] : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4_wait(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    // expected-error @+1 {{expects to arrive once in front of each wait}}
    tile.barrier cluster wait
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4_twice(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    tile.barrier cluster arrive
    // expected-error @+1 {{expects to arrive once in front of each wait}}
    tile.barrier cluster arrive
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4_end(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    // expected-error @+1 {{expects a wait behind it}}
    tile.barrier cluster arrive
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c19(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster
    tile.for_boxes %u of 8 warps 8 {
      // expected-error @+1 {{reads what the other CTA has, which may have ended: expects a tile.barrier cluster at the end}}
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4_whole() kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    tile.barrier cluster arrive
    // expected-error @+1 {{expects to arrive once in front of each wait}}
    tile.barrier cluster
    tile.barrier cluster wait
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4_prepare(%f: !tile.view<8x8xf32, [8, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    tile.barrier cluster arrive
    // expected-error @+1 {{moves what is in shared memory between arriving at a barrier and waiting for it}}
    %p = tile.prepare %f : !tile.view<8x8xf32, [8, 1]> -> !tile.operand<8x8xf32>
    tile.barrier cluster wait
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c4_copies(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster arrive
    // expected-error @+1 {{moves what is in shared memory between arriving at a barrier and waiting for it}}
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster wait
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @if_aligned_c3_arrive(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects both parts to arrive at as many barriers of a cluster as they wait for}}
      tile.if_aligned %x bytes 16 axis 3 {
        tile.barrier cluster arrive
      } else {
      } : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>
      tile.barrier cluster wait
    }
    gpu.return
  }
}
