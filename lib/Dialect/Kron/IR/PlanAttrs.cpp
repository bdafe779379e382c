//===- PlanAttrs.cpp - #kron.cpu_plan and the others -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

using Kind = PlanField::Kind;
using Role = PlanField::Role;

//===----------------------------------------------------------------------===//
// GPUPlanAttr
//===----------------------------------------------------------------------===//

int64_t GPUPlanAttr::get(StringRef name) const {
  auto value = getFields().getAs<IntegerAttr>(name);
  return value ? value.getInt() : 0;
}

ArrayRef<int64_t> GPUPlanAttr::getList(StringRef name) const {
  auto values = getFields().getAs<DenseI64ArrayAttr>(name);
  return values ? values.asArrayRef() : ArrayRef<int64_t>();
}

GPUPlanAttr GPUPlanAttr::with(GPUKernel kernel) const {
  return get(getContext(), kernel, getFields());
}

GPUPlanAttr GPUPlanAttr::with(StringRef name, Attribute value) const {
  NamedAttrList fields(getFields());
  fields.set(name, value);
  return get(getContext(), getKernel(), fields.getDictionary(getContext()));
}

GPUPlanAttr GPUPlanAttr::with(StringRef name, int64_t value) const {
  return with(name, Builder(getContext()).getI64IntegerAttr(value));
}

GPUPlanAttr GPUPlanAttr::without(StringRef name) const {
  NamedAttrList fields(getFields());
  fields.erase(name);
  return get(getContext(), getKernel(), fields.getDictionary(getContext()));
}

/// Whether `fields` has all that a complete plan for `kernel` needs, or a part
/// of one for `whole`, which has some of these for all parts.
static bool hasRequired(GPUKernel kernel, DictionaryAttr fields,
                        GPUKernel whole) {
  return llvm::all_of(getPlanFields(), [&](const PlanField &field) {
    bool isOf = (field.kernels >> static_cast<uint32_t>(kernel)) & 1;
    if (field.role != Role::Required || !isOf || fields.get(field.name))
      return true;
    return kernel != whole && findPlanField(whole, field.name);
  });
}

bool GPUPlanAttr::isComplete() const {
  GPUKernel kernel = getKernel();
  return kernel != GPUKernel::Auto &&
         hasRequired(kernel, getFields(), kernel) &&
         llvm::all_of(getFields(), [&](NamedAttribute field) {
           auto parts = dyn_cast<ArrayAttr>(field.getValue());
           return !parts || llvm::all_of(parts, [&](Attribute part) {
             return hasRequired(getPartKernel(kernel),
                                cast<DictionaryAttr>(part), kernel);
           });
         });
}

/// Parses the value of `field`.
static FailureOr<Attribute> parseValue(AsmParser &parser, GPUKernel kernel);

/// Parses `name = value, ...` up to `closing`, `<kernel = ...` first unless
/// `kernel` is null.
static ParseResult parseFields(AsmParser &parser, GPUKernel *kernel,
                               GPUKernel parts, NamedAttrList &fields) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (kernel && name == "kernel") {
      StringRef word;
      SMLoc at = parser.getCurrentLocation();
      if (parser.parseKeyword(&word))
        return failure();
      std::optional<GPUKernel> parsed = symbolizeGPUKernel(word);
      if (!parsed)
        return parser.emitError(at)
               << "expects kernel to be a kind of GPU kernel, but got '" << word
               << "'";
      *kernel = *parsed;
      return success();
    }
    if (fields.get(name))
      return parser.emitError(loc) << "field '" << name << "' is there twice";
    FailureOr<Attribute> value = parseValue(parser, parts);
    if (failed(value))
      return failure();
    fields.set(name, *value);
    return success();
  });
}

static FailureOr<Attribute> parseValue(AsmParser &parser, GPUKernel kernel) {
  Builder builder(parser.getContext());
  if (failed(parser.parseOptionalLSquare())) {
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    return Attribute(builder.getI64IntegerAttr(value));
  }
  SmallVector<int64_t> values;
  SmallVector<Attribute> parts;
  if (succeeded(parser.parseOptionalRSquare()))
    return Attribute(builder.getDenseI64ArrayAttr(values));
  auto parseOne = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalLBrace())) {
      NamedAttrList fields;
      if (failed(parser.parseOptionalRBrace()) &&
          (parseFields(parser, nullptr, kernel, fields) ||
           parser.parseRBrace()))
        return failure();
      parts.push_back(fields.getDictionary(parser.getContext()));
      return success();
    }
    return parser.parseInteger(values.emplace_back());
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(parseOne) || parser.parseRSquare())
    return failure();
  if (!values.empty() && !parts.empty()) {
    parser.emitError(loc) << "expects numbers or parts, but got both";
    return failure();
  }
  return parts.empty() ? Attribute(builder.getDenseI64ArrayAttr(values))
                       : Attribute(builder.getArrayAttr(parts));
}

/// Whether a field called `name` of a plan for `kernel` leaves the choice open
/// if it is 0.
static bool isOpenAtZero(GPUKernel kernel, StringRef name) {
  if (kernel == GPUKernel::Pairwise || kernel == GPUKernel::PairwiseGrad)
    return false;
  if (kernel != kCPURegion)
    return findPlanField(GPUKernel::Auto, name);
  const PlanField *field = findPlanField(kCPURegion, name);
  return field && field->kind == Kind::Integer &&
         (field->role != Role::Defaulted ||
          (field->least < 0 && field->byDefault == 0));
}

/// Fields that were 0 where nothing was wanted are not there.
static DictionaryAttr dropZeros(GPUKernel kernel, const NamedAttrList &fields,
                                MLIRContext *context) {
  NamedAttrList kept;
  for (NamedAttribute attribute : fields) {
    auto value = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!value || !value.getValue().isZero() ||
        !isOpenAtZero(kernel, attribute.getName()))
      kept.push_back(attribute);
  }
  return kept.getDictionary(context);
}

Attribute GPUPlanAttr::parse(AsmParser &parser, Type) {
  GPUKernel kernel = GPUKernel::Auto;
  NamedAttrList fields;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLess()) &&
      (parseFields(parser, &kernel, kernel, fields) || parser.parseGreater()))
    return {};
  return parser.getChecked<GPUPlanAttr>(
      loc, parser.getContext(), kernel,
      dropZeros(kernel, fields, parser.getContext()));
}

static void printFields(llvm::raw_ostream &os, DictionaryAttr fields,
                        bool isFirst);

/// Prints the value of a field, also one that no field has: what does not
/// verify is printed as well.
static void printValue(llvm::raw_ostream &os, Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    os << number.getInt();
    return;
  }
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  auto parts = dyn_cast<ArrayAttr>(value);
  if (!numbers && !parts) {
    os << value;
    return;
  }
  os << "[";
  if (numbers)
    llvm::interleaveComma(numbers.asArrayRef(), os);
  else
    llvm::interleaveComma(parts, os, [&](Attribute part) {
      auto fields = dyn_cast<DictionaryAttr>(part);
      if (!fields) {
        os << part;
        return;
      }
      os << "{";
      printFields(os, fields, /*isFirst=*/true);
      os << "}";
    });
  os << "]";
}

/// Prints the fields in the order of the table.
static void printFields(llvm::raw_ostream &os, DictionaryAttr fields,
                        bool isFirst) {
  SmallPtrSet<Attribute, 16> printed;
  for (const PlanField &field : getPlanFields()) {
    std::optional<NamedAttribute> attribute = fields.getNamed(field.name);
    if (!attribute || !printed.insert(attribute->getName()).second)
      continue;
    os << (isFirst ? "" : ", ") << field.name << " = ";
    isFirst = false;
    printValue(os, attribute->getValue());
  }
}

std::string kron::getFieldValueText(Attribute value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printValue(os, value);
  return text;
}

void GPUPlanAttr::print(AsmPrinter &printer) const {
  bool hasKernel = getKernel() != GPUKernel::Auto;
  if (!hasKernel && getFields().empty())
    return;
  printer << "<";
  if (hasKernel)
    printer << "kernel = " << stringifyGPUKernel(getKernel());
  printFields(printer.getStream(), getFields(), !hasKernel);
  printer << ">";
}

/// The names of the fields of `kernel`.
static std::string listFields(GPUKernel kernel) {
  SmallVector<StringRef> names;
  for (const PlanField &field : getPlanFields())
    if ((field.kernels >> static_cast<uint32_t>(kernel)) & 1)
      names.push_back(field.name);
  return llvm::join(names, ", ");
}

/// What has the fields of `kernel`.
static std::string getOwner(GPUKernel kernel) {
  if (kernel == kSimtLaunch)
    return "a launch of kernel simt";
  if (kernel == kCPURegion)
    return "a plan for a CPU";
  if (kernel == kCPUStep)
    return "a step of a plan for a CPU";
  return "kernel " + stringifyGPUKernel(kernel).str();
}

static LogicalResult verifyFields(function_ref<InFlightDiagnostic()> emitError,
                                  GPUKernel kernel, DictionaryAttr fields) {
  for (NamedAttribute attribute : fields) {
    StringRef name = attribute.getName();
    const PlanField *field = findPlanField(kernel, name);
    if (!field)
      return emitError() << getOwner(kernel) << " has no field '" << name
                         << "'; it has " << listFields(kernel);
    auto verifyNumber = [&](int64_t value) -> LogicalResult {
      if (value >= field->least && value <= field->most)
        return success();
      return emitError() << "expects " << name << " to be in [" << field->least
                         << ", " << field->most << "]"
                         << (field->kind == Kind::List ? " each" : "")
                         << ", but got " << value;
    };
    Attribute value = attribute.getValue();
    switch (field->kind) {
    case Kind::Integer: {
      auto number = dyn_cast<IntegerAttr>(value);
      if (!number)
        return emitError() << "expects " << name << " to be a number";
      if (name == "threads" && (number.getInt() < 0 || number.getInt() > 1024 ||
                                number.getInt() % 32 != 0))
        return emitError()
               << "expects threads to be a multiple of 32 up to 1024, but got "
               << number.getInt();
      if (name == "vector_bits" &&
          !llvm::is_contained({0, 128, 256, 512}, number.getInt()))
        return emitError()
               << "expects vector_bits to be 0, 128, 256 or 512, but got "
               << number.getInt();
      if (failed(verifyNumber(number.getInt())))
        return failure();
      break;
    }
    case Kind::List: {
      auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
      if (!numbers)
        return emitError() << "expects " << name << " to be a list of numbers";
      for (int64_t number : numbers.asArrayRef())
        if (failed(verifyNumber(number)))
          return failure();
      break;
    }
    case Kind::Parts: {
      auto parts = dyn_cast<ArrayAttr>(value);
      if (!parts || parts.empty())
        return emitError() << "expects " << name
                           << " to be a list of parts, {...}";
      for (Attribute part : parts)
        if (!isa<DictionaryAttr>(part) ||
            failed(verifyFields(emitError, getPartKernel(kernel),
                                cast<DictionaryAttr>(part))))
          return failure();
      break;
    }
    }
  }
  return success();
}

LogicalResult GPUPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  GPUKernel kernel, DictionaryAttr fields) {
  return verifyFields(emitError, kernel, fields);
}

//===----------------------------------------------------------------------===//
// CPUPlanAttr
//===----------------------------------------------------------------------===//

int64_t CPUPlanAttr::get(StringRef name) const {
  auto value = getFields().getAs<IntegerAttr>(name);
  return value ? value.getInt() : 0;
}

CPUPlanAttr CPUPlanAttr::with(StringRef name, Attribute value) const {
  NamedAttrList fields(getFields());
  fields.set(name, value);
  return get(getContext(), fields.getDictionary(getContext()));
}

CPUPlanAttr CPUPlanAttr::without(StringRef name) const {
  NamedAttrList fields(getFields());
  fields.erase(name);
  return get(getContext(), fields.getDictionary(getContext()));
}

/// Whether `fields`, those of a CPU region or of a step of one, have some that
/// only tell what to choose, and are no part of a complete plan.
static bool hasConstraints(GPUKernel owner, DictionaryAttr fields) {
  return llvm::any_of(fields, [&](NamedAttribute field) {
    return field.getName() != "regions" &&
           findPlanField(owner, field.getName())->role == Role::Constraint;
  });
}

/// Whether a step of a CPU region says what computes its products: register
/// tiles, matrix tiles, or lanes over p or few rows.
static bool isStepComplete(DictionaryAttr step) {
  auto get = [&](StringRef name) {
    auto number = step.getAs<IntegerAttr>(name);
    return number ? number.getInt() : 0;
  };
  bool hasShape = get("rows") && get("vectors");
  bool hasLanes = get("lanes") == 1 || get("lanes") == 2;
  return (hasShape || hasLanes || get("matrix_tiles")) &&
         !hasConstraints(kCPUStep, step);
}

bool CPUPlanAttr::isComplete() const {
  return hasRequired(kCPURegion, getFields(), kCPURegion) &&
         !hasConstraints(kCPURegion, getFields()) &&
         llvm::all_of(getFields().getAs<ArrayAttr>("steps"),
                      [](Attribute step) {
                        return isStepComplete(cast<DictionaryAttr>(step));
                      });
}

Attribute CPUPlanAttr::parse(AsmParser &parser, Type) {
  NamedAttrList fields;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLess()) &&
      (parseFields(parser, nullptr, kCPURegion, fields) ||
       parser.parseGreater()))
    return {};
  return parser.getChecked<CPUPlanAttr>(
      loc, parser.getContext(),
      dropZeros(kCPURegion, fields, parser.getContext()));
}

void CPUPlanAttr::print(AsmPrinter &printer) const {
  if (getFields().empty())
    return;
  printer << "<";
  printFields(printer.getStream(), getFields(), /*isFirst=*/true);
  printer << ">";
}

LogicalResult CPUPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  DictionaryAttr fields) {
  return verifyFields(emitError, kCPURegion, fields);
}

//===----------------------------------------------------------------------===//
// PairwisePlanAttr
//===----------------------------------------------------------------------===//

LogicalResult
PairwisePlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t vectorBits, int64_t rows, int64_t vectors,
                         int64_t rowBlock, int64_t kBlock, int64_t laneColumns,
                         int64_t nTiles, int64_t columnBlock, int64_t productK,
                         int64_t symmetric) {
  if (!llvm::is_contained({0, 128, 256, 512}, vectorBits))
    return emitError() << "expects vector_bits to be 128, 256 or 512, but got "
                       << vectorBits;
  constexpr int64_t kMostPositions = 1 << 16, kMostColumns = 1 << 12;
  std::tuple<StringRef, int64_t, int64_t> fields[] = {
      {"rows", rows, kMostAccumulators},
      {"vectors", vectors, kMostAccumulators},
      {"row_block", rowBlock, kMostPositions},
      {"k_block", kBlock, kMostPositions},
      {"lane_columns", laneColumns, kMostColumns},
      {"n_tiles", nTiles, kMostColumns},
      {"column_block", columnBlock, kMostColumns}};
  for (auto [name, value, most] : fields)
    if (value < 0 || value > most)
      return emitError() << "expects " << name << " to be in [0, " << most
                         << "], but got " << value;
  for (auto [name, value] :
       {std::pair(StringRef("product_k"), productK), {"symmetric", symmetric}})
    if (value < -1 || value > kMostPositions)
      return emitError() << "expects " << name << " to be in [-1, "
                         << kMostPositions << "], but got " << value;
  if (rows * vectors > kMostAccumulators)
    return emitError() << "expects rows * vectors to be at most "
                       << kMostAccumulators << ", but got " << rows << " * "
                       << vectors;
  if (rows && rowBlock % rows)
    return emitError() << "expects row_block to be a multiple of rows, but got "
                       << rowBlock << " and " << rows;
  if (columnBlock && laneColumns > columnBlock)
    return emitError() << "expects column_block to be lane_columns at least, "
                          "but got "
                       << columnBlock << " and " << laneColumns;
  return success();
}

//===----------------------------------------------------------------------===//
// RegionPlansAttr
//===----------------------------------------------------------------------===//

LogicalResult
RegionPlansAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> regions, ArrayRef<Attribute> plans) {
  if (regions.empty())
    return emitError() << "expects at least one fused region";
  if (regions.size() != plans.size())
    return emitError() << "expects a plan for each of " << regions.size()
                       << " fused regions, but got " << plans.size();
  for (int64_t count : regions)
    if (count < 1)
      return emitError() << "expects every fused region to apply at least one "
                            "mode product, but got "
                         << count;
  for (Attribute plan : plans) {
    if (!isa<CPUPlanAttr, GPUPlanAttr, DispatchAttr>(plan))
      return emitError() << "expects plans to be a #kron.cpu_plan, a "
                            "#kron.gpu_plan or a #kron.dispatch, but got "
                         << plan;
    if (isa<CPUPlanAttr>(plan) != isa<CPUPlanAttr>(plans.front()))
      return emitError() << "expects plans for one target, but got "
                         << plans.front() << " and " << plan;
    auto cpu = dyn_cast<CPUPlanAttr>(plan);
    auto gpu = dyn_cast<GPUPlanAttr>(plan);
    if ((cpu && cpu.getRegions()) || (gpu && gpu.getRegions()))
      return emitError() << "expects plans of fused regions that are not cut "
                            "again, but got "
                         << plan;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// DispatchAttr
//===----------------------------------------------------------------------===//

/// Whether something that is known at launch only decides whether `plan` is
/// launched.
static bool hasRequirement(GPUPlanAttr plan) {
  return plan.getKernel() == GPUKernel::Cublas ||
         plan.getKernel() == GPUKernel::SmallGroups ||
         plan.get("min_rows") > 1 || plan.get("alignment") > 1 ||
         plan.get("packed") || plan.get("min_k") > 0 || plan.get("max_k");
}

LogicalResult DispatchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<GPUPlanAttr> plans) {
  if (plans.empty())
    return emitError() << "expects at least one plan";
  for (GPUPlanAttr plan : plans) {
    if (!plan.isComplete())
      return emitError() << "expects complete plans, but got " << plan;
    for (NamedAttribute field : plan.getFields())
      if (findPlanField(plan.getKernel(), field.getName())->role ==
          Role::Constraint)
        return emitError() << "expects plans without constraints, from which "
                              "nothing is chosen, but got "
                           << field.getName().getValue() << " = "
                           << getFieldValueText(field.getValue());
  }
  for (GPUPlanAttr plan : plans.drop_back())
    if (!hasRequirement(plan))
      return emitError() << "expects only the last plan to require nothing of "
                            "a launch, since none behind it is ever launched, "
                            "but got "
                         << plan;
  if (plans.back().getKernel() == GPUKernel::Cublas)
    return emitError() << "expects the last plan to be a kernel that needs no "
                          "library";
  return success();
}
