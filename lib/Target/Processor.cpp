//===- Processor.cpp - Processors to compile for ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/LLVMIR.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::kron;

/// The target of this machine, with its code generator initialised.
static llvm::Expected<const llvm::Target *> getHostTarget() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  if (const llvm::Target *target =
          llvm::TargetRegistry::lookupTarget(triple, error))
    return target;
  return llvm::createStringError(error);
}

/// Sets the instruction set and the vector width that the features of `machine`
/// amount to, and what is known of such a processor.
static void classify(Processor &processor, const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  auto hasFeature = [&](StringRef name) {
    return info.checkFeatures(("+" + name).str());
  };
  processor.isa = KRON_ISA_X86_64_V2;
  processor.vectorBits = 128;
  if (machine.getTargetTriple().isX86()) {
    if (info.checkFeatures(
            "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl")) {
      processor.hasMatrixTiles =
          info.checkFeatures("+amx-tile,+amx-bf16,+avx512bf16");
      processor.isa = processor.hasMatrixTiles ? KRON_ISA_X86_64_V4_AMX
                                               : KRON_ISA_X86_64_V4;
      processor.vectorBits = 512;
    } else if (info.checkFeatures("+avx2,+fma,+f16c")) {
      processor.isa = KRON_ISA_X86_64_V3;
      processor.vectorBits = 256;
    }
  }
  setKnownCosts(processor, hasFeature);
}

/// What the C library knows of this machine's caches, if anything.
static void detectCaches(Processor &processor) {
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE),
       l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (l1 > 0 && l2 > 0) {
    processor.l1Bytes = l1;
    processor.l2Bytes = l2;
  }
#endif
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
kron::createTargetMachine(const Processor *processor) {
  llvm::Expected<const llvm::Target *> target = getHostTarget();
  if (!target)
    return target.takeError();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  StringRef cpu = processor        ? StringRef(processor->cpu)
                  : triple.isX86() ? "x86-64"
                                   : "generic";
  StringRef features = processor ? StringRef(processor->features) : "";
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("no code generator for " + triple.str());
  return machine;
}

Processor kron::getHostProcessor() {
  Processor processor;
  processor.cpu = llvm::sys::getHostCPUName().str();
  // The name alone can be wrong (virtual machines hide models); features are
  // not.
  llvm::SubtargetFeatures features;
  // The system may keep matrix tiles from this process, and so may KRON_ISA.
  bool hasTiles = kronGetIsa() >= KRON_ISA_X86_64_V4_AMX;
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    bool isOfTiles = feature.first().starts_with("amx-");
    features.AddFeature(feature.first(),
                        feature.second && (hasTiles || !isOfTiles));
  }
  processor.features = features.getString();
  processor.vectorBits = 128;
  if (auto machine = createTargetMachine(&processor))
    classify(processor, **machine);
  else
    llvm::consumeError(machine.takeError());
  detectCaches(processor);
  processor.isa = KRON_ISA_HOST;
  return processor;
}

/// kron's name of the first processors with matrix tiles, for which LLVM has
/// none.
static constexpr StringRef kTileProcessor = "x86-64-v4-amx";

/// What the first processors with matrix tiles have, as far as kernels use it.
static Processor getTileProcessor() {
  Processor processor{kTileProcessor.str(), "+amx-tile,+amx-bf16,+avx512bf16",
                      512, KRON_ISA_X86_64_V4_AMX};
  setKnownCosts(processor, [](StringRef) { return false; });
  processor.cpu = "x86-64-v4";
  processor.hasMatrixTiles = true;
  return processor;
}

std::vector<Processor> kron::getPortableProcessors() {
  if (!llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86())
    return {getHostProcessor()};
  std::vector<Processor> processors = {
      {"x86-64-v2", "", 128, KRON_ISA_X86_64_V2},
      {"x86-64-v3", "", 256, KRON_ISA_X86_64_V3},
      {"x86-64-v4", "", 512, KRON_ISA_X86_64_V4}};
  for (Processor &processor : processors)
    setKnownCosts(processor, [](StringRef) { return false; });
  processors.push_back(getTileProcessor());
  return processors;
}

llvm::Expected<Processor> kron::getNamedProcessor(StringRef name) {
  if (name == "native")
    return getHostProcessor();
  if (name == kTileProcessor &&
      llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86())
    return getTileProcessor();
  auto baseline = createTargetMachine(nullptr);
  if (!baseline)
    return baseline.takeError();
  if (!(*baseline)->getMCSubtargetInfo()->isCPUStringValid(name))
    return llvm::createStringError("expects --mcpu to be 'native' or a "
                                   "processor that LLVM knows, but got '" +
                                   name.str() + "'");
  Processor processor{name.str(), "", 128, KRON_ISA_X86_64_V2};
  auto machine = createTargetMachine(&processor);
  if (!machine)
    return machine.takeError();
  classify(processor, **machine);
  return processor;
}

llvm::Expected<std::vector<Processor>>
kron::getNamedProcessors(ArrayRef<std::string> names) {
  std::vector<Processor> processors;
  for (const std::string &name : names) {
    auto processor = getNamedProcessor(name);
    if (!processor)
      return processor.takeError();
    processors.push_back(std::move(*processor));
  }
  return processors;
}
