// RUN: kron-opt --kron-map-to-threads --split-input-file %s | FileCheck %s

// Verify that a row is rounded right after its largest magnitude was found, with temporaries on
// the stack.
// CHECK-LABEL: func.func @rows(
// CHECK: call @kronRtParallelFor(
// CHECK-LABEL: func.func private @rows_shared(
// CHECK-DAG: memref.alloca() : memref<1xi16>
// CHECK-DAG: memref.alloca() : memref<1xf32>
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: memref.subview %{{.*}}[%{{.*}}, 0] [1, 4096] [1, 1]
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<1xi16
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<1xf32
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<1xf32
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<1x4096xi8
func.func @rows(%v: memref<?x4096xbf16>, %q: memref<?x4096xi8>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x4096xbf16>) outs(%q, %s : memref<?x4096xi8>, memref<?xf32>)
  return
}

// -----

// Verify blocks of columns, the last one of which may be short, and the numbering of blocks of a
// batch of two dimensions.
// CHECK-LABEL: func.func @columns(
// CHECK: call @kronRtParallelFor(
// CHECK-LABEL: func.func private @columns_shared(
// CHECK-DAG: memref.alloca() : memref<1x512xi32>
// CHECK-DAG: memref.alloca() : memref<1x512xf32>
// CHECK: scf.for
// CHECK: arith.remui
// CHECK: %[[OUTER:.*]] = arith.divui
// CHECK: arith.minsi
// CHECK: memref.subview %{{.*}}[0, %[[P:.*]], %[[C:.*]]] [256, 1, %[[N:.*]]] [1, 1, 1]
// CHECK: memref.subview %{{.*}}[%[[P]], %[[C]]] [1, %[[N]]] [1, 1]
func.func @columns(%v: memref<256x?x?xf32>, %q: memref<256x?x?xi8>, %s: memref<?x?xf32>) {
  kron.quantize ins(%v : memref<256x?x?xf32>) outs(%q, %s : memref<256x?x?xi8>, memref<?x?xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that few large rows are shared element by element: not the search for the largest one,
// which a remark tells of.
// CHECK-LABEL: func.func @whole(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]
// CHECK: call @kronRtParallelFor(
// CHECK-LABEL: func.func private @whole_shared(
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
func.func @whole(%v: memref<4096x?xf32>, %q: memref<4096x?xi8>, %s: memref<f32>) {
  kron.quantize ins(%v : memref<4096x?xf32>) outs(%q, %s : memref<4096x?xi8>, memref<f32>)
  return
}

// -----

// Verify that rows of which only the result's type tells that they are empty are left whole.
// CHECK-LABEL: func.func @empty_result(
// CHECK-NOT: memref.subview
// CHECK: return
func.func @empty_result(%v: memref<?x?xf16>, %q: memref<?x0xi8>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x?xf16>) outs(%q, %s : memref<?x0xi8>, memref<?xf32>)
  return
}
