// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a factor is copied to rows of 8 elements, whole chunks, and that its 5
// results are computed four at a time, for the 8 fibres of a thread together: 8 chunks
// of the operand for the first four results, which are stored before the 8 of the last.
// They are loaded in this order.
// CHECK-LABEL: llvm.func @blocks(
// CHECK:         llvm.load %{{.*}} invariant {{.*}} : !llvm.ptr<1> -> f32
// CHECK:         %[[C8:.*]] = arith.constant 8 : i32
// CHECK:         arith.muli %{{.*}}, %[[C8]] : i32
// CHECK:         nvvm.barrier
// CHECK:         llvm.load volatile %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-32: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK-COUNT-7: llvm.load volatile
// CHECK:         llvm.intr.fma
// CHECK:         llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         llvm.load volatile
// CHECK-COUNT-8: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @blocks(%f: !tile.view<8x5xf32, [?, 1]>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>

    %d = tile.alloc : !tile.buffer<32x5x8xf32>
    %q = tile.alloc : !tile.buffer<32x8x8xf32>
    %p = tile.prepare %f : !tile.view<8x5xf32, [?, 1]> -> !tile.operand<8x5xf32>
    tile.barrier
    tile.for_boxes %u of 64 together 2 {
      %v = tile.load %q[%u] along [1] : !tile.buffer<32x8x8xf32> -> !tile.fragment<2x8x4xf32>
      %r = tile.contract %v, %p along 1 atom <fma> block [8, 4] ordered : !tile.fragment<2x8x4xf32>, !tile.operand<8x5xf32> -> !tile.fragment<2x5x4xf32>
      tile.exchange %r to %d[%u] along [1] : !tile.fragment<2x5x4xf32>, !tile.buffer<32x5x8xf32>
    }
    gpu.return
  }
}

func.func @blocks_host(%pf: !llvm.ptr, %n: i64, %s: i64) {
  %f = tile.view %pf strides(%s) : !llvm.ptr -> !tile.view<8x5xf32, [?, 1]>
  tile.launch @kron_gpu::@blocks tiles(%n) args(%f, %n : !tile.view<8x5xf32, [?, 1]>, i64)
  return
}

// -----

// Verify that results of all blocks are computed before one is taken, here of two fibres
// each, and that without an order chunks are loaded by inline PTX: the 8 rows of 16 bytes
// behind the 6144 bytes of the buffers, for each block anew.
// CHECK-LABEL: llvm.func @whole(
// CHECK:         nvvm.barrier
// CHECK:         ld.shared.v4.f32 {$0, $1, $2, $3}, [$4 + 6144];
// CHECK-COUNT-8: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         [$4 + 6160];
// CHECK:         [$4 + 6256];
// CHECK-NOT:     llvm.store
// CHECK:         [$4 + 6144];
// CHECK:         [$4 + 6256];
// CHECK-COUNT-4: llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @whole(%f: !tile.view<8x4xf32, [?, 1]>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %d = tile.alloc : !tile.buffer<32x8x4xf32>
    %e = tile.alloc : !tile.buffer<32x4x4xf32>
    %p = tile.prepare %f : !tile.view<8x4xf32, [?, 1]> -> !tile.operand<8x4xf32>
    tile.barrier
    tile.for_boxes %u of 32 {
      %v = tile.load %d[%u] along [1] : !tile.buffer<32x8x4xf32> -> !tile.fragment<1x8x4xf32>
      %r = tile.contract %v, %p along 1 atom <fma> block [2, 4] whole : !tile.fragment<1x8x4xf32>, !tile.operand<8x4xf32> -> !tile.fragment<1x4x4xf32>
      tile.exchange %r to %e[%u] along [1] : !tile.fragment<1x4x4xf32>, !tile.buffer<32x4x4xf32>
    }
    gpu.return
  }
}

func.func @whole_host(%pf: !llvm.ptr, %n: i64, %s: i64) {
  %f = tile.view %pf strides(%s) : !llvm.ptr -> !tile.view<8x4xf32, [?, 1]>
  tile.launch @kron_gpu::@whole tiles(%n) args(%f, %n : !tile.view<8x4xf32, [?, 1]>, i64)
  return
}
