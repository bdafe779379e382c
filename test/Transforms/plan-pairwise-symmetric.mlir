// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" | FileCheck %s
// RUN: kron-opt %s --kron-plan="vector-bits=512" | FileCheck %s --check-prefix=CPU

// Verify that one half is computed of rows of one array with themselves, and that small matrices, which are one tile, are computed
// as a whole on a GPU.
// CHECK-LABEL: func.func @names(
// CHECK:         pow_diff(1.3{{.*}} symmetric = 1
// CHECK:         square_diff{{.*}} products = 3{{.*}} symmetric = 1
// CHECK:         abs_diff
// CHECK-NOT:     symmetric
// CHECK-LABEL: func.func @regions(
// CPU-LABEL: func.func @names(
// CPU:           symmetric = 1>
// CPU:           product_k = 56, symmetric = 12>
// CPU:           symmetric = 12>
// CPU-LABEL: func.func @regions(
func.func @names(%a: memref<?x?xf32>, %y: memref<?x?xf32>, %b: memref<9000x64xf32>, %z: memref<9000x9000xf32>, %c: memref<64x16x20xf32>, %w: memref<64x16x16xf32>) {
  kron.pairwise pow_diff(1.3) ins(T(%a), T(%a) : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise square_diff ins(%b, %b : memref<9000x64xf32>, memref<9000x64xf32>) outs(%z : memref<9000x9000xf32>)
  kron.pairwise abs_diff ins(%c, %c : memref<64x16x20xf32>, memref<64x16x20xf32>) outs(%w : memref<64x16x16xf32>)
  return
}

// Verify regions that are the same in both orders: an even function of a difference, however that is written; and hyper-parameters.
// CHECK:         inner {
// CHECK-COUNT-3: symmetric = 1
// CHECK-LABEL: func.func @others(
// CPU:           inner {
// CPU:           symmetric = 2>
// CPU:           symmetric = 4>
// CPU:           symmetric = 12>
// CPU-LABEL: func.func @others(
func.func @regions(%a: memref<?x?xf32>, %g: f32, %y: memref<?x?xf32>) {
  kron.pairwise ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) params(%g : f32) outs(%y : memref<?x?xf32>) inner {
  ^bb0(%u: f32, %v: f32, %p: f32):
    %d = arith.subf %u, %v : f32
    %q = arith.divf %d, %p : f32
    %r = math.roundeven %q : f32
    %f = arith.subf %q, %r : f32
    %n = arith.negf %f : f32
    %s = arith.mulf %n, %f : f32
    %e = math.exp %s : f32
    kron.pairwise_yield %e : f32
  }
  kron.pairwise ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) inner {
  ^bb0(%u: f32, %v: f32):
    %d = arith.subf %v, %u : f32
    %p = arith.mulf %v, %u : f32
    %f = math.fma %d, %d, %p : f32
    %s = math.absf %d : f32
    %m = arith.maximumf %f, %s : f32
    kron.pairwise_yield %m : f32
  }
  kron.pairwise reduce(max) ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) inner {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    kron.pairwise_yield %s : f32
  }
  return
}

// Verify that both halves are computed of other arrays, of one in two ways, of regions that are not the same in both orders, or are
// not known to be.
// CHECK-NOT:     symmetric
// CPU-NOT:       symmetric
// CPU-LABEL: func.func @short(
func.func @others(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<64x64xf32>, %y: memref<?x?xf32>, %z: memref<64x64xf32>) {
  kron.pairwise abs_diff ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise dot ins(%c, T(%c) : memref<64x64xf32>, memref<64x64xf32>) outs(%z : memref<64x64xf32>)
  kron.pairwise ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) inner {
  ^bb0(%u: f32, %v: f32):
    %d = arith.subf %u, %v : f32
    %e = math.exp %d : f32
    kron.pairwise_yield %e : f32
  }
  kron.pairwise ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) inner {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %u : f32
    %t = arith.mulf %v, %v : f32
    %e = arith.addf %s, %t : f32
    kron.pairwise_yield %e : f32
  }
  kron.pairwise ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) inner {
  ^bb0(%u: f32, %v: f32):
    %d = arith.subf %u, %v : f32
    %m = arith.mulf %u, %v : f32
    %e = arith.addf %d, %m : f32
    kron.pairwise_yield %e : f32
  }
  kron.pairwise_apply abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%a : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

// Verify that both halves are computed of short rows: memory bounds a GPU, and a CPU takes longer to copy an element than to compute
// it, unless there is an exponential in the epilogue.
// CPU:           symmetric = -1>
// CPU:           symmetric = 6>
func.func @short(%a: memref<9000x3xf32>, %b: memref<9000x8xf32>, %y: memref<9000x9000xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<9000x3xf32>, memref<9000x3xf32>) outs(%y : memref<9000x9000xf32>)
  kron.pairwise square_diff ins(%b, %b : memref<9000x8xf32>, memref<9000x8xf32>) outs(%y : memref<9000x9000xf32>) epilogue {
  ^bb0(%s: f32):
    %n = arith.negf %s : f32
    %e = math.exp %n : f32
    kron.pairwise_yield %e : f32
  }
  return
}

// Verify batches of small matrices: both halves where rows are copied and tiles stored for less than a second store saves, one half where the function takes longer.
// CHECK-LABEL: func.func @batches(
// CHECK:         abs_diff{{.*}}thread_rows = 8, thread_columns = 4>
// CHECK:         abs_diff{{.*}} symmetric = 1
// CHECK:         pow_diff{{.*}} symmetric = 1
func.func @batches(%a: memref<512x300x20xf32>, %y: memref<512x300x300xf32>, %b: memref<512x300x64xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<512x300x20xf32>, memref<512x300x20xf32>) outs(%y : memref<512x300x300xf32>)
  kron.pairwise abs_diff ins(%b, %b : memref<512x300x64xf32>, memref<512x300x64xf32>) outs(%y : memref<512x300x300xf32>)
  kron.pairwise pow_diff(1.3) ins(%a, %a : memref<512x300x20xf32>, memref<512x300x20xf32>) outs(%y : memref<512x300x300xf32>)
  return
}

// Verify that one half is computed of matrices that are one tile, too, where some elements are of a table: an element and that across
// the diagonal would differ in their last bits.
// CHECK-LABEL: func.func @tables(
// CHECK-COUNT-2: pow_diff{{.*}} symmetric = 1, polynomials
// CHECK:         pow_diff
// CHECK-NOT:     symmetric
func.func @tables(%a: memref<3x33x20xf32>, %y: memref<3x33x33xf32>, %b: memref<201x60xf32>, %z: memref<201x201xf32>) {
  kron.pairwise pow_diff(1.3) ins(%a, %a : memref<3x33x20xf32>, memref<3x33x20xf32>) outs(%y : memref<3x33x33xf32>)
  kron.pairwise pow_diff(1.5) ins(%b, %b : memref<201x60xf32>, memref<201x60xf32>) outs(%z : memref<201x201xf32>)
  kron.pairwise pow_diff(3.0) ins(%a, %a : memref<3x33x20xf32>, memref<3x33x20xf32>) outs(%y : memref<3x33x33xf32>)
  return
}
