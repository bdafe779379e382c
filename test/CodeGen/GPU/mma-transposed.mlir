// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that 32 rows of a transposed input, whatever axes lie between them and the
// contracted ones, are the innermost dimension of a tile: 16 bytes of them are copied at
// a time, and the axis whose results are neighbours comes last, element by element.

// CHECK-LABEL: llvm.func @turned_0
// CHECK-NOT:     cp.async.shared.global {{.*}}, 4, cache
// CHECK:         nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg
// CHECK:         scf.for
// CHECK-COUNT-6:   mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:           llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:           nvvm.barrier0
// CHECK:           scf.for
// CHECK-COUNT-6:   mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT:       st.global.cs.v
// CHECK:           st.global.cs.f32
// CHECK-NOT:       st.global.cs.v
func.func @turned(%x: memref<16x16x16x1024xf32>, %f: memref<16x16xf32>, %y: memref<1024x16x16x16xf32>) {
  kron.fused ins(%x, %f : memref<16x16x16x1024xf32>, memref<16x16xf32>) outs(%y : memref<1024x16x16x16xf32>)
      attributes {input_permutation = array<i64: 3, 0, 1, 2>, plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<1024x16x16x16xf32>, %tf: tensor<16x16xf32>, %out: tensor<1024x16x16x16xf32>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<1024x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<1024x16x16x16xf32>) -> tensor<1024x16x16x16xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<1024x16x16x16xf32>) factor(%tf [p, q] : tensor<16x16xf32>)
         outs(%out : tensor<1024x16x16x16xf32>) -> tensor<1024x16x16x16xf32>
    kron.yield %2 : tensor<1024x16x16x16xf32>
  }
  return
}

// -----

// Verify that segments of the transposed input are so short that a tile fits.

// CHECK-LABEL: llvm.func @short_runs_0
// CHECK:         mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64
func.func @short_runs(%x: memref<12x12x12x1024xf64>, %f: memref<12x12xf64>, %y: memref<1024x12x12x12xf64>) {
  kron.fused ins(%x, %f : memref<12x12x12x1024xf64>, memref<12x12xf64>) outs(%y : memref<1024x12x12x12xf64>)
      attributes {input_permutation = array<i64: 3, 0, 1, 2>, plan = #kron.gpu_plan<kernel = mma>} {
  ^bb0(%tx: tensor<1024x12x12x12xf64>, %tf: tensor<12x12xf64>, %out: tensor<1024x12x12x12xf64>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<1024x12x12x12xf64>) factor(%tf [p, q] : tensor<12x12xf64>)
         outs(%out : tensor<1024x12x12x12xf64>) -> tensor<1024x12x12x12xf64>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<1024x12x12x12xf64>) factor(%tf [p, q] : tensor<12x12xf64>)
         outs(%out : tensor<1024x12x12x12xf64>) -> tensor<1024x12x12x12xf64>
    %3 = kron.mode_product axis(1) ins(%2 : tensor<1024x12x12x12xf64>) factor(%tf [p, q] : tensor<12x12xf64>)
         outs(%out : tensor<1024x12x12x12xf64>) -> tensor<1024x12x12x12xf64>
    kron.yield %3 : tensor<1024x12x12x12xf64>
  }
  return
}
