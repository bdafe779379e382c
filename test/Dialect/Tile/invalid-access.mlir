// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of what operations may take for granted of types, sizes and views: a
// test for each way to break one.

// expected-error @+1 {{expects elements of 1, 2, 4, 8 or 16 bytes, but got 'complex<f128>'}}
func.func private @view_elements(!tile.view<?x4xcomplex<f128>>)

// -----

// expected-error @+1 {{expects elements of 1, 2, 4, 8 or 16 bytes, but got 'i1'}}
func.func private @buffer_elements(!tile.buffer<4xi1>)

// -----

// expected-error @+1 {{expects at most 2147483647 elements, but got sizes 4294967296, 4294967296}}
func.func private @buffer_elements(!tile.buffer<4294967296x4294967296xf32>)

// -----

// expected-error @+1 {{expects at most 2147483647 elements, gaps included, but got 4 positions 1073741824 apart}}
func.func private @buffer_gaps(!tile.buffer<4x4xf32, #tile.layout<[1073741824, 1]>>)

// -----

// expected-error @+1 {{expects at most 2147483647 bytes, but got 1073741824 slots of 64}}
func.func private @ring_bytes(!tile.ring<1073741824 of <4x4xf32>>)

// -----

// expected-error @+1 {{expects at most 2147483647 bytes, but got 1073741824 slots of 16}}
func.func private @ring_bytes_along(!tile.ring<1073741824 of <4x4xf32> along 0>)

// -----

// expected-error @+1 {{expects at most 2147483647 elements, but got sizes 1, 65536, 65536}}
func.func private @fragment_elements(!tile.fragment<1x65536x65536xf32>)

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c5(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for_blocks %b of [3, 4] by [1, 4] {
      // expected-error @+1 {{expects to be in a gpu.func itself, or in a tile.for}}
      tile.for_boxes %u of 64 {
        tile.barrier
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c6(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects numbers of boxes up to 2147483647, but got 4611686018427387905}}
    tile.for_boxes %u of 4611686018427387905 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c6(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects numbers of columns up to 2147483647, but got 4611686018427387905}}
    tile.for_columns %c of 4611686018427387905 by 64 atom <fma> {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_blocks_c3_many(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects blocks of a tile of 65536, 65536, but got 1, 8}}
    tile.for_blocks %b of [65536, 65536] by [1, 8] {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c2_many(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects at most 15 groups of whole warps, or one per warp, but got 576460752303423488 of 64 threads}}
    tile.barrier groups 576460752303423488
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c2_rows(%x: !tile.view<?x8xf32>, %b: !tile.buffer<4x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects rows of known sizes and up to 2147483647 elements in all, but got 268435456 rows of '!tile.view<?x8xf32>'}}
      tile.store %b to %x[%t] rows 268435456 bytes 4 : !tile.buffer<4x8xf32>, !tile.view<?x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c2_unknown(%y: !tile.view<?x?x8xf32>, %s: !tile.fragment<1x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 64 {
        // expected-error @+1 {{expects rows of known sizes and up to 2147483647 elements in all, but got 4 rows of '!tile.view<?x?x8xf32>'}}
        tile.store %s[%u] to %y[%t] along [2] rows 4 bytes 4 : !tile.fragment<1x8xf32>, !tile.view<?x?x8xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c11(%a: !tile.fragment<1x4x4xi32>, %p: !tile.operand<4x4xi32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // expected-error @+1 {{expects elements of f32 or f64 with atom fma, but got '!tile.fragment<1x4x4xi32>'}}
    %s = tile.contract %a, %p along 1 atom <fma> block [1, 4] whole : !tile.fragment<1x4x4xi32>, !tile.operand<4x4xi32> -> !tile.fragment<1x4x4xi32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c5(%a: !tile.fragment<1x4x4xcomplex<f32>>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for_columns %c of 64 by 64 atom <fma> {
      // expected-error @+1 {{expects elements of f16, bf16, f32 or f64, but got '!tile.fragment<1x4x4xcomplex<f32>>'}}
      %s = tile.dot %a, %a atom <fma> : !tile.fragment<1x4x4xcomplex<f32>>, !tile.fragment<1x4x4xcomplex<f32>> -> !tile.fragment<1x1x4xcomplex<f32>>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c4(%f: !tile.view<16x16xf32, [16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for_blocks %b of [2, 16] by [1, 16] {
      // expected-error @+1 {{expects not to be in a loop over blocks, which warps leave at different times}}
      %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c12(%x: !tile.view<?x8xf32>, %b: !tile.buffer<4x8xf32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects no other operation to read or write what it stores to, but tile.store does}}
      tile.store %b to %x[%t] rows 4 bytes 4 : !tile.buffer<4x8xf32>, !tile.view<?x8xf32>
      tile.store %b to %x[%t] rows 4 bytes 4 : !tile.buffer<4x8xf32>, !tile.view<?x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c12_read(%x: !tile.view<?x8xf32, [8, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %b = tile.alloc : !tile.buffer<4x8xf32>
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %b bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<4x8xf32>
      tile.barrier
      // expected-error @+1 {{expects no other operation to read or write what it stores to, but tile.copy does}}
      tile.store %b to %x[%t] bytes 4 : !tile.buffer<4x8xf32>, !tile.view<?x8xf32, [8, 1]>
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c22_no_axis(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<4x4xf32>
    tile.for_blocks %b of [4, 4] by [4, 4] {
      // expected-error @+1 {{expects folds of positions of one axis outside that fill a tile of 8 columns, but got 2 of a block of 4, 4 along 0}}
      %v = tile.load %w[%b] along [0] fold 2 : !tile.buffer<4x4xf32> -> !tile.fragment<1x4x4xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c22_rows(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<4x4x4xf32>
    tile.for_blocks %b of [4, 4, 4] by [1, 4, 4] {
      // expected-error @+1 {{expects folds of positions of one axis outside that fill a tile of 8 columns, but got 2 of a block of 1, 4, 4 along 2}}
      %v = tile.load %w[%b] along [2] fold 2 : !tile.buffer<4x4x4xf32> -> !tile.fragment<1x1x4x4xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c22_remainder(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<3x4x4xf32>
    tile.for_blocks %b of [3, 4, 4] by [3, 4, 4] {
      // expected-error @+1 {{expects folds of positions of one axis outside that fill a tile of 8 columns, but got 2 of a block of 3, 4, 4 along 1}}
      %v = tile.load %w[%b] along [1] fold 2 : !tile.buffer<3x4x4xf32> -> !tile.fragment<1x3x4x4xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c23(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>
    tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
      // expected-error @+1 {{expects 2 neighbours along the last of 3 dimensions to lie together, but got '!tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>'}}
      %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c23_rows(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>
    tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
      // expected-error @+1 {{expects 2 neighbours along the last of 3 dimensions to lie together, but got '!tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>'}}
      %v = tile.load %w[%b] along [2] : !tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c23_merged(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x4x8xf32, #tile.layout<[640, 40, 10, 1]>>
    tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
      // expected-error @+1 {{expects 1 neighbours along the last of 3 dimensions to lie together, but got '!tile.buffer<2x16x4x8xf32, #tile.layout<[640, 40, 10, 1]>>'}}
      %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x4x8xf32, #tile.layout<[640, 40, 10, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c23_strides(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[768, 48, 1], swizzle = [5, 3]>>
    tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
      // expected-error @+1 {{expects a swizzled buffer to have strides, and parts of axes, that are powers of two, but got '!tile.buffer<2x16x32xf32, #tile.layout<[768, 48, 1], swizzle = [5, 3]>>' and blocks of 1, 16, 32}}
      %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32, #tile.layout<[768, 48, 1], swizzle = [5, 3]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c23_parts(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<6x16x32xf32, #tile.layout<[512, 32, 1], swizzle = [5, 3]>>
    tile.for_blocks %b of [6, 16, 32] by [3, 16, 32] {
      // expected-error @+1 {{expects a swizzled buffer to have strides, and parts of axes, that are powers of two, but got '!tile.buffer<6x16x32xf32, #tile.layout<[512, 32, 1], swizzle = [5, 3]>>' and blocks of 3, 16, 32}}
      %v = tile.load %w[%b] along [1] : !tile.buffer<6x16x32xf32, #tile.layout<[512, 32, 1], swizzle = [5, 3]>> -> !tile.fragment<1x3x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c24(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x2x16x32xf32>
    tile.for_blocks %b of [2, 2, 16, 32] by [2, 2, 16, 32] {
      // expected-error @+1 {{expects several positions of a block along the contracted axes and the innermost one, and along one more, but got 2, 2, 16, 32 along 2}}
      %v = tile.load %w[%b] along [2] : !tile.buffer<2x2x16x32xf32> -> !tile.fragment<1x2x2x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c24_rows(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    tile.for_blocks %b of [2, 16, 32] by [2, 16, 32] {
      // expected-error @+1 {{expects several positions of a block along the contracted axes and the innermost one, and of one contracted axis along the one outside, but got 2, 16, 32 along 2}}
      %v = tile.load %w[%b] along [2] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x2x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c24_chain(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    tile.for_blocks %b of [2, 16, 32] by [2, 16, 32] {
      // expected-error @+1 {{expects several positions of a block along the contracted axes and the innermost one, and of one contracted axis along the one outside, but got 2, 16, 32 along 1, 2}}
      %v = tile.load %w[%b] along [1, 2] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x2x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c24_one(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<4xf32>
    tile.for_blocks %b of [4] by [4] {
      // expected-error @+1 {{expects an axis outside of the innermost one, along which rows are counted}}
      %v = tile.load %w[%b] along [0] : !tile.buffer<4xf32> -> !tile.fragment<1x4xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c25(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<3x16x32xf32>
    tile.for_blocks %b of [3, 16, 32] by [2, 16, 32] {
      // expected-error @+1 {{expects parts of axis 0 to divide it, a multiple of 1, but got 2 of 3}}
      %v = tile.load %w[%b] along [1] : !tile.buffer<3x16x32xf32> -> !tile.fragment<1x2x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c25_columns(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x48xf32>
    tile.for_blocks %b of [2, 16, 48] by [1, 16, 24] {
      // expected-error @+1 {{expects parts of axis 2 to be multiples of 16, but got 24 of 48}}
      %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x48xf32> -> !tile.fragment<1x1x16x24xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c25_rows(%n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x48x32xf32>
    tile.for_blocks %b of [2, 48, 32] by [1, 24, 32] {
      // expected-error @+1 {{expects parts of axis 1 to be multiples of 16, but got 24 of 48}}
      %v = tile.load %w[%b] along [2] : !tile.buffer<2x48x32xf32> -> !tile.fragment<1x1x24x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c10_axis(%f: !tile.view<16x16xf32, [16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<16x16x32xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for_blocks %b of [16, 16, 32] by [16, 16, 32] {
      %v = tile.load %w[%b] along [0] : !tile.buffer<16x16x32xf32> -> !tile.fragment<1x16x16x32xf32, mma.m16n8k8.tf32>
      // expected-error @+1 {{expects a block that was loaded along axis 1, which is contracted}}
      %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [512, 16] whole : !tile.fragment<1x16x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x16x16x32xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c10_together(%f: !tile.view<16x16xf32, [16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x16xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %q = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 chained>
    tile.for_blocks %b of [2, 16, 16] by [1, 16, 16] {
      %v = tile.load %w[%b] along [1, 2] : !tile.buffer<2x16x16xf32> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
      %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [16, 16] whole : !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
      // expected-error @+1 {{expects a block of 2 tiles together in front of a chained operand, but got 1}}
      %d = tile.contract %c, %q along 3 atom <mma.m16n8k8.tf32> block [16, 16] whole : !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 chained> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c7(%f: !tile.view<16x16xf32, [16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
      %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
      tile.barrier of_block
      // expected-error @+1 {{expects a block's sums from tile.contract, but got '!tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>' of no product}}
      tile.exchange %v to %w[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c8(%f: !tile.view<16x16xf32, [16, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x16xf32, #tile.layout<[256, 16, 1]>>
    %z = tile.alloc : !tile.buffer<2x16x13xf32, #tile.layout<[256, 16, 1]>>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 13] by [1, 16, 13] {
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x16xf32, #tile.layout<[256, 16, 1]>> -> !tile.fragment<1x1x16x13xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [13, 16] whole : !tile.fragment<1x1x16x13xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x13xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects room for whole vectors of 4 sums behind the 13 of the innermost axis, but got '!tile.buffer<2x16x13xf32, #tile.layout<[256, 16, 1]>>'}}
        tile.exchange %c to %z[%b] along [1] : !tile.fragment<1x1x16x13xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x13xf32, #tile.layout<[256, 16, 1]>>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c8_layout(%f: !tile.view<16x16xf32, [16, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[544, 34, 1]>>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects 4 neighbours along the last of 3 dimensions to lie together, but got '!tile.buffer<2x16x32xf32, #tile.layout<[544, 34, 1]>>'}}
        tile.exchange %c to %z[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[544, 34, 1]>>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7_box(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects the blocks of a tile of 2, 16, 32 elements, but got a box of 2, 16}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16] bytes 4 axes [0, 1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_strides(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x32xf32, [519, 33, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides and sizes of multiples of these, but got '!tile.view<?x16x32xf32, [519, 33, 1]>'}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [519, 33, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_inner(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x32xf32, [?, ?, ?]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides and sizes of multiples of these, but got '!tile.view<?x16x32xf32, [?, ?, ?]>'}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [?, ?, ?]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_size(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x30xf32, [512, 32, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides and sizes of multiples of these, but got '!tile.view<?x16x30xf32, [512, 32, 1]>'}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x30xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_one(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x32xf32, [512, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects one position of a dimension that is no axis of '!tile.view<?x32xf32, [512, 1]>', but got 16}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 4 axes [0, -1, 1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x32xf32, [512, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_merged(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x4x8xf32, [640, 40, 10, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects dimensions 2 to 3, which count as one, without a gap, but got '!tile.view<?x16x4x8xf32, [640, 40, 10, 1]>'}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 4, 8] bytes 4 axes [0, 1, 2, 3] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x4x8xf32, [640, 40, 10, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c11_part(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x4x7xf32, [512, 32, 8, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects dimensions 2 to 3, which count as one, without a gap, but got '!tile.view<?x16x4x7xf32, [512, 32, 8, 1]>'}}
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 4, 8] bytes 4 axes [0, 1, 2, 3] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x4x7xf32, [512, 32, 8, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c1_sizes(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %a: f32, %x: !tile.view<?x16x16xf32, [256, 16, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects an addend of the sizes of its result, and with strides where that has some, but got '!tile.view<?x16x16xf32, [256, 16, 1]>' for '!tile.view<?x16x32xf32, [512, 32, 1]>'}}
        tile.store %c[%b] to %y[%t] along [1] beta %a : f32 addend %x : !tile.view<?x16x16xf32, [256, 16, 1]> box [2, 16, 32] bytes 4 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c1_elements(%f: !tile.view<16x16xf32, [16, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %a: f32, %x: !tile.view<?x16x32xf16, [512, 32, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x32xf32>
    %z = tile.alloc : !tile.buffer<4xf32>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.for %t to %n {
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %w[%b] along [1] : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        // expected-error @+1 {{expects an addend of elements of '!tile.view<?x16x32xf32, [512, 32, 1]>', but got '!tile.view<?x16x32xf16, [512, 32, 1]>'}}
        tile.store %c[%b] to %y[%t] along [1] beta %a : f32 addend %x : !tile.view<?x16x32xf16, [512, 32, 1]> box [2, 16, 32] bytes 4 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_strides(%x: !tile.view<?x16x32xf32, [519, 33, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
    // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides of multiples of these, but got '!tile.view<?x16x32xf32, [519, 33, 1]>'}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [519, 33, 1]>, !tile.buffer<2x16x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_contiguous(%x: !tile.view<?x15x31xf32>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x15x32xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <2x15x32xf32>> -> !tile.buffer<2x15x32xf32>
    // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides of multiples of these, but got '!tile.view<?x15x31xf32>'}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x15x31xf32>, !tile.buffer<2x15x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_inner(%x: !tile.view<?x16x32xf32, [1024, 64, 2]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
    // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides of multiples of these, but got '!tile.view<?x16x32xf32, [1024, 64, 2]>'}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [1024, 64, 2]>, !tile.buffer<2x16x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_turned(%x: !tile.view<?x32x16xf32, [512, 16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
    // expected-error @+1 {{expects 4 elements that lie together along axis 1, with strides of multiples of these, but got '!tile.view<?x32x16xf32, [512, 16, 1]>'}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, 2, 1] : !tile.view<?x32x16xf32, [512, 16, 1]>, !tile.buffer<2x16x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_elements(%x: !tile.view<?x4xcomplex<f32>, [4, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x4xcomplex<f32>>>
    %a = tile.acquire %r : !tile.ring<2 of <2x4xcomplex<f32>>> -> !tile.buffer<2x4xcomplex<f32>>
    // expected-error @+1 {{expects elements of f16, bf16, f32 or f64, but got '!tile.view<?x4xcomplex<f32>, [4, 1]>'}}
    tile.copy %x[0] to %a bytes 8 fill axes [0, 1] : !tile.view<?x4xcomplex<f32>, [4, 1]>, !tile.buffer<2x4xcomplex<f32>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c6_strides(%x: !tile.view<?x16x32xf32, [512, 32, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[561, 33, 1]>>>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[561, 33, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>
    // expected-error @+1 {{expects chunks of 16 bytes to lie together in '!tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>'}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[561, 33, 1]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c17_one(%x: !tile.view<?x32xf32, [32, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32>>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
    // expected-error @+1 {{expects one position of a dimension that is no axis of '!tile.view<?x32xf32, [32, 1]>', but got 16}}
    tile.copy %x[0] to %a bytes 16 fill axes [0, -1, 1] : !tile.view<?x32xf32, [32, 1]>, !tile.buffer<2x16x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c1_chunks(%x: !tile.view<?x16x32xf32, [512, 32, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32, #tile.layout<[144, 9, 1]>>>
    // expected-error @+1 {{expects chunks of 16 bytes to lie together in '!tile.buffer<1x16x8xf32, #tile.layout<[144, 9, 1]>>'}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32, #tile.layout<[144, 9, 1]>>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c4_strides(%x: !tile.view<?x16x32xf32, [519, 33, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    // expected-error @+1 {{expects 4 elements that lie together along axis 2, with strides of multiples of these, but got '!tile.view<?x16x32xf32, [519, 33, 1]>'}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [519, 33, 1]>, !tile.ring<4 of <1x16x8xf32>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_pieces_c6(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    // expected-error @+1 {{expects a ring that one tile.copy_pieces and one tile.for_pieces or tile.contract_pieces take slots of, but tile.for_pieces does, too}}
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
      }
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
      }
    }
    gpu.return
  }
}

// -----

// What follows is not verified yet.
gpu.module @kron_gpu {
  gpu.func @exchange_c7_behind(%f: !tile.view<16x16xf32, [16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x16xf32>
    %z = tile.alloc : !tile.buffer<2x16x16xf32>
    tile.for_blocks %b of [2, 16, 16] by [1, 16, 16] {
      // expected-error @+1 {{expects a block's sums from tile.contract, but got '!tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>' of no product}}
      "tile.exchange"(%c, %z, %b) <{along = array<i64: 2>}> : (!tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x16xf32>, index) -> ()
      %v = tile.load %w[%b] along [2] : !tile.buffer<2x16x16xf32> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
      %c = tile.contract %v, %p along 3 atom <mma.m16n8k8.tf32> block [16, 16] whole : !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
    }
    %p = "tile.prepare"(%f) <{together = 0 : i64}> : (!tile.view<16x16xf32, [16, 1]>) -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns>
    gpu.return
  }
}

// -----

// What follows is not verified yet.
gpu.module @kron_gpu {
  gpu.func @exchange_c7_many(%f: !tile.view<16x16xf32, [16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %w = tile.alloc : !tile.buffer<2x16x16xf32>
    %z = tile.alloc : !tile.buffer<2x16x16xf32>
    tile.for_blocks %b of [2, 16, 16] by [1, 16, 16] {
      // expected-error @+1 {{expects a block's sums from tile.contract, but got '!tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>' of no product}}
      "tile.exchange"(%c, %z, %b) <{along = array<i64: 2>}> : (!tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x16xf32>, index) -> ()
      %v = tile.load %w[%b] along [2] : !tile.buffer<2x16x16xf32> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
      %c = tile.contract %v, %p along 3 atom <mma.m16n8k8.tf32> block [16, 16] whole : !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns> -> !tile.fragment<1x1x16x16xf32, mma.m16n8k8.tf32>
    }
    %p = "tile.prepare"(%f) <{together = 8 : i64}> : (!tile.view<16x16xf32, [16, 1]>) -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 columns>
    gpu.return
  }
}
