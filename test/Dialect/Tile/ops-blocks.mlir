// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify the operations on blocks that warps multiply, and their types.
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @blocks(
  // CHECK:         tile.prepare %{{.*}} residuals : <16x16xf32, [16, 1]> -> <16x16xf32, mma.m16n8k8.tf32 rows>
  // CHECK:         tile.copy %{{.*}}[0] to %{{.*}} bytes 16 fill axes [0, 1, 2] lines :
  // CHECK:           tile.for_blocks %[[B:.*]] of [2, 16, 32] by [1, 16, 32] {
  // CHECK:             %[[V:.*]] = tile.load %{{.*}}[%[[B]]] along [1] together 2 : {{.*}} -> <1x1x16x32xf32, mma.m16n8k8.tf32>
  // CHECK:             tile.contract %[[V]], %{{.*}} along 2 atom <mma.m16n8k8.tf32> block [32, 16] whole
  // CHECK:             tile.barrier of_block
  // CHECK:             tile.store %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}] along [1] box [2, 16, 32] bytes 16 axes [0, 1, 2]
  gpu.func @blocks(%x: !tile.view<?x16x32xf32, [512, 32, 1]>, %y: !tile.view<?x16x32xf32, [512, 32, 1]>, %f: !tile.view<16x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %r = tile.alloc : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>>
    %p = tile.prepare %f residuals : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %a = tile.acquire %r : !tile.ring<2 of <2x16x32xf32, #tile.layout<[512, 32, 1]>>> -> !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
    tile.copy %x[0] to %a bytes 16 fill axes [0, 1, 2] lines : !tile.view<?x16x32xf32, [512, 32, 1]>, !tile.buffer<2x16x32xf32, #tile.layout<[512, 32, 1]>>
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

  // CHECK-LABEL: gpu.func @pieces(
  // CHECK:         tile.copy_pieces %{{.*}} to %{{.*}} pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> :
  // CHECK:           tile.for_pieces %[[B:.*]], %[[S:.*]] of %{{.*}}[%{{.*}}] in %{{.*}} pieces <sizes = [2, 16, 32], block = [1, 16, 8], axes = [0, 1, 2], warps = 1, bytes = 16> : {{.*}} {
  // CHECK:             tile.load %[[S]][%[[B]]] along [1]
  // CHECK:           tile.for_blocks %{{.*}} of [2, 16, 32] by [1, 16, 32] shares {
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

  // CHECK-LABEL: gpu.func @split(
  // CHECK:         tile.prepare %{{.*}} residuals split streamed :
  // CHECK:         tile.prepare %{{.*}} warps 2 together 4 : <16x16xf64, [16, 1]> -> <16x16xf64, mma.m8n8k4.f64 columns>
  // CHECK:         tile.for_blocks %{{.*}} of [8, 16, 2] by [4, 16, 2] split {
  // CHECK:           tile.load %{{.*}}[%{{.*}}] along [1] fold 4 :
  gpu.func @split(%f: !tile.view<16x16xf32, [16, 1]>, %g: !tile.view<16x16xf64, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2, cluster = 2>} {
    %w = tile.alloc : !tile.buffer<8x8x2xf32>
    %p = tile.prepare %f residuals split streamed : !tile.view<16x16xf32, [16, 1]> -> !tile.operand<16x16xf32, mma.m16n8k8.tf32 rows>
    %q = tile.prepare %g warps 2 together 4 : !tile.view<16x16xf64, [16, 1]> -> !tile.operand<16x16xf64, mma.m8n8k4.f64 columns>
    tile.for_blocks %b of [8, 16, 2] by [4, 16, 2] split {
      %v = tile.load %w[%b] along [1] fold 4 : !tile.buffer<8x8x2xf32> -> !tile.fragment<1x4x16x2xf32, mma.m16n8k8.tf32>
    }
    tile.barrier cluster
    gpu.return
  }
}

// CHECK-LABEL: func.func private @split_pieces()
// CHECK-SAME:    #tile.pieces<sizes = [2, 16], block = [1, 8], axes = [0, 1], warps = 1, bytes = 16, split = 1>
func.func private @split_pieces() attributes {pieces = #tile.pieces<sizes = [2, 16], block = [1, 8], axes = [0, 1], warps = 1, bytes = 16, split = 1>}

// CHECK-LABEL: func.func private @split_lines()
// CHECK-SAME:    #tile.pieces<sizes = [2, 16], block = [1, 8], axes = [0, 1], warps = 1, bytes = 16, lines = true, split = 1>
func.func private @split_lines() attributes {pieces = #tile.pieces<sizes = [2, 16], block = [1, 8], axes = [0, 1], warps = 1, bytes = 16, lines = true, split = 1>}
