//===- CudaBlas.cpp - Matrix products by cuBLAS -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One handle per context, made by the first launch there and kept. A handle's
// stream and workspace are those of the last call, so calls take turns.
//
//===----------------------------------------------------------------------===//

#include "CudaBlas.h"
#include "Error.h"
#include "Library.h"

#include <atomic>
#include <climits>
#include <cstdio>
#include <dlfcn.h>
#include <new>

using namespace kron::detail;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

using CublasStatus = int;

enum : CublasStatus { CUBLAS_STATUS_SUCCESS = 0 };
enum : int {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_16BF = 14
};
enum : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum : int {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70
};
/// Sums that kernels exchange stay in the type that they compute in.
enum : int { CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };

/// X(name, symbol, parameters).
#define KRON_CUBLAS_FUNCTIONS(X)                                               \
  X(create, "cublasCreate_v2", (CublasHandle *))                               \
  X(getProperty, "cublasGetProperty", (int, int *))                            \
  X(setMathMode, "cublasSetMathMode", (CublasHandle, int))                     \
  X(setStream, "cublasSetStream_v2", (CublasHandle, CUstream))                 \
  X(setWorkspace, "cublasSetWorkspace_v2", (CublasHandle, void *, size_t))     \
  X(gemm, "cublasGemmStridedBatchedEx",                                        \
    (CublasHandle, int, int, int, int, int, const void *, const void *, int,   \
     int, long long, const void *, int, int, long long, const void *, void *,  \
     int, int, long long, int, int, int))

namespace {
struct Cublas {
#define KRON_CUBLAS_FIELD(name, symbol, parameters)                            \
  CublasStatus(*name) parameters;
  KRON_CUBLAS_FUNCTIONS(KRON_CUBLAS_FIELD)
#undef KRON_CUBLAS_FIELD
};

/// The outcome of loading.
struct LoadedCublas {
  LoadedCublas();

  Cublas functions = {};
  char problem[256] = "";
};
} // namespace

LoadedCublas::LoadedCublas() {
  void *library =
      loadLibrary("libcublas", "KRON_CUBLAS",
                  {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                  problem, sizeof(problem));
  if (!library)
    return;
#define KRON_CUBLAS_RESOLVE(name, symbol, parameters)                          \
  functions.name =                                                             \
      reinterpret_cast<decltype(functions.name)>(dlsym(library, symbol));      \
  if (!functions.name)                                                         \
    snprintf(problem, sizeof(problem), "libcublas lacks %s", symbol);
  KRON_CUBLAS_FUNCTIONS(KRON_CUBLAS_RESOLVE)
#undef KRON_CUBLAS_RESOLVE
}

static const LoadedCublas &getLibrary() {
  static const LoadedCublas loaded;
  return loaded;
}

static std::atomic<bool> isAllowed{true};

void kronAllowCublas(int32_t allowed) { isAllowed = allowed != 0; }

int32_t kronIsCublasAllowed() { return isAllowed; }

KronStatus kronGetCublasVersion(int32_t *version) {
  if (!version)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a place for the version, but got NULL");
  if (!isAllowed)
    return setError(KRON_UNSUPPORTED,
                    "expects cuBLAS, but kronAllowCublas has forbidden it");
  const LoadedCublas &library = getLibrary();
  if (library.problem[0])
    return setError(KRON_UNSUPPORTED, "expects cuBLAS, but %s",
                    library.problem);
  int parts[3] = {};
  for (int part = 0; part < 3; ++part)
    library.functions.getProperty(part, &parts[part]);
  *version = 10000 * parts[0] + 100 * parts[1] + parts[2];
  return KRON_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

namespace {
struct ContextHandle {
  uint64_t contextId;
  /// Null if it could not be made.
  CublasHandle handle;
  ContextHandle *next;
};
} // namespace

/// Protects the list of handles, and the stream and workspace of each.
static std::mutex cublasMutex;

CublasHandle kron::detail::getCublasHandle(const CudaDevice &device,
                                           uint64_t contextId) {
  static ContextHandle *handles = nullptr;
  if (!isAllowed)
    return nullptr;
  const LoadedCublas &library = getLibrary();
  if (library.problem[0])
    return nullptr;
  std::lock_guard<std::mutex> lock(cublasMutex);
  for (ContextHandle *known = handles; known; known = known->next)
    if (known->contextId == contextId)
      return known->handle;
  auto *created = new (std::nothrow) ContextHandle{contextId, nullptr, handles};
  if (!created)
    return nullptr;
  CudaRelaxedCaptureScope relaxed(*device.driver);
  const Cublas &cublas = library.functions;
  if (cublas.create(&created->handle) ||
      cublas.setMathMode(created->handle,
                         CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION))
    created->handle = nullptr;
  handles = created;
  return created->handle;
}

int64_t kron::detail::getCublasWorkspaceBytes(const CudaDevice &device) {
  return (device.capability >= 90 ? 32 : 4) * int64_t(1024) * 1024;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A matrix stored by columns, or by rows (`isTransposed`).
struct Storage {
  bool isTransposed = false;
  int leadingDimension = 1;
};
} // namespace

/// Products that one call takes on every GPU.
static constexpr int64_t maxBatch = 65535;

static bool fitsInt(int64_t number) { return number >= 0 && number <= INT_MAX; }

/// How a matrix of `rows` x `columns` lies in memory; nothing if neither its
/// rows nor its columns are contiguous.
static std::optional<Storage> getStorage(int64_t rows, int64_t columns,
                                         int64_t rowStride,
                                         int64_t columnStride) {
  auto isSegment = [](int64_t size, int64_t stride, int64_t otherSize,
                      int64_t otherStride) {
    return (stride == 1 || size == 1) &&
           (otherSize == 1 || (otherStride >= size && fitsInt(otherStride)));
  };
  auto get = [](bool isTransposed, int64_t size, int64_t otherSize,
                int64_t otherStride) {
    int64_t leading = otherSize == 1 ? size : otherStride;
    return Storage{isTransposed, int(leading)};
  };
  if (isSegment(rows, rowStride, columns, columnStride))
    return get(false, rows, columns, columnStride);
  if (isSegment(columns, columnStride, rows, rowStride))
    return get(true, columns, rows, rowStride);
  return std::nullopt;
}

std::optional<CublasProduct>
kron::detail::describeProduct(const KronCudaGemm &gemm) {
  if (gemm.batch > maxBatch || !fitsInt(gemm.rows) || !fitsInt(gemm.results) ||
      !fitsInt(gemm.sizeK))
    return std::nullopt;
  // What an alpha of 0 must not make a NaN of is not promised to be left alone.
  if (gemm.alpha == 0 && gemm.alphaImaginary == 0)
    return std::nullopt;
  CublasProduct product = {};
  if (gemm.batch == 0 || gemm.rows == 0 || gemm.results == 0)
    return product;
  product.batch = int(gemm.batch);
  product.sizeK = int(gemm.sizeK);
  // The factor is K x N: the transpose of how its strides come.
  auto x =
      getStorage(gemm.rows, gemm.sizeK, gemm.xStrides[1], gemm.xStrides[2]);
  auto f = getStorage(gemm.sizeK, gemm.results, gemm.factorStrides[2],
                      gemm.factorStrides[1]);
  auto y =
      getStorage(gemm.rows, gemm.results, gemm.yStrides[1], gemm.yStrides[2]);
  if (!x || !f || !y)
    return std::nullopt;
  product.a = {gemm.x, x->isTransposed, gemm.conjugatesX != 0,
               x->leadingDimension, gemm.xStrides[0]};
  product.b = {gemm.factor, f->isTransposed, gemm.conjugatesFactor != 0,
               f->leadingDimension, gemm.factorStrides[0]};
  product.c = gemm.y;
  product.cLeadingDimension = y->leadingDimension;
  product.cBatchStride = gemm.yStrides[0];
  product.rows = int(gemm.rows);
  product.columns = int(gemm.results);
  if (y->isTransposed) {
    // By rows: the product of the transposes, the other way round.
    std::swap(product.rows, product.columns);
    std::swap(product.a, product.b);
    product.a.isTransposed = !product.a.isTransposed;
    product.b.isTransposed = !product.b.isTransposed;
  }
  // It conjugates what it transposes only.
  for (const CublasProduct::Matrix &matrix : {product.a, product.b})
    if (matrix.isConjugated && !matrix.isTransposed)
      return std::nullopt;
  return product;
}

/// cuBLAS's numbers for types of elements and of sums.
static void getTypes(const KronCudaGemm &gemm, int &element, int &compute) {
  switch (KronType(gemm.type)) {
  case KRON_F64:
    element = CUDA_R_64F;
    compute = CUBLAS_COMPUTE_64F;
    return;
  case KRON_F16:
  case KRON_BF16:
    element = gemm.type == KRON_F16 ? CUDA_R_16F : CUDA_R_16BF;
    compute = CUBLAS_COMPUTE_32F;
    return;
  case KRON_C64:
    element = CUDA_C_64F;
    compute = CUBLAS_COMPUTE_64F;
    return;
  default:
    element = gemm.type == KRON_C32 ? CUDA_C_32F : CUDA_R_32F;
    // Otherwise NVIDIA_TF32_OVERRIDE could lose half of the digits.
    compute = gemm.allowsTF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                              : CUBLAS_COMPUTE_32F_PEDANTIC;
  }
}

KronStatus kron::detail::multiplyByCublas(CublasHandle handle,
                                          const CublasProduct &product,
                                          const KronCudaGemm &gemm,
                                          CUstream stream, void *workspace,
                                          int64_t workspaceBytes,
                                          const char *name) {
  const Cublas &cublas = getLibrary().functions;
  int element, compute;
  getTypes(gemm, element, compute);
  // Real types read the first part alone.
  const double wideAlpha[] = {gemm.alpha, gemm.alphaImaginary};
  const double wideBeta[] = {gemm.beta, gemm.betaImaginary};
  const float narrowAlpha[] = {float(gemm.alpha), float(gemm.alphaImaginary)};
  const float narrowBeta[] = {float(gemm.beta), float(gemm.betaImaginary)};
  bool isWide = compute == CUBLAS_COMPUTE_64F;
  const void *alpha = isWide ? static_cast<const void *>(wideAlpha)
                             : static_cast<const void *>(narrowAlpha);
  const void *beta = isWide ? static_cast<const void *>(wideBeta)
                            : static_cast<const void *>(narrowBeta);
  auto getOperation = [](const CublasProduct::Matrix &matrix) {
    if (!matrix.isTransposed)
      return CUBLAS_OP_N;
    return matrix.isConjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
  };
  constexpr int bestAlgorithm = -1;
  const CublasProduct::Matrix &a = product.a, &b = product.b;
  std::lock_guard<std::mutex> lock(cublasMutex);
  // A new stream brings the handle's own workspace back: that comes second.
  CublasStatus status = cublas.setStream(handle, stream);
  if (!status)
    status = cublas.setWorkspace(handle, workspace, size_t(workspaceBytes));
  if (!status)
    status = cublas.gemm(
        handle, getOperation(a), getOperation(b), product.rows, product.columns,
        product.sizeK, alpha, a.data, element, a.leadingDimension,
        a.batchStride, b.data, element, b.leadingDimension, b.batchStride, beta,
        product.c, element, product.cLeadingDimension, product.cBatchStride,
        product.batch, compute, bestAlgorithm);
  if (status == CUBLAS_STATUS_SUCCESS)
    return KRON_SUCCESS;
  return setError(KRON_CUDA_ERROR,
                  "kernel '%s': cublasGemmStridedBatchedEx of %d products of "
                  "%d x %d x %d: cuBLAS status %d",
                  name, product.batch, product.rows, product.columns,
                  product.sizeK, status);
}
