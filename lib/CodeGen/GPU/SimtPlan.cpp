//===- SimtPlan.cpp - Trips and tiles of the general GPU code ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SimtPlan.h"
#include "kron/CodeGen/PassOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Columns that make whole 128-byte lines of f32.
static constexpr int64_t kColumns = 32;
/// Elements of a tile that keep a CTA busy.
static constexpr int64_t kTileElements = 4096;
/// Shared memory for factors; larger ones are read from global memory.
static constexpr int64_t kFactorBytes = 32 << 10;
/// Shared memory of a CTA up to which trips are joined: two fit a processor.
static constexpr int64_t kMaxBlock = 8;

int64_t SimtStage::getPaddedResults() const {
  return llvm::alignTo(results, block);
}

/// Results per thread: few enough for registers, and a divisor if there is one.
static int64_t chooseBlock(int64_t results) {
  for (int64_t block = kMaxBlock; block >= 4; --block)
    if (results % block == 0)
      return block;
  return std::min(results, kMaxBlock);
}

SmallVector<int64_t> kron::getBufferStrides(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides(extents.size(), 1);
  int64_t stride = 1;
  for (unsigned axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
    // The innermost axis of more than one position.
    if (stride == extents[axis] && stride > 1)
      stride |= 1;
  }
  return strides;
}

static int64_t getBufferElements(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides = getBufferStrides(extents);
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(extents, strides))
    last += (extent - 1) * stride;
  return last + 1;
}

static int64_t getTileElements(ArrayRef<int64_t> extents) {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  return elements;
}

namespace {

/// Plans the trip of products [first, end).
class TripPlanner {
public:
  TripPlanner(PassOp pass, const GPUMachine &machine,
              ArrayRef<SmallVector<int64_t>> shapes)
      : pass(pass), machine(machine), shapes(shapes),
        products(pass.getModeProducts()),
        bytes(getElementBytes(
            getAccumulatorType(getElementType(pass.getInit())))) {}

  /// Nothing if it does not fit shared memory.
  std::optional<SimtTrip> plan(unsigned first, unsigned end);

private:
  void setExtents(SimtTrip &trip, ArrayRef<int64_t> tile);
  bool fits(SimtTrip &trip, ArrayRef<int64_t> tile);
  SmallVector<int64_t> chooseTile(SimtTrip &trip);
  void placeFactors(SimtTrip &trip);

  PassOp pass;
  const GPUMachine &machine;
  ArrayRef<SmallVector<int64_t>> shapes;
  SmallVector<ModeProductOp> products;
  int64_t bytes;
};

} // namespace

static int64_t getFactorSize(ModeProductOp product, unsigned dim) {
  return cast<ShapedType>(product.getFactor().getType()).getDimSize(dim);
}

static bool isVarying(ModeProductOp product) {
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
    if (axis >= 0 && getFactorSize(product, dim) != 1)
      return true;
  return false;
}

void TripPlanner::placeFactors(SimtTrip &trip) {
  trip.sharedBytes = 0;
  for (SimtStage &stage : trip.stages) {
    int64_t size = stage.depth * stage.getPaddedResults() * bytes;
    if (isVarying(stage.product) || trip.sharedBytes + size > kFactorBytes)
      continue;
    stage.factorOffset = trip.sharedBytes;
    trip.sharedBytes = llvm::alignTo(trip.sharedBytes + size, 128);
  }
}

/// Sets the extents of all stages, given those of the axes not contracted.
void TripPlanner::setExtents(SimtTrip &trip, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> extents(tile);
  for (unsigned axis : trip.contracted.set_bits())
    extents[axis] = trip.before[axis];
  trip.extents.assign(1, extents);
  for (const SimtStage &stage : trip.stages) {
    extents[stage.axis] = stage.results;
    trip.extents.push_back(extents);
  }
}

/// Lays the buffers out for `tile`; false if they do not fit.
bool TripPlanner::fits(SimtTrip &trip, ArrayRef<int64_t> tile) {
  setExtents(trip, tile);
  int64_t elements[2] = {0, 0};
  for (auto [index, extents] : llvm::enumerate(trip.extents))
    elements[index % 2] =
        std::max(elements[index % 2], getBufferElements(extents));
  int64_t factors = 0;
  for (const SimtStage &stage : trip.stages)
    if (stage.factorOffset >= 0)
      factors = llvm::alignTo(
          stage.factorOffset + stage.depth * stage.getPaddedResults() * bytes,
          128);
  trip.bufferOffsets[0] = factors;
  trip.bufferOffsets[1] = factors + llvm::alignTo(elements[0] * bytes, 128);
  trip.sharedBytes =
      trip.bufferOffsets[1] + llvm::alignTo(elements[1] * bytes, 128);
  return trip.sharedBytes <= machine.sharedBytesPerCTA;
}

/// Extents of the axes that are not contracted: columns first, so that memory
/// is accessed in whole lines, then what makes a tile large enough.
SmallVector<int64_t> TripPlanner::chooseTile(SimtTrip &trip) {
  SmallVector<int64_t> tile(trip.after.size(), 1);
  if (!fits(trip, tile))
    return {};
  ScheduleAttr schedule =
      pass.getSchedule() ? *pass.getSchedule() : ScheduleAttr();
  int64_t wantedRows = schedule ? schedule.getTile() : 0;
  int64_t wantedColumns = schedule ? schedule.getColumns() : 0;
  int64_t rows = 1;
  for (int axis = tile.size() - 1; axis >= 0; --axis) {
    if (trip.contracted[axis])
      continue;
    int64_t size = trip.after[axis];
    bool innermost = axis + 1 == static_cast<int>(tile.size());
    int64_t limit = ShapedType::isDynamic(size) ? kTileElements : size;
    if (innermost)
      limit = std::min(limit, wantedColumns ? wantedColumns : kColumns);
    else if (wantedRows)
      limit = std::min(limit, std::max<int64_t>(wantedRows / rows, 1));
    auto isEnough = [&](int64_t extent) {
      if (innermost || wantedRows)
        return extent >= limit;
      int64_t most = 0;
      for (ArrayRef<int64_t> extents : trip.extents)
        most = std::max(most, getTileElements(extents));
      return extent >= limit || most >= kTileElements;
    };
    fits(trip, tile);
    while (!isEnough(tile[axis])) {
      int64_t old = tile[axis];
      tile[axis] = std::min(2 * old, limit);
      if (!fits(trip, tile)) {
        tile[axis] = old;
        fits(trip, tile);
        break;
      }
    }
    if (!innermost)
      rows *= tile[axis];
  }
  return tile;
}

std::optional<SimtTrip> TripPlanner::plan(unsigned first, unsigned end) {
  SimtTrip trip;
  trip.before = shapes[first];
  trip.after = shapes[end];
  trip.contracted.resize(trip.after.size());
  for (ModeProductOp product : ArrayRef(products).slice(first, end - first)) {
    SimtStage stage;
    stage.product = product;
    stage.axis = product.getAxis();
    stage.depth = getFactorSize(product, product.getContractedFactorDim());
    stage.results = getFactorSize(product, product.getResultingFactorDim());
    stage.block = chooseBlock(stage.results);
    trip.contracted.set(stage.axis);
    trip.stages.push_back(stage);
  }
  placeFactors(trip);
  SmallVector<int64_t> tile = chooseTile(trip);
  if (tile.empty())
    return std::nullopt;

  ScheduleAttr schedule =
      pass.getSchedule() ? *pass.getSchedule() : ScheduleAttr();
  trip.threads =
      schedule && schedule.getThreads() ? schedule.getThreads() : 256;
  int64_t resident = machine.sharedBytesPerSM /
                     (trip.sharedBytes + machine.reservedSharedBytesPerCTA);
  // 80 registers per thread.
  resident = std::clamp<int64_t>(
      std::min(resident, machine.registersPerSM / 80 / trip.threads), 1,
      machine.maxCTAsPerSM);
  trip.ctasPerSM =
      schedule && schedule.getCtasPerSm() ? schedule.getCtasPerSm() : resident;
  return trip;
}

std::vector<SimtTrip> kron::planSimt(PassOp pass, const GPUMachine &machine,
                                     std::string &reason) {
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  // Shapes between the products. An axis that is stretched counts as stretched
  // from the start: the input's stride along it is 0.
  auto init = cast<ShapedType>(pass.getInit().getType());
  SmallVector<SmallVector<int64_t>> shapes(products.size() + 1);
  shapes.back().assign(init.getShape().begin(), init.getShape().end());
  for (unsigned index = products.size(); index-- > 0;) {
    ModeProductOp product = products[index];
    shapes[index] = shapes[index + 1];
    int64_t &size = shapes[index][product.getAxis()];
    if (size != getFactorSize(product, product.getResultingFactorDim()) &&
        !ShapedType::isDynamic(size)) {
      reason = "an axis is stretched after it was contracted";
      return {};
    }
    size = getFactorSize(product, product.getContractedFactorDim());
  }

  TripPlanner planner(pass, machine, shapes);
  std::vector<SimtTrip> trips;
  for (unsigned first = 0; first < products.size();) {
    std::optional<SimtTrip> trip = planner.plan(first, first + 1);
    if (!trip) {
      reason = "one fibre of a factor does not fit shared memory";
      return {};
    }
    unsigned end = first + 1;
    while (end < products.size()) {
      std::optional<SimtTrip> longer = planner.plan(first, end + 1);
      if (!longer)
        break;
      trip = std::move(longer);
      ++end;
    }
    trips.push_back(std::move(*trip));
    first = end;
  }
  return trips;
}
