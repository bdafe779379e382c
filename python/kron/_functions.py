"""The public functions: straight to the fast path, or to a tensor library's module.

The fast path is C code, which torch.compile cannot look into: tensors leave it here.

SPDX-License-Identifier: MIT
"""

import functools

from kron import _core

#: type of tensors -> module with functions of the same names (kron.torch adds its own).
tensor_modules = {}


def _public(function):
    name = function.__name__

    @functools.wraps(function)
    def call(*args, **kwargs):
        if args and type(args[0]) in tensor_modules:
            return getattr(tensor_modules[type(args[0])], name)(*args, **kwargs)
        return function(*args, **kwargs)

    return call


mkm, kmm, batched = map(_public, (_core.mkm, _core.kmm, _core.batched))
ksmm, ksmm_chain = map(_public, (_core.ksmm, _core.ksmm_chain))
