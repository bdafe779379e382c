//===- PlanFields.cpp - The fields of #kron.gpu_plan ------------*- C++ -*-===//
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

/// The largest value of a field that planners multiply by sizes of arrays.
static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

template <typename... Kernels>
static constexpr uint32_t of(Kernels... kernels) {
  return ((1u << static_cast<uint32_t>(kernels)) | ...);
}

static constexpr uint32_t kAuto = of(GPUKernel::Auto);
static constexpr uint32_t kSimt = of(GPUKernel::Simt);
static constexpr uint32_t kFfma = of(GPUKernel::Ffma);
static constexpr uint32_t kDmma = of(GPUKernel::Dmma);
static constexpr uint32_t kMma = of(GPUKernel::Mma);
static constexpr uint32_t kWgmma = of(GPUKernel::Wgmma);
static constexpr uint32_t kBatched = of(GPUKernel::Batched);
static constexpr uint32_t kSparse = of(GPUKernel::Sparse);
static constexpr uint32_t kChain = of(GPUKernel::Chain);
static constexpr uint32_t kSmallGroups = of(GPUKernel::SmallGroups);
static constexpr uint32_t kGradient = of(GPUKernel::Gradient);
static constexpr uint32_t kCublas = of(GPUKernel::Cublas);
static constexpr uint32_t kAll = (2u << getMaxEnumValForGPUKernel()) - 1;

static constexpr PlanField required(llvm::StringLiteral name, int64_t least,
                                    int64_t most, uint32_t kernels,
                                    llvm::StringLiteral description) {
  return {name, Kind::Integer, Role::Required, least, most,
          0,    kernels,       description};
}

static constexpr PlanField defaulted(llvm::StringLiteral name, int64_t least,
                                     int64_t most, int64_t byDefault,
                                     uint32_t kernels,
                                     llvm::StringLiteral description) {
  return {name, Kind::Integer, Role::Defaulted, least,
          most, byDefault,     kernels,         description};
}

static constexpr PlanField constraint(llvm::StringLiteral name, int64_t least,
                                      int64_t most, uint32_t kernels,
                                      llvm::StringLiteral description) {
  return {name, Kind::Integer, Role::Constraint, least, most,
          0,    kernels,       description};
}

static constexpr PlanField list(llvm::StringLiteral name, Role role,
                                int64_t least, uint32_t kernels,
                                llvm::StringLiteral description) {
  return {name, Kind::List, role, least, kMost, 0, kernels, description};
}

static constexpr PlanField parts(llvm::StringLiteral name, uint32_t kernels,
                                 llvm::StringLiteral description) {
  return {name, Kind::Parts, Role::Required, 0, 0, 0, kernels, description};
}

/// Keep the rows of a name next to each other.
static constexpr PlanField kFields[] = {
    // Requirements of a plan of #kron.dispatch.
    defaulted("min_rows", 0, kMost, 0,
              kSparse | kChain | kSmallGroups | kCublas,
              "fewest rows that the kernel is launched for"),
    defaulted("alignment", 0, 16, 0, kFfma | kDmma,
              "bytes that pointers and strides are multiples of"),
    defaulted("packed", 0, 1, 0, kBatched,
              "1: arrays have no gaps and begin at multiples of 16 bytes"),

    // Tiles.
    required(
        "tile", 0, kMost, kMma | kWgmma | kBatched | kChain,
        "rows per tile: positions of the axes outside the contracted ones"),
    constraint("tile", 0, kMost, kAuto | kSimt | kFfma | kDmma,
               "rows per tile: positions of the axes outside the contracted "
               "ones"),
    defaulted("columns", 0, kMost, 1, kMma | kWgmma,
              "elements per tile of innermost axes that are not contracted"),
    constraint("columns", 0, kMost, kAuto | kSimt | kFfma | kDmma,
               "elements per tile of innermost axes that are not contracted"),
    required("factors", 1, kMost, of(kSimtLaunch),
             "mode products that the launch applies"),
    list("extents", Role::Required, 1, kFfma | kDmma | of(kSimtLaunch),
         "positions of a tile along each axis, before the factors"),
    required("threads", 0, 1024,
             kSimt | kFfma | kDmma | kMma | kWgmma | kBatched | kSmallGroups,
             "threads of a CTA, a multiple of 32"),
    constraint("threads", 0, 1024, kAuto | kSparse | kChain | kGradient,
               "threads of a CTA, a multiple of 32"),
    required("ctas_per_sm", 0, kMost,
             kFfma | kDmma | kMma | kWgmma | kBatched | kSparse | kChain |
                 kSmallGroups | kGradient | of(kSimtLaunch),
             "CTAs that shall be resident on an SM"),
    constraint("ctas_per_sm", 0, kMost, kAuto | kSimt,
               "CTAs that shall be resident on an SM"),
    required("stages", 0, kMost, kMma | kWgmma | kBatched | kSparse | kGradient,
             "pipeline stages: tiles, or pieces of one, in flight between "
             "global and shared memory"),
    constraint("stages", 0, kMost, kAuto | kSimt | kFfma | kDmma | kChain,
               "pipeline stages: tiles, or pieces of one, in flight between "
               "global and shared memory"),
    defaulted("cluster", 0, 2, 1, kMma | kDmma,
              "CTAs that share one tile through distributed shared memory"),
    constraint("cluster", 0, 2, kAuto | kSimt | kFfma | kWgmma | kBatched,
               "CTAs that share one tile through distributed shared memory"),
    required("ring_slots", 0, kMost, kFfma | kDmma,
             "buffers of the ring in shared memory: positions of a tile along "
             "its outermost axis, or whole tiles"),
    defaulted("block_results", 0, 16, 0, kFfma,
              "results of a fibre that a thread computes at a time; 0: all"),

    // Of wgmma, and of kernels that quantize.
    defaulted("warpgroups_per_tile", 1, 8, 1, kWgmma,
              "warpgroups that share a tile"),
    defaulted("k_piece", 0, kMost, 0, kWgmma,
              "positions of the contracted axis in each of the pieces that a "
              "tile is loaded in; 0 if it is loaded whole"),
    defaulted("quantize", 0, 1, 0, kWgmma | kChain,
              "whether the kernel also quantizes its rows to 8 bits, for the "
              "kron.quantize that reads them"),

    // Of simt, mma and batched.
    parts("launches", kSimt, "launches, one after the other"),
    list("piece", Role::Defaulted, 1, kMma,
         "positions, along each dimension of the tile, of the pieces that it "
         "arrives in; none: it arrives whole"),
    defaulted("piece_slots", 0, kMost, 0, kMma,
              "pieces that each warp group has room for"),
    defaulted("fibres", 1, 32, 4, kBatched,
              "fibres that a thread takes through a factor together"),
    defaulted("slack", 0, 1, 1, kBatched,
              "1: tiles have room behind them for what threads compute in "
              "excess, if factors are applied to fibres alone"),

    // Of gradients by sparse weights; small groups and sparse factors, where
    // they share a name.
    defaulted("chunk_bytes", 1, 16, 16, kGradient,
              "bytes of the chunks that operands are read from shared memory "
              "in"),
    defaulted("chunk_bytes", 16, 48, 16, kSparse,
              "bytes of the chunks that operands are read from shared memory "
              "in, 16 or 48"),
    defaulted("lane_warps", 1, 32, 1, kGradient,
              "warps next to each other along the innermost axis of the "
              "weights"),
    required("row_tiles", 1, kMost, kGradient,
             "matrix instructions of a warp along rows of the weights"),
    required("row_tiles", 1, 16, kSmallGroups,
             "rows that a thread takes at a time, or tiles of 16 rows that a "
             "warp does"),
    defaulted("row_tiles", 1, 64, 1, kSparse,
              "matrix instructions of a warp along rows of the data"),
    required("row_warps", 1, 32, kGradient,
             "warps next to each other along rows of the weights"),
    defaulted("row_warps", 1, 32, 1, kSparse,
              "warps next to each other along rows of the data"),
    required("column_tiles", 1, kMost, kGradient,
             "matrix instructions of a warp along columns of the weights"),
    required("column_warps", 1, 32, kGradient,
             "warps next to each other along columns of the weights"),
    required("batch_step", 1, 256, kGradient,
             "positions of the batch in a pipeline stage"),
    defaulted("split_k", 1, kMost, 1, kGradient,
              "pieces of the batch, whose sums a second kernel adds up"),
    defaulted("wgmma", 0, 1, 0, kGradient | kSparse,
              "1: warpgroups multiply, and read operands from shared memory"),
    defaulted("packed_operands", 0, 1, 0, kGradient,
              "1: warpgroups multiply f32 that threads split in shared memory"),
    defaulted("bf16_residuals", 0, 1, 0, kGradient,
              "1: products of what splitting f32 leaves are of bf16"),
    defaulted("bf16_residuals", 0, 2, 0, kSparse,
              "1: products of what splitting f32 leaves are of bf16; 2: those "
              "of what it leaves of the factor"),

    // Of sparse factors, and of steps of a chain of them.
    required("result_tiles", 1, 64, kSparse,
             "matrix instructions of a warp along results of the factor"),
    defaulted("result_tiles", 0, 32, 0, kSmallGroups,
              "tiles of 8 results that a warp takes; 0 where threads do"),
    required("result_warps", 1, 32, kSparse,
             "warps next to each other along results of the factor"),
    required("k_step", 1, 65536, kSparse,
             "positions of the contracted axis in a pipeline stage"),
    defaulted("k_warps", 1, 32, 1, kSparse,
              "warps that share a tile's K steps, and add up their sums"),
    defaulted("tile_warps", 1, 32, 1, kSparse,
              "warps of a chain step that take different tiles of the same "
              "rows"),
    defaulted("lane_chunks", 1, 64, 1, kSparse,
              "chunks next to each other along the innermost axis that the "
              "factor varies on"),
    defaulted("row_chunks", 0, 1024, 0, kSmallGroups,
              "16 bytes of a row of results each that the threads of a CTA "
              "take; 0 where warps take groups"),
    defaulted("warp_groups", 1, 15, 1, kSparse | kChain,
              "groups of warps of a CTA that take tiles of their own"),
    defaulted("skinny_m", 0, 15, 0, kSparse,
              "rows that there are at most, if they are fewer than 16; 0 if "
              "not"),
    defaulted("copies_singly", 0, 1, 0, kSparse,
              "1: rows that are innermost are copied one by one, and chunks "
              "lie along other axes"),
    defaulted("keeps_factor", 0, 1, 0, kSparse | kChain,
              "1: a part of the factor (of a chain: all factors) stays in "
              "shared memory while tiles need it"),
    defaulted("kept_tiles", 0, kMost, 0, kSparse,
              "tiles after which a CTA goes on to another part of the factor, "
              "while the data are in the second-level cache; 0: any number"),
    defaulted(
        "pairs_factor", 0, 1, 0, kSparse,
        "1: pairs along K of a factor of 16 bits are put in order once it "
        "has arrived"),
    defaulted(
        "swaps_operands", 0, 1, 0, kSparse,
        "1: results of the factor are the rows of the kernel, rows of the "
        "data its results"),
    parts("steps", kChain, "steps, a factor each"),

    // Of --kron-fuse.
    list("regions", Role::Constraint, 1, kAll,
         "mode products that each fused region applies, in order"),
};

ArrayRef<PlanField> kron::getPlanFields() { return kFields; }

const PlanField *kron::findPlanField(GPUKernel kernel, StringRef name) {
  for (const PlanField &field : kFields)
    if (field.name == name &&
        (field.kernels >> static_cast<uint32_t>(kernel)) & 1)
      return &field;
  return nullptr;
}

GPUKernel kron::getPartKernel(GPUKernel kernel) {
  if (kernel == GPUKernel::Simt)
    return kSimtLaunch;
  return kernel == GPUKernel::Chain ? GPUKernel::Sparse : kernel;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printFields(llvm::raw_ostream &os, DictionaryAttr fields,
                        bool isFirst);

/// Prints the value of a field.
static void printValue(llvm::raw_ostream &os, Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    os << number.getInt();
    return;
  }
  os << "[";
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(value))
    llvm::interleaveComma(numbers.asArrayRef(), os);
  else
    llvm::interleaveComma(cast<ArrayAttr>(value), os, [&](Attribute part) {
      os << "{";
      printFields(os, cast<DictionaryAttr>(part), /*isFirst=*/true);
      os << "}";
    });
  os << "]";
}

/// Prints the fields in the order of the table.
static void printFields(llvm::raw_ostream &os, DictionaryAttr fields,
                        bool isFirst) {
  SmallPtrSet<Attribute, 16> printed;
  for (const PlanField &field : kFields) {
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

//===----------------------------------------------------------------------===//
// Structs to attributes and back
//===----------------------------------------------------------------------===//

const PlanField &PlanWriter::find(StringRef name) const {
  const PlanField *field = findPlanField(kernel, name);
  assert(field && "every field of a plan struct has a row in the table");
  return *field;
}

void PlanWriter::operator()(StringRef name, int64_t value) {
  const PlanField &field = find(name);
  if (field.role == Role::Defaulted && value == field.byDefault)
    return;
  fields.emplace_back(StringAttr::get(context, name),
                      Builder(context).getI64IntegerAttr(value));
}

void PlanWriter::operator()(StringRef name, ArrayRef<int64_t> values) {
  if (find(name).role == Role::Defaulted && values.empty())
    return;
  fields.emplace_back(StringAttr::get(context, name),
                      DenseI64ArrayAttr::get(context, values));
}

void PlanWriter::operator()(StringRef name, ArrayRef<DictionaryAttr> parts) {
  SmallVector<Attribute> attributes(parts.begin(), parts.end());
  fields.emplace_back(StringAttr::get(context, name),
                      ArrayAttr::get(context, attributes));
}

DictionaryAttr PlanWriter::getFields() const {
  return DictionaryAttr::get(context, fields);
}

GPUPlanAttr PlanWriter::getPlan() const {
  return GPUPlanAttr::get(context, kernel, getFields());
}

void PlanReader::operator()(StringRef name, int64_t &value) const {
  if (auto given = fields.getAs<IntegerAttr>(name)) {
    value = given.getInt();
    return;
  }
  const PlanField *field = findPlanField(kernel, name);
  assert(field && "every field of a plan struct has a row in the table");
  value = field->byDefault;
}

void PlanReader::operator()(StringRef name, bool &value) const {
  int64_t number = 0;
  (*this)(name, number);
  value = number != 0;
}

void PlanReader::operator()(StringRef name,
                            SmallVectorImpl<int64_t> &values) const {
  values.clear();
  if (auto given = fields.getAs<DenseI64ArrayAttr>(name))
    llvm::append_range(values, given.asArrayRef());
}

SmallVector<GPUPlanAttr> kron::getGPUPlans(Operation *op) {
  if (GPUPlanAttr plan = getGPUPlanAttr(op))
    return {plan};
  auto dispatch = dyn_cast_if_present<DispatchAttr>(
      op->getInherentAttr(kPlanAttrName).value_or(Attribute()));
  return dispatch ? llvm::to_vector(dispatch.getPlans())
                  : SmallVector<GPUPlanAttr>();
}

std::string kron::findContradiction(GPUPlanAttr given, GPUPlanAttr chosen) {
  if (!given)
    return "";
  for (NamedAttribute attribute : given.getFields()) {
    StringRef name = attribute.getName();
    const PlanField *field = findPlanField(chosen.getKernel(), name);
    if (!field || field->role == Role::Constraint)
      continue;
    Attribute value = chosen.getFields().get(name);
    if (!value && field->kind == Kind::Integer)
      value = Builder(given.getContext()).getI64IntegerAttr(field->byDefault);
    if (!value && field->kind == Kind::List)
      value = DenseI64ArrayAttr::get(given.getContext(), {});
    if (value != attribute.getValue())
      return ("no " + stringifyGPUKernel(chosen.getKernel()) + " plan has " +
              name + " = " + getFieldValueText(attribute.getValue()))
          .str();
  }
  return "";
}

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

bool GPUPlanAttr::isComplete() const {
  return getKernel() != GPUKernel::Auto &&
         llvm::all_of(kFields, [&](const PlanField &field) {
           bool isMissing =
               field.role == Role::Required && !getFields().get(field.name) &&
               (field.kernels >> static_cast<uint32_t>(getKernel())) & 1;
           return !isMissing;
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

/// Fields that were 0 where nothing was wanted are not there.
static DictionaryAttr dropZeros(GPUKernel kernel, const NamedAttrList &fields,
                                MLIRContext *context) {
  NamedAttrList kept;
  for (NamedAttribute attribute : fields) {
    const PlanField *common =
        findPlanField(GPUKernel::Auto, attribute.getName());
    auto value = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!common || !value || !value.getValue().isZero())
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
  for (const PlanField &field : kFields)
    if ((field.kernels >> static_cast<uint32_t>(kernel)) & 1)
      names.push_back(field.name);
  return llvm::join(names, ", ");
}

/// What has the fields of `kernel`.
static std::string getOwner(GPUKernel kernel) {
  return kernel == kSimtLaunch ? "a launch of kernel simt"
                               : "kernel " + stringifyGPUKernel(kernel).str();
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

LogicalResult DispatchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<GPUPlanAttr> plans) {
  if (plans.empty())
    return emitError() << "expects at least one plan";
  for (GPUPlanAttr plan : plans)
    if (!plan.isComplete())
      return emitError() << "expects complete plans, but got " << plan;
  if (plans.back().getKernel() == GPUKernel::Cublas)
    return emitError() << "expects the last plan to be a kernel that needs no "
                          "library";
  return success();
}
