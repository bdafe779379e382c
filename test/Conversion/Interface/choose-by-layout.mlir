// RUN: kron-opt %s --kron-lower-interface --kron-choose-by-layout --canonicalize | FileCheck %s
// RUN: kron-opt %s --kron-gpu-pipeline=chip=sm_90a | FileCheck %s --check-prefix=GPU

// Verify that arrays that turn out to be row-major get code of their own, and
// all others what there was.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x8xf32, strided<[?, 1], offset: ?>>, %[[K:[a-z0-9]+]]: memref<2x4x4x1xf32, strided<[?, ?, ?, 1], offset: ?>>, %[[Y:[a-z0-9]+]]: memref<?x8xf32, strided<[?, 1], offset: ?>>)
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[START:.*]] = arith.cmpi eq, %[[OFFSET]], %c0
// CHECK: %[[ROW:.*]] = arith.cmpi eq, %[[STRIDES]]#0, %c8
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%{{.*}}, 8], strides: [8, 1] : {{.*}} to memref<?x8xf32>
// CHECK: memref.extract_strided_metadata %[[K]]
// CHECK: memref.reinterpret_cast %[[K]] to offset: [0], sizes: [2, 4, 4, 1], strides: [16, 4, 1, 1] : {{.*}} to memref<2x4x4x1xf32>
// CHECK: %[[BOTH:.*]] = arith.andi {{.*}} {kron.requires = {row_major = 1 : i64}}
// CHECK: %[[DENSE:.*]] = memref.reinterpret_cast %[[Y]] {{.*}} to memref<?x8xf32>
// CHECK: scf.if %[[BOTH]]
// CHECK: bufferization.to_tensor %{{.*}} : memref<?x8xf32> to
// CHECK: bufferization.to_tensor %{{.*}} : memref<2x4x4x1xf32> to
// CHECK: kron.ksmm
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[DENSE]]
// CHECK: } else {
// CHECK: bufferization.to_tensor %[[X]]
// CHECK: kron.ksmm
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Y]]
// CHECK: return
// GPU-LABEL: llvm.func @chain(
// GPU-COUNT-2: llvm.call @kronRtCudaLaunch
func.func @chain(%x: tensor<?x8xf32>, %k: tensor<2x4x4x1xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = kron.ksmm ins(%x : tensor<?x8xf32>) weights(%k : tensor<2x4x4x1xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Verify that the stride of rows of an unknown number is compared with that
// number, and does not matter if there is one feature.
// CHECK-LABEL: func.func @batch_last(
// CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK: arith.cmpi eq, %[[STRIDES]]#0, %[[SIZES]]#1
// CHECK: memref.reinterpret_cast %{{.*}} strides: [%[[SIZES]]#1, 1] : {{.*}} to memref<8x?xf16>
func.func @batch_last(%x: memref<8x?xf16, strided<[?, 1], offset: ?>>, %k: memref<2x4x4x1xf16>, %y: memref<8x?xf16>) {
  kron.ksmm ins(%x : memref<8x?xf16, strided<[?, 1], offset: ?>>) weights(%k : memref<2x4x4x1xf16>) outs(%y : memref<8x?xf16>)
    {layout = #kron.layout<batch_last>}
  return
}

// Verify that a function whose callers promise row-major arrays has one body, and
// a manifest that says so.
// CHECK-LABEL: func.func @promised(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x8xf32>, %[[K:[a-z0-9]+]]: memref<2x4x4x1xf32>, %[[Y:[a-z0-9]+]]: memref<?x8xf32>)
// CHECK-SAME: attributes {kron.args = [{{{.*}}type = memref<?x8xf32>}, {{{.*}}type = memref<2x4x4x1xf32>}, {{{.*}}type = memref<?x8xf32>}]} {
// CHECK-NOT: scf.if
// CHECK: bufferization.to_tensor %[[X]] restrict : memref<?x8xf32>
// CHECK: bufferization.to_tensor %[[K]] restrict : memref<2x4x4x1xf32>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Y]]
func.func @promised(%x: tensor<?x8xf32>, %k: tensor<2x4x4x1xf32>) -> tensor<?x8xf32> attributes {kron.row_major} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = kron.ksmm ins(%x : tensor<?x8xf32>) weights(%k : tensor<2x4x4x1xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Verify that nothing happens where all layouts are known, where neighbours are
// meant to be apart, where there are views, whose types follow from the layout, and
// to other operations, promised or not.
// CHECK-LABEL: func.func @known(
// CHECK-NOT: scf.if
func.func @known(%x: memref<9x8xf16>, %k: memref<2x4x4x1xf16>, %y: memref<9x8xf16>) {
  kron.ksmm ins(%x : memref<9x8xf16>) weights(%k : memref<2x4x4x1xf16>) outs(%y : memref<9x8xf16>)
  return
}

// CHECK-LABEL: func.func @apart(
// CHECK-NOT: scf.if
func.func @apart(%x: memref<9x8xf16, strided<[?, ?], offset: ?>>, %k: memref<2x4x4x1xf16>,
                 %y: memref<9x8xf16, strided<[?, 1], offset: ?>>) {
  kron.ksmm ins(%x : memref<9x8xf16, strided<[?, ?], offset: ?>>) weights(%k : memref<2x4x4x1xf16>)
    outs(%y : memref<9x8xf16, strided<[?, 1], offset: ?>>)
  return
}

// CHECK-LABEL: func.func @view(
// CHECK-SAME: memref<20x8xf32, strided<[?, 1], offset: ?>>
// CHECK-NOT: scf.if
func.func @view(%x: memref<20x8xf32, strided<[?, 1], offset: ?>>, %k: memref<2x4x4x1xf32>, %y: memref<16x8xf32>)
    attributes {kron.row_major} {
  %v = memref.subview %x[2, 0] [16, 8] [1, 1]
    : memref<20x8xf32, strided<[?, 1], offset: ?>> to memref<16x8xf32, strided<[?, 1], offset: ?>>
  kron.ksmm ins(%v : memref<16x8xf32, strided<[?, 1], offset: ?>>) weights(%k : memref<2x4x4x1xf32>)
    outs(%y : memref<16x8xf32>)
  return
}

// CHECK-LABEL: func.func @dense(
// CHECK-SAME: memref<9x64xf32, strided<[?, 1], offset: ?>>
// CHECK-NOT: scf.if
func.func @dense(%x: tensor<9x64xf32>, %a: tensor<8x8xf32>) -> tensor<9x64xf32> attributes {kron.row_major} {
  %e = tensor.empty() : tensor<9x64xf32>
  %y = kron.mkm ins(%x : tensor<9x64xf32>) factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<9x64xf32>) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}

// Verify that nothing happens where kron.args is not that of the function.
// CHECK-LABEL: func.func @other_args(
// CHECK-SAME: memref<9x8xf16, strided<[?, 1], offset: ?>>
// CHECK-NOT: scf.if
func.func @other_args(%x: memref<9x8xf16, strided<[?, 1], offset: ?>>, %k: memref<2x4x4x1xf16>, %y: memref<9x8xf16>)
    attributes {kron.args = [{name = "x"}, {}, 3], kron.row_major} {
  kron.ksmm ins(%x : memref<9x8xf16, strided<[?, 1], offset: ?>>) weights(%k : memref<2x4x4x1xf16>) outs(%y : memref<9x8xf16>)
  return
}
