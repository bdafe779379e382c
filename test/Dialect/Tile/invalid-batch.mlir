// RUN: kron-opt %s -verify-diagnostics --split-input-file

// Rules of products that are summed over a batch, and of the sums of its pieces.

// expected-error @+1 {{expects four positive sizes of at most 1099511627775 weights, but got 1, 16, 8}}
#batch = #tile.batch<f32, sizes = [1, 16, 8], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects four positive sizes of at most 1099511627775 weights, but got 1, 0, 8, 4}}
#batch = #tile.batch<f32, sizes = [1, 0, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects four positive sizes of at most 1099511627775 weights, but got 1048576, 1048576, 8, 4}}
#batch = #tile.batch<f32, sizes = [1048576, 1048576, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects an atom for its elements and residuals, but got mma.m16n8k8.tf32 for 'f16' and none}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = none, last = false>

// -----

// expected-error @+1 {{expects an atom for its elements and residuals, but got wgmma.m64k8.tf32 for 'f32' and tf32}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = wgmma.m64k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects an atom for its elements and residuals, but got fma for 'f32' and none}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = fma, residuals = none, last = false>

// -----

// expected-error @+1 {{expects an atom for its elements and residuals, but got mma.m16n8k8.f64 for 'f64' and bf16}}
#batch = #tile.batch<f64, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.f64, residuals = bf16, last = false>

// -----

// expected-error @+1 {{expects chunks of 16 bytes, or of 8 unless elements are f64 or the batch is last, but got 4}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 4, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects chunks of 16 bytes, or of 8 unless elements are f64 or the batch is last, but got 8}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 8, atom = mma.m16n8k8.tf32, residuals = tf32, last = true>

// -----

// expected-error @+1 {{expects three positive numbers of warps, of at most 1024 threads, but got 1, 1}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects three positive numbers of warps, of at most 1024 threads, but got 8, 8, 1}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [8, 8, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects two positive numbers of tiles, but got 1, 0}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 0], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects a step that is a power of two up to 65536, but got 24}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 24, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects a step that is a power of two up to 65536, but got 131072}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 131072, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects at most 255 sums of a thread, but got tiles 4, 4 with 1 rows and 4 lanes of a chunk}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [4, 4], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects at most 1 warps along t, but got 2}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 2], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects at most 1 warps along t, but got 2}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 64], tiles = [1, 1], warps = [1, 1, 2], step = 32, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = true>

// -----

// expected-error @+1 {{expects at most 4 warps along t, but got 5}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 64], tiles = [1, 1], warps = [1, 1, 5], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects of warpgroups tiles [1, 1 to 32], a multiple of 4 warps along j, and the batch last for 16-bit elements, but got tiles 2, 1 and warps 4, 1, 1}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [2, 1], warps = [4, 1, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>

// -----

// expected-error @+1 {{expects of warpgroups tiles [1, 1 to 32], a multiple of 4 warps along j, and the batch last for 16-bit elements, but got tiles 1, 33 and warps 4, 1, 1}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [1, 33], warps = [4, 1, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>

// -----

// expected-error @+1 {{expects of warpgroups tiles [1, 1 to 32], a multiple of 4 warps along j, and the batch last for 16-bit elements, but got tiles 1, 1 and warps 2, 1, 1}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [2, 1, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>

// -----

// expected-error @+1 {{expects of warpgroups tiles [1, 1 to 32], a multiple of 4 warps along j, and the batch last for 16-bit elements, but got tiles 1, 1 and warps 4, 2, 1}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [4, 2, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>

// -----

// expected-error @+1 {{expects of warpgroups tiles [1, 1 to 32], a multiple of 4 warps along j, and the batch last for 16-bit elements, but got tiles 1, 1 and warps 4, 1, 1}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [4, 1, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = false>

// -----

// expected-error @+1 {{expects a step that is a multiple of 8, but got 4}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 4, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

// expected-error @+1 {{expects a step that is a multiple of 64, but got 32}}
#batch = #tile.batch<f16, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [4, 1, 1], step = 32, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>

// -----

// expected-error @+1 {{expects at most 2147483647 bytes of a step, but got}}
#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [8, 1], warps = [32, 1, 1], step = 65536, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c1(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel of one group of 32 threads, without clusters and shares}}
      %s = tile.contract_batch %g, %x[%i] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%i] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c1_threads(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel of one group of 32 threads, without clusters and shares}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c1_cluster(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4, cluster = 2>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel of one group of 32 threads, without clusters and shares}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c2(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a view of 'f32' with strides, and axes batch and 64 features in the order of its batch, but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x33xf32, [33, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c2_features(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a view of 'f32' with strides, and axes batch and 32 features in the order of its batch, but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf16, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c2_elements(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a view of 'f32' with strides, and axes batch and 64 features in the order of its batch, but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<64x?xf32, [?, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c2_order(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a view of 'f32' with strides, and axes batch and 64 features in the order of its batch, but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x16x4xf32, [64, 4, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c2_axes(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a view of 'f32' with strides, and axes batch and 64 features in the order of its batch, but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<1 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c3(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a ring of 2 slots or more of 768 elements of type 'f32', but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <512xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c3_elements(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a ring of 2 slots or more of 768 elements of type 'f32', but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf16>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c3_type(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a ring of 2 slots or more of 768 elements of type 'f32', but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<768 of <768xf32> along 0>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c3_along(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a ring of 2 slots or more of 768 elements of type 'f32', but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 64, 8, 4], tiles = [1, 1], warps = [4, 1, 1], step = 16, chunk = 16, atom = wgmma.m64k8.tf32, residuals = bf16, last = false>
!g = !tile.view<?x256xf32, [256, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x64x8x4xf32, [2048, 32, 4, 1]>
!ring = !tile.ring<2 of <4608xf32>>
!sums = !tile.fragment<1x64x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c3_packed(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects a ring of 3 slots or more of 4608 elements of type 'f32', but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c4(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    %free = tile.acquire %ring : !ring -> !tile.buffer<768xf32>
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects nothing else to use its ring}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x1xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c5(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects sums of type '!tile.fragment<1x16x8x4xf32>', but got}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c6(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects one tile.store of its sums, and no other use}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @contract_batch_c6_twice(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32, %z: !y) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      // expected-error @+1 {{expects one tile.store of its sums, and no other use}}
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      tile.store %s to %y[%t] bytes 4 : !sums, !y
      tile.store %s to %z[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c1(%s: !s, %y: !y, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel of one group of a power of two of threads, without clusters and shares}}
      %v = tile.add_pieces %s[%i] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c1_threads(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 96, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel of one group of a power of two of threads, without clusters and shares}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c1_cluster(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4, cluster = 2>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects to be in the tile.for of its tile itself, in a kernel of one group of a power of two of threads, without clusters and shares}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32, [512, 512, 4, 1]>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c2(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32 or f64 without gaps, of pieces, groups, weights and lanes, of which the last three are known, but got}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c2_axes(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32 or f64 without gaps, of pieces, groups, weights and lanes, of which the last three are known, but got}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x?x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c2_unknown(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32 or f64 without gaps, of pieces, groups, weights and lanes, of which the last three are known, but got}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf16>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c2_elements(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32 or f64 without gaps, of pieces, groups, weights and lanes, of which the last three are known, but got}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1048576x1048576x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c2_large(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects a view of f32 or f64 without gaps, of pieces, groups, weights and lanes, of which the last three are known, but got}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c3(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects slices to be a power of two up to 256 and up to 64 loads, but got 6 and 9}}
      %v = tile.add_pieces %s[%t] slices 6 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c3_threads(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects slices to be a power of two up to 256 and up to 64 loads, but got 512 and 9}}
      %v = tile.add_pieces %s[%t] slices 512 loads 9 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c3_loads(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects slices to be a power of two up to 256 and up to 64 loads, but got 8 and 65}}
      %v = tile.add_pieces %s[%t] slices 8 loads 65 : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c4(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects one group, 512 weights and one lane, as of}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 as <f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false> : !s -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c5(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects totals of type '!tile.fragment<1x1xf32>', but got}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x2xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x2xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @add_pieces_c6(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects one tile.store of its totals, and no other use}}
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c13(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects sums of its tile, in the same turn, without boxes, rows, an order, axes and an epilogue}}
      tile.store %s to %y[%t] box [1, 16, 8, 4] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c13_order(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects sums of its tile, in the same turn, without boxes, rows, an order, axes and an epilogue}}
      tile.store %s to %y[%t] order [0, 1, 2, 3] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c13_rows(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects sums of its tile, in the same turn, without boxes, rows, an order, axes and an epilogue}}
      tile.store %s to %y[%t] rows 4 bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c13_bias(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32, %b: !y) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects sums of its tile, in the same turn, without boxes, rows, an order, axes and an epilogue}}
      tile.store %s to %y[%t] bias %b : !y bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf32, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @store_c13_scale(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      // expected-error @+1 {{expects sums of its tile, in the same turn, without boxes, rows, an order, axes and an epilogue}}
      tile.store %v to %y[%t] scale 2.0 : f32 bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x5xf32, [640, 40, 5, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf16, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_elements(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 2 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_bytes(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 8 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_gaps(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<?x1x16x8x5xf32>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_pieces(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<?x1x16x8x4xf32>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_neighbours(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 32 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<?x500xf32>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_threads(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] bytes 16 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<?x512xf32>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_scaled(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32, %a: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] alpha %a : f32 bytes 16 : !sums, !y
    }
    gpu.return
  }
}

// -----

#batch = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
!g = !tile.view<?x64xf32, [64, 1]>
!x = !tile.view<?x32xf32, [32, 1]>
!y = !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
!ring = !tile.ring<3 of <768xf32>>
!sums = !tile.fragment<1x16x8x4xf32>
gpu.module @kron_gpu {
  gpu.func @store_c14_addend(%g: !g, %x: !x, %y: !y, %p: i64, %n: i32, %a: f32, %z: !tile.view<1x16x8x4xf16, [512, 32, 4, 1]>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !ring
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #batch : !g, !x, !ring -> !sums
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %s to %y[%t] beta %a : f32 addend %z : !tile.view<1x16x8x4xf16, [512, 32, 4, 1]> bytes 4 : !sums, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x2xf32, [256, 16, 2, 1]>
gpu.module @kron_gpu {
  gpu.func @store_c14_totals(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}

// -----

!s = !tile.view<?x1x128x4xf32>
!y = !tile.view<1x16x8x1xf64, [128, 8, 1, 1]>
gpu.module @kron_gpu {
  gpu.func @store_c14_totals_elements(%s: !s, %y: !y, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !s -> !tile.fragment<1x1xf32>
      // expected-error @+1 {{expects views with strides of the sizes and elements of its products by bytes of one element, or of tile.contract_batch one without gaps of accumulators for pieces, without scales, by bytes of up to 16 that are neighbours, but got}}
      tile.store %v to %y[%t] bytes 8 : !tile.fragment<1x1xf32>, !y
    }
    gpu.return
  }
}
