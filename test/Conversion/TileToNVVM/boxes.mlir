// RUN: kron-opt %s --convert-tile-to-nvvm --canonicalize --split-input-file | FileCheck %s

// Verify that a ring of 3 slots holds a tile of 2 and one row of the next one: the first
// slot of a tile is carried from turn to turn, and what a thread has of the second row is
// copied behind the barrier that follows the loads. Rows behind the view's last one are
// neither read nor written. What is stored is known in front of the branches that store it.
// CHECK-LABEL: llvm.func @ring(
// CHECK-SAME:    %[[ROWS:.*]]: i64, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[TILES:.*]]: i64)
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for %[[TILE:.*]] = %{{.*}} to %[[TILES]] step %[[STEP:.*]] iter_args(%[[SLOT:.*]] = %{{.*}}) -> (i32)
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[SLOT]], %c2_i32 : i32
// CHECK:           %[[OVER:.*]] = arith.addi %[[SLOT]], %c-1_i32 : i32
// CHECK:           %[[FITS:.*]] = arith.cmpi slt, %[[BEHIND]], %c3_i32 : i32
// CHECK:           %[[NEXT:.*]] = arith.select %[[FITS]], %[[BEHIND]], %[[OVER]] : i32
// CHECK:           %[[OTHER:.*]] = arith.addi %[[TILE]], %[[STEP]] : i64
// CHECK:           %[[EXISTS:.*]] = arith.cmpi slt, %[[OTHER]], %[[TILES]] : i64
// CHECK:           scf.if %[[EXISTS]] {
// CHECK:             %[[FIRST:.*]] = arith.muli %[[OTHER]], %c2_i64 : i64
// CHECK:             %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]] : i64
// CHECK:             %[[IS_ROW:.*]] = arith.cmpi sgt, %[[LEFT]], %c0_i64 : i64
// CHECK:             scf.if %[[IS_ROW]] {
// CHECK:               nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:           nvvm.cp.async.commit.group
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           nvvm.barrier0
// CHECK:             arith.cmpi sgt, %{{.*}}, %c1_i64 : i64
// CHECK:               arith.addi %[[NEXT]], %c1_i32 : i32
// CHECK:               nvvm.cp.async.shared.global
// CHECK:           nvvm.cp.async.commit.group
// CHECK-COUNT-8:   llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %{{.*}} : (f32) -> f32
// CHECK-NOT:       "=f,0"
// CHECK:           scf.if
// CHECK-COUNT-4:     st.global.cs.f32
// CHECK:           scf.if
// CHECK-COUNT-4:     st.global.cs.f32
// CHECK:           scf.yield %{{.*}} : i32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @ring(%x: !tile.view<?x64x4xf32, [256, 4, 1]>, %y: !tile.view<?x64x4xf32, [256, 4, 1]>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<3 of <2x64x4xf32> along 0>
    %first = tile.acquire %ring : !tile.ring<3 of <2x64x4xf32> along 0> -> !tile.buffer<2x64x4xf32>
    tile.copy %x[0] to %first bytes 16 : !tile.view<?x64x4xf32, [256, 4, 1]>, !tile.buffer<2x64x4xf32>
    tile.for %t to %tiles {
      %slot = tile.wait %ring pending 0 : !tile.ring<3 of <2x64x4xf32> along 0> -> !tile.buffer<2x64x4xf32>
      tile.barrier
      %next = tile.acquire %ring : !tile.ring<3 of <2x64x4xf32> along 0> -> !tile.buffer<2x64x4xf32>
      tile.copy %x[%t + 1] to %next part [0, 1] bytes 16 : !tile.view<?x64x4xf32, [256, 4, 1]>, !tile.buffer<2x64x4xf32>
      tile.for_boxes %u of 128 together 2 repeat {
        %v = tile.load %slot[%u] along [2] : !tile.buffer<2x64x4xf32> -> !tile.fragment<2x4xf32>
        tile.release %slot : !tile.buffer<2x64x4xf32>
        tile.barrier
        tile.copy %x[%t + 1] to %next part [1, 2] bytes 16 : !tile.view<?x64x4xf32, [256, 4, 1]>, !tile.buffer<2x64x4xf32>
        tile.store %v[%u] to %y[%t] along [2] box [2, 64, 4] bytes 4 : !tile.fragment<2x4xf32>, !tile.view<?x64x4xf32, [256, 4, 1]>
      }
    }
    gpu.return
  }
}

func.func @ring_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x64x4xf32, [256, 4, 1]>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x64x4xf32, [256, 4, 1]>
  tile.launch @kron_gpu::@ring tiles(%s) args(%x, %y, %s : !tile.view<?x64x4xf32, [256, 4, 1]>, !tile.view<?x64x4xf32, [256, 4, 1]>, i64)
  return
}

// -----

// Verify that each warp copies the row that it works on, along the axis of stride 1, one
// element per turn of a loop, and waits for its own lanes alone; and that a
// resized buffer lies where it did, and is stored along the given axes: positions of the
// middle one follow each other. All slots are one tile, so that none is carried.
// CHECK-LABEL: llvm.func @groups(
// CHECK:         %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i64 {
// CHECK:           %[[WARP:.*]] = arith.divui %[[THREAD]], %c32_i32 : i32
// CHECK:           %[[LANE:.*]] = arith.remui %[[THREAD]], %c32_i32 : i32
// CHECK:           scf.for %[[BEGIN:.*]] = %c0_i32 to %c64_i32 step %c32_i32
// CHECK:             %[[ITEM:.*]] = arith.addi %[[BEGIN]], %[[LANE]] : i32
// CHECK:             arith.remui %[[ITEM]], %c2_i32 : i32
// CHECK:             nvvm.cp.async.shared.global {{.*}} 4, cache = ca
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           nvvm.bar.warp.sync
// CHECK:           llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK:           llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK:           nvvm.barrier0
// CHECK:           scf.for %{{.*}} = %c0_i32 to %c128_i32 step %c64_i32
// CHECK:             %[[NUMBER:.*]] = arith.minsi %{{.*}}, %c123_i32 : i32
// CHECK:             arith.remui %[[NUMBER]], %c31_i32 : i32
// CHECK:             llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:             st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @groups(%x: !tile.view<?x32x2xf32, [1, ?, ?]>, %y: !tile.view<?x32x2xf32, [64, 2, 1]>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<2 of <2x32x2xf32> along 0>
    tile.for %t to %tiles {
      %next = tile.acquire %ring : !tile.ring<2 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
      tile.copy %x[%t + 0] to %next order [1, 2, 0] groups 2 together 1 bytes 4 : !tile.view<?x32x2xf32, [1, ?, ?]>, !tile.buffer<2x32x2xf32>
      %slot = tile.wait %ring pending 0 : !tile.ring<2 of <2x32x2xf32> along 0> -> !tile.buffer<2x32x2xf32>
      tile.barrier groups 2
      tile.for_boxes %u of 64 repeat {
        %v = tile.load %slot[%u] along [2] : !tile.buffer<2x32x2xf32> -> !tile.fragment<1x2xf32>
        tile.exchange %v to %slot[%u] along [2] : !tile.fragment<1x2xf32>, !tile.buffer<2x32x2xf32>
      }
      tile.barrier
      %less = tile.resize %slot : !tile.buffer<2x32x2xf32> -> !tile.buffer<2x31x2xf32, #tile.layout<[64, 2, 1]>>
      tile.store %less to %y[%t] order [2, 0, 1] together 1 bytes 4 : !tile.buffer<2x31x2xf32, #tile.layout<[64, 2, 1]>>, !tile.view<?x32x2xf32, [64, 2, 1]>
      tile.release %slot : !tile.buffer<2x32x2xf32>
      tile.barrier
    }
    gpu.return
  }
}

func.func @groups_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) strides(%s, %s) : !llvm.ptr -> !tile.view<?x32x2xf32, [1, ?, ?]>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x32x2xf32, [64, 2, 1]>
  tile.launch @kron_gpu::@groups tiles(%s) args(%x, %y, %s : !tile.view<?x32x2xf32, [1, ?, ?]>, !tile.view<?x32x2xf32, [64, 2, 1]>, i64)
  return
}

// -----

// Verify that boxes of a view are loaded from the first position where they are outside,
// that a thread repeats its first box where it has no second one, and that neither is
// stored; and that the addend is not read where beta is 0.
// CHECK-LABEL: llvm.func @direct(
// CHECK-NOT:     !llvm.ptr<3>
// CHECK:         %[[HAS_FIRST:.*]] = arith.cmpi slt, %[[THREAD:.*]], %c50_i32 : i32
// CHECK:         %[[FIRST:.*]] = arith.minsi %[[THREAD]], %c49_i32 : i32
// CHECK:         %[[BEHIND:.*]] = arith.addi %[[THREAD]], %c32_i32 : i32
// CHECK:         %[[HAS_SECOND:.*]] = arith.cmpi slt, %[[BEHIND]], %c50_i32 : i32
// CHECK:         scf.if %[[HAS_FIRST]] {
// CHECK:           %[[SECOND:.*]] = arith.select %[[HAS_SECOND]], %{{.*}}, %[[FIRST]] : i32
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK:           arith.select %[[INSIDE]], %[[FIRST]], %c0_i32 : i32
// CHECK-COUNT-2:   llvm.load %{{.*}} invariant {{.*}} : !llvm.ptr<1> -> f32
// CHECK:           arith.select %{{.*}}, %[[SECOND]], %c0_i32 : i32
// CHECK-COUNT-2:   llvm.load %{{.*}} invariant {{.*}} : !llvm.ptr<1> -> f32
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             arith.cmpf oeq
// CHECK:             scf.yield
// CHECK:             } else {
// CHECK-COUNT-2:       llvm.intr.fma
// CHECK-COUNT-2:     st.global.cs.f32
// CHECK:           %[[STORED:.*]] = arith.andi %[[HAS_SECOND]], %{{.*}} : i1
// CHECK:           scf.if %[[STORED]] {
// CHECK-COUNT-2:     st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @direct(%x: !tile.view<2x?xf32, [?, 1]>, %y: !tile.view<2x?xf32, [?, 1]>, %z: !tile.view<2x?xf32, [?, 1]>, %b: f32, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for %t to %tiles {
      tile.for_boxes %u of 50 together 2 repeat {
        %v = tile.load %x[%u] along [0] tile %t box [2, 50] : !tile.view<2x?xf32, [?, 1]> -> !tile.fragment<2x2xf32>
        tile.store %v[%u] to %y[%t] along [0] beta %b : f32 addend %z : !tile.view<2x?xf32, [?, 1]> box [2, 50] bytes 4 : !tile.fragment<2x2xf32>, !tile.view<2x?xf32, [?, 1]>
      }
    }
    gpu.return
  }
}

func.func @direct_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64, %b: f32) {
  %x = tile.view %px sizes(%n) strides(%s) : !llvm.ptr -> !tile.view<2x?xf32, [?, 1]>
  %y = tile.view %py sizes(%n) strides(%s) : !llvm.ptr -> !tile.view<2x?xf32, [?, 1]>
  tile.launch @kron_gpu::@direct tiles(%s) args(%x, %y, %y, %b, %s : !tile.view<2x?xf32, [?, 1]>, !tile.view<2x?xf32, [?, 1]>, !tile.view<2x?xf32, [?, 1]>, f32, i64)
  return
}
