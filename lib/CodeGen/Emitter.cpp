//===- Emitter.cpp - Folding builder for loops and addresses ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/Emitter.h"
#include "kron/CodeGen/NarrowFloats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Width of the value of `number`, or the width that a constant needs.
static unsigned getBits(const Emitter &emitter, Int number) {
  if (Value value = number.getValue())
    return value.getType().getIntOrFloatBitWidth();
  return llvm::isInt<32>(number.getConstant()) ? emitter.indexBits : 64;
}

Value Emitter::materialize(Int number, unsigned bits) {
  if (!bits)
    bits = getBits(*this, number);
  Value value = number.getValue();
  if (!value)
    return arith::ConstantIntOp::create(builder, loc, number.getConstant(),
                                        bits);
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  if (width < bits)
    return arith::ExtSIOp::create(builder, loc, type, value);
  if (width > bits)
    return arith::TruncIOp::create(builder, loc, type, value);
  return value;
}

template <typename OpTy>
static Int emitBinary(Emitter &emitter, Int lhs, Int rhs) {
  unsigned bits = std::max(getBits(emitter, lhs), getBits(emitter, rhs));
  Value left = emitter.materialize(lhs, bits);
  Value right = emitter.materialize(rhs, bits);
  return Int(OpTy::create(emitter.builder, emitter.loc, left, right));
}

Int Emitter::add(Int lhs, Int rhs) {
  if (lhs.is(0))
    return rhs;
  if (rhs.is(0))
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() + rhs.getConstant();
  return emitBinary<arith::AddIOp>(*this, lhs, rhs);
}

Int Emitter::sub(Int lhs, Int rhs) {
  if (rhs.is(0))
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() - rhs.getConstant();
  return emitBinary<arith::SubIOp>(*this, lhs, rhs);
}

Int Emitter::mul(Int lhs, Int rhs) {
  if (lhs.is(0) || rhs.is(0))
    return 0;
  if (lhs.is(1))
    return rhs;
  if (rhs.is(1))
    return lhs;
  // Wraps as arith.muli does, for arrays that no machine can hold.
  if (lhs.isConstant() && rhs.isConstant())
    return static_cast<int64_t>(static_cast<uint64_t>(lhs.getConstant()) *
                                static_cast<uint64_t>(rhs.getConstant()));
  return emitBinary<arith::MulIOp>(*this, lhs, rhs);
}

Int Emitter::floorDiv(Int lhs, Int rhs) {
  if (rhs.is(1) || lhs.is(0))
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() / rhs.getConstant();
  return emitBinary<arith::DivUIOp>(*this, lhs, rhs);
}

Int Emitter::ceilDiv(Int lhs, Int rhs) {
  return floorDiv(add(lhs, sub(rhs, 1)), rhs);
}

Int Emitter::rem(Int lhs, Int rhs) {
  if (rhs.is(1) || lhs.is(0))
    return 0;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() % rhs.getConstant();
  return emitBinary<arith::RemUIOp>(*this, lhs, rhs);
}

Int Emitter::min(Int lhs, Int rhs) {
  if (lhs == rhs)
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return std::min(lhs.getConstant(), rhs.getConstant());
  return emitBinary<arith::MinSIOp>(*this, lhs, rhs);
}

Int Emitter::max(Int lhs, Int rhs) {
  if (lhs == rhs)
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return std::max(lhs.getConstant(), rhs.getConstant());
  return emitBinary<arith::MaxSIOp>(*this, lhs, rhs);
}

Int Emitter::bitAnd(Int lhs, Int rhs) {
  if (lhs.is(0) || rhs.is(0))
    return 0;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() & rhs.getConstant();
  return emitBinary<arith::AndIOp>(*this, lhs, rhs);
}

Int Emitter::bitOr(Int lhs, Int rhs) {
  if (lhs.is(0))
    return rhs;
  if (rhs.is(0))
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() | rhs.getConstant();
  return emitBinary<arith::OrIOp>(*this, lhs, rhs);
}

Int Emitter::bitXor(Int lhs, Int rhs) {
  if (lhs.is(0))
    return rhs;
  if (rhs.is(0))
    return lhs;
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() ^ rhs.getConstant();
  return emitBinary<arith::XOrIOp>(*this, lhs, rhs);
}

Int Emitter::extend(Int number) {
  return number.isConstant() ? number : Int(materialize(number, 64));
}

Int Emitter::truncate(Int number) {
  return number.isConstant() ? number : Int(materialize(number, 32));
}

static Value emitCompare(Emitter &emitter, arith::CmpIPredicate predicate,
                         Int lhs, Int rhs) {
  unsigned bits = std::max(getBits(emitter, lhs), getBits(emitter, rhs));
  return arith::CmpIOp::create(emitter.builder, emitter.loc, predicate,
                               emitter.materialize(lhs, bits),
                               emitter.materialize(rhs, bits));
}

Value Emitter::less(Int lhs, Int rhs) {
  return emitCompare(*this, arith::CmpIPredicate::slt, lhs, rhs);
}

Value Emitter::equal(Int lhs, Int rhs) {
  return emitCompare(*this, arith::CmpIPredicate::eq, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Emitter::forLoop(Int begin, Int end, Int step,
                      function_ref<void(Int)> body) {
  if (begin.isConstant() && end.isConstant()) {
    int64_t extent = end.getConstant() - begin.getConstant();
    if (extent <= 0)
      return;
    if (step.isConstant() && extent <= step.getConstant())
      return body(begin);
  }
  unsigned bits = std::max(getBits(*this, begin), getBits(*this, end));
  bits = std::max(bits, getBits(*this, step));
  auto loop =
      scf::ForOp::create(builder, loc, materialize(begin, bits),
                         materialize(end, bits), materialize(step, bits));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(Int(loop.getInductionVar()));
}

SmallVector<Value>
Emitter::forLoop(int64_t begin, int64_t end, int64_t step, ValueRange carried,
                 function_ref<SmallVector<Value>(Int, ValueRange)> body) {
  if (end <= begin)
    return carried;
  if (end - begin <= step)
    return body(begin, carried);
  auto loop = scf::ForOp::create(builder, loc, materialize(begin),
                                 materialize(end), materialize(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(Int(loop.getInductionVar()), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, results);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::offsetPointer(Value base, Int offset, Type stored) {
  if (offset.is(0))
    return base;
  SmallVector<LLVM::GEPArg> indices;
  // A GEP takes larger constants only as values.
  if (offset.isConstant() &&
      llvm::isInt<LLVM::kGEPConstantBitWidth>(offset.getConstant()))
    indices.push_back(static_cast<int32_t>(offset.getConstant()));
  else
    indices.push_back(materialize(offset));
  return LLVM::GEPOp::create(builder, loc, base.getType(),
                             stored ? stored : element, base, indices);
}

/// Alignment that arrays of `type`, or of what it is a vector of, have.
static unsigned getAlignment(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

/// `type`, or a vector like it, with 16-bit integers in place of its elements.
static Type getBitsType(Type type, OpBuilder &builder) {
  Type bits = builder.getI16Type();
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(bits);
  return bits;
}

Value Emitter::loadScalar(Value pointer, Type stored) {
  if (!stored || stored == element)
    return LLVM::LoadOp::create(builder, loc, element, pointer,
                                getAlignment(element));
  Value bits =
      LLVM::LoadOp::create(builder, loc, builder.getI16Type(), pointer);
  return emitWidened(*this, bits, stored);
}

void Emitter::storeScalar(Value value, Value pointer, Type stored) {
  if (stored && stored != element)
    value = emitNarrowed(*this, value, stored);
  LLVM::StoreOp::create(builder, loc, value, pointer,
                        getAlignment(value.getType()));
}

Value Emitter::loadVector(VectorType type, Value pointer, Value mask,
                          Type stored) {
  bool converts = stored && stored != element;
  Type loaded = converts ? getBitsType(type, builder) : type;
  unsigned alignment = getAlignment(loaded);
  Value value;
  if (mask)
    value = LLVM::MaskedLoadOp::create(builder, loc, loaded, pointer, mask,
                                       zero(loaded), alignment);
  else
    value = LLVM::LoadOp::create(builder, loc, loaded, pointer, alignment);
  return converts ? emitWidened(*this, value, stored) : value;
}

/// The lane that `mask` sets if it is a constant that sets one only.
static std::optional<int64_t> getOnlyLane(Value mask) {
  DenseElementsAttr bits;
  if (!mask || !matchPattern(mask, m_Constant(&bits)))
    return std::nullopt;
  std::optional<int64_t> only;
  for (auto [lane, bit] : llvm::enumerate(bits.getValues<bool>())) {
    if (bit && only)
      return std::nullopt;
    if (bit)
      only = lane;
  }
  return only;
}

/// How many of the first lanes `mask` sets, if it is a constant that sets no
/// others.
static std::optional<int64_t> getFirstLanes(Value mask) {
  DenseElementsAttr bits;
  if (!mask || !matchPattern(mask, m_Constant(&bits)))
    return std::nullopt;
  auto values = llvm::to_vector(bits.getValues<bool>());
  int64_t count = llvm::count(values, true);
  return llvm::all_of(ArrayRef(values).take_front(count),
                      [](bool bit) { return bit; })
             ? std::optional<int64_t>(count)
             : std::nullopt;
}

/// Stores the first `count` lanes of `vector` as parts whose sizes are powers
/// of two.
static void emitParts(Emitter &emitter, Value vector, Value pointer,
                      int64_t count) {
  OpBuilder &builder = emitter.builder;
  Type element = getElementTypeOrSelf(vector.getType());
  for (int64_t lane = 0; lane < count;) {
    int64_t size = llvm::bit_floor<uint64_t>(count - lane);
    Value part =
        size == 1
            ? vector::ExtractOp::create(builder, emitter.loc, vector, lane)
                  .getResult()
            : vector::ShuffleOp::create(
                  builder, emitter.loc, vector, vector,
                  llvm::to_vector(llvm::seq<int64_t>(lane, lane + size)))
                  .getResult();
    LLVM::StoreOp::create(builder, emitter.loc, part,
                          emitter.offsetPointer(pointer, lane, element),
                          getAlignment(element));
    lane += size;
  }
}

void Emitter::storeVector(Value vector, Value pointer, Value mask, Type stored,
                          bool streams) {
  if (stored && stored != element) {
    vector = emitNarrowed(*this, vector, stored);
    // LLVM 22 makes one lane of a truncated vector a store of what it was
    // truncated from, twice as wide (AVX-512).
    if (std::optional<int64_t> lane = getOnlyLane(mask)) {
      Value number = vector::ExtractOp::create(builder, loc, vector, *lane);
      LLVM::StoreOp::create(builder, loc, number,
                            offsetPointer(pointer, *lane, stored));
      return;
    }
  }
  unsigned alignment = getAlignment(vector.getType());
  if (mask) {
    if (std::optional<int64_t> count = getFirstLanes(mask);
        count && !hasLaneMasks)
      return emitParts(*this, vector, pointer, *count);
    LLVM::MaskedStoreOp::create(builder, loc, vector, pointer, mask, alignment);
    return;
  }
  if (streams)
    alignment *= cast<VectorType>(vector.getType()).getNumElements();
  LLVM::StoreOp::create(builder, loc, vector, pointer, alignment,
                        /*isVolatile=*/false, /*isNonTemporal=*/streams);
}

void Emitter::prefetch(Value pointer) {
  // To be read, locality 2 (prefetcht1), data.
  LLVM::Prefetch::create(builder, loc, pointer, /*rw=*/0, /*hint=*/2,
                         /*cache=*/1);
}

Value Emitter::zero(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value Emitter::firstLanes(int64_t lanes, Int count) {
  lanes *= getNumParts();
  count = mul(count, getNumParts());
  if (count.isConstant()) {
    if (count.getConstant() >= lanes)
      return nullptr;
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), count.getConstant(), true);
    auto type = VectorType::get({lanes}, builder.getI1Type());
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, bits));
  }
  // Clamped first, so that 32-bit lane numbers hold it; what is left of an axis
  // can be anything.
  Value clamped = arith::MinSIOp::create(
      builder, loc, count.getValue(),
      arith::ConstantIntOp::create(builder, loc, lanes, 64));
  Value limit =
      arith::TruncIOp::create(builder, loc, builder.getI32Type(), clamped);
  auto type = VectorType::get({lanes}, builder.getI32Type());
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Value numbered = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  return arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, numbered,
      vector::BroadcastOp::create(builder, loc, type, limit));
}
