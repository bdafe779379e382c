// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Kernels that none of kron's own kinds has: what they need is found for each operation.

// Verify that the factor of four results stands in for those of the second part, which
// all of its results are behind.
// CHECK-LABEL: llvm.func @narrow(
// CHECK:         %[[LAST:.*]] = arith.constant 3 : i32
// CHECK:         arith.minsi %{{.*}}, %[[LAST]] : i32
// CHECK:         llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @narrow(%f: !tile.view<5x4xf32, [4, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x32xf32>
    %b = tile.alloc : !tile.buffer<4x8x32xf32>
    tile.for_boxes %u of 128 parts 2 {
      %s = tile.multiply %a[%u], %f along 1 : !tile.buffer<4x5x32xf32>, !tile.view<5x4xf32, [4, 1]> -> !tile.fragment<1x4xf32>
      tile.exchange %s to %b[%u] along [1] : !tile.fragment<1x4xf32>, !tile.buffer<4x8x32xf32>
    }
    gpu.return
  }
}

func.func @narrow_host(%pf: !llvm.ptr, %n: i64) {
  %f = tile.view %pf : !llvm.ptr -> !tile.view<5x4xf32, [4, 1]>
  tile.launch @kron_gpu::@narrow tiles(%n) args(%f, %n : !tile.view<5x4xf32, [4, 1]>, i64)
  return
}

// -----

// Verify that each of two loops tests by itself whether what it copies is aligned, since
// neither is in front of the other's body.
// CHECK-LABEL: llvm.func @loops(
// CHECK-COUNT-2: llvm.ptrtoint %{{.*}} : !llvm.ptr<1> to i64
// CHECK-NOT:     llvm.ptrtoint
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @loops(%x: !tile.view<?x16xf32, [16, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<1 of <8x16xf32>>
    tile.for %t to %n {
      %a = tile.acquire %r : !tile.ring<1 of <8x16xf32>> -> !tile.buffer<8x16xf32>
      tile.copy %x[%t + 0] to %a bytes 16 fill axes [0, 1] : !tile.view<?x16xf32, [16, 1]>, !tile.buffer<8x16xf32>
      %s = tile.wait %r pending 0 : !tile.ring<1 of <8x16xf32>> -> !tile.buffer<8x16xf32>
      tile.release %s : !tile.buffer<8x16xf32>
      tile.barrier
    }
    tile.for %t to %n {
      %a = tile.acquire %r : !tile.ring<1 of <8x16xf32>> -> !tile.buffer<8x16xf32>
      tile.copy %x[%t + 0] to %a bytes 16 fill axes [0, 1] : !tile.view<?x16xf32, [16, 1]>, !tile.buffer<8x16xf32>
      %s = tile.wait %r pending 0 : !tile.ring<1 of <8x16xf32>> -> !tile.buffer<8x16xf32>
      tile.release %s : !tile.buffer<8x16xf32>
      tile.barrier
    }
    gpu.return
  }
}

func.func @loops_host(%px: !llvm.ptr, %m: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x16xf32, [16, 1]>
  tile.launch @kron_gpu::@loops tiles(%n) args(%x, %n : !tile.view<?x16xf32, [16, 1]>, i64)
  return
}

// -----

// Verify that a copy of 16 bytes does not take a store's test of 8 bytes for its own, nor
// a store that of a copy, which does not test the number of columns.
// CHECK-LABEL: llvm.func @tests(
// CHECK:         %[[COPY:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK:         scf.if %[[COPY]] {
// CHECK:         %[[STORE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK:           scf.if %[[STORE]] {
// CHECK:             st.global.cs.v2.f32
// CHECK-NOT:         st.global.cs.v4.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @tests(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<1 of <2x16x32xf32>>
    %p = tile.prepare %f : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<1 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<1 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 8 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32>
      tile.barrier
      %g = tile.acquire %r : !tile.ring<1 of <2x16x32xf32>> -> !tile.buffer<2x16x32xf32>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32>
    }
    gpu.return
  }
}

func.func @tests_host(%px: !llvm.ptr, %py: !llvm.ptr, %pf: !llvm.ptr, %m: i64, %t: i32) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  %y = tile.view %py sizes(%m) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<16x16xf32, [16, 1]>
  tile.launch @kron_gpu::@tests tiles(%m) args(%x, %y, %f, %t : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.view<16x16xf32, [16, 1]>, i32)
  return
}

// -----

// Verify that the lanes of a kernel that only copies pieces have numbers.
// CHECK-LABEL: llvm.func @pieces(
// CHECK-COUNT-4: nvvm.cp.async.commit.group
// CHECK-NOT:     nvvm.cp.async.commit.group
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @pieces(%x: !tile.view<?x16x32xf32, [512, 32, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    gpu.return
  }
}

func.func @pieces_host(%px: !llvm.ptr, %n: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  tile.launch @kron_gpu::@pieces tiles(%n) args(%x : !tile.view<?x16x32xf32, [512, 32, 1]>)
  return
}

// -----

// Verify that boxes of two views of the same sizes are inside of both by one comparison,
// and that others are looked at for themselves.
// CHECK-LABEL: llvm.func @views(
// CHECK-SAME:    %[[ROWS:[a-z0-9]*]]: i64
// CHECK-SAME:    %[[OTHERS:[a-z0-9]*]]: i64
// CHECK:         arith.subi %[[ROWS]], %{{.*}} : i64
// CHECK:         arith.subi %[[OTHERS]], %{{.*}} : i64
// CHECK:         arith.subi %[[ROWS]], %{{.*}} : i64
// CHECK-NOT:     arith.subi %[[ROWS]]
// CHECK-NOT:     arith.subi %[[OTHERS]]
gpu.module @kron_gpu {
  gpu.func @views(%x: !tile.view<?x8xf32, [8, 1]>, %y: !tile.view<?x8xf32, [8, 1]>, %z: !tile.view<?x16xf32, [16, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 32 {
        %v = tile.load %x[%u] along [1] tile %t box [32, 8] : !tile.view<?x8xf32, [8, 1]> -> !tile.fragment<1x8xf32>
        tile.store %v[%u] to %y[%t] along [1] box [32, 8] bytes 4 : !tile.fragment<1x8xf32>, !tile.view<?x8xf32, [8, 1]>
        %w = tile.load %z[%u] along [1] tile %t box [32, 16] : !tile.view<?x16xf32, [16, 1]> -> !tile.fragment<1x16xf32>
      }
    }
    gpu.return
  }
}

func.func @views_host(%px: !llvm.ptr, %py: !llvm.ptr, %pz: !llvm.ptr, %m: i64, %o: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x8xf32, [8, 1]>
  %y = tile.view %py sizes(%o) : !llvm.ptr -> !tile.view<?x8xf32, [8, 1]>
  %z = tile.view %pz sizes(%m) : !llvm.ptr -> !tile.view<?x16xf32, [16, 1]>
  tile.launch @kron_gpu::@views tiles(%n) args(%x, %y, %z, %n : !tile.view<?x8xf32, [8, 1]>, !tile.view<?x8xf32, [8, 1]>, !tile.view<?x16xf32, [16, 1]>, i64)
  return
}

// -----

// Verify that fibres of a buffer of other sizes are found in the other one by themselves:
// 16 x 4 fibres, counted along the innermost axis first, and 4 x 16.
// CHECK-LABEL: llvm.func @turned(
// CHECK:         %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK:         arith.remui %{{.*}}, %[[FOUR]] : i32
// CHECK:         llvm.intr.fma
// CHECK:         %[[SIXTEEN:.*]] = arith.constant 16 : i32
// CHECK:         arith.remui %{{.*}}, %[[SIXTEEN]] : i32
// CHECK:         llvm.store
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @turned(%f: !tile.view<8x8xf32, [8, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<16x8x4xf32>
    %b = tile.alloc : !tile.buffer<4x8x16xf32>
    tile.for_boxes %u of 64 parts 1 {
      %s = tile.multiply %a[%u], %f along 1 unrolled 1 : !tile.buffer<16x8x4xf32>, !tile.view<8x8xf32, [8, 1]> -> !tile.fragment<1x8xf32>
      tile.exchange %s to %b[%u] along [1] : !tile.fragment<1x8xf32>, !tile.buffer<4x8x16xf32>
    }
    gpu.return
  }
}

func.func @turned_host(%pf: !llvm.ptr, %n: i64) {
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x8xf32, [8, 1]>
  tile.launch @kron_gpu::@turned tiles(%n) args(%f : !tile.view<8x8xf32, [8, 1]>)
  return
}

// -----

// Verify that a row of the only matrix of a tile is not divided by their number.
// CHECK-LABEL: llvm.func @only(
// CHECK:         %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK:         %[[IS_ROW:.*]] = arith.cmpi slt, %[[ROW]], %{{.*}} : i32
// CHECK-NOT:     arith.remui %[[ROW]]
// CHECK-NOT:     arith.divui %[[ROW]]
// CHECK:         nvvm.cp.async.shared.global
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @only(%x: !tile.view<?x3x5xf32, [15, 5, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x3x5xf32>>
    tile.for %t to %n {
      %a = tile.acquire %r : !tile.ring<1 of <1x3x5xf32>> -> !tile.buffer<1x3x5xf32>
      tile.copy %x[%t + 0] to %a bytes 4 fill axes [0, 1, 2] : !tile.view<?x3x5xf32, [15, 5, 1]>, !tile.buffer<1x3x5xf32>
      %s = tile.wait %r pending 0 : !tile.ring<1 of <1x3x5xf32>> -> !tile.buffer<1x3x5xf32>
      tile.release %s : !tile.buffer<1x3x5xf32>
      tile.barrier
    }
    gpu.return
  }
}

func.func @only_host(%px: !llvm.ptr, %m: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x3x5xf32, [15, 5, 1]>
  tile.launch @kron_gpu::@only tiles(%n) args(%x, %n : !tile.view<?x3x5xf32, [15, 5, 1]>, i64)
  return
}
