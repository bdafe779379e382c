//===- Groups.cpp - Which mode products are applied as one ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CPUPlanning.h"
#include "kron/Plan/CPU/Registers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Share of a register that useful lanes take, for a factor with `sizeN`
/// columns and `inside` elements inside its axis (-1: many; 0: the arrays are
/// empty, and nothing matters).
static double getLaneUse(int64_t sizeK, int64_t sizeN, int64_t inside,
                         int64_t lanes) {
  auto fill = [&](int64_t elements) {
    return elements < lanes ? double(elements) / lanes
                            : double(elements) / llvm::alignTo(elements, lanes);
  };
  if (inside <= 0)
    return 1.0;
  // A shuffle takes half as long as a multiply-add, which it can go beside.
  constexpr double kShuffle = 0.5;
  // Several fibres in every vector: a shuffle for every multiply-add, or two of
  // them that nothing goes beside.
  if (inside == 1 && sizeK == sizeN && 2 * sizeN <= lanes) {
    int64_t fibres = lanes / sizeN;
    if (sizeN <= kMostKeptElements)
      return fill(fibres * sizeN) / (1 + kShuffle);
    return fill(llvm::bit_floor<uint64_t>(fibres) * sizeN) * sizeN /
           (sizeN + 2);
  }
  if (inside < lanes && llvm::isPowerOf2_64(inside))
    return fill(sizeN * inside);
  // A short axis is repeated by a shuffle that several vectors share.
  int64_t vectors =
      inside < lanes ? llvm::divideCeil(sizeN, lanes / inside) : sizeN;
  if (2 * inside <= lanes && 1 + vectors < sizeN)
    return double(sizeN * inside) / ((kShuffle + vectors) * lanes);
  return fill(inside);
}

double kron::getGroupCost(int64_t sizeK, int64_t sizeN, int64_t inside,
                          int64_t lanes) {
  return sizeN / getLaneUse(sizeK, sizeN, inside, lanes) + 1.0 +
         double(sizeN) / sizeK;
}

/// Whether axes [first, first + count) of `array` can be walked as one.
static bool isCollapsible(Value array, unsigned first, unsigned count,
                          ArrayRef<int64_t> permutation) {
  auto type = dyn_cast<MemRefType>(array.getType());
  auto axisOf = [&](unsigned axis) {
    return permutation.empty() ? axis : permutation[axis];
  };
  if (!type)
    return permutation.empty();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (unsigned axis = first; axis + 1 < first + count; ++axis) {
    int64_t outer = strides[axisOf(axis)], inner = strides[axisOf(axis + 1)];
    int64_t size = type.getDimSize(axisOf(axis + 1));
    if (ShapedType::isDynamic(outer) || ShapedType::isDynamic(inner) ||
        ShapedType::isDynamic(size) || outer != inner * size)
      return false;
  }
  return true;
}

namespace {

/// Joins neighbouring mode products while that is cheaper.
class Grouper {
public:
  /// `isFull`: lanes are full whatever lies inside.
  Grouper(FusedOp fused, int64_t lanes, bool isFull)
      : fused(fused), lanes(lanes), isFull(isFull) {}

  SmallVector<StageGroup> run();

private:
  bool tryJoin(StageGroup &group, ModeProductOp next, ArrayRef<int64_t> sizes,
               bool isFirst, bool isLast);
  int64_t getInside(ArrayRef<int64_t> sizes, unsigned end) const;

  FusedOp fused;
  int64_t lanes;
  bool isFull;
};

} // namespace

StageGroup kron::startGroup(ModeProductOp product) {
  StageGroup group;
  group.axis = product.getAxis();
  group.sizeK = getArrayType(product.getFactor())
                    .getDimSize(product.getContractedFactorDim());
  group.sizeN = getArrayType(product.getFactor())
                    .getDimSize(product.getResultingFactorDim());
  group.products.push_back(product);
  return group;
}

int64_t Grouper::getInside(ArrayRef<int64_t> sizes, unsigned end) const {
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

bool Grouper::tryJoin(StageGroup &group, ModeProductOp next,
                      ArrayRef<int64_t> sizes, bool isFirst, bool isLast) {
  StageGroup other = startGroup(next);
  unsigned end = group.axis + group.products.size();
  bool outside = other.axis + 1 == group.axis;
  if (!outside && other.axis != end)
    return false;
  auto isPlain = [](ModeProductOp product) {
    return getArrayType(product.getFactor()).getRank() == 2;
  };
  // What is conjugated between two factors is not one product of them.
  if (next.getConjInput())
    return false;
  if (!isPlain(next) || !llvm::all_of(group.products, isPlain))
    return false;
  unsigned first = std::min(group.axis, other.axis);
  unsigned count = group.products.size() + 1;
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  if (isFirst &&
      !isCollapsible(fused.getInputs().front(), first, count, permutation))
    return false;
  if (isLast && !isCollapsible(fused.getInit(), first, count, {}))
    return false;
  if (isLast && next.getAddend()) {
    auto argument = cast<BlockArgument>(next.getAddend());
    if (!isCollapsible(fused->getOperand(argument.getArgNumber()), first, count,
                       {}))
      return false;
  }

  int64_t groupInside = getInside(sizes, end);
  // What lies inside `next` once the group has been applied.
  SmallVector<int64_t> after(sizes);
  for (ModeProductOp product : group.products)
    after[product.getAxis()] = getArrayType(product.getFactor())
                                   .getDimSize(product.getResultingFactorDim());
  int64_t nextInside = getInside(after, other.axis + 1);
  int64_t jointInside = getInside(sizes, first + count);
  double growth = double(group.sizeN) / group.sizeK;
  double apart =
      getGroupCost(group.sizeK, group.sizeN, groupInside, lanes) +
      growth * getGroupCost(other.sizeK, other.sizeN, nextInside, lanes);
  double joint = getGroupCost(group.sizeK * other.sizeK,
                              group.sizeN * other.sizeN, jointInside, lanes);
  if (joint > apart)
    return false;
  group.sizeK *= other.sizeK;
  group.sizeN *= other.sizeN;
  group.axis = first;
  group.products.insert(outside ? group.products.begin() : group.products.end(),
                        next);
  return true;
}

SmallVector<StageGroup> Grouper::run() {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  SmallVector<int64_t> sizes(
      getArrayType(products.front().getInput()).getShape());
  SmallVector<StageGroup> groups;
  for (unsigned index = 0; index < products.size();) {
    StageGroup group = startGroup(products[index]);
    unsigned next = index + 1;
    while (next < products.size() &&
           tryJoin(group, products[next], sizes, /*isFirst=*/index == 0,
                   /*isLast=*/next + 1 == products.size()))
      ++next;
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getArrayType(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
    groups.push_back(std::move(group));
    index = next;
  }
  return groups;
}

SmallVector<StageGroup> kron::groupProducts(FusedOp fused, int64_t lanes,
                                            bool isFull) {
  return Grouper(fused, lanes, isFull).run();
}
