//===- PassEmitter.cpp - CPU code of one kron.pass --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A pass becomes
//
//   pack factors that the kernels cannot load as they lie      (shared
//   workspace) kronRtParallelFor over tiles:
//     body: for each tile of the range
//       stage 1: X -> buffer 0, stage 2: buffer 0 -> buffer 1, ... last -> Y
//
// The body is a function of its own, since the runtime calls it; what it uses
// from outside travels in an array of 8-byte captures. Tile buffers are the
// thread's scratch. An array of the user that is not contiguous where vector
// lanes must run is copied into or out of a buffer, tile by tile.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/PassEmitter.h"
#include "PassArrays.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Multiply-adds below which a range of tiles is not worth a thread.
static constexpr int64_t kMinParallelFmas = 1 << 16;
static constexpr int64_t kAlignment = 64;

/// x86-64-v3 has F16C, x86-64-v2, for which vectors have 128 bits, has not.
static bool hasHalfConversion(int64_t vectorBits) { return vectorBits > 128; }

namespace {

/// One stage between two arrays, and how its factor is packed.
struct PlannedStage {
  bool packs = false;
  PackedFactor packed;
  SmallVector<int64_t> factorSizes;
};

class PassEmitter {
public:
  PassEmitter(OpBuilder &builder, SymbolTable &symbols, PassOp pass)
      : builder(builder), runtime(symbols), pass(pass), loc(pass.getLoc()),
        element(
            getStorageType(getAccumulatorType(getElementType(pass.getInit())))),
        vectorBits(pass.getSchedule()->getVectorBits()),
        plan(getPassPlan(pass, vectorBits)), outer(builder, loc, element) {
    outer.hasHalfConversion = hasHalfConversion(vectorBits);
  }

  WorkspaceBytes emit();

private:
  // Outside of the body.
  /// Whether elements that lie in memory as `stored` are computed in another
  /// type.
  bool isConverted(Type stored) const { return stored && stored != element; }
  void convertFactor(unsigned index);
  void planStages();
  void emitCall(func::FuncOp body, Int count, ArrayRef<Value> captures);

  // Both.
  Int getTiledExtent(Emitter &emitter, const PassArrays &arrays, Int start);
  SmallVector<Int> getTileSizes(const PassArrays &arrays, Int tiledExtent);
  Stage getStage(const PassArrays &arrays, unsigned group,
                 ArrayRef<Int> tileSizes, const StageArray &source,
                 const StageArray &destination, bool isLast);
  StageArray getBuffer(Value base, ArrayRef<int64_t> sizes) const;
  SmallVector<int64_t> getBufferSizes(unsigned groupsApplied) const;

  // Inside of the body.
  void emitBody(func::FuncOp body, SmallVectorImpl<Value> &captures);
  void emitTile(Emitter &emitter, const PassArrays &arrays, Value scratch,
                Int tile);
  void emitCopy(Emitter &emitter, ArrayRef<Int> sizes, const StageArray &from,
                const StageArray &to, const TileScale &scale,
                const StageArray &addend);
  Int getNumTiles(Emitter &emitter, const PassArrays &arrays);

  OpBuilder &builder;
  RuntimeCalls runtime;
  PassOp pass;
  Location loc;
  /// What is computed with, and what buffers hold.
  Type element;
  int64_t vectorBits;
  PassPlan plan;
  int64_t tileSize = 1;
  Emitter outer;
  PassArrays arrays;
  SmallVector<PlannedStage> stages;
  bool copiesIn = false, copiesOut = false;
  int64_t scratchBytes = 0;
  int64_t bufferElements = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Int PassEmitter::getTiledExtent(Emitter &emitter, const PassArrays &arrays,
                                Int start) {
  if (plan.tiledAxis < 0)
    return 1;
  Int size = arrays.sizes[plan.tiledAxis];
  if (size.isConstant() && size.getConstant() % tileSize == 0)
    return tileSize;
  return emitter.min(tileSize, emitter.sub(size, start));
}

SmallVector<Int> PassEmitter::getTileSizes(const PassArrays &arrays,
                                           Int tiledExtent) {
  SmallVector<Int> sizes;
  for (auto [role, size] : llvm::zip(plan.roles, arrays.sizes)) {
    if (role == AxisRole::Grid)
      sizes.push_back(1);
    else
      sizes.push_back(role == AxisRole::Tiled ? tiledExtent : size);
  }
  return sizes;
}

/// Sizes of a tile after the first `groupsApplied` groups, with the tiled axis
/// at its largest: buffers are laid out for that.
SmallVector<int64_t> PassEmitter::getBufferSizes(unsigned groupsApplied) const {
  SmallVector<int64_t> sizes;
  for (auto [role, size] : llvm::zip(plan.roles, arrays.sizes)) {
    if (role == AxisRole::Whole)
      sizes.push_back(size.getConstant());
    else
      sizes.push_back(role == AxisRole::Tiled ? tileSize : 1);
  }
  // Undo the groups that are still to come.
  for (unsigned index = plan.groups.size(); index-- > groupsApplied;)
    for (ModeProductOp product : plan.groups[index].products)
      sizes[product.getAxis()] =
          cast<ShapedType>(product.getFactor().getType())
              .getDimSize(product.getContractedFactorDim());
  return sizes;
}

StageArray PassEmitter::getBuffer(Value base, ArrayRef<int64_t> sizes) const {
  StageArray buffer{base, SmallVector<Int>(sizes.size(), 0)};
  int64_t stride = 1;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    buffer.strides[axis] = stride;
    stride *= sizes[axis];
  }
  return buffer;
}

/// Replaces the axes of a group by one.
static SmallVector<Int> collapse(const SmallVector<Int> &values,
                                 const StageGroup &group) {
  if (values.empty())
    return values;
  SmallVector<Int> result(values);
  unsigned extra = group.products.size() - 1;
  result.erase(result.begin() + group.axis,
               result.begin() + group.axis + extra);
  return result;
}

static StageArray collapse(const StageArray &array, const StageGroup &group) {
  return {array.base, collapse(array.strides, group), array.element};
}

Stage PassEmitter::getStage(const PassArrays &arrays, unsigned index,
                            ArrayRef<Int> tileSizes, const StageArray &source,
                            const StageArray &destination, bool isLast) {
  const StageGroup &group = plan.groups[index];
  Stage stage;
  stage.axis = group.axis;
  stage.depth = group.depth;
  stage.results = group.results;
  // Axes that later groups contract still have the size from before.
  SmallVector<Int> sizes(tileSizes);
  SmallVector<int64_t> current = getBufferSizes(index);
  for (auto [axis, role] : llvm::enumerate(plan.roles))
    if (role == AxisRole::Whole)
      sizes[axis] = current[axis];
  stage.sizes = collapse(sizes, group);
  stage.source = collapse(source, group);
  stage.destination = collapse(destination, group);
  stage.factor = arrays.factors[index].array;
  stage.factor.strides = collapse(stage.factor.strides, group);
  if (isLast) {
    stage.scale = arrays.scale;
    stage.addend = collapse(arrays.addend, group);
  }
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
  stage.elementBytes = outer.getElementBytes();
  stage.elementParts = outer.getNumParts();
  stage.vectorBits = vectorBits;
  stage.schedule = *pass.getSchedule();
  return stage;
}

/// Replaces the factor of a group by a copy in the type that is computed with,
/// its dimensions in the order in which they lie in memory.
void PassEmitter::convertFactor(unsigned index) {
  FactorArray &factor = arrays.factors[index];
  struct Dim {
    int64_t size;
    Int *stride;
    size_t number;
  };
  SmallVector<Dim> dims;
  for (auto [size, stride] : llvm::zip(factor.sizes, factor.array.strides))
    if (size != 1)
      dims.push_back({size, &stride, dims.size()});
  dims.push_back(
      {plan.groups[index].depth, &factor.array.depthStride, dims.size()});
  dims.push_back(
      {plan.groups[index].results, &factor.array.resultStride, dims.size()});
  // Outer dimensions first, those of unknown strides among them.
  auto getOrder = [](const Dim &dim) {
    Int stride = *dim.stride;
    return std::make_pair(
        stride.isConstant() ? -stride.getConstant() : INT64_MIN, dim.number);
  };
  llvm::sort(dims, [&](const Dim &lhs, const Dim &rhs) {
    return getOrder(lhs) < getOrder(rhs);
  });

  int64_t elements = 1;
  SmallVector<Int> sizes;
  StageArray from{factor.array.base, {}, factor.array.element};
  for (const Dim &dim : dims) {
    sizes.push_back(dim.size);
    from.strides.push_back(*dim.stride);
    elements *= dim.size;
  }
  StageArray to{runtime.allocateShared(outer, elements), {}};
  for (const Dim &dim : dims) {
    elements /= dim.size;
    *dim.stride = elements;
    to.strides.push_back(elements);
  }
  emitCopy(outer, sizes, from, to, {}, {});
  factor.array.base = to.base;
  factor.array.element = nullptr;
}

/// Decides which of the user's arrays are copied and which factors are packed,
/// and packs them.
void PassEmitter::planStages() {
  unsigned numGroups = plan.groups.size();
  // An extent that is only known later must not look like a constant.
  Int extent = getTiledExtent(outer, arrays, 0);
  if (plan.tiledAxis >= 0 &&
      !(arrays.sizes[plan.tiledAxis].isConstant() &&
        arrays.sizes[plan.tiledAxis].getConstant() % tileSize == 0))
    extent = Int(outer.materialize(extent));
  SmallVector<Int> sizes = getTileSizes(arrays, extent);

  auto getPlanned = [&](unsigned index) {
    bool isLast = index + 1 == numGroups;
    StageArray source = index == 0 && !copiesIn
                            ? arrays.input
                            : getBuffer(Value(), getBufferSizes(index));
    StageArray destination =
        isLast && !copiesOut ? arrays.init
                             : getBuffer(Value(), getBufferSizes(index + 1));
    return getStage(arrays, index, sizes, source, destination,
                    isLast && !copiesOut);
  };
  auto isUnsupported = [&](unsigned index) {
    return getStageMapping(getPlanned(index)) == StageMapping::Unsupported;
  };
  // Prefer to copy the input alone, then the result alone, then both. What is
  // to be converted is copied anyway: elements are loaded more than once.
  bool converts = isConverted(arrays.input.element);
  copiesIn = converts;
  if (isUnsupported(0)) {
    copiesIn = true;
    if (numGroups == 1 && isUnsupported(0)) {
      copiesIn = converts;
      copiesOut = true;
      copiesIn = converts || isUnsupported(0);
    }
  }
  if (numGroups > 1 && isUnsupported(numGroups - 1))
    copiesOut = true;

  for (unsigned index = 0; index < numGroups; ++index) {
    Stage stage = getPlanned(index);
    PlannedStage planned;
    SmallVector<Int> factorSizes;
    for (int64_t size : arrays.factors[index].sizes)
      factorSizes.push_back(size);
    for (Int size : collapse(factorSizes, plan.groups[index]))
      planned.factorSizes.push_back(size.getConstant());
    planned.packs = needsPacking(stage);
    if (!planned.packs && isConverted(stage.factor.element)) {
      convertFactor(index);
      stage = getPlanned(index);
      planned.packs = needsPacking(stage);
    }
    if (planned.packs) {
      planned.packed = getPackedFactor(stage, planned.factorSizes);
      Value base = runtime.allocateShared(outer, planned.packed.elements);
      emitPacking(outer, stage, planned.factorSizes, planned.packed, base);
      arrays.factors[index].array.base = base;
      arrays.factors[index].array.element = nullptr;
    }
    stages.push_back(planned);
  }

  for (unsigned applied = copiesIn ? 0 : 1;
       applied < numGroups + (copiesOut ? 1 : 0); ++applied) {
    int64_t elements = 1;
    for (int64_t size : getBufferSizes(applied))
      elements *= size;
    bufferElements = std::max(bufferElements, elements);
  }
  // Whole cache lines, so that two buffers do not share one.
  bufferElements =
      llvm::alignTo(bufferElements, kAlignment / outer.getElementBytes());
  int64_t numBuffers = std::min<int64_t>(2, numGroups - 1 + (copiesIn ? 1 : 0) +
                                                (copiesOut ? 1 : 0));
  scratchBytes = numBuffers * bufferElements * outer.getElementBytes();
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

Int PassEmitter::getNumTiles(Emitter &emitter, const PassArrays &arrays) {
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

/// Copies element by element, scaling on the way.
void PassEmitter::emitCopy(Emitter &emitter, ArrayRef<Int> sizes,
                           const StageArray &from, const StageArray &to,
                           const TileScale &scale, const StageArray &addend) {
  std::function<void(unsigned, Value, Value, Value)> copy =
      [&](unsigned axis, Value source, Value target, Value other) {
        if (axis == sizes.size()) {
          Value value = emitScaledSum(
              emitter, scale, emitter.loadScalar(source, from.element),
              [&] { return emitter.loadScalar(other, addend.element); });
          emitter.storeScalar(value, target, to.element);
          return;
        }
        emitter.forLoop(0, sizes[axis], 1, [&](Int position) {
          auto move = [&](Value base, const StageArray &array) {
            return base ? emitter.offsetPointer(
                              base, emitter.mul(position, array.strides[axis]),
                              array.element)
                        : base;
          };
          copy(axis + 1, move(source, from), move(target, to),
               move(other, addend));
        });
      };
  copy(0, from.base, to.base, scale.beta ? addend.base : Value());
}

void PassEmitter::emitTile(Emitter &emitter, const PassArrays &all,
                           Value scratch, Int tile) {
  // Where this tile starts in every array.
  PassArrays tileArrays = all;
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
    auto move = [&](auto &array, Int stride) {
      array.base = emitter.offsetPointer(array.base, emitter.mul(start, stride),
                                         array.element);
    };
    move(tileArrays.input, all.input.strides[axis]);
    move(tileArrays.init, all.init.strides[axis]);
    if (all.addend.base)
      move(tileArrays.addend, all.addend.strides[axis]);
    for (auto [index, factor] : llvm::enumerate(tileArrays.factors)) {
      const StageGroup &group = plan.groups[index];
      // A joint factor varies on no axis, so axis numbers need no shift.
      bool packs = stages[index].packs && group.products.size() == 1;
      move(factor.array, packs ? Int(stages[index].packed.strides[axis])
                               : factor.array.strides[axis]);
    }
  }

  unsigned numGroups = plan.groups.size();
  SmallVector<Int> sizes = getTileSizes(all, tiledExtent);
  Value buffers[2] = {scratch, emitter.offsetPointer(scratch, bufferElements)};
  unsigned nextBuffer = 0;
  StageArray source = tileArrays.input;
  auto takeBuffer = [&](unsigned applied) {
    StageArray buffer = getBuffer(buffers[nextBuffer], getBufferSizes(applied));
    nextBuffer = 1 - nextBuffer;
    return buffer;
  };
  if (copiesIn) {
    StageArray buffer = takeBuffer(0);
    SmallVector<Int> copySizes(sizes);
    SmallVector<int64_t> before = getBufferSizes(0);
    for (auto [axis, role] : llvm::enumerate(plan.roles))
      if (role == AxisRole::Whole)
        copySizes[axis] = before[axis];
    emitCopy(emitter, copySizes, source, buffer, {}, {});
    source = buffer;
  }
  for (unsigned index = 0; index < numGroups; ++index) {
    bool direct = index + 1 == numGroups && !copiesOut;
    StageArray destination = direct ? tileArrays.init : takeBuffer(index + 1);
    Stage stage =
        getStage(tileArrays, index, sizes, source, destination, direct);
    emitStage(emitter, stage,
              stages[index].packs ? &stages[index].packed : nullptr);
    source = destination;
  }
  if (copiesOut)
    emitCopy(emitter, sizes, source, tileArrays.init, tileArrays.scale,
             tileArrays.addend);
}

/// Fills the body function; `captures` receives the outer values that it uses.
void PassEmitter::emitBody(func::FuncOp body,
                           SmallVectorImpl<Value> &captures) {
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = body.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Emitter emitter(builder, loc, element);
  emitter.hasHalfConversion = outer.hasHalfConversion;
  Value begin = entry->getArgument(0), end = entry->getArgument(1);
  Value scratch = entry->getArgument(2), slots = entry->getArgument(3);

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

  emitter.forLoop(Int(begin), Int(end), 1,
                  [&](Int tile) { emitTile(emitter, inside, scratch, tile); });
  func::ReturnOp::create(builder, loc);
}

void PassEmitter::emitCall(func::FuncOp body, Int count,
                           ArrayRef<Value> captures) {
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slots;
  {
    // In the entry block, so that a pass within a loop does not grow the stack.
    OpBuilder::InsertionGuard guard(builder);
    auto function = pass->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    Value number = arith::ConstantIntOp::create(
        builder, loc, std::max<int64_t>(captures.size(), 1), 64);
    slots = LLVM::AllocaOp::create(builder, loc, pointer, i64, number);
  }
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, i64, slots,
                                     LLVM::GEPArg(static_cast<int32_t>(index)));
    LLVM::StoreOp::create(builder, loc, value, slot);
  }

  // Ranges worth a thread, from the work of one tile.
  double fmas = 1;
  for (unsigned index = 0; index < plan.groups.size(); ++index) {
    double elements = plan.groups[index].depth;
    for (int64_t size : getBufferSizes(index + 1))
      elements *= size;
    fmas += elements;
  }
  int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(kMinParallelFmas / fmas));

  runtime.parallelFor(outer, count, grain, body, slots, scratchBytes);
}

WorkspaceBytes PassEmitter::emit() {
  builder.setInsertionPoint(pass);
  tileSize = std::max<int64_t>(pass.getSchedule()->getTile(), 1);
  arrays = collectArrays(outer, runtime, pass, plan);
  planStages();
  remark::analysis(loc, remark::RemarkOpts::name("Pass").category("kron-emit"))
      << remark::metric("CopiesIn", copiesIn)
      << remark::metric("CopiesOut", copiesOut)
      << remark::metric("Scaled", arrays.scale.alpha || arrays.scale.beta)
      << remark::metric("Joined",
                        plan.groups.size() < pass.getModeProducts().size());

  std::string name =
      (pass->getParentOfType<func::FuncOp>().getSymName() + "_pass").str();
  func::FuncOp body = runtime.createBody(builder, loc, name);
  SmallVector<Value> captures;
  emitBody(body, captures);
  emitCall(body, getNumTiles(outer, arrays), captures);
  return runtime.getWorkspace();
}

WorkspaceBytes kron::emitPass(OpBuilder &builder, SymbolTable &symbols,
                              PassOp pass) {
  OpBuilder::InsertionGuard guard(builder);
  return PassEmitter(builder, symbols, pass).emit();
}
