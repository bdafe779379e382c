//===- LaunchChoice.h - Programs that a launch chooses between --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A #kron.dispatch chooses among kernels for one operation. Where the launch
// decides how many operations there are, both programs are regions of an scf.if
// whose condition carries what it requires, in the words of a dispatch:
//
//   %many = arith.cmpi sgt, %rows, %c128 {kron.requires = {min_rows = 129 :
//   i64}} : index scf.if %many { one fused region } else { several }
//
// Of a condition that holds in one of several cases these are a list.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_LAUNCHCHOICE_H
#define KRON_DIALECT_KRON_IR_LAUNCHCHOICE_H

#include "mlir/IR/Builders.h"

namespace mlir::kron {

/// The name of the attribute.
inline constexpr llvm::StringLiteral kRequiresAttrName = "kron.requires";

/// Something that a launch has to have, as fields of plans name it: `min_rows`,
/// `row_unit` (the rows are a multiple of it), `row_major` (1: all arrays are);
/// of a CPU `min_threads`, `tile_threads` (as many for each tile of
/// `tile_columns`), `max_filled` (columns fill less than so many 1024ths of the
/// `lanes` of their vectors).
struct LaunchRequirement {
  StringRef name;
  int64_t value;
};

/// What a launch has to have in one case: all of these.
using LaunchRequirements = SmallVector<LaunchRequirement, 2>;

/// Marks `condition`, the result of an operation, with what it says of a
/// launch: that one of `cases` holds.
inline void markLaunchChoice(Value condition,
                             ArrayRef<LaunchRequirements> cases) {
  Builder builder(condition.getContext());
  SmallVector<Attribute> marks;
  for (const LaunchRequirements &requirements : cases) {
    NamedAttrList fields;
    for (LaunchRequirement each : requirements)
      fields.append(each.name, builder.getI64IntegerAttr(each.value));
    marks.push_back(fields.getDictionary(builder.getContext()));
  }
  condition.getDefiningOp()->setAttr(
      kRequiresAttrName,
      marks.size() == 1 ? marks.front() : builder.getArrayAttr(marks));
}

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_IR_LAUNCHCHOICE_H
