// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that one kernel applies both factors, which stay in shared memory: two warp groups take
// blocks of rows without waiting for each other. What lies between is rounded for the second
// factor's matrix instructions and stays in shared memory, 16 bytes at a time.
// CHECK-LABEL: llvm.func @vit_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1
// CHECK:         cp.async
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         nvvm.barrier0
// CHECK-NOT:     nvvm.barrier0
// CHECK:         nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK:         cp.async
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT:     nvvm.cp.async.wait
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         st.global.cs.v4
// CHECK:         llvm.return
// CHECK-NOT:     llvm.func @vit_1
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

// Verify f32 of odd sizes: values go to shared memory one by one, behind the end of a
// group are zeros, and sums that are not finite are computed again from there.
// CHECK-LABEL: llvm.func @odd_0(
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         nvvm.vote.sync any
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK:         nvvm.vote.sync any
// CHECK:         llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK:         llvm.return
func.func @odd(%x: memref<?x3x7xf32>, %k: memref<3x5x7xf32>, %l: memref<9x5x3xf32>, %y: memref<?x9x3xf32>) {
  kron.fused ins(%x, %k, %l : memref<?x3x7xf32>, memref<3x5x7xf32>, memref<9x5x3xf32>) outs(%y : memref<?x9x3xf32>) {
  ^bb0(%tx: tensor<?x3x7xf32>, %tk: tensor<3x5x7xf32>, %tl: tensor<9x5x3xf32>, %ty: tensor<?x9x3xf32>):
    %c0 = arith.constant 0 : index
    %n = tensor.dim %ty, %c0 : tensor<?x9x3xf32>
    %e = tensor.empty(%n) : tensor<?x3x5xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x3x7xf32>) factor(%tk [1, q, p] : tensor<3x5x7xf32>)
         outs(%e : tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<?x3x5xf32> into tensor<?x15xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [%n, 5, 3] : tensor<?x15xf32> into tensor<?x5x3xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x5x3xf32>) factor(%tl [q, p, 2] : tensor<9x5x3xf32>)
         outs(%ty : tensor<?x9x3xf32>) -> tensor<?x9x3xf32>
    kron.yield %3 : tensor<?x9x3xf32>
  }
  return
}

// Verify that an epilogue works on the sums of the last factor only, before they are
// rounded: bias and residual are read 16 bytes at a time behind all products.
// CHECK-LABEL: llvm.func @end_0(
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT:     ld.global.v4.b32
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         "ld.global.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK:         arith.maximumf
// CHECK:         arith.mulf
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         st.global.cs.v4
// CHECK:         llvm.return
func.func @end(%x: memref<25088x2x192xf16>, %k: memref<2x48x192xf16>, %l: memref<192x48x2xf16>, %b: memref<192x2xf16>,
               %r: memref<25088x192x2xf16>, %y: memref<25088x192x2xf16>) {
  kron.fused ins(%x, %k, %l, %b, %r : memref<25088x2x192xf16>, memref<2x48x192xf16>, memref<192x48x2xf16>, memref<192x2xf16>,
                memref<25088x192x2xf16>) outs(%y : memref<25088x192x2xf16>) {
  ^bb0(%tx: tensor<25088x2x192xf16>, %tk: tensor<2x48x192xf16>, %tl: tensor<192x48x2xf16>, %tb: tensor<192x2xf16>,
       %tr: tensor<25088x192x2xf16>, %ty: tensor<25088x192x2xf16>):
    %e = tensor.empty() : tensor<25088x2x48xf32>
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x2x192xf16>) factor(%tk [1, q, p] : tensor<2x48x192xf16>)
         outs(%e : tensor<25088x2x48xf32>) -> tensor<25088x2x48xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<25088x2x48xf32> into tensor<25088x96xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [25088, 48, 2] : tensor<25088x96xf32> into tensor<25088x48x2xf32>
    %f = tensor.empty() : tensor<25088x192x2xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<25088x48x2xf32>) factor(%tl [q, p, 2] : tensor<192x48x2xf16>)
         outs(%f : tensor<25088x192x2xf32>) -> tensor<25088x192x2xf32>
    %4 = kron.epilogue ins(%3 : tensor<25088x192x2xf32>) bias(%tb [1, 2] : tensor<192x2xf16>) residual(%tr : tensor<25088x192x2xf16>)
         outs(%ty : tensor<25088x192x2xf16>) {activation = #kron.activation<relu>, scale = 0.5 : f32} -> tensor<25088x192x2xf16>
    kron.yield %4 : tensor<25088x192x2xf16>
  }
  return
}

// Verify that rows may be innermost: the first factor's data are chunks of rows, as in a
// kernel of its own; pairs of neighbouring results go to rows in shared memory, where the
// order of rows is such that threads of the last factor store 16 bytes of neighbouring ones.
// CHECK-LABEL: llvm.func @last_0(
// CHECK:         cp.async
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         %[[PAIR:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK:         llvm.store %[[PAIR]], {{.*}} : i32, !llvm.ptr<3>
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         st.global.cs.v4
// CHECK:         llvm.return
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

// Verify that warps of a warp group take other tiles of the second factor, which is kept, each
// every fourth of its 32 groups, and need not wait for each other; and that 8 products t
// side by side go to shared memory as 16 bytes.
// CHECK-LABEL: llvm.func @monarch_0(
// CHECK:         nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT:     i16, !llvm.ptr<3>
// CHECK:         nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK-NOT:     nvvm.barrier
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c32_i32{{.*}} step %c4_i32
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT:     nvvm.barrier
// CHECK:         st.global.cs.v4
func.func @monarch(%x: memref<25088x32x32xf16>, %k: memref<32x32x32xf16>, %l: memref<32x32x32xf16>, %y: memref<25088x32x32xf16>) {
  kron.fused ins(%x, %k, %l : memref<25088x32x32xf16>, memref<32x32x32xf16>, memref<32x32x32xf16>) outs(%y : memref<25088x32x32xf16>) {
  ^bb0(%tx: tensor<25088x32x32xf16>, %tk: tensor<32x32x32xf16>, %tl: tensor<32x32x32xf16>, %ty: tensor<25088x32x32xf16>):
    %e = tensor.empty() : tensor<25088x32x32xf32>
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x32x32xf16>) factor(%tk [q, p, 2] : tensor<32x32x32xf16>)
         outs(%e : tensor<25088x32x32xf32>) -> tensor<25088x32x32xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<25088x32x32xf32> into tensor<25088x1024xf32>
    %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [25088, 32, 32] : tensor<25088x1024xf32> into tensor<25088x32x32xf32>
    %3 = kron.mode_product axis(2) ins(%2 : tensor<25088x32x32xf32>) factor(%tl [1, q, p] : tensor<32x32x32xf16>)
         outs(%ty : tensor<25088x32x32xf16>) -> tensor<25088x32x32xf16>
    kron.yield %3 : tensor<25088x32x32xf16>
  }
  return
}
