//===- Arguments.cpp - Checks of a launch's arguments ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Compiled code trusts its arguments: it computes addresses from sizes and
// strides without checks, and assumes that what it writes overlaps nothing
// else. Each assumption is checked here, once per launch, in time independent
// of the sizes.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Error.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

using namespace kron::detail;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {

struct TypeInfo {
  const char *name;
  uint8_t bytes;
  /// Of one component for complex types, as C and NumPy have it.
  uint8_t alignment;
};

/// Indexed by KronType.
constexpr TypeInfo typeInfos[] = {
    {"f32", 4, 4},          {"f64", 8, 8},
    {"f16", 2, 2},          {"bf16", 2, 2},
    {"i32", 4, 4},          {"i64", 8, 8},
    {"complex<f32>", 8, 4}, {"complex<f64>", 16, 8},
    {"f80", 16, 16},        {"complex<f80>", 32, 16},
    {"i8", 1, 1},           {"f8E4M3FN", 1, 1},
    {"f8E5M2", 1, 1}};
static_assert(sizeof(typeInfos) / sizeof(*typeInfos) == KRON_NUM_TYPES,
              "one entry per KronType");

} // namespace

static const TypeInfo *getTypeInfo(KronType type) {
  // Anything can stand in an enum that a C program fills.
  auto index = static_cast<uint32_t>(type);
  return index < KRON_NUM_TYPES ? &typeInfos[index] : nullptr;
}

namespace {

/// Name of a type for messages, also of a number that is none.
class TypeName {
public:
  explicit TypeName(KronType type) {
    if (const TypeInfo *info = getTypeInfo(type))
      snprintf(name, sizeof(name), "%s", info->name);
    else
      snprintf(name, sizeof(name), "unknown type %d", static_cast<int>(type));
  }
  const char *get() const { return name; }

private:
  char name[32];
};

} // namespace

size_t kronGetTypeSize(KronType type) {
  const TypeInfo *info = getTypeInfo(type);
  return info ? info->bytes : 0;
}

const char *kronGetTypeName(KronType type) {
  const TypeInfo *info = getTypeInfo(type);
  return info ? info->name : "unknown type";
}

//===----------------------------------------------------------------------===//
// One argument
//===----------------------------------------------------------------------===//

namespace {

/// One argument of a launch, for checks and their messages.
class Argument {
public:
  Argument(const KronKernel &kernel, const KronArray *args, int32_t index)
      : kernel(kernel), info(kernel.args[index]), array(args[index]),
        index(index) {}

  /// Everything that concerns this argument alone.
  KronStatus check(bool needsData) const;

  /// "kernel 'f', argument 1 ('factor0'): " and the printf-style rest.
  __attribute__((format(printf, 3, 4))) KronStatus fail(KronStatus status,
                                                        const char *format,
                                                        ...) const;

  bool isWritten() const { return info.access != KRON_READ; }
  bool isEmpty() const { return kron::detail::isEmpty(array); }
  /// In elements; the stride of a row-major array where there are none.
  int64_t getStride(int32_t axis) const;

private:
  KronStatus checkShape() const;
  KronStatus checkStrides() const;
  KronStatus checkOwnOverlap() const;
  KronStatus checkExtent() const;
  KronStatus checkData() const;

public:
  const KronKernel &kernel;
  const KronArgInfo &info;
  const KronArray &array;
  int32_t index;
};

} // namespace

KronStatus Argument::fail(KronStatus status, const char *format, ...) const {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return setError(status, "kernel '%s', argument %d ('%s'): %s", kernel.name,
                  index, info.name ? info.name : "", message);
}

bool kron::detail::isEmpty(const KronArray &array) {
  for (int32_t axis = 0; axis < array.rank; ++axis)
    if (array.sizes[axis] == 0)
      return true;
  return false;
}

int64_t Argument::getStride(int32_t axis) const {
  if (array.strides)
    return array.strides[axis];
  int64_t stride = 1;
  for (int32_t inner = axis + 1; inner < array.rank; ++inner)
    stride *= array.sizes[inner];
  return stride;
}

KronStatus Argument::check(bool needsData) const {
  KronStatus status = checkShape();
  // An empty array has no elements, so nothing is known or needed of where they
  // are.
  if (status || isEmpty())
    return status;
  status = checkExtent();
  if (!status)
    status = checkStrides();
  if (status || !(needsData || info.isScalar))
    return status;
  return checkData();
}

KronStatus Argument::checkShape() const {
  if (array.type != info.type)
    return fail(KRON_MISMATCH, "expects element type %s, but got %s",
                TypeName(info.type).get(), TypeName(array.type).get());
  if (array.rank != info.rank)
    return fail(KRON_MISMATCH, "expects rank %d, but got %d", info.rank,
                array.rank);
  if (array.rank && !array.sizes)
    return fail(KRON_INVALID_ARGUMENT, "expects sizes, but got NULL");
  for (int32_t axis = 0; axis < array.rank; ++axis) {
    int64_t size = array.sizes[axis], expected = info.sizes[axis];
    if (size < 0)
      return fail(KRON_INVALID_ARGUMENT,
                  "expects axis %d to have a size of at least 0, but got "
                  "%" PRId64,
                  axis, size);
    if (expected >= 0 && size != expected)
      return fail(KRON_MISMATCH,
                  "expects axis %d to have size %" PRId64 ", but got %" PRId64,
                  axis, expected, size);
  }
  return KRON_SUCCESS;
}

/// Neither the number of bytes nor the distance between the first and the last
/// one may exceed what a signed 64-bit offset holds.
KronStatus Argument::checkExtent() const {
  int64_t bytes = typeInfos[info.type].bytes;
  for (int32_t axis = 0; axis < array.rank; ++axis)
    if (__builtin_mul_overflow(bytes, array.sizes[axis], &bytes))
      return fail(KRON_INVALID_ARGUMENT,
                  "expects fewer than 2^63 bytes, but got more");
  if (!array.strides)
    return KRON_SUCCESS;
  int64_t last = 1;
  for (int32_t axis = 0; axis < array.rank; ++axis) {
    int64_t distance;
    // Axes of size 1 are never stepped along.
    if (array.sizes[axis] == 1)
      continue;
    if (array.strides[axis] < 0)
      return fail(KRON_INVALID_ARGUMENT,
                  "expects axis %d to have a stride of at least 0, but got "
                  "%" PRId64,
                  axis, array.strides[axis]);
    if (__builtin_mul_overflow(array.sizes[axis] - 1, array.strides[axis],
                               &distance) ||
        __builtin_add_overflow(last, distance, &last))
      last = INT64_MAX;
  }
  if (__builtin_mul_overflow(last, int64_t(typeInfos[info.type].bytes), &last))
    return fail(KRON_INVALID_ARGUMENT,
                "expects the last element within 2^63 bytes of the first, but "
                "got it further away");
  return KRON_SUCCESS;
}

KronStatus Argument::checkStrides() const {
  if (!array.strides)
    return KRON_SUCCESS;
  int64_t rowMajor = 1;
  for (int32_t axis = array.rank - 1; axis >= 0; --axis) {
    int64_t size = array.sizes[axis], stride = array.strides[axis];
    if (size == 1)
      continue;
    if (info.contiguity == 1 && axis == array.rank - 1 && stride != 1)
      return fail(KRON_MISMATCH,
                  "expects the innermost axis to have stride 1, but got "
                  "%" PRId64,
                  stride);
    if (info.contiguity == 2 && stride != rowMajor)
      return fail(KRON_MISMATCH,
                  "expects a row-major array without gaps, whose axis %d has "
                  "stride %" PRId64 ", but got %" PRId64,
                  axis, rowMajor, stride);
    if (isWritten() && stride == 0)
      return fail(
          KRON_INVALID_ARGUMENT,
          "expects axis %d of an array that is written to have a stride "
          "of at least 1, but got 0",
          axis);
    rowMajor *= size;
  }
  return isWritten() ? checkOwnOverlap() : KRON_SUCCESS;
}

/// Along every axis a step leads out of what the axes with smaller steps span,
/// so that no two elements of a written array share memory.
KronStatus Argument::checkOwnOverlap() const {
  for (int32_t axis = 0; axis < array.rank; ++axis) {
    if (array.sizes[axis] == 1)
      continue;
    int64_t stride = array.strides[axis], span = 1;
    for (int32_t other = 0; other < array.rank; ++other)
      if (other != axis && (array.strides[other] < stride ||
                            (array.strides[other] == stride && other > axis)))
        span += (array.sizes[other] - 1) * array.strides[other];
    if (stride < span)
      return fail(KRON_INVALID_ARGUMENT,
                  "expects elements of an array that is written not to "
                  "overlap, that is axis %d to have a stride of at least "
                  "%" PRId64 ", but got %" PRId64,
                  axis, span, stride);
  }
  return KRON_SUCCESS;
}

KronStatus Argument::checkData() const {
  if (!array.data)
    return fail(KRON_INVALID_ARGUMENT, "expects data, but got NULL");
  const TypeInfo &type = typeInfos[info.type];
  // A power of two; a division takes longer than all of the checks above.
  if (reinterpret_cast<uintptr_t>(array.data) & (type.alignment - 1))
    return fail(KRON_INVALID_ARGUMENT,
                "expects data aligned to %d bytes, but got address %p",
                int(type.alignment), array.data);
  return KRON_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Arguments together
//===----------------------------------------------------------------------===//

/// Axes with the same symbol have the same size. Each is compared with the
/// first one in the kernel's arguments.
static KronStatus checkSymbols(const KronKernel &kernel, const KronArray *args,
                               const Argument &argument) {
  for (int32_t axis = 0; axis < argument.info.rank; ++axis) {
    int32_t symbol = argument.info.symbols[axis];
    if (symbol < 0)
      continue;
    int32_t other = 0, otherAxis = 0;
    for (;; ++otherAxis) {
      while (otherAxis == kernel.args[other].rank) {
        ++other;
        otherAxis = 0;
      }
      if (kernel.args[other].symbols[otherAxis] == symbol)
        break;
    }
    int64_t size = argument.array.sizes[axis];
    int64_t expected = args[other].sizes[otherAxis];
    if (size != expected)
      return argument.fail(
          KRON_MISMATCH,
          "expects axis %d to have size %" PRId64
          ", as axis %d of argument %d ('%s') has, but got %" PRId64,
          axis, expected, otherAxis, other,
          kernel.args[other].name ? kernel.args[other].name : "", size);
  }
  return KRON_SUCCESS;
}

namespace {

/// Bytes [begin, end) that hold all elements of an array.
struct Range {
  uintptr_t begin, end;
};

} // namespace

/// The range of the elements that are reached along the axes for which
/// `include(stride)` holds.
template <typename Predicate>
static Range getRange(const Argument &argument, Predicate include) {
  int64_t last = 1;
  for (int32_t axis = 0; axis < argument.array.rank; ++axis) {
    int64_t size = argument.array.sizes[axis];
    int64_t stride = size == 1 ? 0 : argument.getStride(axis);
    if (include(stride))
      last += (size - 1) * stride;
  }
  auto begin = reinterpret_cast<uintptr_t>(argument.array.data);
  return {begin, begin + uintptr_t(last) * typeInfos[argument.info.type].bytes};
}

/// Whether two arrays that interleave within each other's range, as two blocks
/// of columns of one matrix do, share no byte: seen modulo `period` elements of
/// the first, what they reach without whole periods lies apart.
static bool isApartModulo(const Argument &a, const Argument &b,
                          int64_t period) {
  int64_t bytes = typeInfos[a.info.type].bytes;
  if (period <= 0 || typeInfos[b.info.type].bytes != bytes)
    return false;
  auto isInside = [&](int64_t stride) { return stride % period != 0; };
  Range first = getRange(a, isInside), second = getRange(b, isInside);
  uintptr_t periodBytes = uintptr_t(period) * bytes;
  uintptr_t distance =
      (second.begin % periodBytes + periodBytes - first.begin % periodBytes) %
      periodBytes;
  return first.end - first.begin <= distance &&
         second.end - second.begin <= periodBytes - distance;
}

/// The range of all elements.
static Range getRange(const Argument &argument) {
  return getRange(argument, [](int64_t) { return true; });
}

/// Whether two arrays may share memory, of which `a` has the range `first`.
static bool mayOverlap(const Argument &a, const Range &first,
                       const Argument &b) {
  Range second = getRange(b);
  if (first.end <= second.begin || second.end <= first.begin)
    return false;
  for (int32_t axis = 0; axis < a.array.rank; ++axis)
    if (a.array.sizes[axis] > 1 && isApartModulo(a, b, a.getStride(axis)))
      return false;
  for (int32_t axis = 0; axis < b.array.rank; ++axis)
    if (b.array.sizes[axis] > 1 && isApartModulo(a, b, b.getStride(axis)))
      return false;
  return true;
}

/// What is written may overlap no other argument. A kernel that works in place
/// has one argument for it, with access KRON_READ_WRITE.
static KronStatus checkOverlap(const KronKernel &kernel, const KronArray *args,
                               const Argument &argument) {
  if (argument.isEmpty())
    return KRON_SUCCESS;
  Range range = getRange(argument);
  for (int32_t i = 0; i < argument.index; ++i) {
    Argument other(kernel, args, i);
    if ((!argument.isWritten() && !other.isWritten()) || other.isEmpty())
      continue;
    if (mayOverlap(argument, range, other))
      return argument.fail(
          KRON_INVALID_ARGUMENT,
          "expects no overlap with argument %d ('%s') since the kernel writes "
          "%s, but got overlapping memory",
          i, other.info.name ? other.info.name : "",
          argument.isWritten() ? "this one" : "that one");
  }
  return KRON_SUCCESS;
}

KronStatus kron::detail::checkArguments(const KronKernel &kernel,
                                        const KronArray *args, int32_t numArgs,
                                        bool needsData) {
  if (numArgs != kernel.numArgs)
    return setError(KRON_MISMATCH,
                    "kernel '%s': expects %d arguments, but got %d",
                    kernel.name, kernel.numArgs, numArgs);
  if (numArgs && !args)
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': expects %d arguments, but got NULL",
                    kernel.name, numArgs);
  // Results come last, mostly: what is only read may overlap.
  bool hasWritten = false;
  for (int32_t i = 0; i < numArgs; ++i) {
    Argument argument(kernel, args, i);
    hasWritten |= argument.isWritten();
    KronStatus status = argument.check(needsData);
    if (!status)
      status = checkSymbols(kernel, args, argument);
    if (!status && needsData && hasWritten)
      status = checkOverlap(kernel, args, argument);
    if (status)
      return status;
  }
  return KRON_SUCCESS;
}
