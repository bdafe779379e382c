// RUN: kron-opt %s --split-input-file | kron-opt --split-input-file | FileCheck %s

// Verify that what is done to fibres is written as it is read.
// CHECK-LABEL: gpu.func @refilled(
// CHECK:         tile.copy %{{.*}}[0] to %{{.*}} bytes 16 fill axes [0, 1, 2] rounded
// CHECK:         tile.for %[[T:.*]] to %{{.*}} : i32 {
// CHECK-NEXT:      tile.prefetch %[[X:.*]][%[[T]]] box [1, 64, 64] axes [0, 1, 2] : <?x64x64xf32, [4096, 64, 1]>
// CHECK-NEXT:      %[[SLOT:.*]] = tile.wait
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for_fibres %[[B:.*]] of [1, 64, 64] along 1 {
// CHECK-NEXT:        %[[S:.*]] = tile.contract_fibres %[[SLOT]][%[[B]]], %{{.*}} : {{.*}} -> <1x64x64xf32, wgmma.m64k8.tf32>
// CHECK-NEXT:        tile.if_aligned %[[Y:.*]], %[[X]] bytes 16 axis 2 {
// CHECK-NEXT:          tile.refill %[[SLOT]][%[[B]]] with %[[X]][%[[T]]] axes [0, 1, 2]
// CHECK-NEXT:          tile.store %[[S]][%[[B]]] to %[[Y]][%[[T]]] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2]
// CHECK-NEXT:        } else {
// CHECK-NEXT:          tile.exchange %[[S]] to %[[SLOT]][%[[B]]] along [1]
// CHECK-NEXT:        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.if_aligned %[[Y]], %[[X]] bytes 16 axis 2 {
// CHECK-NEXT:        tile.refilled %[[SLOT]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.store %[[SLOT]] to %[[Y]][%[[T]]] bytes 4 axes [0, 1, 2]
gpu.module @kron_gpu {
  gpu.func @refilled(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @quantized(
// CHECK:         tile.prepare %{{.*}} : {{.*}} -> <64x64xf16, wgmma.m64k16 quads>
// CHECK:         tile.contract_fibres %{{.*}}[%{{.*}}], %{{.*}} : {{.*}} -> <1x64x64xf32, wgmma.m64k16>
// CHECK:         tile.quantize %{{.*}} to %{{.*}}[%{{.*}}] scales %{{.*}} alpha %{{.*}} : <1x64x64xf32>, <?x4096xi8, [4096, 1]>, <?xf32, [1]>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantized(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %a: f32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.quantize %w to %q[%t] scales %c alpha %a : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}
