//===- Reasons.cpp - Why a plan is none for a kernel ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/Reasons.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Plan/Arrays.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::kron;

std::string kron::expects(const Twine &what, const Twine &found) {
  return ("expects " + what + ", but got " + found).str();
}

std::string kron::expects(const Twine &what, int64_t found) {
  return expects(what, Twine(found));
}

std::string kron::expects(StringRef field, const Twine &what, int64_t found) {
  return expects(field + " to be " + what, found);
}

std::optional<std::string>
kron::getSharedMemoryReason(int64_t bytes, int64_t ctasPerSM,
                            const GPUMachine &machine) {
  int64_t limit = std::max<int64_t>(machine.getSharedBytes(ctasPerSM), 0);
  if (bytes <= limit)
    return std::nullopt;
  std::string reason = "a tile of " + std::to_string(bytes) +
                       " bytes does not fit in the " + std::to_string(limit) +
                       " bytes of shared memory";
  if (ctasPerSM > 1)
    reason += " that ctas_per_sm = " + std::to_string(ctasPerSM) + " leaves";
  return reason;
}

std::optional<std::string> kron::getCtasReason(int64_t ctasPerSM,
                                               int64_t threads,
                                               const GPUMachine &machine) {
  int64_t most = machine.maxThreadsPerSM / threads;
  if (ctasPerSM <= most)
    return std::nullopt;
  return expects("ctas_per_sm to be at most " + Twine(most), ctasPerSM);
}

std::optional<std::string> kron::getBareReason(FusedOp fused) {
  for (ModeProductOp product : fused.getModeProducts())
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return "a factor has a dynamic shape";
  if (hasEmptyArray(fused))
    return "an array has no elements";
  if (fused.getEpilogue())
    return "there is an epilogue";
  if (isRegrouped(fused))
    return "axes are regrouped between factors";
  return std::nullopt;
}
