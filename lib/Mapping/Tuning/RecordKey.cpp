//===- RecordKey.cpp - What an operation's plan depends on ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Mapping/Tuning/Record.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Shape, element type and, where elements are not next to each other, layout:
/// "?x64xf32", "4x8xf64 strided<[16, 1]>".
static std::string getArrayText(ShapedType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      stream << '?';
    else
      stream << size;
    stream << 'x';
  }
  stream << type.getElementType();
  if (auto memref = dyn_cast<MemRefType>(type);
      memref && !memref.getLayout().isIdentity())
    stream << " " << memref.getLayout();
  return text;
}

/// The attributes of `op` but for its plan; of factors that are known, the type
/// alone, since code is the same for all.
static std::string getFlags(Operation *op) {
  SmallVector<std::string> flags;
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (attribute.getName() == kPlanAttrName)
      continue;
    std::string &text = flags.emplace_back();
    llvm::raw_string_ostream stream(text);
    stream << attribute.getName().getValue() << " = ";
    auto number = dyn_cast<TypedAttr>(attribute.getValue());
    if (number && attribute.getName().getValue().starts_with("static_"))
      stream << number.getType();
    else
      stream << attribute.getValue();
  }
  return llvm::join(flags, ", ");
}

/// The kron.epilogue that alone takes the result of `op`, or on memrefs takes
/// what it writes; null if there is none.
static EpilogueOp getEpilogue(Operation *op) {
  Value result;
  if (op->getNumResults() == 1 && op->hasOneUse())
    result = op->getResult(0);
  else if (auto init = dyn_cast<DestinationStyleOpInterface>(op);
           init && op->getNumResults() == 0 && init.getNumDpsInits() == 1)
    result = init.getDpsInits().front();
  if (!result)
    return nullptr;
  for (Operation *user : result.getUsers())
    if (auto epilogue = dyn_cast<EpilogueOp>(user);
        epilogue && epilogue.getInput() == result &&
        user->getBlock() == op->getBlock() && op->isBeforeInBlock(user))
      return epilogue;
  return nullptr;
}

static std::string getEpilogueText(Operation *op) {
  EpilogueOp epilogue = getEpilogue(op);
  if (!epilogue)
    return "";
  std::string text = getFlags(epilogue);
  for (auto [name, array] : {std::pair("bias", epilogue.getBias()),
                             std::pair("residual", epilogue.getResidual())})
    if (array)
      text += (", " + Twine(name) + " " +
               getArrayText(cast<ShapedType>(array.getType())))
                  .str();
  return text;
}

/// The operations of `region`, with numbers for what they have and make: the
/// same text for the same function, whatever its names and places.
static std::string getRegionText(Region &region) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  DenseMap<Value, unsigned> numbers;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  add(region.getArguments());
  for (Operation &op : region.front()) {
    add(op.getResults());
    stream << op.getName() << '(';
    llvm::interleaveComma(op.getOperands(), stream, [&](Value operand) {
      stream << numbers.lookup(operand);
    });
    stream << ") " << op.getAttrDictionary() << " : " << op.getResultTypes()
           << "; ";
  }
  return text;
}

/// What `op` computes of pairs beside a function with a name, and whether it is
/// of one array with itself, of which plans may compute one half.
static std::string getFunctionText(PairOpInterface op) {
  std::string text;
  for (auto [name, region] : {std::pair("inner", &op.getInnerBody()),
                              std::pair("epilogue", &op.getEpilogue())})
    if (!region->empty())
      text += (Twine(text.empty() ? "" : ", ") + name + " { " +
               getRegionText(*region) + "}")
                  .str();
  if (isSymmetricMatrix(op))
    text += text.empty() ? "one array" : ", one array";
  return text;
}

RecordKey kron::getRecordKey(Operation *op) {
  RecordKey key;
  key.op = op->getName().getStringRef().str();
  for (Type type : op->getOperandTypes()) {
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      key.operands.push_back(getArrayText(shaped));
      continue;
    }
    llvm::raw_string_ostream(key.operands.emplace_back()) << type;
  }
  key.flags = getFlags(op);
  auto pairs = dyn_cast<PairOpInterface>(op);
  key.epilogue = pairs ? getFunctionText(pairs) : getEpilogueText(op);
  return key;
}

bool kron::isTunable(Operation *op) {
  // Keys have what regions compute of functions of pairs only.
  if (!isa_and_present<KronDialect>(op->getDialect()) ||
      (op->getNumRegions() != 0 && !isa<PairOpInterface>(op)) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return false;
  std::optional<Attribute> given = op->getInherentAttr(kPlanAttrName);
  return given && !*given;
}
