//===- Compare.cpp - How two arrays differ ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tuner compares the results of each candidate, which have up to gigabytes:
// blocks are compared on all processors, and their sums added up in the order
// of the arrays, whatever the number of processors. Threads end with the
// comparison: a process that forks has none of them afterwards.
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Calls.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <cmath>
#include <cstring>

using namespace mlir::kron;

/// Elements of a block: long enough for a thread to begin it.
static constexpr int64_t kBlock = 1 << 16;

namespace {
/// What the elements of a block add to the difference of two arrays.
struct Sums {
  long double maxAbs = 0, error = 0, reference = 0, magnitude = 0;
  bool hasSameSpecials = true;

  void add(long double actual, long double expected) {
    if (std::isnan(actual) && std::isnan(expected))
      return;
    if (actual == expected) {
      if (std::isfinite(expected))
        reference += expected * expected;
      return;
    }
    long double distance = std::abs(actual - expected);
    // A NaN or infinity on one side only.
    if (!std::isfinite(distance)) {
      hasSameSpecials = false;
      return;
    }
    maxAbs = std::max(maxAbs, distance);
    error += distance * distance;
    reference += expected * expected;
  }

  void add(const Sums &block) {
    maxAbs = std::max(maxAbs, block.maxAbs);
    error += block.error;
    reference += block.reference;
    magnitude += block.magnitude;
    hasSameSpecials &= block.hasSameSpecials;
  }
};
} // namespace

static Sums compareBlock(const HostArray &actual, const HostArray &reference,
                         const HostArray *magnitudes, int64_t begin,
                         int64_t end) {
  Sums sums;
  for (int64_t i = begin; i < end; ++i) {
    HostArray::Number a = actual.load(i), r = reference.load(i);
    sums.add(a.real(), r.real());
    sums.add(a.imag(), r.imag());
    if (!magnitudes)
      continue;
    long double magnitude = magnitudes->load(i).real();
    if (std::isfinite(magnitude))
      sums.magnitude += magnitude * magnitude;
  }
  return sums;
}

Difference mlir::kron::compare(const HostArray &actual,
                               const HostArray &reference,
                               const HostArray *magnitudes, double epsilon) {
  double bound = 16 * std::max(epsilon, getEpsilon(actual.getType()));
  // The same bytes are the same values, whatever they mean.
  if (actual.getType() == reference.getType() &&
      std::memcmp(actual.getData(), reference.getData(),
                  actual.getNumBytes()) == 0)
    return {0, 0, bound, true};
  int64_t count = actual.getNumElements();
  std::vector<Sums> blocks(llvm::divideCeil(count, kBlock));
  auto compareOne = [&](size_t block) {
    int64_t begin = block * kBlock;
    blocks[block] = compareBlock(actual, reference, magnitudes, begin,
                                 std::min(begin + kBlock, count));
  };
  if (blocks.size() == 1) {
    compareOne(0);
  } else {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
    for (size_t block = 0; block < blocks.size(); ++block)
      pool.async(compareOne, block);
    pool.wait();
  }
  Sums sums;
  for (const Sums &block : blocks)
    sums.add(block);
  // What cancels in no term has no smaller sum of magnitudes.
  long double whole = std::max(sums.reference, sums.magnitude);
  double relative = sums.error == 0 ? 0 : std::sqrt(sums.error / whole);
  return {double(sums.maxAbs), relative, bound,
          sums.hasSameSpecials && relative <= bound};
}
