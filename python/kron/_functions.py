"""The public functions: straight to the fast path, which is C code and knows tensors too.

What dynamo cannot look into it must not see: there, tensors go to their library's module.

SPDX-License-Identifier: MIT
"""

import functools

from kron import _core

#: name of a function -> type of tensors -> the function for these.
_tensor_functions = {}


def is_dynamo_compiling():
    """torch.compiler's function of this name, once tensors are registered."""
    return False


def register_tensors(kinds, module, is_dynamo_compiling):
    """From now on functions go to those of the same name in `module` where the first argument
    is of one of the types `kinds` and the fast path does not take the call."""
    for name, functions in _tensor_functions.items():
        functions.update(dict.fromkeys(kinds, getattr(module, name)))
    _core.set_tensor_functions({name: getattr(module, name) for name in _tensor_functions})
    globals()["is_dynamo_compiling"] = is_dynamo_compiling


def _public(function):
    functions = _tensor_functions[function.__name__] = {}

    @functools.wraps(function)
    def call(*args, **kwargs):
        if is_dynamo_compiling() and args and type(args[0]) in functions:
            return functions[type(args[0])](*args, **kwargs)
        return function(*args, **kwargs)

    return call


mkm, kmm, batched = map(_public, (_core.mkm, _core.kmm, _core.batched))
ksmm, ksmm_chain = map(_public, (_core.ksmm, _core.ksmm_chain))
