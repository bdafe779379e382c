//===- CalibrationTest.cpp - Files of measured rates ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/Calibration.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir::kron;

static Calibration getExample() {
  Calibration calibration;
  calibration.key = {true, "h200:sms=60", "NVIDIA H200 MIG 3g.71gb",
                     60,   1980,          70};
  double rate = 1.23456;
  for (const RateKind &kind : getGPURateKinds())
    calibration.set(kind.key, rate *= 2);
  return calibration;
}

static std::string getError(llvm::StringRef text) {
  auto calibration = parseCalibration(text);
  return calibration ? "none" : llvm::toString(calibration.takeError());
}

static std::string replace(std::string text, llvm::StringRef from,
                           llvm::StringRef to) {
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from.str();
  return text.replace(place, from.size(), to);
}

TEST(Calibration, WhatIsPrintedIsRead) {
  Calibration written = getExample();
  auto read = parseCalibration(written.print());
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->key, written.key);
  EXPECT_EQ(read->rates, written.rates);
  EXPECT_EQ(read->find("copy"), 2.469);
  EXPECT_EQ(read->find("none"), 0);
  EXPECT_EQ(read->getGPUName(), written.getGPUName());
}

TEST(Calibration, NamesHaveTheRates) {
  std::string name = getExample().getGPUName();
  EXPECT_EQ(name, "h200:sms=60:copy=2.469:launch=9.876:ffma=19.75:dfma=39.51:"
                  "dmma=79.01:tf32mma=158:tf32wgmma=316:f16mma=632.1:"
                  "f16wgmma=1264:calibrated");
  auto machine = parseGPUMachine(name);
  ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
  EXPECT_EQ(machine->numSMs, 60);
  for (const RateKind &kind : getGPURateKinds())
    if (kind.key != "l2copy")
      EXPECT_NEAR(getRate(*machine, kind.key), getExample().find(kind.key),
                  1e-9)
          << kind.key.str();
  // What was measured stands for what the driver tells of an unknown GPU.
  Calibration unknown = getExample();
  unknown.key.machine = "sm_86:sms=84:clock=1740:copy=2883:l2=50";
  EXPECT_EQ(unknown.getGPUName().find(
                "sm_86:sms=84:clock=1740:l2=50:copy=2.469:launch="),
            0u);
}

TEST(Calibration, ProcessorsTakeWhatWasMeasured) {
  Processor processor;
  processor.cpu = "znver5";
  processor.vectorBits = 512;
  processor.rates.gigahertz = 4;
  Calibration calibration;
  calibration.key = getCalibrationKey(processor);
  EXPECT_EQ(calibration.key.getFileName(), "cpu-znver5-1.json");
  calibration.set("ffma", 256);
  setRates(processor, calibration);
  // 64 operations in a cycle, two for each of 16 lanes.
  EXPECT_EQ(processor.rates.wideFmas, 2);
  EXPECT_EQ(processor.rates.copyGigabytes, ProcessorRates().copyGigabytes);
  calibration.set("copy", 50);
  calibration.set("l2copy", 200);
  processor.vectorBits = 256;
  processor.rates.wideFmas = 1;
  setRates(processor, calibration);
  EXPECT_EQ(processor.rates.copyGigabytes, 50);
  EXPECT_EQ(processor.rates.l2BytesPerCycle, 50);
  EXPECT_EQ(processor.rates.vectorFmas, 4);
  EXPECT_EQ(processor.rates.wideFmas, 1);
  // Wider vectors than kernels may use were not measured for these.
  processor.isLimited = true;
  EXPECT_EQ(getCalibrationKey(processor).getFileName(),
            "cpu-znver5-x86-64-v3-1.json");
}

TEST(Calibration, KeysTellMachinesApart) {
  CalibrationKey key = getExample().key;
  EXPECT_EQ(key.getFileName(), "gpu-NVIDIA-H200-MIG-3g.71gb-60-1980-70.json");
  CalibrationKey processor{false, "znver5", "", 16, 0, 0};
  EXPECT_EQ(processor.getFileName(), "cpu-znver5-16.json");
  for (auto change :
       {+[](CalibrationKey &other) { other.isGPU = false; },
        +[](CalibrationKey &other) { other.machine = "h200"; },
        +[](CalibrationKey &other) { other.model = "NVIDIA H200"; },
        +[](CalibrationKey &other) { other.numUnits = 132; },
        +[](CalibrationKey &other) { other.clockMHz = 1785; },
        +[](CalibrationKey &other) { other.memoryGiB = 140; }}) {
    CalibrationKey other = key;
    EXPECT_TRUE(other == key);
    change(other);
    EXPECT_FALSE(other == key);
  }
}

TEST(Calibration, DamagedFilesAreRefused) {
  std::string good = getExample().print();
  EXPECT_EQ(getError(good), "none");
  for (size_t length = 0; length + 2 < good.size(); length += 17)
    EXPECT_NE(getError(llvm::StringRef(good).take_front(length)), "none");
  EXPECT_EQ(getError("[]"),
            "expects a calibration of version 1, but got something else");
  EXPECT_EQ(getError(replace(good, "\"kron\": 1", "\"kron\": 2")),
            "expects a calibration of version 1, but got 2");
  EXPECT_EQ(getError(replace(good, "\"gpu\"", "\"tpu\"")),
            "expects 'kind' to be gpu or cpu, but got 'tpu'");
  EXPECT_EQ(getError(replace(good, "units", "sms")),
            "expects the fields machine, model, units, clock_mhz, memory_gib "
            "and rates");
  for (const char *value : {"0", "-1", "1e7", "\"4\"", "null"})
    EXPECT_EQ(
        getError(replace(good, "2.469", value))
            .find("expects rate 'copy' to be a number in (0, 1000000], but "
                  "got "),
        0u)
        << value;
  EXPECT_EQ(getError(replace(good, "\"dmma\"", "\"mma\"")),
            "expects no rate 'mma' of a GPU");
  EXPECT_EQ(
      getError(replace(good, "\"gpu\"", "\"cpu\"")).find("expects no rate '"),
      0u);
  EXPECT_NE(getError(replace(good, "h200:sms=60", "h999")).find(", but got '"),
            std::string::npos);
  // Instructions that only some have.
  std::string without = replace(good, "\"tf32wgmma\": 316,", "");
  EXPECT_EQ(getError(without), "none");
  // What there was no time for.
  EXPECT_EQ(getError(replace(good, "\"ffma\": 19.75,", "")), "none");
}

TEST(Calibration, FilesAreInTheUsersCache) {
  CalibrationKey processor{false, "znver5", "", 16, 0, 0};
  setenv("KRON_CACHE", "1", 1);
  setenv("KRON_CACHE_DIR", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/c", 1);
  EXPECT_EQ(getCalibrationPath(processor), "/a/machines/cpu-znver5-16.json");
  unsetenv("KRON_CACHE_DIR");
  EXPECT_EQ(getCalibrationFolder(), "/b/kron/machines");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(getCalibrationFolder(), "/c/.cache/kron/machines");
  setenv("KRON_CACHE_DIR", "/a", 1);
  setenv("KRON_CACHE", "0", 1);
  EXPECT_EQ(getCalibrationPath(processor), "");
}
