//===- Support.cpp - What the targets share -------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Target.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::kron::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

const std::map<StringRef, TargetFactory> &kron::fuzz::getTargets() {
  static const std::map<StringRef, TargetFactory> targets = {
      {"bytecode", createBytecodeTarget},
      {"manifest", createManifestTarget},
      {"npy", createNpyTarget},
      {"record", createRecordTarget},
      {"text", createTextTarget}};
  return targets;
}

void kron::fuzz::reportFault(const Twine &what) {
  llvm::errs() << "kron-fuzz: fault: " << what << "\n";
  std::abort();
}

/// A file $KRON_FUZZ_STATE.`extension`, in whose name %p stands for the number
/// of the process; -1 if that is not set.
static int openState(StringRef extension) {
  const char *variable = std::getenv("KRON_FUZZ_STATE");
  if (!variable)
    return -1;
  std::string path = variable;
  if (size_t where = path.find("%p"); where != std::string::npos)
    path.replace(where, 2, std::to_string(getpid()));
  path += ("." + extension).str();
  return open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
}

static void rewrite(int file, StringRef content) {
  if (file >= 0 && (pwrite(file, content.data(), content.size(), 0) < 0 ||
                    ftruncate(file, content.size()) < 0))
    std::abort();
}

void kron::fuzz::keepInput(StringRef input) {
  static const int file = openState("input");
  rewrite(file, input);
}

void kron::fuzz::keepCounts(StringRef counts) {
  static const int file = openState("counts");
  rewrite(file, counts);
}

std::string kron::fuzz::mutateBytes(StringRef input, Random &random) {
  std::string bytes(input.size() + 64, '\0');
  llvm::copy(input, bytes.begin());
  size_t size = input.size();
  for (size_t count = 1 + random.below(4); count > 0; --count)
    size = LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()), size,
                            bytes.size());
  bytes.resize(size);
  return bytes;
}

MemoryFile::MemoryFile()
    : descriptor(memfd_create("kron-fuzz", 0)),
      path("/proc/self/fd/" + std::to_string(descriptor)) {}

MemoryFile::~MemoryFile() { close(descriptor); }

void MemoryFile::write(StringRef content) { rewrite(descriptor, content); }
