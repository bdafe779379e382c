//===- TileHazardSteps.cpp - Races of steps of a chain --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileHazards.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// A ring of a step is filled as a whole, from the first slot on.
LogicalResult HazardCheck::copyStep(CopyStepOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<RingType>(operand.getType()))
      continue;
    Memory &found = memory[operand];
    // contract_step_c9
    if (found.isArriving)
      return op.emitOpError("starts a ring again that no tile.contract_step "
                            "has taken the pieces of");
    // copy_step_c3
    if (!found.readers.empty())
      return op.emitOpError("starts copies to slots that other threads may "
                            "still read: expects a tile.barrier in front");
    found.isArriving = true;
  }
  return checkArrived(op);
}

LogicalResult HazardCheck::contractStep(ContractStepOp op) {
  for (Value operand : op->getOperands()) {
    if (isa<RingType>(operand.getType())) {
      Memory &found = memory[operand];
      // contract_step_c9
      if (!found.isArriving)
        return op.emitOpError("takes pieces from a ring that no tile.copy_step "
                              "has started since its last turn");
      found.isArriving = false;
      found.readers.push_back(Access());
    } else if (isa<BufferType>(operand.getType())) {
      // contract_step_c8
      if (failed(read(op, operand, Access())))
        return failure();
    }
  }
  return success();
}

LogicalResult HazardCheck::write(LeaveRowsOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    Memory &found = get(operand);
    // leave_rows_c4
    if (!found.readers.empty() || !found.writers.empty())
      return op.emitOpError("overwrites what other threads may still read: "
                            "expects a tile.barrier in between");
    found.writers.push_back(Access());
  }
  return checkArrived(op);
}

LogicalResult HazardCheck::clear(ClearOp op) {
  get(op->getOperand(0)).writers.push_back(Access());
  return checkArrived(op);
}
