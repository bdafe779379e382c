//===- TransposeKernel.cpp - A transposing copy as a kernel -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Neighbours of the input and of the output lie along different dimensions. A
// CTA takes squares of these two through shared memory, so that both sides move
// lines of 128 bytes. Elements of two bytes travel in pairs, two of which
// change partners in registers.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/CodeGen/GPU/TileWalk.h"
#include "kron/Machine/GPUForms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::kron;

/// Threads of a CTA, and those that an SM should have.
static constexpr int64_t kThreads = kGPUForms.transposeThreads;
static constexpr int64_t kThreadsPerSM = kGPUForms.transposeThreadsPerSM;
/// Lines of a square, of elements (or of pairs of them), and the distance from
/// one to the next in shared memory, which meets no bank twice.
static constexpr int64_t kSide = 32, kPitch = kSide + 1;

namespace {

class TransposeKernel {
public:
  TransposeKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                  linalg::TransposeOp op, unsigned inputDim,
                  unsigned outputDim);

  void emit();

private:
  Int getSize(unsigned dim);
  Int getPairBits();
  void locateTile(Int tile);
  void emitTile(bool inPairs);
  void loadTile(bool inPairs);
  void storeTile(bool inPairs);
  Value locate(const StepArray &array, Value start, Int inputPlace,
               Int outputPlace);
  Value getSlot(Int line, Int place);
  Value loadPair(Int inputPlace, Int outputPlace, bool inPairs);
  void storePair(Value pair, Int inputPlace, Int outputPlace, bool inPairs);

  linalg::TransposeOp op;
  /// Of the input: those along which neighbours of the input and of the output
  /// lie.
  unsigned inputDim, outputDim;
  int64_t elementBytes;
  /// Elements as integers, what shared memory holds, and elements of that.
  Type element, word;
  int64_t perWord;
  Emitter host;
  KernelBuilder k;

  /// In the order of the input's dimensions.
  StepArray input, output;
  SmallVector<Int> sizes;
  /// The tile that this CTA is at: first element of both arrays, and what is
  /// left of both dimensions from there.
  Value inputStart, outputStart;
  Int inputLeft, outputLeft;
  int64_t sharedOffset = 0;
};

} // namespace

TransposeKernel::TransposeKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                 linalg::TransposeOp op, unsigned inputDim,
                                 unsigned outputDim)
    : op(op), inputDim(inputDim), outputDim(outputDim),
      elementBytes(
          kron::getElementBytes(getElementTypeOrSelf(op.getInput().getType()))),
      element(builder.getIntegerType(8 * elementBytes)),
      word(builder.getIntegerType(std::max<int64_t>(8 * elementBytes, 32))),
      perWord(elementBytes == 2 ? 2 : 1), host(builder, op.getLoc(), element),
      k(host, gpuModule, op->getParentOfType<func::FuncOp>().getSymName(),
        element) {}

/// The size of a dimension of the input, for the host.
Int TransposeKernel::getSize(unsigned dim) {
  auto type = cast<MemRefType>(op.getInput().getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  OpBuilder &b = host.builder;
  Value index = arith::ConstantIndexOp::create(b, host.loc, dim);
  Value size = memref::DimOp::create(b, host.loc, op.getInput(), index);
  return Int(arith::IndexCastOp::create(b, host.loc, b.getI64Type(), size));
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Tile number `tile`; those side by side in the output follow each other.
void TransposeKernel::locateTile(Int tile) {
  int64_t side = kSide * perWord;
  Digits digits{k, tile};
  Int inputOffset = 0, outputOffset = 0;
  auto advance = [&](unsigned dim, Int position) {
    inputOffset =
        k.add(inputOffset, k.mul(k.extend(position), input.strides[dim]));
    outputOffset =
        k.add(outputOffset, k.mul(k.extend(position), output.strides[dim]));
  };
  auto takeSide = [&](unsigned dim) {
    Int start = k.mul(digits.take(k.ceilDiv(sizes[dim], side)), side);
    advance(dim, start);
    return k.truncate(
        Int(k.materialize(k.min(k.sub(sizes[dim], start), side))));
  };
  outputLeft = takeSide(outputDim);
  inputLeft = takeSide(inputDim);
  for (unsigned dim = sizes.size(); dim-- > 0;)
    if (dim != inputDim && dim != outputDim)
      advance(dim, digits.take(sizes[dim]));
  inputStart = k.offsetElements(input.base, element, inputOffset);
  outputStart = k.offsetElements(output.base, element, outputOffset);
}

/// The element of `array` at a place of the tile.
Value TransposeKernel::locate(const StepArray &array, Value start,
                              Int inputPlace, Int outputPlace) {
  Int offset = k.add(k.mul(k.extend(inputPlace), array.strides[inputDim]),
                     k.mul(k.extend(outputPlace), array.strides[outputDim]));
  return k.offsetElements(start, element, offset);
}

/// Shared memory of what is at `place` of a line of the output.
Value TransposeKernel::getSlot(Int line, Int place) {
  int64_t bytes = std::max<int64_t>(elementBytes, 4);
  return k.shared(
      k.add(k.mul(k.add(k.mul(line, kPitch), place), bytes), sharedOffset));
}

/// Two neighbours of the input, of which the second one may not exist.
Value TransposeKernel::loadPair(Int inputPlace, Int outputPlace, bool inPairs) {
  if (inPairs)
    return k.load(word, locate(input, inputStart, inputPlace, outputPlace),
                  CacheHint::ReadOnly);
  Int last = k.sub(inputLeft, 1);
  SmallVector<Value> halves;
  for (int64_t half : {0, 1})
    halves.push_back(
        k.load(element,
               locate(input, inputStart, k.min(k.add(inputPlace, half), last),
                      outputPlace),
               CacheHint::ReadOnly));
  return k.bitcast(k.makeVector(halves), word);
}

void TransposeKernel::storePair(Value pair, Int inputPlace, Int outputPlace,
                                bool inPairs) {
  if (inPairs)
    return k.store(pair, locate(output, outputStart, inputPlace, outputPlace));
  SmallVector<Value> halves =
      k.unpack(k.bitcast(pair, VectorType::get({2}, element)));
  for (auto [half, value] : llvm::enumerate(halves)) {
    Int place = k.add(outputPlace, int64_t(half));
    k.ifThen(k.less(place, outputLeft), [&, value = value] {
      k.store(value, locate(output, outputStart, inputPlace, place));
    });
  }
}

/// Brings the tile to shared memory. Places that do not exist repeat the last
/// ones that do: all loads are under way together.
void TransposeKernel::loadTile(bool inPairs) {
  Int lane = k.laneId();
  auto clamp = [&](Int place, Int left, int64_t width) {
    return k.min(place, k.sub(left, width));
  };
  SmallVector<Value> words;
  int64_t warps = kThreads / 32, rounds = kSide / warps;
  for (int64_t round = 0; round < rounds; ++round) {
    Int line = k.add(k.warpId(), round * warps);
    Int inputPlace = clamp(k.mul(lane, perWord), inputLeft, inPairs ? 2 : 1);
    for (int64_t half = 0; half < perWord; ++half) {
      Int outputPlace = clamp(k.add(k.mul(line, perWord), half), outputLeft, 1);
      words.push_back(
          perWord == 2
              ? loadPair(inputPlace, outputPlace, inPairs)
              : k.load(word, locate(input, inputStart, inputPlace, outputPlace),
                       CacheHint::ReadOnly));
    }
  }
  auto pair = [&](Value first, Value second, StringRef selector) {
    return k
        .inlinePTX({word}, ("prmt.b32 $0, $1, $2, " + selector + ";").str(),
                   "=r,r,r", {first, second}, /*hasSideEffects=*/false)
        .front();
  };
  for (int64_t round = 0; round < rounds; ++round) {
    Int line = k.add(k.warpId(), round * warps);
    if (perWord == 1) {
      k.store(words[round], getSlot(lane, line));
      continue;
    }
    Value first = words[2 * round], second = words[2 * round + 1];
    k.store(pair(first, second, "0x5410"), getSlot(k.mul(lane, 2), line));
    k.store(pair(first, second, "0x7632"),
            getSlot(k.add(k.mul(lane, 2), 1), line));
  }
}

/// Stores the lines of the output.
void TransposeKernel::storeTile(bool inPairs) {
  int64_t warps = kThreads / 32;
  Int place = k.mul(k.laneId(), perWord);
  for (int64_t round = 0; round < kSide * perWord / warps; ++round) {
    Int line = k.add(k.warpId(), round * warps);
    Value exists = k.both(k.less(line, inputLeft), k.less(place, outputLeft));
    k.ifThen(exists, [&] {
      Value value = k.load(word, getSlot(line, k.laneId()));
      if (perWord == 2)
        return storePair(value, line, place, inPairs);
      k.store(value, locate(output, outputStart, line, place));
    });
  }
}

void TransposeKernel::emitTile(bool inPairs) {
  // The tile before this one has been read.
  k.barrier();
  loadTile(inPairs);
  k.barrier();
  storeTile(inPairs);
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

/// On the host: a number that is even if all pairs lie at multiples of their
/// size.
Int TransposeKernel::getPairBits() {
  Int bits = 0;
  bool isOdd = false;
  auto include = [&](Int number) {
    isOdd |= number.isConstant() && number.getConstant() % 2 != 0;
    bits = host.bitOr(bits, number);
  };
  include(getSize(inputDim));
  include(getSize(outputDim));
  auto add = [&](Value memref, unsigned alongDim,
                 ArrayRef<int64_t> permutation) {
    StepArray array = getFusedArray(host, memref, permutation);
    Value address = LLVM::PtrToIntOp::create(
        host.builder, host.loc, host.builder.getI64Type(), array.base);
    include(host.floorDiv(Int(address), 2));
    for (auto [dim, stride] : llvm::enumerate(array.strides))
      if (dim != alongDim && !sizes[dim].is(1))
        include(stride);
  };
  add(op.getInput(), inputDim, {});
  add(op.getInit(), outputDim, invertPermutationVector(op.getPermutation()));
  return isOdd ? Int(1) : host.bitAnd(bits, 1);
}

void TransposeKernel::emit() {
  input = k.enter(getFusedArray(host, op.getInput()));
  output = k.enter(getFusedArray(host, op.getInit(),
                                 invertPermutationVector(op.getPermutation())));
  int64_t side = kSide * perWord;
  Int tiles = 1;
  for (unsigned dim = 0; dim < input.strides.size(); ++dim) {
    Int size = getSize(dim);
    sizes.push_back(k.enter(size));
    bool isSide = dim == inputDim || dim == outputDim;
    tiles = host.mul(tiles, isSide ? host.ceilDiv(size, side) : size);
  }
  Int oddBits = perWord == 2 ? getPairBits() : 0;
  Value isEven;
  if (!oddBits.isConstant())
    isEven = k.equal(k.truncate(k.enter(oddBits)), 0);
  int64_t bytes = std::max<int64_t>(elementBytes, 4);
  sharedOffset = k.allocateShared(side * kPitch * bytes);
  k.forTiles(k.enter(tiles), [&](Int tile) {
    locateTile(tile);
    if (!isEven)
      return emitTile(perWord == 2 && oddBits.is(0));
    k.choose(
        isEven, [&] { emitTile(true); }, [&] { emitTile(false); });
  });
  LaunchShape shape;
  shape.threads = kThreads;
  shape.ctasPerSM = kThreadsPerSM / kThreads;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, tiles);
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

/// The dimension of an array with more than one position along which neighbours
/// in memory lie, if that is known; -1 otherwise.
static int getInnermostDim(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return -1;
  for (unsigned dim = type.getRank(); dim-- > 0;)
    if (type.getDimSize(dim) != 1)
      return strides[dim] == 1 ? int(dim) : -1;
  return -1;
}

bool kron::emitTransposeKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               linalg::LinalgOp op) {
  auto transpose = dyn_cast<linalg::TransposeOp>(*op);
  if (!transpose || !op.hasPureBufferSemantics())
    return false;
  auto type = cast<MemRefType>(transpose.getInput().getType());
  int inputDim = getInnermostDim(type);
  int last = getInnermostDim(cast<MemRefType>(transpose.getInit().getType()));
  int64_t bytes = kron::getElementBytes(type.getElementType());
  if (inputDim < 0 || last < 0 || bytes < 2 || bytes > 8)
    return false;
  unsigned outputDim = transpose.getPermutation()[last];
  if (int(outputDim) == inputDim)
    return false;
  TransposeKernel(builder, gpuModule, transpose, inputDim, outputDim).emit();
  return true;
}
