//===- CommandLine.cpp - What command lines say of a run --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/CommandLine.h"
#include "kron/Driver/HostArray.h"
#include "kron/Machine/CacheFolder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::kron;
namespace cl = llvm::cl;
using llvm::createStringError;

CallOptions::CallOptions(cl::OptionCategory &category)
    : entry(cl::cat(category), "entry",
            cl::desc("Function to call (default: the only public one)"),
            cl::value_desc("name")),
      args(cl::cat(category), "arg",
           cl::desc("Input, in order: an NPY file, random:SHAPE:TYPE[:SEED], "
                    "zeros:SHAPE:TYPE, ones:SHAPE:TYPE or value:NUMBER:TYPE"),
           cl::value_desc("file or generator")),
      outShapes(cl::cat(category), "out-shape",
                cl::desc("Shape of an output that cannot be inferred, e.g. "
                         "0:9x64"),
                cl::value_desc("number:shape")),
      target(cl::cat(category), "target",
             cl::desc("Where to call it: cpu, or cuda[:NUMBER] for a GPU"),
             cl::value_desc("target"), cl::init("cpu")),
      threads(cl::cat(category), "threads",
              cl::desc("Threads (default: the runtime's)"), cl::init(0)) {}

std::vector<std::string> CallOptions::getArgs() const {
  return std::vector<std::string>(args.begin(), args.end());
}

int32_t CallOptions::getNumThreads() const {
  return threads ? int32_t(threads) : kronGetNumThreads();
}

llvm::Error CallOptions::checkThreads() const {
  if (threads.getNumOccurrences() && threads < 1)
    return createStringError("expects --threads to be at least 1, but got " +
                             llvm::Twine(threads));
  return llvm::Error::success();
}

llvm::Expected<OutputShapes> CallOptions::parseOutShapes() const {
  OutputShapes shapes;
  for (StringRef spec : outShapes) {
    auto [number, shapeText] = spec.split(':');
    unsigned index;
    if (number.getAsInteger(10, index) || shapeText.empty())
      return createStringError("expects --out-shape NUMBER:SHAPE, but got '" +
                               spec + "'");
    auto shape = parseShape(shapeText);
    if (!shape)
      return shape.takeError();
    shapes.emplace_back(index, std::move(*shape));
  }
  return shapes;
}

llvm::Error kron::selectEntry(ModuleOp module, StringRef entry) {
  SmallVector<func::FuncOp> functions;
  SmallVector<StringRef> names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    functions.push_back(function);
    names.push_back(function.getName());
  }
  std::string list = names.empty() ? "none" : llvm::join(names, ", ");
  if (entry.empty() && names.size() == 1)
    return llvm::Error::success();
  if (entry.empty())
    return createStringError(
        "expects --entry, since the module has not one public function: " +
        list);
  if (!llvm::is_contained(names, entry))
    return createStringError("expects --entry to be a public function (" +
                             list + "), but got '" + entry + "'");
  for (func::FuncOp function : functions)
    if (function.getName() != entry)
      function.setPrivate();
  return llvm::Error::success();
}

llvm::Expected<std::optional<int32_t>> kron::parseGpuTarget(StringRef target) {
  if (target == "cpu")
    return std::nullopt;
  StringRef whole = target;
  int32_t number = 0;
  bool isGpu = target.consume_front("cuda");
  if (isGpu && target.consume_front(":"))
    isGpu = !target.getAsInteger(10, number) && number >= 0;
  else
    isGpu &= target.empty();
  if (!isGpu)
    return createStringError("expects --target to be cpu, cuda or "
                             "cuda:NUMBER, but got '" +
                             whole + "'");
  return number;
}

/// Prints each line of `warnings` as one of `tool`.
static void warn(StringRef warnings, StringRef tool) {
  for (StringRef line : llvm::split(warnings, '\n'))
    if (!line.empty())
      llvm::WithColor::warning(llvm::errs(), tool) << line << "\n";
}

void kron::warnOfCache(StringRef tool) { warn(getCacheProblem(), tool); }

void kron::useHost(Session &session, int32_t numThreads, int64_t vectorBits,
                   StringRef tool) {
  std::string warnings;
  llvm::raw_string_ostream stream(warnings);
  session.useHost(numThreads, vectorBits, stream);
  warn(warnings, tool);
}

llvm::Error kron::useGPUs(Session &session, ArrayRef<int32_t> numbers,
                          StringRef name, StringRef tool) {
  std::string warnings;
  llvm::raw_string_ostream stream(warnings);
  llvm::Error error = session.useGPUs(numbers, name, stream);
  warn(warnings, tool);
  return error;
}
