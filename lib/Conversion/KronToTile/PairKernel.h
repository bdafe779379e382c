//===- PairKernel.h - Kernels of functions of pairs -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What kernels of functions of pairs and of their gradients share: arrays and
// hyper-parameters as arguments, columns that are divided among CTAs, and the
// functions themselves.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_PAIRKERNEL_H
#define KRON_LIB_CONVERSION_KRONTOTILE_PAIRKERNEL_H

#include "Families.h"
#include "TileKernel.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

namespace mlir::kron {

/// Whether neighbouring rows of `view` are next to each other, and not
/// positions of K; if strides do not tell, those of what is transposed are.
bool liesAlongRows(Value view, Transpose transpose);

class PairKernel {
protected:
  using FunctionBody =
      function_ref<Value(OpBuilder &, ValueRange args, ValueRange params)>;

  PairKernel(const TileSource &source, PairOpInterface op);

  /// Enters `array` as the batch, rows and columns: of A and B those are K.
  unsigned enterArray(const PairArray &array);
  void enterParams();
  /// Counts the boxes of all sizes.
  void countTiles();
  /// Divides `columns` among as many CTAs as there shall be, in blocks of `by`.
  void divideColumns(Int columns, int64_t by, int64_t ctas);
  /// Adds an array of the sums of all parts; its argument.
  unsigned addWorkspace();
  /// Adds memory with the shape of the result, of the accumulation type.
  Value addSums();
  void fill(Value array, double value);
  /// A loop of the host, or of a kernel of its own.
  void emitLoop(ArrayRef<Value> inputs, Value output, ArrayRef<AffineMap> maps,
                ArrayRef<utils::IteratorType> iterators,
                function_ref<Value(OpBuilder &, ValueRange)> body);
  /// A loop over `output`, and all parts of those `inputs` that have such,
  /// which `body` computes an element of the output in.
  void emitPartLoop(ArrayRef<Value> inputs, Value output, bool overParts,
                    function_ref<Value(OpBuilder &, ValueRange)> body);
  void freeWorkspace();

  /// The array that the operation writes.
  const PairArray &getInit() const;
  /// Starts a kernel with CTAs of `threads` threads.
  void begin(int64_t threads, int64_t ctasPerSM);
  /// Ends it: `buildTile` is what it does of each tile.
  void finish(function_ref<void(Value tile)> buildTile);

  Value allocateRing(int64_t stages, int64_t rows, int64_t columns,
                     int64_t pitch, Type type);
  SmallVector<Value> loadParams(Value place);
  /// Fills `region` with a function of `count` values and the hyper-parameters.
  void buildFunction(Region &region, unsigned count, size_t params,
                     FunctionBody body);
  /// Fills `region` with what is reduced along K; `isSwapped`: of an element of
  /// B and of one of A.
  void buildInner(Region &region, size_t params, bool isSwapped = false);
  /// What `body` makes of each value of `fragment`.
  Value mapFragment(Value fragment, ValueRange params, FunctionBody body);

  const TileSource &source;
  TileKernel kernel;
  PairOpInterface op;
  Emitter &host;
  OpBuilder &b;
  Location loc;
  Type element, sum;
  SmallVector<PairArray> arrays;

  /// Sizes of the result of the kernel, on the host, and of a tile of it.
  SmallVector<Int> sizes;
  SmallVector<int64_t> box;
  Int parts = 1, tiles = 1;
  /// Memrefs of sums.
  SmallVector<Value> workspace;
  unsigned lhs = 0, rhs = 0, blocks = 0, tileCount = 0;
  SmallVector<unsigned> params;
};

/// Whether a launch with `sizeK` positions of K takes a plan with `minK` and
/// `maxK`, 0 is none: as a value if only that tells; else whether it is known.
std::pair<Value, bool> fitsK(Emitter &host, Int sizeK, int64_t minK,
                             int64_t maxK);

/// Builds the kernels of the plans of `op`, each of which `read` reads and
/// `build` makes, where `source` says: a launch takes the first one that
/// requires no other K.
template <typename Plan, typename Read, typename Build>
LogicalResult tilePlans(const TileSource &source, PairOpInterface op,
                        GPUKernel kind, Read read, Build build) {
  OpBuilder &builder = source.builder;
  OpBuilder::InsertionGuard guard(builder);
  Emitter host(builder, op.getLoc(), getElementType(op.getInit()));
  Int sizeK = getArraySizes(host, op.getLhs())[op.getReducedDim(0)];
  SmallVector<GPUPlanAttr> plans = getCompletePlans(op);
  for (GPUPlanAttr attr : plans) {
    FailureOr<Plan> plan = takePlan(op, kind, read(attr), getNoReason<Plan>);
    if (failed(plan))
      return failure();
    auto [fits, mayFit] =
        fitsK(host, sizeK, attr.get("min_k"), attr.get("max_k"));
    if (!mayFit)
      continue;
    if (!fits) {
      build(*plan);
      return success();
    }
    auto branch = scf::IfOp::create(builder, op.getLoc(), fits,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    build(*plan);
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  if (plans.empty())
    return failure();
  return op->emitOpError("has no plan that requires nothing of what is known "
                         "at launch only: ")
         << plans.back();
}

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_PAIRKERNEL_H
