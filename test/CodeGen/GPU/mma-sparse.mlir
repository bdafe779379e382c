// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm -o %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=HOST < %t

// Verify f16 with 16 inner positions, batch first: the factor is copied once for all
// tiles of a CTA, two chunks at different k become pairs, and threads exchange
// halves so that they store 32 bytes together.
// CHECK-LABEL: llvm.func @inner_f16_0(
// CHECK:         prmt.b32 $0, $1, $2, 21520;
// CHECK:         prmt.b32 $0, $1, $2, 30258;
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         cvt.rn.f16x2.f32
// CHECK:         nvvm.shfl.sync bfly
func.func @inner_f16(%x: memref<?x1x64x16xf16>, %k: memref<64x64x16xf16>, %y: memref<?x1x64x16xf16>) {
  kron.fused ins(%x, %k : memref<?x1x64x16xf16>, memref<64x64x16xf16>) outs(%y : memref<?x1x64x16xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x1x64x16xf16>, %tk: tensor<64x64x16xf16>, %ty: tensor<?x1x64x16xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x1x64x16xf16>) factor(%tk [q, p, 3] : tensor<64x64x16xf16>)
         outs(%ty : tensor<?x1x64x16xf16>) -> tensor<?x1x64x16xf16>
    kron.yield %0 : tensor<?x1x64x16xf16>
  }
  return
}

// Verify f32, batch last: two products with residuals in bf16, one of TF32, and plain
// multiply-adds where a sum is not finite.
// CHECK-LABEL: llvm.func @batch_last_f32_0(
// CHECK-COUNT-2: cvt.rn.bf16x2.f32
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:         nvvm.vote.sync any
// CHECK:         llvm.intr.fma
func.func @batch_last_f32(%x: memref<2x32x4x?xf32>, %k: memref<2x8x32x4xf32>, %y: memref<2x8x4x?xf32>) {
  kron.fused ins(%x, %k : memref<2x32x4x?xf32>, memref<2x8x32x4xf32>) outs(%y : memref<2x8x4x?xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<2x32x4x?xf32>, %tk: tensor<2x8x32x4xf32>, %ty: tensor<2x8x4x?xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x32x4x?xf32>) factor(%tk [0, q, p, 2] : tensor<2x8x32x4xf32>)
         outs(%ty : tensor<2x8x4x?xf32>) -> tensor<2x8x4x?xf32>
    kron.yield %0 : tensor<2x8x4x?xf32>
  }
  return
}

// Verify that two warp groups of a CTA keep as much of the factor together as all results need,
// and wait for their own threads only; and that tiles whose instructions share few operands
// take three TF32 products.
// CHECK-LABEL: llvm.func @teams_f32_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1
// CHECK:         nvvm.barrier0
// CHECK:         nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK-NOT:     bf16
// CHECK-COUNT-3: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @teams_f32(%x: memref<25088x1x64x16xf32>, %k: memref<40x64x16xf32>, %y: memref<25088x1x40x16xf32>) {
  kron.fused ins(%x, %k : memref<25088x1x64x16xf32>, memref<40x64x16xf32>) outs(%y : memref<25088x1x40x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x64x16xf32>, %tk: tensor<40x64x16xf32>, %ty: tensor<25088x1x40x16xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x64x16xf32>) factor(%tk [q, p, 3] : tensor<40x64x16xf32>)
         outs(%ty : tensor<25088x1x40x16xf32>) -> tensor<25088x1x40x16xf32>
    kron.yield %0 : tensor<25088x1x40x16xf32>
  }
  return
}

// Verify that groups of 512 bytes and more, here of whole chunks, start tiles at multiples of
// 64 bytes, so that stores fill sectors, and that warpgroups multiply many results of f16.
// CHECK-LABEL: llvm.func @sectors_f16_0(
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<1> to i32
// CHECK:         %[[MASK:.*]] = arith.constant 63 : i32
// CHECK:         arith.andi %[[ADDRESS]], %[[MASK]] : i32
// CHECK:         wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK:         st.global.cs.v4.b32
func.func @sectors_f16(%x: memref<1024x64x64xf16>, %k: memref<64x456x64xf16>, %y: memref<1024x64x456xf16>) {
  kron.fused ins(%x, %k : memref<1024x64x64xf16>, memref<64x456x64xf16>) outs(%y : memref<1024x64x456xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<1024x64x64xf16>, %tk: tensor<64x456x64xf16>, %ty: tensor<1024x64x456xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<1024x64x64xf16>) factor(%tk [1, q, p] : tensor<64x456x64xf16>)
         outs(%ty : tensor<1024x64x456xf16>) -> tensor<1024x64x456xf16>
    kron.yield %0 : tensor<1024x64x456xf16>
  }
  return
}

// Verify that positions of another axis that the factor does not vary on are tiles of
// their own beside each other: the host counts them, and a tile's number is taken apart.
// HOST-LABEL: func.func @two_axes(
// HOST:         %[[BLOCKS:.*]] = arith.divui %{{.*}}, %c128_i64
// HOST:         arith.muli %[[BLOCKS]], %c28_i64
// CHECK-LABEL: llvm.func @two_axes_1(
// CHECK:         %[[FREE:.*]] = arith.remui %[[BLOCK:.*]], %c28_i32
// CHECK:         arith.divui %[[BLOCK]], %c28_i32
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @two_axes(%x: memref<?x28x512xf16>, %k: memref<512x512xf16>, %y: memref<?x28x512xf16>) {
  kron.fused ins(%x, %k : memref<?x28x512xf16>, memref<512x512xf16>) outs(%y : memref<?x28x512xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x28x512xf16>, %tk: tensor<512x512xf16>, %ty: tensor<?x28x512xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x28x512xf16>) factor(%tk [q, p] : tensor<512x512xf16>)
         outs(%ty : tensor<?x28x512xf16>) -> tensor<?x28x512xf16>
    kron.yield %0 : tensor<?x28x512xf16>
  }
  return
}

// Verify that warpgroups multiply f32 where the factor, prepared in TF32 and bf16, stays in
// shared memory: two small products, then the large ones, and nothing touches the sums
// before the last one is done.
// CHECK-LABEL: llvm.func @groups_f32_0(
// CHECK:         cvt.rn.bf16x2.f32
// CHECK:         fence.proxy.async
// CHECK:         wgmma.fence.sync.aligned
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32
// CHECK-SAME:    wgmma.wait_group.sync.aligned 1;
// CHECK:         wgmma.wait_group.sync.aligned 0;
// CHECK-NEXT:    llvm.extractvalue
// CHECK-NOT:     mma.sync
func.func @groups_f32(%x: memref<25088x12x64x4xf32>, %k: memref<12x64x64x4xf32>, %y: memref<25088x12x64x4xf32>) {
  kron.fused ins(%x, %k : memref<25088x12x64x4xf32>, memref<12x64x64x4xf32>) outs(%y : memref<25088x12x64x4xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x12x64x4xf32>, %tk: tensor<12x64x64x4xf32>, %ty: tensor<25088x12x64x4xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x12x64x4xf32>) factor(%tk [1, q, p, 3] : tensor<12x64x64x4xf32>)
         outs(%ty : tensor<25088x12x64x4xf32>) -> tensor<25088x12x64x4xf32>
    kron.yield %0 : tensor<25088x12x64x4xf32>
  }
  return
}

// Verify that a large dense factor is prepared step by step, that of the next one between
// products of this one.
// CHECK-LABEL: llvm.func @dense_f32_0(
// CHECK:         fence.proxy.async
// CHECK:         nvvm.cp.async.wait.group
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK-SAME:    wgmma.wait_group.sync.aligned 1;
// CHECK:         cvt.rn.bf16x2.f32
// CHECK:         llvm.store {{.*}} !llvm.ptr<3>
// CHECK:         wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK:         wgmma.wait_group.sync.aligned 0;
// CHECK:         fence.proxy.async
func.func @dense_f32(%x: memref<25088x1024xf32>, %k: memref<1024x1024xf32>, %y: memref<25088x1024xf32>) {
  kron.fused ins(%x, %k : memref<25088x1024xf32>, memref<1024x1024xf32>) outs(%y : memref<25088x1024xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1024xf32>, %tk: tensor<1024x1024xf32>, %ty: tensor<25088x1024xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x1024xf32>) factor(%tk [q, p] : tensor<1024x1024xf32>)
         outs(%ty : tensor<25088x1024xf32>) -> tensor<25088x1024xf32>
    kron.yield %0 : tensor<25088x1024xf32>
  }
  return
}

// Verify that a factor of which all results fit shared memory without their packed operand in bf16
// is multiplied in TF32 with the residual of the data; and that of a single pipeline stage
// the next step is prefetched once all of this one is in registers.
// CHECK-LABEL: llvm.func @few_images_f32_0(
// CHECK:         fence.proxy.async
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    nvvm.barrier0
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    nvvm.barrier0
// CHECK-NOT:     cp.async.shared.global
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<4xf32>
// CHECK:         nvvm.barrier0
// CHECK:         cp.async.shared.global
// CHECK:         wgmma.fence.sync.aligned
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32
// CHECK-COUNT-1: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32
// CHECK-SAME:    wgmma.wait_group.sync.aligned 1;
// CHECK:         wgmma.wait_group.sync.aligned 0;
func.func @few_images_f32(%x: memref<25088x1x64x16xf32>, %k: memref<64x64x16xf32>, %y: memref<25088x1x64x16xf32>) {
  kron.fused ins(%x, %k : memref<25088x1x64x16xf32>, memref<64x64x16xf32>) outs(%y : memref<25088x1x64x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x64x16xf32>, %tk: tensor<64x64x16xf32>, %ty: tensor<25088x1x64x16xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x64x16xf32>) factor(%tk [q, p, 3] : tensor<64x64x16xf32>)
         outs(%ty : tensor<25088x1x64x16xf32>) -> tensor<25088x1x64x16xf32>
    kron.yield %0 : tensor<25088x1x64x16xf32>
  }
  return
}

// Verify f16 by warpgroups: pairs of two k are operand A, and the factor is put in
// another order only.
// CHECK-LABEL: llvm.func @groups_f16_0(
// CHECK:         wgmma.fence.sync.aligned
// CHECK-COUNT-1: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-SAME:    wgmma.commit_group.sync.aligned
// CHECK:         wgmma.wait_group.sync.aligned 0;
func.func @groups_f16(%x: memref<25088x4x64x4xf16>, %k: memref<4x256x64x4xf16>, %y: memref<25088x4x256x4xf16>) {
  kron.fused ins(%x, %k : memref<25088x4x64x4xf16>, memref<4x256x64x4xf16>) outs(%y : memref<25088x4x256x4xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x4x64x4xf16>, %tk: tensor<4x256x64x4xf16>, %ty: tensor<25088x4x256x4xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x4x64x4xf16>) factor(%tk [1, q, p, 3] : tensor<4x256x64x4xf16>)
         outs(%ty : tensor<25088x4x256x4xf16>) -> tensor<25088x4x256x4xf16>
    kron.yield %0 : tensor<25088x4x256x4xf16>
  }
  return
}

// Verify that matrices of which there are no two tiles for each SM are tiles of
// warpgroups, too, where they fill nearly all SMs.
// CHECK-LABEL: llvm.func @one_round_f32_0(
// CHECK:         wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @one_round_f32(%x: memref<1568x1024xf32>, %k: memref<1024x1024xf32>, %y: memref<1568x1024xf32>) {
  kron.fused ins(%x, %k : memref<1568x1024xf32>, memref<1024x1024xf32>) outs(%y : memref<1568x1024xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<1568x1024xf32>, %tk: tensor<1024x1024xf32>, %ty: tensor<1568x1024xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<1568x1024xf32>) factor(%tk [q, p] : tensor<1024x1024xf32>)
         outs(%ty : tensor<1568x1024xf32>) -> tensor<1568x1024xf32>
    kron.yield %0 : tensor<1568x1024xf32>
  }
  return
}

// Verify that data whose rows are innermost are prepared by single values, as a factor
// is, and multiplied by the factor as data: a large matrix in f32.
// CHECK-LABEL: llvm.func @exchanged_f32_0(
// CHECK-COUNT-8: llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK:         cvt.rn.bf16x2.f32
// CHECK:         fence.proxy.async
// CHECK:         wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK:         st.global.cs.v4.b32
func.func @exchanged_f32(%x: memref<1024x25088xf32>, %k: memref<1024x1024xf32>, %y: memref<1024x25088xf32>) {
  kron.fused ins(%x, %k : memref<1024x25088xf32>, memref<1024x1024xf32>) outs(%y : memref<1024x25088xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<1024x25088xf32>, %tk: tensor<1024x1024xf32>, %ty: tensor<1024x25088xf32>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<1024x25088xf32>) factor(%tk [q, p] : tensor<1024x1024xf32>)
         outs(%ty : tensor<1024x25088xf32>) -> tensor<1024x25088xf32>
    kron.yield %0 : tensor<1024x25088xf32>
  }
  return
}

// Verify that the f16 values of a factor that is kept are put in pairs once, by two PRMT for
// each two words, such that only those of the data are left between products; and that a
// warp group knows its number as one of all its threads.
// CHECK-LABEL: llvm.func @pairs_f16_0(
// CHECK:         nvvm.shfl.sync idx
// CHECK:         nvvm.cp.async.wait.group 2
// CHECK-NEXT:    nvvm.barrier0
// CHECK-COUNT-8: prmt.b32
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK-COUNT-64: prmt.b32
// CHECK-NOT:     prmt.b32
// CHECK:         llvm.return
func.func @pairs_f16(%x: memref<25088x1x256x4xf16>, %k: memref<256x256x4xf16>, %y: memref<25088x1x256x4xf16>) {
  kron.fused ins(%x, %k : memref<25088x1x256x4xf16>, memref<256x256x4xf16>) outs(%y : memref<25088x1x256x4xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x256x4xf16>, %tk: tensor<256x256x4xf16>, %ty: tensor<25088x1x256x4xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x256x4xf16>) factor(%tk [q, p, 3] : tensor<256x256x4xf16>)
         outs(%ty : tensor<25088x1x256x4xf16>) -> tensor<25088x1x256x4xf16>
    kron.yield %0 : tensor<25088x1x256x4xf16>
  }
  return
}
