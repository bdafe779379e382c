//===- kronc.cpp - Ahead-of-time compiler -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/RowMajor.h"
#include "kron/Driver/CommandLine.h"
#include "kron/Driver/Session.h"
#include "kron/Target/Output.h"
#include "kron/Target/Remarks.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/WithColor.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::kron;
namespace cl = llvm::cl;
using llvm::createStringError;

namespace {
enum class Emit {
  Unknown,
  Object,
  SharedLibrary,
  LLVM,
  Assembly,
  MLIR,
  Header,
  PTX,
  Cubin
};

/// Options refer to their descriptions, which have to outlive them.
static StringRef getRemarksDescription() {
  static const std::string text =
      ("Print remarks of the categories that match a regular expression "
       "(default: " +
       kUsualRemarks +
       "): plans, their estimated times, and why other kernels were not chosen")
          .str();
  return text;
}

/// Built after LLVM's own options are dropped, some of which have these names.
struct Options {
  cl::OptionCategory category{"kronc options"};
  cl::opt<std::string> inputFile{cl::cat(category), cl::Positional,
                                 cl::Required,
                                 cl::desc("FILE.mlir ('-': standard input)")};
  cl::opt<std::string> outputFile{
      cl::cat(category), "o",
      cl::desc("Output; its extension o, so, ll, s, mlir, h, ptx or cubin "
               "tells what to emit (default: FILE.o)"),
      cl::value_desc("file")};
  cl::opt<Emit> emit{
      cl::cat(category), "emit",
      cl::desc("What to emit, if not what the output's name says"),
      cl::init(Emit::Unknown),
      cl::values(clEnumValN(Emit::Object, "obj", "Object file"),
                 clEnumValN(Emit::SharedLibrary, "so", "Shared library"),
                 clEnumValN(Emit::LLVM, "llvm", "LLVM IR, optimized"),
                 clEnumValN(Emit::Assembly, "asm", "Assembly"),
                 clEnumValN(Emit::MLIR, "mlir",
                            "LLVM dialect, for the last processor"),
                 clEnumValN(Emit::Header, "header", "C and C++ header"),
                 clEnumValN(Emit::PTX, "ptx", "GPU code as text"),
                 clEnumValN(Emit::Cubin, "cubin", "GPU code, by ptxas"))};
  cl::list<std::string> targets{
      cl::cat(category), "target", cl::CommaSeparated,
      cl::desc("What to compile for: cpu, nvidia or both (default: cpu)"),
      cl::value_desc("target,...")};
  cl::list<std::string> gpuArchs{
      cl::cat(category), "gpu-arch", cl::CommaSeparated,
      cl::desc("GPUs to compile for, the best of which is chosen at run time: "
               "architectures (sm_90a), SKUs (h200) or files of kron-run "
               "--calibrate (default: sm_80,sm_90a)"),
      cl::value_desc("gpu,...")};
  cl::alias chips{"chip", cl::cat(category), cl::CommaSeparated,
                  cl::desc("The same as --gpu-arch"), cl::aliasopt(gpuArchs)};
  cl::list<std::string> cpus{
      cl::cat(category), "mcpu", cl::CommaSeparated,
      cl::desc(
          "Processors to compile for, the best of which is chosen at run time: "
          "native, LLVM's names or x86-64-v4-amx (default: "
          "x86-64-v2,x86-64-v3,x86-64-v4 and, for bf16, x86-64-v4-amx); or one "
          "of AArch64: aarch64, neoverse-n1, neoverse-v1, neoverse-v2, grace"),
      cl::value_desc("cpu,...")};
  cl::opt<std::string> headerFile{
      cl::cat(category), "header",
      cl::desc("Write the C and C++ header of the kernels as well, beside the "
               "code that -o names"),
      cl::value_desc("file.h")};
  cl::opt<bool> cublas{
      cl::cat(category), "cublas", cl::init(true),
      cl::desc("Whether dense products on a GPU may be calls of cuBLAS, where "
               "that is faster and the process has it (default: true)")};
  cl::list<std::string> records{
      cl::cat(category), "record",
      cl::desc("File of tuning records whose plans operations get, in the "
               "version for the processor or GPU that they were made on; may "
               "be given several times, the first one that has the operation "
               "counts"),
      cl::value_desc("file.jsonl")};
  cl::opt<std::string> remarks{cl::cat(category), "remarks", cl::ValueOptional,
                               cl::desc(getRemarksDescription()),
                               cl::value_desc("categories")};
  cl::opt<bool> reference{
      cl::cat(category), "reference",
      cl::desc("Use the reference lowering: slow and obvious")};
  cl::opt<bool> rowMajor{
      cl::cat(category), "row-major",
      cl::desc("Compile functions of sparse factors for row-major arrays "
               "alone: in half of the time, but launches refuse others")};
};
} // namespace

static Options &getOptions() {
  static Options options;
  return options;
}

static StringRef getExtension(Emit emit) {
  static constexpr llvm::StringLiteral extensions[] = {
      "", "o", "so", "ll", "s", "mlir", "h", "ptx", "cubin"};
  return extensions[static_cast<int>(emit)];
}

/// Decides what to emit and where.
static llvm::Expected<std::pair<Emit, std::string>> getOutput() {
  Emit emit = getOptions().emit;
  std::string output = getOptions().outputFile;
  if (output.empty()) {
    if (emit == Emit::Unknown)
      emit = Emit::Object;
    if (getOptions().inputFile == "-")
      return createStringError("expects -o when reading standard input");
    output = llvm::sys::path::stem(getOptions().inputFile).str() + "." +
             getExtension(emit).str();
  }
  if (emit == Emit::Unknown)
    emit = llvm::StringSwitch<Emit>(llvm::sys::path::extension(output))
               .Case(".o", Emit::Object)
               .Case(".so", Emit::SharedLibrary)
               .Case(".ll", Emit::LLVM)
               .Case(".s", Emit::Assembly)
               .Case(".mlir", Emit::MLIR)
               .Case(".h", Emit::Header)
               .Case(".ptx", Emit::PTX)
               .Case(".cubin", Emit::Cubin)
               .Default(Emit::Unknown);
  if (emit == Emit::Unknown)
    return createStringError(
        "expects -o to end in .o, .so, .ll, .s, .mlir, .h, .ptx or .cubin, or "
        "--emit, but got '" +
        output + "'");
  if (output == "-" && emit == Emit::SharedLibrary)
    return createStringError("expects -o to be a file for a shared library");
  if (llvm::sys::fs::equivalent(getOptions().inputFile, output))
    return createStringError("expects -o to differ from the input '" + output +
                             "'");
  return std::pair(emit, output);
}

/// `path` from the root, without dots: files need not exist to be the same.
static std::string getWholePath(StringRef path) {
  SmallString<128> whole(path);
  llvm::sys::fs::make_absolute(whole);
  llvm::sys::path::remove_dots(whole, /*remove_dot_dot=*/true);
  return whole.str().str();
}

/// Whether --header goes with what is emitted to `output`.
static llvm::Error checkHeader(Emit emit, StringRef output) {
  StringRef header = getOptions().headerFile;
  if (header.empty())
    return llvm::Error::success();
  if (emit == Emit::Header || emit == Emit::MLIR)
    return createStringError(
        "expects --header with compiled code, but got --emit=" +
        llvm::Twine(emit == Emit::Header ? "header" : "mlir"));
  for (StringRef other : {output, StringRef(getOptions().inputFile)})
    if (getWholePath(header) == getWholePath(other) ||
        llvm::sys::fs::equivalent(header, other))
      return createStringError("expects --header to differ from '" + other +
                               "'");
  return llvm::Error::success();
}

static bool hasTarget(StringRef target) {
  if (getOptions().targets.empty())
    return target == "cpu";
  return llvm::is_contained(getOptions().targets, target);
}

/// Adds the GPUs of the target nvidia.
static llvm::Error addGPUs(Session &session, Emit emit) {
  for (StringRef target : getOptions().targets)
    if (target != "cpu" && target != "nvidia")
      return createStringError("expects --target to be cpu, nvidia or both, "
                               "but got '" +
                               target.str() + "'");
  bool isGPUCode = emit == Emit::PTX || emit == Emit::Cubin;
  std::vector<std::string> chips(getOptions().gpuArchs.begin(),
                                 getOptions().gpuArchs.end());
  if (!hasTarget("nvidia") && (isGPUCode || !chips.empty()))
    return createStringError(isGPUCode
                                 ? "expects --target nvidia for GPU code"
                                 : "expects --target nvidia with --gpu-arch");
  if (!hasTarget("nvidia"))
    return llvm::Error::success();
  if (chips.empty() && isGPUCode)
    chips = {"sm_90a"};
  else if (chips.empty())
    chips = {"sm_80", "sm_90a"};
  if (isGPUCode && chips.size() > 1)
    return createStringError("expects one --gpu-arch for ptx and cubin");
  return session.addGPUs(chips);
}

/// What compiles for the targets, with the options that say how.
static llvm::Expected<Session> createSession(Emit emit) {
  Session session;
  CodegenOptions &options = session.getOptions();
  options.reference = getOptions().reference;
  options.allowsCublas = getOptions().cublas;
  options.assembleGPUCode = emit != Emit::PTX && emit != Emit::Header;
  options.separatesKernels = emit != Emit::PTX && emit != Emit::Cubin;
  // A header needs the manifest only.
  if (emit == Emit::Header)
    options.optLevel = 0;
  std::vector<std::string> cpus(getOptions().cpus.begin(),
                                getOptions().cpus.end());
  if (!cpus.empty() && !hasTarget("cpu"))
    return createStringError("expects --target cpu with --mcpu, but got '" +
                             llvm::join(cpus, ",") + "' without it");
  if (cpus.empty())
    cpus = {"portable"};
  // What is kept of this processor's rates.
  if (llvm::is_contained(cpus, "native"))
    warnOfCache("kronc");
  if (llvm::Error error = addGPUs(session, emit))
    return std::move(error);
  if (hasTarget("cpu"))
    if (llvm::Error error = session.useProcessors(cpus))
      return std::move(error);
  if (emit == Emit::PTX || emit == Emit::Cubin)
    llvm::cantFail(session.useProcessors({}));
  if (emit == Emit::Header)
    session.keepFirstVersion();
  if (llvm::Error error = session.addRecords(std::vector<std::string>(
          getOptions().records.begin(), getOptions().records.end())))
    return std::move(error);
  return session;
}

static llvm::Error write(StringRef output, StringRef contents) {
  return writeFile(output,
                   [&](llvm::raw_ostream &stream) { stream << contents; });
}

/// What prints remarks of `context`, if that is asked for.
static llvm::Expected<std::unique_ptr<RemarkPrinter>>
printRemarks(MLIRContext *context) {
  StringRef categories = getOptions().remarks;
  if (!getOptions().remarks.getNumOccurrences())
    return nullptr;
  if (categories.empty())
    categories = kUsualRemarks;
  std::string problem;
  if (!llvm::Regex(categories).isValid(problem))
    return createStringError("expects --remarks to be a regular expression, "
                             "but got '" +
                             categories + "': " + problem);
  return std::make_unique<RemarkPrinter>(context, categories);
}

/// For the last processor, or GPU if there is none.
static llvm::Error emitMLIR(const Session &session, ModuleOp module,
                            StringRef output) {
  if (failed(session.lower(module)))
    return diagnosedError();
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return write(output, text);
}

static llvm::Error emitHeader(const CompiledModule &compiled,
                              StringRef output) {
  StringRef source = output == "-" ? getOptions().inputFile : output;
  std::string text;
  llvm::raw_string_ostream stream(text);
  writeHeader(stream, compiled.kernels, llvm::sys::path::stem(source),
              hasTarget("nvidia"));
  return write(output, text);
}

static llvm::Error emitGPUCode(const CompiledModule &compiled, Emit emit,
                               StringRef output) {
  const GPUCode &code = compiled.gpuCode.front();
  if (emit == Emit::PTX)
    return write(output, code.ptx);
  if (code.cubin.empty())
    return createStringError(
        "cannot assemble a cubin: there is no ptxas in $CUDA_PATH/bin, on PATH "
        "or in /usr/local/cuda/bin");
  return write(output, code.cubin);
}

static llvm::Error emitCode(CompiledModule &compiled, Emit emit,
                            StringRef output, StringRef toolPath) {
  const llvm::Triple &triple = compiled.llvmModule->getTargetTriple();
  llvm::Triple host(llvm::sys::getDefaultTargetTriple());
  if (emit == Emit::SharedLibrary && triple.getArch() != host.getArch())
    return createStringError(
        "expects an object or assembly, which a linker for " + triple.str() +
        " takes, but got --emit=so");
  if (emit == Emit::LLVM) {
    std::string text;
    llvm::raw_string_ostream(text) << *compiled.llvmModule;
    return write(output, text);
  }
  auto code = emitMachineCode(*compiled.llvmModule,
                              emit == Emit::Assembly
                                  ? llvm::CodeGenFileType::AssemblyFile
                                  : llvm::CodeGenFileType::ObjectFile);
  if (!code)
    return code.takeError();
  if (emit != Emit::SharedLibrary)
    return write(output, *code);
  auto runtime = findRuntimeFolder(toolPath);
  if (!runtime)
    return runtime.takeError();
  return linkSharedLibrary(*code, output, *runtime);
}

static llvm::Error run(StringRef toolPath) {
  auto output = getOutput();
  if (!output)
    return output.takeError();
  auto [emit, path] = *output;
  if (llvm::Error error = checkHeader(emit, path))
    return error;
  auto session = createSession(emit);
  if (!session)
    return session.takeError();
  auto source = session->read(getOptions().inputFile);
  if (!source)
    return source.takeError();
  ModuleOp module = (*source)->get();
  if (getOptions().rowMajor)
    markRowMajor(module);
  auto remarks = printRemarks(module.getContext());
  if (!remarks)
    return remarks.takeError();
  if (emit == Emit::MLIR)
    return emitMLIR(*session, module, path);
  llvm::LLVMContext context;
  auto compiled = session->translate(module, context);
  if (failed(compiled))
    return diagnosedError();
  if (compiled->kernels.empty())
    return createStringError("expects '" + getOptions().inputFile +
                             "' to have a public function, but it has none");
  if (emit == Emit::Header)
    return emitHeader(*compiled, path);
  if (!getOptions().headerFile.empty())
    if (llvm::Error error = emitHeader(*compiled, getOptions().headerFile))
      return error;
  if (emit == Emit::PTX || emit == Emit::Cubin)
    return emitGPUCode(*compiled, emit, path);
  return emitCode(*compiled, emit, path, toolPath);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  getOptions();
  cl::ParseCommandLineOptions(argc, argv,
                              "Compiles the kernels of a kron module\n");
  std::string tool = llvm::sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&main));
  if (llvm::Error error = run(tool)) {
    std::string message = llvm::toString(std::move(error));
    if (!message.empty())
      llvm::WithColor::error(llvm::errs(), "kronc") << message << "\n";
    return 1;
  }
  return 0;
}
