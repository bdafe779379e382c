//===- GPUSplitsTest.cpp - Splits of products by GPU ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPUSplits.h"
#include "gtest/gtest.h"

using namespace mlir::kron;

static GPUSplits get(llvm::StringRef name) {
  return getGPUSplits(llvm::cantFail(parseGPUMachine(name)));
}

TEST(GPUSplits, TheH200HasWhatWasMeasured) {
  for (llvm::StringRef name : {"h200", "sm_90a"}) {
    GPUSplits splits = get(name), measured;
    EXPECT_EQ(splits.weights.keptBytes, measured.weights.keptBytes);
    EXPECT_EQ(splits.weights.launchBytes, measured.weights.launchBytes);
    EXPECT_EQ(splits.weights.launchBytes16Bit,
              measured.weights.launchBytes16Bit);
    EXPECT_EQ(splits.weights.rowsOfSlice, measured.weights.rowsOfSlice);
    EXPECT_EQ(splits.products.fewestRows, measured.products.fewestRows);
    EXPECT_EQ(splits.rows.results16Bit, measured.rows.results16Bit);
    EXPECT_EQ(splits.rows.transposedF32, measured.rows.transposedF32);
    EXPECT_EQ(splits.rows.multiplyAdds16Bit, measured.rows.multiplyAdds16Bit);
    EXPECT_EQ(splits.rows.multiplyAddsF32, measured.rows.multiplyAddsF32);
    EXPECT_EQ(splits.rows.directMultiplyAdds, measured.rows.directMultiplyAdds);
    EXPECT_EQ(splits.rows.launchMicroseconds, measured.rows.launchMicroseconds);
    EXPECT_EQ(splits.batch.busyThreads, measured.batch.busyThreads);
    EXPECT_EQ(splits.batch.biasBusyThreads, measured.batch.biasBusyThreads);
  }
}

TEST(GPUSplits, OthersFollowFromSMs) {
  GPUSplits half = get("h200:sms=66"), measured;
  EXPECT_EQ(half.weights.rowsOfSlice, measured.weights.rowsOfSlice / 2);
  EXPECT_EQ(half.products.fewestRows, measured.products.fewestRows / 2);
  EXPECT_EQ(half.batch.busyThreads, measured.batch.busyThreads / 2);
  EXPECT_EQ(half.batch.biasBusyThreads, measured.batch.biasBusyThreads / 2);
  EXPECT_EQ(half.weights.launchBytes, measured.weights.launchBytes);
  EXPECT_EQ(half.rows.inputsF32, measured.rows.inputsF32);
  // Blocks of rows are never empty.
  EXPECT_EQ(get("h200:sms=1").products.fewestRows, measured.products.rowUnit);
}

TEST(GPUSplits, OthersFollowFromMemory) {
  // Half of what a copy reaches on the H200.
  GPUSplits half = get("h200:copy=2065"), measured;
  EXPECT_EQ(half.weights.launchBytes, measured.weights.launchBytes / 2);
  EXPECT_EQ(half.weights.launchBytes16Bit,
            measured.weights.launchBytes16Bit / 2);
  EXPECT_DOUBLE_EQ(half.rows.inputsF32, measured.rows.inputsF32 / 2);
  EXPECT_DOUBLE_EQ(half.rows.directF32, measured.rows.directF32 / 2);
  EXPECT_DOUBLE_EQ(half.rows.transposed16Bit,
                   measured.rows.transposed16Bit / 2);
  EXPECT_EQ(half.batch.busyThreads, measured.batch.busyThreads);
  // An SM of the desktop line keeps less than copies were measured with.
  EXPECT_EQ(get("l4").weights.keptBytes, 100 * 1024);
}

TEST(GPUSplits, OthersFollowFromLaunches) {
  GPUSplits slow = get("h200:launch=10"), measured;
  double factor =
      slow.rows.launchMicroseconds / measured.rows.launchMicroseconds;
  EXPECT_DOUBLE_EQ(factor, 2);
  EXPECT_EQ(slow.weights.launchBytes, 2 * measured.weights.launchBytes);
}
