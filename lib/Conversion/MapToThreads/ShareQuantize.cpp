//===- ShareQuantize.cpp - kron.quantize on all threads ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The threads share blocks: a row each or, where the batch is last, as many
// columns as fit the second-level cache with all of their features. A block is
// rounded right after its largest magnitudes were found.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Conversion/QuantizeLoops.h"
#include "kron/Machine/ThreadForms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of input in a block of columns: half of a small second-level cache.
static constexpr int64_t kBlockBytes = kThreadForms.quantizeBlockBytes;
/// Columns of a block: shorter ones are slow to reach, and longer ones few.
static constexpr int64_t kMinColumns = kThreadForms.quantizeLeastColumns;
static constexpr int64_t kMostColumns = kThreadForms.quantizeMostColumns;
/// Fewer rows than this, of more elements than that, are shared out themselves.
static constexpr int64_t kSkinnyM = kThreadForms.quantizeSkinnyM;
static constexpr int64_t kLargeRow = kThreadForms.quantizeLargeRow;

namespace {
class QuantizeBlocks {
public:
  QuantizeBlocks(RuntimeCalls &runtime, QuantizeOp op)
      : runtime(runtime), op(op),
        input(cast<MemRefType>(op.getInput().getType())),
        batchRank(cast<MemRefType>(op.getScales().getType()).getRank()),
        first(op.getFirstBatchDim()) {}

  bool hasFewLargeRows() const;
  void emit();

private:
  bool isBatch(unsigned dim) const { return dim - first < batchRank; }
  int64_t getColumns() const;
  void emitBlock(OpBuilder &b, const IRMapping &mapping, Value block);
  Value emitView(OpBuilder &b, Value array, unsigned firstDim,
                 ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);
  Int getSize(OpBuilder &b, Value array, unsigned dim) {
    return getInt(b, op.getLoc(),
                  memref::getMixedSize(b, op.getLoc(), array, dim));
  }

  RuntimeCalls &runtime;
  QuantizeOp op;
  MemRefType input;
  unsigned batchRank, first;
};
} // namespace

bool QuantizeBlocks::hasFewLargeRows() const {
  int64_t rows = 1, elements = 1;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    if (isBatch(dim) && ShapedType::isDynamic(size))
      return false;
    int64_t &product = isBatch(dim) ? rows : elements;
    // Unknown sizes count as large ones.
    product *=
        ShapedType::isDynamic(size) ? kLargeRow : std::min(size, kLargeRow);
    product = std::min(product, kLargeRow);
  }
  return rows < kSkinnyM && elements >= kLargeRow;
}

/// How many positions of the innermost batch dimension make up a block.
int64_t QuantizeBlocks::getColumns() const {
  if (batchRank == 0 || isBatch(0))
    return 1;
  int64_t bytes = input.getElementTypeBitWidth() / 8;
  for (auto [dim, size] : llvm::enumerate(input.getShape()))
    if (!isBatch(dim))
      bytes *= ShapedType::isDynamic(size)
                   ? kMostColumns
                   : std::clamp<int64_t>(size, 1, kBlockBytes);
  int64_t columns = llvm::bit_floor(
      static_cast<uint64_t>(std::max<int64_t>(1, kBlockBytes / bytes)));
  return std::clamp(columns, kMinColumns, kMostColumns);
}

/// `sizes` of `array` from `offsets` on, in its batch; all of its features.
Value QuantizeBlocks::emitView(OpBuilder &b, Value array, unsigned firstDim,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> allSizes = memref::getMixedSizes(b, loc, array);
  SmallVector<OpFoldResult> allOffsets(allSizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(allSizes.size(), b.getIndexAttr(1));
  llvm::copy(offsets, allOffsets.begin() + firstDim);
  llvm::copy(sizes, allSizes.begin() + firstDim);
  return memref::SubViewOp::create(b, loc, array, allOffsets, allSizes,
                                   strides);
}

void QuantizeBlocks::emitBlock(OpBuilder &b, const IRMapping &mapping,
                               Value block) {
  Location loc = op.getLoc();
  Emitter emitter(b, loc, b.getF32Type());
  QuantizeArrays arrays{mapping.lookup(op.getInput()),
                        mapping.lookup(op.getInit()),
                        mapping.lookup(op.getScales()), first};
  auto getIndex = [&](Int number) -> OpFoldResult {
    if (number.isConstant())
      return b.getIndexAttr(number.getConstant());
    return Value(arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                            emitter.materialize(number)));
  };
  // From the innermost batch dimension on.
  SmallVector<OpFoldResult> offsets(batchRank),
      sizes(batchRank, b.getIndexAttr(1));
  SmallVector<int64_t> most(batchRank, 1);
  Int rest = getInt(b, loc, block);
  for (unsigned dim = batchRank; dim-- > 0;) {
    Int size = getSize(b, arrays.input, first + dim), position = rest;
    int64_t columns = dim + 1 == batchRank ? getColumns() : 1;
    if (dim > 0) {
      Int blocks = emitter.ceilDiv(size, columns);
      position = emitter.rem(rest, blocks);
      rest = emitter.floorDiv(rest, blocks);
    }
    if (columns == 1) {
      offsets[dim] = getIndex(position);
      continue;
    }
    position = emitter.mul(position, columns);
    offsets[dim] = getIndex(position);
    sizes[dim] = getIndex(emitter.min(columns, emitter.sub(size, position)));
    most[dim] = columns;
  }
  arrays.input = emitView(b, arrays.input, first, offsets, sizes);
  arrays.init = emitView(b, arrays.init, first, offsets, sizes);
  arrays.scales = emitView(b, arrays.scales, 0, offsets, sizes);
  emitQuantizeLoops(b, loc, arrays, [&](Type element) {
    Value array;
    {
      OpBuilder::InsertionGuard guard(b);
      auto body =
          b.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
      b.setInsertionPointToStart(&body.getBody().front());
      array = memref::AllocaOp::create(b, loc, MemRefType::get(most, element));
    }
    SmallVector<OpFoldResult> zeros(batchRank, b.getIndexAttr(0));
    return emitView(b, array, 0, zeros, sizes);
  });
}

void QuantizeBlocks::emit() {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Emitter emitter(builder, loc, builder.getF32Type());
  int64_t columns = getColumns();
  Int count = 1, elements = columns;
  for (unsigned dim = 0; dim < input.getRank(); ++dim) {
    Int size = getSize(builder, op.getInput(), dim);
    if (!isBatch(dim))
      elements = emitter.mul(elements, size);
    else
      count = emitter.mul(count, dim + 1 == first + batchRank
                                     ? emitter.ceilDiv(size, columns)
                                     : size);
  }
  SharedLoop(runtime, op)
      .emit(count, elements, /*minLength=*/1,
            [&](OpBuilder &body, IRMapping &mapping, Value begin, Value end) {
              Value one = arith::ConstantIndexOp::create(body, loc, 1);
              auto loop = scf::ForOp::create(body, loc, begin, end, one);
              body.setInsertionPointToStart(loop.getBody());
              emitBlock(body, mapping, loop.getInductionVar());
            });
}

/// As operations of linalg on whole arrays.
static void emitWhole(QuantizeOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> temporaries;
  emitQuantizeLoops(
      builder, loc,
      {op.getInput(), op.getInit(), op.getScales(), op.getFirstBatchDim()},
      [&](Type element) {
        temporaries.push_back(memref::AllocOp::create(
            builder, loc, memref::getMixedSizes(builder, loc, op.getScales()),
            element));
        return temporaries.back();
      });
  for (Value temporary : temporaries)
    memref::DeallocOp::create(builder, loc, temporary);
}

void kron::shareQuantize(RuntimeCalls &runtime, QuantizeOp op) {
  QuantizeBlocks blocks(runtime, op);
  if (usesEmptyArray(op) || blocks.hasFewLargeRows())
    emitWhole(op);
  else
    blocks.emit();
}
