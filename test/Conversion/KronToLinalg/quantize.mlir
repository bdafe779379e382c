// RUN: kron-opt --convert-kron-to-linalg --split-input-file %s | FileCheck %s
// RUN: kron-opt --convert-kron-to-linalg="epilogues-only=true target=cuda" --split-input-file %s | FileCheck %s --check-prefix=CUDA
// RUN: kron-opt --convert-kron-to-linalg="epilogues-only=true" --split-input-file %s | FileCheck %s --check-prefix=CPU

// Verify the loops: magnitudes as integers, scales, of which small ones become 0 and those of
// infinities and NaN become NaN, their inverses, and bytes, of which those of rows without an
// inverse are 0. On a GPU, and where threads share it, the operation stays.
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[V:.*]]: tensor<?x8xf16>, %[[Q:.*]]: tensor<?x8xi8>, %[[S:.*]]: tensor<?xf32>)
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[V]] : tensor<?x8xf16>) outs(%{{.*}} : tensor<?xi16>)
// CHECK: %[[B:.*]] = arith.bitcast %{{.*}} : f16 to i16
// CHECK: %[[MASK:.*]] = arith.constant 32767 : i16
// CHECK: %[[A:.*]] = arith.andi %[[B]], %[[MASK]]
// CHECK: arith.maxui %[[A]], %{{.*}}
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<?xi16>) outs(%[[S]] : tensor<?xf32>)
// CHECK: %[[H:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK: %[[N:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK: %[[L:.*]] = arith.constant 1.270000e+02 : f32
// CHECK: %[[D:.*]] = arith.divf %[[N]], %[[L]]
// CHECK: %[[T:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK: %[[LT:.*]] = arith.cmpf olt, %[[D]], %[[T]]
// CHECK: %[[SEL:.*]] = arith.select %[[LT]], %{{.*}}, %[[D]]
// CHECK: %[[NOTHING:.*]] = arith.subf %[[N]], %[[N]]
// CHECK: arith.addf %[[SEL]], %[[NOTHING]]
// CHECK: %[[I:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK: %[[INVERSE:.*]] = arith.divf
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt
// CHECK: arith.select %[[POSITIVE]], %[[INVERSE]], %{{.*}} : f32
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[V]], %[[I]] : tensor<?x8xf16>, tensor<?xf32>) outs(%[[Q]] : tensor<?x8xi8>)
// CHECK: %[[OK:.*]] = arith.cmpf ogt
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: %[[MAGIC:.*]] = arith.constant 0x4B400000 : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[MAGIC]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
// CHECK: %[[BYTE:.*]] = arith.trunci %[[BITS]] : i32 to i8
// CHECK: arith.select %[[OK]], %[[BYTE]], %{{.*}} : i8
// CUDA-LABEL: func.func @rows(
// CUDA: kron.quantize
// CPU-LABEL: func.func @rows(
// CPU: kron.quantize
func.func @rows(%v: tensor<?x8xf16>, %q: tensor<?x8xi8>, %s: tensor<?xf32>) -> (tensor<?x8xi8>, tensor<?xf32>) {
  %0:2 = kron.quantize ins(%v : tensor<?x8xf16>) outs(%q, %s : tensor<?x8xi8>, tensor<?xf32>) -> tensor<?x8xi8>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x8xi8>, tensor<?xf32>
}

// -----

// Verify the maps with the batch last: loops run over the input as it lies. A GPU has no kernel
// for f64.
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @columns(
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["reduction", "reduction", "parallel"]} {{.*}} outs(%{{.*}} : memref<?xi64>)
// CHECK: arith.maxui
// CHECK: arith.constant 4.480000e+02 : f64
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]], #[[$ALL]]], iterator_types = ["parallel", "parallel", "parallel"]}
// CUDA-LABEL: func.func @columns(
// CUDA-NOT: kron.quantize
// CUDA: linalg.generic
func.func @columns(%v: memref<4x3x?xf64>, %q: memref<4x3x?xf8E4M3FN>, %s: memref<?xf64>) {
  kron.quantize ins(%v : memref<4x3x?xf64>) outs(%q, %s : memref<4x3x?xf8E4M3FN>, memref<?xf64>) {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify comparisons of f80, which has no integer of its own, that keep a NaN.
// CHECK-LABEL: func.func @widened(
// CHECK: %[[A:.*]] = math.absf %{{.*}} : f80
// CHECK: %[[LESS:.*]] = arith.cmpf ole, %[[A]], %[[OLD:.*]] : f80
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[OLD]], %[[OLD]]
// CHECK: %[[KEEP:.*]] = arith.ori %[[LESS]], %[[NAN]]
// CHECK: arith.select %[[KEEP]], %[[OLD]], %[[A]]
func.func @widened(%v: memref<?x4xf80>, %q: memref<?x4xi8>, %s: memref<?xf80>) {
  kron.quantize ins(%v : memref<?x4xf80>) outs(%q, %s : memref<?x4xi8>, memref<?xf80>)
  return
}

// -----

// Verify that weights of 8 bits are widened where they are multiplied.
// CHECK-LABEL: func.func @float8(
// CHECK: linalg.generic
// CHECK: ^bb0(%[[X:.*]]: f8E4M3FN, %[[K:.*]]: f8E5M2, %{{.*}}: f32):
// CHECK: arith.bitcast %[[X]] : f8E4M3FN to i8
// CHECK: arith.constant 1.32922{{.*}}E+36 : f32
// CHECK: arith.bitcast %[[K]] : f8E5M2 to i8
// CHECK: arith.constant 5.19229{{.*}}E+33 : f32
// CUDA-LABEL: func.func @float8(
// CUDA: kron.ksmm
func.func @float8(%x: memref<?x4xf8E4M3FN>, %k: memref<1x4x4x1xf8E5M2>, %y: memref<?x4xf16>) {
  kron.ksmm ins(%x : memref<?x4xf8E4M3FN>) weights(%k : memref<1x4x4x1xf8E5M2>) outs(%y : memref<?x4xf16>)
  return
}
