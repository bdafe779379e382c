// RUN: kron-opt %s --kron-plan="stream-bytes=1 stream-columns-bytes=1" --convert-kron-to-vector --canonicalize \
// RUN:   --split-input-file | FileCheck %s

// Verify that a factor whose results all fit the registers needs no copy of what they replace: no
// vector is stored before all are computed, nor with non-temporal stores, as their lines are in the caches.
// CHECK-LABEL: func.func @registers
// CHECK-SAME: kron.thread_bytes = 0
// CHECK-LABEL: func.func private @registers_fused
// CHECK-NOT: llvm.store {{.*}} : vector<16xf32>
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: nontemporal
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK-NOT: nontemporal
// CHECK: return
func.func @registers(%f: memref<8x8xf32>, %y: memref<8x65536xf32>) {
  kron.fused ins(%y, %f : memref<8x65536xf32>, memref<8x8xf32>) outs(%y : memref<8x65536xf32>) {
  ^bb0(%t: tensor<8x65536xf32>, %a: tensor<8x8xf32>, %o: tensor<8x65536xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<8x65536xf32>) factor(%a [q, p] : tensor<8x8xf32>) outs(%o : tensor<8x65536xf32>) -> tensor<8x65536xf32>
    kron.yield %1 : tensor<8x65536xf32>
  }
  return
}

// -----

// Verify that so it is where rows lie far apart, if tiles are short segments.
// CHECK-LABEL: func.func @far_apart
// CHECK-SAME: kron.thread_bytes = 0
// CHECK-LABEL: func.func private @far_apart_fused
// CHECK-NOT: llvm.store {{.*}} : vector<16xf32>
// CHECK-COUNT-16: vector.fma
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: return
func.func @far_apart(%f: memref<16x16xf32>, %y: memref<16x65536xf32>) {
  kron.fused ins(%y, %f : memref<16x65536xf32>, memref<16x16xf32>) outs(%y : memref<16x65536xf32>) attributes {plan = #kron.cpu_plan<tile = 64>} {
  ^bb0(%t: tensor<16x65536xf32>, %a: tensor<16x16xf32>, %o: tensor<16x65536xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x65536xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<16x65536xf32>) -> tensor<16x65536xf32>
    kron.yield %1 : tensor<16x65536xf32>
  }
  return
}

// -----

// Verify that tiles of longer segments are.
// CHECK-LABEL: func.func @long_runs
// CHECK-SAME: kron.thread_bytes = 16384
func.func @long_runs(%f: memref<16x16xf32>, %y: memref<16x65536xf32>) {
  kron.fused ins(%y, %f : memref<16x65536xf32>, memref<16x16xf32>) outs(%y : memref<16x65536xf32>) {
  ^bb0(%t: tensor<16x65536xf32>, %a: tensor<16x16xf32>, %o: tensor<16x65536xf32>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<16x65536xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<16x65536xf32>) -> tensor<16x65536xf32>
    kron.yield %1 : tensor<16x65536xf32>
  }
  return
}

// -----

// Verify that for more results than registers, whose rows lie too near each other to be packed
// anyway, a tile is copied before the first one is stored.
// CHECK-LABEL: func.func @copied
// CHECK-SAME: kron.thread_bytes = 32768
// CHECK-LABEL: func.func private @copied_fused
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: vector.fma
func.func @copied(%f: memref<32x32xf32>, %y: memref<64x32x256xf32>) {
  kron.fused ins(%y, %f : memref<64x32x256xf32>, memref<32x32xf32>) outs(%y : memref<64x32x256xf32>) {
  ^bb0(%t: tensor<64x32x256xf32>, %a: tensor<32x32xf32>, %o: tensor<64x32x256xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x32x256xf32>) factor(%a [q, p] : tensor<32x32xf32>) outs(%o : tensor<64x32x256xf32>) -> tensor<64x32x256xf32>
    kron.yield %1 : tensor<64x32x256xf32>
  }
  return
}

// -----

// Verify that so it is where lanes run over q.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: kron.thread_bytes = 3072
// CHECK-LABEL: func.func private @rows_fused
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: vector.fma
func.func @rows(%f: memref<16x16xf32>, %y: memref<1024x16xf32>) {
  kron.fused ins(%y, %f : memref<1024x16xf32>, memref<16x16xf32>) outs(%y : memref<1024x16xf32>) {
  ^bb0(%t: tensor<1024x16xf32>, %a: tensor<16x16xf32>, %o: tensor<1024x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1024x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<1024x16xf32>) -> tensor<1024x16xf32>
    kron.yield %1 : tensor<1024x16xf32>
  }
  return
}
