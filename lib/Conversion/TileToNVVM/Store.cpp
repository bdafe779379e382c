//===- Store.cpp - tile.store ---------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Indexed.h"
#include "kron/CodeGen/GPU/KernelEpilogue.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// A store of one tile.
class TileStore {
public:
  TileStore(Lowering &lowering, StoreOp op)
      : lowering(lowering), k(lowering.k),
        ops(k, getSumType(op.getView().getType().getElementType())), op(op),
        view(lowering.views.at(op.getView())),
        tile(lowering.numbers.at(op.getTile())), rows(op.getRows().value_or(0)),
        epilogue(k, ops) {
    alpha = getScale(lowering, op.getAlpha());
    beta = getScale(lowering, op.getBeta());
    enterEpilogue();
  }

  void storeFragment(const LoweredFragment &fragment);
  void storeElements(BufferType type);
  void storeChunks(BufferType type);
  void storeBoxes(const LoweredFragment &fragment);
  void storePairs(const LoweredFragment &fragment);
  void storeColumns(const LoweredFragment &fragment, ForColumnsOp loop);
  void storeBox(BufferType type);

private:
  void enterEpilogue();
  SmallVector<Scalar>
  finish(ArrayRef<Value> values,
         function_ref<SmallVector<Scalar>(Value array)> load);
  SmallVector<Value> getAddresses(Value array, const BoxPosition &box);
  void storeBoxPart(ArrayRef<Value> values, int64_t first, Value exists,
                    const BoxPosition &box, ArrayRef<Value> targets);
  bool areBoxesNear(ForBoxesOp loop);
  Int countResults(const LoweredTile &target);
  void storeVectors(const Boxes &boxes, const LoweredTurn &turn,
                    const LoweredTile &target, ForBoxesOp loop);
  void storeParts(const Boxes &boxes, const LoweredTurn &turn,
                  const LoweredTile &target, ForBoxesOp loop);
  void begin(ArrayRef<int64_t> row);
  SmallVector<Value> scale(ArrayRef<Value> values,
                           function_ref<SmallVector<Value>()> getAddends);
  void storeScaled(ArrayRef<Value> values, Value target,
                   function_ref<Value()> getAddend, CacheHint hint);
  void storePiece(Int index, int64_t offset, ArrayRef<Value> values);

  Lowering &lowering;
  KernelBuilder &k;
  ScalarOps ops;
  StoreOp op;
  const LoweredView &view;
  Int tile;
  int64_t rows;
  KernelScale alpha, beta;
  KernelEpilogue epilogue;

  /// Of the tile, in a view without gaps.
  Value target, addend;
  Int valid;
};

} // namespace

KernelScale tile::getScale(Lowering &lowering, Value scale) {
  KernelScale lowered;
  if (!scale)
    return lowered;
  if (isa<ComplexType>(scale.getType()))
    return lowering.scales.at(scale);
  if (scale.getType().isInteger()) {
    Int number = lowering.numbers.at(scale);
    lowered.isDynamic = !number.isConstant() || number.is(0);
    lowered.value = Scalar{
        lowering.k.materialize(number, scale.getType().getIntOrFloatBitWidth()),
        nullptr};
    return lowered;
  }
  Value value = lowering.scalars.at(scale);
  FloatAttr constant;
  bool isConstant = matchPattern(value, m_Constant(&constant));
  lowered.value = Scalar{value, nullptr};
  lowered.isDynamic = !isConstant || constant.getValue().isZero();
  return lowered;
}

void TileStore::enterEpilogue() {
  FusedEpilogue host;
  host.activation = op.getActivation();
  host.scale = op.getScaleAttr();
  for (auto [array, entered] : {std::pair(op.getBias(), &host.bias),
                                {op.getResidual(), &host.residual}})
    if (array)
      entered->base = lowering.views.at(array).array.base;
  epilogue.enter(host, op.getView().getType().getElementType());
}

/// What is stored of `values`; `load` builds the elements of an array where
/// these go.
SmallVector<Scalar>
TileStore::finish(ArrayRef<Value> values,
                  function_ref<SmallVector<Scalar>(Value array)> load) {
  SmallVector<Scalar> sums = llvm::map_to_vector(
      values, [&](Value value) { return toScalar(k, value); });
  SmallVector<Scalar> results =
      ops.scaledSums(alpha, beta, sums, [&] { return load(op.getAddend()); });
  SmallVector<Scalar> biases, residuals;
  if (op.getBias())
    biases = load(op.getBias());
  if (op.getResidual())
    residuals = load(op.getResidual());
  for (auto [index, result] : llvm::enumerate(results))
    result = epilogue.apply(
        result, [&, index = index] { return biases[index]; },
        [&, index = index] { return residuals[index]; });
  return results;
}

/// `values` with alpha, beta and `getAddends`, what is added to them.
SmallVector<Value>
TileStore::scale(ArrayRef<Value> values,
                 function_ref<SmallVector<Value>()> getAddends) {
  auto getScalars = [](ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [](Value value) {
      return Scalar{value, nullptr};
    });
  };
  return llvm::map_to_vector(
      ops.scaledSums(alpha, beta, getScalars(values),
                     [&] { return getScalars(getAddends()); }),
      [](const Scalar &result) { return result.re; });
}

/// Stores neighbouring results at `target`; `getAddend` builds the address of
/// what is added to them.
void TileStore::storeScaled(ArrayRef<Value> values, Value target,
                            function_ref<Value()> getAddend, CacheHint hint) {
  int64_t count = values.size();
  Type type = count == 1 ? k.element : Type(k.getVectorType(count));
  SmallVector<Value> stored =
      scale(values, [&] { return k.unpack(k.load(type, getAddend())); });
  k.store(count == 1 ? stored.front() : k.makeVector(stored), target, hint);
}

/// Finds the tile, in views without gaps.
void TileStore::begin(ArrayRef<int64_t> row) {
  target = lowering.getTile(view, tile, rows, row);
  if (op.getAddend())
    addend =
        lowering.getTile(lowering.views.at(op.getAddend()), tile, rows, row);
  valid = lowering.getValidElements(view, tile, rows, row);
}

/// Stores neighbouring results `offset` elements behind element `index` of the
/// tile; the constant apart, so that stores share their addresses.
void TileStore::storePiece(Int index, int64_t offset, ArrayRef<Value> values) {
  auto getPointer = [&](Value base) {
    return k.offsetBytes(k.offsetPointer(base, index),
                         offset * lowering.getElementBytes());
  };
  storeScaled(
      values, getPointer(target), [&] { return getPointer(addend); },
      CacheHint::Streaming);
}

void TileStore::storeFragment(const LoweredFragment &fragment) {
  ArrayRef<int64_t> row = op.getView().getType().getShape().drop_front();
  begin(row);
  SmallVector<int64_t> sizes{rows};
  llvm::append_range(sizes, row);
  BoxPlaces places(TileLayout::get(sizes, lowering.getElementBytes(),
                                   TileLayout::getDenseStrides(sizes)),
                   *op.getAlong(), fragment.box);
  SmallVector<Int> starts;
  for (Int number : lowering.turns.at(op.getBoxes()).numbers)
    starts.push_back(places.getStart(k, number));
  int64_t limit = op.getBytes() / lowering.getElementBytes();
  fragment.forParts([&](const Boxes &boxes) {
    for (auto [start, values] : llvm::zip_equal(starts, boxes))
      // Rows are stored as a whole or not at all.
      k.ifThen(k.less(start, valid), [&, start = start, &values = values] {
        places.forPieces(
            limit, [&](int64_t number, int64_t offset, int64_t width) {
              ArrayRef<Value> piece = ArrayRef(values).slice(number, width);
              if (piece.front())
                storePiece(start, offset, piece);
            });
      });
  });
}

/// Where the elements of `box` are in `array`.
SmallVector<Value> TileStore::getAddresses(Value array,
                                           const BoxPosition &box) {
  return lowering.getAddresses(
      lowering.views.at(array), lowering.tiles.at({op, array}), box,
      *op.getAlong(), cast<FragmentType>(op.getSource().getType()).getBox());
}

/// Stores known ones of `values`, which are those of `box` from position
/// `first` on, at `targets`.
void TileStore::storeBoxPart(ArrayRef<Value> values, int64_t first,
                             Value exists, const BoxPosition &box,
                             ArrayRef<Value> targets) {
  auto getKnown = [&](ArrayRef<Value> addresses) {
    SmallVector<Value> known;
    for (auto [value, address] :
         llvm::zip_equal(values, addresses.slice(first, values.size())))
      if (value)
        known.push_back(address);
    return known;
  };
  SmallVector<Value> known;
  llvm::copy_if(values, std::back_inserter(known),
                [](Value value) { return bool(value); });
  if (known.empty())
    return;
  k.ifThen(exists, [&] {
    SmallVector<Scalar> results = finish(known, [&](Value array) {
      Type element = lowering.views.at(array).element;
      return llvm::map_to_vector(
          getKnown(getAddresses(array, box)),
          [&](Value address) { return ops.load(element, address); });
    });
    for (auto [result, address] : llvm::zip_equal(results, getKnown(targets)))
      ops.store(result, view.element, address, CacheHint::Streaming);
  });
}

/// Whether boxes of a thread are nearer to each other in memory than the
/// results of one of them.
bool TileStore::areBoxesNear(ForBoxesOp loop) {
  unsigned along = op.getAlong()->front();
  unsigned next = along;
  if (std::optional<int64_t> across = loop.getAxisAcross()) {
    next = *across;
  } else {
    for (unsigned axis : getWalk(loop.getOrder(), view.sizes.size()))
      if (next == along && axis != along && (*op.getBox())[axis] > 1)
        next = axis;
  }
  Int own = view.array.strides[along], other = view.array.strides[next];
  return next != along && other.isConstant() &&
         (!own.isConstant() ||
          std::abs(other.getConstant()) < std::abs(own.getConstant()));
}

/// Results of a fibre of the tile: where tiles cut the axis, the last one may
/// have fewer.
Int TileStore::countResults(const LoweredTile &target) {
  int64_t along = op.getAlong()->front();
  Int all = target.sizes[along], size = view.sizes[along];
  if (size.isConstant() && size.getConstant() % all.getConstant() == 0)
    return all;
  return k.min(k.sub(size, target.starts[along]), all);
}

/// Stores results of neighbouring fibres together, but at the ends of rows.
void TileStore::storeVectors(const Boxes &boxes, const LoweredTurn &turn,
                             const LoweredTile &target, ForBoxesOp loop) {
  int64_t along = op.getAlong()->front(), across = *loop.getAxisAcross();
  int64_t together = boxes.size(), part = boxes.front().size();
  BoxPosition box = turn.positions.front();
  Int start = box.base[across], all = countResults(target);
  Int existing = k.min(k.sub(view.sizes[across], target.starts[across]),
                       target.sizes[across]);
  Int first = turn.getFirstResult(k, loop, part);
  int64_t step = loop.getResultStep();
  bool areWhole = all.isConstant() && all.getConstant() % (part * step) == 0;
  auto store = [&](int64_t result, bool areAll) {
    Int own = k.add(first, result * step);
    Value exists = areWhole ? Value() : k.less(own, all);
    box.base[along] = own;
    auto locate = [&](Value array) {
      return lowering.getAddresses(lowering.views.at(array),
                                   lowering.tiles.at({op, array}), box,
                                   {across}, {together});
    };
    SmallVector<Value> targets = locate(op.getView());
    auto storeSome = [&](int64_t begin, int64_t count) {
      SmallVector<Value> sums = llvm::map_to_vector(
          ArrayRef(boxes).slice(begin, count),
          [&](const SmallVector<Value> &fibre) { return fibre[result]; });
      SmallVector<Scalar> results = finish(sums, [&](Value array) {
        Type element = lowering.views.at(array).element;
        SmallVector<Value> addresses = locate(array);
        return llvm::map_to_vector(
            ArrayRef(addresses).slice(begin, count),
            [&](Value address) { return ops.load(element, address); });
      });
      ops.storeMany(results, view.element, targets[begin],
                    CacheHint::Streaming);
    };
    k.ifThen(k.both(turn.inside.at(op).front(), exists), [&] {
      if (areAll)
        return storeSome(0, together);
      for (int64_t index = 0; index < together; ++index) {
        Int position = k.add(start, index);
        k.ifThen(k.both(k.less(-1, position), k.less(position, existing)),
                 [&] { storeSome(index, 1); });
      }
    });
  };
  Value areAll =
      k.both(k.less(-1, start), k.less(k.add(start, together - 1), existing));
  k.choose(areAll, [&](bool whole) {
    for (int64_t result = 0; result < part; ++result)
      store(result, whole);
  });
}

/// Stores parts of fibres. What lies side by side follows each other: sectors
/// that several stores fill are whole before they leave the second-level cache.
/// What is added to results is loaded for all of a box together.
void TileStore::storeParts(const Boxes &boxes, const LoweredTurn &turn,
                           const LoweredTile &target, ForBoxesOp loop) {
  int64_t along = op.getAlong()->front();
  int64_t part = cast<FragmentType>(op.getSource().getType()).getBox().front();
  Int all = countResults(target), size = view.sizes[along];
  // Parts are stored whole where none ends in between.
  bool areWhole = target.sizes[along] % part == 0 && size.isConstant() &&
                  size.getConstant() % part == 0;
  SmallVector<BoxPosition> positions;
  SmallVector<SmallVector<Value>> targets;
  SmallVector<Value> exist;
  for (unsigned index = 0; index < boxes.size(); ++index) {
    positions.push_back(turn.positions[index]);
    positions.back().base[along] = k.mul(turn.part, part);
    targets.push_back(getAddresses(op.getView(), positions.back()));
    exist.push_back(k.both(turn.valid[index], turn.inside.at(op)[index]));
  }
  auto isThere = [&](int64_t result) {
    return existsInPart(k, turn, part, areWhole ? 0 : result, all);
  };
  auto store = [&](unsigned index, int64_t result, int64_t count,
                   Value exists) {
    storeBoxPart(ArrayRef(boxes[index]).slice(result, count), result, exists,
                 positions[index], targets[index]);
  };
  auto storeEach = [&] {
    int64_t together = areWhole ? part : 1;
    for (unsigned index = 0; index < boxes.size(); ++index)
      for (int64_t result = 0; result < part; result += together)
        store(index, result, together, k.both(exist[index], isThere(result)));
  };
  bool adds = op.getAddend() || op.getBias() || op.getResidual();
  if (adds || !areBoxesNear(loop))
    return storeEach();
  // One branch, or what is multiplied would go into many of them.
  Value allExist = isThere(part - 1);
  for (Value exists : exist)
    allExist = k.both(allExist, exists);
  auto storeInTurn = [&] {
    for (int64_t result = 0; result < part; ++result)
      for (unsigned index = 0; index < boxes.size(); ++index)
        store(index, result, 1, nullptr);
  };
  k.choose(allExist, storeInTurn, storeEach);
}

/// Stores boxes of threads, element by element, if they are inside of the view.
void TileStore::storeBoxes(const LoweredFragment &fragment) {
  const LoweredTile &target = lowering.tiles.at({op, op.getView()});
  LoweredTurn &turn =
      lowering.placeBoxes(op.getBoxes(), target.sizes, *op.getAlong());
  auto loop = cast<ForBoxesOp>(op.getBoxes().getParentBlock()->getParentOp());
  fragment.forParts([&](const Boxes &sums) {
    if (loop.getVectors())
      return storeVectors(sums, turn, target, loop);
    Boxes boxes = pinBoxes(k, sums);
    if (loop.getParts())
      return storeParts(boxes, turn, target, loop);
    for (unsigned index = 0; index < boxes.size(); ++index) {
      const BoxPosition &box = turn.positions[index];
      Value exists = turn.inside.at(op)[index];
      if (index)
        exists = k.both(turn.valid[index], exists);
      storeBoxPart(boxes[index], 0, exists, box,
                   getAddresses(op.getView(), box));
    }
  });
}

/// Stores the pairs that the lanes of a warp have of each box.
void TileStore::storePairs(const LoweredFragment &fragment) {
  ArrayRef<int64_t> sizes = *op.getBox();
  IndexedTile indexed(k, sizes);
  LaneBoxes lane =
      indexed.getBoxes(lowering, op.getBoxes(), op.getAlong()->front());
  auto storePair = [&](int64_t known, ArrayRef<Value> values) {
    auto getAddress = [&](Value array) {
      ArrayRef<Int> strides = lowering.views.at(array).array.strides;
      Value start = k.offsetPointer(lowering.tiles.at({op, array}).base,
                                    indexed.getOffset(lane.index, strides));
      return k.offsetPointer(start, indexed.getOffset(known, strides));
    };
    k.ifThen(indexed.isInside(view.sizes, lowering.tiles.at({op, op.getView()}),
                              lane.index, known),
             [&] {
               SmallVector<Value> stored = scale(values, [&] {
                 return k.unpack(
                     k.load(k.getVectorType(2), getAddress(op.getAddend())));
               });
               k.store(k.makeVector(stored), getAddress(op.getView()),
                       CacheHint::Streaming);
             });
  };
  fragment.forParts([&](const Boxes &boxes) {
    for (auto [known, values] : llvm::zip_equal(lane.known, boxes)) {
      storePair(known, ArrayRef(values).take_front(2));
      storePair(known + lane.second, ArrayRef(values).drop_front(2));
    }
  });
}

/// Stores columns by 16 bytes. Those of a lane of a warp alternate with those
/// of the three other lanes that have results of the row.
void TileStore::storeColumns(const LoweredFragment &fragment,
                             ForColumnsOp loop) {
  int64_t chunk = lowering.getChunk();
  auto type = cast<FragmentType>(op.getSource().getType());
  ColumnLayout layout(op.getView().getType(), type.getShape().back());
  const LoweredColumns &columns = lowering.columns.at(loop.getColumns());
  std::pair<Int, Int> start =
      getFirstResult(lowering, loop.getColumns(), layout);
  ArrayRef<Int> strides = view.array.strides;
  auto store = [&](ArrayRef<Value> sums, Int row, int64_t piece) {
    Int own = piece * chunk, offset;
    Value exists;
    if (loop.isOfWarps()) {
      Int lane = k.mul(k.bitAnd(k.laneId(), 3), chunk);
      own = k.add(start.second, k.add(lane, piece * kTilesTogether * chunk));
      exists = k.less(own, layout.sizeN);
      offset = k.add(k.mul(start.first, layout.sizeN), own);
    } else {
      offset = k.add(k.mul(columns.number, layout.width), own);
    }
    k.ifThen(k.both(exists, k.less(row, view.sizes.front())), [&] {
      Value values =
          k.makeVector(scale(sums, [] { return SmallVector<Value>(); }));
      if (getSumType(k.element) != k.element)
        values = arith::TruncFOp::create(k.builder, k.loc,
                                         k.getVectorType(chunk), values);
      Value target = k.offsetPointer(view.array.base,
                                     k.mul(k.extend(row), strides.front()));
      k.store(values, k.offsetPointer(target, offset), CacheHint::Streaming);
    });
  };
  fragment.forParts([&](const Boxes &boxes) {
    for (int64_t index = 0, count = boxes.size(); index < count; ++index) {
      Int row = columns.getRow(k, tile, count, index);
      for (int64_t first = 0, size = boxes[index].size(); first < size;
           first += chunk) {
        ArrayRef<Value> sums = ArrayRef(boxes[index]).slice(first, chunk);
        if (sums.front())
          store(sums, row, first / chunk);
      }
    }
  });
}

/// Stores what exists of a box that a buffer holds, element by element.
void TileStore::storeBox(BufferType type) {
  ArrayRef<int64_t> sizes = type.getShape();
  DenseMap<Value, LoweredTile> tiles;
  for (Value array : {Value(op.getView()), Value(op.getAddend()),
                      Value(op.getBias()), Value(op.getResidual())})
    if (array)
      tiles[array] = lowering.placeTile(array, tile, sizes);
  SmallVector<unsigned> walk = getWalk(op.getOrder(), sizes.size());
  auto store = [&](Int item, Value valid) {
    Positions positions = decodeItem(k, item, sizes, walk);
    Value value =
        k.load(k.element, lowering.getElement(op.getSource(), positions));
    Value exists =
        k.both(valid, lowering.isInside(op.getView(), tiles.at(op.getView()),
                                        positions));
    auto getPointer = [&](Value array) {
      const LoweredView &found = lowering.views.at(array);
      return found.offset(
          k, tiles.at(array).base,
          getTileOffset(k, positions, sizes, found.array.strides));
    };
    k.ifThen(exists, [&] {
      SmallVector<Scalar> result = finish(value, [&](Value array) {
        return SmallVector<Scalar>{
            ops.load(lowering.views.at(array).element, getPointer(array))};
      });
      ops.store(result.front(), view.element, getPointer(op.getView()),
                CacheHint::Streaming);
    });
  };
  forItems(k, lowering.threads, k.threadId(), llvm::product_of(sizes),
           op.getTogether(), [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
             for (auto [item, isValid] : llvm::zip_equal(items, valid))
               store(item, isValid);
           });
}

/// Stores what exists of a buffer element by element, found by strides.
void TileStore::storeElements(BufferType type) {
  ArrayRef<int64_t> row = type.getShape().drop_front();
  TileLayout layout = type.getTileLayout();
  Int buffer = lowering.buffers.at(op.getSource());
  Int existing = lowering.getValidElements(view, tile, rows, row);
  k.rolledLoop(k.threadId(), existing, lowering.threads, [&](Int index) {
    Value value = k.load(
        k.element,
        lowering.getElement(buffer, layout, lowering.getIndex(layout, index)));
    auto getPointer = [&](const LoweredView &array) {
      Int offset = lowering.getOffset(array, tile, rows, row, index);
      return k.offsetPointer(array.array.base, offset);
    };
    auto getAddend = [&] {
      return getPointer(lowering.views.at(op.getAddend()));
    };
    storeScaled(value, getPointer(view), getAddend, CacheHint::None);
  });
  k.syncWarp();
}

/// Stores a buffer by chunks of 16 bytes, the last one in part.
void TileStore::storeChunks(BufferType type) {
  ArrayRef<int64_t> row = type.getShape().drop_front();
  TileLayout layout = type.getTileLayout();
  Int buffer = lowering.buffers.at(op.getSource());
  int64_t chunk = lowering.getChunk();
  begin(row);
  auto store = [&](Int index, int64_t count) {
    Type loaded = count == 1 ? k.element : Type(k.getVectorType(count));
    Value value =
        k.load(loaded, lowering.getElement(buffer, layout,
                                           lowering.getIndex(layout, index)));
    storePiece(index, 0, k.unpack(value));
  };
  bool isRagged = llvm::product_of(row) % chunk != 0;
  lowering.forThreads(rows * llvm::product_of(row) / chunk, [&](Int number) {
    Int index = k.mul(number, chunk);
    Int last = isRagged ? k.add(index, chunk - 1) : index;
    k.ifThen(k.less(last, valid), [&] { store(index, chunk); });
    if (!isRagged)
      return;
    k.ifThen(k.less(valid, k.add(index, chunk)), [&] {
      for (int64_t lane = 0; lane < chunk - 1; ++lane) {
        Int single = k.add(index, lane);
        k.ifThen(k.less(single, valid), [&] { store(single, 1); });
      }
    });
  });
}

void tile::lower(Lowering &lowering, StoreOp op) {
  if (getBlocks(op.getBoxes()))
    return storeBlock(lowering, op);
  if (areChunkSums(op.getSource()))
    return storeChunks(lowering, op);
  if (op.getSource().getDefiningOp<ContractPiecesOp>() ||
      getFibres(op.getBoxes()))
    return storeWarpgroupSums(lowering, op);
  if (op.getSource().getDefiningOp<ContractStepOp>())
    return storeStep(lowering, op.getSource());
  if (op.getSource().getDefiningOp<ContractBatchOp>())
    return storeBatch(lowering, op);
  if (op.getSource().getDefiningOp<AddPiecesOp>())
    return storeTotals(lowering, op);
  if (op.getAxes())
    return storeBufferAlong(lowering, op);
  TileStore store(lowering, op);
  auto buffer = dyn_cast<BufferType>(op.getSource().getType());
  auto columns = getColumnsLoop(op.getBoxes());
  if (columns)
    store.storeColumns(lowering.fragments.at(op.getSource()), columns);
  else if (!op.getRows() && buffer)
    store.storeBox(buffer);
  else if (auto type = dyn_cast<FragmentType>(op.getSource().getType());
           type && type.getAtom() == AtomKind::Dmma)
    store.storePairs(lowering.fragments.at(op.getSource()));
  else if (!op.getRows())
    store.storeBoxes(lowering.fragments.at(op.getSource()));
  else if (!buffer)
    store.storeFragment(lowering.fragments.at(op.getSource()));
  else if (op.getBytes() == 16)
    store.storeChunks(buffer);
  else
    store.storeElements(buffer);
}
