//===- AxisTracker.cpp - Follow axes through reshapes -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Atoms of size 1 occur only in the home order, where a contraction leaves
// nothing but them; layouts never hold them, so that reshapes may add and drop
// dimensions of size 1 freely.
//
//===----------------------------------------------------------------------===//

#include "AxisTracker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

AxisTracker::AxisTracker(Value source) {
  auto type = dyn_cast<RankedTensorType>(source.getType());
  supported = type && !type.getEncoding();
  if (!supported)
    return;
  AtomDims dims;
  AtomList home;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    supported &= size != 0;
    dims.emplace_back();
    if (size == 1)
      continue;
    dims.back().push_back(addAtom(size, numEdges++, dim));
    home.push_back(dims.back().front());
  }
  values.push_back(source);
  layouts.push_back(std::move(dims));
  homes.push_back(std::move(home));
}

unsigned AxisTracker::addAtom(int64_t size, unsigned edge, unsigned sourceDim) {
  atoms.push_back({size, sourceDim, edge});
  return atoms.size() - 1;
}

unsigned AxisTracker::split(unsigned atom, int64_t slowSize) {
  unsigned fast = addAtom(atoms[atom].size / slowSize, numEdges++);
  atoms[atom].size = slowSize;
  auto update = [&](AtomList &list) {
    auto *position = llvm::find(list, atom);
    if (position != list.end())
      list.insert(position + 1, fast);
  };
  for (AtomDims &dims : layouts)
    llvm::for_each(dims, update);
  llvm::for_each(homes, update);
  for (TrackedProduct &product : products) {
    update(product.contracted);
    update(product.resulting);
    for (FactorGroup &group : product.groups)
      update(group.shared);
  }
  return fast;
}

int64_t AxisTracker::getStaticSize(ArrayRef<unsigned> list) const {
  int64_t size = 1;
  for (unsigned atom : list) {
    if (atoms[atom].isDynamic())
      return ShapedType::kDynamic;
    size *= atoms[atom].size;
  }
  return size;
}

bool AxisTracker::isHome() const {
  AtomList data;
  for (const AtomList &dim : layouts.back())
    llvm::append_range(data, dim);
  AtomList home = homes.back();
  llvm::erase_if(home, [&](unsigned atom) { return atoms[atom].size == 1; });
  return data == home;
}

unsigned AxisTracker::getNumContractedPlaces() const {
  llvm::SmallSet<unsigned, 8> edges;
  for (const TrackedProduct &product : products)
    edges.insert(atoms[product.contracted.front()].edge);
  return edges.size();
}

FailureOr<AtomList>
AxisTracker::findHomeStretch(ArrayRef<unsigned> list) const {
  AtomList stretch;
  ArrayRef<unsigned> rest = list;
  const AtomList &home = homes.back();
  for (const unsigned *it = llvm::find(home, list.front());
       it != home.end() && !rest.empty(); ++it) {
    if (*it == rest.front())
      rest = rest.drop_front();
    else if (atoms[*it].size != 1)
      return failure();
    stretch.push_back(*it);
  }
  if (!rest.empty())
    return failure();
  return stretch;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult AxisTracker::apply(const ChainStep &step) {
  auto resultType = dyn_cast<RankedTensorType>(step.getResult().getType());
  if (!supported || !resultType || resultType.getEncoding())
    return failure();
  FailureOr<AtomDims> dims;
  if (isReshape(step.op)) {
    dims = applyReshape(step.op);
  } else if (isPermutingCopy(step.op)) {
    dims = AtomDims(resultType.getRank());
    for (auto [from, to] :
         llvm::enumerate(getCopiedPositions(cast<linalg::LinalgOp>(step.op))))
      (*dims)[to] = layouts.back()[from];
  } else {
    dims = applyContraction(step);
  }
  if (failed(dims))
    return failure();
  values.push_back(step.getResult());
  layouts.push_back(std::move(*dims));
  return success();
}

FailureOr<AtomList> AxisTracker::takeFront(AtomList &flat, int64_t size) {
  AtomList taken;
  while (size != 1) {
    if (flat.empty() || atoms[flat.front()].isDynamic())
      return failure();
    unsigned atom = flat.front();
    int64_t atomSize = atoms[atom].size;
    taken.push_back(atom);
    if (size % atomSize == 0) {
      flat.erase(flat.begin());
      size /= atomSize;
    } else if (atomSize % size == 0) {
      flat.front() = split(atom, size);
      size = 1;
    } else {
      return failure();
    }
  }
  return taken;
}

FailureOr<AtomList> AxisTracker::takeBack(AtomList &flat, int64_t size) {
  AtomList taken;
  while (size != 1) {
    if (flat.empty() || atoms[flat.back()].isDynamic())
      return failure();
    unsigned atom = flat.back();
    int64_t atomSize = atoms[atom].size;
    if (size % atomSize == 0) {
      flat.pop_back();
      size /= atomSize;
    } else if (atomSize % size == 0) {
      atom = split(atom, atomSize / size);
      size = 1;
    } else {
      return failure();
    }
    taken.insert(taken.begin(), atom);
  }
  return taken;
}

std::optional<unsigned> AxisTracker::findAtomOfSize(OpFoldResult size) const {
  auto value = dyn_cast_if_present<Value>(size);
  if (!value)
    return std::nullopt;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  if (auto dimOp = value.getDefiningOp<tensor::DimOp>()) {
    std::optional<int64_t> index = dimOp.getConstantIndex();
    for (auto [array, dims] : llvm::zip(values, layouts)) {
      if (array != dimOp.getSource() || !index || *index < 0 ||
          *index >= static_cast<int64_t>(dims.size()))
        continue;
      const AtomList &dim = dims[*index];
      if (dim.size() == 1 && atoms[dim.front()].isDynamic())
        return dim.front();
    }
  }
  auto expand = values.front().getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return std::nullopt;
  for (auto [dim, known] :
       llvm::zip(layouts.front(), expand.getMixedOutputShape()))
    if (known == OpFoldResult(value))
      return dim.front();
  return std::nullopt;
}

FailureOr<AtomDims> AxisTracker::distribute(AtomList flat,
                                            ArrayRef<int64_t> shape,
                                            ArrayRef<OpFoldResult> sizes) {
  AtomDims dims(shape.size());
  size_t front = 0, back = shape.size();
  // One dynamic dimension takes what the static ones leave. Of several, the
  // sizes must be known as those of atoms.
  bool takesRest = llvm::count_if(shape, ShapedType::isDynamic) == 1;
  for (; front < back; ++front) {
    if (!ShapedType::isDynamic(shape[front])) {
      FailureOr<AtomList> taken = takeFront(flat, shape[front]);
      if (failed(taken))
        return failure();
      dims[front] = std::move(*taken);
      continue;
    }
    if (takesRest)
      break;
    std::optional<unsigned> atom = findAtomOfSize(sizes[front]);
    if (!atom || flat.empty() || flat.front() != *atom)
      return failure();
    dims[front] = {*atom};
    flat.erase(flat.begin());
  }
  if (front == back) {
    if (!flat.empty())
      return failure();
    return dims;
  }
  while (--back > front) {
    FailureOr<AtomList> taken = takeBack(flat, shape[back]);
    if (failed(taken))
      return failure();
    dims[back] = std::move(*taken);
  }
  dims[front] = std::move(flat);
  return dims;
}

/// The sizes that the shape operand of `op` gives, null where it does not show.
static SmallVector<OpFoldResult> getReshapeSizes(tensor::ReshapeOp op,
                                                 size_t rank) {
  SmallVector<OpFoldResult> sizes(rank);
  if (auto elements = op.getShape().getDefiningOp<tensor::FromElementsOp>())
    for (auto [size, element] : llvm::zip(sizes, elements.getElements()))
      size = element;
  return sizes;
}

FailureOr<AtomDims> AxisTracker::applyReshape(Operation *op) {
  const AtomDims from = layouts.back();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  AtomDims dims;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      dims.emplace_back();
      for (int64_t dim : group)
        llvm::append_range(dims.back(), from[dim]);
    }
    return dims;
  }
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
    AtomList flat;
    for (const AtomList &dim : from)
      llvm::append_range(flat, dim);
    return distribute(flat, shape, getReshapeSizes(reshape, shape.size()));
  }
  auto expand = cast<tensor::ExpandShapeOp>(op);
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  for (auto [dim, group] : llvm::zip(from, expand.getReassociationIndices())) {
    FailureOr<AtomDims> parts =
        distribute(dim, shape.slice(group.front(), group.size()),
                   ArrayRef(sizes).slice(group.front(), group.size()));
    if (failed(parts))
      return failure();
    llvm::append_range(dims, *parts);
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Appends dimension `dim` to the last of `groups` if that has the same role
/// and the role allows it, else starts a new one.
static void addFactorDim(SmallVectorImpl<FactorGroup> &groups,
                         FactorGroup::Role role, int64_t dim, AtomList shared) {
  if (groups.empty() || groups.back().role != role ||
      role == FactorGroup::Role::Shared)
    groups.push_back({role, {dim}, std::move(shared)});
  else
    groups.back().dims.push_back(dim);
}

LogicalResult AxisTracker::matchFactor(
    const FactorAccess &factor, ArrayRef<unsigned> dataLoops,
    ArrayRef<unsigned> resultLoops, TrackedProduct &product,
    SmallVectorImpl<unsigned> &resultingLoops) {
  using Role = FactorGroup::Role;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(factor.value.getType()).getShape();
  ReassociationIndices leadingUnits;
  for (auto [dim, loop] : llvm::enumerate(factor.loops)) {
    int64_t size = shape[dim];
    bool inResult = llvm::is_contained(resultLoops, loop);
    const auto *position = llvm::find(dataLoops, loop);
    if (position == dataLoops.end()) {
      if (!inResult || ShapedType::isDynamic(size) || size == 0)
        return failure();
      addFactorDim(product.groups, Role::Resulting, dim, {});
      resultingLoops.push_back(loop);
    } else {
      const AtomList &list = layouts.back()[position - dataLoops.begin()];
      int64_t arraySize = getStaticSize(list);
      if (ShapedType::isStatic(size) && ShapedType::isStatic(arraySize) &&
          size != arraySize)
        return failure();
      if (!inResult) {
        if (ShapedType::isDynamic(size) || size != arraySize)
          return failure();
        addFactorDim(product.groups, Role::Contracted, dim, {});
        llvm::append_range(product.contracted, list);
      } else if (!list.empty()) {
        addFactorDim(product.groups, Role::Shared, dim, list);
      } else if (size != 1) {
        return failure();
      } else if (product.groups.empty()) {
        leadingUnits.push_back(dim);
      } else {
        product.groups.back().dims.push_back(dim);
      }
    }
  }
  if (product.contracted.empty())
    return failure();
  ReassociationIndices &first = product.groups.front().dims;
  first.insert(first.begin(), leadingUnits.begin(), leadingUnits.end());
  auto countRole = [&](Role role) {
    return llvm::count_if(product.groups, [&](const FactorGroup &group) {
      return group.role == role;
    });
  };
  return success(countRole(Role::Contracted) == 1 &&
                 countRole(Role::Resulting) <= 1);
}

FailureOr<AtomDims> AxisTracker::applyContraction(const ChainStep &step) {
  auto op = cast<linalg::LinalgOp>(step.op);
  SmallVector<unsigned> dataLoops = getLoops(op, step.data);
  SmallVector<unsigned> resultLoops = getLoops(op, op.getDpsInitOperand(0));
  FactorAccess factor = getFactor(step);
  TrackedProduct product;
  product.factor = factor.value;
  SmallVector<unsigned> resultingLoops;
  if (failed(
          matchFactor(factor, dataLoops, resultLoops, product, resultingLoops)))
    return failure();

  // Everything must lie together in the home order.
  FailureOr<AtomList> stretch = findHomeStretch(product.contracted);
  if (failed(stretch))
    return failure();
  product.contracted = std::move(*stretch);
  for (FactorGroup &group : product.groups) {
    if (group.role != FactorGroup::Role::Shared)
      continue;
    FailureOr<AtomList> shared = findHomeStretch(group.shared);
    if (failed(shared))
      return failure();
    group.shared = std::move(*shared);
  }

  // Loops of the array that the factor does not have must be kept.
  for (unsigned loop : dataLoops)
    if (!llvm::is_contained(resultLoops, loop) &&
        !llvm::is_contained(factor.loops, loop))
      return failure();

  // New atoms take the place of the contracted ones.
  unsigned edge = atoms[product.contracted.front()].edge;
  ArrayRef<int64_t> factorShape =
      cast<RankedTensorType>(factor.value.getType()).getShape();
  DenseMap<unsigned, AtomList> loopAtoms;
  for (auto [dim, loop] : llvm::enumerate(dataLoops))
    loopAtoms[loop] = layouts.back()[dim];
  for (unsigned loop : resultingLoops) {
    int64_t size =
        factorShape[llvm::find(factor.loops, loop) - factor.loops.begin()];
    if (size == 1) {
      loopAtoms[loop] = {};
      continue;
    }
    unsigned atom =
        addAtom(size, product.resulting.empty() ? edge : numEdges++);
    product.resulting.push_back(atom);
    loopAtoms[loop] = {atom};
  }
  if (product.resulting.empty())
    product.resulting.push_back(addAtom(1, edge));

  AtomDims dims;
  for (unsigned loop : resultLoops) {
    auto it = loopAtoms.find(loop);
    if (it == loopAtoms.end())
      return failure();
    dims.push_back(it->second);
  }
  AtomList home = homes.back();
  auto *position = llvm::find(home, product.contracted.front());
  position = home.erase(position, position + product.contracted.size());
  home.insert(position, product.resulting.begin(), product.resulting.end());
  homes.push_back(std::move(home));
  products.push_back(std::move(product));
  return dims;
}
