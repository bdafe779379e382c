// RUN: kron-opt %s --kron-select-schedule --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-select-schedule="vector-bits=256 cache-bytes=4096" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=SMALL

// Verify that the tile is as many rows as keep both buffers (512 floats each)
// within the cache budget: 32768 / (2 * 2048) = 8, and 1 with 4096 bytes.
// CHECK-LABEL: func @rows
// CHECK: #kron.schedule<vector_bits = 512, tile = 8>
// SMALL-LABEL: func @rows
// SMALL: #kron.schedule<vector_bits = 256, tile = 1>
func.func @rows(%x: memref<?x8x8x8xf32>, %f: memref<8x8xf32>, %y: memref<?x8x8x8xf32>) {
  kron.pass ins(%x, %f : memref<?x8x8x8xf32>, memref<8x8xf32>) outs(%y : memref<?x8x8x8xf32>) {
  ^bb0(%t: tensor<?x8x8x8xf32>, %a: tensor<8x8xf32>, %o: tensor<?x8x8x8xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %t, %c0 : tensor<?x8x8x8xf32>
    %e = tensor.empty(%m) : tensor<?x8x8x8xf32>
    %1 = kron.mode_product axis(3) ins(%t : tensor<?x8x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%e : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x8x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%e : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<?x8x8x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
    kron.yield %3 : tensor<?x8x8x8xf32>
  }
  return
}

// -----

// Verify that what is set by hand is kept, field by field.
// CHECK-LABEL: func @by_hand
// CHECK: #kron.schedule<vector_bits = 256, tile = 3, register_rows = 4, register_vectors = 2>
func.func @by_hand(%x: memref<?x16xf32>, %f: memref<16x16xf32>, %y: memref<?x16xf32>) {
  kron.pass ins(%x, %f : memref<?x16xf32>, memref<16x16xf32>) outs(%y : memref<?x16xf32>)
      attributes {schedule = #kron.schedule<vector_bits = 256, tile = 3, register_rows = 4, register_vectors = 2>} {
  ^bb0(%t: tensor<?x16xf32>, %a: tensor<16x16xf32>, %o: tensor<?x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
    kron.yield %1 : tensor<?x16xf32>
  }
  return
}

// -----

// Verify that an innermost axis that no factor touches is tiled by whole vectors:
// lanes run along it.
// CHECK-LABEL: func @columns
// CHECK: #kron.schedule<vector_bits = 512, tile = 128>
// SMALL-LABEL: func @columns
// SMALL: #kron.schedule<vector_bits = 256, tile = 64>
func.func @columns(%x: memref<16x?xf32>, %f: memref<16x16xf32>, %y: memref<16x?xf32>) {
  kron.pass ins(%x, %f : memref<16x?xf32>, memref<16x16xf32>) outs(%y : memref<16x?xf32>) {
  ^bb0(%t: tensor<16x?xf32>, %a: tensor<16x16xf32>, %o: tensor<16x?xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x?xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<16x?xf32>) -> tensor<16x?xf32>
    kron.yield %1 : tensor<16x?xf32>
  }
  return
}

// -----

// Verify that a pass that the CPU code generator does not take is left alone.
// CHECK-LABEL: func @extended
// CHECK-NOT: kron.schedule
func.func @extended(%x: memref<4x16xf80>, %f: memref<16x16xf80>, %y: memref<4x16xf80>) {
  kron.pass ins(%x, %f : memref<4x16xf80>, memref<16x16xf80>) outs(%y : memref<4x16xf80>) {
  ^bb0(%t: tensor<4x16xf80>, %a: tensor<16x16xf80>, %o: tensor<4x16xf80>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf80>) factor(%a [p, q] : tensor<16x16xf80>) outs(%o : tensor<4x16xf80>) -> tensor<4x16xf80>
    kron.yield %1 : tensor<4x16xf80>
  }
  return
}
