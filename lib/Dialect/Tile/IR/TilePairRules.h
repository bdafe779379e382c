//===- TilePairRules.h - What operations on pairs are verified by -*- C++ -*-=//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_TILE_IR_TILEPAIRRULES_H
#define KRON_LIB_DIALECT_TILE_IR_TILEPAIRRULES_H

#include "kron/Dialect/Tile/IR/TileOps.h"

namespace mlir::kron::tile {

/// The operation that says where `place` is; null, with an error, if none does.
PlaceOp getPlaceOp(Operation *op, Value place);

/// Whether `region` takes `count` values and the hyper-parameters, all of type
/// `type`, and yields one; else an error. Of which operations it is made, the
/// lowering tests: passes that know nothing of kernels may replace them.
LogicalResult verifyFunction(Operation *op, Region &region, unsigned count,
                             TypeRange params, Type type);

/// Whether `fragment` is one box of rows and columns; else an error.
LogicalResult verifyBox(Operation *op, FragmentType fragment);

/// Whether `lanes` can be next to each other, as threads have `fragment`; else
/// an error.
LogicalResult verifyLanes(Operation *op, int64_t lanes, FragmentType fragment);

/// Whether `view`, which `what` is, has two axes behind a batch that the view
/// of `place`, but for `parts` axes in front, has; else an error.
LogicalResult verifyBehindBatch(Operation *op, PlaceOp place, ViewType view,
                                StringRef what, int64_t parts);

/// Positions in front of the rows that a tile at `place` has.
int64_t getOutputs(PlaceOp place);

/// Whether the threads have `rows` x `columns` of the box of `place`, where 0
/// is any; else an error.
LogicalResult verifySizes(Operation *op, PlaceOp place, int64_t rows,
                          int64_t columns);

} // namespace mlir::kron::tile

#endif // KRON_LIB_DIALECT_TILE_IR_TILEPAIRRULES_H
