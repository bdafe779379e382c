// RUN: kron-opt %s --kron-decompose="target=cuda chip=sm_90a" --kron-fuse="target=cuda chip=sm_90a" \
// RUN:   --kron-plan="target=cuda chip=sm_90a" --split-input-file | FileCheck %s

// What arrays whose rows start anywhere cost.

// Verify that results of 485 alone keep cuBLAS from its fast kernels: on padded copies of X and of
// the factor, warpgroups of our own are faster.
// CHECK-LABEL: func.func @results(
// CHECK:         kron.fused ins({{.*}} : memref<87965x488xf16>, memref<485x488xf16>)
// CHECK-SAME:      plan = #kron.gpu_plan<kernel = wgmma
func.func @results(%x: memref<87965x485xf16>, %f: memref<485x485xf16>, %y: memref<87965x485xf16>) {
  kron.mkm ins(%x : memref<87965x485xf16>) factors(T(%f) : memref<485x485xf16>) outs(%y : memref<87965x485xf16>)
  return
}

// -----

// Verify that single copies of a transposed X are no more than padded copies.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT:     linalg.transpose
// CHECK:         kron.fused ins({{.*}} : memref<71469x401xf32>,
// CHECK-SAME:      plan = #kron.gpu_plan<kernel = wgmma
func.func @turned(%x: memref<71469x401xf32>, %f: memref<289x401xf32>, %y: memref<289x71469xf32>) {
  kron.kmm ins(T(%x) : memref<71469x401xf32>) factors(%f : memref<289x401xf32>) outs(%y : memref<289x71469xf32>)
  return
}

// -----

// Verify that products by warpgroups of a padded copy wait for it in their single stage: the
// factor is the larger part there.
// CHECK-LABEL: func.func @groups(
// CHECK:         kron.fused ins({{.*}} : memref<200x63x500x1xf32>, memref<63x424x500xf32>
// CHECK-SAME:      kernel = sparse, {{.*}}wgmma = 1
func.func @groups(%x: memref<200x31311xf32>, %w: memref<63x422x497x1xf32>, %y: memref<200x26586xf32>) {
  kron.ksmm ins(%x : memref<200x31311xf32>) weights(%w : memref<63x422x497x1xf32>) outs(%y : memref<200x26586xf32>)
  return
}

// -----

// Verify that rows of f32 that start anywhere, whose single copies the estimate of wgmma has, are
// neither for sparse nor for cuBLAS.
// CHECK-LABEL: func.func @odd_sums(
// CHECK:         kron.fused {{.*}}attributes {plan = #kron.gpu_plan<kernel = wgmma,
func.func @odd_sums(%x: memref<16864x103xf32>, %f: memref<103x181xf32>, %y: memref<16864x181xf32>) {
  kron.mkm ins(%x : memref<16864x103xf32>) factors(%f : memref<103x181xf32>) outs(%y : memref<16864x181xf32>)
  return
}
