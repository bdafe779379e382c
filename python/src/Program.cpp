//===- Program.cpp - Functions of kron's operations, step by step ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <utility>

namespace py = pybind11;
using namespace kron::python;

int Program::addArgument(std::string name, Sizes sizes, std::string element,
                         Storage storage) {
  arguments.push_back({numValues, std::move(name), std::move(element),
                       std::move(sizes), storage, /*isScalar=*/false,
                       /*isDestination=*/false});
  return numValues++;
}

int Program::addScalar(std::string name, std::string type) {
  int value = addArgument(std::move(name), {}, std::move(type), {});
  arguments.back().isScalar = true;
  return value;
}

int Program::addDestination(std::string name, Sizes sizes,
                            std::string element) {
  int value = addArgument(std::move(name), std::move(sizes), std::move(element),
                          Storage::RowMajor);
  arguments.back().isDestination = true;
  return value;
}

int Program::allocate(Sizes sizes, std::string element, int like, int axis) {
  steps.push_back(
      Allocation{numValues, std::move(sizes), std::move(element), like, axis});
  return numValues++;
}

std::vector<int> Program::addOperation(std::string name,
                                       std::vector<Group> groups,
                                       std::vector<Attribute> attributes) {
  std::vector<int> values;
  for (const Group &group : groups)
    if (isOnTensors && isDestination(group.name))
      values.push_back(numValues++);
  steps.push_back(
      Step{std::move(name), std::move(groups), std::move(attributes), values});
  return values;
}

void Program::addConversion(int source, int target) {
  steps.push_back(Conversion{source, target});
}

void Program::addResult(int value, std::string name) {
  results.push_back({value, std::move(name)});
}

//===----------------------------------------------------------------------===//
// Programs of Python code
//===----------------------------------------------------------------------===//

/// A value, or a value and a letter.
static Program::Operand getOperand(py::handle object) {
  if (!py::isinstance<py::tuple>(object))
    return {object.cast<int>()};
  auto pair = object.cast<py::tuple>();
  return {pair[0].cast<int>(), pair[1].cast<std::string>()[0]};
}

static std::vector<int> addOperation(Program &self, const std::string &name,
                                     const py::dict &operands,
                                     const py::dict &attributes) {
  std::vector<Program::Group> groups;
  for (auto [key, value] : operands) {
    Program::Group &group =
        groups.emplace_back(Program::Group{key.cast<std::string>(), {}});
    if (!py::isinstance<py::list>(value))
      group.operands.push_back(getOperand(value));
    else
      for (py::handle item : value)
        group.operands.push_back(getOperand(item));
  }
  std::vector<Program::Attribute> list;
  for (auto [key, value] : attributes) {
    Program::Attribute &added =
        list.emplace_back(Program::Attribute{key.cast<std::string>(), {}});
    if (py::isinstance<py::str>(value))
      added.value = value.cast<std::string>();
    else if (py::isinstance<py::int_>(value))
      added.value = value.cast<int64_t>();
    else
      added.value = value.cast<double>();
  }
  return self.addOperation(name, std::move(groups), std::move(list));
}

void kron::python::bindProgram() {
  static bool isBound = false;
  if (std::exchange(isBound, true))
    return;
  py::module_ module = py::module_::import("kron._core");
  // Not local to this module: the compiler's one reads it.
  py::class_<Program>(module, "Program")
      .def(py::init<bool>(), py::kw_only(), py::arg("on_tensors"))
      .def(
          "argument",
          [](Program &self, const std::string &name, Program::Sizes sizes,
             const std::string &element) {
            return self.addArgument(name, std::move(sizes), element,
                                    Program::Storage::RowMajor);
          },
          py::arg("name"), py::arg("sizes"), py::arg("element"))
      .def("scalar", &Program::addScalar, py::arg("name"), py::arg("type"))
      .def("allocate", &Program::allocate, py::arg("sizes"), py::arg("element"),
           py::arg("like"), py::arg("axis"))
      .def("operation", addOperation, py::arg("name"), py::arg("operands"),
           py::arg("attributes") = py::dict())
      .def("convert", &Program::addConversion, py::arg("source"),
           py::arg("target"))
      .def("result", &Program::addResult, py::arg("value"), py::arg("name"));
}
