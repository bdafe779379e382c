//===- Entry.cpp - Kernels as the runtime sees them -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// LLVM IR for the structs of kron/Runtime/Runtime.h: field order and types here
// must be those of the header (KRON_API_VERSION guards both).
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::ConstantInt;

static_assert(sizeof(KronArray) == 32 && sizeof(KronArgInfo) == 48 &&
                  sizeof(KronVersion) == 40 && sizeof(KronKernel) == 40 &&
                  sizeof(KronLaunchOptions) == 40,
              "the struct types below must match kron/Runtime/Runtime.h");

namespace {

/// The types of the runtime's structs.
struct RuntimeTypes {
  explicit RuntimeTypes(llvm::LLVMContext &context)
      : i32(llvm::Type::getInt32Ty(context)),
        i64(llvm::Type::getInt64Ty(context)),
        pointer(llvm::PointerType::get(context, 0)),
        array(llvm::StructType::get(pointer, pointer, pointer, i32, i32)),
        argInfo(llvm::StructType::get(pointer, i32, i32, i32, i32, i32, pointer,
                                      pointer)),
        version(llvm::StructType::get(i32, pointer, i64, i64, pointer)),
        kernel(llvm::StructType::get(i32, i32, pointer, pointer, i32, i32,
                                     pointer)),
        launchOptions(
            llvm::StructType::get(i32, i32, pointer, i64, i32, pointer)) {}

  llvm::Type *i32, *i64, *pointer;
  llvm::StructType *array, *argInfo, *version, *kernel, *launchOptions;
};

/// Fields of KronArray.
enum ArrayField { kData = 0, kSizes = 1, kStrides = 2 };

/// Emits the body of an entry.
class EntryBuilder {
public:
  EntryBuilder(llvm::Function *entry)
      : types(entry->getContext()), arrays(entry->getArg(0)),
        builder(llvm::BasicBlock::Create(entry->getContext(), "", entry)) {}

  void addArray(unsigned index, const ArgManifest &arg);
  void addScalar(unsigned index, llvm::Type *type) {
    callArgs.push_back(builder.CreateLoad(type, loadField(index, kData)));
  }
  size_t getNumCallArgs() const { return callArgs.size(); }
  void finish(llvm::Function *callee) {
    builder.CreateCall(callee, callArgs);
    builder.CreateRetVoid();
  }

private:
  llvm::Value *loadField(unsigned index, ArrayField field) {
    llvm::Value *array =
        builder.CreateConstInBoundsGEP1_64(types.array, arrays, index);
    return builder.CreateLoad(
        types.pointer, builder.CreateStructGEP(types.array, array, field));
  }
  llvm::Value *loadAxis(llvm::Value *values, unsigned axis) {
    return builder.CreateLoad(
        types.i64, builder.CreateConstInBoundsGEP1_64(types.i64, values, axis));
  }

  RuntimeTypes types;
  llvm::Value *arrays;
  llvm::IRBuilder<> builder;
  SmallVector<llvm::Value *> callArgs;
};

} // namespace

/// Passes a memref descriptor: pointers, offset, sizes, strides. An array
/// without strides gets row-major ones.
void EntryBuilder::addArray(unsigned index, const ArgManifest &arg) {
  llvm::Value *data = loadField(index, kData);
  callArgs.append({data, data, builder.getInt64(0)});
  unsigned rank = arg.getRank();
  if (rank == 0)
    return;
  llvm::Value *sizeField = loadField(index, kSizes);
  SmallVector<llvm::Value *> sizes;
  for (unsigned axis = 0; axis < rank; ++axis)
    sizes.push_back(arg.sizes[axis] >= 0 ? builder.getInt64(arg.sizes[axis])
                                         : loadAxis(sizeField, axis));
  auto *rowMajor = builder.CreateAlloca(types.i64, builder.getInt32(rank));
  llvm::Value *stride = builder.getInt64(1);
  for (unsigned axis = rank; axis-- > 0;) {
    builder.CreateStore(
        stride, builder.CreateConstInBoundsGEP1_64(types.i64, rowMajor, axis));
    stride = builder.CreateMul(stride, sizes[axis]);
  }
  llvm::Value *strideField = loadField(index, kStrides);
  llvm::Value *strides = builder.CreateSelect(builder.CreateIsNull(strideField),
                                              rowMajor, strideField);
  llvm::append_range(callArgs, sizes);
  for (unsigned axis = 0; axis < rank; ++axis)
    callArgs.push_back(loadAxis(strides, axis));
}

llvm::Function *kron::addEntry(llvm::Module &module,
                               const KernelManifest &kernel,
                               llvm::Function *callee, StringRef entryName) {
  RuntimeTypes types(module.getContext());
  auto *type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()),
                              {types.pointer}, /*isVarArg=*/false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                       entryName, module);
  EntryBuilder builder(entry);
  for (auto [index, arg] : llvm::enumerate(kernel.args)) {
    if (arg.isScalar)
      builder.addScalar(index,
                        callee->getArg(builder.getNumCallArgs())->getType());
    else
      builder.addArray(index, arg);
  }
  builder.finish(callee);
  return entry;
}

//===----------------------------------------------------------------------===//
// Manifest
//===----------------------------------------------------------------------===//

static llvm::Constant *addConstant(llvm::Module &module, llvm::Constant *value,
                                   const llvm::Twine &name) {
  auto *global =
      new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, value, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

static llvm::Constant *addString(llvm::Module &module, StringRef text) {
  return addConstant(
      module, llvm::ConstantDataArray::getString(module.getContext(), text),
      "kron.string");
}

static llvm::Constant *buildArgInfo(llvm::Module &module, RuntimeTypes &types,
                                    const ArgManifest &arg) {
  llvm::LLVMContext &context = module.getContext();
  auto i32 = [&](int64_t value) {
    return ConstantInt::get(types.i32, value, true);
  };
  llvm::Constant *sizes = llvm::ConstantPointerNull::get(
      llvm::cast<llvm::PointerType>(types.pointer));
  llvm::Constant *symbols = sizes;
  if (arg.getRank() > 0) {
    std::vector<uint64_t> sizeData(arg.sizes.begin(), arg.sizes.end());
    std::vector<uint32_t> symbolData(arg.symbols.begin(), arg.symbols.end());
    sizes = addConstant(module, llvm::ConstantDataArray::get(context, sizeData),
                        "kron.sizes");
    symbols =
        addConstant(module, llvm::ConstantDataArray::get(context, symbolData),
                    "kron.symbols");
  }
  return llvm::ConstantStruct::get(
      types.argInfo, {addString(module, arg.name), i32(arg.type),
                      i32(arg.getRank()), i32(arg.access), i32(arg.contiguity),
                      i32(arg.isScalar), sizes, symbols});
}

llvm::GlobalVariable *
kron::addKernelConstant(llvm::Module &module, const KernelManifest &kernel,
                        ArrayRef<KernelVersion> versions) {
  RuntimeTypes types(module.getContext());
  auto i32 = [&](int64_t value) {
    return ConstantInt::get(types.i32, value, true);
  };
  auto i64 = [&](int64_t value) {
    return ConstantInt::get(types.i64, value, true);
  };
  auto addTable = [&](llvm::StructType *type, ArrayRef<llvm::Constant *> rows,
                      StringRef name) {
    auto *table = llvm::ArrayType::get(type, rows.size());
    return addConstant(module, llvm::ConstantArray::get(table, rows), name);
  };
  auto getCudaModule = [&](const KernelVersion &version) -> llvm::Constant * {
    if (!version.cudaModule.empty())
      return module.getNamedGlobal(version.cudaModule);
    return llvm::ConstantPointerNull::get(
        llvm::cast<llvm::PointerType>(types.pointer));
  };
  SmallVector<llvm::Constant *> args, versionRows;
  for (const ArgManifest &arg : kernel.args)
    args.push_back(buildArgInfo(module, types, arg));
  for (const KernelVersion &version : versions)
    versionRows.push_back(llvm::ConstantStruct::get(
        types.version, {i32(version.isa), module.getFunction(version.entryName),
                        i64(version.sharedBytes), i64(version.threadBytes),
                        getCudaModule(version)}));
  auto *value = llvm::ConstantStruct::get(
      types.kernel,
      {i32(KRON_API_VERSION), i32(args.size()), addString(module, kernel.name),
       addTable(types.argInfo, args, "kron.args"), i32(versions.size()),
       i32(kernel.allocates),
       addTable(types.version, versionRows, "kron.versions")});
  return new llvm::GlobalVariable(module, types.kernel, /*isConstant=*/true,
                                  llvm::GlobalValue::ExternalLinkage, value,
                                  "kron_kernel_" + kernel.name);
}

//===----------------------------------------------------------------------===//
// C function
//===----------------------------------------------------------------------===//

/// Launch options for `target`: on a GPU, the function's last two arguments.
static llvm::Value *buildOptions(llvm::IRBuilder<> &builder,
                                 RuntimeTypes &types, llvm::Function *function,
                                 KronTarget target) {
  auto *null = llvm::ConstantPointerNull::get(
      llvm::cast<llvm::PointerType>(types.pointer));
  if (target == KRON_TARGET_CPU)
    return null;
  auto *type = types.launchOptions;
  llvm::Value *options = builder.CreateAlloca(type);
  unsigned numArgs = function->arg_size();
  llvm::Value *fields[] = {builder.getInt32(0),
                           builder.getInt32(target),
                           null,
                           builder.getInt64(0),
                           function->getArg(numArgs - 2),
                           function->getArg(numArgs - 1)};
  for (auto [index, field] : llvm::enumerate(fields))
    builder.CreateStore(field, builder.CreateStructGEP(type, options, index));
  return options;
}

void kron::addCFunction(llvm::Module &module, const KernelManifest &kernel,
                        llvm::GlobalVariable *constant, KronTarget target) {
  RuntimeTypes types(module.getContext());
  unsigned numArgs = kernel.args.size();
  SmallVector<llvm::Type *> params(numArgs, types.pointer);
  std::string name = kernel.name;
  if (target == KRON_TARGET_CUDA) {
    params.append({types.i32, types.pointer});
    name += "_cuda";
  }
  auto *type = llvm::FunctionType::get(types.i32, params, /*isVarArg=*/false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, name, module);
  auto arrayArgs =
      llvm::make_range(function->arg_begin(), function->arg_begin() + numArgs);
  auto launch =
      module.getOrInsertFunction("kronLaunch", types.i32, types.pointer,
                                 types.pointer, types.i32, types.pointer);

  llvm::LLVMContext &context = module.getContext();
  auto *entry = llvm::BasicBlock::Create(context, "", function);
  auto *copy = llvm::BasicBlock::Create(context, "copy", function);
  auto *call = llvm::BasicBlock::Create(context, "call", function);
  llvm::IRBuilder<> builder(entry);
  auto *null = llvm::ConstantPointerNull::get(
      llvm::cast<llvm::PointerType>(types.pointer));
  llvm::Value *options = buildOptions(builder, types, function, target);
  auto *arrays = builder.CreateAlloca(types.array, builder.getInt32(numArgs));
  // The launch reports a null argument; here it must only not be read.
  llvm::Value *anyNull = builder.getFalse();
  for (llvm::Argument &arg : arrayArgs)
    anyNull = builder.CreateOr(anyNull, builder.CreateIsNull(&arg));
  builder.CreateCondBr(anyNull, call, copy);

  builder.SetInsertPoint(copy);
  for (llvm::Argument &arg : arrayArgs)
    builder.CreateStore(builder.CreateLoad(types.array, &arg),
                        builder.CreateConstInBoundsGEP1_64(types.array, arrays,
                                                           arg.getArgNo()));
  builder.CreateBr(call);

  builder.SetInsertPoint(call);
  auto *source = builder.CreatePHI(types.pointer, 2);
  source->addIncoming(null, entry);
  source->addIncoming(arrays, copy);
  builder.CreateRet(builder.CreateCall(
      launch, {constant, source, builder.getInt32(numArgs), options}));
}
