// RUN: kron-opt %s --verify-roundtrip | FileCheck %s

// Verify that a plan prints the fields that are set, and only those.
// CHECK-LABEL: func @plan
// CHECK-SAME:    all = #kron.cpu_plan<vector_bits = 256, tile = 4, register_rows = 6, register_vectors = 2>
// CHECK-SAME:    gpu = #kron.gpu_plan<kernel = mma, tile = 2, columns = 32, threads = 128, ctas_per_sm = 4, stages = 3, cluster = 1, regions = [2, 3]>
// CHECK-SAME:    none = #kron.cpu_plan
// CHECK-SAME:    some = #kron.cpu_plan<tile = 9>
// CHECK-SAME:    steps = #kron.cpu_plan<tile = 9, tiled_axis = 0, whole_axes = [3, 4], moves_innermost = 3, l2_bytes = 131072, steps = [{}, {factors = 2, lanes = 3, rows = 6, packs_factor = 1, factor_panels = 1, packs_in_tiles = 1, input_panels = 1, chunk = 24, sharing_rows = 2, remainder = [8, 4, 2], segment = 4, reads_pairs = 1, far = 1}, {matrix_tiles = 1, transposes_factor = 1}]>
func.func @plan() attributes {
  all = #kron.cpu_plan<vector_bits = 256, tile = 4, register_rows = 6, register_vectors = 2>,
  gpu = #kron.gpu_plan<kernel = mma, regions = [2, 3], cluster = 1, stages = 3, ctas_per_sm = 4, threads = 128, columns = 32, tile = 2>,
  none = #kron.cpu_plan,
  some = #kron.cpu_plan<tile = 9>,
  steps = #kron.cpu_plan<steps = [{}, {far = 1, rows = 6, factors = 2, reads_pairs = 1, segment = 4, remainder = [8, 4, 2], sharing_rows = 2, chunk = 24, input_panels = 1, packs_in_tiles = 1, factor_panels = 1, packs_factor = 1, lanes = 3}, {transposes_factor = 1, matrix_tiles = 1}], slice = 0, moves_innermost = 3, l2_bytes = 131072, whole_axes = [3, 4], tile = 9, tiled_axis = 0>
} { return }

// Verify that plans for parts print as such, those of a dispatch without their name, and fields
// at their defaults where they are written.
// CHECK-LABEL: func @parts
// CHECK-SAME:    launches = #kron.gpu_plan<kernel = simt, threads = 256, launches = [{factors = 2, extents = [5, 2, 64], ctas_per_sm = 3}]>
// CHECK-SAME:    list = #kron.dispatch<[<kernel = cublas, min_rows = 16>, <kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4, stages = 2>]>
func.func @parts() attributes {
  launches = #kron.gpu_plan<kernel = simt, threads = 256, launches = [{factors = 2, extents = [5, 2, 64], ctas_per_sm = 3}]>,
  list = #kron.dispatch<[<kernel = cublas, min_rows = 16>, <kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4, stages = 2>]>
} { return }

// CHECK-LABEL: func @regions
// CHECK-SAME:    cpu = #kron.region_plans<regions = [1, 3], plans = [#kron.cpu_plan<tile = 2>, #kron.cpu_plan]>
// CHECK-SAME:    gpu = #kron.region_plans<regions = [2], plans = [#kron.dispatch<[<kernel = cublas>, <kernel = mma, tile = 1,
func.func @regions() attributes {
  cpu = #kron.region_plans<regions = [1, 3], plans = [#kron.cpu_plan<tile = 2>, #kron.cpu_plan]>,
  gpu = #kron.region_plans<regions = [2], plans = [#kron.dispatch<[<kernel = cublas>, <kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4, stages = 2>]>]>
} { return }

// CHECK-LABEL: func @enums
// CHECK-SAME:    a = [#kron.transpose<N>, #kron.transpose<T>, #kron.transpose<C>]
// CHECK-SAME:    b = [#kron.precision<full>, #kron.precision<ieee>, #kron.precision<tf32>]
// CHECK-SAME:    c = [#kron.layout<batch_first>, #kron.layout<batch_last>]
// CHECK-SAME:    d = [#kron.activation<identity>, #kron.activation<relu>, #kron.activation<gelu>, #kron.activation<silu>]
func.func @enums() attributes {
  a = [#kron.transpose<N>, #kron.transpose<T>, #kron.transpose<C>],
  b = [#kron.precision<full>, #kron.precision<ieee>, #kron.precision<tf32>],
  c = [#kron.layout<batch_first>, #kron.layout<batch_last>],
  d = [#kron.activation<identity>, #kron.activation<relu>, #kron.activation<gelu>, #kron.activation<silu>]
} { return }
