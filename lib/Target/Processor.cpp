//===- Processor.cpp - Processors to compile for ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/Calibration.h"
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

// AArch64's code generator, which a program has if the LLVM that it is linked
// with does: a slim one, linked with archives, has that of its own machine.
extern "C" {
LLVM_ATTRIBUTE_WEAK void LLVMInitializeAArch64TargetInfo();
LLVM_ATTRIBUTE_WEAK void LLVMInitializeAArch64Target();
LLVM_ATTRIBUTE_WEAK void LLVMInitializeAArch64TargetMC();
LLVM_ATTRIBUTE_WEAK void LLVMInitializeAArch64AsmPrinter();
}

static constexpr StringRef kForeignTriple = "aarch64-unknown-linux-gnu";
/// kron's name of any processor of AArch64, which LLVM calls generic as it does
/// those of all architectures.
static constexpr StringRef kForeignGeneric = "aarch64";

/// Whether there is a code generator of AArch64 beside that of this machine.
static bool hasForeignTarget() {
  return !llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64() &&
         LLVMInitializeAArch64TargetInfo && LLVMInitializeAArch64Target &&
         LLVMInitializeAArch64TargetMC && LLVMInitializeAArch64AsmPrinter;
}

/// The target of an architecture, with its code generator initialised.
static llvm::Expected<const llvm::Target *>
getTarget(const llvm::Triple &triple) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    if (hasForeignTarget()) {
      LLVMInitializeAArch64TargetInfo();
      LLVMInitializeAArch64Target();
      LLVMInitializeAArch64TargetMC();
      LLVMInitializeAArch64AsmPrinter();
    }
    return true;
  }();
  (void)initialized;
  std::string error;
  if (const llvm::Target *target =
          llvm::TargetRegistry::lookupTarget(triple, error))
    return target;
  return llvm::createStringError(error);
}

static llvm::Triple getTriple(const Processor &processor) {
  return llvm::Triple(processor.triple.empty()
                          ? llvm::sys::getDefaultTargetTriple()
                          : processor.triple);
}

/// Sets the instruction set and the vector width that the features of `machine`
/// amount to, and what is known of such a processor.
static void classify(Processor &processor, const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  // Of another architecture LLVM takes no name that it does not know.
  auto hasFeature = [&](StringRef name) {
    return machine.getTargetTriple().isX86() &&
           info.checkFeatures(("+" + name).str());
  };
  processor.isa = KRON_ISA_HOST;
  processor.vectorBits = 128;
  if (machine.getTargetTriple().isX86()) {
    processor.isa = KRON_ISA_X86_64_V2;
    if (info.checkFeatures(
            "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl")) {
      processor.hasMatrixTiles =
          info.checkFeatures("+amx-tile,+amx-bf16,+avx512bf16");
      processor.mayPairProducts = info.checkFeatures("+avx512bf16");
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
kron::createTargetMachine(const Processor &processor) {
  llvm::Triple triple = getTriple(processor);
  llvm::Expected<const llvm::Target *> target = getTarget(triple);
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      triple, processor.cpu, processor.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("no code generator for " + triple.str());
  return machine;
}

Processor kron::getBaseline(StringRef triple) {
  Processor processor{"generic", "", 128, KRON_ISA_HOST};
  processor.triple = triple.str();
  if (getTriple(processor).isX86())
    processor.cpu = "x86-64";
  return processor;
}

Processor kron::getHostProcessor() {
  Processor processor;
  processor.cpu = llvm::sys::getHostCPUName().str();
  // The name alone can be wrong (virtual machines hide models); features are
  // not.
  llvm::SubtargetFeatures features;
  llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  for (const auto &feature : found)
    features.AddFeature(feature.first(), feature.second);
  // The system may keep matrix tiles from this process, and KRON_ISA any of
  // these. What is based on a feature goes with it.
  KronIsa isa = kronGetIsa();
  for (auto [least, feature] : {std::pair(KRON_ISA_X86_64_V3, "avx"),
                                {KRON_ISA_X86_64_V4, "avx512f"},
                                {KRON_ISA_X86_64_V4_AMX, "amx-tile"}}) {
    if (isa == KRON_ISA_HOST || isa >= least || !found.lookup(feature))
      continue;
    features.AddFeature(feature, false);
    processor.isLimited |= least < KRON_ISA_X86_64_V4_AMX;
  }
  processor.features = features.getString();
  processor.vectorBits = 128;
  if (auto machine = createTargetMachine(processor))
    classify(processor, **machine);
  else
    llvm::consumeError(machine.takeError());
  detectCaches(processor);
  // Estimates are counted from them.
  takeKeptRates(processor);
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
  processor.hasMatrixTiles = processor.mayPairProducts = true;
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

/// Whether `name` is a processor of the architecture of `machine` without code
/// of 64 bits, for which LLVM makes no subtarget.
static bool isFor32Bits(const llvm::TargetMachine &machine, StringRef name) {
  if (!machine.getTargetTriple().isX86())
    return false;
  llvm::Triple triple(machine.getTargetTriple());
  triple.setArch(llvm::Triple::x86);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      machine.getTarget().createMCSubtargetInfo(triple, name, ""));
  return info && !info->checkFeatures("+64bit");
}

/// The processor `name` of an architecture, if LLVM knows it.
static llvm::Expected<std::optional<Processor>>
findProcessor(StringRef name, StringRef triple = "") {
  Processor processor = getBaseline(triple);
  auto baseline = createTargetMachine(processor);
  if (!baseline)
    return baseline.takeError();
  const llvm::MCSubtargetInfo &known = *(*baseline)->getMCSubtargetInfo();
  if (!known.isCPUStringValid(name) || isFor32Bits(**baseline, name))
    return std::nullopt;
  processor.cpu = name.str();
  auto machine = createTargetMachine(processor);
  if (!machine)
    return machine.takeError();
  classify(processor, **machine);
  return processor;
}

llvm::Expected<Processor> kron::getNamedProcessor(StringRef name) {
  if (name == "native")
    return getHostProcessor();
  if (name == kTileProcessor &&
      llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86())
    return getTileProcessor();
  auto processor = findProcessor(name);
  if (processor && !*processor && hasForeignTarget())
    processor = findProcessor(name == kForeignGeneric ? "generic" : name,
                              kForeignTriple);
  if (!processor)
    return processor.takeError();
  if (!*processor)
    return llvm::createStringError(
        "expects --mcpu to be 'native' or a processor of " +
        llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArchName() +
        (hasForeignTarget() ? " or aarch64" : "") +
        " that LLVM knows, but got '" + name + "'");
  return **processor;
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
  for (const Processor &processor : processors) {
    llvm::Triple triple = getTriple(processor);
    if (processors.size() > 1 && !triple.isX86())
      return llvm::createStringError(
          "expects one processor, since kernels of " + triple.getArchName() +
          " are not chosen at run time, but got " +
          llvm::Twine(processors.size()));
  }
  return processors;
}
