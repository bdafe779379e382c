// What is decided for the CPU, shape by shape: every line is one fused region (a
// kron.fused): how many factors it applies, as how many steps after joining, and its tile. A
// changed line is a changed decision: measure before it is accepted.
//
// RUN: kron-opt %s --kron-cpu-pipeline="vector-bits=512" --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=Plan
// RUN: kron-opt %s --kron-cpu-pipeline="vector-bits=256" --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=NARROW

// Verify the decision for two factors of 64 x 64: mkm f32 1024 x 64^2.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=2{{(,|$)}}
func.func @mkm_f32_1024_x_64_2(%x: memref<1024x4096xf32>, %f0: memref<64x64xf32>, %f1: memref<64x64xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(%x : memref<1024x4096xf32>) factors(%f0, %f1 : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<1024x4096xf32>)
  return
}

// Verify the decision for few rows, of which every thread gets some: mkm f32 16 x 64^2.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_16_x_64_2(%x: memref<16x4096xf32>, %f0: memref<64x64xf32>, %f1: memref<64x64xf32>, %y: memref<16x4096xf32>) {
  kron.mkm ins(%x : memref<16x4096xf32>) factors(%f0, %f1 : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<16x4096xf32>)
  return
}

// Verify the decision for two factors of 128 x 128: mkm f32 1024 x 128^2.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_128_2(%x: memref<1024x16384xf32>, %f0: memref<128x128xf32>, %f1: memref<128x128xf32>, %y: memref<1024x16384xf32>) {
  kron.mkm ins(%x : memref<1024x16384xf32>) factors(%f0, %f1 : memref<128x128xf32>, memref<128x128xf32>) outs(%y : memref<1024x16384xf32>)
  return
}

// Verify the decision for three of 32 x 32: mkm f32 1024 x 32^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_32_3(%x: memref<1024x32768xf32>, %f0: memref<32x32xf32>, %f1: memref<32x32xf32>, %f2: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f0, %f1, %f2 : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>) outs(%y : memref<1024x32768xf32>)
  return
}

// Verify the decision for four of 16 x 16, whose rows are larger than the L1 cache: mkm f32 1024 x 16^4.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Steps=4{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_16_4(%x: memref<1024x65536xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %f3: memref<16x16xf32>, %y: memref<1024x65536xf32>) {
  kron.mkm ins(%x : memref<1024x65536xf32>) factors(%f0, %f1, %f2, %f3 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<1024x65536xf32>)
  return
}

// Verify the decision for four of 8 x 8: mkm f32 1024 x 8^4.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Steps=4{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_8_4(%x: memref<1024x4096xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(%x : memref<1024x4096xf32>) factors(%f0, %f1, %f2, %f3 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<1024x4096xf32>)
  return
}

// Verify the decision for five of 8 x 8: mkm f32 1024 x 8^5.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=5{{.*}}Steps=5{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_8_5(%x: memref<1024x32768xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %f4: memref<8x8xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f0, %f1, %f2, %f3, %f4 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<1024x32768xf32>)
  return
}

// Verify the decision for six of 4 x 4, the innermost of which takes four fibres a vector: mkm f32 1024 x 4^6.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=6{{.*}}Steps=6{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_4_6(%x: memref<1024x4096xf32>, %f0: memref<4x4xf32>, %f1: memref<4x4xf32>, %f2: memref<4x4xf32>, %f3: memref<4x4xf32>, %f4: memref<4x4xf32>, %f5: memref<4x4xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(%x : memref<1024x4096xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<1024x4096xf32>)
  return
}

// Verify the decision for ten of 2 x 2, which are joined: mkm f32 1024 x 2^10.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=10{{.*}}Steps=5{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_2_10(%x: memref<1024x1024xf32>, %f0: memref<2x2xf32>, %f1: memref<2x2xf32>, %f2: memref<2x2xf32>, %f3: memref<2x2xf32>, %f4: memref<2x2xf32>, %f5: memref<2x2xf32>, %f6: memref<2x2xf32>, %f7: memref<2x2xf32>, %f8: memref<2x2xf32>, %f9: memref<2x2xf32>, %y: memref<1024x1024xf32>) {
  kron.mkm ins(%x : memref<1024x1024xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9 : memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) outs(%y : memref<1024x1024xf32>)
  return
}

// Verify the decision for seven of 3 x 3, the innermost of which takes five fibres a vector, while the next two are
// joined: mkm f32 1024 x 3^7.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=7{{.*}}Steps=6{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_3_7(%x: memref<1024x2187xf32>, %f0: memref<3x3xf32>, %f1: memref<3x3xf32>, %f2: memref<3x3xf32>, %f3: memref<3x3xf32>, %f4: memref<3x3xf32>, %f5: memref<3x3xf32>, %f6: memref<3x3xf32>, %y: memref<1024x2187xf32>) {
  kron.mkm ins(%x : memref<1024x2187xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5, %f6 : memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>) outs(%y : memref<1024x2187xf32>)
  return
}

// Verify the decision for three of 31 x 31: mkm f32 1024 x 31^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_31_3(%x: memref<1024x29791xf32>, %f0: memref<31x31xf32>, %f1: memref<31x31xf32>, %f2: memref<31x31xf32>, %y: memref<1024x29791xf32>) {
  kron.mkm ins(%x : memref<1024x29791xf32>) factors(%f0, %f1, %f2 : memref<31x31xf32>, memref<31x31xf32>, memref<31x31xf32>) outs(%y : memref<1024x29791xf32>)
  return
}

// Verify the decision for six of 5 x 5: mkm f32 1024 x 5^6.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=6{{.*}}Steps=6{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_5_6(%x: memref<1024x15625xf32>, %f0: memref<5x5xf32>, %f1: memref<5x5xf32>, %f2: memref<5x5xf32>, %f3: memref<5x5xf32>, %f4: memref<5x5xf32>, %f5: memref<5x5xf32>, %y: memref<1024x15625xf32>) {
  kron.mkm ins(%x : memref<1024x15625xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<1024x15625xf32>)
  return
}

// Verify the decision for f64: mkm f64 1024 x 16^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f64_1024_x_16_3(%x: memref<1024x4096xf64>, %f0: memref<16x16xf64>, %f1: memref<16x16xf64>, %f2: memref<16x16xf64>, %y: memref<1024x4096xf64>) {
  kron.mkm ins(%x : memref<1024x4096xf64>) factors(%f0, %f1, %f2 : memref<16x16xf64>, memref<16x16xf64>, memref<16x16xf64>) outs(%y : memref<1024x4096xf64>)
  return
}

// Verify the decision for one row, two fused regions with several threads, else one: mkm f32 1 x 16^4.
// CHECK: :[[@LINE+4]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=1{{(,|$)}}
// CHECK: :[[@LINE+3]]:{{.*}}FactorsApplied=1{{.*}}Steps=1{{.*}}Tile=16{{(,|$)}}
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Steps=4{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1_x_16_4(%x: memref<1x65536xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %f3: memref<16x16xf32>, %y: memref<1x65536xf32>) {
  kron.mkm ins(%x : memref<1x65536xf32>) factors(%f0, %f1, %f2, %f3 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<1x65536xf32>)
  return
}

// Verify the decision for one row, shared out among threads in two fused regions: mkm f32 1 x 64^3.
// CHECK: :[[@LINE+3]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=2{{(,|$)}}
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=1{{.*}}Steps=1{{.*}}Tile=64{{(,|$)}}
func.func @mkm_f32_1_x_64_3(%x: memref<1x262144xf32>, %f0: memref<64x64xf32>, %f1: memref<64x64xf32>, %f2: memref<64x64xf32>, %y: memref<1x262144xf32>) {
  kron.mkm ins(%x : memref<1x262144xf32>) factors(%f0, %f1, %f2 : memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<1x262144xf32>)
  return
}

// Verify the decision for one row of 2^24 elements: mkm f32 1 x 8^8.
// CHECK: :[[@LINE+3]]:{{.*}}FactorsApplied=4{{.*}}Steps=4{{.*}}Tile=1{{(,|$)}}
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Steps=4{{.*}}Tile=8{{(,|$)}}
func.func @mkm_f32_1_x_8_8(%x: memref<1x16777216xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %f3: memref<8x8xf32>, %f4: memref<8x8xf32>, %f5: memref<8x8xf32>, %f6: memref<8x8xf32>, %f7: memref<8x8xf32>, %y: memref<1x16777216xf32>) {
  kron.mkm ins(%x : memref<1x16777216xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<1x16777216xf32>)
  return
}

// Verify the decision for products from the left, whose lanes are columns: kmm f32 1024 x 16^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=32{{(,|$)}}
func.func @kmm_f32_1024_x_16_3(%x: memref<4096x1024xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %y: memref<4096x1024xf32>) {
  kron.kmm ins(%x : memref<4096x1024xf32>) factors(%f0, %f1, %f2 : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<4096x1024xf32>)
  return
}

// Verify the decision for transposed operands: mkm f32 1024 x 16^3 TT.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=32{{(,|$)}}
func.func @mkm_f32_1024_x_16_3_tt(%x: memref<4096x1024xf32>, %f0: memref<16x16xf32>, %f1: memref<16x16xf32>, %f2: memref<16x16xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(T(%x) : memref<4096x1024xf32>) factors(T(%f0), T(%f1), T(%f2) : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<1024x4096xf32>)
  return
}

// Verify the decision for small odd arrays of f64, eight of which are whole cache lines: batched f64 100000 x 5^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Tile=8{{(,|$)}}
func.func @batched_f64_100000_x_5_3(%x: memref<100000x5x5x5xf64>, %f0: memref<5x5xf64>, %f1: memref<5x5xf64>, %f2: memref<5x5xf64>, %y: memref<100000x5x5x5xf64>) {
  kron.batched ins(%x : memref<100000x5x5x5xf64>) factors(%f0, %f1, %f2 : memref<5x5xf64>, memref<5x5xf64>, memref<5x5xf64>) outs(%y : memref<100000x5x5x5xf64>)
  return
}

// Verify the decision for many small arrays: batched f32 100000 x 8^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=2{{(,|$)}}
func.func @batched_f32_100000_x_8_3(%x: memref<100000x8x8x8xf32>, %f0: memref<8x8xf32>, %f1: memref<8x8xf32>, %f2: memref<8x8xf32>, %y: memref<100000x8x8x8xf32>) {
  kron.batched ins(%x : memref<100000x8x8x8xf32>) factors(%f0, %f1, %f2 : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<100000x8x8x8xf32>)
  return
}

// Verify the decision for a Kronecker-sparse factor, batch first: ksmm f32 196 x 1,64,64,16.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=1{{.*}}Steps=1{{.*}}Tile=12{{(,|$)}}
func.func @ksmm_f32_196_x_1_64_64_16(%x: memref<196x1024xf32>, %f0: memref<1x64x64x16xf32>, %y: memref<196x1024xf32>) {
  kron.ksmm ins(%x : memref<196x1024xf32>) weights(%f0 : memref<1x64x64x16xf32>) outs(%y : memref<196x1024xf32>)
  return
}

// Verify the decision for a Kronecker-sparse factor, batch last: ksmm f32 196 x 1,64,64,16 batch last.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=1{{.*}}Steps=1{{.*}}Tile=64{{(,|$)}}
func.func @ksmm_f32_196_x_1_64_64_16_batch_last(%x: memref<1024x196xf32>, %f0: memref<1x64x64x16xf32>, %y: memref<1024x196xf32>) {
  kron.ksmm ins(%x : memref<1024x196xf32>) weights(%f0 : memref<1x64x64x16xf32>) outs(%y : memref<1024x196xf32>) {layout = #kron.layout<batch_last>}
  return
}

// Verify the decision for a chain of two Kronecker-sparse factors, for row-major arrays and for all
// others: chain f32 1024 x 64,64,64,1 > 1,64,64,64.
// CHECK: :[[@LINE+6]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=16{{(,|$)}}
// CHECK: :[[@LINE+5]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=16{{(,|$)}}
func.func @chain_f32_1024_x_64_64_64_1_1_64_64_64(%x: tensor<1024x4096xf32>, %f0: tensor<64x64x64x1xf32>, %f1: tensor<1x64x64x64xf32>) -> tensor<1024x4096xf32> {
  %e0 = tensor.empty() : tensor<1024x4096xf32>
  %y0 = kron.ksmm ins(%x : tensor<1024x4096xf32>) weights(%f0 : tensor<64x64x64x1xf32>) outs(%e0 : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %e1 = tensor.empty() : tensor<1024x4096xf32>
  %y1 = kron.ksmm ins(%y0 : tensor<1024x4096xf32>) weights(%f1 : tensor<1x64x64x64xf32>) outs(%e1 : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %y1 : tensor<1024x4096xf32>
}

// Verify the decision for one whose first factor reads segments of 256 bytes, and whose factors are
// read for every tile, since the second-level cache does not hold them: chain f32 1024 x
// 1,64,64,64 > 64,64,64,1.
// CHECK: :[[@LINE+6]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=32{{(,|$)}}
// CHECK: :[[@LINE+5]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=32{{(,|$)}}
func.func @chain_f32_1024_x_1_64_64_64_64_64_64_1(%x: tensor<1024x4096xf32>, %f0: tensor<1x64x64x64xf32>, %f1: tensor<64x64x64x1xf32>) -> tensor<1024x4096xf32> {
  %e0 = tensor.empty() : tensor<1024x4096xf32>
  %y0 = kron.ksmm ins(%x : tensor<1024x4096xf32>) weights(%f0 : tensor<1x64x64x64xf32>) outs(%e0 : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %e1 = tensor.empty() : tensor<1024x4096xf32>
  %y1 = kron.ksmm ins(%y0 : tensor<1024x4096xf32>) weights(%f1 : tensor<64x64x64x1xf32>) outs(%e1 : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %y1 : tensor<1024x4096xf32>
}

// Verify the decision for one whose factors that cache just holds: chain f32 1024 x
// 1,32,32,128 > 128,32,32,1.
// CHECK: :[[@LINE+6]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=16{{(,|$)}}
// CHECK: :[[@LINE+5]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=16{{(,|$)}}
func.func @chain_f32_1024_x_1_32_32_128_128_32_32_1(%x: tensor<1024x4096xf32>, %f0: tensor<1x32x32x128xf32>, %f1: tensor<128x32x32x1xf32>) -> tensor<1024x4096xf32> {
  %e0 = tensor.empty() : tensor<1024x4096xf32>
  %y0 = kron.ksmm ins(%x : tensor<1024x4096xf32>) weights(%f0 : tensor<1x32x32x128xf32>) outs(%e0 : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %e1 = tensor.empty() : tensor<1024x4096xf32>
  %y1 = kron.ksmm ins(%y0 : tensor<1024x4096xf32>) weights(%f1 : tensor<128x32x32x1xf32>) outs(%e1 : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %y1 : tensor<1024x4096xf32>
}

// Verify the decision for six of 3 x 3 applied to columns, of which the outermost two are joined: what they take and give
// leaves the first-level cache. Vectors of 256 bits wait half as long for that, which does not pay. kmm f32 64 x 3^6.
// NARROW: :[[@LINE+3]]:{{.*}}FactorsApplied=6{{.*}}Steps=6{{.*}}Tile=64{{(,|$)}}
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=6{{.*}}steps = [{rows = 3, {{[^{]*}}}, {rows = 3, {{[^{]*}}}, {rows = 3, {{[^{]*}}}, {rows = 3, {{[^{]*}}}, {factors = 2, {{.*}}Steps=5{{.*}}Tile=64{{(,|$)}}
func.func @kmm_f32_64_x_3_6(%x: memref<729x64xf32>, %f0: memref<3x3xf32>, %f1: memref<3x3xf32>, %f2: memref<3x3xf32>, %f3: memref<3x3xf32>, %f4: memref<3x3xf32>, %f5: memref<3x3xf32>, %y: memref<729x64xf32>) {
  kron.kmm ins(%x : memref<729x64xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>) outs(%y : memref<729x64xf32>)
  return
}

// Verify that four of 3 x 3 on as many columns, which stay there, are applied one by one: kmm f32 64 x 3^4.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Steps=4{{.*}}Tile=64{{(,|$)}}
func.func @kmm_f32_64_x_3_4(%x: memref<81x64xf32>, %f0: memref<3x3xf32>, %f1: memref<3x3xf32>, %f2: memref<3x3xf32>, %f3: memref<3x3xf32>, %y: memref<81x64xf32>) {
  kron.kmm ins(%x : memref<81x64xf32>) factors(%f0, %f1, %f2, %f3 : memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>) outs(%y : memref<81x64xf32>)
  return
}

// Verify that multiply-adds of complex numbers count twice, so that factors of 3 x 3 are not joined: kmm c64 64 x 3^6.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=6{{.*}}Steps=6{{.*}}
func.func @kmm_c64_64_x_3_6(%x: memref<729x64xcomplex<f64>>, %f0: memref<3x3xcomplex<f64>>, %f1: memref<3x3xcomplex<f64>>, %f2: memref<3x3xcomplex<f64>>, %f3: memref<3x3xcomplex<f64>>, %f4: memref<3x3xcomplex<f64>>, %f5: memref<3x3xcomplex<f64>>, %y: memref<729x64xcomplex<f64>>) {
  kron.kmm ins(%x : memref<729x64xcomplex<f64>>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<3x3xcomplex<f64>>, memref<3x3xcomplex<f64>>, memref<3x3xcomplex<f64>>, memref<3x3xcomplex<f64>>, memref<3x3xcomplex<f64>>, memref<3x3xcomplex<f64>>) outs(%y : memref<729x64xcomplex<f64>>)
  return
}

// Verify that of equal costs the fewest steps are taken: kmm f32 840 x 2^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=1{{.*}}
func.func @kmm_f32_840_x_2_3(%x: memref<8x840xf32>, %f0: memref<2x2xf32>, %f1: memref<2x2xf32>, %f2: memref<2x2xf32>, %y: memref<8x840xf32>) {
  kron.kmm ins(%x : memref<8x840xf32>) factors(%f0, %f1, %f2 : memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) outs(%y : memref<8x840xf32>)
  return
}

// Verify the decision for small odd rows, which are in the lanes, two vectors of them: mkm f32 16384 x 2,5,6.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=32{{(,|$)}}
func.func @mkm_f32_16384_x_2_5_6(%x: memref<16384x60xf32>, %f0: memref<2x2xf32>, %f1: memref<5x5xf32>, %f2: memref<6x6xf32>, %y: memref<16384x60xf32>) {
  kron.mkm ins(%x : memref<16384x60xf32>) factors(%f0, %f1, %f2 : memref<2x2xf32>, memref<5x5xf32>, memref<6x6xf32>) outs(%y : memref<16384x60xf32>)
  return
}

// Verify the decision for rows so short that they leave most of the squares empty which would be transposed: mkm f32
// 31649 x 5:2.
// NARROW: :[[@LINE+3]]:{{.*}}#kron.cpu_plan<vector_bits = 256, tile = 48, tiled_axis = 0, prefetch = -1, steps = [{rows = 12, vectors = 1}]>
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=1{{.*}}Steps=1{{.*}}Tile=48{{(,|$)}}
func.func @mkm_f32_31649_x_5_2(%x: memref<31649x5xf32>, %f0: memref<5x2xf32>, %y: memref<31649x2xf32>) {
  kron.mkm ins(%x : memref<31649x5xf32>) factors(%f0 : memref<5x2xf32>) outs(%y : memref<31649x2xf32>)
  return
}

// Verify the decision for a large factor with a short odd axis inside, whose rows are in the lanes: mkm f32 886 x 172,11.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}rows_in_lanes = 1{{.*}}Steps=2{{.*}}Tile=16{{(,|$)}}
func.func @mkm_f32_886_x_172_11(%x: memref<886x1892xf32>, %f0: memref<172x172xf32>, %f1: memref<11x11xf32>, %y: memref<886x1892xf32>) {
  kron.mkm ins(%x : memref<886x1892xf32>) factors(%f0, %f1 : memref<172x172xf32>, memref<11x11xf32>) outs(%y : memref<886x1892xf32>)
  return
}

// Verify the decision for the same where there are not 16 tiles of them: mkm f32 255 x 172,11.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_255_x_172_11(%x: memref<255x1892xf32>, %f0: memref<172x172xf32>, %f1: memref<11x11xf32>, %y: memref<255x1892xf32>) {
  kron.mkm ins(%x : memref<255x1892xf32>) factors(%f0, %f1 : memref<172x172xf32>, memref<11x11xf32>) outs(%y : memref<255x1892xf32>)
  return
}

// Verify the decision for an unknown number of them: mkm f32 172,11.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_open_x_172_11(%x: memref<?x1892xf32>, %f0: memref<172x172xf32>, %f1: memref<11x11xf32>, %y: memref<?x1892xf32>) {
  kron.mkm ins(%x : memref<?x1892xf32>) factors(%f0, %f1 : memref<172x172xf32>, memref<11x11xf32>) outs(%y : memref<?x1892xf32>)
  return
}

// Verify the decision for rows of which the second-level cache does not hold as many: mkm f32 1024 x 1000,11.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=1{{(,|$)}}
func.func @mkm_f32_1024_x_1000_11(%x: memref<1024x11000xf32>, %f0: memref<1000x1000xf32>, %f1: memref<11x11xf32>, %y: memref<1024x11000xf32>) {
  kron.mkm ins(%x : memref<1024x11000xf32>) factors(%f0, %f1 : memref<1000x1000xf32>, memref<11x11xf32>) outs(%y : memref<1024x11000xf32>)
  return
}

// Verify the decision for few columns of a factor that is contiguous along its results: these are in the lanes, and
// columns move outside: kmm f32 6 x 291 NT; with 256 bits 6 columns fill lanes, 3 do not.
// CHECK: :[[@LINE+3]]:{{.*}}moves_innermost = 3, steps = [{rows = 6, vectors = 4, factor_panels = 1, chunk = 114}]
// NARROW: :[[@LINE+2]]:{{.*}}prefetch = -1, steps = [{rows = 12, vectors = 1, input_panels = 1}]
func.func @kmm_f32_6_x_291_NT(%x: memref<291x6xf32>, %f: memref<291x291xf32>, %y: memref<291x6xf32>) {
  kron.kmm ins(%x : memref<291x6xf32>) factors(T(%f) : memref<291x291xf32>) outs(%y : memref<291x6xf32>)
  return
}

// CHECK: :[[@LINE+3]]:{{.*}}moves_innermost = 3, steps = [{rows = 3, vectors = 4, factor_panels = 1, chunk = 114}]
// NARROW: :[[@LINE+2]]:{{.*}}moves_innermost = 3, steps = [{rows = 3, vectors = 2, factor_panels = 1, chunk = 114}]
func.func @kmm_f32_3_x_291_NT(%x: memref<291x3xf32>, %f: memref<291x291xf32>, %y: memref<291x3xf32>) {
  kron.kmm ins(%x : memref<291x3xf32>) factors(T(%f) : memref<291x291xf32>) outs(%y : memref<291x3xf32>)
  return
}

// Verify the decision for the same of a transposed input, whose factor is contiguous along p: kmm f64 4 x 287 TN.
// CHECK: :[[@LINE+2]]:{{.*}}moves_innermost = 3, steps = [{lanes = 1}]
func.func @kmm_f64_4_x_287_TN(%x: memref<4x287xf64>, %f: memref<287x287xf64>, %y: memref<287x4xf64>) {
  kron.kmm ins(T(%x) : memref<4x287xf64>) factors(%f : memref<287x287xf64>) outs(%y : memref<287x4xf64>)
  return
}

// The same of one that is contiguous along q: kmm f32 6 x 153 TT.
// CHECK: :[[@LINE+2]]:{{.*}}moves_innermost = 3, steps = [{rows = 6, vectors = 4,
func.func @kmm_f32_6_x_153_TT(%x: memref<6x153xf32>, %f: memref<153x153xf32>, %y: memref<153x6xf32>) {
  kron.kmm ins(T(%x) : memref<6x153xf32>) factors(T(%f) : memref<153x153xf32>) outs(%y : memref<153x6xf32>)
  return
}

// Verify the decision for few rows in each of many tiles, which share a packed factor: mkm f64 1350 x 5,130 NT.
// CHECK: :[[@LINE+3]]:{{.*}}tile = 1, tiled_axis = 0, steps = [{rows = 5, vectors = 4, factor_panels = 1, chunk = 130},
// NARROW: :[[@LINE+2]]:{{.*}}tile = 1, tiled_axis = 0, steps = [{rows = 5, vectors = 2, factor_panels = 1, chunk = 130},
func.func @mkm_f64_1350_x_5_130_NT(%x: memref<1350x650xf64>, %f0: memref<5x5xf64>, %f1: memref<130x130xf64>, %y: memref<1350x650xf64>) {
  kron.mkm ins(%x : memref<1350x650xf64>) factors(T(%f0), T(%f1) : memref<5x5xf64>, memref<130x130xf64>) outs(%y : memref<1350x650xf64>)
  return
}

// Verify the decision for rows that no tile divides, of which one has too few for a register tile of panels: mkm f32
// 1753 x 4,190.
// CHECK: :[[@LINE+3]]:{{.*}}tile = 6, tiled_axis = 0, steps = [{rows = 6, vectors = 4, factor_panels = 1,
// NARROW: :[[@LINE+2]]:{{.*}}tile = 6, tiled_axis = 0, steps = [{rows = 6, vectors = 2, factor_panels = 1,
func.func @mkm_f32_1753_x_4_190(%x: memref<1753x760xf32>, %f0: memref<4x4xf32>, %f1: memref<190x190xf32>, %y: memref<1753x760xf32>) {
  kron.mkm ins(%x : memref<1753x760xf32>) factors(%f0, %f1 : memref<4x4xf32>, memref<190x190xf32>) outs(%y : memref<1753x760xf32>)
  return
}

// Verify the decision for a large factor with a short axis inside, whose packed elements leave the second-level cache:
// as many rows as that holds go by: mkm f32 1061 x 471,2,2.
// CHECK: :[[@LINE+3]]:{{.*}}tile = 36, tiled_axis = 0, {{.*}}factor_panels = 1
// NARROW: :[[@LINE+2]]:{{.*}}tile = 36, tiled_axis = 0, {{.*}}factor_panels = 1
func.func @mkm_f32_1061_x_471_2_2(%x: memref<1061x1884xf32>, %f0: memref<471x471xf32>, %f1: memref<2x2xf32>, %y: memref<1061x1884xf32>) {
  kron.mkm ins(%x : memref<1061x1884xf32>) factors(%f0, %f1, %f1 : memref<471x471xf32>, memref<2x2xf32>, memref<2x2xf32>) outs(%y : memref<1061x1884xf32>)
  return
}

// Verify the decision for columns that lie as rows, of a factor of few results: tiles whose copy stays in a part of
// the first-level cache: kmm f64 4364 x 88:7 TT; of more results multiply-adds hide the copy: kmm f64 4364 x 88:32 TT.
// CHECK: :[[@LINE+3]]:{{.*}}Tile=16{{(,|$)}}
// NARROW: :[[@LINE+2]]:{{.*}}Tile=16{{(,|$)}}
func.func @kmm_f64_4364_x_88_7_TT(%x: memref<4364x88xf64>, %f: memref<88x7xf64>, %y: memref<7x4364xf64>) {
  kron.kmm ins(T(%x) : memref<4364x88xf64>) factors(T(%f) : memref<88x7xf64>) outs(%y : memref<7x4364xf64>)
  return
}

// CHECK: :[[@LINE+2]]:{{.*}}Tile=128{{(,|$)}}
func.func @kmm_f64_4364_x_88_32_TT(%x: memref<4364x88xf64>, %f: memref<88x32xf64>, %y: memref<32x4364xf64>) {
  kron.kmm ins(T(%x) : memref<4364x88xf64>) factors(T(%f) : memref<88x32xf64>) outs(%y : memref<32x4364xf64>)
  return
}

// Verify the decision for factors that fill vectors well enough: mkm f32 3000 x 31^2.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=2{{.*}}Steps=2{{.*}}Tile=2{{(,|$)}}
func.func @mkm_f32_3000_x_31_2(%x: memref<3000x961xf32>, %f0: memref<31x31xf32>, %f1: memref<31x31xf32>, %y: memref<3000x961xf32>) {
  kron.mkm ins(%x : memref<3000x961xf32>) factors(%f0, %f1 : memref<31x31xf32>, memref<31x31xf32>) outs(%y : memref<3000x961xf32>)
  return
}

// Verify the decision for fewer rows than lanes: mkm f32 15 x 2,5,6.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Steps=3{{.*}}Tile=15{{(,|$)}}
func.func @mkm_f32_15_x_2_5_6(%x: memref<15x60xf32>, %f0: memref<2x2xf32>, %f1: memref<5x5xf32>, %f2: memref<6x6xf32>, %y: memref<15x60xf32>) {
  kron.mkm ins(%x : memref<15x60xf32>) factors(%f0, %f1, %f2 : memref<2x2xf32>, memref<5x5xf32>, memref<6x6xf32>) outs(%y : memref<15x60xf32>)
  return
}

// Verify the decision for small arrays, 16 of which are whole cache lines: batched f32 100000 x 5^3.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Tile=16{{(,|$)}}
func.func @batched_f32_100000_x_5_3(%x: memref<100000x5x5x5xf32>, %f0: memref<5x5xf32>, %f1: memref<5x5xf32>, %f2: memref<5x5xf32>, %y: memref<100000x5x5x5xf32>) {
  kron.batched ins(%x : memref<100000x5x5x5xf32>) factors(%f0, %f1, %f2 : memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<100000x5x5x5xf32>)
  return
}

// Verify the decision for odd factors of a transposed input, whose rows are in the lanes, from one line and, where
// these are not aligned, from two: mkm f32 2000 x 5^4 TN, 2001 x 5^4 TN.
// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}rows_in_lanes = 1{{.*}}Tile=16{{(,|$)}}
func.func @mkm_f32_2000_x_5_4_TN(%x: memref<625x2000xf32>, %f: memref<5x5xf32>, %y: memref<2000x625xf32>) {
  kron.mkm ins(T(%x) : memref<625x2000xf32>) factors(%f, %f, %f, %f : memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<2000x625xf32>)
  return
}

// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}rows_in_lanes = 1{{.*}}Tile=32{{(,|$)}}
func.func @mkm_f32_2001_x_5_4_TN(%x: memref<625x2001xf32>, %f: memref<5x5xf32>, %y: memref<2001x625xf32>) {
  kron.mkm ins(T(%x) : memref<625x2001xf32>) factors(%f, %f, %f, %f : memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<2001x625xf32>)
  return
}

// Verify the decision for columns whose rows are an odd number of lines: tiles of a line, unless the first factor has many
// results or columns lie as rows: kmm f64 136 x 5^4, 136 x 12^3, 136 x 5^4 TN.
// CHECK: :[[@LINE+3]]:{{.*}}FactorsApplied=4{{.*}}Tile=8{{(,|$)}}
// NARROW: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Tile=8{{(,|$)}}
func.func @kmm_f64_136_x_5_4(%x: memref<625x136xf64>, %f: memref<5x5xf64>, %y: memref<625x136xf64>) {
  kron.kmm ins(%x : memref<625x136xf64>) factors(%f, %f, %f, %f : memref<5x5xf64>, memref<5x5xf64>, memref<5x5xf64>, memref<5x5xf64>) outs(%y : memref<625x136xf64>)
  return
}

// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=3{{.*}}Tile=16{{(,|$)}}
func.func @kmm_f64_136_x_12_3(%x: memref<1728x136xf64>, %f: memref<12x12xf64>, %y: memref<1728x136xf64>) {
  kron.kmm ins(%x : memref<1728x136xf64>) factors(%f, %f, %f : memref<12x12xf64>, memref<12x12xf64>, memref<12x12xf64>) outs(%y : memref<1728x136xf64>)
  return
}

// CHECK: :[[@LINE+2]]:{{.*}}FactorsApplied=4{{.*}}Tile=16{{(,|$)}}
func.func @kmm_f64_136_x_5_4_TN(%x: memref<136x625xf64>, %f: memref<5x5xf64>, %y: memref<625x136xf64>) {
  kron.kmm ins(T(%x) : memref<136x625xf64>) factors(%f, %f, %f, %f : memref<5x5xf64>, memref<5x5xf64>, memref<5x5xf64>, memref<5x5xf64>) outs(%y : memref<625x136xf64>)
  return
}
