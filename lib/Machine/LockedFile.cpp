//===- LockedFile.cpp - Files that one process has at a time ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/LockedFile.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir::kron;

LockedFile::LockedFile(const std::string &path)
    : descriptor(
          open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  while (descriptor >= 0 && flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR) {
      close(descriptor);
      descriptor = -1;
    }
}

LockedFile::~LockedFile() {
  if (descriptor >= 0)
    close(descriptor);
}
