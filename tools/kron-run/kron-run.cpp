//===- kron-run.cpp - Compile in memory and run -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/RowMajor.h"
#include "kron/Driver/Calibrate.h"
#include "kron/Driver/CommandLine.h"
#include "kron/Driver/Devices.h"
#include "kron/Driver/Gpu.h"
#include "kron/Driver/Magnitudes.h"
#include "kron/Driver/Measure.h"
#include "kron/Driver/Session.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include <set>

using namespace mlir;
using namespace mlir::kron;
namespace cl = llvm::cl;
using llvm::createStringError;

namespace {
/// Built after LLVM's own options are dropped, some of which have these names.
struct Options {
  cl::OptionCategory category{"kron-run options"};
  cl::opt<std::string> inputFile{cl::cat(category), cl::Positional,
                                 cl::desc("FILE.mlir ('-': standard input)")};
  CallOptions call{category};
  cl::list<std::string> outs{
      cl::cat(category), "out",
      cl::desc("NPY file for an output, in order ('-': print)"),
      cl::value_desc("file")};
  cl::list<int> devices{
      cl::cat(category), "devices", cl::CommaSeparated,
      cl::desc("Share the call out among these GPUs, or with --target cpu "
               "among as many groups of threads"),
      cl::value_desc("number,...")};
  cl::opt<std::string> shardAxes{
      cl::cat(category), "shard-axes",
      cl::desc("Which axis of a kron.mkm's X as [M, P1, ..., PN] --devices "
               "share out before and after (default: 0:0, the rows)"),
      cl::value_desc("from:to"), cl::init("0:0")};
  cl::list<std::string> records{
      cl::cat(category), "record",
      cl::desc("File of tuning records whose plans operations get, before "
               "those of KRON_RECORDS and of the user's cache; may be given "
               "several times"),
      cl::value_desc("file.jsonl")};
  cl::opt<std::string> gpuArch{
      cl::cat(category), "gpu-arch",
      cl::desc("GPU to compile for: an architecture (sm_90a), an SKU (h200) or "
               "a file of --calibrate (default: the GPU's own, with its rates "
               "if there is such a file)"),
      cl::value_desc("gpu")};
  cl::alias chip{"chip", cl::cat(category), cl::desc("The same as --gpu-arch"),
                 cl::aliasopt(gpuArch)};
  cl::opt<bool> calibrate{
      cl::cat(category), "calibrate",
      cl::desc("Instead of running a file, measure the rates of the target, "
               "print them, and keep them for plans")};
  cl::opt<double> calibrationSeconds{
      cl::cat(category), "calibration-seconds", cl::Hidden,
      cl::desc("Seconds after which --calibrate begins no other measurement"),
      cl::init(-1)};
  cl::opt<bool> calibrationCountsAll{
      cl::cat(category), "calibration-counts-all", cl::Hidden,
      cl::desc("Count what other programs took part of while --calibrate "
               "measured it")};
  cl::opt<bool> verify{
      cl::cat(category), "verify",
      cl::desc("Compare with the reference lowering in the next wider type")};
  cl::opt<unsigned> time{cl::cat(category), "time",
                         cl::desc("Time this many runs after a warm-up"),
                         cl::value_desc("runs"), cl::init(0)};
  cl::opt<bool> cold{
      cl::cat(category), "cold",
      cl::desc("On a GPU, overwrite the L2 cache before each timed run")};
  cl::opt<bool> reference{cl::cat(category), "reference",
                          cl::desc("Run the reference lowering itself")};
  cl::opt<int64_t> vectorBits{
      cl::cat(category), "vector-bits",
      cl::desc(
          "Vector width to use: 128, 256 or 512 (default: this machine's)"),
      cl::init(0)};
};
} // namespace

static Options &getOptions() {
  static Options options;
  return options;
}

/// The devices to share the call out among; none without --devices.
static llvm::Expected<DeviceOptions> getDeviceOptions() {
  const Options &given = getOptions();
  DeviceOptions options;
  options.devices.assign(given.devices.begin(), given.devices.end());
  if (options.devices.empty()) {
    if (given.shardAxes.getNumOccurrences())
      return createStringError("expects --devices with --shard-axes");
    return options;
  }
  for (int32_t device : options.devices)
    if (device < 0)
      return createStringError(
          "expects --devices to be numbers of GPUs, but got " +
          llvm::Twine(device));
  auto [from, to] = StringRef(given.shardAxes).split(':');
  if (from.getAsInteger(10, options.from) || to.getAsInteger(10, options.to) ||
      options.from < 0 || options.to < 0)
    return createStringError("expects --shard-axes FROM:TO, but got '" +
                             given.shardAxes + "'");
  bool isCpu =
      given.call.target.getNumOccurrences() && given.call.target == "cpu";
  if (given.call.target.getNumOccurrences() && !isCpu)
    return createStringError(
        "expects --devices without --target, or with --target cpu");
  // NCCL takes one rank of a process per GPU.
  std::set<int32_t> gpus(options.devices.begin(), options.devices.end());
  bool sharesModes = options.from != 0 || options.to != 0;
  if (!isCpu && sharesModes && gpus.size() < options.devices.size())
    return createStringError(
        "expects --devices to name each GPU once with --shard-axes, but got " +
        llvm::Twine(options.devices.size()) + " shares for " +
        llvm::Twine(gpus.size()) + (gpus.size() == 1 ? " GPU" : " GPUs"));
  if (given.reference || given.cold)
    return createStringError(
        "expects --devices without --reference and --cold");
  options.isGpu = !isCpu;
  options.numThreads = std::max<int32_t>(
      1, given.call.getNumThreads() / int32_t(options.devices.size()));
  options.runs = given.time;
  return options;
}

static llvm::Error checkOptions() {
  bool hasInput = !getOptions().inputFile.empty();
  if (hasInput == getOptions().calibrate)
    return createStringError(
        hasInput ? "expects no FILE.mlir with --calibrate, but got '" +
                       getOptions().inputFile + "'"
                 : "expects FILE.mlir, or --calibrate");
  if (getOptions().calibrate && getOptions().call.threads.getNumOccurrences())
    return createStringError("expects no --threads with --calibrate, which "
                             "measures one, but got " +
                             llvm::Twine(getOptions().call.threads));
  if (llvm::Error error = getOptions().call.checkThreads())
    return error;
  if (!llvm::is_contained({0, 128, 256, 512}, getOptions().vectorBits))
    return createStringError(
        "expects --vector-bits to be 128, 256 or 512, but got " +
        llvm::Twine(getOptions().vectorBits));
  return llvm::Error::success();
}

/// The results that `module` has for the magnitudes of what it sums up;
/// nothing, if it sums up no products with a matrix alone.
static llvm::Expected<std::optional<CallArguments>>
computeMagnitudes(const Session &oracle, ModuleOp module,
                  const KernelManifest &kernel, const CallArguments &wide) {
  OwningOpRef<ModuleOp> magnitudes = module.clone();
  auto function = magnitudes->lookupSymbol<func::FuncOp>(kernel.name);
  std::optional<unsigned> number;
  if (function)
    number = takeMagnitudes(function);
  if (!number)
    return std::nullopt;
  llvm::Expected<CallArguments> call = wide.copy();
  if (!call)
    return call.takeError();
  HostArray &values = call->arrays[*number];
  for (int64_t i = 0; i < values.getNumElements(); ++i)
    values.store(i, std::abs(values.load(i).real()));
  auto compiled = oracle.load(*magnitudes);
  if (failed(compiled))
    return diagnosedError();
  if (llvm::Error error = call->launch(compiled->lookup(kernel.name),
                                       getOptions().call.threads))
    return error;
  return std::move(*call);
}

static llvm::Error verifyResults(const Session &session, ModuleOp module,
                                 const KernelManifest &kernel,
                                 const CallArguments &call,
                                 CallArguments &wide) {
  Session oracle = session;
  oracle.useHost(getOptions().call.getNumThreads(), getOptions().vectorBits);
  oracle.getOptions().reference = oracle.getOptions().widen = true;
  auto magnitudes = computeMagnitudes(oracle, module, kernel, wide);
  if (!magnitudes)
    return magnitudes.takeError();
  auto function = module.lookupSymbol<func::FuncOp>(kernel.name);
  double epsilon =
      function ? getAllowedEpsilon(function, session.isForGPU()) : 0;
  auto compiled = oracle.load(module);
  if (failed(compiled))
    return diagnosedError();
  if (llvm::Error error =
          wide.launch(compiled->lookup(kernel.name), getOptions().call.threads))
    return error;
  bool ok = true;
  for (unsigned index : getWrittenArgs(kernel)) {
    Difference difference =
        compare(call.arrays[index], wide.arrays[index],
                *magnitudes ? &(*magnitudes)->arrays[index] : nullptr, epsilon);
    llvm::outs() << llvm::formatv(
        "verify {0}: max abs {1:e2}, relative L2 {2:e2}, bound {3:e2}: {4}\n",
        kernel.args[index].name, difference.maxAbs, difference.relativeL2,
        difference.bound, difference.isWithinBound ? "ok" : "FAILED");
    ok &= difference.isWithinBound;
  }
  if (ok)
    return llvm::Error::success();
  return createStringError(
      "the results of '" + kernel.name +
      "' differ from the reference by more than the bound");
}

static void printRate(StringRef name, const Work &work, double seconds) {
  std::string rate = "GFLOP/s unknown";
  if (work.flops > 0)
    rate = llvm::formatv("{0:f2} GFLOP/s", work.flops / seconds * 1e-9).str();
  llvm::outs() << llvm::formatv("{0}: {1}, {2:f2} GB/s", name, rate,
                                work.bytes / seconds * 1e-9);
}

static void printCompileTimes(const CompileTimes &compile) {
  llvm::outs() << llvm::formatv("compiled in {0:f1} ms (passes {1:f1}, LLVM "
                                "optimizer {2:f1}, code {3:f1}",
                                compile.getTotal(), compile.passes,
                                compile.optimizer, compile.codegen);
  if (compile.gpu > 0)
    llvm::outs() << llvm::formatv(", GPU code {0:f1}", compile.gpu);
  llvm::outs() << ")\n";
}

/// The same as timeRuns, on a GPU.
static llvm::Error timeGpuRuns(ModuleOp module, Gpu &gpu,
                               const JITModule &compiled,
                               const KernelManifest &kernel,
                               CallArguments &call) {
  auto calls =
      RotatingDeviceCalls::create(gpu, kernel, call, getOptions().cold);
  if (!calls)
    return calls.takeError();
  auto times = calls->time(compiled.lookup(kernel.name), getOptions().time);
  if (!times)
    return times.takeError();
  double median = (*times)[times->size() / 2];
  llvm::outs() << llvm::formatv(
      "{0}: median {1:f4} ms, min {2:f4} ms ({3} runs, {4}{5})\n", kernel.name,
      median * 1e3, times->front() * 1e3, times->size(), gpu.getName(),
      getOptions().cold ? ", cold L2" : "");
  Work work = countWork(module, kernel.name, kernel, call);
  auto copy = measureGpuCopy(gpu, work.bytes);
  if (!copy)
    return copy.takeError();
  printRate(kernel.name, work, median);
  llvm::outs() << llvm::formatv(", {0:f1} % of a copy of as many bytes "
                                "(measured: {1:f1} GB/s)\n",
                                work.bytes / *copy / median * 100,
                                *copy * 1e-9);
  printCompileTimes(compiled.getTimes());
  return llvm::Error::success();
}

/// Prints times, rates, and how near they are to what this machine can do.
static llvm::Error timeRuns(ModuleOp module, const JITModule &compiled,
                            const KernelManifest &kernel, CallArguments &call) {
  int32_t threads = getOptions().call.getNumThreads();
  auto times = timeLaunches(compiled.lookup(kernel.name), kernel, call, threads,
                            getOptions().time);
  if (!times)
    return times.takeError();
  double median = (*times)[times->size() / 2];
  llvm::outs() << llvm::formatv(
      "{0}: median {1:f4} ms, min {2:f4} ms ({3} runs, {4} threads)\n",
      kernel.name, median * 1e3, times->front() * 1e3, times->size(), threads);
  Work work = countWork(module, kernel.name, kernel, call);
  KronType type = call.arrays[getWrittenArgs(kernel).front()].getType();
  MachineLimits limits = MachineLimits::measure(type, work.bytes, threads);
  double floor = std::max(work.flops / limits.flopsPerSecond,
                          work.bytes / limits.bytesPerSecond);
  printRate(kernel.name, work, median);
  llvm::outs() << llvm::formatv(
      ", {0:f1} % of this machine's limit (measured: {1:f1} GFLOP/s, {2:f1} "
      "GB/s)\n",
      floor / median * 100, limits.flopsPerSecond * 1e-9,
      limits.bytesPerSecond * 1e-9);
  printCompileTimes(compiled.getTimes());
  return llvm::Error::success();
}

static llvm::Error writeOutputs(const KernelManifest &kernel,
                                CallArguments &call) {
  std::vector<unsigned> written = getWrittenArgs(kernel);
  for (auto [file, index] : llvm::zip(getOptions().outs, written)) {
    if (file == "-") {
      printArray(llvm::outs(), call.arrays[index]);
      continue;
    }
    if (llvm::Error error = writeNpy(file, call.arrays[index]))
      return error;
  }
  return llvm::Error::success();
}

/// The GPU to run on; null for the CPU.
static llvm::Expected<std::unique_ptr<Gpu>>
openGpu(const DeviceOptions &devices) {
  auto number = parseGpuTarget(getOptions().call.target);
  if (!number)
    return number.takeError();
  if (*number)
    return Gpu::open(**number);
  if (devices.isGpu)
    return nullptr;
  if (getOptions().cold || !getOptions().gpuArch.empty())
    return createStringError(
        "expects --target cuda with --cold and --gpu-arch, but got cpu");
  return nullptr;
}

/// What compiles for the GPUs to run on, or for this processor.
static llvm::Expected<Session> createSession(const Gpu *gpu,
                                             const DeviceOptions &devices) {
  Session session;
  useHost(session, getOptions().call.getNumThreads(), getOptions().vectorBits,
          "kron-run");
  session.getOptions().reference = getOptions().reference;
  if (gpu || devices.isGpu) {
    SmallVector<int32_t> numbers(devices.devices.begin(),
                                 devices.devices.end());
    if (gpu)
      numbers = {gpu->getNumber()};
    if (llvm::Error error =
            useGPUs(session, numbers, getOptions().gpuArch, "kron-run"))
      return std::move(error);
  }
  return session;
}

static llvm::Error addRecords(Session &session) {
  if (llvm::Error error = session.addRecords(std::vector<std::string>(
          getOptions().records.begin(), getOptions().records.end())))
    return error;
  session.addDefaultRecords();
  return llvm::Error::success();
}

/// Shares the call out among --devices, and prints the times.
static llvm::Error launchOnDevices(const Session &session, ModuleOp module,
                                   const KernelManifest &kernel,
                                   const KronKernel *address,
                                   CallArguments &call,
                                   const DeviceOptions &devices) {
  auto times = runOnDevices(session, module, kernel, address, call, devices);
  if (!times)
    return times.takeError();
  if (times->empty())
    return llvm::Error::success();
  double median = (*times)[times->size() / 2];
  llvm::outs() << llvm::formatv(
      "{0}: median {1:f4} ms, min {2:f4} ms ({3} runs, {4}: {5})\n",
      kernel.name, median * 1e3, times->front() * 1e3, times->size(),
      devices.isGpu ? "GPUs" : "groups of threads", devices.devices.size());
  printRate(kernel.name, countWork(module, kernel.name, kernel, call), median);
  llvm::outs() << "\n";
  return llvm::Error::success();
}

static llvm::Error calibrateTarget() {
  auto number = parseGpuTarget(getOptions().call.target);
  if (!number)
    return number.takeError();
  std::optional<double> seconds;
  if (getOptions().calibrationSeconds >= 0)
    seconds = getOptions().calibrationSeconds;
  return calibrate(*number, llvm::outs(), seconds,
                   getOptions().calibrationCountsAll ? getSteadySeconds
                                                     : getThreadSeconds);
}

static llvm::Error run() {
  if (llvm::Error error = checkOptions())
    return error;
  warnOfCache("kron-run");
  if (getOptions().calibrate)
    return calibrateTarget();
  auto devices = getDeviceOptions();
  if (!devices)
    return devices.takeError();
  bool isShared = !devices->devices.empty();
  auto gpu = openGpu(*devices);
  if (!gpu)
    return gpu.takeError();
  auto session = createSession(gpu->get(), *devices);
  if (!session)
    return session.takeError();
  auto outShapes = getOptions().call.parseOutShapes();
  if (!outShapes)
    return outShapes.takeError();
  if (llvm::Error error = addRecords(*session))
    return error;
  auto source = session->read(getOptions().inputFile);
  if (!source)
    return source.takeError();
  ModuleOp module = (*source)->get();
  if (llvm::Error error = selectEntry(module, getOptions().call.entry))
    return error;
  // Files may be in Fortran order, and shares of arrays have gaps.
  if (!isShared && llvm::all_of(getOptions().call.args, isGenerated))
    markRowMajor(module);
  auto compiled = session->load(module);
  if (failed(compiled))
    return diagnosedError();
  const KernelManifest &kernel = compiled->getKernels().front();
  size_t numOuts = getWrittenArgs(kernel).size();
  if (getOptions().outs.size() > numOuts)
    return createStringError(
        llvm::formatv("function '{0}' has {1} outputs, but got {2} --out",
                      kernel.name, numOuts, getOptions().outs.size())
            .str());
  auto call = CallArguments::create(kernel, getOptions().call.args, *outShapes);
  if (!call)
    return call.takeError();
  // Before the launch: in-place arguments lose their input.
  llvm::Expected<CallArguments> wide =
      getOptions().verify ? call->widen()
                          : llvm::Expected<CallArguments>(CallArguments());
  if (!wide)
    return wide.takeError();
  const KronKernel *address = compiled->lookup(kernel.name);
  if (llvm::Error error = isShared
                              ? launchOnDevices(*session, module, kernel,
                                                address, *call, *devices)
                              : launchOnce(address, kernel, *call, gpu->get(),
                                           getOptions().call.threads))
    return error;
  if (getOptions().verify)
    if (llvm::Error error =
            verifyResults(*session, module, kernel, *call, *wide))
      return error;
  if (getOptions().time && numOuts > 0 && !isShared)
    if (llvm::Error error =
            *gpu ? timeGpuRuns(module, **gpu, *compiled, kernel, *call)
                 : timeRuns(module, *compiled, kernel, *call))
      return error;
  return writeOutputs(kernel, *call);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  getOptions();
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles a kron module in memory and runs one of its functions\n");
  if (llvm::Error error = run()) {
    std::string message = llvm::toString(std::move(error));
    if (!message.empty())
      llvm::WithColor::error(llvm::errs(), "kron-run") << message << "\n";
    return 1;
  }
  return 0;
}
