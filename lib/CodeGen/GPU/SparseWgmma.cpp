//===- SparseWgmma.cpp - Sparse kernels by warpgroups ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Chunks of the data become operand A as in other sparse kernels. Operand B is
// read from shared memory by the matrix unit itself, for four warps at once: so
// numbers of the factor are split once per step, not by every warp. They are
// written as core matrices of 8 results x 16 bytes of depth, those of all
// results side by side. The image of each product t is all of it in TF32, then
// what that leaves in bf16, then all in bf16. What a thread writes is what it
// would hold as operand B of mma.sync, and sums lie in registers as after
// mma.sync.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a core matrix.
static constexpr int64_t kCoreBytes = 128;
/// Depth of a macro step: one instruction of bf16, two of TF32.
static constexpr int64_t kMacroDepth = 16;

//===----------------------------------------------------------------------===//
// The factor
//===----------------------------------------------------------------------===//

/// Writes a step's factor, whose image is at `from`, to `to` as matrix
/// instructions read it. Warps take blocks of 8 results each.
void SparseKernel::prepareFactor(Int from, Int to) {
  int64_t tiles = plan.getResults() / 8;
  int64_t threads =
      plan.keepsFactor ? plan.getThreads() : plan.getTeamThreads();
  int64_t warps = threads / 32;
  int64_t mainBytes = plan.getResults() * plan.depthStep * 4;
  int64_t parts = plan.lanesPerChunk;
  Int warp = k.floorDiv(plan.keepsFactor ? k.threadId() : teamThread, 32);
  auto prepare = [&](Int tile) {
    Int row = k.add(
        getResultOf(group, k.rem(tile, plan.resultTiles)),
        k.mul(k.floorDiv(tile, plan.resultTiles), plan.getResultsPerWarp()));
    Value rows = k.shared(
        k.add(from, k.mul(row, plan.getImageRowBytes(/*isFactor=*/true))));
    Value parity = getParity(row, 0);
    Value target = k.shared(
        k.add(to, k.add(k.mul(tile, kCoreBytes), k.mul(k.laneId(), 4))));
    for (int64_t macro = 0; macro < plan.depthStep / kMacroDepth; ++macro)
      for (int64_t chunk = 0; chunk < plan.laneChunks; ++chunk) {
        SparseChunks chunks = loadChunks(rows, parity, macro, chunk, 0,
                                         /*isFactor=*/true);
        for (int64_t part = 0; part < parts; ++part) {
          std::array<SparseOperand, 2> operands =
              math.getOperands(chunks, 0, part);
          int64_t image = (chunk * parts + part) * plan.getPreparedBytes() /
                          plan.getLanes();
          auto put = [&](Value word, int64_t offset, int64_t core) {
            k.store(word,
                    k.offsetBytes(target, offset + core * tiles * kCoreBytes));
          };
          for (int64_t half : {0, 1}) {
            const SparseOperand &operand = operands[half];
            if (plan.isHalf()) {
              put(operand.halves, image, 2 * macro + half);
              continue;
            }
            put(operand.main.high, image, 4 * macro + 2 * half);
            put(operand.next, image, 4 * macro + 2 * half + 1);
            put(operand.rests, image + mainBytes, 2 * macro + half);
            if (!plan.hasFewImages)
              put(operand.halves, image + mainBytes / 2 * 3, 2 * macro + half);
          }
        }
      }
  };
  for (int64_t first = 0; first < tiles; first += warps) {
    Int tile = k.add(warp, first);
    k.ifThen(first + warps <= tiles ? Value() : k.less(tile, tiles),
             [&] { prepare(tile); });
  }
}

/// Makes what all threads prepared visible to the matrix unit.
void SparseKernel::finishPreparing() {
  k.inlinePTX({}, "fence.proxy.async;", "~{memory}", {});
  plan.keepsFactor ? k.barrier() : waitTeam();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static std::string listOperands(int64_t first, int64_t count) {
  SmallVector<std::string> names;
  for (int64_t index = first; index < first + count; ++index)
    names.push_back("$" + std::to_string(index));
  return "{" + llvm::join(names, ",") + "}";
}

/// Starts sums += a * b for a macro step of the depth, where b is image number
/// `image` from `descriptor` on; without `continues`, the sums start at 0. The
/// part before has been multiplied when it returns, so that its registers are
/// free.
void SparseKernel::multiplyPart(MutableArrayRef<MmaC> sums, const SparseA &a,
                                int64_t macro, int64_t image, Value descriptor,
                                bool continues) {
  int64_t count = 4 * sums.size();
  int64_t coreStride = plan.getResults() / 8 * kCoreBytes;
  int64_t mainBytes = plan.getResults() * plan.depthStep * 4;
  int64_t operandA = count * (continues ? 2 : 1);
  int64_t words = plan.isHalf() ? 4 : plan.hasFewImages ? 20 : 16;
  std::string text = "{\n.reg .b64 d;\nwgmma.fence.sync.aligned;\n";
  SmallVector<Value> operands;
  bool adds = continues;
  auto addProduct = [&](StringRef type, int64_t step, ArrayRef<Value> operand,
                        int64_t offset) {
    // Bytes between core matrices along the depth and along the results, in
    // units of 16 bytes.
    int64_t fields = (coreStride >> 4) << 16 | (kCoreBytes >> 4) << 32;
    text += "add.s64 d, $" + std::to_string(operandA + words) + ", " +
            std::to_string(fields + (offset >> 4)) + ";\n";
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(2 * count) +
            "k" + std::to_string(step) + ".f32." + (type + "." + type).str() +
            " " + listOperands(0, count) + "," +
            listOperands(operandA + operands.size(), 4) + ",d," +
            (adds ? "1" : "0") + (step == 16 ? ",1,1,0;\n" : ",1,1;\n");
    llvm::append_range(operands, operand);
    adds = true;
  };
  int64_t start = image * (plan.getPreparedBytes() / plan.getLanes());
  int64_t half = 2 * macro * coreStride;
  auto addMain = [&](bool isRest) {
    for (int64_t step : {0, 1}) {
      const SparseOperand &upper = a[2 * step], &lower = a[2 * step + 1];
      SmallVector<Value> operand{upper.main.high, lower.main.high, upper.next,
                                 lower.next};
      if (isRest)
        operand = {upper.main.low, lower.main.low, upper.nextLow,
                   lower.nextLow};
      addProduct("tf32", 8, operand,
                 start + (4 * macro + 2 * step) * coreStride);
    }
  };
  SmallVector<Value> halves{a[0].halves, a[1].halves, a[2].halves, a[3].halves};
  if (plan.isHalf()) {
    addProduct(plan.element.isBF16() ? "bf16" : "f16", 16, halves,
               start + half);
  } else {
    // The small products first.
    if (plan.hasFewImages)
      addMain(/*isRest=*/true);
    else
      addProduct("bf16", 16, {a[0].rests, a[1].rests, a[2].rests, a[3].rests},
                 start + mainBytes / 2 * 3 + half);
    addProduct("bf16", 16, halves, start + mainBytes + half);
    addMain(/*isRest=*/false);
  }
  text += "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 1;\n}";

  SmallVector<std::string> constraints(count, "=&f");
  SmallVector<Value> inputs;
  if (continues)
    for (auto [index, sum] : llvm::enumerate(sums))
      for (unsigned element = 0; element < 4; ++element) {
        inputs.push_back(sum[element]);
        constraints.push_back(std::to_string(4 * index + element));
      }
  llvm::append_range(inputs, operands);
  constraints.append(operands.size(), "r");
  inputs.push_back(descriptor);
  constraints.push_back("l");
  SmallVector<Type> types(count, k.builder.getF32Type());
  SmallVector<Value> results = k.inlinePTX(
      types, text, llvm::join(constraints, ",") + ",~{memory}", inputs);
  for (int64_t index = 0; index < count; ++index)
    sums[index / 4][index % 4] = results[index];
}

/// Waits for all products; what becomes of the sums comes after.
void SparseKernel::waitProducts(MutableArrayRef<MmaC> sums) {
  SmallVector<Value> values;
  for (const MmaC &sum : sums)
    llvm::append_range(values, sum);
  SmallVector<std::string> constraints(values.size(), "=f");
  for (unsigned index = 0; index < values.size(); ++index)
    constraints.push_back(std::to_string(index));
  SmallVector<Type> types(values.size(), k.builder.getF32Type());
  SmallVector<Value> results =
      k.inlinePTX(types, "wgmma.wait_group.sync.aligned 0;",
                  llvm::join(constraints, ",") + ",~{memory}", values);
  for (auto [index, value] : llvm::enumerate(results))
    sums[index / 4][index % 4] = value;
}

/// sums += data of the stage at `slot` times the prepared factor of step
/// `depthNumber`; `release` is called when the stage has been read.
void SparseKernel::multiplyGroups(MutableArrayRef<MmaC> sums, Int slot,
                                  Int depthNumber,
                                  function_ref<void()> release) {
  int64_t rowBytes = plan.getImageRowBytes(/*isFactor=*/false);
  Int firstRow = k.mul(rowWarp, plan.getRowsPerWarp());
  Value data = k.shared(k.add(slot, k.mul(firstRow, rowBytes)));
  Int prepared = k.mul(resultWarp, plan.resultTiles * kCoreBytes);
  prepared = k.add(prepared, keptOffset);
  if (plan.keepsFactor)
    prepared = k.add(prepared, k.mul(depthNumber, plan.getPreparedBytes()));
  Value address = LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI32Type(), k.shared(prepared));
  Value descriptor = k.materialize(k.floorDiv(Int(address), 16), 64);
  int64_t macros = plan.depthStep / kMacroDepth;
  for (int64_t macro = 0; macro < macros; ++macro)
    for (int64_t chunk = 0; chunk < plan.laneChunks; ++chunk) {
      SparseChunks upper = loadData(data, macro, chunk, /*half=*/0);
      SparseChunks lower = loadData(data, macro, chunk, /*half=*/1);
      if (macro == macros - 1 && chunk == plan.laneChunks - 1)
        release();
      for (int64_t part = 0; part < plan.lanesPerChunk; ++part) {
        SparseA a = math.getOperandA(upper, lower, /*step=*/0, part);
        MutableArrayRef<MmaC> own(&getSum(sums, chunk, part, 0, 0),
                                  plan.resultTiles);
        multiplyPart(own, a, macro, chunk * plan.lanesPerChunk + part,
                     descriptor, macro > 0 || !plan.hasPartialSums);
      }
    }
  waitProducts(sums);
}
