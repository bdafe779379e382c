//===- StepFibre.cpp - Lanes over q -----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "StepEmitter.h"
#include "kron/Machine/CPUForms.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether rows of X are copied before all panels of the factor are taken
/// through them: registers that lie apart in a row would share few sets of the
/// first-level cache, with those of the other rows.
bool StepEmitter::copiesRows(const LoopAxis &rows) const {
  if (!hasPanels || step.elementParts != 1 || nest.inner.empty() ||
      !nest.inner.back().size.is(getMaxLanes(step)))
    return false;
  return !step.source.strides[step.axis].is(getMaxLanes(step)) &&
         !rows.source.is(0);
}

/// Copies `count` rows of X to [row, p, lanes], and prefetches those `ahead`
/// rows further on.
void StepEmitter::emitRowCopy(const LoopAxis &rows, Int count, int64_t ahead,
                              Value source, Value panel) {
  int64_t lanes = getMaxLanes(step);
  Type stored = step.source.element;
  emitter.forLoop(0, count, 1, [&](Int row) {
    Value from =
        emitter.offsetPointer(source, emitter.mul(row, rows.source), stored);
    Value to =
        emitter.offsetPointer(panel, emitter.mul(row, step.sizeK * lanes));
    emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
      Value element = emitter.offsetPointer(
          from, emitter.mul(p, step.source.strides[step.axis]), stored);
      emitter.prefetch(emitter.offsetPointer(
          element, emitter.mul(ahead, rows.source), stored));
      Value value = emitter.loadVector(emitter.getVectorType(lanes), element,
                                       nullptr, stored);
      emitter.storeVector(
          value, emitter.offsetPointer(to, emitter.mul(p, lanes)), nullptr);
    });
  });
}

/// What register tiles prefetch while rows are taken through a segment: the
/// same of the next rows, if these follow in memory.
PrefetchStream StepEmitter::startRowPrefetch(const LoopAxis &rows,
                                             int64_t segment) {
  constexpr int64_t kMostLines = 64;
  Int stride = step.source.strides[step.axis];
  PrefetchStream ahead = step.prefetch;
  if (step.vectorBits != 512 || !ahead.slot || step.isSourceBuffer ||
      !isContinued(rows.source, stride, step.sizeK))
    return ahead;
  Type stored = step.source.element;
  int64_t bytes = stored && stored.isIntOrFloat() ? getElementBytes(stored)
                                                  : step.elementBytes;
  ahead.slot = allocateSlot();
  ahead.position = nullptr;
  ahead.isSpread = true;
  ahead.mostLines = kMostLines;
  ahead.segmentBytes = segment * getMaxLanes(step) * bytes;
  ahead.stride = emitter.mul(stride, bytes);
  ahead.resultOffset = nullptr;
  // Every element of X is multiplied for each q.
  ahead.bytesPerFma = double(bytes) / step.sizeN;
  return ahead;
}

/// Lets `ahead` begin with the rows `stride` behind those from `begin` on, or
/// behind the last ones with the first rows of the next segment; these are at
/// `first`.
void StepEmitter::moveRowPrefetch(const LoopAxis &rows, int64_t stride,
                                  int64_t segment, Int begin, Value first,
                                  const PrefetchStream &ahead) {
  Int next = emitter.add(begin, stride);
  Value isLast = emitter.less(emitter.sub(rows.size, 1), next);
  Value offset = arith::SelectOp::create(
      emitter.builder, emitter.loc, isLast,
      emitter.materialize(segment * getMaxLanes(step)),
      emitter.materialize(emitter.mul(next, rows.source)));
  LLVM::StoreOp::create(
      emitter.builder, emitter.loc,
      emitter.offsetPointer(first, Int(offset), step.source.element),
      ahead.slot);
}

/// Takes rows through segments of registers: `body` gets a register of a block
/// of rows.
void StepEmitter::emitFibreSegments(
    const LoopAxis &rows, const LoopAxis &split, int64_t stride,
    const PrefetchStream &ahead, const Bases &bases,
    function_ref<void(const Bases &, int64_t)> body) {
  int64_t segment = step.choices->segment;
  emitBlocks(split.size, segment, [&](Int first, int64_t count) {
    Bases part = advance(bases, split, first);
    emitBlocks(rows.size, stride, [&](Int row, int64_t number) {
      if (ahead.slot != step.prefetch.slot)
        moveRowPrefetch(rows, stride, segment, row, part.source, ahead);
      Bases start = advance(part, rows, row);
      emitter.forLoop(0, count, 1, [&](Int position) {
        body(advance(start, split, position), number);
      });
    });
  });
}

/// Calls `emitShared` for blocks of rows that are multiples of `sharing`, and
/// `emitOwn` for those that are left.
void StepEmitter::emitSharingBlocks(const LoopAxis &rows, int64_t sharing,
                                    function_ref<void(Int, int64_t)> emitShared,
                                    function_ref<void(Int, int64_t)> emitOwn) {
  // As many accumulators as let a register tile be unrolled, if these hide the
  // latency.
  constexpr int64_t kUnrolled = 128, kMany = 20;
  int64_t most = kUnrolled / step.sizeK;
  if (most < kCPUForms.latencyAccumulators)
    most = kMany;
  int64_t perSharing = step.sizeN / getMaxLanes(step) * sharing + 1;
  int64_t block = std::max<int64_t>(most / perSharing, 1) * sharing;
  if (!rows.size.isConstant())
    return emitBlocks(rows.size, block, [&](Int row, int64_t count) {
      if (count == block)
        return emitShared(row, count);
      emitOwn(row, count);
    });
  int64_t size = rows.size.getConstant();
  int64_t full = size / block * block;
  emitter.forLoop(0, full, block, [&](Int row) { emitShared(row, block); });
  int64_t shared = llvm::alignDown(size - full, sharing);
  if (shared)
    emitShared(full, shared);
  if (full + shared < size)
    emitOwn(full + shared, size - full - shared);
}

StepEmitter::FibreTiles StepEmitter::getFibreTiles(const LoopAxis *rows,
                                                   const LoopAxis *split) {
  FibreTiles tiles;
  tiles.rows = rows;
  if (!nest.inner.empty())
    tiles.group = nest.inner.back().size.getConstant();
  tiles.size = tiles.group * step.sizeN;
  std::pair<int64_t, int64_t> fibreLanes = getFibreLanes(step, tiles.group);
  tiles.lanes = fibreLanes.first;
  tiles.used = fibreLanes.second * tiles.group;
  tiles.usedLanes = emitter.firstLanes(tiles.lanes, tiles.used);
  // With one q per vector its results may lie anywhere.
  tiles.vectorStride = tiles.addendVectorStride = tiles.used;
  if (tiles.group > 1 && tiles.used == tiles.group) {
    tiles.vectorStride = step.destination.strides[step.axis];
    tiles.addendVectorStride = getStride(step.addend.strides, step.axis);
  }
  tiles.shape = getShape();
  if (rows)
    tiles.source = *rows;
  tiles.strideK = step.source.strides[step.axis];
  tiles.copies = rows && copiesRows(*rows);
  if (tiles.copies) {
    tiles.source.source = step.sizeK * tiles.group;
    tiles.strideK = tiles.group;
  }
  tiles.ahead =
      split ? startRowPrefetch(*rows, step.choices->segment) : step.prefetch;
  return tiles;
}

/// `rows` rows from `block` on and `vectors` vectors from element `first` on;
/// `sharing` rows share a vector.
void StepEmitter::emitFibreTile(const FibreTiles &tiles, const Bases &block,
                                int64_t rows, Int first, int64_t vectors,
                                Value mask, int64_t sharing) {
  bool isGroup = tiles.group > 1;
  Int lane = emitter.mul(first, tiles.lanes);
  RegisterTile tile = startTile(block);
  tile.sharingRows = sharing;
  // The copies prefetch the next rows; more at a time was measured to be in
  // their way.
  tile.prefetch = tiles.copies ? PrefetchStream() : tiles.ahead;
  tile.rows = rows;
  tile.vectors = vectors;
  tile.lanes = tiles.lanes;
  tile.usedLanes = tiles.usedLanes;
  tile.mask = mask;
  tile.a = {isGroup ? TileOperand::Kind::Group : TileOperand::Kind::Scalar,
            block.source,
            tiles.rows ? tiles.source.source : Int(0),
            tiles.strideK,
            tiles.group,
            step.isSourceConjugate};
  tile.b = {TileOperand::Kind::Vector,
            emitter.offsetPointer(
                block.factor, hasPanels ? emitter.mul(lane, step.sizeK) : lane,
                factor.element),
            tiles.lanes,
            factor.strideK,
            1,
            step.isFactorConjugate,
            factor.element};
  tile.result.base = emitter.offsetPointer(
      block.destination, emitter.mul(first, tiles.vectorStride),
      tile.result.element);
  tile.result.rowStride = tiles.rows ? tiles.rows->destination : Int(0);
  tile.result.vectorStride = tiles.vectorStride;
  if (tile.result.addend) {
    tile.result.addend = emitter.offsetPointer(
        block.addend, emitter.mul(first, tiles.addendVectorStride),
        tile.result.addendElement);
    tile.result.addendRowStride = tiles.rows ? tiles.rows->addend : Int(0);
    tile.result.addendVectorStride = tiles.addendVectorStride;
  }
  emitRegisterTile(emitter, tile);
}

/// Takes chunks of rows through all panels of the factor.
void StepEmitter::emitFibrePanels(const FibreTiles &tiles, const Bases &bases) {
  // A panel stays in the cache while many rows use it, unless rows are as large
  // as panels: then a few rows stay there while all panels go by.
  int64_t rowElements = step.sizeK * tiles.group;
  int64_t chunk = step.choices->chunk;
  Value panel;
  if (tiles.copies)
    panel = allocateOnStack(tiles.shape.rows * rowElements);
  emitter.forLoop(0, tiles.rows->size, chunk, [&](Int begin) {
    Bases start = advance(bases, *tiles.rows, begin);
    Int count = emitter.min(chunk, emitter.sub(tiles.rows->size, begin));
    if (tiles.copies) {
      emitRowCopy(*tiles.rows, count, chunk, start.source, panel);
      start.source = panel;
    }
    emitVectorBlocks(
        tiles.size, tiles.lanes, tiles.used, tiles.shape.vectors,
        [&](Int first, int64_t vectors, Value mask) {
          emitBlocks(count, tiles.shape.rows, [&](Int row, int64_t rows) {
            emitFibreTile(tiles, advance(start, tiles.source, row), rows, first,
                          vectors, mask);
          });
        });
  });
}

void StepEmitter::emitFibre(const LoopAxis *rowAxis, const LoopAxis *split,
                            const Bases &bases) {
  FibreTiles tiles = getFibreTiles(rowAxis, split);
  auto emitVectors = [&](const Bases &block, int64_t rows) {
    emitVectorBlocks(tiles.size, tiles.lanes, tiles.used, tiles.shape.vectors,
                     [&](Int first, int64_t vectors, Value mask) {
                       emitFibreTile(tiles, block, rows, first, vectors, mask);
                     });
  };
  auto emitRows = [&](Int row, int64_t rows) {
    emitVectors(rowAxis ? advance(bases, *rowAxis, row) : bases, rows);
  };
  if (rowAxis && packed && packed->sharingRows > 1)
    return emitSharingBlocks(
        *rowAxis, packed->sharingRows,
        [&](Int row, int64_t rows) {
          emitFibreTile(tiles, advance(bases, *rowAxis, row), rows, 0,
                        tiles.size / tiles.lanes, nullptr, packed->sharingRows);
        },
        emitRows);
  if (split)
    return emitFibreSegments(*rowAxis, *split, tiles.shape.rows, tiles.ahead,
                             bases, emitVectors);
  if (rowAxis && hasPanels)
    return emitFibrePanels(tiles, bases);
  emitBlocks(rowAxis ? rowAxis->size : Int(1), tiles.shape.rows, emitRows);
}

void StepEmitter::emitFibres(const LoopAxis &rowAxis, int64_t fibres,
                             const Bases &bases) {
  int64_t used = step.sizeN * fibres;
  int64_t lanes = chooseLanes(used, step.vectorBits, emitter.getElementBytes());
  int64_t size = rowAxis.size.isConstant() ? rowAxis.size.getConstant() : -1;
  int64_t remainder = size < 0 ? 0 : size % fibres;
  TileShape shape = getShape();
  bool keeps = keepsFibres(step);
  RegisterTile first = startTile(bases);
  first.lanes = lanes;
  first.fibres = fibres;
  first.usedLanes = emitter.firstLanes(lanes, used);
  first.b = {keeps ? TileOperand::Kind::Group : TileOperand::Kind::Vector,
             bases.factor,
             lanes,
             factor.strideK,
             keeps ? step.sizeN : 1,
             step.isFactorConjugate,
             factor.element};
  if (keeps)
    first.groups = loadGroups(emitter, first);
  else
    first.interleaved = step.scratch;
  auto emitTile = [&](Int fibre, int64_t rows, Value mask) {
    Bases block = advance(bases, rowAxis, fibre);
    RegisterTile tile = first;
    tile.result = startResult(block);
    tile.rows = rows;
    tile.mask = mask;
    tile.a.base = block.source;
    tile.a.blockStride = used;
    tile.a.element = step.source.element;
    tile.result.rowStride = used;
    tile.result.addendRowStride = used;
    emitRegisterTile(emitter, tile);
  };
  Value all = emitter.firstLanes(lanes, used);
  int64_t stride = shape.rows * fibres;
  if (size >= 0) {
    int64_t full = size / stride * stride;
    emitter.forLoop(0, full, stride,
                    [&](Int fibre) { emitTile(fibre, shape.rows, all); });
    if (full < size)
      emitTile(
          full, llvm::divideCeil(size - full, fibres),
          emitter.firstLanes(lanes, remainder ? remainder * step.sizeK : used));
    return;
  }
  Int full = emitter.mul(emitter.floorDiv(rowAxis.size, stride), stride);
  emitter.forLoop(0, full, stride,
                  [&](Int fibre) { emitTile(fibre, shape.rows, all); });
  emitter.forLoop(full, rowAxis.size, fibres, [&](Int fibre) {
    // Lanes beyond the fibres of a vector hold nothing.
    Int left = emitter.min(emitter.sub(rowAxis.size, fibre), fibres);
    emitTile(fibre, 1,
             emitter.firstLanes(lanes, emitter.mul(left, step.sizeK)));
  });
}
