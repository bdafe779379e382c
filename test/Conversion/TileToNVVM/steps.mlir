// RUN: kron-opt %s --split-input-file --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s

// Verify that rows are filled with zeros, copies of the first data are started, and those of both factors for all
// threads, which wait for all of them once and meet; that in a turn a group waits and meets for each piece of data and at
// its own barrier between steps; that sums go to rows of shared memory; and that the copies of the next block's data, if
// there is one, are under way while the last step, which need not wait for any, multiplies.
// CHECK-LABEL: llvm.func @kept(
// CHECK:         llvm.store %{{.*}}, %{{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         cp.async.cg.shared.global.L2::128B [$0], [$1], 16
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NOT:     nvvm.cp.async.wait
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NOT:     nvvm.cp.async.wait
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NEXT:    nvvm.cp.async.wait.group 0
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         scf.for
// CHECK:           nvvm.barrier id = %{{.*}} number_of_threads = %c32
// CHECK-NEXT:      scf.for %{{.*}} = %c0_i32 to %c2_i32 step %c1_i32
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK-NEXT:        nvvm.barrier id = %{{.*}} number_of_threads = %c32
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:             llvm.store %{{.*}}, %{{.*}} : f16, !llvm.ptr<3>
// CHECK:           nvvm.barrier id = %{{.*}} number_of_threads = %c32
// CHECK:           arith.select %{{.*}}, %c2_i32, %c0_i32
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NOT:       nvvm.cp.async.wait
// CHECK-NOT:       nvvm.barrier
// CHECK:           mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:           st.global.cs.v4
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @kept(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1, groups = 2>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    %m = tile.keep_step %l : !tile.view<2x16x15xf16, [1, 30, 2]> -> !tile.buffer<16x32xf16>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %m pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.buffer<16x32xf16> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}
func.func @kept_host(%b_x: !llvm.ptr, %b_f: !llvm.ptr, %b_l: !llvm.ptr, %b_y: !llvm.ptr, %n: i32, %rows: i64) {
  %x = tile.view %b_x sizes(%rows) : !llvm.ptr -> !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>
  %f = tile.view %b_f : !llvm.ptr -> !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>
  %l = tile.view %b_l : !llvm.ptr -> !tile.view<2x16x15xf16, [1, 30, 2]>
  %y = tile.view %b_y sizes(%rows) : !llvm.ptr -> !tile.view<?x2x16xf16, [32, 1, 2]>
  tile.launch @kron_gpu::@kept tiles(%rows) args(%x, %f, %l, %y, %n : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.view<2x16x15xf16, [1, 30, 2]>, !tile.view<?x2x16xf16, [32, 1, 2]>, i32)
  return
}

// -----

// Verify factors that come in pieces: the first piece of a step waits for its own copies, not for those that the next
// step's ring was started with, and later ones for all that were started in front of them.
// CHECK-LABEL: llvm.func @streamed(
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NOT:     nvvm.barrier
// CHECK:         scf.for
// CHECK:           nvvm.barrier0
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.for %{{.*}} = %c0_i32 to %c2_i32 step %c1_i32
// CHECK:             scf.if
// CHECK-NEXT:          nvvm.cp.async.wait.group 1
// CHECK-NEXT:        } else {
// CHECK-NEXT:          nvvm.cp.async.wait.group 0
// CHECK-NEXT:        }
// CHECK-NEXT:        nvvm.barrier0
// CHECK:             mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:             llvm.store %{{.*}}, %{{.*}} : f16, !llvm.ptr<3>
// CHECK:           nvvm.barrier0
// CHECK:           scf.if
// CHECK:             nvvm.cp.async.wait.group 1
// CHECK:           mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:           st.global.cs.v4
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @streamed(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, %l: !tile.view<2x16x15xf16, [1, 30, 2]>, %y: !tile.view<?x2x16xf16, [32, 1, 2]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %beside = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %later = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %rows = tile.alloc : !tile.buffer<16x40xf16>
    tile.clear %rows : !tile.buffer<16x40xf16>
    tile.copy_step %x[0] to %ring and %f to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>> and !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.ring<2 of <16x32xf16>>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.copy_step %l[%t + 0] to %later : !tile.view<2x16x15xf16, [1, 30, 2]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %beside pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]> in !tile.ring<2 of <16x32xf16>> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.exchange %s to %rows[%p] along [1] : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x40xf16>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring and %f to %beside : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>> and !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.ring<2 of <16x32xf16>>
      tile.for_step %q of 1 {
        %s = tile.contract_step %rows[%t, %q], %l in %later pieces <sizes = [16, 2, 16], block = [16, 2, 16], axes = [0, 1, 2], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 4, lanes = 2, tiles = [1, 2], warps = [1, 1, 1], results = chunks>> : !tile.buffer<16x40xf16>, !tile.view<2x16x15xf16, [1, 30, 2]> in !tile.ring<2 of <16x32xf16>> -> !tile.fragment<1x16x2x16xf32, mma.m16n8k16>
        tile.store %s[%q] to %y[%t] along [2] box [16, 2, 16] bytes 16 axes [0, 1, 2] : !tile.fragment<1x16x2x16xf32, mma.m16n8k16>, !tile.view<?x2x16xf16, [32, 1, 2]>
      }
    }
    gpu.return
  }
}
func.func @streamed_host(%b_x: !llvm.ptr, %b_f: !llvm.ptr, %b_l: !llvm.ptr, %b_y: !llvm.ptr, %n: i32, %rows: i64) {
  %x = tile.view %b_x sizes(%rows) : !llvm.ptr -> !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>
  %f = tile.view %b_f : !llvm.ptr -> !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>
  %l = tile.view %b_l : !llvm.ptr -> !tile.view<2x16x15xf16, [1, 30, 2]>
  %y = tile.view %b_y sizes(%rows) : !llvm.ptr -> !tile.view<?x2x16xf16, [32, 1, 2]>
  tile.launch @kron_gpu::@streamed tiles(%rows) args(%x, %f, %l, %y, %n : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.view<2x1x15x32xf16, [480, 0, 32, 1]>, !tile.view<2x16x15xf16, [1, 30, 2]>, !tile.view<?x2x16xf16, [32, 1, 2]>, i32)
  return
}

// -----

// Verify rows that are quantized: results go through the epilogue to rows of shared memory, as f16; behind a barrier a
// lane takes a row in segments of 16 bytes, which eight bytes each and a scale are stored of.
// CHECK-LABEL: llvm.func @quantized(
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         arith.maximumf
// CHECK:         llvm.store %{{.*}}, %{{.*}} : f16, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK:         arith.maxui
// CHECK-NOT:     nvvm.shfl.sync
// CHECK:         arith.divf
// CHECK:         llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<1>
// CHECK:         st.global.cs.v2
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantized(%x: !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, %f: !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, %b: !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, %q: !tile.view<?x32xi8, [32, 1]>, %c: !tile.view<?xf32, [1]>, %a: f32, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %rows = tile.alloc : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
    %ring = tile.alloc : !tile.ring<2 of <16x32xf16>>
    tile.copy_step %x[0] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
    %k = tile.keep_step %f : !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> -> !tile.buffer<32x32xf16>
    tile.for %t to %n : i32 {
      tile.barrier
      tile.for_step %p of 2 {
        %s = tile.contract_step %x[%t, %p] from %ring, %f in %k pieces <sizes = [16, 1, 1, 32], block = [16, 1, 1, 32], axes = [0, 1, 2, 3], warps = 1, bytes = 16, ahead = 1, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [1, 2], warps = [1, 1, 1]>> : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]> from !tile.ring<2 of <16x32xf16>>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]> in !tile.buffer<32x32xf16> -> !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>
        tile.leave_rows %s[%p] to %rows[%t] alpha %a bias %b : !tile.view<?x2x1x16xf16, [0, 16, 0, 1]> activation <relu> : !tile.fragment<1x16x1x1x16xf32, mma.m16n8k16>, !tile.buffer<16x32xf16, #tile.layout<[40, 1]>>
      }
      tile.barrier
      tile.copy_step %x[%t + 1] to %ring : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.ring<2 of <16x32xf16>>
      %v = tile.load_rows %rows[%t] threads 1 kept 12 bytes 16 : !tile.buffer<16x32xf16, #tile.layout<[40, 1]>> -> !tile.fragment<4x8xf16>
      %m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>
      tile.quantize_rows %v by %m to %q[%t], %c : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>, !tile.view<?x32xi8, [32, 1]>, !tile.view<?xf32, [1]>
    }
    gpu.return
  }
}
func.func @quantized_host(%b_x: !llvm.ptr, %b_f: !llvm.ptr, %b_b: !llvm.ptr, %b_q: !llvm.ptr, %b_c: !llvm.ptr, %a: f32, %n: i32, %rows: i64) {
  %x = tile.view %b_x sizes(%rows) : !llvm.ptr -> !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>
  %f = tile.view %b_f : !llvm.ptr -> !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>
  %b = tile.view %b_b sizes(%rows) : !llvm.ptr -> !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>
  %q = tile.view %b_q sizes(%rows) : !llvm.ptr -> !tile.view<?x32xi8, [32, 1]>
  %c = tile.view %b_c sizes(%rows) : !llvm.ptr -> !tile.view<?xf32, [1]>
  tile.launch @kron_gpu::@quantized tiles(%rows) args(%x, %f, %b, %q, %c, %a, %n : !tile.view<?x2x1x32xf16, [64, 32, 0, 1]>, !tile.view<2x1x16x32xf16, [512, 0, 32, 1]>, !tile.view<?x2x1x16xf16, [0, 16, 0, 1]>, !tile.view<?x32xi8, [32, 1]>, !tile.view<?xf32, [1]>, f32, i32)
  return
}
