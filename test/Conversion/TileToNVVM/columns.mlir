// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that CTAs keep one of 3 parts of the columns, and as many as there are of a part
// share its rows; that 42 of 64 threads have a column, two of each; that weights stand in
// front of the loop; that the last row stands for others; and that what is loaded ahead is
// carried.
// CHECK-LABEL: llvm.func @threads(
// CHECK-SAME:    %[[ROWS:[^:]*]]: i64,
// CHECK:         %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK:         %[[GROUPS:.*]] = arith.divui %{{.*}}, %c3_i32
// CHECK:         arith.minsi %[[GROUPS]], %c1_i32
// CHECK:         scf.for
// CHECK:           arith.divui %{{.*}}, %c3_i32
// CHECK:           arith.remui %{{.*}}, %c3_i32
// CHECK:           arith.divui %[[TID]], %c21_i32
// CHECK:           arith.remui %[[TID]], %c21_i32
// CHECK:           arith.cmpi slt, %[[TID]], %c42_i32
// CHECK:           arith.cmpi slt, %{{.*}}, %c50_i32
// CHECK:           scf.if
// CHECK-COUNT-8:     llvm.load {{.*}} invariant {{.*}} -> vector<4xf32>
// CHECK:             arith.minsi
// CHECK-COUNT-4:     llvm.load {{.*}} invariant {{.*}} -> vector<4xf32>
// CHECK:             scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK:               arith.minsi
// CHECK-COUNT-4:       llvm.load {{.*}} invariant {{.*}} -> vector<4xf32>
// CHECK-COUNT-32:      llvm.intr.fma
// CHECK:               arith.cmpi slt, %{{.*}}, %[[ROWS]]
// CHECK:               scf.if
// CHECK-COUNT-4:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:                 st.global.cs.v4.f32
// CHECK-COUNT-32:      llvm.intr.fma
// CHECK:                 st.global.cs.v4.f32
// CHECK:               scf.yield %{{.*}} : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @threads(%x: !tile.view<?x8x50x4xf32, [?, 1, 8, 0]>, %f: !tile.view<8x50x4xf32, [1, 32, 8]>, %y: !tile.view<?x1x50x4xf32, [200, 1, 4, 1]>, %a: f32, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 8>} {
    tile.for_columns %c of 50 by 21 beside 2 atom <fma> {
      %w = tile.load_columns %f[%c] bytes 16 : !tile.view<8x50x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf32>
      %first = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x50x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      tile.for %t to %n carry(%v = %first : !tile.fragment<2x8x4xf32>) {
        %next = tile.load_columns %x[%c, %t + 1] bytes 16 : !tile.view<?x8x50x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
        %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf32>, !tile.fragment<1x8x4xf32> -> !tile.fragment<2x1x4xf32>
        tile.store %s[%c] to %y[%t] along [1] alpha %a : f32 rows 4 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x50x4xf32, [200, 1, 4, 1]>
        tile.yield %next : !tile.fragment<2x8x4xf32>
      }
    }
    gpu.return
  }
}

func.func @threads_host(%px: !llvm.ptr, %pf: !llvm.ptr, %py: !llvm.ptr, %a: f32, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) strides(%s) : !llvm.ptr -> !tile.view<?x8x50x4xf32, [?, 1, 8, 0]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x50x4xf32, [1, 32, 8]>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x1x50x4xf32, [200, 1, 4, 1]>
  tile.launch @kron_gpu::@threads tiles(%n) args(%x, %f, %y, %a, %n : !tile.view<?x8x50x4xf32, [?, 1, 8, 0]>, !tile.view<8x50x4xf32, [1, 32, 8]>, !tile.view<?x1x50x4xf32, [200, 1, 4, 1]>, f32, i64)
  return
}

// -----

// Verify that results of 4 columns may belong to two groups of 3, which are loaded where the
// second one exists, and that each picks its own; and that weights that lie in any order are
// found one by one.
// CHECK-LABEL: llvm.func @picks(
// CHECK:         %[[RESULT:.*]] = arith.remui %{{.*}}, %c3_i32
// CHECK-COUNT-8: llvm.load {{.*}} invariant {{.*}} -> f32
// CHECK:         arith.minsi %{{.*}}, %c7_i32
// CHECK:         scf.for {{.*}} -> (vector<2xf32>, vector<2xf32>)
// CHECK-COUNT-6:   arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NOT:       arith.select {{.*}} : f32
// CHECK-COUNT-8:   llvm.intr.fma
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @picks(%x: !tile.view<90x2x8x3xf32, [16, 1, 2, 0]>, %f: !tile.view<2x8x3xf32, [3, 6, 1]>, %y: !tile.view<90x1x8x3xf32, [24, 1, 3, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    tile.for_columns %c of 6 by 6 atom <fma> {
      %w = tile.load_columns %f[%c] bytes 4 : !tile.view<2x8x3xf32, [3, 6, 1]> -> !tile.fragment<1x2x4xf32>
      %first = tile.load_columns %x[%c, 0] bytes 8 : !tile.view<90x2x8x3xf32, [16, 1, 2, 0]> -> !tile.fragment<1x2x4xf32>
      tile.for %t to %n carry(%v = %first : !tile.fragment<1x2x4xf32>) {
        %next = tile.load_columns %x[%c, %t + 1] bytes 8 : !tile.view<90x2x8x3xf32, [16, 1, 2, 0]> -> !tile.fragment<1x2x4xf32>
        %s = tile.dot %v, %w atom <fma> : !tile.fragment<1x2x4xf32>, !tile.fragment<1x2x4xf32> -> !tile.fragment<1x1x4xf32>
        tile.store %s[%c] to %y[%t] along [1] rows 1 bytes 16 : !tile.fragment<1x1x4xf32>, !tile.view<90x1x8x3xf32, [24, 1, 3, 1]>
        tile.yield %next : !tile.fragment<1x2x4xf32>
      }
    }
    gpu.return
  }
}

func.func @picks_host(%px: !llvm.ptr, %pf: !llvm.ptr, %py: !llvm.ptr, %n: i64) {
  %x = tile.view %px : !llvm.ptr -> !tile.view<90x2x8x3xf32, [16, 1, 2, 0]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<2x8x3xf32, [3, 6, 1]>
  %y = tile.view %py : !llvm.ptr -> !tile.view<90x1x8x3xf32, [24, 1, 3, 1]>
  tile.launch @kron_gpu::@picks tiles(%n) args(%x, %f, %y, %n : !tile.view<90x2x8x3xf32, [16, 1, 2, 0]>, !tile.view<2x8x3xf32, [3, 6, 1]>, !tile.view<90x1x8x3xf32, [24, 1, 3, 1]>, i64)
  return
}

// -----

// Verify that a warp takes 16 rows, and 24 of 32 results, by four instructions: lanes load 8
// bytes along K, of which there are 12, or zeros, and store 16 bytes of two rows.
// CHECK-LABEL: llvm.func @warps(
// CHECK:         arith.cmpi slt, %{{.*}}, %c3_i32
// CHECK-COUNT-4: scf.if {{.*}} -> (i32, i32)
// CHECK-COUNT-2: scf.if {{.*}} -> (i32, i32)
// CHECK:         scf.for {{.*}} -> (i32, i32, i32, i32)
// CHECK-COUNT-2:   scf.if {{.*}} -> (i32, i32)
// CHECK-COUNT-4:   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:           arith.cmpi slt, %{{.*}}, %c24_i32
// CHECK:           scf.if
// CHECK:             arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK:             st.global.cs.v4.b32
// CHECK:           scf.if
// CHECK:             st.global.cs.v4.b32
// CHECK-NOT:       mma.sync
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @warps(%x: !tile.view<90x12x2x24xf16, [24, 1, 12, 0]>, %f: !tile.view<12x2x24xf16, [1, 288, 12]>, %y: !tile.view<90x1x2x24xf16, [48, 1, 24, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 8>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      %w = tile.load_columns %f[%c] bytes 8 : !tile.view<12x2x24xf16, [1, 288, 12]> -> !tile.fragment<1x12x32xf16>
      %first = tile.load_columns %x[%c, 0] bytes 8 : !tile.view<90x12x2x24xf16, [24, 1, 12, 0]> -> !tile.fragment<16x12x32xf16>
      tile.for %t to %n carry(%v = %first : !tile.fragment<16x12x32xf16>) {
        %next = tile.load_columns %x[%c, %t + 1] bytes 8 : !tile.view<90x12x2x24xf16, [24, 1, 12, 0]> -> !tile.fragment<16x12x32xf16>
        %s = tile.dot %v, %w atom <mma.m16n8k16> : !tile.fragment<16x12x32xf16>, !tile.fragment<1x12x32xf16> -> !tile.fragment<16x1x32xf32>
        tile.store %s[%c] to %y[%t] along [1] rows 16 bytes 16 : !tile.fragment<16x1x32xf32>, !tile.view<90x1x2x24xf16, [48, 1, 24, 1]>
        tile.yield %next : !tile.fragment<16x12x32xf16>
      }
    }
    gpu.return
  }
}

func.func @warps_host(%px: !llvm.ptr, %pf: !llvm.ptr, %py: !llvm.ptr, %n: i64) {
  %x = tile.view %px : !llvm.ptr -> !tile.view<90x12x2x24xf16, [24, 1, 12, 0]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<12x2x24xf16, [1, 288, 12]>
  %y = tile.view %py : !llvm.ptr -> !tile.view<90x1x2x24xf16, [48, 1, 24, 1]>
  tile.launch @kron_gpu::@warps tiles(%n) args(%x, %f, %y, %n : !tile.view<90x12x2x24xf16, [24, 1, 12, 0]>, !tile.view<12x2x24xf16, [1, 288, 12]>, !tile.view<90x1x2x24xf16, [48, 1, 24, 1]>, i64)
  return
}
