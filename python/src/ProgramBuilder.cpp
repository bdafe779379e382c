//===- ProgramBuilder.cpp - The IR of programs ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "kron/Conversion/RowMajor.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace mlir;
using namespace mlir::kron;
using ::kron::python::isDestination;
using ::kron::python::Program;

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

static Type getNamedType(OpBuilder &builder, StringRef name) {
  if (name.consume_front("complex<"))
    return ComplexType::get(getNamedType(builder, name.drop_back()));
  MLIRContext *context = builder.getContext();
  Type type = llvm::StringSwitch<Type>(name)
                  .Case("f16", builder.getF16Type())
                  .Case("bf16", builder.getBF16Type())
                  .Case("f32", builder.getF32Type())
                  .Case("f64", builder.getF64Type())
                  .Case("i8", builder.getI8Type())
                  .Case("i32", builder.getI32Type())
                  .Case("i64", builder.getI64Type())
                  .Case("f8E4M3FN", Float8E4M3FNType::get(context))
                  .Case("f8E5M2", Float8E5M2Type::get(context))
                  .Default(Type());
  if (!type)
    throw std::invalid_argument(
        "expects the name of an element type, but got '" + name.str() + "'");
  return type;
}

static SmallVector<int64_t> getShape(const Program::Sizes &sizes) {
  SmallVector<int64_t> shape;
  for (std::optional<int64_t> size : sizes)
    shape.push_back(size.value_or(ShapedType::kDynamic));
  return shape;
}

/// An array in memory.
static Type getMemRefType(ArrayRef<int64_t> shape, Type element,
                          Program::Storage storage) {
  if (storage == Program::Storage::RowMajor)
    return MemRefType::get(shape, element);
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  if (storage == Program::Storage::Rows && !strides.empty())
    strides.back() = 1;
  return MemRefType::get(shape, element,
                         StridedLayoutAttr::get(element.getContext(),
                                                ShapedType::kDynamic, strides));
}

/// A constant of the type that scalars of arrays of `element` have.
static Attribute getNumber(OpBuilder &builder, Type element, double value) {
  if (isa<IntegerType>(element))
    return builder.getIntegerAttr(element, int64_t(value));
  if (auto type = dyn_cast<ComplexType>(element))
    return complex::NumberAttr::get(type, value, 0);
  bool isNarrow = isa<Float16Type, BFloat16Type>(element);
  return builder.getFloatAttr(isNarrow ? builder.getF32Type() : element, value);
}

/// An attribute whose value is a word.
static Attribute getWord(MLIRContext *context, StringRef name, StringRef word) {
  if (auto value = symbolizePrecision(word); value && name == "precision")
    return PrecisionAttr::get(context, *value);
  if (auto value = symbolizeLayout(word); value && name == "layout")
    return LayoutAttr::get(context, *value);
  if (auto value = symbolizeActivation(word); value && name == "activation")
    return ActivationAttr::get(context, *value);
  throw std::invalid_argument("expects a word of precision, layout or "
                              "activation, but got '" +
                              word.str() + "' for '" + name.str() + "'");
}

static Attribute getTranspose(MLIRContext *context, char letter) {
  StringRef text(&letter, 1);
  auto value = symbolizeTranspose(text);
  if (!value)
    throw std::invalid_argument("expects a letter that says how a matrix is "
                                "taken, but got '" +
                                text.str() + "'");
  return TransposeAttr::get(context, *value);
}

/// Groups of operands in the order in which an operation has them.
static ArrayRef<StringRef> getGroups(StringRef operation) {
  static constexpr StringRef product[] = {"input", "factors", "alpha",
                                          "beta",  "addend",  "init"};
  static constexpr StringRef ksmm[] = {"input", "weights", "bias",   "residual",
                                       "alpha", "beta",    "addend", "init"};
  static constexpr StringRef ksmmGrad[] = {"input", "grad",   "alpha",
                                           "beta",  "addend", "init"};
  static constexpr StringRef factorGrad[] = {
      "input", "grad", "factors", "alpha", "beta", "addend", "init"};
  static constexpr StringRef biasGrad[] = {"input", "alpha", "beta", "addend",
                                           "init"};
  static constexpr StringRef quantize[] = {"input", "init", "scales"};
  return llvm::StringSwitch<ArrayRef<StringRef>>(operation)
      .Cases({"mkm", "kmm", "batched"}, product)
      .Case("ksmm", ksmm)
      .Case("ksmm_grad", ksmmGrad)
      .Case("factor_grad", factorGrad)
      .Case("bias_grad", biasGrad)
      .Case("quantize", quantize);
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

namespace {
/// Builds the IR of one program.
class ProgramBuilder {
public:
  ProgramBuilder(const Program &program, MLIRContext *context)
      : program(program), builder(context), values(program.getNumValues()) {}

  OwningOpRef<ModuleOp> build();

private:
  Type getType(const Program::Argument &argument);
  Type getArrayType(const Program::Sizes &sizes, StringRef element,
                    Program::Storage storage);
  func::FuncOp addFunction();
  Value getSize(int value, int axis);
  void add(const Program::Allocation &allocation);
  void add(const Program::Step &step);
  void add(const Program::Conversion &conversion);
  void addTransposes(const Program::Group &group, OperationState &state);
  void addAttribute(const Program::Attribute &attribute, Type element,
                    OperationState &state);
  void addReturn(func::FuncOp function);

  const Program &program;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  SmallVector<Value> values;
  /// Sizes of values along an axis.
  std::map<std::pair<int, int>, Value> sizes;
};
} // namespace

Type ProgramBuilder::getArrayType(const Program::Sizes &sizes,
                                  StringRef element, Program::Storage storage) {
  Type type = getNamedType(builder, element);
  SmallVector<int64_t> shape = getShape(sizes);
  if (program.hasTensors())
    return RankedTensorType::get(shape, type);
  return getMemRefType(shape, type, storage);
}

Type ProgramBuilder::getType(const Program::Argument &argument) {
  if (argument.isScalar)
    return getNamedType(builder, argument.element);
  return getArrayType(argument.sizes, argument.element, argument.storage);
}

func::FuncOp ProgramBuilder::addFunction() {
  SmallVector<Type> types;
  for (const Program::Argument &argument : program.getArguments())
    types.push_back(getType(argument));
  auto function = func::FuncOp::create(builder, loc, "main",
                                       builder.getFunctionType(types, {}));
  if (program.isForRowMajor())
    function->setAttr(kRowMajorAttrName, builder.getUnitAttr());
  Block *entry = function.addEntryBlock();
  for (auto [index, argument] : llvm::enumerate(program.getArguments())) {
    values[argument.value] = entry->getArgument(index);
    StringRef name = argument.name;
    if (argument.isDestination) {
      name = program.getResults().front().name;
      function.setArgAttr(index, "kron.result", builder.getI64IntegerAttr(0));
    }
    function.setArgAttr(index, "kron.name", builder.getStringAttr(name));
  }
  builder.setInsertionPointToStart(entry);
  return function;
}

Value ProgramBuilder::getSize(int value, int axis) {
  Value &size = sizes[{value, axis}];
  if (!size)
    size =
        program.hasTensors()
            ? Value(tensor::DimOp::create(builder, loc, values[value], axis))
            : Value(memref::DimOp::create(builder, loc, values[value], axis));
  return size;
}

void ProgramBuilder::add(const Program::Allocation &allocation) {
  Type type = getArrayType(allocation.sizes, allocation.element,
                           Program::Storage::RowMajor);
  SmallVector<Value> sizes;
  if (!cast<ShapedType>(type).hasStaticShape())
    sizes.push_back(getSize(allocation.like, allocation.axis));
  values[allocation.value] =
      program.hasTensors()
          ? Value(tensor::EmptyOp::create(builder, loc, type, sizes))
          : Value(memref::AllocOp::create(builder, loc, cast<MemRefType>(type),
                                          sizes));
}

void ProgramBuilder::addTransposes(const Program::Group &group,
                                   OperationState &state) {
  bool anyOther =
      llvm::any_of(group.operands, [](const Program::Operand &operand) {
        return operand.letter != 'N';
      });
  if (!anyOther)
    return;
  SmallVector<Attribute> letters;
  for (const Program::Operand &operand : group.operands)
    letters.push_back(getTranspose(builder.getContext(), operand.letter));
  Attribute attribute =
      group.name == "factors" ? builder.getArrayAttr(letters) : letters[0];
  state.addAttribute("trans_" + group.name, attribute);
}

void ProgramBuilder::addAttribute(const Program::Attribute &attribute,
                                  Type element, OperationState &state) {
  Attribute value;
  if (auto *word = std::get_if<std::string>(&attribute.value))
    value = getWord(builder.getContext(), attribute.name, *word);
  else if (auto *integer = std::get_if<int64_t>(&attribute.value))
    value = builder.getI64IntegerAttr(*integer);
  else
    value = getNumber(builder, element, std::get<double>(attribute.value));
  state.addAttribute(attribute.name, value);
}

void ProgramBuilder::add(const Program::Step &step) {
  OperationState state(loc, "kron." + step.name);
  SmallVector<int32_t> counts;
  Type element;
  for (StringRef name : getGroups(step.name)) {
    auto group = llvm::find_if(step.groups, [&](const Program::Group &group) {
      return group.name == name;
    });
    counts.push_back(group == step.groups.end() ? 0 : group->operands.size());
    if (group == step.groups.end())
      continue;
    for (const Program::Operand &operand : group->operands)
      state.addOperands(values[operand.value]);
    addTransposes(*group, state);
    if (!isDestination(name))
      continue;
    Type type = state.operands.back().getType();
    element = getElementTypeOrSelf(type);
    if (program.hasTensors())
      state.addTypes(type);
  }
  if (step.name != "quantize")
    state.addAttribute("operandSegmentSizes",
                       builder.getDenseI32ArrayAttr(counts));
  for (const Program::Attribute &attribute : step.attributes)
    addAttribute(attribute, element, state);
  Operation *operation = builder.create(state);
  for (auto [value, result] :
       llvm::zip_equal(step.results, operation->getResults()))
    values[value] = result;
}

void ProgramBuilder::add(const Program::Conversion &conversion) {
  linalg::CopyOp::create(builder, loc, values[conversion.source],
                         values[conversion.target]);
}

void ProgramBuilder::addReturn(func::FuncOp function) {
  SmallVector<Value> returned;
  for (const Program::Result &result : program.getResults())
    returned.push_back(values[result.value]);
  func::ReturnOp::create(builder, loc, returned);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(returned).getTypes()));
  for (auto [index, result] : llvm::enumerate(program.getResults()))
    function.setResultAttr(index, "kron.name",
                           builder.getStringAttr(result.name));
}

OwningOpRef<ModuleOp> ProgramBuilder::build() {
  builder.getContext()
      ->loadDialect<KronDialect, arith::ArithDialect, complex::ComplexDialect,
                    func::FuncDialect, linalg::LinalgDialect,
                    memref::MemRefDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  func::FuncOp function = addFunction();
  for (const auto &step : program.getSteps())
    std::visit([&](const auto &step) { add(step); }, step);
  addReturn(function);
  return module;
}

OwningOpRef<ModuleOp> mlir::kron::buildProgram(const Program &program,
                                               MLIRContext *context) {
  return ProgramBuilder(program, context).build();
}
