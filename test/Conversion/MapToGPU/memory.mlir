// RUN: kron-opt %s --kron-map-to-gpu --split-input-file | FileCheck %s

// Verify that arrays become workspace, whose size is checked for overflow where
// it is not known, and go back to it.
// CHECK-LABEL: func.func @scratch(
// CHECK-SAME:    %[[N:.*]]: index
// CHECK:         %[[SIZE:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK:         %[[KNOWN:.*]] = arith.constant 32 : i64
// CHECK:         %[[BAD:.*]] = arith.constant -1 : i64
// CHECK:         %[[PAIR:.*]] = "llvm.intr.smul.with.overflow"(%[[KNOWN]], %[[SIZE]])
// CHECK:         %[[PRODUCT:.*]] = llvm.extractvalue %[[PAIR]][0]
// CHECK:         %[[FLAG:.*]] = llvm.extractvalue %[[PAIR]][1]
// CHECK:         %[[BYTES:.*]] = arith.select %[[FLAG]], %[[BAD]], %[[PRODUCT]]
// CHECK:         %[[PTR:.*]] = llvm.call @kronRtCudaWorkspace(%[[BYTES]])
// CHECK:         builtin.unrealized_conversion_cast %{{.*}} to memref<?x8xf32>
// CHECK:         llvm.call @kronRtCudaRelease(
// CHECK-NOT:     memref.dealloc
func.func @scratch(%n: index) {
  %0 = memref.alloc(%n) : memref<?x8xf32>
  memref.dealloc %0 : memref<?x8xf32>
  return
}

// -----

// Verify that a constant array becomes a variable of the GPU's code, complex
// numbers as pairs, and that its address comes from the runtime.
// CHECK-LABEL: func.func @constant(
// CHECK:         %[[NAME:.*]] = llvm.mlir.addressof @c_name
// CHECK:         llvm.call @kronRtCudaGlobal(%{{.*}}, %[[NAME]])
// CHECK:       gpu.module @kron_gpu
// CHECK:         llvm.mlir.global external constant @c(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>)
// CHECK-SAME:      addr_space = 1 : i32
// CHECK-SAME:      !llvm.array<4 x f32>
// CHECK-NOT:   memref.global
memref.global "private" constant @c : memref<2xcomplex<f32>> = dense<[(1.0, 2.0), (3.0, 4.0)]>
func.func @constant() -> memref<2xcomplex<f32>> {
  %0 = memref.get_global @c : memref<2xcomplex<f32>>
  return %0 : memref<2xcomplex<f32>>
}

// -----

// Verify that arrays of indices and truth values, by which bufferization of
// loops finds out which arrays to release, stay the host's.
// CHECK-LABEL: func.func @bookkeeping(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<2xindex>
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK:         memref.alloc() : memref<2xi1>
// CHECK:         memref.dealloc %[[A]]
func.func @bookkeeping(%n: index) -> i1 {
  %c0 = arith.constant 0 : index
  %0 = memref.alloc() : memref<2xindex>
  memref.store %n, %0[%c0] : memref<2xindex>
  %1 = memref.alloc() : memref<2xi1>
  %2 = memref.load %1[%c0] : memref<2xi1>
  memref.dealloc %0 : memref<2xindex>
  memref.dealloc %1 : memref<2xi1>
  return %2 : i1
}
