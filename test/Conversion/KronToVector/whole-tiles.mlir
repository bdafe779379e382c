// RUN: kron-opt %s --kron-decompose --kron-plan --convert-kron-to-vector --canonicalize --split-input-file | FileCheck %s

// Verify that the last tile of rows that tiles do not divide starts earlier, so that all have 32 rows: no masks, no loops
// of an unknown number of turns. 500 rows, 16 tiles. What transposes them loads parts of 128 bits and puts four of them
// side by side.
// CHECK-LABEL: func.func private @rows_fused
// CHECK: %[[START:.*]] = arith.minsi %{{.*}}, %c468_i64
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// CHECK: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-NOT: llvm.intr.masked
// CHECK-NOT: arith.minsi %{{.*}}, %c16
// CHECK: return
func.func @rows(%x: memref<500x5x5xf32>, %f: memref<5x5xf32>, %y: memref<500x5x5xf32>) {
  kron.batched ins(%x : memref<500x5x5xf32>) factors(%f, %f : memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<500x5x5xf32>)
    {plan = #kron.cpu_plan<tile = 32, rows_in_lanes = 1>}
  return
}

// -----

// Verify that it does not where results are added to what the array held.
// CHECK-LABEL: func.func private @added_fused
// CHECK-NOT: %c468_i64
// CHECK: return
func.func @added(%x: memref<500x5x5xf32>, %f: memref<5x5xf32>, %y: memref<500x5x5xf32>) {
  kron.batched ins(%x : memref<500x5x5xf32>) factors(%f, %f : memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<500x5x5xf32>) beta(1.0 : f32)
    {plan = #kron.cpu_plan<tile = 32, rows_in_lanes = 1>}
  return
}

// -----

// Verify that it does not where that would compute many rows twice: 32 of 70.
// CHECK-LABEL: func.func private @few_fused
// CHECK: arith.minsi %{{.*}}, %c32_i64
// CHECK: return
func.func @few(%x: memref<70x5x5xf32>, %f: memref<5x5xf32>, %y: memref<70x5x5xf32>) {
  kron.batched ins(%x : memref<70x5x5xf32>) factors(%f, %f : memref<5x5xf32>, memref<5x5xf32>) outs(%y : memref<70x5x5xf32>)
    {plan = #kron.cpu_plan<tile = 32, rows_in_lanes = 1>}
  return
}

// -----

// Verify that it does not where lanes are added up, in an order that depends on where a row is: another thread may store
// a row that two tiles compute.
// CHECK-LABEL: func.func private @sums_fused
// CHECK-NOT: %c953_i64
// CHECK: arith.minsi %{{.*}}, %c48_i64
// CHECK: return
func.func @sums(%x: memref<1001x464xf32>, %f: memref<6x116xf32>, %g: memref<4x4xf32>, %y: memref<1001x24xf32>) {
  kron.mkm ins(%x : memref<1001x464xf32>) factors(%g, T(%f) : memref<4x4xf32>, memref<6x116xf32>) outs(%y : memref<1001x24xf32>)
    {plan = #kron.cpu_plan<vector_bits = 256, tile = 48, steps = [{lanes = 1}, {}]>}
  return
}
