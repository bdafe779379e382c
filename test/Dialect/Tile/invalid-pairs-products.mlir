// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of products of rows by matrix instructions, and of what takes their place: a test per rule.

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c1(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects a place from tile.place}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%i] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c1_block(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects the block of a tile.for_pairs in one, and none elsewhere}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u, %i] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c2(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects one view of either side, or two of f16 with scales, but got 2 and 1}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b : !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c2_scales(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects one view of either side, or two of f16 with scales, but got 2 and 2}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c2_elements(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects views of 'f16', of 2 to 2 axes, but got}}
      %p, %h = tile.multiply_rows(%a, %x : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf32, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c3(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects rings of 2 x 16 rows of 64 bytes of 'f16', but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <16x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c3_bytes(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x64xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x64xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects rings of 2 x 16 rows of 64 bytes of 'f16', but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x64xf16>>, !tile.ring<2 of <64x64xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c3_slots(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<3 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects rings of as many slots and as many positions of K, but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<3 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c3_one(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<1 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects rings of two slots or more, one of which arrives while another is read, but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<1 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c4(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{at least 4 and in rows of whole warps, but got 2 of 64 threads}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 2 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c4_warps(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{at least 4 and in rows of whole warps, but got 16 of 64 threads}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 16 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c5(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects a fragment of an atom that multiplies 'f16', but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c5_pairs(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects rows and columns in pairs, but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x3x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c5_place(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects the threads to have the box of the place, 16 x 16, but got 16 x 32}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c6(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects norms and scales of both sides or none, but got 1}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e : !tile.view<?xf32, [1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c6_axes(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects views of 'f32', of 1 to 1 axes, but got}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 norms(%e, %x : !tile.view<?xf32, [1]>, !tile.view<?x?xf32, [?, 1]>) scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_rows_c9(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %f: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects norms and no block with same_rows}}
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) [%u] through %l, %r lanes 8 scales(%e, %f : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0 same_rows
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c5_products(%a: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects products, and whether they are exact, of the type of its results, or neither and an fma fragment, but got}}
      %p = tile.pairs %a, %a[%u] through %l, %r lanes 8 from 0.0 : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32, mma.m16n8k16> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        tile.yield %s : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
!part = !tile.view<?x?x?xf32, [?, ?, 1]>
!products = !tile.fragment<1x2x2xf32, mma.m16n8k16>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c4_lanes(%y: !part, %v: !view, %blocks: i64, %n: i64, %p: !products) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 1] : !part
      // expected-error @+1 {{expects 4 lanes for}}
      %s = tile.for_pairs %b of %blocks by 16 [%u] times %v accumulate sum lanes 8 : !view -> !tile.fragment<1x2x1xf32, mma.m16n8k16> {
        tile.yield %p : !products
      }
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!rows = !tile.view<?x?xf32, [?, 1]>
!norms = !tile.view<?xf32, [1]>
!left = !tile.ring<2 of <128x32xf16>>
!right = !tile.ring<2 of <64x32xf16>>
!own = !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
!other = !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
!values = !tile.ring<2 of <4x128xf32>>
!matrix = !tile.fragment<1x2x8xf32, wgmma.m64k16>
!sums = !tile.fragment<1x2x2xf32, wgmma.m64k16>
!packed = !tile.view<?x?xf32, [?, 1]>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c6_kind(%a: !part, %e: !norms, %x: !rows, %v: !packed, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    %o = tile.alloc : !own
    %q = tile.alloc : !other
    %w = tile.alloc : !values
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects a sum of products of matrix instructions with one tile.pairs for values through a ring, but got}}
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v through %w accumulate max lanes 4 : !packed, !values -> !sums {
        %p, %h = tile.multiply_rows(%a, %a : !part, !part) by(%a, %a : !part, !part) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !norms, !norms) scales(%e, %e : !norms, !norms) along %n roundings 16.0 : !left, !right -> !matrix
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !matrix) : !rows, !rows, !own, !other -> !matrix {
        ^bb0(%f: f32, %g: f32, %i: f32):
          tile.yield %i : f32
        }
        tile.yield %d : !matrix
      }
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!rows = !tile.view<?x?xf32, [?, 1]>
!norms = !tile.view<?xf32, [1]>
!left = !tile.ring<2 of <128x32xf16>>
!right = !tile.ring<2 of <64x32xf16>>
!own = !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
!other = !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
!values = !tile.ring<2 of <4x128xf32>>
!matrix = !tile.fragment<1x2x8xf32, wgmma.m64k16>
!sums = !tile.fragment<1x2x2xf32, wgmma.m64k16>
!packed = !tile.view<?x?xf16, [?, 1]>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c6_elements(%a: !part, %e: !norms, %x: !rows, %v: !packed, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    %o = tile.alloc : !own
    %q = tile.alloc : !other
    %w = tile.alloc : !values
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects packed values of 'f32', but got}}
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v through %w accumulate sum lanes 4 : !packed, !values -> !sums {
        %p, %h = tile.multiply_rows(%a, %a : !part, !part) by(%a, %a : !part, !part) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !norms, !norms) scales(%e, %e : !norms, !norms) along %n roundings 16.0 : !left, !right -> !matrix
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !matrix) : !rows, !rows, !own, !other -> !matrix {
        ^bb0(%f: f32, %g: f32, %i: f32):
          tile.yield %i : f32
        }
        tile.yield %d : !matrix
      }
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!rows = !tile.view<?x?xf32, [?, 1]>
!norms = !tile.view<?xf32, [1]>
!left = !tile.ring<2 of <128x32xf16>>
!right = !tile.ring<2 of <64x32xf16>>
!own = !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
!other = !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
!values = !tile.ring<2 of <4x96xf32>>
!matrix = !tile.fragment<1x2x8xf32, wgmma.m64k16>
!sums = !tile.fragment<1x2x2xf32, wgmma.m64k16>
!packed = !tile.view<?x?xf32, [?, 1]>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c6_words(%a: !part, %e: !norms, %x: !rows, %v: !packed, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    %o = tile.alloc : !own
    %q = tile.alloc : !other
    %w = tile.alloc : !values
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects a ring of its own of two buffers of 4 rows of 8 or 16 'f32' for each of a multiple of eight columns, 8, but got}}
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v through %w accumulate sum lanes 4 : !packed, !values -> !sums {
        %p, %h = tile.multiply_rows(%a, %a : !part, !part) by(%a, %a : !part, !part) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !norms, !norms) scales(%e, %e : !norms, !norms) along %n roundings 16.0 : !left, !right -> !matrix
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !matrix) : !rows, !rows, !own, !other -> !matrix {
        ^bb0(%f: f32, %g: f32, %i: f32):
          tile.yield %i : f32
        }
        tile.yield %d : !matrix
      }
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!rows = !tile.view<?x?xf32, [?, 1]>
!norms = !tile.view<?xf32, [1]>
!left = !tile.ring<2 of <128x32xf16>>
!right = !tile.ring<2 of <64x32xf16>>
!own = !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
!other = !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
!values = !tile.ring<3 of <4x128xf32>>
!matrix = !tile.fragment<1x2x8xf32, wgmma.m64k16>
!sums = !tile.fragment<1x2x2xf32, wgmma.m64k16>
!packed = !tile.view<?x?xf32, [?, 1]>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c6_slots(%a: !part, %e: !norms, %x: !rows, %v: !packed, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    %o = tile.alloc : !own
    %q = tile.alloc : !other
    %w = tile.alloc : !values
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects a ring of its own of two buffers of 4 rows of 8 or 16 'f32' for each of a multiple of eight columns, 8, but got}}
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v through %w accumulate sum lanes 4 : !packed, !values -> !sums {
        %p, %h = tile.multiply_rows(%a, %a : !part, !part) by(%a, %a : !part, !part) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !norms, !norms) scales(%e, %e : !norms, !norms) along %n roundings 16.0 : !left, !right -> !matrix
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !matrix) : !rows, !rows, !own, !other -> !matrix {
        ^bb0(%f: f32, %g: f32, %i: f32):
          tile.yield %i : f32
        }
        tile.yield %d : !matrix
      }
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!left = !tile.ring<2 of <32x32xf16>>
!right = !tile.ring<2 of <16x32xf16>>
gpu.module @kron_gpu {
  gpu.func @multiply_rows_c7(%a: !part, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [32, 16] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects 4 lanes, whole warpgroups and up to 256 columns for}}
      %p, %h = tile.multiply_rows(%a : !part) by(%a : !part) [%u] through %l, %r lanes 4 along %n roundings 16.0 : !left, !right -> !tile.fragment<1x2x4xf32, wgmma.m64k16>
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!left = !tile.ring<2 of <64x32xf16>>
!right = !tile.ring<2 of <16x32xf16>>
gpu.module @kron_gpu {
  gpu.func @multiply_rows_c8_along(%a: !part, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [64, 16] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects K with warpgroups alone, for}}
      %p, %h = tile.multiply_rows(%a : !part) by(%a : !part) [%u] through %l, %r lanes 4 roundings 16.0 : !left, !right -> !tile.fragment<1x2x4xf32, wgmma.m64k16>
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?xf16, [?, 1]>
!left = !tile.ring<2 of <16x32xf16>>
!right = !tile.ring<2 of <16x32xf16>>
gpu.module @kron_gpu {
  gpu.func @multiply_rows_c8_atom(%a: !part, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects K with warpgroups alone, for}}
      %p, %h = tile.multiply_rows(%a : !part) by(%a : !part) [%u] through %l, %r lanes 4 along %n roundings 16.0 : !left, !right -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
    }
    gpu.return
  }
}

// -----

!part = !tile.view<?x?x16xf16, [?, 16, 1]>
!left = !tile.ring<2 of <64x32xf16>>
!right = !tile.ring<2 of <16x32xf16>>
gpu.module @kron_gpu {
  gpu.func @multiply_rows_c8_steps(%a: !part, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [64, 16] : !tile.view<?x?xf32, [?, 1]>
      // expected-error @+1 {{expects views of steps of 64 bytes, but got}}
      %p, %h = tile.multiply_rows(%a : !part) by(%a : !part) [%u] through %l, %r lanes 4 along %n roundings 16.0 : !left, !right -> !tile.fragment<1x2x4xf32, wgmma.m64k16>
    }
    gpu.return
  }
}
