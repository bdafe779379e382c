//===- Processor.cpp - Processors by name -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/Processor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::kron;
using llvm::StringRef;

/// LLVM's name of processors that it does not tell apart.
static constexpr StringRef kGeneric = "generic";

namespace {
/// One row of the table.
struct KnownProcessor {
  StringRef cpu;
  /// Caches of one core.
  int64_t l1KiB, l2KiB;
  /// Clock, copies, and units for vectors.
  ProcessorRates rates;
  /// With vectors of 256 bits and more: from how many MiB of input and result
  /// on non-temporal stores are faster, of whole tiles and of a few columns at
  /// a time; 0: never. A Cascade Lake is slower with them, unless each row of
  /// the result gets one or two cache lines at a time.
  int64_t streamMiB = 0, streamColumnsMiB = 0;
  /// Where memory takes contiguous segments of more than two cache lines
  /// faster: so many bytes of columns; where larger tiles of small rows are
  /// faster: so many bytes of these.
  int64_t columnBytes = 0, rowTileBytes = 4096;
  /// Whether products of pairs of bf16 are as fast as multiply-adds of f32.
  /// Intel's processors take four operations for one.
  bool hasFastPairs = false;
  /// Whether shuffles take nothing from multiply-adds.
  bool hasFastShuffles = false;
  /// Width of the widest vectors that are executed as a whole.
  int64_t wholeBits = 512;
};
} // namespace

// Measured: Zen 5, Zen 4 with vectors of 512 and of 256 bits, Sapphire Rapids
// and Cascade Lake, whose values processors of the same family have as well.
// Caches and units are those of data sheets, clocks round figures near theirs.
// Clock and copies of one thread were measured on a Zen 5 and a Sapphire Rapids
// (docs/notes/0153); copies of the others are guesses about these two.
// clang-format off
static constexpr KnownProcessor kTable[] = {
    // cpu, L1, L2; rates; non-temporal from, for columns; columns, rows;
    // pairs, shuffles; whole bits
    {"x86-64-v2", 32, 256, {3, 15, 1, 1, 1, 2}},
    {"x86-64-v3", 32, 512, {3, 20, 1, 1, 2, 2}},
    {"x86-64-v4", 32, 1024, {3, 20, 2, 2, 2, 2}, 0, 24},
    {"x86-64-v4-amx", 48, 2048, {2.8, 20, 2, 2, 2, 3}, 48, 8},
    {"haswell", 32, 256, {3, 15, 1, 1, 2, 2}},
    {"broadwell", 32, 256, {3, 15, 1, 1, 2, 2}},
    {"skylake", 32, 256, {3.5, 20, 1, 1, 2, 2}},
    {"skylake-avx512", 32, 1024, {2.8, 15, 2, 2, 2, 2}, 0, 24},
    {"cascadelake", 32, 1024, {2.8, 15, 2, 2, 2, 2}, 0, 24},
    {"cooperlake", 32, 1024, {2.8, 15, 2, 2, 2, 2}, 0, 24},
    {"icelake-client", 48, 512, {3.5, 20, 1, 2, 2, 2}, 0, 24},
    {"icelake-server", 48, 1280, {2.8, 20, 2, 2, 2, 2}, 0, 24},
    {"sapphirerapids", 48, 2048, {2.8, 20, 2, 2, 2, 3}, 48, 8},
    {"emeraldrapids", 48, 2048, {2.8, 20, 2, 2, 2, 3}, 48, 8},
    {"graniterapids", 48, 2048, {3, 25, 2, 2, 2, 3}, 48, 8},
    {"znver1", 32, 512, {3.2, 20, 1, 1, 1, 2}, 24, 8, 0, 4096, false, false, 128},
    {"znver2", 32, 512, {3.3, 25, 1, 1, 2, 2}, 24, 8, 0, 4096, false, false, 256},
    {"znver3", 32, 512, {3.5, 30, 1, 1, 2, 2}, 24, 8, 0, 4096, false, false, 256},
    {"znver4", 32, 1024, {3.7, 35, 1, 1, 2, 2}, 24, 8, 0, 4096, true, false, 256},
    {"znver5", 48, 1024, {3.9, 58, 2, 2, 2, 4}, 48, 16, 256, 8192, true, true},
    {"neoverse-n1", 64, 1024, {3, 20, 1, 1, 2, 2}},
    {"neoverse-v1", 64, 1024, {2.6, 25, 1, 1, 4, 3}},
    {"neoverse-v2", 64, 1024, {2.8, 30, 1, 1, 4, 3}},
    {"grace", 64, 1024, {3.1, 40, 1, 1, 4, 3}},
    {kGeneric, 32, 512, {3, 20, 1, 1, 2, 2}},
};
// clang-format on

StringRef mlir::kron::getISA(const Processor &processor) {
  if (processor.hasMatrixTiles)
    return "x86-64-v4-amx";
  if (processor.vectorBits >= 512)
    return "x86-64-v4";
  return processor.vectorBits >= 256 ? "x86-64-v3" : "x86-64-v2";
}

/// The row for a name that is not in the table.
static StringRef getSimilar(llvm::function_ref<bool(StringRef)> hasFeature) {
  if (hasFeature("avx512fp16"))
    return "sapphirerapids";
  if (hasFeature("avx512vl") && hasFeature("sse4a"))
    return hasFeature("avxvnni") ? "znver5" : "znver4";
  if (hasFeature("avx512vl"))
    return "x86-64-v4";
  if (hasFeature("avx2"))
    return "x86-64-v3";
  return hasFeature("sse4.2") ? "x86-64-v2" : kGeneric;
}

void mlir::kron::setKnownCosts(Processor &processor,
                               llvm::function_ref<bool(StringRef)> hasFeature) {
  auto find = [](StringRef cpu) {
    return llvm::find_if(
        kTable, [&](const KnownProcessor &known) { return known.cpu == cpu; });
  };
  const KnownProcessor *known = find(processor.cpu);
  processor.isKnown = known != std::end(kTable) && processor.cpu != kGeneric;
  if (known == std::end(kTable))
    known = find(getSimilar(hasFeature));
  processor.l1Bytes = known->l1KiB << 10;
  processor.l2Bytes = known->l2KiB << 10;
  processor.columnBytes = known->columnBytes;
  processor.rowTileBytes = known->rowTileBytes;
  processor.hasFastShuffles = known->hasFastShuffles;
  processor.rates = known->rates;
  processor.wholeBits = known->wholeBits;
  processor.hasPairProducts = known->hasFastPairs && hasFeature("avx512bf16");
  if (processor.vectorBits >= 256) {
    processor.streamBytes = known->streamMiB << 20;
    processor.streamColumnsBytes = known->streamColumnsMiB << 20;
  }
}
