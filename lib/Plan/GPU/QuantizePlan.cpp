//===- QuantizePlan.cpp - Rows that kernels quantize ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/QuantizePlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

int64_t kron::getRowLength(MemRefType type, unsigned batchRank) {
  SmallVector<int64_t> strides;
  int64_t offset, length = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return ShapedType::kDynamic;
  for (unsigned dim = type.getRank(); dim-- > batchRank;) {
    int64_t size = type.getDimSize(dim);
    if (ShapedType::isDynamic(size) || (size != 1 && strides[dim] != length))
      return ShapedType::kDynamic;
    length *= size;
  }
  return length;
}

std::optional<std::string> kron::getQuantizeUnsupportedReason(QuantizeOp op) {
  Type element = getElementType(op.getInput());
  if (!isa<Float32Type, Float16Type, BFloat16Type>(element))
    return "elements are not f32, f16 or bf16";
  auto scales = cast<ShapedType>(op.getScales().getType());
  if (op.getLayout() == Layout::BatchLast && scales.getRank() > 0)
    return "the batch is last";
  for (Value array : {op.getInput(), op.getInit()}) {
    auto type = cast<ShapedType>(array.getType());
    // What tensors become is contiguous or has rows that are.
    if (isa<RankedTensorType>(type)) {
      ArrayRef<int64_t> sizes = type.getShape().drop_front(scales.getRank());
      if (sizes.size() != 1 || ShapedType::isDynamic(sizes[0]))
        return "a row is not one axis of known size";
      continue;
    }
    if (ShapedType::isDynamic(
            getRowLength(cast<MemRefType>(type), scales.getRank())))
      return "rows are not contiguous or of unknown size";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// A kernel by itself
//===----------------------------------------------------------------------===//

std::variant<QuantizePlan, std::string> kron::describeQuantize(QuantizeOp op) {
  if (std::optional<std::string> reason = getQuantizeUnsupportedReason(op))
    return *reason;
  QuantizePlan plan;
  auto type = cast<ShapedType>(op.getInput().getType());
  unsigned batchRank = cast<ShapedType>(op.getScales().getType()).getRank();
  auto memory = dyn_cast<MemRefType>(type);
  plan.length =
      memory ? getRowLength(memory, batchRank) : type.getShape().back();
  plan.element = type.getElementType();
  return plan;
}

std::variant<QuantizePlan, std::string>
kron::readQuantizePlan(QuantizeOp op, GPUPlanAttr attr,
                       const GPUMachine &machine) {
  auto described = describeQuantize(op);
  if (std::holds_alternative<std::string>(described))
    return described;
  auto plan = std::get<QuantizePlan>(described);
  PlanReader reader(attr);
  QuantizeChoices::visitFields(reader, plan);
  int64_t mostCTAs = machine.maxThreadsPerSM / plan.threads;
  if (plan.ctasPerSM < 1 || plan.ctasPerSM > mostCTAs)
    return expects("ctas_per_sm to be in [1, " + Twine(mostCTAs) + "]",
                   plan.ctasPerSM);
  if (!llvm::isPowerOf2_64(plan.rowThreads) ||
      plan.threads % plan.rowThreads != 0)
    return expects("row_threads to be a power of two that divides " +
                       Twine(plan.threads) + " threads",
                   plan.rowThreads);
  return plan;
}

//===----------------------------------------------------------------------===//
// What lies between
//===----------------------------------------------------------------------===//

Value kron::skipViews(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Adds what uses `memory`, through views, to `users`, all but deallocations
/// and sizes.
static void collectUsers(Value memory, SmallPtrSetImpl<Operation *> &users) {
  for (Operation *user : memory.getUsers()) {
    if (isa<ViewLikeOpInterface>(user))
      collectUsers(user->getResult(0), users);
    else if (!isa<memref::DeallocOp, memref::DimOp>(user))
      users.insert(user);
  }
}

/// Whether nothing between `first` and `last`, of one block, reads, writes or
/// frees memory.
static bool areNeighbours(Operation *first, Operation *last) {
  if (first->getBlock() != last->getBlock() || !first->isBeforeInBlock(last))
    return false;
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (!isa<memref::AllocOp>(op) && !isMemoryEffectFree(op))
      return false;
  return true;
}

/// Whether rows of `view`, which its outermost dimension counts, are those of
/// `whole`, an array without gaps.
static bool hasRowsOf(Value view, Value whole) {
  auto getRowStride = [](Value array) {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(array.getType());
    if (type.getRank() == 0 ||
        failed(type.getStridesAndOffset(strides, offset)))
      return ShapedType::kDynamic;
    return strides.front();
  };
  int64_t stride = getRowStride(whole);
  return !ShapedType::isDynamic(stride) && getRowStride(view) == stride;
}

QuantizeOp kron::findQuantize(FusedOp fused, ArrayRef<QuantizeOp> ops) {
  Value memory = skipViews(fused.getInit());
  for (QuantizeOp op : ops)
    if (skipViews(op.getInput()) == memory)
      return op;
  return nullptr;
}

/// Whether `quantize` alone reads what `fused` alone writes, row by row.
static bool isAllThatReads(QuantizeOp quantize, FusedOp fused) {
  Value memory = skipViews(fused.getInit());
  SmallPtrSet<Operation *, 4> users;
  collectUsers(memory, users);
  return memory.getDefiningOp<memref::AllocOp>() && users.size() == 2 &&
         users.contains(fused) && users.contains(quantize) &&
         !fused.readsInit() &&
         llvm::none_of(
             fused.getInputs(),
             [&](Value input) { return skipViews(input) == memory; }) &&
         areNeighbours(fused, quantize);
}

std::optional<std::string> kron::getSharedQuantizeReason(FusedOp fused,
                                                         QuantizeOp quantize) {
  if (std::optional<std::string> reason =
          getQuantizeUnsupportedReason(quantize))
    return reason;
  if (hasEmptyArray(fused))
    return "an array has no elements";
  if (!isAllThatReads(quantize, fused))
    return "somebody else reads the product, or memory is touched before";
  Value memory = skipViews(fused.getInit());
  if (cast<ShapedType>(quantize.getScales().getType()).getRank() != 1 ||
      !hasRowsOf(fused.getInit(), memory) ||
      !hasRowsOf(quantize.getInput(), memory))
    return "rows are not those of the product";
  return std::nullopt;
}
