// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify f16 with 12 inner positions, batch first: 48 bytes that lie side by side are a
// chunk of two k, which is copied and read 16 bytes at a time; pairs of threads exchange 16
// bytes of results, so that stores fill sectors.
// CHECK-LABEL: llvm.func @inner_12_0(
// CHECK:         cp.async.cg.shared.global{{.*}} [$1], 16
// CHECK-COUNT-6: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK:         prmt.b32
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:         nvvm.shfl.sync bfly
// CHECK:         st.global.cs.v4.b32
func.func @inner_12(%x: memref<25088x1x40x12xf16>, %k: memref<24x40x12xf16>, %y: memref<25088x1x24x12xf16>) {
  kron.fused ins(%x, %k : memref<25088x1x40x12xf16>, memref<24x40x12xf16>) outs(%y : memref<25088x1x24x12xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x40x12xf16>, %tk: tensor<24x40x12xf16>, %ty: tensor<25088x1x24x12xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x40x12xf16>) factor(%tk [q, p, 3] : tensor<24x40x12xf16>)
         outs(%ty : tensor<25088x1x24x12xf16>) -> tensor<25088x1x24x12xf16>
    kron.yield %0 : tensor<25088x1x24x12xf16>
  }
  return
}

// Verify that warpgroups take half of the 8 k that a chunk of 3 inner positions has at a time.
// CHECK-LABEL: llvm.func @inner_3_0(
// CHECK:         llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xi32>
// CHECK:         wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
func.func @inner_3(%x: memref<25088x1x128x3xf16>, %k: memref<128x128x3xf16>, %y: memref<25088x1x128x3xf16>) {
  kron.fused ins(%x, %k : memref<25088x1x128x3xf16>, memref<128x128x3xf16>) outs(%y : memref<25088x1x128x3xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x128x3xf16>, %tk: tensor<128x128x3xf16>, %ty: tensor<25088x1x128x3xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x128x3xf16>) factor(%tk [q, p, 3] : tensor<128x128x3xf16>)
         outs(%ty : tensor<25088x1x128x3xf16>) -> tensor<25088x1x128x3xf16>
    kron.yield %0 : tensor<25088x1x128x3xf16>
  }
  return
}

// Verify that rows of 8 bits have chunks of their own.
// CHECK-LABEL: llvm.func @inner_8_bits_0(
// CHECK-NOT:     nvvm.shfl.sync bfly
// CHECK:         mma.sync.aligned.m16n8k16
func.func @inner_8_bits(%x: memref<25088x1x40x12xf8E4M3FN>, %k: memref<24x40x12xf16>, %y: memref<25088x1x24x12xf16>) {
  kron.fused ins(%x, %k : memref<25088x1x40x12xf8E4M3FN>, memref<24x40x12xf16>) outs(%y : memref<25088x1x24x12xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x40x12xf8E4M3FN>, %tk: tensor<24x40x12xf16>, %ty: tensor<25088x1x24x12xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x40x12xf8E4M3FN>) factor(%tk [q, p, 3] : tensor<24x40x12xf16>)
         outs(%ty : tensor<25088x1x24x12xf16>) -> tensor<25088x1x24x12xf16>
    kron.yield %0 : tensor<25088x1x24x12xf16>
  }
  return
}

// Verify that results of 6 inner positions of f64 go through shared memory, eight rows of 8 x 6 sums (and one place
// more) at a time, and that single elements are then stored, which are neighbours.
// CHECK-LABEL: llvm.func @inner_6_0(
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:         nvvm.bar.warp.sync
// CHECK-COUNT-12: llvm.store {{.*}} : f64, !llvm.ptr<3>
// CHECK:         nvvm.bar.warp.sync
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<3> -> f64
// CHECK-COUNT-4: llvm.store {{.*}} : f64, !llvm.ptr<1>
func.func @inner_6(%x: memref<997x25x11x6xf64>, %k: memref<25x256x11x6xf64>, %y: memref<997x25x256x6xf64>) {
  kron.fused ins(%x, %k : memref<997x25x11x6xf64>, memref<25x256x11x6xf64>) outs(%y : memref<997x25x256x6xf64>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, keeps_factor = 1>} {
  ^bb0(%tx: tensor<997x25x11x6xf64>, %tk: tensor<25x256x11x6xf64>, %ty: tensor<997x25x256x6xf64>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<997x25x11x6xf64>) factor(%tk [1, q, p, 3] : tensor<25x256x11x6xf64>)
         outs(%ty : tensor<997x25x256x6xf64>) -> tensor<997x25x256x6xf64>
    kron.yield %0 : tensor<997x25x256x6xf64>
  }
  return
}
