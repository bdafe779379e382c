//===- WarpgroupRows.cpp - tile.multiply_rows by warpgroups ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A warpgroup multiplies 64 rows by all columns of a tile, both of which the
// matrix unit reads from shared memory as they lie there, and in global memory:
// rows of 64 bytes, whose 16 bytes are exchanged as the swizzle of 64 bytes
// does. Products of 64 rows are under way while the threads add up those
// before.
//
// Rows of a tile and step are one piece of memory: one thread starts a copy of
// each part, whose bytes the barrier of its slot counts. Another barrier of the
// slot counts the warps that are done with it, so that warpgroups wait for
// copies only, not for each other.
//
// Steps of all tiles are counted in one sequence, which slots and phases of
// their barriers follow from. Those of all blocks of a product with values are
// copied ahead of it wherever a block ends, so that columns of the next one
// arrive while functions of this one are computed.
//
//===----------------------------------------------------------------------===//

#include "RowProducts.h"
#include "kron/CodeGen/GPU/BulkCopies.h"
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
      : RowProducts(lowering, op), ahead(stages - 1),
        left(lowering.rings[op.getLeft()]),
        right(lowering.rings[op.getRight()]), counted(right.full) {}

  void lower();

private:
  /// A step along K, of a block if there are such.
  struct Step {
    Int step, block;
  };

  void findBlocks();
  Step advance(Step from, int64_t count);
  Int getNumber(const Step &step);
  Int getLeftSlot(const Step &step, Int number);
  Int getBarrier(Int number, bool isFull);
  Int getParity(Int number);
  void copySide(ValueRange views, const LoweredRing &ring, Int slot, Int step,
                Int first, int64_t sideRows, Int barrier);
  void copy(const Step &step);
  void startCopies();
  std::string getText();
  SmallVector<MmaC> start(Value left, Value right, int64_t part);
  SmallVector<Value> reduceStep(const Step &step, ValueRange sums);

  /// Steps that are on their way while one is multiplied.
  const int64_t ahead;
  const LoweredRing &left, &right;
  /// Steps of the tiles before, but for what makes no difference to slots and
  /// phases.
  const Int counted;
  Int steps;
  /// Whether there are blocks: the first one, and the one behind the last one
  /// of this CTA. Whether rows stay in shared memory through all of them.
  bool hasBlocks = false, keepsRows = false;
  Int firstBlock, endBlock;
};

} // namespace

void WarpgroupRows::findBlocks() {
  steps = k.ceilDiv(sizeK, stepK);
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

/// The number of `step` in the sequence, which its slot and phase follow from.
Int WarpgroupRows::getNumber(const Step &step) {
  Int number = k.add(counted, step.step);
  if (!hasBlocks)
    return number;
  return k.add(number, k.mul(k.sub(step.block, firstBlock), steps));
}

Int WarpgroupRows::getLeftSlot(const Step &step, Int number) {
  return keepsRows ? step.step : k.rem(number, stages);
}

/// The barrier of the slot of step number `number` that counts what arrives, or
/// the warps that are done with it.
Int WarpgroupRows::getBarrier(Int number, bool isFull) {
  return k.add(k.mul(k.rem(number, stages), kPhaseBytes),
               right.phases + (isFull ? 0 : stages * kPhaseBytes));
}

Int WarpgroupRows::getParity(Int number) {
  return k.bitAnd(k.floorDiv(number, stages), 1);
}

/// Starts to copy the rows from `first` on of step `step`, those of all parts
/// behind each other.
void WarpgroupRows::copySide(ValueRange views, const LoweredRing &ring,
                             Int slot, Int step, Int first, int64_t sideRows,
                             Int barrier) {
  int64_t bytes = sideRows * rowBytes;
  // Taken anew, so that addresses are in no registers while sums are.
  first = Int(k.inlinePTX({k.builder.getI64Type()}, "mov.b64 $0, $1;", "=l,l",
                          {k.materialize(first, 64)})[0]);
  Int place = k.add(k.mul(slot, ring.slotBytes), ring.begin);
  for (auto [part, view] : llvm::enumerate(views)) {
    const LoweredView &array = lowering.views.at(view);
    Value base = getBatch(lowering, view, op.getPlace(), /*innerRank=*/3);
    ArrayRef<Int> strides = ArrayRef(array.array.strides).take_back(3);
    Int offset = k.add(k.mul(k.extend(step), k.extend(strides[0])),
                       k.mul(k.extend(first), k.extend(strides[1])));
    copyBulk(k, k.add(place, static_cast<int64_t>(part) * bytes),
             k.offsetElements(base, element, offset), bytes, barrier);
  }
}

/// Starts to copy what `step` needs, if there is such a step, once its slot is
/// free.
void WarpgroupRows::copy(const Step &step) {
  Value exists = k.lessOrNull(step.step, steps);
  if (hasBlocks) {
    // Without positions of K there are no steps of any block.
    exists = steps.isConstant() ? Value() : exists;
    exists = k.both(exists, k.less(step.block, endBlock));
  }
  k.ifThen(k.both(k.equal(k.threadId(), 0), exists), [&] {
    Int number = getNumber(step), full = getBarrier(number, /*isFull=*/true);
    waitForPhase(k, getBarrier(number, /*isFull=*/false),
                 k.bitXor(getParity(number), 1));
    int64_t tileRows = rows * grid.groups, tileColumns = columns * grid.lanes;
    int64_t columnBytes = parts * tileColumns * rowBytes;
    int64_t allBytes = columnBytes + parts * tileRows * rowBytes;
    Value isFirst = keepsRows ? k.equal(step.block, firstBlock) : Value();
    arriveForBytes(k, full,
                   isFirst ? Int(k.select(isFirst, k.materialize(allBytes, 32),
                                          k.materialize(columnBytes, 32)))
                           : Int(allBytes));
    k.ifThen(isFirst, [&] {
      copySide(op.getLhs(), left, getLeftSlot(step, number), step.step,
               firstRow, tileRows, full);
    });
    copySide(op.getRhs(), right, k.rem(number, stages), step.step,
             hasBlocks ? k.mul(k.extend(step.block), tileColumns) : firstColumn,
             tileColumns, full);
  });
}

/// Starts to copy the first steps of a tile.
void WarpgroupRows::startCopies() {
  Int block;
  if (hasBlocks)
    block = lowering.numbers.at(op.getBlock());
  k.ifThen(hasBlocks ? k.equal(block, firstBlock) : Value(), [&] {
    // Whoever reads rows of the tile before is done; and of the first tile, the
    // barriers are there.
    k.barrier();
    for (int64_t number = 0; number < ahead; ++number)
      copy(advance({0, firstBlock}, number));
  });
}

/// The products of a step of one part of the rows: their sums are the first
/// operands, descriptors of both sides the next ones.
std::string WarpgroupRows::getText() {
  int64_t numSums = 2 * columns, tileRows = rows * grid.groups;
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
  Int number = getNumber(step);
  Int group = lowering.threads == kGroupThreads
                  ? Int(0)
                  : k.floorDiv(k.threadId(), kGroupThreads);
  Int rowPlace =
      k.add(k.add(k.mul(getLeftSlot(step, number), left.slotBytes), left.begin),
            k.mul(group, rows / 2 * kRows * rowBytes));
  Int columnPlace =
      k.add(k.mul(k.rem(number, stages), right.slotBytes), right.begin);
  // The same in all lanes, which ptxas has to be shown to compute the
  // descriptors of instructions once for a warp.
  auto getDescriptor = [&](Int place) {
    Value shown = k.shuffle(k.materialize(place, 32), 0);
    return getPackedDescriptor(k, Int(shown));
  };
  Value rowDescriptor = getDescriptor(rowPlace);
  Value columnDescriptor = getDescriptor(columnPlace);
  waitForPhase(k, getBarrier(number, /*isFull=*/true), getParity(number));
  for (int64_t part = 0; part < rows / 2; ++part) {
    SmallVector<MmaC> products = start(rowDescriptor, columnDescriptor, part);
    if (part == 0)
      copy(advance(step, ahead));
    waitForSums(k, products);
    if (part == rows / 2 - 1)
      k.ifThen(k.equal(k.laneId(), 0),
               [&] { arrive(k, getBarrier(number, /*isFull=*/false)); });
    for (auto [eight, values] : llvm::enumerate(products))
      for (int64_t number = 0; number < 4; ++number) {
        int64_t column = 2 * static_cast<int64_t>(eight) + number % 2;
        Value &sum = next[(2 * part + number / 2) * columns + column];
        sum = add(sum, values[number]);
      }
  }
  return next;
}

/// Keeps of the steps up to the next tile, `number`, what slots and phases
/// follow from.
static void passSteps(Lowering &lowering, Value ring, Int number) {
  KernelBuilder &k = lowering.k;
  int64_t stages = cast<RingType>(ring.getType()).getStages();
  lowering.rings[ring].full = k.rem(k.truncate(number), 2 * stages);
}

void WarpgroupRows::lower() {
  findBlocks();
  startCopies();
  copyNorms();
  Int block;
  if (hasBlocks)
    block = lowering.numbers.at(op.getBlock());
  SmallVector<Value> sums =
      k.rolledLoop(0, steps, 1, SmallVector<Value>(rows * columns, constant(0)),
                   [&](Int step, ValueRange sums) {
                     return reduceStep({step, block}, sums);
                   });
  k.waitCopies(0);
  k.barrier();
  setResults(sums);
  if (!hasBlocks)
    passSteps(lowering, op.getRight(), k.add(counted, steps));
}

void tile::multiplyByWarpgroups(Lowering &lowering, MultiplyRowsOp op) {
  WarpgroupRows(lowering, op).lower();
}

void tile::passBlocks(Lowering &lowering, ForPairsOp op) {
  for (auto rows : op.getBody()->getOps<MultiplyRowsOp>()) {
    if (rows.getProducts().getType().getAtom() != AtomKind::WgmmaHalf)
      continue;
    KernelBuilder &k = lowering.k;
    auto [first, end] = getBlocks(lowering, op);
    Int steps = k.ceilDiv(k.truncate(lowering.numbers.at(rows.getSizeK())),
                          rows.getRight().getType().getBuffer().getShape()[1]);
    Int count = k.mul(k.max(k.sub(end, first), 0), steps);
    passSteps(lowering, rows.getRight(),
              k.add(lowering.rings[rows.getRight()].full, count));
  }
}
