//===- BulkCopies.cpp - Copies whose bytes a barrier counts ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/BulkCopies.h"

using namespace mlir;
using namespace mlir::kron;

void kron::startPhases(KernelBuilder &k, Int place, int64_t arrivals) {
  k.inlinePTX({}, "mbarrier.init.shared::cta.b64 [$0], $1;", "l,r,~{memory}",
              {k.shared(place), k.materialize(arrivals, 32)});
}

void kron::fencePhases(KernelBuilder &k) {
  k.inlinePTX({}, "fence.mbarrier_init.release.cluster;", "~{memory}", {});
}

void kron::arrive(KernelBuilder &k, Int place) {
  k.inlinePTX({}, "mbarrier.arrive.shared::cta.b64 _, [$0];", "l,~{memory}",
              {k.shared(place)});
}

void kron::arriveForBytes(KernelBuilder &k, Int place, Int bytes) {
  k.inlinePTX({}, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
              "l,r,~{memory}", {k.shared(place), k.materialize(bytes, 32)});
}

void kron::waitForPhase(KernelBuilder &k, Int place, Int parity) {
  k.inlinePTX({},
              "{\n.reg .pred p;\nwait_${:uid}:\n"
              "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
              "@!p bra wait_${:uid};\n}",
              "l,r,~{memory}", {k.shared(place), k.materialize(parity, 32)});
}

void kron::copyBulk(KernelBuilder &k, Int to, Value from, int64_t bytes,
                    Int place) {
  k.inlinePTX(
      {},
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[$0], [$1], $2, [$3];",
      "l,l,r,l,~{memory}",
      {k.shared(to), from, k.materialize(bytes, 32), k.shared(place)});
}
