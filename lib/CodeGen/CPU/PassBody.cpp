//===- PassBody.cpp - What a thread does of one kron.pass -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The body of a pass takes a range of tiles through all factors, section by
// section. While one window is computed the next one is asked for: its input,
// and the lines that its results will go to.
//
//===----------------------------------------------------------------------===//

#include "AmxStage.h"
#include "AmxTile.h"
#include "PassBuilder.h"
#include "TileCopy.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Int PassCodeBuilder::getTiledExtent(Emitter &emitter, const PassArrays &arrays,
                                    Int start) {
  if (plan.tiledAxis < 0)
    return 1;
  Int size = arrays.sizes[plan.tiledAxis];
  if (size.isConstant() && size.getConstant() % tileSize == 0)
    return tileSize;
  return emitter.min(tileSize, emitter.sub(size, start));
}

PassWindow PassCodeBuilder::getTileWindow(Int tiledExtent) const {
  PassWindow window;
  for (AxisRole role : plan.roles) {
    bool isTiled = role == AxisRole::Tiled;
    window.extents.emplace_back();
    if (role != AxisRole::Whole)
      window.extents.back() = isTiled ? tiledExtent : Int(1);
    window.most.push_back(isTiled ? tileSize : 1);
  }
  return window;
}

/// Whether slices take all positions of `axis`, although it lies outside.
bool PassCodeBuilder::isWholeInSlices(int axis) const {
  // What is transposed is contiguous along it.
  return plan.slicesWholeTile() && axis == plan.tiledAxis;
}

/// The window of a slice, or the tile's if `section` has none.
PassWindow PassCodeBuilder::getWindow(const Section &section,
                                      PassWindow tile) const {
  for (int axis = 0; axis <= section.sliceAxis; ++axis) {
    if (isWholeInSlices(axis))
      continue;
    tile.most[axis] = axis == section.sliceAxis ? section.sliceSize : 1;
    tile.extents[axis] = Int(tile.most[axis]);
  }
  return tile;
}

SmallVector<Int> PassCodeBuilder::getSizes(const PassWindow &window,
                                           unsigned groupsApplied) const {
  SmallVector<Int> sizes;
  for (auto [axis, extent] : llvm::enumerate(window.extents))
    sizes.push_back(extent ? *extent
                           : Int(plan.getWholeSize(axis, groupsApplied)));
  return sizes;
}

/// The most that `getSizes` can be: buffers are laid out for that.
SmallVector<int64_t> PassCodeBuilder::getBufferSizes(const PassWindow &window,
                                                     unsigned groupsApplied,
                                                     bool asWritten) const {
  SmallVector<int64_t> sizes;
  for (auto [axis, extent] : llvm::enumerate(window.extents))
    sizes.push_back(extent ? window.most[axis]
                           : plan.getWholeSize(axis, groupsApplied, asWritten));
  return sizes;
}

int64_t PassCodeBuilder::countElements(const PassWindow &window,
                                       unsigned groupsApplied) const {
  int64_t elements = 1;
  for (int64_t size : getBufferSizes(window, groupsApplied))
    elements *= size;
  return elements;
}

int64_t PassCodeBuilder::countFmas(const PassWindow &window, unsigned begin,
                                   unsigned end) const {
  int64_t fmas = 0;
  for (unsigned index = begin; index < end; ++index)
    fmas += plan.groups[index].depth * countElements(window, index + 1);
  return fmas;
}

/// A row of that many bytes times a power of two falls on few sets of a cache.
static constexpr int64_t kAliasBytes = 4096;

/// A dense array for what is left behind `groupsApplied` groups. If the
/// positions of `paddedAxis` would alias in the cache, they are moved a cache
/// line apart.
StageArray PassCodeBuilder::getBuffer(Value base, ArrayRef<int64_t> sizes,
                                      unsigned groupsApplied,
                                      int paddedAxis) const {
  StageArray buffer{base, SmallVector<Int>(sizes.size(), 0)};
  int64_t stride = 1, bytes = outer.getElementBytes();
  auto axes = llvm::to_vector(llvm::seq<int>(0, sizes.size()));
  if (movesInnermost)
    std::rotate(axes.begin(), axes.end() - 1, axes.end());
  if (plan.rowsInLanes || (keepsTransposed && !groupsApplied))
    std::rotate(axes.begin() + plan.tiledAxis,
                axes.begin() + plan.tiledAxis + 1, axes.end());
  for (int axis : llvm::reverse(axes)) {
    if (axis == paddedAxis && stride * bytes % kAliasBytes == 0)
      stride += kLineBytes / bytes;
    buffer.strides[axis] = stride;
    stride *= sizes[axis];
  }
  return buffer;
}

/// The section in whose windows lies what is left behind `groupsApplied`
/// groups.
unsigned PassCodeBuilder::getOwner(unsigned groupsApplied) const {
  for (unsigned index = 0; index + 1 < sections.size(); ++index) {
    if (groupsApplied < sections[index].end)
      return index;
    // Slices leave it to the larger window, or find it there.
    if (groupsApplied == sections[index].end)
      return isNested() ? index + 1 : index;
  }
  return sections.size() - 1;
}

/// The array at `base` for what is left behind `groupsApplied` groups, as the
/// next one reads it or as the last one writes it.
StageArray PassCodeBuilder::getIntermediate(Value base, unsigned groupsApplied,
                                            bool asWritten) const {
  unsigned owner = getOwner(groupsApplied);
  PassWindow window = getWindow(sections[owner], getTileWindow(tileSize));
  // Slices are written or read one after the other.
  int paddedAxis = -1;
  if (isNested() && owner && groupsApplied == sections[owner].begin)
    paddedAxis = sections[owner - 1].sliceAxis;
  if (!isNested() && groupsApplied == sections[owner].end)
    paddedAxis = sections.back().sliceAxis;
  if (!plan.views.empty())
    paddedAxis = plan.tiledAxis;
  SmallVector<int64_t> sizes = getBufferSizes(window, groupsApplied, asWritten);
  // A joint factor takes its axes for one, which goes by the stride of the
  // last: padding is behind those of size 1 that follow.
  while (paddedAxis >= 0 && paddedAxis + 1 < static_cast<int>(sizes.size()) &&
         sizes[paddedAxis + 1] == 1)
    ++paddedAxis;
  return getBuffer(base, sizes, groupsApplied, paddedAxis);
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

Int PassCodeBuilder::getNumTiles(Emitter &emitter, const PassArrays &arrays) {
  Int count = 1;
  for (auto [role, size] : llvm::zip(plan.roles, arrays.sizes)) {
    if (role == AxisRole::Grid)
      count = emitter.mul(count, size);
    else if (role == AxisRole::Tiled)
      count = emitter.mul(count, emitter.ceilDiv(size, tileSize));
    else if (size.is(0))
      count = 0;
  }
  return count;
}

/// Moves to position `start` of `axis` in all arrays.
PassPlace PassCodeBuilder::advance(Emitter &emitter, const PassPlace &from,
                                   unsigned axis, Int start) {
  PassPlace place = from;
  auto move = [&](auto &array, Int stride) {
    array.base = emitter.offsetPointer(array.base, emitter.mul(start, stride),
                                       array.element);
  };
  move(place.source, place.source.strides[axis]);
  move(place.destination, place.destination.strides[axis]);
  if (place.arrays.addend.base)
    move(place.arrays.addend, place.arrays.addend.strides[axis]);
  if (place.arrays.epilogue)
    for (StageArray *array :
         {&place.arrays.epilogue->bias, &place.arrays.epilogue->residual})
      if (array->base)
        move(*array, array->strides[axis]);
  for (auto [index, factor] : llvm::enumerate(place.arrays.factors)) {
    // No factor depends on rows, and packed ones number the axes in another
    // way.
    if (plan.rowsInLanes)
      continue;
    // A joint factor varies on no axis, so axis numbers need no shift.
    bool packs = stages[index].packs && !stages[index].packsInBody &&
                 plan.groups[index].products.size() == 1;
    unsigned stageAxis = rowsOutside ? (axis + 1) % plan.roles.size() : axis;
    move(factor.array, packs ? Int(stages[index].packed.strides[stageAxis])
                             : factor.array.strides[axis]);
  }
  return place;
}

void PassCodeBuilder::emitTile(Emitter &emitter, const PassArrays &all,
                               Int tile) {
  PassPlace place{all.input, all.init, all};
  Int tiledExtent = 1;
  Int rest = tile;
  for (unsigned axis = plan.roles.size(); axis-- > 0;) {
    if (plan.roles[axis] == AxisRole::Whole)
      continue;
    bool tiled = plan.roles[axis] == AxisRole::Tiled;
    Int count =
        tiled ? emitter.ceilDiv(all.sizes[axis], tileSize) : all.sizes[axis];
    Int start = emitter.rem(rest, count);
    rest = emitter.floorDiv(rest, count);
    if (tiled) {
      start = emitter.mul(start, tileSize);
      tiledExtent = getTiledExtent(emitter, all, start);
    }
    place = advance(emitter, place, axis, start);
  }

  PassWindow window = getTileWindow(tiledExtent);
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
void PassCodeBuilder::emitNested(Emitter &emitter, unsigned index,
                                 PassPlace place, const PassWindow &window) {
  const Section &section = sections[index];
  if (index) {
    PassPlace inside = place;
    inside.destination = takeBuffer(emitter, section.begin);
    emitSlices(emitter, index - 1, inside, window);
    place.source = inside.destination;
  }
  emitSection(emitter, section, place, window);
}

/// How far the result of a tile lies behind its input, in bytes, if it is worth
/// having it in the cache before it is stored: a store to a line that is not
/// there waits for it.
Value PassCodeBuilder::getResultOffset(const PassPlace &place) {
  // Beyond that much it would push out what is being computed with.
  constexpr int64_t kMaxBytes = 1 << 18;
  int64_t bytes = countElements(getTileWindow(tileSize), plan.groups.size()) *
                  outer.getElementBytes();
  bool isElsewhere = copiesOut && !plan.rowsInLanes && !place.arrays.epilogue;
  // What goes past the caches needs nothing there, and arrays so large hardly
  // ever start within a line.
  if (isElsewhere || plan.transposesInput || bytes > kMaxBytes || isLargeResult)
    return nullptr;
  Type i64 = builder.getI64Type();
  auto getAddress = [&](const StageArray &array) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, i64, array.base);
  };
  Value result = getAddress(place.destination);
  Value offset =
      arith::SubIOp::create(builder, loc, result, getAddress(place.source));
  if (!streams)
    return offset;
  // Then the same is asked for twice.
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 64);
  return arith::SelectOp::create(builder, loc, streams, none, offset);
}

/// Loops over the slices of section `index` in the window `outside`, from axis
/// `axis` on.
void PassCodeBuilder::emitSlices(Emitter &emitter, unsigned index,
                                 const PassPlace &place,
                                 const PassWindow &outside, unsigned axis) {
  const Section &section = sections[index];
  if (static_cast<int>(axis) > section.sliceAxis) {
    PassWindow window = getWindow(section, outside);
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

StageArray PassCodeBuilder::takeBuffer(Emitter &emitter, unsigned groupsApplied,
                                       bool asWritten) {
  SectionBuffers &owner = buffers[getOwner(groupsApplied)];
  Value base = emitter.offsetPointer(scratch, owner.offset +
                                                  owner.next * owner.elements);
  owner.next = 1 - owner.next;
  return getIntermediate(base, groupsApplied, asWritten);
}

/// What slices leave is read again from beyond the second-level cache, or from
/// far away in it, if it takes so many bytes.
static constexpr int64_t kFarBytes = 1 << 20;

/// Takes a window through the groups of a section; returns what they leave.
StageArray PassCodeBuilder::emitSection(Emitter &emitter,
                                        const Section &section,
                                        const PassPlace &place,
                                        const PassWindow &window) {
  StageArray source = place.source;
  if (section.begin == 0)
    startPrefetch(emitter, section, source, window);
  prefetch.drain = drain;
  if (section.begin == 0 && copiesIn) {
    StageArray buffer = takeBuffer(emitter, 0);
    emitTileCopy(emitter,
                 {getSizes(window, 0), source, buffer, {}, {}, vectorBits});
    source = buffer;
  }
  bool isLast = section.end == plan.groups.size();
  for (unsigned index = section.begin; index < section.end; ++index) {
    // Slices that lie in larger ones leave their results there.
    bool isDirect =
        index + 1 == section.end && (isLast ? !copiesOut : isNested());
    StageArray destination =
        isDirect ? place.destination
                 : takeBuffer(emitter, index + 1, /*asWritten=*/true);
    bool isFar =
        isNested() && index && index == section.begin &&
        countElements(window, index) * emitter.getElementBytes() >= kFarBytes;
    auto build = [&](const StageArray &to) {
      Stage stage = getStage(place, index, window, source, to);
      stage.isSourceFar = isFar;
      stage.isSourceBuffer = index || copiesIn;
      emitGroup(emitter, index, stage);
    };
    if (isLast && isDirect)
      emitStaged(emitter, window, destination, build);
    else
      build(destination);
    source =
        isDirect ? destination : getIntermediate(destination.base, index + 1);
  }
  prefetch.slot = section.sliceAxis >= 0 ? Value() : prefetch.slot;
  if (!isLast || !copiesOut)
    return source;
  emitStaged(emitter, window, place.destination, [&](const StageArray &to) {
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

/// Builds one stage; the last one twice, if results may be stored past the
/// caches.
void PassCodeBuilder::emitGroup(Emitter &emitter, unsigned index, Stage stage) {
  const PackedFactor *packed =
      stages[index].packs ? &stages[index].packed : nullptr;
  stage.prefetch = prefetch;
  if (stages[index].usesTiles)
    return emitAmxStage(emitter, stage, *packed, /*isExact=*/index == 0);
  int64_t end = scratchBytes / emitter.getElementBytes() - stageScratchElements;
  if (stageScratchElements)
    stage.scratch = emitter.offsetPointer(scratch, end);
  if (stages[index].packsInBody) {
    Value base = emitter.offsetPointer(scratch, end - packedElements);
    emitPacking(emitter, stage, stages[index].factorSizes, *packed, base);
    stage.factor.base = base;
  }
  if (index + 1 < plan.groups.size() || !streams || stagedElements)
    return emitStage(emitter, stage, packed);
  // The operation first: stages look for the function that they are in.
  auto choice =
      scf::IfOp::create(builder, loc, streams, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool isStreaming : {true, false}) {
    builder.setInsertionPointToStart(isStreaming ? choice.thenBlock()
                                                 : choice.elseBlock());
    stage.streams = isStreaming;
    emitStage(emitter, stage, packed);
  }
}

/// The axis along which one tile follows another.
static int getFastestAxis(const PassPlan &plan, const PassArrays &arrays) {
  for (int axis = plan.roles.size() - 1; axis > plan.tiledAxis; --axis)
    if (plan.roles[axis] == AxisRole::Grid && !arrays.sizes[axis].is(1))
      return axis;
  return plan.tiledAxis;
}

/// Elements of `input` inside of `axis` in a window of `sizes`, if they are
/// contiguous, else 0.
static int64_t countContiguous(const StageArray &input, ArrayRef<int64_t> sizes,
                               int axis) {
  int64_t elements = 1;
  for (int inner = sizes.size() - 1; inner > axis; --inner) {
    if (sizes[inner] != 1 && !input.strides[inner].is(elements))
      return 0;
    elements *= sizes[inner];
  }
  return elements;
}

/// The same of axes outside of `axis`, from axis `end` on.
static int64_t countContiguousOutside(const StageArray &input,
                                      ArrayRef<int64_t> sizes, int axis,
                                      int end) {
  int64_t elements = 1;
  for (int outer = axis - 1; outer >= end; --outer) {
    if (sizes[outer] != 1 && !input.strides[outer].is(elements))
      return 0;
    elements *= sizes[outer];
  }
  return elements;
}

/// Whether all axes are known to be a single tile, which no other follows.
bool PassCodeBuilder::isOnlyTile() const {
  for (auto [role, size] : llvm::zip(plan.roles, arrays.sizes)) {
    int64_t most = role == AxisRole::Tiled ? tileSize : 1;
    if (role != AxisRole::Whole &&
        !(size.isConstant() && size.getConstant() <= most))
      return false;
  }
  return true;
}

/// Lets the stages that follow ask for the input of the next window. It is
/// taken to be dense where strides are not known: asking for something else
/// does no harm.
void PassCodeBuilder::startPrefetch(Emitter &emitter, const Section &section,
                                    const StageArray &input,
                                    const PassWindow &window) {
  // A register tile asks for whole segments.
  constexpr int64_t kMaxSegmentBytes = 1024;
  prefetch = {};
  if (pass.getSchedule()->getPrefetch() < 0)
    return;
  bool isSliced = section.sliceAxis >= 0;
  int axis = isSliced ? section.sliceAxis : getFastestAxis(plan, arrays);
  if (!isSliced && (plan.tiledAxis < 0 || isOnlyTile()))
    return;
  SmallVector<int64_t> sizes = getBufferSizes(window, 0);
  int64_t elements = countElements(window, 0);
  int64_t elementBytes = isConverted(input.element)
                             ? input.element.getIntOrFloatBitWidth() / 8
                             : emitter.getElementBytes();
  int64_t bytes = elements * elementBytes;
  Int next = emitter.mul(window.most[axis], input.strides[axis]);
  if (plan.tiledAxis >= 0 && input.strides[plan.tiledAxis].is(1)) {
    // Segments along the tiled axis, one per position of the others.
    const StageGroup &first = plan.groups.front();
    prefetch.segmentBytes = tileSize * elementBytes;
    unsigned last = first.axis + first.products.size() - 1;
    prefetch.stride = emitter.mul(input.strides[last], elementBytes);
    // Results lie like the input if their segments do.
    if (arrays.init.strides[last] != input.strides[last])
      resultOffset = nullptr;
  } else if (plan.isTiledInnermost()) {
    // Segments of what becomes a column each. If there is only one tile, the
    // processor sees by itself where each of these goes on.
    Int columns = arrays.sizes[plan.tiledAxis];
    if (columns.isConstant() && columns.getConstant() <= tileSize)
      return;
    int64_t segment = countContiguousOutside(input, sizes, plan.tiledAxis,
                                             isSliced ? axis : 0);
    if (!segment || segment * elementBytes > kMaxSegmentBytes)
      return;
    prefetch.segmentBytes = segment * elementBytes;
    prefetch.stride = emitter.mul(input.strides[plan.tiledAxis], elementBytes);
    resultOffset = nullptr;
  } else {
    int64_t segment = countContiguous(input, sizes, axis);
    if (!segment)
      return;
    if (!isSliced && axis > plan.tiledAxis) {
      // Segments within the rows of a tile.
      Int rowStride = input.strides[plan.tiledAxis];
      prefetch.segmentBytes = segment * elementBytes;
      prefetch.stride = emitter.mul(rowStride, elementBytes);
      if (arrays.init.strides[axis] != input.strides[axis] ||
          arrays.init.strides[plan.tiledAxis] != rowStride)
        resultOffset = nullptr;
    }
  }
  unsigned end = isSliced ? section.end : plan.groups.size();
  prefetch.slot = prefetchSlot;
  prefetch.isSpread = vectorBits == 512;
  prefetch.resultOffset = resultOffset;
  prefetch.bytesPerFma = double(bytes) / countFmas(window, 0, end);
  LLVM::StoreOp::create(builder, loc,
                        emitter.offsetPointer(input.base, next, input.element),
                        prefetchSlot);
}

/// Fills the body function; `captures` receives the outer values that it uses.
void PassCodeBuilder::emitBody(func::FuncOp body,
                               SmallVectorImpl<Value> &captures) {
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = body.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Emitter emitter(builder, loc, element);
  emitter.hasHalfConversion = outer.hasHalfConversion;
  Value begin = entry->getArgument(0), end = entry->getArgument(1);
  Value slots = entry->getArgument(3);
  scratch = entry->getArgument(2);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  prefetchSlot = LLVM::AllocaOp::create(builder, loc, slots.getType(),
                                        slots.getType(), one);

  DenseMap<Value, Value> entered;
  auto enter = [&](Value &value) {
    if (!value)
      return;
    auto [it, isNew] = entered.try_emplace(value);
    if (isNew) {
      Value slot = LLVM::GEPOp::create(
          builder, loc, slots.getType(), builder.getI64Type(), slots,
          LLVM::GEPArg(static_cast<int32_t>(captures.size())));
      it->second = LLVM::LoadOp::create(builder, loc, value.getType(), slot);
      captures.push_back(value);
    }
    value = it->second;
  };
  auto enterInts = [&](SmallVectorImpl<Int> &numbers) {
    for (Int &number : numbers) {
      if (number.isConstant())
        continue;
      Value value = number.getValue();
      enter(value);
      number = Int(value);
    }
  };
  PassArrays inside = arrays;
  enterInts(inside.sizes);
  for (StageArray *array : {&inside.input, &inside.init, &inside.addend}) {
    enter(array->base);
    enterInts(array->strides);
  }
  if (inside.epilogue)
    for (StageArray *array :
         {&inside.epilogue->bias, &inside.epilogue->residual}) {
      enter(array->base);
      enterInts(array->strides);
    }
  for (FactorArray &factor : inside.factors) {
    enter(factor.array.base);
    SmallVector<Int> own{factor.array.depthStride, factor.array.resultStride};
    enterInts(own);
    factor.array.depthStride = own[0];
    factor.array.resultStride = own[1];
    enterInts(factor.array.strides);
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
      enter(*part);
  }

  enter(streams);
  if (streams)
    streams =
        arith::TruncIOp::create(builder, loc, builder.getI1Type(), streams);
  bool usesTiles = llvm::any_of(
      stages, [](const PlannedStage &stage) { return stage.usesTiles; });
  if (usesTiles)
    emitAmxConfiguration(emitter);
  if (stagedElements)
    startStaging(emitter);
  emitter.forLoop(Int(begin), Int(end), 1,
                  [&](Int tile) { emitTile(emitter, inside, tile); });
  if (usesTiles)
    emitAmxRelease(emitter);
  // Stores past the caches are not ordered with those that tell other threads
  // that this one is done.
  if (streams)
    scf::IfOp::create(
        builder, loc, streams, [&](OpBuilder &builder, Location loc) {
          if (stagedElements)
            finishStaging(emitter);
          LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst);
          scf::YieldOp::create(builder, loc);
        });
  func::ReturnOp::create(builder, loc);
}
