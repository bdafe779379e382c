//===- TileSegments.cpp - Rules of tiles that keep a part of a factor -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A part of a factor is a slot of a ring of one, that tile.copy fills with all
// of its pieces. What copies it, what orders it and what multiplies by it go
// together.
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

LogicalResult ForSegmentsOp::verify() {
  // for_segments_c1
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a gpu.func itself");
  Block &body = getRegion().front();
  if (body.empty() || !isa<tile::YieldOp>(body.back()) ||
      body.back().getNumOperands() > 0)
    return emitOpError("expects a body that ends with tile.yield, of nothing");
  // for_segments_c2
  if (body.getArgumentTypes() !=
      TypeRange({IndexType::get(getContext()), getBlocks().getType()}))
    return emitOpError("expects a body with an argument of type index and one "
                       "of type ")
           << getBlocks().getType();
  unsigned loops = 0, products = 0;
  bool isKnown = true;
  walk([&](Operation *op) {
    loops += isa<ForOp>(op);
    products += isa<ContractPiecesOp>(op);
    isKnown &= isa<ForSegmentsOp, AcquireOp, CopyOp, WaitOp, ReleaseOp,
                   BarrierOp, CopyPiecesOp, PairChunksOp, ForOp,
                   ContractPiecesOp, StoreOp, tile::YieldOp>(op);
  });
  // for_segments_c4
  if (loops != 1 || products != 1 || !isKnown)
    return emitOpError("expects one tile.for, with one tile.contract_pieces, "
                       "and what goes with pieces of chunks");
  return success();
}

ParseResult ForSegmentsOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument arguments[2];
  OpAsmParser::UnresolvedOperand blocks;
  Type type = parser.getBuilder().getI32Type();
  arguments[1].type = type;
  if (parser.parseArgument(arguments[0]) || parser.parseComma() ||
      parser.parseArgument(arguments[1]) || parser.parseKeyword("of") ||
      parser.parseOperand(blocks) ||
      parser.resolveOperand(blocks, type, result.operands) ||
      parser.parseKeyword("parts") || parseNumber(parser, result, "parts") ||
      (succeeded(parser.parseOptionalKeyword("most")) &&
       parseNumber(parser, result, "most")))
    return failure();
  return parseBody(parser, result, arguments);
}

void ForSegmentsOp::print(OpAsmPrinter &printer) {
  printer << " " << getSegment() << ", " << getTiles() << " of " << getBlocks()
          << " parts " << getParts();
  if (getMost())
    printer << " most " << getMost();
  printBody(printer, *this, {"parts", "most"});
}

//===----------------------------------------------------------------------===//
// Parts of factors
//===----------------------------------------------------------------------===//

Value tile::getKeptRing(Value slot) {
  Operation *op = slot ? slot.getDefiningOp() : nullptr;
  bool isSlot = isa_and_nonnull<AcquireOp, WaitOp>(op) &&
                op->getNumOperands() == 1 &&
                isa<ForSegmentsOp>(op->getParentOp());
  return isSlot ? op->getOperand(0) : Value();
}

ContractPiecesOp tile::getKeptProduct(Value slot) {
  Value ring = getKeptRing(slot);
  if (!ring)
    return {};
  for (Operation *wait : ring.getUsers())
    if (isa<WaitOp>(wait) && wait->getNumResults() == 1)
      for (Operation *user : wait->getResult(0).getUsers())
        if (auto product = dyn_cast<ContractPiecesOp>(user))
          return product;
  return {};
}

/// Whether `op` moves pieces of `slot` that tile.contract_pieces multiplies by.
static bool isOfProduct(Operation *op, Value slot, PiecesAttr pieces) {
  ContractPiecesOp product = getKeptProduct(slot);
  return product && product.getPiecesAttr() == pieces &&
         product->getParentOp()->getParentOp() == op->getParentOp();
}

LogicalResult tile::verifyPartCopy(CopyOp op) {
  auto segments = dyn_cast<ForSegmentsOp>(op->getParentOp());
  // copy_c7
  if (!segments || op.getTile() != segments.getSegment())
    return op.emitOpError("expects the segment of the tile.for_segments that "
                          "it is in");
  PiecesAttr pieces = *op.getPieces();
  bool isAlone = !op.getPart() && !op.getOrder() && !op.getRows() &&
                 !op.getSplit() && !op.getFill() && !op.getAxes() &&
                 !op.getLines() && !op.getRounded() && op.getGroups() == 1 &&
                 op.getAhead() == 0 && int64_t(op.getBytes()) == kChunkBytes;
  ContractPiecesOp product = getKeptProduct(op.getBuffer());
  // copy_c19
  if (!isAlone || !pieces.getChunks() ||
      !isOfProduct(op, op.getBuffer(), pieces) ||
      product->getNumOperands() < 3 || product->getOperand(2) != op.getView())
    return op.emitOpError("expects all pieces of chunks of the factor of a "
                          "tile.contract_pieces that keeps the slot, by 16 "
                          "bytes, and nothing else");
  return success();
}

LogicalResult PairChunksOp::verify() {
  ChunksAttr chunks = getPieces().getChunks();
  // pair_chunks_c1
  if (!getSlot().getDefiningOp<WaitOp>() || !chunks || !chunks.getPaired() ||
      !isOfProduct(*this, getSlot(), getPieces()))
    return emitOpError("expects a slot from tile.wait with paired chunks, of "
                       "pieces that a tile.contract_pieces keeps");
  return success();
}

/// Whether values of the chunks of `op` are put in pairs in front of its loop,
/// once if they are to be; else an error.
static LogicalResult verifyPaired(ContractPiecesOp op) {
  int64_t count = 0;
  for (Operation *user : op.getKept().getUsers())
    count += isa<PairChunksOp>(user) &&
             user->getBlock() == op->getParentOp()->getBlock() &&
             user->isBeforeInBlock(op->getParentOp());
  bool isPaired = op.getPieces().getChunks().getPaired();
  // contract_pieces_c14
  if (count == (isPaired ? 1 : 0))
    return success();
  return op.emitOpError("expects ")
         << (isPaired ? "one" : "no")
         << " tile.pair_chunks of its slot in front of the loop over tiles, "
            "but got "
         << count;
}

LogicalResult tile::verifyKeptFactor(ContractPiecesOp op) {
  PiecesAttr pieces = op.getPieces();
  ViewType data = op.getView().getType();
  auto factor = cast<ViewType>(op.getOperand().getType());
  auto loop = cast<ForOp>(op->getParentOp());
  auto segments = dyn_cast<ForSegmentsOp>(loop->getParentOp());
  ChunkTile tile(pieces.getChunks(), data.getElementType(),
                 factor.getElementType());
  int64_t parts = tile.getParts(factor, pieces);
  Value ring = getKeptRing(op.getKept());
  bool isFilled =
      ring && llvm::any_of(ring.getUsers(), [&](Operation *user) {
        auto acquire = dyn_cast<AcquireOp>(user);
        return acquire && acquire->getNumResults() == 1 &&
               llvm::any_of(acquire->getResult(0).getUsers(),
                            [&](Operation *copy) {
                              auto to = dyn_cast<CopyOp>(copy);
                              return to && to.getPiecesAttr() == pieces;
                            });
      });
  bool isOfSegment = segments && loop.getTiles() == segments.getTiles() &&
                     int64_t(segments.getParts()) == parts && isFilled &&
                     op.getKept().getDefiningOp<WaitOp>() &&
                     getKeptProduct(op.getKept()) == op &&
                     cast<RingType>(ring.getType()).getStages() == 1;
  // contract_pieces_c13
  if (!isOfSegment || tile.warpsK > 1 || pieces.getChunks().getRows())
    return op.emitOpError("expects tiles of a segment of ")
           << parts
           << " parts of the factor, and a slot of a ring of one with all "
              "pieces of such a part, for warps that do not share K and many "
              "rows";
  return verifyPaired(op);
}
