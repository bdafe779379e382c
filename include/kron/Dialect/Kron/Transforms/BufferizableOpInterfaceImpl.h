//===- BufferizableOpInterfaceImpl.h - Bufferization of kron ops *- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define KRON_DIALECT_KRON_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::kron {

/// Lets one-shot bufferization work on the operations of the kron dialect.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
