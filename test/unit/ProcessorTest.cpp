//===- ProcessorTest.cpp - Descriptions of processors -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/Processor.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace mlir::kron;

static Processor get(const char *cpu, int64_t vectorBits,
                     std::vector<llvm::StringRef> features = {}) {
  Processor processor{cpu, "", vectorBits, KRON_ISA_HOST};
  setKnownCosts(processor, [&](llvm::StringRef name) {
    return llvm::is_contained(features, name);
  });
  return processor;
}

TEST(Processor, CachesOfKnownNames) {
  EXPECT_EQ(get("znver3", 256).l2Bytes, 512 << 10);
  EXPECT_EQ(get("icelake-server", 512).l1Bytes, 48 << 10);
  EXPECT_EQ(get("icelake-server", 512).l2Bytes, 1280 << 10);
  EXPECT_EQ(get("graniterapids", 512).l2Bytes, 2 << 20);
  EXPECT_EQ(get("neoverse-v2", 128).l1Bytes, 64 << 10);
}

TEST(Processor, Rates) {
  EXPECT_EQ(get("znver5", 512).rates.wideFmas, 2);
  EXPECT_EQ(get("znver4", 512).rates.wideFmas, 1);
  EXPECT_EQ(get("znver4", 512).rates.vectorFmas, 2);
  EXPECT_EQ(get("neoverse-v2", 128).rates.vectorFmas, 4);
  EXPECT_EQ(get("cascadelake", 512).rates.gigahertz, 2.8);
  EXPECT_EQ(get("newlake", 512, {"avx512vl", "avx512fp16"}).rates.copyGigabytes,
            20);
}

TEST(Processor, NonTemporalStoresWantWideVectors) {
  EXPECT_EQ(get("znver5", 512).streamBytes, 48 << 20);
  EXPECT_EQ(get("znver5", 512).streamColumnsBytes, 16 << 20);
  EXPECT_EQ(get("sapphirerapids", 512).streamColumnsBytes, 8 << 20);
  EXPECT_EQ(get("cascadelake", 512).streamBytes, 0);
  EXPECT_EQ(get("cascadelake", 512).streamColumnsBytes, 24 << 20);
  EXPECT_EQ(get("x86-64-v4", 512).streamColumnsBytes, 24 << 20);
  EXPECT_EQ(get("znver4", 512).streamBytes, 24 << 20);
  EXPECT_EQ(get("znver3", 256).streamColumnsBytes, 8 << 20);
  EXPECT_EQ(get("x86-64-v3", 256).streamColumnsBytes, 0);
  // A virtual machine without AVX-512, and one without AVX2.
  EXPECT_EQ(get("znver5", 256).streamBytes, 48 << 20);
  EXPECT_EQ(get("znver5", 128).streamBytes, 0);
}

TEST(Processor, SomeSplitWideVectors) {
  EXPECT_EQ(get("znver1", 256).wholeBits, 128);
  EXPECT_EQ(get("znver4", 512).wholeBits, 256);
  EXPECT_EQ(get("znver5", 512).wholeBits, 512);
  EXPECT_EQ(get("haswell", 256).wholeBits, 512);
}

TEST(Processor, PairProductsWantTheInstructionAndItsRate) {
  EXPECT_TRUE(get("znver5", 512, {"avx512bf16"}).hasPairProducts);
  EXPECT_FALSE(get("znver5", 512).hasPairProducts);
  EXPECT_FALSE(get("sapphirerapids", 512, {"avx512bf16"}).hasPairProducts);
}

TEST(Processor, UnknownNamesAreLikeTheirFeatures) {
  EXPECT_EQ(get("newlake", 512, {"avx512vl", "avx512fp16"}).l2Bytes, 2 << 20);
  Processor zen6 =
      get("znver6", 512, {"avx512vl", "sse4a", "avxvnni", "avx512bf16"});
  EXPECT_EQ(zen6.columnBytes, 256);
  EXPECT_TRUE(zen6.hasPairProducts);
  EXPECT_TRUE(zen6.hasFastShuffles);
  EXPECT_EQ(get("other", 512, {"avx512vl"}).l2Bytes, 1 << 20);
  EXPECT_EQ(get("other", 256, {"avx2"}).l2Bytes, 512 << 10);
  EXPECT_EQ(get("other", 128, {"sse4.2"}).l2Bytes, 256 << 10);
  EXPECT_EQ(get("other", 128).l1Bytes, 32 << 10);
}
