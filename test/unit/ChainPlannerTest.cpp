//===- ChainPlannerTest.cpp - Plans of chains of sparse factors -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/ChainPlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/ChainPlan.h"

using namespace mlir;
using namespace mlir::kron;

static const ChainExample kHalves{"f16", 25088, 2, 192, 48, 192};

TEST_F(GPUPlanners, ChainPlansAreReadAndFit) {
  const ChainExample examples[] = {kHalves,
                                   {"bf16", -1, 4, 64, 32, 64},
                                   {"f32", 25088, 2, 64, 32, 64},
                                   {"f32", -1, 3, 7, 5, 9}};
  for (const ChainExample &example : examples) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      GPUPlanAttr plan = getPlan(planChain(fused, machine));
      ASSERT_TRUE(plan);
      expectSamePrinted(plan);
      auto read = readChainPlan(fused, plan);
      ASSERT_EQ(getReason(read), "none");
      auto &found = std::get<ChainPlan>(read);
      EXPECT_EQ(writeChainPlan(&context, found), plan);
      int64_t sums = 0;
      for (const SparsePlan &step : found.steps) {
        EXPECT_EQ(step.getThreads(), found.getThreads());
        EXPECT_EQ(found.rows % step.getRows(), 0);
        sums = std::max(sums, step.getSums());
      }
      expectFits(machine, found.getThreads(), found.ctasPerSM,
                 found.getSharedBytes(), 4 * sums);
      fused.setPlanAttr(plan);
      EXPECT_EQ(getPlan(planChain(fused, machine)), plan);
    }
  }
}

TEST_F(GPUPlanners, ChainShrinksWithSharedMemory) {
  auto getBytes = [&](StringRef name) {
    FusedOp fused = build(kHalves);
    GPUPlanAttr plan = getPlan(planChain(fused, getMachine(name)));
    auto found = std::get<ChainPlan>(readChainPlan(fused, plan));
    return found.getSharedBytes() * found.ctasPerSM;
  };
  EXPECT_LT(getBytes("l4"), getBytes("h200"));
  // No block of 16 rows of 400 KiB and their factors.
  EXPECT_EQ(getReason(planChain(build(ChainExample{"f32", 64, 16, 64, 400, 64}),
                                getMachine("l4"))),
            "a block of rows does not fit in shared memory");
}

TEST_F(GPUPlanners, ChainHonoursWhatIsGiven) {
  expectHonours<planChain>("chain", kHalves,
                           {"tile = 16", "tile = 32", "ctas_per_sm = 2",
                            "warp_groups = 1", "keeps_factor = 0",
                            "threads = 128", "regions = [2]"});
}

TEST_F(GPUPlanners, ChainSaysWhichFieldIsImpossible) {
  expectRefuses<planChain>("chain", kHalves,
                           {"tile = 17", "ctas_per_sm = 33", "threads = 96",
                            "warp_groups = 3", "stages = 1000"});
}

TEST_F(GPUPlanners, ChainReaderRefusesWhatIsNoPlan) {
  FusedOp fused = build(kHalves);
  GPUPlanAttr plan = getPlan(planChain(fused, getMachine("h200")));
  expectReaderRefuses<readChainPlan>(fused, plan,
                                     {{"tile", 17},
                                      {"ctas_per_sm", 65},
                                      {"warp_groups", 16},
                                      {"warp_groups", 3}});
  // In a step, which the reason names too.
  auto steps = cast<ArrayAttr>(plan.getFields().get("steps"));
  auto withStep = [&](StringRef name, int64_t value) {
    NamedAttrList fields(cast<DictionaryAttr>(steps[1]));
    fields.set(name, Builder(&context).getI64IntegerAttr(value));
    return plan.with(
        "steps",
        ArrayAttr::get(&context, {steps[0], fields.getDictionary(&context)}));
  };
  for (auto [name, value] :
       {std::pair("k_step", 3), std::pair("lane_chunks", 5),
        std::pair("wgmma", 1), std::pair("chunk_bytes", 48),
        std::pair("skinny_m", 3), std::pair("row_tiles", 7),
        std::pair("row_warps", 3), std::pair("result_warps", 16)}) {
    std::string reason = getReason(readChainPlan(fused, withStep(name, value)));
    EXPECT_TRUE(StringRef(reason).starts_with("step 1: ")) << reason;
    expectNames(reason, name + (" = " + std::to_string(value)));
  }
  EXPECT_EQ(getReason(readChainPlan(
                fused, plan.with("steps", ArrayAttr::get(&context, steps[0])))),
            "expects as many steps as factors, 2, but got 1");
  EXPECT_EQ(
      getReason(planChain(
          build(Example{"f16", {64, 8, 192}, {2}, {48}, {1}}, getText(plan)),
          getMachine("h200"))),
      "axes are not regrouped between factors");
}

TEST_F(GPUPlanners, ChainIsWorthwhileForManyRows) {
  FusedOp fused = build(kHalves);
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  GPUMachine machine = getMachine("h200");
  bool isSlow = getSparseChainReason(products, machine).has_value();
  EXPECT_EQ(estimateSparseChainGain(products, machine) > 0, !isSlow);
  EXPECT_FALSE(isSlow);
  int64_t apart = getSparseChainMostRowsApart(products, machine);
  EXPECT_LT(apart, kHalves.rows);
}
