//===- PairwisePlan.h - Functions of pairs on a GPU -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA computes a tile of the matrix of a function of pairs: threads keep its
// elements in registers while K passes by in shared memory. A product with the
// matrix takes all its columns, or a part of them, through such tiles.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_PAIRWISEPLAN_H
#define KRON_PLAN_GPU_PAIRWISEPLAN_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// What a plan says.
struct PairwiseChoices {
  int64_t threads = 0, ctasPerSM = 0, stages = 0, stepK = 0;
  /// Of a thread; and threads next to each other along columns.
  int64_t rows = 0, columns = 0, lanes = 0;
  /// Of products: columns of the values at a time, and CTAs that there shall
  /// be.
  int64_t valueColumns = 1, splitCTAs = 1;
  /// Products of parts that matrix instructions multiply by the values; 0: they
  /// do not.
  int64_t valueProducts = 0;
  /// Positions of K that the kernel is launched for at least, and at most (0:
  /// any).
  int64_t minK = 0, maxK = 0;
  /// Of products: whether threads keep rows, with all of K, in registers.
  bool keepsRows = false;
  /// Whether one half of the matrix is computed.
  bool isSymmetric = false;
  /// Of 16 elements, those whose roots and powers are polynomials.
  int64_t polynomials = 0;
  /// By matrix instructions: products of parts of the elements. Tiles whose
  /// results are not exact then are computed as without.
  int64_t products = 0;
  /// Whether these are made by warpgroups.
  bool usesWgmma = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, PairwiseChoices &choices) {
    visit("min_k", choices.minK);
    visit("max_k", choices.maxK);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("stages", choices.stages);
    visit("k_step", choices.stepK);
    visit("thread_rows", choices.rows);
    visit("thread_columns", choices.columns);
    visit("column_threads", choices.lanes);
    visit("keeps_rows", choices.keepsRows);
    visit("symmetric", choices.isSymmetric);
    visit("polynomials", choices.polynomials);
    visit("value_columns", choices.valueColumns);
    visit("value_products", choices.valueProducts);
    visit("split_ctas", choices.splitCTAs);
    visit("products", choices.products);
    visit("wgmma", choices.usesWgmma);
  }
};

struct PairwisePlan : PairwiseChoices {
  int64_t elementBytes = 0;
  /// Whether products with values are added up.
  bool addsValues = false;
  /// Whether an element of rows with themselves and that across the diagonal
  /// are computed alike, to the last bit: neither by a table the one and not
  /// the other, nor as products of parts in two orders.
  bool isAlikeInBothOrders() const {
    return products <= 1 && polynomials % 16 == 0;
  }

  /// Rows and columns of a tile.
  int64_t getTileRows() const { return rows * (threads / lanes); }
  int64_t getTileColumns() const { return columns * lanes; }
  /// Of matrix products: parts of a row, bytes of their elements, and those of
  /// both sides in shared memory.
  int64_t getParts() const { return products == 3 ? 2 : 1; }
  int64_t getPackedBytes() const { return elementBytes == 8 ? 8 : 2; }
  int64_t getProductBytes() const {
    return products ? stages * (getTileRows() + getTileColumns()) * getParts() *
                          kPartBytes
                    : 0;
  }
  /// Of values that matrix instructions multiply: what a lane has of two
  /// columns of the matrix and a column of theirs, elements of a row of eight
  /// columns of the matrix, and bytes in shared memory.
  int64_t getValueWords() const { return valueProducts == 3 ? 4 : 2; }
  int64_t getValueRow() const { return valueColumns * 4 * getValueWords(); }
  int64_t getValueBytes() const {
    int64_t bytes = elementBytes == 8 ? 8 : 4;
    return valueProducts
               ? kValueStages * (getTileColumns() / 8) * getValueRow() * bytes
               : 0;
  }
  /// Of matrix products: squared lengths and scales of both sides.
  int64_t getLengthBytes() const {
    return products ? (getTileRows() + getTileColumns()) * 8 : 0;
  }
  /// Blocks of columns that arrive together where rows stay in registers.
  int64_t getBlocksTogether() const {
    return keepsRows && stages > 1 ? stages / 2 : 1;
  }
  /// Of values that multiply-adds take, at most: those of blocks that are
  /// computed, and of as many that arrive.
  int64_t getCopiedValueBytes() const {
    if (!addsValues || valueProducts || elementBytes < 4 ||
        (!products && !keepsRows))
      return 0;
    return 2 * getBlocksTogether() * getTileColumns() * valueColumns *
           elementBytes;
  }
  /// Where the function is computed: pipeline stages, positions of K in each,
  /// and elements from one row of a tile in shared memory to the next.
  int64_t getFunctionStages() const { return products ? 2 : stages; }
  int64_t getFunctionStep() const {
    return products ? kFunctionBytes / elementBytes : stepK;
  }
  int64_t getPitch() const { return getFunctionStep() + 16 / elementBytes; }
  int64_t getSharedBytes() const {
    // A word of each warp says whether its products are exact.
    int64_t votes = products ? threads / 32 * 4 : 0;
    // Barriers of each slot, and up to the next 16 bytes.
    int64_t barriers = usesWgmma ? stages * 16 : 0;
    int64_t powers = polynomials ? kPowerTableBytes : 0;
    return getProductBytes() + votes + barriers + powers + getValueBytes() +
           getLengthBytes() + getCopiedValueBytes() +
           getFunctionStages() *
               ((keepsRows ? 0 : getTileRows()) + getTileColumns()) *
               getPitch() * elementBytes;
  }

  /// Bytes of a row and part that matrix instructions take at a time, and of a
  /// row of the function beside these.
  static constexpr int64_t kPartBytes = 64, kFunctionBytes = 32;
  /// Of powers by a table: two f32 for each of 2^10 first bits.
  static constexpr int64_t kPowerTableBytes = 8192;
  /// Elements of a thread at most.
  static constexpr int64_t kMostElements = 128;
  /// Blocks whose values are in shared memory: one arrives while threads read
  /// the other.
  static constexpr int64_t kValueStages = 2;
};

/// Roundings of `|x|^2 + |y|^2` that squares made of products of split f32 are
/// off by at most; those of other types are off by fewer. Of f64, sums of K
/// products are off by an eighth of K beside these.
constexpr int64_t kProductRoundings = 16;

/// The part of `|x|^2 + |y|^2` from which on a square, made of products, is
/// within K + 24 roundings of itself.
double getExactPart(double sizeK, bool isF64);

/// Whether positions of K that are 0 in both change nothing of what `op`
/// reduces.
bool ignoresZeros(PairOpInterface op);

/// Why `op` has no kernel on a GPU, or nothing if it has.
std::optional<std::string> getPairwiseReason(PairOpInterface op);

/// Why elements or sizes of arrays of `op` have none.
std::optional<std::string> getPairsReason(PairOpInterface op);

/// Whether `op` can be made of matrix products.
bool hasMatrixProducts(PairOpInterface op);

/// Matrix products that a product of values of `elementBytes` is made of.
int64_t getValueProducts(int64_t elementBytes);

/// Why fields of `given` can have no such values in any plan of `op` on
/// `machine`, or nothing.
std::optional<std::string> getFieldsReason(PairOpInterface op,
                                           GPUPlanAttr given,
                                           const GPUMachine &machine);

/// Whether `op` adds up products with values.
bool addsPairValues(PairOpInterface op);

/// What `plan`, which is complete, says of `op`; or why that is no plan for it
/// on `machine`.
std::variant<PairwisePlan, std::string>
readPairwisePlan(PairOpInterface op, GPUPlanAttr plan,
                 const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_PAIRWISEPLAN_H
