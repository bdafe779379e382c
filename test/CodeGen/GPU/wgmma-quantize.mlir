// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that rows become 8 bits in the kernel of their product, where the array between them
// is nobody else's: one launch, no array, results left in shared memory, from where 128 threads
// take 32 of a row's each, with one barrier for its largest magnitude.
// CHECK-LABEL: func.func @fused
// CHECK-NOT:     memref.alloc
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK-NOT:     memref.dealloc
// CHECK:         return
// CHECK:       llvm.func @fused_0
// CHECK:         wgmma.mma_async
// CHECK:         wgmma.mma_async
// CHECK-COUNT-32: arith.maxui
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK:         nvvm.barrier
// CHECK:         arith.divf
// CHECK:         arith.divf
// CHECK-COUNT-8: prmt.b32 a, $1, $2, 0x0040
// CHECK-NOT:   llvm.func @quantize
func.func @fused(%x: memref<?x64x64xf16>, %f: memref<64x64xf16>, %q: memref<?x4096xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x64x64xf16>
  %t = memref.alloc(%d) : memref<?x4096xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%d, 64, 64] : memref<?x4096xf16> into memref<?x64x64xf16>
  kron.fused ins(%x, %f : memref<?x64x64xf16>, memref<64x64xf16>) outs(%v : memref<?x64x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<?x64x64xf16>, %tf: tensor<64x64xf16>, %out: tensor<?x64x64xf16>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    kron.yield %2 : tensor<?x64x64xf16>
  }
  kron.quantize ins(%t : memref<?x4096xf16>) outs(%q, %s : memref<?x4096xi8>, memref<?xf32>)
  memref.dealloc %t : memref<?x4096xf16>
  return
}

// -----

// Verify that both have kernels of their own where somebody else reads the product.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: llvm.call @kronRtCudaLaunch
// CHECK-DAG:   llvm.func @shared_0
// CHECK-DAG:   llvm.func @quantize
func.func @shared(%x: memref<?x64x64xf16>, %f: memref<64x64xf16>, %q: memref<?x4096xi8>, %s: memref<?xf32>, %y: memref<?x4096xf16>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x64x64xf16>
  %t = memref.alloc(%d) : memref<?x4096xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%d, 64, 64] : memref<?x4096xf16> into memref<?x64x64xf16>
  kron.fused ins(%x, %f : memref<?x64x64xf16>, memref<64x64xf16>) outs(%v : memref<?x64x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<?x64x64xf16>, %tf: tensor<64x64xf16>, %out: tensor<?x64x64xf16>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    kron.yield %2 : tensor<?x64x64xf16>
  }
  kron.quantize ins(%t : memref<?x4096xf16>) outs(%q, %s : memref<?x4096xi8>, memref<?xf32>)
  linalg.copy ins(%t : memref<?x4096xf16>) outs(%y : memref<?x4096xf16>)
  memref.dealloc %t : memref<?x4096xf16>
  return
}

// -----

// Verify the same where the scales are of the other rows: those of 64 elements.
// CHECK-LABEL: func.func @other_rows
// CHECK-COUNT-2: llvm.call @kronRtCudaLaunch
func.func @other_rows(%x: memref<9x64x64xf16>, %f: memref<64x64xf16>, %q: memref<576x64xi8>, %s: memref<576xf32>) {
  %t = memref.alloc() : memref<576x64xf16>
  %v = memref.expand_shape %t [[0, 1], [2]] output_shape [9, 64, 64] : memref<576x64xf16> into memref<9x64x64xf16>
  kron.fused ins(%x, %f : memref<9x64x64xf16>, memref<64x64xf16>) outs(%v : memref<9x64x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<9x64x64xf16>, %tf: tensor<64x64xf16>, %out: tensor<9x64x64xf16>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<9x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<9x64x64xf16>) -> tensor<9x64x64xf16>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<9x64x64xf16>) factor(%tf [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<9x64x64xf16>) -> tensor<9x64x64xf16>
    kron.yield %2 : tensor<9x64x64xf16>
  }
  kron.quantize ins(%t : memref<576x64xf16>) outs(%q, %s : memref<576x64xi8>, memref<576xf32>)
  memref.dealloc %t : memref<576x64xf16>
  return
}
