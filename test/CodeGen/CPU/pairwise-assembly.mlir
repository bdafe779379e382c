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
