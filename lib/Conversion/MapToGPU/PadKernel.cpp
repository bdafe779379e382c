//===- PadKernel.cpp - Copies between rows of different pitch ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows of an array, which start anywhere, become the first elements of longer
// rows, which start at multiples of 16 bytes and have zeros behind them, or the
// other way round. Elements are read one by one, mostly from the first-level
// cache, and stored 16 bytes at a time: neighbours of a row that is padded, or
// of several rows that follow each other without a gap.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Machine/GPUForms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kThreads = kGPUForms.padThreads;
static constexpr int64_t kCtasPerSM = kGPUForms.padCtasPerSM;
static constexpr int64_t kAccessBytes = 16;
/// Accesses of a thread whose elements are under way together.
static constexpr int64_t kRounds = kGPUForms.padBytesUnderWay / kAccessBytes;
static constexpr int64_t kTileAccesses = kThreads * kRounds;

namespace {

/// A copy of all of an array to or from the first positions of a padded one,
/// which lies row by row without a gap. Dimensions of one position are left
/// out, and outer ones that are one in both arrays are one.
struct PaddedCopy {
  /// Whether the input is the padded array.
  bool cuts;
  memref::AllocOp padded;
  /// Sizes of the dimensions in both arrays.
  SmallVector<int64_t> paddedSizes, sizes;
  /// The numbers of the dimensions whose strides those of the other array are.
  SmallVector<unsigned> dims;
};

class PadKernel {
public:
  PadKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule, linalg::CopyOp op,
            const PaddedCopy &copy);

  void emit();

private:
  Int locateRow(Int row, Value &exists);
  Value loadAccess(Int row, Int column);
  void padTile(Int tile, Int accesses);
  Int getMisalignment();
  void cutTile(Int first, Int count);
  void cutElements(Int first, Int count);

  linalg::CopyOp op;
  PaddedCopy copy;
  int64_t elementBytes;
  /// Elements as integers, and how many an access has.
  Type element;
  int64_t access;
  /// Elements of a padded row, and those that the other array has of it.
  int64_t pitch, columns;
  int64_t rows = 1;
  Emitter host;
  KernelBuilder k;
  StepArray padded, other;
};

} // namespace

PadKernel::PadKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                     linalg::CopyOp op, const PaddedCopy &copy)
    : op(op), copy(copy),
      elementBytes(kron::getElementBytes(
          getElementTypeOrSelf(op.getInputs().front().getType()))),
      element(builder.getIntegerType(8 * elementBytes)),
      access(kAccessBytes / elementBytes), pitch(copy.paddedSizes.back()),
      columns(copy.sizes.back()), host(builder, op.getLoc(), element),
      k(host, gpuModule, op->getParentOfType<func::FuncOp>().getSymName(),
        element) {
  for (int64_t size : ArrayRef(copy.paddedSizes).drop_back())
    rows *= size;
}

//===----------------------------------------------------------------------===//
// To padded rows
//===----------------------------------------------------------------------===//

/// Where the row of the other array starts that belongs to padded row `row`;
/// `exists`: whether there is one, null if there are all. Of none it is another
/// one's.
Int PadKernel::locateRow(Int row, Value &exists) {
  Int offset = 0;
  exists = nullptr;
  for (unsigned dim = copy.dims.size() - 1; dim-- > 0;) {
    int64_t size = copy.paddedSizes[dim];
    Int position = dim == 0 ? row : k.rem(row, size);
    row = dim == 0 ? row : k.floorDiv(row, size);
    if (copy.sizes[dim] < size) {
      exists = k.both(exists, k.less(position, copy.sizes[dim]));
      position = k.min(position, copy.sizes[dim] - 1);
    }
    offset = k.add(offset, k.mul(position, other.strides[copy.dims[dim]]));
  }
  return offset;
}

/// What padded row `row` has from `column` on.
Value PadKernel::loadAccess(Int row, Int column) {
  Value exists;
  Value start = k.offsetElements(other.base, element, locateRow(row, exists));
  Value zero = k.materialize(0, 8 * elementBytes);
  SmallVector<Value> values;
  for (int64_t index = 0; index < access; ++index) {
    Int place = k.add(column, index);
    Value isInside = k.both(exists, k.less(place, columns));
    Value value = k.load(
        element, k.offsetElements(start, element, k.min(place, columns - 1)),
        CacheHint::ReadOnly);
    values.push_back(k.select(isInside, value, zero));
  }
  return k.makeVector(values);
}

/// Tile `tile` of the padded array, which has `accesses` in all. Those that do
/// not exist read the last row.
void PadKernel::padTile(Int tile, Int accesses) {
  int64_t perRow = pitch / access;
  Int first = k.mul(k.extend(tile), kTileAccesses);
  Int firstRow = k.floorDiv(first, perRow);
  Int firstPlace = k.truncate(Int(k.materialize(k.rem(first, perRow))));
  SmallVector<Value> loaded;
  SmallVector<Int> offsets;
  for (int64_t round = 0; round < kRounds; ++round) {
    Int place = k.add(firstPlace, k.add(k.threadId(), round * kThreads));
    Int row = k.add(firstRow, k.extend(k.floorDiv(place, perRow)));
    Int column = k.mul(k.rem(place, perRow), access);
    loaded.push_back(loadAccess(k.min(row, rows - 1), column));
    offsets.push_back(k.add(k.mul(row, pitch), k.extend(column)));
  }
  for (auto [round, value] : llvm::enumerate(loaded)) {
    Int number = k.add(first, k.extend(k.add(k.threadId(), round * kThreads)));
    Value to = k.offsetElements(padded.base, element, offsets[round]);
    k.ifThen(k.less(number, accesses),
             [&, value = value] { k.store(value, to); });
  }
}

//===----------------------------------------------------------------------===//
// From padded rows
//===----------------------------------------------------------------------===//

/// On the host: 0 if rows of the other array lie without a gap and start at a
/// multiple of 16 bytes.
Int PadKernel::getMisalignment() {
  StepArray array = getFusedArray(host, op.getOutputs().front());
  Value address = LLVM::PtrToIntOp::create(
      host.builder, host.loc, host.builder.getI64Type(), array.base);
  Int bits = host.bitAnd(Int(address), kAccessBytes - 1);
  int64_t dense = columns;
  for (unsigned dim = copy.dims.size() - 1; dim-- > 0;) {
    Int stride = array.strides[copy.dims[dim]];
    bits = host.bitOr(bits, host.bitXor(stride, dense));
    dense *= copy.sizes[dim];
  }
  return bits;
}

/// `count` elements of the other array from its element `first` on, in whole
/// accesses. Those that do not exist read the last one.
void PadKernel::cutTile(Int first, Int count) {
  Int row = k.floorDiv(first, columns);
  Value start = k.offsetElements(padded.base, element, k.mul(row, pitch));
  Int firstColumn = k.truncate(Int(k.materialize(k.rem(first, columns))));
  auto getPlace = [&](int64_t round) {
    return k.mul(k.add(k.threadId(), round * kThreads), access);
  };
  SmallVector<Value> loaded;
  for (int64_t round = 0; round < kRounds; ++round) {
    Int place =
        k.add(firstColumn, k.min(getPlace(round), k.sub(count, access)));
    SmallVector<Value> values;
    for (int64_t index = 0; index < access; ++index) {
      Int at = k.add(place, index);
      Int offset = k.add(k.mul(k.floorDiv(at, columns), pitch - columns), at);
      values.push_back(k.load(element, k.offsetElements(start, element, offset),
                              CacheHint::ReadOnly));
    }
    loaded.push_back(k.makeVector(values));
  }
  Value target = k.offsetElements(other.base, element, first);
  for (auto [round, value] : llvm::enumerate(loaded)) {
    Int place = getPlace(round);
    k.ifThen(k.less(place, count), [&, value = value] {
      k.store(value, k.offsetElements(target, element, place));
    });
  }
}

/// `count` elements from element `first` on, one by one.
void PadKernel::cutElements(Int first, Int count) {
  k.rolledLoop(k.threadId(), count, kThreads, [&](Int place) {
    Int at = k.add(first, k.extend(place));
    Int row = k.floorDiv(at, columns), column = k.rem(at, columns);
    Value exists;
    Value to = k.offsetElements(other.base, element,
                                k.add(locateRow(row, exists), column));
    Int from = k.add(k.mul(row, pitch), column);
    k.store(k.load(element, k.offsetElements(padded.base, element, from),
                   CacheHint::ReadOnly),
            to);
  });
}

void PadKernel::emit() {
  Value input = op.getInputs().front(), output = op.getOutputs().front();
  padded = k.enter(getFusedArray(host, copy.padded));
  other = k.enter(getFusedArray(host, copy.cuts ? output : input));
  Int accesses = copy.cuts ? rows * columns : rows * pitch / access;
  int64_t perTile = kTileAccesses * (copy.cuts ? access : 1);
  Int tiles = host.ceilDiv(accesses, perTile);
  Value isAligned;
  if (copy.cuts)
    isAligned = k.equal(k.enter(getMisalignment()), 0);
  k.forTiles(k.enter(tiles), [&](Int tile) {
    if (!copy.cuts)
      return padTile(tile, accesses);
    Int first = k.mul(k.extend(tile), perTile);
    Value left = k.materialize(k.min(k.sub(accesses, first), perTile));
    Int count = k.truncate(Int(left));
    // Less than an access is left at the end of the last tile.
    Int whole = k.mul(k.floorDiv(count, access), access);
    Value isWhole = k.both(isAligned, k.less(0, whole));
    k.ifThen(isWhole, [&] { cutTile(first, whole); });
    Int done =
        Int(k.select(isWhole, k.materialize(whole), k.materialize(0, 32)));
    cutElements(k.add(first, k.extend(done)), k.sub(count, done));
  });
  LaunchShape shape;
  shape.threads = kThreads;
  shape.ctasPerSM = kCtasPerSM;
  k.launch(shape, tiles);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// The new array of known shape whose first positions `array` is; null if it is
/// another one's, or all of one.
static memref::AllocOp getPadded(Value array) {
  auto view = array.getDefiningOp<memref::SubViewOp>();
  auto alloc =
      view ? view.getSource().getDefiningOp<memref::AllocOp>() : nullptr;
  if (!alloc || !alloc.getType().hasStaticShape() ||
      !alloc.getType().getLayout().isIdentity() ||
      view.getType().getRank() != alloc.getType().getRank() ||
      !llvm::all_of(
          view.getMixedOffsets(),
          [](OpFoldResult offset) { return isConstantIntValue(offset, 0); }) ||
      !llvm::all_of(view.getMixedStrides(), [](OpFoldResult stride) {
        return isConstantIntValue(stride, 1);
      }))
    return nullptr;
  return alloc;
}

/// `op` as a copy to or from a padded array, if such kernels take it.
static std::optional<PaddedCopy> getPaddedCopy(linalg::CopyOp op) {
  if (!op.hasPureBufferSemantics())
    return std::nullopt;
  Value input = op.getInputs().front(), output = op.getOutputs().front();
  PaddedCopy copy;
  copy.padded = getPadded(output);
  copy.cuts = !copy.padded;
  if (copy.cuts)
    copy.padded = getPadded(input);
  auto type = cast<MemRefType>((copy.cuts ? output : input).getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!copy.padded || !type.hasStaticShape() ||
      type.getElementType() != copy.padded.getType().getElementType() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  ArrayRef<int64_t> shape = copy.padded.getType().getShape();
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    bool isWhole = type.getDimSize(dim) == shape[dim];
    bool isLast = llvm::all_of(shape.drop_front(dim + 1),
                               [](int64_t size) { return size == 1; });
    if (!copy.dims.empty() && isWhole && !isLast &&
        !ShapedType::isDynamic(strides[dim]) &&
        strides[copy.dims.back()] == strides[dim] * shape[dim]) {
      copy.paddedSizes.back() *= shape[dim];
      copy.sizes.back() *= shape[dim];
      copy.dims.back() = dim;
      continue;
    }
    copy.paddedSizes.push_back(shape[dim]);
    copy.sizes.push_back(type.getDimSize(dim));
    copy.dims.push_back(dim);
  }
  int64_t bytes = kron::getElementBytes(type.getElementType());
  bool areWhole =
      copy.dims.size() > 1 && ArrayRef(copy.sizes).drop_back() ==
                                  ArrayRef(copy.paddedSizes).drop_back();
  if (copy.dims.size() < 2 || strides[copy.dims.back()] != 1 ||
      (bytes != 2 && bytes != 4 && bytes != 8) ||
      copy.paddedSizes.back() * bytes % kAccessBytes != 0 ||
      (copy.cuts && !areWhole))
    return std::nullopt;
  return copy;
}

linalg::FillOp kron::findZeros(linalg::LinalgOp op) {
  auto copy = dyn_cast<linalg::CopyOp>(*op);
  std::optional<PaddedCopy> found;
  if (copy)
    found = getPaddedCopy(copy);
  if (!found || found->cuts)
    return nullptr;
  // Nothing else knows the array before. Plans of a dispatch use it within
  // branches.
  linalg::FillOp fill;
  Operation *view = copy.getOutputs().front().getDefiningOp();
  auto isLater = [&](Operation *user) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    return inBlock && !inBlock->isBeforeInBlock(op);
  };
  for (Operation *user : found->padded->getUsers()) {
    if (user == view || isLater(user))
      continue;
    if (fill || !isa<linalg::FillOp>(user) ||
        user->getBlock() != op->getBlock())
      return nullptr;
    fill = cast<linalg::FillOp>(user);
  }
  bool isOfZeros = fill && view->getBlock() == op->getBlock() &&
                   llvm::all_of(view->getUsers(), isLater) &&
                   (matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) ||
                    matchPattern(fill.getInputs().front(), m_Zero()));
  return isOfZeros ? fill : nullptr;
}

bool kron::emitPadKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                         linalg::LinalgOp op, bool hasZeros) {
  auto copy = dyn_cast<linalg::CopyOp>(*op);
  if (!copy)
    return false;
  std::optional<PaddedCopy> found = getPaddedCopy(copy);
  // The kernel writes all of a padded array.
  if (!found || (!found->cuts && !hasZeros))
    return false;
  PadKernel(builder, gpuModule, copy, *found).emit();
  return true;
}
