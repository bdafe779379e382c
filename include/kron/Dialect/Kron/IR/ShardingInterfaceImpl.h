//===- ShardingInterfaceImpl.h - Sharding of kron operations ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Lets upstream's partitioner (the shard dialect's --sharding-propagation and
// --shard-partition) understand kron operations: which dimensions of operands
// and results are shared out together, and where partial sums have to be added.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_SHARDINGINTERFACEIMPL_H
#define KRON_DIALECT_KRON_IR_SHARDINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace kron {

/// Attaches ShardingInterface to kron.mkm, kron.kmm, kron.batched, kron.ksmm
/// and kron.mode_product. An axis that is the product of several factors' sizes
/// is shared out along the first of these, if its blocks are whole.
void registerShardingInterfaceExternalModels(DialectRegistry &registry);

} // namespace kron
} // namespace mlir

#endif // KRON_DIALECT_KRON_IR_SHARDINGINTERFACEIMPL_H
