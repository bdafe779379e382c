//===- RecordTarget.cpp - Tuning records ----------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A record is applied to a module with operations of every kind, for which code
// is generated then: what a record says must not make kron fail later.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Target.h"
#include "Words.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "kron/Mapping/Passes.h"
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

/// Entries for the operations above.
static constexpr llvm::StringLiteral kRecord = R"([
 {"op": "kron.mkm", "arrays": ["?x64xf32", "8x8xf32", "8x8xf32", "?x64xf32"],
  "plan": "#kron.cpu_plan<vector_bits = 512, tile = 4, register_rows = 6, register_vectors = 4>"},
 {"op": "kron.kmm", "arrays": ["12x7xbf16", "16x4xbf16", "3x3xbf16", "48x7xbf16"],
  "plan": "#kron.cpu_plan<slice = -1, stream_bytes = 1, prefetch = -1, matrix_tiles = 1, kept_fibres = 1>"},
 {"op": "kron.batched", "arrays": ["20x8x8xf64", "8x8xf64", "8x8xf64", "20x8x8xf64"],
  "plan": "#kron.gpu_plan<tile = 2, kernel = batched, threads = 128, ctas_per_sm = 4, regions = [2]>"},
 {"op": "kron.ksmm", "arrays": ["16x48xf16", "2x3x8x3xf16", "16x18xf16"],
  "plan": "#kron.gpu_plan<tile = 64, kernel = mma, threads = 256, stages = 3>"},
 {"op": "kron.ksmm_grad", "arrays": ["?x40xf32", "?x30xf32", "2x3x4x5xf32"],
  "plan": "#kron.gpu_plan<kernel = simt, columns = 32, threads = 64>"},
 {"op": "kron.mode_product", "arrays": ["5x16x32xf32", "16x16xf32", "5x16x32xf32"],
  "plan": "#kron.gpu_plan<kernel = ffma, tile = 1, cluster = 2>"}
])";

namespace {
class RecordTarget : public Target {
public:
  bool run(StringRef input) override;
  std::string mutate(StringRef input, Random &random) override;
  void addSeeds(StringRef file, StringRef content,
                std::map<std::string, std::string> &seeds) override;

private:
  /// Applies the record `input` to kModule; null if it is refused.
  OwningOpRef<ModuleOp> apply(Session &session, StringRef input);

  SessionPool sessions;
  MemoryFile file;
};
} // namespace

OwningOpRef<ModuleOp> RecordTarget::apply(Session &session, StringRef input) {
  if (crashesParser(input))
    return {};
  file.write(input);
  OwningOpRef<ModuleOp> module = session.parse(kModule);
  PassManager pm(session.getContext());
  KronApplyRecordOptions options;
  options.file = file.getPath().str();
  pm.addPass(createKronApplyRecord(options));
  if (!session.mustExplain("--kron-apply-record",
                           [&] { return pm.run(*module); }))
    return {};
  return module;
}

bool RecordTarget::run(StringRef input) {
  ++counts.runs;
  counts.parsed += llvm::expectedToOptional(json::parse(input)).has_value();
  Session &session = sessions.get();
  OwningOpRef<ModuleOp> module = apply(session, input);
  if (!module)
    return false;
  ++counts.accepted;
  // One of both, always the same for the same record: code for six functions
  // takes a tenth of a second.
  module->setName(input.size() % 2 ? "cpu512" : "sm_90a");
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

std::string RecordTarget::mutate(StringRef input, Random &random) {
  if (random.oneIn(20))
    return random.oneIn(2) ? mutateBytes(input, random)
                           : mutateWords(input, random);
  // Little becomes a record out of what is none.
  keepInput(input);
  bool startsAnew = !random.oneIn(4) && !apply(sessions.get(), input);
  llvm::Expected<json::Value> start =
      json::parse(startsAnew ? StringRef(kRecord) : input);
  if (!start) {
    llvm::consumeError(start.takeError());
    return mutateBytes(input, random);
  }
  bool mayBeRefused = random.oneIn(8);
  std::string text;
  for (unsigned i = 0; i < kAttempts; ++i) {
    json::Value mutated = *start;
    for (size_t count = 1 + random.below(3); count > 0; --count)
      mutateValue(mutated, random);
    text.clear();
    llvm::raw_string_ostream(text) << mutated;
    keepInput(text);
    if (mayBeRefused || apply(sessions.get(), text))
      break;
  }
  return text;
}

void RecordTarget::addSeeds(StringRef file, StringRef content,
                            std::map<std::string, std::string> &seeds) {
  seeds["all"] = kRecord.str();
  // Those that tests contain, right and wrong ones.
  SmallVector<StringRef> files;
  content.split(files, "\n//--- ");
  for (StringRef part : files) {
    auto [name, record] = part.split('\n');
    if (name.ends_with(".json"))
      seeds[(file + "-" + name).str()] = record.str();
  }
}

std::unique_ptr<Target> kron::fuzz::createRecordTarget() {
  return std::make_unique<RecordTarget>();
}
