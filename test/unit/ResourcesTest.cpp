//===- ResourcesTest.cpp - What the resources of a GPU take -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/Resources.h"
#include "PlannerTest.h"

using namespace mlir;
using namespace mlir::kron;

/// Calls `check` with each machine of the tests and its resources.
template <typename Check> static void forEachMachine(Check check) {
  for (const char *name : kMachines) {
    SCOPED_TRACE(name);
    GPUMachine machine = llvm::cantFail(parseGPUMachine(name));
    check(machine, GPUResources(machine));
  }
}

static double getClocks(const GPUMachine &machine) {
  return machine.clockMHz * 1e6 * double(machine.numSMs);
}

TEST(Resources, MemoryMovesBytesAtTheCopyRate) {
  forEachMachine([](const GPUMachine &machine, GPUResources resources) {
    EXPECT_DOUBLE_EQ(resources.getMemorySeconds(machine.copyBytesPerSecond), 1);
    EXPECT_DOUBLE_EQ(
        resources.getMemorySeconds(machine.copyBytesPerSecond, 0.5), 2);
    EXPECT_DOUBLE_EQ(resources.getLaunchSeconds() +
                         resources.getMemorySeconds(1 << 20),
                     machine.getCopySeconds(1 << 20));
  });
}

TEST(Resources, SegmentsOfMemoryAreSectorsAndLines) {
  SegmentShares shares{0.9, 0.6};
  EXPECT_EQ(getSegmentShare(4096, shares), 1);
  EXPECT_EQ(getSegmentShare(kLineBytes, shares), 1);
  EXPECT_EQ(getSegmentShare(kLineBytes - 4, shares), 0.9);
  EXPECT_EQ(getSegmentShare(kLineBytes / 2, shares), 0.9);
  EXPECT_EQ(getSegmentShare(kLineBytes / 2 - 4, shares), 0.6);
  EXPECT_EQ(getSegmentShare(kSectorBytes, shares), 0.6);
  // Of a sector, a quarter is of use.
  EXPECT_DOUBLE_EQ(getSegmentShare(kSectorBytes / 4, shares), 0.15);
}

TEST(Resources, TheSecondLevelCacheFollowsSMsAndClock) {
  forEachMachine([](const GPUMachine &machine, GPUResources resources) {
    double bytes = 30.6 * getClocks(machine);
    EXPECT_DOUBLE_EQ(resources.getCacheSeconds(bytes), 1);
    EXPECT_DOUBLE_EQ(resources.getCacheSeconds(bytes, 0.25), 4);
    // One SM reads its part of them in as long.
    EXPECT_DOUBLE_EQ(
        resources.getSMSeconds(resources.getCacheClocks(30.6 * 1000)),
        1000 / (machine.clockMHz * 1e6));
    // It is faster than memory everywhere.
    EXPECT_LT(resources.getCacheSeconds(1e9, 0.687),
              resources.getMemorySeconds(1e9));
  });
}

TEST(Resources, MemoryDoesNotSlowTheCacheDown) {
  GPUMachine slow = llvm::cantFail(parseGPUMachine("h200:copy=1000"));
  GPUMachine fast = llvm::cantFail(parseGPUMachine("h200"));
  EXPECT_EQ(GPUResources(slow).getCacheSeconds(1e9),
            GPUResources(fast).getCacheSeconds(1e9));
  EXPECT_GT(GPUResources(slow).getMemorySeconds(1e9),
            GPUResources(fast).getMemorySeconds(1e9));
}

TEST(Resources, SharedMemoryHas128BytesPerClock) {
  forEachMachine([](const GPUMachine &machine, GPUResources resources) {
    EXPECT_DOUBLE_EQ(resources.getSharedSeconds(128 * getClocks(machine)), 1);
  });
}

TEST(Resources, SchedulersIssueFourWarpInstructionsPerClock) {
  forEachMachine([](const GPUMachine &machine, GPUResources resources) {
    EXPECT_DOUBLE_EQ(resources.getIssueSeconds(4 * 32 * getClocks(machine)), 1);
    EXPECT_DOUBLE_EQ(resources.getSpecialSeconds(16 * getClocks(machine)), 1);
    EXPECT_DOUBLE_EQ(resources.getClockSeconds(getClocks(machine)), 1);
    EXPECT_DOUBLE_EQ(resources.getSMSeconds(machine.clockMHz * 1e6), 1);
  });
}

TEST(Resources, UnitsMultiplyAtTheirRates) {
  forEachMachine([](const GPUMachine &machine, GPUResources resources) {
    for (auto [unit, rate] : {std::pair(MathUnit::F32, machine.ffma),
                              std::pair(MathUnit::F64, machine.dfma),
                              std::pair(MathUnit::MmaF64, machine.dmma),
                              std::pair(MathUnit::MmaTF32, machine.tf32Mma),
                              std::pair(MathUnit::MmaF16, machine.f16Mma)}) {
      EXPECT_DOUBLE_EQ(resources.getMultiplySeconds(rate / 2, {unit}), 1);
      EXPECT_DOUBLE_EQ(resources.getMultiplySeconds(rate / 2, {unit, 3}, 0.5),
                       6);
      EXPECT_DOUBLE_EQ(resources.getMultiplyAddsPerClock({unit, 2}),
                       rate / 4 / getClocks(machine));
    }
  });
  for (const char *name : kHopperMachines) {
    GPUMachine machine = llvm::cantFail(parseGPUMachine(name));
    GPUResources resources(machine);
    EXPECT_DOUBLE_EQ(resources.getMultiplySeconds(machine.tf32Wgmma / 2,
                                                  {MathUnit::WgmmaTF32}),
                     1);
    EXPECT_DOUBLE_EQ(resources.getMultiplySeconds(machine.f16Wgmma / 2,
                                                  {MathUnit::WgmmaF16}),
                     1);
  }
}

TEST(Resources, MatricesOfF32TakeSeveralProducts) {
  auto expect = [](Multiplication found, MathUnit unit, double products) {
    EXPECT_EQ(found.unit, unit);
    EXPECT_EQ(found.products, products);
  };
  for (F32Products each : {F32Products::Single, F32Products::Split}) {
    expect(getMatrixMultiplication(8, each, false), MathUnit::MmaF64, 1);
    expect(getMatrixMultiplication(2, each, false), MathUnit::MmaF16, 1);
    expect(getMatrixMultiplication(2, each, true), MathUnit::WgmmaF16, 1);
  }
  expect(getMatrixMultiplication(4, F32Products::Single, false),
         MathUnit::MmaTF32, 1);
  expect(getMatrixMultiplication(4, F32Products::Split, true),
         MathUnit::WgmmaTF32, 3);
  expect(getMatrixMultiplication(4, F32Products::SplitBF16, false),
         MathUnit::MmaTF32, 2);
}

TEST(Resources, SingleElementsTakeWhatTheirArithmeticDoes) {
  MLIRContext context;
  Builder b(&context);
  forEachMachine([&](const GPUMachine &machine, GPUResources resources) {
    auto getSeconds = [&](Type type) {
      return resources.getMultiplySeconds(
          1e12, getScalarMultiplication(type, machine));
    };
    double f32 = getSeconds(b.getF32Type());
    EXPECT_DOUBLE_EQ(f32, 2e12 / machine.ffma);
    EXPECT_EQ(getSeconds(b.getF16Type()), f32);
    EXPECT_DOUBLE_EQ(getSeconds(b.getF64Type()), 2e12 / machine.dfma);
    EXPECT_DOUBLE_EQ(getSeconds(ComplexType::get(b.getF32Type())), 4 * f32);
    EXPECT_DOUBLE_EQ(getSeconds(ComplexType::get(b.getF64Type())),
                     4 * getSeconds(b.getF64Type()));
    EXPECT_DOUBLE_EQ(getSeconds(b.getI32Type()), 2 * f32);
    EXPECT_DOUBLE_EQ(getSeconds(b.getI64Type()), 10 * f32);
  });
}

TEST(Resources, LaunchesTakeTime) {
  forEachMachine([](const GPUMachine &machine, GPUResources resources) {
    EXPECT_EQ(resources.getLaunchSeconds(), machine.launchSeconds);
    EXPECT_EQ(resources.getLaunchSeconds(3), 3 * machine.launchSeconds);
  });
}

TEST(Resources, TilesComeInWaves) {
  forEachMachine([](const GPUMachine &machine, GPUResources) {
    double sms = machine.numSMs;
    EXPECT_EQ(getWaves(1, sms), 1);
    EXPECT_EQ(getWaves(2 * sms, sms), 2);
    EXPECT_EQ(getWaves(2 * sms + 1, sms), 3);
    EXPECT_DOUBLE_EQ(getWaveFactor(2 * sms, sms), 1);
    // One tile keeps a single SM busy.
    EXPECT_DOUBLE_EQ(getWaveFactor(1, sms), sms);
    EXPECT_DOUBLE_EQ(getWaveFactor(sms + 1, sms), 2 * sms / (sms + 1));
    // Of tiles that are all there at once, an SM has one or two; of many more,
    // as many as the others.
    EXPECT_DOUBLE_EQ(getMostTiles(1, sms, 4 * sms), 1);
    EXPECT_DOUBLE_EQ(getMostTiles(sms + 1, sms, 4 * sms), 2);
    EXPECT_DOUBLE_EQ(getMostTiles(10 * sms + 1, sms, 4 * sms), 10 + 1 / sms);
  });
}

TEST(Resources, TheLongerWorkHidesTheShorter) {
  EXPECT_EQ(getOverlapSeconds(3, 2, 0), 3);
  EXPECT_EQ(getOverlapSeconds(2, 3, 0.5), 4);
  EXPECT_EQ(getOverlapSeconds(2, 3, 1), 5);
}

TEST(Resources, LatencyShowsWhereLittleIsUnderWay) {
  EXPECT_EQ(getWaitFactor(100, 100), 2);
  EXPECT_EQ(getWaitFactor(400, 100), 1.25);
  EXPECT_EQ(getIdleFactor(2, 8), 2);
  EXPECT_EQ(getIdleFactor(16, 8), 1);
  EXPECT_EQ(getUnderWayFactor(0, 1024, 1.5), 1.5);
  EXPECT_EQ(getUnderWayFactor(512, 1024, 1.5), 1.25);
  EXPECT_EQ(getUnderWayFactor(2048, 1024, 1.5), 1);
}

TEST(Resources, StagesBringWhatShouldBeUnderWay) {
  EXPECT_EQ(getStagesUnderWay(1024, 4096, /*ahead=*/1, 2, 8), 5);
  EXPECT_EQ(getStagesUnderWay(1024, 4096, /*ahead=*/2, 3, 8), 6);
  EXPECT_EQ(getStagesUnderWay(1024, 1, /*ahead=*/1, 2, 8), 2);
  EXPECT_EQ(getStagesUnderWay(1024, 1 << 20, /*ahead=*/1, 2, 8), 8);
}
