//===- SparseChoices.h - Which form a kron.ksmm has on a GPU --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_SPARSECHOICES_H
#define KRON_LIB_MAPPING_TRANSFORMS_SPARSECHOICES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUSplits.h"

namespace mlir::kron {

/// Whether a GPU's kernel reads X or weights of 8 bits of `op` itself: beside
/// f16 or others of 8 bits, whose values f16 holds.
bool hasKernelOf8(KsmmOp op, const GPUSplits &splits);

/// Whether `op` is faster with a copy of its weights as N, which are used as T.
bool needsTransposedCopy(KsmmOp op, const GPUSplits &splits);

/// Whether the products of `op` are faster if the weights of each t lie
/// together: cuBLAS takes them then, and kernels read whole sectors.
bool needsCopyByProducts(KsmmOp op, const GPUSplits &splits);

/// Whether cuBLAS is faster at products of the type of `op`.
bool isFastByCublas(KsmmOp op);

/// Whether the products of all groups of `op` are launched t by t.
bool isSlicedByT(KsmmOp op, const GPUSplits &splits);

/// Size N of a slice of `op`: all or an equal part of it, as much as wgmma
/// takes. 0 if it is not worth that.
int64_t getSliceResults(KsmmOp op, const GPUSplits &splits);

/// Rows from which on the products of `op`, with the batch first, are faster
/// side by side, copies included; 0 if they never are.
int64_t getLeastSplitRows(KsmmOp op, const GPUSplits &splits);

/// Rows of a block of `op` for that: the copies of X and Y have up to so many
/// bytes, unless that would be few rows. Equal blocks if the number of rows is
/// known.
int64_t getSplitBlock(KsmmOp op, const GPUSplits &splits);

/// Whether `op`, with the batch first, reads and writes so many single elements
/// that it is faster on transposed copies of X and Y.
bool isFasterTransposed(KsmmOp op, const GPUSplits &splits);

/// Rows of a block of `op`, on memrefs, for that.
int64_t getTransposedBlock(KsmmOp op, const GPUSplits &splits);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_SPARSECHOICES_H
