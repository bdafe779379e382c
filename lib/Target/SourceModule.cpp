//===- SourceModule.cpp - A module out of a text or file --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/SourceModule.h"
#include "kron/Target/ForkGuard.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

SourceModule::SourceModule(Pool givenPool, llvm::raw_ostream *stream)
    : pool(std::move(givenPool)), context(pool->take()) {
  if (stream)
    printer = std::make_unique<SourceMgrDiagnosticHandler>(
        sourceManager, context.get(), *stream);
  else
    collector = std::make_unique<ScopedDiagnosticHandler>(
        context.get(), [this](Diagnostic &diagnostic) { collect(diagnostic); });
}

SourceModule::~SourceModule() {
  ForkGuard guard;
  module = {};
  printer.reset();
  collector.reset();
  pool->giveBack(std::move(context));
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::read(Pool pool, StringRef path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file)
    return createStringError("cannot read '" + path.str() +
                             "': " + file.getError().message());
  return parse(std::move(pool), std::move(*file), &llvm::errs());
}

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::parse(Pool pool, StringRef text, llvm::raw_ostream *stream) {
  return parse(std::move(pool),
               llvm::MemoryBuffer::getMemBufferCopy(text, "<source>"), stream);
}

llvm::Expected<std::unique_ptr<SourceModule>>
SourceModule::parse(Pool pool, std::unique_ptr<llvm::MemoryBuffer> text,
                    llvm::raw_ostream *stream) {
  ForkGuard guard;
  std::unique_ptr<SourceModule> source(
      new SourceModule(std::move(pool), stream));
  source->sourceManager.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  source->module =
      parseSourceFile<ModuleOp>(source->sourceManager, source->context.get());
  if (!source->module)
    return source->getError();
  return source;
}

llvm::Expected<std::unique_ptr<SourceModule>> SourceModule::build(Pool pool,
                                                                  Build build) {
  ForkGuard guard;
  std::unique_ptr<SourceModule> source(
      new SourceModule(std::move(pool), /*stream=*/nullptr));
  source->module = build(source->context.get());
  if (failed(verify(source->get())))
    return source->getError();
  return source;
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
