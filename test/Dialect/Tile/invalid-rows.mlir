// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of operations on rows that threads share: a test per rule.

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c1(%x: !view, %q: !bytes, %s: !scales, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel without clusters}}
      %v = tile.load_rows %x[%i] threads 8 kept 8 bytes 16 : !view -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c1_cluster(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2, cluster = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel without clusters}}
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c1_boxes(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %b of 64 {
        // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel without clusters}}
        %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c2_rank(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<64xf16, [1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32, f16 or bf16 with strides, two axes or more, and rows of a known length whose elements are neighbours, but got '!tile.view<64xf16, [1]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 2 : !tile.view<64xf16, [1]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c2_contiguous(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xf16>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32, f16 or bf16 with strides, two axes or more, and rows of a known length whose elements are neighbours, but got '!tile.view<?x64xf16>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 2 : !tile.view<?x64xf16> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c2_stride(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xf16, [?, 2]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32, f16 or bf16 with strides, two axes or more, and rows of a known length whose elements are neighbours, but got '!tile.view<?x64xf16, [?, 2]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 2 : !tile.view<?x64xf16, [?, 2]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c2_element(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xf64, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32, f16 or bf16 with strides, two axes or more, and rows of a known length whose elements are neighbours, but got '!tile.view<?x64xf64, [?, 1]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 2 : !tile.view<?x64xf64, [?, 1]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c2_length(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x?xf16, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32, f16 or bf16 with strides, two axes or more, and rows of a known length whose elements are neighbours, but got '!tile.view<?x?xf16, [?, 1]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 2 : !tile.view<?x?xf16, [?, 1]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c2_large(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x2147483648xf16, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32, f16 or bf16 with strides, two axes or more, and rows of a known length whose elements are neighbours, but got '!tile.view<?x2147483648xf16, [?, 1]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 2 : !tile.view<?x2147483648xf16, [?, 1]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c3_3(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects threads to be a power of two that divides 64, but got 3}}
      %v = tile.load_rows %x[%t] threads 3 kept 8 bytes 16 : !view -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c3_128(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects threads to be a power of two that divides 64, but got 128}}
      %v = tile.load_rows %x[%t] threads 128 kept 8 bytes 16 : !view -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c4(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a fragment of type '!tile.fragment<2x8xf16>', but got '!tile.fragment<1x8xf16>'}}
      %v = tile.load_rows %x[%t] threads 4 kept 8 bytes 16 : !view -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c4_atom(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a fragment of type '!tile.fragment<1x8xf16>', but got '!tile.fragment<1x8xf16, mma.m16n8k8.tf32>'}}
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !tile.fragment<1x8xf16, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c5(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects bytes to be those of an element, or 16 that divide rows and known strides, but got 8 for '!tile.view<?x64xf16, [?, 1]>'}}
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 8 : !view -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c5_length(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x60xf16, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects bytes to be those of an element, or 16 that divide rows and known strides, but got 16 for '!tile.view<?x60xf16, [?, 1]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 16 : !tile.view<?x60xf16, [?, 1]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @load_rows_c5_stride(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xf16, [68, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects bytes to be those of an element, or 16 that divide rows and known strides, but got 16 for '!tile.view<?x64xf16, [68, 1]>'}}
      %v = tile.load_rows %y[%t] threads 8 kept 8 bytes 16 : !tile.view<?x64xf16, [68, 1]> -> !rows
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @reduce_rows_c1(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      tile.for_boxes %b of 64 {
        // expected-error @+1 {{expects what a tile.load_rows in the same turn loads}}
        %o = tile.reduce_rows %v : !rows -> !one
      }
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @reduce_rows_c1_other(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects what a tile.load_rows in the same turn loads}}
      %o = tile.reduce_rows %m : !one -> !one
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @reduce_rows_c2(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      // expected-error @+1 {{expects a result of type '!tile.fragment<1x1xf32>', but got '!tile.fragment<1x1xf16>'}}
      %m = tile.reduce_rows %v : !rows -> !tile.fragment<1x1xf16>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c1(%x: !view, %q: !bytes, %s: !scales, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects what a tile.load_rows of its tile loads, and a tile.reduce_rows of that finds, in the same turn}}
      tile.quantize_rows %v by %m to %q[%i], %s : !rows, !one, !bytes, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c1_rows(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      %w = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      // expected-error @+1 {{expects what a tile.load_rows of its tile loads, and a tile.reduce_rows of that finds, in the same turn}}
      tile.quantize_rows %w by %m to %q[%t], %s : !rows, !one, !bytes, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c1_largest(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects what a tile.load_rows of its tile loads, and a tile.reduce_rows of that finds, in the same turn}}
      tile.quantize_rows %v by %v to %q[%t], %s : !rows, !rows, !bytes, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c2_axes(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x32xi8, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects a view of i8, f8E4M3FN or f8E5M2 with strides, the axes of '!tile.view<?x64xf16, [?, 1]>', and rows whose elements are neighbours, but got '}}
      tile.quantize_rows %v by %m to %y[%t], %s : !rows, !one, !tile.view<?x32xi8, [?, 1]>, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c2_contiguous(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xi8>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects a view of i8, f8E4M3FN or f8E5M2 with strides, the axes of '!tile.view<?x64xf16, [?, 1]>', and rows whose elements are neighbours, but got '}}
      tile.quantize_rows %v by %m to %y[%t], %s : !rows, !one, !tile.view<?x64xi8>, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c2_stride(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xi8, [?, 2]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects a view of i8, f8E4M3FN or f8E5M2 with strides, the axes of '!tile.view<?x64xf16, [?, 1]>', and rows whose elements are neighbours, but got '}}
      tile.quantize_rows %v by %m to %y[%t], %s : !rows, !one, !tile.view<?x64xi8, [?, 2]>, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c2_element(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xi16, [?, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects a view of i8, f8E4M3FN or f8E5M2 with strides, the axes of '!tile.view<?x64xf16, [?, 1]>', and rows whose elements are neighbours, but got '}}
      tile.quantize_rows %v by %m to %y[%t], %s : !rows, !one, !tile.view<?x64xi16, [?, 1]>, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c3_axes(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x1xf32, [1, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects scales of f32 with strides, one for each row of '!tile.view<?x64xf16, [?, 1]>', but got }}
      tile.quantize_rows %v by %m to %q[%t], %y : !rows, !one, !bytes, !tile.view<?x1xf32, [1, 1]>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c3_contiguous(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects scales of f32 with strides, one for each row of '!tile.view<?x64xf16, [?, 1]>', but got }}
      tile.quantize_rows %v by %m to %q[%t], %y : !rows, !one, !bytes, !tile.view<?xf32>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c3_element(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?xf16, [1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects scales of f32 with strides, one for each row of '!tile.view<?x64xf16, [?, 1]>', but got }}
      tile.quantize_rows %v by %m to %q[%t], %y : !rows, !one, !bytes, !tile.view<?xf16, [1]>
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c4(%x: !view, %q: !bytes, %s: !scales, %n: i64, %o: !scales) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects no other operation to read or write what it stores to, but tile.quantize_rows does}}
      tile.quantize_rows %v by %m to %q[%t], %s : !rows, !one, !bytes, !scales
      tile.quantize_rows %v by %m to %q[%t], %o : !rows, !one, !bytes, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c4_scales(%x: !view, %q: !bytes, %s: !scales, %n: i64, %o: !bytes) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects no other operation to read or write what it stores to, but tile.quantize_rows does}}
      tile.quantize_rows %v by %m to %q[%t], %s : !rows, !one, !bytes, !scales
      tile.quantize_rows %v by %m to %o[%t], %s : !rows, !one, !bytes, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c5(%x: !view, %q: !bytes, %s: !scales, %n: i64, %y: !tile.view<?x64xi8, [100, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects known strides of its bytes to be multiples of 8, but got }}
      tile.quantize_rows %v by %m to %y[%t], %s : !rows, !one, !tile.view<?x64xi8, [100, 1]>, !scales
    }
    gpu.return
  }
}

// -----

!view = !tile.view<?x64xf16, [?, 1]>
!bytes = !tile.view<?x64xi8, [?, 1]>
!scales = !tile.view<?xf32, [1]>
!rows = !tile.fragment<1x8xf16>
!one = !tile.fragment<1x1xf32>
gpu.module @kron_gpu {
  gpu.func @quantize_rows_c6(%x: !view, %q: !bytes, %s: !scales, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 8 kept 8 bytes 16 : !view -> !rows
      %m = tile.reduce_rows %v : !rows -> !one
      // expected-error @+1 {{expects native for 8-bit floats, but got 'i8'}}
      tile.quantize_rows %v by %m to %q[%t], %s native : !rows, !one, !bytes, !scales
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_rows_c1_kernel(%x: !tile.view<?x64xf32, [64, 1]>, %n: i32) kernel {
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself}}
      %r = tile.load_rows %x[%t] threads 1 kept 8 bytes 4 : !tile.view<?x64xf32, [64, 1]> -> !tile.fragment<16x4xf32>
    }
    gpu.return
  }
}
