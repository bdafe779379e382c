//===- ContractPieces.cpp - tile.contract_pieces --------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"
#include <map>

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

class PiecesProduct {
public:
  PiecesProduct(Lowering &lowering, ContractPiecesOp op);

  void emit();

private:
  void locate(int64_t turn);
  void startPiece(int64_t number);
  Int getSlot(int64_t number);
  void meet();
  SmallVector<Value> load(int64_t number);
  SmallVector<Value> guard(ArrayRef<Value> sums);

  Lowering &lowering;
  KernelBuilder &k;
  ContractPiecesOp op;
  PieceCopy pieces;
  LoweredRing &ring;
  std::shared_ptr<PackedFactor> factor;
  LaneFibres fibres;
  /// A tile, and whether it exists; null: it does.
  struct TurnTile {
    GlobalTile tile;
    Value exists;
  };
  /// Of this turn and later ones, by their distance.
  std::map<int64_t, TurnTile> tiles;
};

} // namespace

PiecesProduct::PiecesProduct(Lowering &lowering, ContractPiecesOp op)
    : lowering(lowering), k(lowering.k), op(op),
      pieces(lowering, op.getView(), op.getRing().getType(), op.getPieces()),
      ring(lowering.rings[op.getRing()]),
      factor(lowering.packed.at(op.getOperand())),
      fibres(lowering, op.getPieces().getSizes(), op.getAlong(),
             !factor->shape.innermost ||
                 !pieces.buffer.getTileLayout().swizzles.empty()) {
  locate(0);
}

/// Finds the tile of turn `turn`, unless it was found.
void PiecesProduct::locate(int64_t turn) {
  auto [it, isNew] = tiles.try_emplace(turn);
  if (!isNew)
    return;
  Int tile =
      k.add(lowering.numbers.at(op.getTile()), k.mul(lowering.step, turn));
  it->second.tile = pieces.locate(tile);
  if (turn)
    it->second.exists = k.less(tile, lowering.tileCount);
}

/// The byte offset of piece `number`, counted from this tile's first one.
Int PiecesProduct::getSlot(int64_t number) {
  Int slot = getSlotBehind(lowering, ring, number);
  return k.add(slot, k.sub(pieces.getRing(ring.begin), ring.begin));
}

void PiecesProduct::startPiece(int64_t number) {
  int64_t turn = number / pieces.count;
  // Not before it is needed: it takes registers.
  locate(turn);
  const TurnTile &found = tiles.at(turn);
  k.ifThen(found.exists, [&] {
    pieces.copy(found.tile, number % pieces.count, getSlot(number));
  });
  k.commitCopies();
}

void PiecesProduct::meet() {
  if (lowering.groups == 1)
    return k.barrier();
  k.namedBarrier(k.add(lowering.getGroup(), 1),
                 lowering.threads / lowering.groups);
}

/// The lane's values of piece `number`, in the order of the instructions.
SmallVector<Value> PiecesProduct::load(int64_t number) {
  int64_t block = pieces.blocks.block[fibres.along];
  int64_t positions = std::min(block, factor->shape.paddedK - number * block);
  // Copies have filled up what does not exist with zeros.
  return fibres.load(k, lowering.getLanes().slot,
                     SharedTile(k, pieces.buffer, getSlot(number)),
                     factor->shape.innermost, positions, positions);
}

/// The sums, from the view if they are not finite: pieces are gone.
SmallVector<Value> PiecesProduct::guard(ArrayRef<Value> sums) {
  const GlobalTile &tile = tiles.at(0).tile;
  Type f32 = k.builder.getF32Type();
  auto exists = [&](unsigned fibre) { return fibres.exists(k, tile, fibre); };
  auto loadElement = [&](unsigned fibre, Int p) {
    return k.orZero(exists(fibre), f32, [&] {
      return k.load(f32, fibres.getAddress(k, tile, fibre, p));
    });
  };
  return guardWgmmaSums(k, factor->shape, factor->place,
                        lowering.getLanes().slot, sums, exists, loadElement);
}

void PiecesProduct::emit() {
  const WgmmaOperand &shape = factor->shape;
  bool isSplit = shape.kind == WgmmaKind::Split;
  // Small products have sums of their own, which are added at the end.
  WgmmaSeries cross, main;
  cross.addsMain = main.addsCross = false;
  cross.pending = -1;
  for (int64_t number = 0; number < pieces.count; ++number) {
    k.waitCopies(pieces.getAhead() - 1);
    meet();
    startPiece(number + pieces.getAhead());
    WgmmaRows rows = convertWgmmaRows(k, shape.kind, load(number));
    cross.firstK = main.firstK = number * pieces.blocks.block[fibres.along];
    // The piece before has to be done, so that its registers become free.
    bool isLast = number + 1 == pieces.count;
    main.pending = isLast ? 0 : isSplit ? 2 : 1;
    auto multiply = [&](WgmmaSeries &series) {
      series.sums = emitWgmma(k, shape, factor->place, factor->descriptorBase,
                              rows, k.element, series);
    };
    if (isSplit)
      multiply(cross);
    multiply(main);
  }
  ring.full = getSlotBehind(lowering, ring, pieces.count);
  SmallVector<Value> sums = main.sums;
  if (isSplit) {
    for (auto [sum, small] : llvm::zip_equal(sums, cross.sums))
      sum = arith::AddFOp::create(k.builder, k.loc, sum, small);
    sums = guard(sums);
  }
  lowering.warpgroupSums[op.getSums()] =
      std::make_shared<WarpgroupSums>(WarpgroupSums{fibres, factor, sums});
}

void tile::lower(Lowering &lowering, ContractPiecesOp op) {
  if (op.getPieces().getChunks())
    return multiplyChunks(lowering, op);
  PiecesProduct(lowering, op).emit();
}
