//===- AmxTile.cpp - Matrix tiles of the processor ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "AmxTile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static void emitCall(Emitter &emitter, StringRef name, ValueRange arguments) {
  OpBuilder &builder = emitter.builder;
  LLVM::CallIntrinsicOp::create(builder, emitter.loc,
                                builder.getStringAttr(name), arguments);
}

static Value getTile(Emitter &emitter, int64_t number) {
  return arith::ConstantIntOp::create(emitter.builder, emitter.loc, number, 8);
}

/// Addresses are in bytes.
static Value offsetBytes(Emitter &emitter, Value base, Int bytes) {
  return emitter.offsetPointer(base, bytes, emitter.builder.getI8Type());
}

static void emitTileLoad(Emitter &emitter, int64_t tile, Value pointer,
                         Int rowBytes) {
  emitCall(
      emitter, "llvm.x86.tileloadd64",
      {getTile(emitter, tile), pointer, emitter.materialize(rowBytes, 64)});
}

Value kron::allocateLines(Emitter &emitter, int64_t bytes) {
  OpBuilder &builder = emitter.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto function =
      builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = arith::ConstantIntOp::create(builder, emitter.loc, bytes, 64);
  return LLVM::AllocaOp::create(
      builder, emitter.loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI8Type(), size, /*alignment=*/64);
}

void kron::emitAmxConfiguration(Emitter &emitter) {
  // Palette 1; from byte 16 on the bytes of a row, from byte 48 on the rows, of
  // eight tiles each.
  constexpr int64_t kBytes = 64, kRowBytesAt = 16, kRowsAt = 48, kTiles = 8;
  SmallVector<int8_t> bytes(kBytes, 0);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    bytes[kRowBytesAt + 2 * tile] = kAmxTileBytes / kAmxRows;
    bytes[kRowsAt + tile] = kAmxRows;
  }
  OpBuilder &builder = emitter.builder;
  auto type = VectorType::get({kBytes}, builder.getI8Type());
  Value configuration = arith::ConstantOp::create(
      builder, emitter.loc,
      DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
  Value memory = allocateLines(emitter, kBytes);
  LLVM::StoreOp::create(builder, emitter.loc, configuration, memory);
  emitCall(emitter, "llvm.x86.ldtilecfg", memory);
}

void kron::emitAmxRelease(Emitter &emitter) {
  emitCall(emitter, "llvm.x86.tilerelease", {});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Numbers of the tile registers: results, then A, then B.
static int64_t getResultTile(int64_t row, int64_t column) {
  return row * kAmxBlockTiles + column;
}
static constexpr int64_t kFirstA = kAmxBlockTiles * kAmxBlockTiles;
static constexpr int64_t kFirstB = kFirstA + kAmxBlockTiles;

/// One tile of k of a block; `low`: of the parts that are added, which the
/// other operand is in registers for already.
static void emitKStep(Emitter &emitter, const AmxBlock &block, Int positionK,
                      bool low) {
  auto load = [&](const AmxOperand &operand, int64_t first, int64_t index) {
    if (low && !operand.lowBytes)
      return;
    Int offset = emitter.add(emitter.mul(operand.tileBytes, index),
                             emitter.mul(operand.bytesK, positionK));
    emitTileLoad(emitter, first + index,
                 offsetBytes(emitter, operand.base,
                             emitter.add(offset, low ? operand.lowBytes : 0)),
                 operand.rowBytes);
  };
  for (int64_t row = 0; row < block.rows; ++row) {
    load(block.a, kFirstA, row);
    for (int64_t column = 0; column < block.columns; ++column) {
      if (row == 0)
        load(block.b, kFirstB, column);
      emitCall(emitter, "llvm.x86.tdpbf16ps",
               {getTile(emitter, getResultTile(row, column)),
                getTile(emitter, kFirstA + row),
                getTile(emitter, kFirstB + column)});
    }
  }
}

void kron::emitAmxBlock(Emitter &emitter, const AmxBlock &block, Value results,
                        Int rowBytes) {
  // Beyond so many tiles of k the loop stays.
  constexpr int64_t kMaxUnrolled = 4;
  auto forResults = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t row = 0; row < block.rows; ++row)
      for (int64_t column = 0; column < block.columns; ++column)
        body(row, column);
  };
  forResults([&](int64_t row, int64_t column) {
    emitCall(emitter, "llvm.x86.tilezero",
             getTile(emitter, getResultTile(row, column)));
  });
  auto emitStepOfK = [&](Int positionK) {
    emitKStep(emitter, block, positionK, /*low=*/false);
    if (block.a.lowBytes || block.b.lowBytes)
      emitKStep(emitter, block, positionK, /*low=*/true);
  };
  if (block.sizeK <= kMaxUnrolled)
    for (int64_t positionK = 0; positionK < block.sizeK; ++positionK)
      emitStepOfK(positionK);
  else
    emitter.forLoop(0, block.sizeK, 1, emitStepOfK);
  Value stride = emitter.materialize(rowBytes, 64);
  forResults([&](int64_t row, int64_t column) {
    Int offset = emitter.add(emitter.mul(rowBytes, row * kAmxRows),
                             column * kAmxTileBytes / kAmxRows);
    emitCall(emitter, "llvm.x86.tilestored64",
             {getTile(emitter, getResultTile(row, column)),
              offsetBytes(emitter, results, offset), stride});
  });
}

//===----------------------------------------------------------------------===//
// Filling tiles
//===----------------------------------------------------------------------===//

namespace {

/// A vector of values as two bf16 each, in the upper halves of i32: cut off
/// after 8 bits, and the residual, cut off after 8 more.
struct Parts {
  Value high, low;
};

} // namespace

static constexpr int64_t kHalfBits = 16;

static Value emitInteger(Emitter &emitter, VectorType type, int64_t number) {
  return arith::ConstantOp::create(
      emitter.builder, emitter.loc,
      DenseElementsAttr::get(
          type, emitter.builder.getIntegerAttr(type.getElementType(), number)));
}

/// `value & 0xffff0000`, of i32.
static Value emitUpperHalf(Emitter &emitter, Value bits) {
  auto type = cast<VectorType>(bits.getType());
  return arith::AndIOp::create(emitter.builder, emitter.loc, bits,
                               emitInteger(emitter, type, ~0xffff));
}

/// `value >> 16`, of i32.
static Value emitLowerHalf(Emitter &emitter, Value bits) {
  auto type = cast<VectorType>(bits.getType());
  return arith::ShRUIOp::create(emitter.builder, emitter.loc, bits,
                                emitInteger(emitter, type, kHalfBits));
}

/// Loads `lanes` values of `matrix`; bits below the upper halves are not
/// cleared.
static Parts loadParts(Emitter &emitter, const AmxMatrix &matrix, Value pointer,
                       int64_t lanes, Value mask, bool splits) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type number = matrix.element;
  auto words = VectorType::get({lanes}, builder.getI32Type());
  if (!number.isF32()) {
    Emitter halves(builder, loc, builder.getI16Type());
    Value bits = halves.loadVector(halves.getVectorType(lanes), pointer, mask);
    Value wide = arith::ExtUIOp::create(builder, loc, words, bits);
    Value shift = emitInteger(emitter, words, kHalfBits);
    return {arith::ShLIOp::create(builder, loc, wide, shift), nullptr};
  }
  Value value = emitter.loadVector(emitter.getVectorType(lanes), pointer, mask);
  Parts parts;
  parts.high = arith::BitcastOp::create(builder, loc, words, value);
  if (!splits)
    return parts;
  Value high = arith::BitcastOp::create(builder, loc, value.getType(),
                                        emitUpperHalf(emitter, parts.high));
  Value residual = arith::SubFOp::create(builder, loc, value, high);
  // Infinity leaves no residual, rather than NaN.
  Value isNumber = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ORD, residual, residual);
  residual = arith::SelectOp::create(builder, loc, isNumber, residual,
                                     emitter.zero(residual.getType()));
  parts.low = arith::BitcastOp::create(builder, loc, words, residual);
  return parts;
}

/// Loads i32 from `pointer` plus `stride` elements of bf16 from lane to lane.
static Value emitGather(Emitter &emitter, Value pointer, int64_t stride,
                        Value mask) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  constexpr int64_t kLanes = kAmxK / 2;
  auto words = VectorType::get({kLanes}, builder.getI32Type());
  SmallVector<int32_t> offsets;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    offsets.push_back(lane * stride);
  Value indices = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(words, ArrayRef<int32_t>(offsets)));
  Value pointers = LLVM::GEPOp::create(
      builder, loc, VectorType::get({kLanes}, pointer.getType()),
      builder.getI16Type(), pointer, ArrayRef<LLVM::GEPArg>{indices});
  if (!mask)
    mask = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(VectorType::get({kLanes}, builder.getI1Type()),
                               true));
  return LLVM::masked_gather::create(builder, loc, words, pointers, mask,
                                     ValueRange(emitter.zero(words)),
                                     builder.getI32IntegerAttr(2));
}

/// Rows whose elements are `strideK` apart. Elements are loaded with what
/// lies behind the first, or before the second one of a pair, which exists.
static void emitGatheredRows(Emitter &emitter, const AmxMatrix &matrix,
                             Int count, Value target, int64_t rowBytes) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Emitter halves(builder, loc, builder.getI16Type());
  Emitter words(builder, loc, builder.getI32Type());
  constexpr int64_t kLanes = kAmxK / 2;
  auto type = words.getVectorType(kLanes);
  int64_t stride = matrix.strideK.getConstant();
  emitter.forLoop(0, count, 1, [&](Int index) {
    Value source = halves.offsetPointer(matrix.base,
                                        emitter.mul(index, matrix.indexStride));
    Value row = offsetBytes(emitter, target, emitter.mul(index, rowBytes));
    auto copyTile = [&](Int k, Value mask) {
      Value even = halves.offsetPointer(source, emitter.mul(k, stride));
      Value odd = halves.offsetPointer(even, stride - 1);
      Value low = arith::AndIOp::create(
          builder, loc, emitGather(emitter, even, 2 * stride, mask),
          emitInteger(emitter, type, 0xffff));
      Value high =
          emitUpperHalf(emitter, emitGather(emitter, odd, 2 * stride, mask));
      words.storeVector(arith::OrIOp::create(builder, loc, low, high),
                        halves.offsetPointer(row, k), nullptr);
    };
    int64_t full = matrix.sizeK / kAmxK * kAmxK;
    emitter.forLoop(0, full, kAmxK, [&](Int k) { copyTile(k, nullptr); });
    if (full < matrix.sizeK)
      copyTile(full, words.firstLanes(kLanes, (matrix.sizeK - full) / 2));
  });
}

void kron::emitAmxRows(Emitter &emitter, const AmxMatrix &matrix, Int count,
                       Value target, int64_t rowBytes, int64_t lowBytes) {
  if (!matrix.strideK.is(1))
    return emitGatheredRows(emitter, matrix, count, target, rowBytes);
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Emitter halves(builder, loc, builder.getI16Type());
  bool converts = matrix.element.isF32();
  int64_t lanes = converts ? kAmxK / 2 : kAmxK;
  auto half = VectorType::get({lanes}, builder.getI16Type());
  auto copyVector = [&](Value source, Value row, Int k, Value mask) {
    Value from = emitter.offsetPointer(source, k, matrix.element);
    Value to = halves.offsetPointer(row, k);
    if (!converts)
      return halves.storeVector(halves.loadVector(half, from, mask), to,
                                nullptr);
    Parts parts = loadParts(emitter, matrix, from, lanes, mask, lowBytes != 0);
    auto store = [&](Value bits, int64_t offset) {
      bits = emitLowerHalf(emitter, bits);
      halves.storeVector(arith::TruncIOp::create(builder, loc, half, bits),
                         offsetBytes(emitter, to, offset), nullptr);
    };
    store(parts.high, 0);
    if (lowBytes)
      store(parts.low, lowBytes);
  };
  int64_t full = matrix.sizeK / lanes * lanes;
  emitter.forLoop(0, count, 1, [&](Int index) {
    Value source = emitter.offsetPointer(
        matrix.base, emitter.mul(index, matrix.indexStride), matrix.element);
    Value row = offsetBytes(emitter, target, emitter.mul(index, rowBytes));
    emitter.forLoop(0, full, lanes,
                    [&](Int k) { copyVector(source, row, k, nullptr); });
    for (int64_t k = full; k < matrix.getPaddedK(); k += lanes)
      copyVector(
          source, row, k,
          emitter.firstLanes(lanes, std::max<int64_t>(matrix.sizeK - k, 0)));
  });
}

void kron::emitAmxPairs(Emitter &emitter, const AmxMatrix &matrix, Int count,
                        Value target, int64_t lowBytes) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Emitter words(builder, loc, builder.getI32Type());
  constexpr int64_t kLanes = kAmxRows;
  Value mask = emitter.firstLanes(kLanes, count);
  Value zero = emitter.zero(words.getVectorType(kLanes));
  auto load = [&](Int k, bool exists) -> Parts {
    if (!exists)
      return {zero, zero};
    Value pointer = emitter.offsetPointer(
        matrix.base, emitter.mul(k, matrix.strideK), matrix.element);
    return loadParts(emitter, matrix, pointer, kLanes, mask, lowBytes != 0);
  };
  auto emitPair = [&](Int pair, int64_t present) {
    Int k = emitter.mul(pair, 2);
    Parts even = load(k, present > 0),
          odd = load(emitter.add(k, 1), present > 1);
    Value to = offsetBytes(emitter, target,
                           emitter.mul(pair, kAmxTileBytes / kAmxRows));
    auto store = [&](Value first, Value second, int64_t offset) {
      Value both =
          arith::OrIOp::create(builder, loc, emitLowerHalf(emitter, first),
                               emitUpperHalf(emitter, second));
      words.storeVector(both, offsetBytes(emitter, to, offset), nullptr);
    };
    store(even.high, odd.high, 0);
    if (lowBytes)
      store(even.low, odd.low, lowBytes);
  };
  int64_t full = matrix.sizeK / 2, total = matrix.getPaddedK() / 2;
  emitter.forLoop(0, full, 1, [&](Int pair) { emitPair(pair, 2); });
  if (matrix.sizeK % 2)
    emitPair(full, 1);
  emitter.forLoop(llvm::divideCeil(matrix.sizeK, 2), total, 1,
                  [&](Int pair) { emitPair(pair, 0); });
}
