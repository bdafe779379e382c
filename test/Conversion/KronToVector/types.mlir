// RUN: kron-opt %s --kron-plan --convert-kron-to-vector --canonicalize --cse \
// RUN:   --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: kron-opt %s --kron-plan=vector-bits=128 --convert-kron-to-vector \
// RUN:   --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,NARROW

// Verify that integers are multiplied and added, wrapping.
// CHECK-LABEL: func.func private @i32_fused
// CHECK: %[[X:[0-9]+]] = llvm.load %{{[0-9]+}} : !llvm.ptr -> i32
// CHECK: %[[B:[0-9]+]] = vector.broadcast %[[X]] : i32 to vector<[[LANES:16|4]]xi32>
// CHECK: arith.muli %[[B]], %{{[0-9]+}} : vector<[[LANES]]xi32>
// CHECK: arith.addi %{{.*}} : vector<[[LANES]]xi32>
// CHECK-NOT: vector.fma
func.func @i32(%x: memref<64x16xi32>, %f: memref<16x16xi32>, %y: memref<64x16xi32>) {
  kron.fused ins(%x, %f : memref<64x16xi32>, memref<16x16xi32>) outs(%y : memref<64x16xi32>) {
  ^bb0(%t: tensor<64x16xi32>, %a: tensor<16x16xi32>, %o: tensor<64x16xi32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xi32>) factor(%a [p, q] : tensor<16x16xi32>) outs(%o : tensor<64x16xi32>) -> tensor<64x16xi32>
    kron.yield %1 : tensor<64x16xi32>
  }
  return
}

// -----

// Verify that i64 takes half as many lanes.
// CHECK-LABEL: func.func private @i64_fused
// WIDE: arith.muli {{.*}} : vector<8xi64>
// NARROW: arith.muli {{.*}} : vector<2xi64>
func.func @i64(%x: memref<64x16xi64>, %f: memref<16x16xi64>, %y: memref<64x16xi64>) {
  kron.fused ins(%x, %f : memref<64x16xi64>, memref<16x16xi64>) outs(%y : memref<64x16xi64>) {
  ^bb0(%t: tensor<64x16xi64>, %a: tensor<16x16xi64>, %o: tensor<64x16xi64>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xi64>) factor(%a [p, q] : tensor<16x16xi64>) outs(%o : tensor<64x16xi64>) -> tensor<64x16xi64>
    kron.yield %1 : tensor<64x16xi64>
  }
  return
}

// -----

// Verify that both parts of X are broadcast and multiplied by pairs of parts as
// they lie in memory, and that shuffles come behind the loop only.
// CHECK-LABEL: func.func private @complex_fused
// CHECK: %[[RE:.*]] = llvm.load %[[P:.*]] : !llvm.ptr -> f32
// CHECK: %[[REAL:.*]] = vector.broadcast %[[RE]] : f32 to vector<[[LANES:16|4]]xf32>
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][1] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: %[[IM:.*]] = llvm.load %[[Q]] : !llvm.ptr -> f32
// CHECK: %[[IMAGINARY:.*]] = vector.broadcast %[[IM]]
// CHECK-NOT: vector.shuffle
// CHECK-DAG: {{vector.fma|arith.mulf}} %[[REAL]], %[[F:[a-z0-9_]+]]
// CHECK-DAG: {{vector.fma|arith.mulf}} %[[IMAGINARY]], %[[F]]
// CHECK: vector.shuffle %{{.*}} [1, 0, 3, 2
// CHECK: vector.fma
// CHECK-NEXT: llvm.{{(getelementptr|store)}}
func.func @complex(%x: memref<64x8xcomplex<f32>>, %f: memref<8x8xcomplex<f32>>, %y: memref<64x8xcomplex<f32>>) {
  kron.fused ins(%x, %f : memref<64x8xcomplex<f32>>, memref<8x8xcomplex<f32>>) outs(%y : memref<64x8xcomplex<f32>>) {
  ^bb0(%t: tensor<64x8xcomplex<f32>>, %a: tensor<8x8xcomplex<f32>>, %o: tensor<64x8xcomplex<f32>>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x8xcomplex<f32>>) factor(%a [p, q] : tensor<8x8xcomplex<f32>>) outs(%o : tensor<64x8xcomplex<f32>>) -> tensor<64x8xcomplex<f32>>
    kron.yield %1 : tensor<64x8xcomplex<f32>>
  }
  return
}

// -----

// Verify that conjugation is a matter of the signs behind the loop: for the
// factor, here A of the tile, those of the swapped sum.
// CHECK-LABEL: func.func private @conjugate_factor_fused
// CHECK-DAG: arith.constant dense<[1.000000e+00, -1.000000e+00
// CHECK-NOT: arith.constant dense<[-1.000000e+00, 1.000000e+00
// CHECK-NOT: arith.mulf {{.*}}%cst
// CHECK: return
func.func @conjugate_factor(%x: memref<8x64xcomplex<f64>>, %f: memref<8x8xcomplex<f64>>, %y: memref<8x64xcomplex<f64>>) {
  kron.fused ins(%x, %f : memref<8x64xcomplex<f64>>, memref<8x8xcomplex<f64>>) outs(%y : memref<8x64xcomplex<f64>>) {
  ^bb0(%t: tensor<8x64xcomplex<f64>>, %a: tensor<8x8xcomplex<f64>>, %o: tensor<8x64xcomplex<f64>>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<8x64xcomplex<f64>>) factor(%a [q, p] : tensor<8x8xcomplex<f64>>) outs(%o : tensor<8x64xcomplex<f64>>) {conj_factor} -> tensor<8x64xcomplex<f64>>
    kron.yield %1 : tensor<8x64xcomplex<f64>>
  }
  return
}

// -----

// Verify that bf16 is f32 between the first load and the last store: the input
// goes through the thread's scratch, the factor through the shared workspace.
// CHECK-LABEL: func.func @bf16(
// CHECK-SAME: kron.shared_bytes = 1024 : i64
// CHECK-NOT: kron.thread_bytes = 0 : i64
// CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<[[COPIED:16|4]]xi16>
// CHECK: %[[EXTENDED:.*]] = arith.extui %[[BITS]] : vector<[[COPIED]]xi16> to vector<[[COPIED]]xi32>
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[EXTENDED]]
// CHECK: arith.bitcast %[[SHIFTED]] : vector<[[COPIED]]xi32> to vector<[[COPIED]]xf32>
// CHECK-LABEL: func.func private @bf16_fused
// CHECK: vector.fma {{.*}} : vector<[[LANES:16|4]]xf32>
// CHECK: arith.cmpf uno
// CHECK: %[[ROUNDED:.*]] = arith.trunci %{{.*}} : vector<[[LANES]]xi32> to vector<[[LANES]]xi16>
// CHECK: llvm.store %[[ROUNDED]], %{{.*}} {alignment = 2 : i64}
func.func @bf16(%x: memref<64x16xbf16>, %f: memref<16x16xbf16>, %y: memref<64x16xbf16>) {
  kron.fused ins(%x, %f : memref<64x16xbf16>, memref<16x16xbf16>) outs(%y : memref<64x16xbf16>) {
  ^bb0(%t: tensor<64x16xbf16>, %a: tensor<16x16xbf16>, %o: tensor<64x16xbf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xbf16>) factor(%a [p, q] : tensor<16x16xbf16>) outs(%o : tensor<64x16xbf16>) -> tensor<64x16xbf16>
    kron.yield %1 : tensor<64x16xbf16>
  }
  return
}

// -----

// Verify that f16 is converted by instructions where x86-64-v3 and later have
// them, and by integer arithmetic below.
// CHECK-LABEL: func.func private @f16_fused
// WIDE: %[[HALVES:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
// WIDE: arith.bitcast %[[HALVES]] : vector<16xf16> to vector<16xi16>
// NARROW-NOT: arith.truncf
// NARROW: arith.trunci %{{.*}} : vector<4xi32> to vector<4xi16>
func.func @f16(%x: memref<64x16xf16>, %f: memref<16x16xf16>, %y: memref<64x16xf16>) {
  kron.fused ins(%x, %f : memref<64x16xf16>, memref<16x16xf16>) outs(%y : memref<64x16xf16>) {
  ^bb0(%t: tensor<64x16xf16>, %a: tensor<16x16xf16>, %o: tensor<64x16xf16>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<64x16xf16>) factor(%a [p, q] : tensor<16x16xf16>) outs(%o : tensor<64x16xf16>) -> tensor<64x16xf16>
    kron.yield %1 : tensor<64x16xf16>
  }
  return
}

// -----

// Verify that a bf16 array whose elements are loaded once is converted in the
// tile: neither the input nor the weights, different for each lane, are copied.
// CHECK-LABEL: func.func @bf16_once(
// CHECK-SAME: kron.shared_bytes = 0 : i64, kron.thread_bytes = 0 : i64
// CHECK-LABEL: func.func private @bf16_once_fused
// CHECK: %[[WORDS:[0-9]+]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<[[LANES:16|4]]xi32>
// CHECK: arith.shli %[[WORDS]], %{{.*}} : vector<[[LANES]]xi32>
// CHECK: vector.fma
func.func @bf16_once(%x: memref<4x64xbf16>, %f: memref<4x8x64xbf16>, %y: memref<8x64xbf16>) {
  kron.fused ins(%x, %f : memref<4x64xbf16>, memref<4x8x64xbf16>) outs(%y : memref<8x64xbf16>) {
  ^bb0(%t: tensor<4x64xbf16>, %a: tensor<4x8x64xbf16>, %o: tensor<8x64xbf16>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<4x64xbf16>) factor(%a [p, q, 1] : tensor<4x8x64xbf16>) outs(%o : tensor<8x64xbf16>) -> tensor<8x64xbf16>
    kron.yield %1 : tensor<8x64xbf16>
  }
  return
}

// -----

// Verify that a single lane that is rounded is stored as a scalar, which LLVM 22
// stores twice as wide under a mask.
// CHECK-LABEL: func.func private @bf16_single_fused
// WIDE: %[[NUMBER:[0-9]+]] = vector.extract %{{[0-9]+}}[0] : i16 from vector<{{4|8}}xi16>
// WIDE-NEXT: llvm.store %[[NUMBER]], %{{.*}} : i16, !llvm.ptr
// NARROW: llvm.store %{{.*}} : vector<1xi16>, !llvm.ptr
// CHECK-NOT: llvm.intr.masked.store
// CHECK: return
func.func @bf16_single(%x: memref<8xf32>, %f: memref<8x1xbf16>, %y: memref<1xbf16>) {
  kron.fused ins(%x, %f : memref<8xf32>, memref<8x1xbf16>) outs(%y : memref<1xbf16>) {
  ^bb0(%t: tensor<8xf32>, %a: tensor<8x1xbf16>, %o: tensor<1xbf16>):
    %1 = kron.mode_product axis(0) ins(%t : tensor<8xf32>) factor(%a [p, q] : tensor<8x1xbf16>) outs(%o : tensor<1xbf16>) -> tensor<1xbf16>
    kron.yield %1 : tensor<1xbf16>
  }
  return
}
