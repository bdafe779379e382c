//===- PipelineOptions.cpp - Pipelines for a machine ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/PipelineOptions.h"
#include "kron/Mapping/Tuning/Record.h"

using namespace mlir;
using namespace mlir::kron;

void kron::setOptions(CPUPipelineOptions &pipeline, const Processor &processor,
                      const CodegenOptions &options) {
  pipeline.reference = options.reference;
  pipeline.vectorBits = processor.vectorBits;
  pipeline.wholeBits = processor.wholeBits;
  pipeline.l1Bytes = processor.l1Bytes;
  pipeline.l2Bytes = processor.l2Bytes;
  pipeline.streamBytes = processor.streamBytes;
  pipeline.streamColumnsBytes = processor.streamColumnsBytes;
  pipeline.columnBytes = processor.columnBytes;
  pipeline.rowTileBytes = processor.rowTileBytes;
  pipeline.matrixTiles = processor.hasMatrixTiles;
  pipeline.pairProducts = processor.hasPairProducts;
  pipeline.slowPairProducts = processor.mayPairProducts;
  pipeline.fastShuffles = processor.hasFastShuffles;
  pipeline.gigahertz = processor.rates.gigahertz;
  pipeline.wideFmas = processor.rates.wideFmas;
  pipeline.wideLoads = processor.rates.wideLoads;
  pipeline.vectorFmas = processor.rates.vectorFmas;
  pipeline.vectorLoads = processor.rates.vectorLoads;
  pipeline.copyGigabytes = processor.rates.copyGigabytes;
  pipeline.l2BytesPerCycle = processor.rates.l2BytesPerCycle;
  pipeline.calibratedRates = processor.rates.areCalibrated;
  if (!options.records.empty())
    pipeline.setRecords(
        options.records,
        getRecordTarget(processor, options.numThreads).getText());
}

void kron::setOptions(GPUPipelineOptions &pipeline, const GPUChip &chip,
                      const CodegenOptions &options) {
  pipeline.reference = options.reference;
  pipeline.chip = chip.machine;
  pipeline.cublas = options.allowsCublas;
  pipeline.poisonSharedMemory = options.poisonsSharedMemory;
  if (options.records.empty())
    return;
  // The chip was made of it.
  GPUMachine machine = llvm::cantFail(parseGPUMachine(chip.machine));
  pipeline.setRecords(options.records, getRecordTarget(machine).getText());
}
