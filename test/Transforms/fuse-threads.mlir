// RUN: kron-opt %s --kron-decompose --kron-fuse --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse --split-input-file --remarks-filter=kron-fuse 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: kron-opt %s --kron-decompose --kron-fuse=target=cuda --split-input-file | FileCheck %s --check-prefix=CUDA

// No form by threads on a GPU.
// CUDA-NOT: kron.num_threads

// Verify that one row of enough work is two fused regions with two threads or more, the last factor
// by itself, and one fused region with one; and that the first fused region's memory is released there.
// CHECK-LABEL: func.func @row(
// CHECK-DAG:     %[[THREADS:.*]] = kron.num_threads
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 2 : index
// CHECK:         %[[ENOUGH:.*]] = arith.cmpi sge, %[[THREADS]], %[[LEAST]] {kron.requires = {min_threads = 2 : i64}} : index
// CHECK:         scf.if %[[ENOUGH]] {
// CHECK:           %[[BETWEEN:.*]] = memref.alloc() {{.*}} : memref<1x16x16x16x16xf32>
// CHECK:           kron.fused ins({{.*}} : memref<1x16x16x16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%[[BETWEEN]] :
// CHECK:           kron.fused ins(%[[BETWEEN]], {{.*}} : memref<1x16x16x16x16xf32>, memref<16x16xf32>) outs(
// CHECK:           memref.dealloc %[[BETWEEN]]
// CHECK:         } else {
// CHECK:           kron.fused ins({{.*}} : memref<1x16x16x16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(
// CHECK-NOT:     kron.fused
// CHECK:         return
// REMARK: remark: [Analysis] Threads | Category:kron-fuse | Remark="2 fused regions where a launch has 2 threads or more, which its rows are too few for; else one", Threads=2
func.func @row(%x: memref<1x65536xf32>, %f: memref<16x16xf32>, %y: memref<1x65536xf32>) {
  kron.mkm ins(%x : memref<1x65536xf32>)
           factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
           outs(%y : memref<1x65536xf32>)
  return
}

// -----

// Verify tensors, scaled, in two rows, which two threads have one each of.
// CHECK-LABEL: func.func @two_rows(
// CHECK:         %[[LEAST:.*]] = arith.constant 4 : index
// CHECK:         %[[ENOUGH:.*]] = arith.cmpi sge, %{{.*}}, %[[LEAST]] {kron.requires = {min_threads = 4 : i64}} : index
// CHECK:         %[[Y:.*]] = scf.if %[[ENOUGH]] -> (tensor<2x128x128xf64>) {
// CHECK:           %[[FIRST:.*]] = kron.fused
// CHECK-NOT:         beta
// CHECK:           %[[LAST:.*]] = kron.fused ins(%[[FIRST]],
// CHECK:             alpha(2.000000e+00 : f64) beta(5.000000e-01 : f64)
// CHECK:           scf.yield %[[LAST]]
// CHECK:         } else {
// CHECK:           %[[WHOLE:.*]] = kron.fused
// CHECK:             alpha(2.000000e+00 : f64) beta(5.000000e-01 : f64)
// CHECK:           scf.yield %[[WHOLE]]
// REMARK: Threads=4
func.func @two_rows(%x: tensor<2x16384xf64>, %f: tensor<128x128xf64>, %y: tensor<2x16384xf64>) -> tensor<2x16384xf64> {
  %0 = kron.mkm ins(%x : tensor<2x16384xf64>) factors(%f, %f : tensor<128x128xf64>, tensor<128x128xf64>)
         outs(%y : tensor<2x16384xf64>) alpha(2.0 : f64) beta(0.5 : f64) -> tensor<2x16384xf64>
  return %0 : tensor<2x16384xf64>
}

// -----

// Verify that there is one form of little work, of more rows, of an unknown number of rows, of
// a single factor, of a type that would be rounded between fused regions, and where the plan is
// given.
// REMARK-NOT: Threads
// CHECK-LABEL: func.func @little_work(
// CHECK-NOT:     kron.num_threads
func.func @little_work(%x: memref<1x4096xf32>, %f: memref<64x64xf32>, %y: memref<1x4096xf32>) {
  kron.mkm ins(%x : memref<1x4096xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<1x4096xf32>)
  return
}

// CHECK-LABEL: func.func @three_rows(
// CHECK-NOT:     kron.num_threads
func.func @three_rows(%x: memref<3x16384xf32>, %f: memref<128x128xf32>, %y: memref<3x16384xf32>) {
  kron.mkm ins(%x : memref<3x16384xf32>) factors(%f, %f : memref<128x128xf32>, memref<128x128xf32>) outs(%y : memref<3x16384xf32>)
  return
}

// CHECK-LABEL: func.func @unknown_rows(
// CHECK-NOT:     kron.num_threads
func.func @unknown_rows(%x: memref<?x16384xf32>, %f: memref<128x128xf32>, %y: memref<?x16384xf32>) {
  kron.mkm ins(%x : memref<?x16384xf32>) factors(%f, %f : memref<128x128xf32>, memref<128x128xf32>) outs(%y : memref<?x16384xf32>)
  return
}

// CHECK-LABEL: func.func @one_factor(
// CHECK-NOT:     kron.num_threads
func.func @one_factor(%x: memref<1x2048xf32>, %f: memref<2048x2048xf32>, %y: memref<1x2048xf32>) {
  kron.mkm ins(%x : memref<1x2048xf32>) factors(%f : memref<2048x2048xf32>) outs(%y : memref<1x2048xf32>)
  return
}

// CHECK-LABEL: func.func @rounded(
// CHECK-NOT:     kron.num_threads
func.func @rounded(%x: memref<1x16384xbf16>, %f: memref<128x128xbf16>, %y: memref<1x16384xbf16>) {
  kron.mkm ins(%x : memref<1x16384xbf16>) factors(%f, %f : memref<128x128xbf16>, memref<128x128xbf16>) outs(%y : memref<1x16384xbf16>)
  return
}

// CHECK-LABEL: func.func @given(
// CHECK-NOT:     kron.num_threads
func.func @given(%x: memref<1x16384xf32>, %f: memref<128x128xf32>, %y: memref<1x16384xf32>) {
  kron.mkm ins(%x : memref<1x16384xf32>) factors(%f, %f : memref<128x128xf32>, memref<128x128xf32>) outs(%y : memref<1x16384xf32>)
    {plan = #kron.cpu_plan<tile = 1>}
  return
}

// -----

// Verify a row whose multiply-adds no 64 bits hold: a fused region per factor.
// CHECK-LABEL: func.func @many_multiply_adds
// CHECK-COUNT-3: kron.fused
// CHECK-NOT:     kron.fused
func.func @many_multiply_adds(%x: memref<1x42875x42875x42875xf32>, %f: memref<42875x42875xf32>, %y: memref<1x42875x42875x42875xf32>) {
  kron.batched ins(%x : memref<1x42875x42875x42875xf32>) factors(%f, %f, %f : memref<42875x42875xf32>, memref<42875x42875xf32>, memref<42875x42875xf32>)
      outs(%y : memref<1x42875x42875x42875xf32>)
  return
}

// -----

// Verify factors of unknown sizes: one fused region.
// CHECK-LABEL: func.func @unknown_sizes
// CHECK-COUNT-1: kron.fused
// CHECK-NOT:     kron.fused
func.func @unknown_sizes(%x: tensor<?x?x?xf32>, %f: tensor<?x?xf32>, %g: tensor<?x?xf32>, %e: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %1 = kron.mode_product axis(2) ins(%x : tensor<?x?x?xf32>) factor(%f [p, q] : tensor<?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<?x?x?xf32>) factor(%g [p, q] : tensor<?x?xf32>) outs(%y : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %2 : tensor<?x?x?xf32>
}
