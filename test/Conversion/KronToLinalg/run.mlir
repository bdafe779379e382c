// RUN: kron-opt --convert-kron-to-linalg %s \
// RUN:   --one-shot-bufferize=bufferize-function-boundaries --buffer-deallocation-pipeline \
// RUN:   --convert-bufferization-to-memref --convert-linalg-to-loops --expand-strided-metadata \
// RUN:   --lower-affine --convert-complex-to-standard --convert-scf-to-cf --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | mlir-runner --entry-point-result=void --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so,%mlir_lib_dir/libmlir_runner_utils.so \
// RUN: | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefC32(tensor<*xcomplex<f32>>)

// Verify the Walsh-Hadamard transform of length 4 on tensors.
// CHECK: rank = 2 offset = 0 sizes = [2, 4]
// CHECK-NEXT: {{\[\[}}10, -2, -4, 0],
// CHECK-NEXT: [1, 1, 1, 1]]
func.func @walsh() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %h = arith.constant dense<[[1.0, 1.0], [1.0, -1.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %r = kron.mkm ins(%x : tensor<2x4xf32>) factors(%h, %h : tensor<2x2xf32>, tensor<2x2xf32>)
                outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = tensor.cast %r : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

// Verify kmm on memrefs with dynamic factors, one of them transposed, alpha and
// beta: 2 * ([1 2] (x) [[1, 3], [2, 4]]) * [1 2 3 4]^T - 100.
// CHECK: sizes = [2, 1]
// CHECK-NEXT: {{\[\[}}-26],
// CHECK-NEXT: [8]]
memref.global "private" constant @x : memref<4x1xi32> = dense<[[1], [2], [3], [4]]>
memref.global "private" constant @a : memref<1x2xi32> = dense<[[1, 2]]>
memref.global "private" constant @b : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>
memref.global "private" @y : memref<2x1xi32> = dense<100>
func.func @dynamic_factors() {
  %x = memref.get_global @x : memref<4x1xi32>
  %a = memref.get_global @a : memref<1x2xi32>
  %b = memref.get_global @b : memref<2x2xi32>
  %y = memref.get_global @y : memref<2x1xi32>
  %ad = memref.cast %a : memref<1x2xi32> to memref<?x?xi32>
  %bd = memref.cast %b : memref<2x2xi32> to memref<?x?xi32>
  %beta = arith.constant -1 : i32
  kron.kmm ins(%x : memref<4x1xi32>) factors(%ad, T(%bd) : memref<?x?xi32>, memref<?x?xi32>)
           outs(%y : memref<2x1xi32>) alpha(2 : i32) beta(%beta : i32)
  %u = memref.cast %y : memref<2x1xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

// Verify the conjugate transpose of a factor: (1+i)(-i) + 2(1+i) = 3+i.
// CHECK: sizes = [1, 1]
// CHECK-NEXT: {{\[\[}}(3,1)]]
func.func @conjugate_transpose() {
  %x = arith.constant dense<[[(1.0, 1.0), (2.0, 0.0)]]> : tensor<1x2xcomplex<f32>>
  %f = arith.constant dense<[[(0.0, 1.0), (1.0, -1.0)]]> : tensor<1x2xcomplex<f32>>
  %e = tensor.empty() : tensor<1x1xcomplex<f32>>
  %r = kron.mkm ins(%x : tensor<1x2xcomplex<f32>>) factors(C(%f) : tensor<1x2xcomplex<f32>>)
                outs(%e : tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %u = tensor.cast %r : tensor<1x1xcomplex<f32>> to tensor<*xcomplex<f32>>
  call @printMemrefC32(%u) : (tensor<*xcomplex<f32>>) -> ()
  return
}

// Verify that beta = 0 does not read NaNs of the destination, on a padded memref
// whose padding survives.
// CHECK: sizes = [1, 3]
// CHECK-NEXT: {{\[\[}}5, nan, 7]]
memref.global "private" @padded : memref<1x3xf32> = dense<0x7FC00000>
func.func @beta_zero() {
  %x = arith.constant 1.0 : f32
  %rows = memref.alloca() : memref<1x2xf32>
  linalg.fill ins(%x : f32) outs(%rows : memref<1x2xf32>)
  %f = memref.get_global @f : memref<2x2xf32>
  %base = memref.get_global @padded : memref<1x3xf32>
  %y = memref.reinterpret_cast %base to offset: [0], sizes: [1, 2], strides: [3, 2]
       : memref<1x3xf32> to memref<1x2xf32, strided<[3, 2]>>
  kron.mkm ins(%rows : memref<1x2xf32>) factors(%f : memref<2x2xf32>)
           outs(%y : memref<1x2xf32, strided<[3, 2]>>)
  %t = bufferization.to_tensor %base restrict : memref<1x3xf32> to tensor<1x3xf32>
  %u = tensor.cast %t : tensor<1x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
memref.global "private" constant @f : memref<2x2xf32> = dense<[[2.0, 3.0], [3.0, 4.0]]>

func.func @main() {
  call @walsh() : () -> ()
  call @dynamic_factors() : () -> ()
  call @conjugate_transpose() : () -> ()
  call @beta_zero() : () -> ()
  return
}
