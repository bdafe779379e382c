// RUN: kron-opt --convert-kron-to-linalg=fallback-only --remarks-filter='kron-fallback' \
// RUN:   --split-input-file --verify-diagnostics %s | FileCheck %s

// Verify that what the vector code generator takes is left alone, silently.
// CHECK-LABEL: func.func @single
// CHECK: kron.mkm
// CHECK-NOT: linalg
func.func @single(%x: tensor<?x6xf32>, %f: tensor<6x3xf32>,
                  %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = kron.mkm ins(%x : tensor<?x6xf32>) factors(%f : tensor<6x3xf32>)
                outs(%y : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// -----

// Verify that an element type without vector kernel is lowered, with the reason.
// CHECK-LABEL: func.func @extended
// CHECK-NOT: kron.
// CHECK: linalg.generic
func.func @extended(%x: tensor<?x6xf80>, %f: tensor<6x3xf80>,
                %y: tensor<?x3xf80>) -> tensor<?x3xf80> {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="element type f80 has no vector kernel", Remark="kron.mkm takes the slow path"}}
  %r = kron.mkm ins(%x : tensor<?x6xf80>) factors(%f : tensor<6x3xf80>)
                outs(%y : tensor<?x3xf80>) -> tensor<?x3xf80>
  return %r : tensor<?x3xf80>
}

// -----

// Verify that a factor of dynamic shape is lowered, with the reason.
// CHECK-LABEL: func.func @dynamic_factor
// CHECK-NOT: kron.
// CHECK: linalg.generic
func.func @dynamic_factor(%x: memref<?x6xf32>, %f: memref<6x?xf32>, %y: memref<?x?xf32>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="a factor has a dynamic shape", Remark="kron.mkm takes the slow path"}}
  kron.mkm ins(%x : memref<?x6xf32>) factors(%f : memref<6x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

// -----

// Verify that a fused region is lowered for the sake of its mode product.
// CHECK-LABEL: func.func @pass
// CHECK-NOT: kron.
// CHECK: linalg.generic
func.func @pass(%x: memref<3x2xf80>, %f: memref<2x2xf80>, %y: memref<3x2xf80>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="element type f80 has no vector kernel", Remark="kron.fused takes the slow path"}}
  kron.fused ins(%x, %f : memref<3x2xf80>, memref<2x2xf80>) outs(%y : memref<3x2xf80>) {
  ^bb0(%tx: tensor<3x2xf80>, %a: tensor<2x2xf80>, %out: tensor<3x2xf80>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf80>) factor(%a [p, q] : tensor<2x2xf80>)
           outs(%out : tensor<3x2xf80>) -> tensor<3x2xf80>
    kron.yield %1 : tensor<3x2xf80>
  }
  return
}

// -----

// Verify that a mode product over nothing is lowered, with the reason.
// CHECK-LABEL: func.func @no_elements
// CHECK-NOT: kron.
// CHECK: linalg.generic
func.func @no_elements(%x: memref<4x0xf32>, %f: memref<0x16xf32>, %y: memref<4x16xf32>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="an array has no elements", Remark="kron.mode_product takes the slow path"}}
  kron.mode_product axis(1) ins(%x : memref<4x0xf32>) factor(%f [p, q] : memref<0x16xf32>)
    outs(%y : memref<4x16xf32>)
  return
}

// -----

// Verify that an axis whose size only the factor says is lowered, with the reason.
// CHECK-LABEL: func.func @dynamic_axis
// CHECK-NOT: kron.
// CHECK: linalg.generic
func.func @dynamic_axis(%x: memref<16x?xf32>, %f: memref<16x16xf32>, %y: memref<16x?xf32>) {
  // expected-remark @below {{[Missed] KronFallback | Category:kron-fallback | Reason="the contracted axis has a dynamic size", Remark="kron.mode_product takes the slow path"}}
  kron.mode_product axis(1) ins(%x : memref<16x?xf32>) factor(%f [q, p] : memref<16x16xf32>)
    outs(%y : memref<16x?xf32>)
  return
}
