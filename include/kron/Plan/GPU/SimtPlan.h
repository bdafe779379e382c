//===- SimtPlan.h - Launches and tiles of the general GPU code --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the general kernel does: what its plan says, and what follows from that
// and the types. A tile takes contracted axes whole and a fixed extent of every
// other one; it goes through all products between two buffers in shared memory.
// A fused op whose tile does not fit becomes several kernels. One product alone
// may do without buffers: threads load what they multiply from global memory.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SIMTPLAN_H
#define KRON_PLAN_GPU_SIMTPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include <string>
#include <variant>
#include <vector>

namespace mlir::kron {

/// Steps of k that are written out.
inline constexpr int64_t kSimtUnrolled = 8;

/// Copies of an element that a thread has under way.
inline constexpr int64_t kSimtCopies = 8;

/// Registers of a thread for what it has loaded from global memory and not
/// multiplied yet.
inline constexpr int64_t kDirectRegisters = 64;

/// What a plan says of one launch.
struct SimtChoices {
  /// Mode products that it applies.
  int64_t factors = 0;
  /// Positions of a tile along each axis before it does: all of those that it
  /// contracts.
  SmallVector<int64_t> extents;
  /// Of each factor; none: what `describeSimtLaunch` sets.
  SmallVector<int64_t> fibres, results;
  int64_t ctasPerSM = 1, directStore = 0;
  /// Of factors in shared memory.
  int64_t factorBytes = 0;
  int64_t directLoad = 0, lanesK = 1, vectorStore = 0;

  template <typename Visitor>
  static void visitFields(Visitor &visit, SimtChoices &choices) {
    visit("factors", choices.factors);
    visit("extents", choices.extents);
    visit("fibres", choices.fibres);
    visit("results", choices.results);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("direct_store", choices.directStore);
    visit("factor_bytes", choices.factorBytes);
    visit("direct_load", choices.directLoad);
    visit("k_lanes", choices.lanesK);
    visit("vector_store", choices.vectorStore);
  }
};

/// One mode product within a launch.
struct SimtStep {
  ModeProductOp product;
  unsigned axis;
  /// p and q.
  int64_t sizeK, sizeN;
  /// Fibres, and neighbouring results of each, that a thread computes together.
  int64_t fibres = 1, block = 1;
  /// Whether the factor is in shared memory, [p][q padded to whole blocks, and
  /// these to 16 bytes]; else it stays in global memory.
  bool isShared = false;
  /// Whether it varies along axes.
  bool varies = false;
  /// Results of a tile: all of them, but where its data do not go through
  /// shared memory.
  int64_t tileResults = 0;
  /// How many results those of a block are apart.
  int64_t resultStep = 1;
  int64_t getParts() const;
  /// Of these, the ones whose results lie alike.
  double getAlikeParts() const {
    return double(getParts()) / double(resultStep);
  }
  int64_t getPaddedResults() const { return getParts() * block; }
};

/// One launch: some mode products, one after the other.
struct SimtLaunch {
  SmallVector<SimtStep> steps;
  /// Axes that the steps contract.
  llvm::SmallBitVector contracted;
  /// Sizes of the whole arrays before and after; dynamic ones as in types.
  SmallVector<int64_t> before, after;
  /// Bytes of an accumulator.
  int64_t elementBytes = 4;
  /// Sizes of a tile before each step, and after the last.
  SmallVector<SmallVector<int64_t>> extents;
  /// Whether the last step's results go to memory from registers.
  bool directStore = false;
  /// Whether the data, too, go from memory to registers; tiles are of results
  /// then. The axis that a thread's fibres are apart on, if the factor is the
  /// same along one, and lanes that share out K.
  bool directLoad = false;
  std::optional<unsigned> across;
  int64_t lanesK = 1;
  /// Whether a thread's fibres are neighbours instead, along the axis along
  /// which those of the result are, and go to memory together, from where a
  /// sector begins on. Every `alikeStep`-th result of a fibre lies alike.
  bool vectorStore = false;
  std::optional<unsigned> vectorAxis;
  int64_t alikeStep = 1;
  /// Whether a thread keeps the data of such fibres for all of its results.
  bool keepsData() const;
  /// The most bytes of factors in shared memory.
  int64_t factorBytes = 0;
  /// Bytes of factors and of both buffers in shared memory.
  int64_t sharedBytes = 0;
  int64_t ctasPerSM = 1;

  /// Tiles of buffers: that before each step, and that after the last one if it
  /// goes through shared memory.
  ArrayRef<SmallVector<int64_t>> getBuffers() const {
    if (directLoad)
      return {};
    return ArrayRef(extents).drop_back(directStore ? 1 : 0);
  }
};

struct SimtPlan {
  int64_t threads = 0;
  std::vector<SimtLaunch> launches;
};

/// The mode products of a fused region.
struct SimtChain {
  SmallVector<ModeProductOp> products;
  /// Sizes of the array before each product, and after the last.
  SmallVector<SmallVector<int64_t>> shapes;
  /// The type and bytes of an accumulator.
  Type element;
  int64_t elementBytes = 4;
  /// The array of the results: its strides, as far as they are known, and bytes
  /// of an element.
  SmallVector<int64_t> resultStrides;
  int64_t resultBytes = 4;
};

/// Bytes of neighbouring fibres that a thread stores together, at most.
inline constexpr int64_t kVectorBytes = 16;

/// Strides of a tile of `extents` in a buffer: row-major, with rows of an odd
/// pitch, so that lanes which are a row apart read different banks.
SmallVector<int64_t> getBufferStrides(ArrayRef<int64_t> extents);

/// Elements of a tile of `extents`; a very large number if they are more than
/// that.
int64_t getTileElements(ArrayRef<int64_t> extents);

/// What no choice changes of `fused`; or why it cannot become general kernels.
std::variant<SimtChain, std::string> describeSimt(FusedOp fused);

/// The launch of products [first, end) of `chain`, still without a tile;
/// `factorBytes`: the most of factors in shared memory.
SimtLaunch describeSimtLaunch(const SimtChain &chain, unsigned first,
                              unsigned end, int64_t factorBytes);

/// Results of a thread where a plan does not say: few enough for registers, and
/// a divisor if there is one.
int64_t getEqualPart(int64_t sizeN);

/// Steps of k whose elements a thread of `launch`, which loads data directly,
/// loads together: those that registers hold.
int64_t getDirectUnrolled(const SimtLaunch &launch);

/// The axis that fibres of a thread are apart on where data are loaded directly
/// and tiles have `extents`: of those that the factor does not vary on, the one
/// with the most positions.
std::optional<unsigned> findAcross(const SimtLaunch &launch,
                                   ArrayRef<int64_t> extents);

/// Fibres of a tile that step `index` of `launch` has.
int64_t getFibres(const SimtLaunch &launch, unsigned index);

/// Works out what `launch` takes of shared memory, and which factors have room
/// there, of tiles of `tile`, which counts for axes that `launch`
/// does not contract.
void setSimtTile(SimtLaunch &launch, ArrayRef<int64_t> tile);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<SimtPlan, std::string> readSimtPlan(FusedOp fused,
                                                 GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SIMTPLAN_H
