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
#include "AmxStep.h"
#include "Captures.h"
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

Step FusedCodeBuilder::makeStep(const FusedPlace &place, unsigned index,
                                const FusedWindow &window,
                                const StepArray &source,
                                const StepArray &destination) {
  Step step;
  static_cast<StepLayout &>(step) =
      describeStep(place.arrays, index, window, source, destination);
  if (index + 1 == plan.groups.size() && !copiesOut)
    step.scale = place.arrays.scale;
  return step;
}

Int FusedCodeBuilder::getTiledExtent(Emitter &emitter,
                                     const FusedArrays &arrays, Int start) {
  if (plan.tiledAxis < 0)
    return 1;
  if (hasWholeTiles())
    return tileSize;
  return emitter.min(tileSize,
                     emitter.sub(arrays.sizes[plan.tiledAxis], start));
}

void FusedCodeBuilder::startSteps() {
  // An extent that is only known later must not look like a constant.
  Int extent = getTiledExtent(outer, arrays, 0);
  if (!hasWholeTiles())
    extent = Int(outer.materialize(extent));
  planSteps(extent);
  if (!steps.back().usesTiles)
    planStreaming(getPlanned(plan.groups.size() - 1));
  planBuffers();
}

void FusedCodeBuilder::planBuffers() {
  buffers.assign(sections.size(), {});
  unsigned first = copiesIn ? 0 : 1, end = plan.groups.size() + copiesOut;
  for (unsigned applied = first; applied < end; ++applied) {
    SectionBuffers &owner = buffers[getOwner(applied)];
    StepArray buffer = getIntermediate(Value(), applied);
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
  elements += (hasStagedSegments ? 1 : 2) * stagedElements;
  scratchBytes = (elements + packedElements + stepScratchElements) *
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
    else if (role == AxisRole::Tiled && stride.is(1) && tileSize % lanes == 0 &&
             !(repeatsPositions() && arrays.sizes[axis].getConstant() % lanes))
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
void FusedCodeBuilder::planStreaming(const StepLayout &last) {
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
  if ((!isDirect || choices.staging == kAllStaged) &&
      canHaveStagedResults(stagedStrides)) {
    stagedElements = elements;
    strides = stagedStrides;
  } else if (!isDirect && canHaveStagedSegments(segmentStrides)) {
    stagedElements = elements;
    hasStagedSegments = true;
    strides = segmentStrides;
  } else if (!isDirect) {
    return;
  }
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           arrays.init.base);
  Int bits(address);
  int64_t stored =
      hasStagedSegments ? getResultBytes() : outer.getElementBytes();
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
  Value slots = storeCaptures(builder, loc, captures);
  int64_t fmas = countFmas(getTileWindow(tileSize), 0, plan.groups.size()) + 1;
  int64_t grain = RuntimeCalls::getGrain(fmas, choices.threadFmas);
  runtime.parallelFor(outer, count, grain, body, slots, scratchBytes);
}

WorkspaceBytes FusedCodeBuilder::emit() {
  builder.setInsertionPoint(fused);
  arrays = collectArrays(outer, runtime, fused, plan);
  startSteps();
  remark::analysis(loc, remark::RemarkOpts::name("Fused").category("kron-emit"))
      << remark::metric("CopiesIn", copiesIn)
      << remark::metric("CopiesOut", copiesOut)
      << remark::metric("RowsOutside", rowsOutside)
      << remark::metric("PacksInBody", packedElements != 0)
      << remark::metric("Pairs", hasPairs)
      << remark::metric("Scaled", arrays.scale.alpha || arrays.scale.beta)
      << remark::metric("StagedSegments", hasStagedSegments)
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
