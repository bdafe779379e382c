//===- JoinAxes.cpp - Factors of neighbouring axes as one -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/JoinAxes.h"
#include "ArrayViews.h"
#include "kron/Dialect/Kron/Transforms/PadInnermost.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

using Reassociation = SmallVector<ReassociationIndices>;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// The dimensions of an array of `rank` that become one each, if those of
/// `joined` do.
static Reassociation getReassociation(int64_t rank,
                                      ArrayRef<JoinedAxes> joined) {
  Reassociation groups;
  for (int64_t dim = 0; dim < rank;) {
    int64_t count = 1;
    for (JoinedAxes axes : joined)
      if (axes.first == dim)
        count = axes.count;
    groups.push_back(llvm::to_vector<2>(llvm::seq(dim, dim + count)));
    dim += count;
  }
  return groups;
}

/// `axes` as the dimensions of an array whose dimension `permutation[i]` is
/// axis i, if there is a permutation; nothing if they are no neighbours there.
static std::optional<JoinedAxes>
getDims(JoinedAxes axes, std::optional<ArrayRef<int64_t>> permutation) {
  if (!permutation)
    return axes;
  int64_t first = (*permutation)[axes.first];
  for (int64_t number = 1; number < axes.count; ++number)
    if ((*permutation)[axes.first + number] != first + number)
      return std::nullopt;
  return JoinedAxes{first, axes.count};
}

/// Whether `dims` of `array` lie in memory as one. Tensors that would be copied
/// for that do not.
static bool canCollapse(Value array, JoinedAxes dims) {
  if (auto type = dyn_cast<MemRefType>(array.getType()))
    return memref::CollapseShapeOp::isGuaranteedCollapsible(
        type, getReassociation(type.getRank(), dims));
  Operation *op = array.getDefiningOp();
  if (auto memory = dyn_cast_or_null<bufferization::ToTensorOp>(op))
    return canCollapse(memory.getBuffer(), dims);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return llvm::any_of(expand.getReassociationIndices(),
                        [&](const ReassociationIndices &group) {
                          return group.front() <= dims.first &&
                                 dims.first + dims.count - 1 <= group.back();
                        });
  return !isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExtractSliceOp,
                          tensor::CastOp>(op);
}

bool kron::canJoinAxes(FusedOp fused, JoinedAxes axes) {
  Type element = kron::getElementType(fused.getInit());
  if (!canPadInnermost(fused) || (!element.isF32() && !element.isF64()))
    return false;
  SmallVector<int64_t> contracted(axes.count, 0);
  for (ModeProductOp product : fused.getModeProducts()) {
    if (getShapedType(product.getFactor()).getRank() != 2 ||
        product.getPrecision() == Precision::Ieee)
      return false;
    int64_t number = static_cast<int64_t>(product.getAxis()) - axes.first;
    if (number >= 0 && number < axes.count)
      ++contracted[number];
  }
  std::optional<JoinedAxes> dims = getDims(axes, fused.getInputPermutation());
  return dims && llvm::all_of(contracted, [](int64_t n) { return n == 1; }) &&
         canCollapse(fused.getInputs().front(), *dims) &&
         canCollapse(fused.getInit(), axes);
}

namespace {

/// A product of the new fused region: that of one axis, or of several.
struct JoinedProduct {
  /// Of the old one, in the order of their axes.
  SmallVector<ModeProductOp> products;
  Value factor;
};

class Joiner {
public:
  Joiner(RewriterBase &rewriter, FusedOp fused, ArrayRef<JoinedAxes> joined)
      : rewriter(rewriter), fused(fused), loc(fused.getLoc()), joined(joined),
        groups(getReassociation(getShapedType(fused.getInit()).getRank(),
                                joined)) {}

  FusedOp run();

private:
  int64_t getGroup(int64_t axis) const;
  Value collapse(Value array, const Reassociation &dims);
  Value collapseInput(SmallVectorImpl<int64_t> &permutation);
  Value multiply(ArrayRef<ModeProductOp> several);
  void collectProducts();
  Value buildProducts(OpBuilder &builder, ValueRange args);

  RewriterBase &rewriter;
  FusedOp fused;
  Location loc;
  ArrayRef<JoinedAxes> joined;
  /// Old axes of each new one.
  Reassociation groups;
  SmallVector<JoinedProduct> products;
  SmallVector<Value> buffers;
};

} // namespace

/// The new axis that has `axis`.
int64_t Joiner::getGroup(int64_t axis) const {
  return llvm::find_if(groups,
                       [&](const ReassociationIndices &group) {
                         return llvm::is_contained(group, axis);
                       }) -
         groups.begin();
}

Value Joiner::collapse(Value array, const Reassociation &dims) {
  if (isOnTensors(array))
    return tensor::CollapseShapeOp::create(rewriter, loc, array, dims);
  return memref::CollapseShapeOp::create(rewriter, loc, array, dims);
}

/// The input, and how its new axes are permuted, if they are.
Value Joiner::collapseInput(SmallVectorImpl<int64_t> &permutation) {
  std::optional<ArrayRef<int64_t>> old = fused.getInputPermutation();
  Value input = fused.getInputs().front();
  SmallVector<JoinedAxes> joinedDims = llvm::map_to_vector(
      joined, [&](JoinedAxes axes) { return *getDims(axes, old); });
  Reassociation dims =
      getReassociation(getShapedType(input).getRank(), joinedDims);
  if (old)
    for (const ReassociationIndices &group : groups) {
      int64_t dim = (*old)[group.front()];
      permutation.push_back(
          llvm::find_if(dims,
                        [&](const ReassociationIndices &each) {
                          return each.front() == dim;
                        }) -
          dims.begin());
    }
  return collapse(input, dims);
}

/// The Kronecker product of the factors of `several`: rows are contracted.
Value Joiner::multiply(ArrayRef<ModeProductOp> several) {
  unsigned count = several.size();
  SmallVector<int64_t> shape(2 * count);
  SmallVector<Value> factors;
  SmallVector<AffineMap> maps;
  MLIRContext *context = rewriter.getContext();
  for (auto [number, each] : llvm::enumerate(several)) {
    ModeProductOp product = each;
    Value factor =
        factors.emplace_back(fused.getOperandOf(product.getFactor()));
    unsigned dimK = product.getContractedFactorDim(),
             dimN = product.getResultingFactorDim();
    shape[number] = getShapedType(factor).getDimSize(dimK);
    shape[count + number] = getShapedType(factor).getDimSize(dimN);
    SmallVector<unsigned> dims(2);
    dims[dimK] = number;
    dims[dimN] = count + number;
    maps.push_back(
        AffineMap::getMultiDimMapWithTargets(2 * count, dims, context));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(2 * count, context));
  Type element = kron::getElementType(factors.front());
  bool onTensors = isOnTensors(factors.front());
  Value buffer = buffers.emplace_back(
      createBuffer(rewriter, loc, shape, /*sizes=*/{}, element, onTensors));
  SmallVector<utils::IteratorType> iterators(2 * count,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(buffer.getType()) : TypeRange(),
      factors, buffer, maps, iterators,
      [&](OpBuilder &builder, Location at, ValueRange args) {
        Value value = args.front();
        for (Value other : args.drop_front().drop_back())
          value = arith::MulFOp::create(builder, at, value, other);
        linalg::YieldOp::create(builder, at, value);
      });
  Reassociation dims{llvm::to_vector<2>(llvm::seq<int64_t>(0, count)),
                     llvm::to_vector<2>(llvm::seq<int64_t>(count, 2 * count))};
  return collapse(onTensors ? generic->getResult(0) : buffer, dims);
}

/// Each in the place of the first one of its axes.
void Joiner::collectProducts() {
  llvm::SmallDenseMap<int64_t, unsigned> ofGroup;
  for (ModeProductOp product : fused.getModeProducts()) {
    int64_t group = getGroup(product.getAxis());
    auto [it, isNew] = ofGroup.try_emplace(group, products.size());
    // Several factors of one axis stay apart.
    if (isNew || groups[group].size() == 1)
      products.emplace_back();
    unsigned index =
        isNew || groups[group].size() > 1 ? it->second : products.size() - 1;
    products[index].products.push_back(product);
  }
  for (JoinedProduct &product : products) {
    if (product.products.size() == 1) {
      product.factor = fused.getOperandOf(product.products.front().getFactor());
      continue;
    }
    llvm::sort(product.products, [](ModeProductOp lhs, ModeProductOp rhs) {
      return lhs.getAxis() < rhs.getAxis();
    });
    product.factor = multiply(product.products);
  }
}

Value Joiner::buildProducts(OpBuilder &builder, ValueRange args) {
  ModeProductOp scaled = fused.getModeProducts().back();
  Value value = args.front();
  SmallVector<int64_t> shape(getShapedType(value).getShape());
  for (auto [number, product] : llvm::enumerate(products)) {
    ModeProductOp op = product.products.front();
    bool isJoined = product.products.size() > 1;
    bool isLast = number + 1 == products.size();
    Value factor = args[1 + number], init = args.back();
    int64_t axis = getGroup(op.getAxis());
    shape[axis] = getShapedType(factor).getDimSize(
        isJoined ? 1 : op.getResultingFactorDim());
    if (!isLast)
      init = tensor::EmptyOp::create(builder, loc, shape,
                                     kron::getElementType(init));
    SmallVector<int64_t> roles{ModeProductOp::kContracted,
                               ModeProductOp::kResulting};
    value = ModeProductOp::create(
                builder, op.getLoc(), TypeRange(init.getType()), value, factor,
                isLast ? scaled.getAlpha() : Value(),
                isLast ? scaled.getBeta() : Value(), /*addend=*/Value(), init,
                axis, isJoined ? ArrayRef<int64_t>(roles) : op.getFactorDims(),
                /*conjInput=*/false, /*conjFactor=*/false,
                isLast ? scaled.getStaticAlphaAttr() : TypedAttr(),
                isLast ? scaled.getStaticBetaAttr() : TypedAttr(),
                op.getPrecision(), /*plan=*/nullptr)
                .getResult(0);
  }
  return value;
}

FusedOp Joiner::run() {
  rewriter.setInsertionPoint(fused);
  SmallVector<int64_t> permutation;
  SmallVector<Value> inputs{collapseInput(permutation)};
  collectProducts();
  for (const JoinedProduct &product : products)
    inputs.push_back(product.factor);
  Value init = collapse(fused.getInit(), groups);
  FusedOp result = createFusedOp(rewriter, loc, inputs, init, permutation,
                                 fused.getPlanAttr(),
                                 [&](OpBuilder &builder, ValueRange args) {
                                   return buildProducts(builder, args);
                                 });
  if (isOnTensors(init)) {
    auto expanded = tensor::ExpandShapeOp::create(rewriter, loc,
                                                  fused->getResult(0).getType(),
                                                  result->getResult(0), groups);
    rewriter.replaceOp(fused, expanded->getResults());
  } else {
    rewriter.eraseOp(fused);
  }
  for (Value buffer : buffers)
    releaseBuffer(rewriter, loc, buffer);
  return result;
}

FusedOp kron::joinAxes(RewriterBase &rewriter, FusedOp fused,
                       ArrayRef<JoinedAxes> joined) {
  return Joiner(rewriter, fused, joined).run();
}
