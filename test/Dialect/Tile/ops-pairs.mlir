// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify the operations on functions of pairs: a tile of a matrix with a hyper-parameter of its batch, and products.
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @matrix(
  // CHECK:         %[[U:.*]] = tile.place %{{.*}} of %{{.*}} by [1, 16, 32] : <?x?x?xf32, [?, ?, 1]>
  // CHECK:         %[[G:.*]] = tile.load_scalar %{{.*}}[%[[U]]] : <?xf32, [1]> -> f32
  // CHECK:         %[[P:.*]] = tile.pairs %{{.*}}, %{{.*}}[%[[U]]] through %{{.*}}, %{{.*}} lanes 8 from 0.000000e+00 zero_tail lhs_rows rhs_rows params(%[[G]] : f32) :
  // CHECK-SAME:      -> <1x2x4xf32> {
  // CHECK:         %[[M:.*]] = tile.map %[[P]] params(%[[G]] : f32) : <1x2x4xf32> {
  // CHECK:         tile.store_pairs %[[M]] to %{{.*}}[%[[U]]] lanes 8 : <1x2x4xf32>, <?x?x?xf32, [?, ?, 1]>
  gpu.func @matrix(%a: !tile.view<?x?xf32, [1, ?]>, %b: !tile.view<?x?x?xf32, [?, 1, ?]>, %g: !tile.view<?xf32, [1]>, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 32] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %h = tile.load_scalar %g[%u] : !tile.view<?xf32, [1]> -> f32
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail lhs_rows rhs_rows params(%h : f32)
          : !tile.view<?x?xf32, [1, ?]>, !tile.view<?x?x?xf32, [?, 1, ?]>, !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>, !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>> -> !tile.fragment<1x2x4xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32, %i: f32):
        %d = arith.subf %e, %f : f32
        %z = math.fma %d, %d, %s : f32
        tile.yield %z : f32
      }
      %q = tile.map %p params(%h : f32) : !tile.fragment<1x2x4xf32> {
      ^bb0(%s: f32, %i: f32):
        %z = arith.mulf %s, %i : f32
        tile.yield %z : f32
      }
      tile.store_pairs %q to %y[%u] lanes 8 : !tile.fragment<1x2x4xf32>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @half(
  // CHECK:         %[[U:.*]] = tile.place %{{.*}} of %{{.*}} by [16, 32] triangle : <?x?xf32, [?, 1]>
  // CHECK:         tile.store_pairs %{{.*}} to %{{.*}}[%[[U]]] through %{{.*}} lanes 8 : <1x2x4xf32>, <?x?xf32, [?, 1]>, !tile.ring<2 of <16x16xf32,
  gpu.func @half(%a: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] triangle : !tile.view<?x?xf32, [?, 1]>
      %p = tile.pairs %a, %a[%u] through %l, %r lanes 8 from 0.0 zero_tail
          : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>, !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>> -> !tile.fragment<1x2x4xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = math.fma %d, %d, %s : f32
        tile.yield %z : f32
      }
      tile.store_pairs %p to %y[%u] through %l lanes 8 : !tile.fragment<1x2x4xf32>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @products(
  // CHECK:         %[[S:.*]] = tile.for_pairs %[[B:.*]] of %{{.*}} by 32 [%[[U:.*]]] times %{{.*}} accumulate sum lanes 8 : !tile.view<?x3xf16, [3, 1]> -> !tile.fragment<1x2x3xf32> {
  // CHECK:           %[[P:.*]] = tile.pairs %{{.*}}, %{{.*}}[%[[U]], %[[B]]] through %{{.*}}, %{{.*}} lanes 8 from 0xFFF0000000000000 : <?x8xf16, [8, 1]>,
  // CHECK:           tile.yield %[[P]] : !tile.fragment<1x2x4xf32>
  // CHECK:         tile.store_pairs %[[S]] to %{{.*}}[%[[U]]] lanes 8 sums : <1x2x3xf32>, <?x?x3xf32, [?, 3, 1]>
  // CHECK:         tile.for_pairs {{.*}} accumulate logsumexp lanes 8 : !tile.view<?x3xf16, [3, 1]> -> (!tile.fragment<1x2x3xf32>, !tile.fragment<1x2x3xf32>) {
  gpu.func @products(%a: !tile.view<?x8xf16, [8, 1]>, %v: !tile.view<?x3xf16, [3, 1]>, %y: !tile.view<?x?x3xf32, [?, 3, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf16, #tile.layout<[24, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf16, #tile.layout<[24, 1]>>>
    %l2 = tile.alloc : !tile.ring<2 of <16x16xf16, #tile.layout<[24, 1]>>>
    %r2 = tile.alloc : !tile.ring<2 of <32x16xf16, #tile.layout<[24, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 3] : !tile.view<?x?x3xf32, [?, 3, 1]>
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v accumulate sum lanes 8 : !tile.view<?x3xf16, [3, 1]> -> !tile.fragment<1x2x3xf32> {
        %p = tile.pairs %a, %a[%u, %m] through %l, %r lanes 8 from 0xFFF0000000000000
            : !tile.view<?x8xf16, [8, 1]>, !tile.view<?x8xf16, [8, 1]>, !tile.ring<2 of <16x16xf16, #tile.layout<[24, 1]>>>, !tile.ring<2 of <32x16xf16, #tile.layout<[24, 1]>>> -> !tile.fragment<1x2x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %d = arith.mulf %e, %f : f32
          %z = arith.maximumf %o, %d : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x4xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 8 sums : !tile.fragment<1x2x3xf32>, !tile.view<?x?x3xf32, [?, 3, 1]>
      %both:2 = tile.for_pairs %m of %blocks by 32 [%u] times %v accumulate logsumexp lanes 8 : !tile.view<?x3xf16, [3, 1]> -> (!tile.fragment<1x2x3xf32>, !tile.fragment<1x2x3xf32>) {
        %p = tile.pairs %a, %a[%u, %m] through %l2, %r2 lanes 8 from 0.0
            : !tile.view<?x8xf16, [8, 1]>, !tile.view<?x8xf16, [8, 1]>, !tile.ring<2 of <16x16xf16, #tile.layout<[24, 1]>>>, !tile.ring<2 of <32x16xf16, #tile.layout<[24, 1]>>> -> !tile.fragment<1x2x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x2x4xf32>
      }
    }
    gpu.return
  }
}

// Verify products of f32 in two parts, of rows with themselves, and the function of tiles where these are not exact.
gpu.module @kron_gpu_products {
  // CHECK-LABEL: gpu.func @products_of_rows(
  // CHECK:         %[[P:.*]], %[[H:.*]] = tile.multiply_rows(%{{.*}}, %{{.*}} : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%{{.*}}) [%[[U:.*]]] through %{{.*}}, %{{.*}} lanes 8 norms(%{{.*}}) scales(%{{.*}}) roundings 1.600000e+01 same_rows : <2 of <32x32xf16>>, <2 of <64x32xf16>> -> <1x2x4xf32, mma.m16n8k16>
  // CHECK:         tile.pairs %{{.*}} zero_tail products(%[[P]] held %[[H]] : !tile.fragment<1x2x4xf32, mma.m16n8k16>) :
  // CHECK-SAME:      -> <1x2x4xf32, mma.m16n8k16> {
  gpu.func @products_of_rows(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    %o = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    %q = tile.alloc : !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>)
          [%u] through %l, %r lanes 8 norms(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0 same_rows
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
      %d = tile.pairs %x, %x[%u] through %o, %q lanes 8 from 0.0 zero_tail products(%p held %h : !tile.fragment<1x2x4xf32, mma.m16n8k16>)
          : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16> {
      ^bb0(%f: f32, %g: f32, %s: f32):
        %m = arith.subf %f, %g : f32
        %z = math.fma %m, %m, %s : f32
        tile.yield %z : f32
      }
      tile.store_pairs %d to %y[%u] lanes 8 : !tile.fragment<1x2x4xf32, mma.m16n8k16>, !tile.view<?x?xf32, [?, 1]>
    }
    gpu.return
  }
}

// Verify rows that stay in registers through all blocks of columns.
gpu.module @kron_gpu_rows {
  // CHECK-LABEL: gpu.func @kept_rows(
  // CHECK:         %[[R:.*]] = tile.keep_rows %{{.*}}[%[[U:.*]]] lanes 2 : <?x3xf16, [3, 1]> -> <1x1x3xf32>
  // CHECK:         tile.for_pairs %[[M:.*]] of %{{.*}} by 8 [%[[U]]]
  // CHECK-NEXT:      tile.pairs_of_rows %[[R]], %{{.*}}[%[[U]], %[[M]]] through %{{.*}} lanes 2 from 0.000000e+00 polynomials 5 rhs_rows params(%{{.*}} : f32) : <1x1x3xf32>, <?x3xf16, [3, 1]>, <3 of <8x8xf16, #tile.layout<[24, 1]>>> -> <1x1x4xf32> {
  gpu.func @kept_rows(%a: !tile.view<?x3xf16, [3, 1]>, %v: !tile.view<?x1xf16, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %h: f32, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<3 of <8x8xf16, #tile.layout<[24, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf16, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf16, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %a[%u, %m] through %l lanes 2 from 0.0 polynomials 5 rhs_rows params(%h : f32)
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf16, [3, 1]>, !tile.ring<3 of <8x8xf16, #tile.layout<[24, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32, %g: f32):
          %z = math.fma %e, %f, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 2 sums : !tile.fragment<1x1x1xf32>, !tile.view<?x?x1xf32, [?, 1, 1]>
    }
    gpu.return
  }
}

// Verify rows that warpgroups multiply, and values that come through a ring.
!part = !tile.view<?x?x32xf16, [?, 32, 1]>
!rows = !tile.view<?x?xf32, [?, 1]>
!norms = !tile.view<?xf32, [1]>
!left = !tile.ring<2 of <128x32xf16>>
!right = !tile.ring<2 of <64x32xf16>>
!own = !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
!other = !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
!values = !tile.ring<2 of <4x128xf32>>
!matrix = !tile.fragment<1x2x8xf32, wgmma.m64k16>
!sums = !tile.fragment<1x2x2xf32, wgmma.m64k16>
gpu.module @kron_gpu_values {
  // CHECK-LABEL: gpu.func @packed_values(
  // CHECK:         %[[S:.*]] = tile.for_pairs %[[M:.*]] of %{{.*}} by 32 [%[[U:.*]]] times %{{.*}} through %{{.*}} accumulate sum lanes 4 : !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <4x128xf32>> -> !tile.fragment<1x2x2xf32, wgmma.m64k16> {
  // CHECK:           tile.multiply_rows({{.*}}) by({{.*}}) [%[[U]], %[[M]]] through {{.*}} along %{{.*}} roundings 1.600000e+01 : {{.*}} -> <1x2x8xf32, wgmma.m64k16>
  // CHECK:         tile.store_pairs %[[S]] to %{{.*}}[%[[U]]] lanes 4 : <1x2x2xf32, wgmma.m64k16>, <?x?x?xf32, [?, ?, 1]>
  gpu.func @packed_values(%a: !part, %e: !norms, %x: !rows, %v: !rows, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !left
    %r = tile.alloc : !right
    %o = tile.alloc : !own
    %q = tile.alloc : !other
    %w = tile.alloc : !values
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %v through %w accumulate sum lanes 4 : !rows, !values -> !sums {
        %p, %h = tile.multiply_rows(%a, %a : !part, !part) by(%a, %a : !part, !part) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !norms, !norms) scales(%e, %e : !norms, !norms) along %n roundings 16.0 : !left, !right -> !matrix
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !matrix) : !rows, !rows, !own, !other -> !matrix {
        ^bb0(%f: f32, %g: f32, %i: f32):
          %j = arith.subf %f, %g : f32
          %z = math.fma %j, %j, %i : f32
          tile.yield %z : f32
        }
        tile.yield %d : !matrix
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !sums, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}
