// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of blocks that warps multiply: a test per rule.

// expected-error @+1 {{expects an order of atom mma.m16n8k8.tf32, but got apart}}
func.func private @operand_order(!tile.operand<16x16xf32, mma.m16n8k8.tf32 apart>)

// -----

// expected-error @+1 {{expects an order of atom dmma.m16n8k8, but got rows}}
func.func private @operand_of_boxes(!tile.operand<8x8xf64, dmma.m16n8k8 rows>)

// -----

// expected-error @+1 {{expects elements of atom mma.m16n8k8.tf32, but got 'f16'}}
func.func private @operand_elements(!tile.operand<16x16xf16, mma.m16n8k8.tf32 rows>)

// -----

// expected-error @+1 {{expects one block, but got 2}}
func.func private @fragment_count(!tile.fragment<2x16x32xf32, mma.m16n8k8.tf32>)

// -----

// expected-error @+1 {{expects elements of atom mma.m16n8k8.f64, but got 'f32'}}
func.func private @fragment_elements(!tile.fragment<1x16x32xf32, mma.m16n8k8.f64>)

// -----

// expected-error @+1 {{expects sizes that are multiples of a block's, but got sizes 1, 32 and block 1, 5}}
func.func private @pieces() attributes {pieces = #tile.pieces<sizes = [1, 32], block = [1, 5], axes = [0, 1], warps = 1, bytes = 4>}

// -----

// expected-error @+1 {{expects sizes that are multiples of a block's, but got sizes 65536, 65536 and block 1, 8}}
func.func private @pieces_many() attributes {pieces = #tile.pieces<sizes = [65536, 65536], block = [1, 8], axes = [0, 1], warps = 1, bytes = 4>}

// -----

// expected-error @+1 {{expects 2 axes, one per size, but got 1}}
func.func private @pieces_axes() attributes {pieces = #tile.pieces<sizes = [1, 32], block = [1, 8], axes = [0], warps = 1, bytes = 4>}

// -----

// expected-error @+1 {{expects warps to be positive, but got 0}}
func.func private @pieces_warps() attributes {pieces = #tile.pieces<sizes = [1, 32], block = [1, 8], axes = [0, 1], warps = 0, bytes = 4>}

// -----

// expected-error @+1 {{expects bytes to be positive, but got 0}}
func.func private @pieces_bytes() attributes {pieces = #tile.pieces<sizes = [1, 32], block = [1, 8], axes = [0, 1], warps = 1, bytes = 0>}

// -----

// expected-error @+1 {{expects split to be a dimension from 0 to 1, or -1, but got 2}}
func.func private @pieces_split() attributes {pieces = #tile.pieces<sizes = [1, 32], block = [1, 8], axes = [0, 1], warps = 1, bytes = 4, split = 2>}

// -----

gpu.module @kron_gpu {
  gpu.func @for_blocks_c1(%f: !tile.view<16x16xf32, [16, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for_boxes %u of 64 {
      // expected-error @+1 {{expects to be in a gpu.func itself, or in a tile.for}}
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_blocks_c2() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects a body with one argument of type index}}
    "tile.for_blocks"() <{sizes = array<i64: 2, 16>, block = array<i64: 1, 16>}> ({
    ^bb0(%b: index, %c: index):
      "tile.yield"() : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_blocks_c3(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      // expected-error @+1 {{expects blocks of a tile of 2, 16, 32, but got 1, 17, 32}}
      tile.for_blocks %b of [2, 16, 32] by [1, 17, 32] {
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
  gpu.func @for_blocks_c4(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      // expected-error @+1 {{expects at most 15 groups of the CTA's 2 warps, but got groups of 3}}
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] warps 3 {
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
  gpu.func @for_blocks_c5(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      // expected-error @+1 {{expects as many blocks for each of 2 groups, but got 1}}
      tile.for_blocks %b of [2, 16, 32] by [2, 16, 32] shares {
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
  gpu.func @for_blocks_c6(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      // expected-error @+1 {{expects split in a kernel of clusters, without shares}}
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] split {
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c21_whole(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.for_blocks %b of [2, 16, 32] by [1, 8, 32] {
        // expected-error @+1 {{expects a block of 1, 8, 32 of 2, 16, 32, whole along one axis or the two innermost ones}}
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c21_room(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.for_blocks %b of [2, 16, 64] by [1, 16, 64] {
        // expected-error @+1 {{expects a buffer with room for 2, 16, 64 elements}}
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x64xf32, mma.m16n8k8.tf32>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c6(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
        // expected-error @+1 {{expects elements of type 'f32', but got '!tile.fragment<1x1x16x32xf16, mma.m16n8k8.tf32>'}}
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf16, mma.m16n8k8.tf32>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c22(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
        // expected-error @+1 {{expects 1, 2 or 4 tiles together, and folds that fill a tile of 8 columns, but got 3 and 1}}
        %v = tile.load %s[%b] along [1] together 3 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c22_fold(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
        // expected-error @+1 {{expects folds of positions of one axis outside that fill a tile of 8 columns, but got 2 of a block of 1, 16, 32 along 1}}
        %v = tile.load %s[%b] along [1] together 2 fold 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c10_order(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.barrier
      %g = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects an operand of order rows for a block that was loaded}}
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.barrier of_block
        tile.exchange %c to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10_epilogue(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects no epilogue of blocks}}
        tile.store %c[%b] to %y[%t] along [1] activation <relu> box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c16_fill(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a slot of a ring with fill}}
      tile.copy %x[%t + 1] to %w bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_blocks_warps() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<8x16x2xf32>
    // expected-error @+1 {{attribute 'warps' failed to satisfy constraint}}
    "tile.for_blocks"() <{sizes = array<i64: 8, 16, 2>, block = array<i64: 4, 16, 2>, warps = 0 : i64, shares}> ({
    ^bb0(%b: index):
      %v = "tile.load"(%w, %b) <{along = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!tile.buffer<8x16x2xf32>, index) -> !tile.fragment<1x4x16x2xf32, mma.m16n8k8.tf32>
      "tile.yield"() : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c10_loaded(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
        // expected-error @+1 {{expects an operand of order rows for a block that was loaded}}
        %d = tile.contract %c, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.barrier of_block
        tile.exchange %d to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
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
  gpu.func @contract_c10_warps(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] warps 2 {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects an operand for 2 warps, split as the blocks are}}
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
  gpu.func @load_c21_exchange(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %w = tile.alloc : !tile.buffer<2x8x32xf32>
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
        // expected-error @+1 {{expects a buffer with room for 2, 16, 32 elements}}
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x8x32xf32>
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
  gpu.func @load_c6_exchange(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %w = tile.alloc : !tile.buffer<2x16x32xf64>
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
        // expected-error @+1 {{expects elements of type 'f64'}}
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf64>
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
  gpu.func @store_c11(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects axes of a block's box}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_axes(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{or -1, for each of 3 dimensions, but got 0, 1, 3}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 3] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
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
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects the blocks of a tile of 2, 16, 32 elements, but got a box of 2, 16, 16}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c17(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    // expected-error @+1 {{expects axes and an order of a buffer's dimensions with fill, without rows, part, groups and split}}
    tile.copy %x[0] to %a bytes 16 fill : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
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
  gpu.func @copy_c17_axes(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    // expected-error @+1 {{for each of 3 dimensions, but got 0, 0, 2}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, 0, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
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
  gpu.func @copy_c17_fill(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    // expected-error @+1 {{expects axes, lines, rounded and box with fill only}}
    tile.copy %x[0] to %a bytes 16 axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
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
  gpu.func @copy_c3(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    // expected-error @+1 {{expects bytes to be a power of two from 4 to 16, but got 32}}
    tile.copy %x[0] to %a bytes 32 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
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
  gpu.func @barrier_c1(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects of_block in tile.for_blocks or tile.for_pieces, and nothing else}}
    tile.barrier of_block
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c1_of_all(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for_blocks %b of [2, 16] by [1, 16] {
      // expected-error @+1 {{expects not to be in tile.for_boxes, which threads leave at different times}}
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c3(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    // expected-error @+1 {{expects warps, together, residuals, split and streamed for atoms mma.m16n8k8 only}}
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c3_together(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    // expected-error @+1 {{expects 1, 2 or 4 tiles together, and residuals of TF32 only, but got 8}}
    %p = tile.prepare %f together 8 residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
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
  gpu.func @prepare_c3_split(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    // expected-error @+1 {{expects split of rows of a multiple of 16 positions K in a kernel of clusters}}
    %p = tile.prepare %f residuals split : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c1(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    // expected-error @+1 {{expects a factor of the operand's sizes and elements}}
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x8xf32, mma.m16n8k8.tf32 rows>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c1(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    // expected-error @+1 {{expects a ring of pieces of 1, 16, 4 elements of the view's type}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 4], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
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
  gpu.func @copy_pieces_c2(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    // expected-error @+1 {{expects as many slots and pieces for each of 2 groups, and no more slots than pieces, but got 3 slots and 8 pieces}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<3 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<3 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
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
  gpu.func @copy_pieces_c3(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    // expected-error @+1 {{for each of 3 dimensions, but got 0, 1, 4}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 4], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
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
  gpu.func @copy_pieces_c4(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    // expected-error @+1 {{expects bytes to be a power of two from 4 to 16, but got 2}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 2> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
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
  gpu.func @copy_pieces_c5(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects to be in no loop}}
      tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_pieces_c1(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for_blocks %t of [2, 16, 32] by [1, 16, 32] {
      // expected-error @+1 {{expects a tile of the tile.for that it is in}}
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
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
  gpu.func @for_pieces_c2(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a body with an argument of type index and one of type}}
      "tile.for_pieces"(%x, %t, %r) <{pieces = #tile.pieces<sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16>}> ({
      ^bb0(%b: index):
        "tile.yield"() : () -> ()
      }) : (!tile.view<?x16x32xf32, [512, 32, 1]>, index, !tile.ring<4 of <1x16x8xf32>>) -> ()
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_pieces_c3(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile.copy_pieces of the same ring, view and pieces in front of the loop over tiles}}
      tile.for_pieces %b, %s of %y[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
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
  gpu.func @for_pieces_c3_behind(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile.copy_pieces of the same ring, view and pieces in front of the loop over tiles}}
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c21_piece(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %q = tile.alloc : !tile.buffer<1x16x8xf32>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        // expected-error @+1 {{or the loop's piece}}
        %v = tile.load %q[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}
