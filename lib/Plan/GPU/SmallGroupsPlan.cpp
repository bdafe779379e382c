//===- SmallGroupsPlan.cpp - Sparse factors of small groups -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/SmallGroupsPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Problem.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes that a thread stores at a time.
static constexpr int64_t kChunkBytes = 16;
/// K up to which a thread has registers for the weights of a chunk, and
/// elements of the input that it has some for.
static constexpr int64_t kMostK = 8, kMostInputs = 64;
/// K of one matrix instruction, and 16-bit values that a lane loads for it.
static constexpr int64_t kMostMmaK = 16, kMmaPiece = 4;
/// Tiles of 8 results of which a lane has chunks of 16 bytes.
static constexpr int64_t kChunkTiles = 4;

int64_t SmallGroupsPlan::getResultBlocks() const {
  return llvm::divideCeil(sizeN, 8 * resultTiles);
}

int64_t SmallGroupsPlan::getBlocks() const {
  return usesMma ? llvm::divideCeil(groups * getResultBlocks(), threads / 32)
                 : llvm::divideCeil(getChunks(), blockChunks);
}

//===----------------------------------------------------------------------===//
// What follows from the operation
//===----------------------------------------------------------------------===//

static int64_t getPowerOfTwo(int64_t number) { return number & -number; }

/// Sorts the axes of `fused`; whether they are those of groups side by side in
/// rows of both arrays.
static bool describeAxes(FusedOp fused, SmallGroupsProblem &problem) {
  ModeProductOp product = fused.getModeProducts().front();
  ProblemFactor factor = describeFactor(product);
  SmallVector<int64_t> shape = getResultShape(product);
  SmallVector<int64_t> input = getKnownStrides(fused.getInputs().front()),
                       output = getKnownStrides(fused.getInit());
  if (factor.varyingAxes.size() != 1 || fused.getInputPermutation() ||
      input.size() != output.size())
    return false;
  problem.axis = factor.axis;
  problem.groupAxis = factor.varyingAxes.front();
  problem.groups = factor.variations;
  problem.sizeK = factor.sizeK;
  problem.sizeN = factor.sizeN;
  int64_t rowAxis = -1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size == 1 || axis == problem.axis || axis == problem.groupAxis)
      continue;
    if (rowAxis >= 0)
      return false;
    rowAxis = axis;
  }
  ArrayRef<int64_t> inputShape =
      cast<MemRefType>(fused.getInputs().front().getType()).getShape();
  if (rowAxis < 0 || inputShape[problem.groupAxis] != problem.groups ||
      (output[problem.axis] != 1 && problem.sizeN > 1) ||
      (input[problem.axis] != 1 && problem.sizeK > 1) ||
      output[problem.groupAxis] != problem.sizeN ||
      input[problem.groupAxis] != problem.sizeK)
    return false;
  problem.rowAxis = rowAxis;
  problem.rows = shape[rowAxis];
  int64_t rowStride = output[rowAxis];
  problem.chunk = kChunkBytes / getElementBytes(problem.element);
  if (problem.groups * problem.sizeN % problem.chunk != 0 ||
      (!ShapedType::isDynamic(rowStride) && rowStride % problem.chunk != 0))
    return false;
  // Accesses to the input start where a group does, or a chunk's first one.
  bool areWhole = problem.chunk % problem.sizeN == 0;
  problem.isRegular = areWhole || problem.sizeN % problem.chunk == 0;
  problem.span = areWhole            ? problem.chunk / problem.sizeN
                 : problem.isRegular ? 1
                                     : (problem.chunk - 2) / problem.sizeN + 2;
  problem.piece = std::min(getPowerOfTwo(problem.getRun()), problem.chunk);
  int64_t stride = input[rowAxis];
  if (!ShapedType::isDynamic(stride) && stride != 0)
    problem.piece = std::min(problem.piece, getPowerOfTwo(stride));
  return true;
}

/// Whether the weights of chunks follow each other.
static bool hasWeightSegments(FusedOp fused,
                              const SmallGroupsProblem &problem) {
  ModeProductOp product = fused.getModeProducts().front();
  SmallVector<int64_t> strides =
      getKnownStrides(fused.getOperandOf(product.getFactor()));
  for (auto [stride, role] : llvm::zip(strides, product.getFactorDims())) {
    int64_t wanted = role == ModeProductOp::kContracted  ? 1
                     : role == ModeProductOp::kResulting ? problem.sizeK
                     : role == int64_t(problem.groupAxis)
                         ? problem.sizeK * problem.sizeN
                         : stride;
    if (stride != wanted)
      return false;
  }
  return true;
}

/// Whether threads, or warps, have registers for the weights, and what they
/// access is aligned.
static bool describeKind(FusedOp fused, SmallGroupsProblem &problem) {
  problem.hasWeightSegments = hasWeightSegments(fused, problem);
  if (problem.sizeK <= kMostK)
    return problem.getInputs() <= kMostInputs;
  problem.usesMma = true;
  return problem.chunk == kChunkBytes / 2 && problem.sizeK <= kMostMmaK &&
         problem.piece >= kMmaPiece && problem.sizeN % problem.chunk == 0 &&
         problem.hasWeightSegments;
}

std::variant<SmallGroupsProblem, std::string>
kron::describeSmallGroups(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  if (!isa<MemRefType>(fused.getInit().getType()))
    return "arrays have no strides yet";
  if (hasEmptyArray(fused))
    return "an array has no elements";
  if (fused.getEpilogue())
    return "there is an epilogue";
  ModeProductOp product = products.front();
  SmallGroupsProblem problem;
  problem.element = getElementType(fused.getInit());
  if (!isa<Float32Type, Float16Type, BFloat16Type>(problem.element) ||
      getElementType(fused.getInputs().front()) != problem.element ||
      getElementType(product.getFactor()) != problem.element)
    return "elements are not all f32, f16 or bf16";
  if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
    return "a factor has a dynamic shape";
  if (!getBeta(product).isZero())
    return "beta is not 0";
  if (!describeAxes(fused, problem))
    return "groups are not side by side in rows of both arrays, in chunks of "
           "16 bytes";
  if (!describeKind(fused, problem))
    return "weights of a group do not fit in registers, or are not aligned";
  return problem;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Why no kernel is as `plan` says, or nothing.
static std::optional<std::string> getReason(const SmallGroupsPlan &plan) {
  constexpr int64_t kMostThreads = 1024, kMostThreadsPerSM = 2048;
  constexpr int64_t kMostRowsAtOnce = 16, kMostResultTiles = 32;
  if (plan.threads < 32 || plan.threads > kMostThreads ||
      plan.threads % 32 != 0)
    return expects("threads to be a multiple of 32 up to 1024", plan.threads);
  if (plan.ctasPerSM < 1 || plan.ctasPerSM > kMostThreadsPerSM / plan.threads)
    return expects("ctas_per_sm to be in [1, " +
                       Twine(kMostThreadsPerSM / plan.threads) + "]",
                   plan.ctasPerSM);
  if (plan.rowsAtOnce < 1 || plan.rowsAtOnce > kMostRowsAtOnce)
    return expects("row_tiles to be in [1, 16]", plan.rowsAtOnce);
  if (plan.usesMma) {
    if (plan.blockChunks != 0)
      return expects("row_chunks to be 0 of groups that warps take",
                     plan.blockChunks);
    if (plan.resultTiles < kChunkTiles || plan.resultTiles > kMostResultTiles ||
        plan.resultTiles % kChunkTiles != 0)
      return expects("result_tiles to be a multiple of 4 up to 32",
                     plan.resultTiles);
    return std::nullopt;
  }
  if (plan.resultTiles != 0)
    return expects("result_tiles to be 0 of groups that threads take",
                   plan.resultTiles);
  int64_t most = std::min(plan.threads, plan.getChunks());
  if (plan.blockChunks < 1 || plan.blockChunks > most)
    return expects("row_chunks to be in [1, " + Twine(most) + "]",
                   plan.blockChunks);
  return std::nullopt;
}

std::variant<SmallGroupsPlan, std::string>
kron::readSmallGroupsPlan(FusedOp fused, GPUPlanAttr attr) {
  auto problem = describeSmallGroups(fused);
  if (auto *reason = std::get_if<std::string>(&problem))
    return *reason;
  SmallGroupsPlan plan(std::get<SmallGroupsProblem>(problem));
  PlanReader reader(attr);
  SmallGroupsChoices::visitFields(reader, plan);
  if (std::optional<std::string> reason = getReason(plan))
    return *reason;
  return plan;
}
