//===- CalibrateTest.cpp - Measuring a GPU ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// On the driver of FakeCuda.h, whose GPU takes as long for a kernel as the test
// says that it does.
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Calibrate.h"
#include "../../lib/Driver/RateKernels.h"
#include "FakeCuda.h"
#include "kron/Machine/CacheFolder.h"
#include "kron/Machine/LockedFile.h"
#include "kron/Target/GPUCode.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <thread>

using namespace mlir::kron;
using kron::test::fakeCuda;
using kron::test::FakeLaunch;

/// TFLOP/s, GB/s and us of the GPU.
static const std::map<std::string, double> kRates = {
    {"ffma", 60},     {"dfma", 30},       {"dmma", 61},      {"tf32mma", 290},
    {"f16mma", 590},  {"tf32wgmma", 470}, {"f16wgmma", 930}, {"copy", 3900},
    {"l2copy", 6200}, {"launch", 4.5}};

/// Seconds of a calibration that no other program can take from it.
static constexpr double kUnhurried = 1e9;

/// Multiply-adds of 256 threads in a round, by the text of the kernels: 64 of
/// each thread; 16 instructions of each warp; 8 of each warpgroup.
static double getMultiplyAdds(const std::string &kernel) {
  if (kernel == "ffma" || kernel == "dfma")
    return 256 * 64;
  if (kernel.find("wgmma") != std::string::npos)
    return 2 * 8 * 64 * 128 * (kernel == "f16wgmma" ? 16 : 8);
  double k = kernel == "f16mma" ? 16 : 8;
  return 8 * 16 * 16 * 8 * k;
}

static double getMilliseconds(const FakeLaunch &launch) {
  if (launch.kernel == "empty")
    return kRates.at("launch") * 1e-3;
  EXPECT_EQ(launch.block, 256u);
  EXPECT_EQ(launch.grid % 132, 0u);
  auto getRounds = [&](int index) {
    return *static_cast<const int32_t *>(launch.params[index]);
  };
  if (launch.kernel == "copy") {
    // Of more than the cache holds, or of what it holds, many times over.
    double bytes = 2. * 64 * 256 * launch.grid;
    int32_t rounds = getRounds(2);
    EXPECT_EQ(rounds > 1, bytes <= (60 << 20));
    return bytes * rounds / kRates.at(rounds > 1 ? "l2copy" : "copy") * 1e-6;
  }
  return 2 * getMultiplyAdds(launch.kernel) * launch.grid * getRounds(1) /
         kRates.at(launch.kernel) * 1e-9;
}

namespace {
class Calibrate : public ::testing::Test {
protected:
  void SetUp() override {
    fakeCuda().reset();
    fakeCuda().milliseconds = getMilliseconds;
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kron-machines", path));
    folder = path.str().str();
    setenv("KRON_CACHE", "1", 1);
    setenv("KRON_CACHE_DIR", folder.c_str(), 1);
    setenv("KRON_CALIBRATE", "1", 1);
  }
  void TearDown() override {
    fakeCuda().reset();
    llvm::sys::fs::remove_directories(folder);
  }

  /// The name of GPU `number`, and what is warned of.
  std::string getName(int32_t number = 0) {
    llvm::raw_string_ostream stream(warnings = "");
    auto name = getGPUName(number, stream, kUnhurried);
    return name ? *name : "error: " + llvm::toString(name.takeError());
  }

  /// The only calibration that is kept.
  std::string getFile() {
    std::error_code error;
    llvm::sys::fs::directory_iterator file(folder + "/machines", error), end;
    for (; !error && file != end; file.increment(error))
      if (llvm::StringRef(file->path()).ends_with(".json"))
        return file->path();
    return "";
  }

  std::string folder, warnings;
};
} // namespace

namespace {
/// A processor that no table has, and what is measured of it.
class FirstUse : public Calibrate {
protected:
  Processor use(const std::string &cpu = "unheard-of", bool isKnown = false) {
    Processor processor{cpu, "", 256, KRON_ISA_HOST};
    processor.isKnown = isKnown;
    std::string said;
    llvm::raw_string_ostream stream(said);
    auto measure = [&]() -> llvm::Expected<Calibration> {
      ++numMeasured;
      if (isBroken)
        return llvm::createStringError("no clock");
      Calibration calibration;
      calibration.key = getCalibrationKey(processor);
      calibration.set("copy", 42);
      if (isContended)
        calibration.contended = {"l2copy", "ffma"};
      return calibration;
    };
    calibrateAtFirstUse(processor, stream, measure);
    std::lock_guard<std::mutex> guard(mutex);
    warnings += said;
    EXPECT_EQ(processor.rates.copyGigabytes,
              processor.rates.areCalibrated ? 42 : 20);
    return processor;
  }

  std::atomic<int> numMeasured = 0;
  std::mutex mutex;
  bool isBroken = false, isContended = false;
};
} // namespace

TEST_F(FirstUse, IsMeasuredOnceAndKept) {
  EXPECT_TRUE(use().rates.areCalibrated);
  EXPECT_TRUE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 1);
  auto kept = readCalibration(folder + "/machines/cpu-unheard-of-1.json");
  ASSERT_TRUE(bool(kept)) << llvm::toString(kept.takeError());
  EXPECT_EQ(kept->find("copy"), 42);
  // Another one has rates of its own.
  EXPECT_TRUE(use("unheard-of-too").rates.areCalibrated);
  EXPECT_EQ(numMeasured, 2);
}

TEST_F(FirstUse, WhatOtherProgramsTookPartOfIsSaidAndNotKept) {
  isContended = true;
  EXPECT_TRUE(use().rates.areCalibrated);
  EXPECT_EQ(warnings,
            "this processor: other programs ran while l2copy and ffma "
            "were measured, and are not kept\n");
  auto kept = readCalibration(folder + "/machines/cpu-unheard-of-1.json");
  ASSERT_TRUE(bool(kept)) << llvm::toString(kept.takeError());
  EXPECT_EQ(kept->rates.size(), 1u);
}

TEST_F(FirstUse, FoldersThatOthersCanWriteToAreNotUsed) {
  EXPECT_TRUE(use().rates.areCalibrated);
  // The file is there, and may be somebody else's.
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_FALSE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 1);
  EXPECT_EQ(getCalibrationFolder(), "");
  EXPECT_EQ(getCacheProblem(), "kron does not use the cache " + folder +
                                   ": others can write there");
  EXPECT_EQ(getName(), "sm_90a:sms=132:clock=1980:copy=4228:l2=60");
  std::string report;
  llvm::raw_string_ostream stream(report);
  llvm::Error error = calibrate(0, stream, kUnhurried);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  EXPECT_NE(report.find("kept nowhere: " + getCacheProblem()),
            std::string::npos)
      << report;
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(getCacheProblem(), "");
  EXPECT_TRUE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 1);
}

TEST_F(FirstUse, FilesThatCannotBeLockedAreSaid) {
  std::string lock = folder + "/machines/cpu-unheard-of-1.json.lock";
  ASSERT_FALSE(llvm::sys::fs::create_directories(lock));
  EXPECT_FALSE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 0);
  EXPECT_EQ(warnings, "this processor is not calibrated: cannot lock '" + lock +
                          "': Is a directory\n");
}

TEST_F(FirstUse, TheDefaultFolderIsMadePrivate) {
  std::string own = folder + "/kron";
  ASSERT_FALSE(llvm::sys::fs::create_directory(own));
  ASSERT_EQ(chmod(own.c_str(), 0777), 0);
  setenv("KRON_CACHE_DIR", "", 1);
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  EXPECT_EQ(getCacheProblem(), "");
  EXPECT_EQ(llvm::cantFail(
                llvm::errorOrToExpected(llvm::sys::fs::getPermissions(own))),
            llvm::sys::fs::owner_all);
  // A file is no folder.
  std::ofstream(folder + "/file") << "";
  setenv("KRON_CACHE_DIR", (folder + "/file").c_str(), 1);
  EXPECT_NE(getCacheProblem().find("it is no folder"), std::string::npos);
}

TEST_F(FirstUse, IsMeasuredByOneOfManyAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(use().rates.areCalibrated); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numMeasured, 1);
}

TEST_F(FirstUse, IsNotWaitedForWithoutEnd) {
  std::string path = folder + "/held.lock";
  LockedFile held(path);
  ASSERT_GE(held.descriptor, 0);
  EXPECT_EQ(LockedFile(path, /*seconds=*/0).descriptor, -1);
}

TEST_F(FirstUse, KnownProcessorsAreNotMeasured) {
  EXPECT_FALSE(use("heard-of", /*isKnown=*/true).rates.areCalibrated);
  EXPECT_EQ(numMeasured, 0);
}

TEST_F(FirstUse, IsTurnedOffAndNotDoneForNothing) {
  setenv("KRON_CALIBRATE", "0", 1);
  EXPECT_FALSE(use().rates.areCalibrated);
  setenv("KRON_CALIBRATE", "1", 1);
  setenv("KRON_CACHE", "0", 1);
  EXPECT_FALSE(use().rates.areCalibrated);
  setenv("KRON_CACHE", "1", 1);
  // Where nothing can be kept.
  std::ofstream(folder + "/file") << "no folder";
  setenv("KRON_CACHE_DIR", (folder + "/file").c_str(), 1);
  EXPECT_FALSE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 0);
}

TEST_F(FirstUse, WhatIsDamagedOrFailedIsMeasuredAgain) {
  isBroken = true;
  EXPECT_FALSE(use().rates.areCalibrated);
  isBroken = false;
  EXPECT_TRUE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 2);
  std::ofstream(folder + "/machines/cpu-unheard-of-1.json") << "{";
  EXPECT_TRUE(use().rates.areCalibrated);
  EXPECT_EQ(numMeasured, 3);
}

TEST_F(FirstUse, MeasuringEndsInTime) {
  // By a clock that goes on at each look there is time for some rates alone.
  double now = 0;
  Deadline deadline(0.3, [&now] { return now += 0.1; });
  auto calibration = measureProcessor(deadline, 1 << 16, getSteadySeconds);
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  EXPECT_FALSE(calibration->missed.empty());
  EXPECT_GT(calibration->find("ffma"), 0);
}

TEST_F(Calibrate, UnknownGPUsAreNotMeasuredWhereThatIsOff) {
  setenv("KRON_CALIBRATE", "0", 1);
  EXPECT_EQ(getName(), "sm_90a:sms=132:clock=1980:copy=4228:l2=60");
  EXPECT_EQ(getFile(), "");
}

TEST_F(Calibrate, RatesAreThoseOfTheGPU) {
  auto calibration = measureGPU(0, Deadline());
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  EXPECT_EQ(calibration->rates.size(), kRates.size());
  // Four digits are kept.
  for (const auto &[kind, rate] : kRates)
    EXPECT_NEAR(calibration->find(kind), rate, rate * 1e-3) << kind;
  EXPECT_EQ(calibration->key.model, "Fake GPU 0");
  EXPECT_EQ(calibration->key.numUnits, 132);
  EXPECT_EQ(calibration->key.memoryGiB, 141);
  // What was measured lasts long enough, and what was taken is given back.
  EXPECT_GT(fakeCuda().now, 1);
  EXPECT_EQ(fakeCuda().count("cuMemFree"), fakeCuda().count("cuMemAlloc"));
  EXPECT_EQ(fakeCuda().count("cuModuleUnload"),
            fakeCuda().count("cuModuleLoadDataEx"));
  EXPECT_EQ(fakeCuda().count("cuEventDestroy"),
            fakeCuda().count("cuEventCreate"));
  EXPECT_EQ(fakeCuda().count("cuStreamDestroy"), 1);
}

TEST_F(Calibrate, GPUsHaveTheKernelsOfTheirInstructions) {
  fakeCuda().milliseconds = [](const FakeLaunch &launch) {
    return launch.kernel == "dmma" ? 2 : getMilliseconds(launch);
  };
  // The second GPU has compute capability 8.0.
  auto calibration = measureGPU(1, Deadline());
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  EXPECT_EQ(calibration->rates.size(), kRates.size() - 2);
  EXPECT_EQ(calibration->find("tf32wgmma"), 0);
  // A warp's m8n8k4, 16 times in each of 16 rounds.
  EXPECT_NEAR(calibration->find("dmma"),
              2e-12 * 8 * 16 * 16 * 8 * 8 * 4 * 2 * 132 / 2e-3, 1e-3);
}

TEST_F(Calibrate, RatesOfABusyGPUAreNotKept) {
  // Two of three launches of one kernel wait for another program's.
  int launches = 0;
  fakeCuda().milliseconds = [&](const FakeLaunch &launch) {
    bool waits = launch.kernel == "dfma" && ++launches % 3;
    return getMilliseconds(launch) * (waits ? 1.5 : 1);
  };
  auto calibration = measureGPU(0, Deadline());
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  EXPECT_EQ(calibration->rates.size(), kRates.size() - 1);
  EXPECT_EQ(calibration->find("dfma"), 0);
  EXPECT_EQ(calibration->contended, std::vector<llvm::StringRef>{"dfma"});
  std::string report;
  llvm::raw_string_ostream stream(report);
  printCalibration(stream, *calibration);
  EXPECT_NE(report.find("not kept: other programs ran"), std::string::npos)
      << report;
  // Plans are made with the others.
  std::string name = getName();
  EXPECT_EQ(name.find(":dfma="), std::string::npos) << name;
  EXPECT_NE(name.find(":ffma=60:"), std::string::npos) << name;
  EXPECT_NE(warnings.find("GPU 0: other programs ran while dfma was measured, "
                          "and is not kept\n"),
            std::string::npos)
      << warnings;
}

TEST_F(Calibrate, GPUsWhoseFileCannotBeLockedAreNotMeasured) {
  getName();
  std::string lock = getFile() + ".lock";
  ASSERT_FALSE(llvm::sys::fs::remove(getFile()));
  // A folder cannot be written to.
  ASSERT_FALSE(llvm::sys::fs::remove(lock));
  ASSERT_FALSE(llvm::sys::fs::create_directory(lock));
  fakeCuda().milliseconds = [](const FakeLaunch &launch) -> double {
    ADD_FAILURE() << launch.kernel;
    return 1;
  };
  EXPECT_EQ(getName(), "sm_90a:sms=132:clock=1980:copy=4228:l2=60");
  EXPECT_EQ(warnings, "GPU 0 is not calibrated: cannot lock '" + lock +
                          "': Is a directory\n");
}

TEST_F(Calibrate, UnknownGPUsAreMeasuredByOneProcessAtATime) {
  getName();
  std::string path = getFile();
  ASSERT_FALSE(llvm::sys::fs::remove(path));
  // No other process gets the lock while kernels are launched.
  int launches = 0;
  fakeCuda().milliseconds = [&](const FakeLaunch &launch) {
    if (launches++ == 0)
      EXPECT_EQ(LockedFile(path + ".lock", /*seconds=*/0).descriptor, -1);
    return getMilliseconds(launch);
  };
  getName();
  EXPECT_GT(launches, 0);
  EXPECT_GE(LockedFile(path + ".lock", /*seconds=*/0).descriptor, 0);
}

/// Measures until a clock has been read so often.
static Deadline getReadings(int count) {
  auto readings = std::make_shared<int>(0);
  return Deadline(count, [=]() -> double { return (*readings)++; });
}

TEST_F(Calibrate, RatesThatThereIsTimeForAreKept) {
  // Three rates, in the order in which they are measured.
  auto calibration = measureGPU(0, getReadings(4));
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  EXPECT_EQ(calibration->rates.size(), 3u);
  EXPECT_EQ(calibration->missed.size(), kRates.size() - 3);
  EXPECT_EQ(calibration->find("ffma"), 60);
  std::string report;
  llvm::raw_string_ostream stream(report);
  printCalibration(stream, *calibration);
  EXPECT_NE(report.find("not measured: time was over"), std::string::npos)
      << report;
  EXPECT_NE(report.find("table"), std::string::npos) << report;
  auto read = parseCalibration(calibration->print());
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->rates, calibration->rates);
  EXPECT_EQ(read->getGPUName(), calibration->getGPUName());

  // What there is no time for stays as it was kept before.
  Calibration before = *calibration;
  before.rates.clear();
  for (const auto &[kind, rate] : kRates)
    before.set(kind, rate);
  before.missed.clear();
  ASSERT_TRUE(bool(keepCalibration(before)));
  auto path = keepCalibration(*calibration);
  ASSERT_TRUE(bool(path)) << llvm::toString(path.takeError());
  auto kept = readCalibration(*path);
  ASSERT_TRUE(bool(kept)) << llvm::toString(kept.takeError());
  EXPECT_EQ(kept->rates.size(), kRates.size());
  EXPECT_EQ(kept->find("ffma"), 60);

  auto none = measureGPU(0, getReadings(0));
  EXPECT_EQ(llvm::toString(none.takeError()),
            "there was no time to measure any rate");
}

TEST(CalibrateProcessor, RatesThatThereIsTimeForAreKept) {
  auto calibration =
      measureProcessor(getReadings(12), kCopiedBytes, getSteadySeconds);
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  // The first ones, of as few runs as the clock allows, in the order of files.
  EXPECT_GT(calibration->find("ffma"), 0);
  EXPECT_FALSE(calibration->missed.empty());
  EXPECT_TRUE(llvm::is_contained(calibration->missed, "copy"));
  EXPECT_EQ(calibration->rates.size() + calibration->missed.size(),
            getCPURateKinds().size());
  for (const auto &[kind, rate] : calibration->rates)
    EXPECT_FALSE(llvm::is_contained(calibration->missed, kind)) << kind;
}

TEST(CalibrateProcessor, RatesOfABusyProcessorDoNotCount) {
  // By a clock that stands still, other programs had the processor.
  auto calibration =
      measureProcessor(Deadline(), 1 << 16, []() -> double { return 0; });
  EXPECT_EQ(llvm::toString(calibration.takeError()),
            "other programs ran while copy, l2copy and ffma were measured: no "
            "rate counts");
}

TEST(RateKernels, PtxasTakesThemForEveryArchitecture) {
  std::string assembler = findAssembler();
  if (assembler.empty())
    GTEST_SKIP() << "no ptxas";
  std::set<std::string> architectures;
  for (llvm::StringRef name : getGPUNames()) {
    GPUMachine machine = llvm::cantFail(parseGPUMachine(name));
    if (!architectures.insert(machine.arch).second)
      continue;
    auto ptx = compileRateKernels(machine);
    ASSERT_TRUE(bool(ptx)) << llvm::toString(ptx.takeError());
    for (const RateKernel &kernel : getRateKernels(machine))
      EXPECT_NE(ptx->find(".visible .entry " + kernel.key.str() + "("),
                std::string::npos)
          << name.str();
    auto cubin = assemblePTX(assembler, *ptx,
                             llvm::cantFail(GPUChip::parse(machine.name)));
    EXPECT_TRUE(bool(cubin)) << llvm::toString(cubin.takeError());
  }
}

TEST_F(Calibrate, UnknownGPUsAreMeasuredOnce) {
  std::string name = getName();
  EXPECT_EQ(name, "sm_90a:sms=132:clock=1980:l2=60:copy=3900:launch=4.5:"
                  "ffma=60:dfma=30:dmma=61:tf32mma=290:tf32wgmma=470:"
                  "f16mma=590:f16wgmma=930:calibrated");
  EXPECT_EQ(warnings, "");
  EXPECT_NE(getFile(), "");
  size_t launches = fakeCuda().launches.size();
  EXPECT_GT(launches, 0u);
  EXPECT_EQ(getName(), name);
  EXPECT_EQ(fakeCuda().launches.size(), launches);
}

TEST_F(Calibrate, KnownGPUsAreMeasuredWhereThatIsAskedFor) {
  fakeCuda().model = "NVIDIA H200";
  EXPECT_EQ(getName(), "h200");
  EXPECT_EQ(fakeCuda().launches.size(), 0u);
  std::string report;
  llvm::raw_string_ostream stream(report);
  llvm::Error error = calibrate(0, stream, kUnhurried);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  EXPECT_NE(report.find("table, measured: 4130"), std::string::npos) << report;
  EXPECT_NE(report.find("kept in " + getFile()), std::string::npos) << report;
  EXPECT_EQ(getName().find("h200:copy=3900:"), 0u);
  // The rates are those of this GPU only.
  fakeCuda().model = "NVIDIA H200 NVL";
  EXPECT_EQ(getName(), "h200");
}

TEST_F(Calibrate, DamagedFilesAreSkipped) {
  std::string name = getName();
  for (const char *text : {"", "{", "{\"kron\": 7}"}) {
    std::ofstream(getFile()) << text;
    // Measured again, since the table does not have it.
    EXPECT_EQ(getName(), name);
    EXPECT_EQ(warnings.find("calibration ignored: '" + getFile() + "': "), 0u)
        << warnings;
    EXPECT_EQ(getName(), name);
    EXPECT_EQ(warnings, "");
  }
  // That of another GPU under this one's name.
  auto calibration = readCalibration(getFile());
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  calibration->key.model = "NVIDIA H200";
  std::ofstream(getFile()) << calibration->print();
  EXPECT_EQ(getName(), name);
  EXPECT_NE(warnings.find(": expects one of Fake GPU 0, but got one of NVIDIA "
                          "H200"),
            std::string::npos)
      << warnings;
}

TEST_F(Calibrate, FailuresAreWarnings) {
  std::string plain = "sm_90a:sms=132:clock=1980:copy=4228:l2=60";
  for (const char *function :
       {"cuModuleLoadDataEx", "cuModuleGetFunction", "cuLaunchKernel",
        "cuMemAlloc", "cuMemsetD8Async", "cuEventCreate", "cuEventRecord",
        "cuStreamSynchronize", "cuEventElapsedTime"}) {
    fakeCuda().failures[function] = 2;
    EXPECT_EQ(getName(), plain);
    EXPECT_NE(warnings.find(std::string("GPU 0 cannot be calibrated: ") +
                            function + ": CUDA_ERROR_OUT_OF_MEMORY"),
              std::string::npos)
        << warnings;
    EXPECT_EQ(getFile(), "");
    fakeCuda().failures.clear();
  }
  // A clock that stands still.
  fakeCuda().milliseconds = nullptr;
  EXPECT_EQ(getName(), plain);
  EXPECT_NE(warnings.find("kernel 'ffma' takes no time"), std::string::npos)
      << warnings;
  // A folder that cannot be written to.
  fakeCuda().milliseconds = getMilliseconds;
  setenv("KRON_CACHE_DIR", "/proc/none", 1);
  EXPECT_NE(getName().find(":calibrated"), std::string::npos);
  EXPECT_NE(warnings.find("/proc/none/machines"), std::string::npos)
      << warnings;
  // Without a cache nothing is measured unasked.
  setenv("KRON_CACHE", "0", 1);
  size_t launches = fakeCuda().launches.size();
  EXPECT_EQ(getName(), plain);
  EXPECT_EQ(fakeCuda().launches.size(), launches);
  EXPECT_EQ(getName(5).find("error: expects the number of a GPU below 2"), 0u);
}
