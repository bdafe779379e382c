//===- EmitModeProducts.cpp - Tracked chain to mode products ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each mode product wants its axes as single dimensions of a view. The views
// share as many cuts as possible, so that one reshape before and one after the
// chain is all that the usual chains need.
//
//===----------------------------------------------------------------------===//

#include "EmitModeProducts.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallSet.h"
#include <map>

using namespace mlir;
using namespace mlir::kron;

Value kron::emitSize(OpBuilder &builder, Location loc,
                     const AxisTracker &tracker, ArrayRef<unsigned> list) {
  int64_t constant = 1;
  Value size;
  for (unsigned number : list) {
    const Atom &atom = tracker.getAtom(number);
    if (!atom.isDynamic()) {
      constant *= atom.size;
      continue;
    }
    Value dim = tensor::DimOp::create(builder, loc, tracker.getSource(),
                                      atom.sourceDim);
    size = size ? arith::MulIOp::create(builder, loc, size, dim) : dim;
  }
  if (size && constant == 1)
    return size;
  Value factor = arith::ConstantIndexOp::create(builder, loc, constant);
  return size ? arith::MulIOp::create(builder, loc, size, factor) : factor;
}

namespace {

/// An array and the atoms of its dimensions.
struct View {
  Value value;
  AtomDims dims;
};

class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, const AxisTracker &tracker,
          size_t numSteps);

  Value emit(RankedTensorType resultType);

private:
  /// The dimensions to view the array in for `product`, number `index`.
  AtomDims getViewDims(size_t index) const;
  void requireCuts(const AtomList &home, ArrayRef<unsigned> group);

  SmallVector<OpFoldResult> getSizes(const AtomDims &dims);
  View expand(View view, const AtomDims &dims,
              ArrayRef<ReassociationIndices> groups);
  View collapse(View view, ArrayRef<ReassociationIndices> groups);
  View reshape(View view, const AtomDims &dims);
  View applyProduct(View view, const TrackedProduct &product);
  Value shapeFactor(const TrackedProduct &product, const AtomDims &dims,
                    SmallVectorImpl<int64_t> &factorDims);

  OpBuilder &builder;
  Location loc;
  const AxisTracker &tracker;
  size_t numSteps;
  /// Edges of the home order where views are cut into dimensions.
  llvm::SmallSet<unsigned, 16> cuts;
  /// Sizes of dynamic dimensions that have been computed already.
  std::map<AtomList, Value> knownSizes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Emitter::Emitter(OpBuilder &builder, Location loc, const AxisTracker &tracker,
                 size_t numSteps)
    : builder(builder), loc(loc), tracker(tracker), numSteps(numSteps) {
  // The dimensions of the source and of the result stay apart, since a view
  // that merges them would be a copy where the array is strided.
  for (size_t step : {size_t(0), numSteps})
    for (const AtomList &dim : tracker.getLayout(step))
      if (!dim.empty())
        cuts.insert(tracker.getAtom(dim.front()).edge);
  for (auto [index, product] : llvm::enumerate(tracker.getProducts())) {
    const AtomList &home = tracker.getHomeOrder(index);
    requireCuts(home, product.contracted);
    for (const FactorGroup &group : product.groups)
      if (group.role == FactorGroup::Role::Shared)
        requireCuts(home, group.shared);
  }
}

void Emitter::requireCuts(const AtomList &home, ArrayRef<unsigned> group) {
  cuts.insert(tracker.getAtom(group.front()).edge);
  const unsigned *next = llvm::find(home, group.back()) + 1;
  if (next != home.end())
    cuts.insert(tracker.getAtom(*next).edge);
}

AtomDims Emitter::getViewDims(size_t index) const {
  const TrackedProduct &product = tracker.getProducts()[index];
  llvm::SmallSet<unsigned, 16> inner;
  auto keepTogether = [&](ArrayRef<unsigned> group) {
    for (unsigned atom : group.drop_front())
      inner.insert(atom);
  };
  keepTogether(product.contracted);
  for (const FactorGroup &group : product.groups)
    if (group.role == FactorGroup::Role::Shared)
      keepTogether(group.shared);
  AtomDims dims;
  for (unsigned atom : tracker.getHomeOrder(index)) {
    bool isCut = cuts.contains(tracker.getAtom(atom).edge);
    if (dims.empty() || (isCut && !inner.contains(atom)))
      dims.emplace_back();
    dims.back().push_back(atom);
  }
  return dims;
}

SmallVector<OpFoldResult> Emitter::getSizes(const AtomDims &dims) {
  SmallVector<OpFoldResult> sizes;
  for (const AtomList &dim : dims) {
    int64_t size = tracker.getStaticSize(dim);
    if (ShapedType::isStatic(size)) {
      sizes.push_back(builder.getIndexAttr(size));
      continue;
    }
    Value &known = knownSizes[dim];
    if (!known)
      known = emitSize(builder, loc, tracker, dim);
    sizes.push_back(known);
  }
  return sizes;
}

View Emitter::expand(View view, const AtomDims &dims,
                     ArrayRef<ReassociationIndices> groups) {
  if (groups.size() == dims.size())
    return view;
  SmallVector<int64_t> shape;
  for (const AtomList &dim : dims)
    shape.push_back(tracker.getStaticSize(dim));
  Type element = getElementTypeOrSelf(view.value);
  return {tensor::ExpandShapeOp::create(builder, loc,
                                        RankedTensorType::get(shape, element),
                                        view.value, groups, getSizes(dims)),
          dims};
}

View Emitter::collapse(View view, ArrayRef<ReassociationIndices> groups) {
  if (groups.size() == view.dims.size())
    return view;
  AtomDims dims;
  for (const ReassociationIndices &group : groups) {
    dims.emplace_back();
    for (int64_t dim : group)
      llvm::append_range(dims.back(), view.dims[dim]);
  }
  return {tensor::CollapseShapeOp::create(builder, loc, view.value, groups),
          std::move(dims)};
}

/// Cuts every one of `dims` where one of `other` ends. Both hold the same atoms
/// in the same order. `groups` are the pieces of every dimension.
static AtomDims refine(const AtomDims &dims, const AtomDims &other,
                       SmallVectorImpl<ReassociationIndices> &groups) {
  llvm::SmallSet<unsigned, 16> starts;
  for (const AtomList &dim : other)
    if (!dim.empty())
      starts.insert(dim.front());
  AtomDims pieces;
  for (const AtomList &dim : dims) {
    groups.emplace_back();
    auto addPiece = [&]() {
      groups.back().push_back(pieces.size());
      pieces.emplace_back();
    };
    addPiece();
    for (unsigned atom : dim) {
      if (starts.contains(atom) && !pieces.back().empty())
        addPiece();
      pieces.back().push_back(atom);
    }
  }
  return pieces;
}

/// Groups `dims` such that every group has one dimension that has atoms. One
/// group if none has; no group then if there is no dimension.
static SmallVector<ReassociationIndices> groupUnits(const AtomDims &dims) {
  SmallVector<ReassociationIndices> groups;
  bool hasAtoms = false;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (groups.empty() || (hasAtoms && !dim.empty())) {
      groups.emplace_back();
      hasAtoms = false;
    }
    groups.back().push_back(index);
    hasAtoms |= !dim.empty();
  }
  return groups;
}

/// `dims` without atoms of size 1, which reshapes need not keep.
static AtomDims dropUnitAtoms(const AxisTracker &tracker, AtomDims dims) {
  for (AtomList &dim : dims)
    llvm::erase_if(
        dim, [&](unsigned atom) { return tracker.getAtom(atom).size == 1; });
  return dims;
}

View Emitter::reshape(View view, const AtomDims &target) {
  if (view.dims == target)
    return view;
  view.dims = dropUnitAtoms(tracker, std::move(view.dims));
  AtomDims dims = dropUnitAtoms(tracker, target);
  SmallVector<ReassociationIndices> expansion, collapsing;
  AtomDims expanded = refine(view.dims, dims, expansion);
  AtomDims beforeCollapse = refine(dims, view.dims, collapsing);
  if (expanded == beforeCollapse) {
    view = collapse(expand(std::move(view), expanded, expansion), collapsing);
  } else if (llvm::none_of(dims, [](auto &dim) { return dim.empty(); })) {
    // Only units to drop: they go along with what is collapsed.
    view = expand(std::move(view), expanded, expansion);
    SmallVector<ReassociationIndices> units = groupUnits(expanded), merged;
    for (const ReassociationIndices &group : collapsing) {
      merged.emplace_back();
      for (int64_t piece : group)
        llvm::append_range(merged.back(), units[piece]);
    }
    view = collapse(std::move(view), merged);
  } else {
    view = expand(std::move(view), expanded, expansion);
    SmallVector<ReassociationIndices> from = groupUnits(expanded);
    SmallVector<ReassociationIndices> to = groupUnits(beforeCollapse);
    view = collapse(std::move(view), from);
    view = expand(std::move(view), beforeCollapse, to);
    view = collapse(std::move(view), collapsing);
  }
  view.dims = target;
  return view;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value Emitter::shapeFactor(const TrackedProduct &product, const AtomDims &dims,
                           SmallVectorImpl<int64_t> &factorDims) {
  SmallVector<ReassociationIndices> groups;
  bool hasResulting = false;
  for (const FactorGroup &group : product.groups) {
    groups.push_back(group.dims);
    switch (group.role) {
    case FactorGroup::Role::Contracted:
      factorDims.push_back(ModeProductOp::kContracted);
      break;
    case FactorGroup::Role::Resulting:
      factorDims.push_back(ModeProductOp::kResulting);
      hasResulting = true;
      break;
    case FactorGroup::Role::Shared:
      factorDims.push_back(llvm::find(dims, group.shared) - dims.begin());
      break;
    }
  }
  Value factor = product.factor;
  auto type = cast<RankedTensorType>(factor.getType());
  if (type.getRank() != static_cast<int64_t>(groups.size()))
    factor = tensor::CollapseShapeOp::create(builder, loc, factor, groups);
  if (hasResulting)
    return factor;
  // A vector: a matrix with one column.
  factorDims.push_back(ModeProductOp::kResulting);
  type = cast<RankedTensorType>(factor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, factor);
  sizes.push_back(builder.getIndexAttr(1));
  SmallVector<ReassociationIndices> expansion;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    expansion.push_back({dim});
  expansion.back().push_back(type.getRank());
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), factor,
      expansion, sizes);
}

View Emitter::applyProduct(View view, const TrackedProduct &product) {
  SmallVector<int64_t> factorDims;
  Value factor = shapeFactor(product, view.dims, factorDims);
  uint64_t axis = llvm::find(view.dims, product.contracted) - view.dims.begin();
  AtomDims dims = view.dims;
  dims[axis] = product.resulting;
  Value init = tensor::EmptyOp::create(builder, loc, getSizes(dims),
                                       getElementTypeOrSelf(view.value));
  auto op = ModeProductOp::create(
      builder, loc, init.getType(), view.value, factor, /*alpha=*/Value(),
      /*beta=*/Value(), /*addend=*/Value(), init, axis, factorDims,
      /*conj_input=*/false, /*conj_factor=*/false, /*static_alpha=*/TypedAttr(),
      /*static_beta=*/TypedAttr(), Precision::Full,
      /*plan=*/Attribute());
  return {op->getResult(0), std::move(dims)};
}

Value Emitter::emit(RankedTensorType resultType) {
  View view = {tracker.getSource(), tracker.getLayout(0)};
  for (auto [index, product] : llvm::enumerate(tracker.getProducts()))
    view = applyProduct(reshape(std::move(view), getViewDims(index)), product);
  view = reshape(std::move(view), tracker.getLayout(numSteps));
  if (view.value.getType() == resultType)
    return view.value;
  return tensor::CastOp::create(builder, loc, resultType, view.value);
}

Value kron::emitModeProducts(OpBuilder &builder, Location loc,
                             const AxisTracker &tracker, size_t numSteps,
                             RankedTensorType resultType) {
  return Emitter(builder, loc, tracker, numSteps).emit(resultType);
}
