//===- PairwiseBuilder.cpp - Blocks of functions of pairs -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What is outside of blocks: arrays, the loop that threads share, and slices of
// K.
//
//===----------------------------------------------------------------------===//

#include "PairwiseBuilder.h"
#include "Captures.h"
#include "FusedBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

/// Multiply-adds that are worth a thread, as kronRtParallelFor counts them.
static constexpr int64_t kThreadFmas = 1 << 16;

PairwiseBuilder::PairwiseBuilder(OpBuilder &builder, SymbolTable &symbols,
                                 PairOpInterface op, PairwisePlanAttr plan)
    : builder(builder), loc(op.getLoc()), op(op), runtime(symbols), plan(plan),
      accumulator(op.getAccumulatorType()) {
  lanes = plan.getVectorBits() / accumulator.getIntOrFloatBitWidth();
  width = plan.getVectors() * lanes;
  planScratch();
}

void PairwiseBuilder::planScratch() {
  int64_t sizeK =
      cast<MemRefType>(op.getLhs().getType()).getDimSize(op.getReducedDim(0));
  sliceK = plan.getKBlock();
  hasSlices = ShapedType::isDynamic(sizeK) || sizeK > sliceK;
  if (!hasSlices)
    sliceK = sizeK;
  packedK = llvm::alignTo(sliceK, lanes);
  sumsOffset = packedK * width;
  convertedOffset = sumsOffset + (hasSlices ? plan.getRowBlock() * width : 0);
  bool converts = getElementType(op.getLhs()) != accumulator;
  int64_t convertedRows = llvm::alignTo(plan.getRows(), lanes);
  scratchElements = convertedOffset + (converts ? convertedRows * packedK : 0);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Strides of the batch of the result in `array`, which has `rank` dimensions
/// of it, aligned at the right.
static SmallVector<Int> getBatchStrides(Value array, const StageArray &strided,
                                        unsigned rank, unsigned resultRank) {
  SmallVector<Int> strides(resultRank, 0);
  auto shape = cast<MemRefType>(array.getType()).getShape();
  for (unsigned dim = 0; dim < rank; ++dim)
    if (shape[dim] != 1)
      strides[resultRank - rank + dim] = strided.strides[dim];
  return strides;
}

PairwiseMatrix PairwiseBuilder::getMatrix(Emitter &emitter, Value array,
                                          unsigned rowsDim, unsigned innerDim) {
  StageArray strided = getFusedArray(emitter, array);
  unsigned resultRank = cast<MemRefType>(op.getInit().getType()).getRank() - 2;
  unsigned rank = cast<MemRefType>(array.getType()).getRank() - 2;
  return {strided.base, getBatchStrides(array, strided, rank, resultRank),
          strided.strides[rowsDim], strided.strides[innerDim], strided.element};
}

PairwiseArrays PairwiseBuilder::collectArrays(Emitter &emitter) {
  PairwiseArrays arrays;
  SmallVector<Int> sizes = getArraySizes(emitter, op.getInit());
  unsigned batchRank = sizes.size() - 2;
  arrays.batch.assign(sizes.begin(), sizes.begin() + batchRank);
  arrays.sizeM = sizes[batchRank];
  arrays.sizeN = getArraySizes(emitter, op.getRhs())[op.getRowsDim(1)];
  arrays.sizeK = getArraySizes(emitter, op.getLhs())[op.getReducedDim(0)];
  arrays.lhs =
      getMatrix(emitter, op.getLhs(), op.getRowsDim(0), op.getReducedDim(0));
  arrays.rhs =
      getMatrix(emitter, op.getRhs(), op.getRowsDim(1), op.getReducedDim(1));
  arrays.init = getMatrix(emitter, op.getInit(), batchRank, batchRank + 1);
  for (Value param : op.getParams()) {
    if (!isa<MemRefType>(param.getType())) {
      arrays.params.push_back({param, std::nullopt});
      continue;
    }
    StageArray array = getFusedArray(emitter, param);
    unsigned rank = array.strides.size();
    arrays.params.push_back(
        {array.base, getBatchStrides(param, array, rank, batchRank)});
  }
  addArrays(emitter, arrays);
  return arrays;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Int PairwiseBuilder::getExtent(Emitter &emitter, Int size, Int first,
                               int64_t most) {
  if (size.isConstant() && size.getConstant() % most == 0)
    return most;
  return emitter.min(most, emitter.sub(size, first));
}

void PairwiseBuilder::moveMatrix(Emitter &emitter, PairwiseMatrix &matrix,
                                 Int row, Int inner) {
  for (auto [position, stride] :
       {std::pair(row, matrix.row), std::pair(inner, matrix.inner)})
    matrix.base = emitter.offsetPointer(
        matrix.base, emitter.mul(position, stride), matrix.element);
}

PairwiseBlock PairwiseBuilder::getBatch(Emitter &emitter,
                                        const PairwiseArrays &arrays,
                                        Int batch) {
  PairwiseBlock block{arrays.lhs,   arrays.rhs,   arrays.init, arrays.values,
                      arrays.sizeM, arrays.sizeN, {}};
  for (const PairwiseParameter &param : arrays.params)
    block.params.push_back(param.value);
  auto move = [&](Value &base, Int position, Int stride, Type element) {
    base = emitter.offsetPointer(base, emitter.mul(position, stride), element);
  };
  for (unsigned dim = arrays.batch.size(); dim-- > 0;) {
    Int position = dim > 0 ? emitter.rem(batch, arrays.batch[dim]) : batch;
    if (dim > 0)
      batch = emitter.floorDiv(batch, arrays.batch[dim]);
    for (PairwiseMatrix *matrix :
         {&block.lhs, &block.rhs, &block.init, &block.values})
      if (matrix->base)
        move(matrix->base, position, matrix->batch[dim], matrix->element);
    for (auto [value, param] : llvm::zip(block.params, arrays.params))
      if (param.batch)
        move(value, position, (*param.batch)[dim], accumulator);
  }
  for (auto [value, param] : llvm::zip(block.params, arrays.params))
    if (param.batch)
      value = emitter.loadScalar(value);
  return block;
}

Int PairwiseBuilder::countBatch(Emitter &emitter,
                                const PairwiseArrays &arrays) {
  Int count = 1;
  for (Int size : arrays.batch)
    count = emitter.mul(count, size);
  return count;
}

void PairwiseBuilder::emitSlices(Emitter &emitter, const PairwiseBlock &block,
                                 Int sizeK, Value isPacked) {
  if (hasSlices) {
    // One at least: an empty sum is a result, too.
    Int slices = emitter.max(emitter.ceilDiv(sizeK, sliceK), 1);
    Int last = emitter.sub(slices, 1);
    emitter.forLoop(0, slices, 1, [&](Int number) {
      Int start = emitter.mul(number, sliceK);
      PairwiseSlice slice{start, emitter.min(sliceK, emitter.sub(sizeK, start)),
                          emitter.equal(number, 0),
                          emitter.equal(number, last)};
      packColumns(emitter, block, slice);
      emitColumns(emitter, block, slice);
    });
    return;
  }
  PairwiseSlice slice{0, sizeK, nullptr, nullptr};
  if (!isPacked) {
    packColumns(emitter, block, slice);
  } else {
    emitChoice(
        emitter, isPacked, [] {}, [&] { packColumns(emitter, block, slice); });
  }
  emitColumns(emitter, block, slice);
}

//===----------------------------------------------------------------------===//
// The body, and its call
//===----------------------------------------------------------------------===//

static void enter(Captures &captures, PairwiseMatrix &matrix) {
  captures.enter(matrix.base);
  captures.enter(matrix.batch);
  captures.enter(matrix.row);
  captures.enter(matrix.inner);
}

static void enter(Captures &captures, PairwiseArrays &arrays) {
  captures.enter(arrays.batch);
  for (Int *size : {&arrays.sizeM, &arrays.sizeN, &arrays.sizeK, &arrays.sizeC,
                    &arrays.blockRows})
    captures.enter(*size);
  for (PairwiseMatrix *matrix :
       {&arrays.lhs, &arrays.rhs, &arrays.init, &arrays.values})
    enter(captures, *matrix);
  for (PairwiseParameter &param : arrays.params) {
    captures.enter(param.value);
    if (param.batch)
      captures.enter(*param.batch);
  }
}

void PairwiseBuilder::emitBody(func::FuncOp body, PairwiseArrays arrays,
                               SmallVectorImpl<Value> &captures) {
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = body.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Emitter emitter(builder, loc, accumulator);
  emitter.has16BitConversion = has16BitConversion(plan.getVectorBits());
  Value begin = entry->getArgument(0), end = entry->getArgument(1);
  scratch = entry->getArgument(2);
  Captures entered(builder, loc, entry->getArgument(3), captures);
  enter(entered, arrays);
  emitter.forLoop(Int(begin), Int(end), 1, [&](Int number) {
    emitPart(emitter, arrays, number, begin);
  });
  func::ReturnOp::create(builder, loc);
}

Int PairwiseBuilder::getGrain(Emitter &emitter, Int fmas) {
  if (fmas.isConstant())
    return RuntimeCalls::getGrain(fmas.getConstant(), kThreadFmas);
  return emitter.max(emitter.floorDiv(kThreadFmas, emitter.max(fmas, 1)), 1);
}

WorkspaceBytes PairwiseBuilder::emit() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  std::string name =
      (op->getParentOfType<func::FuncOp>().getSymName() + "_pairwise").str();
  func::FuncOp body = runtime.createBody(builder, loc, name);
  // LLVM IR keeps the mark: lib/Target optimizes explicit kernels lightly.
  body->setAttr("passthrough", builder.getStrArrayAttr({kKernelFunctionAttr}));
  Emitter emitter(builder, loc, accumulator);
  PairwiseArrays arrays = collectArrays(emitter);
  SmallVector<Value> captures;
  emitBody(body, arrays, captures);

  Value slots = storeCaptures(builder, loc, captures);
  Int grain = getGrain(emitter, countFmas(emitter, arrays));
  runtime.parallelFor(emitter, countParts(emitter, arrays), grain, body, slots,
                      scratchElements * emitter.getElementBytes());
  return runtime.getWorkspace();
}
