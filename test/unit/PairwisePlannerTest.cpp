//===- PairwisePlannerTest.cpp - Plans of pairs on GPUs ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/PairwisePlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/PairwisePlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// Pairs of `rows` and `columns` of `sizeK` elements, or their products with
/// `values` columns.
struct PairExample {
  std::string element, inner;
  int64_t rows, columns, sizeK, values = 0;
};
} // namespace

static std::string getProgram(const PairExample &example, StringRef plan) {
  auto getType = [&](int64_t rows, int64_t columns) {
    return "memref<" + getShape({rows, columns}, example.element) + ">";
  };
  std::string lhs = getType(example.rows, example.sizeK),
              rhs = getType(example.columns, example.sizeK),
              values = getType(example.columns, example.values),
              result = getType(example.rows, example.values ? example.values
                                                            : example.columns);
  std::string attributes = plan.empty() ? "" : (" {plan = " + plan + "}").str();
  if (!example.values)
    return "func.func @f(%a: " + lhs + ", %b: " + rhs + ", %y: " + result +
           ") {\n kron.pairwise " + example.inner + " ins(%a, %b : " + lhs +
           ", " + rhs + ") outs(%y : " + result + ")" + attributes +
           "\n return\n}\n";
  return "func.func @f(%a: " + lhs + ", %b: " + rhs + ", %v: " + values +
         ", %y: " + result + ") {\n kron.pairwise_apply " + example.inner +
         " ins(%a, %b : " + lhs + ", " + rhs + ") values(%v : " + values +
         ") outs(%y : " + result + ")" + attributes + "\n return\n}\n";
}

namespace {
class PairwisePlanner : public GPUPlanners {
protected:
  /// The plan that completes `given`, or a dispatch of several; or the error.
  std::variant<Attribute, std::string>
  planAll(const PairExample &example, StringRef machine, StringRef given = "") {
    auto op = parse<PairOpInterface>(getProgram(example, given));
    std::string reason =
        catchError([&] { (void)planForGPU(op, getMachine(machine)); });
    if (reason != "none")
      return reason;
    return op->getAttr("plan");
  }
  /// The only plan.
  std::variant<GPUPlanAttr, std::string>
  plan(const PairExample &example, StringRef machine, StringRef given = "") {
    auto planned = planAll(example, machine, given);
    if (auto *reason = std::get_if<std::string>(&planned))
      return *reason;
    return dyn_cast<GPUPlanAttr>(std::get<Attribute>(planned));
  }
};
} // namespace

static const PairExample kDistances{"f32", "square_diff", 30000, 30000, 1024},
    kSums{"f32", "abs_diff", 1000, 3000, 64},
    kOpen{"f64", "square_diff", -1, -1, -1},
    kHalf{"f16", "dot", 4096, 4096, 256},
    kApplied{"f32", "square_diff", 100000, 100000, 3, 1},
    kBlock{"f32", "square_diff", 100000, 100000, 64, 16};

TEST_F(PairwisePlanner, PlansAreReadAndFit) {
  for (const PairExample &example :
       {kDistances, kSums, kOpen, kHalf, kApplied, kBlock})
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + example.inner + " " +
                           getShape({example.rows, example.columns,
                                     example.sizeK, example.values},
                                    example.element)));
      auto planned = planAll(example, name);
      ASSERT_EQ(getReason(planned), "none");
      Attribute all = std::get<Attribute>(planned);
      ASSERT_TRUE(all);
      GPUMachine machine = getMachine(name);
      std::string text = getText(all);
      auto op = parse<PairOpInterface>(getProgram(example, text));
      for (GPUPlanAttr chosen : getGPUPlans(op)) {
        EXPECT_TRUE(chosen.isComplete());
        expectSameWritten<PairwiseChoices>(chosen);
        auto read = readPairwisePlan(op, chosen, machine);
        ASSERT_EQ(getReason(read), "none");
        auto &found = std::get<PairwisePlan>(read);
        // The sums of a thread are in registers.
        expectFits(machine, found.threads, found.ctasPerSM,
                   found.getSharedBytes(),
                   found.rows * found.columns * found.elementBytes / 4);
      }
      // Complete plans stay, and so do dispatches.
      auto again = planAll(example, name, text);
      ASSERT_EQ(getReason(again), "none");
      EXPECT_EQ(std::get<Attribute>(again), all);
    }
}

TEST_F(PairwisePlanner, MatrixInstructionsWhereTheyArePossible) {
  auto getProducts = [&](const PairExample &example) {
    return std::get<GPUPlanAttr>(plan(example, "h200")).get("products");
  };
  EXPECT_GT(getProducts(kDistances), 0);
  EXPECT_GT(getProducts(kHalf), 0);
  // Sums of magnitudes are no products.
  EXPECT_EQ(getProducts(kSums), 0);
}

TEST_F(PairwisePlanner, ManyValuesByMatrixInstructions) {
  auto getProducts = [&](const PairExample &example, StringRef machine) {
    return std::get<GPUPlanAttr>(plan(example, machine)).get("value_products");
  };
  for (const char *machine : {"h200", "sm_80"})
    EXPECT_EQ(getProducts(kBlock, machine), 3) << machine;
  // A multiply-add for one column is less than to split elements.
  PairExample single = kBlock;
  single.values = 1;
  EXPECT_EQ(getProducts(single, "h200"), 0);
}

TEST_F(PairwisePlanner, WarpgroupsWhereThereAreSuch) {
  auto usesWgmma = [&](const PairExample &example, StringRef machine) {
    return std::get<GPUPlanAttr>(plan(example, machine)).get("wgmma");
  };
  for (const PairExample &example : {kDistances, kHalf, kBlock}) {
    EXPECT_EQ(usesWgmma(example, "h200"), 1) << example.element;
    EXPECT_EQ(usesWgmma(example, "sm_80"), 0) << example.element;
  }
}

TEST_F(PairwisePlanner, HonoursWhatIsGiven) {
  for (const char *fields : {"ctas_per_sm = 1", "stages = 2", "products = 0"})
    for (const char *name : kMachines) {
      SCOPED_TRACE(std::string(fields) + " " + name);
      std::string text = getPlanText("pairwise", fields);
      auto planned = plan(kDistances, name, text);
      ASSERT_EQ(getReason(planned), "none");
      EXPECT_EQ(
          findContradiction(cast<GPUPlanAttr>(parseAttribute(text, &context)),
                            std::get<GPUPlanAttr>(planned)),
          "");
    }
}

TEST_F(PairwisePlanner, SaysWhichFieldIsImpossible) {
  for (const char *fields : {"ctas_per_sm = 33", "stages = 1000"}) {
    SCOPED_TRACE(fields);
    std::string text = getPlanText("pairwise", fields);
    std::string reason = getAttributeReason(text);
    if (reason == "none")
      reason = getReason(plan(kDistances, "l4", text));
    expectNames(reason, fields);
  }
  EXPECT_NE(
      getReason(plan(kSums, "h200", getPlanText("pairwise", "products = 3"))),
      "none");
}
