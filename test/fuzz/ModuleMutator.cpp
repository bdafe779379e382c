//===- ModuleMutator.cpp - Mutations of modules ---------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ModuleMutator.h"
#include "TypeMutations.h"
#include "Words.h"
#include "kron/Dialect/Kron/IR/KronDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::fuzz;

static constexpr llvm::StringLiteral kSegments = "operandSegmentSizes";

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// Operations that may be changed. Releases stay: of a program that uses an
/// array afterwards nothing can be expected.
static std::vector<Operation *> collectOps(ModuleOp module,
                                           bool onlyKron = false) {
  std::vector<Operation *> ops;
  module->walk([&](Operation *op) {
    if (op != module && !isa<memref::DeallocOp>(op) &&
        (!onlyKron || isa<KronDialect>(op->getDialect())))
      ops.push_back(op);
  });
  return ops;
}

/// One of kron's operations mostly; null if there is none at all.
static Operation *pickOp(ModuleOp module, Random &random) {
  std::vector<Operation *> ops = collectOps(module, !random.oneIn(5));
  if (ops.empty())
    ops = collectOps(module);
  return ops.empty() ? nullptr : random.pick(ops);
}

/// Values that `op` may use: arguments of the blocks around it and results of
/// operations before it.
static std::vector<Value> collectVisible(Operation *op) {
  std::vector<Value> values;
  for (; op && op->getBlock(); op = op->getParentOp()) {
    llvm::append_range(values, op->getBlock()->getArguments());
    for (Operation &before : *op->getBlock()) {
      if (&before == op)
        break;
      llvm::append_range(values, before.getResults());
    }
    if (op->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  return values;
}

/// A value of `type` that `op` may use, other than `old`; null if there is
/// none.
static Value pickVisible(Operation *op, Type type, Value old, Random &random) {
  std::vector<Value> values = collectVisible(op);
  llvm::erase_if(values, [&](Value value) {
    return value == old || value.getType() != type;
  });
  return values.empty() ? Value() : random.pick(values);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// What attributes of kron's operations look like.
static StringRef pickAttributeText(StringRef name, Random &random) {
  static const std::map<StringRef, std::vector<StringRef>> texts = {
      {"activation",
       {"#kron.activation<relu>", "#kron.activation<gelu>",
        "#kron.activation<silu>"}},
      {"layout", {"#kron.layout<batch_last>", "#kron.layout<batch_first>"}},
      {"precision", {"#kron.precision<ieee>", "#kron.precision<tf32>"}},
      {"scale",
       {"0.5 : f32", "-2.0 : f64", "3 : i32",
        "#complex.number<:f32 0.5, 1.0>"}},
      {"static_alpha", {"2.0 : f32", "0.0 : f32", "0.5 : f64", "3 : i64"}},
      {"static_beta", {"1.0 : f32", "0.0 : f32", "0.5 : f64", "-1 : i32"}},
      {"trans_input", {"#kron.transpose<T>", "#kron.transpose<C>"}},
      {"trans_weights", {"#kron.transpose<T>", "#kron.transpose<C>"}},
      {"trans_factors",
       {"[#kron.transpose<T>]", "[#kron.transpose<N>, #kron.transpose<T>]",
        "[#kron.transpose<C>, #kron.transpose<N>, #kron.transpose<T>]"}},
      {"conj_input", {"unit"}},
      {"conj_factor", {"unit"}},
      {"conj_grad", {"unit"}},
      {"product_pattern", {"array<i64: 2, 3, 4, 5>", "array<i64: 1, 8, 8, 4>"}},
      {"input_permutation", {"array<i64: 1, 0>", "array<i64: 0, 2, 1>"}},
      {"index", {"0 : i64", "1 : i64", "2 : i64"}},
      {"axis", {"0 : i64", "1 : i64", "2 : i64"}},
      {"plan",
       {"#kron.cpu_plan<vector_bits = 512, tile = 4, register_rows = 6, "
        "register_vectors = 4>",
        "#kron.cpu_plan<stream_bytes = 1, prefetch = -1>",
        "#kron.cpu_plan<tile = 2, slice = -1, matrix_tiles = 1>",
        "#kron.cpu_plan<tiled_axis = 0, packs_input = 1, steps = [{rows = 4}]>",
        "#kron.cpu_plan<stream_bytes = 1, staging = 1, l2_bytes = 4096>",
        "#kron.cpu_plan<moves_innermost = 3>",
        "#kron.cpu_plan<steps = [{factor_panels = 1, chunk = 24}]>",
        "#kron.cpu_plan<steps = [{input_panels = 1, remainder = [8, 2, 1]}]>",
        "#kron.cpu_plan<steps = [{lanes = 1, reads_pairs = 1}]>",
        "#kron.cpu_plan<steps = [{lanes = 3, segment = 2, rows = 9}]>",
        "#kron.cpu_plan<matrix_tiles = 1, steps = [{matrix_tiles = 1}]>",
        "#kron.gpu_plan<tile = 1, kernel = mma, threads = 128, ctas_per_sm = "
        "4>",
        "#kron.gpu_plan<tile = 64, kernel = wgmma, threads = 256, stages = 3>",
        "#kron.gpu_plan<kernel = simt, columns = 32, tile = 2>",
        "#kron.gpu_plan<kernel = ffma, tile = 8, regions = [2, 1]>",
        "#kron.cpu_plan<regions = [1, 1]>"}}};
  auto known = texts.find(name);
  if (known != texts.end() && !random.oneIn(10))
    return random.pick(known->second);
  return random.pick(
      std::next(texts.begin(), random.below(texts.size()))->second);
}

/// Gives `op` the attribute, or takes it away if that is null. What cannot be
/// such an attribute changes nothing.
static void setAttribute(Operation *op, StringRef name, Attribute attribute) {
  std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
  if (!info || !llvm::is_contained(info->getAttributeNames(), name)) {
    if (attribute)
      op->setDiscardableAttr(name, attribute);
    else
      op->removeDiscardableAttr(name);
    return;
  }
  // Null where there are none.
  auto old = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!old)
    old = DictionaryAttr::get(op->getContext());
  NamedAttrList attributes(old);
  if (attribute)
    attributes.set(name, attribute);
  else
    attributes.erase(name);
  auto quiet = [&] { return emitError(op->getLoc()); };
  if (failed(op->setPropertiesFromAttribute(
          attributes.getDictionary(op->getContext()), quiet)))
    (void)op->setPropertiesFromAttribute(old, quiet);
  op->getName().populateDefaultProperties(op->getPropertiesStorage());
}

static void changeAttribute(ModuleOp module, Random &random) {
  Operation *op = pickOp(module, random);
  if (!op)
    return;
  std::vector<StringRef> names;
  if (std::optional<RegisteredOperationName> info = op->getRegisteredInfo())
    for (StringAttr name : info->getAttributeNames())
      if (name != kSegments && name != SymbolTable::getSymbolAttrName())
        names.push_back(name);
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    names.push_back(attribute.getName());
  if (names.empty())
    return;
  StringRef name = random.pick(names);
  Attribute old = op->getAttr(name);
  if (old && random.oneIn(6))
    return setAttribute(op, name, {});
  std::string text = pickAttributeText(name, random).str();
  if (old && !random.oneIn(4)) {
    text.clear();
    llvm::raw_string_ostream(text) << old;
    text = mutateWord(text, random);
  }
  if (crashesParser(text))
    return;
  if (Attribute changed = parseAttribute(text, op->getContext()))
    setAttribute(op, name, changed);
}

/// Names and visibility of functions.
static void changeFunction(ModuleOp module, Random &random) {
  std::vector<FunctionOpInterface> functions;
  module->walk(
      [&](FunctionOpInterface function) { functions.push_back(function); });
  if (functions.empty())
    return;
  FunctionOpInterface function = random.pick(functions);
  static constexpr StringRef names[] = {
      "sub", "erf", "malloc", "main", "class", "kron_kernel_x", "a b", "x.1"};
  if (random.oneIn(2))
    function->setAttr(SymbolTable::getSymbolAttrName(),
                      StringAttr::get(module.getContext(), random.pick(names)));
  else if (random.oneIn(2))
    function.setPrivate();
  else
    function.setPublic();
}

//===----------------------------------------------------------------------===//
// Operations and operands
//===----------------------------------------------------------------------===//

static void removeOp(ModuleOp module, Random &random) {
  Operation *op = pickOp(module, random);
  if (!op || op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions())
    return;
  std::vector<Value> replacements;
  for (OpResult result : op->getResults()) {
    Value value = pickVisible(op, result.getType(), {}, random);
    if (!value && !result.use_empty())
      return;
    replacements.push_back(value);
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), replacements))
    if (value)
      result.replaceAllUsesWith(value);
  op->erase();
}

/// The copy reads what the operation writes, where types allow that; users take
/// either.
static void repeatOp(ModuleOp module, Random &random) {
  Operation *op = pickOp(module, random);
  if (!op || op->hasTrait<OpTrait::IsTerminator>())
    return;
  Operation *copy = op->clone();
  op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
  if (auto symbol = dyn_cast<SymbolOpInterface>(copy))
    return symbol.setName((symbol.getName() + "_copy").str());
  for (auto [result, copied] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    if (random.oneIn(2))
      result.replaceUsesWithIf(copied, [&](OpOperand &use) {
        return use.getOwner() != copy && random.oneIn(2);
      });
    for (OpOperand &operand : copy->getOpOperands())
      if (operand.get().getType() == result.getType() && random.oneIn(2))
        operand.set(result);
  }
}

static void exchangeOperand(ModuleOp module, Random &random) {
  Operation *op = pickOp(module, random);
  if (!op || !op->getNumOperands())
    return;
  OpOperand &operand = op->getOpOperand(random.below(op->getNumOperands()));
  Value value = pickVisible(op, operand.get().getType(), operand.get(), random);
  if (value)
    operand.set(value);
}

/// Adds an operand to a group of an operation, or takes one away: one more
/// factor, no bias.
static void resizeOperands(ModuleOp module, Random &random) {
  Operation *op = pickOp(module, random);
  auto segments =
      op ? dyn_cast_or_null<DenseI32ArrayAttr>(op->getAttr(kSegments))
         : DenseI32ArrayAttr();
  if (!segments || segments.empty())
    return;
  std::vector<int32_t> sizes = segments.asArrayRef().vec();
  size_t segment = random.below(sizes.size()), position = 0;
  for (size_t i = 0; i < segment; ++i)
    position += sizes[i];
  // Another mutation may have changed the groups before.
  if (position + std::max(sizes[segment], 0) > op->getNumOperands())
    return;
  if (sizes[segment] > 0 && random.oneIn(2)) {
    op->eraseOperand(position);
    --sizes[segment];
  } else {
    std::vector<Value> values = collectVisible(op);
    if (values.empty())
      return;
    // Mostly one more of what is there: another factor, a Z like the result.
    Value value = op->getNumOperands() && !random.oneIn(4)
                      ? op->getOperand(random.below(op->getNumOperands()))
                      : random.pick(values);
    op->insertOperands(position, value);
    ++sizes[segment];
  }
  setAttribute(op, kSegments, DenseI32ArrayAttr::get(op->getContext(), sizes));
}

static void moveOp(ModuleOp module, Random &random) {
  Operation *op = pickOp(module, random);
  if (op && op->getNextNode() &&
      !op->getNextNode()->hasTrait<OpTrait::IsTerminator>())
    op->moveAfter(op->getNextNode());
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

void kron::fuzz::mutateModule(ModuleOp module, Random &random) {
  using Mutation = void (*)(ModuleOp, Random &);
  static constexpr Mutation mutations[] = {
      changeAttribute, changeAttribute, changeAttribute, changeAttribute,
      scaleSizes,      scaleSizes,      changeSize,      changeSize,
      changeElements,  changeElements,  changeDynamic,   changeDynamic,
      removeOp,        repeatOp,        repeatOp,        exchangeOperand,
      resizeOperands,  resizeOperands,  moveOp,          changeFunction,
      changeOneType};
  for (size_t count = 1 + random.below(3); count > 0; --count)
    random.pick(mutations)(module, random);
}
