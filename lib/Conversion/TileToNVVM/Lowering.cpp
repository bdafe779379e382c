//===- Lowering.cpp - Tile operations to instructions ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// An integer of the host, or the constant that it is.
static Int toInt(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return value;
}

Scalar tile::toScalar(KernelBuilder &k, Value value) {
  if (!isa<VectorType>(value.getType()))
    return {value, nullptr};
  return {k.extract(value, 0), k.extract(value, 1)};
}

Value tile::toValue(KernelBuilder &k, const Scalar &scalar) {
  return scalar.im ? k.makeVector({scalar.re, scalar.im}) : scalar.re;
}

void tile::setBox(Lowering &lowering, TypedValue<FragmentType> fragment,
                  ArrayRef<Value> values) {
  LoweredFragment lowered;
  lowered.box.assign(fragment.getType().getBox().begin(),
                     fragment.getType().getBox().end());
  Boxes boxes;
  int64_t elements = fragment.getType().getBoxElements();
  for (; !values.empty(); values = values.drop_front(elements))
    boxes.emplace_back(values.take_front(elements));
  lowered.forParts = [boxes](function_ref<void(const Boxes &)> body) {
    body(boxes);
  };
  lowering.fragments[fragment] = lowered;
}

/// A complex scalar of the host.
static Scale getComplexScale(ComplexType type, Value hostValue) {
  auto constant = hostValue.getDefiningOp<complex::ConstantOp>();
  if (!constant)
    return {nullptr, hostValue};
  auto getPart = [&](unsigned number) {
    return cast<FloatAttr>(constant.getValue()[number]).getValueAsDouble();
  };
  return {complex::NumberAttr::get(type, getPart(0), getPart(1)), nullptr};
}

void Lowering::enter(BlockArgument value, Value hostValue) {
  auto type = dyn_cast<ViewType>(value.getType());
  if (!type && value.getType().isInteger()) {
    numbers[value] = k.enter(toInt(hostValue));
    return;
  }
  if (auto complex = dyn_cast<ComplexType>(value.getType())) {
    scales[value] =
        ScalarOps(k, complex)
            .enter(getComplexScale(complex, hostValue), /*isNeutral=*/false);
    return;
  }
  if (!type) {
    scalars[value] = k.enter(hostValue);
    return;
  }
  auto op = hostValue.getDefiningOp<ViewOp>();
  LoweredView view;
  view.element = type.getElementType();
  auto size = op.getSizes().begin();
  for (int64_t known : type.getShape())
    view.sizes.push_back(ShapedType::isDynamic(known) ? k.enter(toInt(*size++))
                                                      : Int(known));
  view.array.base = k.enter(op.getBase());
  auto stride = op.getStrides().begin();
  for (int64_t known : type.getStrides())
    view.array.strides.push_back(
        ShapedType::isDynamic(known) ? k.enter(toInt(*stride++)) : Int(known));
  if (type.isContiguous()) {
    view.array.strides.assign(view.sizes.size(), 1);
    for (unsigned axis = view.sizes.size(); axis > 1; --axis)
      view.array.strides[axis - 2] =
          k.mul(view.array.strides[axis - 1], view.sizes[axis - 1]);
  }
  views[value] = view;
}

void Lowering::lower(Block &block) {
  size_t tests = alignmentTests.size();
  for (Operation &op : block)
    TypeSwitch<Operation *>(&op)
        .Case<AllocOp, ResizeOp, AcquireOp, WaitOp, BarrierOp, CopyOp,
              PrepareOp, ForOp, ForBoxesOp, ForBlocksOp, ForPiecesOp,
              CopyPiecesOp, ContractPiecesOp, ForStepOp, CopyStepOp, KeepStepOp,
              ClearOp, ContractStepOp, ForSegmentsOp, PairChunksOp, SpreadOp,
              ForFibresOp, ContractFibresOp, IfAlignedOp, RefillOp, RefilledOp,
              PrefetchOp, tile::QuantizeOp, ForColumnsOp, LoadOp, LoadColumnsOp,
              DotOp, ContractOp, ExchangeOp, MultiplyOp, MultiplyViewsOp,
              StoreOp, PlaceOp, LoadScalarOp, PairsOp, KeepRowsOp,
              PairsOfRowsOp, MultiplyRowsOp, MapOp, ForPairsOp, ForGradientsOp,
              WeighPairsOp, AddDerivativesOp, StorePairsOp, ContractBatchOp,
              QuantizeRowsOp>([&](auto known) { tile::lower(*this, known); })
        .Case([&](LeaveRowsOp rows) { storeStep(*this, rows.getSource()); })
        // What stores rows loads and reduces them, and what stores totals adds
        // up the pieces.
        .Case<LoadRowsOp, ReduceRowsOp, AddPiecesOp>([](auto) {});
  // Others that are behind the block do not see what is in there.
  alignmentTests.resize(tests);
}

void Lowering::forThreads(int64_t count, function_ref<void(Int)> body) {
  for (int64_t begin = 0; begin < count; begin += threads) {
    Int index = k.add(k.threadId(), begin);
    Value exists;
    if (begin + threads > count)
      exists = k.less(index, count);
    k.ifThen(exists, [&] { body(index); });
  }
}

Value Lowering::getPiece(ArrayRef<Value> values, int64_t first, int64_t width) {
  ArrayRef<Value> piece = values.slice(first, width);
  if (!piece.front())
    return nullptr;
  return width == 1 ? piece.front() : k.makeVector(piece);
}

Boxes tile::pinBoxes(KernelBuilder &k, const Boxes &boxes) {
  return llvm::map_to_vector(boxes, [&](const SmallVector<Value> &values) {
    return llvm::map_to_vector(values,
                               [&](Value value) { return k.pin(value); });
  });
}

Boxes Lowering::takeAll(const LoweredFragment &fragment) {
  Boxes all;
  fragment.forParts([&](const Boxes &part) {
    all.resize(part.size(), SmallVector<Value>(llvm::product_of(fragment.box)));
    for (auto [from, to] : llvm::zip_equal(part, all))
      for (auto [value, known] : llvm::zip_equal(from, to))
        if (value)
          known = value;
  });
  return all;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value Lowering::getElement(Int buffer, const TileLayout &layout, Int index,
                           int64_t offset) {
  int64_t bytes = getElementBytes();
  if (layout.swizzles.empty())
    return k.offsetBytes(k.shared(k.add(buffer, k.mul(index, bytes))),
                         offset * bytes);
  index = k.add(index, offset);
  Int place = index;
  for (TileLayout::Swizzle swizzle : layout.swizzles) {
    Int bit = k.bitAnd(index, int64_t(1) << swizzle.from);
    place = k.bitXor(
        place, k.floorDiv(bit, int64_t(1) << (swizzle.from - swizzle.to)));
  }
  return k.shared(k.add(buffer, k.mul(place, bytes)));
}

/// Element `number` of dimensions that lie in `segments`.
static Int getPlace(KernelBuilder &k, ArrayRef<TileLayout::Segment> segments,
                    Int number) {
  Int place = 0;
  for (TileLayout::Segment segment : llvm::reverse(segments.drop_front())) {
    place = k.add(k.mul(k.rem(number, segment.size), segment.stride), place);
    number = k.floorDiv(number, segment.size);
  }
  return k.add(k.mul(number, segments.front().stride), place);
}

Int Lowering::getIndex(const TileLayout &layout, Int number) {
  return getPlace(k, layout.getSegments(0, layout.pitches.size()), number);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

BoxPlaces::BoxPlaces(const TileLayout &layout, ArrayRef<int64_t> along,
                     ArrayRef<int64_t> box)
    : layout(layout), first(along.front()), end(along.back() + 1), box(box) {
  for (int64_t axis : along)
    strides.push_back(layout.strides[axis]);
  if (box.size() > along.size()) {
    width = box.back();
    strides.push_back(1);
  }
}

Int BoxPlaces::getStart(KernelBuilder &k, Int number) const {
  unsigned rank = layout.pitches.size();
  int64_t inside = llvm::product_of(ArrayRef(layout.pitches).drop_front(end));
  Int fibre = k.mul(number, width);
  Int outer = k.floorDiv(fibre, inside), inner = k.rem(fibre, inside);
  auto segments = layout.getSegments(0, first);
  // A box behind the last one, which nobody has, must lie behind the tile, also
  // if that has no other position outside of the axis.
  if (llvm::all_of(ArrayRef(layout.pitches).take_front(first),
                   [](int64_t size) { return size == 1; }))
    segments = {{1, first ? layout.strides.front()
                          : layout.strides.front() * layout.pitches.front()}};
  Int place = getPlace(k, segments, outer);
  return k.add(place, getPlace(k, layout.getSegments(end, rank), inner));
}

/// Values that lie together.
int64_t BoxPlaces::getTogether() const {
  int64_t together = 1;
  for (unsigned axis = box.size(); axis-- > 0 && strides[axis] == together;)
    together *= box[axis];
  return together;
}

/// Elements, up to `limit`, that what lies together is a multiple of.
int64_t BoxPlaces::getAlignment(int64_t limit) const {
  limit = layout.getAlignment(0, first, limit);
  while (width > 1 && width % limit != 0)
    limit /= 2;
  // Along the box itself only what does not lie together.
  int64_t dense = 1;
  for (unsigned axis = box.size(); axis-- > 0;) {
    if (strides[axis] == dense)
      dense *= box[axis];
    else
      while (strides[axis] % limit != 0)
        limit /= 2;
  }
  auto inner = layout.getSegments(end, layout.pitches.size());
  for (TileLayout::Segment segment : ArrayRef(inner).drop_back())
    while (segment.stride % limit != 0)
      limit /= 2;
  // Boxes of one position, which may be anywhere.
  bool isAnywhere =
      width == 1 && end < layout.pitches.size() && inner.back().size > 1;
  return isAnywhere ? 1 : limit;
}

void BoxPlaces::forPieces(
    int64_t limit, function_ref<void(int64_t, int64_t, int64_t)> body) const {
  int64_t together = getTogether(), alignment = getAlignment(limit);
  for (int64_t value = 0; value < llvm::product_of(box); value += together) {
    int64_t offset = 0, left = value;
    for (unsigned axis = box.size(); axis-- > 0; left /= box[axis])
      offset += left % box[axis] * strides[axis];
    for (int64_t begin = 0; begin < together;) {
      int64_t width = alignment;
      while (width > together - begin || begin % width != 0)
        width /= 2;
      body(value + begin, offset + begin, width);
      begin += width;
    }
  }
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

Int Lowering::getRows(const LoweredView &view, size_t rowRank) {
  Int rows = 1;
  for (Int size : ArrayRef(view.sizes).drop_back(rowRank))
    rows = k.mul(rows, size);
  return rows;
}

Int Lowering::getValidElements(const LoweredView &view, Int tile, int64_t rows,
                               ArrayRef<int64_t> row) {
  Int left = k.sub(getRows(view, row.size()), k.mul(k.extend(tile), rows));
  return k.truncate(k.mul(k.min(left, rows), llvm::product_of(row)));
}

Int Lowering::getOffset(const LoweredView &view, Int tile, int64_t rows,
                        ArrayRef<int64_t> row, Int index) {
  int64_t elements = llvm::product_of(row);
  int64_t outerRank = view.sizes.size() - row.size();
  Int offset = 0;
  Int item = k.add(k.mul(k.extend(tile), rows), k.floorDiv(index, elements));
  for (int64_t axis = outerRank - 1; axis >= 0; --axis) {
    Int position = axis ? k.rem(item, view.sizes[axis]) : item;
    offset = k.add(offset, k.mul(position, view.array.strides[axis]));
    item = k.floorDiv(item, view.sizes[axis]);
  }
  auto strides = ArrayRef(view.array.strides).drop_front(outerRank);
  Positions positions = delinearize(k, k.rem(index, elements), row);
  for (auto [position, stride] : llvm::zip_equal(positions, strides))
    offset = k.add(offset, k.mul(position, stride));
  return offset;
}

Value Lowering::getTile(const LoweredView &view, Int tile, int64_t rows,
                        ArrayRef<int64_t> row) {
  return k.offsetPointer(view.array.base,
                         k.mul(k.extend(tile), rows * llvm::product_of(row)));
}
