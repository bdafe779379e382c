//===- SourceModule.cpp - A module out of a text or file --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/SourceModule.h"
#include "kron/InitAll.h"
#include "kron/Target/ForkGuard.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

/// A thread's turn to use the shared context; fork() waits for its end.
struct SourceModule::Turn {
  ForkGuard guard;
  std::lock_guard<std::mutex> lock{mutex};

  static inline std::mutex mutex;
};

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  // Starting threads costs more than they save on modules of this size.
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}

/// To be called by the thread whose turn it is. Never released: modules may be
/// in it when the process ends.
static MLIRContext *getSharedContext() {
  static MLIRContext *shared = createContext().release();
  return shared;
}

SourceModule::SourceModule() = default;
SourceModule::~SourceModule() = default;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file)
    return createStringError("cannot read '" + path.str() +
                             "': " + file.getError().message());
  return parse(std::move(*file), llvm::errs());
}

static std::unique_ptr<llvm::MemoryBuffer> copyText(StringRef text) {
  return llvm::MemoryBuffer::getMemBufferCopy(text, "<source>");
}

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::parse(StringRef text, llvm::raw_ostream &stream) {
  return parse(copyText(text), stream);
}

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::parse(std::unique_ptr<llvm::MemoryBuffer> text,
                    llvm::raw_ostream &stream) {
  std::unique_ptr<SourceModule> source(new SourceModule());
  source->ownContext = createContext();
  MLIRContext *context = source->ownContext.get();
  source->printer = std::make_unique<SourceMgrDiagnosticHandler>(
      source->sourceManager, context, stream);
  if (llvm::Error error = source->parseIn(context, std::move(text)))
    return error;
  return source;
}

std::unique_ptr<SourceModule> SourceModule::takeTurn() {
  std::unique_ptr<SourceModule> source(new SourceModule());
  source->turn = std::make_unique<Turn>();
  source->collector = std::make_unique<ScopedDiagnosticHandler>(
      getSharedContext(), [source = source.get()](Diagnostic &diagnostic) {
        source->collect(diagnostic);
      });
  return source;
}

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::parseShared(StringRef text) {
  std::unique_ptr<SourceModule> source = takeTurn();
  if (llvm::Error error = source->parseIn(getSharedContext(), copyText(text)))
    return error;
  return source;
}

llvm::Expected<std::unique_ptr<SourceModule>> SourceModule::buildShared(
    function_ref<OwningOpRef<ModuleOp>(MLIRContext *)> build) {
  std::unique_ptr<SourceModule> source = takeTurn();
  source->module = build(getSharedContext());
  if (failed(verify(source->get())))
    return source->getError();
  return source;
}

llvm::Error SourceModule::parseIn(MLIRContext *context,
                                  std::unique_ptr<llvm::MemoryBuffer> text) {
  sourceManager.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sourceManager, context);
  return module ? llvm::Error::success() : getError();
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

void SourceModule::collect(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
    if (!llvm::is_contained(warnings, diagnostic.str()))
      warnings.push_back(diagnostic.str());
    return;
  }
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  std::string &text = isError ? errors : remarks;
  llvm::raw_string_ostream stream(text);
  if (!text.empty())
    stream << "\n";
  if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    stream << "line " << location.getLine() << ": ";
  stream << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    stream << "\n  note: " << note.str();
}

llvm::Error SourceModule::getError(StringRef otherwise) const {
  if (printer)
    return diagnosedError();
  return createStringError(errors.empty() ? otherwise.str() : errors);
}

llvm::Error kron::diagnosedError() {
  return llvm::make_error<llvm::StringError>("",
                                             llvm::inconvertibleErrorCode());
}
