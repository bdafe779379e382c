// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a tile whose rows all exist comes by 16 bytes per thread and copy, in
// an unrolled loop (64 chunks, 32 threads), that of the last tile what exists comes
// in a rolled loop, and that copies of a tile are one group, whether it exists or not.
// CHECK-LABEL: llvm.func @chunks(
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt
// CHECK:         scf.if %[[EXISTS]] {
// CHECK:           scf.if
// CHECK-COUNT-2:     nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg :
// CHECK-NOT:         nvvm.cp.async.shared.global
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %{{.*}}
// CHECK:             nvvm.bar.warp.sync
// CHECK:         }
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NEXT:    llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @chunks(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %ring = tile.alloc : !tile.ring<2 of <4x8x8xf32>>

    %free = tile.acquire %ring : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %free rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

func.func @chunks_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@chunks tiles(%n) args(%x, %y, %n : !tile.view<?x8x8xf32>, !tile.view<?x8x8xf32>, i64)
  return
}

// -----

// Verify that elements of an array with gaps come one by one, and where their strides
// and a layout with gaps between its planes put them.
// CHECK-LABEL: llvm.func @elements(
// CHECK-SAME:    %[[N:.*]]: i64, %[[X:.*]]: !llvm.ptr<1>, %[[STRIDE:.*]]: i64)
// CHECK:         scf.for %[[INDEX:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[ROW:.*]] = arith.divui %[[INDEX]], %{{.*}}
// CHECK:           arith.muli %{{.*}}, %[[STRIDE]]
// CHECK:           arith.remui %[[INDEX]], %[[PLANE:.*]] : i32
// CHECK:           %[[C72:.*]] = arith.constant 72 : i32
// CHECK:           arith.muli %{{.*}}, %[[C72]]
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache =  ca
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @elements(%x: !tile.view<?x8x8xf32, [?, 8, 1]>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %ring = tile.alloc : !tile.ring<2 of <4x8x8xf32, #tile.layout<[72, 8, 1]>>>
    %free = tile.acquire %ring : !tile.ring<2 of <4x8x8xf32, #tile.layout<[72, 8, 1]>>> -> !tile.buffer<4x8x8xf32, #tile.layout<[72, 8, 1]>>
    tile.copy %x[1] to %free rows 4 bytes 4 : !tile.view<?x8x8xf32, [?, 8, 1]>, !tile.buffer<4x8x8xf32, #tile.layout<[72, 8, 1]>>
    gpu.return
  }
}

func.func @elements_host(%px: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) strides(%s) : !llvm.ptr -> !tile.view<?x8x8xf32, [?, 8, 1]>
  tile.launch @kron_gpu::@elements tiles(%n) args(%x, %n : !tile.view<?x8x8xf32, [?, 8, 1]>, i64)
  return
}
