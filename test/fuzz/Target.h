//===- Target.h - What the fuzzers run --------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A target takes the bytes of one input apart and runs what kron does with
// such input. What it must not do ends the process: a crash, or `reportFault`.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_TARGET_H
#define KRON_FUZZ_TARGET_H

#include "Random.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir::kron::fuzz {

/// How far inputs got.
struct Counts {
  /// Inputs, those that parse, those that also verify (or are otherwise
  /// accepted by the reader), and those that also ran to the end without an
  /// error.
  uint64_t runs = 0, parsed = 0, accepted = 0, completed = 0;
};

class Target {
public:
  virtual ~Target() = default;

  /// Runs `input`. False if it is not worth being kept in a corpus: its reader
  /// refused it.
  virtual bool run(StringRef input) = 0;

  /// Another input, most of the time one that the reader accepts.
  virtual std::string mutate(StringRef input, Random &random) = 0;

  /// Adds the inputs that one of kron's lit tests contains, by their names.
  virtual void addSeeds(StringRef file, StringRef content,
                        std::map<std::string, std::string> &seeds) = 0;

  const Counts &getCounts() const { return counts; }

protected:
  Counts counts;
};

using TargetFactory = std::unique_ptr<Target> (*)();

/// The targets by their names.
const std::map<StringRef, TargetFactory> &getTargets();

std::unique_ptr<Target> createTextTarget();
std::unique_ptr<Target> createBytecodeTarget();
std::unique_ptr<Target> createManifestTarget();
std::unique_ptr<Target> createNpyTarget();
std::unique_ptr<Target> createRecordTarget();

/// Ends the process: something was not as it has to be.
[[noreturn]] void reportFault(const Twine &what);

/// Keeps `input`, which is about to be used, where it can be found after a
/// crash: in the file $KRON_FUZZ_STATE.input, if that is set.
void keepInput(StringRef input);

/// The same for what is known of all inputs, in $KRON_FUZZ_STATE.counts.
void keepCounts(StringRef counts);

/// What libFuzzer or the driver that stands in for it does with bytes.
std::string mutateBytes(StringRef input, Random &random);

/// A file in memory that can be opened by its path.
class MemoryFile {
public:
  MemoryFile();
  ~MemoryFile();
  /// Replaces the contents.
  void write(StringRef content);
  StringRef getPath() const { return path; }

private:
  int descriptor;
  std::string path;
};

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_TARGET_H
