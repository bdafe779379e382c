//===- Steps.h - Parts of --kron-map-to-gpu ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_MAPTOGPU_STEPS_H
#define KRON_LIB_CONVERSION_MAPTOGPU_STEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::kron {

/// Whether `array` stays the host's: its elements are indices or truth values.
/// Bufferization of loops makes such ones, of addresses, to find out which
/// arrays to release.
bool isHostArray(Value array);

/// Erases what fills the destinations of reductions among `linalgOps`, from
/// there too; the value per reduction.
DenseMap<Operation *, Value>
foldFills(SmallVectorImpl<linalg::LinalgOp> &linalgOps);

/// Erases what puts zeros into padded arrays that operations among `linalgOps`
/// copy to, from there too; these.
DenseSet<Operation *> foldZeros(SmallVectorImpl<linalg::LinalgOp> &linalgOps);

/// Builds, before `op` (on memrefs), a kernel that computes it with one thread
/// per element of its parallel dimensions, and its launch; reductions start
/// from `start`, or from the destination if there is none. Fails, with an
/// error, if a kernel cannot do what the body does.
LogicalResult emitLinalgKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               linalg::LinalgOp op, Value start);

/// The same with a kernel of squares for `op`, if it moves elements such that
/// neighbours of the input are none of the output. Whether it does.
bool emitTransposeKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                         linalg::LinalgOp op);

/// The same with a kernel of 16 bytes at a time for `op`, if it makes a short
/// last dimension an outer one of those beside it, or the other way round, of
/// arrays that have no gaps there. Whether it does.
bool emitInterleaveKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                          linalg::LinalgOp op);

/// The operation that has put zeros into all of a padded array for `op`, which
/// copies its elements there; null if `op` is another one.
linalg::FillOp findZeros(linalg::LinalgOp op);

/// The same with a kernel of 16 bytes at a time for `op`, if it copies an array
/// to padded rows, which have zeros otherwise (`hasZeros`: nobody else writes
/// these), or from such rows. Whether it does.
bool emitPadKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                   linalg::LinalgOp op, bool hasZeros);

/// Replaces the allocation of arrays in `function` by workspace on the GPU, and
/// constant arrays by copies of them in `gpuModule`.
LogicalResult moveMemory(func::FuncOp function, gpu::GPUModuleOp gpuModule);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_MAPTOGPU_STEPS_H
