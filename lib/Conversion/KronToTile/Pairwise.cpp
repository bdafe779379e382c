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
#include "TileKernel.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class PairTiles {
public:
  PairTiles(const TileSource &source, PairOpInterface op,
            const PairwisePlan &plan)
      : source(source),
        kernel(source.builder, op.getLoc(), getElementType(op.getInit())),
        op(op), apply(dyn_cast<PairwiseApplyOp>(op.getOperation())), plan(plan),
        host(kernel.host), b(kernel.builder), loc(kernel.loc),
        element(host.element), sum(op.getAccumulatorType()),
        arrays(getPairArrays(op)) {}

  void build();

private:
  unsigned enterArray(const PairArray &array);
  void enterOperands();
  void enterResults();
  Value addWorkspace();
  void enterRows();
  Value allocateRing(int64_t rows);
  Value allocateProductRing(int64_t rows);
  Value allocateValueRing();
  tile::MultiplyRowsOp multiplyRows(Value place, Value block);
  SmallVector<Value> loadParams(Value place);
  Value buildPairs(Value place, Value block, Value rows, ValueRange params);
  Value mapPairs(Value pairs, ValueRange params);
  void buildInner(Region &region, size_t params);
  void buildTile(Value tile);
  void reduceParts();
  void emitLoop(ArrayRef<Value> inputs, Value output, bool overParts,
                function_ref<Value(OpBuilder &, ValueRange)> body);
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
  bool isLogSumExp() {
    return apply && getAccumulation() == PairAccumulation::LogSumExp;
  }

  const TileSource &source;
  TileKernel kernel;
  PairOpInterface op;
  /// Null for kron.pairwise.
  PairwiseApplyOp apply;
  const PairwisePlan &plan;
  Emitter &host;
  OpBuilder &b;
  Location loc;
  Type element, sum;
  SmallVector<PairArray> arrays;

  /// Sizes of the result, on the host.
  SmallVector<Int> sizes;
  Int parts = 1, tiles = 1;
  /// Memrefs of parts of sums, and numbers of their arguments, or that of the
  /// result.
  SmallVector<Value> workspace;
  SmallVector<unsigned> results;
  SmallVector<int64_t> box;
  unsigned lhs = 0, rhs = 0, values = 0, blocks = 0, tileCount = 0,
           productK = 0;
  SmallVector<unsigned> params;
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

/// Enters `array` as the batch, rows and columns: of A and B those are K.
unsigned PairTiles::enterArray(const PairArray &array) {
  StepArray found = getFusedArray(host, array.value);
  SmallVector<Int> shape = getArraySizes(host, array.value), viewSizes, strides;
  int64_t batchRank = array.getBatchRank();
  auto initBatch = ArrayRef(sizes).drop_back(2).take_back(batchRank);
  for (int64_t dim = 0; dim < batchRank; ++dim) {
    // What the type says is 1 stretches.
    bool isStretched = shape[dim].is(1) && !initBatch[dim].is(1);
    viewSizes.push_back(shape[dim]);
    strides.push_back(isStretched ? Int(0) : found.strides[dim]);
  }
  auto dims = llvm::to_vector<3>(
      llvm::seq<size_t>(batchRank, batchRank + array.core.size()));
  // K is last; M is in front of N, and N of C.
  ArrayRef<PairAxis> axes(array.core);
  if (axes.size() == 2) {
    bool isInOrder =
        axes[1] == PairAxis::K || (axes[0] != PairAxis::K && axes[0] < axes[1]);
    if (!isInOrder)
      std::swap(dims[0], dims[1]);
  }
  for (size_t dim : dims) {
    viewSizes.push_back(shape[dim]);
    strides.push_back(found.strides[dim]);
  }
  return kernel.enter(kernel.makeView(found.base, viewSizes, strides,
                                      getElementType(array.value)));
}

/// Adds an array of the results of all parts.
Value PairTiles::addWorkspace() {
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  llvm::append_range(shape,
                     cast<MemRefType>(op.getInit().getType()).getShape());
  SmallVector<Value> dynamic;
  auto toIndex = [&](Int size) -> Value {
    return arith::IndexCastOp::create(host.builder, loc,
                                      host.builder.getIndexType(),
                                      host.materialize(size, 64));
  };
  dynamic.push_back(toIndex(parts));
  for (Int size : sizes)
    if (!size.isConstant())
      dynamic.push_back(toIndex(size));
  Value array = memref::AllocOp::create(host.builder, loc,
                                        MemRefType::get(shape, sum), dynamic);
  StepArray found = getFusedArray(host, array);
  SmallVector<Int> all{parts};
  llvm::append_range(all, sizes);
  results.push_back(
      kernel.enter(kernel.makeView(found.base, all, found.strides, sum)));
  return array;
}

/// Enters where results go, and finds out how many tiles there are.
void PairTiles::enterResults() {
  box.assign(sizes.size(), 1);
  box[box.size() - 2] = plan.getTileRows();
  box.back() = apply ? plan.valueColumns : plan.getTileColumns();
  for (auto [size, extent] : llvm::zip_equal(sizes, box))
    tiles = host.mul(tiles, host.ceilDiv(size, extent));
  if (!apply) {
    const PairArray &init = *llvm::find_if(
        arrays, [](const PairArray &array) { return array.isInit; });
    results.push_back(enterArray(init));
    return;
  }
  // As many parts as there are CTAs for, and blocks of columns.
  Int columns = getArraySizes(host, op.getRhs())[op.getRowsDim(1)];
  Int all = host.ceilDiv(columns, plan.getTileColumns());
  Int wanted = host.ceilDiv(plan.splitCTAs, host.max(tiles, 1));
  Int perPart = host.ceilDiv(all, host.max(host.min(all, wanted), 1));
  parts = host.max(host.ceilDiv(all, host.max(perPart, 1)), 1);
  tiles = host.mul(tiles, parts);
  blocks = kernel.enter(host.materialize(perPart, 64));
  box.insert(box.begin(), 1);
  workspace.push_back(addWorkspace());
  if (isLogSumExp())
    workspace.push_back(addWorkspace());
}

/// Packs the rows for matrix products, those of one array with itself once.
void PairTiles::enterRows() {
  bool isSame =
      op.getLhs() == op.getRhs() && op.getTransLhs() == op.getTransRhs();
  PackedRows rows;
  for (unsigned side : {0, 1}) {
    if (side == 0 || !isSame) {
      SmallVector<int64_t> tiles{side ? plan.getTileColumns()
                                      : plan.getTileRows()};
      if (isSame)
        tiles.push_back(plan.getTileColumns());
      rows = packRows(host, op, arrays[side], plan, tiles, packed);
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
  for (Value param : op.getParams())
    params.push_back(isa<MemRefType>(param.getType())
                         ? enterArray({"", param, {}})
                         : kernel.enter(param));
  enterResults();
  tileCount = kernel.enter(host.materialize(tiles, 64));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value PairTiles::allocateRing(int64_t rows) {
  auto layout = tile::LayoutAttr::get(b.getContext(), {plan.getPitch(), 1}, {});
  auto buffer =
      tile::BufferType::get({rows, plan.getFunctionStep()}, element, layout);
  return tile::AllocOp::create(
      b, loc, tile::RingType::get(plan.getFunctionStages(), buffer));
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

SmallVector<Value> PairTiles::loadParams(Value place) {
  return llvm::map_to_vector(params, [&](unsigned number) -> Value {
    Value param = kernel.getArgument(number);
    if (!isa<tile::ViewType>(param.getType()))
      return param;
    return tile::LoadScalarOp::create(b, loc, sum, param, place);
  });
}

/// Fills `region` with a function of `count` values and the hyper-parameters.
static void
buildFunction(Region &region, Location loc, Type type, unsigned count,
              size_t params,
              function_ref<Value(OpBuilder &, ValueRange, ValueRange)> body) {
  Block &block = region.emplaceBlock();
  SmallVector<Type> types(count + params, type);
  block.addArguments(types, SmallVector<Location>(types.size(), loc));
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  ValueRange all = block.getArguments();
  Value result = body(inside, all.take_front(count), all.drop_front(count));
  tile::YieldOp::create(inside, loc, result);
}

/// Whether neighbouring rows of `view` are next to each other, and not
/// positions of K; if strides do not tell, those of what is transposed are.
static bool liesAlongRows(Value view, Transpose transpose) {
  auto type = cast<tile::ViewType>(view.getType());
  if (type.isContiguous())
    return false;
  ArrayRef<int64_t> strides = type.getStrides().take_back(2);
  if (strides[0] == 1 || strides[1] == 1)
    return strides[1] != 1;
  return transpose != Transpose::N;
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
  return tile::MultiplyRowsOp::create(
      b, loc, getFragment(plan.columns), b.getI1Type(),
      ArrayRef(rows).take_front(rows.size() / 2),
      ArrayRef(rows).take_back(rows.size() / 2), place, block, leftProducts,
      rightProducts, get(norms), get(scales), sizeK, plan.lanes,
      llvm::APFloat(double(kProductRoundings)));
}

/// Fills `region` with what is reduced along K.
void PairTiles::buildInner(Region &region, size_t params) {
  bool isSum = op.getReduction() == PairReduction::Sum;
  std::optional<PairFunction> inner = op.getInner();
  buildFunction(
      region, loc, sum, 3, params,
      [&](OpBuilder &inside, ValueRange args, ValueRange own) -> Value {
        if (isSum && inner == PairFunction::Dot)
          return math::FmaOp::create(inside, loc, args[0], args[1], args[2]);
        if (isSum && inner == PairFunction::SquareDiff) {
          Value difference =
              arith::SubFOp::create(inside, loc, args[0], args[1]);
          return math::FmaOp::create(inside, loc, difference, difference,
                                     args[2]);
        }
        Value value = emitPair(inside, loc, op, args[0], args[1], own);
        return emitReduction(inside, loc, op, args[2], value);
      });
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
  auto map = tile::MapOp::create(b, loc, pairs.getType(), pairs, params);
  buildFunction(map.getFunction(), loc, sum, 1, params.size(),
                [&](OpBuilder &inside, ValueRange args, ValueRange own) {
                  return emitPairEpilogue(inside, loc, op, args[0], own);
                });
  return map.getMapped();
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

void PairTiles::buildTile(Value tile) {
  Value place = tile::PlaceOp::create(b, loc, b.getIndexType(), tile,
                                      kernel.getArgument(results.front()), box);
  SmallVector<Value> scalars = loadParams(place);
  auto store = [&](Value fragment, unsigned number) {
    bool areSums = apply && !plan.valueProducts;
    tile::StorePairsOp::create(b, loc, fragment, kernel.getArgument(number),
                               place, plan.lanes, areSums);
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

/// A loop over `output`, and all parts of those `inputs` that have such, which
/// `body` computes an element of the output in.
void PairTiles::emitLoop(ArrayRef<Value> inputs, Value output, bool overParts,
                         function_ref<Value(OpBuilder &, ValueRange)> body) {
  int64_t rank = cast<MemRefType>(output.getType()).getRank();
  int64_t loops = rank + (overParts ? 1 : 0);
  AffineMap all = b.getMultiDimIdentityMap(loops);
  AffineMap own = overParts ? all.dropResult(0) : all;
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(cast<MemRefType>(input.getType()).getRank() == loops ? all
                                                                        : own);
  maps.push_back(own);
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  if (overParts)
    iterators.front() = utils::IteratorType::reduction;
  linalg::GenericOp::create(host.builder, loc, inputs, output, maps, iterators,
                            [&](OpBuilder &inside, Location, ValueRange args) {
                              linalg::YieldOp::create(inside, loc,
                                                      body(inside, args));
                            });
}

/// Reduces what all parts have to the result.
void PairTiles::reduceParts() {
  OpBuilder &builder = host.builder;
  Value init = op.getInit();
  auto fill = [&](Value array, double value) {
    Value start =
        arith::ConstantOp::create(builder, loc, getScalarAttr(sum, value));
    linalg::FillOp::create(builder, loc, start, array);
  };
  // Of the accumulation type, the result itself holds what is reduced.
  auto type = cast<MemRefType>(init.getType());
  auto allocate = [&] {
    SmallVector<Value> dynamic;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        dynamic.push_back(
            memref::DimOp::create(builder, loc, init, int64_t(dim)));
    Value array = memref::AllocOp::create(
        builder, loc, MemRefType::get(type.getShape(), sum), dynamic);
    workspace.push_back(array);
    return array;
  };
  bool isSum = getAccumulation() == PairAccumulation::Sum;
  bool isInPlace = element == sum && !isLogSumExp();
  Value total = isInPlace ? init : allocate();
  fill(total, isSum ? 0 : -INFINITY);
  emitLoop(workspace[0], total, /*overParts=*/true,
           [&](OpBuilder &inside, ValueRange args) -> Value {
             if (isSum)
               return arith::AddFOp::create(inside, loc, args[1], args[0]);
             return arith::MaximumFOp::create(inside, loc, args[1], args[0]);
           });
  SmallVector<Value> inputs{total};
  if (isLogSumExp()) {
    Value exponentials = allocate();
    fill(exponentials, 0);
    emitLoop(
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
    emitLoop(inputs, init, /*overParts=*/false,
             [&](OpBuilder &inside, ValueRange args) -> Value {
               Value value = args[0];
               if (isLogSumExp())
                 value = arith::AddFOp::create(
                     inside, loc, emitFiniteOrZero(inside, loc, value),
                     math::LogOp::create(inside, loc, args[1]));
               return emitConversion(inside, loc, value, element);
             });
  for (Value array : workspace)
    memref::DeallocOp::create(builder, loc, array);
}

void PairTiles::build() {
  enterOperands();
  kernel.begin(
      source.gpuModule, op->getParentOfType<func::FuncOp>().getSymName(),
      tile::KernelAttr::get(b.getContext(), plan.threads, plan.ctasPerSM));
  if (plan.products) {
    leftProducts = allocateProductRing(plan.getTileRows());
    rightProducts = allocateProductRing(plan.getTileColumns());
  }
  if (!plan.keepsRows)
    left = allocateRing(plan.getTileRows());
  right = allocateRing(plan.getTileColumns());
  if (plan.valueProducts)
    valueRing = allocateValueRing();
  kernel.forTiles(kernel.getArgument(tileCount),
                  [&](Value tile) { buildTile(tile); });
  kernel.launch(tiles);
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

/// Makes the kernel that `attr` says, and its launch where `builder` is.
static void tilePlan(const TileSource &source, PairOpInterface op,
                     const PairwisePlan &plan) {
  OpBuilder &builder = source.builder;
  // What is packed of B is less the first row of A. Without that there is
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
  OpBuilder &builder = source.builder;
  OpBuilder::InsertionGuard guard(builder);
  Emitter host(builder, op.getLoc(), getElementType(op.getInit()));
  Int sizeK = getArraySizes(host, op.getLhs())[op.getReducedDim(0)];
  SmallVector<GPUPlanAttr> plans = getCompletePlans(op);
  for (GPUPlanAttr attr : plans) {
    FailureOr<PairwisePlan> read = takePlan(
        op, GPUKernel::Pairwise, readPairwisePlan(op, attr, source.machine),
        getNoReason<PairwisePlan>);
    if (failed(read))
      return failure();
    const PairwisePlan &plan = *read;
    Value fits;
    if (sizeK.isConstant()) {
      int64_t size = sizeK.getConstant();
      if (size < plan.minK || (plan.maxK && size > plan.maxK))
        continue;
    } else {
      if (plan.minK)
        fits = host.less(plan.minK - 1, sizeK);
      if (plan.maxK) {
        Value isShort = host.less(sizeK, plan.maxK + 1);
        fits = fits ? arith::AndIOp::create(builder, op.getLoc(), fits, isShort)
                    : isShort;
      }
    }
    if (!fits) {
      tilePlan(source, op, plan);
      return success();
    }
    auto branch = scf::IfOp::create(builder, op.getLoc(), fits,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    tilePlan(source, op, plan);
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  if (plans.empty())
    return failure();
  return op->emitOpError("has no plan that requires nothing of what is known "
                         "at launch only: ")
         << plans.back();
}
