//===- SimtAccess.h - What warps touch of global memory ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Memory moves sectors of 32 bytes, and a load of a warp takes as long as its
// lines of 128. How many of both lanes touch follows from the positions that
// they have along each axis, and from strides.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SIMTACCESS_H
#define KRON_LIB_MAPPING_GPU_SIMTACCESS_H

#include "kron/Machine/GPUMachine.h"
#include "mlir/IR/Value.h"

namespace mlir::kron {

/// Positions of an axis, and how many elements they are apart.
struct AccessSpan {
  double extent;
  int64_t stride;
};

/// An array as its elements lie: strides along the axes of a tile, and bytes of
/// an element.
struct AccessArray {
  SmallVector<int64_t> strides;
  int64_t bytes = 1;
};

/// Segments of `unit` bytes, aligned to as many, that elements at all positions
/// of `spans` lie in, wherever these start.
double countSegments(SmallVector<AccessSpan> spans, int64_t bytes,
                     int64_t unit);

/// Parts of sectors of `array` that a store at these positions fills: all of
/// segments with gaps, and the ends of others, unless they and all that lies
/// outside of them are whole sectors; with `startsAnywhere`, those begin within
/// sectors.
double countParts(SmallVector<AccessSpan> spans, const AccessArray &array,
                  bool startsAnywhere = false);

/// Whether lanes, which follow `groups` of fibres of a part and then those of
/// the next one, begin within sectors of `array` where a tile's rows do not:
/// `fibres` of a thread are as many groups apart.
bool startAnywhere(double groups, int64_t fibres, int64_t parts,
                   const AccessArray &array);

/// Clocks of an SM of a load of a warp at these positions: by its lines, or as
/// long as its bytes take.
double getLoadClocks(const SmallVector<AccessSpan> &spans, int64_t bytes,
                     const GPUMachine &machine);

/// Clocks of an SM for parts of sectors: `own` that its warps fill, of which
/// the rest of `edges` is what other CTAs store. Warps fill the rest of others
/// soon.
double getPartClocks(double own, double edges, const GPUMachine &machine);

/// Strides of `array` along its axes, which `permutation` puts in order if it
/// is not empty; those that are not known are taken for row-major ones.
AccessArray getLikelyAccess(Value array, ArrayRef<int64_t> permutation);

/// The axes of `array`, the innermost one in memory first. Of axes as far
/// apart, the last one comes first.
SmallVector<unsigned> getMemoryWalk(const AccessArray &array);

/// Positions of `lanes` neighbours of a tile of `extents` that is walked along
/// the axes of `walk`, the first one first; how many lanes are `left` when all
/// of it has one. Where they do not divide an extent, some have fewer.
SmallVector<AccessSpan> getLaneSpans(ArrayRef<unsigned> walk,
                                     ArrayRef<double> extents,
                                     const AccessArray &array, double lanes,
                                     double &left);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SIMTACCESS_H
