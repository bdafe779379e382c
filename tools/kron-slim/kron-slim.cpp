//===- kron-slim.cpp - The tools within libkron_compiler --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// For machines without LLVM: the tools share what libkron_compiler holds of
// LLVM's static archives. The name that the program is called by (a link) tells
// which one runs, or its first argument.
//
//===----------------------------------------------------------------------===//

#include "kron/Runtime/Runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/random.h>

// The tools' main functions, renamed by kron_add_tool(SLIM).
#define KRON_TOOL(NAME, MAIN) int MAIN(int argc, char **argv);
#include "tools.def"
#undef KRON_TOOL

namespace {
struct Tool {
  llvm::StringLiteral name;
  int (*main)(int argc, char **argv);
};
} // namespace

static constexpr Tool tools[] = {
#define KRON_TOOL(NAME, MAIN) {NAME, MAIN},
#include "tools.def"
#undef KRON_TOOL
};

/// LLVM calls the C library's, which is newer than many machines' (glibc 2.36).
extern "C" uint32_t arc4random(void) {
  uint32_t number = 0;
  (void)getrandom(&number, sizeof(number), 0);
  return number;
}

extern "C" KRON_EXPORT int kronSlimMain(int argc, char **argv) {
  for (int arg = 0; arg < std::min(argc, 2); ++arg)
    for (const Tool &tool : tools)
      if (llvm::sys::path::filename(argv[arg]) == tool.name)
        return tool.main(argc - arg, argv + arg);
  llvm::errs() << "kron-slim: error: expects the name of a tool (";
  llvm::interleaveComma(tools, llvm::errs(),
                        [](const Tool &tool) { llvm::errs() << tool.name; });
  llvm::errs() << ")\n";
  return 1;
}
