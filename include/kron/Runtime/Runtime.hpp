//===- Runtime.hpp - C++ convenience over Runtime.h -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Typed views of arrays that turn into KronArray, and a check that turns a
// status into an exception. Header-only, C++17, and nothing here is needed to
// use the C interface. The headers that `kronc` writes use it:
//
//   std::vector<float> x(rows * 64), y(rows * 64), f(8 * 8);
//   kron::check(transform(kron::View<const float>(x.data(), {rows, 64}),
//                         kron::View<const float>(f.data(), {8, 8}),
//                         kron::View<float>(y.data(), {rows, 64})));
//
//===----------------------------------------------------------------------===//

#ifndef KRON_RUNTIME_RUNTIME_HPP
#define KRON_RUNTIME_RUNTIME_HPP

#include "kron/Runtime/Runtime.h"

#include <algorithm>
#include <array>
#include <complex>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace kron {

/// IEEE half precision and bfloat16 as bits. Any other 16-bit type for them can
/// be made known by specialising TypeOf.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

/// The bits of values of 8 bits.
struct Float8E4M3FN {
  uint8_t bits;
};
struct Float8E5M2 {
  uint8_t bits;
};

/// The KronType of a C++ element type, as `value`.
template <typename T> struct TypeOf;
template <KronType type>
using TypeConstant = std::integral_constant<KronType, type>;
template <> struct TypeOf<float> : TypeConstant<KRON_F32> {};
template <> struct TypeOf<double> : TypeConstant<KRON_F64> {};
template <> struct TypeOf<Half> : TypeConstant<KRON_F16> {};
template <> struct TypeOf<BFloat16> : TypeConstant<KRON_BF16> {};
template <> struct TypeOf<int32_t> : TypeConstant<KRON_I32> {};
template <> struct TypeOf<int64_t> : TypeConstant<KRON_I64> {};
template <> struct TypeOf<std::complex<float>> : TypeConstant<KRON_C32> {};
template <> struct TypeOf<std::complex<double>> : TypeConstant<KRON_C64> {};
template <> struct TypeOf<int8_t> : TypeConstant<KRON_I8> {};
template <> struct TypeOf<Float8E4M3FN> : TypeConstant<KRON_F8E4M3FN> {};
template <> struct TypeOf<Float8E5M2> : TypeConstant<KRON_F8E5M2> {};

/// A view of an array that someone else owns: a pointer, sizes and strides in
/// elements, slowest axis first. View<const T> is for arrays that are only
/// read; View<T> turns into it.
template <typename T> class View {
public:
  using Element = std::remove_const_t<T>;
  using Shape = std::initializer_list<int64_t>;

  T *data = nullptr;
  std::array<int64_t, KRON_MAX_RANK> sizes{};
  /// Meaningful only if `strided`; otherwise the array is row-major without
  /// gaps.
  std::array<int64_t, KRON_MAX_RANK> strides{};
  /// -1 if there were more than KRON_MAX_RANK sizes, or strides of another
  /// number; kronLaunch refuses that.
  int32_t rank = 0;
  bool strided = false;

  /// A scalar in memory.
  explicit View(T &scalar) : data(&scalar) {}

  /// A row-major array without gaps.
  View(T *data, Shape sizes)
      : View(data, sizes.size(), sizes.begin(), nullptr) {}
  View(T *data, Shape sizes, Shape strides)
      : View(data, sizes.size() == strides.size() ? sizes.size() : SIZE_MAX,
             sizes.begin(), strides.begin()) {}

  /// `sizes` and `strides` are copied; `strides` may be null.
  View(T *data, size_t numAxes, const int64_t *sizes,
       const int64_t *strides = nullptr)
      : data(data), rank(numAxes <= KRON_MAX_RANK ? int32_t(numAxes) : -1),
        strided(strides != nullptr) {
    if (rank < 0)
      return;
    std::copy_n(sizes, rank, this->sizes.begin());
    if (strides)
      std::copy_n(strides, rank, this->strides.begin());
  }

  /// What may be written may be read.
  template <typename U, typename = std::enable_if_t<
                            std::is_same_v<T, const U> && !std::is_const_v<U>>>
  View(const View<U> &other)
      : data(other.data), sizes(other.sizes), strides(other.strides),
        rank(other.rank), strided(other.strided) {}

  /// Points into this view, which has to outlive it.
  operator KronArray() const & {
    return {const_cast<Element *>(data), sizes.data(),
            strided ? strides.data() : nullptr, rank, TypeOf<Element>::value};
  }
  operator KronArray() const && = delete;
};

/// A failed call as an exception; what() is "KRON_MISMATCH: kernel 'f', ...".
class Error : public std::runtime_error {
public:
  explicit Error(KronStatus status)
      : std::runtime_error(std::string(kronGetStatusName(status)) + ": " +
                           kronGetLastError()),
        status(status) {}

  KronStatus status;
};

/// Throws an Error unless `status` is KRON_SUCCESS. For the call that just
/// returned, on the same thread.
inline void check(KronStatus status) {
  if (status != KRON_SUCCESS)
    throw Error(status);
}

} // namespace kron

#endif // KRON_RUNTIME_RUNTIME_HPP
