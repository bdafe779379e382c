//===- Prefetcher.cpp - Memory while a register tile is computed ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Prefetcher.h"
#include "kron/Machine/CPUForms.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

void Prefetcher::append(const PrefetchStream &stream, Value pointer,
                        int64_t size, int64_t begin) {
  Emitter bytes(emitter.builder, emitter.loc, emitter.builder.getI8Type());
  size = std::min(size, stream.mostLines * kLineBytes);
  Value result;
  if (stream.resultOffset)
    result = bytes.offsetPointer(pointer, stream.resultOffset);
  for (int64_t offset = begin; offset < size; offset += kLineBytes) {
    lines.push_back({pointer, offset});
    if (result)
      lines.push_back({result, offset});
  }
}

Value Prefetcher::appendPart(const PrefetchStream &stream, Value pointer,
                             int64_t size) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Emitter bytes(builder, loc, builder.getI8Type());
  Value position =
      LLVM::LoadOp::create(builder, loc, builder.getI64Type(), stream.position);
  append(stream, bytes.offsetPointer(pointer, position), size,
         (stream.segmentBytes - 1) % kLineBytes);
  Value next = bytes.materialize(bytes.add(position, size));
  Value isInside = bytes.less(next, stream.segmentBytes);
  Value start = bytes.materialize(0);
  next = arith::SelectOp::create(builder, loc, isInside, next, start);
  LLVM::StoreOp::create(builder, loc, next, stream.position);
  return arith::SelectOp::create(builder, loc, isInside, pointer,
                                 bytes.offsetPointer(pointer, stream.stride));
}

Value Prefetcher::appendSegments(const PrefetchStream &stream, Value pointer,
                                 double share) {
  Emitter bytes(emitter.builder, emitter.loc, emitter.builder.getI8Type());
  auto segments = std::max<int64_t>(
      1, static_cast<int64_t>(std::ceil(share / stream.segmentBytes)));
  int64_t linesOfOne = llvm::divideCeil(stream.segmentBytes, kLineBytes);
  int64_t asked =
      std::min(segments, std::max<int64_t>(1, stream.mostLines / linesOfOne));
  linesOfSegment = std::min(linesOfOne, stream.mostLines);
  segmentStride = stream.stride;
  for (int64_t segment = 0; segment < asked; ++segment) {
    // One that starts within a line ends in one more, which is wanted more than
    // the first: the tile or slice beside it in memory has been taken before
    // and has left that in a cache.
    append(stream, pointer, stream.segmentBytes,
           (stream.segmentBytes - 1) % kLineBytes);
    pointer = bytes.offsetPointer(pointer, stream.stride);
  }
  return bytes.offsetPointer(pointer,
                             bytes.mul(segments - asked, stream.stride));
}

Prefetcher::Prefetcher(Emitter &emitter, const PrefetchStream &stream,
                       int64_t fmas)
    : emitter(emitter) {
  if (!stream.slot)
    return;
  OpBuilder &builder = emitter.builder;
  Emitter bytes(builder, emitter.loc, builder.getI8Type());
  double share = stream.bytesPerFma * static_cast<double>(fmas);
  int64_t whole =
      llvm::alignTo(static_cast<int64_t>(std::ceil(share)), kLineBytes);
  Value pointer = LLVM::LoadOp::create(builder, emitter.loc,
                                       stream.slot.getType(), stream.slot);
  numStarts = stream.resultOffset ? 2 : 1;
  if (!stream.segmentBytes) {
    auto step = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(share)));
    append(stream, pointer, step, 0);
    pointer = bytes.offsetPointer(pointer, step);
  } else if (stream.position && 2 * whole <= stream.segmentBytes) {
    pointer = appendPart(stream, pointer, whole);
  } else {
    pointer = appendSegments(stream, pointer, share);
  }
  LLVM::StoreOp::create(builder, emitter.loc, pointer, stream.slot);
}

void Prefetcher::emit(const Line &line) {
  Emitter bytes(emitter.builder, emitter.loc, emitter.builder.getI8Type());
  bytes.prefetch(
      bytes.offsetPointer(line.start, bytes.add(offset, line.offset)));
}

void Prefetcher::start(int64_t count) {
  first = next;
  shared = countLines();
  numParts = count;
  part = 0;
  offset = 0;
}

int64_t Prefetcher::countKept(int64_t turns) const {
  int64_t kept = numStarts ? countLines() / (turns * numStarts) : 0;
  if (!linesOfSegment)
    return kept;
  if (countLines() <= kCPUForms.linesAtOnce)
    return 0;
  // Every turn takes the same part of a segment, or whole ones.
  auto fits = [&](int64_t ofTurn) {
    return (ofTurn % linesOfSegment == 0 || linesOfSegment % ofTurn == 0) &&
           ofTurn * turns % linesOfSegment == 0;
  };
  while (kept && !fits(kept))
    --kept;
  return kept;
}

void Prefetcher::prepareTurns(int64_t turns) {
  // The first ones, so that the others follow each other.
  for (int64_t end = countLines() - countKept(turns) * turns * numStarts;
       next < end; ++next)
    emit(lines[next]);
}

void Prefetcher::startTurn(int64_t count, Int turn, int64_t turns) {
  start(count);
  if (!shared)
    return;
  shared /= turns;
  int64_t ofTurn = shared / numStarts;
  if (!linesOfSegment) {
    offset = emitter.mul(turn, ofTurn * kLineBytes);
  } else if (ofTurn % linesOfSegment == 0) {
    offset =
        emitter.mul(emitter.mul(turn, ofTurn / linesOfSegment), segmentStride);
  } else {
    int64_t turnsOfOne = linesOfSegment / ofTurn;
    offset = emitter.add(
        emitter.mul(emitter.floorDiv(turn, turnsOfOne), segmentStride),
        emitter.mul(emitter.rem(turn, turnsOfOne), ofTurn * kLineBytes));
  }
}

void Prefetcher::emitShare() {
  ++part;
  for (int64_t end = first + shared * part / numParts; next < end; ++next)
    emit(lines[next]);
}

void Prefetcher::emitRemaining() {
  offset = 0;
  for (; countLines(); ++next)
    emit(lines[next]);
}

void kron::emitPrefetches(Emitter &emitter, const PrefetchStream &stream,
                          int64_t fmas) {
  Prefetcher(emitter, stream, fmas).emitRemaining();
}

void kron::emitDrain(Emitter &emitter, const DrainStream &drain, int64_t fmas) {
  if (!drain.from)
    return;
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  auto lines = std::clamp<int64_t>(
      static_cast<int64_t>(std::ceil(drain.bytesPerFma *
                                     static_cast<double>(fmas) / kLineBytes)),
      1, drain.mostLines);
  Type pointer = drain.from.getType();
  Value to = LLVM::LoadOp::create(builder, loc, pointer, drain.to);
  Value end = LLVM::LoadOp::create(builder, loc, pointer, drain.end);
  auto getAddress = [&](Value at) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), at);
  };
  Value left =
      arith::SubIOp::create(builder, loc, getAddress(end), getAddress(to));
  Value isThere = emitter.less(lines * kLineBytes - 1, left);
  int64_t lanes = kLineBytes / emitter.getElementBytes();
  scf::IfOp::create(
      builder, loc, isThere, [&](OpBuilder &builder, Location loc) {
        Value from = LLVM::LoadOp::create(builder, loc, pointer, drain.from);
        for (int64_t line = 0; line < lines; ++line)
          emitter.storeVector(
              emitter.loadVector(emitter.getVectorType(lanes),
                                 emitter.offsetPointer(from, line * lanes),
                                 nullptr),
              emitter.offsetPointer(to, line * lanes), nullptr, nullptr,
              /*streams=*/true);
        for (auto [slot, at] :
             {std::pair(drain.from, from), std::pair(drain.to, to)})
          LLVM::StoreOp::create(builder, loc,
                                emitter.offsetPointer(at, lines * lanes), slot);
        scf::YieldOp::create(builder, loc);
      });
}
