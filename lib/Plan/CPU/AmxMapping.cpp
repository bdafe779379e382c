//===- AmxMapping.cpp - Mode products in matrix tiles -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/AmxMapping.h"

using namespace mlir;
using namespace mlir::kron;

static bool isAtLeast(Int size, int64_t least) {
  return !size.isConstant() || size.getConstant() >= least;
}

bool kron::canTakeAmxRows(Int strideK, int64_t sizeK, Type element) {
  // Offsets of elements have 32 bits.
  constexpr int64_t kMaxStride = 1 << 20;
  return strideK.is(1) ||
         (element.isBF16() && sizeK % 2 == 0 && strideK.isConstant() &&
          strideK.getConstant() > 1 && strideK.getConstant() < kMaxStride);
}

/// Whether p is contiguous in X, or elements of bf16 a known stride apart.
static bool canLoadRows(const StepLayout &step) {
  Int stride = step.source.strides[step.axis];
  Type stored = step.source.element;
  return stride.is(1) || (stored && canTakeAmxRows(stride, step.sizeK, stored));
}

AmxMapping kron::getAmxMapping(const StepLayout &step, int64_t positions) {
  // What a block of X may take on the stack, high and low parts.
  constexpr int64_t kMaxK = 2048;
  auto is16BitFloat = [](Type type) { return type && type.isBF16(); };
  if (step.elementParts != 1 || !is16BitFloat(step.factor.element) ||
      (step.source.element && !is16BitFloat(step.source.element)) ||
      step.sizeK > kMaxK)
    return AmxMapping::None;
  LoopNest nest = getLoopNest(step);
  if (nest.group != 1 || nest.isSplit)
    return AmxMapping::None;
  if (canLoadRows(step) && step.destination.strides[step.axis].is(1) &&
      (!step.adds || step.addend.strides[step.axis].is(1))) {
    int rows = findSharedAxis(nest);
    return rows >= 0 && isAtLeast(nest.outer[rows].size, positions)
               ? AmxMapping::Rows
               : AmxMapping::None;
  }
  if (nest.inner.empty())
    return AmxMapping::None;
  const LoopAxis &columns = nest.inner.back();
  return columns.source.is(1) && columns.destination.is(1) &&
                 columns.factor.is(0) && (!step.adds || columns.addend.is(1)) &&
                 isAtLeast(columns.size, positions)
             ? AmxMapping::Columns
             : AmxMapping::None;
}

LoopAxis kron::takeAmxData(AmxMapping mapping, LoopNest &nest) {
  if (mapping == AmxMapping::Columns)
    return nest.inner.pop_back_val();
  int rows = findSharedAxis(nest);
  LoopAxis data = nest.outer[rows];
  nest.outer.erase(nest.outer.begin() + rows);
  return data;
}

int64_t kron::avoidAlias(int64_t rowBytes) {
  constexpr int64_t kAliasBytes = 2048;
  return rowBytes % kAliasBytes ? rowBytes : rowBytes + kLineBytes;
}

int64_t kron::getPaddedK(const StepLayout &step) {
  return llvm::alignTo(step.sizeK, kAmxK);
}

int64_t kron::getRowBytes(const StepLayout &step) {
  return avoidAlias(getPaddedK(step) * kBF16Bytes);
}

int64_t kron::getPanelBytes(const StepLayout &step) {
  return getPaddedK(step) / kAmxK * kAmxTileBytes;
}

int64_t kron::getAmxBlockBytes(const StepLayout &step, AmxMapping mapping,
                               bool isExact) {
  int64_t bytes = kAmxBlockTiles * (mapping == AmxMapping::Rows
                                        ? kAmxRows * getRowBytes(step)
                                        : getPanelBytes(step));
  return !isExact && !step.source.element ? 2 * bytes : bytes;
}
