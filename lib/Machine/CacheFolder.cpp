//===- CacheFolder.cpp - The folder of the user's cache ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/CacheFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::kron;
using llvm::StringRef;

static StringRef getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool mlir::kron::isCacheEnabled() { return getVariable("KRON_CACHE") != "0"; }

std::string mlir::kron::getCacheFolder() {
  llvm::SmallString<128> path(getVariable("KRON_CACHE_DIR"));
  if (path.empty()) {
    path = getVariable("XDG_CACHE_HOME");
    if (path.empty()) {
      // An empty HOME is none: a folder of the current one is nobody's.
      if (!llvm::sys::path::home_directory(path) || path.empty())
        return "";
      llvm::sys::path::append(path, ".cache");
    }
    llvm::sys::path::append(path, "kron");
  }
  // A folder that is gone has no absolute path.
  if (llvm::sys::fs::make_absolute(path))
    return "";
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

std::string mlir::kron::getCacheProblem() {
  std::string folder = getCacheFolder();
  struct stat status;
  if (!isCacheEnabled() || folder.empty() || stat(folder.c_str(), &status) != 0)
    return "";
  auto refuse = [&](StringRef reason) {
    return "kron does not use the cache " + folder + ": " + reason.str();
  };
  if (!S_ISDIR(status.st_mode))
    return refuse("it is no folder");
  if (status.st_uid != geteuid())
    return refuse("another user owns it");
  bool isDefault = getVariable("KRON_CACHE_DIR").empty();
  bool isMended = isDefault && (status.st_mode & 0077) != 0 &&
                  chmod(folder.c_str(), 0700) == 0;
  if ((status.st_mode & 0022) != 0 && !isMended)
    return refuse("others can write there");
  return "";
}
