// RUN: kron-opt %s --split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that many small groups with the batch first are left to multiply-adds: a thread
// loads the weights of 16 bytes of results once, and the columns of their group for four rows
// at a time, of which the next ones are on their way meanwhile. Nothing goes through shared
// memory. Where arrays turn out not to be aligned, tiles of a group take them.
// CHECK-LABEL: func.func @halves(
// CHECK:         %[[LOW:.*]] = arith.andi %{{.*}}, %c15
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq, %[[LOW]], %c0
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK:           llvm.call @kronRtCudaLaunch(
// CHECK:         } else {
// CHECK:           llvm.call @kronRtCudaLaunch(
// CHECK-LABEL: llvm.func @halves_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 2
// CHECK-COUNT-12: llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> vector<8xf16>
// CHECK:         scf.for
// CHECK-COUNT-4: llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> vector<8xf16>
// CHECK-COUNT-64: llvm.intr.fma
// CHECK:         st.global.cs.v4.b32
// CHECK-COUNT-192: llvm.intr.fma
// CHECK:         st.global.cs.v4.b32
// CHECK-NOT:     llvm.intr.fma
// CHECK-LABEL: llvm.func @halves_1(
// CHECK:         mma.sync
func.func @halves(%x: memref<25088x512x8xf16>, %k: memref<512x56x8xf16>, %y: memref<25088x512x56xf16>) {
  kron.fused ins(%x, %k : memref<25088x512x8xf16>, memref<512x56x8xf16>) outs(%y : memref<25088x512x56xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x512x8xf16>, %tk: tensor<512x56x8xf16>, %ty: tensor<25088x512x56xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x512x8xf16>) factor(%tk [1, q, p] : tensor<512x56x8xf16>)
         outs(%ty : tensor<25088x512x56xf16>) -> tensor<25088x512x56xf16>
    kron.yield %0 : tensor<25088x512x56xf16>
  }
  return
}

// -----

// Verify that results of one thread may belong to several groups, of an unknown number of
// rows, and that weights may lie in any order.
// CHECK-LABEL: llvm.func @parts_0(
// CHECK-COUNT-4: llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> f32
// CHECK:         scf.for
// CHECK-COUNT-3: arith.select
// CHECK-COUNT-4: llvm.intr.fma
// CHECK:         st.global.cs.v4.f32
func.func @parts(%x: memref<?x4096x1xf32>, %k: memref<4096x1x7xf32>, %y: memref<?x4096x7xf32>) {
  kron.fused ins(%x, %k : memref<?x4096x1xf32>, memref<4096x1x7xf32>) outs(%y : memref<?x4096x7xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x4096x1xf32>, %tk: tensor<4096x1x7xf32>, %ty: tensor<?x4096x7xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x4096x1xf32>) factor(%tk [1, p, q] : tensor<4096x1x7xf32>)
         outs(%ty : tensor<?x4096x7xf32>) -> tensor<?x4096x7xf32>
    kron.yield %0 : tensor<?x4096x7xf32>
  }
  return
}

// -----

// Verify that a K of 12 or 16 f16 values goes to matrix instructions whose operands come from
// memory as they are: a warp takes four tiles of 16 rows and all results of a group at a time.
// CHECK-LABEL: llvm.func @deeper_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 128>
// CHECK-COUNT-12: llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> vector<2xi32>
// CHECK:         scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> vector<2xi32>
// CHECK-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-COUNT-2: st.global.cs.v4.b32
// CHECK-COUNT-12: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-COUNT-2: st.global.cs.v4.b32
// CHECK-NOT:     mma.sync
// CHECK-LABEL: llvm.func @deeper_1(
func.func @deeper(%x: memref<25088x64x16xbf16>, %k: memref<64x24x16xbf16>, %y: memref<25088x64x24xbf16>) {
  kron.fused ins(%x, %k : memref<25088x64x16xbf16>, memref<64x24x16xbf16>) outs(%y : memref<25088x64x24xbf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x64x16xbf16>, %tk: tensor<64x24x16xbf16>, %ty: tensor<25088x64x24xbf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x64x16xbf16>) factor(%tk [1, q, p] : tensor<64x24x16xbf16>)
         outs(%ty : tensor<25088x64x24xbf16>) -> tensor<25088x64x24xbf16>
    kron.yield %0 : tensor<25088x64x24xbf16>
  }
  return
}

// -----

// Verify that few rows, groups whose results fill a tile unless there are many, rows that are
// no multiples of 16 bytes, and a sum that is added to are left to tiles of a group.
// CHECK-LABEL: llvm.func @few_0(
// CHECK:         mma.sync
func.func @few(%x: memref<1000x512x8xf16>, %k: memref<512x56x8xf16>, %y: memref<1000x512x56xf16>) {
  kron.fused ins(%x, %k : memref<1000x512x8xf16>, memref<512x56x8xf16>) outs(%y : memref<1000x512x56xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<1000x512x8xf16>, %tk: tensor<512x56x8xf16>, %ty: tensor<1000x512x56xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<1000x512x8xf16>) factor(%tk [1, q, p] : tensor<512x56x8xf16>)
         outs(%ty : tensor<1000x512x56xf16>) -> tensor<1000x512x56xf16>
    kron.yield %0 : tensor<1000x512x56xf16>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @full_0(
// CHECK:         mma.sync
func.func @full(%x: memref<25088x64x8xf16>, %k: memref<64x64x8xf16>, %y: memref<25088x64x64xf16>) {
  kron.fused ins(%x, %k : memref<25088x64x8xf16>, memref<64x64x8xf16>) outs(%y : memref<25088x64x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x64x8xf16>, %tk: tensor<64x64x8xf16>, %ty: tensor<25088x64x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x64x8xf16>) factor(%tk [1, q, p] : tensor<64x64x8xf16>)
         outs(%ty : tensor<25088x64x64xf16>) -> tensor<25088x64x64xf16>
    kron.yield %0 : tensor<25088x64x64xf16>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @ragged_0(
// CHECK:         mma.sync
func.func @ragged(%x: memref<25088x511x8xf16>, %k: memref<511x7x8xf16>, %y: memref<25088x511x7xf16>) {
  kron.fused ins(%x, %k : memref<25088x511x8xf16>, memref<511x7x8xf16>) outs(%y : memref<25088x511x7xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x511x8xf16>, %tk: tensor<511x7x8xf16>, %ty: tensor<25088x511x7xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x511x8xf16>) factor(%tk [1, q, p] : tensor<511x7x8xf16>)
         outs(%ty : tensor<25088x511x7xf16>) -> tensor<25088x511x7xf16>
    kron.yield %0 : tensor<25088x511x7xf16>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @added_0(
// CHECK:         mma.sync
func.func @added(%x: memref<25088x512x8xf16>, %k: memref<512x56x8xf16>, %y: memref<25088x512x56xf16>) {
  kron.fused ins(%x, %k : memref<25088x512x8xf16>, memref<512x56x8xf16>) outs(%y : memref<25088x512x56xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x512x8xf16>, %tk: tensor<512x56x8xf16>, %ty: tensor<25088x512x56xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x512x8xf16>) factor(%tk [1, q, p] : tensor<512x56x8xf16>)
         outs(%ty : tensor<25088x512x56xf16>) beta(1.0 : f32) -> tensor<25088x512x56xf16>
    kron.yield %0 : tensor<25088x512x56xf16>
  }
  return
}
