//===- CublasTest.cpp - Matrix products by cuBLAS -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the runtime makes of a product for cuBLAS, and when it leaves one to the
// kernels. Driver and library are those of FakeCuda.h and FakeCublas.h. cuBLAS
// stores matrices by columns: op(A) is M x K, op(B) K x N.
//
//===----------------------------------------------------------------------===//

#include "FakeCublas.h"
#include "FakeCuda.h"
#include "FakeKernel.h"

using namespace kron::test;

namespace {

constexpr KronCudaImage image = {KRON_CUDA_CUBIN, 90, 1, "cubin90a", 9};
KronCudaModule module = {1, &image, nullptr};
KronCudaGemm gemm;

/// As compiled code does it.
void entry(const KronArray *) {
  if (!kronRtCudaGemm(&gemm))
    kronRtCudaLaunch(&module, "f_0", 1, 32, 1, 0, nullptr, 0);
}

class CublasTest : public testing::Test {
protected:
  CublasTest() : kernel("f") {
    fakeCuda().reset();
    fakeCublas().gemms.clear();
    fakeCublas().gemmFailure = 0;
    kernel.arg("x", KRON_WRITE, {-1}).version(entry, 0, 0, KRON_ISA_CUDA);
    fakeCuda().memory[address] = {64, 0, 2, false};
    options.target = KRON_TARGET_CUDA;
    // 2 products of 5 rows, N of 7 and K of 3, batch first.
    gemm = {y,          x,   factor, 2,        5, 7, 3, {7, 14, 1}, {3, 6, 1},
            {21, 3, 1}, 0.5, 2,      KRON_F16, 0, 0, 0, 0,          0};
  }
  ~CublasTest() override { kronRtCudaUnload(&module); }

  KronStatus run() {
    const KronKernel *built = kernel.get();
    version = built->versions[0];
    version.cuda = &module;
    kernel.kernel.versions = &version;
    int64_t size = 16;
    KronArray array = {reinterpret_cast<void *>(address), &size, nullptr, 1,
                       KRON_F32};
    return kronLaunch(built, &array, 1, &options);
  }
  FakeGemm getGemm() {
    EXPECT_EQ(fakeCublas().gemms.size(), 1u);
    EXPECT_EQ(fakeCuda().launches.size(), 0u);
    return fakeCublas().gemms.empty() ? FakeGemm() : fakeCublas().gemms.back();
  }

  static constexpr uint64_t address = 0x5000000000;
  char y[1], x[1], factor[1];
  FakeKernel kernel;
  KronVersion version;
  KronLaunchOptions options = {};
};

TEST_F(CublasTest, Version) {
  int32_t number = 0;
  EXPECT_SUCCESS(kronGetCublasVersion(&number));
  EXPECT_EQ(number, 130100);
  EXPECT_FAILURE(kronGetCublasVersion(nullptr), KRON_INVALID_ARGUMENT,
                 "expects a place for the version, but got NULL");
}

// What is forbidden is left to the kernel, until it is allowed again.
TEST_F(CublasTest, Allow) {
  EXPECT_EQ(kronIsCublasAllowed(), 1);
  kronAllowCublas(0);
  EXPECT_EQ(kronIsCublasAllowed(), 0);
  int32_t number = 0;
  EXPECT_FAILURE(kronGetCublasVersion(&number), KRON_UNSUPPORTED,
                 "expects cuBLAS, but kronAllowCublas has forbidden it");
  EXPECT_SUCCESS(run());
  EXPECT_TRUE(fakeCublas().gemms.empty());
  EXPECT_EQ(fakeCuda().launches.size(), 1u);
  kronAllowCublas(1);
  EXPECT_EQ(kronIsCublasAllowed(), 1);
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 1u);
}

// Rows of the result are contiguous: cuBLAS gets the transposed product.
TEST_F(CublasTest, BatchFirst) {
  EXPECT_SUCCESS(run());
  FakeGemm got = getGemm();
  EXPECT_EQ(got.rows, 7);
  EXPECT_EQ(got.columns, 5);
  EXPECT_EQ(got.sizeK, 3);
  EXPECT_EQ(got.batch, 2);
  EXPECT_EQ(got.a, factor);
  EXPECT_EQ(got.b, x);
  EXPECT_EQ(got.c, y);
  EXPECT_EQ(got.transposes[0], 1);
  EXPECT_EQ(got.transposes[1], 0);
  EXPECT_EQ(got.leading[0], 3);
  EXPECT_EQ(got.leading[1], 6);
  EXPECT_EQ(got.leading[2], 14);
  EXPECT_EQ(got.batchStrides[0], 21);
  EXPECT_EQ(got.batchStrides[1], 3);
  EXPECT_EQ(got.batchStrides[2], 7);
  EXPECT_EQ(got.alpha[0], 0.5);
  EXPECT_EQ(got.beta[0], 2);
  EXPECT_EQ(got.element, 2);
  EXPECT_EQ(got.compute, 68);
  // Its workspace is the launch's, and set after the stream.
  EXPECT_EQ(got.workspaceBytes, size_t(32) << 20);
  EXPECT_EQ(got.workspace, reinterpret_cast<void *>(0x7000000000));
  EXPECT_EQ(got.stream, options.stream);
}

TEST_F(CublasTest, BatchLast) {
  gemm = {y,          x, factor, 2,        5, 7, 3, {35, 1, 5}, {15, 1, 5},
          {21, 1, 7}, 1, 0,      KRON_F64, 0, 0, 0, 0,          0};
  EXPECT_SUCCESS(run());
  FakeGemm got = getGemm();
  EXPECT_EQ(got.rows, 5);
  EXPECT_EQ(got.columns, 7);
  EXPECT_EQ(got.a, x);
  EXPECT_EQ(got.b, factor);
  EXPECT_EQ(got.transposes[0], 0);
  EXPECT_EQ(got.transposes[1], 1);
  EXPECT_EQ(got.leading[0], 5);
  EXPECT_EQ(got.leading[1], 7);
  EXPECT_EQ(got.leading[2], 5);
  EXPECT_EQ(got.alpha[0], 1);
  EXPECT_EQ(got.element, 1);
  EXPECT_EQ(got.compute, 70);
}

// f32 is rounded to TF32 only where that is allowed, whatever the environment
// says.
TEST_F(CublasTest, Precision) {
  gemm.type = KRON_F32;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getGemm().compute, 69);
  fakeCublas().gemms.clear();
  gemm.allowsTF32 = 1;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getGemm().compute, 77);
}

// Scales of complex elements have two parts, in the type of the sums.
TEST_F(CublasTest, Complex) {
  gemm.alphaImaginary = 0.25;
  gemm.betaImaginary = -3;
  for (auto [type, element, compute] :
       {std::tuple(KRON_C32, 4, 69), std::tuple(KRON_C64, 5, 70)}) {
    fakeCublas().gemms.clear();
    gemm.type = type;
    EXPECT_SUCCESS(run());
    FakeGemm got = getGemm();
    EXPECT_EQ(got.element, element);
    EXPECT_EQ(got.compute, compute);
    EXPECT_EQ(got.alpha[0], 0.5);
    EXPECT_EQ(got.alpha[1], 0.25);
    EXPECT_EQ(got.beta[0], 2);
    EXPECT_EQ(got.beta[1], -3);
  }
  // An alpha is 0 if both parts are.
  fakeCublas().gemms.clear();
  gemm.alpha = 0;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getGemm().alpha[1], 0.25);
}

// The factor, K x N by columns, is used as the transpose here; X is not.
TEST_F(CublasTest, Conjugate) {
  gemm.type = KRON_C64;
  gemm.conjugatesFactor = 1;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getGemm().transposes[0], 2);
  EXPECT_EQ(getGemm().transposes[1], 0);
  fakeCublas().gemms.clear();
  gemm.conjugatesX = 1;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 0u);
  EXPECT_EQ(fakeCuda().launches.size(), 1u);
}

// Strides of axes of size 1 mean nothing.
TEST_F(CublasTest, OneRow) {
  gemm.batch = gemm.rows = 1;
  gemm.xStrides[1] = gemm.yStrides[1] = 100;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getGemm().batch, 1);
}

TEST_F(CublasTest, NoElements) {
  gemm.rows = 0;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 0u);
  EXPECT_EQ(fakeCuda().launches.size(), 0u);
}

// No axis of the factor is contiguous.
TEST_F(CublasTest, Strided) {
  gemm.factorStrides[2] = 2;
  gemm.factorStrides[1] = 6;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 0u);
  EXPECT_EQ(fakeCuda().launches.size(), 1u);
}

// A NaN times an alpha of 0 must not come out.
TEST_F(CublasTest, AlphaZero) {
  gemm.alpha = 0;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 0u);
  EXPECT_EQ(fakeCuda().launches.size(), 1u);
}

// A stretched input repeats its only row.
TEST_F(CublasTest, Stretched) {
  gemm.xStrides[1] = 0;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 0u);
  EXPECT_EQ(fakeCuda().launches.size(), 1u);
}

TEST_F(CublasTest, Failure) {
  fakeCublas().gemmFailure = 13;
  EXPECT_FAILURE(run(), KRON_CUDA_ERROR,
                 "kernel 'f': cublasGemmStridedBatchedEx of 2 products of 7 x "
                 "5 x 3: cuBLAS status 13");
}

// A context without a handle runs the kernels; it is asked once.
TEST_F(CublasTest, NoHandle) {
  FakeContext context = {0, 77};
  FakeStream stream = {&context};
  options.stream = &stream;
  fakeCublas().createFailure = 1;
  EXPECT_SUCCESS(run());
  fakeCublas().createFailure = 0;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCublas().gemms.size(), 0u);
  EXPECT_EQ(fakeCuda().launches.size(), 2u);
}

} // namespace
