//===- SparseSearch.h - Search for tiles of a sparse factor -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SPARSESEARCH_H
#define KRON_LIB_MAPPING_GPU_SPARSESEARCH_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/SparsePlan.h"

namespace mlir::kron {

/// A plan on its way.
struct SparseCandidate : SparsePlan {
  using SparsePlan::SparsePlan;

  /// Rows that costs are counted for.
  int64_t nominalRows = 1;
  /// Whether a warp's sums take half of its registers instead of a quarter.
  bool isWide = false;
  /// Tiles of 8 results of a warp that are tried; 0: as many as are good.
  int64_t triedResultTiles = 0;
  /// Data that a K step of one of two CTAs per SM should bring.
  int64_t stepBytes = 0;
  /// Elements, as many as an access takes at most, whose multiples results, and
  /// data, of neighbouring rows and groups start at; and of the factor.
  int64_t storeUnit = 1, loadUnit = 1, factorUnit = 1;
  /// Where rows are neighbours, elements from one position on K of the factor
  /// to the next.
  int64_t factorStride = 1;
  /// Whether neighbours in memory are results of the factor, which become
  /// rows of its chunks.
  bool turnsFactor = false;
  /// Whether what chunks of data lie along is apart in a transposed input.
  bool hasApartData = false;
  /// Whether neither those nor results of one position share sectors.
  bool hasApartFactor = false;
  /// What of data (1) and factor (2) may be copied whole.
  int64_t mostWhole = 0;
};

/// What a plan by hand says of the one that is searched for.
class SparseConstraints {
public:
  /// Of a plan for a sparse kernel, or any one; of none if that is null.
  SparseConstraints(FusedOp fused, GPUPlanAttr plan, const GPUMachine &machine);

  bool isEmpty() const { return !given; }
  FusedOp getFused() const { return fused; }
  bool has(StringRef name) const { return given && given.has(name); }
  /// The given value of field `name`, or `chosen`.
  int64_t take(StringRef name, int64_t chosen) const {
    return has(name) ? given.get(name) : chosen;
  }
  /// Warps of a CTA, or `chosen` if no number of threads is given.
  int64_t takeWarps(int64_t chosen) const {
    return has("threads") ? given.getThreads() / 32 : chosen;
  }
  /// Whether `candidate`, once it is finished, is as it is wanted; one that is
  /// may still be no plan.
  bool allow(const SparseCandidate &candidate) const;
  /// What of `plan` is not as it is wanted, with its name and value; empty if
  /// that is nothing.
  std::string findContradiction(const SparsePlan &plan) const;

private:
  FusedOp fused;
  const GPUMachine &machine;
  /// Null if nothing is given.
  GPUPlanAttr given;
};

/// Positions on axes that the factor does not vary on, but for the rows', and
/// tiles that the SMs share out; unknown sizes are large.
int64_t getSparseFreePositions(const SparseCandidate &candidate);
int64_t getSparseTiles(const SparseCandidate &candidate);

/// Chooses how many chunks of lanes a tile of `candidate` takes, and works out
/// what follows from that.
void chooseSparseChunks(SparseCandidate &candidate);

/// What is decided once tiles are known: whether pairs of a factor that is kept
/// are put in order, for how many tiles it is kept, and where tiles start.
void finishSparseTile(SparseCandidate &candidate,
                      const SparseConstraints &constraints,
                      const GPUMachine &machine);

/// Works out how far accesses to memory can be whole for `candidate`, whose
/// chunks are known.
void describeSparseAccesses(FusedOp fused, SparseCandidate &candidate);

/// Bytes that memory moves while parts of sectors are stored for a result.
double getSparseStoreBytes(const SparseCandidate &candidate,
                           const GPUMachine &machine);

/// Parts of sectors per result that warps fill which store by way of shared
/// memory: two for each store of a warp, and for each of the segments of so
/// many elements that are contiguous.
double getSharedStoreParts(double segment);

/// Whether copies of data are of less than 16 bytes.
bool hasNarrowLoads(const SparseCandidate &candidate);

/// The same, or stores fill parts of sectors.
bool hasNarrowAccesses(const SparseCandidate &candidate);

/// Whether the clocks of its tiles rank `candidate`: of narrow accesses, and of
/// f64, whose matrix instructions take as long as the second-level cache.
bool isCounted(const SparseCandidate &candidate);

/// Bytes of the least asynchronous copy.
inline constexpr int64_t kLeastAsyncBytes = 4;

/// Seconds of the tiles of `candidate`, by their clocks.
double getNarrowSeconds(const SparseCandidate &candidate,
                        const SparseConstraints &constraints,
                        const GPUMachine &machine);

/// Seconds that the CTA of `candidate` with the most tiles waits for copies
/// where parts of the factor are kept: of these, and of each K step.
double getWaitSeconds(const SparseCandidate &candidate,
                      const SparseConstraints &constraints,
                      const GPUMachine &machine);

/// `seconds` of the tiles of `candidate` with loads of the factor beside them,
/// each element of which comes from a sector of its own.
double addFactorLoads(const SparseCandidate &candidate, double seconds,
                      const SparseConstraints &constraints,
                      const GPUMachine &machine);

/// Whether threads that store what they have fill parts of sectors.
bool mayShareSparseStores(const SparseCandidate &candidate);

/// Whether threads that store what they have take longer than all that goes
/// through memory.
bool isWorthSharingStores(const SparseCandidate &candidate,
                          const GPUMachine &machine);

/// The best of full tiles for `described`. K steps are shorter than they should
/// be if nothing fits otherwise.
std::optional<SparseCandidate>
chooseSparseTile(const SparseCandidate &described,
                 const SparseConstraints &constraints,
                 const GPUMachine &machine);

/// Split-K tiles of few rows for `described`, with as little of the factor as
/// makes work for the whole machine. K is divided among CTAs and warps so that
/// all copies are under way at once. Nothing if they do not fit.
std::optional<SparseCandidate>
chooseSplitKSparseTile(const SparseCandidate &described,
                       const SparseConstraints &constraints,
                       const GPUMachine &machine);

/// Tiles for warpgroups for `described`; nothing if there are none or rows are
/// too few for them.
std::optional<SparseCandidate>
chooseSparseWgmma(const SparseCandidate &described,
                  const SparseConstraints &constraints,
                  const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SPARSESEARCH_H
