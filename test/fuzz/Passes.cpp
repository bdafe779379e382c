//===- Passes.cpp - Passes that the fuzzers run ---------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Passes.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "kron/Mapping/Passes.h"
#include "kron/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::fuzz;

template <int bits> static void populateCPU(OpPassManager &pm) {
  CPUPipelineOptions options;
  options.vectorBits = bits;
  // The largest one with what only some processors have.
  options.matrixTiles = options.pairProducts = options.fastShuffles =
      bits == 512;
  populateKronCPUPipeline(pm, options);
}

static void populateCPUReference(OpPassManager &pm) {
  CPUPipelineOptions options;
  options.reference = true;
  populateKronCPUPipeline(pm, options);
}

static void populateSm90(OpPassManager &pm) { populateKronGPUPipeline(pm, {}); }

static void populateSm80(OpPassManager &pm) {
  GPUPipelineOptions options;
  options.chip = "sm_80";
  options.cublas = false;
  populateKronGPUPipeline(pm, options);
}

static void populateGPUReference(OpPassManager &pm) {
  GPUPipelineOptions options;
  options.reference = true;
  populateKronGPUPipeline(pm, options);
}

static void populateWiden(OpPassManager &pm) { pm.addPass(createKronWiden()); }

static void populateRaise(OpPassManager &pm) {
  pm.addPass(createKronRaiseShuffles());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// One pass after the other without what a pipeline does between them: on
/// tensors, memrefs and what lies between, as kron-opt allows.
template <bool cuda> static void populateSteps(OpPassManager &pm) {
  const char *target = cuda ? "cuda" : "cpu";
  KronDecomposeOptions decompose;
  decompose.target = target;
  pm.addPass(createKronDecompose(decompose));
  KronFuseOptions fuse;
  fuse.target = target;
  pm.addPass(createKronFuse(fuse));
  if (cuda)
    pm.addPass(createKronCollapseAxes());
  KronPlanOptions plan;
  plan.target = target;
  pm.addPass(createKronPlan(plan));
  if (!cuda) {
    pm.addPass(createConvertPairwiseToVector());
    pm.addPass(createConvertKronToVector());
    return;
  }
  pm.addPass(createKronTile());
  pm.addPass(createConvertTileToNVVM());
}

static void populateLinalg(OpPassManager &pm) {
  pm.addPass(createConvertKronToLinalg());
  pm.addPass(createKronBufferize());
}

ArrayRef<PassList> kron::fuzz::getPassLists() {
  static constexpr PassList lists[] = {
      {"cpu512", populateCPU<512>, true},
      {"cpu256", populateCPU<256>, true},
      {"cpu128", populateCPU<128>, true},
      {"cpu_reference", populateCPUReference, true},
      {"sm_90a", populateSm90, true},
      {"sm_80", populateSm80, true},
      {"gpu_reference", populateGPUReference, true},
      {"widen", populateWiden, false},
      {"raise", populateRaise, false},
      {"linalg", populateLinalg, false},
      {"vector", populateSteps<false>, false},
      {"nvvm", populateSteps<true>, false}};
  return lists;
}

const PassList &kron::fuzz::getPassList(StringRef name) {
  for (const PassList &list : getPassLists())
    if (list.name == name)
      return list;
  return getPassLists().front();
}
