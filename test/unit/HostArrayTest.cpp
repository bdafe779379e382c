//===- HostArrayTest.cpp - Arrays of the command-line tools -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/HostArray.h"
#include "kron/Driver/Calls.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

using namespace mlir::kron;

/// The flags of the mapping that has `address`, from /proc/self/smaps.
static std::string getMappingFlags(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  auto wanted = reinterpret_cast<uintptr_t>(address);
  bool isWanted = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2)
      isWanted = begin <= wanted && wanted < end;
    else if (isWanted && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return "";
}

TEST(HostArrayTest, LargeArraysLieOnLargePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "the system has no large pages";
  constexpr int64_t count = 2 << 20;
  auto array = HostArray::create(KRON_F32, {2, count / 2});
  ASSERT_TRUE(bool(array));
  const char *data = array->getData();
  // All but its ends, which share pages with others.
  EXPECT_NE(getMappingFlags(data + 4 * count / 2).find(" hg "),
            std::string::npos);
  auto *values = reinterpret_cast<const float *>(data);
  EXPECT_TRUE(std::all_of(values, values + count,
                          [](float value) { return value == 0; }));
}

/// `count` random elements.
static HostArray draw(KronType type, int64_t count) {
  HostArray array = llvm::cantFail(HostArray::create(type, {count}));
  fillRandom(array, /*seed=*/7);
  return array;
}

TEST(HostArrayTest, DifferencesOfManyBlocksAreThoseOfOneSum) {
  constexpr int64_t count = 300'001;
  for (KronType type : {KRON_F16, KRON_BF16, KRON_F32, KRON_F64, KRON_C32}) {
    HostArray reference = draw(type, count), actual = draw(type, count);
    EXPECT_EQ(compare(actual, reference).relativeL2, 0);
    // The first, one in the middle and the last one are off by a quarter.
    long double error = 0, norm = 0;
    for (int64_t i = 0; i < count; ++i)
      norm += std::norm(reference.load(i));
    for (int64_t i : {int64_t(0), count / 2, count - 1}) {
      actual.store(i, reference.load(i) + HostArray::Number(.25L));
      error += std::norm(actual.load(i) - reference.load(i));
    }
    Difference difference = compare(actual, reference);
    EXPECT_NEAR(difference.relativeL2, double(std::sqrt(error / norm)), 1e-12);
    EXPECT_NEAR(difference.maxAbs, .25, .01);
    EXPECT_EQ(difference.isWithinBound,
              difference.relativeL2 <= 16 * getEpsilon(type));
  }
}

TEST(HostArrayTest, ANaNOnOneSideIsADifference) {
  constexpr int64_t count = 200'000;
  HostArray reference = draw(KRON_F32, count), actual = draw(KRON_F32, count);
  actual.store(count - 1, std::nanl(""));
  EXPECT_FALSE(compare(actual, reference).isWithinBound);
  reference.store(count - 1, std::nanl("1"));
  EXPECT_TRUE(compare(actual, reference).isWithinBound);
}

TEST(HostArrayTest, EveryNumberOfASmallTypeIsLoadedAsItIsStored) {
  for (KronType type : {KRON_F16, KRON_BF16, KRON_F8E4M3FN, KRON_F8E5M2}) {
    int64_t count = int64_t(1) << 8 * kronGetTypeSize(type);
    HostArray array = llvm::cantFail(HostArray::create(type, {count})),
              again = llvm::cantFail(HostArray::create(type, {count}));
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(array.getData() + i * kronGetTypeSize(type), &i,
                  kronGetTypeSize(type));
    EXPECT_EQ(array.load(0).real(), 0);
    for (int64_t i = 0; i < count; ++i)
      again.store(i, array.load(i));
    EXPECT_TRUE(compare(again, array).isWithinBound);
    for (int64_t i = 0; i < count; ++i)
      if (!std::isnan(array.load(i).real()))
        EXPECT_EQ(std::memcmp(array.getData() + i * kronGetTypeSize(type),
                              again.getData() + i * kronGetTypeSize(type),
                              kronGetTypeSize(type)),
                  0)
            << "number " << i;
  }
}
