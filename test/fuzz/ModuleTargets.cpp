//===- ModuleTargets.cpp - Modules as text and as bytecode ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ModuleMutator.h"
#include "Passes.h"
#include "Session.h"
#include "Target.h"
#include "Words.h"
#include "kron/Target/Manifest.h"
#include "kron/Target/Output.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::fuzz;

/// Attempts at a mutation after which the module still verifies.
static constexpr unsigned kAttempts = 8;

namespace {
/// Modules, which a subclass writes as text or bytecode and does something
/// with.
class ModuleTarget : public Target {
public:
  bool run(StringRef input) override;
  std::string mutate(StringRef input, Random &random) override;
  void addSeeds(StringRef file, StringRef content,
                std::map<std::string, std::string> &seeds) override;

protected:
  /// Uses a module that verifies; false after an error.
  virtual bool use(Session &session, ModuleOp module) = 0;
  virtual std::string write(ModuleOp module, bool isValid) {
    return printModule(module, /*generic=*/!isValid);
  }
  virtual std::string mutateEncoded(StringRef input, Random &random) {
    return random.oneIn(3) ? mutateBytes(input, random)
                           : mutateWords(input, random);
  }
  /// Makes a seed of a module out of a test; false if that has none.
  virtual bool makeSeed(Session &session, ModuleOp module) { return true; }
  virtual void changeName(ModuleOp module, Random &random) {
    module.setName(random.pick(getPassLists()).name);
  }

private:
  SessionPool sessions;
};

class TextTarget : public ModuleTarget {
  bool use(Session &session, ModuleOp module) override {
    session.checkRoundTrip(module);
    return session.runPasses(module);
  }
};

class BytecodeTarget : public ModuleTarget {
  bool use(Session &session, ModuleOp module) override {
    session.checkRoundTrip(module);
    return session.runPasses(module);
  }

  /// As text where the module is not valid: MLIR's writer reads attributes that
  /// an operation lacks.
  std::string write(ModuleOp module, bool isValid) override {
    if (!isValid)
      return printModule(module, /*generic=*/true);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    if (failed(writeBytecodeToFile(module, stream)))
      reportFault("a module cannot be written as bytecode");
    return bytes;
  }

  /// Modules change, their bytes do not: MLIR's reader ends the process where a
  /// region promises more values than a vector can hold.
  std::string mutateEncoded(StringRef input, Random &random) override {
    return input.str();
  }
};

/// What is read from modules in the LLVM dialect, and the header made of it.
class ManifestTarget : public ModuleTarget {
  bool use(Session &session, ModuleOp module) override {
    FailureOr<std::vector<KernelManifest>> kernels;
    if (!session.mustExplain("reading manifests", [&] {
          kernels = getKernelManifests(module);
          return success(succeeded(kernels));
        }))
      return false;
    std::string header;
    llvm::raw_string_ostream stream(header);
    writeHeader(stream, *kernels, "fuzz", /*withGPU=*/true);
    return true;
  }

  bool makeSeed(Session &session, ModuleOp module) override {
    module.setName("cpu128");
    if (!session.runPasses(module))
      return false;
    auto kernels = getKernelManifests(module);
    if (failed(kernels) || kernels->empty())
      return false;
    // Manifests do not depend on what the functions do.
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal()) {
        function.getBody().dropAllReferences();
        function.getBody().getBlocks().clear();
        function.setLinkage(LLVM::Linkage::External);
      }
    return session.isValid(module);
  }

  void changeName(ModuleOp module, Random &random) override {}
};
} // namespace

bool ModuleTarget::run(StringRef input) {
  ++counts.runs;
  Session &session = sessions.get();
  OwningOpRef<ModuleOp> module = session.parse(input);
  if (!module)
    return false;
  ++counts.parsed;
  if (!session.isValid(*module))
    return false;
  ++counts.accepted;
  counts.completed += use(session, *module);
  return true;
}

std::string ModuleTarget::mutate(StringRef input, Random &random) {
  if (random.oneIn(12))
    return mutateEncoded(input, random);
  Session &session = sessions.get();
  keepInput(input);
  OwningOpRef<ModuleOp> module = session.parse(input);
  if (!module)
    return mutateEncoded(input, random);
  bool mayBeInvalid = random.oneIn(20);
  OwningOpRef<ModuleOp> mutated;
  for (unsigned i = 0; i < kAttempts; ++i) {
    mutated = module->clone();
    if (random.oneIn(6))
      changeName(*mutated, random);
    mutateModule(*mutated, random);
    if (mayBeInvalid)
      break;
    // A verifier may crash.
    keepInput(printModule(*mutated, /*generic=*/true));
    if (session.isValid(*mutated))
      return write(*mutated, /*isValid=*/true);
  }
  return write(*mutated, /*isValid=*/false);
}

/// Passes for modules of a test whose RUN lines name others or the same.
static StringRef findPasses(StringRef content) {
  static constexpr std::pair<StringRef, StringRef> passes[] = {
      {"--kron-gpu-pipeline", "sm_90a"},
      {"--convert-tile-to-nvvm", "nvvm"},
      {"--kron-tile", "nvvm"},
      {"--target cuda", "sm_90a"},
      {"target=cuda", "nvvm"},
      {"--kron-raise-shuffles", "raise"},
      {"--kron-widen", "widen"},
      {"--convert-kron-to-linalg", "linalg"},
      {"--convert-kron-to-vector", "vector"},
      {"--convert-pairwise-to-vector", "vector"},
      {"--kron-fuse", "vector"},
      {"--kron-decompose", "vector"}};
  SmallVector<StringRef> lines;
  content.split(lines, '\n');
  for (auto [option, name] : passes)
    for (StringRef line : lines)
      if (line.contains("RUN:") && line.contains(option))
        return name;
  return getPassLists().front().name;
}

/// The pieces of a test for --split-input-file or split-file.
static std::vector<StringRef> splitTest(StringRef content) {
  SmallVector<StringRef> chunks, files;
  content.split(chunks, "// -----");
  std::vector<StringRef> pieces;
  for (StringRef chunk : chunks) {
    files.clear();
    chunk.split(files, "\n//--- ");
    pieces.push_back(files.front());
    for (StringRef file : llvm::drop_begin(files))
      pieces.push_back(file.split('\n').second);
  }
  return pieces;
}

void ModuleTarget::addSeeds(StringRef file, StringRef content,
                            std::map<std::string, std::string> &seeds) {
  Session &session = sessions.get();
  auto add = [&](OwningOpRef<ModuleOp> module) {
    module->setName(findPasses(content));
    if (session.isValid(*module) && makeSeed(session, *module))
      seeds[(file + "-" + Twine(seeds.size())).str()] =
          write(*module, /*isValid=*/true);
  };
  for (StringRef part : splitTest(content)) {
    OwningOpRef<ModuleOp> module = session.parse(part);
    if (!module || !session.isValid(*module))
      continue;
    // Functions one by one, where they do not call each other.
    SmallVector<Operation *> ops;
    for (Operation &op : module->getOps())
      ops.push_back(&op);
    bool isDivisible = llvm::all_of(ops, [&](Operation *op) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      return symbol && SymbolTable::symbolKnownUseEmpty(op, *module);
    });
    if (!isDivisible) {
      add(std::move(module));
      continue;
    }
    for (Operation *op : ops) {
      OwningOpRef<ModuleOp> single(ModuleOp::create(op->getLoc()));
      single->push_back(op->clone());
      add(std::move(single));
    }
  }
}

std::unique_ptr<Target> kron::fuzz::createTextTarget() {
  return std::make_unique<TextTarget>();
}

std::unique_ptr<Target> kron::fuzz::createBytecodeTarget() {
  return std::make_unique<BytecodeTarget>();
}

std::unique_ptr<Target> kron::fuzz::createManifestTarget() {
  return std::make_unique<ManifestTarget>();
}
