// What the innermost loops come out as. Counts are per function, so a spill, a
// scalar tail or a lost fusion changes them.
//
// RUN: kron-opt %s --kron-cpu-pipeline="vector-bits=512" \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O2 -mcpu=skylake-avx512 -mattr=-prefer-256-bit \
// RUN:   | llc -O2 -mcpu=skylake-avx512 -mattr=-prefer-256-bit | FileCheck %s --check-prefixes=CHECK,ZMM
// RUN: kron-opt %s --kron-cpu-pipeline="vector-bits=256" \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O2 -mcpu=haswell \
// RUN:   | llc -O2 -mcpu=haswell | FileCheck %s --check-prefixes=CHECK,YMM

// Verify that a row of 64 x 64 goes through both factors on 512-bit registers,
// without a spill of a vector register and without scalar arithmetic.
// CHECK-LABEL: square64_fused:
// ZMM-NOT: zmm{{[0-9]+}}, {{.*}}(%rsp)
// ZMM-NOT: vfmadd{{.*}}ss
// ZMM-COUNT-64: vfmadd{{.*}}ps {{.*}}%zmm
// ZMM-NOT: zmm{{[0-9]+}}, {{.*}}(%rsp)
// YMM-NOT: vfmadd{{.*}}ss
// YMM-COUNT-32: vfmadd{{.*}}ps {{.*}}%ymm
// CHECK-LABEL: {{^}}.Lfunc_end
func.func @square64(%x: tensor<?x4096xf32>, %f: tensor<64x64xf32>) -> tensor<?x4096xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xf32>
  %e = tensor.empty(%m) : tensor<?x4096xf32>
  %y = kron.mkm ins(%x : tensor<?x4096xf32>) factors(%f, %f : tensor<64x64xf32>, tensor<64x64xf32>)
                outs(%e : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %y : tensor<?x4096xf32>
}
