//===- Random.h - Choices of the mutators -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_RANDOM_H
#define KRON_FUZZ_RANDOM_H

#include <cstdint>
#include <random>

namespace mlir::kron::fuzz {

/// The same choices from the same seed, on every machine.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}

  /// 0 to `count` - 1.
  size_t below(size_t count) { return engine() % count; }
  /// True once in `count` times.
  bool oneIn(size_t count) { return below(count) == 0; }
  unsigned next() { return static_cast<unsigned>(engine()); }

  template <typename Range> auto &&pick(Range &&range) {
    return range[below(std::size(range))];
  }

private:
  std::mt19937_64 engine;
};

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_RANDOM_H
