// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that two axes of 8 are one group: 64 values per thread, each of two
// factors 512 multiply-adds of which 64 start a sum, rows of the factor as
// vectors and used by 8 fibres. Results of the second factor are stored as soon
// as 4 of each fibre are known. The group holds the innermost axis, so they
// go through shared memory. Unaligned arrays get the general kernel.

// CHECK-LABEL: func.func @group
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       } else {
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-LABEL: llvm.func @group_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 64>
// CHECK:         nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-COUNT-16: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-24: ld.shared.v4.f32
// CHECK-COUNT-8: llvm.store {{.*}} vector<4xf32>, !llvm.ptr<3>
// CHECK-COUNT-8: ld.shared.v4.f32
// CHECK-NOT:     ld.shared.v4.f32
// CHECK-COUNT-8: llvm.store {{.*}} vector<4xf32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         st.global.cs.f32
// CHECK-LABEL: llvm.func @group_1
func.func @group(%x: memref<?x8x8xf32>, %a: memref<8x8xf32>, %b: memref<8x8xf32>, %y: memref<?x8x8xf32>) {
  kron.fused ins(%x, %a, %b : memref<?x8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<?x8x8xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<?x8x8xf32>, %fa: tensor<8x8xf32>, %fb: tensor<8x8xf32>, %out: tensor<?x8x8xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x8x8xf32>
    %e = tensor.empty(%m) : tensor<?x8x8xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x8x8xf32>) factor(%fb [p, q] : tensor<8x8xf32>)
         outs(%e : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x8x8xf32>) factor(%fa [p, q] : tensor<8x8xf32>)
         outs(%out : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
    kron.yield %2 : tensor<?x8x8xf32>
  }
  return
}

// -----

// Verify that leading axes work from global memory to registers and back.

// CHECK-LABEL: llvm.func @leading_0
// CHECK-NOT:     cp.async
// CHECK:         nvvm.barrier0
// CHECK-COUNT-16: llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f32
// CHECK-NOT:     !llvm.ptr<1> -> f32
// CHECK-COUNT-96: llvm.intr.fma
// CHECK-NOT:     llvm.intr.fma
// CHECK-COUNT-16: st.global.cs.f32
func.func @leading(%x: memref<4x4x64xf32>, %a: memref<4x4xf32>, %b: memref<4x4xf32>, %y: memref<4x4x64xf32>) {
  kron.fused ins(%x, %a, %b : memref<4x4x64xf32>, memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4x64xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<4x4x64xf32>, %fa: tensor<4x4xf32>, %fb: tensor<4x4xf32>, %out: tensor<4x4x64xf32>):
    %e = tensor.empty() : tensor<4x4x64xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4x64xf32>) factor(%fb [p, q] : tensor<4x4xf32>)
         outs(%e : tensor<4x4x64xf32>) -> tensor<4x4x64xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<4x4x64xf32>) factor(%fa [p, q] : tensor<4x4xf32>)
         outs(%out : tensor<4x4x64xf32>) -> tensor<4x4x64xf32>
    kron.yield %2 : tensor<4x4x64xf32>
  }
  return
}

// -----

// Verify that as many CTAs share an SM as leave a thread the registers for
// 25 values of f64, 16 accumulators and addresses: 128, not 64.

// CHECK-LABEL: llvm.func @registers_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 128>
// CHECK-SAME:    nvvm.minctasm = 4 : i32
func.func @registers(%x: memref<5x5x125xf64>, %a: memref<5x5xf64>, %b: memref<5x5xf64>, %y: memref<5x5x125xf64>) {
  kron.fused ins(%x, %a, %b : memref<5x5x125xf64>, memref<5x5xf64>, memref<5x5xf64>) outs(%y : memref<5x5x125xf64>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<5x5x125xf64>, %fa: tensor<5x5xf64>, %fb: tensor<5x5xf64>, %out: tensor<5x5x125xf64>):
    %e = tensor.empty() : tensor<5x5x125xf64>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<5x5x125xf64>) factor(%fb [p, q] : tensor<5x5xf64>)
         outs(%e : tensor<5x5x125xf64>) -> tensor<5x5x125xf64>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<5x5x125xf64>) factor(%fa [p, q] : tensor<5x5xf64>)
         outs(%out : tensor<5x5x125xf64>) -> tensor<5x5x125xf64>
    kron.yield %2 : tensor<5x5x125xf64>
  }
  return
}

// -----

// Verify that a plan sets threads, and that sizes which are no multiples of 4
// are copied element by element without a second kernel.

// CHECK-LABEL: func.func @odd
// CHECK-NOT:     scf.if
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-LABEL: llvm.func @odd_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 96>
// CHECK:         nvvm.cp.async.shared.global {{.*}} 4, cache = ca
// CHECK-NOT:   llvm.func
func.func @odd(%x: memref<?x5xf32>, %a: memref<5x3xf32>, %y: memref<?x3xf32>) {
  kron.fused ins(%x, %a : memref<?x5xf32>, memref<5x3xf32>) outs(%y : memref<?x3xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma, threads = 96>} {
  ^bb0(%tx: tensor<?x5xf32>, %fa: tensor<5x3xf32>, %out: tensor<?x3xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<?x5xf32>) factor(%fa [p, q] : tensor<5x3xf32>)
         outs(%out : tensor<?x3xf32>) -> tensor<?x3xf32>
    kron.yield %1 : tensor<?x3xf32>
  }
  return
}

// -----

// Verify that values are not stored as vectors where an axis that a factor makes longer has an odd
// stride: the second position of axis 2 lies behind three elements of shared memory.

// CHECK: {{^}}// -----
// CHECK-LABEL: llvm.func @grows_0
// CHECK-NOT:     vector<2xf64>, !llvm.ptr<3>
// CHECK-COUNT-11: llvm.store {{.*}} : f64, !llvm.ptr<3>
func.func @grows(%x: memref<?x2x1x3xf64>, %a: memref<2x2xf64>, %b: memref<1x2xf64>, %c: memref<3x2xf64>, %y: memref<?x2x2x2xf64>) {
  kron.fused ins(%x, %a, %b, %c : memref<?x2x1x3xf64>, memref<2x2xf64>, memref<1x2xf64>, memref<3x2xf64>) outs(%y : memref<?x2x2x2xf64>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<?x2x1x3xf64>, %fa: tensor<2x2xf64>, %fb: tensor<1x2xf64>, %fc: tensor<3x2xf64>, %out: tensor<?x2x2x2xf64>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x2x1x3xf64>
    %e = tensor.empty(%m) : tensor<?x2x1x2xf64>
    %1 = kron.mode_product axis(3) ins(%tx : tensor<?x2x1x3xf64>) factor(%fc [p, q] : tensor<3x2xf64>)
         outs(%e : tensor<?x2x1x2xf64>) -> tensor<?x2x1x2xf64>
    %g = tensor.empty(%m) : tensor<?x2x2x2xf64>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x2x1x2xf64>) factor(%fb [p, q] : tensor<1x2xf64>)
         outs(%g : tensor<?x2x2x2xf64>) -> tensor<?x2x2x2xf64>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x2x2x2xf64>) factor(%fa [p, q] : tensor<2x2xf64>)
         outs(%out : tensor<?x2x2x2xf64>) -> tensor<?x2x2x2xf64>
    kron.yield %3 : tensor<?x2x2x2xf64>
  }
  return
}
