// RUN: kron-opt %s --kron-plan --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s
// RUN: not kron-opt %s --kron-plan="vector-bits=64" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INVALID
// RUN: not kron-opt %s --kron-plan="whole-bits=96" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: not kron-opt %s --kron-plan="cache-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=cache-bytes
// RUN: not kron-opt %s --kron-plan="l2-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=l2-bytes
// RUN: not kron-opt %s --kron-plan="stream-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=stream-bytes
// RUN: not kron-opt %s --kron-plan="stream-columns-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=stream-columns-bytes
// RUN: not kron-opt %s --kron-plan="column-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=column-bytes
// RUN: not kron-opt %s --kron-plan="row-tile-bytes=-1" 2>&1 | FileCheck %s --check-prefix=BYTES -DNAME=row-tile-bytes
// RUN: not kron-opt %s --kron-plan="gigahertz=0" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=gigahertz
// RUN: not kron-opt %s --kron-plan="copy-gigabytes=0" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=copy-gigabytes
// RUN: not kron-opt %s --kron-plan="wide-fmas=0" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=wide-fmas
// RUN: not kron-opt %s --kron-plan="wide-loads=0" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=wide-loads
// RUN: not kron-opt %s --kron-plan="vector-fmas=0" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=vector-fmas
// RUN: not kron-opt %s --kron-plan="l2-bytes-per-cycle=0" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=l2-bytes-per-cycle
// RUN: not kron-opt %s --kron-plan="vector-loads=nan" 2>&1 | FileCheck %s --check-prefix=RATE -DNAME=vector-loads

// INVALID: error: expects vector-bits to be 128, 256 or 512, but got 64
// WHOLE: error: expects whole-bits to be 128, 256 or 512, but got 96
// BYTES: error: expects [[NAME]] to be at least 0, but got -1
// RATE: error: expects [[NAME]] to be more than 0, but got {{0|nan}}

// Verify that the remark says how the factors were grouped: two 2x2 factors at the
// inner end are one 4x4 step.
// CHECK: Plan
// CHECK-SAME: FactorsApplied=2
// CHECK-SAME: Steps=1
func.func @joined(%x: memref<64x2x2xf32>, %f: memref<2x2xf32>, %y: memref<64x2x2xf32>) {
  kron.fused ins(%x, %f : memref<64x2x2xf32>, memref<2x2xf32>) outs(%y : memref<64x2x2xf32>) {
  ^bb0(%t: tensor<64x2x2xf32>, %a: tensor<2x2xf32>, %o: tensor<64x2x2xf32>):
    %e = tensor.empty() : tensor<64x2x2xf32>
    %1 = kron.mode_product axis(2) ins(%t : tensor<64x2x2xf32>) factor(%a [p, q] : tensor<2x2xf32>) outs(%e : tensor<64x2x2xf32>) -> tensor<64x2x2xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<64x2x2xf32>) factor(%a [p, q] : tensor<2x2xf32>) outs(%o : tensor<64x2x2xf32>) -> tensor<64x2x2xf32>
    kron.yield %2 : tensor<64x2x2xf32>
  }
  return
}

// Verify the estimate: 2^24 elements of f32, 16 multiply-adds each in 16 lanes, two of them in a cycle of 4 GHz, 2097 us, and
// 2^27 bytes at 16 GB/s, 8389 us. 256 bits take twice the time of arithmetic, still less.
// RUN: kron-opt %s --kron-plan="gigahertz=4 copy-gigabytes=16" --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: FloorMicroseconds=8389, Microseconds=8389,
// MEMORY-SAME: bound by memory, estimated 8389 us on one thread, floor 8389 us; vector_bits = 256: 8389 us, bound by memory;
// MEMORY-SAME: tile = {{[0-9]+}}: 8389 us, bound by memory; #kron.cpu_plan<vector_bits = 512,
// Verify that time is counted of arithmetic where that is slower: register tiles of 12 rows load 13 times for 12 multiply-adds.
// RUN: kron-opt %s --kron-plan="gigahertz=0.5 copy-gigabytes=16" --remarks-filter='kron-plan' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARITHMETIC
// ARITHMETIC: bound by loads, estimated 18176 us on one thread, floor 16778 us; vector_bits = 256: 33555 us, bound by multiply-adds;
func.func @estimated(%x: memref<1048576x16xf32>, %f: memref<16x16xf32>, %y: memref<1048576x16xf32>) {
  kron.fused ins(%x, %f : memref<1048576x16xf32>, memref<16x16xf32>) outs(%y : memref<1048576x16xf32>) {
  ^bb0(%t: tensor<1048576x16xf32>, %a: tensor<16x16xf32>, %o: tensor<1048576x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<1048576x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<1048576x16xf32>) -> tensor<1048576x16xf32>
    kron.yield %1 : tensor<1048576x16xf32>
  }
  return
}
