// RUN: kron-opt %s --kron-decompose=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-decompose | FileCheck %s --check-prefix=CPU

// Verify that groups of few columns are multiplied with the batch last, on blocks of rows
// that are transposed before and behind it.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<25088x4100xf16>, %{{.*}}, %[[Y:[a-z0-9]+]]: memref<25088x28700xf16>
// CHECK: %[[XT:.*]] = memref.alloc() {{.*}}: memref<4100x3584xf16>
// CHECK: %[[YT:.*]] = memref.alloc() {{.*}}: memref<28700x3584xf16>
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %{{.*}} step %c3584{{.*}} {
// CHECK: %[[XROWS:.*]] = memref.subview %[[X]][%[[ROW]], 0] [3584, 4100] [1, 1]
// CHECK: linalg.transpose ins(%[[XROWS]] : {{.*}}) outs(%[[XT]] : {{.*}}) permutation = [1, 0]
// CHECK: kron.fused
// CHECK: %[[YROWS:.*]] = memref.subview %[[Y]][%[[ROW]], 0] [3584, 28700] [1, 1]
// CHECK: linalg.transpose ins(%[[YT]] : {{.*}}) outs(%[[YROWS]] : {{.*}}) permutation = [1, 0]
// CHECK: }
// CHECK-NOT: kron.fused
// CHECK: memref.dealloc %[[XT]]
// CHECK: memref.dealloc %[[YT]]
// CPU-LABEL: func.func @blocks(
// CPU-NOT: linalg.transpose
func.func @blocks(%x: memref<25088x4100xf16>, %k: memref<2050x14x2x1xf16>, %y: memref<25088x28700xf16>) {
  kron.ksmm ins(%x : memref<25088x4100xf16>) weights(%k : memref<2050x14x2x1xf16>) outs(%y : memref<25088x28700xf16>)
  return
}

// Verify that rows that fill no block are multiplied as they lie, and tensors that are
// arguments become the memrefs that they are.
// CHECK-LABEL: func.func @rest(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4099x1028xbf16>
// CHECK: memref.subview %[[X]][%{{.*}}, 0] [3, 1028] [1, 1]
// CHECK: kron.fused
// CHECK: scf.for
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
// CHECK: kron.fused
func.func @rest(%x: memref<4099x1028xbf16>, %k: memref<257x5x4x1xbf16>) -> tensor<4099x1285xbf16> {
  %tx = bufferization.to_tensor %x restrict : memref<4099x1028xbf16> to tensor<4099x1028xbf16>
  %tk = bufferization.to_tensor %k restrict : memref<257x5x4x1xbf16> to tensor<257x5x4x1xbf16>
  %e = tensor.empty() : tensor<4099x1285xbf16>
  %0 = kron.ksmm ins(%tx : tensor<4099x1028xbf16>) weights(%tk : tensor<257x5x4x1xbf16>) outs(%e : tensor<4099x1285xbf16>)
      -> tensor<4099x1285xbf16>
  return %0 : tensor<4099x1285xbf16>
}

// Verify that wider groups, few groups or rows, wider elements, sums that are added to, and
// rows of results at multiples of 16 bytes are left alone.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @others(%x1: memref<25088x4112xf16>, %k1: memref<514x57x8x1xf16>, %y1: memref<25088x29298xf16>,
                  %x2: memref<25088x18xf16>, %k2: memref<9x13x2x1xf16>, %y2: memref<25088x117xf16>,
                  %x3: memref<2048x4100xf16>, %k3: memref<2050x14x2x1xf16>, %y3: memref<2048x28700xf16>,
                  %x4: memref<25088x4100xf32>, %k4: memref<2050x14x2x1xf32>, %y4: memref<25088x28700xf32>,
                  %x5: memref<25088x4100xf16>, %y5: memref<25088x28700xf16>,
                  %x6: memref<25088x4096xf16>, %k6: memref<2048x14x2x1xf16>, %y6: memref<25088x28672xf16>,
                  %y7: memref<25088x28700xf16, strided<[28704, 1]>>) {
  kron.ksmm ins(%x1 : memref<25088x4112xf16>) weights(%k1 : memref<514x57x8x1xf16>) outs(%y1 : memref<25088x29298xf16>)
  kron.ksmm ins(%x2 : memref<25088x18xf16>) weights(%k2 : memref<9x13x2x1xf16>) outs(%y2 : memref<25088x117xf16>)
  kron.ksmm ins(%x3 : memref<2048x4100xf16>) weights(%k3 : memref<2050x14x2x1xf16>) outs(%y3 : memref<2048x28700xf16>)
  kron.ksmm ins(%x4 : memref<25088x4100xf32>) weights(%k4 : memref<2050x14x2x1xf32>) outs(%y4 : memref<25088x28700xf32>)
  kron.ksmm ins(%x5 : memref<25088x4100xf16>) weights(%k3 : memref<2050x14x2x1xf16>) outs(%y5 : memref<25088x28700xf16>)
      beta(1.0 : f32)
  kron.ksmm ins(%x6 : memref<25088x4096xf16>) weights(%k6 : memref<2048x14x2x1xf16>) outs(%y6 : memref<25088x28672xf16>)
  kron.ksmm ins(%x5 : memref<25088x4100xf16>) weights(%k3 : memref<2050x14x2x1xf16>)
      outs(%y7 : memref<25088x28700xf16, strided<[28704, 1]>>)
  return
}

// Verify that products whose elements lie side by side in no multiples of 16 bytes are multiplied
// with the batch last, in multiples of 8 rows, and the rest as it lies.
// CHECK-LABEL: func.func @ragged(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2217x17515xbf16>
// CHECK: memref.subview %[[X]][%{{.*}}, 0] [9, 17515] [1, 1]
// CHECK: kron.fused
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2208{{.*}} step %c1104
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
// CHECK: kron.fused
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
// CPU-LABEL: func.func @ragged(
// CPU-NOT: linalg.transpose
func.func @ragged(%x: memref<2217x17515xbf16>, %k: memref<113x123x31x5xbf16>, %y: memref<2217x69495xbf16>) {
  kron.ksmm ins(%x : memref<2217x17515xbf16>) weights(%k : memref<113x123x31x5xbf16>) outs(%y : memref<2217x69495xbf16>)
  return
}

// Verify that f32 is, where it has many results.
// CHECK-LABEL: func.func @ragged_f32(
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
func.func @ragged_f32(%x: memref<3000x7920xf32>, %k: memref<3x640x80x33xf32>, %y: memref<3000x63360xf32>) {
  kron.ksmm ins(%x : memref<3000x7920xf32>) weights(%k : memref<3x640x80x33xf32>) outs(%y : memref<3000x63360xf32>)
  return
}

// Verify that few rows, whole segments of many or of all d together, many columns with few
// results, f64, and one product of a group are left alone.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @whole(%x1: memref<80x16245xf16>, %k1: memref<57x2x57x5xf16>, %y1: memref<80x570xf16>,
                 %x2: memref<58680x2112xf16>, %k2: memref<1x8x44x48xf16>, %y2: memref<58680x384xf16>,
                 %x3: memref<12780x184xbf16>, %k3: memref<2x16x23x4xbf16>, %y3: memref<12780x128xbf16>,
                 %x4: memref<24381x11664xf16>, %k4: memref<12x18x324x3xf16>, %y4: memref<24381x648xf16>,
                 %x5: memref<2464x24353xf64>, %k5: memref<71x6x49x7xf64>, %y5: memref<2464x2982xf64>,
                 %x6: memref<14536x129xf32>, %k6: memref<43x50x3x1xf32>, %y6: memref<14536x2150xf32>,
                 %x7: memref<25088x384xf32>, %k7: memref<1x512x128x3xf32>, %y7: memref<25088x1536xf32>) {
  kron.ksmm ins(%x1 : memref<80x16245xf16>) weights(%k1 : memref<57x2x57x5xf16>) outs(%y1 : memref<80x570xf16>)
  kron.ksmm ins(%x2 : memref<58680x2112xf16>) weights(%k2 : memref<1x8x44x48xf16>) outs(%y2 : memref<58680x384xf16>)
  kron.ksmm ins(%x3 : memref<12780x184xbf16>) weights(%k3 : memref<2x16x23x4xbf16>) outs(%y3 : memref<12780x128xbf16>)
  kron.ksmm ins(%x4 : memref<24381x11664xf16>) weights(%k4 : memref<12x18x324x3xf16>) outs(%y4 : memref<24381x648xf16>)
  kron.ksmm ins(%x5 : memref<2464x24353xf64>) weights(%k5 : memref<71x6x49x7xf64>) outs(%y5 : memref<2464x2982xf64>)
  kron.ksmm ins(%x6 : memref<14536x129xf32>) weights(%k6 : memref<43x50x3x1xf32>) outs(%y6 : memref<14536x2150xf32>)
  kron.ksmm ins(%x7 : memref<25088x384xf32>) weights(%k7 : memref<1x512x128x3xf32>) outs(%y7 : memref<25088x1536xf32>)
  return
}

// Verify that sizes that types hide are those of the pattern.
// CHECK-LABEL: func.func @hidden(
// CHECK: %[[X:.*]] = memref.cast %{{.*}} : memref<2217x?xbf16> to memref<2217x17515xbf16>
// CHECK: memref.subview %[[X]][
// CPU-LABEL: func.func @hidden(
func.func @hidden(%x: memref<2217x?xbf16>, %w: memref<113x123x31x5xbf16>, %y: memref<2217x69495xbf16>) {
  kron.ksmm ins(%x : memref<2217x?xbf16>) weights(%w : memref<113x123x31x5xbf16>) outs(%y : memref<2217x69495xbf16>)
  return
}

// Two columns of a group, of rows that start anywhere, are stored side by side where they lie.
// CHECK-LABEL: func.func @joined_columns(
// CHECK-NOT: linalg.transpose
func.func @joined_columns(%x: memref<21115x988xbf16>, %w: memref<38x495x13x2xbf16>, %y: memref<21115x37620xbf16>) {
  kron.ksmm ins(%x : memref<21115x988xbf16>) weights(%w : memref<38x495x13x2xbf16>) outs(%y : memref<21115x37620xbf16>)
  return
}

// Weights take longer than few rows do, with the batch last.
// CHECK-LABEL: func.func @few_rows(
// CHECK-NOT: linalg.transpose
func.func @few_rows(%x: memref<64x29232xbf16>, %w: memref<63x276x16x29xbf16>, %y: memref<64x504252xbf16>) {
  kron.ksmm ins(%x : memref<64x29232xbf16>) weights(%w : memref<63x276x16x29xbf16>) outs(%y : memref<64x504252xbf16>)
  return
}
