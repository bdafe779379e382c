// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a slot is a byte offset, of which a loop carries the one to wait for; that
// the one to fill is behind it, as many as were acquired, and both are the first one
// again behind the last; that a wait is for copies of the thread, and releasing a slot
// takes no instruction.
// CHECK-LABEL: llvm.func @turns(
// CHECK:         scf.for {{.*}} iter_args(%[[FULL:.*]] = %{{.*}}) -> (i32)
// CHECK:           %[[NEXT:.*]] = arith.addi %[[FULL]], %[[C1024:.*]] : i32
// CHECK:           %[[IS_END:.*]] = arith.cmpi eq, %[[NEXT]], %c2048{{.*}} : i32
// CHECK:           %[[FREE:.*]] = arith.select %[[IS_END]], %{{.*}}, %[[NEXT]] : i32
// CHECK:           arith.addi %[[FREE]], %{{.*}} : i32
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      nvvm.cp.async.wait.group 1
// CHECK-NEXT:      nvvm.barrier
// CHECK:           nvvm.barrier
// CHECK:           arith.addi %[[FULL]], %{{.*}} : i32
// CHECK:           %[[AFTER:.*]] = arith.select
// CHECK:           scf.yield %[[AFTER]] : i32
// CHECK:         call @kronRtCudaLaunch
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @turns(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %ring = tile.alloc : !tile.ring<2 of <4x8x8xf32>>
    %f0 = tile.acquire %ring : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    tile.copy %x[0] to %f0 rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>

    tile.for %t to %tiles {
      %free = tile.acquire %ring : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.copy %x[%t + 1] to %free rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
      %slot = tile.wait %ring pending 1 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
      tile.barrier
      tile.release %slot : !tile.buffer<4x8x8xf32>
      tile.barrier
    }
    gpu.return
  }
}

func.func @turns_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@turns tiles(%n) args(%x, %y, %n : !tile.view<?x8x8xf32>, !tile.view<?x8x8xf32>, i64)
  return
}
