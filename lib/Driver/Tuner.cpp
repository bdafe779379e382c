//===- Tuner.cpp - The fastest plans of a file's operations -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Plans are constraints on the operation: --kron-plan completes them, says what
// is none, and is asked for the plan of the winner, which does not depend on
// what planners choose later.
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Tuner.h"
#include "CandidateQueue.h"
#include "RotatingCalls.h"
#include "kron/Conversion/RowMajor.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Driver/Measure.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/Tuning/PlanSpace.h"
#include "kron/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <map>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

/// Runs of one sample on a GPU.
static constexpr unsigned kGPURuns = 5;
/// Marks what an operation has become.
static constexpr llvm::StringLiteral kMark = "kron.tuned";

double FakeTimes::getSeconds(StringRef plan) const {
  double seconds = 1e-3;
  for (const auto &[text, factor] : factors)
    if (plan.contains(text))
      seconds *= factor;
  return seconds;
}

namespace {
/// What --kron-plan makes of constraints.
struct Planned {
  /// Of fused regions in the order of application, or of the other operation
  /// that takes a plan; none: the constraints cannot be met.
  SmallVector<PlannedRegion> regions;
  double estimate = 0;
  ModelTime model;
};

/// The module in a context that one thread compiles in at a time.
struct OwnSource {
  std::string log;
  llvm::raw_string_ostream stream{log};
  std::unique_ptr<SourceModule> module;
};

/// Tunes the operations of one key.
class OperationTuner {
public:
  OperationTuner(
      const Session &session, ModuleOp module, RecordKey key,
      ArrayRef<std::string> specs,
      const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes,
      const TuneOptions &options)
      : session(session), module(module), key(std::move(key)),
        target(session.getRecordTarget()), specs(specs), outShapes(outShapes),
        options(options) {
    llvm::raw_string_ostream(text) << module;
    CompileThreads threads = CompileThreads::choose(
        llvm::hardware_concurrency().compute_thread_count(),
        target.isGPU() ? 1 : getNumThreads(), options.numCompileThreads);
    queue.emplace(threads, [this](const std::string &plan) { compile(plan); });
  }

  /// Whether plans apply to the operation: it may be one that takes the
  /// reference lowering.
  bool hasPlan() { return !getPlanned("").regions.empty(); }
  /// Whether a record of it is used already.
  bool isKnown();
  llvm::Expected<TunedOperation> run();

private:
  OwningOpRef<ModuleOp> build(ModuleOp from, const std::string &plan) const;
  const Planned &getPlanned(const std::string &plan);
  std::string getRecorded(const std::string &plan);
  void compile(const std::string &plan);
  const JITModule *getCompiled(const std::string &plan);
  llvm::Error prepare();
  bool isRight(const JITModule &compiled, const std::string &plan);
  llvm::Error run(const JITModule &candidate);
  std::optional<double> time(const std::string &plan);
  /// The same on arrays that are in the caches, of a plan that is right, on a
  /// CPU.
  std::optional<double> timeInCaches(const std::string &plan);
  double now() const;
  SearchProblem describe();
  std::optional<std::pair<int64_t, int64_t>> getRows();
  ModelTime estimate(const Planned &planned) const;

  int32_t getNumThreads() const { return session.getOptions().numThreads; }

  const Session &session;
  ModuleOp module;
  RecordKey key;
  /// The key with the rows of the arrays, once they are known.
  RecordKey measured;
  RecordTarget target;
  ArrayRef<std::string> specs;
  const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes;
  const TuneOptions &options;
  /// Plans as they were asked for; empty: the default.
  std::map<std::string, Planned> planned;
  std::map<std::string, std::optional<JITModule>> compiled;
  std::map<std::string, double> errors;
  /// Whether results are right, once that is known.
  std::map<std::string, bool> isChecked;
  /// The module as threads that compile read it, each into a context of its
  /// own, and those of them that none uses.
  std::string text;
  std::vector<std::unique_ptr<OwnSource>> sources;
  /// What is said of the first plan that does not compile.
  std::string problem;
  /// Of `compiled`, `sources` and `problem`.
  std::mutex mutex;
  /// Arguments, what the default makes of them, and a candidate.
  CallArguments inputs, expected, actual;
  /// One of both, by the target.
  std::optional<RotatingCalls> calls;
  std::optional<RotatingDeviceCalls> deviceCalls;
  KernelManifest manifest;
  double fakeClock = 0;
  /// Ends before what it compiles is gone.
  std::optional<CandidateQueue> queue;
};
} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The module `from` with constraints on the operations of the key, which are
/// marked; null if they are no plan.
OwningOpRef<ModuleOp> OperationTuner::build(ModuleOp from,
                                            const std::string &plan) const {
  MLIRContext *context = from.getContext();
  Attribute attribute;
  std::string problem;
  if (!plan.empty() &&
      !(attribute = parseRecordPlan(plan, target.isGPU(), context, problem)))
    return {};
  OwningOpRef<ModuleOp> copy(from.clone());
  copy->walk([&](Operation *op) {
    if (!isTunable(op) || !(getRecordKey(op) == key))
      return;
    op->setLoc(NameLoc::get(StringAttr::get(context, kMark), op->getLoc()));
    if (attribute)
      op->setInherentAttr(StringAttr::get(context, kPlanAttrName), attribute);
  });
  return copy;
}

static bool isMarked(Location loc) {
  return loc
      ->walk([](Location part) {
        auto name = dyn_cast<NameLoc>(part);
        return name && name.getName() == kMark ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

const Planned &OperationTuner::getPlanned(const std::string &plan) {
  auto [entry, isNew] = planned.try_emplace(plan);
  Planned &result = entry->second;
  if (!isNew)
    return result;
  OwningOpRef<ModuleOp> copy = build(module, plan);
  if (!copy)
    return result;
  if (failed(session.lower(*copy, /*planOnly=*/true)))
    return result;
  std::optional<GPUMachine> machine;
  if (target.isGPU())
    machine =
        llvm::cantFail(parseGPUMachine(session.getOptions().gpuChips.back()));
  double seconds[4] = {};
  copy->walk([&](Operation *op) {
    // Arrays of candidates are row-major. Code for others has to take the plan
    // as well, but is not run.
    if (!isa<FusedOp, KsmmGradOp, PairOpInterface>(op) ||
        !isMarked(op->getLoc()) || isForOtherLayouts(op))
      return;
    Attribute own = op->getInherentAttr(kPlanAttrName).value_or(Attribute());
    if (!own)
      return;
    PlannedRegion &region = result.regions.emplace_back();
    region.plan = own;
    auto fused = dyn_cast<FusedOp>(op);
    if (fused)
      region.numProducts = fused.getModeProducts().size();
    auto time =
        machine && fused ? estimateRegion(fused, *machine) : std::nullopt;
    if (!time)
      return;
    region.seconds = time->total;
    seconds[0] += time->memory;
    seconds[1] += time->arithmetic;
    seconds[2] += time->shared;
    seconds[3] += time->total;
  });
  result.estimate = seconds[3];
  // The model of functions of pairs does not tell its terms.
  if (machine && seconds[3] > 0)
    result.model = {
        {{"memory", seconds[0]},
         {"issue", seconds[1]},
         {"shared memory", seconds[2]},
         {"latency", machine->launchSeconds * result.regions.size()}},
        seconds[3]};
  return result;
}

/// Whether an operation has become several fused regions, and nothing else.
static bool isChain(ArrayRef<PlannedRegion> regions) {
  return regions.size() > 1 &&
         llvm::all_of(regions, [](const PlannedRegion &region) {
           return region.numProducts > 0;
         });
}

/// What a record has of constraints: complete plans, which do not depend on
/// what planners choose later, where these are constraints on the operation
/// that mean the same.
std::string OperationTuner::getRecorded(const std::string &plan) {
  ArrayRef<PlannedRegion> regions = getPlanned(plan).regions;
  if (regions.size() > 1 && !isChain(regions))
    return plan;
  Attribute complete =
      isChain(regions) ? Attribute(getRegionPlans(module.getContext(), regions))
                       : regions.front().plan;
  std::string text;
  llvm::raw_string_ostream(text) << complete;
  return llvm::equal(getPlanned(text).regions, regions,
                     [](const PlannedRegion &a, const PlannedRegion &b) {
                       return a.numProducts == b.numProducts &&
                              a.plan == b.plan;
                     })
             ? text
             : plan;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Compiles what can be planned, on any thread.
void OperationTuner::compile(const std::string &plan) {
  std::unique_ptr<OwnSource> source;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!sources.empty()) {
      source = std::move(sources.back());
      sources.pop_back();
    }
  }
  if (!source) {
    source = std::make_unique<OwnSource>();
    // It was printed from one that verifies.
    source->module = llvm::cantFail(session.parse(text, &source->stream));
  }
  std::optional<JITModule> result;
  if (OwningOpRef<ModuleOp> copy = build(source->module->get(), plan)) {
    auto module = session.load(*copy);
    if (succeeded(module))
      result.emplace(std::move(*module));
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (result)
    compiled[plan].emplace(std::move(*result));
  else if (problem.empty())
    problem = StringRef(source->log).trim().str();
  source->log.clear();
  sources.push_back(std::move(source));
}

/// Null if `plan` is none or its code does not compile.
const JITModule *OperationTuner::getCompiled(const std::string &plan) {
  if (getPlanned(plan).regions.empty())
    return nullptr;
  queue->require(plan);
  std::lock_guard<std::mutex> lock(mutex);
  const std::optional<JITModule> &result = compiled[plan];
  return result ? &*result : nullptr;
}

/// Whether the results are those of the default.
bool OperationTuner::isRight(const JITModule &candidate,
                             const std::string &plan) {
  if (llvm::Error error = run(candidate)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  double &most = errors[plan];
  for (unsigned index : getWrittenArgs(manifest)) {
    Difference difference =
        compare(actual.arrays[index], expected.arrays[index]);
    if (!difference.isWithinBound)
      return false;
    most = std::max(most, difference.relativeL2);
  }
  return true;
}

/// Runs `candidate` for its results: on a GPU on arrays that are there.
llvm::Error OperationTuner::run(const JITModule &candidate) {
  const KronKernel *kernel = candidate.lookup(manifest.name);
  if (deviceCalls)
    return deviceCalls->run(kernel, actual);
  auto call = inputs.copy();
  if (!call)
    return call.takeError();
  actual = std::move(*call);
  return actual.launch(kernel, getNumThreads());
}

/// Compiles the default, and runs it for the results that are right.
llvm::Error OperationTuner::prepare() {
  const JITModule *byDefault = getCompiled("");
  if (!byDefault)
    return createStringError("cannot compile " + key.getText() +
                             (problem.empty() ? "" : ": " + problem));
  manifest = byDefault->getKernels().front();
  auto call = CallArguments::create(manifest, specs, outShapes);
  if (!call)
    return call.takeError();
  inputs = std::move(*call);
  if (options.gpu) {
    auto rotating = RotatingDeviceCalls::create(*options.gpu, manifest, inputs,
                                                /*isCold=*/false);
    if (!rotating)
      return rotating.takeError();
    deviceCalls = std::move(*rotating);
    actual.arrays.resize(inputs.arrays.size());
    for (unsigned index : getWrittenArgs(manifest)) {
      const HostArray &array = inputs.arrays[index];
      auto result = array.convert(array.getType());
      if (!result)
        return result.takeError();
      actual.arrays[index] = std::move(*result);
    }
  }
  if (llvm::Error error = run(*byDefault))
    return error;
  auto first = actual.copy();
  if (!first)
    return first.takeError();
  expected = std::move(*first);
  if (options.gpu || options.fakeTimes)
    return llvm::Error::success();
  auto rotating = RotatingCalls::create(manifest, inputs, getNumThreads());
  if (!rotating)
    return rotating.takeError();
  calls = std::move(*rotating);
  return llvm::Error::success();
}

std::optional<double> OperationTuner::time(const std::string &plan) {
  const JITModule *candidate = getCompiled(plan);
  auto [right, isNew] = isChecked.try_emplace(plan, false);
  if (candidate && isNew)
    right->second = isRight(*candidate, plan);
  // What is wrong is not run again.
  if (!candidate || !right->second)
    return std::nullopt;
  if (options.fakeTimes) {
    double seconds = options.fakeTimes->getSeconds(plan);
    fakeClock += seconds;
    return seconds;
  }
  const KronKernel *kernel = candidate->lookup(manifest.name);
  if (!options.gpu) {
    auto seconds = calls->time(kernel);
    if (seconds)
      return *seconds;
    llvm::consumeError(seconds.takeError());
    return std::nullopt;
  }
  auto times = deviceCalls->time(kernel, kGPURuns);
  if (times)
    return (*times)[times->size() / 2];
  llvm::consumeError(times.takeError());
  return std::nullopt;
}

std::optional<double> OperationTuner::timeInCaches(const std::string &plan) {
  auto seconds = calls->timeInCaches(getCompiled(plan)->lookup(manifest.name));
  if (seconds)
    return *seconds;
  llvm::consumeError(seconds.takeError());
  return std::nullopt;
}

double OperationTuner::now() const {
  if (options.fakeTimes)
    return fakeClock;
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

bool OperationTuner::isKnown() {
  std::string problem;
  return llvm::any_of(options.known, [&](const Record &record) {
    return matches(record.target, target) &&
           record.made.planSchema == kPlanSchema && matches(record.key, key) &&
           (record.plan.empty() ||
            parseRecordPlan(record.plan, target.isGPU(), module.getContext(),
                            problem));
  });
}

SearchProblem OperationTuner::describe() {
  SearchProblem problem;
  problem.candidates = {""};
  // Whatever version of plans they are of: what they mean today is measured.
  for (const Record &record : llvm::reverse(options.known))
    if (record.target == target && record.key == measured &&
        !record.plan.empty() && !llvm::is_contained(problem.known, record.plan))
      problem.known.push_back(record.plan);
  // Every kernel that takes the operation, as the model would map it.
  if (target.isGPU() && options.scope != TuneScope::Known)
    for (uint32_t number = 1; number <= getMaxEnumValForGPUKernel(); ++number)
      if (auto kernel = symbolizeGPUKernel(number)) {
        std::string plan =
            ("#kron.gpu_plan<kernel = " + stringifyGPUKernel(*kernel) + ">")
                .str();
        if (!getPlanned(plan).regions.empty())
          problem.candidates.push_back(plan);
      }
  // Plans for processors have no estimates, and planning takes time.
  problem.estimate = [this](const std::string &plan) {
    return target.isGPU() ? getPlanned(plan).estimate : 0;
  };
  problem.getNeighbours = [this](const std::string &plan) {
    if (options.scope == TuneScope::Known)
      return std::vector<std::vector<std::string>>();
    ArrayRef<PlannedRegion> regions = getPlanned(plan).regions;
    return isChain(regions) ? getRegionNeighbours(plan, regions)
                            : getPlanNeighbours(plan, regions.front().plan);
  };
  problem.expect = [this](const std::vector<std::string> &plans) {
    queue->expect(plans);
  };
  problem.time = [this](const std::string &plan) { return time(plan); };
  if (calls && calls->isSeveral())
    problem.timeInCaches = [this](const std::string &plan) {
      return timeInCaches(plan);
    };
  problem.now = [this] { return now(); };
  problem.isStopped = options.isStopped;
  problem.report = [this, count = 0](const std::string &plan, bool wins,
                                     const std::string &leader) mutable {
    const std::string &best = wins ? plan : leader;
    options.progress(llvm::formatv("{0}: {1} plans, fastest: {2}", key.op,
                                   ++count, best.empty() ? "default" : best)
                         .str());
  };
  return problem;
}

/// Those of the first open size of an operation of the key, which an argument
/// of the function tells; none if it is no argument's, or several operations
/// differ.
std::optional<std::pair<int64_t, int64_t>> OperationTuner::getRows() {
  std::optional<int64_t> rows;
  WalkResult result = module->walk([&](Operation *op) {
    if (!isTunable(op) || !(getRecordKey(op) == key))
      return WalkResult::advance();
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<ShapedType>(operand.getType());
      if (!type || type.hasStaticShape())
        continue;
      auto arg = dyn_cast<BlockArgument>(operand);
      if (!arg || !isa<func::FuncOp>(arg.getOwner()->getParentOp()))
        return WalkResult::interrupt();
      unsigned axis = llvm::find_if(type.getShape(), ShapedType::isDynamic) -
                      type.getShape().begin();
      int64_t size = inputs.arrays[arg.getArgNumber()].getSizes()[axis];
      if (rows && *rows != size)
        return WalkResult::interrupt();
      rows = size;
      break;
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || !rows)
    return std::nullopt;
  return getRowBucket(*rows);
}

/// What takes the time of the function at least.
ModelTime OperationTuner::estimate(const Planned &best) const {
  // Plans are made for a nominal number of rows where that is open, which is
  // not that of the arrays.
  if (target.isGPU())
    return llvm::any_of(key.operands,
                        [](StringRef operand) { return operand.contains('?'); })
               ? ModelTime()
               : best.model;
  Work work = countWork(module, manifest.name, manifest, inputs);
  if (work.flops == 0)
    return ModelTime();
  KronType type = inputs.arrays[getWrittenArgs(manifest).front()].getType();
  MachineLimits limits =
      options.fakeTimes
          ? MachineLimits{1e9, 1e9}
          : MachineLimits::measure(type, work.bytes, getNumThreads());
  double memory = work.bytes / limits.bytesPerSecond,
         issue = work.flops / limits.flopsPerSecond;
  return {{{"memory", memory}, {"issue", issue}}, std::max(memory, issue)};
}

llvm::Expected<TunedOperation> OperationTuner::run() {
  if (llvm::Error error = prepare())
    return std::move(error);
  measured = key;
  measured.rows = getRows();
  SearchProblem problem = describe();
  TunedOperation tuned{measured, {}, std::nullopt, {}};
  if (problem.known.empty() && options.scope == TuneScope::Known)
    return tuned;
  auto result = search(problem, options.search);
  if (!result)
    return createStringError("cannot run " + key.getText());
  tuned.result = *result;
  tuned.model = estimate(getPlanned(result->plan));
  // A search that was stopped, or had time for nothing, has not shown that the
  // default is the fastest.
  size_t compared = result->measurements.size() - 1 + result->numRefused;
  bool isTooShort =
      result->isCutOff && compared < std::max<size_t>(1, problem.known.size());
  if (result->plan.empty() && (options.isStopped() || isTooShort))
    return tuned;
  Record record;
  record.key = measured;
  record.target = target;
  std::string driver;
  if (options.gpu) {
    auto version = options.gpu->getDriverVersion();
    if (!version)
      return version.takeError();
    driver = *version;
  }
  record.made = RecordOrigin::getOwn(driver);
  if (!result->plan.empty()) {
    record.plan = getRecorded(result->plan);
    record.error = errors[result->plan];
  }
  record.seconds = result->seconds;
  record.defaultSeconds = result->defaultSeconds;
  record.spread = result->spread;
  tuned.record = std::move(record);
  return tuned;
}

llvm::Error kron::tune(
    const Session &given, ModuleOp module, ArrayRef<std::string> specs,
    const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes,
    const TuneOptions &options,
    function_ref<llvm::Error(const TunedOperation &)> found) {
  // Candidates are compiled side by side, kernels of one are not.
  Session session = given;
  session.getOptions().numCompileThreads = 1;
  OwningOpRef<ModuleOp> simplified(module.clone());
  PassManager pm(module.getContext());
  populateKronSimplification(pm);
  if (failed(pm.run(*simplified)))
    return createStringError("cannot simplify the module");
  std::vector<RecordKey> keys;
  simplified->walk([&](Operation *op) {
    if (!isTunable(op))
      return;
    RecordKey key = getRecordKey(op);
    if (!llvm::is_contained(keys, key))
      keys.push_back(std::move(key));
  });
  if (keys.empty() && options.scope == TuneScope::Unknown)
    return llvm::Error::success();
  if (keys.empty())
    return createStringError("expects operations that take a plan and have "
                             "none, but got none of them");
  for (const RecordKey &key : keys) {
    if (options.isStopped())
      break;
    std::string problem;
    // What is no plan is told of by nobody: there are many.
    ScopedDiagnosticHandler collect(module.getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      if (problem.empty())
                                        problem = diagnostic.str();
                                      return success();
                                    });
    OperationTuner tuner(session, *simplified, key, specs, outShapes, options);
    if (!tuner.hasPlan()) {
      options.skip(key.getText() + ": no plan applies to it" +
                   (problem.empty() ? "" : ": " + problem));
      continue;
    }
    if (options.scope == TuneScope::Unknown && tuner.isKnown())
      continue;
    auto tuned = tuner.run();
    if (!tuned)
      return createStringError(llvm::toString(tuned.takeError()) +
                               (problem.empty() ? "" : ": " + problem));
    if (tuned->result.measurements.empty()) {
      options.skip(key.getText() + ": no record of it has a plan");
      continue;
    }
    if (llvm::Error error = found(*tuned))
      return error;
  }
  return llvm::Error::success();
}
