//===- TileLayout.cpp - Where the elements of tiles lie -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kBankBytes = 4;
static constexpr int64_t kBanks = 32;
static constexpr int64_t kWavefrontBytes = kBankBytes * kBanks;

/// Shared-memory cycles of a warp that reads `accessBytes` per lane: lane
/// (g, t) = (lane / 4, lane % 4) at `g*8 bytes + t*stride`, over the fewest
/// that this many bytes can take.
static double getConflicts(int64_t strideBytes, int64_t accessBytes) {
  int64_t lanesPerCycle = kWavefrontBytes / accessBytes;
  int64_t cycles = 0;
  for (int64_t first = 0; first < 32; first += lanesPerCycle) {
    SmallVector<SmallVector<int64_t>> wordsPerBank(kBanks);
    int64_t worst = 1;
    for (int64_t lane = first; lane < first + lanesPerCycle; ++lane)
      for (int64_t byte = 0; byte < accessBytes; byte += kBankBytes) {
        int64_t word =
            ((lane / 4) * accessBytes + (lane % 4) * strideBytes + byte) /
            kBankBytes;
        SmallVector<int64_t> &words = wordsPerBank[word % kBanks];
        if (!llvm::is_contained(words, word))
          words.push_back(word);
        worst = std::max<int64_t>(worst, words.size());
      }
    cycles += worst;
  }
  return double(cycles) / (32 / lanesPerCycle);
}

/// What a layout may take more of shared memory since sizes are rounded to
/// powers of two.
static constexpr double kMostRounding = 1.26;

/// Rounds sizes to powers of two if that costs little; the outermost needs
/// none.
static bool roundToPowers(SmallVectorImpl<int64_t> &sizes,
                          int64_t elementBytes) {
  double before = 1, after = 1;
  int64_t least = kWavefrontBytes / 4 / elementBytes;
  for (unsigned dim = 0; dim < sizes.size(); ++dim) {
    before *= sizes[dim];
    if (dim > 0)
      sizes[dim] = llvm::PowerOf2Ceil(sizes[dim]);
    if (dim + 1 == sizes.size())
      sizes[dim] = std::max(sizes[dim], least);
    after *= sizes[dim];
  }
  return after <= kMostRounding * before;
}

TileLayout TileLayout::get(ArrayRef<int64_t> sizes, int64_t elementBytes) {
  TileLayout layout;
  layout.elementBytes = elementBytes;
  unsigned rank = sizes.size();
  layout.pitches.assign(sizes.begin(), sizes.end());
  layout.strides.assign(rank, 1);
  bool powers = roundToPowers(layout.pitches, elementBytes);
  int64_t chunk = 16 / elementBytes;
  int64_t period = kWavefrontBytes / elementBytes;
  if (!powers) {
    layout.pitches.assign(sizes.begin(), sizes.end());
    layout.pitches.back() = llvm::alignTo(layout.pitches.back(), chunk);
  }
  for (unsigned dim = rank - 1; dim-- > 0;) {
    int64_t least = layout.strides[dim + 1] * layout.pitches[dim + 1];
    layout.strides[dim] = least;
    if (powers)
      continue;
    // Padding costs room in all dimensions outside of this one.
    double best = 1e30;
    for (int64_t stride = least; stride < least + period; stride += chunk) {
      double cost = getConflicts(stride * elementBytes, 8) +
                    2.0 * (stride - least) / least;
      if (cost < best - 1e-9) {
        best = cost;
        layout.strides[dim] = stride;
      }
    }
  }
  if (powers) {
    // The 4 positions are the low 2 bits of one of the dimensions.
    unsigned high = llvm::Log2_64(period) - 1, low = high - 1;
    for (unsigned dim = 0; dim + 1 < rank; ++dim) {
      unsigned bit = llvm::Log2_64(layout.strides[dim]);
      if (bit < high)
        continue;
      if (bit != high && layout.pitches[dim] > 1)
        layout.swizzles.push_back({bit, high});
      if (layout.pitches[dim] > 2)
        layout.swizzles.push_back({bit + 1, low});
    }
  }
  layout.bytes = llvm::alignTo(
      layout.strides[0] * layout.pitches[0] * elementBytes, kWavefrontBytes);
  return layout;
}

TileLayout TileLayout::get(ArrayRef<int64_t> sizes, int64_t elementBytes,
                           ArrayRef<int64_t> strides,
                           ArrayRef<Swizzle> swizzles) {
  TileLayout layout;
  layout.elementBytes = elementBytes;
  layout.pitches.assign(sizes.begin(), sizes.end());
  layout.strides.assign(strides.begin(), strides.end());
  layout.swizzles.assign(swizzles.begin(), swizzles.end());
  int64_t elements = 1;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    elements = std::max(elements, size * stride);
  layout.bytes = llvm::alignTo(elements * elementBytes,
                               swizzles.empty() ? 16 : kWavefrontBytes);
  return layout;
}

SmallVector<int64_t> TileLayout::getDenseStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (unsigned dim = sizes.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * sizes[dim];
  return strides;
}

int64_t TileLayout::getIndex(ArrayRef<int64_t> positions) const {
  int64_t index = 0;
  for (auto [position, stride] : llvm::zip_equal(positions, strides))
    index += position * stride;
  return index;
}

int64_t TileLayout::swizzle(int64_t index) const {
  int64_t result = index;
  for (Swizzle term : swizzles)
    result ^= ((index >> term.from) & 1) << term.to;
  return result;
}

SmallVector<TileLayout::Segment> TileLayout::getSegments(unsigned begin,
                                                         unsigned end) const {
  SmallVector<Segment> segments;
  for (unsigned dim = begin; dim < end; ++dim) {
    if (pitches[dim] == 1)
      continue;
    if (!segments.empty() &&
        segments.back().stride == pitches[dim] * strides[dim])
      segments.back() = {segments.back().size * pitches[dim], strides[dim]};
    else
      segments.push_back({pitches[dim], strides[dim]});
  }
  if (segments.empty())
    segments.push_back({1, 1});
  return segments;
}

int64_t TileLayout::getAlignment(unsigned begin, unsigned end,
                                 int64_t limit) const {
  for (unsigned dim = begin; dim < end; ++dim)
    while (pitches[dim] > 1 && strides[dim] % limit != 0)
      limit /= 2;
  return limit;
}

std::optional<BoxSegments> BoxSegments::get(ArrayRef<int64_t> sizes,
                                            ArrayRef<int64_t> strides,
                                            int64_t elementBytes) {
  BoxSegments segments;
  segments.inner = sizes.size();
  // Where a box ends within an axis, the next stride is longer than what it
  // has.
  while (segments.inner > 0 &&
         (sizes[segments.inner - 1] == 1 ||
          strides[segments.inner - 1] == segments.elements))
    segments.elements *= sizes[--segments.inner];
  if (segments.elements == 1)
    return std::nullopt;
  segments.count = llvm::product_of(sizes.take_front(segments.inner));
  int64_t chunk = std::max<int64_t>(kSegmentChunkBytes / elementBytes, 1);
  segments.room = llvm::alignTo(segments.elements + chunk - 1, chunk);
  return segments;
}
