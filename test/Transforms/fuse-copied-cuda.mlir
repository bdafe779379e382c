// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file --remark-format=emitRemark --remarks-filter=kron-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that weights that are apart in memory are copied such that those of a sum are neighbours,
// in rows that start at multiples of 16 bytes: of 116 rows each is read once, from a sector of its own.
// REMARK: Copied | Category:kron-fuse | Remark="elements of a sum are neighbours in a copy of the factor"
// CHECK-LABEL: func @apart
// CHECK-SAME:    %{{.*}}: memref<243100x116xbf16>, %[[W:.*]]: memref<11x63x260x85xbf16>
// CHECK:         %[[ALLOC:.*]] = memref.alloc() {bufferization.manual_deallocation} : memref<11x85x63x264xbf16>
// CHECK:         %[[COPY:.*]] = memref.subview %[[ALLOC]][0, 0, 0, 0] [11, 85, 63, 260] [1, 1, 1, 1]
// CHECK:         linalg.transpose ins(%[[W]] : {{.*}}) outs(%[[COPY]] : {{.*}}) permutation = [0, 3, 1, 2]
// CHECK:         kron.fused ins(%{{.*}}, %[[COPY]] : {{.*}})
// CHECK:           kron.mode_product axis(1) {{.*}} factor(%{{.*}} [0, 2, q, p] : tensor<11x85x63x260xbf16>)
// CHECK:         memref.dealloc %[[ALLOC]]
func.func @apart(%x: memref<243100x116xbf16>, %w: memref<11x63x260x85xbf16>, %y: memref<58905x116xbf16>) {
  kron.ksmm ins(%x : memref<243100x116xbf16>) weights(%w : memref<11x63x260x85xbf16>) outs(%y : memref<58905x116xbf16>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify the same on tensors, of f64.
// REMARK: Copied
// CHECK-LABEL: func @tensors
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<2x107x157x140xf64>
// CHECK:         %[[COPY:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x157x140x107xf64>) outs(%[[EMPTY]] : {{.*}}) permutation = [0, 3, 1, 2]
// CHECK:         kron.fused ins(%{{.*}}, %[[COPY]] : {{.*}})
// CHECK:           factor(%{{.*}} [0, 2, q, p] : tensor<2x107x157x140xf64>)
func.func @tensors(%x: tensor<29960x132xf64>, %w: tensor<2x157x140x107xf64>, %y: tensor<33598x132xf64>) -> tensor<33598x132xf64> {
  %z = kron.ksmm ins(%x : tensor<29960x132xf64>) weights(%w : tensor<2x157x140x107xf64>) outs(%y : tensor<33598x132xf64>) {layout = #kron.layout<batch_last>} -> tensor<33598x132xf64>
  return %z : tensor<33598x132xf64>
}

// -----

// Verify that they stay as they lie where products take longer, and where a plan says something.
// REMARK-NOT: Copied
// CHECK-LABEL: func @hidden
// CHECK-NOT:     linalg.transpose
func.func @hidden(%x: memref<60000x700xf32>, %w: memref<20x40x100x30xf32>, %y: memref<24000x700xf32>) {
  kron.ksmm ins(%x : memref<60000x700xf32>) weights(%w : memref<20x40x100x30xf32>) outs(%y : memref<24000x700xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// CHECK-LABEL: func @given
// CHECK-NOT:     linalg.transpose
func.func @given(%x: memref<243100x116xbf16>, %w: memref<11x63x260x85xbf16>, %y: memref<58905x116xbf16>) {
  kron.ksmm ins(%x : memref<243100x116xbf16>) weights(%w : memref<11x63x260x85xbf16>) outs(%y : memref<58905x116xbf16>) {layout = #kron.layout<batch_last>, plan = #kron.gpu_plan<kernel = sparse>}
  return
}
