// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --convert-kron-to-vector --canonicalize \
// RUN:   --split-input-file | FileCheck %s

// Verify that rows of a buffer which lie 4 KB and a cache line apart are read by the last
// factor's blocks as they lie, since they are no more than 32. (What is done with more of
// them: `gradient` in sparse.mlir.)
// CHECK-LABEL: func.func private @few_pages_fused
// CHECK-NOT: alignment = 64
// CHECK: return
func.func @few_pages(%x: memref<4x32768xf32>, %f: memref<32x32xf32>, %y: memref<4x32768xf32>) {
  kron.mkm ins(%x : memref<4x32768xf32>) factors(%f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
           outs(%y : memref<4x32768xf32>)
  return
}

// -----

// Verify that the last factor of columns prefetches what it takes of a buffer of several
// megabytes two turns ahead, between its multiply-adds. (Without beta there is no such buffer.)
// CHECK-LABEL: func.func private @far_columns_fused
// CHECK-NOT: hint = 3
// CHECK: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK: vector.fma
// CHECK: hint = 3
// CHECK: vector.fma
// CHECK: hint = 3
// CHECK: vector.fma
func.func @far_columns(%x: memref<65536x256xf32>, %f: memref<16x16xf32>, %y: memref<65536x256xf32>) {
  kron.kmm ins(%x : memref<65536x256xf32>) factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
           outs(%y : memref<65536x256xf32>) beta(2.0 : f32)
  return
}

// -----

// Verify that nothing is prefetched so of a buffer that the second-level cache holds.
// CHECK-LABEL: func.func private @near_columns_fused
// CHECK-NOT: hint = 3
// CHECK: return
func.func @near_columns(%x: memref<4096x256xf32>, %f: memref<16x16xf32>, %y: memref<4096x256xf32>) {
  kron.kmm ins(%x : memref<4096x256xf32>) factors(%f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
           outs(%y : memref<4096x256xf32>)
  return
}

// -----

// Verify that 64 rows of a buffer, 256 KB in all, are not copied before the last factor's blocks:
// the copy would be as far away.
// CHECK-LABEL: func.func private @large_copy_fused
// CHECK-NOT: alignment = 64
// CHECK: return
func.func @large_copy(%x: memref<4096x16xf32>, %f: memref<64x64xf32>, %y: memref<4096x16xf32>) {
  kron.kmm ins(%x : memref<4096x16xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
           outs(%y : memref<4096x16xf32>)
  return
}

// -----

// Verify that a few results of 200 rows in memory, of which register tiles would prefetch a part
// as lines of the next window, let each load prefetch what the one two blocks of 32 elements
// further on takes, and that nothing else is prefetched.
// CHECK-LABEL: func.func private @far_rows_fused
// CHECK-NOT: prefetch
// CHECK: %[[AHEAD:.*]] = llvm.getelementptr %[[X:.*]][64] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT: "llvm.intr.prefetch"(%[[AHEAD]]) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK-NEXT: llvm.load %[[X]] {{.*}} -> vector<16xf32>
// CHECK-NOT: hint = 2
// CHECK: return
func.func @far_rows(%x: memref<200x5001xf32>, %f: memref<12x200xf32>, %y: memref<12x5001xf32>) {
  kron.kmm ins(%x : memref<200x5001xf32>) factors(%f : memref<12x200xf32>) outs(%y : memref<12x5001xf32>)
  return
}
