// RUN: kron-opt %s | kron-opt | FileCheck %s
// RUN: kron-opt %s --mlir-print-op-generic | kron-opt | FileCheck %s

// Verify every operation and type, on a kernel that has all of them.
gpu.module @kron_gpu {
  // CHECK-LABEL: gpu.func @all(
  // CHECK-SAME:    %{{.*}}: !tile.view<?x8x8x8xf32>, %{{.*}}: !tile.view<8x4xf32, [?, 1]>
  // CHECK-SAME:    kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>}
  // CHECK:         %[[RING:.*]] = tile.alloc : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>>
  // CHECK:         %[[WORK:.*]] = tile.alloc : !tile.buffer<4x8x4x8xf32>
  // CHECK:         %[[LATER:.*]] = tile.alloc reuses %[[WORK]] : !tile.buffer<4x8x4x8xf32> as : !tile.buffer<4x4x4x8xf32>
  // CHECK:         %[[FREE:.*]] = tile.acquire %[[RING]] : <{{.*}}> -> <{{.*}}>
  // CHECK:         tile.copy %{{.*}}[0] to %[[FREE]] rows 4 bytes 16 : <?x8x8x8xf32>, <{{.*}}>
  // CHECK:         %[[FACTOR:.*]] = tile.prepare %{{.*}} : <8x4xf32, [?, 1]> -> <8x4xf32>
  // CHECK:         tile.for %[[TILE:.*]] to %{{.*}} {
  // CHECK:           tile.copy %{{.*}}[%[[TILE]] + 1] to
  // CHECK:           %[[SLOT:.*]] = tile.wait %[[RING]] pending 1
  // CHECK:           tile.barrier
  // CHECK:           tile.for_boxes %[[BOXES:.*]] of 256 {
  // CHECK:             %[[VALUES:.*]] = tile.load %[[SLOT]][%[[BOXES]]] along [2] : {{.*}} -> <1x8x1xf32>
  // CHECK:             %[[SUMS:.*]] = tile.contract %[[VALUES]], %[[FACTOR]] along 1 atom <fma> block [4, 4]
  // CHECK:             tile.exchange %[[SUMS]] to %[[WORK]][%[[BOXES]]] along [2]
  // CHECK:           }
  // CHECK:           tile.for_boxes %{{.*}} of 64 together 2 unrolled 5 excess {
  // CHECK:           tile.release %[[SLOT]]
  // CHECK:           tile.store %[[LATER]] to %{{.*}}[%[[TILE]]] alpha %{{.*}} : f32 beta %{{.*}} : f32 addend %{{.*}} : !tile.view<?x4x4x8xf32> rows 4 bytes 16
  gpu.func @all(%x: !tile.view<?x8x8x8xf32>, %f: !tile.view<8x4xf32, [?, 1]>, %y: !tile.view<?x4x4x8xf32>,
                %a: f32, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %ring = tile.alloc : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>>
    %work = tile.alloc : !tile.buffer<4x8x4x8xf32>
    %other = tile.alloc : !tile.buffer<4x4x4x8xf32>
    %later = tile.alloc reuses %work : !tile.buffer<4x8x4x8xf32> as : !tile.buffer<4x4x4x8xf32>
    %free = tile.acquire %ring : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>> -> !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>
    tile.copy %x[0] to %free rows 4 bytes 16 : !tile.view<?x8x8x8xf32>, !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>
    %p = tile.prepare %f : !tile.view<8x4xf32, [?, 1]> -> !tile.operand<8x4xf32>
    tile.for %t to %tiles {
      %next = tile.acquire %ring : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>> -> !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>
      tile.copy %x[%t + 1] to %next rows 4 bytes 16 : !tile.view<?x8x8x8xf32>, !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>
      %slot = tile.wait %ring pending 1 : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>> -> !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>
      tile.barrier
      tile.for_boxes %u of 256 {
        %v = tile.load %slot[%u] along [2] : !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>> -> !tile.fragment<1x8x1xf32>
        %s = tile.contract %v, %p along 1 atom <fma> block [4, 4] : !tile.fragment<1x8x1xf32>, !tile.operand<8x4xf32> -> !tile.fragment<1x4x1xf32>
        tile.exchange %s to %work[%u] along [2] : !tile.fragment<1x4x1xf32>, !tile.buffer<4x8x4x8xf32>
      }
      tile.barrier
      tile.for_boxes %u of 64 together 2 unrolled 5 excess {
        %v = tile.load %work[%u] along [1] : !tile.buffer<4x8x4x8xf32> -> !tile.fragment<2x8x2xf32>
        %s = tile.contract %v, %p along 1 atom <fma> block [4, 4] : !tile.fragment<2x8x2xf32>, !tile.operand<8x4xf32> -> !tile.fragment<2x4x2xf32>
        tile.exchange %s to %other[%u] along [1] : !tile.fragment<2x4x2xf32>, !tile.buffer<4x4x4x8xf32>
      }
      tile.release %slot : !tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>
      tile.barrier
      tile.store %later to %y[%t] alpha %a : f32 beta %a : f32 addend %y : !tile.view<?x4x4x8xf32> rows 4 bytes 16 : !tile.buffer<4x4x4x8xf32>, !tile.view<?x4x4x8xf32>
      tile.barrier
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @swizzled
  // CHECK:         tile.alloc : !tile.buffer<64x8x8xf64, #tile.layout<[64, 8, 1], swizzle = [6, 3]>>
  gpu.func @swizzled() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %b = tile.alloc : !tile.buffer<64x8x8xf64, #tile.layout<[64, 8, 1], swizzle = [6, 3]>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @clusters
  // CHECK-SAME:    tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>
  // CHECK:         tile.copy %{{.*}}[0] to %{{.*}} groups 4 together 2 bytes 16 split :
  // CHECK:         %[[P:.*]] = tile.prepare %{{.*}} -> <8x8xf64, dmma.m16n8k8 halves>
  // CHECK:         tile.prepare %{{.*}} -> <8x8xf64, dmma.m16n8k8 pairs>
  // CHECK:         tile.prepare %{{.*}} -> <8x8xf64, dmma.m16n8k8 apart>
  // CHECK:         tile.for %{{.*}} to %{{.*}} : i32 {
  // CHECK:           tile.barrier groups 2 numbered
  // CHECK:           tile.barrier cluster{{$}}
  // CHECK:           tile.for_boxes %{{.*}} of 8 warps 8 {
  // CHECK:             %[[V:.*]] = tile.load %{{.*}} along [1] halves : {{.*}} -> <1x8x16xf64, dmma.m16n8k8>
  // CHECK:             tile.barrier cluster arrive
  // CHECK:             tile.contract %[[V]], %[[P]] along 1 atom <dmma.m16n8k8> block [16, 8] whole
  // CHECK:           tile.barrier cluster wait
  gpu.func @clusters(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %tiles: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %ring = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %free = tile.acquire %ring : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %free groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    %p = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 halves>
    %q = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 pairs>
    %r = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 apart>
    tile.for %t to %tiles : i32 {
      %s = tile.wait %ring pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      tile.barrier groups 2 numbered
      tile.barrier cluster
      tile.for_boxes %u of 8 warps 8 {
        %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
        tile.barrier cluster arrive
        %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [16, 8] whole : !tile.fragment<1x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 halves> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
      }
      tile.release %s : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      tile.barrier cluster wait
      %next = tile.acquire %ring : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      tile.copy %x[%t + 1] to %next groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    }
    gpu.return
  }

  gpu.func @named(%x: !tile.view<?x?x4xf64, [?, 40, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    gpu.return
  }
}

// Verify that sizes and strides that a type does not know are operands.
// CHECK-LABEL: func @host
// CHECK:         %[[VIEW:.*]] = tile.view %{{.*}} sizes(%{{.*}}, %{{.*}}) strides(%{{.*}}) : !llvm.ptr -> <?x?x4xf64, [?, 40, 1]>
// CHECK:         tile.launch @kron_gpu::@named tiles(%{{.*}}) args(%[[VIEW]], %{{.*}} : !tile.view<?x?x4xf64, [?, 40, 1]>, i64)
func.func @host(%p: !llvm.ptr, %n: i64, %m: i64, %s: i64) {
  %v = tile.view %p sizes(%n, %m) strides(%s) : !llvm.ptr -> !tile.view<?x?x4xf64, [?, 40, 1]>
  tile.launch @kron_gpu::@named tiles(%n) args(%v, %n : !tile.view<?x?x4xf64, [?, 40, 1]>, i64)
  return
}

// Verify those of columns that threads keep.
gpu.module @kron_columns {
  // CHECK-LABEL: gpu.func @columns(
  // CHECK:         tile.for_columns %[[C:.*]] of 10 by 5 beside 2 atom <fma> {
  // CHECK:           %[[W:.*]] = tile.load_columns %{{.*}}[%[[C]]] bytes 16 : <8x10x4xf32, [1, 32, 8]> -> <1x8x4xf32>
  // CHECK:           %[[A:.*]] = tile.load_columns %{{.*}}[%[[C]], 0] bytes 16 : <?x8x10x4xf32, [?, 1, 8, 0]> -> <2x8x4xf32>
  // CHECK:           tile.for %[[T:.*]] to %{{.*}} carry(%[[V:.*]] = %[[A]] : !tile.fragment<2x8x4xf32>) {
  // CHECK:             %[[B:.*]] = tile.load_columns %{{.*}}[%[[C]], %[[T]] + 1] bytes 16
  // CHECK:             %[[S:.*]] = tile.dot %[[V]], %[[W]] atom <fma> : <2x8x4xf32>, <1x8x4xf32> -> <2x1x4xf32>
  // CHECK:             tile.store %[[S]][%[[C]]] to %{{.*}}[%[[T]]] along [1] rows 4 bytes 16
  // CHECK:             tile.yield %[[B]] : !tile.fragment<2x8x4xf32>
  // CHECK:         tile.for_columns %{{.*}} of 2 by 2 atom <mma.m16n8k16> {
  gpu.func @columns(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %f: !tile.view<8x10x4xf32, [1, 32, 8]>, %y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 8>} {
    tile.for_columns %c of 10 by 5 beside 2 atom <fma> {
      %w = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf32>
      %a = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      tile.for %t to %n carry(%v = %a : !tile.fragment<2x8x4xf32>) {
        %b = tile.load_columns %x[%c, %t + 1] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
        %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf32>, !tile.fragment<1x8x4xf32> -> !tile.fragment<2x1x4xf32>
        tile.store %s[%c] to %y[%t] along [1] rows 4 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>
        tile.yield %b : !tile.fragment<2x8x4xf32>
      }
    }
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
    }
    gpu.return
  }
}

// Verify those on parts of fibres, of a factor in shared memory and of one that varies.
gpu.module @kron_parts {
  // CHECK-LABEL: gpu.func @parts(
  // CHECK:         %[[P:.*]] = tile.prepare %{{.*}} : <5x7xcomplex<f32>, [7, 1]> -> <5x8xcomplex<f32>>
  gpu.func @parts(%x: !tile.view<?x5x6xcomplex<f32>, [30, 6, 1]>, %y: !tile.view<?x7x6xcomplex<f32>, [42, 6, 1]>, %f: !tile.view<5x7xcomplex<f32>, [7, 1]>,
                  %v: !tile.view<?x7x6x7xcomplex<f32>, [0, 1, 49, 7]>, %c: complex<f32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x6xcomplex<f32>>
    %b = tile.alloc : !tile.buffer<4x7x6xcomplex<f32>>
    %p = tile.prepare %f : !tile.view<5x7xcomplex<f32>, [7, 1]> -> !tile.operand<5x8xcomplex<f32>>
    tile.barrier
    // CHECK:         tile.for %[[T:.*]] to
    tile.for %t to %n {
      // CHECK-NEXT:      tile.copy %{{.*}}[%[[T]] + 0] to %[[A:.*]] order [1, 0, 2] bytes 8
      tile.copy %x[%t + 0] to %a order [1, 0, 2] bytes 8 : !tile.view<?x5x6xcomplex<f32>, [30, 6, 1]>, !tile.buffer<4x5x6xcomplex<f32>>
      tile.barrier
      // CHECK:           tile.for_boxes %[[U:.*]] of 24 together 2 parts 2 {
      tile.for_boxes %u of 24 together 2 parts 2 {
        // CHECK-NEXT:        %[[S:.*]] = tile.multiply %[[A]][%[[U]]], %[[P]] along 1 unrolled 4 conj_source conj_factor : <4x5x6xcomplex<f32>>, !tile.operand<5x8xcomplex<f32>> -> <2x4xcomplex<f32>>
        %s = tile.multiply %a[%u], %p along 1 unrolled 4 conj_source conj_factor : !tile.buffer<4x5x6xcomplex<f32>>, !tile.operand<5x8xcomplex<f32>> -> !tile.fragment<2x4xcomplex<f32>>
        // CHECK-NEXT:        tile.exchange %[[S]] to %[[B:.*]][%[[U]]] along [1]
        tile.exchange %s to %b[%u] along [1] : !tile.fragment<2x4xcomplex<f32>>, !tile.buffer<4x7x6xcomplex<f32>>
      }
      tile.barrier
      tile.for_boxes %u of 24 parts 2 {
        // CHECK:             %[[R:.*]] = tile.multiply %[[B]][%[[V:.*]]], %{{.*}} tile %[[T]] along 1 : <4x7x6xcomplex<f32>>, !tile.view<?x7x6x7xcomplex<f32>, [0, 1, 49, 7]> -> <1x4xcomplex<f32>>
        %s = tile.multiply %b[%u], %v tile %t along 1 : !tile.buffer<4x7x6xcomplex<f32>>, !tile.view<?x7x6x7xcomplex<f32>, [0, 1, 49, 7]> -> !tile.fragment<1x4xcomplex<f32>>
        // CHECK-NEXT:        tile.store %[[R]][%[[V]]] to %{{.*}}[%[[T]]] along [1] beta %{{.*}} : complex<f32> addend %{{.*}} bias %{{.*}} residual %{{.*}} box [4, 7, 6] bytes 8
        tile.store %s[%u] to %y[%t] along [1] beta %c : complex<f32> addend %y : !tile.view<?x7x6xcomplex<f32>, [42, 6, 1]>
          bias %y : !tile.view<?x7x6xcomplex<f32>, [42, 6, 1]> residual %y : !tile.view<?x7x6xcomplex<f32>, [42, 6, 1]>
          box [4, 7, 6] bytes 8 : !tile.fragment<1x4xcomplex<f32>>, !tile.view<?x7x6xcomplex<f32>, [42, 6, 1]>
      }
      tile.barrier
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @direct(
  gpu.func @direct(%x: !tile.view<?x7x6x5xf16, [30, 0, 1, 6]>, %v: !tile.view<?x7x6x5xf16, [0, 30, 1, 6]>, %y: !tile.view<?x7x6xf16, [42, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    // CHECK:         tile.for %[[T:.*]] to
    tile.for %t to %n {
      // CHECK-NEXT:      tile.for_boxes %[[U:.*]] of 24 together 2 order [1, 0, 2] parts 2 across 0 lanes 4 {
      tile.for_boxes %u of 24 together 2 order [1, 0, 2] parts 2 across 0 lanes 4 {
        // CHECK-NEXT:        %[[S:.*]] = tile.multiply_views %{{.*}}[%[[U]]], %{{.*}} tile %[[T]] along 1 box [4, 4, 6] unrolled 2 : <?x7x6x5xf16, [30, 0, 1, 6]>, <?x7x6x5xf16, [0, 30, 1, 6]> -> <2x2xf32>
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 4, 6] unrolled 2 : !tile.view<?x7x6x5xf16, [30, 0, 1, 6]>, !tile.view<?x7x6x5xf16, [0, 30, 1, 6]> -> !tile.fragment<2x2xf32>
        // CHECK-NEXT:        tile.store %[[S]][%[[U]]] to %{{.*}}[%[[T]]] along [1] box [4, 4, 6] bytes 2
        tile.store %s[%u] to %y[%t] along [1] box [4, 4, 6] bytes 2 : !tile.fragment<2x2xf32>, !tile.view<?x7x6xf16, [42, 6, 1]>
      }
    }
    gpu.return
  }
}
