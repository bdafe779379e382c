//===- Program.cpp - Functions of kron's operations, built as IR ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Program.h"
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

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int Program::addArgument(std::string name, Sizes sizes, std::string element,
                         Storage storage) {
  arguments.push_back({numValues, std::move(name), std::move(element),
                       std::move(sizes), storage, /*isScalar=*/false,
                       /*isDestination=*/false});
  return numValues++;
}

int Program::addScalar(std::string name, std::string type) {
  int value = addArgument(std::move(name), {}, std::move(type), {});
  arguments.back().isScalar = true;
  return value;
}

int Program::addDestination(std::string name, Sizes sizes,
                            std::string element) {
  int value = addArgument(std::move(name), std::move(sizes), std::move(element),
                          Storage::RowMajor);
  arguments.back().isDestination = true;
  return value;
}

int Program::allocate(Sizes sizes, std::string element, int like, int axis) {
  steps.push_back(
      Allocation{numValues, std::move(sizes), std::move(element), like, axis});
  return numValues++;
}

/// Operands of an operation that it writes.
static bool isDestination(StringRef group) {
  return group == "init" || group == "scales";
}

std::vector<int> Program::addOperation(std::string name,
                                       std::vector<Group> groups,
                                       std::vector<Attribute> attributes) {
  std::vector<int> values;
  for (const Group &group : groups)
    if (isOnTensors && isDestination(group.name))
      values.push_back(numValues++);
  steps.push_back(
      Step{std::move(name), std::move(groups), std::move(attributes), values});
  return values;
}

void Program::addConversion(int source, int target) {
  steps.push_back(Conversion{source, target});
}

void Program::addResult(int value, std::string name) {
  results.push_back({value, std::move(name)});
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

static Type getNamedType(OpBuilder &builder, StringRef name) {
  if (name.consume_front("complex<"))
    return ComplexType::get(getNamedType(builder, name.drop_back()));
  MLIRContext *context = builder.getContext();
  return llvm::StringSwitch<Type>(name)
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("f32", builder.getF32Type())
      .Case("f64", builder.getF64Type())
      .Case("i8", builder.getI8Type())
      .Case("i32", builder.getI32Type())
      .Case("i64", builder.getI64Type())
      .Case("f8E4M3FN", Float8E4M3FNType::get(context))
      .Case("f8E5M2", Float8E5M2Type::get(context));
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
  if (name == "precision")
    return PrecisionAttr::get(context, *symbolizePrecision(word));
  if (name == "layout")
    return LayoutAttr::get(context, *symbolizeLayout(word));
  assert(name == "activation" && "no attribute that is a word");
  return ActivationAttr::get(context, *symbolizeActivation(word));
}

static Attribute getTranspose(MLIRContext *context, char letter) {
  return TransposeAttr::get(context,
                            *symbolizeTranspose(StringRef(&letter, 1)));
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
  static constexpr StringRef quantize[] = {"input", "init", "scales"};
  return llvm::StringSwitch<ArrayRef<StringRef>>(operation)
      .Cases({"mkm", "kmm", "batched"}, product)
      .Case("ksmm", ksmm)
      .Case("ksmm_grad", ksmmGrad)
      .Case("factor_grad", factorGrad)
      .Case("quantize", quantize);
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

/// Builds the IR of one program.
class Program::Builder {
public:
  Builder(const Program &program, MLIRContext *context)
      : program(program), builder(context), values(program.numValues) {}

  OwningOpRef<ModuleOp> build();

private:
  Type getType(const Argument &argument);
  Type getArrayType(const Sizes &sizes, StringRef element, Storage storage);
  func::FuncOp addFunction();
  Value getSize(int value, int axis);
  void add(const Allocation &allocation);
  void add(const Step &step);
  void add(const Conversion &conversion);
  void addTransposes(const Group &group, OperationState &state);
  void addAttribute(const Attribute &attribute, Type element,
                    OperationState &state);
  void addReturn(func::FuncOp function);

  const Program &program;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  SmallVector<Value> values;
  /// Sizes of values along an axis.
  std::map<std::pair<int, int>, Value> sizes;
};

Type Program::Builder::getArrayType(const Sizes &sizes, StringRef element,
                                    Storage storage) {
  Type type = getNamedType(builder, element);
  SmallVector<int64_t> shape = getShape(sizes);
  if (program.isOnTensors)
    return RankedTensorType::get(shape, type);
  return getMemRefType(shape, type, storage);
}

Type Program::Builder::getType(const Argument &argument) {
  if (argument.isScalar)
    return getNamedType(builder, argument.element);
  return getArrayType(argument.sizes, argument.element, argument.storage);
}

func::FuncOp Program::Builder::addFunction() {
  SmallVector<Type> types;
  for (const Argument &argument : program.arguments)
    types.push_back(getType(argument));
  auto function = func::FuncOp::create(builder, loc, "main",
                                       builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  for (auto [index, argument] : llvm::enumerate(program.arguments)) {
    values[argument.value] = entry->getArgument(index);
    StringRef name = argument.name;
    if (argument.isDestination) {
      name = program.results.front().name;
      function.setArgAttr(index, "kron.result", builder.getI64IntegerAttr(0));
    }
    function.setArgAttr(index, "kron.name", builder.getStringAttr(name));
  }
  builder.setInsertionPointToStart(entry);
  return function;
}

Value Program::Builder::getSize(int value, int axis) {
  Value &size = sizes[{value, axis}];
  if (!size)
    size =
        program.isOnTensors
            ? Value(tensor::DimOp::create(builder, loc, values[value], axis))
            : Value(memref::DimOp::create(builder, loc, values[value], axis));
  return size;
}

void Program::Builder::add(const Allocation &allocation) {
  Type type =
      getArrayType(allocation.sizes, allocation.element, Storage::RowMajor);
  SmallVector<Value> sizes;
  if (!cast<ShapedType>(type).hasStaticShape())
    sizes.push_back(getSize(allocation.like, allocation.axis));
  values[allocation.value] =
      program.isOnTensors
          ? Value(tensor::EmptyOp::create(builder, loc, type, sizes))
          : Value(memref::AllocOp::create(builder, loc, cast<MemRefType>(type),
                                          sizes));
}

void Program::Builder::addTransposes(const Group &group,
                                     OperationState &state) {
  bool anyOther = llvm::any_of(group.operands, [](const Operand &operand) {
    return operand.letter != 'N';
  });
  if (!anyOther)
    return;
  SmallVector<mlir::Attribute> letters;
  for (const Operand &operand : group.operands)
    letters.push_back(getTranspose(builder.getContext(), operand.letter));
  mlir::Attribute attribute =
      group.name == "factors" ? builder.getArrayAttr(letters) : letters[0];
  state.addAttribute("trans_" + group.name, attribute);
}

void Program::Builder::addAttribute(const Attribute &attribute, Type element,
                                    OperationState &state) {
  mlir::Attribute value;
  if (auto *word = std::get_if<std::string>(&attribute.value))
    value = getWord(builder.getContext(), attribute.name, *word);
  else if (auto *integer = std::get_if<int64_t>(&attribute.value))
    value = builder.getI64IntegerAttr(*integer);
  else
    value = getNumber(builder, element, std::get<double>(attribute.value));
  state.addAttribute(attribute.name, value);
}

void Program::Builder::add(const Step &step) {
  OperationState state(loc, "kron." + step.name);
  SmallVector<int32_t> counts;
  Type element;
  for (StringRef name : getGroups(step.name)) {
    auto group = llvm::find_if(
        step.groups, [&](const Group &group) { return group.name == name; });
    counts.push_back(group == step.groups.end() ? 0 : group->operands.size());
    if (group == step.groups.end())
      continue;
    for (const Operand &operand : group->operands)
      state.addOperands(values[operand.value]);
    addTransposes(*group, state);
    if (!isDestination(name))
      continue;
    Type type = state.operands.back().getType();
    element = getElementTypeOrSelf(type);
    if (program.isOnTensors)
      state.addTypes(type);
  }
  if (step.name != "quantize")
    state.addAttribute("operandSegmentSizes",
                       builder.getDenseI32ArrayAttr(counts));
  for (const Attribute &attribute : step.attributes)
    addAttribute(attribute, element, state);
  mlir::Operation *operation = builder.create(state);
  for (auto [value, result] :
       llvm::zip_equal(step.results, operation->getResults()))
    values[value] = result;
}

void Program::Builder::add(const Conversion &conversion) {
  linalg::CopyOp::create(builder, loc, values[conversion.source],
                         values[conversion.target]);
}

void Program::Builder::addReturn(func::FuncOp function) {
  SmallVector<Value> returned;
  for (const Result &result : program.results)
    returned.push_back(values[result.value]);
  func::ReturnOp::create(builder, loc, returned);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(returned).getTypes()));
  for (auto [index, result] : llvm::enumerate(program.results))
    function.setResultAttr(index, "kron.name",
                           builder.getStringAttr(result.name));
}

OwningOpRef<ModuleOp> Program::Builder::build() {
  builder.getContext()
      ->loadDialect<KronDialect, arith::ArithDialect, complex::ComplexDialect,
                    func::FuncDialect, linalg::LinalgDialect,
                    memref::MemRefDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  func::FuncOp function = addFunction();
  for (const auto &step : program.steps)
    std::visit([&](const auto &step) { add(step); }, step);
  addReturn(function);
  return module;
}

OwningOpRef<ModuleOp> Program::build(MLIRContext *context) const {
  return Builder(*this, context).build();
}
