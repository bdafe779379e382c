//===- TilePieces.cpp - Rules of pieces of a tile that warps copy ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

LogicalResult PiecesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> block,
                                 ArrayRef<int64_t> axes, int64_t warps,
                                 int64_t bytes, bool lines, int64_t split,
                                 int64_t ahead, ArrayRef<int64_t> order,
                                 ChunksAttr chunks) {
  bool divides = areBlocks(sizes, block) &&
                 llvm::all_of(llvm::zip_equal(sizes, block), [](auto pair) {
                   auto [size, part] = pair;
                   return size % part == 0;
                 });
  if (!divides)
    return emitError() << "expects sizes that are multiples of a block's, but "
                          "got sizes "
                       << sizes << " and block " << block;
  if (axes.size() != sizes.size())
    return emitError() << "expects " << sizes.size()
                       << " axes, one per size, but got " << axes.size();
  if (warps < 1)
    return emitError() << "expects warps to be positive, but got " << warps;
  if (bytes < 1)
    return emitError() << "expects bytes to be positive, but got " << bytes;
  if (split < -1 || split >= int64_t(sizes.size()))
    return emitError() << "expects split to be a dimension from 0 to "
                       << sizes.size() - 1 << ", or -1, but got " << split;
  if (ahead < 0)
    return emitError() << "expects ahead not to be negative, but got " << ahead;
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!order.empty() &&
      ArrayRef(sorted) !=
          ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()))))
    return emitError() << "expects an order of " << sizes.size()
                       << " dimensions, each once, but got " << order;
  bool goAhead = ahead > 0 || (chunks && chunks.getWarpgroups());
  if (chunks && (!goAhead || lines || split >= 0 || !order.empty()))
    return emitError() << "expects pieces of chunks to go ahead, without "
                          "lines, split and order";
  return success();
}

/// Whether `op` has pieces of `view` in `ring` and, of chunks, those of a
/// factor, or a part of it that is `kept`; else an error.
static LogicalResult verifyPieces(Operation *op, ViewType view, RingType ring,
                                  Value factor, Value factorRing, Value kept,
                                  PiecesAttr pieces) {
  auto ofFactor = factor ? dyn_cast<ViewType>(factor.getType()) : ViewType();
  bool hasChunks(pieces.getChunks());
  // copy_pieces_c7
  if (hasChunks != bool(ofFactor) ||
      hasChunks != (bool(factorRing) != bool(kept)))
    return op->emitOpError("expects a factor and a ring of its pieces with "
                           "chunks, unless it stays, and neither without "
                           "these");
  if (hasChunks)
    return verifyChunkPieces(op, view, ring, ofFactor,
                             (factorRing ? factorRing : kept).getType(),
                             pieces);
  BufferType slot = ring.getBuffer();
  // copy_pieces_c1
  if (slot.getShape() != pieces.getBlock() || ring.getAlong() ||
      slot.getElementType() != view.getElementType())
    return op->emitOpError("expects a ring of pieces of ")
           << pieces.getBlock() << " elements of the view's type, but got "
           << ring;
  if (failed(verifyGroups(op, pieces.getWarps())))
    return failure();
  int64_t width = pieces.getBytes() / slot.getElementBytes();
  // copy_pieces_c1
  if (width > 1 && !lieTogether(slot, slot.getShape().size(), width))
    return op->emitOpError("expects chunks of ")
           << pieces.getBytes() << " bytes to lie together in " << slot;
  KernelAttr kernel = getKernel(op);
  int64_t threads = kernel ? kernel.getThreads() / kernel.getGroups() : 0;
  int64_t count =
      llvm::product_of(pieces.getSizes()) / llvm::product_of(pieces.getBlock());
  int64_t groups = std::max<int64_t>(1, threads / 32 / pieces.getWarps());
  int64_t warps = threads / 32, ahead = pieces.getAhead();
  // copy_pieces_c2
  if (threads && (warps % pieces.getWarps() != 0 || count % groups != 0 ||
                  ring.getStages() % groups != 0 ||
                  (ahead == 0 && ring.getStages() > count)))
    return op->emitOpError("expects as many slots and pieces for each of ")
           << groups << " groups, and no more slots than pieces, but got "
           << ring.getStages() << " slots and " << count << " pieces";
  if (threads && ahead > 0 && (groups > 1 || ring.getStages() != ahead + 1))
    return op->emitOpError("expects one group, with a slot more than the ")
           << ahead << " pieces that go ahead, but got " << groups
           << " groups and " << ring.getStages() << " slots";
  if (pieces.getSplit() >= 0 && !hasCluster(op))
    return op->emitOpError("expects split in a kernel of clusters");
  return failure(
      failed(verifyAxes(op, view, pieces.getAxes(), pieces.getSizes())) ||
      failed(verifyBytes(op, view, pieces.getAxes(), pieces.getSizes(),
                         pieces.getBytes(), /*isStored=*/false)));
}

/// Whether only `copy` and `loop` take slots of their ring; else an error.
static LogicalResult verifyTakers(Operation *op, Value ring, Operation *copy,
                                  Operation *loop) {
  for (Operation *user : ring.getUsers())
    // copy_pieces_c6
    if (user != copy && user != loop)
      return op->emitOpError("expects a ring that one tile.copy_pieces and one "
                             "tile.for_pieces or tile.contract_pieces take "
                             "slots of, but ")
             << user->getName() << " does, too";
  return success();
}

LogicalResult CopyPiecesOp::verify() {
  Operation *loop = nullptr;
  for (Operation *user : getRing().getUsers())
    loop = isa<ForPiecesOp, ContractPiecesOp>(user) ? user : loop;
  // What multiplies by a part of a factor that stays verifies the rest.
  if (loop && !getFactor() && !getFactorRing() && getPieces().getChunks() &&
      isa<ForSegmentsOp>((*this)->getParentOp()) &&
      llvm::any_of(loop->getOperands(), getKeptRing))
    return verifyTakers(*this, getRing(), *this, loop);
  // copy_pieces_c5
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()))
    return emitOpError("expects to be in no loop, but in tile.for_segments "
                       "where a part of a factor stays");
  // copy_pieces_c7
  if (getFactorRing() == getRing())
    return emitOpError("expects pieces of a factor in a ring of their own");
  return failure(
      failed(verifyTakers(*this, getRing(), *this, loop)) ||
      (getFactorRing() &&
       failed(verifyTakers(*this, getFactorRing(), *this, loop))) ||
      failed(verifyPieces(*this, getView().getType(), getRing().getType(),
                          getFactor(), getFactorRing(), /*kept=*/Value(),
                          getPieces())));
}

LogicalResult tile::verifyStartedPieces(Operation *op, Value view, Value ring,
                                        PiecesAttr pieces, Value factor,
                                        Value factorRing, Value kept) {
  auto isStart = [&](Operation *user) {
    auto copy = dyn_cast<CopyPiecesOp>(user);
    Operation *outermost =
        copy ? copy->getBlock()->findAncestorOpInBlock(*op) : nullptr;
    return outermost && copy->isBeforeInBlock(outermost) &&
           copy->getOperand(0) == view && copy.getPiecesAttr() == pieces &&
           copy.getFactor() == (kept ? Value() : factor) &&
           copy.getFactorRing() == factorRing;
  };
  auto users = ring.getUsers();
  auto start = llvm::find_if(users, isStart);
  // for_pieces_c3, contract_pieces_c3
  if (start == users.end())
    return op->emitOpError("expects a tile.copy_pieces of the same ring, view "
                           "and pieces in front of the loop over tiles");
  return failure(failed(verifyTakers(op, ring, *start, op)) ||
                 failed(verifyPieces(op, cast<ViewType>(view.getType()),
                                     cast<RingType>(ring.getType()), factor,
                                     factorRing, kept, pieces)));
}

LogicalResult ForPiecesOp::verify() {
  // for_pieces_c1
  if (!isTile(getTile()) || !isa<ForOp>((*this)->getParentOp()) ||
      getPieces().getAhead() > 0)
    return emitOpError("expects a tile of the tile.for that it is in, whose "
                       "pieces do not go ahead");
  RingType ring = getRing().getType();
  // for_pieces_c2
  if (getBody()->getArgumentTypes() !=
      TypeRange({IndexType::get(getContext()), Type(ring.getBuffer())}))
    return emitOpError("expects a body with an argument of type index and one "
                       "of type ")
           << ring.getBuffer();
  return verifyStartedPieces(*this, getView(), getRing(), getPiecesAttr());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult ForPiecesOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments(2);
  OpAsmParser::UnresolvedOperand view, tile, ring;
  PiecesAttr pieces;
  Type viewType, ringType;
  if (parser.parseArgument(arguments[0]) || parser.parseComma() ||
      parser.parseArgument(arguments[1]) || parser.parseKeyword("of") ||
      parser.parseOperand(view) || parser.parseLSquare() ||
      parser.parseOperand(tile) || parser.parseRSquare() ||
      parser.parseKeyword("in") || parser.parseOperand(ring) ||
      parser.parseKeyword("pieces") ||
      parser.parseCustomAttributeWithFallback(pieces) ||
      parser.parseColonType(viewType) || parser.parseComma() ||
      parser.parseType(ringType) ||
      parser.resolveOperand(view, viewType, result.operands) ||
      parser.resolveOperand(tile, parser.getBuilder().getIndexType(),
                            result.operands) ||
      parser.resolveOperand(ring, ringType, result.operands))
    return failure();
  auto type = dyn_cast<RingType>(ringType);
  if (!type)
    return parser.emitError(parser.getNameLoc(), "expects a ring, but got ")
           << ringType;
  result.addAttribute("pieces", pieces);
  arguments[1].type = type.getBuffer();
  return parseBody(parser, result, arguments);
}

void ForPiecesOp::print(OpAsmPrinter &printer) {
  printer << " " << getBoxes() << ", " << getSlot() << " of " << getView()
          << "[" << getTile() << "] in " << getRing() << " pieces ";
  printer.printStrippedAttrOrType(getPieces());
  printer << " : " << getView().getType() << ", " << getRing().getType();
  printBody(printer, *this, {"pieces"});
}
