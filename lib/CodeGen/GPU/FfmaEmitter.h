//===- FfmaEmitter.h - Builds the FFMA kernel -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Ffma.cpp has tiles, copies and barriers, FfmaFibres.cpp what a thread does
// with the fibres that it holds.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_FFMAEMITTER_H
#define KRON_LIB_CODEGEN_GPU_FFMAEMITTER_H

#include "FfmaArrays.h"
#include "TileWalk.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/ScalarOps.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include <functional>
#include <vector>

namespace mlir::kron {

/// Which fibres an item of a group is: where they are on the axes that are not
/// the group's. What is known of that is apart, so that it ends in the
/// instructions' offsets.
struct FfmaItem {
  Positions base;
  SmallVector<int64_t> more;
};

/// The fibres of one item: values in row-major order over the group's axes, the
/// innermost of them (the group's first) fastest.
using FfmaValues = std::vector<Value>;

class FfmaEmitter : FfmaArrays {
public:
  FfmaEmitter(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
              const FfmaPlan &plan)
      : FfmaArrays(host, gpuModule, fused), plan(plan),
        bytes(getElementBytes(element)) {}

  void emit();

private:
  void enterAll();
  Int getTiles(Emitter &emitter, ArrayRef<Int> sizes);
  FfmaPlace placeTile(Int tile);
  Value isInside(const Positions &positions, const FfmaPlace &place);

  void emitFactors();
  void emitCopies(const FfmaPlace &place, Int ring, int64_t first, int64_t end);
  void emitNextCopies(Int tile, Int ring, int64_t first, int64_t end);
  void emitTile(Int tile, Int ring);
  void emitBarrier(bool slotOnly);
  void emitGroup(const FfmaGroup &group, bool isLast, const FfmaPlace &place,
                 Int ring, function_ref<void()> loaded);
  void emitCopyOut(const FfmaPlace &place, Int ring);

  Value getPlace(const Positions &positions, Int ring);
  Value getSharedPointer(Int offset);
  std::function<Value(ArrayRef<int64_t>)>
  getPlaces(const FfmaGroup &group, const FfmaItem &item, Int ring);
  SmallVector<FfmaItem> decodeItems(ArrayRef<Int> items, ArrayRef<Value> valid,
                                    ArrayRef<int64_t> extents,
                                    ArrayRef<unsigned> order);
  Int wrap(Int slot);
  void forValues(const FfmaGroup &group, bool after,
                 function_ref<void(ArrayRef<int64_t>)> body);
  SmallVector<Value> getAddresses(const FfmaGroup &group, bool after,
                                  const FfmaItem &item, Value start,
                                  const StageArray &array);
  FfmaValues loadFibres(const FfmaGroup &group, const FfmaItem &item,
                        const FfmaPlace &place, Int ring);
  void storeFibres(const FfmaGroup &group, const FfmaItem &item,
                   const FfmaValues &values, Int ring);
  void storeResult(const FfmaGroup &group, const FfmaItem &item,
                   const FfmaValues &values, const FfmaPlace &place);
  int64_t getVectorWidth(const FfmaGroup &group, bool after);
  using FinishedBlock = function_ref<void(ArrayRef<FfmaValues>)>;
  bool canStream(const FfmaGroup &group);
  void applyGroup(const FfmaGroup &group, MutableArrayRef<FfmaValues> batch,
                  FinishedBlock finished);
  void applyAxis(const FfmaAxis &axis, int64_t inner,
                 MutableArrayRef<FfmaValues> batch, FinishedBlock finished);
  SmallVector<Value> loadFactorRow(const FfmaAxis &axis, int64_t p, int64_t q,
                                   int64_t count);

  const FfmaPlan &plan;
  int64_t bytes;

  // Inside of the kernel.
  Int tiles;
  Value factorBase;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_FFMAEMITTER_H
