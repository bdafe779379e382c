// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80

// Verify that sums of pieces of the batch go to the workspace as threads have them, and that a second kernel adds them
// up, scales and stores them.
// CHECK-LABEL: func.func @pieces
// CHECK:         %[[W:.*]] = llvm.call @kronRtCudaWorkspace
// CHECK:         tile.launch @kron_gpu::@pieces_0
// CHECK:         %[[S:.*]] = tile.view %[[W]] : !llvm.ptr -> <[[COUNT:[0-9]+]]x1x[[SUMS:[0-9]+]]x1xf32>
// CHECK:         tile.launch @kron_gpu::@pieces_sum_0 {{.*}} args(%[[S]],
// CHECK:       gpu.func @pieces_0(%[[G:.*]]: !tile.view<25088x1024xf32, [1024, 1]>, %[[X:.*]]: !tile.view<25088x1024xf32, [1024, 1]>, %[[S:.*]]: !tile.view<[[COUNT]]x[[SUMS]]xf32>, %[[P:.*]]: i64, %[[N:.*]]: i32) kernel
// CHECK:         %[[R:.*]] = tile.alloc
// CHECK-NEXT:    tile.for %[[T:.*]] to %[[N]] : i32
// CHECK-NEXT:      %[[V:.*]] = tile.contract_batch %[[G]], %[[X]][%[[T]]] positions %[[P]] in %[[R]] by <f32, sizes = [1, 64, 64, 16],
// SM90-SAME:        residuals = tf32, last = false>
// CHECK-NEXT:      tile.store %[[V]] to %[[S]][%[[T]]] bytes 16
// CHECK-NEXT:    }
// CHECK:       gpu.func @pieces_sum_0(%[[S:.*]]: !tile.view<[[COUNT]]x1x[[SUMS]]x1xf32>, %[[D:.*]]: !tile.view<1x64x64x16xf32, [65536, 1024, 16, 1]>, %[[A:.*]]: f32, %[[B:.*]]: f32, %[[N:.*]]: i64) kernel
// CHECK-SAME:    #tile.kernel<threads = 256, ctas_per_sm = 4>
// CHECK-NEXT:    tile.for %[[T:.*]] to %[[N]]
// CHECK-NEXT:      %[[V:.*]] = tile.add_pieces %[[S]][%[[T]]] slices {{.*}} as <f32, sizes = [1, 64, 64, 16],
// CHECK-NEXT:      tile.store %[[V]] to %[[D]][%[[T]]] alpha %[[A]] : f32 beta %[[B]] : f32 addend %[[D]] : {{.*}} bytes 4
// CHECK-NEXT:    }
func.func @pieces(%x: memref<25088x1024xf32>, %g: memref<25088x1024xf32>, %d: memref<1x64x64x16xf32>) {
  kron.ksmm_grad ins(%x : memref<25088x1024xf32>) grad(%g : memref<25088x1024xf32>)
    outs(%d : memref<1x64x64x16xf32>) alpha(2.0 : f32) beta(0.5 : f32)
  return
}

// -----

// Verify that one piece is scaled and stored by its kernel, with an addend of its own.
// CHECK-LABEL: func.func @short
// CHECK-NOT:     kronRtCudaWorkspace
// CHECK:         tile.launch @kron_gpu::@short_0
// CHECK-NOT:     tile.launch
// CHECK:       gpu.func @short_0(%{{.*}}: !tile.view<16x30xf32, [30, 1]>, %{{.*}}: !tile.view<16x40xf32, [40, 1]>, %[[D:.*]]: !tile.view<2x3x4x5xf32, [60, 20, 5, 1]>, %[[B:.*]]: f32, %[[Z:.*]]: !tile.view<2x3x4x5xf32, [?, ?, ?, ?]>,
// CHECK:           tile.store %{{.*}} to %[[D]][%{{.*}}] beta %[[B]] : f32 addend %[[Z]] : !tile.view<2x3x4x5xf32, [?, ?, ?, ?]> bytes 4
func.func @short(%x: memref<16x40xf32>, %g: memref<16x30xf32>, %d: memref<2x3x4x5xf32>, %z: memref<2x3x4x5xf32, strided<[?, ?, ?, ?]>>) {
  kron.ksmm_grad ins(%x : memref<16x40xf32>) grad(%g : memref<16x30xf32>)
    outs(%d : memref<2x3x4x5xf32>) beta(3.0 : f32) addend(%z : memref<2x3x4x5xf32, strided<[?, ?, ?, ?]>>)
  return
}

// -----

// Verify warpgroups of 16-bit elements with the batch last, whose number is not known.
// CHECK-LABEL: func.func @last
// CHECK:       gpu.func @last_0(%{{.*}}: !tile.view<1024x?xbf16, [?, 1]>, %{{.*}}: !tile.view<1024x?xbf16, [?, 1]>,
// SM90:          atom = wgmma.m64k16, residuals = none, last = true
// SM80:          atom = mma.m16n8k16, residuals = none, last = true
func.func @last(%x: memref<1024x?xbf16>, %g: memref<1024x?xbf16>, %d: memref<1x256x256x4xbf16>) {
  kron.ksmm_grad ins(%x : memref<1024x?xbf16>) grad(%g : memref<1024x?xbf16>) outs(%d : memref<1x256x256x4xbf16>)
    {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify warpgroups of f32, with residuals of bf16.
// CHECK-LABEL: func.func @packed
// CHECK:       gpu.func @packed_0(
// SM90:          atom = wgmma.m64k8.tf32, residuals = bf16, last = false
// SM80:          atom = mma.m16n8k8.tf32, residuals = bf16, last = false
func.func @packed(%x: memref<25088x384xf32>, %g: memref<25088x1536xf32>, %d: memref<1x768x192x2xf32>) {
  kron.ksmm_grad ins(%x : memref<25088x384xf32>) grad(%g : memref<25088x1536xf32>) outs(%d : memref<1x768x192x2xf32>)
  return
}

// -----

// Verify f64, by what the chip has; and precision tf32.
// CHECK-LABEL: func.func @others
// CHECK:       gpu.func @others_0(
// SM90:          <f64, {{.*}} atom = mma.m16n8k8.f64, residuals = none
// SM80:          <f64, {{.*}} atom = mma.m8n8k4.f64, residuals = none
// CHECK:       gpu.func @others_{{1|sum_0}}(
// CHECK:         <f32, {{.*}} atom = mma.m16n8k8.tf32, residuals = none
func.func @others(%x: memref<?x36xf64>, %g: memref<?x36xf64>, %d: memref<3x6x6x2xf64>, %y: memref<?x256xf32>, %h: memref<?x256xf32>, %e: memref<1x64x64x4xf32>) {
  kron.ksmm_grad ins(%x : memref<?x36xf64>) grad(%g : memref<?x36xf64>) outs(%d : memref<3x6x6x2xf64>)
  kron.ksmm_grad ins(%y : memref<?x256xf32>) grad(%h : memref<?x256xf32>)
    outs(%e : memref<1x64x64x4xf32>) {precision = #kron.precision<tf32>}
  return
}

// -----

// Verify that weights that several products t share are added up, of one piece, too, whose sums lie in the order of the weights, four
// neighbours at a time.
// CHECK-LABEL: func.func @shared
// CHECK:         llvm.call @kronRtCudaWorkspace
// CHECK:       gpu.func @shared_0({{.*}}: !tile.view<1x1x16x16x128xf32>, %{{.*}}: i64
// CHECK:           tile.store %{{.*}} bytes 16 : {{.*}}, <1x1x16x16x128xf32>
// CHECK:       gpu.func @shared_sum_0(%{{.*}}: !tile.view<1x1x256x128xf32>, %{{.*}}: !tile.view<1x16x16x1xf32, [256, 16, 1, 1]>
// CHECK:           tile.add_pieces %{{.*}} slices 128 loads 1 : <1x1x256x128xf32> -> <1x1xf32>
func.func @shared(%x: memref<16x2048xf32>, %g: memref<16x2048xf32>, %d: memref<1x16x16x1xf32>) {
  kron.ksmm_grad ins(%x : memref<16x2048xf32>) grad(%g : memref<16x2048xf32>)
    outs(%d : memref<1x16x16x1xf32>) {product_pattern = array<i64: 1, 16, 16, 128>}
  return
}
