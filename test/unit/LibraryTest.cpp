//===- LibraryTest.cpp - Libraries that are not there ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FakeKernel.h"
#include "kron/Distributed.hpp"

#include <cstdlib>

namespace {

// Every call says what was looked for.
TEST(LibraryTest, NoNccl) {
  setenv("KRON_NCCL", "/nowhere/libnccl.so", 1);
  const char *message =
      "expects NCCL, but there is no libnccl.so.2: /nowhere/libnccl.so: cannot "
      "open shared object file: No such file or directory";
  int32_t version = 0;
  EXPECT_FAILURE(kronGetNcclVersion(&version), KRON_UNSUPPORTED, message);
  kron::NCCLId id = {};
  EXPECT_FAILURE(kronNcclGetId(id.data()), KRON_UNSUPPORTED, message);
  KronNccl *comm = nullptr;
  EXPECT_FAILURE(kronNcclCreate(id.data(), 0, 1, 0, 1000, &comm),
                 KRON_UNSUPPORTED, message);
}

} // namespace
