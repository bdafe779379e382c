//===- ForBoxes.cpp - tile.for_boxes --------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Vectors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Finds the tiles of operations in the loop, in front of it.
static void placeTiles(Lowering &lowering, ForBoxesOp op) {
  auto place = [&](Operation *user, Value view, Value tile,
                   ArrayRef<int64_t> sizes) {
    if (view)
      lowering.tiles[{user, view}] =
          lowering.placeTile(view, lowering.numbers.at(tile), sizes);
  };
  op.walk([&](LoadOp load) {
    if (load.getTile())
      place(load, load.getSource(), load.getTile(), *load.getBox());
  });
  op.walk([&](StoreOp store) {
    if (!store.getBox())
      return;
    for (Value array : {Value(store.getView()), Value(store.getAddend()),
                        Value(store.getBias()), Value(store.getResidual())})
      place(store, array, store.getTile(), *store.getBox());
  });
}

/// The tile that a tile.load or tile.store of boxes of a view is of, and the
/// axes that its boxes are along.
static Value getTile(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getTile();
  return cast<StoreOp>(op).getTile();
}
static ArrayRef<int64_t> getAlong(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getAlong();
  return *cast<StoreOp>(op).getAlong();
}

/// Finds out which boxes of a turn are inside of the views that they are loaded
/// from or stored to, once for all views and tiles of the same sizes.
static void placeBoxes(Lowering &lowering, ForBoxesOp op) {
  SmallVector<std::pair<Operation *, Value>> placed;
  auto isSame = [&](Operation *user, Value view, Operation *other,
                    Value otherView) {
    auto areSame = [](Int lhs, Int rhs) {
      return lhs.isConstant()
                 ? rhs.is(lhs.getConstant())
                 : !rhs.isConstant() && lhs.getValue() == rhs.getValue();
    };
    return getTile(user) == getTile(other) &&
           getAlong(user) == getAlong(other) &&
           lowering.tiles.at({user, view}).sizes ==
               lowering.tiles.at({other, otherView}).sizes &&
           llvm::equal(lowering.views.at(view).sizes,
                       lowering.views.at(otherView).sizes, areSame);
  };
  auto place = [&](Operation *user, Value view) {
    LoweredTurn &turn = lowering.turns[op.getBoxes()];
    auto *same = llvm::find_if(placed, [&](auto &other) {
      return isSame(user, view, other.first, other.second);
    });
    if (same != placed.end()) {
      SmallVector<Value> found = turn.inside.at(same->first);
      turn.inside[user] = found;
      return;
    }
    placed.emplace_back(user, view);
    const LoweredTile &tile = lowering.tiles.at({user, view});
    lowering.placeBoxes(op.getBoxes(), tile.sizes, getAlong(user));
    KernelBuilder &k = lowering.k;
    SmallVector<Value> &inside = turn.inside[user];
    for (const BoxPosition &box : turn.positions) {
      Positions positions(box.base);
      for (auto [position, more] : llvm::zip_equal(positions, box.more))
        position = k.add(position, more);
      // Which neighbours exist is found where they are stored.
      if (op.getVectors())
        positions[*op.getAxisAcross()] = 0;
      inside.push_back(lowering.isInside(view, tile, positions));
    }
  };
  for (Operation &user : *op.getBody()) {
    if (auto load = dyn_cast<LoadOp>(user); load && load.getTile())
      place(load, load.getSource());
    if (auto store = dyn_cast<StoreOp>(user); store && store.getBox())
      place(store, store.getView());
  }
}

/// A turn of part `part` of fibres `first`, `first + step`, ..., if it `exists`
/// (null: it does). Those across an axis have the number of the first one.
static void lowerParts(Lowering &lowering, ForBoxesOp op, Int first, Int part,
                       int64_t step, Value exists) {
  KernelBuilder &k = lowering.k;
  int64_t count = op.getCount();
  LoweredTurn &turn = lowering.turns[op.getBoxes()];
  turn = LoweredTurn();
  turn.part = part;
  for (int64_t box = 0; box < int64_t(op.getTogether()); ++box) {
    Int number = op.getAxisAcross() ? first : k.add(first, box * step);
    bool mayMiss = !op.getAxisAcross() && (box + 1) * step > count;
    Value valid = mayMiss ? k.lessOrNull(number, count) : Value();
    turn.valid.push_back(k.both(exists, valid));
    turn.numbers.push_back(mayMiss ? k.min(number, count - 1) : number);
  }
  placeBoxes(lowering, op);
  lowering.lower(*op.getBody());
}

/// Turns of parts of neighbouring fibres: a thread has all parts that lie
/// alike, one after the other, whose data are the same.
static void lowerTurnsOfVectors(Lowering &lowering, ForBoxesOp op) {
  KernelBuilder &k = lowering.k;
  int64_t parts = op.getParts() / op.getVectors();
  forItems(k, lowering.threads, k.threadId(), countVectorTurns(op), 1,
           [&](ArrayRef<Int> items, ArrayRef<Value> exist) {
             k.ifThen(exist.front(), [&] {
               k.rolledLoop(0, parts, 1, [&](Int part) {
                 lowerParts(lowering, op, items.front(), part, /*step=*/0,
                            nullptr);
               });
             });
           });
}

/// Turns of parts of fibres, which lanes of a warp may share.
static void lowerTurnsOfParts(Lowering &lowering, ForBoxesOp op) {
  KernelBuilder &k = lowering.k;
  int64_t groups = llvm::divideCeil(op.getCount(), op.getTogether());
  int64_t lanes = op.getLanes(), apart = 32 / lanes;
  Int thread = k.threadId();
  Value isFirst;
  if (lanes > 1) {
    thread = k.add(k.mul(k.floorDiv(thread, 32), apart), k.rem(thread, apart));
    isFirst = k.less(k.laneId(), apart);
  }
  forItems(k, lowering.threads / lanes, thread, groups * op.getParts(), 1,
           [&](ArrayRef<Int> items, ArrayRef<Value> exist) {
             Int first = items.front(), part = 0;
             if (op.getParts() > 1) {
               part = k.floorDiv(first, groups);
               first = k.rem(first, groups);
             }
             // What lanes exchange, all of them have to.
             if (lanes > 1)
               return lowerParts(lowering, op, first, part, groups,
                                 k.both(exist.front(), isFirst));
             k.ifThen(exist.front(), [&] {
               lowerParts(lowering, op, first, part, groups, nullptr);
             });
           });
}

void tile::lower(Lowering &lowering, ForBoxesOp op) {
  KernelBuilder &k = lowering.k;
  int64_t count = op.getCount(), together = op.getTogether();
  int64_t threads = lowering.threads;
  placeTiles(lowering, op);
  auto lowerTurn = [&](ArrayRef<Int> numbers, ArrayRef<Value> valid) {
    LoweredTurn &turn = lowering.turns[op.getBoxes()];
    turn = LoweredTurn();
    turn.numbers.assign(numbers.begin(), numbers.end());
    turn.valid.assign(valid.begin(), valid.end());
    placeBoxes(lowering, op);
    lowering.lower(*op.getBody());
  };
  if (op.getWarps()) {
    int64_t turns = count / (int64_t(op.getWarps()) * together);
    for (int64_t number = 0; number < turns; ++number) {
      LoweredTurn &turn = lowering.turns[op.getBoxes()];
      turn.first = number * together;
      turn.isLast = number + 1 == turns;
      lowering.lower(*op.getBody());
    }
    return;
  }
  if (op.getVectors())
    return lowerTurnsOfVectors(lowering, op);
  if (op.getParts())
    return lowerTurnsOfParts(lowering, op);
  if (op.getRepeat()) {
    forItems(k, threads, k.threadId(), count, together,
             [&](ArrayRef<Int> numbers, ArrayRef<Value> valid) {
               k.ifThen(valid.front(), [&] { lowerTurn(numbers, valid); });
             });
    return;
  }
  auto lowerBody = [&](Int first, int64_t number) {
    SmallVector<Int> boxes;
    for (int64_t box = 0; box < number; ++box)
      boxes.push_back(k.add(k.add(k.threadId(), first), box * threads));
    lowerTurn(boxes, SmallVector<Value>(number));
  };
  int64_t end = op.getExcess() ? llvm::alignTo(count, threads) : count;
  int64_t begin = 0, perTurn = together * threads;
  int64_t turns = end / perTurn;
  if (turns > static_cast<int64_t>(op.getUnrolled())) {
    begin = turns * perTurn;
    k.rolledLoop(0, begin, perTurn,
                 [&](Int first) { lowerBody(first, together); });
  }
  while (begin + threads <= end) {
    int64_t number = std::min(together, (end - begin) / threads);
    lowerBody(begin, number);
    begin += number * threads;
  }
  // What not all threads have.
  if (begin < end)
    k.ifThen(k.less(k.add(k.threadId(), begin), count),
             [&] { lowerBody(begin, 1); });
}
