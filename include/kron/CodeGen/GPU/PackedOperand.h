//===- PackedOperand.h - Builds operand B that threads prepare --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_PACKEDOPERAND_H
#define KRON_CODEGEN_GPU_PACKEDOPERAND_H

#include "kron/CodeGen/GPU/SparseChunks.h"
#include "kron/Plan/GPU/PackedOperand.h"

namespace mlir::kron {

/// Writes `operands` of a warp for eight columns and macro step `macro` of 16
/// positions of K: `target` is where this lane's word of the first core matrix
/// of these columns is.
void writePackedOperand(KernelBuilder &kernel, const PackedOperand &packed,
                        ArrayRef<SparseOperand> operands, Value target,
                        int64_t macro);

/// Starts sums += a * b for macro step `macro`, or without `continues` sums =
/// a * b; `descriptor` is of the first core matrix of the sums' columns (see
/// getPackedDescriptor), `offset` how many bytes behind it the packed operand
/// begins. The part before has been multiplied when it returns, so that its
/// registers are free.
void multiplyPackedOperand(KernelBuilder &kernel, const PackedOperand &packed,
                           MutableArrayRef<MmaC> sums, const SparseA &a,
                           Value descriptor, int64_t offset, int64_t macro,
                           bool continues);

/// The descriptor of shared memory at `place`, but for distances.
Value getPackedDescriptor(KernelBuilder &kernel, Int place);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_PACKEDOPERAND_H
