//===- Tiles.cpp - Sizes of tiles and slices --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"
#include "RowTiles.h"
#include "StepForms.h"
#include "kron/Machine/CPUForms.h"
#include "kron/Machine/CPURates.h"
#include "kron/Mapping/CPU/Regrouped.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/AmxMapping.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// What is sliced, and whether that saves round trips to the second-level
/// cache: there must be something in between.
static const Section *getUsefulSlices(const CPUPlan &plan) {
  for (const Section &section : plan.slicedSections) {
    bool copies = section.begin == 0 && plan.rearrangesInput();
    if (section.sliceAxis >= 0 && section.end - section.begin + copies > 1)
      return &section;
  }
  return nullptr;
}

/// Slices of columns that a single factor leaves where positions of the next
/// one's axis would fall on the same sets of a cache: they only serve to keep
/// these apart. Null if they do not.
static const Section *getSeparatingSlices(const CPUPlan &plan,
                                          int64_t tileBytes) {
  if (!plan.isTiledInnermost() || plan.slicedSections.empty())
    return nullptr;
  const Section &first = plan.slicedSections.front();
  int64_t bytes = tileBytes * plan.elementsPerSlicePosition;
  // Without columns there is nothing.
  bool isAliased = bytes && bytes % kCPURates.aliasBytes == 0 &&
                   plan.sliceAxisSize >= kCPURates.aliasedPositions;
  return first.sliceAxis >= 0 && isAliased ? &first : nullptr;
}

int64_t kron::getLeastSlice(const CPUPlan &plan, FusedOp fused,
                            const Section &section, int64_t tile, int64_t lanes,
                            const CacheBudget &caches) {
  if (plan.isTiledInnermost() || plan.rowsInLanes)
    return 1;
  int64_t least = 1;
  for (unsigned index = section.begin; index < section.end; ++index) {
    const StepGroup &group = plan.groups[index];
    int64_t rows = plan.slicesWholeTile() ? tile : 1, inside = 1;
    for (unsigned axis = section.sliceAxis + 1; axis < plan.roles.size();
         ++axis) {
      if (axis >= group.axis && axis < group.axis + group.products.size())
        continue;
      int64_t size = plan.roles[axis] == AxisRole::Whole
                         ? plan.getWholeSize(axis, index)
                         : plan.getStep(axis, tile);
      (axis < group.axis ? rows : inside) *= std::max<int64_t>(size, 1);
    }
    // Lanes that run over q, or over short axes inside with it, load the factor
    // for every register tile anew.
    int64_t bytes = group.sizeK * llvm::alignTo(group.sizeN * inside, lanes) *
                    getComputedBytes(fused);
    if (inside < lanes && bytes > caches.l1Bytes)
      least =
          std::max<int64_t>(least, llvm::divideCeil(kCPURates.panelRows, rows));
  }
  return least;
}

int64_t kron::chooseSlice(const CPUPlan &plan, FusedOp fused,
                          int64_t vectorBits, int64_t tile,
                          const CacheBudget &caches) {
  const Section *section = getUsefulSlices(plan);
  if (!section)
    section = getSeparatingSlices(plan, tile * getComputedBytes(fused));
  if (!section)
    return 0;
  // What is in the first-level cache anyway needs no slices.
  int64_t tileBytes = tile * plan.elementsPerPosition * getComputedBytes(fused);
  if (plan.numBuffers * tileBytes <= caches.l1Bytes && !plan.packsInput &&
      !plan.transposesInput)
    return 0;
  int64_t bytes = getComputedBytes(fused) * plan.elementsPerSlicePosition;
  if (plan.tiledAxis > section->sliceAxis || plan.slicesWholeTile())
    bytes *= tile;
  int64_t slice = getDivisor(plan.sliceAxisSize, caches.l1Bytes / 4 / bytes);
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  int64_t least = getLeastSlice(plan, fused, *section, tile, lanes, caches);
  while (slice < plan.sliceAxisSize &&
         (slice < least || plan.sliceAxisSize % slice))
    ++slice;
  return slice == plan.sliceAxisSize ? 0 : slice;
}

/// Whether the only factor of `fused` depends on an axis from `first` on.
static bool varies(FusedOp fused, int first) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return false;
  ModeProductOp product = products.front();
  ShapedType factor = getArrayType(product.getFactor());
  return llvm::any_of(llvm::enumerate(product.getFactorDims()), [&](auto dim) {
    return dim.value() >= first && factor.getDimSize(dim.index()) != 1;
  });
}

bool kron::hasLongVaryingAxis(const CPUPlan &plan, FusedOp fused, int64_t lanes,
                              int64_t matrixTiles) {
  bool converts = getElementBytes(getElementType(fused.getInit())) <
                      getComputedBytes(fused) &&
                  matrixTiles != kPairProducts;
  int innermost = getArrayType(fused.getInit()).getRank() - 1;
  int64_t size = getArrayType(fused.getInit()).getDimSize(innermost);
  const StepGroup &group = plan.groups.front();
  return varies(fused, innermost) && !ShapedType::isDynamic(size) &&
         canBeSegments(size, lanes) &&
         paysForSegments(group.sizeK, group.sizeN, converts);
}

/// Whether elements are computed in the type in which they are stored.
static bool isStoredAsComputed(FusedOp fused) {
  return getComputedBytes(fused) ==
         getElementBytes(getElementType(fused.getInit()));
}

bool kron::storesShortSegments(const CPUPlan &plan, FusedOp fused) {
  return plan.tiledAxis >= 0 && !plan.isTiledInnermost() &&
         varies(fused, plan.tiledAxis + 1) && isStoredAsComputed(fused);
}

bool kron::hasRaggedColumns(const CPUPlan &plan, FusedOp fused,
                            int64_t vectorBits) {
  if (!plan.isTiledInnermost())
    return false;
  int64_t size = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  return !ShapedType::isDynamic(size) && size % lanes;
}

bool kron::takesSingleVectors(const CPUPlan &plan, FusedOp fused,
                              int64_t vectorBits, const CacheBudget &caches) {
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  if (!caches.columnBytes || !plan.isTiledInnermost() || plan.numBuffers ||
      plan.packsInput ||
      plan.groups.front().sizeN > kCPURates.mostSingleVectorResults ||
      !varies(fused, 0) || !isStoredAsComputed(fused))
    return false;
  int64_t size = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  return hasRaggedColumns(plan, fused, vectorBits) && size > lanes &&
         size <= kCPURates.mostSingleVectorColumns;
}

/// Columns per tile of a single factor, of `size` in all: long segments, but
/// copies of its rows have to leave room in the second-level cache. Where one
/// tile would do, but its rows do not start at vectors or are many, the rows of
/// a quarter of it stay in the caches while all of the factor is applied: 196
/// columns of (1,128,512,1) were measured to take 0.6 of the time so.
static int64_t chooseSingleColumns(const StepGroup &group, int64_t size,
                                   int64_t lanes, int64_t elementBytes) {
  int64_t held = kCPURates.stepL2Bytes / 2 / std::max<int64_t>(group.sizeK, 1);
  int64_t bytes =
      std::clamp(held, kCPURates.columnSegmentBytes, kCPURates.tileColumnBytes);
  int64_t most = llvm::alignDown(bytes / elementBytes, lanes);
  int64_t few = kCPURates.tileColumnBytes / 4 / elementBytes;
  bool isOneTile = !ShapedType::isDynamic(size) && size > few && size <= most;
  bool isBetterCut = (size % lanes && group.sizeK >= kCPURates.cutRaggedK) ||
                     (size % few == 0 && group.sizeK >= kCPURates.cutFullK);
  return isOneTile && isBetterCut ? few : most;
}

/// Whether columns of a single factor lie as rows, which tiles are copied from,
/// and multiply-adds do not hide that.
static bool copiesColumns(const CPUPlan &plan, FusedOp fused) {
  SmallVector<int64_t> strides = getInputStrides(fused);
  return plan.isTiledInnermost() && plan.groups.size() == 1 &&
         plan.groups.front().sizeN < kCPURates.leastBoundResults &&
         !plan.numBuffers && !plan.packsInput && !strides.empty() &&
         strides[plan.tiledAxis] != 1;
}

/// Columns per tile of those: whole lines that take a quarter of the
/// first-level cache, where the copy stays until all results are made of it.
static int64_t chooseCopiedColumns(const StepGroup &group, int64_t elementBytes,
                                   const CacheBudget &caches) {
  int64_t held = caches.l1Bytes / 4 / std::max<int64_t>(group.sizeK, 1);
  return std::clamp<int64_t>(llvm::alignTo(held, kLineBytes),
                             kCPURates.columnSegmentBytes,
                             kCPURates.tileColumnBytes) /
         elementBytes;
}

/// Positions per tile along which memory is contiguous, of `size` in all, while
/// what a factor needs together lies far apart: the shortest segments that
/// are not much slower than longer ones, or as many as the processor likes them
/// long, if they are full and the second-level cache holds them.
static int64_t chooseTileSegment(int64_t size, int64_t bytesPerPosition,
                                 int64_t lanes, int64_t elementBytes,
                                 const CacheBudget &caches) {
  int64_t segment = caches.columnBytes / elementBytes / lanes * lanes;
  bool isFull = !ShapedType::isDynamic(size) && segment && size % segment == 0;
  bool isWide = isFull && segment * bytesPerPosition <= caches.l2Bytes;
  return isWide ? segment : kCPURates.columnSegmentBytes / elementBytes;
}

/// The same where axes of `inside` elements lie inside, which lanes run over
/// together with those positions: a number that divides `size` if there is one,
/// so that all tiles have a size that is known, and of these the one that fills
/// vectors best.
static int64_t chooseEvenSegment(int64_t segment, int64_t size, int64_t inside,
                                 int64_t bytesPerPosition, int64_t lanes,
                                 const CacheBudget &caches) {
  if (ShapedType::isDynamic(size) || inside <= 1)
    return segment;
  auto getFill = [&](int64_t tile) {
    return double(tile) * tile * inside /
           (llvm::alignTo(tile, lanes) * llvm::alignTo(tile * inside, lanes));
  };
  int64_t most = std::min(2 * segment, caches.l2Bytes / 2 / bytesPerPosition);
  int64_t best = 0;
  for (int64_t tile = segment; tile <= most; ++tile)
    if (size % tile == 0 && (!best || getFill(tile) >= getFill(best)))
      best = tile;
  for (int64_t tile = segment - 1; !best && 2 * tile >= segment; --tile)
    if (size % tile == 0)
      best = tile;
  return best ? best : segment;
}

/// Columns per tile that goes through slices: a segment, but a single vector
/// where columns lie as rows, which are read in longer segments anyway. There a
/// smaller buffer is worth more, unless multiply-adds hide both.
static int64_t chooseSlicedColumns(const CPUPlan &plan, int64_t size,
                                   int64_t bytesPerPosition, int64_t lanes,
                                   int64_t elementBytes,
                                   const CacheBudget &caches) {
  int64_t sizeN = plan.groups.front().sizeN;
  bool isBound = sizeN >= kCPURates.leastBoundResults &&
                 sizeN <= kCPURates.mostBoundResults;
  if (plan.hasColumnsAsRows && isBound &&
      bytesPerPosition * lanes >= caches.l2Bytes)
    return lanes;
  return chooseTileSegment(size, bytesPerPosition, lanes, elementBytes, caches);
}

/// Columns per tile where lanes run over the tiled axis, of `size` in all.
static int64_t chooseColumns(const CPUPlan &plan, int64_t size,
                             int64_t bytesPerPosition, int64_t lanes,
                             int64_t elementBytes, const CacheBudget &caches) {
  // These are read from where they lie: of longer ones the processor would lose
  // sight of where rows go on.
  if (plan.fitsRegisters && caches.columnBytes)
    return std::max(caches.columnBytes / elementBytes / lanes, int64_t(1)) *
           lanes;
  if (!plan.numBuffers && !plan.packsInput)
    return chooseSingleColumns(plan.groups.front(), size, lanes, elementBytes);
  int64_t segment = kCPURates.columnSegmentBytes / elementBytes;
  bool isFew = !ShapedType::isDynamic(size) && size <= 2 * segment;
  // Few columns are whole rows, and tiles of a size that is known.
  if (isFew && !plan.hasColumnsAsRows && plan.groups.size() > 1)
    return std::max<int64_t>(size, 1);
  // Slices in the first-level cache, and a whole tile in the second-level one
  // if it fits; one cache line at a time was measured to be much slower than
  // two even where these are 8 MB.
  if (getUsefulSlices(plan))
    return chooseSlicedColumns(plan, size, bytesPerPosition, lanes,
                               elementBytes, caches);
  // Else all buffers in the first-level cache. Columns that do not fill vectors
  // are converted a few at a time.
  bool isCut = caches.columnBytes && plan.groups.size() == 1 &&
               !ShapedType::isDynamic(size) && size % lanes;
  int64_t most =
      isCut ? kCPURates.tileColumnBytes / 4 / elementBytes : 16 * lanes;
  int64_t buffers = std::min<int64_t>(plan.numBuffers + plan.packsInput, 2);
  int64_t tile = caches.l1Bytes / (buffers * bytesPerPosition);
  // What leaves that cache anyway has whole segments, unless a first factor of
  // few results waits for memory, whose lines stay until the next tile comes.
  bool isBound = plan.groups.front().sizeN < kCPURates.packedResults;
  int64_t least = tile < lanes && plan.groups.size() > 1 && !isBound
                      ? std::max(segment, lanes)
                      : lanes;
  return std::clamp(tile / lanes * lanes, least, std::max(least, most));
}

/// Whether rows of the columns of a chain are an odd number of lines. Tiles of
/// a line fill them, and rows lie in all sets of the caches, which hold what
/// two lines would take more. A first factor of many results has vectors that
/// one load of an element of it serves.
static bool hasOddLines(const CPUPlan &plan, FusedOp fused) {
  int64_t size = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  int64_t line = kLineBytes / getComputedBytes(fused);
  return plan.groups.size() > 1 && !plan.hasColumnsAsRows &&
         plan.groups.front().sizeN < kCPURates.packedResults &&
         isStoredAsComputed(fused) && !ShapedType::isDynamic(size) &&
         size % (2 * line) == line;
}

/// Positions per tile, for a single factor outside of the tiled axis, inside of
/// which lie others that lanes run over with it: a divisor, so that all tiles
/// have a size that is known. 0 if that is not so.
static int64_t chooseColumnGroups(const CPUPlan &plan, ArrayRef<int64_t> sizes,
                                  int64_t elementBytes) {
  if (plan.groups.size() > 1 ||
      plan.tiledAxis < static_cast<int>(plan.groups.front().axis))
    return 0;
  int64_t inside = 1, size = sizes[plan.tiledAxis];
  for (int64_t inner : sizes.drop_front(plan.tiledAxis + 1)) {
    if (ShapedType::isDynamic(inner))
      return 0;
    inside *= std::max<int64_t>(inner, 1);
  }
  int64_t most =
      std::max<int64_t>(kCPURates.tileColumnBytes / elementBytes / inside, 1);
  if (ShapedType::isDynamic(size) || size <= most)
    return most;
  int64_t tile = most;
  while (size % tile)
    --tile;
  return 2 * tile >= most ? tile : most;
}

/// Rows per tile of a transposed input, at least, that all of a factor goes by
/// for which leaves the first-level cache; 0: as many as memory likes.
static int64_t chooseTransposedRows(const CPUPlan &plan, int64_t elementBytes,
                                    int64_t lanes, const CacheBudget &caches) {
  const StepGroup &first = plan.groups.front();
  int64_t factorBytes = first.sizeK * first.sizeN * elementBytes;
  bool isOutside = plan.tiledAxis < static_cast<int>(first.axis);
  if (plan.groups.size() > 1 || !isOutside || factorBytes <= caches.l1Bytes)
    return 0;
  int64_t rowBytes = (first.sizeK + first.sizeN) * elementBytes;
  return llvm::alignDown(chooseRowsBeside(rowBytes, caches), lanes);
}

/// Bytes of the largest factor that leaves the first-level cache, whose steps
/// have lanes over q and register tiles with rows along the tiled axis, outside
/// of which tiles have few others; 0 without one.
static int64_t getPanelsForRows(const CPUPlan &plan, FusedOp fused,
                                int64_t lanes, const CacheBudget &caches) {
  int64_t most = 0;
  for (auto [index, group] : llvm::enumerate(plan.groups)) {
    int64_t outside = 1, inside = 1;
    for (auto [axis, role] : llvm::enumerate(plan.roles)) {
      bool isOwn =
          axis >= group.axis && axis < group.axis + group.products.size();
      if (role == AxisRole::Whole && !isOwn)
        (axis < group.axis ? outside : inside) *=
            plan.getWholeSize(axis, index);
    }
    int64_t bytes = group.sizeK * llvm::alignTo(group.sizeN * inside, lanes) *
                    getComputedBytes(fused);
    if (outside < kCPUForms.latencyRows && 2 * inside <= lanes &&
        bytes > caches.l1Bytes)
      most = std::max(most, bytes);
  }
  return most;
}

/// Rows of a tile of `tile` of `size`, of so many bytes each, that all of a
/// factor of `panelBytes` goes by for: as many as half of the second-level
/// cache holds if that comes from beyond it, or else whole register tiles.
static int64_t chooseRowsOfPanels(int64_t tile, int64_t size,
                                  int64_t bytesPerPosition, int64_t panelBytes,
                                  const CacheBudget &caches) {
  int64_t rows = tile;
  if (panelBytes > caches.l2Bytes / 2)
    rows = std::max(tile, caches.l2Bytes / 4 / bytesPerPosition);
  bool isOpen = ShapedType::isDynamic(size) || size % tile;
  return rows > tile || isOpen ? llvm::alignTo(rows, kCPURates.panelRows)
                               : tile;
}

/// Rows that fill a tile of small rows, out of `size`; a number that divides it
/// if there is one near, since code for tiles of an unknown size is slower, and
/// a multiple of `step` if those are few.
static int64_t chooseSmallRows(int64_t size, int64_t bytesPerPosition,
                               int64_t step, const CacheBudget &caches) {
  int64_t tile = std::clamp<int64_t>(
      llvm::divideCeil(std::min(caches.rowTileBytes, caches.l1Bytes / 4),
                       bytesPerPosition),
      1, 256);
  if (step * bytesPerPosition > 2 * caches.rowTileBytes)
    step = 1;
  tile = std::max(llvm::alignDown(tile + step / 2, step), uint64_t(step));
  // Not much more than that, however many rows a step is.
  if (step > 1 && tile > step &&
      2 * tile * bytesPerPosition > 3 * caches.rowTileBytes)
    tile -= step;
  if (!ShapedType::isDynamic(size))
    for (int64_t rows = tile; 2 * rows >= tile && rows > 0; rows -= step)
      if (size % rows == 0)
        return rows;
  return tile;
}

/// Rows whose results are whole cache lines, if they can be stored
/// non-temporally from a copy.
static int64_t getRowStep(const CPUPlan &plan, FusedOp fused,
                          int64_t elementBytes) {
  int64_t bytes = countElements(fused.getInit(), plan.roles) * elementBytes;
  return kLineBytes / std::gcd(kLineBytes, bytes);
}

/// Rows that fill the first-level cache. Few rows in all are left for threads
/// to share, if one row has enough for every factor to be used often.
static int64_t chooseLargeRows(const CPUPlan &plan, int64_t size,
                               int64_t bytesPerPosition,
                               const CacheBudget &caches) {
  int64_t tile = std::clamp<int64_t>(
      caches.l1Bytes / (plan.numBuffers * bytesPerPosition), 1, 256);
  bool hasManyFibres = llvm::all_of(plan.groups, [&](const StepGroup &group) {
    return plan.elementsPerPosition >= kCPURates.manyFibres * group.sizeK;
  });
  if (ShapedType::isDynamic(size) || !hasManyFibres)
    return tile;
  return std::clamp<int64_t>(size / kCPURates.leastTiles, 1, tile);
}

/// The largest divisor of `size` up to `rows`, if it is not much less, since
/// single rows are left otherwise; else `rows`.
static int64_t chooseEvenRows(int64_t size, int64_t rows) {
  if (ShapedType::isDynamic(size) || !size)
    return rows;
  int64_t even = getDivisor(size, rows);
  return 2 * even >= rows ? even : rows;
}

/// Rows that segments are taken through: of one vector of each the second-level
/// cache holds a copy, while the factor comes from beyond for each tile.
static int64_t chooseSegmentRows(const CPUPlan &plan, FusedOp fused,
                                 int64_t vectorBits,
                                 const CacheBudget &caches) {
  int64_t size = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  int64_t rowBytes = (plan.groups.front().sizeK + 1) * vectorBits / 8;
  int64_t held =
      std::max<int64_t>(getMostSegmentBytes(caches.l2Bytes) / rowBytes, 1);
  int64_t rows =
      std::min(held, chooseRows(plan, fused, getComputedBytes(fused), caches));
  if (ShapedType::isDynamic(size) || !size)
    return rows;
  for (int64_t even = rows; even <= std::min(held, 2 * rows); ++even)
    if (size % even == 0)
      return even;
  return chooseEvenRows(size, rows);
}

/// Rows that lanes run over: a vector, a second one only as long as all is in
/// the first-level cache. Of a transposed input a cache line, or, where these
/// do not start at lines, segments that share few with the next ones if the
/// second-level cache holds them.
static int64_t chooseRowsInLanes(const CPUPlan &plan, FusedOp fused,
                                 int64_t bytesPerPosition, int64_t elementBytes,
                                 int64_t lanes, const CacheBudget &caches) {
  if (!plan.transposesInput)
    return 4 * lanes * bytesPerPosition <= caches.l1Bytes ? 2 * lanes : lanes;
  SmallVector<int64_t> strides = getInputStrides(fused);
  bool isAligned = llvm::all_of(llvm::enumerate(strides), [&](auto stride) {
    return static_cast<int>(stride.index()) == plan.tiledAxis ||
           (!ShapedType::isDynamic(stride.value()) &&
            stride.value() * elementBytes % kLineBytes == 0);
  });
  int64_t rows = kCPURates.columnSegmentBytes / elementBytes;
  return isAligned || 2 * rows * bytesPerPosition > caches.l2Bytes
             ? kLineBytes / elementBytes
             : rows;
}

/// Elements of the axes inside of the tiled one that no factor contracts, if
/// there are no others there, else 1.
static int64_t countInside(const CPUPlan &plan, FusedOp fused) {
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  if (plan.groups.size() > 1 ||
      plan.tiledAxis < static_cast<int>(plan.groups.front().axis))
    return 1;
  return ShapedType::getNumElements(sizes.drop_front(plan.tiledAxis + 1));
}

int64_t kron::chooseTile(const CPUPlan &plan, FusedOp fused, int64_t vectorBits,
                         int64_t matrixTiles, const CacheBudget &caches) {
  if (plan.tiledAxis < 0)
    return 1;
  int64_t elementBytes = getComputedBytes(fused);
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  int64_t size = sizes[plan.tiledAxis];
  int64_t lanes = vectorBits / 8 / elementBytes;
  int64_t bytesPerPosition = plan.elementsPerPosition * elementBytes;
  int64_t tile = 1;
  if (takesSingleVectors(plan, fused, vectorBits, caches))
    tile = lanes;
  else if (!plan.views.empty() && !plan.rowsInLanes)
    tile = chooseRegroupedRows(fused.getModeProducts(), caches.l2Bytes,
                               plan.isTiledInnermost() || plan.rearrangesInput()
                                   ? kCPURates.columnSegmentBytes / elementBytes
                                   : 16);
  else if (copiesColumns(plan, fused))
    tile = chooseCopiedColumns(plan.groups.front(), elementBytes, caches);
  else if (plan.isTiledInnermost()) {
    tile = chooseColumns(plan, size, bytesPerPosition, lanes, elementBytes,
                         caches);
    int64_t line = kLineBytes / elementBytes;
    if (tile > line && size % tile && hasOddLines(plan, fused))
      tile = line;
  } else if (plan.rowsInLanes)
    tile = chooseRowsInLanes(plan, fused, bytesPerPosition, elementBytes, lanes,
                             caches);
  else if (plan.transposesInput) {
    // Two cache lines of the input, even where the second-level cache does not
    // hold the rows that they belong to: fetching parts of lines costs more.
    tile = chooseEvenSegment(
        chooseTileSegment(size, bytesPerPosition, lanes, elementBytes, caches),
        size, countInside(plan, fused), bytesPerPosition, lanes, caches);
    tile =
        std::max(tile, chooseTransposedRows(plan, elementBytes, lanes, caches));
  } else if (int64_t groups = chooseColumnGroups(plan, sizes, elementBytes))
    tile = groups;
  else if (int64_t rows = chooseBlockRows(plan, fused, elementBytes, caches))
    tile = joinLastRows(plan, fused, rows, elementBytes, caches);
  else if (hasLongVaryingAxis(plan, fused, lanes, matrixTiles))
    tile = chooseSegmentRows(plan, fused, vectorBits, caches);
  else if (plan.groups.size() > 1 &&
           bytesPerPosition <= kCPURates.mostSmallRowBytes)
    tile = chooseSmallRows(size, bytesPerPosition,
                           getRowStep(plan, fused, elementBytes), caches);
  else if (plan.groups.size() > 1)
    tile = chooseLargeRows(plan, size, bytesPerPosition, caches);
  else
    tile =
        joinLastRows(plan, fused, chooseRows(plan, fused, elementBytes, caches),
                     elementBytes, caches);
  int64_t panelBytes = plan.groups.size() > 1 && plan.views.empty() &&
                               !plan.isTiledInnermost() && !plan.rowsInLanes &&
                               !plan.transposesInput
                           ? getPanelsForRows(plan, fused, lanes, caches)
                           : 0;
  if (panelBytes)
    tile = chooseRowsOfPanels(tile, size, bytesPerPosition, panelBytes, caches);
  if (!plan.isTiledInnermost() && !plan.rearrangesInput() && plan.views.empty())
    tile =
        chooseFollowedRows(plan, fused, vectorBits, tile, elementBytes, caches);
  if (fused.getEpilogue()) {
    // What the epilogue is applied to stays in cache.
    int64_t bytes = countElements(fused.getInit(), plan.roles) * elementBytes;
    int64_t most = std::max<int64_t>(caches.l2Bytes / 4 / bytes, 1);
    if (plan.isTiledInnermost())
      most = std::max(most / lanes * lanes, lanes);
    tile = std::min(tile, most);
  }
  return ShapedType::isDynamic(size) ? tile
                                     : std::clamp<int64_t>(size, 1, tile);
}

int64_t kron::widenForMatrixTiles(const CPUPlan &plan, FusedOp fused,
                                  int64_t tile) {
  // Blocks take 32 positions; more of them when nothing has to stay in cache.
  int64_t bytes = plan.elementsPerPosition * getComputedBytes(fused);
  bool isSingle =
      plan.groups.size() == 1 && bytes <= kCPURates.mostAmxPositionBytes;
  auto fills = [](const StepGroup &group) {
    return group.sizeK >= kCPURates.leastAmxK &&
           group.sizeN >= kCPURates.leastAmxResults;
  };
  if (plan.tiledAxis < 0 || !llvm::any_of(plan.groups, fills) ||
      !(plan.groups.size() == 1 || plan.isTiledInnermost()))
    return tile;
  int64_t size = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  int64_t wide = llvm::alignTo(
      std::max(tile, isSingle ? 2 * kAmxBlockSize : kAmxBlockSize),
      kAmxBlockSize);
  return ShapedType::isDynamic(size) ? wide
                                     : std::clamp<int64_t>(size, 1, wide);
}
