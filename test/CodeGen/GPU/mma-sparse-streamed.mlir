// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify odd sizes: copies of single elements, zeros beyond the end of K, and
// only TF32 for sums of few products.
// CHECK-LABEL: llvm.func @odd_f32_0(
// CHECK-NOT:     bf16
// CHECK:         nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %
// CHECK-NOT:     bf16
// CHECK-COUNT-3: mma.sync.aligned.m16n8k8
func.func @odd_f32(%x: memref<7x3x9x5xf32>, %k: memref<3x17x9x5xf32>, %y: memref<7x3x17x5xf32>) {
  kron.fused ins(%x, %k : memref<7x3x9x5xf32>, memref<3x17x9x5xf32>) outs(%y : memref<7x3x17x5xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<7x3x9x5xf32>, %tk: tensor<3x17x9x5xf32>, %ty: tensor<7x3x17x5xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<7x3x9x5xf32>) factor(%tk [1, q, p, 3] : tensor<3x17x9x5xf32>)
         outs(%ty : tensor<7x3x17x5xf32>) -> tensor<7x3x17x5xf32>
    kron.yield %0 : tensor<7x3x17x5xf32>
  }
  return
}

// Verify groups of 41 results in rows of whole chunks: tiles start at the multiple of 16
// bytes before a group, so that stores are of chunks; those at its ends are stored in parts
// of 8, 4 and 2 bytes. Nothing is exchanged.
// CHECK-LABEL: llvm.func @shifted_f16_0(
// CHECK-NOT:     nvvm.shfl
// CHECK:         mma.sync.aligned.m16n8k16
// CHECK-NOT:     nvvm.shfl
// CHECK:         st.global.cs.v4.b32
// CHECK-DAG:     llvm.store {{.*}} : vector<2xi32>, !llvm.ptr<1>
// CHECK-DAG:     llvm.store {{.*}} : i32, !llvm.ptr<1>
// CHECK-DAG:     llvm.store {{.*}} : f16, !llvm.ptr<1>
// CHECK:         llvm.return
func.func @shifted_f16(%x: memref<64x8x64xf16>, %k: memref<8x41x64xf16>, %y: memref<64x8x41xf16>) {
  kron.fused ins(%x, %k : memref<64x8x64xf16>, memref<8x41x64xf16>) outs(%y : memref<64x8x41xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<64x8x64xf16>, %tk: tensor<8x41x64xf16>, %ty: tensor<64x8x41xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<64x8x64xf16>) factor(%tk [1, q, p] : tensor<8x41x64xf16>)
         outs(%ty : tensor<64x8x41xf16>) -> tensor<64x8x41xf16>
    kron.yield %0 : tensor<64x8x41xf16>
  }
  return
}

// Verify that results are stored one by one where rows start at different places of 16 bytes.
// CHECK-LABEL: llvm.func @odd_rows_f16_0(
// CHECK-NOT:     st.global.cs.v4.b32
// CHECK:         llvm.return
func.func @odd_rows_f16(%x: memref<64x3x64xf16>, %k: memref<3x41x64xf16>, %y: memref<64x3x41xf16>) {
  kron.fused ins(%x, %k : memref<64x3x64xf16>, memref<3x41x64xf16>) outs(%y : memref<64x3x41xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<64x3x64xf16>, %tk: tensor<3x41x64xf16>, %ty: tensor<64x3x41xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<64x3x64xf16>) factor(%tk [1, q, p] : tensor<3x41x64xf16>)
         outs(%ty : tensor<64x3x41xf16>) -> tensor<64x3x41xf16>
    kron.yield %0 : tensor<64x3x41xf16>
  }
  return
}

// Verify a dense factor that is larger than other kernels take: both operands stream
// through a ring of pipeline stages. f64 adds in IEEE arithmetic.
// CHECK-LABEL: llvm.func @dense_f64_0(
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64
// CHECK-NOT:     vote
// CHECK:         llvm.return
func.func @dense_f64(%x: memref<?x1024xf64>, %k: memref<1024x1024xf64>, %y: memref<?x1024xf64>) {
  kron.fused ins(%x, %k : memref<?x1024xf64>, memref<1024x1024xf64>) outs(%y : memref<?x1024xf64>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x1024xf64>, %tk: tensor<1024x1024xf64>, %ty: tensor<?x1024xf64>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<?x1024xf64>) factor(%tk [q, p] : tensor<1024x1024xf64>)
         outs(%ty : tensor<?x1024xf64>) -> tensor<?x1024xf64>
    kron.yield %0 : tensor<?x1024xf64>
  }
  return
}

// Verify that one CTA with larger tiles takes the SM where both operands stream
// anyway; and that words of different loads go through an instruction that ptxas does not
// repeat.
// CHECK-LABEL: llvm.func @dense_f16_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1
// CHECK:         %[[GRID:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK:         %[[ZERO:.*]] = arith.andi %[[GRID]],
// CHECK-COUNT-4: arith.xori %{{.*}}, %[[ZERO]]
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @dense_f16(%x: memref<25088x1024xf16>, %k: memref<1024x1024xf16>, %y: memref<25088x1024xf16>) {
  kron.fused ins(%x, %k : memref<25088x1024xf16>, memref<1024x1024xf16>) outs(%y : memref<25088x1024xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1024xf16>, %tk: tensor<1024x1024xf16>, %ty: tensor<25088x1024xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x1024xf16>) factor(%tk [q, p] : tensor<1024x1024xf16>)
         outs(%ty : tensor<25088x1024xf16>) -> tensor<25088x1024xf16>
    kron.yield %0 : tensor<25088x1024xf16>
  }
  return
}

// Verify that a factor whose strides are only known at run time is copied 16 bytes at a time
// if they are those of a row-major array, and else element by element; the kernel compares
// them in front of its tiles. Copies of the data and stores do not depend on it.
// CHECK-LABEL: llvm.func @any_strides_0(
// CHECK:         arith.xori %{{.*}}, %c2_i64
// CHECK:         arith.xori %{{.*}}, %c1536_i64
// CHECK:         %[[BITS:.*]] = arith.andi %{{.*}}, %c15
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq, %[[BITS]], %c0
// CHECK:         %[[ROW_MAJOR:.*]] = arith.andi {{.*}} : i1
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK:         scf.if %[[ROW_MAJOR]] {
// CHECK-NOT:     } else {
// CHECK:         cp.async.cg.shared.global.L2::128B [$0], [$1], 16
// CHECK:         } else {
// CHECK-NOT:     cp.async
// CHECK:         nvvm.cp.async.commit.group
func.func @any_strides(%x: memref<25088x1x768x2xf16>, %k: memref<192x768x2xf16, strided<[?, ?, 1], offset: ?>>, %y: memref<25088x1x192x2xf16>) {
  kron.fused ins(%x, %k : memref<25088x1x768x2xf16>, memref<192x768x2xf16, strided<[?, ?, 1], offset: ?>>) outs(%y : memref<25088x1x192x2xf16>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<25088x1x768x2xf16>, %tk: tensor<192x768x2xf16>, %ty: tensor<25088x1x192x2xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x1x768x2xf16>) factor(%tk [q, p, 3] : tensor<192x768x2xf16>)
         outs(%ty : tensor<25088x1x192x2xf16>) -> tensor<25088x1x192x2xf16>
    kron.yield %0 : tensor<25088x1x192x2xf16>
  }
  return
}

// Verify that sides are not exchanged where the K of the factor is not side by side, and
// where chunks of rows are not all full.
// CHECK-LABEL: llvm.func @not_exchanged_0(
// CHECK-NOT:     wgmma
// CHECK:         llvm.func @not_exchanged_1(
// CHECK-NOT:     wgmma
// CHECK:         llvm.return
func.func @not_exchanged(%x: memref<1024x25088xf32>, %k: memref<1024x1024xf32>, %y: memref<1024x25088xf32>,
                         %u: memref<1024x25087xf32>, %v: memref<1024x25087xf32>) {
  kron.fused ins(%x, %k : memref<1024x25088xf32>, memref<1024x1024xf32>) outs(%y : memref<1024x25088xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<1024x25088xf32>, %tk: tensor<1024x1024xf32>, %ty: tensor<1024x25088xf32>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<1024x25088xf32>) factor(%tk [p, q] : tensor<1024x1024xf32>)
         outs(%ty : tensor<1024x25088xf32>) -> tensor<1024x25088xf32>
    kron.yield %0 : tensor<1024x25088xf32>
  }
  kron.fused ins(%u, %k : memref<1024x25087xf32>, memref<1024x1024xf32>) outs(%v : memref<1024x25087xf32>)
      attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<1024x25087xf32>, %tk: tensor<1024x1024xf32>, %ty: tensor<1024x25087xf32>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<1024x25087xf32>) factor(%tk [q, p] : tensor<1024x1024xf32>)
         outs(%ty : tensor<1024x25087xf32>) -> tensor<1024x25087xf32>
    kron.yield %0 : tensor<1024x25087xf32>
  }
  return
}
