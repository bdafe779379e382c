// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that a Kronecker-sparse factor's rows become 8 bits in its kernel: sums are rounded
// to the type of the product and left in shared memory, 16 bytes at a time; behind a barrier
// of the threads that share them, some lanes take a row each, and agree on its largest
// magnitude without shared memory. Nothing is left of the array between them.
// CHECK-LABEL: func.func @one
// CHECK-NOT:     memref.alloc
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK-NOT:     memref.dealloc
// CHECK:         return
// CHECK:       llvm.func @one_0(
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT:     st.global
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier
// CHECK:         llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK:         arith.maxui
// CHECK:         nvvm.shfl.sync
// CHECK-NOT:     nvvm.barrier
// CHECK:         arith.divf
// CHECK:         arith.divf
// CHECK:         prmt.b32 a, $1, $2, 0x0040
// CHECK:         st.global.cs.v2
// CHECK-NOT:   llvm.func @quantize
func.func @one(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// -----

// Verify that the host chooses where the number of rows is not known: few rows, in an array
// between two kernels, are faster in kernels of their own.
// CHECK-LABEL: func.func @some
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if
// CHECK-NOT:       memref.alloc
// CHECK:           llvm.call @kronRtCudaLaunch
// CHECK-NOT:       llvm.call @kronRtCudaLaunch
// CHECK:         } else {
// CHECK:           memref.alloc
// CHECK-COUNT-3:   llvm.call @kronRtCudaLaunch
// CHECK:           memref.dealloc
// CHECK:         return
// CHECK-DAG:   llvm.func @quantize
func.func @some(%x: memref<?x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<?x384xi8>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x6x64xf16>
  %t = memref.alloc(%d) : memref<?x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [%d, 6, 64] : memref<?x384xf16> into memref<?x6x64xf16>
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

// -----

// Verify a chain with an epilogue, which is one kernel for any number of rows: the bias is
// added to the last factor's sums before they are left as rows.
// CHECK-LABEL: func.func @chain
// CHECK-NOT:     memref.alloc
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK-NOT:     memref.dealloc
// CHECK:         return
// CHECK:       llvm.func @chain_0(
// CHECK:         mma.sync
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         mma.sync
// CHECK:         "ld.global.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK:         arith.maximumf
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier
// CHECK:         arith.maxui
// CHECK:         nvvm.shfl.sync
// CHECK:         cvt.rn.satfinite.e4m3x2.f32
// CHECK:         st.global.cs
// CHECK:         llvm.return
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
