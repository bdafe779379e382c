// RUN: kron-opt %s --kron-fuse --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-fuse="l2-bytes=67108864" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=LARGE

// Verify that a row of 64 MB takes two fused regions, each with columns that fit in the
// second-level cache, and one if that cache is as large as the row.
// CHECK-LABEL: func @huge_rows
// CHECK: kron.fused
// CHECK-COUNT-2: kron.mode_product
// CHECK: kron.fused
// CHECK-COUNT-2: kron.mode_product
// LARGE-LABEL: func @huge_rows
// LARGE: kron.fused
// LARGE-NOT: kron.fused
// LARGE: return
func.func @huge_rows(%x: tensor<4x64x64x64x64xf32>, %f: tensor<64x64xf32>) -> tensor<4x64x64x64x64xf32> {
  %e = tensor.empty() : tensor<4x64x64x64x64xf32>
  %1 = kron.mode_product axis(4) ins(%x : tensor<4x64x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<4x64x64x64x64xf32>) -> tensor<4x64x64x64x64xf32>
  %2 = kron.mode_product axis(3) ins(%1 : tensor<4x64x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<4x64x64x64x64xf32>) -> tensor<4x64x64x64x64xf32>
  %3 = kron.mode_product axis(2) ins(%2 : tensor<4x64x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<4x64x64x64x64xf32>) -> tensor<4x64x64x64x64xf32>
  %4 = kron.mode_product axis(1) ins(%3 : tensor<4x64x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<4x64x64x64x64xf32>) -> tensor<4x64x64x64x64xf32>
  return %4 : tensor<4x64x64x64x64xf32>
}

// -----

// Verify that one row of 1 MB is split before its last factor, for the threads,
// and that `regions` of a plan has the last word.
// CHECK-LABEL: func @one_row
// CHECK: kron.fused
// CHECK-COUNT-2: kron.mode_product
// CHECK: kron.fused
// CHECK-COUNT-1: kron.mode_product
// CHECK-LABEL: func @one_row_together
// CHECK: kron.fused
// CHECK-NOT: kron.fused
// CHECK: return
func.func @one_row(%x: tensor<1x64x64x64xf32>, %f: tensor<64x64xf32>) -> tensor<1x64x64x64xf32> {
  %e = tensor.empty() : tensor<1x64x64x64xf32>
  %1 = kron.mode_product axis(3) ins(%x : tensor<1x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %2 = kron.mode_product axis(2) ins(%1 : tensor<1x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %3 = kron.mode_product axis(1) ins(%2 : tensor<1x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  return %3 : tensor<1x64x64x64xf32>
}
func.func @one_row_together(%x: tensor<1x64x64x64xf32>, %f: tensor<64x64xf32>) -> tensor<1x64x64x64xf32> {
  %e = tensor.empty() : tensor<1x64x64x64xf32>
  %1 = kron.mode_product axis(3) ins(%x : tensor<1x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %2 = kron.mode_product axis(2) ins(%1 : tensor<1x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %3 = kron.mode_product axis(1) ins(%2 : tensor<1x64x64x64xf32>) factor(%f [p, q] : tensor<64x64xf32>) outs(%e : tensor<1x64x64x64xf32>) {plan = #kron.cpu_plan<regions = [3]>} -> tensor<1x64x64x64xf32>
  return %3 : tensor<1x64x64x64xf32>
}

// -----

// Verify that each of the fused regions that are given gets its plan, and none where that says nothing.
// CHECK-LABEL: func @planned_regions
// CHECK: kron.fused {{.*}} {plan = #kron.cpu_plan<tile = 3>}
// CHECK-COUNT-1: kron.mode_product
// CHECK: kron.fused
// CHECK-NOT: plan
// CHECK-COUNT-2: kron.mode_product
// CHECK: return
func.func @planned_regions(%x: tensor<8x4x4x4xf32>, %f: tensor<4x4xf32>) -> tensor<8x4x4x4xf32> {
  %e = tensor.empty() : tensor<8x4x4x4xf32>
  %1 = kron.mode_product axis(3) ins(%x : tensor<8x4x4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
  %2 = kron.mode_product axis(2) ins(%1 : tensor<8x4x4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
  %3 = kron.mode_product axis(1) ins(%2 : tensor<8x4x4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<8x4x4x4xf32>) {plan = #kron.region_plans<regions = [1, 2], plans = [#kron.cpu_plan<tile = 3>, #kron.cpu_plan]>} -> tensor<8x4x4x4xf32>
  return %3 : tensor<8x4x4x4xf32>
}

// -----

// CHECK-LABEL: func @planned_region
// CHECK: kron.fused {{.*}} {plan = #kron.cpu_plan<tile = 5>}
// CHECK-COUNT-2: kron.mode_product
// CHECK-NOT: kron.fused
func.func @planned_region(%x: tensor<8x4x4xf32>, %f: tensor<4x4xf32>) -> tensor<8x4x4xf32> {
  %e = tensor.empty() : tensor<8x4x4xf32>
  %1 = kron.mode_product axis(2) ins(%x : tensor<8x4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %2 = kron.mode_product axis(1) ins(%1 : tensor<8x4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<8x4x4xf32>) {plan = #kron.region_plans<regions = [2], plans = [#kron.cpu_plan<tile = 5>]>} -> tensor<8x4x4xf32>
  return %2 : tensor<8x4x4xf32>
}
