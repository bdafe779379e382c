//===- TileTypes.cpp - Where tiles are, and how they lie ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

#define GET_TYPEDEF_CLASSES
#include "kron/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kron/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
}

bool tile::areSummedIn(Type element, Type sums) {
  bool isWidened = isFloat8(element) && (sums.isF32() || sums.isF64());
  return element == sums || getSumType(element) == sums || isWidened;
}

int64_t tile::getBytesOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getBytesOf(complex.getElementType());
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

bool tile::areTileSizes(ArrayRef<int64_t> sizes) {
  int64_t left = kMostElements;
  for (int64_t size : sizes) {
    if (size < 1)
      return false;
    left /= size;
  }
  return left > 0;
}

/// Whether elements of type `element` can be moved; else an error.
static LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError,
                                   Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  Type part = complex ? complex.getElementType() : element;
  if (!part.isIntOrFloat())
    return emitError() << "expects integer, float or complex elements, but got "
                       << element;
  unsigned bits = part.getIntOrFloatBitWidth() * (complex ? 2 : 1);
  if (bits < 8 || bits > 128 || !llvm::isPowerOf2_32(bits))
    return emitError() << "expects elements of 1, 2, 4, 8 or 16 bytes, but got "
                       << element;
  return success();
}

/// Whether all sizes are positive, there are at least `least` of them, and not
/// too many elements; else an error.
static LogicalResult verifySizes(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> sizes, size_t least,
                                 Type element) {
  if (failed(verifyElement(emitError, element)))
    return failure();
  if (sizes.size() < least)
    return emitError() << "expects at least " << least << " sizes, but got "
                       << sizes.size();
  for (int64_t size : sizes)
    if (size < 1)
      return emitError() << "expects sizes to be positive, but got " << size;
  if (!areTileSizes(sizes))
    return emitError() << "expects at most " << kMostElements
                       << " elements, but got sizes " << sizes;
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses `<4x8xf32`.
static ParseResult parseShape(AsmParser &parser,
                              SmallVectorImpl<int64_t> &shape, Type &element,
                              bool allowDynamic) {
  return failure(parser.parseLess() ||
                 parser.parseDimensionList(shape, allowDynamic) ||
                 parser.parseType(element));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type element) {
  printer << "<";
  printer.printDimensionList(shape);
  printer << "x" << element;
}

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  if (parseShape(parser, shape, element, /*allowDynamic=*/true))
    return {};
  auto parseStride = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      strides.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(strides.emplace_back());
  };
  if (succeeded(parser.parseOptionalComma()) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(parser.getContext(), shape, element,
                                     strides);
}

void ViewType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType());
  if (!isContiguous()) {
    printer << ", [";
    llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) {
      if (ShapedType::isDynamic(stride))
        printer << "?";
      else
        printer << stride;
    });
    printer << "]";
  }
  printer << ">";
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  tile::LayoutAttr layout;
  if (parseShape(parser, shape, element, /*allowDynamic=*/false) ||
      (succeeded(parser.parseOptionalComma()) &&
       parser.parseAttribute(layout)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(parser.getContext(), shape, element,
                                       layout);
}

void BufferType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType());
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

/// Parses sizes, elements, and an atom if there is one.
static ParseResult parseAtom(AsmParser &parser, SmallVectorImpl<int64_t> &shape,
                             Type &element, AtomKind &atom) {
  if (parseShape(parser, shape, element, /*allowDynamic=*/false) ||
      failed(parser.parseOptionalComma()))
    return failure(!element);
  FailureOr<AtomKind> parsed = FieldParser<AtomKind>::parse(parser);
  if (succeeded(parsed))
    atom = *parsed;
  return failure(failed(parsed));
}

static void printAtom(AsmPrinter &printer, ArrayRef<int64_t> shape,
                      Type element, AtomKind atom) {
  printShape(printer, shape, element);
  if (atom != AtomKind::Fma)
    printer << ", " << stringifyAtomKind(atom);
}

Type OperandType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  AtomKind atom = AtomKind::Fma;
  FailureOr<OperandOrder> order = OperandOrder::Apart;
  if (parseAtom(parser, shape, element, atom))
    return {};
  if (atom != AtomKind::Fma)
    order = FieldParser<OperandOrder>::parse(parser);
  if (failed(order) || parser.parseGreater())
    return {};
  return parser.getChecked<OperandType>(parser.getContext(), shape, element,
                                        atom, *order);
}

void OperandType::print(AsmPrinter &printer) const {
  printAtom(printer, getShape(), getElementType(), getAtom());
  if (getAtom() != AtomKind::Fma)
    printer << " " << stringifyOperandOrder(getOrder());
  printer << ">";
}

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  AtomKind atom = AtomKind::Fma;
  if (parseAtom(parser, shape, element, atom) || parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(parser.getContext(), shape, element,
                                         atom);
}

void FragmentType::print(AsmPrinter &printer) const {
  printAtom(printer, getShape(), getElementType(), getAtom());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type element,
                               ArrayRef<int64_t> strides) {
  if (failed(verifyElement(emitError, element)))
    return failure();
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "expects " << shape.size()
                       << " strides, one per dimension, but got "
                       << strides.size();
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type element,
                                 tile::LayoutAttr layout) {
  if (failed(verifySizes(emitError, shape, 1, element)))
    return failure();
  if (!layout)
    return success();
  ArrayRef<int64_t> strides = layout.getStrides();
  if (strides.size() != shape.size())
    return emitError() << "expects " << shape.size()
                       << " strides, one per dimension, but got "
                       << strides.size();
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(strides[a], shape[a]) < std::pair(strides[b], shape[b]);
  });
  int64_t room = 1;
  for (unsigned dim : order) {
    if (shape[dim] > 1 && strides[dim] < room)
      return emitError() << "expects elements to have places of their own, but "
                            "stride "
                         << strides[dim] << " is less than " << room;
    if (strides[dim] > kMostElements / shape[dim])
      return emitError() << "expects at most " << kMostElements
                         << " elements, gaps included, but got " << shape[dim]
                         << " positions " << strides[dim] << " apart";
    if (shape[dim] > 1)
      room = strides[dim] * shape[dim];
  }
  ArrayRef<int64_t> swizzle = layout.getSwizzle();
  for (size_t pair = 0; pair < swizzle.size(); pair += 2)
    if ((int64_t(1) << swizzle[pair + 1]) * getBytesOf(element) < 16)
      return emitError() << "expects a swizzle to leave 16 bytes together, but "
                            "it flips bit "
                         << swizzle[pair + 1] << " of an index";
  return success();
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t stages, BufferType buffer,
                               std::optional<int64_t> along) {
  auto verifyBytes = [&](int64_t slotBytes) -> LogicalResult {
    if (stages <= kMostElements / slotBytes)
      return success();
    return emitError() << "expects at most " << kMostElements
                       << " bytes, but got " << stages << " slots of "
                       << slotBytes;
  };
  if (!along) {
    if (stages < 1)
      return emitError() << "expects at least 1 pipeline stage, but got "
                         << stages;
    return verifyBytes(buffer.getBytes());
  }
  ArrayRef<int64_t> shape = buffer.getShape();
  if (*along < 0 || *along >= static_cast<int64_t>(shape.size()) ||
      llvm::any_of(shape.take_front(*along),
                   [](int64_t size) { return size > 1; }))
    return emitError() << "expects slots along the outermost axis of several "
                          "positions, but got axis "
                       << *along << " of " << buffer;
  if (stages < shape[*along])
    return emitError() << "expects at least " << shape[*along]
                       << " slots, the positions along axis " << *along
                       << ", but got " << stages;
  int64_t slot = buffer.getTileLayout().strides[*along];
  ArrayRef<int64_t> swizzle = buffer.getLayout()
                                  ? buffer.getLayout().getSwizzle()
                                  : ArrayRef<int64_t>();
  for (size_t pair = 1; pair < swizzle.size(); pair += 2)
    if ((int64_t(1) << swizzle[pair]) >= slot)
      return emitError() << "expects a swizzle within the " << slot
                         << " elements of a slot, but it flips bit "
                         << swizzle[pair] << " of an index";
  return verifyBytes(slot * buffer.getElementBytes());
}

/// Whether operands and fragments may be of `atom`; else an error.
static LogicalResult verifyAtom(function_ref<InFlightDiagnostic()> emitError,
                                AtomKind atom) {
  if (atom != AtomKind::MmaM16N8K16)
    return success();
  return emitError() << "expects atom fma, dmma.m16n8k8 or one of blocks, but "
                        "got "
                     << stringifyAtomKind(atom);
}

/// Whether `element` is what `atom`, of blocks, computes with or, with
/// `allowsNarrow`, converts to that; else an error.
static LogicalResult
verifyComputed(function_ref<InFlightDiagnostic()> emitError, AtomKind atom,
               Type element, bool allowsNarrow) {
  bool isNarrow = element.isF16() || element.isBF16();
  bool isTF32 = atom == AtomKind::MmaTF32 || atom == AtomKind::WgmmaTF32;
  if (atom == AtomKind::WgmmaHalf && isNarrow)
    return success();
  if (isTF32 ? element.isF32() || (allowsNarrow && isNarrow) : element.isF64())
    return success();
  return emitError() << "expects elements of atom " << stringifyAtomKind(atom)
                     << ", but got " << element;
}

LogicalResult OperandType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type element,
                                  AtomKind atom, OperandOrder order) {
  if (failed(verifySizes(emitError, shape, 2, element)))
    return failure();
  if (shape.size() != 2)
    return emitError() << "expects 2 sizes, K and N, but got " << shape.size();
  if (failed(verifyAtom(emitError, atom)))
    return failure();
  if (atom == AtomKind::Dmma &&
      (!element.isF64() || shape[0] != kDmmaSizeK || shape[1] != kDmmaSizeN))
    return emitError() << "expects an operand of 8 x 8 elements of f64, but "
                          "got "
                       << shape << " of " << element;
  bool isOfBlock = order == OperandOrder::Rows ||
                   order == OperandOrder::Columns ||
                   order == OperandOrder::Chained;
  bool isOfAtom = isOfBlock == isOfBlocks(atom);
  if (isOfWarpgroup(atom))
    isOfAtom = order == OperandOrder::Quads || order == OperandOrder::Pairs;
  else if (order == OperandOrder::Quads)
    isOfAtom = false;
  if (atom != AtomKind::Fma && !isOfAtom)
    return emitError() << "expects an order of atom " << stringifyAtomKind(atom)
                       << ", but got " << stringifyOperandOrder(order);
  if (isOfBlocks(atom) || isOfWarpgroup(atom))
    return verifyComputed(emitError, atom, element, /*allowsNarrow=*/false);
  return success();
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type element,
                                   AtomKind atom) {
  // Of functions of pairs, and of pieces of chunks, results of mma.m16n8k16.
  bool areSums = atom == AtomKind::MmaM16N8K16 && element.isF32() &&
                 shape.size() >= 3 && shape.front() == 1;
  if (failed(verifySizes(emitError, shape, 2, element)) ||
      (!areSums && failed(verifyAtom(emitError, atom))))
    return failure();
  SmallVector<int64_t> box(shape.drop_front());
  if (atom == AtomKind::Dmma &&
      (!element.isF64() || (box != ArrayRef({kDmmaSizeK, kDmmaSizeM}) &&
                            box != ArrayRef({kDmmaSizeM, kDmmaSizeK}))))
    return emitError() << "expects boxes of 8 positions and 16 fibres of f64, "
                          "but got "
                       << box << " of " << element;
  if (!isOfBlocks(atom) && !isOfWarpgroup(atom))
    return success();
  if (shape.front() != 1)
    return emitError() << "expects one block, but got " << shape.front();
  // Sums of f16 and bf16 are of f32.
  if (atom == AtomKind::WgmmaHalf)
    atom = AtomKind::WgmmaTF32;
  return verifyComputed(emitError, atom, element,
                        /*allowsNarrow=*/!isOfWarpgroup(atom));
}

//===----------------------------------------------------------------------===//
// What follows from them
//===----------------------------------------------------------------------===//

TileLayout BufferType::getTileLayout() const {
  if (!getLayout())
    return TileLayout::get(getShape(), getElementBytes(),
                           TileLayout::getDenseStrides(getShape()));
  SmallVector<TileLayout::Swizzle> swizzles;
  ArrayRef<int64_t> bits = getLayout().getSwizzle();
  for (size_t pair = 0; pair < bits.size(); pair += 2)
    swizzles.push_back({static_cast<unsigned>(bits[pair]),
                        static_cast<unsigned>(bits[pair + 1])});
  return TileLayout::get(getShape(), getElementBytes(),
                         getLayout().getStrides(), swizzles);
}

int64_t BufferType::getRowElements() const {
  return llvm::product_of(getShape().drop_front());
}

int64_t BufferType::getElementBytes() const {
  return getBytesOf(getElementType());
}

int64_t BufferType::getBytes() const { return getTileLayout().bytes; }

int64_t RingType::getSlotBytes() const {
  if (!getAlong())
    return getBuffer().getBytes();
  return getBuffer().getTileLayout().strides[*getAlong()] *
         getBuffer().getElementBytes();
}

int64_t OperandType::getPitch() const {
  return llvm::alignTo(getSizeN(), 16 / getBytesOf(getElementType()));
}

int64_t OperandType::getBytes() const {
  return getSizeK() * getPitch() * getBytesOf(getElementType());
}

int64_t FragmentType::getBoxElements() const {
  return llvm::product_of(getBox());
}
