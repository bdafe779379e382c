//===- LockedFile.cpp - Files of one process at a time --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/LockedFile.h"
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace mlir::kron;

LockedFile::LockedFile(const std::string &path, double seconds)
    : descriptor(
          open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  using Clock = std::chrono::steady_clock;
  bool waits = seconds == std::numeric_limits<double>::infinity();
  Clock::time_point start = Clock::now();
  auto isOver = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count() >=
           seconds;
  };
  while (descriptor >= 0 &&
         flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK && !isOver()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } else if (errno != EINTR) {
      close(descriptor);
      descriptor = -1;
    }
  }
}

LockedFile::~LockedFile() {
  if (descriptor >= 0)
    close(descriptor);
}
