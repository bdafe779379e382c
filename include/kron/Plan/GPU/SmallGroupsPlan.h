//===- SmallGroupsPlan.h - Sparse factors of small groups -------*- C++ -*-===//
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

#ifndef KRON_PLAN_GPU_SMALLGROUPSPLAN_H
#define KRON_PLAN_GPU_SMALLGROUPSPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// What follows from the operation.
struct SmallGroupsProblem {
  Type element;
  /// Axes of the op: the contracted one, the groups' and the rows'.
  unsigned axis = 0, groupAxis = 0, rowAxis = 0;
  int64_t groups = 1, sizeK = 1, sizeN = 1;
  /// Positions of the rows' axis; kDynamic if not known.
  int64_t rows = 1;
  /// Elements of 16 bytes.
  int64_t chunk = 1;
  /// Elements of the input that an access takes.
  int64_t piece = 1;
  /// Whether weights follow each other in memory, those of a result after those
  /// of the one before.
  bool hasWeightSegments = false;
  /// Whether warps take groups by matrix instructions.
  bool usesMma = false;
  /// Of threads that take chunks of results: groups that a chunk's results
  /// belong to at most, and whether which one each of them belongs to is the
  /// same for all chunks.
  int64_t span = 1;
  bool isRegular = true;

  int64_t getChunks() const { return groups * sizeN / chunk; }
  /// Elements of the input that a chunk of results needs, and those of them
  /// that follow each other in memory.
  int64_t getInputs() const { return span * sizeK; }
  int64_t getRun() const { return isRegular ? getInputs() : sizeK; }
};

/// What a plan says.
struct SmallGroupsChoices {
  int64_t threads = 128, ctasPerSM = 1;
  /// Chunks of a row that the threads of a CTA take; 0 of warps.
  int64_t blockChunks = 0;
  /// Tiles of 8 results that a warp takes, a multiple of 4; 0 of threads.
  int64_t resultTiles = 0;
  /// Rows, or tiles of 16, that a thread takes at a time.
  int64_t rowsAtOnce = 1;

  template <typename Visitor>
  static void visitFields(Visitor &visit, SmallGroupsChoices &choices) {
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("row_tiles", choices.rowsAtOnce);
    visit("result_tiles", choices.resultTiles);
    visit("row_chunks", choices.blockChunks);
  }
};

struct SmallGroupsPlan : SmallGroupsProblem, SmallGroupsChoices {
  SmallGroupsPlan() = default;
  explicit SmallGroupsPlan(SmallGroupsProblem problem)
      : SmallGroupsProblem(std::move(problem)) {}

  /// Rows beside each other that the threads of a CTA take.
  int64_t getRowsBeside() const { return threads / blockChunks; }
  /// Parts of a row that CTAs take.
  int64_t getBlocks() const;
  /// Blocks of results of a group that warps take.
  int64_t getResultBlocks() const;
  /// Bytes of shared memory: everything is in registers.
  int64_t getSharedBytes() const { return 0; }
  /// Rows that a CTA takes at a time.
  int64_t getRows() const {
    return usesMma ? 16 * rowsAtOnce : getRowsBeside() * rowsAtOnce;
  }
};

/// Types and axes of `fused`; why there is no kernel of small groups for it.
std::variant<SmallGroupsProblem, std::string>
describeSmallGroups(FusedOp fused);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<SmallGroupsPlan, std::string>
readSmallGroupsPlan(FusedOp fused, GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SMALLGROUPSPLAN_H
