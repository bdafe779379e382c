# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""torch.autocast: floating-point arrays are cast to its type, float64 excepted."""

import torch

from .. import _core

_KEYS = {device: torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, "Autocast" + name))
         for device, name in (("cpu", "CPU"), ("cuda", "CUDA"))}


class Casts:
    """A call's context, in which autocast is off and arguments are cast as it would."""

    def __init__(self, device):
        self._dtype = torch.get_autocast_dtype(device)
        self._guard = torch._C._ExcludeDispatchKeyGuard(_KEYS[device])

    def __enter__(self):
        self._guard.__enter__()
        return self

    def __exit__(self, *error):
        self._guard.__exit__(*error)

    def cast(self, *values):
        """The values, of which some may be lists of tensors or None."""
        return [self._cast(value) for value in values]

    def _cast(self, value):
        if isinstance(value, torch.Tensor):
            eligible = value.is_floating_point() and value.dtype != torch.float64
            return value.to(self._dtype) if eligible else value
        return self.cast(*value) if isinstance(value, (list, tuple)) else value


def casts_for(x):
    """Those of a call with this tensor; None where autocast is not active."""
    if not torch._C._is_any_autocast_enabled() or not isinstance(x, torch.Tensor):
        return None
    return None if _core.autocast_type(x) is None else Casts(x.device.type)
