// RUN: kron-opt %s --kron-decompose=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-decompose | FileCheck %s --check-prefix=CPU

// Verify that groups of few columns are multiplied with the batch last, on blocks of rows
// that are transposed before and behind it.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<25088x4096xf16>, %{{.*}}, %[[Y:[a-z0-9]+]]: memref<25088x28672xf16>
// CHECK: %[[XT:.*]] = memref.alloc() {{.*}}: memref<4096x3584xf16>
// CHECK: %[[YT:.*]] = memref.alloc() {{.*}}: memref<28672x3584xf16>
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %{{.*}} step %c3584{{.*}} {
// CHECK: %[[XROWS:.*]] = memref.subview %[[X]][%[[ROW]], 0] [3584, 4096] [1, 1]
// CHECK: linalg.transpose ins(%[[XROWS]] : {{.*}}) outs(%[[XT]] : {{.*}}) permutation = [1, 0]
// CHECK: kron.pass
// CHECK: %[[YROWS:.*]] = memref.subview %[[Y]][%[[ROW]], 0] [3584, 28672] [1, 1]
// CHECK: linalg.transpose ins(%[[YT]] : {{.*}}) outs(%[[YROWS]] : {{.*}}) permutation = [1, 0]
// CHECK: }
// CHECK-NOT: kron.pass
// CHECK: memref.dealloc %[[XT]]
// CHECK: memref.dealloc %[[YT]]
// CPU-LABEL: func.func @blocks(
// CPU-NOT: linalg.transpose
func.func @blocks(%x: memref<25088x4096xf16>, %k: memref<2048x14x2x1xf16>, %y: memref<25088x28672xf16>) {
  kron.ksmm ins(%x : memref<25088x4096xf16>) weights(%k : memref<2048x14x2x1xf16>) outs(%y : memref<25088x28672xf16>)
  return
}

// Verify that rows that fill no block are multiplied as they lie, and tensors that are
// arguments become the memrefs that they are.
// CHECK-LABEL: func.func @rest(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4099x1024xbf16>
// CHECK: memref.subview %[[X]][%{{.*}}, 0] [3, 1024] [1, 1]
// CHECK: kron.pass
// CHECK: scf.for
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
// CHECK: kron.pass
func.func @rest(%x: memref<4099x1024xbf16>, %k: memref<256x5x4x1xbf16>) -> tensor<4099x1280xbf16> {
  %tx = bufferization.to_tensor %x restrict : memref<4099x1024xbf16> to tensor<4099x1024xbf16>
  %tk = bufferization.to_tensor %k restrict : memref<256x5x4x1xbf16> to tensor<256x5x4x1xbf16>
  %e = tensor.empty() : tensor<4099x1280xbf16>
  %0 = kron.ksmm ins(%tx : tensor<4099x1024xbf16>) weights(%tk : tensor<256x5x4x1xbf16>) outs(%e : tensor<4099x1280xbf16>)
      -> tensor<4099x1280xbf16>
  return %0 : tensor<4099x1280xbf16>
}

// Verify that wider groups, few groups or rows, wider elements and sums that are added to
// are left alone.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @others(%x1: memref<25088x4096xf16>, %k1: memref<512x56x8x1xf16>, %y1: memref<25088x28672xf16>,
                  %x2: memref<25088x16xf16>, %k2: memref<8x14x2x1xf16>, %y2: memref<25088x112xf16>,
                  %x3: memref<2048x4096xf16>, %k3: memref<2048x14x2x1xf16>, %y3: memref<2048x28672xf16>,
                  %x4: memref<25088x4096xf32>, %k4: memref<2048x14x2x1xf32>, %y4: memref<25088x28672xf32>) {
  kron.ksmm ins(%x1 : memref<25088x4096xf16>) weights(%k1 : memref<512x56x8x1xf16>) outs(%y1 : memref<25088x28672xf16>)
  kron.ksmm ins(%x2 : memref<25088x16xf16>) weights(%k2 : memref<8x14x2x1xf16>) outs(%y2 : memref<25088x112xf16>)
  kron.ksmm ins(%x3 : memref<2048x4096xf16>) weights(%k3 : memref<2048x14x2x1xf16>) outs(%y3 : memref<2048x28672xf16>)
  kron.ksmm ins(%x4 : memref<25088x4096xf32>) weights(%k4 : memref<2048x14x2x1xf32>) outs(%y4 : memref<25088x28672xf32>)
  kron.ksmm ins(%x1 : memref<25088x4096xf16>) weights(%k3 : memref<2048x14x2x1xf16>) outs(%y1 : memref<25088x28672xf16>)
      beta(1.0 : f32)
  return
}
