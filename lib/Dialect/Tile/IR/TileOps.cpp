//===- TileOps.cpp - Rules of operations on tiles -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileOps.h"
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

#define GET_OP_CLASSES
#include "kron/Dialect/Tile/IR/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void ViewOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getView(), "view");
}

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getMemory(), isa<RingType>(getMemory().getType()) ? "ring" : "buffer");
}

void AcquireOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getSlot(), "free");
}

void WaitOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getSlot(), "slot");
}

void PrepareOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getOperand(), "factor");
}

void LoadOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getFragment(), "values");
}

void ContractOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getSums(), "sums");
}

void ForOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn name) {
  name(getTile(), "tile");
}

void ForBoxesOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn name) {
  name(getBoxes(), "boxes");
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
  if (isa<ForOp, ForBoxesOp>((*this)->getParentOp()))
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

/// Whether the slot that `op` gives is one of its ring; else an error.
static LogicalResult verifySlot(Operation *op, RingType ring, BufferType slot) {
  if (ring.getBuffer() == slot)
    return success();
  // acquire_c1, wait_c1
  return op->emitOpError("expects a slot of type ")
         << ring.getBuffer() << ", but got " << slot;
}

/// Whether all threads of the CTA come to `op`; else an error.
static LogicalResult verifyAllCome(Operation *op) {
  // acquire_c3, wait_c4, barrier_c1
  if (op->getParentOfType<ForBoxesOp>())
    return op->emitOpError("expects not to be in tile.for_boxes, which threads "
                           "leave at different times");
  return success();
}

LogicalResult AcquireOp::verify() {
  if (failed(verifyAllCome(*this)))
    return failure();
  return verifySlot(*this, getRing().getType(), getSlot().getType());
}

LogicalResult WaitOp::verify() {
  if (failed(verifyAllCome(*this)))
    return failure();
  return verifySlot(*this, getRing().getType(), getSlot().getType());
}

LogicalResult BarrierOp::verify() { return verifyAllCome(*this); }

/// Whether `view` has rows of the sizes `row`, which move by `bytes` at a time,
/// `rows` of them in a tile; else an error.
static LogicalResult verifyRows(Operation *op, ViewType view,
                                ArrayRef<int64_t> row, Type element,
                                int64_t rows, int64_t bytes) {
  // copy_c1
  if (view.getElementType() != element)
    return op->emitOpError("expects elements of type ")
           << element << ", but got " << view;
  // copy_c2
  if (view.getShape().size() <= row.size() ||
      view.getShape().take_back(row.size()) != row)
    return op->emitOpError("expects a view of rows of ")
           << row << " elements, but got " << view;
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  if (bytes == elementBytes)
    return success();
  // copy_c3
  if (bytes != 16 || !view.isContiguous())
    return op->emitOpError("expects bytes to be ")
           << elementBytes << ", or 16 of a view without gaps, but got "
           << bytes;
  // copy_c4
  if (rows * llvm::product_of(row) * elementBytes % 16 != 0)
    return op->emitOpError("expects rows of a tile to be a multiple of 16 "
                           "bytes, but got ")
           << rows << " rows of " << row << " elements";
  return success();
}

/// Whether chunks of `bytes` of the rows of a tile, which follow each other in
/// global memory, are whole in `buffer`, too.
static LogicalResult verifyChunks(Operation *op, BufferType buffer,
                                  int64_t rows, int64_t bytes) {
  // copy_c5
  if (rows > buffer.getShape().front())
    return op->emitOpError("expects at most ")
           << buffer.getShape().front() << " rows, but got " << rows;
  int64_t chunk = bytes / buffer.getElementBytes();
  auto segments =
      buffer.getTileLayout().getSegments(0, buffer.getShape().size());
  bool isSplit = segments.back().stride != 1;
  for (TileLayout::Segment segment : ArrayRef(segments).drop_back())
    isSplit |= segment.stride % chunk != 0 || segments.back().size % chunk != 0;
  // copy_c6
  if (chunk > 1 && isSplit)
    return op->emitOpError("expects chunks of ")
           << bytes << " bytes to lie together in " << buffer;
  return success();
}

/// Whether `value` is the tile of a turn.
static bool isTile(Value value) {
  auto loop = dyn_cast_or_null<ForOp>(value.getParentBlock()->getParentOp());
  return loop && value == loop.getTile();
}

LogicalResult CopyOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyRows(*this, getView().getType(),
                        buffer.getShape().drop_front(), buffer.getElementType(),
                        getRows(), getBytes())) ||
      failed(verifyChunks(*this, buffer, getRows(), getBytes())))
    return failure();
  // copy_c7
  if (getTile() && !isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  return success();
}

LogicalResult PrepareOp::verify() {
  ViewType view = getFactor().getType();
  OperandType operand = getOperand().getType();
  // prepare_c1
  if (view.getShape() != operand.getShape() ||
      view.getElementType() != operand.getElementType())
    return emitOpError("expects a factor of the operand's sizes and elements, "
                       "but got ")
           << view << " for " << operand;
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether the body of a loop has its one argument; else an error.
static LogicalResult verifyBody(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() == 1 && body.getArgument(0).getType().isIndex())
    return success();
  // for_c2, for_boxes_c1
  return op->emitOpError("expects a body with one argument of type index");
}

LogicalResult ForOp::verify() {
  // for_c1
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a gpu.func itself");
  return verifyBody(*this);
}

LogicalResult ForBoxesOp::verify() { return verifyBody(*this); }

static ParseResult parseBody(OpAsmParser &parser, OperationState &result,
                             OpAsmParser::Argument argument) {
  argument.type = parser.getBuilder().getIndexType();
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, argument))
    return failure();
  return success();
}

static void printBody(OpAsmPrinter &printer, Operation *op,
                      ArrayRef<StringRef> elided) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " ";
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument tile;
  OpAsmParser::UnresolvedOperand tiles;
  if (parser.parseArgument(tile) || parser.parseKeyword("to") ||
      parser.parseOperand(tiles) ||
      parser.resolveOperand(tiles, parser.getBuilder().getI64Type(),
                            result.operands) ||
      parseBody(parser, result, tile))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << " " << getTile() << " to " << getTiles();
  printBody(printer, *this, {});
}

ParseResult ForBoxesOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument boxes;
  Builder &builder = parser.getBuilder();
  auto parseNumber = [&](StringRef name) -> ParseResult {
    IntegerAttr number;
    return parser.parseAttribute(number, builder.getI64Type(), name,
                                 result.attributes);
  };
  if (parser.parseArgument(boxes) || parser.parseKeyword("of") ||
      parseNumber("count"))
    return failure();
  for (StringRef name : {"together", "unrolled"})
    if (succeeded(parser.parseOptionalKeyword(name)) && parseNumber(name))
      return failure();
  if (succeeded(parser.parseOptionalKeyword("excess")))
    result.addAttribute("excess", builder.getUnitAttr());
  if (parseBody(parser, result, boxes))
    return failure();
  ensureTerminator(*result.regions.front(), builder, result.location);
  return success();
}

void ForBoxesOp::print(OpAsmPrinter &printer) {
  printer << " " << getBoxes() << " of " << getCount();
  if (getTogether() != 1)
    printer << " together " << getTogether();
  if (getUnrolled() != 3)
    printer << " unrolled " << getUnrolled();
  if (getExcess())
    printer << " excess";
  printBody(printer, *this, {"count", "together", "unrolled", "excess"});
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Whether the boxes of `fragment`, whole along the axes `along`, divide rows
/// of the sizes `row` (axis 1 is the first of these); and whether `boxes` are
/// those of a loop, at least one turn of which they fill. Else an error.
static LogicalResult verifyBoxes(Operation *op, FragmentType fragment,
                                 ArrayRef<int64_t> row, Value boxes,
                                 ArrayRef<int64_t> along) {
  auto loop =
      dyn_cast_or_null<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  // load_c1
  if (!loop || boxes != loop.getBoxes())
    return op->emitOpError("expects boxes of a tile.for_boxes");
  // load_c2
  if (fragment.getShape().front() != static_cast<int64_t>(loop.getTogether()))
    return op->emitOpError("expects a fragment of ")
           << loop.getTogether() << " boxes, as the loop takes, but got "
           << fragment;
  int64_t rank = row.size();
  SmallVector<int64_t> box;
  for (auto [number, axis] : llvm::enumerate(along)) {
    // load_c3
    if (axis < 1 || axis > rank || (number && axis != along[number - 1] + 1))
      return op->emitOpError("expects axes that follow each other, from 1 to ")
             << rank << ", but got " << along;
    box.push_back(row[axis - 1]);
  }
  // load_c4
  if (along.empty())
    return op->emitOpError("expects at least one axis");
  int64_t inside = llvm::product_of(row.drop_front(along.back()));
  bool hasWidth = along.back() < rank;
  if (hasWidth)
    box.push_back(fragment.getShape().back());
  // load_c5
  if (fragment.getBox() != ArrayRef(box) ||
      (hasWidth && inside % box.back() != 0))
    return op->emitOpError("expects boxes that divide rows of ")
           << row << " elements along " << along << ", but got " << fragment;
  return success();
}

static LogicalResult verifyBoxes(Operation *op, FragmentType fragment,
                                 BufferType buffer, Value boxes,
                                 ArrayRef<int64_t> along) {
  // load_c6
  if (fragment.getElementType() != buffer.getElementType())
    return op->emitOpError("expects elements of type ")
           << buffer.getElementType() << ", but got " << fragment;
  if (failed(verifyBoxes(op, fragment, buffer.getShape().drop_front(), boxes,
                         along)))
    return failure();
  int64_t rank = buffer.getShape().size();
  auto inside = buffer.getTileLayout().getSegments(along.back() + 1, rank);
  // load_c7
  if (along.back() + 1 < rank &&
      inside.back().size % fragment.getShape().back())
    return op->emitOpError("expects neighbours that lie together in ")
           << buffer << ", but got " << fragment;
  auto loop = cast<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  int64_t count = loop.getCount();
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  auto shape = kernel ? kernel->getAttrOfType<KernelAttr>(kKernelAttrName)
                      : KernelAttr();
  if (loop.getExcess() && shape)
    count = llvm::alignTo(count, shape.getThreads());
  int64_t room = buffer.getShape().front() * buffer.getRowElements();
  // load_c8
  if (count * fragment.getBoxElements() > room)
    return op->emitOpError("expects room for ")
           << count << " boxes of " << fragment.getBoxElements()
           << " elements, but " << buffer << " has " << room << " elements";
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyBoxes(*this, getFragment().getType(), getBuffer().getType(),
                     getBoxes(), getAlong());
}

LogicalResult ExchangeOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyBoxes(*this, getFragment().getType(), buffer, getBoxes(),
                         getAlong())))
    return failure();
  auto loop = cast<ForBoxesOp>(getBoxes().getParentBlock()->getParentOp());
  int64_t elements = loop.getCount() * getFragment().getType().getBoxElements();
  // exchange_c1
  if (elements % buffer.getRowElements() != 0)
    return emitOpError("expects boxes of whole rows, but ")
           << loop.getCount() << " boxes have " << elements
           << " elements, and a row has " << buffer.getRowElements();
  return success();
}

LogicalResult ContractOp::verify() {
  FragmentType from = getFragment().getType(), to = getSums().getType();
  OperandType operand = getOperand().getType();
  int64_t along = getAlong(), rank = from.getShape().size();
  // contract_c1
  if (along >= rank)
    return emitOpError("expects along to be less than ")
           << rank << ", but got " << along;
  // contract_c2
  if (from.getElementType() != operand.getElementType())
    return emitOpError("expects elements of type ")
           << operand.getElementType() << ", but got " << from;
  // contract_c3
  if (from.getShape()[along] != operand.getSizeK())
    return emitOpError("expects ")
           << operand.getSizeK() << " positions along " << along
           << ", K of the operand, but got " << from.getShape()[along];
  SmallVector<int64_t> shape(from.getShape());
  shape[along] = operand.getSizeN();
  auto expected = FragmentType::get(getContext(), shape, from.getElementType());
  // contract_c4
  if (to != expected)
    return emitOpError("expects sums of type ")
           << expected << ", but got " << to;
  // contract_c5
  if (getBlock().size() != 2 || getBlock()[0] < 1 || getBlock()[1] < 1)
    return emitOpError("expects a block of fibres and of results");
  int64_t chunk = 16 * 8 / from.getElementType().getIntOrFloatBitWidth();
  // contract_c6
  if (getBlock()[1] < operand.getSizeN() && getBlock()[1] % chunk != 0)
    return emitOpError("expects a block of all results or a multiple of ")
           << chunk << ", 16 bytes of the operand, but got " << getBlock()[1];
  return success();
}

LogicalResult StoreOp::verify() {
  ViewType view = getView().getType();
  // store_c1
  if (getAddend() &&
      getAddend().getType().isContiguous() != view.isContiguous())
    return emitOpError("expects an addend as its result lies, but got ")
           << getAddend().getType() << " for " << view;
  // store_c2
  if (!isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  for (Value scale : {getAlpha(), getBeta()})
    // store_c3
    if (scale && scale.getType() != view.getElementType())
      return emitOpError("expects alpha and beta of type ")
             << view.getElementType() << ", but got " << scale.getType();
  auto verifyView = [&](ViewType type, ArrayRef<int64_t> row, Type element) {
    return verifyRows(*this, type, row, element, getRows(), getBytes());
  };
  if (auto buffer = dyn_cast<BufferType>(getSource().getType())) {
    // store_c4
    if (getBoxes() || getAlong())
      return emitOpError("expects boxes of a fragment only");
    ArrayRef<int64_t> row = buffer.getShape().drop_front();
    if (failed(verifyView(view, row, buffer.getElementType())) ||
        (getAddend() && failed(verifyView(getAddend().getType(), row,
                                          buffer.getElementType()))))
      return failure();
    return verifyChunks(*this, buffer, getRows(), getBytes());
  }
  auto fragment = cast<FragmentType>(getSource().getType());
  // store_c5
  if (!getBoxes() || !getAlong())
    return emitOpError("expects a fragment's boxes, and what they are along");
  // store_c6
  if (!view.isContiguous())
    return emitOpError("expects a view without gaps for a fragment, but got ")
           << view;
  ArrayRef<int64_t> row = view.getShape().drop_front();
  if (failed(verifyView(view, row, fragment.getElementType())) ||
      (getAddend() && failed(verifyView(getAddend().getType(), row,
                                        fragment.getElementType()))) ||
      failed(verifyBoxes(*this, fragment, row, getBoxes(), *getAlong())))
    return failure();
  auto loop = cast<ForBoxesOp>(getBoxes().getParentBlock()->getParentOp());
  int64_t elements = loop.getCount() * fragment.getBoxElements();
  // store_c7
  if (elements != static_cast<int64_t>(getRows()) * llvm::product_of(row))
    return emitOpError("expects the boxes to be all of ")
           << getRows() << " rows, but " << loop.getCount() << " boxes have "
           << elements << " elements";
  return success();
}
