//===- TileWarpgroups.cpp - Rules of what warpgroups multiply -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Dialect/Tile/IR/TileSteps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The largest side of a factor.
static constexpr int64_t kLargestSide = 512;

int64_t tile::countFibres(ArrayRef<int64_t> sizes, unsigned along) {
  int64_t fibres = 1;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    bool isPaired = dim + 1 == sizes.size();
    if (dim != along)
      fibres *= isPaired ? llvm::alignTo(size, 2) : size;
  }
  return fibres;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult tile::verifyDivision(gpu::GPUFuncOp kernel) {
  auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
  if (!shape.isDivided())
    return success();
  // Of results of a share, a tile in shared memory has no place.
  bool mayBeWhole = shape.getShares() == 1;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    bool isKnown =
        TypeSwitch<Operation *, bool>(op)
            .Case<AllocOp, ForOp, ForSegmentsOp, YieldOp, gpu::ReturnOp,
                  ContractPiecesOp, AcquireOp, WaitOp, ReleaseOp, ResizeOp,
                  ForFibresOp, ContractFibresOp, PrefetchOp, SpreadOp>(
                [](auto) { return true; })
            .Case<ForStepOp, CopyStepOp, KeepStepOp, ClearOp, ContractStepOp,
                  LeaveRowsOp>([&](auto) { return mayBeWhole; })
            // Of what the steps of a chain leave.
            .Case<LoadRowsOp, ReduceRowsOp, QuantizeRowsOp>([&](auto rows) {
              return mayBeWhole && rows->getNumOperands() > 0 &&
                     !isa<ViewType>(rows->getOperand(0).getType());
            })
            .Case<IfAlignedOp, RefillOp, RefilledOp, PairChunksOp,
                  tile::QuantizeOp>([&](auto) { return mayBeWhole; })
            .Case([&](CopyOp copy) {
              return copy.getFill() || copy.getPiecesAttr();
            })
            .Case([&](ExchangeOp exchange) {
              return mayBeWhole && exchange->getNumOperands() > 2 &&
                     (getFibres(exchange->getOperand(2)) ||
                      getStep(exchange->getOperand(2)));
            })
            // In loops, of what a group has.
            .Case([&](BarrierOp barrier) {
              return barrier->getParentOp() == kernel ||
                     (barrier.getGroups() == 1 && !barrier.getOfBlock());
            })
            .Case([](CopyPiecesOp copy) {
              PiecesAttr pieces = copy.getPiecesAttr();
              return pieces && (pieces.getAhead() > 0 || pieces.getChunks());
            })
            .Case([&](PrepareOp prepare) {
              auto type = dyn_cast<OperandType>(
                  prepare.getOperation()->getResult(0).getType());
              return type && isOfWarpgroup(type.getAtom()) &&
                     prepare->getParentOp() == kernel;
            })
            .Case([&](StoreOp store) {
              if (store->getNumOperands() == 0)
                return false;
              Value source = store->getOperand(0);
              bool isWhole =
                  source.getDefiningOp<ContractStepOp>() ||
                  (isa<BufferType>(source.getType()) && store.getAxesAttr());
              return source.getDefiningOp<ContractPiecesOp>() ||
                     source.getDefiningOp<ContractFibresOp>() ||
                     (mayBeWhole && isWhole);
            })
            .Default([](Operation *) { return false; });
    if (isKnown)
      return WalkResult::advance();
    op->emitOpError("is not for kernels of several groups or shares, which "
                    "tile.contract_pieces is for, or of groups alone "
                    "tile.for_fibres");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult tile::verifyPackedFactor(PrepareOp op) {
  OperandType operand = op.getOperand().getType();
  ViewType view = op.getFactor().getType();
  KernelAttr kernel = getKernel(op);
  int64_t shares = kernel ? kernel.getShares() : 1;
  // prepare_c3
  if (op.getWarps() != 1 || op.getTogether() != 1 || op.getSplit() ||
      op.getStreamed())
    return op.emitOpError("expects no warps, together, split and streamed of "
                          "atom ")
           << stringifyAtomKind(operand.getAtom());
  int64_t sizeK = operand.getSizeK(), sizeN = operand.getSizeN();
  bool hasSizes = view.getShape().size() == 2 && view.getShape()[0] == sizeK &&
                  view.getShape()[1] <= shares * sizeN &&
                  view.getShape()[1] > (shares - 1) * sizeN;
  // prepare_c1
  bool isHalf = operand.getAtom() == AtomKind::WgmmaHalf;
  Type element =
      isHalf ? view.getElementType() : getSumType(view.getElementType());
  if (!hasSizes || element != operand.getElementType() ||
      (isHalf && op.getResiduals()))
    return op.emitOpError("expects a factor of the operand's K and elements, "
                          "with N for ")
           << shares << " parts of its results, but got " << view << " for "
           << operand;
  int64_t unit = operand.getOrder() == OperandOrder::Quads ? 16 : 8;
  // prepare_c6
  if (sizeK > kLargestSide || sizeN > kLargestSide ||
      (shares > 1 && sizeN % unit != 0))
    return op.emitOpError("expects a factor of up to ")
           << kLargestSide << " x " << kLargestSide
           << ", in parts of multiples of " << unit << " results, but got "
           << operand;
  return success();
}

/// Whether the pieces of `op` are those of a warpgroup's tile; else an error.
static LogicalResult verifyOwnPieces(ContractPiecesOp op) {
  PiecesAttr pieces = op.getPieces();
  ArrayRef<int64_t> sizes = pieces.getSizes(), block = pieces.getBlock();
  int64_t along = op.getAlong(), rank = sizes.size();
  KernelAttr kernel = getKernel(op);
  bool isCut = along < rank && block[along] % kWarpgroupLoadedK == 0;
  for (int64_t dim = 0; dim < rank; ++dim)
    isCut &= dim == along || sizes[dim] == block[dim];
  bool isOfGroup = pieces.getWarps() == 4 && pieces.getAhead() > 0 &&
                   pieces.getSplit() < 0 &&
                   (!kernel || kernel.getThreads() == 128 * kernel.getGroups());
  // contract_pieces_c2
  if (isCut && isOfGroup && countFibres(sizes, along) <= kWarpgroupFibres)
    return success();
  return op.emitOpError("expects pieces of four warps that go ahead, cut along "
                        "one dimension in multiples of ")
         << kWarpgroupLoadedK << " positions, of at most " << kWarpgroupFibres
         << " fibres, but got " << pieces;
}

/// Whether lanes find the neighbours along the innermost dimension that they
/// load at once in slots of the ring of `op`; else an error.
static LogicalResult verifyLoaded(ContractPiecesOp op, OperandOrder order) {
  BufferType slot = op.getRing().getType().getBuffer();
  TileLayout layout = slot.getTileLayout();
  int64_t width = order == OperandOrder::Quads ? 4 : 2, along = op.getAlong();
  bool lieTogether = layout.strides.back() == 1;
  for (auto [size, stride] : llvm::zip_equal(
           slot.getShape().drop_back(), ArrayRef(layout.strides).drop_back()))
    lieTogether &= size == 1 || stride % width == 0;
  for (TileLayout::Swizzle swizzle : layout.swizzles)
    lieTogether &= (int64_t(1) << swizzle.to) >= width &&
                   (order == OperandOrder::Quads ||
                    (int64_t(1) << swizzle.from) != layout.strides[along]);
  // contract_pieces_c7
  if (!lieTogether)
    return op.emitOpError("expects slots where ")
           << width << " neighbours lie together, but got " << slot;
  return success();
}

LogicalResult ContractPiecesOp::verify() {
  // contract_pieces_c1
  if (!isTile(getTile()) || !isa<ForOp>((*this)->getParentOp()))
    return emitOpError("expects a tile of the tile.for that it is in");
  PiecesAttr pieces = getPieces();
  auto operand = dyn_cast<OperandType>(getOperand().getType());
  // contract_pieces_c4, contract_pieces_c8
  if (bool(operand) == bool(pieces.getChunks()) ||
      (operand && (getFactorRing() || getKept() || getSumsOf())))
    return emitOpError("expects an operand or, of pieces of chunks, a view of "
                       "the factor and a ring of its pieces");
  bool hasSegment = isa<ForSegmentsOp>((*this)->getParentOp()->getParentOp());
  // contract_pieces_c13
  if (hasSegment != bool(getKept()))
    return emitOpError("expects a kept factor in tile.for_segments, and only "
                       "there");
  if (!operand)
    return failure(
        failed(verifyStartedPieces(*this, getView(), getRing(), pieces,
                                   getOperand(), getFactorRing(), getKept())) ||
        failed(verifyChunkSums(*this)) ||
        (hasSegment && failed(verifyKeptFactor(*this))));
  if (failed(verifyOwnPieces(*this)) ||
      failed(verifyStartedPieces(*this, getView(), getRing(), pieces)))
    return failure();
  ArrayRef<int64_t> sizes = pieces.getSizes();
  int64_t along = getAlong(), rank = sizes.size();
  int64_t axis = pieces.getAxes()[along];
  OperandOrder order =
      along + 1 == rank ? OperandOrder::Quads : OperandOrder::Pairs;
  int64_t sizeK = operand.getSizeK();
  // contract_pieces_c4
  if (!getOperand().getDefiningOp<PrepareOp>() ||
      operand.getAtom() != AtomKind::WgmmaTF32 || operand.getOrder() != order ||
      axis < 0 || getView().getType().getShape()[axis] != sizeK ||
      sizeK > sizes[along] || sizeK <= sizes[along] - pieces.getBlock()[along])
    return emitOpError("expects an operand of atom ")
           << stringifyAtomKind(AtomKind::WgmmaTF32) << " from tile.prepare, "
           << stringifyOperandOrder(order) << " of the positions of axis "
           << axis << ", the last ones of which are in the last piece, but got "
           << operand << " for " << pieces;
  if (failed(verifyLoaded(*this, order)))
    return failure();
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, sizes);
  shape[along + 1] = operand.getSizeN();
  auto sums =
      FragmentType::get(shape, operand.getElementType(), operand.getAtom());
  // contract_pieces_c5
  return verifySums(*this, getSums().getType(), sums);
}

LogicalResult tile::verifyStoredPieces(StoreOp op) {
  auto product = op.getSource().getDefiningOp<ContractPiecesOp>();
  auto fragment = cast<FragmentType>(op.getSource().getType());
  int64_t along = product.getAlong();
  bool hasChunks(product.getPieces().getChunks());
  if (!hasChunks && failed(verifyNoEpilogue(op, "a tile in pieces")))
    return failure();
  // store_c2
  if (op.getTile() != product.getTile() ||
      op->getParentOp() != product->getParentOp())
    return op.emitOpError("expects the tile that its source is of, in the loop "
                          "that has it");
  if (hasChunks)
    return verifyStoredChunks(op, product);
  // store_c5
  if (*op.getAlong() != ArrayRef(along))
    return op.emitOpError("expects sums along ")
           << along << ", but got " << *op.getAlong();
  KernelAttr kernel = getKernel(op);
  int64_t shares = kernel ? kernel.getShares() : 1;
  SmallVector<int64_t> box(*op.getBox()), own(fragment.getBox());
  bool isBox = box.size() == own.size();
  for (int64_t dim = 0, rank = own.size(); isBox && dim < rank; ++dim)
    isBox &= dim == along ? box[dim] <= shares * own[dim] &&
                                box[dim] > (shares - 1) * own[dim]
                          : box[dim] == own[dim];
  // store_c7
  if (!isBox)
    return op.emitOpError("expects a box of ")
           << own << " elements, of which " << shares
           << " CTAs have a part along " << along << ", but got " << box;
  return verifyAxesAndBytes(op, box, box.size());
}
