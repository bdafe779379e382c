//===- MPITestMain.cpp - Tests that run as several ranks ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every rank runs every test, and a test that fails on one rank fails on all,
// so that the report of rank 0 says what happened. The other ranks print only
// what has failed.
//
//===----------------------------------------------------------------------===//

#include "MPITest.h"

#include <string>

using namespace kron::test;

int kron::test::getRank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int kron::test::getNumRanks() {
  int numRanks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &numRanks);
  return numRanks;
}

void MPITest::TearDown() {
  int mine = HasFailure(), sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, 0) << "ranks on which the test has failed";
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  if (getRank() != 0) {
    // The flag for a report has been read: all ranks would write one file.
    testing::TestEventListeners &listeners =
        testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_xml_generator());
    testing::GTEST_FLAG(brief) = true;
  }
  int status = RUN_ALL_TESTS();
  MPI_Finalize();
  return status;
}
