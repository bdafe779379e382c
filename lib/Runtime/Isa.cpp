//===- Isa.cpp - Instruction sets of this processor -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The levels are those of the x86-64 psABI. CPUID is read here, rather than
// through __builtin_cpu_supports, because the features and levels which that
// knows differ between compilers. A level counts only if the operating system
// saves the registers that it adds.
//
//===----------------------------------------------------------------------===//

#include "Isa.h"
#include "Error.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace kron::detail;

namespace {

/// Name of an instruction set in the environment variable and in messages.
struct IsaName {
  const char *name;
  KronIsa isa;
};
constexpr IsaName isaNames[] = {{"x86-64-v2", KRON_ISA_X86_64_V2},
                                {"x86-64-v3", KRON_ISA_X86_64_V3},
                                {"x86-64-v4", KRON_ISA_X86_64_V4},
                                {"x86-64-v4-amx", KRON_ISA_X86_64_V4_AMX}};

/// What this process may use, read once.
struct IsaState {
  /// Lowered to what KRON_ISA allows.
  KronIsa isa;
  /// KRON_ISA, if it is set to something that is no instruction set.
  const char *badName;
};

} // namespace

#if defined(__x86_64__)

static bool hasAll(unsigned value, unsigned bits) {
  return (value & bits) == bits;
}

/// Register state that the operating system saves (XCR0).
static uint64_t getSavedState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

/// Asks the system for the registers of AMX, which a process has no room for
/// until it does.
static bool getTilePermission() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

/// On a processor of x86-64-v4, which saves the registers `saved`.
static bool hasTiles(uint64_t saved) {
  constexpr uint64_t tileState = 0x60000;
  constexpr unsigned amxBF16 = 1u << 22, amxTile = 1u << 24;
  constexpr unsigned avx512BF16 = 1u << 5;
  unsigned eax, ebx, ecx, edx;
  return (saved & tileState) == tileState &&
         __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
         hasAll(edx, amxBF16 | amxTile) &&
         __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) &&
         hasAll(eax, avx512BF16);
}

/// Up to `limit`.
static KronIsa detectIsa(KronIsa limit) {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    return KRON_ISA_HOST;
  constexpr unsigned cx16 = 1u << 13;
  if (!hasAll(ecx, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT |
                       cx16))
    return KRON_ISA_HOST;

  constexpr uint64_t avxState = 0x6, avx512State = 0xe6;
  if (!hasAll(ecx, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE | bit_OSXSAVE))
    return KRON_ISA_X86_64_V2;
  uint64_t saved = getSavedState();
  unsigned ebx7, ecx7, edx7, ecxExtended;
  if ((saved & avxState) != avxState ||
      !__get_cpuid(0x80000001, &eax, &ebx, &ecxExtended, &edx) ||
      !hasAll(ecxExtended, bit_LZCNT) ||
      !__get_cpuid_count(7, 0, &eax, &ebx7, &ecx7, &edx7) ||
      !hasAll(ebx7, bit_AVX2 | bit_BMI | bit_BMI2))
    return KRON_ISA_X86_64_V2;

  if ((saved & avx512State) != avx512State ||
      !hasAll(ebx7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ |
                        bit_AVX512VL))
    return KRON_ISA_X86_64_V3;
  if (limit < KRON_ISA_X86_64_V4_AMX || !hasTiles(saved) ||
      !getTilePermission())
    return KRON_ISA_X86_64_V4;
  return KRON_ISA_X86_64_V4_AMX;
}

#else

static KronIsa detectIsa(KronIsa) { return KRON_ISA_HOST; }

#endif

static IsaState readState() {
  constexpr KronIsa best = KRON_ISA_X86_64_V4_AMX;
  const char *limit = std::getenv("KRON_ISA");
  if (!limit || !*limit)
    return {detectIsa(best), nullptr};
  for (const IsaName &entry : isaNames) {
    if (std::strcmp(limit, entry.name) != 0)
      continue;
    KronIsa detected = detectIsa(entry.isa);
    return {entry.isa < detected ? entry.isa : detected, nullptr};
  }
  return {detectIsa(best), limit};
}

static const IsaState &getState() {
  static const IsaState state = readState();
  return state;
}

static const char *getIsaName(KronIsa isa) {
  for (const IsaName &entry : isaNames)
    if (entry.isa == isa)
      return entry.name;
  return "less than x86-64-v2";
}

KronStatus kron::detail::selectVersion(const KronKernel &kernel,
                                       const KronVersion **version) {
  const IsaState &state = getState();
  if (state.badName)
    return setError(
        KRON_INVALID_ARGUMENT,
        "expects the environment variable KRON_ISA to be x86-64-v2, "
        "x86-64-v3, x86-64-v4 or x86-64-v4-amx, but got '%s'",
        state.badName);
  const KronVersion *best = nullptr;
  KronIsa least = KRON_ISA_X86_64_V4_AMX;
  int32_t numVersions = 0;
  for (int32_t i = 0; i < kernel.numVersions; ++i) {
    const KronVersion &candidate = kernel.versions[i];
    if (candidate.isa == KRON_ISA_CUDA)
      continue;
    ++numVersions;
    if (candidate.isa < least)
      least = candidate.isa;
    if (candidate.isa <= state.isa && (!best || candidate.isa > best->isa))
      best = &candidate;
  }
  if (!best && numVersions == 0)
    return setError(KRON_UNSUPPORTED, "kernel '%s' has no versions for the CPU",
                    kernel.name);
  if (!best)
    return setError(KRON_UNSUPPORTED,
                    "kernel '%s' needs at least %s, but this processor (or the "
                    "environment variable KRON_ISA) offers %s",
                    kernel.name, getIsaName(least), getIsaName(state.isa));
  *version = best;
  return KRON_SUCCESS;
}

KronIsa kronGetIsa() { return getState().isa; }
