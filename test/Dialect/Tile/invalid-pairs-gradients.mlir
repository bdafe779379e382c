// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of operations on gradients of functions of pairs: a test per rule.

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_gradients_c1(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      // expected-error @+1 {{expects its body to yield '!tile.fragment<1x1x2xf32>'}}
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %w : !matrix
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_gradients_c1_arguments(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      // expected-error @+1 {{expects a body that takes the number of a block and '!tile.fragment<1x1x2xf32>'}}
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result, %z: index):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_gradients_c2(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      // expected-error @+1 {{expects a place from tile.place}}
      %s = tile.for_gradients %blocks by 32 of %b[%t] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_gradients_c3(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64, %z: !tile.view<?xf32, [1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      // expected-error @+1 {{expects a view of 2 to 2 axes, but got '!tile.view<?xf32, [1]>'}}
      %s = tile.for_gradients %blocks by 32 of %z[%u] : !tile.view<?xf32, [1]> -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @for_gradients_c4(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [2, 16, 8] : !sums
      // expected-error @+1 {{expects 2 boxes of rows and columns, but got '!tile.fragment<1x1x2xf32>'}}
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c1(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects the block of the tile.for_gradients that it is in}}
        %w = tile.weigh_pairs [%u, %t] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c2(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects a gradient or up to two factors, but got 0 factors}}
        %w = tile.weigh_pairs [%u, %m] lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c2_view(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64, %z: !tile.view<?x?xf64, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects views of 2 to 3 axes of elements that are accumulated in 'f32', but got '!tile.view<?x?xf64, [?, 1]>'}}
        %w = tile.weigh_pairs [%u, %m] grad(%z : !tile.view<?x?xf64, [?, 1]>) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x2xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c3(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects the threads to have the 32 columns of a block, but got 16}}
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x4x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c3_rows(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects the threads to have the box of the place, 16 x 8, but got 32 x 8}}
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c3_pairs(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects pairs of its result's type, but got '!tile.fragment<1x1x2xf32>'}}
        %w = tile.weigh_pairs %o : !result [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @weigh_pairs_c4(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        // expected-error @+1 {{expects lanes to be a power of two up to 32 that divides the 64 threads, but got 6}}
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 6 -> !matrix
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c1(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects sums, place and columns of the tile.for_gradients}}
        %x = tile.add_derivatives %w to %o of %a, %h[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c2(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64, %z: !tile.view<?x?xf16, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects views of 'f32', but got '!tile.view<?x?xf16, [?, 1]>'}}
        %x = tile.add_derivatives %w to %o of %z, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !tile.view<?x?xf16, [?, 1]>, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<2 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c3(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects a ring of one buffer of 32 x 8 'f32', but got '!tile.ring<2 of <32x8xf32>>'}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x8xf32>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c3_weights(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects a ring of one buffer of 32 x 16 'f32', but got '!tile.ring<1 of <32x8xf32>>'}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32, #tile.layout<[9, 1]>>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c3_bytes(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects columns of multiples of 16 bytes, but got '!tile.ring<1 of <32x8xf32, #tile.layout<[9, 1]>>>'}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x4xf32>
!columns = !tile.ring<1 of <32x16xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c3_own(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 16] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects rings of its own from tile.alloc}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %c lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !columns {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c4(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects lanes to be a power of two up to 32 that divides the 64 threads, but got 3}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 3 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x3xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c5(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects the threads to have the box of the place, 16 x 8, but got 16 x 12}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<2x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c5_outputs(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [2, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects sums of 'f32', one box without outputs, but got '!tile.fragment<2x1x2xf32>'}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32, %q: f32):
          %d = arith.subf %p, %q : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @add_derivatives_c6(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !view -> !result {
      ^bb0(%m: index, %o: !result):
        %w = tile.weigh_pairs [%u, %m] grad(%h : !view) lanes 8 -> !matrix
        // expected-error @+1 {{expects its region to take 2 values, but got 1}}
        %x = tile.add_derivatives %w to %o of %a, %b[%u, %m] through %c, %r lanes 4 weight_lanes 8 : !matrix, !result, !view, !view, !columns, !weights {
        ^bb0(%p: f32):
          %d = arith.subf %p, %p : f32
          tile.yield %d : f32
        }
        tile.yield %x : !result
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !result, !sums
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @pairs_c1_outputs(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    %l = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    %k = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [2, 16, 8] : !sums
      // expected-error @+1 {{expects one position in front of the rows, but got 2}}
      %e = tile.pairs %a, %b[%u] through %l, %k lanes 4 from 0.0 : !view, !view, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !result {
      ^bb0(%p: f32, %q: f32, %v: f32):
        tile.yield %v : f32
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x?xf32, [?, 1]>
!sums = !tile.view<?x?x?xf32, [?, ?, 1]>
!matrix = !tile.fragment<1x2x4xf32>
!result = !tile.fragment<1x1x2xf32>
!columns = !tile.ring<1 of <32x8xf32>>
!weights = !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
gpu.module @kron_gpu {
  gpu.func @store_pairs_c2_boxes(%a: !view, %b: !view, %h: !view, %y: !sums, %blocks: i64, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !columns
    %r = tile.alloc : !weights
    %l = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    %k = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !sums
      %z = tile.place %t of %y by [2, 16, 8] : !sums
      %e = tile.pairs %a, %b[%u] through %l, %k lanes 4 from 0.0 : !view, !view, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>> -> !result {
      ^bb0(%p: f32, %q: f32, %v: f32):
        tile.yield %v : f32
      }
      // expected-error @+1 {{expects 2 boxes of rows and columns, but got '!tile.fragment<1x1x2xf32>'}}
      tile.store_pairs %e to %y[%z] lanes 4 : !result, !sums
    }
    gpu.return
  }
}
