//===- kron-tune.cpp - Find the fastest plans -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/CommandLine.h"
#include "kron/Driver/Tuner.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "kron/Target/Output.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include <cmath>
#include <csignal>
#include <unistd.h>

using namespace mlir;
using namespace mlir::kron;
namespace cl = llvm::cl;
using llvm::createStringError;

namespace {
enum class Level { Fast, Measure, Patient };
enum class Action { Tune, Refresh, List, Show, Merge };

/// Built after LLVM's own options are dropped, some of which have these names.
struct Options {
  cl::OptionCategory category{"kron-tune options"};
  cl::list<std::string> files{cl::cat(category), cl::Positional, cl::OneOrMore,
                              cl::desc("FILE.mlir, or files of records")};
  cl::opt<std::string> output{
      cl::cat(category), "o",
      cl::desc("File that records are added to, or with --merge written to "
               "(default: records.jsonl of the user's cache)"),
      cl::value_desc("file.jsonl")};
  cl::opt<Action> action{
      cl::cat(category), cl::desc("Instead of looking for the fastest plans:"),
      cl::init(Action::Tune),
      cl::values(
          clEnumValN(Action::Refresh, "refresh",
                     "Measure the plans of FILE.mlir's operations in -o again, "
                     "beside the default"),
          clEnumValN(Action::List, "list", "Print a line for each record"),
          clEnumValN(Action::Show, "show", "Print all that records say"),
          clEnumValN(Action::Merge, "merge",
                     "Write the last record for each operation and machine "
                     "to -o"))};
  cl::opt<bool> missing{
      cl::cat(category), "missing",
      cl::desc("Tune only operations of which -o has no record yet")};
  CallOptions call{category};
  cl::opt<unsigned> compileThreads{
      cl::cat(category), "compile-threads",
      cl::desc("Threads that compile candidates, at most (default: as many as "
               "there are processors for)"),
      cl::init(0)};
  cl::opt<Level> level{
      cl::cat(category), "level", cl::desc("How long to search:"),
      cl::init(Level::Measure),
      cl::values(
          clEnumValN(Level::Fast, "fast", "2 seconds an operation"),
          clEnumValN(Level::Measure, "measure", "10 seconds (the default)"),
          clEnumValN(Level::Patient, "patient", "60 seconds"))};
  cl::opt<double> seconds{cl::cat(category), "seconds",
                          cl::desc("Seconds an operation, instead of those of "
                                   "the level"),
                          cl::init(0)};
  cl::list<std::string> fakeTimes{
      cl::cat(category), "fake-time", cl::Hidden,
      cl::desc("Measure nothing: a launch takes a millisecond, times FACTOR "
               "if its constraints have TEXT"),
      cl::value_desc("text:factor")};
};
} // namespace

static Options &getOptions() {
  static Options options;
  return options;
}

//===----------------------------------------------------------------------===//
// Files of records
//===----------------------------------------------------------------------===//

static void warn(const std::string &message) {
  llvm::WithColor::warning(llvm::errs(), "kron-tune") << message << "\n";
}

static llvm::Expected<std::vector<Record>> readAll() {
  std::vector<Record> all;
  for (const std::string &file : getOptions().files) {
    auto records = readRecords(file, warn);
    if (!records)
      return records.takeError();
    all.insert(all.end(), records->begin(), records->end());
  }
  return all;
}

static std::string getGain(double defaultSeconds, double seconds,
                           double spread) {
  return llvm::formatv("{0:f4} ms, {1:f2} x as fast as the default (+- {2:f1} "
                       "%)",
                       seconds * 1e3, defaultSeconds / seconds, spread * 100)
      .str();
}

static std::string getDefaultTime(double seconds) {
  return llvm::formatv("the default is the fastest: {0:f4} ms", seconds * 1e3)
      .str();
}

static void print(const Record &record, bool isWhole) {
  llvm::outs() << record.target.getText() << ": " << record.key.getText()
               << ": "
               << (record.plan.empty() ? getDefaultTime(record.seconds)
                                       : getGain(record.defaultSeconds,
                                                 record.seconds, record.spread))
               << "\n";
  if (!isWhole)
    return;
  const RecordOrigin &made = record.made;
  if (!record.plan.empty())
    llvm::outs() << "  " << record.plan << "\n";
  llvm::outs() << "  made by kron " << made.kron << ", plans of schema "
               << made.planSchema << ", LLVM " << made.llvm;
  if (!made.driver.empty())
    llvm::outs() << ", driver " << made.driver;
  llvm::outs() << llvm::formatv("; differs from the default by {0:e2}\n",
                                record.error);
}

static llvm::Error useRecords() {
  auto records = readAll();
  if (!records)
    return records.takeError();
  if (getOptions().action != Action::Merge) {
    for (const Record &record : *records)
      print(record, getOptions().action == Action::Show);
    return llvm::Error::success();
  }
  if (getOptions().output.empty())
    return createStringError("expects -o with --merge");
  return writeFile(getOptions().output, [&](llvm::raw_ostream &stream) {
    for (const Record &record : mergeRecords(*records))
      stream << record.print() << "\n";
  });
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t isInterrupted = 0;

static llvm::Expected<std::optional<FakeTimes>> parseFakeTimes() {
  if (getOptions().fakeTimes.empty())
    return std::nullopt;
  FakeTimes times;
  for (StringRef spec : getOptions().fakeTimes) {
    auto [text, number] = spec.rsplit(':');
    double factor = 0;
    if (number.getAsDouble(factor) || factor <= 0)
      return createStringError("expects --fake-time TEXT:FACTOR, but got '" +
                               spec + "'");
    times.factors.emplace_back(text.str(), factor);
  }
  return times;
}

static SearchOptions getSearchOptions() {
  SearchOptions search;
  switch (getOptions().level) {
  case Level::Fast:
    search.seconds = 2;
    search.numCandidates = 4;
    search.numRounds = 1;
    search.mostPairs = 20;
    break;
  case Level::Measure:
    break;
  case Level::Patient:
    search.seconds = 60;
    search.numRounds = 4;
    search.mostPairs = 100;
    break;
  }
  if (getOptions().seconds > 0)
    search.seconds = getOptions().seconds;
  if (getOptions().action == Action::Refresh)
    search.numCandidates = search.numRounds = 0;
  return search;
}

/// Says where the model of the machine is more than 10 % off.
static void printModel(const ModelTime &model, double seconds) {
  double ratio = model.total > 0 ? seconds / model.total : 1;
  if (std::abs(ratio - 1) <= 0.1)
    return;
  llvm::outs() << llvm::formatv("  model: {0:f4} ms, measured {1:f4} ms, {2:f0}"
                                " % {3}; of the measured time:",
                                model.total * 1e3, seconds * 1e3,
                                std::abs(ratio - 1) * 100,
                                ratio > 1 ? "more" : "less");
  for (auto [index, term] : llvm::enumerate(model.terms))
    llvm::outs() << llvm::formatv(
        "{0} {1} {2:f4} ms ({3:f0} %)", index ? "," : "", term.first,
        term.second * 1e3, term.second / seconds * 100);
  llvm::outs() << "\n";
}

static llvm::Error report(const TunedOperation &tuned,
                          const std::string &output) {
  const SearchResult &result = tuned.result;
  llvm::outs() << tuned.key.getText() << "\n"
               << "  " << result.measurements.size() << " plans were measured, "
               << result.numRefused << " cannot be run"
               << (result.isCutOff ? ", the search was cut off" : "") << "\n";
  if (result.plan.empty())
    llvm::outs() << "  " << getDefaultTime(result.seconds) << "\n";
  else
    llvm::outs() << "  "
                 << getGain(result.defaultSeconds, result.seconds,
                            result.spread)
                 << "\n  found: " << result.plan
                 << "\n  plan: " << tuned.record->plan << "\n";
  printModel(tuned.model, result.seconds);
  llvm::outs().flush();
  return tuned.record ? appendRecords(output, *tuned.record)
                      : llvm::Error::success();
}

static llvm::Error checkTuning() {
  if (getOptions().files.size() != 1)
    return createStringError("expects one FILE.mlir, but got " +
                             llvm::Twine(getOptions().files.size()) + " files");
  if (llvm::Error error = getOptions().call.checkThreads())
    return error;
  if (getOptions().compileThreads.getNumOccurrences() &&
      getOptions().compileThreads < 1)
    return createStringError(
        "expects --compile-threads to be at least 1, but got 0");
  if (getOptions().seconds.getNumOccurrences() &&
      !(getOptions().seconds > 0 && std::isfinite(getOptions().seconds)))
    return createStringError(
        llvm::formatv("expects --seconds to be above 0, but got {0}",
                      double(getOptions().seconds))
            .str());
  return llvm::Error::success();
}

static llvm::Error tuneFile() {
  if (llvm::Error error = checkTuning())
    return error;
  warnOfCache("kron-tune");
  std::string output = getOptions().output;
  if (output.empty() && !getOptions().fakeTimes.empty())
    return createStringError("expects -o with --fake-time");
  if (output.empty())
    output = getUserRecordFile();
  if (output.empty())
    return createStringError("expects -o, since there is no user's cache");
  auto number = parseGpuTarget(getOptions().call.target);
  if (!number)
    return number.takeError();
  auto fakeTimes = parseFakeTimes();
  if (!fakeTimes)
    return fakeTimes.takeError();
  auto outShapes = getOptions().call.parseOutShapes();
  if (!outShapes)
    return outShapes.takeError();
  TuneOptions options;
  options.search = getSearchOptions();
  options.numCompileThreads = getOptions().compileThreads;
  options.fakeTimes = std::move(*fakeTimes);
  options.isStopped = [] { return isInterrupted != 0; };
  Session session;
  useHost(session, getOptions().call.getNumThreads(), /*vectorBits=*/0,
          "kron-tune");
  std::unique_ptr<Gpu> gpu;
  if (*number) {
    auto opened = Gpu::open(**number);
    if (!opened)
      return opened.takeError();
    gpu = std::move(*opened);
    options.gpu = gpu.get();
    if (llvm::Error error =
            useGPUs(session, {**number}, /*name=*/"", "kron-tune"))
      return error;
  }
  options.skip = warn;
  bool showsProgress = isatty(STDERR_FILENO);
  if (showsProgress)
    options.progress = [](const std::string &text) {
      // Over the line before, of which nothing is left.
      llvm::errs() << "\r\x1b[K" << StringRef(text).take_front(100);
    };
  auto source = session.read(getOptions().files.front());
  if (!source)
    return source.takeError();
  if (llvm::Error error =
          selectEntry((*source)->get(), getOptions().call.entry))
    return error;
  // What cannot be written had better be known before the search.
  if (llvm::Error error = checkRecordOutput(output))
    return error;
  bool refreshes = getOptions().action == Action::Refresh;
  if (refreshes || llvm::sys::fs::is_regular_file(output)) {
    auto known = readRecords(output, warn);
    if (!known)
      return known.takeError();
    options.known = std::move(*known);
  }
  if (refreshes)
    options.scope = TuneScope::Known;
  else if (getOptions().missing)
    options.scope = TuneScope::Unknown;
  // The second one ends at once.
  std::signal(SIGINT, [](int) {
    isInterrupted = 1;
    std::signal(SIGINT, SIG_DFL);
  });
  return tune(session, (*source)->get(), getOptions().call.getArgs(),
              *outShapes, options, [&](const TunedOperation &tuned) {
                if (showsProgress)
                  llvm::errs() << "\r\x1b[K";
                return report(tuned, output);
              });
}

static llvm::Error run() {
  Action action = getOptions().action;
  if (action != Action::Tune && getOptions().missing)
    return createStringError("expects --missing without --refresh, --list, "
                             "--show and --merge");
  return action == Action::Tune || action == Action::Refresh ? tuneFile()
                                                             : useRecords();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  getOptions();
  cl::ParseCommandLineOptions(
      argc, argv,
      "Finds the fastest plans of a kron module's operations by measuring "
      "them\n");
  if (llvm::Error error = run()) {
    std::string message = llvm::toString(std::move(error));
    if (!message.empty())
      llvm::WithColor::error(llvm::errs(), "kron-tune") << message << "\n";
    return 1;
  }
  return 0;
}
