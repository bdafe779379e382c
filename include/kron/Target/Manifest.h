//===- Manifest.h - What is known of compiled kernels -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The compiler's side of KronKernel (kron/Runtime/Runtime.h): read from a
// lowered module, written as constants into LLVM IR and as documentation into
// headers.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_MANIFEST_H
#define KRON_TARGET_MANIFEST_H

#include "kron/Runtime/Runtime.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::kron {

/// One argument, as KronArgInfo has it.
struct ArgManifest {
  std::string name;
  KronType type;
  KronAccess access;
  int32_t contiguity;
  /// Passed by value to the lowered function.
  bool isScalar;
  std::vector<int64_t> sizes;
  std::vector<int32_t> symbols;

  unsigned getRank() const { return sizes.size(); }
};

/// One public function of a lowered module.
struct KernelManifest {
  std::string name;
  std::vector<ArgManifest> args;
  int64_t sharedBytes;
  int64_t threadBytes;
  bool allocates;
};

/// The kernels of `module`, which --kron-cpu-pipeline has lowered. Fails with a
/// diagnostic where attributes of functions that say so are not as it writes
/// them.
FailureOr<std::vector<KernelManifest>> getKernelManifests(ModuleOp module);

/// Name of `type` as MLIR writes it, e.g. "complex<f32>".
llvm::StringRef getTypeName(KronType type);

} // namespace mlir::kron

#endif // KRON_TARGET_MANIFEST_H
