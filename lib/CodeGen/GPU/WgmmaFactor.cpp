//===- WgmmaFactor.cpp - Factors as wgmma takes them ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// In shared memory, the slots of K that have 16 bytes follow each other for one
// column after the other. A thread loads so many positions of a column that it
// has all of these bytes of each copy, and stores them together: lanes, of
// which each has a column, then store side by side.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/WgmmaInstruction.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of an access to shared memory, and the most to global memory.
static constexpr int64_t kFactorChunkBytes = 16;
/// Columns that lanes store in one turn, and parts of a column that are loaded
/// side by side at most.
static constexpr int64_t kColumnsOfTurn = 8, kMostPartsOfLine = 4;
/// Positions whose order along K changes among themselves alone.
static constexpr int64_t kFactorPositions = 16;

namespace {

class FactorCopier {
public:
  FactorCopier(KernelBuilder &kernel, const WgmmaOperand &operand,
               const WgmmaFactor &factor, const StepFactor &source,
               Int firstResult, Type element, int64_t threads);

  void emit();

private:
  /// Some positions of a column: the slot of the column, the column, the first
  /// position, and the address of its element.
  struct Part {
    Int column = 0, result = 0, firstK = 0;
    Value exists, address;
  };
  Part locate(Int number);
  Value hasPosition(const Part &part, int64_t offset);
  SmallVector<Value> loadSingly(const Part &part);
  SmallVector<Value> loadTogether(const Part &part);
  SmallVector<Value> load(ArrayRef<Part> some);
  void storeCopy(const Part &part, ArrayRef<Value> bySlot, int64_t bytes,
                 int64_t copy);
  void store(const Part &part, ArrayRef<Value> values);

  KernelBuilder &kernel;
  const WgmmaOperand &operand;
  const WgmmaFactor &factor;
  const StepFactor &source;
  Int firstResult;
  Type element;
  int64_t threads, bytes;
  /// Positions of a part; parts.
  int64_t positions, parts;
  /// Those of a column whose loads share lines.
  int64_t partsOfLine = 1;
  /// Whether positions that are neighbours in memory can be loaded together
  /// from addresses that are aligned; and whether these are.
  bool hasNeighbours;
  Value isAligned;
};

} // namespace

FactorCopier::FactorCopier(KernelBuilder &kernel, const WgmmaOperand &operand,
                           const WgmmaFactor &factor, const StepFactor &source,
                           Int firstResult, Type element, int64_t threads)
    : kernel(kernel), operand(operand), factor(factor), source(source),
      firstResult(firstResult), element(element), threads(threads),
      bytes(getElementBytes(element)),
      positions(operand.paddedK % kFactorPositions == 0 ? kFactorPositions
                                                        : operand.getStep()),
      parts(operand.paddedK / positions * operand.paddedResults) {
  int64_t together = kFactorChunkBytes / bytes;
  hasNeighbours = source.strideK.is(1) && source.resultStride.isConstant() &&
                  source.resultStride.getConstant() % together == 0 &&
                  operand.sizeK % together == 0;
  if (hasNeighbours) {
    int64_t ofColumn = operand.paddedK / positions;
    partsOfLine = std::min<int64_t>(kMostPartsOfLine, ofColumn & -ofColumn);
  }
}

/// Eight lanes in turn have columns side by side, whose 16 bytes they store
/// without conflicts, and others behind these the next positions.
FactorCopier::Part FactorCopier::locate(Int number) {
  Part part;
  Int lane = kernel.rem(number, kColumnsOfTurn);
  Int turn = kernel.floorDiv(number, kColumnsOfTurn);
  Int inLine = kernel.rem(turn, partsOfLine);
  turn = kernel.floorDiv(turn, partsOfLine);
  int64_t turns = operand.paddedResults / kColumnsOfTurn;
  part.column =
      kernel.add(kernel.mul(kernel.rem(turn, turns), kColumnsOfTurn), lane);
  part.firstK = kernel.mul(
      kernel.add(kernel.mul(kernel.floorDiv(turn, turns), partsOfLine), inLine),
      positions);
  part.result =
      kernel.add(firstResult, getWgmmaResult(kernel, operand, part.column));
  if (operand.sizeN % operand.paddedResults != 0)
    part.exists = kernel.less(part.result, operand.sizeN);
  Int offset =
      kernel.add(kernel.mul(kernel.extend(part.firstK), source.strideK),
                 kernel.mul(kernel.extend(part.result), source.resultStride));
  part.address = kernel.offsetBytes(source.base, kernel.mul(offset, bytes));
  return part;
}

/// Whether the part has a position; null if that is known.
Value FactorCopier::hasPosition(const Part &part, int64_t offset) {
  int64_t last = operand.paddedK - positions + offset;
  if (last < operand.sizeK)
    return part.exists;
  return kernel.both(
      part.exists, kernel.less(kernel.add(part.firstK, offset), operand.sizeK));
}

/// Elsewhere the first element stands in, so that loads need no branches.
SmallVector<Value> FactorCopier::loadSingly(const Part &part) {
  SmallVector<Value> values;
  for (int64_t offset = 0; offset < positions; ++offset) {
    Value exists = hasPosition(part, offset);
    Value pointer = kernel.offsetBytes(
        part.address, kernel.mul(source.strideK, offset * bytes));
    if (exists)
      pointer = kernel.select(exists, pointer, source.base);
    Value value = kernel.load(element, pointer, CacheHint::ReadOnly);
    if (exists)
      value = kernel.select(exists, value, kernel.constant(element, 0.0));
    values.push_back(value);
  }
  return values;
}

SmallVector<Value> FactorCopier::loadTogether(const Part &part) {
  int64_t together = kFactorChunkBytes / bytes;
  auto type = VectorType::get(together, element);
  SmallVector<Value> values;
  for (int64_t offset = 0; offset < positions; offset += together) {
    Value exists = hasPosition(part, offset);
    Value pointer = kernel.offsetBytes(part.address, offset * bytes);
    if (exists)
      pointer = kernel.select(exists, pointer, source.base);
    Value vector = kernel.load(type, pointer, CacheHint::ReadOnly);
    if (exists)
      vector = kernel.select(exists, vector, kernel.zero(type));
    llvm::append_range(values, kernel.unpack(vector));
  }
  return values;
}

/// Elements of `some`, one part's behind the other's: all are on their way
/// together.
SmallVector<Value> FactorCopier::load(ArrayRef<Part> some) {
  auto loadAll = [&](bool areTogether) {
    SmallVector<Value> values;
    for (const Part &part : some)
      llvm::append_range(values,
                         areTogether ? loadTogether(part) : loadSingly(part));
    return values;
  };
  if (!hasNeighbours)
    return loadAll(false);
  return kernel.ifElse(
      isAligned, SmallVector<Type>(positions * some.size(), element),
      [&] { return loadAll(true); }, [&] { return loadAll(false); });
}

/// Stores elements of `bytes` bytes each in the order of their slots.
void FactorCopier::storeCopy(const Part &part, ArrayRef<Value> bySlot,
                             int64_t bytes, int64_t copy) {
  int64_t together = kFactorChunkBytes / bytes;
  int64_t pitch = operand.paddedResults * kFactorChunkBytes;
  Value base = kernel.shared(kernel.add(
      kernel.add(kernel.mul(part.column, kFactorChunkBytes),
                 kernel.mul(kernel.floorDiv(part.firstK, together), pitch)),
      factor.offset + copy));
  for (int64_t first = 0; first < positions; first += together)
    kernel.store(kernel.makeVector(bySlot.slice(first, together)),
                 kernel.offsetBytes(base, first / together * pitch));
}

void FactorCopier::store(const Part &part, ArrayRef<Value> values) {
  SmallVector<Value> main(positions), residual(positions), half(positions);
  auto toHalf = [&](Value number) -> Value {
    return LLVM::FPTruncOp::create(kernel.builder, kernel.loc,
                                   kernel.builder.getBF16Type(), number);
  };
  for (int64_t slot = 0; slot < positions; ++slot) {
    int64_t position = getWgmmaK(kernel, operand, slot).getConstant();
    Value value = values[position];
    if (operand.kind == WgmmaKind::Half) {
      main[slot] = value;
      continue;
    }
    if (!element.isF32())
      value = LLVM::FPExtOp::create(kernel.builder, kernel.loc,
                                    kernel.builder.getF32Type(), value);
    auto [high, low] = kernel.splitTF32(value);
    main[slot] = high;
    if (operand.kind != WgmmaKind::Split)
      continue;
    int64_t halfSlot =
        getWgmmaHalfSlot(kernel, operand, position).getConstant();
    residual[halfSlot] = toHalf(low);
    half[halfSlot] = toHalf(value);
  }
  if (operand.kind == WgmmaKind::Half)
    return storeCopy(part, main, 2, 0);
  storeCopy(part, main, 4, 0);
  if (operand.kind != WgmmaKind::Split)
    return;
  storeCopy(part, residual, 2, operand.factorBytes);
  storeCopy(part, half, 2, operand.factorBytes + operand.factorBytes / 2);
}

void FactorCopier::emit() {
  if (hasNeighbours) {
    Int address(LLVM::PtrToIntOp::create(
        kernel.builder, kernel.loc, kernel.builder.getI64Type(), source.base));
    isAligned = kernel.equal(kernel.bitAnd(address, kFactorChunkBytes - 1), 0);
  }
  int64_t together = std::min<int64_t>(llvm::divideCeil(parts, threads),
                                       kWgmmaFactorBytes / (positions * bytes));
  bool areWhole = parts % (threads * together) == 0;
  kernel.rolledLoop(0, parts, threads * together, [&](Int first) {
    SmallVector<Part> some;
    SmallVector<Value> inFactor;
    for (int64_t index = 0; index < together; ++index) {
      Int number =
          kernel.add(first, kernel.add(kernel.threadId(), index * threads));
      Value isPart = areWhole ? Value() : kernel.less(number, parts);
      some.push_back(locate(number));
      some.back().exists = kernel.both(isPart, some.back().exists);
      inFactor.push_back(isPart);
    }
    SmallVector<Value> values = load(some);
    for (auto [index, part] : llvm::enumerate(some))
      kernel.ifThen(inFactor[index], [&, index = index, &part = part] {
        store(part, ArrayRef(values).slice(index * positions, positions));
      });
  });
}

void kron::emitWgmmaFactor(KernelBuilder &kernel, const WgmmaOperand &operand,
                           const WgmmaFactor &factor, const StepFactor &source,
                           Int firstResult, Type element, int64_t threads) {
  FactorCopier(kernel, operand, factor, source, firstResult, element, threads)
      .emit();
}
