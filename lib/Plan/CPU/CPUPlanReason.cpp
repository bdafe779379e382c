//===- CPUPlanReason.cpp - Fields that a region would not honour -*- C++ -*-==//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/CPUPlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Why a fused region cannot have the slices of `choices`; empty if it can.
static std::string getSlicesReason(const CPUPlan &plan,
                                   const CPUChoices &choices) {
  if (choices.slice > 0 && plan.slicedSections.empty())
    return "cannot have slice = " + std::to_string(choices.slice) +
           ": no factors lie inside of the others";
  bool isNested = choices.slice > 0 && plan.slicedSections[0].sliceAxis >= 0;
  if (!choices.sliceCuts.empty() && !isNested)
    return "cannot have slice_cuts: no slices lie within others";
  if (isNested && getSections(plan, choices).size() !=
                      plan.slicedSections.size() + choices.sliceCuts.size())
    return "expects slice_cuts to divide axes of slices that several factors "
           "take";
  return "";
}

std::string kron::getPairsReason(FusedOp fused, int64_t vectorBits) {
  constexpr int64_t kBits = 512;
  Type element = getElementType(fused.getInit());
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (!element.isBF16())
    os << "results are of " << element << " instead of bf16";
  else if (vectorBits != kBits)
    os << "vectors have " << vectorBits << " bits instead of " << kBits;
  else if (llvm::any_of(fused.getModeProducts(), [](ModeProductOp product) {
             return product.getPrecision() == Precision::Ieee;
           }))
    os << "a product has precision = ieee";
  return reason;
}

/// Why nothing honours the lines that `choices` prefetches, or stores from
/// copies, at a time; empty if something does.
static std::string getLinesReason(const CPUChoices &choices) {
  const CPUChoices defaults;
  auto expect = [](StringRef field, int64_t value, int64_t found) {
    return ("expects " + field + " = " + Twine(value) +
            ", the default, but got " + Twine(found))
        .str();
  };
  // Only the first step of a single section can be far there.
  bool isFar = choices.steps.front().isSourceFar;
  if ((choices.prefetch < 0 || isFar) &&
      choices.prefetchLines != defaults.prefetchLines)
    return expect("prefetch_lines", defaults.prefetchLines,
                  choices.prefetchLines) +
           (isFar ? ": with far = 1 every load prefetches"
                  : ": with prefetch = -1 nothing is prefetched");
  if (!choices.staging && choices.drainLines != defaults.drainLines)
    return expect("drain_lines", defaults.drainLines, choices.drainLines) +
           ": with staging = 0 no results go by way of a copy";
  return "";
}

std::string kron::getCPUPlanReason(FusedOp fused, const CPUChoices &choices) {
  std::variant<CPUPlan, std::string> described =
      describeCPUPlan(fused, choices);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  const CPUPlan &plan = std::get<CPUPlan>(described);
  std::string reason = getSlicesReason(plan, choices);
  if (!reason.empty())
    return reason;
  if (choices.readsSegments && !plan.fitsRegisters)
    return "cannot have reads_segments = 1: registers do not hold all results "
           "of a single factor in place";
  if (choices.spreadsPrefetch && !canSpreadPrefetch(fused, plan, choices))
    return "cannot have spread_prefetch = 1: no columns that are copied go "
           "through slices within slices";
  if (choices.windowsAhead > 1 &&
      (choices.prefetch < 0 || !hasSegments(fused, plan) ||
       choices.steps.front().isSourceFar))
    return "cannot have windows_ahead = " +
           std::to_string(choices.windowsAhead) +
           ": no segments along the tiled axis are prefetched";
  if (choices.staging && choices.streamBytes <= 0)
    return "cannot have staging = " + std::to_string(choices.staging) +
           ": no results are stored non-temporally";
  reason = getLinesReason(choices);
  if (!reason.empty())
    return reason;
  if (choices.convertsInput && !isConverted(fused, fused.getInputs().front()))
    return "cannot have converts_input = 1: the input has the type of sums";
  if (choices.matrixTiles > 0) {
    reason = getPairsReason(fused, choices.vectorBits);
    if (!reason.empty())
      return "cannot have matrix_tiles = " +
             std::to_string(choices.matrixTiles) + ": " + reason;
  }
  SmallVector<Section> sections = getSections(plan, choices);
  for (auto [number, step] : llvm::enumerate(choices.steps)) {
    bool follows = sections.front().sliceAxis >= 0 && number &&
                   llvm::any_of(sections, [number = number](const Section &it) {
                     return it.begin == number;
                   });
    if (step.isSourceFar && !follows && !canPrefetchRows(fused, plan, choices))
      return "cannot have far = 1 in step " + std::to_string(number + 1) +
             ": it reads neither what slices have left nor rows of the input "
             "along which lanes run";
    const StepGroup &group = plan.groups[number];
    ModeProductOp product = group.products.front();
    if (step.convertsFactor &&
        (group.products.size() > 1 || !isConverted(fused, product.getFactor())))
      return "cannot have converts_factor = 1 in step " +
             std::to_string(number + 1) +
             ": its factor is joined or has the type of sums";
  }
  return getCPUStepsReason(fused, choices);
}
