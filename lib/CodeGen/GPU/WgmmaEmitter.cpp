//===- WgmmaEmitter.cpp - Hopper tensor core code of a pass -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kernel is
//
//   start to load the first tiles of this group of warpgroups
//   copy the factors to shared memory, split into TF32
//   for each tile of the group:
//     wait for the tile, start to load the one after the next
//     for each factor: for each block of 64 rows of this warpgroup:
//       rows -> registers, wgmma, results -> the same place in shared memory,
//       or, after the last factor, -> memory
//
// A warp reads and writes its own 16 rows of a block only, so that stages need a
// barrier between them but none within.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Wgmma.h"
#include "WgmmaInstruction.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes per access to global memory that need aligned arrays.
static constexpr int64_t kVectorBytes = 16;
/// Copies of a tile that are written out one by one.
static constexpr int64_t kMaxUnrolledCopies = 16;

namespace {

/// `var + add`, with 0 <= var < bound.
struct Linear {
  Int var = 0;
  int64_t bound = 1;
  int64_t add = 0;
};

/// An array with the axes of the plan.
struct PlanArray {
  Value base;
  SmallVector<Int> strides;
  Type element;
};

/// A position in a tile, per axis.
using Position = SmallVector<Int>;

/// Rows of a block that a thread has: rows g and g + 8 of its warp's 16.
struct ThreadRows {
  Position first, second;
  /// False where a row is beyond the last one; null: both exist.
  Value firstExists, secondExists;
};

class WgmmaEmitter {
public:
  WgmmaEmitter(OpBuilder &builder, gpu::GPUModuleOp gpuModule, PassOp pass,
               const WgmmaPlan &plan)
      : builder(builder), gpuModule(gpuModule), pass(pass), plan(plan),
        host(builder, pass.getLoc(), builder.getF32Type()) {}

  LogicalResult emit();

private:
  // On the host.
  PlanArray collapse(const StageArray &array, Value memref);
  bool canVectorize(const PlanArray &array, bool loads);
  void addAlignment(const PlanArray &array, Int &bits);
  void collect();
  void emitKernel(bool vectorLoads, bool vectorStores);

  // In the kernel.
  struct Body;

  OpBuilder &builder;
  gpu::GPUModuleOp gpuModule;
  PassOp pass;
  const WgmmaPlan &plan;
  Emitter host;
  SmallVector<Int> sizes;
  PlanArray input, init, addend;
  SmallVector<StageFactor> factors;
  SmallVector<Type> factorElements;
  Scale alpha, beta;
};

/// The kernel itself.
struct WgmmaEmitter::Body {
  Body(WgmmaEmitter &outer, bool vectorLoads, bool vectorStores)
      : outer(outer), plan(outer.plan),
        k(outer.host, outer.gpuModule, getKernelBaseName(outer.pass).str(),
          outer.host.builder.getF32Type()),
        vectorLoads(vectorLoads), vectorStores(vectorStores) {}

  void emit();

private:
  void enterArrays();
  PlanArray enter(const PlanArray &array);
  void numberThreads();
  void copyFactors();
  void emitTiles(Int tiles);
  Position startTile(Int tile);
  Value offsetArray(const PlanArray &array, const Position &start);
  void syncGroup();

  // Loads.
  std::pair<Linear, Linear> split(Linear number, int64_t divisor);
  void issueTile(Int tile, Int tiles, Int buffer);
  void issueCopy(Linear index, Value condition, Value source, Value target,
                 const Position &limits);
  Value hide(Value pointer);
  Value getTileBuffer(Int buffer);

  // Addresses in shared memory.
  Int swizzle(const WgmmaLayout &layout, Int coordinate);
  Int swizzleOf(const WgmmaLayout &layout, const Position &position,
                unsigned except);
  Int addressOf(const WgmmaLayout &layout, const Position &position,
                unsigned except);

  // Stages.
  Position decodeRow(const WgmmaStage &stage, Int row);
  Int getRowOfLane(const WgmmaStage &stage, Int index);
  ThreadRows getThreadRows(const WgmmaStage &stage, Int block);
  void emitStage(unsigned index, Value source, Value target);
  void emitBlock(unsigned index, Int block, Value source, Value target);
  WgmmaRows loadRows(unsigned index, const ThreadRows &rows, Int block,
                     Value source);
  SmallVector<Value> loadInnermost(const WgmmaStage &stage,
                                   const ThreadRows &rows, Value source);
  SmallVector<Value> loadPairs(const WgmmaStage &stage, const ThreadRows &rows,
                               Value source);
  SmallVector<Value> loadHalfInnermost(const WgmmaStage &stage, Int block,
                                       Value source);
  SmallVector<Value> loadHalfPairs(const WgmmaStage &stage,
                                   const ThreadRows &rows, Value source);
  WgmmaRows convertRows(const WgmmaStage &stage, ArrayRef<Value> values);
  Value maskDepth(const WgmmaStage &stage, Value value, Int position,
                  int64_t largest);
  SmallVector<Value> repairSums(unsigned index, const ThreadRows &rows,
                                Value source, ArrayRef<Value> sums);
  Value loadElement(const WgmmaStage &stage, const Position &row, Int p,
                    Value source);
  void storeShared(const WgmmaStage &stage, const ThreadRows &rows,
                   Value target, ArrayRef<Value> sums);

  // Results.
  void storeGlobal(const WgmmaStage &stage, const ThreadRows &rows,
                   ArrayRef<Value> sums);
  Value existsInArray(const WgmmaStage &stage, const Position &row);
  Int offsetOf(const PlanArray &array, const Position &row, unsigned except);
  void storeRun(ArrayRef<Value> sums, ArrayRef<Value> exists, Value target,
                Value addendPointer, Int stride, Int addendStride);
  Value scale(Value sum, function_ref<Value()> loadAddend);
  Value toElement(Value value);

  Int fromBits(Int value, int64_t shift, int64_t mask) {
    return k.bitAnd(k.floorDiv(value, int64_t(1) << shift), mask);
  }

  WgmmaEmitter &outer;
  const WgmmaPlan &plan;
  KernelBuilder k;
  bool vectorLoads, vectorStores;
  PlanArray input, init, addend;
  SmallVector<Int> sizes;
  Value alpha, beta;
  SmallVector<WgmmaFactor> factors;
  Int group, warpgroup, threadOfGroup, warp, lane, laneRow, laneColumn;
  int64_t tileOffset = 0;
  Value descriptorBase;
  /// While copies of a tile are built: quotients and remainders, and the
  /// addresses of the last copy with the variables that they depend on.
  DenseMap<std::pair<Value, int64_t>, std::pair<Int, Int>> splits;
  SmallVector<std::pair<Value, int64_t>> copyVariables;
  std::pair<Value, Value> copyBases;
  /// Of the tile at hand.
  Position start;
  Value initTile, addendTile;
};

} // namespace

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

PlanArray WgmmaEmitter::collapse(const StageArray &array, Value memref) {
  PlanArray result{array.base, {}, getElementType(memref)};
  for (const WgmmaAxis &axis : plan.axes)
    result.strides.push_back(array.strides[axis.passAxes.back()]);
  return result;
}

/// Whether runs of the array can be accessed by vectors, provided that the
/// address and what is only known at run time are aligned.
bool WgmmaEmitter::canVectorize(const PlanArray &array, bool loads) {
  int64_t lanes = kVectorBytes / getElementBytes(array.element);
  unsigned last = plan.axes.size() - 1;
  if (!array.strides[last].is(1))
    return false;
  int64_t run = loads ? plan.axes[last].before : plan.axes[last].after;
  if (!ShapedType::isDynamic(run) && run % lanes != 0)
    return false;
  if (plan.axes[last].stage < 0 && plan.axes[last].tile % lanes != 0)
    return false;
  for (unsigned axis = 0; axis < last; ++axis)
    if (array.strides[axis].isConstant() &&
        array.strides[axis].getConstant() % lanes != 0)
      return false;
  return true;
}

/// Ors together what must be a multiple of 16 bytes.
void WgmmaEmitter::addAlignment(const PlanArray &array, Int &bits) {
  int64_t elementBytes = getElementBytes(array.element);
  Value address = LLVM::PtrToIntOp::create(builder, host.loc,
                                           builder.getI64Type(), array.base);
  bits = host.bitOr(bits, Int(address));
  for (Int stride : array.strides)
    if (!stride.isConstant())
      bits = host.bitOr(bits, host.mul(stride, elementBytes));
  if (!sizes.back().isConstant())
    bits = host.bitOr(bits, host.mul(sizes.back(), elementBytes));
}

void WgmmaEmitter::collect() {
  PassOperands operands = getPassOperands(host, pass);
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  for (const WgmmaAxis &axis : plan.axes) {
    Int size = 1;
    for (unsigned passAxis : axis.passAxes)
      size = host.mul(size, operands.sizes[passAxis]);
    sizes.push_back(size);
  }
  input = collapse(operands.input, pass.getInputs().front());
  init = collapse(operands.init, pass.getInit());
  alpha = operands.alpha;
  beta = operands.beta;
  if (operands.addend.base)
    addend = collapse(operands.addend, pass.getInit());
  for (ModeProductOp product : products) {
    factors.push_back(getPassFactor(host, pass, product).array);
    factorElements.push_back(getElementType(product.getFactor()));
  }
}

LogicalResult WgmmaEmitter::emit() {
  OpBuilder::InsertionGuard guard(builder);
  collect();
  bool loads = canVectorize(input, /*loads=*/true);
  bool stores = canVectorize(init, /*loads=*/false) &&
                (!addend.base || canVectorize(addend, /*loads=*/false));
  if (!loads && !stores) {
    emitKernel(false, false);
    return success();
  }
  Int bits = 0;
  if (loads)
    addAlignment(input, bits);
  if (stores) {
    addAlignment(init, bits);
    if (addend.base)
      addAlignment(addend, bits);
  }
  Value aligned = host.equal(host.bitAnd(bits, kVectorBytes - 1), 0);
  auto branch = scf::IfOp::create(builder, host.loc, aligned,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitKernel(loads, stores);
  builder.setInsertionPointToStart(branch.elseBlock());
  emitKernel(false, false);
  return success();
}

void WgmmaEmitter::emitKernel(bool vectorLoads, bool vectorStores) {
  Body(*this, vectorLoads, vectorStores).emit();
}

LogicalResult kron::emitWgmmaPass(OpBuilder &builder,
                                  gpu::GPUModuleOp gpuModule, PassOp pass,
                                  const GPUMachine &machine) {
  std::string reason;
  std::optional<WgmmaPlan> plan = getWgmmaPlan(pass, machine, reason);
  if (!plan)
    return pass.emitOpError("cannot become a wgmma kernel: ") << reason;
  return WgmmaEmitter(builder, gpuModule, pass, *plan).emit();
}

//===----------------------------------------------------------------------===//
// Frame of the kernel
//===----------------------------------------------------------------------===//

PlanArray WgmmaEmitter::Body::enter(const PlanArray &array) {
  PlanArray inside{k.enter(array.base), {}, array.element};
  for (Int stride : array.strides)
    inside.strides.push_back(k.enter(stride));
  return inside;
}

void WgmmaEmitter::Body::enterArrays() {
  input = enter(outer.input);
  init = enter(outer.init);
  for (Int size : outer.sizes)
    sizes.push_back(k.truncate(k.enter(size)));
  Emitter &host = outer.host;
  if (!outer.alpha.isOne())
    alpha = k.enter(outer.alpha.materialize(host.builder, host.loc));
  if (outer.addend.base) {
    addend = enter(outer.addend);
    beta = k.enter(outer.beta.materialize(host.builder, host.loc));
  }
}

void WgmmaEmitter::Body::numberThreads() {
  Int thread = k.threadId();
  int64_t groupThreads = plan.groupSize * kWarpgroupThreads;
  bool isOne = plan.getNumGroups() == 1;
  group = isOne ? Int(0) : k.floorDiv(thread, groupThreads);
  threadOfGroup = isOne ? thread : k.rem(thread, groupThreads);
  warpgroup = plan.groupSize == 1
                  ? Int(0)
                  : k.floorDiv(threadOfGroup, kWarpgroupThreads);
  warp = fromBits(thread, 5, 3);
  lane = k.bitAnd(thread, 31);
  laneRow = k.floorDiv(lane, 4);
  laneColumn = k.bitAnd(lane, 3);
}

void WgmmaEmitter::Body::copyFactors() {
  for (auto [index, stage] : llvm::enumerate(plan.stages))
    emitWgmmaFactor(k, stage, factors[index],
                    k.enter(outer.factors[index]), outer.factorElements[index],
                    plan.getThreads());
  k.inlinePTX({}, "fence.proxy.async;", "~{memory}", {});
  k.barrier();
}

void WgmmaEmitter::Body::emit() {
  enterArrays();
  numberThreads();
  for (const WgmmaStage &stage : plan.stages)
    factors.push_back(
        {k.allocateShared(stage.getNumCopies() * stage.factorBytes, 128)});
  tileOffset =
      k.allocateShared(plan.getNumGroups() * plan.getGroupBytes(), 128);
  Value address = LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI32Type(), k.shared(0));
  descriptorBase = k.materialize(k.floorDiv(Int(address), 16), 64);

  // Tiles, on the host.
  Emitter &host = outer.host;
  Int count = 1;
  for (auto [axis, size] : llvm::zip(plan.axes, outer.sizes))
    if (axis.stage < 0)
      count = host.mul(count, host.ceilDiv(size, axis.tile));
  emitTiles(k.truncate(k.enter(count)));
  LaunchShape shape;
  shape.threads = plan.getThreads();
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, count);
}

void WgmmaEmitter::Body::syncGroup() {
  if (plan.getNumGroups() == 1)
    k.barrier();
  else
    k.namedBarrier(k.add(group, 1), plan.groupSize * kWarpgroupThreads);
}

void WgmmaEmitter::Body::emitTiles(Int tiles) {
  int64_t numGroups = plan.getNumGroups();
  // Groups of different CTAs come first: few tiles spread over all processors.
  Int first = k.add(k.mul(k.gridSize(), group), k.blockId());
  Int step = k.mul(k.gridSize(), numGroups);
  int64_t ahead = plan.buffers - 1;
  Int next = first;
  for (int64_t buffer = 0; buffer < ahead; ++buffer) {
    issueTile(next, tiles, buffer);
    next = k.add(next, step);
  }
  copyFactors();

  Value firstBuffer = k.materialize(0, 32);
  k.rolledLoop(
      first, tiles, step, firstBuffer, [&](Int tile, ValueRange carried) {
        Int buffer(carried[0]);
        auto advance = [&](Int number, int64_t by) -> Int {
          Int sum = k.add(number, by);
          Value wraps = k.less(sum, plan.buffers);
          return Int(k.select(
              wraps, k.materialize(sum),
              k.materialize(k.sub(sum, plan.buffers))));
        };
        if (ahead == 0) {
          syncGroup();
          issueTile(tile, tiles, 0);
          k.waitCopies(0);
          syncGroup();
        } else {
          k.waitCopies(ahead - 1);
          syncGroup();
          issueTile(k.add(tile, k.mul(step, ahead)), tiles,
                    advance(buffer, ahead));
        }
        start = startTile(tile);
        initTile = offsetArray(init, start);
        if (addend.base)
          addendTile = offsetArray(addend, start);
        Value landing = getTileBuffer(buffer);
        Value work = landing;
        if (!plan.inPlace)
          work = k.offsetBytes(getTileBuffer(0),
                               plan.buffers * plan.landing.getBytes());
        for (unsigned index = 0; index < plan.stages.size(); ++index) {
          if (index > 0)
            syncGroup();
          emitStage(index, index == 0 ? landing : work, work);
        }
        Value following = ahead == 0 ? carried[0]
                                     : k.materialize(advance(buffer, 1));
        return SmallVector<Value>{following};
      });
}

/// Where a tile starts, per axis; 0 for contracted ones.
Position WgmmaEmitter::Body::startTile(Int tile) {
  Position position(plan.axes.size(), 0);
  Int rest = tile;
  int outermost = -1;
  for (int number = plan.axes.size() - 1; number >= 0; --number)
    if (plan.axes[number].stage < 0)
      outermost = number;
  for (int number = plan.axes.size() - 1; number >= 0; --number) {
    const WgmmaAxis &axis = plan.axes[number];
    if (axis.stage >= 0)
      continue;
    Int count = k.ceilDiv(sizes[number], axis.tile);
    Int index = number == outermost ? rest : k.rem(rest, count);
    rest = number == outermost ? Int(0) : k.floorDiv(rest, count);
    position[number] = k.mul(index, axis.tile);
  }
  return position;
}

Value WgmmaEmitter::Body::offsetArray(const PlanArray &array,
                                      const Position &position) {
  Int offset = 0;
  for (auto [number, stride] : llvm::zip(position, array.strides))
    if (!number.is(0))
      offset = k.add(offset, k.mul(k.extend(number), stride));
  return k.offsetBytes(array.base,
                       k.mul(offset, getElementBytes(array.element)));
}

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

Value WgmmaEmitter::Body::getTileBuffer(Int buffer) {
  Int offset = k.add(k.mul(group, plan.getGroupBytes()),
                     k.mul(buffer, plan.landing.getBytes()));
  return k.shared(k.add(offset, tileOffset));
}

/// Quotient and remainder, keeping constant parts apart where that is possible.
std::pair<Linear, Linear> WgmmaEmitter::Body::split(Linear number,
                                                    int64_t divisor) {
  if (number.var.isConstant()) {
    int64_t value = number.var.getConstant() + number.add;
    return {{0, 1, value / divisor}, {0, 1, value % divisor}};
  }
  if (number.add % divisor != 0) {
    number.var = k.add(number.var, number.add);
    number.bound += number.add;
    number.add = 0;
  }
  if (number.bound <= divisor)
    return {{0, 1, number.add / divisor}, {number.var, number.bound, 0}};
  auto [it, isNew] =
      splits.try_emplace({number.var.getValue(), divisor}, Int(), Int());
  if (isNew)
    it->second = {k.floorDiv(number.var, divisor), k.rem(number.var, divisor)};
  auto [quotient, remainder] = it->second;
  return {{quotient, (number.bound + divisor - 1) / divisor,
           number.add / divisor},
          {remainder, divisor, 0}};
}

void WgmmaEmitter::Body::issueTile(Int tile, Int tiles, Int buffer) {
  int64_t lanes =
      vectorLoads ? kVectorBytes / plan.landing.elementBytes : 1;
  int64_t copies = 1;
  for (auto [number, axis] : llvm::enumerate(plan.axes))
    copies *= number + 1 == plan.axes.size()
                  ? llvm::divideCeil(axis.tile, lanes)
                  : axis.tile;
  int64_t threads = plan.groupSize * kWarpgroupThreads;
  k.ifThen(k.less(tile, tiles), [&] {
    Position position = startTile(tile);
    Value source = offsetArray(input, position);
    Value target = getTileBuffer(buffer);
    splits.clear();
    copyBases = {};
    Position limits(plan.axes.size(), 0);
    for (auto [number, axis] : llvm::enumerate(plan.axes))
      if (axis.stage < 0 && axis.tile > 1 &&
          !(sizes[number].isConstant() &&
            sizes[number].getConstant() % axis.tile == 0))
        limits[number] = k.sub(sizes[number], position[number]);
    auto copy = [&](Linear index, bool isPartial) {
      Value exists;
      if (isPartial)
        exists = k.less(k.add(index.var, index.add), copies);
      issueCopy(index, exists, source, target, limits);
    };
    int64_t rounds = llvm::divideCeil(copies, threads);
    if (rounds <= kMaxUnrolledCopies) {
      for (int64_t round = 0; round < rounds; ++round)
        copy({threadOfGroup, threads, round * threads},
             (round + 1) * threads > copies);
    } else {
      k.rolledLoop(0, rounds, 1, [&](Int round) {
        Int index = k.add(k.mul(round, threads), threadOfGroup);
        copy({index, rounds * threads, 0}, copies % threads != 0);
      });
    }
  });
  k.commitCopies();
}

/// Copies one element, or 16 bytes, of a tile. `limits` are the positions that
/// exist along an axis, 0 where all do.
void WgmmaEmitter::Body::issueCopy(Linear index, Value condition, Value source,
                                   Value target, const Position &limits) {
  const WgmmaLayout &layout = plan.landing;
  int64_t elementBytes = layout.elementBytes;
  int64_t lanes = vectorLoads ? kVectorBytes / elementBytes : 1;
  int last = plan.axes.size() - 1;
  Int globalOffset = 0, innermost = 0, outerOffset = 0, permutation = 0;
  int64_t globalAdd = 0, sharedAdd = 0;
  SmallVector<std::pair<Value, int64_t>> variables;
  for (int number = last; number >= 0; --number) {
    const WgmmaAxis &axis = plan.axes[number];
    if (axis.tile == 1)
      continue;
    int64_t scale = number == last ? lanes : 1;
    auto [outer, own] = split(index, llvm::divideCeil(axis.tile, scale));
    index = outer;
    int64_t add = own.add * scale;
    if (!limits[number].is(0))
      condition = k.both(
          condition,
          k.less(k.add(k.mul(own.var, scale), add), limits[number]));
    Int stride = input.strides[number];
    // What XOR and dynamic strides do not let through becomes variable.
    int64_t period = number == last ? 128 / elementBytes : 16;
    if (!stride.isConstant() || (layout.swizzled && add % period != 0)) {
      own.var = k.add(own.var, own.add);
      own.bound += own.add;
      add = 0;
    }
    Int var = k.mul(own.var, scale);
    variables.push_back({own.var.getValue(),
                         own.var.isConstant() ? own.var.getConstant() : 0});
    bool isSmall = stride.isConstant() &&
                   own.bound * scale * stride.getConstant() <
                       (int64_t(1) << 28);
    globalOffset =
        k.add(globalOffset, k.mul(isSmall ? var : k.extend(var), stride));
    if (stride.isConstant())
      globalAdd += add * stride.getConstant();
    if (number == last) {
      // The permutation changes the low bits of the innermost position.
      innermost = var;
      sharedAdd += add;
      continue;
    }
    permutation = k.bitXor(permutation, swizzle(layout, var));
    outerOffset = k.add(outerOffset, k.mul(var, layout.pitches[number]));
    sharedAdd += add * layout.pitches[number];
  }
  // Copies that differ by constants share their addresses.
  if (!copyBases.first || variables != copyVariables) {
    copyVariables = variables;
    Int sharedOffset = k.add(outerOffset, k.bitXor(innermost, permutation));
    copyBases = {
        hide(k.offsetBytes(source, k.mul(globalOffset, elementBytes))),
        hide(k.offsetBytes(target, k.mul(sharedOffset, elementBytes)))};
  }
  auto [sourceBase, targetBase] = copyBases;
  k.ifThen(condition, [&, sourceBase = sourceBase, targetBase = targetBase] {
    Value from = k.offsetBytes(sourceBase, globalAdd * elementBytes);
    Value to = k.offsetBytes(targetBase, sharedAdd * elementBytes);
    if (lanes * elementBytes >= 4)
      k.copyAsync(to, from, lanes * elementBytes);
    else
      k.store(k.load(input.element, from, CacheHint::ReadOnly), to);
  });
}

/// The same pointer, about which LLVM knows nothing: it would fold constants
/// into the variable part of the address, and need registers for every sum.
Value WgmmaEmitter::Body::hide(Value pointer) {
  return k
      .inlinePTX(pointer.getType(), "mov.b64 $0, $1;", "=l,l", pointer,
                 /*hasSideEffects=*/false)
      .front();
}

//===----------------------------------------------------------------------===//
// Addresses in shared memory
//===----------------------------------------------------------------------===//

/// What a position on an axis other than the innermost one changes in the
/// innermost position: bits that put successive pairs of positions on different
/// banks.
Int WgmmaEmitter::Body::swizzle(const WgmmaLayout &layout, Int coordinate) {
  if (!layout.swizzled)
    return 0;
  if (layout.elementBytes == 2)
    return k.mul(fromBits(coordinate, 1, 7), 8);
  return k.bitOr(k.mul(fromBits(coordinate, 1, 1), 16),
                 k.mul(fromBits(coordinate, 2, 1), 8));
}

Int WgmmaEmitter::Body::swizzleOf(const WgmmaLayout &layout,
                                  const Position &position, unsigned except) {
  Int permutation = 0;
  for (unsigned number = 0; number + 1 < position.size(); ++number)
    if (number != except && !position[number].is(0))
      permutation = k.bitXor(permutation, swizzle(layout, position[number]));
  return permutation;
}

/// Offset of a position in elements, without the axis `except` and without the
/// innermost axis.
Int WgmmaEmitter::Body::addressOf(const WgmmaLayout &layout,
                                  const Position &position, unsigned except) {
  Int offset = 0;
  for (unsigned number = 0; number + 1 < position.size(); ++number)
    if (number != except)
      offset =
          k.add(offset, k.mul(position[number], layout.pitches[number]));
  return offset;
}

//===----------------------------------------------------------------------===//
// Rows of a block
//===----------------------------------------------------------------------===//

/// The position of row `row` of a stage; 0 along the contracted axis.
Position WgmmaEmitter::Body::decodeRow(const WgmmaStage &stage, Int row) {
  Position position(plan.axes.size(), 0);
  int outermost = 0;
  while (outermost + 1 < static_cast<int>(stage.radix.size()) &&
         stage.radix[outermost] == 1)
    ++outermost;
  for (int number = plan.axes.size() - 1; number >= 0; --number) {
    int64_t radix = stage.radix[number];
    if (radix == 1)
      continue;
    position[number] = number == outermost ? row : k.rem(row, radix);
    row = k.floorDiv(row, radix);
  }
  return position;
}

/// Which of the block's rows is number `index` (0 to 7) of this warp's first 8.
/// The second 8 follow each by one (pairs) or by 8.
Int WgmmaEmitter::Body::getRowOfLane(const WgmmaStage &stage, Int index) {
  const WgmmaLayout &layout = &stage == &plan.stages.front()
                                  ? plan.landing
                                  : plan.work;
  if (!stage.innermost || layout.swizzled)
    return k.mul(index, 2);
  // Of padded rows, those that are 4 apart are on different banks.
  return k.add(k.mul(k.bitAnd(index, 1), 4), k.floorDiv(index, 2));
}

ThreadRows WgmmaEmitter::Body::getThreadRows(const WgmmaStage &stage,
                                             Int block) {
  const WgmmaLayout &layout = &stage == &plan.stages.front()
                                  ? plan.landing
                                  : plan.work;
  bool pairs = !stage.innermost || layout.swizzled;
  Int row = k.add(k.add(k.mul(block, kWgmmaRows), k.mul(warp, 16)),
                  getRowOfLane(stage, laneRow));
  Int second = k.add(row, pairs ? 1 : 8);
  ThreadRows rows;
  if (stage.rows % kWgmmaRows != 0) {
    rows.firstExists = k.less(row, stage.rows);
    rows.secondExists =
        pairs && stage.rows % 2 == 0 ? rows.firstExists
                                     : k.less(second, stage.rows);
    // Rows that do not exist repeat the last ones.
    row = k.min(row, stage.rows - (pairs && stage.rows % 2 == 0 ? 2 : 1));
    second = k.min(second, stage.rows - 1);
  }
  rows.first = decodeRow(stage, row);
  // Pairs do not straddle the end of the innermost of the other axes.
  int inner = plan.axes.size() - (stage.innermost ? 2 : 1);
  if (pairs && inner >= 0 && stage.radix[inner] % 2 == 0) {
    rows.second = rows.first;
    rows.second[inner] = k.add(rows.first[inner], 1);
  } else {
    rows.second = decodeRow(stage, second);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void WgmmaEmitter::Body::emitStage(unsigned index, Value source,
                                   Value target) {
  int64_t blocks = plan.stages[index].getBlocks();
  if (blocks == plan.groupSize)
    return emitBlock(index, warpgroup, source, target);
  k.rolledLoop(warpgroup, blocks, plan.groupSize, [&](Int block) {
    emitBlock(index, block, source, target);
  });
}

void WgmmaEmitter::Body::emitBlock(unsigned index, Int block, Value source,
                                   Value target) {
  const WgmmaStage &stage = plan.stages[index];
  ThreadRows rows = getThreadRows(stage, block);
  WgmmaRows operands = loadRows(index, rows, block, source);
  SmallVector<Value> sums =
      emitWgmma(k, stage, factors[index], descriptorBase, operands,
                outer.factorElements[index]);
  if (stage.kind == WgmmaKind::Split)
    sums = repairSums(index, rows, source, sums);
  if (index + 1 == plan.stages.size())
    return storeGlobal(stage, rows, sums);
  // All lanes of the warp have read before one of them writes.
  k.syncWarp();
  storeShared(stage, rows, target, sums);
}

WgmmaRows WgmmaEmitter::Body::loadRows(unsigned index, const ThreadRows &rows,
                                       Int block, Value source) {
  const WgmmaStage &stage = plan.stages[index];
  if (stage.kind == WgmmaKind::Half)
    return {stage.innermost ? loadHalfInnermost(stage, block, source)
                            : loadHalfPairs(stage, rows, source),
            {}};
  return convertRows(stage, stage.innermost
                                ? loadInnermost(stage, rows, source)
                                : loadPairs(stage, rows, source));
}

/// `value`, or 0 if `position`, which is at most `largest`, is beyond the depth:
/// there may be anything, and 0 times anything need not be 0.
Value WgmmaEmitter::Body::maskDepth(const WgmmaStage &stage, Value value,
                                    Int position, int64_t largest) {
  if (largest < stage.depth)
    return value;
  return k.select(k.less(position, stage.depth), value,
                  k.constant(value.getType(), 0.0));
}

/// Innermost axis, f32: 4 successive elements of two rows per 16.
SmallVector<Value>
WgmmaEmitter::Body::loadInnermost(const WgmmaStage &stage,
                                  const ThreadRows &rows, Value source) {
  const WgmmaLayout &layout = plan.work;
  Type vector = k.getVectorType(4);
  Value bases[2][2];
  for (unsigned number = 0; number < 2; ++number) {
    const Position &row = number ? rows.second : rows.first;
    Int address = addressOf(layout, row, stage.axis);
    Int permutation = swizzleOf(layout, row, stage.axis);
    for (int64_t half = 0; half < 2; ++half) {
      Int inner = k.bitXor(k.add(k.mul(laneColumn, 4), 16 * half), permutation);
      bases[number][half] =
          k.offsetBytes(source, k.mul(k.add(address, inner), 4));
    }
  }
  SmallVector<Value> values;
  for (int64_t first = 0; first < stage.paddedDepth; first += 16) {
    SmallVector<Value> parts[2];
    for (int64_t number = 0; number < 2; ++number) {
      Value pointer = k.offsetBytes(bases[number][first / 16 % 2],
                                    first / 32 * 128);
      parts[number] = k.unpack(k.load(vector, pointer));
      for (int64_t part = 0; part < 4; ++part)
        parts[number][part] = maskDepth(
            stage, parts[number][part],
            k.add(k.mul(laneColumn, 4), first + part), first + 12 + part);
    }
    for (int64_t part = 0; part < 4; ++part)
      values.append({parts[0][part], parts[1][part]});
  }
  return values;
}

/// Another axis, f32: pairs of rows, two successive positions per 8.
SmallVector<Value> WgmmaEmitter::Body::loadPairs(const WgmmaStage &stage,
                                                 const ThreadRows &rows,
                                                 Value source) {
  const WgmmaLayout &layout = plan.work;
  int64_t pitch = layout.pitches[stage.axis];
  Int position = k.mul(laneColumn, 2);
  Int permutation = k.bitXor(swizzleOf(layout, rows.first, stage.axis),
                             swizzle(layout, position));
  Int address = k.add(addressOf(layout, rows.first, stage.axis),
                      k.add(k.mul(position, pitch),
                            k.bitXor(rows.first.back(), permutation)));
  Value base = k.offsetBytes(source, k.mul(address, 4));
  Type vector = k.getVectorType(2);
  SmallVector<Value> values;
  for (int64_t first = 0; first < stage.paddedDepth; first += 8)
    for (int64_t odd = 0; odd < 2; ++odd) {
      Value pair =
          k.load(vector, k.offsetBytes(base, (first + odd) * pitch * 4));
      for (int64_t row = 0; row < 2; ++row)
        values.push_back(maskDepth(stage, k.extract(pair, row),
                                   k.add(position, first + odd),
                                   first + 6 + odd));
    }
  return values;
}

/// Innermost axis, halves: 8 x 8 matrices as they lie.
SmallVector<Value>
WgmmaEmitter::Body::loadHalfInnermost(const WgmmaStage &stage, Int block,
                                      Value source) {
  const WgmmaLayout &layout = plan.landing;
  bool pairs = layout.swizzled;
  // Lane l gives the address of row l % 8 of matrix l / 8: matrices 1 and 3 are
  // the second rows, 2 and 3 the second 8 positions.
  Int second = fromBits(lane, 3, 1);
  Int row = k.add(k.add(k.mul(block, kWgmmaRows), k.mul(warp, 16)),
                  k.add(getRowOfLane(stage, k.bitAnd(lane, 7)),
                        k.mul(second, pairs ? 1 : 8)));
  if (stage.rows % kWgmmaRows != 0)
    row = k.min(row, stage.rows - 1);
  Position position = decodeRow(stage, row);
  Int address = addressOf(layout, position, stage.axis);
  Int permutation = swizzleOf(layout, position, stage.axis);
  Int half = k.mul(fromBits(lane, 4, 1), 8);
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> values;
  for (int64_t first = 0; first < stage.paddedDepth; first += 16) {
    Int inner = k.bitXor(k.add(half, first % 64), permutation);
    Value pointer = k.offsetBytes(
        k.offsetBytes(source, k.mul(k.add(address, inner), 2)),
        first / 64 * 128);
    SmallVector<Value> parts = k.inlinePTX(
        {i32, i32, i32, i32},
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
        "=r,=r,=r,=r,l,~{memory}", pointer);
    if (first + 16 > stage.depth)
      for (int64_t part = 0; part < 4; ++part) {
        Int depth = k.add(k.mul(laneColumn, 2), first + part / 2 * 8);
        Value low = k.select(k.less(depth, stage.depth),
                             k.materialize(0xffff), k.materialize(0));
        Value high = k.select(k.less(k.add(depth, 1), stage.depth),
                              k.materialize(-0x10000), k.materialize(0));
        parts[part] = k.materialize(
            k.bitAnd(Int(parts[part]), k.bitOr(Int(low), Int(high))));
      }
    values.append(parts);
  }
  return values;
}

/// Another axis, halves: pairs of rows at 4 successive positions per 16, turned
/// into pairs of positions.
SmallVector<Value> WgmmaEmitter::Body::loadHalfPairs(const WgmmaStage &stage,
                                                     const ThreadRows &rows,
                                                     Value source) {
  const WgmmaLayout &layout = plan.landing;
  int64_t pitch = layout.pitches[stage.axis];
  Int address = addressOf(layout, rows.first, stage.axis);
  Int permutation = swizzleOf(layout, rows.first, stage.axis);
  Value bases[2];
  for (int64_t half = 0; half < 2; ++half) {
    Int position = k.add(k.mul(laneColumn, 4), 2 * half);
    Int own = k.bitXor(permutation, swizzle(layout, position));
    Int inner = k.bitXor(rows.first.back(), own);
    bases[half] = k.offsetBytes(
        source,
        k.mul(k.add(address, k.add(k.mul(position, pitch), inner)), 2));
  }
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> values;
  for (int64_t first = 0; first < stage.paddedDepth; first += 16)
    for (int64_t half = 0; half < 2; ++half) {
      Value words[2];
      for (int64_t odd = 0; odd < 2; ++odd) {
        words[odd] =
            k.load(i32, k.offsetBytes(bases[half], (first + odd) * pitch * 2));
        Int depth = k.add(k.mul(laneColumn, 4), first + 2 * half + odd);
        if (first + 12 + 2 * half + odd >= stage.depth)
          words[odd] = k.select(k.less(depth, stage.depth), words[odd],
                                k.materialize(0));
      }
      for (StringRef selector : {"0x5410", "0x7632"})
        values.append(k.inlinePTX({i32},
                                  ("prmt.b32 $0, $1, $2, " + selector + ";").str(),
                                  "=r,r,r", {words[0], words[1]},
                                  /*hasSideEffects=*/false));
    }
  return values;
}

/// f32 as the matrix unit takes it.
WgmmaRows WgmmaEmitter::Body::convertRows(const WgmmaStage &stage,
                                          ArrayRef<Value> values) {
  Type i32 = k.builder.getI32Type(), f32 = k.builder.getF32Type();
  WgmmaRows rows;
  for (Value value : values) {
    if (stage.kind == WgmmaKind::TF32) {
      // The unit cuts off the low bits. A little more than the value instead of
      // half a last place more: NaN and infinities stay what they are.
      Value larger = arith::MulFOp::create(
          k.builder, k.loc, value, k.constant(f32, 1.0 + 0x1.6ap-12));
      rows.high.push_back(k.bitcast(larger, i32));
      continue;
    }
    Int bits(k.bitcast(value, i32));
    Value high = k.materialize(k.bitAnd(k.add(bits, 0x1000), -0x2000));
    Value low = arith::SubFOp::create(k.builder, k.loc, value,
                                      k.bitcast(high, f32));
    rows.high.push_back(high);
    rows.low.push_back(k.bitcast(low, i32));
  }
  return rows;
}

/// The element of `row` at position `p` of the contracted axis.
Value WgmmaEmitter::Body::loadElement(const WgmmaStage &stage,
                                      const Position &row, Int p,
                                      Value source) {
  const WgmmaLayout &layout = plan.work;
  Int permutation = swizzleOf(layout, row, stage.axis);
  Int inner = p;
  Int address = addressOf(layout, row, stage.axis);
  if (!stage.innermost) {
    permutation = k.bitXor(permutation, swizzle(layout, p));
    inner = row.back();
    address = k.add(address, k.mul(p, layout.pitches[stage.axis]));
  }
  address = k.add(address, k.bitXor(inner, permutation));
  return k.load(k.builder.getF32Type(),
                k.offsetBytes(source, k.mul(address, 4)));
}

/// An infinity or NaN among the operands makes the three products infinities of
/// either sign or NaN. If there is one among the sums of this warp, they are
/// computed again as they would be without a split.
SmallVector<Value> WgmmaEmitter::Body::repairSums(unsigned index,
                                                  const ThreadRows &rows,
                                                  Value source,
                                                  ArrayRef<Value> sums) {
  const WgmmaStage &stage = plan.stages[index];
  Type f32 = k.builder.getF32Type();
  Value zero = k.constant(f32, 0.0);
  // 0 as long as all are finite, else NaN.
  SmallVector<Value> checks(4, zero);
  for (auto [number, sum] : llvm::enumerate(sums))
    checks[number % 4] = k.fma(sum, zero, checks[number % 4]);
  auto sumOf = [&](Value lhs, Value rhs) -> Value {
    return arith::AddFOp::create(k.builder, k.loc, lhs, rhs);
  };
  Value check = sumOf(sumOf(checks[0], checks[1]), sumOf(checks[2], checks[3]));
  Value isBad = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::UNO, check, check);
  Value anyBad = NVVM::VoteSyncOp::create(
      k.builder, k.loc, k.builder.getI1Type(), k.materialize(-1, 32), isBad,
      NVVM::VoteSyncKind::any);
  SmallVector<Type> types(sums.size(), f32);
  int64_t coreStride = stage.paddedResults / 8 * 128;
  return k.ifElse(
      anyBad, types,
      [&] {
        SmallVector<Value> zeros(sums.size(), zero);
        return k.rolledLoop(
            0, stage.depth, 1, zeros, [&](Int p, ValueRange carried) {
              Value first = loadElement(stage, rows.first, p, source);
              Value second = loadElement(stage, rows.second, p, source);
              Int slot = getWgmmaSlot(k, stage, p);
              Int offset = k.add(k.mul(k.floorDiv(slot, 4), coreStride),
                                 k.add(k.mul(k.bitAnd(slot, 3), 4),
                                       k.mul(laneColumn, 32)));
              Value base = k.shared(k.add(offset, factors[index].offset));
              SmallVector<Value> results;
              for (unsigned number = 0; number < sums.size(); ++number) {
                Value pointer = k.offsetBytes(
                    base, number / 4 * 128 + number % 2 * 16);
                Value factor = sumOf(
                    k.load(f32, pointer),
                    k.load(f32, k.offsetBytes(pointer, stage.factorBytes)));
                results.push_back(k.fma(number % 4 < 2 ? first : second, factor,
                                        carried[number]));
              }
              return results;
            });
      },
      [&] { return SmallVector<Value>(sums); });
}

/// Leaves the results of a block where its rows were.
void WgmmaEmitter::Body::storeShared(const WgmmaStage &stage,
                                     const ThreadRows &rows, Value target,
                                     ArrayRef<Value> sums) {
  const WgmmaLayout &layout = plan.work;
  if (!stage.innermost) {
    k.ifThen(rows.firstExists, [&] {
      int64_t pitch = layout.pitches[stage.axis];
      Int position = k.mul(laneColumn, 2);
      Int permutation = k.bitXor(swizzleOf(layout, rows.first, stage.axis),
                                 swizzle(layout, position));
      Int address = k.add(addressOf(layout, rows.first, stage.axis),
                          k.add(k.mul(position, pitch),
                                k.bitXor(rows.first.back(), permutation)));
      Value base = k.offsetBytes(target, k.mul(address, 4));
      for (unsigned first = 0; first < sums.size(); first += 4)
        for (unsigned odd = 0; odd < 2; ++odd)
          k.store(k.makeVector({sums[first + odd], sums[first + odd + 2]}),
                  k.offsetBytes(base, (first * 2 + odd) * pitch * 4));
    });
    return;
  }
  for (unsigned number = 0; number < 2; ++number) {
    const Position &row = number ? rows.second : rows.first;
    k.ifThen(number ? rows.secondExists : rows.firstExists, [&] {
      Int address = addressOf(layout, row, stage.axis);
      Int permutation = swizzleOf(layout, row, stage.axis);
      Value bases[2];
      for (int64_t half = 0; half < 2; ++half) {
        Int inner =
            k.bitXor(k.add(k.mul(laneColumn, 4), 16 * half), permutation);
        bases[half] = k.offsetBytes(target, k.mul(k.add(address, inner), 4));
      }
      for (unsigned first = 0; first < sums.size(); first += 8) {
        unsigned own = first + 2 * number;
        k.store(k.makeVector({sums[own], sums[own + 1], sums[own + 4],
                              sums[own + 5]}),
                k.offsetBytes(bases[first / 8 % 2], first / 16 * 128));
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// From registers to global memory
//===----------------------------------------------------------------------===//

/// Whether a row of the last stage is in the array; null if it always is.
Value WgmmaEmitter::Body::existsInArray(const WgmmaStage &stage,
                                        const Position &row) {
  Value exists;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if (number == stage.axis)
      continue;
    if (axis.stage >= 0) {
      if (stage.radix[number] != axis.after)
        exists = k.both(exists, k.less(row[number], axis.after));
    } else if (axis.tile > 1 &&
               !(sizes[number].isConstant() &&
                 sizes[number].getConstant() % axis.tile == 0)) {
      exists = k.both(
          exists, k.less(k.add(start[number], row[number]), sizes[number]));
    }
  }
  return exists;
}

/// Offset of a row in an array in elements, from the start of the tile.
Int WgmmaEmitter::Body::offsetOf(const PlanArray &array, const Position &row,
                                 unsigned except) {
  Int offset = 0;
  for (auto [number, stride] : llvm::enumerate(array.strides)) {
    if (number == except || row[number].is(0))
      continue;
    bool isSmall = stride.isConstant() &&
                   stride.getConstant() * plan.axes[number].tile <
                       (int64_t(1) << 28);
    offset = k.add(
        offset, k.mul(isSmall ? row[number] : k.extend(row[number]), stride));
  }
  return offset;
}

Value WgmmaEmitter::Body::toElement(Value value) {
  if (value.getType() == init.element)
    return value;
  return LLVM::FPTruncOp::create(k.builder, k.loc, init.element, value);
}

/// alpha * sum + beta * addend; what is multiplied by 0 is not read.
Value WgmmaEmitter::Body::scale(Value sum, function_ref<Value()> loadAddend) {
  Type f32 = k.builder.getF32Type();
  Value zero = k.constant(f32, 0.0);
  auto isZero = [&](Value value) -> Value {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ,
                                 value, zero);
  };
  auto multiply = [&](Value factor, Value value) -> Value {
    return arith::MulFOp::create(k.builder, k.loc, factor, value);
  };
  Value result = sum;
  if (alpha)
    result = k.select(isZero(alpha), zero, multiply(alpha, sum));
  if (!beta)
    return result;
  Value addendValue = loadAddend();
  return k.select(isZero(beta), result,
                  k.fma(beta, addendValue, result));
}

void WgmmaEmitter::Body::storeRun(ArrayRef<Value> sums, ArrayRef<Value> exists,
                                  Value target, Value addendPointer,
                                  Int stride, Int addendStride) {
  int64_t elementBytes = getElementBytes(init.element);
  auto store = [&](ArrayRef<Value> values, Value pointer, Value from) {
    SmallVector<Value> results;
    SmallVector<Value> others;
    if (beta) {
      Type type = init.element;
      if (values.size() > 1)
        type = VectorType::get({int64_t(values.size())}, type);
      others = k.unpack(k.load(type, from));
    }
    for (unsigned lane = 0; lane < values.size(); ++lane)
      results.push_back(toElement(scale(values[lane], [&]() -> Value {
        Value other = others[lane];
        if (other.getType().isF32())
          return other;
        return LLVM::FPExtOp::create(k.builder, k.loc, k.builder.getF32Type(),
                                     other);
      })));
    k.store(results.size() == 1 ? results.front() : k.makeVector(results),
            pointer, CacheHint::Streaming);
  };
  if (vectorStores) {
    k.ifThen(exists.front(), [&] { store(sums, target, addendPointer); });
    return;
  }
  for (unsigned lane = 0; lane < sums.size(); ++lane)
    k.ifThen(exists[lane], [&] {
      auto move = [&](Value pointer, Int by) {
        return k.offsetBytes(
            pointer, k.mul(by, lane * elementBytes));
      };
      store(sums[lane], move(target, stride),
            beta ? move(addendPointer, addendStride) : Value());
    });
}

void WgmmaEmitter::Body::storeGlobal(const WgmmaStage &stage,
                                     const ThreadRows &rows,
                                     ArrayRef<Value> sums) {
  int64_t elementBytes = getElementBytes(init.element);
  Value firstExists = k.both(rows.firstExists, existsInArray(stage, rows.first));
  Value secondExists =
      k.both(rows.secondExists, existsInArray(stage, rows.second));
  auto pointerOf = [&](const PlanArray &array, Value tile, const Position &row,
                       Int column) -> Value {
    if (!array.base)
      return nullptr;
    Int offset = k.add(offsetOf(array, row, stage.axis),
                       k.mul(k.extend(column), array.strides[stage.axis]));
    return k.offsetBytes(tile, k.mul(offset, elementBytes));
  };
  auto move = [&](const PlanArray &array, Value pointer, int64_t columns) {
    if (!pointer)
      return pointer;
    Int by = k.mul(array.strides[stage.axis], columns * elementBytes);
    return k.offsetBytes(pointer, by);
  };
  auto hasResult = [&](Int column, int64_t largest) -> Value {
    return largest < stage.results ? Value() : k.less(column, stage.results);
  };
  if (!stage.innermost) {
    Int column = k.mul(laneColumn, 2);
    Value base = pointerOf(init, initTile, rows.first, column);
    Value addendBase = pointerOf(addend, addendTile, rows.first, column);
    Int step = init.strides.back();
    Int addendStep = addend.base ? addend.strides.back() : Int(1);
    for (unsigned first = 0; first < sums.size(); first += 4)
      for (unsigned odd = 0; odd < 2; ++odd) {
        Value ok = hasResult(k.add(column, first * 2 + odd),
                             first * 2 + odd + 6);
        storeRun({sums[first + odd], sums[first + odd + 2]},
                 {k.both(firstExists, ok), k.both(secondExists, ok)},
                 move(init, base, first * 2 + odd),
                 move(addend, addendBase, first * 2 + odd), step, addendStep);
      }
    return;
  }
  Int column = k.mul(laneColumn, 4);
  for (unsigned number = 0; number < 2; ++number) {
    const Position &row = number ? rows.second : rows.first;
    Value exists = number ? secondExists : firstExists;
    Value base = pointerOf(init, initTile, row, column);
    Value addendBase = pointerOf(addend, addendTile, row, column);
    for (unsigned first = 0; first < sums.size(); first += 8) {
      unsigned own = first + 2 * number;
      SmallVector<Value> ok;
      for (unsigned part = 0; part < 4; ++part)
        ok.push_back(k.both(exists, hasResult(k.add(column, first * 2 + part),
                                              first * 2 + part + 12)));
      storeRun({sums[own], sums[own + 1], sums[own + 4], sums[own + 5]}, ok,
               move(init, base, first * 2), move(addend, addendBase, first * 2),
               init.strides.back(),
               addend.base ? addend.strides.back() : Int(1));
    }
  }
}
