"""One table of rules (rules.py), in which every front end agrees: NumPy's arrays, functions
that are traced, and the compiled fast path, which leaves such calls to them.

SPDX-License-Identifier: MIT
"""

import numpy as np
import pytest
import rules

import kron
from kron import _core


def traced(case):
    """The value of a call in a new function."""
    function = kron.ir.Module().function("f")

    def make(shape):
        return function.argument(f"a{len(function.arguments)}", np.float32, shape)

    args, options = rules.arguments(case, make)
    if isinstance(args[1], list) and not args[1]:
        # Without a value among the weights.
        return getattr(kron.ir, case[0])(*args, **options)
    return getattr(kron, case[0])(*args, **options)


def in_memory(case, prefix=""):
    args, options = rules.arguments(case, lambda shape: np.ones(shape, np.float32))
    return getattr(_core if prefix else kron, prefix + case[0])(*args, **options)


def message_of(call, case):
    with pytest.raises((TypeError, ValueError)) as error:
        call(case)
    # A traced call keeps the number as it was given.
    return str(error.value).replace("beta=2 ", "beta=2.0 ")


@pytest.mark.parametrize("front_end", [in_memory, traced])
@pytest.mark.parametrize("name", rules.CASES)
def test_words(name, front_end):
    assert message_of(front_end, rules.CASES[name]) == rules.CASES[name][-1]


@pytest.mark.parametrize("name", rules.CASES)
def test_the_fast_path_leaves_the_call(name):
    with pytest.raises(ValueError, match=f"^{rules.CASES[name][0]} expects "):
        in_memory(rules.CASES[name], "raw_")


@pytest.mark.parametrize("name", rules.FITTING)
def test_shapes(name):
    case = rules.FITTING[name]
    assert in_memory(case).shape == in_memory(case, "raw_").shape == traced(case).shape == case[-1]


def test_symbols():
    """Sizes that are known when a function runs go with nothing but themselves."""
    function = kron.ir.Module().function("f")
    factor = function.argument("factor", np.float32, ("n", 2))
    x = function.argument("x", np.float32, ("m", "n"))
    with pytest.raises(ValueError, match=r"^expects the last 2 dimensions of factors\[0\] to be "
                                         r"static, but got shape \(n, 2\)$"):
        kron.mkm(x, [factor])
    fixed = function.argument("fixed", np.float32, (3, 3))
    with pytest.raises(ValueError, match=r"have 3 columns \(3, as the factors say\), but got n$"):
        kron.mkm(x, [fixed])
    y = kron.kmm(function.argument("z", np.float32, (3, "m")), [fixed])
    assert y.shape == (3, x.shape[0])
    with pytest.raises(ValueError, match=r"result's shape \(3, m\), but got \(3, n\)$"):
        kron.kmm(y, [fixed], z=function.argument("w", np.float32, (3, "n")))


def test_an_empty_factor():
    """NumPy's arrays may be empty, traced ones not: the operation has no such factor."""
    empty, x = (2, 0), (3, 2)
    case = ("mkm", x, [empty], {}, None)
    assert in_memory(case).shape == (3, 0)
    assert message_of(traced, case) == ("expects the last 2 dimensions of factors[0] to be at "
                                        "least 1, but got shape (2, 0)")


@pytest.mark.parametrize("shapes, result", [
    ([(2, 1), (3,)], (2, 3)), ([(0,), (1,)], (0,)), ([(1,), (0,)], (0,)), ([(), (4, 1)], (4, 1)),
    ([(2,), (3,)], None), ([(0,), (2,)], None)])
def test_broadcasting(shapes, result):
    if result is not None:
        assert _core.broadcast_shapes(shapes) == result == np.broadcast_shapes(*shapes)
        return
    with pytest.raises(ValueError, match=r"^expects shapes that broadcast, but got \(.,\), \(.,\)$"):
        _core.broadcast_shapes(shapes)
