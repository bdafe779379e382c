//===- LaunchTest.cpp - Dispatch, workspace, errors -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The environment is read once per process, so tests of it run their body in a
// process of its own (a death test that ends with status 0 if all went well).
//
//===----------------------------------------------------------------------===//

#include "FakeKernel.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace kron::test;

namespace {

KronIsa lastIsa;
template <KronIsa isa> void recordIsa(const KronArray *) { lastIsa = isa; }

/// A kernel with a version for each of `isas`, which records what ran.
FakeKernel makeVersions(std::initializer_list<KronIsa> isas) {
  FakeKernel kernel;
  for (KronIsa isa : isas) {
    KronEntry entries[] = {
        recordIsa<KRON_ISA_HOST>, recordIsa<KRON_ISA_X86_64_V2>,
        recordIsa<KRON_ISA_X86_64_V3>, recordIsa<KRON_ISA_X86_64_V4>,
        recordIsa<KRON_ISA_X86_64_V4_AMX>};
    kernel.version(entries[isa], 0, 0, isa);
  }
  return kernel;
}

/// Runs `body` in a new process with an environment variable set. The body
/// returns whether all is well.
template <typename Body>
void inProcessWith(const char *variable, const char *value, Body body) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv(variable, value, 1);
        bool good = body();
        fprintf(stderr, "last error: %s\n", kronGetLastError());
        _Exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

bool failsWith(KronStatus got, KronStatus status, const char *message) {
  return got == status && !strcmp(kronGetLastError(), message);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

TEST(DispatchTest, BestVersion) {
  FakeKernel kernel =
      makeVersions({KRON_ISA_X86_64_V2, KRON_ISA_X86_64_V4,
                    KRON_ISA_X86_64_V4_AMX, KRON_ISA_X86_64_V3, KRON_ISA_HOST});
  EXPECT_SUCCESS(launch(kernel, {}));
  EXPECT_EQ(lastIsa, kronGetIsa());
}

/// Whether the system lets this process use the registers of AMX.
bool hasTilePermission() {
  constexpr int getPermission = 0x1022, tileData = 18;
  uint64_t permitted = 0;
  return syscall(SYS_arch_prctl, getPermission, &permitted) == 0 &&
         (permitted >> tileData & 1);
}

/// Whether the system says that the processor has matrix tiles for bf16.
bool hasTiles() {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> words{std::istream_iterator<std::string>(file), {}};
  return words.count("amx_tile") && words.count("amx_bf16") &&
         words.count("avx512_bf16");
}

/// As the compiler that builds the tests sees it, without matrix tiles.
KronIsa getProcessorIsa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return KRON_ISA_X86_64_V4;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return KRON_ISA_X86_64_V3;
  return __builtin_cpu_supports("sse4.2") ? KRON_ISA_X86_64_V2 : KRON_ISA_HOST;
}

TEST(DispatchTest, HostAlwaysRuns) {
  FakeKernel kernel = makeVersions({KRON_ISA_HOST});
  lastIsa = KRON_ISA_X86_64_V4;
  EXPECT_SUCCESS(launch(kernel, {}));
  EXPECT_EQ(lastIsa, KRON_ISA_HOST);
}

TEST(DispatchTest, NoVersions) {
  FakeKernel kernel;
  EXPECT_FAILURE(launch(kernel, {}), KRON_UNSUPPORTED,
                 "kernel 'f' has no versions for the CPU");
}

TEST(DispatchTest, LoweredByEnvironment) {
  if (getProcessorIsa() < KRON_ISA_X86_64_V3)
    GTEST_SKIP() << "needs x86-64-v3";
  inProcessWith("KRON_ISA", "x86-64-v2", [] {
    FakeKernel all = makeVersions(
        {KRON_ISA_X86_64_V4, KRON_ISA_X86_64_V2, KRON_ISA_X86_64_V3});
    FakeKernel gap = makeVersions({KRON_ISA_HOST, KRON_ISA_X86_64_V3});
    return kronGetIsa() == KRON_ISA_X86_64_V2 && !launch(all, {}) &&
           lastIsa == KRON_ISA_X86_64_V2 && !launch(gap, {}) &&
           lastIsa == KRON_ISA_HOST;
  });
}

TEST(DispatchTest, UnsupportedUnderEnvironment) {
  if (getProcessorIsa() < KRON_ISA_X86_64_V2)
    GTEST_SKIP() << "needs x86-64-v2";
  inProcessWith("KRON_ISA", "x86-64-v2", [] {
    FakeKernel kernel = makeVersions({KRON_ISA_X86_64_V4, KRON_ISA_X86_64_V3});
    return failsWith(
        launch(kernel, {}), KRON_UNSUPPORTED,
        "kernel 'f' needs at least x86-64-v3, but this processor (or "
        "the environment variable KRON_ISA) offers x86-64-v2");
  });
}

TEST(DispatchTest, EnvironmentDoesNotRaise) {
  inProcessWith("KRON_ISA", "x86-64-v4",
                [] { return kronGetIsa() == getProcessorIsa(); });
  for (const char *value : {"x86-64-v4-amx", ""})
    inProcessWith("KRON_ISA", value, [] {
      return kronGetIsa() ==
             (hasTiles() ? KRON_ISA_X86_64_V4_AMX : getProcessorIsa());
    });
}

/// Launches a kernel with and without matrix tiles, and says what ran.
KronIsa launchWithTiles() {
  FakeKernel kernel =
      makeVersions({KRON_ISA_X86_64_V4_AMX, KRON_ISA_X86_64_V4});
  return launch(kernel, {}) == KRON_SUCCESS ? lastIsa : KRON_ISA_HOST;
}

TEST(DispatchTest, TilesNeedPermission) {
  if (!hasTiles())
    GTEST_SKIP() << "needs AMX";
  // The system is not asked for what KRON_ISA excludes.
  inProcessWith("KRON_ISA", "x86-64-v4", [] {
    return launchWithTiles() == KRON_ISA_X86_64_V4 && !hasTilePermission();
  });
  inProcessWith("KRON_ISA", "", [] {
    return launchWithTiles() == KRON_ISA_X86_64_V4_AMX && hasTilePermission();
  });
}

TEST(DispatchTest, NoTiles) {
  if (hasTiles())
    GTEST_SKIP() << "needs a processor without AMX";
  FakeKernel kernel = makeVersions({KRON_ISA_X86_64_V4_AMX});
  EXPECT_EQ(launch(kernel, {}), KRON_UNSUPPORTED);
  EXPECT_NE(strstr(kronGetLastError(), "kernel 'f' needs at least "
                                       "x86-64-v4-amx, but this processor"),
            nullptr)
      << kronGetLastError();
}

TEST(DispatchTest, BadEnvironment) {
  inProcessWith("KRON_ISA", "avx512", [] {
    FakeKernel kernel = makeVersions({KRON_ISA_HOST});
    return failsWith(
        launch(kernel, {}), KRON_INVALID_ARGUMENT,
        "expects the environment variable KRON_ISA to be x86-64-v2, "
        "x86-64-v3, x86-64-v4 or x86-64-v4-amx, but got 'avx512'");
  });
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

bool isAligned(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % 64 == 0;
}

/// Fills the shared part, in two pieces, and this thread's own, and looks
/// whether they overlap. Right for a manifest of 100 + 28 and 72 bytes.
bool workspaceIsGood = false;
char *firstPiece;
void useWorkspace(const KronArray *) {
  auto *first = static_cast<char *>(kronRtWorkspace(100));
  auto *second = static_cast<char *>(kronRtWorkspace(28));
  firstPiece = first;
  memset(first, 1, 100);
  memset(second, 2, 28);
  workspaceIsGood = isAligned(first) && isAligned(second);
  kronRtParallelFor(
      1, 1,
      [](int64_t, int64_t, void *scratch, void *) {
        memset(scratch, 3, 72);
        workspaceIsGood &= isAligned(scratch);
      },
      nullptr, 72);
  workspaceIsGood &= first[0] == 1 && first[99] == 1;
  workspaceIsGood &= second[0] == 2 && second[27] == 2;
}

TEST(WorkspaceTest, Size) {
  FakeKernel kernel;
  kernel.version(emptyEntry, 100 + 28, 65);
  size_t bytes = 0;
  EXPECT_SUCCESS(kronGetWorkspaceSize(kernel.get(), 3, &bytes));
  EXPECT_EQ(bytes, 128u + 3 * 128u);
  EXPECT_FAILURE(kronGetWorkspaceSize(kernel.get(), 3, nullptr),
                 KRON_INVALID_ARGUMENT,
                 "expects a place for the size of the workspace, but got NULL");
  EXPECT_FAILURE(kronGetWorkspaceSize(nullptr, 3, &bytes),
                 KRON_INVALID_ARGUMENT, "expects a kernel, but got NULL");
  EXPECT_FAILURE(kronGetWorkspaceSize(kernel.get(), -1, &bytes),
                 KRON_INVALID_ARGUMENT,
                 "expects the number of threads to be at least 1, or 0 for the "
                 "default, but got -1");
}

TEST(WorkspaceTest, SizeOfDefaultThreads) {
  FakeKernel kernel;
  kernel.version(emptyEntry, 0, 64);
  int32_t before = kronGetNumThreads();
  EXPECT_SUCCESS(kronSetNumThreads(5));
  size_t bytes = 0;
  EXPECT_SUCCESS(kronGetWorkspaceSize(kernel.get(), 0, &bytes));
  EXPECT_EQ(bytes, 5 * 64u);
  EXPECT_SUCCESS(kronSetNumThreads(before));
}

TEST(WorkspaceTest, SizeOverflows) {
  FakeKernel kernel;
  kernel.version(emptyEntry, 64, INT64_MAX / 2 + 1);
  size_t bytes;
  EXPECT_FAILURE(kronGetWorkspaceSize(kernel.get(), 2, &bytes),
                 KRON_INVALID_ARGUMENT,
                 "kernel 'f': workspace for 2 threads exceeds 2^63 bytes");
}

TEST(WorkspaceTest, RuntimeOwned) {
  FakeKernel kernel;
  kernel.version(useWorkspace, 192, 72);
  workspaceIsGood = false;
  EXPECT_SUCCESS(launch(kernel, {}, withThreads(1)));
  EXPECT_TRUE(workspaceIsGood);
  // It is kept for the next launch.
  char *before = firstPiece;
  EXPECT_SUCCESS(launch(kernel, {}, withThreads(1)));
  EXPECT_EQ(firstPiece, before);
}

TEST(WorkspaceTest, RuntimeOwnedGrows) {
  // The last byte of each is touched; 5 MB asks for huge pages.
  static int64_t size;
  for (int64_t bytes : {100, 1000, 5 << 20, 200, 9 << 20}) {
    size = bytes;
    FakeKernel kernel;
    kernel.version(
        [](const KronArray *) {
          auto *data = static_cast<char *>(kronRtWorkspace(size));
          data[0] = data[size - 1] = 1;
          workspaceIsGood = isAligned(data);
        },
        size);
    workspaceIsGood = false;
    EXPECT_SUCCESS(launch(kernel, {}));
    EXPECT_TRUE(workspaceIsGood);
  }
}

/// What the entry below does in one launch, and what it found.
struct ArrayUse {
  std::vector<int64_t> sizes;
  std::vector<void *> arrays;
};
ArrayUse arrayUse;

/// Takes arrays of the sizes, writes their ends, and releases all.
void useArrays(const KronArray *) {
  arrayUse.arrays.clear();
  for (int64_t bytes : arrayUse.sizes) {
    auto *array = static_cast<char *>(kronRtAllocate(bytes));
    EXPECT_TRUE(isAligned(array));
    if (bytes)
      array[0] = array[bytes - 1] = 1;
    arrayUse.arrays.push_back(array);
  }
  for (void *array : arrayUse.arrays)
    kronRtFree(array);
}

std::vector<void *> launchWithArrays(std::vector<int64_t> sizes) {
  FakeKernel kernel;
  kernel.version(useArrays);
  arrayUse.sizes = std::move(sizes);
  EXPECT_SUCCESS(launch(kernel, {}));
  return arrayUse.arrays;
}

TEST(ArrayTest, KeptForLaterLaunches) {
  constexpr int64_t megabyte = 1 << 20;
  EXPECT_SUCCESS(kronReleaseMemory());
  // 5 MB asks for huge pages; 0 and 100 bytes are not kept.
  std::vector<void *> first =
      launchWithArrays({0, 100, megabyte, 5 * megabyte, 3 * megabyte});
  EXPECT_EQ(launchWithArrays({3 * megabyte, megabyte - 5}),
            (std::vector<void *>{first[4], first[2]}));
  // Not one that is more than twice as large.
  EXPECT_EQ(launchWithArrays({5 * megabyte / 2 + 1}).front(), first[4]);
  EXPECT_NE(launchWithArrays({megabyte / 2 - 100}).front(), first[2]);
  kronRtFree(nullptr);
}

TEST(ArrayTest, Bound) {
  constexpr int64_t megabyte = 1 << 20;
  EXPECT_SUCCESS(kronReleaseMemory());
  EXPECT_SUCCESS(kronSetKeptMemory(4 * megabyte));
  // The first one goes when the third one comes; the last one is too large.
  std::vector<void *> first =
      launchWithArrays({megabyte, 3 * megabyte / 2, 2 * megabyte});
  launchWithArrays({6 * megabyte});
  EXPECT_EQ(launchWithArrays({2 * megabyte, 3 * megabyte / 2}),
            (std::vector<void *>{first[2], first[1]}));
  EXPECT_SUCCESS(kronSetKeptMemory(256 * megabyte));
}

TEST(ArrayTest, ReleasedOutsideOnly) {
  FakeKernel kernel;
  kernel.version([](const KronArray *) {
    EXPECT_EQ(kronReleaseMemory(), KRON_INVALID_ARGUMENT);
  });
  EXPECT_SUCCESS(launch(kernel, {}));
  EXPECT_SUCCESS(kronReleaseMemory());
}

TEST(WorkspaceTest, OutOfMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the process instead";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers end the process instead";
#endif
#endif
  FakeKernel kernel;
  kernel.version(emptyEntry, int64_t(1) << 60);
  EXPECT_FAILURE(launch(kernel, {}), KRON_OUT_OF_MEMORY,
                 "kernel 'f': no memory for a workspace of 1152921504606846976 "
                 "bytes");
}

TEST(WorkspaceTest, CallersOwn) {
  FakeKernel kernel;
  kernel.version(useWorkspace, 192, 72);
  KronLaunchOptions options = withThreads(1);
  EXPECT_SUCCESS(
      kronGetWorkspaceSize(kernel.get(), 1, &options.workspaceBytes));
  ASSERT_EQ(options.workspaceBytes, 192u + 128u);
  alignas(64) char memory[192 + 128 + 64] = {};
  options.workspace = memory;
  workspaceIsGood = false;
  EXPECT_SUCCESS(launch(kernel, {}, options));
  EXPECT_TRUE(workspaceIsGood);
  EXPECT_EQ(firstPiece, memory);
  for (char byte : std::vector<char>(memory + 192 + 128, std::end(memory)))
    EXPECT_EQ(byte, 0) << "written behind the end";
}

TEST(WorkspaceTest, CallersOwnIsChecked) {
  FakeKernel kernel;
  kernel.version(useWorkspace, 192, 72);
  alignas(64) char memory[1024];
  KronLaunchOptions options = withThreads(2);
  options.workspace = memory;
  options.workspaceBytes = 192 + 2 * 128 - 1;
  EXPECT_FAILURE(
      launch(kernel, {}, options), KRON_WORKSPACE_TOO_SMALL,
      "kernel 'f': expects a workspace of at least 448 bytes, but got "
      "447");
  options.workspaceBytes = 512;
  options.workspace = memory + 32;
  EXPECT_EQ(launch(kernel, {}, options), KRON_INVALID_ARGUMENT);
  options.workspace = nullptr;
  EXPECT_FAILURE(launch(kernel, {}, options), KRON_INVALID_ARGUMENT,
                 "kernel 'f': expects a workspace of 512 bytes, but got NULL");
}

TEST(WorkspaceDeathTest, ManifestTooSmall) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  FakeKernel shared, scratch;
  shared.version(useWorkspace, 100, 72);
  EXPECT_DEATH(
      launch(shared, {}),
      "kernel 'f' takes 28 bytes of shared workspace where its manifest "
      "leaves 0");
  scratch.version(useWorkspace, 192, 60);
  EXPECT_DEATH(
      launch(scratch, {}),
      "kernel 'f' takes 72 bytes of scratch where its manifest leaves 64");
}

TEST(WorkspaceDeathTest, OutsideLaunch) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(kronRtWorkspace(1),
               "kronRtWorkspace was called outside a launch");
  EXPECT_DEATH(kronRtAllocate(1), "kronRtAllocate was called outside a launch");
  EXPECT_DEATH(kronRtNumThreads(),
               "kronRtNumThreads was called outside a launch");
  auto nothing = [](int64_t, int64_t, void *, void *) {};
  EXPECT_DEATH(kronRtParallelFor(1, 1, nothing, nullptr, 0),
               "kronRtParallelFor was called outside a launch");
}

//===----------------------------------------------------------------------===//
// Errors and versions
//===----------------------------------------------------------------------===//

TEST(ErrorTest, OwnMessagePerThread) {
  EXPECT_EQ(kronSetNumThreads(0), KRON_INVALID_ARGUMENT);
  std::string message = kronGetLastError();
  EXPECT_EQ(message,
            "expects the number of threads to be at least 1, but got 0");
  std::thread([] {
    EXPECT_STREQ(kronGetLastError(), "");
    kronSetNumThreads(-5);
  }).join();
  EXPECT_EQ(kronGetLastError(), message);
}

TEST(ErrorTest, StatusNames) {
  EXPECT_STREQ(kronGetStatusName(KRON_SUCCESS), "KRON_SUCCESS");
  EXPECT_STREQ(kronGetStatusName(KRON_INVALID_ARGUMENT),
               "KRON_INVALID_ARGUMENT");
  EXPECT_STREQ(kronGetStatusName(KRON_MISMATCH), "KRON_MISMATCH");
  EXPECT_STREQ(kronGetStatusName(KRON_WORKSPACE_TOO_SMALL),
               "KRON_WORKSPACE_TOO_SMALL");
  EXPECT_STREQ(kronGetStatusName(KRON_UNSUPPORTED), "KRON_UNSUPPORTED");
  EXPECT_STREQ(kronGetStatusName(KRON_OUT_OF_MEMORY), "KRON_OUT_OF_MEMORY");
  EXPECT_STREQ(kronGetStatusName(KRON_VERSION_MISMATCH),
               "KRON_VERSION_MISMATCH");
  EXPECT_STREQ(kronGetStatusName(static_cast<KronStatus>(99)),
               "unknown KronStatus");
}

TEST(ErrorTest, Version) { EXPECT_STREQ(kronGetVersion(), KRON_TEST_VERSION); }

//===----------------------------------------------------------------------===//
// Number of threads
//===----------------------------------------------------------------------===//

TEST(NumThreadsTest, SetAndGet) {
  int32_t before = kronGetNumThreads();
  EXPECT_GE(before, 1);
  EXPECT_SUCCESS(kronSetNumThreads(7));
  std::thread([] { EXPECT_EQ(kronGetNumThreads(), 7); }).join();
  EXPECT_SUCCESS(kronSetNumThreads(before));
}

TEST(NumThreadsTest, FromEnvironment) {
  inProcessWith("KRON_NUM_THREADS", "3",
                [] { return kronGetNumThreads() == 3; });
}

TEST(NumThreadsTest, BadEnvironment) {
  for (const char *value : {"many", "0", "-2", "2x", "99999999999"}) {
    inProcessWith("KRON_NUM_THREADS", value, [&] {
      int32_t processors = kronGetNumThreads();
      FakeKernel kernel;
      kernel.version(emptyEntry);
      std::string message =
          "expects the environment variable KRON_NUM_THREADS to "
          "be a number of threads, but got '" +
          std::string(value) + "'";
      return processors >= 1 &&
             failsWith(launch(kernel, {}), KRON_INVALID_ARGUMENT,
                       message.c_str()) &&
             // What does not depend on it works.
             !launch(kernel, {}, withThreads(2)) && !kronSetNumThreads(2) &&
             !launch(kernel, {});
    });
  }
}

} // namespace
