// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that f16 is f32 between load and store, that neighbouring results share
// a load of the input, and that beta = 0 at run time skips the addend.

// CHECK-LABEL: func.func @half
// CHECK:         llvm.call @kronRtCudaNumSMs
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-LABEL: llvm.func @half_0
// CHECK-SAME:    %[[BETA:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: i64) attributes {gpu.kernel, nvvm.kernel
// CHECK:         scf.for
// CHECK:           llvm.load {{.*}} invariant {{.*}} -> f16
// CHECK-NEXT:      arith.extf {{.*}} f16 to f32
// CHECK:           nvvm.barrier0
// CHECK:           %[[X:.*]] = llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK:           llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-4:   llvm.intr.fma(%[[X]],
// CHECK:           nvvm.barrier0
// CHECK:           arith.cmpf oeq, %[[BETA]]
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      } else {
// CHECK:             llvm.load {{.*}} !llvm.ptr<1> -> f16
// CHECK:           arith.truncf {{.*}} f32 to f16
func.func @half(%x: memref<?x8xf16>, %f: memref<8x4xf16>, %y: memref<?x4xf16>, %beta: f32) {
  kron.fused ins(%x, %f : memref<?x8xf16>, memref<8x4xf16>) outs(%y : memref<?x4xf16>) attributes {plan = #kron.gpu_plan<kernel = simt, threads = 128, launches = [{factors = 1, extents = [512, 8], ctas_per_sm = 2}]>} {
  ^bb0(%tx: tensor<?x8xf16>, %tf: tensor<8x4xf16>, %out: tensor<?x4xf16>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<?x8xf16>) factor(%tf [p, q] : tensor<8x4xf16>)
         outs(%out : tensor<?x4xf16>) beta(%beta : f32) -> tensor<?x4xf16>
    kron.yield %1 : tensor<?x4xf16>
  }
  return
}

// -----

// Verify that a tile which does not fit shared memory makes two fused regions, with the
// intermediate in the workspace.

// CHECK-LABEL: func.func @regions
// CHECK:         llvm.call @kronRtCudaWorkspace
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK:         llvm.func @regions_0
// CHECK:         llvm.func @regions_1
func.func @regions(%x: memref<?x256x256xf32>, %a: memref<256x256xf32>, %b: memref<256x256xf32>, %y: memref<?x256x256xf32>) {
  kron.fused ins(%x, %a, %b : memref<?x256x256xf32>, memref<256x256xf32>, memref<256x256xf32>) outs(%y : memref<?x256x256xf32>) attributes {plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<?x256x256xf32>, %fa: tensor<256x256xf32>, %fb: tensor<256x256xf32>, %out: tensor<?x256x256xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x256x256xf32>
    %e = tensor.empty(%m) : tensor<?x256x256xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x256x256xf32>) factor(%fb [p, q] : tensor<256x256xf32>)
         outs(%e : tensor<?x256x256xf32>) -> tensor<?x256x256xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x256x256xf32>) factor(%fa [p, q] : tensor<256x256xf32>)
         outs(%out : tensor<?x256x256xf32>) -> tensor<?x256x256xf32>
    kron.yield %2 : tensor<?x256x256xf32>
  }
  return
}

// -----

// Verify that integers wrap, and that a factor that varies over an axis is read
// at that axis' position.

// CHECK-LABEL: llvm.func @varying_0
// CHECK:         arith.muli {{.*}} : i32
// CHECK-NOT:     fma
func.func @varying(%x: memref<9x4x6xi32>, %f: memref<6x4x4xi32>, %y: memref<9x4x6xi32>) {
  kron.fused ins(%x, %f : memref<9x4x6xi32>, memref<6x4x4xi32>) outs(%y : memref<9x4x6xi32>) attributes {plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<9x4x6xi32>, %tf: tensor<6x4x4xi32>, %out: tensor<9x4x6xi32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<9x4x6xi32>) factor(%tf [2, p, q] : tensor<6x4x4xi32>)
         outs(%out : tensor<9x4x6xi32>) -> tensor<9x4x6xi32>
    kron.yield %1 : tensor<9x4x6xi32>
  }
  return
}

// -----

// Verify that a complex product is four multiply-adds.

// CHECK-LABEL: llvm.func @complex_0
// CHECK:         llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-8: llvm.intr.fma
func.func @complex(%x: memref<?x2xcomplex<f32>>, %f: memref<2x2xcomplex<f32>>, %y: memref<?x2xcomplex<f32>>) {
  kron.fused ins(%x, %f : memref<?x2xcomplex<f32>>, memref<2x2xcomplex<f32>>) outs(%y : memref<?x2xcomplex<f32>>) attributes {plan = #kron.gpu_plan<kernel = simt, threads = 128, launches = [{factors = 1, extents = [512, 2], ctas_per_sm = 2}]>} {
  ^bb0(%tx: tensor<?x2xcomplex<f32>>, %tf: tensor<2x2xcomplex<f32>>, %out: tensor<?x2xcomplex<f32>>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<?x2xcomplex<f32>>) factor(%tf [p, q] : tensor<2x2xcomplex<f32>>)
         outs(%out : tensor<?x2xcomplex<f32>>) -> tensor<?x2xcomplex<f32>>
    kron.yield %1 : tensor<?x2xcomplex<f32>>
  }
  return
}

// -----

// Verify an epilogue of integers: bias, relu, scale and residual in order.
// CHECK-LABEL: llvm.func @simt_i32_0(
// CHECK:         %[[B:.*]] = arith.addi
// CHECK:         %[[R:.*]] = arith.maxsi
// CHECK:         %[[S:.*]] = arith.muli %{{.*}}, %[[R]]
// CHECK:         arith.addi %[[S]]
func.func @simt_i32(%x: memref<9x4xi32>, %f: memref<4x8xi32>, %b: memref<8xi32>, %r: memref<9x8xi32>, %y: memref<9x8xi32>) {
  kron.fused ins(%x, %f, %b, %r : memref<9x4xi32>, memref<4x8xi32>, memref<8xi32>, memref<9x8xi32>) outs(%y : memref<9x8xi32>)
      attributes {plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<9x4xi32>, %tf: tensor<4x8xi32>, %tb: tensor<8xi32>, %tr: tensor<9x8xi32>, %ty: tensor<9x8xi32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<9x4xi32>) factor(%tf [p, q] : tensor<4x8xi32>) outs(%ty : tensor<9x8xi32>) -> tensor<9x8xi32>
    %1 = kron.epilogue ins(%0 : tensor<9x8xi32>) bias(%tb [1] : tensor<8xi32>) residual(%tr : tensor<9x8xi32>)
         outs(%ty : tensor<9x8xi32>) {activation = #kron.activation<relu>, scale = 3 : i32} -> tensor<9x8xi32>
    kron.yield %1 : tensor<9x8xi32>
  }
  return
}
