//===- Calls.h - Programs of calls ------------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the code of a call on the fast path depends on (Product.cpp, Sparse.cpp:
// the same as their keys), and the program of its kernel.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_CALLS_H
#define KRON_PYTHON_CALLS_H

#include "Call.h"
#include "Inference.h"
#include "Program.h"
#include <pybind11/pybind11.h>

namespace kron::python {

/// Of all operations.
struct CallShape {
  std::string element;
  int precision;
  bool hasAlpha;
  AddendKind addend;
  Transpose transX;
  /// Arrays whose innermost axis has a stride other than 1.
  bool anyX, anyY, anyZ;
};

struct ProductShape : CallShape {
  struct Factor {
    /// Contracted and resulting size.
    int64_t p, q;
    Transpose trans;
    /// Axes of the batch.
    Program::Sizes batch;
  };

  ProductKind kind = ProductKind::Mkm;
  std::vector<Factor> factors = {};
  Program::Sizes batch = {};
};

struct SparseShape : CallShape {
  struct Weights {
    int64_t pattern[4];
    Transpose trans;
    MatrixSizes<int64_t> features;
  };

  bool isChain = false, isBatchLast = false;
  std::vector<Weights> weights = {};
  /// Whether the weights are row-major, and whether all arrays are.
  bool areWeightsRowMajor = false, areAllRowMajor = false;
  int activation = 0;
  std::optional<double> scale = std::nullopt;
  bool hasBias = false, hasResidual = false, anyResidual = false;
};

/// What a kernel is compiled from.
struct CallProgram {
  Program program;
  /// Per factor, for kron.explain: (contracted size, resulting size) of a dense
  /// one, (features read, features written, summed for each) of a sparse one.
  pybind11::list factors;
};

/// Raises ValueError for a scale that is not finite in its type.
CallProgram writeProgram(const ProductShape &call);
CallProgram writeProgram(const SparseShape &call);

} // namespace kron::python

#endif // KRON_PYTHON_CALLS_H
