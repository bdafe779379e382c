//===- Dispatch.cpp - What a launch chooses among plans -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/GPU/BatchedPlan.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include "kron/Plan/GPU/SmallGroupsPlan.h"
#include "kron/Plan/GPU/SparsePlan.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// What every kernel relies on
//===----------------------------------------------------------------------===//

LogicalResult kron::checkPlace(Operation *op, Value init) {
  if (!isa<MemRefType>(init.getType()))
    return op->emitOpError(
        "expects memref operands: run --kron-bufferize first");
  if (!op->getParentOfType<func::FuncOp>())
    return op->emitOpError("expects to be inside a func.func");
  return success();
}

LogicalResult kron::checkFusedOp(FusedOp fused) {
  if (failed(checkPlace(fused, fused.getInit())))
    return failure();
  if (hasEmptyArray(fused))
    return fused.emitOpError(
        "cannot become a GPU kernel: an array has no elements");
  for (ModeProductOp product : fused.getModeProducts()) {
    if (std::optional<std::string> reason = getDynamicShapeReason(
            cast<ScaledOpInterface>(product.getOperation())))
      return product.emitOpError("cannot become a GPU kernel: ") << *reason;
    for (int64_t dim : product.getFactorDims())
      if (dim >= 0 && product.getAxis() == static_cast<uint64_t>(dim))
        return product.emitOpError("has a factor that varies on its own axis");
  }
  return success();
}

SmallVector<GPUPlanAttr> kron::getCompletePlans(Operation *op) {
  SmallVector<GPUPlanAttr> plans = getGPUPlans(op);
  if (!plans.empty() &&
      llvm::all_of(plans, [](GPUPlanAttr plan) { return plan.isComplete(); }))
    return plans;
  InFlightDiagnostic error = op->emitOpError(
      "expects a complete plan for a GPU: run --kron-plan=target=cuda first");
  if (!plans.empty())
    error << "; found " << plans.front();
  return {};
}

//===----------------------------------------------------------------------===//
// What is chosen at launch
//===----------------------------------------------------------------------===//

namespace {
/// Whether a plan is launched: never, always (no value), or if `value` holds.
struct Requirement {
  bool isNever = false;
  Value value;
};
} // namespace

static void addRequirement(OpBuilder &builder, Location loc,
                           Requirement &requirement, Value value) {
  if (!value)
    return;
  requirement.value =
      requirement.value
          ? Value(arith::AndIOp::create(builder, loc, requirement.value, value))
          : value;
}

/// Bytes that copies of whole rows move at a time.
static constexpr int64_t kPackedAlignment = 16;

/// Whether `array` begins at a multiple of `alignment` bytes of an array that
/// the program allocates, which the runtime aligns to more than any plan asks
/// for.
static bool isKnownToBeAligned(Value array, int64_t alignment) {
  auto type = cast<MemRefType>(array.getType());
  int64_t offset = type.getStridesAndOffset().second;
  if (ShapedType::isDynamic(offset) ||
      offset * getElementBytes(type.getElementType()) % alignment != 0)
    return false;
  while (auto view = array.getDefiningOp<ViewLikeOpInterface>()) {
    // Begins at some byte, of which its type says nothing.
    if (isa<memref::ViewOp>(view))
      return false;
    array = view.getViewSource();
  }
  return array.getDefiningOp<memref::AllocOp>();
}

/// The address of `array`, which is that of `base`, where a launch has to test
/// that it is a multiple of `alignment` bytes; else 0.
static Int getTestedAddress(Emitter &host, Value array, Value base,
                            int64_t alignment) {
  if (isKnownToBeAligned(array, alignment))
    return 0;
  return Int(LLVM::PtrToIntOp::create(host.builder, host.loc,
                                      host.builder.getI64Type(), base));
}

namespace {
/// An array of a fused region, and where it lies.
struct PlacedArray {
  Value array;
  StepArray place;
};
} // namespace

/// The arrays of `fused` but its factors.
static SmallVector<PlacedArray> getPlacedArrays(FusedOp fused,
                                                const FusedOperands &operands) {
  SmallVector<PlacedArray> arrays{{fused.getInputs().front(), operands.input},
                                  {fused.getInit(), operands.init}};
  if (operands.addend.base) {
    Value addend = fused.getModeProducts().back().getAddend();
    arrays.push_back({addend ? fused.getOperandOf(addend) : fused.getInit(),
                      operands.addend});
  }
  if (!operands.epilogue)
    return arrays;
  EpilogueOp epilogue = fused.getEpilogue();
  if (Value bias = epilogue.getBias())
    arrays.push_back({fused.getOperandOf(bias), operands.epilogue->bias});
  if (Value residual = epilogue.getResidual())
    arrays.push_back(
        {fused.getOperandOf(residual), operands.epilogue->residual});
  return arrays;
}

/// Whether the arrays of `fused` are multiples of `alignment` bytes, as an i1;
/// null if that is known.
static Value buildAlignmentTest(OpBuilder &builder, FusedOp fused,
                                int64_t alignment) {
  Type element = getElementType(fused.getInit());
  int64_t elementBytes = getElementBytes(element);
  if (alignment <= elementBytes)
    return nullptr;
  Emitter host(builder, fused.getLoc(), getStorageType(element));
  FusedOperands operands = getFusedOperands(host, fused);
  Int bits = 0;
  for (const auto &[array, place] : getPlacedArrays(fused, operands)) {
    bits =
        host.bitOr(bits, getTestedAddress(host, array, place.base, alignment));
    for (Int stride : place.strides)
      if (!stride.isConstant())
        bits = host.bitOr(bits, host.mul(stride, elementBytes));
  }
  if (bits.is(0))
    return nullptr;
  return host.equal(host.bitAnd(bits, alignment - 1), 0);
}

/// The rows of `fused` that `min_rows` of such a `plan` counts.
static Int getSparseRows(Emitter &host, FusedOp fused, GPUPlanAttr plan) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  std::optional<unsigned> axis;
  if (plan.getKernel() == GPUKernel::Chain) {
    axis = getRegroupedRows(products);
  } else {
    bool copiesSingly =
        plan.getKernel() == GPUKernel::Sparse && plan.get("copies_singly") != 0;
    auto problem = describeSparse(fused, copiesSingly);
    auto *found = std::get_if<SparseProblem>(&problem);
    if (found && found->rowAxis >= 0)
      axis = found->rowAxis;
  }
  return axis ? getFusedOperands(host, fused).sizes[*axis] : Int(1);
}

/// Adds that there are at least as many rows as `plan` wants.
static void requireRows(OpBuilder &builder, FusedOp fused, GPUPlanAttr plan,
                        Requirement &requirement) {
  int64_t least = plan.get("min_rows");
  if (least <= 1)
    return;
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  Int rows = getSparseRows(host, fused, plan);
  if (rows.isConstant())
    requirement.isNever |= rows.getConstant() < least;
  else
    addRequirement(builder, fused.getLoc(), requirement,
                   host.less(least - 1, rows));
}

static void require(Emitter &host, Requirement &requirement, Int lhs, Int rhs) {
  if (lhs.isConstant() && rhs.isConstant())
    requirement.isNever |= lhs != rhs;
  else if (lhs != rhs)
    addRequirement(host.builder, host.loc, requirement, host.equal(lhs, rhs));
}

/// Adds that `array` has no gaps and begins at a multiple of 16 bytes.
static void requirePacked(Emitter &host, Requirement &requirement,
                          const PlacedArray &array, ArrayRef<Int> outerSizes,
                          ArrayRef<int64_t> itemSizes) {
  Int expected = 1;
  int64_t outerRank = outerSizes.size();
  for (int axis = outerRank + itemSizes.size() - 1; axis >= 0; --axis) {
    Int size =
        axis < outerRank ? outerSizes[axis] : Int(itemSizes[axis - outerRank]);
    if (!size.is(1))
      require(host, requirement, array.place.strides[axis], expected);
    expected = host.mul(expected, size);
  }
  Int address =
      getTestedAddress(host, array.array, array.place.base, kPackedAlignment);
  require(host, requirement, host.bitAnd(address, kPackedAlignment - 1), 0);
}

/// Adds that the arrays of `fused` are as `plan`, with `packed = 1`, wants
/// them.
static void requirePacked(OpBuilder &builder, FusedOp fused, GPUPlanAttr plan,
                          Requirement &requirement) {
  std::variant<BatchedPlan, std::string> read = readBatchedPlan(fused, plan);
  // Whoever makes the kernel says what is wrong with the plan.
  if (std::holds_alternative<std::string>(read))
    return;
  const auto &complete = std::get<BatchedPlan>(read);
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  FusedOperands operands = getFusedOperands(host, fused);
  ArrayRef<Int> outerSizes =
      ArrayRef(operands.sizes).take_front(complete.firstAxis);
  SmallVector<PlacedArray> arrays = getPlacedArrays(fused, operands);
  requirePacked(host, requirement, arrays.front(), outerSizes,
                complete.getInput().sizes);
  for (const PlacedArray &array : ArrayRef(arrays).drop_front())
    requirePacked(host, requirement, array, outerSizes,
                  complete.getOutput().sizes);
}

/// Adds that rows of the arrays of `fused`, and its factor, begin at multiples
/// of 16 bytes.
static void requireAlignedRows(OpBuilder &builder, FusedOp fused,
                               Requirement &requirement) {
  auto described = describeSmallGroups(fused);
  // Whoever makes the kernel says why there is none.
  if (std::holds_alternative<std::string>(described))
    return;
  unsigned rowAxis = std::get<SmallGroupsProblem>(described).rowAxis;
  Type element = getElementType(fused.getInit());
  Emitter host(builder, fused.getLoc(), element);
  FusedOperands operands = getFusedOperands(host, fused);
  ModeProductOp product = fused.getModeProducts().front();
  Int bits = 0;
  for (auto [array, base] :
       {std::pair(fused.getInputs().front(), operands.input.base),
        std::pair(fused.getInit(), operands.init.base),
        std::pair(fused.getOperandOf(product.getFactor()),
                  getFusedFactor(host, fused, product).array.base)})
    bits =
        host.bitOr(bits, getTestedAddress(host, array, base, kPackedAlignment));
  for (Int stride :
       {operands.input.strides[rowAxis], operands.init.strides[rowAxis]})
    if (!stride.isConstant())
      bits = host.bitOr(bits, host.mul(stride, getElementBytes(element)));
  require(host, requirement, host.bitAnd(bits, kPackedAlignment - 1), 0);
}

/// Adds that rows of the input end where copies of `plan` do, which read
/// nothing of what may be between rows.
static void requireWholeCopies(OpBuilder &builder, FusedOp fused,
                               GPUPlanAttr plan, Requirement &requirement) {
  std::variant<FfmaPlan, std::string> read = readFfmaPlan(fused, plan);
  // Whoever makes the kernel says what is wrong with the plan.
  if (std::holds_alternative<std::string>(read))
    return;
  int64_t width = std::get<FfmaPlan>(read).copyWidth;
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  Int columns = getFusedOperands(host, fused).sizes.back();
  if (!columns.isConstant())
    require(host, requirement, host.bitAnd(columns, width - 1), 0);
}

/// What `plan` requires of what is known at launch only.
static Requirement buildRequirement(OpBuilder &builder, FusedOp fused,
                                    GPUPlanAttr plan) {
  Location loc = fused.getLoc();
  Requirement requirement;
  switch (plan.getKernel()) {
  case GPUKernel::Ffma:
    requireWholeCopies(builder, fused, plan, requirement);
    [[fallthrough]];
  case GPUKernel::Dmma:
    addRequirement(builder, loc, requirement,
                   buildAlignmentTest(builder, fused, plan.get("alignment")));
    break;
  case GPUKernel::Batched:
    if (plan.get("packed"))
      requirePacked(builder, fused, plan, requirement);
    break;
  case GPUKernel::SmallGroups:
    requireRows(builder, fused, plan, requirement);
    requireAlignedRows(builder, fused, requirement);
    break;
  case GPUKernel::Sparse:
  case GPUKernel::Chain:
    requireRows(builder, fused, plan, requirement);
    break;
  default:
    break;
  }
  return requirement;
}

/// Calls cuBLAS as `plan` says, and leaves `builder` where the product is left
/// to do.
static LogicalResult emitCublas(OpBuilder &builder, FusedOp fused,
                                GPUPlanAttr plan) {
  Location loc = fused.getLoc();
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  FailureOr<Value> isDone = buildCublasCall(builder, fused, plan);
  if (failed(isDone))
    return failure();
  Value isLeft = arith::XOrIOp::create(builder, loc, *isDone, yes);
  auto branch =
      scf::IfOp::create(builder, loc, isLeft, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  return success();
}

LogicalResult kron::emitDispatch(OpBuilder &builder, FusedOp fused,
                                 ArrayRef<GPUPlanAttr> plans,
                                 PlanEmitter emit) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(fused);
  for (GPUPlanAttr plan : plans) {
    if (plan.getKernel() == GPUKernel::Cublas) {
      if (failed(emitCublas(builder, fused, plan)))
        return failure();
      continue;
    }
    Requirement requirement = buildRequirement(builder, fused, plan);
    if (requirement.isNever)
      continue;
    if (!requirement.value)
      return emit(builder, plan);
    auto branch = scf::IfOp::create(builder, fused.getLoc(), requirement.value,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    if (failed(emit(builder, plan)))
      return failure();
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  return fused.emitOpError("has no plan that requires nothing of what is known "
                           "at launch only: ")
         << plans.back();
}
