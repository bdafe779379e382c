// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of fibres that warpgroups multiply: a test per rule.

gpu.module @kron_gpu {
  gpu.func @for_fibres_c1(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        // expected-error @+1 {{expects to be in a tile.for}}
        tile.for_fibres %d of [1, 64, 64] along 1 {
        }
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_fibres_c2(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      // expected-error @+1 {{expects a body with one argument of type index}}
      "tile.for_fibres"() <{sizes = array<i64: 64, 64>, along = 0 : i64}> ({
      ^bb0(%d: index, %e: index):
        "tile.yield"() : () -> ()
      }) : () -> ()
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_fibres_c3(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      // expected-error @+1 {{expects a dimension of a tile, but got 3 of 1, 64, 64}}
      tile.for_fibres %d of [1, 64, 64] along 3 {
      }
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_fibres_c4(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 320, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      // expected-error @+1 {{expects whole warpgroups to share a tile, but got 2 groups of 320 threads}}
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c1(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects boxes of the tile.for_fibres that it is in}}
        %s = tile.contract_fibres %slot[%t], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c2(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %d of [1, 64, 64] along 2 {
        // expected-error @+1 {{expects an operand of an atom wgmma from tile.prepare, quads of 64 positions}}
        %e = tile.contract_fibres %slot[%d], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c3(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %d of [2, 64, 64] along 1 {
        // expected-error @+1 {{expects a buffer with room for 2, 64, 64 elements}}
        %e = tile.contract_fibres %slot[%d], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c4(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %d of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects sums of type '!tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>', but got '!tile.fragment<1x64x32xf32, wgmma.m64k8.tf32>'}}
        %e = tile.contract_fibres %slot[%d], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x32xf32, wgmma.m64k8.tf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c5(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4225, 65, 1]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4225, 65, 1]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
    tile.copy %x[0] to %free bytes 4 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4225, 65, 1]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects a buffer where 2 neighbours lie together}}
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4225, 65, 1]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
        tile.copy %x[%t + 1] to %next bytes 4 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4225, 65, 1]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c5_odd(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects a buffer where 2 neighbours lie together}}
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [6, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c6(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_fibres_c6_groups(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{multiplies by what other threads have copied: expects a tile.barrier behind the tile.prepare}}
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @if_aligned_c1(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        // expected-error @+1 {{expects views that have an axis 3}}
        tile.if_aligned %y bytes 16 axis 3 {
        } else {
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @if_aligned_c2(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    // expected-error @+1 {{expects to be in a tile.for or a tile.for_fibres}}
    tile.if_aligned %y bytes 16 axis 2 {
    } else {
    } : !tile.view<?x64x64xf32, [4096, 64, 1]>
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @if_aligned_c3(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      // expected-error @+1 {{expects both parts to acquire, fill, wait for and release as many slots of a ring}}
      tile.if_aligned %y, %x bytes 16 axis 2 {
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c1(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        tile.if_aligned %y, %x bytes 16 axis 2 {
          // expected-error @+1 {{expects a tile.contract_fibres of the same block and buffer in front of it}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c1_others(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %d of [1, 64, 64] along 1 {
        %e = tile.contract_fibres %slot[%d], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
      }
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          // expected-error @+1 {{fills what other threads may still read or write: expects a tile.barrier in between}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c2(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          // expected-error @+1 {{expects the slot of a ring of one, and blocks of 64 fibres that are not along the innermost dimension}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c3(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          // expected-error @+1 {{expects to be in the first part of a tile.if_aligned of its view by 16 bytes, behind which only other parts use the slot}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c3_behind(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          // expected-error @+1 {{expects to be in the first part of a tile.if_aligned of its view by 16 bytes, behind which only other parts use the slot}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.barrier
      tile.for_fibres %d of [1, 64, 64] along 1 {
        %e = tile.contract_fibres %slot[%d], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c3_again(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      %same = tile.resize %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          // expected-error @+1 {{expects to be in the first part of a tile.if_aligned of its view by 16 bytes, behind which only other parts use the slot}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        %again = tile.contract_fibres %same[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}


// -----

gpu.module @kron_gpu {
  gpu.func @refill_c4(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          // expected-error @+1 {{expects an axis of}}
          tile.refill %slot[%b] with %x[%t] axes [0, 1] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @refill_c4_short(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %short: !tile.view<?x32x64xf32, [2048, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %short bytes 16 axis 2 {
          // expected-error @+1 {{expects whole fibres of 64 positions, but got axis 1 of '!tile.view<?x32x64xf32, [2048, 64, 1]>'}}
          tile.refill %slot[%b] with %short[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x32x64xf32, [2048, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x32x64xf32, [2048, 64, 1]>
      }
      tile.if_aligned %y, %short bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x32x64xf32, [2048, 64, 1]>
    }
    gpu.return
  }
}


// -----

gpu.module @kron_gpu {
  gpu.func @refilled_c1(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        // expected-error @+1 {{expects a slot from tile.wait that a tile.refill fills, in the first part of a tile.if_aligned of the same views and bytes}}
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prefetch_c1(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile of a tile.for}}
      tile.prefetch %x[%i] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prefetch_c2(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects the sizes of a tile, but got 1, 0, 64}}
      tile.prefetch %x[%t] box [1, 0, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c1_fibres(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          // expected-error @+1 {{expects sums of tile.contract_fibres of the same block, along 1}}
          tile.exchange %s to %slot[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c8_fibres(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %w = tile.alloc : !tile.buffer<1x32x64xf32>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          // expected-error @+1 {{expects a buffer with room for 1, 64, 64 elements}}
          tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x32x64xf32>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7_fibres(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          // expected-error @+1 {{expects a box of 1, 64, 64 elements, but got 1, 32, 64}}
          tile.store %s[%b] to %y[%t] along [1] box [1, 32, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_sums(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        // expected-error @+1 {{expects a buffer of f32 or f64 with axes, which is stored element by element}}
        tile.store %slot to %y[%t] bytes 16 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c12_parts(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          // expected-error @+1 {{expects no other operation to read or write what it stores to, but tile.store does}}
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c1_fibres(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects not to be in tile.for_boxes, which threads leave at different times}}
        tile.barrier
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantize_c1(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %a: f32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      // expected-error @+1 {{expects a tile of a tile.for}}
      tile.quantize %w to %q[%i] scales %c alpha %a : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantize_c2(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %a: f32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %v = tile.alloc : !tile.buffer<1x64x64xf32, #tile.layout<[4224, 66, 1]>>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      // expected-error @+1 {{expects rows of f32 in groups of 4 neighbours}}
      tile.quantize %v to %q[%t] scales %c alpha %a : !tile.buffer<1x64x64xf32, #tile.layout<[4224, 66, 1]>>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantize_c3(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x2048xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %a: f32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      // expected-error @+1 {{expects rows of 4096 elements of 8 bits}}
      tile.quantize %w to %q[%t] scales %c alpha %a : !tile.buffer<1x64x64xf32>, !tile.view<?x2048xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantize_c4(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf16, [1]>, %n: i32, %a: f32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      // expected-error @+1 {{expects a scale of f32 for each row}}
      tile.quantize %w to %q[%t] scales %c alpha %a : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf16, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantize_c5(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %a: f32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
      tile.quantize %w to %q[%t] scales %c alpha %a : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @quantize_c1_fibres(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %p = tile.prepare %f : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects to be in a tile.for, where all threads come, but got tile.for_fibres}}
        tile.quantize %w to %q[%t] scales %c : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_fibres(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %p = tile.prepare %f : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_fibres %b of [1, 64, 64] along 1 {
        // expected-error @+1 {{expects a buffer with axes to be stored by all threads, outside of tile.for_fibres}}
        tile.store %w to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @if_aligned_c1_bytes(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %p = tile.prepare %f : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %p : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        // expected-error @+1 {{expects bytes to be a power of two, but got 24}}
        tile.if_aligned %y bytes 24 axis 2 {
        } else {
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
    }
    gpu.return
  }
}
