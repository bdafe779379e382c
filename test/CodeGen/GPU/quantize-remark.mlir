// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm --remarks-filter=kron-plan -o /dev/null 2>&1 | FileCheck %s

// Verify that rows become 8 bits in the kernel of a Kronecker-sparse factor.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Passed] Quantize | Category:kron-plan | Remark="rows become 8 bits in the kernel of their product"
func.func @fused(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify that a plan for a kernel of its own is heeded, and named.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: kron.quantize has a plan for that"
func.func @planned(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>) {plan = #kron.gpu_plan<kernel = quantize, row_threads = 8>}
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify the reason where blocks of whole rows are too small for large factors.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: one of whole rows takes {{[0-9]+}} us, both {{[0-9]+}} us"
func.func @slow(%x: memref<4096x24x64xf16>, %k: memref<24x64x64xf16>, %q: memref<4096x1536xi8>, %s: memref<4096xf32>) {
  %t = memref.alloc() : memref<4096x1536xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [4096, 24, 64] : memref<4096x1536xf16> into memref<4096x24x64xf16>
  kron.fused ins(%x, %k : memref<4096x24x64xf16>, memref<24x64x64xf16>) outs(%v : memref<4096x24x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<4096x24x64xf16>, %tk: tensor<24x64x64xf16>, %ty: tensor<4096x24x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<4096x24x64xf16>) factor(%tk [1, q, p] : tensor<24x64x64xf16>)
         outs(%ty : tensor<4096x24x64xf16>) -> tensor<4096x24x64xf16>
    kron.yield %0 : tensor<4096x24x64xf16>
  }
  kron.quantize ins(%t : memref<4096x1536xf16>) outs(%q, %s : memref<4096x1536xi8>, memref<4096xf32>)
  memref.dealloc %t : memref<4096x1536xf16>
  return
}

// Verify the same where 16 rows are too many.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: a block of rows does not fit in shared memory"
func.func @long(%x: memref<4096x256x64xf16>, %k: memref<256x64x64xf16>, %q: memref<4096x16384xi8>, %s: memref<4096xf32>) {
  %t = memref.alloc() : memref<4096x16384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [4096, 256, 64] : memref<4096x16384xf16> into memref<4096x256x64xf16>
  kron.fused ins(%x, %k : memref<4096x256x64xf16>, memref<256x64x64xf16>) outs(%v : memref<4096x256x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<4096x256x64xf16>, %tk: tensor<256x64x64xf16>, %ty: tensor<4096x256x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<4096x256x64xf16>) factor(%tk [1, q, p] : tensor<256x64x64xf16>)
         outs(%ty : tensor<4096x256x64xf16>) -> tensor<4096x256x64xf16>
    kron.yield %0 : tensor<4096x256x64xf16>
  }
  kron.quantize ins(%t : memref<4096x16384xf16>) outs(%q, %s : memref<4096x16384xi8>, memref<4096xf32>)
  memref.dealloc %t : memref<4096x16384xf16>
  return
}

// Verify the same of few rows.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: there are few rows"
func.func @few(%x: memref<64x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<64x384xi8>, %s: memref<64xf32>) {
  %t = memref.alloc() : memref<64x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [64, 6, 64] : memref<64x384xf16> into memref<64x6x64xf16>
  kron.fused ins(%x, %k : memref<64x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<64x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<64x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<64x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<64x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<64x6x64xf16>) -> tensor<64x6x64xf16>
    kron.yield %0 : tensor<64x6x64xf16>
  }
  kron.quantize ins(%t : memref<64x384xf16>) outs(%q, %s : memref<64x384xi8>, memref<64xf32>)
  memref.dealloc %t : memref<64x384xf16>
  return
}

// Verify the same where somebody else reads the product.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: somebody else reads the product, or memory is touched before"
func.func @shared(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>, %y: memref<25088x384xf16>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  linalg.copy ins(%t : memref<25088x384xf16>) outs(%y : memref<25088x384xf16>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify the same where tiles of the product are given.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: the plan names tiles of the product"
func.func @given(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse, threads = 128>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify the same for the general kernel.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: only kernels by wgmma and of sparse factors have whole rows"
func.func @dense(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify the same where cuBLAS may be faster at the product.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: cuBLAS computes the product where it is there"
func.func @cublas(%x: memref<25088x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = cublas>} {
  ^bb0(%tx: tensor<25088x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify the same where the end of a row shares 16 bytes with nothing.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: rows are not made of chunks of 16 bytes"
func.func @odd(%x: memref<25088x3x64xf16>, %k: memref<3x17x64xf16>, %q: memref<25088x51xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x51xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 3, 17] : memref<25088x51xf16> into memref<25088x3x17xf16>
  kron.fused ins(%x, %k : memref<25088x3x64xf16>, memref<3x17x64xf16>) outs(%v : memref<25088x3x17xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x3x64xf16>, %tk: tensor<3x17x64xf16>, %ty: tensor<25088x3x17xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x3x64xf16>) factor(%tk [1, q, p] : tensor<3x17x64xf16>)
         outs(%ty : tensor<25088x3x17xf16>) -> tensor<25088x3x17xf16>
    kron.yield %0 : tensor<25088x3x17xf16>
  }
  kron.quantize ins(%t : memref<25088x51xf16>) outs(%q, %s : memref<25088x51xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x51xf16>
  return
}

// Verify the same for data of 8 bits.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: arrays are of different types"
func.func @types(%x: memref<25088x6x64xf8E4M3FN>, %k: memref<6x64x64xf16>, %q: memref<25088x384xi8>, %s: memref<25088xf32>) {
  %t = memref.alloc() : memref<25088x384xf16>
  %v = memref.expand_shape %t [[0], [1, 2]] output_shape [25088, 6, 64] : memref<25088x384xf16> into memref<25088x6x64xf16>
  kron.fused ins(%x, %k : memref<25088x6x64xf8E4M3FN>, memref<6x64x64xf16>) outs(%v : memref<25088x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x6x64xf8E4M3FN>, %tk: tensor<6x64x64xf16>, %ty: tensor<25088x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x6x64xf8E4M3FN>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<25088x6x64xf16>) -> tensor<25088x6x64xf16>
    kron.yield %0 : tensor<25088x6x64xf16>
  }
  kron.quantize ins(%t : memref<25088x384xf16>) outs(%q, %s : memref<25088x384xi8>, memref<25088xf32>)
  memref.dealloc %t : memref<25088x384xf16>
  return
}

// Verify the same where scales are of other rows, those of 64 elements.
// CHECK: quantize-remark.mlir:[[# @LINE + 11]]:3: remark: [Missed] Quantize | Category:kron-plan | Remark="rows become 8 bits in a kernel of their own: rows are not those of the product"
func.func @rows(%x: memref<4096x6x64xf16>, %k: memref<6x64x64xf16>, %q: memref<24576x64xi8>, %s: memref<24576xf32>) {
  %t = memref.alloc() : memref<24576x64xf16>
  %v = memref.expand_shape %t [[0, 1], [2]] output_shape [4096, 6, 64] : memref<24576x64xf16> into memref<4096x6x64xf16>
  kron.fused ins(%x, %k : memref<4096x6x64xf16>, memref<6x64x64xf16>) outs(%v : memref<4096x6x64xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<4096x6x64xf16>, %tk: tensor<6x64x64xf16>, %ty: tensor<4096x6x64xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<4096x6x64xf16>) factor(%tk [1, q, p] : tensor<6x64x64xf16>)
         outs(%ty : tensor<4096x6x64xf16>) -> tensor<4096x6x64xf16>
    kron.yield %0 : tensor<4096x6x64xf16>
  }
  kron.quantize ins(%t : memref<24576x64xf16>) outs(%q, %s : memref<24576x64xi8>, memref<24576xf32>)
  memref.dealloc %t : memref<24576x64xf16>
  return
}

// Verify that kernels of their own are named, behind all others: that with a plan by hand, and the next one.
// CHECK: [Analysis] Plan | Category:kron-plan | Remark="kernel quantize; #kron.gpu_plan<kernel = quantize, threads = 256, ctas_per_sm = 4, row_threads = 8>"
// CHECK: [Analysis] Plan | Category:kron-plan | Remark="kernel quantize; #kron.gpu_plan<kernel = quantize, threads = 256, ctas_per_sm = 4, row_threads = 64>"
