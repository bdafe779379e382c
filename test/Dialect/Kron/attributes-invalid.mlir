// RUN: kron-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expects vector_bits to be 0, 128, 256 or 512, but got 64}}
func.func @vector_bits() attributes {s = #kron.schedule<vector_bits = 64>} { return }

// -----

// expected-error @+1 {{expects tile to be >= 0, but got -1}}
func.func @tile() attributes {s = #kron.schedule<tile = -1>} { return }

// -----

// expected-error @+1 {{expects register_rows and register_vectors to be >= 0, but got -1 and 2}}
func.func @register_rows() attributes {s = #kron.schedule<register_rows = -1, register_vectors = 2>} { return }

// -----

// expected-error @+1 {{expects register_rows and register_vectors to be >= 0, but got 1 and -2}}
func.func @register_vectors() attributes {s = #kron.schedule<register_rows = 1, register_vectors = -2>} { return }

// -----

// expected-error @+1 {{expects slice to be >= -1, but got -2}}
func.func @slice() attributes {s = #kron.schedule<slice = -2>} { return }

// -----

// expected-error @+1 {{expects stream_bytes to be >= -1, but got -5}}
func.func @stream_bytes() attributes {s = #kron.schedule<stream_bytes = -5>} { return }

// -----

// expected-error @+1 {{expects prefetch to be -1, 0 or 1, but got 2}}
func.func @prefetch() attributes {s = #kron.schedule<prefetch = 2>} { return }

// -----

// expected-error @+1 {{expects kept_fibres to be -1, 0 or 1, but got 2}}
func.func @kept_fibres() attributes {s = #kron.schedule<kept_fibres = 2>} { return }

// -----

// expected-error @+1 {{expects matrix_tiles to be -1, 0, 1 or 2, but got -2}}
func.func @matrix_tiles() attributes {s = #kron.schedule<matrix_tiles = -2>} { return }

// -----

// expected-error @+1 {{expects threads to be a multiple of 32 up to 1024, but got 100}}
func.func @threads() attributes {s = #kron.schedule<threads = 100>} { return }

// -----

// expected-error @+1 {{expects threads to be a multiple of 32 up to 1024, but got 2048}}
func.func @threads_max() attributes {s = #kron.schedule<threads = 2048>} { return }

// -----

// expected-error @+1 {{expects columns to be >= 0, but got -8}}
func.func @columns() attributes {s = #kron.schedule<columns = -8>} { return }

// -----

// expected-error @+1 {{expects ctas_per_sm to be >= 0, but got -1}}
func.func @ctas_per_sm() attributes {s = #kron.schedule<ctas_per_sm = -1>} { return }

// -----

// expected-error @+1 {{expects stages to be >= 0, but got -1}}
func.func @stages() attributes {s = #kron.schedule<stages = -1>} { return }

// -----

// expected-error @+1 {{expects cluster to be 0, 1 or 2, but got 4}}
func.func @cluster() attributes {s = #kron.schedule<cluster = 4>} { return }

// -----

// expected-error @+2 {{expected one of [auto, simt, ffma, mma, wgmma, batched] for kind of GPU kernel that applies a fused region, got: hmma}}
// expected-error @+1 {{failed to parse}}
func.func @kernel() attributes {s = #kron.schedule<kernel = hmma>} { return }

// -----

// expected-error @+2 {{expected ::mlir::kron::Transpose to be one of: N, T, C}}
// expected-error @+1 {{failed to parse}}
func.func @transpose() attributes {t = #kron.transpose<H>} { return }

// -----

// expected-error @+1 {{expects regions to be in [1, 2147483647] each, but got 0}}
func.func @regions() attributes {s = #kron.schedule<regions = [2, 0]>} { return }

// -----

// expected-error @+1 {{expects regions to be in [1, 2147483647] each, but got 9223372036854775807}}
func.func @many_regions() attributes {s = #kron.schedule<regions = [9223372036854775807]>} { return }

// -----

// expected-error @+1 {{expects tile to be at most 2147483647, but got 9223372036854775807}}
func.func @large_tile() attributes {s = #kron.schedule<tile = 9223372036854775807>} { return }

// -----

// expected-error @+1 {{expects stages to be at most 2147483647, but got 4294967296}}
func.func @many_stages() attributes {s = #kron.schedule<stages = 4294967296>} { return }
