// RUN: kron-opt %s --kron-plan=target=cuda --remarks-filter='kron-plan' \
// RUN:   -o %t.plan 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PLAN < %t.plan
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: kron-opt %t.plan --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda cublas=false" \
// RUN:   --remarks-filter='kron-plan' -o %t.never 2> %t.never.remarks
// RUN: FileCheck %s --check-prefix=NEVER --implicit-check-not="kernel = cublas" < %t.never
// RUN: FileCheck %s --check-prefix=NEVER-REMARK < %t.never.remarks

// NEVER: func.func @dense
// NEVER-REMARK: cublas: {{[0-9]+}} us, not allowed;

// Verify that a large dense product of f16 is a call of the runtime, with the sizes and
// strides of its matrices, and that the kernel of the plan runs where that declines.
// REMARK: Remark="kernel sparse, {{.*}}; cublas: {{[0-9]+}} us, where it is there;
// PLAN-LABEL: func.func @dense(
// PLAN: attributes {plan = #kron.dispatch<[<kernel = cublas>, <kernel = sparse,
// CHECK-LABEL: func.func @dense(
// CHECK: %[[GEMM:.*]] = llvm.alloca %{{.*}} x !llvm.struct
// CHECK: %[[ROWS:.*]] = llvm.getelementptr %[[GEMM]][0, 4]
// CHECK: llvm.store %c25088_i64{{.*}}, %[[ROWS]]
// CHECK: %[[DONE:.*]] = llvm.call @kronRtCudaGemm(%[[GEMM]])
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[DONE]],
// CHECK: %[[LEFT:.*]] = arith.xori %[[ANY]],
// CHECK: scf.if %[[LEFT]] {
// CHECK:   llvm.call @kronRtCudaLaunch(
func.func @dense(%x: memref<25088x1024xf16>, %k: memref<1024x1024xf16>, %y: memref<25088x1024xf16>) {
  kron.fused ins(%x, %k : memref<25088x1024xf16>, memref<1024x1024xf16>) outs(%y : memref<25088x1024xf16>) {
  ^bb0(%tx: tensor<25088x1024xf16>, %tk: tensor<1024x1024xf16>, %ty: tensor<25088x1024xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x1024xf16>) factor(%tk [q, p] : tensor<1024x1024xf16>)
         outs(%ty : tensor<25088x1024xf16>) -> tensor<25088x1024xf16>
    kron.yield %0 : tensor<25088x1024xf16>
  }
  return
}

// Verify that so are products beside each other; of few rows, where their number is not
// known, the kernel takes care.
// PLAN-LABEL: func.func @beside(
// PLAN: attributes {plan = #kron.dispatch<[<kernel = cublas, min_rows = 16>, <kernel = sparse,
// CHECK-LABEL: func.func @beside(
// CHECK: %[[MANY:.*]] = arith.cmpi slt, %c15_i64, %{{.*}} : i64
// CHECK: scf.if %[[MANY]] -> (i1) {
// CHECK:   llvm.call @kronRtCudaGemm(
// CHECK: } else {
// CHECK:   scf.yield %false
func.func @beside(%x: memref<?x4x256xbf16>, %k: memref<4x256x256xbf16>, %y: memref<?x4x256xbf16>) {
  kron.fused ins(%x, %k : memref<?x4x256xbf16>, memref<4x256x256xbf16>) outs(%y : memref<?x4x256xbf16>) {
  ^bb0(%tx: tensor<?x4x256xbf16>, %tk: tensor<4x256x256xbf16>, %ty: tensor<?x4x256xbf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<?x4x256xbf16>) factor(%tk [1, q, p] : tensor<4x256x256xbf16>)
         outs(%ty : tensor<?x4x256xbf16>) -> tensor<?x4x256xbf16>
    kron.yield %0 : tensor<?x4x256xbf16>
  }
  return
}

// Verify that groups of whole sectors are a call, and that those which start within sectors are
// left to the kernel.
// PLAN-LABEL: func.func @sectors(
// PLAN: outs(%{{.*}} : memref<25088x64x448xf16>) attributes {plan = #kron.dispatch<[<kernel = cublas>
// PLAN: outs(%{{.*}} : memref<25088x64x456xf16>) attributes {plan = #kron.gpu_plan<
// CHECK-LABEL: func.func @sectors(
func.func @sectors(%x: memref<25088x64x64xf16>, %k: memref<64x448x64xf16>, %y: memref<25088x64x448xf16>,
                   %l: memref<64x456x64xf16>, %v: memref<25088x64x456xf16>) {
  kron.fused ins(%x, %k : memref<25088x64x64xf16>, memref<64x448x64xf16>) outs(%y : memref<25088x64x448xf16>) {
  ^bb0(%tx: tensor<25088x64x64xf16>, %tk: tensor<64x448x64xf16>, %ty: tensor<25088x64x448xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x64x64xf16>) factor(%tk [1, q, p] : tensor<64x448x64xf16>)
         outs(%ty : tensor<25088x64x448xf16>) -> tensor<25088x64x448xf16>
    kron.yield %0 : tensor<25088x64x448xf16>
  }
  kron.fused ins(%x, %l : memref<25088x64x64xf16>, memref<64x456x64xf16>) outs(%v : memref<25088x64x456xf16>) {
  ^bb0(%tx: tensor<25088x64x64xf16>, %tl: tensor<64x456x64xf16>, %tv: tensor<25088x64x456xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x64x64xf16>) factor(%tl [1, q, p] : tensor<64x456x64xf16>)
         outs(%tv : tensor<25088x64x456xf16>) -> tensor<25088x64x456xf16>
    kron.yield %0 : tensor<25088x64x456xf16>
  }
  return
}

// Verify that axes which follow each other in memory are one, and that a complex factor that is
// conjugated and transposed is: batch of 4 * 5, 384 rows, N and K of 256.
// PLAN-LABEL: func.func @complex(
// PLAN: attributes {plan = #kron.dispatch<[<kernel = cublas>, <kernel = simt,
// CHECK-LABEL: func.func @complex(
// CHECK-NOT: arith.cmpi eq
// CHECK-COUNT-4: llvm.store %c{{20|384|256}}_i64
// CHECK: llvm.store %c1{{.*}}_i64{{.*}} : i64, !llvm.ptr
// CHECK: llvm.call @kronRtCudaGemm(
func.func @complex(%x: memref<4x5x256x384xcomplex<f64>>, %k: memref<256x256xcomplex<f64>>,
                   %y: memref<4x5x256x384xcomplex<f64>>) {
  kron.fused ins(%x, %k : memref<4x5x256x384xcomplex<f64>>, memref<256x256xcomplex<f64>>)
      outs(%y : memref<4x5x256x384xcomplex<f64>>) {
  ^bb0(%tx: tensor<4x5x256x384xcomplex<f64>>, %tk: tensor<256x256xcomplex<f64>>, %ty: tensor<4x5x256x384xcomplex<f64>>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<4x5x256x384xcomplex<f64>>)
         factor(%tk [p, q] : tensor<256x256xcomplex<f64>>)
         outs(%ty : tensor<4x5x256x384xcomplex<f64>>) {conj_factor} -> tensor<4x5x256x384xcomplex<f64>>
    kron.yield %0 : tensor<4x5x256x384xcomplex<f64>>
  }
  return
}

// Verify that of axes whose strides are open a launch finds out whether they are one.
// PLAN-LABEL: func.func @open(
// PLAN: attributes {plan = #kron.dispatch<[<kernel = cublas>, <kernel = simt,
// CHECK-LABEL: func.func @open(
// CHECK: %[[FULL:.*]] = arith.muli %{{.*}}, %c100{{.*}} : i64
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %[[FULL]] : i64
// CHECK: scf.if %[[ONE]] -> (i1) {
// CHECK:   llvm.call @kronRtCudaGemm(
func.func @open(%x: memref<100x100x405xcomplex<f64>, strided<[?, ?, 1]>>, %k: memref<405x405xcomplex<f64>>, %y: memref<100x100x405xcomplex<f64>>) {
  kron.fused ins(%x, %k : memref<100x100x405xcomplex<f64>, strided<[?, ?, 1]>>, memref<405x405xcomplex<f64>>)
      outs(%y : memref<100x100x405xcomplex<f64>>) {
  ^bb0(%tx: tensor<100x100x405xcomplex<f64>>, %tk: tensor<405x405xcomplex<f64>>, %ty: tensor<100x100x405xcomplex<f64>>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<100x100x405xcomplex<f64>>) factor(%tk [q, p] : tensor<405x405xcomplex<f64>>)
         outs(%ty : tensor<100x100x405xcomplex<f64>>) -> tensor<100x100x405xcomplex<f64>>
    kron.yield %0 : tensor<100x100x405xcomplex<f64>>
  }
  return
}

// Verify what is left to kernels: f32 in full precision, matrices without neighbours, and
// small and short products; and that the remark tells where the whole dense matrix would be faster.
// REMARK: Remark="kernel sparse, {{.*}}; as one dense matrix by cublas: {{[0-9]+}} us;
// PLAN-LABEL: func.func @others(
// PLAN-NOT: kernel = cublas
func.func @others(%x: memref<25088x1024xf32>, %k: memref<1024x1024xf32>, %y: memref<25088x1024xf32>,
                  %x1: memref<25088x256x4xf16>, %k1: memref<256x256x4xf16>, %y1: memref<25088x256x4xf16>,
                  %x2: memref<25088x2x192xf16>, %k2: memref<2x48x192xf16>, %y2: memref<25088x2x48xf16>,
                  %x3: memref<196x1024xf16>, %k3: memref<1024x1024xf16>, %y3: memref<196x1024xf16>) {
  kron.fused ins(%x3, %k3 : memref<196x1024xf16>, memref<1024x1024xf16>) outs(%y3 : memref<196x1024xf16>) {
  ^bb0(%tx: tensor<196x1024xf16>, %tk: tensor<1024x1024xf16>, %ty: tensor<196x1024xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<196x1024xf16>) factor(%tk [q, p] : tensor<1024x1024xf16>)
         outs(%ty : tensor<196x1024xf16>) -> tensor<196x1024xf16>
    kron.yield %0 : tensor<196x1024xf16>
  }
  kron.fused ins(%x, %k : memref<25088x1024xf32>, memref<1024x1024xf32>) outs(%y : memref<25088x1024xf32>) {
  ^bb0(%tx: tensor<25088x1024xf32>, %tk: tensor<1024x1024xf32>, %ty: tensor<25088x1024xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x1024xf32>) factor(%tk [q, p] : tensor<1024x1024xf32>)
         outs(%ty : tensor<25088x1024xf32>) -> tensor<25088x1024xf32>
    kron.yield %0 : tensor<25088x1024xf32>
  }
  kron.fused ins(%x1, %k1 : memref<25088x256x4xf16>, memref<256x256x4xf16>) outs(%y1 : memref<25088x256x4xf16>) {
  ^bb0(%tx: tensor<25088x256x4xf16>, %tk: tensor<256x256x4xf16>, %ty: tensor<25088x256x4xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<25088x256x4xf16>) factor(%tk [q, p, 2] : tensor<256x256x4xf16>)
         outs(%ty : tensor<25088x256x4xf16>) -> tensor<25088x256x4xf16>
    kron.yield %0 : tensor<25088x256x4xf16>
  }
  kron.fused ins(%x2, %k2 : memref<25088x2x192xf16>, memref<2x48x192xf16>) outs(%y2 : memref<25088x2x48xf16>) {
  ^bb0(%tx: tensor<25088x2x192xf16>, %tk: tensor<2x48x192xf16>, %ty: tensor<25088x2x48xf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<25088x2x192xf16>) factor(%tk [1, q, p] : tensor<2x48x192xf16>)
         outs(%ty : tensor<25088x2x48xf16>) -> tensor<25088x2x48xf16>
    kron.yield %0 : tensor<25088x2x48xf16>
  }
  return
}
