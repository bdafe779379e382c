//===- BatchedPlan.cpp - Steps and tiles of the batched kernel --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BatchedPlan.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Planes of more elements do not fit a thread's registers.
static int64_t getLargestPlane(int64_t chunk) { return chunk == 4 ? 64 : 36; }
/// Bytes of items that a tile takes if nothing else decides, with planes in
/// registers and without.
static constexpr int64_t kPlaneTileBytes = 8 * 1024;
static constexpr int64_t kFibreTileBytes = 16 * 1024;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

int64_t ItemLayout::getInside(unsigned axis) const {
  return axis + 1 == sizes.size() ? 1 : sizes.back();
}

static ItemLayout getLayout(ArrayRef<int64_t> sizes, int64_t chunk) {
  ItemLayout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  size_t inPlane = std::min<size_t>(sizes.size(), 2);
  for (auto [axis, size] : llvm::enumerate(sizes))
    (axis + inPlane < sizes.size() ? layout.numPlanes : layout.planeSize) *=
        size;
  layout.pitch = layout.planeSize;
  if (inPlane == 2 && layout.pitch % (2 * chunk) == 0)
    layout.pitch += chunk;
  return layout;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether products `index` and the next one are on the two innermost axes and
/// small enough for planes in registers all the way.
static bool isPlanePair(const BatchedPlan &plan, unsigned index,
                        ArrayRef<int64_t> sizes) {
  if (index + 1 >= plan.factors.size() || sizes.size() < 2)
    return false;
  const TripFactor &first = plan.factors[index];
  const TripFactor &second = plan.factors[index + 1];
  int64_t last = plan.firstAxis + sizes.size() - 1;
  if (first.axis + second.axis != 2 * last - 1 ||
      std::abs(first.axis - second.axis) != 1)
    return false;
  int64_t largest = getLargestPlane(plan.chunk);
  return first.depth * second.depth <= largest &&
         first.results * second.depth <= largest &&
         first.results * second.results <= largest;
}

static void addSteps(BatchedPlan &plan, SmallVector<int64_t> sizes) {
  for (unsigned index = 0; index < plan.factors.size();) {
    BatchedStep step;
    unsigned count = isPlanePair(plan, index, sizes) ? 2 : 1;
    step.source = getLayout(sizes, plan.chunk);
    for (unsigned number = 0; number < count; ++number, ++index) {
      step.products.push_back(index);
      const TripFactor &factor = plan.factors[index];
      sizes[factor.axis - plan.firstAxis] = factor.results;
    }
    step.destination = getLayout(sizes, plan.chunk);
    plan.steps.push_back(std::move(step));
  }
  int64_t changes = llvm::count_if(plan.steps, [](const BatchedStep &step) {
    return !(step.source == step.destination);
  });
  plan.numWorkBuffers = std::min<int64_t>(changes, 2);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t BatchedPlan::getStageElements() const {
  return llvm::alignTo(itemsPerTile * getInput().getItemPitch(), chunk);
}

int64_t BatchedPlan::getWorkElements() const {
  int64_t elements = 0;
  for (const BatchedStep &step : steps)
    elements = std::max(elements, step.destination.getItemPitch());
  return llvm::alignTo(itemsPerTile * elements, chunk);
}

int64_t BatchedPlan::getFactorElements() const {
  int64_t elements = 0;
  for (unsigned index = 0; index < factors.size(); ++index)
    elements += factors[index].depth * getFactorPitch(index);
  return elements;
}

int64_t BatchedPlan::getSharedElements() const {
  return stages * getStageElements() + numWorkBuffers * getWorkElements() +
         getFactorElements();
}

static bool hasPlanes(const BatchedPlan &plan) {
  return llvm::any_of(plan.steps,
                      [](const BatchedStep &step) { return step.isPlane(); });
}

/// A thread per plane where there are planes, since they take the most
/// registers; else one per four fibres.
static int64_t getUsefulThreads(const BatchedPlan &plan) {
  int64_t most = 1;
  for (const BatchedStep &step : plan.steps) {
    int64_t units = step.source.numPlanes;
    if (!step.isPlane()) {
      if (hasPlanes(plan))
        continue;
      const TripFactor &factor = plan.factors[step.products.front()];
      units = llvm::divideCeil(step.source.getElements() / factor.depth, 4);
    }
    most = std::max(most, units * plan.itemsPerTile);
  }
  return most;
}

static void chooseTile(BatchedPlan &plan, PassOp pass,
                       const GPUMachine &machine, int64_t bytes) {
  ScheduleAttr given = pass.getScheduleAttr();
  int64_t itemElements =
      std::max(plan.getInput().getElements(), plan.getOutput().getElements());
  // Whole tiles begin at multiples of 16 bytes, in and out.
  auto getUnit = [&](const ItemLayout &layout) {
    return plan.chunk / std::gcd(plan.chunk, layout.getElements());
  };
  int64_t unit = std::max(getUnit(plan.getInput()), getUnit(plan.getOutput()));
  int64_t tileBytes = hasPlanes(plan) ? kPlaneTileBytes : kFibreTileBytes;
  int64_t items = std::max<int64_t>(tileBytes / bytes / itemElements, 1);
  plan.itemsPerTile = llvm::alignTo(items, unit);
  if (given && given.getTile())
    plan.itemsPerTile = given.getTile();
  if (given && given.getStages())
    plan.stages = given.getStages();
  plan.threads =
      std::clamp<int64_t>(llvm::alignTo(getUsefulThreads(plan), 32), 32, 256);
  if (given && given.getThreads())
    plan.threads = given.getThreads();

  int64_t sharedBytes = plan.getSharedElements() * bytes;
  int64_t fitting = machine.sharedBytesPerSM /
                    (sharedBytes + machine.reservedSharedBytesPerCTA);
  // For a plane or four fibres, and what is computed from them.
  int64_t registers = bytes == 8 ? 168 : 128;
  int64_t byThreads = machine.registersPerSM / (plan.threads * registers);
  plan.ctasPerSM = std::clamp<int64_t>(std::min(fitting, byThreads), 1,
                                       machine.maxCTAsPerSM);
  if (given && given.getCtasPerSm())
    plan.ctasPerSM = given.getCtasPerSm();
}

std::optional<BatchedPlan> kron::getBatchedPlan(PassOp pass,
                                                const GPUMachine &machine) {
  BatchedPlan plan;
  int64_t bytes =
      kron::getElementType(pass.getInit()).getIntOrFloatBitWidth() / 8;
  plan.chunk = 16 / bytes;
  for (ModeProductOp product : pass.getModeProducts())
    plan.factors.push_back(describeFactor(product));
  plan.firstAxis = std::numeric_limits<unsigned>::max();
  for (const TripFactor &factor : plan.factors)
    plan.firstAxis = std::min<unsigned>(plan.firstAxis, factor.axis);

  ArrayRef<int64_t> shape =
      cast<ShapedType>(pass.getInit().getType()).getShape();
  SmallVector<int64_t> sizes(shape.drop_front(plan.firstAxis));
  for (const TripFactor &factor : llvm::reverse(plan.factors))
    sizes[factor.axis - plan.firstAxis] = factor.depth;
  addSteps(plan, sizes);
  chooseTile(plan, pass, machine, bytes);
  if (plan.getSharedElements() * bytes > machine.getSharedBytes(plan.ctasPerSM))
    return std::nullopt;
  return plan;
}
