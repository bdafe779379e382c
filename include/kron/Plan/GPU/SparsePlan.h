//===- SparsePlan.h - Tiles of a Kronecker-sparse factor --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the kernel of one factor that varies on axes looks like: what its plan
// says, and what follows from that and the types of a kron.fused. Every
// position of those axes is a matrix product of its own: rows (an axis that the
// factor does not vary on) x K times K x N. Tiles at several positions of other
// such axes need the same part of the factor, as blocks of rows do.
//
// Data are read from shared memory in chunks of 16 bytes. What lies along a
// chunk is what lies side by side in memory:
//
//   K              the contracted axis itself is the innermost one
//   lanes          an axis that the factor varies on is: each element of a
//                  chunk (or each `lanesPerChunk`-th one) belongs to another
//                  product
//   rows           the rows' axis is (`alongRows`)
//
// In the first two cases a chunk is `chunkK` positions of the contracted axis
// times `lanesPerChunk` products. Lane (g, q) = (lane / 4, lane % 4) of a warp
// takes chunk number 4 x + q of row g: the order along K is free as long as the
// data and the factor agree.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SPARSEPLAN_H
#define KRON_PLAN_GPU_SPARSEPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"
#include "kron/Plan/GPU/MmaMath.h"
#include "kron/Plan/GPU/PackedOperand.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// Bytes of a chunk, and of one that holds all of 3, 6 or 12 products.
inline constexpr int64_t kSparseChunkBytes = tile::kChunkBytes,
                         kSparseWideBytes = tile::kWideChunkBytes;

/// Rows that leave some of a matrix instruction's 16 unused.
inline constexpr int64_t kSparseSkinnyM = tile::kMostSkinnyM;
/// What the results of a tile are a multiple of where the data and the factor
/// change places: chunks of a row of K are exchanged among eight neighbours.
inline constexpr int64_t kSwappedResults = tile::kSwappedChunkResults;

/// Rows that are copied one by one where they are innermost.
inline constexpr int64_t kSparseFewRows = 32;

/// Products whose sum a matrix unit can keep without an error that shows.
inline constexpr int64_t kSparseSummedK = 128;

/// In which order a warp's results stand side by side, such that a thread's
/// are 16 bytes of memory and those of neighbouring threads fill sectors.
enum class SparseOrder {
  /// Threads q hold results 2 q and 2 q + 1.
  Plain,
  /// 16 bytes are several results.
  Chunks,
  /// 16 bytes are one result, and 4 of them follow each other.
  Spread,
  /// 32 bytes are one result; pairs of threads exchange halves of them.
  Pairs
};

/// What residuals, which splitting f32 values leaves, are multiplied in: bf16
/// loses 2^-9 of what is 2^-12 of the result already, and costs half as much.
enum class SparseResiduals {
  TF32,
  BF16,
  /// Those of the factor in bf16, those of the data in TF32.
  FactorBF16
};

/// What follows from the operation.
struct SparseProblem {
  /// Of the results.
  Type element;
  /// Of the products, and of the data and the factor in memory: 1 where they
  /// are 8-bit values, which become 16-bit ones in registers.
  int64_t elementBytes = 4, dataBytes = 4, factorBytes = 4;
  MmaMath math = MmaMath::SplitTF32;
  unsigned axis = 0;
  /// -1 if there is none.
  int rowAxis = -1, laneAxis = -1;
  /// Others that the factor varies on, outermost first.
  SmallVector<unsigned> groupAxes;
  SmallVector<int64_t> groupSizes;
  /// Others that it does not vary on, outermost first. Sizes may be dynamic.
  SmallVector<unsigned> freeAxes;
  SmallVector<int64_t> freeSizes;
  /// Positions of the rows' axis; kDynamic if not known.
  int64_t rows = 1;
  int64_t sizeK = 1, sizeN = 1, lanes = 1;
  /// Whether rows are innermost, and chunks lie along them.
  bool hasInnermostRows = false, alongRows = false;
  /// Whether a kron.epilogue follows, whose constants and vectors take
  /// registers.
  bool hasEpilogue = false;
  /// Whether the sums of each K step are added up by themselves: the matrix
  /// unit cuts off when it adds.
  bool hasPartialSums = false;

  void setElementBytes(int64_t bytes) {
    elementBytes = dataBytes = factorBytes = bytes;
  }
  bool is16BitFloat() const { return elementBytes == 2; }
  bool isOf8() const { return dataBytes == 1 || factorBytes == 1; }
};

/// What a plan says.
struct SparseChoices {
  int64_t ctasPerSM = 1;
  int64_t stages = 2;
  /// Positions of the contracted axis that arrive at a time.
  int64_t stepK = 1;
  /// Bytes of a chunk of products' elements: three times as many where lanes
  /// are three times a power of two and all of them fit. Several k then lie in
  /// memory as they do in the chunk.
  int64_t chunkBytes = kSparseChunkBytes;
  /// Chunks that lanes take in a tile; a warp takes all of them.
  int64_t laneChunks = 1;
  /// Tiles of 16 rows (times the elements of a chunk, if `alongRows`) and of 8
  /// results per warp.
  int64_t rowTiles = 1, resultTiles = 1;
  int64_t rowWarps = 1, resultWarps = 8;
  /// Warps that share a tile's results: each takes a part of every K step, and
  /// the first one adds their sums.
  int64_t warpsK = 1;
  /// Warps of a chain step whose factor is kept that take different tiles of
  /// the same rows; a K step brings the data of all of them.
  int64_t tileWarps = 1;
  /// Groups of warps of a CTA that take tiles of their own. They keep a factor
  /// together, which may be twice as large as that of one of two CTAs.
  int64_t warpGroups = 1;
  /// Rows that there are at most, if they are fewer than a tile's 16; 0
  /// otherwise.
  int64_t skinnyM = 0;
  /// Whether rows that are innermost are copied one by one, since they are few:
  /// lanes and chunks are those of the factor then.
  bool copiesSingly = false;
  /// Whether the factor of a tile stays in shared memory while tiles that need
  /// it follow each other; in a chain, the whole factor all the time.
  bool keepsFactor = false;
  /// Blocks of rows that a CTA takes at most with one part of the factor, such
  /// that the second-level cache still has their data when those who need the
  /// next part read them; 0: any number.
  int64_t keptTiles = 0;
  /// Whether chunks of a factor of 16-bit values that is kept are put in order
  /// once it has arrived: pairs along K by product, as operands are.
  bool pairsFactor = false;
  SparseResiduals residuals = SparseResiduals::TF32;
  /// Whether warpgroups multiply (wgmma). Operand B is then the factor as it
  /// was prepared in shared memory, once for all of them: in TF32; its
  /// residuals in bf16; and in bf16, unless those of the data are multiplied in
  /// TF32.
  bool usesWgmma = false;
  /// Of a factor that varies on no axis: whether its results are the rows of
  /// the kernel while the rows of the arrays, which are innermost there, are
  /// its results: the data and the factor change places.
  bool swapsOperands = false;
  /// Whether a warp's results go through shared memory, so that neighbouring
  /// threads store what lies side by side: of lanes that are no even number of
  /// chunks, every store of a thread's own fills a part of a sector only.
  bool sharedStore = false;
  /// Whether data (1), and the factor, too, where it streams (2), whose rows
  /// start at no multiples of 16 bytes, are copied by 16 bytes all the same,
  /// from the multiple before them on. Chunks are made of them in shared memory
  /// once they have arrived.
  int64_t wholeCopies = 0;
  /// Elements whose multiples tiles start at, before the first of a group's
  /// results, which starts anywhere: at the same place in all rows. 16 bytes,
  /// or whole sectors; 0 where tiles start where groups do.
  int64_t shiftUnit = 0;

  /// What decides a tile, and a chain step names for itself.
  template <typename Visitor>
  static void visitTile(Visitor &visit, SparseChoices &choices) {
    visit("k_step", choices.stepK);
    visit("lane_chunks", choices.laneChunks);
    visit("result_tiles", choices.resultTiles);
    visit("row_warps", choices.rowWarps);
    visit("result_warps", choices.resultWarps);
    visit("tile_warps", choices.tileWarps);
    visit("bf16_residuals", choices.residuals);
  }
  template <typename Visitor>
  static void visitFields(Visitor &visit, SparseChoices &choices) {
    visitTile(visit, choices);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("stages", choices.stages);
    visit("chunk_bytes", choices.chunkBytes);
    visit("row_tiles", choices.rowTiles);
    visit("k_warps", choices.warpsK);
    visit("warp_groups", choices.warpGroups);
    visit("skinny_m", choices.skinnyM);
    visit("copies_singly", choices.copiesSingly);
    visit("keeps_factor", choices.keepsFactor);
    visit("kept_tiles", choices.keptTiles);
    visit("pairs_factor", choices.pairsFactor);
    visit("wgmma", choices.usesWgmma);
    visit("swaps_operands", choices.swapsOperands);
    visit("shared_store", choices.sharedStore);
    visit("whole_copies", choices.wholeCopies);
    visit("shift", choices.shiftUnit);
  }
};

/// What follows for tiles.
struct SparseTiling : SparseProblem, SparseChoices {
  /// Products and positions of the contracted axis of a chunk of the factor,
  /// and of the data unless they are `alongRows`.
  int64_t lanesPerChunk = 1, chunkK = 1;
  SparseOrder order = SparseOrder::Plain;
  /// K steps of a tile.
  int64_t stepsK = 1;
  /// If operands change places, the results of the factor.
  int64_t swappedRows = 0;
  /// Of a chain step: whether data come from, and results go to, rows in shared
  /// memory, and the bytes from one row of the data to the next.
  bool readsShared = false, writesShared = false;
  int64_t sharedRowBytes = 0;
  /// Of the last chain step whose results stay in shared memory as whole rows,
  /// which are quantized to 8 bits: the bytes from one to the next; 0
  /// otherwise.
  int64_t resultRowBytes = 0;
  /// Of a chain step that reads rows in shared memory and writes results along
  /// which rows are innermost: a thread's rows follow each other.
  bool turnsRows = false;

  SparseTiling() = default;
  explicit SparseTiling(SparseProblem problem)
      : SparseProblem(std::move(problem)) {}

  bool has16BitResiduals() const { return residuals != SparseResiduals::TF32; }
  bool shiftsResults() const { return shiftUnit > 0; }
  bool leavesRows() const { return resultRowBytes > 0; }
  /// Whether this is a chain step.
  bool isChained() const { return readsShared || writesShared || leavesRows(); }
  /// Whether a K step's factor is prepared, by warpgroups, while the K step
  /// before it is multiplied.
  bool preparesAhead() const { return usesWgmma && !keepsFactor; }
  /// Elements of a chunk, and the bytes that it has in a packed operand.
  int64_t getChunk() const { return chunkBytes / elementBytes; }
  bool isWideChunk() const { return chunkBytes > kSparseChunkBytes; }
  /// Elements that one access to global memory takes.
  int64_t getAccess() const { return kSparseChunkBytes / elementBytes; }
  int64_t getChunkBytes(bool isFactor) const {
    return getChunk() * (isFactor ? factorBytes : dataBytes);
  }
  /// Words of 4 bytes of a chunk of results.
  int64_t getResultWords() const {
    return getChunk() * (element.getIntOrFloatBitWidth() / 8) / 4;
  }
  /// Chunks of a row in a packed operand that are of the same lanes.
  int64_t getKChunks() const { return stepK / chunkK; }
  /// Positions on K that a thread takes per matrix instruction, or two of TF32.
  int64_t getKPerThread() const {
    return tile::getChunkKPerThread(elementBytes, has16BitResiduals());
  }
  /// Of a whole number of chunks and of instructions, per warp.
  int64_t getMacroK() const { return 4 * std::max(chunkK, getKPerThread()); }
  /// Products of a tile.
  int64_t getLanes() const { return lanesPerChunk * laneChunks; }
  /// Products of a chunk that the matrix instructions tell apart.
  int64_t getParts() const { return alongRows ? getChunk() : lanesPerChunk; }
  int64_t getRowsPerWarp() const {
    return 16 * rowTiles * (alongRows ? getChunk() : 1);
  }
  int64_t getResultsPerWarp() const { return 8 * resultTiles; }
  int64_t getRows() const { return getRowsPerWarp() * rowWarps; }
  int64_t getResults() const { return getResultsPerWarp() * resultWarps; }
  int64_t getWarpGroupThreads() const {
    return 32 * rowWarps * resultWarps * warpsK * tileWarps;
  }
  int64_t getThreads() const { return warpGroups * getWarpGroupThreads(); }
  /// Warp groups that work on an SM: while one waits, others compute.
  int64_t getWarpGroupsPerSM() const { return warpGroups * ctasPerSM; }
  /// Whether neighbours in memory are results of neighbouring rows.
  bool storesAlongRows() const { return alongRows || turnsRows; }
  /// Rows that a thread has of those that it stores along them.
  int64_t getThreadRows() const { return 2 * rowTiles; }
  /// Rows of a tile's data that are in shared memory.
  int64_t getPackedRows() const { return skinnyM ? skinnyM : getRows(); }
  int64_t getSums() const {
    return getParts() * (alongRows ? 1 : laneChunks) * rowTiles * resultTiles;
  }

  /// Results of a group and the places that may be before them in a tile.
  int64_t getPlaces() const {
    return sizeN + std::max<int64_t>(shiftUnit - 1, 0);
  }
  /// Tiles of results that make whole chunks.
  int64_t getResultUnit() const {
    return tile::getResultUnit(order == SparseOrder::Chunks, chunkK);
  }
  int64_t getLaneBlocks() const;
  int64_t getResultBlocks() const;
  /// Tiles that have the same rows: parts of the factor.
  int64_t getTilesPerRows() const;
  /// Of a row of the data and one of the results: elements.
  int64_t getDataFeatures() const;
  int64_t getResultFeatures() const;
};

/// And for what they take of shared memory.
struct SparsePlan : SparseTiling {
  using SparseTiling::SparseTiling;

  /// Of a K step's packed operand of the factor, or of data that are not
  /// `alongRows`: from one row of `stepK` positions times the tile's lanes to
  /// the next.
  int64_t getPackedRowBytes(bool isFactor) const {
    int64_t bytes = isFactor ? factorBytes : dataBytes;
    return tile::getChunkRowBytes(stepK * getLanes() * bytes, bytes == 1,
                                  isWideChunk());
  }
  int64_t getDataBytes() const {
    return getPackedRows() *
           (alongRows ? stepK * dataBytes : getPackedRowBytes(false));
  }
  int64_t getFactorBytes() const {
    return getResults() * getPackedRowBytes(true);
  }
  bool copiesWhole(bool isFactor) const {
    return wholeCopies > (isFactor ? 1 : 0);
  }
  /// A row of a K step as whole copies bring it. Of data whose neighbours are
  /// rows, all of these together: a segment for each position on K.
  tile::WholeRow getWholeRow(bool isFactor) const {
    if (alongRows && !isFactor)
      return {stepK, getRows(), /*lanes=*/0, /*chunkLanes=*/1, dataBytes};
    return {stepK, getLanes(), lanes, lanesPerChunk,
            isFactor ? factorBytes : dataBytes};
  }
  int64_t countWholeRows(bool isFactor) const {
    return isFactor ? getResults() : alongRows ? 1 : getPackedRows();
  }
  /// Of a K step's data, and factor, as they are copied.
  int64_t getDataSlotBytes() const {
    return copiesWhole(false)
               ? countWholeRows(false) * getWholeRow(false).getBytes()
               : getDataBytes();
  }
  int64_t getFactorSlotBytes() const {
    return copiesWhole(true) ? getResults() * getWholeRow(true).getBytes()
                             : getFactorBytes();
  }
  /// Of a warp group's chunks that are made of whole copies: data, then the
  /// factor.
  int64_t getOrderedBytes() const {
    return (copiesWhole(false) ? getDataBytes() : 0) +
           (copiesWhole(true) ? getFactorBytes() : 0);
  }
  /// Of a K step's factor and one product t, as warpgroups read it.
  PackedOperand getPackedOperand() const {
    return {element, getResults(), stepK,
            /*hasTF32Residuals=*/residuals == SparseResiduals::FactorBF16};
  }
  /// Of a K step's factor as the matrix instructions read it.
  int64_t getPreparedBytes() const {
    return usesWgmma ? getLanes() * getPackedOperand().getBytes()
                     : getFactorBytes();
  }
  /// Of the factor outside of the pipeline stages.
  int64_t getKeptBytes() const {
    return keepsFactor ? stepsK * getPreparedBytes()
           : usesWgmma ? 2 * getPreparedBytes()
                       : 0;
  }
  /// Bytes of a K step's data that are copied.
  int64_t getCopiedBytes() const {
    return readsShared ? 0 : tileWarps * getDataSlotBytes();
  }
  int64_t getStageBytes() const {
    return getCopiedBytes() + (keepsFactor ? 0 : getFactorSlotBytes());
  }
  /// Whether K steps need copies.
  bool hasRing() const { return !readsShared || !keepsFactor; }
  /// Of the whole K of a group, in a row in shared memory.
  int64_t getRegionBytes() const { return stepsK * getPackedRowBytes(false); }
  /// The sums of all warps that share results with another one.
  int64_t getExchangeBytes() const {
    return (getWarpGroupThreads() - getWarpGroupThreads() / warpsK) *
           getSums() * 4 * std::max<int64_t>(elementBytes, 4);
  }
  /// Of all pipeline stages; a K step's factor on its way to being prepared and
  /// kept fits.
  int64_t getRingBytes() const {
    int64_t bytes = warpGroups * stages * getStageBytes();
    return usesWgmma ? std::max(bytes, getFactorBytes()) : bytes;
  }
  /// Tiles of 8 results whose sums a warp leaves in shared memory at a time for
  /// `sharedStore`, and what these take there.
  int64_t getStoredTiles() const {
    return alongRows
               ? 1
               : tile::getStagedTiles(getLanes(), getResultUnit(), resultTiles);
  }
  int64_t getSumBytes() const { return std::max<int64_t>(elementBytes, 4); }
  int64_t getStoredPitch() const {
    return alongRows ? tile::getStagedPitchAlong(getChunk(), getSumBytes())
                     : tile::getStagedPitch(getLanes(), getStoredTiles());
  }
  int64_t getStoredBytesPerWarp() const {
    return tile::getStagedBytes(getStoredPitch(), getSumBytes());
  }
  int64_t getStoredBytes() const {
    return sharedStore
               ? warpGroups * rowWarps * resultWarps * getStoredBytesPerWarp()
               : 0;
  }
  int64_t getSharedBytes() const {
    return getRingBytes() + getExchangeBytes() + getKeptBytes() +
           getStoredBytes() + warpGroups * getOrderedBytes();
  }
};

/// Types and axes of `fused`; why there is no kernel of one sparse factor for
/// it. `copiesSingly`: whether rows that are innermost are copied one by one.
std::variant<SparseProblem, std::string>
describeSparse(FusedOp fused, bool copiesSingly = false);

/// Whether all lanes of `plan` fit a wide chunk and no other one.
bool mayHaveWideChunks(const SparsePlan &plan);

/// Why copies of `plan`, whose chunks are known, cannot be whole of the data of
/// `fused`, or of its factor; or nothing.
std::optional<std::string>
getWholeCopyReason(FusedOp fused, const SparsePlan &plan, bool isFactor);

/// Works out the chunks of `plan` and the order of its results.
void setSparseChunks(SparsePlan &plan);

/// Whether tiles of `plan`, whose chunks are known, may start at multiples of
/// `unit` elements: results of groups are neighbours that start at other
/// places, but at the same ones in all rows, and nothing is read for them.
bool mayShiftSparse(FusedOp fused, const SparsePlan &plan, int64_t unit);

/// Lets the data and the factor of `plan` change places; why they cannot, or
/// nothing.
std::optional<std::string> swapSparseOperands(FusedOp fused, SparsePlan &plan);

/// The fields of `plan` whose product is the number of a CTA's warps, for
/// messages.
std::string getSparseWarpsText(const SparseChoices &plan);

/// Why no kernel has the tiles of `plan`, a whole one or a chain step.
std::optional<std::string> getSparseTileReason(const SparsePlan &plan);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<SparsePlan, std::string> readSparsePlan(FusedOp fused,
                                                     GPUPlanAttr plan);

/// Why `plan`, which was read as `read`, may meet more rows at launch than its
/// skinny M, or nothing if it does not: there are as few, or a plan that stands
/// before it in the #kron.dispatch of `fused` takes the others.
std::optional<std::string> getSkinnyMReason(FusedOp fused, GPUPlanAttr plan,
                                            const SparsePlan &read);

/// The attribute of `plan`.
GPUPlanAttr writeSparsePlan(MLIRContext *context, const SparsePlan &plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SPARSEPLAN_H
