//===- FusedBody.cpp - What a thread does of one kron.fused -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The body of a fused region takes a range of tiles through all factors,
// section by section.
//
//===----------------------------------------------------------------------===//

#include "AmxStep.h"
#include "AmxTile.h"
#include "Captures.h"
#include "FusedBuilder.h"
#include "PairCopy.h"
#include "TileCopy.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

Int FusedCodeBuilder::getNumTiles(Emitter &emitter, const FusedArrays &arrays) {
  Int count = 1;
  for (auto [axis, size] : llvm::enumerate(arrays.sizes)) {
    if (plan.roles[axis] != AxisRole::Whole)
      count = emitter.mul(count,
                          emitter.ceilDiv(size, plan.getStep(axis, tileSize)));
    else if (size.is(0))
      count = 0;
  }
  return count;
}

/// Moves to position `start` of `axis` in all arrays.
FusedPlace FusedCodeBuilder::advance(Emitter &emitter, const FusedPlace &from,
                                     unsigned axis, Int start) {
  FusedPlace place = from;
  auto move = [&](auto &array, Int stride) {
    array.base = emitter.offsetPointer(array.base, emitter.mul(start, stride),
                                       array.element);
  };
  move(place.source, place.source.strides[axis]);
  move(place.destination, place.destination.strides[axis]);
  if (place.arrays.addend.base)
    move(place.arrays.addend, place.arrays.addend.strides[axis]);
  if (place.arrays.epilogue)
    for (StepArray *array :
         {&place.arrays.epilogue->bias, &place.arrays.epilogue->residual})
      if (array->base)
        move(*array, array->strides[axis]);
  for (auto [index, factor] : llvm::enumerate(place.arrays.factors)) {
    // No factor depends on rows, and packed ones number the axes in another
    // way.
    if (plan.rowsInLanes)
      continue;
    // A joint factor varies on no axis, so axis numbers need no shift.
    bool packs = steps[index].packs && !steps[index].packsInBody &&
                 plan.groups[index].products.size() == 1;
    unsigned stepAxis = rowsOutside ? (axis + 1) % plan.roles.size() : axis;
    move(factor.array, packs ? Int(steps[index].packed.strides[stepAxis])
                             : factor.array.strides[axis]);
  }
  return place;
}

/// Where tile number `tile` starts, along the axes that have several.
SmallVector<std::pair<unsigned, Int>>
FusedCodeBuilder::getTileStart(Emitter &emitter, const FusedArrays &all,
                               Int tile) {
  SmallVector<std::pair<unsigned, Int>> positions;
  for (unsigned axis = plan.roles.size(); axis-- > 0;) {
    if (plan.roles[axis] == AxisRole::Whole)
      continue;
    int64_t step = plan.getStep(axis, tileSize);
    Int count = emitter.ceilDiv(all.sizes[axis], step);
    Int start = emitter.mul(emitter.rem(tile, count), step);
    if (plan.roles[axis] == AxisRole::Tiled && repeatsPositions())
      start = emitter.min(start, emitter.sub(all.sizes[axis], step));
    positions.push_back({axis, start});
    tile = emitter.floorDiv(tile, count);
  }
  return positions;
}

void FusedCodeBuilder::emitTile(Emitter &emitter, const FusedArrays &all,
                                Int tile) {
  FusedPlace place{all.input, all.init, all};
  Int tiledExtent = 1;
  for (auto [axis, start] : getTileStart(emitter, all, tile)) {
    if (plan.roles[axis] == AxisRole::Tiled)
      tiledExtent = getTiledExtent(emitter, all, start);
    place = advance(emitter, place, axis, start);
  }
  tiles = {&all, tile};

  FusedWindow window = getTileWindow(tiledExtent);
  if (!tiledExtent.isConstant() && plan.groups.size() == 1) {
    int64_t inside = 1;
    for (int axis = plan.tiledAxis + 1, rank = plan.roles.size(); axis < rank;
         ++axis)
      inside *= plan.getWholeSize(axis, 0);
    window.tiledElements = emitter.mul(tiledExtent, inside);
  }
  for (SectionBuffers &each : buffers)
    each.next = 0;
  resultOffset = getResultOffset(place);
  if (isNested())
    return emitNested(emitter, sections.size() - 1, place, window);
  place.source = emitSection(emitter, sections.front(), place, window);
  if (sections.size() > 1)
    emitSlices(emitter, 1, place, window);
}

/// Takes a window of section `index` through it, and first its slices through
/// the sections inside.
void FusedCodeBuilder::emitNested(Emitter &emitter, unsigned index,
                                  FusedPlace place, const FusedWindow &window) {
  const Section &section = sections[index];
  bool isPrefetchWindow = index == 1 && choices.spreadsPrefetch;
  StepArray input = place.source;
  if (isPrefetchWindow)
    startPrefetch(emitter, section, input, window);
  if (index) {
    FusedPlace inside = place;
    inside.destination = takeBuffer(emitter, section.begin);
    emitSlices(emitter, index - 1, inside, window);
    place.source = inside.destination;
  }
  // Slices have prefetched what is left of the tile, now the next one follows.
  if (isPrefetchWindow && section.sliceAxis < 0)
    startPrefetch(emitter, section, input, window, /*isNextTile=*/true);
  emitSection(emitter, section, place, window);
  if (isPrefetchWindow)
    prefetch.slot = nullptr;
}

/// Loops over the slices of section `index` in the window `outside`, from axis
/// `axis` on.
void FusedCodeBuilder::emitSlices(Emitter &emitter, unsigned index,
                                  const FusedPlace &place,
                                  const FusedWindow &outside, unsigned axis) {
  const Section &section = sections[index];
  if (static_cast<int>(axis) > section.sliceAxis) {
    FusedWindow window = getWindow(section, outside);
    if (isNested())
      return emitNested(emitter, index, place, window);
    emitSection(emitter, section, place, window);
    return;
  }
  if (isWholeInSlices(axis))
    return emitSlices(emitter, index, place, outside, axis + 1);
  Int step =
      static_cast<int>(axis) == section.sliceAxis ? section.sliceSize : 1;
  emitter.forLoop(
      0, getSizes(outside, section.begin)[axis], step, [&](Int position) {
        emitSlices(emitter, index, advance(emitter, place, axis, position),
                   outside, axis + 1);
      });
}

StepArray FusedCodeBuilder::takeBuffer(Emitter &emitter, unsigned groupsApplied,
                                       bool asWritten) {
  SectionBuffers &owner = buffers[getOwner(groupsApplied)];
  Value base = emitter.offsetPointer(scratch, owner.offset +
                                                  owner.next * owner.elements);
  owner.next = 1 - owner.next;
  return getIntermediate(base, groupsApplied, asWritten);
}

/// Takes a window through the groups of a section; returns what they leave.
StepArray FusedCodeBuilder::emitSection(Emitter &emitter,
                                        const Section &section,
                                        const FusedPlace &place,
                                        const FusedWindow &window) {
  StepArray source = place.source;
  if (section.begin == 0 && !choices.spreadsPrefetch)
    startPrefetch(emitter, section, source, window);
  prefetch.drain = drain;
  if (section.begin == 0 && copiesIn) {
    StepArray buffer = takeBuffer(emitter, 0);
    if (hasPairs)
      emitPairCopy(emitter, {getSizes(window, 0), plan.groups.front().axis,
                             source, buffer, vectorBits});
    else
      emitTileCopy(emitter,
                   {getSizes(window, 0), source, buffer, {}, {}, vectorBits});
    source = buffer;
  }
  bool isLast = section.end == plan.groups.size();
  for (unsigned index = section.begin; index < section.end; ++index) {
    // Slices that lie in larger ones leave their results there.
    bool isDirect =
        index + 1 == section.end && (isLast ? !copiesOut : isNested());
    StepArray destination =
        isDirect ? place.destination
                 : takeBuffer(emitter, index + 1, /*asWritten=*/true);
    auto build = [&](const StepArray &to) {
      Step step = makeStep(place, index, window, source, to);
      step.isSourceBuffer = index || copiesIn;
      emitGroup(emitter, index, step);
    };
    if (isLast && isDirect)
      emitStaged(emitter, window, destination, build);
    else
      build(destination);
    source =
        isDirect ? destination : getIntermediate(destination.base, index + 1);
  }
  if (section.sliceAxis >= 0 && !choices.spreadsPrefetch)
    prefetch.slot = nullptr;
  if (!isLast || !copiesOut)
    return source;
  emitStaged(emitter, window, place.destination, [&](const StepArray &to) {
    TileCopy copy{
        getSizes(window, section.end), source,    to, place.arrays.scale,
        place.arrays.addend,           vectorBits};
    if (place.arrays.epilogue)
      copy.epilogue = &*place.arrays.epilogue;
    if (movesInnermost && !rowsOutside && !copy.epilogue && canInterleave(copy))
      emitInterleaving(emitter, copy);
    else
      emitTileCopy(emitter, copy);
  });
  return source;
}

/// Builds one step; the last one twice, if results may be stored
/// non-temporally.
void FusedCodeBuilder::emitGroup(Emitter &emitter, unsigned index, Step step) {
  const PackedFactor *packed =
      steps[index].packs ? &steps[index].packed : nullptr;
  step.prefetch = prefetch;
  if (steps[index].usesTiles)
    return emitAmxStep(emitter, step, *packed, /*isExact=*/index == 0);
  int64_t end = scratchBytes / emitter.getElementBytes() - stepScratchElements;
  if (stepScratchElements)
    step.scratch = emitter.offsetPointer(scratch, end);
  if (steps[index].packsInBody) {
    Value base = emitter.offsetPointer(scratch, end - packedElements);
    emitPacking(emitter, step, steps[index].factorSizes, *packed, base);
    step.factor.base = base;
  }
  if (index + 1 < plan.groups.size() || !streams || stagedElements)
    return emitStep(emitter, step, packed);
  // The operation first: steps look for the function that they are in.
  auto choice =
      scf::IfOp::create(builder, loc, streams, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool isStreaming : {true, false}) {
    builder.setInsertionPointToStart(isStreaming ? choice.thenBlock()
                                                 : choice.elseBlock());
    step.streams = isStreaming;
    emitStep(emitter, step, packed);
  }
}

/// Fills the body function; `captures` receives the outer values that it uses.
void FusedCodeBuilder::emitBody(func::FuncOp body,
                                SmallVectorImpl<Value> &captures) {
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = body.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Emitter emitter(builder, loc, element);
  emitter.has16BitConversion = outer.has16BitConversion;
  emitter.hasLaneMasks = outer.hasLaneMasks;
  emitter.roundsToBF16 = outer.roundsToBF16;
  Value begin = entry->getArgument(0), end = entry->getArgument(1);
  Value slots = entry->getArgument(3);
  scratch = entry->getArgument(2);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  prefetchSlot = LLVM::AllocaOp::create(builder, loc, slots.getType(),
                                        slots.getType(), one);
  prefetchPosition = LLVM::AllocaOp::create(builder, loc, slots.getType(),
                                            builder.getI64Type(), one);

  Captures entered(builder, loc, slots, captures);
  FusedArrays inside = arrays;
  entered.enter(inside.sizes);
  for (StepArray *array : {&inside.input, &inside.init, &inside.addend}) {
    entered.enter(array->base);
    entered.enter(array->strides);
  }
  if (inside.epilogue)
    for (StepArray *array :
         {&inside.epilogue->bias, &inside.epilogue->residual}) {
      entered.enter(array->base);
      entered.enter(array->strides);
    }
  for (FactorArray &factor : inside.factors) {
    entered.enter(factor.array.base);
    entered.enter(factor.array.strideK);
    entered.enter(factor.array.resultStride);
    entered.enter(factor.array.strides);
  }
  TileScale &scale = inside.scale;
  for (Value *part : {&scale.alpha.real, &scale.alpha.imaginary,
                      &scale.beta.real, &scale.beta.imaginary}) {
    // Constants are rebuilt, so that scaling can see that they are constants.
    Attribute constant;
    if (*part && matchPattern(*part, m_Constant(&constant)))
      *part =
          arith::ConstantOp::create(builder, loc, cast<TypedAttr>(constant));
    else
      entered.enter(*part);
  }

  entered.enter(streams);
  if (streams)
    streams =
        arith::TruncIOp::create(builder, loc, builder.getI1Type(), streams);
  bool usesTiles = llvm::any_of(
      steps, [](const PlannedStep &step) { return step.usesTiles; });
  if (usesTiles)
    emitAmxConfiguration(emitter);
  if (stagedElements && !hasStagedSegments)
    startStaging(emitter);
  emitter.forLoop(Int(begin), Int(end), 1,
                  [&](Int tile) { emitTile(emitter, inside, tile); });
  if (usesTiles)
    emitAmxRelease(emitter);
  // Non-temporal stores are not ordered with those that tell other threads
  // that this one is done.
  if (streams)
    scf::IfOp::create(
        builder, loc, streams, [&](OpBuilder &builder, Location loc) {
          if (stagedElements && !hasStagedSegments)
            finishStaging(emitter);
          LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst);
          scf::YieldOp::create(builder, loc);
        });
  func::ReturnOp::create(builder, loc);
}
