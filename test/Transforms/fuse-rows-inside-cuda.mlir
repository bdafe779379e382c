// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file --remark-format=emitRemark --remarks-filter=kron-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that rows stay innermost while the array shrinks, and that the fused region behind takes them outside.
// REMARK: axes 2 ({{.*}}), rows stay innermost; axes 1 ({{.*}}), rows stay innermost; axes 3, 4
// CHECK-LABEL: func @shrinks
// CHECK:         kron.fused ins(%{{[^:]*}} : memref<155x358x11x9x6xf64>, memref<358x8xf64>) outs(%{{[^:]*}} : memref<155x8x11x9x6xf64>)
// CHECK-NOT:       input_permutation
// CHECK:           kron.mode_product axis(1)
// CHECK:         kron.fused {{.*}}input_permutation = array<i64: 4, 0, 1, 2, 3>
func.func @shrinks(%x: memref<5493510x6xf64>, %f0: memref<155x67xf64>, %f1: memref<358x8xf64>, %f2: memref<11x3xf64>,
                   %f3: memref<9x16xf64>, %y: memref<6x25728xf64>) {
  kron.mkm ins(T(%x) : memref<5493510x6xf64>)
    factors(%f0, %f1, %f2, %f3 : memref<155x67xf64>, memref<358x8xf64>, memref<11x3xf64>, memref<9x16xf64>)
    outs(%y : memref<6x25728xf64>)
  return
}

// -----

// Verify that they do not where nothing shrinks it: as much is to be transposed.
// REMARK-NOT: rows stay innermost
// CHECK-LABEL: func @stays
// CHECK:         kron.fused {{.*}}input_permutation
func.func @stays(%x: memref<670908x114xbf16>, %f0: memref<7x7xbf16>, %f1: memref<489x489xbf16>, %f2: memref<196x196xbf16>,
                 %y: memref<114x670908xbf16>) {
  kron.mkm ins(T(%x) : memref<670908x114xbf16>) factors(%f0, %f1, %f2 : memref<7x7xbf16>, memref<489x489xbf16>, memref<196x196xbf16>)
    outs(%y : memref<114x670908xbf16>)
  return
}
