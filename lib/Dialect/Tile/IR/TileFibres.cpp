//===- TileFibres.cpp - Rules of fibres that warpgroups multiply ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Bytes of a copy that refills, and neighbours that a thread quantizes.
static constexpr int64_t kRefillBytes = 16, kQuantizedLanes = 4;

ForFibresOp tile::getFibres(Value boxes) {
  Operation *loop = boxes ? boxes.getParentBlock()->getParentOp() : nullptr;
  return dyn_cast_or_null<ForFibresOp>(loop);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

ParseResult ForFibresOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument block;
  if (parser.parseArgument(block) || parser.parseKeyword("of"))
    return failure();
  Attribute sizes = DenseI64ArrayAttr::parse(parser, Type());
  if (!sizes)
    return failure();
  result.addAttribute("sizes", sizes);
  if (parser.parseKeyword("along") || parseNumber(parser, result, "along"))
    return failure();
  return parseBody(parser, result, block);
}

void ForFibresOp::print(OpAsmPrinter &printer) {
  printer << " " << getBoxes() << " of ";
  getSizesAttr().print(printer);
  printer << " along " << getAlong();
  printBody(printer, *this, {"sizes", "along"});
}

LogicalResult ForFibresOp::verify() {
  // for_fibres_c1
  if (!isa<ForOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a tile.for");
  // for_fibres_c3
  if (getSizes().empty() || !areTileSizes(getSizes()) ||
      getAlong() >= getSizes().size())
    return emitOpError("expects a dimension of a tile, but got ")
           << getAlong() << " of " << getSizes();
  KernelAttr kernel = getKernel(*this);
  // for_fibres_c4
  if (kernel &&
      kernel.getThreads() % (kernel.getGroups() * kWarpgroupThreads) != 0)
    return emitOpError("expects whole warpgroups to share a tile, but got ")
           << kernel.getGroups() << " groups of " << kernel.getThreads()
           << " threads";
  // for_fibres_c2
  return verifyBody(*this, TypeRange());
}

bool tile::areExclusive(Operation *lhs, Operation *rhs) {
  auto left = lhs->getParentOfType<IfAlignedOp>();
  auto right = rhs->getParentOfType<IfAlignedOp>();
  return left && right && left->getOperands() == right->getOperands() &&
         left->getAttrDictionary() == right->getAttrDictionary() &&
         (lhs->getParentRegion() == &left->getRegion(0)) !=
             (rhs->getParentRegion() == &right->getRegion(0));
}

LogicalResult IfAlignedOp::verify() {
  // if_aligned_c1
  if (getViews().empty())
    return emitOpError("expects views");
  for (Value view : getViews())
    if (cast<ViewType>(view.getType()).getRank() <= int64_t(getAxis()))
      return emitOpError("expects views that have an axis ")
             << getAxis() << ", but got " << view.getType();
  if (!llvm::isPowerOf2_64(getBytes()))
    return emitOpError("expects bytes to be a power of two, but got ")
           << getBytes();
  // if_aligned_c2
  if (!isa<ForOp, ForFibresOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a tile.for or a tile.for_fibres");
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool tile::isOfWarpgroup(AtomKind atom) {
  return atom == AtomKind::WgmmaTF32 || atom == AtomKind::WgmmaHalf;
}

/// Whether `buffer` has room for a tile of `sizes`, and `width` neighbours
/// along the innermost dimension lie together; else an error. Of dimension
/// `along`, pairs are even and odd positions.
static LogicalResult verifyRoom(Operation *op, BufferType buffer,
                                ArrayRef<int64_t> sizes, int64_t along,
                                int64_t width) {
  ArrayRef<int64_t> shape = buffer.getShape();
  int64_t rank = sizes.size();
  bool hasRoom = shape.size() == sizes.size();
  for (int64_t dim = 0; hasRoom && dim < rank; ++dim) {
    // Pairs are counted along the innermost dimension.
    bool isPaired = dim != along && dim + 1 == rank;
    hasRoom &=
        int64_t(llvm::alignTo(sizes[dim], isPaired ? 2 : 1)) <= shape[dim];
  }
  // contract_fibres_c3, exchange_c8
  if (!hasRoom)
    return op->emitOpError("expects a buffer with room for ")
           << sizes << " elements, but got " << buffer;
  TileLayout layout = buffer.getTileLayout();
  bool lieTogether = layout.strides.back() == 1;
  for (auto [size, stride] :
       llvm::zip_equal(shape.drop_back(), ArrayRef(layout.strides).drop_back()))
    lieTogether &=
        size == 1 || (stride % width == 0 &&
                      (layout.swizzles.empty() || llvm::isPowerOf2_64(stride)));
  for (TileLayout::Swizzle swizzle : layout.swizzles)
    lieTogether &= (int64_t(1) << swizzle.to) >= width &&
                   (along + 1 == rank ||
                    (int64_t(1) << swizzle.from) != layout.strides[along]);
  // contract_fibres_c5
  if (!lieTogether)
    return op->emitOpError("expects a buffer where ")
           << width << " neighbours lie together, but got " << buffer;
  return success();
}

LogicalResult ContractFibresOp::verify() {
  ForFibresOp loop = getFibres(getBoxes());
  // contract_fibres_c1
  if (!loop || (*this)->getParentOp() != loop)
    return emitOpError("expects boxes of the tile.for_fibres that it is in");
  OperandType operand = getOperand().getType();
  ArrayRef<int64_t> sizes = loop.getSizes();
  int64_t along = loop.getAlong(), rank = sizes.size();
  bool isInner = along + 1 == rank;
  OperandOrder order = isInner ? OperandOrder::Quads : OperandOrder::Pairs;
  auto prepare = getOperand().getDefiningOp<PrepareOp>();
  // contract_fibres_c2
  if (!prepare || !isOfWarpgroup(operand.getAtom()) ||
      operand.getOrder() != order || operand.getSizeK() != sizes[along])
    return emitOpError(
               "expects an operand of an atom wgmma from tile.prepare, ")
           << stringifyOperandOrder(order) << " of " << sizes[along]
           << " positions, but got " << operand;
  BufferType buffer = getSource().getType();
  bool isHalf = operand.getAtom() == AtomKind::WgmmaHalf;
  // contract_fibres_c3
  if (buffer.getElementType() != operand.getElementType())
    return emitOpError("expects a buffer of the operand's elements, but got ")
           << buffer << " for " << operand;
  SmallVector<int64_t> room(sizes);
  bool isWide = isInner || isHalf || prepare.getResiduals();
  room[along] = llvm::alignTo(room[along], isWide ? 16 : 8);
  if (failed(verifyRoom(*this, buffer, room, along,
                        !isInner ? 2
                        : isHalf ? 8
                                 : 4)))
    return failure();
  auto sums =
      FragmentType::get({1, kWarpgroupFibres, operand.getSizeN()},
                        Float32Type::get(getContext()), operand.getAtom());
  // contract_fibres_c4
  return verifySums(*this, getSums().getType(), sums);
}

/// The product that `source` is of, in the loop that has `boxes`; nothing, with
/// an error, if it is no such one.
static ContractFibresOp getProduct(Operation *op, Value source, Value boxes,
                                   ArrayRef<int64_t> along) {
  auto product = source.getDefiningOp<ContractFibresOp>();
  ForFibresOp loop = getFibres(boxes);
  // exchange_c1, store_c5
  if (!product || product->getNumOperands() != 3 ||
      product->getOperand(1) != boxes ||
      along != ArrayRef<int64_t>(loop.getAlong())) {
    op->emitOpError("expects sums of tile.contract_fibres of the same block, "
                    "along ")
        << loop.getAlong();
    return {};
  }
  return product;
}

LogicalResult tile::verifyExchangedFibres(ExchangeOp op) {
  if (!getProduct(op, op.getFragment(), op.getBoxes(), op.getAlong()))
    return failure();
  ForFibresOp loop = getFibres(op.getBoxes());
  BufferType buffer = op.getBuffer().getType();
  int64_t along = loop.getAlong(), rank = loop.getSizes().size();
  bool isInner = along + 1 == rank;
  // load_c6
  if (!buffer.getElementType().isF32())
    return op.emitOpError("expects elements of type f32, but got ") << buffer;
  SmallVector<int64_t> room(loop.getSizes());
  room[along] = llvm::alignTo(op.getFragment().getType().getShape().back(),
                              isInner ? 16 : 8);
  return verifyRoom(op, buffer, room, along, isInner ? 4 : 2);
}

LogicalResult tile::verifyStoredFibres(StoreOp op) {
  if (failed(verifyNoEpilogue(op, "fibres")))
    return failure();
  ContractFibresOp product =
      getProduct(op, op.getSource(), op.getBoxes(), *op.getAlong());
  if (!product)
    return failure();
  ForFibresOp loop = getFibres(op.getBoxes());
  SmallVector<int64_t> box(loop.getSizes());
  // Results of all CTAs that share the factor.
  if (auto prepare = product.getOperand().getDefiningOp<PrepareOp>())
    box[loop.getAlong()] = prepare.getFactor().getType().getShape().back();
  // store_c7
  if (*op.getBox() != ArrayRef(box))
    return op.emitOpError("expects a box of ")
           << box << " elements, but got " << *op.getBox();
  return verifyAxesAndBytes(op, box, box.size());
}

LogicalResult tile::verifyStoredSums(StoreOp op) {
  auto buffer = cast<BufferType>(op.getSource().getType());
  ArrayRef<int64_t> sizes = buffer.getShape();
  if (failed(verifyNoEpilogue(op, "a buffer with axes")))
    return failure();
  // store_c11
  if (op->getParentOfType<ForFibresOp>())
    return op.emitOpError("expects a buffer with axes to be stored by all "
                          "threads, outside of tile.for_fibres");
  Type element = buffer.getElementType();
  if (!(element.isF32() || element.isF64()) || op.getRows() ||
      int64_t(op.getBytes()) !=
          getBytesOf(op.getView().getType().getElementType()))
    return op.emitOpError("expects a buffer of f32 or f64 with axes, which is "
                          "stored element by element, without rows, but got ")
           << buffer << " by " << op.getBytes() << " bytes";
  return failure(failed(verifyAxesAndBytes(op, sizes, sizes.size())) ||
                 failed(verifyOrder(op, op.getOrder(), sizes.size())));
}

//===----------------------------------------------------------------------===//
// Tiles that come next
//===----------------------------------------------------------------------===//

/// Whether `buffer`, which is in the slot of a tile.refill in the first part of
/// `branch`, is read or written behind `op` where arrays are aligned.
static bool isUsedBehind(Value buffer, Operation *op, IfAlignedOp branch) {
  Block *block = op->getBlock();
  for (Operation *user : buffer.getUsers()) {
    if (auto resize = dyn_cast<ResizeOp>(user)) {
      if (isUsedBehind(resize.getBuffer(), op, branch))
        return true;
      continue;
    }
    Operation *outer = block->findAncestorOpInBlock(*user);
    if (!outer || outer == op || outer->isBeforeInBlock(op))
      continue;
    auto other = user->getParentOfType<IfAlignedOp>();
    bool isSame = other && other->getOperands() == branch->getOperands() &&
                  other->getAttrDictionary() == branch->getAttrDictionary();
    if (!isSame || (user->getParentRegion() == &other->getRegion(0) &&
                    !isa<RefilledOp>(user)))
      return true;
  }
  return false;
}

LogicalResult RefillOp::verify() {
  ForFibresOp loop = getFibres(getBoxes());
  auto branch = dyn_cast<IfAlignedOp>((*this)->getParentOp());
  bool isFirst = branch && loop && branch->getParentOp() == loop &&
                 (*this)->getParentRegion() == &branch->getRegion(0);
  auto refusePlace = [&] {
    return emitOpError("expects to be in the first part of a tile.if_aligned "
                       "of its view by 16 bytes, behind which only other parts "
                       "use the slot");
  };
  // refill_c3
  if (!isFirst || !llvm::is_contained(branch->getOperands(), getView()) ||
      !branch.getBytesAttr() || branch.getBytes() != kRefillBytes)
    return refusePlace();
  bool isRead = llvm::any_of(getBuffer().getUsers(), [&](Operation *user) {
    return isa<ContractFibresOp>(user) && user->getParentOp() == loop &&
           user->getOperand(0) == getBuffer() && user->isBeforeInBlock(branch);
  });
  // refill_c1
  if (!isRead)
    return emitOpError("expects a tile.contract_fibres of the same block and "
                       "buffer in front of it");
  if (llvm::any_of(
          ArrayRef<Operation *>{*this, branch, loop},
          [&](Operation *op) { return isUsedBehind(getSlot(), op, branch); }))
    return refusePlace();
  auto wait = getSlot().getDefiningOp<WaitOp>();
  ArrayRef<int64_t> sizes = loop.getSizes();
  int64_t along = loop.getAlong(), rank = sizes.size();
  int64_t stages =
      wait && wait->getNumOperands() == 1 &&
              isa<RingType>(wait->getOperand(0).getType())
          ? cast<RingType>(wait->getOperand(0).getType()).getStages()
          : 0;
  // refill_c2
  if (stages != 1 || along + 1 == rank || sizes.back() % 4 != 0 ||
      llvm::product_of(sizes) / sizes[along] % kWarpgroupFibres != 0)
    return emitOpError("expects the slot of a ring of one, and blocks of 64 "
                       "fibres that are not along the innermost dimension, of "
                       "a multiple of 4, but got ")
           << sizes << " along " << along;
  ViewType view = getView().getType();
  // refill_c4
  if (!view.getElementType().isF32() ||
      !getBuffer().getType().getElementType().isF32())
    return emitOpError("expects elements of f32, but got ")
           << view << " and " << getBuffer().getType();
  if (failed(verifyAxes(*this, view, getAxes(), sizes)))
    return failure();
  int64_t axis = getAxes()[along];
  if (axis == -1 || ShapedType::isDynamic(view.getShape()[axis]) ||
      view.getShape()[axis] % sizes[along] != 0)
    return emitOpError("expects whole fibres of ")
           << sizes[along] << " positions, but got axis " << axis << " of "
           << view;
  return verifyBytes(*this, view, getAxes(), sizes, kRefillBytes,
                     /*isStored=*/false);
}

Value RefillOp::getSlot() { return getOrigin(getBuffer()); }

LogicalResult RefilledOp::verify() {
  auto branch = dyn_cast<IfAlignedOp>((*this)->getParentOp());
  bool isRefilled = false;
  if (branch && (*this)->getParentRegion() == &branch->getRegion(0) &&
      getSlot().getDefiningOp<WaitOp>())
    branch->getParentOp()->walk([&](RefillOp refill) {
      auto other = refill->getParentOfType<IfAlignedOp>();
      isRefilled |= refill->getNumOperands() > 0 &&
                    refill.getSlot() == getSlot() && other &&
                    other->getOperands() == branch->getOperands() &&
                    other->getAttrDictionary() == branch->getAttrDictionary();
    });
  // refilled_c1
  if (!isRefilled)
    return emitOpError("expects a slot from tile.wait that a tile.refill "
                       "fills, in the first part of a tile.if_aligned of the "
                       "same views and bytes");
  return success();
}

LogicalResult PrefetchOp::verify() {
  // prefetch_c1
  if (!isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  // prefetch_c2
  if (getBox().empty() || !areTileSizes(getBox()))
    return emitOpError("expects the sizes of a tile, but got ") << getBox();
  return verifyAxes(*this, getView().getType(), getAxes(), getBox());
}

//===----------------------------------------------------------------------===//
// Rows of 8 bits
//===----------------------------------------------------------------------===//

LogicalResult tile::QuantizeOp::verify() {
  BufferType buffer = getSource().getType();
  // quantize_c1
  if (!isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  Operation *parent = (*this)->getParentOp();
  if (!isa<ForOp>(isa<IfAlignedOp>(parent) ? parent->getParentOp() : parent))
    return emitOpError("expects to be in a tile.for, where all threads come, "
                       "but got ")
           << parent->getName();
  ArrayRef<int64_t> shape = buffer.getShape();
  bool lieTogether = buffer.getElementType().isF32() && shape.size() > 1 &&
                     shape.back() % kQuantizedLanes == 0 &&
                     tile::lieTogether(buffer, shape.size(), kQuantizedLanes);
  for (TileLayout::Swizzle swizzle : buffer.getTileLayout().swizzles)
    lieTogether &= (int64_t(1) << swizzle.to) >= kQuantizedLanes;
  // quantize_c2
  if (!lieTogether)
    return emitOpError("expects rows of f32 in groups of ")
           << kQuantizedLanes << " neighbours, but got " << buffer;
  int64_t elements = llvm::product_of(shape.drop_front());
  ViewType view = getView().getType(), scales = getScales().getType();
  Type byte = view.getElementType();
  // quantize_c3
  if (view.getRank() != 2 || getBytesOf(byte) != 1 ||
      view.getShape()[1] != elements ||
      (!view.isContiguous() && view.getStrides()[1] != 1))
    return emitOpError("expects rows of ")
           << elements << " elements of 8 bits, but got " << view;
  // quantize_c4
  if (scales.getRank() != 1 || !scales.getElementType().isF32() ||
      scales.getShape()[0] != view.getShape()[0])
    return emitOpError("expects a scale of f32 for each row of ")
           << view << ", but got " << scales;
  return success();
}
