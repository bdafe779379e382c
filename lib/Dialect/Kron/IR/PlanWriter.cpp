//===- PlanWriter.cpp - Structs of plans to attributes and back -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/PlanFields.h"

using namespace mlir;
using namespace mlir::kron;

using Role = PlanField::Role;

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
