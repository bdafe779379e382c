// RUN: kron-opt %s --kron-plan --convert-kron-to-vector --split-input-file | FileCheck %s

// Verify that a factor of 36 KB is packed in panels, and is not in a step that may take more of
// the first-level cache, whatever the region may.
// CHECK-LABEL: func.func @panels
// CHECK-SAME: kron.shared_bytes = 49152 : i64
func.func @panels(%x: memref<1000x96xf32>, %f: memref<96x96xf32>, %y: memref<1000x96xf32>) {
  kron.fused ins(%x, %f : memref<1000x96xf32>, memref<96x96xf32>) outs(%y : memref<1000x96xf32>) {
  ^bb0(%t: tensor<1000x96xf32>, %a: tensor<96x96xf32>, %o: tensor<1000x96xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96xf32>) factor(%a [p, q] : tensor<96x96xf32>) outs(%o : tensor<1000x96xf32>) -> tensor<1000x96xf32>
    kron.yield %1 : tensor<1000x96xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @no_panels
// CHECK-SAME: kron.shared_bytes = 0 : i64
func.func @no_panels(%x: memref<1000x96xf32>, %f: memref<96x96xf32>, %y: memref<1000x96xf32>) {
  kron.fused ins(%x, %f : memref<1000x96xf32>, memref<96x96xf32>) outs(%y : memref<1000x96xf32>) attributes {plan = #kron.cpu_plan<steps = [{l1_bytes = 65536}]>} {
  ^bb0(%t: tensor<1000x96xf32>, %a: tensor<96x96xf32>, %o: tensor<1000x96xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x96xf32>) factor(%a [p, q] : tensor<96x96xf32>) outs(%o : tensor<1000x96xf32>) -> tensor<1000x96xf32>
    kron.yield %1 : tensor<1000x96xf32>
  }
  return
}

// -----

// Verify that a small factor is, if its region may take less.
// CHECK-LABEL: func.func @small_panels
// CHECK-SAME: kron.shared_bytes = 16384 : i64
func.func @small_panels(%x: memref<1000x64xf32>, %f: memref<64x64xf32>, %y: memref<1000x64xf32>) {
  kron.fused ins(%x, %f : memref<1000x64xf32>, memref<64x64xf32>) outs(%y : memref<1000x64xf32>) attributes {plan = #kron.cpu_plan<l1_bytes = 1024>} {
  ^bb0(%t: tensor<1000x64xf32>, %a: tensor<64x64xf32>, %o: tensor<1000x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x64xf32>) factor(%a [p, q] : tensor<64x64xf32>) outs(%o : tensor<1000x64xf32>) -> tensor<1000x64xf32>
    kron.yield %1 : tensor<1000x64xf32>
  }
  return
}

// -----

// Verify that register tiles have the rows and vectors that the step says: 3 rows, then single ones, of 16 p
// each, the first of which is a product.
// CHECK-LABEL: func.func private @register_tile_fused
// CHECK-COUNT-60: vector.fma
// CHECK-NOT: vector.fma
func.func @register_tile(%x: memref<?x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16xf32>) {
  kron.fused ins(%x, %f : memref<?x16xf32>, memref<16x16xf32>) outs(%y : memref<?x16xf32>) attributes {plan = #kron.cpu_plan<steps = [{rows = 3, vectors = 1}]>} {
  ^bb0(%t: tensor<?x16xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
    kron.yield %1 : tensor<?x16xf32>
  }
  return
}

// -----

// Verify that threads get ranges of at least as many multiply-adds as the plan says.
// CHECK-LABEL: func.func @threads
// CHECK: call @kronRtParallelFor(%c1000_i64{{[_0-9]*}}, %c3_i64
func.func @threads(%x: memref<1000x16xf32>, %f: memref<16x16xf32>, %y: memref<1000x16xf32>) {
  kron.fused ins(%x, %f : memref<1000x16xf32>, memref<16x16xf32>) outs(%y : memref<1000x16xf32>) attributes {plan = #kron.cpu_plan<tile = 1, thread_fmas = 1024>} {
  ^bb0(%t: tensor<1000x16xf32>, %a: tensor<16x16xf32>, %o: tensor<1000x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1000x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<1000x16xf32>) -> tensor<1000x16xf32>
    kron.yield %1 : tensor<1000x16xf32>
  }
  return
}
