//===- KronDialect.cpp - The kron dialect -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronDialect.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;

#include "kron/Dialect/Kron/IR/KronDialect.cpp.inc"
#include "kron/Dialect/Kron/IR/KronEnums.cpp.inc"
#include "kron/Dialect/Kron/IR/KronInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kron/Dialect/Kron/IR/KronAttrs.cpp.inc"

namespace {
/// Operations of the dialect may go wherever a function is inlined.
struct KronInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void KronDialect::initialize() {
  addInterfaces<KronInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kron/Dialect/Kron/IR/KronAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kron/Dialect/Kron/IR/KronOps.cpp.inc"
      >();
}

LogicalResult
ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                     int64_t vectorBits, int64_t tile, int64_t registerRows,
                     int64_t registerVectors, int64_t slice,
                     int64_t streamBytes, int64_t prefetch, int64_t matrixTiles,
                     int64_t keptFibres, GPUKernel kernel, int64_t threads,
                     int64_t columns, int64_t ctasPerSM, int64_t stages,
                     int64_t cluster, DenseI64ArrayAttr regions) {
  if (vectorBits != 0 && vectorBits != 128 && vectorBits != 256 &&
      vectorBits != 512)
    return emitError()
           << "expects vector_bits to be 0, 128, 256 or 512, but got "
           << vectorBits;
  if (registerRows < 0 || registerVectors < 0)
    return emitError()
           << "expects register_rows and register_vectors to be >= 0, "
              "but got "
           << registerRows << " and " << registerVectors;
  for (auto [name, value] : {std::pair<StringRef, int64_t>("slice", slice),
                             {"stream_bytes", streamBytes}})
    if (value < -1)
      return emitError() << "expects " << name << " to be >= -1, but got "
                         << value;
  for (auto [name, value] :
       {std::pair<StringRef, int64_t>("prefetch", prefetch),
        {"kept_fibres", keptFibres}})
    if (value < -1 || value > 1)
      return emitError() << "expects " << name << " to be -1, 0 or 1, but got "
                         << value;
  if (matrixTiles < -1 || matrixTiles > 2)
    return emitError() << "expects matrix_tiles to be -1, 0, 1 or 2, but got "
                       << matrixTiles;
  for (auto [name, value] : {std::pair<StringRef, int64_t>("tile", tile),
                             {"columns", columns},
                             {"ctas_per_sm", ctasPerSM},
                             {"stages", stages}})
    if (value < 0)
      return emitError() << "expects " << name << " to be >= 0, but got "
                         << value;
  // Planners multiply them by sizes of arrays.
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (auto [name, value] :
       {std::pair<StringRef, int64_t>("register_rows", registerRows),
        {"register_vectors", registerVectors},
        {"slice", slice},
        {"tile", tile},
        {"columns", columns},
        {"ctas_per_sm", ctasPerSM},
        {"stages", stages}})
    if (value > most)
      return emitError() << "expects " << name << " to be at most " << most
                         << ", but got " << value;
  if (threads < 0 || threads > 1024 || threads % 32 != 0)
    return emitError()
           << "expects threads to be a multiple of 32 up to 1024, but got "
           << threads;
  if (cluster < 0 || cluster > 2)
    return emitError() << "expects cluster to be 0, 1 or 2, but got "
                       << cluster;
  if (regions)
    for (int64_t count : regions.asArrayRef())
      if (count < 1 || count > most)
        return emitError() << "expects regions to be in [1, " << most
                           << "] each, but got " << count;
  return success();
}

ScheduleAttr ScheduleAttr::withoutRegions() {
  auto rest = get(getContext(), getVectorBits(), getTile(), getRegisterRows(),
                  getRegisterVectors(), getSlice(), getStreamBytes(),
                  getPrefetch(), getMatrixTiles(), getKeptFibres(), getKernel(),
                  getThreads(), getColumns(), getCtasPerSm(), getStages(),
                  getCluster(), DenseI64ArrayAttr());
  auto none = get(getContext(), 0, 0, 0, 0);
  return rest == none ? ScheduleAttr() : rest;
}
