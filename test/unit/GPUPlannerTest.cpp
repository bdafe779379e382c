//===- GPUPlannerTest.cpp - Which kernels apply regions ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/GPUPlanner.h"
#include "PlannerTest.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Mapping/GPU/WgmmaPlanner.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
class GPUChoice : public GPUPlanners {
protected:
  /// The plans that `fused` gets; or the error.
  std::variant<SmallVector<GPUPlanAttr>, std::string>
  plan(FusedOp fused, StringRef machine, bool allowsCublas = false) {
    std::string error;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
    if (failed(planForGPU(fused, {}, getMachine(machine), allowsCublas)))
      return error;
    EXPECT_EQ(error, "");
    return getGPUPlans(fused);
  }

  /// The kernels of the plans of `fused`, in order: "ffma simt".
  template <typename AnyExample = Example>
  std::string getKernels(const AnyExample &example, StringRef machine,
                         StringRef given = "", bool allowsCublas = false) {
    auto plans = plan(build(example, given), machine, allowsCublas);
    if (auto *reason = std::get_if<std::string>(&plans))
      return *reason;
    std::string text;
    for (GPUPlanAttr each : std::get<SmallVector<GPUPlanAttr>>(plans))
      text += (text.empty() ? "" : " ") +
              stringifyGPUKernel(each.getKernel()).str();
    return text;
  }
};
} // namespace

TEST_F(GPUChoice, EachMachineHasItsKernels) {
  struct Row {
    Example example;
    const char *machine, *kernels;
  };
  const Row rows[] = {
      {{"f32", {-1, 32, 32, 32}, {1, 2, 3}}, "h200", "wgmma"},
      {{"f32", {-1, 32, 32, 32}, {1, 2, 3}}, "a100-80", "mma"},
      {{"f32", {-1, 16, 16}, {1, 2}}, "h200", "mma"},
      {{"f64", {-1, 8, 8, 8}, {1, 2, 3}}, "h200", "dmma simt"},
      {{"f64", {-1, 8, 8, 8}, {1, 2, 3}}, "a100-80", "mma"},
      {{"f32", {8, 8, 4096}, {0, 1}}, "h200", "ffma simt"},
      {{"f32", {-1, 8, 8}, {1, 2}}, "h200", "batched batched"},
      {{"f32", {-1, 3, 3}, {1, 2}}, "h200", "batched batched"},
      {{"i32", {-1, 8, 8}, {1, 2}}, "h200", "simt"},
      {{"i32", {-1, 8, 8}, {1, 2}}, "l4", "simt"},
      {{"f16", {4096, 8, 192}, {2}, {48}, {1}}, "h200", "sparse"},
      {{"f16", {-1, 8, 192}, {2}, {48}, {1}}, "rtx5090", "sparse sparse"}};
  for (const auto &[example, machine, kernels] : rows)
    EXPECT_EQ(getKernels(example, machine), kernels)
        << machine << " " << getName(example);
  EXPECT_EQ(getKernels(ChainExample{"f16", 25088, 2, 192, 48, 192}, "h200"),
            "chain");
}

TEST_F(GPUChoice, TheLeastEstimateDecides) {
  struct Kernel {
    GPUKernel kernel, family;
  };
  const Kernel kernels[] = {{GPUKernel::Wgmma, GPUKernel::Wgmma},
                            {GPUKernel::Batched, GPUKernel::Batched},
                            {GPUKernel::Dmma, GPUKernel::Ffma},
                            {GPUKernel::Ffma, GPUKernel::Ffma},
                            {GPUKernel::Mma, GPUKernel::Mma},
                            {GPUKernel::Simt, GPUKernel::Simt}};
  const Example examples[] = {
      {"f32", {-1, 32, 32, 32}, {1, 2, 3}}, {"f32", {-1, 16, 16}, {1, 2}},
      {"f32", {-1, 4, 4, 4}, {1, 2, 3}},    {"f64", {-1, 8, 8, 8}, {1, 2, 3}},
      {"f64", {-1, 5, 5}, {1, 2}},          {"f32", {-1, 3, 3}, {1, 2}},
      {"f16", {-1, 64, 64}, {1, 2}}};
  for (const Example &example : examples)
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      GPUMachine machine = getMachine(name);
      Problem problem = describeProblem(build(example));
      int64_t budget = getFootprintBudget(machine);
      int64_t columns =
          std::max<int64_t>(chooseColumns(problem, budget, machine), 1);
      std::string best;
      double least = std::numeric_limits<double>::infinity();
      for (auto [kernel, family] : kernels) {
        StringRef word = stringifyGPUKernel(kernel);
        // Those that are best left to others are there where asked for.
        bool isSmall =
            kernel == GPUKernel::Wgmma && problem.getLargestFactorSize() <= 16;
        auto plans = plan(build(example, getPlanText(word, "")), name);
        if (isSmall || std::holds_alternative<std::string>(plans))
          continue;
        KernelTiling tiling =
            chooseTiling(family, problem, columns, budget, machine);
        FusedOp asked = build(example, getPlanText(word, ""));
        double seconds =
            kernel == GPUKernel::Wgmma
                ? estimateWgmmaTime(asked, getPlan(planWgmma(asked, machine)),
                                    problem, machine)
                      .total
                : estimateTime(family, problem, tiling, machine).total;
        if (seconds < least) {
          least = seconds;
          best = word.str();
        }
      }
      EXPECT_EQ(StringRef(getKernels(example, name)).split(' ').first, best);
    }
}

TEST_F(GPUChoice, CublasStandsInFrontWhereItIsAllowed) {
  Example large{"f16", {-1, 2048}, {1}};
  std::string own = getKernels(large, "h200");
  EXPECT_FALSE(StringRef(own).contains("cublas"));
  EXPECT_EQ(getKernels(large, "h200", "", /*allowsCublas=*/true),
            "cublas " + own);
  // f32 is no faster.
  Example wide{"f32", {4096, 2048}, {1}};
  EXPECT_EQ(getKernels(wide, "h200", "", /*allowsCublas=*/true),
            getKernels(wide, "h200"));
  // Asked for, it stands in front of what would be there.
  std::string asked = getPlanText("cublas", "");
  EXPECT_EQ(getKernels(wide, "h200", asked),
            "cublas " + getKernels(wide, "h200"));
  Example two{"f32", {-1, 8, 8}, {1, 2}};
  EXPECT_EQ(getKernels(two, "h200", asked),
            "'kron.fused' op cannot be a call of cuBLAS: there is more than "
            "one factor");
}

TEST_F(GPUChoice, WhatRequiresMoreComesFirst) {
  auto getPlans = [&](const Example &example) {
    auto plans = plan(build(example), "h200");
    EXPECT_EQ(getReason(plans), "none");
    return std::get<SmallVector<GPUPlanAttr>>(plans);
  };
  // The last one has no requirement: it takes what others leave.
  for (const Example &example :
       {Example{"f32", {8, 8, 4096}, {0, 1}},
        Example{"f32", {-1, 3, 3}, {1, 2}},
        Example{"f64", {-1, 8, 8, 8}, {1, 2, 3}},
        Example{"f16", {-1, 8, 192}, {2}, {48}, {1}},
        Example{"f16", {-1, 512, 8}, {2}, {56}, {1}}}) {
    SCOPED_TRACE(getName(example));
    SmallVector<GPUPlanAttr> plans = getPlans(example);
    ASSERT_GE(plans.size(), 2u);
    auto isRequiring = [](GPUPlanAttr plan) {
      return plan.get("min_rows") > 0 || plan.get("alignment") > 0 ||
             plan.get("packed") > 0 ||
             plan.getKernel() == GPUKernel::SmallGroups;
    };
    for (GPUPlanAttr each : ArrayRef(plans).drop_back())
      EXPECT_TRUE(isRequiring(each)) << getText(each);
    EXPECT_FALSE(isRequiring(plans.back())) << getText(plans.back());
  }
}

TEST_F(GPUChoice, WhatIsPlannedStays) {
  const std::pair<Example, const char *> examples[] = {
      {{"f32", {-1, 32, 32, 32}, {1, 2, 3}}, "h200"},
      {{"f32", {-1, 16, 16}, {1, 2}}, "l4"},
      {{"f16", {4096, 8, 192}, {2}, {48}, {1}}, "a100-80"},
      {{"i32", {-1, 8, 8}, {1, 2}}, "rtx5090"},
      {{"f32", {-1, 8, 8}, {1, 2}}, "h100-pcie"},
      {{"f16", {-1, 8, 192}, {2}, {48}, {1}}, "h200"}};
  for (auto &[example, machine] : examples) {
    SCOPED_TRACE(getName(example));
    FusedOp fused = build(example);
    EXPECT_EQ(getReason(plan(fused, machine)), "none");
    Attribute planned = fused.getPlanAttr();
    ASSERT_TRUE(planned);
    EXPECT_EQ(getReason(plan(fused, machine)), "none");
    EXPECT_EQ(fused.getPlanAttr(), planned);
    EXPECT_EQ(parseAttribute(getText(planned), &context), planned);
  }
}

TEST_F(GPUChoice, ErrorsNameTheKernelThatIsWanted) {
  Example example{"f64", {-1, 17, 5}, {1, 2}};
  for (const char *kernel :
       {"wgmma", "batched", "dmma", "ffma", "sparse", "chain"}) {
    std::string error = getKernels(example, "h200", getPlanText(kernel, ""));
    EXPECT_TRUE(StringRef(error).contains("has no GPU kernel of kind " +
                                          std::string(kernel) + "; " + kernel +
                                          ": "))
        << error;
  }
  // So do those of fields.
  std::string error = getKernels({"f32", {-1, 16, 16}, {1, 2}}, "h200",
                                 getPlanText("mma", "columns = 2"));
  expectNames(error, "columns = 2");
}

TEST_F(GPUChoice, EmptyArraysHaveNoPlan) {
  for (const Example &example :
       {Example{"f32", {0, 8, 8}, {1, 2}}, Example{"f32", {-1, 8, 0}, {1}}})
    EXPECT_EQ(getKernels(example, "h200"), "");
}
