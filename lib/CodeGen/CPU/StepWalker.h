//===- StepWalker.h - Places in the arrays of one step ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the emitters of one mode product have in common: the loops around its
// tiles, and where these stand in every array.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_STEPWALKER_H
#define KRON_LIB_CODEGEN_CPU_STEPWALKER_H

#include "kron/CodeGen/CPU/Step.h"
#include "kron/Plan/CPU/LoopNest.h"

namespace mlir::kron {

class StepWalker {
protected:
  StepWalker(Emitter &emitter, const Step &step)
      : emitter(emitter), step(step), nest(getLoopNest(step)),
        factorElement(step.factor.element) {}

  /// Where the current iteration stands in every array; a base may be null.
  struct Bases {
    Value source, destination, addend, factor;
  };

  Bases advance(const Bases &bases, const LoopAxis &axis, Int position);
  /// Moves to result `q` of the contracted axis, but for the factor.
  Bases advanceResults(const Bases &bases, Int q);
  void emitLoops(ArrayRef<LoopAxis> axes, const Bases &bases,
                 function_ref<void(const Bases &)> body);

  Emitter &emitter;
  const Step &step;
  LoopNest nest;
  /// Elements that the factor is read in, where that is not the emitter's.
  Type factorElement;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_STEPWALKER_H
