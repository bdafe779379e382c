//===- SmallGroups.cpp - Sparse factors of small groups as tiles ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Threads, or warps, load the weights of their columns of results once, and go
// through the rows with them. What the next rows need is on its way while those
// before are multiplied. Nothing goes through shared memory.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/SmallGroupsPlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class SmallGroupsTiles : FusedTiles<SmallGroupsPlan> {
public:
  using FusedTiles::FusedTiles;
  void build();

private:
  void enterOperands();
  void buildColumns(Value columns);
  void buildTile(tile::ForOp loop, Value columns, Value weights);
  Value load(unsigned view, Value columns, Value tile,
             std::optional<int64_t> ahead);

  /// Results of a column, and columns of a row.
  int64_t getWidth() const {
    return plan.usesMma ? 8 * plan.resultTiles : plan.chunk;
  }
  int64_t getColumns() const {
    return plan.usesMma ? plan.groups * plan.getResultBlocks()
                        : plan.getChunks();
  }
  int64_t getRowsBeside() const {
    return plan.usesMma ? 1 : plan.getRowsBeside();
  }
  tile::AtomKind getAtom() const {
    return plan.usesMma ? tile::AtomKind::MmaM16N8K16 : tile::AtomKind::Fma;
  }
  tile::FragmentType getFragment(int64_t rows, int64_t sizeK, Type type) const {
    return tile::FragmentType::get({rows, sizeK, getWidth()}, type);
  }

  unsigned factor = 0;
};

} // namespace

void SmallGroupsTiles::enterOperands() {
  Emitter &host = kernel.host;
  FusedOperands all = getFusedOperands(host, fused);
  StepFactor array =
      getFusedFactor(host, fused, fused.getModeProducts().front()).array;
  Int rows = all.sizes[plan.rowAxis];
  int64_t groups = plan.groups, sizeK = plan.sizeK, sizeN = plan.sizeN;
  // All results of a group have the same input.
  arguments.input = kernel.enter(
      kernel.makeView(all.input.base, {rows, sizeK, groups, sizeN},
                      {all.input.strides[plan.rowAxis], 1, sizeK, 0}));
  arguments.init = kernel.enter(
      kernel.makeView(all.init.base, {rows, 1, groups, sizeN},
                      {all.init.strides[plan.rowAxis], 1, sizeN, 1}));
  SmallVector<Int> strides{array.strideK, array.strides[plan.groupAxis],
                           array.resultStride};
  // Where there is one position only, a stride may be any.
  if (plan.hasWeightSegments)
    strides = {1, sizeK * sizeN, sizeK};
  factor = kernel.enter(
      kernel.makeView(array.base, {sizeK, groups, sizeN}, strides));
  if (!all.alpha.isOne())
    arguments.alpha = kernel.enter(all.alpha);
  Int count = host.ceilDiv(rows, plan.getRows());
  arguments.tiles = host.mul(count, plan.getBlocks());
  arguments.tileCount = kernel.enter(host.materialize(count, 64));
}

/// Loads what `columns` need of a view, or of a tile of its rows.
Value SmallGroupsTiles::load(unsigned view, Value columns, Value tile,
                             std::optional<int64_t> ahead) {
  int64_t rows = !ahead ? 1 : plan.usesMma ? plan.getRows() : plan.rowsAtOnce;
  // A lane takes 8 bytes along K.
  int64_t elements = plan.usesMma             ? 4
                     : ahead                  ? plan.piece
                     : plan.hasWeightSegments ? plan.chunk
                                              : 1;
  return tile::LoadColumnsOp::create(
      b, loc, getFragment(rows, plan.sizeK, element), kernel.getArgument(view),
      columns, tile, ahead ? b.getI64IntegerAttr(*ahead) : IntegerAttr(),
      elements * getElementBytes(element));
}

void SmallGroupsTiles::buildTile(tile::ForOp loop, Value columns,
                                 Value weights) {
  Value next = load(arguments.input, columns, loop.getTile(), 1);
  auto type = cast<tile::FragmentType>(next.getType());
  Value sums = tile::DotOp::create(
      b, loc,
      getFragment(type.getShape().front(), 1, tile::getSumType(element)),
      loop.getCarried().front(), weights, getAtom());
  tile::StoreOp op =
      kernel.store(arguments, sums, columns, loop.getTile(), /*bytes=*/16);
  op.setAlong(ArrayRef<int64_t>{1});
  op.setRows(plan.getRows());
  loop.getBody()->getTerminator()->setOperands(next);
}

void SmallGroupsTiles::buildColumns(Value columns) {
  Value weights = load(factor, columns, Value(), std::nullopt);
  Value first = load(arguments.input, columns, Value(), 0);
  auto loop = tile::ForOp::create(
      b, loc, kernel.getArgument(arguments.tileCount), first);
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  buildTile(loop, columns, weights);
}

void SmallGroupsTiles::build() {
  enterOperands();
  begin(plan.threads);
  auto loop = tile::ForColumnsOp::create(
      b, loc, getColumns(), plan.usesMma ? plan.threads / 32 : plan.blockChunks,
      getRowsBeside(), getAtom());
  {
    OpBuilder::InsertionGuard guard(b);
    kernel.beginBody(loop);
    buildColumns(loop.getColumns());
  }
  kernel.launch(arguments.tiles);
}

LogicalResult kron::tileSmallGroups(const TileSource &source) {
  return buildTiles<SmallGroupsTiles>(
      source, readSmallGroupsPlan(source.fused, source.plan),
      getNoReason<SmallGroupsPlan>);
}
