//===- WgmmaPlan.cpp - Tiles of a wgmma kernel ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/WgmmaPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// What positions of the contracted axis in a piece are multiples of: rows of
/// that many are loaded at a time.
static constexpr int64_t kPieceUnit = 16;
/// Elements of a tile, more than fit any SM: sizes of larger ones need not be
/// worked out.
static constexpr uint64_t kMaxTileElements = 1 << 20;
/// Values of a row that a thread keeps while it is quantized.
static constexpr int64_t kMaxKept = 64;

bool WgmmaPlan::canRefill() const {
  const WgmmaStep &last = steps.back();
  // Four rows are neighbours in memory, and no warp repeats another one's rows.
  if (buffers != 1 || pieces != 1 || wholeCopies || sharedStore ||
      landing.elementBytes != 4 || last.innermost ||
      last.radix.back() % 4 != 0 || last.rows % kWgmmaRows != 0)
    return false;
  // Its rows are all of the next tile.
  for (auto [number, axis] : llvm::enumerate(axes))
    if (number != last.axis &&
        (axis.step >= 0 ? axis.before != axis.after
                        : axis.tile != last.radix[number]))
      return false;
  return true;
}

const WgmmaAxis &WgmmaPlan::getResultAxis() const {
  switch (turn) {
  case WgmmaTurn::Rows:
    return axes[steps.back().axis];
  case WgmmaTurn::Columns:
    return axes[columnAxis];
  case WgmmaTurn::None:
    return axes.back();
  }
  llvm_unreachable("unknown turn");
}

//===----------------------------------------------------------------------===//
// What follows from the choices
//===----------------------------------------------------------------------===//

/// Whether lanes that copy or store neighbours one by one have these along
/// another dimension than the innermost one of the tile.
static bool accessesAcross(const WgmmaPlan &plan) {
  if (plan.landing.elementBytes != 4 || plan.pieces > 1)
    return false;
  bool copiesAcross = !plan.axes.back().isContiguous &&
                      llvm::any_of(plan.axes, [](const WgmmaAxis &axis) {
                        return axis.isContiguous && axis.tile > 1;
                      });
  bool storesAcross = plan.turn == WgmmaTurn::Rows &&
                      plan.getResultAxis().after * plan.landing.elementBytes %
                              kWgmmaTurnedBytes !=
                          0;
  return copiesAcross || storesAcross;
}

/// Pitches that keep accesses free of bank conflicts: a thread reads 4 or 8
/// bytes of rows that are 2 or more positions of another axis apart.
static void setLayout(WgmmaLayout &layout, const WgmmaPlan &plan) {
  unsigned numAxes = plan.axes.size();
  layout.pitches.assign(numAxes, 0);
  SmallVector<int64_t> extents(numAxes, 1);
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    extents[number] = axis.tile;
    if (axis.step >= 0) {
      const WgmmaStep &step = plan.steps[axis.step];
      extents[number] = plan.pieces > 1
                            ? plan.pieceK
                            : std::max(step.paddedK, step.paddedResults);
    } else if (number + 1 == numAxes) {
      extents[number] = llvm::alignTo(axis.tile, kWgmmaColumnUnit);
    }
  }
  int64_t period = 128 / layout.elementBytes, unit = 16 / layout.elementBytes;
  // It is one of bits of addresses, which are those of positions where all
  // axes but the outermost one of several positions have powers of two.
  auto several = llvm::find_if(extents, [](int64_t size) { return size > 1; });
  // Every pitch-th element of a swizzled tile is on one of four banks.
  bool isAcross = accessesAcross(plan);
  layout.swizzled =
      !isAcross && extents.back() % period == 0 &&
      llvm::all_of(llvm::drop_begin(llvm::make_range(several, extents.end())),
                   llvm::isPowerOf2_64);
  int64_t pitch = 1;
  for (unsigned number = numAxes; number-- > 0;) {
    if (extents[number] == 1 && plan.axes[number].step < 0)
      continue;
    layout.pitches[number] = pitch;
    pitch *= extents[number];
    // Short rows would grow too much, and conflict little but across.
    if (!layout.swizzled && pitch % (2 * unit) == 0 &&
        pitch >= (isAcross ? 4 : 8) * unit)
      pitch += unit;
  }
  layout.elements = llvm::alignTo(pitch, period);
}

/// How a tile of `plan` lies in the input, if neighbours do side by side.
static std::optional<BoxSegments> getSegments(const WgmmaPlan &plan) {
  SmallVector<int64_t> sizes, strides;
  for (auto [axis, pitch] : llvm::zip_equal(plan.axes, plan.landing.pitches)) {
    if (pitch == 0)
      continue;
    sizes.push_back(axis.tile);
    strides.push_back(axis.stride);
  }
  return BoxSegments::get(sizes, strides, plan.landing.elementBytes);
}

void kron::setWgmmaTile(WgmmaPlan &plan) {
  plan.pieces =
      plan.pieceK ? llvm::divideCeil(plan.steps.front().sizeK, plan.pieceK) : 1;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if (axis.step >= 0)
      axis.tile = axis.before;
    else if (static_cast<int>(number) == plan.rowAxis)
      axis.tile = plan.rows;
    else if (static_cast<int>(number) == plan.columnAxis)
      axis.tile = plan.columns;
  }
  plan.inPlace = plan.landing.elementBytes == 4 ||
                 (plan.steps.size() == 1 && !plan.sharedStore);
  setLayout(plan.landing, plan);
  setLayout(plan.work, plan);
  plan.segments = std::nullopt;
  if (plan.wholeCopies)
    plan.segments = getSegments(plan);
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    step.radix.clear();
    step.rows = 1;
    for (auto [number, axis] : llvm::enumerate(plan.axes)) {
      int64_t size = axis.tile;
      if (axis.step >= 0 && axis.step < static_cast<int>(index))
        size = axis.after;
      // A thread takes pairs of columns.
      if (number + 1 == plan.axes.size())
        size = llvm::alignTo(size, 2);
      step.radix.push_back(number == step.axis ? 1 : size);
      step.rows *= step.radix.back();
    }
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Elements of a tile before or after any step, or more than that; the largest
/// number if there is none for it.
static uint64_t getMaxTileElements(const WgmmaPlan &plan) {
  uint64_t elements =
      llvm::SaturatingMultiply<uint64_t>(plan.rows, plan.columns);
  for (const WgmmaStep &step : plan.steps)
    elements = llvm::SaturatingMultiply<uint64_t>(
        elements, std::max(step.paddedK, step.paddedResults));
  return elements;
}

/// What is wrong with the pieces that `plan` loads tiles in, if it does; an
/// empty string if there is nothing.
static std::string findWrongPieces(const WgmmaPlan &plan) {
  const WgmmaStep &step = plan.steps.front();
  if (plan.pieceK == 0)
    return plan.getShares() == 1 || plan.landing.elementBytes != 4
               ? ""
               : expects("k_piece to be positive where CTAs share the columns "
                         "of a factor",
                         plan.pieceK);
  if (plan.steps.size() > 1 || plan.landing.elementBytes != 4)
    return expects("k_piece to be 0 unless a factor of f32 is alone",
                   plan.pieceK);
  if (plan.pieceK % kPieceUnit != 0 || plan.pieceK >= step.sizeK)
    return expects("k_piece to be a multiple of 16 less than the " +
                       Twine(step.sizeK) + " rows of the factor",
                   plan.pieceK);
  if (plan.groupSize != 1)
    return expects("warpgroups_per_tile to be 1 where tiles come in pieces",
                   plan.groupSize);
  if (plan.buffers < 2)
    return expects("stages to be at least 2 where tiles come in pieces",
                   plan.buffers);
  return "";
}

/// What is wrong with the choices of `plan` before tiles are worked out from
/// them; an empty string if there is nothing.
static std::string findWrongChoice(FusedOp fused, const WgmmaPlan &plan) {
  for (auto [name, value] :
       {std::pair("tile", plan.rows), std::pair("columns", plan.columns),
        std::pair("ctas_per_sm", plan.ctasPerSM),
        std::pair("stages", plan.buffers),
        std::pair("warpgroups_per_tile", plan.groupSize)})
    if (value < 1)
      return expects(Twine(name) + " to be positive", value);
  if (plan.rowAxis < 0 && plan.rows != 1)
    return expects("tile to be 1 where there is no axis of rows", plan.rows);
  if (plan.columnAxis < 0 && plan.columns != 1)
    return expects("columns to be 1 where the innermost axis is contracted",
                   plan.columns);
  if (getMaxTileElements(plan) > kMaxTileElements)
    return "expects tile and columns to fit shared memory, but got " +
           std::to_string(plan.rows) + " and " + std::to_string(plan.columns);
  if (plan.threads < 1 || plan.threads % kWarpgroupThreads != 0)
    return expects("threads to be a multiple of 128", plan.threads);
  if (plan.getWarpgroups() % plan.groupSize != 0)
    return expects("warpgroups_per_tile to divide the " +
                       Twine(plan.getWarpgroups()) + " warpgroups of a CTA",
                   plan.groupSize);
  if (plan.pieceK != 0 && (plan.wholeCopies || plan.sharedStore))
    return expects("whole_copies and shared_store to be 0 where tiles come in "
                   "pieces",
                   1);
  if (plan.sharedStore && (plan.quantize || plan.getShares() > 1))
    return expects(Twine("shared_store to be 0 where ") +
                       (plan.quantize ? "rows are quantized"
                                      : "CTAs share the columns of a factor"),
                   1);
  return findWrongPieces(plan);
}

std::variant<WgmmaPlan, std::string> kron::readWgmmaPlan(FusedOp fused,
                                                         GPUPlanAttr plan) {
  std::variant<WgmmaPlan, std::string> described = describeWgmma(fused);
  auto *read = std::get_if<WgmmaPlan>(&described);
  if (!read)
    return described;
  PlanReader reader(plan);
  WgmmaChoices::visitFields(reader, *read);
  std::string reason = findWrongChoice(fused, *read);
  if (!reason.empty())
    return reason;
  setWgmmaTile(*read);
  if (read->wholeCopies && !read->segments)
    return expects("whole_copies to be 0 where no elements of a tile lie side "
                   "by side",
                   1);
  if (read->pieces > 1 && read->steps.front().rows > kWgmmaRows)
    return expects("tile and columns to make at most 64 rows where tiles come "
                   "in pieces",
                   read->steps.front().rows);
  if (read->quantize)
    if (auto reason = getWgmmaQuantizeReason(fused, *read))
      return *reason;
  return described;
}

std::optional<std::string> kron::getWgmmaQuantizeReason(FusedOp fused,
                                                        const WgmmaPlan &plan) {
  if (fused.getModeProducts().back().getAddend())
    return "something is added to the product";
  if (plan.turn == WgmmaTurn::Rows)
    return "neighbours of a tile are on different rows";
  if (plan.axes.front().fusedAxes.size() != 1)
    return "rows are on more than one axis";
  int64_t elements = 1;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if ((axis.step < 0) != (number == 0))
      return "rows are not the outermost axis alone";
    if (number > 0)
      elements *= axis.after;
  }
  const WgmmaAxis &inner = plan.axes.back();
  if (plan.axes.size() < 2 || inner.after % kWgmmaQuantizedLanes != 0)
    return "results are not segments of four";
  if (plan.pieces > 1 || plan.getShares() > 1)
    return "a tile does not have whole rows";
  if (plan.steps.size() == 1 && plan.landing.elementBytes != 4)
    return "there is no place for results in shared memory";
  for (int64_t pitch : ArrayRef(plan.work.pitches).drop_back())
    if (pitch % kWgmmaQuantizedLanes != 0)
      return "rows in shared memory are not aligned";
  if (elements > kMaxKept * plan.groupSize * kWarpgroupThreads)
    return "a row does not fit in registers";
  return std::nullopt;
}
