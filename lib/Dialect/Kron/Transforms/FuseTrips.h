//===- FuseTrips.h - How many trips a chain takes ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What --kron-fuse decides by: trips that a schedule gives, those of a row that
// does not fit the CPU's caches, and the remark about those of a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_FUSETRIPS_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_FUSETRIPS_H

#include "TripPlan.h"

namespace mlir::kron {

/// The trips that the schedule of `pass` asks for, or null if they do not add
/// up to its mode products.
std::optional<TripPlan> getGivenTrips(PassOp pass, DenseI64ArrayAttr counts);

/// Cuts the chain of `pass`, on the CPU. A row that is much larger than the
/// second-level cache takes as few trips as let each one's factors work on
/// columns within it. With so few rows that threads would have nothing to do,
/// the last factor is a trip of its own: the others can be shared out along its
/// axis, itself along theirs. Where tiles of columns, or of rows that lie as
/// columns, would need more memory than twice that cache, the outermost factors
/// are a trip of their own, in place in the result.
TripPlan planCPUTrips(PassOp pass, int64_t l2Bytes, int64_t vectorBits);

/// The trips of `pass`, a single trip on the CPU, on several threads, if it has
/// so few rows that these would have nothing to do: the last factor is a trip
/// of its own, as above. With one thread they take up to 12 % longer than one
/// trip.
std::optional<TripPlan> planSharedTrips(PassOp pass);

/// Says which axes every trip applies and how much of the chip it takes.
void explainTrips(PassOp pass, const TripChain &chain, const TripPlan &plan,
                  int64_t slabBudget, const GPUMachine &machine);

/// Whether the schedule of the last mode product of `chain`, whose axes are
/// regrouped, gives its trips.
bool hasGivenTrips(ArrayRef<ModeProductOp> chain);

/// The trips of `chain`, whose axes are regrouped, if the schedule of its last
/// mode product gives them. What is left of the schedule is that of every trip.
bool takeGivenTrips(ArrayRef<ModeProductOp> chain,
                    SmallVectorImpl<ArrayRef<ModeProductOp>> &trips);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_FUSETRIPS_H
