// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify the operations on gradients of functions of pairs: with values of pairs and hyper-parameters, and with outputs.
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @gradients(
  // CHECK:         %[[S:.*]] = tile.for_gradients %{{.*}} by 32 of %[[B:.*]][%[[U:.*]]] : <?x?xf32, [?, 1]> -> <1x1x2xf32> {
  // CHECK-NEXT:    ^bb0(%[[M:.*]]: index, %[[O:.*]]: !tile.fragment<1x1x2xf32>):
  // CHECK:           %[[P:.*]] = tile.pairs %{{.*}}, %[[B]][%[[U]], %[[M]]] through
  // CHECK:           %[[W:.*]] = tile.weigh_pairs %[[P]] : !tile.fragment<1x2x4xf32>[%[[U]], %[[M]]] grad(%{{.*}} : !tile.view<?x?xf32, [?, 1]>) factors(%{{.*}}, %{{.*}} : !tile.view<?x3xf32, [3, 1]>, !tile.view<?x3xf32, [3, 1]>) lanes 8 -> <1x2x4xf32>
  // CHECK:           %[[N:.*]] = tile.add_derivatives %[[W]] to %[[O]] of %{{.*}}, %[[B]][%[[U]], %[[M]]] through %{{.*}}, %{{.*}} lanes 4 weight_lanes 8 params(%{{.*}} : f32) :
  // CHECK:           tile.yield %[[N]]
  // CHECK:         tile.store_pairs %[[S]] to %{{.*}}[%[[U]]] lanes 4 : <1x1x2xf32>,
  gpu.func @gradients(%a: !tile.view<?x?xf32, [?, 1]>, %b: !tile.view<?x?xf32, [?, 1]>, %h: !tile.view<?x?xf32, [?, 1]>, %x: !tile.view<?x3xf32, [3, 1]>, %z: !tile.view<?x3xf32, [3, 1]>, %g: f32, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
    %c = tile.alloc : !tile.ring<1 of <32x8xf32>>
    %w = tile.alloc : !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !tile.view<?x?xf32, [?, 1]> -> !tile.fragment<1x1x2xf32> {
      ^bb0(%m: index, %o: !tile.fragment<1x1x2xf32>):
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail
            : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>, !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>> -> !tile.fragment<1x2x4xf32> {
        ^bb0(%e: f32, %f: f32, %v: f32):
          %d = arith.subf %e, %f : f32
          %k = math.fma %d, %d, %v : f32
          tile.yield %k : f32
        }
        %q = tile.weigh_pairs %p : !tile.fragment<1x2x4xf32> [%u, %m] grad(%h : !tile.view<?x?xf32, [?, 1]>) factors(%x, %z : !tile.view<?x3xf32, [3, 1]>, !tile.view<?x3xf32, [3, 1]>) lanes 8 -> !tile.fragment<1x2x4xf32>
        %i = tile.add_derivatives %q to %o of %a, %b[%u, %m] through %c, %w lanes 4 weight_lanes 8 params(%g : f32)
            : !tile.fragment<1x2x4xf32>, !tile.fragment<1x1x2xf32>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<1 of <32x8xf32>>, !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>> {
        ^bb0(%e: f32, %f: f32, %j: f32):
          %d = arith.subf %e, %f : f32
          %k = arith.mulf %d, %j : f32
          tile.yield %k : f32
        }
        tile.yield %i : !tile.fragment<1x1x2xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !tile.fragment<1x1x2xf32>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @outputs(
  // CHECK:         tile.weigh_pairs[%{{.*}}, %{{.*}}] factors(%{{.*}} : !tile.view<?x1xf16, [1, 1]>) lanes 8 -> <1x2x4xf32>
  // CHECK:         tile.add_derivatives {{.*}} outputs(%{{.*}} through %{{.*}} : !tile.view<?x?x1xf16, [?, 1, 1]>, !tile.ring<1 of <32x4xf32>>) lanes 4 weight_lanes 8 rhs_rows :
  // CHECK:         tile.store_pairs {{.*}} : <4x1x2xf32>,
  gpu.func @outputs(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [1, ?]>, %x: !tile.view<?x1xf16, [1, 1]>, %z: !tile.view<?x?x1xf16, [?, 1, 1]>, %y: !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !tile.ring<1 of <32x8xf16>>
    %w = tile.alloc : !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
    %v = tile.alloc : !tile.ring<1 of <32x4xf32>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 4, 16, 8] : !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !tile.view<?x?xf16, [1, ?]> -> !tile.fragment<4x1x2xf32> {
      ^bb0(%m: index, %o: !tile.fragment<4x1x2xf32>):
        %q = tile.weigh_pairs [%u, %m] factors(%x : !tile.view<?x1xf16, [1, 1]>) lanes 8 -> !tile.fragment<1x2x4xf32>
        %i = tile.add_derivatives %q to %o of %a, %b[%u, %m] through %c, %w outputs(%z through %v : !tile.view<?x?x1xf16, [?, 1, 1]>, !tile.ring<1 of <32x4xf32>>) lanes 4 weight_lanes 8 rhs_rows
            : !tile.fragment<1x2x4xf32>, !tile.fragment<4x1x2xf32>, !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [1, ?]>, !tile.ring<1 of <32x8xf16>>, !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>> {
        ^bb0(%e: f32, %f: f32):
          %d = arith.subf %e, %f : f32
          %k = math.absf %d : f32
          %p = arith.constant -0.5 : f32
          %j = math.powf %k, %p : f32
          tile.yield %j : f32
        }
        tile.yield %i : !tile.fragment<4x1x2xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !tile.fragment<4x1x2xf32>, !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>
    }
    gpu.return
  }
}
