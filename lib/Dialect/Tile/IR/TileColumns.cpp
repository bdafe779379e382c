//===- TileColumns.cpp - Rules of columns that threads keep ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileColumns.h"
#include "TileRules.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// How they lie
//===----------------------------------------------------------------------===//

ColumnLayout::ColumnLayout(ViewType view, int64_t width) : width(width) {
  ArrayRef<int64_t> shape = view.getShape().take_back(3);
  ArrayRef<int64_t> strides = view.getStrides().take_back(3);
  sizeK = shape[0];
  groups = shape[1];
  sizeN = shape[2];
  isShared = strides == ArrayRef<int64_t>{1, sizeK, 0};
  isDense = strides == ArrayRef<int64_t>{1, sizeK * sizeN, sizeK};
  bool isWhole = width % sizeN == 0;
  isRegular = isWhole || sizeN % width == 0;
  span = isWhole ? width / sizeN : isRegular ? 1 : (width - 2) / sizeN + 2;
}

int64_t ColumnLayout::getSegment() const {
  if (isShared)
    return isRegular ? getElements() : sizeK;
  return isDense ? getElements() : 1;
}

int64_t ColumnLayout::getColumnsPerGroup() const {
  return llvm::divideCeil(sizeN, width);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

LogicalResult ForColumnsOp::verify() {
  // for_columns_c1
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a gpu.func itself");
  // for_columns_c2
  if (failed(verifyBody(*this, TypeRange())))
    return failure();
  // for_columns_c5
  if (getAtom() != AtomKind::Fma && getAtom() != AtomKind::MmaM16N8K16)
    return emitOpError("expects atom fma or mma.m16n8k16, but got ")
           << stringifyAtomKind(getAtom());
  // for_columns_c6
  for (uint64_t number : {getCount(), getPerCta(), getBeside()})
    if (number > uint64_t(kMostElements))
      return emitOpError("expects numbers of columns up to ")
             << kMostElements << ", but got " << number;
  int64_t threads = getThreads(*this), perCTA = getPerCta();
  int64_t beside = getBeside();
  // for_columns_c3
  if (isOfWarps() ? perCTA * 32 != threads || beside != 1
                  : perCTA * beside > threads)
    return emitOpError("expects a ")
           << (isOfWarps() ? "warp" : "thread") << " for each of " << perCTA
           << " columns" << (isOfWarps() ? ", none beside each other" : "")
           << ", but got " << threads << " threads and " << beside
           << " beside each other";
  WalkResult result = getBody()->walk([&](Operation *op) {
    bool readsBuffer = llvm::any_of(
        op->getOperandTypes(), [](Type type) { return isa<BufferType>(type); });
    if (isa<LoadColumnsOp, DotOp, StoreOp, ForOp, YieldOp>(op) && !readsBuffer)
      return WalkResult::advance();
    // for_columns_c4
    emitOpError("expects to work on views and registers only, but got ")
        << op->getName();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

ParseResult ForColumnsOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument columns;
  if (parser.parseArgument(columns) || parser.parseKeyword("of") ||
      parseNumber(parser, result, "count") || parser.parseKeyword("by") ||
      parseNumber(parser, result, "per_cta") ||
      (succeeded(parser.parseOptionalKeyword("beside")) &&
       parseNumber(parser, result, "beside")) ||
      parser.parseKeyword("atom"))
    return failure();
  Attribute atom = AtomKindAttr::parse(parser, Type());
  if (!atom)
    return failure();
  result.addAttribute("atom", atom);
  return parseBody(parser, result, columns);
}

void ForColumnsOp::print(OpAsmPrinter &printer) {
  printer << " " << getColumns() << " of " << getCount() << " by "
          << getPerCta();
  if (getBeside() != 1)
    printer << " beside " << getBeside();
  printer << " atom ";
  getAtomAttr().print(printer);
  printBody(printer, *this, {"count", "per_cta", "beside", "atom"});
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

ForColumnsOp tile::getColumnsLoop(Value columns) {
  auto loop = dyn_cast_or_null<ForColumnsOp>(
      columns ? columns.getParentBlock()->getParentOp() : nullptr);
  return loop && columns == loop.getColumns() ? loop : ForColumnsOp();
}

/// Whether `fragment` has columns of `view`, K x results of each, as `loop`
/// shares them; else an error.
static LogicalResult verifyColumns(Operation *op, ViewType view,
                                   FragmentType fragment, ForColumnsOp loop,
                                   size_t rank) {
  // load_columns_c2
  if (view.isContiguous() || view.getShape().size() != rank ||
      !areTileSizes(view.getShape().take_back(3)))
    return op->emitOpError("expects a view with strides and ")
           << rank << " axes, three of known sizes, but got " << view;
  ArrayRef<int64_t> shape = fragment.getShape();
  // load_columns_c3
  if (shape.size() != 3 || shape[1] != view.getShape()[rank - 3] ||
      fragment.getAtom() != AtomKind::Fma)
    return op->emitOpError("expects a fragment of rows, ")
           << view.getShape()[rank - 3] << " positions and results, but got "
           << fragment;
  ColumnLayout layout(view, shape[2]);
  int64_t count = loop.getCount(), results = layout.groups * layout.sizeN;
  // load_columns_c2
  if (loop.isOfWarps() ? count != layout.groups * layout.getColumnsPerGroup()
                       : count * layout.width != results)
    return op->emitOpError("expects ")
           << count << " columns of " << layout.width
           << " results each to be those of " << view;
  bool takesTiles = layout.width % 32 == 0 && layout.sizeN % 8 == 0 &&
                    getBytesOf(view.getElementType()) == 2;
  // load_columns_c7
  if (loop.isOfWarps() && !takesTiles)
    return op->emitOpError(
               "expects 16-bit elements, a multiple of 8 results of "
               "a group and of 32 of a column, but got ")
           << fragment << " of " << view;
  return success();
}

LogicalResult LoadColumnsOp::verify() {
  ForColumnsOp loop = getColumnsLoop(getColumns());
  // load_columns_c1
  if (!loop)
    return emitOpError("expects columns of a tile.for_columns");
  ViewType view = getView().getType();
  FragmentType fragment = getFragment().getType();
  bool hasRows = getAheadAttr() != nullptr;
  if (failed(verifyColumns(*this, view, fragment, loop, hasRows ? 4 : 3)))
    return failure();
  // load_columns_c3
  if (fragment.getElementType() != view.getElementType() ||
      (!hasRows && fragment.getShape().front() != 1))
    return emitOpError("expects elements of ")
           << view << ", and one row without a turn, but got " << fragment;
  // load_columns_c8
  if (getTile() && !hasRows)
    return emitOpError("expects ahead with a tile");
  // load_columns_c4
  if (getTile() && (!isTile(getTile()) ||
                    getTile().getParentRegion()->getParentOp()->getParentOp() !=
                        loop.getOperation()))
    return emitOpError("expects a tile of a tile.for in its tile.for_columns");
  ColumnLayout layout(view, fragment.getShape()[2]);
  int64_t elementBytes = getBytesOf(view.getElementType());
  int64_t bytes = getBytes();
  // load_columns_c5
  if (!layout.isShared && !layout.isDense && bytes != elementBytes)
    return emitOpError("expects elements that follow each other to be loaded "
                       "by ")
           << bytes << " bytes, but got " << view;
  auto divides = [&](int64_t elements) {
    return ShapedType::isDynamic(elements) ||
           elements % (bytes / elementBytes) == 0;
  };
  // load_columns_c6
  if (!llvm::isPowerOf2_64(bytes) || bytes > 16 || bytes < elementBytes ||
      (!loop.isOfWarps() && !divides(layout.getSegment())) ||
      (hasRows && !divides(view.getStrides().front())))
    return emitOpError("expects bytes that divide ")
           << layout.getSegment() << " elements of " << view << ", but got "
           << bytes;
  // load_columns_c7
  if (loop.isOfWarps() &&
      (layout.sizeK > 16 || layout.sizeK % 4 != 0 || bytes != 8 ||
       !(hasRows ? layout.isShared : layout.isDense) ||
       (hasRows && fragment.getShape().front() % 16 != 0)))
    return emitOpError("expects K to be a multiple of 4 up to 16, by 8 bytes, "
                       "tiles of 16 rows, and results that share the elements "
                       "of rows, but got ")
           << fragment << " of " << view;
  return success();
}

LogicalResult tile::verifyStoredColumns(StoreOp op) {
  ForColumnsOp loop = getColumnsLoop(op.getBoxes());
  auto fragment = cast<FragmentType>(op.getSource().getType());
  ViewType view = op.getView().getType();
  Type sum = getSumType(view.getElementType());
  // copy_c1
  if (failed(verifyElements(op, fragment, sum)))
    return failure();
  if (failed(verifyColumns(op, view, fragment, loop, 4)))
    return failure();
  ColumnLayout layout(view, fragment.getShape()[2]);
  ArrayRef<int64_t> strides = view.getStrides();
  int64_t elementBytes = getBytesOf(view.getElementType());
  int64_t rows = fragment.getShape().front() * loop.getBeside();
  bool isDense = strides[3] == 1 && strides[2] == layout.sizeN &&
                 layout.width * elementBytes % 16 == 0 &&
                 (ShapedType::isDynamic(strides[0]) ||
                  strides[0] % (16 / elementBytes) == 0);
  // store_c9
  if (*op.getAlong() != ArrayRef<int64_t>{1} || layout.sizeK != 1 ||
      op.getRows() != rows || op.getBytes() != 16 || op.getBeta() || !isDense)
    return op.emitOpError("expects columns along axis 1, ")
           << rows
           << " rows, and bytes 16 of dense rows, without beta, but got "
           << view;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Type tile::getSumType(Type element) {
  return element.isF16() || element.isBF16()
             ? Float32Type::get(element.getContext())
             : element;
}

LogicalResult DotOp::verify() {
  auto loop = (*this)->getParentOfType<ForColumnsOp>();
  // dot_c1
  if (!loop || loop.getAtom() != getAtom())
    return emitOpError("expects to be in a tile.for_columns of atom ")
           << stringifyAtomKind(getAtom());
  FragmentType fragment = getFragment().getType();
  FragmentType weights = getWeights().getType();
  Type element = fragment.getElementType();
  // dot_c5
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isF64())
    return emitOpError("expects elements of f16, bf16, f32 or f64, but got ")
           << fragment;
  // dot_c2
  if (fragment.getElementType() != weights.getElementType() ||
      weights.getShape().front() != 1 ||
      fragment.getBox() != weights.getBox() || fragment.getBox().size() != 2 ||
      fragment.getAtom() != AtomKind::Fma || weights.getAtom() != AtomKind::Fma)
    return emitOpError("expects weights for K and results of one row of ")
           << fragment << ", but got " << weights;
  auto isLoaded = [](Value value) {
    Operation *parent = value.getParentBlock()->getParentOp();
    return value.getDefiningOp<LoadColumnsOp>() ||
           (isa<BlockArgument>(value) && isa_and_nonnull<ForOp>(parent));
  };
  // dot_c4
  if (loop.isOfWarps() && (fragment.getShape().front() % 16 != 0 ||
                           !isLoaded(getFragment()) || !isLoaded(getWeights())))
    return emitOpError("expects tiles of 16 rows and weights as "
                       "tile.load_columns loads them, but got ")
           << fragment << " and " << weights;
  auto expected = FragmentType::get(
      {fragment.getShape().front(), 1, fragment.getShape()[2]},
      getSumType(fragment.getElementType()));
  // dot_c3
  return verifySums(*this, getSums().getType(), expected);
}
