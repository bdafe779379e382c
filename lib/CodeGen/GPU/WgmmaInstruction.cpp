//===- WgmmaInstruction.cpp - Series of wgmma instructions ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows and columns may be fed to the matrix unit in any order, as long as data
// and factor agree. The order of the depth is chosen such that a thread's
// elements are neighbours in shared memory (innermost axis: 4 f32 that two
// instructions share; other axes: 2 f32 or 4 halves of successive positions),
// that of the columns such that a thread ends up with 4 successive ones.
//
//===----------------------------------------------------------------------===//

#include "WgmmaInstruction.h"
#include "llvm/ADT/StringExtras.h"

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

Int kron::getWgmmaDepth(KernelBuilder &kernel, const WgmmaStage &stage,
                        Int slot) {
  if (stage.kind == WgmmaKind::Half) {
    if (stage.innermost)
      return slot;
    // Slots 8h + 2t + e <-> positions 4t + 2h + e of 16.
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
  }
  // Slots 8s + 4h + t <-> positions 4t + 2s + h of 16.
  if (stage.innermost)
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {0, 3, 2}, {3, 1, 1}, {2, 1, 0}});
  // Slots 4h + t <-> positions 2t + h of 8.
  return moveBits(kernel, slot, {{3, -1, 3}, {0, 3, 1}, {2, 1, 0}});
}

Int kron::getWgmmaSlot(KernelBuilder &kernel, const WgmmaStage &stage,
                       Int depth) {
  if (stage.innermost)
    return moveBits(kernel, depth,
                    {{4, -1, 4}, {2, 3, 0}, {1, 1, 3}, {0, 1, 2}});
  return moveBits(kernel, depth, {{3, -1, 3}, {1, 3, 0}, {0, 1, 2}});
}

Int kron::getWgmmaHalfSlot(KernelBuilder &kernel, const WgmmaStage &stage,
                           Int depth) {
  // Positions 4t + 2h + e <-> slots 8h + 2t + e of 16.
  if (stage.innermost)
    return moveBits(kernel, depth,
                    {{4, -1, 4}, {2, 3, 1}, {1, 1, 3}, {0, 1, 0}});
  return depth;
}

Int kron::getWgmmaResult(KernelBuilder &kernel, const WgmmaStage &stage,
                         Int slot) {
  if (!stage.innermost)
    return slot;
  // Slots 8h + 2t + e <-> columns 4t + 2h + e of 16.
  return moveBits(kernel, slot,
                  {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
}

namespace {

/// Copies one factor to shared memory.
class FactorCopier {
public:
  FactorCopier(KernelBuilder &kernel, const WgmmaStage &stage,
               const WgmmaFactor &factor, const StageFactor &source,
               Type element)
      : kernel(kernel), stage(stage), factor(factor), source(source),
        element(element), f32(kernel.builder.getF32Type()) {}

  /// Element `index` of the padded factor: loaded, and stored.
  Value load(Int index);
  void store(Int index, Value value);

private:
  Int getColumn(Int index) { return kernel.rem(index, stage.paddedResults); }
  Int getSlot(Int index) {
    return kernel.floorDiv(index, stage.paddedResults);
  }
  Value addressOf(Int column, Int depthSlot, int64_t bytes);

  KernelBuilder &kernel;
  const WgmmaStage &stage;
  const WgmmaFactor &factor;
  const StageFactor &source;
  Type element, f32;
};

} // namespace

Value FactorCopier::load(Int index) {
  Int p = getWgmmaDepth(kernel, stage, getSlot(index));
  Int q = getWgmmaResult(kernel, stage, getColumn(index));
  Value exists;
  if (stage.depth != stage.paddedDepth)
    exists = kernel.less(p, stage.depth);
  if (stage.results != stage.paddedResults)
    exists = kernel.both(exists, kernel.less(q, stage.results));
  // Elsewhere the first element stands in, so that loads need no branches.
  if (exists) {
    p = Int(kernel.select(exists, kernel.materialize(p), kernel.materialize(0)));
    q = Int(kernel.select(exists, kernel.materialize(q), kernel.materialize(0)));
  }
  Int offset = kernel.add(kernel.mul(kernel.extend(p), source.depthStride),
                          kernel.mul(kernel.extend(q), source.resultStride));
  Value pointer = kernel.offsetBytes(
      source.base, kernel.mul(offset, getElementBytes(element)));
  Value value = kernel.load(element, pointer, CacheHint::ReadOnly);
  return exists ? kernel.select(exists, value, kernel.constant(element, 0.0))
                : value;
}

/// Where an element is, in a copy of `bytes` bytes per element.
Value FactorCopier::addressOf(Int column, Int depthSlot, int64_t bytes) {
  int64_t coreDepth = 16 / bytes;
  Int core = kernel.add(kernel.mul(kernel.floorDiv(depthSlot, coreDepth),
                                   stage.paddedResults / 8),
                        kernel.floorDiv(column, 8));
  Int inside =
      kernel.add(kernel.mul(kernel.bitAnd(column, 7), 16),
                 kernel.mul(kernel.bitAnd(depthSlot, coreDepth - 1), bytes));
  return kernel.shared(kernel.add(
      factor.offset, kernel.add(kernel.mul(core, kCoreBytes), inside)));
}

void FactorCopier::store(Int index, Value value) {
  Int column = getColumn(index), slot = getSlot(index);
  if (stage.kind == WgmmaKind::Half)
    return kernel.store(value, addressOf(column, slot, 2));
  if (!element.isF32())
    value = LLVM::FPExtOp::create(kernel.builder, kernel.loc, f32, value);
  auto [high, low] = kernel.splitTF32(value);
  kernel.store(high, addressOf(column, slot, 4));
  if (stage.kind != WgmmaKind::Split)
    return;
  Int p = getWgmmaDepth(kernel, stage, slot);
  Value half = addressOf(column, getWgmmaHalfSlot(kernel, stage, p), 2);
  Type bf16 = kernel.builder.getBF16Type();
  auto storeHalf = [&](Value number, int64_t offset) {
    kernel.store(
        LLVM::FPTruncOp::create(kernel.builder, kernel.loc, bf16, number),
        kernel.offsetBytes(half, offset));
  };
  storeHalf(low, stage.factorBytes);
  storeHalf(value, stage.factorBytes + stage.factorBytes / 2);
}

void kron::emitWgmmaFactor(KernelBuilder &kernel, const WgmmaStage &stage,
                           const WgmmaFactor &factor, const StageFactor &source,
                           Type element, int64_t threads) {
  FactorCopier copier(kernel, stage, factor, source, element);
  int64_t elements = stage.paddedDepth * stage.paddedResults;
  int64_t rounds = (elements + threads - 1) / threads;
  // All loads of a batch are on their way together.
  int64_t batch = std::min<int64_t>(rounds, kFactorBatch);
  int64_t covered = (rounds + batch - 1) / batch * batch * threads;
  kernel.rolledLoop(0, covered, batch * threads, [&](Int first) {
    SmallVector<Int> indices;
    SmallVector<Value> values;
    for (int64_t round = 0; round < batch; ++round) {
      Int index = kernel.add(kernel.add(first, round * threads),
                             kernel.threadId());
      if (covered != elements)
        index = kernel.min(index, elements - 1);
      indices.push_back(index);
      values.push_back(copier.load(index));
    }
    for (auto [index, value] : llvm::zip(indices, values))
      copier.store(index, value);
  });
}

namespace {

/// Writes the text of a series.
class SeriesText {
public:
  SeriesText(const WgmmaStage &stage, const WgmmaFactor &factor,
             const WgmmaSeries &series)
      : stage(stage), factor(factor),
        coreStride(stage.paddedResults / 8 * kCoreBytes),
        numSums(stage.paddedResults / 2), continues(!series.sums.empty()) {}

  /// One instruction: rows in the operands from `rows` on, the factor from depth
  /// `depth` on, in a copy that starts `copy` bytes after the factor.
  void addProduct(StringRef type, int64_t step, int64_t rows, int64_t depth,
                  int64_t copy, int64_t descriptor) {
    // Bytes between core matrices along the depth and along the columns, in
    // units of 16 bytes.
    int64_t fields = (coreStride >> 4) << 16 | (kCoreBytes >> 4) << 32;
    int64_t offset = factor.offset + copy + depth / step * 2 * coreStride;
    text += "add.s64 d, $" + std::to_string(descriptor) + ", " +
            std::to_string(fields + (offset >> 4)) + ";\n";
    text += "wgmma.mma_async.sync.aligned.m64n" +
            std::to_string(stage.paddedResults) + "k" + std::to_string(step) +
            ".f32." + (type + "." + type).str() + " " + list(0, numSums) + "," +
            list(rows, 4) + ",d," + (continues ? "1" : "0") +
            // Only halves can have their factor transposed.
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

  const WgmmaStage &stage;
  const WgmmaFactor &factor;
  int64_t coreStride, numSums;
  bool continues;
};

} // namespace

SmallVector<Value> kron::emitWgmma(KernelBuilder &kernel,
                                   const WgmmaStage &stage,
                                   const WgmmaFactor &factor,
                                   Value descriptorBase, const WgmmaRows &rows,
                                   Type element, const WgmmaSeries &series) {
  int64_t numSums = stage.paddedResults / 2;
  int64_t first = numSums + series.sums.size();
  int64_t half = first + rows.main.size(), rest = half + rows.half.size();
  int64_t descriptor = rest + rows.rest.size();
  SeriesText writer(stage, factor, series);
  int64_t step = stage.getStep();
  int64_t numSteps = rows.main.size() / 4;
  if (stage.kind == WgmmaKind::Split && series.addsCross)
    for (int64_t index = 0; index < numSteps; index += 2) {
      int64_t depth = series.firstDepth + index * step;
      writer.addProduct("bf16", 16, rest + index * 2, depth,
                        stage.factorBytes + stage.factorBytes / 2, descriptor);
      writer.addProduct("bf16", 16, half + index * 2, depth, stage.factorBytes,
                        descriptor);
    }
  StringRef type = "tf32";
  if (stage.kind == WgmmaKind::Half)
    type = element.isBF16() ? "bf16" : "f16";
  for (int64_t index = 0; series.addsMain && index < numSteps; ++index)
    writer.addProduct(type, step, first + index * 4,
                      series.firstDepth + index * step, 0, descriptor);
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
  addOperands(rows.rest, "r");
  addOperands(descriptorBase, "l");
  SmallVector<Type> types(numSums, kernel.builder.getF32Type());
  return kernel.inlinePTX(types, writer.text,
                          llvm::join(constraints, ",") + ",~{memory}",
                          operands);
}
