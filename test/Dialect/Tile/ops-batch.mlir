// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify products that are summed over a batch, and the sums of its pieces.
#first = #tile.batch<f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
#last = #tile.batch<f16, sizes = [2, 60, 16, 1], tiles = [1, 2], warps = [4, 1, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @gradient(
  // CHECK:         %[[RING:.*]] = tile.alloc : !tile.ring<3 of <768xf32>>
  // CHECK:         %[[S:.*]] = tile.contract_batch %{{.*}}, %{{.*}}[%[[T:.*]]] positions %{{.*}} in %[[RING]]
  // CHECK-SAME:      by <f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
  // CHECK-SAME:      : <?x64xf32, [?, 1]>, <?x32xf32, [32, 1]>, <3 of <768xf32>> -> <1x16x8x4xf32>
  // CHECK:         tile.store %[[S]] to %[[Y:.*]][%[[T]]] alpha %{{.*}} : f32 beta %{{.*}} : f32 addend %[[Y]] : {{.*}} bytes 4 : !tile.fragment<1x16x8x4xf32>, <1x16x8x4xf32, [512, 32, 4, 1]>
  gpu.func @gradient(%g: !tile.view<?x64xf32, [?, 1]>, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>, %p: i64, %a: f32, %b: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !tile.ring<3 of <768xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring by #first
        : !tile.view<?x64xf32, [?, 1]>, !tile.view<?x32xf32, [32, 1]>, !tile.ring<3 of <768xf32>> -> !tile.fragment<1x16x8x4xf32>
      tile.store %s to %y[%t] alpha %a : f32 beta %b : f32 addend %y : !tile.view<1x16x8x4xf32, [512, 32, 4, 1]> bytes 4
        : !tile.fragment<1x16x8x4xf32>, !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @pieces(
  // CHECK:         tile.contract_batch {{.*}} atom = wgmma.m64k16, residuals = none, last = true>
  // CHECK:         tile.store %{{.*}} to %{{.*}}[%{{.*}}] bytes 8 : !tile.fragment<1x64x16x1xf32>, <?x2x60x16x1xf32>
  gpu.func @pieces(%g: !tile.view<120x?xf16, [?, 1]>, %x: !tile.view<32x?xf16, [?, 1]>, %s: !tile.view<?x2x60x16x1xf32>, %p: i64, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 4>} {
    %ring = tile.alloc : !tile.ring<2 of <5120xf16>>
    tile.for %t to %n : i32 {
      %v = tile.contract_batch %g, %x[%t] positions %p in %ring by #last
        : !tile.view<120x?xf16, [?, 1]>, !tile.view<32x?xf16, [?, 1]>, !tile.ring<2 of <5120xf16>> -> !tile.fragment<1x64x16x1xf32>
      tile.store %v to %s[%t] bytes 8 : !tile.fragment<1x64x16x1xf32>, !tile.view<?x2x60x16x1xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @threads(
  // CHECK:         tile.store %{{.*}} to %{{.*}}[%{{.*}}] bytes 16 : !tile.fragment<1x16x8x4xf32>, <?x512xf32>
  gpu.func @threads(%g: !tile.view<?x64xf32, [?, 1]>, %x: !tile.view<?x32xf32, [32, 1]>, %s: !tile.view<?x512xf32>, %p: i64, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !tile.ring<3 of <768xf32>>
    tile.for %t to %n : i32 {
      %v = tile.contract_batch %g, %x[%t] positions %p in %ring by #first
        : !tile.view<?x64xf32, [?, 1]>, !tile.view<?x32xf32, [32, 1]>, !tile.ring<3 of <768xf32>> -> !tile.fragment<1x16x8x4xf32>
      tile.store %v to %s[%t] bytes 16 : !tile.fragment<1x16x8x4xf32>, !tile.view<?x512xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @totals(
  // CHECK:         %[[V:.*]] = tile.add_pieces %{{.*}}[%[[T:.*]]] slices 8 loads 9 : <?x1x128x4xf32> -> <1x1xf32>
  // CHECK:         tile.store %[[V]] to %{{.*}}[%[[T]]] bytes 2 : !tile.fragment<1x1xf32>, <1x16x8x1xf16, [?, ?, ?, ?]>
  gpu.func @totals(%s: !tile.view<?x1x128x4xf32>, %y: !tile.view<1x16x8x1xf16, [?, ?, ?, ?]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !tile.view<?x1x128x4xf32> -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 2 : !tile.fragment<1x1xf32>, !tile.view<1x16x8x1xf16, [?, ?, ?, ?]>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @ordered(
  // CHECK:         tile.add_pieces %{{.*}}[%{{.*}}] slices 1 loads 3 as <f32, {{.*}}> : <?x1x512x1xf32> -> <1x1xf32>
  gpu.func @ordered(%s: !tile.view<?x1x512x1xf32>, %y: !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 1 loads 3 as #first : !tile.view<?x1x512x1xf32> -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 4 : !tile.fragment<1x1xf32>, !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
    }
    gpu.return
  }
}
