// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify the operations on rows that threads share: loaded, their largest magnitudes, and stored as 8 bits.
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @integers(
  // CHECK:         %[[V:.*]] = tile.load_rows %{{.*}}[%[[T:.*]]] threads 128 kept 8 bytes 16 : !tile.view<?x4096xf16, [?, 1]> -> <4x8xf16>
  // CHECK:         %[[M:.*]] = tile.reduce_rows %[[V]] : <4x8xf16> -> <1x1xf32>
  // CHECK:         tile.quantize_rows %[[V]] by %[[M]] to %{{.*}}[%[[T]]], %{{.*}} : <4x8xf16>, <1x1xf32>, <?x4096xi8, [?, 1]>, <?xf32, [1]>
  gpu.func @integers(%x: !tile.view<?x4096xf16, [?, 1]>, %q: !tile.view<?x4096xi8, [?, 1]>, %s: !tile.view<?xf32, [1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 128 kept 8 bytes 16 : !tile.view<?x4096xf16, [?, 1]> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %s : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x4096xi8, [?, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @floats(
  // CHECK:         tile.load_rows %{{.*}}[%{{.*}}] threads 1 kept 0 bytes 4 : !tile.view<2x?x3xf32, [?, 3, 1]> -> <1x4xf32>
  // CHECK:         tile.quantize_rows %{{.*}} by %{{.*}} to %{{.*}}[%{{.*}}], %{{.*}} native :
  gpu.func @floats(%x: !tile.view<2x?x3xf32, [?, 3, 1]>, %q: !tile.view<2x?x3xf8E4M3FN, [?, 5, 1]>, %s: !tile.view<2x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 1 kept 0 bytes 4 : !tile.view<2x?x3xf32, [?, 3, 1]> -> !tile.fragment<1x4xf32>
      %m = tile.reduce_rows %v : !tile.fragment<1x4xf32> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %s native : !tile.fragment<1x4xf32>, !tile.fragment<1x1xf32>, !tile.view<2x?x3xf8E4M3FN, [?, 5, 1]>, !tile.view<2x?xf32, [?, 1]>
    }
    gpu.return
  }
}
