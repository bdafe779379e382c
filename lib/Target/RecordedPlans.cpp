//===- RecordedPlans.cpp - What tuning records change -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/RecordedPlans.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Mapping/Passes.h"
#include "kron/Mapping/Tuning/Record.h"
#include "kron/Pipelines/Pipelines.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::kron;

static std::vector<std::string> getTargets(ArrayRef<Processor> processors,
                                           const CodegenOptions &options) {
  std::vector<std::string> targets;
  for (const Processor &processor : processors)
    targets.push_back(getRecordTarget(processor, options.numThreads).getText());
  for (const std::string &name : options.gpuChips) {
    auto machine = parseGPUMachine(name);
    if (machine)
      targets.push_back(getRecordTarget(*machine).getText());
    else
      llvm::consumeError(machine.takeError());
  }
  return targets;
}

RecordedPlans kron::getRecordedPlans(ModuleOp module,
                                     ArrayRef<Processor> processors,
                                     const CodegenOptions &options) {
  RecordedPlans recorded;
  if (options.records.empty() || options.reference)
    return recorded;
  ScopedDiagnosticHandler collect(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Warning &&
            !llvm::is_contained(recorded.warnings, diagnostic.str()))
          recorded.warnings.push_back(diagnostic.str());
        return success();
      });
  OwningOpRef<ModuleOp> simplified(module.clone());
  PassManager simplify(module.getContext());
  populateKronSimplification(simplify);
  if (failed(simplify.run(*simplified)))
    return recorded;
  llvm::raw_string_ostream stream(recorded.plans);
  for (const std::string &target : getTargets(processors, options)) {
    OwningOpRef<ModuleOp> copy(simplified->clone());
    SmallVector<Operation *> tunable;
    copy->walk([&](Operation *op) {
      if (isTunable(op))
        tunable.push_back(op);
    });
    KronApplyRecordsOptions apply;
    llvm::append_range(apply.files, options.records);
    apply.target = target;
    PassManager pm(module.getContext());
    pm.addPass(createKronApplyRecords(apply));
    if (failed(pm.run(*copy)))
      continue;
    for (auto [number, op] : llvm::enumerate(tunable))
      if (Attribute plan = op->getInherentAttr(kPlanAttrName).value())
        stream << target << " " << number << " " << plan << "\n";
  }
  return recorded;
}
