"""The public functions: straight to the fast path, or to a tensor library's module.

The fast path is C code, which torch.compile cannot look into: tensors leave it here.

SPDX-License-Identifier: MIT
"""

import functools

from kron import _core

#: name of a function -> type of tensors -> the function for these.
_tensor_functions = {}


def register_tensors(kind, module):
    """From now on functions go to those of the same name in `module` when the first argument
    is of the type `kind`."""
    for name, functions in _tensor_functions.items():
        functions[kind] = getattr(module, name)


def _public(function):
    functions = _tensor_functions[function.__name__] = {}

    @functools.wraps(function)
    def call(*args, **kwargs):
        if args and type(args[0]) in functions:
            return functions[type(args[0])](*args, **kwargs)
        return function(*args, **kwargs)

    return call


mkm, kmm, batched = map(_public, (_core.mkm, _core.kmm, _core.batched))
ksmm, ksmm_chain = map(_public, (_core.ksmm, _core.ksmm_chain))
