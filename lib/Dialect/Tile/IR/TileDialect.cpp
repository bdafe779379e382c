//===- TileDialect.cpp - The tile dialect ---------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileDialect.h"
#include "TileRules.h"
#include "kron/Dialect/Tile/IR/TileOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

#include "kron/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "kron/Dialect/Tile/IR/TileEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses what `#tile.pieces` may say behind the rest.
static ParseResult parsePiecesOptions(AsmParser &parser, bool &lines,
                                      int64_t &split, int64_t &ahead,
                                      SmallVector<int64_t> &order,
                                      ChunksAttr &chunks) {
  lines = false;
  split = -1;
  ahead = 0;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    FailureOr<bool> flag = false;
    ParseResult parsed = success();
    if (name == "lines")
      parsed = failure(failed(flag = FieldParser<bool>::parse(parser)));
    else if (name == "split")
      parsed = parser.parseInteger(split);
    else if (name == "ahead")
      parsed = parser.parseInteger(ahead);
    else if (name == "order")
      parsed =
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
            return parser.parseInteger(order.emplace_back());
          });
    else if (name == "chunks")
      parsed = parser.parseCustomAttributeWithFallback(chunks);
    else
      return parser.emitError(
                 parser.getCurrentLocation(),
                 "expects lines, split, ahead, order or chunks, but got ")
             << name;
    if (parsed)
      return failure();
    lines |= *flag;
  }
  return success();
}

static void printPiecesOptions(AsmPrinter &printer, bool lines, int64_t split,
                               int64_t ahead, ArrayRef<int64_t> order,
                               ChunksAttr chunks) {
  if (lines)
    printer << ", lines = true";
  if (split >= 0)
    printer << ", split = " << split;
  if (ahead)
    printer << ", ahead = " << ahead;
  if (!order.empty()) {
    printer << ", order = [";
    llvm::interleaveComma(order, printer);
    printer << "]";
  }
  if (chunks) {
    printer << ", chunks = ";
    printer.printStrippedAttrOrType(chunks);
  }
}

#define GET_ATTRDEF_CLASSES
#include "kron/Dialect/Tile/IR/TileAttrs.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kron/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "kron/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != kKernelAttrName)
    return op->emitOpError("has an attribute that the tile dialect does not "
                           "know: ")
           << attribute.getName();
  auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
  if (!kernel || !isa<KernelAttr>(attribute.getValue()))
    return op->emitOpError("expects ")
           << kKernelAttrName << " to be a #tile.kernel of a gpu.func";
  return failure(failed(verifyDivision(kernel)) ||
                 failed(verifyHazards(kernel)));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult
tile::LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         ArrayRef<int64_t> strides, ArrayRef<int64_t> swizzle) {
  for (int64_t stride : strides)
    if (stride < 1)
      return emitError() << "expects strides to be positive, but got "
                         << stride;
  if (swizzle.size() % 2 != 0)
    return emitError() << "expects bits of a swizzle in pairs, but got "
                       << swizzle.size() << " of them";
  for (size_t pair = 0; pair < swizzle.size(); pair += 2) {
    int64_t from = swizzle[pair], to = swizzle[pair + 1];
    if (to < 0 || from <= to || from > 30)
      return emitError() << "expects a swizzle to flip a bit below the one "
                            "that it reads, but got "
                         << from << ", " << to;
    for (size_t other = 1; other < swizzle.size(); other += 2)
      if (swizzle[other] == from)
        return emitError() << "expects no bit of a swizzle to be both read and "
                              "flipped, but got "
                           << from;
  }
  return success();
}

LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t threads, int64_t ctasPerSM,
                                 int64_t cluster, int64_t groups,
                                 int64_t shares) {
  if (threads < 32 || threads > 1024 || threads % 32 != 0)
    return emitError()
           << "expects threads to be a multiple of 32 up to 1024, but got "
           << threads;
  if (ctasPerSM < 1)
    return emitError() << "expects ctas_per_sm to be at least 1, but got "
                       << ctasPerSM;
  if (cluster != 1 && cluster != 2)
    return emitError() << "expects cluster to be 1 or 2, but got " << cluster;
  if (groups < 1 || groups > kNamedBarriers || threads % (32 * groups) != 0)
    return emitError() << "expects up to " << kNamedBarriers
                       << " groups of whole warps, but got " << groups << " of "
                       << threads << " threads";
  if (shares < 1 || (cluster > 1 && (groups > 1 || shares > 1)))
    return emitError() << "expects shares to be positive, and neither groups "
                          "nor shares of clusters, but got "
                       << groups << " and " << shares;
  return success();
}
