// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 --convert-tile-to-nvvm | FileCheck %s --check-prefixes=CHECK,SM80

// Verify that 128 threads share a row of 4096 f16 values, two rows a CTA, four loads of 16 bytes
// each, with a barrier between the warps of a row and one before the next rows; and that
// bytes are stored 8 at a time.
// CHECK-LABEL: func.func @rows
// CHECK:         arith.constant 256 : i32
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @quantize_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK-SAME:    nvvm.minctasm = 4 : i32
// CHECK-COUNT-4: llvm.load {{.*}} vector<4xi32>
// CHECK-COUNT-32: arith.maxui
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK:         nvvm.barrier
// CHECK:         nvvm.barrier
// CHECK:         arith.divf
// CHECK:         arith.divf
// CHECK-COUNT-2: prmt.b32 a, $1, $2, 0x0040
// CHECK:         st.global.cs
func.func @rows(%v: memref<?x4096xf16>, %q: memref<?x4096xi8>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x4096xf16>) outs(%q, %s : memref<?x4096xi8>, memref<?xf32>)
  return
}

// -----

// Verify that a chip that can rounds to fp8 itself, and others by integers; and that a short
// row, of several axes, is shared by as many threads as it has chunks, with no barrier.
// CHECK-LABEL: func.func @float8
// CHECK:       llvm.func @quantize_0
// CHECK-NOT:     nvvm.barrier
// SM90:          cvt.rn.satfinite.e4m3x2.f32
// SM80-NOT:      satfinite
// SM80:          arith.minui
func.func @float8(%v: memref<5x?x4x4xf32>, %q: memref<5x?x4x4xf8E4M3FN>, %s: memref<5x?xf32>) {
  kron.quantize ins(%v : memref<5x?x4x4xf32>) outs(%q, %s : memref<5x?x4x4xf8E4M3FN>, memref<5x?xf32>)
  return
}

// -----

// Verify that a row that registers do not hold is read twice, in loops.
// CHECK-LABEL: func.func @long
// CHECK:       llvm.func @quantize_0
// CHECK-SAME:    nvvm.maxntid = array<i32: 1024>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:         nvvm.barrier
// CHECK:           scf.for
func.func @long(%v: memref<?x131072xbf16>, %q: memref<?x131072xf8E5M2>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x131072xbf16>) outs(%q, %s : memref<?x131072xf8E5M2>, memref<?xf32>)
  return
}
