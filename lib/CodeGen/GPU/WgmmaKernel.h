//===- WgmmaKernel.h - Builder of one wgmma kernel --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_WGMMAKERNEL_H
#define KRON_LIB_CODEGEN_GPU_WGMMAKERNEL_H

#include "QuantizedRows.h"
#include "kron/CodeGen/GPU/WgmmaRows.h"
#include "kron/Plan/GPU/WgmmaPlan.h"

namespace mlir::kron {

/// `var + add`, with 0 <= var < bound.
struct WgmmaLinear {
  Int var = 0;
  int64_t bound = 1;
  int64_t add = 0;
};

/// An array with the axes of the plan.
struct WgmmaArray {
  Value base;
  SmallVector<Int> strides;
  Type element;
};

/// A position in a tile, per axis.
using WgmmaPosition = SmallVector<Int>;

/// Rows of a block that a thread has: rows g and g + 8 of its warp's 16.
struct WgmmaThreadRows {
  WgmmaPosition first, second;
  /// False where a row is beyond the last one; null: both exist.
  Value firstExists, secondExists;
};

/// A tile between global and shared memory.
struct WgmmaCopy {
  const WgmmaArray *array = nullptr;
  const WgmmaLayout *layout = nullptr;
  /// Another array walked alongside, or null.
  const WgmmaArray *addend = nullptr;
  /// Elements per access.
  int64_t lanes = 1;
  /// Little code rather than speed.
  bool isCompact = false;
  /// Where the tile starts.
  Value global, shared;
  /// Axes, those first along which neighbouring lanes walk.
  SmallVector<unsigned> order;
  /// Per axis: positions to walk over, and those that exist (0: all).
  SmallVector<int64_t> extents;
  WgmmaPosition limits;
  /// The addresses of the last copy, and the variables they depend on.
  SmallVector<std::pair<Value, int64_t>> variables;
  Value globalBase, sharedBase;
};

/// What is done, on a condition (null: always), with an address in global and
/// one in shared memory; the last value is the offset in the addend.
using WgmmaCopyAction = function_ref<void(Value, Value, Value, Value)>;

/// Neighbouring results of a thread.
struct WgmmaSegment {
  SmallVector<Value, 4> sums;
  /// Per result; null: it exists.
  SmallVector<Value, 4> exists;
  Value target;
  Int stride = 1;
  /// Whether it is one vector, which exists if the first result does.
  bool isVector = false;
  /// What is added: where it is, and its values once they are loaded.
  Value addend;
  Int addendStride = 1;
  SmallVector<Value, 4> others;
};

/// What a kernel works on, as the host sees it.
struct WgmmaArrays {
  SmallVector<Int> sizes;
  /// The addend has no base if there is none.
  WgmmaArray input, init, addend;
  SmallVector<StageFactor> factors;
  SmallVector<Type> factorElements;
  Scale alpha, beta;
  /// Whether input (and result and addend) have segments of 16 bytes that start
  /// at multiples of it, provided that `misalignment`, known at run time, is 0.
  bool vectorLoads = false, vectorStores = false;
  Int misalignment = 0;
  /// In place of the result, which has no base then.
  std::optional<QuantizedRows> quantize;
};

/// Builds a kernel and its launch.
class WgmmaKernel {
public:
  WgmmaKernel(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name,
              const WgmmaArrays &arrays, const WgmmaPlan &plan)
      : arrays(arrays), plan(plan), host(host),
        k(host, gpuModule, name, host.builder.getF32Type()),
        stagesStores(plan.stages.size() > 1 ||
                     plan.landing.elementBytes == 4) {}

  void emit();

private:
  void enterArrays();
  WgmmaArray enter(const WgmmaArray &array);
  void numberThreads();
  void copyFactors();
  void emitTiles(Int tiles);
  Value waitForTile(Int tile, Int tiles, Int step, Int buffer);
  void startNext(Int next, Int tiles);
  void emitStages(Value landing);
  Int advance(Int buffer, int64_t by);
  WgmmaPosition startTile(Int tile);
  Value offsetArray(const WgmmaArray &array, const WgmmaPosition &start);
  void syncGroup();

  // Loads.
  std::pair<WgmmaLinear, WgmmaLinear> split(WgmmaLinear number,
                                            int64_t divisor);
  void issueTile(Int tile, Int tiles, Int buffer);
  void issueCopies(const WgmmaPosition &position, Int buffer, bool vectors);
  void prefetchTile(Int tile, Int tiles);
  void refillBlock(const WgmmaStage &stage, Int block);
  bool refills() const {
    return plan.canRefill() && arrays.vectorLoads && arrays.vectorStores;
  }
  SmallVector<unsigned> getCopyOrder(const WgmmaCopy &copy,
                                     ArrayRef<int64_t> extents) const;
  SmallVector<int64_t> getCopyExtents(const WgmmaCopy &copy,
                                      SmallVector<int64_t> extents) const;
  void emitCopies(WgmmaCopy &copy, ArrayRef<int64_t> extents,
                  const WgmmaPosition &position, WgmmaCopyAction action,
                  function_ref<void()> endBatch = nullptr);
  void emitCopy(WgmmaCopy &copy, WgmmaLinear index, Value condition,
                WgmmaCopyAction action);
  void storeTile(Value source);
  Value hide(Value pointer);
  Value getTileBuffer(Int buffer);

  // Addresses in shared memory.
  Int swizzle(const WgmmaLayout &layout, Int coordinate);
  Int swizzleOf(const WgmmaLayout &layout, const WgmmaPosition &position,
                unsigned except);
  Int addressOf(const WgmmaLayout &layout, const WgmmaPosition &position,
                unsigned except);

  // Steps.
  WgmmaPosition decodeRow(const WgmmaStage &stage, Int row);
  Int getRowOfLane(const WgmmaStage &stage, Int index);
  WgmmaThreadRows getThreadRows(const WgmmaStage &stage, Int block);
  void emitStage(unsigned index, Value source, Value target);
  void emitBlock(unsigned index, Int block, Value source, Value target);
  bool repeatsRows(unsigned index) const;
  WgmmaRows loadOwnRows(const WgmmaStage &stage, const WgmmaThreadRows &rows,
                        Int block, Value source);
  WgmmaRows loadRows(unsigned index, const WgmmaThreadRows &rows, Int block,
                     Value source);
  SmallVector<Value> loadValues(const WgmmaStage &stage,
                                const WgmmaThreadRows &rows, Value source);
  SmallVector<Value> loadInnermost(const WgmmaStage &stage,
                                   const WgmmaThreadRows &rows, Value source);
  Value getPairs(const WgmmaStage &stage, const WgmmaThreadRows &rows,
                 const WgmmaLayout &layout, Int position, Value memory);
  SmallVector<Value> loadPairs(const WgmmaStage &stage,
                               const WgmmaThreadRows &rows, Value source);
  SmallVector<Value> loadHalfInnermost(const WgmmaStage &stage, Int block,
                                       Value source);
  SmallVector<Value> loadHalfPairs(const WgmmaStage &stage,
                                   const WgmmaThreadRows &rows, Value source);
  /// Where a step reads from.
  const WgmmaLayout &getSource(const WgmmaStage &stage) const {
    return &stage == &plan.stages.front() ? plan.landing : plan.work;
  }
  Value loadElement(const WgmmaStage &stage, const WgmmaPosition &row, Int p,
                    Value source);
  void storeShared(const WgmmaStage &stage, const WgmmaThreadRows &rows,
                   Value target, ArrayRef<Value> sums);

  // Results.
  void storeResults(const WgmmaStage &stage, const WgmmaThreadRows &rows,
                    ArrayRef<Value> sums, function_ref<void()> leave);
  void storeGlobal(const WgmmaStage &stage, const WgmmaThreadRows &rows,
                   ArrayRef<Value> sums, bool vectors);
  Value existsInArray(const WgmmaStage &stage, const WgmmaPosition &row);
  Int offsetOf(const WgmmaArray &array, const WgmmaPosition &row,
               unsigned except);
  SmallVector<Value> loadAddend(const WgmmaSegment &segment);
  void loadAddends(MutableArrayRef<WgmmaSegment> segments);
  void storeSegment(const WgmmaSegment &segment);
  void storeSegments(MutableArrayRef<WgmmaSegment> segments);
  void ifAligned(bool canBe, function_ref<void()> aligned,
                 function_ref<void()> other);
  Value scale(Value sum, Value addend);
  Value toElement(Value value);

  // Results of 8-bit types.
  void enterQuantize();
  Value locateResults(Value source, Int row, Int number);
  void quantizeRow(Value source, Int row);
  void quantizeTile(Value source);

  Int fromBits(Int value, int64_t shift, int64_t mask) {
    return k.bitAnd(k.floorDiv(value, int64_t(1) << shift), mask);
  }

  const WgmmaArrays &arrays;
  const WgmmaPlan &plan;
  Emitter &host;
  KernelBuilder k;
  /// Whether results that are not stored as vectors go through shared memory.
  bool stagesStores;
  /// Whether vectors may be used; null if that is certain, or for none.
  Value isAligned;
  WgmmaArray input, init, addend;
  SmallVector<Int> sizes;
  Value alpha, beta;
  SmallVector<WgmmaFactor> factors;
  Int group, warpgroup, threadOfGroup, warp, lane, laneRow, laneColumn;
  int64_t tileOffset = 0;
  Value descriptorBase;
  /// Quotients and remainders, while copies of a tile are built.
  DenseMap<std::pair<Value, int64_t>, std::pair<Int, Int>> splits;
  /// 8-bit rows, and where warps leave what they know of a row.
  QuantizedRows quantized;
  int64_t maximaOffset = 0;
  /// Of the tile at hand.
  WgmmaPosition start;
  Value initTile, addendTile;
  /// Of the tile that this one is refilled with: whether there is one, and
  /// where.
  Value nextExists, nextTile;
  WgmmaPosition nextStart;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_WGMMAKERNEL_H
