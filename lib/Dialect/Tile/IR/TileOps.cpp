//===- TileOps.cpp - Rules of operations on tiles -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The tile of a turn: `%tile + ahead`, or `ahead` of the first one.
static ParseResult
parseTurn(OpAsmParser &parser,
          std::optional<OpAsmParser::UnresolvedOperand> &tile,
          IntegerAttr &ahead) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult found = parser.parseOptionalOperand(operand);
  if (found.has_value()) {
    if (failed(*found) || parser.parsePlus())
      return failure();
    tile = operand;
  }
  return parser.parseAttribute(ahead, parser.getBuilder().getI64Type());
}

static void printTurn(OpAsmPrinter &printer, Operation *, Value tile,
                      IntegerAttr ahead) {
  if (tile)
    printer << tile << " + ";
  printer << ahead.getInt();
}

/// The same behind a comma, if there is one.
static ParseResult
parseNextTurn(OpAsmParser &parser,
              std::optional<OpAsmParser::UnresolvedOperand> &tile,
              IntegerAttr &ahead) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return parseTurn(parser, tile, ahead);
}

static void printNextTurn(OpAsmPrinter &printer, Operation *op, Value tile,
                          IntegerAttr ahead) {
  if (!ahead)
    return;
  printer << ", ";
  printTurn(printer, op, tile, ahead);
}

/// Gives `values` these names in printed text, those that there are of both.
static void setNames(ValueRange values, ArrayRef<StringRef> names,
                     OpAsmSetValueNameFn setName) {
  for (auto [value, name] : llvm::zip(values, names))
    setName(value, name);
}

#define GET_OP_CLASSES
#include "kron/Dialect/Tile/IR/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getMemory(), isa<RingType>(getMemory().getType()) ? "ring" : "buffer");
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  ViewType type = getView().getType();
  size_t sizes = llvm::count(type.getShape(), ShapedType::kDynamic);
  size_t strides = llvm::count(type.getStrides(), ShapedType::kDynamic);
  // view_c1
  if (getSizes().size() != sizes)
    return emitOpError("expects ")
           << sizes << " sizes, as many as are dynamic, but got "
           << getSizes().size();
  // view_c2
  if (getStrides().size() != strides)
    return emitOpError("expects ")
           << strides << " strides, as many as are dynamic, but got "
           << getStrides().size();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(*this, getKernelAttr());
  // launch_c1
  if (!kernel || !kernel->hasAttr(kKernelAttrName))
    return emitOpError("expects ")
           << getKernelAttr() << " to be a gpu.func with the attribute "
           << kKernelAttrName;
  // launch_c2
  if (TypeRange(kernel.getFunctionType().getInputs()) != getArgs().getTypes())
    return emitOpError("expects arguments of types ")
           << kernel.getFunctionType().getInputs() << ", but got "
           << getArgs().getTypes();
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  // alloc_c2
  if (isa<ForOp, ForBoxesOp, ForBlocksOp, ForPiecesOp, ForSegmentsOp>(
          (*this)->getParentOp()))
    return emitOpError("expects to be in no loop");
  if (!getReuses())
    return success();
  auto reused = getReuses().getDefiningOp<AllocOp>();
  // alloc_c1
  if (!reused || reused.getReuses() || !isa<BufferType>(getMemory().getType()))
    return emitOpError("expects a buffer to reuse one that has memory of its "
                       "own");
  return success();
}

KernelAttr tile::getKernel(Operation *op) {
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  return kernel ? kernel->getAttrOfType<KernelAttr>(kKernelAttrName)
                : KernelAttr();
}

int64_t tile::getThreads(Operation *op) {
  KernelAttr shape = getKernel(op);
  return shape ? shape.getThreads() : 0;
}

bool tile::hasCluster(Operation *op) {
  KernelAttr shape = getKernel(op);
  return shape && shape.getCluster() > 1;
}

/// Whether all threads of the CTA come to `op`, or do so once if `allowsOnce`;
/// else an error.
static LogicalResult verifyAllCome(Operation *op, bool allowsOnce = false) {
  auto loop = op->getParentOfType<ForBoxesOp>();
  bool isInBlocks = isa<ForBlocksOp, ForPiecesOp>(op->getParentOp()) ||
                    op->getParentOfType<ForFibresOp>();
  // acquire_c3, wait_c4
  if ((loop && !allowsOnce) || isInBlocks)
    return op->emitOpError("expects not to be in tile.for_boxes, which threads "
                           "leave at different times");
  // barrier_c1
  if (loop && !loop.isOnce(getThreads(op)))
    return op->emitOpError("expects to be in no tile.for_boxes but one that "
                           "all threads go through once");
  return success();
}

/// Whether all threads come to `op`, and the slot that it gives is one of its
/// ring; else an error.
static LogicalResult verifySlot(Operation *op, RingType ring, BufferType slot) {
  if (failed(verifyAllCome(op)))
    return failure();
  if (ring.getBuffer() == slot)
    return success();
  // acquire_c1, wait_c1
  return op->emitOpError("expects a slot of type ")
         << ring.getBuffer() << ", but got " << slot;
}

/// `type` with its dimensions from `first` on, `joined` of them, and the next
/// one counted as one; nothing where they have a gap.
static std::optional<TileLayout> joinAxes(BufferType type, size_t first,
                                          size_t joined) {
  TileLayout layout = type.getTileLayout();
  for (; joined > 0; --joined) {
    int64_t *strides = &layout.strides[first];
    int64_t *pitches = &layout.pitches[first];
    if (strides[0] != strides[1] * pitches[1])
      return std::nullopt;
    pitches[1] *= pitches[0];
    layout.pitches.erase(pitches);
    layout.strides.erase(strides);
  }
  return layout;
}

/// `from` with as many dimensions as `to` has, of which one may be several
/// neighbours, with the strides of `to`; nothing if there is no such layout.
static std::optional<TileLayout> joinLike(BufferType from, BufferType to) {
  size_t rank = from.getShape().size(), least = to.getShape().size();
  if (least > rank)
    return std::nullopt;
  SmallVector<int64_t> strides = to.getTileLayout().strides;
  for (size_t first = 0; first < least; ++first) {
    std::optional<TileLayout> joined = joinAxes(from, first, rank - least);
    if (joined && joined->strides == strides)
      return joined;
  }
  return std::nullopt;
}

LogicalResult ResizeOp::verify() {
  BufferType from = getFrom().getType(), to = getBuffer().getType();
  std::optional<TileLayout> before = joinLike(from, to);
  auto getSwizzle = [](BufferType type) {
    return type.getLayout() ? type.getLayout().getSwizzle()
                            : ArrayRef<int64_t>();
  };
  // resize_c1
  if (from.getElementType() != to.getElementType() || !before ||
      getSwizzle(from) != getSwizzle(to))
    return emitOpError("expects the elements and strides of ")
           << from << ", but got " << to;
  // resize_c2
  for (auto [room, size] : llvm::zip_equal(before->pitches, to.getShape()))
    if (size > room)
      return emitOpError("expects at most the positions of ")
             << from << ", but got " << to;
  return success();
}

LogicalResult AcquireOp::verify() {
  return verifySlot(*this, getRing().getType(), getSlot().getType());
}

LogicalResult WaitOp::verify() {
  return verifySlot(*this, getRing().getType(), getSlot().getType());
}

LogicalResult ReleaseOp::verify() {
  // release_c2
  return verifyAllCome(*this, /*allowsOnce=*/true);
}

LogicalResult BarrierOp::verify() {
  int64_t groups = getGroups();
  if (getOfBlock()) {
    // barrier_c1
    if (!isa<ForBlocksOp, ForPiecesOp>((*this)->getParentOp()) || groups != 1 ||
        getNumbered() || getCluster() || getArrive() || getWait())
      return emitOpError("expects of_block in tile.for_blocks or "
                         "tile.for_pieces, and nothing else");
    return success();
  }
  // barrier_c2
  if (getThreads(*this) % 32 != 0 || getThreads(*this) / 32 % groups != 0 ||
      (groups > 15 && getThreads(*this) / 32 != groups))
    return emitOpError("expects at most 15 groups of whole warps, or one per "
                       "warp, but got ")
           << groups << " of " << getThreads(*this) << " threads";
  // barrier_c3
  if (getCluster() && (!hasCluster(*this) || groups != 1))
    return emitOpError("expects cluster in a kernel of clusters, without "
                       "groups");
  if ((getArrive() || getWait()) && (!getCluster() || getArrive() == getWait()))
    return emitOpError("expects arrive or wait of a cluster");
  auto loop = (*this)->getParentOfType<ForBoxesOp>();
  if (loop && loop.getWarps() && getArrive())
    return success();
  return verifyAllCome(*this, /*allowsOnce=*/true);
}

LogicalResult PrepareOp::verify() {
  ViewType view = getFactor().getType();
  OperandType operand = getOperand().getType();
  // prepare_c4
  if (isa<ForBlocksOp, ForPiecesOp>((*this)->getParentOp()) ||
      (*this)->getParentOfType<ForFibresOp>())
    return emitOpError("expects not to be in a loop over blocks, which warps "
                       "leave at different times");
  if (isOfWarpgroup(operand.getAtom()))
    return verifyPackedFactor(*this);
  if (failed(verifyBlockFactor(*this)))
    return failure();
  if (isOfBlocks(operand.getAtom()))
    return success();
  bool isShared = operand.getAtom() == AtomKind::Fma;
  bool hasSizes = view.getShape() == operand.getShape();
  if (isShared && view.getShape().size() == 2)
    hasSizes = view.getShape()[0] == operand.getSizeK() &&
               view.getShape()[1] >= 1 &&
               view.getShape()[1] <= operand.getSizeN();
  bool hasElements =
      isShared ? areSummedIn(view.getElementType(), operand.getElementType())
               : view.getElementType() == operand.getElementType();
  // prepare_c1
  if (!hasSizes || !hasElements)
    return emitOpError("expects a factor of the operand's sizes and elements, "
                       "but got ")
           << view << " for " << operand;
  // prepare_c2
  if (operand.getOrder() == OperandOrder::Halves && !hasCluster(*this))
    return emitOpError("expects an operand in halves in a kernel of clusters");
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult tile::verifyBody(Operation *op, TypeRange carried) {
  Block &body = op->getRegion(0).front();
  if (body.empty() || !isa<tile::YieldOp>(body.back()))
    return op->emitOpError("expects a body that ends with tile.yield");
  // for_c2, for_boxes_c1, for_columns_c2
  if (body.getNumArguments() != 1 + carried.size() ||
      !body.getArgument(0).getType().isIndex())
    return op->emitOpError("expects a body with one argument of type index")
           << (carried.empty() ? "" : ", and one for each carried fragment");
  // for_c3
  if (body.getTerminator()->getOperandTypes() != carried ||
      TypeRange(body.getArgumentTypes()).drop_front() != carried)
    return op->emitOpError("expects to carry fragments of types ")
           << carried << ", but got "
           << TypeRange(body.getArgumentTypes()).drop_front() << " and "
           << body.getTerminator()->getOperandTypes();
  return success();
}

LogicalResult ForOp::verify() {
  // for_c1
  if (!isa<gpu::GPUFuncOp, ForColumnsOp, ForSegmentsOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a gpu.func itself, or in a "
                       "tile.for_columns or tile.for_segments");
  if (failed(verifyBody(*this, getInits().getTypes())))
    return failure();
  // Operations of the body are not verified yet.
  for (auto [init, next] : llvm::zip_equal(getInits(), getYielded())) {
    auto first = init.getDefiningOp<LoadColumnsOp>();
    auto later = next.getDefiningOp<LoadColumnsOp>();
    // for_c4
    if (!first || !later || first->getNumOperands() == 0 ||
        later->getNumOperands() == 0 ||
        first->getOperand(0) != later->getOperand(0) ||
        first.getBytesAttr() != later.getBytesAttr())
      return emitOpError("expects to carry fragments from tile.load_columns of "
                         "the same view, by as many bytes");
  }
  return success();
}

LogicalResult ForBoxesOp::verify() {
  // for_boxes_c5
  if (!isa_and_nonnull<gpu::GPUFuncOp, ForOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a gpu.func itself, or in a tile.for");
  // for_boxes_c6
  for (uint64_t number : {getCount(), getTogether(), getParts(), getWarps()})
    if (number > uint64_t(kMostElements))
      return emitOpError("expects numbers of boxes up to ")
             << kMostElements << ", but got " << number;
  // for_boxes_c2
  if (getRepeat() && getExcess())
    return emitOpError("expects repeat or excess, but got both");
  int64_t warps = getWarps();
  // for_boxes_c4
  if (getParts() && (getExcess() || warps))
    return emitOpError("expects parts of fibres of threads, without excess and "
                       "warps");
  KernelAttr kernel = getKernel(*this);
  int64_t lanes = getLanes();
  bool isOfWarps = llvm::isPowerOf2_64(lanes) && lanes <= 32 &&
                   (!kernel || kernel.getThreads() % 32 == 0);
  // for_boxes_c7
  if ((!getParts() && (getAxisAcross() || lanes != 1)) ||
      (lanes != 1 && !isOfWarps))
    return emitOpError("expects across and lanes of boxes in parts only, and "
                       "lanes to be a power of two up to 32 of whole warps, "
                       "but got ")
           << lanes;
  // for_boxes_c8
  if (int64_t vectors = getVectors();
      vectors && (!getAxisAcross() || lanes != 1 || getParts() % vectors != 0 ||
                  llvm::range_size(getBody()->getOps<StoreOp>()) != 1))
    return emitOpError("expects vectors of boxes across an axis, without "
                       "lanes, to divide the ")
           << int64_t(getParts()) << " parts that one tile.store has, but got "
           << vectors;
  if (!warps || !kernel)
    return verifyBody(*this, TypeRange());
  int64_t own = kernel.getThreads() / 32;
  bool isPlain = !getExcess() && !getRepeat() && !getOrder();
  // for_boxes_c3
  if ((warps != own && warps != own * kernel.getCluster()) ||
      int64_t(getCount()) % (warps * int64_t(getTogether())) != 0 || !isPlain)
    return emitOpError("expects whole turns of all ")
           << own << " warps of the CTA or of those of its cluster, without "
           << "excess, repeat and order, but got " << getCount()
           << " boxes for " << warps << " warps";
  return verifyBody(*this, TypeRange());
}

/// Ends a body that leaves nothing for the next turn.
void tile::YieldOp::build(OpBuilder &, OperationState &) {}

ParseResult tile::parseNumber(OpAsmParser &parser, OperationState &result,
                              StringRef name) {
  IntegerAttr number;
  return parser.parseAttribute(number, parser.getBuilder().getI64Type(), name,
                               result.attributes);
}

ParseResult tile::parseBody(OpAsmParser &parser, OperationState &result,
                            MutableArrayRef<OpAsmParser::Argument> arguments) {
  arguments.front().type = parser.getBuilder().getIndexType();
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  // All loops end in the same way.
  ForOp::ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void tile::printBody(OpAsmPrinter &printer, Operation *op,
                     ArrayRef<StringRef> elided, bool yields) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " ";
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/yields);
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments(1);
  OpAsmParser::UnresolvedOperand tiles;
  auto parseCarried = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand init;
    OpAsmParser::Argument &carried = arguments.emplace_back();
    return failure(parser.parseArgument(carried) || parser.parseEqual() ||
                   parser.parseOperand(init) ||
                   parser.parseColonType(carried.type) ||
                   parser.resolveOperand(init, carried.type, result.operands));
  };
  Type type = parser.getBuilder().getI64Type();
  if (parser.parseArgument(arguments.front()) || parser.parseKeyword("to") ||
      parser.parseOperand(tiles) ||
      (succeeded(parser.parseOptionalColon()) && parser.parseType(type)) ||
      parser.resolveOperand(tiles, type, result.operands) ||
      (succeeded(parser.parseOptionalKeyword("carry")) &&
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                      parseCarried)))
    return failure();
  return parseBody(parser, result, arguments);
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << " " << getTile() << " to " << getTiles();
  if (!getTiles().getType().isInteger(64))
    printer << " : " << getTiles().getType();
  if (!getInits().empty()) {
    printer << " carry(";
    llvm::interleaveComma(
        llvm::zip_equal(getCarried(), getInits()), printer, [&](auto pair) {
          auto [carried, init] = pair;
          printer << carried << " = " << init << " : " << init.getType();
        });
    printer << ")";
  }
  printBody(printer, *this, {}, /*yields=*/!getInits().empty());
}

ParseResult ForBoxesOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument boxes;
  if (parser.parseArgument(boxes) || parser.parseKeyword("of") ||
      parseNumber(parser, result, "count"))
    return failure();
  for (StringRef name : {"together", "unrolled"})
    if (succeeded(parser.parseOptionalKeyword(name)) &&
        parseNumber(parser, result, name))
      return failure();
  for (StringRef name : {"excess", "repeat"})
    if (succeeded(parser.parseOptionalKeyword(name)))
      result.addAttribute(name, parser.getBuilder().getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("order"))) {
    Attribute order = DenseI64ArrayAttr::parse(parser, Type());
    if (!order)
      return failure();
    result.addAttribute("order", order);
  }
  for (StringRef name : {"parts", "across", "lanes", "vectors", "warps"})
    if (succeeded(parser.parseOptionalKeyword(name)) &&
        parseNumber(parser, result, name))
      return failure();
  return parseBody(parser, result, boxes);
}

void ForBoxesOp::print(OpAsmPrinter &printer) {
  printer << " " << getBoxes() << " of " << getCount();
  if (getTogether() != 1)
    printer << " together " << getTogether();
  if (getUnrolled() != 3)
    printer << " unrolled " << getUnrolled();
  if (getExcess())
    printer << " excess";
  if (getRepeat())
    printer << " repeat";
  if (getOrder()) {
    printer << " order ";
    getOrderAttr().print(printer);
  }
  if (getParts())
    printer << " parts " << getParts();
  if (std::optional<int64_t> axis = getAxisAcross())
    printer << " across " << *axis;
  if (getLanes() != 1)
    printer << " lanes " << getLanes();
  if (getVectors())
    printer << " vectors " << getVectors();
  if (getWarps())
    printer << " warps " << getWarps();
  printBody(printer, *this,
            {"count", "together", "unrolled", "excess", "repeat", "order",
             "parts", "across", "lanes", "vectors", "warps"});
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

LogicalResult tile::verifySums(Operation *op, FragmentType own,
                               FragmentType expected) {
  if (own == expected)
    return success();
  return op->emitOpError("expects sums of type ")
         << expected << ", but got " << own;
}

LogicalResult ContractOp::verify() {
  FragmentType from = getFragment().getType(), to = getSums().getType();
  OperandType operand = getOperand().getType();
  int64_t along = getAlong(), rank = from.getShape().size();
  // contract_c1
  if (along >= rank)
    return emitOpError("expects along to be less than ")
           << rank << ", but got " << along;
  bool isOfBlock = isOfBlocks(getAtom());
  Type computed =
      isOfBlock ? getSumType(from.getElementType()) : from.getElementType();
  // contract_c2
  if (computed != operand.getElementType())
    return emitOpError("expects elements of type ")
           << operand.getElementType() << ", but got " << from;
  // contract_c3
  if (from.getShape()[along] != operand.getSizeK())
    return emitOpError("expects ")
           << operand.getSizeK() << " positions along " << along
           << ", K of the operand, but got " << from.getShape()[along];
  SmallVector<int64_t> shape(from.getShape());
  shape[along] = operand.getSizeN();
  auto expected = FragmentType::get(shape, computed, from.getAtom());
  // contract_c4
  if (failed(verifySums(*this, to, expected)))
    return failure();
  // contract_c5
  if (getBlock().size() != 2 || getBlock()[0] < 1 || getBlock()[1] < 1)
    return emitOpError("expects a block of fibres and of results");
  Type element = from.getElementType();
  // contract_c11
  if (getAtom() == AtomKind::Fma && !element.isF32() && !element.isF64())
    return emitOpError("expects elements of f32 or f64 with atom fma, but got ")
           << from;
  int64_t chunk = 16 / getBytesOf(element);
  // contract_c6
  if (getBlock()[1] < operand.getSizeN() && getBlock()[1] % chunk != 0)
    return emitOpError("expects a block of all results or a multiple of ")
           << chunk << ", 16 bytes of the operand, but got " << getBlock()[1];
  // contract_c8
  if (from.getAtom() != getAtom() || operand.getAtom() != getAtom() ||
      isOfWarpgroup(getAtom()))
    return emitOpError("expects a fragment and an operand of atom ")
           << stringifyAtomKind(getAtom()) << ", but got " << from << " and "
           << operand;
  if (getAtom() == AtomKind::Fma)
    return success();
  if (isOfBlock && failed(verifyBlockProduct(*this)))
    return failure();
  auto load = getFragment().getDefiningOp<LoadOp>();
  OperandOrder order = load && load.getHalves() ? OperandOrder::Halves
                       : along + 1 == rank      ? OperandOrder::Pairs
                                                : OperandOrder::Apart;
  int64_t fibres = llvm::product_of(from.getShape()) / operand.getSizeK();
  // contract_c9
  if (!getWhole() || getBlock()[0] != fibres ||
      getBlock()[1] != operand.getSizeN())
    return emitOpError("expects a block of all ")
           << fibres << " fibres and " << operand.getSizeN()
           << " results, whole";
  if (!isOfBlock && operand.getOrder() != order)
    return emitOpError("expects an operand of order ")
           << stringifyOperandOrder(order) << ", but got " << operand;
  return success();
}
