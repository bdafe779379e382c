// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=sm_90a" \
// RUN:   --kron-plan="target=cuda chip=sm_90a cublas=false" --split-input-file | FileCheck %s

// What warps and lanes load of operands that others load, too.

// Verify that warps of f64 have tiles whose rows and results are shared by others evenly: with eight warps
// beside each other along the results, loads of rows take longer than products.
// CHECK-LABEL: func.func @products(
// CHECK:         kron.fused {{.*}}<kernel = sparse, ctas_per_sm = 1, {{.*}}row_tiles = 4, row_warps = 2, result_tiles = 4, result_warps = 4
// CHECK:         kron.fused {{.*}}<kernel = sparse, ctas_per_sm = 1, {{.*}}row_tiles = 2, row_warps = 2, result_tiles = 4, result_warps = 4
func.func @products(%x: memref<256x65536xf64>, %f: memref<256x256xf64>, %y: memref<256x65536xf64>) {
  kron.mkm ins(%x : memref<256x65536xf64>) factors(%f, %f : memref<256x256xf64>, memref<256x256xf64>) outs(%y : memref<256x65536xf64>)
  return
}

// -----

// CHECK-LABEL: func.func @lanes(
// CHECK:         kron.fused {{.*}}<kernel = sparse, {{.*}}row_tiles = 2, row_warps = 2, result_tiles = 2, result_warps = 4
func.func @lanes(%x: memref<25088x1024xf64>, %f: memref<1x256x256x4xf64>, %y: memref<25088x1024xf64>) {
  kron.ksmm ins(%x : memref<25088x1024xf64>) weights(%f : memref<1x256x256x4xf64>) outs(%y : memref<25088x1024xf64>)
  return
}

// -----

// Verify that a large factor along whose rows K lies is not left to the general kernel, whose lanes read lines of
// their own of it.
// CHECK-LABEL: func.func @lines(
// CHECK:         kron.fused {{.*}}<kernel = sparse
func.func @lines(%x: memref<4x734487xf32>, %a: memref<3x3xf32>, %b: memref<509x509xf32>, %c: memref<481x481xf32>, %y: memref<734487x4xf32>) {
  kron.kmm ins(T(%x) : memref<4x734487xf32>) factors(%a, %b, %c : memref<3x3xf32>, memref<509x509xf32>, memref<481x481xf32>) outs(%y : memref<734487x4xf32>)
  return
}
