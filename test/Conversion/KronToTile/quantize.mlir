// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80

// Verify that 128 threads share a row of 4096 f16 values, two rows a CTA, by 16 bytes each.
// CHECK-LABEL: func.func @rows
// CHECK:         tile.launch @kron_gpu::@quantize_0
// CHECK:       gpu.func @quantize_0(%[[X:.*]]: !tile.view<?x4096xf16, [4096, 1]>, %[[Q:.*]]: !tile.view<?x4096xi8, [4096, 1]>, %[[S:.*]]: !tile.view<?xf32, [1]>, %[[N:.*]]: i64) kernel
// CHECK-SAME:    #tile.kernel<threads = 256, ctas_per_sm = 4>
// CHECK-NEXT:    tile.for %[[T:.*]] to %[[N]]
// CHECK-NEXT:      %[[V:.*]] = tile.load_rows %[[X]][%[[T]]] threads 128 kept 8 bytes 16 : !tile.view<?x4096xf16, [4096, 1]> -> <4x8xf16>
// CHECK-NEXT:      %[[M:.*]] = tile.reduce_rows %[[V]] : <4x8xf16> -> <1x1xf32>
// CHECK-NEXT:      tile.quantize_rows %[[V]] by %[[M]] to %[[Q]][%[[T]]], %[[S]] :
// CHECK-NEXT:    }
func.func @rows(%v: memref<?x4096xf16>, %q: memref<?x4096xi8>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x4096xf16>) outs(%q, %s : memref<?x4096xi8>, memref<?xf32>)
  return
}

// -----

// Verify that rows of several axes are one, of which some are counted along each other one; that known strides
// that 16 bytes do not divide are copied by elements; and that chips round to 8-bit floats where they can.
// CHECK-LABEL: func.func @strided
// CHECK:         tile.load_rows %{{.*}}[%{{.*}}] threads 4 kept 8 bytes 4 : !tile.view<5x?x16xf32, [?, 17, 1]> -> <1x4xf32>
// SM90:          tile.quantize_rows {{.*}} native : {{.*}} <5x?x16xf8E4M3FN, [?, 16, 1]>, <5x?xf32, [?, 1]>
// SM80-NOT:      native
func.func @strided(%v: memref<5x?x4x4xf32, strided<[?, 17, 4, 1]>>, %q: memref<5x?x4x4xf8E4M3FN>, %s: memref<5x?xf32>) {
  kron.quantize ins(%v : memref<5x?x4x4xf32, strided<[?, 17, 4, 1]>>) outs(%q, %s : memref<5x?x4x4xf8E4M3FN>, memref<5x?xf32>)
  return
}

// -----

// Verify that one row without a batch is a view of one; and a plan by hand, in part.
// CHECK-LABEL: func.func @one
// CHECK:         #tile.kernel<threads = 64, ctas_per_sm = 16>
// CHECK:         tile.load_rows %{{.*}}[%{{.*}}] threads 2 kept 3 bytes 2 : !tile.view<1x63xbf16, [0, 1]> -> <4x8xbf16>
// CHECK:         tile.quantize_rows {{.*}} <1x63xi8, [0, 1]>, <1xf32, [0]>
func.func @one(%v: memref<63xbf16>, %q: memref<63xi8>, %s: memref<f32>) {
  kron.quantize ins(%v : memref<63xbf16>) outs(%q, %s : memref<63xi8>, memref<f32>)
      {plan = #kron.gpu_plan<kernel = quantize, row_threads = 2, threads = 64, kept_segments = 3>}
  return
}

// -----

// Verify that what follows a product in its kernel for many rows has one of its own for few.
// CHECK-LABEL: func.func @both
// SM90:         scf.if
// SM90-NOT:       kron.quantize
// SM90:           tile.launch @kron_gpu::@both_0
// SM90:         } else {
// SM90:           tile.launch @kron_gpu::@both_1
// SM90:           tile.launch @kron_gpu::@quantize_0
// SM90-NOT:     kron.quantize
func.func @both(%x: memref<?x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<?x384xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x6x64xf16>
  %t = memref.alloc(%n) : memref<?x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%n, 6, 64] : memref<?x384xf16> into memref<?x6x64xf16>
  kron.fused ins(%x, %k : memref<?x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<?x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<?x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<?x6x64xf16>) -> tensor<?x6x64xf16>
    kron.yield %0 : tensor<?x6x64xf16>
  }
  kron.quantize ins(%t : memref<?x384xf16>) outs(%q, %s : memref<?x384xi8>, memref<?xf32>)
  memref.dealloc %t : memref<?x384xf16>
  return
}
