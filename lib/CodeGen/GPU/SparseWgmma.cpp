//===- SparseWgmma.cpp - Sparse kernels by warpgroups ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Chunks of the data become operand A as in other sparse kernels. Operand B is
// read from shared memory by the matrix unit itself, for four warps at once: so
// values of the factor are split once per K step, not by every warp. They are
// written as a PackedOperand for each product t. Sums lie in registers as after
// mma.sync.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/PackedOperand.h"
#include "kron/CodeGen/GPU/SparseCopies.h"
#include "kron/CodeGen/GPU/SparseProducts.h"
#include "kron/CodeGen/GPU/WgmmaSums.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// The factor
//===----------------------------------------------------------------------===//

/// The chunks of a macro step of result `row` whose packed operand, at `from`,
/// has results side by side.
SparseChunks SparseProducts::loadExchanged(Int from, Int row, int64_t macro) {
  SparseChunks result{{}, plan.chunkK, plan.lanesPerChunk};
  Type f32 = k.builder.getF32Type();
  int64_t count = plan.getMacroK() / (4 * plan.chunkK);
  for (int64_t index = 0; index < count; ++index) {
    auto &chunk = result.chunks.emplace_back();
    for (int64_t element = 0; element < plan.chunkK; ++element) {
      Int positionK = k.add(k.mul(thread.quad, plan.chunkK),
                            (macro * count + index) * 4 * plan.chunkK);
      Int place =
          getSparsePlaceAlong(k, plan, positionK, row, plan.getResults());
      Value pointer =
          k.offsetBytes(k.shared(k.add(from, place)),
                        element * plan.getResults() * plan.factorBytes);
      chunk.push_back(k.load(f32, pointer));
    }
  }
  return result;
}

/// Writes macro step `macro` of a K step's factor, whose copy is at `from`, to
/// `to` as matrix instructions read it. Warps take blocks of 8 results each.
void SparseProducts::prepareMacro(Int from, Int to, int64_t macro) {
  PackedOperand packed = plan.getPackedOperand();
  int64_t tiles = plan.getResults() / 8;
  int64_t threads =
      plan.keepsFactor ? plan.getThreads() : plan.getWarpGroupThreads();
  int64_t warps = threads / 32;
  int64_t parts = plan.lanesPerChunk;
  Int warp =
      k.floorDiv(plan.keepsFactor ? k.threadId() : thread.warpGroupThread, 32);
  auto prepare = [&](Int tile) {
    Int row = k.add(
        getResultOf(thread.group, k.rem(tile, plan.resultTiles)),
        k.mul(k.floorDiv(tile, plan.resultTiles), plan.getResultsPerWarp()));
    Value rows = k.shared(
        k.add(from, k.mul(row, plan.getPackedRowBytes(/*isFactor=*/true))));
    Value parity = getParity(row, 0);
    Value target =
        k.shared(k.add(to, k.add(k.mul(tile, PackedOperand::kCoreBytes),
                                 k.mul(k.laneId(), 4))));
    for (int64_t chunk = 0; chunk < plan.laneChunks; ++chunk) {
      SparseChunks chunks =
          plan.swapsOperands
              ? loadExchanged(from, row, macro)
              : loadChunks(rows, parity, macro, chunk, 0, /*isFactor=*/true);
      for (int64_t part = 0; part < parts; ++part)
        writePackedOperand(
            k, packed, math.getOperands(chunks, 0, part),
            k.offsetBytes(target, (chunk * parts + part) * packed.getBytes()),
            macro);
    }
  };
  for (int64_t first = 0; first < tiles; first += warps) {
    Int tile = k.add(warp, first);
    k.ifThen(first + warps <= tiles ? Value() : k.less(tile, tiles),
             [&] { prepare(tile); });
  }
}

void SparseProducts::prepareFactor(Int from, Int to) {
  for (int64_t macro = 0; macro < plan.stepK / tile::kWarpgroupChunkK; ++macro)
    prepareMacro(from, to, macro);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// sums += data of the pipeline stage at `slot` times the factor that was
/// prepared at `prepared`; `release` is called when the pipeline stage has been
/// read, `finishMacro` when the products of a macro step are under way.
void SparseProducts::multiplyGroups(MutableArrayRef<MmaC> sums, Int slot,
                                    Int prepared, function_ref<void()> release,
                                    function_ref<void(int64_t)> finishMacro) {
  int64_t rowBytes = plan.getPackedRowBytes(/*isFactor=*/false);
  Int firstRow = k.mul(thread.rowWarp, plan.getRowsPerWarp());
  Value data = k.shared(k.add(slot, k.mul(firstRow, rowBytes)));
  prepared =
      k.add(prepared, k.mul(thread.resultWarp,
                            plan.resultTiles * PackedOperand::kCoreBytes));
  PackedOperand packed = plan.getPackedOperand();
  Value descriptor = getPackedDescriptor(k, prepared);
  int64_t macros = plan.stepK / tile::kWarpgroupChunkK;
  // The only pipeline stage is read at once, so that the next K step can
  // arrive.
  int64_t together = plan.stages == 1 ? plan.laneChunks : 1;
  for (int64_t macro = 0; macro < macros; ++macro)
    for (int64_t first = 0; first < plan.laneChunks; first += together) {
      SmallVector<std::array<SparseChunks, 2>> rows;
      for (int64_t chunk = first; chunk < first + together; ++chunk)
        rows.push_back({loadData(data, macro, chunk, /*half=*/0),
                        loadData(data, macro, chunk, /*half=*/1)});
      if (macro == macros - 1 && first + together == plan.laneChunks)
        release();
      for (auto [index, row] : llvm::enumerate(rows))
        for (int64_t part = 0; part < plan.lanesPerChunk; ++part) {
          int64_t chunk = first + index;
          SparseA a = math.getOperandA(row[0], row[1], /*step=*/0, part);
          MutableArrayRef<MmaC> own(&sums[getSumNumber(chunk, part, 0, 0)],
                                    plan.resultTiles);
          multiplyPackedOperand(k, packed, own, a, descriptor,
                                (chunk * plan.lanesPerChunk + part) *
                                    packed.getBytes(),
                                macro, macro > 0 || !plan.hasPartialSums);
        }
      if (first + together == plan.laneChunks)
        finishMacro(macro);
    }
  waitForSums(k, sums);
}
