// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify a chain whose factors stay in shared memory, for two groups of warps: the data of the first step come in a
// ring, which is started for the group's next block in front of the last step; what lies between steps is rows of a
// buffer; and each step begins with a barrier of the group.
// CHECK-LABEL: gpu.func @vit_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<25088x2x1x192xf16, [384, 192, 0, 1]>, %[[F:[^:]*]]: !tile.view<2x1x48x192xf16, [9216, 0, 192, 1]>,
// CHECK-SAME:    %[[L:[^:]*]]: !tile.view<2x192x48xf16, [1, 96, 2]>, %[[Y:[^:]*]]: !tile.view<25088x2x192xf16, [384, 1, 2]>, %[[N:[^:]*]]: i32)
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>
// CHECK-NEXT:    %[[ROWS:.*]] = tile.alloc : !tile.buffer<96x160xf16>
// CHECK-NEXT:    %[[RING:.*]] = tile.alloc : !tile.ring<3 of <96x64xf16>>
// CHECK-NEXT:    tile.copy_step %[[X]][0] to %[[RING]] :
// CHECK-NEXT:    %[[KEPT:.*]] = tile.keep_step %[[F]] : {{.*}} -> <384x64xf16>
// CHECK-NEXT:    %[[ALSO:.*]] = tile.keep_step %[[L]] : {{.*}} -> <192x96xf16>
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    tile.for %[[TILE:.*]] to %[[N]] : i32 {
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.for_step %[[PART:.*]] of 2 {
// CHECK-NEXT:        %[[SUMS:.*]] = tile.contract_step %[[X]][%[[TILE]], %[[PART]]] from %[[RING]], %[[F]] in %[[KEPT]] pieces <sizes = [96, 1, 1, 192], block = [96, 1, 1, 64], axes = [0, 1, 2, 3], warps = 4, bytes = 16, ahead = 2, chunks = <bytes = 16, k = 8, lanes = 1, tiles = [3, 4], warps = [2, 2, 1], results = chunks>> : {{.*}} -> <1x96x1x1x64xf32, mma.m16n8k16>
// CHECK-NEXT:        tile.exchange %[[SUMS]] to %[[ROWS]][%[[PART]]] along [1] :
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.copy_step %[[X]][%[[TILE]] + 1] to %[[RING]] :
// CHECK-NEXT:      tile.for_step %[[PART:.*]] of 6 {
// CHECK-NEXT:        %[[SUMS:.*]] = tile.contract_step %[[ROWS]][%[[TILE]], %[[PART]]], %[[L]] in %[[ALSO]] pieces <sizes = [96, 2, 48], {{.*}} -> <1x96x2x32xf32, mma.m16n8k16>
// CHECK-NEXT:        tile.store %[[SUMS]][%[[PART]]] to %[[Y]][%[[TILE]]] along [2] box [96, 2, 32] bytes 16 axes [0, 1, 2] :
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return
func.func @vit(%x: memref<25088x2x192xf16>, %k: memref<2x48x192xf16>, %l: memref<192x48x2xf16>, %y: memref<25088x192x2xf16>) {
  kron.fused ins(%x, %k, %l : memref<25088x2x192xf16>, memref<2x48x192xf16>, memref<192x48x2xf16>) outs(%y : memref<25088x192x2xf16>) {
  ^bb0(%tx: tensor<25088x2x192xf16>, %tk: tensor<2x48x192xf16>, %tl: tensor<192x48x2xf16>, %ty: tensor<25088x192x2xf16>):
    %e = tensor.empty() : tensor<25088x2x48xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x2x192xf16>) factor(%tk [1, q, p] : tensor<2x48x192xf16>)
         outs(%e : tensor<25088x2x48xf32>) -> tensor<25088x2x48xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<25088x2x48xf32> into tensor<25088x96xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [25088, 48, 2] : tensor<25088x96xf32> into tensor<25088x48x2xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<25088x48x2xf32>) factor(%tl [q, p, 2] : tensor<192x48x2xf16>)
         outs(%ty : tensor<25088x192x2xf16>) -> tensor<25088x192x2xf16>
    kron.yield %3 : tensor<25088x192x2xf16>
  }
  return
}

// -----

// Verify factors that stream: each step has a ring of them, which is started while the step before works.
// CHECK-LABEL: gpu.func @streamed_0(
// CHECK-SAME:    %[[X:[^:]*]]: !tile.view<{{[^:]*}}, %[[F:[^:]*]]: !tile.view<{{[^:]*}}, %[[L:[^:]*]]: !tile.view<
// CHECK-SAME:    tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>
// CHECK:         %[[RING:.*]] = tile.alloc : !tile.ring<2 of <96x64xf16>>
// CHECK-NEXT:    %[[BESIDE:.*]] = tile.alloc : !tile.ring<2 of <64x64xf16>>
// CHECK-NEXT:    %[[LATER:.*]] = tile.alloc : !tile.ring<4 of <32x96xf16>>
// CHECK-NEXT:    tile.copy_step %[[X]][0] to %[[RING]] and %[[F]] to %[[BESIDE]] :
// CHECK-NEXT:    tile.for %[[TILE:.*]] to
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      tile.copy_step %[[L]][%[[TILE]] + 0] to %[[LATER]] :
// CHECK-NEXT:      tile.for_step %{{.*}} of 2 {
// CHECK-NEXT:        %{{.*}} = tile.contract_step %[[X]][%[[TILE]], %{{.*}}] from %[[RING]], %[[F]] in %[[BESIDE]]
// CHECK:           tile.barrier
// CHECK-NEXT:      tile.copy_step %[[X]][%[[TILE]] + 1] to %[[RING]] and %[[F]] to %[[BESIDE]] :
// CHECK-NEXT:      tile.for_step %{{.*}} of 6 {
// CHECK-NEXT:        %{{.*}} = tile.contract_step %{{.*}}, %[[L]] in %[[LATER]]
func.func @streamed(%x: memref<25088x2x192xf16>, %k: memref<2x48x192xf16>, %l: memref<192x48x2xf16>, %y: memref<25088x192x2xf16>) {
  kron.fused ins(%x, %k, %l : memref<25088x2x192xf16>, memref<2x48x192xf16>, memref<192x48x2xf16>) outs(%y : memref<25088x192x2xf16>)
      attributes {plan = #kron.gpu_plan<kernel = chain, keeps_factor = 0>} {
  ^bb0(%tx: tensor<25088x2x192xf16>, %tk: tensor<2x48x192xf16>, %tl: tensor<192x48x2xf16>, %ty: tensor<25088x192x2xf16>):
    %e = tensor.empty() : tensor<25088x2x48xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x2x192xf16>) factor(%tk [1, q, p] : tensor<2x48x192xf16>)
         outs(%e : tensor<25088x2x48xf32>) -> tensor<25088x2x48xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<25088x2x48xf32> into tensor<25088x96xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [25088, 48, 2] : tensor<25088x96xf32> into tensor<25088x48x2xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<25088x48x2xf32>) factor(%tl [q, p, 2] : tensor<192x48x2xf16>)
         outs(%ty : tensor<25088x192x2xf16>) -> tensor<25088x192x2xf16>
    kron.yield %3 : tensor<25088x192x2xf16>
  }
  return
}

// -----

// Verify rows that are innermost: chunks of the first step lie along them, and all steps turn them as the last one
// wants, whose threads have eight neighbours.
// CHECK-LABEL: gpu.func @last_0(
// CHECK-SAME:    !tile.view<25088x2x1x192xf16, [1, 4816896, 0, 25088]>
// CHECK:         tile.alloc : !tile.ring<{{.*}} of <64x128xf16>>
// CHECK:         tile.contract_step {{.*}} turned 8 pieces {{.*}}along_rows = true
// CHECK:         tile.contract_step {{.*}} turned 8 pieces {{.*}}tiles = [4, 2]
// CHECK:         tile.store {{.*}}, <25088x2x192xf16, [1, 25088, 50176]>
func.func @last(%x: memref<2x192x25088xf16>, %k: memref<2x48x192xf16>, %l: memref<192x48x2xf16>, %y: memref<192x2x25088xf16>) {
  kron.fused ins(%x, %k, %l : memref<2x192x25088xf16>, memref<2x48x192xf16>, memref<192x48x2xf16>) outs(%y : memref<192x2x25088xf16>) {
  ^bb0(%tx: tensor<2x192x25088xf16>, %tk: tensor<2x48x192xf16>, %tl: tensor<192x48x2xf16>, %ty: tensor<192x2x25088xf16>):
    %e = tensor.empty() : tensor<2x48x25088xf32>
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x192x25088xf16>) factor(%tk [0, q, p] : tensor<2x48x192xf16>)
         outs(%e : tensor<2x48x25088xf32>) -> tensor<2x48x25088xf32>
    %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x48x25088xf32> into tensor<96x25088xf32>
    %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [48, 2, 25088] : tensor<96x25088xf32> into tensor<48x2x25088xf32>
    %3 = kron.mode_product axis(0) ins(%2 : tensor<48x2x25088xf32>) factor(%tl [q, p, 1] : tensor<192x48x2xf16>)
         outs(%ty : tensor<192x2x25088xf16>) -> tensor<192x2x25088xf16>
    kron.yield %3 : tensor<192x2x25088xf16>
  }
  return
}

// -----

// Verify rows that are quantized: the last step leaves them in a buffer, through its epilogue, and behind a barrier
// 16 lanes share a row.
// CHECK-LABEL: gpu.func @chain_0(
// CHECK-SAME:    %[[B:[^:]*]]: !tile.view<?x2x192xf16, [0, 1, 2]>, %[[Q:[^:]*]]: !tile.view<?x384xf8E4M3FN, [384, 1]>, %[[S:[^:]*]]: !tile.view<?xf32, [1]>, %[[N:[^:]*]]: i32)
// CHECK:         %[[ROWS:.*]] = tile.alloc : !tile.buffer<32x384xf16, #tile.layout<[416, 1]>>
// CHECK:         tile.for %[[TILE:.*]] to %[[N]]
// CHECK:           tile.leave_rows %{{.*}}[%{{.*}}] to %[[ROWS]][%[[TILE]]] bias %[[B]] : {{.*}} activation <relu> :
// CHECK-NEXT:      }
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      %[[V:.*]] = tile.load_rows %[[ROWS]][%[[TILE]]] threads 16 kept 12 bytes 16 : {{.*}} -> <3x8xf16>
// CHECK-NEXT:      %[[M:.*]] = tile.reduce_rows %[[V]] :
// CHECK-NEXT:      tile.quantize_rows %[[V]] by %[[M]] to %[[Q]][%[[TILE]]], %[[S]] native :
func.func @chain(%x: memref<?x2x192xf16>, %k: memref<2x48x192xf16>, %l: memref<192x48x2xf16>, %b: memref<192x2xf16>,
                 %q: memref<?x384xf8E4M3FN>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x2x192xf16>
  %t = memref.alloc(%d) : memref<?x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%d, 192, 2] : memref<?x384xf16> into memref<?x192x2xf16>
  kron.fused ins(%x, %k, %l, %b : memref<?x2x192xf16>, memref<2x48x192xf16>, memref<192x48x2xf16>, memref<192x2xf16>)
      outs(%v : memref<?x192x2xf16>) attributes {plan = #kron.gpu_plan<kernel = chain>} {
  ^bb0(%tx: tensor<?x2x192xf16>, %tk: tensor<2x48x192xf16>, %tl: tensor<192x48x2xf16>, %tb: tensor<192x2xf16>, %ty: tensor<?x192x2xf16>):
    %i0 = arith.constant 0 : index
    %n = tensor.dim %ty, %i0 : tensor<?x192x2xf16>
    %e = tensor.empty(%n) : tensor<?x2x48xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x2x192xf16>) factor(%tk [1, q, p] : tensor<2x48x192xf16>)
         outs(%e : tensor<?x2x48xf32>) -> tensor<?x2x48xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<?x2x48xf32> into tensor<?x96xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [%n, 48, 2] : tensor<?x96xf32> into tensor<?x48x2xf32>
    %f = tensor.empty(%n) : tensor<?x192x2xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x48x2xf32>) factor(%tl [q, p, 2] : tensor<192x48x2xf16>)
         outs(%f : tensor<?x192x2xf32>) -> tensor<?x192x2xf32>
    %4 = kron.epilogue ins(%3 : tensor<?x192x2xf32>) bias(%tb [1, 2] : tensor<192x2xf16>)
         outs(%ty : tensor<?x192x2xf16>) {activation = #kron.activation<relu>} -> tensor<?x192x2xf16>
    kron.yield %4 : tensor<?x192x2xf16>
  }
  kron.quantize ins(%t : memref<?x384xf16>) outs(%q, %s : memref<?x384xf8E4M3FN>, memref<?xf32>)
  memref.dealloc %t : memref<?x384xf16>
  return
}

// -----

// Verify that the longest chain whose factors stream, each a step that starts the ring of the next one, is a kernel of 58
// operations (docs/tiles.py counts them).
// CHECK-LABEL: gpu.func @long_0(
// CHECK-COUNT-9: tile.alloc {{.*}}!tile.ring<
// CHECK:         tile.for %
// CHECK-COUNT-8: tile.for_step
// CHECK-NOT:     tile.for_step
// CHECK:         gpu.return
func.func @long(%x: memref<25088x16x16xf32>, %k: memref<16x16x16xf32>, %l: memref<16x16x16xf32>, %y: memref<25088x16x16xf32>) {
  kron.fused ins(%x, %k, %l : memref<25088x16x16xf32>, memref<16x16x16xf32>, memref<16x16x16xf32>) outs(%y : memref<25088x16x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = chain, keeps_factor = 0>} {
  ^bb0(%t: tensor<25088x16x16xf32>, %a: tensor<16x16x16xf32>, %b: tensor<16x16x16xf32>, %o: tensor<25088x16x16xf32>):
    %e = tensor.empty() : tensor<25088x16x16xf32>
    %0 = kron.mode_product axis(2) ins(%t : tensor<25088x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<25088x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %4 = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %5 = tensor.expand_shape %4 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %6 = kron.mode_product axis(2) ins(%5 : tensor<25088x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %7 = tensor.collapse_shape %6 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %8 = tensor.expand_shape %7 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %9 = kron.mode_product axis(1) ins(%8 : tensor<25088x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %10 = tensor.collapse_shape %9 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %11 = tensor.expand_shape %10 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %12 = kron.mode_product axis(2) ins(%11 : tensor<25088x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %13 = tensor.collapse_shape %12 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %14 = tensor.expand_shape %13 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %15 = kron.mode_product axis(1) ins(%14 : tensor<25088x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %16 = tensor.collapse_shape %15 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %17 = tensor.expand_shape %16 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %18 = kron.mode_product axis(2) ins(%17 : tensor<25088x16x16xf32>) factor(%a [1, q, p] : tensor<16x16x16xf32>) outs(%e : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    %19 = tensor.collapse_shape %18 [[0], [1, 2]] : tensor<25088x16x16xf32> into tensor<25088x256xf32>
    %20 = tensor.expand_shape %19 [[0], [1, 2]] output_shape [25088, 16, 16] : tensor<25088x256xf32> into tensor<25088x16x16xf32>
    %21 = kron.mode_product axis(1) ins(%20 : tensor<25088x16x16xf32>) factor(%b [q, p, 2] : tensor<16x16x16xf32>) outs(%o : tensor<25088x16x16xf32>) -> tensor<25088x16x16xf32>
    kron.yield %21 : tensor<25088x16x16xf32>
  }
  return
}
