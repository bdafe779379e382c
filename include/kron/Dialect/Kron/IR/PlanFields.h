//===- PlanFields.h - The fields of plans -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One table says which fields each kernel has, what they mean, and which may be
// left out. The verifier, the printer, the reference page and the conversions
// between attributes and the structs of planners and emitters read it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_PLANFIELDS_H
#define KRON_DIALECT_KRON_IR_PLANFIELDS_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Most rows times vectors of a CPU's register tile: of 32 registers some hold
/// operands.
inline constexpr int64_t kMostAccumulators = 26;

struct PlanField {
  enum class Kind {
    /// One number.
    Integer,
    /// A list of numbers, `[1, 2]`.
    List,
    /// A list of plans of parts, `[{...}, {...}]`.
    Parts
  };
  /// What it means that the field is not there.
  enum class Role {
    /// The plan is not complete.
    Required,
    /// It has its default.
    Defaulted,
    /// Nothing: it only tells --kron-plan what to choose.
    Constraint
  };

  llvm::StringLiteral name;
  Kind kind;
  Role role;
  int64_t least, most, byDefault;
  /// Kernels that have the field, bit k for kernel number k.
  uint32_t kernels;
  llvm::StringLiteral description;
};

/// All fields, in the order in which they are printed. A name that means
/// different things, or has another role, in several kernels has several rows.
ArrayRef<PlanField> getPlanFields();

/// The field called `name` of `kernel`; null if it has none.
const PlanField *findPlanField(GPUKernel kernel, StringRef name);

/// What the launches of a plan for `simt`, which are its parts, count as: no
/// plan is for that kernel.
inline constexpr GPUKernel kSimtLaunch = static_cast<GPUKernel>(30);

/// What a plan for a CPU, and its parts, the steps of a fused region, count as:
/// no plan for a GPU is for those kernels.
inline constexpr GPUKernel kCPURegion = static_cast<GPUKernel>(29);
inline constexpr GPUKernel kCPUStep = static_cast<GPUKernel>(28);

/// The kernel whose fields the parts of a plan for `kernel` have.
GPUKernel getPartKernel(GPUKernel kernel);

/// The value of a field as a plan prints it.
std::string getFieldValueText(Attribute value);

/// Whether `text` has `word`, as "tile = 4", not as a part of another word or
/// number.
bool hasWord(StringRef text, StringRef word);

/// Collects the fields of a plan for `kernel`, those at their defaults left
/// out. Visitors of plan structs call it with every field.
class PlanWriter {
public:
  PlanWriter(MLIRContext *context, GPUKernel kernel)
      : context(context), kernel(kernel) {}

  void operator()(StringRef name, int64_t value);
  void operator()(StringRef name, bool value) {
    (*this)(name, static_cast<int64_t>(value));
  }
  void operator()(StringRef name, ArrayRef<int64_t> values);
  void operator()(StringRef name, const SmallVectorImpl<int64_t> &values) {
    (*this)(name, ArrayRef<int64_t>(values));
  }
  void operator()(StringRef name, ArrayRef<DictionaryAttr> parts);
  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  void operator()(StringRef name, Enum value) {
    (*this)(name, static_cast<int64_t>(value));
  }

  DictionaryAttr getFields() const;
  GPUPlanAttr getPlan() const;

private:
  const PlanField &find(StringRef name) const;

  MLIRContext *context;
  GPUKernel kernel;
  SmallVector<NamedAttribute> fields;
};

/// Fills in the fields of a struct from those of a plan for `kernel`: what is
/// not there gets its default. Takes the same visitors as PlanWriter.
class PlanReader {
public:
  PlanReader(GPUKernel kernel, DictionaryAttr fields)
      : kernel(kernel), fields(fields) {}
  explicit PlanReader(GPUPlanAttr plan)
      : PlanReader(plan.getKernel(), plan.getFields()) {}

  void operator()(StringRef name, int64_t &value) const;
  void operator()(StringRef name, bool &value) const;
  void operator()(StringRef name, SmallVectorImpl<int64_t> &values) const;
  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  void operator()(StringRef name, Enum &value) const {
    int64_t number = 0;
    (*this)(name, number);
    value = static_cast<Enum>(number);
  }

private:
  GPUKernel kernel;
  DictionaryAttr fields;
};

/// The plans of `op` for a GPU: the one that it carries, or those of which one
/// is chosen at launch.
SmallVector<GPUPlanAttr> getGPUPlans(Operation *op);

/// The first field that `given`, which may be null, has and `chosen` has
/// otherwise, as "no KERNEL plan has FIELD = VALUE"; empty if there is none.
/// Fields of parts are compared one by one; constraints that are no fields of
/// complete plans are not, nor is `regions`.
std::string findContradiction(GPUPlanAttr given, GPUPlanAttr chosen);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_IR_PLANFIELDS_H
