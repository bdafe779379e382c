//===- QuantizePlannerTest.cpp - Plans of quantized rows --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PlannerTest.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Plan/GPU/QuantizePlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// Rows of `length` elements.
struct RowsExample {
  std::string element;
  int64_t rows, length;
};
} // namespace

static std::string getProgram(const RowsExample &example, StringRef plan) {
  SmallVector<int64_t> sizes{example.rows, example.length};
  std::string array = "memref<" + getShape(sizes, example.element) + ">",
              bytes = "memref<" + getShape(sizes, "i8") + ">",
              scales = "memref<" +
                       getShape({example.rows},
                                example.element == "f64" ? "f64" : "f32") +
                       ">";
  return "func.func @f(%x: " + array + ", %q: " + bytes + ", %s: " + scales +
         ") {\n kron.quantize ins(%x : " + array + ") outs(%q, %s : " + bytes +
         ", " + scales + ")" +
         (plan.empty() ? "" : (" {plan = " + plan + "}").str()) +
         "\n return\n}\n";
}

namespace {
class QuantizePlanner : public GPUPlanners {
protected:
  /// The plan that completes `given`; or the error.
  std::variant<GPUPlanAttr, std::string>
  plan(const RowsExample &example, StringRef machine, StringRef given = "") {
    auto op = parse<QuantizeOp>(getProgram(example, given));
    std::string reason =
        catchError([&] { (void)planForGPU(op, getMachine(machine)); });
    if (reason != "none")
      return reason;
    return op.getPlanAttr();
  }
};
} // namespace

TEST_F(QuantizePlanner, PlansAreReadAndFit) {
  for (const RowsExample &example : {RowsExample{"f16", 25088, 384},
                                     {"f32", 1, 5},
                                     {"bf16", -1, 4096},
                                     {"f32", 1000, 65536}})
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getShape({example.rows, example.length},
                                          example.element)));
      auto planned = plan(example, name);
      ASSERT_EQ(getReason(planned), "none");
      auto chosen = std::get<GPUPlanAttr>(planned);
      ASSERT_TRUE(chosen);
      EXPECT_TRUE(chosen.isComplete());
      expectSameWritten<QuantizeChoices>(chosen);
      GPUMachine machine = getMachine(name);
      auto op = parse<QuantizeOp>(getProgram(example, ""));
      auto read = readQuantizePlan(op, chosen, machine);
      ASSERT_EQ(getReason(read), "none");
      auto &found = std::get<QuantizePlan>(read);
      EXPECT_EQ(found.length, example.length);
      EXPECT_EQ(found.threads % found.rowThreads, 0);
      // Four registers for each segment that a thread keeps.
      expectFits(machine, found.threads, found.ctasPerSM, 0,
                 4 * found.keptSegments);
      // Complete plans stay.
      auto again = plan(example, name, getText(chosen));
      ASSERT_EQ(getReason(again), "none");
      EXPECT_EQ(std::get<GPUPlanAttr>(again), chosen);
    }
}

TEST_F(QuantizePlanner, LongerRowsHaveMoreThreads) {
  auto getThreads = [&](int64_t length) {
    return std::get<GPUPlanAttr>(plan({"f16", 25088, length}, "h200"))
        .get("row_threads");
  };
  EXPECT_EQ(getThreads(8), 1);
  EXPECT_LT(getThreads(64), getThreads(65536));
}

TEST_F(QuantizePlanner, HonoursWhatIsGiven) {
  for (const char *fields :
       {"threads = 128", "threads = 1024", "ctas_per_sm = 1", "row_threads = 4",
        "row_threads = 64", "kept_segments = 1"})
    for (const char *name : kMachines) {
      SCOPED_TRACE(std::string(fields) + " " + name);
      std::string text = getPlanText("quantize", fields);
      auto planned = plan({"f16", 25088, 384}, name, text);
      ASSERT_EQ(getReason(planned), "none");
      EXPECT_NE(getText(std::get<GPUPlanAttr>(planned)).find(fields),
                std::string::npos);
    }
}

TEST_F(QuantizePlanner, SaysWhichFieldIsImpossible) {
  for (const char *fields : {"threads = 2048", "row_threads = 3",
                             "row_threads = 2048", "ctas_per_sm = 33"}) {
    SCOPED_TRACE(fields);
    std::string text = getPlanText("quantize", fields);
    std::string reason = getAttributeReason(text);
    if (reason == "none")
      reason = getReason(plan({"f16", 25088, 384}, "l4", text));
    expectNames(reason, fields);
  }
}
