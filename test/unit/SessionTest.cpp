//===- SessionTest.cpp - The compiler as programs use it --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Session.h"
#include "FakeCuda.h"
#include "kron/Driver/Calls.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <thread>

using namespace mlir;
using namespace mlir::kron;
using ::kron::test::fakeCuda;

/// A product with a factor of `size` x `size`, with `attributes`.
static std::string getText(int size, StringRef attributes = "") {
  std::string matrix =
      "memref<" + std::to_string(size) + "x" + std::to_string(size) + "xf32>";
  return "func.func @f(%x: " + matrix + ", %f: " + matrix + ", %y: " + matrix +
         ") {\n  kron.mkm ins(%x : " + matrix + ") factors(%f : " + matrix +
         ") outs(%y : " + matrix + ") " + attributes.str() + "\n  return\n}\n";
}

/// A plan that no kernel can have.
static constexpr StringRef kWrongPlan =
    "{plan = #kron.cpu_plan<vector_bits = 256, matrix_tiles = 2>}";

template <typename T> static std::string getMessage(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

static Session createHostSession() {
  Session session;
  session.useHost(/*numThreads=*/1);
  return session;
}

static Session createGPUSession(StringRef gpu) {
  Session session;
  llvm::cantFail(session.addGPUs({gpu.str()}));
  return session;
}

/// The first result of the kernel on arrays of ones.
static float runOnes(const JITModule &module, int size) {
  const KernelManifest &kernel = module.getKernels().front();
  std::string shape =
      "ones:" + std::to_string(size) + "x" + std::to_string(size) + ":f32";
  auto call = llvm::cantFail(CallArguments::create(kernel, {shape, shape}, {}));
  llvm::cantFail(call.launch(module.lookup("f"), /*numThreads=*/1));
  return *reinterpret_cast<const float *>(call.arrays.back().getData());
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

TEST(SessionTest, AProcessorThatNobodyKnowsIsRefused) {
  Session session;
  std::string reason = llvm::toString(session.useProcessors({"native", "z80"}));
  EXPECT_EQ(reason.find("expects --mcpu to be 'native' or a processor of "), 0u)
      << reason;
  EXPECT_NE(reason.find("that LLVM knows, but got 'z80'"), std::string::npos)
      << reason;
  EXPECT_EQ(llvm::toString(session.useProcessors({"x86-64-v3", "portable"})),
            "expects 'portable' alone, but got 'x86-64-v3,portable'");
}

TEST(SessionTest, AGPUThatNobodyKnowsIsRefused) {
  Session session;
  std::string message = llvm::toString(session.addGPUs({"h200", "sm_1"}));
  EXPECT_NE(message.find("sm_80"), std::string::npos) << message;
}

TEST(SessionTest, PlansAreForTheLastMachine) {
  Session session;
  llvm::cantFail(session.useProcessors({"x86-64-v3", "x86-64-v4"}));
  llvm::cantFail(session.addGPUs({"sm_80", "h200"}));
  EXPECT_TRUE(session.isForGPU());
  EXPECT_EQ(session.getRecordTarget().isa, "x86-64-v4");
  EXPECT_NE(session.getPipeline().find("vector-bits=512"), std::string::npos);
  llvm::cantFail(session.useProcessors({}));
  EXPECT_EQ(session.getRecordTarget().chip, "h200");
  EXPECT_NE(session.getPipeline().find("chip=h200"), std::string::npos);
  session.useHost(/*numThreads=*/3, /*vectorBits=*/128);
  EXPECT_FALSE(session.isForGPU());
  EXPECT_EQ(session.getRecordTarget().threads, 3);
  EXPECT_NE(session.getPipeline().find("vector-bits=128"), std::string::npos);
}

TEST(SessionTest, TheFirstVersionIsThatOfAProcessor) {
  Session session;
  llvm::cantFail(session.addGPUs({"sm_80", "h200"}));
  session.keepFirstVersion();
  EXPECT_EQ(session.getOptions().gpuChips, std::vector<std::string>{"sm_80"});
  llvm::cantFail(session.useProcessors({"x86-64-v3", "x86-64-v4"}));
  session.keepFirstVersion();
  EXPECT_FALSE(session.isForGPU());
  EXPECT_EQ(session.getRecordTarget().isa, "x86-64-v3");
}

TEST(SessionTest, GPUsOfTheMachineHaveOneCapability) {
  fakeCuda().reset();
  setenv("KRON_CACHE", "0", 1);
  std::string warnings;
  llvm::raw_string_ostream stream(warnings);
  Session session = createHostSession();
  EXPECT_EQ(llvm::toString(session.useGPUs({0, 1}, "", stream)),
            "expects GPUs of one compute capability, but GPU 0 has 90 and GPU "
            "1 has 80");
  EXPECT_NE(llvm::toString(session.useGPUs({7}, "", stream)), "");
  EXPECT_FALSE(session.isForGPU());
  // A name takes the place of what is found.
  llvm::cantFail(session.useGPUs({1}, "a100-80", stream));
  EXPECT_EQ(session.getRecordTarget().chip, "a100-80");
  llvm::cantFail(session.useGPUs({1}, "", stream));
  EXPECT_EQ(
      llvm::cantFail(GPUChip::parse(session.getOptions().gpuChips.front()))
          .name,
      "sm_80");
  EXPECT_EQ(session.getOptions().gpuChips.size(), 1u);
  EXPECT_EQ(warnings, "");
  fakeCuda().reset();
  unsetenv("KRON_CACHE");
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

TEST(SessionTest, FilesOfRecordsHaveToBeThere) {
  Session session = createHostSession();
  std::string message =
      llvm::toString(session.addRecords({"/nowhere/records.jsonl"}));
  EXPECT_NE(message.find("/nowhere/records.jsonl"), std::string::npos);
  EXPECT_TRUE(session.getOptions().records.empty());
}

TEST(SessionTest, LinesThatAreNoRecordsAreToldOf) {
  llvm::SmallString<128> path;
  int descriptor;
  ASSERT_FALSE(
      llvm::sys::fs::createTemporaryFile("records", "jsonl", descriptor, path));
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << "{\"other\": 1}\n";
  Session session = createHostSession();
  llvm::cantFail(session.addRecords({path.str().str()}));
  auto source = llvm::cantFail(session.parse(getText(4)));
  RecordedPlans recorded = session.getRecordedPlans(source->get());
  EXPECT_EQ(recorded.plans, "");
  ASSERT_EQ(recorded.warnings.size(), 1u);
  EXPECT_TRUE(succeeded(session.load(source->get())));
  EXPECT_EQ(source->getWarnings(), ArrayRef<std::string>(recorded.warnings));
  llvm::sys::fs::remove(path);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

TEST(SessionTest, AContextIsUsedByOneModuleAtATime) {
  Session session = createHostSession(), copy = session, other;
  auto first = llvm::cantFail(session.parse(getText(4)));
  MLIRContext *context = first->get().getContext();
  auto second = llvm::cantFail(copy.parse(getText(4)));
  EXPECT_NE(second->get().getContext(), context);
  first.reset();
  first = llvm::cantFail(copy.parse(getText(5)));
  EXPECT_EQ(first->get().getContext(), context);
  first.reset();
  EXPECT_NE(llvm::cantFail(other.parse(getText(4)))->get().getContext(),
            context);
}

TEST(SessionTest, DiagnosticsAreCollectedOrPrinted) {
  Session session = createHostSession();
  std::string text = getText(4) + "func.func @g() { nothing }\n";
  std::string collected = getMessage(session.parse(text));
  EXPECT_EQ(collected.substr(0, 8), "line 5: ") << collected;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  EXPECT_EQ(getMessage(session.parse(text, &stream)), "");
  EXPECT_EQ(printed.substr(0, 11), "<source>:5:") << printed;
  // Nothing of it is left for the next module of the context.
  auto next = llvm::cantFail(session.parse(getText(4)));
  EXPECT_EQ(llvm::toString(next->getError("nothing")), "nothing");
}

TEST(SessionTest, AFileHasToBeThere) {
  EXPECT_EQ(getMessage(Session().read("/nowhere/a.mlir")).substr(0, 32),
            "cannot read '/nowhere/a.mlir': N");
}

TEST(SessionTest, WhatIsBuiltIsVerified) {
  Session session = createHostSession();
  auto parsed = llvm::cantFail(session.parse(getText(4)));
  std::string text;
  llvm::raw_string_ostream(text) << parsed->get();
  EXPECT_EQ(getMessage(session.build([](MLIRContext *context) {
              OwningOpRef<ModuleOp> module =
                  ModuleOp::create(UnknownLoc::get(context));
              OperationState state(UnknownLoc::get(context), "kron.mkm");
              module->getBody()->push_back(Operation::create(state));
              return module;
            })).substr(0, 10),
            "'kron.mkm'");
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

TEST(SessionTest, AWrongPlanIsAnError) {
  Session session = createHostSession();
  for (bool isLoaded : {false, true}) {
    auto source = llvm::cantFail(session.parse(getText(4, kWrongPlan)));
    EXPECT_TRUE(isLoaded ? failed(session.load(source->get()))
                         : failed(session.compile(source->get())));
    std::string message = llvm::toString(source->getError());
    EXPECT_NE(message.find("cannot have matrix_tiles = 2"), std::string::npos)
        << message;
  }
}

TEST(SessionTest, SessionsAreForMachinesOfTheirOwn) {
  Session host = createHostSession(), gpu = createGPUSession("h200");
  gpu.getOptions().assembleGPUCode = false;
  auto onHost = llvm::cantFail(host.parse(getText(4)));
  auto onGPU = llvm::cantFail(gpu.parse(getText(4)));
  auto loaded = host.load(onHost->get());
  auto object = gpu.compile(onGPU->get());
  ASSERT_TRUE(succeeded(loaded) && succeeded(object));
  EXPECT_EQ(runOnes(*loaded, 4), 4);
  EXPECT_EQ(loaded->getTimes().gpu, 0);
  EXPECT_EQ(object->kernels.front().name, "f");
  EXPECT_GT(object->times.gpu, 0);
  EXPECT_NE(object->code.find(".target sm_90a"), std::string::npos);
  // A module stays as it is, and may go to both.
  auto again = gpu.load(onHost->get());
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ(again->lookup("f")->versions[0].isa, KRON_ISA_CUDA);
}

TEST(SessionTest, AModuleIsLoweredToPlansOrFurther) {
  Session session = createHostSession();
  for (bool planOnly : {true, false}) {
    auto source = llvm::cantFail(session.parse(getText(4)));
    ASSERT_TRUE(succeeded(session.lower(source->get(), planOnly)));
    std::string text;
    llvm::raw_string_ostream(text) << source->get();
    EXPECT_EQ(text.find("#kron.cpu_plan<") != std::string::npos, planOnly);
    EXPECT_EQ(text.find("llvm.func") == std::string::npos, planOnly);
  }
}

TEST(SessionTest, ThreadsCompileAtOnce) {
  Session session = createHostSession();
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      int size = 4 + number;
      auto wrong = llvm::cantFail(session.parse(getText(size, kWrongPlan)));
      auto right = llvm::cantFail(session.parse(getText(size)));
      auto compiled = session.load(right->get());
      // Errors are those of their own modules.
      if (succeeded(compiled) && failed(session.load(wrong->get())) &&
          llvm::toString(right->getError("none")) == "none")
        results[number] = runOnes(*compiled, size);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(results, std::vector<float>({4, 5, 6, 7}));
}
