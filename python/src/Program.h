//===- Program.h - Functions of kron's operations, built as IR --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the kernels of the package's own functions are made of: calls, their
// gradients, rows of 8 bits. A program is put together without the compiler,
// which makes IR of it in memory (ProgramBuilder.h) once a kernel is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_PROGRAM_H
#define KRON_PYTHON_PROGRAM_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kron::python {

/// One function, `main`, whose arguments and steps are added one by one. Values
/// are named by numbers.
class Program {
public:
  /// Of an array; empty: known at launch.
  using Sizes = std::vector<std::optional<int64_t>>;

  /// Strides of an argument: row-major, free but for the innermost axis, whose
  /// is 1, or free. Tensors have none.
  enum class Storage { RowMajor, Rows, Any };

  struct Operand {
    int value;
    /// N, T or C, where the operation lets it be chosen.
    char letter = 'N';
  };

  /// Operands by what the operation calls them.
  struct Group {
    std::string name;
    std::vector<Operand> operands;
  };

  /// Of an operation; a word of one of the dialect's enumerations, or a number.
  struct Attribute {
    std::string name;
    std::variant<std::string, int64_t, double> value;
  };

  struct Argument {
    int value;
    std::string name, element;
    Sizes sizes;
    Storage storage;
    bool isScalar, isDestination;
  };
  struct Allocation {
    int value;
    Sizes sizes;
    std::string element;
    int like, axis;
  };
  struct Step {
    std::string name;
    std::vector<Group> groups;
    std::vector<Attribute> attributes;
    std::vector<int> results;
  };
  struct Conversion {
    int source, target;
  };
  struct Result {
    int value;
    std::string name;
  };

  /// A program on tensors, so that its operations may be fused, or on memory.
  explicit Program(bool isOnTensors) : isOnTensors(isOnTensors) {}

  int addArgument(std::string name, Sizes sizes, std::string element,
                  Storage storage);
  int addScalar(std::string name, std::string type);
  /// An argument on tensors whose memory is that of the first result, `name`.
  int addDestination(std::string name, Sizes sizes, std::string element);
  /// Memory for an array, of which one size may be that of `like` along `axis`.
  int allocate(Sizes sizes, std::string element, int like, int axis);
  /// The operation kron.`name`; returns its results, of which there are none on
  /// memory.
  std::vector<int> addOperation(std::string name, std::vector<Group> groups,
                                std::vector<Attribute> attributes);
  /// Writes the elements of `source` into `target`, an array of the same sizes
  /// and maybe another type; for programs on memory.
  void addConversion(int source, int target);
  void addResult(int value, std::string name);
  /// Callers pass row-major arrays alone.
  void promiseRowMajor() { isRowMajor = true; }

  bool hasTensors() const { return isOnTensors; }
  bool isForRowMajor() const { return isRowMajor; }
  int getNumValues() const { return numValues; }
  const std::vector<Argument> &getArguments() const { return arguments; }
  const std::vector<std::variant<Allocation, Step, Conversion>> &
  getSteps() const {
    return steps;
  }
  const std::vector<Result> &getResults() const { return results; }

private:
  bool isOnTensors, isRowMajor = false;
  int numValues = 0;
  std::vector<Argument> arguments;
  std::vector<std::variant<Allocation, Step, Conversion>> steps;
  std::vector<Result> results;
};

/// Whether an operation writes its operands of `group`.
inline bool isDestination(std::string_view group) {
  return group == "init" || group == "scales";
}

/// Adds the class Program to kron._core, for Python code that puts functions
/// together: before the first one is made, since `import kron` needs none.
void bindProgram();

} // namespace kron::python

#endif // KRON_PYTHON_PROGRAM_H
