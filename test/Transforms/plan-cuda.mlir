// RUN: kron-opt %s --kron-decompose --cse --kron-fuse="target=cuda chip=sm_90a" \
// RUN:   --kron-plan="target=cuda chip=sm_90a" | FileCheck %s
// RUN: kron-opt %s --kron-decompose --cse --kron-fuse="target=cuda chip=sm_90a" \
// RUN:   --kron-plan="target=cuda chip=sm_90a" --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: kron-opt %s --kron-decompose --cse --kron-fuse="target=cuda chip=sm_90a:copy=2065:calibrated" \
// RUN:   --kron-plan="target=cuda chip=sm_90a:copy=2065:calibrated" --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=CALIBRATED

// Regions and kernels that are chosen for the shapes of the benchmarks. Every
// kron.fused is a kernel.

// Verify that the remark gives the kernel, its time beside that of a copy, and what
// became of the others.
// REMARK: remark: [Analysis] Plan | Category:kron-plan | CopyMicroseconds=70, FactorsApplied=4, Microseconds={{[0-9]+}}, Remark="kernel ffma, bound by memory, estimated {{[0-9]+}} us, floor 70 us; {{.*}}wgmma: no factor has more than 16 rows or columns; {{.*}}simt: {{[0-9]+}} us, bound by shared memory; #kron.gpu_plan<kernel = ffma, {{.*}}>"

// Verify that it says so where rates were measured on the GPU: half of the memory's, beside the launch.
// CALIBRATED: Remark="kernel ffma, bound by memory, estimated {{[0-9]+}} us, floor 135 us (calibrated); {{.*}}simt: {{[0-9]+}} us, bound by memory;

// CHECK-LABEL: func.func @mkm_8_4(
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Small factors in one fused region, scalar multiply-adds on fibres.
func.func @mkm_8_4(%x: memref<8192x4096xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %y: memref<8192x4096xf32>) {
  kron.mkm ins(%x : memref<8192x4096xf32>) factors(%f0, %f1, %f2, %f3 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<8192x4096xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_8_5(
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(5)
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// A row of 128 KiB.
func.func @mkm_8_5(%x: memref<1024x32768xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %f4: memref<8x8xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f0, %f1, %f2, %f3, %f4 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<1024x32768xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_8_6(
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(6)
// CHECK:           kron.mode_product axis(5)
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Two fused regions, rows then columns.
func.func @mkm_8_6(%x: memref<1024x262144xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %f4: memref<8x8xf32>, %f5: memref<8x8xf32>, %y: memref<1024x262144xf32>) {
  kron.mkm ins(%x : memref<1024x262144xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<1024x262144xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_16_3(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// P in 9 to 16: tensor cores by mma.sync.
func.func @mkm_16_3(%x: memref<8192x4096xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %y: memref<8192x4096xf32>) {
  kron.mkm ins(%x : memref<8192x4096xf32>) factors(%f0, %f1, %f2 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<8192x4096xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_16_3_ieee(
// CHECK:         kron.fused {{.*}}<kernel = batched{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Ieee leaves scalar multiply-adds only.
func.func @mkm_16_3_ieee(%x: memref<8192x4096xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %y: memref<8192x4096xf32>) {
  kron.mkm ins(%x : memref<8192x4096xf32>) factors(%f0, %f1, %f2 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<8192x4096xf32>) {precision = #kron.precision<ieee>}
  return
}

// CHECK-LABEL: func.func @mkm_16_3_f64(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// F64 with a large sum of P: tensor cores.
func.func @mkm_16_3_f64(%x: memref<8192x4096xf64>, %f0: memref<16x16xf64>, %f1: memref<16x16xf64>, %f2: memref<16x16xf64>, %y: memref<8192x4096xf64>) {
  kron.mkm ins(%x : memref<8192x4096xf64>) factors(%f0, %f1, %f2 : memref<16x16xf64>, memref<16x16xf64>, memref<16x16xf64>) outs(%y : memref<8192x4096xf64>)
  return
}

// CHECK-LABEL: func.func @mkm_8_4_f64(
// CHECK:         kron.fused {{.*}}<kernel = dmma{{[,>]}}
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// F64 with a small one.
func.func @mkm_8_4_f64(%x: memref<8192x4096xf64>, %f0: memref<8x8xf64>, %f1: memref<8x8xf64>, %f2: memref<8x8xf64>, %f3: memref<8x8xf64>, %y: memref<8192x4096xf64>) {
  kron.mkm ins(%x : memref<8192x4096xf64>) factors(%f0, %f1, %f2, %f3 : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>) outs(%y : memref<8192x4096xf64>)
  return
}

// CHECK-LABEL: func.func @mkm_16_6(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(6)
// CHECK:           kron.mode_product axis(5)
// CHECK:           kron.mode_product axis(4)
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Columns of 32 bytes save a fused region.
func.func @mkm_16_6(%x: memref<16x16777216xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %f3: memref<16x16xf32>, %f4: memref<16x16xf32>, %f5: memref<16x16xf32>, %y: memref<16x16777216xf32>) {
  kron.mkm ins(%x : memref<16x16777216xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<16x16777216xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_32_3(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// P from 17 on: wgmma.
func.func @mkm_32_3(%x: memref<1024x32768xf32>, %f0: memref<32x32xf32>, %f1: memref<32x32xf32>, %f2: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f0, %f1, %f2 : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<1024x32768xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_32_3_ieee(
// CHECK:         kron.fused {{.*}}<kernel = simt{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused {{.*}}<kernel = simt{{[,>]}}
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// No matrix instruction is IEEE in f32.
func.func @mkm_32_3_ieee(%x: memref<1024x32768xf32>, %f0: memref<32x32xf32>, %f1: memref<32x32xf32>, %f2: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f0, %f1, %f2 : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<1024x32768xf32>) {precision = #kron.precision<ieee>}
  return
}

// CHECK-LABEL: func.func @mkm_32_3_tf32(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Factors without a residual, of 32 rows, stay in the registers of mma.
func.func @mkm_32_3_tf32(%x: memref<1024x32768xf32>, %f0: memref<32x32xf32>, %f1: memref<32x32xf32>, %f2: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f0, %f1, %f2 : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<1024x32768xf32>) {precision = #kron.precision<tf32>}
  return
}

// CHECK-LABEL: func.func @mkm_32_3_f64(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// F64 has no wgmma, and a row takes two CTAs.
func.func @mkm_32_3_f64(%x: memref<1024x32768xf64>, %f0: memref<32x32xf64>, %f1: memref<32x32xf64>, %f2: memref<32x32xf64>, %y: memref<1024x32768xf64>) {
  kron.mkm ins(%x : memref<1024x32768xf64>) factors(%f0, %f1, %f2 : memref<32x32xf64>, memref<32x32xf64>, memref<32x32xf64>) outs(%y : memref<1024x32768xf64>)
  return
}

// CHECK-LABEL: func.func @mkm_32_4(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Two fused regions of two axes each.
func.func @mkm_32_4(%x: memref<1024x1048576xf32>, %f0: memref<32x32xf32>, %f1: memref<32x32xf32>, %f2: memref<32x32xf32>, %f3: memref<32x32xf32>, %y: memref<1024x1048576xf32>) {
  kron.mkm ins(%x : memref<1024x1048576xf32>) factors(%f0, %f1, %f2, %f3 : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<1024x1048576xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_64_2(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
func.func @mkm_64_2(%x: memref<16384x4096xf32>, %f0: memref<64x64xf32>, %f1: memref<64x64xf32>, %y: memref<16384x4096xf32>) {
  kron.mkm ins(%x : memref<16384x4096xf32>) factors(%f0, %f1 : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<16384x4096xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_64_2_f16(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
func.func @mkm_64_2_f16(%x: memref<16384x4096xf16>, %f0: memref<64x64xf16>, %f1: memref<64x64xf16>, %y: memref<16384x4096xf16>) {
  kron.mkm ins(%x : memref<16384x4096xf16>) factors(%f0, %f1 : memref<64x64xf16>, memref<64x64xf16>) outs(%y : memref<16384x4096xf16>)
  return
}

// CHECK-LABEL: func.func @mkm_64_3(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
func.func @mkm_64_3(%x: memref<1024x262144xf32>, %f0: memref<64x64xf32>, %f1: memref<64x64xf32>, %f2: memref<64x64xf32>, %y: memref<1024x262144xf32>) {
  kron.mkm ins(%x : memref<1024x262144xf32>) factors(%f0, %f1, %f2 : memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<1024x262144xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_128_3(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// One axis per fused region.
func.func @mkm_128_3(%x: memref<320x2097152xf32>, %f0: memref<128x128xf32>, %f1: memref<128x128xf32>, %f2: memref<128x128xf32>, %y: memref<320x2097152xf32>) {
  kron.mkm ins(%x : memref<320x2097152xf32>) factors(%f0, %f1, %f2 : memref<128x128xf32>, memref<128x128xf32>, memref<128x128xf32>) outs(%y : memref<320x2097152xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_256_2(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// CTAs share the columns of such factors.
func.func @mkm_256_2(%x: memref<16x65536xf32>, %f0: memref<256x256xf32>, %f1: memref<256x256xf32>, %y: memref<16x65536xf32>) {
  kron.mkm ins(%x : memref<16x65536xf32>) factors(%f0, %f1 : memref<256x256xf32>, memref<256x256xf32>) outs(%y : memref<16x65536xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_512(
// CHECK:         kron.fused {{.*}}<kernel = sparse{{[,>]}}
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Larger ones are matrix products that stream both operands.
func.func @mkm_512(%x: memref<16x512xf32>, %f0: memref<512x512xf32>, %y: memref<16x512xf32>) {
  kron.mkm ins(%x : memref<16x512xf32>) factors(%f0 : memref<512x512xf32>) outs(%y : memref<16x512xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_odd(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
func.func @mkm_odd(%x: memref<1024x29791xf32>, %f0: memref<31x31xf32>, %f1: memref<31x31xf32>, %f2: memref<31x31xf32>, %y: memref<1024x29791xf32>) {
  kron.mkm ins(%x : memref<1024x29791xf32>) factors(%f0, %f1, %f2 : memref<31x31xf32>, memref<31x31xf32>, memref<31x31xf32>) outs(%y : memref<1024x29791xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_rectangular(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// P and Q differ; what shrinks goes first.
func.func @mkm_rectangular(%x: memref<1024x9044xf32>, %f0: memref<14x15xf32>, %f1: memref<19x13xf32>, %f2: memref<34x23xf32>, %y: memref<1024x4485xf32>) {
  kron.mkm ins(%x : memref<1024x9044xf32>) factors(%f0, %f1, %f2 : memref<14x15xf32>, memref<19x13xf32>, memref<34x23xf32>) outs(%y : memref<1024x4485xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_i32(
// CHECK:         kron.fused {{.*}}<kernel = simt{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Integers.
func.func @mkm_i32(%x: memref<1024x512xi32>, %f0: memref<8x8xi32>, %f1: memref<8x8xi32>, %f2: memref<8x8xi32>, %y: memref<1024x512xi32>) {
  kron.mkm ins(%x : memref<1024x512xi32>) factors(%f0, %f1, %f2 : memref<8x8xi32>, memref<8x8xi32>, memref<8x8xi32>) outs(%y : memref<1024x512xi32>)
  return
}

// CHECK-LABEL: func.func @kmm_8_5(
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK:           kron.mode_product axis(0)
// CHECK-NOT:     kron.fused
// From the left, all axes are strided.
func.func @kmm_8_5(%x: memref<32768x1024xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %f4: memref<8x8xf32>, %y: memref<32768x1024xf32>) {
  kron.kmm ins(%x : memref<32768x1024xf32>) factors(%f0, %f1, %f2, %f3, %f4 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<32768x1024xf32>)
  return
}

// CHECK-LABEL: func.func @kmm_16_3(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK:           kron.mode_product axis(0)
// CHECK-NOT:     kron.fused
func.func @kmm_16_3(%x: memref<4096x8192xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %y: memref<4096x8192xf32>) {
  kron.kmm ins(%x : memref<4096x8192xf32>) factors(%f0, %f1, %f2 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<4096x8192xf32>)
  return
}

// CHECK-LABEL: func.func @batched_4(
// CHECK:         kron.fused {{.*}}<kernel = batched{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Small arrays have a kernel of their own.
func.func @batched_4(%x: memref<100000x4x4x4xf32>, %f0: memref<4x4xf32>, %f1: memref<4x4xf32>, %f2: memref<4x4xf32>, %y: memref<100000x4x4x4xf32>) {
  kron.batched ins(%x : memref<100000x4x4x4xf32>) factors(%f0, %f1, %f2 : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<100000x4x4x4xf32>)
  return
}

// CHECK-LABEL: func.func @batched_8(
// CHECK:         kron.fused {{.*}}<kernel = batched{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
func.func @batched_8(%x: memref<100000x8x8x8xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %y: memref<100000x8x8x8xf32>) {
  kron.batched ins(%x : memref<100000x8x8x8xf32>) factors(%f0, %f1, %f2 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<100000x8x8x8xf32>)
  return
}

// CHECK-LABEL: func.func @batched_8_f64(
// CHECK:         kron.fused {{.*}}<kernel = dmma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
func.func @batched_8_f64(%x: memref<50000x8x8x8xf64>, %f0: memref<8x8xf64>, %f1: memref<8x8xf64>, %f2: memref<8x8xf64>, %y: memref<50000x8x8x8xf64>) {
  kron.batched ins(%x : memref<50000x8x8x8xf64>) factors(%f0, %f1, %f2 : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>) outs(%y : memref<50000x8x8x8xf64>)
  return
}

// CHECK-LABEL: func.func @batched_9(
// CHECK:         kron.fused {{.*}}<kernel = batched{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Planes do not fit registers, but mma would pad to 16.
func.func @batched_9(%x: memref<100000x9x9x9xf32>, %f0: memref<9x9xf32>, %f1: memref<9x9xf32>, %f2: memref<9x9xf32>, %y: memref<100000x9x9x9xf32>) {
  kron.batched ins(%x : memref<100000x9x9x9xf32>) factors(%f0, %f1, %f2 : memref<9x9xf32>, memref<9x9xf32>, memref<9x9xf32>) outs(%y : memref<100000x9x9x9xf32>)
  return
}

// CHECK-LABEL: func.func @batched_16(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Which larger ones do not need.
func.func @batched_16(%x: memref<100000x16x16x16xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %y: memref<100000x16x16x16xf32>) {
  kron.batched ins(%x : memref<100000x16x16x16xf32>) factors(%f0, %f1, %f2 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<100000x16x16x16xf32>)
  return
}

// CHECK-LABEL: func.func @kmm_8_4(
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK:           kron.mode_product axis(0)
// CHECK-NOT:     kron.fused
// All rows fit a tile with 32 bytes of each.
func.func @kmm_8_4(%x: memref<4096x8192xf32>, %f: memref<8x8xf32>, %y: memref<4096x8192xf32>) {
  kron.kmm ins(%x : memref<4096x8192xf32>) factors(%f, %f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<4096x8192xf32>)
  return
}

// CHECK-LABEL: func.func @kmm_8_4_f64(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK-NOT:     kron.fused
// Tiles of 4 columns rather than 8 that two CTAs share.
func.func @kmm_8_4_f64(%x: memref<4096x8192xf64>, %f: memref<8x8xf64>, %y: memref<4096x8192xf64>) {
  kron.kmm ins(%x : memref<4096x8192xf64>) factors(%f, %f, %f, %f : memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>) outs(%y : memref<4096x8192xf64>)
  return
}

// CHECK-LABEL: func.func @kmm_8_5_transposed(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:         kron.fused {{.*}}<kernel = ffma{{[,>]}}
// CHECK-NOT:     kron.fused
// Neighbours of the input lie across the result's: ffma would wait for copies of
// single elements.
func.func @kmm_8_5_transposed(%x: memref<1024x32768xf32>, %f: memref<8x8xf32>, %y: memref<32768x1024xf32>) {
  kron.kmm ins(T(%x) : memref<1024x32768xf32>) factors(%f, %f, %f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<32768x1024xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_16_3_transposed(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// A tile has 8 rows, which are 32 bytes of the input.
func.func @mkm_16_3_transposed(%x: memref<4096x8192xf32>, %f: memref<16x16xf32>, %y: memref<8192x4096xf32>) {
  kron.mkm ins(T(%x) : memref<4096x8192xf32>) factors(T(%f), T(%f), T(%f) : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<8192x4096xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_32_3_transposed(
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK:         kron.fused {{.*}}<kernel = wgmma{{[,>]}}
// CHECK-NOT:     kron.fused
// mma would read such a factor for each of many small tiles.
func.func @mkm_32_3_transposed(%x: memref<32768x1024xf32>, %f: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(T(%x) : memref<32768x1024xf32>) factors(T(%f), T(%f), T(%f) : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<1024x32768xf32>)
  return
}

// CHECK-LABEL: func.func @mkm_16_4_transposed(
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK:         kron.fused {{.*}}<kernel = mma{{[,>]}}
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-NOT:     kron.fused
// Two CTAs cannot share 8 rows: two fused regions, of which the first one reads whole lines
// of the input.
func.func @mkm_16_4_transposed(%x: memref<65536x1024xf32>, %f: memref<16x16xf32>, %y: memref<1024x65536xf32>) {
  kron.mkm ins(T(%x) : memref<65536x1024xf32>) factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<1024x65536xf32>)
  return
}

// Verify that threads have the registers of three fibres of 9 elements, their results and a factor, which stays.
// CHECK-LABEL: func.func @kmm_f64_9
// CHECK:         kron.fused {{.*}}<kernel = ffma, {{.*}}threads = 224,
func.func @kmm_f64_9(%x: memref<729x7290xf64>, %f: memref<9x9xf64>, %y: memref<729x7290xf64>) {
  kron.kmm ins(%x : memref<729x7290xf64>) factors(%f, %f, %f : memref<9x9xf64>, memref<9x9xf64>, memref<9x9xf64>)
    outs(%y : memref<729x7290xf64>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}
