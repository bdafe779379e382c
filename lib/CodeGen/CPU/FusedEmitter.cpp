//===- FusedEmitter.cpp - CPU code of one kron.fused ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A fused region becomes
//
//   pack factors that the kernels cannot load as they lie (shared workspace)
//   kronRtParallelFor over tiles:
//     body: for each tile of the range
//       section 1: for each slice of the tile
//         step 1: X -> buffer 0, step 2: buffer 0 -> buffer 1, ...
//       section 2: last step: tile buffer -> Y
//
// The body is a function of its own, since the runtime calls it; what it uses
// from outside travels in an array of 8-byte captures. Tile buffers are the
// thread's scratch. An array of the user that is not contiguous where vector
// lanes must run is copied into or out of a buffer, tile by tile.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/FusedEmitter.h"
#include "AmxStage.h"
#include "FusedBuilder.h"
#include "TileCopy.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Replaces the axes of a group by one.
SmallVector<Int> kron::collapse(const SmallVector<Int> &values,
                                const StageGroup &group) {
  if (values.empty())
    return values;
  SmallVector<Int> result(values);
  unsigned extra = group.products.size() - 1;
  result.erase(result.begin() + group.axis,
               result.begin() + group.axis + extra);
  return result;
}

static StageArray collapseArray(const StageArray &array,
                                const StageGroup &group) {
  return {array.base, collapse(array.strides, group), array.element};
}

/// Moves axis `rows`, which lies outside, to the inner end, where it is in the
/// buffers. All of its `tileSize` positions are computed, even if the input has
/// fewer left: what the others hold is never copied out.
static void moveRowsInside(Stage &stage, unsigned rows, int64_t tileSize) {
  stage.sizes[rows] = tileSize;
  for (SmallVector<Int> *values :
       {&stage.sizes, &stage.source.strides, &stage.destination.strides,
        &stage.addend.strides, &stage.factor.strides})
    if (!values->empty())
      std::rotate(values->begin() + rows, values->begin() + rows + 1,
                  values->end());
  --stage.axis;
}

/// Moves the innermost axis, the rows, to the outer end, where it is in the
/// buffers.
static void moveRowsOutside(Stage &stage) {
  for (SmallVector<Int> *values :
       {&stage.sizes, &stage.source.strides, &stage.destination.strides,
        &stage.addend.strides, &stage.factor.strides})
    if (!values->empty())
      std::rotate(values->begin(), values->end() - 1, values->end());
  ++stage.axis;
}

Stage FusedCodeBuilder::getStage(const FusedPlace &place, unsigned index,
                                 const FusedWindow &window,
                                 const StageArray &source,
                                 const StageArray &destination) {
  const StageGroup &group = plan.groups[index];
  Stage stage;
  stage.axis = group.axis;
  stage.sizeK = group.sizeK;
  stage.sizeN = group.sizeN;
  stage.sizes = collapse(getSizes(window, index), group);
  stage.usualRows = plan.tiledAxis < 0 ? 0 : tileSize;
  stage.source = collapseArray(source, group);
  stage.destination = collapseArray(destination, group);
  stage.factor = place.arrays.factors[index].array;
  stage.factor.strides = collapse(stage.factor.strides, group);
  if (index + 1 == plan.groups.size() && !copiesOut) {
    stage.scale = place.arrays.scale;
    stage.addend = collapseArray(place.arrays.addend, group);
  }
  stage.isFactorUsedOnce = isFactorUsedOnce();
  stage.isInPlace = isInPlace() && plan.groups.size() == 1 && !copiesIn;
  stage.isSourceConjugate =
      llvm::any_of(group.products, [](ModeProductOp product) {
        return product.getConjInput();
      });
  // Joint factors are conjugated while they are multiplied out.
  stage.isFactorConjugate =
      group.products.size() == 1 &&
      llvm::any_of(group.products, [](ModeProductOp product) {
        return product.getConjFactor();
      });
  stage.hasPairs = hasPairs;
  if (hasPairs)
    stage.sizeK /= 2;
  Type input = arrays.input.element;
  stage.mayPair = plan.groups.size() == 1 && group.products.size() == 1 &&
                  input && input.isBF16() && mayMultiplyBy(kPairProducts);
  stage.elementBytes = outer.getElementBytes();
  stage.elementParts = outer.getNumParts();
  stage.vectorBits = vectorBits;
  stage.given = &choices;
  stage.step = &choices.steps[index];
  stage.budget = getBudget(choices, *stage.step);
  if (plan.rowsInLanes)
    moveRowsInside(stage, plan.tiledAxis, tileSize);
  if (rowsOutside)
    moveRowsOutside(stage);
  return stage;
}

bool FusedCodeBuilder::mayMultiplyBy(int64_t means) {
  constexpr int64_t kBits = 512;
  return choices.matrixTiles == means && vectorBits == kBits &&
         getElementType(fused.getInit()).isBF16() &&
         llvm::none_of(fused.getModeProducts(), [](ModeProductOp product) {
           return product.getPrecision() == Precision::Ieee;
         });
}

bool FusedCodeBuilder::usesTiles(const Stage &stage) {
  return mayMultiplyBy(kMatrixTiles) &&
         getAmxMapping(stage) != AmxMapping::None;
}

void FusedCodeBuilder::planSections() {
  tileSize = getTileSize(fused, plan, choices);
  sections = getSections(plan, choices);
}

/// Where the factor of the only group depends on the innermost axis, tiles take
/// one position of that axis after the other, once it lies outside of the
/// others. Returns whether that is what will be done.
bool FusedCodeBuilder::planMovedTiles(
    function_ref<Stage(unsigned)> getPlanned) {
  if (plan.groups.size() != 1 || !mayMultiplyBy(kMatrixTiles) ||
      usesTiles(getPlanned(0)))
    return false;
  movesInnermost = copiesOut = true;
  // Elements of a short axis are picked from the input as it lies.
  if (!usesTiles(getPlanned(0)))
    copiesIn = true;
  if (!usesTiles(getPlanned(0)))
    movesInnermost = copiesIn = false;
  copiesOut = movesInnermost || arrays.epilogue;
  return movesInnermost;
}

/// Where lanes run over q together with a short innermost axis that the factor
/// depends on, single elements of the input are repeated by shuffles, and lanes
/// stay empty unless that axis divides a register. If a large factor is used
/// for many rows, it is worth to put that axis outside of the others, on the
/// way in and out. Returns whether that is what will be done.
bool FusedCodeBuilder::planMovedGroups(
    function_ref<Stage(unsigned)> getPlanned) {
  constexpr int64_t kMinSize = 96, kMinRows = 128;
  const StageGroup &group = plan.groups.front();
  int innermost = plan.roles.size() - 1;
  int64_t inside = arrays.factors.front().sizes[innermost];
  if (plan.groups.size() != 1 || plan.tiledAxis < 0 ||
      plan.isTiledInnermost() || plan.roles[innermost] != AxisRole::Whole ||
      llvm::isPowerOf2_64(inside) || fused.getInputPermutation() ||
      std::min(group.sizeK, group.sizeN) < kMinSize)
    return false;
  Int rows = arrays.sizes[plan.tiledAxis];
  if ((rows.isConstant() && rows.getConstant() < kMinRows) ||
      getStageMapping(getPlanned(0)) != StageMapping::Fibre)
    return false;
  rowsOutside = movesInnermost = copiesIn = copiesOut = true;
  if (getStageMapping(getPlanned(0)) != StageMapping::Fibre)
    rowsOutside = movesInnermost = copiesIn = copiesOut = false;
  return movesInnermost;
}

/// Few rows at the inner end leave lanes empty, or make them wait for shuffles:
/// where a factor is contiguous along p, tiles are transposed on the way in and
/// out, and lanes run over p. Returns whether that is what will be done.
bool FusedCodeBuilder::planRowsOutside(
    function_ref<Stage(unsigned)> getPlanned) {
  // Weights per element that is transposed, from which on it was measured to
  // be faster.
  constexpr int64_t kMinWeights = 20;
  const StageGroup &group = plan.groups.front();
  if (plan.groups.size() != 1 || !plan.isTiledInnermost() ||
      group.sizeK * group.sizeN < kMinWeights * (group.sizeK + group.sizeN) ||
      fused.getInputPermutation() || usesTiles(getPlanned(0)))
    return false;
  bool copiedIn = copiesIn, copiedOut = copiesOut;
  rowsOutside = movesInnermost = copiesIn = copiesOut = true;
  if (getStageMapping(getPlanned(0)) != StageMapping::K) {
    rowsOutside = movesInnermost = false;
    copiesIn = copiedIn;
    copiesOut = copiedOut;
  }
  return rowsOutside;
}

/// Whether the first step broadcasts elements of the input, and needs none of
/// its vectors: then a copy of it need not be transposed.
bool FusedCodeBuilder::canKeepTransposed(
    function_ref<Stage(unsigned)> getPlanned) {
  if (!plan.transposesInput)
    return false;
  Stage first = getPlanned(0);
  return first.axis + 1 == first.sizes.size() && !usesTiles(first) &&
         getStageMapping(first) == StageMapping::Fibre &&
         !getScratchElements(first);
}

/// Whether the products of bf16 of a single factor are made in pairs. For few
/// rows factors are multiplied as they lie.
bool FusedCodeBuilder::planPairs() {
  auto is16BitFloat = [](Type type) { return type && type.isBF16(); };
  const StageGroup &group = plan.groups.front();
  return mayMultiplyBy(kPairProducts) && plan.groups.size() == 1 &&
         group.products.size() == 1 && plan.views.empty() &&
         sections.size() == 1 && !plan.rowsInLanes && !plan.transposesInput &&
         group.sizeK && group.sizeK % 2 == 0 &&
         is16BitFloat(arrays.input.element) &&
         is16BitFloat(arrays.factors.front().array.element) &&
         choices.steps.front().convertsFactor;
}

/// Decides which of the user's arrays are copied and which factors are packed,
/// and packs them.
void FusedCodeBuilder::planStages() {
  unsigned numGroups = plan.groups.size();
  // An extent that is only known later must not look like a constant.
  Int extent = getTiledExtent(outer, arrays, 0);
  if (plan.tiledAxis >= 0 &&
      !(arrays.sizes[plan.tiledAxis].isConstant() &&
        arrays.sizes[plan.tiledAxis].getConstant() % tileSize == 0))
    extent = Int(outer.materialize(extent));
  FusedWindow tile = getTileWindow(extent);

  // Factors may have become others meanwhile.
  auto getPlanned = [&](unsigned index) {
    FusedPlace place{arrays.input, arrays.init, arrays};
    const Section &section = *llvm::find_if(
        sections, [&](const Section &each) { return index < each.end; });
    FusedWindow window = getWindow(section, tile);
    StageArray source = index == 0 && !copiesIn
                            ? arrays.input
                            : getIntermediate(Value(), index);
    StageArray destination =
        index + 1 == numGroups && !copiesOut
            ? arrays.init
            : getIntermediate(Value(), index + 1, /*asWritten=*/true);
    return getStage(place, index, window, source, destination);
  };
  auto isUnsupported = [&](unsigned index) {
    Stage stage = getPlanned(index);
    return getStageMapping(stage) == StageMapping::Unsupported &&
           !usesTiles(stage);
  };
  // An epilogue is applied on the way out, to what is still in cache.
  copiesOut = arrays.epilogue.has_value();
  // Tiles take bf16, and what lies far apart, as it is.
  bool startsInTiles = planMovedTiles(getPlanned) || usesTiles(getPlanned(0));
  // Prefer to copy the input alone, then the result alone, then both. What is
  // to be converted is copied anyway, unless elements are loaded about once.
  hasPairs = planPairs();
  if (hasPairs)
    pairFactor();
  bool converts =
      hasPairs || (!startsInTiles && isConverted(arrays.input.element) &&
                   (choices.convertsInput || !canConvertSource(getPlanned(0))));
  copiesIn |= converts;
  bool moves = !startsInTiles && !hasPairs &&
               (planRowsOutside(getPlanned) || planMovedGroups(getPlanned));
  if (!moves && !plan.rowsInLanes && isUnsupported(0)) {
    copiesIn = true;
    if (numGroups == 1 && isUnsupported(0)) {
      copiesIn = converts;
      copiesOut = true;
      copiesIn = converts || isUnsupported(0);
    }
  }
  if (!plan.rowsInLanes && numGroups > 1 && isUnsupported(numGroups - 1))
    copiesOut = true;
  copiesIn |= (plan.packsInput && !startsInTiles && !choices.readsSegments) ||
              plan.transposesInput || plan.rowsInLanes;
  copiesOut |= plan.rowsInLanes;
  // Several factors have read all of a tile before the last one stores.
  copiesIn |= isInPlace() && numGroups == 1 && !canWorkInPlace(getPlanned(0));
  keepsTransposed = canKeepTransposed(getPlanned);

  for (unsigned index = 0; index < numGroups; ++index)
    packFactor(index, getPlanned);
  if (!stages.back().usesTiles)
    planStreaming(getPlanned(numGroups - 1));
  planBuffers();
}

void FusedCodeBuilder::planBuffers() {
  buffers.assign(sections.size(), {});
  unsigned first = copiesIn ? 0 : 1, end = plan.groups.size() + copiesOut;
  for (unsigned applied = first; applied < end; ++applied) {
    SectionBuffers &owner = buffers[getOwner(applied)];
    StageArray buffer = getIntermediate(Value(), applied);
    FusedWindow window =
        getWindow(sections[getOwner(applied)], getTileWindow(tileSize));
    int64_t last = 0;
    for (auto [size, stride] :
         llvm::zip(getStoredSizes(window, applied), buffer.strides))
      last += (size - 1) * stride.getConstant();
    // Whole cache lines, so that two buffers do not share one.
    owner.elements = std::max<int64_t>(
        owner.elements,
        llvm::alignTo(last + 1, kLineBytes / outer.getElementBytes()));
    owner.count = std::min<int64_t>(owner.count + 1, 2);
  }
  int64_t elements = 0;
  for (SectionBuffers &each : llvm::reverse(buffers)) {
    each.offset = elements;
    elements += each.count * each.elements;
  }
  stagedOffset = elements;
  elements += (stagesSegments ? 1 : 2) * stagedElements;
  scratchBytes = (elements + packedElements + stageScratchElements) *
                 outer.getElementBytes();
}

/// Whether all tiles and slices start at vectors if the first one does, and
/// the strides that are not known yet, which are added to `strides`, are
/// multiples of them.
bool FusedCodeBuilder::canStreamTiles(SmallVectorImpl<Value> &strides) const {
  int64_t lanes = vectorBits / 8 / outer.getElementBytes();
  for (auto [axis, role] : llvm::enumerate(plan.roles)) {
    bool isSliced = llvm::any_of(sections, [axis = axis](const Section &each) {
      return each.sliceAxis == static_cast<int>(axis);
    });
    if ((role == AxisRole::Whole && !isSliced) || arrays.sizes[axis].is(1))
      continue;
    Int stride = arrays.init.strides[axis];
    if (!stride.isConstant())
      strides.push_back(stride.getValue());
    else if (role == AxisRole::Tiled && stride.is(1) && tileSize % lanes == 0)
      continue;
    else if (stride.getConstant() % lanes)
      return false;
  }
  return true;
}

Int FusedCodeBuilder::countBytes() {
  Int results = outer.getElementBytes(), inputs = outer.getElementBytes();
  for (auto [axis, size] : llvm::enumerate(arrays.sizes)) {
    bool isWhole = plan.roles[axis] == AxisRole::Whole;
    results = outer.mul(results, size);
    inputs =
        outer.mul(inputs, isWhole ? Int(plan.getWholeSize(axis, 0)) : size);
  }
  return outer.add(results, inputs);
}

/// Builds the condition for storing results non-temporally: input and result
/// are large, and all vectors of the result are aligned, or tiles of it are.
void FusedCodeBuilder::planStreaming(const Stage &last) {
  int64_t threshold = choices.streamBytes;
  // Adding to what the result held has read it into the cache, as computing in
  // its place has.
  bool readsInit = isInPlace() || (arrays.addend.base &&
                                   arrays.addend.base == arrays.init.base);
  if (threshold <= 0 || readsInit)
    return;
  Int bytes = countBytes();
  if (bytes.isConstant() && bytes.getConstant() < threshold)
    return;
  SmallVector<Value> strides;
  bool isDirect =
      !copiesOut && canStream(last, strides) && canStreamTiles(strides);
  int64_t elements = countElements(getTileWindow(tileSize), plan.groups.size());
  SmallVector<Value> stagedStrides, segmentStrides;
  if ((!isDirect || choices.staging == kStagesAll) &&
      canStageResults(stagedStrides)) {
    stagedElements = elements;
    strides = stagedStrides;
  } else if (!isDirect && canStageSegments(segmentStrides)) {
    stagedElements = elements;
    stagesSegments = true;
    strides = segmentStrides;
  } else if (!isDirect) {
    return;
  }
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           arrays.init.base);
  Int bits(address);
  int64_t stored = stagesSegments ? getResultBytes() : outer.getElementBytes();
  for (Value stride : strides)
    bits = outer.bitOr(bits, outer.mul(stride, stored));
  Value aligned = outer.equal(outer.bitAnd(bits, kLineBytes - 1), 0);
  Value large = outer.less(threshold - 1, bytes);
  Value both = arith::AndIOp::create(builder, loc, aligned, large);
  streams = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), both);
  isLargeResult = bytes.isConstant();
}

void FusedCodeBuilder::emitCall(func::FuncOp body, Int count,
                                ArrayRef<Value> captures) {
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slots = RuntimeCalls::reserveStack(
      builder, loc, i64, std::max<int64_t>(captures.size(), 1));
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, i64, slots,
                                     LLVM::GEPArg(static_cast<int32_t>(index)));
    LLVM::StoreOp::create(builder, loc, value, slot);
  }

  // Ranges worth a thread, from the work of one tile.
  int64_t fmas = countFmas(getTileWindow(tileSize), 0, plan.groups.size()) + 1;
  int64_t most = choices.threadFmas;
  int64_t grain =
      fmas > most / 2 ? -std::max<int64_t>(1, fmas / most) : most / fmas;
  runtime.parallelFor(outer, count, grain, body, slots, scratchBytes);
}

WorkspaceBytes FusedCodeBuilder::emit() {
  builder.setInsertionPoint(fused);
  planSections();
  arrays = collectArrays(outer, runtime, fused, plan);
  planStages();
  remark::analysis(loc, remark::RemarkOpts::name("Fused").category("kron-emit"))
      << remark::metric("CopiesIn", copiesIn)
      << remark::metric("CopiesOut", copiesOut)
      << remark::metric("RowsOutside", rowsOutside)
      << remark::metric("PacksInBody", packedElements != 0)
      << remark::metric("Pairs", hasPairs)
      << remark::metric("Scaled", arrays.scale.alpha || arrays.scale.beta)
      << remark::metric("StagesSegments", stagesSegments)
      << remark::metric("Joined",
                        plan.groups.size() < fused.getModeProducts().size());

  std::string name =
      (fused->getParentOfType<func::FuncOp>().getSymName() + "_fused").str();
  func::FuncOp body = runtime.createBody(builder, loc, name);
  // LLVM IR keeps the mark: lib/Target optimizes explicit kernels lightly.
  body->setAttr("passthrough", builder.getStrArrayAttr({kKernelFunctionAttr}));
  SmallVector<Value> captures;
  emitBody(body, captures);
  emitCall(body, getNumTiles(outer, arrays), captures);
  return runtime.getWorkspace();
}

WorkspaceBytes kron::emitFusedOp(OpBuilder &builder, SymbolTable &symbols,
                                 FusedOp fused) {
  OpBuilder::InsertionGuard guard(builder);
  return FusedCodeBuilder(builder, symbols, fused).emit();
}
