//===- Library.cpp - Libraries loaded at run time ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include "Fork.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

static void *open(std::initializer_list<const char *> names) {
  for (int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW})
    for (const char *name : names)
      if (void *library = dlopen(name, flags | RTLD_LOCAL))
        return library;
  return nullptr;
}

void *kron::detail::loadLibrary(const char *what, const char *variable,
                                std::initializer_list<const char *> names,
                                char *problem, size_t problemBytes) {
  const char *wanted = std::getenv(variable);
  if (wanted && !strcmp(wanted, "never")) {
    snprintf(problem, problemBytes, "%s is 'never'", variable);
    return nullptr;
  }
  LoadGuard guard;
  void *library =
      wanted && *wanted ? dlopen(wanted, RTLD_NOW | RTLD_LOCAL) : open(names);
  if (!library)
    snprintf(problem, problemBytes, "there is no %s: %s", what, dlerror());
  return library;
}
