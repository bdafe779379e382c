//===- Calibration.cpp - Rates measured on the user's machine ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/Calibration.h"
#include "kron/Machine/CacheFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstdlib>
#include <tuple>

using namespace mlir::kron;
using llvm::createStringError;
using llvm::StringRef;

/// Of the file's format.
static constexpr int64_t kVersion = 1;

static constexpr RateKind kGPURates[] = {
    {"copy", "copy of memory, read and written", "GB/s"},
    {"l2copy", "copy within the L2 cache, read and written", "GB/s"},
    {"launch", "launch of an empty kernel", "us"},
    {"ffma", "multiply-adds in f32", "TFLOP/s"},
    {"dfma", "multiply-adds in f64", "TFLOP/s"},
    {"dmma", "mma.sync in f64", "TFLOP/s"},
    {"tf32mma", "mma.sync in TF32", "TFLOP/s"},
    {"tf32wgmma", "wgmma in TF32", "TFLOP/s"},
    {"f16mma", "mma.sync in f16", "TFLOP/s"},
    {"f16wgmma", "wgmma in f16", "TFLOP/s"},
};

static constexpr RateKind kCPURates[] = {
    {"copy", "copy of memory, read and written, one thread", "GB/s"},
    {"l2copy", "copy within the L2 cache, read and written", "GB/s"},
    {"ffma", "multiply-adds in f32, one thread", "GFLOP/s"},
};

double mlir::kron::getRate(const GPUMachine &machine, StringRef kind) {
  return llvm::StringSwitch<double>(kind)
      .Case("copy", machine.copyBytesPerSecond * 1e-9)
      .Case("launch", machine.launchSeconds * 1e6)
      .Case("ffma", machine.ffma * 1e-12)
      .Case("dfma", machine.dfma * 1e-12)
      .Case("dmma", machine.dmma * 1e-12)
      .Case("tf32mma", machine.tf32Mma * 1e-12)
      .Case("tf32wgmma", machine.tf32Wgmma * 1e-12)
      .Case("f16mma", machine.f16Mma * 1e-12)
      .Case("f16wgmma", machine.f16Wgmma * 1e-12)
      .Default(0);
}

std::string mlir::kron::formatRate(double rate) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(rate < 1000 ? "%.4g" : "%.0f", rate);
  return text;
}

llvm::ArrayRef<RateKind> mlir::kron::getGPURateKinds() { return kGPURates; }
llvm::ArrayRef<RateKind> mlir::kron::getCPURateKinds() { return kCPURates; }

//===----------------------------------------------------------------------===//
// Keys and names
//===----------------------------------------------------------------------===//

bool CalibrationKey::operator==(const CalibrationKey &other) const {
  auto tie = [](const CalibrationKey &key) {
    return std::tie(key.isGPU, key.machine, key.model, key.numUnits,
                    key.clockMHz, key.memoryGiB);
  };
  return tie(*this) == tie(other);
}

std::string CalibrationKey::getFileName() const {
  std::string name =
      isGPU ? llvm::formatv("gpu-{0}-{1}-{2}-{3}.json", model, numUnits,
                            clockMHz, memoryGiB)
                  .str()
            : llvm::formatv("cpu-{0}-{1}.json", machine, numUnits).str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '.' && c != '_')
      c = '-';
  return name;
}

CalibrationKey mlir::kron::getCalibrationKey(const GPUProperties &properties) {
  return {true,
          identifyGPU(properties),
          properties.model,
          properties.numSMs,
          properties.clockMHz,
          properties.memoryBytes >> 30};
}

CalibrationKey mlir::kron::getCalibrationKey(const Processor &processor) {
  CalibrationKey key;
  key.machine = processor.cpu;
  if (processor.isLimited)
    key.machine += ("-" + getISA(processor)).str();
  key.numUnits = 1;
  return key;
}

void mlir::kron::setRates(Processor &processor,
                          const Calibration &calibration) {
  ProcessorRates &rates = processor.rates;
  rates.areCalibrated = true;
  if (double copy = calibration.find("copy"))
    rates.copyGigabytes = copy;
  if (double copy = calibration.find("l2copy"))
    rates.l2BytesPerCycle = copy / rates.gigahertz;
  // Two operations of every lane, with the widest vectors.
  double perCycle =
      calibration.find("ffma") /
      (2 * rates.gigahertz * static_cast<double>(processor.vectorBits / 32));
  if (perCycle)
    (processor.vectorBits == 512 ? rates.wideFmas : rates.vectorFmas) =
        perCycle;
}

void mlir::kron::takeKeptRates(Processor &processor) {
  CalibrationKey key = getCalibrationKey(processor);
  std::string path = getCalibrationPath(key);
  if (path.empty() || !llvm::sys::fs::exists(path))
    return;
  auto calibration = readCalibration(path);
  if (!calibration)
    return llvm::consumeError(calibration.takeError());
  if (calibration->key == key)
    setRates(processor, *calibration);
}

double Calibration::find(StringRef kind) const {
  for (const auto &[key, rate] : rates)
    if (key == kind)
      return rate;
  return 0;
}

void Calibration::set(StringRef kind, double rate) {
  llvm::to_float(formatRate(rate), rate);
  rates.emplace_back(kind.str(), rate);
}

std::string Calibration::getGPUName() const {
  std::string name;
  // What the driver tells of an unknown GPU's memory is less than what was
  // measured.
  for (StringRef part : llvm::split(key.machine, ':'))
    if (!find(part.split('=').first))
      name += (name.empty() ? "" : ":") + part.str();
  for (const RateKind &kind : getGPURateKinds())
    if (double rate = find(kind.key); rate && kind.key != "l2copy")
      name += (":" + kind.key + "=" + formatRate(rate)).str();
  return name + ":calibrated";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string Calibration::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("kron", kVersion);
    json.attribute("kind", key.isGPU ? "gpu" : "cpu");
    json.attribute("machine", key.machine);
    json.attribute("model", key.model);
    json.attribute("units", key.numUnits);
    json.attribute("clock_mhz", key.clockMHz);
    json.attribute("memory_gib", key.memoryGiB);
    json.attributeObject("rates", [&] {
      for (const auto &[kind, rate] : rates) {
        json.attributeBegin(kind);
        json.rawValue(formatRate(rate));
        json.attributeEnd();
      }
    });
  });
  stream << "\n";
  return text;
}

static llvm::Error readRates(const llvm::json::Object &object,
                             Calibration &calibration) {
  llvm::ArrayRef<RateKind> kinds =
      calibration.key.isGPU ? getGPURateKinds() : getCPURateKinds();
  for (const auto &[name, value] : object)
    if (llvm::none_of(kinds, [key = StringRef(name)](const RateKind &kind) {
          return kind.key == key;
        }))
      return createStringError("expects no rate '" + StringRef(name) +
                               "' of a " +
                               (calibration.key.isGPU ? "GPU" : "processor"));
  for (const RateKind &kind : kinds) {
    // The machine lacks it, or there was no time for it.
    if (!object.get(kind.key))
      continue;
    std::optional<double> rate = object.getNumber(kind.key);
    if (!rate || !std::isfinite(*rate) || *rate <= 0 || *rate > 1e6)
      return createStringError(
          "expects rate '" + kind.key +
          "' to be a number in (0, 1000000], but got " +
          llvm::formatv("{0}", *object.get(kind.key)).str());
    calibration.rates.emplace_back(kind.key.str(), *rate);
  }
  if (calibration.rates.empty())
    return createStringError("expects rates, but got none");
  return llvm::Error::success();
}

llvm::Expected<Calibration> mlir::kron::parseCalibration(StringRef text) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Object *object = parsed->getAsObject();
  std::optional<int64_t> version =
      object ? object->getInteger("kron") : std::nullopt;
  if (version != kVersion)
    return createStringError(
        "expects a calibration of version " + llvm::Twine(kVersion) +
        ", but got " +
        (version ? llvm::Twine(*version) : llvm::Twine("something else")));
  auto kind = object->getString("kind");
  if (kind != "gpu" && kind != "cpu")
    return createStringError("expects 'kind' to be gpu or cpu, but got '" +
                             kind.value_or("") + "'");
  Calibration calibration;
  CalibrationKey &key = calibration.key;
  key.isGPU = kind == "gpu";
  auto machine = object->getString("machine"),
       model = object->getString("model");
  auto units = object->getInteger("units"),
       clock = object->getInteger("clock_mhz"),
       memory = object->getInteger("memory_gib");
  const llvm::json::Object *rates = object->getObject("rates");
  if (!machine || !model || !units || !clock || !memory || !rates)
    return createStringError("expects the fields machine, model, units, "
                             "clock_mhz, memory_gib and rates");
  key.machine = machine->str();
  key.model = model->str();
  key.numUnits = *units;
  key.clockMHz = *clock;
  key.memoryGiB = *memory;
  if (llvm::Error error = readRates(*rates, calibration))
    return std::move(error);
  if (!key.isGPU)
    return calibration;
  // The base may be one that this version does not know.
  if (auto parsedName = parseGPUMachine(calibration.getGPUName()); !parsedName)
    return parsedName.takeError();
  return calibration;
}

llvm::Expected<Calibration> mlir::kron::readCalibration(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  auto calibration = parseCalibration((*buffer)->getBuffer());
  if (!calibration)
    return createStringError("'" + path +
                             "': " + llvm::toString(calibration.takeError()));
  return calibration;
}

llvm::Expected<std::string> mlir::kron::resolveGPUName(StringRef name) {
  if (!name.ends_with(".json"))
    return name.str();
  auto calibration = readCalibration(name);
  if (!calibration)
    return calibration.takeError();
  if (!calibration->key.isGPU)
    return createStringError("'" + name +
                             "': expects a calibration of a GPU, "
                             "but got one of a processor");
  return calibration->getGPUName();
}

bool mlir::kron::mayCalibrateAtFirstUse() {
  const char *value = std::getenv("KRON_CALIBRATE");
  return !value || StringRef(value) != "0";
}

std::string mlir::kron::getCalibrationFolder() {
  llvm::SmallString<128> path(getCacheFolder());
  if (path.empty() || !isCacheEnabled() || !getCacheProblem().empty())
    return "";
  llvm::sys::path::append(path, "machines");
  return path.str().str();
}

std::string mlir::kron::getCalibrationPath(const CalibrationKey &key) {
  llvm::SmallString<128> path(getCalibrationFolder());
  if (path.empty())
    return "";
  llvm::sys::path::append(path, key.getFileName());
  return path.str().str();
}
