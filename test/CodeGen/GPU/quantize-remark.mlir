// RUN: kron-opt %s --convert-kron-to-nvvm=chip=sm_90a --remarks-filter=kron-gpu -o /dev/null 2>&1 | FileCheck %s

// Verify the reason why rows behind a Kronecker-sparse factor become 8 bits in a kernel of
// their own: a row is so many tiles.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-gpu | Remark="rows become 8 bits in a kernel of their own: a row is results of {{[0-9]+}} tiles, of which no CTA knows the largest magnitude"
func.func @sparse(%x: memref<4096x64x64xf16>, %k: memref<64x64x64xf16>, %q: memref<4096x4096xi8>, %s: memref<4096xf32>) {
  %t = memref.alloc() : memref<4096x4096xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [4096, 64, 64] : memref<4096x4096xf16> into memref<4096x64x64xf16>
  kron.pass ins(%x, %k : memref<4096x64x64xf16>, memref<64x64x64xf16>) outs(%v : memref<4096x64x64xf16>)
      attributes {schedule = #kron.schedule<kernel = mma>} {
  ^bb0(%tx: tensor<4096x64x64xf16>, %tk: tensor<64x64x64xf16>, %ty: tensor<4096x64x64xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<4096x64x64xf16>) factor(%tk [q, p, 2] : tensor<64x64x64xf16>)
         outs(%ty : tensor<4096x64x64xf16>) -> tensor<4096x64x64xf16>
    kron.yield %0 : tensor<4096x64x64xf16>
  }
  kron.quantize ins(%t : memref<4096x4096xf16>) outs(%q, %s : memref<4096x4096xi8>, memref<4096xf32>)
  memref.dealloc %t : memref<4096x4096xf16>
  return
}
