// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of what warpgroups multiply, and of kernels whose threads have tiles of their own: a
// test per rule.

// expected-error @+1 {{expects an order of atom wgmma.m64k8.tf32, but got rows}}
func.func private @operand_order(!tile.operand<64x64xf32, wgmma.m64k8.tf32 rows>)

// -----

// expected-error @+1 {{expects an order of atom mma.m16n8k8.tf32, but got quads}}
func.func private @quads_of_blocks(!tile.operand<64x64xf32, mma.m16n8k8.tf32 quads>)

// -----

// expected-error @+1 {{expects an order of atom dmma.m16n8k8, but got quads}}
func.func private @quads_of_boxes(!tile.operand<8x8xf64, dmma.m16n8k8 quads>)

// -----

// expected-error @+1 {{expects elements of atom wgmma.m64k8.tf32, but got 'f64'}}
func.func private @operand_elements(!tile.operand<64x64xf64, wgmma.m64k8.tf32 quads>)

// -----

// expected-error @+1 {{expects elements of atom wgmma.m64k8.tf32, but got 'f16'}}
func.func private @fragment_elements(!tile.fragment<1x64x64xf16, wgmma.m64k8.tf32>)

// -----

// expected-error @+1 {{expects one block, but got 2}}
func.func private @fragment_count(!tile.fragment<2x64x64xf32, wgmma.m64k8.tf32>)

// -----

// expected-error @+1 {{expects an order of 2 dimensions, each once, but got 0, 0}}
func.func private @pieces_order() attributes {pieces = #tile.pieces<sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, order = [0, 0]>}

// -----

// expected-error @+1 {{expects ahead not to be negative, but got -1}}
func.func private @pieces_ahead() attributes {pieces = #tile.pieces<sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = -1>}

// -----

// expected-error @+1 {{expects up to 15 groups of whole warps, but got 2 of 96 threads}}
func.func private @groups_of_warps() attributes {k = #tile.kernel<threads = 96, ctas_per_sm = 1, groups = 2>}

// -----

// expected-error @+1 {{expects up to 15 groups of whole warps, but got 16 of 1024 threads}}
func.func private @many_groups() attributes {k = #tile.kernel<threads = 1024, ctas_per_sm = 1, groups = 16>}

// -----

// expected-error @+1 {{expects shares to be positive, and neither groups nor shares of clusters, but got 1 and 0}}
func.func private @no_shares() attributes {k = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 0>}

// -----

// expected-error @+1 {{expects shares to be positive, and neither groups nor shares of clusters, but got 2 and 1}}
func.func private @cluster_of_groups() attributes {k = #tile.kernel<threads = 256, ctas_per_sm = 1, cluster = 2, groups = 2>}

// -----

gpu.module @kron_gpu {
  gpu.func @divided(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, shares = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{is not for kernels of several groups or shares, which tile.contract_pieces is for}}
      tile.if_aligned %y bytes 16 axis 1 {
        tile.barrier
      } else {
        tile.barrier
      } : !tile.view<?x128xf32, [128, 1]>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @divided_factor(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    // expected-error @+1 {{is not for kernels of several groups or shares, which tile.contract_pieces is for}}
    %q = tile.prepare %f : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @divided_copy(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{is not for kernels of several groups or shares, which tile.contract_pieces is for}}
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @divided_shares(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    // expected-error @+1 {{is not for kernels of several groups or shares, which tile.contract_pieces is for}}
    %q = tile.prepare %f : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c2(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects one group, with a slot more than the 3 pieces that go ahead, but got 1 groups and 3 slots}}
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c2_groups(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects one group, with a slot more than the 3 pieces that go ahead, but got 2 groups and 4 slots}}
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_pieces_c1(%x: !tile.view<?x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile of the tile.for that it is in, whose pieces do not go ahead}}
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c1(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %g: !tile.view<128x129xf32, [129, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects a factor of the operand's K and elements, with N for 1 parts of its results}}
    %p = tile.prepare %g residuals : !tile.view<128x129xf32, [129, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c1_shares(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects a factor of the operand's K and elements, with N for 2 parts of its results}}
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c3(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects no warps, together, split and streamed of atom wgmma.m64k8.tf32}}
    %p = tile.prepare %f together 2 residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c6_size(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %g: !tile.view<128x520xf32, [520, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 512, ctas_per_sm = 1, groups = 4>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects a factor of up to 512 x 512, in parts of multiples of 16 results}}
    %p = tile.prepare %g residuals : !tile.view<128x520xf32, [520, 1]> -> !tile.operand<128x520xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c6_parts(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %g: !tile.view<128x100xf32, [100, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    // expected-error @+1 {{expects a factor of up to 512 x 512, in parts of multiples of 16 results}}
    %p = tile.prepare %g residuals : !tile.view<128x100xf32, [100, 1]> -> !tile.operand<128x56xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c8(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects a fragment and an operand of atom wgmma.m64k8.tf32}}
      %c = tile.contract %s, %p along 2 atom <wgmma.m64k8.tf32> block [64, 128] whole : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c15(%x: !tile.view<?x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %w = tile.alloc : !tile.buffer<64x32xf32>
    tile.for_boxes %u of 64 {
      // expected-error @+1 {{expects boxes of threads, but got those of warps}}
      %v = tile.load %w[%u] along [1] : !tile.buffer<64x32xf32> -> !tile.fragment<1x32xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c1(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile of the tile.for that it is in}}
      %s = tile.contract_pieces %x[%i], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c2_block(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x8xf32>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 8], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x8xf32>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects pieces of four warps that go ahead, cut along one dimension in multiples of 16 positions, of at most 64 fibres}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 8], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x8xf32>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c2_cut(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [128, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects pieces of four warps that go ahead, cut along one dimension in multiples of 16 positions, of at most 64 fibres}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [128, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x128x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c2_along(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects pieces of four warps that go ahead, cut along one dimension in multiples of 16 positions, of at most 64 fibres}}
      %s = tile.contract_pieces %x[%t], %p in %r along 0 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c2_fibres(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <65x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [65, 128], block = [65, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <65x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects pieces of four warps that go ahead, cut along one dimension in multiples of 16 positions, of at most 64 fibres}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [65, 128], block = [65, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <65x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x65x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c2_warps(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 8, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects pieces of four warps that go ahead, cut along one dimension in multiples of 16 positions, of at most 64 fibres}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 8, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c2_ahead(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects pieces of four warps that go ahead, cut along one dimension in multiples of 16 positions, of at most 64 fibres}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c3(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile.copy_pieces of the same ring, view and pieces in front of the loop over tiles}}
      %s = tile.contract_pieces %y[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c4_order(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects an operand of atom wgmma.m64k8.tf32 from tile.prepare, quads of the positions of axis 1, the last ones of which are in the last piece}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 pairs>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c4_atom(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects an operand of atom wgmma.m64k8.tf32 from tile.prepare, quads of the positions of axis 1, the last ones of which are in the last piece}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c4_k(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 96], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects an operand of atom wgmma.m64k8.tf32 from tile.prepare, quads of the positions of axis 1, the last ones of which are in the last piece}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 96], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c4_piece(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 160], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects an operand of atom wgmma.m64k8.tf32 from tile.prepare, quads of the positions of axis 1, the last ones of which are in the last piece}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 160], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c5(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects sums of type '!tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>', but got}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c6(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{multiplies by what other threads have copied: expects a tile.barrier behind the tile.prepare}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c2(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %i: index) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects a tile of a tile.for}}
      tile.store %s to %y[%i] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c5_along(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects sums along 1, but got 0}}
      tile.store %s to %y[%t] along [0] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c5_boxes(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects a fragment's boxes, and what they are along}}
      tile.store %s[%t] to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects a box of 64, 128 elements, of which 1 CTAs have a part along 1, but got 32, 128}}
      tile.store %s to %y[%t] along [1] box [32, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7_shares(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %g: !tile.view<128x200xf32, [200, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %g residuals : !tile.view<128x200xf32, [200, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects a box of 64, 128 elements, of which 2 CTAs have a part along 1, but got 64, 300}}
      tile.store %s to %y[%t] along [1] box [64, 300] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects no epilogue of a tile in pieces}}
      tile.store %s to %y[%t] along [1] activation <relu> box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_axes(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects an axis of}}
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 2] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_none(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects axes of a block's box}}
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_bytes(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects bytes to be a power of two from 4 to 16, but got 32}}
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 32 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @barrier_of_groups(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %m: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{is not for kernels of several groups or shares, which tile.contract_pieces is for}}
      tile.barrier groups 2
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @numbers_of_groups(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %m: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.barrier groups 4
    tile.for %t to %n : i32 {
      // expected-error @+1 {{lets groups of 128 threads meet at barriers where others may still wait in groups of 64}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @contract_pieces_c7(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32, %m: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[33, 1]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 4, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[33, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects slots where 4 neighbours lie together, but got '!tile.buffer<64x32xf32, #tile.layout<[33, 1]>>'}}
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 4, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[33, 1]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @store_c11_along(%x: !tile.view<64x1024xf32, [1024, 1]>, %y: !tile.view<16x1024xf32, [1, 17]>, %f: !tile.view<64x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 64], block = [32, 64], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<64x1024xf32, [1024, 1]>, !tile.ring<3 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
    %p = tile.prepare %f : !tile.view<64x16xf32, [16, 1]> -> !tile.operand<64x16xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 0 pieces <sizes = [64, 64], block = [32, 64], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<64x1024xf32, [1024, 1]>, !tile.operand<64x16xf32, wgmma.m64k8.tf32 pairs>, !tile.ring<3 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.fragment<1x16x64xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects 2 elements that lie together along axis 0, with strides and sizes of multiples of these}}
      tile.store %s to %y[%t] along [0] box [16, 64] bytes 8 axes [0, 1] : !tile.fragment<1x16x64xf32, wgmma.m64k8.tf32>, !tile.view<16x1024xf32, [1, 17]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @store_c11_columns(%x: !tile.view<1024x64xf32, [64, 1]>, %y: !tile.view<1025x16xf32, [1, 1026]>, %f: !tile.view<64x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 64], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<1024x64xf32, [64, 1]>, !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f : !tile.view<64x16xf32, [16, 1]> -> !tile.operand<64x16xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 64], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<1024x64xf32, [64, 1]>, !tile.operand<64x16xf32, wgmma.m64k8.tf32 quads>, !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x16xf32, wgmma.m64k8.tf32>
      // expected-error @+1 {{expects 2 elements that lie together along axis 0, with strides and sizes of multiples of these}}
      tile.store %s to %y[%t] along [1] box [64, 16] bytes 8 axes [0, 1] : !tile.fragment<1x64x16xf32, wgmma.m64k8.tf32>, !tile.view<1025x16xf32, [1, 1026]>
    }
    gpu.return
  }
}
