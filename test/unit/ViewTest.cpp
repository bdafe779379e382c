//===- ViewTest.cpp - The C++ convenience of Runtime.hpp ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FakeKernel.h"
#include "kron/Runtime/Runtime.hpp"

using namespace kron::test;
using kron::View;

extern "C" int kronTestFromC(void);

namespace {

static_assert(std::is_convertible_v<View<float>, View<const float>>);
static_assert(!std::is_convertible_v<View<const float>, View<float>>,
              "what may only be read may not be written");
static_assert(!std::is_convertible_v<View<double>, View<const float>>);
static_assert(std::is_convertible_v<View<float> &, KronArray>);
static_assert(!std::is_convertible_v<View<float>, KronArray>,
              "the array would point into a view that is gone");

TEST(ViewTest, RowMajor) {
  float data[6];
  View<float> view(data, {2, 3});
  KronArray array = view;
  EXPECT_EQ(array.data, data);
  EXPECT_EQ(array.rank, 2);
  EXPECT_EQ(array.type, KRON_F32);
  EXPECT_EQ(array.sizes[0], 2);
  EXPECT_EQ(array.sizes[1], 3);
  EXPECT_EQ(array.strides, nullptr);
}

TEST(ViewTest, StridedAndConst) {
  const double data[10] = {};
  View<const double> view(data, {2, 3}, {5, 1});
  KronArray array = view;
  EXPECT_EQ(array.type, KRON_F64);
  ASSERT_NE(array.strides, nullptr);
  EXPECT_EQ(array.strides[0], 5);
  EXPECT_EQ(array.strides[1], 1);
}

TEST(ViewTest, Scalar) {
  const std::complex<double> alpha(1, 2);
  View<const std::complex<double>> view(alpha);
  KronArray array = view;
  EXPECT_EQ(array.data, &alpha);
  EXPECT_EQ(array.rank, 0);
  EXPECT_EQ(array.type, KRON_C64);
}

TEST(ViewTest, Types) {
  EXPECT_EQ(kron::TypeOf<kron::Half>::value, KRON_F16);
  EXPECT_EQ(kron::TypeOf<kron::BFloat16>::value, KRON_BF16);
  EXPECT_EQ(kron::TypeOf<kron::Float8E4M3FN>::value, KRON_F8E4M3FN);
  EXPECT_EQ(kron::TypeOf<kron::Float8E5M2>::value, KRON_F8E5M2);
  EXPECT_EQ(kron::TypeOf<int8_t>::value, KRON_I8);
  EXPECT_EQ(kron::TypeOf<int32_t>::value, KRON_I32);
  EXPECT_EQ(kron::TypeOf<int64_t>::value, KRON_I64);
  EXPECT_EQ(kron::TypeOf<std::complex<float>>::value, KRON_C32);
}

TEST(ViewTest, BadShapesAreRefused) {
  FakeKernel kernel;
  kernel.arg("x", KRON_READ, {-1, -2}).version(emptyEntry);
  float data[4];
  View<float> view(data, {2, 2}, {1});
  KronArray array = view;
  EXPECT_FAILURE(kronLaunch(kernel.get(), &array, 1, nullptr), KRON_MISMATCH,
                 "kernel 'f', argument 0 ('x'): expects rank 2, but got -1");
  std::vector<int64_t> sizes(KRON_MAX_RANK + 1, 1);
  View<float> large(data, sizes.size(), sizes.data());
  EXPECT_EQ(large.rank, -1);
}

TEST(CheckTest, Throws) {
  EXPECT_NO_THROW(kron::check(KRON_SUCCESS));
  try {
    kron::check(kronSetNumThreads(0));
    FAIL() << "expected an exception";
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(), "KRON_INVALID_ARGUMENT: expects the number of "
                               "threads to be at least 1, but got 0");
  }
}

TEST(CInterfaceTest, LaunchFromC) { EXPECT_EQ(kronTestFromC(), 0); }

} // namespace
