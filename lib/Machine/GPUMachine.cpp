//===- GPUMachine.cpp - What kron knows about a GPU -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPUMachine.h"
#include "GPUTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir::kron;
using llvm::createStringError;
using llvm::StringRef;

/// The capabilities that kernels are generated for: those from 8.0 on that LLVM
/// knows.
static constexpr int64_t kCapabilities[] = {80,  86,  87,  88,  89,  90,
                                            100, 101, 103, 110, 120, 121};
/// Part of a data sheet's rates that kernels of one kind of work reach: copies
/// (4.13 of 4.8 TB/s on an H200), multiply-adds (64.5 of 66.9 TFLOP/s).
static constexpr double kCopyShare = 0.86;
static constexpr double kArithmeticShare = 0.96;

int64_t GPUMachine::getSharedBytes(int64_t ctasPerSM) const {
  int64_t share = sharedBytesPerSM / std::max<int64_t>(ctasPerSM, 1) -
                  reservedSharedBytesPerCTA;
  // Allocated in units of 128 bytes.
  return std::min(sharedBytesPerCTA, share / 128 * 128);
}

int64_t GPUMachine::getRegistersPerThread(int64_t threads,
                                          int64_t ctasPerSM) const {
  // A warp is given its registers in units of 8 per thread.
  int64_t share = registersPerSM / std::max<int64_t>(threads * ctasPerSM, 1);
  return std::min(maxRegistersPerThread, share / 8 * 8);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What a name says beside its base; 0: nothing.
namespace {
struct Overrides {
  double numSMs = 0, clockMHz = 0, l2MiB = 0, launchMicroseconds = 0;
  MeasuredRates rates = {};
  bool isCalibrated = false;

  /// The field of `key`, or null.
  double *find(StringRef key) {
    return llvm::StringSwitch<double *>(key)
        .Case("sms", &numSMs)
        .Case("clock", &clockMHz)
        .Case("l2", &l2MiB)
        .Case("copy", &rates.copy)
        .Case("launch", &launchMicroseconds)
        .Case("ffma", &rates.ffma)
        .Case("dfma", &rates.dfma)
        .Case("dmma", &rates.dmma)
        .Case("tf32mma", &rates.tf32Mma)
        .Case("tf32wgmma", &rates.tf32Wgmma)
        .Case("f16mma", &rates.f16Mma)
        .Case("f16wgmma", &rates.f16Wgmma)
        .Default(nullptr);
  }
};

/// An architecture, taken apart.
struct Architecture {
  int64_t capability = 0;
  /// For this capability alone ("a"), or its family ("f").
  bool isExact = false, isFamily = false;

  std::string getName() const {
    return "sm_" + std::to_string(capability) +
           (isExact    ? "a"
            : isFamily ? "f"
                       : "");
  }
};
} // namespace

static std::optional<Architecture> parseArchitecture(StringRef name) {
  Architecture architecture;
  if (!name.consume_front("sm_"))
    return std::nullopt;
  architecture.isExact = name.consume_back("a");
  architecture.isFamily = !architecture.isExact && name.consume_back("f");
  if (!llvm::to_integer(name, architecture.capability, 10) ||
      architecture.capability > 999)
    return std::nullopt;
  return architecture;
}

static const GPUSku *findSku(StringRef name) {
  const GPUSku *sku = llvm::find_if(
      getGPUTable(), [&](const GPUSku &each) { return name == each.name; });
  return sku == getGPUTable().end() ? nullptr : sku;
}

/// The SKU that stands for an architecture, or null.
static const GPUSku *findSkuOf(int64_t capability) {
  const GPUSku *sku = llvm::find_if(getGPUTable(), [&](const GPUSku &each) {
    return each.capability == capability;
  });
  return sku == getGPUTable().end() ? nullptr : sku;
}

llvm::SmallVector<StringRef> mlir::kron::getGPUNames() {
  return llvm::to_vector(llvm::map_range(
      getGPUTable(), [](const GPUSku &sku) { return StringRef(sku.name); }));
}

/// Capabilities from 9.0 on have features of their own, which only code for
/// exactly them may use.
static bool hasExactCode(int64_t capability) { return capability >= 90; }

/// Capabilities from 10.0 on share features with others of their family.
static bool hasFamilyCode(int64_t capability) { return capability >= 100; }

/// What is wrong with `architecture`, which `name` is of; empty if nothing.
static std::string findProblem(const Architecture &architecture,
                               StringRef name) {
  std::string found = ", but got '" + name.str() + "'";
  int64_t capability = architecture.capability;
  if (capability < kCapabilities[0])
    return "expects a GPU architecture of sm_80 or newer, e.g. sm_90a" + found;
  if (!llvm::is_contained(kCapabilities, capability))
    return "expects one of the GPU architectures sm_" +
           llvm::join(llvm::map_range(
                          kCapabilities,
                          [](int64_t each) { return std::to_string(each); }),
                      ", sm_") +
           found;
  if (architecture.isExact && !hasExactCode(capability))
    return "expects 'a' behind architectures from sm_90 on" + found;
  if (architecture.isFamily && !hasFamilyCode(capability))
    return "expects 'f' behind architectures from sm_100 on" + found;
  return "";
}

static llvm::Expected<Overrides>
parseOverrides(StringRef name, llvm::ArrayRef<StringRef> keys) {
  Overrides overrides;
  for (StringRef text : keys) {
    if (text == "calibrated") {
      overrides.isCalibrated = true;
      continue;
    }
    auto [key, value] = text.split('=');
    double *field = overrides.find(key);
    if (!field)
      return createStringError("expects keys of GPU '" + name +
                               "' to be sms, clock, l2, copy, launch, ffma, "
                               "dfma, dmma, tf32mma, tf32wgmma, f16mma, "
                               "f16wgmma or calibrated, but got '" +
                               key + "'");
    if (value.getAsDouble(*field) || !std::isfinite(*field) || *field <= 0 ||
        *field > 1e6)
      return createStringError("expects '" + key + "' of GPU '" + name +
                               "' to be a number in (0, 1000000], but got '" +
                               value + "'");
  }
  return overrides;
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

/// What follows from the capability. One that is not in the table has the
/// limits and rates of the latest older one of the desktop line, the smallest
/// of all.
static const GPUArchitecture &setLimits(GPUMachine &machine,
                                        const Architecture &given) {
  llvm::ArrayRef<GPUArchitecture> all = getGPUArchitectures();
  const GPUArchitecture *found =
      llvm::find_if(all, [&](const GPUArchitecture &each) {
        return each.capability == given.capability;
      });
  if (found == all.end())
    found = llvm::find_if(
        all, [](const GPUArchitecture &each) { return each.capability == 86; });
  machine.arch = given.getName();
  machine.computeCapability = given.capability;
  machine.hasCluster = given.capability >= 90;
  machine.hasWideDMMA = given.capability >= 90;
  machine.hasWgmma = given.capability == 90 && given.isExact;
  machine.sharedBytesPerSM = found->sharedKiB << 10;
  machine.sharedBytesPerCTA =
      machine.sharedBytesPerSM - machine.reservedSharedBytesPerCTA;
  machine.maxThreadsPerSM = found->maxThreads;
  machine.maxCTAsPerSM = found->maxCTAs;
  return *found;
}

/// Rates of `sku` with `numSMs` SMs at `clockMHz`: measured ones in proportion,
/// others from what an SM does in a clock.
static void setRates(GPUMachine &machine, const GPUSku &sku,
                     const GPUArchitecture &architecture) {
  double clocks = double(machine.numSMs) * machine.clockMHz * 1e6;
  double proportion = clocks / (double(sku.numSMs) * sku.clockMHz * 1e6);
  auto getRate = [&](double measured, double flopsPerClock) {
    return measured ? measured * 1e12 * proportion
                    : flopsPerClock * clocks * kArithmeticShare;
  };
  const MeasuredRates &measured = sku.measured;
  machine.isMeasured = measured.copy != 0;
  machine.copyBytesPerSecond =
      measured.copy ? measured.copy * 1e9 : sku.bandwidth * 1e9 * kCopyShare;
  machine.ffma = getRate(measured.ffma, architecture.ffma);
  machine.dfma = getRate(measured.dfma, architecture.dfma);
  machine.dmma = getRate(measured.dmma, architecture.dmma);
  machine.tf32Mma =
      getRate(measured.tf32Mma, architecture.tf32Mma * sku.matrixShare);
  machine.f16Mma =
      getRate(measured.f16Mma, architecture.f16Mma * sku.matrixShare);
  if (!machine.hasWgmma)
    return;
  // Another SKU of a chip that was measured: by SMs and clock.
  const GPUSku &sibling = *findSkuOf(sku.capability);
  double share = clocks / (double(sibling.numSMs) * sibling.clockMHz * 1e6);
  machine.tf32Wgmma = sibling.measured.tf32Wgmma * 1e12 * share;
  machine.f16Wgmma = sibling.measured.f16Wgmma * 1e12 * share;
}

/// Replaces rates by those that a name states.
static void setRates(GPUMachine &machine, const Overrides &overrides) {
  const MeasuredRates &rates = overrides.rates;
  auto replace = [](double &rate, double given, double unit) {
    if (given)
      rate = given * unit;
  };
  replace(machine.copyBytesPerSecond, rates.copy, 1e9);
  replace(machine.launchSeconds, overrides.launchMicroseconds, 1e-6);
  replace(machine.ffma, rates.ffma, 1e12);
  replace(machine.dfma, rates.dfma, 1e12);
  replace(machine.dmma, rates.dmma, 1e12);
  replace(machine.tf32Mma, rates.tf32Mma, 1e12);
  replace(machine.f16Mma, rates.f16Mma, 1e12);
  if (machine.hasWgmma) {
    replace(machine.tf32Wgmma, rates.tf32Wgmma, 1e12);
    replace(machine.f16Wgmma, rates.f16Wgmma, 1e12);
  }
  machine.isCalibrated = overrides.isCalibrated;
  machine.isMeasured |= overrides.isCalibrated;
}

llvm::Expected<GPUMachine> mlir::kron::parseGPUMachine(StringRef name) {
  llvm::SmallVector<StringRef> parts;
  name.split(parts, ':');
  std::optional<Architecture> architecture = parseArchitecture(parts.front());
  const GPUSku *sku = findSku(parts.front());
  if (sku)
    architecture = {sku->capability, hasExactCode(sku->capability), false};
  if (!architecture)
    return createStringError("expects a GPU architecture of sm_80 or newer, "
                             "e.g. sm_90a, or one of " +
                             llvm::join(getGPUNames(), ", ") + ", but got '" +
                             name + "'");
  if (std::string problem = findProblem(*architecture, name); !problem.empty())
    return createStringError(problem);
  auto overrides =
      parseOverrides(name, llvm::ArrayRef<StringRef>(parts).drop_front());
  if (!overrides)
    return overrides.takeError();

  GPUMachine machine;
  machine.name = name.str();
  const GPUArchitecture &limits = setLimits(machine, *architecture);
  if (!sku)
    sku = findSkuOf(architecture->capability);
  if (!sku)
    sku = findSkuOf(limits.capability);
  machine.numSMs =
      overrides->numSMs ? std::lround(overrides->numSMs) : sku->numSMs;
  machine.clockMHz =
      overrides->clockMHz ? std::lround(overrides->clockMHz) : sku->clockMHz;
  machine.numSMs = std::max<int64_t>(machine.numSMs, 1);
  machine.clockMHz = std::max<int64_t>(machine.clockMHz, 1);
  setRates(machine, *sku, limits);
  machine.l2Bytes = overrides->l2MiB ? std::llround(overrides->l2MiB * 1048576)
                                     : sku->l2MiB << 20;
  setRates(machine, *overrides);
  return machine;
}

//===----------------------------------------------------------------------===//
// Drivers
//===----------------------------------------------------------------------===//

/// Whether `sku` can be the GPU: all parts of its name occur as words, and it
/// has no less memory (part of a GPU has less). Another variant of the model
/// may have more, and other memory.
static bool isModel(const GPUSku &sku, const GPUProperties &properties) {
  constexpr double kRoundedBytes = 1.1 * (1 << 30);
  if (sku.capability != properties.computeCapability ||
      properties.memoryBytes > sku.memoryGB * kRoundedBytes)
    return false;
  llvm::SmallVector<StringRef> words, parts;
  // "A100-SXM4-40GB" has the words of "A100 40GB".
  llvm::SplitString(properties.model, words, " -");
  llvm::SplitString(sku.model, parts, " ");
  return llvm::all_of(
      parts, [&](StringRef part) { return llvm::is_contained(words, part); });
}

/// Whether two figures of a GPU are the same but for what a driver rounds.
static bool isAbout(double given, double expected) {
  return std::abs(given - expected) <= 0.02 * expected;
}

std::string mlir::kron::identifyGPU(const GPUProperties &properties) {
  const GPUSku *sku = nullptr;
  for (const GPUSku &each : getGPUTable())
    if (isModel(each, properties) &&
        (!sku || StringRef(each.model).size() > StringRef(sku->model).size()))
      sku = &each;
  std::string text;
  llvm::raw_string_ostream os(text);
  Architecture architecture{properties.computeCapability,
                            hasExactCode(properties.computeCapability), false};
  // Newer GPUs run code of older ones, but for what that has alone.
  if (const int64_t *newer =
          llvm::upper_bound(kCapabilities, architecture.capability);
      newer != kCapabilities && newer[-1] != architecture.capability)
    architecture = {newer[-1], false, false};
  os << (sku ? std::string(sku->name) : architecture.getName());
  auto add = [&](StringRef key, double given, double expected) {
    if (given > 0 && !isAbout(given, expected))
      os << ':' << key << '=' << std::llround(given);
  };
  add("sms", properties.numSMs, sku ? sku->numSMs : 0);
  add("clock", properties.clockMHz, sku ? sku->clockMHz : 0);
  if (!sku) {
    // Two transfers in a clock.
    add("copy",
        2e-3 * properties.memoryClockMHz * properties.memoryBits / 8 *
            kCopyShare,
        0);
    add("l2", double(properties.l2Bytes) / 1048576, 0);
  }
  return text;
}
