//===- MPITest.h - Tests that run as several ranks --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_MPI_MPITEST_H
#define KRON_TEST_MPI_MPITEST_H

#include "kron/Distributed.hpp"
#include "kron/Distributed/MPI.hpp"

#include "gtest/gtest.h"

namespace kron::test {

/// Of MPI_COMM_WORLD.
int getRank();
int getNumRanks();

/// Fails on all ranks if it fails on one.
class MPITest : public testing::Test {
protected:
  void TearDown() override;
};

} // namespace kron::test

#endif // KRON_TEST_MPI_MPITEST_H
