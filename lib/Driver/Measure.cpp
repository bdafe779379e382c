//===- Measure.cpp - Time and this machine's limits -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Measure.h"
#include "RotatingCalls.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mlir;
using namespace mlir::kron;

using Clock = std::chrono::steady_clock;

static double getSecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Deadline::Deadline(double seconds, std::function<double()> now)
    : now(std::move(now)), end(this->now() + seconds) {}

Deadline Deadline::getPart(double share) const {
  return now ? Deadline((end - now()) * share, now) : Deadline();
}

double kron::getSteadySeconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

llvm::Expected<std::vector<double>>
kron::timeLaunches(const KronKernel *kernel, const KernelManifest &manifest,
                   CallArguments &call, int32_t numThreads, unsigned runs) {
  auto timer = LaunchTimer::create(manifest, call, numThreads);
  if (!timer)
    return timer.takeError();
  // Long enough for clocks and caches to settle.
  constexpr double warmUpSeconds = 0.05;
  Clock::time_point start = Clock::now();
  do {
    llvm::Expected<double> seconds = timer->time(kernel, call);
    if (!seconds)
      return seconds.takeError();
  } while (getSecondsSince(start) < warmUpSeconds);
  std::vector<double> times;
  for (unsigned run = 0; run < runs; ++run) {
    llvm::Expected<double> seconds = timer->time(kernel, call);
    if (!seconds)
      return seconds.takeError();
    times.push_back(*seconds);
  }
  llvm::sort(times);
  return times;
}

//===----------------------------------------------------------------------===//
// Multiply-adds in registers
//===----------------------------------------------------------------------===//

/// More chains than latency times ports of any processor, and few enough to
/// stay in 16 registers.
static constexpr int kChains = 12;

/// Measurements of which the best counts: other programs only take time away.
static constexpr int kRepetitions = 5;

static volatile double sink;
/// Unknown to the compiler, which would shorten the loops otherwise.
static volatile float factor = 0.999999f, addend = 1e-6f;

/// Defines a function that does `rounds` rounds of kChains vector
/// multiply-adds. The chains are written out: an array of vectors would stay in
/// memory where the compiler does not unroll.
#define KRON_FMA_LOOP(NAME, ATTRIBUTES, VECTOR, SET, FMA, FIRST)               \
  ATTRIBUTES static void NAME(int64_t rounds) {                                \
    const VECTOR f = SET(factor), a = SET(addend);                             \
    VECTOR s0 = SET(0), s1 = SET(1), s2 = SET(2), s3 = SET(3), s4 = SET(4),    \
           s5 = SET(5), s6 = SET(6), s7 = SET(7), s8 = SET(8), s9 = SET(9),    \
           s10 = SET(10), s11 = SET(11);                                       \
    for (int64_t round = 0; round < rounds; ++round) {                         \
      s0 = FMA(s0, f, a), s1 = FMA(s1, f, a), s2 = FMA(s2, f, a);              \
      s3 = FMA(s3, f, a), s4 = FMA(s4, f, a), s5 = FMA(s5, f, a);              \
      s6 = FMA(s6, f, a), s7 = FMA(s7, f, a), s8 = FMA(s8, f, a);              \
      s9 = FMA(s9, f, a), s10 = FMA(s10, f, a), s11 = FMA(s11, f, a);          \
    }                                                                          \
    for (VECTOR sum : {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11})      \
      sink = sink + FIRST(sum);                                                \
  }

namespace {
/// A loop and how many multiply-adds one of its rounds does.
struct FmaLoop {
  void (*run)(int64_t rounds);
  int perRound;
};
} // namespace

#if defined(__x86_64__)
#define KRON_AVX512 __attribute__((target("avx512f")))
#define KRON_AVX512DQ __attribute__((target("avx512f,avx512dq")))
#define KRON_AVX2 __attribute__((target("avx2,fma")))
#define KRON_ADD_512_I32(x, y, z) _mm512_add_epi32(_mm512_mullo_epi32(x, y), z)
#define KRON_ADD_512_I64(x, y, z) _mm512_add_epi64(_mm512_mullo_epi64(x, y), z)
#define KRON_ADD_256_I32(x, y, z) _mm256_add_epi32(_mm256_mullo_epi32(x, y), z)
#define KRON_FIRST_512(x) _mm_cvtsi128_si32(_mm512_castsi512_si128(x))
#define KRON_FIRST_256(x) _mm_cvtsi128_si32(_mm256_castsi256_si128(x))
KRON_FMA_LOOP(runMul512I32, KRON_AVX512, __m512i, _mm512_set1_epi32,
              KRON_ADD_512_I32, KRON_FIRST_512)
KRON_FMA_LOOP(runMul512I64, KRON_AVX512DQ, __m512i, _mm512_set1_epi64,
              KRON_ADD_512_I64, KRON_FIRST_512)
KRON_FMA_LOOP(runMul256I32, KRON_AVX2, __m256i, _mm256_set1_epi32,
              KRON_ADD_256_I32, KRON_FIRST_256)
KRON_FMA_LOOP(runFma512F32, KRON_AVX512, __m512, _mm512_set1_ps,
              _mm512_fmadd_ps, _mm512_cvtss_f32)
KRON_FMA_LOOP(runFma512F64, KRON_AVX512, __m512d, _mm512_set1_pd,
              _mm512_fmadd_pd, _mm512_cvtsd_f64)
KRON_FMA_LOOP(runFma256F32, KRON_AVX2, __m256, _mm256_set1_ps, _mm256_fmadd_ps,
              _mm256_cvtss_f32)
KRON_FMA_LOOP(runFma256F64, KRON_AVX2, __m256d, _mm256_set1_pd, _mm256_fmadd_pd,
              _mm256_cvtsd_f64)
#endif

#define KRON_SAME(x) (x)
#define KRON_MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
KRON_FMA_LOOP(runScalarF32, , float, KRON_SAME, KRON_MULTIPLY_ADD, KRON_SAME)
KRON_FMA_LOOP(runScalarF64, , double, KRON_SAME, KRON_MULTIPLY_ADD, KRON_SAME)
KRON_FMA_LOOP(runScalarI64, , uint64_t, KRON_SAME, KRON_MULTIPLY_ADD, KRON_SAME)

static FmaLoop getIntegerLoop(bool is64) {
#if defined(__x86_64__)
  if (is64 && __builtin_cpu_supports("avx512dq"))
    return {runMul512I64, 8 * kChains};
  if (!is64 && __builtin_cpu_supports("avx512f"))
    return {runMul512I32, 16 * kChains};
  if (!is64 && __builtin_cpu_supports("avx2"))
    return {runMul256I32, 8 * kChains};
#endif
  return {runScalarI64, kChains};
}

static FmaLoop getFmaLoop(bool isF64) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return isF64 ? FmaLoop{runFma512F64, 8 * kChains}
                 : FmaLoop{runFma512F32, 16 * kChains};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return isF64 ? FmaLoop{runFma256F64, 4 * kChains}
                 : FmaLoop{runFma256F32, 8 * kChains};
#endif
  return isF64 ? FmaLoop{runScalarF64, kChains}
               : FmaLoop{runScalarF32, kChains};
}

double kron::getThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

static const MeasuredRate &getBetter(const MeasuredRate &a,
                                     const MeasuredRate &b) {
  return a.perSecond < b.perSecond ? b : a;
}

/// Runs `body(thread)`, which does `work` in all, on `numThreads` threads.
static MeasuredRate runThreads(int32_t numThreads, double work,
                               ThreadClock clock,
                               llvm::function_ref<void(int32_t)> body) {
  Clock::time_point start = Clock::now();
  std::vector<double> seconds(numThreads);
  auto run = [&](int32_t thread) {
    double begin = clock();
    body(thread);
    seconds[thread] = clock() - begin;
  };
  std::vector<std::thread> threads;
  for (int32_t thread = 1; thread < numThreads; ++thread)
    threads.emplace_back(run, thread);
  run(0);
  for (std::thread &thread : threads)
    thread.join();
  double all = getSecondsSince(start);
  double had = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {work / all, had / (all * numThreads)};
}

/// The best of several runs of `measure`, which end with `deadline` but for the
/// first one.
static MeasuredRate getBest(const Deadline &deadline,
                            llvm::function_ref<MeasuredRate()> measure) {
  MeasuredRate best = measure();
  for (int i = 1; i < kRepetitions && !deadline.isOver(); ++i)
    best = getBetter(best, measure());
  return best;
}

/// Memory in huge pages where the system has them: what large arrays get too.
/// Null without memory, or if `deadline` is over before all is written.
static char *allocatePages(size_t size, const Deadline &deadline) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  madvise(memory, size, MADV_HUGEPAGE);
  char *data = static_cast<char *>(memory);
  // The first write to a page takes as long as many copies of it.
  constexpr size_t step = size_t(1) << 24;
  for (size_t begin = 0; begin < size; begin += step) {
    if (deadline.isOver()) {
      munmap(memory, size);
      return nullptr;
    }
    std::memset(data + begin, 1, std::min(step, size - begin));
  }
  return data;
}

CopyArrays::CopyArrays(size_t bytes, const Deadline &deadline) : bytes(bytes) {
  source = allocatePages(bytes, deadline);
  if (source)
    target = allocatePages(bytes, deadline);
}

CopyArrays::~CopyArrays() {
  for (char *data : {source, target})
    if (data)
      munmap(data, bytes);
}

#if defined(__x86_64__)
/// A copy with non-temporal stores. `size` is a multiple of 64.
KRON_AVX512 static void streamCopy(char *target, const char *source,
                                   size_t size) {
  for (size_t i = 0; i < size; i += 64)
    _mm512_stream_si512(
        reinterpret_cast<__m512i *>(target + i),
        _mm512_loadu_si512(reinterpret_cast<const __m512i *>(source + i)));
  _mm_sfence();
}
#endif

static void plainCopy(char *target, const char *source, size_t size) {
  std::memcpy(target, source, size);
}

using CopyFunction = void (*)(char *, const char *, size_t);

static MeasuredRate timeCopies(CopyFunction copy, const CopyArrays &arrays,
                               size_t share, int32_t numThreads,
                               const Deadline &deadline, ThreadClock clock) {
  // Enough copies that starting the threads does not count.
  constexpr size_t bytesPerThread = size_t(1) << 27;
  size_t copies = std::max<size_t>(1, bytesPerThread / share);
  double work = 2.0 * share * copies * numThreads;
  return getBest(deadline, [&] {
    MeasuredRate rate =
        runThreads(numThreads, work, clock, [&](int32_t thread) {
          for (size_t i = 0; i < copies; ++i)
            copy(arrays.target + thread * share, arrays.source + thread * share,
                 share);
        });
    sink = sink + arrays.target[0];
    return rate;
  });
}

MeasuredRate kron::measureCopy(const CopyArrays &arrays, size_t share,
                               int32_t numThreads, const Deadline &deadline,
                               ThreadClock clock) {
  if (!arrays.target)
    return {};
  MeasuredRate best =
      timeCopies(plainCopy, arrays, share, numThreads, deadline, clock);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    best = getBetter(best, timeCopies(streamCopy, arrays, share, numThreads,
                                      deadline, clock));
#endif
  return best;
}

MeasuredRate kron::measureMultiplyAdds(KronType type, int32_t numThreads,
                                       const Deadline &deadline,
                                       ThreadClock clock) {
  bool isInteger = type == KRON_I32 || type == KRON_I64;
  FmaLoop loop = isInteger ? getIntegerLoop(type == KRON_I64)
                           : getFmaLoop(type == KRON_F64 || type == KRON_C64);
  constexpr int64_t rounds = 1 << 20;
  double work = 2.0 * loop.perRound * rounds * numThreads;
  return getBest(deadline, [&] {
    return runThreads(numThreads, work, clock,
                      [&](int32_t) { loop.run(rounds); });
  });
}

MachineLimits MachineLimits::measure(KronType type, double bytes,
                                     int32_t numThreads) {
  constexpr double smallest = 1 << 16, largest = 1 << 28;
  auto share = static_cast<size_t>(std::clamp(bytes / 2, smallest, largest) /
                                   numThreads);
  share = (share + 63) / 64 * 64;
  return {
      measureMultiplyAdds(type, numThreads).perSecond,
      measureCopy(CopyArrays(share * numThreads), share, numThreads).perSecond};
}
