//===- Processor.h - What kron knows about a processor ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The description of a CPU that plans are made for: its instruction set, and
// what one table says of processors by the names that LLVM gives them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_PROCESSOR_H
#define KRON_MACHINE_PROCESSOR_H

#include "kron/Runtime/Runtime.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::kron {

/// What one core does at most; estimates are counted from it, for one thread.
struct ProcessorRates {
  double gigahertz = 3;
  /// 10^9 bytes per second that a copy in memory reads and writes.
  double copyGigabytes = 20;
  /// Multiply-adds of vectors of 512 bits, and loads of them, in a cycle; the
  /// same of narrower vectors.
  double wideFmas = 2, wideLoads = 2, vectorFmas = 2, vectorLoads = 2;
  /// Bytes that a copy within the second-level cache reads and writes in a
  /// cycle.
  double l2BytesPerCycle = 32;
  /// Whether some of these were measured on this machine (Calibration.h).
  bool areCalibrated = false;
};

/// One processor to compile for.
struct Processor {
  /// LLVM's name and extra features ("+avx512f,..."), e.g. of the host.
  std::string cpu;
  std::string features;
  /// Width of its vector registers.
  int64_t vectorBits;
  /// What the runtime checks before it runs this version.
  KronIsa isa;
  /// Width of the widest vectors that it executes as a whole: wider ones take
  /// two turns.
  int64_t wholeBits = 512;
  /// Caches of one core, which tiles are cut for.
  int64_t l1Bytes = 32768;
  int64_t l2Bytes = 1048576;
  /// Bytes of input and result from which non-temporal stores pay; 0: never.
  int64_t streamBytes = 0;
  /// The same for results that are stored a few columns at a time.
  int64_t streamColumnsBytes = 0;
  /// Bytes of every row that tiles of columns take while the second-level cache
  /// holds them; 0: two vectors.
  int64_t columnBytes = 0;
  /// Bytes of a tile of small rows.
  int64_t rowTileBytes = 4096;
  /// Whether it has matrix tiles for bf16 (AMX) that this kernel may use.
  bool hasMatrixTiles = false;
  /// Whether it adds up products of pairs of bf16 (AVX512-BF16) as fast as it
  /// multiplies and adds f32 values.
  bool hasPairProducts = false;
  /// Whether it adds them up at all.
  bool mayPairProducts = false;
  /// Whether it shuffles within 128 bits while it multiplies and adds, two of
  /// 512 bits a cycle each.
  bool hasFastShuffles = false;
  ProcessorRates rates = {};
  /// Whether the table has this very processor, and not another one with the
  /// same features for it.
  bool isKnown = false;
  /// What it runs, as LLVM writes it ("aarch64-unknown-linux-gnu"); empty: the
  /// same as this machine.
  std::string triple = {};
  /// Whether KRON_ISA keeps kernels from some of this machine's vectors, so
  /// that rates of arithmetic that were measured without it are not its own.
  bool isLimited = false;
};

/// The instruction set that kernels for `processor` are of, as the runtime
/// names those of x86 ("x86-64-v3").
llvm::StringRef getISA(const Processor &processor);

/// Sets what the table has for `processor.cpu`. A name that is not in the table
/// gets what the known processor with the most of its features has:
/// `hasFeature` says whether it has one of LLVM's features ("avx512f").
/// Instruction set and width of vectors are the caller's and have to be set
/// before.
void setKnownCosts(Processor &processor,
                   llvm::function_ref<bool(llvm::StringRef)> hasFeature);

} // namespace mlir::kron

#endif // KRON_MACHINE_PROCESSOR_H
