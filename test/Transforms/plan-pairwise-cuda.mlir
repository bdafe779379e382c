// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" --kron-plan="target=cuda chip=sm_90a" | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" --remarks-filter=kron-plan 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_86" | FileCheck %s --check-prefix=SMALL
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a" --kron-plan="target=cpu" | FileCheck %s --check-prefix=CPU

// Verify the largest tile of a short function, for which an SM has fewer threads, and whose remark says what bounds it, with as long a part of K as fits. A plan for
// a GPU is none for a CPU.
// CHECK-LABEL: func @short(
// CHECK: #kron.gpu_plan<kernel = pairwise, threads = 128, ctas_per_sm = 2, stages = 2, k_step = 32, thread_rows = 8, thread_columns = 16, symmetric = 1>
// SMALL-LABEL: func @short(
// SMALL: stages = 2, k_step = 16,
// CPU-LABEL: func @short(
// CPU: #kron.pairwise_plan<
// REMARK: Microseconds={{[0-9]+}}, Remark="kernel pairwise, bound by arithmetic", Remark=", estimated {{[0-9]+}} us", Remark="; #kron.gpu_plan<kernel = pairwise,
func.func @short(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

// Verify smaller tiles of larger elements, of functions of many instructions, and where there would be few tiles; and
// that memory bounds short rows.
// CHECK-LABEL: func @tiles(
// CHECK: #kron.dispatch<[<kernel = pairwise, min_k = 62, {{.*}}, k_step = 8, thread_rows = {{[0-9]+}}, thread_columns = {{[0-9]+}}, products = 1,
// CHECK-SAME: <kernel = pairwise, threads = 128, {{.*}}thread_rows = 8, thread_columns = 4, symmetric = 1>]>
// CHECK: threads = 128, ctas_per_sm = 3, stages = 2, k_step = 64, thread_rows = 8, thread_columns = 8, symmetric = 1, polynomials = 9>
// CHECK: k_step = 32, thread_rows = 2, thread_columns = 2>
// CHECK: ctas_per_sm = 5, stages = 2, k_step = 8, thread_rows = 4, thread_columns = 8>
// REMARK: Remark="kernel pairwise, bound by memory"
func.func @tiles(%a: memref<?x?xf64>, %y: memref<?x?xf64>, %b: memref<?x?xf16>, %z: memref<?x?xf16>, %c: memref<100x64xf32>, %w: memref<100x100xf32>,
                 %d: memref<?x3xf32>, %v: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
  kron.pairwise pow_diff(1.3) ins(%b, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%z : memref<?x?xf16>)
  kron.pairwise abs_diff ins(%c, %c : memref<100x64xf32>, memref<100x64xf32>) outs(%w : memref<100x100xf32>)
  kron.pairwise abs_diff ins(%d, %d : memref<?x3xf32>, memref<?x3xf32>) outs(%v : memref<?x?xf32>)
  return
}

// Verify that matrices whose number is not known count as many, so that there are enough large tiles for all SMs.
// CHECK-LABEL: func @small(
// CHECK: thread_rows = 8, thread_columns = 4>
// CHECK: thread_rows = 2, thread_columns = 2>
func.func @small(%a: memref<?x64x16xf32>, %y: memref<?x64x64xf32>, %b: memref<2x64x16xf32>, %z: memref<2x64x64xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x64x16xf32>, memref<?x64x16xf32>) outs(%y : memref<?x64x64xf32>)
  kron.pairwise abs_diff ins(%b, %b : memref<2x64x16xf32>, memref<2x64x16xf32>) outs(%z : memref<2x64x64xf32>)
  return
}

// Verify products: as many columns of the values at a time as there are, if that is known, and CTAs for all SMs, 16 times as
// many where short rows stay in registers. Columns there take no registers, and with exponentials there are fewer rows for more of these. What is
// accumulated leaves fewer registers to the matrix.
// CHECK-LABEL: func @products(
// CHECK: ctas_per_sm = 4, stages = 8, k_step = 8, thread_rows = 8, thread_columns = 16, column_threads = 1, keeps_rows = 1, split_ctas = 8448>
// CHECK: ctas_per_sm = 4, stages = 8, k_step = 8, thread_rows = 4, thread_columns = 32, column_threads = 1, keeps_rows = 1, split_ctas = 8448>
// CHECK: thread_rows = 4, thread_columns = 4, column_threads = 1, keeps_rows = 1, value_columns = 9, split_ctas = 8448>
// CHECK: thread_rows = 8, thread_columns = 4, column_threads = 1, keeps_rows = 1, value_columns = 2, split_ctas = 8448>
// CHECK: keeps_rows = 1, value_columns = 4, split_ctas = 8448>
func.func @products(%a: memref<?x3xf32>, %v: memref<?x1xf32>, %y: memref<?x1xf32>, %w: memref<?x9xf32>, %z: memref<?x9xf32>, %o: memref<?x?xf32>, %r: memref<?x?xf32>) {
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x3xf32>, memref<?x3xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>)
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x3xf32>, memref<?x3xf32>) values(%v : memref<?x1xf32>) outs(%y : memref<?x1xf32>) epilogue {
    ^bb0(%s: f32):
      %e = math.exp %s : f32
      kron.pairwise_yield %e : f32
    }
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x3xf32>, memref<?x3xf32>) values(%w : memref<?x9xf32>) outs(%z : memref<?x9xf32>)
  kron.pairwise_apply square_diff accumulate(logsumexp) ins(%a, %a : memref<?x3xf32>, memref<?x3xf32>) values(%w : memref<?x9xf32>) outs(%z : memref<?x9xf32>)
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x3xf32>, memref<?x3xf32>) values(%o : memref<?x?xf32>) outs(%r : memref<?x?xf32>)
  return
}

// Verify that fields of a plan in part stay, and others follow, that fewer CTAs are on an SM where these need more shared
// memory, no wider tile where threads have no registers for it, and that a complete plan stays as it is.
// CHECK-LABEL: func @given(
// CHECK: #kron.gpu_plan<kernel = pairwise, threads = 512, ctas_per_sm = 1, {{.*}}thread_rows = 8, thread_columns = 8, symmetric = 1>
// CHECK: k_step = 32, thread_rows = 2, thread_columns = 16, column_threads = 8, symmetric = 1>
// CHECK: threads = 32, ctas_per_sm = 28, stages = 4, k_step = 8, thread_rows = 3, thread_columns = 2, symmetric = 1>
// CHECK: #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 24, thread_rows = 3, thread_columns = 5>
func.func @given(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<threads = 512>}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, thread_rows = 2, column_threads = 8, k_step = 32>}
  kron.pairwise pow_diff(0.7) ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 32, stages = 4, thread_rows = 3, thread_columns = 2>}
  kron.pairwise abs_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    {plan = #kron.gpu_plan<kernel = pairwise, threads = 64, ctas_per_sm = 2, stages = 2, k_step = 24, thread_rows = 3, thread_columns = 5>}
  return
}

// Verify matrix products of long rows in all types, by warpgroups where there are such;
// none of what is no sum of products; and the function of each pair where a plan says so, or a launch
// whose K is short. Rows of up to four positions stay in registers of a product.
// CHECK-LABEL: func @matrix_products(
// CHECK: min_k = 52, {{.*}}wgmma = 1, k_step = 32, {{.*}}products = 3, column_threads = 4, symmetric = 1>,
// CHECK-SAME: <kernel = pairwise, threads = 128, ctas_per_sm = 2, stages = 2, k_step = 32, thread_rows = 8, thread_columns = 16, symmetric = 1>]>
// CHECK: wgmma = 1, k_step = 32, {{.*}}products = 1, column_threads = 4, symmetric = 1>
// CHECK: stages = 2, k_step = 32, thread_rows = 8, thread_columns = 16, symmetric = 1>
// CHECK: min_k = 52, {{.*}}wgmma = 1, k_step = 32, {{.*}}products = 3, column_threads = 4, {{[^>]*}}split_ctas = {{[0-9]+}}>,
// CHECK-SAME: <kernel = pairwise, max_k = 4, {{.*}}keeps_rows = 1, split_ctas = 8448>, <kernel = pairwise, threads = 128, {{.*}}split_ctas = 396>]>
// CHECK: thread_rows = 8, thread_columns = 16, symmetric = 1>
func.func @matrix_products(%a: memref<?x?xf32>, %b: memref<?x?xbf16>, %v: memref<?x1xf32>, %y: memref<?x?xf32>, %z: memref<?x?xbf16>, %w: memref<?x1xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise dot ins(%b, %b : memref<?x?xbf16>, memref<?x?xbf16>) outs(%z : memref<?x?xbf16>)
  kron.pairwise dot reduce(max) ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise_apply square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) values(%v : memref<?x1xf32>) outs(%w : memref<?x1xf32>)
  kron.pairwise square_diff ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {plan = #kron.gpu_plan<kernel = pairwise, products = 0>}
  return
}

// Verify that a K that is known decides: the first one of which nearly all squares are exact, and the one before.
// CHECK-LABEL: func @known_k(
// CHECK: plan = #kron.gpu_plan<{{.*}}products = 3
// CHECK: plan = #kron.gpu_plan<
// CHECK-NOT: products
// CHECK: return
func.func @known_k(%a: memref<?x52xf32>, %b: memref<?x51xf32>, %y: memref<?x?xf32>) {
  kron.pairwise square_diff ins(%a, %a : memref<?x52xf32>, memref<?x52xf32>) outs(%y : memref<?x?xf32>)
  kron.pairwise square_diff ins(%b, %b : memref<?x51xf32>, memref<?x51xf32>) outs(%y : memref<?x?xf32>)
  return
}

// Verify that sums of eight bytes leave fewer threads where many wait for each other.
// CHECK-LABEL: func @wide_powers(
// CHECK: threads = 256, ctas_per_sm = 3, {{.*}}thread_rows = 4, thread_columns = 2, symmetric = 1>
func.func @wide_powers(%a: memref<?x?xf64>, %y: memref<?x?xf64>) {
  kron.pairwise pow_diff(1.5) ins(%a, %a : memref<?x?xf64>, memref<?x?xf64>) outs(%y : memref<?x?xf64>)
  return
}

// Verify values of a K that is known: one column by multiply-adds, many by matrix instructions, and the largest of these not so.
// CHECK-LABEL: func @values(
// CHECK: wgmma = 1, {{.*}}products = 3, column_threads = 4, split_ctas = {{[0-9]+}}>
// CHECK: wgmma = 1, {{.*}}value_columns = 16, value_products = 3, split_ctas
// CHECK: products = 3, {{.*}}value_columns
// CHECK-NOT: value_products
// CHECK: return
// SMALL-LABEL: func @values(
// SMALL-NOT: wgmma
// SMALL: value_products = 3
func.func @values(%a: memref<100000x64xf32>, %v: memref<100000x1xf32>, %y: memref<100000x1xf32>, %w: memref<100000x16xf32>, %z: memref<100000x16xf32>) {
  kron.pairwise_apply square_diff ins(%a, %a : memref<100000x64xf32>, memref<100000x64xf32>) values(%v : memref<100000x1xf32>) outs(%y : memref<100000x1xf32>)
  kron.pairwise_apply square_diff ins(%a, %a : memref<100000x64xf32>, memref<100000x64xf32>) values(%w : memref<100000x16xf32>) outs(%z : memref<100000x16xf32>)
  kron.pairwise_apply square_diff accumulate(max) ins(%a, %a : memref<100000x64xf32>, memref<100000x64xf32>) values(%w : memref<100000x16xf32>) outs(%z : memref<100000x16xf32>)
  return
}

// Blocks of columns that arrive together, with all of their values, leave room
// for fewer CTAs of an SM.
// CHECK-LABEL: func.func @wide_values
// CHECK: ctas_per_sm = 3, {{.*}}keeps_rows = 1
func.func @wide_values(%x: memref<3x31xf32, strided<[?, 1], offset: ?>>,
                       %w: memref<?x3xf32, strided<[?, 1], offset: ?>>,
                       %v: memref<?x?xf32, strided<[?, 1], offset: ?>>,
                       %y: memref<31x?xf32, strided<[?, 1], offset: ?>>) {
  kron.pairwise_apply pow_diff(0.5)
    ins(T(%x), %w : memref<3x31xf32, strided<[?, 1], offset: ?>>, memref<?x3xf32, strided<[?, 1], offset: ?>>)
    values(T(%v) : memref<?x?xf32, strided<[?, 1], offset: ?>>)
    outs(%y : memref<31x?xf32, strided<[?, 1], offset: ?>>)
  return
}
