//===- WarpgroupRows.cpp - tile.multiply_rows by warpgroups ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A warpgroup multiplies 64 rows by all columns of a tile, both of which the
// matrix unit reads from shared memory as they lie there: rows of 64 bytes,
// whose 16 bytes are exchanged as the swizzle of 64 bytes does. Products of 64
// rows are under way while the threads start copies, or add up those before.
//
// Steps of all blocks of a product with values are one sequence: copies are
// ahead of it wherever a block ends, so that columns of the next one arrive
// while functions of this one are computed.
//
//===----------------------------------------------------------------------===//

#include "RowProducts.h"
#include "kron/CodeGen/GPU/PackedOperand.h"
#include "kron/CodeGen/GPU/WgmmaSums.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Rows of an instruction, those that lie together as the swizzle knows them,
/// and bytes of K that it takes.
static constexpr int64_t kRows = 64, kSwizzledRows = 8, kStepBytes = 32;
/// Threads of a warpgroup.
static constexpr int64_t kGroupThreads = 128;

namespace {

class WarpgroupRows : RowProducts {
public:
  WarpgroupRows(Lowering &lowering, MultiplyRowsOp op)
      : RowProducts(lowering, op), ahead(stages - 1) {}

  void lower();

private:
  /// A step along K, of a block if there are such.
  struct Step {
    Int step, block;
  };

  void findBlocks();
  Step advance(Step from, int64_t count);
  Int getSlot(const Step &step);
  Int getLeftSlot(const Step &step);
  void copy(const Step &step);
  void startCopies();
  std::string getText();
  SmallVector<MmaC> start(Value left, Value right, int64_t part);
  SmallVector<Value> reduceStep(const Step &step, ValueRange sums);

  /// Steps that are on their way while one is multiplied.
  const int64_t ahead;
  Int steps;
  /// Whether there are blocks: the first one, and the one behind the last one
  /// of this CTA. Whether rows stay in shared memory through all of them.
  bool hasBlocks = false, keepsRows = false;
  Int firstBlock, endBlock;
};

} // namespace

void WarpgroupRows::findBlocks() {
  // Without positions of K there is a step of zeros.
  steps = k.max(k.ceilDiv(sizeK, stepK), 1);
  hasBlocks = bool(op.getBlock());
  if (!hasBlocks)
    return;
  std::pair<Int, Int> range =
      getBlocks(lowering, cast<ForPairsOp>(op->getParentOp()));
  firstBlock = range.first;
  endBlock = range.second;
  keepsRows = steps.isConstant() && steps.getConstant() <= stages;
}

/// The step that is `count` behind `from`.
WarpgroupRows::Step WarpgroupRows::advance(Step from, int64_t count) {
  from.step = k.add(from.step, count);
  if (!hasBlocks)
    return from;
  if (steps.isConstant()) {
    from.block = k.add(from.block, k.floorDiv(from.step, steps));
    from.step = k.rem(from.step, steps);
    return from;
  }
  // Divisions take longer than to find out whether blocks end.
  for (int64_t turn = 0; turn < count; ++turn) {
    Value ends = k.less(k.sub(steps, 1), from.step);
    Int one(k.select(ends, k.materialize(1, 32), k.materialize(0, 32)));
    from.block = k.add(from.block, one);
    from.step = k.sub(from.step, k.mul(one, steps));
  }
  return from;
}

/// Slots are taken in the order of steps.
Int WarpgroupRows::getSlot(const Step &step) {
  if (!hasBlocks)
    return k.rem(step.step, stages);
  Int before = k.mul(k.sub(step.block, firstBlock), steps);
  return k.rem(k.add(before, step.step), stages);
}

Int WarpgroupRows::getLeftSlot(const Step &step) {
  return keepsRows ? step.step : getSlot(step);
}

/// Starts to copy what `step` needs, if there is such a step.
void WarpgroupRows::copy(const Step &step) {
  Value exists =
      hasBlocks ? k.less(step.block, endBlock) : k.less(step.step, steps);
  k.ifThen(exists, [&] {
    Int thread = readThreadId(k), position = k.mul(step.step, stepK);
    Value isFirst = keepsRows ? k.equal(step.block, firstBlock) : Value();
    k.ifThen(isFirst, [&] {
      copySides(
          getSides(op.getLhs(), op.getLeft(), firstRow, rows * grid.groups),
          thread, position, getLeftSlot(step));
    });
    int64_t tileColumns = columns * grid.lanes;
    Int first =
        hasBlocks ? k.mul(k.extend(step.block), tileColumns) : firstColumn;
    copySides(getSides(op.getRhs(), op.getRight(), first, tileColumns), thread,
              position, getSlot(step));
  });
  k.commitCopies();
}

/// Starts to copy the first steps of a tile.
void WarpgroupRows::startCopies() {
  Int block;
  if (hasBlocks)
    block = lowering.numbers.at(op.getBlock());
  k.ifThen(hasBlocks ? k.equal(block, firstBlock) : Value(), [&] {
    // Whoever reads slots of the tile before is done.
    k.barrier();
    for (int64_t number = 0; number < ahead; ++number)
      copy(advance({0, firstBlock}, number));
  });
}

/// The products of a step of one part of the rows: their sums are the first
/// operands, descriptors of both sides the next ones.
std::string WarpgroupRows::getText() {
  int64_t numSums = 2 * columns, tileRows = rows * grid.groups;
  int64_t rowBytes = stepK * kron::getElementBytes(element);
  // Rows that lie together, one after the other, and the swizzle of 64 bytes.
  uint64_t fields = uint64_t(kSwizzledRows * rowBytes >> 4) << 32 |
                    uint64_t(1) << 16 | uint64_t(2) << 62;
  // Small products first.
  SmallVector<std::pair<int64_t, int64_t>> pairs{{0, 0}};
  if (parts == 2)
    pairs = {{1, 0}, {0, 1}, {0, 0}};
  std::string text = "{\n.reg .b64 a, b;\nwgmma.fence.sync.aligned;\n";
  StringRef name = element.isBF16() ? "bf16" : "f16";
  bool adds = false;
  for (auto [left, right] : pairs)
    for (int64_t begin = 0; begin < rowBytes; begin += kStepBytes) {
      auto getDescriptor = [&](StringRef name, int64_t operand, int64_t part,
                               int64_t rows) {
        int64_t offset = part * rows * rowBytes + begin;
        text += ("add.s64 " + name + ", $" + Twine(numSums + operand) + ", " +
                 Twine(static_cast<int64_t>(fields + (offset >> 4))) + ";\n")
                    .str();
      };
      getDescriptor("a", 0, left, tileRows);
      getDescriptor("b", 1, right, columns * grid.lanes);
      text += ("wgmma.mma_async.sync.aligned.m64n" + Twine(2 * numSums) +
               "k16.f32." + name + "." + name + " " + listOperands(0, numSums) +
               ",a,b," + (adds ? "1" : "0") + ",1,1,0,0;\n")
                  .str();
      adds = true;
    }
  return text + "wgmma.commit_group.sync.aligned;\n}";
}

/// Starts the products of a step, of rows `part` of this warpgroup's 64. They
/// start from zero.
SmallVector<MmaC> WarpgroupRows::start(Value left, Value right, int64_t part) {
  int64_t numSums = 2 * columns;
  int64_t rowBytes = stepK * kron::getElementBytes(element);
  SmallVector<std::string> constraints(numSums, "=&f");
  constraints.append(2, "l");
  Int behind = part * kRows * rowBytes / 16;
  Value own = k.materialize(k.add(Int(left), behind), 64);
  SmallVector<Type> types(numSums, k.builder.getF32Type());
  SmallVector<Value> values =
      k.inlinePTX(types, getText(), llvm::join(constraints, ",") + ",~{memory}",
                  {own, right});
  SmallVector<MmaC> sums(columns / 2);
  for (auto [index, value] : llvm::enumerate(values))
    sums[index / 4][index % 4] = value;
  return sums;
}

/// Adds the products of `step`, and starts to copy the one that is `ahead` of
/// it while the first ones are under way.
SmallVector<Value> WarpgroupRows::reduceStep(const Step &step,
                                             ValueRange sums) {
  SmallVector<Value> next(sums);
  const LoweredRing &left = lowering.rings[op.getLeft()];
  const LoweredRing &right = lowering.rings[op.getRight()];
  int64_t rowBytes = stepK * kron::getElementBytes(element);
  Int group = k.floorDiv(k.threadId(), kGroupThreads);
  Int rowPlace =
      k.add(k.add(k.mul(getLeftSlot(step), left.slotBytes), left.begin),
            k.mul(group, rows / 2 * kRows * rowBytes));
  Int columnPlace = k.add(k.mul(getSlot(step), right.slotBytes), right.begin);
  Value rowDescriptor = getPackedDescriptor(k, rowPlace);
  Value columnDescriptor = getPackedDescriptor(k, columnPlace);
  for (int64_t part = 0; part < rows / 2; ++part) {
    SmallVector<MmaC> products = start(rowDescriptor, columnDescriptor, part);
    if (part == 0)
      copy(advance(step, ahead));
    waitForSums(k, products);
    for (auto [eight, values] : llvm::enumerate(products))
      for (int64_t number = 0; number < 4; ++number) {
        int64_t column = 2 * static_cast<int64_t>(eight) + number % 2;
        Value &sum = next[(2 * part + number / 2) * columns + column];
        sum = add(sum, values[number]);
      }
  }
  return next;
}

void WarpgroupRows::lower() {
  findBlocks();
  startCopies();
  Int block;
  if (hasBlocks)
    block = lowering.numbers.at(op.getBlock());
  setResults(k.rolledLoop(0, steps, 1,
                          SmallVector<Value>(rows * columns, constant(0)),
                          [&](Int step, ValueRange sums) {
                            k.waitCopies(ahead - 1);
                            fenceProxy(k);
                            k.barrier();
                            return reduceStep({step, block}, sums);
                          }));
}

void tile::multiplyByWarpgroups(Lowering &lowering, MultiplyRowsOp op) {
  WarpgroupRows(lowering, op).lower();
}
