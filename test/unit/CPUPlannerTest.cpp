//===- CPUPlannerTest.cpp - Plans of regions on a CPU -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/CPU/CPUPlanner.h"
#include "PlannerTest.h"
#include "kron/Machine/Processor.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
struct CPU {
  const char *name;
  int64_t vectorBits;
};

/// Each has other caches, vectors or stores.
constexpr CPU kCPUs[] = {{"znver3", 256},         {"znver5", 512},
                         {"skylake-avx512", 512}, {"sapphirerapids", 512},
                         {"neoverse-v1", 128},    {"haswell", 256}};

CPUPlannerOptions getOptions(const CPU &cpu) {
  Processor processor{cpu.name, "", cpu.vectorBits, KRON_ISA_HOST};
  setKnownCosts(processor, [](StringRef) { return false; });
  CPUPlannerOptions options;
  options.vectorBits = processor.vectorBits;
  options.wholeBits = processor.wholeBits;
  options.caches = {processor.l1Bytes, processor.l2Bytes, processor.columnBytes,
                    processor.rowTileBytes};
  options.streamBytes = processor.streamBytes;
  options.streamColumnsBytes = processor.streamColumnsBytes;
  options.hasFastShuffles = processor.hasFastShuffles;
  options.rates = processor.rates;
  return options;
}

class CPUPlanners : public GPUPlanners {
protected:
  /// The plan of `example` that completes the fields `given`; or the error.
  std::variant<CPUPlanAttr, std::string>
  plan(const Example &example, const CPU &cpu, StringRef given = "") {
    std::string text =
        given.empty() ? "" : ("#kron.cpu_plan<" + given + ">").str();
    std::string reason = getAttributeReason(text.empty() ? "unit" : text);
    if (reason != "none")
      return reason;
    FusedOp fused = build(example, text);
    reason = catchError([&] { (void)planForCPU(fused, getOptions(cpu)); });
    if (reason != "none")
      return reason;
    return getCPUPlanAttr(fused);
  }

  /// What the plan of `example` with the fields `given` takes by the cost
  /// model.
  CPUTime estimate(const Example &example, const CPU &cpu,
                   StringRef given = "") {
    auto planned = plan(example, cpu, given);
    EXPECT_EQ(getReason(planned), "none");
    CPUPlanAttr chosen = std::get<CPUPlanAttr>(planned);
    return estimateCPUTime(build(example, getText(chosen)),
                           readCPUChoices(chosen), getOptions(cpu));
  }

  /// What the plan of `example` prints, or the error.
  std::string getPlanned(const Example &example, const CPU &cpu,
                         StringRef given = "") {
    auto planned = plan(example, cpu, given);
    if (auto *reason = std::get_if<std::string>(&planned))
      return *reason;
    return getText(std::get<CPUPlanAttr>(planned));
  }
};
} // namespace

static const Example kRows{"f32", {-1, 32, 32, 32}, {1, 2, 3}};
static const Example kColumns{"f32", {64, 64, 4096}, {0, 1}};
static const Example kPowers{"f32", {-1, 2, 2, 2, 2, 2, 2}, {1, 2, 3, 4, 5, 6}};
static const Example kOdd{"f64", {1000, 5, 5}, {1, 2}};
static const Example kSparse{"f32", {6, 196, 64}, {2}, {}, {0}};
static const Example kLong{"f32", {-1, 64, 64, 64}, {1, 2, 3}};
static const Example kBFloats{"bf16", {4096, 64, 64}, {1, 2}};
static const Example kLongRows{"f32", {164, 36810}, {0}};
static const Example kWide{"f32", {-1, 128}, {1}};
static const Example kSparseColumns{"f32", {16, 40, 8, 60}, {1}, {}, {0, 2}};
static const Example kLongVarying{"f32", {40, 32, 37}, {1}, {}, {2}};
static const Example kVaryingRow{"f32", {1, 32, 37}, {1}, {}, {2}};
static const Example kFactorOutside{"f64", {10, 7, 44, 17}, {1, 3}};
static const Example kFewRows{"f32", {2, 512}, {1},
                              {},    {},       /*isTransposed=*/true};

TEST_F(CPUPlanners, CompletePlansStayAsTheyAre) {
  for (const Example &example :
       {kRows, kColumns, kPowers, kOdd, kSparse, kLong})
    for (const CPU &cpu : kCPUs) {
      SCOPED_TRACE(getName(example) + " " + cpu.name);
      auto planned = plan(example, cpu);
      ASSERT_EQ(getReason(planned), "none");
      CPUPlanAttr chosen = std::get<CPUPlanAttr>(planned);
      EXPECT_TRUE(chosen.isComplete());
      EXPECT_EQ(parseAttribute(getText(chosen), &context), chosen);
      EXPECT_EQ(writeCPUPlan(&context, readCPUChoices(chosen)), chosen);
      // No processor changes what is complete.
      FusedOp again = build(example, getText(chosen));
      for (const CPU &other : kCPUs) {
        ASSERT_TRUE(succeeded(planForCPU(again, getOptions(other))));
        EXPECT_EQ(getCPUPlanAttr(again), chosen);
      }
    }
}

TEST_F(CPUPlanners, EstimatesAreNotBelowTheFloor) {
  for (const Example &example :
       {kRows, kColumns, kPowers, kOdd, kSparse, kLong})
    for (const CPU &cpu : kCPUs) {
      SCOPED_TRACE(getName(example) + " " + cpu.name);
      CPUTime time = estimate(example, cpu);
      EXPECT_GT(time.floor, 0);
      EXPECT_GE(time.total, 0.999 * time.floor);
      // No plan for these leaves most of the lanes empty.
      EXPECT_LT(time.total, 8 * time.floor);
    }
}

TEST_F(CPUPlanners, EstimatesOfPairsAndMatrixTiles) {
  // 4096 x 64^2 of bf16: 2 * 64 multiply-adds for an element of 2^24, in pairs
  // in 16 lanes, two in a cycle; or 512 in a cycle.
  double products = 128 * std::pow(2.0, 24);
  for (bool hasTiles : {false, true}) {
    CPUPlannerOptions options = getOptions({"sapphirerapids", 512});
    options.hasMatrixTiles = hasTiles;
    options.hasPairProducts = !hasTiles;
    FusedOp fused = build(kBFloats, "");
    ASSERT_TRUE(succeeded(planForCPU(fused, options)));
    CPUTime time =
        estimateCPUTime(fused, readCPUChoices(getCPUPlanAttr(fused)), options);
    EXPECT_GE(time.total, 0.999 * time.floor);
    EXPECT_GE(time.arithmetic, products / 512 / 2.8e9);
    EXPECT_LE(time.floor, products / 32 / 2.8e9);
  }
}

TEST_F(CPUPlanners, EstimatesOfNarrowVectors) {
  // 8192 x 32^3: 3 * 32 multiply-adds for an element of 2^28, in 16 lanes.
  Example rows{"f32", {8192, 32, 32, 32}, {1, 2, 3}};
  double seconds = 96 * std::pow(2.0, 28) / 16 / 2 / 3.9e9;
  CPUTime wide = estimate(rows, {"znver5", 512});
  EXPECT_EQ(wide.getBound(), "multiply-adds");
  EXPECT_NEAR(wide.floor, seconds, 1e-9);
  EXPECT_NEAR(estimate(rows, {"znver5", 512}, "vector_bits = 256").floor,
              2 * seconds, 1e-9);
  // A Zen 4 takes two cycles for 512 bits.
  EXPECT_NEAR(estimate(rows, {"znver4", 512}).floor,
              estimate(rows, {"znver4", 512}, "vector_bits = 256").floor, 1e-9);
}

TEST_F(CPUPlanners, EstimatesOfTilesBeyondTheCaches) {
  Example rows{"f32", {65536, 3, 3, 3, 3, 3}, {1, 2, 3, 4, 5}};
  CPU cpu{"znver3", 256};
  CPUTime small = estimate(rows, cpu, "slice = -1"),
          large = estimate(rows, cpu, "tile = 4096, slice = -1");
  EXPECT_GT(large.caches, small.caches);
  EXPECT_GT(large.total, small.total);
  EXPECT_EQ(large.getBound(), "caches");
}

TEST_F(CPUPlanners, EstimatesOfMemory) {
  // One small factor: 2^26 elements are read and written.
  Example rows{"f32", {1 << 24, 4}, {1}};
  CPUTime time = estimate(rows, {"sapphirerapids", 512});
  EXPECT_EQ(time.getBound(), "memory");
  EXPECT_NEAR(time.memory, 2 * std::pow(2.0, 28) / 20e9, 1e-6);
  EXPECT_EQ(time.floor, time.memory);
}

TEST_F(CPUPlanners, GivenFieldsAreKept) {
  struct Row {
    const Example &example;
    const char *given;
  };
  const Row rows[] = {
      {kRows, "vector_bits = 128"},
      {kRows, "tile = 3"},
      {kRows, "tiled_axis = -1"},
      {kRows, "slice = 4"},
      {kRows, "slice = -1"},
      {kRows, "steps = [{rows = 2}, {}, {vectors = 1}]"},
      {kRows, "prefetch_results = 0"},
      {kColumns, "windows_ahead = 2"},
      {kRows, "prefetch_lines = 16"},
      {kRows, "thread_fmas = 1000"},
      {kRows, "stream_bytes = 4096, staging = 1"},
      {kRows, "stream_bytes = 4096, staging = 1, drain_lines = 8"},
      {kRows, "l1_sets = 128"},
      {kWide, "steps = [{factor_panels = 1, vectors = 1}]"},
      {kWide, "steps = [{chunk = 24}]"},
      {kColumns, "steps = [{input_panels = 1}, {}]"},
      {kColumns, "packs_input = 1"},
      {kColumns, "packs_input = 0"},
      {kPowers, "steps = [{factors = 3}, {factors = 3}]"},
      {kPowers, "rows_in_lanes = 1"},
      {kOdd, "rows_in_lanes = 0"},
      {kSparse, "whole_axes = []"},
      {kSparseColumns,
       "whole_axes = [], blocks = 4, steps = [{along_axis = 3}]"},
      {kSparseColumns, "steps = [{along_axis = 0}]"},
      {kLongVarying, "steps = [{segment = 2, packed_k = 5}]"},
      {kLongVarying, "steps = [{segment = 1, packed_k = 0}]"},
      {kLongVarying, "steps = [{segment = 2, block_k = 5, block_q = 9}]"},
      {kVaryingRow, "steps = [{segment = 3, block_k = 8, block_q = 37}]"},
      {kFewRows, "steps = [{lanes = 1, factor_ahead = 512}]"},
  };
  for (const Row &row : rows)
    for (const CPU &cpu : kCPUs) {
      // Vectors of fewer than four rows are no lanes of rows.
      if (StringRef(row.given).contains("rows_in_lanes") &&
          cpu.vectorBits < 256)
        continue;
      SCOPED_TRACE(std::string(row.given) + " " + cpu.name);
      Example example = row.example;
      if (StringRef(row.given) == "rows_in_lanes = 1")
        example.sizes.front() = 1000;
      auto planned = plan(example, cpu, row.given);
      ASSERT_EQ(getReason(planned), "none");
      CPUPlanAttr chosen = std::get<CPUPlanAttr>(planned);
      auto given = cast<CPUPlanAttr>(parseAttribute(
          "#kron.cpu_plan<" + std::string(row.given) + ">", &context));
      CPUChoices wanted = readCPUChoices(given), found = readCPUChoices(chosen);
      // A field at its default is not printed.
      SmallVector<std::string> values[2];
      for (auto [choices, texts] :
           {std::pair(&wanted, &values[0]), std::pair(&found, &values[1])}) {
        auto collect = [&, texts = texts](StringRef name, const auto &value) {
          if (!given.has(name))
            return;
          std::string &text = texts->emplace_back();
          llvm::raw_string_ostream os(text);
          if constexpr (std::is_convertible_v<decltype(value), int64_t>)
            os << name << " = " << static_cast<int64_t>(value);
          else
            llvm::interleaveComma(value, os << name << " = ");
        };
        CPUChoices::visitFields(collect, *choices);
        auto steps = given.getFields().getAs<ArrayAttr>("steps");
        for (size_t index = 0; steps && index < steps.size(); ++index) {
          auto fields = cast<DictionaryAttr>(steps[index]);
          auto collectStep = [&, texts = texts](StringRef name,
                                                const auto &value) {
            if constexpr (std::is_convertible_v<decltype(value), int64_t>)
              if (fields.contains(name))
                texts->push_back((name + " = " + Twine(value)).str());
          };
          CPUStepChoices::visitFields(collectStep, choices->steps[index]);
        }
      }
      EXPECT_EQ(values[0], values[1]);
    }
}

TEST_F(CPUPlanners, WhatARegionWouldNotHonourIsAnError) {
  struct Row {
    const Example &example;
    const char *given, *reason;
  };
  const Row rows[] = {
      {kRows, "tiled_axis = 1", "expects tiled_axis to be an axis along which"},
      {kSparse, "tiled_axis = 0", "expects tiled_axis to be an axis along"},
      {kRows, "whole_axes = [0]",
       "expects whole_axes to be axes of known sizes"},
      {kRows, "packs_input = 1", "cannot have packs_input = 1"},
      {kColumns, "rows_in_lanes = 1",
       "cannot have rows_in_lanes = 1: the tiled axis does not lie outside"},
      {kRows, "rows_in_lanes = 1", "axes inside of it are not whole"},
      {kSparse, "slice = 2", "cannot have slice = 2"},
      {kSparse, "slice_cuts = [2]", "cannot have slice_cuts"},
      {kLong, "slice = 4, slice_cuts = [3]", "expects slice_cuts to divide"},
      {kRows, "blocks = 4", "cannot have blocks = 4"},
      {kRows, "reads_segments = 1", "cannot have reads_segments = 1"},
      {kRows, "spread_prefetch = 1", "cannot have spread_prefetch = 1"},
      {kRows, "stream_bytes = -1, staging = 2", "cannot have staging = 2"},
      {kRows, "prefetch = -1, prefetch_lines = 16",
       "expects prefetch_lines = 32, the default, but got 16: with prefetch"},
      {kRows, "stream_bytes = -1, drain_lines = 8",
       "expects drain_lines = 12, the default, but got 8: with staging = 0"},
      {kRows, "matrix_tiles = 1",
       "cannot have matrix_tiles = 1: results are of f32 instead of bf16"},
      {kRows, "matrix_tiles = 2",
       "cannot have matrix_tiles = 2: results are of f32 instead of bf16"},
      {kBFloats, "vector_bits = 256, matrix_tiles = 1",
       "cannot have matrix_tiles = 1: vectors have 256 bits instead of 512"},
      {kRows, "steps = [{factors = 4}]", "expects steps to apply 3 factors"},
      {kRows, "steps = [{}]", "expects steps to apply 3 factors, but got 1"},
      {{"f32", {-1, 8, 8, 8}, {1, 3}},
       "steps = [{factors = 2}]",
       "expects step 1 to join factors of neighbouring axes"},
      {kRows, "steps = [{far = 1}, {}, {}]", "cannot have far = 1 in step 1"},
      {kLongRows, "packs_input = 0, prefetch = -1, steps = [{far = 1}]",
       "cannot have far = 1 in step 1"},
      {kLongRows, "packs_input = 0, steps = [{far = 1, input_panels = 1}]",
       "step 1 cannot have far = 1: it does not load rows of the input"},
      {kLongRows, "packs_input = 0, windows_ahead = 2, steps = [{far = 1}]",
       "cannot have windows_ahead = 2"},
      {kLongRows, "packs_input = 0, prefetch_lines = 16, steps = [{far = 1}]",
       "expects prefetch_lines = 32, the default, but got 16: with far = 1"},
      {kRows, "steps = [{lanes = 1}, {}, {}]",
       "step 1 cannot have lanes = 1: input and factor are not contiguous"},
      {kRows, "steps = [{}, {lanes = 2}, {}]",
       "step 2 cannot have lanes = 2: no rows lie innermost"},
      {kRows, "steps = [{}, {}, {lanes = 3}]",
       "cannot have lanes = 3: they run over the innermost axis anyway"},
      {kRows, "steps = [{matrix_tiles = 1}, {}, {}]",
       "step 1 cannot have matrix_tiles = 1"},
      {kRows, "steps = [{transposes_factor = 1}, {}, {}]",
       "cannot have transposes_factor = 1"},
      {kRows, "steps = [{packs_factor = 1}, {}, {}]",
       "cannot have packs_factor = 1"},
      {kColumns, "steps = [{factor_panels = 1}, {}]",
       "cannot have factor_panels = 1: lanes do not run over results"},
      {kRows, "steps = [{packs_in_tiles = 1}, {}, {}]",
       "cannot have packs_in_tiles = 1"},
      {kWide, "steps = [{input_panels = 1}]", "cannot have input_panels = 1"},
      {kRows, "steps = [{along_axis = 1}, {}, {}]",
       "cannot have along_axis = 1: no axis that the factor varies on"},
      {kSparseColumns, "steps = [{along_axis = 1, input_panels = 1}]",
       "cannot have along_axis = 1: rows of the input are copied"},
      {kSparseColumns, "whole_axes = [], blocks = 3", "cannot have blocks = 3"},
      {kWide, "steps = [{packed_k = 4}]",
       "cannot have packed_k = 4: no rows are taken in segments"},
      {kVaryingRow, "steps = [{segment = 1, packed_k = 4}]",
       "cannot have packed_k = 4: no rows share the factor"},
      {kWide, "steps = [{block_k = 4, block_q = 4}]",
       "cannot have block_k = 4: no rows are taken in segments"},
      {kLongVarying, "steps = [{segment = 1, block_k = 4}]",
       "expects block_q: results whose sums lie in memory"},
      {kLongVarying, "steps = [{segment = 1, block_q = 4}]",
       "cannot have block_q = 4: results are complete"},
      {kLongVarying,
       "steps = [{segment = 1, packed_k = 4, block_k = 4, block_q = 4}]",
       "cannot have block_k = 4: blocks of the factor are packed"},
      {kWide, "steps = [{factor_ahead = 512}]",
       "cannot have factor_ahead = 512: the factor is not read where it lies"},
      {kLongVarying,
       "steps = [{segment = 1, packed_k = 4, factor_ahead = 512}]",
       "cannot have factor_ahead = 512: the factor is not read where it lies"},
      {kFactorOutside, "tiled_axis = 2, tile = 4, rows_in_lanes = 1",
       "cannot have rows_in_lanes = 1: a factor is applied outside of the "
       "tiled axis"},
      {kColumns, "steps = [{chunk = 8}, {}]", "cannot have chunk = 8"},
      {kWide, "steps = [{sharing_rows = 4}]", "cannot have sharing_rows = 4"},
      {kColumns, "steps = [{remainder = [8, 1, 1]}, {}]",
       "cannot have remainder: no lanes at the end"},
      {kWide, "steps = [{segment = 4}]", "cannot have segment = 4"},
      {kWide, "steps = [{reads_pairs = 1}]", "cannot have reads_pairs = 1"},
      {kWide, "moves_innermost = 1",
       "cannot have moves_innermost = 1: no products"},
      {kWide, "moves_innermost = 3",
       "cannot have moves_innermost = 3: the innermost axis is contracted"},
      {kRows, "moves_innermost = 3",
       "cannot have moves_innermost = 3: tiles go through several factors"},
      {kRows, "threads = 2", "a plan for a CPU has no field 'threads'"},
      {kRows, "steps = [{tile = 2}, {}, {}]",
       "a step of a plan for a CPU has no field 'tile'; it has factors, "},
      {kRows, "windows_ahead = 2", "cannot have windows_ahead = 2"},
      {kRows, "windows_ahead = 3", "expects windows_ahead to be in [1, 2]"},
  };
  for (const Row &row : rows)
    for (const CPU &cpu : kCPUs) {
      std::string found = getPlanned(row.example, cpu, row.given);
      EXPECT_NE(found.find(row.reason), std::string::npos)
          << row.given << " " << cpu.name << ": " << found;
    }
}

TEST_F(CPUPlanners, NoStepTakesMoreOfACacheThanThereIs) {
  const char *budgets[] = {"l2_bytes = 262144", "l2_bytes = 262144",
                           "l2_bytes = 262144", "l2_bytes = 262144",
                           "l2_bytes = 262144", "l2_bytes = 131072"};
  for (auto [cpu, budget] : llvm::zip_equal(kCPUs, budgets))
    EXPECT_EQ(getPlanned(kWide, cpu), getPlanned(kWide, cpu, budget))
        << cpu.name;
}

TEST_F(CPUPlanners, BudgetsTellWhatToChoose) {
  struct Row {
    const Example &example;
    const char *given, *found;
  };
  const Row rows[] = {
      {kWide, "l1_bytes = 1048576", "steps = [{rows = 3, vectors = 8}]"},
      {kWide, "steps = [{l1_bytes = 1048576}]",
       "steps = [{rows = 3, vectors = 8}]"},
      {kWide, "l2_bytes = 65536", "factor_panels = 1, chunk = 66}]"},
      {kWide, "steps = [{l2_bytes = 65536}]",
       "factor_panels = 1, chunk = 66}]"},
      {kWide, "fmas_in_flight = 64", "factor_panels = 1, chunk = 258}]"},
      {kWide, "register_rows = 2", "steps = [{rows = 2, vectors = "},
  };
  for (const Row &row : rows) {
    std::string found = getPlanned(row.example, kCPUs[1], row.given);
    EXPECT_NE(found.find(row.found), std::string::npos)
        << row.given << ": " << found;
  }
}

TEST_F(CPUPlanners, ResultsArePrefetchedWhereTheyFindRoom) {
  // 144 KB a row.
  const Example example{"f32", {-1, 36, 32, 32}, {1, 2, 3}};
  const bool prefetches[] = {true, true, true, true, true, false};
  for (auto [cpu, expected] : llvm::zip_equal(kCPUs, prefetches)) {
    auto planned = plan(example, cpu, "tile = 1");
    ASSERT_EQ(getReason(planned), "none");
    EXPECT_EQ(readCPUChoices(std::get<CPUPlanAttr>(planned)).prefetchesResults,
              expected)
        << cpu.name;
  }
}

TEST_F(CPUPlanners, SlicesLeaveWhatIsFarForLargerOnes) {
  // 4 positions of the outermost axis leave 512 KB.
  const bool isFar[] = {false, false, false, false, false, true};
  for (auto [cpu, expected] : llvm::zip_equal(kCPUs, isFar)) {
    const Example example{"f32", {32, 64, 64}, {0, 1, 2}};
    auto planned = plan(example, cpu);
    ASSERT_EQ(getReason(planned), "none");
    CPUChoices choices = readCPUChoices(std::get<CPUPlanAttr>(planned));
    bool found = llvm::any_of(choices.steps, [](const CPUStepChoices &step) {
      return step.isSourceFar;
    });
    EXPECT_EQ(found, expected)
        << cpu.name << ": " << getText(std::get<CPUPlanAttr>(planned));
  }
}

TEST_F(CPUPlanners, StoresGoByWayOfACopyWhereTheyAreNonTemporal) {
  // Rows of 500 bytes end within lines.
  const Example example{"f32", {-1, 5, 5, 5}, {1, 2, 3}};
  const int64_t staging[] = {0, kAllStaged, 0, kAllStaged, 0, 0};
  for (auto [cpu, expected] : llvm::zip_equal(kCPUs, staging)) {
    auto planned = plan(example, cpu);
    ASSERT_EQ(getReason(planned), "none");
    EXPECT_EQ(readCPUChoices(std::get<CPUPlanAttr>(planned)).staging, expected)
        << cpu.name << ": " << getText(std::get<CPUPlanAttr>(planned));
  }
}

TEST_F(CPUPlanners, VectorsDecideWhichFactorsAreJoined) {
  auto getSteps = [&](const Example &example, const CPU &cpu) {
    auto planned = plan(example, cpu);
    std::string text = getReason(planned) == "none" ? "" : getReason(planned);
    if (!text.empty())
      return text;
    for (const CPUStepChoices &step :
         readCPUChoices(std::get<CPUPlanAttr>(planned)).steps)
      text += std::to_string(step.factors) + " ";
    return text;
  };
  for (const CPU &cpu : kCPUs) {
    EXPECT_NE(getSteps(kPowers, cpu), "1 1 1 1 1 1 ") << cpu.name;
    EXPECT_EQ(getSteps(kRows, cpu), "1 1 1 ") << cpu.name;
  }
}

TEST_F(CPUPlanners, TilesOfColumnsTakeTwoLinesWhateverTheVectors) {
  const Example columns{"f32", {8, 8, 8, 8, 1024}, {0, 1, 2, 3}};
  for (const CPU &cpu : {kCPUs[0], kCPUs[2], kCPUs[5]}) {
    auto planned = plan(columns, cpu);
    ASSERT_EQ(getReason(planned), "none");
    EXPECT_EQ(readCPUChoices(std::get<CPUPlanAttr>(planned)).tile, 32)
        << cpu.name;
  }
}

TEST_F(CPUPlanners, ProcessorsThatSplitVectorsTakeNarrowOnesWhereTheseAreFull) {
  struct Row {
    Example example;
    int64_t bits;
    bool rowsInLanes = false;
  };
  const Row rows[] = {
      // Eight elements of f32 fill vectors of 256 bits.
      {{"f32", {1000, 8, 8, 8}, {1, 2, 3}}, 256},
      {{"f64", {1000, 12, 12, 12}, {1, 2, 3}}, 256},
      {{"f32", {1000, 16, 16, 16}, {1, 2, 3}}, 512},
      // Transposing narrow vectors takes less, and the first-level cache holds
      // two of rows so short.
      {{"f32", {1000, 3, 3, 3}, {1, 2, 3}}, 256, true},
      {{"f64", {1000, 11, 11}, {1, 2}}, 256},
      // A single narrow vector of rows loads as often as it multiplies.
      {{"f32", {1000, 7, 7, 7}, {1, 2, 3}}, 512, true},
      // Not for columns, and not for what is not known.
      {{"f32", {8, 8, 8, 1000}, {0, 1, 2}}, 512},
      {{"i32", {1000, 8, 8, 8}, {1, 2, 3}}, 512},
  };
  for (const Row &row : rows)
    for (bool isSplit : {false, true}) {
      SCOPED_TRACE(getName(row.example) + (isSplit ? " split" : ""));
      CPUPlannerOptions options = getOptions(kCPUs[2]);
      options.wholeBits = isSplit ? 256 : 512;
      FusedOp fused = build(row.example);
      ASSERT_TRUE(succeeded(planForCPU(fused, options)));
      CPUChoices choices = readCPUChoices(getCPUPlanAttr(fused));
      EXPECT_EQ(choices.vectorBits, isSplit ? row.bits : 512);
      if (isSplit)
        EXPECT_EQ(choices.rowsInLanes, row.rowsInLanes);
    }
  // What is given stays.
  CPUPlannerOptions options = getOptions(kCPUs[2]);
  options.wholeBits = 256;
  FusedOp fused = build(rows[0].example, "#kron.cpu_plan<vector_bits = 512>");
  ASSERT_TRUE(succeeded(planForCPU(fused, options)));
  EXPECT_EQ(readCPUChoices(getCPUPlanAttr(fused)).vectorBits, 512);
}

TEST_F(CPUPlanners, ProcessorsThatSplitVectorsCopyResultsOnlyInWholeLines) {
  CPUPlannerOptions options = getOptions(kCPUs[1]);
  options.wholeBits = 256;
  auto getStaging = [&](const Example &example) {
    FusedOp fused = build(example);
    EXPECT_TRUE(succeeded(planForCPU(fused, options)));
    return readCPUChoices(getCPUPlanAttr(fused)).staging;
  };
  EXPECT_EQ(getStaging({"f32", {-1, 5, 5, 5}, {1, 2, 3}}), 0);
  EXPECT_EQ(getStaging({"f64", {-1, 10, 10, 10}, {1, 2, 3}}), 0);
  EXPECT_EQ(getStaging({"f32", {-1, 4, 4, 4}, {1, 2, 3}}), kOthersStaged);
}

TEST_F(CPUPlanners, TilesThatAreTransposedDivideTheirAxis) {
  struct Row {
    int64_t size, tile;
  };
  // 211 has no divisor, of 300 two fill vectors best, and 64 is one tile.
  const Row rows[] = {{300, 60}, {400, 40}, {50, 50}, {64, 64}, {211, 32}};
  for (const Row &row : rows) {
    std::string x = std::to_string(row.size);
    std::string text =
        "func.func @f(%x: memref<3x40x" + x + "xf32>, %f: memref<40x40xf32>, " +
        "%y: memref<40x" + x + "x3xf32>) {\n" +
        "kron.fused ins(%x, %f : memref<3x40x" + x +
        "xf32>, memref<40x40xf32>) outs(%y : memref<40x" + x +
        "x3xf32>) attributes {input_permutation = array<i64: 1, 2, 0>, " +
        "plan = #kron.cpu_plan<tiled_axis = 1>} {\n^bb0(%a: tensor<40x" + x +
        "x3xf32>, %g: tensor<40x40xf32>, %b: tensor<40x" + x + "x3xf32>):\n" +
        "%0 = kron.mode_product axis(0) ins(%a : tensor<40x" + x +
        "x3xf32>) factor(%g [q, p] : tensor<40x40xf32>) outs(%b : tensor<40x" +
        x + "x3xf32>) -> tensor<40x" + x + "x3xf32>\n" +
        "kron.yield %0 : tensor<40x" + x + "x3xf32>\n}\nreturn\n}";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    module->walk([&](FusedOp fused) {
      ASSERT_TRUE(succeeded(planForCPU(fused, getOptions(kCPUs[2]))));
      EXPECT_EQ(readCPUChoices(getCPUPlanAttr(fused)).tile, row.tile)
          << row.size;
    });
  }
}

TEST_F(CPUPlanners, TransposedRowsAreMoreIfAFactorLeavesTheCache) {
  struct Row {
    int64_t size, tile;
  };
  // 8 KB of a factor stay in the first-level cache, 320 KB go by once a tile.
  for (const Row &row : {Row{32, 16}, Row{200, 32}}) {
    std::string k = std::to_string(row.size);
    std::string text =
        "func.func @f(%x: memref<" + k + "x5000xf64>, %f: memref<" + k + "x" +
        k + "xf64>, %y: memref<5000x" + k +
        "xf64>) {\nkron.fused ins(%x, %f : memref<" + k +
        "x5000xf64>, memref<" + k + "x" + k + "xf64>) outs(%y : memref<5000x" +
        k + "xf64>) attributes {input_permutation = array<i64: 1, 0>} {\n" +
        "^bb0(%a: tensor<5000x" + k + "xf64>, %g: tensor<" + k + "x" + k +
        "xf64>, %b: tensor<5000x" + k + "xf64>):\n" +
        "%0 = kron.mode_product axis(1) ins(%a : tensor<5000x" + k +
        "xf64>) factor(%g [p, q] : tensor<" + k + "x" + k +
        "xf64>) outs(%b : tensor<5000x" + k + "xf64>) -> tensor<5000x" + k +
        "xf64>\nkron.yield %0 : tensor<5000x" + k + "xf64>\n}\nreturn\n}";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    module->walk([&](FusedOp fused) {
      ASSERT_TRUE(succeeded(planForCPU(fused, getOptions(kCPUs[2]))));
      EXPECT_EQ(readCPUChoices(getCPUPlanAttr(fused)).tile, row.tile)
          << row.size;
    });
  }
}
