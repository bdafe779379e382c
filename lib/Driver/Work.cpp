//===- Work.cpp - Work of a computation -------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sizes that are dynamic in the program are known when it runs: they are
// evaluated from the shapes of the arguments.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "kron/Driver/Measure.h"
#include "kron/Mapping/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Evaluates sizes in a function whose arguments are known. Nothing means
/// unknown.
class SizeEvaluator {
public:
  SizeEvaluator(func::FuncOp func, const CallArguments &call)
      : entry(&func.getBody().front()), call(call) {}

  std::optional<int64_t> getSize(Value array, unsigned dim) const;
  std::optional<int64_t> getValue(OpFoldResult value) const;

private:
  std::optional<int64_t> getArgumentSize(BlockArgument arg, unsigned dim) const;
  std::optional<int64_t> getProduct(Value array, ArrayRef<int64_t> dims) const {
    int64_t product = 1;
    for (int64_t dim : dims) {
      std::optional<int64_t> size = getSize(array, dim);
      if (!size)
        return std::nullopt;
      product *= *size;
    }
    return product;
  }

  Block *entry;
  const CallArguments &call;
};

} // namespace

std::optional<int64_t> SizeEvaluator::getArgumentSize(BlockArgument arg,
                                                      unsigned dim) const {
  unsigned number = arg.getArgNumber();
  if (arg.getOwner() == entry) {
    ArrayRef<int64_t> sizes = call.arrays[number].getSizes();
    return dim < sizes.size() ? std::optional(sizes[dim]) : std::nullopt;
  }
  auto fused = dyn_cast<FusedOp>(arg.getOwner()->getParentOp());
  if (!fused)
    return std::nullopt;
  if (number == 0 && fused.getInputPermutation())
    dim = (*fused.getInputPermutation())[dim];
  return getSize(fused->getOperand(number), dim);
}

std::optional<int64_t> SizeEvaluator::getSize(Value array, unsigned dim) const {
  auto type = cast<ShapedType>(array.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto arg = dyn_cast<BlockArgument>(array))
    return getArgumentSize(arg, dim);
  Operation *op = array.getDefiningOp();
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return getSize(dps.getTiedOpOperand(cast<OpResult>(array))->get(), dim);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return getValue(empty.getMixedSizes()[dim]);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getValue(expand.getMixedOutputShape()[dim]);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return getValue(expand.getMixedOutputShape()[dim]);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSourceType().getRank() == type.getRank()
               ? getValue(slice.getMixedSizes()[dim])
               : std::nullopt;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return getProduct(collapse.getSrc(),
                      collapse.getReassociationIndices()[dim]);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return getProduct(collapse.getSrc(),
                      collapse.getReassociationIndices()[dim]);
  if (isa<tensor::CastOp, memref::CastOp>(op))
    return getSize(op->getOperand(0), dim);
  return std::nullopt;
}

std::optional<int64_t> SizeEvaluator::getValue(OpFoldResult folded) const {
  if (std::optional<int64_t> constant = getConstantIntValue(folded))
    return constant;
  auto value = dyn_cast<Value>(folded);
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner() == entry
               ? std::optional<int64_t>(
                     call.arrays[arg.getArgNumber()].load(0).real())
               : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<ShapedDimOpInterface>(op)) {
    std::optional<int64_t> index = getConstantIntValue(dim.getDimension());
    return index ? getSize(dim.getShapedValue(), *index) : std::nullopt;
  }
  if (isa<arith::IndexCastOp>(op))
    return getValue(op->getOperand(0));
  if (!isa<arith::MulIOp, arith::DivUIOp, arith::DivSIOp, arith::AddIOp,
           arith::SubIOp>(op))
    return std::nullopt;
  std::optional<int64_t> lhs = getValue(op->getOperand(0)),
                         rhs = getValue(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return *lhs * *rhs;
  if (isa<arith::AddIOp>(op))
    return *lhs + *rhs;
  if (isa<arith::SubIOp>(op))
    return *lhs - *rhs;
  return *rhs == 0 ? std::nullopt : std::optional(*lhs / *rhs);
}

/// How often the loops around `op` run it, 0 if unknown.
static double countRuns(Operation *op, const SizeEvaluator &sizes) {
  double runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<int64_t> first = sizes.getValue(loop.getLowerBound()),
                           end = sizes.getValue(loop.getUpperBound()),
                           step = sizes.getValue(loop.getStep());
    runs *= first && end && step.value_or(0) > 0
                ? llvm::divideCeil(std::max<int64_t>(*end - *first, 0), *step)
                : 0;
  }
  return runs;
}

/// Multiply-adds of `product`, 0 if unknown.
static double countMultiplyAdds(ModeProductOp product,
                                const SizeEvaluator &sizes) {
  std::optional<int64_t> contracted =
      sizes.getSize(product.getInput(), product.getAxis());
  double count = contracted.value_or(0) * countRuns(product, sizes);
  auto type = cast<ShapedType>(product.getInit().getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    count *= sizes.getSize(product.getInit(), dim).value_or(0);
  // A complex multiply-add is four real ones.
  return isa<ComplexType>(type.getElementType()) ? 4 * count : count;
}

Work kron::countWork(ModuleOp module, StringRef name,
                     const KernelManifest &kernel, const CallArguments &call) {
  Work work;
  for (auto [arg, array] : llvm::zip(kernel.args, call.arrays))
    work.bytes += (arg.access == KRON_READ_WRITE ? 2.0 : 1.0) *
                  static_cast<double>(array.getNumBytes());
  OwningOpRef<ModuleOp> decomposed(module.clone());
  PassManager pm(module.getContext());
  pm.addPass(createInlinerPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createKronRaiseShuffles());
  pm.addPass(createKronDecompose());
  auto func = succeeded(pm.run(*decomposed))
                  ? decomposed->lookupSymbol<func::FuncOp>(name)
                  : func::FuncOp();
  if (!func)
    return work;
  SizeEvaluator sizes(func, call);
  func.walk([&](ModeProductOp product) {
    work.flops += 2 * countMultiplyAdds(product, sizes);
  });
  return work;
}
