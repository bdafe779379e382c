//===- WgmmaInstruction.cpp - Series of wgmma instructions ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows and columns may be fed to the matrix unit in any order, as long as data
// and factor agree. The order along K is chosen such that a thread's elements
// are neighbours in shared memory (innermost axis: 4 f32 that two instructions
// share; other axes: 2 f32 or 4 16-bit values of successive positions), that of
// the columns such that a thread ends up with 4 successive ones.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/WgmmaInstruction.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a core matrix: 8 columns x 16 bytes.
static constexpr int64_t kCoreBytes = 128;
/// Elements of a factor that a thread loads before it stores the first.
static constexpr int64_t kFactorBatch = 16;

/// The number whose parts, a few bits of `number` each, are moved elsewhere.
struct BitMove {
  int64_t from;
  int64_t mask;
  int64_t to;
};

static Int moveBits(KernelBuilder &kernel, Int number,
                    ArrayRef<BitMove> moves) {
  Int result = 0;
  for (const BitMove &move : moves) {
    Int part = kernel.floorDiv(number, int64_t(1) << move.from);
    if (move.mask >= 0)
      part = kernel.bitAnd(part, move.mask);
    result = kernel.add(result, kernel.mul(part, int64_t(1) << move.to));
  }
  return result;
}

Int kron::getWgmmaK(KernelBuilder &kernel, const WgmmaOperand &operand,
                    Int slot) {
  if (operand.kind == WgmmaKind::Half) {
    if (operand.innermost)
      return slot;
    // Slots 8h + 2t + e <-> positions 4t + 2h + e of 16.
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
  }
  // Slots 8s + 4h + t <-> positions 4t + 2s + h of 16.
  if (operand.innermost)
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {0, 3, 2}, {3, 1, 1}, {2, 1, 0}});
  // Slots 4h + t <-> positions 2t + h of 8.
  return moveBits(kernel, slot, {{3, -1, 3}, {0, 3, 1}, {2, 1, 0}});
}

Int kron::getWgmmaSlot(KernelBuilder &kernel, const WgmmaOperand &operand,
                       Int positionK) {
  if (operand.innermost)
    return moveBits(kernel, positionK,
                    {{4, -1, 4}, {2, 3, 0}, {1, 1, 3}, {0, 1, 2}});
  return moveBits(kernel, positionK, {{3, -1, 3}, {1, 3, 0}, {0, 1, 2}});
}

Int kron::getWgmmaHalfSlot(KernelBuilder &kernel, const WgmmaOperand &operand,
                           Int positionK) {
  // Positions 4t + 2h + e <-> slots 8h + 2t + e of 16.
  if (operand.innermost)
    return moveBits(kernel, positionK,
                    {{4, -1, 4}, {2, 3, 1}, {1, 1, 3}, {0, 1, 0}});
  return positionK;
}

Int kron::getWgmmaResult(KernelBuilder &kernel, const WgmmaOperand &operand,
                         Int slot) {
  if (!operand.innermost)
    return slot;
  // Slots 8h + 2t + e <-> columns 4t + 2h + e of 16.
  return moveBits(kernel, slot, {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
}

namespace {

/// Copies one factor to shared memory. Lanes run along the dimension whose
/// elements are neighbours in memory (`inner`), threads and rounds along the
/// other one. Their indices take different bits of the position, and bits only
/// change places on the way to an address: it is the sum of what each adds.
class FactorCopier {
public:
  FactorCopier(KernelBuilder &kernel, const WgmmaOperand &operand,
               const WgmmaFactor &factor, const StepFactor &source,
               Int firstResult, Type element, int64_t threads);

  void emit();

private:
  /// A part of the position of an element: column and slot on K, which are
  /// where it goes, and positions on N and K, which are where it is.
  struct Part {
    Int column = 0, slot = 0, halfSlot = 0, result = 0, positionK = 0;
  };
  Part makePart(Int inner, Int outer);
  Part makeLoopPart(Int outer);
  int64_t getRoundOuter(int64_t round) const { return round * outerThreads; }
  Int offsetGlobal(const Part &part);
  Int offsetShared(const Part &part, Int slot, int64_t bytes);
  void emitInner(Int inner);
  void emitRounds(const Part &loop, int64_t first, int64_t count);
  void store(Value value, const Part &round);

  KernelBuilder &kernel;
  const WgmmaOperand &operand;
  const WgmmaFactor &factor;
  const StepFactor &source;
  Int firstResult;
  Type element, f32;
  int64_t threads;
  bool slotsInside;
  int64_t innerSize, outerSize, innerThreads, outerThreads;
  Part thread;
  /// Where this thread's elements go and come from, in this chunk.
  Value global, main, half;
};

} // namespace

FactorCopier::FactorCopier(KernelBuilder &kernel, const WgmmaOperand &operand,
                           const WgmmaFactor &factor, const StepFactor &source,
                           Int firstResult, Type element, int64_t threads)
    : kernel(kernel), operand(operand), factor(factor), source(source),
      firstResult(firstResult), element(element),
      f32(kernel.builder.getF32Type()), threads(threads) {
  slotsInside = source.strideK.is(1) && !source.resultStride.is(1);
  innerSize = slotsInside ? operand.paddedK : operand.paddedResults;
  outerSize = slotsInside ? operand.paddedResults : operand.paddedK;
  int64_t most = llvm::bit_floor<uint64_t>(threads);
  innerThreads = std::min<int64_t>(llvm::PowerOf2Ceil(innerSize), most);
  // A power of two that divides the size, so that no round is partial.
  outerThreads = std::min<int64_t>(most / innerThreads, outerSize & -outerSize);
}

FactorCopier::Part FactorCopier::makePart(Int inner, Int outer) {
  Part part;
  part.column = slotsInside ? outer : inner;
  part.slot = slotsInside ? inner : outer;
  part.positionK = getWgmmaK(kernel, operand, part.slot);
  part.result = getWgmmaResult(kernel, operand, part.column);
  if (operand.kind == WgmmaKind::Split)
    part.halfSlot = getWgmmaHalfSlot(kernel, operand, part.positionK);
  return part;
}

/// The same for multiples of 16, which stay what they are.
FactorCopier::Part FactorCopier::makeLoopPart(Int outer) {
  Part part;
  (slotsInside ? part.column : part.slot) = outer;
  (slotsInside ? part.result : part.positionK) = outer;
  if (!slotsInside)
    part.halfSlot = outer;
  return part;
}

Int FactorCopier::offsetGlobal(const Part &part) {
  Int offset =
      kernel.add(kernel.mul(kernel.extend(part.positionK), source.strideK),
                 kernel.mul(kernel.extend(part.result), source.resultStride));
  return kernel.mul(offset, getElementBytes(element));
}

/// In a copy of `bytes` bytes per element.
Int FactorCopier::offsetShared(const Part &part, Int slot, int64_t bytes) {
  int64_t coreK = 16 / bytes;
  Int core = kernel.add(
      kernel.mul(kernel.floorDiv(slot, coreK), operand.paddedResults / 8),
      kernel.floorDiv(part.column, 8));
  Int inside = kernel.add(kernel.mul(kernel.bitAnd(part.column, 7), 16),
                          kernel.mul(kernel.bitAnd(slot, coreK - 1), bytes));
  return kernel.add(kernel.mul(core, kCoreBytes), inside);
}

void FactorCopier::store(Value value, const Part &round) {
  auto put = [&](Value number, Value base, Int slot, int64_t bytes,
                 int64_t copy) {
    kernel.store(number,
                 kernel.offsetBytes(
                     base, kernel.add(offsetShared(round, slot, bytes), copy)));
  };
  if (operand.kind == WgmmaKind::Half)
    return put(value, main, round.slot, 2, 0);
  if (!element.isF32())
    value = LLVM::FPExtOp::create(kernel.builder, kernel.loc, f32, value);
  auto [high, low] = kernel.splitTF32(value);
  put(high, main, round.slot, 4, 0);
  if (operand.kind != WgmmaKind::Split)
    return;
  auto toHalf = [&](Value number) -> Value {
    return LLVM::FPTruncOp::create(kernel.builder, kernel.loc,
                                   kernel.builder.getBF16Type(), number);
  };
  put(toHalf(low), half, round.halfSlot, 2, operand.factorBytes);
  put(toHalf(value), half, round.halfSlot, 2,
      operand.factorBytes + operand.factorBytes / 2);
}

/// Rounds `first` to `first + count` of the chunk at `loop`: all loads are on
/// their way together.
void FactorCopier::emitRounds(const Part &loop, int64_t first, int64_t count) {
  bool is16BitFloat = operand.kind == WgmmaKind::Half;
  Part share;
  share.result = firstResult;
  global = kernel.offsetBytes(
      source.base,
      kernel.add(kernel.add(offsetGlobal(share), offsetGlobal(thread)),
                 offsetGlobal(loop)));
  auto placeOf = [&](Int Part::*slot, int64_t bytes) {
    return kernel.shared(
        kernel.add(kernel.add(offsetShared(thread, thread.*slot, bytes),
                              offsetShared(loop, loop.*slot, bytes)),
                   factor.offset));
  };
  main = placeOf(&Part::slot, is16BitFloat ? 2 : 4);
  if (operand.kind == WgmmaKind::Split)
    half = placeOf(&Part::halfSlot, 2);
  SmallVector<Part> rounds;
  SmallVector<Value> values;
  for (int64_t round = first; round < first + count; ++round) {
    Part part = makePart(0, getRoundOuter(round));
    Int p = kernel.add(kernel.add(thread.positionK, loop.positionK),
                       part.positionK);
    Int q = kernel.add(kernel.add(thread.result, loop.result), part.result);
    Value exists;
    if (operand.sizeK != operand.paddedK)
      exists = kernel.less(p, operand.sizeK);
    if (operand.sizeN % operand.paddedResults != 0)
      exists = kernel.both(
          exists, kernel.less(kernel.add(firstResult, q), operand.sizeN));
    Value pointer = kernel.offsetBytes(global, offsetGlobal(part));
    // Elsewhere the first element stands in, so that loads need no branches.
    if (exists)
      pointer = kernel.select(exists, pointer, source.base);
    Value value = kernel.load(element, pointer, CacheHint::ReadOnly);
    if (exists)
      value = kernel.select(exists, value, kernel.constant(element, 0.0));
    rounds.push_back(part);
    values.push_back(value);
  }
  for (auto [part, value] : llvm::zip(rounds, values))
    store(value, part);
}

/// The elements of this thread's place `inner`, if there are any.
void FactorCopier::emitInner(Int inner) {
  Int number = kernel.threadId();
  Value takesPart;
  if (innerThreads * outerThreads != threads)
    takesPart = kernel.less(number, innerThreads * outerThreads);
  if (innerSize % innerThreads != 0)
    takesPart = kernel.both(takesPart, kernel.less(inner, innerSize));
  thread = makePart(inner, kernel.floorDiv(number, innerThreads));
  int64_t rounds = outerSize / outerThreads;
  // Chunks start at multiples of 16.
  int64_t chunks = rounds / kFactorBatch;
  kernel.ifThen(takesPart, [&] {
    if (chunks > 1)
      kernel.rolledLoop(0, chunks, 1, [&](Int chunk) {
        emitRounds(makeLoopPart(kernel.mul(chunk, getRoundOuter(kFactorBatch))),
                   0, kFactorBatch);
      });
    int64_t done = chunks > 1 ? chunks * kFactorBatch : 0;
    emitRounds(Part(), done, rounds - done);
  });
}

void FactorCopier::emit() {
  Int inner = kernel.bitAnd(kernel.threadId(), innerThreads - 1);
  if (innerSize <= innerThreads)
    return emitInner(inner);
  kernel.rolledLoop(
      0, llvm::divideCeil(innerSize, innerThreads), 1, [&](Int turn) {
        emitInner(kernel.add(inner, kernel.mul(turn, innerThreads)));
      });
}

void kron::fenceProxy(KernelBuilder &kernel) {
  kernel.inlinePTX({}, "fence.proxy.async;", "~{memory}", {});
}

void kron::emitWgmmaFactor(KernelBuilder &kernel, const WgmmaOperand &operand,
                           const WgmmaFactor &factor, const StepFactor &source,
                           Int firstResult, Type element, int64_t threads) {
  FactorCopier(kernel, operand, factor, source, firstResult, element, threads)
      .emit();
}

namespace {

/// Writes the text of a series.
class SeriesText {
public:
  SeriesText(const WgmmaOperand &operand, const WgmmaFactor &factor,
             const WgmmaSeries &series)
      : operand(operand), factor(factor),
        coreStride(operand.paddedResults / 8 * kCoreBytes),
        numSums(operand.paddedResults / 2), continues(!series.sums.empty()) {}

  /// One instruction: rows in the operands from `rows` on, the factor from
  /// position `positionK` on, in a copy that starts `copy` bytes after the
  /// factor.
  void addProduct(StringRef type, int64_t step, int64_t rows, int64_t positionK,
                  int64_t copy, int64_t descriptor) {
    // Bytes between core matrices along K and along the columns, in units of 16
    // bytes.
    int64_t fields = (coreStride >> 4) << 16 | (kCoreBytes >> 4) << 32;
    int64_t offset = factor.offset + copy + positionK / step * 2 * coreStride;
    text += "add.s64 d, $" + std::to_string(descriptor) + ", " +
            std::to_string(fields + (offset >> 4)) + ";\n";
    text += "wgmma.mma_async.sync.aligned.m64n" +
            std::to_string(operand.paddedResults) + "k" + std::to_string(step) +
            ".f32." + (type + "." + type).str() + " " + list(0, numSums) + "," +
            list(rows, 4) + ",d," + (continues ? "1" : "0") +
            // Only 16-bit types can have their factor transposed.
            (step == 16 ? ",1,1,0;\n" : ",1,1;\n");
    continues = true;
  }

  std::string text = "{\n.reg .b64 d;\nwgmma.fence.sync.aligned;\n";

private:
  static std::string list(int64_t first, int64_t count) {
    SmallVector<std::string> names;
    for (int64_t index = first; index < first + count; ++index)
      names.push_back("$" + std::to_string(index));
    return "{" + llvm::join(names, ",") + "}";
  }

  const WgmmaOperand &operand;
  const WgmmaFactor &factor;
  int64_t coreStride, numSums;
  bool continues;
};

} // namespace

SmallVector<Value> kron::emitWgmma(KernelBuilder &kernel,
                                   const WgmmaOperand &operand,
                                   const WgmmaFactor &factor,
                                   Value descriptorBase, const WgmmaRows &rows,
                                   Type element, const WgmmaSeries &series) {
  int64_t numSums = operand.paddedResults / 2;
  int64_t first = numSums + series.sums.size();
  int64_t half = first + rows.main.size(), residual = half + rows.half.size();
  int64_t descriptor = residual + rows.residual.size();
  SeriesText writer(operand, factor, series);
  int64_t step = operand.getStep();
  int64_t numSteps = rows.main.size() / 4;
  if (operand.kind == WgmmaKind::Split && series.addsCross)
    for (int64_t index = 0; index < numSteps; index += 2) {
      int64_t positionK = series.firstK + index * step;
      writer.addProduct("bf16", 16, residual + index * 2, positionK,
                        operand.factorBytes + operand.factorBytes / 2,
                        descriptor);
      writer.addProduct("bf16", 16, half + index * 2, positionK,
                        operand.factorBytes, descriptor);
    }
  StringRef type = "tf32";
  if (operand.kind == WgmmaKind::Half)
    type = element.isBF16() ? "bf16" : "f16";
  for (int64_t index = 0; series.addsMain && index < numSteps; ++index)
    writer.addProduct(type, step, first + index * 4,
                      series.firstK + index * step, 0, descriptor);
  writer.text += "wgmma.commit_group.sync.aligned;\n";
  if (series.pending >= 0)
    writer.text += "wgmma.wait_group.sync.aligned " +
                   std::to_string(series.pending) + ";\n";
  writer.text += "}";

  SmallVector<std::string> constraints(numSums, "=&f");
  SmallVector<Value> operands;
  auto addOperands = [&](ArrayRef<Value> values, StringRef constraint) {
    for (Value value : values) {
      operands.push_back(value);
      constraints.push_back(constraint.str());
    }
  };
  for (unsigned index = 0; index < series.sums.size(); ++index)
    addOperands(series.sums[index], std::to_string(index));
  addOperands(rows.main, "r");
  addOperands(rows.half, "r");
  addOperands(rows.residual, "r");
  addOperands(descriptorBase, "l");
  SmallVector<Type> types(numSums, kernel.builder.getF32Type());
  return kernel.inlinePTX(types, writer.text,
                          llvm::join(constraints, ",") + ",~{memory}",
                          operands);
}
