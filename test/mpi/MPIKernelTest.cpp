//===- MPIKernelTest.cpp - Sharded products over compiled kernels ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MPITest.h"
#include "ReferenceProduct.h"
#include "kernels.h"

#include <complex>
#include <cstring>

using namespace kron;
using namespace kron::test;

namespace {

class ShardedKernelTest : public MPITest {
protected:
  template <typename T>
  void expect(const KronKernel &inner, const KronKernel &outer) {
    ReferenceProduct<T> whole(3, {4, 8, 6}, {4, 8, 6});
    for (Placement placement : {Placement{1, 2}, {2, 1}, {1, 1}, {1, 3}})
      expectProduct(communicator, whole, {&inner, &outer}, placement);
  }

  MPICommunicator communicator{MPI_COMM_WORLD};
};

TEST_F(ShardedKernelTest, F32) {
  expect<float>(kron_kernel_inner_f32, kron_kernel_outer_f32);
}

TEST_F(ShardedKernelTest, F64) {
  expect<double>(kron_kernel_inner_f64, kron_kernel_outer_f64);
}

TEST_F(ShardedKernelTest, F16) {
  expect<_Float16>(kron_kernel_inner_f16, kron_kernel_outer_f16);
}

TEST_F(ShardedKernelTest, C32) {
  expect<std::complex<float>>(kron_kernel_inner_c32, kron_kernel_outer_c32);
}

// Types have to be those of the kernels.
TEST_F(ShardedKernelTest, OtherType) {
  try {
    ShardedProduct(communicator, {KRON_F64, 3, {4, 8, 6}, {4, 8, 6}},
                   {&kron_kernel_inner_f32, &kron_kernel_outer_f32}, {1, 2});
    FAIL() << "expects an exception";
  } catch (const std::invalid_argument &error) {
    EXPECT_STREQ(error.what(),
                 "sharded product: rank 0: KRON_MISMATCH: kernel 'inner_f32', "
                 "argument 0 ('arg0'): expects element type f32, but got "
                 "f64");
  }
}

/// Of a number that 8 bits of mantissa hold.
BFloat16 toBFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return {uint16_t(bits >> 16)};
}

// 0 and 1 alone, so that sums are small integers, which bf16 holds: a matrix of
// ones along mode 1, and permutations along the others.
TEST_F(ShardedKernelTest, BF16) {
  ReferenceProduct<float> whole(2, {4, 8, 6}, {4, 8, 6});
  auto convert = [](const std::vector<float> &values) {
    std::vector<BFloat16> converted;
    for (float value : values)
      converted.push_back(toBFloat16(value));
    return converted;
  };
  std::vector<float> ones(16, 1.0f), reversal(64), rotation(36);
  for (size_t i = 0; i < 8; ++i)
    reversal[i * 8 + 7 - i] = 1;
  for (size_t i = 0; i < 6; ++i)
    rotation[i * 6 + (i + 1) % 6] = 1;
  ShardedProduct plan(communicator, {KRON_BF16, 2, {4, 8, 6}, {4, 8, 6}},
                      {&kron_kernel_inner_bf16, &kron_kernel_outer_bf16},
                      {1, 2});
  auto x =
      convert(whole.getPart(whole.x, whole.xSizes, 1, plan.getInputRange()));
  std::vector<std::vector<BFloat16>> factors = {
      convert(ones), convert(reversal), convert(rotation)};
  const std::vector<int64_t> &sizes = plan.getResultSizes();
  std::vector<BFloat16> y(size_t(multiplySizes(sizes, 0, 4)));
  plan.run<BFloat16>(x.data(),
                     {factors[0].data(), factors[1].data(), factors[2].data()},
                     y.data());
  std::vector<float> expected;
  for (size_t m = 0; m < 2; ++m)
    for (size_t q1 = 0; q1 < 4; ++q1)
      for (int64_t q2 = plan.getResultRange().begin;
           q2 < plan.getResultRange().end; ++q2)
        for (size_t q3 = 0; q3 < 6; ++q3) {
          float sum = 0;
          for (size_t p1 = 0; p1 < 4; ++p1)
            sum +=
                whole.x[((m * 4 + p1) * 8 + size_t(7 - q2)) * 6 + (q3 + 5) % 6];
          expected.push_back(sum);
        }
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i].bits, toBFloat16(expected[i]).bits);
}

} // namespace
