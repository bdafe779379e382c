//===- Output.cpp - Objects, assembly, shared libraries ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/Output.h"
#include "kron/Target/LLVMIR.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

using WriteFunction = llvm::function_ref<void(llvm::raw_ostream &)>;

/// Runs `write` on a file that is open. The error has no name.
static llvm::Error writeToDescriptor(int descriptor, bool close,
                                     WriteFunction write) {
  llvm::raw_fd_ostream stream(descriptor, close);
  write(stream);
  stream.flush();
  std::error_code problem = stream.error();
  // Else the stream ends the process.
  stream.clear_error();
  return llvm::errorCodeToError(problem);
}

/// The file that a rename may put another one in the place of, links followed:
/// a regular one, or one that is not there. None where `path` leads to anything
/// else, such as a device or a FIFO, which a rename would end, or where a link
/// leads nowhere yet.
static std::optional<std::string> getReplaceableFile(StringRef path) {
  llvm::sys::fs::file_status followed, itself;
  (void)llvm::sys::fs::status(path, followed);
  (void)llvm::sys::fs::status(path, itself, /*follow=*/false);
  if (itself.type() == llvm::sys::fs::file_type::file_not_found)
    return path.str();
  llvm::SmallString<128> target;
  if (followed.type() != llvm::sys::fs::file_type::regular_file ||
      llvm::sys::fs::real_path(path, target))
    return std::nullopt;
  return target.str().str();
}

static llvm::Error replaceFile(StringRef path, WriteFunction write,
                               unsigned mode) {
  // Beside it, so that the rename is atomic.
  auto temporary =
      llvm::sys::fs::TempFile::create(path + ".%%%%%%%%.tmp", mode);
  if (!temporary)
    return temporary.takeError();
  llvm::Error error = writeToDescriptor(temporary->FD, /*close=*/false, write);
  if (!error)
    return temporary->keep(path);
  llvm::consumeError(temporary->discard());
  return error;
}

static llvm::Error writeInPlace(StringRef path, WriteFunction write,
                                unsigned mode) {
  int descriptor;
  if (auto problem = llvm::sys::fs::openFileForWrite(
          path, descriptor, llvm::sys::fs::CD_CreateAlways,
          llvm::sys::fs::OF_None, mode))
    return llvm::errorCodeToError(problem);
  return writeToDescriptor(descriptor, /*close=*/true, write);
}

llvm::Error kron::writeFile(StringRef path, WriteFunction write,
                            bool isExecutable) {
  if (path == "-") {
    write(llvm::outs());
    return llvm::Error::success();
  }
  unsigned mode = llvm::sys::fs::all_read | llvm::sys::fs::all_write |
                  (isExecutable ? llvm::sys::fs::all_exe : 0);
  auto file = getReplaceableFile(path);
  llvm::Error error =
      file ? replaceFile(*file, write, mode) : writeInPlace(path, write, mode);
  if (!error)
    return error;
  return createStringError("cannot write '" + path.str() +
                           "': " + llvm::toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> kron::emitMachineCode(llvm::Module &module,
                                                  llvm::CodeGenFileType type) {
  // Every function carries the processor of its version; this is for the rest.
  auto machine =
      createTargetMachine(getBaseline(module.getTargetTriple().str()));
  if (!machine)
    return machine.takeError();
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("this LLVM cannot write such a file");
  passes.run(module);
  return bytes.str().str();
}

//===----------------------------------------------------------------------===//
// Shared libraries
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> kron::findRuntimeFolder(StringRef toolPath) {
  std::string tried;
  for (StringRef folder : {StringRef("lib"), StringRef(KRON_INSTALL_LIBDIR)}) {
    llvm::SmallString<128> path(llvm::sys::path::parent_path(toolPath));
    llvm::sys::path::append(path, "..", folder);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (llvm::sys::fs::exists(path + "/libkron_runtime.so"))
      return path.str().str();
    tried += (tried.empty() ? "" : " or ") + path.str().str();
  }
  return createStringError("cannot find libkron_runtime.so in " + tried);
}

namespace {
struct Linker {
  std::string path;
  /// A compiler driver, which passes linker options on with -Wl.
  bool isDriver;
};
} // namespace

static llvm::Expected<Linker> findLinker() {
  for (auto [name, isDriver] :
       {std::pair("cc", true), std::pair("clang", true), std::pair("gcc", true),
        std::pair("clang-22", true), std::pair("ld.lld", false),
        std::pair("ld", false)})
    if (auto path = llvm::sys::findProgramByName(name))
      return Linker{*path, isDriver};
  return createStringError("cannot link a shared library: none of cc, clang, "
                           "gcc, clang-22, ld.lld and ld "
                           "is on PATH");
}

static llvm::Error runLinker(const Linker &linker, StringRef object,
                             StringRef output, StringRef runtimeFolder) {
  std::string rpath = linker.isDriver ? "-Wl,-rpath," + runtimeFolder.str()
                                      : "-rpath=" + runtimeFolder.str();
  SmallVector<StringRef> command = {
      linker.path,   "-shared",        "-o",  output, object, "-L",
      runtimeFolder, "-lkron_runtime", rpath, "-lm"};
  llvm::SmallString<128> log;
  if (auto error = llvm::sys::fs::createTemporaryFile("kronc", "log", log))
    return llvm::errorCodeToError(error);
  llvm::FileRemover removeLog(log);
  std::string problem;
  std::optional<StringRef> redirects[] = {"", log.str(), log.str()};
  int status = llvm::sys::ExecuteAndWait(linker.path, command, std::nullopt,
                                         redirects, 0, 0, &problem);
  if (status == 0)
    return llvm::Error::success();
  if (auto text = llvm::MemoryBuffer::getFile(log))
    problem += (*text)->getBuffer().rtrim().str();
  return createStringError("'" + linker.path + "' failed: " + problem);
}

llvm::Error kron::linkSharedLibrary(StringRef object, StringRef path,
                                    StringRef runtimeFolder) {
  llvm::Expected<Linker> linker = findLinker();
  if (!linker)
    return linker.takeError();
  llvm::SmallString<128> objectPath;
  if (auto error = llvm::sys::fs::createTemporaryFile("kronc", "o", objectPath))
    return llvm::errorCodeToError(error);
  llvm::FileRemover removeObject(objectPath);
  if (llvm::Error error = writeFile(
          objectPath, [&](llvm::raw_ostream &stream) { stream << object; }))
    return error;
  llvm::SmallString<128> libraryPath;
  if (auto error =
          llvm::sys::fs::createTemporaryFile("kronc", "so", libraryPath))
    return llvm::errorCodeToError(error);
  llvm::FileRemover removeLibrary(libraryPath);
  if (llvm::Error error =
          runLinker(*linker, objectPath, libraryPath, runtimeFolder))
    return error;
  auto library = llvm::MemoryBuffer::getFile(libraryPath);
  if (!library)
    return llvm::errorCodeToError(library.getError());
  return writeFile(
      path,
      [&](llvm::raw_ostream &stream) { stream << (*library)->getBuffer(); },
      /*isExecutable=*/true);
}
