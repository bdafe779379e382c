//===- Contract.cpp - tile.contract ---------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// One chunk of 16 bytes of an operand, `offset` bytes behind the start of
/// shared memory. LLVM shall not load it once for all fibres and run out of
/// registers: hence inline PTX, or a volatile load, which the assembler does
/// not move.
static SmallVector<Value> loadChunk(Lowering &lowering, Int offset,
                                    bool isOrdered) {
  KernelBuilder &k = lowering.k;
  int64_t chunk = lowering.getChunk();
  if (isOrdered || !offset.isConstant()) {
    Value loaded =
        LLVM::LoadOp::create(k.builder, k.loc, k.getVectorType(chunk),
                             k.shared(offset), /*alignment=*/16,
                             /*isVolatile=*/true);
    return k.unpack(loaded);
  }
  SmallVector<Type> types(chunk, k.element);
  std::string at = std::to_string(offset.getConstant()) + "];";
  if (chunk == 4)
    return k.inlinePTX(types, "ld.shared.v4.f32 {$0, $1, $2, $3}, [$4 + " + at,
                       "=f,=f,=f,=f,l", k.shared(0));
  return k.inlinePTX(types, "ld.shared.v2.f64 {$0, $1}, [$2 + " + at, "=d,=d,l",
                     k.shared(0));
}

/// Elements `first` to `first + count` of row `row` of an operand, by chunks.
/// Rows are padded: whole chunks can be loaded.
static SmallVector<Value> loadRow(Lowering &lowering, ContractOp op,
                                  int64_t row, int64_t first, int64_t count) {
  OperandType type = op.getOperand().getType();
  Int operand = lowering.operands.at(op.getOperand());
  SmallVector<Value> values;
  for (int64_t begin = 0; begin < count; begin += lowering.getChunk()) {
    int64_t position = row * type.getPitch() + first + begin;
    Int offset = lowering.k.add(operand, position * lowering.getElementBytes());
    llvm::append_range(values, loadChunk(lowering, offset, op.getOrdered()));
  }
  values.truncate(count);
  return values;
}

/// Boxes of 16 fibres that the lanes of a warp share, of each of which a lane
/// has two pairs.
static void lowerDmma(Lowering &lowering, ContractOp op) {
  KernelBuilder &k = lowering.k;
  LoweredFragment source = lowering.fragments.at(op.getFragment());
  bool isInner = op.getOperand().getType().getOrder() == OperandOrder::Pairs;
  Boxes boxes = lowering.takeAll(source);
  ArrayRef<Value> factor = lowering.registers.at(op.getOperand());
  LoweredFragment sums;
  sums.box = source.box;
  sums.forParts = [=, &k](function_ref<void(const Boxes &)> body) {
    Boxes results;
    for (ArrayRef<Value> values : boxes) {
      // (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
      SmallVector<Value> a(values);
      if (isInner)
        std::swap(a[1], a[2]);
      SmallVector<Value> zeros(4, k.constant(k.element, 0.0));
      SmallVector<Value> c = k.mmaF64(a, factor, zeros);
      if (!isInner)
        std::swap(c[1], c[2]);
      results.push_back(std::move(c));
    }
    body(results);
  };
  lowering.fragments[op.getSums()] = sums;
}

void tile::lower(Lowering &lowering, ContractOp op) {
  if (op.getAtom() == AtomKind::Dmma)
    return lowerDmma(lowering, op);
  if (isOfBlocks(op.getAtom()))
    return multiplyBlock(lowering, op);
  KernelBuilder &k = lowering.k;
  OperandType type = op.getOperand().getType();
  LoweredFragment source = lowering.fragments.at(op.getFragment());
  unsigned dim = op.getAlong() - 1;
  int64_t sizeK = type.getSizeK();
  int64_t sizeN = type.getSizeN();
  int64_t inside = llvm::product_of(ArrayRef(source.box).drop_front(dim + 1));
  int64_t outside = llvm::product_of(ArrayRef(source.box).take_front(dim));
  int64_t perBox = outside * inside;
  int64_t together = op.getBlock()[0], width = op.getBlock()[1];
  Boxes boxes = lowering.takeAll(source);
  int64_t fibres = boxes.size() * perBox;
  bool isWhole = op.getWhole() || (together < fibres && together % perBox != 0);

  LoweredFragment sums;
  sums.box = source.box;
  sums.box[dim] = sizeN;
  sums.forParts = [=, &lowering, &k](function_ref<void(const Boxes &)> body) {
    Boxes none(boxes.size(), SmallVector<Value>(perBox * sizeN));
    Boxes results = none;
    // Results from `first` on of the fibres from `begin` on.
    auto multiply = [&](int64_t begin, int64_t first) {
      int64_t end = std::min(begin + together, fibres);
      int64_t count = std::min(width, sizeN - first);
      for (int64_t p = 0; p < sizeK; ++p) {
        SmallVector<Value> row = loadRow(lowering, op, p, first, count);
        for (int64_t q = 0; q < count; ++q)
          for (int64_t fibre = begin; fibre < end; ++fibre) {
            int64_t box = fibre / perBox, outer = fibre % perBox / inside,
                    inner = fibre % inside;
            Value value = boxes[box][(outer * sizeK + p) * inside + inner];
            Value &sum =
                results[box][(outer * sizeN + first + q) * inside + inner];
            sum = sum ? k.fma(value, row[q], sum)
                      : Value(arith::MulFOp::create(k.builder, k.loc, value,
                                                    row[q]));
          }
      }
    };
    for (int64_t begin = 0; begin < fibres; begin += together)
      for (int64_t first = 0; first < sizeN; first += width) {
        multiply(begin, first);
        if (isWhole)
          continue;
        body(results);
        results = none;
      }
    if (isWhole)
      body(results);
  };
  lowering.fragments[op.getSums()] = sums;
}
