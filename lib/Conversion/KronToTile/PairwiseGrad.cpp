//===- PairwiseGrad.cpp - Gradients of functions of pairs as tiles --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The operand that a gradient is by is the left one here, whose rows a CTA has:
// the other one's pass by. Sums are workspace, of each part of the columns and
// of each position of the batch, which a loop over these adds up, in an order
// that the plan and the sizes alone decide.
//
//===----------------------------------------------------------------------===//

#include "PairKernel.h"
#include "kron/Dialect/Kron/Utils/PairPrograms.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "kron/Plan/GPU/PairwisePlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class PairGradTiles : PairKernel {
public:
  PairGradTiles(const TileSource &source, PairwiseGradOp op,
                const PairwiseGradPlan &plan);

  void build();

private:
  void exchangeSides();
  SmallVector<Int> getBatchSizes();
  Int getSize(PairAxis axis);
  void enterOperands();
  const PairArray &getFactor(PairAxis axis) const;
  bool isDoubled() { return grad.getInner() == PairFunction::SquareDiff; }

  Value buildPairs(Value place, Value block, ValueRange params);
  Value buildWeights(Value place, Value block, ValueRange params);
  Value addDerivatives(Value weights, Value sums, Value place, Value block,
                       ValueRange params);
  void buildTile(Value tile);
  void reduceParts();

  PairwiseGradOp grad;
  const PairwiseGradPlan &plan;
  const bool isByRhs;
  PairProgram ofInner, ofEpilogue;

  /// Numbers of arguments.
  std::optional<unsigned> gradient, outputs;
  SmallVector<unsigned, 2> factors;
  unsigned results = 0;
  /// In the kernel.
  Value left, right, columns, weightRing, outputRing;
};

} // namespace

PairGradTiles::PairGradTiles(const TileSource &source, PairwiseGradOp op,
                             const PairwiseGradPlan &plan)
    : PairKernel(source, cast<PairOpInterface>(op.getOperation())), grad(op),
      plan(plan), isByRhs(op.getBy() == PairOperand::Rhs),
      ofInner(PairProgram::getInner(this->op).getDerivative(isByRhs ? 1 : 0)),
      ofEpilogue(PairProgram::getEpilogue(this->op).getDerivative(0)) {
  if (isByRhs)
    exchangeSides();
}

/// Makes rows of all arrays columns, and columns rows.
void PairGradTiles::exchangeSides() {
  std::swap(arrays[0], arrays[1]);
  for (PairArray &array : arrays)
    for (PairAxis &axis : array.core) {
      if (axis == PairAxis::M)
        axis = PairAxis::N;
      else if (axis == PairAxis::N)
        axis = PairAxis::M;
    }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Sizes of the batch that all arrays broadcast to: what types say is 1
/// stretches.
SmallVector<Int> PairGradTiles::getBatchSizes() {
  SmallVector<Int> batch;
  for (int64_t position = getLargestBatchRank(arrays); position > 0;
       --position) {
    Int size = 1;
    for (const PairArray &array : arrays) {
      int64_t dim = array.getBatchRank() - position;
      if (dim < 0 ||
          cast<ShapedType>(array.value.getType()).getDimSize(dim) == 1)
        continue;
      size = getArraySizes(host, array.value)[dim];
      break;
    }
    batch.push_back(size);
  }
  return batch;
}

Int PairGradTiles::getSize(PairAxis axis) {
  const PairArray &side = arrays[axis == PairAxis::N ? 1 : 0];
  return getArraySizes(host, side.value)[*side.getDim(axis)];
}

/// The factor of rows (M) or columns (N).
const PairArray &PairGradTiles::getFactor(PairAxis axis) const {
  return *llvm::find_if(arrays, [&](const PairArray &array) {
    return array.getDim(axis) && array.getDim(PairAxis::C);
  });
}

void PairGradTiles::enterOperands() {
  sizes = getBatchSizes();
  sizes.push_back(getSize(PairAxis::M));
  sizes.push_back(getSize(PairAxis::K));
  lhs = enterArray(arrays[0]);
  rhs = enterArray(arrays[1]);
  for (const PairArray &array : arrays)
    if (array.getDim(PairAxis::M) && array.getDim(PairAxis::N))
      gradient = enterArray(array);
  if (grad.getLhsFactor()) {
    factors.push_back(enterArray(getFactor(PairAxis::M)));
    factors.push_back(enterArray(getFactor(PairAxis::N)));
  }
  enterParams();
  box.assign(sizes.size(), 1);
  box[box.size() - 2] = plan.getTileRows();
  box.back() = plan.getTileK();
  if (plan.outputs > 1)
    box[box.size() - 3] = plan.outputs;
  countTiles();
  divideColumns(getSize(PairAxis::N), plan.getTileColumns(), plan.splitCTAs);
  results = addWorkspace();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value PairGradTiles::buildPairs(Value place, Value block, ValueRange params) {
  auto type = tile::FragmentType::get({1, plan.rows, plan.columns}, sum,
                                      tile::AtomKind::Fma);
  auto getAlong = [&](unsigned number, unsigned side) {
    return liesAlongRows(kernel.getArgument(number),
                         side ? op.getTransRhs() : op.getTransLhs());
  };
  auto pairs = tile::PairsOp::create(
      b, loc, type, kernel.getArgument(lhs), kernel.getArgument(rhs), place,
      block, left, right, Value(), Value(), params, plan.lanes,
      llvm::APFloat(0.0), /*polynomials=*/0, ignoresZeros(op),
      getAlong(lhs, isByRhs ? 1 : 0), getAlong(rhs, isByRhs ? 0 : 1));
  buildInner(pairs.getInner(), params.size(), isByRhs);
  return pairs.getFragment();
}

/// What derivatives of `inner` of the block are multiplied by.
Value PairGradTiles::buildWeights(Value place, Value block, ValueRange params) {
  auto type = tile::FragmentType::get({1, plan.rows, plan.columns}, sum,
                                      tile::AtomKind::Fma);
  auto derive = [&](Value fragment, bool isValue) {
    return mapFragment(
        fragment, params,
        [&](OpBuilder &inside, ValueRange args, ValueRange own) {
          SmallVector<Value> all{args.front()};
          llvm::append_range(all, own);
          Value factor = ofEpilogue.emit(inside, loc, 0, all);
          if (isDoubled())
            factor = emitAdd(inside, loc, factor, factor);
          return isValue ? factor : emitMul(inside, loc, args.front(), factor);
        });
  };
  Value pairs;
  if (plan.stages)
    pairs = derive(buildPairs(place, block, params), /*isValue=*/true);
  SmallVector<Value> views;
  // What outputs have is multiplied by later.
  for (unsigned number : ArrayRef(factors).drop_back(plan.outputs > 1 ? 1 : 0))
    views.push_back(kernel.getArgument(number));
  Value weights = tile::WeighPairsOp::create(b, loc, type, pairs, place, block,
                                             kernel.getArgument(gradient),
                                             views, plan.lanes);
  bool isPlain = op.getEpilogue().empty() && !isDoubled();
  return plan.stages || isPlain ? weights : derive(weights, /*isValue=*/false);
}

Value PairGradTiles::addDerivatives(Value weights, Value sums, Value place,
                                    Value block, ValueRange params) {
  Value outputs;
  if (plan.outputs > 1)
    outputs = kernel.getArgument(factors.back());
  auto next = tile::AddDerivativesOp::create(
      b, loc, sums.getType(), weights, sums, kernel.getArgument(lhs),
      kernel.getArgument(rhs), place, block, columns, weightRing, outputs,
      outputRing, params, plan.threadsK, plan.lanes,
      liesAlongRows(kernel.getArgument(rhs),
                    isByRhs ? op.getTransLhs() : op.getTransRhs()));
  buildFunction(
      next.getDerivative(), 2, params.size(),
      [&](OpBuilder &inside, ValueRange args, ValueRange own) -> Value {
        if (isDoubled())
          return arith::SubFOp::create(inside, loc, args[0], args[1]);
        SmallVector<Value> all{args[isByRhs ? 1 : 0], args[isByRhs ? 0 : 1]};
        llvm::append_range(all, own);
        return ofInner.emit(inside, loc, 0, all);
      });
  return next.getNext();
}

void PairGradTiles::buildTile(Value tile) {
  Value place = tile::PlaceOp::create(b, loc, b.getIndexType(), tile,
                                      kernel.getArgument(results), box,
                                      /*triangle=*/false);
  SmallVector<Value> scalars = loadParams(place);
  auto type = tile::FragmentType::get(
      {plan.outputs, plan.getGradRows(), plan.positions}, sum,
      tile::AtomKind::Fma);
  auto loop = tile::ForGradientsOp::create(
      b, loc, type, kernel.getArgument(blocks), plan.getTileColumns(),
      kernel.getArgument(rhs), place);
  {
    OpBuilder::InsertionGuard guard(b);
    Block &body = loop.getRegion().emplaceBlock();
    Value block = body.addArgument(b.getIndexType(), loc);
    Value sums = body.addArgument(type, loc);
    b.setInsertionPointToStart(&body);
    Value weights = buildWeights(place, block, scalars);
    tile::YieldOp::create(b, loc,
                          addDerivatives(weights, sums, place, block, scalars));
  }
  tile::StorePairsOp::create(b, loc, loop.getSums(),
                             kernel.getArgument(results), place,
                             /*ring=*/Value(), plan.threadsK, /*sums=*/false);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Adds up what all parts, and positions of the batch that the result lacks,
/// have.
void PairGradTiles::reduceParts() {
  const PairArray &init = getInit();
  auto rank = static_cast<int64_t>(sizes.size());
  // Loops are parts, the batch, M and K.
  AffineMap all = b.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::reduction);
  SmallVector<AffineExpr> own;
  auto add = [&](int64_t loop, bool isStretched) {
    own.push_back(isStretched ? b.getAffineConstantExpr(0)
                              : b.getAffineDimExpr(loop));
    if (!isStretched)
      iterators[loop] = utils::IteratorType::parallel;
  };
  int64_t behind = rank - 2 - init.getBatchRank();
  for (int64_t dim = 0; dim < init.getBatchRank(); ++dim) {
    bool isOne = cast<ShapedType>(init.value.getType()).getDimSize(dim) == 1;
    add(1 + behind + dim, isOne && !sizes[behind + dim].is(1));
  }
  for (PairAxis axis : init.core)
    add(axis == PairAxis::K ? rank : rank - 1, false);
  // Of the accumulation type, the result itself holds what is added.
  Value sums = workspace.front();
  Value total = element == sum ? init.value : addSums();
  fill(total, 0);
  AffineMap map = AffineMap::get(rank + 1, 0, own, b.getContext());
  emitLoop(sums, total, {all, map}, iterators,
           [&](OpBuilder &inside, ValueRange args) -> Value {
             return arith::AddFOp::create(inside, loc, args[1], args[0]);
           });
  if (total != init.value)
    emitPartLoop(total, init.value, /*overParts=*/false,
                 [&](OpBuilder &inside, ValueRange args) {
                   return emitConversion(inside, loc, args[0], element);
                 });
  freeWorkspace();
}

void PairGradTiles::build() {
  enterOperands();
  begin(plan.threads, plan.ctasPerSM);
  int64_t rows = plan.getTileRows(), by = plan.getTileColumns();
  if (plan.stages) {
    left =
        allocateRing(plan.stages, rows, plan.stepK, plan.getPitch(), element);
    right = allocateRing(plan.stages, by, plan.stepK, plan.getPitch(), element);
  }
  columns = allocateRing(1, by, plan.getTileK(), plan.getTileK(), element);
  weightRing = allocateRing(1, by, rows, plan.getWeightPitch(), sum);
  if (plan.outputs > 1)
    outputRing = allocateRing(1, by, plan.outputs, plan.outputs, sum);
  finish([&](Value tile) { buildTile(tile); });
  reduceParts();
}

LogicalResult kron::tilePairwiseGrad(const TileSource &source,
                                     PairwiseGradOp op) {
  return tilePlans<PairwiseGradPlan>(
      source, op, GPUKernel::PairwiseGrad,
      [&](GPUPlanAttr attr) {
        return readPairwiseGradPlan(op, attr, source.machine);
      },
      [&](const PairwiseGradPlan &plan) {
        PairGradTiles(source, op, plan).build();
      });
}
