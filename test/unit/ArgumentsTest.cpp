//===- ArgumentsTest.cpp - Checks of a launch's arguments -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every check has a case that fails by it alone, next to the closest one that
// passes.
//
//===----------------------------------------------------------------------===//

#include "FakeKernel.h"

using namespace kron::test;

namespace {

int numRuns = 0;
void countRun(const KronArray *) { ++numRuns; }

/// Y[m, n] = X[m, n] * factor0[n], n < 8, as far as the manifest goes.
class ArgumentsTest : public testing::Test {
protected:
  void SetUp() override {
    kernel.arg("x", KRON_READ, {-1, 8}, /*contiguity=*/1)
        .arg("factor0", KRON_READ, {8}, /*contiguity=*/2)
        .arg("y", KRON_WRITE, {-1, 8}, /*contiguity=*/1)
        .version(countRun);
    numRuns = 0;
  }

  KronStatus run() { return launch(kernel, {x, factor, y}); }

  /// Memory for three arrays that do not overlap.
  alignas(64) float memory[512] = {};
  FakeKernel kernel;
  FakeArray x{memory, {4, 8}};
  FakeArray factor{memory + 128, {8}};
  FakeArray y{memory + 256, {4, 8}};
};

TEST_F(ArgumentsTest, Accepted) {
  EXPECT_SUCCESS(run());
  EXPECT_EQ(numRuns, 1);
}

TEST_F(ArgumentsTest, NothingRunsOnError) {
  factor.sizes = {7};
  EXPECT_EQ(run(), KRON_MISMATCH);
  EXPECT_EQ(numRuns, 0);
}

TEST_F(ArgumentsTest, Kernel) {
  EXPECT_FAILURE(kronLaunch(nullptr, nullptr, 0, nullptr),
                 KRON_INVALID_ARGUMENT, "expects a kernel, but got NULL");
  kernel.kernel.apiVersion = 77;
  EXPECT_FAILURE(
      run(), KRON_VERSION_MISMATCH,
      "expects a kernel built for version 4 of the interface, but got "
      "one for version 77");
}

TEST_F(ArgumentsTest, Count) {
  EXPECT_FAILURE(launch(kernel, {x, factor}), KRON_MISMATCH,
                 "kernel 'f': expects 3 arguments, but got 2");
  EXPECT_FAILURE(kronLaunch(kernel.get(), nullptr, 3, nullptr),
                 KRON_INVALID_ARGUMENT,
                 "kernel 'f': expects 3 arguments, but got NULL");
  FakeKernel noArgs;
  noArgs.version(countRun);
  EXPECT_SUCCESS(kronLaunch(noArgs.get(), nullptr, 0, nullptr));
}

TEST_F(ArgumentsTest, Type) {
  factor.type = KRON_F64;
  EXPECT_FAILURE(
      run(), KRON_MISMATCH,
      "kernel 'f', argument 1 ('factor0'): expects element type f32, "
      "but got f64");
  factor.type = static_cast<KronType>(13);
  EXPECT_FAILURE(
      run(), KRON_MISMATCH,
      "kernel 'f', argument 1 ('factor0'): expects element type f32, "
      "but got unknown type 13");
}

TEST_F(ArgumentsTest, Rank) {
  factor.sizes = {8, 1};
  EXPECT_FAILURE(
      run(), KRON_MISMATCH,
      "kernel 'f', argument 1 ('factor0'): expects rank 1, but got 2");
}

TEST_F(ArgumentsTest, NullSizes) {
  KronArray args[] = {x.get(), factor.get(), y.get()};
  args[1].sizes = nullptr;
  EXPECT_FAILURE(
      kronLaunch(kernel.get(), args, 3, nullptr), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 1 ('factor0'): expects sizes, but got NULL");
}

TEST_F(ArgumentsTest, NegativeSize) {
  x.sizes = {-4, 8};
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 0 ('x'): expects axis 0 to have a size of "
      "at least 0, but got -4");
}

TEST_F(ArgumentsTest, StaticSize) {
  factor.sizes = {7};
  EXPECT_FAILURE(
      run(), KRON_MISMATCH,
      "kernel 'f', argument 1 ('factor0'): expects axis 0 to have size "
      "8, but got 7");
}

TEST_F(ArgumentsTest, SymbolAcrossArguments) {
  y.sizes = {5, 8};
  EXPECT_FAILURE(
      run(), KRON_MISMATCH,
      "kernel 'f', argument 2 ('y'): expects axis 0 to have size 4, as "
      "axis 0 of argument 0 ('x') has, but got 5");
}

TEST_F(ArgumentsTest, SymbolsWithinOneArgument) {
  FakeKernel square("square");
  square.arg("scalar", KRON_READ, {})
      .arg("free", KRON_READ, {-2})
      .arg("a", KRON_READ, {3, -1, -1})
      .version(countRun);
  FakeArray scalar{memory, {}}, free{memory, {9}};
  EXPECT_SUCCESS(launch(square, {scalar, free, FakeArray(memory, {3, 2, 2})}));
  EXPECT_FAILURE(
      launch(square, {scalar, free, FakeArray(memory, {3, 2, 4})}),
      KRON_MISMATCH,
      "kernel 'square', argument 2 ('a'): expects axis 2 to have size "
      "2, as axis 1 of argument 2 ('a') has, but got 4");
}

TEST_F(ArgumentsTest, NullData) {
  x.data = nullptr;
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "kernel 'f', argument 0 ('x'): expects data, but got NULL");
  // An empty array needs no memory, but the kernel is still run.
  x.sizes = y.sizes = {0, 8};
  y.data = nullptr;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(numRuns, 1);
}

TEST_F(ArgumentsTest, Misaligned) {
  y.data = reinterpret_cast<char *>(memory + 256) + 2;
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
  std::string prefix =
      "kernel 'f', argument 2 ('y'): expects data aligned to 4 "
      "bytes, but got address 0x";
  EXPECT_EQ(std::string(kronGetLastError()).substr(0, prefix.size()), prefix);
}

TEST_F(ArgumentsTest, ComplexIsAlignedToOneComponent) {
  FakeKernel complex;
  complex.arg("x", KRON_READ, {8}, 0, KRON_C32).version(countRun);
  EXPECT_SUCCESS(launch(complex, {FakeArray(memory + 1, {8}, {}, KRON_C32)}));
  char *odd = reinterpret_cast<char *>(memory) + 2;
  EXPECT_EQ(launch(complex, {FakeArray(odd, {8}, {}, KRON_C32)}),
            KRON_INVALID_ARGUMENT);
}

TEST_F(ArgumentsTest, InnermostStride) {
  x.strides = {16, 2};
  EXPECT_FAILURE(run(), KRON_MISMATCH,
                 "kernel 'f', argument 0 ('x'): expects the innermost axis to "
                 "have stride 1, but got 2");
  // Gaps between the rows are fine, and so is any stride of an axis of size 1.
  x.strides = {16, 1};
  EXPECT_SUCCESS(run());
  FakeKernel column;
  column.arg("x", KRON_READ, {-1, 1}, 1).version(countRun);
  EXPECT_SUCCESS(launch(column, {FakeArray(memory, {4, 1}, {3, 99})}));
}

TEST_F(ArgumentsTest, RowMajor) {
  FakeKernel dense;
  dense.arg("x", KRON_READ, {-1, -2, 8}, 2).version(countRun);
  EXPECT_SUCCESS(launch(dense, {FakeArray(memory, {2, 1, 8}, {8, 77, 1})}));
  EXPECT_FAILURE(
      launch(dense, {FakeArray(memory, {2, 3, 8}, {32, 8, 1})}), KRON_MISMATCH,
      "kernel 'f', argument 0 ('x'): expects a row-major array without "
      "gaps, whose axis 0 has stride 24, but got 32");
  EXPECT_FAILURE(
      launch(dense, {FakeArray(memory, {2, 3, 8}, {48, 16, 2})}), KRON_MISMATCH,
      "kernel 'f', argument 0 ('x'): expects a row-major array without "
      "gaps, whose axis 2 has stride 1, but got 2");
}

TEST_F(ArgumentsTest, NegativeStride) {
  x.strides = {-8, 1};
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 0 ('x'): expects axis 0 to have a stride "
      "of at least 0, but got -8");
}

TEST_F(ArgumentsTest, ZeroStride) {
  x.strides = {0, 1};
  EXPECT_SUCCESS(run());
  y.strides = {0, 1};
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 2 ('y'): expects axis 0 of an array that "
      "is written to have a stride of at least 1, but got 0");
  x.sizes = y.sizes = {1, 8};
  EXPECT_SUCCESS(run());
}

TEST_F(ArgumentsTest, OwnOverlap) {
  // Rows of 8 that begin 7 elements apart; what is only read may be so.
  x.strides = {7, 1};
  EXPECT_SUCCESS(run());
  y.strides = {7, 1};
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 2 ('y'): expects elements of an array that is "
      "written not to overlap, that is axis 0 to have a stride of at least 8, "
      "but got 7");
  // Equal steps along two axes.
  y.strides = {1, 1};
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 2 ('y'): expects elements of an array that is "
      "written not to overlap, that is axis 0 to have a stride of at least 8, "
      "but got 1");
  y.strides = {8, 1};
  EXPECT_SUCCESS(run());
}

TEST_F(ArgumentsTest, TooManyBytes) {
  FakeKernel any;
  any.arg("x", KRON_READ, {-1, -2}).version(countRun);
  int64_t large = int64_t(1) << 31;
  EXPECT_SUCCESS(launch(any, {FakeArray(memory, {large, large / 4})}));
  EXPECT_FAILURE(
      launch(any, {FakeArray(memory, {large, large})}), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 0 ('x'): expects fewer than 2^63 bytes, but "
      "got more");
  EXPECT_FAILURE(
      launch(any, {FakeArray(memory, {large, 2}, {large * large / 64, 1})}),
      KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 0 ('x'): expects the last element within 2^63 "
      "bytes "
      "of the first, but got it further away");
  EXPECT_FAILURE(
      launch(any, {FakeArray(memory, {2, 2}, {int64_t(1) << 61, 1})}),
      KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 0 ('x'): expects the last element within 2^63 "
      "bytes "
      "of the first, but got it further away");
}

TEST_F(ArgumentsTest, PartialOverlap) {
  // The last element of X is the first one of Y.
  y.data = memory + 31;
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 2 ('y'): expects no overlap with argument "
      "0 ('x') since the kernel writes this one, but got overlapping "
      "memory");
  y.data = memory + 32;
  EXPECT_SUCCESS(run());
}

TEST_F(ArgumentsTest, SameMemory) {
  y.data = x.data;
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
  // Reading the same memory twice is fine.
  factor.data = x.data;
  y.data = memory + 256;
  EXPECT_SUCCESS(run());
}

TEST_F(ArgumentsTest, InPlace) {
  FakeKernel inPlace;
  inPlace.arg("y", KRON_READ_WRITE, {-1, 8})
      .arg("x", KRON_READ, {-1, 8})
      .version(countRun);
  EXPECT_SUCCESS(launch(inPlace, {y, x}));
  EXPECT_FAILURE(
      launch(inPlace, {x, x}), KRON_INVALID_ARGUMENT,
      "kernel 'f', argument 1 ('x'): expects no overlap with argument "
      "0 ('y') since the kernel writes that one, but got overlapping "
      "memory");
}

TEST_F(ArgumentsTest, EmptyArraysOverlapNothing) {
  FakeKernel any;
  any.arg("x", KRON_READ, {-1}).arg("y", KRON_WRITE, {-2}).version(countRun);
  EXPECT_SUCCESS(
      launch(any, {FakeArray(memory, {32}), FakeArray(memory, {0})}));
}

TEST_F(ArgumentsTest, Interleaved) {
  // Columns 0..7 and 8..15 of one matrix with 16 columns.
  x.strides = y.strides = {16, 1};
  y.data = memory + 8;
  factor.data = memory + 128;
  EXPECT_SUCCESS(run());
  // Columns 7..14 share one with 0..7, whichever side they are on.
  y.data = memory + 7;
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
  std::swap(x.data, y.data);
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
  // Columns 9..16 run into the next row's first one.
  x.data = memory;
  y.data = memory + 9;
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
  // Another stride than X's makes the rows meet sooner or later.
  y.data = memory + 8;
  y.strides = {17, 1};
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
}

TEST_F(ArgumentsTest, InterleavedElements) {
  FakeKernel any;
  any.arg("x", KRON_READ, {-1}).arg("y", KRON_WRITE, {-2}).version(countRun);
  EXPECT_SUCCESS(launch(
      any, {FakeArray(memory, {9}, {2}), FakeArray(memory + 1, {9}, {2})}));
  EXPECT_EQ(launch(any, {FakeArray(memory, {9}, {2}),
                         FakeArray(memory + 2, {9}, {2})}),
            KRON_INVALID_ARGUMENT);
}

TEST(TypeTest, Sizes) {
  EXPECT_EQ(kronGetTypeSize(KRON_F32), 4u);
  EXPECT_EQ(kronGetTypeSize(KRON_F64), 8u);
  EXPECT_EQ(kronGetTypeSize(KRON_F16), 2u);
  EXPECT_EQ(kronGetTypeSize(KRON_BF16), 2u);
  EXPECT_EQ(kronGetTypeSize(KRON_I32), 4u);
  EXPECT_EQ(kronGetTypeSize(KRON_I64), 8u);
  EXPECT_EQ(kronGetTypeSize(KRON_C32), 8u);
  EXPECT_EQ(kronGetTypeSize(KRON_C64), 16u);
  EXPECT_EQ(kronGetTypeSize(KRON_F80), 16u);
  EXPECT_EQ(kronGetTypeSize(KRON_C80), 32u);
  EXPECT_EQ(kronGetTypeSize(KRON_I8), 1u);
  EXPECT_EQ(kronGetTypeSize(KRON_F8E4M3FN), 1u);
  EXPECT_EQ(kronGetTypeSize(KRON_F8E5M2), 1u);
  EXPECT_EQ(kronGetTypeSize(static_cast<KronType>(13)), 0u);
  EXPECT_EQ(kronGetTypeSize(static_cast<KronType>(-1)), 0u);
}

TEST(TypeTest, Names) {
  EXPECT_STREQ(kronGetTypeName(KRON_F32), "f32");
  EXPECT_STREQ(kronGetTypeName(KRON_C64), "complex<f64>");
  EXPECT_STREQ(kronGetTypeName(KRON_F8E5M2), "f8E5M2");
  EXPECT_STREQ(kronGetTypeName(static_cast<KronType>(13)), "unknown type");
}

} // namespace
