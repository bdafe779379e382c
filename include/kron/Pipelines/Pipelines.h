//===- Pipelines.h - Pass pipelines -----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PIPELINES_PIPELINES_H
#define KRON_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::kron {

/// What both pipelines ask about tuning records.
template <typename Derived>
struct RecordPipelineOptions : PassPipelineOptions<Derived> {
  typename PassPipelineOptions<Derived>::template ListOption<std::string>
      records{*this, "records",
              llvm::cl::desc("Files of tuning records whose plans operations "
                             "get (--kron-apply-records)")};
  typename PassPipelineOptions<Derived>::template Option<std::string>
      recordTarget{*this, "record-target",
                   llvm::cl::desc("The machine whose records are used, e.g. "
                                  "cpu/znver5/x86-64-v4/16")};

  /// Takes the records of `files` for `target`.
  void setRecords(ArrayRef<std::string> files, StringRef target) {
    for (const std::string &file : files)
      records.push_back(file);
    recordTarget = target.str();
  }
};

/// Options of `--kron-cpu-pipeline`.
struct CPUPipelineOptions : RecordPipelineOptions<CPUPipelineOptions> {
  PassOptions::Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Width of the target's vector registers in bits: 128, 256 "
                     "or 512"),
      llvm::cl::init(512)};
  PassOptions::Option<int64_t> wholeBits{
      *this, "whole-bits",
      llvm::cl::desc("Width of the widest vectors that the target executes as "
                     "a whole, in bits: wider ones take two turns"),
      llvm::cl::init(512)};
  PassOptions::Option<int64_t> l1Bytes{
      *this, "l1-bytes",
      llvm::cl::desc("Bytes of the target's first-level data cache"),
      llvm::cl::init(32768)};
  PassOptions::Option<int64_t> l2Bytes{
      *this, "l2-bytes",
      llvm::cl::desc("Bytes of the target's second-level cache"),
      llvm::cl::init(1048576)};
  PassOptions::Option<int64_t> streamBytes{
      *this, "stream-bytes",
      llvm::cl::desc("Bytes of input and result from which results are stored "
                     "non-temporally (0: never)"),
      llvm::cl::init(0)};
  PassOptions::Option<int64_t> streamColumnsBytes{
      *this, "stream-columns-bytes",
      llvm::cl::desc("The same for results that are stored a few columns at a "
                     "time"),
      llvm::cl::init(0)};
  PassOptions::Option<int64_t> columnBytes{
      *this, "column-bytes",
      llvm::cl::desc("Bytes of every row that tiles of columns take while the "
                     "target's second-level cache holds them (0: two vectors)"),
      llvm::cl::init(0)};
  PassOptions::Option<int64_t> rowTileBytes{
      *this, "row-tile-bytes", llvm::cl::desc("Bytes of a tile of small rows"),
      llvm::cl::init(4096)};
  PassOptions::Option<bool> matrixTiles{
      *this, "matrix-tiles",
      llvm::cl::desc("Whether the target has matrix tiles for bf16 (AMX)"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> pairProducts{
      *this, "pair-products",
      llvm::cl::desc(
          "Whether the target is fast at adding up products of pairs "
          "of bf16 (AVX512-BF16)"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> slowPairProducts{
      *this, "slow-pair-products",
      llvm::cl::desc("Whether the target adds up products of pairs of bf16 "
                     "(AVX512-BF16) at all: only plans by hand have them then"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> fastShuffles{
      *this, "fast-shuffles",
      llvm::cl::desc("Whether the target shuffles within 128 bits while it "
                     "multiplies and adds"),
      llvm::cl::init(false)};
  PassOptions::Option<double> gigahertz{
      *this, "gigahertz",
      llvm::cl::desc("The target's clock, of which estimates are counted"),
      llvm::cl::init(3)};
  PassOptions::Option<double> copyGigabytes{
      *this, "copy-gigabytes",
      llvm::cl::desc("10^9 bytes per second that a copy in memory by one "
                     "thread reads and writes"),
      llvm::cl::init(20)};
  PassOptions::Option<double> wideFmas{
      *this, "wide-fmas",
      llvm::cl::desc(
          "Multiply-adds of vectors of 512 bits in a cycle of the target"),
      llvm::cl::init(2)};
  PassOptions::Option<double> wideLoads{
      *this, "wide-loads",
      llvm::cl::desc("Loads of vectors of 512 bits in a cycle of the target"),
      llvm::cl::init(2)};
  PassOptions::Option<double> vectorFmas{
      *this, "vector-fmas",
      llvm::cl::desc(
          "Multiply-adds of narrower vectors in a cycle of the target"),
      llvm::cl::init(2)};
  PassOptions::Option<double> vectorLoads{
      *this, "vector-loads",
      llvm::cl::desc("Loads of narrower vectors in a cycle of the target"),
      llvm::cl::init(2)};
  PassOptions::Option<double> l2BytesPerCycle{
      *this, "l2-bytes-per-cycle",
      llvm::cl::desc("Bytes that a copy within the target's second-level cache "
                     "reads and writes in a cycle"),
      llvm::cl::init(32)};
  PassOptions::Option<bool> calibratedRates{
      *this, "calibrated-rates",
      llvm::cl::desc("Whether some of these rates were measured on the target, "
                     "which remarks say"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> reference{
      *this, "reference",
      llvm::cl::desc("Lower everything through --convert-kron-to-linalg: slow "
                     "and obvious, the oracle of tests and --verify"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> planOnly{
      *this, "plan-only",
      llvm::cl::desc("Stop behind --kron-plan, with kron.fused and its plans"),
      llvm::cl::init(false)};
};

/// What comes before plans of tuning records are looked up: operations as their
/// keys have them.
void populateKronSimplification(OpPassManager &pm);

/// From kron operations in functions on tensors and memrefs to the LLVM
/// dialect.
void populateKronCPUPipeline(OpPassManager &pm,
                             const CPUPipelineOptions &options);

/// Options of `--kron-gpu-pipeline`.
struct GPUPipelineOptions : RecordPipelineOptions<GPUPipelineOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc(
          "GPU to generate code for: an SKU (h200, a100-80, ...) or an "
          "architecture (sm_90a)"),
      llvm::cl::init("sm_90a")};
  PassOptions::Option<bool> cublas{
      *this, "cublas",
      llvm::cl::desc(
          "Whether dense products may be calls of cuBLAS, where that "
          "is faster and the process has it"),
      llvm::cl::init(true)};
  PassOptions::Option<bool> reference{
      *this, "reference",
      llvm::cl::desc("Lower everything through --convert-kron-to-linalg, to "
                     "one kernel per linalg operation: slow and obvious"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> planOnly{
      *this, "plan-only",
      llvm::cl::desc("Stop behind --kron-plan, with kron.fused and its plans: "
                     "what kernels there would be, in a fraction of the time"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> poisonSharedMemory{
      *this, "poison-shared-memory",
      llvm::cl::desc("Fill shared memory with NaN at the start of every kernel "
                     "(--kron-poison-shared-memory): for tests"),
      llvm::cl::init(false)};
};

/// From kron operations in functions on tensors and memrefs to the LLVM
/// dialect: host functions that launch the kernels of `gpu.module @kron_gpu`.
void populateKronGPUPipeline(OpPassManager &pm,
                             const GPUPipelineOptions &options);

/// Makes the pipelines known to textual pipeline parsing and command lines.
void registerKronPipelines();

} // namespace mlir::kron

#endif // KRON_PIPELINES_PIPELINES_H
