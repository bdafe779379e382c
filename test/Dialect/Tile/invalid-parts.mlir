// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of operations on parts of fibres, of buffers that are no slots, and of epilogues.

gpu.module @kron_gpu {
  gpu.func @multiply_c1_loop(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 {
        // expected-error @+1 {{expects boxes of a tile.for_boxes in parts, without across and lanes}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c1_count(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 20 together 2 parts 2 {
        // expected-error @+1 {{expects 24 boxes, the fibres of '!tile.buffer<4x5x6xf32>', but got 20}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c2(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects along to be less than 3, but got 3}}
        %s = tile.multiply %a[%u], %p along 3 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c3(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects sums of 2 fibres of 'f32', but got '!tile.fragment<3x4xf32>'}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<3x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c4(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects an operand of 5 positions and 6 results for '!tile.buffer<4x5x6xf32>', but got '!tile.operand<5x8xf32>'}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x3xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c5(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 20 together 2 parts 2 {
        // expected-error @+1 {{expects a factor of 6 positions and up to 8 results, with strides, for '!tile.buffer<4x5x6xf32>', but got '!tile.view<5x8xf32, [8, 1]>'}}
        %s = tile.multiply %a[%u], %f along 2 : !tile.buffer<4x5x6xf32>, !tile.view<5x8xf32, [8, 1]> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c6_varying(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects a tile of a tile.for, and fibres one by one, for a factor that varies}}
        %s = tile.multiply %a[%u], %v tile %t along 1 : !tile.buffer<4x5x6xf32>, !tile.view<?x8x6x5xf32, [0, 1, 40, 8]> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c6_operand(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects no tile for a factor that does not vary}}
        %s = tile.multiply %a[%u], %p tile %t along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c7(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects complex elements to conjugate, but got '!tile.buffer<4x5x6xf32>'}}
        %s = tile.multiply %a[%u], %p along 1 conj_factor : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c6_axis(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
        // expected-error @+1 {{expects parts along one axis, from 0 to 2, but got 1, 2}}
        tile.exchange %s to %b[%u] along [1, 2] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x6xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c6_fibres(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %c = tile.alloc : !tile.buffer<4x8x5xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
        // expected-error @+1 {{expects the parts of all fibres of a tile of 4, 8, 5 elements along 1, but got 24 fibres in 2 parts of 4}}
        tile.exchange %s to %c[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x5xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c6_elements(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %c = tile.alloc : !tile.buffer<4x8x6xf64>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
        // expected-error @+1 {{expects elements of type 'f64', but got '!tile.fragment<2x4xf32>'}}
        tile.exchange %s to %c[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x6xf64>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c6_turn(%s: !tile.fragment<2x4xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    tile.for_boxes %u of 24 parts 2 {
      // expected-error @+1 {{expects parts of 1 fibres, as the loop takes, but got '!tile.fragment<2x4xf32>'}}
      tile.exchange %s to %b[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x6xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c6_order(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 order [1, 0] parts 2 {
        // expected-error @+1 {{expects an order of axes 0 to 2, but got 1, 0}}
        %s = tile.multiply %a[%u], %p along 1 : !tile.buffer<4x5x6xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
        tile.exchange %s to %b[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x8x6xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c20(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects whole boxes, but got parts of fibres}}
        %w = tile.load %a[%u] along [1] : !tile.buffer<4x5x6xf32> -> !tile.fragment<2x5x1xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c4(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      // expected-error @+1 {{expects parts of fibres of threads, without excess and warps}}
      tile.for_boxes %u of 24 excess parts 2 {
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c16(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      // expected-error @+1 {{expects a box of this turn, whole, by single elements and by all threads, for what is no slot}}
      tile.copy %x[%t + 1] to %a bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c16_bytes(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      // expected-error @+1 {{expects a box of this turn, whole, by single elements and by all threads, for what is no slot}}
      tile.copy %x[%t + 0] to %a bytes 8 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c1_sums(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %z: !tile.view<?x5x6xf64, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      // expected-error @+1 {{expects elements of type 'f32', but got '!tile.view<?x5x6xf64, [30, 6, 1]>'}}
      tile.copy %z[%t + 0] to %a bytes 8 : !tile.view<?x5x6xf64, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c10_sums(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      // expected-error @+1 {{expects an order of axes 0 to 2, but got 0, 0, 1}}
      tile.copy %x[%t + 0] to %a order [0, 0, 1] bytes 4 : !tile.view<?x5x6xf32, [30, 6, 1]>, !tile.buffer<4x5x6xf32>
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c1_more(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    // expected-error @+1 {{expects a factor of the operand's sizes and elements, but got '!tile.view<5x8xf32, [8, 1]>' for '!tile.operand<5x7xf32>'}}
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x7xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10_elements(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %h: !tile.view<?x8x6xf16, [48, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      // expected-error @+1 {{expects an epilogue's arrays of 'f32', as are stored, but got '!tile.view<?x8x6xf16, [48, 6, 1]>'}}
      tile.store %b to %y[%t] residual %h : !tile.view<?x8x6xf16, [48, 6, 1]> bytes 4 : !tile.buffer<4x8x6xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10_axes(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      // expected-error @+1 {{expects an epilogue's arrays of the sizes of '!tile.view<?x8x6xf32, [48, 6, 1]>', but got '!tile.view<5x8xf32, [8, 1]>'}}
      tile.store %b to %y[%t] bias %f : !tile.view<5x8xf32, [8, 1]> bytes 4 : !tile.buffer<4x8x6xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10_scale(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      // expected-error @+1 {{expects a scale of type 'f32', but got 2.000000e+00 : f64}}
      tile.store %b to %y[%t] scale 2.0 : f64 bytes 4 : !tile.buffer<4x8x6xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10_activation(%x: !tile.view<?x5x6xi32, [30, 6, 1]>, %y: !tile.view<?x8x6xi32, [48, 6, 1]>, %f: !tile.view<5x8xi32, [8, 1]>, %v: !tile.view<?x8x6x5xi32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xi32>
    %b = tile.alloc : !tile.buffer<4x8x6xi32>
    %p = tile.prepare %f : !tile.view<5x8xi32, [8, 1]> -> !tile.operand<5x8xi32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      // expected-error @+1 {{expects real elements for an activation, and floats for gelu and silu, but got 'i32'}}
      tile.store %b to %y[%t] activation <gelu> bytes 4 : !tile.buffer<4x8x6xi32>, !tile.view<?x8x6xi32, [48, 6, 1]>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c10_rows(%x: !tile.view<?x5x6xf32, [30, 6, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %f: !tile.view<5x8xf32, [8, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 1, 40, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xf32>
    %b = tile.alloc : !tile.buffer<4x8x6xf32>
    %p = tile.prepare %f : !tile.view<5x8xf32, [8, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
      }
      // expected-error @+1 {{expects an epilogue of a box that is stored element by element}}
      tile.store %b to %y[%t] activation <relu> rows 4 bytes 4 : !tile.buffer<4x8x6xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c10(%f: !tile.view<8x8xi32, [8, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<64x8xi32>
    tile.for_boxes %u of 64 parts 1 {
      // expected-error @+1 {{expects floats for semiring max_plus, but got '!tile.buffer<64x8xi32>'}}
      %s = tile.multiply %a[%u], %f along 1 semiring <max_plus> : !tile.buffer<64x8xi32>, !tile.view<8x8xi32, [8, 1]> -> !tile.fragment<1x8xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c1(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 20 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects boxes of a tile.for_boxes in parts, one for each of 24 fibres}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c2(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects along to be an axis of the sizes of a tile, but got 3 and 4, 8, 6}}
        %s = tile.multiply_views %x[%u], %v tile %t along 3 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c3(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects sums of 2 fibres, but got '!tile.fragment<3x4xf32>'}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<3x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c4(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects views with strides of the 3 axes of the box and of a known K, of the same sizes and of elements that 'f64' are sums of, but got '!tile.view<?x8x6x5xf16, [30, 0, 1, 6]>' beside '!tile.view<?x8x6x5xf16, [30, 0, 1, 6]>'}}
        %s = tile.multiply_views %h[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf64>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c4_axes(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 4 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects views with strides of the 2 axes of the box and of a known K, of the same sizes and of elements that 'f32' are sums of, but got '!tile.view<?x8x6x5xf32, [30, 0, 1, 6]>' beside '!tile.view<?x8x6x5xf32, [30, 0, 1, 6]>'}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c5(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects a tile of a tile.for}}
        %s = tile.multiply_views %x[%u], %v tile %u along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c6(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 2 {
        // expected-error @+1 {{expects 2 fibres across an axis of 4, 8, 6 that they divide and the factor does not vary on, but got 2}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c6_none(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // expected-error @+1 {{expects 2 fibres across an axis of 4, 8, 6 that they divide and the factor does not vary on, but got 3}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c6_divides(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 30 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects 2 fibres across an axis of 5, 8, 6 that they divide and the factor does not vary on, but got 0}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [5, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_views_c7(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 {
        // expected-error @+1 {{expects complex elements to conjugate, but got 'f32'}}
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] conj_factor : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c7(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects across and lanes of boxes in parts only, and lanes to be a power of two up to 32 of whole warps, but got 4}}
      tile.for_boxes %u of 24 together 2 lanes 4 {
        
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c7_lanes(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %h: !tile.view<?x8x6x5xf16, [30, 0, 1, 6]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects across and lanes of boxes in parts only, and lanes to be a power of two up to 32 of whole warps, but got 3}}
      tile.for_boxes %u of 24 together 2 parts 2 lanes 3 {
        
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @multiply_c1_lanes(%f: !tile.view<8x8xf32, [8, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<64x8xf32>
    tile.for_boxes %u of 64 parts 1 lanes 2 {
      // expected-error @+1 {{expects boxes of a tile.for_boxes in parts, without across and lanes}}
      %s = tile.multiply %a[%u], %f along 1 : !tile.buffer<64x8xf32>, !tile.view<8x8xf32, [8, 1]> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c6_across(%x: !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, %v: !tile.view<?x8x6x5xf32, [0, 30, 1, 6]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 1, 6]>, !tile.view<?x8x6x5xf32, [0, 30, 1, 6]> -> !tile.fragment<2x4xf32>
        // expected-error @+1 {{expects 2 fibres across another axis of 3, 8, 8 that they divide, but got 0}}
        tile.store %s[%u] to %y[%t] along [1] box [3, 8, 8] bytes 4 : !tile.fragment<2x4xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c8(%x: !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 5, 0, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects vectors of boxes across an axis, without lanes, to divide the 2 parts that one tile.store has, but got 4}}
      tile.for_boxes %u of 24 together 2 parts 2 across 2 vectors 4 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, !tile.view<?x8x6x5xf32, [0, 5, 0, 1]> -> !tile.fragment<2x4xf32>
        tile.store %s[%u] to %y[%t] along [1] box [4, 8, 6] bytes 4 : !tile.fragment<2x4xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c8_lanes(%x: !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 5, 0, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects vectors of boxes across an axis, without lanes, to divide the 2 parts that one tile.store has, but got 2}}
      tile.for_boxes %u of 24 together 2 parts 2 across 2 lanes 2 vectors 2 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, !tile.view<?x8x6x5xf32, [0, 5, 0, 1]> -> !tile.fragment<2x4xf32>
        tile.store %s[%u] to %y[%t] along [1] box [4, 8, 6] bytes 4 : !tile.fragment<2x4xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c8_none(%x: !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 5, 0, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects vectors of boxes across an axis, without lanes, to divide the 2 parts that one tile.store has, but got 2}}
      tile.for_boxes %u of 24 together 2 parts 2 across 2 vectors 2 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, !tile.view<?x8x6x5xf32, [0, 5, 0, 1]> -> !tile.fragment<2x4xf32>
        
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c16(%x: !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, %v: !tile.view<?x8x6x5xf32, [0, 5, 0, 1]>, %y: !tile.view<?x8x6xf32, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 vectors 2 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 8, 6] : !tile.view<?x8x6x5xf32, [30, 0, 5, 1]>, !tile.view<?x8x6x5xf32, [0, 5, 0, 1]> -> !tile.fragment<2x4xf32>
        // expected-error @+1 {{expects vectors of 2 neighbours of a view, of 16 bytes or less, of numbers that are not complex}}
        tile.store %s[%u] to %y[%t] along [1] box [4, 8, 6] bytes 4 : !tile.fragment<2x4xf32>, !tile.view<?x8x6xf32, [48, 6, 1]>
      }
    }
    gpu.return
  }
}
