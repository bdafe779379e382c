//===- HiddenSizes.cpp - Sizes that types do not tell ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A cast or an allocation may leave a known size out of the type of an array,
// where the verifier does not see it. Lowering folds such sizes into views,
// which upstream's verifiers refuse if sizes contradict each other, in words
// that name none of kron's operations.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::kron;

static Type getKnownType(OpBuilder &builder, Value array);

/// That of an argument of a fused region, by the operand that it stands for.
static Type getKnownType(OpBuilder &builder, FusedOp fused,
                         BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto known =
      cast<ShapedType>(getKnownType(builder, fused->getOperand(number)));
  SmallVector<int64_t> shape(known.getShape());
  if (auto permutation = fused.getInputPermutation();
      permutation && number == 0)
    applyPermutationToVector(shape, *permutation);
  return cast<ShapedType>(argument.getType()).clone(shape);
}

/// The type of `array` with sizes that its definition tells. `builder` is where
/// operations may be left behind.
static Type getKnownType(OpBuilder &builder, Value array) {
  auto type = dyn_cast<ShapedType>(array.getType());
  if (!type || !type.hasRank() || type.hasStaticShape())
    return array.getType();
  if (auto argument = dyn_cast<BlockArgument>(array))
    if (auto fused =
            dyn_cast_if_present<FusedOp>(argument.getOwner()->getParentOp()))
      return getKnownType(builder, fused, argument);
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    OpFoldResult known =
        isa<TensorType>(type)
            ? tensor::getMixedSize(builder, array.getLoc(), array, dim)
            : memref::getMixedSize(builder, array.getLoc(), array, dim);
    // A negative one is none that an array can have.
    if (std::optional<int64_t> constant = getConstantIntValue(known);
        constant && *constant >= 0)
      size = *constant;
  }
  return type.clone(shape);
}

LogicalResult kron::verifyHiddenSizes(Operation *op) {
  // Types in its region follow those of its operands.
  if (auto fused = dyn_cast<FusedOp>(op)) {
    WalkResult result = fused.getBody().walk([](Operation *inner) {
      return failed(verifyHiddenSizes(inner)) ? WalkResult::interrupt()
                                              : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destinations)
    return success();
  // Everything in it goes with it.
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  Operation *known = builder.clone(*op);
  SmallVector<std::pair<unsigned, Type>> found;
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = getKnownType(builder, operand.get());
    if (type == operand.get().getType())
      continue;
    found.emplace_back(operand.getOperandNumber(), type);
    known->setOperand(operand.getOperandNumber(),
                      scratch.addArgument(type, op->getLoc()));
    if (op->getNumResults() > 0 && destinations.isDpsInit(&operand))
      known->getResult(destinations.getTiedOpResult(&operand).getResultNumber())
          .setType(type);
  }
  if (found.empty())
    return success();
  std::string problem;
  {
    ScopedDiagnosticHandler collect(op->getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      if (problem.empty())
                                        problem = diagnostic.str();
                                      return success();
                                    });
    if (succeeded(verify(known, /*verifyRecursively=*/false)))
      return success();
  }
  InFlightDiagnostic error = emitError(op->getLoc(), problem);
  for (auto [number, type] : found)
    error.attachNote(op->getOperand(number).getLoc())
        << "operand " << number << " is " << type << " by its definition, "
        << op->getOperand(number).getType() << " by its type";
  return error;
}
