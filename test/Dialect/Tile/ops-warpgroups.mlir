// RUN: kron-opt %s | kron-opt | FileCheck %s

// Verify that what warpgroups multiply is written as it is read.
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @quads(
  // CHECK-SAME:      tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>
  // CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
  // CHECK-NEXT:    tile.copy_pieces %{{.*}} to %[[RING]] pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> :
  // CHECK-NEXT:    %[[P:.*]] = tile.prepare %{{.*}} residuals : {{.*}} -> <128x128xf32, wgmma.m64k8.tf32 quads>
  // CHECK-NEXT:    tile.barrier
  // CHECK-NEXT:    tile.for %[[T:.*]] to %{{.*}} : i32 {
  // CHECK-NEXT:      %[[SUMS:.*]] = tile.contract_pieces %{{.*}}[%[[T]]], %[[P]] in %[[RING]] along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : {{.*}} -> <1x64x128xf32, wgmma.m64k8.tf32>
  // CHECK-NEXT:      tile.store %[[SUMS]] to %{{.*}}[%[[T]]] along [1] box [64, 128] bytes 16 axes [0, 1]
  gpu.func @quads(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @pairs(
  // CHECK-SAME:      tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 4>
  // CHECK:         tile.copy_pieces %{{.*}} to %{{.*}} pieces <sizes = [256, 64], block = [32, 64], axes = [1, 2], warps = 4, bytes = 4, ahead = 2, order = [1, 0]> :
  // CHECK:         tile.prepare %{{.*}} : {{.*}} -> <256x64xf32, wgmma.m64k8.tf32 pairs>
  gpu.func @pairs(%x: !tile.view<?x256x64xf32, [16384, 64, 1]>, %y: !tile.view<?x256x64xf32, [16384, 64, 1]>, %f: !tile.view<256x256xf32, [256, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, shares = 4>} {
    %r = tile.alloc : !tile.ring<3 of <32x64xf32>>
    tile.copy_pieces %x to %r pieces <sizes = [256, 64], block = [32, 64], axes = [1, 2], warps = 4, bytes = 4, ahead = 2, order = [1, 0]> : !tile.view<?x256x64xf32, [16384, 64, 1]>, !tile.ring<3 of <32x64xf32>>
    %p = tile.prepare %f : !tile.view<256x256xf32, [256, 1]> -> !tile.operand<256x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 0 pieces <sizes = [256, 64], block = [32, 64], axes = [1, 2], warps = 4, bytes = 4, ahead = 2, order = [1, 0]> : !tile.view<?x256x64xf32, [16384, 64, 1]>, !tile.operand<256x64xf32, wgmma.m64k8.tf32 pairs>, !tile.ring<3 of <32x64xf32>> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [0] box [256, 64] bytes 4 axes [1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x256x64xf32, [16384, 64, 1]>
    }
    gpu.return
  }
}
