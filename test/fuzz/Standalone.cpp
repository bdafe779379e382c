//===- Standalone.cpp - A driver in libFuzzer's place ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Runs the same targets and mutators where kron is not built for libFuzzer, as
// in the tests: all inputs of a corpus, then mutations of them, the same ones
// for the same seed. Understands the options of libFuzzer that the tests use.
//
// usage: kron-fuzz --target=NAME [-runs=N] [-max_total_time=SECONDS] [-seed=N]
//                  FOLDER|FILE...
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <set>

using namespace mlir;
using namespace mlir::kron::fuzz;

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed);

/// Mutations of mutations, before the next one starts from the corpus.
static constexpr unsigned kDepth = 4;
static constexpr size_t kMaxSize = 1 << 14;

static Random byteRandom(0);

/// Changes single bytes or sequences of them.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  size_t where = size ? byteRandom.below(size) : 0;
  size_t count = std::min<size_t>(1 + byteRandom.below(8), size - where);
  switch (byteRandom.below(4)) {
  case 0: // Remove.
    std::copy(data + where + count, data + size, data + where);
    return size - count;
  case 1: // Repeat.
    count = std::min(count, maxSize - size);
    std::copy_backward(data + where, data + size, data + size + count);
    return size + count;
  case 2: // One bit.
    if (size)
      data[where] ^= 1 << byteRandom.below(8);
    return size;
  default:
    for (size_t i = 0; i < count; ++i)
      data[where + i] = static_cast<uint8_t>(byteRandom.next());
    return size;
  }
}

static std::string readFile(StringRef path) {
  auto content = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  if (!content) {
    llvm::errs() << "kron-fuzz: error: cannot read '" << path
                 << "': " << content.getError().message() << "\n";
    std::exit(2);
  }
  return (*content)->getBuffer().str();
}

/// The contents of `path`, or of the files in it by their names.
static void readInputs(StringRef path, std::vector<std::string> &inputs) {
  if (!llvm::sys::fs::is_directory(path)) {
    inputs.push_back(readFile(path));
    return;
  }
  std::set<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator i(path, error), end;
       i != end && !error; i.increment(error))
    names.insert(i->path());
  for (const std::string &name : names)
    inputs.push_back(readFile(name));
}

static void runInput(StringRef input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()),
                         input.size());
}

int main(int argc, char **argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  uint64_t runs = UINT64_MAX, seconds = 0, seed = 1;
  std::vector<std::string> inputs;
  bool onlyFiles = true;
  for (StringRef argument : llvm::drop_begin(ArrayRef(argv, argc))) {
    if (argument.consume_front("-runs="))
      argument.getAsInteger(10, runs);
    else if (argument.consume_front("-max_total_time="))
      argument.getAsInteger(10, seconds);
    else if (argument.consume_front("-seed="))
      argument.getAsInteger(10, seed);
    else if (!argument.starts_with("-")) {
      onlyFiles &= !llvm::sys::fs::is_directory(argument);
      readInputs(argument, inputs);
    }
  }
  auto start = std::chrono::steady_clock::now();
  auto isOver = [&] {
    return seconds && std::chrono::steady_clock::now() - start >
                          std::chrono::seconds(seconds);
  };
  // All of the corpus, whatever the time.
  for (const std::string &input : inputs)
    runInput(input);
  if (onlyFiles || inputs.empty())
    return 0;
  Random random(seed);
  byteRandom = Random(seed);
  std::vector<uint8_t> bytes(kMaxSize);
  for (uint64_t run = inputs.size(); run < runs && !isOver();) {
    const std::string &input = random.pick(inputs);
    if (input.size() > kMaxSize) {
      ++run;
      continue;
    }
    llvm::copy(input, bytes.begin());
    size_t size = input.size();
    for (unsigned i = 0; i < kDepth && run < runs && !isOver(); ++i, ++run) {
      size =
          LLVMFuzzerCustomMutator(bytes.data(), size, kMaxSize, random.next());
      runInput(StringRef(reinterpret_cast<const char *>(bytes.data()), size));
    }
  }
  return 0;
}
