//===- SimtAccess.cpp - What warps touch of global memory -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SimtAccess.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

static void sortByStride(SmallVector<AccessSpan> &spans) {
  llvm::sort(spans, [](const AccessSpan &lhs, const AccessSpan &rhs) {
    return lhs.stride < rhs.stride;
  });
}

double kron::countSegments(SmallVector<AccessSpan> spans, int64_t bytes,
                           int64_t unit) {
  sortByStride(spans);
  double length = 1, segments = 1;
  for (const AccessSpan &span : spans) {
    if (span.stride == 0 || span.extent <= 1)
      continue;
    if (span.stride <= length || span.stride * bytes < unit)
      length += double(span.stride) * (span.extent - 1);
    else
      segments *= span.extent;
  }
  return segments * ((length - 1) * bytes / unit + 1);
}

double kron::countParts(SmallVector<AccessSpan> spans, const AccessArray &array,
                        bool startsAnywhere) {
  double bytes = double(array.bytes);
  sortByStride(spans);
  double length = 1, segments = 1;
  bool hasGaps = false;
  for (const AccessSpan &span : spans) {
    if (span.extent <= 1)
      continue;
    if (double(span.stride) > length &&
        span.stride * array.bytes >= kSectorBytes) {
      segments *= span.extent;
      continue;
    }
    hasGaps |= double(span.stride) > length;
    length += double(span.stride) * (span.extent - 1);
  }
  double sectors = (length * bytes - 1) / kSectorBytes + 1;
  if (hasGaps)
    return segments * sectors;
  bool areWhole =
      !startsAnywhere && std::fmod(length * bytes, double(kSectorBytes)) == 0;
  for (int64_t stride : array.strides)
    areWhole &=
        double(stride) < length || stride * array.bytes % kSectorBytes == 0;
  return areWhole ? 0 : segments * std::min(sectors, 2.0);
}

bool kron::startAnywhere(double groups, int64_t fibres, int64_t parts,
                         const AccessArray &array) {
  bool isDivided = fibres > 1 || parts > 1;
  return isDivided &&
         std::fmod(groups * double(array.bytes), double(kSectorBytes)) != 0;
}

double kron::getLoadClocks(const SmallVector<AccessSpan> &spans, int64_t bytes,
                           const GPUMachine &machine) {
  double lines = countSegments(spans, bytes, kLineBytes);
  double sectors = countSegments(spans, bytes, kSectorBytes);
  return std::max({1 + getGPURates(machine).direct.lineClocks * (lines - 1),
                   1.0, GPUResources::getSharedClocks(kSectorBytes * sectors)});
}

double kron::getPartClocks(double own, double edges,
                           const GPUMachine &machine) {
  const SimtRates &rates = getGPURates(machine).simt;
  edges = std::min(edges, own);
  return edges / rates.edgePartsPerClock +
         (own - edges) / rates.joinedPartsPerClock;
}

AccessArray kron::getLikelyAccess(Value array, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> strides = getKnownStrides(array);
  ArrayRef<int64_t> shape = cast<ShapedType>(array.getType()).getShape();
  int64_t rowMajor = 1;
  for (unsigned dim = strides.size(); dim-- > 0;) {
    if (ShapedType::isDynamic(strides[dim]))
      strides[dim] = rowMajor;
    rowMajor *= ShapedType::isDynamic(shape[dim]) ? kNominalRows : shape[dim];
  }
  AccessArray access{strides, getElementBytes(getElementType(array))};
  for (auto [axis, dim] : llvm::enumerate(permutation))
    access.strides[axis] = strides[dim];
  return access;
}

SmallVector<unsigned> kron::getMemoryWalk(const AccessArray &array) {
  SmallVector<unsigned> walk;
  for (unsigned axis = array.strides.size(); axis-- > 0;)
    walk.push_back(axis);
  llvm::sort(walk, [&](unsigned lhs, unsigned rhs) {
    return std::pair(array.strides[lhs], rhs) <
           std::pair(array.strides[rhs], lhs);
  });
  return walk;
}

SmallVector<AccessSpan> kron::getLaneSpans(ArrayRef<unsigned> walk,
                                           ArrayRef<double> extents,
                                           const AccessArray &array,
                                           double lanes, double &left) {
  SmallVector<AccessSpan> spans;
  left = lanes;
  for (unsigned axis : walk) {
    double turns = std::ceil(extents[axis] / left);
    spans.push_back({extents[axis] / turns, array.strides[axis]});
    left /= std::min(extents[axis], left);
  }
  return spans;
}
