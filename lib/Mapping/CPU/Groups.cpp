//===- Groups.cpp - Which mode products are applied as one ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Axes.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/CPU/Registers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// The share of the lanes that a contiguous segment of `elements` fills.
static double getFill(int64_t elements, int64_t lanes) {
  return double(elements) /
         (elements < lanes ? lanes : int64_t(llvm::alignTo(elements, lanes)));
}

/// Share of a register that useful lanes take, for a factor with `sizeN`
/// columns and `inside` elements inside its axis (-1: many; 0: the arrays are
/// empty, and nothing matters).
static double getLaneUse(int64_t sizeK, int64_t sizeN, int64_t inside,
                         int64_t lanes) {
  auto fill = [&](int64_t elements) { return getFill(elements, lanes); };
  if (inside <= 0)
    return 1.0;
  // Several fibres in every vector: a shuffle for every multiply-add, or two of
  // them that nothing goes beside.
  if (inside == 1 && sizeK == sizeN && 2 * sizeN <= lanes) {
    int64_t fibres = lanes / sizeN;
    if (sizeN <= kMostKeptElements)
      return fill(fibres * sizeN) / (1 + kCPURates.shuffleCost);
    return fill(llvm::bit_floor<uint64_t>(fibres) * sizeN) * sizeN /
           (sizeN + 2);
  }
  if (inside < lanes && llvm::isPowerOf2_64(inside))
    return fill(sizeN * inside);
  // A short axis is repeated by a shuffle that several vectors share.
  int64_t vectors =
      inside < lanes ? llvm::divideCeil(sizeN, lanes / inside) : sizeN;
  if (2 * inside <= lanes && 1 + vectors < sizeN) {
    int64_t shuffles = llvm::divideCeil(vectors, kCPURates.vectorsOfShuffle);
    return double(sizeN * inside) /
           ((kCPURates.shuffleCost * shuffles + vectors) * lanes);
  }
  return fill(inside);
}

double kron::getGroupCost(int64_t sizeK, int64_t sizeN, int64_t inside,
                          int64_t lanes) {
  return sizeN / getLaneUse(sizeK, sizeN, inside, lanes) + 1.0 +
         double(sizeN) / sizeK;
}

/// Elements inside of axes up to `end`; -1 if that is not known.
static int64_t getInside(ArrayRef<int64_t> sizes, unsigned end, bool isFull) {
  if (isFull)
    return -1;
  int64_t inside = 1;
  for (int64_t size : sizes.drop_front(end)) {
    if (ShapedType::isDynamic(size))
      return -1;
    inside *= size;
  }
  return inside;
}

bool kron::paysForPairs(FusedOp fused, const StepGroup &first, int64_t lanes) {
  ModeProductOp product = fused.getModeProducts().front();
  int64_t inside = getInside(getArrayType(product.getInput()).getShape(),
                             first.axis + first.products.size(), false);
  if (first.products.size() > 1 || !first.sizeK)
    return false;
  bool isGroup = inside > 0 && inside < lanes && llvm::isPowerOf2_64(inside);
  double fill =
      inside <= 0
          ? 1.0
          : getFill(isGroup || inside == 1 ? first.sizeN * inside : inside,
                    lanes);
  double pairs = double(llvm::divideCeil(first.sizeK, 2)) / first.sizeK;
  double apart =
      first.sizeN / getLaneUse(first.sizeK, first.sizeN, inside, lanes);
  return first.sizeN * pairs / fill + kCPURates.pairCopySlots < apart;
}

namespace {
/// Chooses which neighbours of the mode products of a fused region are joined:
/// of all divisions into groups the one that costs least.
class GroupChooser {
public:
  GroupChooser(FusedOp fused, int64_t lanes, bool isFull,
               const CacheBudget &caches);

  SmallVector<StepGroup> choose();

private:
  /// The cheapest `count` groups of all products up to one, the last of which
  /// is `last`, with those up to `begin` before it.
  struct Choice {
    StepGroup last;
    unsigned begin = 0, count = 0;
    double cost = 0;

    /// Of equal costs, but for rounding, those of fewer steps are better.
    std::pair<float, unsigned> getRank() const { return {cost, count}; }
  };

  int64_t getInside(unsigned begin, const StepGroup &group) const;
  double getMoveSlots(unsigned begin, const StepGroup &group) const;
  double getCost(unsigned begin, const StepGroup &group) const;
  void tryGroups(unsigned begin);

  FusedOp fused;
  SmallVector<ModeProductOp> products;
  int64_t lanes;
  bool isFull, isComplex;
  CacheBudget caches;
  /// Sizes of the array before each product, and the result's.
  SmallVector<SmallVector<int64_t>> sizes;
  /// Bytes of the least tile for each element of the contracted axes.
  int64_t positionBytes = 0;
  SmallVector<std::optional<Choice>> choices;
};
} // namespace

GroupChooser::GroupChooser(FusedOp fused, int64_t lanes, bool isFull,
                           const CacheBudget &caches)
    : fused(fused), products(fused.getModeProducts()), lanes(lanes),
      isFull(isFull),
      isComplex(isa<ComplexType>(getElementType(fused.getInit()))),
      caches(caches), choices(products.size() + 1) {
  ShapedType init = getArrayType(fused.getInit());
  int innermost = init.getRank() - 1;
  positionBytes = getComputedBytes(fused);
  if (isFull)
    positionBytes *= lanes;
  else if (!getContractedAxes(fused)[innermost])
    positionBytes = init.isDynamicDim(innermost)
                        ? kCPURates.columnSegmentBytes
                        : std::min(kCPURates.columnSegmentBytes,
                                   positionBytes * init.getDimSize(innermost));
  sizes.emplace_back(getArrayType(products.front().getInput()).getShape());
  for (ModeProductOp product : products) {
    SmallVector<int64_t> after = sizes.back();
    after[product.getAxis()] = getArrayType(product.getFactor())
                                   .getDimSize(product.getResultingFactorDim());
    sizes.push_back(std::move(after));
  }
}

/// Elements inside of the axes of `group`, which applies the products from
/// `begin` on.
int64_t GroupChooser::getInside(unsigned begin, const StepGroup &group) const {
  return ::getInside(sizes[begin], group.axis + group.products.size(), isFull);
}

/// Issue slots in which a vector that `group` takes comes from a cache beyond
/// the first one, and its results go there; 0 if it has to go no further: all
/// outside of the group's axes can be cut into slices.
double GroupChooser::getMoveSlots(unsigned begin,
                                  const StepGroup &group) const {
  unsigned end = begin + group.products.size();
  double before = positionBytes, after = positionBytes;
  for (unsigned axis : getContractedAxes(fused).set_bits())
    if (axis >= group.axis) {
      before *= sizes[begin][axis];
      after *= sizes[end][axis];
    }
  if (before + after <= caches.l1Bytes)
    return 0;
  double slots = 2 * (before + after) <= caches.l2Bytes
                     ? kCPURates.secondLevelSlots
                     : kCPURates.fullCacheSlots;
  double share = double(lanes) * getComputedBytes(fused) * 8 / 512;
  return slots * share * (1 + after / before);
}

/// Of applying `group` to the array before product `begin`, per element of the
/// first input: multiply-adds go beside what a cache takes.
double GroupChooser::getCost(unsigned begin, const StepGroup &group) const {
  double share = 1;
  for (auto [first, before] : llvm::zip(sizes.front(), sizes[begin]))
    if (first != before)
      share *= double(before) / first;
  double growth = double(group.sizeN) / group.sizeK;
  double slots =
      getGroupCost(group.sizeK, group.sizeN, getInside(begin, group), lanes);
  // Of both parts of complex numbers.
  if (isComplex)
    slots += slots - 1 - growth;
  return share *
         (std::max(slots, getMoveSlots(begin, group)) + kCPURates.ownLoopSlots);
}

/// Continues the choice of what is applied up to `begin` by each group from
/// there on, as long as joining one more is not dearer than it is apart.
void GroupChooser::tryGroups(unsigned begin) {
  StepGroup group = startGroup(products[begin]);
  double apart = 0;
  for (unsigned end = begin + 1;; ++end) {
    double cost = getCost(begin, group);
    apart += getCost(end - 1, startGroup(products[end - 1]));
    // Arrays without elements have no costs to compare.
    if (cost > apart)
      return;
    Choice next{group, begin, 1, cost};
    if (begin) {
      next.count += choices[begin]->count;
      next.cost += choices[begin]->cost;
    }
    if (!choices[end] || next.getRank() <= choices[end]->getRank())
      choices[end] = next;
    if (end == products.size())
      return;
    std::optional<StepGroup> joined =
        joinGroup(fused, group, products[end], /*isFirst=*/begin == 0,
                  /*isLast=*/end + 1 == products.size());
    if (!joined)
      return;
    group = std::move(*joined);
  }
}

SmallVector<StepGroup> GroupChooser::choose() {
  for (unsigned begin = 0; begin < products.size(); ++begin)
    tryGroups(begin);
  SmallVector<StepGroup> groups;
  for (unsigned end = products.size(); end; end = choices[end]->begin)
    groups.push_back(choices[end]->last);
  std::reverse(groups.begin(), groups.end());
  return groups;
}

SmallVector<StepGroup> kron::chooseGroups(FusedOp fused, int64_t lanes,
                                          const CacheBudget &caches,
                                          bool isFull) {
  return GroupChooser(fused, lanes, isFull, caches).choose();
}
