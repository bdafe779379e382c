//===- ChildProcess.h - Tests of what fork() leaves -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_CHILDPROCESS_H
#define KRON_TEST_UNIT_CHILDPROCESS_H

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kron::test {

/// The exit status of a child process that returns what `work` does.
template <typename Work> int inChild(Work work) {
  pid_t child = fork();
  if (child == 0)
    _exit(work());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

} // namespace kron::test

#endif // KRON_TEST_UNIT_CHILDPROCESS_H
