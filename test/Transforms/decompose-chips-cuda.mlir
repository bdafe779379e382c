// Verify that sizes which follow from SMs, bandwidth and shared memory are those of the chip.

// RUN: kron-opt %s --kron-decompose="target=cuda" | FileCheck %s --check-prefixes=CHECK,H200
// RUN: kron-opt %s --kron-decompose="target=cuda chip=h200" | FileCheck %s --check-prefixes=CHECK,H200
// RUN: kron-opt %s --kron-decompose="target=cuda chip=l4" | FileCheck %s --check-prefixes=CHECK,L4
// RUN: not kron-opt %s --kron-decompose="target=cuda chip=sm_70" 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: error: option chip: {{.*}}sm_70

// Fewer SMs are busy with fewer pieces.
// CHECK-LABEL: func.func @bias(
// H200: memref.alloc() {{.*}}: memref<128x1024xf32>
// L4: memref.alloc() {{.*}}: memref<32x1024xf32>
func.func @bias(%x: memref<?x1024xf32>, %y: memref<1024xf32>) {
  kron.bias_grad ins(%x : memref<?x1024xf32>) outs(%y : memref<1024xf32>)
  return
}

// Memory that is slower is busy for longer than a launch takes with fewer bytes: products t by t.
// CHECK-LABEL: func.func @by_t(
// H200-NOT: scf.for
// L4: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: return
func.func @by_t(%x: memref<2048x8192xf32>, %k: memref<8x128x128x2xf32>, %y: memref<2048x8192xf32>) {
  kron.ksmm ins(%x : memref<2048x8192xf32>) weights(%k : memref<8x128x128x2xf32>) outs(%y : memref<2048x8192xf32>)
    {layout = #kron.layout<batch_last>}
  return
}

// An SM keeps fewer weights.
// CHECK-LABEL: func.func @kept(
// H200-NOT: linalg.transpose
// L4: linalg.transpose
// CHECK: return
func.func @kept(%x: memref<1024x352xf32>, %k: memref<2x176x176x1xf32>, %y: memref<1024x352xf32>) {
  kron.ksmm ins(%x : memref<1024x352xf32>) weights(T(%k) : memref<2x176x176x1xf32>) outs(%y : memref<1024x352xf32>)
  return
}
