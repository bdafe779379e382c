//===- Tensors.h - Tensors of one registered library ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What compiled code asks a tensor library, and what it asks it for. A small
// product takes less time than a call through the interpreter, so functions and
// attributes that are plain C are called at their addresses.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_TENSORS_H
#define KRON_PYTHON_TENSORS_H

#include "View.h"

namespace kron::python {

/// Takes a library, by keyword:
///   classes       types of tensors, the first one the base of the others
///   types         dtypes and their numbers of KronType
///   empty         empty(like, size...) allocates
///   empty_cpu, empty_cuda
///                 (sizes, strides, dtype) allocate on the current device, past
///                 the library's dispatcher; None where there is none
///   current_cuda  the number of that device; None if empty_cuda is
///   is_grad_enabled
///                 whether derivatives are recorded
///   guards        functions, each of which says whether something is active
///                 that must see every operation
///   flags         (module, name of a variable, its value while nothing that
///                 must see operations is active)
///   from_dlpack   makes a tensor of a capsule
///   is_autocast   whether arrays of some calls are cast
///   is_autocast_on, autocast_type
///                 of the name of a device: whether arrays of calls there are
///                 cast, and the dtype that they are cast to
///   casts         dtypes and the names of methods that cast to them
void registerTensors(const pybind11::kwargs &library);

/// Takes the functions, by name, for calls of users with tensors that compiled
/// code leaves.
void setTensorFunctions(pybind11::dict functions);

/// The one named `name`; null if there is none.
PyObject *findTensorFunction(const char *name);

/// KronType of a dtype of the library; -1 if it has none.
int findTensorType(PyObject *dtype);

/// A tensor in the dtype `type`, itself if that is its own; null with an
/// exception.
PyObject *castTensor(PyObject *object, PyObject *type);

/// Whether a tensor is one that no operation has computed.
bool isLeaf(PyObject *object);

/// Whether nothing is active that has to see the operations on tensors: none of
/// the library's guards and flags, nor autocast unless `allowsAutocast`. False
/// with an exception if one raises.
bool isPlainContext(bool allowsAutocast = false);

/// Whether the tensor library casts arrays of some calls.
bool isAutocastActive();

/// The dtype that it casts those of a call with `x` to, or None; null with an
/// exception.
PyObject *findAutocastType(PyObject *x);

/// KronType of a tensor of a registered type; -1 for anything else.
int getTensorType(PyObject *object);

/// What a tensor asks for beside the result: nothing, a derivative, or more
/// than compiled code knows of, as types derived from the registered ones do.
enum class TensorNeed { Nothing, Derivative, Library };

/// Library, with an exception, if the tensor's library raises one.
TensorNeed getTensorNeed(PyObject *object);

/// Whether a tensor asks for a gradient while those are recorded; false for
/// anything else.
bool requiresGrad(PyObject *object);

/// Whether `type` is one of the registered types itself.
bool isTensorClass(PyTypeObject *type);

/// Whether `object` is a tensor, of a derived type maybe.
bool isTensor(PyObject *object);

/// Whether the tensor library records derivatives; true with an exception if it
/// raises one.
bool isGradEnabled();

/// The stream that the tensor library has chosen for new work on a GPU; false,
/// and the default stream, if the library does not tell.
bool findCurrentStream(int device, void *&stream);

/// Fills `view` from a tensor, whose memory may hold other values than its
/// elements (isMaterialised). False, maybe with an exception, if it is one that
/// the runtime does not take.
bool loadTensor(PyObject *object, View &view);

/// Whether the memory of a tensor of `type` holds its elements as they are, not
/// their negatives or conjugates.
bool isMaterialised(PyObject *object, KronType type);

/// A new uninitialised row-major tensor of the kind of `like`, with `type` and
/// on `device`, into `view` too. Null with an exception on failure.
PyObject *allocateTensor(PyObject *like, KronType type, int device, int rank,
                         const int64_t *sizes, View &view);

} // namespace kron::python

#endif // KRON_PYTHON_TENSORS_H
