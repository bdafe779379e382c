// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that f16 values of a factor of two products, with the rows innermost, are read 32 bytes
// at a time: PRMT takes those of the tile's product out of two words. Only arrays that turn
// out not to be aligned are read element by element. There are few tiles: two warp groups have
// small ones, so that all SMs have as many.
// CHECK-LABEL: llvm.func @two_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1
// CHECK:         %[[SELECT:.*]] = arith.select %{{.*}}, %c21520_i32{{.*}}, %c30258_i32
// CHECK-COUNT-2: llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> vector<4xi32>
// CHECK:         "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r" %{{.*}}, %{{.*}}, %[[SELECT]]
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK:         llvm.load %{{.*}} invariant {{.*}}: !llvm.ptr<1> -> f16
// CHECK:         nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK:         mma.sync.aligned.m16n8k16
func.func @two(%x: memref<256x2x25088xf16>, %k: memref<64x256x2xf16>, %y: memref<64x2x25088xf16>) {
  kron.fused ins(%x, %k : memref<256x2x25088xf16>, memref<64x256x2xf16>) outs(%y : memref<64x2x25088xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<256x2x25088xf16>, %tk: tensor<64x256x2xf16>, %ty: tensor<64x2x25088xf16>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<256x2x25088xf16>) factor(%tk [q, p, 1] : tensor<64x256x2xf16>)
         outs(%ty : tensor<64x2x25088xf16>) -> tensor<64x2x25088xf16>
    kron.yield %0 : tensor<64x2x25088xf16>
  }
  return
}

// Verify that f16 values of other numbers of products, and where k fill no chunk, are read one
// by one.
// CHECK-NOT:     prmt.b32 $0, $1, $2, $3;
// CHECK-LABEL: llvm.func @four_0(
// CHECK-NOT:     prmt.b32 $0, $1, $2, $3;
func.func @four(%x: memref<64x4x25088xf16>, %k: memref<64x64x4xf16>, %y: memref<64x4x25088xf16>,
                %u: memref<60x2x25088xf16>, %l: memref<64x60x2xf16>, %v: memref<64x2x25088xf16>) {
  kron.fused ins(%x, %k : memref<64x4x25088xf16>, memref<64x64x4xf16>) outs(%y : memref<64x4x25088xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<64x4x25088xf16>, %tk: tensor<64x64x4xf16>, %ty: tensor<64x4x25088xf16>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<64x4x25088xf16>) factor(%tk [q, p, 1] : tensor<64x64x4xf16>)
         outs(%ty : tensor<64x4x25088xf16>) -> tensor<64x4x25088xf16>
    kron.yield %0 : tensor<64x4x25088xf16>
  }
  kron.fused ins(%u, %l : memref<60x2x25088xf16>, memref<64x60x2xf16>) outs(%v : memref<64x2x25088xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tu: tensor<60x2x25088xf16>, %tl: tensor<64x60x2xf16>, %tv: tensor<64x2x25088xf16>):
    %0 = kron.mode_product axis(0) ins(%tu : tensor<60x2x25088xf16>) factor(%tl [q, p, 1] : tensor<64x60x2xf16>)
         outs(%tv : tensor<64x2x25088xf16>) -> tensor<64x2x25088xf16>
    kron.yield %0 : tensor<64x2x25088xf16>
  }
  return
}
