// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 --convert-tile-to-nvvm | FileCheck %s --check-prefixes=CHECK,SM80

// Verify that 16^3 becomes one kernel of 2 CTAs of 256 threads per SM; that
// the two innermost factors are chained (2 k tiles x 2 column tiles x 3 products
// each, in registers), with one check for infinities and one barrier before the
// last factor, whose results are stored 16 bytes at a time.

// CHECK-LABEL: func.func @chain
// CHECK:         %[[BLOCK:.*]] = arith.constant 256 : i32
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @chain_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK-SAME:    nvvm.minctasm = 2 : i32
// CHECK:         nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group
// CHECK:         nvvm.barrier0
// CHECK-COUNT-24: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT:     mma.sync
// CHECK:         nvvm.vote.sync any
// CHECK:         nvvm.bar.warp.sync
// CHECK:         nvvm.barrier0
// CHECK-COUNT-24: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT:     mma.sync
// CHECK:         nvvm.vote.sync any
// CHECK:         st.global.cs.v4.f32
func.func @chain(%x: memref<?x16x16x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16x16x16xf32>) {
  kron.fused ins(%x, %f : memref<?x16x16x16xf32>, memref<16x16xf32>) outs(%y : memref<?x16x16x16xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<?x16x16x16xf32>, %tf: tensor<16x16xf32>, %out: tensor<?x16x16x16xf32>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<?x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<?x16x16x16xf32>) -> tensor<?x16x16x16xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<?x16x16x16xf32>) -> tensor<?x16x16x16xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<?x16x16x16xf32>) -> tensor<?x16x16x16xf32>
    kron.yield %3 : tensor<?x16x16x16xf32>
  }
  return
}

// -----

// Verify that f64 takes m16n8k8 where the chip has it, otherwise four m8n8k4, and
// no check for infinities.

// CHECK-LABEL: llvm.func @double_0
// CHECK-NOT:     nvvm.vote
// SM90:          mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64
// SM90-NOT:      m8n8k4
// SM80-COUNT-4:  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// SM80-NOT:      m16n8k8
// CHECK:         st.global.cs.v2.f64
func.func @double(%x: memref<8x16x1024xf64>, %f: memref<16x16xf64>, %y: memref<8x16x1024xf64>) {
  kron.fused ins(%x, %f : memref<8x16x1024xf64>, memref<16x16xf64>) outs(%y : memref<8x16x1024xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<8x16x1024xf64>, %tf: tensor<16x16xf64>, %out: tensor<8x16x1024xf64>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x16x1024xf64>) factor(%tf [q, p] : tensor<16x16xf64>)
         outs(%out : tensor<8x16x1024xf64>) -> tensor<8x16x1024xf64>
    kron.yield %1 : tensor<8x16x1024xf64>
  }
  return
}

// -----

// Verify that precision tf32 takes one product per k tile and column tile (2 x 4)
// and no check for infinities.

// CHECK-LABEL: llvm.func @tf32_0
// CHECK-NOT:     nvvm.vote
// CHECK-COUNT-8: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT:     mma.sync
func.func @tf32(%x: memref<8x16x1024xf32>, %f: memref<16x16xf32>, %y: memref<8x16x1024xf32>) {
  kron.fused ins(%x, %f : memref<8x16x1024xf32>, memref<16x16xf32>) outs(%y : memref<8x16x1024xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<8x16x1024xf32>, %tf: tensor<16x16xf32>, %out: tensor<8x16x1024xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x16x1024xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<8x16x1024xf32>) {precision = #kron.precision<tf32>} -> tensor<8x16x1024xf32>
    kron.yield %1 : tensor<8x16x1024xf32>
  }
  return
}

// -----

// Verify that f16 is read as it is and extended, computed with in f32 between
// factors, and rounded once at the end.

// CHECK-LABEL: llvm.func @half_0
// CHECK:         llvm.load {{.*}} -> vector<2xf16>
// CHECK:         llvm.fpext {{.*}} : f16 to f32
// CHECK-NOT:     llvm.fptrunc
// CHECK:         nvvm.barrier0
// CHECK:         llvm.load {{.*}} -> vector<4xf32>
// CHECK:         llvm.fptrunc {{.*}} : f32 to f16
// CHECK:         st.global.cs.v4.b32
func.func @half(%x: memref<?x16x16x16xf16>, %f: memref<16x16xf16>, %y: memref<?x16x16x16xf16>) {
  kron.fused ins(%x, %f : memref<?x16x16x16xf16>, memref<16x16xf16>) outs(%y : memref<?x16x16x16xf16>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<?x16x16x16xf16>, %tf: tensor<16x16xf16>, %out: tensor<?x16x16x16xf16>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x16x16x16xf16>
    %e = tensor.empty(%m) : tensor<?x16x16x16xf32>
    %1 = kron.mode_product axis(3) ins(%tx : tensor<?x16x16x16xf16>) factor(%tf [p, q] : tensor<16x16xf16>)
         outs(%e : tensor<?x16x16x16xf32>) -> tensor<?x16x16x16xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf16>)
         outs(%e : tensor<?x16x16x16xf32>) -> tensor<?x16x16x16xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf16>)
         outs(%out : tensor<?x16x16x16xf16>) -> tensor<?x16x16x16xf16>
    kron.yield %3 : tensor<?x16x16x16xf16>
  }
  return
}

// -----

// Verify that a factor of odd sizes is filled up with zeros by selections and that
// what does not exist is not stored; data are copied element by element.

// CHECK-LABEL: llvm.func @odd_0
// CHECK:         nvvm.cp.async.shared.global {{.*}} 4, cache = ca
// CHECK:         arith.select
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:         st.global.cs.f32
func.func @odd(%x: memref<?x31x13xf32>, %f: memref<31x27xf32>, %g: memref<13x11xf32>, %y: memref<?x27x11xf32>) {
  kron.fused ins(%x, %f, %g : memref<?x31x13xf32>, memref<31x27xf32>, memref<13x11xf32>) outs(%y : memref<?x27x11xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<?x31x13xf32>, %tf: tensor<31x27xf32>, %tg: tensor<13x11xf32>, %out: tensor<?x27x11xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x31x13xf32>
    %e = tensor.empty(%m) : tensor<?x31x11xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x31x13xf32>) factor(%tg [p, q] : tensor<13x11xf32>)
         outs(%e : tensor<?x31x11xf32>) -> tensor<?x31x11xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x31x11xf32>) factor(%tf [p, q] : tensor<31x27xf32>)
         outs(%out : tensor<?x27x11xf32>) -> tensor<?x27x11xf32>
    kron.yield %2 : tensor<?x27x11xf32>
  }
  return
}

// -----

// Verify that four warps share the 64 results of a column (a named barrier each
// time before they replace it), that the plan's threads, CTAs and pipeline stages are
// taken, and that alpha and beta are applied to the results, whose addend is not
// read if beta is 0.

// CHECK-LABEL: llvm.func @planned_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK-SAME:    nvvm.minctasm = 1 : i32
// CHECK:         nvvm.cp.async.wait.group 1
// CHECK:         nvvm.barrier id = {{.*}} number_of_threads
// CHECK:         %[[ZERO:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}} : f64
// CHECK:         scf.if %[[ZERO]]
// CHECK:         st.global.cs.v2.f64
func.func @planned(%x: memref<?x64x64xf64>, %f: memref<64x64xf64>, %y: memref<?x64x64xf64>, %beta: f64) {
  kron.fused ins(%x, %f : memref<?x64x64xf64>, memref<64x64xf64>) outs(%y : memref<?x64x64xf64>)
      attributes {plan = #kron.gpu_plan<kernel = mma, threads = 256, ctas_per_sm = 1, stages = 3>} {
  ^bb0(%tx: tensor<?x64x64xf64>, %tf: tensor<64x64xf64>, %out: tensor<?x64x64xf64>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x64x64xf64>) factor(%tf [p, q] : tensor<64x64xf64>)
         outs(%out : tensor<?x64x64xf64>) -> tensor<?x64x64xf64>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x64x64xf64>) factor(%tf [p, q] : tensor<64x64xf64>)
         outs(%out : tensor<?x64x64xf64>) alpha(2.0 : f64) beta(%beta : f64) -> tensor<?x64x64xf64>
    kron.yield %2 : tensor<?x64x64xf64>
  }
  return
}

// -----

// Verify that factors which do not fit a warp's registers are not chained: the
// outer one's 127 rows go through registers one after the other, so that there is a
// barrier between the two.

// CHECK-LABEL: llvm.func @long_depth_0
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:         nvvm.barrier0
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @long_depth(%x: memref<?x127x11xf32>, %f: memref<127x5xf32>, %g: memref<11x17xf32>, %y: memref<?x5x17xf32>) {
  kron.fused ins(%x, %g, %f : memref<?x127x11xf32>, memref<11x17xf32>, memref<127x5xf32>) outs(%y : memref<?x5x17xf32>)
      attributes {plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%xt: tensor<?x127x11xf32>, %gt: tensor<11x17xf32>, %ft: tensor<127x5xf32>, %init: tensor<?x5x17xf32>):
    %c0 = arith.constant 0 : index
    %n = tensor.dim %xt, %c0 : tensor<?x127x11xf32>
    %e = tensor.empty(%n) : tensor<?x127x17xf32>
    %a = kron.mode_product axis(2) ins(%xt : tensor<?x127x11xf32>) factor(%gt [p, q] : tensor<11x17xf32>)
         outs(%e : tensor<?x127x17xf32>) -> tensor<?x127x17xf32>
    %b = kron.mode_product axis(1) ins(%a : tensor<?x127x17xf32>) factor(%ft [p, q] : tensor<127x5xf32>)
         outs(%init : tensor<?x5x17xf32>) -> tensor<?x5x17xf32>
    kron.yield %b : tensor<?x5x17xf32>
  }
  return
}
