//===- Compiler.cpp - The extension module kron._compiler -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A program or the text of a module in, object code out, and object code into
// memory. The two halves are apart so that the cache of kernels (kron/cache.py)
// can lie between them.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "kron/Driver/Calibrate.h"
#include "kron/Driver/Tuner.h"
#include "kron/InitAll.h"
#include "kron/Machine/CacheFolder.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "kron/Target/ForkGuard.h"
#include "kron/Target/Output.h"
#include "kron/Target/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"
#include <dlfcn.h>
#include <mutex>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::kron;
using ::kron::python::Program;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

/// What a diagnostic becomes in Python: kron.CompileError.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace

[[noreturn]] static void fail(llvm::Error error) {
  throw CompileError(llvm::toString(std::move(error)));
}

/// What is there instead of an error.
template <typename T> static T getOrFail(llvm::Expected<T> result) {
  if (!result)
    fail(result.takeError());
  return std::move(*result);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Whose contexts all modules of this process are in. Never released: modules
/// may be there when the process ends.
static const Session &getSession() {
  static const auto *session = new Session;
  return *session;
}

/// A session for processors and GPU chips.
static Session configure(const std::vector<std::string> &processors,
                         const std::vector<std::string> &chips) {
  Session session = getSession();
  // Threads of other machines are not known.
  if (processors == std::vector<std::string>{"native"})
    session.useHost(kronGetNumThreads());
  else if (llvm::Error error = session.useProcessors(processors))
    throw py::value_error(llvm::toString(std::move(error)));
  if (llvm::Error error = session.addGPUs(chips))
    throw py::value_error(llvm::toString(std::move(error)));
  return session;
}

using Source = std::variant<std::string, const Program *>;

namespace {

/// A module on its way to code. It is made once, when it is first needed: for
/// its text, for what tuning records plan, or for its kernels.
class Compilation {
public:
  Compilation(Source input, const std::vector<std::string> &processors,
              const std::vector<std::string> &chips, bool reference,
              const std::vector<std::string> &records)
      : session(configure(processors, chips)), input(std::move(input)) {
    session.getOptions().reference = reference;
    session.getOptions().records = records;
  }

  /// As MLIR prints it: the key of the cache of kernels.
  std::string getText();
  /// What the records change in the code that compile() makes, and what is
  /// wrong with them.
  std::pair<std::string, std::vector<std::string>> getRecordedPlans();
  py::dict compile(bool cFunctions);

private:
  ModuleOp open();

  Session session;
  Source input;
  std::unique_ptr<SourceModule> source;
  std::mutex mutex;
};

} // namespace

ModuleOp Compilation::open() {
  if (source)
    return source->get();
  if (auto *text = std::get_if<std::string>(&input))
    source = getOrFail(session.parse(*text));
  else
    source = getOrFail(session.build([&](MLIRContext *context) {
      return buildProgram(*std::get<const Program *>(input), context);
    }));
  return source->get();
}

std::string Compilation::getText() {
  py::gil_scoped_release release;
  ForkGuard guard;
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  llvm::raw_string_ostream(text) << open();
  return text;
}

std::pair<std::string, std::vector<std::string>>
Compilation::getRecordedPlans() {
  py::gil_scoped_release release;
  ForkGuard guard;
  std::lock_guard<std::mutex> lock(mutex);
  if (session.getOptions().records.empty())
    return {};
  RecordedPlans recorded = session.getRecordedPlans(open());
  return {std::move(recorded.plans), std::move(recorded.warnings)};
}

static py::dict getDict(const CompileTimes &times) {
  py::dict result;
  result["passes"] = times.passes;
  result["optimizer"] = times.optimizer;
  result["codegen"] = times.codegen;
  result["gpu"] = times.gpu;
  return result;
}

py::dict Compilation::compile(bool cFunctions) {
  ObjectCode object;
  std::string remarks;
  std::vector<std::string> warnings;
  {
    py::gil_scoped_release release;
    ForkGuard guard;
    std::lock_guard<std::mutex> lock(mutex);
    session.getOptions().emitCFunctions = cFunctions;
    FailureOr<ObjectCode> compiled = session.compile(open());
    if (failed(compiled))
      fail(source->getError());
    object = std::move(*compiled);
    remarks = source->getRemarks();
    warnings = source->getWarnings().vec();
  }
  py::list names;
  for (const KernelManifest &kernel : object.kernels)
    names.append(kernel.name);
  py::dict result;
  result["object"] = py::bytes(object.code);
  result["names"] = std::move(names);
  result["remarks"] = std::move(remarks);
  result["warnings"] = std::move(warnings);
  result["times"] = getDict(object.times);
  return result;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Object code into memory; keeps it there.
static std::unique_ptr<LoadedObject>
loadObject(const py::bytes &object, const std::vector<std::string> &names) {
  std::string_view code = object;
  py::gil_scoped_release release;
  ForkGuard guard;
  return std::make_unique<LoadedObject>(getOrFail(
      LoadedObject::create(StringRef(code.data(), code.size()), names)));
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {

/// Keeps the module's text after every pass.
class Recorder : public PassInstrumentation {
public:
  explicit Recorder(std::vector<std::pair<std::string, std::string>> &stages)
      : stages(stages) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isa<ModuleOp>(op) || pass->getArgument().empty())
      return;
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    stages.emplace_back(pass->getArgument().str(), std::move(text));
  }

private:
  std::vector<std::pair<std::string, std::string>> &stages;
};

} // namespace

/// Runs `pipeline` on a module. Returns its text and, if `record`, what it was
/// after each pass, and remarks.
static py::tuple runPasses(const std::string &text, const std::string &pipeline,
                           bool record) {
  std::vector<std::pair<std::string, std::string>> stages;
  std::string result, remarks;
  {
    py::gil_scoped_release release;
    ForkGuard guard;
    auto source = getOrFail(getSession().parse(text));
    std::optional<RemarkPrinter> printer;
    if (record)
      printer.emplace(source->get().getContext(), kUsualRemarks);
    [[maybe_unused]] static bool registered = (registerCompilerPasses(), true);
    PassManager pm(source->get().getContext());
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (failed(parsePassPipeline(pipeline, pm, stream)))
      fail(source->getError(problem));
    if (record)
      pm.addInstrumentation(std::make_unique<Recorder>(stages));
    if (failed(pm.run(source->get())))
      fail(source->getError());
    llvm::raw_string_ostream(result) << source->get();
    remarks = source->getRemarks();
  }
  return py::make_tuple(result, stages, remarks);
}

/// The pipeline that kernels for the last of these are compiled by.
static std::string getPipeline(const std::vector<std::string> &processors,
                               const std::vector<std::string> &chips) {
  return configure(processors, chips).getPipeline();
}

static std::string describeHost() {
  Processor host = getHostProcessor();
  return host.cpu + " " + host.features;
}

/// The files that the compiler's code is in: this module and, unless they are
/// in it, the libraries of LLVM and MLIR.
static std::vector<std::string> getCodeFiles() {
  const void *parts[] = {reinterpret_cast<void *>(&describeHost),
                         reinterpret_cast<void *>(&llvm::sys::getHostCPUName),
                         reinterpret_cast<void *>(&mlir::verify)};
  std::vector<std::string> files;
  for (const void *part : parts) {
    Dl_info info;
    if (dladdr(part, &info) && info.dli_fname &&
        !llvm::is_contained(files, info.dli_fname))
      files.push_back(info.dli_fname);
  }
  return files;
}

static void saveLibrary(const py::bytes &object, const std::string &path,
                        const std::string &runtimeFolder) {
  std::string_view code = object;
  if (llvm::Error error = linkSharedLibrary(StringRef(code.data(), code.size()),
                                            path, runtimeFolder))
    fail(std::move(error));
}

/// The name that plans for a GPU are made for, and warnings.
static std::pair<std::string, std::string> nameGPU(int device) {
  py::gil_scoped_release release;
  ForkGuard guard;
  std::string warnings;
  llvm::raw_string_ostream stream(warnings);
  std::string name = getOrFail(getGPUName(device, stream));
  return {name, warnings};
}

/// The report about GPU `device`, or the processor if that is less than 0.
static std::string calibrateDevice(int device) {
  py::gil_scoped_release release;
  ForkGuard guard;
  std::string report;
  llvm::raw_string_ostream stream(report);
  std::optional<int32_t> number;
  if (device >= 0)
    number = device;
  if (llvm::Error error = calibrate(number, stream))
    fail(std::move(error));
  return report;
}

/// Tunes the only public function of the module `text` on arrays `specs`, on
/// GPU `device` or, if that is less than 0, the processor, and adds records to
/// the file `output`. Outputs have `shapes`, unless these are empty. Returns
/// operation, plan, seconds and those of the default of each operation, with
/// `onlyUnknown` of those alone that no record is used for. Signals end it with
/// what was found.
static py::list tuneModule(const std::string &text,
                           const std::vector<std::string> &specs,
                           const std::vector<std::vector<int64_t>> &shapes,
                           int device, double seconds,
                           const std::string &output, bool onlyUnknown) {
  std::vector<std::tuple<std::string, std::string, double, double>> found;
  bool isInterrupted = false;
  {
    py::gil_scoped_release release;
    std::optional<ForkGuard> guard(std::in_place);
    std::string log;
    llvm::raw_string_ostream stream(log);
    Session session = getSession();
    session.useHost(kronGetNumThreads());
    auto source = session.parse(text, &stream);
    if (!source) {
      llvm::consumeError(source.takeError());
      throw CompileError(log);
    }
    TuneOptions options;
    if (onlyUnknown)
      options.scope = TuneScope::Unknown;
    // Damaged lines are told of where records are used.
    for (const std::string &path : getDefaultRecordFiles(kronGetNumThreads()))
      if (auto records = readRecords(path, [](const std::string &) {}))
        llvm::append_range(options.known, *records);
      else
        llvm::consumeError(records.takeError());
    std::vector<std::pair<unsigned, std::vector<int64_t>>> outShapes;
    for (const std::vector<int64_t> &shape : shapes)
      outShapes.emplace_back(outShapes.size(), shape);
    options.search.seconds = seconds;
    options.numCompileThreads = kronGetNumThreads();
    options.isStopped = [&] {
      // A fork has the interpreter's lock, and waits for guards: between plans
      // it may come.
      guard.reset();
      {
        py::gil_scoped_acquire acquire;
        isInterrupted = isInterrupted || PyErr_CheckSignals() != 0;
      }
      guard.emplace();
      return isInterrupted;
    };
    std::unique_ptr<Gpu> gpu;
    if (device >= 0) {
      gpu = getOrFail(Gpu::open(device));
      options.gpu = gpu.get();
      if (llvm::Error error = session.useGPUs(device, /*name=*/"", stream))
        fail(std::move(error));
    }
    llvm::Error error =
        tune(session, (*source)->get(), specs, outShapes, options,
             [&](const TunedOperation &one) {
               const SearchResult &result = one.result;
               found.emplace_back(one.key.getText(),
                                  one.record ? one.record->plan : "",
                                  result.seconds, result.defaultSeconds);
               return one.record ? appendRecords(output, *one.record)
                                 : llvm::Error::success();
             });
    if (isInterrupted)
      llvm::consumeError(std::move(error));
    else if (error)
      fail(std::move(error));
  }
  if (isInterrupted)
    throw py::error_already_set();
  return py::cast(found);
}

PYBIND11_MODULE(_compiler, module) {
  py::register_exception<CompileError>(module, "CompileError");
  py::class_<LoadedObject>(module, "LoadedObject", py::module_local())
      .def("address", [](const LoadedObject &self, const std::string &name) {
        return reinterpret_cast<uintptr_t>(self.lookup(name));
      });
  py::class_<Compilation>(module, "Compilation", py::module_local())
      .def(py::init<Source, const std::vector<std::string> &,
                    const std::vector<std::string> &, bool,
                    const std::vector<std::string> &>(),
           py::arg("source"),
           py::arg("processors") = std::vector<std::string>(),
           py::arg("chips") = std::vector<std::string>(),
           py::arg("reference") = false,
           py::arg("records") = std::vector<std::string>(),
           py::keep_alive<1, 2>(), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("text", &Compilation::getText)
      .def("recorded_plans", &Compilation::getRecordedPlans)
      .def("compile", &Compilation::compile, py::arg("c_functions") = false);
  module.def("record_files",
             [] { return getDefaultRecordFiles(kronGetNumThreads()); });
  module.attr("shipped_records") = kShippedRecords.str();
  module.def("user_record_file", getUserRecordFile);
  module.def("cache_folder", getCacheFolder);
  module.def("cache_problem", getCacheProblem);
  module.def("tune", tuneModule, py::arg("text"), py::arg("specs"),
             py::arg("shapes"), py::arg("device"), py::arg("seconds"),
             py::arg("output"), py::arg("only_unknown") = false);
  module.def("load", loadObject, py::arg("object"), py::arg("names"));
  module.def("pipeline", getPipeline, py::arg("processors"), py::arg("chips"));
  module.def("run_passes", runPasses, py::arg("text"), py::arg("pipeline"),
             py::arg("record") = false);
  module.def("host", describeHost);
  module.def("code_files", getCodeFiles);
  module.attr("llvm_version") = LLVM_VERSION_STRING;
  module.def("name_gpu", nameGPU, py::arg("device"));
  module.def("calibrate", calibrateDevice, py::arg("device"));
  module.def("find_assembler", findAssembler);
  module.def("save_library", saveLibrary, py::arg("object"), py::arg("path"),
             py::arg("runtime_folder"));
}
