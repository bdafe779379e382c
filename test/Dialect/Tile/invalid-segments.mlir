// RUN: kron-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expects paired chunks of 16 bytes with several lanes and positions, not along_rows}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>}

// -----

// expected-error @+1 {{expects warpgroups of 4 warps of rows, of one tile of rows and up to 32 of results, that do not share K, of many rows and narrow or mixed residuals}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, warpgroups = true>}

// -----

// expected-error @+1 {{expects mixed and swapped chunks of warpgroups only}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true, mixed = true>}

// -----

// expected-error @+1 {{expects narrow and mixed values to be split}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, mixed = true>}

// -----

// expected-error @+1 {{expects swapped chunks of split values along K}}
func.func private @attribute() attributes {c = #tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [4, 2, 1], results = chunks, warpgroups = true, swapped = true>}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @for_segments_c1(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for %o to %n : i32 {
      // expected-error @+1 {{expects to be in a gpu.func itself}}
      tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @for_segments_c2(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    // expected-error @+1 {{expects a body with an argument of type index and one of type 'i32'}}
    "tile.for_segments"(%n) <{parts = 2 : i64}> ({
    ^bb0(%g: index):
      tile.yield
    }) : (i32) -> ()
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @for_segments_c3(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %e = tile.alloc : !tile.ring<4 of <8xf32>>
    // expected-error @+1 {{expects a turn to acquire, fill, wait for and release as many slots of a ring, but it does 1, 0, 0 and 0}}
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %z = tile.acquire %e : !tile.ring<4 of <8xf32>> -> !tile.buffer<8xf32>
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

// Verify that the part that stays is not replaced while threads may still read it.
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @acquire_c2_segment(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      // expected-error @+1 {{takes a slot that may still be read: expects a tile.release of it and a tile.barrier in front}}
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @acquire_c2_release(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      // expected-error @+1 {{takes a slot that may still be read: expects a tile.release of it and a tile.barrier in front}}
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @for_segments_c4(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    // expected-error @+1 {{expects one tile.for, with one tile.contract_pieces, and what goes with pieces of chunks}}
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.for %u to %m : i32 {
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @pair_chunks_c1(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      // expected-error @+1 {{expects a slot from tile.wait with paired chunks, of pieces that a tile.contract_pieces keeps}}
      tile.pair_chunks %b pieces #p : !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 2, 128], block = [16, 1, 2, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>>
gpu.module @kron_gpu {
  gpu.func @pair_chunks_c2(%x: !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, %f: !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, %y: !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x128xf16>>
    %r = tile.alloc : !tile.ring<3 of <16x128xf16>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.buffer<2x32x128xf16>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
      tile.pair_chunks %b pieces #p : !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.ring<3 of <16x128xf16>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.ring<3 of <16x128xf16>> kept !tile.buffer<2x32x128xf16> -> !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>
        tile.store %s to %y[%t] along [3] box [16, 1, 2, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>, !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>
      }
      tile.release %b : !tile.buffer<2x32x128xf16>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 2, 128], block = [16, 1, 2, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>>
gpu.module @kron_gpu {
  gpu.func @pair_chunks_c3(%x: !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, %f: !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, %y: !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x128xf16>>
    %r = tile.alloc : !tile.ring<3 of <16x128xf16>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.buffer<2x32x128xf16>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.pair_chunks %b pieces #p : !tile.buffer<2x32x128xf16>
      // expected-error @+1 {{moves what threads may have read or written: expects a tile.barrier in front}}
      tile.pair_chunks %b pieces #p : !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.ring<3 of <16x128xf16>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.ring<3 of <16x128xf16>> kept !tile.buffer<2x32x128xf16> -> !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>
        tile.store %s to %y[%t] along [3] box [16, 1, 2, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>, !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>
      }
      tile.release %b : !tile.buffer<2x32x128xf16>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @copy_c7_segment(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      // expected-error @+1 {{expects the segment of the tile.for_segments that it is in}}
      tile.copy %f[0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @copy_c19_alone(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      // expected-error @+1 {{expects all pieces of chunks of the factor of a tile.contract_pieces that keeps the slot, by 16 bytes, and nothing else}}
      tile.copy %f[%g + 0] to %a bytes 4 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @copy_c19_factor(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %h: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      // expected-error @+1 {{expects all pieces of chunks of the factor of a tile.contract_pieces that keeps the slot, by 16 bytes, and nothing else}}
      tile.copy %h[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c3_segment(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.for %t to %m : i32 {
        // expected-error @+1 {{expects a tile.copy_pieces of the same ring, view and pieces in front of the loop over tiles}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c13_parts(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 3 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        // expected-error @+1 {{expects tiles of a segment of 2 parts of the factor, and a slot of a ring of one with all pieces of such a part, for warps that do not share K and many rows}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c13_tiles(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %n : i32 {
        // expected-error @+1 {{expects tiles of a segment of 2 parts of the factor}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c11_kept(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x36xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x36xf32>> -> !tile.buffer<2x32x36xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x36xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x36xf32>> -> !tile.buffer<2x32x36xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        // expected-error @+1 {{expects rings of 3 pieces of 16, 32 and 32, 32 elements, or all of the latter in a slot, but got}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x36xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x36xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c13_outside(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a kept factor in tile.for_segments, and only there}}
      %s = tile.contract_pieces %x[%t], %f in %r kept %a along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
      tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 2, 128], block = [16, 1, 2, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c14(%x: !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, %f: !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, %y: !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x128xf16>>
    %r = tile.alloc : !tile.ring<3 of <16x128xf16>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.buffer<2x32x128xf16>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.ring<3 of <16x128xf16>>
      tile.for %t to %m : i32 {
        // expected-error @+1 {{expects one tile.pair_chunks of its slot in front of the loop over tiles, but got 0}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.ring<3 of <16x128xf16>> kept !tile.buffer<2x32x128xf16> -> !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>
        tile.store %s to %y[%t] along [3] box [16, 1, 2, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>, !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>
      }
      tile.release %b : !tile.buffer<2x32x128xf16>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c15(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 2, 128], block = [16, 1, 2, 64], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 2, 1], results = chunks, paired = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c15_pairs(%x: !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, %f: !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, %y: !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x128xf16>>
    %r = tile.alloc : !tile.ring<3 of <16x128xf16>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.buffer<2x32x128xf16>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x128xf16>> -> !tile.buffer<2x32x128xf16>
      tile.barrier
      tile.pair_chunks %b pieces #p : !tile.buffer<2x32x128xf16>
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.ring<3 of <16x128xf16>>
      tile.for %t to %m : i32 {
        // expected-error @+1 {{reads what other threads have written: expects a tile.barrier in between}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x2x80xf16, [320, 160, 1, 2]>, !tile.view<2x2x24x80xf16, [3840, 1, 160, 2]>, !tile.ring<3 of <16x128xf16>> kept !tile.buffer<2x32x128xf16> -> !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>
        tile.store %s to %y[%t] along [3] box [16, 1, 2, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x2x32xf32, mma.m16n8k16>, !tile.view<?x2x2x24xf16, [96, 48, 1, 2]>
      }
      tile.release %b : !tile.buffer<2x32x128xf16>
    }
    gpu.return
  }
}

// -----

// Verify that what is copied is not multiplied by without a wait.
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c15_unwaited(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        // expected-error @+1 {{reads a slot that was not waited for: expects one from tile.wait}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %a along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %a : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @wait_c3_segment(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2, groups = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      // expected-error @+1 {{lets 3 copies be pending, but only 2 were started behind the one that it waits for}}
      %b = tile.wait %k pending 3 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

// Verify that pieces are not copied to where slower threads may still read those of the segment before.
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @copy_pieces_c8(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      // expected-error @+1 {{fills what threads of a segment before may still read: expects a tile.barrier in front}}
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.barrier
      tile.for %t to %m : i32 {
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

// Verify that a barrier of each group is none of all threads, who share the part that stays.
#p = #tile.pieces<sizes = [16, 1, 1, 64], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 2, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 2], warps = [1, 2, 1], results = chunks, split = true>>
gpu.module @kron_gpu {
  gpu.func @barrier_of_group(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2, groups = 2>} {
    %k = tile.alloc : !tile.ring<1 of <2x32x32xf32>>
    %r = tile.alloc : !tile.ring<3 of <16x32xf32>>
    tile.for_segments %g, %m of %n parts 2 most 8 {
      tile.barrier
      %a = tile.acquire %k : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy %f[%g + 0] to %a bytes 16 pieces #p : !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.buffer<2x32x32xf32>
      %b = tile.wait %k pending 0 : !tile.ring<1 of <2x32x32xf32>> -> !tile.buffer<2x32x32xf32>
      tile.copy_pieces %x to %r pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <16x32xf32>>
      tile.for %t to %m : i32 {
        tile.barrier
        // expected-error @+1 {{reads what other threads have copied: expects a tile.barrier behind the tile.wait}}
        %s = tile.contract_pieces %x[%t], %f in %r kept %b along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <16x32xf32>> kept !tile.buffer<2x32x32xf32> -> !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>
        tile.store %s to %y[%t] along [3] box [16, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x16x1x1x32xf32, mma.m16n8k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
      }
      tile.release %b : !tile.buffer<2x32x32xf32>
    }
    gpu.return
  }
}

// -----

#p = #tile.pieces<sizes = [64, 1, 1, 64], block = [64, 1, 1, 32], axes = [0, 1, 2, 3], warps = 4, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 4, lanes = 1, tiles = [1, 4], warps = [4, 1, 1], results = chunks, split = true, narrow = true, warpgroups = true>>
gpu.module @kron_gpu {
  gpu.func @contract_pieces_c12_packed(%x: !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, %f: !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, %y: !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<3 of <64x32xf32>>
    %q = tile.alloc : !tile.ring<3 of <32x32xf32>>
    %w = tile.alloc : !tile.buffer<2048xf32>
    tile.copy_pieces %x to %r and %f to %q pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.ring<3 of <64x32xf32>> and !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <32x32xf32>>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a buffer of its own for 4096 sums of warps that share K, results that are staged, chunks of whole copies and operands of warpgroups, if there are some, but got '!tile.buffer<2048xf32>'}}
      %s = tile.contract_pieces %x[%t], %f in %r and %q sums %w along 3 pieces #p : !tile.view<?x2x1x40xf32, [80, 40, 0, 1]>, !tile.view<2x1x24x40xf32, [960, 0, 40, 1]>, !tile.ring<3 of <64x32xf32>> and !tile.ring<3 of <32x32xf32>> sums !tile.buffer<2048xf32> -> !tile.fragment<1x64x1x1x32xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [3] box [64, 1, 1, 32] bytes 16 axes [0, 1, 2, 3] : !tile.fragment<1x64x1x1x32xf32, wgmma.m64k8.tf32>, !tile.view<?x2x1x24xf32, [48, 24, 0, 1]>
    }
    gpu.return
  }
}
