# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Checks of tensors, with kermac's classes of errors."""

import math
import numbers

import torch

from ...kernels._arrays import scalar


def check_tensors(**tensors):
    """Refuses what is no float32 tensor on the device of the first one; None is left out."""
    tensors = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    first, device = next(iter(tensors)), None
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"expects {name} to be a PyTorch tensor, but got {type(tensor).__name__}")
        if tensor.dtype != torch.float32:
            raise TypeError(f"expects {name} to have dtype torch.float32, but got {tensor.dtype}")
        device = tensor.device if device is None else device
        if tensor.device != device:
            raise ValueError(f"expects {name} on {device} as {first}, but it is on {tensor.device}")


def plain(tensor):
    """The tensor without its part in derivatives."""
    return tensor.detach() if tensor.requires_grad else tensor


def batched(tensor, name, rank=2):
    """The tensor with one axis for the batch in front."""
    if tensor.dim() not in (rank, rank + 1):
        raise ValueError(f"expects {name} to have {rank} or {rank + 1} axes, but got shape {tuple(tensor.shape)}")
    return tensor if tensor.dim() > rank else tensor.unsqueeze(0)


def joined(**tensors):
    """The number of matrices of tensors with a batch in front, each of which has that many or 1."""
    count = 1
    for name, tensor in tensors.items():
        if tensor is None or tensor.dim() == 0:
            continue
        if tensor.shape[0] != 1 and count not in (1, tensor.shape[0]):
            raise ValueError(f"expects {name} to have a batch of 1 or {count}, but got {tensor.shape[0]}")
        count = tensor.shape[0] if count == 1 else count
    return count


def check_shape(tensor, name, shape):
    if tuple(tensor.shape) != shape:
        raise ValueError(f"expects {name} to have shape {shape}, but got {tuple(tensor.shape)}")


def _number_of(value, name, is_positive):
    """A number that is finite and positive, or not negative."""
    number = float(value)
    if not (math.isfinite(number) and (number > 0 if is_positive else number >= 0)):
        raise ValueError(f"expects {name} to be finite and {'positive' if is_positive else 'not negative'}, but got "
                         f"{number}")
    return number


def _tensor_of(value, name, like, is_positive):
    if value.dtype != torch.float32:
        raise TypeError(f"expects {name} to have dtype torch.float32, but got {value.dtype}")
    if value.device != like.device:
        raise ValueError(f"expects {name} on {like.device} as a, but it is on {value.device}")
    if value.dim() > 1:
        raise ValueError(f"expects {name} to have at most 1 axis, but got shape {tuple(value.shape)}")
    value = value.detach()
    # What is on a GPU is not waited for.
    if not value.is_cuda and not bool((value.isfinite() & ((value > 0) if is_positive else (value >= 0))).all()):
        raise ValueError(f"expects {name} to be finite and {'positive' if is_positive else 'not negative'}, but got "
                         f"{value.tolist()}")
    return value


def hyper_parameter(value, name, like, is_positive=True):
    """(a float32 tensor without axes or with one for the batch, the number or None)"""
    if isinstance(value, torch.Tensor):
        return _tensor_of(value, name, like, is_positive), None
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"expects {name} to be a number or a tensor, but got {type(value).__name__}")
    number = _number_of(value, name, is_positive)
    return scalar(number, "float32", like), number
