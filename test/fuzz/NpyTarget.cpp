//===- NpyTarget.cpp - NPY files ------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Target.h"
#include "Words.h"
#include "kron/Driver/HostArray.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::fuzz;

/// Bytes before the header's length, and with it: of versions 1, and 2 and 3.
static constexpr size_t kMagicBytes = 8, kShortPrefix = 10, kLongPrefix = 12;

namespace {
class NpyTarget : public Target {
public:
  bool run(StringRef input) override;
  std::string mutate(StringRef input, Random &random) override;
  void addSeeds(StringRef file, StringRef content,
                std::map<std::string, std::string> &seeds) override;

private:
  MemoryFile input;
};
} // namespace

bool NpyTarget::run(StringRef bytes) {
  ++counts.runs;
  input.write(bytes);
  bool isRead = false;
  // What bytes mean depends on what is expected.
  for (KronType expected : {KRON_F32, KRON_BF16, KRON_F8E4M3FN}) {
    llvm::Expected<HostArray> array = readNpy(input.getPath(), expected);
    if (!array) {
      if (llvm::toString(array.takeError()).empty())
        reportFault("an NPY file is refused without an error message");
      continue;
    }
    isRead = true;
    int64_t elements = llvm::is_contained(array->getSizes(), 0) ? 0 : 1;
    for (int64_t size : array->getSizes())
      elements *= elements ? size : 0;
    if (elements != array->getNumElements() ||
        array->getNumBytes() > bytes.size())
      reportFault("an NPY file is read into an array of another size");
    llvm::Expected<HostArray> wide =
        array->convert(getWidenedType(array->getType()));
    if (!wide)
      reportFault("an array cannot be widened: " +
                  llvm::toString(wide.takeError()));
    llvm::SmallString<0> printed;
    llvm::raw_svector_ostream stream(printed);
    printArray(stream, *wide);
  }
  counts.parsed += isRead;
  counts.accepted += isRead;
  counts.completed += isRead;
  return isRead;
}

/// An NPY file of version 1.
static std::string makeFile(StringRef header, StringRef elements) {
  std::string file("\x93NUMPY\x01\x00", kMagicBytes);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header.str() + elements.str();
}

/// A header of one of the forms that are read, or nearly so, and as many
/// elements as it says, or nearly so.
static std::string makeFile(Random &random) {
  static constexpr std::pair<StringRef, int> types[] = {
      {"'<f4'", 4},   {"'<f8'", 8}, {"'<f2'", 2},  {"'<u2'", 2},
      {"\"|V2\"", 2}, {"'|i1'", 1}, {"'|u1'", 1},  {"'<i4'", 4},
      {"'<i8'", 8},   {"'<c8'", 8}, {"'<c16'", 16}};
  static constexpr std::pair<StringRef, int> otherTypes[] = {
      {"'>f4'", 4}, {"'<f16'", 16}, {"[('a', '<f4')]", 4},
      {"'O'", 8},   {"''", 0},      {"1", 1}};
  static constexpr StringRef orders[] = {"False", "True"};
  static constexpr StringRef otherOrders[] = {"None", "1", "Truely", "'True'"};
  auto [type, bytes] =
      random.oneIn(10) ? random.pick(otherTypes) : random.pick(types);
  StringRef order =
      random.oneIn(10) ? random.pick(otherOrders) : random.pick(orders);
  std::string shape;
  int64_t elements = 1;
  for (size_t axes = random.below(random.oneIn(8) ? 40 : 4); axes > 0; --axes) {
    int64_t size = random.oneIn(20) ? pickNumber(random) : random.below(6);
    shape += std::to_string(size) + ", ";
    if (__builtin_mul_overflow(elements, size, &elements))
      elements = INT32_MAX;
  }
  std::string parts[] = {"'descr': " + type.str() + ", ",
                         "'fortran_order': " + order.str() + ", ",
                         "'shape': (" + shape + "), "};
  std::swap(parts[random.below(3)], parts[random.below(3)]);
  std::string header = "{" + parts[0] + parts[1] + parts[2] + "}\n";
  int64_t size = elements < 0 || elements > 4096 ? 16 : elements * bytes;
  std::string content(size, '\0');
  for (char &byte : content)
    byte = static_cast<char>(random.next());
  if (random.oneIn(12))
    content += '\0';
  return makeFile(header, content);
}

std::string NpyTarget::mutate(StringRef file, Random &random) {
  if (!random.oneIn(4))
    return makeFile(random);
  if (random.oneIn(2) || file.size() < kLongPrefix)
    return mutateBytes(file, random);
  // Another word in the header.
  bool isShort = file[6] == 1;
  size_t begin = isShort ? kShortPrefix : kLongPrefix;
  size_t length = static_cast<uint8_t>(file[8]) |
                  static_cast<size_t>(static_cast<uint8_t>(file[9])) << 8;
  StringRef header = file.substr(begin, length);
  return makeFile(mutateWords(header, random),
                  file.drop_front(std::min(file.size(), begin + length)));
}

void NpyTarget::addSeeds(StringRef file, StringRef content,
                         std::map<std::string, std::string> &seeds) {
  // Tests have no such files, but make them; these are of all forms.
  Random random(2601);
  for (unsigned i = 0; i < 40; ++i)
    seeds["npy-" + std::to_string(i)] = makeFile(random);
}

std::unique_ptr<Target> kron::fuzz::createNpyTarget() {
  return std::make_unique<NpyTarget>();
}
