//===- HostArrayTest.cpp - Arrays of the command-line tools -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/HostArray.h"
#include "gtest/gtest.h"
#include <algorithm>
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
