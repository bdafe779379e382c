//===- Parallel.cpp - Parallel loops and thread counts --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A loop is cut into a few ranges per thread, all about equally long. Threads
// that take part are numbered, below the launch's number of threads, and the
// number owns one thread's part of the workspace. So it does not matter which
// of oneTBB's threads, of which arena, takes part. They are helpers, or those
// of the caller's arena where that bounds the number of threads.
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"
#include "Error.h"
#include "Fork.h"
#include "Helpers.h"
#include "Workspace.h"
#include "kron/Runtime/IRInterface.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <sched.h>
#include <thread>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

using namespace kron::detail;

/// Of the OpenMP runtime if the program has one.
extern "C" __attribute__((weak)) int omp_in_parallel(void);

thread_local Context kron::detail::currentContext;

//===----------------------------------------------------------------------===//
// Number of threads
//===----------------------------------------------------------------------===//

namespace {

/// Where the default comes from unless the program sets it.
struct InitialThreads {
  int32_t count;
  /// KRON_NUM_THREADS, if it is set to something that is no number of threads.
  const char *badValue;
};

} // namespace

/// What kronSetNumThreads said; 0 until then.
static std::atomic<int32_t> chosenNumThreads{0};

/// Processors that this process may use.
static int32_t countProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  // More processors than a cpu_set_t holds.
  return std::max(1u, std::thread::hardware_concurrency());
}

static InitialThreads readInitialThreads() {
  const char *value = std::getenv("KRON_NUM_THREADS");
  if (!value || !*value)
    return {countProcessors(), nullptr};
  char *end = nullptr;
  errno = 0;
  long count = std::strtol(value, &end, 10);
  if (errno || *end || count < 1 || count > INT32_MAX)
    return {countProcessors(), value};
  return {int32_t(count), nullptr};
}

static const InitialThreads &getInitialThreads() {
  static const InitialThreads initial = readInitialThreads();
  return initial;
}

KronStatus kronSetNumThreads(int32_t numThreads) {
  if (numThreads < 1)
    return setError(
        KRON_INVALID_ARGUMENT,
        "expects the number of threads to be at least 1, but got %d",
        numThreads);
  chosenNumThreads.store(numThreads, std::memory_order_relaxed);
  return KRON_SUCCESS;
}

/// Set when oneTBB is used.
static StartMark threadsMark;

bool kron::detail::hasLostThreads() { return threadsMark.isOfParent(); }

int32_t kronGetNumThreads() {
  if (hasLostThreads())
    return 1;
  int32_t chosen = chosenNumThreads.load(std::memory_order_relaxed);
  return chosen ? chosen : getInitialThreads().count;
}

KronStatus kron::detail::resolveNumThreads(int32_t requested,
                                           int32_t *numThreads) {
  if (requested < 0)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects the number of threads to be at least 1, or 0 for "
                    "the default, but got %d",
                    requested);
  *numThreads = requested;
  if (currentContext.inLoop || hasLostThreads() ||
      (!requested && omp_in_parallel && omp_in_parallel()))
    *numThreads = 1;
  if (*numThreads)
    return KRON_SUCCESS;
  if (!chosenNumThreads.load(std::memory_order_relaxed))
    if (const char *value = getInitialThreads().badValue)
      return setError(
          KRON_INVALID_ARGUMENT,
          "expects the environment variable KRON_NUM_THREADS to be a "
          "number of threads, but got '%s'",
          value);
  *numThreads = kronGetNumThreads();
  return KRON_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// One call of kronRtParallelFor that runs on several threads.
class Loop final : public SharedWork {
public:
  Loop(Launch &launch, int64_t count, int32_t numRanges, bool isLong,
       KronLoopBody body, void *captures, int64_t scratchBytes)
      : launch(launch), count(count), numRanges(numRanges), isLong(isLong),
        body(body), captures(captures), scratchBytes(scratchBytes) {}

  /// Runs everything on up to `numThreads` threads, this one among them.
  void run(int32_t numThreads);

private:
  void runShare(int32_t share, int32_t thread) noexcept override;
  /// Takes ranges until none is left.
  void runTicket(int32_t ticket) noexcept;
  void runInArenaOfCaller(int32_t numTickets);

  Launch &launch;
  int64_t count;
  int32_t numRanges;
  bool isLong;
  KronLoopBody body;
  void *captures;
  int64_t scratchBytes;
  std::atomic<int32_t> nextRange{0};
};

} // namespace

/// Ranges per thread: enough that a thread which was held up leaves its share
/// to others, few enough that a body can reuse what it keeps in scratch.
static constexpr int64_t rangesPerThread = 4;
static constexpr int64_t kMostRanges = Helpers::kMaxShares;

/// Loops that could be cut into as many ranges, each of about a microsecond,
/// are worth waking other threads, which takes the caller several of them, and
/// until they run some tens.
static constexpr int64_t kLongRanges = 48;

/// Runs `body` on this thread with its scratch. What is left of the thread's
/// part of the workspace goes to the loops inside.
static void runBody(int64_t begin, int64_t end, KronLoopBody body,
                    void *captures, int64_t scratchBytes) {
  Context context = currentContext;
  void *scratch = context.scratch;
  int64_t taken = alignSize(scratchBytes);
  if (taken > context.scratchBytes)
    reportFatal("kernel '%s' takes %lld bytes of scratch where its manifest "
                "leaves %lld",
                context.launch->kernel->name,
                static_cast<long long>(scratchBytes),
                static_cast<long long>(context.scratchBytes));
  if (taken) {
    context.scratch += taken;
    context.scratchBytes -= taken;
  }
  context.inLoop = true;
  ContextScope scope(context);
  body(begin, end, scratch, captures);
}

void Loop::runShare(int32_t share, int32_t thread) noexcept {
  Context context;
  context.launch = &launch;
  context.scratchBytes = launch.threadBytes;
  if (launch.threads)
    context.scratch = launch.threads + thread * launch.threadBytes;
  ContextScope scope(context);
  // The first `longer` ranges have one iteration more.
  int64_t length = count / numRanges, longer = count % numRanges;
  int64_t begin = share * length + std::min<int64_t>(share, longer);
  runBody(begin, begin + length + (share < longer), body, captures,
          scratchBytes);
}

void Loop::runTicket(int32_t ticket) noexcept {
  annotateAcquire(this);
  // oneTBB orders what happens before, in and after the tickets, so that
  // nothing but the number itself is handed over here.
  for (;;) {
    int32_t range = nextRange.fetch_add(1, std::memory_order_relaxed);
    if (range >= numRanges)
      break;
    runShare(range, ticket);
  }
  annotateRelease(this);
}

/// For loops within the caller's arena.
void Loop::runInArenaOfCaller(int32_t numTickets) {
  annotateRelease(this);
  try {
    // Isolated: while it waits, this thread must not start another piece of the
    // program's own parallel work, which could launch a kernel in turn.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          int32_t(0), numTickets, int32_t(1),
          [this](int32_t ticket) { runTicket(ticket); },
          tbb::simple_partitioner());
    });
  } catch (...) {
    // oneTBB could not start tickets. All that it started are done; this thread
    // does the rest.
  }
  annotateAcquire(this);
  runTicket(0);
}

void Loop::run(int32_t numThreads) {
  threadsMark.set();
  // As many as oneTBB may start: asked for more, it prints a warning.
  size_t allowed = tbb::global_control::active_value(
      tbb::global_control::max_allowed_parallelism);
  numThreads = int32_t(std::min<size_t>(numThreads, allowed));
  // Threads that came across oneTBB once have an arena, as large as there are
  // processors; a smaller one is the program's choice. Its workers have work of
  // the program's own to share this with.
  int32_t slot = tbb::this_task_arena::current_thread_index();
  int32_t most = slot == tbb::task_arena::not_initialized
                     ? INT32_MAX
                     : tbb::this_task_arena::max_concurrency();
  if (slot > 0 || most < tbb::info::default_concurrency()) {
    runInArenaOfCaller(std::min(numThreads, most));
    return;
  }
  static thread_local Helpers helpers;
  helpers.run(*this, numRanges, numThreads, isLong);
}

/// Threads that a loop which starts in `context` may use.
static int32_t getLoopThreads(const Context &context) {
  return context.inLoop ? 1 : context.launch->numThreads;
}

int64_t kronRtNumThreads() {
  if (!currentContext.launch)
    reportFatal("kronRtNumThreads was called outside a launch");
  return getLoopThreads(currentContext);
}

void kronRtParallelFor(int64_t count, int64_t grain, KronLoopBody body,
                       void *captures, int64_t scratchBytes) {
  Context &context = currentContext;
  if (!context.launch)
    reportFatal("kronRtParallelFor was called outside a launch");
  if (count <= 0)
    return;
  int32_t numThreads = getLoopThreads(context);
  int64_t mostRanges =
      std::max<int64_t>(1, count / std::max<int64_t>(1, grain));
  if (numThreads == 1 || mostRanges == 1) {
    runBody(0, count, body, captures, scratchBytes);
    return;
  }
  auto numRanges = int32_t(
      std::min({mostRanges, numThreads * rangesPerThread, kMostRanges}));
  // With a grain of 0 or 1, iterations may be of any length.
  bool isLong = grain == 0 || grain == 1 ||
                mostRanges >= kLongRanges / std::max<int64_t>(1, -grain);
  Loop loop(*context.launch, count, numRanges, isLong, body, captures,
            scratchBytes);
  loop.run(std::min(numThreads, numRanges));
}

void *kronRtWorkspace(int64_t bytes) {
  Launch *launch = currentContext.launch;
  if (!launch)
    reportFatal("kronRtWorkspace was called outside a launch");
  int64_t size = alignSize(bytes);
  int64_t offset =
      launch->sharedUsed.fetch_add(size, std::memory_order_relaxed);
  if (bytes < 0 || size > launch->sharedBytes - offset)
    reportFatal("kernel '%s' takes %lld bytes of shared workspace where its "
                "manifest leaves %lld",
                launch->kernel->name, static_cast<long long>(bytes),
                static_cast<long long>(launch->sharedBytes - offset));
  return launch->shared + offset;
}
