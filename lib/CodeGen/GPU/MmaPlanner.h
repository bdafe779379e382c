//===- MmaPlanner.h - Makes the plan of an mma kernel -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// First which axes a tile has and in which steps factors are applied to it,
// then warps, registers and shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_MMAPLANNER_H
#define KRON_LIB_CODEGEN_GPU_MMAPLANNER_H

#include "MmaPlan.h"

namespace mlir::kron {

/// Factor registers of one step.
inline constexpr int64_t kMmaStepRegisters = 128;

/// Works out the plan of a fused region.
class MmaPlanner {
public:
  MmaPlanner(FusedOp fused, const GPUMachine &machine)
      : fused(fused), machine(machine) {}

  /// Fills in `plan`, or says why there is none.
  std::optional<std::string> run();

  MmaPlan plan;

private:
  // MmaPlan.cpp
  std::optional<std::string> chooseTypes();
  void collectAxes();
  bool isCollapsible(unsigned outer, unsigned inner);
  void addGridAxis(ArrayRef<unsigned> axes, int dim, int64_t step);
  bool isContiguousInput(unsigned axis);
  int64_t chooseSegment(const MmaDim &axis, int64_t elements, int64_t given);
  void chooseTile();
  void chooseSteps();
  void addStep(MmaStep::Kind kind, unsigned dim);
  bool canChain(unsigned dim);
  int64_t getFactorRegisters(MmaStep &step);
  int64_t getStaticSize(ArrayRef<unsigned> axes);

  // MmaResources.cpp
  void chooseLayouts();
  int64_t chooseWarps(int64_t warpsPerSM, bool light, int64_t bytes);
  SmallVector<int64_t> getPieceSizes(int64_t most);
  bool chooseStream(int64_t cluster);
  std::optional<std::string> chooseResources();

  FusedOp fused;
  const GPUMachine &machine;
  SmallVector<ModeProductOp> products;
  /// The axes of the fused region, neighbours that can be walked as one
  /// together, and those of size 1 that nothing contracts left out.
  SmallVector<MmaDim> axes;
  SmallVector<int64_t> applied;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_MMAPLANNER_H
