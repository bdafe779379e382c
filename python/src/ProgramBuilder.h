//===- ProgramBuilder.h - The IR of programs --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_PROGRAMBUILDER_H
#define KRON_PYTHON_PROGRAMBUILDER_H

#include "Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::kron {

/// The module of a program in memory, without text. To be verified: Python code
/// may have put together what is no program.
OwningOpRef<ModuleOp> buildProgram(const ::kron::python::Program &program,
                                   MLIRContext *context);

} // namespace mlir::kron

#endif // KRON_PYTHON_PROGRAMBUILDER_H
