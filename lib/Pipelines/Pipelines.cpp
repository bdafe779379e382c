//===- Pipelines.cpp - Pass pipelines ---------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Compile time is part of the interface (a typical kernel takes less than
// 150 ms), so each pass below has a reason, and simplification runs only where
// the next pass needs it.
//
//===----------------------------------------------------------------------===//

#include "kron/Pipelines/Pipelines.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "kron/Mapping/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::kron;

void kron::populateKronSimplification(OpPassManager &pm) {
  // 1. Private functions disappear into their callers, so that bufferization
  //    sees whole computations and no call remains. They are simplified there,
  //    and not before, as the inliner does otherwise.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  // 2. Identity factors, transposes and the like; chains of matmuls and
  //    transposes.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createKronRaiseShuffles());
}

// In: kron, linalg, tensor, memref, arith, math, complex, scf, func
// Out: the same; entry functions take memrefs and scalars and return nothing
template <typename Options>
static void populateInterface(OpPassManager &pm, const Options &options) {
  if (options.reference) {
    // What simplifies operations shall be tested, too.
    pm.addPass(createInlinerPass());
    pm.addPass(createSymbolDCEPass());
  } else {
    populateKronSimplification(pm);
    if (!options.records.empty()) {
      KronApplyRecordsOptions apply;
      llvm::append_range(apply.files, options.records);
      apply.target = options.recordTarget;
      pm.addPass(createKronApplyRecords(apply));
    }
  }
  // 3. Entry functions that C can call. Before decomposition, since results are
  //    traced to their destinations through whole operations.
  pm.addPass(createKronLowerInterface());
}

/// Options of a pass that say what is known of the processor.
template <typename PassOptions>
static PassOptions getCPUOptions(const CPUPipelineOptions &options) {
  PassOptions cpu;
  cpu.vectorBits = options.vectorBits;
  cpu.wholeBits = options.wholeBits;
  cpu.cacheBytes = options.l1Bytes;
  cpu.l2Bytes = options.l2Bytes;
  cpu.streamBytes = options.streamBytes;
  cpu.streamColumnsBytes = options.streamColumnsBytes;
  cpu.columnBytes = options.columnBytes;
  cpu.rowTileBytes = options.rowTileBytes;
  cpu.matrixTiles = options.matrixTiles;
  cpu.pairProducts = options.pairProducts;
  cpu.slowPairProducts = options.slowPairProducts;
  cpu.fastShuffles = options.fastShuffles;
  cpu.gigahertz = options.gigahertz;
  cpu.wideFmas = options.wideFmas;
  cpu.wideLoads = options.wideLoads;
  cpu.vectorFmas = options.vectorFmas;
  cpu.vectorLoads = options.vectorLoads;
  cpu.copyGigabytes = options.copyGigabytes;
  cpu.l2BytesPerCycle = options.l2BytesPerCycle;
  cpu.calibratedRates = options.calibratedRates;
  return cpu;
}

// In: kron (named operations, mode products), linalg, tensor, memref, ...
// Out: kron.fused and linalg on tensors and memrefs
static void populateFusion(OpPassManager &pm, const KronFuseOptions &fuse,
                           KronDecomposeOptions decompose = {}) {
  // 4. What the code generator does not take goes the reference way.
  ConvertKronToLinalgOptions fallback;
  fallback.fallbackOnly = true;
  fallback.target = fuse.target;
  pm.addPass(createConvertKronToLinalg(fallback));
  // 5. Views and mode products, in the cheapest order of factors.
  decompose.target = fuse.target;
  decompose.chip = fuse.chip;
  decompose.cublas = fuse.cublas;
  pm.addPass(createKronDecompose(decompose));
  // 6. One kron.fused per chain of mode products, or per fused region on a GPU.
  //    Simplification first: equal views of one array must be one value.
  pm.addPass(createCSEPass());
  pm.addPass(createKronFuse(fuse));
  //    Epilogues that no kron.fused has taken become linalg.
  ConvertKronToLinalgOptions epilogues;
  epilogues.epiloguesOnly = true;
  epilogues.target = fuse.target;
  pm.addPass(createConvertKronToLinalg(epilogues));
}

// In: kron.fused, linalg, tensor, bufferization, memref, ...
// Out: kron.fused and linalg on memrefs
static void populateBufferization(OpPassManager &pm) {
  // 7. Memory for tensors, outside kron.fused only, and its release. The
  //    canonicalizer folds the views that bufferization leaves.
  pm.addPass(createKronBufferize());
  pm.addPass(createCanonicalizerPass());
}

// In: kron.fused, linalg on memrefs, arith, math, complex, memref, func
// Out: kron.fused, scf, arith, math, memref, func, llvm
static void populateLoops(OpPassManager &pm) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  // 8. linalg operations become loops.
  func.addPass(createConvertLinalgToLoopsPass());
  // 9. Complex operations become operations on real and imaginary parts, among
  //    them those of math.
  func.addPass(createKronExpandComplex());
  //    Arithmetic and functions of bf16 become those of f32, rounded.
  arith::ArithEmulateUnsupportedFloatsOptions narrow;
  narrow.sourceTypeStrs = {"bf16"};
  narrow.targetTypeStr = "f32";
  func.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
  math::MathExtendToSupportedTypesOptions wide;
  wide.extraTypeStrs = {"f16", "f80"};
  func.addPass(math::createMathExtendToSupportedTypes(wide));
  // 10. Intrinsics where LLVM has them, the C library for the rest (erf). Apart
  //     from the conversion at the end, whose patterns do not know the C
  //     library.
  func.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  //     Rounding to bf16 becomes integer arithmetic: LLVM would call a compiler
  //     library newer than the one Debian 12 links.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  func.addPass(arith::createArithExpandOpsPass(expand));
}

/// Functions of epilogues on a CPU, where a division takes less than what it
/// saves. Only AVX-512 has vectors of 512 bits; those of other processors are
/// two of theirs.
static KronExpandMathOptions getCPUMath(const CPUPipelineOptions &options) {
  constexpr int64_t kAVX512Bits = 512;
  KronExpandMathOptions math;
  math.ignoreOthers = true;
  math.fastErf = true;
  if (options.vectorBits == kAVX512Bits)
    math.scaledBits = kAVX512Bits;
  return math;
}

// In: kron.fused, kron.pairwise, linalg on memrefs, ...
// Out: the same, and scf, arith, 1-D vector, llvm instead of kron.pairwise
static void populatePairs(OpPassManager &pm,
                          const CPUPipelineOptions &options) {
  //    Functions of pairs may hold any function of math: they become vectors
  //    in front of the passes that lower these.
  auto plan = getCPUOptions<KronPlanOptions>(options);
  plan.pairwiseOnly = true;
  pm.addPass(createKronPlan(plan));
  pm.addPass(createConvertPairwiseToVector());
}

// In: kron.fused on memrefs
// Out: scf, arith, 1-D vector, func, llvm
static void populateVectorization(OpPassManager &pm,
                                  const CPUPipelineOptions &options) {
  // 11. The plan is an attribute of its own pass, so that it can be
  //     printed, tested and overridden.
  pm.addPass(createKronPlan(getCPUOptions<KronPlanOptions>(options)));
  // 12. Loops over register tiles. Late, because unrolled tiles are thousands
  //     of operations that every pass before would walk for nothing.
  pm.addPass(createConvertKronToVector());
  // 13. Functions of epilogues, which --kron-fuse takes only where there are
  //     multiply-adds.
  if (options.vectorBits > 128)
    pm.addPass(createKronExpandMath(getCPUMath(options)));
}

// In: scf, arith, vector, memref, func, llvm
// Out: llvm
static void populateLLVM(OpPassManager &pm) {
  // 14. Views become offsets, sizes and strides. Not in GPU kernels, which have
  //     none.
  pm.addNestedPass<func::FuncOp>(createKronExpandViews());
  // 15. Structured loops become branches; then everything becomes llvm at once.
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void kron::populateKronCPUPipeline(OpPassManager &pm,
                                   const CPUPipelineOptions &options) {
  populateInterface(pm, options);
  if (options.reference) {
    pm.addPass(createConvertKronToLinalg());
    populateBufferization(pm);
    populateLoops(pm);
  } else {
    //    Kernels of sparse factors know the strides of row-major arrays.
    pm.addNestedPass<func::FuncOp>(createKronChooseByLayout());
    KronFuseOptions fuse;
    fuse.l2Bytes = options.l2Bytes;
    fuse.matrixTiles = options.matrixTiles;
    fuse.vectorBits = options.vectorBits;
    populateFusion(pm, fuse, getCPUOptions<KronDecomposeOptions>(options));
    populateBufferization(pm);
    //    Intermediates of one fused region serve the next but one.
    pm.addPass(createKronReleaseEarly());
    //    What no kron.fused has taken runs on all threads, too.
    pm.addPass(createKronMapToThreads());
    if (options.planOnly) {
      pm.addPass(createKronPlan(getCPUOptions<KronPlanOptions>(options)));
      return;
    }
    populatePairs(pm, options);
    // Epilogues become loops that LLVM can vectorize, unless multiply-adds
    // would be calls.
    if (options.vectorBits > 128)
      pm.addPass(createKronExpandMath(getCPUMath(options)));
    populateLoops(pm);
    populateVectorization(pm, options);
  }
  populateLLVM(pm);
  // 16. Arrays from one launch serve the next.
  pm.addPass(createKronPoolArrays());
}

// In: kron.fused, linalg on memrefs, arith, math, complex, memref, func
// Out: the same, kron.fused with plans
static void populatePlans(OpPassManager &pm,
                          const GPUPipelineOptions &options) {
  // 8. Intermediates of one fused region serve the next but one.
  pm.addPass(createKronReleaseEarly());
  if (options.reference)
    return;
  // 9. A plan per fused region, which has no epilogue unless a kernel takes it,
  //    on as few axes as there can be.
  ConvertKronToLinalgOptions rest;
  rest.epiloguesOnly = true;
  rest.target = "cuda";
  pm.addPass(createConvertKronToLinalg(rest));
  pm.addPass(createKronCollapseAxes());
  KronPlanOptions plan;
  plan.target = "cuda";
  plan.chip = options.chip;
  plan.cublas = options.cublas;
  pm.addPass(createKronPlan(plan));
}

// In: kron.fused with plans, linalg on memrefs, arith, math, complex, memref,
//     func
// Out: in gpu.module: llvm, nvvm, scf, arith, math, vector, complex;
//      in func: llvm, scf, arith, complex, memref
static void populateKernels(OpPassManager &pm,
                            const GPUPipelineOptions &options) {
  //    One kernel per fused region, of the kind that the plan names; and
  //    one per kron.quantize, unless its rows turn out not to be contiguous.
  if (!options.reference) {
    //    All kernels are one gpu.module.
    KronTileOptions tile;
    tile.chip = options.chip;
    pm.addPass(createKronTile(tile));
    pm.addPass(createConvertTileToNVVM());
  }
  // 10. linalg operations that remain become kernels too, and arrays memory of
  //     the GPU.
  pm.addPass(createKronMapToGPU());
  KronOverlapLaunchesOptions overlap;
  overlap.chip = options.chip;
  pm.addPass(createKronOverlapLaunches(overlap));
  if (options.poisonSharedMemory)
    pm.nest<gpu::GPUModuleOp>().addPass(createKronPoisonSharedMemory());
}

// In: the output of populateKernels
// Out: llvm, nvvm in gpu.module
static void populateDeviceCode(OpPassManager &pm) {
  OpPassManager &gpuModule = pm.nest<gpu::GPUModuleOp>();
  // 11. Emitters compute addresses piece by piece; equal ones become one here,
  //     cheaper than in LLVM.
  gpuModule.addPass(createCSEPass());
  gpuModule.addPass(createKronExpandComplex());
  // 12. A GPU has no C library.
  gpuModule.addPass(createKronExpandMath());
  // 13. Complex numbers on the host are scalar arguments in pieces.
  pm.nest<func::FuncOp>().addPass(createKronExpandComplex());
}

void kron::populateKronGPUPipeline(OpPassManager &pm,
                                   const GPUPipelineOptions &options) {
  populateInterface(pm, options);
  if (options.reference) {
    pm.addPass(createConvertKronToLinalg());
  } else {
    //    Kernels of sparse factors know the strides of row-major arrays.
    pm.addNestedPass<func::FuncOp>(createKronChooseByLayout());
    KronFuseOptions fuse;
    fuse.target = "cuda";
    fuse.chip = options.chip;
    fuse.cublas = options.cublas;
    populateFusion(pm, fuse);
  }
  populateBufferization(pm);
  populatePlans(pm, options);
  if (options.planOnly)
    return;
  populateKernels(pm, options);
  populateDeviceCode(pm);
  populateLLVM(pm);
}

void kron::registerKronPipelines() {
  PassPipelineRegistration<CPUPipelineOptions>(
      "kron-cpu-pipeline",
      "Lower kron operations on tensors and memrefs to the LLVM dialect for "
      "the "
      "CPU",
      populateKronCPUPipeline);
  PassPipelineRegistration<GPUPipelineOptions>(
      "kron-gpu-pipeline",
      "Lower kron operations on tensors and memrefs to the LLVM dialect, with "
      "kernels for NVIDIA GPUs",
      populateKronGPUPipeline);
}
