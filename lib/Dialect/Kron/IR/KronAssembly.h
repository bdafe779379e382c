//===- KronAssembly.h - Custom assembly of kron operations -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_IR_KRONASSEMBLY_H
#define KRON_LIB_DIALECT_KRON_IR_KRONASSEMBLY_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

ParseResult parseTransposedOperand(OpAsmParser &parser,
                                   OpAsmParser::UnresolvedOperand &operand,
                                   TransposeAttr &transpose);
void printTransposedOperand(OpAsmPrinter &printer, Operation *op, Value operand,
                            TransposeAttr transpose);

ParseResult parseTransposedOperands(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types, ArrayAttr &transposes);
void printTransposedOperands(OpAsmPrinter &printer, Operation *op,
                             OperandRange operands, TypeRange types,
                             ArrayAttr transposes);

/// The clause `factors(..)`, left out where there is none.
ParseResult
parseOtherFactors(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                  SmallVectorImpl<Type> &types, ArrayAttr &transposes);
void printOtherFactors(OpAsmPrinter &printer, Operation *op,
                       OperandRange operands, TypeRange types,
                       ArrayAttr transposes);

ParseResult parseScaling(OpAsmParser &parser,
                         std::optional<OpAsmParser::UnresolvedOperand> &alpha,
                         Type &alphaType, TypedAttr &staticAlpha,
                         std::optional<OpAsmParser::UnresolvedOperand> &beta,
                         Type &betaType, TypedAttr &staticBeta,
                         std::optional<OpAsmParser::UnresolvedOperand> &addend,
                         Type &addendType);
void printScaling(OpAsmPrinter &printer, Operation *op, Value alpha,
                  Type alphaType, TypedAttr staticAlpha, Value beta,
                  Type betaType, TypedAttr staticBeta, Value addend,
                  Type addendType);

/// The clauses `grad(..)` and `factors(.., ..)`, left out where there is none.
ParseResult
parseGradientOfPairs(OpAsmParser &parser,
                     std::optional<OpAsmParser::UnresolvedOperand> &grad,
                     Type &gradType, TransposeAttr &transGrad,
                     std::optional<OpAsmParser::UnresolvedOperand> &lhsFactor,
                     Type &lhsFactorType, TransposeAttr &transLhsFactor,
                     std::optional<OpAsmParser::UnresolvedOperand> &rhsFactor,
                     Type &rhsFactorType, TransposeAttr &transRhsFactor);
void printGradientOfPairs(OpAsmPrinter &printer, Operation *op, Value grad,
                          Type gradType, TransposeAttr transGrad,
                          Value lhsFactor, Type lhsFactorType,
                          TransposeAttr transLhsFactor, Value rhsFactor,
                          Type rhsFactorType, TransposeAttr transRhsFactor);

ParseResult parseAxisNumber(OpAsmParser &parser, IntegerAttr &axis);
void printAxisNumber(OpAsmPrinter &printer, Operation *op, IntegerAttr axis);

ParseResult parseFactorDims(OpAsmParser &parser, DenseI64ArrayAttr &factorDims);
void printFactorDims(OpAsmPrinter &printer, Operation *op,
                     DenseI64ArrayAttr factorDims);

ParseResult parseAxisList(OpAsmParser &parser, DenseI64ArrayAttr &axes);
void printAxisList(OpAsmPrinter &printer, Operation *op,
                   DenseI64ArrayAttr axes);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_IR_KRONASSEMBLY_H
