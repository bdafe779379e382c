//===- RecordTarget.cpp - Tuning records ----------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Records are applied to a module with operations of every kind, for which code
// is generated then: what records say must not make kron fail later.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Target.h"
#include "Words.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "kron/Mapping/Passes.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::fuzz;
namespace json = llvm::json;

/// Attempts at a mutation after which a record is still one.
static constexpr unsigned kAttempts = 8;

static constexpr llvm::StringLiteral kModule = R"(
func.func @mkm(%x: tensor<?x64xf32>, %f: tensor<8x8xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = kron.mkm ins(%x : tensor<?x64xf32>) factors(%f, %f : tensor<8x8xf32>, tensor<8x8xf32>)
    outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
func.func @kmm(%x: memref<12x7xbf16>, %f: memref<16x4xbf16>, %g: memref<3x3xbf16>, %y: memref<48x7xbf16>) {
  kron.kmm ins(%x : memref<12x7xbf16>) factors(%f, %g : memref<16x4xbf16>, memref<3x3xbf16>)
    outs(%y : memref<48x7xbf16>)
  return
}
func.func @batched(%x: tensor<20x8x8xf64>, %f: tensor<8x8xf64>, %y: tensor<20x8x8xf64>) -> tensor<20x8x8xf64> {
  %0 = kron.batched ins(%x : tensor<20x8x8xf64>) factors(%f, %f : tensor<8x8xf64>, tensor<8x8xf64>)
    outs(%y : tensor<20x8x8xf64>) -> tensor<20x8x8xf64>
  return %0 : tensor<20x8x8xf64>
}
func.func @ksmm(%x: tensor<16x48xf16>, %k: tensor<2x3x8x3xf16>, %y: tensor<16x18xf16>) -> tensor<16x18xf16> {
  %0 = kron.ksmm ins(%x : tensor<16x48xf16>) weights(%k : tensor<2x3x8x3xf16>)
    outs(%y : tensor<16x18xf16>) -> tensor<16x18xf16>
  return %0 : tensor<16x18xf16>
}
func.func @grad(%x: tensor<?x40xf32>, %g: tensor<?x30xf32>, %y: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = kron.ksmm_grad ins(%x : tensor<?x40xf32>) grad(%g : tensor<?x30xf32>)
    outs(%y : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}
func.func @mode(%x: memref<5x16x32xf32>, %f: memref<16x16xf32>, %y: memref<5x16x32xf32>) {
  kron.mode_product axis(1) ins(%x : memref<5x16x32xf32>) factor(%f [p, q] : memref<16x16xf32>)
    outs(%y : memref<5x16x32xf32>)
  return
}
)";

/// Plans for the operations above, in their order, and the machines that they
/// are for.
static constexpr struct {
  llvm::StringLiteral target, plan;
} kPlans[] = {
    {"cpu/znver5/x86-64-v4/2",
     "#kron.cpu_plan<vector_bits = 512, tile = 4, register_rows = 6, "
     "register_vectors = 4>"},
    {"cpu/znver5/x86-64-v4/2",
     "#kron.cpu_plan<slice = -1, stream_bytes = 1, prefetch = -1, "
     "matrix_tiles = 1, kept_fibres = 1>"},
    {"cuda/h200/00000000",
     "#kron.gpu_plan<tile = 2, kernel = batched, threads = 128, "
     "ctas_per_sm = 4, regions = [2]>"},
    {"cuda/h200/00000000", "#kron.gpu_plan<kernel = sparse, stages = 3>"},
    {"cuda/h200/00000000", "#kron.gpu_plan<kernel = gradient, stages = 2>"},
    {"cpu/znver5/x86-64-v4/2", "#kron.cpu_plan<tile = 1, thread_fmas = 100>"}};

namespace {
class RecordFileTarget : public Target {
public:
  bool run(StringRef input) override;
  std::string mutate(StringRef input, Random &random) override;
  void addSeeds(StringRef file, StringRef content,
                std::map<std::string, std::string> &seeds) override;

private:
  /// Applies the records `input` to kModule; null if none is used.
  OwningOpRef<ModuleOp> apply(Session &session, StringRef input);
  /// Records of all plans.
  std::string makeRecords();

  SessionPool sessions;
  MemoryFile file;
};
} // namespace

/// For one machine of both, always the same for the same records: code for six
/// functions takes a tenth of a second.
static bool isForCPU(StringRef input) { return input.size() % 2; }

std::string RecordFileTarget::makeRecords() {
  OwningOpRef<ModuleOp> module = sessions.get().parse(kModule);
  std::string text;
  const auto *next = std::begin(kPlans);
  module->walk([&](Operation *op) {
    if (!isTunable(op))
      return;
    Record record;
    record.key = getRecordKey(op);
    record.target = llvm::cantFail(parseRecordTarget(next->target));
    record.plan = next++->plan.str();
    text += record.print() + "\n";
  });
  return text;
}

OwningOpRef<ModuleOp> RecordFileTarget::apply(Session &session,
                                              StringRef input) {
  if (crashesParser(input))
    return {};
  file.write(input);
  OwningOpRef<ModuleOp> module = session.parse(kModule);
  PassManager pm(session.getContext());
  KronApplyRecordsOptions options;
  options.files = {file.getPath().str()};
  options.target = kPlans[isForCPU(input) ? 0 : 2].target.str();
  pm.addPass(createKronApplyRecords(options));
  if (!session.mustExplain("--kron-apply-records",
                           [&] { return pm.run(*module); }))
    return {};
  bool isUsed = false;
  module->walk([&](Operation *op) {
    std::optional<Attribute> plan = op->getInherentAttr(kPlanAttrName);
    isUsed |= plan && *plan;
  });
  return isUsed ? std::move(module) : nullptr;
}

bool RecordFileTarget::run(StringRef input) {
  ++counts.runs;
  counts.parsed += !parseRecords(input, "", [](const std::string &) {}).empty();
  Session &session = sessions.get();
  OwningOpRef<ModuleOp> module = apply(session, input);
  if (!module)
    return false;
  ++counts.accepted;
  module->setName(isForCPU(input) ? "cpu512" : "sm_90a");
  counts.completed += session.runPasses(*module);
  return true;
}

/// Changes one value somewhere in `value`.
static void mutateValue(json::Value &value, Random &random) {
  if (json::Array *array = value.getAsArray(); array && !array->empty()) {
    size_t index = random.below(array->size());
    if (random.oneIn(8))
      array->push_back((*array)[index]);
    else if (random.oneIn(8))
      array->erase(array->begin() + index);
    else
      mutateValue((*array)[index], random);
  } else if (json::Object *object = value.getAsObject();
             object && !object->empty()) {
    // Objects have no order that could be relied on.
    std::vector<StringRef> keys;
    for (const auto &member : *object)
      keys.push_back(member.first);
    llvm::sort(keys);
    StringRef key = random.pick(keys);
    // The plan is what is read in most detail.
    if (object->get("plan") && !random.oneIn(4))
      key = "plan";
    if (random.oneIn(30))
      object->erase(key);
    else
      mutateValue(*object->get(key), random);
  } else if (std::optional<StringRef> text = value.getAsString()) {
    value = random.oneIn(10) ? mutateWords(*text, random)
                             : mutateWord(*text, random);
  } else {
    value = pickNumber(random);
  }
}

/// `text` with one of its lines, if that is JSON, changed.
static std::string mutateLine(StringRef text, Random &random) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  StringRef &line = lines[random.below(lines.size())];
  auto value = llvm::expectedToOptional(json::parse(line));
  std::string changed;
  if (value) {
    mutateValue(*value, random);
    llvm::raw_string_ostream(changed) << *value;
    line = changed;
  }
  return llvm::join(lines, "\n");
}

std::string RecordFileTarget::mutate(StringRef input, Random &random) {
  if (random.oneIn(20))
    return random.oneIn(2) ? mutateBytes(input, random)
                           : mutateWords(input, random);
  // Little becomes a record out of what is none.
  keepInput(input);
  bool startsAnew = !random.oneIn(4) && !apply(sessions.get(), input);
  std::string start = startsAnew ? makeRecords() : input.str();
  bool mayBeRefused = random.oneIn(8);
  std::string text;
  for (unsigned i = 0; i < kAttempts; ++i) {
    text = start;
    for (size_t count = 1 + random.below(3); count > 0; --count)
      text = mutateLine(text, random);
    // Of the other machine.
    if (random.oneIn(2))
      text += "\n";
    keepInput(text);
    if (mayBeRefused || apply(sessions.get(), text))
      break;
  }
  return text;
}

void RecordFileTarget::addSeeds(StringRef file, StringRef content,
                                std::map<std::string, std::string> &seeds) {
  seeds["all"] = makeRecords();
  // Those that tests contain, right and wrong ones.
  SmallVector<StringRef> files;
  content.split(files, "\n//--- ");
  for (StringRef part : files) {
    auto [name, record] = part.split('\n');
    if (name.ends_with(".jsonl"))
      seeds[(file + "-" + name).str()] = record.str();
  }
}

std::unique_ptr<Target> kron::fuzz::createRecordTarget() {
  return std::make_unique<RecordFileTarget>();
}
