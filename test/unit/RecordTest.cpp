//===- RecordTest.cpp - Tuning records --------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir::kron;
using llvm::StringRef;

namespace {
/// A folder that is removed at the end.
class RecordFiles : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kron-records", folder));
    path = (folder + "/new/rec.jsonl").str();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::vector<Record> read() {
    warnings.clear();
    auto records = readRecords(
        path, [&](const std::string &text) { warnings.push_back(text); });
    EXPECT_TRUE(static_cast<bool>(records));
    return records ? *records : std::vector<Record>();
  }
  void append(const std::string &text) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error, llvm::sys::fs::OF_Append) << text;
    ASSERT_FALSE(error);
  }

  llvm::SmallString<128> folder;
  std::string path;
  std::vector<std::string> warnings;
};
} // namespace

static Record makeRecord(StringRef plan = "#kron.cpu_plan<tile = 4>") {
  Record record;
  record.key = {"kron.mkm",
                {"?x64xf32", "8x8xf32", "?x64xf32"},
                "a = \"b\"",
                "",
                std::pair<int64_t, int64_t>(17, 196)};
  record.target.processor = "znver5";
  record.target.isa = "x86-64-v4";
  record.target.threads = 2;
  record.made = RecordOrigin::getOwn("");
  record.plan = plan.str();
  record.seconds = 1.25e-4;
  record.defaultSeconds = 2.5e-4;
  record.spread = 0.0125;
  record.error = 1e-7;
  return record;
}

static std::string getProblem(StringRef line) {
  auto record = parseRecord(line);
  return record ? "none" : llvm::toString(record.takeError());
}

TEST(Records, ArePrintedAndReadAgain) {
  for (bool isGPU : {false, true}) {
    Record record = makeRecord();
    if (isGPU) {
      record.target =
          getRecordTarget(llvm::cantFail(parseGPUMachine("h200:sms=60")));
      record.key.rows = std::nullopt;
    }
    std::string line = record.print();
    EXPECT_EQ(line.find('\n'), std::string::npos);
    auto read = parseRecord(line);
    ASSERT_TRUE(static_cast<bool>(read));
    EXPECT_TRUE(read->key == record.key);
    EXPECT_TRUE(read->target == record.target);
    EXPECT_EQ(read->print(), line);
    EXPECT_EQ(read->seconds, record.seconds);
  }
}

TEST(Records, WhatIsNoneIsExplained) {
  EXPECT_EQ(getProblem("[]"), "expects 'the record' to have an object");
  EXPECT_EQ(getProblem("{\"kron\": 7}"),
            "expects a record of version 1, but got 7");
  EXPECT_EQ(getProblem("{\"kron\": 1}"), "expects 'key' to have an object");
  std::string line = makeRecord().print();
  auto replace = [&](StringRef from, StringRef to) {
    std::string changed = line;
    size_t at = changed.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    return changed.replace(at, from.size(), to.str());
  };
  EXPECT_EQ(getProblem(replace("\"kron.mkm\"", "7")),
            "expects 'key' to have a text 'op'");
  EXPECT_EQ(getProblem(replace("\"8x8xf32\"", "8")),
            "expects 'key' to have a list of texts 'operands'");
  EXPECT_EQ(getProblem(replace("[17,196]", "[17,16]")),
            "expects 'key' to have two integers 'rows', from and to");
  EXPECT_EQ(getProblem(replace("\"threads\":2", "\"threads\":0")),
            "expects 'target' to have an integer 'threads' of at least 1");
  EXPECT_EQ(getProblem(replace("\"spread\":1", "\"spread\":-1")),
            "expects 'the record' to have a number 'spread' of at least 0");
}

TEST(Records, FitOperationsOfTheSameForm) {
  RecordKey recorded = makeRecord().key, asked = recorded;
  asked.rows = std::nullopt;
  EXPECT_TRUE(matches(recorded, asked));
  asked.operands.front() = "17x64xf32";
  asked.operands.back() = "17x64xf32";
  EXPECT_TRUE(matches(recorded, asked));
  for (const char *other : {"16x64xf32", "197x64xf32", "17x65xf32", "17xf32",
                            "17x64xf64", "17x64xf32 strided<[65, 1]>"}) {
    asked.operands.front() = other;
    EXPECT_FALSE(matches(recorded, asked)) << other;
  }
  asked = recorded;
  asked.flags = "";
  EXPECT_FALSE(matches(recorded, asked));
  asked = recorded;
  asked.epilogue = "gelu";
  EXPECT_FALSE(matches(recorded, asked));
  // Rows may lie one after the other, in either.
  for (const char *layout :
       {" strided<[?, 1]>", " strided<[?, 1], offset: ?>", " strided<[64, 1]>",
        " strided<[64, 1], offset: 8>"}) {
    asked = recorded;
    asked.operands.front() += layout;
    EXPECT_TRUE(matches(recorded, asked)) << layout;
    EXPECT_TRUE(matches(asked, recorded)) << layout;
    EXPECT_EQ(getExactness(recorded, asked), std::pair(true, false)) << layout;
    asked.operands.front() = std::string("17x64xf32") + layout;
    EXPECT_TRUE(matches(recorded, asked)) << layout;
    EXPECT_EQ(getExactness(recorded, asked), std::pair(false, false)) << layout;
  }
  EXPECT_EQ(getExactness(recorded, recorded), std::pair(true, true));
  for (const char *layout :
       {" strided<[?, ?]>", " strided<[?, 2]>", " strided<[65, 1]>",
        " strided<[1, ?]>", " strided<[?]>", " affine_map<(d0) -> (d0)>"}) {
    asked = recorded;
    asked.operands.front() += layout;
    EXPECT_FALSE(matches(recorded, asked)) << layout;
    EXPECT_FALSE(matches(asked, recorded)) << layout;
    EXPECT_TRUE(matches(asked, asked)) << layout;
  }
  // Of axes of one element strides mean nothing; behind an open size it is not
  // known what they are.
  recorded.operands.front() = "?x1x8x1xf64";
  for (const char *layout : {"strided<[8, 99, 1, ?]>", "strided<[?, ?, ?, 3]>"})
    for (bool isOpen : {false, true}) {
      asked.operands.front() =
          (isOpen ? "?x1x?x1xf64 " : "?x1x8x1xf64 ") + std::string(layout);
      EXPECT_EQ(matches(recorded, asked), !isOpen) << layout;
    }
  recorded.operands.front() = "4x?xf64";
  asked.operands.front() = "4x?xf64 strided<[?, 1]>";
  EXPECT_TRUE(matches(recorded, asked));
  asked.operands.front() = "4x?xf64 strided<[8, 1]>";
  EXPECT_FALSE(matches(recorded, asked));
  recorded = makeRecord().key;
  // What is open in the program is not known to be what was recorded.
  RecordKey fixed = recorded;
  fixed.operands.front() = "17x64xf32";
  EXPECT_FALSE(matches(fixed, recorded));
}

TEST(Records, RowsLieInBuckets) {
  EXPECT_EQ(getRowBucket(1), (std::pair<int64_t, int64_t>(0, 1)));
  EXPECT_EQ(getRowBucket(16), (std::pair<int64_t, int64_t>(2, 16)));
  EXPECT_EQ(getRowBucket(197), (std::pair<int64_t, int64_t>(197, 1024)));
  EXPECT_EQ(getRowBucket(5000).first, 1025);
  EXPECT_GE(getRowBucket(int64_t(1) << 40).second, int64_t(1) << 40);
}

TEST(Records, AreOfOneMachine) {
  RecordTarget own = makeRecord().target;
  auto isSame = [&](StringRef text) {
    return matches(own, llvm::cantFail(parseRecordTarget(text)));
  };
  EXPECT_TRUE(isSame("cpu/znver5/x86-64-v4/2"));
  EXPECT_TRUE(isSame("cpu/znver5/x86-64-v4/0"));
  EXPECT_TRUE(isSame("cpu/x86-64-v4/x86-64-v4/0"));
  EXPECT_FALSE(isSame("cpu/znver5/x86-64-v4/16"));
  EXPECT_FALSE(isSame("cpu/znver4/x86-64-v4/2"));
  EXPECT_FALSE(isSame("cpu/znver5/x86-64-v3/2"));
  EXPECT_FALSE(isSame("cpu/x86-64-v3/x86-64-v3/0"));
  EXPECT_FALSE(isSame("cuda/h200/00000000"));
  for (const char *text : {"", "cpu", "cpu/znver5/x86-64-v4", "cuda/h200",
                           "cpu/a//2", "cpu/a/b/-1", "tpu/a/b"}) {
    auto target = parseRecordTarget(text);
    EXPECT_FALSE(static_cast<bool>(target)) << text;
    llvm::consumeError(target.takeError());
  }
}

TEST(Records, GPUsAreKnownByTheirLimits) {
  auto getTarget = [](StringRef name) {
    return getRecordTarget(llvm::cantFail(parseGPUMachine(name)));
  };
  RecordTarget h200 = getTarget("h200");
  EXPECT_FALSE(matches(getTarget("h100-sxm"), h200));
  EXPECT_FALSE(matches(getTarget("h200:sms=60"), h200));
  // Rates are not what a GPU is known by, and an architecture stands for one.
  EXPECT_TRUE(matches(getTarget("h200:copy=4000:calibrated"), h200));
  EXPECT_TRUE(matches(getTarget("sm_90a"), h200));
  EXPECT_TRUE(llvm::cantFail(parseRecordTarget(h200.getText())) == h200);
}

TEST_F(RecordFiles, LinesThatAreNoneAreSkipped) {
  ASSERT_FALSE(appendRecords(path, makeRecord()));
  append("{\"other\": \"program\"}\nnot JSON\n\n");
  ASSERT_FALSE(appendRecords(path, makeRecord("#kron.cpu_plan<tile = 5>")));
  std::vector<Record> records = read();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].plan, "#kron.cpu_plan<tile = 5>");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0], path + ":2: no tuning record, skipped: expects 'the "
                                "record' to have an integer 'kron' of at "
                                "least 0");
}

TEST_F(RecordFiles, HalfALineIsLostAlone) {
  ASSERT_FALSE(appendRecords(path, makeRecord()));
  std::string half = makeRecord().print();
  append(half.substr(0, half.size() / 2));
  ASSERT_FALSE(appendRecords(path, makeRecord("#kron.cpu_plan<tile = 5>")));
  EXPECT_EQ(read().size(), 2u);
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(RecordFiles, ProcessesWriteTogether) {
  constexpr int processes = 8, lines = 200;
  std::vector<pid_t> children;
  for (int number = 0; number < processes; ++number) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int line = 0; line < lines; ++line)
        if (llvm::Error error = appendRecords(path, makeRecord())) {
          llvm::consumeError(std::move(error));
          _exit(1);
        }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read().size(), size_t(processes) * lines);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(RecordFiles, KilledProcessesLoseTheirLastLine) {
  constexpr int processes = 8;
  for (int number = 0; number < processes; ++number) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      while (true)
        llvm::consumeError(appendRecords(path, makeRecord()));
    // Until it has written something.
    uint64_t before = 0, after = 0;
    (void)llvm::sys::fs::file_size(path, before);
    while (after <= before)
      if (llvm::sys::fs::file_size(path, after))
        after = 0;
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  ASSERT_FALSE(appendRecords(path, makeRecord("#kron.cpu_plan<tile = 5>")));
  std::vector<Record> records = read();
  EXPECT_GE(records.size(), size_t(processes) + 1);
  EXPECT_LE(warnings.size(), size_t(processes));
  EXPECT_EQ(records.back().plan, "#kron.cpu_plan<tile = 5>");
}

TEST_F(RecordFiles, TheNewestOfAKeyIsKept) {
  Record other = makeRecord();
  other.key.op = "kron.kmm";
  std::vector<Record> merged = mergeRecords(
      {makeRecord(), other, makeRecord("#kron.cpu_plan<tile = 5>")});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].plan, "#kron.cpu_plan<tile = 5>");
  EXPECT_EQ(merged[1].key.op, "kron.kmm");
}

TEST_F(RecordFiles, ShippedOnesAreWhole) {
  path = kShippedRecords.str();
  std::vector<Record> records = read();
  EXPECT_TRUE(warnings.empty());
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(mergeRecords(records).size(), records.size());
  mlir::MLIRContext context;
  context.loadDialect<KronDialect>();
  for (const Record &record : records) {
    std::string problem;
    EXPECT_EQ(record.made.planSchema, kPlanSchema);
    EXPECT_TRUE(
        parseRecordPlan(record.plan, record.target.isGPU(), &context, problem))
        << record.plan << ": " << problem;
    EXPECT_LT(record.seconds, record.defaultSeconds);
    EXPECT_TRUE(
        record.target.isGPU() ||
        hasShippedRecords(record.target.processor, record.target.threads));
  }
  EXPECT_FALSE(hasShippedRecords("none", 1));
  EXPECT_FALSE(checkRecordFiles({path}));
}

TEST_F(RecordFiles, PlacesFollowTheEnvironment) {
  path = (folder + "/rec.jsonl").str();
  ASSERT_FALSE(appendRecords(path, makeRecord()));
  setenv("KRON_CACHE_DIR", folder.c_str(), 1);
  // Names that the user gave stand, so that readers can warn of a missing file.
  std::string missing = path + ".missing";
  setenv("KRON_RECORDS", (path + ":" + missing).c_str(), 1);
  // Kron's own come last, where there are some of this machine.
  std::vector<std::string> shipped;
  if (hasShippedRecords(llvm::sys::getHostCPUName(), 1))
    shipped.push_back(kShippedRecords.str());
  auto expect = [&](std::vector<std::string> files) {
    llvm::append_range(files, shipped);
    EXPECT_EQ(getDefaultRecordFiles(1), files);
  };
  expect({path, missing});
  std::string own = getUserRecordFile();
  ASSERT_FALSE(appendRecords(own, makeRecord()));
  expect({path, missing, own});
  setenv("KRON_CACHE", "0", 1);
  expect({path, missing});
  for (const char *name : {"KRON_CACHE", "KRON_CACHE_DIR", "KRON_RECORDS"})
    unsetenv(name);
}
