//===- KernelBuilder.h - Builds one GPU kernel and its launch ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What all GPU emitters share. A kernel is an llvm.func in the module's one
// gpu.module. Its body is built with `KernelBuilder`: the folding arithmetic of
// `Emitter`, in 32 bits unless an operand has 64, and the machine's memory
// accesses, barriers and matrix instructions. Host values that it uses become
// its parameters, one by one, with `enter`; `launch` ends the kernel and builds
// the call that starts it.
//
// Arrays may have more than 2^31 elements: a tile's base address is computed in
// 64 bits, positions within a tile in 32.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_KERNELBUILDER_H
#define KRON_CODEGEN_GPU_KERNELBUILDER_H

#include "kron/CodeGen/FusedOperands.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::kron {

/// Names that host code generation shares.
inline constexpr llvm::StringLiteral kGPUModuleName = "kron_gpu";
inline constexpr llvm::StringLiteral kSharedMemoryName = "kron_smem";
inline constexpr llvm::StringLiteral kCudaModuleName = "kron_cuda_module";

/// The gpu.module that holds the kernels of `module`, created if there is none.
gpu::GPUModuleOp getOrCreateGPUModule(ModuleOp module);

/// `name` with the first number behind it that no kernel of `module` has.
std::string getFreeKernelName(gpu::GPUModuleOp module, StringRef name);

/// Builds the call of the runtime that starts `kernel` of the module's GPU code
/// on `grid` CTAs (an i64; none are started if it is 0). `params` are pointers,
/// integers and floats.
void buildCudaLaunch(OpBuilder &builder, Location loc, ModuleOp module,
                     StringRef kernel, Value grid, int32_t block,
                     int32_t cluster, int64_t sharedBytes, ValueRange params);

/// Builds the call that gives the number of SMs, an i64.
Value buildCudaNumSMs(OpBuilder &builder, Location loc, ModuleOp module);

/// Builds the call that takes `bytes` (an i64) of the launch's workspace.
Value buildCudaWorkspace(OpBuilder &builder, Location loc, ModuleOp module,
                         Value bytes);

/// Builds the call that gives workspace at `pointer` back.
void buildCudaRelease(OpBuilder &builder, Location loc, ModuleOp module,
                      Value pointer);

/// Builds the call that gives the GPU's address of variable `name` of the
/// module's GPU code.
Value buildCudaGlobal(OpBuilder &builder, Location loc, ModuleOp module,
                      StringRef name);

/// Erases loads of scalars in host functions that nothing uses: kernels read
/// them themselves.
void eraseReadScalars(ModuleOp module);

/// What is known about the use of the memory behind a global access.
enum class CacheHint {
  None,
  /// Nobody writes it while the kernel runs (ld.global.nc).
  ReadOnly,
  /// It is not used again soon (st.global.cs).
  Streaming
};

/// How a kernel is started.
struct LaunchShape {
  int64_t threads = 128;
  /// CTAs that shall be resident on an SM; registers are limited to that.
  int64_t ctasPerSM = 1;
  int64_t cluster = 1;
  int64_t sharedBytes = 0;
};

namespace detail {
/// The kernel's own builder, which has to exist before the Emitter does.
struct KernelBody {
  LLVM::LLVMFuncOp function;
  OpBuilder ownBuilder;
  KernelBody(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name);
};
} // namespace detail

class KernelBuilder : private kron::detail::KernelBody, public Emitter {
public:
  /// Starts a kernel called `name`, with the first free number behind it, or
  /// just that if `isFree`. `host` stands where the kernel is to be launched;
  /// `element` is what offsetPointer counts in.
  KernelBuilder(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name,
                Type element, bool isFree = false);

  Emitter &host;

  //===--------------------------------------------------------------------===//
  // Parameters and launch
  //===--------------------------------------------------------------------===//

  /// The kernel's parameter for a host value; constants are rebuilt. Pointers
  /// become pointers to global memory.
  Value enter(Value hostValue);
  Int enter(Int number);
  StepArray enter(const StepArray &array);
  StepFactor enter(const StepFactor &factor);

  StringRef getName() { return function.getName(); }

  /// Ends the kernel and launches it with min(tiles, resident CTAs) CTAs, or
  /// that many clusters.
  void launch(const LaunchShape &shape, Int tiles);

  //===--------------------------------------------------------------------===//
  // Numbers of this thread
  //===--------------------------------------------------------------------===//

  Int threadId();
  Int laneId() { return bitAnd(threadId(), 31); }
  Int warpId() { return floorDiv(threadId(), 32); }
  Int blockId();
  Int gridSize();
  /// Number of this CTA in its cluster.
  Int clusterRank();

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// for (tile = first CTA's tile; tile < tiles; tile += CTAs) body(tile).
  void forTiles(Int tiles, function_ref<void(Int)> body, int64_t cluster = 1);
  /// A loop that neither LLVM nor ptxas unrolls.
  void rolledLoop(Int begin, Int end, Int step, function_ref<void(Int)> body);
  SmallVector<Value>
  rolledLoop(Int begin, Int end, Int step, ValueRange carried,
             function_ref<SmallVector<Value>(Int, ValueRange)> body);
  /// A null condition is true.
  void ifThen(Value condition, function_ref<void()> body);
  void choose(Value condition, function_ref<void()> thenBody,
              function_ref<void()> elseBody);
  /// Builds `body` for both answers.
  void choose(Value condition, function_ref<void(bool)> body);
  SmallVector<Value> ifElse(Value condition, TypeRange types,
                            function_ref<SmallVector<Value>()> thenBody,
                            function_ref<SmallVector<Value>()> elseBody);
  /// What `body` gives, or zeros where `condition` does not hold.
  SmallVector<Value> orZeros(Value condition, TypeRange types,
                             function_ref<SmallVector<Value>()> body);
  Value orZero(Value condition, Type type, function_ref<Value()> body);
  /// Both; null is true.
  Value both(Value lhs, Value rhs);
  /// lhs < rhs; null if that is known.
  Value lessOrNull(Int lhs, Int rhs);
  Value select(Value condition, Value lhs, Value rhs);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Offset of `bytes` more bytes of shared memory.
  int64_t allocateShared(int64_t bytes, int64_t alignment = 16);
  int64_t getSharedBytes() const { return sharedBytes; }
  /// Shared memory at a byte offset.
  Value shared(Int byteOffset);
  /// Shared memory of the other CTA of a cluster of two.
  Value remoteShared(Int byteOffset);
  /// `pointer + offset` in elements of `type`, or in bytes.
  Value offsetElements(Value pointer, Type type, Int offset);
  Value offsetBytes(Value pointer, Int offset);

  /// Loads a scalar or a vector of up to 128 bits that lies at a multiple of
  /// its own size, or of `alignment` bytes.
  Value load(Type type, Value pointer, CacheHint hint = CacheHint::None,
             int64_t alignment = 0);
  void store(Value value, Value pointer, CacheHint hint = CacheHint::None,
             int64_t alignment = 0);

  /// Starts a copy of 4, 8 or 16 bytes from global to shared memory. Only the
  /// first `validBytes` (i32) are read, the rest becomes zero. `wholeLines`:
  /// the rest of the line of 128 bytes is soon wanted by others.
  void copyAsync(Value sharedPointer, Value globalPointer, int64_t bytes,
                 Value validBytes = nullptr, bool wholeLines = false);
  void commitCopies();
  /// Waits until at most `pending` groups of this thread's copies are not done.
  void waitCopies(int64_t pending);

  //===--------------------------------------------------------------------===//
  // Threads together
  //===--------------------------------------------------------------------===//

  void barrier();
  /// A barrier of `threads` threads; numbers 1 to 15 (0 is `barrier`).
  void namedBarrier(Int number, int64_t threads);
  void syncWarp();
  /// The value (of 32 or 64 bits) of the lane `laneId ^ mask`.
  Value shuffleXor(Value value, int64_t mask);
  /// The value (f32 or i32) of lane `lane`.
  Value shuffle(Value value, Int lane);

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  Value fma(Value a, Value b, Value c);
  Value bitcast(Value value, Type type);
  Value extract(Value vector, int64_t lane);
  Value makeVector(ValueRange values);
  SmallVector<Value> unpack(Value vector);
  Value constant(Type type, double value);

  /// Inline PTX. Results are all of `results`; `text` numbers them first.
  SmallVector<Value> inlinePTX(TypeRange results, StringRef text,
                               StringRef constraints, ValueRange operands,
                               bool hasSideEffects = true);
  /// `value`, which is worked out here: LLVM shall not move what it is made of
  /// into a branch that uses it. Sums of several fibres, each stored in a
  /// branch of its own, would keep all that is loaded in registers until then.
  Value pin(Value value);

  /// D = A*B + C of one warp, m16n8k8: 4 i32 of A and 2 of B that hold TF32, 4
  /// f32 of C.
  SmallVector<Value> mmaTF32(ValueRange a, ValueRange b, ValueRange c);
  /// m16n8k16 on pairs of f16 (or bf16) in i32: 4 of A, 2 of B, 4 f32 of C.
  SmallVector<Value> mmaHalf(ValueRange a, ValueRange b, ValueRange c,
                             bool bf16);
  /// f64, m16n8k8: 4 of A, 2 of B, 4 of C. sm_90 and newer.
  SmallVector<Value> mmaF64(ValueRange a, ValueRange b, ValueRange c);
  /// f64, m8n8k4: 1 of A, 1 of B, 2 of C.
  SmallVector<Value> mmaF64Small(Value a, Value b, ValueRange c);

  /// An f32 as the sum of two TF32, both f32: the first rounded to nearest, the
  /// second the residual (its own low bits are cut off by the matrix unit). An
  /// infinity or NaN stands in the first, and the second is 0.
  std::pair<Value, Value> splitTF32(Value value);

private:
  Value readRegister(Value &cache, function_ref<Value()> read);
  void finish(const LaunchShape &shape);

  gpu::GPUModuleOp gpuModule;
  DenseMap<Value, Value> entered;
  SmallVector<Value> params;
  Value threadIdValue, blockIdValue, gridSizeValue, clusterRankValue;
  Value sharedBase, remoteSharedBase;
  int64_t sharedBytes = 0;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_KERNELBUILDER_H
