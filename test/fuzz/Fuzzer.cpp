//===- Fuzzer.cpp - What libFuzzer calls ----------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One program has all targets: `--target=NAME` chooses one. With
// `--make-seeds=FOLDER` its corpus is made from the lit tests that are named
// after it.
//
//===----------------------------------------------------------------------===//

#include "Target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::kron::fuzz;

static std::unique_ptr<Target> target;

/// Runs after which counts are kept again, for processes that crash.
static constexpr uint64_t kRunsPerCount = 64;

static std::string getCountsText() {
  const Counts &counts = target->getCounts();
  return ("runs " + Twine(counts.runs) + ", parsed " + Twine(counts.parsed) +
          ", accepted " + Twine(counts.accepted) + ", completed " +
          Twine(counts.completed) + "\n")
      .str();
}

static void printCounts() {
  llvm::errs() << "kron-fuzz: " << getCountsText();
  keepCounts(getCountsText());
}

[[noreturn]] static void fail(const Twine &message) {
  llvm::errs() << "kron-fuzz: error: " << message << "\n";
  std::exit(2);
}

static void makeSeeds(StringRef folder, ArrayRef<char *> files) {
  std::map<std::string, std::string> seeds;
  for (StringRef file : files) {
    auto content = llvm::MemoryBuffer::getFile(file);
    if (!content)
      fail("cannot read '" + file + "': " + content.getError().message());
    target->addSeeds(llvm::sys::path::stem(file), (*content)->getBuffer(),
                     seeds);
  }
  for (const auto &[name, seed] : seeds) {
    std::error_code error;
    llvm::raw_fd_ostream stream((folder + "/" + name).str(), error);
    if (error)
      fail("cannot write into '" + folder + "': " + error.message());
    stream << seed;
  }
}

/// LLVM's libraries are not instrumented: what they allocate from arenas that
/// kron's code has poisoned would be reported, and what they keep to the end.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  StringRef seeds;
  std::vector<char *> files;
  for (char *argument : llvm::drop_begin(ArrayRef(*argv, *argc))) {
    StringRef text = argument;
    if (text.consume_front("--target=")) {
      auto found = getTargets().find(text);
      if (found != getTargets().end())
        target = found->second();
    } else if (text.consume_front("--make-seeds=")) {
      seeds = text;
    } else if (!text.starts_with("-")) {
      files.push_back(argument);
    }
  }
  if (!target) {
    std::string names;
    for (const auto &entry : getTargets())
      names += (names.empty() ? "" : ", ") + entry.first.str();
    fail("expects --target=NAME with one of " + names);
  }
  if (!seeds.empty()) {
    makeSeeds(seeds, files);
    std::exit(0);
  }
  std::atexit(printCounts);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef input(reinterpret_cast<const char *>(data), size);
  keepInput(input);
  if (target->getCounts().runs % kRunsPerCount == 0)
    keepCounts(getCountsText());
  // libFuzzer keeps nothing that is -1.
  return target->run(input) ? 0 : -1;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  StringRef input(reinterpret_cast<const char *>(data), size);
  Random random(seed);
  std::string result = target->mutate(input, random);
  if (result.size() > maxSize)
    return size;
  llvm::copy(result, data);
  return result.size();
}
