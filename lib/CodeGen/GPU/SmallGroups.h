//===- SmallGroups.h - Sparse factors of small groups -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A factor of many small groups with the batch first, (a, b, c, 1) with few c,
// needs few multiply-adds for what it moves, and fills no tile. Threads, or
// warps, keep the weights of some results in registers and go through many
// rows: nothing goes through shared memory, and nobody waits for others.
//
// With up to 8 c a thread takes 16 bytes of results of a row, whatever groups
// these belong to. Neighbouring threads store neighbouring chunks, and read
// what they share from the cache. With up to 16 c of f16 or bf16, a warp takes
// results of one group by matrix instructions.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SMALLGROUPS_H
#define KRON_LIB_CODEGEN_GPU_SMALLGROUPS_H

#include "ScalarOps.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <memory>

namespace mlir::kron {

struct SmallGroupsPlan {
  Type element;
  /// Axes of the op: the contracted one, the groups' and the rows'.
  unsigned axis = 0, groupAxis = 0, rowAxis = 0;
  int64_t groups = 1, sizeK = 1, sizeN = 1;
  /// Elements of 16 bytes.
  int64_t chunk = 1;
  /// Elements of the input that an access takes.
  int64_t piece = 1;
  /// Whether weights follow each other in memory, those of a result after those
  /// of the one before.
  bool hasWeightSegments = false;
  /// Whether warps take groups by matrix instructions.
  bool usesMma = false;

  //===--------------------------------------------------------------------===//
  // Threads that take chunks of results
  //===--------------------------------------------------------------------===//

  /// Groups that a chunk's results belong to at most, and whether which one
  /// each of them belongs to is the same for all chunks.
  int64_t span = 1;
  bool isRegular = true;
  /// Chunks of a row that the threads of a CTA take, and rows beside each other
  /// that they take.
  int64_t blockChunks = 1, rowsBeside = 1;

  //===--------------------------------------------------------------------===//
  // Warps
  //===--------------------------------------------------------------------===//

  /// Tiles of 8 results that a warp takes, a multiple of 4.
  int64_t resultTiles = 4;

  /// Rows, or tiles of 16, that a thread takes at a time.
  int64_t rowsAtOnce = 1;
  int64_t threads = 128, ctasPerSM = 1;

  int64_t getChunks() const { return groups * sizeN / chunk; }
  /// Parts of a row that CTAs take.
  int64_t getBlocks() const;
  /// Elements of the input that a chunk of results needs, and those of them
  /// that follow each other in memory.
  int64_t getInputs() const { return span * sizeK; }
  int64_t getRun() const { return isRegular ? getInputs() : sizeK; }
  /// Blocks of results of a group that warps take.
  int64_t getResultBlocks() const;
  /// Rows that a CTA takes at a time.
  int64_t getRows() const {
    return usesMma ? 16 * rowsAtOnce : rowsBeside * rowsAtOnce;
  }
};

/// The plan of `fused`, or nothing if others are better.
std::optional<SmallGroupsPlan> getSmallGroupsPlan(FusedOp fused,
                                                  const GPUMachine &machine);

/// Builds, for the host, whether the arrays of `fused` are aligned as the
/// kernel of `plan` needs it.
Value buildSmallGroupsTest(OpBuilder &builder, FusedOp fused,
                           const SmallGroupsPlan &plan);

/// Builds, at the builder's position, the kernel of `plan` in `gpuModule` and
/// its launch.
void emitSmallGroups(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                     FusedOp fused, const SmallGroupsPlan &plan);

/// What both kinds of kernels share: their parameters, and how CTAs share out
/// the rows.
class SmallGroupsKernel {
public:
  SmallGroupsKernel(KernelBuilder &kernel, FusedOp fused,
                    const SmallGroupsPlan &plan);
  virtual ~SmallGroupsKernel() = default;

  void emit();

protected:
  /// Builds what this thread does in block number `block` of the results:
  /// every `rowGroups`-th block of rows from `firstRows` on.
  virtual void emitBlock(Int block, Int firstRows, Int rowGroups) = 0;
  /// Blocks of rows of the whole array.
  Int getRowBlocks();
  /// Global memory at row number `row` (the last one's beyond the end).
  Value getInputRow(Int row);
  Value getOutputRow(Int row);
  /// `values` as accumulators, vectors as their elements.
  SmallVector<Value> widen(ArrayRef<Value> values);
  /// Stores the sums of a chunk.
  void storeChunk(ArrayRef<Value> sums, Value to);

  KernelBuilder &k;
  const SmallGroupsPlan &plan;
  Type accumulator;
  ScalarOps ops;
  StageFactor factor;
  Int groupStride;
  Int rows;

private:
  Emitter &host;
  FusedOperands operands;
  Int inputStride, outputStride;
  Value input, output;
  KernelScale alpha;
};

/// The kernels of threads and of warps.
std::unique_ptr<SmallGroupsKernel>
createSmallGroupsOfThreads(KernelBuilder &kernel, FusedOp fused,
                           const SmallGroupsPlan &plan);
std::unique_ptr<SmallGroupsKernel>
createSmallGroupsOfWarps(KernelBuilder &kernel, FusedOp fused,
                         const SmallGroupsPlan &plan);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SMALLGROUPS_H
