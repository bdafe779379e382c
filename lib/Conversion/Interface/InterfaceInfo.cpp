//===- InterfaceInfo.cpp - What the manifest says of arguments --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Types of the kernels assume that sizes fit together; the run-time entry
// checks what types leave open. This file finds out which dimensions of which
// arguments must be equal: union-find over the dimensions of all values of a
// function.
//
//===----------------------------------------------------------------------===//

#include "InterfaceInfo.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Runtime/Runtime.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Signature checks
//===----------------------------------------------------------------------===//

static bool isElement(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return part.isF32() || part.isF64() || part.isF80();
  }
  return type.isF32() || type.isF64() || type.isF16() || type.isBF16() ||
         type.isF80() || type.isSignlessInteger(8) || isFloat8(type) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

std::string kron::getArgumentProblem(Type type) {
  constexpr llvm::StringLiteral elements =
      "f32, f64, f16, bf16, i32, i64, complex<f32>, complex<f64>, i8, "
      "f8E4M3FN or f8E5M2";
  bool isByte = type.isInteger(8) || isFloat8(type);
  if ((isElement(type) && !isByte) || type.isIndex())
    return "";
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !isa<RankedTensorType, MemRefType>(type))
    return "a ranked tensor, a strided memref or a scalar";
  if (!isElement(shaped.getElementType()))
    return ("an array of " + elements).str();
  if (shaped.getRank() > KRON_MAX_RANK)
    return "of rank " + std::to_string(KRON_MAX_RANK) + " at most";
  auto memref = dyn_cast<MemRefType>(type);
  if (memref && memref.getMemorySpace())
    return "in the default memory space";
  if (!memref || memref.getLayout().isIdentity())
    return "";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return "a strided memref";
  // The caller passes sizes and strides; static ones would go unchecked.
  if (offset != 0 && !ShapedType::isDynamic(offset))
    return "of offset 0 or dynamic offset";
  if (!memref::isStaticShapeAndContiguousRowMajor(memref))
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (!ShapedType::isDynamic(stride) &&
          !(stride == 1 && dim + 1 == strides.size()))
        return "row-major or of dynamic strides (the innermost may be 1)";
  return "";
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

namespace {
struct Access {
  bool reads = false, writes = false;

  StringRef getName() const {
    return writes ? (reads ? "readwrite" : "write") : "read";
  }
};
} // namespace

/// Adds what the users of the array `memory` do with it, through views.
static void collectAccess(Value memory, Access &access) {
  for (OpOperand &use : memory.getUses()) {
    Operation *user = use.getOwner();
    if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(user)) {
      // A writable tensor counts as read if an operation reads its old
      // contents.
      bool onlyWritten = llvm::all_of(
          toTensor.getResult().getUses(), [](OpOperand &tensorUse) {
            auto op = dyn_cast<ScaledOpInterface>(tensorUse.getOwner());
            return op && op.getInitValue() == tensorUse.get() &&
                   (op.getAddendValue() || getBeta(op).isZero());
          });
      access.reads |= !toTensor.getWritable() || !onlyWritten;
      continue;
    }
    if (isa<bufferization::MaterializeInDestinationOp>(user)) {
      access.writes = true;
      continue;
    }
    if (isa<ViewLikeOpInterface>(user)) {
      collectAccess(user->getResult(0), access);
      continue;
    }
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    if (!effects) {
      access.reads = access.writes = true;
      continue;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffectsOnValue(memory, instances);
    for (const MemoryEffects::EffectInstance &instance : instances) {
      access.reads |= isa<MemoryEffects::Read>(instance.getEffect());
      access.writes |= isa<MemoryEffects::Write>(instance.getEffect());
    }
  }
}

//===----------------------------------------------------------------------===//
// Equal dimensions
//===----------------------------------------------------------------------===//

namespace {

/// Classes of dimensions that are equal, and the sizes of those that have to
/// have a certain one.
class EqualDims {
public:
  EqualDims(func::FuncOp func, ArrayRef<std::pair<Value, Value>> sameShapes) {
    func.walk([&](Operation *op) { visit(op); });
    for (auto [a, b] : sameShapes)
      uniteAll(a, b);
    for (auto [id, size] : knownSizes)
      classSizes.try_emplace(classes.getOrInsertLeaderValue(id), size);
  }

  /// The size that dimension `dim` of `value` must have; kDynamic if any will
  /// do.
  int64_t getSize(Value value, unsigned dim) {
    auto it = classSizes.find(getClass(value, dim));
    return it == classSizes.end() ? ShapedType::kDynamic : it->second;
  }

  /// Representative of the class of dimension `dim` of `value`.
  unsigned getClass(Value value, unsigned dim) {
    return classes.getOrInsertLeaderValue(getId(value, dim));
  }

private:
  unsigned getId(Value value, unsigned dim) {
    auto key = std::make_pair(value.getAsOpaquePointer(), dim);
    auto [it, isNew] = ids.try_emplace(key, ids.size());
    int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
    if (isNew && !ShapedType::isDynamic(size))
      knownSizes.emplace_back(it->second, size);
    return it->second;
  }
  void unite(Value a, unsigned dimA, Value b, unsigned dimB) {
    classes.unionSets(getId(a, dimA), getId(b, dimB));
  }
  void uniteAll(Value a, Value b) {
    auto type = dyn_cast<ShapedType>(a.getType());
    auto otherType = dyn_cast<ShapedType>(b.getType());
    if (!type || !type.hasRank() || !otherType || !otherType.hasRank())
      return;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      unite(a, dim, b, dim);
  }
  void uniteAll(ArrayRef<DimPair> pairs) {
    for (const DimPair &pair : pairs)
      unite(pair.first, pair.firstDim, pair.second, pair.secondDim);
  }
  void visit(Operation *op);
  void visitEmpty(tensor::EmptyOp op);
  void visitLinalg(linalg::LinalgOp op);
  void visitFusedOp(FusedOp op);
  void visitReassociation(Value expanded, Value collapsed,
                          ArrayRef<ReassociationIndices> groups);

  llvm::DenseMap<std::pair<const void *, unsigned>, unsigned> ids;
  llvm::EquivalenceClasses<unsigned> classes;
  SmallVector<std::pair<unsigned, int64_t>> knownSizes;
  llvm::DenseMap<unsigned, int64_t> classSizes;
};

} // namespace

/// False for an index that has no meaning, which does not make IR invalid.
static bool isAxis(Value array, int64_t index) {
  auto type = dyn_cast<ShapedType>(array.getType());
  return type && type.hasRank() && index >= 0 && index < type.getRank();
}

void EqualDims::visitEmpty(tensor::EmptyOp op) {
  auto type = op.getType();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    Operation *size = op.getDynamicSize(dim).getDefiningOp();
    if (auto dimOp = dyn_cast_or_null<ShapedDimOpInterface>(size))
      if (std::optional<int64_t> index =
              getConstantIntValue(dimOp.getDimension());
          index && isAxis(dimOp.getShapedValue(), *index))
        unite(op, dim, dimOp.getShapedValue(), *index);
  }
}

void EqualDims::visitLinalg(linalg::LinalgOp op) {
  SmallVector<std::pair<Value, unsigned>> loopDims(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      auto &[value, valueDim] = loopDims[loop.getPosition()];
      if (value)
        unite(value, valueDim, operand.get(), dim);
      else
        std::tie(value, valueDim) =
            std::make_pair(operand.get(), unsigned(dim));
    }
  }
}

void EqualDims::visitFusedOp(FusedOp op) {
  Block &body = op.getBody().front();
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    auto permutation = op.getInputPermutation();
    if (index != 0 || !permutation) {
      uniteAll(input, body.getArgument(index));
      continue;
    }
    for (auto [dim, operandDim] : llvm::enumerate(*permutation))
      unite(body.getArgument(0), dim, input, operandDim);
  }
  uniteAll(op.getInit(), body.getArguments().back());
}

void EqualDims::visitReassociation(Value expanded, Value collapsed,
                                   ArrayRef<ReassociationIndices> groups) {
  for (auto [dim, group] : llvm::enumerate(groups))
    if (group.size() == 1)
      unite(expanded, group.front(), collapsed, dim);
}

void EqualDims::visit(Operation *op) {
  if (auto scaled = dyn_cast<ScaledOpInterface>(op)) {
    SmallVector<DimPair> pairs;
    scaled.getEqualDims(pairs);
    uniteAll(pairs);
    SmallVector<FixedDim> fixedDims;
    scaled.getFixedDims(fixedDims);
    for (const FixedDim &fixed : fixedDims)
      knownSizes.emplace_back(getId(fixed.value, fixed.dim), fixed.size);
  }
  if (auto epilogue = dyn_cast<EpilogueOp>(op)) {
    uniteAll(epilogue.getInput(), epilogue.getInit());
    if (epilogue.getResidual())
      uniteAll(epilogue.getResidual(), epilogue.getInit());
    for (auto [dim, axis] : llvm::enumerate(epilogue.getBiasAxes()))
      unite(epilogue.getBias(), dim, epilogue.getInit(), axis);
  }
  if (auto pair = dyn_cast<PairOpInterface>(op)) {
    SmallVector<DimPair> pairs;
    getEqualDims(pair, pairs);
    uniteAll(pairs);
  }
  if (auto quantize = dyn_cast<QuantizeOp>(op)) {
    uniteAll(quantize.getInput(), quantize.getInit());
    unsigned first = quantize.getFirstBatchDim();
    auto scales = cast<ShapedType>(quantize.getScales().getType());
    for (int64_t dim = 0; dim < scales.getRank(); ++dim)
      unite(quantize.getScales(), dim, quantize.getInput(), first + dim);
  }
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      uniteAll(result, dps.getTiedOpOperand(result)->get());
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    visitEmpty(empty);
  else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    visitLinalg(linalgOp);
  else if (auto fused = dyn_cast<FusedOp>(op))
    visitFusedOp(fused);
  else if (auto materialize =
               dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    uniteAll(materialize.getSource(), materialize.getDest());
  else if (isa<bufferization::ToTensorOp, tensor::CastOp, memref::CastOp>(op))
    uniteAll(op->getResult(0), op->getOperand(0));
  else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    visitReassociation(expand.getResult(), expand.getSrc(),
                       expand.getReassociationIndices());
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    visitReassociation(collapse.getSrc(), collapse.getResult(),
                       collapse.getReassociationIndices());
}

/// Per dimension of every argument: its symbol. Only classes that hold several
/// dimensions of arguments, one of them dynamic, get one.
static SmallVector<SmallVector<int32_t>> getSymbols(func::FuncOp func,
                                                    EqualDims &equal) {
  llvm::MapVector<unsigned, std::pair<unsigned, bool>> classes;
  auto forEachDim = [&](auto callback) {
    for (auto [index, arg] : llvm::enumerate(func.getArguments()))
      if (auto type = dyn_cast<MemRefType>(arg.getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          callback(index, dim, equal.getClass(arg, dim),
                   type.isDynamicDim(dim));
  };
  forEachDim([&](unsigned, int64_t, unsigned cls, bool dynamic) {
    auto &[count, anyDynamic] = classes[cls];
    ++count;
    anyDynamic |= dynamic;
  });
  llvm::DenseMap<unsigned, int32_t> numbers;
  for (auto &[cls, info] : classes)
    if (info.first > 1 && info.second)
      numbers.try_emplace(cls, numbers.size());
  SmallVector<SmallVector<int32_t>> symbols(func.getNumArguments());
  forEachDim([&](unsigned index, int64_t, unsigned cls, bool) {
    auto it = numbers.find(cls);
    symbols[index].push_back(it == numbers.end() ? -1 : it->second);
  });
  return symbols;
}

/// The type of `arg` with the sizes that the function's operations fix.
static Type getRequiredType(BlockArgument arg, EqualDims &equal) {
  auto type = dyn_cast<MemRefType>(arg.getType());
  if (!type)
    return arg.getType();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      size = equal.getSize(arg, dim);
  return MemRefType::Builder(type).setShape(shape);
}

void kron::recordInterface(func::FuncOp func, ArrayRef<StringAttr> names,
                           unsigned numOuts,
                           ArrayRef<std::pair<Value, Value>> sameShapes) {
  Builder builder(func.getContext());
  EqualDims equal(func, sameShapes);
  SmallVector<SmallVector<int32_t>> symbols = getSymbols(func, equal);
  SmallVector<Attribute> args;
  for (auto [index, arg] : llvm::enumerate(func.getArguments())) {
    Access access;
    if (index + numOuts >= func.getNumArguments())
      access.writes = true;
    else if (isa<MemRefType>(arg.getType()))
      collectAccess(arg, access);
    args.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("name", names[index]),
        builder.getNamedAttr("type",
                             TypeAttr::get(getRequiredType(arg, equal))),
        builder.getNamedAttr("access", builder.getStringAttr(access.getName())),
        builder.getNamedAttr("symbols",
                             builder.getDenseI32ArrayAttr(symbols[index])),
    }));
  }
  func->setAttr(kArgsAttrName, builder.getArrayAttr(args));
}
