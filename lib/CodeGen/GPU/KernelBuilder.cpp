//===- KernelBuilder.cpp - Builds one GPU kernel and its launch -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr unsigned kGlobalSpace = 1;
static constexpr unsigned kSharedSpace = 3;
static constexpr unsigned kClusterSpace = 7;
/// Alignment of all shared memory, for 128-byte swizzles of 8 rows.
static constexpr int64_t kSharedAlignment = 1024;

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

gpu::GPUModuleOp kron::getOrCreateGPUModule(ModuleOp module) {
  if (auto gpuModule = module.lookupSymbol<gpu::GPUModuleOp>(kGPUModuleName))
    return gpuModule;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto gpuModule =
      gpu::GPUModuleOp::create(builder, module.getLoc(), kGPUModuleName);
  // Dynamic shared memory. External, or else it would have its size of 0.
  builder.setInsertionPointToStart(gpuModule.getBody());
  LLVM::GlobalOp::create(builder, module.getLoc(),
                         LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         kSharedMemoryName, Attribute(), kSharedAlignment,
                         kSharedSpace);
  return gpuModule;
}

std::string kron::getFreeKernelName(gpu::GPUModuleOp module, StringRef name) {
  std::string unique;
  for (unsigned number = 0; unique.empty() || module.lookupSymbol(unique);
       ++number)
    unique = (name + "_" + Twine(number)).str();
  return unique;
}

kron::detail::KernelBody::KernelBody(Emitter &host, gpu::GPUModuleOp gpuModule,
                                     StringRef name)
    : ownBuilder(host.builder.getContext()) {
  ownBuilder.setInsertionPointToEnd(gpuModule.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(ownBuilder.getContext()), {});
  function = LLVM::LLVMFuncOp::create(ownBuilder, host.loc, name, type);
  Block *block = ownBuilder.createBlock(&function.getBody());
  ownBuilder.setInsertionPointToStart(block);
}

KernelBuilder::KernelBuilder(Emitter &host, gpu::GPUModuleOp gpuModule,
                             StringRef name, Type element, bool isFree)
    : KernelBody(host, gpuModule,
                 isFree ? name.str() : getFreeKernelName(gpuModule, name)),
      Emitter(ownBuilder, host.loc, element, /*indexBits=*/32), host(host),
      gpuModule(gpuModule) {}

//===----------------------------------------------------------------------===//
// Parameters and launch
//===----------------------------------------------------------------------===//

/// Where `load` reads an argument of the function, at a known place: that is
/// memory of the GPU, which the host does not read. Else null.
static Value buildAddress(Emitter &host, memref::LoadOp load) {
  auto argument = dyn_cast<BlockArgument>(load.getMemRef());
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()) ||
      isa<ComplexType>(load.getType()))
    return nullptr;
  SmallVector<int64_t> places;
  for (Value index : load.getIndices()) {
    std::optional<int64_t> place = getConstantIntValue(index);
    if (!place)
      return nullptr;
    places.push_back(*place);
  }
  StepArray array = getFusedArray(host, load.getMemRef());
  Int offset = 0;
  for (auto [place, stride] : llvm::zip(places, array.strides))
    offset = host.add(offset, host.mul(stride, place));
  return host.offsetPointer(array.base, offset, array.element);
}

void kron::eraseReadScalars(ModuleOp module) {
  module.walk([](memref::LoadOp load) {
    if (load->use_empty() && load->getParentOfType<func::FuncOp>())
      load.erase();
  });
}

Value KernelBuilder::enter(Value hostValue) {
  if (!hostValue)
    return nullptr;
  auto [it, isNew] = entered.try_emplace(hostValue);
  if (!isNew)
    return it->second;
  Block &entry = function.getBody().front();
  Attribute attribute;
  if (matchPattern(hostValue, m_Constant(&attribute))) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry);
    return it->second = arith::ConstantOp::create(builder, loc,
                                                  cast<TypedAttr>(attribute));
  }
  if (auto load = hostValue.getDefiningOp<memref::LoadOp>())
    if (Value address = buildAddress(host, load)) {
      Value pointer = enter(address);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&function.getBody().front());
      // Not read-only: then LLVM could put it in front of the wait for the
      // kernel before, which is at the kernel's start, too.
      return entered[hostValue] = this->load(hostValue.getType(), pointer);
    }
  Type type = hostValue.getType();
  if (isa<LLVM::LLVMPointerType>(type))
    type = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  params.push_back(hostValue);
  return it->second = entry.addArgument(type, loc);
}

Int KernelBuilder::enter(Int number) {
  return number.isConstant() ? number : Int(enter(number.getValue()));
}

StepArray KernelBuilder::enter(const StepArray &array) {
  StepArray inside{enter(array.base), {}};
  for (Int stride : array.strides)
    inside.strides.push_back(enter(stride));
  return inside;
}

StepFactor KernelBuilder::enter(const StepFactor &factor) {
  StepFactor inside{enter(factor.base),
                    enter(factor.strideK),
                    enter(factor.resultStride),
                    {}};
  for (Int stride : factor.strides)
    inside.strides.push_back(enter(stride));
  return inside;
}

/// Ends the function: its type follows from the parameters that were entered.
void KernelBuilder::finish(const LaunchShape &shape) {
  builder.setInsertionPointToEnd(&function.getBody().front());
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  SmallVector<Type> types(function.getBody().front().getArgumentTypes());
  function.setFunctionType(LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), types));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(shape.threads)}));
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(shape.ctasPerSM));
  if (shape.cluster > 1)
    function->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(shape.cluster)}));
}

void KernelBuilder::launch(const LaunchShape &shape, Int tiles) {
  finish(shape);
  auto module = gpuModule->getParentOfType<ModuleOp>();
  Int resident(buildCudaNumSMs(host.builder, loc, module));
  resident = host.mul(resident, shape.ctasPerSM);
  resident = host.floorDiv(resident, shape.cluster);
  Int grid = host.mul(host.min(tiles, resident), shape.cluster);
  buildCudaLaunch(host.builder, loc, module, getName(),
                  host.materialize(grid, 64), shape.threads, shape.cluster,
                  shape.sharedBytes, params);
}

//===----------------------------------------------------------------------===//
// Numbers of this thread
//===----------------------------------------------------------------------===//

/// Reads a special register once, at the start of the kernel.
Value KernelBuilder::readRegister(Value &cache, function_ref<Value()> read) {
  if (cache)
    return cache;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  return cache = read();
}

Int KernelBuilder::threadId() {
  return readRegister(threadIdValue, [&]() -> Value {
    return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  });
}

Int KernelBuilder::blockId() {
  return readRegister(blockIdValue, [&]() -> Value {
    return NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  });
}

Int KernelBuilder::gridSize() {
  return readRegister(gridSizeValue, [&]() -> Value {
    return NVVM::GridDimXOp::create(builder, loc, builder.getI32Type());
  });
}

Int KernelBuilder::clusterRank() {
  return readRegister(clusterRankValue, [&]() -> Value {
    return NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// What scf-to-cf hands on to the branch of the loop.
static void keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/yes, {}, {}, {},
                                          {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", annotation);
}

void KernelBuilder::rolledLoop(Int begin, Int end, Int step,
                               function_ref<void(Int)> body) {
  rolledLoop(begin, end, step, ValueRange(), [&](Int number, ValueRange) {
    body(number);
    return SmallVector<Value>();
  });
}

SmallVector<Value> KernelBuilder::rolledLoop(
    Int begin, Int end, Int step, ValueRange carried,
    function_ref<SmallVector<Value>(Int, ValueRange)> body) {
  if (begin.isConstant() && end.isConstant()) {
    int64_t extent = end.getConstant() - begin.getConstant();
    if (extent <= 0)
      return carried;
    if (step.isConstant() && extent <= step.getConstant())
      return body(begin, carried);
  }
  unsigned bits = 32;
  for (Int number : {begin, end, step})
    bits =
        std::max(bits, materialize(number).getType().getIntOrFloatBitWidth());
  auto loop = scf::ForOp::create(builder, loc, materialize(begin, bits),
                                 materialize(end, bits),
                                 materialize(step, bits), carried);
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(Int(loop.getInductionVar()), loop.getRegionIterArgs());
  // Without carried values the loop has its yield already.
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, results);
  return SmallVector<Value>(loop.getResults());
}

void KernelBuilder::forTiles(Int tiles, function_ref<void(Int)> body,
                             int64_t cluster) {
  // The number of the tile after the last one must not overflow.
  if (tiles.isConstant() && tiles.getConstant() > (int64_t(1) << 30))
    tiles = Int(materialize(tiles, 64));
  Int first = floorDiv(blockId(), cluster);
  Int step = floorDiv(gridSize(), cluster);
  rolledLoop(first, tiles, step, body);
}

void KernelBuilder::ifThen(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

void KernelBuilder::choose(Value condition, function_ref<void(bool)> body) {
  choose(
      condition, [&] { body(true); }, [&] { body(false); });
}

SmallVector<Value>
KernelBuilder::orZeros(Value condition, TypeRange types,
                       function_ref<SmallVector<Value>()> body) {
  return ifElse(condition, types, body, [&] {
    return llvm::map_to_vector(types, [&](Type type) { return zero(type); });
  });
}

Value KernelBuilder::orZero(Value condition, Type type,
                            function_ref<Value()> body) {
  return orZeros(condition, type, [&] { return SmallVector<Value>{body()}; })
      .front();
}

SmallVector<Value>
KernelBuilder::ifElse(Value condition, TypeRange types,
                      function_ref<SmallVector<Value>()> thenBody,
                      function_ref<SmallVector<Value>()> elseBody) {
  if (!condition)
    return thenBody();
  auto branch = scf::IfOp::create(builder, loc, types, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, fill] : {std::pair(branch.thenBlock(), thenBody),
                             std::pair(branch.elseBlock(), elseBody)}) {
    // Without results there is a terminator already.
    builder.setInsertionPointToStart(block);
    SmallVector<Value> values = fill();
    builder.setInsertionPointToEnd(block);
    if (!types.empty())
      scf::YieldOp::create(builder, loc, values);
  }
  return SmallVector<Value>(branch.getResults());
}

void KernelBuilder::choose(Value condition, function_ref<void()> thenBody,
                           function_ref<void()> elseBody) {
  if (!condition)
    return thenBody();
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  thenBody();
  builder.setInsertionPointToStart(branch.elseBlock());
  elseBody();
}

Value KernelBuilder::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::AndIOp::create(builder, loc, lhs, rhs);
}

Value KernelBuilder::lessOrNull(Int lhs, Int rhs) {
  if (lhs.isConstant() && rhs.isConstant() &&
      lhs.getConstant() < rhs.getConstant())
    return nullptr;
  return less(lhs, rhs);
}

Value KernelBuilder::select(Value condition, Value lhs, Value rhs) {
  return arith::SelectOp::create(builder, loc, condition, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t KernelBuilder::allocateShared(int64_t bytes, int64_t alignment) {
  int64_t offset = llvm::alignTo(sharedBytes, alignment);
  sharedBytes = offset + bytes;
  return offset;
}

Value KernelBuilder::shared(Int byteOffset) {
  if (!sharedBase) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    auto type = LLVM::LLVMPointerType::get(builder.getContext(), kSharedSpace);
    sharedBase =
        LLVM::AddressOfOp::create(builder, loc, type, kSharedMemoryName);
  }
  return offsetBytes(sharedBase, byteOffset);
}

Value KernelBuilder::remoteShared(Int byteOffset) {
  Value own = shared(0);
  Int rank = clusterRank();
  if (!remoteSharedBase) {
    OpBuilder::InsertionGuard guard(builder);
    Operation *later = own.getDefiningOp();
    if (later->isBeforeInBlock(rank.getValue().getDefiningOp()))
      later = rank.getValue().getDefiningOp();
    builder.setInsertionPointAfter(later);
    auto type = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
    Value other = materialize(bitXor(rank, 1), 32);
    remoteSharedBase = NVVM::MapaOp::create(builder, loc, type, own, other);
  }
  return offsetBytes(remoteSharedBase, byteOffset);
}

Value KernelBuilder::offsetBytes(Value pointer, Int offset) {
  return offsetPointer(pointer, offset, builder.getI8Type());
}

Value KernelBuilder::offsetElements(Value pointer, Type type, Int offset) {
  return offsetPointer(pointer, offset, type);
}

/// Bytes of a scalar or of a vector.
static int64_t getBytes(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() *
           (vector.getElementType().getIntOrFloatBitWidth() / 8);
  return type.getIntOrFloatBitWidth() / 8;
}

Value KernelBuilder::load(Type type, Value pointer, CacheHint hint,
                          int64_t alignment) {
  return LLVM::LoadOp::create(builder, loc, type, pointer,
                              alignment ? alignment : getBytes(type),
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/hint == CacheHint::ReadOnly);
}

void KernelBuilder::store(Value value, Value pointer, CacheHint hint,
                          int64_t alignment) {
  int64_t bytes = getBytes(value.getType());
  if (!alignment)
    alignment = bytes;
  // LLVM has no store that becomes st.global.cs.
  if (hint != CacheHint::Streaming || bytes < 4 || alignment < bytes) {
    LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
    return;
  }
  SmallVector<Value> parts = unpack(value);
  Type part = parts.front().getType();
  unsigned bits = part.getIntOrFloatBitWidth();
  if (bits < 32) {
    Type words = VectorType::get({bytes / 4}, builder.getI32Type());
    parts = unpack(bitcast(value, words));
    bits = 32;
    part = builder.getI32Type();
  }
  std::string text = "st.global.cs";
  if (parts.size() > 1)
    text += ".v" + std::to_string(parts.size());
  text += (part.isInteger() ? ".b" : ".f") + std::to_string(bits) + " [$0], ";
  SmallVector<std::string> names;
  std::string constraints = "l";
  for (unsigned index = 0; index < parts.size(); ++index) {
    names.push_back("$" + std::to_string(index + 1));
    if (part.isInteger())
      constraints += bits == 64 ? ",l" : ",r";
    else
      constraints += bits == 64 ? ",d" : ",f";
  }
  std::string list = llvm::join(names, ", ");
  text += parts.size() > 1 ? "{" + list + "};" : list + ";";
  SmallVector<Value> operands{pointer};
  operands.append(parts);
  inlinePTX({}, text, constraints + ",~{memory}", operands);
}

void KernelBuilder::copyAsync(Value sharedPointer, Value globalPointer,
                              int64_t bytes, Value validBytes,
                              bool wholeLines) {
  if (wholeLines && bytes == 16) {
    SmallVector<Value> operands{sharedPointer, globalPointer};
    std::string text = "cp.async.cg.shared.global.L2::128B [$0], [$1], 16";
    std::string constraints = "l,l";
    if (validBytes) {
      operands.push_back(validBytes);
      text += ", $2";
      constraints += ",r";
    }
    inlinePTX({}, text + ";", constraints + ",~{memory}", operands);
    return;
  }
  // Only 16-byte copies can bypass the first-level cache.
  auto modifier = bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                              : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, sharedPointer, globalPointer,
                          static_cast<uint32_t>(bytes), modifier, validBytes);
}

void KernelBuilder::commitCopies() {
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

void KernelBuilder::waitCopies(int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc,
                                   static_cast<uint32_t>(pending));
}

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

void KernelBuilder::barrier() { NVVM::Barrier0Op::create(builder, loc); }

void KernelBuilder::namedBarrier(Int number, int64_t threads) {
  NVVM::BarrierOp::create(builder, loc, TypeRange(), materialize(number, 32),
                          materialize(threads, 32),
                          NVVM::BarrierReductionAttr(), Value());
}

void KernelBuilder::syncWarp() {
  NVVM::SyncWarpOp::create(builder, loc, materialize(-1, 32));
}

static Value emitShuffle(KernelBuilder &kernel, Value value, Value offset,
                         NVVM::ShflKind kind) {
  return NVVM::ShflOp::create(kernel.builder, kernel.loc, value.getType(),
                              kernel.materialize(-1, 32), value, offset,
                              kernel.materialize(31, 32), kind, UnitAttr());
}

Value KernelBuilder::shuffleXor(Value value, int64_t mask) {
  Type type = value.getType();
  if (type.getIntOrFloatBitWidth() == 64) {
    SmallVector<Value> words =
        unpack(bitcast(value, VectorType::get({2}, builder.getI32Type())));
    for (Value &word : words)
      word = shuffleXor(word, mask);
    return bitcast(makeVector(words), type);
  }
  return emitShuffle(*this, value, materialize(mask, 32), NVVM::ShflKind::bfly);
}

Value KernelBuilder::shuffle(Value value, Int lane) {
  return emitShuffle(*this, value, materialize(lane, 32), NVVM::ShflKind::idx);
}
