//===- PlanSpace.cpp - Plans that differ in one field -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A field is added to constraints, not changed in a complete plan: what depends
// on it is chosen anew.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/Tuning/PlanSpace.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::kron;

/// Values of which all are tried.
static constexpr int64_t kFewValues = 4;

/// Values from `least` to `most` that are tried beside `value`.
static SmallVector<int64_t> getOtherValues(int64_t least, int64_t most,
                                           int64_t value) {
  SmallVector<int64_t> values;
  auto add = [&](int64_t other) {
    if (other != value && other >= least && other <= most &&
        !llvm::is_contained(values, other))
      values.push_back(other);
  };
  if (most < least + kFewValues) {
    for (int64_t other = least; other <= most; ++other)
      add(other);
    return values;
  }
  // What is off has no size to begin with.
  if (value <= 0)
    for (int64_t other : {1, 4, 16, 64})
      add(other);
  else
    for (int64_t other : {value / 2, value / 4, value - value / 4})
      add(other);
  // Without overflow: some fields may have any number.
  if (value > 0 && value <= most / 4)
    for (int64_t other : {value * 2, value * 4, value + value / 2})
      add(other);
  if (least < 0)
    add(least);
  return values;
}

namespace {
/// Fields of one plan, and those of its parts.
class Neighbours {
public:
  Neighbours(MLIRContext *context, GPUKernel kernel, DictionaryAttr given,
             DictionaryAttr chosen)
      : builder(context), kernel(kernel), given(given), chosen(chosen) {}

  std::vector<std::vector<std::string>> list() {
    for (const PlanField &field : getPlanFields()) {
      bool isOwn = (field.kernels >> static_cast<uint32_t>(kernel)) & 1;
      if (!isOwn || field.role == PlanField::Role::Constraint)
        continue;
      if (field.kind == PlanField::Kind::Integer)
        for (int64_t value :
             getOtherValues(field.least, field.most, getValue(field, chosen)))
          add(field.name, builder.getI64IntegerAttr(value));
      // Positions follow from shapes: all that is tried is to have none.
      if (field.kind == PlanField::Kind::List &&
          field.role == PlanField::Role::Defaulted && chosen.get(field.name))
        add(field.name, builder.getDenseI64ArrayAttr({}));
      if (field.kind == PlanField::Kind::Parts)
        addParts(field);
      finish();
    }
    return std::move(fields);
  }

private:
  static int64_t getValue(const PlanField &field, DictionaryAttr fields) {
    auto value = fields.getAs<IntegerAttr>(field.name);
    return value ? value.getInt() : field.byDefault;
  }

  void addParts(const PlanField &field) {
    auto parts = chosen.getAs<ArrayAttr>(field.name);
    GPUKernel part = getPartKernel(kernel);
    for (unsigned index = 0, e = parts ? parts.size() : 0; index < e; ++index)
      for (const PlanField &own : getPlanFields()) {
        bool isOwn = (own.kernels >> static_cast<uint32_t>(part)) & 1;
        if (!isOwn || own.kind != PlanField::Kind::Integer ||
            own.role == PlanField::Role::Constraint)
          continue;
        auto values = cast<DictionaryAttr>(parts[index]);
        for (int64_t value :
             getOtherValues(own.least, own.most, getValue(own, values))) {
          NamedAttrList changed(values);
          changed.set(own.name, builder.getI64IntegerAttr(value));
          SmallVector<Attribute> all(parts.begin(), parts.end());
          all[index] = changed.getDictionary(builder.getContext());
          add(field.name, builder.getArrayAttr(all));
        }
        finish();
      }
  }

  /// Adds `given` with a field, if that is a plan.
  void add(StringRef name, Attribute value) {
    NamedAttrList changed(given);
    changed.set(name, value);
    MLIRContext *context = builder.getContext();
    DictionaryAttr all = changed.getDictionary(context);
    ScopedDiagnosticHandler quiet(context,
                                  [](Diagnostic &) { return success(); });
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    Attribute plan =
        kernel == kCPURegion
            ? Attribute(CPUPlanAttr::getChecked(emit, context, all))
            : Attribute(GPUPlanAttr::getChecked(emit, context, kernel, all));
    if (plan)
      llvm::raw_string_ostream(values.emplace_back()) << plan;
  }

  void finish() {
    if (!values.empty())
      fields.push_back(std::move(values));
    values.clear();
  }

  Builder builder;
  GPUKernel kernel;
  DictionaryAttr given, chosen;
  std::vector<std::string> values;
  std::vector<std::vector<std::string>> fields;
};
} // namespace

/// Plans of functions of pairs on a CPU around `chosen`, by one field each that
/// they have beside those of `given`: sizes of tiles and blocks. From how many
/// positions of K on squares are made of products, or one half is computed, is
/// no matter of the arrays that are measured.
static std::vector<std::vector<std::string>>
getPairNeighbours(PairwisePlanAttr given, PairwisePlanAttr chosen) {
  auto getValues = [](PairwisePlanAttr plan) {
    return std::array<int64_t, 10>{plan.getVectorBits(), plan.getRows(),
                                   plan.getVectors(),    plan.getRowBlock(),
                                   plan.getKBlock(),     plan.getLaneColumns(),
                                   plan.getNTiles(),     plan.getColumnBlock(),
                                   plan.getProductK(),   plan.getSymmetric()};
  };
  std::array<int64_t, 10> own{}, all = getValues(chosen);
  if (given)
    own = getValues(given);
  MLIRContext *context = chosen.getContext();
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  auto emit = [&] { return emitError(UnknownLoc::get(context)); };
  std::vector<std::vector<std::string>> fields;
  // All but the width of vectors and the positions of K.
  for (unsigned field = 1; field + 2 < all.size(); ++field) {
    std::vector<std::string> plans;
    if (all[field] == 0)
      continue;
    for (int64_t value :
         getOtherValues(1, std::numeric_limits<int32_t>::max(), all[field])) {
      std::array<int64_t, 10> v = own;
      v[field] = value;
      if (Attribute plan = PairwisePlanAttr::getChecked(
              emit, context, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7],
              v[8], v[9]))
        llvm::raw_string_ostream(plans.emplace_back()) << plan;
    }
    if (!plans.empty())
      fields.push_back(std::move(plans));
  }
  return fields;
}

/// The plan of `chosen` that is searched: of those that are chosen among at
/// launch the fastest, which is launched where its requirements hold.
static GPUPlanAttr getMainPlan(Attribute chosen) {
  auto dispatch = dyn_cast<DispatchAttr>(chosen);
  if (!dispatch)
    return dyn_cast<GPUPlanAttr>(chosen);
  for (GPUPlanAttr plan : dispatch.getPlans())
    if (plan.getKernel() != GPUKernel::Cublas)
      return plan;
  return {};
}

std::vector<std::vector<std::string>>
kron::getPlanNeighbours(StringRef given, Attribute chosen) {
  MLIRContext *context = chosen.getContext();
  Attribute constraints =
      given.empty() ? Attribute() : parseAttribute(given, context);
  auto none = DictionaryAttr::get(context);
  if (auto plan = dyn_cast<CPUPlanAttr>(chosen)) {
    auto own = dyn_cast_if_present<CPUPlanAttr>(constraints);
    return Neighbours(context, kCPURegion, own ? own.getFields() : none,
                      plan.getFields())
        .list();
  }
  if (auto plan = dyn_cast<PairwisePlanAttr>(chosen))
    return getPairNeighbours(dyn_cast_if_present<PairwisePlanAttr>(constraints),
                             plan);
  GPUPlanAttr plan = getMainPlan(chosen);
  if (!plan)
    return {};
  auto own = dyn_cast_if_present<GPUPlanAttr>(constraints);
  bool isOfKernel = own && own.getKernel() == plan.getKernel();
  return Neighbours(context, plan.getKernel(),
                    isOfKernel ? own.getFields() : none, plan.getFields())
      .list();
}

//===----------------------------------------------------------------------===//
// Several fused regions
//===----------------------------------------------------------------------===//

static std::string getText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

RegionPlansAttr kron::getRegionPlans(MLIRContext *context,
                                     ArrayRef<PlannedRegion> regions) {
  SmallVector<int64_t> counts;
  SmallVector<Attribute> plans;
  for (const PlannedRegion &region : regions) {
    counts.push_back(region.numProducts);
    plans.push_back(region.plan);
  }
  return RegionPlansAttr::get(context, counts, plans);
}

namespace {
/// Constraints on regions around those that are given.
class RegionNeighbours {
public:
  RegionNeighbours(StringRef text, ArrayRef<PlannedRegion> regions)
      : regions(regions), given(regions),
        context(regions.front().plan.getContext()) {
    bool isForCPU = isa<CPUPlanAttr>(regions.front().plan);
    auto none = DictionaryAttr::get(context);
    open = isForCPU ? Attribute(CPUPlanAttr::get(context, none))
                    : GPUPlanAttr::get(context, GPUKernel::Auto, none);
    Attribute all = text.empty() ? Attribute() : parseAttribute(text, context);
    for (auto [number, region] : llvm::enumerate(given)) {
      Attribute own = getRegionPlan(all, number);
      region.plan = own ? own : open;
    }
  }

  std::vector<std::vector<std::string>> list() {
    SmallVector<unsigned> order =
        llvm::to_vector(llvm::seq<unsigned>(regions.size()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(-regions[a].seconds, a) <
             std::pair(-regions[b].seconds, b);
    });
    addCuts();
    for (unsigned region : order)
      addKernels(region);
    for (unsigned region : order)
      for (const std::vector<std::string> &plans :
           getPlanNeighbours(getText(given[region].plan), regions[region].plan))
        add(region, plans);
    return std::move(moves);
  }

private:
  /// Two neighbours as one region, and one as two.
  void addCuts() {
    std::vector<std::string> plans;
    for (unsigned region = 0; region < given.size(); ++region) {
      int64_t count = given[region].numProducts;
      if (region + 1 < given.size())
        plans.push_back(
            replace(region, 2, {count + given[region + 1].numProducts}));
      for (int64_t part = 1; part < count; ++part)
        plans.push_back(replace(region, 1, {part, count - part}));
    }
    moves.push_back(std::move(plans));
  }

  /// The constraints with regions of `counts` mode products, of which nothing
  /// else is said, in the place of `number` from `first` on.
  std::string replace(unsigned first, unsigned number,
                      ArrayRef<int64_t> counts) {
    SmallVector<PlannedRegion> changed(given);
    changed.erase(changed.begin() + first, changed.begin() + first + number);
    for (auto [index, count] : llvm::enumerate(counts))
      changed.insert(changed.begin() + first + index, {count, open});
    return getText(getRegionPlans(context, changed));
  }

  /// Every other kernel for `region`.
  void addKernels(unsigned region) {
    auto isOf = [&](GPUKernel kernel) {
      auto dispatch = dyn_cast<DispatchAttr>(regions[region].plan);
      auto plan = dispatch ? dispatch.getPlans().front()
                           : cast<GPUPlanAttr>(regions[region].plan);
      return plan.getKernel() == kernel;
    };
    if (isa<CPUPlanAttr>(open))
      return;
    std::vector<std::string> plans;
    auto none = DictionaryAttr::get(context);
    for (uint32_t number = 1; number <= getMaxEnumValForGPUKernel(); ++number)
      if (auto kernel = symbolizeGPUKernel(number); kernel && !isOf(*kernel))
        plans.push_back(getText(GPUPlanAttr::get(context, *kernel, none)));
    add(region, plans);
  }

  /// Each of `plans` as the constraints on `region`.
  void add(unsigned region, ArrayRef<std::string> plans) {
    std::vector<std::string> all;
    for (StringRef plan : plans) {
      SmallVector<PlannedRegion> changed(given);
      changed[region].plan = parseAttribute(plan, context);
      all.push_back(getText(getRegionPlans(context, changed)));
    }
    moves.push_back(std::move(all));
  }

  ArrayRef<PlannedRegion> regions;
  /// The regions with what is given for each.
  SmallVector<PlannedRegion> given;
  MLIRContext *context;
  /// The constraint that is none.
  Attribute open;
  std::vector<std::vector<std::string>> moves;
};
} // namespace

std::vector<std::vector<std::string>>
kron::getRegionNeighbours(StringRef given, ArrayRef<PlannedRegion> regions) {
  return RegionNeighbours(given, regions).list();
}
