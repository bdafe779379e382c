// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan=column-bytes=256 --convert-kron-to-vector \
// RUN:   --canonicalize --split-input-file | FileCheck %s

// Verify that a factor which works in place on 16 contiguous segments goes through them without a
// loop over p, and that the second next tile is prefetched, wherever it is.
// CHECK-LABEL: func.func private @many_runs_fused
// CHECK: scf.for %[[TILE:.*]] = %arg0 to %arg1
// CHECK: %[[SECOND:.*]] = arith.addi %[[TILE]], %c2_i64
// CHECK: %[[COLUMN:.*]] = arith.remui %[[SECOND]], %c64_i64
// CHECK: %[[FIRST:.*]] = arith.muli %[[COLUMN]], %c64_i64
// CHECK: %[[OUTSIDE:.*]] = arith.divui %[[SECOND]], %c64_i64
// CHECK: %[[BLOCK:.*]] = arith.remui %[[OUTSIDE]], %c8_i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[BASE:.*]][%[[FIRST]]]
// CHECK: %[[START:.*]] = arith.muli %[[BLOCK]], %c65536_i64
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[AT]][%[[START]]]
// CHECK: llvm.store %[[NEXT]]
// CHECK: llvm.intr.prefetch
// CHECK-NOT: iter_args
// CHECK: return
func.func @many_runs(%f: memref<16x16xf32>, %y: memref<8x16x4096xf32>) {
  kron.fused ins(%y, %f : memref<8x16x4096xf32>, memref<16x16xf32>) outs(%y : memref<8x16x4096xf32>) {
  ^bb0(%t: tensor<8x16x4096xf32>, %a: tensor<16x16xf32>, %o: tensor<8x16x4096xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<8x16x4096xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<8x16x4096xf32>) -> tensor<8x16x4096xf32>
    kron.yield %1 : tensor<8x16x4096xf32>
  }
  return
}

// -----

// Verify that of 8 segments, which the processor sees by itself, the next tile is prefetched, in the
// turns of a loop over p.
// CHECK-LABEL: func.func private @few_runs_fused
// CHECK: scf.for %[[TILE:.*]] = %arg0 to %arg1
// CHECK: arith.addi %[[TILE]], %c1_i64
// CHECK: scf.for {{.*}} iter_args
// CHECK: llvm.intr.prefetch
// CHECK: scf.yield
func.func @few_runs(%f: memref<8x8xf32>, %y: memref<8x8x4096xf32>) {
  kron.fused ins(%y, %f : memref<8x8x4096xf32>, memref<8x8xf32>) outs(%y : memref<8x8x4096xf32>) {
  ^bb0(%t: tensor<8x8x4096xf32>, %a: tensor<8x8xf32>, %o: tensor<8x8x4096xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<8x8x4096xf32>) factor(%a [q, p] : tensor<8x8xf32>) outs(%o : tensor<8x8x4096xf32>) -> tensor<8x8x4096xf32>
    kron.yield %1 : tensor<8x8x4096xf32>
  }
  return
}

// -----

// Verify that slices of columns that are copied leave half of the prefetches of the next tile to
// the last factor, which begins with the first rows of that tile: slices prefetch what lies from
// row 528 of 1024 on.
// CHECK-LABEL: func.func private @last_factor_fused
// CHECK: scf.for %[[TILE:.*]] = %arg0 to %arg1
// CHECK: %[[REST:.*]] = llvm.getelementptr %{{.*}}[540672] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.store %[[REST]], %[[SLOT:.*]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[FOLLOWING:.*]] = arith.addi %[[TILE]], %c1_i64
// CHECK: arith.remui %[[FOLLOWING]], %c16_i64
// CHECK: llvm.store %{{.*}}, %[[SLOT]] : !llvm.ptr, !llvm.ptr
// CHECK: llvm.intr.prefetch
func.func @last_factor(%x: memref<4x32x32x1024xf32>, %f: memref<32x32xf32>, %y: memref<4x32x32x1024xf32>) {
  kron.fused ins(%x, %f : memref<4x32x32x1024xf32>, memref<32x32xf32>) outs(%y : memref<4x32x32x1024xf32>) {
  ^bb0(%a: tensor<4x32x32x1024xf32>, %b: tensor<32x32xf32>, %c: tensor<4x32x32x1024xf32>):
    %0 = tensor.empty() : tensor<4x32x32x1024xf32>
    %1 = kron.mode_product axis(2) ins(%a : tensor<4x32x32x1024xf32>) factor(%b [q, p] : tensor<32x32xf32>) outs(%0 : tensor<4x32x32x1024xf32>) -> tensor<4x32x32x1024xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<4x32x32x1024xf32>) factor(%b [q, p] : tensor<32x32xf32>) outs(%c : tensor<4x32x32x1024xf32>) -> tensor<4x32x32x1024xf32>
    kron.yield %2 : tensor<4x32x32x1024xf32>
  }
  return
}
