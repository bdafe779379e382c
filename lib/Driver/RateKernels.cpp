//===- RateKernels.cpp - Kernels that show a GPU's rates --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Kernels that compute keep chains of values in registers, enough of them that
// their latency does not count, which start differently, so that no optimizer
// computes one for another. What they end with is stored if it is a value that
// it never has.
//
//===----------------------------------------------------------------------===//

#include "RateKernels.h"
#include "kron/Target/GPUCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;
using llvm::formatv;

using Names = SmallVector<std::string>;

/// What a round does: chains beside each other, and how often each goes on.
static constexpr int kFmaChains = 8, kFmaSteps = 8;
static constexpr int kMmaChains = 4, kMmaSteps = 4;
static constexpr int kWgmmaSteps = 8;
/// Columns of a wgmma, whose factor is in shared memory.
static constexpr int kWgmmaColumns = 128;

namespace {
/// A matrix instruction, of a warp or a warpgroup.
struct Instruction {
  StringRef key, text;
  /// Types of the factors' registers and of the sums, and how many.
  StringRef factorType, sumType;
  int numA, numB, numSums;
  int m, n, k;
};
} // namespace

static constexpr Instruction kSmallDMMA = {
    "dmma", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "f64",  "f64",
    1,      1,
    2,      8,
    8,      4};
static constexpr Instruction kWideDMMA = {
    "dmma", "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
    "f64",  "f64",
    4,      2,
    4,      16,
    8,      8};
static constexpr Instruction kTF32Mma = {
    "tf32mma", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "i32",     "f32",
    4,         2,
    4,         16,
    8,         8};
static constexpr Instruction kF16Mma = {
    "f16mma", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "i32",    "f32",
    4,        2,
    4,        16,
    8,        16};
static constexpr Instruction kTF32Wgmma = {
    "tf32wgmma",
    "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32",
    "i32",
    "f32",
    4,
    0,
    kWgmmaColumns / 2,
    64,
    kWgmmaColumns,
    8};
static constexpr Instruction kF16Wgmma = {
    "f16wgmma",
    "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
    "i32",
    "f32",
    4,
    0,
    kWgmmaColumns / 2,
    64,
    kWgmmaColumns,
    16};

static SmallVector<Instruction> getMmas(const GPUMachine &machine) {
  return {machine.hasWideDMMA ? kWideDMMA : kSmallDMMA, kTF32Mma, kF16Mma};
}

static SmallVector<Instruction> getWgmmas(const GPUMachine &machine) {
  if (!machine.hasWgmma)
    return {};
  return {kTF32Wgmma, kF16Wgmma};
}

std::vector<RateKernel> kron::getRateKernels(const GPUMachine &machine) {
  constexpr double threads = kRateThreads;
  double fmas = 2 * threads * kFmaChains * kFmaSteps;
  std::vector<RateKernel> kernels = {{"ffma", fmas}, {"dfma", fmas}};
  auto add = [&](const Instruction &mma, double perRound) {
    kernels.push_back({mma.key, perRound * 2 * mma.m * mma.n * mma.k});
  };
  for (const Instruction &mma : getMmas(machine))
    add(mma, threads / 32 * kMmaChains * kMmaSteps);
  for (const Instruction &wgmma : getWgmmas(machine))
    add(wgmma, threads / 128 * kWgmmaSteps);
  return kernels;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string number(StringRef prefix, int index) {
  return (prefix + llvm::Twine(index)).str();
}

/// "a, b: t, u" of names that all have one type, after what `before` lists.
static std::string list(const Names &names, StringRef type, StringRef before,
                        StringRef typeBefore) {
  std::string text = (before + " : " + typeBefore).str();
  for (const std::string &name : names)
    text.insert(text.find(" : "), ", " + name);
  for (size_t i = 0; i < names.size(); ++i)
    text += (", " + type).str();
  return text;
}

/// A kernel that takes `numStates` values of `type` through a loop of `rounds`.
/// `body` writes a round and names the values after it.
static void writeLoop(llvm::raw_ostream &os, StringRef name, StringRef type,
                      int numStates, StringRef prologue,
                      llvm::function_ref<Names(Names)> body) {
  os << formatv(R"(
  llvm.func @{0}(%out: !llvm.ptr<1>, %rounds: i32) attributes {{
      nvvm.kernel, nvvm.maxntid = array<i32: {1}>} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %thread = llvm.sitofp %tid : i32 to {2}
{3})",
                name, kRateThreads, type, prologue);
  Names starts, states;
  for (int i = 0; i < numStates; ++i) {
    starts.push_back(number("%start", i));
    states.push_back(number("%state", i));
    os << formatv("    %offset{0} = llvm.mlir.constant({0}.5 : {1}) : {1}\n"
                  "    {2} = llvm.fadd %thread, %offset{0} : {1}\n",
                  i, type, starts.back());
  }
  os << "    llvm.br ^loop(" << list(starts, type, "%zero", "i32") << ")\n";
  os << "  ^loop(%i: i32";
  for (const std::string &state : states)
    os << ", " << state << ": " << type;
  os << "):\n";
  Names results = body(states);
  os << "    %next = llvm.add %i, %one : i32\n"
        "    %more = llvm.icmp \"slt\" %next, %rounds : i32\n"
        "    llvm.cond_br %more, ^loop("
     << list(results, type, "%next", "i32") << "), ^end\n  ^end:\n";
  std::string sum = results.front();
  for (int i = 1; i < numStates; ++i) {
    std::string added = number("%sum", i);
    os << formatv("    {0} = llvm.fadd {1}, {2} : {3}\n", added, sum,
                  results[i], type);
    sum = added;
  }
  os << formatv(R"(    %odd = llvm.mlir.constant(-1.25 : {1}) : {1}
    %isOdd = llvm.fcmp "oeq" {0}, %odd : {1}
    llvm.cond_br %isOdd, ^store, ^exit
  ^store:
    llvm.store {0}, %out : {1}, !llvm.ptr<1>
    llvm.br ^exit
  ^exit:
    llvm.return
  })",
                sum, type);
}

static void writeFma(llvm::raw_ostream &os, StringRef name, StringRef type) {
  std::string constants =
      formatv("    %factor = llvm.mlir.constant(0.96875 : {0}) : {0}\n"
              "    %addend = llvm.mlir.constant(0.03125 : {0}) : {0}\n",
              type);
  writeLoop(os, name, type, kFmaChains, constants, [&](Names states) {
    for (int step = 0; step < kFmaSteps; ++step)
      for (int chain = 0; chain < kFmaChains; ++chain) {
        std::string result = number("%fma", step * kFmaChains + chain);
        os << formatv("    {0} = llvm.intr.fma({1}, %factor, %addend) : "
                      "({2}, {2}, {2}) -> {2}\n",
                      result, states[chain], type);
        states[chain] = result;
      }
    return states;
  });
}

/// The registers of a matrix instruction's factors, which no value that is
/// multiplied by makes infinite.
static std::string writeFactors(const Instruction &mma, Names &factors) {
  bool isF64 = mma.factorType == "f64";
  // As two f16 values about 1, as one of TF32 .0078.
  std::string text =
      isF64 ? "    %base = llvm.mlir.constant(0.0009765625 : f64) : f64\n"
            : "    %base = llvm.mlir.constant(1006647296 : i32) : i32\n";
  for (int i = 0; i < mma.numA + mma.numB; ++i) {
    std::string factor = number("%factor", i);
    if (i == 0)
      text += formatv("    {0} = llvm.{1} %base, {2} : {3}\n", factor,
                      isF64 ? "fmul" : "add", isF64 ? "%thread" : "%tid",
                      mma.factorType);
    else
      text += formatv("    {0} = llvm.{1} {2}, %base{3} : {4}\n", factor,
                      isF64 ? "fadd" : "xor", factors.back(), isF64 ? "" : "1",
                      mma.factorType);
    factors.push_back(factor);
  }
  if (!isF64)
    text = "    %base1 = llvm.mlir.constant(5 : i32) : i32\n" + text;
  return text;
}

/// "{$2,$3}" for the next `count` operands.
static std::string operands(int count, int &next) {
  Names names;
  for (int i = 0; i < count; ++i)
    names.push_back(number("$", next++));
  return "{" + llvm::join(names, ",") + "}";
}

/// An instruction as PTX with its constraints, of operands as `factors` and
/// `sums`; returns the new sums.
static Names writeInstruction(llvm::raw_ostream &os, const Instruction &mma,
                              StringRef text, StringRef constraints,
                              const Names &arguments, StringRef argumentTypes,
                              const std::string &result) {
  Names types(mma.numSums, mma.sumType.str());
  std::string type = "!llvm.struct<(" + llvm::join(types, ", ") + ")>";
  os << formatv("    {0} = llvm.inline_asm has_side_effects asm_dialect = att "
                "\"{1}\", \"{2}\" {3} : ({4}) -> {5}\n",
                result, text, constraints, llvm::join(arguments, ", "),
                argumentTypes, type);
  Names sums;
  for (int i = 0; i < mma.numSums; ++i) {
    sums.push_back(result + number("_", i));
    os << formatv("    {0} = llvm.extractvalue {1}[{2}] : {3}\n", sums.back(),
                  result, i, type);
  }
  return sums;
}

static std::string repeat(StringRef text, int count) {
  return llvm::join(Names(count, text.str()), ",");
}

static void writeMma(llvm::raw_ostream &os, const Instruction &mma) {
  Names factors;
  std::string prologue = writeFactors(mma, factors);
  int next = 0;
  std::string text = mma.text.str();
  for (int count : {mma.numSums, mma.numA, mma.numB})
    text += (text == mma.text ? " " : ", ") + operands(count, next);
  text += ", " + operands(mma.numSums, next) + ";";
  StringRef factor = mma.factorType == "f64" ? "d" : "r";
  StringRef sum = mma.sumType == "f64" ? "d" : "f";
  std::string constraints = repeat(("=" + sum).str(), mma.numSums) + "," +
                            repeat(factor, mma.numA + mma.numB) + "," +
                            repeat(sum, mma.numSums);
  std::string types = repeat(mma.factorType, mma.numA + mma.numB) + "," +
                      repeat(mma.sumType, mma.numSums);
  writeLoop(os, mma.key, mma.sumType, kMmaChains * mma.numSums, prologue,
            [&](Names states) {
              for (int step = 0; step < kMmaSteps * kMmaChains; ++step) {
                auto *first = states.begin() + step % kMmaChains * mma.numSums;
                Names arguments = factors;
                arguments.append(first, first + mma.numSums);
                Names sums =
                    writeInstruction(os, mma, text, constraints, arguments,
                                     types, number("%mma", step));
                llvm::copy(sums, first);
              }
              return states;
            });
}

/// Core matrices of 8 columns and 16 bytes of K lie one after the other, of the
/// second 16 bytes behind all of the first.
static void writeWgmma(llvm::raw_ostream &os, const Instruction &wgmma) {
  constexpr int coreBytes = 128, strideBytes = kWgmmaColumns / 8 * coreBytes;
  constexpr int words = 2 * strideBytes / 4 / kRateThreads;
  constexpr int64_t fields =
      int64_t(strideBytes / 16) << 16 | int64_t(coreBytes / 16) << 32;
  Names factors;
  std::string prologue = writeFactors(wgmma, factors);
  llvm::raw_string_ostream stream(prologue);
  stream << formatv("    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>\n"
                    "    %words = llvm.mlir.constant({0} : i32) : i32\n"
                    "    %first = llvm.mul %tid, %words : i32\n",
                    words);
  for (int word = 0; word < words; ++word)
    stream << formatv(
        "    %word{0} = llvm.mlir.constant({0} : i32) : i32\n"
        "    %index{0} = llvm.add %first, %word{0} : i32\n"
        "    %place{0} = llvm.getelementptr %tile[%index{0}] : "
        "(!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
        "    llvm.store %factor0, %place{0} : i32, !llvm.ptr<3>\n",
        word);
  stream << formatv(
      "    llvm.inline_asm has_side_effects asm_dialect = att "
      "\"fence.proxy.async.shared::cta; bar.sync 0;\", \"~{{memory}\" : () -> "
      "()\n"
      "    %address = llvm.ptrtoint %tile : !llvm.ptr<3> to i64\n"
      "    %sixteen = llvm.mlir.constant(16 : i64) : i64\n"
      "    %fields = llvm.mlir.constant({0} : i64) : i64\n"
      "    %unit = llvm.udiv %address, %sixteen : i64\n"
      "    %descriptor = llvm.add %unit, %fields : i64\n",
      fields);
  // $0 to $63 sums, $64 to $127 the same before, then A and the descriptor.
  int next = 0;
  std::string sums = operands(wgmma.numSums, next);
  next += wgmma.numSums;
  std::string rows = operands(wgmma.numA, next);
  std::string text = "wgmma.fence.sync.aligned;";
  for (int step = 0; step < kWgmmaSteps; ++step)
    text +=
        (" " + wgmma.text + " " + sums + ", " + rows + ", $" +
         llvm::Twine(next) + ", 1, 1, 1" + (wgmma.k == 16 ? ", 0" : "") + ";")
            .str();
  text += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
  Names tied;
  for (int i = 0; i < wgmma.numSums; ++i)
    tied.push_back(std::to_string(i));
  std::string constraints = repeat("=&f", wgmma.numSums) + "," +
                            llvm::join(tied, ",") + "," +
                            repeat("r", wgmma.numA) + ",l,~{memory}";
  std::string types =
      repeat("f32", wgmma.numSums) + "," + repeat("i32", wgmma.numA) + ",i64";
  writeLoop(os, wgmma.key, wgmma.sumType, wgmma.numSums, prologue,
            [&](Names states) {
              states.append(factors);
              states.push_back("%descriptor");
              return writeInstruction(os, wgmma, text, constraints, states,
                                      types, "%wgmma");
            });
}

/// Loads that go to the L2 cache, as 16 bytes of each thread four times; in
/// registers before they are stored, so that many are under way.
static void writeCopy(llvm::raw_ostream &os) {
  os << formatv(R"(
  llvm.func @empty() attributes {{nvvm.kernel} {{
    llvm.return
  }
  llvm.func @copy(%target: !llvm.ptr<1>, %source: !llvm.ptr<1>, %rounds: i32)
      attributes {{nvvm.kernel, nvvm.maxntid = array<i32: {0}>} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %perCTA = llvm.mlir.constant({1} : i32) : i32
    %begin = llvm.mul %cta, %perCTA : i32
    %place0 = llvm.add %begin, %tid : i32
    %width = llvm.mlir.constant({0} : i32) : i32
)",
                kRateThreads, kCopyBytes / 16);
  for (int i = 0; i < 4; ++i) {
    if (i > 0)
      os << formatv("    %place{0} = llvm.add %place{1}, %width : i32\n", i,
                    i - 1);
    for (StringRef array : {"source", "target"})
      os << formatv("    %{0}{1} = llvm.getelementptr %{0}[%place{1}] : "
                    "(!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>\n",
                    array, i);
  }
  os << "    llvm.br ^loop(%zero : i32)\n  ^loop(%i: i32):\n";
  std::string type = "!llvm.struct<(i32, i32, i32, i32)>";
  for (int i = 0; i < 4; ++i)
    os << formatv(
        "    %loaded{0} = llvm.inline_asm has_side_effects asm_dialect = att "
        "\"ld.global.cg.v4.u32 {{$0,$1,$2,$3}, [$4];\", \"=r,=r,=r,=r,l\" "
        "%source{0} : (!llvm.ptr<1>) -> {1}\n",
        i, type);
  for (int i = 0; i < 4; ++i) {
    for (int lane = 0; lane < 4; ++lane)
      os << formatv("    %value{0}{1} = llvm.extractvalue %loaded{0}[{1}] : "
                    "{2}\n",
                    i, lane, type);
    os << formatv(
        "    llvm.inline_asm has_side_effects asm_dialect = att "
        "\"st.global.v4.u32 [$0], {{$1,$2,$3,$4};\", \"l,r,r,r,r\" "
        "%target{0}, %value{0}0, %value{0}1, %value{0}2, %value{0}3 : "
        "(!llvm.ptr<1>, i32, i32, i32, i32) -> ()\n",
        i);
  }
  os << R"(    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %next, %rounds : i32
    llvm.cond_br %more, ^loop(%next : i32), ^exit
  ^exit:
    llvm.return
  })";
}

std::string kron::printRateKernels(const GPUMachine &machine) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "gpu.module @kron_rates {";
  if (machine.hasWgmma)
    os << formatv("\n  llvm.mlir.global internal @tile() {{addr_space = 3 : "
                  "i32, alignment = 128 : i64} : !llvm.array<{0} x i8>",
                  kWgmmaColumns * 32);
  writeCopy(os);
  writeFma(os, "ffma", "f32");
  writeFma(os, "dfma", "f64");
  for (const Instruction &mma : getMmas(machine))
    writeMma(os, mma);
  for (const Instruction &wgmma : getWgmmas(machine))
    writeWgmma(os, wgmma);
  os << "\n}\n";
  return text;
}

llvm::Expected<std::string>
kron::compileRateKernels(const GPUMachine &machine) {
  auto chip = GPUChip::parse(machine.name);
  if (!chip)
    return chip.takeError();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  auto module =
      parseSourceString<ModuleOp>(printRateKernels(machine), &context);
  if (!module)
    return createStringError("cannot parse the kernels that measure rates");
  llvm::LLVMContext llvmContext;
  auto translated = translateGPUModule(
      *module->getOps<gpu::GPUModuleOp>().begin(), *chip, llvmContext);
  if (!translated)
    return createStringError("cannot translate the kernels that measure rates");
  return emitPTX(*translated, *chip, /*optLevel=*/2);
}
