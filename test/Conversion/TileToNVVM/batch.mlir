// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that alignment to 16 bytes is tested once, in front of the loop; that a tile begins when no copies are under way,
// by filling all but one slot of the ring; that each step waits, meets, starts the copies of a later one, by 16
// bytes or by elements, and multiplies, its sums apart from those of the steps before; and that what is stored goes
// through alpha and beta, of sums that are not finite from plain multiply-adds over the positions of the piece.
// CHECK-LABEL: llvm.func @gradient(
// CHECK:         llvm.ptrtoint
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           %[[TWO:.*]] = arith.constant 2 : i32
// CHECK:           scf.for %{{.*}} to %[[TWO]]
// CHECK:             scf.if %[[ALIGNED]]
// CHECK-COUNT-6:       "cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;"
// CHECK-NOT:           cp.async
// CHECK:             } else {
// CHECK:               nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache =  ca
// CHECK:             nvvm.cp.async.commit.group
// CHECK:           scf.for {{.*}} iter_args(
// CHECK:             nvvm.cp.async.wait.group 1
// CHECK-NEXT:        nvvm.barrier0
// CHECK:             nvvm.cp.async.commit.group
// CHECK-COUNT-6:     llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-12:    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT:         mma.sync
// CHECK-COUNT-16:    arith.addf
// CHECK:           nvvm.vote.sync any
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               llvm.intr.fma
// CHECK:           } else {
// CHECK-COUNT-16:    llvm.store {{.*}} : f32, !llvm.ptr<1>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @gradient(%g: !tile.view<?x64xf32, [?, 1]>, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>, %p: i64, %a: f32, %b: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 4>} {
    %ring = tile.alloc : !tile.ring<3 of <768xf32>>
    tile.for %t to %n : i32 {
      %s = tile.contract_batch %g, %x[%t] positions %p in %ring
        by <f32, sizes = [1, 16, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
        : !tile.view<?x64xf32, [?, 1]>, !tile.view<?x32xf32, [32, 1]>, !tile.ring<3 of <768xf32>> -> !tile.fragment<1x16x8x4xf32>
      tile.store %s to %y[%t] alpha %a : f32 beta %b : f32 addend %y : !tile.view<1x16x8x4xf32, [512, 32, 4, 1]> bytes 4
        : !tile.fragment<1x16x8x4xf32>, !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
    }
    gpu.return
  }
}
func.func @launch_gradient(%g: !llvm.ptr, %x: !llvm.ptr, %y: !llvm.ptr, %rows: i64, %stride: i64, %p: i64, %a: f32, %b: f32, %n: i32, %tiles: i64) {
  %vg = tile.view %g sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<?x64xf32, [?, 1]>
  %vx = tile.view %x sizes(%rows) : !llvm.ptr -> !tile.view<?x32xf32, [32, 1]>
  %vy = tile.view %y : !llvm.ptr -> !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>
  tile.launch @kron_gpu::@gradient tiles(%tiles) args(%vg, %vx, %vy, %p, %a, %b, %n : !tile.view<?x64xf32, [?, 1]>, !tile.view<?x32xf32, [32, 1]>, !tile.view<1x16x8x4xf32, [512, 32, 4, 1]>, i64, f32, f32, i32)
  return
}

// -----

// Verify that warpgroups read both operands of 16 bits from shared memory, whose copies are made visible to them, that
// copies of a later step are started while they multiply, and that sums of a piece that are neighbours, two of
// them, are stored together where they exist, as they are.
// CHECK-LABEL: llvm.func @pieces(
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           fence.proxy.async
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           wgmma.wait_group.sync.aligned 0
// CHECK-NOT:       mma.sync.aligned.m16
// CHECK-NOT:       nvvm.vote
// CHECK-COUNT-4:   llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT:       llvm.store {{.*}} !llvm.ptr<1>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @pieces(%g: !tile.view<120x?xf16, [?, 1]>, %x: !tile.view<32x?xf16, [?, 1]>, %s: !tile.view<?x2x60x16x1xf32>, %p: i64, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 4>} {
    %ring = tile.alloc : !tile.ring<2 of <5120xf16>>
    tile.for %t to %n : i32 {
      %v = tile.contract_batch %g, %x[%t] positions %p in %ring
        by <f16, sizes = [2, 60, 16, 1], tiles = [1, 2], warps = [4, 1, 1], step = 64, chunk = 16, atom = wgmma.m64k16, residuals = none, last = true>
        : !tile.view<120x?xf16, [?, 1]>, !tile.view<32x?xf16, [?, 1]>, !tile.ring<2 of <5120xf16>> -> !tile.fragment<1x64x16x1xf32>
      tile.store %v to %s[%t] bytes 8 : !tile.fragment<1x64x16x1xf32>, !tile.view<?x2x60x16x1xf32>
    }
    gpu.return
  }
}
func.func @launch_pieces(%g: !llvm.ptr, %x: !llvm.ptr, %s: !llvm.ptr, %rows: i64, %stride: i64, %p: i64, %n: i32, %tiles: i64) {
  %vg = tile.view %g sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<120x?xf16, [?, 1]>
  %vx = tile.view %x sizes(%rows) strides(%stride) : !llvm.ptr -> !tile.view<32x?xf16, [?, 1]>
  %vs = tile.view %s sizes(%p) : !llvm.ptr -> !tile.view<?x2x60x16x1xf32>
  tile.launch @kron_gpu::@pieces tiles(%tiles) args(%vg, %vx, %vs, %p, %n : !tile.view<120x?xf16, [?, 1]>, !tile.view<32x?xf16, [?, 1]>, !tile.view<?x2x60x16x1xf32>, i64, i32)
  return
}

// -----

// Verify that rows of X of f32 are prepared for warpgroups, those of the first step in front of the loop over steps and those of
// the next one in it; that sums go to a piece as threads have them, 16 bytes each; and that a batch of less than 32
// positions is summed up again.
// CHECK-LABEL: llvm.func @threads(
// CHECK:           fence.proxy.async
// CHECK:           scf.for {{.*}} iter_args(
// CHECK:             nvvm.barrier0
// CHECK:             wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
// CHECK:             llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:             wgmma.wait_group.sync.aligned 0
// CHECK:             fence.proxy.async
// CHECK:           nvvm.vote.sync any
// CHECK:           %[[LEAST:.*]] = arith.constant 32 : i64
// CHECK:           arith.cmpi slt, %{{.*}}, %[[LEAST]]
// CHECK:           scf.if
// CHECK:             llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:           } else {
// CHECK-COUNT-4:     llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT:         llvm.store {{.*}} !llvm.ptr<1>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @threads(%g: !tile.view<?x256xf32, [256, 1]>, %x: !tile.view<?x32xf32, [32, 1]>, %s: !tile.view<?x2048xf32>, %p: i64, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<3 of <4608xf32>>
    tile.for %t to %n : i32 {
      %v = tile.contract_batch %g, %x[%t] positions %p in %ring
        by <f32, sizes = [1, 64, 8, 4], tiles = [1, 1], warps = [4, 1, 1], step = 16, chunk = 16, atom = wgmma.m64k8.tf32, residuals = bf16, last = false>
        : !tile.view<?x256xf32, [256, 1]>, !tile.view<?x32xf32, [32, 1]>, !tile.ring<3 of <4608xf32>> -> !tile.fragment<1x64x8x4xf32>
      tile.store %v to %s[%t] bytes 16 : !tile.fragment<1x64x8x4xf32>, !tile.view<?x2048xf32>
    }
    gpu.return
  }
}
func.func @launch_threads(%g: !llvm.ptr, %x: !llvm.ptr, %s: !llvm.ptr, %rows: i64, %p: i64, %n: i32, %tiles: i64) {
  %vg = tile.view %g sizes(%rows) : !llvm.ptr -> !tile.view<?x256xf32, [256, 1]>
  %vx = tile.view %x sizes(%rows) : !llvm.ptr -> !tile.view<?x32xf32, [32, 1]>
  %vs = tile.view %s sizes(%p) : !llvm.ptr -> !tile.view<?x2048xf32>
  tile.launch @kron_gpu::@threads tiles(%tiles) args(%vg, %vx, %vs, %p, %n : !tile.view<?x256xf32, [256, 1]>, !tile.view<?x32xf32, [32, 1]>, !tile.view<?x2048xf32>, i64, i32)
  return
}

// -----

// Verify that eight threads beside each other add up the sums of a weight, nine at a time, those behind the last one as
// zeros, and then pairs of them; and that the first one rounds the total and stores it in the order of the view.
// CHECK-LABEL: llvm.func @totals(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-COUNT-9:     llvm.load {{.*}} !llvm.ptr<1> -> f32
// CHECK-NOT:         llvm.load {{.*}} !llvm.ptr<1>
// CHECK-COUNT-9:     arith.addf
// CHECK-NOT:         arith.addf
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK-COUNT-4:   nvvm.barrier0
// CHECK-NOT:       nvvm.barrier0
// CHECK:           arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:      llvm.store {{.*}} : f16, !llvm.ptr<1>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @totals(%s: !tile.view<?x1x128x4xf32>, %y: !tile.view<1x16x8x1xf16, [?, ?, ?, ?]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 8 loads 9 : !tile.view<?x1x128x4xf32> -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] bytes 2 : !tile.fragment<1x1xf32>, !tile.view<1x16x8x1xf16, [?, ?, ?, ?]>
    }
    gpu.return
  }
}
func.func @launch_totals(%s: !llvm.ptr, %y: !llvm.ptr, %pieces: i64, %n: i64) {
  %vs = tile.view %s sizes(%pieces) : !llvm.ptr -> !tile.view<?x1x128x4xf32>
  %vy = tile.view %y strides(%n, %n, %n, %n) : !llvm.ptr -> !tile.view<1x16x8x1xf16, [?, ?, ?, ?]>
  tile.launch @kron_gpu::@totals tiles(%n) args(%vs, %vy, %n : !tile.view<?x1x128x4xf32>, !tile.view<1x16x8x1xf16, [?, ?, ?, ?]>, i64)
  return
}

// -----

// Verify that one thread adds up the sums of a weight where there is a slice; that it finds the weight by the order in which
// threads have sums, and stores nothing of those that do not exist, rows j from 9 on; and that one element is added where beta is not 0.
// CHECK-LABEL: llvm.func @ordered(
// CHECK-NOT:     nvvm.barrier0
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK-COUNT-3:       llvm.load {{.*}} !llvm.ptr<1> -> f32
// CHECK:             %[[NINE:.*]] = arith.constant 9 : i32
// CHECK:             arith.cmpi slt, %{{.*}}, %[[NINE]] : i32
// CHECK:             scf.if
// CHECK:               llvm.load {{.*}} !llvm.ptr<1> -> f32
// CHECK:               llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT:     nvvm.barrier0
gpu.module @kron_gpu {
  gpu.func @ordered(%s: !tile.view<?x1x512x1xf32>, %y: !tile.view<1x9x8x4xf32, [288, 32, 4, 1]>, %b: f32, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 4>} {
    tile.for %t to %n {
      %v = tile.add_pieces %s[%t] slices 1 loads 3
        as <f32, sizes = [1, 9, 8, 4], tiles = [1, 1], warps = [1, 1, 1], step = 8, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>
        : !tile.view<?x1x512x1xf32> -> !tile.fragment<1x1xf32>
      tile.store %v to %y[%t] beta %b : f32 addend %y : !tile.view<1x9x8x4xf32, [288, 32, 4, 1]> bytes 4 : !tile.fragment<1x1xf32>, !tile.view<1x9x8x4xf32, [288, 32, 4, 1]>
    }
    gpu.return
  }
}
func.func @launch_ordered(%s: !llvm.ptr, %y: !llvm.ptr, %b: f32, %pieces: i64, %n: i64) {
  %vs = tile.view %s sizes(%pieces) : !llvm.ptr -> !tile.view<?x1x512x1xf32>
  %vy = tile.view %y : !llvm.ptr -> !tile.view<1x9x8x4xf32, [288, 32, 4, 1]>
  tile.launch @kron_gpu::@ordered tiles(%n) args(%vs, %vy, %b, %n : !tile.view<?x1x512x1xf32>, !tile.view<1x9x8x4xf32, [288, 32, 4, 1]>, f32, i64)
  return
}
