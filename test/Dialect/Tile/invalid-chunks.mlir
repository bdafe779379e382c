// RUN: kron-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expects chunks of 16 or 48 bytes, but got 32}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 32, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>}

// -----

// expected-error @+1 {{expects k and lanes to be positive, but got 0 and 1}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 0, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>}

// -----

// expected-error @+1 {{expects tiles of rows and of results, up to 64, but got}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 65], warps = [1, 2, 1], results = chunks, split = true>}

// -----

// expected-error @+1 {{expects warps that share rows, results and K, powers of two, but got}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 3, 1], results = chunks, split = true>}

// -----

// expected-error @+1 {{expects up to 15 rows, of one tile and warp and not along_rows, but got 16}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], rows = 16, results = chunks, split = true>}

// -----

// expected-error @+1 {{expects narrow and mixed values to be split}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, narrow = true>}

// -----

// expected-error @+1 {{expects staged results not to be shifted}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, shift = 4, staged = true>}

// -----

// expected-error @+1 {{expects whole copies of data (1) and, not along_rows, the factor (2), neither of 48 bytes nor of warpgroups, but got 3}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, whole = 3>}

// -----

// expected-error @+1 {{expects whole copies of data (1) and, not along_rows, the factor (2), neither of 48 bytes nor of warpgroups, but got 1}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 48, k = 4, lanes = 3, tiles = [1, 2], warps = [1, 2, 1], results = chunks, whole = 1>}

// -----

// expected-error @+1 {{expects shift not to be negative, but got -1}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, shift = -1>}

// -----

// expected-error @+1 {{expects pieces of chunks to go ahead, without lines, split and order}}
func.func private @pieces() attributes {c = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, lines = true, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>}

// -----

// expected-error @+1 {{expects lines, split, ahead, order or chunks, but got other}}
func.func private @option() attributes {c = #tile.pieces<sizes = [2], block = [1], axes = [0], warps = 1, bytes = 4, other = 1>}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c7(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects a factor and a ring of its pieces with chunks, unless it stays, and neither without these}}
    tile.copy_pieces %x to %r pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c8_operand(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects an operand or, of pieces of chunks, a view of the factor and a ring of its pieces}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c8_elements(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf16, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf16>>
    // expected-error @+1 {{expects pieces of f32, which alone are split, f64, f16 or bf16, or of 8 bits beside f16, of which warpgroups multiply f16, bf16 and split f32, but got 'f32' and 'f16'}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf16, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf16>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf16, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf16>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c8_views(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<3x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects rows, others, lanes and K, and a factor of the last ones of these others, lanes, results and K, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<3x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<3x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c9_elements(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects chunks of 4 elements, in the order of 1 chunks of 1 lanes, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 2, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 2, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c9_results(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <16x32xf32>>
    // expected-error @+1 {{expects chunks of 4 elements, in the order of 1 chunks of 1 lanes, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 1], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 1], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <16x32xf32>> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 16] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c9_spread(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects chunks of 4 elements, in the order of 1 chunks of 1 lanes, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = spread, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = spread, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c9_lanes(%x: !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, %f: !tile.view<2x3x24x40xf32, [2880, 960, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects chunks of 4 elements, in the order of 1 chunks of 3 lanes, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 2, 64], block = [16, 1, 2, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 2, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = plain, split = true>> : !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x3x24x40xf32, [2880, 960, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 2, 64], block = [16, 1, 2, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 2, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = plain, split = true>> : !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, !tile.view<2x3x24x40xf32, [2880, 960, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c9_wide(%x: !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, %f: !tile.view<2x3x24x40xf32, [2880, 960, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects chunks of 12 elements, in the order of 1 chunks of 3 lanes, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 2, 48], block = [16, 1, 2, 24], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 48, k = 6, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = plain, split = true>> : !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x3x24x40xf32, [2880, 960, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 2, 48], block = [16, 1, 2, 24], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 48, k = 6, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = plain, split = true>> : !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, !tile.view<2x3x24x40xf32, [2880, 960, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c8_rows(%x: !tile.view<9x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects rows, others, lanes and K, and a factor of the last ones of these others, lanes, results and K, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], rows = 8, split = true>> : !tile.view<9x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], rows = 8, split = true>> : !tile.view<9x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c10_rows(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects pieces of 16 rows, whole chunks of lanes and multiples of 16 positions K, by all of 2 warps and by 16 bytes, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [32, 1, 1, 64], block = [32, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [32, 1, 1, 64], block = [32, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c10_steps(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects pieces of 16 rows, whole chunks of lanes and multiples of 16 positions K}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 96], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 96], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c10_unit(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects pieces of 16 rows, whole chunks of lanes and multiples of 16 positions K}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 48], block = [16, 1, 1, 24], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 48], block = [16, 1, 1, 24], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c10_threads(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 96, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{by all of 2 warps and by 16 bytes}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c10_order(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{by all of 2 warps and by 16 bytes}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true, order = [0, 1, 2, 2]>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true, order = [0, 1, 2, 2]>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c10_parts(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <5x32xf32>>
    %q = tile.alloc : !tile.ring<2 of <16x32xf32>>
    %g = tile.alloc : !tile.buffer<256xf32>
    // expected-error @+1 {{multiples of 32 positions K, by all of 2 warps and by 16 bytes}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<2 of <5x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %g along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <5x32xf32>> and !tile.ring<2 of <16x32xf32>> sums !tile.buffer<256xf32> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 16] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c11_rows(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x36xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects rings of 3 pieces of 16, 32 and 32, 32 elements, or all of the latter in a slot, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x36xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x36xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c11_slots(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    // expected-error @+1 {{expects rings of 3 pieces of 16, 32 and 32, 32 elements, or all of the latter in a slot, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<2 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c3_chunks(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a tile.copy_pieces of the same ring, view and pieces in front of the loop over tiles}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c12_atom(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects sums of 1, 16, 1, 1, 32 elements of 'f32', stored once, of the atom and the number that lanes have of them, along the last axis, but got}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k16>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k16>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c12_stored(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32, %z: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects sums of 1, 16, 1, 1, 32 elements of 'f32', stored once}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      tile.store %s to %z[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c12_buffer(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <5x64xf32>>
    %q = tile.alloc : !tile.ring<2 of <16x64xf32>>
    %g = tile.alloc : !tile.buffer<128xf32>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<2 of <5x64xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x64xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a buffer of its own for 256 sums of warps that share K, results that are staged, chunks of whole copies and operands of warpgroups, if there are some, but got '!tile.buffer<128xf32>'}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %g along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <5x64xf32>> and !tile.ring<2 of <16x64xf32>> sums !tile.buffer<128xf32> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 16] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c12_late(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <5x64xf32>>
    %q = tile.alloc : !tile.ring<2 of <16x64xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<2 of <5x64xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x64xf32>>
    %g = tile.alloc : !tile.buffer<256xf32>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects its buffer in front of the tile.copy_pieces of its ring}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %g along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 2], rows = 5, split = true, narrow = true, partial = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <5x64xf32>> and !tile.ring<2 of <16x64xf32>> sums !tile.buffer<256xf32> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 16] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c12_none(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    %g = tile.alloc : !tile.buffer<256xf32>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a buffer of its own for 0 sums of warps that share K, results that are staged, chunks of whole copies and operands of warpgroups, if there are some, but got '!tile.buffer<256xf32>'}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %g along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> sums !tile.buffer<256xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c15(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x25xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      // expected-error @+1 {{expects sums of pieces of chunks along 3, by 16 bytes, to a view of -9223372036854775808, 2, 1, 24 elements, but got}}
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x25xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c15_bytes(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      // expected-error @+1 {{expects sums of pieces of chunks along 3, by 16 bytes, to a view of}}
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 4 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c15_shift(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [50, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true, shift = 4>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %q along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true, shift = 4>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> and !tile.ring<3 of <32x32xf32>> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      // expected-error @+1 {{expects shifted tiles of chunks of 16 bytes of neighbours, in rows that are multiples of 4 elements apart, and nothing that is read, but got}}
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [50, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c7_ring(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %z: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <16x32xf32>>
    %q = tile.alloc : !tile.ring<2 of <16x32xf32>>
    // expected-error @+1 {{expects pieces of a factor in a ring of their own}}
    tile.copy_pieces %x to %r and %f to %r pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 1], split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<2 of <16x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x32xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %f in %r and %r  along 3 pieces <sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 1, 1], split = true>> : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<2 of <16x32xf32>> and !tile.ring<2 of <16x32xf32>>  -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 16] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c11_neighbours(%x: !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, %f: !tile.view<2x3x24x40xf32, [2880, 1, 120, 3]>, %y: !tile.view<?x2x3x24xf32, [144, 72, 1, 3]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x100xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x96xf32>>
    // expected-error @+1 {{expects lanes and K of whole copies to be neighbours, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 3, 64], block = [16, 1, 3, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], split = true, whole = 1>> : !tile.view<?x2x3x40xf32, [240, 120, 40, 1]>, !tile.ring<3 of <16x100xf32>> and !tile.view<2x3x24x40xf32, [2880, 1, 120, 3]>, !tile.ring<3 of <32x96xf32>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_pieces_c11_whole(%x: !tile.view<?x2x3x40xf32, [240, 120, 1, 3]>, %f: !tile.view<2x3x24x40xf32, [2880, 1, 120, 3]>, %y: !tile.view<?x2x3x24xf32, [144, 72, 1, 3]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <16x96xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x96xf32>>
    // expected-error @+1 {{expects rings of 3 pieces of 16, 100 and 32, 96 elements, or all of the latter in a slot, but got}}
    tile.copy_pieces %x to %r and %f to %q pieces <sizes = [16, 1, 3, 64], block = [16, 1, 3, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], split = true, whole = 1>> : !tile.view<?x2x3x40xf32, [240, 120, 1, 3]>, !tile.ring<3 of <16x96xf32>> and !tile.view<2x3x24x40xf32, [2880, 1, 120, 3]>, !tile.ring<3 of <32x96xf32>>
    gpu.return
  }
}
