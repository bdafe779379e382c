//===- Tuner.h - The fastest plans of a file's operations -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_TUNER_H
#define KRON_DRIVER_TUNER_H

#include "kron/Driver/Gpu.h"
#include "kron/Driver/Session.h"
#include "kron/Mapping/Tuning/Search.h"

namespace mlir::kron {

/// Times without a clock, for tests: a launch takes a millisecond, times the
/// factor of each text that the plan has.
struct FakeTimes {
  std::vector<std::pair<std::string, double>> factors;

  double getSeconds(StringRef plan) const;
};

/// Which operations are tuned, and what for.
enum class TuneScope {
  /// All: their fastest plans, of which `known` may have some.
  All,
  /// Those of `known`: whether its plans still are faster than the default.
  Known,
  /// Those of which nothing in `known` is used.
  Unknown
};

struct TuneOptions {
  SearchOptions search;
  TuneScope scope = TuneScope::All;
  /// Records that there are, the newest last.
  std::vector<Record> known;
  /// Threads that compile candidates at most; 0: as many as there are
  /// processors for.
  unsigned numCompileThreads = 0;
  /// The GPU that launches are on; null for the CPU.
  Gpu *gpu = nullptr;
  std::optional<FakeTimes> fakeTimes;
  /// Whether to end with what has been found.
  std::function<bool()> isStopped = [] { return false; };
  /// Told of operations that are not tuned, and why.
  std::function<void(const std::string &)> skip = [](const std::string &) {};
  /// Told what is going on, on one line.
  std::function<void(const std::string &)> progress = [](const std::string &) {
  };
};

/// What the model of the machine says of an operation: seconds, by what takes
/// them.
struct ModelTime {
  std::vector<std::pair<StringRef, double>> terms;
  double total = 0;
};

/// What was found for an operation, or several of the same key.
struct TunedOperation {
  RecordKey key;
  SearchResult result;
  /// Of the winner; none where the search ended before it had one, or had
  /// compared the default with others.
  std::optional<Record> record;
  /// Of the whole function on a CPU, of the operations on a GPU; nothing where
  /// their sizes are open there.
  ModelTime model;
};

/// Finds the fastest plan of each operation of `module`'s only public function
/// on arguments `specs` (--arg), and tells `found` of each. `session` is for
/// the processor and its threads, or for the GPU, and has no records. Plans
/// whose results differ from the default's by more than their type's bound are
/// passed over.
llvm::Error
tune(const Session &session, ModuleOp module, ArrayRef<std::string> specs,
     const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes,
     const TuneOptions &options,
     function_ref<llvm::Error(const TunedOperation &)> found);

} // namespace mlir::kron

#endif // KRON_DRIVER_TUNER_H
