// RUN: kron-opt %s --kron-map-to-gpu --split-input-file --remark-format=emitRemark --remarks-filter=kron-gpu 2>&1 | FileCheck %s

// Verify that a transposing copy goes by squares through shared memory: pairs of f16 change
// partners. Where pairs may lie at odd places, the host says which way of the kernel is taken.
// CHECK: own-kernel {{.*}}runs as a kernel of its own, by squares on chip
// CHECK-LABEL: func.func @halves(
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK:         arith.divui %[[ADDRESS]]
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @halves_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK:         nvvm.barrier
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<1> -> i32
// CHECK:         prmt.b32 $0, $1, $2, 0x5410;
// CHECK:         llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:         prmt.b32 $0, $1, $2, 0x7632;
// CHECK:         nvvm.barrier
// CHECK:         llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK:         llvm.store {{.*}} : i32, !llvm.ptr<1>
func.func @halves(%x: memref<512x256xf16>, %y: memref<256x512xf16>) {
  linalg.transpose ins(%x : memref<512x256xf16>) outs(%y : memref<256x512xf16>) permutation = [1, 0]
  return
}

// -----

// Verify that odd sizes are known to have no pairs.
// CHECK-LABEL: func.func @odd(
// CHECK:       llvm.func @odd_0(
// CHECK-NOT:     llvm.load {{.*}} : !llvm.ptr<1> -> i32
// CHECK:         llvm.load {{.*}} : !llvm.ptr<1> -> i16
func.func @odd(%x: memref<512x255xf16>, %y: memref<255x512xf16>) {
  linalg.transpose ins(%x : memref<512x255xf16>) outs(%y : memref<255x512xf16>) permutation = [1, 0]
  return
}

// -----

// Verify other widths, unknown sizes and dimensions beside those two.
// CHECK-LABEL: func.func @words(
// CHECK:       llvm.func @words_0(
// CHECK-NOT:     prmt
// CHECK:         llvm.load {{.*}} : !llvm.ptr<1> -> i32
// CHECK:         llvm.store {{.*}} : i32, !llvm.ptr<3>
func.func @words(%x: memref<3x?x7x12xf32>, %y: memref<3x12x?x7xf32>) {
  linalg.transpose ins(%x : memref<3x?x7x12xf32>) outs(%y : memref<3x12x?x7xf32>) permutation = [0, 3, 1, 2]
  return
}

// -----

// Verify that copies whose neighbours stay neighbours, and arrays of unknown neighbours, are
// left to one thread per element.
// CHECK: runs as a kernel of its own, one thread per element
// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     !llvm.ptr<3>
func.func @rows(%x: memref<16x8x32xf32>, %y: memref<8x16x32xf32>) {
  linalg.transpose ins(%x : memref<16x8x32xf32>) outs(%y : memref<8x16x32xf32>) permutation = [1, 0, 2]
  return
}

// -----

// CHECK-LABEL: func.func @strided(
// CHECK-NOT:     !llvm.ptr<3>
func.func @strided(%x: memref<16x32xf32, strided<[64, ?]>>, %y: memref<32x16xf32>) {
  linalg.transpose ins(%x : memref<16x32xf32, strided<[64, ?]>>) outs(%y : memref<32x16xf32>) permutation = [1, 0]
  return
}
