// RUN: kron-opt %s --kron-gpu-pipeline | FileCheck %s

// Verify that a kernel reads alpha itself where it is an element of an array, which lies in the
// memory of the GPU: it gets the element's address. It reads it behind its wait for the kernel
// before, where a load that is marked invariant need not stay.
// CHECK-LABEL: llvm.func @scaled(
// CHECK-NOT:     llvm.load {{.*}} -> f32
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       gpu.module @kron_gpu
// CHECK:       llvm.func @scaled_0(
// CHECK:         nvvm.griddepcontrol wait
// CHECK:         llvm.load %{{[a-z0-9]+}} {{{[^}]*}}} : !llvm.ptr<1> -> f32
func.func @scaled(%x: tensor<?x64xf16>, %f: tensor<8x8xf16>, %s: tensor<3xf32>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%d) : tensor<?x64xf16>
  %alpha = tensor.extract %s[%c2] : tensor<3xf32>
  %y = kron.mkm ins(%x : tensor<?x64xf16>) factors(%f, %f : tensor<8x8xf16>, tensor<8x8xf16>)
         outs(%e : tensor<?x64xf16>) alpha(%alpha : f32) -> tensor<?x64xf16>
  return %y : tensor<?x64xf16>
}
