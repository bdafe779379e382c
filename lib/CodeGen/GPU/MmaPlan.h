//===- MmaPlan.h - Tiles and steps of a kernel of mma.sync ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the kernel of a pass looks like, worked out from the types alone.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_MMAPLAN_H
#define KRON_LIB_CODEGEN_GPU_MMAPLAN_H

#include "MmaLayout.h"
#include "kron/CodeGen/GPU/Machine.h"
#include <variant>

namespace mlir::kron {

/// How products are computed.
enum class MmaMath {
  /// One product of TF32 numbers. Exact factors (f16, bf16) lose nothing; data
  /// are rounded to 11 bits once per factor, sums are f32.
  TF32,
  /// f32 numbers as sums of two TF32: high*high + high*low + low*high.
  SplitTF32,
  F64
};

/// A dimension of the tile: a contracted axis of the pass, or neighbouring axes
/// that no factor touches and that are walked as one.
struct MmaDim {
  /// Axes of the pass, outermost first; none for a dimension that only fills up.
  SmallVector<unsigned> axes;
  ModeProductOp product;
  /// Sizes in the tile before and after the factor.
  int64_t depth = 1, results = 1;
};

/// Axes of the pass whose positions are shared out among tiles.
struct MmaGridAxis {
  SmallVector<unsigned> axes;
  /// The dimension of the tile that takes `step` positions at a time, or -1.
  int dim = -1;
  int64_t step = 1;
};

/// One or two factors applied to the whole tile by all warps.
struct MmaStep {
  enum class Kind {
    /// Results = factor^T (m) x data (n = innermost dimension).
    Columns,
    /// The innermost dimension: results = data (m = fibres) x factor (n).
    Fibres,
    /// Both, on the two innermost dimensions: the results of `Columns` are
    /// operands of `Fibres` without leaving the registers.
    Chain
  };
  Kind kind = Kind::Columns;
  /// The contracted dimension; the outer one of a chain.
  unsigned dim = 0;
  /// Warps that share the results of one column (or fibre), and tiles of 16
  /// results that each of them computes.
  int64_t warps = 1, tiles = 1;
  /// Sizes of the tile before the step.
  SmallVector<int64_t> sizes;
  /// 32-bit registers that its factors take.
  int64_t factorRegisters = 0;
  /// Whether all of them can be there at once.
  bool fitsRegisters = true;
};

struct MmaPlan {
  MmaMath math;
  /// What arrays hold, and what is computed with.
  Type inputType, outputType, factorType, type;
  SmallVector<MmaDim> dims;
  SmallVector<MmaGridAxis> grid;
  SmallVector<MmaStep> steps;
  /// Where input lands. It is a ring of `stages` tiles.
  TileLayout inputLayout;
  /// Where intermediates are kept, if they have another type than the input;
  /// otherwise they replace the input.
  std::optional<TileLayout> workLayout;
  int64_t stages = 1, warps = 4, ctasPerSM = 1;
  /// Whether factors stay in registers from tile to tile.
  bool keepsFactors = true;
  int64_t sharedBytes = 0;

  int64_t getThreads() const { return 32 * warps; }
};

/// The plan of `pass`, or why there is none.
std::variant<MmaPlan, std::string> getMmaPlan(PassOp pass,
                                              const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_MMAPLAN_H
