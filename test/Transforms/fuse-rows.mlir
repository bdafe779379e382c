// RUN: kron-opt %s --kron-decompose --cse --kron-fuse | FileCheck %s
// RUN: kron-opt %s --kron-cpu-pipeline | FileCheck %s --check-prefix=LLVM

// Verify that a chain whose number of rows is not known is one fused region in one branch and
// one fused region per factor in the other, both with the epilogue; and that only the second
// one takes memory, once.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK:         %[[MANY:.*]] = arith.cmpi sgt, %{{.*}}, %c128{{.*}} {kron.requires = {min_rows = 129 : i64}} : index
// CHECK:         scf.if %[[MANY]] -> (tensor<?x1x8x256xf32>) {
// CHECK:           kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x256x8x1xf32>, tensor<256x8x8xf32>, tensor<8x8x256xf32>, tensor<1x8x256xf32>)
// CHECK:             kron.mode_product
// CHECK:             tensor.collapse_shape
// CHECK:             kron.mode_product
// CHECK:             kron.epilogue
// CHECK:           scf.yield
// CHECK-NEXT:    } else {
// CHECK:           kron.fused ins(%{{.*}}, %{{.*}} : tensor<?x256x8x1xf32>, tensor<256x8x8xf32>)
// CHECK:           tensor.collapse_shape
// CHECK:           kron.fused ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x1x8x256xf32>, tensor<8x8x256xf32>, tensor<1x8x256xf32>)
// CHECK:             kron.mode_product
// CHECK:             kron.epilogue
// CHECK:           scf.yield
// CHECK-NOT:     kron.
// LLVM-LABEL: llvm.func @unknown_rows(
// Row-major arrays, then all others.
// LLVM-NOT:     llvm.call @kronRtAllocate
// LLVM:         llvm.cond_br
// LLVM-NOT:     llvm.call @kronRtAllocate
// LLVM:         llvm.call @kronRtParallelFor
// LLVM:         llvm.call @kronRtAllocate
// LLVM:         llvm.call @kronRtParallelFor
// LLVM:         llvm.call @kronRtParallelFor
// LLVM:         llvm.call @kronRtFree
// LLVM-NOT:     llvm.call @kronRtAllocate
// LLVM:         llvm.cond_br
// LLVM-NOT:     llvm.call @kronRtAllocate
// LLVM:         llvm.call @kronRtParallelFor
// LLVM:         llvm.call @kronRtAllocate
// LLVM:         llvm.call @kronRtParallelFor
// LLVM:         llvm.call @kronRtParallelFor
// LLVM:         llvm.call @kronRtFree
// LLVM-NOT:     llvm.call @kronRtAllocate
// LLVM:         llvm.return
func.func @unknown_rows(%x: tensor<?x2048xf32>, %a: tensor<256x8x8x1xf32>, %b: tensor<1x8x8x256xf32>, %bias: tensor<2048xf32>)
    -> tensor<?x2048xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2048xf32>
  %e = tensor.empty(%rows) : tensor<?x2048xf32>
  %1 = kron.ksmm ins(%x : tensor<?x2048xf32>) weights(%a : tensor<256x8x8x1xf32>)
         outs(%e : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %2 = kron.ksmm ins(%1 : tensor<?x2048xf32>) weights(%b : tensor<1x8x8x256xf32>)
         outs(%e : tensor<?x2048xf32>) bias(%bias : tensor<2048xf32>) {activation = #kron.activation<gelu>} -> tensor<?x2048xf32>
  return %2 : tensor<?x2048xf32>
}

// Verify that fused regions which are given are the only ones.
// CHECK-LABEL: func.func @given(
// CHECK-NOT:     scf.if
// CHECK-COUNT-1: kron.fused
// CHECK-NOT:     kron.fused
func.func @given(%x: tensor<?x64xf32>, %a: tensor<8x8x8x1xf32>, %b: tensor<1x8x8x8xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %1 = kron.ksmm ins(%x : tensor<?x64xf32>) weights(%a : tensor<8x8x8x1xf32>)
         outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %2 = kron.ksmm ins(%1 : tensor<?x64xf32>) weights(%b : tensor<1x8x8x8xf32>)
         outs(%e : tensor<?x64xf32>) {plan = #kron.cpu_plan<regions = [2]>} -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// Verify that products of the chain that write to the same memory are each erased once.
// CHECK-LABEL: func.func @same_memory(
// CHECK:         scf.if
// CHECK-COUNT-3: kron.fused
// CHECK:           scf.yield
// CHECK-NOT:     kron.
// CHECK:         return
func.func @same_memory(%x: tensor<?x240xbf16>, %f0: tensor<5x2xbf16>, %f1: tensor<3x5xbf16>, %f2: tensor<16x16xbf16>, %g0: tensor<2x16xbf16>, %g1: tensor<5x3xbf16>, %g2: tensor<16x1xbf16>) -> tensor<?x48xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x240xbf16>
  %middle = tensor.empty(%rows) : tensor<?x160xbf16>
  %t = kron.mkm ins(%x : tensor<?x240xbf16>) factors(%f0, %f1, %f2 : tensor<5x2xbf16>, tensor<3x5xbf16>, tensor<16x16xbf16>)
         outs(%middle : tensor<?x160xbf16>) -> tensor<?x160xbf16>
  %e = tensor.empty(%rows) : tensor<?x48xbf16>
  %y = kron.mkm ins(%t : tensor<?x160xbf16>) factors(%g0, %g1, %g2 : tensor<2x16xbf16>, tensor<5x3xbf16>, tensor<16x1xbf16>)
         outs(%e : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  return %y : tensor<?x48xbf16>
}
