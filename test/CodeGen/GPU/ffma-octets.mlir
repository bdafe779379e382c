// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s
// RUN: sed "s/kernel = dmma/kernel = ffma/" %s | kron-opt --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 --convert-tile-to-nvvm -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=OLD

// Verify that f64 factors of 8 x 8 are applied by matrix instructions, the last
// one to global memory: rows of 512 bytes are in a warp's part of the tile, so
// that warps need not wait for each other. Older chips multiply and add.

// CHECK-LABEL: llvm.func @rows_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK:         nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK-NOT:     nvvm.barrier0
// CHECK-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK-NOT:     st.global
// CHECK:         nvvm.bar.warp.sync
// CHECK-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK-COUNT-8: st.global.cs.v2.f64
// CHECK-NOT:     mma.sync
// CHECK-LABEL: llvm.func @rows_1
// OLD-LABEL:   llvm.func @rows_0
// OLD-NOT:       mma.sync
func.func @rows(%x: memref<?x8x8xf64>, %a: memref<8x8xf64>, %b: memref<8x8xf64>, %y: memref<?x8x8xf64>) {
  kron.fused ins(%x, %a, %b : memref<?x8x8xf64>, memref<8x8xf64>, memref<8x8xf64>) outs(%y : memref<?x8x8xf64>) attributes {plan = #kron.gpu_plan<kernel = dmma>} {
  ^bb0(%tx: tensor<?x8x8xf64>, %fa: tensor<8x8xf64>, %fb: tensor<8x8xf64>, %out: tensor<?x8x8xf64>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x8x8xf64>
    %e = tensor.empty(%m) : tensor<?x8x8xf64>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x8x8xf64>) factor(%fb [p, q] : tensor<8x8xf64>)
         outs(%e : tensor<?x8x8xf64>) -> tensor<?x8x8xf64>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x8x8xf64>) factor(%fa [p, q] : tensor<8x8xf64>)
         outs(%out : tensor<?x8x8xf64>) -> tensor<?x8x8xf64>
    kron.yield %2 : tensor<?x8x8xf64>
  }
  return
}

// -----

// Verify that two CTAs share a row of 256 KB: steps on the inner axes wait for a
// warp, or for the warps of one position of the outermost axis, the last one for
// the other CTA, from whose shared memory it reads. What it has read may be
// overwritten once both have read.

// CHECK-LABEL: func.func @shared
// CHECK:         %[[PAIR:.*]] = arith.constant 2 : i32
// CHECK:         llvm.call @kronRtCudaLaunch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[PAIR]],
// CHECK-LABEL: llvm.func @shared_0
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 2>
// CHECK-SAME:    nvvm.maxntid = array<i32: 512>
// CHECK-COUNT-24: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:         nvvm.barrier {{.*}} number_of_threads
// CHECK-COUNT-8: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:         barrier.cluster.arrive
// CHECK:         barrier.cluster.wait
// CHECK-COUNT-4: ld.shared::cluster.v2.f64
// CHECK-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK-COUNT-4: ld.shared::cluster.v2.f64
// CHECK:         barrier.cluster.arrive
// CHECK-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:         barrier.cluster.wait
// CHECK:         nvvm.cp.async.shared.global
// Older chips have no clusters.
func.func @shared(%x: memref<1024x8x8x8x8x8xf64>, %f: memref<8x8xf64>, %y: memref<1024x8x8x8x8x8xf64>) {
  // expected-error @below {{a tile does not fit shared memory}}
  kron.fused ins(%x, %f : memref<1024x8x8x8x8x8xf64>, memref<8x8xf64>) outs(%y : memref<1024x8x8x8x8x8xf64>) attributes {plan = #kron.gpu_plan<kernel = dmma>} {
  ^bb0(%tx: tensor<1024x8x8x8x8x8xf64>, %tf: tensor<8x8xf64>, %out: tensor<1024x8x8x8x8x8xf64>):
    %e = tensor.empty() : tensor<1024x8x8x8x8x8xf64>
    %1 = kron.mode_product axis(5) ins(%tx : tensor<1024x8x8x8x8x8xf64>) factor(%tf [p, q] : tensor<8x8xf64>)
         outs(%e : tensor<1024x8x8x8x8x8xf64>) -> tensor<1024x8x8x8x8x8xf64>
    %2 = kron.mode_product axis(4) ins(%1 : tensor<1024x8x8x8x8x8xf64>) factor(%tf [p, q] : tensor<8x8xf64>)
         outs(%e : tensor<1024x8x8x8x8x8xf64>) -> tensor<1024x8x8x8x8x8xf64>
    %3 = kron.mode_product axis(3) ins(%2 : tensor<1024x8x8x8x8x8xf64>) factor(%tf [p, q] : tensor<8x8xf64>)
         outs(%e : tensor<1024x8x8x8x8x8xf64>) -> tensor<1024x8x8x8x8x8xf64>
    %4 = kron.mode_product axis(2) ins(%3 : tensor<1024x8x8x8x8x8xf64>) factor(%tf [p, q] : tensor<8x8xf64>)
         outs(%e : tensor<1024x8x8x8x8x8xf64>) -> tensor<1024x8x8x8x8x8xf64>
    %5 = kron.mode_product axis(1) ins(%4 : tensor<1024x8x8x8x8x8xf64>) factor(%tf [p, q] : tensor<8x8xf64>)
         outs(%out : tensor<1024x8x8x8x8x8xf64>) -> tensor<1024x8x8x8x8x8xf64>
    kron.yield %5 : tensor<1024x8x8x8x8x8xf64>
  }
  return
}
