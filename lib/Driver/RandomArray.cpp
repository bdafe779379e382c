//===- RandomArray.cpp - Random arrays --------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The state of SplitMix64 is a counter, so that every number of its sequence
// can be computed apart from the others: loops over elements have no dependence
// from one to the next.
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/HostArray.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::kron;

/// Number `index`, counted from 0, of the sequence of SplitMix64 from `seed`.
static uint64_t draw(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A multiple of 2^-52 in [-1, 1); exact.
static double toReal(uint64_t bits) {
  int64_t number = static_cast<int64_t>(bits >> 11) - (int64_t(1) << 52);
  return static_cast<double>(number) * 0x1p-52;
}

/// In [-8, 8].
static int64_t toInteger(uint64_t bits) {
  return static_cast<int64_t>(bits % 17) - 8;
}

namespace {

/// Rounds doubles to a narrow floating-point type, to nearest and ties to even,
/// as llvm::APFloat does but in a few instructions that have no branch.
/// Numbers must not round to more than the type's largest.
class NarrowRounding {
public:
  explicit NarrowRounding(const llvm::fltSemantics &semantics)
      : numBits(llvm::APFloat::getSizeInBits(semantics)),
        mantissaBits(llvm::APFloat::semanticsPrecision(semantics) - 1),
        minExponent(kDoubleBias +
                    llvm::APFloat::semanticsMinExponent(semantics)) {}

  uint64_t operator()(double value) const {
    uint64_t bits = llvm::bit_cast<uint64_t>(value);
    uint64_t magnitude = bits & ~kSign;
    uint64_t exponent = std::max(magnitude >> kDoubleMantissaBits, minExponent);
    // Adding a power of two whose last place is that of the result rounds.
    uint64_t power = (exponent - mantissaBits + kDoubleMantissaBits)
                     << kDoubleMantissaBits;
    double sum =
        llvm::bit_cast<double>(magnitude) + llvm::bit_cast<double>(power);
    uint64_t places = llvm::bit_cast<uint64_t>(sum) - power;
    // The leading place of a normal number counts its exponent up by one.
    uint64_t rounded = ((exponent - minExponent) << mantissaBits) + places;
    return rounded | (bits & kSign) >> (64 - numBits);
  }

private:
  static constexpr uint64_t kSign = uint64_t(1) << 63;
  static constexpr unsigned kDoubleMantissaBits = 52, kDoubleBias = 1023;

  unsigned numBits, mantissaBits;
  /// Of normal numbers, as a double has it.
  uint64_t minExponent;
};

} // namespace

/// `step` is the number of draws per element, the first of which counts.
template <typename T, typename Function>
static void fill(HostArray &array, uint64_t seed, int64_t step,
                 Function convert) {
  auto *elements = reinterpret_cast<T *>(array.getData());
  for (int64_t i = 0, size = array.getNumBytes() / sizeof(T); i < size; ++i)
    elements[i] = static_cast<T>(convert(draw(seed, i * step)));
}

template <typename T>
static void fillNarrow(HostArray &array, uint64_t seed,
                       const llvm::fltSemantics &semantics) {
  fill<T>(array, seed, /*step=*/2,
          [round = NarrowRounding(semantics)](uint64_t bits) {
            return round(toReal(bits));
          });
}

void kron::fillRandom(HostArray &array, uint64_t seed) {
  // An element takes two numbers, for its real and its imaginary part, so that
  // a complex array has the real one of the same seed for its real parts.
  switch (array.getType()) {
  case KRON_F32:
    return fill<float>(array, seed, /*step=*/2, toReal);
  case KRON_F64:
    return fill<double>(array, seed, /*step=*/2, toReal);
  case KRON_C32:
    return fill<float>(array, seed, /*step=*/1, toReal);
  case KRON_C64:
    return fill<double>(array, seed, /*step=*/1, toReal);
  case KRON_F16:
    return fillNarrow<uint16_t>(array, seed, llvm::APFloat::IEEEhalf());
  case KRON_BF16:
    return fillNarrow<uint16_t>(array, seed, llvm::APFloat::BFloat());
  case KRON_F8E4M3FN:
    return fillNarrow<uint8_t>(array, seed, llvm::APFloat::Float8E4M3FN());
  case KRON_F8E5M2:
    return fillNarrow<uint8_t>(array, seed, llvm::APFloat::Float8E5M2());
  case KRON_I8:
    return fill<int8_t>(array, seed, /*step=*/2, toInteger);
  case KRON_I32:
    return fill<int32_t>(array, seed, /*step=*/2, toInteger);
  case KRON_I64:
    return fill<int64_t>(array, seed, /*step=*/2, toInteger);
  case KRON_F80:
  case KRON_C80:
    break;
  }
  llvm_unreachable("no argument has this type");
}
