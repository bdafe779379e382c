// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that alignment is tested once, in front of the loop, for loads of 16 bytes and stores of 8; that
// four segments are loaded once, by all threads, in front of the largest magnitude, which lanes exchange, and warps through
// shared memory between two barriers; and that the scale is stored by one thread of a row that exists.
// CHECK-LABEL: llvm.func @shared(
// CHECK:         %[[C15:.*]] = arith.constant 15 : i64
// CHECK:         arith.andi %{{.*}}, %[[C15]]
// CHECK:         %[[X:.*]] = arith.cmpi eq
// CHECK:         %[[C7:.*]] = arith.constant 7 : i64
// CHECK:         arith.andi %{{.*}}, %[[C7]]
// CHECK:         %[[Q:.*]] = arith.cmpi eq
// CHECK:         scf.for
// CHECK:           %[[ALIGNED:.*]] = arith.andi %[[X]], %[[Q]] : i1
// CHECK:           scf.if %[[ALIGNED]] {
// CHECK-COUNT-4:     llvm.load {{.*}} !llvm.ptr<1> -> vector<4xi32>
// CHECK-NOT:         !llvm.ptr<1> -> vector<4xi32>
// CHECK-COUNT-5:     nvvm.shfl.sync
// CHECK:             llvm.store {{.*}} !llvm.ptr<3>
// CHECK:             nvvm.barrier0
// CHECK-COUNT-4:     llvm.load {{.*}} !llvm.ptr<3> -> i32
// CHECK:             nvvm.barrier0
// CHECK:             arith.divf
// CHECK:             scf.if %{{.*}} {
// CHECK:               scf.if %{{.*}} {
// CHECK:                 llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-COUNT-4:       "st.global.cs.v2.b32
// CHECK:           } else {
// CHECK-COUNT-32:    llvm.load {{.*}} !llvm.ptr<1> -> f16
// CHECK-NOT:         st.global.cs
// CHECK-COUNT-32:    llvm.store {{.*}} : i8, !llvm.ptr<1>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @shared(%x: !tile.view<?x4096xf16, [?, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %s: !tile.view<?xf32, [1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 128 kept 8 bytes 16 : !tile.view<?x4096xf16, [?, 1]> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %s : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}
func.func @launch_shared(%x: !llvm.ptr, %q: !llvm.ptr, %s: !llvm.ptr, %rows: i64, %stride: i64, %n: i64) {
  %vx = tile.view %x sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<?x4096xf16, [?, 1]>
  %vq = tile.view %q sizes(%rows) : !llvm.ptr -> !tile.view<?x4096xi8, [4096, 1]>
  %vs = tile.view %s sizes(%rows) : !llvm.ptr -> !tile.view<?xf32, [1]>
  tile.launch @kron_gpu::@shared tiles(%n) args(%vx, %vq, %vs, %n : !tile.view<?x4096xf16, [?, 1]>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>, i64)
  return
}

// -----

// Verify that what is not a multiple of 16 bytes is never tested; that elements behind the end of a row are zeros and
// not stored; that rows of two axes are found in each of them; and the chip's own rounding.
// CHECK-LABEL: llvm.func @elements(
// CHECK-NOT:     llvm.ptrtoint
// CHECK:         scf.for
// CHECK:           arith.remui
// CHECK:           arith.divui
// CHECK-COUNT-4:   llvm.load {{.*}} !llvm.ptr<1> -> f32
// CHECK-NOT:       nvvm.shfl.sync
// CHECK-NOT:       nvvm.barrier0
// CHECK:           cvt.rn.satfinite.e4m3x2.f32
// CHECK-COUNT-4:   llvm.store {{.*}} : i8, !llvm.ptr<1>
gpu.module @kron_gpu {
  gpu.func @elements(%x: !tile.view<2x?x3xf32, [?, 3, 1]>, %q: !tile.view<2x?x3xf8E4M3FN, [?, 5, 1]>, %s: !tile.view<2x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 1 kept 1 bytes 4 : !tile.view<2x?x3xf32, [?, 3, 1]> -> !tile.fragment<1x4xf32>
      %m = tile.reduce_rows %v : !tile.fragment<1x4xf32> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %s native : !tile.fragment<1x4xf32>, !tile.fragment<1x1xf32>, !tile.view<2x?x3xf8E4M3FN, [?, 5, 1]>, !tile.view<2x?xf32, [?, 1]>
    }
    gpu.return
  }
}
func.func @launch_elements(%x: !llvm.ptr, %q: !llvm.ptr, %s: !llvm.ptr, %rows: i64, %stride: i64, %n: i64) {
  %vx = tile.view %x sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<2x?x3xf32, [?, 3, 1]>
  %vq = tile.view %q sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<2x?x3xf8E4M3FN, [?, 5, 1]>
  %vs = tile.view %s sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<2x?xf32, [?, 1]>
  tile.launch @kron_gpu::@elements tiles(%n) args(%vx, %vq, %vs, %n : !tile.view<2x?x3xf32, [?, 3, 1]>, !tile.view<2x?x3xf8E4M3FN, [?, 5, 1]>, !tile.view<2x?xf32, [?, 1]>, i64)
  return
}

// -----

// Verify that more segments than are kept are loaded in a loop, twice; and that a row of ten of them has fewer than
// four threads take at three each.
// CHECK-LABEL: llvm.func @twice(
// CHECK:         scf.if %{{.*}} {
// CHECK:           scf.for {{.*}} iter_args(
// CHECK:             arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK:             llvm.load {{.*}} !llvm.ptr<1> -> vector<4xi32>
// CHECK-COUNT-2:   nvvm.shfl.sync
// CHECK:           scf.for
// CHECK:             llvm.load {{.*}} !llvm.ptr<1> -> vector<4xi32>
// CHECK:             st.global.cs.v2.b32
gpu.module @kron_gpu {
  gpu.func @twice(%x: !tile.view<?x80xbf16, [80, 1]>, %q: !tile.view<?x80xf8E5M2, [80, 1]>, %s: !tile.view<?xf32, [1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 8>} {
    tile.for %t to %n {
      %v = tile.load_rows %x[%t] threads 4 kept 2 bytes 16 : !tile.view<?x80xbf16, [80, 1]> -> !tile.fragment<3x8xbf16>
      %m = tile.reduce_rows %v : !tile.fragment<3x8xbf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %s : !tile.fragment<3x8xbf16>, !tile.fragment<1x1xf32>, !tile.view<?x80xf8E5M2, [80, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}
func.func @launch_twice(%x: !llvm.ptr, %q: !llvm.ptr, %s: !llvm.ptr, %rows: i64, %n: i64) {
  %vx = tile.view %x sizes(%rows) : !llvm.ptr -> !tile.view<?x80xbf16, [80, 1]>
  %vq = tile.view %q sizes(%rows) : !llvm.ptr -> !tile.view<?x80xf8E5M2, [80, 1]>
  %vs = tile.view %s sizes(%rows) : !llvm.ptr -> !tile.view<?xf32, [1]>
  tile.launch @kron_gpu::@twice tiles(%n) args(%vx, %vq, %vs, %n : !tile.view<?x80xbf16, [80, 1]>, !tile.view<?x80xf8E5M2, [80, 1]>, !tile.view<?xf32, [1]>, i64)
  return
}
