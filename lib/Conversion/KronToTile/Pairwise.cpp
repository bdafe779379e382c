//===- Pairwise.cpp - Functions of pairs of rows as tiles -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.pairwise stores its tiles. kron.pairwise_apply multiplies them by the
// values; parts of a sum, one for each of several CTAs where there are too few
// rows for all SMs, are workspace, which linalg operations reduce, in an order
// that the plan and the sizes alone decide.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "PackedRows.h"
#include "PackedValues.h"
#include "PairKernel.h"
#include "kron/CodeGen/Triangle.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class PairTiles : PairKernel {
public:
  PairTiles(const TileSource &source, PairOpInterface op,
            const PairwisePlan &plan)
      : PairKernel(source, op),
        apply(dyn_cast<PairwiseApplyOp>(op.getOperation())), plan(plan) {}

  void build();

private:
  void enterOperands();
  void enterResults();
  void enterRows();
  Value allocateFunctionRing(int64_t rows);
  Value allocateProductRing(int64_t rows);
  Value allocateValueRing();
  tile::MultiplyRowsOp multiplyRows(Value place, Value block);
  Value buildPairs(Value place, Value block, Value rows, ValueRange params);
  Value mapPairs(Value pairs, ValueRange params);
  void buildTile(Value tile);
  void countTriangle();
  bool turnsStores();
  void reduceParts();
  tile::FragmentType getFragment(int64_t columns) const {
    auto atom = tile::AtomKind::Fma;
    if (plan.products)
      atom = plan.usesWgmma               ? tile::AtomKind::WgmmaHalf
             : !sum.isF64()               ? tile::AtomKind::MmaM16N8K16
             : source.machine.hasWideDMMA ? tile::AtomKind::MmaF64
                                          : tile::AtomKind::MmaF64Small;
    return tile::FragmentType::get({1, plan.rows, columns}, sum, atom);
  }
  PairAccumulation getAccumulation() { return apply.getAccumulation(); }
  /// Whether the matrix is of rows with themselves.
  bool hasSameRows() {
    return op.getLhs() == op.getRhs() && op.getTransLhs() == op.getTransRhs();
  }
  bool isLogSumExp() {
    return apply && getAccumulation() == PairAccumulation::LogSumExp;
  }

  /// Null for kron.pairwise.
  PairwiseApplyOp apply;
  const PairwisePlan &plan;

  /// Numbers of the arguments of sums, or that of the result.
  SmallVector<unsigned> results;
  unsigned values = 0, productK = 0;
  /// Of matrix products, of either side: parts of rows, their norms and scales;
  /// and memrefs of these.
  std::array<SmallVector<unsigned>, 2> packedParts, norms, scales;
  SmallVector<Value> packed;
  /// In the kernel.
  Value left, right, leftProducts, rightProducts, valueRing;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Enters where results go, and finds out how many tiles there are.
void PairTiles::enterResults() {
  box.assign(sizes.size(), 1);
  box[box.size() - 2] = plan.getTileRows();
  box.back() = apply ? plan.valueColumns : plan.getTileColumns();
  if (plan.isSymmetric)
    countTriangle();
  else
    countTiles();
  if (!apply) {
    results.push_back(enterArray(getInit()));
    return;
  }
  // As many parts as there are CTAs for, and blocks of columns.
  divideColumns(getArraySizes(host, op.getRhs())[op.getRowsDim(1)],
                plan.getTileColumns(), plan.splitCTAs);
  results.push_back(addWorkspace());
  if (isLogSumExp())
    results.push_back(addWorkspace());
}

/// Counts the boxes of one half of each matrix.
void PairTiles::countTriangle() {
  for (Int size : ArrayRef(sizes).drop_back(2))
    tiles = host.mul(tiles, size);
  Triangle half(host, sizes.back(), plan.getTileRows(), plan.getTileColumns());
  tiles = host.mul(tiles, half.getCount());
}

/// Packs the rows for matrix products, those of one array with itself once.
void PairTiles::enterRows() {
  Value centre = emitCentre(host, op, plan, packed);
  PackedRows rows;
  for (unsigned side : {0, 1}) {
    if (side == 0 || !hasSameRows()) {
      SmallVector<int64_t> tiles{side ? plan.getTileColumns()
                                      : plan.getTileRows()};
      if (hasSameRows())
        tiles.push_back(plan.getTileColumns());
      rows = packRows(host, op, arrays[side], centre, plan, tiles, packed);
    }
    for (const PairArray &part : rows.parts)
      packedParts[side].push_back(enterArray(part));
    if (rows.norms)
      norms[side].push_back(enterArray(*rows.norms));
    if (rows.scales)
      scales[side].push_back(enterArray(*rows.scales));
  }
}

void PairTiles::enterOperands() {
  sizes = getArraySizes(host, op.getInit());
  lhs = enterArray(arrays[0]);
  rhs = enterArray(arrays[1]);
  if (plan.products)
    enterRows();
  if (plan.usesWgmma)
    productK = kernel.enter(host.materialize(
        getArraySizes(host, op.getLhs())[op.getReducedDim(0)], 64));
  if (apply)
    values = enterArray(plan.valueProducts
                            ? packValues(host, apply, arrays[2], plan, packed)
                            : arrays[2]);
  enterParams();
  enterResults();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value PairTiles::allocateFunctionRing(int64_t rows) {
  return allocateRing(plan.getFunctionStages(), rows, plan.getFunctionStep(),
                      plan.getPitch(), element);
}

/// The same of packed rows.
Value PairTiles::allocateProductRing(int64_t rows) {
  Type packed = plan.getParts() == 2 ? Type(b.getF16Type()) : element;
  auto buffer =
      tile::BufferType::get({plan.getParts() * rows, plan.stepK}, packed);
  return tile::AllocOp::create(b, loc,
                               tile::RingType::get(plan.stages, buffer));
}

/// Values of blocks, as matrix instructions take them.
Value PairTiles::allocateValueRing() {
  auto buffer = tile::BufferType::get(
      {plan.getTileColumns() / 8, plan.getValueRow()}, sum);
  return tile::AllocOp::create(
      b, loc, tile::RingType::get(PairwisePlan::kValueStages, buffer));
}

tile::MultiplyRowsOp PairTiles::multiplyRows(Value place, Value block) {
  auto get = [&](const std::array<SmallVector<unsigned>, 2> &numbers) {
    SmallVector<Value> values;
    for (ArrayRef<unsigned> side : numbers)
      for (unsigned number : side)
        values.push_back(kernel.getArgument(number));
    return values;
  };
  SmallVector<Value> rows = get(packedParts);
  Value sizeK = plan.usesWgmma ? kernel.getArgument(productK) : Value();
  bool areSquares = !norms[0].empty();
  return tile::MultiplyRowsOp::create(
      b, loc, getFragment(plan.columns), b.getI1Type(),
      ArrayRef(rows).take_front(rows.size() / 2),
      ArrayRef(rows).take_back(rows.size() / 2), place, block, leftProducts,
      rightProducts, get(norms), get(scales), sizeK, plan.lanes,
      llvm::APFloat(double(kProductRoundings)),
      /*same_rows=*/areSquares && !block && hasSameRows());
}

/// The matrix at `place`, or its block, of `rows` if they are in registers.
Value PairTiles::buildPairs(Value place, Value block, Value rows,
                            ValueRange params) {
  llvm::APFloat start(
      cast<FloatAttr>(getReductionStart(op)).getValueAsDouble());
  bool rhsRows = liesAlongRows(kernel.getArgument(rhs), op.getTransRhs());
  if (rows) {
    auto pairs = tile::PairsOfRowsOp::create(
        b, loc, getFragment(plan.columns), rows, kernel.getArgument(rhs), place,
        block, right, params, plan.lanes, start, plan.polynomials, rhsRows);
    buildInner(pairs.getInner(), params.size());
    return mapPairs(pairs.getFragment(), params);
  }
  Value products, held;
  if (plan.products) {
    tile::MultiplyRowsOp rows = multiplyRows(place, block);
    products = rows.getProducts();
    held = rows.getHeld();
  }
  auto pairs = tile::PairsOp::create(
      b, loc, getFragment(plan.columns), kernel.getArgument(lhs),
      kernel.getArgument(rhs), place, block, left, right, products, held,
      params, plan.lanes, start, plan.polynomials, ignoresZeros(op),
      liesAlongRows(kernel.getArgument(lhs), op.getTransLhs()), rhsRows);
  buildInner(pairs.getInner(), params.size());
  return mapPairs(pairs.getFragment(), params);
}

/// The epilogue's values of `pairs`.
Value PairTiles::mapPairs(Value pairs, ValueRange params) {
  if (op.getEpilogue().empty())
    return pairs;
  return mapFragment(pairs, params,
                     [&](OpBuilder &inside, ValueRange args, ValueRange own) {
                       return emitPairEpilogue(inside, loc, op, args[0], own);
                     });
}

static tile::Accumulation getKind(PairAccumulation accumulation) {
  switch (accumulation) {
  case PairAccumulation::Sum:
    return tile::Accumulation::Sum;
  case PairAccumulation::Max:
    return tile::Accumulation::Max;
  case PairAccumulation::LogSumExp:
    return tile::Accumulation::LogSumExp;
  }
  llvm_unreachable("all accumulations are handled");
}

/// Whether the other half is stored by way of shared memory: lanes of matrix
/// instructions have elements of eight rows anyway.
bool PairTiles::turnsStores() {
  if (!plan.isSymmetric || plan.products || plan.lanes % plan.rows)
    return false;
  return tile::countTurnedColumns(cast<tile::RingType>(left.getType()),
                                  plan.getTileRows(), plan.lanes,
                                  plan.elementBytes) > 0;
}

void PairTiles::buildTile(Value tile) {
  Value place = tile::PlaceOp::create(b, loc, b.getIndexType(), tile,
                                      kernel.getArgument(results.front()), box,
                                      plan.isSymmetric);
  SmallVector<Value> scalars = loadParams(place);
  auto store = [&](Value fragment, unsigned number) {
    bool areSums = apply && !plan.valueProducts;
    tile::StorePairsOp::create(b, loc, fragment, kernel.getArgument(number),
                               place, turnsStores() ? left : Value(),
                               plan.lanes, areSums);
  };
  if (!apply)
    return store(buildPairs(place, Value(), Value(), scalars), results.front());
  Value rows;
  if (plan.keepsRows) {
    Value view = kernel.getArgument(lhs);
    int64_t sizeK = cast<tile::ViewType>(view.getType()).getShape().back();
    if (ShapedType::isDynamic(sizeK))
      sizeK = plan.maxK;
    rows = tile::KeepRowsOp::create(b, loc, getFragment(sizeK), view, place,
                                    plan.lanes);
  }
  // Matrix instructions leave a lane what it has of the matrix.
  int64_t columns = plan.valueColumns / (plan.valueProducts ? plan.lanes : 1);
  SmallVector<Type> types(results.size(), getFragment(columns));
  auto loop = tile::ForPairsOp::create(
      b, loc, types, kernel.getArgument(blocks), plan.getTileColumns(), place,
      kernel.getArgument(values), valueRing, getKind(getAccumulation()),
      plan.lanes);
  {
    OpBuilder::InsertionGuard guard(b);
    kernel.beginBody(loop);
    Value matrix = buildPairs(place, loop.getBlockNumber(), rows, scalars);
    loop.getBody()->getTerminator()->setOperands(matrix);
  }
  for (auto [fragment, number] : llvm::zip_equal(loop.getSums(), results))
    store(fragment, number);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Reduces what all parts have to the result.
void PairTiles::reduceParts() {
  // Of the accumulation type, the result itself holds what is reduced.
  Value init = op.getInit();
  bool isSum = getAccumulation() == PairAccumulation::Sum;
  bool isInPlace = element == sum && !isLogSumExp();
  Value total = isInPlace ? init : addSums();
  fill(total, isSum ? 0 : -INFINITY);
  emitPartLoop(workspace[0], total, /*overParts=*/true,
               [&](OpBuilder &inside, ValueRange args) -> Value {
                 if (isSum)
                   return arith::AddFOp::create(inside, loc, args[1], args[0]);
                 return arith::MaximumFOp::create(inside, loc, args[1],
                                                  args[0]);
               });
  SmallVector<Value> inputs{total};
  if (isLogSumExp()) {
    Value exponentials = addSums();
    fill(exponentials, 0);
    emitPartLoop(
        {workspace[0], workspace[1], total}, exponentials,
        /*overParts=*/true, [&](OpBuilder &inside, ValueRange args) -> Value {
          Value finite = emitFiniteOrZero(inside, loc, args[2]);
          Value less = arith::SubFOp::create(inside, loc, args[0], finite);
          Value scaled = arith::MulFOp::create(
              inside, loc, args[1], math::ExpOp::create(inside, loc, less));
          return arith::AddFOp::create(inside, loc, args[3], scaled);
        });
    inputs.push_back(exponentials);
  }
  if (!isInPlace)
    emitPartLoop(inputs, init, /*overParts=*/false,
                 [&](OpBuilder &inside, ValueRange args) -> Value {
                   Value value = args[0];
                   if (isLogSumExp())
                     value = arith::AddFOp::create(
                         inside, loc, emitFiniteOrZero(inside, loc, value),
                         math::LogOp::create(inside, loc, args[1]));
                   return emitConversion(inside, loc, value, element);
                 });
  freeWorkspace();
}

void PairTiles::build() {
  enterOperands();
  begin(plan.threads, plan.ctasPerSM);
  if (plan.products) {
    leftProducts = allocateProductRing(plan.getTileRows());
    rightProducts = allocateProductRing(plan.getTileColumns());
  }
  if (!plan.keepsRows)
    left = allocateFunctionRing(plan.getTileRows());
  right = allocateFunctionRing(plan.getTileColumns());
  if (plan.valueProducts)
    valueRing = allocateValueRing();
  finish([&](Value tile) { buildTile(tile); });
  for (Value array : packed)
    memref::DeallocOp::create(host.builder, loc, array);
  if (apply)
    reduceParts();
}

/// Whether A has rows, which only a launch may show; null if it surely has.
static Value hasRows(OpBuilder &builder, PairOpInterface op) {
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getLhs().getType());
  Value result;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    if (dim == op.getReducedDim(0) || !type.isDynamicDim(dim))
      continue;
    Value size = memref::DimOp::create(builder, loc, op.getLhs(), dim);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         size, zero);
    result = result ? Value(arith::AndIOp::create(builder, loc, result, exists))
                    : exists;
  }
  return result;
}

/// Makes the kernel that `plan` says, and its launch where `builder` is.
static void tilePlan(const TileSource &source, PairOpInterface op,
                     const PairwisePlan &plan) {
  OpBuilder &builder = source.builder;
  // What is packed of B is less the mean of rows of A. Without that there is
  // nothing to compute.
  OpBuilder::InsertionGuard guard(builder);
  if (plan.products)
    if (Value exists = hasRows(builder, op)) {
      auto branch = scf::IfOp::create(builder, op.getLoc(), exists);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
  PairTiles(source, op, plan).build();
}

LogicalResult kron::tilePairwise(const TileSource &source, PairOpInterface op) {
  if (auto grad = dyn_cast<PairwiseGradOp>(op.getOperation()))
    return tilePairwiseGrad(source, grad);
  return tilePlans<PairwisePlan>(
      source, op, GPUKernel::Pairwise,
      [&](GPUPlanAttr attr) {
        return readPairwisePlan(op, attr, source.machine);
      },
      [&](const PairwisePlan &plan) { tilePlan(source, op, plan); });
}
