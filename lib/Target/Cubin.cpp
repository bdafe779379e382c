//===- Cubin.cpp - From PTX to what a KronCudaModule holds ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Runtime/IRInterface.h"
#include "kron/Target/GPUCode.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

std::string kron::findAssembler() {
  if (const char *path = std::getenv("KRON_PTXAS"))
    return path;
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char *folder = std::getenv(variable);
    if (!folder)
      continue;
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
  }
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  StringRef usual = "/usr/local/cuda/bin/ptxas";
  return llvm::sys::fs::can_execute(usual) ? usual.str() : "";
}

/// A temporary file with `contents` and the name in `path`.
static llvm::Error createFile(StringRef extension, StringRef contents,
                              llvm::SmallVectorImpl<char> &path) {
  int descriptor;
  if (auto error = llvm::sys::fs::createTemporaryFile("kron", extension,
                                                      descriptor, path))
    return llvm::errorCodeToError(error);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << contents;
  stream.close();
  return stream.has_error() ? llvm::errorCodeToError(stream.error())
                            : llvm::Error::success();
}

llvm::Expected<std::string>
kron::assemblePTX(StringRef assembler, StringRef ptx, const GPUChip &chip) {
  llvm::SmallString<128> input, output, log;
  if (llvm::Error error = createFile("ptx", ptx, input))
    return std::move(error);
  llvm::FileRemover removeInput(input);
  if (llvm::Error error = createFile("cubin", "", output))
    return std::move(error);
  llvm::FileRemover removeOutput(output);
  if (llvm::Error error = createFile("log", "", log))
    return std::move(error);
  llvm::FileRemover removeLog(log);
  std::string architecture = "-arch=" + chip.name;
  StringRef command[] = {assembler, architecture, "-o", output, input};
  std::optional<StringRef> redirects[] = {"", log.str(), log.str()};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(assembler, command, std::nullopt,
                                         redirects, 0, 0, &problem);
  if (status != 0) {
    if (auto text = llvm::MemoryBuffer::getFile(log))
      problem += (*text)->getBuffer().rtrim().str();
    return createStringError("'" + assembler.str() + "' failed: " + problem);
  }
  auto cubin = llvm::MemoryBuffer::getFile(output);
  if (!cubin)
    return llvm::errorCodeToError(cubin.getError());
  return (*cubin)->getBuffer().str();
}

//===----------------------------------------------------------------------===//
// KronCudaModule
//===----------------------------------------------------------------------===//

static_assert(sizeof(KronCudaImage) == 32 && sizeof(KronCudaModule) == 24,
              "the struct types below must match kron/Runtime/IRInterface.h");

/// A private constant that holds `bytes`.
static llvm::Constant *addBytes(llvm::Module &module, StringRef bytes) {
  auto *value = llvm::ConstantDataArray::getString(module.getContext(), bytes,
                                                   /*AddNull=*/false);
  auto *global = new llvm::GlobalVariable(
      module, value->getType(), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, value, "kron.cuda_image");
  global->setAlignment(llvm::Align(64));
  return global;
}

/// A constant table with all forms of `code`.
static llvm::GlobalVariable *addImages(llvm::Module &module,
                                       const GPUCode &code) {
  auto *i32 = llvm::Type::getInt32Ty(module.getContext());
  auto *i64 = llvm::Type::getInt64Ty(module.getContext());
  auto *pointer = llvm::PointerType::get(module.getContext(), 0);
  auto *type = llvm::StructType::get(i32, i32, i32, pointer, i64);
  SmallVector<llvm::Constant *> images;
  auto addImage = [&](KronCudaImageKind kind, StringRef bytes) {
    images.push_back(llvm::ConstantStruct::get(
        type,
        {llvm::ConstantInt::get(i32, kind),
         llvm::ConstantInt::get(i32, code.chip.capability),
         llvm::ConstantInt::get(i32, code.chip.isExact),
         addBytes(module, bytes), llvm::ConstantInt::get(i64, bytes.size())}));
  };
  if (!code.cubin.empty())
    addImage(KRON_CUDA_CUBIN, code.cubin);
  // With the zero byte at its end.
  addImage(KRON_CUDA_PTX, StringRef(code.ptx.c_str(), code.ptx.size() + 1));
  auto *tableType = llvm::ArrayType::get(type, images.size());
  return new llvm::GlobalVariable(
      module, tableType, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantArray::get(tableType, images), "kron.cuda_images");
}

/// Has host code find the places of `codes` in `table`.
static void replaceCudaModules(llvm::Module &module, ArrayRef<GPUCode> codes,
                               llvm::GlobalVariable &table) {
  auto *i64 = llvm::Type::getInt64Ty(module.getContext());
  auto getPlace = [&](StringRef kernel) {
    auto isOwn = [&](const GPUCode &code) { return code.kernel == kernel; };
    const GPUCode *code = llvm::find_if(codes, isOwn);
    if (code == codes.end())
      code = llvm::find_if(
          codes, [](const GPUCode &code) { return code.kernel.empty(); });
    assert(code != codes.end() && "a kernel has no code");
    return llvm::ConstantExpr::getInBoundsGetElementPtr(
        table.getValueType(), &table,
        ArrayRef<llvm::Constant *>{
            llvm::ConstantInt::get(i64, 0),
            llvm::ConstantInt::get(i64, code - codes.begin())});
  };
  for (llvm::GlobalVariable &used :
       llvm::make_early_inc_range(module.globals())) {
    StringRef kernel = used.getName();
    if (!kernel.consume_front(kCudaModuleName) || !kernel.consume_front("."))
      continue;
    used.replaceAllUsesWith(getPlace(kernel));
    used.eraseFromParent();
  }
}

llvm::GlobalVariable *kron::addCudaModules(llvm::Module &module,
                                           ArrayRef<GPUCode> codes,
                                           StringRef name) {
  auto *i32 = llvm::Type::getInt32Ty(module.getContext());
  auto *pointer = llvm::PointerType::get(module.getContext(), 0);
  auto *null = llvm::ConstantPointerNull::get(pointer);
  auto *type = llvm::StructType::get(i32, pointer, pointer);
  SmallVector<llvm::Constant *> rows;
  for (const GPUCode &code : codes) {
    llvm::GlobalVariable *images = addImages(module, code);
    auto *count = llvm::ConstantInt::get(
        i32, images->getValueType()->getArrayNumElements());
    rows.push_back(llvm::ConstantStruct::get(type, {count, images, null}));
  }
  rows.push_back(llvm::Constant::getNullValue(type));
  auto *tableType = llvm::ArrayType::get(type, rows.size());
  // The runtime writes the last field of each.
  auto *table =
      new llvm::GlobalVariable(module, tableType, /*isConstant=*/false,
                               llvm::GlobalValue::ExternalLinkage,
                               llvm::ConstantArray::get(tableType, rows), name);
  replaceCudaModules(module, codes, *table);
  return table;
}
