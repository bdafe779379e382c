//===- RegisterTiles.h - Rows and vectors of register tiles -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_REGISTERTILES_H
#define KRON_LIB_MAPPING_CPU_REGISTERTILES_H

#include "StepBudget.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/CPU/LoopNest.h"

namespace mlir::kron {

/// What register tiles are chosen for: `fixed` rows and vectors (0: none) win
/// over what costs least.
struct TileChoice {
  int64_t vectorBits;
  int64_t fmasInFlight;
  int64_t l1Bytes;
  TileShape fixed;
  /// Issue slots of a load of what has left that cache, and of one for a row.
  double farLoadSlots = 1, rowLoadSlots = 1;
  /// Of each step of p, those that a row takes for its results.
  double rowSlots = 0;
  /// Vectors that a register tile has at most; 0: as many as registers hold.
  int64_t mostVectors = 0;
  /// Whether the last vector is loaded with a mask.
  bool isMasked = false;

  bool isFixed() const { return fixed.rows || fixed.vectors; }
};

/// The cheapest shape for a problem of `rows` x `vectors` in total (-1: many):
/// fewest issue slots, counting loads, FMA latency and the left-over blocks. Of
/// equally cheap ones it is that with the fewest rows or, if the input is what
/// is loaded as vectors, of which a sum takes `inputVectors` (0: it is not),
/// with the most: every block of rows reads all of it, from the second-level
/// cache if it is large. `parts` is 2 for complex numbers.
TileShape chooseTileShape(int64_t rows, int64_t vectors,
                          const TileChoice &choice, int64_t parts = 1,
                          int64_t inputVectors = 0);

/// Issue slots of loading an element of a factor that is broadcast, of which
/// all go by for every block of vectors. Those that follow each other share a
/// line.
double getBroadcastSlots(const StepLayout &step, const TileChoice &choice);

/// The register tile of a step with the inner mapping whose innermost axis has
/// `size` elements; with the varying one; with the fibre mapping, `segmented`
/// if rows are taken in segments of registers; and with several fibres in a
/// vector.
TileShape chooseInnerShape(const StepLayout &step, const LoopNest &nest,
                           Int size, const TileChoice &choice,
                           const StepBudget &budget);
TileShape chooseVaryingShape(const StepLayout &step, const LoopNest &nest,
                             const TileChoice &choice);
TileShape chooseFibreShape(const StepLayout &step, const LoopNest &nest,
                           bool segmented, const TileChoice &choice,
                           const StepBudget &budget);
TileShape chooseFibresShape(const StepLayout &step, const LoopNest &nest,
                            const TileChoice &choice);

/// Vectors of a panel of the factor.
int64_t getPanelVectors(const StepLayout &step);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_REGISTERTILES_H
