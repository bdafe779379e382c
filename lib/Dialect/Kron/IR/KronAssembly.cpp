//===- KronAssembly.cpp - Custom assembly of kron operations -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

//
// Operands under op() print as `%f`, `T(%f)` or `C(%f)`; scaling prints as the
// clauses `alpha(..)`, `beta(..)` and `addend(..)`, each left out where it has
// its default; factor dimensions print as `[p, q, 3]`, lists of axes as `[1,
// 3]`.
//
//===----------------------------------------------------------------------===//

#include "KronAssembly.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Transposed operands
//===----------------------------------------------------------------------===//

ParseResult
kron::parseTransposedOperand(OpAsmParser &parser,
                             OpAsmParser::UnresolvedOperand &operand,
                             TransposeAttr &transpose) {
  Transpose value = Transpose::N;
  if (succeeded(parser.parseOptionalKeyword("T")))
    value = Transpose::T;
  else if (succeeded(parser.parseOptionalKeyword("C")))
    value = Transpose::C;
  transpose = TransposeAttr::get(parser.getContext(), value);
  if (value == Transpose::N)
    return parser.parseOperand(operand);
  return failure(parser.parseLParen() || parser.parseOperand(operand) ||
                 parser.parseRParen());
}

void kron::printTransposedOperand(OpAsmPrinter &printer, Operation *,
                                  Value operand, TransposeAttr transpose) {
  Transpose value = transpose ? transpose.getValue() : Transpose::N;
  if (value == Transpose::N)
    printer << operand;
  else
    printer << stringifyTranspose(value) << '(' << operand << ')';
}

ParseResult kron::parseTransposedOperands(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types, ArrayAttr &transposes) {
  if (succeeded(parser.parseOptionalColon()))
    return success();
  SmallVector<Attribute> values;
  bool anyTransposed = false;
  auto parseOne = [&]() -> ParseResult {
    TransposeAttr transpose;
    if (parseTransposedOperand(parser, operands.emplace_back(), transpose))
      return failure();
    anyTransposed |= transpose.getValue() != Transpose::N;
    values.push_back(transpose);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne) || parser.parseColon() ||
      parser.parseTypeList(types))
    return failure();
  if (anyTransposed)
    transposes = parser.getBuilder().getArrayAttr(values);
  return success();
}

void kron::printTransposedOperands(OpAsmPrinter &printer, Operation *op,
                                   OperandRange operands, TypeRange types,
                                   ArrayAttr transposes) {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (index)
      printer << ", ";
    printTransposedOperand(printer, op, operand,
                           transposes ? cast<TransposeAttr>(transposes[index])
                                      : TransposeAttr());
  }
  printer << " : " << types;
}

ParseResult kron::parseOtherFactors(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types, ArrayAttr &transposes) {
  if (failed(parser.parseOptionalKeyword("factors")))
    return success();
  return failure(parser.parseLParen() ||
                 parseTransposedOperands(parser, operands, types, transposes) ||
                 parser.parseRParen());
}

void kron::printOtherFactors(OpAsmPrinter &printer, Operation *op,
                             OperandRange operands, TypeRange types,
                             ArrayAttr transposes) {
  if (operands.empty())
    return;
  printer << "factors(";
  printTransposedOperands(printer, op, operands, types, transposes);
  printer << ") ";
}

//===----------------------------------------------------------------------===//
// Scaling
//===----------------------------------------------------------------------===//

static ParseResult
parseScalar(OpAsmParser &parser, StringRef keyword,
            std::optional<OpAsmParser::UnresolvedOperand> &operand, Type &type,
            TypedAttr &constant) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  if (parser.parseLParen())
    return failure();
  OpAsmParser::UnresolvedOperand value;
  OptionalParseResult parsed = parser.parseOptionalOperand(value);
  if (parsed.has_value()) {
    operand = value;
    return failure(*parsed || parser.parseColonType(type) ||
                   parser.parseRParen());
  }
  return failure(parser.parseAttribute(constant) || parser.parseRParen());
}

ParseResult kron::parseScaling(
    OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &alpha,
    Type &alphaType, TypedAttr &staticAlpha,
    std::optional<OpAsmParser::UnresolvedOperand> &beta, Type &betaType,
    TypedAttr &staticBeta,
    std::optional<OpAsmParser::UnresolvedOperand> &addend, Type &addendType) {
  if (parseScalar(parser, "alpha", alpha, alphaType, staticAlpha) ||
      parseScalar(parser, "beta", beta, betaType, staticBeta))
    return failure();
  if (failed(parser.parseOptionalKeyword("addend")))
    return success();
  addend.emplace();
  return failure(parser.parseLParen() || parser.parseOperand(*addend) ||
                 parser.parseColonType(addendType) || parser.parseRParen());
}

static void printScalar(OpAsmPrinter &printer, StringRef keyword, Value value,
                        TypedAttr constant) {
  if (!value && !constant)
    return;
  printer << ' ' << keyword << '(';
  if (value)
    printer << value << " : " << value.getType();
  else
    printer << constant;
  printer << ')';
}

void kron::printScaling(OpAsmPrinter &printer, Operation *, Value alpha, Type,
                        TypedAttr staticAlpha, Value beta, Type,
                        TypedAttr staticBeta, Value addend, Type) {
  printScalar(printer, "alpha", alpha, staticAlpha);
  printScalar(printer, "beta", beta, staticBeta);
  if (addend)
    printer << " addend(" << addend << " : " << addend.getType() << ')';
}

//===----------------------------------------------------------------------===//
// Gradients of functions of pairs
//===----------------------------------------------------------------------===//

ParseResult kron::parseGradientOfPairs(
    OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &grad,
    Type &gradType, TransposeAttr &transGrad,
    std::optional<OpAsmParser::UnresolvedOperand> &lhsFactor,
    Type &lhsFactorType, TransposeAttr &transLhsFactor,
    std::optional<OpAsmParser::UnresolvedOperand> &rhsFactor,
    Type &rhsFactorType, TransposeAttr &transRhsFactor) {
  auto none = TransposeAttr::get(parser.getContext(), Transpose::N);
  transGrad = transLhsFactor = transRhsFactor = none;
  if (succeeded(parser.parseOptionalKeyword("grad")) &&
      (parser.parseLParen() ||
       parseTransposedOperand(parser, grad.emplace(), transGrad) ||
       parser.parseColonType(gradType) || parser.parseRParen()))
    return failure();
  if (failed(parser.parseOptionalKeyword("factors")))
    return success();
  return failure(
      parser.parseLParen() ||
      parseTransposedOperand(parser, lhsFactor.emplace(), transLhsFactor) ||
      parser.parseComma() ||
      parseTransposedOperand(parser, rhsFactor.emplace(), transRhsFactor) ||
      parser.parseColonType(lhsFactorType) || parser.parseComma() ||
      parser.parseType(rhsFactorType) || parser.parseRParen());
}

void kron::printGradientOfPairs(OpAsmPrinter &printer, Operation *op,
                                Value grad, Type gradType,
                                TransposeAttr transGrad, Value lhsFactor,
                                Type lhsFactorType,
                                TransposeAttr transLhsFactor, Value rhsFactor,
                                Type rhsFactorType,
                                TransposeAttr transRhsFactor) {
  if (grad) {
    printer << "grad(";
    printTransposedOperand(printer, op, grad, transGrad);
    printer << " : " << gradType << ')';
  }
  if (!lhsFactor || !rhsFactor)
    return;
  printer << (grad ? " factors(" : "factors(");
  printTransposedOperand(printer, op, lhsFactor, transLhsFactor);
  printer << ", ";
  printTransposedOperand(printer, op, rhsFactor, transRhsFactor);
  printer << " : " << lhsFactorType << ", " << rhsFactorType << ')';
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

ParseResult kron::parseAxisNumber(OpAsmParser &parser, IntegerAttr &axis) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  axis = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

void kron::printAxisNumber(OpAsmPrinter &printer, Operation *,
                           IntegerAttr axis) {
  printer << axis.getInt();
}

ParseResult kron::parseFactorDims(OpAsmParser &parser,
                                  DenseI64ArrayAttr &factorDims) {
  SmallVector<int64_t> dims;
  auto parseOne = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("p"))) {
      dims.push_back(ModeProductOp::kContracted);
      return success();
    }
    if (succeeded(parser.parseOptionalKeyword("q"))) {
      dims.push_back(ModeProductOp::kResulting);
      return success();
    }
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(dims.emplace_back()))
      return failure();
    if (dims.back() < 0)
      return parser.emitError(loc, "expects `p`, `q` or an axis number >= 0");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  factorDims = parser.getBuilder().getDenseI64ArrayAttr(dims);
  return success();
}

void kron::printFactorDims(OpAsmPrinter &printer, Operation *,
                           DenseI64ArrayAttr factorDims) {
  printer << '[';
  llvm::interleaveComma(factorDims.asArrayRef(), printer, [&](int64_t dim) {
    if (dim == ModeProductOp::kContracted)
      printer << 'p';
    else if (dim == ModeProductOp::kResulting)
      printer << 'q';
    else
      printer << dim;
  });
  printer << ']';
}

ParseResult kron::parseAxisList(OpAsmParser &parser, DenseI64ArrayAttr &axes) {
  SmallVector<int64_t> list;
  auto parseOne = [&] { return parser.parseInteger(list.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  axes = parser.getBuilder().getDenseI64ArrayAttr(list);
  return success();
}

void kron::printAxisList(OpAsmPrinter &printer, Operation *,
                         DenseI64ArrayAttr axes) {
  printer << '[';
  llvm::interleaveComma(axes.asArrayRef(), printer);
  printer << ']';
}
