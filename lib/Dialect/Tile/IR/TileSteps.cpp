//===- TileSteps.cpp - Rules of steps of a chain of sparse factors --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileSteps.h"
#include "TileRules.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// What follows from operations
//===----------------------------------------------------------------------===//

ForStepOp tile::getStep(Value boxes) {
  Operation *loop = boxes ? boxes.getParentBlock()->getParentOp() : nullptr;
  auto step = dyn_cast_or_null<ForStepOp>(loop);
  return step && step.getPart() == boxes ? step : ForStepOp();
}

ContractStepOp tile::getReader(Value buffer) {
  ContractStepOp reader;
  for (Operation *user : buffer.getUsers())
    if (auto product = dyn_cast<ContractStepOp>(user))
      if (product.getSource() == buffer) {
        if (reader)
          return {};
        reader = product;
      }
  return reader;
}

ContractStepOp tile::getStepOf(Value memory) {
  for (Operation *user : memory.getUsers())
    if (auto product = dyn_cast<ContractStepOp>(user))
      if (product.getRing() == memory || product.getFactorIn() == memory)
        return product;
  return {};
}

ContractStepOp ForStepOp::getProduct() {
  auto products = getBody()->getOps<ContractStepOp>();
  return products.empty() ? ContractStepOp() : *products.begin();
}

ForStepOp ContractStepOp::getLoop() {
  return dyn_cast<ForStepOp>((*this)->getParentOp());
}

ViewType ContractStepOp::getData() {
  if (auto view = dyn_cast<ViewType>(getSource().getType()))
    return view;
  ArrayRef<int64_t> weights = getWeights().getShape();
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  if (weights.size() >= 3) {
    llvm::append_range(shape, weights.drop_back(2));
    shape.push_back(weights.back());
  }
  Type element = cast<BufferType>(getSource().getType()).getElementType();
  return ViewType::get(getContext(), shape, element, {});
}

StepParts::StepParts(ContractStepOp op) {
  ArrayRef<int64_t> weights = op.getWeights().getShape();
  ArrayRef<int64_t> sizes = op.getPieces().getSizes();
  ViewType data = op.getData();
  Type weight = op.getWeights().getElementType();
  ChunkTile tile(op.getPieces().getChunks(), data.getElementType(), weight);
  int64_t tileLanes = sizes.drop_back().back();
  int64_t stepK = op.getPieces().getBlock().back();
  lanes = weights.drop_back(2).back();
  groups = llvm::product_of(weights.drop_back(3));
  sizeK = weights.back();
  sizeN = weights.drop_back().back();
  rows = tile.getRows();
  results = tile.getResults();
  steps = sizes.back() / stepK;
  regions = groups * llvm::divideCeil(lanes, tileLanes);
  count = regions * llvm::divideCeil(sizeN, results);
  dataPitch = tile.getPitch(stepK * tileLanes, data.getElementType());
  factorPitch = tile.getPitch(stepK * tileLanes, weight);
  rowElements = regions * steps * dataPitch;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

ParseResult ForStepOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument part;
  if (parser.parseArgument(part) || parser.parseKeyword("of") ||
      parseNumber(parser, result, "count"))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("shares")) &&
      parseNumber(parser, result, "shares"))
    return failure();
  return parseBody(parser, result, part);
}

void ForStepOp::print(OpAsmPrinter &printer) {
  printer << " " << getPart() << " of " << getCount();
  if (getShares() > 1)
    printer << " shares " << getShares();
  printBody(printer, *this, {"count", "shares"});
}

LogicalResult ForStepOp::verify() {
  // for_step_c1
  if (!isa<ForOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a tile.for itself");
  // for_step_c2
  return verifyBody(*this, TypeRange());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult CopyStepOp::verify() {
  auto loop = dyn_cast<ForOp>((*this)->getParentOp());
  bool isPlaced = getTile() ? loop && loop.getTile() == getTile()
                            : isa<gpu::GPUFuncOp>((*this)->getParentOp());
  // copy_step_c1
  if (!isPlaced)
    return emitOpError("expects to be in the tile.for of its tile itself, or "
                       "in the kernel without one");
  ContractStepOp step = getStepOf(getRing());
  bool isData = step && step.getRing() == getRing();
  bool isOfStep =
      step && (isData ? step.getSource() : step.getFactor()) == getView();
  if (isOfStep && isData) {
    bool streams = isa<RingType>(step.getFactorIn().getType());
    isOfStep = streams ? getFactor() == step.getFactor() &&
                             getFactorRing() == step.getFactorIn()
                       : !getFactor();
  } else if (isOfStep) {
    isOfStep = !getFactor() && !step.getRing();
  }
  // copy_step_c2
  if (!isOfStep)
    return emitOpError("expects the views that a tile.contract_step multiplies "
                       "in these rings, and all of its rings");
  return success();
}

LogicalResult KeepStepOp::verify() {
  // keep_step_c1
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()))
    return emitOpError("expects to be in no loop");
  ContractStepOp step = getStepOf(getKept());
  // keep_step_c2
  if (!getKept().hasOneUse() || !step || step.getFactor() != getFactor())
    return emitOpError("expects one tile.contract_step to multiply by its "
                       "factor in the buffer, and no other use");
  return success();
}

LogicalResult ClearOp::verify() {
  // clear_c1
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()))
    return emitOpError("expects to be in no loop");
  auto alloc = getBuffer().getDefiningOp<AllocOp>();
  bool isShared =
      !alloc || alloc.getReuses() ||
      llvm::any_of(getBuffer().getUsers(), [&](Operation *user) {
        return isa<AllocOp>(user) ||
               (user != *this && user->getBlock() == (*this)->getBlock() &&
                user->isBeforeInBlock(*this));
      });
  // clear_c2
  if (isShared)
    return emitOpError("expects a buffer from tile.alloc with memory of its "
                       "own, which nothing has used");
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether the pieces of `op` are those of its step; else an error.
static LogicalResult verifyStepPieces(ContractStepOp op) {
  PiecesAttr pieces = op.getPieces();
  ChunksAttr chunks = pieces.getChunks();
  ViewType data = op.getData();
  Type element = data.getElementType();
  bool isStep = chunks && chunks.getBytes() == kChunkBytes &&
                !chunks.getRows() && !chunks.getShift() && !chunks.getWhole() &&
                !chunks.getStaged() && !chunks.getWarpgroups() &&
                chunks.getWarps()[2] == 1 &&
                (element.isF32() || element.isF16() || element.isBF16()) &&
                data.getRank() == op.getWeights().getRank();
  // contract_step_c2
  if (!isStep)
    return op.emitOpError("expects pieces of chunks of 16 bytes of f32, f16 or "
                          "bf16, of groups, lanes and K, without rows, shift, "
                          "staged results, warpgroups and warps that share K, "
                          "but got ")
           << pieces << " of " << data;
  KernelAttr kernel = getKernel(op);
  int64_t groups = kernel ? kernel.getGroups() : 1;
  return verifyChunkTiles(op, data, op.getWeights(), pieces,
                          groups * op.getLoop().getShares(), /*isKept=*/false);
}

/// Whether rings and buffers of `op` have what it multiplies; else an error.
static LogicalResult verifyStepMemory(ContractStepOp op,
                                      const StepParts &parts) {
  PiecesAttr pieces = op.getPieces();
  ViewType data = op.getData();
  Type element = data.getElementType(),
       weight = op.getWeights().getElementType();
  int64_t shares = op.getLoop().getShares(), stages = pieces.getAhead() + 1;
  auto getRing = [&](int64_t rows, int64_t pitch, Type type) {
    return RingType::get(
        op.getContext(), stages,
        BufferType::get(op.getContext(), {rows, pitch}, type, nullptr),
        std::nullopt);
  };
  Type expected;
  if (isa<ViewType>(op.getSource().getType())) {
    bool alongRows = pieces.getChunks().getAlongRows();
    expected =
        alongRows
            ? getRing(shares * pieces.getBlock().back(), parts.rows, element)
            : getRing(shares * parts.rows, parts.dataPitch, element);
  }
  Type found = op.getRing() ? Type(op.getRing().getType()) : Type();
  Type factorIn = op.getFactorIn().getType();
  bool isKept = op.getFactorIn().getDefiningOp<KeepStepOp>() != nullptr;
  Type kept = BufferType::get(
      op.getContext(),
      {parts.count * parts.steps * parts.results, parts.factorPitch}, weight,
      nullptr);
  Type beside = getRing(parts.results, parts.factorPitch, weight);
  bool isFactor = isKept ? factorIn == kept : factorIn == beside && shares == 1;
  // contract_step_c4
  if (found != expected || !isFactor)
    return op.emitOpError("expects data of a view alone in ")
           << (expected ? expected : Type(NoneType::get(op.getContext())))
           << ", and the factor in " << kept
           << " that is kept or, of one share, "
           << "in " << beside << ", but got "
           << (found ? found : Type(NoneType::get(op.getContext()))) << " and "
           << factorIn;
  auto rows = dyn_cast<BufferType>(op.getSource().getType());
  if (!rows)
    return success();
  bool isPadded = pieces.getSizes().back() != parts.sizeK;
  bool isCleared = llvm::any_of(op.getSource().getUsers(), [](Operation *user) {
    return isa<ClearOp>(user);
  });
  ArrayRef<int64_t> shape = rows.getShape();
  // contract_step_c5
  if (shape.size() != 2 || rows.getLayout() || shape[0] != parts.rows ||
      shape[1] < parts.rowElements ||
      shape[1] * getBytesOf(element) % kChunkBytes != 0 ||
      !op.getSource().getDefiningOp<AllocOp>() || (isPadded && !isCleared))
    return op.emitOpError("expects a buffer from tile.alloc of ")
           << parts.rows << " rows of " << parts.rowElements
           << " elements or more, in chunks of 16 bytes"
           << (isPadded ? ", that a tile.clear has filled" : "") << ", but got "
           << rows;
  return success();
}

/// Whether rows of `op` are turned as those of all steps of its kernel; else an
/// error.
static LogicalResult verifyTurned(ContractStepOp op) {
  int64_t turned = op.getTurned();
  ChunksAttr chunks = op.getPieces().getChunks();
  bool isFirst = isa<ViewType>(op.getSource().getType());
  bool isLast = isa<StoreOp>(*op.getSums().user_begin());
  bool isAlike = chunks.getAlongRows() == (isFirst && turned > 0);
  if (isLast && !isFirst && turned > 0)
    isAlike &=
        turned == 2 * chunks.getTiles()[0] && llvm::isPowerOf2_64(turned) &&
        turned * getBytesOf(op.getData().getElementType()) % kChunkBytes == 0;
  if (auto kernel = op->getParentOfType<gpu::GPUFuncOp>())
    kernel.walk([&](ContractStepOp other) {
      isAlike &= int64_t(other.getTurned()) == turned;
    });
  // contract_step_c7
  if (isAlike)
    return success();
  return op.emitOpError("expects all steps to be turned alike, chunks of the "
                        "first one along rows if they are, and to twice the "
                        "tiles of rows of the last one, a power of two in "
                        "chunks of 16 bytes, but got ")
         << turned;
}

LogicalResult ContractStepOp::verify() {
  ForStepOp loop = getStep(getPart());
  auto tiles = loop ? dyn_cast<ForOp>(loop->getParentOp()) : ForOp();
  // contract_step_c1
  if (!tiles || loop != (*this)->getParentOp() ||
      tiles.getTile() != getTile() ||
      !llvm::hasSingleElement(loop.getBody()->getOps<ContractStepOp>()))
    return emitOpError("expects a part of the tile.for_step that it is in, "
                       "alone, of the tile of the tile.for around that");
  if (failed(verifyStepPieces(*this)))
    return failure();
  StepParts parts(*this);
  bool isFirst = isa<ViewType>(getSource().getType());
  // contract_step_c3
  if (int64_t(loop.getCount()) != parts.count ||
      (isFirst && parts.count % loop.getShares() != 0))
    return emitOpError("expects ")
           << parts.count << " parts, of a view as many of each share, but got "
           << loop.getCount() << " of " << loop.getShares() << " shares";
  if (failed(verifyStepMemory(*this, parts)))
    return failure();
  Operation *user = getSums().hasOneUse() ? *getSums().user_begin() : nullptr;
  bool isTaken = user && isa<ExchangeOp, StoreOp, LeaveRowsOp>(user) &&
                 user->getParentOp() == loop &&
                 llvm::is_contained(user->getOperands(), getPart());
  // contract_step_c6
  if (!isTaken || !areChunkSumsOf(getSums().getType(), getData(), getWeights(),
                                  getPieces()))
    return emitOpError("expects the sums of a part with ")
           << parts.results << " results in place of K, of the accumulation "
           << "type and atom, and one operation that takes them, but got "
           << getSums().getType();
  return verifyTurned(*this);
}

//===----------------------------------------------------------------------===//
// What becomes of sums
//===----------------------------------------------------------------------===//

LogicalResult tile::verifyExchangedStep(ExchangeOp op) {
  auto product = op.getFragment().getDefiningOp<ContractStepOp>();
  ContractStepOp reader = getReader(op.getBuffer());
  bool isRead = product && reader && product.getPart() == op.getBoxes() &&
                reader->getParentOp() != op->getParentOp() &&
                reader.getPieces().getChunks() &&
                reader.getPieces().getSizes().size() >= 3 &&
                reader.getWeights().getRank() >= 3 &&
                ShapedType::isStaticShape(reader.getWeights().getShape()) &&
                op.getAlong() == ArrayRef<int64_t>(1);
  if (isRead) {
    StepParts from(product), to(reader);
    isRead = from.rows == to.rows &&
             from.groups * from.sizeN * from.lanes ==
                 to.groups * to.sizeK * to.lanes &&
             reader.getWeights().getElementType() ==
                 product.getWeights().getElementType();
  }
  // exchange_c9
  if (isRead)
    return success();
  return op.emitOpError("expects sums of a part, and rows of as many features "
                        "of their elements that one other step reads, along 1, "
                        "but got ")
         << op.getFragment().getType() << " and " << op.getBuffer().getType();
}

/// The sizes of the results of `product`, which may be of any number of rows.
static SmallVector<int64_t> getResultShape(ContractStepOp product) {
  SmallVector<int64_t> shape(product.getData().getShape());
  ArrayRef<int64_t> weights = product.getWeights().getShape();
  shape.back() = weights.drop_back().back();
  return shape;
}

/// Whether `view` is one of results of `product`.
static bool areResults(ViewType view, ContractStepOp product) {
  SmallVector<int64_t> shape = getResultShape(product);
  return view.getRank() == int64_t(shape.size()) && !view.isContiguous() &&
         view.getShape().drop_front() == ArrayRef(shape).drop_front() &&
         view.getElementType() == product.getWeights().getElementType();
}

LogicalResult tile::verifyStoredStep(StoreOp op) {
  auto product = op.getSource().getDefiningOp<ContractStepOp>();
  auto fragment = dyn_cast<FragmentType>(op.getSource().getType());
  ViewType view = op.getView().getType();
  int64_t rank = view.getRank();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  // store_c15
  if (!product || product.getPart() != op.getBoxes() ||
      product.getTile() != op.getTile() || !areResults(view, product) ||
      (op.getAddend() &&
       op.getAddend().getType().getElementType() != view.getElementType()) ||
      *op.getAlong() != ArrayRef(rank - 1) ||
      *op.getBox() != fragment.getBox() || op.getOrder() || !op.getAxes() ||
      *op.getAxes() != ArrayRef(axes) || op.getBytes() != kChunkBytes)
    return op.emitOpError("expects sums of its part and tile along ")
           << rank - 1 << ", by 16 bytes, to a view with strides of results of "
           << "the elements of their factor, but got " << view;
  return success();
}

LogicalResult LeaveRowsOp::verify() {
  auto product = getSource().getDefiningOp<ContractStepOp>();
  // leave_rows_c1
  if (!product || product.getPart() != getPart() ||
      product.getTile() != getTile() || product.getTurned())
    return emitOpError("expects sums of its part and tile, which is not "
                       "turned, from tile.contract_step");
  StepParts parts(product);
  Type element = product.getWeights().getElementType();
  int64_t features = parts.groups * parts.sizeN * parts.lanes;
  int64_t chunk = kChunkBytes / getBytesOf(element);
  BufferType rows = getBuffer().getType();
  bool isRows = rows.getShape() == ArrayRef({parts.rows, features}) &&
                rows.getElementType() == element && features % chunk == 0;
  TileLayout layout = rows.getTileLayout();
  isRows &= layout.swizzles.empty() && layout.strides.back() == 1 &&
            layout.strides.front() % chunk == 0;
  // leave_rows_c2
  if (!isRows)
    return emitOpError("expects ")
           << parts.rows << " rows of " << features << " results of " << element
           << " in chunks of 16 bytes, but got " << rows;
  Type sum = getSumType(element);
  bool isRounded = !getScaleAttr() || getScaleAttr().getType() == sum;
  for (Value array : {getAddend(), getBias(), getResidual()})
    isRounded &= !array || areResults(cast<ViewType>(array.getType()), product);
  // leave_rows_c3
  if (!isRounded)
    return emitOpError("expects a scale of ")
           << sum << ", and arrays with strides of the results' sizes and of "
           << element;
  return success();
}
