//===- InterleaveKernel.cpp - Transposes few rows or columns ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Many small matrices of L rows and a short side of S columns become S rows of
// L, or the other way round. Both lie without gaps, so that memory is accessed
// 16 bytes at a time on both sides, whatever S is: A = 16 bytes of elements
// along L make units of S * 16 bytes, which shared memory holds as the
// interleaved side does. A thread moves a block of A rows and as many columns
// as S has in common with A between them and its registers, where elements
// change places.
//
// Units are an odd number of 16 bytes apart: threads with neighbouring units
// meet in no bank.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Machine/GPUForms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kThreads = kGPUForms.interleaveThreads;
static constexpr int64_t kCtasPerSM = kGPUForms.interleaveCtasPerSM;
/// What a thread accesses at a time, and a tile in shared memory.
static constexpr int64_t kAccessBytes = 16;
static constexpr int64_t kTileBytes = kGPUForms.interleaveTileBytes;
/// The longest short side.
static constexpr int64_t kMostColumns = 128;
/// Units whose rows follow each other: lines of 128 bytes of the other side.
static constexpr int64_t kUnitsTogether = kGPUForms.interleaveUnits;
/// Accesses of a thread that are under way together.
static constexpr int64_t kBytesUnderWay = kGPUForms.interleaveBytesUnderWay;

namespace {

/// Sizes of a transposition that such a kernel takes.
struct Interleaving {
  /// Outer dimensions, which stay what they are.
  int64_t outer;
  /// Rows L and columns S of the interleaved side.
  int64_t rows, columns;
  /// Whether the input is that side.
  bool splits;
};

class InterleaveKernel {
public:
  InterleaveKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                   linalg::TransposeOp op, const Interleaving &sizes);

  void emit();

private:
  /// The unit of the tile that a thread works on: its first elements in the
  /// input and in the output.
  struct Unit {
    Value input, output;
  };

  void enterArrays();
  Value getIsAligned();
  void startTile(Int tile);
  Unit locate(Int unit);
  Value locateShared(Int unit, Int bytes);
  std::pair<Int, Int> getBlock(Int item);
  void copyIn();
  void split();
  void merge();
  void copyOut();
  void copyElements();
  int64_t getUnitBytes() const { return sizes.columns * kAccessBytes; }

  linalg::TransposeOp op;
  Interleaving sizes;
  int64_t elementBytes;
  /// Elements as integers.
  Type element;
  /// Elements of an access, columns of a block, blocks and units of a tile.
  int64_t access, width, blocks, tileUnits;
  /// Bytes from a unit in shared memory to the next.
  int64_t pitch;
  Emitter host;
  KernelBuilder k;

  /// Outer dimensions of both arrays.
  StepArray input, output;
  SmallVector<Int> outerSizes;
  /// For the host and the kernel.
  Int units, ownUnits;
  int64_t sharedOffset = 0;
  /// The tile that this CTA is at: the matrix that it starts in, the unit
  /// there, and how many units there are.
  Int firstMatrix, firstUnit, count;
};

} // namespace

InterleaveKernel::InterleaveKernel(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule,
                                   linalg::TransposeOp op,
                                   const Interleaving &sizes)
    : op(op), sizes(sizes), elementBytes(kron::getElementBytes(
                                getElementTypeOrSelf(op.getInput().getType()))),
      element(builder.getIntegerType(8 * elementBytes)),
      access(kAccessBytes / elementBytes),
      width(std::gcd(sizes.columns, access)), blocks(sizes.columns / width),
      tileUnits(llvm::bit_floor(uint64_t(kTileBytes / getUnitBytes()))),
      pitch((sizes.columns | 1) * kAccessBytes),
      host(builder, op.getLoc(), element),
      k(host, gpuModule, op->getParentOfType<func::FuncOp>().getSymName(),
        element) {}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

void InterleaveKernel::enterArrays() {
  input = k.enter(getFusedArray(host, op.getInput()));
  output = k.enter(getFusedArray(host, op.getInit()));
  auto type = cast<MemRefType>(op.getInput().getType());
  for (int64_t dim = 0; dim < sizes.outer; ++dim) {
    Int size = type.getDimSize(dim);
    if (type.isDynamicDim(dim)) {
      Value index =
          memref::DimOp::create(host.builder, host.loc, op.getInput(), dim);
      size = Int(arith::IndexCastOp::create(host.builder, host.loc,
                                            host.builder.getI64Type(), index));
    }
    units = dim == 0 ? size : host.mul(units, size);
    outerSizes.push_back(k.enter(size));
  }
  if (outerSizes.empty())
    units = 1;
  units = host.mul(units, sizes.rows / access);
  ownUnits = k.enter(Int(host.materialize(units, 64)));
}

/// Whether both arrays allow accesses of 16 bytes.
Value InterleaveKernel::getIsAligned() {
  Int bits = 0;
  for (Value memref : {Value(op.getInput()), Value(op.getInit())}) {
    StepArray array = getFusedArray(host, memref);
    Value address = LLVM::PtrToIntOp::create(
        host.builder, host.loc, host.builder.getI64Type(), array.base);
    bits = host.bitOr(bits, Int(address));
    for (Int stride : ArrayRef(array.strides).take_front(sizes.outer))
      bits = host.bitOr(bits, host.mul(stride, elementBytes));
  }
  return k.equal(k.enter(host.bitAnd(bits, kAccessBytes - 1)), 0);
}

void InterleaveKernel::startTile(Int tile) {
  int64_t perMatrix = sizes.rows / access;
  Int first = k.mul(k.extend(tile), tileUnits);
  Value left = k.materialize(k.min(k.sub(ownUnits, first), tileUnits));
  count = k.truncate(Int(left));
  firstMatrix = k.floorDiv(first, perMatrix);
  firstUnit = k.truncate(Int(k.materialize(k.rem(first, perMatrix))));
}

/// Unit number `unit` of the tile in both arrays.
InterleaveKernel::Unit InterleaveKernel::locate(Int unit) {
  int64_t perMatrix = sizes.rows / access;
  unit = k.add(firstUnit, unit);
  Int matrix = k.add(firstMatrix, k.extend(k.floorDiv(unit, perMatrix)));
  Int place = k.rem(unit, perMatrix);
  Int interleaved = k.mul(place, access * sizes.columns);
  Int apart = k.mul(place, access);
  Int inputOffset = sizes.splits ? interleaved : apart;
  Int outputOffset = sizes.splits ? apart : interleaved;
  for (unsigned dim = outerSizes.size(); dim-- > 0;) {
    Int position = dim == 0 ? matrix : k.rem(matrix, outerSizes[dim]);
    matrix = dim == 0 ? matrix : k.floorDiv(matrix, outerSizes[dim]);
    inputOffset = k.add(inputOffset, k.mul(position, input.strides[dim]));
    outputOffset = k.add(outputOffset, k.mul(position, output.strides[dim]));
  }
  return {k.offsetElements(input.base, element, inputOffset),
          k.offsetElements(output.base, element, outputOffset)};
}

Value InterleaveKernel::locateShared(Int unit, Int bytes) {
  return k.shared(k.add(k.add(k.mul(unit, pitch), bytes), sharedOffset));
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// The unit and the block of columns of item number `item`.
std::pair<Int, Int> InterleaveKernel::getBlock(Int item) {
  Int low = k.bitAnd(item, kUnitsTogether - 1);
  Int rest = k.floorDiv(item, kUnitsTogether);
  return {k.add(k.mul(k.floorDiv(rest, blocks), kUnitsTogether), low),
          k.rem(rest, blocks)};
}

/// Brings the units of the interleaved input to shared memory.
void InterleaveKernel::copyIn() {
  k.rolledLoop(k.threadId(), k.mul(count, sizes.columns), kThreads,
               [&](Int item) {
                 Int unit = k.floorDiv(item, sizes.columns);
                 Int bytes = k.mul(k.rem(item, sizes.columns), kAccessBytes);
                 k.copyAsync(locateShared(unit, bytes),
                             k.offsetBytes(locate(unit).input, bytes),
                             kAccessBytes, nullptr, /*wholeLines=*/true);
               });
  k.commitCopies();
  k.waitCopies(0);
  k.barrier();
}

/// Takes units apart: from shared memory to rows of the output.
void InterleaveKernel::split() {
  auto piece = VectorType::get({width}, element);
  int64_t whole = llvm::alignTo(tileUnits, kUnitsTogether) * blocks;
  k.rolledLoop(k.threadId(), whole, kThreads, [&](Int item) {
    auto [unit, block] = getBlock(item);
    k.ifThen(k.less(unit, count), [&, unit = unit, block = block] {
      Int column = k.mul(block, width);
      SmallVector<SmallVector<Value>> rows;
      for (int64_t row = 0; row < access; ++row) {
        Int bytes = k.mul(k.add(column, row * sizes.columns), elementBytes);
        rows.push_back(k.unpack(k.load(piece, locateShared(unit, bytes))));
      }
      Value to = locate(unit).output;
      for (int64_t index = 0; index < width; ++index) {
        SmallVector<Value> values;
        for (const auto &row : rows)
          values.push_back(row[index]);
        Int offset = k.mul(k.add(column, index), sizes.rows);
        k.store(k.makeVector(values), k.offsetElements(to, element, offset));
      }
    });
  });
}

/// Puts units together: from rows of the input to shared memory.
void InterleaveKernel::merge() {
  auto vector = VectorType::get({access}, element);
  int64_t unroll = std::max<int64_t>(
      std::min<int64_t>(kBytesUnderWay / (width * kAccessBytes),
                        llvm::divideCeil(tileUnits * blocks, kThreads)),
      1);
  int64_t whole = llvm::alignTo(tileUnits, kUnitsTogether) * blocks;
  k.rolledLoop(k.threadId(), whole, kThreads * unroll, [&](Int first) {
    SmallVector<SmallVector<SmallVector<Value>>> loaded;
    for (int64_t number = 0; number < unroll; ++number) {
      auto [unit, block] = getBlock(k.add(first, number * kThreads));
      // What does not exist repeats the last unit.
      Value from = locate(k.min(unit, k.sub(count, 1))).input;
      SmallVector<SmallVector<Value>> &columns = loaded.emplace_back();
      for (int64_t index = 0; index < width; ++index) {
        Int offset = k.mul(k.add(k.mul(block, width), index), sizes.rows);
        columns.push_back(
            k.unpack(k.load(vector, k.offsetElements(from, element, offset),
                            CacheHint::ReadOnly)));
      }
    }
    for (int64_t number = 0; number < unroll; ++number) {
      auto [unit, block] = getBlock(k.add(first, number * kThreads));
      k.ifThen(k.less(unit, count), [&, unit = unit, block = block] {
        for (int64_t row = 0; row < access; ++row) {
          SmallVector<Value> values;
          for (const auto &column : loaded[number])
            values.push_back(column[row]);
          Int bytes = k.mul(k.add(k.mul(block, width), row * sizes.columns),
                            elementBytes);
          k.store(k.makeVector(values), locateShared(unit, bytes));
        }
      });
    }
  });
  k.barrier();
}

/// Brings the units in shared memory to the interleaved output.
void InterleaveKernel::copyOut() {
  auto vector = VectorType::get({access}, element);
  k.rolledLoop(k.threadId(), k.mul(count, sizes.columns), kThreads,
               [&](Int item) {
                 Int unit = k.floorDiv(item, sizes.columns);
                 Int bytes = k.mul(k.rem(item, sizes.columns), kAccessBytes);
                 k.store(k.load(vector, locateShared(unit, bytes)),
                         k.offsetBytes(locate(unit).output, bytes));
               });
}

/// The same one by one, for arrays that are not aligned.
void InterleaveKernel::copyElements() {
  int64_t perUnit = access * sizes.columns;
  k.rolledLoop(k.threadId(), k.mul(count, perUnit), kThreads, [&](Int item) {
    Unit unit = locate(k.floorDiv(item, perUnit));
    Int place = k.rem(item, perUnit);
    Int row = k.floorDiv(place, sizes.columns);
    Int apart = k.add(k.mul(k.rem(place, sizes.columns), sizes.rows), row);
    Value value =
        k.load(element, k.offsetElements(unit.input, element,
                                         sizes.splits ? place : apart));
    k.store(value, k.offsetElements(unit.output, element,
                                    sizes.splits ? apart : place));
  });
}

void InterleaveKernel::emit() {
  enterArrays();
  Value isAligned = getIsAligned();
  sharedOffset = k.allocateShared(tileUnits * pitch);
  Int tiles = host.ceilDiv(units, tileUnits);
  k.forTiles(k.enter(tiles), [&](Int tile) {
    startTile(tile);
    k.choose(
        isAligned,
        [&] {
          // The tile before this one has been read.
          k.barrier();
          if (sizes.splits) {
            copyIn();
            return split();
          }
          merge();
          copyOut();
        },
        [&] { copyElements(); });
  });
  LaunchShape shape;
  shape.threads = kThreads;
  shape.ctasPerSM = kCtasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, tiles);
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

/// The number of elements behind the first `outer` dimensions of an array, if
/// they lie without gaps; 0 otherwise.
static int64_t getDenseSize(MemRefType type, int64_t outer) {
  SmallVector<int64_t> strides;
  int64_t offset, size = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  for (int64_t dim = type.getRank(); dim-- > outer;) {
    if (type.isDynamicDim(dim) || strides[dim] != size)
      return 0;
    size *= type.getDimSize(dim);
  }
  return size;
}

/// Whether `permutation` moves the last of the dimensions from `outer` on
/// before the others, and nothing else.
static bool movesLast(ArrayRef<int64_t> permutation, int64_t outer) {
  int64_t rank = permutation.size();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (permutation[dim] != (dim < outer    ? dim
                             : dim == outer ? rank - 1
                                            : dim - 1))
      return false;
  return true;
}

static std::optional<Interleaving> getInterleaving(linalg::TransposeOp op) {
  auto type = dyn_cast<MemRefType>(op.getInput().getType());
  auto result = dyn_cast<MemRefType>(op.getInit().getType());
  if (!type || !result || type.getRank() < 2)
    return std::nullopt;
  Type element = type.getElementType();
  int64_t bytes = kron::getElementBytes(element);
  if (isa<ComplexType>(element) || (bytes != 2 && bytes != 4))
    return std::nullopt;
  SmallVector<int64_t> forth(op.getPermutation());
  SmallVector<int64_t> back = invertPermutationVector(forth);
  int64_t rank = type.getRank(), outer = 0;
  while (outer < rank - 1 && forth[outer] == outer)
    ++outer;
  int64_t size = getDenseSize(type, outer);
  if (size == 0 || getDenseSize(result, outer) == 0)
    return std::nullopt;
  for (bool splits : {true, false}) {
    if (!movesLast(splits ? forth : back, outer))
      continue;
    int64_t columns = (splits ? type : result).getDimSize(rank - 1);
    int64_t rows = size / columns;
    if (columns >= 2 && columns <= std::min(rows, kMostColumns) &&
        rows % (kAccessBytes / bytes) == 0)
      return Interleaving{outer, rows, columns, splits};
  }
  return std::nullopt;
}

bool kron::emitInterleaveKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                linalg::LinalgOp op) {
  auto transpose = dyn_cast<linalg::TransposeOp>(*op);
  if (!transpose)
    return false;
  std::optional<Interleaving> sizes = getInterleaving(transpose);
  if (!sizes)
    return false;
  InterleaveKernel(builder, gpuModule, transpose, *sizes).emit();
  return true;
}
