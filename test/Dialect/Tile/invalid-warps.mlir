// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of instructions of a warp, of shares of a tile, and of clusters: a test each.

// expected-error @+1 {{expects an operand of 8 x 8 elements of f64, but got 8, 4 of 'f64'}}
func.func private @f(!tile.operand<8x4xf64, dmma.m16n8k8 apart>)

// -----

// expected-error @+1 {{expects boxes of 8 positions and 16 fibres of f64, but got 8, 8 of 'f64'}}
func.func private @f(!tile.fragment<1x8x8xf64, dmma.m16n8k8>)

// -----

// expected-error @+1 {{expects boxes of 8 positions and 16 fibres of f64, but got 8, 16 of 'f32'}}
func.func private @f(!tile.fragment<1x8x16xf32, dmma.m16n8k8>)

// -----

// expected-error @+1 {{expects a swizzle within the 8 elements of a slot, but it flips bit 3 of an index}}
func.func private @f(!tile.ring<7 of <4x8xf64, #tile.layout<[8, 1], swizzle = [4, 3]>> along 0>)

// -----

// expected-error @+1 {{expects cluster to be 1 or 2, but got 3}}
module attributes {a.b = #tile.kernel<threads = 32, ctas_per_sm = 1, cluster = 3>} {}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c2(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 1024, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects at most 15 groups of whole warps, or one per warp, but got 16 of 1024 threads}}
    tile.barrier groups 16
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c3(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects cluster in a kernel of clusters, without groups}}
    tile.barrier cluster
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c3_groups(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    // expected-error @+1 {{expects cluster in a kernel of clusters, without groups}}
    tile.barrier groups 2 cluster
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c3_arrive(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    // expected-error @+1 {{expects arrive or wait of a cluster}}
    tile.barrier cluster arrive wait
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c2(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects an operand in halves in a kernel of clusters}}
    %p = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 halves>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c3(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects whole turns of all 2 warps of the CTA or of those of its cluster, without excess, repeat and order, but got 8 boxes for 4 warps}}
    tile.for_boxes %u of 8 warps 4 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c3_turns(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects whole turns of all 2 warps of the CTA or of those of its cluster, without excess, repeat and order, but got 8 boxes for 2 warps}}
    tile.for_boxes %u of 8 together 3 warps 2 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c3_repeat(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects whole turns of all 2 warps of the CTA or of those of its cluster, without excess, repeat and order, but got 8 boxes for 2 warps}}
    tile.for_boxes %u of 8 repeat warps 2 {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c15(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 {
      // expected-error @+1 {{expects boxes of warps, but got those of threads}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c15_threads(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects boxes of threads, but got those of warps}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x2xf64>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c2_warps(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects a fragment of 4 boxes, as the loop takes, but got '!tile.fragment<2x8x16xf64, dmma.m16n8k8>'}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<2x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c6_warps(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf32>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects elements of type 'f32', but got '!tile.fragment<4x8x16xf64, dmma.m16n8k8>'}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf32> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c16(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects 8 positions along one axis of sizes that are powers of two, but got 2 of 8, 8, 16}}
      %v = tile.load %s[%u] along [2] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c16_axes(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects 8 positions along one axis of sizes that are powers of two, but got 0, 1 of 8, 8, 16}}
      %v = tile.load %s[%u] along [0, 1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c16_sizes(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x12xf64>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects a buffer of sizes that are powers of two, without gaps, but got '!tile.buffer<8x8x12xf64>'}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x12xf64> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c16_inner(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects boxes of 16 fibres whose last dimension is the innermost axis of several positions, but got '!tile.fragment<4x16x8xf64, dmma.m16n8k8>'}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x16x8xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c8_warps(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 16 together 4 warps 2 {
      // expected-error @+1 {{expects the boxes of a tile of 128 fibres, but got 16 boxes}}
      %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c17(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 8 together 4 warps 2 {
      // expected-error @+1 {{expects halves of boxes along the axis of a cluster's ring, and of no others}}
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c17_threads(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf64>
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects halves of boxes of warps only}}
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<4x8x8xf64> -> !tile.fragment<1x8x4xf64>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c17_warps(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.barrier cluster
    tile.for_boxes %u of 8 warps 4 {
      // expected-error @+1 {{expects boxes of the warps of 2 CTAs, but got those of 4 warps}}
      %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    tile.barrier cluster
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c16_slots(%r: !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>) kernel {
    %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.for_boxes %u of 4 warps 2 {
      // expected-error @+1 {{expects each of 2 warps to keep to one of 4 slots}}
      %v = tile.load %s[%u] along [2] : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c8(%v: !tile.fragment<4x8x16xf64, dmma.m16n8k8>, %p: !tile.operand<8x8xf64>) kernel {
    // expected-error @+1 {{expects a fragment and an operand of atom dmma.m16n8k8, but got '!tile.fragment<4x8x16xf64, dmma.m16n8k8>' and '!tile.operand<8x8xf64>'}}
    %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [64, 8] whole : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c8_fma(%v: !tile.fragment<4x8x16xf64, dmma.m16n8k8>, %p: !tile.operand<8x8xf64, dmma.m16n8k8 apart>) kernel {
    // expected-error @+1 {{expects a fragment and an operand of atom fma, but got '!tile.fragment<4x8x16xf64, dmma.m16n8k8>' and '!tile.operand<8x8xf64, dmma.m16n8k8 apart>'}}
    %c = tile.contract %v, %p along 1 atom <fma> block [64, 8] whole : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 apart> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c9(%v: !tile.fragment<4x8x16xf64, dmma.m16n8k8>, %p: !tile.operand<8x8xf64, dmma.m16n8k8 apart>) kernel {
    // expected-error @+1 {{expects a block of all 64 fibres and 8 results, whole}}
    %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [64, 8] : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 apart> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c9_block(%v: !tile.fragment<4x8x16xf64, dmma.m16n8k8>, %p: !tile.operand<8x8xf64, dmma.m16n8k8 apart>) kernel {
    // expected-error @+1 {{expects a block of all 64 fibres and 8 results, whole}}
    %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [32, 8] whole : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 apart> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c9_order(%v: !tile.fragment<4x8x16xf64, dmma.m16n8k8>, %p: !tile.operand<8x8xf64, dmma.m16n8k8 pairs>) kernel {
    // expected-error @+1 {{expects an operand of order apart, but got '!tile.operand<8x8xf64, dmma.m16n8k8 pairs>'}}
    %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [64, 8] whole : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 pairs> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c9_pairs(%v: !tile.fragment<4x16x8xf64, dmma.m16n8k8>, %p: !tile.operand<8x8xf64, dmma.m16n8k8 apart>) kernel {
    // expected-error @+1 {{expects an operand of order pairs, but got '!tile.operand<8x8xf64, dmma.m16n8k8 apart>'}}
    %c = tile.contract %v, %p along 2 atom <dmma.m16n8k8> block [64, 8] whole : !tile.fragment<4x16x8xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 apart> -> !tile.fragment<4x16x8xf64, dmma.m16n8k8>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c14(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a swizzled buffer of sizes that are powers of two to be filled in one turn, 16 bytes at a time, by groups that keep to a slot, but got 8 times 8 bytes by 2 groups of 64 threads for '!tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>'}}
    tile.copy %x[0] to %a groups 2 bytes 8 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c14_together(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a swizzled buffer of sizes that are powers of two to be filled in one turn, 16 bytes at a time, by groups that keep to a slot, but got 4 times 16 bytes by 2 groups of 64 threads for '!tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>'}}
    tile.copy %x[0] to %a groups 2 together 4 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c14_order(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a swizzled buffer of sizes that are powers of two to be filled in one turn, 16 bytes at a time, by groups that keep to a slot, but got 8 times 16 bytes by 2 groups of 64 threads for '!tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>'}}
    tile.copy %x[0] to %a order [1, 0, 2] groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c14_slots(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a swizzled buffer of sizes that are powers of two to be filled in one turn, 16 bytes at a time, by groups that keep to a slot, but got 2 times 16 bytes by 2 groups of 128 threads for '!tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>'}}
    tile.copy %x[0] to %a groups 2 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c15(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a split along the axis of a cluster's ring}}
    tile.copy %x[0] to %a groups 2 bytes 16 split : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c15_cluster(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a split along the axis of a cluster's ring}}
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_bytes(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_boxes %u of 8 together 4 warps 2 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
        // expected-error @+1 {{expects bytes of a lane's pairs, 16, but got 8}}
        tile.store %v[%u] to %y[%t] along [1] box [8, 8, 16] bytes 8 : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.view<?x8x16xf64, [128, 16, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_apart(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [256, 32, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_boxes %u of 8 together 4 warps 2 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
        // expected-error @+1 {{expects bytes of elements that lie together in '!tile.view<?x8x16xf64, [256, 32, 2]>', but got 16}}
        tile.store %v[%u] to %y[%t] along [1] box [8, 8, 16] bytes 16 : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.view<?x8x16xf64, [256, 32, 2]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7_warps(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_boxes %u of 8 together 4 warps 2 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
        // expected-error @+1 {{expects the boxes of a tile of 256 fibres, but got 8 boxes}}
        tile.store %v[%u] to %y[%t] along [1] box [16, 8, 16] bytes 16 : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.view<?x8x16xf64, [128, 16, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_cluster(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %y: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.for_boxes %u of 8 together 4 warps 2 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<4x8x16xf64, dmma.m16n8k8>
        // expected-error @+1 {{expects boxes of the warps of 2 CTAs, but got those of 2 warps}}
        tile.store %v[%u] to %y[%t] along [1] box [8, 8, 16] bytes 16 : !tile.fragment<4x8x16xf64, dmma.m16n8k8>, !tile.view<?x8x16xf64, [128, 16, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @atom(%f: !tile.view<8x8xf64, [8, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects atom fma, dmma.m16n8k8 or one of blocks, but got mma.m16n8k16}}
    %p = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, mma.m16n8k16 apart>
    gpu.return
  }
}

// -----

// expected-error @+1 {{expects atom fma, dmma.m16n8k8 or one of blocks, but got mma.m16n8k16}}
func.func private @atom_of_fragment(!tile.fragment<2x8x16xf64, mma.m16n8k16>)

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c14_swizzle(%x: !tile.view<?x8x16xf64, [128, 16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [8, 5]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [8, 5]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [8, 5]>>
    // expected-error @+1 {{expects a swizzled buffer of sizes that are powers of two to be filled in one turn}}
    tile.copy %x[0] to %a groups 2 together 8 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [8, 5]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c15_positions(%x: !tile.view<?x5x8x16xf64, [640, 128, 16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    // expected-error @+1 {{expects a split of 8 positions along axis 1, for swizzled buffers, but got '!tile.view<?x5x8x16xf64, [640, 128, 16, 1]>'}}
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x5x8x16xf64, [640, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c15_swizzle(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1]>>
    // expected-error @+1 {{expects a split of 8 positions along axis 1, for swizzled buffers}}
    tile.copy %x[0] to %a bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1]>>
    gpu.return
  }
}
