//===- Memory.cpp - How input and results of tiles come and go --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Axes.h"
#include "kron/Machine/CPURates.h"
#include "kron/Machine/ThreadForms.h"
#include "kron/Plan/Arrays.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Whether `plan` has one factor of so few multiply-adds per result that they
/// do not hide stores which go through the caches.
static bool isBoundByStores(const CPUPlan &plan) {
  return plan.groups.size() == 1 &&
         plan.groups.front().sizeK <= kCPURates.mostStoreBoundK;
}

/// Bytes of input and result as they are computed; nothing if that is not
/// known.
static std::optional<int64_t> countBytes(const CPUPlan &plan, FusedOp fused) {
  ShapedType init = getArrayType(fused.getInit());
  if (!init.hasStaticShape())
    return std::nullopt;
  int64_t results = getComputedBytes(fused), inputs = results;
  for (auto [axis, size] : llvm::enumerate(init.getShape())) {
    results *= size;
    inputs *=
        plan.roles[axis] == AxisRole::Whole ? plan.getWholeSize(axis, 0) : size;
  }
  return results + inputs;
}

int64_t kron::chooseBlocks(const CPUPlan &plan, FusedOp fused,
                           const CPUChoices &choices,
                           const CacheBudget &caches) {
  auto [axis, elements] = findBlockAxis(fused, plan);
  if (choices.streamBytes <= 0 || !isBoundByStores(plan) || axis < 0)
    return 1;
  ShapedType init = getArrayType(fused.getInit());
  int64_t bytes = elements * getElementBytes(init.getElementType());
  int64_t blocks = kLineBytes / std::gcd(kLineBytes, bytes);
  int64_t tile = getTileSize(fused, plan, choices);
  // More would be in the way of what is computed with.
  int64_t most = std::min(kCPURates.mostBlockBytes, caches.l1Bytes / 2);
  if (init.getDimSize(axis) % blocks || blocks * bytes * tile > most)
    return 1;
  std::optional<int64_t> total = countBytes(plan, fused);
  return total && *total < choices.streamBytes ? 1 : blocks;
}

/// What `staging` of a plan is.
static int64_t chooseStaging(const CPUPlan &plan, FusedOp fused,
                             const CPUPlannerOptions &options,
                             const CPUChoices &choices) {
  if (choices.streamBytes <= 0 || plan.tiledAxis < 0)
    return 0;
  const CacheBudget &caches = options.caches;
  int64_t tile = getTileSize(fused, plan, choices);
  int64_t bytes = countTileElements(plan, tile, plan.groups.size()) *
                  getComputedBytes(fused);
  // A tile that takes all of an axis outside is one piece of memory only if it
  // takes all of the tiled one, too.
  ShapedType init = getArrayType(fused.getInit());
  bool hasAllColumns = plan.isTiledInnermost() && isBoundByStores(plan) &&
                       init.getDimSize(plan.tiledAxis) == tile;
  bool hasWholeOutside = llvm::is_contained(
      ArrayRef(plan.roles).take_front(plan.tiledAxis), AxisRole::Whole);
  // More would be in the way of what is computed with. Columns may leave the
  // first-level cache.
  int64_t most = hasAllColumns
                     ? kCPURates.mostStagedColumnsBytes
                     : std::min(kCPURates.mostStagedBytes, caches.l1Bytes);
  if (bytes > most || (hasWholeOutside && !hasAllColumns))
    return 0;
  // All factors of the next tile have time for the copy, while only the last
  // one stores its results itself, unless two copies are much of the
  // first-level cache.
  bool isSplit = options.splitsWideVectors();
  bool isSmall =
      bytes <= std::min(kCPURates.smallStagedBytes, caches.l1Bytes / 4);
  if (isSmall && plan.groups.size() > 1 && !isSplit)
    return kAllStaged;
  // Where multiply-adds of 512 bits take two turns, and memory waits for them,
  // a copy pays only if no store into it crosses lines.
  int64_t rowBytes = bytes / tile;
  bool isAligned = rowBytes % kLineBytes == 0 && llvm::isPowerOf2_64(rowBytes);
  bool mayCross = isSplit && !isAligned && !plan.isTiledInnermost();
  return mayCross ? 0 : kOthersStaged;
}

/// Where a window is small, what is prefetched last would not come before it is
/// needed; of few segments the processor sees by itself where they go on.
static int64_t chooseWindowsAhead(const CPUPlan &plan, FusedOp fused,
                                  const CPUChoices &choices) {
  if (choices.prefetch < 0 || choices.hasFarRows() || !hasSegments(fused, plan))
    return 1;
  int64_t tile = getTileSize(fused, plan, choices);
  SmallVector<Section> sections = getSections(plan, choices);
  int64_t elements = countWindowElements(plan, sections.front(), tile, 0);
  int64_t bytes =
      elements * getElementBytes(getElementType(fused.getInputs().front()));
  return elements / tile >= kCPURates.manySegments &&
                 bytes < kCPURates.smallWindowBytes
             ? 2
             : 1;
}

void kron::chooseMemory(const CPUPlan &plan, FusedOp fused, CPUPlanAttr given,
                        const CPUPlannerOptions &options, CPUChoices &choices) {
  auto isGiven = [&](StringRef name) { return given && given.has(name); };
  int64_t tile = getTileSize(fused, plan, choices);
  int64_t bytes = getComputedBytes(fused);
  // What is prefetched has to find room in the second-level cache, beside what
  // is computed with.
  int64_t room =
      std::min(kCPURates.mostPrefetchedBytes, options.caches.l2Bytes / 2);
  if (!isGiven("reads_segments"))
    choices.readsSegments =
        plan.fitsRegisters && tile * bytes <= kCPURates.shortSegmentBytes;
  if (!isGiven("prefetch_results"))
    choices.prefetchesResults =
        countTileElements(plan, tile, plan.groups.size()) * bytes <= room;
  if (!isGiven("spread_prefetch") && canSpreadPrefetch(fused, plan, choices)) {
    // If the second section is the last one, the next tile is prefetched early,
    // and has to stay in the second-level cache beside this one.
    SmallVector<Section> sections = getSections(plan, choices);
    choices.spreadsPrefetch =
        sections.size() > 2 ||
        countTileElements(plan, tile, sections.front().end) * bytes <= room;
  }
  if (!isGiven("windows_ahead"))
    choices.windowsAhead = chooseWindowsAhead(plan, fused, choices);
  // Of rows that are far by hand every load prefetches.
  if (!isGiven("prefetch_lines") && !choices.hasFarRows())
    choices.prefetchLines = kCPURates.linesInFlight;
  if (!isGiven("staging"))
    choices.staging = chooseStaging(plan, fused, options, choices);
  if (!isGiven("drain_lines"))
    choices.drainLines = kCPURates.writeBuffers;
  if (!isGiven("thread_fmas"))
    choices.threadFmas = kThreadForms.leastFmas;
}
