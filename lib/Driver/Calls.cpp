//===- Calls.cpp - Calls of kernels and their results -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Calls.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::vector<unsigned> kron::getWrittenArgs(const KernelManifest &kernel) {
  std::vector<unsigned> written;
  for (auto [index, arg] : llvm::enumerate(kernel.args))
    if (arg.access != KRON_READ)
      written.push_back(index);
  return written;
}

/// Shape of the output `arg`: static sizes and those of inputs that must be
/// equal.
static llvm::Expected<std::vector<int64_t>>
inferShape(const ArgManifest &arg, unsigned outNumber,
           const llvm::DenseMap<int32_t, int64_t> &symbolSizes) {
  std::vector<int64_t> shape = arg.sizes;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size >= 0)
      continue;
    auto known = symbolSizes.find(arg.symbols[axis]);
    if (arg.symbols[axis] < 0 || known == symbolSizes.end())
      return createStringError(
          llvm::formatv(
              "cannot tell the size of axis {0} of output '{1}'; give "
              "--out-shape {2}:SHAPE",
              axis, arg.name, outNumber)
              .str());
    size = known->second;
  }
  return shape;
}

static llvm::Error checkInputCount(const KernelManifest &kernel, size_t given) {
  SmallVector<StringRef> names;
  for (const ArgManifest &arg : kernel.args)
    if (arg.access != KRON_WRITE)
      names.push_back(arg.name);
  if (names.size() == given)
    return llvm::Error::success();
  return createStringError(
      llvm::formatv("function '{0}' expects {1} arguments ({2}), but got {3}",
                    kernel.name, names.size(), llvm::join(names, ", "), given)
          .str());
}

llvm::Expected<CallArguments> CallArguments::create(
    const KernelManifest &kernel, ArrayRef<std::string> specs,
    const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes) {
  if (llvm::Error error = checkInputCount(kernel, specs.size()))
    return std::move(error);
  CallArguments call;
  call.arrays.resize(kernel.args.size());
  llvm::DenseMap<int32_t, int64_t> symbolSizes;
  size_t nextSpec = 0;
  for (auto [arg, array] : llvm::zip(kernel.args, call.arrays)) {
    if (arg.access == KRON_WRITE)
      continue;
    auto input = readArgument(specs[nextSpec++], arg.type);
    if (!input)
      return createStringError("argument '" + arg.name +
                               "': " + llvm::toString(input.takeError()));
    array = std::move(*input);
    if (array.getSizes().size() == arg.getRank())
      for (auto [symbol, size] : llvm::zip(arg.symbols, array.getSizes()))
        symbolSizes.try_emplace(symbol, size);
  }
  unsigned outNumber = 0;
  for (auto [arg, array] : llvm::zip(kernel.args, call.arrays)) {
    if (arg.access != KRON_WRITE)
      continue;
    auto given = llvm::find_if(
        outShapes, [&](const auto &entry) { return entry.first == outNumber; });
    auto shape = given != outShapes.end()
                     ? llvm::Expected<std::vector<int64_t>>(given->second)
                     : inferShape(arg, outNumber, symbolSizes);
    ++outNumber;
    if (!shape)
      return shape.takeError();
    auto output = HostArray::create(arg.type, *shape);
    if (!output)
      return createStringError("output '" + arg.name +
                               "': " + llvm::toString(output.takeError()));
    array = std::move(*output);
  }
  for (const auto &[number, shape] : outShapes)
    if (number >= outNumber)
      return createStringError(
          llvm::formatv("expects --out-shape to name one of {0} outputs, "
                        "counted from 0, but got {1}",
                        outNumber, number)
              .str());
  return call;
}

llvm::Expected<CallArguments>
CallArguments::convert(function_ref<KronType(KronType)> getType) const {
  CallArguments result;
  for (const HostArray &array : arrays) {
    auto converted = array.convert(getType(array.getType()));
    if (!converted)
      return converted.takeError();
    result.arrays.push_back(std::move(*converted));
  }
  return result;
}

llvm::Expected<CallArguments> CallArguments::copy() const {
  return convert([](KronType type) { return type; });
}

llvm::Expected<CallArguments> CallArguments::widen() const {
  return convert(getWidenedType);
}

llvm::Error CallArguments::launch(const KronKernel *kernel,
                                  int32_t numThreads) {
  SmallVector<KronArray> views;
  for (HostArray &array : arrays)
    views.push_back(array.getView());
  KronLaunchOptions options = {};
  options.numThreads = numThreads;
  if (kronLaunch(kernel, views.data(), views.size(), &options) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  return llvm::Error::success();
}

size_t kron::getNumCopies(const CallArguments &call, size_t cacheBytes,
                          size_t most) {
  size_t bytes = 1;
  for (const HostArray &array : call.arrays)
    bytes += array.getNumBytes();
  return std::min(2 * cacheBytes / bytes + 1, most);
}
