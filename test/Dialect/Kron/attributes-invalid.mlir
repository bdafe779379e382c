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

// expected-error @+2 {{expected ::mlir::kron::Transpose to be one of: N, T, C}}
// expected-error @+1 {{failed to parse}}
func.func @transpose() attributes {t = #kron.transpose<H>} { return }
