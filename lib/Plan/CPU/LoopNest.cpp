//===- LoopNest.cpp - Axes of a step as loops -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/LoopNest.h"
#include "kron/Machine/CPUForms.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::isContinued(Int outerStride, Int innerStride, Int innerSize) {
  return outerStride.isConstant() && innerStride.isConstant() &&
         innerSize.isConstant() &&
         outerStride.getConstant() ==
             innerStride.getConstant() * innerSize.getConstant();
}

static bool canMerge(const LoopAxis &outer, const LoopAxis &inner) {
  return outer.size.isConstant() && inner.size.isConstant() &&
         isContinued(outer.source, inner.source, inner.size) &&
         isContinued(outer.destination, inner.destination, inner.size) &&
         isContinued(outer.addend, inner.addend, inner.size) &&
         isContinued(outer.factor, inner.factor, inner.size);
}

static void appendAxis(SmallVectorImpl<LoopAxis> &axes, const LoopAxis &axis) {
  if (axis.size.is(1))
    return;
  if (axes.empty() || !canMerge(axes.back(), axis)) {
    axes.push_back(axis);
    return;
  }
  LoopAxis merged = axis;
  merged.first = axes.back().first;
  merged.size = axes.back().size.getConstant() * axis.size.getConstant();
  axes.back() = merged;
}

Int kron::getStride(const SmallVector<Int> &strides, unsigned axis) {
  return strides.empty() ? Int(0) : strides[axis];
}

bool kron::isGroup(const StepLayout &step, int64_t group) {
  int64_t maxLanes = step.vectorBits / 8 / step.elementBytes;
  return group == maxLanes || 2 * group <= maxLanes;
}

/// Merges a short innermost axis that the factor depends on with one that it
/// does not depend on, if lanes can run over both.
static void mergeGroup(const StepLayout &step, LoopNest &nest) {
  if (nest.inner.size() < 2)
    return;
  LoopAxis outer = nest.inner[nest.inner.size() - 2];
  const LoopAxis &inner = nest.inner.back();
  if (!inner.factor.is(1) || !outer.factor.is(0) || !inner.source.is(1) ||
      !inner.destination.is(1) || !inner.size.isConstant() ||
      !outer.size.isConstant() || !isGroup(step, inner.size.getConstant()) ||
      !isContinued(outer.source, inner.source, inner.size) ||
      !isContinued(outer.destination, inner.destination, inner.size) ||
      !isContinued(outer.addend, inner.addend, inner.size))
    return;
  nest.group = inner.size.getConstant();
  outer.last = inner.last;
  outer.size = outer.size.getConstant() * nest.group;
  outer.source = outer.destination = 1;
  outer.addend = inner.addend;
  nest.inner.pop_back();
  nest.inner.back() = outer;
}

int64_t kron::getMaxLanes(const StepLayout &step) {
  return step.vectorBits / 8 / step.elementBytes;
}

int64_t kron::getGroupSize(const LoopNest &nest) {
  return nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
}

int kron::findSharedAxis(const LoopNest &nest) {
  int best = -1;
  // Fewer rows leave register tiles small.
  auto isTiny = [](const LoopAxis &axis) {
    return axis.size.isConstant() &&
           axis.size.getConstant() < kCPUForms.latencyRows;
  };
  for (int index = nest.outer.size() - 1; index >= 0; --index) {
    const LoopAxis &axis = nest.outer[index];
    if (!axis.factor.is(0))
      continue;
    if (best < 0 || (!isTiny(axis) && isTiny(nest.outer[best])))
      best = index;
  }
  return best;
}

int64_t kron::getSharedSize(const LoopNest &nest) {
  int shared = findSharedAxis(nest);
  if (shared < 0)
    return 1;
  Int size = nest.outer[shared].size;
  return size.isConstant() ? size.getConstant() : -1;
}

bool kron::hasSkinnyM(const LoopNest &nest, int64_t most) {
  int64_t size = getSharedSize(nest);
  return size >= 0 && size <= most;
}

/// Splits a long innermost axis that the factor depends on, so that lanes run
/// over a register of it and its factor is packed in panels.
static void splitLanes(const StepLayout &step, LoopNest &nest) {
  if (nest.inner.size() != 1 || step.choices->lanes)
    return;
  LoopAxis &inner = nest.inner.back();
  int64_t lanes = getMaxLanes(step);
  // One lane is no group: the fibre mapping would run over q alone.
  if (lanes == 1 || inner.factor.is(0) || !inner.size.isConstant() ||
      inner.size.getConstant() <= lanes || inner.size.getConstant() % lanes ||
      !inner.source.is(1) || !inner.destination.is(1) ||
      !inner.factor.isConstant() || !inner.addend.isConstant())
    return;
  LoopAxis outer = inner;
  outer.size = inner.size.getConstant() / lanes;
  for (Int *stride :
       {&outer.source, &outer.destination, &outer.addend, &outer.factor})
    *stride = stride->getConstant() * lanes;
  inner.size = lanes;
  nest.outer.push_back(outer);
  nest.isSplit = true;
}

LoopNest kron::getLoopNest(const StepLayout &step) {
  LoopNest nest;
  for (unsigned axis = 0; axis < step.sizes.size(); ++axis) {
    if (axis == step.axis)
      continue;
    LoopAxis loop{axis,
                  axis,
                  step.sizes[axis],
                  step.source.strides[axis],
                  step.destination.strides[axis],
                  getStride(step.addend.strides, axis),
                  getStride(step.factor.strides, axis)};
    appendAxis(axis < step.axis ? nest.outer : nest.inner, loop);
  }
  mergeGroup(step, nest);
  splitLanes(step, nest);
  return nest;
}
