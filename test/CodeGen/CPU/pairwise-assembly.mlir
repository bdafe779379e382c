// What the register tiles of kron.pairwise come out as: one of 8 x 3 vectors of 512 bits, two of 4 x 2 of 256. Counts are of a
// function, so a spill, a scalar operation or a lost fusion changes them.
//
// RUN: kron-opt %s --kron-cpu-pipeline="vector-bits=512" \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O2 -mcpu=skylake-avx512 -mattr=-prefer-256-bit \
// RUN:   | llc -O2 -mcpu=skylake-avx512 -mattr=-prefer-256-bit | FileCheck %s --check-prefixes=CHECK,ZMM
// RUN: kron-opt %s --kron-cpu-pipeline="vector-bits=256" \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O2 -mcpu=haswell \
// RUN:   | llc -O2 -mcpu=haswell | FileCheck %s --check-prefixes=CHECK,YMM

// Verify that a square of a difference is a subtraction and a multiply-add, without a spill.
// CHECK-LABEL: squares_pairwise:
// ZMM-NOT: zmm{{[0-9]+}}, {{.*}}(%rsp)
// ZMM: vbroadcastss
// ZMM-NEXT: vsubps
// ZMM-COUNT-24: vfmadd231ps {{.*}}%zmm
// ZMM-NOT: zmm{{[0-9]+}}, {{.*}}(%rsp)
// YMM-NOT: ymm{{[0-9]+}}, {{.*}}(%rsp)
// YMM-COUNT-16: vfmadd231ps {{.*}}%ymm
// YMM-NOT: vfmadd
// CHECK-NOT: vfmadd
// CHECK-LABEL: {{^}}.Lfunc_end
func.func @squares(%a: memref<8x192xf32>, %b: memref<48x192xf32>, %y: memref<8x48xf32>) {
  kron.pairwise square_diff ins(%a, %b : memref<8x192xf32>, memref<48x192xf32>) outs(%y : memref<8x48xf32>)
      {plan = #kron.pairwise_plan<product_k = -1>}
  return
}

// Verify that an absolute difference is a subtraction, a mask and an addition.
// CHECK-LABEL: sums_pairwise:
// ZMM-NOT: zmm{{[0-9]+}}, {{.*}}(%rsp)
// ZMM: vsubps
// ZMM-NEXT: vandps
// ZMM-NEXT: vaddps
// ZMM-COUNT-23: vaddps {{.*}}%zmm
// ZMM-NOT: vaddps
// YMM-COUNT-16: vaddps {{.*}}%ymm
// YMM-NOT: vaddps
// CHECK-LABEL: {{^}}.Lfunc_end
func.func @sums(%a: memref<8x192xf32>, %b: memref<48x192xf32>, %y: memref<8x48xf32>) {
  kron.pairwise abs_diff ins(%a, %b : memref<8x192xf32>, memref<48x192xf32>) outs(%y : memref<8x48xf32>)
  return
}

// Verify that values of a product with one column stay in registers, and that exponentials are multiplied by a power of two at
// once in vectors of 512 bits only: 24 vectors of a register tile, 3 of one with a single row.
// CHECK-LABEL: weights_pairwise:
// ZMM-COUNT-27: vscalefps
// ZMM-NOT: vscalefps
// YMM-NOT: {{vscalefps|ldexp}}
// CHECK-LABEL: {{^}}.Lfunc_end
func.func @weights(%a: memref<80x3xf32>, %b: memref<48x3xf32>, %v: memref<48x1xf32>, %y: memref<80x1xf32>) {
  kron.pairwise_apply square_diff ins(%a, %b : memref<80x3xf32>, memref<48x3xf32>) values(%v : memref<48x1xf32>) outs(%y : memref<80x1xf32>)
      epilogue {
      ^bb0(%s: f32):
        %n = arith.negf %s : f32
        %r = math.exp %n : f32
        kron.pairwise_yield %r : f32
      }
  return
}
