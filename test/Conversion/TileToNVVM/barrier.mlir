// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that groups of several warps have an instruction each, or one whose number is
// that of the group; that a warp waits for its lanes, and all threads have barrier 0.
// CHECK-LABEL: llvm.func @groups(
// CHECK:         setp.eq.u32 p, $0, 0; @p bar.sync 1, 64; setp.eq.u32 p, $0, 1; @p bar.sync 2, 64; }
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %c64_i32{{.*}} : i32
// CHECK:         %[[NUMBER:.*]] = arith.addi %[[GROUP]], %c1_i32{{.*}} : i32
// CHECK:         nvvm.barrier id = %[[NUMBER]] number_of_threads = %c64_i32
// CHECK:         nvvm.bar.warp.sync
// CHECK:         nvvm.barrier0
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @groups(%x: !tile.view<?x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    tile.barrier groups 2
    tile.barrier groups 2 numbered
    tile.barrier groups 4
    tile.barrier
    gpu.return
  }
}

func.func @groups_host(%px: !llvm.ptr, %n: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8xf32>
  tile.launch @kron_gpu::@groups tiles(%n) args(%x, %n : !tile.view<?x8xf32>, i64)
  return
}

// -----

// Verify that a barrier of a cluster is in two parts, and that in a loop of warps a
// thread arrives in the last of two turns, once it has loaded all.
// CHECK-LABEL: llvm.func @clusters(
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 2>
// CHECK:         barrier.cluster.arrive.release.aligned
// CHECK-NEXT:    barrier.cluster.wait.acquire.aligned
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-NOT:     barrier.cluster
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf64>
// CHECK:         barrier.cluster.arrive.release.aligned
// CHECK-NOT:     barrier.cluster.arrive
// CHECK:         barrier.cluster.wait.acquire.aligned
// CHECK:         call @kronRtCudaLaunch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c2_i32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @clusters(%x: !tile.view<?x8xf64>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1, cluster = 2>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf64>
    tile.barrier cluster
    tile.for_boxes %u of 2 warps 1 {
      %v = tile.load %s[%u] along [2] : !tile.buffer<4x8x8xf64> -> !tile.fragment<1x16x8xf64, dmma.m16n8k8>
      tile.barrier cluster arrive
    }
    tile.barrier cluster wait
    gpu.return
  }
}

func.func @clusters_host(%px: !llvm.ptr, %n: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8xf64>
  tile.launch @kron_gpu::@clusters tiles(%n) args(%x, %n : !tile.view<?x8xf64>, i64)
  return
}
