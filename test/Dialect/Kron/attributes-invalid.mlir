// RUN: kron-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expects vector_bits to be 0, 128, 256 or 512, but got 64}}
func.func @vector_bits() attributes {s = #kron.cpu_plan<vector_bits = 64>} { return }

// -----

// expected-error @+1 {{expects tile to be in [0, 2147483647], but got -1}}
func.func @tile() attributes {s = #kron.cpu_plan<tile = -1>} { return }

// -----

// expected-error @+1 {{expects register_rows to be in [0, 26], but got -1}}
func.func @register_rows() attributes {s = #kron.cpu_plan<register_rows = -1, register_vectors = 2>} { return }

// -----

// expected-error @+1 {{expects register_vectors to be in [0, 26], but got -2}}
func.func @register_vectors() attributes {s = #kron.cpu_plan<register_rows = 1, register_vectors = -2>} { return }

// -----

// expected-error @+1 {{expects slice to be in [-1, 2147483647], but got -2}}
func.func @slice() attributes {s = #kron.cpu_plan<slice = -2>} { return }

// -----

// expected-error @+1 {{expects stream_bytes to be in [-1, 9223372036854775807], but got -5}}
func.func @stream_bytes() attributes {s = #kron.cpu_plan<stream_bytes = -5>} { return }

// -----

// expected-error @+1 {{expects prefetch to be in [-1, 1], but got 2}}
func.func @prefetch() attributes {s = #kron.cpu_plan<prefetch = 2>} { return }

// -----

// expected-error @+1 {{expects kept_fibres to be in [-1, 1], but got 2}}
func.func @kept_fibres() attributes {s = #kron.cpu_plan<kept_fibres = 2>} { return }

// -----

// expected-error @+1 {{expects matrix_tiles to be in [-1, 2], but got -2}}
func.func @matrix_tiles() attributes {s = #kron.cpu_plan<matrix_tiles = -2>} { return }

// -----

// expected-error @+1 {{expects threads to be a multiple of 32 up to 1024, but got 100}}
func.func @threads() attributes {s = #kron.gpu_plan<threads = 100>} { return }

// -----

// expected-error @+1 {{expects threads to be a multiple of 32 up to 1024, but got 2048}}
func.func @threads_max() attributes {s = #kron.gpu_plan<threads = 2048>} { return }

// -----

// expected-error @+1 {{expects columns to be in [0, 2147483647], but got -8}}
func.func @columns() attributes {s = #kron.gpu_plan<columns = -8>} { return }

// -----

// expected-error @+1 {{expects ctas_per_sm to be in [0, 2147483647], but got -1}}
func.func @ctas_per_sm() attributes {s = #kron.gpu_plan<ctas_per_sm = -1>} { return }

// -----

// expected-error @+1 {{expects stages to be in [0, 2147483647], but got -1}}
func.func @stages() attributes {s = #kron.gpu_plan<stages = -1>} { return }

// -----

// expected-error @+1 {{expects cluster to be in [0, 2], but got 4}}
func.func @cluster() attributes {s = #kron.gpu_plan<cluster = 4>} { return }

// -----

// expected-error @+1 {{expects kernel to be a kind of GPU kernel, but got 'hmma'}}
func.func @kernel() attributes {s = #kron.gpu_plan<kernel = hmma>} { return }

// -----

// expected-error @+2 {{expected ::mlir::kron::Transpose to be one of: N, T, C}}
// expected-error @+1 {{failed to parse}}
func.func @transpose() attributes {t = #kron.transpose<H>} { return }

// -----

// expected-error @+1 {{expects regions to be in [1, 2147483647] each, but got 0}}
func.func @regions() attributes {s = #kron.cpu_plan<regions = [2, 0]>} { return }

// -----

// expected-error @+1 {{expects regions to be in [1, 2147483647] each, but got 9223372036854775807}}
func.func @many_regions() attributes {s = #kron.cpu_plan<regions = [9223372036854775807]>} { return }

// -----

// expected-error @+1 {{expects tile to be in [0, 2147483647], but got 9223372036854775807}}
func.func @large_tile() attributes {s = #kron.cpu_plan<tile = 9223372036854775807>} { return }

// -----

// expected-error @+1 {{expects stages to be in [0, 2147483647], but got 4294967296}}
func.func @many_stages() attributes {s = #kron.gpu_plan<stages = 4294967296>} { return }

// -----

// expected-error @+1 {{expects tile to be in [0, 2147483647], but got -1}}
func.func @gpu_tile() attributes {s = #kron.gpu_plan<tile = -1>} { return }

// -----

// expected-error @+1 {{expects regions to be in [1, 2147483647] each, but got 0}}
func.func @gpu_regions() attributes {s = #kron.gpu_plan<regions = [0]>} { return }

// -----

// A field of the other target's plan.
// expected-error @+1 {{a plan for a CPU has no field 'threads'; it has vector_bits, tile,}}
func.func @foreign_field() attributes {s = #kron.cpu_plan<tile = 2, threads = 128>} { return }

// -----

// A field of a region in a step.
// expected-error @+1 {{a step of a plan for a CPU has no field 'tile'; it has factors, l1_bytes, l2_bytes, lanes, rows, vectors, matrix_tiles, transposes_factor, packs_factor, factor_panels, packs_in_tiles, input_panels, along_axis, chunk, sharing_rows, remainder, segment, packed_k, block_k, block_q, reads_pairs, far, factor_ahead, converts_factor}}
func.func @field_of_step() attributes {s = #kron.cpu_plan<steps = [{tile = 2}]>} { return }

// -----

// expected-error @+1 {{expects whole_axes to be in [0, 2147483647] each, but got -1}}
func.func @whole_axes() attributes {s = #kron.cpu_plan<whole_axes = [-1]>} { return }

// -----

// expected-error @+1 {{expects staging to be in [0, 2], but got 3}}
func.func @staging() attributes {s = #kron.cpu_plan<staging = 3>} { return }

// -----

// expected-error @+1 {{field 'slice' is there twice}}
func.func @twice_for_cpu() attributes {s = #kron.cpu_plan<slice = 2, slice = 2>} { return }

// -----

// expected-error @+1 {{field 'tile' is there twice}}
func.func @twice() attributes {s = #kron.gpu_plan<tile = 2, tile = 2>} { return }

// -----

// A field that the kernel would not read.
// expected-error @+1 {{kernel wgmma has no field 'ring_slots'; it has tile, columns, threads,}}
func.func @other_field() attributes {s = #kron.gpu_plan<kernel = wgmma, ring_slots = 2>} { return }

// -----

// Nothing is known of a kernel's own fields as long as nobody says which one it is.
// expected-error @+1 {{kernel auto has no field 'piece'}}
func.func @own_field() attributes {s = #kron.gpu_plan<piece = [8, 8]>} { return }

// -----

// expected-error @+1 {{expects tile to be a number}}
func.func @list_for_number() attributes {s = #kron.gpu_plan<tile = [2]>} { return }

// -----

// expected-error @+1 {{expects regions to be a list of numbers}}
func.func @number_for_list() attributes {s = #kron.gpu_plan<regions = 2>} { return }

// -----

// expected-error @+1 {{expects launches to be a list of parts, {...}}}
func.func @number_for_parts() attributes {s = #kron.gpu_plan<kernel = simt, launches = 2>} { return }

// -----

// expected-error @+1 {{expects numbers or parts, but got both}}
func.func @mixed() attributes {s = #kron.gpu_plan<kernel = simt, launches = [{factors = 1}, 2]>} { return }

// -----

// expected-error @+1 {{expects complete plans, but got #kron.gpu_plan<kernel = mma, tile = 1>}}
func.func @partial() attributes {s = #kron.dispatch<[<kernel = mma, tile = 1>]>} { return }

// -----

// expected-error @+1 {{expects the last plan to be a kernel that needs no library}}
func.func @library() attributes {s = #kron.dispatch<[<kernel = cublas>]>} { return }

// -----

// expected-error @+1 {{expects only the last plan to require nothing of a launch, since none behind it is ever launched, but got #kron.gpu_plan<kernel = mma, tile = 1}}
func.func @unreachable() attributes {s = #kron.dispatch<[<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4, stages = 2>, <kernel = mma, tile = 2, threads = 128, ctas_per_sm = 4, stages = 2>]>} { return }

// -----

// expected-error @+1 {{expects plans without constraints, from which nothing is chosen, but got regions = [1]}}
func.func @constraint() attributes {s = #kron.dispatch<[<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4, stages = 2, regions = [1]>]>} { return }

// -----

// expected-error @+1 {{expects a plan for each of 2 fused regions, but got 1}}
func.func @few_plans() attributes {s = #kron.region_plans<regions = [2, 1], plans = [#kron.cpu_plan]>} { return }

// -----

// expected-error @+1 {{expects every fused region to apply at least one mode product, but got 0}}
func.func @empty_region() attributes {s = #kron.region_plans<regions = [2, 0], plans = [#kron.cpu_plan, #kron.cpu_plan]>} { return }

// -----

// expected-error @+1 {{expects plans to be a #kron.cpu_plan, a #kron.gpu_plan or a #kron.dispatch, but got 3 : i64}}
func.func @no_plan() attributes {s = #kron.region_plans<regions = [2], plans = [3 : i64]>} { return }

// -----

// expected-error @+1 {{expects plans for one target, but got #kron.cpu_plan and #kron.gpu_plan<kernel = mma>}}
func.func @two_targets() attributes {s = #kron.region_plans<regions = [2, 1], plans = [#kron.cpu_plan, #kron.gpu_plan<kernel = mma>]>} { return }

// -----

// expected-error @+1 {{expects plans of fused regions that are not cut again, but got #kron.gpu_plan<kernel = mma, regions = [1, 1]>}}
func.func @cut_again() attributes {s = #kron.region_plans<regions = [2], plans = [#kron.gpu_plan<kernel = mma, regions = [1, 1]>]>} { return }

// -----

// expected-error @+1 {{kernel simt has no field 'stages'}}
func.func @simt_stages() attributes {s = #kron.gpu_plan<kernel = simt, stages = 3>} { return }

// -----

// expected-error @+1 {{kernel wgmma has no field 'cluster'}}
func.func @wgmma_cluster() attributes {s = #kron.gpu_plan<kernel = wgmma, cluster = 2>} { return }

// -----

// expected-error @+1 {{expects lanes to be in [0, 3], but got 4}}
func.func @lanes() attributes {s = #kron.cpu_plan<steps = [{lanes = 4}]>} { return }

// -----

// expected-error @+1 {{expects rows to be in [0, 26], but got 27}}
func.func @rows() attributes {s = #kron.cpu_plan<steps = [{rows = 27}]>} { return }

// -----

// expected-error @+1 {{expects sharing_rows to be in [1, 64], but got 0}}
func.func @sharing_rows() attributes {s = #kron.cpu_plan<steps = [{sharing_rows = 0}]>} { return }

// -----

// expected-error @+1 {{expects remainder to be in [1, 2147483647] each, but got 0}}
func.func @remainder() attributes {s = #kron.cpu_plan<steps = [{remainder = [8, 0, 1]}]>} { return }

// -----

// expected-error @+1 {{expects moves_innermost to be in [0, 3], but got 4}}
func.func @moves_innermost() attributes {s = #kron.cpu_plan<moves_innermost = 4>} { return }

// -----

// expected-error @+1 {{expects vector_bits to be 128, 256 or 512, but got 64}}
func.func @pairwise_vector_bits() attributes {s = #kron.pairwise_plan<vector_bits = 64>} { return }

// -----

// expected-error @+1 {{expects rows to be in [0, 26], but got 27}}
func.func @pairwise_rows() attributes {s = #kron.pairwise_plan<rows = 27>} { return }

// -----

// expected-error @+1 {{expects vectors to be in [0, 26], but got -1}}
func.func @pairwise_vectors() attributes {s = #kron.pairwise_plan<vectors = -1>} { return }

// -----

// expected-error @+1 {{expects row_block to be in [0, 65536], but got 65537}}
func.func @pairwise_row_block() attributes {s = #kron.pairwise_plan<row_block = 65537>} { return }

// -----

// expected-error @+1 {{expects k_block to be in [0, 65536], but got -8}}
func.func @pairwise_k_block() attributes {s = #kron.pairwise_plan<k_block = -8>} { return }

// -----

// expected-error @+1 {{expects rows * vectors to be at most 26, but got 9 * 3}}
func.func @pairwise_registers() attributes {s = #kron.pairwise_plan<rows = 9, vectors = 3>} { return }

// -----

// expected-error @+1 {{expects row_block to be a multiple of rows, but got 12 and 8}}
func.func @pairwise_multiple() attributes {s = #kron.pairwise_plan<rows = 8, row_block = 12>} { return }

// -----

// expected-error @+1 {{expects lane_columns to be in [0, 4096], but got 4097}}
func.func @pairwise_lane_columns() attributes {s = #kron.pairwise_plan<lane_columns = 4097>} { return }

// -----

// expected-error @+1 {{expects n_tiles to be in [0, 4096], but got -1}}
func.func @pairwise_n_tiles() attributes {s = #kron.pairwise_plan<n_tiles = -1>} { return }

// -----

// expected-error @+1 {{expects column_block to be lane_columns at least, but got 4 and 8}}
func.func @pairwise_column_block() attributes {s = #kron.pairwise_plan<lane_columns = 8, column_block = 4>} { return }

// -----

// expected-error @+1 {{expects product_k to be in [-1, 65536], but got -2}}
func.func @pairwise_product_k() attributes {s = #kron.pairwise_plan<product_k = -2>} { return }

// -----

// expected-error @+1 {{expects symmetric to be in [-1, 65536], but got -2}}
func.func @pairwise_symmetric() attributes {s = #kron.pairwise_plan<symmetric = -2>} { return }
