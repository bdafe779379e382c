//===- ShardingInterfaceImpl.cpp - Sharding of kron operations --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// There is a loop for every dimension of the destination and for every one that
// is contracted. The axis of P1 * ... * PN elements of kron.mkm is contracted
// with the rows of F1 as long as the ranks' blocks of it are whole blocks of
// P1, and so on. Dimensions that cannot be shared out, as those of F2, have
// loops of their own, which are never sharded.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/ShardingInterfaceImpl.h"
#include "KronShapes.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::kron;

using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The loops of an operation, and those that the dimensions of its operands
/// follow. The result's are the destination's.
class ShardingLoops {
public:
  explicit ShardingLoops(ScaledOpInterface op);

  /// Whether so many ranks can share out a loop.
  bool canShard(unsigned loop, int64_t numShards) const;

  /// The indexing maps of all operands and results.
  SmallVector<AffineMap> getMaps() const;

  SmallVector<IteratorType> types;

private:
  static constexpr int64_t anyNumber = -1;

  unsigned add(IteratorType type, int64_t divisor);
  /// A loop that is never sharded.
  unsigned addWhole() { return add(IteratorType::parallel, 0); }
  void follow(unsigned operand, unsigned dim, unsigned loop) {
    followed[operand][dim] = loop;
  }
  void addProduct();
  void addModeProduct(ModeProductOp product);
  void addSparse(KsmmOp sparse);

  ScaledOpInterface op;
  /// What the number of shards of a loop has to divide: `anyNumber`, or 0 where
  /// it is 1.
  SmallVector<int64_t> divisors;
  /// Per operand and dimension.
  SmallVector<SmallVector<unsigned>> followed;
};
} // namespace

unsigned ShardingLoops::add(IteratorType type, int64_t divisor) {
  types.push_back(type);
  divisors.push_back(divisor);
  return types.size() - 1;
}

ShardingLoops::ShardingLoops(ScaledOpInterface op) : op(op) {
  int64_t rank = getRank(op.getInitValue());
  for (int64_t dim = 0; dim < rank; ++dim)
    add(IteratorType::parallel, anyNumber);
  // Addend and destination, and a bias along the features.
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    SmallVector<unsigned> &loops = followed.emplace_back();
    if (type && type.getRank() == rank)
      loops = llvm::to_vector(llvm::seq<unsigned>(0, rank));
    else if (type)
      loops.resize(type.getRank());
  }
  if (auto product = dyn_cast<ModeProductOp>(op.getOperation()))
    addModeProduct(product);
  else if (auto sparse = dyn_cast<KsmmOp>(op.getOperation()))
    addSparse(sparse);
  else
    addProduct();
}

void ShardingLoops::addProduct() {
  int64_t coreRank = getCoreRank(op);
  int64_t batchRank = getRank(op.getInitValue()) - coreRank;
  ValueRange factors = op.getFactorValues();
  // Batch dimensions are aligned at the right; those that are stretched are
  // whole.
  auto followBatch = [&](unsigned operand, int64_t ownBatchRank) {
    for (int64_t dim = 0; dim < ownBatchRank; ++dim)
      follow(operand, dim,
             getDimSize(op->getOperand(operand), dim) == 1
                 ? addWhole()
                 : batchRank - ownBatchRank + dim);
  };
  followBatch(0, getRank(op.getInputValue()) - coreRank);
  for (unsigned index = 0; index < factors.size(); ++index)
    followBatch(index + 1, getRank(factors[index]) - 2);
  for (const CoreAxis &axis : getCoreAxes(op)) {
    if (axis.numFactors == 0) {
      follow(0, axis.inputDim, axis.initDim);
      continue;
    }
    for (unsigned i = 0; i < axis.numFactors; ++i) {
      unsigned index = axis.firstFactor + i;
      auto [contracted, resulting] = getMatrixDims(op, index);
      if (i > 0) {
        follow(index + 1, contracted, addWhole());
        follow(index + 1, resulting, addWhole());
        continue;
      }
      // Blocks of a longer axis are whole blocks of the first factor's size.
      auto getDivisor = [&, index = index](unsigned dim) {
        int64_t size = getDimSize(factors[index], dim);
        if (axis.numFactors == 1)
          return anyNumber;
        return ShapedType::isDynamic(size) ? int64_t(0) : size;
      };
      unsigned loop = add(IteratorType::reduction, getDivisor(contracted));
      follow(0, axis.inputDim, loop);
      follow(index + 1, contracted, loop);
      follow(index + 1, resulting, axis.initDim);
      divisors[axis.initDim] = getDivisor(resulting);
    }
  }
}

void ShardingLoops::addModeProduct(ModeProductOp product) {
  int64_t axis = product.getAxis();
  unsigned reduction = add(IteratorType::reduction, anyNumber);
  for (int64_t dim = 0, rank = getRank(product.getInput()); dim < rank; ++dim)
    follow(0, dim,
           dim == axis                                ? reduction
           : getDimSize(product.getInput(), dim) == 1 ? addWhole()
                                                      : dim);
  for (auto [dim, role] : llvm::enumerate(product.getFactorDims())) {
    if (role == ModeProductOp::kContracted)
      follow(1, dim, reduction);
    else if (role == ModeProductOp::kResulting)
      follow(1, dim, axis);
    else
      follow(1, dim,
             getDimSize(product.getFactor(), dim) == 1 ? addWhole() : role);
  }
}

/// The features are [a, b, d] in Y and [a, c, d] in X: they are shared out
/// along a, whose blocks are independent, or if that is 1 along b and c.
void ShardingLoops::addSparse(KsmmOp sparse) {
  unsigned features = sparse.getFeatureDim(), batch = sparse.getBatchDim();
  SmallVector<int64_t, 4> pattern = sparse.getPattern();
  bool isTransposed = sparse.getTransWeights() != Transpose::N;
  unsigned resulting = isTransposed ? 2 : 1, contracted = isTransposed ? 1 : 2;
  bool isXTransposed = sparse.getTransInput() != Transpose::N;
  auto getDivisor = [](int64_t size) {
    return ShapedType::isDynamic(size) ? int64_t(0) : size;
  };
  for (unsigned dim = 0; dim < 4; ++dim)
    follow(1, dim, addWhole());
  unsigned ofX = features;
  if (pattern[0] == 1) {
    ofX = add(IteratorType::reduction, getDivisor(pattern[2]));
    follow(1, contracted, ofX);
    follow(1, resulting, features);
    divisors[features] = getDivisor(pattern[1]);
  } else {
    follow(1, 0, features);
    divisors[features] = getDivisor(pattern[0]);
  }
  follow(0, isXTransposed ? batch : features, ofX);
  follow(0, isXTransposed ? features : batch, batch);
  for (OpOperand &operand : sparse->getOpOperands())
    if (operand.get() == sparse.getBias())
      follow(operand.getOperandNumber(), 0, features);
}

SmallVector<AffineMap> ShardingLoops::getMaps() const {
  MLIRContext *context = op->getContext();
  SmallVector<AffineMap> maps;
  for (ArrayRef<unsigned> loops : followed) {
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : loops)
      exprs.push_back(getAffineDimExpr(loop, context));
    maps.push_back(AffineMap::get(types.size(), 0, exprs, context));
  }
  // The destination is the last operand.
  maps.append(op->getNumResults(), maps.back());
  return maps;
}

bool ShardingLoops::canShard(unsigned loop, int64_t numShards) const {
  int64_t divisor = divisors[loop];
  if (divisor == anyNumber || numShards == 1)
    return true;
  return divisor > 0 && numShards > 0 && divisor % numShards == 0;
}

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

/// Grid axes per loop; an error if operands disagree.
static FailureOr<shard::ShardingArray>
getLoopAxes(ScaledOpInterface op, const ShardingLoops &loops,
            ArrayRef<shard::Sharding> shardings) {
  shard::ShardingArray axes(loops.types.size());
  SmallVector<bool> isKnown(loops.types.size(), false);
  for (auto [map, sharding] : llvm::zip_equal(loops.getMaps(), shardings)) {
    if (!sharding)
      continue;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      ArrayRef<shard::GridAxesAttr> split = sharding.getSplitAxes();
      ArrayRef<shard::GridAxis> own;
      if (dim < split.size())
        own = split[dim].asArrayRef();
      if (isKnown[loop] && ArrayRef(axes[loop]) != own)
        return op->emitOpError(
            "expects shardings of its operands and results that agree; "
            "--sharding-propagation completes them");
      axes[loop].assign(own.begin(), own.end());
      isKnown[loop] = true;
    }
  }
  return axes;
}

/// Whether the sum of the results of parts of the contraction is the result.
static bool isSumOfParts(ScaledOpInterface op) {
  auto sparse = dyn_cast<KsmmOp>(op.getOperation());
  TypedAttr beta = op.getStaticBetaAttr();
  return !op.getBetaValue() && (!beta || isZeroConstant(beta)) &&
         !(sparse && sparse.hasEpilogue());
}

static LogicalResult
partitionOp(ScaledOpInterface op, ArrayRef<Value> partitionedOperands,
            ArrayRef<shard::Sharding> operandShardings,
            ArrayRef<shard::Sharding> resultShardings, IRMapping &partitionMap,
            SymbolTableCollection &symbolTable, OpBuilder &builder) {
  const shard::Sharding &resultSharding = resultShardings.front();
  shard::GridOp grid =
      shard::getGridOrNull(op, resultSharding.getGridAttr(), symbolTable);
  if (!grid)
    return op->emitOpError("expects a result with a sharding; "
                           "--sharding-propagation completes them");
  ShardingLoops loops(op);
  std::vector<shard::Sharding> shardings = operandShardings.vec();
  shardings.insert(shardings.end(), resultShardings.begin(),
                   resultShardings.end());
  FailureOr<shard::ShardingArray> axes = getLoopAxes(op, loops, shardings);
  if (failed(axes))
    return failure();
  SmallVector<shard::GridAxis> summed;
  for (auto [loop, loopAxes] : llvm::enumerate(*axes)) {
    int64_t numShards =
        shard::collectiveProcessGroupSize(loopAxes, grid.getShape());
    if (!loops.canShard(loop, numShards))
      return op->emitOpError(
          "expects a number of shards that divides the size "
          "of the factor that a sharded dimension goes with");
    if (loops.types[loop] == IteratorType::reduction)
      summed.append(loopAxes.begin(), loopAxes.end());
  }
  if (!summed.empty() && !isSumOfParts(op))
    return op->emitOpError("expects beta to be 0, and no epilogue, where a "
                           "contracted dimension is sharded");

  Type type =
      shard::shardType(op->getResult(0).getType(), grid, resultSharding);
  Operation *part = clone(builder, op, type, partitionedOperands);
  Value result = part->getResult(0);
  if (!summed.empty())
    result = shard::AllReduceOp::create(builder, op.getLoc(), result,
                                        resultSharding.getGrid(), summed,
                                        shard::ReductionKind::Sum);
  partitionMap.map(op->getResult(0), result);
  return success();
}

/// Takes the axes of loops away that cannot be sharded like that: what is
/// annotated so is gathered then.
static void dropImpossible(ScaledOpInterface op,
                           shard::ShardingOption &option) {
  if (option.empty || !option.grid)
    return;
  ShardingLoops loops(op);
  SymbolTableCollection symbolTable;
  shard::GridOp grid = shard::getGridOrNull(op, option.grid, symbolTable);
  for (auto [loop, axes] : llvm::enumerate(option.shardingArray))
    if (grid && !loops.canShard(loop, shard::collectiveProcessGroupSize(
                                          ArrayRef(axes), grid.getShape())))
      axes.clear();
}

//===----------------------------------------------------------------------===//
// External models
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct KronShardingModel
    : shard::ShardingInterface::ExternalModel<KronShardingModel<OpTy>, OpTy> {
  SmallVector<IteratorType> getLoopIteratorTypes(Operation *op) const {
    return ShardingLoops(cast<OpTy>(op)).types;
  }

  SmallVector<shard::ReductionKind>
  getReductionLoopIteratorKinds(Operation *op) const {
    return SmallVector<shard::ReductionKind>(
        llvm::count(getLoopIteratorTypes(op), IteratorType::reduction),
        shard::ReductionKind::Sum);
  }

  SmallVector<AffineMap> getIndexingMaps(Operation *op) const {
    return ShardingLoops(cast<OpTy>(op)).getMaps();
  }

  FailureOr<shard::ShardingOption>
  getShardingOption(Operation *op, ArrayRef<shard::Sharding> operandShardings,
                    ArrayRef<shard::Sharding> resultShardings) const {
    FailureOr<shard::ShardingOption> option =
        shard::detail::defaultGetShardingOption(op, operandShardings,
                                                resultShardings);
    if (succeeded(option))
      dropImpossible(cast<OpTy>(op), *option);
    return option;
  }

  LogicalResult partition(Operation *op, ArrayRef<Value> partitionedOperands,
                          ArrayRef<shard::Sharding> operandShardings,
                          ArrayRef<shard::Sharding> resultShardings,
                          IRMapping &partitionMap,
                          SymbolTableCollection &symbolTable,
                          OpBuilder &builder) const {
    return partitionOp(cast<OpTy>(op), partitionedOperands, operandShardings,
                       resultShardings, partitionMap, symbolTable, builder);
  }
};
} // namespace

void kron::registerShardingInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KronDialect *,
                            shard::ShardDialect *) {
    MkmOp::attachInterface<KronShardingModel<MkmOp>>(*context);
    KmmOp::attachInterface<KronShardingModel<KmmOp>>(*context);
    BatchedOp::attachInterface<KronShardingModel<BatchedOp>>(*context);
    KsmmOp::attachInterface<KronShardingModel<KsmmOp>>(*context);
    ModeProductOp::attachInterface<KronShardingModel<ModeProductOp>>(*context);
  });
}
