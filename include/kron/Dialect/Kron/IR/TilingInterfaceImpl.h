//===- TilingInterfaceImpl.h - Tiling of kron operations --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Lets upstream's tiling and tile-and-fuse (the transform dialect's, say) work
// on kron operations. kron's own pipeline tiles in the code generators.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_TILINGINTERFACEIMPL_H
#define KRON_DIALECT_KRON_IR_TILINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace kron {

/// Attaches TilingInterface to all computing operations. The loops of
/// kron.mode_product run over all axes of the destination, those of the named
/// operations over the batch and, for kron.mkm and kron.kmm, M.
void registerTilingInterfaceExternalModels(DialectRegistry &registry);

} // namespace kron
} // namespace mlir

#endif // KRON_DIALECT_KRON_IR_TILINGINTERFACEIMPL_H
