// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" | FileCheck %s

// Verify tiles that leave registers for what a step adds up: two warpgroups that share the columns of a CTA, and copy less, where steps
// along K are many, and CTAs that wait for each other in nothing where functions of blocks follow few steps.
// CHECK-LABEL: func.func @long_rows(
// CHECK: threads = 256, ctas_per_sm = 1, stages = 3, wgmma = 1, k_step = 32, thread_rows = 4, thread_columns = 28, products = 3,
// CHECK-LABEL: func.func @short_rows(
// CHECK: threads = 128, ctas_per_sm = 2, stages = 2, wgmma = 1, k_step = 32, thread_rows = 4, thread_columns = 28, products = 3,
// CHECK-LABEL: func.func @many_steps(
// CHECK: threads = 256, ctas_per_sm = 1, stages = 3, wgmma = 1, k_step = 32, thread_rows = 4, thread_columns = 28, products = 3,
// CHECK-LABEL: func.func @few_steps(
// CHECK: threads = 128, ctas_per_sm = 2, stages = 2, wgmma = 1, k_step = 32, thread_rows = 4, thread_columns = 28, products = 3,
func.func @long_rows(%a: tensor<30000x1024xf32>, %y: tensor<30000x30000xf32>) -> tensor<30000x30000xf32> {
  %0 = kron.pairwise square_diff ins(%a, %a : tensor<30000x1024xf32>, tensor<30000x1024xf32>) outs(%y : tensor<30000x30000xf32>) -> tensor<30000x30000xf32>
  return %0 : tensor<30000x30000xf32>
}
func.func @short_rows(%a: tensor<30000x128xf32>, %y: tensor<30000x30000xf32>) -> tensor<30000x30000xf32> {
  %0 = kron.pairwise square_diff ins(%a, %a : tensor<30000x128xf32>, tensor<30000x128xf32>) outs(%y : tensor<30000x30000xf32>) -> tensor<30000x30000xf32>
  return %0 : tensor<30000x30000xf32>
}
func.func @many_steps(%a: tensor<50000x700xf32>, %v: tensor<50000x1xf32>, %y: tensor<50000x1xf32>) -> tensor<50000x1xf32> {
  %0 = kron.pairwise_apply square_diff ins(%a, %a : tensor<50000x700xf32>, tensor<50000x700xf32>) values(%v : tensor<50000x1xf32>) outs(%y : tensor<50000x1xf32>)
    epilogue {
    ^bb0(%s: f32):
      %e = math.exp %s : f32
      kron.pairwise_yield %e : f32
    } -> tensor<50000x1xf32>
  return %0 : tensor<50000x1xf32>
}
func.func @few_steps(%a: tensor<100000x64xf32>, %v: tensor<100000x1xf32>, %y: tensor<100000x1xf32>) -> tensor<100000x1xf32> {
  %0 = kron.pairwise_apply square_diff ins(%a, %a : tensor<100000x64xf32>, tensor<100000x64xf32>) values(%v : tensor<100000x1xf32>) outs(%y : tensor<100000x1xf32>)
    epilogue {
    ^bb0(%s: f32):
      %e = math.exp %s : f32
      kron.pairwise_yield %e : f32
    } -> tensor<100000x1xf32>
  return %0 : tensor<100000x1xf32>
}
