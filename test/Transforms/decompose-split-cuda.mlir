// RUN: kron-opt %s --kron-decompose=target=cuda --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --split-input-file | FileCheck %s --check-prefix=CPU

// Verify that many products with the batch first are taken apart in blocks of rows, that the
// weights of each lie together, and that their results become neighbours again.
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<25088x6144xf16>, %[[K:[a-z0-9]+]]: memref<1x512x512x12xf16>, %[[Y:[a-z0-9]+]]: memref<25088x6144xf16>
// CHECK-DAG: %[[XS:.*]] = memref.alloc() {{.*}}: memref<12544x6144xf16>
// CHECK-DAG: %[[KS:.*]] = memref.alloc() {{.*}}: memref<1x12x512x512xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[KS]] : {{.*}}) permutation = [0, 3, 1, 2]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c12544
// CHECK: %[[ROWS:.*]] = memref.subview %[[X]][%[[I]], 0] [12544, 6144] [1, 1]
// CHECK: linalg.transpose ins({{.*}} : memref<12544x1x512x12xf16, {{.*}}>) outs({{.*}} : memref<12544x1x12x512xf16, {{.*}}>) permutation = [0, 1, 3, 2]
// CHECK: kron.fused
// CHECK: kron.mode_product axis(2) {{.*}} factor(%{{.*}} [1, q, p] : tensor<12x512x512xf16>)
// CHECK: memref.subview %[[Y]][%[[I]], 0] [12544, 6144] [1, 1]
// CHECK: linalg.transpose ins({{.*}} : memref<12544x1x12x512xf16, {{.*}}>) outs({{.*}} : memref<12544x1x512x12xf16, {{.*}}>) permutation = [0, 1, 3, 2]
// CHECK: }
// CHECK-COUNT-3: memref.dealloc
// CPU-LABEL: func.func @split(
// CPU-NOT: linalg.transpose
func.func @split(%x: memref<25088x6144xf16>, %k: memref<1x512x512x12xf16>, %y: memref<25088x6144xf16>) {
  kron.ksmm ins(%x : memref<25088x6144xf16>) weights(%k : memref<1x512x512x12xf16>) outs(%y : memref<25088x6144xf16>)
  return
}

// -----

// Verify that an unknown number of rows decides at run time, and that weights that are used
// as T, in groups, become those of products, too. The last block may be a short one.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK-SAME: %{{.*}}, %[[K:[a-z0-9]+]]: memref<3x256x192x12xf32>
// CHECK: %[[MANY:.*]] = arith.cmpi uge, %{{.*}}, %c1024 {kron.requires = {min_rows = 1024 : i64}}
// CHECK: scf.if %[[MANY]] {
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%{{.*}} : memref<3x12x192x256xf32>) permutation = [0, 3, 2, 1]
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: arith.minui %[[LEFT]], %c8320
// CHECK: kron.mode_product {{.*}} factor(%{{.*}} [1, q, p] : tensor<36x192x256xf32>)
// CHECK: } else {
// CHECK-NOT: linalg.transpose
// CHECK: kron.mode_product {{.*}} factor(%{{.*}} [1, p, q, 3] : tensor<3x256x192x12xf32>)
func.func @unknown_rows(%x: memref<?x9216xf32, strided<[?, 1], offset: ?>>, %k: memref<3x256x192x12xf32>, %y: memref<?x6912xf32>) {
  kron.ksmm ins(%x : memref<?x9216xf32, strided<[?, 1], offset: ?>>) weights(T(%k) : memref<3x256x192x12xf32>)
      outs(%y : memref<?x6912xf32>)
  return
}

// -----

// Verify that the same is done on tensors that a function reads, and of one block.
// CHECK-LABEL: func.func @tensors(
// CHECK-NOT: scf.for
// CHECK-COUNT-3: linalg.transpose
func.func @tensors(%x: memref<2000x4608xbf16>, %k: memref<1x192x192x24xbf16>, %y: memref<2000x4608xbf16>) {
  %tx = bufferization.to_tensor %x restrict : memref<2000x4608xbf16> to tensor<2000x4608xbf16>
  %tk = bufferization.to_tensor %k restrict : memref<1x192x192x24xbf16> to tensor<1x192x192x24xbf16>
  %ty = bufferization.to_tensor %y restrict writable : memref<2000x4608xbf16> to tensor<2000x4608xbf16>
  %0 = kron.ksmm ins(%tx : tensor<2000x4608xbf16>) weights(%tk : tensor<1x192x192x24xbf16>) outs(%ty : tensor<2000x4608xbf16>)
      -> tensor<2000x4608xbf16>
  bufferization.materialize_in_destination %0 in restrict writable %y : (tensor<2000x4608xbf16>, memref<2000x4608xbf16>) -> ()
  return
}

// -----

// Verify that 96 results of f32 are taken apart from less work on, and 128 are not.
// CHECK-LABEL: func.func @uneven(
// CHECK: linalg.transpose
// CHECK-LABEL: func.func @even(
// CHECK-NOT: linalg.transpose
func.func @uneven(%x: memref<2000x3072xf32>, %k: memref<2x96x96x16xf32>, %y: memref<2000x3072xf32>) {
  kron.ksmm ins(%x : memref<2000x3072xf32>) weights(%k : memref<2x96x96x16xf32>) outs(%y : memref<2000x3072xf32>)
  return
}
func.func @even(%x: memref<2000x4608xf32>, %k: memref<1x128x96x48xf32>, %y: memref<2000x6144xf32>) {
  kron.ksmm ins(%x : memref<2000x4608xf32>) weights(%k : memref<1x128x96x48xf32>) outs(%y : memref<2000x6144xf32>)
  return
}

// -----

// Verify that few rows, little work, few products of small K, rows with gaps, and what adds
// something are left alone.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.transpose
func.func @others(%x1: memref<512x6144xf16>, %k1: memref<1x512x512x12xf16>, %y1: memref<512x6144xf16>,
                  %x2: memref<25088x3072xf16>, %k2: memref<1x128x128x24xf16>, %y2: memref<25088x3072xf16>,
                  %x3: memref<25088x768xf16>, %k3: memref<1x1024x256x3xf16>, %y3: memref<25088x3072xf16>,
                  %y4: memref<25088x6144xf16>,
                  %x5: memref<25088x6144xf16, strided<[?, ?]>>, %z: memref<25088x6144xf16>) {
  kron.ksmm ins(%x1 : memref<512x6144xf16>) weights(%k1 : memref<1x512x512x12xf16>) outs(%y1 : memref<512x6144xf16>)
  kron.ksmm ins(%x2 : memref<25088x3072xf16>) weights(%k2 : memref<1x128x128x24xf16>) outs(%y2 : memref<25088x3072xf16>)
  kron.ksmm ins(%x3 : memref<25088x768xf16>) weights(%k3 : memref<1x1024x256x3xf16>) outs(%y3 : memref<25088x3072xf16>)
  kron.ksmm ins(%x5 : memref<25088x6144xf16, strided<[?, ?]>>) weights(%k1 : memref<1x512x512x12xf16>) outs(%y4 : memref<25088x6144xf16>)
  kron.ksmm ins(%y4 : memref<25088x6144xf16>) weights(%k1 : memref<1x512x512x12xf16>) outs(%z : memref<25088x6144xf16>)
      beta(0.5 : f32) addend(%x5 : memref<25088x6144xf16, strided<[?, ?]>>)
  return
}
