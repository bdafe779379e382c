//===- GPUSplits.cpp - Products that are faster in several launches -------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPUSplits.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>

using namespace mlir::kron;

static int64_t scale(int64_t value, double factor) {
  return std::llround(static_cast<double>(value) * factor);
}

GPUSplits mlir::kron::getGPUSplits(const GPUMachine &machine) {
  static const GPUMachine measured = llvm::cantFail(parseGPUMachine("h200"));
  double sms = double(machine.numSMs) / measured.numSMs;
  double copies = machine.copyBytesPerSecond / measured.copyBytesPerSecond;
  double launches = machine.launchSeconds / measured.launchSeconds;
  GPUSplits splits;
  WeightSplits &weights = splits.weights;
  weights.keptBytes = std::min(weights.keptBytes, machine.sharedBytesPerSM);
  // What memory moves while a launch begins.
  weights.launchBytes16Bit = scale(weights.launchBytes16Bit, copies * launches);
  weights.launchBytes = scale(weights.launchBytes, copies * launches);
  weights.rowsOfSlice = scale(weights.rowsOfSlice, sms);
  splits.products.fewestRows =
      std::max(scale(splits.products.fewestRows, sms), splits.products.rowUnit);
  RowSplits &rows = splits.rows;
  for (double *rate : {&rows.inputs16Bit, &rows.results16Bit,
                       &rows.transposed16Bit, &rows.inputsF32, &rows.resultsF32,
                       &rows.transposedF32, &rows.direct16Bit, &rows.directF32})
    *rate *= copies;
  rows.multiplyAdds16Bit *= machine.f16Mma / measured.f16Mma;
  rows.multiplyAddsF32 *= machine.tf32Mma / measured.tf32Mma;
  rows.directMultiplyAdds *= machine.ffma / measured.ffma;
  rows.launchMicroseconds *= launches;
  splits.batch.busyThreads = scale(splits.batch.busyThreads, sms);
  splits.batch.biasBusyThreads = scale(splits.batch.biasBusyThreads, sms);
  return splits;
}
