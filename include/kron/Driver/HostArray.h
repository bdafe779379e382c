//===- HostArray.h - Arrays of the command-line tools -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Arrays in memory with their type known at run time, NPY files, and the
// generators of `kron-run --arg`.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_HOSTARRAY_H
#define KRON_DRIVER_HOSTARRAY_H

#include "kron/Runtime/Runtime.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <complex>
#include <memory>
#include <vector>

namespace mlir::kron {

/// An array that owns its elements; strides may be those of a Fortran-ordered
/// file.
class HostArray {
public:
  using Number = std::complex<long double>;

  /// Row-major and zero.
  static llvm::Expected<HostArray> create(KronType type,
                                          llvm::ArrayRef<int64_t> sizes);

  KronType getType() const { return type; }
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  int64_t getNumElements() const { return numElements; }
  size_t getNumBytes() const { return numElements * kronGetTypeSize(type); }
  char *getData() { return data.get(); }
  const char *getData() const { return data.get(); }
  void setFortranOrder();
  bool isFortranOrder() const { return fortranOrder; }

  /// Element number `index` in memory, widened.
  Number load(int64_t index) const;
  void store(int64_t index, Number value);

  /// As an argument of kronLaunch; valid as long as this array.
  KronArray getView();

  /// The same values in another type.
  llvm::Expected<HostArray> convert(KronType newType) const;

private:
  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };

  KronType type = KRON_F32;
  std::vector<int64_t> sizes, strides;
  int64_t numElements = 0;
  bool fortranOrder = false;
  std::unique_ptr<char, Free> data;
};

/// The next wider type that --kron-widen computes in.
KronType getWidenedType(KronType type);

/// Distance of 1 to the next number of the (real part's) type; 0 for integers.
double getEpsilon(KronType type);

/// Parses "f32", "c64", "complex<f64>", ...
llvm::Expected<KronType> parseType(llvm::StringRef text);

/// Parses "9x64"; the empty text is rank 0.
llvm::Expected<std::vector<int64_t>> parseShape(llvm::StringRef text);

/// The array that a `--arg` names: an NPY file, or a generator
/// `random:SHAPE:TYPE[:SEED]`, `zeros:SHAPE:TYPE`, `ones:SHAPE:TYPE` or
/// `value:NUMBER:TYPE` (a scalar). `expected` decides what 2-byte integers in a
/// file mean.
llvm::Expected<HostArray> readArgument(llvm::StringRef spec, KronType expected);

/// Whether that is a generator, whose arrays are row-major.
bool isGenerated(llvm::StringRef spec);

/// Fills `array`, of a type that `parseType` knows, with values that depend on
/// the seed and their place only: multiples of 2^-52 uniform in [-1, 1),
/// rounded to the type, in every part; integers uniform in [-8, 8].
void fillRandom(HostArray &array, uint64_t seed);

/// Reads an NPY file, version 1 to 3, in C or Fortran order.
llvm::Expected<HostArray> readNpy(llvm::StringRef path, KronType expected);

/// Writes an NPY file, replacing `path` only when the whole file is written.
/// bf16 is written as '<u2'.
llvm::Error writeNpy(llvm::StringRef path, const HostArray &array);

/// Prints the elements, one innermost row per line.
void printArray(llvm::raw_ostream &stream, const HostArray &array);

} // namespace mlir::kron

#endif // KRON_DRIVER_HOSTARRAY_H
