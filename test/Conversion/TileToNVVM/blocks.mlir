// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a factor is loaded once, rounded to TF32 with what is left as residual; that
// a tile is copied by 16 bytes if the array turns out to be aligned, else by elements, with
// zeros behind the last row; that a warp takes every second block: pairs of neighbours,
// three products, small ones first, sums that are not finite again one by one; that it
// meets before it writes where it has read; and that results are stored by 16 bytes.
// CHECK-LABEL: llvm.func @blocks(
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK:         llvm.ptrtoint
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK-COUNT-4:   nvvm.cp.async.shared.global {{.*}} 16, cache = cg, %{{.*}}
// CHECK:         } else {
// CHECK-COUNT-16:  nvvm.cp.async.shared.global {{.*}} 4, cache = ca, %{{.*}}
// CHECK:         }
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for {{.*}} : i32 {
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           nvvm.barrier0
// CHECK:           scf.for
// CHECK-COUNT-4:     llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK:             arith.subf
// CHECK-COUNT-12:    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:             nvvm.vote.sync any
// CHECK:             scf.if
// CHECK:               scf.for
// CHECK:                 llvm.intr.fma
// CHECK:             nvvm.bar.warp.sync
// CHECK-COUNT-4:     llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:           nvvm.barrier0
// CHECK:           st.global.cs.v4.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @blocks(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.for %t to %n : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.barrier
      %g = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.copy %x[%t + 1] to %g bytes 16 fill axes [0, 1, 2] : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.barrier of_block
        tile.exchange %c to %s[%b] along [1] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] {
        %v = tile.load %s[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.release %s : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    }
    gpu.return
  }
}

func.func @blocks_host(%px: !llvm.ptr, %py: !llvm.ptr, %pf: !llvm.ptr, %n: i64, %t: i32) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<16x16xf32, [16, 1]>
  tile.launch @kron_gpu::@blocks tiles(%n) args(%x, %y, %f, %t : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.view<16x16xf32, [16, 1]>, i32)
  return
}

// -----

// Verify that each of two warps has two slots of the ring, which it fills with pieces of
// the CTA's first tile; waits for its own copies, meets, and fills the slot again, with a
// piece of this tile or of the next one.
// CHECK-LABEL: llvm.func @pieces(
// CHECK-COUNT-2: nvvm.cp.async.commit.group
// CHECK:         scf.for {{.*}} : i32 {
// CHECK-NOT:       nvvm.barrier0
// CHECK:           scf.for {{.*}} : i32 {
// CHECK:             nvvm.cp.async.wait.group 1
// CHECK:             nvvm.bar.warp.sync
// CHECK-COUNT-6:     mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:             nvvm.bar.warp.sync
// CHECK:             %[[EXISTS:.*]] = arith.ori %{{.*}}, %{{.*}} : i1
// CHECK:             scf.if %[[EXISTS]] {
// CHECK:               nvvm.cp.async.shared.global
// CHECK:             nvvm.cp.async.commit.group
// CHECK:           nvvm.bar.warp.sync
// CHECK:           scf.for
// CHECK:           nvvm.barrier0
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @pieces(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<4 of <1x16x8xf32>>
    %w = tile.alloc : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    tile.copy_pieces %x to %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>>
    tile.for %t to %n : i32 {
      tile.for_pieces %b, %s of %x[%t] in %r pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.ring<4 of <1x16x8xf32>> {
        %v = tile.load %s[%b] along [1] : !tile.buffer<1x16x8xf32> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [8, 16] whole : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>
        tile.exchange %c to %w[%b] along [1] : !tile.fragment<1x1x16x8xf32, mma.m16n8k8.tf32>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
      }
      tile.barrier groups 2
      tile.for_blocks %b of [2, 16, 32] by [1, 16, 32] shares {
        %v = tile.load %w[%b] along [1] together 2 : !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        %c = tile.contract %v, %p along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows> -> !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>
        tile.store %c[%b] to %y[%t] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2] : !tile.fragment<1x1x16x32xf32, mma.m16n8k8.tf32>, !tile.view<?x16x32xf32, [512, 32, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

func.func @pieces_host(%px: !llvm.ptr, %py: !llvm.ptr, %pf: !llvm.ptr, %n: i64, %t: i32) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x16x32xf32, [512, 32, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<16x16xf32, [16, 1]>
  tile.launch @kron_gpu::@pieces tiles(%n) args(%x, %y, %f, %t : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.view<16x16xf32, [16, 1]>, i32)
  return
}

// -----

// Verify that two warps share a block: each loads the part of the factor that its results
// need, which they both write behind a barrier of two warps; that f64 before sm_90 takes
// four instructions, and no test of the sums; that what does not fit in registers is
// loaded where it is multiplied; and that two CTAs read each other's half.
// CHECK-LABEL: llvm.func @shared(
// CHECK-NOT:     !llvm.ptr<1> -> f64
// CHECK:         %[[OTHER:.*]] = nvvm.mapa
// CHECK:         scf.for
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<1> -> f64
// CHECK:           mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<7> -> f64
// CHECK:           mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK-NOT:       nvvm.vote
// CHECK:           nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK:           llvm.store %{{.*}} : vector<2xf64>, !llvm.ptr<3>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @shared(%f: !tile.view<16x32xf64, [32, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, cluster = 2>} {
    %w = tile.alloc : !tile.buffer<2x8x8xf64>
    %o = tile.alloc : !tile.buffer<2x32x8xf64>
    %p = tile.prepare %f warps 2 split streamed : !tile.view<16x32xf64, [32, 1]> -> !tile.operand<16x32xf64, mma.m8n8k4.f64 rows>
    tile.for_blocks %b of [2, 16, 8] by [1, 16, 8] warps 2 split {
      %v = tile.load %w[%b] along [1] : !tile.buffer<2x8x8xf64> -> !tile.fragment<1x1x16x8xf64, mma.m8n8k4.f64>
      %c = tile.contract %v, %p along 2 atom <mma.m8n8k4.f64> block [8, 32] whole : !tile.fragment<1x1x16x8xf64, mma.m8n8k4.f64>, !tile.operand<16x32xf64, mma.m8n8k4.f64 rows> -> !tile.fragment<1x1x32x8xf64, mma.m8n8k4.f64>
      tile.barrier of_block
      tile.exchange %c to %o[%b] along [1] : !tile.fragment<1x1x32x8xf64, mma.m8n8k4.f64>, !tile.buffer<2x32x8xf64>
    }
    tile.barrier cluster
    gpu.return
  }
}

func.func @shared_host(%pf: !llvm.ptr, %n: i64) {
  %f = tile.view %pf : !llvm.ptr -> !tile.view<16x32xf64, [32, 1]>
  tile.launch @kron_gpu::@shared tiles(%n) args(%f : !tile.view<16x32xf64, [32, 1]>)
  return
}
