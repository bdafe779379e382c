//===- Alloc.cpp - tile.alloc and tile.resize -----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Chunks.h"
#include "kron/CodeGen/GPU/BulkCopies.h"
#include "kron/Dialect/Tile/IR/TileSteps.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Where `type` begins in shared memory: a swizzle is of bits of addresses.
static int64_t getAlignment(BufferType type) {
  return type.getTileLayout().swizzles.empty() ? 16 : 128;
}

/// Whether warpgroups multiply rows in `op`.
static bool isByWarpgroups(Operation *op) {
  auto rows = dyn_cast<MultiplyRowsOp>(op);
  return rows && rows.getProducts().getType().getAtom() == AtomKind::WgmmaHalf;
}

/// The same of a ring: what warpgroups read of steps of a batch, or of rows, is
/// swizzled in eight lines of up to 128 bytes.
static int64_t getAlignment(Value ring, RingType type) {
  bool isSwizzled = llvm::any_of(ring.getUsers(), [](Operation *user) {
    return isa<ContractBatchOp>(user) || isByWarpgroups(user);
  });
  return isSwizzled ? 1024 : getAlignment(type.getBuffer());
}

/// Makes barriers of the slots of a ring of columns for warpgroups.
static void startSlots(Lowering &lowering, LoweredRing &ring) {
  KernelBuilder &k = lowering.k;
  ring.phases = k.allocateShared(2 * ring.stages * kPhaseBytes);
  ring.full = 0;
  k.ifThen(k.equal(k.threadId(), 0), [&] {
    for (int64_t slot = 0; slot < ring.stages; ++slot) {
      int64_t place = ring.phases + slot * kPhaseBytes;
      startPhases(k, place, 1);
      startPhases(k, place + ring.stages * kPhaseBytes, lowering.threads / 32);
    }
    fencePhases(k);
  });
}

void tile::lower(Lowering &lowering, AllocOp op) {
  if (op.getReuses()) {
    lowering.buffers[op.getMemory()] = lowering.buffers.at(op.getReuses());
    return;
  }
  if (auto type = dyn_cast<RingType>(op.getMemory().getType())) {
    // Slots of a step's ring are the same ones for each tile.
    if (getStepOf(op.getMemory())) {
      lowering.buffers[op.getMemory()] = Int(
          lowering.k.allocateShared(lowering.groups * type.getBytes(), 128));
      return;
    }
    LoweredRing ring;
    ring.slotBytes = type.getSlotBytes();
    ring.stages = type.getStages();
    ring.isShared =
        llvm::any_of(op.getMemory().getUsers(), [](Operation *user) {
          return isa<AcquireOp>(user) &&
                 isa<ForSegmentsOp>(user->getParentOp());
        });
    int64_t groups = ring.isShared ? 1 : lowering.groups;
    ring.begin = lowering.k.allocateShared(
        std::max(groups * type.getBytes(), getPassingBytes(op.getMemory())),
        getAlignment(op.getMemory(), type));
    ring.full = ring.begin;
    if (llvm::any_of(op.getMemory().getUsers(), [&](Operation *user) {
          auto rows = dyn_cast<MultiplyRowsOp>(user);
          return isByWarpgroups(user) && rows.getRight() == op.getMemory();
        }))
      startSlots(lowering, ring);
    if (type.getAlong()) {
      ring.along = *type.getAlong();
      ring.slotsPerBuffer = type.getSlotsPerBuffer();
      ring.full = 0;
    }
    lowering.rings[op.getMemory()] = ring;
    return;
  }
  int64_t bytes = cast<BufferType>(op.getMemory().getType()).getBytes();
  for (Operation *user : op.getMemory().getUsers())
    if (auto other = dyn_cast<AllocOp>(user))
      bytes = std::max(
          bytes, cast<BufferType>(other.getMemory().getType()).getBytes());
  // Each group has its own.
  int64_t first = lowering.k.allocateShared(
      lowering.groups * bytes,
      getAlignment(cast<BufferType>(op.getMemory().getType())));
  lowering.firstBuffers[op.getMemory()] = first;
  lowering.buffers[op.getMemory()] =
      lowering.k.add(lowering.k.mul(lowering.getGroup(), bytes), first);
}

void tile::lower(Lowering &lowering, ResizeOp op) {
  if (auto window = lowering.windows.find(op.getFrom());
      window != lowering.windows.end()) {
    LoweredWindow same = window->second;
    lowering.windows[op.getBuffer()] = same;
    return;
  }
  Int same = lowering.buffers.at(op.getFrom());
  lowering.buffers[op.getBuffer()] = same;
}
