//===- MmaLoad.cpp - Copies tiles to shared memory ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All threads of a CTA copy a tile, 16 bytes each at a time where the innermost
// dimension is contiguous and everything is aligned, which is decided when the
// kernel starts, else element by element. What lies outside of the array
// becomes zero: it is computed with, but not stored.
//
//===----------------------------------------------------------------------===//

#include "MmaKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Copies per thread that are unrolled.
static constexpr int64_t kMaxUnrolledCopies = 32;
static constexpr int64_t kLineBytes = 128;
/// Elements that a thread loads before it stores the first one.
static constexpr int64_t kElementsInFlight = 8;

static int64_t getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

/// Elements that one copy moves if addresses turn out to be aligned.
int64_t MmaKernel::getCopyElements() {
  int64_t elements = 16 / getBytes(plan.inputType);
  const MmaDim &inner = plan.dims.back();
  if (!getStride(input, inner.axes).is(1))
    return 1;
  auto fits = [&](int64_t count) {
    if (inner.sizeK % count != 0)
      return false;
    for (auto [axis, stride] : llvm::enumerate(input.strides))
      if (axis != inner.axes.back() && stride.isConstant() &&
          !operands.sizes[axis].is(1) && stride.getConstant() % count != 0)
        return false;
    return true;
  };
  while (elements > 1 && !fits(elements))
    elements /= 2;
  return elements;
}

/// Dimensions, that with the largest stride first; consecutive threads copy
/// what is closest in global memory.
SmallVector<unsigned> MmaKernel::getCopyOrder() {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, plan.dims.size()));
  auto getKnownStride = [&](unsigned dim) {
    Int stride = getStride(input, plan.dims[dim].axes);
    return stride.isConstant() ? stride.getConstant() : int64_t(1) << 62;
  };
  llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
    return std::pair(-getKnownStride(lhs), lhs) <
           std::pair(-getKnownStride(rhs), rhs);
  });
  return order;
}

void MmaKernel::emitCopy(const MmaGlobalTile &from, const MmaBuffer &to,
                         int64_t elements, ArrayRef<Int> position,
                         ArrayRef<int64_t> offset, Value condition) {
  int64_t elementBytes = getBytes(plan.inputType);
  int64_t copyBytes = elements * elementBytes;
  // Bytes that exist.
  Value valid = condition;
  Int validBytes = copyBytes;
  unsigned last = plan.dims.size() - 1;
  Int source = 0;
  for (unsigned dim = 0; dim <= last; ++dim) {
    Int here = kernel.add(position[dim], offset[dim]);
    if (!plan.dims[dim].product && mayExceed(dim)) {
      if (dim == last && elements > 1)
        validBytes = kernel.min(
            kernel.mul(kernel.sub(from.limits[dim], here), elementBytes),
            copyBytes);
      valid = kernel.both(valid, kernel.less(here, from.limits[dim]));
    }
    source = kernel.add(source, scale(position[dim], from.strides[dim]));
  }
  Value global =
      kernel.offsetBytes(from.base, kernel.mul(source, elementBytes));
  for (unsigned dim = 0; dim <= last; ++dim)
    global = kernel.offsetBytes(
        global,
        kernel.mul(scale(offset[dim], from.strides[dim]), elementBytes));
  Int target = getOffset(to, position, 0);
  Value shared = getAddress(to, target, to.layout->getIndex(offset));
  if (copyBytes < 4) {
    // No asynchronous copy is that small.
    Value address = valid ? kernel.select(valid, global, from.base) : global;
    Value value = kernel.load(plan.inputType, address);
    if (valid)
      value = kernel.select(valid, value, kernel.constant(plan.inputType, 0.0));
    kernel.store(value, shared);
    return;
  }
  Value size;
  if (valid)
    size = kernel.select(valid, kernel.materialize(validBytes, 32),
                         kernel.materialize(0, 32));
  // Other CTAs take the columns beside those of this tile.
  const MmaDim &inner = plan.dims.back();
  bool wholeLines = !inner.product && inner.sizeK * elementBytes < kLineBytes;
  kernel.copyAsync(shared, global, copyBytes, size, wholeLines);
}

/// Whether `threads` consecutive numbers, of which the first is a multiple of
/// that, have the same positions in all but one digit of the mixed radix
/// system.
static bool splitsEvenly(ArrayRef<int64_t> counts, int64_t threads) {
  int64_t inside = 1, total = 1;
  for (int64_t count : counts)
    total *= count;
  if (total % threads != 0)
    return false;
  for (int64_t count : llvm::reverse(counts)) {
    int64_t next = inside * count;
    if (threads % inside == 0 && next % threads == 0)
      return true;
    inside = next;
  }
  return false;
}

void MmaKernel::emitCopies(const MmaGlobalTile &from, const MmaBuffer &to,
                           int64_t elements) {
  unsigned rank = plan.dims.size();
  SmallVector<unsigned> order = getCopyOrder();
  if (elements > 1)
    order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  SmallVector<int64_t> counts;
  int64_t total = 1;
  for (unsigned dim : order) {
    int64_t count = plan.dims[dim].sizeK;
    counts.push_back(dim + 1 == rank ? count / elements : count);
    total *= counts.back();
  }
  auto getPositions = [&](Int number) {
    SmallVector<Int> positions(rank, Int(0));
    for (unsigned index = rank; index-- > 0;) {
      Int digit = index == 0 ? number : kernel.rem(number, counts[index]);
      number = kernel.floorDiv(number, counts[index]);
      unsigned dim = order[index];
      positions[dim] = dim + 1 == rank ? kernel.mul(digit, elements) : digit;
    }
    return positions;
  };

  int64_t threads = plan.threads;
  int64_t elementBytes = getBytes(plan.inputType);
  if (elements * elementBytes < 4) {
    // No asynchronous copy is that small.
    kernel.rolledLoop(
        kernel.threadId(), total, threads * kElementsInFlight, [&](Int first) {
          SmallVector<Value> values, conditions;
          SmallVector<SmallVector<Int>> places;
          for (int64_t index = 0; index < kElementsInFlight; ++index) {
            Int number = kernel.add(first, index * threads);
            Value inTile = kernel.less(number, total);
            number = Int(kernel.select(inTile, kernel.materialize(number, 32),
                                       kernel.materialize(0, 32)));
            SmallVector<Int> positions = getPositions(number);
            Value valid = inTile;
            Int source = 0;
            for (unsigned dim = 0; dim < rank; ++dim) {
              if (!plan.dims[dim].product && mayExceed(dim))
                valid = kernel.both(
                    valid, kernel.less(positions[dim], from.limits[dim]));
              source =
                  kernel.add(source, scale(positions[dim], from.strides[dim]));
            }
            Value address =
                kernel.offsetBytes(from.base, kernel.mul(source, elementBytes));
            address = kernel.select(valid, address, from.base);
            Value value = kernel.load(plan.inputType, address);
            values.push_back(kernel.select(
                valid, value, kernel.constant(plan.inputType, 0.0)));
            conditions.push_back(inTile);
            places.push_back(positions);
          }
          for (int64_t index = 0; index < kElementsInFlight; ++index)
            kernel.ifThen(conditions[index], [&] {
              kernel.store(values[index],
                           getAddress(to, getOffset(to, places[index], 0), 0));
            });
        });
    kernel.syncWarp();
    return;
  }

  int64_t perThread = llvm::divideCeil(total, threads);
  if (splitsEvenly(counts, threads) && perThread <= kMaxUnrolledCopies) {
    SmallVector<Int> positions = getPositions(kernel.threadId());
    for (int64_t index = 0; index < perThread; ++index) {
      SmallVector<int64_t> offset;
      for (Int digit : getPositions(index * threads))
        offset.push_back(digit.getConstant());
      emitCopy(from, to, elements, positions, offset, nullptr);
    }
    return;
  }
  emitRowCopies(from, to, elements, order);
}

/// Dimensions of the tile in pieces.
SmallVector<MmaItemAxis> MmaKernel::getPieceAxes() const {
  SmallVector<MmaItemAxis> axes;
  for (auto [dim, whole, part] :
       llvm::enumerate(plan.steps.front().sizes, ArrayRef(plan.stream->sizes)))
    axes.push_back({static_cast<unsigned>(dim), whole / part, part});
  return axes;
}

/// Starts copying the warp group's piece number `number` of `tile` to `to`.
void MmaKernel::emitPiece(const MmaGlobalTile &tile, Int number,
                          const MmaBuffer &to) {
  const MmaStep &step = plan.steps.front();
  Int warpGroup = kernel.floorDiv(warp, step.warps);
  SmallVector<Int> start = getItemPositions(
      getPieceAxes(),
      kernel.add(kernel.mul(warpGroup, plan.stream->pieces), number));
  MmaGlobalTile piece = tile;
  Int offset = 0;
  for (auto [dim, position] : llvm::enumerate(start)) {
    offset = kernel.add(offset, scale(position, tile.strides[dim]));
    if (mayExceed(dim))
      piece.limits[dim] = kernel.sub(tile.limits[dim], position);
  }
  piece.base = kernel.offsetBytes(tile.base,
                                  kernel.mul(offset, getBytes(plan.inputType)));
  int64_t elements = getCopyElements();
  if (elements == 1)
    return emitPieceCopies(piece, to, 1);
  kernel.choose(
      canCopyChunks, [&] { emitPieceCopies(piece, to, elements); },
      [&] { emitPieceCopies(piece, to, 1); });
}

void MmaKernel::emitPieceCopies(const MmaGlobalTile &from, const MmaBuffer &to,
                                int64_t elements) {
  ArrayRef<int64_t> sizes = plan.stream->sizes;
  unsigned rank = sizes.size();
  SmallVector<int64_t> counts(sizes);
  while (counts.back() % elements != 0)
    elements /= 2;
  counts.back() /= elements;
  int64_t total = 1;
  for (int64_t count : counts)
    total *= count;
  auto getPositions = [&](Int number) {
    SmallVector<Int> positions(rank, Int(0));
    for (unsigned dim = rank; dim-- > 0;) {
      Int digit = dim == 0 ? number : kernel.rem(number, counts[dim]);
      number = kernel.floorDiv(number, counts[dim]);
      positions[dim] = dim + 1 == rank ? kernel.mul(digit, elements) : digit;
    }
    return positions;
  };
  int64_t threads = 32 * plan.steps.front().warps;
  Int thread = kernel.rem(kernel.threadId(), threads);
  if (splitsEvenly(counts, threads) && total / threads <= kMaxUnrolledCopies) {
    SmallVector<Int> positions = getPositions(thread);
    for (int64_t index = 0; index < total; index += threads) {
      SmallVector<int64_t> offset;
      for (Int digit : getPositions(index))
        offset.push_back(digit.getConstant());
      emitCopy(from, to, elements, positions, offset, nullptr);
    }
    return;
  }
  SmallVector<int64_t> none(rank, 0);
  kernel.rolledLoop(0, total, threads, [&](Int first) {
    Int number = kernel.add(first, thread);
    Value exists = total % threads == 0 ? Value() : kernel.less(number, total);
    kernel.ifThen(exists, [&] {
      emitCopy(from, to, elements, getPositions(number), none, nullptr);
    });
  });
  kernel.syncWarp();
}

/// A warp copies rows of the dimension that comes last in `order`, or several
/// short ones at a time: positions are worked out once per row.
void MmaKernel::emitRowCopies(const MmaGlobalTile &from, const MmaBuffer &to,
                              int64_t elements, ArrayRef<unsigned> order) {
  unsigned rank = order.size(), rowDim = order.back();
  int64_t perCopy = rowDim + 1 == rank ? elements : 1;
  int64_t copies = plan.dims[rowDim].sizeK / perCopy;
  int64_t lanes = std::min<int64_t>(32, llvm::PowerOf2Ceil(copies));
  int64_t rows = 1;
  for (unsigned dim : order.drop_back())
    rows *= plan.dims[dim].sizeK;
  int64_t rowsAtOnce = plan.getWarps() * (32 / lanes);
  Int laneRow = kernel.add(kernel.mul(warp, 32 / lanes),
                           kernel.floorDiv(kernel.laneId(), lanes));
  Int lane = kernel.rem(kernel.laneId(), lanes);
  SmallVector<int64_t> none(rank, 0);
  kernel.rolledLoop(0, rows, rowsAtOnce, [&](Int first) {
    Int row = kernel.add(first, laneRow);
    Value rowExists = rows % rowsAtOnce == 0 ? Value() : kernel.less(row, rows);
    SmallVector<Int> positions(rank, Int(0));
    Int rest = row;
    for (unsigned index = rank - 1; index-- > 0;) {
      int64_t count = plan.dims[order[index]].sizeK;
      positions[order[index]] = index == 0 ? rest : kernel.rem(rest, count);
      rest = kernel.floorDiv(rest, count);
    }
    for (int64_t copy = 0; copy < copies; copy += lanes) {
      Int number = kernel.add(lane, copy);
      Value exists = rowExists;
      if (copy + lanes > copies)
        exists = kernel.both(exists, kernel.less(number, copies));
      positions[rowDim] = kernel.mul(number, perCopy);
      kernel.ifThen(exists, [&] {
        emitCopy(from, to, elements, positions, none, nullptr);
      });
    }
  });
  // Lanes that skip the last copy must not run ahead: ptxas 13.0 lets them
  // overwrite uniform registers that the others still use.
  kernel.syncWarp();
}

void MmaKernel::emitLoad(Int tile, const MmaBuffer &buffer) {
  MmaGlobalTile from = locate(input, plan.inputType, tile);
  int64_t elements = getCopyElements();
  if (elements == 1)
    return emitCopies(from, buffer, 1);
  kernel.choose(
      canCopyChunks, [&] { emitCopies(from, buffer, elements); },
      [&] { emitCopies(from, buffer, 1); });
}
