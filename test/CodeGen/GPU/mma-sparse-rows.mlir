// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify skinny M, batch last: the factor is copied 16 bytes at a time along its own
// innermost axis, the data one by one; K is divided among eight warps, and the first
// one adds the sums of the others (16 times 4 from each) and stores.
// CHECK-LABEL: llvm.func @few_rows_f16_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1
// CHECK:         cp.async.cg.shared.global.L2::128B [$0], [$1], 16
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-COUNT-16: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK-COUNT-112: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT:     llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:         llvm.return
func.func @few_rows_f16(%x: memref<128x16x7xf16>, %k: memref<64x128x16xf16>, %y: memref<64x16x7xf16>) {
  kron.fused ins(%x, %k : memref<128x16x7xf16>, memref<64x128x16xf16>) outs(%y : memref<64x16x7xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<128x16x7xf16>, %tk: tensor<64x128x16xf16>, %ty: tensor<64x16x7xf16>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<128x16x7xf16>) factor(%tk [q, p, 1] : tensor<64x128x16xf16>)
         outs(%ty : tensor<64x16x7xf16>) -> tensor<64x16x7xf16>
    kron.yield %0 : tensor<64x16x7xf16>
  }
  return
}

// -----

// Verify that warps share out the K of rows that are innermost, too, where full
// tiles would leave SMs idle: eight, each of which gives its sums of four chunks.
// CHECK-LABEL: llvm.func @idle_f32_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK-COUNT-28: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:         llvm.return
func.func @idle_f32(%x: memref<256x2x196xf32>, %k: memref<64x256x2xf32>, %y: memref<64x2x196xf32>) {
  kron.fused ins(%x, %k : memref<256x2x196xf32>, memref<64x256x2xf32>) outs(%y : memref<64x2x196xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<256x2x196xf32>, %tk: tensor<64x256x2xf32>, %ty: tensor<64x2x196xf32>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<256x2x196xf32>) factor(%tk [q, p, 1] : tensor<64x256x2xf32>)
         outs(%ty : tensor<64x2x196xf32>) -> tensor<64x2x196xf32>
    kron.yield %0 : tensor<64x2x196xf32>
  }
  return
}

// -----

// Verify that an unknown number of rows has a kernel of its own for up to 15, chosen
// when the function runs; it reads the factor, not the rows, 16 bytes at a time.
// CHECK-LABEL: func.func @some_rows(
// CHECK:         %[[FEW:.*]] = arith.constant 15 : i64
// CHECK:         arith.cmpi slt, %[[FEW]], %{{.*}} : i64
// CHECK:         scf.if
// CHECK-LABEL: llvm.func @some_rows_0(
// CHECK:         nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg
// CHECK-LABEL: llvm.func @some_rows_1(
// CHECK:         cp.async.cg.shared.global.L2::128B [$0], [$1], 16
func.func @some_rows(%x: memref<128x16x?xf32>, %k: memref<64x128x16xf32>, %y: memref<64x16x?xf32>) {
  kron.fused ins(%x, %k : memref<128x16x?xf32>, memref<64x128x16xf32>) outs(%y : memref<64x16x?xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<128x16x?xf32>, %tk: tensor<64x128x16xf32>, %ty: tensor<64x16x?xf32>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<128x16x?xf32>) factor(%tk [q, p, 1] : tensor<64x128x16xf32>)
         outs(%ty : tensor<64x16x?xf32>) -> tensor<64x16x?xf32>
    kron.yield %0 : tensor<64x16x?xf32>
  }
  return
}

// -----

// Verify that rows of f16, which would be copied one by one, are left to full tiles.
// CHECK-LABEL: llvm.func @some_halves_0(
// CHECK-NOT:   llvm.func @some_halves_1(
func.func @some_halves(%x: memref<128x16x?xf16>, %k: memref<64x128x16xf16>, %y: memref<64x16x?xf16>) {
  kron.fused ins(%x, %k : memref<128x16x?xf16>, memref<64x128x16xf16>) outs(%y : memref<64x16x?xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<128x16x?xf16>, %tk: tensor<64x128x16xf16>, %ty: tensor<64x16x?xf16>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<128x16x?xf16>) factor(%tk [q, p, 1] : tensor<64x128x16xf16>)
         outs(%ty : tensor<64x16x?xf16>) -> tensor<64x16x?xf16>
    kron.yield %0 : tensor<64x16x?xf16>
  }
  return
}

// -----

// Verify that results of rows that start anywhere are left in shared memory, chunks of neighbouring rows of two results of
// both halves, and stored one beside the other, four at a time of a tile of 64 rows x 8 results.
// CHECK-LABEL: llvm.func @staged_rows_f32_0(
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:         nvvm.bar.warp.sync
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         nvvm.bar.warp.sync
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c512{{.*}} step %c128
// CHECK-COUNT-4:   llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
func.func @staged_rows_f32(%x: memref<2x64x101xf32>, %k: memref<2x40x64xf32>, %y: memref<2x40x101xf32>) {
  kron.fused ins(%x, %k : memref<2x64x101xf32>, memref<2x40x64xf32>) outs(%y : memref<2x40x101xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 1, result_warps = 2, k_step = 16, shared_store = 1>} {
  ^bb0(%tx: tensor<2x64x101xf32>, %tk: tensor<2x40x64xf32>, %ty: tensor<2x40x101xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x64x101xf32>) factor(%tk [0, q, p] : tensor<2x40x64xf32>)
         outs(%ty : tensor<2x40x101xf32>) -> tensor<2x40x101xf32>
    kron.yield %0 : tensor<2x40x101xf32>
  }
  return
}

// -----

// Verify that 16-bit data of odd rows come by 16 bytes from the multiple of these in front of a segment on, element by
// element where the array is not aligned, and that chunks of 8 rows are made of them once they are there.
// CHECK-LABEL: llvm.func @whole_rows_f16_0(
// CHECK:         scf.if
// CHECK:           arith.andi %{{.*}}, %c15{{.*}} : i32
// CHECK:           nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg, %{{.*}}
// CHECK:         } else {
// CHECK:           llvm.load {{.*}} : !llvm.ptr<1> -> f16
// CHECK:         nvvm.cp.async.wait.group
// CHECK:         nvvm.barrier
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> i16
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @whole_rows_f16(%x: memref<2x64x131xf16>, %k: memref<2x40x64xf16>, %y: memref<2x40x131xf16>) {
  kron.fused ins(%x, %k : memref<2x64x131xf16>, memref<2x40x64xf16>) outs(%y : memref<2x40x131xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = 2, result_tiles = 2, result_warps = 2, k_step = 32, whole_copies = 1>} {
  ^bb0(%tx: tensor<2x64x131xf16>, %tk: tensor<2x40x64xf16>, %ty: tensor<2x40x131xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<2x64x131xf16>) factor(%tk [0, q, p] : tensor<2x40x64xf16>)
         outs(%ty : tensor<2x40x131xf16>) -> tensor<2x40x131xf16>
    kron.yield %0 : tensor<2x40x131xf16>
  }
  return
}
