// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s
// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 --convert-tile-to-nvvm | FileCheck %s --check-prefix=OLD

// Verify that rows and a factor of 8 bits are copied as they are, 16 bytes at a time where
// chunks follow each other in memory, are loaded in chunks of 8 bytes and become f16 of
// a matrix instruction in registers.
// CHECK-LABEL: llvm.func @dense_0(
// CHECK:         cp.async.cg.shared.global.L2::128B [$0], [$1], 16
// CHECK:         llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xi32>
// CHECK:         cvt.rn.f16x2.e5m2x2
// CHECK:         cvt.rn.f16x2.e4m3x2
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT:     llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi32>

// Older chips widen them with integer operations.
// OLD-LABEL:   llvm.func @dense_0(
// OLD-NOT:       cvt.rn.f16x2
// OLD:           prmt.b32 $0, $1, 0, 0x1404;
// OLD:           mul.f16x2
func.func @dense(%x: memref<4096x256xf8E4M3FN>, %k: memref<256x256xf8E5M2>, %y: memref<4096x256xf16>) {
  kron.fused ins(%x, %k : memref<4096x256xf8E4M3FN>, memref<256x256xf8E5M2>) outs(%y : memref<4096x256xf16>) {
  ^bb0(%tx: tensor<4096x256xf8E4M3FN>, %tk: tensor<256x256xf8E5M2>, %ty: tensor<4096x256xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<4096x256xf8E4M3FN>) factor(%tk [q, p] : tensor<256x256xf8E5M2>)
         outs(%ty : tensor<4096x256xf16>) -> tensor<4096x256xf16>
    kron.yield %0 : tensor<4096x256xf16>
  }
  return
}

// -----

// Verify rows that are innermost, beside a factor of f16: chunks of the data are 8 bytes,
// those of the factor 16; values at two k are brought together before they are
// widened.
// CHECK-LABEL: llvm.func @rows_0(
// CHECK-DAG:     llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-DAG:     llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xi32>
// CHECK:         prmt.b32 $0, $1, $2, 20800;
// CHECK:         cvt.rn.f16x2.e4m3x2
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @rows(%x: memref<4x64x4096xf8E4M3FN>, %k: memref<4x64x64xf16>, %y: memref<4x64x4096xf16>) {
  kron.fused ins(%x, %k : memref<4x64x4096xf8E4M3FN>, memref<4x64x64xf16>) outs(%y : memref<4x64x4096xf16>) {
  ^bb0(%tx: tensor<4x64x4096xf8E4M3FN>, %tk: tensor<4x64x64xf16>, %ty: tensor<4x64x4096xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<4x64x4096xf8E4M3FN>) factor(%tk [0, q, p] : tensor<4x64x64xf16>)
         outs(%ty : tensor<4x64x4096xf16>) -> tensor<4x64x4096xf16>
    kron.yield %0 : tensor<4x64x4096xf16>
  }
  return
}

// -----

// Verify results of f32: products are those of f16, and a chunk is stored by two
// instructions; nothing is computed again, as nothing was split.
// CHECK-LABEL: llvm.func @wide_0(
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-COUNT-2: st.global.cs.v4.b32
// CHECK-NOT:     llvm.intr.fma
// CHECK:         llvm.return
func.func @wide(%x: memref<4096x64x16xf8E4M3FN>, %k: memref<64x64x16xf8E4M3FN>, %y: memref<4096x64x16xf32>) {
  kron.fused ins(%x, %k : memref<4096x64x16xf8E4M3FN>, memref<64x64x16xf8E4M3FN>) outs(%y : memref<4096x64x16xf32>) {
  ^bb0(%tx: tensor<4096x64x16xf8E4M3FN>, %tk: tensor<64x64x16xf8E4M3FN>, %ty: tensor<4096x64x16xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<4096x64x16xf8E4M3FN>) factor(%tk [q, p, 2] : tensor<64x64x16xf8E4M3FN>)
         outs(%ty : tensor<4096x64x16xf32>) -> tensor<4096x64x16xf32>
    kron.yield %0 : tensor<4096x64x16xf32>
  }
  return
}

// -----

// Verify that the general kernel takes what no other does: it widens what it reads.
// CHECK-LABEL: llvm.func @general_0(
// CHECK:         llvm.load {{.*}} -> i8
// CHECK-NOT:     mma.sync
// CHECK:         llvm.return
func.func @general(%x: memref<8x4xf8E4M3FN>, %k: memref<4x4xf8E4M3FN>, %y: memref<8x4xf64>) {
  kron.fused ins(%x, %k : memref<8x4xf8E4M3FN>, memref<4x4xf8E4M3FN>) outs(%y : memref<8x4xf64>) {
  ^bb0(%tx: tensor<8x4xf8E4M3FN>, %tk: tensor<4x4xf8E4M3FN>, %ty: tensor<8x4xf64>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<8x4xf8E4M3FN>) factor(%tk [q, p] : tensor<4x4xf8E4M3FN>)
         outs(%ty : tensor<8x4xf64>) -> tensor<8x4xf64>
    kron.yield %0 : tensor<8x4xf64>
  }
  return
}
