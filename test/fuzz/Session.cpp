//===- Session.cpp - Modules in the fuzzers -------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Passes.h"
#include "Target.h"
#include "Words.h"
#include "kron/InitAll.h"
#include "kron/Target/GPUCode.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::fuzz;

/// Inputs per context.
static constexpr unsigned kUses = 300;

/// A message of the verifier behind a pass is a fault of the pass, not of the
/// input; but for sizes that only become known there, which do not fit or are
/// too large.
struct Session::Instrumentation : PassInstrumentation {
  explicit Instrumentation(Session &session) : session(session) {}

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    // A pass that has failed for another reason has given another message.
    std::string said = session.lastError;
    StringRef text(said);
    bool tellsSizes =
        llvm::is_contained({"Canonicalizer", "Inliner"}, pass->getName()) ||
        text.contains("2^56 bytes") ||
        (!text.starts_with("'kron.") &&
         (text.contains("dim") || text.contains("static shaped") ||
          text.contains("output shape")));
    if (failed(verify(op)) && session.lastError == said && !tellsSizes)
      reportFault("after pass " + pass->getName() +
                  " the module does not verify: " + said);
  }

  Session &session;
};

Session::Session() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  diagnostics.emplace(context.get(), [this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      ++numErrors;
      lastError = diagnostic.str();
    }
    return success();
  });
}

Session::~Session() = default;

Session &SessionPool::get() {
  if (!session || ++uses == kUses) {
    session = std::make_unique<Session>();
    uses = 0;
  }
  return *session;
}

bool Session::mustExplain(const Twine &what,
                          llvm::function_ref<LogicalResult()> work) {
  uint64_t before = numErrors;
  if (succeeded(work()))
    return true;
  if (numErrors == before)
    reportFault(what + " fails without an error message");
  return false;
}

OwningOpRef<ModuleOp> Session::parse(StringRef source) {
  OwningOpRef<ModuleOp> module;
  if (crashesParser(source))
    return module;
  ParserConfig config(context.get(), /*verifyAfterParse=*/false);
  mustExplain("parsing", [&] {
    module = parseSourceString<ModuleOp>(source, config);
    return success(static_cast<bool>(module));
  });
  return module;
}

bool Session::isValid(Operation *op) {
  return mustExplain("verification", [&] { return verify(op); });
}

std::string kron::fuzz::printModule(ModuleOp module, bool generic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  else
    flags.assumeVerified();
  module->print(stream, flags);
  return text;
}

void Session::checkRoundTrip(ModuleOp module) {
  std::string text = printModule(module, /*generic=*/false);
  OwningOpRef<ModuleOp> copy = parse(text);
  if (!copy)
    reportFault("printed module does not parse: " + lastError + "\n" + text);
  if (!isValid(*copy))
    reportFault("printed module does not verify: " + lastError + "\n" + text);
  std::string again = printModule(*copy, /*generic=*/false);
  // Resources get new names in a context that has the old ones.
  if (again != text && !StringRef(text).contains("dense_resource<"))
    reportFault("printed module is another one:\n" + text + "\n" + again);
}

PassManager &Session::getPasses(StringRef name) {
  const PassList &list = getPassList(name);
  std::unique_ptr<PassManager> &manager = passes[list.name];
  if (!manager) {
    manager = std::make_unique<PassManager>(context.get());
    manager->addInstrumentation(std::make_unique<Instrumentation>(*this));
    list.populate(*manager);
  }
  return *manager;
}

/// LLVM IR that does not verify is a fault; operations that have no translation
/// are not kron's.
static void checkTranslated(std::unique_ptr<llvm::Module> module) {
  if (!module)
    return;
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*module, &stream))
    reportFault("LLVM IR does not verify: " + problems);
}

/// Whether `module` has functions of LLVM, whose attributes kron does not
/// touch: MLIR's verifier takes some that LLVM refuses.
static bool hasLLVMFunctions(ModuleOp module) {
  return module.walk([](LLVM::LLVMFuncOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void Session::checkLLVMIR(ModuleOp module) {
  GPUChip chip = llvm::cantFail(GPUChip::parse("sm_90a"));
  for (auto gpuModule :
       llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    llvm::LLVMContext llvmContext;
    mustExplain("translation", [&] {
      auto translated = translateGPUModule(gpuModule, chip, llvmContext);
      bool done = translated != nullptr;
      checkTranslated(std::move(translated));
      return success(done);
    });
    gpuModule.erase();
  }
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  llvm::LLVMContext llvmContext;
  mustExplain("translation", [&] {
    auto translated = translateModuleToLLVMIR(module, llvmContext, "kron");
    bool done = translated != nullptr;
    checkTranslated(std::move(translated));
    return success(done);
  });
}

bool Session::runPasses(ModuleOp module) {
  std::string name = module.getName().value_or("").str();
  bool isTranslated =
      getPassList(name).lowersToLLVM && !hasLLVMFunctions(module);
  if (!mustExplain("list of passes " + name,
                   [&] { return getPasses(name).run(module); }))
    return false;
  if (isTranslated)
    checkLLVMIR(module);
  return true;
}
