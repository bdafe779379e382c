//===- Npy.cpp - NPY files --------------------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The format is that of numpy.lib.format: magic, version, header length, a
// Python dictionary literal with `descr`, `fortran_order` and `shape`, then the
// elements.
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/HostArray.h"
#include "kron/Target/Manifest.h"
#include "kron/Target/Output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <optional>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

static constexpr llvm::StringLiteral kMagic("\x93NUMPY");

static llvm::Error makeError(StringRef path, const llvm::Twine &problem) {
  return createStringError("'" + path.str() + "': " + problem.str());
}

namespace {
struct Header {
  std::string type;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};
} // namespace

/// Text behind `'key':` in the dictionary.
static std::optional<StringRef> findValue(StringRef header, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + key.str() + quote;
    size_t position = header.find(quoted);
    if (position == StringRef::npos)
      continue;
    StringRef rest = header.drop_front(position + quoted.size()).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return std::nullopt;
}

static bool parseShapeTuple(StringRef text, std::vector<int64_t> &shape) {
  if (!text.consume_front("("))
    return false;
  size_t end = text.find(')');
  if (end == StringRef::npos)
    return false;
  SmallVector<StringRef> parts;
  text.take_front(end).split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    if (part.empty())
      continue;
    int64_t size;
    if (part.getAsInteger(10, size) || size < 0)
      return false;
    shape.push_back(size);
  }
  return true;
}

/// Python's True or False, with nothing but what ends a value behind it.
static bool parseBool(StringRef text, bool &value) {
  value = text.consume_front("True");
  if (!value && !text.consume_front("False"))
    return false;
  text = text.ltrim();
  return text.starts_with(",") || text.starts_with("}");
}

static std::optional<Header> parseHeader(StringRef text) {
  auto type = findValue(text, "descr"),
       order = findValue(text, "fortran_order"),
       shape = findValue(text, "shape");
  Header header;
  if (!type || !order || !shape || !parseShapeTuple(*shape, header.shape) ||
      !parseBool(*order, header.fortranOrder))
    return std::nullopt;
  // A structured type is a list; it is refused by name like any other.
  if (type->starts_with("[")) {
    header.type = type->take_until([](char c) { return c == ']'; }).str() + "]";
  } else {
    char quote = type->empty() ? 0 : type->front();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    header.type =
        type->drop_front().take_until([&](char c) { return c == quote; }).str();
  }
  return header;
}

/// The element type of a NumPy type string, -1 if kron has none. Two-byte
/// integers and opaque two-byte values are bf16 where that is expected, and
/// such bytes values of 8 bits: NumPy has no name for them.
static int getElementType(StringRef type, KronType expected) {
  if (expected == KRON_BF16 &&
      llvm::is_contained({"<u2", "<i2", "|V2", "<V2", "V2"}, type))
    return KRON_BF16;
  if ((expected == KRON_F8E4M3FN || expected == KRON_F8E5M2) &&
      llvm::is_contained({"|u1", "|i1", "|V1", "<V1", "V1", "<f1"}, type))
    return expected;
  return llvm::StringSwitch<int>(type)
      .Case("<f4", KRON_F32)
      .Case("<f8", KRON_F64)
      .Case("<f2", KRON_F16)
      .Case("|i1", KRON_I8)
      .Case("<i4", KRON_I32)
      .Case("<i8", KRON_I64)
      .Case("<c8", KRON_C32)
      .Case("<c16", KRON_C64)
      .Default(-1);
}

static uint64_t readLittleEndian(StringRef bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Bytes of the elements of an array; none where no memory has as many.
static std::optional<uint64_t> countBytes(KronType type,
                                          ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  uint64_t bytes = kronGetTypeSize(type);
  for (int64_t size : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

llvm::Expected<HostArray> kron::readNpy(StringRef path, KronType expected) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError(path, "cannot read: " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() < 10 || !bytes.consume_front(kMagic))
    return makeError(path,
                     "expects an NPY file, but the magic string is missing");
  unsigned version = static_cast<unsigned char>(bytes[0]);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || bytes.size() < 2 + lengthBytes)
    return makeError(path, "expects NPY version 1, 2 or 3, but got " +
                               llvm::Twine(version));
  uint64_t length = readLittleEndian(bytes.substr(2, lengthBytes));
  bytes = bytes.drop_front(2 + lengthBytes);
  if (bytes.size() < length)
    return makeError(path, "the file ends inside its header");
  std::optional<Header> header = parseHeader(bytes.take_front(length));
  if (!header)
    return makeError(path,
                     "expects an NPY header with descr, fortran_order and "
                     "shape, but got something else");
  bytes = bytes.drop_front(length);
  int type = getElementType(header->type, expected);
  if (type < 0)
    return makeError(path,
                     "expects a little-endian dtype f4, f8, f2, i1, i4, i8, c8 "
                     "or c16, but got '" +
                         header->type + "'");
  // Before memory is taken for what the header promises.
  auto element = static_cast<KronType>(type);
  std::optional<uint64_t> wanted = countBytes(element, header->shape);
  if (bytes.size() != wanted)
    return makeError(
        path, llvm::formatv("expects {0} bytes of elements, but got {1}",
                            wanted ? std::to_string(*wanted) : "2^64 or more",
                            bytes.size())
                  .str());
  auto array = HostArray::create(element, header->shape);
  if (!array)
    return makeError(path, llvm::toString(array.takeError()));
  std::memcpy(array->getData(), bytes.data(), bytes.size());
  if (header->fortranOrder)
    array->setFortranOrder();
  return array;
}

static StringRef getNumpyType(KronType type) {
  switch (type) {
  case KRON_F32:
    return "<f4";
  case KRON_F64:
    return "<f8";
  case KRON_F16:
    return "<f2";
  case KRON_BF16:
    return "<u2";
  case KRON_F8E4M3FN:
  case KRON_F8E5M2:
    return "|u1";
  case KRON_I8:
    return "|i1";
  case KRON_I32:
    return "<i4";
  case KRON_I64:
    return "<i8";
  case KRON_C32:
    return "<c8";
  case KRON_C64:
    return "<c16";
  case KRON_F80:
    return "<f16";
  case KRON_C80:
    return "<c32";
  }
  llvm_unreachable("unknown type");
}

llvm::Error kron::writeNpy(StringRef path, const HostArray &array) {
  std::string header =
      "{'descr': '" + getNumpyType(array.getType()).str() +
      "', 'fortran_order': " + (array.isFortranOrder() ? "True" : "False") +
      ", 'shape': (";
  for (int64_t size : array.getSizes())
    header += std::to_string(size) + ",";
  header += "), }";
  // Elements start at a multiple of 64 bytes, as NumPy writes them.
  size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  return writeFile(path, [&](llvm::raw_ostream &stream) {
    stream << kMagic << '\x01' << '\0'
           << static_cast<char>(header.size() & 0xff)
           << static_cast<char>(header.size() >> 8) << header;
    stream.write(array.getData(), array.getNumBytes());
  });
}
