// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a beta that a launch knows is compared with 0 before the addend is read,
// once for 16 bytes, and that an alpha of 0 hides what it is multiplied by.
// CHECK-LABEL: llvm.func @scaled(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT:     llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK:         %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[ALPHA:.*]], %{{.*}} : f32
// CHECK:         arith.select %[[IS_ZERO]]
// CHECK-COUNT-3: arith.cmpf oeq, %[[ALPHA]]
// CHECK:         %[[NO_BETA:.*]] = arith.cmpf oeq
// CHECK:         scf.if %[[NO_BETA]] -> (f32, f32, f32, f32) {
// CHECK-NOT:       llvm.load
// CHECK:         } else {
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4:   llvm.intr.fma
// CHECK:         }
// CHECK:         st.global.cs.v4.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @scaled(%y: !tile.view<?x8x8xf32>, %z: !tile.view<?x8x8xf32>, %a: f32, %b: f32, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>

    tile.for %t to %tiles {
      tile.store %s to %y[%t] alpha %a : f32 beta %b : f32 addend %z : !tile.view<?x8x8xf32> rows 4 bytes 16 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
      tile.barrier
    }
    gpu.return
  }
}

func.func @scaled_host(%py: !llvm.ptr, %pz: !llvm.ptr, %a: f32, %b: f32, %n: i64, %s: i64) {
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  %z = tile.view %pz sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@scaled tiles(%n) args(%y, %z, %a, %b, %n : !tile.view<?x8x8xf32>, !tile.view<?x8x8xf32>, f32, f32, i64)
  return
}

// -----

// Verify that rows of 3 elements leave chunks behind the last row, of which single
// elements are stored.
// CHECK-LABEL: llvm.func @ragged(
// CHECK:         st.global.cs.v4.f32
// CHECK-COUNT-3: st.global.cs.f32
// CHECK-NOT:     st.global
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @ragged(%y: !tile.view<?x3xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<4x3xf32>
    tile.for %t to %tiles {
      tile.store %s to %y[%t] rows 4 bytes 16 : !tile.buffer<4x3xf32>, !tile.view<?x3xf32>
      tile.barrier
    }
    gpu.return
  }
}

func.func @ragged_host(%py: !llvm.ptr, %n: i64, %s: i64) {
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x3xf32>
  tile.launch @kron_gpu::@ragged tiles(%n) args(%y, %n : !tile.view<?x3xf32>, i64)
  return
}

// -----

// Verify that a fragment goes straight to memory, 16 bytes of neighbours for each of 8
// positions, if its row exists.
// CHECK-LABEL: llvm.func @direct(
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt
// CHECK:         scf.if %[[EXISTS]] {
// CHECK-COUNT-8:   st.global.cs.v4.f32
// CHECK-NOT:       st.global
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @direct(%y: !tile.view<?x8x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<16x8x8xf32>
    tile.for %t to %tiles {
      tile.for_boxes %u of 32 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<16x8x8xf32> -> !tile.fragment<1x8x4xf32>
        tile.store %v[%u] to %y[%t] along [1] rows 16 bytes 16 : !tile.fragment<1x8x4xf32>, !tile.view<?x8x8xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

func.func @direct_host(%py: !llvm.ptr, %n: i64, %s: i64) {
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@direct tiles(%n) args(%y, %n : !tile.view<?x8x8xf32>, i64)
  return
}

// -----

// Verify that results in an array with gaps are stored one by one.
// CHECK-LABEL: llvm.func @gaps(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK:           nvvm.bar.warp.sync
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @gaps(%y: !tile.view<?x8x8xf32, [?, 8, 1]>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>

    tile.for %t to %tiles {
      tile.store %s to %y[%t] rows 4 bytes 4 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32, [?, 8, 1]>
      tile.barrier
    }
    gpu.return
  }
}

func.func @gaps_host(%py: !llvm.ptr, %n: i64, %s: i64) {
  %y = tile.view %py sizes(%n) strides(%s) : !llvm.ptr -> !tile.view<?x8x8xf32, [?, 8, 1]>
  tile.launch @kron_gpu::@gaps tiles(%n) args(%y, %n : !tile.view<?x8x8xf32, [?, 8, 1]>, i64)
  return
}
