//===- TilePairProducts.cpp - Rules of products of functions of pairs -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TilePairRules.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Whether `op`, with a ring, is a product by matrix instructions of a matrix
/// in `fragment`; else an error.
static LogicalResult verifyPackedValues(ForPairsOp op, FragmentType fragment) {
  // for_pairs_c6
  if (op.getAccumulation() != Accumulation::Sum ||
      fragment.getAtom() == AtomKind::Fma ||
      llvm::range_size(op.getBody()->getOps<PairsOp>()) != 1)
    return op.emitOpError("expects a sum of products of matrix instructions "
                          "with one tile.pairs for values through a ring, but "
                          "got ")
           << fragment;
  Type element = fragment.getElementType();
  if (op.getValues().getType().getElementType() != element)
    return op.emitOpError("expects packed values of ")
           << element << ", but got " << op.getValues().getType();
  RingType ring = cast<RingType>(op.getRing().getType());
  BufferType buffer = ring.getBuffer();
  int64_t columns =
      cast<FragmentType>(op.getSums().front().getType()).getShape()[2] *
      static_cast<int64_t>(op.getLanes());
  ArrayRef<int64_t> shape = buffer.getShape();
  bool isOfRows = shape.size() == 2 &&
                  shape[0] * 8 == static_cast<int64_t>(op.getBy()) &&
                  (shape[1] == 8 * columns ||
                   (element.isF32() && shape[1] == 16 * columns));
  if (columns % 8 || ring.getAlong() || ring.getStages() != 2 ||
      buffer.getLayout() || buffer.getElementType() != element || !isOfRows ||
      !op.getRing().getDefiningOp<AllocOp>() || !op.getRing().hasOneUse())
    return op.emitOpError("expects a ring of its own of two buffers of ")
           << static_cast<int64_t>(op.getBy()) / 8 << " rows of 8 or 16 "
           << element << " for each of a multiple of eight columns, " << columns
           << ", but got " << ring;
  return success();
}

LogicalResult ForPairsOp::verify() {
  // for_pairs_c1
  if (!isa<ForOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a tile.for itself");
  Block &body = *getBody();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return emitOpError("expects a body that takes the number of a block");
  PlaceOp place = getPlaceOp(*this, getPlace());
  if (!place || failed(verifyBehindBatch(*this, place, getValues().getType(),
                                         "values", /*parts=*/1)))
    return failure();
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  FragmentType fragment;
  if (yield.getValues().size() == 1)
    fragment = dyn_cast<FragmentType>(yield.getValues().front().getType());
  // for_pairs_c4
  if (!fragment)
    return emitOpError("expects its body to yield one fragment");
  if (failed(verifyBox(*this, fragment)) ||
      failed(verifyLanes(*this, getLanes(), fragment)))
    return failure();
  int64_t across = getLanes();
  // Of warps next to each other, none has all columns of a row.
  if (fragment.getAtom() != AtomKind::Fma && across != 4)
    return emitOpError("expects 4 lanes for ")
           << fragment << ", but got " << across;
  if (fragment.getShape()[2] * across != static_cast<int64_t>(getBy()))
    return emitOpError("expects the threads to have the ")
           << getBy() << " columns of a block, but got "
           << fragment.getShape()[2] * across;
  size_t results = getAccumulation() == Accumulation::LogSumExp ? 2 : 1;
  // for_pairs_c5
  if (getSums().size() != results)
    return emitOpError("expects ")
           << results << " results, but got " << getSums().size();
  for (Value sums : getSums()) {
    auto type = cast<FragmentType>(sums.getType());
    if (failed(verifyBox(*this, type)))
      return failure();
    if (type.getElementType() != fragment.getElementType() ||
        type.getAtom() != fragment.getAtom() ||
        type.getShape()[1] != fragment.getShape()[1])
      return emitOpError("expects results with the rows of ")
             << fragment << ", but got " << type;
    if (failed(verifySizes(*this, place,
                           type.getShape()[1] * (getThreads(*this) / across),
                           type.getShape()[2] * (getRing() ? across : 1))))
      return failure();
  }
  return getRing() ? verifyPackedValues(*this, fragment) : success();
}

ParseResult ForPairsOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument block;
  OpAsmParser::UnresolvedOperand blocks, place, values, ring;
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType(), count = builder.getI64Type(), view,
       slots;
  StringRef accumulation;
  SmallVector<Type> sums;
  llvm::SMLoc where;
  if (parser.parseArgument(block) || parser.parseKeyword("of") ||
      parser.parseOperand(blocks) || parser.parseKeyword("by") ||
      parseNumber(parser, result, "by") || parser.parseLSquare() ||
      parser.parseOperand(place) || parser.parseRSquare() ||
      parser.parseKeyword("times") || parser.parseOperand(values))
    return failure();
  bool isPacked = succeeded(parser.parseOptionalKeyword("through"));
  if ((isPacked && parser.parseOperand(ring)) ||
      parser.parseKeyword("accumulate") || parser.getCurrentLocation(&where) ||
      parser.parseKeyword(&accumulation) || parser.parseKeyword("lanes") ||
      parseNumber(parser, result, "lanes") || parser.parseColonType(view) ||
      (isPacked && (parser.parseComma() || parser.parseType(slots))) ||
      parser.parseArrowTypeList(sums) ||
      parser.resolveOperand(blocks, count, result.operands) ||
      parser.resolveOperand(place, index, result.operands) ||
      parser.resolveOperand(values, view, result.operands) ||
      (isPacked && parser.resolveOperand(ring, slots, result.operands)))
    return failure();
  std::optional<Accumulation> kind = symbolizeAccumulation(accumulation);
  if (!kind)
    return parser.emitError(where, "expects sum, max or logsumexp, but got ")
           << accumulation;
  result.addAttribute("accumulation",
                      builder.getI32IntegerAttr(static_cast<int32_t>(*kind)));
  result.addTypes(sums);
  return parseBody(parser, result, block);
}

void ForPairsOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBlockNumber() << " of " << getBlocks() << " by "
          << getBy() << " [" << getPlace() << "] times " << getValues();
  if (getRing())
    printer << " through " << getRing();
  printer << " accumulate " << stringifyAccumulation(getAccumulation())
          << " lanes " << getLanes() << " : " << getValues().getType();
  if (getRing())
    printer << ", " << getRing().getType();
  printer << " -> ";
  if (getSums().size() == 1)
    printer << getSums().front().getType();
  else
    printer << '(' << getSums().getTypes() << ')';
  printBody(printer, *this, {"by", "accumulation", "lanes"}, /*yields=*/true);
}
