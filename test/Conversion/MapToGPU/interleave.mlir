// RUN: kron-opt %s --kron-map-to-gpu --split-input-file | FileCheck %s

// Verify that matrices of few columns are taken apart in units of 16 bytes: copied to shared
// memory as they lie, read there in pieces of as many columns as 12 has in common with 8
// elements, and stored 16 bytes at a time; element by element where arrays are not aligned.
// CHECK-LABEL: func.func @split(
// CHECK:       llvm.func @split_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK:         cp.async.cg.shared.global{{.*}} [$1], 16;
// CHECK:         nvvm.barrier0
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi16>
// CHECK-COUNT-4: llvm.store {{.*}} : vector<8xi16>, !llvm.ptr<1>
// CHECK:         } else {
// CHECK:         llvm.store {{.*}} : i16, !llvm.ptr<1>
func.func @split(%x: memref<?x2x64x12xf16>, %y: memref<?x2x12x64xf16>) {
  linalg.transpose ins(%x : memref<?x2x64x12xf16>) outs(%y : memref<?x2x12x64xf16>) permutation = [0, 1, 3, 2]
  return
}

// -----

// Verify that they are put together the other way round, rows beyond which there are others
// among them.
// CHECK-LABEL: func.func @merge(
// CHECK:       llvm.func @merge_0(
// CHECK:         llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-COUNT-4: llvm.store {{.*}} : vector<1xi32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<1>
func.func @merge(%x: memref<100x3x40xf32, strided<[?, 40, 1], offset: ?>>, %y: memref<100x40x3xf32>) {
  linalg.transpose ins(%x : memref<100x3x40xf32, strided<[?, 40, 1], offset: ?>>) outs(%y : memref<100x40x3xf32>)
      permutation = [0, 2, 1]
  return
}

// -----

// Verify that other permutations, gaps, rows that are no multiple of 16 bytes, and many
// columns are left to other kernels.
// CHECK-LABEL: llvm.func @others_0(
// CHECK-NOT:     cp.async
// CHECK-NOT:     vector<8xi16>
func.func @others(%x1: memref<8x4x16xf16>, %y1: memref<16x4x8xf16>,
                  %x2: memref<8x16x4xf16, strided<[128, 8, 1]>>, %y2: memref<8x4x16xf16>,
                  %x3: memref<8x12x4xf16>, %y3: memref<8x4x12xf16>,
                  %x4: memref<256x512xf16>, %y4: memref<512x256xf16>) {
  linalg.transpose ins(%x1 : memref<8x4x16xf16>) outs(%y1 : memref<16x4x8xf16>) permutation = [2, 1, 0]
  linalg.transpose ins(%x2 : memref<8x16x4xf16, strided<[128, 8, 1]>>) outs(%y2 : memref<8x4x16xf16>)
      permutation = [0, 2, 1]
  linalg.transpose ins(%x3 : memref<8x12x4xf16>) outs(%y3 : memref<8x4x12xf16>) permutation = [0, 2, 1]
  linalg.transpose ins(%x4 : memref<256x512xf16>) outs(%y4 : memref<512x256xf16>) permutation = [1, 0]
  return
}
