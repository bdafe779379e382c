// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a buffer which reuses another one has its place, with room for the larger
// of both (160 bytes behind the first 64), and how many bytes the launch asks for.
// CHECK-LABEL: llvm.func @places(
// CHECK:         %[[C64:.*]] = arith.constant 64 : i32
// CHECK:         arith.addi %[[C64]], %{{.*}} : i32
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-LABEL: func.func @places_host
// CHECK:         %[[BYTES:.*]] = arith.constant 240 : i64
// CHECK:         llvm.call @kronRtCudaLaunch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BYTES]],
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @places(%x: !tile.view<?x4xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %a = tile.alloc : !tile.buffer<4x4xf32>
    %b = tile.alloc : !tile.buffer<4x8xf32>
    %c = tile.alloc reuses %b : !tile.buffer<4x8xf32> as : !tile.buffer<4x10xf32>
    %d = tile.alloc : !tile.buffer<1x4xf32>
    tile.for_boxes %u of 1 {
      %v = tile.load %c[%u] along [1] : !tile.buffer<4x10xf32> -> !tile.fragment<1x10xf32>
    }
    gpu.return
  }
}

func.func @places_host(%px: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x4xf32>
  tile.launch @kron_gpu::@places tiles(%n) args(%x, %n : !tile.view<?x4xf32>, i64)
  return
}
