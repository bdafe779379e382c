//===- HostArray.cpp - Arrays of the command-line tools ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/HostArray.h"
#include "kron/Target/Manifest.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

KronType kron::getWidenedType(KronType type) {
  switch (type) {
  case KRON_F16:
  case KRON_BF16:
  case KRON_F32:
    return KRON_F64;
  case KRON_F64:
    return KRON_F80;
  case KRON_C32:
    return KRON_C64;
  case KRON_C64:
    return KRON_C80;
  default:
    return type;
  }
}

double kron::getEpsilon(KronType type) {
  switch (type) {
  case KRON_F16:
    return 0x1p-10;
  case KRON_BF16:
    return 0x1p-7;
  case KRON_F8E4M3FN:
    return 0x1p-3;
  case KRON_F8E5M2:
    return 0x1p-2;
  case KRON_F32:
  case KRON_C32:
    return 0x1p-23;
  case KRON_F64:
  case KRON_C64:
    return 0x1p-52;
  case KRON_F80:
  case KRON_C80:
    return 0x1p-63;
  case KRON_I8:
    // What kron.quantize rounds.
    return 0x1p-8;
  default:
    return 0;
  }
}

llvm::Expected<KronType> kron::parseType(StringRef text) {
  int type = llvm::StringSwitch<int>(text)
                 .Case("f32", KRON_F32)
                 .Case("f64", KRON_F64)
                 .Case("f16", KRON_F16)
                 .Case("bf16", KRON_BF16)
                 .Case("i8", KRON_I8)
                 .Case("f8E4M3FN", KRON_F8E4M3FN)
                 .Case("f8E5M2", KRON_F8E5M2)
                 .Case("i32", KRON_I32)
                 .Case("i64", KRON_I64)
                 .Cases({"c32", "complex<f32>"}, KRON_C32)
                 .Cases({"c64", "complex<f64>"}, KRON_C64)
                 .Default(-1);
  if (type < 0)
    return createStringError(
        "expects an element type f32, f64, f16, bf16, i32, "
        "i64, c32, c64, i8, f8E4M3FN or f8E5M2, but got '" +
        text.str() + "'");
  return static_cast<KronType>(type);
}

llvm::Expected<std::vector<int64_t>> kron::parseShape(StringRef text) {
  std::vector<int64_t> sizes;
  if (text.empty())
    return sizes;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size;
    if (part.getAsInteger(10, size) || size < 0)
      return createStringError("expects a shape like 9x64, but got '" +
                               text.str() + "'");
    sizes.push_back(size);
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Pages are touched once here, so that timing does not see page faults.
static constexpr size_t kAlignment = 64;
/// From which size on an array lies on large pages.
static constexpr int64_t kLargeArrayBytes = 4 << 20;

/// Asks for large pages under memory that was not written yet, as NumPy does:
/// times are those of its arrays then.
static void useHugePages(char *data, int64_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes < kLargeArrayBytes)
    return;
  auto pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto address = reinterpret_cast<uintptr_t>(data);
  uintptr_t first = llvm::alignTo(address, pageBytes);
  // Where there are none, small ones do.
  (void)madvise(reinterpret_cast<void *>(first), address + bytes - first,
                MADV_HUGEPAGE);
#endif
}

llvm::Expected<HostArray> HostArray::create(KronType type,
                                            ArrayRef<int64_t> sizes) {
  if (sizes.size() > KRON_MAX_RANK)
    return createStringError(
        llvm::formatv("expects a rank of at most {0}, but got {1}",
                      KRON_MAX_RANK, sizes.size())
            .str());
  HostArray array;
  array.type = type;
  array.sizes.assign(sizes.begin(), sizes.end());
  array.strides.resize(sizes.size());
  array.numElements = 1;
  bool overflow = false;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    array.strides[axis] = array.numElements;
    overflow |= __builtin_mul_overflow(array.numElements, sizes[axis],
                                       &array.numElements);
  }
  int64_t bytes;
  overflow |= __builtin_mul_overflow(
      array.numElements, static_cast<int64_t>(kronGetTypeSize(type)), &bytes);
  char *data = nullptr;
  if (!overflow && bytes <= (int64_t(1) << 46))
    data = static_cast<char *>(
        std::aligned_alloc(kAlignment, llvm::alignTo(bytes + 1, kAlignment)));
  if (!data)
    return createStringError("cannot allocate an array of so many elements");
  useHugePages(data, bytes);
  std::memset(data, 0, bytes);
  array.data.reset(data);
  return array;
}

void HostArray::setFortranOrder() {
  fortranOrder = true;
  // What has no elements may have other sizes whose product nothing holds.
  if (numElements == 0)
    return;
  int64_t stride = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
}

KronArray HostArray::getView() {
  return {data.get(), sizes.data(), strides.data(),
          static_cast<int32_t>(sizes.size()), type};
}

template <typename T> static T loadAs(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

namespace {
/// Values of all numbers of a type of 8 or 16 bits: arrays have many more
/// elements than the type has numbers.
class SmallFloats {
public:
  explicit SmallFloats(const llvm::fltSemantics &semantics) {
    unsigned numBits = llvm::APFloat::getSizeInBits(semantics);
    for (uint64_t bits = 0; bits < uint64_t(1) << numBits; ++bits)
      values.push_back(llvm::APFloat(semantics, llvm::APInt(numBits, bits))
                           .convertToFloat());
  }
  float operator[](size_t bits) const { return values[bits]; }

private:
  std::vector<float> values;
};
} // namespace

template <typename T, const llvm::fltSemantics &getSemantics()>
static float loadSmallFloat(const char *bytes) {
  static const SmallFloats values(getSemantics());
  return values[loadAs<T>(bytes)];
}

HostArray::Number HostArray::load(int64_t index) const {
  const char *bytes = data.get() + index * kronGetTypeSize(type);
  switch (type) {
  case KRON_F32:
    return loadAs<float>(bytes);
  case KRON_F64:
    return loadAs<double>(bytes);
  case KRON_F16:
    return loadSmallFloat<uint16_t, llvm::APFloat::IEEEhalf>(bytes);
  case KRON_BF16:
    return loadSmallFloat<uint16_t, llvm::APFloat::BFloat>(bytes);
  case KRON_F8E4M3FN:
    return loadSmallFloat<uint8_t, llvm::APFloat::Float8E4M3FN>(bytes);
  case KRON_F8E5M2:
    return loadSmallFloat<uint8_t, llvm::APFloat::Float8E5M2>(bytes);
  case KRON_I8:
    return loadAs<int8_t>(bytes);
  case KRON_I32:
    return loadAs<int32_t>(bytes);
  case KRON_I64:
    return static_cast<long double>(loadAs<int64_t>(bytes));
  case KRON_C32:
    return loadAs<std::complex<float>>(bytes);
  case KRON_C64:
    return loadAs<std::complex<double>>(bytes);
  case KRON_F80:
    return loadAs<long double>(bytes);
  case KRON_C80:
    return loadAs<Number>(bytes);
  }
  llvm_unreachable("unknown type");
}

template <typename T> static void storeAs(char *bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

static void storeSmallFloat(char *bytes, double number,
                            const llvm::fltSemantics &semantics) {
  llvm::APFloat value(number);
  bool losesInfo;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  if (llvm::APFloat::getSizeInBits(semantics) == 8)
    storeAs<uint8_t>(bytes, bits);
  else
    storeAs<uint16_t>(bytes, bits);
}

void HostArray::store(int64_t index, Number value) {
  char *bytes = data.get() + index * kronGetTypeSize(type);
  switch (type) {
  case KRON_F32:
    return storeAs<float>(bytes, value.real());
  case KRON_F64:
    return storeAs<double>(bytes, value.real());
  case KRON_F16:
    return storeSmallFloat(bytes, value.real(), llvm::APFloat::IEEEhalf());
  case KRON_BF16:
    return storeSmallFloat(bytes, value.real(), llvm::APFloat::BFloat());
  case KRON_F8E4M3FN:
    return storeSmallFloat(bytes, value.real(), llvm::APFloat::Float8E4M3FN());
  case KRON_F8E5M2:
    return storeSmallFloat(bytes, value.real(), llvm::APFloat::Float8E5M2());
  case KRON_I8:
    return storeAs<int8_t>(bytes, static_cast<int8_t>(value.real()));
  case KRON_I32:
    return storeAs<int32_t>(bytes, static_cast<int32_t>(value.real()));
  case KRON_I64:
    return storeAs<int64_t>(bytes, static_cast<int64_t>(value.real()));
  case KRON_C32:
    return storeAs<std::complex<float>>(bytes, std::complex<float>(value));
  case KRON_C64:
    return storeAs<std::complex<double>>(bytes, std::complex<double>(value));
  case KRON_F80:
    return storeAs<long double>(bytes, value.real());
  case KRON_C80:
    return storeAs<Number>(bytes, value);
  }
  llvm_unreachable("unknown type");
}

llvm::Expected<HostArray> HostArray::convert(KronType newType) const {
  auto result = create(newType, sizes);
  if (!result)
    return result;
  if (fortranOrder)
    result->setFortranOrder();
  if (newType == type)
    std::memcpy(result->data.get(), data.get(), getNumBytes());
  else
    for (int64_t i = 0; i < numElements; ++i)
      result->store(i, load(i));
  return result;
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

/// Gives all elements of `array` the same value.
static void fillConstant(HostArray &array, double value) {
  if (array.getNumElements() == 0)
    return;
  array.store(0, value);
  size_t size = kronGetTypeSize(array.getType());
  for (size_t offset = size; offset < array.getNumBytes(); offset += size)
    std::memcpy(array.getData() + offset, array.getData(), size);
}

static llvm::Expected<HostArray> generate(StringRef spec,
                                          ArrayRef<StringRef> parts) {
  StringRef kind = parts[0];
  if (parts.size() < 3 || parts.size() > (kind == "random" ? 4u : 3u))
    return createStringError(
        llvm::formatv("expects {0}:{1}:TYPE{2}, but got '{3}'", kind,
                      kind == "value" ? "NUMBER" : "SHAPE",
                      kind == "random" ? "[:SEED]" : "", spec)
            .str());
  llvm::Expected<KronType> type = parseType(parts[2]);
  if (!type)
    return type.takeError();
  auto sizes = parseShape(kind == "value" ? "" : parts[1]);
  if (!sizes)
    return sizes.takeError();
  uint64_t seed = 0;
  if (parts.size() == 4 && parts[3].getAsInteger(10, seed))
    return createStringError("expects the seed to be a number, but got '" +
                             parts[3].str() + "'");
  double value = kind == "ones" ? 1 : 0;
  if (kind == "value" && parts[1].getAsDouble(value))
    return createStringError("expects a number, but got '" + parts[1].str() +
                             "'");
  llvm::Expected<HostArray> array = HostArray::create(*type, *sizes);
  if (!array)
    return array;
  if (kind == "random")
    fillRandom(*array, seed);
  else if (value != 0)
    fillConstant(*array, value);
  return array;
}

bool kron::isGenerated(StringRef spec) {
  auto [kind, rest] = spec.split(':');
  return kind.size() < spec.size() &&
         llvm::is_contained({"random", "zeros", "ones", "value"}, kind);
}

llvm::Expected<HostArray> kron::readArgument(StringRef spec,
                                             KronType expected) {
  if (!isGenerated(spec))
    return readNpy(spec, expected);
  SmallVector<StringRef> parts;
  spec.split(parts, ':');
  return generate(spec, parts);
}

void kron::printArray(llvm::raw_ostream &stream, const HostArray &array) {
  int64_t row = array.getSizes().empty() ? 1 : array.getSizes().back();
  for (int64_t i = 0; i < array.getNumElements(); ++i) {
    HostArray::Number value = array.load(i);
    stream << (i % row == 0 ? "" : " ") << llvm::format("%.6Lg", value.real());
    if (array.getType() == KRON_C32 || array.getType() == KRON_C64)
      stream << llvm::format("%+.6Lgj", value.imag());
    if ((i + 1) % row == 0)
      stream << "\n";
  }
}
