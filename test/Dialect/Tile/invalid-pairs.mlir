// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of operations on functions of pairs: a test per rule.

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @place_c1(%a: !view, %b: !view, %y: !view, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects the number of a tile.for's tile}}
      %u = tile.place %i of %y by [16, 16] : !view
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @place_c2(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a size for each axis of a view of two axes or more, but got 3 for 2 axes}}
      %u = tile.place %t of %y by [1, 16, 16] : !view
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @place_c2_sizes(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects positive sizes, but got 0}}
      %u = tile.place %t of %y by [16, 0] : !view
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @place_c2_batch(%a: !view, %b: !view, %y: !view, %n: i64, %c: !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects 1 in front of outputs, rows and columns, but got 2}}
      %u = tile.place %t of %c by [2, 1, 16, 16] : !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @load_scalar_c1(%a: !view, %b: !view, %y: !view, %n: i64, %h: !tile.view<?xf32, [1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a place from tile.place}}
      %g = tile.load_scalar %h[%t] : !tile.view<?xf32, [1]> -> f32
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @load_scalar_c2(%a: !view, %b: !view, %y: !view, %n: i64, %h: !tile.view<?xf32, [1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects at most the 0 axes in front of the rows, but got 1}}
      %g = tile.load_scalar %h[%u] : !tile.view<?xf32, [1]> -> f32
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @load_scalar_c3(%a: !view, %b: !view, %y: !view, %n: i64, %h: !tile.view<?xf32, [1]>, %c: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %u = tile.place %t of %c by [1, 16, 16] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects the view's elements, but got 'f64'}}
      %g = tile.load_scalar %h[%u] : !tile.view<?xf32, [1]> -> f64
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c1(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      // expected-error @+1 {{expects a place from tile.place}}
      %p = tile.pairs %a, %b[%t] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c1_block(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects the block of a tile.for_pairs in one, and none elsewhere}}
      %p = tile.pairs %a, %b[%u, %t] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c2(%a: !view, %b: !view, %y: !view, %n: i64, %c: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects views of one element type, of 2 to 2 axes, but got}}
      %p = tile.pairs %c, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !tile.view<?x?x?xf32, [?, ?, 1]>, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c2_elements(%a: !view, %b: !view, %y: !view, %n: i64, %c: !tile.view<?x?xf64, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects views of one element type, of 2 to 2 axes, but got}}
      %p = tile.pairs %a, %c[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !tile.view<?x?xf64, [?, 1]>, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
!left = !tile.ring<2 of <16x16xf64, #tile.layout<[18, 1]>>>
!right = !tile.ring<2 of <16x16xf64, #tile.layout<[18, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c3(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects rings of rows x K elements of the views, but got}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !left, !right -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
!left = !tile.ring<2 of <16x16xf32, #tile.layout<[16, 1]>>>
!right = !tile.ring<2 of <16x16xf32, #tile.layout<[16, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c3_pitch(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects rows of multiples of 16 bytes that lie an odd number of 16 bytes apart, but got}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !left, !right -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
!left = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
!right = !tile.ring<3 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c3_slots(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects rings of as many slots and as many positions of K, but got}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !left, !right -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c3_own(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects rings of its own from tile.alloc}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects rings of its own from tile.alloc}}
      %q = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c4(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects lanes to be a power of two up to 32 that divides the 64 threads, but got 12}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 12 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c5(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects one box of rows and columns, but got '!tile.fragment<2x2x2xf32>'}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<2x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c5_elements(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects a fragment of 'f32', but got}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf64> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c5_buffers(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects the threads to have the rows of the buffers, 16 x 16, but got 24 x 16}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x3x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c5_place(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 8] : !view
      // expected-error @+1 {{expects the threads to have the box of the place, 16 x 8, but got 16 x 16}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c6(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects its region to take 3 values, but got 2}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %f, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c6_types(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects its region to compute with 'f32', but got 'f64'}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f64):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %f, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c6_yield(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects its region to yield one 'f32'}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @map_c2(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects its region to take 1 values, but got 2}}
      %q = tile.map %p : !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32):
        %z = math.absf %e : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @map_c1(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{failed to verify that all of {fragment, mapped} have same type}}
      %q = "tile.map"(%p) ({
      ^bb0(%e: f32):
        tile.yield %e : f32
      }) : (!tile.fragment<1x2x2xf32>) -> !tile.fragment<1x2x4xf32>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c2(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects a place from tile.place}}
      %s = tile.for_pairs %m of %blocks by 16 [%t] times %v accumulate sum lanes 8 : !view -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c3(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects values of 2 to 2 axes, but got}}
      %s = tile.for_pairs %m of %blocks by 16 [%u] times %parts accumulate sum lanes 8 : !tile.view<?x?x?xf32, [?, ?, 1]> -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c4(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects the threads to have the 32 columns of a block, but got 16}}
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v accumulate sum lanes 8 : !view -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c4_yield(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects its body to yield one fragment}}
      %s = tile.for_pairs %m of %blocks by 16 [%u] times %v accumulate sum lanes 8 : !view -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c5(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects 2 results, but got 1}}
      %s = tile.for_pairs %m of %blocks by 16 [%u] times %v accumulate logsumexp lanes 8 : !view -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c5_rows(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects results with the rows of '!tile.fragment<1x2x2xf32>', but got '!tile.fragment<1x4x3xf32>'}}
      %s = tile.for_pairs %m of %blocks by 16 [%u] times %v accumulate sum lanes 8 : !view -> !tile.fragment<1x4x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c5_place(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects the threads to have the box of the place, 16 x 3, but got 16 x 4}}
      %s = tile.for_pairs %m of %blocks by 16 [%u] times %v accumulate sum lanes 8 : !view -> !tile.fragment<1x2x4xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_c1(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %i = arith.constant 0 : index
    // expected-error @+1 {{expects to be in a tile.for itself}}
    %s = "tile.for_pairs"(%blocks, %i, %v) <{accumulation = 0 : i32, by = 16 : i64, lanes = 8 : i64}> ({
    ^bb0(%m: index):
      tile.yield
    }) : (i64, index, !view) -> !tile.fragment<1x2x3xf32>
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_pairs_accumulation(%a: !view, %b: !view, %y: !view, %n: i64, %v: !view, %blocks: i64, %parts: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %parts by [1, 16, 3] : !tile.view<?x?x?xf32, [?, ?, 1]>
      // expected-error @+1 {{expects sum, max or logsumexp, but got min}}
      %s = tile.for_pairs %m of %blocks by 16 [%u] times %v accumulate min lanes 8 : !view -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
        ^bb0(%e: f32, %f: f32, %s: f32):
          %d = arith.subf %e, %f : f32
          %z = arith.addf %s, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x2xf32>
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @store_pairs_c1(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects a place from tile.place}}
      tile.store_pairs %p to %y[%t] lanes 8 : !tile.fragment<1x2x2xf32>, !view
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @store_pairs_c1_rank(%a: !view, %b: !view, %y: !view, %n: i64, %c: !tile.view<?x?x?xf32, [?, ?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects a view of the rank of the place's, 2, but got 3}}
      tile.store_pairs %p to %c[%u] lanes 8 : !tile.fragment<1x2x2xf32>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @store_pairs_c2(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects the threads to have the box of the place, 16 x 16, but got 16 x 2}}
      tile.store_pairs %p to %y[%u] lanes 8 sums : !tile.fragment<1x2x2xf32>, !view
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @store_pairs_c3(%a: !view, %b: !view, %y: !view, %n: i64, %c: !tile.view<?x?xf64, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects a view of 'f32', or of what it accumulates, but got}}
      tile.store_pairs %p to %c[%u] lanes 8 : !tile.fragment<1x2x2xf32>, !tile.view<?x?xf64, [?, 1]>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<1 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c3_slots(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects rings of two slots or more, one of which arrives while another is read, but got '!tile.ring<1 of}}
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
gpu.module @kron_gpu {
  gpu.func @place_c3(%y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      // expected-error @+1 {{expects to be the first operation of a tile.for that carries nothing, with triangle}}
      %v = tile.place %t of %y by [16, 16] triangle : !view
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @place_c3_outputs(%y: !tile.view<?x?x?xf32, [?, ?, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects 1 in front of rows and columns with triangle}}
      %u = tile.place %t of %y by [2, 16, 16] triangle : !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!ring = !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @store_pairs_c4(%a: !view, %b: !view, %y: !view, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !ring
    %r = tile.alloc : !ring
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !view
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail : !view, !view, !ring, !ring -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = arith.addf %s, %d : f32
        tile.yield %z : f32
      }
      // expected-error @+1 {{expects multiply-adds of a triangle, lanes that are a multiple of rows and room for a tile's rows with a ring, but got}}
      tile.store_pairs %p to %y[%u] through %l lanes 8 : !tile.fragment<1x2x2xf32>, !view, !ring
    }
    gpu.return
  }
}
