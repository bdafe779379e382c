// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" | FileCheck %s

// Verify that maxima have values that no kernel copies, so that 3 CTAs of an SM have room for tiles of 2 x 28 elements a thread.
// CHECK-LABEL: func.func @maxima_of_values
// CHECK: ctas_per_sm = 3, stages = 2
func.func @maxima_of_values(%x: memref<5000x256xf32>, %w: memref<5000x256xf32>, %v: memref<5000x16xf32>, %y: memref<5000x16xf32>) {
  kron.pairwise_apply square_diff accumulate(max) ins(%x, %w : memref<5000x256xf32>, memref<5000x256xf32>)
    values(%v : memref<5000x16xf32>) outs(%y : memref<5000x16xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 3, stages = 2, k_step = 32, thread_rows = 2, thread_columns = 28, column_threads = 4, products = 3, value_columns = 16, split_ctas = 216>}
  return
}
