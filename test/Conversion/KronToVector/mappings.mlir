// RUN: kron-opt %s --kron-plan --convert-kron-to-vector --canonicalize \
// RUN:   --split-input-file | FileCheck %s

// Verify the fibre mapping: lanes run over q, X is broadcast, F is read as it lies
// (no packing, so no workspace), rows of the tile run over the outer axis.
// CHECK-LABEL: func.func @fibre
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK: call @kronRtParallelFor
// CHECK-LABEL: func.func private @fibre_fused
// CHECK-NOT: llvm.intr.masked
// CHECK-NOT: llvm.freeze
// CHECK: %[[F:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: %[[B:.*]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK: vector.fma %[[B]], %[[F]]
func.func @fibre(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>) {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Verify that a factor stored [q, p] is packed once into the shared workspace
// (16 * 16 * 4 bytes), before the parallel loop: a square of vectors is transposed by
// shuffles, log2(16) of each.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: kron.shared_bytes = 1024 : i64
// CHECK: %[[W:.*]] = call @kronRtWorkspace
// CHECK-COUNT-16: llvm.load {{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30]
// CHECK-COUNT-63: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: call @kronRtParallelFor
func.func @packed(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>) {
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>) {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Verify that a short innermost axis joins q in the lanes: X is loaded in groups of
// four and repeated.
// CHECK-LABEL: func.func private @group_fused
// CHECK: %[[G:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xf32>
// CHECK: vector.shuffle %[[G]], %[[G]] [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
func.func @group(%x: memref<64x8x4xf32>, %f: memref<8x8xf32>, %y: memref<64x8x4xf32>) {
  kron.fused ins(%x, %f : memref<64x8x4xf32>, memref<8x8xf32>) outs(%y : memref<64x8x4xf32>) {
  ^bb0(%t: tensor<64x8x4xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8x4xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    kron.yield %1 : tensor<64x8x4xf32>
  }
  return
}

// -----

// Verify that an axis of five joins q, too: groups of five are repeated by a shuffle, for two
// vectors, of three and of two q.
// CHECK-LABEL: func.func @group_of_five
// CHECK-SAME: kron.shared_bytes = 640 : i64
// CHECK-LABEL: func.func private @group_of_five_fused
// CHECK-DAG: %[[TEN:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false]>
// CHECK-DAG: %[[FIFTEEN:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false]>
// CHECK: %[[G:.*]] = llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK: %[[R:.*]] = vector.shuffle %[[G]], %[[G]] [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0]
// CHECK-COUNT-2: arith.mulf %[[R]], %{{.*}} : vector<16xf32>
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[FIFTEEN]]
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[TEN]]
// CHECK-NOT: masked.store
func.func @group_of_five(%x: memref<64x5x5xf32>, %f: memref<5x5xf32>, %y: memref<64x5x5xf32>) {
  kron.fused ins(%x, %f : memref<64x5x5xf32>, memref<5x5xf32>) outs(%y : memref<64x5x5xf32>) {
  ^bb0(%t: tensor<64x5x5xf32>, %a: tensor<5x5xf32>, %o: tensor<64x5x5xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x5x5xf32>) factor(%a [p, q] : tensor<5x5xf32>) outs(%o : tensor<64x5x5xf32>) -> tensor<64x5x5xf32>
    kron.yield %1 : tensor<64x5x5xf32>
  }
  return
}

// -----

// Verify that three fibres of five share a vector and stay as they lie: a shuffle repeats an
// element of each, the rows of the factor are repeated once, before the loop.
// CHECK-LABEL: func.func @fibres_of_five
// CHECK-SAME: kron.shared_bytes = 0 : i64
// CHECK-LABEL: func.func private @fibres_of_five_fused
// CHECK: %[[FIFTEEN:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false]>
// CHECK: vector.shuffle %[[F:.*]], %[[F]] [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0] : vector<8xf32>, vector<8xf32>
// CHECK: scf.for
// CHECK: %[[X:.*]] = llvm.intr.masked.load %{{.*}}, %[[FIFTEEN]]
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10, 10, 10, 15]
// CHECK: vector.shuffle %[[X]], %[[X]] [1, 1, 1, 1, 1, 6, 6, 6, 6, 6, 11, 11, 11, 11, 11, 15]
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[FIFTEEN]]
func.func @fibres_of_five(%x: memref<192x5xf32>, %f: memref<5x5xf32>, %y: memref<192x5xf32>) {
  kron.fused ins(%x, %f : memref<192x5xf32>, memref<5x5xf32>) outs(%y : memref<192x5xf32>) {
  ^bb0(%t: tensor<192x5xf32>, %a: tensor<5x5xf32>, %o: tensor<192x5xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<192x5xf32>) factor(%a [p, q] : tensor<5x5xf32>) outs(%o : tensor<192x5xf32>) -> tensor<192x5xf32>
    kron.yield %1 : tensor<192x5xf32>
  }
  return
}

// -----

// Verify that where rows are not known the last vectors have as many of them as there are.
// CHECK-LABEL: func.func private @fibres_of_six_fused
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %[[ROWS:.*]] step %c2_i64
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[ROW]]
// CHECK-NEXT: %[[FIBRES:.*]] = arith.minsi %[[LEFT]], %c2_i64
// CHECK-NEXT: %[[ELEMENTS:.*]] = arith.muli %[[FIBRES]], %c6_i64
// CHECK-NEXT: arith.minsi %[[ELEMENTS]], %c16_i64
func.func @fibres_of_six(%x: memref<?x6xf32>, %f: memref<6x6xf32>, %y: memref<?x6xf32>) {
  kron.fused ins(%x, %f : memref<?x6xf32>, memref<6x6xf32>) outs(%y : memref<?x6xf32>) {
  ^bb0(%t: tensor<?x6xf32>, %a: tensor<6x6xf32>, %o: tensor<?x6xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<?x6xf32>) factor(%a [p, q] : tensor<6x6xf32>) outs(%o : tensor<?x6xf32>) -> tensor<?x6xf32>
    kron.yield %1 : tensor<?x6xf32>
  }
  return
}

// -----

// Verify that the elements of two fibres of eight are taken in turn, in pairs that loads
// repeat, and results are put in order again.
// CHECK-LABEL: func.func private @fibres_of_eight_fused
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
// CHECK: %[[PAIR:.*]] = llvm.load {{.*}} -> vector<2xf32>
// CHECK: vector.shuffle %[[PAIR]], %[[PAIR]] [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
// CHECK: vector.shuffle %[[S:.*]], %[[S]] [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]
// CHECK-NEXT: llvm.store
func.func @fibres_of_eight(%x: memref<64x8xf32>, %f: memref<8x8xf32>, %y: memref<64x8xf32>) {
  kron.fused ins(%x, %f : memref<64x8xf32>, memref<8x8xf32>) outs(%y : memref<64x8xf32>) {
  ^bb0(%t: tensor<64x8xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
    kron.yield %1 : tensor<64x8xf32>
  }
  return
}

// -----

// Verify that where a plan says so they stay in their vector, in two blocks of 128 bits of
// each, whose elements are repeated within 128 bits; results come out in order.
// CHECK-LABEL: func.func @kept_fibres_of_eight
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @kept_fibres_of_eight_fused
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK: %[[LOW:.*]] = vector.shuffle %[[X]], %[[X]] [0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11]
// CHECK: %[[FENCED:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[LOW]])
// CHECK: %[[HIGH:.*]] = vector.shuffle %[[X]], %[[X]] [4, 5, 6, 7, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15]
// CHECK: vector.shuffle %[[FENCED]], %[[FENCED]] [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]
// CHECK: vector.shuffle {{.*}} [3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15]
// CHECK-NOT: vector.shuffle %{{.*}} [0, 2, 4, 6, 8
func.func @kept_fibres_of_eight(%x: memref<64x8xf32>, %f: memref<8x8xf32>, %y: memref<64x8xf32>) {
  kron.fused ins(%x, %f : memref<64x8xf32>, memref<8x8xf32>) outs(%y : memref<64x8xf32>) attributes {plan = #kron.cpu_plan<kept_fibres = 1>} {
  ^bb0(%t: tensor<64x8xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
    kron.yield %1 : tensor<64x8xf32>
  }
  return
}

// -----

// Verify that rows share a vector of the q that fill none: of 20 q of f64 two rows have four
// each in it. 20 rows of 32 elements are packed, with these four twice. Of 67 rows the last
// one has its own.
// CHECK-LABEL: func.func @shared_rest
// CHECK-SAME: kron.shared_bytes = 5120 : i64
// CHECK: %[[REST:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xf64>
// CHECK: vector.shuffle %[[REST]], %[[REST]] [0, 1, 2, 3, 0, 1, 2, 3]
// CHECK-LABEL: func.func private @shared_rest_fused
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 12, 13, 14, 15]
// CHECK: vector.shuffle %[[SUM:.*]], %[[SUM]] [0, 1, 2, 3] : vector<8xf64>
// CHECK-NEXT: llvm.store %{{.*}} : vector<4xf64>
// CHECK: vector.shuffle %[[SUM]], %[[SUM]] [4, 5, 6, 7] : vector<8xf64>
// CHECK: llvm.intr.masked.store
func.func @shared_rest(%x: memref<67x20xf64>, %f: memref<20x20xf64>, %y: memref<67x20xf64>) {
  kron.fused ins(%x, %f : memref<67x20xf64>, memref<20x20xf64>) outs(%y : memref<67x20xf64>) attributes {plan = #kron.cpu_plan<tile = 67>} {
  ^bb0(%t: tensor<67x20xf64>, %a: tensor<20x20xf64>, %o: tensor<67x20xf64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<67x20xf64>) factor(%a [p, q] : tensor<20x20xf64>) outs(%o : tensor<67x20xf64>) -> tensor<67x20xf64>
    kron.yield %1 : tensor<67x20xf64>
  }
  return
}

// -----

// Verify that what fills no vector of the innermost axis is taken with several q: of ten
// elements, groups of eight with two q, and then groups of two with eight. The factor, 100
// elements, is packed with every q eight times (10 * 80 elements) and twice (10 * 32). The
// last vector of the latter holds two q.
// CHECK-LABEL: func.func @rest
// CHECK-SAME: kron.shared_bytes = 4928 : i64
// CHECK: %[[TWO:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<2xf32>
// CHECK: vector.shuffle %[[TWO]], %[[TWO]] [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
// CHECK: %[[EIGHT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: vector.shuffle %[[EIGHT]], %[[EIGHT]] [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
// CHECK: call @kronRtParallelFor
// CHECK-LABEL: func.func private @rest_fused
// CHECK: %[[G:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: vector.shuffle %[[G]], %[[G]] [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: vector.shuffle %[[A:.*]], %[[A]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>
// CHECK-NEXT: llvm.store %{{.*}} : vector<8xf32>
// CHECK: vector.shuffle %[[A]], %[[A]] [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: %[[H:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<2xf32>
// CHECK: vector.shuffle %[[H]], %[[H]] [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
// CHECK: vector.shuffle %[[B:.*]], %[[B]] [14, 15] : vector<16xf32>
// CHECK: vector.shuffle %[[C:.*]], %[[C]] [2, 3] : vector<16xf32>
// CHECK-NOT: vector.shuffle %[[C]], %[[C]] [4, 5]
// CHECK-NOT: llvm.intr.masked
func.func @rest(%x: memref<64x10x10xf32>, %f: memref<10x10xf32>, %y: memref<64x10x10xf32>) {
  kron.fused ins(%x, %f : memref<64x10x10xf32>, memref<10x10xf32>) outs(%y : memref<64x10x10xf32>) {
  ^bb0(%t: tensor<64x10x10xf32>, %a: tensor<10x10xf32>, %o: tensor<64x10x10xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x10x10xf32>) factor(%a [p, q] : tensor<10x10xf32>) outs(%o : tensor<64x10x10xf32>) -> tensor<64x10x10xf32>
    kron.yield %1 : tensor<64x10x10xf32>
  }
  return
}

// -----

// Verify the inner mapping with a tail: 20 = 16 + 4 lanes, the last four by mask.
// CHECK-LABEL: func.func private @inner_fused
// CHECK: arith.constant dense<[true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false]>
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
// CHECK-NOT: memref.store
func.func @inner(%x: memref<64x3x20xf32>, %f: memref<3x3xf32>, %y: memref<64x3x20xf32>) {
  kron.fused ins(%x, %f : memref<64x3x20xf32>, memref<3x3xf32>) outs(%y : memref<64x3x20xf32>) {
  ^bb0(%t: tensor<64x3x20xf32>, %a: tensor<3x3xf32>, %o: tensor<64x3x20xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x3x20xf32>) factor(%a [p, q] : tensor<3x3xf32>) outs(%o : tensor<64x3x20xf32>) -> tensor<64x3x20xf32>
    kron.yield %1 : tensor<64x3x20xf32>
  }
  return
}

// -----

// Verify the varying mapping (a Kronecker-sparse factor with d = 12): the factor is
// loaded as a vector, and no element of it is broadcast.
// CHECK-LABEL: func.func @varying
// CHECK-SAME: kron.shared_bytes = 0 : i64
// CHECK-LABEL: func.func private @varying_fused
// CHECK-NOT: vector.broadcast
// CHECK: vector.fma
// CHECK-NOT: vector.broadcast
func.func @varying(%x: memref<?x2x4x12xf32>, %k: memref<2x4x4x12xf32>, %y: memref<?x2x4x12xf32>) {
  kron.fused ins(%x, %k : memref<?x2x4x12xf32>, memref<2x4x4x12xf32>) outs(%y : memref<?x2x4x12xf32>) {
  ^bb0(%t: tensor<?x2x4x12xf32>, %a: tensor<2x4x4x12xf32>, %o: tensor<?x2x4x12xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x2x4x12xf32>) factor(%a [1, q, p, 3] : tensor<2x4x4x12xf32>) outs(%o : tensor<?x2x4x12xf32>) -> tensor<?x2x4x12xf32>
    kron.yield %1 : tensor<?x2x4x12xf32>
  }
  return
}

// -----

// Verify the fibre mapping of a Kronecker-sparse factor with d = 3: lanes run over q
// and t, five q to a register of which one lane stays empty; the packed factor
// (2 * 4 * 16 * 4 bytes) has zeros there.
// CHECK-LABEL: func.func @fibre_varying
// CHECK-SAME: kron.shared_bytes = 512 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @fibre_varying_fused
// CHECK: %[[USED:.*]] = arith.constant dense<[true, {{(true, )*}}false]> : vector<16xi1>
// CHECK: llvm.intr.masked.load %{{.*}}, %[[USED]]
// CHECK: %[[X:.*]] = llvm.intr.masked.load
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0] : vector<4xf32>, vector<4xf32>
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[USED]]
func.func @fibre_varying(%x: memref<?x2x4x3xf32>, %k: memref<2x5x4x3xf32>, %y: memref<?x2x5x3xf32>) {
  kron.fused ins(%x, %k : memref<?x2x4x3xf32>, memref<2x5x4x3xf32>) outs(%y : memref<?x2x5x3xf32>) {
  ^bb0(%t: tensor<?x2x4x3xf32>, %a: tensor<2x5x4x3xf32>, %o: tensor<?x2x5x3xf32>):
    %1 = kron.mode_product axis(2) ins(%t : tensor<?x2x4x3xf32>) factor(%a [1, q, p, 3] : tensor<2x5x4x3xf32>) outs(%o : tensor<?x2x5x3xf32>) -> tensor<?x2x5x3xf32>
    kron.yield %1 : tensor<?x2x5x3xf32>
  }
  return
}

// -----

// Verify the inner mapping where the factor depends on the innermost axis, but not on
// the one before (the weight gradient of a Kronecker-sparse factor with d = 4): lanes
// run over both, groups of the factor are repeated, nothing is packed.
// CHECK-LABEL: func.func @inner_grouped
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @inner_grouped_fused
// CHECK-NOT: llvm.intr.masked
// CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: %[[G:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: %[[A:.*]] = vector.shuffle %[[G]], %[[G]] [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
// CHECK: vector.fma %[[A]], %[[X]]
func.func @inner_grouped(%x: memref<64x2x8x4xf32>, %g: memref<64x2x5x4xf32>, %y: memref<5x2x8x4xf32>) {
  kron.fused ins(%x, %g : memref<64x2x8x4xf32>, memref<64x2x5x4xf32>) outs(%y : memref<5x2x8x4xf32>) {
  ^bb0(%t: tensor<64x2x8x4xf32>, %a: tensor<64x2x5x4xf32>, %o: tensor<5x2x8x4xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<64x2x8x4xf32>) factor(%a [p, 1, q, 3] : tensor<64x2x5x4xf32>) outs(%o : tensor<5x2x8x4xf32>) -> tensor<5x2x8x4xf32>
    kron.yield %1 : tensor<5x2x8x4xf32>
  }
  return
}

// -----

// Verify that an array that is not contiguous where lanes run is copied, tile by
// tile, through the thread's scratch, and that alpha and beta are applied then.
// CHECK-LABEL: func.func @strided
// CHECK-NOT: kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @strided_fused
// CHECK: vector.fma
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
func.func @strided(%x: memref<64x8xf32>, %f: memref<8x8xf32>, %y: memref<64x8xf32, strided<[100, 7]>>) {
  kron.fused ins(%x, %f : memref<64x8xf32>, memref<8x8xf32>) outs(%y : memref<64x8xf32, strided<[100, 7]>>) {
  ^bb0(%t: tensor<64x8xf32>, %a: tensor<8x8xf32>, %o: tensor<64x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<64x8xf32>) alpha(3.0 : f32) -> tensor<64x8xf32>
    kron.yield %1 : tensor<64x8xf32>
  }
  return
}

// -----

// Verify that a run-time beta drops what it scales when it is zero: a NaN in Z must
// not come through.
// CHECK-LABEL: func.func private @beta_fused
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}} : vector<16xf32>
// CHECK-NEXT: %[[ZERO:.*]] = arith.cmpf oeq, %{{.*}} : f32
// CHECK-NEXT: arith.select %[[ZERO]], %{{.*}}, %[[SCALED]] : vector<16xf32>
func.func @beta(%x: memref<64x16xf32>, %f: memref<16x16xf32>, %y: memref<64x16xf32>, %b: f32) {
  kron.fused ins(%x, %f : memref<64x16xf32>, memref<16x16xf32>) outs(%y : memref<64x16xf32>) {
  ^bb0(%t: tensor<64x16xf32>, %a: tensor<16x16xf32>, %o: tensor<64x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<64x16xf32>) beta(%b : f32) -> tensor<64x16xf32>
    kron.yield %1 : tensor<64x16xf32>
  }
  return
}

// -----

// Verify that a tile of fewer than eight p is unrolled whatever its size (6 x 24 vectors of
// multiply-adds), and that all of its addresses start from three frozen pointers, which keep
// strength reduction from looking for others: F, X and the result, in the body of the loop
// over tiles.
// CHECK-LABEL: func.func private @unrolled_fused
// CHECK: scf.for
// CHECK: %[[A:.*]] = llvm.freeze %{{.*}} : !llvm.ptr
// CHECK: %[[B:.*]] = llvm.freeze %{{.*}} : !llvm.ptr
// CHECK: %[[Y:.*]] = llvm.freeze %{{.*}} : !llvm.ptr
// CHECK-NOT: scf.for
// CHECK: llvm.load %[[B]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.load %[[A]] : !llvm.ptr -> f32
// CHECK: llvm.store %{{.*}}, %[[Y]]
// CHECK-NOT: llvm.freeze
// CHECK: return
func.func @unrolled(%x: memref<64x6x64xf32>, %f: memref<6x6xf32>, %y: memref<64x6x64xf32>) {
  kron.fused ins(%x, %f : memref<64x6x64xf32>, memref<6x6xf32>) outs(%y : memref<64x6x64xf32>) {
  ^bb0(%t: tensor<64x6x64xf32>, %a: tensor<6x6xf32>, %o: tensor<64x6x64xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x6x64xf32>) factor(%a [p, q] : tensor<6x6xf32>) outs(%o : tensor<64x6x64xf32>) -> tensor<64x6x64xf32>
    kron.yield %1 : tensor<64x6x64xf32>
  }
  return
}
