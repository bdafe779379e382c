// RUN: kron-opt --kron-cpu-pipeline="vector-bits=512 l2-bytes=1073741824" %s | FileCheck %s

// Verify that the buffer of the slices keeps its offset where it is beyond
// the constants that a GEP can hold (2^28 elements).
// CHECK-LABEL: llvm.func @large(
// CHECK-NOT: [-268435696]
// CHECK: llvm.mlir.constant(268435696 : i64) : i64
func.func @large(%x: tensor<16777216x?xf32>, %f: tensor<16x16xf32>,
                 %out: tensor<16777216x?xf32>) -> tensor<16777216x?xf32> {
  %y = kron.kmm ins(%x : tensor<16777216x?xf32>)
                factors(%f, %f, %f, %f, %f, %f
                        : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>,
                          tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
                outs(%out : tensor<16777216x?xf32>)
                {plan = #kron.cpu_plan<tile = 16>} -> tensor<16777216x?xf32>
  return %y : tensor<16777216x?xf32>
}
