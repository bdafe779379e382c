//===- TypeMutations.cpp - Mutations of types in modules ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TypeMutations.h"
#include "Words.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <set>

using namespace mlir;
using namespace mlir::kron::fuzz;

using SizeMap = llvm::function_ref<int64_t(int64_t)>;

/// Sizes above are left alone: code for them takes long to make.
static constexpr int64_t kMaxSize = 1 << 20;

//===----------------------------------------------------------------------===//
// Types with other sizes and elements
//===----------------------------------------------------------------------===//

/// The types of arrays in `module`, each once, in the order they occur in.
static std::vector<ShapedType> collectArrayTypes(ModuleOp module) {
  llvm::SetVector<ShapedType, std::vector<ShapedType>> types;
  auto add = [&](Type type) {
    if (isa<RankedTensorType, MemRefType>(type))
      types.insert(cast<ShapedType>(type));
  };
  module->walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
  });
  return types.takeVector();
}

/// Known sizes, each once.
static std::vector<int64_t> collectSizes(ModuleOp module) {
  // Some sizes are what a DenseSet marks its empty places with.
  llvm::SetVector<int64_t, std::vector<int64_t>, std::set<int64_t>> sizes;
  for (ShapedType type : collectArrayTypes(module))
    for (int64_t size : type.getShape())
      if (!ShapedType::isDynamic(size))
        sizes.insert(size);
  return sizes.takeVector();
}

static InFlightDiagnostic quietError(MLIRContext *context) {
  return emitError(UnknownLoc::get(context));
}

/// `type` with other sizes (and strides) and another element type; null if
/// there is no such type.
static Type rebuild(ShapedType type, SizeMap map, Type element) {
  MLIRContext *context = type.getContext();
  auto error = [&] { return quietError(context); };
  SmallVector<int64_t> shape = llvm::map_to_vector(type.getShape(), map);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::getChecked(error, shape, element,
                                        tensor.getEncoding());
  auto memref = cast<MemRefType>(type);
  MemRefLayoutAttrInterface layout = memref.getLayout();
  if (auto strided = dyn_cast<StridedLayoutAttr>(layout)) {
    auto strides = llvm::map_to_vector(strided.getStrides(), [&](int64_t n) {
      return ShapedType::isDynamic(n) ? n : map(n);
    });
    layout = StridedLayoutAttr::get(context, strided.getOffset(), strides);
  }
  return MemRefType::getChecked(error, shape, element, layout,
                                memref.getMemorySpace());
}

/// Replaces sizes everywhere, also where operations repeat them.
static void replaceSizes(ModuleOp module, SizeMap map) {
  auto checked = [&](int64_t size) {
    return ShapedType::isDynamic(size) ? size : map(size);
  };
  AttrTypeReplacer replacer;
  auto replace = [&](ShapedType type) -> std::optional<Type> {
    Type changed = rebuild(type, checked, type.getElementType());
    return changed ? changed : type;
  };
  replacer.addReplacement([&](RankedTensorType type) { return replace(type); });
  replacer.addReplacement([&](MemRefType type) { return replace(type); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  static constexpr StringRef names[] = {"static_output_shape", "static_sizes",
                                        "product_pattern"};
  module->walk([&](Operation *op) {
    for (StringRef name : names)
      if (auto sizes = dyn_cast_or_null<DenseI64ArrayAttr>(op->getAttr(name)))
        op->setAttr(name,
                    DenseI64ArrayAttr::get(
                        op->getContext(),
                        llvm::map_to_vector(sizes.asArrayRef(), checked)));
  });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static constexpr int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 31};

void kron::fuzz::scaleSizes(ModuleOp module, Random &random) {
  std::vector<int64_t> sizes = collectSizes(module);
  std::vector<int64_t> primes;
  for (int64_t prime : kPrimes)
    if (llvm::any_of(sizes, [&](int64_t n) { return n && n % prime == 0; }))
      primes.push_back(prime);
  if (primes.empty())
    return;
  static constexpr int64_t others[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 17};
  int64_t prime = random.pick(primes), other = random.pick(others);
  auto scale = [&](int64_t size) {
    int64_t result = size;
    while (size && size % prime == 0 && result <= kMaxSize) {
      size /= prime;
      result = result / prime * other;
    }
    return result;
  };
  if (llvm::all_of(sizes, [&](int64_t n) { return scale(n) <= kMaxSize; }))
    replaceSizes(module, scale);
}

void kron::fuzz::changeSize(ModuleOp module, Random &random) {
  std::vector<int64_t> sizes = collectSizes(module);
  if (sizes.empty())
    return;
  int64_t old = random.pick(sizes);
  bool exchanges = random.oneIn(3);
  int64_t other =
      exchanges ? random.pick(sizes) : std::max<int64_t>(pickNumber(random), 0);
  if (other > kMaxSize && !random.oneIn(8))
    return;
  replaceSizes(module, [&](int64_t size) {
    return size == old ? other : exchanges && size == other ? old : size;
  });
}

void kron::fuzz::changeDynamic(ModuleOp module, Random &random) {
  // In a kron.fused only what its operands tell may be open, and a reshape says
  // its sizes a second time.
  WalkResult found = module->walk([](Operation *op) {
    return isa<FusedOp, tensor::ExpandShapeOp, memref::ExpandShapeOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (found.wasInterrupted())
    return;
  std::vector<int64_t> sizes = collectSizes(module);
  bool makesKnown = sizes.empty() || random.oneIn(3);
  int64_t known = makesKnown ? std::max<int64_t>(pickNumber(random), 0)
                             : random.pick(sizes);
  auto replace = [&](ShapedType type) {
    auto map = [&](int64_t size) {
      if (makesKnown)
        return ShapedType::isDynamic(size) ? known : size;
      return size == known ? ShapedType::kDynamic : size;
    };
    Type changed = rebuild(type, map, type.getElementType());
    return changed ? changed : Type(type);
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    return replace(type);
  });
  replacer.addReplacement(
      [&](MemRefType type) -> std::optional<Type> { return replace(type); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // Arrays that the module makes get the operands that their types now ask for.
  module->walk([&](tensor::EmptyOp empty) {
    // A module that does not verify may hold one without a result.
    if (empty->getNumResults() != 1)
      return;
    int64_t wanted = empty.getType().getNumDynamicDims();
    MutableOperandRange given = empty.getDynamicSizesMutable();
    OpBuilder builder(empty);
    while (static_cast<int64_t>(given.size()) > wanted)
      given.erase(given.size() - 1);
    while (static_cast<int64_t>(given.size()) < wanted)
      given.append(Value(
          arith::ConstantIndexOp::create(builder, empty.getLoc(), known)));
  });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// `attribute` as a number of `type`; null if it cannot be one.
static Attribute convertNumber(TypedAttr attribute, Type type) {
  double value = 0;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    value = number.getValueAsDouble();
  else if (auto number = dyn_cast<IntegerAttr>(attribute))
    value = number.getValue().signedRoundToDouble();
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value);
  if (std::isnan(value))
    return {};
  if (auto integer = dyn_cast<IntegerType>(type);
      integer && integer.getWidth() >= 8)
    return IntegerAttr::get(
        type, static_cast<int64_t>(std::clamp(value, -100.0, 100.0)));
  return {};
}

void kron::fuzz::changeElements(ModuleOp module, Random &random) {
  std::vector<ShapedType> types = collectArrayTypes(module);
  if (types.empty())
    return;
  Type old = random.pick(types).getElementType();
  static constexpr StringRef names[] = {
      "f32",          "f64",          "f16",      "bf16",  "i32",
      "i64",          "f80",          "i8",       "i1",    "index",
      "complex<f32>", "complex<f64>", "f8E4M3FN", "f8E5M2"};
  Type other = parseType(random.pick(names), module.getContext());
  if (!other || other == old)
    return;
  AttrTypeReplacer replacer;
  auto replace = [&](ShapedType type) -> std::optional<Type> {
    Type changed = type.getElementType() == old
                       ? rebuild(
                             type, [](int64_t size) { return size; }, other)
                       : Type(type);
    return changed ? changed : type;
  };
  replacer.addReplacement([&](RankedTensorType type) { return replace(type); });
  replacer.addReplacement([&](MemRefType type) { return replace(type); });
  // Scalars of narrow floating-point arrays are f32.
  if (!isa<FloatType>(other) || other.getIntOrFloatBitWidth() >= 32)
    replacer.addReplacement([&](Type type) -> std::optional<Type> {
      return type == old ? other : type;
    });
  auto convert =
      [&](TypedAttr number) -> std::optional<std::pair<Attribute, WalkResult>> {
    Attribute result = number;
    if (number.getType() == old)
      if (Attribute converted = convertNumber(number, other))
        result = converted;
    return std::make_pair(result, WalkResult::skip());
  };
  replacer.addReplacement([&](FloatAttr number) { return convert(number); });
  replacer.addReplacement([&](IntegerAttr number) { return convert(number); });
  // Their numbers would have to change with their types.
  auto keep = [](auto attribute) {
    return std::make_pair(Attribute(attribute), WalkResult::skip());
  };
  replacer.addReplacement([&](DenseElementsAttr dense) { return keep(dense); });
  replacer.addReplacement([&](DenseArrayAttr array) { return keep(array); });
  replacer.addReplacement(
      [&](complex::NumberAttr number) { return keep(number); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void kron::fuzz::changeOneType(ModuleOp module, Random &random) {
  std::vector<ShapedType> types = collectArrayTypes(module);
  if (types.empty())
    return;
  ShapedType old = random.pick(types);
  std::string text;
  llvm::raw_string_ostream(text) << old;
  Type other = parseType(mutateWord(text, random), module.getContext());
  if (!other)
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> {
    return type == old ? other : type;
  });
  // Upstream's verifier of memref.global reads the elements of none but
  // tensors.
  replacer.addReplacement([](DenseElementsAttr dense) {
    return std::make_pair(Attribute(dense), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
