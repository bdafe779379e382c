//===- GivenFields.cpp - Which field of a plan is impossible ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/GivenFields.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether `reason` says what a field of `given` has to be, and what it is.
static bool saysExpected(StringRef reason, GPUPlanAttr given) {
  return hasWord(reason, "expects") &&
         llvm::any_of(given.getFields(), [&](NamedAttribute field) {
           return hasWord(reason, field.getName()) &&
                  hasWord(reason, getFieldValueText(field.getValue()));
         });
}

/// The plan that stands for `plans` where one is asked for that is for
/// `kernel`.
static GPUPlanAttr getMain(ArrayRef<GPUPlanAttr> plans, GPUKernel kernel) {
  const auto *main = llvm::find_if(
      plans, [&](GPUPlanAttr plan) { return plan.getKernel() == kernel; });
  return main == plans.end() ? plans.front() : *main;
}

static std::string getText(GPUPlanAttr plan) {
  std::string text;
  llvm::raw_string_ostream(text) << plan;
  return text;
}

/// The value of the field `name` of `plan`, which is for `op`, its default, or
/// what other fields make of it; null if it means nothing to the kernel.
static Attribute getValue(Operation *op, GPUPlanAttr plan, StringRef name) {
  if (Attribute value = plan.getFields().get(name))
    return value;
  Builder builder(plan.getContext());
  const PlanField *field = findPlanField(plan.getKernel(), name);
  if (field && field->role == PlanField::Role::Defaulted &&
      field->kind == PlanField::Kind::Integer)
    return builder.getI64IntegerAttr(field->byDefault);
  std::optional<int64_t> derived = getDerivedField(op, plan, name);
  return derived ? builder.getI64IntegerAttr(*derived) : Attribute();
}

/// Fields that only some of the plans among which one is chosen at launch have,
/// or that are decided once there are plans.
static bool isOfSome(StringRef name) {
  return llvm::is_contained({"min_rows", "alignment", "packed", "direct_store",
                             "quantize", "min_k", "max_k", "keeps_rows",
                             "skinny_m"},
                            name);
}

std::string kron::findUnmet(Operation *op, GPUPlanAttr given,
                            ArrayRef<GPUPlanAttr> plans) {
  GPUPlanAttr ofAll = given;
  for (NamedAttribute field : given.getFields())
    if (isOfSome(field.getName()))
      ofAll = ofAll.without(field.getName());
  std::string unmet;
  bool isMet = false;
  for (GPUPlanAttr plan : plans) {
    // Others take what the kernel that is named leaves.
    if (given.getKernel() != GPUKernel::Auto &&
        given.getKernel() != plan.getKernel())
      continue;
    if (std::string reason = findUnmet(op, ofAll, plan); !reason.empty())
      return reason;
    std::string reason = findUnmet(op, given, plan);
    isMet |= reason.empty();
    unmet = reason;
  }
  return isMet ? "" : unmet;
}

std::string kron::nameGivenFields(Operation *op, std::string reason,
                                  llvm::function_ref<PlansOrReason()> plan) {
  GPUPlanAttr given = getGPUPlanAttr(op);
  if (!given || saysExpected(reason, given))
    return reason;
  auto attribute = StringAttr::get(op->getContext(), kPlanAttrName);
  // Null if there is none.
  auto planWith = [&](GPUPlanAttr fields) -> GPUPlanAttr {
    op->setInherentAttr(attribute, fields);
    PlansOrReason found = plan();
    op->setInherentAttr(attribute, given);
    auto *plans = std::get_if<SmallVector<GPUPlanAttr>>(&found);
    return plans ? getMain(*plans, given.getKernel()) : GPUPlanAttr();
  };

  SmallVector<std::string> ways;
  SmallVector<std::string> texts;
  GPUPlanAttr rest = given;
  for (NamedAttribute field : given.getFields()) {
    StringRef name = field.getName();
    if (name == "regions")
      continue;
    std::string value = getFieldValueText(field.getValue());
    texts.push_back((name + " = " + value).str());
    rest = rest.without(name);
    GPUPlanAttr other = planWith(given.without(name));
    if (!other)
      continue;
    Attribute possible = getValue(op, other, name);
    if (possible && possible != field.getValue())
      ways.push_back((name + " to be " + getFieldValueText(possible) +
                      ", say, but got " + value)
                         .str());
    else
      ways.push_back("a plan without " + texts.back() + ", say " +
                     getText(other));
  }
  if (ways.empty() && texts.size() > 1)
    if (GPUPlanAttr other = planWith(rest))
      ways.push_back("a plan without " + llvm::join(texts, ", ") + ", say " +
                     getText(other));
  if (ways.empty())
    return reason;
  return reason + "; expects " + llvm::join(ways, ", or ");
}
