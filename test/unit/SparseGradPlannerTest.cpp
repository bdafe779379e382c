//===- SparseGradPlannerTest.cpp - Plans of gradients -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SparseGradPlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/SparseGradPlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// Weights a x b x c x d of kron.ksmm_grad.
struct GradientExample {
  std::string element;
  int64_t rows;
  SmallVector<int64_t> weights;
  bool batchLast = false;
};
} // namespace

static std::string getText(const GradientExample &example,
                           const std::string &plan) {
  auto [element, rows, weights, batchLast] = example;
  auto getArray = [&, &element = element, &rows = rows,
                   &batchLast = batchLast](int64_t features) {
    SmallVector<int64_t> sizes{rows, features};
    if (batchLast)
      std::swap(sizes[0], sizes[1]);
    return "memref<" + getShape(sizes, element) + ">";
  };
  std::string input = getArray(weights[0] * weights[2] * weights[3]),
              grad = getArray(weights[0] * weights[1] * weights[3]),
              result = "memref<" + getShape(weights, element) + ">";
  std::string attributes = batchLast ? "layout = #kron.layout<batch_last>" : "";
  if (!plan.empty())
    attributes += (batchLast ? ", plan = " : "plan = ") + plan;
  return "func.func @f(%x: " + input + ", %g: " + grad + ", %d: " + result +
         ") {\n kron.ksmm_grad ins(%x : " + input + ") grad(%g : " + grad +
         ") outs(%d : " + result + ")" +
         (attributes.empty() ? "" : " {" + attributes + "}") + "\n return\n}\n";
}

static const GradientExample kFirst{"f32", 25088, {1, 64, 64, 16}};

static std::variant<GPUPlanAttr, std::string> planGradient(KsmmGradOp gradient,
                                                           StringRef machine) {
  return planSparseGrad(gradient, getMachine(machine));
}

TEST_F(GPUPlanners, GradientPlansAreReadAndFit) {
  const GradientExample examples[] = {kFirst,
                                      {"f32", -1, {3, 5, 7, 1}},
                                      {"f16", 25088, {4, 48, 48, 8}},
                                      {"bf16", 25088, {2, 192, 64, 1}, true},
                                      {"f64", 4096, {2, 32, 32, 4}},
                                      {"f32", 25088, {6, 64, 64, 1}, true}};
  for (const GradientExample &example : examples) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getShape(example.weights, example.element)));
      auto gradient = parse<KsmmGradOp>(getText(example, ""));
      GPUMachine machine = getMachine(name);
      auto planned = planSparseGrad(gradient, machine);
      ASSERT_EQ(getReason(planned), "none");
      auto plan = std::get<GPUPlanAttr>(planned);
      EXPECT_TRUE(plan.isComplete());
      expectSamePrinted(plan);
      auto read = readSparseGradPlan(gradient, plan);
      ASSERT_EQ(getReason(read), "none");
      auto &found = std::get<SparseGradPlan>(read);
      PlanWriter writer(&context, GPUKernel::Gradient);
      SparseGradPlan::visitFields(writer, found);
      EXPECT_EQ(writer.getPlan(), plan);
      EXPECT_TRUE(machine.hasWgmma ||
                  (!found.usesWgmma && !found.usesPackedOperands));
      int64_t words = found.elementBytes == 8 ? 2 : 1;
      expectFits(machine, found.getThreads(), found.ctasPerSM,
                 found.getSharedBytes(), 4 * words * found.getSums());
      gradient.setPlanAttr(plan);
      EXPECT_EQ(std::get<GPUPlanAttr>(planSparseGrad(gradient, machine)), plan);
    }
  }
}

TEST_F(GPUPlanners, GradientIsCutIntoAsManyPiecesAsThereAreSMs) {
  auto getPieces = [&](StringRef machine) {
    auto gradient = parse<KsmmGradOp>(getText(kFirst, ""));
    return std::get<GPUPlanAttr>(planGradient(gradient, machine))
        .get("split_k");
  };
  EXPECT_LT(getPieces("h200:sms=20"), getPieces("h200"));
}

TEST_F(GPUPlanners, GradientHonoursWhatIsGiven) {
  for (const char *fields :
       {"row_tiles = 2", "column_tiles = 2", "row_warps = 2",
        "column_warps = 2", "lane_warps = 2", "stages = 3", "ctas_per_sm = 1",
        "split_k = 7", "least_piece = 128", "sum_threads = 2", "sum_loads = 3",
        "batch_step = 16", "packed_operands = 0",
        "threads = 128"}) {
    SCOPED_TRACE(fields);
    std::string text = getPlanText("gradient", fields);
    auto plan =
        planGradient(parse<KsmmGradOp>(getText(kFirst, text)), "a100-80");
    ASSERT_EQ(getReason(plan), "none");
    EXPECT_EQ(
        findContradiction(cast<GPUPlanAttr>(parseAttribute(text, &context)),
                          std::get<GPUPlanAttr>(plan)),
        "");
  }
}

TEST_F(GPUPlanners, GradientSaysWhichFieldIsImpossible) {
  for (const char *fields :
       {"row_tiles = 100", "column_warps = 32", "lane_warps = 9",
        "stages = 1000", "ctas_per_sm = 33", "batch_step = 3",
        "chunk_bytes = 4", "wgmma = 1", "packed_operands = 1",
        "sum_threads = 3", "sum_loads = 60"}) {
    std::string text = getPlanText("gradient", fields);
    std::string reason = getAttributeReason(text);
    if (reason == "none")
      reason = getReason(
          planGradient(parse<KsmmGradOp>(getText(kFirst, text)), "a100-80"));
    expectNames(reason, fields);
  }
  EXPECT_EQ(
      getReason(planGradient(
          parse<KsmmGradOp>(getText(kFirst, getPlanText("mma", ""))), "h200")),
      "expects kernel to be gradient, but got mma");
}

TEST_F(GPUPlanners, GradientReaderRefusesWhatIsNoPlan) {
  auto gradient = parse<KsmmGradOp>(getText(kFirst, ""));
  auto plan = std::get<GPUPlanAttr>(planGradient(gradient, "a100-80"));
  expectReaderRefuses<readSparseGradPlan>(gradient, plan,
                                          {{"row_tiles", 0},
                                           {"column_warps", 0},
                                           {"ctas_per_sm", 0},
                                           {"split_k", 0},
                                           {"sum_threads", 3},
                                           {"sum_loads", 60},
                                           {"chunk_bytes", 4},
                                           {"lane_warps", 5},
                                           {"batch_step", 48},
                                           {"batch_step", 128},
                                           {"stages", 1},
                                           {"wgmma", 1}});
  // What another machine has.
  gradient.setPlanAttr(plan.with("packed_operands", 1));
  expectNames(getReason(planGradient(gradient, "a100-80")),
              "packed_operands = 1");
}
