// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of operations on rows in registers: a test per rule.

gpu.module @kron_gpu {
  gpu.func @keep_rows_c1(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      // expected-error @+1 {{expects a place from tile.place}}
      %r = tile.keep_rows %a[%i] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @keep_rows_c2(%a: !tile.view<?xf32, [1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      // expected-error @+1 {{expects a view of 2 to 3 axes, but got}}
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?xf32, [1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @keep_rows_c3(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      // expected-error @+1 {{expects a fragment of rows x 3 values of 'f32', but got}}
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x4xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x4xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @keep_rows_c3_place(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      // expected-error @+1 {{expects the threads to have the box of the place, 32 x 1, but got 64 x 1}}
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x2x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x2x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @keep_rows_c4(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      // expected-error @+1 {{expects lanes to be a power of two up to 32 that divides the 64 threads, but got 3}}
      %r = tile.keep_rows %a[%u] lanes 3 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c1(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects the block of a tile.for_pairs in one, and none elsewhere}}
        %p = tile.pairs_of_rows %r, %b[%u, %i] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c1_place(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %w = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects the place of its tile.for_pairs, and to be the only one there}}
        %p = tile.pairs_of_rows %r, %b[%w, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c2(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects rows from a tile.keep_rows of its place with 1 lanes}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 1 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c2_view(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?xf32, [1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects a view of 2 to 3 axes, but got}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?xf32, [1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c2_k(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x4xf32, [4, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects a view of as many positions of K as}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x4xf32, [4, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c3(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<1 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects a ring of two slots or more, of columns x 3 elements of the view or more, but got}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<1 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c3_bytes(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects rows of multiples of 16 bytes that lie an odd number of 16 bytes apart, but got}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c4(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <4x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects a fragment of 1 rows and of 4 columns for all lanes, but got}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <4x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pairs_of_rows_c5(%a: !tile.view<?x3xf32, [3, 1]>, %b: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        // expected-error @+1 {{expects its region to take 3 values, but got 2}}
        %p = tile.pairs_of_rows %r, %b[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32):
          %z = math.fma %e, %f, %f : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
    }
    gpu.return
  }
}
