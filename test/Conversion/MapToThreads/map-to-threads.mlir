// RUN: kron-opt --kron-map-to-threads --split-input-file %s | FileCheck %s
// RUN: kron-opt --kron-map-to-threads --split-input-file --remarks-filter="kron-threads" --remark-policy=all %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Verify that the outermost loop whose size is known only at run time is shared: what the operation uses
// travels in a struct, constants are built again, and the body works on views of its range. A
// row of 4096 elements is half of what is worth a thread.
// REMARK: [Passed] Shared | Category:kron-threads | Loop=0, Remark="linalg.generic is shared among threads"
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<?x4096xf32>, %[[S:.*]]: f32, %[[Y:.*]]: memref<?x4096xf32>)
// CHECK: %[[SLOTS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(
// CHECK: %[[DIM:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[DIM]] : index to i64
// CHECK: llvm.store %{{.*}}, %{{.*}}
// CHECK: llvm.store %{{.*}}, %{{.*}}
// CHECK: llvm.store %[[S]], %{{.*}} : f32, !llvm.ptr
// CHECK: %[[GRAIN:.*]] = arith.constant 2 : i64
// CHECK: call @kronRtParallelFor(%[[COUNT]], %[[GRAIN]], %{{.*}}, %[[SLOTS]], %{{.*}})
// CHECK-LABEL: func.func private @rows_shared(
// CHECK-SAME: %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: !llvm.ptr, %[[CAPTURES:.*]]: !llvm.ptr)
// CHECK-DAG: %[[FIRST:.*]] = arith.index_cast %[[BEGIN]] : i64 to index
// CHECK-DAG: %[[LAST:.*]] = arith.index_cast %[[END]] : i64 to index
// CHECK: %[[SIZE:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: memref.subview %{{.*}}[%[[FIRST]], 0] [%[[SIZE]], 4096] [1, 1]
// CHECK: memref.subview %{{.*}}[%[[FIRST]], 0] [%[[SIZE]], 4096] [1, 1]
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @rows(%x: memref<?x4096xf32>, %s: f32, %y: memref<?x4096xf32>) {
  %c = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x4096xf32>) outs(%y : memref<?x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %s : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Verify that a loop which a result does not depend on is not shared, and that ranges of
// neighbours are not short.
// REMARK: Loop=1, Remark="linalg.generic is shared among threads"
// CHECK-LABEL: func.func @columns(
// CHECK: arith.constant 32 : i64
// CHECK: call @kronRtParallelFor(
// CHECK-LABEL: func.func private @columns_shared(
// CHECK: memref.subview %{{.*}}[0, %[[FIRST:.*]]] [4096, %[[SIZE:.*]]] [1, 1]
// CHECK: memref.subview %{{.*}}[%[[FIRST]]] [%[[SIZE]]] [1]
func.func @columns(%x: memref<4096x4096xf32>, %y: memref<4096xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<4096x4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Verify that the outermost long loop is shared or, if there is none, the longest one, and the
// grain of rows whose number is known only at run time, which may be none.
// REMARK: Loop=1, Remark="linalg.copy is shared among threads"
// REMARK: Loop=2, Remark="linalg.generic is shared among threads"
// REMARK: Loop=0, Remark="linalg.copy is shared among threads"
// CHECK-LABEL: func.func @long(
// CHECK: %[[FORTY:.*]] = arith.constant 40 : i64
// CHECK: call @kronRtParallelFor(%[[FORTY]],
// CHECK: %[[TEN:.*]] = arith.constant 10 : i64
// CHECK: call @kronRtParallelFor(%[[TEN]],
// CHECK: %[[LENGTH:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK: %[[WORK:.*]] = arith.constant 8192 : i64
// CHECK: %[[GRAIN:.*]] = arith.divui %[[WORK]], %[[LENGTH]]
// CHECK: %[[MOST:.*]] = arith.maxsi %[[GRAIN]], %{{.*}} : i64
// CHECK: call @kronRtParallelFor(%{{.*}}, %[[MOST]],
func.func @long(%x: memref<3x40x512xf32>, %y: memref<3x40x512xf32>, %p: memref<9x256x10xf32>, %q: memref<9x10xf32>,
                %v: memref<?x?xf32>, %w: memref<?x?xf32>) {
  linalg.copy ins(%x : memref<3x40x512xf32>) outs(%y : memref<3x40x512xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%p : memref<9x256x10xf32>) outs(%q : memref<9x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.copy ins(%v : memref<?x?xf32>) outs(%w : memref<?x?xf32>)
  return
}

// -----

// Verify what stays on one thread: without a word what is small or empty, and sums into one
// element.
// REMARK-NOT: linalg.fill
// REMARK: [Missed] OneThread | Category:kron-threads | Reason="no loop has elements of the result of its own", Remark="linalg.generic runs on one thread"
// CHECK-LABEL: func.func @serial(
// CHECK-NOT: call
// CHECK: linalg.fill
// CHECK: linalg.generic
func.func @serial(%x: memref<?xf32>, %y: memref<f32>, %z: memref<128x64xf32>, %n: memref<?x0xf32>) {
  %c0 = arith.constant 0.0 : f32
  linalg.fill ins(%c0 : f32) outs(%n : memref<?x0xf32>)
  linalg.fill ins(%c0 : f32) outs(%z : memref<128x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}
