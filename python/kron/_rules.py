"""Rules of arguments that all front ends share, with their errors: of NumPy's arrays
(_fallback.py), of functions that are traced (ir.py) and of tensors (torch/_checks.py).

Those of shapes are in kron._core (python/src/Inference.h), where the fast path has them too.

SPDX-License-Identifier: MIT
"""

from kron import _core

ACTIVATIONS, LAYOUTS = _core.ACTIVATIONS, _core.LAYOUTS
PRECISIONS = ("full", "ieee", "tf32")

#: Transposes as users write them. 0 and 1 are False and True, as are NumPy's.
_LETTERS = {False: "N", True: "T", "N": "N", "T": "T", "C": "C"}


def check_choice(value, choices, name):
    """Refuses what is none of `choices`."""
    if not isinstance(value, str) or value not in choices:
        text = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"expects {name} to be one of {text}, but got {value!r}")


def letter_of(value, name):
    """N, T or C for a transpose as users write it."""
    try:
        return _LETTERS[value]
    except (KeyError, TypeError):
        raise ValueError(f"expects {name} to be False, True, 'N', 'T' or 'C', "
                         f"but got {value!r}") from None


def letters_of(value, count, name):
    """N, T or C for each of `count` arrays; `value` is one for all, or a list."""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"expects {name} to have {count} entries, but got {len(value)}")
        return [letter_of(item, f"{name}[{i}]") for i, item in enumerate(value)]
    return [letter_of(value, name)] * count


def check_pattern(pattern, shape, name):
    """Refuses a pattern that is not the shape of the weights called `name`."""
    try:
        values = tuple(pattern)
        is_pattern = len(values) == 4 and all(size >= 1 and size == int(size) for size in values)
    except (TypeError, ValueError, OverflowError):
        is_pattern = False
    if not is_pattern:
        raise ValueError(f"expects {name.replace('weights', 'pattern')} to be 4 integers of at "
                         f"least 1, but got {pattern!r}")
    if values != tuple(shape):
        raise ValueError(f"expects {name} to have the shape of its pattern {values}, "
                         f"but got {tuple(shape)}")


def patterns_of(patterns, count):
    """A pattern, or None, for each of `count` weights."""
    if patterns is None:
        return [None] * count
    if not isinstance(patterns, (list, tuple)) or len(patterns) != count:
        raise ValueError(f"expects pattern to be a list of {count} patterns, "
                         f"but got {patterns!r}")
    return patterns


def check_activation(activation, kind, dtype):
    """Activations are of real floating-point numbers, but relu of integers too; `kind` is
    NumPy's for the dtype: one of f, c and i."""
    check_choice(activation, ACTIVATIONS, "epilogue")
    if activation != "identity" and (kind == "c" or (kind == "i" and activation != "relu")):
        raise TypeError(f"expects epilogue '{activation}' on real floating-point arrays, "
                        f"but got {dtype}")


def check_addend(has_z, beta):
    """Refuses beta without an array that it scales; `beta` is a number or a name."""
    if not has_z and (isinstance(beta, str) or beta != 0):
        raise ValueError(f"expects z when beta is not 0, but got beta={beta} alone")


def infer_product(name, x, factors, trans_x, trans_factors, z=None, allows_empty=False):
    """([(contracted, resulting size) of each factor], shape of the result) of mkm, kmm or
    batched; arguments are shapes and letters."""
    sizes, shape = _core.infer_product(name, tuple(x), list(map(tuple, factors)), trans_x,
                                       list(trans_factors), allows_empty)
    if z is not None:
        _core.check_broadcast("z", tuple(z), shape)
    return sizes, shape


def infer_sparse(x, weights, trans_weights, layout, is_chain=False, bias=None, **broadcast):
    """The shape of the result of ksmm or ksmm_chain; arguments are shapes, those of
    `broadcast` of arrays that broadcast to the result."""
    check_choice(layout, LAYOUTS, "layout")
    shape = _core.infer_sparse(tuple(x), list(map(tuple, weights)), list(trans_weights), layout,
                               is_chain, None if bias is None else tuple(bias))
    for name, other in broadcast.items():
        if other is not None:
            _core.check_broadcast(name, tuple(other), shape)
    return shape
