//===- Processor.cpp - Processors to compile for ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Pipelines/Pipelines.h"
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

/// From how many bytes of input and result on columns are stored past the
/// caches of processors with AVX-512, at least.
static constexpr int64_t kStreamColumnsBytes = 24 << 20;

/// Instruction set and vector width that `features` of `machine` amount to.
static void classify(Processor &processor, const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  processor.isa = KRON_ISA_X86_64_V2;
  processor.vectorBits = 128;
  if (!machine.getTargetTriple().isX86())
    return;
  if (info.checkFeatures("+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl")) {
    // Intel's processors take four operations for one, and are slower so than
    // with multiply-adds of f32.
    processor.hasPairProducts = info.checkFeatures("+avx512bf16,+sse4a");
    processor.hasMatrixTiles =
        info.checkFeatures("+amx-tile,+amx-bf16,+avx512bf16");
    processor.isa =
        processor.hasMatrixTiles ? KRON_ISA_X86_64_V4_AMX : KRON_ISA_X86_64_V4;
    processor.vectorBits = 512;
    // From Sapphire Rapids and Zen 5 on (AVX-VNNI) a copy is faster with such
    // stores; a Cascade Lake is slower, unless each row of the result gets one
    // or two cache lines at a time.
    processor.streamColumnsBytes = kStreamColumnsBytes;
    if (info.checkFeatures("+avxvnni")) {
      processor.streamBytes = 48 << 20;
      processor.streamColumnsBytes = 16 << 20;
    }
    if (info.checkFeatures("+avx512fp16"))
      processor.streamColumnsBytes = 8 << 20;
  } else if (info.checkFeatures("+avx2,+fma,+f16c")) {
    processor.isa = KRON_ISA_X86_64_V3;
    processor.vectorBits = 256;
  }
}

/// Caches of one core of the processor that LLVM calls `cpu`; those of a server
/// with AVX-512 where they are not known. Where it was measured that memory
/// takes runs of more than two cache lines faster, so many bytes of columns,
/// and where larger tiles of small rows are faster, so many bytes of these. And
/// whether its shuffles take nothing from multiply-adds.
static void setKnown(Processor &processor) {
  struct Known {
    llvm::StringRef cpu;
    int64_t l1KiB, l2KiB, columnBytes = 0, rowTileBytes = 4096;
    bool hasFastShuffles = false;
  };
  static constexpr Known table[] = {
      {"x86-64-v2", 32, 256},       {"x86-64-v3", 32, 512},
      {"haswell", 32, 256},         {"broadwell", 32, 256},
      {"skylake", 32, 256},         {"skylake-avx512", 32, 1024},
      {"cascadelake", 32, 1024},    {"cooperlake", 32, 1024},
      {"icelake-client", 48, 512},  {"icelake-server", 48, 1280},
      {"sapphirerapids", 48, 2048}, {"emeraldrapids", 48, 2048},
      {"graniterapids", 48, 2048},  {"znver1", 32, 512},
      {"znver2", 32, 512},          {"znver3", 32, 512},
      {"znver4", 32, 1024},         {"znver5", 48, 1024, 256, 8192, true}};
  for (const Known &known : table)
    if (known.cpu == processor.cpu) {
      processor.l1Bytes = known.l1KiB << 10;
      processor.l2Bytes = known.l2KiB << 10;
      processor.columnBytes = known.columnBytes;
      processor.rowTileBytes = known.rowTileBytes;
      processor.hasFastShuffles = known.hasFastShuffles;
    }
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
  setKnown(processor);
  detectCaches(processor);
  if (auto machine = createTargetMachine(&processor))
    classify(processor, **machine);
  else
    llvm::consumeError(machine.takeError());
  processor.isa = KRON_ISA_HOST;
  return processor;
}

/// What the first processors with matrix tiles have, as far as kernels use it.
static Processor getTileProcessor() {
  Processor processor{"x86-64-v4", "+amx-tile,+amx-bf16,+avx512bf16", 512,
                      KRON_ISA_X86_64_V4_AMX};
  processor.l1Bytes = 48 << 10;
  processor.l2Bytes = 2 << 20;
  processor.streamBytes = 48 << 20;
  processor.streamColumnsBytes = 8 << 20;
  processor.hasMatrixTiles = true;
  return processor;
}

std::vector<Processor> kron::getPortableProcessors() {
  if (!llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86())
    return {getHostProcessor()};
  std::vector<Processor> processors = {
      {"x86-64-v2", "", 128, KRON_ISA_X86_64_V2},
      {"x86-64-v3", "", 256, KRON_ISA_X86_64_V3},
      {"x86-64-v4", "", 512, KRON_ISA_X86_64_V4},
      getTileProcessor()};
  processors[2].streamColumnsBytes = kStreamColumnsBytes;
  for (Processor &processor : processors)
    setKnown(processor);
  return processors;
}

llvm::Expected<Processor> kron::getNamedProcessor(StringRef name) {
  if (name == "native")
    return getHostProcessor();
  if (name == "x86-64-v4-amx" &&
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
  setKnown(processor);
  return processor;
}

void kron::setProcessor(CPUPipelineOptions &pipeline,
                        const Processor &processor) {
  pipeline.vectorBits = processor.vectorBits;
  pipeline.l1Bytes = processor.l1Bytes;
  pipeline.l2Bytes = processor.l2Bytes;
  pipeline.streamBytes = processor.streamBytes;
  pipeline.streamColumnsBytes = processor.streamColumnsBytes;
  pipeline.columnBytes = processor.columnBytes;
  pipeline.rowTileBytes = processor.rowTileBytes;
  pipeline.matrixTiles = processor.hasMatrixTiles;
  pipeline.pairProducts = processor.hasPairProducts;
  pipeline.fastShuffles = processor.hasFastShuffles;
}
