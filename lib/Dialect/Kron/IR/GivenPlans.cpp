//===- GivenPlans.cpp - Plans by hand, and what others have otherwise -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

SmallVector<GPUPlanAttr> kron::getGPUPlans(Operation *op) {
  if (GPUPlanAttr plan = getGPUPlanAttr(op))
    return {plan};
  auto dispatch = dyn_cast_if_present<DispatchAttr>(
      op->getInherentAttr(kPlanAttrName).value_or(Attribute()));
  return dispatch ? llvm::to_vector(dispatch.getPlans())
                  : SmallVector<GPUPlanAttr>();
}

bool kron::hasWord(StringRef text, StringRef word) {
  auto isPart = [](char letter) {
    return llvm::isAlnum(letter) || letter == '_';
  };
  for (size_t at = text.find(word); at != StringRef::npos;
       at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    if ((at == 0 || !isPart(text[at - 1])) &&
        (end == text.size() || !isPart(text[end])))
      return true;
  }
  return false;
}

/// The value of `field` among `fields`, or its default; null if that is
/// nothing.
static Attribute getValue(const PlanField &field, DictionaryAttr fields) {
  if (Attribute value = fields.get(field.name))
    return value;
  if (field.kind == PlanField::Kind::Integer)
    return Builder(fields.getContext()).getI64IntegerAttr(field.byDefault);
  if (field.kind == PlanField::Kind::List)
    return DenseI64ArrayAttr::get(fields.getContext(), {});
  return Attribute();
}

/// The first of the fields `given` that those of a plan for `kernel`, or of a
/// part of one, have otherwise, with its value; empty if there is none.
static std::string findDifference(GPUKernel kernel, DictionaryAttr given,
                                  DictionaryAttr chosen) {
  for (NamedAttribute attribute : given) {
    StringRef name = attribute.getName();
    const PlanField *field = findPlanField(kernel, name);
    if (!field || field->role == PlanField::Role::Constraint)
      continue;
    Attribute value = getValue(*field, chosen);
    if (value == attribute.getValue())
      continue;
    auto parts = dyn_cast<ArrayAttr>(attribute.getValue());
    auto own = dyn_cast_if_present<ArrayAttr>(value);
    if (!parts || !own || parts.size() != own.size())
      return (name + " = " + getFieldValueText(attribute.getValue())).str();
    // Parts are constraints field by field, too.
    for (auto [index, part] : llvm::enumerate(parts))
      if (std::string different =
              findDifference(getPartKernel(kernel), cast<DictionaryAttr>(part),
                             cast<DictionaryAttr>(own[index]));
          !different.empty())
        return different + " in " + name.drop_back().str() + " " +
               std::to_string(index);
  }
  return "";
}

std::string kron::findContradiction(GPUPlanAttr given, GPUPlanAttr chosen) {
  if (!given)
    return "";
  std::string different =
      findDifference(chosen.getKernel(), given.getFields(), chosen.getFields());
  if (different.empty())
    return "";
  return "no " + stringifyGPUKernel(chosen.getKernel()).str() + " plan has " +
         different;
}
