//===- CacheFolder.h - The folder of the user's cache -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Kernels of the Python package, calibrations and tuning records are kept in
// one folder, and used only if nobody else can have written them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_CACHEFOLDER_H
#define KRON_MACHINE_CACHEFOLDER_H

#include <string>

namespace mlir::kron {

/// Whether anything is kept: KRON_CACHE=0 turns that off.
bool isCacheEnabled();

/// Where: KRON_CACHE_DIR, or `kron` in XDG_CACHE_HOME or ~/.cache; empty
/// without any of these.
std::string getCacheFolder();

/// Why that folder is not used, which it names: others can write there. Empty
/// if it is used, or not there. The mode of the default folder is mended, that
/// of a folder of the user's choice, which may have other uses, stays.
std::string getCacheProblem();

} // namespace mlir::kron

#endif // KRON_MACHINE_CACHEFOLDER_H
