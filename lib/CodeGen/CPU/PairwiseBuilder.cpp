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
#include "kron/Machine/ThreadForms.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

PairwiseBuilder::PairwiseBuilder(OpBuilder &builder, SymbolTable &symbols,
                                 PairOpInterface op, PairwisePlanAttr plan,
                                 unsigned rowSide)
    : builder(builder), loc(op.getLoc()), op(op), runtime(symbols), plan(plan),
      accumulator(op.getAccumulatorType()), rowSide(rowSide) {
  lanes = plan.getVectorBits() / accumulator.getIntOrFloatBitWidth();
  width = plan.getVectors() * lanes;
  if (!op.getDirections().empty() && !isa<PairwiseGradOp>(op.getOperation())) {
    innerAlong = PairProgram::getInner(op).getAlong();
    epilogueAlong = PairProgram::getEpilogue(op).getAlong();
  }
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
  alongOffset = packedK * width;
  int64_t numSums = hasDirections() ? 2 : 1;
  sumsOffset = numSums * alongOffset;
  convertedOffset =
      sumsOffset + (hasSlices ? numSums * plan.getRowBlock() * width : 0);
  bool converts = getElementType(op.getLhs()) != accumulator;
  int64_t convertedRows = llvm::alignTo(plan.getRows(), lanes);
  scratchElements = convertedOffset + (converts ? convertedRows * packedK : 0);
  if (plan.hasProducts())
    planProducts();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Strides of the batch of the result in `array`, which has `rank` dimensions
/// of it, aligned at the right.
static SmallVector<Int> getBatchStrides(Value array, const StepArray &strided,
                                        unsigned rank, unsigned resultRank) {
  SmallVector<Int> strides(resultRank, 0);
  auto shape = cast<MemRefType>(array.getType()).getShape();
  for (unsigned dim = 0; dim < rank; ++dim)
    if (shape[dim] != 1)
      strides[resultRank - rank + dim] = strided.strides[dim];
  return strides;
}

static unsigned getBatchRank(PairOpInterface op) {
  return getLargestBatchRank(getPairArrays(op));
}

PairwiseMatrix PairwiseBuilder::getMatrix(Emitter &emitter, Value array,
                                          std::optional<unsigned> rowsDim) {
  StepArray strided = getFusedArray(emitter, array);
  unsigned rank = strided.strides.size(), batchRank = rank - (rowsDim ? 2 : 0);
  PairwiseMatrix matrix{
      strided.base,
      getBatchStrides(array, strided, batchRank, ::getBatchRank(op)), 0, 0,
      strided.element};
  if (rowsDim) {
    matrix.row = strided.strides[*rowsDim];
    matrix.inner = strided.strides[2 * rank - 3 - *rowsDim];
  }
  return matrix;
}

/// Sizes of the batch, each from the first array, the destination if it does,
/// that does not stretch there.
static SmallVector<Int> getBatchSizes(Emitter &emitter, PairOpInterface op) {
  SmallVector<PairArray> arrays = getPairArrays(op);
  SmallVector<Int> batch(getLargestBatchRank(arrays), 1);
  SmallVector<bool> isKnown(batch.size(), false);
  auto visit = [&](const PairArray &array) {
    SmallVector<Int> sizes = getArraySizes(emitter, array.value);
    auto shape = cast<MemRefType>(array.value.getType()).getShape();
    for (unsigned dim = 0, rank = array.getBatchRank(); dim < rank; ++dim) {
      unsigned position = batch.size() - rank + dim;
      if (shape[dim] != 1 && !std::exchange(isKnown[position], true))
        batch[position] = sizes[dim];
    }
  };
  for (bool isInit : {true, false})
    for (const PairArray &array : arrays)
      if (array.isInit == isInit)
        visit(array);
  return batch;
}

PairwiseArrays PairwiseBuilder::collectArrays(Emitter &emitter) {
  PairwiseArrays arrays;
  Value sides[] = {op.getLhs(), op.getRhs()};
  Value rows = sides[rowSide], columns = sides[1 - rowSide];
  unsigned rowsDim = op.getRowsDim(rowSide);
  unsigned columnsDim = op.getRowsDim(1 - rowSide);
  arrays.batch = getBatchSizes(emitter, op);
  arrays.sizeM = getArraySizes(emitter, rows)[rowsDim];
  arrays.sizeN = getArraySizes(emitter, columns)[columnsDim];
  arrays.sizeK = getArraySizes(emitter, op.getLhs())[op.getReducedDim(0)];
  arrays.lhs = getMatrix(emitter, rows, rowsDim);
  arrays.rhs = getMatrix(emitter, columns, columnsDim);
  for (const PairArray &array : getPairArrays(op))
    if (array.isInit)
      arrays.init =
          getMatrix(emitter, op.getInit(),
                    array.getDim(rowSide == 0 ? PairAxis::M : PairAxis::N));
  unsigned batchRank = arrays.batch.size();
  SmallVector<Value> params(op.getParams());
  if (hasDirections()) {
    OperandRange directions = op.getDirections();
    // Batches of directions may have another rank.
    auto getAlong = [&](Value direction, Value array, unsigned dim) {
      auto getRank = [](Value value) {
        return cast<MemRefType>(value.getType()).getRank();
      };
      return getMatrix(emitter, direction,
                       dim + getRank(direction) - getRank(array));
    };
    arrays.lhsAlong = getAlong(directions[0], rows, rowsDim);
    arrays.rhsAlong = getAlong(directions[1], columns, columnsDim);
    llvm::append_range(params, directions.drop_front(2));
  }
  for (Value param : params) {
    if (!isa<MemRefType>(param.getType())) {
      arrays.params.push_back({param, std::nullopt});
      continue;
    }
    StepArray array = getFusedArray(emitter, param);
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
                               Int most) {
  if (size.isConstant() && most.isConstant() &&
      size.getConstant() % most.getConstant() == 0)
    return most;
  return emitter.min(most, emitter.sub(size, first));
}

void PairwiseBuilder::moveMatrix(Emitter &emitter, PairwiseMatrix &matrix,
                                 Int row, Int inner) {
  if (!matrix.base)
    return;
  for (auto [position, stride] :
       {std::pair(row, matrix.row), std::pair(inner, matrix.inner)})
    matrix.base = emitter.offsetPointer(
        matrix.base, emitter.mul(position, stride), matrix.element);
}

void PairwiseBuilder::moveRows(Emitter &emitter, PairwiseMatrices &matrices,
                               Int first) {
  for (PairwiseMatrix *matrix :
       {&matrices.lhs, &matrices.lhsAlong, &matrices.rowFactor,
        &matrices.weights, &matrices.init})
    moveMatrix(emitter, *matrix, first);
}

void PairwiseBuilder::moveColumns(Emitter &emitter, PairwiseMatrices &matrices,
                                  Int first) {
  for (PairwiseMatrix *matrix :
       {&matrices.rhs, &matrices.rhsAlong, &matrices.values})
    moveMatrix(emitter, *matrix, first);
  moveMatrix(emitter, matrices.weights, 0, first);
}

PairwiseBlock PairwiseBuilder::getBatch(Emitter &emitter,
                                        const PairwiseArrays &arrays,
                                        Int batch) {
  PairwiseBlock block{arrays, arrays.sizeM, arrays.sizeN, {}, arrays.sizeM, {}};
  for (const PairwiseParameter &param : arrays.params)
    block.params.push_back(param.value);
  auto move = [&](Value &base, Int position, Int stride, Type element) {
    base = emitter.offsetPointer(base, emitter.mul(position, stride), element);
  };
  for (unsigned dim = arrays.batch.size(); dim-- > 0;) {
    Int position = dim > 0 ? emitter.rem(batch, arrays.batch[dim]) : batch;
    if (dim > 0)
      batch = emitter.floorDiv(batch, arrays.batch[dim]);
    for (PairwiseMatrix *matrix : block.getAll())
      if (matrix->base)
        move(matrix->base, position, matrix->batch[dim], matrix->element);
    for (auto [value, param] : llvm::zip(block.params, arrays.params))
      if (param.batch)
        move(value, position, (*param.batch)[dim], accumulator);
  }
  for (auto [value, param] : llvm::zip(block.params, arrays.params))
    if (param.batch)
      value = emitter.loadScalar(value);
  block.firstRows = block.lhs;
  return block;
}

Int PairwiseBuilder::countBatch(Emitter &emitter,
                                const PairwiseArrays &arrays) {
  Int count = 1;
  for (Int size : arrays.batch)
    count = emitter.mul(count, size);
  return count;
}

Int PairwiseBuilder::getBlockRows(Emitter &emitter, Int sizeM, Int others) {
  Int threads(runtime.getNumThreads(emitter));
  Int parts = emitter.ceilDiv(threads, emitter.max(others, 1));
  Int tiles = emitter.ceilDiv(emitter.ceilDiv(sizeM, parts), plan.getRows());
  Int rows = emitter.mul(emitter.max(tiles, 1), plan.getRows());
  return emitter.min(rows, plan.getRowBlock());
}

PairwiseBlock PairwiseBuilder::getStrip(Emitter &emitter,
                                        const PairwiseBlock &block, Int first) {
  PairwiseBlock strip = block;
  strip.columns = getExtent(emitter, block.columns, first, width);
  moveColumns(emitter, strip, first);
  return strip;
}

void PairwiseBuilder::packSlice(Emitter &emitter, const PairwiseBlock &block,
                                const PairwiseSlice &slice, Value isPacked) {
  auto pack = [&] {
    if (slice.form == PairwiseForm::Products)
      packRows(emitter, block, slice);
    else
      packColumns(emitter, block, slice);
  };
  if (isPacked)
    emitChoice(
        emitter, isPacked, [] {}, pack);
  else
    pack();
  if (slice.form == PairwiseForm::Products)
    packColumns(emitter, block, slice);
}

void PairwiseBuilder::emitSlices(Emitter &emitter, const PairwiseBlock &block,
                                 Int sizeK, PairwiseForm form, Value isPacked) {
  if (!hasSlices) {
    PairwiseSlice slice{form, 0, sizeK, nullptr, nullptr};
    packSlice(emitter, block, slice, isPacked);
    return emitColumns(emitter, block, slice);
  }
  // One at least: an empty sum is a result, too.
  Int slices = emitter.max(emitter.ceilDiv(sizeK, sliceK), 1);
  Int last = emitter.sub(slices, 1);
  // What is packed is still there if it is all of K.
  if (isPacked)
    isPacked =
        arith::AndIOp::create(builder, loc, isPacked, emitter.equal(slices, 1));
  emitter.forLoop(0, slices, 1, [&](Int number) {
    Int start = emitter.mul(number, sliceK);
    PairwiseSlice slice{form, start,
                        emitter.min(sliceK, emitter.sub(sizeK, start)),
                        emitter.equal(number, 0), emitter.equal(number, last)};
    packSlice(emitter, block, slice, isPacked);
    emitColumns(emitter, block, slice);
  });
}

void PairwiseBuilder::emitStrip(Emitter &emitter, const PairwiseBlock &strip,
                                Int sizeK, Value isPacked) {
  if (!plan.hasProducts())
    return emitSlices(emitter, strip, sizeK, PairwiseForm::Function, isPacked);
  if (sizeK.isConstant() && sizeK.getConstant() < plan.getProductK())
    return emitSlices(emitter, strip, sizeK, PairwiseForm::Function, nullptr);
  emitProducts(emitter, strip, sizeK, isPacked);
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
                    &arrays.blockRows, &arrays.sizeSummed, &arrays.sizeO})
    captures.enter(*size);
  for (PairwiseMatrix *matrix : arrays.getAll())
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
  emitter.hasLaneMasks = hasLaneMasks(plan.getVectorBits());
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
    return RuntimeCalls::getGrain(fmas.getConstant(), kThreadForms.leastFmas);
  return emitter.max(
      emitter.floorDiv(kThreadForms.leastFmas, emitter.max(fmas, 1)), 1);
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
