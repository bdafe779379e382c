//===- WgmmaPieces.cpp - A factor by wgmma, in pieces, as tiles -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each warpgroup of a CTA takes tiles of its own, of up to 64 fibres of the one
// factor, which lies in shared memory. So large a factor leaves no room for
// whole tiles: they go, in pieces of some positions K,
//
//   view -> ring -> registers   asynchronous copies, some pieces ahead
//   registers -> view           results, when all pieces have been multiplied
//
// Of a factor that is too large as a whole, several CTAs have a part of the
// columns each.
//
//===----------------------------------------------------------------------===//

#include "WgmmaTiles.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class WgmmaPieces : WgmmaTiles {
public:
  WgmmaPieces(const TileSource &source, const WgmmaPlan &plan);

  void build();

private:
  tile::BufferType getPiece();
  tile::PiecesAttr getPieces();

  /// The dimension that is contracted.
  int64_t along;
};

} // namespace

WgmmaPieces::WgmmaPieces(const TileSource &source, const WgmmaPlan &plan)
    : WgmmaTiles(source, plan),
      along(llvm::find(dims, plan.steps.front().axis) - dims.begin()) {}

tile::BufferType WgmmaPieces::getPiece() {
  SmallVector<int64_t> block;
  for (unsigned number : dims) {
    const WgmmaAxis &axis = plan.axes[number];
    block.push_back(axis.step >= 0 ? plan.pieceK : axis.tile);
  }
  return getBuffer(plan.landing, inputType, block);
}

tile::PiecesAttr WgmmaPieces::getPieces() {
  SmallVector<int64_t> block(getPiece().getShape()), tileSizes(block);
  tileSizes[along] = plan.pieces * plan.pieceK;
  int64_t bytes = getAccessBytes(operands.input, /*isInput=*/true);
  return tile::PiecesAttr::get(b.getContext(), tileSizes, block, axes,
                               kWarpgroupThreads / 32, bytes, /*lines=*/false,
                               /*split=*/-1, /*ahead=*/plan.buffers - 1,
                               getOrder(operands.input));
}

void WgmmaPieces::build() {
  enterOperands(/*hasResult=*/true);
  begin();
  tile::PiecesAttr pieces = getPieces();
  Value ring = tile::AllocOp::create(
      b, loc, tile::RingType::get(plan.buffers, getPiece()));
  Value input = kernel.getArgument(arguments.input);
  tile::CopyPiecesOp::create(b, loc, input, ring, /*factor=*/Value(),
                             /*factorRing=*/Value(), pieces);
  Value operand = prepare(0);
  kernel.barrier();
  SmallVector<int64_t> shape{1}, box(pieces.getSizes());
  llvm::append_range(shape, pieces.getSizes());
  auto operandType = cast<tile::OperandType>(operand.getType());
  shape[along + 1] = operandType.getSizeN();
  box[along] = plan.steps.front().sizeN;
  auto type =
      tile::FragmentType::get(shape, b.getF32Type(), operandType.getAtom());
  buildLoop([&](Value tile) {
    Value sums = tile::ContractPiecesOp::create(
        b, loc, type, input, tile, operand, ring, /*factorRing=*/Value(),
        /*kept=*/Value(), /*sumsOf=*/Value(), along, pieces);
    store(sums, /*block=*/Value(), tile, along, box);
  });
}

void kron::tileWgmmaPieces(const TileSource &source, const WgmmaPlan &plan) {
  WgmmaPieces(source, plan).build();
}
