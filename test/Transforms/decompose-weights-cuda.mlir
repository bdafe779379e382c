// RUN: kron-opt %s --kron-decompose=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-decompose | FileCheck %s --check-prefix=CPU

// Verify that large weights of short runs that are used as T are transposed once.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %{{.*}}: memref<?x1024xf16>, %[[K:.*]]: memref<1x1024x1024x1xf16>
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}}: memref<1x1024x1024x1xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY]] : {{.*}}) permutation = [0, 2, 1, 3]
// CHECK: %[[VIEW:.*]] = memref.subview %[[COPY]]
// CHECK: kron.pass ins(%{{.*}}, %[[VIEW]] :
// CHECK: kron.mode_product {{.*}} factor(%{{.*}} [q, p] : tensor<1024x1024xf16>)
// CHECK: memref.dealloc %[[COPY]]
// CPU-NOT: linalg.transpose
func.func @large(%x: memref<?x1024xf16>, %k: memref<1x1024x1024x1xf16>, %y: memref<?x1024xf16>) {
  kron.ksmm ins(%x : memref<?x1024xf16>) weights(T(%k) : memref<1x1024x1024x1xf16>) outs(%y : memref<?x1024xf16>)
  return
}

// Verify that those whose runs are longer, that stay on chip, or meet few rows, are not.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.transpose
func.func @others(%x: memref<?x1024xf32>, %k: memref<1x64x64x16xf32>, %y: memref<?x1024xf32>,
                  %x6: memref<?x384xf32>, %k6: memref<6x64x64x1xf32>, %y6: memref<?x384xf32>,
                  %x1: memref<8x1024xf32>, %k1: memref<1x1024x1024x1xf32>, %y1: memref<8x1024xf32>) {
  kron.ksmm ins(%x : memref<?x1024xf32>) weights(T(%k) : memref<1x64x64x16xf32>) outs(%y : memref<?x1024xf32>)
  kron.ksmm ins(%x6 : memref<?x384xf32>) weights(T(%k6) : memref<6x64x64x1xf32>) outs(%y6 : memref<?x384xf32>)
  kron.ksmm ins(%x1 : memref<8x1024xf32>) weights(T(%k1) : memref<1x1024x1024x1xf32>) outs(%y1 : memref<8x1024xf32>)
  return
}
