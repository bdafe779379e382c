"""Calls that break one rule of shapes or transposes each: (operation, shape of x, shapes of
the factors or weights, other arguments, the whole message). Arguments that are arrays are
given as shapes. All front ends refuse them with the same words.

SPDX-License-Identifier: MIT
"""

#: Other arguments that are arrays.
ARRAYS = ("z", "bias", "residual")

F = (2, 2), (3, 3)
W = (1, 2, 3, 2)
CASES = {
    "no factors": ("mkm", (3, 6), (), {}, "expects factors to hold at least 1 array, but got none"),
    "transposes": ("mkm", (3, 6), F, {"trans_factors": ["N"]},
                   "expects trans_factors to have 2 entries, but got 1"),
    "transpose of a factor": (
        "kmm", (6, 3), F, {"trans_factors": [True, "X"]},
        "expects trans_factors[1] to be False, True, 'N', 'T' or 'C', but got 'X'"),
    "transpose of x": ("mkm", (3, 6), F, {"trans_x": "X"},
                       "expects trans_x to be False, True, 'N', 'T' or 'C', but got 'X'"),
    "rank of a factor": ("mkm", (3, 6), ((2, 2), (3,)), {},
                         "expects factors[1] to have at least 2 dimensions, but got shape (3,)"),
    "rank of x": ("batched", (6,), F, {},
                  "expects x to have at least 2 dimensions, but got shape (6,)"),
    "columns": ("mkm", (3, 6), ((2, 2), (2, 4)), {},
                "expects op(x) to have 4 columns (2*2, as the factors say), but got 6"),
    "columns of a transposed factor": (
        "mkm", (3, 6), ((2, 2), (2, 4)), {"trans_factors": [False, True]},
        "expects op(x) to have 8 columns (2*4, as the factors say), but got 6"),
    "columns of a transposed x": (
        "mkm", (3, 6), F, {"trans_x": True},
        "expects op(x) to have 6 columns (2*3, as the factors say), but got 3"),
    "rows": ("kmm", (3, 6), F, {},
             "expects op(x) to have 6 rows (2*3, as the factors say), but got 3"),
    "rows of a transposed factor": (
        "kmm", (6, 3), ((2, 2), (3, 4)), {"trans_factors": "N"},
        "expects op(x) to have 8 rows (2*4, as the factors say), but got 6"),
    "axes": ("batched", (5, 3, 2), F, {},
             "expects the last dimensions of op(x) to be (2, 3), as the factors say, "
             "but got (3, 2)"),
    "axes of a transposed x": (
        "batched", (5, 2, 3), F, {"trans_x": True},
        "expects the last dimensions of op(x) to be (2, 3), as the factors say, but got (3, 2)"),
    "batch": ("mkm", (2, 3, 6), ((5, 2, 2), (3, 3)), {},
              "expects batch dimensions of x and factors that broadcast, but got (2,), (5,), ()"),
    "shape of z": ("kmm", (6, 3), F, {"z": (6, 2), "beta": 1},
                   "expects z to broadcast to the result's shape (6, 3), but got (6, 2)"),
    "rank of z": ("mkm", (3, 6), F, {"z": (1, 3, 6), "beta": 1},
                  "expects z to broadcast to the result's shape (3, 6), but got (1, 3, 6)"),
    "no z": ("mkm", (3, 6), F, {"beta": 2},
             "expects z when beta is not 0, but got beta=2.0 alone"),
    "precision": ("mkm", (3, 6), F, {"precision": "half"},
                  "expects precision to be one of 'full', 'ieee', 'tf32', but got 'half'"),
    "no weights": ("ksmm_chain", (3, 6), (), {},
                   "expects weights to hold at least 1 array, but got none"),
    "transposes of weights": ("ksmm_chain", (3, 6), (W, W), {"trans_weights": ["T"]},
                              "expects trans_weights to have 2 entries, but got 1"),
    "transpose of weights": (
        "ksmm", (3, 6), W, {"trans_weights": 3},
        "expects trans_weights to be False, True, 'N', 'T' or 'C', but got 3"),
    "rank of weights": ("ksmm", (3, 6), (2, 3), {},
                        "expects weights to have 4 dimensions of at least 1, but got shape (2, 3)"),
    "empty weights": (
        "ksmm_chain", (3, 6), (W, (1, 0, 4, 1)), {},
        "expects weights[1] to have 4 dimensions of at least 1, but got shape (1, 0, 4, 1)"),
    "no pattern": ("ksmm", (3, 6), W, {"pattern": (1, 2, 3)},
                   "expects pattern to be 4 integers of at least 1, but got (1, 2, 3)"),
    "number of patterns": ("ksmm_chain", (3, 6), (W,), {"pattern": [W, W]},
                           f"expects pattern to be a list of 1 patterns, but got {[W, W]}"),
    "pattern": ("ksmm_chain", (3, 6), (W,), {"pattern": [(2, 2, 3, 1)]},
                "expects weights[0] to have the shape of its pattern (2, 2, 3, 1), "
                "but got (1, 2, 3, 2)"),
    "features": ("ksmm", (3, 5), W, {},
                 "expects x to have 6 features on its last axis, but got shape (3, 5)"),
    "features of transposed weights": (
        "ksmm", (3, 6), W, {"trans_weights": True},
        "expects x to have 4 features on its last axis, but got shape (3, 6)"),
    "features of the first axis": (
        "ksmm", (3, 6), W, {"layout": "batch_last"},
        "expects x to have 6 features on its first axis, but got shape (3, 6)"),
    "features of a chain": (
        "ksmm_chain", (3, 6), (W, W), {},
        "expects weights[1] to read the 4 features that the factor before it writes, but got 6"),
    "layout": ("ksmm", (3, 6), W, {"layout": "rows"},
               "expects layout to be one of 'batch_first', 'batch_last', but got 'rows'"),
    "activation": (
        "ksmm", (3, 6), W, {"epilogue": "tanh"},
        "expects epilogue to be one of 'identity', 'relu', 'gelu', 'silu', but got 'tanh'"),
    "bias": ("ksmm", (3, 6), W, {"bias": (6,)}, "expects bias to have shape (4,), but got (6,)"),
    "residual": ("ksmm", (3, 6), W, {"residual": (2, 4)},
                 "expects residual to broadcast to the result's shape (3, 4), but got (2, 4)"),
    "z of a chain": ("ksmm_chain", (3, 6), (W, (1, 3, 4, 1)), {"z": (3, 4), "beta": 1},
                     "expects z to broadcast to the result's shape (3, 3), but got (3, 4)"),
}

#: Calls that break none, and the shape of their result.
FITTING = {
    "mkm": ("mkm", (1, 6, 3), ((2, 5), (4, 4, 3)), {"trans_x": "T", "trans_factors": [False, "T"]},
            (4, 3, 20)),
    "kmm": ("kmm", (6, 3), ((5, 2), (4, 3)), {"z": (1, 3), "beta": 1}, (20, 3)),
    "batched": ("batched", (2, 3, 2), ((4, 2), (5, 3)), {"trans_x": True}, (2, 4, 5)),
    "ksmm": ("ksmm", (3, 4), W, {"trans_weights": "T", "bias": (6,)}, (3, 6)),
    "ksmm of columns": ("ksmm", (6, 3), W, {"layout": "batch_last", "residual": (4, 1)}, (4, 3)),
    "ksmm_chain": ("ksmm_chain", (3, 6), (W, (1, 3, 4, 1)), {}, (3, 3)),
}


def arguments(case, make):
    """(positional, named arguments) of a call, whose arrays are made of their shapes."""
    name, x, listed, options, _ = case
    arrays = make(listed) if name == "ksmm" else [make(shape) for shape in listed]
    return (make(x), arrays), {key: make(value) if key in ARRAYS else value
                               for key, value in options.items()}
