// RUN: kron-opt %s --kron-decompose --kron-fuse | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse="l2-bytes=2097152" \
// RUN:   | FileCheck %s --check-prefix=LARGE

// Verify that columns whose smallest tile takes more than twice the
// second-level cache (4 MB of 1 MB) take two fused regions, the second one in place in
// the result, whose axes inside are one; one fused region where that cache is larger.
// CHECK-LABEL: func @columns
// CHECK-NOT: memref.alloc
// CHECK: %[[Y:.*]] = memref.expand_shape %arg2
// CHECK-NOT: memref.alloc
// CHECK: kron.fused {{.*}} outs(%[[Y]] : memref<32x32x32x1024xf32>)
// CHECK-COUNT-2: kron.mode_product
// CHECK: %[[V:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0], [1, 2, 3]{{\]}}
// CHECK: kron.fused ins(%[[V]], %arg1 : memref<32x1048576xf32>, memref<32x32xf32>) outs(%[[V]] : memref<32x1048576xf32>)
// CHECK-COUNT-1: kron.mode_product
// LARGE-LABEL: func @columns
// LARGE: kron.fused
// LARGE-NOT: kron.fused
// LARGE-LABEL: func @small_factors
func.func @columns(%x: memref<32768x1024xf32>, %f: memref<32x32xf32>, %y: memref<32768x1024xf32>) {
  kron.kmm ins(%x : memref<32768x1024xf32>) factors(%f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<32768x1024xf32>)
  return
}

// Verify that only so many factors are in place that the others fit the cache.
// CHECK-LABEL: func @small_factors
// CHECK: kron.fused
// CHECK-COUNT-4: kron.mode_product
// CHECK: kron.fused
// CHECK-COUNT-1: kron.mode_product
func.func @small_factors(%x: memref<32768x?xf32>, %f: memref<8x8xf32>, %y: memref<32768x?xf32>) {
  kron.kmm ins(%x : memref<32768x?xf32>) factors(%f, %f, %f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<32768x?xf32>)
  return
}

// Verify that rows that lie as columns do the same.
// CHECK-LABEL: func @transposed_rows
// CHECK: kron.fused {{.*}}input_permutation
// CHECK-COUNT-3: kron.mode_product
// CHECK: kron.fused ins(%[[V:.*]], %{{.*}}) outs(%[[V]] : memref<1024x16x4096xf32>)
// CHECK-COUNT-1: kron.mode_product
func.func @transposed_rows(%x: memref<65536x1024xf32>, %f: memref<16x16xf32>, %y: memref<1024x65536xf32>) {
  kron.mkm ins(T(%x) : memref<65536x1024xf32>) factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<1024x65536xf32>)
  return
}

// Verify that beta keeps the factors together, since the result holds what is
// added, and so does a last factor that is not square.
// CHECK-LABEL: func @added
// CHECK: kron.fused
// CHECK-NOT: kron.fused
// CHECK-LABEL: func @rectangular
// CHECK: kron.fused
// CHECK-NOT: kron.fused
// CHECK: return
func.func @added(%x: memref<32768x1024xf32>, %f: memref<32x32xf32>, %y: memref<32768x1024xf32>) {
  kron.kmm ins(%x : memref<32768x1024xf32>) factors(%f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<32768x1024xf32>) beta(2.0 : f32)
  return
}
func.func @rectangular(%x: memref<32768x1024xf32>, %g: memref<16x32xf32>, %f: memref<32x32xf32>, %y: memref<16384x1024xf32>) {
  kron.kmm ins(%x : memref<32768x1024xf32>) factors(%g, %f, %f : memref<16x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<16384x1024xf32>)
  return
}
