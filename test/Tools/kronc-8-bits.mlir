// Verify that arrays of 8 bits that start anywhere get as far as PTX: the LLVM dialect has no
// such type.
// RUN: kronc %s --target nvidia --gpu-arch sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: kronc %s --target nvidia --gpu-arch sm_80,sm_90a -o %t.ll
// RUN: FileCheck %s --input-file %t.ll --check-prefix=HOST
// CHECK-DAG: .entry quantize
// CHECK-DAG: cvt.rn.satfinite.e4m3x2.f32
// CHECK-DAG: .entry product
// HOST: kron_kernel_product

func.func @rows(%v: tensor<?x64xf16>) -> (tensor<?x64xf8E4M3FN>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %v, %c0 : tensor<?x64xf16>
  %a = tensor.empty(%d) : tensor<?x64xf8E4M3FN>
  %b = tensor.empty(%d) : tensor<?xf32>
  %0:2 = kron.quantize ins(%v : tensor<?x64xf16>) outs(%a, %b : tensor<?x64xf8E4M3FN>, tensor<?xf32>)
         -> tensor<?x64xf8E4M3FN>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x64xf8E4M3FN>, tensor<?xf32>
}

func.func @product(%x: tensor<?x32xf8E5M2>, %k: tensor<2x4x8x2xf8E4M3FN>) -> tensor<?x16xf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x32xf8E5M2>
  %y = tensor.empty(%d) : tensor<?x16xf16>
  %0 = kron.ksmm ins(%x : tensor<?x32xf8E5M2>) weights(%k : tensor<2x4x8x2xf8E4M3FN>)
         outs(%y : tensor<?x16xf16>) -> tensor<?x16xf16>
  return %0 : tensor<?x16xf16>
}
