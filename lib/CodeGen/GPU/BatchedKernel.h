//===- BatchedKernel.h - Builds the kernel of many small arrays -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile goes through
//
//   global -> stage         asynchronous copies to a pipeline stage, one tile
//                           ahead
//   stage -> ... -> buffer  one step per factor, or per pair of factors on the
//                           two innermost axes; in place where sizes stay
//   buffer -> global        whole chunks of 16 bytes, with alpha, beta, Z; the
//                           last step does it itself where its fibres allow it
//
// with a barrier between. Within a step every thread reads and writes positions
// of its own, so that in place is safe. Loops whose trip count differs between
// lanes are followed by a barrier of the warp: ptxas 13.0 otherwise lets lanes
// that leave early overwrite uniform registers that the others still use. Items
// behind the last one hold anything and are computed but not stored.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_BATCHEDKERNEL_H
#define KRON_LIB_CODEGEN_GPU_BATCHEDKERNEL_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Plan/GPU/BatchedPlan.h"

namespace mlir::kron {

/// Arrays and scalars of the fused region, on the host or in a kernel.
struct BatchedOperands {
  SmallVector<Int> outerSizes;
  StageArray input, init, addend;
  Value alpha, beta;
  /// Items in all.
  Int items = 1;
};

/// Builds one kernel.
class BatchedKernel {
public:
  BatchedKernel(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
                const BatchedPlan &plan)
      : k(host, gpuModule, getBaseName(fused), host.element), fused(fused),
        plan(plan), bytes(host.getElementBytes()) {}

  /// Builds the kernel and its launch.
  void emit(const BatchedOperands &hostOperands, ArrayRef<FactorArray> factors);

private:
  static std::string getBaseName(FusedOp fused);
  void enterOperands(const BatchedOperands &hostOperands);
  void allocate();
  void loadFactors(ArrayRef<FactorArray> factors);
  void emitLoad(Int tile, Int stage);
  void emitTile(Int tile, Int stage);
  void emitStep(const BatchedStep &step, Int source, Int destination);
  void emitPlane(const BatchedStep &step, Int plane, Int source,
                 Int destination);
  SmallVector<SmallVector<Value>>
  loadFibres(const BatchedStep &step, ArrayRef<Int> positions, Int source);
  void emitFibres(const BatchedStep &step, ArrayRef<Int> units, Int source,
                  Int destination);
  void replaceFibres(const BatchedStep &step, Value target, int64_t first,
                     ArrayRef<SmallVector<Value>> results);
  void emitStore(Int tile, Int buffer);

  // Shared memory.
  SmallVector<Value> loadSegment(Value pointer, int64_t count,
                                 int64_t alignment);
  void storeSegment(Value pointer, ArrayRef<Value> values, int64_t alignment);
  SmallVector<Value> loadFactorChunk(unsigned product, int64_t row,
                                     int64_t first);
  SmallVector<Value> loadFactorRow(unsigned product, int64_t row);
  Value element(Int buffer, Int index) {
    return k.shared(k.add(buffer, k.mul(index, bytes)));
  }
  /// Where element `index` of a tile lies in `layout`.
  Int getPosition(const ItemLayout &layout, Int index);

  // Work on registers: [fibre][position] times a factor.
  SmallVector<SmallVector<Value>> apply(ArrayRef<SmallVector<Value>> fibres,
                                        unsigned product);
  void accumulate(ArrayRef<SmallVector<Value>> fibres, int64_t p,
                  ArrayRef<Value> row,
                  MutableArrayRef<SmallVector<Value>> sums);

  // Global memory.
  Int getOffset(const StageArray &array, ArrayRef<int64_t> sizes, Int tile,
                Int index);
  Int getValidElements(Int tile, const ItemLayout &layout);
  Value scale(Value value, function_ref<Value()> addend);
  bool canStoreDirectly(const BatchedStep &step);
  void beginStore(Int tile);
  int64_t getInside(const BatchedStep &step);
  void storeFibres(const BatchedStep &step, Int fibre, int64_t first,
                   ArrayRef<SmallVector<Value>> rows);
  void storeValues(Int index, int64_t offset, SmallVector<Value> values);

  /// body(index) for index = thread, thread + threads, ... below `count`.
  void forThreads(int64_t count, function_ref<void(Int)> body);

  KernelBuilder k;
  FusedOp fused;
  const BatchedPlan &plan;
  int64_t bytes;
  BatchedOperands operands;
  int64_t stageOffset = 0, workOffset = 0;
  SmallVector<int64_t> factorOffsets;

  /// Where the results of the current tile go, in a packed array: set by
  /// beginStore. `storing`: the current step stores them itself.
  Value storeBase, addendBase;
  Int validElements;
  bool storing = false;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_BATCHEDKERNEL_H
