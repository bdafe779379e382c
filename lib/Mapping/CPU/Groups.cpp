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

/// Whether `joined`, that is `group` and `next`, is cheaper than both apart on
/// an array of `sizes`.
static bool isCheaperJoined(const StepGroup &group, ModeProductOp next,
                            const StepGroup &joined, ArrayRef<int64_t> sizes,
                            int64_t lanes, bool isFull) {
  StepGroup other = startGroup(next);
  unsigned end = group.axis + group.products.size();
  int64_t groupInside = getInside(sizes, end, isFull);
  // What lies inside `next` once the group has been applied.
  SmallVector<int64_t> after(sizes);
  for (ModeProductOp product : group.products)
    after[product.getAxis()] = getArrayType(product.getFactor())
                                   .getDimSize(product.getResultingFactorDim());
  int64_t nextInside = getInside(after, other.axis + 1, isFull);
  int64_t jointInside =
      getInside(sizes, joined.axis + joined.products.size(), isFull);
  double growth = double(group.sizeN) / group.sizeK;
  double apart =
      getGroupCost(group.sizeK, group.sizeN, groupInside, lanes) +
      growth * getGroupCost(other.sizeK, other.sizeN, nextInside, lanes);
  double joint = getGroupCost(joined.sizeK, joined.sizeN, jointInside, lanes);
  // Arrays without elements have no costs to compare.
  return !(joint > apart);
}

SmallVector<StepGroup> kron::chooseGroups(FusedOp fused, int64_t lanes,
                                          bool isFull) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  SmallVector<int64_t> sizes(
      getArrayType(products.front().getInput()).getShape());
  SmallVector<StepGroup> groups;
  for (unsigned index = 0; index < products.size();) {
    StepGroup group = startGroup(products[index]);
    unsigned next = index + 1;
    for (; next < products.size(); ++next) {
      std::optional<StepGroup> joined =
          joinGroup(fused, group, products[next], /*isFirst=*/index == 0,
                    /*isLast=*/next + 1 == products.size());
      if (!joined || !isCheaperJoined(group, products[next], *joined, sizes,
                                      lanes, isFull))
        break;
      group = std::move(*joined);
    }
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getArrayType(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
    groups.push_back(std::move(group));
    index = next;
  }
  return groups;
}
