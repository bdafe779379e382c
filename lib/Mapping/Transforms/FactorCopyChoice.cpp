//===- FactorCopyChoice.cpp - Whether factors are copied on a GPU ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Weights of one product t are d elements apart with the batch last. A tile of
// that product takes each of them from a sector of its own, for as many blocks
// of rows as the factor is read. A copy moves them once, in whole lines.
//
//===----------------------------------------------------------------------===//

#include "FactorCopyChoice.h"
#include "RegionQuestions.h"
#include "kron/Dialect/Kron/Transforms/CopyFactor.h"
#include "kron/Machine/GPUSplits.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes that rows of copied factors start at multiples of.
static constexpr int64_t kAccessBytes = 16;

bool kron::mayCopyFactor(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1 || fused.getPlanAttr())
    return false;
  ModeProductOp product = products.front();
  Value factor = fused.getOperandOf(product.getFactor());
  auto type = cast<ShapedType>(factor.getType());
  if (!type.hasStaticShape() || !isa<FloatType>(type.getElementType()) ||
      isFloat8(type.getElementType()))
    return false;
  // Of a factor that does not vary, either is; of few products, tiles find in
  // the cache what shares a sector.
  SmallVector<int64_t> strides = getKnownStrides(factor);
  int64_t sector = kSectorBytes / getElementBytes(type.getElementType());
  return llvm::all_of(ArrayRef<int64_t>{product.getContractedFactorDim(),
                                        product.getResultingFactorDim()},
                      [&](int64_t dim) {
                        return strides[dim] >= sector &&
                               type.getDimSize(dim) > 1;
                      });
}

void kron::copyFactor(RewriterBase &rewriter, FusedOp fused) {
  copyFactorAlongK(rewriter, fused, kAccessBytes);
}

double kron::getFactorCopySeconds(FusedOp fused, const GPUMachine &machine) {
  ModeProductOp product = fused.getModeProducts().front();
  Value factor = fused.getOperandOf(product.getFactor());
  auto type = cast<ShapedType>(factor.getType());
  SmallVector<int64_t> strides = getKnownStrides(factor);
  int64_t bytes = getElementBytes(type.getElementType());
  // Squares have one side along what is innermost before, and one along sums,
  // which lie as one with results if they fill accesses.
  int64_t contracted = type.getDimSize(product.getContractedFactorDim());
  if (contracted * bytes % kAccessBytes == 0)
    contracted *= type.getDimSize(product.getResultingFactorDim());
  double squares = type.getNumElements() * getSquareWaste(contracted, bytes);
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    if (stride == 1 && size > 1)
      squares *= getSquareWaste(size, bytes);
  const RowSplits rows = getGPUSplits(machine).rows;
  GPUResources resources(machine);
  return resources.getLaunchSeconds() +
         std::max(
             resources.getMemorySeconds(2.0 * type.getNumElements() * bytes),
             squares * 1e-6 / (bytes == 2 ? rows.squares16Bit : rows.squares));
}

void kron::copyFactorWhereFaster(RewriterBase &rewriter, FusedOp fused,
                                 const GPUMachine &machine, bool allowsCublas) {
  if (!mayCopyFactor(fused))
    return;
  auto getSeconds = [&](llvm::function_ref<void(FusedOp)> change,
                        bool mayCall) {
    return llvm::sum_of(askPlanners(rewriter, fused, change, machine, mayCall));
  };
  double gain = getGPUSplits(machine).rows.paddedGainFactor;
  double copySeconds = getFactorCopySeconds(fused, machine);
  double asItLies = getSeconds([](FusedOp) {}, allowsCublas) / gain;
  // Plans take their time. Calls for groups of a copy are often slower than
  // they are estimated.
  if (copySeconds >= asItLies ||
      copySeconds +
              getSeconds([&](FusedOp asked) { copyFactor(rewriter, asked); },
                         /*mayCall=*/false) >=
          asItLies)
    return;
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Copied").category("kron-fuse"))
      << "elements of a sum are neighbours in a copy of the factor";
  copyFactor(rewriter, fused);
}
