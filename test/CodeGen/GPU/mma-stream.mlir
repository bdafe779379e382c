// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that a tile of 128 KiB gets its input in pieces: 2 KB for each of 16 warps,
// three on their way, with whole lines where a tile has 32 bytes of each; a warp waits
// for its own pieces only, the first two steps have no barrier between them (they stay
// within one position of axis 1), and all warps meet before and after the last one.

// CHECK-LABEL: llvm.func @stream_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 512>
// CHECK-NOT:     nvvm.barrier0
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             nvvm.cp.async.wait.group 2
// CHECK:             nvvm.bar.warp.sync
// CHECK-COUNT-24:    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:             llvm.store
// CHECK:             nvvm.bar.warp.sync
// CHECK:             cp.async.cg.shared.global.L2::128B
// CHECK:             nvvm.cp.async.commit.group
// CHECK-NOT:       nvvm.barrier0
// CHECK:           scf.for
// CHECK-COUNT-24:    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:           nvvm.barrier0
// CHECK:           scf.for
// CHECK-COUNT-24:    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:             st.global.cs.v2.f32
// CHECK:           nvvm.barrier0
// CHECK-NOT:     nvvm.barrier0
func.func @stream(%x: memref<4x16x16x16x4096xf32>, %f: memref<16x16xf32>, %y: memref<4x16x16x16x4096xf32>) {
  kron.fused ins(%x, %f : memref<4x16x16x16x4096xf32>, memref<16x16xf32>) outs(%y : memref<4x16x16x16x4096xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<4x16x16x16x4096xf32>, %tf: tensor<16x16xf32>, %out: tensor<4x16x16x16x4096xf32>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<4x16x16x16x4096xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<4x16x16x16x4096xf32>) -> tensor<4x16x16x16x4096xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<4x16x16x16x4096xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<4x16x16x16x4096xf32>) -> tensor<4x16x16x16x4096xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<4x16x16x16x4096xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<4x16x16x16x4096xf32>) -> tensor<4x16x16x16x4096xf32>
    kron.yield %3 : tensor<4x16x16x16x4096xf32>
  }
  return
}

// -----

// Verify that two CTAs share a row of 256 KiB: no step but the last one reads what the
// other one has, between barriers of both.

// CHECK-LABEL: func.func @cluster
// CHECK:         %[[CLUSTER:.*]] = arith.constant 2 : i32
// CHECK:         llvm.call @kronRtCudaLaunch({{.*}}, %[[CLUSTER]],
// CHECK:       llvm.func @cluster_0
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 2>
// CHECK:         %[[OTHER:.*]] = nvvm.mapa {{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NOT:     !llvm.ptr<7>
// CHECK:         barrier.cluster.arrive.release.aligned;
// CHECK:         barrier.cluster.wait.acquire.aligned;
// CHECK:         llvm.load {{.*}} : !llvm.ptr<7> -> f64
// CHECK:         st.global.cs.v2.f64
// CHECK:         barrier.cluster.arrive.release.aligned;
// CHECK:         barrier.cluster.wait.acquire.aligned;
func.func @cluster(%x: memref<1024x32x32x32xf64>, %f: memref<32x32xf64>, %y: memref<1024x32x32x32xf64>) {
  kron.fused ins(%x, %f : memref<1024x32x32x32xf64>, memref<32x32xf64>) outs(%y : memref<1024x32x32x32xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<1024x32x32x32xf64>, %tf: tensor<32x32xf64>, %out: tensor<1024x32x32x32xf64>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<1024x32x32x32xf64>) factor(%tf [p, q] : tensor<32x32xf64>)
         outs(%out : tensor<1024x32x32x32xf64>) -> tensor<1024x32x32x32xf64>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<1024x32x32x32xf64>) factor(%tf [p, q] : tensor<32x32xf64>)
         outs(%out : tensor<1024x32x32x32xf64>) -> tensor<1024x32x32x32xf64>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<1024x32x32x32xf64>) factor(%tf [p, q] : tensor<32x32xf64>)
         outs(%out : tensor<1024x32x32x32xf64>) -> tensor<1024x32x32x32xf64>
    kron.yield %3 : tensor<1024x32x32x32xf64>
  }
  return
}

// -----

// Verify that f16 whose innermost size is odd is copied element by element, loaded
// and stored, since no asynchronous copy is that small.

// CHECK-LABEL: llvm.func @small_copies_0
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         %[[X:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> f16
// CHECK:         llvm.store {{.*}} : f16, !llvm.ptr<3>
func.func @small_copies(%x: memref<17x80x64x3xf16>, %f: memref<7x80xf16>, %g: memref<64x64xf16>, %y: memref<17x7x64x3xf16>) {
  kron.fused ins(%x, %f, %g : memref<17x80x64x3xf16>, memref<7x80xf16>, memref<64x64xf16>) outs(%y : memref<17x7x64x3xf16>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%xt: tensor<17x80x64x3xf16>, %ft: tensor<7x80xf16>, %gt: tensor<64x64xf16>, %init: tensor<17x7x64x3xf16>):
    %e = tensor.empty() : tensor<17x7x64x3xf32>
    %a = kron.mode_product axis(1) ins(%xt : tensor<17x80x64x3xf16>) factor(%ft [q, p] : tensor<7x80xf16>)
         outs(%e : tensor<17x7x64x3xf32>) -> tensor<17x7x64x3xf32>
    %b = kron.mode_product axis(2) ins(%a : tensor<17x7x64x3xf32>) factor(%gt [q, p] : tensor<64x64xf16>)
         outs(%init : tensor<17x7x64x3xf16>) -> tensor<17x7x64x3xf16>
    kron.yield %b : tensor<17x7x64x3xf16>
  }
  return
}
