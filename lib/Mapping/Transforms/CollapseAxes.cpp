//===- CollapseAxes.cpp - Axes of fused regions that lie as one -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A fused region of some factors of a long chain has all of the chain's axes.
// Kernels cut tiles along one axis: of many short ones that follow each other
// in memory, they would take those of one, and positions of the others one by
// one.
//
//===----------------------------------------------------------------------===//

#include "CollapseAxes.h"
#include "FusionPlan.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "kron/Mapping/Passes.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Problem.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONCOLLAPSEAXES
#include "kron/Mapping/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {

class Collapser {
public:
  Collapser(RewriterBase &rewriter, FusedOp fused);

  /// Whether there are axes to be made one.
  bool findGroups();
  FusedOp run();

private:
  /// An array that has all axes; axis k is its dimension `permutation[k]`.
  struct Array {
    Value value;
    SmallVector<int64_t> permutation;
  };

  bool isFree(int64_t axis);
  bool canJoin(ArrayRef<int64_t> group) const;
  SmallVector<ReassociationIndices> getDims(const Array &array) const;
  Value collapse(const Array &array);
  int64_t getGroupOf(int64_t axis) const;
  Value createIntermediate(OpBuilder &builder, ModeProductOp product,
                           Value init);
  Value buildProducts(OpBuilder &builder, ValueRange args);

  RewriterBase &rewriter;
  FusedOp fused;
  SmallVector<ModeProductOp> products;
  int64_t rank;
  /// The input and the destination, then the addend if that is an operand of
  /// its own.
  SmallVector<Array> arrays;
  SmallVector<ReassociationIndices> groups;
};

} // namespace

Collapser::Collapser(RewriterBase &rewriter, FusedOp fused)
    : rewriter(rewriter), fused(fused), products(fused.getModeProducts()),
      rank(cast<ShapedType>(fused.getInit().getType()).getRank()) {
  auto inOrder = llvm::to_vector(llvm::seq<int64_t>(rank));
  auto permutation = fused.getInputPermutation();
  arrays.push_back({fused.getInputs().front(),
                    permutation ? llvm::to_vector(*permutation) : inOrder});
  arrays.push_back({fused.getInit(), inOrder});
  Value addend = products.back().getAddend();
  if (addend && fused.getOperandOf(addend) != fused.getInit())
    arrays.push_back({fused.getOperandOf(addend), inOrder});
}

/// Whether no factor contracts `axis` or has a dimension for it.
bool Collapser::isFree(int64_t axis) {
  return llvm::none_of(products, [&](ModeProductOp product) {
    return axis == static_cast<int64_t>(product.getAxis()) ||
           llvm::is_contained(product.getFactorDims(), axis);
  });
}

/// Whether the axes of `group`, neighbours, are one in every array: none of
/// them is stretched.
bool Collapser::canJoin(ArrayRef<int64_t> group) const {
  // The destination has no axis that is.
  ArrayRef<int64_t> shape =
      cast<ShapedType>(arrays[1].value.getType()).getShape();
  return llvm::all_of(arrays, [&](const Array &array) {
    auto type = cast<MemRefType>(array.value.getType());
    SmallVector<ReassociationIndices> dims;
    int64_t first = array.permutation[group.front()];
    for (auto [offset, axis] : llvm::enumerate(group))
      if (array.permutation[axis] != first + static_cast<int64_t>(offset) ||
          type.getDimSize(array.permutation[axis]) != shape[axis])
        return false;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim > first && dim < first + static_cast<int64_t>(group.size()))
        dims.back().push_back(dim);
      else
        dims.push_back({dim});
    return memref::CollapseShapeOp::isGuaranteedCollapsible(type, dims);
  });
}

bool Collapser::findGroups() {
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis > 0 && isFree(axis) && isFree(axis - 1)) {
      ReassociationIndices joined = groups.back();
      joined.push_back(axis);
      if (canJoin(joined)) {
        groups.back() = joined;
        continue;
      }
    }
    groups.push_back({axis});
  }
  return static_cast<int64_t>(groups.size()) < rank;
}

/// Dimensions of `array` by group, in the order of its dimensions.
SmallVector<ReassociationIndices> Collapser::getDims(const Array &array) const {
  SmallVector<ReassociationIndices> dims;
  for (const ReassociationIndices &group : groups)
    dims.push_back(llvm::map_to_vector<2>(
        group, [&](int64_t axis) { return array.permutation[axis]; }));
  llvm::sort(dims, [](const ReassociationIndices &lhs,
                      const ReassociationIndices &rhs) {
    return lhs.front() < rhs.front();
  });
  return dims;
}

Value Collapser::collapse(const Array &array) {
  return memref::CollapseShapeOp::create(rewriter, fused.getLoc(), array.value,
                                         getDims(array));
}

/// The number of the group that `axis` becomes.
int64_t Collapser::getGroupOf(int64_t axis) const {
  return llvm::find_if(groups,
                       [&](const ReassociationIndices &group) {
                         return llvm::is_contained(group, axis);
                       }) -
         groups.begin();
}

/// The destination of `product`, which is not the last one: of sizes that are
/// not known, what no factor contracts has those of `init`.
Value Collapser::createIntermediate(OpBuilder &builder, ModeProductOp product,
                                    Value init) {
  auto type = cast<RankedTensorType>(product.getInit().getType());
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    bool isOpen = llvm::any_of(
        group, [&](int64_t axis) { return type.isDynamicDim(axis); });
    shape.push_back(isOpen ? ShapedType::kDynamic : 1);
    if (isOpen)
      sizes.push_back(
          tensor::DimOp::create(builder, product.getLoc(), init, dim));
    else
      for (int64_t axis : group)
        shape.back() *= type.getDimSize(axis);
  }
  return tensor::EmptyOp::create(builder, product.getLoc(), shape,
                                 type.getElementType(), sizes);
}

Value Collapser::buildProducts(OpBuilder &builder, ValueRange args) {
  Value init = args.back(), value = args.front();
  for (auto [number, product] : llvm::enumerate(products)) {
    SmallVector<int64_t> roles =
        llvm::map_to_vector(product.getFactorDims(), [&](int64_t role) {
          return role < 0 ? role : getGroupOf(role);
        });
    bool isLast = number + 1 == products.size();
    Value destination = init, addend;
    if (!isLast)
      destination = createIntermediate(builder, product, init);
    else if (product.getAddend())
      addend = arrays.size() > 2 ? args[args.size() - 2] : init;
    auto built = ModeProductOp::create(
        builder, product.getLoc(), TypeRange(destination.getType()), value,
        args[1 + number], product.getAlpha(), product.getBeta(), addend,
        destination, static_cast<uint64_t>(getGroupOf(product.getAxis())),
        roles, product.getConjInput(), product.getConjFactor(),
        product.getStaticAlphaAttr(), product.getStaticBetaAttr(),
        product.getPrecision(), /*plan=*/nullptr);
    value = built.getResult(0);
  }
  return value;
}

FusedOp Collapser::run() {
  rewriter.setInsertionPoint(fused);
  SmallVector<Value> inputs{collapse(arrays[0])};
  for (ModeProductOp product : products)
    inputs.push_back(fused.getOperandOf(product.getFactor()));
  Value init = collapse(arrays[1]);
  if (arrays.size() > 2)
    inputs.push_back(collapse(arrays[2]));
  SmallVector<int64_t> permutation;
  if (fused.getInputPermutation()) {
    SmallVector<ReassociationIndices> dims = getDims(arrays[0]);
    for (const ReassociationIndices &group : groups)
      permutation.push_back(
          llvm::find_if(dims,
                        [&](const ReassociationIndices &dim) {
                          return dim.front() ==
                                 arrays[0].permutation[group.front()];
                        }) -
          dims.begin());
  }
  FusedOp built = createFusedOp(rewriter, fused.getLoc(), inputs, init,
                                permutation, fused.getPlanAttr(),
                                [&](OpBuilder &builder, ValueRange args) {
                                  return buildProducts(builder, args);
                                });
  rewriter.eraseOp(fused);
  return built;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Whether an intermediate result of `fused` leaves the size of an axis open
/// that is contracted.
static bool hasOpenContractedAxis(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  return llvm::any_of(products, [&](ModeProductOp product) {
    auto type = cast<ShapedType>(product.getInit().getType());
    return llvm::any_of(products, [&](ModeProductOp other) {
      return type.isDynamicDim(other.getAxis());
    });
  });
}

/// Whether the plan of `fused` has tiles with a size for each axis as it is.
/// Others are of joined axes, as those that planners make without one are.
static bool isOfAllAxes(FusedOp fused) {
  int64_t rank = cast<ShapedType>(fused.getInit().getType()).getRank();
  auto hasAll = [&](DictionaryAttr fields) {
    auto extents = fields.getAs<DenseI64ArrayAttr>("extents");
    return extents && extents.size() == rank;
  };
  return llvm::any_of(getGPUPlans(fused), [&](GPUPlanAttr plan) {
    auto launches = plan.getFields().getAs<ArrayAttr>("launches");
    return hasAll(plan.getFields()) ||
           (launches &&
            llvm::any_of(launches.getAsRange<DictionaryAttr>(), hasAll));
  });
}

/// Whether axes of `fused` may be joined.
static bool isTaken(FusedOp fused, ArrayRef<QuantizeOp> quantizes) {
  auto hasStaticFactor = [](ModeProductOp op) {
    return cast<ShapedType>(op.getFactor().getType()).hasStaticShape();
  };
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (!isa<MemRefType>(fused.getInit().getType()) ||
      !llvm::all_of(products, hasStaticFactor) || hasEmptyArray(fused) ||
      isRegrouped(fused) || !isSplittable(fused) ||
      // Whole rows are quantized, as they are.
      findQuantize(fused, quantizes))
    return false;
  if (products.size() == 1 && isSparse(describeProblem(fused)))
    return true;
  return !isOfAllAxes(fused) && !hasOpenContractedAxis(fused);
}

FusedOp kron::collapseAxes(RewriterBase &rewriter, FusedOp fused,
                           ArrayRef<QuantizeOp> quantizes) {
  if (!isTaken(fused, quantizes))
    return fused;
  Collapser collapser(rewriter, fused);
  return collapser.findGroups() ? collapser.run() : fused;
}

namespace {
struct KronCollapseAxesPass
    : kron::impl::KronCollapseAxesBase<KronCollapseAxesPass> {
  void runOnOperation() override {
    SmallVector<QuantizeOp> quantizes;
    SmallVector<FusedOp> regions;
    getOperation()->walk([&](Operation *op) {
      if (auto quantize = dyn_cast<QuantizeOp>(op))
        quantizes.push_back(quantize);
      else if (auto fused = dyn_cast<FusedOp>(op))
        regions.push_back(fused);
    });
    IRRewriter rewriter(&getContext());
    for (FusedOp fused : regions)
      collapseAxes(rewriter, fused, quantizes);
  }
};
} // namespace
