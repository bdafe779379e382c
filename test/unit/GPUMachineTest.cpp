//===- GPUMachineTest.cpp - Descriptions of GPUs ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPUMachine.h"
#include "gtest/gtest.h"

using namespace mlir::kron;

static GPUMachine get(llvm::StringRef name) {
  llvm::Expected<GPUMachine> machine = parseGPUMachine(name);
  if (!machine) {
    ADD_FAILURE() << llvm::toString(machine.takeError());
    return {};
  }
  return *machine;
}

static std::string getError(llvm::StringRef name) {
  llvm::Expected<GPUMachine> machine = parseGPUMachine(name);
  return machine ? "none" : llvm::toString(machine.takeError());
}

TEST(GPUMachine, EverySkuIsComplete) {
  EXPECT_GE(getGPUNames().size(), 16u);
  for (llvm::StringRef name : getGPUNames()) {
    SCOPED_TRACE(name.str());
    GPUMachine machine = get(name);
    EXPECT_EQ(machine.name, name);
    EXPECT_EQ(machine.arch.find("sm_"), 0u);
    EXPECT_GE(machine.computeCapability, 80);
    EXPECT_GT(machine.numSMs, 0);
    EXPECT_LT(machine.sharedBytesPerCTA, machine.sharedBytesPerSM);
    EXPECT_GT(machine.l2Bytes, 1 << 20);
    // Between the slowest memory and the fastest, in the order of precision.
    EXPECT_GT(machine.copyBytesPerSecond, 1e11);
    EXPECT_LT(machine.copyBytesPerSecond, 1e13);
    EXPECT_LT(machine.dfma, machine.ffma);
    EXPECT_GE(machine.tf32Mma, machine.ffma * 0.9);
    EXPECT_GT(machine.f16Mma, machine.tf32Mma);
    EXPECT_EQ(machine.hasWgmma, machine.arch == "sm_90a");
    EXPECT_EQ(machine.hasWgmma, machine.tf32Wgmma > 0);
  }
}

TEST(GPUMachine, ArchitectureStandsForItsFirstSku) {
  GPUMachine h200 = get("h200"), hopper = get("sm_90a");
  EXPECT_EQ(hopper.arch, "sm_90a");
  EXPECT_TRUE(hopper.isMeasured);
  EXPECT_EQ(hopper.copyBytesPerSecond, h200.copyBytesPerSecond);
  EXPECT_EQ(hopper.f16Wgmma, h200.f16Wgmma);
  EXPECT_FALSE(get("sm_90").hasWgmma);
  EXPECT_EQ(get("sm_80").numSMs, 108);
  EXPECT_EQ(get("sm_86").sharedBytesPerSM, 100 * 1024);
  // Family names, and capabilities that no SKU of the table has.
  EXPECT_EQ(get("sm_100f").arch, "sm_100f");
  EXPECT_EQ(get("sm_100f").numSMs, get("b200").numSMs);
  EXPECT_EQ(get("sm_87").sharedBytesPerCTA, 99 * 1024);
  EXPECT_EQ(get("sm_110").maxThreadsPerSM, 1536);
}

TEST(GPUMachine, VariantsOfOneChipDifferInWhatDiffers) {
  GPUMachine sxm = get("h100-sxm"), pcie = get("h100-pcie"), h200 = get("h200");
  EXPECT_FALSE(sxm.isMeasured);
  EXPECT_LT(sxm.copyBytesPerSecond, h200.copyBytesPerSecond);
  EXPECT_LT(pcie.copyBytesPerSecond, sxm.copyBytesPerSecond);
  EXPECT_EQ(sxm.tf32Wgmma, h200.tf32Wgmma);
  EXPECT_NEAR(pcie.tf32Wgmma / h200.tf32Wgmma, 114 * 1755. / (132 * 1980.),
              1e-9);
  EXPECT_EQ(pcie.sharedBytesPerCTA, h200.sharedBytesPerCTA);
}

TEST(GPUMachine, KeysReplaceWhatTheySay) {
  GPUMachine part = get("h200:sms=66:copy=2000:l2=25:launch=3.5");
  GPUMachine whole = get("h200");
  EXPECT_EQ(part.name, "h200:sms=66:copy=2000:l2=25:launch=3.5");
  EXPECT_EQ(part.arch, "sm_90a");
  EXPECT_EQ(part.numSMs, 66);
  EXPECT_EQ(part.copyBytesPerSecond, 2e12);
  EXPECT_EQ(part.l2Bytes, 25 << 20);
  EXPECT_DOUBLE_EQ(part.launchSeconds, 3.5e-6);
  EXPECT_NEAR(part.ffma, whole.ffma / 2, 1);
  EXPECT_NEAR(part.tf32Wgmma, whole.tf32Wgmma / 2, 1);
  EXPECT_NEAR(get("h200:clock=990").dmma, whole.dmma / 2, 1);
}

TEST(GPUMachine, RatesInANameReplaceThoseOfTheTable) {
  GPUMachine table = get("h100-sxm");
  GPUMachine own = get("h100-sxm:sms=66:ffma=30:dfma=15:dmma=31:tf32mma=150:"
                       "tf32wgmma=240:f16mma=300:f16wgmma=480:calibrated");
  EXPECT_TRUE(own.isCalibrated);
  EXPECT_TRUE(own.isMeasured);
  EXPECT_FALSE(table.isCalibrated);
  EXPECT_EQ(own.ffma, 30e12);
  EXPECT_EQ(own.dfma, 15e12);
  EXPECT_EQ(own.dmma, 31e12);
  EXPECT_EQ(own.tf32Mma, 150e12);
  EXPECT_EQ(own.tf32Wgmma, 240e12);
  EXPECT_EQ(own.f16Mma, 300e12);
  EXPECT_EQ(own.f16Wgmma, 480e12);
  EXPECT_EQ(own.copyBytesPerSecond, table.copyBytesPerSecond);
  // Instructions that it lacks have no rate.
  EXPECT_EQ(get("a100-80:tf32wgmma=240").tf32Wgmma, 0);
  EXPECT_EQ(get("h100-sxm:ffma=30").tf32Mma, table.tf32Mma);
}

TEST(GPUMachine, ErrorsSayWhatWasExpected) {
  EXPECT_EQ(getError("sm_75"), "expects a GPU architecture of sm_80 or newer, "
                               "e.g. sm_90a, but got 'sm_75'");
  EXPECT_EQ(getError("sm_95"),
            "expects one of the GPU architectures sm_80, sm_86, sm_87, sm_88, "
            "sm_89, sm_90, sm_100, sm_101, sm_103, sm_110, sm_120, sm_121, but "
            "got 'sm_95'");
  EXPECT_EQ(getError("sm_130a").find("expects one of the GPU"), 0u);
  EXPECT_EQ(getError("sm_80a"), "expects 'a' behind architectures from sm_90 "
                                "on, but got 'sm_80a'");
  EXPECT_EQ(getError("sm_90f"), "expects 'f' behind architectures from sm_100 "
                                "on, but got 'sm_90f'");
  for (const char *name : {"", "h20", "sm_", "sm_90x", "sm_9000", "H200", "90"})
    EXPECT_NE(getError(name).find(", h200, "), std::string::npos) << name;
  EXPECT_EQ(getError("h200:smx=3"),
            "expects keys of GPU 'h200:smx=3' to be sms, clock, l2, copy, "
            "launch, ffma, dfma, dmma, tf32mma, tf32wgmma, f16mma, f16wgmma or "
            "calibrated, but got 'smx'");
  for (const char *value : {"", "0", "-1", "nan", "inf", "1e7", "3x"})
    EXPECT_EQ(getError(std::string("h200:copy=") + value),
              std::string("expects 'copy' of GPU 'h200:copy=") + value +
                  "' to be a number in (0, 1000000], but got '" + value + "'");
}

TEST(GPUMachine, LimitsOfResidency) {
  GPUMachine h200 = get("h200");
  EXPECT_EQ(h200.getSharedBytes(1), 227 * 1024);
  EXPECT_EQ(h200.getSharedBytes(2), 113 * 1024);
  EXPECT_EQ(h200.getSharedBytes(0), 227 * 1024);
  EXPECT_EQ(h200.getRegistersPerThread(512, 1), 128);
  EXPECT_EQ(h200.getRegistersPerThread(128, 1), 255);
  EXPECT_EQ(h200.getRegistersPerThread(384, 1), 168);
  EXPECT_EQ(get("rtx4090").getSharedBytes(1), 99 * 1024);
}

TEST(GPUMachine, DriversNamesAreRecognised) {
  auto identify = [](const char *model, int64_t capability, int64_t numSMs,
                     int64_t clockMHz, int64_t gigabytes) {
    return identifyGPU({model, capability, numSMs, clockMHz, gigabytes << 30,
                        50 << 20, 2619, 5120});
  };
  EXPECT_EQ(identify("NVIDIA H200", 90, 132, 1980, 140), "h200");
  EXPECT_EQ(identify("NVIDIA H100 80GB HBM3", 90, 132, 1980, 79), "h100-sxm");
  EXPECT_EQ(identify("NVIDIA H100 PCIe", 90, 114, 1755, 79), "h100-pcie");
  EXPECT_EQ(identify("NVIDIA H100 NVL", 90, 132, 1785, 93), "h100-nvl");
  EXPECT_EQ(identify("NVIDIA GH200 480GB", 90, 132, 1980, 95), "gh200");
  EXPECT_EQ(identify("NVIDIA A100-SXM4-40GB", 80, 108, 1410, 39), "a100-40");
  EXPECT_EQ(identify("NVIDIA A100 80GB PCIe", 80, 108, 1410, 79), "a100-80");
  EXPECT_EQ(identify("NVIDIA L40S", 89, 142, 2520, 44), "l40s");
  EXPECT_EQ(identify("NVIDIA GeForce RTX 4090", 89, 128, 2520, 23), "rtx4090");
  EXPECT_EQ(identify("NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, 188,
                     2617, 95),
            "rtxpro6000");
  // Part of a GPU, and one that runs at another clock.
  EXPECT_EQ(identify("NVIDIA H200 MIG 3g.71gb", 90, 60, 1980, 70),
            "h200:sms=60");
  EXPECT_EQ(identify("NVIDIA H200", 90, 132, 1785, 140), "h200:clock=1785");
  // A variant with more memory, which is faster: as the driver says.
  EXPECT_EQ(identify("NVIDIA GH200 144G HBM3e", 90, 132, 1980, 140),
            "sm_90a:sms=132:clock=1980:copy=2883:l2=50");
  // Not in the table: by its architecture, with what the driver tells.
  EXPECT_EQ(identify("NVIDIA A40", 86, 84, 1740, 44),
            "sm_86:sms=84:clock=1740:copy=2883:l2=50");
  // Newer than what is known: code for all that come behind the newest.
  EXPECT_EQ(identify("Thing", 130, 84, 1740, 44),
            "sm_121:sms=84:clock=1740:copy=2883:l2=50");
  EXPECT_EQ(identify("Thing", 95, 84, 1740, 44),
            "sm_90:sms=84:clock=1740:copy=2883:l2=50");
  for (const char *model : {"NVIDIA A40", "NVIDIA H100 PCIe", "Thing"})
    EXPECT_EQ(getError(identify(model, 90, 7, 1000, 1)), "none");
}
