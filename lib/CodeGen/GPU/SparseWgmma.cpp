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
#include "WgmmaSums.h"
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

/// The chunks of a macro step of result `row` whose image, at `from`, has
/// results side by side.
SparseChunks SparseKernel::loadExchanged(Int from, Int row, int64_t macro) {
  SparseChunks result{{}, plan.depthPerChunk, plan.lanesPerChunk};
  Type f32 = k.builder.getF32Type();
  int64_t count = plan.getMacroDepth() / (4 * plan.depthPerChunk);
  for (int64_t index = 0; index < count; ++index) {
    auto &chunk = result.chunks.emplace_back();
    for (int64_t element = 0; element < plan.depthPerChunk; ++element) {
      Int depth = k.add(k.mul(quad, plan.depthPerChunk),
                        (macro * count + index) * 4 * plan.depthPerChunk);
      Int place = getPlaceAlong(depth, row, plan.getResults());
      Value pointer =
          k.offsetBytes(k.shared(k.add(from, place)),
                        element * plan.getResults() * plan.factorBytes);
      chunk.push_back(k.load(f32, pointer));
    }
  }
  return result;
}

/// Writes macro step `macro` of a step's factor, whose image is at `from`, to
/// `to` as matrix instructions read it. Warps take blocks of 8 results each.
void SparseKernel::prepareMacro(Int from, Int to, int64_t macro) {
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
    for (int64_t chunk = 0; chunk < plan.laneChunks; ++chunk) {
      SparseChunks chunks =
          plan.isExchanged()
              ? loadExchanged(from, row, macro)
              : loadChunks(rows, parity, macro, chunk, 0, /*isFactor=*/true);
      for (int64_t part = 0; part < parts; ++part) {
        std::array<SparseOperand, 2> operands =
            math.getOperands(chunks, 0, part);
        int64_t image =
            (chunk * parts + part) * plan.getPreparedBytes() / plan.getLanes();
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

void SparseKernel::prepareFactor(Int from, Int to) {
  for (int64_t macro = 0; macro < plan.depthStep / kMacroDepth; ++macro)
    prepareMacro(from, to, macro);
}

/// Where prepared factor number `number` is.
Int SparseKernel::getPrepared(Int number) {
  return k.add(k.mul(number, plan.getPreparedBytes()), keptOffset);
}

/// Makes what all threads prepared visible to the matrix unit.
void SparseKernel::finishPreparing() {
  fenceProxy(k);
  plan.keepsFactor ? k.barrier() : waitTeam();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

/// Prepares the factor of a run's first step.
void SparseKernel::prepareFirst() {
  k.waitCopies(plan.stages - 1);
  waitTeam();
  prepareFactor(k.add(getSlot(plan.stages - 1), plan.getCopiedBytes()),
                getPrepared(0));
  fenceProxy(k);
}

/// sums += step `step` of the run, while the factor of the next one is
/// prepared. What that leaves becomes visible at the next step's barrier.
void SparseKernel::multiplyAhead(MutableArrayRef<MmaC> sums, Int step) {
  Int slot = getSlot(step);
  Int from = k.add(slot, plan.getCopiedBytes());
  Int to = getPrepared(k.rem(k.add(step, 1), 2));
  multiplyGroups(
      sums, slot, getPrepared(k.rem(step, 2)), [] {},
      [&](int64_t macro) { prepareMacro(from, to, macro); });
  fenceProxy(k);
}

/// sums += data of the stage at `slot` times the factor that was prepared at
/// `prepared`; `release` is called when the stage has been read, `finishMacro`
/// when the products of a macro step are under way.
void SparseKernel::multiplyGroups(MutableArrayRef<MmaC> sums, Int slot,
                                  Int prepared, function_ref<void()> release,
                                  function_ref<void(int64_t)> finishMacro) {
  int64_t rowBytes = plan.getImageRowBytes(/*isFactor=*/false);
  Int firstRow = k.mul(rowWarp, plan.getRowsPerWarp());
  Value data = k.shared(k.add(slot, k.mul(firstRow, rowBytes)));
  prepared = k.add(prepared, k.mul(resultWarp, plan.resultTiles * kCoreBytes));
  Value address = LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI32Type(), k.shared(prepared));
  Value descriptor = k.materialize(k.floorDiv(Int(address), 16), 64);
  int64_t macros = plan.depthStep / kMacroDepth;
  // The only stage is read at once, so that the next step can arrive.
  int64_t together = plan.stages == 1 ? plan.laneChunks : 1;
  for (int64_t macro = 0; macro < macros; ++macro)
    for (int64_t first = 0; first < plan.laneChunks; first += together) {
      SmallVector<std::array<SparseChunks, 2>> rows;
      for (int64_t chunk = first; chunk < first + together; ++chunk)
        rows.push_back({loadData(data, macro, chunk, /*half=*/0),
                        loadData(data, macro, chunk, /*half=*/1)});
      if (macro == macros - 1 && first + together == plan.laneChunks)
        release();
      for (auto [index, row] : llvm::enumerate(rows))
        for (int64_t part = 0; part < plan.lanesPerChunk; ++part) {
          int64_t chunk = first + index;
          SparseA a = math.getOperandA(row[0], row[1], /*step=*/0, part);
          MutableArrayRef<MmaC> own(&getSum(sums, chunk, part, 0, 0),
                                    plan.resultTiles);
          multiplyPart(own, a, macro, chunk * plan.lanesPerChunk + part,
                       descriptor, macro > 0 || !plan.hasPartialSums);
        }
      if (first + together == plan.laneChunks)
        finishMacro(macro);
    }
  waitForSums(k, sums);
}
