//===- TileLayoutTest.cpp - Where elements of tiles lie ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <limits>
#include <set>
#include <vector>

using namespace mlir;
using namespace mlir::kron;

/// Sizes that are powers of two, or nearly, or not at all.
static const std::vector<std::vector<int64_t>> kSizes = {
    {64},         {5},          {3, 7},      {16, 16},
    {8, 8, 8},    {4, 16, 16},  {5, 16, 16}, {7, 11, 13},
    {1, 32},      {30, 31},     {33, 33},    {2, 2, 2, 2},
    {16, 16, 24}, {3, 100, 20}, {32, 4, 32}, {3, 5, 8, 64}};

/// Calls `visit` with all positions of a tile of `sizes`.
template <typename Visit>
static void forEachPosition(ArrayRef<int64_t> sizes, Visit visit) {
  SmallVector<int64_t> positions(sizes.size(), 0);
  for (;;) {
    visit(positions);
    unsigned dim = sizes.size();
    while (dim > 0 && ++positions[dim - 1] == sizes[dim - 1])
      positions[--dim] = 0;
    if (dim == 0)
      return;
  }
}

template <typename Check> static void forEachLayout(Check check) {
  for (ArrayRef<int64_t> sizes : kSizes)
    for (int64_t elementBytes : {4, 8}) {
      std::string text = std::to_string(elementBytes) + " bytes:";
      for (int64_t size : sizes)
        text += " " + std::to_string(size);
      SCOPED_TRACE(text);
      check(sizes, TileLayout::get(sizes, elementBytes));
    }
}

TEST(TileLayout, PositionsHavePlacesOfTheirOwn) {
  forEachLayout([](ArrayRef<int64_t> sizes, const TileLayout &layout) {
    EXPECT_EQ(layout.bytes % 128, 0);
    std::set<int64_t> places;
    size_t count = 0;
    forEachPosition(sizes, [&](ArrayRef<int64_t> positions) {
      int64_t place = layout.swizzle(layout.getIndex(positions));
      EXPECT_GE(place, 0);
      EXPECT_LE((place + 1) * layout.elementBytes, layout.bytes);
      places.insert(place);
      ++count;
    });
    EXPECT_EQ(places.size(), count);
  });
}

TEST(TileLayout, SwizzleIsLinear) {
  forEachLayout([](ArrayRef<int64_t>, const TileLayout &layout) {
    int64_t elements = layout.bytes / layout.elementBytes;
    EXPECT_EQ(layout.swizzle(0), 0);
    for (int64_t index = 0; index < elements; ++index) {
      int64_t high = index & (index - 1), low = index & ~high;
      ASSERT_EQ(layout.swizzle(index),
                layout.swizzle(high) ^ layout.swizzle(low));
    }
  });
}

TEST(TileLayout, SixteenBytesStayTogether) {
  forEachLayout([](ArrayRef<int64_t> sizes, const TileLayout &layout) {
    int64_t chunk = 16 / layout.elementBytes;
    EXPECT_EQ(layout.strides.back(), 1);
    for (int64_t stride : ArrayRef(layout.strides).drop_back())
      EXPECT_TRUE(stride % chunk == 0 || layout.pitches.back() < chunk);
    for (int64_t index = 0; index < layout.bytes / layout.elementBytes; ++index)
      ASSERT_EQ(layout.swizzle(index),
                layout.swizzle(index / chunk * chunk) + index % chunk);
  });
}

/// Cycles in which a warp reads 8 bytes at each of `places`, over the two that
/// it takes at least.
static double getConflicts(ArrayRef<int64_t> bytes) {
  int64_t cycles = 0;
  for (size_t first = 0; first < bytes.size(); first += 16) {
    std::vector<std::set<int64_t>> banks(32);
    size_t worst = 1;
    for (int64_t byte : bytes.slice(first, 16))
      for (int64_t word : {byte / 4, byte / 4 + 1}) {
        std::set<int64_t> &bank = banks[word % 32];
        bank.insert(word);
        worst = std::max(worst, bank.size());
      }
    cycles += worst;
  }
  return cycles / 2.0;
}

TEST(TileLayout, FourPositionsAreInDifferentBanks) {
  // Of each dimension but the innermost one, where all are powers of two and
  // 8 neighbours of 8 bytes each are there.
  int checked = 0;
  forEachLayout([&](ArrayRef<int64_t> sizes, const TileLayout &layout) {
    int64_t step = 8 / layout.elementBytes;
    if (!llvm::all_of(sizes,
                      [](int64_t size) { return llvm::isPowerOf2_64(size); }))
      return;
    for (size_t dim = 0; dim + 1 < sizes.size(); ++dim) {
      if (sizes[dim] < 4 || sizes.back() < 8 * step)
        continue;
      SmallVector<int64_t> bytes;
      for (int64_t lane = 0; lane < 32; ++lane) {
        SmallVector<int64_t> positions(sizes.size(), 0);
        positions.back() = lane / 4 * step;
        positions[dim] = lane % 4;
        bytes.push_back(layout.swizzle(layout.getIndex(positions)) *
                        layout.elementBytes);
      }
      EXPECT_EQ(getConflicts(bytes), 1) << "dimension " << dim;
      ++checked;
    }
  });
  EXPECT_GE(checked, 8);
}

TEST(TileLayout, OtherSizesArePaddedALittle) {
  forEachLayout([](ArrayRef<int64_t> sizes, const TileLayout &layout) {
    int64_t elements = 1;
    for (int64_t size : sizes)
      elements *= size;
    if (elements >= 512) {
      EXPECT_LE(layout.bytes, 2 * elements * layout.elementBytes);
    }
  });
}

/// A layout with strides that leave gaps between planes.
static TileLayout getPadded() {
  return TileLayout::get({4, 8, 8, 8}, 4, {544, 68, 8, 1});
}

TEST(TileLayout, GivenStridesAreTaken) {
  TileLayout layout = getPadded();
  EXPECT_EQ(layout.getIndex({1, 2, 3, 4}), 544 + 2 * 68 + 3 * 8 + 4);
  EXPECT_EQ(layout.bytes, 4 * 544 * 4);
  EXPECT_EQ(TileLayout::getDenseStrides({4, 3, 5}),
            (SmallVector<int64_t>{15, 5, 1}));
  // Multiples of 16 bytes; of 128 with bits exchanged.
  EXPECT_EQ(TileLayout::get({3, 3}, 4, {3, 1}).bytes, 48);
  EXPECT_EQ(TileLayout::get({3, 4}, 4, {4, 1}, {{3, 2}}).bytes, 128);
}

TEST(TileLayout, SegmentsAreWhatLiesTogether) {
  using Segment = TileLayout::Segment;
  TileLayout layout = getPadded();
  EXPECT_EQ(layout.getSegments(0, 4),
            (SmallVector<Segment>{{32, 68}, {64, 1}}));
  EXPECT_EQ(layout.getSegments(0, 2), (SmallVector<Segment>{{32, 68}}));
  EXPECT_EQ(layout.getSegments(1, 3), (SmallVector<Segment>{{8, 68}, {8, 8}}));
  // No dimension, and one of one position, whatever its stride.
  EXPECT_EQ(layout.getSegments(2, 2), (SmallVector<Segment>{{1, 1}}));
  EXPECT_EQ(TileLayout::get({4, 1, 3}, 8, {3, 7, 1}).getSegments(0, 3),
            (SmallVector<Segment>{{12, 1}}));
}

TEST(TileLayout, AlignmentIsThatOfAllStrides) {
  TileLayout layout = getPadded();
  EXPECT_EQ(layout.getAlignment(0, 2, 4), 4);
  EXPECT_EQ(layout.getAlignment(0, 2, 8), 4);
  EXPECT_EQ(layout.getAlignment(0, 4, 4), 1);
  EXPECT_EQ(TileLayout::get({2, 6}, 4, {6, 1}).getAlignment(0, 1, 4), 2);
}

TEST(BoxSegments, SegmentsAreWhatLiesTogetherInAnArray) {
  constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();
  // Whole rows are one segment, wherever that starts.
  EXPECT_EQ(BoxSegments::get({8, 17, 17}, {289, 17, 1}, 2),
            (BoxSegments{0, 1, 2312, 2320}));
  // Of some columns, each row is one.
  EXPECT_EQ(BoxSegments::get({3, 5, 64}, {13005, 2601, 1}, 2),
            (BoxSegments{2, 15, 64, 72}));
  // Dimensions of one position do not matter, nor do strides that nobody knows
  // behind a gap.
  EXPECT_EQ(BoxSegments::get({1, 5, 1, 6}, {kDynamic, 6, 0, 1}, 4),
            (BoxSegments{0, 1, 30, 36}));
  EXPECT_EQ(BoxSegments::get({4, 5, 6}, {kDynamic, 8, 1}, 4),
            (BoxSegments{2, 20, 6, 12}));
  // Nothing lies side by side.
  EXPECT_EQ(BoxSegments::get({4, 5}, {1, 4}, 2), std::nullopt);
  EXPECT_EQ(BoxSegments::get({4, 1}, {8, 1}, 2), std::nullopt);
}
